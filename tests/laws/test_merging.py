"""Merging models: the sums of both, whatever classes and categories each of them met."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.models import are_counts, every_model, require_same_sums
from tests.laws.tables import Rows, any_weights, tables

from bayeswater import CategoricalNB


def together(*parts: Rows) -> Rows:
    """All rows of several tables."""
    weights = [np.ones(len(part)) if part.weight is None else part.weight for part in parts]
    return Rows(
        np.vstack([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate(weights),
    )


def parts(draw: Any, kind: Any, n: int, n_columns: int = 3) -> list[Rows]:
    """Draw tables of the same columns; each may lack classes and categories that the others have."""
    missing = kind.takes_missing and draw(st.booleans())
    return [
        draw(
            tables(kind.cells, n_rows=(1, 6), n_columns=(n_columns,) * 2, weights=draw(any_weights()), missing=missing)
        )
        for _ in range(n)
    ]


def fitted(kind: Any, rows: Rows) -> Any:
    model = kind.make(missing="ignore") if kind.takes_missing else kind.make()
    return model.fit(**rows.arguments)


@every_model
@settings(max_examples=12)
@given(st.data())
def test_merging_equals_a_fit_on_all_rows_and_commutes(kind: Any, data: Any) -> None:
    first, second = parts(data.draw, kind, 2)
    a, b = fitted(kind, first), fitted(kind, second)
    both = together(first, second)
    exactly = are_counts(kind, both.weight)
    require_same_sums((a + b).statistics_, fitted(kind, both).statistics_, to_the_bit=exactly)
    # Adding two numbers commutes for floats too; the mean of a merge starts from the left one.
    require_same_sums((a + b).statistics_, (b + a).statistics_, to_the_bit=kind.counts)
    assert (a + b).classes_.tolist() == sorted(set(both.y.tolist()))


@every_model
@settings(max_examples=12)
@given(st.data())
def test_merging_associates(kind: Any, data: Any) -> None:
    tables = parts(data.draw, kind, 3)
    a, b, c = (fitted(kind, rows) for rows in tables)
    exactly = are_counts(kind, together(*tables).weight)
    require_same_sums(((a + b) + c).statistics_, (a + (b + c)).statistics_, to_the_bit=exactly)


@settings(max_examples=12)
@given(st.data())
def test_merging_aligns_categories_by_label(data: Any) -> None:
    labels = st.sampled_from(["blue", "green", "red", "white"])
    first, second, third = (data.draw(tables(labels, n_rows=(1, 4), n_columns=(2, 2))) for _ in range(3))
    a, b, c = (CategoricalNB().fit(rows.X, rows.y) for rows in (first, second, third))
    whole = CategoricalNB().fit(np.vstack([first.X, second.X]), np.concatenate([first.y, second.y]))
    assert (a + b).statistics_ == whole.statistics_ == (b + a).statistics_
    assert ((a + b) + c).statistics_ == (a + (b + c)).statistics_


@settings(max_examples=12)
@given(st.data())
def test_merging_declared_categories_counts_every_label_alike_in_any_order(data: Any) -> None:
    """Domains may be declared in different orders: what is counted for a label does not depend on it."""
    pandas = pytest.importorskip("pandas")
    models = []
    for _ in range(3):
        rows = data.draw(tables(st.sampled_from(["a", "b", "c"]), n_rows=(1, 4), n_columns=(1, 1)))
        declared = data.draw(st.permutations(["a", "b", "c", "d"]))
        frame = pandas.DataFrame({"x": pandas.Categorical(rows.X[:, 0], categories=declared)})
        models.append(CategoricalNB().fit(frame, rows.y))
    a, b, c = models

    def by_label(model: Any) -> dict[Any, Any]:
        counts = model.statistics_.columns
        return dict(zip(counts.schema[0].states, counts.of_column(0).tolist(), strict=True))

    assert by_label(a + b) == by_label(b + a)
    assert set(by_label(a + b)) == {"a", "b", "c", "d"}
    assert (a + b).statistics_ == (b + a).statistics_
    assert ((a + b) + c).statistics_ == (a + (b + c)).statistics_


@every_model
@settings(max_examples=12)
@given(st.data())
def test_taking_a_merged_model_away_again_leaves_the_first(kind: Any, data: Any) -> None:
    first, second = parts(data.draw, kind, 2)
    if not kind.counts:
        # Scatters that do not shrink to nothing: every class keeps rows well apart.
        spread = np.repeat([[-8.0], [0.5], [8.0]], 3, axis=0) * [1.0, 0.5, 2.0]
        apart = Rows(spread, np.arange(9) % 3, np.full(9, 2.0))
        first = together(first, apart)
    a, b = fitted(kind, first), fitted(kind, second)
    require_same_sums(
        ((a + b) - b).statistics_, a.statistics_, to_the_bit=are_counts(kind, together(first, second).weight)
    )


@every_model
def test_merging_and_subtracting_leave_both_models_as_they_were(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (20, 3)), rng.integers(0, 3, 20)
    a, b = kind.make().fit(X, y), kind.make().fit(X[:5] * 1, y[:5])
    before = a.statistics_, b.statistics_, a.predict_proba(X), b.predict_proba(X)
    _ = a + b, a - b
    assert (a.statistics_, b.statistics_) == before[:2]
    np.testing.assert_array_equal(a.predict_proba(X), before[2])
    np.testing.assert_array_equal(b.predict_proba(X), before[3])
