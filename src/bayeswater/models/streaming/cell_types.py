"""The types in which a model has to be handed its columns, and gives its answers.

The types come from the model and not from a file: a column of the labels "1" and "2" that were read as text is text
also in a file where it looks like numbers.
"""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

STRINGS = re.compile(r"(large_|)string(_view|)|str|object|category|String|Utf8|Categorical.*|Enum.*")
DICTIONARY = re.compile(r"dictionary<values=([^,]+),.*")
NUMBERS = re.compile(r"(u?int|float|Int|UInt|Float)\d+|double|halffloat|decimal.*")


def column_names(model: Any) -> list[str]:
    """Name the columns that a model reads."""
    return [str(name) for name in model.feature_names_in_]


def column_types(model: Any) -> "dict[str, pa.DataType]":
    """Give the types in which a model has to be handed its columns."""
    import pyarrow as pa

    if hasattr(model, "columns_"):
        # A date is several columns, of which the first has the type of the source.
        found = {c.source: _type_of(c.family, c.dtype or "") for c in reversed(list(model.columns_))}
        return {name: kind for name, kind in found.items() if kind is not None}
    if hasattr(model, "categories_"):
        labels = zip(column_names(model), model.categories_, strict=True)
        return {name: pa.array(states.tolist()).type for name, states in labels if len(states)}
    return dict.fromkeys(column_names(model), pa.float64())


def label_type(model: Any) -> "pa.DataType":
    """Give the type of the classes of a model."""
    import pyarrow as pa

    return pa.array(model.classes_.tolist()).type


def _type_of(family: str, dtype: str) -> "pa.DataType | None":
    """Give the type for a family and the name that a library has for the type it was fitted with; None for any."""
    import pyarrow as pa

    values = DICTIONARY.fullmatch(dtype)
    dtype = values[1] if values else dtype
    if STRINGS.fullmatch(dtype) or family == "ignored":  # what is left out may hold anything
        return pa.string()
    if NUMBERS.fullmatch(dtype):
        # As labels, numbers have to be the same type again; as amounts, 3 and 3.0 are one.
        return pa.int64() if family == "categorical" and "int" in dtype.lower() else pa.float64()
    try:
        return pa.type_for_alias(dtype.lower())
    except ValueError:
        return None
