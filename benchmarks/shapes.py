"""Tables of shapes drawn at random, and of some corners: the median, the worst, and where ours is slower."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from benchmarks.data import SEED, Rows
from benchmarks.sizes import METHODS, Form

ROWS, COLUMNS, CLASSES, STATES = (1e3, 1e7), (2, 500), (2, 1000), (2, 200)
"""The least and the largest of each; what is drawn between them is even in its logarithm."""

LAYOUTS = ("by row", "by column", "every other row", "pandas", "polars")
MOST_BYTES = 2**30
MOST_PRODUCTS = 1e9
"""Rows by columns by classes: so much takes scikit-learn some seconds."""


@dataclass(frozen=True)
class Shape:
    """What a table is like; `dtype` is that of its cells, "CSR" a sparse one of float64 with a tenth of cells."""

    n_rows: int
    n_columns: int
    n_classes: int
    n_states: int
    dtype: str
    layout: str

    def __str__(self) -> str:
        states = f", {self.n_states} states" if self.n_states else ""
        return f"{self.n_rows:,} x {self.n_columns}, {self.n_classes} classes{states}, {self.dtype} {self.layout}"

    def rows(self, n_rows: int) -> Rows:
        """Draw cells that depend on the class, as many rows as there are classes at least."""
        rng = np.random.default_rng(SEED)
        y = rng.integers(0, self.n_classes, max(n_rows, self.n_classes))
        y[: self.n_classes] = np.arange(self.n_classes)
        shape = (len(y), self.n_columns)
        if self.dtype == "CSR":
            place = rng.integers(0, self.n_columns, (len(y), max(1, self.n_columns // 10)))
            row = np.repeat(np.arange(len(y)), place.shape[1])
            return Rows(csr_matrix((rng.random(place.size), (row, place.ravel())), shape=shape), y)
        kind = np.dtype(self.dtype)
        if kind.kind == "f" and not self.n_states:
            X = rng.standard_normal(shape, dtype=kind)
            X += (y % 7)[:, None].astype(kind) / 4
        elif self.n_states > MOST_BYTE_STATES:  # one such column beside flags
            X = rng.integers(0, 2, shape, dtype=np.uint8).astype(kind)
            X[:, 0] = rng.permutation(np.arange(len(y)) % self.n_states)
        else:
            X = rng.integers(0, max(self.n_states, 2), shape, dtype=np.uint8).astype(kind, copy=False)
            X[: self.n_states] = np.arange(self.n_states)[: len(y), None]  # every state occurs
            X[y % 3 == 0, 0] = 1
        return Rows(_laid_out(X, self.layout), y)


def _laid_out(X: Any, layout: str) -> Any:
    match layout:
        case "by column":
            return np.asfortranarray(X)
        case "every other row":
            wide = np.empty((2 * len(X), X.shape[1]), dtype=X.dtype)
            wide[::2] = X
            return wide[::2]
        case "pandas":
            return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        case "polars":
            import polars as pl

            return pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    return X


MOST_BYTE_STATES = 255

CORNERS = {
    "GaussianNB": (Shape(1_000, 5_000, 1_000, 0, "float32", "by row"),),
    "CategoricalNB": (Shape(200_000, 3, 4, 70_000, "int64", "by column"),),
    "MultinomialNB": (Shape(1_000, 5_000, 1_000, 2, "int64", "by row"),),
}
"""Shapes beside those that are drawn: as many classes as rows in very many columns, and 70,000 states beside 2."""

DTYPES = {
    "GaussianNB": ("float64", "float32"),
    "CategoricalNB": ("uint8", "int64"),
    "MultinomialNB": ("float64", "float32", "int64", "CSR"),
    "ComplementNB": ("float64", "int64", "CSR"),
    "BernoulliNB": ("float64", "uint8", "CSR"),
}


def drawn_shapes(model: str, n_shapes: int, most_rows: float, seed: int = SEED) -> list[Shape]:
    """Draw shapes for a model that fit into `MOST_BYTES`, and take no longer than some seconds."""
    rng = np.random.default_rng([seed, sorted(DTYPES).index(model)])

    def between(low: float, high: float) -> int:
        return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))

    found: list[Shape] = []
    while len(found) < n_shapes:
        dtype = str(rng.choice(DTYPES[model]))
        shape = Shape(
            between(ROWS[0], most_rows),
            between(*COLUMNS),
            between(*CLASSES),
            {"GaussianNB": 0, "CategoricalNB": between(*STATES)}.get(model, 2),
            dtype,
            "" if dtype == "CSR" else str(rng.choice(LAYOUTS)),
        )
        n_cells = shape.n_rows * max(shape.n_columns, shape.n_classes)
        if 3 * 8 * n_cells <= MOST_BYTES and shape.n_rows * shape.n_columns * shape.n_classes <= MOST_PRODUCTS:
            found.append(shape)
    return found


def random_shapes(calls: int, n_shapes: int, most_rows: float = ROWS[1], seed: int = SEED) -> Iterator[dict[str, Any]]:
    """Give the median and the least ratio of each method over the shapes of a model, and where it is least."""
    for model in DTYPES:
        shapes = [*drawn_shapes(model, n_shapes, most_rows, seed), *CORNERS.get(model, ())]
        found = {shape: Form(str(shape), model, shape.rows).ratios(shape.n_rows, calls) for shape in shapes}
        for method in METHODS:
            ratios = {shape: found[shape][method] for shape in shapes}
            least = min(ratios, key=ratios.__getitem__)
            yield {
                "model": model,
                "method": method,
                "shapes": len(ratios),
                "median": median(ratios.values()),
                "least": ratios[least],
                "slower": sum(ratio < 1 for ratio in ratios.values()),
                "where it is least": str(least),
                "where slower": "; ".join(f"{ratio:.2f} at {shape}" for shape, ratio in ratios.items() if ratio < 1),
            }
