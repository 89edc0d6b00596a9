"""`Journal`: what a served model was taught since its file was written, so that nothing acknowledged is ever lost.

Beside ``model.bayes`` stands ``model.bayes.journal``: lines of a checksum and a JSON document. The first names the
model file by its digest; each other is a call that was acknowledged after its line had reached the disk. At the start
they are taught again. A last line that is torn was never acknowledged, and is dropped; any other that does not fit its
checksum is refused.

`compact` writes the model file anew, and an empty journal, in this order: the new file beside the old one, a line with
its digest, the file in its place, the journal in its place. Wherever that is cut off, the next start knows by the
digest of the model file which lines are in it. Rows that were forgotten are gone from both.

Two that write one journal would lose what each was taught: who opens it holds a lock, which ends with the process,
however that ends.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from bayeswater.errors import ModelFileError
from bayeswater.models.persistence import save


def digest_of(path: Path) -> str:
    """Give the digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _line(document: dict[str, Any]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


class Journal:
    """The journal of one model file, open for writing; `replay` first."""

    def __init__(self, model_path: Path) -> None:
        self.model_path = Path(os.path.realpath(model_path))
        self.path = self.model_path.with_name(f"{self.model_path.name}.journal")
        self._lock = _locked(self.path.with_name(f"{self.path.name}.lock"), self.model_path)
        self.digest = digest_of(self.model_path)
        self.n_lines = 0
        self._file: BinaryIO | None = None

    def replay(self, teach: Callable[[dict[str, Any]], None]) -> int:
        """Teach what the model file lacks, and open the journal for more; give how many calls that were."""
        if not self.path.exists():
            self._begin()
            return 0
        documents, n_bytes = self._read()
        if not documents:
            self._begin()
            return 0
        since = self._since(documents)
        for document in since:
            teach(document)
        self._file = self.path.open("r+b")
        self._file.truncate(n_bytes)
        self._file.seek(n_bytes)
        self.n_lines = len(since)
        return len(since)

    def _read(self) -> tuple[list[dict[str, Any]], int]:
        """Read all whole lines, and how many bytes they are."""
        documents, n_bytes = [], 0
        content = self.path.read_bytes()
        lines = content.splitlines(keepends=True)
        for place, line in enumerate(lines):
            document = _document(line)
            if document is None:
                if place == len(lines) - 1:
                    break  # it was never acknowledged
                raise ModelFileError(
                    f"{str(self.path)!r} is damaged in line {place + 1:,}; set it aside to serve "
                    f"{self.model_path.name} without what the journal holds"
                )
            documents.append(document)
            n_bytes += len(line)
        return documents, n_bytes

    def _since(self, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Give the calls that the model file does not hold."""
        for place in range(len(documents) - 1, -1, -1):
            if documents[place].get("model") == self.digest:
                return [document for document in documents[place + 1 :] if "model" not in document]
        raise ModelFileError(
            f"{str(self.model_path)!r} is not the file that its journal {self.path.name} goes on from: it was "
            "replaced. Put the old file back to keep what the journal holds, or set the journal aside to go on "
            "from the new one"
        )

    def write(self, document: dict[str, Any]) -> None:
        """Keep a call; once this returns, it is on the disk."""
        assert self._file is not None
        start = self._file.tell()
        try:
            self._file.write(_line(document))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(start)  # what is half-written is no line
            self._file.seek(start)
            raise
        self.n_lines += 1

    def compact(self, model: Any) -> None:
        """Write the model file anew, and begin an empty journal."""
        temporary = self.model_path.with_name(f".{self.model_path.name}.serving")
        save(model, temporary)
        digest = digest_of(temporary)
        self.write({"model": digest})
        temporary.replace(self.model_path)
        self.digest = digest
        self._begin()

    def _begin(self) -> None:
        """Put an empty journal in the place of the one that is there."""
        self.close()
        temporary = self.path.with_name(f"{self.path.name}.new")
        with temporary.open("wb") as file:
            file.write(_line({"model": self.digest}))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(folder)
            os.close(folder)
        self._file = self.path.open("r+b")
        self._file.seek(0, os.SEEK_END)
        self.n_lines = 0

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def end(self) -> None:
        """Let go of the file, and let another write it."""
        self.close()
        self._lock.close()


def _locked(path: Path, model_path: Path) -> BinaryIO:
    """Hold a lock beside a journal as long as the file that is given stays open."""
    file = path.open("ab")
    try:
        import fcntl
    except ImportError:  # Windows, which has no such locks
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ModelFileError(
            f"{str(model_path)!r} is being taught by another process, and what two of them learn does not come "
            "together; stop the other one, or teach a copy of the file"
        ) from None
    return file


def _document(line: bytes) -> dict[str, Any] | None:
    """Read a line; None where it is torn or damaged."""
    checksum, _, text = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
        return None
    found: dict[str, Any] = json.loads(text)
    return found
