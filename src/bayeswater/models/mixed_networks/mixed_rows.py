"""Rows of a frame for a network of states and numbers: codes of the former, values of the latter.

A column of numbers is a number, unless its states are told; booleans, texts and categories are states. A cell that is
missing, or whose column is not there, is not observed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.data.frames import Frame, numeric_column, read_frame
from bayeswater.data.reading.known_labels import holds_numbers
from bayeswater.data.sources.paths import is_path
from bayeswater.errors import DataError, ParameterError, SchemaError, nearest_names
from bayeswater.inference.mixed.strong_elimination import MixedRows
from bayeswater.kernels.moments import FAINT
from bayeswater.models.network.conditional_tables import state_code
from bayeswater.models.network.evidence import soft_of
from bayeswater.models.network.network_rows import encode_rows, file_of_rows, frame_of_variables
from bayeswater.models.streaming.answering import rows_of_cells, table_of_rows
from bayeswater.networks.mixed_core import MixedCore
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array, is_number

WAY_OUT = "it is a number of the network: give numbers, or leave the column out"


def number_nodes(schema: Any, dag: Dag, states: Mapping[str, Any]) -> frozenset[int]:
    """Nodes whose columns hold numbers, by the types of an Arrow schema, and whose states are not told."""
    import pyarrow as pa

    types = {name: schema.field(name).type for name in dag.names if name in schema.names and name not in states}
    return frozenset(
        dag.position[name] for name, kind in types.items() if holds_numbers(kind) and not pa.types.is_boolean(kind)
    )


def values_of(frame: Frame, name: str, way_out: str = WAY_OUT) -> Array:
    """Give a column as float64, NaN where a cell is missing; refuse infinite ones."""
    values = np.asarray(numeric_column(frame, name, way_out), dtype=np.float64)
    infinite = np.isinf(values)
    if infinite.any():
        raise DataError(
            f"column {name!r} is infinite in row {int(infinite.argmax())} ({int(infinite.sum())} in all); a normal "
            "number is finite: correct these cells, or make them missing"
        )
    return values


def values_to_learn(frame: Frame, name: str, way_out: str = WAY_OUT) -> Array:
    """Give a column as `values_of` does; refuse one whose squares are no numbers, or have lost their digits."""
    values = values_of(frame, name, way_out)
    known = values[~np.isnan(values)]
    if known.size:
        with np.errstate(over="ignore", invalid="ignore"):
            squares = float(((known - known.mean()) ** 2).sum())
        if not np.isfinite(squares):
            raise DataError(
                f"the squares of column {name!r} overflow: its values are too far apart for float64; divide the column "
                "by a large number"
            )
        if squares < FAINT and np.ptp(known) > 0:
            raise DataError(
                f"the squares of column {name!r} underflow: its values are too near to one another for float64; "
                "multiply the column by a large number"
            )
    return values


def rows_of(
    X: Any, core: MixedCore, unseen: str = "error", soft_evidence: Mapping[str, Any] | None = None
) -> MixedRows:
    """Read rows: a frame, one row or a list of rows by name, or the name of a file of rows; and likelihoods."""
    rows = rows_of_cells(X)
    if rows is not None and isinstance(X, Mapping):
        return row_of(X, core, soft_evidence)
    if rows is not None:
        X = table_of_rows(rows, list(dict.fromkeys(name for row in rows for name in row)))
    elif is_path(X):
        X = file_of_rows(X, core.states.variables, [core.names[node] for node in core.numbers])
    frame = read_frame(frame_of_variables(X))
    for name in frame.names:
        if name not in core.dag.position:
            raise SchemaError(
                f"column {name!r} is no variable of the network ({nearest_names(name, core.names)}); rename it or "
                "leave it out"
            )
    nodes = [core.dag.position[name] for name in frame.names]
    found = _nothing(core, frame.table.num_rows)
    with_states = [core.names[node] for node in nodes if node not in core.numbers]
    if with_states:
        codes = encode_rows(
            frame.table.select(with_states), [core.variable(core.dag.position[n]) for n in with_states], unseen
        )
        for name, column in zip(with_states, codes, strict=True):
            found.codes[core.dag.position[name]] = column
    for node in nodes:
        if node in core.numbers:
            found.values[node] = values_of(frame, core.names[node])
    return _with_likelihoods(found, core, soft_evidence)


def row_of(
    evidence: Mapping[str, Any] | None, core: MixedCore, soft_evidence: Mapping[str, Any] | None = None
) -> MixedRows:
    """Read one row, ``{name: state or number}``; None is what is not observed. And likelihoods of states."""
    found = _nothing(core, 1)
    if not isinstance(evidence, Mapping | None):
        raise ParameterError(f"evidence is {evidence!r}; give a dict from names to states or numbers")
    for name, value in (evidence or {}).items():
        node = core.dag.node(name)
        if value is None:
            continue
        if node in core.numbers:
            if not is_number(value) or not np.isfinite(value):
                raise ParameterError(f"{name!r} is a number, and {value!r} is none; give a finite one")
            found.values[node] = value
        else:
            found.codes[node] = state_code(core.variable(node), value)
    return _with_likelihoods(found, core, soft_evidence)


def _with_likelihoods(rows: MixedRows, core: MixedCore, soft_evidence: Mapping[str, Any] | None) -> MixedRows:
    if not soft_evidence:
        return rows
    if isinstance(soft_evidence, Mapping):
        for name in soft_evidence:
            if core.dag.node(name) in core.numbers:
                raise ParameterError(
                    f"soft evidence on {name!r}: likelihoods are of states, and it is a number; add a number that "
                    "measures it, with the variance of the error, and give what was measured as evidence"
                )
    nodes = list(core.place)
    soft = soft_of(core.states, soft_evidence, len(rows))
    likelihoods = {nodes[place]: own.reshape(-1, own.shape[-1]) for place, own in soft.items()}
    return MixedRows(rows.codes, rows.values, likelihoods)


def _nothing(core: MixedCore, n_rows: int) -> MixedRows:
    """Rows of which nothing is observed."""
    codes = np.zeros((len(core), n_rows), dtype=np.int64)
    for node, place in core.place.items():
        codes[node] = core.states.cards[place]
    return MixedRows(codes, np.full((len(core), n_rows), np.nan))


def require_columns(dag: Dag, there: Sequence[str]) -> None:
    """Refuse a frame that lacks the column of a node."""
    absent = [name for name in dag.names if name not in there]
    if absent:
        raise SchemaError(f"no column {absent[0]!r} for that node; {nearest_names(absent[0], list(there))}")
