"""How the words of a text are read: they are counted once, and read in three ways.

The rows at hand tell which way is the best, each left out of the counts.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.labels import CheckedLabels, Labels, encode_labels
from bayeswater.data.reading.column_plan import TEXT, Column
from bayeswater.data.reading.raw_table import read_raw
from bayeswater.data.weights import CountedRows, evenly_spaced, take_rows
from bayeswater.decision.calibration_maps import Temperature
from bayeswater.decision.scores import Scores
from bayeswater.estimate.dirichlet import log_prior_without
from bayeswater.families.family import Settings
from bayeswater.families.registry import OF_TEXT, key_of, law_of
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.log_space import best_class, log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

own_reasons(
    {
        "no class has a second row to compare readings by": "没有哪一类有第二行可供比较读法",
        "words have weights": "词带有权重",
        "leave-one-out of {n} rows: {parts}": "对 {n} 行留一：{parts}",
        "{title} {n} % right (log-loss {loss})": "{title} 正确 {n} %（对数损失 {loss}）",
    }
)

COMPARED_ROWS = 20_000
"""Rows by which the ways to read a text are compared, at most."""

COUNTED = "multinomial"
"""The way to read words that is taken unless another one is better."""

LAST_DIGITS = 1e-9
"""Share of a log-loss that is rounding."""


def rows_to_compare(X: Any, y: CheckedLabels, weight: Array | None) -> tuple[Any, CheckedLabels, Array | None]:
    """Take the rows by which the ways to read a text are compared: evenly spaced, as rows may be sorted."""
    some = evenly_spaced(len(y), COMPARED_ROWS)
    return take_rows(X, some), y[some], None if weight is None else weight[some]


@record
class WordReport:
    """How well some rows are told apart in one way to read their words: accuracy, and the log-loss of each row."""

    accuracy: float
    losses: Array
    weight: Array | None

    @property
    def log_loss(self) -> float:
        """Mean log-loss."""
        return float(np.average(self.losses, weights=self.weight))

    @property
    def n_rows(self) -> float:
        """Number of rows: one of weight w is w rows."""
        return float(len(self.losses) if self.weight is None else self.weight.sum())

    def is_worse_than(self, other: "WordReport") -> bool:
        """Tell whether another way to read the same rows is better, by more than noise.

        By more than the standard error of the mean difference, and by more than the last digits: of two classes the
        complement of one is the other, and both ways are the same.
        """
        with np.errstate(invalid="ignore"):  # a class may be impossible in both
            gain = np.where(self.losses == other.losses, 0.0, self.losses - other.losses)
            mean = np.average(gain, weights=self.weight)
            variance = np.average((gain - mean) ** 2, weights=self.weight)
        if not np.isfinite(mean):
            return bool(mean > 0)
        rounding = LAST_DIGITS * self.losses[np.isfinite(self.losses)].max(initial=0.0)
        return bool(mean > max(np.sqrt(variance / self.n_rows), rounding))


def settle_texts(
    sums: Sums[ColumnGroups],
    settings: Settings,
    rows: tuple[Any, Any, Any],
    class_alpha: float,
    names: Collection[str] | None = None,
) -> Sums[ColumnGroups]:
    """Choose how texts are read of which that is open, all or those named: counted, complemented or marked.

    Some counted `rows`, their labels and weights, decide. Counts are a distribution of texts, from which all else
    follows (evidence, novelty, samples): the other ways have to be better by more than noise.
    """
    plan = sums.columns.plan
    texts = [column for column in plan.of_families(TEXT) if names is None or column.name in names]
    if not texts:
        return sums
    X, y, weight = rows_to_compare(*CountedRows.of(*rows, settings.model).triple)
    labels = encode_labels(y, sums.classes, counted=True)
    raw = read_raw(X, settings.model).require_columns(plan.sources, settings.model)
    changed = {}
    for column in texts:
        words = sums.columns.groups[key_of(column)]
        assert isinstance(words, TextSums)
        table = law_of(column.family)((column,)).encode(raw, words.vocabulary, settings, learning=False)
        reports = compare_words(words, sums.class_count.count, column, settings, table, labels, weight, class_alpha)
        changed[column.name] = _with_best_reading(column, reports)
    groups = ColumnGroups(sums.classes, plan.with_columns(changed), sums.columns.groups)
    return replace(sums, columns=groups)


def settle_weighed_texts(sums: Sums[ColumnGroups]) -> Sums[ColumnGroups]:
    """Count the words of texts whose reading is open: weights of words choose a reading of their own."""
    plan = sums.columns.plan
    texts = plan.of_families(TEXT)
    changed = {
        column.name: replace(column, family=COUNTED, why=f"{column.why}; words have weights") for column in texts
    }
    groups = ColumnGroups(sums.classes, plan.with_columns(changed), sums.columns.groups)
    return replace(sums, columns=groups) if changed else sums


def _with_best_reading(column: Column, reports: Mapping[str, WordReport]) -> Column:
    """Take the way to read the words that is best, and say how good each one is."""
    if not reports:
        return replace(column, family=COUNTED, why=f"{column.why}; no class has a second row to compare readings by")
    counted = reports[COUNTED]
    better = [family for family, report in reports.items() if counted.is_worse_than(report)]
    best = min(better, key=lambda family: reports[family].log_loss, default=COUNTED)
    figures = ", ".join(
        f"{family} {100 * report.accuracy:.1f} % right (log-loss {report.log_loss:.3f})"
        for family, report in reports.items()
    )
    n_rows = f"{counted.n_rows:,.0f}" if counted.n_rows.is_integer() else f"{counted.n_rows:,.6g}"
    return replace(column, family=best, why=f"{column.why}; leave-one-out of {n_rows} rows: {figures}")


def compare_words(
    words: TextSums,
    class_count: Array,
    column: Column,
    settings: Settings,
    table: Any,
    labels: Labels,
    weight: Array | None,
    class_alpha: float,
) -> Mapping[str, WordReport]:
    """Leave-one-out accuracy and log-losses of each way to read the words, each at its best temperature.

    A row alone in its class says nothing; where all are, there is nothing to compare.

    The scores of complement counts have no scale of their own, and those of long texts are too sure of themselves:
    a temperature makes them comparable.
    """
    removed = removed_weight(weight, len(labels.codes))
    alone = class_count[labels.codes] <= removed
    codes, times = labels.codes[~alone], None if weight is None else weight[~alone]
    if not len(codes):
        return {}
    reports = {}
    for family in OF_TEXT:
        likelihood = (
            law_of(family)((replace(column, family=family),)).read(words, settings).without(table, labels, removed)
        )

        def log_joint(rows: slice, use_loop: bool, likelihood: Any = likelihood) -> tuple[Array, Array]:
            prior = log_prior_without(class_count, class_alpha, labels.codes[rows], removed[rows])
            return prior + likelihood(rows, use_loop), prior

        log_proba = score_blocks(log_joint, table, log_posterior)[~alone]
        tempered = Temperature.fit(log_proba, codes, times).apply(log_proba)
        correct = best_class(log_proba.copy()) == codes
        reports[family] = WordReport(float(np.average(correct, weights=times)), -Scores.of(tempered, codes).own, times)
    return reports
