"""Rows of a frame as codes of a network's variables, aligned by name and label, and the states that rows show.

A column that is not there, and a missing cell, are what is not observed: their code is one past the last state.

States that are found are the values that occur, sorted, of the type they have. Numbers are labels like any other, so
that 2019, 2020, 2021 are three states; a column of booleans declares False and True. What counts pieces finds the
labels of each, and `settled` tells once for all rows what they are together: the type of numbers is that of all of
them, and 0, 1, ..., n - 1 without a gap are codes, which are read faster.

In a network a cell that is None is not observed, so where empty cells are a state it has a name. Of a column of one
value and holes the hole is what tells (`estimate.smoothing`). As the code of a missing cell is one past the last
state, rows need not be coded anew where the last state becomes that of empty cells.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.cells import is_missing, type_names
from bayeswater.data.frames import Alongside, Frame, is_frame, materialised, read_frame, write_frame
from bayeswater.data.labels import Labels, narrow_codes
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.cell_style import MARKS
from bayeswater.data.reading.coded_table import (
    CodedTable,
    DiscreteTable,
    Rules,
    Unseen,
    encode_categories,
    encode_frame,
    report_unseen,
)
from bayeswater.data.reading.discretising.cuts import cuts_named
from bayeswater.data.reading.known_labels import holds_numbers, write_known_codes
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.recognising import local_rows
from bayeswater.data.sources.whole import whole_table
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import BayesWarning, DataError, ParameterError, SchemaError, nearest_names, warn_user
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa


def frame_of_variables(X: Any) -> Any:
    """Give rows as a frame that is in memory; refuse what does not name its columns."""
    X = materialised(X)
    if not is_frame(X):
        raise DataError(f"X is a {type(X).__name__} without names; give a frame whose columns are variables")
    return X


def file_of_rows(path: Any, variables: Sequence[Variable], numbers: Sequence[str] = ()) -> "pa.Table":
    """Read a file whose columns are variables, or numbers of a network, into memory."""
    rows = local_rows(path, missing_only=marks_besides(variables))
    read_as_states(rows, variables, numbers)
    return whole_table(rows, None, "a network", "give fewer rows")


def marks_besides(variables: Sequence[Variable]) -> list[str]:
    """Give the marks of missing cells that are no states."""
    states = {state for variable in variables for state in variable.states}
    return [mark for mark in MARKS if mark not in states]


def read_as_states(rows: LocalRows, variables: Sequence[Variable], numbers: Sequence[str] = ()) -> None:
    """Read columns of files as labels of states, words for true and false too, or as numbers where these have bins.

    Labels of several types have none.
    """
    import pyarrow as pa

    rows.keep_words()
    types = dict.fromkeys(numbers, pa.float64())
    kinds = {field.name: field.type for field in rows.schema}
    for variable in variables:
        if holds_numbers(kinds.get(variable.name, pa.null())) and cuts_named(variable.states) is not None:
            types[variable.name] = pa.float64()
            continue
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError):
            types[variable.name] = pa.array(list(variable.states)).type
    # a column that is of its type stays as it was found to be written
    rows.declare({name: kind for name, kind in types.items() if kinds.get(name, kind) != kind})


def encode_rows(X: Any, variables: Sequence[Variable], unseen: str = "error") -> Array:
    """Code the rows of a frame, or of an array with one column for each variable: (n_variables, n_rows).

    Parameters
    ----------
    X : frame whose columns are variables, in any order; or array
    variables : the variables
    unseen : "error", or "ignore" to take a label that is no state for a missing cell, with a warning

    Raises
    ------
    SchemaError
        Where a column is no variable.
    DataError
        Where a cell is no state of its variable.
    """
    if unseen not in ("ignore", "error"):
        raise ParameterError(f"unseen is {unseen!r}; it can be 'ignore' or 'error'")
    X = materialised(X)
    if not is_frame(X):
        coded = encode_categories(X, _rules(variables))
        _refuse_unseen(coded, unseen)
        return _within(coded, variables).astype(_narrow(variables), copy=False)
    frame = read_frame(X)
    if not frame.names:
        raise SchemaError("the frame has no columns, so nothing says how many rows it has; give one, of missing cells")
    place = _places(frame, variables)
    codes = np.empty((len(variables), frame.table.num_rows), dtype=_narrow(variables))
    for node, variable in enumerate(variables):
        if node not in place:
            codes[node] = variable.n_states

    def is_coded(node: int) -> bool:
        return write_known_codes(frame.table.column(place[node]), variables[node], codes[node])

    done = ordered_map(is_coded, place) if worth_compiling(codes.size) else map(is_coded, place)
    rest = [node for node, is_done in zip(place, done, strict=True) if not is_done]
    if rest:
        others = Frame(frame.table.select([place[node] for node in rest]), frame.library, frame.declared, frame.stored)
        coded = encode_frame(others, _rules([variables[node] for node in rest]))
        _refuse_unseen(coded, unseen)
        codes[rest] = _within(coded, coded.schema)
    return codes


def _rules(variables: Sequence[Variable]) -> Rules:
    known = Schema(tuple(variables))
    return Rules("BayesianNetwork", refuse_missing=False, known=known, grow=False, negative_is_unseen=True)


def _narrow(variables: Sequence[Variable]) -> np.dtype[Any]:
    """The narrowest kind of integers for all codes, that of a missing cell included."""
    most = max((variable.n_states for variable in variables), default=0)
    return narrow_codes(np.empty(0, dtype=np.int64), most + 1).dtype


def _within(coded: CodedTable, variables: Iterable[Variable]) -> Array:
    """Codes (n_variables, n_rows); what is no state is not observed."""
    cards = np.array([variable.n_states for variable in variables])
    return np.minimum(coded.block(slice(0, coded.shape[0])).T, cards[:, None])


def _places(frame: Frame, variables: Sequence[Variable]) -> dict[int, str]:
    """Find the column of each variable that has one."""
    position = {variable.name: node for node, variable in enumerate(variables)}
    for name in frame.names:
        if name not in position:
            raise SchemaError(
                f"column {name!r} is no variable of the network ({nearest_names(name, list(position))}); rename it or "
                "leave it out"
            )
    return {position[name]: name for name in frame.names}


def _refuse_unseen(coded: CodedTable, unseen: str) -> None:
    """Refuse labels that are no states, or tell that they are taken as not observed."""
    if coded.unseen and unseen == "error":
        raise _no_state(coded.unseen, coded.schema, coded.shape[0])
    if coded.unseen:
        report_unseen(coded.unseen, coded.shape[0], "ignore")


def _no_state(unseen: Sequence[Unseen], known: Schema, n_rows: int) -> DataError:
    first = unseen[0]
    variable = next(variable for variable in known if variable.name == first.column)
    more = f" (and {len(unseen) - 1} more such labels)" if len(unseen) > 1 else ""
    return DataError(
        f"column {first.column!r} holds {first.label!r} in {first.n_rows} of {n_rows} rows{more}, which is none of its "
        f"states {list(variable.states)[:10]}; {_way_out(first.label, variable)}"
    )


def _way_out(label: Any, variable: Variable) -> str:
    """Say what to do about a label that is no state: it may be one in another type."""
    if isinstance(label, str):
        if label in map(str, variable.states):
            return "its states are no texts: convert the column to their type"
    elif str(label) in variable.code_of:
        by = ", in pandas by .astype('Int64').astype('string')" if isinstance(label, int) else ""  # 1.0 becomes '1'
        return f"its states are texts: convert the column to strings{by}"
    return "correct it, or take unseen='ignore' for not observed"


def require_complete(codes: Array, variables: Sequence[Variable]) -> None:
    """Refuse rows of which a cell is not observed."""
    for variable, column in zip(variables, codes, strict=True):
        missing = column >= variable.n_states
        if missing.any():
            raise DataError(
                f"{variable.name!r} is missing in row {int(missing.argmax())} ({int(missing.sum())} missing in all); "
                "the probability of rows that are known in part is log_evidence(frame)"
            )


def rows_as_frame(codes: Array, variables: Sequence[Variable], library: str | Alongside | None = None) -> Any:
    """Give codes (n_variables, n_rows) as a frame of labels; domains of labels come along as declared categories."""
    columns = {v.name: label_column(column, v) for v, column in zip(variables, codes, strict=True)}
    return write_frame(columns, library)


def label_column(codes: Array, variable: Variable) -> Any:
    """Give codes (n_rows,) as an Arrow column: of labels with their domain, or of codes; what is no code is missing."""
    import pyarrow as pa

    missing = codes >= variable.n_states
    mask = missing if missing.any() else None
    if variable.is_coded:
        return pa.array(codes, mask=mask)
    # Signed: pandas reads no unsigned codes.
    index = pa.array(codes.astype(np.int8 if variable.n_states < 2**7 else np.int32), mask=mask)
    try:
        labels = pa.array(variable.labels.tolist())
    except (pa.ArrowException, OverflowError, TypeError):
        raise DataError(
            f"the states of {variable.name!r} are {list(variable.states)[:10]}, of types "
            f"{type_names(variable.states)}, and no column of a frame holds them; give it states of one type, numbers "
            "or texts"
        ) from None
    return pa.DictionaryArray.from_arrays(index, labels)


def declared_variable(name: str, states: Any) -> Variable:
    """Make a variable of the states that a user declares: labels, or their number for the codes 0, 1, ...

    >>> declared_variable("size", 3).states, declared_variable("colour", ["red", "green"]).states
    (range(0, 3), ('red', 'green'))
    """
    if isinstance(states, int | np.integer) and not isinstance(states, bool):
        states = range(int(states))
    for listing in ("tolist", "to_list", "to_pylist"):  # as arrays, and columns of frames, give Python's own labels
        if hasattr(states, listing):
            states = getattr(states, listing)()
            break
    if isinstance(states, str) or not isinstance(states, Sequence) or len(states) == 0:
        raise ParameterError(f"the states of {name!r} are {states!r}; give a list of labels, or how many there are")
    if any(map(is_missing, states)):
        raise ParameterError(
            f"the states of {name!r} are {list(states)[:10]}; None and NaN are cells that are not observed, so call "
            "that state by a label"
        )
    if isinstance(states, range) and states == range(len(states)):
        return Variable.of_codes(name, len(states), frozenset({len(states) - 1}))
    try:
        return Variable(name, tuple(states), frozenset(states))
    except TypeError:
        raise ParameterError(f"the states of {name!r} are {states!r}; labels must be hashable") from None


def labelled(frame: Frame, states: Mapping[str, Any]) -> Frame:
    """Make labels of the cells of all columns whose states are not declared by the user; leave the others."""
    import pyarrow as pa

    open_names = [name for name in frame.names if name not in states]
    columns = dict(zip(frame.names, frame.table.columns, strict=True))
    flags = [name for name in open_names if pa.types.is_boolean(columns[name].type)]
    raw = RawTable(columns, frame.table.num_rows, frame.declared, named=True, stored=frame.stored)
    found = raw.labels(open_names, flags, learning=True)
    labels = dict(zip(found.names, found.table.columns, strict=True))
    return Frame(pa.table(columns | labels), frame.library, found.declared, frame.stored)


def domains(frame: Frame, states: Mapping[str, Any]) -> tuple[Variable, ...]:
    """States of every column of `labelled` rows: those declared, by the user or by its type, or those of the rows."""
    open_names = [name for name in frame.names if name not in states]
    found = {}
    if open_names:
        rest = Frame(frame.table.select(open_names), frame.library, frame.declared, frame.stored)
        found = {v.name: v for v in encode_frame(rest, Rules("BayesianNetwork", refuse_missing=False)).schema}
    return tuple(found.get(name) or declared_variable(name, states[name]) for name in frame.names)


def settled(variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """Give the states of all rows together, in the same order; refuse a variable without any.

    >>> settled([Variable("year", (2019.0, 2021.0)), Variable("dose", (0.5, 1)), Variable("size", (0, 1, 2))])
    (Variable(name='year', states=(2019, 2021), declared=frozenset(), dtype=None), \
Variable(name='dose', states=(0.5, 1.0), declared=frozenset(), dtype=None), \
Variable(name='size', states=range(0, 3), declared=frozenset(), dtype=None))
    """
    return tuple(_settled(variable) for variable in variables)


def _settled(variable: Variable) -> Variable:
    name, states = variable.name, variable.states
    if not states:
        raise DataError(
            f"column {name!r} has no value in any row, so its states are unknown; give states={{{name!r}: [...]}}"
        )
    if variable.declared or not all(isinstance(state, int | float) for state in states):
        return variable
    if any(state != int(state) for state in states):
        _tell_of_many(name, len(states))
        return Variable(name, tuple(map(float, states)))
    whole = tuple(map(int, states))
    return Variable.of_codes(name, len(whole)) if whole == tuple(range(len(whole))) else Variable(name, whole)


def _tell_of_many(name: str, n_states: int) -> None:
    """Warn of numbers that are hardly states: they have fractions, and there are many."""
    from bayeswater.families.planning import FEW_VALUES  # all laws come with it, and a question asks for none

    if n_states > FEW_VALUES:
        warn_user(
            f"column {name!r} holds {n_states} different numbers, not all whole, and each becomes a state of its own; "
            "put them into bins first, with Discretizer(method='equal_frequency'), or let learn_structure do it",
            BayesWarning,
        )


EMPTY = "(empty)"
"""Name of the state of empty cells."""


def with_empty_states(table: DiscreteTable, labels: Labels) -> DiscreteTable:
    """Give columns of one value and holes a state for empty cells, with a warning; not those of bins."""
    from bayeswater.estimate.smoothing import columns_of_one_value
    from bayeswater.families.planning import warn_of_empty_states

    counts = CategoryCounts.of(table.coded, labels, None)
    is_one = columns_of_one_value(counts) & ~np.array([variable.is_coded for variable in counts.schema])
    warn_of_empty_states([variable.name for variable, one in zip(counts.schema, is_one, strict=True) if one])
    schema = Schema(
        tuple(_with_empty(variable) if one else variable for variable, one in zip(counts.schema, is_one, strict=True))
    )
    return replace(table, coded=replace(table.coded, schema=schema))


def read_as_empty(table: DiscreteTable) -> DiscreteTable:
    """Give missing cells the code of the state of empty cells, in the columns that have one."""
    columns = []
    for variable, codes in zip(table.coded.schema, table.columns, strict=True):
        has_state = not variable.is_coded and variable.n_states > 0 and variable.states[-1] == EMPTY
        columns.append(np.where(codes == variable.n_states, codes - 1, codes) if has_state else codes)
    return replace(table, coded=replace(table.coded, codes=ColumnMatrix(tuple(columns))))


def _with_empty(variable: Variable) -> Variable:
    return Variable(variable.name, (*variable.states, EMPTY), variable.declared | {EMPTY})
