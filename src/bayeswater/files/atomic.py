"""A file is replaced as a whole: whoever reads it, and whenever the process is killed, finds the old one or the new."""

import os
from pathlib import Path
from secrets import token_hex


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` in the place of the file at `path`.

    It is written beside it under another name, readable by nobody else; only when it has reached the disk does it get
    the file's name, with the permissions of the file that it replaces or else those that the umask leaves. A process
    killed before that leaves ``.bayeswater-*.tmp`` behind and the file untouched.
    """
    path = Path(os.path.realpath(path))  # the file that a link points to, not the link
    temporary = path.with_name(f".bayeswater-{token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            mode = (path if path.exists() else temporary).stat().st_mode & 0o777
            temporary.chmod(0o600)
            file.write(content)
            file.flush()
            temporary.chmod(mode)
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _reach_disk(path.parent)


def _reach_disk(folder: Path) -> None:
    """Wait until a change of name in a folder has reached the disk, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
