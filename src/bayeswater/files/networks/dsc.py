"""DSC, the format of Microsoft's MSBN (also of bnlearn).

    belief network "asia"
    node smoke { type : discrete [ 2 ] = { "yes", "no" }; }
    probability ( lung | smoke ) { (0) : 0.1, 0.9; (1) : 0.01, 0.99; }

Commas, colons and equals signs are white space. Rows are told by the numbers of the parents' states, from zero. Names
of nodes are identifiers, states are strings.
"""

from collections.abc import Callable

from bayeswater.files.networks.checks import DeclaredVariable, NetworkChecks, require_writable
from bayeswater.files.networks.document import NetworkDocument, Property, Written
from bayeswater.files.networks.grammar import (
    TableWords,
    is_attribute,
    opened,
    read_block,
    read_rows,
    read_type,
    read_value,
    row_labels,
    written_value,
)
from bayeswater.files.networks.names import (
    ESCAPED,
    MARK,
    configurations,
    escape_note,
    is_identifier,
    loss_notes,
    unescaped,
    written_names,
    written_numbers,
)
from bayeswater.files.networks.tokens import SIGNS, SLASH_COMMENTS, STRING, Tokens, is_string, quoted, word_pattern
from bayeswater.typing import Array

WORDS = word_pattern(r"\s,:=", SLASH_COMMENTS, rf'(?:[^\s,:={{}}()\[\];|"/]++|/(?![/*]))++|{STRING}')


def read(content: str | bytes, path: str, tolerance: float | None = None) -> NetworkDocument:
    """Read a network.

    >>> text = 'belief network "n" node a { type : discrete [2] = { "yes", "no" }; } probability ( a ) { 0.2, 0.8; }'
    >>> read(text, "n.dsc").nodes[0].table
    array([0.2, 0.8])
    """
    tokens, checks = opened(content, path, WORDS, tolerance)
    tokens.expect("belief", "network")
    name = tokens.name("the name of the network") if is_string(tokens.word) else ""
    attributes = _attributes(tokens) if tokens.take("properties") else []
    name_of: Callable[[str], str] = unescaped if (MARK, ESCAPED) in attributes else str
    blocks: list[TableWords] = []
    while tokens.word:
        if tokens.take("node"):
            checks.declare(_variable(tokens, checks, name_of))
        elif tokens.take("probability"):
            blocks.append(read_block(tokens, name_of))
        else:
            raise tokens.expected("'node' or 'probability'")
    shapes = [checks.define(block.parent_set) for block in blocks]
    checks.require_whole()
    found = zip(blocks, shapes, strict=True)
    nodes = [checks.node(block.parent_set, _table(tokens, checks, block, shape)) for block, shape in found]
    return checks.document(name, nodes, [one for one in attributes if one[0] != MARK])


def _attributes(tokens: Tokens) -> list[Property]:
    tokens.expect("{")
    attributes = []
    while not tokens.take("}"):
        attributes.append((tokens.name("the name of a property, or '}'"), read_value(tokens)))
    return attributes


def _variable(tokens: Tokens, checks: NetworkChecks, name_of: Callable[[str], str]) -> DeclaredVariable:
    place = tokens.at
    name = name_of(tokens.name("the name of a node"))
    tokens.expect("{")
    properties: list[Property] = []
    states: tuple[str, ...] | None = None
    places = range(0)
    while not tokens.take("}"):
        if tokens.word == "type":
            if states is not None:
                raise tokens.error(tokens.at, f"node {name!r} has its type twice; leave one out")
            tokens.expect("type")
            states, places = read_type(tokens, checks, name)
        else:
            properties.append((tokens.name("'type', the name of a property, or '}'"), read_value(tokens)))
    if states is None:
        raise tokens.error(place, f'node {name!r} has no type; write type : discrete [ 2 ] = {{ "yes", "no" }};')
    return DeclaredVariable(name, states, place, places, tuple(properties))


def _table(tokens: Tokens, checks: NetworkChecks, block: TableWords, shape: tuple[int, ...]) -> Array:
    parent_set, start = block.parent_set, block.start
    if parent_set.parents or tokens.words[start] in SIGNS or tokens.words[start] == "default":
        codes = [{str(code): code for code in range(n_states)} for n_states in shape[:-1]]
        return read_rows(tokens, checks, block, shape, row_labels(codes, shape, str))
    end = tokens.find(";", start, block.stop)
    values = checks.numbers(tokens.words[start:end], lambda k: start + k, shape[0], f"the table of {parent_set.name!r}")
    if end + 1 < block.stop:
        tokens.at = end + 1
        raise tokens.expected("'}'")
    return checks.table(values, shape, parent_set.name, lambda r: start)


def write(document: NetworkDocument) -> Written:
    """Write a network; names of nodes that are no identifiers are escaped.

    >>> import numpy as np
    >>> from bayeswater.files.networks.document import NodeDocument
    >>> node = NodeDocument("a", ("yes", "no"), (), np.array([0.2, 0.8]))
    >>> print(write(NetworkDocument("n", (node,))).text)
    belief network "n"
    node a {
      type : discrete [ 2 ] = { "yes", "no" };
    }
    probability ( a ) {
       0.2, 0.8;
    }
    <BLANKLINE>
    """
    require_writable(document)
    names = written_names((node.name for node in document.nodes), is_identifier)
    attributes = [(MARK, ESCAPED)] if any(names[name] != name for name in names) else []
    attributes += filter(_can_carry_on_top, document.properties)
    lines = [f"belief network {quoted(document.name)}"]
    if attributes:
        lines += ["properties {", *_lines(attributes, "="), "}"]
    for node in document.nodes:
        states = ", ".join(map(quoted, node.states))
        lines += [f"node {names[node.name]} {{", f"  type : discrete [ {len(node.states)} ] = {{ {states} }};"]
        lines += [*_lines(list(filter(_can_carry, node.properties)), ":"), "}"]
    for node in document.nodes:
        given = f" | {', '.join([names[parent] for parent in node.parents])}" if node.parents else ""
        lines.append(f"probability ( {names[node.name]}{given} ) {{")
        rows = node.table.reshape(-1, len(node.states))
        for row, codes in zip(rows, configurations(node.table.shape[:-1]), strict=True):
            config = f"({', '.join(map(str, codes))}) :" if codes else ""
            lines.append(f"  {config} {written_numbers(row, ', ')};")
        lines.append("}")
    notes = [*escape_note(names, "identifiers"), *loss_notes(document, _can_carry_on_top, _can_carry)]
    return Written("\n".join(lines) + "\n", tuple(notes))


def _lines(properties: list[Property], sign: str) -> list[str]:
    return [f"  {name} {sign} {written_value(value)};" for name, value in properties]


def _can_carry(one: Property) -> bool:
    return is_attribute(one) and one[0] != "type"


def _can_carry_on_top(one: Property) -> bool:
    return is_attribute(one) and one[0] != MARK
