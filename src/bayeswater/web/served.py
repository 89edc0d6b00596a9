"""`Served`: a model behind a server: asked in batches by one thread, loaded again when its file is replaced, taught."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from bayeswater.errors import BayesError, ModelFileError, SchemaError, nearest_names
from bayeswater.models.persistence import load
from bayeswater.models.streaming.answering import partial_rows
from bayeswater.web.fields import STATES, Field, fields_of
from bayeswater.web.journal import Journal
from bayeswater.web.plain import QuestionError, written

MOST_ROWS = 1000
"""Rows of one request."""

NOVEL = 0.01
"""A row is counted as novel where fewer than this share of drawn rows are as unusual."""

NOVELTY_SECONDS = 1.0
"""A row is looked at for novelty at most so often: it costs more than an answer."""

NOVELTY_SHARE = 50.0
"""After a look the next one waits so many times as long as it took."""

SAVE_ROWS, SAVE_SECONDS = 10_000, 60.0
"""The model file is written anew after so many rows that were learned or forgotten, or so long after the first."""


class Loaded:
    """A model as it was read, and what is looked up in it."""

    def __init__(self, model: Any) -> None:
        if not hasattr(model, "predict_log_proba") or not hasattr(model, "classes_"):
            raise SchemaError(f"a {type(model).__name__} has no classes to predict; serve a classifier")
        self.model = model

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The columns, by name."""
        return {own.name: own for own in fields_of(self.model, None)}

    @cached_property
    def labels(self) -> list[Any]:
        """The classes."""
        return list(np.asarray(self.model.classes_).tolist())

    def cells(self, row: Any) -> dict[str, Any]:
        """Read a row of a request; columns that are not there are not known."""
        if not isinstance(row, dict):
            raise QuestionError(f"a row is {str(row)[:40]!r}; it is an object of cells by column")
        found = {}
        for name, fact in row.items():
            own = self.fields.get(name)
            if own is None:
                raise QuestionError(f"there is no column {name!r}; {nearest_names(name, list(self.fields))}")
            if own.kind == STATES and isinstance(fact, int | float):
                if not own.states:  # the model does not tell them: it reads the number as those that it learned from
                    found[name] = fact
                    continue
                fact = own.fact(fact)
            found[name] = own.cell(fact)
        return found

    def rows(self, given: Sequence[Any]) -> list[dict[str, Any]]:
        """Read the rows of a request; the one that cannot be read is named by its number."""
        found = []
        for number, row in enumerate(given, 1):
            try:
                found.append(self.cells(row))
            except QuestionError as error:
                raise QuestionError(f"row {number}: {error}") from None
        return found

    def n_unseen(self, row: Mapping[str, Any]) -> int:
        """Count the cells of a row that are states no row had."""
        known = ((self.fields[name], cell) for name, cell in row.items() if cell is not None)
        return sum(own.kind == STATES and cell not in own.states for own, cell in known)


