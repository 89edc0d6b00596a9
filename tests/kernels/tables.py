"""Small tables for the kernels, in every kind and layout that reaches them."""

import numpy as np

CODE_KINDS = ["uint8", "uint16", "int32", "int64"]
NUMBER_KINDS = ["uint8", "int64", "float32", "float64"]

# Kind, layout and weights are varied around one case rather than multiplied: each combination is a compile of its own.
CODE_CASES = [
    *[(kind, "C", None) for kind in CODE_KINDS],
    ("uint8", "F", None),
    ("uint8", "strided", None),
    ("uint8", "C", "int"),
    ("uint8", "C", "float"),
]
NUMBER_CASES = [
    *[(kind, "C", None) for kind in NUMBER_KINDS],
    ("float64", "F", None),
    ("float64", "strided", None),
    ("float64", "C", "int"),
    ("float64", "C", "float"),
    ("uint8", "C", "int"),
    ("uint8", "C", "float"),
]


def laid_out(values, layout):
    """The same numbers, stored by row, by column, or with gaps."""
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "strided":
        return np.repeat(np.repeat(values, 2, axis=0), 3, axis=1)[::2, ::3]
    return np.ascontiguousarray(values)


def numbers(rng, n_rows, n_columns, kind, layout="C"):
    """Whole numbers from 0 to 9: every kind holds them, and every sum of them is exact."""
    return laid_out(rng.integers(0, 10, size=(n_rows, n_columns)).astype(kind), layout)


def labels(rng, n_rows, n_classes):
    """Classes of the rows; the last class has none."""
    return rng.integers(0, n_classes - 1, size=n_rows).astype(np.uint8)


def weights(rng, n_rows, kind):
    """No weights, whole ones or quarters: sums of quarters are exact too."""
    if kind is None:
        return None
    whole = rng.integers(1, 9, size=n_rows)
    return whole if kind == "int" else whole / 4
