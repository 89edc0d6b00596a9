"""Pipes laid down in temporary files, byte by byte as they come, so that they can be read more than once.

What is packed stays packed: a pipe never takes more room than what came through it.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory, mkdtemp

from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.paths import files_named
from bayeswater.data.sources.source import Source
from bayeswater.errors import DataError
from bayeswater.records import record


@record
class LaidDown:
    """Paths of files that can be read again, and the names they have for errors where they hold a pipe."""

    paths: list[str]
    names: dict[str, str]

    def named(self, rows: LocalRows) -> LocalRows:
        """Call rows as the pipes that they came from."""
        for part in rows.parts:
            if isinstance(part, Source):
                part.origin.name = self.names.get(part.origin.name, part.origin.name)
        rows.name = self.names.get(rows.name, rows.name)
        return rows


@contextmanager
def laid_down(paths: Iterable[str | PathLike[str]]) -> Iterator[LaidDown]:
    """Give the files that names mean, with the bytes of pipes in temporary files, which are deleted at the end."""
    origins = {path: Origin(path) for path in files_named(paths)}
    if all(origin.can_be_reread for origin in origins.values()):
        yield LaidDown([*origins], {})
        return
    with TemporaryDirectory(prefix="bayeswater-") as folder:
        found = {path if origin.can_be_reread else _copy(origin, folder): origin for path, origin in origins.items()}
        yield LaidDown([*found], {path: origin.name for path, origin in found.items()})


def _copy(origin: Origin, folder: str) -> str:
    """Write the bytes of a pipe into a file of the folder, under its name, which may tell its format."""
    copy = Path(mkdtemp(dir=folder)) / (origin.path.name if origin.path else "data")
    try:
        with copy.open("xb") as file:
            if origin.path is None:
                copyfileobj(sys.stdin.buffer, file)
            else:
                with origin.path.open("rb") as pipe:
                    copyfileobj(pipe, file)
    except OSError as error:
        raise DataError(
            f"cannot store {origin.name} in {folder!r}: {error.strerror or error}; make room there, or name another "
            "folder in the environment variable TMPDIR"
        ) from error
    return str(copy)
