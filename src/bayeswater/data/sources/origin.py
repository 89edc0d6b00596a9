"""`Origin`: where the bytes of a source come from (a file or standard input), decompressed on the way.

Compression is recognised by the first bytes and never by the name, so that a renamed file and a pipe are read alike.
"""

import io
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

STDIN = "-"
"""The name that stands for standard input."""

COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}
"""What is decompressed, by its first bytes."""

REFUSED = {
    b"\xfd7zXZ\x00": "an xz archive",
    b"PK\x03\x04": "a zip archive (or a spreadsheet)",
    b"7z\xbc\xaf": "a 7z archive",
}
"""What is not, by its first bytes."""

LONGEST_MAGIC = 6

PIECE_BYTES = 2**18
"""What is asked of a pipe at once; it holds less."""


class Origin:
    """Bytes of a file, or of standard input for the path ``-``.

    Parameters
    ----------
    path : str or path
    standard_input : a binary file to read in place of `sys.stdin`
    """

    def __init__(self, path: str | Path, standard_input: BinaryIO | None = None) -> None:
        self.path = None if str(path) == STDIN else Path(path)
        self.name = "standard input" if self.path is None else str(path)
        self._standard_input = standard_input
        self._opened: Any = None
        self._kept = b""  # the head of a pipe, which cannot be read twice
        self._taken = False

    @property
    def can_be_reread(self) -> bool:
        """Whether the bytes can be read from the beginning any number of times: not from a pipe."""
        return self.path is not None and not self.path.is_fifo()

    @cached_property
    def n_bytes(self) -> int | None:
        """Size of the file as it is stored, if known."""
        return self.path.stat().st_size if self.path is not None and self.path.is_file() else None

    @property
    def identity(self) -> tuple[object, ...]:
        """Name, size and time of the file; a pipe has none."""
        if self.path is None or not self.can_be_reread:
            return ()
        state = self.path.stat()
        return self.path.name, state.st_size, state.st_mtime_ns

    @property
    def bytes_read(self) -> int:
        """How many of the stored bytes have been read since the last `open`."""
        if self._opened is None:
            return 0
        return (self.n_bytes or 0) if self._opened.closed else self._opened.tell()

    def open(self, start: int = 0) -> "pa.NativeFile":
        """Open the bytes, decompressed, behind the first `start` of them."""
        file = self._open()
        if start and file is self._opened:
            file.seek(start)
        else:
            _pass_over(file, start)
        return file

    def _open(self) -> "pa.NativeFile":
        import pyarrow as pa

        if not self.can_be_reread:
            rest, self._taken = self._pipe, True
            return pa.PythonFile(_Rejoined(self._kept, rest), mode="r")
        try:
            self._opened = pa.OSFile(str(self.path), mode="r")
            first = self._opened.read(LONGEST_MAGIC)
        except OSError as error:
            raise self.unreadable(error) from None
        self._opened.seek(0)
        return self._decompressed(self._opened, first)

    def head(self, n_bytes: int) -> bytes:
        """Give the first bytes, decompressed, and leave them there to be read."""
        if self.can_be_reread:
            with self.open() as file:
                return _read_fully(file, n_bytes)
        if len(self._kept) < n_bytes:
            self._kept += _read_fully(self._pipe, n_bytes - len(self._kept))
        return self._kept[:n_bytes]

    def tail(self, n_bytes: int) -> bytes:
        """Give the last bytes of a file that is stored as it is, and nothing of any other."""
        if not self.can_be_reread:
            return b""
        with self.open() as file:
            if file is not self._opened:
                return b""
            file.seek(max(file.size() - n_bytes, 0))
            return file.read()

    def unreadable(self, error: OSError) -> DataError:
        """Say that the file cannot be read, and which one is meant maybe."""
        from difflib import get_close_matches

        said = error.strerror or str(error)
        near: list[str] = []
        if isinstance(error, FileNotFoundError) and self.path is not None:
            said = "there is no such file"
            if self.path.parent.is_dir():
                near = get_close_matches(self.path.name, [path.name for path in self.path.parent.iterdir()])
        elif self.path is not None and self.path.is_dir():
            said = "it is a folder; name a file in it"
        hint = f"; did you mean {' or '.join(repr(str(self.path and self.path.with_name(name))) for name in near)}?"
        return DataError(f"cannot read {self.name!r}: {said}" + (hint if near else ""))

    @property
    def _pipe(self) -> "pa.NativeFile":
        """The rest of a pipe, decompressed: all but the head."""
        if self._taken:
            raise DataError(f"{self.name} can be read only once; give a file, which can be read again")
        return self._first_opened_pipe

    @cached_property
    def _first_opened_pipe(self) -> "pa.NativeFile":
        import pyarrow as pa

        raw = self._standard_input or (sys.stdin.buffer if self.path is None else self.path.open("rb"))
        first = _read_fully(raw, LONGEST_MAGIC)
        return self._decompressed(pa.PythonFile(_Rejoined(first, raw), mode="r"), first)

    def _decompressed(self, raw: "pa.NativeFile", first: bytes) -> "pa.NativeFile":
        import pyarrow as pa

        for magic, what in REFUSED.items():
            if first.startswith(magic):
                raise DataError(f"{self.name} is {what}, which is not read; unpack it first")
        for magic, compression in COMPRESSIONS.items():
            if first.startswith(magic):
                return pa.CompressedInputStream(raw, compression)
        return raw


class _Rejoined(io.RawIOBase):
    """Bytes that were read already, and then the rest of the file they were read from."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = 0) -> bytes:
        """Read `size` bytes; fewer only at the end."""
        found = self._head.read(size)
        return found + _read_fully(self._rest, size - len(found))


def _pass_over(file: Any, n_bytes: int) -> None:
    while n_bytes and (found := file.read(min(n_bytes, PIECE_BYTES))):
        n_bytes -= len(found)


def _read_fully(file: Any, n_bytes: int) -> bytes:
    """Read as many bytes as asked for, unless the file ends before.

    Not at once: between two pieces of a pipe Python has to look whether it was interrupted.
    """
    found = bytearray()
    while len(found) < n_bytes:
        more = file.read1(min(n_bytes - len(found), PIECE_BYTES))
        if not more:
            break
        found += more
    return bytes(found)
