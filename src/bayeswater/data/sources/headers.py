"""The header of a table: the rows that hold it, the lines above it and below it that are none, names of columns.

Above the header may stand lines with fewer cells: a title, a note, blank lines. They are passed over where the row
behind them looks like a header: most of its cells are words. Below it may stand units, or the questions of a survey.

A header has one name fewer than rows have cells where every row ends in a delimiter, or begins with its name, as R
writes it.
"""

import operator
import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise, takewhile

from bayeswater.data.reading.cell_style import MARKS
from bayeswater.data.sources.cut_rows import (
    COMMENT,
    MOST_LINES_ABOVE,
    Row,
    are_numbers,
    cells_of,
    is_number,
    is_torn,
    n_used_of,
)
from bayeswater.data.sources.reading_options import Reading
from bayeswater.errors import SchemaError

MOST_SAID = 20
"""Names of columns that a note lists, at most."""

PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
"""What a name is that is a number."""

YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
"""What a number may be among names below a note."""

FEW_STEPS = 10
"""Between two names that are whole numbers: they count something, years for one."""

IMPORT_ID = '{"ImportId"'
"""What the cells of the third header row of Qualtrics begin with."""

LEAST_STATES, MOST_STATES = 20, 10
"""Rows from which on, and different cells up to which, a column that repeats its cells shows a row that is none."""

LEAST_BELOW = 2
"""Rows below a second header by which it is told from a row."""

OF_TWO_ROWS = "the header has two rows, which are joined to names of columns"


def with_header(rows: list[Row], body: list[Row], width: int, reading: Reading) -> tuple[Row, list[Row], list[str]]:
    """Give the header, the rows below it, and what is said of those above it; comments are no part of `body`."""
    first, comment = rows.index(body[0]), reading.comment or COMMENT
    if first and len(rows[first - 1].cells) == width and _is_header_in_comment(rows[first - 1], body[0], comment):
        name, *others = rows[first - 1].cells
        return Row([name.removeprefix(comment).strip() or name, *others], rows[first - 1].end), body, []
    n_used = min(n_used_of(body), width)
    # a header may lack one name, as R writes it, but two short lines are none
    are_short = len(body[0].cells) < width - 1 or all(len(row.cells) < width for row in body[:2])
    place = 0
    while place < min(MOST_LINES_ABOVE, len(body) - 1) and (
        _is_note(body[place], width, n_used) or (are_short and len(body[place].cells) < width)
    ):
        place += 1
    if not place or not _is_header(body[place], body[place + 1 :], n_used):
        return _without_second(body[0], body[1:], [], reading)
    header, below = body[place], body[place + 1 :]
    names = joined_names(body[place - 1].cells, header.cells)
    if len({*filter(None, map(str.strip, header.cells))}) < header.n_filled and len({*names}) == len(names):
        place, header = place - 1, Row(names, header.end)
        return _without_second(header, below, [*passed_over(body[:place]), OF_TWO_ROWS], reading)
    return _without_second(header, below, passed_over(body[:place]), reading)


def passed_over(above: Sequence[Row]) -> list[str]:
    """Say which lines stand above the header; blank ones are no news."""
    shown = next((" ".join(filter(None, row.cells))[:60] for row in above if row.n_filled), "")
    are = "line above the header is" if len(above) == 1 else "lines above the header are"
    return [f"{len(above)} {are} passed over, from {shown!r}"] if shown else []


def joined_names(above: Sequence[str], below: Sequence[str]) -> list[str]:
    """Join names that stand over several columns, with blanks behind them, to those of the columns."""
    over, names = "", []
    for place, name in enumerate(map(str.strip, below)):
        over = (above[place].strip() if place < len(above) else "") or over
        names.append(f"{over} {name}".strip())
    return names


