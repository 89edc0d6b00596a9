"""A network of states and numbers in the document and the arrays of a model file.

Its variables with states are a network of their own, and stand there as one does (`stored_network`). Regressions follow
one another in one array. Where the network was learned from rows, their sums are there, too, so that a loaded one goes
on learning; they are held against what any rows fulfil.
"""

from collections.abc import Mapping
from functools import partial
from math import prod
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.files.model_file import Document, require
from bayeswater.models.mixed_networks.mixed_sums import MixedSums
from bayeswater.models.network.network_fitting import GraphCounts
from bayeswater.models.network.stored_network import KIND as STATES
from bayeswater.models.network.stored_network import described_network, read_stored, restored_network
from bayeswater.models.stored.documents import (
    read_parents,
    read_states,
    require_arrays,
    require_fields,
    write_document,
    written_states,
)
from bayeswater.models.stored.values import CODEC
from bayeswater.networks.mixed_core import MixedCore, discrete_part
from bayeswater.networks.regressions import Regressions
from bayeswater.statistics.consistency import require_consistent
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

KIND = "MixedNetwork"
FIELDS = frozenset({"library", "kind", "names", "parents", "states", "sums"})
"""What the document says."""

OF_STATES, OF_SUMS, REGRESSIONS = "states.", "sums.", "regressions"
"""What the names of arrays begin with, or are."""


Learned = tuple[MixedCore, MixedSums | None, Mapping[str, Any]]
"""A network, the sums of the rows that it was learned from, if they are known, and how these were read."""


