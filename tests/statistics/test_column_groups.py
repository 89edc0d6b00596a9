"""`ColumnGroups` and `CountTotals`: sums of a mixed table, group by group, and the sums of counts among them."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.errors import SchemaError, StatisticsError
from bayeswater.kernels import threads
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.sums import ClassCounts, Sums

PLAN = ColumnPlan((Column("n", "n", "poisson", "told"), Column("x", "x", "gaussian", "told")))
X = np.array([[1.0, 0.5], [3.0, np.nan], [np.nan, 2.0], [0.0, 1.0]])
Y = ["a", "a", "b", "b"]


def totals(X: Any, y: Any, weight: Any = None) -> CountTotals:
    return CountTotals.of(DenseMatrix(np.asarray(X, dtype=float), ("n",)), encode_labels(y), weight)


def groups(rows: Any = slice(None), plan: ColumnPlan = PLAN, weight: Any = None) -> Sums[ColumnGroups]:
    labels = encode_labels(np.array(Y)[rows])
    w = None if weight is None else np.asarray(weight)[rows]
    parts = {
        "poisson": CountTotals.of(DenseMatrix(X[rows, :1], ("n",)), labels, w),
        "normal": Moments.of(DenseMatrix(X[rows, 1:], ("x",)), labels, w, skip_missing=True),
    }
    return Sums(ClassCounts.of(labels, w), ColumnGroups(labels.variable, plan, parts))


def test_totals_sum_the_cells_that_are_there() -> None:
    sums = totals([[1], [3], [np.nan], [4]], Y)
    assert_array_equal(sums.weight, [[2], [1]])
    assert_array_equal(sums.total, [[4], [4]])
    assert sums.weight.dtype == np.int64
    weighted = totals([[1], [3], [np.nan], [4]], Y, np.array([0.5, 2, 7, 1]))
    assert_array_equal(weighted.weight, [[2.5], [1]])
    assert_array_equal(weighted.total, [[6.5], [4]])
    assert [part.tolist() for part in weighted.pooled()] == [[3.5], [10.5]]


def test_totals_of_whole_numbers_are_exact_and_stay_so() -> None:
    large = totals([[10**13], [5], [1], [2]], Y)
    left = large - totals([[10**13]], ["a"])
    assert_array_equal(left.total, [[5], [3]])
    nearly = totals([[2**52 - 7], [3]], ["a", "a"]) - totals([[2**52 - 7]], ["a"])
    assert_array_equal(nearly.total, [[3]])


def test_totals_of_many_blocks_of_rows_add_up_to_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cells, y = np.arange(20.0)[:, None], list("ab") * 10
    cells[7] = np.nan
    whole = totals(cells, y)
    monkeypatch.setattr(threads.row_blocks, "__defaults__", (3,))
    assert totals(cells, y) == whole
    assert whole.weight.tolist() == [[10], [9]] and whole.total.tolist() == [[90], [93]]


def test_totals_refuse_what_was_never_counted() -> None:
    sums = totals([[1], [3], [0], [4]], Y)
    with pytest.raises(StatisticsError, match="total in class 'a' would become -5"):
        sums - totals([[9]], ["a"])
    with pytest.raises(StatisticsError, match="class 'c' was never counted here"):
        sums - totals([[0]], ["c"])


def test_groups_add_and_subtract_group_by_group() -> None:
    whole, first, rest = groups(), groups(slice(0, 3)), groups(slice(3, 4))
    assert first + rest == whole
    assert (whole - rest).columns.groups["poisson"] == first.columns.groups["poisson"]
    assert sum([first, rest]) == whole
    assert whole.columns.to_arrays().keys() == {
        "poisson.weight",
        "poisson.total",
        "normal.weight",
        "normal.mean",
        "normal.scatter",
    }
    assert whole.nbytes == whole.class_count.nbytes + sum(g.nbytes for g in whole.columns.groups.values())


def test_classes_that_only_one_of_two_has_are_aligned_by_label() -> None:
    a, b = groups(slice(0, 2)), groups(slice(2, 4))
    assert (a.classes.states, b.classes.states) == (("a",), ("b",))
    assert a + b == b + a == groups()
    assert (groups() - a).classes.states == ("b",)


def test_only_sums_of_the_same_plan_are_added() -> None:
    other = ColumnPlan((PLAN["n"], Column("x", "x", "lognormal")))
    for combine in (lambda a, b: a + b, lambda a, b: a.columns.minus(b.columns)):
        with pytest.raises(SchemaError, match="column 'x' is read as gaussian here and as lognormal there"):
            combine(groups(), groups(plan=other))
    reason = ColumnPlan((Column("n", "n", "poisson", "by evidence", dtype="int8"), PLAN["x"]))
    assert groups(plan=reason) + groups() == groups() + groups()  # neither reason nor type is part of the reading
    assert groups() != groups(plan=other)
    assert groups().columns != "something else"


def test_more_cells_than_rows_are_refused() -> None:
    # Row 1 has no x: taken away as if it had, and with it a row of class b that has none, b has more cells than rows.
    labels = encode_labels(["b"])
    missing = ColumnGroups(
        labels.variable,
        PLAN,
        {
            "poisson": CountTotals.of(DenseMatrix(np.array([[np.nan]]), ("n",)), labels, None),
            "normal": Moments.of(DenseMatrix(np.array([[np.nan]]), ("x",)), labels, None, skip_missing=True),
        },
    )
    with pytest.raises(StatisticsError, match=r"class 'b' would have 1 rows, with 2 cells in column 'x'"):
        groups() - Sums(ClassCounts.of(labels, None), missing)


def test_scaling_makes_every_row_weigh_less() -> None:
    half = groups().scaled(0.5)
    assert half == groups(weight=[0.5] * 4)
    assert half.columns.groups["poisson"].weight.dtype == np.float64


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda sums: pickle.loads(pickle.dumps(sums))], ids=["copy", "pickle"]
)
def test_copies_are_equal_and_frozen(copied: Any) -> None:
    twin = copied(groups())
    assert twin == groups()
    for array in twin.columns.to_arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
