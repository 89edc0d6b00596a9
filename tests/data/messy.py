"""Files as people have them: a table of strings written in every shape, encoding and with every delimiter.

`SHAPES` names what is done to a table, as a function from its lines of cells to text. What a person reads out of each
of these files is the table itself.
"""

import codecs
import csv
import io
from collections.abc import Callable, Sequence

Rows = Sequence[Sequence[str]]
"""The names of the columns, then the cells of each row."""


def delimited(rows: Rows, delimiter: str, *, newline: str = "\n", quoting: int = csv.QUOTE_MINIMAL) -> str:
    """Write rows as most programs do."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=newline, quoting=quoting).writerows(rows)
    return out.getvalue()


def _padded(rows: Rows, more: int) -> Rows:
    return [[*row, *[""] * more] for row in rows]


def _with_comments(rows: Rows, delimiter: str) -> str:
    lines = delimited(rows, delimiter).splitlines(keepends=True)
    return f"# made by a program\n#\n{lines[0]}{lines[1]}# half of it\n{''.join(lines[2:])}"


def _spaced(rows: Rows, delimiter: str) -> str:
    """Write a blank behind each delimiter, and cells that hold one in quotes."""
    quoted = [[f'"{cell}"' if delimiter in cell else cell for cell in row] for row in rows]
    return "".join(f"{delimiter} ".join(row) + "\n" for row in quoted)


SHAPES: dict[str, Callable[[Rows, str], str]] = {
    "plain": delimited,
    "lines of Windows": lambda rows, d: delimited(rows, d, newline="\r\n"),
    "lines of an old Mac": lambda rows, d: delimited(rows, d, newline="\r"),
    "all in quotes": lambda rows, d: delimited(rows, d, quoting=csv.QUOTE_ALL),
    "no end of the last line": lambda rows, d: delimited(rows, d).rstrip("\n"),
    "blank lines": lambda rows, d: "\n" + delimited(rows, d, newline="\n\n") + "\n",
    "one empty column": lambda rows, d: delimited(_padded(rows, 1), d),
    "three empty columns": lambda rows, d: delimited(_padded(rows, 3), d),
    "delimiters that end rows": lambda rows, d: delimited([rows[0], *_padded(rows[1:], 1)], d),
    "a title": lambda rows, d: f"Sales of the year\n\n{delimited(rows, d)}",
    "a title as wide as the table": lambda rows, d: delimited(
        [["Sales", *[""] * (len(rows[0]) - 1)], [""] * len(rows[0]), *rows], d
    ),
    "a preamble": lambda rows, d: f"made by: Ann\non: 2023-12-31\nrows: all\n\n{delimited(rows, d)}",
    "comments": _with_comments,
    "a line for Excel": lambda rows, d: f"sep={d}\n{delimited(rows, d)}",
    "blanks behind delimiters": _spaced,
    "names in blanks": lambda rows, d: delimited([[f" {name}  " for name in rows[0]], *rows[1:]], d),
}
"""What is done to a table."""

DELIMITERS = (",", ";", "\t", "|", "\x01", "\x1f")

ENCODINGS: dict[str, tuple[str, bytes]] = {
    "utf-8": ("utf-8", b""),
    "utf-8 with a mark": ("utf-8", codecs.BOM_UTF8),
    "utf-8 with two marks": ("utf-8", 2 * codecs.BOM_UTF8),
    "utf-16": ("utf-16-le", codecs.BOM_UTF16_LE),
    "utf-16 of the other order": ("utf-16-be", codecs.BOM_UTF16_BE),
    "gbk": ("gbk", b""),
    "big5": ("big5", b""),
    "shift-jis": ("shift_jis", b""),
    "iso-2022-jp": ("iso2022_jp", b""),
    "latin-1": ("latin-1", b""),
}
"""Encodings, and the mark that files in them begin with."""

WORDS = {
    "gbk": ("名称", "城市", ["北京", "上海, 浦东", "广州"]),
    "big5": ("名稱", "城市", ["臺北", "高雄, 左營", "臺中"]),
    "shift-jis": ("名前", "都市", ["東京", "大阪, 北区", "なごや"]),
    "iso-2022-jp": ("名前", "都市", ["東京", "大阪, 北区", "なごや"]),
    "latin-1": ("Größe", "Stadt", ["Köln", "Málaga, Süd", "Orléans"]),
}
"""Names and cells in the letters of a language, by the encoding that has them; UTF has all."""


def table_in(encoding: str) -> list[list[str]]:
    """Give a table in the letters that an encoding has."""
    name, city, cities = WORDS.get(encoding, WORDS["gbk"])
    return [[name, city, "n", "x"], *([f"{name}{i}", cities[i], str(i), f"{i}.5"] for i in range(3))]


def messy_bytes(rows: Rows, shape: str, encoding: str, delimiter: str) -> bytes:
    """Write a table of strings in a shape and an encoding."""
    codec, mark = ENCODINGS[encoding]
    return mark + SHAPES[shape](rows, delimiter).encode(codec)
