"""What sums keep beside counts: from where to where numbers were seen. Every statistic is equal by its sums alone."""

import importlib
import pkgutil

import numpy as np
import pyarrow as pa
import pytest

from bayeswater import NaiveBayes, families, load, save, statistics
from bayeswater.families.open_numbers import NumberProfile
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.key_counts import KeyCounts
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import SeenRanges

NAN = np.nan


def kinds_of(kind=Statistic):
    return [kind, *(below for own in kind.__subclasses__() for below in kinds_of(own))]


def test_every_statistic_is_compared_by_its_sums_and_has_no_hash():
    for room in (statistics, families):
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    kinds = kinds_of()
    with_a_rule_of_their_own = {kind for kind in kinds if "__eq__" in vars(kind)}
    assert with_a_rule_of_their_own == {Statistic, KeyCounts, ColumnGroups, NumberProfile}
    assert all(kind.__hash__ is None for kind in kinds)
    assert len(kinds) > 20


def test_the_range_of_a_column_is_that_of_all_its_cells_in_however_many_pieces():
    pieces = [np.array([3.0, NAN, 5.0]), np.array([]), np.array([4.0, 2.0]), np.array([NAN])]
    seen = SeenRanges.of([("x", tuple(pieces)), ("y", (np.array([-1]), np.array([7, 8]))), ("z", (np.array([NAN]),))])
    assert seen == SeenRanges({"x": 2.0, "y": -1.0}, {"x": 5.0, "y": 8.0})
    assert SeenRanges.of([("z", ())]) == SeenRanges()


def test_the_ranges_of_rows_are_those_of_their_columns():
    rows = np.array([[1.0, -2.0, NAN, NAN], [0.5, 9.0, 1.0, NAN]])
    expected = SeenRanges({"a": 0.5, "b": -2.0, "c": 1.0}, {"a": 1.0, "b": 9.0, "c": 1.0})
    assert SeenRanges.of_rows("abcd", rows) == expected
    assert SeenRanges.of_rows("ab", rows[:, :2]) == expected.only("ab") == SeenRanges.of_rows("ba", rows[:, [1, 0]])


def test_ranges_together_are_the_outermost_and_an_end_goes_with_its_row():
    one, other = SeenRanges({"x": 1.0, "y": 0.0}, {"x": 4.0, "y": 1.0}), SeenRanges({"x": 2.0, "z": 5.0}, {"x": 6.0})
    assert one + other == SeenRanges({"x": 1.0, "y": 0.0, "z": 5.0}, {"x": 6.0, "y": 1.0})
    whole = SeenRanges({"x": 1.0, "y": 0.0}, {"x": 6.0, "y": 1.0})
    assert whole - SeenRanges({"x": 1.0}, {"x": 5.0}) == SeenRanges({"y": 0.0}, {"x": 6.0, "y": 1.0})
    assert whole - SeenRanges({"x": 0.5}, {"x": 7.0, "y": 0.0}) == SeenRanges({"y": 0.0}, {"y": 1.0})


def test_an_end_that_is_not_known_is_the_outermost_class_mean():
    means, seen = np.array([2.0, 0.25, 1.0]), SeenRanges({"x": 1.0}, {"y": 8.0})
    assert seen.within("x", means) == (1.0, 2.0)
    assert seen.within("y", means) == (0.25, 8.0)
    assert seen.within("z", means) == (0.25, 2.0)


@pytest.mark.parametrize("low", [0.0, -3.0])
def test_the_range_of_a_logarithm_has_no_end_where_the_number_has_none(low):
    means = np.array([0.5, 1.5])
    assert SeenRanges({"x": low}, {"x": 8.0}).within("x", means, is_log=True) == (0.5, float(np.log(8.0)))
    assert SeenRanges({"x": 0.5}, {}).within("x", means, is_log=True) == (float(np.log(0.5)), 1.5)


def test_an_end_that_was_forgotten_stays_unknown_whatever_is_added(tmp_path):
    model = NaiveBayes(columns={"x": "gaussian"}).fit(pa.table({"x": [1.0, 2.0, 5.0, 9.0]}), list("abab"))
    model.forget(pa.table({"x": [1.0, 9.0]}), list("ab")).partial_fit(pa.table({"x": [4.0]}), ["a"])
    assert model.statistics_.seen == SeenRanges()  # 2 and 5 lie beyond 4, and are not looked at again
    save(model, tmp_path / "m.bayes")
    again = load(tmp_path / "m.bayes").partial_fit(pa.table({"x": [3.0]}), ["a"])
    assert again.statistics_.seen == (again + again).statistics_.seen == SeenRanges()
