"""Pairs of columns, counted from rows of labels."""

from typing import Any

import numpy as np

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.coded_table import Rules, encode_categories
from bayeswater.statistics.pair_counts import PairCounts


def counts_of(X: Any, y: Any, weight: Any = None) -> PairCounts:
    coded = encode_categories(np.asarray(X, dtype=object), Rules("the test", refuse_missing=False))
    return PairCounts.of(coded, encode_labels(np.asarray(y)), weight)


def table(seed: int, n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Cells of three labels, some of them missing, and labels of two classes."""
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array(["a", "b", "c", None], dtype=object), size=(n_rows, n_columns))
    return X, rng.choice(np.array(["no", "yes"]), n_rows)
