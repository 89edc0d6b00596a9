"""UAI, the format of the inference competitions: numbers alone, for networks without names.

    BAYES
    2                      variables
    2 3                    their numbers of states
    2                      tables
    1 0                    scope of the first: one variable, number 0
    2 0 1                  scope of the second: the variable stands behind its parents
    2   0.4 0.6            the first: how many numbers, and the numbers, the last variable running fastest
    6   0.1 0.2 0.7 0.3 0.3 0.4

Variables are read as ``x0``, ``x1``, ... with states ``0``, ``1``, ...; what a network is called, and its names and
properties, cannot be written. The format has no comments; aGrUM writes some, from ``#`` to the end of the line.
"""

import re
from math import prod

from bayeswater.files.networks.checks import DeclaredVariable, NetworkChecks, ParentSet, require_writable
from bayeswater.files.networks.document import UNTITLED, NetworkDocument, NodeDocument, Written
from bayeswater.files.networks.grammar import opened
from bayeswater.files.networks.names import loss_notes, nothing, some, written_numbers
from bayeswater.files.networks.tokens import Tokens

WORDS = re.compile(r"(?:\s|#[^\r\n]*+)*+(\S++|\Z)")
COMMENT = re.compile(r"(?<!\S)#")
COUNT = re.compile(r"[0-9]{1,9}")


def read(content: str | bytes, path: str, tolerance: float | None = None) -> NetworkDocument:
    r"""Read a network.

    >>> network = read("BAYES 2  2 2  2  1 0  2 0 1  2 0.2 0.8  4 0.1 0.9 0.5 0.5", "n.uai")
    >>> network.nodes[1].parents, network.nodes[1].table.tolist()
    (('x0',), [[0.1, 0.9], [0.5, 0.5]])
    """
    tokens, checks = opened(content, path, WORDS, tolerance)
    if tokens.word.upper() == "MARKOV":
        raise tokens.error(0, "a Markov network is no Bayesian network; a file of one begins with BAYES")
    if tokens.word.upper() != "BAYES":
        raise tokens.expected("'BAYES'")
    tokens.at = 1
    n_left = len(tokens.words)  # no more states than words, since a table has a number for each
    for number in range(_count(tokens, "the number of variables")):
        place = tokens.at
        n_states = _count(tokens, f"the number of states of variable {number}")
        n_left -= n_states
        if n_left < 0:
            raise tokens.error(place, f"variable {number} has {n_states} states, and the file is too short for a table")
        checks.declare(
            DeclaredVariable(f"x{number}", tuple(map(str, range(n_states))), place, range(place, place + n_states))
        )
    place = tokens.at
    n_tables = _count(tokens, "the number of tables")
    if n_tables != len(checks.variables):
        raise tokens.error(place, f"{len(checks.variables)} variables need as many tables, not {n_tables}")
    parent_sets = [_parent_set(tokens, len(checks.variables)) for _ in range(n_tables)]
    shapes = [checks.define(parent_set) for parent_set in parent_sets]
    checks.require_whole()
    nodes = [_node(tokens, checks, parent_set, shape) for parent_set, shape in zip(parent_sets, shapes, strict=True)]
    if tokens.word:
        raise tokens.expected("the end of the file")
    if COMMENT.search(tokens.text.text):
        checks.notes += _other_order(nodes)
    return checks.document("", nodes)


def _other_order(nodes: list[NodeDocument]) -> list[str]:
    """Tell of tables that may be laid out otherwise, as in XDSL: aGrUM lets the first parent run fastest."""
    doubtful = [repr(node.name) for node in nodes if len(node.parents) > 1]
    if not doubtful:
        return []
    return [
        "it has comments, as aGrUM writes them: up to 3.3.1 it writes tables of several parents in another order than "
        f"the format has, so those of {some(doubtful)} may be wrong; let aGrUM write BIF instead, or check them"
    ]


def _count(tokens: Tokens, what: str) -> int:
    if not COUNT.fullmatch(tokens.word):
        raise tokens.expected(what)
    tokens.at += 1
    return int(tokens.words[tokens.at - 1])


def _parent_set(tokens: Tokens, n_variables: int) -> ParentSet:
    start = tokens.at + 1
    size = _count(tokens, "the number of variables of a table")
    if size == 0:
        raise tokens.error(start - 1, "a table needs at least its own variable")
    scope = []
    for _ in range(size):
        number = _count(tokens, f"the number of a variable, from 0 to {n_variables - 1}")
        if number >= n_variables:
            raise tokens.error(tokens.at - 1, f"there is no variable {number}; they go from 0 to {n_variables - 1}")
        scope.append(f"x{number}")
    place = start + size - 1
    return ParentSet(scope[-1], tuple(scope[:-1]), place, range(start, place))


def _node(tokens: Tokens, checks: NetworkChecks, parent_set: ParentSet, shape: tuple[int, ...]) -> NodeDocument:
    what = f"the table of {parent_set.name!r}"
    place = tokens.at
    n_given = _count(tokens, f"how many numbers {what} has")
    if n_given != prod(shape):
        raise tokens.error(place, f"{what} needs {prod(shape)} numbers, and {n_given} are announced")
    start = tokens.at
    words = tokens.words[start : start + n_given]
    if not words[-1:] or not words[-1] or len(words) < n_given:
        tokens.at = len(tokens.words) - 1
        raise tokens.expected(f"{n_given} numbers of {what}")
    values = checks.numbers(words, lambda k: start + k, n_given, what)
    tokens.at += n_given
    table = checks.table(values, shape, parent_set.name, lambda r: start + r * shape[-1])
    return checks.node(parent_set, table)


def write(document: NetworkDocument) -> Written:
    """Write a network without its names; the notes say which.

    >>> import numpy as np
    >>> written = write(NetworkDocument("", (NodeDocument("rain", ("0", "1"), (), np.array([0.2, 0.8])),)))
    >>> written.text.split()
    ['BAYES', '1', '2', '1', '1', '0', '2', '0.2', '0.8']
    >>> written.notes
    ("the format has no names: 'rain' became x0",)
    """
    require_writable(document)
    number = {node.name: i for i, node in enumerate(document.nodes)}
    lines = ["BAYES", str(len(document.nodes)), " ".join(str(len(node.states)) for node in document.nodes)]
    lines.append(str(len(document.nodes)))
    for node in document.nodes:
        scope = [number[name] for name in (*node.parents, node.name)]
        lines.append(" ".join(map(str, [len(scope), *scope])))
    for node in document.nodes:
        lines += ["", str(node.table.size), " " + written_numbers(node.table, " ")]
    renamed = [f"{node.name!r} became x{i}" for i, node in enumerate(document.nodes) if node.name != f"x{i}"]
    numbered = {len(node.states): tuple(map(str, range(len(node.states)))) for node in document.nodes}
    relabelled = [f"those of {node.name!r}" for node in document.nodes if node.states != numbered[len(node.states)]]
    notes = [f"the format has no names: {some(renamed)}"] if renamed else []
    if document.name not in ("", UNTITLED):
        notes.append(f"the format has no name for the network: {document.name!r} was dropped")
    if relabelled:
        notes.append(f"the format has no names of states, they became 0, 1, ...: {some(relabelled)}")
    return Written("\n".join(lines) + "\n", (*notes, *loss_notes(document, nothing, nothing)))
