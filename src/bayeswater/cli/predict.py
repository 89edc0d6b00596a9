"""``bayeswater predict``: classes and probabilities of the rows of files, written as they come."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayeswater.cli.costs import Costs
from bayeswater.cli.models import few_rows, files_of, keep_as_written, require_explanations, require_other_files
from bayeswater.cli.options import AS_USUAL, DataFile, LossFile, ModelFile, ReadingOptions
from bayeswater.cli.writing import OutputFormat, Writer
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa


def predict(
    model: ModelFile,
    /,
    *data: DataFile,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    output_format: OutputFormat | None = None,
    keep: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    explain: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    loss: LossFile = None,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Give the class of each row, and the probability of every class; with costs, also what to do and its risk.

    Parameters
    ----------
    output
        File to write; by default standard output.
    output_format
        Format to write; by default that of the file name, and CSV on standard output.
    keep
        Also write the columns of the data.
    explain
        Add a column with the reasons for each class.
    """
    import sys

    from bayeswater.cli.models import load_model, open_for
    from bayeswater.cli.terminal import passes_shown, warnings_once
    from bayeswater.cli.writing import writer
    from bayeswater.models.streaming.answering import not_knowing

    classifier = load_model(model)
    costs = None if loss is None else Costs.read(loss, classifier)
    answers = PredictionColumns(classifier, keep=keep, explain=explain, costs=costs)
    rows = open_for(classifier, model, reading, list(data), costs=costs, keep=keep)
    answers.model = not_knowing(classifier, rows.let_absent(answers.columns))
    require_other_files(rows, output)
    if keep:
        for file in files_of(rows):
            keep_as_written(file, answers.names)
    columns = rows.schema.names
    to_screen = output is None and sys.stdout.isatty()
    with warnings_once(), writer(output, output_format) as out:
        first = rows.head(columns, 1)
        if first.num_rows:
            with passes_shown(rows, lambda: "predicting", quiet=to_screen):
                n_rows = rows.sum(PredictionWriter(answers, out), columns)
        else:
            n_rows = 0
            out.write(answers.of(first))
    answers.say_what_was_refused(n_rows)


@record
class PredictionWriter:
    """A function of an Arrow table that writes the answers for its rows, a few at a time, and counts them."""

    answers: "PredictionColumns"
    out: Writer

    def __call__(self, table: "pa.Table") -> int:
        """Answer for all rows of a table."""
        from bayeswater.data.row_places import rows_among

        n_all = table.num_rows
        for start, n_rows in few_rows(n_all, len(self.answers.model.classes_)):
            with rows_among(start, n_rows, n_all):
                found = self.answers.of(table.slice(start, n_rows))
            self.out.write(found)
        return n_all


class PredictionColumns:
    """The columns that are written for some rows: class, probabilities, and on request the rows and the reasons.

    With costs, `action` is the one of least expected cost, and `risk` this cost.
    """

    def __init__(self, model: Any, *, keep: bool, explain: bool, costs: Costs | None = None) -> None:
        from bayeswater.models.streaming.sources import column_names

        self.model, self.keep, self.explain, self.costs = model, keep, explain, costs
        self.columns = column_names(model)
        self.n_other_actions: Counter[str] = Counter()
        if explain:
            require_explanations(model)

    @property
    def names(self) -> list[str]:
        """Names of the columns that are added to the data."""
        probabilities = [f"P({label})" for label in self.model.classes_.tolist()]
        decision = ["action", "risk"] if self.costs else []
        return ["prediction", *decision, *probabilities, *(["reasons"] if self.explain else [])]

    def of(self, table: "pa.Table") -> "pa.Table":
        """Answer for the rows of a table."""
        import numpy as np
        import pyarrow as pa

        from bayeswater.inference.log_space import best_class
        from bayeswater.models.streaming.sources import label_type

        X = table.select(self.columns)
        some = X.num_rows > 0  # a file without rows has answers without rows
        proba = self.model.predict_proba(X) if some else np.empty((0, len(self.model.classes_)))
        # Rows are scored once: the class is read off the probabilities, by the same rule for ties as `predict` has.
        classes = self.model.classes_[best_class(proba)] if some else self.model.classes_[:0]
        columns = {"prediction": pa.array(classes.tolist(), label_type(self.model))}
        if self.costs is not None:
            columns |= self._decisions(self.costs, X, table)
        probabilities = [name for name in self.names if name.startswith("P(")]
        columns |= dict(zip(probabilities, map(pa.array, np.ascontiguousarray(proba.T)), strict=True))
        if self.keep:
            columns |= dict(zip(table.column_names, table.columns, strict=True))
        if self.explain:
            reasons = [found.summary for found in self.model.explain(X)] if some else []
            columns["reasons"] = pa.array(reasons, pa.string())
        return pa.table(columns)

    def _decisions(self, costs: Costs, X: "pa.Table", table: "pa.Table") -> "dict[str, pa.Array]":
        """Actions and risks of some rows."""
        import pyarrow as pa

        from bayeswater.models.streaming.sources import label_type

        code, risk = costs.decide(self.model.predict_log_proba(X), table) if X.num_rows else ([], [])
        actions = [costs.loss.table.actions[i] for i in code]
        self.n_other_actions.update(str(action) for action in actions if action in costs.other_actions)
        kind = costs.action_type(label_type(self.model))
        written = list(map(str, actions)) if pa.types.is_string(kind) else actions
        return {"action": pa.array(written, kind), "risk": pa.array(risk, pa.float64())}

    def say_what_was_refused(self, n_rows: int) -> None:
        """Say how often an action was taken that is no class."""
        from bayeswater.cli.terminal import say

        for action in map(str, self.costs.other_actions if self.costs else []):
            say(f"{action!r} is the action of {self.n_other_actions[action]:,} of {n_rows:,} rows")
