"""The tables of `benchmarks.ensemble`: public ones, and some that are made from fixed seeds.

linear       400 rows, 8 numbers, log-odds linear in them
rules        12 000 rows, 16 categories, a list of rules of three to five conditions, 3 % of the labels at random
signs        12 000 rows, 10 numbers, products of up to four signs and of smooth curves
insurance    12 000 rows of the network of that name, 27 columns, of which PropCost is the class
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from benchmarks.accuracy import DATA, REFERENCE, read

N_ROWS = 12_000


def _linear() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(400, 8)) @ (np.eye(8) + 0.4 * rng.normal(size=(8, 8)))
    odds = numbers @ rng.normal(size=8)
    return _frame(numbers), _labels(rng.random(400) < 1 / (1 + np.exp(-odds)))


def _rules() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(2)
    cells = rng.integers(0, 4, size=(N_ROWS, 16))
    y = np.full(N_ROWS, 0)
    free = np.ones(N_ROWS, dtype=bool)
    for _ in range(40):
        columns = rng.choice(16, rng.integers(3, 6), replace=False)
        allowed = rng.random((len(columns), 4)) < 0.6
        met = free & np.all([allowed[i, cells[:, c]] for i, c in enumerate(columns)], axis=0)
        y[met], free[met] = rng.integers(0, 4), False
    y = np.where(rng.random(N_ROWS) < 0.03, rng.integers(0, 4, N_ROWS), y)
    return pd.DataFrame({f"c{i}": pd.Categorical(cells[:, i].astype(str)) for i in range(16)}), y.astype(str)


def _signs() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=(N_ROWS, 10))
    sign = np.sign(numbers)
    odds = 2 * sign[:, 0] * sign[:, 1] * (numbers[:, 2] + 0.5) + 2 * np.sin(2 * numbers[:, 3]) * numbers[:, 4]
    odds += 3 * sign[:, 5] * sign[:, 6] * sign[:, 7] * np.abs(numbers[:, 8]) + numbers[:, 9]
    return _frame(numbers), _labels(rng.random(N_ROWS) < 1 / (1 + np.exp(-2 * odds)))


def _insurance() -> tuple[pd.DataFrame, np.ndarray]:
    from bayeswater import BayesianNetwork

    frame = BayesianNetwork.read(DATA.parent / "networks" / "insurance.bif").sample(N_ROWS, random_state=0).to_pandas()
    y = frame.pop("PropCost").astype(str).to_numpy()
    return frame.astype(str).astype("category"), y


def _frame(numbers: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(numbers, columns=[f"x{i}" for i in range(numbers.shape[1])])


def _labels(is_one: np.ndarray) -> np.ndarray:
    return np.where(is_one, "yes", "no")


def _built_in(load: Callable[..., Any]) -> Callable[[], tuple[pd.DataFrame, np.ndarray]]:
    def rows() -> tuple[pd.DataFrame, np.ndarray]:
        frame, y = load(return_X_y=True, as_frame=True)
        return frame, y.astype(str).to_numpy()

    return rows


MADE = {"linear": _linear, "rules": _rules, "signs": _signs, "insurance": _insurance}
BUILT_IN = {
    "wine": _built_in(datasets.load_wine),
    "wdbc": _built_in(datasets.load_breast_cancer),
    "digits": _built_in(datasets.load_digits),
}
TABLES = (*REFERENCE, *BUILT_IN, *MADE)


@cache
def table_of(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read or make a table."""
    rows = (BUILT_IN | MADE).get(name)
    return read(name) if rows is None else rows()
