"""A file is replaced as a whole: whoever reads it, and whenever the process is killed, finds the old one or the new.

A device or a pipe is no file: it is written to, and never replaced, so that ``/dev/null`` stays what it is.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` in the place of the file at `path`."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open what takes the place of the file at `path`, once all of it is written.

    It is written beside it under another name, readable by nobody else; only when it has reached the disk does it get
    the file's name, with the permissions of the file that it replaces or else those that the umask leaves. A process
    killed before that leaves ``.bayeswater-*.tmp`` behind and the file untouched.
    """
    if is_device(path):
        with path.open("wb") as device:
            yield device
        return
    path = Path(os.path.realpath(path))  # the file that a link points to, not the link
    temporary = path.with_name(f".bayeswater-{token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            mode = (path if path.exists() else temporary).stat().st_mode & 0o777
            temporary.chmod(0o600)
            yield file
            file.flush()
            temporary.chmod(mode)
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _reach_disk(path.parent)


def is_device(path: Path) -> bool:
    """Say whether a device or a pipe is there, which is written to as it is."""
    return path.exists() and not (path.is_file() or path.is_dir())


def _reach_disk(folder: Path) -> None:
    """Wait until a change of name in a folder has reached the disk, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
