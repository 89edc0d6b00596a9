"""Any sums as a document and arrays, and back: what a checkpoint holds of sums that are not finished.

Everything that a pass over rows adds up is a frozen dataclass of the closed list `KINDS`: arrays, domains, plans and
other such dataclasses. The document is a list of them, each made of those before it: nothing is nested. A table of
Arrow, of rows that are needed again, is stored as the bytes of its stream. Nothing that a document names is run.

An array is held in the widest numbers of its kind, int64, float64 or bytes, and comes back in its own (`as_held`,
`as_was`), in model files too.
"""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ModelFileError
from bayeswater.families.registry import LAWS, OpenNumbers
from bayeswater.files.model_file import Document, require, words_as_bytes, words_of_bytes
from bayeswater.models.stored.values import CODEC
from bayeswater.typing import Array

KINDS = {
    "data.labels": ("CheckedLabels",),
    "data.variable": ("Schema",),
    "decision.scorecard": ("Scorecard",),
    "decision.scores": ("Scores",),
    "families.family": ("Settings",),
    "families.open_numbers": ("NumberProfile",),
    "learning.shrinkage_choice": ("LossSums",),
    "models.held_out": ("KindCounts",),
    "models.mixed.table_learning": ("MixedTotal",),
    "models.calibrating": ("Review",),
    "models.semi_naive.cutting": ("Looked",),
    "models.semi_naive.learning": ("RowKinds",),
    "models.streaming.labelled": ("Total",),
    "models.streaming.passes": ("Parts",),
    "statistics.category_counts": ("CategoryCounts",),
    "statistics.column_groups": ("ColumnGroups",),
    "statistics.count_totals": ("WholeSums",),
    "statistics.feature_sums": ("BinaryCounts", "FeatureSums"),
    "statistics.fourth_moments": ("FourthMoments",),
    "statistics.key_counts": ("KeyCounts",),
    "statistics.moments": ("Moments",),
    "statistics.pair_counts": ("PairCounts", "TripleCounts"),
    "statistics.parent_counts": ("ParentCounts",),
    "statistics.scatter": ("Scatter",),
    "statistics.some_pairs": ("SomePairs",),
    "statistics.sums": ("ClassCounts", "SeenRanges", "Sums"),
    "statistics.text_sums": ("TextSums",),
}
"""All that a pass may add up, by the modules they are at home in: they are loaded when they are met."""

HOMES = {name: home for home, names in KINDS.items() for name in names} | {
    law.statistic.__name__: law.statistic.__module__.removeprefix("bayeswater.")
    for law in LAWS
    if law is not OpenNumbers
}
"""The module of each, those of all laws of a column among them."""

OLD_NAMES = {"FamilyCounts": "ParentCounts"}
"""Names that checkpoints were written with before."""

NUMBERS: Mapping[str, type] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"), np.int64),
    **dict.fromkeys(("float32", "float64"), np.float64),
    **dict.fromkeys(("bool", "uint8"), np.uint8),
}
"""Numbers that an array may have, and those by which a file holds them without loss."""

MANY_WORDS = 1000
"""States of a domain from which on they are stored as bytes."""


Node = list[Any]
"""A tag and what belongs to it; values inside of another are named by their place in the list of nodes."""


@cache
def kind_of(name: str) -> Any:
    """Give a class of the closed list."""
    return getattr(import_module(f"bayeswater.{HOMES[name]}"), name)


def described(value: Any) -> tuple[Document, dict[str, Array]]:
    """Give a value as a document and arrays.

    >>> described((1, [2, None]))[0]["nodes"]
    [['value', 1], ['value', 2], ['value', None], ['list', 1, 2], ['tuple', 0, 3]]
    """
    parts = _Parts()
    parts.add(value)
    return {"nodes": parts.nodes}, parts.arrays


def restored(nodes: Any, arrays: dict[str, Array]) -> Any:
    """Make the value that was taken apart: the last of all nodes, each of which is made of those before it."""
    require(isinstance(nodes, list) and len(nodes) > 0, "it has no content")
    made: list[Any] = []
    for node in nodes:
        made.append(_made(node, made, arrays))
    return made[-1]


