"""What a single cell is: missing or not, and of which type."""

import numpy as np
import pandas as pd
import pytest

from bayeswater.data.cells import is_missing, type_names


@pytest.mark.parametrize(
    ("cell", "missing"),
    [
        (None, True),
        (float("nan"), True),
        (pd.NA, True),
        (pd.NaT, True),
        (np.datetime64("NaT"), True),
        ("", False),
        (0, False),
        ([1], False),
        (np.array([1, 2]), False),
    ],
)
def test_a_cell_is_missing_if_it_is_none_or_differs_from_itself(cell, missing):
    assert is_missing(cell) is missing


def test_missing_cells_have_no_type():
    assert type_names([None, 1, "a", float("nan"), pd.NA, np.array([1, 2])]) == ["int", "ndarray", "str"]
