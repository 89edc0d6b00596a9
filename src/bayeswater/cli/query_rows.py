"""Rows of evidence in, posteriors out, batch by batch: memory is bounded by a batch, however long the file is."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeswater.cli.models import files_of, keep_as_written, require_other_files
from bayeswater.cli.networks import is_mixed, open_evidence
from bayeswater.cli.options import ReadingOptions
from bayeswater.cli.terminal import passes_shown, say
from bayeswater.cli.writing import OutputFormat, Writer, writer
from bayeswater.data.row_places import rows_among
from bayeswater.errors import ImpossibleEvidenceWarning, ParameterError
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 2**20
"""Probabilities that are held at once; a batch of rows with more of them is answered piece by piece."""

LOG_EVIDENCE, IMPOSSIBLE = "log_evidence", "impossible"


def answer_rows(
    network: Any,
    path: str,
    data: list[str],
    targets: list[str] | None,
    *,
    ignored: list[str],
    keep: bool,
    unseen: str,
    output: Path | None,
    output_format: OutputFormat | None,
    reading: ReadingOptions,
) -> None:
    """Write P(state | row) of every target and row, or mean and deviation; log P(row), and whether it is impossible.

    Parameters
    ----------
    network, path : the network and its file
    data : files of rows
    targets : names of variables; None for all
    ignored : columns that are no evidence
    keep : whether the columns of the rows are written, too
    unseen : what becomes of labels that are no states
    output, output_format : where to write, and how
    reading : how the rows are read
    """
    answers = PosteriorColumns(network, targets, unseen)
    evidence, columns = open_evidence(network, path, reading, data, ignored)
    require_other_files(evidence, output)
    if keep:
        for file in files_of(evidence):
            keep_as_written(file, answers.names)
    for name in answers.targets if targets else ():
        if name in columns:
            say(
                f"note: the evidence has a column {name!r}: where it has a value, that is the answer (--ignore {name} "
                "asks without it)",
                "yellow",
            )
    read = evidence.schema.names if keep else columns
    to_screen = output is None and sys.stdout.isatty()
    with writer(output, output_format) as out, warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)  # told at the end, of all rows together
        answering = PosteriorWriter(answers, columns, out, keep=keep)
        if evidence.head(read, 1).num_rows:
            with passes_shown(evidence, lambda: "answering", quiet=to_screen):
                answered = evidence.sum(answering, read)
        else:
            answered = answering(evidence.head(read, 1))
    if answered.n_impossible:
        say(
            f"warning: the evidence of {answered.n_impossible:,} of {answered.n_rows:,} rows has probability zero; "
            f"they are marked in the column {IMPOSSIBLE!r}, and their posteriors are empty",
            "yellow",
        )


@record
class Answered:
    """How many rows were answered, and how many of them are impossible."""

    n_rows: int
    n_impossible: int

    def __add__(self, other: "Answered") -> "Answered":
        return Answered(self.n_rows + other.n_rows, self.n_impossible + other.n_impossible)


@record
class PosteriorWriter:
    """A function of an Arrow table that writes the answers for its rows, a few at a time, and counts them."""

    answers: "PosteriorColumns"
    columns: list[str]
    out: Writer
    keep: bool

    def __call__(self, table: "pa.Table") -> Answered:
        """Answer for all rows of a table; for none, write the names of the columns."""
        n_all, n_at_once, n_impossible = table.num_rows, self.answers.rows_at_once, 0
        for start in range(0, n_all, n_at_once) if n_all else (0,):
            rows = table.slice(start, n_at_once)
            with rows_among(start, rows.num_rows, n_all):
                found = self.answers.of(rows.select(self.columns))
            n_impossible += int(found[IMPOSSIBLE].to_numpy().sum())
            self.out.write(_beside(found, rows) if self.keep else found)
        return Answered(n_all, n_impossible)


class PosteriorColumns:
    """The columns that are written for some rows."""

    def __init__(self, network: Any, targets: list[str] | None, unseen: str) -> None:
        self.network, self.unseen = network, unseen
        self.targets = list(network.names) if targets is None else targets
        self.columns = {name: self._columns(name) for name in self.targets}
        self.names = [column for own in self.columns.values() for column in own] + [LOG_EVIDENCE, IMPOSSIBLE]
        if len(set(self.names)) < len(self.names):
            raise ParameterError(f"the targets {self.targets} name a variable twice; name each once")
        self.rows_at_once = max(1, MOST_CELLS // len(self.names))

    def _columns(self, name: str) -> list[str]:
        if is_mixed(self.network) and name in self.network.numbers:
            return [name, f"{name} (sd)"]
        return [f"P({name}={state})" for state in self.network.states(name)]

    def of(self, rows: "pa.Table") -> "pa.Table":
        """Answer for some rows; those that are impossible have no posteriors."""
        import numpy as np
        import pyarrow as pa

        if rows.num_rows == 0:
            kinds = [pa.bool_() if name == IMPOSSIBLE else pa.float64() for name in self.names]
            return pa.schema(list(zip(self.names, kinds, strict=True))).empty_table()
        found = self.network.posteriors(rows, self.targets, unseen=self.unseen)
        cells: dict[str, Any] = {}
        for target, names in self.columns.items():
            answer = found[target]
            by_state = np.ascontiguousarray(answer.T if answer.ndim > 1 else [answer, found.std[target]])
            cells |= {n: pa.array(p, mask=found.impossible) for n, p in zip(names, by_state, strict=True)}
        return pa.table({**cells, LOG_EVIDENCE: found.log_evidence, IMPOSSIBLE: found.impossible})


def _beside(found: "pa.Table", rows: "pa.Table") -> "pa.Table":
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        found = found.append_column(name, column)
    return found
