"""What all laws of states share, categories and bins: P(state | class) = (N_kv + alpha_v) / (N_k + sum of alpha).

Leaving a row out of the counts is not enough where the pseudo-count of a column was chosen by all rows: of few rows and
many columns, those that tell the classes apart by chance get little smoothing, and each row finds itself in that
choice. Without a row of class k and state v, the counts of a column depend on nothing but (k, v): so the pseudo-count
is chosen once for each of them (`best_alphas_without`), and a row of class k is scored by the table

    log P(v | c) = log((N_cv - [c = k] + a_kv) / (N_c - [c = k] + S a_kv))

A prediction leaves out a state that no row had. For novelty it is the very thing to see: it has the probability that
the Dirichlet posterior gives to one more state without a count,

    P(new | k) = alpha / (N_k + (S + 1) alpha),

which is less than that of any of the S states there are.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.reading.column_plan import AUTO, Column
from bayeswater.data.reading.number_table import bin_labels, bin_words
from bayeswater.data.variable import Schema, Variable, sorted_labels
from bayeswater.decision.facts import MISSING_IS_STATE, Fact, StateFact
from bayeswater.estimate.dirichlet import Beta, Dirichlet
from bayeswater.estimate.smoothing import (
    best_alphas,
    best_alphas_without,
    category_log_likelihood,
    column_totals,
    columns_of_one_value,
    concentration_table,
    empty_is_state,
)
from bayeswater.families.curve import ColumnCurve, state_curve
from bayeswater.families.family import ABSENT, Block, Family, ParameterDraws, Settings
from bayeswater.families.view import CellUse, ColumnView, Options
from bayeswater.families.wording import cell
from bayeswater.inference.drawing import Stage, draw_states, log_share, states_at, stream
from bayeswater.inference.formula import BinForm, CellForm, LabelForm, Lookup
from bayeswater.inference.leave_one_out import leave_out_own_class, states_own_without
from bayeswater.inference.linear import CategoryJoint, Line, line_of_states, with_unseen
from bayeswater.kernels.category_tables import sum_of_own_states
from bayeswater.phrases import Phrase
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.typing import Array

MOST_ROWS = 2**15
"""Rows of a table up to which one of them is missed: of more, hardly any choice would be another without it."""

MOST_TERMS = 2**21
"""Terms of all choices together, and entries of all tables, at most: they take seconds, and some ten megabytes."""


class StateView(ColumnView):
    """A column of states."""

    block: "StateBlock"

    @property
    def is_binned(self) -> bool:
        """Whether the states are bins of a number, in order."""
        return self.column.cuts is not None

    @cached_property
    def labels(self) -> list[Any]:
        """Names of the states; None is an empty cell, where that is one."""
        return labels_of(self.block, self.column, self.j)

    @cached_property
    def log_probability(self) -> Array:
        """Logarithm of P(state | class): (n_states, n_classes)."""
        return self.block.log_shares(self.j)

    def code(self, row: int) -> int:
        """Code of the state of a cell."""
        return int(self.cells(row)[0, self.j])

    def cell(self, row: int) -> CellUse:
        """Tell what became of a cell; where missing is a state, it is read as one, unless nothing is known of it."""
        code = self.code(row)
        if code > self.block.counts.n_states[self.j]:
            return CellUse.MISSING if self.value(row) is None else CellUse.UNSEEN
        return CellUse.READ if code < len(self.labels) else CellUse.MISSING

    def value(self, row: int) -> Any:
        """Give the cell as the user gave it; of a date, its weekday or month."""
        code = self.code(row)
        is_derived = self.column.part in ("weekday", "month")
        return self._named(self.labels[code]) if is_derived and code < len(self.labels) else super().value(row)

    def _named(self, label: Any) -> Any:
        """Name a state; weekdays and months so that they can be told in other languages."""
        return Phrase(label) if self.column.part in ("weekday", "month") and label is not None else label

    def reading(self, row: int, chosen: int, against: int) -> str:
        """Name the bin of a number."""
        code = self.code(row)
        if not self.is_binned or code >= self.block.counts.n_states[self.j]:
            return ""
        return self.language.say("binned", label=bin_words(self.column, self.language)[code])

    @cached_property
    def state_count(self) -> Array:
        """How often each state was counted: (n_states,)."""
        counts = self.block.counts
        first = counts.start[self.j]
        return np.asarray(counts.table[first : first + len(self.labels)].sum(axis=1), dtype=np.float64)

    def options(self, row: int, chosen: int) -> Options | None:
        """List the states that occur, the most frequent first; bins are as far as their places are apart."""
        code, count = self.code(row), self.state_count
        cells = np.flatnonzero(count > 0)
        cells = cells[np.argsort(-count[cells], kind="stable")]
        cells = cells[cells != code]
        share = count / max(count.sum(), 1.0)
        variance = (1 - share @ share) / 2
        if not len(cells) or not variance > 0:
            return None
        distance = np.full(len(cells), 1 / np.sqrt(variance))
        if self.is_binned:  # an empty cell, behind the last bin, has no place among them
            place = np.arange(self.block.counts.n_states[self.j])
            own = count[: len(place)]
            middle = own @ place / own.sum()
            deviation = np.sqrt(own @ (place - middle) ** 2 / own.sum())
            is_bin = cells < len(place)
            apart = np.abs(cells[is_bin] - (code if code < len(place) else middle))
            distance[is_bin] = apart / (deviation if deviation > 0 else 1.0)
        return Options(cells, distance, self._words, self._label)

    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of states: (n, n_classes)."""
        return self.log_probability[cells]

    def _label(self, code: Any) -> Any:
        return self.labels[int(code)]

    def _words(self, code: Any) -> str:
        label = self._label(code)
        if self.is_binned and label is not None:
            return bin_words(self.column, self.language)[int(code)]
        return cell(self._named(label), self.language)


