"""DSL, the older format of GeNIe and SMILE (also of aGrUM), which XDSL replaced.

    net asia
    {
      node smoke
      {
        TYPE = CPT;
        HEADER = { ID = smoke; NAME = "smokes"; };
        PARENTS = ();
        DEFINITION = { NAMESTATES = (yes, no); PROBABILITIES = (0.5, 0.5); };
      };
    };

Commas are white space. What a node has beside type, parents and definition is how GeNIe draws and describes it. Tables
and special nodes are those of XDSL: the variable's own states run fastest, then those of the last parent. All names are
identifiers, and parents stand before their children.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod

from bayeswater.files.networks.checks import DeclaredVariable, NetworkChecks, ParentSet
from bayeswater.files.networks.document import NetworkDocument, NodeDocument, Property, Written
from bayeswater.files.networks.grammar import opened
from bayeswater.files.networks.names import ESCAPED, MARK, is_identifier, unescaped, written_numbers
from bayeswater.files.networks.rules import (
    WordsAt,
    WritableNetwork,
    deterministic_node,
    is_noisy_max,
    noisy_node,
    written_parameters,
    written_strengths,
)
from bayeswater.files.networks.tokens import SLASH_COMMENTS, STRING, Tokens, quoted, word_pattern
from bayeswater.records import record

LETTERS = r'[^\s,{}()=;"/]'
WORDS = word_pattern(r"\s,", SLASH_COMMENTS, rf"(?:{LETTERS}++|/(?![/*]))++|{STRING}")
CONTINUED = re.compile(r"\\\s*\n\s*")
"""How GeNIe breaks a long text."""

NUMBERS_OF = {"CPT": "PROBABILITIES", "TRUTHTABLE": "RESULTINGSTATES", "NOISY_MAX": "PROBABILITIES"}
"""Types of nodes that are read, and the list that their tables follow from."""

USER = "USER_PROPERTIES"
READ = ("TYPE", "HEADER", "PARENTS", "DEFINITION", USER)
"""What is read of a node; all else is about its looks."""

DEFINITION = ("NAMESTATES", "PROBABILITIES", "RESULTINGSTATES", "STRENGTHS")

ABOUT = {"NAME": "label", "COMMENT": "comment"}
"""Parts of a header, and the properties that they are."""


@record
class _DeclaredNode:
    """A node: its type, and the places of the parts of its definition."""

    type: str
    parent_set: ParentSet
    definition: Mapping[str, int]


def read(content: str | bytes, path: str, tolerance: float | None = None) -> NetworkDocument:
    """Read a network.

    >>> node = "node a { TYPE = CPT; PARENTS = (); DEFINITION = { NAMESTATES = (y, n); PROBABILITIES = (0.2, 0.8); }; }"
    >>> read(f"net n {{ {node}; }};", "n.dsl").nodes[0].table
    array([0.2, 0.8])
    """
    tokens, checks = opened(content, path, WORDS, tolerance)
    tokens.expect("net")
    title = tokens.name("the name of the network")
    entries, nodes = _block(tokens)
    tokens.take(";")
    if tokens.word:
        raise tokens.expected("the end of the file")
    properties = _properties(tokens, dict(entries).get(USER))
    name_of: Callable[[str], str] = unescaped if (MARK, ESCAPED) in properties else str
    dropped = set[str]()
    declared = [_declared(tokens, checks, place, name_of, dropped) for place in nodes]
    shapes = [checks.define(one.parent_set) for one in declared]
    checks.require_whole()
    found = [_node(tokens, checks, *both, name_of) for both in zip(declared, shapes, strict=True)]
    if dropped:
        checks.notes.append(f"parts of DSL that no other format has were dropped: {', '.join(sorted(dropped))}")
    return checks.document(name_of(title), found, [one for one in properties if one[0] != MARK])


def _block(tokens: Tokens) -> tuple[list[tuple[str, int]], list[int]]:
    """Step over ``{ ... }``; give its entries with the places of their values, and the places of the names of nodes."""
    tokens.expect("{")
    entries: list[tuple[str, int]] = []
    nodes: list[int] = []
    while not tokens.take("}"):
        place = tokens.at
        if tokens.word == "node" and tokens.words[place + 1] != "=":
            nodes.append(place + 1)
            tokens.at += 1
            tokens.name("the name of a node")
            _step_over(tokens)
            continue
        name = tokens.name("the name of an entry, or '}'")
        tokens.expect("=")
        entries.append((name, tokens.at))
        _step_over(tokens)
    return entries, nodes


def _step_over(tokens: Tokens) -> None:
    """Step over a value and its semicolon, which behind a block may be left out."""
    start = tokens.at
    if tokens.word != "{":
        stop = tokens.find(";", start)
        for tokens.at in range(start, stop):
            if tokens.word in ("{", "}"):
                raise tokens.expected("';'")
        tokens.at = stop + 1
        return
    depth = 0
    for place in range(start, len(tokens.words)):
        word = tokens.words[place]
        depth += (word == "{") - (word == "}")
        if depth == 0:
            tokens.at = place + 1
            tokens.take(";")
            return
    raise tokens.error(start, "this '{' does not close")


def _part(tokens: Tokens, place: int | None) -> list[tuple[str, int]]:
    """Give the entries of a block that stands at a place; none where there is no such block."""
    if place is None:
        return []
    tokens.at = place
    return _block(tokens)[0]


def _once(tokens: Tokens, entries: list[tuple[str, int]], known: tuple[str, ...]) -> dict[str, int]:
    """Give the places of the entries that have a meaning here, each of which can stand there but once."""
    places: dict[str, int] = {}
    for name, place in entries:
        if name in places:
            raise tokens.error(place, f"this is a second {name}; leave one out")
        if name in known:
            places[name] = place
    return places


def _properties(tokens: Tokens, place: int | None) -> list[Property]:
    return [(name, _text(tokens, at)) for name, at in _part(tokens, place)]


def _text(tokens: Tokens, place: int) -> str:
    tokens.at = place
    text = CONTINUED.sub("", tokens.name("a name, or a text in quotes"))
    tokens.expect(";")
    return text


def _list(tokens: Tokens, place: int) -> WordsAt:
    """Give the words of ``( ... );``."""
    tokens.at = place
    start = tokens.expect("(") + 1
    stop = tokens.find(")", start)
    tokens.names(start, stop, "a word, or ')'")
    tokens.at = stop
    tokens.expect(")", ";")
    return WordsAt(tokens.words[start:stop], lambda k: start + k)


def _declared(
    tokens: Tokens, checks: NetworkChecks, place: int, name_of: Callable[[str], str], dropped: set[str]
) -> _DeclaredNode:
    tokens.at = place
    name = name_of(tokens.name("the name of a node"))
    entries, _ = _block(tokens)
    dropped |= {part for part, _ in entries if part not in READ}
    parts = _once(tokens, entries, READ)

    def required(part: str, found: Mapping[str, int]) -> int:
        if part not in found:
            raise tokens.error(place, f"node {name!r} has no {part}; give it")
        return found[part]

    kind = _text(tokens, required("TYPE", parts))
    if kind not in NUMBERS_OF:
        raise tokens.error(
            parts["TYPE"], f"a node of type {kind[:40]!r} is no part of a Bayesian network of tables; make it a CPT"
        )
    parents = _list(tokens, required("PARENTS", parts))
    definition = _once(tokens, _part(tokens, required("DEFINITION", parts)), DEFINITION)
    states = _list(tokens, required("NAMESTATES", definition))
    required(NUMBERS_OF[kind], definition)
    properties = _properties(tokens, parts.get(USER))
    named = dict(properties)
    header = [(ABOUT[one], _text(tokens, at)) for one, at in _part(tokens, parts.get("HEADER")) if one in ABOUT]
    properties += [one for one in header if one[0] not in named and one[1] not in ("", name, tokens.words[place])]
    variable = DeclaredVariable(
        name,
        tuple(map(name_of, tokens.names(states.place_of(0), states.place_of(len(states.words)), "a state"))),
        place,
        range(states.place_of(0), states.place_of(len(states.words))),
        tuple(properties),
    )
    checks.declare(variable)
    places = range(parents.place_of(0), parents.place_of(len(parents.words)))
    parent_set = ParentSet(
        name, tuple(map(name_of, tokens.names(places.start, places.stop, "a parent"))), place, places
    )
    return _DeclaredNode(kind, parent_set, definition)


def _node(
    tokens: Tokens, checks: NetworkChecks, one: _DeclaredNode, shape: tuple[int, ...], name_of: Callable[[str], str]
) -> NodeDocument:
    parent_set = one.parent_set
    given = _list(tokens, one.definition[NUMBERS_OF[one.type]])
    if one.type == "TRUTHTABLE":
        return deterministic_node(checks, parent_set, shape, given, name_of)
    if one.type == "NOISY_MAX":
        if "STRENGTHS" not in one.definition and parent_set.parents:
            raise tokens.error(parent_set.place, f"node {parent_set.name!r} has no STRENGTHS; give it")
        orders = _list(tokens, one.definition["STRENGTHS"]) if parent_set.parents else WordsAt([], given.place_of)
        return noisy_node(checks, parent_set, shape, given, orders)
    values = checks.numbers(given.words, given.place_of, prod(shape), f"the table of {parent_set.name!r}")
    table = checks.table(values, shape, parent_set.name, lambda row: given.place_of(row * shape[-1]))
    return checks.node(parent_set, table)


def write(document: NetworkDocument) -> Written:
    """Write a network: parents first, and names that are no identifiers escaped.

    >>> import numpy as np
    >>> node = NodeDocument("a", ("yes", "no"), (), np.array([0.2, 0.8]))
    >>> print(write(NetworkDocument("n", (node,))).text)
    net n
    {
     node a
      {
       TYPE = CPT;
       HEADER = { ID = a; NAME = "a"; };
       PARENTS = ();
       DEFINITION =
        {
         NAMESTATES = (yes, no);
         PROBABILITIES = (0.2, 0.8);
        };
      };
    };
    <BLANKLINE>
    """
    ready = WritableNetwork.of(document, _can_carry)
    marks = [f"{MARK} = {ESCAPED};"] if ready.is_escaped else []
    lines = [f"net {ready.names[document.name]}", "{", *_user_properties(document.properties, " ", marks)]
    for node in ready.nodes:
        lines += _lines(node, ready.names)
    return Written("\n".join([*lines, "};"]) + "\n", ready.notes)


def _lines(node: NodeDocument, names: Mapping[str, str]) -> list[str]:
    name = names[node.name]
    definition = [f"NAMESTATES = ({', '.join([names[state] for state in node.states])});"]
    if node.kind == "deterministic":
        kind = "TRUTHTABLE"
        results = [names[node.states[code]] for code in node.table.argmax(axis=-1).reshape(-1)]
        definition.append(f"RESULTINGSTATES = ({', '.join(results)});")
    elif is_noisy_max(node):
        kind = "NOISY_MAX"
        definition.append(f"STRENGTHS = ({', '.join(written_strengths(node))});")
        definition.append(f"PROBABILITIES = ({', '.join(written_parameters(node))});")
    else:
        kind = "CPT"
        definition.append(f"PROBABILITIES = ({written_numbers(node.table, ', ')});")
    label = quoted(dict(filter(_can_carry, node.properties)).get("label", node.name))
    parents = ", ".join([names[parent] for parent in node.parents])
    lines = [f"TYPE = {kind};", f"HEADER = {{ ID = {name}; NAME = {label}; }};"]
    lines += [
        *_user_properties(node.properties, ""),
        f"PARENTS = ({parents});",
        "DEFINITION =",
        " {",
        *(f"  {line}" for line in definition),
        " };",
    ]
    return [f" node {name}", "  {", *(f"   {line}" for line in lines), "  };"]


def _user_properties(properties: tuple[Property, ...], indent: str, marks: Sequence[str] = ()) -> list[str]:
    lines = [f"{indent}  {name} = {quoted(value)};" for name, value in filter(_can_carry, properties)]
    lines = [*(f"{indent}  {mark}" for mark in marks), *lines]
    return [f"{indent}{USER} =", f"{indent} {{", *lines, f"{indent} }};"] if lines else []


def _can_carry(one: Property) -> bool:
    return is_identifier(one[0]) and not CONTINUED.search(one[1]) and one[0] != MARK