def described_mixed(
    core: MixedCore, sums: MixedSums | None, settings: Mapping[str, Any]
) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of a network."""
    states, tables = described_network(core.states)
    document = {
        "library": states["library"],
        "kind": KIND,
        "names": list(core.names),
        "parents": [list(own) for own in core.dag.parents],
        "states": {name: own for name, own in states.items() if name not in ("library", "kind")},
        "sums": None if sums is None else _described_sums(sums, settings),
    }
    arrays = {OF_STATES + name: array for name, array in tables.items()}
    parts = [part.ravel() for _, own in sorted(core.numbers.items()) for part in _parts(own)]
    if parts:
        arrays[REGRESSIONS] = np.concatenate(parts)
    if sums is not None:
        arrays |= {OF_SUMS + name: array for name, array in _arrays(sums).items() if array.size}
    return document, arrays


def _parts(own: Regressions) -> tuple[Array, Array, Array]:
    return own.intercept, own.slopes, own.variance


def restored_mixed(document: Document, arrays: dict[str, Array]) -> Learned:
    """Make the network of a document and its arrays."""
    require_fields(document, FIELDS)
    names, states = document["names"], document["states"]
    require(isinstance(names, list) and all(isinstance(n, str) for n in names), f"its names are {shortened(names)}")
    require(isinstance(states, dict), f"its states are {shortened(states)}")
    dag = Dag(tuple(names), read_parents(document["parents"]))
    known = {"library": document["library"], "kind": STATES}
    network = restored_network({**states, **known}, _beginning(OF_STATES, arrays)).network
    numbers = frozenset(node for node, name in enumerate(names) if name not in network.dag.position)
    require(discrete_part(dag, numbers) == network.dag, "its variables with states have other parents in its graph")
    own = MixedCore(dag, network, dict.fromkeys(numbers, Regressions(np.zeros(()), np.zeros(0), np.ones(()))))
    rest, regressions = arrays.get(REGRESSIONS, np.empty(0)), {}
    require(rest.ndim == 1 and rest.dtype == np.float64, f"its regressions are {rest.dtype} of shape {rest.shape}")
    for node in sorted(numbers):
        shape = tuple(variable.n_states for variable in own.discrete_parents(node))
        shapes = (shape, (*shape, len(own.numeric(node))), shape)
        sizes = [prod(one) for one in shapes]
        require(sum(sizes) <= len(rest), "its regressions end before those of all numbers")
        parts = np.split(rest[: sum(sizes)], np.cumsum(sizes)[:-1])
        regressions[node] = Regressions(*(part.reshape(one) for part, one in zip(parts, shapes, strict=True)))
        rest = rest[sum(sizes) :]
    require(not len(rest), "it has more regressions than numbers")
    core = MixedCore.of(dag, network, regressions)
    if document["sums"] is None:
        require_arrays([n for n in arrays if not n.startswith(OF_STATES) and n != REGRESSIONS], [])
        return core, None, {}
    return core, *_restored_sums(document["sums"], _beginning(OF_SUMS, arrays), dag, numbers)


def _beginning(begin: str, arrays: dict[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(begin): array for name, array in arrays.items() if name.startswith(begin)}


# ---------------------------------------------------------------------- sums


def _described_sums(sums: MixedSums, settings: Any) -> Document:
    configurations = {str(node): list(own.classes.states) for node, own in sums.scatters.items()}
    return {
        "variables": written_states(sums.counts.variables),
        "configurations": CODEC.encode(configurations, "a state"),
        "settings": CODEC.encode(dict(settings), "what it was learned with"),
    }


def _arrays(sums: MixedSums) -> dict[str, Array]:
    counts = {f"counts.{j}": array for j, array in enumerate(sums.counts.counts)}
    seen = {f"seen.{j}": array for j, array in enumerate(sums.seen)}
    moments = {f"{node}.{name}": a for node, own in sums.scatters.items() for name, a in own.to_arrays().items()}
    return {**counts, **seen, **moments}


def _restored_sums(
    written: Any, arrays: dict[str, Array], dag: Dag, numbers: frozenset[int]
) -> tuple[MixedSums, dict[str, Any]]:
    fields = {"variables", "configurations", "settings"}
    require(isinstance(written, dict) and written.keys() == fields, f"its sums are {shortened(written)}")
    variables = tuple(read_states(written["variables"]))
    part = discrete_part(dag, numbers)
    require(tuple(v.name for v in variables) == part.names, "its counts are of other variables")
    settings = CODEC.decode(written["settings"], "what it was learned with")
    configurations = CODEC.decode(written["configurations"], "a state")
    are_there = isinstance(configurations, dict) and set(configurations) == {str(node) for node in numbers}
    require(isinstance(settings, dict) and are_there, "its sums are not those of its numbers")
    families = tuple((*own, node) for node, own in enumerate(part.parents))
    cards = [variable.n_states for variable in variables]
    left = dict(arrays)

    def counted(name: str, members: tuple[int, ...]) -> Array:
        shape = tuple(cards[member] for member in members)
        found = left.pop(name, np.zeros(shape, dtype=np.int64))
        is_count = found.shape == shape and found.dtype in (np.int64, np.float64)
        require(is_count and bool((np.isfinite(found) & (found >= 0)).all()), f"its {name} are no counts of {shape}")
        return found

    counts = GraphCounts(variables, families, tuple(counted(f"counts.{j}", own) for j, own in enumerate(families)))
    seen = tuple(counted(f"seen.{j}", (j,)) for j in range(len(variables)))
    scatters = {node: _scatter(dag, node, numbers, configurations[str(node)], left) for node in sorted(numbers)}
    require_arrays(left, [])
    return MixedSums(dag, numbers, counts, seen, scatters), settings


def _scatter(dag: Dag, node: int, numbers: frozenset[int], states: Any, left: dict[str, Array]) -> Scatter:
    discrete = sum(parent not in numbers for parent in dag.parents[node])
    are_tuples = isinstance(states, list) and all(isinstance(s, tuple) and len(s) == discrete for s in states)
    require(are_tuples and len(set(states)) == len(states), f"the configurations of {dag.names[node]!r} are none")
    classes = Variable("configuration", tuple(states))
    names = tuple(dag.names[member] for member in (*(p for p in dag.parents[node] if p in numbers), node))
    n, m = len(states), len(names)
    shapes = {"weight": (n, 1, 1), "mean": (n, m, 1), "scatter": (n, m, m)}
    arrays = {name: left.pop(f"{node}.{name}", np.zeros(shape)) for name, shape in shapes.items()}
    require(all(arrays[name].shape == shape for name, shape in shapes.items()), f"moments of {names} have other shapes")
    found = Scatter.from_arrays(arrays, classes=classes, names=names)
    if n:
        require_consistent(Sums(ClassCounts(classes, arrays["weight"][:, 0, 0]), found))
    return found


def write_mixed_model(learned: Learned, path: Path) -> None:
    """Write a network to a model file."""
    write_document(path, partial(described_mixed, *learned), restored_mixed)


def read_mixed_model(path: Path) -> Learned:
    """Read a network from a model file; refuse one of another model."""
    return read_stored(path, KIND, restored_mixed)