@record
class StateBlock(Block):
    """Counts of categories and the pseudo-counts (n_table_rows, 1) they are smoothed with."""

    counts: CategoryCounts
    concentration: Array
    missing_is_state: bool | Array = False  # of all columns, or of each (n_columns,)

    view: ClassVar[type[ColumnView]] = StateView

    @cached_property
    def empty_is_state(self) -> Array:
        """Which columns have missing as a state: (n_columns,)."""
        return np.broadcast_to(self.missing_is_state, len(self.counts.schema))

    def log_probability(self, removed: float = 0.0) -> Array:
        """Logarithm of P(state | class), laid out like the counts."""
        return category_log_likelihood(
            self.counts.table,
            self.counts.start,
            self.concentration,
            missing_is_state=self.missing_is_state,
            removed=removed,
        )

    @cached_property
    def joint(self) -> CategoryJoint:
        """The tables, laid out for scoring, with a class prior of one."""
        none = np.zeros(self.counts.n_classes)
        return CategoryJoint.from_tables(none, self.log_probability(), self.counts.n_states, self.counts.start)

    def likelihood(self, cells: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        return self.joint.likelihood(cells, use_loop)

    def terms(self, cells: Array) -> Array:
        """Log-likelihood of each cell: (n_rows, n_columns, n_classes)."""
        joint = self.joint
        return joint.log_likelihood[joint.start[:-1] + np.minimum(cells, joint.n_states)]

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the counts."""
        one_weight = (removed == removed[0]).all()  # rows of one weight share their table
        shared = with_unseen(self.log_probability(float(removed[0])), self.counts.start) if one_weight else None

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block, y = table.block(rows), labels.codes[rows]
            if shared is not None:
                own = sum_of_own_states(block, self.joint.n_states, self.joint.start, y, shared, use_loop=use_loop)
            else:
                own = states_own_without(
                    block, y, removed[rows], self.counts, self.concentration, missing_is_state=self.missing_is_state
                )
            return leave_out_own_class(self.likelihood(block, use_loop), own, y)

        return likelihood

    def known_cells(self, table: Any) -> Array:
        """Count the cells of each row that have a state, missing ones where that is one: (n_rows,)."""
        return np.asarray(table.known_cells(self.missing_is_state))

    def draw_parameters(self, places: Sequence[int], stage: Stage) -> ParameterDraws:
        """Draw shares from their Dirichlet(N_kv + alpha_v)."""
        return StateDraws(self, places, stage)

    def draw_terms(self, codes: Array, places: Sequence[int], seed: int, lengths: Array) -> list[dict[int, Array]]:
        """Draw states, missing ones among them where missing is a state."""
        counts, probability = self.counts, np.exp(self.log_probability())
        drawn = np.empty((len(codes), len(places)), dtype=np.int64)
        for j, place in enumerate(places):
            n_states = int(counts.n_states[j] + self.empty_is_state[j])
            share = probability[counts.start[j] : counts.start[j] + n_states]  # (n_states, n_classes)
            uniform = stream(seed, place).random(len(codes))
            drawn[:, j] = states_at(np.cumsum(share, axis=0).T, codes, uniform) if n_states else counts.n_states[j]
        terms = self.terms(drawn)
        return [{0: terms[:, j]} for j in range(len(places))]

    def patterns(self, cells: Array) -> Array:
        """Which columns some rows have: (n_rows, n_columns)."""
        return np.where(self.is_known(cells) | self.is_new(cells), 0, ABSENT)

    def is_known(self, cells: Array) -> Array:
        """Mark the cells of some rows that have a state, missing ones where that is one: (n_rows, n_columns)."""
        return cells < self.counts.n_states + self.empty_is_state

    def is_new(self, cells: Array) -> Array:
        """Mark the cells of some rows (n_rows, n_columns) that no row had; of an empty column there are none."""
        return (cells == self.counts.n_states + 1) & (self.counts.n_states > 0)

    @cached_property
    def log_new_state(self) -> Array:
        """Logarithm of P(new state | class): (n_columns, n_classes), -inf without smoothing.

        Where a prior gives the states pseudo-counts of their own, the new one has their mean.
        """
        counts = self.counts
        n_states, pseudo_count, count = column_totals(
            counts.table, counts.start, self.concentration, missing_is_state=self.missing_is_state
        )
        alpha = pseudo_count / np.maximum(n_states, 1)
        total = count + pseudo_count + alpha
        with np.errstate(divide="ignore"):
            return np.log(alpha / np.where(total > 0, total, 1.0))

    def add_new(self, log_joint: Array, cells: Array) -> None:
        """Add what the cells that no row had say to the log-joints of some rows."""
        row, column = np.nonzero(self.is_new(cells))
        np.add.at(log_joint, row, self.log_new_state[column])

    def support(self, cells: Array, chosen: Array) -> Array:
        """Rows of the class with the state of each cell, the fewest of a row."""
        counts = self.counts
        left_out = cells >= counts.n_states + self.empty_is_state
        entry = counts.start[:-1] + np.where(left_out, 0, cells)
        found = np.where(left_out, np.inf, counts.table[entry, chosen[:, None]])
        return found.min(axis=1, initial=np.inf)

    def fact(self, j: int, *, is_unknown: bool) -> Fact | str:
        """Tell the states; a cell that is known to be empty, where that is a state, tells no more."""
        if self.empty_is_state[j] and not is_unknown:
            return MISSING_IS_STATE
        return StateFact(self.log_shares(j))

    def log_shares(self, j: int) -> Array:
        """Logarithm of P(state | class) of column j: (n_states, n_classes)."""
        first = self.joint.start[j]
        return self.joint.log_likelihood[first : first + self.counts.n_states[j] + self.empty_is_state[j]]

    def curve(self, column: Column, j: int) -> ColumnCurve:
        """Give the probability of each state or bin in each class, and how often it was counted."""
        labels, first = labels_of(self, column, j), self.counts.start[j]
        counts = self.counts.table[first : first + len(labels)]
        return state_curve(column, labels, np.exp(self.log_shares(j)), counts)

    def formula(self, j: int) -> Lookup:
        """Give the logarithms of P(state | class), with those of a missing cell."""
        return self.joint.formula(j, missing_is_state=bool(self.empty_is_state[j]))

    def line(self, names: Sequence[str], model: str) -> Line:
        """One feature for each state."""
        return line_of_states(
            self.joint, [(name, v.labels.tolist()) for name, v in zip(names, self.counts.schema, strict=True)]
        )


@record
class StatesWithout(StateBlock):
    """Columns whose pseudo-counts are chosen again without each row, where they are `automatic` (n_columns,)."""

    automatic: tuple[bool, ...] = ()

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of counts and smoothing."""
        if not self._is_missed(removed):
            return super().without(table, labels, removed)
        joints = self._joints

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block, y = table.block(rows), labels.codes[rows]
            found = np.empty((len(y), len(joints)))
            for k in np.unique(y).tolist():
                found[y == k] = joints[k].likelihood(block[y == k], use_loop)
            return found

        return likelihood

    def _is_missed(self, removed: Array) -> bool:
        """Tell whether a row can be taken out of the choice, and whether that may change it at a price worth paying."""
        counts, start = self.counts.table, self.counts.start
        automatic = np.array(self.automatic)
        if not (automatic.any() and (removed == 1).all() and (counts == np.floor(counts)).all()):
            return False
        n_rows = np.add.reduceat(counts.sum(axis=1), start[:-1]).max()
        choices = np.add.reduceat((counts > 0).sum(axis=1), start[:-1])[automatic]  # one for each cell at most
        n_terms = (choices * np.minimum(choices, np.sqrt(2 * n_rows))).sum()  # different counts sum to n_rows at most
        return bool(n_rows <= MOST_ROWS and max(n_terms, counts.size * self.counts.n_classes) <= MOST_TERMS)

    @cached_property
    def _joints(self) -> list[CategoryJoint]:
        """Log-likelihoods by which rows of each class are scored, with a class prior of one."""
        counts, start, n_classes = self.counts.table, self.counts.start, self.counts.n_classes
        width = np.diff(start)
        n_states, pseudo_count, total = (
            np.repeat(part, width, axis=0)
            for part in column_totals(counts, start, self.concentration, missing_is_state=self.missing_is_state)
        )
        alpha = best_alphas_without(counts, start, missing_is_state=self.missing_is_state)  # (n_table_rows, n_classes)
        automatic = np.repeat(np.array(self.automatic), width)[:, None]
        concentration = np.where(automatic, alpha, self.concentration)
        pseudo_count = np.where(automatic, n_states * alpha, pseudo_count)
        is_state = np.ones((len(counts), 1), dtype=bool)
        is_state[start[1:] - 1, 0] = self.missing_is_state
        joints = []
        for k in range(n_classes):
            own = (np.arange(n_classes) == k) & (counts[:, [k]] > 0) & is_state  # where a row is to be taken out
            smoothed, all_of_class = counts - own + concentration[:, [k]], total - own + pseudo_count[:, [k]]
            empty = all_of_class == 0
            with np.errstate(divide="ignore"):
                log_likelihood = np.log(np.where(empty, 1.0, smoothed))
            log_likelihood -= np.log(np.where(empty, n_states, all_of_class))
            log_likelihood[~is_state[:, 0]] = 0.0
            joints.append(CategoryJoint.from_tables(np.zeros(n_classes), log_likelihood, self.counts.n_states, start))
        return joints


class StateDraws:
    """Draws of the probabilities of states; only of those that rows have."""

    def __init__(self, columns: StateBlock, places: Sequence[int], stage: Stage) -> None:
        self.columns, self.places, self.stage = columns, places, stage
        counts = columns.counts
        smoothed = counts.table + columns.concentration
        self._smoothed = smoothed
        in_domain = np.ones((len(smoothed), 1))
        in_domain[counts.start[1:] - 1, 0] = columns.missing_is_state
        self._total = np.add.reduceat(smoothed * in_domain, counts.start[:-1])  # (n_columns, n_classes)
        self._n_states = counts.n_states + columns.empty_is_state
        self._state = lru_cache(stage.cached_cells)(self._drawn)

    def add_to(self, total: Array, cells: Array) -> None:
        """Add the log-likelihoods of rows of codes."""
        for j in range(cells.shape[1]):
            states, place = np.unique(cells[:, j], return_inverse=True)
            drawn = np.stack([self._state(j, int(state)) for state in states])
            total += drawn[place]

    def _drawn(self, j: int, state: int) -> Array:
        """Logarithm of P(state | class): (n_draws, n_classes)."""
        if state >= self._n_states[j]:  # missing or unseen: no factor
            return np.zeros((self.stage.n_draws, self.stage.n_classes))
        own = self._smoothed[self.columns.counts.start[j] + state]
        rng = stream(self.stage.seed, self.places[j], state)
        share, _ = log_share(rng, own, np.maximum(self._total[j] - own, 0.0), self.stage.n_draws)
        return np.where(self._total[j] == 0, -np.log(self._n_states[j]), share)


class StateFamily(Family):
    """What categories and bins share: a table of counts."""

    statistic: ClassVar = CategoryCounts
    has_states: ClassVar = True
    priors: ClassVar = (Dirichlet, Beta)

    def count(self, table: CodedTable, labels: Labels, weight: Array | None, settings: Settings) -> CategoryCounts:
        """Count the states; those that a prior names are declared."""
        return self.declaring(CategoryCounts.of(table, labels, weight), settings)

    def declaring(self, counts: CategoryCounts, settings: Settings) -> CategoryCounts:
        """Join the states that priors name to the domains; states that were found are sorted by label."""
        declared = [self._declared(v, c, settings) for v, c in zip(counts.schema, self.columns, strict=True)]
        return counts.declaring(Schema(tuple(declared)))

    def _declared(self, variable: Variable, column: Column, settings: Settings) -> Variable:
        prior = self.prior_of(column, settings)
        if not (variable.is_coded or variable.declared):
            variable = replace(variable, states=sorted_labels(variable.states))
        if prior is None or not prior.labels or variable.is_coded:
            return variable
        return Variable(variable.name, tuple(prior.labels), frozenset(prior.labels)).union(variable)

    def read(self, sums: CategoryCounts, settings: Settings) -> StateBlock:
        """Choose or take the smoothing of each column."""
        missing_is_state = empty_is_state(sums, settings.missing)
        alphas = [settings.alpha_of(column) for column in self.columns]
        alpha = np.array([np.nan if own == AUTO else float(own) for own in alphas])
        if np.isnan(alpha).any():
            best = best_alphas(sums.table, sums.start, missing_is_state=missing_is_state)
            alpha = np.where(np.isnan(alpha), best, alpha)
        found = {j: self.prior_of(column, settings) for j, column in enumerate(self.columns)}
        priors = {j: prior for j, prior in found.items() if prior is not None}
        return StateBlock(sums, concentration_table(sums, alpha, priors), missing_is_state)

    def without_choice(self, block: StateBlock, settings: Settings) -> StatesWithout:
        """Let automatic smoothing be chosen again without each row that is left out."""
        automatic = [
            settings.alpha_of(column) == AUTO and self.prior_of(column, settings) is None for column in self.columns
        ]
        return StatesWithout(block.counts, block.concentration, block.missing_is_state, tuple(automatic))

    def state_labels(self, sums: CategoryCounts, j: int) -> Sequence[Any]:
        """Name the states of a column."""
        return sums.schema[j].states

    def cell_form(self, sums: CategoryCounts, j: int) -> CellForm:
        """Cells are labels, or numbers in bins."""
        return state_form(self.columns[j], sums.schema[j])

    def distributions(self, block: StateBlock) -> Iterator[tuple[str, Sequence[Any], Array]]:
        """Name each column, its states, missing among them where that is one, and P(state | class) of all."""
        sums, probability = block.counts, np.exp(block.log_probability())
        for j, column in enumerate(self.columns):
            states, first, last = self.state_labels(sums, j), sums.start[j], sums.start[j + 1]
            if block.empty_is_state[j]:
                yield column.name, [*states, None], probability[first:last]
            else:
                yield column.name, states, probability[first : last - 1]

    def tables(self, sums: CategoryCounts, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give P(state | class) of each column."""
        return {
            name: {name: list(states)} | {f"P({name} | {label})": share[:, k] for k, label in enumerate(classes)}
            for name, states, share in self.distributions(self.read(sums, settings))
        }

    def n_parameters(self, sums: CategoryCounts) -> int:
        """S - 1 for each class and column; an empty cell is a state where there is but one value."""
        return sums.n_classes * int(np.maximum(sums.n_states + columns_of_one_value(sums) - 1, 0).sum())

    def sample(
        self, sums: CategoryCounts, settings: Settings, codes: Array, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Draw a state for each row; the last of all is a missing cell, where that is a state that rows had."""
        probability = np.exp(self.read(sums, settings).log_probability())
        can_miss = sums.table[sums.start[1:] - 1].any(axis=1) & empty_is_state(sums, settings.missing)
        drawn: dict[str, Any] = {}
        for j, column in enumerate(self.columns):
            part = probability[sums.start[j] : sums.start[j + 1] - 1 + can_miss[j]]  # (n_states, n_classes)
            if not len(part):
                drawn[column.name] = [None] * len(codes)
                continue
            drawn[column.name] = self.drawn(sums.schema[j], j, draw_states(part.T[codes], rng), rng)
        return drawn

    @abstractmethod
    def drawn(self, variable: Variable, j: int, state: Array, rng: np.random.Generator) -> Any:
        """Cells of the states that were drawn."""


def state_form(column: Column, variable: Variable) -> LabelForm | BinForm:
    """Say what cells of a column of states are read as."""
    return LabelForm(tuple(variable.states)) if column.cuts is None else BinForm(column.cuts)


def without_unknown(coded: CodedTable, sources: Sequence[str], known_not: Mapping[str, Any]) -> CodedTable:
    """Give cells of which nothing is known a code beyond that of what was never counted: it has no factor either."""
    unknown = {j: known_not[source] for j, source in enumerate(sources) if source in known_not}
    if not unknown:
        return coded
    codes = coded.block(slice(0, coded.shape[0])).astype(np.int64)
    for j, is_unknown in unknown.items():
        codes[is_unknown, j] = coded.schema.n_states[j] + 2
    return replace(coded, codes=DenseMatrix(codes))


def labels_of(block: Any, column: Column, j: int) -> list[Any]:
    """Names of the states of column j of a block, or of counts of pairs; None is an empty cell, where that is one."""
    states = block.counts.schema[j].states if column.cuts is None else bin_labels(column)
    return [*states, *[None] * int(block.empty_is_state[j])]
