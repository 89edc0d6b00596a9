"""Networks from files and to files in the formats of others: documents of labels to cores of numbers and back.

Files hold texts alone. For states that are none a property of the node says what the texts stand for:
``bayeswater_states = int`` is written where every state can be made of its text again, and read where every text is
that of such a state. It is no remark of the user's: a network does not show it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import NetworkFileError, NetworkFileWarning, ParameterError, RoundedTableWarning, warn_user
from bayeswater.files.networks import document as written
from bayeswater.files.networks.document import UNTITLED, NetworkDocument, NodeDocument, Property
from bayeswater.files.networks.formats import find_format, format_of, read_network, write_network
from bayeswater.files.networks.names import some
from bayeswater.models.network.network_rows import declared_variable
from bayeswater.models.stored.folders import require_folder
from bayeswater.networks.conditionals import Conditional, Deterministic, Table
from bayeswater.networks.network import Network
from bayeswater.networks.noisy_causes import NoisyMax, NoisyOr, as_noisy_max
from bayeswater.structure.dag import Dag
from bayeswater.typing import is_number

Remarks = Mapping[str, tuple[Property, ...]]
"""What a file says beside the probabilities, by node; of the network itself under ''."""


MODEL_SUFFIX = ".bayes"
"""Ending of our own model files."""


class FromFile(NamedTuple):
    """What is read from a file: the network, its name, and remarks."""

    network: Network
    title: str
    remarks: Remarks


def read_network_file(path: Path, tolerance: float | None = None) -> FromFile:
    """Read a file in the format that its name tells; what was changed in reading is reported in a warning, once."""
    if tolerance is not None and not (is_number(tolerance) and not isnan(tolerance) and tolerance >= 0):
        raise ParameterError(f"tolerance is {tolerance!r}; give a number from 0 on, by which rows may differ from one")
    try:
        document = read_network(path, tolerance)
    except OSError as error:
        raise NetworkFileError(f"cannot read the network file {str(path)!r}: {error.strerror or error}") from error
    if document.rounded:
        _tell_once(f"{path}: {document.rounded}", RoundedTableWarning)
    notes = (*document.notes, *_not_of_their_kind(document))
    if notes:
        _tell_once(f"{path}: {'; '.join(notes)}", NetworkFileWarning)
    remarks = {"": document.properties, **{node.name: without_kind(node.properties) for node in document.nodes}}
    title = "" if document.name == UNTITLED else document.name
    return FromFile(network_of_document(document), title, {k: v for k, v in remarks.items() if v})


def write_network_file(path: Path, network: Network, title: str, remarks: Remarks) -> None:
    """Write a file in the format that its name tells; what the format cannot hold is reported in a warning."""
    document = document_of(network, title, remarks)
    try:
        notes = write_network(document, path)
    except OSError as error:
        raise NetworkFileError(f"cannot write the network file {str(path)!r}: {error.strerror or error}") from error
    if notes or document.notes:
        warn_user(f"{path}: {'; '.join((*notes, *document.notes))}", NetworkFileWarning)


@lru_cache(maxsize=1024)
def _tell_once(message: str, category: type[NetworkFileWarning]) -> None:
    """Warn of a file that is read; it is read again and again, and stays as it is."""
    warn_user(message, category)


def is_network_file(path: str | Path, *, or_model: bool = False) -> bool:
    """Say whether the ending of a name is that of a network in the format of others, or else of a model of ours.

    >>> is_network_file("asia.bif.gz"), is_network_file("asia.bayes"), is_network_file("asia.bayes", or_model=True)
    (True, False, True)
    """
    path = Path(path)
    return find_format(path) is not None or (or_model and path.suffix.lower() == MODEL_SUFFIX)


def network_of_document(document: NetworkDocument) -> Network:
    """Make the core of a network of what a file says."""
    position = {node.name: j for j, node in enumerate(document.nodes)}
    dag = Dag(tuple(position), tuple(tuple(position[name] for name in node.parents) for node in document.nodes))
    variables = [_variable(node) for node in document.nodes]
    conditionals = [
        _conditional(node, variable, [variables[parent] for parent in own])
        for node, variable, own in zip(document.nodes, variables, dag.parents, strict=True)
    ]
    return Network.of(variables, dag, conditionals)


def _variable(node: NodeDocument) -> Variable:
    states = _states(node)
    if states is None:
        return Variable(node.name, node.states, frozenset(node.states))
    return declared_variable(node.name, states)


def _states(node: NodeDocument) -> Sequence[Any] | None:
    """Labels that the texts of a node stand for; None where nothing is said of them, or something else."""
    kind = dict(node.properties).get(PROPERTY)
    return None if kind is None else states_of_kind(kind, node.states)


def _not_of_their_kind(document: NetworkDocument) -> list[str]:
    wrong = [repr(node.name) for node in document.nodes if PROPERTY in dict(node.properties) and _states(node) is None]
    return [f"states that are not what {PROPERTY!r} says were read as texts: those of {some(wrong)}"] if wrong else []


def _conditional(node: NodeDocument, variable: Variable, parents: list[Variable]) -> Conditional:
    if node.kind == "noisy_or" and node.noisy_or is not None:
        rule = node.noisy_or
        pairs = zip(parents, rule.cause, rule.link, strict=True)
        causes = {parent.name: {parent.states[cause]: link} for parent, cause, link in pairs}
        return NoisyOr(causes, rule.leak, variable.states[rule.effect])
    if node.noisy_max is not None:
        rows, ranking = iter(node.noisy_max.rows), node.noisy_max.ranking
        given = zip(parents, ranking, strict=True)
        return NoisyMax({p.name: {p.states[code]: next(rows) for code in order} for p, order in given}, next(rows))
    if node.kind == "deterministic" and np.isin(node.table, (0.0, 1.0)).all():
        return Deterministic(node.table.argmax(axis=-1))
    return Table(node.table)


def document_of(network: Network, title: str, remarks: Remarks) -> NetworkDocument:
    """Write the core of a network as a document; labels that are no texts become theirs, and their kind a property."""
    nodes, became_texts = [], []
    for j, variable in enumerate(network.variables):
        states = tuple(map(str, variable.states))
        if len(set(states)) < len(states):
            raise NetworkFileError(
                f"two states of {variable.name!r} are the same as text: {list(variable.states)[:10]}"
            )
        own = network.conditionals[j]
        parents = tuple(parent.name for parent in network.parents_of(j))
        of_states = property_of_states(variable.states)
        if not of_states and states != tuple(variable.states):
            became_texts.append(repr(variable.name))
        properties = (*without_kind(remarks.get(variable.name, ())), *of_states)
        kind, rule, ranked = _canonical(own, variable, network.parents_of(j))
        nodes.append(NodeDocument(variable.name, states, parents, network.tables[j], kind, properties, rule, ranked))
    note = f"states of several types, or of one that no file knows, became texts: those of {some(became_texts)}"
    return NetworkDocument(title or UNTITLED, tuple(nodes), remarks.get("", ()), (note,) if became_texts else ())


Canonical = tuple[written.Kind, written.WrittenNoisyOr | None, written.WrittenNoisyMax | None]


def _canonical(own: Conditional, variable: Variable, parents: tuple[Variable, ...]) -> Canonical:
    """Say what a table is made of, in the terms of files: a noisy-OR before a noisy-MAX, which has its own ranking."""
    if isinstance(own, Deterministic):
        return "deterministic", None, None
    rule = _noisy_or(own, variable, parents) if isinstance(own, NoisyOr) else None
    if rule is not None:
        return "noisy_or", rule, None
    found = as_noisy_max(own, variable, parents)
    if found is None or found.ranking != tuple(variable.states):
        return "table", None, None
    ranking, rows = [], []
    for parent in parents:
        named = [parent.code_of[state] for state in found.causes[parent.name]]
        ranking.append((*named, *(code for code in range(parent.n_states) if code not in named)))
        rows += found.columns(variable, parent)[list(ranking[-1])].tolist()
    return "noisy_max", None, written.WrittenNoisyMax(tuple(ranking), (*map(tuple, rows), found.leak))


def _noisy_or(own: NoisyOr, variable: Variable, parents: tuple[Variable, ...]) -> written.WrittenNoisyOr | None:
    """Give causes of two states as files have them; None where a cause has more, or is idle in none of its states."""
    cause, link = [], []
    for parent in parents:
        strengths = own.strengths(parent)
        acting = np.flatnonzero(strengths)
        if parent.n_states != 2 or len(acting) > 1:
            return None
        cause.append(int(acting[0]) if len(acting) else 0)
        link.append(float(strengths[cause[-1]]))
    return written.WrittenNoisyOr(variable.code_of[own.present], tuple(cause), tuple(link), float(own.leak))


PROPERTY = "bayeswater_states"

CODES = "codes"
"""The kind of the codes 0, 1, ..., n - 1."""

LONGEST = 50
"""Letters of a text that may be a number or a date: no float or date has more, and long whole numbers take long."""


def _flag(text: str) -> bool:
    return {"False": False, "True": True}[text]


KINDS: Mapping[str, tuple[type, Callable[[str], Any]]] = {
    "bool": (bool, _flag),
    "int": (int, int),
    "float": (float, float),
    "date": (date, date.fromisoformat),
    "datetime": (datetime, datetime.fromisoformat),
}
"""The type of the labels of each kind, and how one is made of its text."""


def property_of_states(states: Sequence[Any]) -> tuple[Property, ...]:
    """Give the property that says what the texts of states stand for; none for texts, and for what no kind holds.

    >>> property_of_states((2019, 2020)), property_of_states(("yes", "no")), property_of_states((1, "one"))
    ((('bayeswater_states', 'int'),), (), ())
    """
    if isinstance(states, range):
        return ((PROPERTY, CODES),)
    plain = tuple(state.item() if isinstance(state, np.number | np.bool_) else state for state in states)
    kinds = (kind for kind, (own, _) in KINDS.items() if all(type(state) is own for state in plain))
    kind = next(kinds, "")
    return ((PROPERTY, kind),) if kind and states_of_kind(kind, tuple(map(str, states))) == plain else ()


def states_of_kind(kind: str, texts: tuple[str, ...]) -> Sequence[Any] | None:
    """Make the states of their texts; None where a text is that of no such state.

    >>> states_of_kind("float", ("0.5", "1.0")), states_of_kind("codes", ("0", "1")), states_of_kind("int", ("one",))
    ((0.5, 1.0), range(0, 2), None)
    """
    if kind == CODES:
        codes = range(len(texts))
        return codes if texts == tuple(map(str, codes)) else None
    if kind not in KINDS or any(len(text) > LONGEST for text in texts):
        return None
    try:
        states = tuple(map(KINDS[kind][1], texts))
    except (KeyError, ValueError):
        return None
    # A text that is written otherwise, as 007 is, would not come back; NaN is no state, and 0.0 and -0.0 are one.
    are_states = all(state == state for state in states) and len(set(states)) == len(states)
    return states if are_states and texts == tuple(map(str, states)) else None


def without_kind(properties: tuple[Property, ...]) -> tuple[Property, ...]:
    """Leave out what is said of states: the remarks of the user remain."""
    return tuple(one for one in properties if one[0] != PROPERTY)


def require_network_place(path: Path) -> None:
    """Refuse a file that no network can be written to: in no format that is known, or in no folder that is there."""
    require_folder(path)
    if path.suffix.lower() != MODEL_SUFFIX:
        format_of(path)
