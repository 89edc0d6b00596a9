"""Rows of a frame as codes of a network's variables, aligned by name and label.

A column that is not there, and a missing cell, are what is not observed: their code is one past the last state.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayeswater.data.cells import type_names
from bayeswater.data.frames import Alongside, Frame, held, is_frame, read_frame, write_frame
from bayeswater.data.labels import narrow_codes
from bayeswater.data.reading.coded_table import (
    CodedTable,
    Rules,
    Unseen,
    encode_categories,
    encode_frame,
    report_unseen,
)
from bayeswater.data.reading.known_labels import known_codes
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import DataError, ParameterError, SchemaError, nearest_names
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array


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
    X = held(X)
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
        return known_codes(frame.table.column(place[node]), variables[node], codes[node])

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
