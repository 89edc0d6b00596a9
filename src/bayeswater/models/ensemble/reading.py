"""How an ensemble reads a table: numbers as numbers, categories, flags and the parts of dates as states.

The plan is made as that of `NaiveBayes`, but a number keeps no density of its own: members cut it, rank it or take it
as it is. Texts become counted words, single ones and pairs. Identifiers are left out. The first fit fixes the plan
and the domains; a category that comes later is never seen, and its cell as good as missing. What every cell of a row
is worth is told by the posterior with some cells known and the others missing.
"""

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from bayeswater.data.cells import require_no_missing
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import CodedTable, Rules, encode_frame, report_unseen
from bayeswater.data.reading.column_plan import AUTO, BITS, COUNTS, IGNORED, NUMBER, TEXT, Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.data.reading.row_hashes import number_words, row_words, state_words, text_words
from bayeswater.data.reading.text import TextAnalyser, TextTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import DataError, ParameterError
from bayeswater.explain.explaining import cells_as_given
from bayeswater.explain.pooled_explanations import RowCells
from bayeswater.families.choosing_text import COUNTED
from bayeswater.families.family import Settings
from bayeswater.families.planning import plan_columns, warn_of_left_out
from bayeswater.families.registry import OF_TEXT
from bayeswater.families.state_planning import warn_of_names_of_rows
from bayeswater.families.words.weighed_words import counted_words
from bayeswater.families.words.words import Words
from bayeswater.learning.members.member_table import EnsembleTable
from bayeswater.learning.members.word_member import beside
from bayeswater.records import record
from bayeswater.typing import Array

OF_STATES = ("categorical", "bernoulli")
"""Families of columns that have states."""

FAMILIES = (*OF_STATES, NUMBER, COUNTED)
"""Families of columns of an ensemble."""


