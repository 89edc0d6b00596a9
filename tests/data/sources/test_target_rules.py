"""Bins of amounts, and classes of few rows."""

import numpy as np
import pyarrow as pa
import pytest

from bayeswater.data.sources.target_rules import KeptClasses, TargetBins
from bayeswater.errors import DataError


def test_an_amount_at_a_cut_is_in_the_bin_that_ends_there_and_a_missing_one_in_none():
    bins = TargetBins((1.0, 2.5))
    cells = pa.chunked_array([[0, 1.0, 1.1], [2.5, 1e9, None, float("nan")]])
    assert bins(cells).to_pylist() == ["up to 1", "up to 1", "1 to 2.5", "1 to 2.5", "over 2.5", None, None]


@pytest.mark.parametrize("cuts", [(0.1,), (-3.0, 0.0, 1e-7), (1e300, 1.7e308)])
def test_bins_are_known_again_by_the_names_of_the_classes(cuts):
    bins = TargetBins(cuts)
    assert TargetBins.of_classes(sorted(bins.labels)) == bins


@pytest.mark.parametrize("classes", [[], ["a", "b"], ["up to 3", "over 4"], ["up to x", "over x"], [0, 1], ["up to 3"]])
def test_other_classes_are_no_bins(classes):
    assert TargetBins.of_classes(classes) is None


def test_bins_have_about_as_many_rows_each_and_fewer_where_numbers_repeat():
    values = np.arange(90.0)
    assert TargetBins.of_values(values, 3, "y").cuts == (29.0, 59.0)
    assert TargetBins.of_values(np.repeat([1.0, 2.0], [80, 10]), 3, "y").cuts == (1.0,)
    for values in ([5.0] * 9, [np.nan]):
        with pytest.raises(DataError):
            TargetBins.of_values(np.array(values), 3, "y")


def test_rows_of_other_classes_are_left_out():
    cells = pa.chunked_array([["a", "b", None, "c"]])
    assert KeptClasses(("a", "c"))(cells).to_pylist() == ["a", None, None, "c"]
    assert KeptClasses(("a",))(cells.dictionary_encode()).to_pylist() == ["a", None, None, None]
