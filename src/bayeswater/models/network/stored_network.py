"""A network in the document and the arrays of a model file, and such files alone.

All tables stand one after the other in one array of float64, all rules of deterministic variables in one of int64. What
a file says is believed after it has gone through the checks that any network goes through.
"""

from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, TypeVar

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ModelFileError
from bayeswater.files.model_file import Document, require
from bayeswater.models.network.network_files import FromFile, Remarks
from bayeswater.models.stored.documents import (
    read_document,
    read_parents,
    read_states,
    require_arrays,
    require_fields,
    write_document,
    written_states,
)
from bayeswater.models.stored.values import CODEC
from bayeswater.networks.conditionals import Conditional, Deterministic, Table, require_room, table_shape
from bayeswater.networks.network import Network
from bayeswater.networks.noisy_causes import NoisyAnd, NoisyMax, NoisyOr
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array
from bayeswater.version import __version__

KIND = "BayesianNetwork"
FIELDS = frozenset({"library", "kind", "variables", "parents", "conditionals", "title", "remarks"})
"""What the document of a network says."""

Stored = TypeVar("Stored")

AND, MAX = "noisy-AND", "noisy-MAX"

NO_NUMBERS = {"tables": np.empty(0), "rules": np.empty(0, dtype=np.int64)}


def described_network(
    core: Network, title: str = "", remarks: Remarks | None = None
) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of a network."""
    parts: dict[str, list[Array]] = {name: [none] for name, none in NO_NUMBERS.items()}
    conditionals: list[Any] = []
    for variable, own in zip(core.variables, core.conditionals, strict=True):
        if isinstance(own, Table):
            conditionals.append("table")
            parts["tables"].append(own.values.ravel())
        elif isinstance(own, Deterministic):
            conditionals.append("rule")
            parts["rules"].append(np.asarray(own.rule).ravel())
        else:
            conditionals.append(CODEC.encode(_causes(own), f"the causes of {variable.name!r}"))
    document = {
        "library": f"bayeswater {__version__}",
        "kind": KIND,
        "variables": written_states(core.variables),
        "parents": [list(own) for own in core.parents],
        "conditionals": conditionals,
        "title": title,
        "remarks": {name: [list(pair) for pair in pairs] for name, pairs in (remarks or {}).items()},
    }
    arrays = {name: np.concatenate(found) for name, found in parts.items()}
    return document, {name: numbers for name, numbers in arrays.items() if numbers.size}


def _causes(own: Conditional) -> tuple[Any, ...]:
    """Give what a canonical node is made of: three parts of a noisy-OR, four of the others, the first their name."""
    if isinstance(own, NoisyOr):
        return {name: dict(s) if isinstance(s, Mapping) else s for name, s in own.causes.items()}, own.leak, own.present
    if isinstance(own, NoisyAnd):
        return AND, dict(own.conditions), own.failure, own.present
    assert isinstance(own, NoisyMax)
    assert own.ranking is not None  # as it is bound
    return MAX, dict(own.causes), own.leak, tuple(own.ranking)


def restored_network(document: Document, arrays: dict[str, Array]) -> FromFile:
    """Make the network of a document and its arrays."""
    require_fields(document, FIELDS)
    arrays = NO_NUMBERS | arrays
    require_arrays(arrays, NO_NUMBERS)
    for name, none in NO_NUMBERS.items():
        found = arrays[name]
        require(found.ndim == 1 and found.dtype == none.dtype, f"its {name} are {found.dtype} of shape {found.shape}")
    variables = tuple(read_states(document["variables"]))
    dag = Dag(tuple(v.name for v in variables), read_parents(document["parents"]))
    written = document["conditionals"]
    require(isinstance(written, list) and len(written) == len(variables), f"its tables are {shortened(written)}")
    taken = dict.fromkeys(arrays, 0)
    conditionals = []
    for own, variable, parents in zip(written, variables, dag.parents, strict=True):
        conditionals.append(_read(own, variable, [variables[parent] for parent in parents], arrays, taken))
    all_taken = all(taken[name] == len(array) for name, array in arrays.items())
    require(all_taken, "it has more numbers than its tables need")
    title, remarks = document["title"], document["remarks"]
    require(isinstance(title, str), f"its title is {shortened(title)}")
    return FromFile(Network.of(variables, dag, conditionals), title, _read_remarks(remarks))


def _read(
    written: Any, variable: Variable, parents: list[Variable], arrays: dict[str, Array], taken: dict[str, int]
) -> Conditional:
    require_room(variable, parents)
    shape = table_shape(variable, parents)
    if written == "table":
        return Table(_take("tables", shape, arrays, taken))
    if written == "rule":
        return Deterministic(_take("rules", shape[:-1], arrays, taken))
    where = f"what causes {variable.name!r}"
    parts = CODEC.decode(written, where)
    named = parts[0] if isinstance(parts, tuple) and len(parts) == 4 and parts[0] in (AND, MAX) else None
    causes = parts[1:] if named is not None else parts
    is_rule = isinstance(causes, tuple) and len(causes) == 3 and isinstance(causes[0], dict)
    require(is_rule, f"{where} is {shortened(parts)}")
    if named == MAX:
        is_ranked = isinstance(causes[1], tuple) and isinstance(causes[2], tuple)
        is_ranked = is_ranked and all(isinstance(own, dict) for own in causes[0].values())
        require(is_ranked, f"{where} is {shortened(parts)}")
        return NoisyMax(*causes)
    return NoisyAnd(*causes) if named == AND else NoisyOr(*causes)


def _take(name: str, shape: tuple[int, ...], arrays: dict[str, Array], taken: dict[str, int]) -> Array:
    """Take the next numbers from an array."""
    start, stop = taken[name], taken[name] + prod(shape)
    require(stop <= len(arrays[name]), f"its {name} end before those of all variables")
    taken[name] = stop
    return arrays[name][start:stop].reshape(shape)


def _read_remarks(written: Any) -> Remarks:
    is_dict = isinstance(written, dict) and all(isinstance(pairs, list) for pairs in written.values())
    require(is_dict, f"its remarks are {shortened(written)}")
    for pair in (pair for pairs in written.values() for pair in pairs):
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
        require(is_pair, f"a remark of it is {shortened(pair)}")
    return {name: tuple((a, b) for a, b in pairs) for name, pairs in written.items()}


def write_network_model(path: Path, *described: Any) -> None:
    """Write a network to a model file, from what `described_network` takes."""
    write_document(path, partial(described_network, *described), restored_network)


def read_network_model(path: Path) -> FromFile:
    """Read a network from a model file; refuse one of another model."""
    return read_stored(path, KIND, restored_network)


def read_stored(path: Path, kind: str, restore: Callable[[Document, dict[str, Array]], Stored]) -> Stored:
    """Read a network of one kind from a model file; refuse one of another model."""

    def restored(document: Document, arrays: dict[str, Array]) -> Stored:
        found = document.get("kind")
        if found != kind:
            raise ModelFileError(f"{str(path)!r} holds a {shortened(str(found))[1:-1]}, and no {kind}; load() reads it")
        return restore(document, arrays)

    model: Stored = read_document(path, restored)
    return model
