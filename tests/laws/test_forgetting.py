"""Forgetting rows equals never having seen them; what was never counted cannot be forgotten."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.models import are_counts, every_counting_model, every_model, require_same_sums
from tests.laws.tables import QUARTERS, Rows, any_weights, tables

from bayeswater import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from bayeswater.errors import BayesError, StatisticsError
from bayeswater.statistics.moments import LostDigits

EPS = np.finfo(np.float64).eps


def divided(draw: Any, rows: Rows) -> tuple[Any, Any]:
    """Draw which rows stay, one at least, and which are to be forgotten, one at least."""
    stays = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    stays[draw(st.integers(1, len(rows) - 1))] = False
    stays[0] = True
    return np.flatnonzero(stays), np.flatnonzero(~np.array(stays))


@every_counting_model
@settings(max_examples=12)
@given(st.data())
def test_forgetting_rows_equals_never_having_seen_them(kind: Any, data: Any) -> None:
    """Domains shrink too: classes and categories that only the forgotten rows had are gone."""
    missing = kind.takes_missing and data.draw(st.booleans())
    rows = data.draw(tables(kind.cells, n_rows=(2, 9), weights=data.draw(any_weights()), missing=missing))
    kept, gone = divided(data.draw, rows)
    setting = {"missing": "ignore"} if missing else {}
    never = kind.make(**setting).fit(**rows.take(kept).arguments)
    model = kind.make(**setting).fit(**rows.arguments).forget(**rows.take(gone).arguments)
    require_same_sums(model.statistics_, never.statistics_, to_the_bit=are_counts(kind, rows.weight))
    assert model.classes_.tolist() == never.classes_.tolist()
    if are_counts(kind, rows.weight):
        np.testing.assert_array_equal(
            model.predict_joint_log_proba(rows.X[kept]), never.predict_joint_log_proba(rows.X[kept])
        )


@settings(max_examples=12)
@given(st.data())
def test_forgetting_labels_shrinks_their_domain(data: Any) -> None:
    rows = data.draw(tables(st.sampled_from("abcd"), n_rows=(2, 8)))
    kept, gone = divided(data.draw, rows)
    model = CategoricalNB().fit(rows.X, rows.y).forget(rows.X[gone], rows.y[gone])
    assert model.statistics_ == CategoricalNB().fit(rows.X[kept], rows.y[kept]).statistics_


@settings(max_examples=12)
@given(st.data())
def test_forgetting_keeps_what_was_declared(data: Any) -> None:
    rows = data.draw(tables(st.integers(0, 3), n_rows=(2, 8)))
    kept, gone = divided(data.draw, rows)

    def fitted(part: Rows) -> Any:
        return CategoricalNB(min_categories=6).partial_fit(part.X, part.y, classes=[0, 1, 2])

    model = fitted(rows).forget(rows.X[gone], rows.y[gone])
    assert model.statistics_ == fitted(rows.take(kept)).statistics_
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.n_categories_.tolist() == [6] * rows.X.shape[1]


@settings(max_examples=30)
@given(st.data())
def test_forgotten_moments_equal_those_never_summed_or_are_recounted(data: Any) -> None:
    """Where too many digits would be lost `forget` refuses, changes nothing, and takes the rows that remain instead."""
    missing = data.draw(st.booleans())
    cells = data.draw(st.sampled_from([QUARTERS, st.sampled_from([0.0, 1.0, 1e6])]))
    rows = data.draw(tables(cells, n_rows=(2, 9), weights=data.draw(any_weights()), missing=missing))
    kept, gone = divided(data.draw, rows)
    rest = rows.take(kept)
    never = GaussianNB(missing="ignore").fit(**rest.arguments)
    model = GaussianNB(missing="ignore").fit(**rows.arguments)
    before = model.statistics_
    try:
        model.forget(**rows.take(gone).arguments)
    except LostDigits as refusal:
        assert "remaining=" in str(refusal)
        assert model.statistics_ is before
        model.forget(**rows.take(gone).arguments, remaining=(rest.X, rest.y, rest.weight))
    assert model.statistics_.classes == never.statistics_.classes
    found, expected = model.statistics_.columns, never.statistics_.columns
    weight = np.broadcast_to(expected.weight, expected.mean.shape)
    np.testing.assert_allclose(np.broadcast_to(found.weight, weight.shape), weight, rtol=1e-12)
    # A mean of cells of size M moves by eps M for each of the weights that is taken away beside one that stays; squares
    # come from what was there before, and keep its rounding.
    size = np.nanmax(np.abs(rows.X), initial=0.0)
    heavy = before.class_count.count.max() / np.where(weight > 0, weight, np.inf).min()
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=8 * EPS * size * (1 + heavy))
    allowed = 64 * EPS * (before.columns.scatter.max() + size * size * heavy)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-12, atol=allowed)
    np.testing.assert_array_equal(found.scatter[weight == 0], 0.0)


def test_moments_that_would_lose_their_digits_are_refused_by_name_and_recounted() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    X[7, 1] = 1e9
    y = np.repeat(["here", "there"], 25)
    model = GaussianNB().fit(X, y)
    before = model.statistics_
    with pytest.raises(LostDigits, match="'x1' of class 'here'"):
        model.forget(X[7:8], y[7:8])
    assert model.statistics_ is before
    rest = np.arange(50) != 7
    model.forget(X[7:8], y[7:8], remaining=(X[rest], y[rest]))
    never = GaussianNB().fit(X[rest], y[rest])
    np.testing.assert_allclose(model.theta_, never.theta_, rtol=1e-12)
    np.testing.assert_allclose(model.var_, never.var_, rtol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e8, 1e10])
def test_moments_far_from_zero_are_right_to_eight_digits_or_refused(offset: float) -> None:
    """A mean of size M is rounded to eps M, which the square of a difference of means hands on to the scatter."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        n_rows = int(rng.integers(3, 60))
        kept = int(rng.integers(2, n_rows))
        X, y = rng.standard_normal((n_rows, 1)) + offset, np.zeros(n_rows, dtype=np.int64)
        never = GaussianNB(var_smoothing=0.0).fit(X[:kept], y[:kept])
        model = GaussianNB(var_smoothing=0.0).fit(X, y)
        try:
            model.forget(X[kept:], y[kept:])
        except LostDigits:
            assert offset >= 1e6
            continue
        np.testing.assert_allclose(model.var_, never.var_, rtol=1e-7)


