"""Rows that are made of margins have these margins, and give the counts of the rows that the margins were taken of."""

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import CategoricalNB
from bayeswater.data.sources.rows import Margin
from bayeswater.models.streaming.grouping import with_margins

CELLS = st.tuples(st.sampled_from("ab"), st.sampled_from(["u", "v", None]), st.integers(0, 3))


def _margins(rows: list[tuple[str, str | None, int]]) -> dict[str, Margin]:
    found = {}
    for name, place in (("text", 1), ("code", 2)):
        pairs = Counter((row[0], row[place]) for row in rows)
        labels, cells = zip(*pairs, strict=True)
        found[name] = Margin(pa.array(labels), pa.array(cells), np.array([*pairs.values()]))
    return found


@given(st.lists(CELLS, min_size=1, max_size=60))
def test_rows_made_of_margins_are_counted_as_the_rows_they_were_taken_of(
    rows: list[tuple[str, str | None, int]],
) -> None:
    labels, text, code = zip(*rows, strict=True)
    X = pa.table({"text": pa.array(text, pa.string()), "code": pa.array(code)})
    if X["text"].null_count == X.num_rows:
        return  # a column of which no type is known
    made = with_margins(_margins(rows))
    assert made is not None and len(made.y) <= sum(len(margin.cells) for margin in _margins(rows).values())
    model = CategoricalNB(missing="ignore")
    assert model.fit(*made[:3]).statistics_ == CategoricalNB(missing="ignore").fit(X, pa.array(labels)).statistics_


def test_margins_without_a_label_make_no_rows() -> None:
    assert with_margins({"x": Margin(pa.array([None], pa.string()), pa.array([1]), np.array([5]))}) is None
