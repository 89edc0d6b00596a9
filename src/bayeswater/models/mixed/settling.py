"""From undecided columns to families: numbers by the evidence of their sums, text by leave-one-out.

Numbers need no second look at the rows: the sums of whichever family wins are already among those that were kept to
choose it. Bins that the labels choose are no candidates, since their evidence would count the labels twice: they are
made where they are asked for. The words of a text are counted once, and read in three ways; the rows at hand tell which
way is the best.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswater.data.column_plan import AUTO, BITS, NUMERIC, OF_TEXT, Column
from bayeswater.data.labels import Labels
from bayeswater.data.number_table import bin_schema
from bayeswater.data.raw_table import read_raw
from bayeswater.data.schema import Schema
from bayeswater.data.variable import Variable
from bayeswater.decision.scores import Scores
from bayeswater.decision.softmax_maps import Temperature
from bayeswater.estimate.class_bins import class_cuts
from bayeswater.estimate.number_family import FamilyChoice, choose_family
from bayeswater.inference.leave_one_out import log_prior_without, removed_weight
from bayeswater.inference.log_space import best_class, log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.kernels.threads import ordered_map
from bayeswater.models.mixed.column_settings import MDL, ColumnSettings
from bayeswater.models.mixed.parts.category_part import StatePart
from bayeswater.models.mixed.parts.grouping import key_of, parts_of, words_key
from bayeswater.models.mixed.parts.part import Settings
from bayeswater.models.mixed.parts.word_part import WordPart
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.statistics.statistic import Statistic, remainder
from bayeswater.statistics.sums import Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

OF_DAYS = ("gaussian", "binned")
"""Families among which that of the days of a date is chosen."""

COUNTED = "multinomial"
"""The way to read words that is taken unless another one is better."""

LAST_DIGITS = 1e-9
"""Share of a log-loss that is rounding."""


def settle_numbers(sums: Sums[ColumnGroups], settings: Settings, numeric: str) -> Sums[ColumnGroups]:
    """Choose a family for every undecided column of numbers, and keep the sums of that family alone."""
    groups = dict(sums.columns.groups)
    if "undecided" not in groups:
        return sums
    profile = groups.pop("undecided")
    assert isinstance(profile, NumberProfile)
    columns = sums.columns.plan.of_families(AUTO, BITS)
    choices = list(ordered_map(lambda j: _chosen(profile, j, columns[j], settings, numeric), range(len(columns))))
    plan = sums.columns.plan.with_columns(
        {
            column.name: replace(
                column, family=choice.family, cuts=choice.cuts, why=choice.why, spans=_spans(profile, j, choice.cuts)
            )
            for j, (column, choice) in enumerate(zip(columns, choices, strict=True))
        }
    )
    by_key: dict[str, list[Any]] = {}
    for j, choice in enumerate(choices):
        found = sums_of_choice(profile, j, choice, sums.class_count.count)
        by_key.setdefault(key_of(choice.family), []).append(found)
    for key, part in parts_of(plan).items():
        if key in by_key:
            pieces = ([groups[key]] if key in groups else []) + by_key[key]
            joined = in_order(pieces, part.names)
            if isinstance(part, StatePart) and isinstance(joined, CategoryCounts):
                joined = part.declaring(joined, settings)
            groups[key] = joined
    return Sums(sums.class_count, ColumnGroups(sums.classes, plan, groups))


def _chosen(profile: NumberProfile, j: int, column: Column, settings: Settings, numeric: str) -> FamilyChoice:
    said: ColumnSettings = settings.of(column)
    values = profile.occupied(j).first
    if column.family == BITS and profile.is_whole(j) and (values <= 1).all():
        return FamilyChoice("bernoulli", "only 0 and 1" if len(values) > 1 else column.why, None, {})
    if said.bins == MDL:
        return _cut_by_class(profile, j)
    family = said.family or numeric
    # The first of all days is arbitrary, and with it whatever depends on the distance from it.
    of_all = OF_DAYS if column.part == "days" else NUMERIC
    families = of_all if family == AUTO else (family,)
    assert not isinstance(said.bins, str)
    choice = choose_family(profile, j, families=families, n_bins=said.bins)
    return choice if said.family in (None, AUTO) else replace(choice, why=f"as told; {choice.why}")


def _cut_by_class(profile: NumberProfile, j: int) -> FamilyChoice:
    """Bins as told, cut where they tell the classes apart."""
    histogram = profile.keys.of_column(j)
    cuts = class_cuts(histogram, fallback=None)
    if cuts:
        return FamilyChoice("binned", f"as told; {len(cuts) + 1} bins by {MDL}", cuts, {})
    cuts = class_cuts(histogram)
    how = f"{len(cuts) + 1} bins of equal frequency" if cuts else "one bin"
    return FamilyChoice("binned", f"as told; {how}, as {MDL} finds no cut", cuts, {})


def sums_of_choice(profile: NumberProfile, j: int, choice: FamilyChoice, class_count: Array) -> Statistic:
    """Sums of one column in the family that was chosen for it."""
    if choice.family == "gaussian":
        return profile.moments.take([j])
    if choice.family == "lognormal":
        return profile.logs.take([j])
    name = profile.column_name(j)
    if choice.family == "poisson":
        wholes = profile.wholes.take([j])
        return CountTotals(profile.classes, (name,), np.array(wholes.whole), np.array(wholes.total))
    if choice.family == "bernoulli":
        counts, schema = profile.binned(j, (1.0,)), Schema((Variable(name, (False, True), frozenset({False, True})),))
    else:
        assert choice.cuts is not None
        counts, schema = profile.binned(j, choice.cuts), bin_schema([choice.cuts], [name])  # (n_states, n_classes)
    missing = class_count - counts.sum(axis=0)
    if missing.dtype.kind == "f":
        missing = remainder(class_count, counts.sum(axis=0))
    return CategoryCounts(profile.classes, schema, np.vstack([counts, missing]))


def _spans(profile: NumberProfile, j: int, cuts: tuple[float, ...] | None) -> tuple[tuple[float, float], ...] | None:
    """Least and largest value of each bin, if there are bins with values."""
    occupied = profile.occupied(j)
    if cuts is None or not len(occupied.first):
        return None
    first = np.searchsorted(occupied.first, [-np.inf, *cuts])  # stretch at which each bin begins
    last = np.append(first[1:], len(occupied.first)) - 1
    return tuple(zip(occupied.first[first].tolist(), occupied.last[last].tolist(), strict=True))


def in_order(pieces: Sequence[Any], names: Sequence[str]) -> Statistic:
    """Put statistics of single columns side by side, in the order of the plan."""
    joined = pieces[0]
    for piece in pieces[1:]:
        joined = joined.beside(piece)
    found = [variable.name for variable in joined.schema] if isinstance(joined, CategoryCounts) else joined.names
    return joined.take([list(found).index(name) for name in names])


# ---------------------------------------------------------------------- text


@dataclass(frozen=True)
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


def settle_text(
    sums: Sums[ColumnGroups],
    settings: Settings,
    X: Any,
    labels: Labels,
    weight: Array | None,
    class_alpha: float,
    names: Collection[str],
) -> Sums[ColumnGroups]:
    """Choose for the named columns of words how they are read: counted, complemented or marked.

    Some counted rows, their labels and weights, decide. Counts are a distribution of texts, from which all else follows
    (evidence, novelty, samples): the other ways have to be better by more than noise.
    """
    plan = sums.columns.plan
    raw = read_raw(X, settings.model).require_columns(plan.sources, settings.model)
    changed = {}
    for column in map(plan.__getitem__, names):
        words = sums.columns.groups[words_key(column)]
        assert isinstance(words, TextSums)
        table = WordPart((column,)).encode(raw, words, settings, learning=False)
        reports = compare_words(words, sums.class_count.count, column, settings, table, labels, weight, class_alpha)
        changed[column.name] = _with_best_reading(column, reports)
    groups = ColumnGroups(sums.classes, plan.with_columns(changed), sums.columns.groups)
    return Sums(sums.class_count, groups)


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
        likelihood = WordPart((replace(column, family=family),)).read(words, settings).without(table, labels, removed)

        def log_joint(rows: slice, use_loop: bool, likelihood: Any = likelihood) -> tuple[Array, Array]:
            prior = log_prior_without(class_count, class_alpha, labels.codes[rows], removed[rows])
            return prior + likelihood(rows, use_loop), prior

        log_proba = score_blocks(log_joint, table, log_posterior)[~alone]
        tempered = Temperature.fit(log_proba, codes, times).apply(log_proba)
        correct = best_class(log_proba.copy()) == codes
        reports[family] = WordReport(float(np.average(correct, weights=times)), -Scores.of(tempered, codes).own, times)
    return reports