@record
class EnsembleReading:
    """The plan of a table, and the domains of its columns of states and of its texts, each in the order of the plan."""

    plan: ColumnPlan
    schema: Schema
    vocabularies: tuple[Variable, ...] = ()

    @classmethod
    def of(cls, X: Any, settings: Settings) -> "EnsembleReading":
        """Plan a table by its rows, and find the domains of its categories."""
        raw = read_raw(X, settings.model)
        plan = planned(raw, settings)
        coded = _coded(raw.with_dates(plan), plan, None, settings)
        vocabularies = tuple(text.vocabulary for text in _texts(raw, plan, None, settings))
        if coded is None:
            return cls(plan, Schema(()), vocabularies)
        warn_of_names_of_rows(coded.schema, ColumnPlan(plan.of_families(*OF_STATES)), raw.n_rows)
        return cls(plan, coded.schema, vocabularies)

    @property
    def numbers(self) -> tuple[Column, ...]:
        """Columns of numbers."""
        return self.plan.of_families(NUMBER)

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns in the order in which an `EnsembleTable` has them: numbers, then states, then texts."""
        return (*self.numbers, *self.plan.of_families(*OF_STATES), *self.plan.of_families(COUNTED))

    @property
    def n_words(self) -> int:
        """Words of all texts."""
        return sum(vocabulary.n_states for vocabulary in self.vocabularies)

    def raw(self, X: Any, settings: Settings) -> RawTable:
        """Read the columns of a table that the plan names, as they came."""
        return read_raw(X, settings.model).require_columns(self.plan.sources, settings.model)

    def table(
        self, X: Any, settings: Settings, n_classes: int, labels: Labels | None = None, weight: Array | None = None
    ) -> EnsembleTable:
        """Read rows; of those whose class is known, with `labels` and weights."""
        raw = self.raw(X, settings).with_dates(self.plan)
        numbers = np.empty((raw.n_rows, len(self.numbers)))
        for j, column in enumerate(self.numbers):
            numbers[:, j] = _numbers(raw, column, settings)
        states = np.empty((raw.n_rows, len(self.schema)), dtype=np.int32)
        coded = _coded(raw, self.plan, self.schema, settings)
        for j, codes in enumerate(_columns_of(coded)):
            states[:, j] = np.where(codes < self.schema[j].n_states, codes.astype(np.int32), -1)
        texts = _texts(raw, self.plan, self.vocabularies, settings)
        if labels is None:
            hashes = np.zeros(raw.n_rows, dtype=np.uint64)
        else:  # the words of a column are made when they are hashed: those of all would be another table
            of_states = zip(self.schema, _columns_of(coded), strict=True)
            words = chain(
                map(number_words, numbers.T),
                (state_words(own)[np.minimum(codes, own.n_states)] for own, codes in of_states),
                map(text_words, texts),
            )
            hashes = row_words(words, raw.n_rows)
        return EnsembleTable(
            numbers,
            states,
            self.schema.n_states,
            None if labels is None else labels.codes.astype(np.int64),
            n_classes,
            None if weight is None else weight.astype(np.float64),
            hashes,
            beside(texts),
        )


def _columns_of(coded: CodedTable | None) -> tuple[Array, ...]:
    """Codes of the columns of states, where there are any."""
    if coded is None:
        return ()
    assert isinstance(coded.codes, ColumnMatrix)
    return tuple(coded.codes.columns)


def planned(raw: RawTable, settings: Settings) -> ColumnPlan:
    """Plan the columns of a table."""
    for name, said in settings.given.items():
        known = (None, AUTO, IGNORED, *OF_STATES, TEXT, *OF_TEXT)
        if said.family not in known or said.prior is not None or said.alpha is not None:
            asked = said.family or "a smoothing of its own"
            raise ParameterError(
                f"columns says of {name!r} {asked}, but {settings.model} takes numbers as they are and smooths all "
                f"alike; it can be one of {[AUTO, *OF_STATES, TEXT, IGNORED]}"
            )
    if COUNTS in raw.columns:
        raise DataError(
            f"X is sparse, and {settings.model} looks at every cell, zeros too; give a dense table, for example "
            "X.toarray(), or use NaiveBayes"
        )
    plan = plan_columns(raw, settings.given, AUTO, TextAnalyser(pairs=True))
    changed = {}
    for column in plan:
        if column.family in (TEXT, *OF_TEXT):
            changed[column.name] = replace(column, family=COUNTED, why=f"{column.why}; words have weights")
        elif column.family in (AUTO, BITS):
            changed[column.name] = replace(column, family=NUMBER, options=())
    warn_of_left_out(column for column in plan.open if settings.of(column).family is None)
    plan = plan.with_columns(changed)
    if not plan.used:
        raise DataError(f"no column is left to learn from:\n{plan}\nsay how to read one, for example columns={{...}}")
    return plan


def canonical(table: EnsembleTable) -> EnsembleTable:
    """Put rows in the order of their hashes and classes, and equal ones into one with the sum of their weights.

    So neither the order of the rows nor the way in which they are repeated can show in anything that is learned, to
    the bit; and the first rows are a fair sample of all.
    """
    order = np.lexsort((table.labels, table.hashes))
    rows = table.take(order)
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (
        (rows.hashes[1:] != rows.hashes[:-1])
        | (rows.labels[1:] != rows.labels[:-1])
        | (rows.states[1:] != rows.states[:-1]).any(axis=1)
        | ~_equal(rows.numbers[1:], rows.numbers[:-1]).all(axis=1)
    )
    if rows.words is not None:
        alike = np.flatnonzero(~first)
        first[alike] = _other_texts(rows.words.take(alike), rows.words.take(alike - 1))
    weight = np.add.reduceat(rows.weights, np.flatnonzero(first))
    return replace(rows.take(first), weight=None if (weight == 1).all() else weight)


def _equal(a: Array, b: Array) -> Array:
    return (a == b) | (np.isnan(a) & np.isnan(b))


def _other_texts(a: TextTable, b: TextTable) -> Array:
    """Tell which texts have other words, one by one: (n_rows,)."""
    apart = counted_words(a.counts) - counted_words(b.counts)
    return np.asarray(abs(apart).sum(axis=1) > 0) | (a.missing != b.missing)


def _texts(raw: RawTable, plan: ColumnPlan, known: tuple[Variable, ...] | None, settings: Settings) -> list[TextTable]:
    """Count the words of texts; those that are known, or all."""
    columns = plan.of_families(COUNTED)
    vocabularies = known or (None,) * len(columns)
    return [
        Words((column,)).encode(raw, vocabulary, settings, learning=known is None)
        for column, vocabulary in zip(columns, vocabularies, strict=True)
    ]


def _numbers(raw: RawTable, column: Column, settings: Settings) -> Array:
    values = raw.numbers(column.name).astype(np.float64)
    if settings.missing == "error":
        require_no_missing(np.isnan(values), column.name)
    return values


def _coded(raw: RawTable, plan: ColumnPlan, schema: Schema | None, settings: Settings) -> CodedTable | None:
    """Code the columns of states; in domains that are known, what is new is unseen."""
    columns = plan.of_families(*OF_STATES)
    if not columns:
        return None
    flags = [column.name for column in columns if column.family == "bernoulli"]
    frame = raw.labels([column.name for column in columns], flags=flags, learning=schema is None)
    rules = Rules(settings.model, settings.missing == "error", schema, grow=schema is None, missing_can_be_state=False)
    coded = encode_frame(frame, rules)
    if coded.unseen:
        report_unseen(coded.unseen, coded.shape[0], settings.unseen)
    return coded


def with_known_cells(reading: EnsembleReading, table: EnsembleTable, rows: Array, known: Array) -> EnsembleTable:
    """Take rows (n,), numbered, of which only some cells are known (n, n_columns)."""
    taken, n_numbers, n_columns = table.take(rows), table.numbers.shape[1], table.n_columns
    words = taken.words
    if words is not None:
        row, text = _words_of_texts(reading, words)
        data = np.where(known[row, n_columns + text], words.counts.data, 0)
        words = replace(words, counts=replace(words.counts, data=data))
    return replace(
        taken,
        numbers=np.where(known[:, :n_numbers], taken.numbers, np.nan),
        states=np.where(known[:, n_numbers:n_columns], taken.states, np.int32(-1)),
        words=words,
    )


def _words_of_texts(reading: EnsembleReading, words: TextTable) -> tuple[Array, Array]:
    """Say of every word which row has it, and in which of its texts."""
    last = np.cumsum([vocabulary.n_states for vocabulary in reading.vocabularies])
    row = np.repeat(np.arange(len(words.missing)), np.diff(words.counts.indptr))
    return row, np.searchsorted(last, words.counts.indices, side="right")


def cells_of(reading: EnsembleReading, raw: RawTable, table: EnsembleTable) -> RowCells:
    """Tell what stands in the cells of a table, in the order of its columns."""
    has_words = np.zeros((len(table), len(reading.vocabularies)), dtype=bool)
    if table.words is not None:
        has_words[_words_of_texts(reading, table.words)] = True
    not_read = np.concatenate([np.isnan(table.numbers), table.states < 0, ~has_words], axis=1)
    is_number = np.array([column.family == NUMBER for column in reading.columns])
    return cells_as_given(raw, reading.plan, reading.columns, not_read, is_number)
