"""Tables on a terminal: plain, with numbers to the right, and cut into pieces where they are wider than the screen."""

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
    """Draw a share of one.

    >>> bar(0.5)
    '━━━━━━━━━━'
    """
    return "━" * round(BAR_CELLS * share)


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


def pieces(title: str, columns: dict[str, list[Any]], width: int, rows: int) -> Iterator[Table]:
    """Lay out named columns as tables no wider than `width`, each beginning with the first column.

    Of more rows than `rows` the first are shown, and how many follow.
    """
    (key, labels), *rest = columns.items()
    cells = {name: [number(value) for value in values[:rows]] for name, values in rest}
    keys = [number(label) for label in labels[:rows]]
    first = max(map(_width, [key, *keys])) + 2  # a blank on either side
    while True:
        taken: list[str] = []
        used = first
        for name, values in cells.items():
            used += 3 + max(map(_width, [name, *values]))  # and one for the line between
            if taken and used > width:
                break
            taken.append(name)
        table = plain_table(key, *taken, title=title, numbers=taken)
        for row, label in enumerate(keys):
            table.add_row(Text(label), *(Text(cells[name][row]) for name in taken))
        if len(labels) > rows:
            table.caption = f"... and {len(labels) - rows:,} more"
            table.caption_justify = "left"
        yield table
        cells = {name: values for name, values in cells.items() if name not in taken}
        title = f"{title} (continued)" if not title.endswith("(continued)") else title
        if not cells:
            return


def _width(text: str) -> int:
    return Text(text).cell_len
