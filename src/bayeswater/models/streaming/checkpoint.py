"""`Checkpoint`: a file from which a long count goes on where it stopped, with the same bits at the end.

It holds the sums of the passes that are finished, the sum of the one that was under way, and the place in the rows up
to which that reaches; and whose they are: which rows, which model with which parameters. It is replaced as a whole, so
it is whole at every moment, and removed when the model is fitted.

A file that breaks off may have been counted in part. Its repaired rows are others, so beside the last sum stands the
last one that has no row of the file that was begun: from there the count goes on where that file has changed.
"""

import os
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from json import dumps
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from bayeswater.data.reading.original_types import arrow_type
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.parts import Place
from bayeswater.errors import BayesError, BayesWarning, ModelFileError, warn_user
from bayeswater.files.model_file import Document, read_model_file, require, write_model_file
from bayeswater.models.stored.codec import described, restored
from bayeswater.models.stored.documents import described_parameters
from bayeswater.models.stored.folders import require_folder
from bayeswater.version import __version__

KIND = "checkpoint"
"""What the file says it is."""

EVERY_SECONDS = 30.0
"""Time between two writings, at least."""


class Stand(NamedTuple):
    """A place in the rows, and the sum of all before it."""

    place: Place
    total: Any

    @property
    def n_parts(self) -> int:
        """Parts, from the first on, that have rows in the sum."""
        return self.place.part + (self.place.part_row > 0)


