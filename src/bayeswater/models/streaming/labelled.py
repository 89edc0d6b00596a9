"""`LabelledRows`: rows of a source of which one column holds the labels, and perhaps another the weights.

A row without a label says nothing about the classes, and a row of weight 0 counts as none: both are left out before a
model sees them. What a model gives for the rest is added up where the pieces are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.reading.column_kinds import IDENTIFIED, SAMPLED
from bayeswater.data.reading.style_search import are_amounts
from bayeswater.data.row_places import Stretch, original_rows, rows_named
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.rows import Rows
from bayeswater.data.sources.source import BATCH_CELLS
from bayeswater.data.sources.target_rules import TargetBins, TargetRule
from bayeswater.data.sources.written_cells import LABELS
from bayeswater.engines.engine_rows import EngineRows
from bayeswater.errors import BayesWarning, DataError, SchemaError, nearest_names, warn_user
from bayeswater.models.streaming.grouping import by_groups, require_few_categories
from bayeswater.models.streaming.passes import Examples, Piece, plus
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.models.streaming.checkpoint import Checkpoint


def require_labels_alone(target: str, weight: str | None, columns: Sequence[str]) -> None:
    """Refuse a column of labels that is to hold weights, too, or is one of those that a model predicts from."""
    if target == weight:
        raise SchemaError(f"{target!r} is named for labels and for weights; name two columns")
    if target in columns:
        raise SchemaError(f"the model predicts from {target!r}, the target column; name the one that holds its classes")


class LabelledRows(Examples):
    """Rows of a source, apart from the column that is to be predicted.

    Parameters
    ----------
    rows : the source
    target : name of the column of labels
    weight : name of the column of weights, if there is one
    columns : names of the columns of X; default all others
    rule : makes labels of the cells of the target, null for rows that are left out; default they are labels
    """

    def __init__(
        self,
        rows: Rows,
        target: str,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        rule: TargetRule | None = None,
    ) -> None:
        self.rows, self.target, self.weight, self.rule = rows, target, weight, rule
        names = rows.schema.names
        for name, what in ((target, "target column"), *([(weight, "column of weights")] if weight else [])):
            if name not in names:
                raise SchemaError(f"{rows.name}: there is no {what} {name!r}; {nearest_names(str(name), names)}")
            rows.require_in_all_parts(name)
        require_labels_alone(target, weight, columns or ())
        if isinstance(rows, LocalRows) and not isinstance(rule, TargetBins):
            rows.declare({}, {target: LABELS})
        self._takes_all = columns is None
        self.columns = list(columns) if columns is not None else self._others()
        if not self.columns:
            raise DataError(f"{rows.name}: there is no column beside {target!r} to learn from")
        if weight is not None:
            _require_numbers(rows, weight)
        self.n_rows = self.n_unlabelled = 0
        self.checkpoint: Checkpoint | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the source."""
        return self.rows.name

    @property
    def can_be_reread(self) -> bool:
        """Whether the source can."""
        return self.rows.can_be_reread

    def needed(self, columns: Sequence[str]) -> list[str]:
        """Name the columns to read where these of X are looked at."""
        return list(dict.fromkeys([*columns, self.target, *([self.weight] if self.weight else [])]))

    # ------------------------------------------------------------------ the first rows

    @cached_property
    def _first_rows(self) -> "pa.Table":
        return self.rows.head(self.needed(self.columns), self._n_first)

    @property
    def _n_first(self) -> int:
        """As many rows as the kind of a string column is told from, and fewer of a very wide table."""
        return max(1, min(SAMPLED, BATCH_CELLS // len(self.columns)))

    @property
    def fits_into_head(self) -> bool:
        """Whether all rows are among the first ones, and these here."""
        return not isinstance(self.rows, EngineRows) and self._first_rows.num_rows < self._n_first

    @cached_property
    def _first(self) -> "CountedTable":
        return self._found(self._first_rows)

    def _found(self, table: "pa.Table") -> "CountedTable":
        return Labelled(_nothing, tuple(self.columns), self.target, self.weight, self.rule).found(table)

    @property
    def head(self) -> Piece:
        """The first rows of the source, those without a label left out."""
        found, n_first = self._first, self._first_rows.num_rows
        if found.piece is not None:
            self._require_classes(found.piece)
            return found.piece
        if not n_first:
            raise DataError(f"{self.name} has no rows; give a source with rows")
        if n_first < self._n_first:
            raise self._without_labels()
        raise DataError(
            f"{self.name}: none of the first {n_first:,} rows has a value in {self.target!r}"
            f"{f' and a weight over 0 in {self.weight!r}' if self.weight else ''}, and they tell how columns are read; "
            "is it the right column? Rows before the first label are to be left out"
        )

    @property
    def columns_of_X(self) -> "pa.Table":
        """The columns of X, without a row: an engine need not compute any for them."""
        return self.rows.schema.empty_table().select(self.columns)

    def whole(self) -> Piece:
        """Give all rows, where they are among the first."""
        self.n_rows, self.n_unlabelled = self._first.n_rows, self._first.n_unlabelled
        return self.head

    @contextmanager
    def head_named(self) -> Iterator[None]:
        """Give errors about the first rows the name of the source, and the numbers that rows have there."""
        try:
            yield
        except DataError as error:
            first = Stretch(self.name, 0, self._first_rows.num_rows)
            with rows_named([first]), original_rows(self._first.kept):
                raise type(error)(str(error)) from error

    def _others(self) -> list[str]:
        """Name all columns beside those of labels and weights."""
        return [name for name in self.rows.schema.names if name not in (self.target, self.weight)]

    def begin_anew(self) -> None:
        """Look at the first rows again: they are read in other types now, and of JSON a column may have come late."""
        if self._takes_all:
            self.columns = self._others()
        for name in ("_first_rows", "_first"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------ all rows

    def at_once(self, table: "pa.Table") -> tuple[Piece, Array]:
        """Give the rows of a table of all rows that count, and marks of these among all."""
        found = self._found(table)
        self.n_rows, self.n_unlabelled = found.n_rows, found.n_unlabelled
        if found.piece is None:
            raise self._without_labels()
        self._require_classes(found.piece)
        return found.piece, found.kept

    def sum(self, of: Callable[[Piece], Any], columns: Sequence[str] | None = None) -> Any:
        """Add up what a function gives for every piece of the source."""
        columns = self.columns if columns is None else list(columns)
        place = self.rows if self.checkpoint is None else self.checkpoint
        by_itself = self.weight is None and self.rule is None
        counted = by_groups(of, self.rows, columns, self.target) if by_itself else None
        total: Total = (
            place.sum(Labelled(of, tuple(columns), self.target, self.weight, self.rule), self.needed(columns))
            if counted is None
            else Total(*counted)
        )
        self.n_rows, self.n_unlabelled = total.n_rows, total.n_unlabelled
        if total.found is None:
            raise self._without_labels()
        return total.found

    def _require_classes(self, piece: Piece) -> None:
        """Refuse labels of which no two rows have the same, and warn of numbers that look like amounts."""
        n_rows = len(piece.y)
        # mostly two of the first rows are of one class, and the others are not looked at
        if n_rows < IDENTIFIED or 2 * _n_distinct(piece.y.slice(0, IDENTIFIED)) < IDENTIFIED:
            return
        n_distinct = _n_distinct(piece.y)
        is_number = are_amounts(piece.y)
        if n_distinct == n_rows:
            means = "that is an amount, and no class to learn; bin it: pandas.qcut(y, 3)"
            names = "that names the rows, and is no class to learn; is it the right column?"
            first = piece.y[0].as_py()
            first = str(first) if isinstance(first, date | time | timedelta) else first
            raise DataError(
                f"{self.name}: each of {n_rows:,} rows has a value of its own in {self.target!r}, such as "
                f"{first!r}: {means if is_number and not _are_counted(piece.y) else names}"
            )
        if is_number and 2 * n_distinct > n_rows and not _have_fractions(piece.y):
            warn_user(
                f"{self.target!r} has {n_distinct:,} different numbers in {n_rows:,} rows, which look like amounts and "
                "are learned as classes; bin it: pandas.qcut(y, 3)",
                BayesWarning,
            )

    def _without_labels(self) -> DataError:
        return DataError(f"{self.name}: no row has a value in {self.target!r}; is it the right column?")


def _require_numbers(rows: Rows, weight: str) -> None:
    """Refuse weights that are no numbers."""
    import pyarrow as pa

    kind = rows.schema.field(weight).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise DataError(f"{rows.name}: the column of weights {weight!r} holds {kind}, and weights are numbers")


def _n_distinct(labels: Any) -> int:
    return len(set(map(str, labels.to_pylist())))


def _are_counted(labels: Any) -> bool:
    """Tell whole numbers that go on by one, as those of rows."""
    numbers = labels.to_pylist()
    return not isinstance(numbers[0], str) and all(after == before + 1 for before, after in pairwise(numbers))


def _have_fractions(labels: Any) -> bool:
    """Tell numbers that are not all whole: as classes they are refused."""
    return any(isinstance(label, float) and not label.is_integer() for label in labels.to_pylist())


def _nothing(piece: Piece) -> None:
    """Ask nothing of rows."""


@record
class CountedTable:
    """The rows of a table that count, if any do, which they are, and how many there were."""

    piece: Piece | None
    kept: Array
    n_rows: int
    n_unlabelled: int


@record
class Labelled:
    """A function of a piece as a function of an Arrow table that holds labels and weights among its columns."""

    of: Callable[[Piece], Any]
    columns: tuple[str, ...]
    target: str
    weight: str | None
    rule: TargetRule | None = None

    def __call__(self, table: "pa.Table") -> "Total":
        """Give what the function finds in the rows of a table that count."""
        found = self.found(table)
        with original_rows(found.kept):
            return Total(None if found.piece is None else self.of(found.piece), found.n_rows, found.n_unlabelled)

    def found(self, table: "pa.Table") -> CountedTable:
        """Take the rows that have a label, and a weight over 0."""
        import pyarrow.compute as pc

        missing = np.asarray(pc.is_null(table.column(self.target), nan_is_null=True))
        kept, n_unlabelled = ~missing, int(missing.sum())
        if self.rule is not None:
            labels = self.rule(table.column(self.target))
            table = table.set_column(table.schema.get_field_index(self.target), self.target, labels)
            kept &= np.asarray(labels.is_valid())
        if self.weight is not None:
            kept &= np.asarray(pc.fill_null(pc.not_equal(table.column(self.weight), 0), True))
        if not kept.all():
            table = table.filter(kept)
        if not table.num_rows:
            return CountedTable(None, kept, 0, n_unlabelled)
        weight = None if self.weight is None else table.column(self.weight).to_numpy()
        piece = Piece(table.select(self.columns), table.column(self.target), weight)
        return CountedTable(piece, kept, table.num_rows, n_unlabelled)


@record
class Total:
    """What was found in pieces of which some may have had no rows, and how many rows they had."""

    found: Any
    n_rows: int
    n_unlabelled: int

    def __add__(self, other: "Total") -> "Total":
        found = plus(self.found, other.found)
        require_few_categories(found)
        return Total(found, self.n_rows + other.n_rows, self.n_unlabelled + other.n_unlabelled)
