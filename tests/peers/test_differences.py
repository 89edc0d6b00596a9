"""Where ours differs from scikit-learn on purpose: every test holds one row of docs/differences.md.

What scikit-learn answers is printed beside it (`pytest -s` shows it) and never asserted: a version of it that does
better breaks nothing here.
"""

import ast
import re
import tracemalloc
import warnings
from fractions import Fraction
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as peer
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bayeswater as ours
from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, Dirichlet, GaussianNB, MultinomialNB

DISCRETE = ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"]
ALL = ["GaussianNB", *DISCRETE]
pytestmark = pytest.mark.usefixtures("road")  # a difference holds for small tables and for large ones
PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


def show(answer):
    """Print what scikit-learn answers, or how it fails."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            print("scikit-learn:", answer())
        except Exception as error:
            print("scikit-learn:", type(error).__name__, error)


# --- counts


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_labels_of_few_bits_never_overflow_a_count(container):
    X = container(np.full((2000, 2), 200, dtype=np.uint8))
    y = np.repeat(np.array([0, 1], dtype=np.int8), 1000)
    show(lambda: peer.MultinomialNB().fit(X, y).feature_count_)
    assert_array_equal(MultinomialNB().fit(X, y).feature_count_, np.full((2, 2), 200_000))
    assert_array_equal(ComplementNB().fit(X, y).feature_all_, [400_000, 400_000])
    marks = container(np.ones((2000, 2), dtype=np.int8))
    show(lambda: peer.BernoulliNB().fit(marks, y).feature_count_)
    assert_array_equal(BernoulliNB().fit(marks, y).feature_count_, np.full((2, 2), 1000))


@pytest.mark.parametrize("kind, value", [(np.int32, 2**30), (np.int64, 2**62), (np.uint64, 2**63)])
def test_a_sum_past_the_range_of_its_dtype_does_not_wrap(kind, value):
    X, y = np.full((6, 1), value, dtype=kind), np.repeat(np.arange(2, dtype=np.int32), 3)
    show(lambda: peer.MultinomialNB().fit(X, y).feature_count_)
    assert_array_equal(MultinomialNB().fit(X, y).feature_count_, [[3.0 * value], [3.0 * value]])


@pytest.mark.parametrize("model", ALL)
def test_declared_classes_are_never_wrapped_into_the_dtype_of_the_labels(model):
    X, y = np.eye(4, dtype=np.int64), np.array([0, 0, 1, 1], dtype=np.int8)
    show(lambda: getattr(peer, model)().partial_fit(X, y, classes=[0, 1, 256]).class_count_)
    fitted = getattr(ours, model)().partial_fit(X, y, classes=[0, 1, 256])
    assert_array_equal(fitted.classes_, [0, 1, 256])
    assert_array_equal(fitted.class_count_, [2, 2, 0])


def test_the_number_of_categories_is_that_of_all_batches():
    batches = [([[5], [0]], [0, 1]), ([[1], [0]], [0, 1])]

    def in_batches(model):
        for X, y in batches:
            model.partial_fit(X, y, classes=[0, 1])
        return model.n_categories_

    show(lambda: in_batches(peer.CategoricalNB()))
    assert_array_equal(in_batches(CategoricalNB()), [6])


# --- weights


def test_the_smoothing_of_variances_looks_at_weights():
    X, y = np.array([[0.0], [1.0], [10.0], [11.0], [1e6]]), [0, 0, 1, 1, 1]
    weight = [1, 5, 1, 1, 0]
    repeated = GaussianNB(var_smoothing=0.1).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    show(lambda: peer.GaussianNB(var_smoothing=0.1).fit(X, y, sample_weight=weight).var_)
    weighted = GaussianNB(var_smoothing=0.1).fit(X, y, sample_weight=weight)
    assert_allclose(weighted.epsilon_, repeated.epsilon_, rtol=1e-12)
    assert_allclose(weighted.var_, repeated.var_, rtol=1e-12)


def test_weights_however_small_are_weights():
    X, y = [[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]
    tiny = np.full(4, 1e-10)
    show(lambda: peer.GaussianNB().fit(X, y, sample_weight=tiny).theta_)
    assert_allclose(GaussianNB().fit(X, y, sample_weight=tiny).theta_, [[0.5], [10.5]], rtol=1e-15)


@pytest.mark.parametrize("model", ALL)
def test_negative_weights_are_refused(model):
    X, y, weight = [[0, 1], [1, 0], [1, 1]], [0, 1, 1], [1, 1, -0.5]
    show(lambda: getattr(peer, model)().fit(X, y, sample_weight=weight).class_count_)
    with pytest.raises(ours.DataError, match=r"sample_weight is -0\.5 in row 2"):
        getattr(ours, model)().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("model", ALL)
def test_a_row_of_weight_zero_leaves_neither_class_nor_category_behind(model):
    X, y, weight = [[3, 0], [0, 2], [9, 9]], [0, 1, 2], [1, 1, 0]
    show(lambda: getattr(peer, model)().fit(X, y, sample_weight=weight).classes_)
    fitted = getattr(ours, model)().fit(X, y, sample_weight=weight)
    assert_array_equal(fitted.classes_, [0, 1])
    assert fitted.statistics_ == getattr(ours, model)().fit(X[:2], y[:2]).statistics_


# --- normal densities


def uneven_batches():
    """Batches of very different spread, so that each has a variance of its own."""
    rng = np.random.default_rng(0)
    return [(rng.normal(scale=scale, size=(20, 2)), np.tile([0, 1], 10)) for scale in (1.0, 50.0, 0.01)]


def test_partial_fit_of_normal_densities_equals_fit():
    batches = uneven_batches()
    whole = GaussianNB(var_smoothing=0.1).fit(*map(np.concatenate, zip(*batches, strict=True)))

    def in_batches(model):
        for X, y in batches:
            model.partial_fit(X, y, classes=[0, 1])
        return model

    show(lambda: (in_batches(peer.GaussianNB(var_smoothing=0.1)).epsilon_, "against", whole.epsilon_))
    model = in_batches(GaussianNB(var_smoothing=0.1))
    for name in ("theta_", "var_", "epsilon_", "class_prior_"):
        assert_allclose(getattr(model, name), getattr(whole, name), rtol=1e-12, err_msg=name)
    unsmoothed = in_batches(GaussianNB(var_smoothing=0.0))
    assert_allclose(model.var_ - model.epsilon_, unsmoothed.var_, rtol=1e-12)


def test_rows_may_come_one_at_a_time():
    X, y = np.array([[1.0, 7.0], [2.0, 7.0], [8.0, 7.0], [9.0, 7.0]]), np.array([0, 0, 1, 1])

    def one_at_a_time(model):
        for i in range(4):
            model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        return model.predict_log_proba([[8.5, 7.0]])

    show(lambda: one_at_a_time(peer.GaussianNB()))
    assert_allclose(one_at_a_time(GaussianNB()), GaussianNB().fit(X, y).predict_log_proba([[8.5, 7.0]]), rtol=1e-12)


def test_a_column_that_never_varies_has_no_say():
    y = [0, 1, 1]
    show(lambda: peer.GaussianNB().fit(np.ones((3, 1)), y).predict_proba([[1.0]]))
    constant = GaussianNB().fit(np.ones((3, 1)), y)
    assert_allclose(constant.predict_proba([[1.0], [5.0]]), [[1 / 3, 2 / 3]] * 2, rtol=1e-15)
    assert_array_equal(constant.predict([[1.0]]), [1])
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    beside = GaussianNB(var_smoothing=0.0).fit(np.column_stack([np.full(4, 7.0), X]), y)
    alone = GaussianNB(var_smoothing=0.0).fit(X, y)
    assert_array_equal(beside.predict_proba([[7.0, 1.0], [8.0, 3.5]]), alone.predict_proba([[1.0], [3.5]]))


def test_a_column_that_never_varies_within_a_class_decides_for_or_against_it():
    X, y = np.array([[2.0, 0.0], [2.0, 1.0], [1.0, 0.0], [3.0, 1.0]]), [0, 0, 1, 1]
    show(lambda: peer.GaussianNB(var_smoothing=0.0).fit(X, y).predict_proba([[2.0, 0.0], [1.9, 0.0]]))
    model = GaussianNB(var_smoothing=0.0).fit(X, y)
    assert_array_equal(model.predict_proba([[2.0, 0.0], [1.9, 0.0]]), [[1, 0], [0, 1]])


def test_a_value_of_1e200_gets_a_posterior_and_a_label():
    X, y = [[0.0], [1.0], [10.0], [11.0], [12.0]], [0, 0, 1, 1, 1]
    far = [[1e200], [-1e200]]
    show(lambda: peer.GaussianNB().fit(X, y).predict_proba(far))
    model = GaussianNB().fit(X, y)
    # The logarithm of either density is below -1e308: as far as floats can tell, no class is possible.
    with pytest.warns(ours.ImpossibleEvidenceWarning, match="2 of 2 rows"):
        assert_allclose(model.predict_proba(far), [[0.4, 0.6]] * 2, rtol=1e-15)
    with pytest.warns(ours.ImpossibleEvidenceWarning):
        assert_array_equal(model.predict(far), [1, 1])


def test_values_whose_squares_overflow_are_refused_by_fit():
    X, y = [[0.0, 0.0], [1.0, 1e200], [10.0, 1.0], [11.0, -1e200]], [0, 0, 1, 1]
    show(lambda: peer.GaussianNB().fit(X, y).predict_proba([[1.0, 1.0]]))
    with pytest.raises(ours.DataError, match="column 'x1' overflow"):
        GaussianNB().fit(X, y)


def test_values_whose_squares_underflow_are_refused_by_fit():
    X, y = np.array([[0.0], [1.0], [10.0], [11.0]]) * 1e-200, [0, 0, 1, 1]
    show(lambda: peer.GaussianNB().fit(X, y).predict_proba(X))
    with pytest.raises(ours.DataError, match="column 'x0' underflow: its values are too near to one another"):
        GaussianNB().fit(X, y)


def test_a_class_of_which_no_row_was_seen_has_no_density():
    X, y = [[5.0], [6.0], [7.0], [9.0]], [0, 0, 1, 1]
    show(lambda: peer.GaussianNB(priors=[0.3, 0.3, 0.4]).partial_fit(X, y, classes=[0, 1, 2]).predict_proba([[0.0]]))
    model = GaussianNB(priors=[0.3, 0.3, 0.4]).partial_fit(X, y, classes=[0, 1, 2])
    others = GaussianNB(priors=[0.5, 0.5]).fit(X, y)
    found = model.predict_proba([[0.0], [6.0]])
    assert_array_equal(found[:, 2], [0, 0])
    assert_allclose(found[:, :2], others.predict_proba([[0.0], [6.0]]), rtol=1e-12)


def test_half_precision_is_summed_in_double():
    X = np.array([[300.0], [500.0], [1.0], [2.0]], dtype=np.float16)
    show(lambda: peer.GaussianNB(var_smoothing=0.0).fit(X, [0, 0, 1, 1]).var_)
    assert_array_equal(GaussianNB(var_smoothing=0.0).fit(X, [0, 0, 1, 1]).var_, [[10_000.0], [0.25]])


def test_single_precision_is_summed_in_double_and_so_are_its_parameters():
    X = np.random.default_rng(0).normal(10_000.0, 0.1, (4000, 2)).astype(np.float32)
    y = np.tile([0, 1], 2000)
    show(lambda: peer.GaussianNB().fit(X, y).var_ / peer.GaussianNB().fit(X.astype(np.float64), y).var_)
    single, double = GaussianNB().fit(X, y), GaussianNB().fit(X.astype(np.float64), y)
    for name in ("theta_", "var_", "class_prior_"):
        assert getattr(single, name).dtype == np.float64
        assert_allclose(getattr(single, name), getattr(double, name), rtol=1e-12)
    assert single.predict_proba(X).dtype == np.float64


# --- smoothing and zero probabilities


def test_an_array_alpha_of_bernoulli_belongs_to_the_features():
    X, y = [[1, 0], [0, 1], [1, 1]], [0, 0, 1]
    show(lambda: np.exp(peer.BernoulliNB(alpha=[1, 10]).fit(X, y).feature_log_prob_))
    expected = [[Fraction(2, 4), Fraction(11, 22)], [Fraction(2, 3), Fraction(11, 21)]]
    found = np.exp(BernoulliNB(alpha=[1, 10]).fit(X, y).feature_log_prob_)
    assert_allclose(found, np.array(expected, dtype=float), rtol=1e-15)
    wide = BernoulliNB(alpha=[1, 2, 3]).fit([[1, 0, 1], [0, 1, 1]], [0, 1])  # more features than classes
    expected = [[Fraction(2, 3), Fraction(2, 5), Fraction(4, 7)], [Fraction(1, 3), Fraction(3, 5), Fraction(4, 7)]]
    assert_allclose(np.exp(wide.feature_log_prob_), np.array(expected, dtype=float), rtol=1e-15)


def test_the_probability_of_absence_keeps_its_digits():
    n, alpha = 10**6, 1e-10
    X, y = np.ones((n, 1), dtype=np.uint8), np.zeros(n, dtype=np.uint8)
    show(lambda: peer.BernoulliNB(alpha=alpha).fit(X, y).predict_joint_log_proba([[0]]))
    expected = log(Fraction(alpha) / (n + 2 * Fraction(alpha)))  # -36.84
    assert_allclose(BernoulliNB(alpha=alpha).fit(X, y).predict_joint_log_proba([[0]]), [[expected]], rtol=1e-15)


@pytest.mark.parametrize(
    "model, joint",
    [
        ("MultinomialNB", [[log(1 / 2) + 4 * log(1 / 2), -np.inf], [-np.inf, log(1 / 2) + 4 * log(1 / 2)]]),
        ("BernoulliNB", [[log(1 / 2), -np.inf], [-np.inf, log(1 / 2)]]),
        ("CategoricalNB", [[log(1 / 2), -np.inf], [-np.inf, log(1 / 2)]]),
    ],
)
def test_without_smoothing_zero_times_minus_infinity_is_zero(model, joint):
    X, y = [[1, 0, 1], [0, 1, 1]], [0, 1]
    X_new = [[1, 0, 3], [0, 1, 3]] if model == "MultinomialNB" else X
    show(lambda: getattr(peer, model)(alpha=0.0).fit(X, y).predict_joint_log_proba(X_new))
    fitted = getattr(ours, model)(alpha=0.0).fit(X, y)
    assert_allclose(fitted.predict_joint_log_proba(X_new), joint, rtol=1e-15)
    assert_array_equal(fitted.predict_proba(X_new), [[1, 0], [0, 1]])
    assert_array_equal(fitted.predict(X_new), [0, 1])


def test_a_word_that_no_other_class_has_makes_its_class_certain():
    X, y = [[1, 0, 1], [0, 1, 1]], [0, 1]
    show(lambda: peer.ComplementNB(alpha=0.0).fit(X, y).predict_proba([[1, 0, 3], [0, 2, 1]]))
    model = ComplementNB(alpha=0.0).fit(X, y)
    assert_array_equal(model.predict_proba([[1, 0, 3], [0, 2, 1]]), [[1, 0], [0, 1]])


def test_shares_of_nothing_are_uniform():
    X, y = [[0, 0], [0, 1]], [0, 1]
    show(lambda: np.exp(peer.MultinomialNB(alpha=0.0).fit(X, y).feature_log_prob_))
    assert_allclose(np.exp(MultinomialNB(alpha=0.0).fit(X, y).feature_log_prob_), [[0.5, 0.5], [0, 1]], rtol=1e-15)
    for model in (BernoulliNB(alpha=0.0), CategoricalNB(alpha=0.0)):
        model.partial_fit([[0], [1]], [0, 1], classes=[0, 1, 2])
        never = np.exp(np.asarray(model.feature_log_prob_)).reshape(3, -1)[2]
        assert_allclose(never, 0.5, rtol=1e-15)


@pytest.mark.parametrize(
    "model, X, impossible",
    [
        ("MultinomialNB", [[1, 0], [0, 1]], [[1, 1]]),
        ("BernoulliNB", [[1, 0], [0, 1]], [[1, 1]]),
        ("CategoricalNB", [[0, 1], [1, 0]], [[0, 0]]),
    ],
)
def test_a_row_that_is_impossible_in_every_class_gets_the_prior_and_a_warning(model, X, impossible):
    setting = {"alpha": 0.0, "class_prior": [0.2, 0.8]}
    show(lambda: getattr(peer, model)(**setting).fit(X, [0, 1]).predict_proba(impossible))
    fitted = getattr(ours, model)(**setting).fit(X, [0, 1])
    with pytest.warns(ours.ImpossibleEvidenceWarning, match="1 of 1 rows"):
        assert_allclose(fitted.predict_proba(impossible), [[0.2, 0.8]], rtol=1e-15)
    with pytest.warns(ours.ImpossibleEvidenceWarning):
        assert_array_equal(fitted.predict(impossible), [1])


def test_normalised_weights_of_a_single_column_are_zero():
    X, y = [[3], [2], [1]], [0, 1, 2]
    show(lambda: peer.ComplementNB(norm=True).fit(X, y).predict_proba([[1]]))
    model = ComplementNB(norm=True).fit(X, y)
    assert_array_equal(model.feature_log_prob_, np.zeros((3, 1)))
    assert_allclose(model.predict_proba([[1]]), np.full((1, 3), 1 / 3), rtol=1e-15)


def test_a_tie_within_rounding_goes_to_the_first_class():
    rng = np.random.default_rng(1)
    rows = [rng.integers(1, 9, 6) for _ in range(100)]
    pairs = [(row, rng.permutation(row)) for row in rows]  # the same factors in another order: equal products
    everything = [[1] * 6]
    show(lambda: sum(int(peer.MultinomialNB().fit(pair, [0, 1]).predict(everything)[0]) for pair in pairs))
    assert sum(int(MultinomialNB().fit(pair, [0, 1]).predict(everything)[0]) for pair in pairs) == 0


# --- categories


def test_codes_that_are_not_whole_are_labels_of_their_own():
    X, y = [[1.9], [1.1], [1.5]], [0, 1, 1]
    show(lambda: peer.CategoricalNB().fit(X, y).category_count_)
    model = CategoricalNB().fit(X, y)
    assert_array_equal(model.categories_[0], [1.1, 1.5, 1.9])
    assert_array_equal(model.category_count_[0], [[0, 0, 1], [1, 1, 0]])
    codes = CategoricalNB().fit([[0], [1], [2]], y)
    with pytest.warns(ours.UnseenCategoryWarning, match=r"column 'x0' = 1\.9"):
        assert_allclose(codes.predict_proba([[1.9]]), [[1 / 3, 2 / 3]], rtol=1e-15)


def test_a_category_that_was_never_seen_is_left_out_with_a_warning():
    X, y = [[0, 1], [1, 0], [1, 1]], [0, 1, 1]
    show(lambda: peer.CategoricalNB().fit(X, y).predict_proba([[7, 1]]))
    without = CategoricalNB().fit(np.array(X)[:, 1:], y).predict_proba([[1]])
    for unseen in (7, 2_000_000_000, 2**63 + 1):
        with pytest.warns(ours.UnseenCategoryWarning, match=f"column 'x0' = {unseen} in 1 of 1 rows"):
            found = CategoricalNB().fit(X, y).predict_proba(np.array([[unseen, 1]], dtype=np.uint64))
        assert_allclose(found, without, rtol=1e-15)
    with pytest.raises(ours.DataError, match="column 'x0' = 7"):
        CategoricalNB(unseen="error").fit(X, y).predict([[7, 1]])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[2_000_000_000, 1], [1, 0]]),
        np.array([[2e9, 1], [1, 0]]),
        np.array([[2**64 - 1, 1], [1, 0]], dtype=np.uint64),
        np.array([[1e300, 1], [1, 0]]),
        pd.DataFrame({"x0": [2_000_000_000, 1], "x1": [1, 0]}),
    ],
    ids=["integers", "floats", "largest integer", "large float", "frame"],
)
def test_a_category_id_of_two_thousand_million_is_refused_before_anything_is_allocated(X):
    # scikit-learn is not shown: it would allocate 29.8 GiB.
    assert bytes_until_refused(lambda: CategoricalNB().fit(X, [0, 1])) < 1e6


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y: CategoricalNB().fit(X, y).partial_fit([[2_000_000_000, 1]], [0]),
        lambda X, y: CategoricalNB(min_categories=[2_000_000_000, 2]).fit(X, y),
        lambda X, y: CategoricalNB(columns={0: {"prior": Dirichlet({2_000_000_000: 1}, default=1)}}).fit(X, y),
    ],
    ids=["partial_fit", "min_categories", "prior"],
)
def test_two_thousand_million_categories_are_refused_wherever_they_come_from(call):
    assert bytes_until_refused(lambda: call([[0, 1], [1, 0]], [0, 1])) < 1e6


def bytes_until_refused(call):
    """Largest memory held at once until the call is refused, by a message that names column x0."""
    with pytest.raises(ours.ResourceLimitError, match="column 'x0'"):
        call()  # once before: what is imported or compiled the first time is no memory of the call
    tracemalloc.start()
    try:
        with pytest.raises(ours.ResourceLimitError, match="column 'x0'"):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- checks


@pytest.mark.parametrize("model", DISCRETE)
def test_class_priors_are_checked(model):
    X, y = [[1, 0], [0, 1]], [0, 1]
    show(lambda: getattr(peer, model)(class_prior=[5, -1]).fit(X, y).predict_proba(X))
    for prior, message in [([5, -1], "non-negative"), ([5, 5], "sum of the priors"), ([np.nan, 1], "non-negative")]:
        with pytest.raises(ours.ParameterError, match=message):
            getattr(ours, model)(class_prior=prior).fit(X, y)


@pytest.mark.parametrize("model", ["MultinomialNB", "ComplementNB"])
def test_negative_counts_are_refused_at_prediction_too(model):
    X, y = [[0, 1], [1, 0]], [0, 1]
    show(lambda: getattr(peer, model)().fit(X, y).predict([[-3, 2]]))
    fitted = getattr(ours, model)().fit(X, y)
    for call in (fitted.predict, fitted.predict_proba, fitted.predict_log_proba, fitted.predict_joint_log_proba):
        with pytest.raises(ours.DataError, match="Negative values in data passed to"):
            call([[-3, 2]])


def test_binarize_none_refuses_anything_but_marks():
    X, y = [[3, 0], [0, 2]], [0, 1]
    show(lambda: peer.BernoulliNB(binarize=None).fit(X, y).feature_count_)
    with pytest.raises(ours.DataError, match="binarize=None"):
        BernoulliNB(binarize=None).fit(X, y)
    marked = BernoulliNB(binarize=None).fit([[1, 0], [0, 1]], y)
    with pytest.raises(ours.DataError, match="binarize=None"):
        marked.predict(X)


@pytest.mark.parametrize("model", ALL)
def test_a_refused_call_leaves_the_model_as_it_was(model):
    X, y = np.array([[0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1])

    def half_updated():
        theirs = peer.GaussianNB(var_smoothing=0.5).partial_fit(X, y, classes=[0, 1])
        before = theirs.var_.copy()
        with pytest.raises(ValueError, match="do not exist"):
            theirs.partial_fit([[0, 0], [99, 0]], [0, 7])
        return before.tolist(), "became", theirs.var_.tolist()

    show(half_updated)
    fitted = getattr(ours, model)().fit(X, y)
    before, answers = dict(vars(fitted)), fitted.predict_proba(X)
    refused = [
        lambda: fitted.partial_fit([[0, 0], [99, 0]], [0, 7]),
        lambda: fitted.partial_fit([[0, 0], [99, 0]], [0, 1], sample_weight=[1, -1]),
        lambda: fitted.partial_fit([[0, 0, 0]], [0]),
        lambda: fitted.partial_fit([[0, np.nan]], [0]),
        lambda: fitted.partial_fit([[0, 0]], [0], classes=[0, 1, 2]),
        lambda: fitted.fit([[0, 0, 0], [1, np.inf, 1]], ["a", "b"]),
        lambda: fitted.fit([[0, 0, 0], [1, 1, 1]], ["a", None]),
        lambda: fitted.fit([[0, 0, 0], [1, 1, 1]], ["a", "b", "c"]),
        lambda: fitted.forget([[5, 5]] * 9, [0] * 9),
    ]
    for call in refused:
        with pytest.raises(ours.BayesError):
            call()
        assert {name: vars(fitted)[name] for name in before} == before
        assert_array_equal(fitted.predict_proba(X), answers)


# --- kept as in scikit-learn


def test_the_class_prior_does_not_enter_the_scores_of_complement_nb():
    X, y = [[3, 0], [0, 2], [1, 1]], [0, 1, 1]
    plain, given = ComplementNB().fit(X, y), ComplementNB(class_prior=[0.9, 0.1]).fit(X, y)
    assert_array_equal(plain.predict_proba([[1, 1], [2, 0]]), given.predict_proba([[1, 1], [2, 0]]))
    scores = plain.predict_joint_log_proba([[1, 1]])
    assert_allclose(scores, np.array([[1, 1]]) @ plain.feature_log_prob_.T, rtol=1e-15)
    softmax = np.exp(scores) / np.exp(scores).sum()
    assert_allclose(plain.predict_proba([[1, 1]]), softmax, rtol=1e-14)


def test_var_smoothing_is_a_share_of_the_largest_variance_of_any_column():
    X, y = np.array([[0.0, 0.0], [1.0, 1000.0], [10.0, 0.0], [11.0, 1000.0]]), [0, 0, 1, 1]
    model = GaussianNB(var_smoothing=1e-3).fit(X, y)
    assert_allclose(model.epsilon_, 1e-3 * 500.0**2, rtol=1e-15)
    assert_allclose(model.var_, peer.GaussianNB(var_smoothing=1e-3).fit(X, y).var_, rtol=1e-12)


@pytest.mark.parametrize("model", ALL)
def test_named_columns_in_another_order_are_refused(model):
    frame = pd.DataFrame({"length": [1, 2, 0], "width": [0, 1, 1]})
    fitted = getattr(ours, model)().fit(frame, [0, 1, 1])
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.predict(frame[["width", "length"]])


def test_the_code_minus_one_is_refused_and_a_missing_category_is_not():
    column = pd.Categorical(["red", None, "green"])
    with pytest.raises(ours.DataError, match="Negative values in data passed to CategoricalNB"):
        CategoricalNB().fit(column.codes[:, None], [0, 1, 1])
    model = CategoricalNB(missing="ignore").fit(pd.DataFrame({"colour": column}), [0, 1, 1])
    assert_array_equal(model.category_count_[0], [[0, 1], [1, 0]])  # green, red


def test_fitted_parameters_are_read_off_the_sums_and_cannot_be_written():
    model = GaussianNB().fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="read-only"):
        model.theta_[0, 0] = 99.0
    with pytest.raises(AttributeError, match="no setter"):
        model.theta_ = np.zeros((2, 1))
    assert model.theta_[0, 0] == 0.5


# --- the page


def test_every_row_of_the_page_names_its_tests_and_every_test_is_named():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| [^-]", line)]
    named = [re.findall(r"`(test_\w+)`", row) for row in rows]
    unnamed = [row for row, tests in zip(rows, named, strict=True) if not tests and not row.startswith("| case |")]
    assert unnamed == []
    here = ast.parse(Path(__file__).read_text(encoding="utf-8")).body
    defined = {node.name for node in here if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
    this = "test_every_row_of_the_page_names_its_tests_and_every_test_is_named"
    assert {test for tests in named for test in tests} == defined - {this}
