"""NET, the language of Hugin (also of UnBBayes, SamIam and bnlearn).

    net { name = "asia"; }
    node smoke { states = ("yes" "no"); }
    node lung { states = ("yes" "no"); label = "lung cancer"; }
    potential (lung | smoke) { data = ((0.1 0.9) (0.01 0.99)); }

Comments begin with a percent sign. The numbers of a table stand in nested parentheses, one level for each parent, or
in one pair of them. They are a potential: Hugin normalises its rows, whatever they sum to, and so do we unless a
tolerance is given. Names of nodes are identifiers, states are strings.
"""

from collections.abc import Callable
from math import inf, prod
from operator import ne

from bayeswater.files.networks.checks import DeclaredVariable, NetworkChecks, ParentSet, require_writable
from bayeswater.files.networks.document import NetworkDocument, Property, Written
from bayeswater.files.networks.grammar import is_attribute, opened, read_value, written_value
from bayeswater.files.networks.names import (
    ESCAPED,
    MARK,
    escape_note,
    is_identifier,
    loss_notes,
    some,
    unescaped,
    written_names,
)
from bayeswater.files.networks.tokens import STRING, Tokens, quoted, word_pattern
from bayeswater.records import record
from bayeswater.typing import Array

WORDS = word_pattern(r"\s,", r"%[^\r\n]*+", rf'[^\s,{{}}()=;|"%]++|{STRING}')

NO_CHANCE = {
    "decision": "a decision node",
    "utility": "a utility node",
    "continuous": "a continuous node",
    "function": "a function node",
    "class": "a class of networks",
}
"""What NET has beside nodes with tables, and we do not read."""

TABLE_EXTRAS = ("experience", "fading")


@record
class Potential:
    """A parent set and the words of its data, from `start` to before `stop`."""

    parent_set: ParentSet
    start: int
    stop: int


def read(content: str | bytes, path: str, tolerance: float | None = None) -> NetworkDocument:
    """Read a network.

    >>> text = 'net {} node a { states = ("yes" "no"); } potential (a) { data = (0.2 0.8); }'
    >>> read(text, "n.net").nodes[0].table
    array([0.2, 0.8])
    """
    tokens, checks = opened(content, path, WORDS, inf if tolerance is None else tolerance)
    tokens.expect("net")
    attributes = _attributes(tokens)
    name_of: Callable[[str], str] = unescaped if (MARK, ESCAPED) in attributes else str
    potentials: list[Potential] = []
    dropped: dict[str, list[str]] = {}
    while tokens.word:
        place = tokens.at
        if tokens.take("potential"):
            potentials.append(_potential(tokens, name_of, dropped))
        elif tokens.word in NO_CHANCE and tokens.words[place + 1] != "potential":
            raise tokens.error(place, f"{NO_CHANCE[tokens.word]} is no part of a Bayesian network of tables; remove it")
        else:
            tokens.take("discrete")
            tokens.expect("node")
            checks.declare(_variable(tokens, name_of))
    checks.notes += [f"{extra!r} of tables was dropped: {some(names)}" for extra, names in dropped.items()]
    shapes = [checks.define(potential.parent_set) for potential in potentials]
    checks.require_whole()
    found = zip(potentials, shapes, strict=True)
    nodes = [checks.node(one.parent_set, _table(tokens, checks, one, shape)) for one, shape in found]
    name = next((value for key, value in attributes if key == "name"), "")
    rest = [one for one in attributes if one[0] not in ("name", MARK)]
    return checks.document(name, nodes, rest)


def _attributes(tokens: Tokens) -> list[Property]:
    tokens.expect("{")
    attributes = []
    while not tokens.take("}"):
        attributes.append(_attribute(tokens))
    return attributes


def _attribute(tokens: Tokens) -> Property:
    name = tokens.name("the name of an attribute, or '}'")
    tokens.expect("=")
    return name, read_value(tokens)


def _variable(tokens: Tokens, name_of: Callable[[str], str]) -> DeclaredVariable:
    place = tokens.at
    name = name_of(tokens.name("the name of a node"))
    tokens.expect("{")
    properties: list[Property] = []
    states: tuple[str, ...] | None = None
    places = range(0)
    while not tokens.take("}"):
        if tokens.word == "states":
            if states is not None:
                raise tokens.error(tokens.at, f"node {name!r} has its states twice; leave one out")
            start = tokens.expect("states", "=", "(") + 3
            stop = tokens.find(")", start)
            states, places = tokens.names(start, stop, "a state"), range(start, stop)
            tokens.at = stop
            tokens.expect(")", ";")
        else:
            properties.append(_attribute(tokens))
    if states is None:
        raise tokens.error(place, f'node {name!r} has no states; write states = ("yes" "no");')
    return DeclaredVariable(name, states, place, places, tuple(properties))


