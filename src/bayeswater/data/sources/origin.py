"""`Origin`: where the bytes of a source come from (a file or standard input), decompressed on the way.

Compression is recognised by the first bytes and never by the name, so that a renamed file and a pipe are read alike.
Bytes are unpacked as they are read, and an archive that unpacks to many times its size is refused: a zip archive before
anything is unpacked, by what it says of itself, and all when too much has come (`limits.require_unpacked`).
"""

import io
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from bayeswater.errors import DataError
from bayeswater.limits import require_unpacked

if TYPE_CHECKING:
    import pyarrow as pa

STDIN = "-"
"""The name that stands for standard input."""

COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}
"""What is decompressed, by its first bytes."""

ZIP = b"PK\x03\x04"
XZ = b"\xfd7zXZ\x00"
SHEETS = "xl/workbook.xml"
"""A file of which a zip archive is known as a spreadsheet."""

REFUSED = {b"7z\xbc\xaf": "a 7z archive", b"Rar!": "a RAR archive"}
"""What is not, by its first bytes."""

LONGEST_MAGIC = 6

IN_ARCHIVE = re.compile(r"(?P<archive>.+\.zip)!(?P<member>.+)", re.I | re.S)
"""The name of a file in an archive."""

XZ_MEMORY = 2**28
"""What unpacking xz may hold; its strongest setting takes a quarter."""

PIECE_BYTES = 2**18
"""What is asked of a pipe at once; it holds less."""


