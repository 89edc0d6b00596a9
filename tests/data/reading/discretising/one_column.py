"""The cuts of one column of numbers, by any method."""

from typing import Any

from bayeswater.data.reading.discretising.finding_cuts import Method
from bayeswater.data.weights import checked_weight
from bayeswater.typing import Array


def find_cuts(
    values: Array, labels: Array | None, n_classes: int, weights: Any = None, method: str = "mdl", **options: Any
) -> Array:
    """Cut a column of values (n_rows,), whose rows have labels, codes of classes, where the method asks for them."""
    return Method(method, **options).found(values, labels, n_classes, checked_weight(weights, len(values))).cuts
