"""Unfinished sums come back from their document as they were, and nothing else is made of one."""

import datetime
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayeswater import ModelFileError
from bayeswater.data.variable import Variable
from bayeswater.models.stored.codec import HOMES, MANY_WORDS, described, kind_of, restored
from bayeswater.models.streaming.passes import Parts
from bayeswater.statistics.sums import ClassCounts


def back(value: Any) -> Any:
    document, arrays = described(value)
    return restored(document["nodes"], arrays)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, -2, 2**62]),
        np.array([0.5, -np.inf, np.nan, 5e-324]),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([[1, 2], [3, 4]], dtype=np.uint8),
        np.array([1, 65535], dtype=np.uint16),
        np.array([True, False]),
        np.array([1.5, 2.5], dtype=np.float32),
        np.zeros((0, 3), dtype=np.int32),
        np.array(["a", "longer"]),
        np.array([None, "x", 3], dtype=object),
        np.array(["2024-01-31"], dtype="datetime64[D]"),
    ],
    ids=lambda array: array.dtype.str,
)
def test_arrays_come_back_in_their_own_kind_and_shape(array):
    found = back(array)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


def test_values_come_back_as_they_were():
    table = pa.table({"note": ["a b c", None], "n": [1, 2]})
    value = ({"x": [1, (None, "y")]}, datetime.date(2024, 1, 31), Variable("v", ("a", "b"), frozenset({"a"})))
    assert back(value) == value
    assert back([table])[0].equals(table)
    many = Variable("word", tuple(f"w{i}" for i in range(MANY_WORDS + 1)))
    assert back(many) == many
    counts = ClassCounts(Variable("class", ("n", "p")), np.array([3, 4]))
    assert back(Parts((counts, None))).parts[0] == counts


@pytest.mark.parametrize(
    "nodes",
    [
        None,
        [],
        ["value"],
        [["value"]],
        [["tuple", 0]],
        [["value", 1], ["tuple", 1]],
        [["value", 1], ["tuple", "0"]],
        [["value", 1], ["dict", 0]],
        [["eval", "1 + 1"]],
        [["ClassCounts", ["classes", "evil"], 0, 0]],
        [["value", 1], ["ClassCounts", ["classes", "count"], 0]],
        [["os.system", ["command"], "ls"]],
        [["array", "a7", "<i8", [1]]],
        [["array", "a0", "<i8", [2]]],
        [["array", "a0", "|O", [1]]],
        [["array", None, "<i8", [1]]],
        [["array", "a0", "<i8", [-1]]],
        [["array", "a0", "<i8", [1]], ["table", 0]],
        [["array", "a0", "<i8", [1]], ["words", "w", 0, 1, None]],
        [["value", {"function": ["print"]}]],
    ],
    ids=repr,
)
def test_what_means_nothing_is_refused(nodes):
    with pytest.raises((ModelFileError, ValueError)):
        restored(nodes, {"a0": np.array([1])})


def test_the_list_of_kinds_is_closed_and_made_of_frozen_dataclasses():
    for kind in map(kind_of, HOMES):
        with pytest.raises(FrozenInstanceError):
            object.__new__(kind).anything = 1
        assert kind.__module__.startswith("bayeswater.")
