"""``bayeswater evaluate``: predictions against the truth, summed up batch by batch."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeswater.cli.options import AsJson, DataFile, ModelFile, Target
from bayeswater.cli.reading import AS_USUAL, Reading

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.decision.scorecard import Scorecard


def evaluate(
    model: ModelFile,
    data: DataFile,
    /,
    *,
    target: Target,
    loss: Path | None = None,
    as_json: AsJson = False,
    reading: Reading = AS_USUAL,
) -> None:
    r"""Compare predictions with the truth: confusion, log-loss, calibration, cost.

    Parameters
    ----------
    loss
        File of costs: a CSV that begins with "action \ truth,no,yes", or a TOML file.
    """
    from bayeswater.cli.models import column_names, load_model, open_for
    from bayeswater.cli.rows import LabelledRows
    from bayeswater.cli.words import warnings_told_once

    classifier = load_model(model)
    costs = None if loss is None else Costs.read(loss, classifier)
    source = open_for(classifier, model, reading, data, target)
    names = column_names(classifier)
    also = [name for name in (costs.columns if costs else []) if name not in [*names, target]]
    for name in also:
        source.require_column(name, "column of costs")
    rows = LabelledRows(source, target, [*names, *also])
    with warnings_told_once(), rows.named():
        found = _evaluated(classifier, names, rows, costs)
    rows.say_what_was_left_out()
    found.print(as_json=as_json)


@dataclass
class Costs:
    """What decisions have cost so far: those of least expected cost, and those for the likeliest class."""

    loss: Any
    columns: list[str]
    of_decisions: float = 0.0
    of_predictions: float = 0.0

    @classmethod
    def read(cls, path: Path, model: Any) -> "Costs":
        """Read a file of costs for the classes of a model."""
        from bayeswater.decision.loss import Loss

        loss = Loss.read(path).for_classes(model.classes_.tolist())
        return cls(loss, sorted({cost for cost in loss.table.by_row.values() if isinstance(cost, str)}))

    def add(self, table: "pa.Table", log_proba: Any, truth: list[Any], predicted: list[Any]) -> None:
        """Add the costs of some rows."""
        actions = self.loss.best_action(log_proba=log_proba, X=table)
        self.of_decisions += float(self.loss.realised(actions, truth, X=table).sum())
        if self.loss.table.decides_classes:
            self.of_predictions += float(self.loss.realised(predicted, truth, X=table).sum())


@dataclass(frozen=True)
class Evaluation:
    """The findings, and the labels they are about."""

    model: Any
    score: "Scorecard"
    n_unlabelled: int
    n_unknown: int
    costs: Costs | None

    def print(self, *, as_json: bool) -> None:
        """Print the findings on standard output."""
        from bayeswater.cli.documents import print_document
        from bayeswater.cli.words import findings, say

        if self.n_unknown:
            say(f"note: {self.n_unknown:,} rows of classes that the model does not know were left out", "yellow")
        if as_json:
            print_document(self.document())
        else:
            console = findings()
            for table in (self._scores(), *self._confusion(console.width)):
                console.print(table, "")

    def document(self) -> dict[str, Any]:
        """Give the findings as a document."""
        score, costs = self.score, self.costs
        return {
            "n_rows": score.n_rows,
            "n_rows_without_label": self.n_unlabelled,
            "n_rows_of_unknown_class": self.n_unknown,
            "accuracy": score.accuracy,
            "log_loss": score.log_loss,
            "brier": score.brier,
            "ece": score.ece,
            "cost": None if costs is None else costs.of_decisions / score.n_rows,
            "cost_of_likeliest_class": self._cost_of_predictions,
            "classes": self.model.classes_.tolist(),
            "confusion": score.confusion.tolist(),
        }

    @property
    def _cost_of_predictions(self) -> float | None:
        if self.costs is None or not self.costs.loss.table.decides_classes:
            return None
        return self.costs.of_predictions / self.score.n_rows

    def _scores(self) -> Any:
        from bayeswater.cli.tables import plain_table

        score = self.score
        table = plain_table("", "value", "", title=f"{score.n_rows:,} rows", numbers=("value",))
        table.add_row("accuracy", f"{score.accuracy:.4f}", "share of rows whose class is predicted")
        table.add_row("log-loss", f"{score.log_loss:.4f}", "mean of -log P(truth)")
        table.add_row("Brier", f"{score.brier:.4f}", "0 to 2, summed over the classes")
        table.add_row("ECE", f"{score.ece:.4f}", "distance of confidence and frequency")
        if self.costs is not None:
            table.add_row("cost", f"{self.costs.of_decisions / score.n_rows:.4f}", "per row, of the best decisions")
        if self._cost_of_predictions is not None:
            table.add_row("", f"{self._cost_of_predictions:.4f}", "per row, of deciding for the likeliest class")
        return table

    def _confusion(self, width: int) -> Any:
        from bayeswater.cli.tables import pieces

        labels = list(map(str, self.model.classes_.tolist()))
        columns = {"true \\ predicted": labels}
        columns |= dict(zip(labels, self.score.confusion.T.tolist(), strict=True))
        return pieces("Confusion", columns, width, len(labels))


def _evaluated(model: Any, names: list[str], rows: Any, costs: Costs | None) -> Evaluation:
    import numpy as np

    from bayeswater.decision.scorecard import Scorecard
    from bayeswater.errors import DataError

    code_of = {label: code for code, label in enumerate(model.classes_.tolist())}
    total, n_unknown = None, 0
    for table, labels in rows.read("evaluating"):
        codes = np.array([code_of.get(label, -1) for label in labels.to_pylist()])
        known = codes >= 0
        n_unknown += int((~known).sum())
        if not known.all():
            table, codes = table.filter(known), codes[known]
        if not len(codes):
            continue
        X = table.select(names)
        log_proba = model.predict_log_proba(X)
        score = Scorecard.of(log_proba, codes)
        total = score if total is None else total + score
        if costs is not None:
            costs.add(table, log_proba, model.classes_[codes].tolist(), model.predict(X).tolist())
    if total is None:
        raise DataError(
            f"{rows.source.name}: no row is of a class that the model knows, {list(code_of)[:10]}; is {rows.target!r} "
            "the right column?"
        )
    return Evaluation(model, total, rows.n_unlabelled, n_unknown, costs)
