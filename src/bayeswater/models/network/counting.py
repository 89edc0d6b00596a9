"""`GraphCounts`: how often the states of every family of a graph met, a variable with its parents; a sum over rows.

The states of a variable are those that rows show, or that are declared. Counts of pieces are brought into the states of
all of them before they are added, by label: a network of a known graph is learned from rows wherever they lie.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import Frame, read_frame
from bayeswater.data.sources.cutting import places_told
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.rows import Rows
from bayeswater.data.sources.whole import in_types_that_fit
from bayeswater.data.variable import Variable
from bayeswater.data.weights import checked_weight
from bayeswater.errors import ParameterError, nearest_names
from bayeswater.limits import require_table_bytes
from bayeswater.models.network.found_states import domains, labelled, settled
from bayeswater.models.network.given_tables import declared_variable
from bayeswater.models.network.rows import encode_rows
from bayeswater.statistics.category_counts import joint_counts
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class GraphCounts:
    """Counts of each family, an axis for every parent and the last for the variable itself, and all variables."""

    variables: tuple[Variable, ...]
    families: tuple[tuple[int, ...], ...]
    counts: tuple[Array, ...]

    @classmethod
    def of(cls, frame: Frame, dag: Dag, states: Mapping[str, Any], weight: Array | None) -> "GraphCounts":
        """Count the rows of a frame whose columns are the nodes."""
        frame = labelled(frame, states)
        variables = domains(frame, states)
        codes, cards = encode_rows(frame.table, variables), [variable.n_states for variable in variables]
        families = tuple((*parents, node) for node, parents in enumerate(dag.parents))
        counts = tuple(joint_counts(codes, own, [cards[member] for member in own], weight) for own in families)
        return cls(variables, families, counts)

    def __add__(self, other: "GraphCounts") -> "GraphCounts":
        variables = tuple(map(Variable.union, self.variables, other.variables))
        counts = tuple(a + b for a, b in zip(self._among(variables), other._among(variables), strict=True))
        return GraphCounts(variables, self.families, counts)

    def _among(self, variables: tuple[Variable, ...]) -> list[Array]:
        """Give the counts in domains that hold all my states."""
        place = [own.shared_codes(wider)[1] for own, wider in zip(self.variables, variables, strict=True)]
        found = []
        for family, count in zip(self.families, self.counts, strict=True):
            shape = [variables[member].n_states for member in family]
            name = variables[family[-1]].name
            require_table_bytes(8 * prod(shape), f"counting {name!r} with its parents", "give it fewer parents")
            grown = np.zeros(shape, dtype=count.dtype)
            grown[np.ix_(*(place[member] for member in family))] = count
            found.append(grown)
        return found


def counted_rows(rows: Rows, dag: Dag, states: Mapping[str, Any], weight: str | None) -> GraphCounts:
    """Count the rows of a source, piece by piece; `weight` names a column of weights."""
    counting = GraphCounting(dag, states, weight)
    counts = in_types_that_fit(lambda: rows.sum(counting, columns_of(dag, weight)))
    return replace(counts, variables=settled(counts.variables))


def declare_states(rows: Rows, states: Mapping[str, Any]) -> None:
    """Read the columns of files in the types of the states that are known: "1" and "2" may be labels."""
    import pyarrow as pa

    if not isinstance(rows, LocalRows):
        return
    types = {}
    for name, known in states.items():
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # labels of several types have none
            types[name] = pa.array(list(declared_variable(name, known).states)).type
    rows.declare(types)


def columns_of(dag: Dag, weight: str | None) -> list[str]:
    """Name the columns that are nodes, and that of weights."""
    return [*dict.fromkeys([*dag.names, *([] if weight is None else [weight])])]


@dataclass(frozen=True)
class GraphCounting:
    """A function of an Arrow table: the counts of its rows."""

    dag: Dag
    states: Mapping[str, Any]
    weight: str | None

    def __call__(self, table: "pa.Table") -> GraphCounts:
        """Count the rows of a table, of which one of weight zero is none: its labels are no states."""
        weight, kept = None, np.ones(table.num_rows, dtype=bool)
        if self.weight is not None:
            weight = table.column(self.weight).to_numpy()
            kept = weight != 0
            table, weight = table.filter(kept), weight[kept]
        with places_told(kept):
            weight = checked_weight(weight, len(weight)) if weight is not None and len(weight) else None
            return GraphCounts.of(read_frame(table.select(list(self.dag.names))), self.dag, self.states, weight)


def require_nodes(dag: Dag, states: Mapping[str, Any]) -> None:
    """Refuse states of what is no node."""
    unknown = [name for name in states if name not in dag.position]
    if unknown:
        raise ParameterError(f"states names {unknown[0]!r}, which is no node; {nearest_names(unknown[0], dag.names)}")
