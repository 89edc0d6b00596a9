"""Laws of `GaussianClassifier` on any small table: few values, tiny classes, missing cells, weights of any kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.tables import QUARTERS, Rows, any_weights, tables

from bayeswater import Friedman, GaussianClassifier, NormalInverseWishart
from bayeswater.statistics.moments import LostDigits

FORMS = ("full", "shared", "diagonal", "shared_diagonal", "spherical")
WAYS = [{}, {"estimate": "unbiased"}, {"shrinkage": 0.25}, {"shrinkage": Friedman(0.5, 0.25)}, {"shrinkage": "oas"},
        {"prior": NormalInverseWishart()}]  # fmt: skip
DEFINED = [
    {"covariance": form, **way}
    for form in FORMS
    for way in WAYS
    if not (form == "spherical" and "shrinkage" in way) and not ("diagonal" in form and way.get("shrinkage") == "oas")
]
EPS = np.finfo(float).eps
pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.BayesWarning")


@st.composite
def rows(draw, *, n_rows=(2, 10)):
    weights = draw(any_weights())
    return draw(tables(QUARTERS, n_rows=n_rows, n_columns=(1, 3), weights=weights, missing=draw(st.booleans())))


def fitted(table: Rows, **parameters) -> GaussianClassifier:
    return GaussianClassifier(**parameters).fit(**table.arguments)


def require_same(found, expected) -> None:
    """Equal sums, but for the rounding of numbers up to 8 and of their squares."""
    assert found.classes == expected.classes
    size = 64 * max(1.0, float(expected.class_count.count.sum()))
    for name, array in found.columns.to_arrays().items():
        other = np.broadcast_to(expected.columns.to_arrays()[name], array.shape)
        if name == "mean":  # the mean of cells that no row has is no number of theirs
            array, other = (np.where(found.columns.weight > 0, part, 0.0) for part in (array, other))
        assert np.abs(array - other).max() <= 64 * EPS * size, name


@given(rows(), st.data())
def test_merging_parts_is_fitting_all_rows(table, data):
    cut = data.draw(st.integers(1, len(table) - 1))
    order = np.array(data.draw(st.permutations(range(len(table)))))
    merged = fitted(table.take(order[:cut])) + fitted(table.take(order[cut:]))
    expected = fitted(table).statistics_
    if merged.statistics_.columns.is_pairwise and not expected.columns.is_pairwise:
        pytest.fail("no cell was missing")
    require_same(merged.statistics_, expected)


@given(rows(), st.data())
def test_forgetting_rows_is_never_having_seen_them(table, data):
    cut = data.draw(st.integers(1, len(table) - 1))
    gone, rest = table.take(np.arange(cut)), table.take(np.arange(cut, len(table)))
    model = fitted(table)
    remaining = (rest.X, rest.y, rest.weight)
    try:
        model.forget(**gone.arguments)
    except LostDigits:
        model.forget(**gone.arguments, remaining=remaining)
    found, expected = model.statistics_, fitted(rest).statistics_
    assert found.classes == expected.classes
    size = 64 * max(1.0, table.total_weight)
    wide = np.broadcast_to(expected.columns.scatter, found.columns.scatter.shape)
    # A subtraction is let through as long as eight digits are right.
    assert np.abs(found.columns.scatter - wide).max() <= 1e-8 * size


@given(rows(), st.sampled_from(DEFINED))
def test_probabilities_are_probabilities_whatever_the_rows(table, parameters):
    model = fitted(table, **parameters)
    for log_proba in (model.predict_log_proba(table.X), model.loo_predict_log_proba(table.X, table.y, table.weight)):
        assert not np.isnan(log_proba).any()
        np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1.0, rtol=1e-9)
    assert np.isfinite(model.covariances_[model._densities.blend.has_density]).all()


@given(rows(), st.sampled_from(FORMS))
def test_weights_of_a_row_are_copies_of_it(table, form):
    if table.weight is None or not (table.weight == np.floor(table.weight)).all():
        return
    w = table.weight.astype(int)
    repeated = GaussianClassifier(covariance=form).fit(np.repeat(table.X, w, axis=0), np.repeat(table.y, w))
    require_same(fitted(table, covariance=form).statistics_, repeated.statistics_)


@given(rows(), st.sampled_from(DEFINED))
def test_the_order_of_classes_and_columns_does_not_matter(table, parameters):
    model = fitted(table, **parameters)
    order = np.arange(table.X.shape[1])[::-1]
    names = np.array([7, 3, 1])
    other = GaussianClassifier(**parameters).fit(table.X[:, order], names[table.y], table.weight)
    back = [other.classes_.tolist().index(names[label]) for label in model.classes_]
    found, expected = other.predict_proba(table.X[:, order])[:, back], model.predict_proba(table.X)
    # Variances of classes without extent are lifted to 1e-9 of the others: half of the digits are then right.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