def test_remaining_rows_that_are_not_all_that_remain_are_refused() -> None:
    X = np.array([[0.0], [1.0], [1e9]])
    model = GaussianNB().fit(X, [0, 0, 0])
    before = model.statistics_
    with pytest.raises(StatisticsError, match="remain"):
        model.forget(X[2:], [0], remaining=(X[:1], [0]))
    assert model.statistics_ is before


@every_model
@settings(max_examples=12)
@given(st.data())
def test_forgetting_more_than_was_counted_is_refused_and_changes_nothing(kind: Any, data: Any) -> None:
    rows = data.draw(tables(kind.cells, n_rows=(2, 8), weights=data.draw(any_weights())))
    model = kind.make().fit(**rows.arguments)
    before, scores = model.statistics_, model.predict_joint_log_proba(rows.X)
    twice = Rows(rows.X[:1], rows.y[:1], np.array([1.0 + rows.take(rows.y == rows.y[0]).total_weight]))
    for too_much in (rows, twice, Rows(rows.X[:1], np.array([9])), Rows(rows.X[:1], np.array(["other"]))):
        with pytest.raises(BayesError):
            model.forget(**too_much.arguments)
        assert model.statistics_ is before
        np.testing.assert_array_equal(model.predict_joint_log_proba(rows.X), scores)


@pytest.mark.parametrize(
    ("model", "row"),
    [
        (MultinomialNB(), [[1, 9]]),
        (BernoulliNB(), [[0, 1]]),
        (CategoricalNB(), [[0, 1]]),
        (CategoricalNB(), [[1, 7]]),
        (GaussianNB(), [[100.0, 100.0]]),
    ],
    ids=str,
)
def test_a_row_with_a_cell_that_was_never_counted_is_refused(model: Any, row: Any) -> None:
    model.fit([[1, 1], [1, 0], [1, 2]], [0, 0, 0])
    before = model.statistics_
    with pytest.raises(StatisticsError):
        model.forget(row, [0])
    assert model.statistics_ is before


@pytest.mark.parametrize("model", [BernoulliNB(missing="ignore"), GaussianNB(missing="ignore")], ids=str)
def test_a_missing_cell_that_was_never_missing_is_refused(model: Any) -> None:
    model.fit([[1.0, 1.0], [0.0, 2.0], [1.0, 0.0]], [0, 0, 0])
    before = model.statistics_
    with pytest.raises(StatisticsError, match="never counted"):
        model.forget([[1.0, np.nan]], [0])
    assert model.statistics_ is before


@pytest.mark.parametrize("model", [MultinomialNB(), BernoulliNB(binarize=0.5), GaussianNB()], ids=str)
def test_nothing_is_left_of_a_class_that_is_forgotten_in_another_order(model: Any) -> None:
    """A million weights add up with an error of a thousand units of the last place, another one in every order."""
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((1_000_000, 1)), rng.integers(0, 3, 1_000_000), rng.random(1_000_000)
    gone = rng.permutation(np.flatnonzero(y == 1))
    model.fit(X, y, weight).forget(X[gone], y[gone], weight[gone])
    assert model.classes_.tolist() == [0, 2]
