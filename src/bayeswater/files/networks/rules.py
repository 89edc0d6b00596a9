"""Tables that follow from less, as GeNIe's formats give them: deterministic nodes and noisy-MAX nodes.

A deterministic node lists the state that follows from each row. A noisy-MAX lists what each parent does on its own, a
row for each of its states and one for the leak, and beside it the order of these states (`strengths`). Both are written
out, and stay what they are.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import NamedTuple

import numpy as np

from bayeswater.files.networks.checks import NetworkChecks, ParentSet, PlaceOf, require_writable
from bayeswater.files.networks.document import (
    Kind,
    NetworkDocument,
    NodeDocument,
    WrittenNoisyMax,
    WrittenNoisyOr,
)
from bayeswater.files.networks.names import Carries, escape_note, is_identifier, loss_notes, some, written_names


class WordsAt(NamedTuple):
    """Some words of a file, and where each of them stands; one past the last is where they end."""

    words: list[str]
    place_of: PlaceOf


def deterministic_node(
    checks: NetworkChecks,
    parent_set: ParentSet,
    shape: tuple[int, ...],
    results: WordsAt,
    name_of: Callable[[str], str],
) -> NodeDocument:
    """Make a node of the states that follow from its rows."""
    variable, n_rows = checks.variables[parent_set.name], prod(shape[:-1])
    states, place_of = list(map(name_of, results.words)), results.place_of
    if len(states) != n_rows:
        place = place_of(min(len(states), n_rows))
        raise checks.places.error(
            place, f"{variable.name!r} needs {n_rows} resulting states, and {len(states)} are given"
        )
    for k, state in enumerate(states):
        if state not in variable.codes:
            known = some(list(map(repr, variable.states)))
            raise checks.places.error(place_of(k), f"{variable.name!r} has no state {state!r}; it has {known}")
    checks.reserve(shape, parent_set.place)
    table = np.zeros((n_rows, shape[-1]))
    table[np.arange(n_rows), [variable.codes[state] for state in states]] = 1.0
    return NodeDocument(
        parent_set.name, variable.states, parent_set.parents, table.reshape(shape), "deterministic", variable.properties
    )


def noisy_node(
    checks: NetworkChecks, parent_set: ParentSet, shape: tuple[int, ...], numbers: WordsAt, strengths: WordsAt
) -> NodeDocument:
    """Make a node of what its parents do on their own."""
    given = _noisy_max(checks, parent_set, shape, numbers, strengths)
    checks.reserve(shape, parent_set.place)
    strongest = [order[0] for order in given.ranking]
    rule = WrittenNoisyOr.of(given.columns(), np.array(given.rows[-1]), strongest)
    kind: Kind = "noisy_max" if rule is None else "noisy_or"
    table = given.table() if rule is None else rule.table()
    name, variable = parent_set.name, checks.variables[parent_set.name]
    kept = given if rule is None else None
    return NodeDocument(name, variable.states, parent_set.parents, table, kind, variable.properties, rule, kept)


def _noisy_max(
    checks: NetworkChecks, parent_set: ParentSet, shape: tuple[int, ...], numbers: WordsAt, strengths: WordsAt
) -> WrittenNoisyMax:
    """Read what each parent does on its own, and the leak."""
    n_states, n_columns = shape[-1], sum(shape[:-1]) + 1
    what, orders = f"the noisy-MAX of {parent_set.name!r}", strengths.words
    values = checks.numbers(numbers.words, numbers.place_of, n_columns * n_states, what)
    values = checks.table(values, (n_columns, n_states), parent_set.name, lambda row: numbers.place_of(row * n_states))
    if len(orders) != n_columns - 1:
        place = strengths.place_of(min(len(orders), n_columns - 1))
        raise checks.places.error(place, f"{what} needs {n_columns - 1} strengths, and {len(orders)} are given")
    ranking, start = [], 0
    for parent, n_parent in zip(parent_set.parents, shape[:-1], strict=True):
        order = orders[start : start + n_parent]
        if sorted(order) != sorted(map(str, range(n_parent))):
            raise checks.places.error(
                strengths.place_of(start), f"the strengths of {parent!r} have to be the numbers of its states"
            )
        ranking.append(tuple(map(int, order)))
        start += n_parent
    return WrittenNoisyMax(tuple(ranking), tuple(map(tuple, values.tolist())))


def is_noisy_max(node: NodeDocument) -> bool:
    """Tell whether a node can be written as a noisy-MAX: the effect of a noisy-OR is its first state, the strongest."""
    return node.noisy_max is not None or (node.noisy_or is not None and node.noisy_or.effect == 0)


class WritableNetwork(NamedTuple):
    """A network ready to be written: labels as identifiers, nodes with parents first, and notes of what was changed."""

    names: Mapping[str, str]
    nodes: tuple[NodeDocument, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, document: NetworkDocument, can_carry: Carries) -> "WritableNetwork":
        """Refuse what no file can hold, and say what a format loses that carries some properties."""
        require_writable(document)
        used = [document.name, *(label for node in document.nodes for label in (node.name, *node.states))]
        names, nodes = written_names(used, is_identifier), document.topological()
        kinds = ("deterministic", "noisy_or", "noisy_max")
        notes = [*escape_note(names, "identifiers"), *loss_notes(document, can_carry, can_carry, kinds)]
        if nodes != document.nodes:
            notes.append("the nodes were put in an order in which parents come first")
        return cls(names, nodes, (*notes, *_turned_note(nodes)))

    @property
    def is_escaped(self) -> bool:
        """Whether a label was none."""
        return any(name != written for name, written in self.names.items())


def _turned_note(nodes: tuple[NodeDocument, ...]) -> list[str]:
    """Say which noisy-OR nodes had to be written as tables."""
    turned = [repr(node.name) for node in nodes if node.noisy_or and not is_noisy_max(node)]
    return (
        [f"noisy-OR nodes whose effect is their second state were written as tables: {some(turned)}"] if turned else []
    )


def written_strengths(node: NodeDocument) -> list[str]:
    """Write the order of the states of each parent, the strongest first."""
    if node.noisy_max is not None:
        return [str(state) for order in node.noisy_max.ranking for state in order]
    rule = node.noisy_or
    assert rule is not None
    return [str(state) for cause in rule.cause for state in (cause, 1 - cause)]


def written_parameters(node: NodeDocument) -> list[str]:
    """Write what each parent does in its states, in that order, and the leak."""
    if node.noisy_max is not None:
        return [repr(p) for row in node.noisy_max.rows for p in row]
    rule = node.noisy_or
    assert rule is not None
    rows = [part for link in rule.link for part in (repr(link), repr(1.0 - link), "0", "1")]
    return [*rows, repr(rule.leak), repr(1.0 - rule.leak)]
