"""A table with every kind of column, holes in it, and a model of each reading of its text."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from bayeswater import NaiveBayes
from bayeswater.demo.loans import loans

COLUMNS = {
    "size": "gaussian",
    "price": "lognormal",
    "seeds": "poisson",
    "age": {"cuts": [2.0, 5.0, 9.0]},
    "note": "multinomial",
}
WORDS = {
    "apple": ["red", "round", "crisp", "tree", "pie", "the"],
    "pea": ["green", "small", "pod", "soup", "the", "round"],
    "plum": ["blue", "soft", "tree", "jam", "the", "stone"],
}
CLASSES = ("apple", "pea", "plum")


def fruit(n_rows: int, random_state: int = 0) -> tuple[pa.Table, list[str]]:
    """Draw rows of three classes; one cell in eight is missing."""
    rng = np.random.default_rng(random_state)
    y = rng.choice(CLASSES, size=n_rows, p=[0.5, 0.3, 0.2])
    k = np.array([CLASSES.index(label) for label in y])
    colours = np.array(["green", "red", "blue"])
    colour = np.where(rng.random(n_rows) < 0.6, colours[(k + 1) % 3], rng.choice(colours, size=n_rows))
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, size=n_rows) + 20 * k
    cells: dict[str, Any] = {
        "colour": colour.tolist(),
        "sweet": (rng.random(n_rows) < np.array([0.8, 0.3, 0.6])[k]).tolist(),
        "size": (np.array([7.0, 1.0, 4.0])[k] + rng.normal(size=n_rows) * np.array([1.5, 0.5, 1.0])[k]).tolist(),
        "price": np.exp(np.array([0.5, -1.0, 0.2])[k] + rng.normal(size=n_rows) * 0.5).tolist(),
        "seeds": rng.poisson(np.array([6.0, 9.0, 1.0])[k]).tolist(),
        "age": (rng.gamma(2.0, np.array([3.0, 1.5, 2.5])[k])).tolist(),
        "picked": [day.item() for day in days],
        "note": [" ".join(rng.choice(WORDS[label], size=rng.integers(1, 6))) for label in y],
    }
    for name, column in cells.items():
        missing = rng.random(n_rows) < 1 / 8
        cells[name] = [None if is_missing else value for value, is_missing in zip(column, missing, strict=True)]
    return pa.table(cells), y.tolist()


@cache
def fruit_model(reading: str = "multinomial", **settings: Any) -> NaiveBayes:
    """Fit 300 rows, the text read in the way asked for."""
    X, y = fruit(300)
    return NaiveBayes(columns={**COLUMNS, "note": reading}, **settings).fit(X, y)


@cache
def loan_model() -> tuple[NaiveBayes, pa.Table]:
    """Fit applications for loans with calibration, which shifts the classes, and give some further ones."""
    table, further = loans(600), loans(60, random_state=1)
    model = NaiveBayes(columns={"application_id": "ignored"}, calibrate=True)
    model.fit(table.drop_columns(["outcome"]), table["outcome"].to_pylist())
    assert model.calibration_.method == "likelihood"
    return model, further.drop_columns(["outcome"])


def with_cell(X: pa.Table, column: str, value: Any) -> pa.Table:
    """Put a value into all rows of a column."""
    kind = X.schema.field(column).type
    kind = pa.float64() if pa.types.is_integer(kind) else kind
    return X.set_column(X.column_names.index(column), column, pa.array([value] * X.num_rows, kind))