class Served:
    """One model file; all that touches the model runs on one thread, so that nothing changes under an answer."""

    def __init__(self, path: Path, *, learns: bool = False, save_rows: int = SAVE_ROWS) -> None:
        self.path, self.name, self.save_rows = Path(path), Path(path).stem, save_rows
        self.journal = Journal(self.path) if learns else None  # before the file is read: no other writes it any more
        self.loaded = Loaded(load(self.path))
        self.problem: str | None = None
        self.n_reloads = self.n_unseen = self.n_novel = self.n_looked_at = self.n_learned = 0
        self._known_file = self._file_now()
        self._thread = ThreadPoolExecutor(1, f"serving {self.name}")
        self._waiting: list[tuple[list[dict[str, Any]], asyncio.Future[Any]]] = []
        self._answering: asyncio.Task[None] | None = None
        self._look_again = self._unsaved_since = 0.0
        if self.journal is not None:
            if not hasattr(self.loaded.model, "partial_fit"):
                raise SchemaError(f"{self.path}: a {type(self.loaded.model).__name__} cannot be taught row by row")
            self.journal.replay(self._learn_again)

    def _file_now(self) -> tuple[int, int, int] | None:
        try:
            now = self.path.stat()
        except OSError:
            return None
        return now.st_mtime_ns, now.st_size, now.st_ino

    async def on_thread(self, work: Callable[..., Any], *given: Any) -> Any:
        """Run what touches the model, one after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)

    # ------------------------------------------------------------------ answers

    async def log_proba(self, rows: list[dict[str, Any]]) -> tuple[Any, list[Any]]:
        """Give log-probabilities of rows and the classes; requests that wait meanwhile are answered together."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((rows, future))
        if self._answering is None or self._answering.done():
            self._answering = asyncio.create_task(self._answer_waiting())
        return await future

    async def _answer_waiting(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            answers = await self.on_thread(self._answers, [rows for rows, _ in batch])
            for (_, future), answer in zip(batch, answers, strict=True):
                if future.done():  # nobody waits any more
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)

    def _answers(self, batch: list[list[dict[str, Any]]]) -> list[Any]:
        """Answer requests together; where one of them cannot be answered, each by itself."""
        loaded = self.loaded
        try:
            together = self._asked(loaded, [row for rows in batch for row in rows])
        except Exception as error:
            if len(batch) == 1:
                return [error]
            return [answer for rows in batch for answer in self._answers([rows])]
        ends = np.cumsum([len(rows) for rows in batch])[:-1]
        return [(part, loaded.labels) for part in np.split(together, ends)]

    def _asked(self, loaded: Loaded, rows: list[dict[str, Any]]) -> Any:
        cells = loaded.rows(rows)
        self.n_unseen += sum(map(loaded.n_unseen, cells))
        found = loaded.model.predict_log_proba(cells)
        start = monotonic()
        if hasattr(loaded.model, "novelty") and start > self._look_again:
            self._look_at(loaded, cells[0])
            self._look_again = monotonic() + max(NOVELTY_SECONDS, NOVELTY_SHARE * (monotonic() - start))
        return found

    def _look_at(self, loaded: Loaded, row: dict[str, Any]) -> None:
        try:
            share = float(loaded.model.novelty([row])[0])
        except (BayesError, TypeError, ValueError):  # a model that cannot tell it
            return
        self.n_looked_at += 1
        self.n_novel += share < NOVEL

    def ask(self, question: Callable[[Loaded, list[dict[str, Any]]], Any], rows: Sequence[Any]) -> Any:
        """Ask one question about rows; on the thread."""
        loaded = self.loaded
        return question(loaded, loaded.rows(rows))

    # ------------------------------------------------------------------ the file

    def look_at_file(self) -> None:
        """Load the file again where it was replaced; one that cannot be read leaves the model as it is."""
        now = self._file_now()
        if now == self._known_file:
            return
        self._known_file = now
        if self.journal is not None:
            self.problem = (
                f"{self.path} was replaced beside its journal, and is not read; put the old file back, or stop, set "
                f"{self.journal.path.name} aside and start again"
            )
            return
        try:
            self.loaded = Loaded(load(self.path))
        except (BayesError, OSError) as error:
            self.problem = f"the new {self.path} is not read, and the old model serves on: {error}"
            return
        self.problem, self.n_reloads = None, self.n_reloads + 1

    # ------------------------------------------------------------------ learning

    def teach(self, do: str, rows: Sequence[Any], labels: Sequence[Any]) -> int:
        """Learn or forget rows; once this returns, that is on the disk."""
        if self.journal is None:
            raise QuestionError("this server does not learn; start it with --learn and --token")
        if self.problem is not None and "beside its journal" in self.problem:
            raise QuestionError(self.problem)
        document = {"do": do, "rows": list(rows), "labels": list(labels)}
        taught = self._taught(document)
        try:
            self.journal.write(document)
        except OSError as error:
            raise ModelFileError(f"the journal cannot be written: {error.strerror}; nothing was learned") from error
        self._keep(taught, document)
        if self.n_learned >= self.save_rows:
            self.save_now()
        return int(self.loaded.model.class_count_.sum())

    def _taught(self, document: dict[str, Any]) -> Loaded:
        """Give a copy of the model that has learned or forgotten rows."""
        loaded, model = self.loaded, copy(self.loaded.model)
        known = {written(label): label for label in loaded.labels}
        labels = [known.get(written(label), label) for label in document["labels"]]
        _, X = partial_rows(loaded.model, loaded.rows(document["rows"]))
        method = model.partial_fit if document["do"] == "learn" else model.forget
        return Loaded(method(X, labels))  # states and classes may be others

    def _learn_again(self, document: dict[str, Any]) -> None:
        self._keep(self._taught(document), document)

    def _keep(self, taught: Loaded, document: dict[str, Any]) -> None:
        """Answer by a model that was taught, which the file lacks until it is saved."""
        self.loaded = taught
        self.n_learned += len(document["rows"])
        self._unsaved_since = self._unsaved_since or monotonic()

    def save_if_due(self) -> None:
        """Write the model file anew, some time after rows were learned."""
        if self._unsaved_since and monotonic() > self._unsaved_since + SAVE_SECONDS:
            self.save_now()

    def save_now(self) -> None:
        """Write the model file anew, where rows were learned since."""
        if self.journal is None or not self.journal.n_lines or self.problem is not None:
            return
        self.journal.compact(self.loaded.model)
        self._known_file = self._file_now()
        self.n_learned, self._unsaved_since = 0, 0.0

    def close(self) -> None:
        """Save, and let go of the file."""
        self._thread.shutdown()
        self.save_now()
        if self.journal is not None:
            self.journal.end()
