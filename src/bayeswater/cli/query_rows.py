"""Rows of evidence in, posteriors out, batch by batch: memory is bounded by a batch, however long the file is."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeswater.cli.networks import open_evidence
from bayeswater.cli.progress import shown
from bayeswater.cli.reading import Reading
from bayeswater.cli.rows import keep_as_written
from bayeswater.cli.words import say
from bayeswater.cli.writing import OutputFormat, writer
from bayeswater.data.sources.cutting import Stretch
from bayeswater.data.sources.row_names import rows_named
from bayeswater.errors import ImpossibleEvidenceWarning, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.models.network.bayesian_network import BayesianNetwork

MOST_CELLS = 2**20
"""Probabilities that are held at once; a batch of rows with more of them is answered piece by piece."""

LOG_EVIDENCE, IMPOSSIBLE = "log_evidence", "impossible"


def answer_rows(
    network: "BayesianNetwork",
    path: str,
    data: str,
    targets: list[str] | None,
    *,
    ignored: list[str],
    keep: bool,
    unseen: str,
    output: Path | None,
    output_format: OutputFormat | None,
    reading: Reading,
) -> None:
    """Write P(state | row) of every target and row, log P(row), and whether the row is impossible.

    Parameters
    ----------
    network, path : the network and its file
    data : file of rows
    targets : names of variables; None for all
    ignored : columns that are no evidence
    keep : whether the columns of the rows are written, too
    unseen : what becomes of labels that are no states
    output, output_format : where to write, and how
    reading : how the rows are read
    """
    answers = Answers(network, targets, unseen)
    source, columns = open_evidence(network, path, reading, data, ignored)
    if keep:
        keep_as_written(source, answers.names)
    for name in answers.targets if targets else ():
        if name in columns:
            say(
                f"note: {source.name} has a column {name!r}: where it has a value, that is the answer (--ignore {name} "
                "asks without it)",
                "yellow",
            )
    to_screen = output is None and sys.stdout.isatty()
    n_rows = n_impossible = 0
    with writer(output, output_format) as out:
        for table in shown(source, "answering", None if keep else columns, quiet=to_screen):
            for start in range(0, table.num_rows, answers.rows_at_once):
                rows = table.slice(start, answers.rows_at_once)
                with rows_named([Stretch(source.name, n_rows, rows.num_rows)]):
                    found = answers.of(rows.select(columns))
                n_rows += rows.num_rows
                n_impossible += found[IMPOSSIBLE].to_numpy().sum()
                out.write(_beside(found, rows) if keep else found)
            del table
        if not n_rows:
            empty = source.schema.empty_table()
            found = answers.of(empty.select(columns))
            out.write(_beside(found, empty) if keep else found)
    if n_impossible:
        say(
            f"warning: the evidence of {n_impossible:,} of {n_rows:,} rows has probability zero; they are marked in "
            f"the column {IMPOSSIBLE!r}, and their posteriors are empty",
            "yellow",
        )


class Answers:
    """The columns that are written for some rows."""

    def __init__(self, network: "BayesianNetwork", targets: list[str] | None, unseen: str) -> None:
        self.network, self.unseen = network, unseen
        self.targets = list(network.names) if targets is None else targets
        self.columns = {name: [f"P({name}={state})" for state in network.states(name)] for name in self.targets}
        self.names = [column for own in self.columns.values() for column in own] + [LOG_EVIDENCE, IMPOSSIBLE]
        if len(set(self.names)) < len(self.names):
            raise ParameterError(f"the targets {self.targets} name a variable twice; name each once")
        self.rows_at_once = max(1, MOST_CELLS // len(self.names))

    def of(self, rows: "pa.Table") -> "pa.Table":
        """Answer for some rows; those that are impossible have no posteriors."""
        import numpy as np
        import pyarrow as pa

        if rows.num_rows == 0:
            kinds = [pa.bool_() if name == IMPOSSIBLE else pa.float64() for name in self.names]
            return pa.schema(list(zip(self.names, kinds, strict=True))).empty_table()
        with warnings.catch_warnings():
            # Told at the end, of all rows together.
            warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
            found = self.network.posteriors(rows, self.targets, unseen=self.unseen)
        cells: dict[str, Any] = {}
        for target, names in self.columns.items():
            by_state = np.ascontiguousarray(found[target].T)
            cells |= {n: pa.array(p, mask=found.impossible) for n, p in zip(names, by_state, strict=True)}
        return pa.table({**cells, LOG_EVIDENCE: found.log_evidence, IMPOSSIBLE: found.impossible})


def _beside(found: "pa.Table", rows: "pa.Table") -> "pa.Table":
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        found = found.append_column(name, column)
    return found
