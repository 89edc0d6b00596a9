"""Places to write to: whether a file can be written there, told before the work; files that appear once whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from bayeswater.errors import DataError, ModelFileError
from bayeswater.files.atomic import is_device, replacing


def require_folder(path: Path) -> None:
    """Refuse a place that cannot be written to, before hours are spent on what is to be written there."""
    if is_device(path):  # whether it takes bytes shows when they come
        return
    if not path.parent.is_dir():
        raise ModelFileError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}; make it first")
    if path.is_dir():
        raise ModelFileError(f"cannot write {str(path)!r}: it is a folder; name a file in it")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ModelFileError(
            f"cannot write {str(path)!r}: you may not write to the folder {str(path.parent)!r}; choose another, or ask "
            "for the right to"
        )


@contextmanager
def appearing(path: Path) -> Iterator[BinaryIO]:
    """Write beside a file, and give what is written its name at the end."""
    try:
        with replacing(path) as file:
            yield file
    except BrokenPipeError:  # the file is a pipe, and its reader has gone
        raise
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
