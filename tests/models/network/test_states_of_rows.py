"""States that a network finds in rows: the values that occur, in their order and of their type, wherever rows lie."""

import warnings
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.models.streaming.pieces import Pieces

from bayeswater import BayesianNetwork, BayesWarning

COLUMNS: dict[str, tuple[list[Any], tuple[Any, ...]]] = {
    "years": ([2021, 2019, 2020] * 20, (2019, 2020, 2021)),
    "codes": ([2, 0, 1] * 20, (0, 1, 2)),
    "codes with a gap": ([5, 7, 6] * 20, (5, 6, 7)),
    "negative": ([1, -1, 0] * 20, (-1, 0, 1)),
    "flags": ([True, False, True] * 20, (False, True)),
    "flags, all true": ([True] * 60, (False, True)),  # the type declares both
    "bits": ([1, 0, 1] * 20, (0, 1)),
    "whole, some missing": ([5, None, 7] * 20, (5, 7)),
    "fractions": ([0.5, 2.0, 1.0] * 20, (0.5, 1.0, 2.0)),
    "fractions behind whole numbers": ([1.0, 2.0, 3.0] * 19 + [1.5, 1.5, None], (1.0, 1.5, 2.0, 3.0)),
    "decimals": ([Decimal("1.50"), Decimal("9.00"), None] * 20, (1.5, 9.0)),
    "texts": (["9", "10", "8"] * 20, ("10", "8", "9")),
    "days": ([date(2020, 1, 2), date(2020, 1, 1)] * 30, (date(2020, 1, 1), date(2020, 1, 2))),
}


def table(values: list[Any]) -> pa.Table:
    return pa.table({"x": values, "b": ["u", "v"] * 30})


def pieces(values: list[Any]) -> Pieces:
    whole = table(values)
    return Pieces([whole.slice(start, 7) for start in range(0, 60, 7)], order=[3, 1, 6, 0, 2, 5, 4, 8, 7])


WAYS = {"arrow": table, "polars": lambda v: pl.from_arrow(table(v)), "pandas": lambda v: table(v).to_pandas()}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("way", [*WAYS.values(), pieces], ids=[*WAYS, "pieces"])
@pytest.mark.parametrize("missing", ["available", "em"])
def test_states_are_the_values_that_occur(column, way, missing):
    values, states = COLUMNS[column]
    found = BayesianNetwork.from_data("x -> b", way(values), alpha=0, missing=missing)
    assert [(type(state), state) for state in found.states("x")] == [(type(state), state) for state in states]
    if missing == "em":
        return  # its tables fill in what is missing, and are no shares of cells
    n = [sum(value == state for value in values if value is not None) for state in states]
    np.testing.assert_allclose(found.cpt("x").values, np.divide(n, sum(n)), rtol=1e-12)


@pytest.mark.parametrize("name", ["years", "codes", "codes with a gap", "negative", "flags", "fractions"])
def test_files_show_the_same_states(name, tmp_path):
    values, states = COLUMNS[name]
    path = tmp_path / "rows.csv"
    pyarrow.csv.write_csv(table(values), path)
    found = BayesianNetwork.from_data("x -> b", path)
    assert [(type(state), state) for state in found.states("x")] == [(type(state), state) for state in states]
    np.testing.assert_array_equal(
        found.cpt("b").values, BayesianNetwork.from_data("x -> b", table(values)).cpt("b").values
    )


@pytest.mark.parametrize("column", COLUMNS)
def test_a_network_knows_the_rows_it_was_learned_from(column):
    values, states = COLUMNS[column]
    network = BayesianNetwork.from_data("x -> b", table(values))
    assert np.isfinite(network.log_evidence(table(values))).all()
    assert network.query("b", evidence={"x": states[0]}).probabilities.sum() == pytest.approx(1)


def test_smoothing_gives_nothing_to_numbers_between_states():
    network = BayesianNetwork.from_data("x -> b", table([5, 6, 7] * 20), alpha=1)
    np.testing.assert_allclose(network.cpt("x").values, [1 / 3, 1 / 3, 1 / 3], rtol=1e-15)


def test_declared_states_are_kept_as_they_are():
    for states, expected in ((9, range(9)), ([7, 6, 5, 4], (7, 6, 5, 4))):
        network = BayesianNetwork.from_data("x -> b", table([5, 6, 7] * 20), states={"x": states})
        assert network.states("x") == tuple(expected)
    frame = table([5, 6, 7] * 20).to_pandas()
    frame["x"] = pd.Categorical(frame["x"], [7, 6, 5, 4])
    assert BayesianNetwork.from_data("x -> b", frame).states("x") == (7, 6, 5, 4)


def test_of_many_fractions_it_is_said_that_each_becomes_a_state(tmp_path):
    many = np.random.default_rng(0).normal(size=60).tolist()
    for way in (*WAYS.values(), pieces):
        with pytest.warns(BayesWarning, match=r"column 'x' .* 60 different numbers.*Discretizer"):
            assert len(BayesianNetwork.from_data("x -> b", way(many)).states("x")) == 60
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesianNetwork.from_data("x -> b", table(many), states={"x": many})
        BayesianNetwork.from_data("x -> b", table(list(range(60))))
