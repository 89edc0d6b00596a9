"""Other class frequencies: exact by Bayes' rule, equal to the model with that prior, and found from unlabelled rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from bayeswater import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    ConvergenceWarning,
    DataError,
    GaussianNB,
    ImpossibleEvidenceWarning,
    Loss,
    MultinomialNB,
    ParameterError,
)
from bayeswater.decision import estimate_prior, shift_prior

COUNTS = st.lists(st.integers(1, 30), min_size=3, max_size=3)


@given(COUNTS, COUNTS, COUNTS)
def test_the_shift_is_bayes_rule_in_exact_fractions(posterior, old, new):
    shares = [[Fraction(n, sum(counts)) for n in counts] for counts in (posterior, old, new)]
    weight = [p * b / a for p, a, b in zip(*shares, strict=True)]
    expected = [float(w / sum(weight)) for w in weight]
    p, a, b = (np.array([float(x) for x in share]) for share in shares)
    shifted = np.exp(shift_prior(np.log([p]), a, b))[0]
    assert_allclose(shifted, expected, rtol=1e-14)  # four logarithms of size below 4, and one exponential


def test_the_shift_is_exact_where_probabilities_have_no_float():
    shifted = shift_prior([[0.0, -5000.0]], [0.5, 0.5], [0.2, 0.8])
    assert_allclose(shifted, [[0.0, -5000.0 + np.log(4)]], rtol=1e-15)


def models():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1])
    counts = rng.poisson(1 + (y == "b")[:, None] * [1, 0, 2, 0], (200, 4))
    return [
        (GaussianNB, "priors", counts + rng.normal(size=counts.shape), y),
        (MultinomialNB, "class_prior", counts, y),
        (BernoulliNB, "class_prior", np.minimum(counts, 1), y),
        (CategoricalNB, "class_prior", np.minimum(counts, 3), y),
    ]


@pytest.mark.parametrize(("model", "name", "X", "y"), models(), ids=lambda value: getattr(value, "__name__", None))
@pytest.mark.parametrize("prior", [[0.1, 0.1, 0.8], {"b": 0.5, "a": 0.5, "c": 0.0}])
def test_deciding_under_other_frequencies_equals_the_model_with_that_class_prior(model, name, X, y, prior):
    fitted = model().fit(X, y)
    frequencies = [prior[label] for label in "abc"] if isinstance(prior, dict) else prior
    stated = model(**{name: frequencies}).fit(X, y)
    loss = Loss.from_costs({(i, j): 1 + 3 * (j == "c") for i in "abc" for j in "abc" if i != j}).with_reject(0.2)
    action, risk = fitted.decide(X, loss=loss, prior=prior, return_risk=True)
    expected = loss.conditional_risk(log_proba=stated.predict_log_proba(X))
    assert_allclose(risk, expected, rtol=1e-11)  # log-joints of size 10 to 100, in another order
    assert_array_equal(action, stated.decide(X, loss=loss))
    assert_allclose(fitted.expected_loss(X, loss=loss, prior=prior), expected.min(axis=1), rtol=1e-11)


def test_a_class_of_old_prior_zero_cannot_be_raised():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    model = GaussianNB(priors=[1.0, 0.0]).fit(X, y)
    with pytest.raises(ParameterError, match=r"class 1 has the old prior 0: .* cannot be raised"):
        model.decide(X, prior=[0.5, 0.5])
    assert model.decide(X, prior=[1.0, 0.0]).tolist() == [0, 0, 0, 0]


def test_a_row_possible_only_in_classes_that_are_gone_has_the_new_prior():
    with (
        np.errstate(divide="ignore"),
        pytest.warns(ImpossibleEvidenceWarning, match="1 of 2 rows are possible only in"),
    ):
        shifted = shift_prior(np.log([[1.0, 0.0, 0.0], [0.4, 0.3, 0.3]]), np.ones(3) / 3, [0.0, 0.4, 0.6])
    assert_allclose(np.exp(shifted), [[0, 0.4, 0.6], [0, 0.4, 0.6]], rtol=1e-15)


def test_complement_naive_bayes_has_no_prior_to_shift():
    model = ComplementNB().fit([[1, 0], [0, 1]], [0, 1])
    with pytest.raises(ParameterError, match="no class prior, so there is none to shift"):
        model.decide([[1, 0]], prior=[0.5, 0.5])
    with pytest.raises(ParameterError, match="no class prior"):
        model.estimate_class_prior([[1, 0]])
    assert_array_equal(model.decide([[1, 0], [0, 3]]), model.predict([[1, 0], [0, 3]]))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.6], "sum to one"),
        ([1.5, -0.5], "0 or more"),
        ([np.nan, 1.0], "0 or more"),
        ([0.2, 0.3, 0.5], "a frequency for each of the 2 classes"),
        ("guess", "'estimate' to find them"),
        ({0: 0.5, 2: 0.5}, r"names \[0, 2\], and the classes are \[0, 1\]: see \[2, 1\]"),
        (["a", "b"], "give a frequency for each"),
    ],
)
def test_frequencies_that_make_no_sense_are_refused(prior, message):
    with pytest.raises(ParameterError, match=message):
        GaussianNB().fit([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1]).decide([[1.0]], prior=prior)


@given(st.lists(st.floats(0.02, 0.98), min_size=2, max_size=30), st.floats(0.1, 0.9))
def test_the_estimate_is_the_frequency_of_largest_likelihood(proba, old):
    p = np.array(proba)
    found = estimate_prior(np.log(np.column_stack([1 - p, p])), [1 - old, old], tolerance=1e-12, max_iterations=200_000)

    def loss(new):
        return -np.log((1 - p) * (1 - new) / (1 - old) + p * new / old).sum()

    best = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    # No other frequency is likelier, up to the rounding of the sum and the last step of a slow convergence.
    assert loss(found.prior[1]) <= best.fun + 1e-6
    assert found.prior.sum() == pytest.approx(1, abs=1e-15)


def test_the_estimate_finds_the_frequencies_that_rows_were_drawn_with():
    rng = np.random.default_rng(3)
    old, new, n_rows = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.7]), 40_000
    y = rng.choice(3, n_rows, p=new)
    X = rng.normal(2.0 * y, 1.0)[:, None]
    joint = np.log(old) - 0.5 * (X - 2.0 * np.arange(3)) ** 2
    found = estimate_prior(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True), old, classes=["x", "y", "z"])
    assert found.converged
    assert_allclose(found.prior, new, atol=0.015)  # three standard errors of a share of 40 000 overlapping rows
    assert found.n_rows == n_rows
    assert str(found).startswith("class frequencies from 40000 rows: x: 0.5 -> 0.")


def test_a_class_without_prior_stays_without_in_the_estimate():
    with np.errstate(divide="ignore"):
        found = estimate_prior(np.log([[0.5, 0.5, 0.0], [0.9, 0.1, 0.0]]), [0.5, 0.5, 0.0])
    assert found.prior[2] == 0


def test_an_iteration_that_is_stopped_says_so():
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        found = estimate_prior(np.log([[0.6, 0.4], [0.5, 0.5]]), [0.5, 0.5], max_iterations=2)
    assert not found.converged
    assert "not converged" in str(found)


def test_posteriors_that_do_not_sum_to_one_are_refused():
    with pytest.raises(DataError, match="does not sum to one"):
        estimate_prior([[-3.0, -3.0]], [0.5, 0.5])
