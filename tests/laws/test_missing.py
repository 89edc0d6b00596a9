"""A missing cell is an absent factor: left out of the sums at fit, and out of the product at prediction."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.models import CLOSE, every_model_with_missing_cells, require_close_scores, require_same_sums
from tests.laws.tables import any_weights, draw_cells, tables

from bayeswater import BernoulliNB, CategoricalNB, GaussianNB, NormalInverseGamma

CLASSES = [0, 1, 2]

pytestmark = [
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.UnseenCategoryWarning"),
]


def setting_of(kind: Any) -> dict[str, Any]:
    """Parameters under which the columns do not speak with one another: epsilon is shared by all columns."""
    if kind.make is GaussianNB:
        return {"missing": "ignore", "var_smoothing": 0.0}
    return {"missing": "ignore", "alpha": 0.5}


@every_model_with_missing_cells
@settings(max_examples=12)
@given(st.data())
def test_a_row_with_missing_cells_is_scored_by_its_other_columns_alone(kind: Any, data: Any) -> None:
    rows = data.draw(
        tables(kind.cells, n_columns=(2, 4), weights=data.draw(any_weights()), missing=data.draw(st.booleans()))
    )
    n_columns = rows.X.shape[1]
    kept = data.draw(
        st.lists(st.integers(0, n_columns - 1), min_size=1, max_size=n_columns - 1, unique=True).map(sorted)
    )
    query = draw_cells(data.draw, kind.cells, (3, n_columns)).astype(np.float64)
    lacking = np.full_like(query, np.nan)
    lacking[:, kept] = query[:, kept]
    model = kind.make(**setting_of(kind)).fit(**rows.arguments)
    alone = kind.make(**setting_of(kind)).fit(rows.X[:, kept], rows.y, rows.weight)
    require_close_scores(model.predict_joint_log_proba(lacking), alone.predict_joint_log_proba(query[:, kept]))


@every_model_with_missing_cells
@settings(max_examples=12)
@given(st.data())
def test_the_sums_of_a_column_are_those_of_the_rows_that_have_it(kind: Any, data: Any) -> None:
    rows = data.draw(tables(kind.cells, n_rows=(2, 10), weights=data.draw(any_weights()), missing=True))
    model = kind.make(missing="ignore").partial_fit(**rows.arguments, classes=CLASSES)
    for j in range(rows.X.shape[1]):
        there = ~np.isnan(rows.X[:, j])
        if not there.any():
            continue
        available = rows.take(there)
        alone = kind.make().partial_fit(
            available.X[:, [j]], available.y, classes=CLASSES, sample_weight=available.weight
        )
        for name, sums in alone.statistics_.columns.to_arrays().items():
            found = model.statistics_.columns.to_arrays()[name]
            if kind.make is CategoricalNB:
                found, sums = model.statistics_.columns.of_column(j), alone.statistics_.columns.of_column(0)
            else:
                found = np.broadcast_to(found, (len(CLASSES), rows.X.shape[1]))[:, [j]]
            np.testing.assert_allclose(found, sums, rtol=CLOSE, atol=CLOSE * 8 if name == "mean" else 0, err_msg=name)


@every_model_with_missing_cells
@settings(max_examples=12)
@given(st.data())
def test_a_row_without_any_cell_keeps_the_prior(kind: Any, data: Any) -> None:
    rows = data.draw(tables(kind.cells, missing=True))
    model = kind.make(missing="ignore", class_alpha=0.5).fit(**rows.arguments)
    count = np.array([(rows.y == label).sum() for label in model.classes_]) + 0.5
    empty = np.full((1, rows.X.shape[1]), np.nan)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(empty)[0], np.log(count / count.sum()), rtol=1e-14, atol=1e-15
    )


@every_model_with_missing_cells
@settings(max_examples=12)
@given(st.data())
def test_allowing_missing_cells_changes_nothing_where_none_is_missing(kind: Any, data: Any) -> None:
    rows = data.draw(tables(kind.cells, weights=data.draw(any_weights())))
    X = rows.X.astype(np.float64)
    allowed, refused = kind.make(missing="ignore").fit(X, rows.y, rows.weight), kind.make().fit(X, rows.y, rows.weight)
    require_same_sums(allowed.statistics_, refused.statistics_, to_the_bit=kind.counts)
    if kind.counts:
        np.testing.assert_array_equal(allowed.predict_joint_log_proba(X), refused.predict_joint_log_proba(X))


@settings(max_examples=12)
@given(st.data())
def test_missing_as_a_state_equals_a_category_of_its_own(data: Any) -> None:
    rows = data.draw(tables(st.integers(0, 2), weights=data.draw(any_weights()), missing=True))
    model = CategoricalNB(missing="state", min_categories=3).fit(**rows.arguments)
    filled = np.where(np.isnan(rows.X), 3, rows.X).astype(int)
    plain = CategoricalNB(min_categories=4).fit(filled, rows.y, rows.weight)
    np.testing.assert_array_equal(model.predict_joint_log_proba(rows.X), plain.predict_joint_log_proba(filled))


def test_missing_cells_of_columns_with_priors_are_left_out() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
    X[rng.random(X.shape) < 0.3] = np.nan
    columns = {0: {"prior": NormalInverseGamma()}, 1: {"prior": NormalInverseGamma(mean=2.0)}}
    model = GaussianNB(missing="ignore", columns=columns).fit(X, y)
    row = np.array([[0.3, np.nan, np.nan]])
    alone = GaussianNB(missing="ignore", columns={0: columns[0]}).fit(X[:, :1], y)
    require_close_scores(model.predict_joint_log_proba(row), alone.predict_joint_log_proba(row[:, :1]))


def test_an_absent_mark_and_a_missing_one_are_different_things() -> None:
    model = BernoulliNB(missing="ignore").fit([[1.0], [1.0], [0.0], [np.nan]], [0, 0, 1, 1])
    absent, missing = model.predict_proba([[0.0], [np.nan]])
    assert absent[1] > 0.6
    np.testing.assert_allclose(missing, [0.5, 0.5], rtol=1e-15)