class _Parts:
    """Nodes and arrays that a value is taken apart into."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.arrays: dict[str, Array] = {}

    def add(self, value: Any) -> int:
        """Write a value, and give its place."""
        node = self._node(value)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _node(self, value: Any) -> Node:
        kind = type(value)
        if isinstance(value, np.ndarray):
            return self._array(value) if value.dtype.kind in "biuf" else ["labels", value.dtype.str, *self._all(value)]
        if HOMES.get(kind.__name__) == kind.__module__.removeprefix("bayeswater."):
            names = [field.name for field in fields(value)]
            return [kind.__name__, names, *self._all(getattr(value, name) for name in names)]
        if isinstance(value, Variable) and len(value.states) > MANY_WORDS and _are_words(value):
            words = words_as_bytes(value.states, f"a domain of {value.name!r}")
            return ["words", value.name, self.add(words), value.n_states, CODEC.encode(value.dtype, "a dtype")]
        if kind in (tuple, list):
            return [kind.__name__, *self._all(value)]
        if kind is frozenset:
            return ["frozenset", *self._all(sorted(value))]
        if isinstance(value, dict):
            return ["dict", *self._all(value), *self._all(value.values())]
        if kind.__module__.startswith("pyarrow") and kind.__name__ == "Table":
            return ["table", self.add(_bytes_of(value))]
        return ["value", CODEC.encode(value, "what was counted")]

    def _all(self, values: Any) -> list[int]:
        return [self.add(value) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]

    def _array(self, array: Array) -> Node:
        """Store numbers in the widest of their kind; of what is empty, the shape alone."""
        name = f"a{len(self.arrays)}" if array.size else None
        if name is not None:
            self.arrays[name] = np.ascontiguousarray(as_held(array)).reshape(-1)
        return ["array", name, array.dtype.str, list(array.shape)]


def _made(node: Any, made: list[Any], arrays: dict[str, Array]) -> Any:
    """Make the value of a node."""

    def those(places: list[Any]) -> list[Any]:
        require(all(type(i) is int and 0 <= i < len(made) for i in places), "it is not made of what stands before it")
        return [made[i] for i in places]

    match node:
        case ["value", value]:
            return CODEC.decode(value, "what was counted")
        case ["array", name, str(kind), [*shape]]:
            return _restored_array(name, kind, tuple(shape), arrays)
        case ["labels", str(kind), *places]:
            return np.array(those(places), dtype=_dtype(kind, "OUSmM"))
        case ["tuple", *places]:
            return tuple(those(places))
        case ["list", *places]:
            return those(places)
        case ["frozenset", *places]:
            return frozenset(those(places))
        case ["dict", *places] if len(places) % 2 == 0:
            both = those(places)
            return dict(zip(both[: len(both) // 2], both[len(both) // 2 :], strict=True))
        case ["words", str(name), place, int(n_words), dtype]:
            states = words_of_bytes(those([place])[0], n_words, f"a domain of {name!r}")
            return Variable(name, states, frozenset(), CODEC.decode(dtype, "a dtype"))
        case ["table", place]:
            return _table_of(those([place])[0])
        case [str(name), [*names], *places] if OLD_NAMES.get(name, name) in HOMES:
            made_of = kind_of(OLD_NAMES.get(name, name))
            known = [field.name for field in fields(made_of)]
            require(names == known, f"its {name} has {shortened(names)}, and not {known}")
            return made_of(**dict(zip(known, those(places), strict=True)))
    raise ModelFileError(f"it says {shortened(node)}, which means nothing here")


def _are_words(variable: Variable) -> bool:
    return not variable.declared and all(type(state) is str for state in variable.states)


def _dtype(kind: str, kinds: str) -> np.dtype[Any]:
    dtype = CODEC.decode({"dtype": [kind]}, "a dtype")
    require(isinstance(dtype, np.dtype) and dtype.kind in kinds, f"it has an array of {shortened(kind)}")
    found: np.dtype[Any] = dtype
    return found


def _restored_array(name: Any, kind: str, shape: tuple[Any, ...], arrays: dict[str, Array]) -> Array:
    require(all(type(n) is int and n >= 0 for n in shape), f"it has an array of the shape {shortened(shape)}")
    dtype = _dtype(kind, "biuf")
    if name is None:
        require(0 in shape, "an array of it has no numbers")
        return np.zeros(shape, dtype=dtype)
    require(isinstance(name, str) and name in arrays, f"there is no array {shortened(name)} in it")
    stored = arrays[name]
    require(stored.size == np.prod(shape, dtype=object), f"array {name!r} is not of the shape {shape}")
    return as_was(stored, dtype, name).reshape(shape)


def _bytes_of(table: Any) -> Array:
    """Write a table of Arrow as the bytes of its stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def _table_of(content: Array) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_stream(pa.py_buffer(content.tobytes())).read_all()
    except (pa.ArrowException, OSError) as error:
        raise ModelFileError(f"rows in it cannot be read: {error}") from None


# ---------------------------------------------------------------------- arrays


def as_held(array: Array) -> Array:
    """Give an array the kind of numbers that a file holds: int64, float64 or bytes."""
    require(array.dtype.name in NUMBERS, f"arrays of {array.dtype.name} cannot be held by a model file")
    require(array.ndim > 0, "a number that is no array cannot be held by a model file")
    held = NUMBERS[array.dtype.name]
    return array.view(np.int64) if array.dtype.name == "uint64" else array.astype(held, copy=False)


def as_was(array: Array, dtype: np.dtype[Any], name: str) -> Array:
    """Give an array the numbers that it had before a file held it; refuse those that are none of them."""
    if dtype == np.uint64:
        return array.view(np.uint64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = array.astype(dtype)
        same = np.array_equal(found.astype(array.dtype), array, equal_nan=array.dtype.kind == "f")
    require(same, f"its array {shortened(name)} holds numbers that are no {dtype.name}")
    return found
