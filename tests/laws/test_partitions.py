"""Learning in any batches is learning at once."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.models import are_counts, every_model, require_close_scores, require_same_sums
from tests.laws.tables import any_weights, batches_of, tables

from bayeswater import CategoricalNB, GaussianNB

CLASSES = [0, 1, 2]


@every_model
@settings(max_examples=12)
@given(st.data())
def test_any_partition_into_batches_equals_one_fit(kind: Any, data: Any) -> None:
    missing = kind.takes_missing and data.draw(st.booleans())
    rows = data.draw(tables(kind.cells, n_rows=(1, 12), weights=data.draw(any_weights()), missing=missing))
    model = kind.make(missing="ignore") if missing else kind.make()
    whole = kind.make(**model.get_params()).partial_fit(**rows.arguments, classes=CLASSES)
    for batch in batches_of(data.draw, len(rows)):
        model.partial_fit(**rows.take(batch).arguments, classes=CLASSES)

    exactly = are_counts(kind, rows.weight)
    require_same_sums(model.statistics_, whole.statistics_, to_the_bit=exactly)
    scores, expected = model.predict_joint_log_proba(rows.X), whole.predict_joint_log_proba(rows.X)
    if exactly:
        np.testing.assert_array_equal(scores, expected)
    elif kind.counts:
        require_close_scores(scores, expected)


@every_model
@settings(max_examples=12)
@given(st.data())
def test_partial_fit_after_fit_equals_one_fit(kind: Any, data: Any) -> None:
    """A fit infers the classes it saw; further rows of these classes join it."""
    first = data.draw(tables(kind.cells, n_columns=(3, 3)))
    more = data.draw(tables(kind.cells, n_columns=(3, 3)))
    known = np.isin(more.y, first.y)
    model = kind.make().fit(first.X, first.y)
    if known.any():
        model.partial_fit(more.X[known], more.y[known])
    both = kind.make().fit(np.vstack([first.X, more.X[known]]), np.concatenate([first.y, more.y[known]]))
    require_same_sums(model.statistics_, both.statistics_, to_the_bit=kind.counts)


@settings(max_examples=12)
@given(st.data())
def test_labels_of_categories_met_in_any_batches_form_one_sorted_domain(data: Any) -> None:
    rows = data.draw(tables(st.sampled_from("dacb"), n_rows=(1, 10)))
    model = CategoricalNB()
    for batch in batches_of(data.draw, len(rows)):
        model.partial_fit(**rows.take(batch).arguments, classes=CLASSES)
    whole = CategoricalNB().partial_fit(**rows.arguments, classes=CLASSES)
    require_same_sums(model.statistics_, whole.statistics_, to_the_bit=True)
    assert all(
        list(column.states) == sorted(set(rows.X[:, j])) for j, column in enumerate(whole.statistics_.columns.schema)
    )


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, -1e8])
@pytest.mark.parametrize("n_rows", [1, 7])
def test_batches_of_moments_far_from_zero_differ_by_the_rounding_of_their_means(offset: float, n_rows: int) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 3)) + offset
    y = rng.integers(0, 3, 300)
    whole = GaussianNB(var_smoothing=0).partial_fit(X, y, classes=CLASSES)
    model = GaussianNB(var_smoothing=0)
    for start in range(0, 300, n_rows):
        model.partial_fit(X[start : start + n_rows], y[start : start + n_rows], classes=CLASSES)
    require_same_sums(model.statistics_, whole.statistics_, to_the_bit=False)
