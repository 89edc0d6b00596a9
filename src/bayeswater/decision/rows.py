"""What is known of rows: the class of each as its place among the classes, and its weight."""

from typing import Any

import numpy as np

from bayeswater.data.weights import checked_weight
from bayeswater.errors import SchemaError
from bayeswater.typing import Array


def class_codes(labels: Array, classes: Any) -> Array:
    """Code labels by their place among the classes.

    >>> class_codes(np.array(["b", "a"]), ["a", "b", "c"])
    array([1, 0])
    """
    place = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    found, codes = np.unique(labels, return_inverse=True)
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        raise SchemaError(f"y has the labels {unknown}, which are not among the classes {list(place)}; name them all")
    return np.array([place[label] for label in found.tolist()], dtype=np.int64)[codes]


def row_weight(sample_weight: Any, n_rows: int) -> Array:
    """Give checked weights as floats (n_rows,), 1 for each row if there are none.

    >>> row_weight([1, 2], 2)
    array([1., 2.])
    """
    weight = checked_weight(sample_weight, n_rows)
    return np.ones(n_rows) if weight is None else weight.astype(np.float64)