def _without_second(
    header: Row, below: list[Row], said: list[str], reading: Reading
) -> tuple[Row, list[Row], list[str]]:
    """Pass over units or questions below the names: words, where two columns have nothing but numbers below them.

    It is a row like others where such a column is said to be text.
    """
    second = [cell.strip() for cell in below[0].cells] if below else []
    if found := _survey(header, second, below):
        header, below, told = found
        return header, below, [*said, told]
    if len(below) <= LEAST_BELOW or any(cell in MARKS or is_number(cell) for cell in second if cell):
        return header, below, said
    of_numbers = [bool(cell) and are_numbers(cells_of(below[1:], place)) for place, cell in enumerate(second)]
    joined = joined_names(header.cells, second)
    is_over = len({*filter(None, map(str.strip, header.cells))}) < header.n_filled and len({*joined}) == len(joined)
    if sum(of_numbers) < (1 if is_over else min(2, sum(map(bool, second)))) or not any(of_numbers):
        return header, below, [*said, *_unlike_others(second, below[1:])]
    if all(second) and header.n_filled < len(second):  # what stands above it is a note as wide as the table
        return Row(below[0].cells, below[0].end), below[1:], [*said, *passed_over([header])]
    names = [name.strip() for name, is_one in zip(header.cells, of_numbers, strict=False) if is_one]
    if any(str((reading.types or {}).get(name)) == "string" for name in names):
        return header, below, said
    if is_over:
        return with_names_of_index(joined, below[0].end, below[1:], said)
    shown = " ".join(filter(None, second))[:60]
    told = f"the row below the header, {shown!r}, has units or questions, as it looks, and is passed over; if it is a "
    told += f"row, say types={{{names[0]!r}: 'string'}}"
    return Row(header.cells, below[0].end), below[1:], [*said, told]


def with_names_of_index(
    names: list[str], end: int, below: list[Row], said: list[str]
) -> tuple[Row, list[Row], list[str]]:
    """Take the names of its index from a row of their own, where pandas has written one below two rows of names."""
    first = [cell.strip() for cell in below[0].cells]
    if any(first) and len(first) == len(names) and all(map(operator.xor, map(bool, names), map(bool, first))):
        names, end, below = [name or cell for name, cell in zip(names, first, strict=True)], below[0].end, below[1:]
    return Row(names, end), below, [*said, OF_TWO_ROWS]


def _survey(header: Row, second: list[str], below: list[Row]) -> tuple[Row, list[Row], str] | None:
    """Know the header rows of survey tools: Qualtrics has questions and ids, SurveyMonkey one name for several answers.

    Below the latter stand the answers, and nothing where the header names a column of another kind.
    """
    for n, row in enumerate(below[:2], start=1):
        if row.n_filled and all(cell.strip().startswith(IMPORT_ID) for cell in row.cells if cell.strip()):
            rows = "row below the header has" if n == 1 else "2 rows below the header have"
            return Row(header.cells, row.end), below[n:], f"the {rows} questions and ids of Qualtrics: passed over"
    names = [name.strip() for name in header.cells]
    groups = [place for place, name in enumerate(names) if not name]
    is_one = bool(groups) and len(names) == len(second) and names[0] and all(second[place] for place in groups)
    if not is_one or all(second) or any(map(is_number, filter(None, second))):
        return None
    if not any(not cell and all(cells_of(below[1:], place)) for place, cell in enumerate(second)):
        return None
    begun = {place - 1 for place in groups} | {*groups}
    joined = joined_names(names, [cell if place in begun else "" for place, cell in enumerate(second)])
    return Row(joined, below[0].end), below[1:], OF_TWO_ROWS


def _unlike_others(second: list[str], below: Sequence[Row]) -> list[str]:
    """Say that the first row may be none: each of its cells is the only one of its kind where others repeat theirs."""
    columns = [cells_of(below, place) for place in range(len(second))]
    repeated = [len({*cells}) <= MOST_STATES for cells in columns]
    is_none = len(below) >= LEAST_STATES and sum(repeated) > 1
    if not is_none or any(not cell or cell in cells for cell, cells in zip(second, columns, strict=True)):
        return []
    shown = " ".join(second)[:60]
    return [f"the row below the header, {shown!r}, is unlike all others; if it has questions or units, take it out"]


def is_perhaps_data(header: Sequence[str], below: Sequence[Row]) -> bool:
    """Tell numbers that are cells of a row from those that count columns or years, as 1, 2, 3 and 2019, 2020.

    Words are cells, too, where each of them is there again in the rows below, but for a header that is there twice.
    """
    columns = (cells_of(below, place) for place in range(len(header)))
    if len(below) > LEAST_BELOW and all(map(_is_cell_of, header, columns)):
        return True
    plain = {place: name for place, name in enumerate(header) if PLAIN.fullmatch(name)}
    numbers = [name for place, name in plain.items() if are_numbers(cells_of(below, place))]
    if any(not name.isdigit() for name in numbers):
        return True
    steps = {int(second) - int(first) for first, second in pairwise(numbers)}
    step = steps.pop() if len(steps) == 1 else 0
    return len(numbers) > 1 and not (step and (len(numbers) > 2 or abs(step) <= FEW_STEPS))


def _is_cell_of(name: str, cells: Sequence[str]) -> bool:
    """Say whether a column has a cell like its name, and no numbers but for such cells."""
    return name in filter(None, cells) and not are_numbers([cell for cell in cells if cell != name])