class Checkpoint:
    """Sums of passes over rows, in a file.

    Parameters
    ----------
    path : of the file; where it is there, counting goes on from it
    rows : what is counted
    names : columns that may be read, with those of labels and weights
    model : the model that counts, with its parameters
    """

    def __init__(self, path: str | os.PathLike[str], rows: LocalRows, names: Sequence[str], model: Any) -> None:
        self.path, self.rows, self.names = Path(path), rows, list(names)
        require_folder(self.path)
        self.model, self.settings = type(model).__name__, _settings_of(model, names)
        self.finished: list[Any] = []
        self.under_way: Stand | None = None
        self.before_file: Stand | None = None  # the last without a row of the file that is under way
        self.n_passes = 0  # that have been made or found
        self._written = time.monotonic()
        if self.path.exists():
            self._load()
        self._identity = self._identified()  # of the rows as they are when counting begins

    def begin(self) -> None:
        """Write the file where there is none: who cannot is told before hours are spent on counting."""
        if not self.path.exists():
            self.write()

    def sum(self, of: Callable[[Any], Any], columns: Sequence[str]) -> Any:
        """Make a pass, or the rest of it, or give what it gave before."""
        self.n_passes += 1
        if self.n_passes <= len(self.finished):
            return self.finished[self.n_passes - 1]
        try:
            total = self.rows.sum(of, columns, start=self.under_way, after=self._after)
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            self._write_at_last(error)
            raise
        self.finished.append(total)
        self.under_way = self.before_file = None
        self.write()
        return total

    def write(self) -> None:
        """Put what was counted so far into the file."""
        stands = [self.under_way, self.before_file]
        content, arrays = described([self.finished, *(stand and stand.total for stand in stands)])
        places = [stand and list(stand.place) for stand in stands]
        document = {**self._identity, "n_parts_seen": self.rows.n_parts_seen, "places": places, **content}
        try:
            write_model_file(self.path, document, arrays)
        except OSError as error:
            raise ModelFileError(f"cannot write the checkpoint {self._named}: {error.strerror or error}") from error
        except BayesError as error:
            raise ModelFileError(f"cannot write the checkpoint {self._named}: {error}") from None
        self._written = time.monotonic()

    def _write_at_last(self, error: BaseException) -> None:
        """Write what was counted before an error, which stays what it is where this fails too."""
        if self.under_way is None or isinstance(error, ModelFileError):  # that is of a writing that failed just now
            return
        try:
            self.write()
        except ModelFileError as failure:
            error.add_note(str(failure))

    def remove(self) -> None:
        """Take the file away: the model is fitted."""
        self.path.unlink(missing_ok=True)

    @property
    def _named(self) -> str:
        return repr(str(self.path))

    def _after(self, place: Place, total: Any) -> None:
        if self.under_way is not None and self.under_way.place.part < place.part:
            self.before_file = self.under_way
        self.under_way = Stand(place, total)
        if time.monotonic() - self._written >= EVERY_SECONDS:
            self.write()

    def _identified(self) -> Document:
        types = {name: str(self.rows.schema.field(name).type) for name in self.names}
        fingerprint = self.rows.fingerprint(self.names)
        return {
            "library": f"bayeswater {__version__}",
            "kind": KIND,
            "source": self.rows.name,
            "fingerprint": fingerprint.reading,
            "parts": list(fingerprint.parts),
            "types": types,
            "model": self.model,
            "settings": self.settings,
        }

    def _load(self) -> None:
        """Go on from the file; refuse one of other rows or another model."""
        try:
            document, arrays = read_model_file(self.path)
            require(document.get("kind") == KIND, f"it holds a {shorten(str(document.get('kind')), 50)}")
            self._require_same(document)
            self.finished, *totals = restored(document["nodes"], arrays)
            self.under_way, self.before_file = (
                _stand(place, total) for place, total in zip(document["places"], totals, strict=True)
            )
            self._require_same_parts(document)
        except OSError as error:
            raise ModelFileError(f"cannot read the checkpoint {self._named}: {error.strerror or error}") from error
        except (ValueError, TypeError, KeyError) as error:
            raise ModelFileError(
                f"counting cannot go on from the checkpoint {self._named}: {shorten(str(error), 500)}; remove it, "
                "or name another file"
            ) from None

    def _require_same(self, document: Document) -> None:
        self._declare(document.get("types"))
        mine = self._identified()
        for key, what in (("source", "rows"), ("model", "model")):
            if document.get(key) != mine[key]:
                raise ModelFileError(f"it is of the {what} {document.get(key)!r}, and not of {mine[key]!r}")
        require(
            document.get("fingerprint") == mine["fingerprint"],
            f"{self.rows.name} is not what it was: its columns, their types or its first rows have changed",
        )
        is_same = document.get("settings") == mine["settings"]
        require(is_same, f"it is of a {self.model} with other parameters or columns")

    def _require_same_parts(self, document: Document) -> None:
        """Refuse a change of what was counted, and of the first rows, by which columns are read.

        Files that no pass has come to yet may be others: a bad one may have been repaired. Where it was counted in
        part, the count goes back to where it had none of its rows.
        """
        now = self.rows.fingerprint(self.names).parts
        before, n_seen = document["parts"], document["n_parts_seen"]
        require(isinstance(before, list) and _is_count(n_seen), "it does not say which files it is of")
        n_parts = max(len(before), len(now))
        changed = next((k for k in range(n_parts) if before[k : k + 1] != [*now[k : k + 1]]), n_parts)
        name = self.rows.parts[changed].name if changed < len(now) else f"file {changed + 1} of {self.rows.name}"
        if changed == n_parts or not self._has_counted(changed, n_seen):
            return
        if self.under_way is not None and self.before_file is not None:
            n_again = self.under_way.place.n_rows - self.before_file.place.n_rows
            self.under_way, self.before_file = self.before_file, None
            if not self._has_counted(changed, n_seen):
                again = f"{n_again:,} rows are counted anew"
                warn_user(f"{name} has changed since it was counted in part: {again}", BayesWarning)
                return
        raise ModelFileError(
            f"{name} is not what it was: its name, size or time, or its place among the files has changed"
        )

    def _has_counted(self, part: int, n_seen: int) -> bool:
        """Tell whether what was counted depends on a part, of those that the first rows came from or of others."""
        return bool(self.finished) or (self.under_way is not None and part < max(n_seen, self.under_way.n_parts))

    def _declare(self, types: Any) -> None:
        """Read columns in the types in which they were read: a cell far down may have shown a wider one."""
        require(isinstance(types, dict) and all(type(kind) is str for kind in types.values()), "it names no types")
        known = {name: str(self.rows.schema.field(name).type) for name in self.names}
        other = {name: arrow_type(kind) for name, kind in types.items() if name in known and kind != known[name]}
        if any(kind is not None for kind in other.values()):
            self.rows.declare({name: kind for name, kind in other.items() if kind is not None})


def _stand(place: Any, total: Any) -> Stand | None:
    """Read where a sum ends."""
    if place is None:
        return None
    is_place = isinstance(place, list) and len(place) == len(Place._fields) and all(map(_is_count, place))
    require(is_place, "its place is none")
    return Stand(Place(*place), total)


def _is_count(number: Any) -> bool:
    return type(number) is int and number >= 0


def _settings_of(model: Any, names: Sequence[str]) -> str:
    """Give a word that changes with the parameters of a model and the columns it counts."""
    return sha256(dumps([described_parameters(model), list(names)], sort_keys=True).encode()).hexdigest()
