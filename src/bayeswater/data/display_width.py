"""How wide a text stands on a terminal, so that columns line up in every script.

A Chinese, Japanese or Korean character takes two columns, a mark that joins the character before it (an accent, a vowel
sign) none.
"""

from unicodedata import category, east_asian_width

NO_WIDTH = ("Mn", "Me", "Cf")
"""Categories of characters that take no column: marks that do not space, and characters that only format."""

MOVING = ("Cc", "Zl", "Zp")
"""Categories of characters that move the cursor: controls, and separators of lines and paragraphs."""


def display_width(text: str) -> int:
    """Columns that a text takes on a terminal.

    >>> display_width("abc"), display_width("收入")
    (3, 4)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def padded(text: str, width: int) -> str:
    """Fill a text up with blanks.

    >>> padded("收入", 6) + "|"
    '收入  |'
    """
    return text + " " * (width - display_width(text))


def on_one_line(text: str) -> str:
    r"""Write line breaks, and other characters that move the cursor, by their escapes.

    >>> on_one_line("two\nlines"), on_one_line("收入")
    ('two\\nlines', '收入')
    """
    return "".join(repr(c)[1:-1] if category(c) in MOVING else c for c in text)


def shortened(text: str, width: int) -> str:
    """Cut a text that is wider, and show that it goes on.

    >>> shortened("a long story", 7), shortened("短信内容很长", 7)
    ('a long…', '短信内…')
    """
    if display_width(text) <= width:
        return text
    taken, room = [], width - 1
    for character in text:
        room -= _width(character)
        if room < 0:
            break
        taken.append(character)
    return "".join(taken) + "…"


def _width(character: str) -> int:
    if category(character) in NO_WIDTH:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
