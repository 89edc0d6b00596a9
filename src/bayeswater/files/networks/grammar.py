"""What the text formats of networks have in common: opening, attributes, types, properties, rows of tables.

Attributes ``name = value;`` of NET and DSC are read as properties: a value in quotes is its text, any other its words.
BIF and DSC give the type of a variable as ``type discrete [ 2 ] { yes, no };``. A property that is one text,
``position = (218, 195)``, is a name and a value.

BIF and DSC give tables row by row, each after the states of the parents:

    (yes, no) 0.1, 0.9;
    default 0.5, 0.5;

A table with all its rows, each complete, has its brackets, labels and numbers at regular distances: it is read by
slices of the list of words. Any other is read row by row, which finds the defaults, or what is wrong.
"""

import re
from collections.abc import Callable
from math import prod

import numpy as np

from bayeswater.files.networks.checks import NetworkChecks, ParentSet
from bayeswater.files.networks.document import Property
from bayeswater.files.networks.names import is_identifier
from bayeswater.files.networks.tokens import SIGNS, Text, Tokens, decoded, is_name, quoted, unquoted
from bayeswater.records import record
from bayeswater.typing import Array


def opened(
    content: str | bytes, path: str, words: re.Pattern[str], tolerance: float | None
) -> tuple[Tokens, NetworkChecks]:
    """Give the words of a file, and the checks that note what was found; its encoding is their first note."""
    text, notes = decoded(content, path)
    tokens = Tokens(Text(path, text), words)
    checks = NetworkChecks(tokens, tolerance)
    checks.notes += notes
    return tokens, checks


PLAIN = re.compile(r"-?\d+(\.\d+)?|\((-?\d+(\.\d+)?( -?\d+(\.\d+)?)*)?\)")
"""Values that are written without quotes: numbers, and lists of them."""


def read_value(tokens: Tokens) -> str:
    """Step over a value and its semicolon."""
    start = tokens.at
    stop = tokens.find(";", start)
    if stop == start + 1 and is_name(tokens.words[start]):  # as most are
        tokens.at = stop + 1
        return unquoted(tokens.words[start])
    words = tokens.words[start:stop]
    for place, word in enumerate(words, start):
        if word not in ("(", ")") and not is_name(word):
            tokens.at = place
            raise tokens.expected("';'")
    tokens.at = stop + 1
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def written_value(value: str) -> str:
    """Write a value, in quotes unless it is made of numbers.

    >>> written_value("(28 29)"), written_value("Positive X-ray?")
    ('(28 29)', '"Positive X-ray?"')
    """
    return value if PLAIN.fullmatch(value) else quoted(value)


def is_attribute(one: Property) -> bool:
    """Tell whether a property can be an attribute: its name is an identifier."""
    return is_identifier(one[0])


def read_type(tokens: Tokens, checks: NetworkChecks, name: str) -> tuple[tuple[str, ...], range]:
    """Read the states of a variable, and their places, from the word ``discrete`` on."""
    tokens.expect("discrete", "[")
    size_place, size = tokens.at, tokens.name("a number of states")
    start = tokens.expect("]", "{") + 2
    stop = tokens.find("}", start)
    states = tokens.names(start, stop, "a state")
    tokens.at = stop
    tokens.expect("}", ";")
    checks.require_size(name, size, len(states), size_place)
    return states, range(start, stop)


def property_of(text: str) -> Property:
    """Take a text apart; one without an equals sign is a remark, with no name.

    >>> property_of("position = (218, 195)"), property_of("made by hand")
    (('position', '(218, 195)'), ('', 'made by hand'))
    """
    name, equals, value = text.partition("=")
    return (name.strip(), value.strip()) if equals else ("", text.strip())


def property_text(one: Property) -> str:
    """Put name and value together."""
    name, value = one
    return f"{name} = {value}".rstrip() if name else value


@record
class TableWords:
    """The words of a table between its braces, from `start` to before `stop`."""

    parent_set: ParentSet
    start: int
    stop: int


def read_block(tokens: Tokens, name_of: Callable[[str], str]) -> TableWords:
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
    return TableWords(ParentSet(name, tuple(parents), place, range(start, start + len(parents))), body, stop)


