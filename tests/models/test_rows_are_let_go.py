"""A fitted model is its sums: of the rows it keeps nothing, which memory shows and whoever has to forget them asks."""

import gc
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayeswater import AODE, GaussianClassifier, NaiveBayes

ROWS = pd.DataFrame(
    {
        "colour": ["red", "green", "blue", "red"] * 10,
        "size": np.linspace(0.0, 1.0, 40),
        "note": [f"a {word} note of several words {i}" for i, word in enumerate(["good", "bad"] * 20)],
    }
)


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (NaiveBayes(), ["colour", "size", "note"]),
        (NaiveBayes(weights="learned"), ["colour", "size", "note"]),
        (NaiveBayes(weights="learned"), ["size"]),
        (AODE(calibrate=True), ["colour", "size"]),
        (GaussianClassifier(calibrate=True), ["size"]),
    ],
)
def test_nothing_is_kept_of_the_rows_of_a_fit(model: Any, columns: list[str]) -> None:
    X = ROWS[columns].copy()
    rows = weakref.ref(X)
    model.fit(X, ["yes", "no"] * 20)
    del X
    gc.collect()
    assert rows() is None
