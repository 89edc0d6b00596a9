"""HTML of tables and bars, for notebooks and reports: whatever comes from data is text, and there is no script.

A `Safe` text is HTML that was made here; all other texts are escaped. Bars are plain elements in the colour of the text
around them, so that they can be read on light and on dark ground.
"""

import re
from collections.abc import Iterable
from html import escape
from itertools import zip_longest

BAR_WIDTH = 8.0
"""Width of the longest bar, in the size of the letters."""


LONGEST = 200
"""Letters of a cell or a name that are written."""

DIRECTIONS = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""Characters that turn the order of those behind them: they are shown, lest a name turn the figures beside it."""


class Safe(str):
    """HTML that is to be taken as it is."""


def markup(text: str) -> Safe:
    """Escape a text, unless it is HTML that was made here.

    >>> markup("1 < 2"), markup(Safe("<b>2</b>"))
    ('1 &lt; 2', '<b>2</b>')
    """
    return text if isinstance(text, Safe) else Safe(escape(text.translate(DIRECTIONS)))


def _cell(text: str) -> Safe:
    """Escape the text of a cell, cut where it is very long; a long word may be broken."""
    return text if isinstance(text, Safe) else _broken(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def _broken(text: str) -> Safe:
    return Safe(LONG_WORD.sub(r"\1<wbr/>", markup(text)))


def _cut(word: re.Match[str]) -> str:
    return f"{word[0][: LONGEST - 1]}…"


TOO_LONG = re.compile(rf"\S{{{LONGEST + 1},}}")

LONG_WORD = re.compile(r"((?:&#?\w+;|[^\s&]){40})(?=\S)")
"""As many letters without a blank as a narrow column holds."""


def html_table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Safe:
    """Write cells under their heads; the first cell of each row heads it.

    >>> html_table(["", "b"], [["a", "1 < 2"]])
    '<table><thead><tr><th></th><th>b</th></tr></thead><tbody><tr><th>a</th><td>1 &lt; 2</td></tr></tbody></table>'
    """
    names, lines = list(heads), [list(row) for row in rows]
    sides = [LEFT if any(map(_is_words, own)) else "" for own in zip_longest(*lines, fillvalue="")] or [""] * len(names)
    head = _cells("th", names, ["", *sides[1:]])
    body = "".join(f"<tr><th>{_cell(row[0])}</th>{_cells('td', row[1:], sides[1:])}</tr>" for row in lines)
    return Safe(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _cells(tag: str, cells: Iterable[str], sides: Iterable[str]) -> str:
    """Write cells; those of words begin on the left also in notebooks, which end all cells of a table on the right."""
    return "".join(f"<{tag}{side}>{_cell(cell)}</{tag}>" for cell, side in zip(cells, sides, strict=False))


def _is_words(cell: str) -> bool:
    return isinstance(cell, Safe) or WORDS.search(cell) is not None


LEFT = ' style="text-align:left"'

WORDS = re.compile(r"^\W*[^\W\d_]|[^\W\d_]{4}")
"""What a cell has that holds more than a figure and its unit."""


def paragraphs(lines: Iterable[str]) -> Safe:
    """Write each line as a paragraph.

    >>> paragraphs(["a & b"])
    '<p>a &amp; b</p>'
    """
    return Safe("".join(f"<p>{_broken(TOO_LONG.sub(_cut, line))}</p>" for line in lines))


def preformatted(text: str) -> Safe:
    """Write a text with its line breaks and blanks; a line that is wider than the page goes on below.

    >>> preformatted("a < b")
    '<pre style="white-space:pre-wrap">a &lt; b</pre>'
    """
    return Safe(f'<pre style="white-space:pre-wrap">{markup(text)}</pre>')


def bar(share: float) -> Safe:
    """Draw a share of the longest bar, from 0 to 1.

    >>> bar(0.5)
    '<span style="display:inline-block;background:currentColor;opacity:.55;height:.7em;width:4em"></span>'
    """
    return _piece(min(max(share, 0.0), 1.0) * BAR_WIDTH)


def step(start: float, end: float, low: float, high: float) -> Safe:
    """Draw a step of a waterfall from one number to another, on a scale from `low` to `high`.

    >>> step(0.0, 1.0, -1.0, 1.0).count("<span")
    3
    """
    room = (high - low) or 1.0
    first, last = ((min(start, end) - low) / room, (max(start, end) - low) / room)
    first, last = max(first, 0.0), min(last, 1.0)
    before = f'<span style="display:inline-block;width:{2 * BAR_WIDTH * first:.4g}em"></span>'
    drawn = before + _piece(2 * BAR_WIDTH * max(last - first, 0.005), 0.8 if end >= start else 0.35)
    return Safe(f'<span style="white-space:nowrap">{drawn}</span>')


def _piece(width: float, opacity: float = 0.55) -> Safe:
    style = f"display:inline-block;background:currentColor;opacity:{opacity:.4g};height:.7em;width:{width:.4g}em"
    return Safe(f'<span style="{style.replace("opacity:0.", "opacity:.")}"></span>')
