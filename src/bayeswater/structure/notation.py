r"""A graph in one line of text: ``smoke -> cancer <- pollution; cancer -> xray``.

    graph     = [chain] {(";" | line break) [chain]}
    chain     = name {("->" | "<-") name}
    name      = characters without blanks and ; " < > , [ ] { } |
              or any characters between double quotes (\", \\ and \n inside)

A name alone is a node without edges. From ``#`` to the end of a line is a comment, where it stands before a word.

A text that begins with a bracket is a model string of R's bnlearn: ``[smoke][pollution][cancer|smoke:pollution]``.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bayeswater.errors import ParameterError

TOKEN = re.compile(
    r"""
    (?P<blank>[^\S\n]+|\#[^\n]*)
    |(?P<end>;|\n)
    |(?P<arrow>->|<-(?!>))
    |"(?P<quoted>(?:[^"\\\n]|\\["\\n])*)"
    |(?P<bare>(?:(?!->)[^\s;"<>,\[\]{}|])+)
    """,
    re.VERBOSE,
)


OF_BNLEARN = re.compile(r"\[([^][|:]+)(?:\|([^][|]+))?\]\s*")


class Token(NamedTuple):
    """A piece of the text: its kind, what it says, and where it begins."""

    kind: str
    value: str
    place: int


def read_edges(text: str, *, both_ways: bool = False) -> tuple[list[str], list[tuple[str, str]]]:
    """Read the nodes in the order in which they are named, and the edges (parent, child).

    >>> read_edges("a -> b <- c; d")
    (['a', 'b', 'c', 'd'], [('a', 'b'), ('c', 'b')])
    >>> read_edges("a -> b - c")
    Traceback (most recent call last):
        ...
    bayeswater.errors.ParameterError: an arrow, -> or <-, is needed between two names, and not '-', at line 1, column 8:
      a -> b - c
             ^
    >>> read_edges("[a][c][b|a:c]")
    (['a', 'c', 'b'], [('a', 'b'), ('c', 'b')])
    """
    if text.lstrip().startswith("["):
        return _of_bnlearn(text)
    nodes: dict[str, None] = {}
    edges: dict[tuple[str, str], None] = {}
    last: Token | None = None  # the name before
    arrow: Token | None = None  # and the arrow that leads on from it
    for token in _tokens(text):
        if token.kind == "end":
            if arrow is not None:
                raise error_at(text, arrow.place, f"{arrow.value!r} leads from {last and last.value!r} to no name")
            last = None
        elif token.kind == "arrow":
            if last is None or arrow is not None:
                raise error_at(text, token.place, f"{token.value!r} needs a name before it")
            arrow = token
        else:
            nodes[token.value] = None
            if last is not None:
                if arrow is None:
                    what = f"an arrow, -> or <-, is needed between two names, and not {token.value!r}"
                    raise error_at(text, token.place, what)
                edge = (last.value, token.value) if arrow.value == "->" else (token.value, last.value)
                if edge in edges:
                    raise error_at(text, arrow.place, f"the edge {edge[0]} -> {edge[1]} occurs more than once")
                if (edge[::-1] in edges or edge[0] == edge[1]) and not both_ways:
                    raise error_at(text, arrow.place, f"{edge[0]} -> {edge[1]} closes a cycle of {len(set(edge))}")
                edges[edge] = None
            last, arrow = token, None
    return list(nodes), list(edges)


def _of_bnlearn(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Read a model string: each node in brackets, and behind a bar its parents, with colons between."""
    nodes, edges, place = list[str](), list[tuple[str, str]](), len(text) - len(text.lstrip())
    while place < len(text):
        found = OF_BNLEARN.match(text, place)
        if found is None:
            raise error_at(text, place, "a model string has [node], or [node|parent:parent], for each node")
        if found[1] in nodes:
            raise error_at(text, place, f"the node {found[1]!r} occurs more than once")
        nodes.append(found[1])
        edges += [(parent, found[1]) for parent in found[2].split(":")] if found[2] else []
        place = found.end()
    unknown = next((parent for parent, _ in edges if parent not in nodes), None)
    if unknown is not None:
        raise error_at(text, text.index(unknown), f"the parent {unknown!r} has no bracket of its own")
    return nodes, edges


def _tokens(text: str) -> Iterator[Token]:
    """Cut a text into its pieces, with an end behind the last."""
    place = 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise error_at(text, place, _junk(text, place))
        kind = found.lastgroup or ""
        if kind == "quoted":
            yield Token("name", _unescaped(text, place, found["quoted"]), place)
        elif kind != "blank":
            yield Token("name" if kind == "bare" else kind, found[kind], place)
        place = found.end()
    yield Token("end", "", len(text))


def _unescaped(text: str, place: int, quoted: str) -> str:
    if not quoted:
        raise error_at(text, place, "a name between quotes is empty")
    return re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], quoted)


def _junk(text: str, place: int) -> str:
    if text[place] == '"':
        return "a quote is opened and not closed on this line"
    if text.startswith("<->", place):
        return "an edge has one direction, -> or <-, and not both"
    return f"{text[place]!r} means nothing here; names with such characters stand between double quotes"


def error_at(text: str, place: int, what: str) -> ParameterError:
    """Say what is wrong, and show the line with a caret under the place."""
    line_start = text.rfind("\n", 0, place) + 1
    line = text[line_start:].split("\n", 1)[0]
    column = place - line_start
    row = text.count("\n", 0, place) + 1
    shift = "".join("\t" if character == "\t" else " " for character in line[:column])
    return ParameterError(f"{what}, at line {row}, column {column + 1}:\n  {line}\n  {shift}^")


def quoted(name: str) -> str:
    """Write a name so that it is read as one.

    >>> quoted("cancer"), quoted("lung cancer")
    ('cancer', '"lung cancer"')
    """
    found = TOKEN.fullmatch(name)
    if found is not None and found.lastgroup == "bare":
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
