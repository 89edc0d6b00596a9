"""BIF, the Interchange Format (0.15, as JavaBayes and bnlearn write it).

    network asia { property "author = L & S" ; }
    variable smoke { type discrete [ 2 ] { yes, no }; }
    probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }

Commas are white space, and so is the bar behind the first name; names stand bare (also ``<5`` and ``Asy/Patch``) or in
quotes. A table is given row by row, each after the states of its parents, with ``default`` for the rows that are not
there; or all at once after ``table``, where the variable's own states run slowest and those of the last parent fastest.
"""

import re
from dataclasses import replace
from math import prod

import numpy as np

from bayeswater.files.networks.checks import DeclaredVariable, NetworkChecks, require_writable
from bayeswater.files.networks.document import NetworkDocument, NodeDocument, Property, Written
from bayeswater.files.networks.grammar import (
    TableWords,
    opened,
    property_of,
    property_text,
    read_block,
    read_rows,
    read_type,
    row_labels,
)
from bayeswater.files.networks.names import configurations, loss_notes, written_numbers
from bayeswater.files.networks.tokens import (
    SLASH_COMMENTS,
    STRING,
    Tokens,
    is_name,
    is_string,
    quoted,
    unquoted,
    word_pattern,
)
from bayeswater.typing import Array

PROPERTY = rf'property\s(?:[^;"{{}}]|{STRING})*+;?'  # without its semicolon it is a word too, and refused as one
LETTERS = r'[^\s{}()\[\];,|"/]'
BARE = rf"(?:{LETTERS}|/(?![/*])){LETTERS}*+(?:/(?![/*]){LETTERS}*+)*+"
WORDS = word_pattern(r"\s,", SLASH_COMMENTS, rf"[{{}}()\[\];|]|{PROPERTY}|{BARE}|{STRING}")
BARE_NAME = re.compile(BARE)
BARE_PROPERTY = re.compile(r'(?!.*/[/*])[A-Za-z][A-Za-z0-9_]* [^\s;"{}](?:[^\r\n;"{}]*[^\s;"{}])?')
"""What every reader takes for a property as it stands; aGrUM takes none that begins with a quote."""


def read(content: str | bytes, path: str, tolerance: float | None = None) -> NetworkDocument:
    """Read a network.

    >>> text = "network n {} variable a { type discrete [2] { yes, no }; } probability ( a ) { table 0.2, 0.8; }"
    >>> read(text, "n.bif").nodes[0].table
    array([0.2, 0.8])
    """
    tokens, checks = opened(content, path, WORDS, tolerance)
    tokens.expect("network")
    name = tokens.name("the name of the network")
    properties = _network_properties(tokens)
    blocks = []
    while tokens.word:
        if tokens.take("variable"):
            checks.declare(_variable(tokens, checks))
        elif tokens.take("probability"):
            blocks.append(read_block(tokens, str))
        else:
            raise tokens.expected("'variable' or 'probability'")
    shapes = [checks.define(block.parent_set) for block in blocks]
    checks.require_whole()
    return checks.document(
        name, [_node(tokens, checks, *both) for both in zip(blocks, shapes, strict=True)], properties
    )


def _network_properties(tokens: Tokens) -> list[Property]:
    tokens.expect("{")
    properties = []
    while not tokens.take("}"):
        properties.append(_property(tokens, "'}' or a property"))
    return properties


def _property(tokens: Tokens, what: str) -> Property:
    word = tokens.word
    if not is_property(word):
        open_one = re.match(r"property\s", word)
        raise tokens.error(tokens.at, "this property has no ';' at its end") if open_one else tokens.expected(what)
    tokens.at += 1
    body = word[len("property") : -1].strip()
    return property_of(unquoted(body) if is_string(body) else body)


def is_property(word: str) -> bool:
    """Tell a whole property from other words."""
    return word.endswith(";") and word.startswith("property")


def _variable(tokens: Tokens, checks: NetworkChecks) -> DeclaredVariable:
    place = tokens.at
    name = tokens.name("the name of a variable")
    tokens.expect("{")
    properties: list[Property] = []
    states: tuple[str, ...] | None = None
    places = range(0)
    while not tokens.take("}"):
        if states is None and tokens.take("type"):
            states, places = read_type(tokens, checks, name)
        else:
            properties.append(_property(tokens, "'type', 'property' or '}'" if states is None else "'property' or '}'"))
    if states is None:
        raise tokens.error(place, f"variable {name!r} has no type; write type discrete [ 2 ] {{ yes, no }};")
    return DeclaredVariable(name, states, place, places, tuple(properties))


