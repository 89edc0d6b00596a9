"""Columns whose empty cells tell the class, and models that would leave these cells out without a word."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayeswater import AODE, BayesWarning, NaiveBayes
from bayeswater.cli.terminal import in_words_of_the_command

RNG = np.random.default_rng(0)
N = 1000
LEFT = RNG.random(N) < 0.06
Y = np.where(LEFT, "left", "stays")
ORDERS = RNG.poisson(4, N)


def reasons(of_left: float, of_others: float) -> pd.DataFrame:
    """Customers, and why they left: known of these shares of the two classes."""
    there = RNG.random(N) < np.where(LEFT, of_left, of_others)
    return pd.DataFrame({"orders": ORDERS, "reason": np.where(there, RNG.choice(["price", "moved"], N), None)})


def said(model: Any, X: pd.DataFrame, y: Any = Y) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(one.message) for one in caught if issubclass(one.category, BayesWarning)]


@pytest.mark.parametrize("model", [NaiveBayes(), AODE()], ids=str)
def test_a_column_that_is_filled_where_one_class_is_is_named_with_its_counts(model: Any) -> None:
    X = reasons(0.9, 0.01)
    there = X["reason"].notna()
    (told,) = said(model, X)
    assert told == (
        "whether column 'reason' is empty tells the class, but its empty cells are left out of the sum: it has a value "
        f"in {there[LEFT].sum()} of {LEFT.sum()} rows of 'left' and in {there[~LEFT].sum()} of {(~LEFT).sum()} of "
        "'stays'; leave the column out where it is known only afterwards, or count empty cells with missing='state'"
    )
    assert "leave the column out with --ignore" in in_words_of_the_command(told)
    assert "missing='state'" not in in_words_of_the_command(told)


@pytest.mark.parametrize("of", ["numbers", "dates", "texts"])
def test_cells_of_every_kind_may_be_there_for_one_class_only(of: str) -> None:
    there = reasons(1.0, 0.0)["reason"].notna()
    cells = {
        "numbers": RNG.normal(size=N),
        "dates": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 700, N), unit="D"),
        "texts": RNG.choice(["moved to another town", "it was too expensive", "found a better shop"], N),
    }
    X = pd.DataFrame({"orders": ORDERS, "of leaving": pd.Series(cells[of]).where(there)})
    (told,) = [line for line in said(NaiveBayes(), X) if "tells the class" in line]
    assert "'of leaving'" in told


def test_empty_cells_that_count_as_a_state_tell_the_class() -> None:
    X = reasons(0.95, 0.0)
    assert said(NaiveBayes(missing="state"), X) == []
    assert NaiveBayes(missing="state").fit(X, Y).score(X, Y) > 0.99


def test_gaps_that_chance_may_have_made_are_nothing_to_tell() -> None:
    assert said(NaiveBayes(), reasons(0.5, 0.5)) == []
    assert said(NaiveBayes(), reasons(0.9, 0.1)) == []  # of the ninety that have a reason most stay
    assert said(NaiveBayes(), pd.DataFrame({"a": ["x", "z", None, None] * 4}), ["yes", "yes", "no", "no"] * 4) == []


def test_a_column_whose_empty_cells_are_a_state_is_not_named() -> None:
    X = pd.DataFrame({"orders": ORDERS, "left": np.where(LEFT, "x", None)})
    (told,) = said(NaiveBayes(), X)
    assert "one value and empty cells" in told
