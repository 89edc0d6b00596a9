"""Posteriors are probabilities, whatever finite numbers a model is given: they sum to one, and none of them is NaN."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.models import every_model, require_close_scores
from tests.laws.tables import any_weights, draw_cells, tables

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NormalInverseGamma
from bayeswater.errors import BayesError, DataError, ParameterError

EPS = np.finfo(np.float64).eps

pytestmark = [
    pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning"),
]

WILD = st.sampled_from(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1 / 3,
        1e-300,
        -1e-300,
        5e-324,
        1e-150,
        1e150,
        -1e150,
        1e153,
        1e200,
        1e16,
        1e8,
        123456789.125,
        1.0 + 1e-15,
    ]
)
HEAVY = st.sampled_from([0.0, 1.0, 1.0, 2.0, 1e-300, 5e-324, 1e-150, 1e150, 1e16, 3.5])
WEIGHTS = st.sampled_from([1.0, 2.0, 1e-12, 1e-300, 1e12, 0.3])
ALPHAS = st.sampled_from([0.0, 5e-324, 1e-300, 1e-12, 1.0, 1e12, 1e150, 1e300])


@every_model
@settings(max_examples=12)
@given(st.data())
def test_posteriors_sum_to_one_and_labels_follow_them(kind: Any, data: Any) -> None:
    rows = data.draw(tables(kind.cells, n_rows=(1, 10), weights=data.draw(any_weights())))
    query = draw_cells(data.draw, kind.cells, (5, rows.X.shape[1]))
    require_posteriors(kind.make().fit(**rows.arguments), query)


def require_posteriors(model: Any, query: Any) -> None:
    """Probabilities in [0, 1] that sum to one within 4 eps, logarithms of the same, and the label of the largest."""
    proba, log_proba = model.predict_proba(query), model.predict_log_proba(query)
    joint, label = model.predict_joint_log_proba(query), model.predict(query)
    for scores in (proba, log_proba, joint):
        assert scores.shape == (len(query), len(model.classes_))
        assert not np.isnan(scores).any()
    assert ((proba >= 0) & (proba <= 1)).all()
    assert (log_proba <= 4 * EPS).all()
    assert (np.abs(proba.sum(axis=1) - 1) <= 4 * EPS).all()
    np.testing.assert_allclose(np.exp(log_proba), proba, rtol=1e-12, atol=1e-300)
    # Scores that are equal within the rounding of their size go to the first class.
    chosen = np.searchsorted(model.classes_, label)
    size = np.maximum(1.0, np.abs(joint).max(axis=1, initial=1.0, where=np.isfinite(joint)))
    for i, k in enumerate(chosen):
        assert log_proba[i, k] >= log_proba[i].max() - 20 * EPS * size[i]
        assert (log_proba[i, :k] < log_proba[i, k]).all()


@every_model
@settings(max_examples=12)
@given(st.data())
def test_a_row_is_scored_alike_alone_and_among_others(kind: Any, data: Any) -> None:
    rows = data.draw(tables(kind.cells, n_rows=(2, 10), weights=data.draw(any_weights())))
    model = kind.make().fit(**rows.arguments)
    together = model.predict_joint_log_proba(rows.X)
    alone = np.vstack([model.predict_joint_log_proba(rows.X[[i]]) for i in range(len(rows))])
    some = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=12)))
    require_close_scores(alone, together)
    require_close_scores(model.predict_joint_log_proba(rows.X[some]), together[some])
    np.testing.assert_array_equal(model.predict(rows.X[some]), model.predict(rows.X)[some])


def fuzzed(model: Any, rows: Any, query: Any, declared: bool) -> None:
    """Fit and predict: either a refusal in words, or posteriors without NaN; leave-one-out, too.

    With `declared` classes, one of them at least has no rows.
    """
    try:
        if declared:
            model.partial_fit(**rows.arguments, classes=[0, 1, 2, 3])
        else:
            model.fit(**rows.arguments)
    except BayesError:
        return
    require_posteriors(model, query)
    left_out = model.loo_predict_log_proba(rows.X, rows.y, rows.weight)
    assert not np.isnan(left_out).any()
    assert (np.abs(np.exp(left_out).sum(axis=1) - 1) <= 1e-12).all()


@pytest.mark.usefixtures("kernel")
@settings(max_examples=25)
@given(st.data())
def test_no_finite_numbers_make_a_gaussian_posterior_nan(data: Any) -> None:
    rows = data.draw(tables(WILD, n_rows=(1, 6), n_columns=(1, 3), weights=data.draw(st.sampled_from([None, WEIGHTS]))))
    query = draw_cells(data.draw, WILD, (3, rows.X.shape[1]))
    columns = data.draw(st.sampled_from([None, {0: {"prior": NormalInverseGamma(scale=1e-12)}}]))
    smoothing = data.draw(st.sampled_from([0.0, 1e-300, 1e-9, 1.0]))
    fuzzed(GaussianNB(var_smoothing=smoothing, columns=columns), rows, query, data.draw(st.booleans()))


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB], ids=["MultinomialNB", "ComplementNB"])
@settings(max_examples=15)
@given(st.data())
def test_no_finite_numbers_make_a_posterior_of_counts_nan(make: Any, data: Any) -> None:
    rows = data.draw(
        tables(HEAVY, n_rows=(1, 6), n_columns=(1, 3), weights=data.draw(st.sampled_from([None, WEIGHTS])))
    )
    query = draw_cells(data.draw, HEAVY, (3, rows.X.shape[1]))
    setting = {"norm": data.draw(st.booleans())} if make is ComplementNB else {"class_alpha": data.draw(ALPHAS)}
    fuzzed(make(alpha=data.draw(ALPHAS), **setting), rows, query, data.draw(st.booleans()))


@pytest.mark.usefixtures("kernel")
@settings(max_examples=15)
@given(st.data())
def test_no_finite_numbers_make_a_posterior_of_marks_nan(data: Any) -> None:
    rows = data.draw(tables(WILD, n_rows=(1, 6), n_columns=(1, 3), weights=data.draw(st.sampled_from([None, WEIGHTS]))))
    query = draw_cells(data.draw, WILD, (3, rows.X.shape[1]))
    fuzzed(BernoulliNB(alpha=data.draw(ALPHAS), class_alpha=data.draw(ALPHAS)), rows, query, data.draw(st.booleans()))


@pytest.mark.usefixtures("kernel")
@settings(max_examples=12)
@given(st.data())
def test_no_finite_numbers_make_a_posterior_of_categories_nan(data: Any) -> None:
    codes = st.sampled_from([0, 1, 1, 2, 300, 70_000])
    rows = data.draw(
        tables(codes, n_rows=(1, 6), n_columns=(1, 3), weights=data.draw(st.sampled_from([None, WEIGHTS])))
    )
    query = draw_cells(data.draw, codes, (3, rows.X.shape[1]))
    fuzzed(CategoricalNB(alpha=data.draw(ALPHAS), class_alpha=data.draw(ALPHAS)), rows, query, data.draw(st.booleans()))


@every_model
def test_a_declared_class_without_rows_is_never_predicted_without_smoothing(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (30, 3)), rng.integers(0, 2, 30)
    model = kind.make().partial_fit(X, y, classes=[-1, 0, 1, 2])
    if kind.make is ComplementNB:  # its scores come from the other classes: an empty one has those of all rows
        require_posteriors(model, X)
        return
    assert not model.predict_proba(X)[:, [0, 3]].any()
    assert set(model.predict(X)) <= {0, 1}


@pytest.mark.parametrize("value", [0.1, 1e8 / 3, 1e200, -1e300])
@pytest.mark.parametrize("var_smoothing", [0.0, 1e-9])
def test_a_column_that_never_varies_decides_nothing(value: float, var_smoothing: float) -> None:
    """Not for classes met in a later batch, nor for one without rows, nor where the largest class lacks the column."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(60), np.full(60, value)])
    y = np.repeat([0, 1, 2], [30, 20, 10])
    X[:30, 1] = np.nan
    model = GaussianNB(missing="ignore", var_smoothing=var_smoothing)
    for rows in (slice(0, 25), slice(25, 40), slice(40, 60)):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2, 3])
    alone = GaussianNB(var_smoothing=var_smoothing).partial_fit(X[:, :1], y, classes=[0, 1, 2, 3])
    np.testing.assert_array_equal(model.statistics_.columns.scatter[:, 1], 0.0)
    query = np.column_stack([np.linspace(-2, 2, 9), np.full(9, value)])
    require_close_scores(model.predict_log_proba(query), alone.predict_log_proba(query[:, :1]), 1e-9)


def test_posteriors_over_many_classes_sum_to_one() -> None:
    """By the reference and by the loop: each of a thousand additions rounds by half a unit of the last place."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (3000, 200)), np.arange(3000) % 1000
    model = MultinomialNB().fit(X, y)
    for n_rows in (100, 3000):
        proba = model.predict_proba(X[:n_rows])
        assert np.abs(proba.sum(axis=1) - 1).max() <= 500 * EPS


def test_smoothing_that_overflows_is_refused() -> None:
    X = [[0.0], [1e10], [3.0]]
    with pytest.raises(ParameterError, match="overflows"):
        GaussianNB(var_smoothing=1e300).fit(X, [0, 1, 0])
    prior = {0: {"prior": NormalInverseGamma(mean=-1e160)}}
    with pytest.raises(DataError, match="too far from the mean"):
        GaussianNB(columns=prior).fit(X, [0, 1, 0])
