"""Columns that are empty in the first batch: read when a value arrives, and named where none ever does."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.testing import assert_allclose
from tests.models.same_model import reloaded

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
    "note": [
        f"{text} {i // 6}" for i, text in enumerate(["free money for you now", "see you at noon then"] * (N // 2))
    ],
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


# ---------------------------------------------------------------------- in a model that is fitted


@pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")
@pytest.mark.parametrize("late", [*((name,) for name in CELLS), tuple(CELLS)])
def test_a_column_that_was_empty_in_the_fit_is_read_when_later_rows_have_values(late, tmp_path):
    X = all_over_zero(table(40, *late))
    model = NaiveBayes().fit(X[:20], Y[:20]).partial_fit(X[20:40], Y[20:40])
    assert [column.name for column in model.columns_.open] == [*late]
    model = reloaded(model, tmp_path / "model.bayes").partial_fit(X[40:], Y[40:])
    assert not model.columns_.open
    at_once = NaiveBayes(columns=model.columns_).fit(X, Y)
    assert at_once.columns_ == model.columns_
    # Counts are equal; means are merged by Chan's formula, in three steps of rounding.
    assert_allclose(model.predict_proba(X), at_once.predict_proba(X), rtol=1e-11)
    alone = NaiveBayes(columns={name: said for name, said in told(model).items() if name not in late})
    assert {name: alone.fit(X[40:], Y[40:]).columns_[name].family for name in late} == {
        name: model.columns_[name].family for name in late
    }


def all_over_zero(X: pa.Table) -> pa.Table:
    """Visits that every family of numbers can read, whichever the first rows choose."""
    return X.set_column(X.column_names.index("visits"), "visits", pc.add(X["visits"], 1))


def told(model: NaiveBayes) -> dict[str, str]:
    return {column.name: column.family for column in model.columns_ if column.part is None}


@pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")
def test_rows_that_bring_no_value_and_rows_that_are_refused_open_no_column():
    X = all_over_zero(table(40, "size", "note"))
    model = NaiveBayes().fit(X[:20], Y[:20])
    plan = model.columns_
    sums = model.partial_fit(X[20:40], Y[20:40]).statistics_
    assert sums.columns.plan == plan
    with pytest.raises(DataError, match="infinity"):
        model.partial_fit(X[40:].set_column(3, "size", pa.array([np.inf] * 20)), Y[40:])
    assert model.statistics_ is sums
    assert model.forget(X[20:40], Y[20:40]).columns_ == plan
