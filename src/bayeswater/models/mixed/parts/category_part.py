"""Columns of states: categories and flags by their labels, and numbers in bins."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.coded_table import CodedTable, Rules, encode_frame
from bayeswater.data.column_plan import AUTO, Column
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.number_table import bin_labels, binned
from bayeswater.data.raw_table import RawTable
from bayeswater.data.schema import Schema
from bayeswater.data.variable import Variable, sorted_labels
from bayeswater.errors import DataError, ParameterError
from bayeswater.estimate.categories import concentration_table
from bayeswater.estimate.dirichlet import Beta, Dirichlet
from bayeswater.estimate.empty_cells import columns_of_one_value, empty_is_state
from bayeswater.estimate.smoothing import best_alphas
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.inference.drawing import draw_states
from bayeswater.inference.smoothing_without import SmoothingWithout
from bayeswater.models.columns.settings import Settings
from bayeswater.models.mixed.parts.number_part import NumberPart
from bayeswater.models.mixed.parts.part import Part
from bayeswater.models.settings import report_unseen
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.typing import Array


class StatePart(Part):
    """What categories and bins share: a table of counts."""

    def count(self, table: CodedTable, labels: Labels, weight: Array | None, settings: Settings) -> CategoryCounts:
        """Count the states; those that a prior names are declared."""
        return self.declaring(CategoryCounts.of(table, labels, weight), settings)

    def declaring(self, counts: CategoryCounts, settings: Settings) -> CategoryCounts:
        """Join the states that priors name to the domains; states that were found are sorted by label."""
        declared = [self._declared(v, c, settings) for v, c in zip(counts.schema, self.columns, strict=True)]
        return counts.declaring(Schema(tuple(declared)))

    def _declared(self, variable: Variable, column: Column, settings: Settings) -> Variable:
        prior = self._prior(column, settings)
        if not (variable.is_coded or variable.declared):
            variable = replace(variable, states=sorted_labels(variable.states))
        if prior is None or not prior.labels or variable.is_coded:
            return variable
        return Variable(variable.name, tuple(prior.labels), frozenset(prior.labels)).union(variable)

    def read(self, sums: CategoryCounts, settings: Settings) -> CategoryColumns:
        """Choose or take the smoothing of each column."""
        missing_is_state = empty_is_state(sums, settings.missing)
        alpha = np.array([_number(settings.alpha_of(column)) for column in self.columns])
        if np.isnan(alpha).any():
            best = best_alphas(sums.table, sums.start, missing_is_state=missing_is_state)
            alpha = np.where(np.isnan(alpha), best, alpha)
        found = {j: self._prior(column, settings) for j, column in enumerate(self.columns)}
        priors = {j: prior for j, prior in found.items() if prior is not None}
        return CategoryColumns(sums, concentration_table(sums, alpha, priors), missing_is_state)

    def without_smoothing(self, columns: CategoryColumns, settings: Settings) -> SmoothingWithout:
        """Let automatic smoothing be chosen again without each row that is left out."""
        automatic = [
            settings.alpha_of(column) == AUTO and self._prior(column, settings) is None for column in self.columns
        ]
        read = columns.counts, columns.concentration, columns.missing_is_state
        return SmoothingWithout(*read, tuple(automatic))

    def _prior(self, column: Column, settings: Settings) -> Dirichlet | None:
        prior = settings.of(column).prior
        if prior is None or isinstance(prior, Dirichlet):
            return prior
        raise ParameterError(
            f"the prior of column {column.name!r} is {prior!r}; of a {column.family} column it is a Dirichlet or a Beta"
        )

    def state_labels(self, sums: CategoryCounts, j: int) -> Sequence[Any]:
        """Name the states of a column."""
        return sums.schema[j].states

    def distributions(self, columns: CategoryColumns) -> Iterator[tuple[str, Sequence[Any], Array]]:
        """Name each column, its states, missing among them where that is one, and P(state | class) of all."""
        sums, probability = columns.counts, np.exp(columns.log_probability())
        for j, column in enumerate(self.columns):
            states, first, last = self.state_labels(sums, j), sums.start[j], sums.start[j + 1]
            if columns.empty_is_state[j]:
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
            drawn[column.name] = self.drawn(sums, j, draw_states(part.T[codes], rng), rng)
        return drawn

    @abstractmethod
    def drawn(self, sums: CategoryCounts, j: int, state: Array, rng: np.random.Generator) -> Any:
        """Cells of the states that were drawn."""


class CategoryPart(StatePart):
    """Categories and flags, by their labels."""

    def encode(self, raw: RawTable, known: CategoryCounts | None, settings: Settings, *, learning: bool) -> CodedTable:
        """Code the labels; flags are False and True."""
        flags = [column.name for column in self.columns if column.family == "bernoulli"]
        frame = raw.labels(self.names, flags=flags, learning=learning)
        schema = None if known is None else known.schema
        rules = Rules(
            settings.model, settings.missing == "error", schema, grow=learning, as_found=learning and settings.as_found
        )
        coded = encode_frame(frame, rules)
        if coded.unseen:
            report_unseen(coded.unseen, coded.shape[0], settings.unseen)
        return without_unknown(coded, self.columns, settings)

    def drawn(self, sums: CategoryCounts, j: int, state: Array, rng: np.random.Generator) -> Any:
        """Labels of the states that were drawn, with all others that there are."""
        import pyarrow as pa

        labels = sums.schema[j].labels.tolist()
        kind = pa.uint64() if any(type(label) is int and label >= 2**63 for label in labels) else None
        try:
            states = pa.array(labels, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(
                f"column {sums.schema[j].name!r} has labels of several types, {shortened(labels)}, of which no column "
                "of a table can be made; give its labels one type"
            ) from error
        return pa.DictionaryArray.from_arrays(pa.array(state, mask=state == len(labels)), states)

    def _prior(self, column: Column, settings: Settings) -> Dirichlet | None:
        prior = super()._prior(column, settings)
        if column.family == "bernoulli" and isinstance(prior, Beta):
            return Beta({True: prior.present, False: prior.absent})
        return prior


class BinPart(StatePart, NumberPart):
    """Numbers in bins, as codes."""

    def encode(self, raw: RawTable, known: CategoryCounts | None, settings: Settings, *, learning: bool) -> CodedTable:
        """Put the numbers into the bins of the plan."""
        numbers = self.numbers(raw, settings)
        coded = binned(numbers, [_cuts(column) for column in self.columns], self.names)
        return without_unknown(coded, self.columns, settings)

    def state_labels(self, sums: CategoryCounts, j: int) -> Sequence[Any]:
        """Name the bins by their limits."""
        return bin_labels(self.columns[j])

    def drawn(self, sums: CategoryCounts, j: int, state: Array, rng: np.random.Generator) -> Any:
        """Draw numbers evenly between the least and the largest value of their bins.

        Of bins that were told these are unknown: those reach from cut to cut, an outer one as far as that beside it.
        """
        column = self.columns[j]
        if column.spans is not None:
            low, high = np.array([*column.spans, (np.nan, np.nan)]).T[:, state]
            return low + rng.random(len(state)) * (high - low)
        cuts = np.asarray(_cuts(column))
        if not len(cuts):
            return np.full(len(state), np.nan)
        inner = np.diff(cuts) if len(cuts) > 1 else np.array([max(abs(cuts[0]), 1.0)])
        limits = np.concatenate([[cuts[0] - inner[0]], cuts, [cuts[-1] + inner[-1], np.nan]])
        return limits[state] + rng.random(len(state)) * (limits[state + 1] - limits[state])


def without_unknown(coded: CodedTable, columns: Sequence[Column], settings: Settings) -> CodedTable:
    """Give cells of which nothing is known the code of what was never counted, which has no factor."""
    unknown = [j for j, column in enumerate(columns) if column.source in settings.unknown]
    if not unknown:
        return coded
    codes = coded.block(slice(0, coded.shape[0])).astype(np.int64)
    codes[:, unknown] = coded.schema.n_states[unknown] + 1
    return replace(coded, codes=DenseMatrix(codes))


def _cuts(column: Column) -> tuple[float, ...]:
    return column.cuts or ()


def _number(alpha: Any) -> float:
    """Smoothing as a number, NaN where it is still to be chosen."""
    return float("nan") if alpha == "auto" else float(alpha)