def _potential(tokens: Tokens, name_of: Callable[[str], str], dropped: dict[str, list[str]]) -> Potential:
    """Step over a potential; of what is dropped of it, only whose it was."""
    tokens.expect("(")
    place = tokens.at
    name = name_of(tokens.name("the name of a node"))
    start, parents = tokens.at + 1, []
    if tokens.take("|"):
        while tokens.word != ")":
            parents.append(name_of(tokens.name("the name of a parent, or ')'")))
    if tokens.word != ")":
        raise tokens.error(
            tokens.at, f"expected '|' or ')' behind {name!r}; a table of several variables at once is not read"
        )
    tokens.expect(")", "{")
    data: tuple[int, int] | None = None
    while not tokens.take("}"):
        if data is None and tokens.take("data"):
            first = tokens.expect("=") + 1
            data = first, tokens.find(";", first)
            tokens.at = data[1] + 1
        elif tokens.word in TABLE_EXTRAS:
            dropped.setdefault(tokens.word, []).append(repr(name))
            _attribute(tokens)
        else:
            raise tokens.expected("'data' or '}'" if data is None else "'}'")
    parent_set = ParentSet(name, tuple(parents), place, range(start, start + len(parents)))
    if data is None:
        raise tokens.error(place, f"the potential of {name!r} has no data; give its probabilities")
    return Potential(parent_set, *data)


def _table(tokens: Tokens, checks: NetworkChecks, potential: Potential, shape: tuple[int, ...]) -> Array:
    """Read the numbers, and hold the parentheses around them against the shape."""
    name, words = potential.parent_set.name, tokens.words[potential.start : potential.stop]
    at = [k for k, word in enumerate(words, potential.start) if word not in ("(", ")")]
    values = checks.numbers(
        [tokens.words[k] for k in at],
        lambda k: at[k] if k < len(at) else potential.stop,
        prod(shape),
        f"the table of {name!r}",
    )
    found = "".join([word if word in ("(", ")") else "0" for word in words])
    nested = _nested(["0"] * len(values), shape, "")
    if found not in (nested, f"({'0' * len(values)})"):
        k = next(k for k, wrong in enumerate(map(ne, f"{found};", f"{nested};")) if wrong)
        tokens.at = potential.start + k
        raise tokens.expected("a number" if nested[k : k + 1] == "0" else repr(nested[k : k + 1] or ";"))
    return checks.table(values, shape, name, lambda r: at[r * shape[-1]])


def _nested(parts: list[str], shape: tuple[int, ...], between: str) -> str:
    """Put parentheses around the parts of each level, from the innermost outwards."""
    for n in reversed(shape):
        parts = [f"({between.join(parts[k : k + n])})" for k in range(0, len(parts), n)]
    return parts[0]


def write(document: NetworkDocument) -> Written:
    """Write a network; names of nodes that are no identifiers are escaped.

    >>> import numpy as np
    >>> from bayeswater.files.networks.document import NodeDocument
    >>> node = NodeDocument("a", ("yes", "no"), (), np.array([0.2, 0.8]))
    >>> print(write(NetworkDocument("n", (node,))).text)
    net
    {
      name = "n";
    }
    node a
    {
      states = ("yes" "no");
    }
    potential (a)
    {
      data = (0.2 0.8);
    }
    <BLANKLINE>
    """
    require_writable(document)
    names = written_names((node.name for node in document.nodes), is_identifier)
    marks = [(MARK, ESCAPED)] if any(names[name] != name for name in names) else []
    named = [("name", document.name)] if document.name else []
    lines = ["net", "{", *_lines([*named, *marks, *filter(_can_carry_on_top, document.properties)]), "}"]
    for node in document.nodes:
        states = " ".join(map(quoted, node.states))
        lines += [f"node {names[node.name]}", "{", f"  states = ({states});"]
        lines += [*_lines([*filter(_can_carry, node.properties)]), "}"]
    for node in document.nodes:
        given = f" | {' '.join([names[parent] for parent in node.parents])}" if node.parents else ""
        data = _nested([repr(value) for value in node.table.reshape(-1).tolist()], node.table.shape, " ")
        lines += [f"potential ({names[node.name]}{given})", "{", f"  data = {data};", "}"]
    notes = [*escape_note(names, "identifiers"), *loss_notes(document, _can_carry_on_top, _can_carry)]
    return Written("\n".join(lines) + "\n", tuple(notes))


def _lines(properties: list[Property]) -> list[str]:
    return [f"  {name} = {written_value(value)};" for name, value in properties]


def _can_carry(one: Property) -> bool:
    return is_attribute(one) and one[0] != "states"


def _can_carry_on_top(one: Property) -> bool:
    return is_attribute(one) and one[0] not in ("name", MARK)
