"""Standard output: a file of bytes, JSON for machines, and streams in place of those that the caller closed."""

import io
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STANDARD_OUTPUT = "standard output"
"""What errors call it."""


@contextmanager
def named_in_errors() -> Iterator[None]:
    """Name standard output where the system refuses to write to it, for example on a full disk."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        error.filename = STANDARD_OUTPUT
        raise


def stand_in_for_closed() -> None:
    """Open the standard streams that are closed, as by ``>&-``, which Python has none for.

    Nothing comes in, words are lost, and data cannot be written: the system says so, as it does of a closed handle.
    """
    if sys.stdin is None:
        sys.stdin = _nothing(os.O_RDONLY, "r")
    if sys.stdout is None:
        sys.stdout = _nothing(os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _nothing(os.O_WRONLY, "w")


def _nothing(access: int, mode: str) -> Any:
    return os.fdopen(os.open(os.devnull, access), mode, encoding="utf-8")


class StandardOutput(io.RawIOBase):
    """Bytes to standard output, all of them: if Python is told not to buffer, what it has there may write only some."""

    def writable(self) -> bool:
        """It is written to."""
        return True

    def write(self, content: Any) -> int:
        """Write all bytes."""
        rest = memoryview(content).cast("B")
        n_bytes = len(rest)
        with named_in_errors():
            while len(rest):
                rest = rest[sys.stdout.buffer.write(rest) or 0 :]
        return n_bytes

    def flush(self) -> None:
        """Let whoever reads have what was written."""
        with named_in_errors():
            sys.stdout.buffer.flush()


def print_document(document: dict[str, Any], *, on_one_line: bool = False) -> None:
    """Print a document in UTF-8; JSON knows no infinity and no NaN, so these become null."""
    text = json.dumps(finite(document), ensure_ascii=False, indent=None if on_one_line else 2, default=str)
    output = StandardOutput()
    output.write(text.encode() + b"\n")
    output.flush()


def finite(value: Any) -> Any:
    """Replace numbers that JSON has no word for.

    >>> finite({"log_loss": float("inf"), "counts": [1, 2.5]})
    {'log_loss': None, 'counts': [1, 2.5]}
    """
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
