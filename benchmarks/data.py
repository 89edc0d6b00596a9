"""The rows that the jobs are measured on: made here, from fixed seeds, and fast to make.

Features depend on the class, so that no posterior is flat and no fit degenerate.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

SEED = 20_240_607


@dataclass(frozen=True)
class Rows:
    """A table and its labels."""

    X: Any
    y: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes of X."""
        X = self.X
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if issparse(X) else X.nbytes

    @property
    def cells_per_row(self) -> float:
        """Cells that are stored for a row."""
        return (self.X.nnz if issparse(self.X) else self.X.size) / self.X.shape[0]

    def first(self, n_rows: int) -> "Rows":
        """The first rows, with memory of their own."""
        return Rows(self.X[:n_rows].copy(), self.y[:n_rows].copy())


def _labels(rng: np.random.Generator, n_rows: int, n_classes: int) -> np.ndarray:
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)[:n_rows]
    return y


@lru_cache(maxsize=1)
def measurements(n_rows: int, n_columns: int = 20, n_classes: int = 5) -> Rows:
    """Normal columns in float64, each with a mean of its own in each class."""
    rng = np.random.default_rng(SEED)
    y = _labels(rng, n_rows, n_classes)
    X = rng.standard_normal((n_rows, n_columns))
    mean = rng.standard_normal((n_classes, n_columns)) / 2
    for k in range(n_classes):
        np.add(X, mean[k], out=X, where=(y == k)[:, None])
    return Rows(X, y)


@lru_cache(maxsize=1)
def categories(n_rows: int, n_columns: int = 40, n_states: int = 8, n_classes: int = 5) -> Rows:
    """Codes 0 .. n_states - 1 in uint8; a class leans towards some of them."""
    rng = np.random.default_rng(SEED)
    y = _labels(rng, n_rows, n_classes)
    X = rng.integers(0, n_states, (n_rows, n_columns), dtype=np.uint8)
    leaning = rng.integers(0, 4, n_rows, dtype=np.uint8) == 0
    X[leaning] = (X[leaning] // 2 + y[leaning, None].astype(np.uint8)) % n_states
    X[:n_states] = np.arange(n_states)[:n_rows, None]  # every state occurs
    return Rows(X, y)


@lru_cache(maxsize=1)
def marks(n_rows: int, n_features: int = 300, n_classes: int = 5, dtype: Any = np.float64) -> Rows:
    """Zeros and ones; a feature is present with a probability of its own in each class."""
    rng = np.random.default_rng(SEED)
    y = _labels(rng, n_rows, n_classes)
    X = rng.random((n_rows, n_features), dtype=np.float32)
    probability = rng.uniform(0.05, 0.5, (n_classes, n_features)).astype(np.float32)
    return Rows((probability[y] > X).astype(dtype), y)


@lru_cache(maxsize=1)
def texts(
    n_rows: int, n_features: int = 50_000, n_words: int = 100, n_classes: int = 20, dtype: Any = np.float64
) -> Rows:
    """Exactly `n_words` non-zeros a row (CSR, 32-bit indices), spread evenly over the features.

    float64 as TfidfVectorizer makes them, int64 as CountVectorizer does.
    """
    rng = np.random.default_rng(SEED)
    y = _labels(rng, n_rows, n_classes)
    width = n_features // n_words  # one word out of each stretch of features: distinct, and in order
    X = rng.integers(0, width, (n_rows, n_words), dtype=np.int32)
    X //= 1 + (y % 3)[:, None].astype(np.int32)  # some classes keep to the first words of each stretch
    X += np.arange(0, n_words * width, width, dtype=np.int32)
    is_fraction = np.dtype(dtype).kind == "f"
    cells = rng.random(X.size) if is_fraction else rng.geometric(0.7, X.size).astype(dtype)
    indptr = np.arange(0, X.size + 1, n_words, dtype=np.int32)
    return Rows(csr_matrix((cells, X.ravel(), indptr), shape=(n_rows, n_features)), y)