def _node(tokens: Tokens, checks: NetworkChecks, block: TableWords, shape: tuple[int, ...]) -> NodeDocument:
    block = _without_properties(tokens, checks, block)
    if tokens.words[block.start] == "table":
        table = _whole(tokens, checks, block, shape)
    else:
        codes = [checks.variables[parent].codes for parent in block.parent_set.parents]
        table = read_rows(tokens, checks, block, shape, row_labels(codes, shape, unquoted))
    return checks.node(block.parent_set, table)


def _without_properties(tokens: Tokens, checks: NetworkChecks, block: TableWords) -> TableWords:
    """Step over properties before and behind the numbers; properties of tables are dropped, and noted."""
    start, stop = block.start, block.stop
    while start < stop and is_property(tokens.words[start]):
        start += 1
    while start < stop and is_property(tokens.words[stop - 1]):
        stop -= 1
    dropped = [*tokens.words[block.start : start], *tokens.words[stop : block.stop]]
    if not dropped:
        return block
    checks.notes.append(f"properties of the table of {block.parent_set.name!r} were dropped: {' '.join(dropped)[:100]}")
    return replace(block, start=start, stop=stop)


def _whole(tokens: Tokens, checks: NetworkChecks, block: TableWords, shape: tuple[int, ...]) -> Array:
    """Read what follows ``table``, which has to be all there is."""
    name, start = block.parent_set.name, block.start + 1
    end = tokens.find(";", start, block.stop)
    values = checks.numbers(tokens.words[start:end], lambda k: start + k, prod(shape), f"the table of {name!r}")
    if end + 1 < block.stop:
        tokens.at = end + 1
        raise tokens.expected("'}'")
    by_row = np.ascontiguousarray(values.reshape(shape[-1], -1).T)
    return checks.table(by_row, shape, name, lambda r: start + r)


def write(document: NetworkDocument) -> Written:
    """Write a network, with a bare name wherever one can stand bare.

    >>> import numpy as np
    >>> node = NodeDocument("a b", ("yes", "no"), (), np.array([0.2, 0.8]))
    >>> print(write(NetworkDocument("n", (node,))).text)
    network n {
    }
    variable "a b" {
      type discrete [ 2 ] { yes, no };
    }
    probability ( "a b" ) {
      table 0.2, 0.8;
    }
    <BLANKLINE>
    """
    require_writable(document)
    states = {node.name: node.states for node in document.nodes}
    lines = [f"network {_name(document.name)} {{", *_properties(document.properties), "}"]
    for node in document.nodes:
        labels = ", ".join(map(_name, node.states))
        lines += [f"variable {_name(node.name)} {{", f"  type discrete [ {len(node.states)} ] {{ {labels} }};"]
        lines += [*_properties(node.properties), "}"]
    for node in document.nodes:
        given = f" | {', '.join(map(_name, node.parents))}" if node.parents else ""
        lines.append(f"probability ( {_name(node.name)}{given} ) {{")
        if node.parents:
            labels_of = [tuple(map(_name, states[parent])) for parent in node.parents]
            rows = node.table.reshape(-1, len(node.states))
            for row, codes in zip(rows, configurations(node.table.shape[:-1]), strict=True):
                config = ", ".join([labels[code] for labels, code in zip(labels_of, codes, strict=True)])
                lines.append(f"  ({config}) {written_numbers(row, ', ')};")
        else:
            lines.append(f"  table {written_numbers(node.table, ', ')};")
        lines.append("}")
    return Written("\n".join(lines) + "\n", tuple(loss_notes(document, _can_carry, _can_carry)))


def _can_carry(one: Property) -> bool:
    return property_of(property_text(one)) == one


def _properties(properties: tuple[Property, ...]) -> list[str]:
    texts = [property_text(one) for one in properties if _can_carry(one)]
    return [f"  property {text if BARE_PROPERTY.fullmatch(text) else quoted(text)} ;" for text in texts]


def _name(name: str) -> str:
    return name if BARE_NAME.fullmatch(name) and name != "property" and is_name(name) else quoted(name)
