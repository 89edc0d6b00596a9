"""``bayeswater evaluate``: predictions against the truth, summed up batch by batch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeswater.cli.costs import NO_COSTS, Costs, CostsSoFar
from bayeswater.cli.options import AsJson, DataFile, LossFile, ModelFile, Target
from bayeswater.cli.reading import AS_USUAL, Reading

if TYPE_CHECKING:
    from bayeswater.decision.scorecard import Scorecard


def evaluate(
    model: ModelFile,
    data: DataFile,
    /,
    *,
    target: Target,
    loss: LossFile = None,
    as_json: AsJson = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Compare predictions with the truth: confusion, log-loss, calibration, cost."""
    from bayeswater.cli.models import load_model, open_for
    from bayeswater.cli.rows import LabelledRows
    from bayeswater.cli.words import warnings_told_once
    from bayeswater.models.streaming.cell_types import column_names

    classifier = load_model(model)
    costs = None if loss is None else CostsSoFar(Costs.read(loss, classifier))
    source = open_for(classifier, model, reading, data, target)
    names = column_names(classifier)
    also = [] if costs is None else costs.costs.further_columns(source, [*names, target])
    rows = LabelledRows(source, target, [*names, *also])
    with warnings_told_once(), rows.named():
        found = _evaluated(classifier, names, rows, costs)
    rows.say_what_was_left_out()
    found.print(as_json=as_json)


@dataclass(frozen=True)
class Evaluation:
    """The findings, and the labels they are about."""

    model: Any
    score: "Scorecard"
    n_unlabelled: int
    n_unknown: int
    costs: CostsSoFar | None

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
            for table in (self._scores(), *self._confusion(console.width), *self._decisions(console.width)):
                console.print(table, "")

    def document(self) -> dict[str, Any]:
        """Give the findings as a document."""
        score = self.score
        found = {
            "n_rows": score.n_rows,
            "n_rows_without_label": self.n_unlabelled,
            "n_rows_of_unknown_class": self.n_unknown,
            "accuracy": score.accuracy,
            "log_loss": score.log_loss,
            "brier": score.brier,
            "ece": score.ece,
            "classes": self.model.classes_.tolist(),
            "confusion": score.confusion.tolist(),
        }
        return found | (NO_COSTS if self.costs is None else self.costs.document())

    def _scores(self) -> Any:
        from bayeswater.cli.tables import plain_table

        score = self.score
        table = plain_table("", "value", "", title=f"{score.n_rows:,} rows", numbers=("value",))
        table.add_row("accuracy", f"{score.accuracy:.4f}", "share of rows whose class is predicted")
        table.add_row("log-loss", f"{score.log_loss:.4f}", "mean of -log P(truth)")
        table.add_row("Brier", f"{score.brier:.4f}", "0 to 2, summed over the classes")
        table.add_row("ECE", f"{score.ece:.4f}", "distance of confidence and frequency")
        if self.costs is not None:
            costs = self.costs.document()
            table.add_row("cost", f"{costs['cost']:.4f}", "per row, of the best decisions")
            table.add_row("", f"{costs['expected_cost']:.4f}", "per row, as the probabilities promise")
            if costs["cost_of_likeliest_class"] is not None:
                plain = costs["cost_of_likeliest_class"]
                table.add_row("", f"{plain:.4f}", "per row, of deciding for the likeliest class")
            for action, n_rows in self.costs.n_other_actions.items():
                table.add_row(action, f"{n_rows / score.n_rows:.4f}", f"share of rows, {n_rows:,} in all")
        return table

    def _confusion(self, width: int) -> Any:
        from bayeswater.cli.tables import pieces

        labels = list(map(str, self.model.classes_.tolist()))
        columns = {"true \\ predicted": labels}
        columns |= dict(zip(labels, self.score.confusion.T.tolist(), strict=True))
        return pieces("Confusion", columns, width, len(labels))

    def _decisions(self, width: int) -> Any:
        from bayeswater.cli.tables import pieces

        if self.costs is None:
            return []
        table = self.costs.costs.loss.table
        columns = {"true \\ decided": list(map(str, table.classes))}
        columns |= dict(zip(map(str, table.actions), self.costs.decisions.T.tolist(), strict=True))
        return pieces("Decisions of least expected cost", columns, width, len(table.classes))


def _evaluated(model: Any, names: list[str], rows: Any, costs: CostsSoFar | None) -> Evaluation:
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
            costs.add(table, log_proba, codes, model.predict(X).tolist())
    if total is None:
        raise DataError(
            f"{rows.source.name}: no row is of a class that the model knows, {list(code_of)[:10]}; is {rows.target!r} "
            "the right column?"
        )
    return Evaluation(model, total, rows.n_unlabelled, n_unknown, costs)
