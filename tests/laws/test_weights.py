"""A row of weight w is w equal rows; one of weight zero is no row at all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.models import every_model, require_close_scores, require_same_sums
from tests.laws.tables import WHOLE_WEIGHTS, any_weights, draw_cells, tables

from bayeswater import CategoricalNB, GaussianNB


@every_model
@settings(max_examples=12)
@given(st.data())
def test_whole_weights_equal_repetition(kind: Any, data: Any) -> None:
    missing = kind.takes_missing and data.draw(st.booleans())
    rows = data.draw(tables(kind.cells, weights=WHOLE_WEIGHTS, missing=missing))
    kind_of_number = data.draw(st.sampled_from([np.int64, np.uint8, np.float32, np.float64]))
    setting = {"missing": "ignore"} if missing else {}
    weighted = kind.make(**setting).fit(rows.X, rows.y, rows.weight.astype(kind_of_number))
    repeated = kind.make(**setting).fit(np.repeat(rows.X, rows.weight, axis=0), np.repeat(rows.y, rows.weight))
    require_same_sums(weighted.statistics_, repeated.statistics_, to_the_bit=kind.counts)
    if kind.counts:
        np.testing.assert_array_equal(weighted.predict_proba(rows.X), repeated.predict_proba(rows.X))


@every_model
@settings(max_examples=12)
@given(st.data())
def test_rows_of_weight_zero_have_no_influence(kind: Any, data: Any) -> None:
    """Not on sums, not on classes, not on domains, not on the smoothing of variances: whatever they hold."""
    rows = data.draw(tables(kind.cells, weights=data.draw(any_weights())))
    n_more = data.draw(st.integers(1, 3))
    wild = {GaussianNB: st.sampled_from([1e300, -1e300, 0.0])}.get(kind.make, st.integers(0, 1000))
    more = draw_cells(data.draw, wild, (n_more, rows.X.shape[1]))
    X = np.vstack([more, rows.X])
    y = np.concatenate([np.full(n_more, 7), rows.y])
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    model = kind.make().fit(X, y, np.concatenate([np.zeros(n_more), weight]))
    without = kind.make().fit(**rows.arguments)
    assert model.statistics_ == without.statistics_
    np.testing.assert_array_equal(model.predict_joint_log_proba(rows.X), without.predict_joint_log_proba(rows.X))


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e9])
@every_model
def test_posteriors_without_smoothing_do_not_change_when_all_weights_are_scaled(kind: Any, scale: float) -> None:
    """Weights that sum to one on a large table are tiny, and count all the same."""
    rng = np.random.default_rng(0)
    X, y, weight = rng.integers(0, 2, (40, 3)), rng.integers(0, 3, 40), rng.random(40)
    setting = {"var_smoothing": 1e-9} if kind.make is GaussianNB else {"alpha": 0.0}
    plain = kind.make(**setting).fit(X, y, weight)
    scaled = kind.make(**setting).fit(X, y, weight * scale)
    require_close_scores(scaled.predict_log_proba(X), plain.predict_log_proba(X))


def test_a_category_of_weight_zero_only_is_not_in_the_domain() -> None:
    model = CategoricalNB().fit([["a"], ["b"], ["a"]], [0, 0, 1], [1, 0, 1])
    assert model.statistics_.columns.schema[0].states == ("a",)
