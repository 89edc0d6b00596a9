"""A loss as a table to look at: plain text and HTML."""

from typing import Any

from bayeswater.data.html import html_table
from bayeswater.decision.cost_table import CostTable

CORNER = "decide \\ true"


def text_table(table: CostTable) -> str:
    """Lay the costs out in columns: actions below one another, true classes side by side."""
    lines = [[CORNER, *map(str, table.classes)]]
    lines += [[str(action), *_cells(table, i)] for i, action in enumerate(table.actions)]
    width = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([first.ljust(width[0]), *(cell.rjust(w) for cell, w in zip(cells, width[1:], strict=True))])
        for first, *cells in lines
    )


def cost_html(table: CostTable) -> str:
    """Write the costs as an HTML table."""
    rows = ([str(action), *_cells(table, i)] for i, action in enumerate(table.actions))
    return html_table([CORNER, *map(str, table.classes)], rows)


def _cells(table: CostTable, i: int) -> list[str]:
    return [
        _by_row(table.by_row[i, j]) if (i, j) in table.by_row else f"{table.cost[i, j]:g}"
        for j in range(len(table.classes))
    ]


def _by_row(cost: Any) -> str:
    if isinstance(cost, str):
        return f"[{cost}]"
    return f"{getattr(cost, '__name__', type(cost).__name__)}(X)" if callable(cost) else "[by row]"