def _is_header_in_comment(row: Row, below: Row, comment: str) -> bool:
    """Tell names in a comment, as numpy.savetxt writes them, from a note: no blank before them, or numbers below."""
    return any(map(is_number, below.cells)) or not row.cells[0].removeprefix(comment)[:1].isspace()


def _is_note(row: Row, width: int, n_used: int) -> bool:
    """Tell a line that is no part of the table: one cell where rows have several, or no more than half of the cells."""
    few = 2 * row.n_filled < n_used or (n_used > 3 and 2 * row.n_filled == n_used)
    return len(row.cells) <= width and (few or len(row.cells) == 1 < width)


def _is_header(row: Row, below: Sequence[Row], n_used: int) -> bool:
    """Tell names of columns, below a note, from cells: most are words, of two columns one has numbers below it."""
    filled = [cell for cell in row.cells if cell.strip()]
    n_words = sum(not is_number(cell) for cell in filled)
    if all(YEAR.fullmatch(cell.strip()) for cell in filled if is_number(cell)):
        n_words = len(filled)
    if 2 * len(filled) < n_used or 2 * n_words < len(filled):
        return False
    under = below[0].cells if below else []
    return n_used > 2 or any(is_number(cell) > is_number(name) for name, cell in zip(row.cells, under, strict=False))


def written_names(
    written: list[str], body: list[Row], reading: Reading, where: str, expected: Collection[str]
) -> tuple[list[str], list[str]]:
    """Give the names of all columns as they are written or given, "" for those without one."""
    if not reading.has_header:
        n_columns = len(body[0].cells)
        given = list(reading.names or ())
        lacking = n_columns - len(given)
        at_end = all(not cell.strip() for row in body for cell in row.cells[len(given) :])
        if given and lacking and not (lacking > 0 and at_end):
            raise SchemaError(
                f"{where}: {len(given)} names are given for {n_columns} columns ({', '.join(given)}); "
                "give each column a name, in their order"
            )
        return given + [""] * lacking, []
    longer = [row for row in body if len(row.cells) == len(written) + 1]
    if len(longer) < max(len(body), 1 if "x0" in expected else 2) or len(written) < 2 or not all(written):
        return written, []
    if all(not row.cells[-1].strip() for row in longer):
        return [*written, ""], []
    if any('\\"' in cell for row in longer for cell in row.cells):  # a cell is torn at a quote
        return written, []
    if len({row.cells[0] for row in longer}) == len(longer) and 2 * sum(map(is_torn, longer)) < len(longer):
        return ["", *written], ["the first cell of each row has no name in the header; it is read as one of the row"]
    return written, []


def n_unnamed(names: list[str], body: list[Row]) -> tuple[int, int]:
    """Count the columns at either edge without a name and without a cell in the first rows."""
    if not any(names) or (names[0] and names[-1]):
        return 0, 0
    n_first, n_last = [len([*takewhile(operator.not_, side)]) for side in (names, reversed(names))]
    n_before = min([next((n for n, cell in enumerate(row.cells) if cell.strip()), n_first) for row in body], default=0)
    return min(n_first, n_before), min(n_last, max(len(names) - n_used_of(body), 0))


def own_names(written: Sequence[str], said: range) -> tuple[list[str], list[str]]:
    """Give every column a name of its own, and say which of some places got another than is written.

    >>> own_names(["a", "", "a"], range(3))
    (['a', 'x1', 'a_2'], ["columns are renamed: 'a' (column 3) is 'a_2'; column 2 has no name and is 'x1'"])
    """
    taken, names = set(filter(None, written)), []
    has_names = any(written)
    seen: Counter[str] = Counter()
    twice, nameless = [], []
    for place, name in enumerate(written):
        seen[name] += 1
        own = name
        if not name:
            own = _free(f"x{place}", taken)
            if has_names and place in said:
                nameless.append(f"column {place + 1} has no name and is {own!r}")
        elif seen[name] > 1:
            own = _free(f"{name}_{seen[name]}", taken)
            twice.append(f"{name!r} (column {place + 1}) is {own!r}")
        taken.add(own)
        names.append(own)
    renamed = [_some(told) for told in (twice, nameless) if told]
    return names, [f"columns are renamed: {'; '.join(renamed)}"] if renamed else []


def _some(told: list[str]) -> str:
    return ", ".join(told[:MOST_SAID]) + f" and {len(told) - MOST_SAID:,} more" * (len(told) > MOST_SAID)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
