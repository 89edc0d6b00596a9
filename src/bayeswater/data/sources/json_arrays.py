"""A JSON array of objects, given as JSON lines: an object of the array on each line, written as it is in the file.

Objects are found one after the other, so that no more than a piece of the file is in memory.
"""

import codecs
import json
import re
from typing import Any

from bayeswater.errors import DataError

BLANKS = re.compile(r"[ \t\r\n]*")

LONGEST_OBJECT = 64 * 2**20
"""Characters of an object; beyond it the file is something else."""

PIECE_BYTES = 2**20


def is_array(head: bytes) -> bool:
    """Say whether a file begins as an array does."""
    return head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")


class ArrayLines:
    r"""Lines of the objects of an array, read as from a file.

    Parameters
    ----------
    file : what holds the array
    name : what errors call it
    is_beginning : whether the file may end before the array does

    Examples
    --------
    >>> import io
    >>> ArrayLines(io.BytesIO(b'[{"a": 1}, {"a":\n 2}]'), "x.json").read(100)
    b'{"a": 1}\n{"a":  2}\n'
    """

    def __init__(self, file: Any, name: str, *, is_beginning: bool = False) -> None:
        self._file, self._name, self._is_beginning = file, name, is_beginning
        self._decoder, self._json = codecs.getincrementaldecoder("utf-8-sig")(), json.JSONDecoder()
        self._rest = b""
        self._text, self._place, self._n_objects, self._has_ended = "", 0, 0, False
        self._expected = "["  # then nothing in particular, a comma behind an object, and an object behind a comma

    def __enter__(self) -> "ArrayLines":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        """Give lines of `size` bytes or some more; fewer only at the end."""
        lines = [self._rest]
        n_bytes, self._rest = len(self._rest), b""
        while n_bytes < size and not self._has_ended and (line := self._next()):
            lines.append(line)
            n_bytes += len(line)
        return b"".join(lines)

    def pass_over(self, n_bytes: int) -> None:
        """Leave out so many bytes."""
        while n_bytes > 0 and (line := self.read(1)):
            self._rest = line[n_bytes:]
            n_bytes -= len(line)

    def _next(self) -> bytes:
        """Give the next object as a line; nothing at the end of the array."""
        sign = self._sign()
        if self._expected == "[" and sign == "[":
            self._pass_sign("")
            sign = self._sign()
        elif self._expected == "," and sign == ",":
            self._pass_sign("object")
            sign = self._sign()
        elif self._expected == "," and sign not in ("]", ""):
            raise self._refused(f"follows without a comma: {self._shown()!r}")
        if sign == "]" and self._expected != "object":
            self._pass_sign("")
            self._has_ended = True
            if self._sign():
                raise DataError(
                    f"{self._name}: behind the end of the array stands {self._shown()!r}; write one array alone, or "
                    "one object on each line"
                )
            return b""
        return self._object()

    def _sign(self) -> str:
        """Leave out blanks, and give the character behind them; none at the end of the file."""
        while True:
            self._place = BLANKS.match(self._text, self._place).end()  # type: ignore[union-attr]  # nothing matches, too
            if self._place < len(self._text) or not self._read_on():
                return self._text[self._place : self._place + 1]

    def _shown(self) -> str:
        return self._text[self._place : self._place + 40]

    def _pass_sign(self, expected: str) -> None:
        self._place, self._expected = self._place + 1, expected

    def _object(self) -> bytes:
        while True:
            text, place = self._text, self._place
            try:
                cell, end = self._json.raw_decode(text, place)
            except RecursionError:
                raise self._refused("is nested too deeply for a table") from None
            except ValueError as error:
                if len(text) - place <= LONGEST_OBJECT and self._read_on():
                    continue
                self._has_ended = True
                if self._is_beginning:
                    return b""
                raise self._refused(f"is no JSON: {error}") from None
            if not isinstance(cell, dict):
                raise self._refused(f"is no JSON object but {str(cell)[:40]!r}")
            self._n_objects += 1
            self._place, self._expected = end, ","
            return text[place:end].replace("\r", " ").replace("\n", " ").encode() + b"\n"

    def _read_on(self) -> bool:
        """Read more of the file behind what is left; say whether there was any."""
        more = self._file.read(PIECE_BYTES)
        if b"\0" in more:
            raise DataError(f"{self._name} has bytes of zero, as text in UTF-16 does; write JSON in UTF-8")
        try:
            self._text = self._text[self._place :] + self._decoder.decode(
                more, final=not more and not self._is_beginning
            )
        except UnicodeDecodeError:
            raise DataError(f"{self._name} is not text in UTF-8; convert the file") from None
        self._place = 0
        return bool(more)

    def _refused(self, what: str) -> DataError:
        return DataError(
            f"{self._name}: element {self._n_objects + 1} of the array {what}; write an array of objects, or one "
            "object on each line"
        )
