"""``bayeswater evaluate``: predictions against the truth, summed up batch by batch."""

from typing import TYPE_CHECKING, Any

from bayeswater.cli.costs import NO_COSTS, Costs, CostsSoFar
from bayeswater.cli.options import AS_USUAL, AsJson, DataFile, LossFile, ModelFile, ReadingOptions, Target
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.decision.ranking import Ranking
    from bayeswater.decision.scorecard import Scorecard
    from bayeswater.models.streaming.passes import Piece

MOST_CLASSES = 50
"""Classes up to which the whole confusion is shown: those of most tables, in some screens."""

MOST_CONFUSED = 20
"""Confusions of more classes that are listed."""


def evaluate(
    model: ModelFile,
    /,
    *data: DataFile,
    target: Target,
    loss: LossFile = None,
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Compare predictions with the truth: confusion, log-loss, calibration, cost."""
    from bayeswater.cli.models import labels_explained, load_model, open_for
    from bayeswater.cli.terminal import passes_shown, warnings_once
    from bayeswater.data.sources.target_rules import TargetBins
    from bayeswater.errors import DataError
    from bayeswater.models.streaming.fitting import warn_of_unlabelled
    from bayeswater.models.streaming.labelled import LabelledRows
    from bayeswater.models.streaming.sources import column_names

    classifier = load_model(model)
    costs = None if loss is None else Costs.read(loss, classifier)
    spent = None if costs is None else CostsSoFar(costs)
    rows = open_for(classifier, model, reading, list(data), target=target, costs=costs)
    names = column_names(classifier)
    columns = [name for name in rows.schema.names if name != target]
    examples = LabelledRows(rows, target, columns=columns, rule=TargetBins.of_classes(classifier.classes_))
    with warnings_once():
        with labels_explained(classifier, model, target), passes_shown(rows, lambda: "evaluating"):
            found = examples.sum(Evaluating(classifier, names, spent))
        if examples.n_unlabelled:
            warn_of_unlabelled(examples.n_unlabelled, target)
    if found.score is None or found.ranking is None:
        raise DataError(
            f"{rows.name}: no row is of a class that the model knows, {classifier.classes_.tolist()[:10]}; is "
            f"{target!r} the right column?"
        )
    Evaluation(classifier, found.score, found.ranking, examples.n_unlabelled, found.n_unknown, spent).print(
        as_json=as_json
    )


@record
class Evaluation:
    """The findings, and the labels they are about."""

    model: Any
    score: "Scorecard"
    ranking: "Ranking"
    n_unlabelled: int
    n_unknown: int
    costs: CostsSoFar | None

    def print(self, *, as_json: bool) -> None:
        """Print the findings on standard output."""
        from bayeswater.cli.standard_output import print_document
        from bayeswater.cli.terminal import findings, say

        if self.n_unknown:
            say(f"note: {self.n_unknown:,} rows of classes that the model does not know were left out", "yellow")
        if as_json:
            print_document(self.document())
        else:
            console = findings()
            found = (
                self._scores(),
                *self._by_class(),
                *self._confusion(console.width),
                *self._decisions(console.width),
            )
            for table in found:
                console.print(table, "")

    def document(self) -> dict[str, Any]:
        """Give the findings as a document."""
        score, mean, base = self.score, self.score.mean_figures, self.score.baseline
        labels = self.model.classes_.tolist()
        found = {
            "n_rows": score.n_rows,
            "n_rows_without_label": self.n_unlabelled,
            "n_rows_of_unknown_class": self.n_unknown,
            "accuracy": score.accuracy,
            "log_loss": score.log_loss,
            "brier": score.brier,
            "ece": score.ece,
            "auc": self.ranking.mean_area(),
            "precision": mean.precision,
            "recall": mean.recall,
            "f1": mean.f1,
            "baseline": {"majority": labels[base.majority]} | dict(zip(base._fields[1:], base[1:], strict=True)),
            "by_class": [
                {"class": label, **own._asdict(), "auc": None if area is None else area._asdict()}
                for label, own, area in zip(labels, score.by_class, self.ranking.areas, strict=True)
            ],
            "classes": labels,
            "confusion": score.confusion.tolist(),
        }
        return found | (NO_COSTS if self.costs is None else self.costs.document())

    def _scores(self) -> Any:
        from bayeswater.cli.terminal import amount, plain_table

        score = self.score
        heads = ("", "value", "baseline", "")
        table = plain_table(*heads, title=amount(score.n_rows, "row"), numbers=("value", "baseline"))
        base, mean, area = score.baseline, score.mean_figures, self.ranking.mean_area()
        table.add_row(
            "accuracy", f"{score.accuracy:.4f}", f"{base.accuracy:.4f}", "share of rows whose class is predicted"
        )
        table.add_row("log-loss", f"{score.log_loss:.4f}", f"{base.log_loss:.4f}", "mean of -log P(truth)")
        table.add_row("Brier", f"{score.brier:.4f}", f"{base.brier:.4f}", "0 to 2, summed over the classes")
        table.add_row("ECE", f"{score.ece:.4f}", "", "distance of confidence and frequency")
        if area is not None:
            table.add_row("AUC", f"{area:.4f}", "0.5000", self._of_area())
        table.add_row("F1", _figure(mean.f1), "", "mean over the classes, as precision and recall are")
        table.add_row("precision", _figure(mean.precision), "", "right, of those predicted to be of a class")
        table.add_row("recall", _figure(mean.recall), "", "right, of those of a class")
        if self.costs is not None:
            costs = self.costs.document()
            table.add_row("cost", f"{costs['cost']:.4f}", "", "per row, of the best decisions")
            table.add_row("", f"{costs['expected_cost']:.4f}", "", "per row, as the probabilities promise")
            if costs["cost_of_likeliest_class"] is not None:
                plain = costs["cost_of_likeliest_class"]
                table.add_row("", f"{plain:.4f}", "", "per row, of deciding for the likeliest class")
            for action, n_rows in self.costs.n_other_actions.items():
                table.add_row(action, f"{n_rows / score.n_rows:.4f}", "", f"share of rows, {n_rows:,} in all")
        return table

    def _of_area(self) -> str:
        """Say what AUC is, and how far bins may have moved it."""
        error = max((area.error for area in self.ranking.areas if area is not None), default=0.0)
        what = "a row of the class is put before another"
        return f"{what}; counted in bins, off by at most {error:.1e}" if error else what

    def _by_class(self) -> Any:
        """List the figures of each class."""
        from rich.text import Text

        from bayeswater.cli.terminal import plain_table

        labels = list(map(str, self.model.classes_.tolist()))
        if len(labels) > MOST_CLASSES:
            return []
        heads = ("class", "rows", "precision", "recall", "F1", "AUC", "95 %")
        table = plain_table(*heads, title="By class", numbers=heads[1:])
        for label, own, area in zip(labels, self.score.by_class, self.ranking.areas, strict=True):
            figures = map(_figure, (own.precision, own.recall, own.f1, None if area is None else area.value))
            between = "" if area is None else f"{area.low:.4f} to {area.high:.4f}"
            table.add_row(Text(label), f"{own.n_rows:,.0f}", *figures, between)
        return [table]

    def _confusion(self, width: int) -> Any:
        from bayeswater.cli.terminal import pieces

        labels = list(map(str, self.model.classes_.tolist()))
        if len(labels) > MOST_CLASSES:
            return self._most_confused(labels)
        columns = {"true \\ predicted": labels}
        columns |= dict(zip(labels, self.score.confusion.T.tolist(), strict=True))
        return pieces("Confusion", columns, width, len(labels))

    def _most_confused(self, labels: list[str]) -> Any:
        """List the largest of many numbers, if there are any."""
        import numpy as np
        from rich.text import Text

        from bayeswater.cli.terminal import plain_table

        wrong = self.score.confusion.copy()
        np.fill_diagonal(wrong, 0)
        if not wrong.any():
            return []
        title = f"Most frequent confusions of {len(labels):,} classes (all with --json)"
        table = plain_table("true", "predicted", "rows", title=title, numbers=("rows",))
        for place in np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSED]:
            true, predicted = np.unravel_index(place, wrong.shape)
            if wrong[true, predicted]:
                table.add_row(Text(labels[true]), Text(labels[predicted]), f"{wrong[true, predicted]:,.0f}")
        return [table]

    def _decisions(self, width: int) -> Any:
        from bayeswater.cli.terminal import pieces

        if self.costs is None:
            return []
        table = self.costs.costs.loss.table
        columns = {"true \\ decided": list(map(str, table.classes))}
        columns |= dict(zip(map(str, table.actions), self.costs.decisions.T.tolist(), strict=True))
        return pieces("Decisions of least expected cost", columns, width, len(table.classes))


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


@record
class FoundScores:
    """What some rows show: the scores of those of known classes, if there are any, and how many others there are."""

    score: "Scorecard | None"
    ranking: "Ranking | None"
    n_unknown: int

    def __add__(self, other: "FoundScores") -> "FoundScores":
        from bayeswater.models.streaming.passes import plus

        score, ranking = plus(self.score, other.score), plus(self.ranking, other.ranking)
        return FoundScores(score, ranking, self.n_unknown + other.n_unknown)


@record
class Evaluating:
    """A function of labelled rows: how the answers for them compare with the truth; what they cost is added up."""

    model: Any
    names: list[str]
    costs: CostsSoFar | None

    def __call__(self, piece: "Piece") -> FoundScores:
        """Evaluate all rows of a piece, a few at a time."""
        from bayeswater.cli.models import few_rows
        from bayeswater.data.row_places import rows_among

        n_all = len(piece.y)
        total = FoundScores(None, None, 0)
        for start, n_rows in few_rows(n_all, len(self.model.classes_)):
            with rows_among(start, n_rows, n_all):
                total += self._of(piece.X.slice(start, n_rows), piece.y.slice(start, n_rows))
        return total

    def _of(self, table: "pa.Table", labels: "pa.ChunkedArray") -> FoundScores:
        import numpy as np

        from bayeswater.decision.ranking import Ranking
        from bayeswater.decision.scorecard import Scorecard

        code_of = {label: code for code, label in enumerate(self.model.classes_.tolist())}
        codes = np.array([code_of.get(label, -1) for label in labels.to_pylist()])
        known = codes >= 0
        if not known.all():
            table, codes = table.filter(known), codes[known]
        n_unknown = len(known) - len(codes)
        if not len(codes):
            return FoundScores(None, None, n_unknown)
        X = table.select(self.names)
        log_proba = self.model.predict_log_proba(X)
        if self.costs is not None:
            self.costs.add(table, log_proba, codes, self.model.predict(X).tolist())
        return FoundScores(Scorecard.of(log_proba, codes), Ranking.of(log_proba, codes), n_unknown)