@record
class RowLabels:
    """How the states of the parents are written: for each parent a code by label, and its place value in a row."""

    codes: list[dict[str, int]]
    strides: list[int]
    label_of: Callable[[str], str]

    def row(self, tokens: Tokens, start: int, stop: int, parent_set: ParentSet) -> int:
        """Find the row that labels tell."""
        labels = tokens.words[start:stop]
        if len(labels) != len(self.codes):
            raise tokens.error(
                start - 1,
                f"{parent_set.name!r} has {len(self.codes)} parents, and this row has {len(labels)} of their states",
            )
        row = 0
        for i, label in enumerate(labels):
            code = self.codes[i].get(label)
            if code is None:
                code = self.codes[i].get(self.label_of(label))
            if code is None or label in SIGNS:
                known = ", ".join(map(repr, list(self.codes[i])[:10]))
                found = unquoted(label)[:40]
                raise tokens.error(start + i, f"{parent_set.parents[i]!r} has no state {found!r}; it has {known}")
            row += code * self.strides[i]
        return row


def row_labels(codes: list[dict[str, int]], shape: tuple[int, ...], label_of: Callable[[str], str]) -> RowLabels:
    """Count rows with the states of the last parent running fastest."""
    return RowLabels(codes, [prod(shape[i + 1 : -1]) for i in range(len(codes))], label_of)


def read_rows(
    tokens: Tokens, checks: NetworkChecks, block: TableWords, shape: tuple[int, ...], labels: RowLabels
) -> Array:
    """Read the rows of a table, in whatever order they come."""
    rows = _regular(tokens, block, shape, labels)
    return (
        _one_by_one(tokens, checks, block, shape, labels)
        if rows is None
        else _slices(tokens, checks, block, shape, rows)
    )


def _regular(tokens: Tokens, block: TableWords, shape: tuple[int, ...], labels: RowLabels) -> Array | None:
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


def _slices(tokens: Tokens, checks: NetworkChecks, block: TableWords, shape: tuple[int, ...], rows: Array) -> Array:
    """Read the numbers of all rows at once, state by state."""
    n_rows, n_states, name = len(rows), shape[-1], block.parent_set.name
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
    tokens: Tokens, checks: NetworkChecks, block: TableWords, shape: tuple[int, ...], labels: RowLabels
) -> Array:
    words, parent_set, n_states = tokens.words, block.parent_set, shape[-1]
    what = f"the table of {parent_set.name!r}"
    rows: dict[int, int] = {}  # the place of the first number of a row, by the row
    default = -1
    numbers: list[str] = []
    at = block.start
    while at < block.stop:
        if words[at] == "(":
            first = tokens.find(")", at, block.stop) + 1
            row = labels.row(tokens, at + 1, first - 1, parent_set)
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
        raise tokens.error(block.stop, _missing(checks, parent_set, rows, shape))
    starts = sorted([*rows.values(), *([default] if default >= 0 else [])])
    values = checks.numbers(numbers, lambda k: starts[k // n_states] + k % n_states, None, what)
    values = values.reshape(-1, n_states)
    values = checks.table(values, values.shape, parent_set.name, lambda r: starts[r])
    if default >= 0:
        checks.reserve(shape, parent_set.place)
        which = starts.index(default)
        table = np.tile(values[which], (n_rows, 1))
        values = np.delete(values, which, axis=0)
    else:
        table = np.empty((n_rows, n_states))
    table[list(rows)] = values
    return table.reshape(shape)


def _missing(checks: NetworkChecks, parent_set: ParentSet, rows: dict[int, int], shape: tuple[int, ...]) -> str:
    if not parent_set.parents:
        return f"the table of {parent_set.name!r} is empty; give its probabilities"
    row = next(row for row in range(len(rows) + 1) if row not in rows)
    codes = []
    for n_states in reversed(shape[:-1]):
        row, code = divmod(row, n_states)
        codes.append(code)
    states = [
        checks.variables[parent].states[code] for parent, code in zip(parent_set.parents, reversed(codes), strict=True)
    ]
    return (
        f"the table of {parent_set.name!r} has {len(rows)} of {prod(shape[:-1])} rows, and no default; the one of "
        f"({', '.join(states)}) is missing"
    )
