"""A table in HTML, as notebooks show it."""

from collections.abc import Iterable
from html import escape


def html_table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write cells under their heads; the first cell of each row heads it.

    >>> html_table(["", "b"], [["a", "1 < 2"]])
    '<table><thead><tr><th></th><th>b</th></tr></thead><tbody><tr><th>a</th><td>1 &lt; 2</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{_row(*map(escape, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(first: str, *cells: str) -> str:
    return f"<th>{first}</th>" + "".join(f"<td>{cell}</td>" for cell in cells)
