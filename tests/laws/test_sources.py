"""Rows in pieces make the model that the same rows make at once, however they are cut into pieces."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.models.streaming.pieces import Pieces

from bayeswater import A2DE, AODE, KDB, SKDB, SPODE, TAN, CategoricalNB, NaiveBayes
from bayeswater.models.streaming import labelled

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")

CELLS: dict[str, tuple[Any, pa.DataType]] = {
    "kind": (st.sampled_from(["low", "mid", "high", "odd"]), pa.string()),
    "flag": (st.booleans(), pa.bool_()),
    "bit": (st.sampled_from([0, 1]), pa.int64()),
    "grade": (st.integers(0, 20), pa.int64()),
    "size": (st.integers(-64, 64).map(lambda quarters: quarters / 4), pa.float64()),
    "y": (st.sampled_from(["yes", "no", "rarely"]), pa.string()),
    "w": (st.integers(0, 3), pa.int64()),
}


@st.composite
def tables(draw: Any, names: tuple[str, ...] = tuple(CELLS)) -> pa.Table:
    """Draw rows in which any cell may be missing but one, a label or a weight."""
    n = draw(st.integers(6, 24))

    def column(name: str) -> pa.Array:
        cells, kind = CELLS[name]
        cells = cells if name in ("kind", "y", "w") else st.one_of(st.none(), cells, cells, cells)
        return pa.array(draw(st.lists(cells, min_size=n, max_size=n)), kind)

    table = pa.table({name: column(name) for name in names})
    if "w" in names:  # the first row counts: it is what a plan is made by
        table = table.set_column(table.column_names.index("w"), "w", pa.array([1, *table["w"].to_pylist()[1:]]))
    return table


@st.composite
def cuts_of(draw: Any, table: pa.Table) -> Pieces:
    """Draw pieces of a table, some of which may be empty, and the order in which they are added."""
    n = table.num_rows
    cuts = [0, *sorted(draw(st.lists(st.integers(0, n), max_size=5))), n]
    pieces = [table.slice(a, b - a) for a, b in pairwise(cuts)]
    return Pieces(pieces, order=draw(st.permutations(range(len(pieces)))))


def in_pieces(model: Any, rows: Pieces, monkeypatch: pytest.MonkeyPatch, n_first: int = 4, **given: Any) -> Any:
    """Fit a model to rows of which the first few do not hold all."""
    with monkeypatch.context() as patch:
        patch.setattr(labelled, "SAMPLED", n_first)
        return clone(model).fit(rows, target="y", **given)


def at_once(model: Any, table: pa.Table) -> Any:
    return clone(model).fit(table.drop_columns(["y", "w"]), table["y"], table["w"])


COUNTS = [
    CategoricalNB(missing="ignore"),
    NaiveBayes(family="binned"),
    NaiveBayes(family="poisson", columns={"size": "binned"}),
    AODE(),
    AODE(discretize="equal_frequency"),
    AODE(discretize="equal_width", missing="state"),
    A2DE(),
    SPODE("kind"),
    TAN(),
    KDB(),
]
CHOOSING = [SPODE(), AODE(select=True), SKDB(2)]


@pytest.mark.parametrize("model", [*COUNTS, *CHOOSING], ids=str)
@settings(max_examples=5)
@given(data=st.data())
def test_counts_of_any_pieces_are_those_of_all_rows_to_the_bit(model, data):
    table = data.draw(tables())
    if isinstance(model, CategoricalNB):
        table = table.drop_columns(["size"])
    rows = data.draw(cuts_of(table))
    with pytest.MonkeyPatch.context() as patch:
        found = in_pieces(model, rows, patch, sample_weight="w")
    expected = at_once(model, table)
    assert found.statistics_ == expected.statistics_
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert vars(found).get("structure_") == vars(expected).get("structure_")
    X = table.drop_columns(["y", "w"])
    np.testing.assert_array_equal(found.predict_joint_log_proba(X), expected.predict_joint_log_proba(X))


@pytest.mark.parametrize("model", [AODE(calibrate=True), TAN(calibrate=True), SKDB(1, calibrate=True)], ids=str)
@settings(max_examples=4)
@given(data=st.data())
def test_what_pieces_are_calibrated_by_does_not_depend_on_them(model, data):
    table = data.draw(tables())
    with pytest.MonkeyPatch.context() as patch:
        first, second = (in_pieces(model, data.draw(cuts_of(table)), patch, sample_weight="w") for _ in range(2))
    assert first.calibration_.n_used == second.calibration_.n_used
    X = table.drop_columns(["y", "w"])
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


@pytest.mark.parametrize("model", [NaiveBayes(), AODE(), CategoricalNB()], ids=str)
@pytest.mark.parametrize("lists", [(["mid", "low", "high"],) * 3, (["mid", "low"], ["high", "mid"], ["low"])], ids=str)
def test_categories_declared_piece_by_piece_end_in_the_order_of_all_rows(model, lists, monkeypatch):
    rng = np.random.default_rng(0)
    pieces = [
        pa.table(
            {
                "kind": pa.DictionaryArray.from_arrays(rng.integers(0, len(labels), 10), pa.array(labels)),
                "y": rng.choice(["no", "yes"], 10),
            }
        )
        for labels in lists
    ]
    table = pa.concat_tables(pieces)
    expected = clone(model).fit(table.drop_columns(["y"]), table["y"])
    for order in ([0, 1, 2], [2, 0, 1]):
        found = in_pieces(model, Pieces(pieces, order=order), monkeypatch)
        assert found.statistics_ == expected.statistics_


@settings(max_examples=8)
@given(data=st.data())
def test_sums_of_numbers_of_any_pieces_are_those_of_all_rows_but_for_rounding(data):
    table = data.draw(tables(("size", "grade", "kind", "y", "w")))
    rows = data.draw(cuts_of(table))
    with pytest.MonkeyPatch.context() as patch:
        found = in_pieces(NaiveBayes(), rows, patch, sample_weight="w")
    expected = at_once(NaiveBayes(), table)
    assert found.columns_ == expected.columns_
    X = table.drop_columns(["y", "w"])
    # Means are merged by Chan's formula, in as many steps of rounding as there are pieces.
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-9, atol=1e-12)
