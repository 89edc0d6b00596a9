"""Tables on a terminal: plain, with numbers to the right, and cut into pieces where they are wider than the screen."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

BAR_CELLS = 20


def plain_table(*headers: str, title: str = "", numbers: Sequence[str] = ()) -> Table:
    """Make an empty table; the columns named in `numbers` stand to the right."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, title=title or None, title_justify="left", title_style="bold")
    for header in headers:
        table.add_column(Text(header), justify="right" if header in numbers else "left", overflow="fold")
    return table


def bar(share: float) -> str:
    """Draw a share of one, with a line where standard output has it.

    >>> bar(0.5) in ("━━━━━━━━━━", "==========")
    True
    """
    has_lines = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    return ("━" if has_lines else "=") * round(BAR_CELLS * share)


def number(value: Any) -> str:
    """Write a cell of a table: numbers short, all else as it is.

    >>> number(0.123456), number(12000.0), number("red"), number(None)
    ('0.1235', '12,000', 'red', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if value == round(value, 0) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.4f}" if 1e-3 <= abs(value) < 1e5 else f"{value:.3g}"


def pieces(title: str, columns: dict[str, list[Any]], width: int, rows: int, *, keys: int = 1) -> Iterator[Table]:
    """Lay out named columns as tables no wider than `width`, each beginning with the first ones, the `keys`.

    Of more rows than `rows` the first are shown, and how many follow.
    """
    cells = {name: [number(value) for value in values[:rows]] for name, values in columns.items()}
    n_rows = max(map(len, columns.values()))
    first = {name: cells.pop(name) for name in list(cells)[:keys]}
    begin = sum(_room(name, values) for name, values in first.items()) - 1
    while True:
        taken: list[str] = []
        used = begin
        for name, values in cells.items():
            used += _room(name, values)
            if taken and used > width:
                break
            taken.append(name)
        table = plain_table(*first, *taken, title=title, numbers=taken)
        shown = [*first.values(), *(cells[name] for name in taken)]
        for row in range(min(rows, n_rows)):
            table.add_row(*(Text(values[row]) for values in shown))
        if n_rows > rows:
            table.caption = f"... and {n_rows - rows:,} more"
            table.caption_justify = "left"
        yield table
        cells = {name: values for name, values in cells.items() if name not in taken}
        title = f"{title} (continued)" if not title.endswith("(continued)") else title
        if not cells:
            return


def _room(name: str, values: Sequence[str]) -> int:
    """Columns that a column takes: the widest cell, a blank on either side, and one for the line before it."""
    return 3 + max(map(_width, [name, *values]))


def _width(text: str) -> int:
    return Text(text).cell_len
