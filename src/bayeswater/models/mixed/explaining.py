"""Why a mixed table is decided as it is, how sure that is, whether the like was seen, and what cells would tell.

A date is asked for as a whole, and tells its days, weekday and month together.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from bayeswater.data.cells import is_missing, python_value
from bayeswater.data.frames import Alongside
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.decision.facts import Fact, RegionFact
from bayeswater.errors import ParameterError
from bayeswater.explain.credible_interval import CredibleIntervals, intervals, parameter_draws, support
from bayeswater.explain.explanations import Explanations, Terms, views_of
from bayeswater.explain.novelty import novelty as row_novelty
from bayeswater.explain.turning import Decided, Told
from bayeswater.families.family import MixedJoint
from bayeswater.families.registry import with_new_cells
from bayeswater.inference.drawing import Stage, checked_draws, checked_seed
from bayeswater.models.asking import Facts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import SeenRanges, Sums
from bayeswater.typing import Array, is_number

Groups = Mapping[str, tuple[Column, ...]]
"""Columns of each group."""


def explained(
    joint: MixedJoint, table: MixedTable, raw: RawTable, groups: Groups, seen: SeenRanges, told: Told
) -> Explanations:
    """Say what each column adds to the log-odds of rows."""
    terms = Terms(joint, table, groups)
    return Explanations.of(terms, views_of(terms, raw, seen), *told)


def posterior_intervals(
    joint: MixedJoint,
    sums: Sums[ColumnGroups],
    table: MixedTable,
    groups: Groups,
    decided: Decided,
    known: Array,
    correction: Callable[[Array, Array], Array] | None,
    class_shape: Array | None,
    classes: Array,
    alongside: Alongside,
    level: float,
    n_draws: int,
    random_state: int,
) -> CredibleIntervals:
    """Tell how far probabilities may be from what is predicted, by draws of the parameters; see `NaiveBayes`.

    `class_shape` are the pseudo-counts that class probabilities are drawn by, None where these are given; `correction`
    calibrates log-probabilities of rows with so many `known` cells (n_rows,).
    """
    if not (is_number(level) and 0 < level < 1):
        raise ParameterError(f"level is {level!r}; give a number between 0 and 1")
    stage = Stage(checked_seed(random_state), checked_draws(n_draws), len(classes))
    draws = parameter_draws(joint.generative(), sums.columns.plan.used, groups, stage)

    def corrected(log_proba: Array, rows: slice) -> Array:
        """Calibrate the draws of each row."""
        assert correction is not None
        return correction(log_proba, np.repeat(known[rows], stage.n_draws))

    by = None if correction is None else corrected
    low, high = intervals(table, draws, class_shape, joint.log_prior, stage, level, by)
    behind = support(joint, table, sums.class_count.count, decided.chosen)
    return CredibleIntervals(np.exp(decided.decisive), low, high, classes, behind, decided.chosen, level, alongside)


def novelty_of(
    joint: MixedJoint, table: MixedTable, raw: RawTable, groups: Groups, n_draws: int, random_state: int
) -> Array:
    """Tell the share of rows drawn from a model that are no more probable than each row; see `NaiveBayes`."""
    draws, seed = checked_draws(n_draws), checked_seed(random_state)
    return row_novelty(joint.generative(), with_new_cells(table, raw), groups, draws, seed)


def mixed_facts(
    joint: MixedJoint,
    groups: Mapping[str, Sequence[Column]],
    plan: ColumnPlan,
    raw: RawTable,
    unknown: Collection[str] = (),
) -> Facts:
    """Give the facts of every column of the table that is missing in the first row.

    Where empty is a state, a missing cell is known to be empty, unless the column is `unknown`.
    """
    of_column = {
        column.name: joint.groups[key].fact(j, is_unknown=column.source in unknown)
        for key, columns in groups.items()
        for j, column in enumerate(columns)
    }
    facts: dict[str, Sequence[Fact] | str] = {}
    for source in plan.sources:
        found = [of_column[column.name] for column in plan.used if column.source == source]
        if found and _is_missing(raw, source):
            reasons = [fact for fact in found if isinstance(fact, str)]
            told = [fact for fact in found if not isinstance(fact, str)]
            # A density comes first: its regions hang on what the other parts of a date say.
            facts[source] = reasons[0] if reasons else sorted(told, key=lambda fact: not isinstance(fact, RegionFact))
    return facts


def _is_missing(raw: RawTable, source: str) -> bool:
    cells = raw.columns[source]
    if isinstance(cells, SparseMatrix):
        return False
    return is_missing(python_value(cells[0]))