class Origin:
    """Bytes of a file, or of standard input for the path ``-``.

    Parameters
    ----------
    path : str or path; ``archive.zip!table.csv`` is a file in an archive
    standard_input : a binary file to read in place of `sys.stdin`
    """

    def __init__(self, path: str | Path, standard_input: BinaryIO | None = None) -> None:
        parts = IN_ARCHIVE.fullmatch(str(path))
        inside = parts is not None and not Path(path).exists()
        self._member = parts["member"] if inside and parts else None
        self.path = None if str(path) == STDIN else Path(parts["archive"] if inside and parts else path)
        self.name = "standard input" if self.path is None else str(path)
        self._standard_input = standard_input
        self._opened: Any = None
        self._kept = b""  # the head of a pipe, which cannot be read twice
        self._taken = False

    @property
    def can_be_reread(self) -> bool:
        """Whether the bytes can be read from the beginning any number of times: not from a pipe."""
        return self.path is not None and not self.path.is_fifo()

    @property
    def table_name(self) -> str:
        """The name of the file that holds the rows: that in the archive, where the file is one."""
        if self.path is None:
            return ""
        is_archive = self.path.suffix.lower() == ".zip" and self.path.is_file() and zipfile.is_zipfile(self.path)
        if self._member is None and not is_archive:
            return self.path.name
        with self.path.open("rb") as file, self._zip(file) as archive:
            return self._of_archive(archive).filename

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
        if first.startswith(ZIP) or self._member is not None:
            return self._unzipped()
        opened = self._opened
        return self._decompressed(opened, first, lambda: opened.tell())

    def head(self, n_bytes: int) -> bytes:
        """Give the first bytes, decompressed, and leave them there to be read."""
        if self.can_be_reread:
            with self.open() as file:
                return _read_fully(file, n_bytes)
        if len(self._kept) < n_bytes:
            self._kept += _read_fully(self._pipe, n_bytes - len(self._kept))
        return self._kept[:n_bytes]

    def whole_file(self, what: str) -> str:
        """Give the path of a file that is read by a library of its own, from anywhere in it: no pipe and no archive."""
        if self.path is None or not self.can_be_reread or self.table_name != self.path.name:
            raise DataError(
                f"{self.name}: {what} is read from a file that is neither packed nor a pipe; unpack it first"
            )
        try:
            self.path.open("rb").close()
        except OSError as error:
            raise self.unreadable(error) from None
        return str(self.path)

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
        if not near and re.search(r"\s", self.name) and not re.search(r"\.\w+$", self.name):
            said += "; if it is a text to classify, put it into a list"
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
        if first.startswith(ZIP):
            raise DataError(
                f"{self.name}: a zip archive is read from its end, so not from a pipe; give the file itself"
            )
        rejoined = _Rejoined(first, raw)
        return self._decompressed(pa.PythonFile(rejoined, mode="r"), first, lambda: rejoined.n_read)

    def _decompressed(self, raw: "pa.NativeFile", first: bytes, n_packed: Callable[[], int]) -> "pa.NativeFile":
        import pyarrow as pa

        for magic, what in REFUSED.items():
            if first.startswith(magic):
                raise DataError(f"{self.name} is {what}, which is not read; unpack it first")
        if first.startswith(XZ):
            return pa.PythonFile(_Unpacked(_XzStream(raw), n_packed, self.name), mode="r")
        for magic, compression in COMPRESSIONS.items():
            if first.startswith(magic):
                return pa.PythonFile(_Unpacked(pa.CompressedInputStream(raw, compression), n_packed, self.name), "r")
        return raw

    def _unzipped(self) -> "pa.NativeFile":
        """Open the one file of a zip archive, or the one that was named."""
        import pyarrow as pa

        assert self.path is not None
        self._opened.close()
        self._opened = file = self.path.open("rb")
        archive = self._zip(file)
        member = self._of_archive(archive)
        try:
            inner = archive.open(member)
        except (RuntimeError, NotImplementedError) as error:  # a password, a method of packing
            raise DataError(f"{self.name}: {error}; unpack it first") from None
        return pa.PythonFile(_Unpacked(inner, file.tell, self.name, archive, file), mode="r")

    def _zip(self, file: Any) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise DataError(f"{self.name} is not a complete zip archive: {error}; was it copied in full?") from None

    def _of_archive(self, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
        """Give the file in an archive that holds the rows, its size forecast."""
        files = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
        named = [info for info in files if self._member is None or info.filename == self._member]
        if self._member is None and any(info.filename == SHEETS for info in files):
            raise DataError(f"{self.name} is a spreadsheet that is named as text; name it .xlsx, or say format='excel'")
        if len(named) != 1:
            shown = ", ".join(repr(info.filename) for info in files[:10]) + ", ..." * (len(files) > 10)
            problem = f"there is no {self._member!r}" if self._member else f"it holds {len(files)} files"
            raise DataError(f"{self.name}: {problem} in the archive: {shown}; name one, as '{self.path}!table.csv'")
        require_unpacked(named[0].file_size, named[0].compress_size, self.name)
        return named[0]


class _Rejoined(io.RawIOBase):
    """Bytes that were read already, and then the rest of the file they were read from."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = io.BytesIO(head), rest
        self.n_read = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = 0) -> bytes:
        """Read `size` bytes; fewer only at the end."""
        found = self._head.read(size)
        found += _read_fully(self._rest, size - len(found))
        self.n_read += len(found)
        return found


class _Unpacked(io.RawIOBase):
    """Bytes that come out of an archive, as long as they are not many times those that were read of it."""

    def __init__(self, inner: Any, n_packed: Callable[[], int], name: str, *around: Any) -> None:
        self._inner, self._n_packed, self._name, self._around = inner, n_packed, name, around
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes; fewer only at the end."""
        found = bytearray()
        try:
            while len(found) < size and (more := self._inner.read(min(size - len(found), PIECE_BYTES))):
                found += more
        except (lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
            raise OSError(str(error)) from None
        self._n_bytes += len(found)
        require_unpacked(self._n_bytes, self._n_packed(), self._name)
        return bytes(found)

    def close(self) -> None:
        """Close the archive, too."""
        for file in (self._inner, *self._around):
            file.close()
        super().close()


class _XzStream:
    """Bytes of an xz file: that of Python bounds no memory."""

    def __init__(self, raw: Any) -> None:
        self._raw, self._decoder = raw, self._begun()

    def _begun(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def read(self, size: int) -> bytes:
        """Read some bytes, none at the end."""
        while True:
            packed = self._raw.read(PIECE_BYTES) if self._decoder.needs_input or self._decoder.eof else b""
            if self._decoder.eof:  # another stream may follow, behind zeros
                packed = self._decoder.unused_data.lstrip(b"\0") + packed
                if not packed:
                    return b""
                self._decoder = self._begun()
            elif self._decoder.needs_input and not packed:
                raise EOFError("the xz stream ends before its end")
            found = self._decoder.decompress(packed, size)
            if found:
                return found

    def close(self) -> None:
        """Close the file."""
        self._raw.close()


def _is_hidden(name: str) -> bool:
    """Tell what is in an archive beside its files, as that of macOS."""
    return name.startswith("__MACOSX/") or name.rsplit("/", 1)[-1].startswith(".")


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
