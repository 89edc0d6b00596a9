"""Tables of codes: categories as narrow integers (`CodedTable`), alone, side by side, or in a mixed table.

`CodedTable` has one `Variable` a column. A column of whole numbers or booleans is taken as the codes 0 .. n-1, as in
scikit-learn; anything else (strings, declared categories, fractions) is coded by its label. The code of a missing cell
is n_states, one past the last state: the slot that every table of counts keeps for it. What is unseen at prediction has
the code n_states + 1. `DiscreteTable` has all columns of a plan as codes side by side, in the order of the plan.
`MixedTable` has the tables of all groups of columns, read in blocks of the same rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np

from bayeswater.data.cells import require_no_missing
from bayeswater.data.frames import Frame, is_frame, numeric_column, read_frame, unmasked
from bayeswater.data.labels import narrow_codes
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix, column_name
from bayeswater.data.reading.column_plan import ColumnPlan
from bayeswater.data.reading.known_labels import FoundLabels, FrameColumn
from bayeswater.data.reading.matrix_reading import (
    names_of,
    plain_matrix,
    read_dense,
    require_cells,
    require_width,
    rows_of_objects,
)
from bayeswater.data.variable import Schema, Variable, sorted_labels
from bayeswater.errors import DataError, UnseenCategoryWarning, warn_user
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.interval_cuts import column_range
from bayeswater.kernels.threads import block_map, row_blocks
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.typing import Array, is_number

own_reasons(
    {
        "categories that were never counted are left out: {what}": "从未见过的类别，未计入：{what}",
        "column {name} = {label} in {n} of {rows} rows": "列 {name} = {label}，{rows} 行中的 {n} 行",
    }
)

ColumnCells = Array | FrameColumn
"""Cells of a column: of an array of numbers, or of a frame."""


@record
class Unseen:
    """A category met at prediction that was never counted."""

    column: str
    label: Any
    n_rows: int


def report_unseen(unseen: Sequence[Unseen], n_rows: int, rule: str) -> None:
    """Say which categories were never counted: a warning, or with the rule "error" a refusal."""
    shown = "; ".join(f"column {u.column!r} = {u.label!r} in {u.n_rows} of {n_rows} rows" for u in unseen[:5])
    more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
    if rule == "error":
        raise DataError(f"categories that were never counted: {shown}{more}; use unseen='ignore' to leave them out")
    warn_user(f"categories that were never counted are left out: {shown}{more}", UnseenCategoryWarning)


@record
class CodedTable:
    """Codes of every cell (n_rows, n_columns), and the schema they are codes of."""

    schema: Schema
    codes: DenseMatrix | ColumnMatrix
    unseen: tuple[Unseen, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.codes.shape

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return self.codes.n_cells

    def block(self, rows: slice) -> Array:
        """Codes of some rows."""
        return self.codes.block(rows)

    def known_cells(self, missing_is_state: bool | Array = False) -> Array:
        """Count the cells of each row that have a state: (n_rows,).

        A missing cell, of the code past the last, has one in the columns where `missing_is_state`.
        """
        known = np.zeros(self.shape[0], dtype=np.int64)
        n_states = np.array([variable.n_states for variable in self.schema]) + missing_is_state
        for j, n in enumerate(n_states.tolist()):
            known += self.codes.column(j) < n
        return known


@record
class Rules:
    """How cells are read: the model's name for messages, whether a missing cell is an error, and what is known.

    `known` is the schema of the model; `grow` says whether new states may be added to them (in learning) or are
    unseen (in predicting). A negative number among codes is an error, or unseen like any other that is no code.
    States that are neither known nor declared are sorted by label or, `as_found`, in the order of the dictionary of
    their column, so that the cells are codes as they are. Where the model can count missing cells as a state, a
    message that refuses them says so.
    """

    model: str
    refuse_missing: bool
    known: Schema | None = None
    grow: bool = True
    negative_is_unseen: bool = False
    as_found: bool = False
    missing_can_be_state: bool = True


def encode_categories(X: Any, rules: Rules) -> CodedTable:
    """Code a table of categories; columns without names are called as those known, or x0, x1, ..."""
    plain = plain_matrix(X, rules.model) if is_frame(X) else None
    if is_frame(X) and plain is None:
        frame = read_frame(X)
        require_width(len(frame.names), None if rules.known is None else len(rules.known), rules.model)
        require_cells(frame.table.shape, rules.model)
        sources: list[ColumnCells] = [FrameColumn(frame, name) for name in frame.names]
        names = _names(rules, names_of(X, frame.names), len(sources))
    else:
        X, own_names = _as_array(X, rules.model) if plain is None else (plain.values, plain.names)
        require_width(X.shape[1], None if rules.known is None else len(rules.known), rules.model)
        names = _names(rules, own_names, X.shape[1])
        if rules.known is None or rules.known.is_coded:
            whole = X if X.dtype.kind in "iu" else _float_codes(X)
            if whole is not None:
                return _whole_matrix(whole, names, rules)
        sources = [X[:, j] for j in range(X.shape[1])]
        if X.dtype.kind not in "iuf":
            sources = [FrameColumn.of_array(X[:, j], name) for j, name in enumerate(names)]
    return _encode_columns(names, sources, rules)


def encode_frame(frame: Frame, rules: Rules) -> CodedTable:
    """Code the columns of a frame."""
    return _encode_columns(frame.names, [FrameColumn(frame, name) for name in frame.names], rules)


def _encode_columns(names: Sequence[str], sources: Sequence[ColumnCells], rules: Rules) -> CodedTable:
    def encoded(j: int) -> tuple[Variable, Array, list[Unseen]]:
        return _encode_column(sources[j], names[j], None if rules.known is None else rules.known[j], rules)

    n_rows = sources[0].n_rows if isinstance(sources[0], FrameColumn) else len(sources[0])
    coded = block_map(encoded, range(len(sources)), together=worth_compiling(n_rows * len(sources)))
    variables, columns, unseen = zip(*coded, strict=True)
    return CodedTable(Schema(variables), ColumnMatrix(columns), tuple(chain.from_iterable(unseen)))


def _names(rules: Rules, names: Sequence[str] | None, n_columns: int) -> Sequence[str]:
    return rules.known.names if rules.known is not None else [column_name(names, j) for j in range(n_columns)]


def _as_array(X: Any, model: str) -> tuple[Array, Sequence[str] | None]:
    """Give a table that is no frame as an array, and the names that its columns have."""
    X = unmasked(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUSmM" and X.size:
        return np.asarray(X), None
    cells = rows_of_objects(X) if isinstance(X, list | tuple) else None
    if cells is not None:
        return cells, None
    matrix = read_dense(X, model)
    assert isinstance(matrix, DenseMatrix)  # frames went another way
    return matrix.values, matrix.names


CELLS_TOGETHER = 65_536
"""Cells that are changed at a time: they are still in the cache when they are looked at again."""


def _float_codes(X: Array) -> Array | None:
    """Give floats as integers no wider than they need to be, where all of them are codes."""
    if X.dtype.kind != "f" or not (X.min() >= 0 and (top := X.max()) <= LARGEST_CODE[4]):
        return None
    kind = next(kind for kind in (np.uint8, np.uint16, np.int32) if top <= LARGEST_CODE[np.dtype(kind).itemsize])
    codes = np.empty_like(X, dtype=kind, subok=False)
    for rows in row_blocks(len(X), max(1, CELLS_TOGETHER // X.shape[1])):
        codes[rows] = X[rows]
        if not (codes[rows] == X[rows]).all():
            return None
    return codes


def _whole_matrix(X: Array, names: Sequence[str], rules: Rules) -> CodedTable:
    """Take an array of integers as codes, in place: no copy."""
    use_loop = worth_compiling(X.size)
    ranges = block_map(lambda rows: column_range(X[rows], use_loop=use_loop), row_blocks(len(X)), together=use_loop)
    lows, highs = zip(*ranges, strict=True)
    low, high = reduce(np.minimum, lows), reduce(np.maximum, highs)
    if X.dtype.kind == "i" and low.min() < 0:
        if rules.negative_is_unseen:
            return _encode_columns(names, [X[:, j] for j in range(X.shape[1])], rules)
        raise _negative(X[:, int(low.argmin())], names[int(low.argmin())], rules.model)
    codes = DenseMatrix(
        _same_bits(X) if high.max() <= LARGEST_CODE[X.itemsize] else np.minimum(X, np.uint64(2**62)).astype(np.int64)
    )
    if rules.known is None or rules.grow:
        variables = tuple(Variable.of_codes(name, int(top) + 1) for name, top in zip(names, high, strict=True))
        return CodedTable(Schema(variables), codes)
    n_states = rules.known.n_states
    beyond = np.flatnonzero(high >= n_states).tolist()
    if not beyond:
        return CodedTable(rules.known, codes)
    unseen = [seen for j in beyond for seen in _unseen_codes(X[:, j], rules.known[j])]
    return CodedTable(rules.known, DenseMatrix(_set_apart(codes.values, n_states)), tuple(unseen))


LARGEST_CODE = {1: 2**8 - 1, 2: 2**16 - 1, 4: 2**31 - 1, 8: 2**63 - 1}
"""Largest code that each width of integers can hold in the kind the loops read."""


def _same_bits(X: Array) -> Array:
    """Look at integers, none of them negative, as one of the four kinds that the loops read."""
    return X.view({1: np.uint8, 2: np.uint16, 4: np.int32, 8: np.int64}[X.itemsize])


def _set_apart(codes: Array, n_states: Array) -> Array:
    """Give unseen codes their own, n_states + 1, in a copy: the first of them would be taken for a missing cell."""
    largest = int(n_states.max()) + 1
    return np.where(codes >= n_states, narrow_codes(n_states + 1, largest), narrow_codes(codes, largest))


def _unseen_codes(column: Array, variable: Variable) -> list[Unseen]:
    labels, rows = np.unique(column[column >= variable.n_states], return_counts=True)
    return [Unseen(variable.name, label, n) for label, n in zip(labels.tolist(), rows.tolist(), strict=True)]


def _encode_column(
    source: ColumnCells, name: str, known: Variable | None, rules: Rules
) -> tuple[Variable, Array, list[Unseen]]:
    if isinstance(source, FrameColumn) and not source.is_numeric:
        found = FoundLabels.of(source)
        return _encode_labels(found.as_numbers() if _are_numbers(known) else found, name, known, rules)
    numbers = numeric_column(source.frame, source.name) if isinstance(source, FrameColumn) else source
    can_be_fraction = numbers.dtype.kind == "f"  # others are taken as they are, without a copy
    missing = np.isnan(numbers) if can_be_fraction else np.zeros(len(numbers), dtype=bool)
    present = numbers[~missing] if can_be_fraction else numbers
    holds_labels = known is not None and not known.is_undecided and not known.is_coded
    if not (holds_labels or rules.negative_is_unseen) and len(present) and present.min() < 0:
        raise _negative(numbers, name, rules.model)
    if can_be_fraction and not np.isfinite(present).all():
        raise DataError(f"Input X contains infinity: column {name!r}; a category must be a finite number or a label")
    whole = not can_be_fraction or bool((present == np.floor(present)).all())
    is_open = known is None or (rules.grow and known.is_undecided)
    if whole if is_open else not holds_labels:
        if rules.refuse_missing:
            require_no_missing(missing, name, can_be_state=rules.missing_can_be_state)
        return _encode_codes(numbers, missing, name, known, rules)
    labels, index = np.unique(numbers, return_inverse=True, equal_nan=True)
    states = list(map(_label, labels[~np.isnan(labels)].tolist()))
    place = np.append(np.arange(len(states)), -1)  # NaN is the last of the labels
    return _encode_labels(FoundLabels(states, ((place, index),)), name, known, rules)


def _are_numbers(known: Variable | None) -> bool:
    """Say whether the states of a column are numbers."""
    if known is None or not known.n_states:
        return False
    return known.is_coded or all(is_number(state) and not isinstance(state, bool) for state in known.states)


def _label(number: float) -> float:
    """Give a whole number as an integer."""
    return int(number) if number == np.floor(number) else number


def _encode_labels(
    found: FoundLabels, name: str, known: Variable | None, rules: Rules
) -> tuple[Variable, Array, list[Unseen]]:
    """Code labels by their place in the domain that is known or, in learning, in their own."""
    states = found.states
    if rules.refuse_missing:
        require_no_missing(found.missing, name, can_be_state=rules.missing_can_be_state)
    if known is not None and not rules.grow:
        place = np.array([known.code_of.get(state, known.n_states + 1) for state in states], dtype=np.int64)
        unseen = [
            Unseen(name, state, n)
            for state, n in zip(states, found.rows.tolist(), strict=True)
            if n and state not in known.code_of
        ]
        return known, found.coded(place, known.n_states), unseen
    # Lists that differ from chunk to chunk have no order that would not depend on how rows are cut into chunks.
    is_ordered = found.is_one_list if found.declared else rules.as_found
    ordered: Sequence[Any] = tuple(states) if is_ordered else sorted_labels(states)
    if known is not None and not states:
        ordered = known.states[:0]  # no cell tells codes from labels: they are what they were
    variable = Variable(name, ordered, found.declared)
    place = np.array([variable.code_of[state] for state in states], dtype=np.int64)
    return variable, found.coded(place, variable.n_states), []


def _encode_codes(
    numbers: Array, missing: Array, name: str, known: Variable | None, rules: Rules
) -> tuple[Variable, Array, list[Unseen]]:
    """Take a column of whole numbers as codes."""
    if numbers.dtype.kind in "iu" and len(numbers) and numbers.min() >= 0:
        highest = int(numbers.max())
        variable = known if known is not None and not rules.grow else Variable.of_codes(name, highest + 1)
        if highest < variable.n_states:
            return variable, narrow_codes(numbers, highest), []
    present = numbers[~missing]
    fraction = present[present != np.floor(present)]
    if len(fraction) and rules.grow:
        raise DataError(f"column {name!r} holds integer codes, but {fraction[0]} is none; round or encode it")
    highest = int(present.max()) if len(present) else -1
    variable = known if known is not None and not rules.grow else Variable.of_codes(name, highest + 1)
    outside = missing | (numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= variable.n_states)
    place = np.where(missing, variable.n_states, np.where(outside, variable.n_states + 1, numbers)).astype(np.int64)
    codes = narrow_codes(place, int(place.max(initial=0)))
    labels, rows = np.unique(numbers[outside & ~missing], return_counts=True)
    unseen = [Unseen(name, _label(label), n) for label, n in zip(labels.tolist(), rows.tolist(), strict=True)]
    return variable, codes, unseen


def _negative(column: Array, name: str, model: str) -> DataError:
    row = int(np.nanargmin(column))
    return DataError(
        f"Negative values in data passed to {model} (input X): {column[row]} in row {row}, column {name!r}; "
        "codes of categories start at 0"
    )


@record
class DiscreteTable:
    """Codes of every cell (n_rows, n_columns), and the plan by which they were read."""

    plan: ColumnPlan
    coded: CodedTable

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.coded.shape

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return self.coded.n_cells

    def take(self, rows: Array) -> "DiscreteTable":
        """Give some rows, marked or numbered."""
        codes = ColumnMatrix(tuple(np.ascontiguousarray(column[rows]) for column in self.columns))
        return replace(self, coded=replace(self.coded, codes=codes))

    @property
    def columns(self) -> tuple[Array, ...]:
        """Codes of each column: (n_rows,)."""
        codes = self.coded.codes
        return codes.columns if isinstance(codes, ColumnMatrix) else tuple(codes.values.T)

    def block(self, rows: slice) -> Array:
        """Codes of some rows."""
        return self.coded.block(rows)

    def known_cells(self, missing_is_state: bool | Array = False) -> Array:
        """Count the cells of each row that have a state, as `CodedTable` does: (n_rows,)."""
        return self.coded.known_cells(missing_is_state)


@record
class MixedTable:
    """One table for each group of columns."""

    plan: ColumnPlan
    groups: Mapping[str, Any]
    n_rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.plan)

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return sum(table.n_cells for table in self.groups.values())

    def block(self, rows: slice) -> dict[str, Any]:
        """Give some rows of every group."""
        return {key: table.block(rows) for key, table in self.groups.items()}
