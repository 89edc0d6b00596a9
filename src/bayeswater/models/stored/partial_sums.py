"""Sums that are not finished, as a document and arrays, and back: what a checkpoint holds.

Everything that a pass over rows adds up is a frozen dataclass of the closed list `KINDS`: arrays, domains, plans and
other such dataclasses. The document is a list of them, each made of those before it: nothing is nested. An array is
stored in the widest numbers of its kind, beside the name of its own; a table of Arrow, of rows that are needed again,
as the bytes of its stream. Nothing in a document is run or imported.
"""

from dataclasses import fields
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.labels import CheckedLabels
from bayeswater.data.variable import Schema, Variable
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.errors import ModelFileError
from bayeswater.families.family import Settings
from bayeswater.families.number_profile import NumberProfile
from bayeswater.families.numbers import OpenNumbers
from bayeswater.families.registry import LAWS
from bayeswater.files.model_file import Document, require, words_as_bytes, words_of_bytes
from bayeswater.models.gaussian.learning import LossSums
from bayeswater.models.held_out import KindCounts
from bayeswater.models.mixed.counting import MixedTotal
from bayeswater.models.review import Review
from bayeswater.models.semi_naive.cutting import Looked
from bayeswater.models.semi_naive.learning import RowKinds
from bayeswater.models.stored.values import CODEC
from bayeswater.models.streaming.labelled import Total
from bayeswater.models.streaming.passes import Parts
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.feature_sums import BinaryCounts, FeatureSums
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.key_counts import KeyCounts
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.pair_counts import PairCounts, TripleCounts
from bayeswater.statistics.parent_counts import ParentCounts
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import ClassCounts, SeenRanges, Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.statistics.whole_sums import WholeSums
from bayeswater.typing import Array

KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(BinaryCounts, CategoryCounts, ClassCounts, ColumnGroups, ParentCounts, FeatureSums),
        *(FourthMoments, KeyCounts, Moments, NumberProfile, PairCounts, Scatter, Sums, TextSums, TripleCounts),
        *(WholeSums, Total, Parts, MixedTotal, Looked, RowKinds, LossSums, Review, Scorecard, Scores, Settings),
        *(CheckedLabels, Schema, SeenRanges, KindCounts),
        *(law.statistic for law in LAWS if law is not OpenNumbers),
    )
} | {"FamilyCounts": ParentCounts}
"""All that a pass may add up; the last name is one that checkpoints were written with before."""

MANY_WORDS = 1000
"""States of a domain from which on they are stored as bytes."""


Node = list[Any]
"""A tag and what belongs to it; values inside of another are named by their place in the list of nodes."""


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
        if kind is KINDS.get(kind.__name__):
            names = [field.name for field in fields(value)]
            return [kind.__name__, names, *self._all(getattr(value, name) for name in names)]
        if isinstance(value, Variable) and len(value.states) > MANY_WORDS and _are_words(value):
            words = words_as_bytes(value.states, f"a domain of {value.name!r}")
            return ["words", value.name, self.add(words), value.n_states, CODEC.encode(value.dtype, "a dtype")]
        if kind in (tuple, list):
            return [kind.__name__, *self._all(value)]
        if isinstance(value, dict):
            return ["dict", *self._all(value), *self._all(value.values())]
        if kind.__module__.startswith("pyarrow") and kind.__name__ == "Table":
            return ["table", self.add(_bytes_of(value))]
        return ["value", CODEC.encode(value, "what was counted")]

    def _all(self, values: Any) -> list[int]:
        return [self.add(value) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]

    def _array(self, array: Array) -> Node:
        """Store numbers in the widest of their kind; of what is empty, the shape alone."""
        kind = array.dtype
        if kind.kind == "f":
            stored = array.astype(np.float64, copy=False)
        elif kind == np.uint8:
            stored = array
        else:
            stored = array.view(np.int64) if kind == np.uint64 else array.astype(np.int64, copy=False)
        name = f"a{len(self.arrays)}" if array.size else None
        if name is not None:
            self.arrays[name] = np.ascontiguousarray(stored).reshape(-1)
        return ["array", name, kind.str, list(array.shape)]


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
        case ["dict", *places] if len(places) % 2 == 0:
            both = those(places)
            return dict(zip(both[: len(both) // 2], both[len(both) // 2 :], strict=True))
        case ["words", str(name), place, int(n_words), dtype]:
            states = words_of_bytes(those([place])[0], n_words, f"a domain of {name!r}")
            return Variable(name, states, frozenset(), CODEC.decode(dtype, "a dtype"))
        case ["table", place]:
            return _table_of(those([place])[0])
        case [str(name), [*names], *places] if name in KINDS:
            known = [field.name for field in fields(KINDS[name])]
            require(names == known, f"its {name} has {shortened(names)}, and not {known}")
            return KINDS[name](**dict(zip(known, those(places), strict=True)))
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
    numbers = stored.view(np.uint64) if dtype == np.uint64 else stored.astype(dtype)
    return numbers.reshape(shape)


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
