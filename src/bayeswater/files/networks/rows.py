"""Tables that are given row by row, each after the states of the parents, as BIF and DSC give them.

    (yes, no) 0.1, 0.9;
    default 0.5, 0.5;

A table with all its rows, each complete, has its brackets, labels and numbers at regular distances: it is read by
slices of the list of words. Any other is read row by row, which finds the defaults, or what is wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from bayeswater.files.networks.checks import Family, NetworkChecks
from bayeswater.files.networks.tokens import SIGNS, Tokens, unquoted
from bayeswater.typing import Array


@dataclass(frozen=True)
class Block:
    """The words of a table between its braces, from `start` to before `stop`."""

    family: Family
    start: int
    stop: int


def read_block(tokens: Tokens, name_of: Callable[[str], str]) -> Block:
    """Step over ``( name | parent parent ) { ... }``."""
    tokens.expect("(")
    place = tokens.at
    name = name_of(tokens.name("the name of a variable"))
    tokens.take("|")
    start = tokens.at
    parents = []
    while not tokens.take(")"):
        parents.append(name_of(tokens.name("the name of a parent, or ')'")))
    body = tokens.expect("{") + 1
    stop = tokens.at = tokens.find("}", body)
    tokens.expect("}")
    return Block(Family(name, tuple(parents), place, range(start, start + len(parents))), body, stop)


@dataclass(frozen=True)
class RowLabels:
    """How the states of the parents are written: for each parent a code by label, and its place value in a row."""

    codes: list[dict[str, int]]
    strides: list[int]
    label_of: Callable[[str], str]

    def row(self, tokens: Tokens, start: int, stop: int, family: Family) -> int:
        """Find the row that labels tell."""
        labels = tokens.words[start:stop]
        if len(labels) != len(self.codes):
            raise tokens.error(
                start - 1,
                f"{family.name!r} has {len(self.codes)} parents, and this row has {len(labels)} of their states",
            )
        row = 0
        for i, label in enumerate(labels):
            code = self.codes[i].get(label)
            if code is None:
                code = self.codes[i].get(self.label_of(label))
            if code is None or label in SIGNS:
                known = ", ".join(map(repr, list(self.codes[i])[:10]))
                found = unquoted(label)[:40]
                raise tokens.error(start + i, f"{family.parents[i]!r} has no state {found!r}; it has {known}")
            row += code * self.strides[i]
        return row


def row_labels(codes: list[dict[str, int]], shape: tuple[int, ...], label_of: Callable[[str], str]) -> RowLabels:
    """Count rows with the states of the last parent running fastest."""
    return RowLabels(codes, [prod(shape[i + 1 : -1]) for i in range(len(codes))], label_of)


def read_rows(tokens: Tokens, checks: NetworkChecks, block: Block, shape: tuple[int, ...], labels: RowLabels) -> Array:
    """Read the rows of a table, in whatever order they come."""
    rows = _regular(tokens, block, shape, labels)
    return (
        _one_by_one(tokens, checks, block, shape, labels)
        if rows is None
        else _slices(tokens, checks, block, shape, rows)
    )


def _regular(tokens: Tokens, block: Block, shape: tuple[int, ...], labels: RowLabels) -> Array | None:
    """Find which row stands where, if all are there and complete; None otherwise."""
    words, start, stop = tokens.words, block.start, block.stop
    n_rows, n_parents = prod(shape[:-1]), len(shape) - 1
    step = n_parents + shape[-1] + len("();")
    if stop - start != n_rows * step:
        return None
    signs = ((start, "("), (start + n_parents + 1, ")"), (start + step - 1, ";"))
    if any(words[at:stop:step].count(sign) < n_rows for at, sign in signs):
        return None
    codes_of = labels.codes
    found = [list(map(codes.get, words[start + 1 + i : stop : step])) for i, codes in enumerate(codes_of)]
    if any(None in own for own in found) or not all(map(SIGNS.isdisjoint, codes_of)):
        return None
    rows = np.array(labels.strides, dtype=np.int64) @ np.array(found, dtype=np.int64).reshape(n_parents, n_rows)
    return rows if len(set(rows.tolist())) == n_rows else None


def _slices(tokens: Tokens, checks: NetworkChecks, block: Block, shape: tuple[int, ...], rows: Array) -> Array:
    """Read the numbers of all rows at once, state by state."""
    n_rows, n_states, name = len(rows), shape[-1], block.family.name
    step = (block.stop - block.start) // n_rows
    first = block.start + len(shape) + 1  # behind "(", the labels of the parents and ")"
    numbers: list[str] = []
    for state in range(n_states):
        numbers += tokens.words[first + state : block.stop : step]
    values = checks.numbers(
        numbers, lambda k: first + k % n_rows * step + k // n_rows, len(numbers), f"the table of {name!r}"
    )
    values = checks.table(
        values.reshape(n_states, n_rows).T.copy(), (n_rows, n_states), name, lambda r: first + r * step
    )
    table = np.empty_like(values)
    table[rows] = values
    return table.reshape(shape)


def _one_by_one(
    tokens: Tokens, checks: NetworkChecks, block: Block, shape: tuple[int, ...], labels: RowLabels
) -> Array:
    words, family, n_states = tokens.words, block.family, shape[-1]
    what = f"the table of {family.name!r}"
    rows: dict[int, int] = {}  # the place of the first number of a row, by the row
    default = -1
    numbers: list[str] = []
    at = block.start
    while at < block.stop:
        if words[at] == "(":
            first = tokens.find(")", at, block.stop) + 1
            row = labels.row(tokens, at + 1, first - 1, family)
            if row in rows:
                raise tokens.error(at, f"{what} has this row twice; leave one out")
            rows[row] = first
        elif words[at] == "default" and default < 0:
            first = default = at + 1
        else:
            tokens.at = at
            raise tokens.expected("'(', 'default' or '}'")
        end = tokens.find(";", first, block.stop)
        if end - first != n_states:
            place, n_given = min(first + n_states, end), end - first
            raise tokens.error(place, f"this row of {what} needs {n_states} numbers, and {n_given} are given")
        numbers += words[first:end]
        at = end + 1
    n_rows = prod(shape[:-1])
    if default < 0 and len(rows) < n_rows:
        raise tokens.error(block.stop, _missing(checks, family, rows, shape))
    starts = sorted([*rows.values(), *([default] if default >= 0 else [])])
    values = checks.numbers(numbers, lambda k: starts[k // n_states] + k % n_states, None, what)
    values = values.reshape(-1, n_states)
    values = checks.table(values, values.shape, family.name, lambda r: starts[r])
    if default >= 0:
        checks.reserve(shape, family.place)
        which = starts.index(default)
        table = np.tile(values[which], (n_rows, 1))
        values = np.delete(values, which, axis=0)
    else:
        table = np.empty((n_rows, n_states))
    table[list(rows)] = values
    return table.reshape(shape)


def _missing(checks: NetworkChecks, family: Family, rows: dict[int, int], shape: tuple[int, ...]) -> str:
    if not family.parents:
        return f"the table of {family.name!r} is empty; give its probabilities"
    row = next(row for row in range(len(rows) + 1) if row not in rows)
    codes = []
    for n_states in reversed(shape[:-1]):
        row, code = divmod(row, n_states)
        codes.append(code)
    states = [
        checks.variables[parent].states[code] for parent, code in zip(family.parents, reversed(codes), strict=True)
    ]
    return (
        f"the table of {family.name!r} has {len(rows)} of {prod(shape[:-1])} rows, and no default; the one of "
        f"({', '.join(states)}) is missing"
    )
