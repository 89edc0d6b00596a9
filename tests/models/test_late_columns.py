"""Columns that are empty in the first batch: read when a value arrives, and named where none ever does."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from bayeswater import NaiveBayes
from bayeswater.errors import BayesWarning, DataError

N = 60
RNG = np.random.default_rng(3)
Y = np.array(["p", "q", "p"] * (N // 3))
CELLS = {
    "town": ["Ulm", "Bonn", None] * (N // 3),
    "flag": [True, False, None, True] * (N // 4),
    "size": RNG.normal(size=N).round(3).tolist(),
    "visits": RNG.poisson(3, size=N).tolist(),
    "signed": [datetime.datetime(2024, 1, 1 + i % 28) for i in range(N)],
    "note": ["free money for you now", "see you at noon then"] * (N // 2),
}
STEADY = {"first": ["x", "y"] * (N // 2), "last": RNG.normal(size=N).tolist()}


def table(n_empty: int, *late: str) -> pa.Table:
    """All columns, those that are late without a value in the first rows."""
    cells = {name: [None] * n_empty + cells[n_empty:] if name in late else cells for name, cells in CELLS.items()}
    first, last = STEADY.items()
    return pa.table(dict([first, *cells.items(), last]))


def batches(X: pa.Table, *, weight: np.ndarray | None = None) -> list[tuple]:
    return [
        (X.slice(start, 20), Y[start : start + 20], *([] if weight is None else [weight[start : start + 20]]))
        for start in range(0, N, 20)
    ]


@pytest.mark.parametrize("n_empty", [20, 33, 40])
@pytest.mark.parametrize("late", [*((name,) for name in CELLS), tuple(CELLS)])
def test_a_column_that_is_empty_at_first_is_read_as_in_one_fit(late, n_empty):
    X = table(n_empty, *late)
    at_once, in_batches = NaiveBayes().fit(X, Y), NaiveBayes().fit_batches(batches(X))
    assert in_batches.columns_ == at_once.columns_
    for key, sums in at_once.statistics_.columns.groups.items():
        for name, array in sums.to_arrays().items():
            # Counts are equal; means are merged by Chan's formula, in three steps of rounding.
            found = in_batches.statistics_.columns.groups[key].to_arrays()[name]
            assert found.dtype == array.dtype
            assert_allclose(found, np.broadcast_to(array, found.shape), rtol=1e-13, atol=1e-13)
    assert_allclose(in_batches.predict_proba(X), at_once.predict_proba(X), rtol=1e-11)


def test_rows_before_the_first_value_keep_their_weights():
    X, weight = table(20, *CELLS), RNG.choice([0.5, 1.25, 2.0], N)
    at_once, in_batches = NaiveBayes().fit(X, Y, weight), NaiveBayes().fit_batches(batches(X, weight=weight))
    assert in_batches.columns_ == at_once.columns_
    # Sums of dyadic weights are exact, moments merged in three steps of rounding.
    assert_allclose(in_batches.predict_proba(X), at_once.predict_proba(X), rtol=1e-11)


def test_a_value_in_a_row_of_no_weight_opens_no_column():
    X, weight = table(20, "town"), np.ones(N)
    weight[20:] = 0
    weight[[21, 42, 44]] = 1  # and not row 25, the only one with a town
    X = X.set_column(1, "town", pa.array([None] * 25 + ["Ulm"] + [None] * 34))
    with pytest.warns(BayesWarning, match="column 'town' is left out: no cell has a value"):
        model = NaiveBayes().fit_batches(batches(X, weight=weight))
    assert model.columns_["town"].family == "ignored"


def test_a_late_text_is_read_by_the_rows_that_have_it():
    why = NaiveBayes().fit_batches(batches(table(40, "note"))).columns_["note"].why
    assert why.startswith("100 % of 20 strings")
    assert "leave-one-out of 20 rows" in why


def test_a_column_without_any_value_is_left_out_with_a_warning():
    X = table(N, "visits")
    with pytest.warns(BayesWarning, match="column 'visits' is left out: no cell has a value"):
        model = NaiveBayes().fit(X, Y)
    with pytest.warns(BayesWarning, match="column 'visits' is left out: no cell has a value"):
        in_batches = NaiveBayes().fit_batches(batches(X))
    assert model.columns_ == in_batches.columns_
    assert [column.name for column in model.columns_.open] == ["visits"]


def test_a_column_that_is_told_to_be_left_out_stays_out():
    model = NaiveBayes(columns={"visits": "ignored"}).fit_batches(batches(table(20, "visits")))
    assert model.columns_["visits"].family == "ignored"


def test_where_missing_cells_are_refused_a_late_column_is():
    cells = {name: values for name, values in CELLS.items() if None not in values}
    X = pa.table({**STEADY, **cells, "size": [None] * 20 + CELLS["size"][20:]})
    with pytest.raises(DataError, match="row 0 of column 'size' is missing"):
        NaiveBayes(missing="error").fit_batches(batches(X))
