"""From undecided columns to families: numbers by the evidence of their sums, text by leave-one-out.

Numbers need no second look at the rows: the sums of whichever family wins are already among those that were kept to
choose it. The words of a text are counted once, and read in three ways; the rows at hand tell which way is the best.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.column_plan import AUTO, NUMERIC, OF_TEXT, TEXT, Column
from bayeswater.data.labels import Labels
from bayeswater.data.number_table import bin_schema
from bayeswater.decision.scores import Scores
from bayeswater.decision.softmax_maps import Temperature
from bayeswater.estimate.number_family import FamilyChoice, choose_family
from bayeswater.inference.leave_one_out import log_prior_without, removed_weight
from bayeswater.inference.log_space import best_class, log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.models.column_settings import ColumnSettings
from bayeswater.models.parts.grouping import parts_of, words_key
from bayeswater.models.parts.part import Settings
from bayeswater.models.parts.word_part import WordPart
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.statistics.statistic import Statistic, remainder
from bayeswater.statistics.sums import Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array


def settle_numbers(sums: Sums[ColumnGroups], settings: Settings, numeric: str) -> Sums[ColumnGroups]:
    """Choose a family for every undecided column of numbers, and keep the sums of that family alone."""
    groups = dict(sums.columns.groups)
    if "undecided" not in groups:
        return sums
    profile = groups.pop("undecided")
    assert isinstance(profile, NumberProfile)
    columns = sums.columns.plan.of_families(AUTO)
    choices = [_chosen(profile, j, column, settings, numeric) for j, column in enumerate(columns)]
    plan = sums.columns.plan.with_columns(
        {
            column.name: replace(column, family=choice.family, cuts=choice.cuts, why=choice.why)
            for column, choice in zip(columns, choices, strict=True)
        }
    )
    by_key: dict[str, list[Any]] = {}
    for j, choice in enumerate(choices):
        key = {"binned": "bins", "poisson": "poisson"}.get(choice.family, "normal")
        by_key.setdefault(key, []).append(_sums_of_choice(profile, j, choice, sums.class_count.count))
    for key, part in parts_of(plan).items():
        if key in by_key:
            found = ([groups[key]] if key in groups else []) + by_key[key]
            groups[key] = _in_order(found, part.names)
    return Sums(sums.class_count, ColumnGroups(sums.classes, plan, groups))


def _chosen(profile: NumberProfile, j: int, column: Column, settings: Settings, numeric: str) -> FamilyChoice:
    said: ColumnSettings = settings.of(column)
    family = said.family or numeric
    families = NUMERIC if family == AUTO else (family,)
    choice = choose_family(profile, j, families=families, n_bins=said.bins)
    return choice if said.family in (None, AUTO) else replace(choice, why=f"as told; {choice.why}")


def _sums_of_choice(profile: NumberProfile, j: int, choice: FamilyChoice, class_count: Array) -> Statistic:
    """Sums of one column in the family that was chosen for it."""
    if choice.family == "gaussian":
        return profile.moments.take([j])
    if choice.family == "lognormal":
        return profile.logs.take([j])
    name = profile.column_name(j)
    if choice.family == "poisson":
        return CountTotals(profile.classes, (name,), np.array(profile.whole[:, [j]]), np.array(profile.total[:, [j]]))
    assert choice.cuts is not None
    counts = profile.binned(j, choice.cuts)  # (n_bins, n_classes)
    missing = class_count - counts.sum(axis=0)
    if missing.dtype.kind == "f":
        missing = remainder(class_count, counts.sum(axis=0))
    return CategoryCounts(profile.classes, bin_schema([choice.cuts], [name]), np.vstack([counts, missing]))


def _in_order(pieces: Sequence[Any], names: Sequence[str]) -> Statistic:
    """Put statistics of single columns side by side, in the order of the plan."""
    joined = pieces[0]
    for piece in pieces[1:]:
        joined = joined.beside(piece)
    found = [variable.name for variable in joined.schema] if isinstance(joined, CategoryCounts) else joined.names
    return joined.take([list(found).index(name) for name in names])


# ---------------------------------------------------------------------- text


def settle_text(
    sums: Sums[ColumnGroups],
    settings: Settings,
    tables: Callable[[Column], tuple[Any, Labels, Array | None]],
    class_alpha: float,
) -> Sums[ColumnGroups]:
    """Choose for every undecided column of words how they are read: counted, complemented or marked.

    `tables` gives the words of some counted rows, their labels and weights.
    """
    plan = sums.columns.plan
    changed = {}
    for column in plan.of_families(TEXT):
        words = sums.columns.groups[words_key(column)]
        assert isinstance(words, TextSums)
        reports = compare_words(words, sums.class_count.count, column, settings, *tables(column), class_alpha)
        # Of two classes the complement of one is the other: a difference in the last digits is none.
        best = min(reports, key=lambda family: (float(f"{reports[family]['log_loss']:.9g}"), OF_TEXT.index(family)))
        figures = ", ".join(
            f"{family} {100 * report['accuracy']:.1f} % ({report['log_loss']:.3f})"
            for family, report in reports.items()
        )
        why = f"{column.why}; leave-one-out accuracy (log-loss): {figures}"
        changed[column.name] = replace(column, family=best, why=why)
    if not changed:
        return sums
    groups = ColumnGroups(sums.classes, plan.with_columns(changed), sums.columns.groups)
    return Sums(sums.class_count, groups)


def compare_words(
    words: TextSums,
    class_count: Array,
    column: Column,
    settings: Settings,
    table: Any,
    labels: Labels,
    weight: Array | None,
    class_alpha: float,
) -> Mapping[str, Mapping[str, float]]:
    """Leave-one-out accuracy and log-loss of each way to read the words, each at its best temperature.

    The scores of complement counts have no scale of their own, and those of long texts are too sure of themselves:
    a temperature makes them comparable.
    """
    removed = removed_weight(weight, len(labels.codes))
    alone = class_count[labels.codes] <= removed  # a row alone in its class says nothing
    times = None if weight is None else weight[~alone]
    reports = {}
    for family in OF_TEXT:
        likelihood = WordPart((replace(column, family=family),)).read(words, settings).without(table, labels, removed)

        def log_joint(rows: slice, use_loop: bool, likelihood: Any = likelihood) -> tuple[Array, Array]:
            prior = log_prior_without(class_count, class_alpha, labels.codes[rows], removed[rows])
            return prior + likelihood(rows, use_loop), prior

        log_proba = score_blocks(log_joint, table, log_posterior)[~alone]
        codes = labels.codes[~alone]
        if not len(codes):
            return {"multinomial": {"accuracy": float("nan"), "log_loss": float("nan")}}
        tempered = Temperature.fit(log_proba, codes, times).apply(log_proba)
        correct = best_class(log_proba.copy()) == codes
        reports[family] = {
            "accuracy": float(np.average(correct, weights=times)),
            "log_loss": float(-np.average(Scores.of(tempered, codes).own, weights=times)),
        }
    return reports
