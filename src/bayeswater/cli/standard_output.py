"""Standard output as a file of bytes."""

import io
import sys
from typing import Any


class StandardOutput(io.RawIOBase):
    """Bytes to standard output, all of them: if Python is told not to buffer, what it has there may write only some."""

    def writable(self) -> bool:
        """It is written to."""
        return True

    def write(self, content: Any) -> int:
        """Write all bytes."""
        rest = memoryview(content).cast("B")
        n_bytes = len(rest)
        while len(rest):
            rest = rest[sys.stdout.buffer.write(rest) or 0 :]
        return n_bytes

    def flush(self) -> None:
        """Let whoever reads have what was written."""
        sys.stdout.buffer.flush()
