"""A network from rows and a graph: count every variable with its parents, and smooth.

A missing cell leaves its row out of the counts it belongs to, and of no other: available cases, variable by variable.
Or it is summed over, and the tables are those of largest likelihood: EM, which goes over rows again and again, and
reads them into memory. Rows that do not fit are counted in pieces (`GraphCounts`): the states of a variable are those
that rows show, or that are declared, and counts of pieces are brought into the states of all of them, by label, before
they are added.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import Frame, is_frame, materialised, read_frame
from bayeswater.data.row_places import original_rows
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.rows import Rows
from bayeswater.data.sources.whole import in_types_that_fit, whole_table
from bayeswater.data.variable import Variable
from bayeswater.data.weights import checked_weight
from bayeswater.errors import DataError, ParameterError, SchemaError, nearest_names
from bayeswater.estimate.dirichlet import Dirichlet, conditional_table
from bayeswater.inference.exact.factors import Factors
from bayeswater.learning.network_em import Expectation, fit_by_em
from bayeswater.limits import require_table_bytes
from bayeswater.models.network.network_rows import declared_variable, domains, encode_rows, labelled, settled
from bayeswater.models.settings import checked_alpha, column_priors
from bayeswater.models.streaming.sources import rows_to_answer
from bayeswater.networks.conditionals import Table
from bayeswater.networks.network import Network
from bayeswater.records import record
from bayeswater.statistics.category_counts import family_counts
from bayeswater.structure.dag import Dag
from bayeswater.typing import LARGEST_COUNT, Array, is_pseudo_count

if TYPE_CHECKING:
    import pyarrow as pa

SPREAD = 0.5
"""Share by which the tables of children of a hidden variable are changed at the start of EM: enough for a first round
to gain more than that with which it ends."""


def fitted_network(
    dag: Dag,
    X: Any,
    *,
    alpha: Any,
    equivalent_sample_size: float | None,
    columns: Any,
    states: Mapping[str, Any],
    sample_weight: Any,
    missing: str = "available",
) -> Network:
    """Estimate the table of every node of the graph; see `BayesianNetwork.from_data`."""
    require_settings(dag, states, alpha, equivalent_sample_size, missing)
    smoothing = partial(pseudo_counts_of, dag, alpha, equivalent_sample_size, columns)
    rows = rows_to_answer(X)
    if rows is not None:
        hidden = _hidden(dag, rows.schema.names, states, missing)
        _require_name(sample_weight)
        read = [name for name in columns_of(dag, sample_weight) if name not in hidden]
        rows.require_columns(read)
        declare_states(rows, {name: own for name, own in states.items() if name not in hidden})
        if missing == "available":
            found = counted_rows(rows, dag, states, sample_weight)
            return _network(dag, found.variables, map(conditional_table, found.counts, smoothing(found.variables)))
        X = whole_table(rows, read, "EM", "take missing='available', which counts pieces")
        sample_weight = None if sample_weight is None else X[sample_weight]
    variables, codes, weight = coded_rows(dag, X, states, sample_weight, missing)
    cards = [variable.n_states for variable in variables]
    tables = estimated_tables(codes, cards, dag.parents, smoothing(variables), weight, by_em=missing == "em")
    return _network(dag, variables, tables)


def require_settings(
    dag: Dag, states: Mapping[str, Any], alpha: Any, equivalent_sample_size: float | None, missing: str
) -> None:
    """Refuse settings that do not go with each other or with the graph, before rows are read."""
    if missing not in ("available", "em"):
        raise ParameterError(f"missing is {missing!r}; it can be 'available' or 'em'")
    if alpha is not None and equivalent_sample_size is not None:
        raise ParameterError(
            f"alpha is {alpha!r} and equivalent_sample_size is {equivalent_sample_size!r}; both say what is added to "
            "the counts, so give one of them"
        )
    require_nodes(dag, states)


def coded_rows(
    dag: Dag, X: Any, states: Mapping[str, Any], sample_weight: Any, missing: str
) -> tuple[tuple[Variable, ...], Array, Array | None]:
    """Give the variables of a graph, the codes (n_variables, n_rows) of a frame's rows, and their weights.

    With EM, a node without a column is hidden where its states are known: it is missing in every row.
    """
    frame, weight, kept = _rows_that_count(materialised(X), dag, sample_weight, states, missing)
    with original_rows(kept):
        frame = labelled(frame, states)
        labels = domains(frame, states)
        return settled(labels), encode_rows(frame.table, labels), weight


def _network(dag: Dag, variables: Sequence[Variable], tables: Iterable[Array]) -> Network:
    return Network.of(variables, dag, [Table(table) for table in tables])


def _rows_that_count(
    X: Any, dag: Dag, sample_weight: Any, states: Mapping[str, Any], missing: str
) -> tuple[Frame, Array | None, Array]:
    """Take the columns of a frame that are nodes; a row of weight zero is no row: its labels are no states.

    Marks tell which rows these are among all.
    """
    if not is_frame(X):
        raise DataError(f"X is a {type(X).__name__} without names; give a frame with a column for every node")
    frame = read_frame(X)
    table = frame.table
    for name in _hidden(dag, frame.names, states, missing):
        import pyarrow as pa

        table = table.append_column(name, pa.nulls(table.num_rows))
    table = table.select(list(dag.names))
    weight = checked_weight(sample_weight, table.num_rows)
    kept = np.ones(table.num_rows, dtype=bool) if weight is None else weight > 0
    if weight is not None and not kept.all():
        table, weight = table.filter(kept), weight[kept]
    return Frame(table, frame.library, frame.declared, frame.stored), weight, kept


def _hidden(dag: Dag, there: Sequence[str], states: Mapping[str, Any], missing: str) -> list[str]:
    """Name the nodes without a column that EM can find; any other is refused."""
    absent = sorted(set(dag.names).difference(there), key=dag.node)
    for name in absent:
        if missing != "em" or name not in states:
            raise SchemaError(
                f"no column {name!r} for that node; {nearest_names(name, there)}. A hidden variable has none: give "
                f"states={{{name!r}: 3}} and missing='em'"
            )
    return absent


def _require_name(sample_weight: Any) -> None:
    if not (sample_weight is None or isinstance(sample_weight, str)):
        raise ParameterError("sample_weight must be the name of a column of the source")


def pseudo_counts_of(
    dag: Dag, alpha: Any, equivalent_sample_size: Any, columns: Any, variables: Sequence[Variable]
) -> list[Array]:
    """Give what is added to the counts of the states of each variable."""
    priors = column_priors(columns, dag.names, len(dag), Dirichlet)
    smoothing = checked_alpha(1.0 if alpha is None else alpha, len(dag), force_alpha=True)
    if equivalent_sample_size is not None and not (
        is_pseudo_count(equivalent_sample_size) and equivalent_sample_size > 0
    ):
        raise ParameterError(
            f"equivalent_sample_size is {equivalent_sample_size!r}; give a number over 0, and {LARGEST_COUNT:g} at most"
        )
    cards = [variable.n_states for variable in variables]
    pseudo_counts = []
    for node, (variable, parents) in enumerate(zip(variables, dag.parents, strict=True)):
        if node in priors:
            pseudo_counts.append(priors[node].concentration(variable))
        elif equivalent_sample_size is not None:
            n_cells = variable.n_states * prod(cards[parent] for parent in parents)
            pseudo_counts.append(np.full(variable.n_states, equivalent_sample_size / n_cells))
        else:
            pseudo_counts.append(np.full(variable.n_states, smoothing[node]))
    return pseudo_counts


def estimated_tables(
    codes: Array,
    cards: Sequence[int],
    parents: Sequence[tuple[int, ...]],
    pseudo_counts: Sequence[Array],
    weight: Array | None,
    *,
    by_em: bool,
) -> tuple[Array, ...]:
    """Estimate P(own | parents) of every variable.

    Parameters
    ----------
    codes : (n_variables, n_rows), the card of a variable, or more, being the code of a missing cell
    cards, parents : the network's
    pseudo_counts : for each variable, what is added to the counts of its states
    weight : (n_rows,)
    by_em : whether missing cells are summed over; or a row counts for the families it has all cells of
    """
    members = [(*own, node) for node, own in enumerate(parents)]
    counts = family_counts(codes, cards, members, weight)
    if not by_em:
        return tuple(conditional_table(count, own) for count, own in zip(counts, pseudo_counts, strict=True))
    # From a start without zeros, which EM would keep.
    begin = tuple(
        conditional_table(count, np.maximum(own, 1e-3)) for count, own in zip(counts, pseudo_counts, strict=True)
    )
    start = Factors(tuple(cards), tuple(parents), drawn_apart(begin, parents, codes, cards))
    return fit_by_em(start, Expectation(codes, start.parents, start.cards, weight), pseudo_counts).tables


def drawn_apart(
    tables: tuple[Array, ...], parents: Sequence[tuple[int, ...]], codes: Array, cards: Sequence[int], seed: int = 0
) -> tuple[Array, ...]:
    """Let the states of variables that no row shows differ a little in what they do to their children.

    Such a variable has no counts, so all its states would start equal, and what is equal EM keeps equal: a saddle, at
    which the variable explains nothing. Numbers drawn from a seed decide which state becomes which; those of other
    seeds than the first are far apart, so that EM may end elsewhere.
    """
    is_hidden = [bool((row >= card).all()) for row, card in zip(codes, cards, strict=True)]
    rng = np.random.default_rng(seed)
    apart = []
    for table, own in zip(tables, parents, strict=True):
        if any(is_hidden[parent] for parent in own):
            by = rng.uniform(1 - SPREAD, 1 + SPREAD, table.shape) if seed == 0 else rng.exponential(size=table.shape)
            table = table * by
            table /= table.sum(axis=-1, keepdims=True)
        apart.append(table)
    return tuple(apart)


@record
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
        return cls(variables, families, family_counts(codes, cards, families, weight))

    def __add__(self, other: "GraphCounts") -> "GraphCounts":
        return self.combined(other, np.add)

    def combined(self, other: "GraphCounts", how: Callable[[Array, Array], Array]) -> "GraphCounts":
        """Give a function of the counts of both in domains that hold all states."""
        variables = tuple(map(Variable.union, self.variables, other.variables))
        counts = tuple(map(how, self._among(variables), other._among(variables)))
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
    counting = partial(_counted, dag, states, weight)
    counts = in_types_that_fit(lambda: rows.sum(counting, columns_of(dag, weight)))
    return replace(counts, variables=settled(counts.variables))


def declare_states(rows: Rows, states: Mapping[str, Any]) -> None:
    """Read the columns of files in the types of the states that are known: "1" and "2" may be labels."""
    import pyarrow as pa

    if not isinstance(rows, LocalRows):
        return
    rows.keep_words()
    types = {}
    for name, known in states.items():
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # labels of several types have none
            types[name] = pa.array(list(declared_variable(name, known).states)).type
    rows.declare(types)


def columns_of(dag: Dag, weight: str | None) -> list[str]:
    """Name the columns that are nodes, and that of weights."""
    return [*dict.fromkeys([*dag.names, *([] if weight is None else [weight])])]


def _counted(dag: Dag, states: Mapping[str, Any], weights: str | None, table: "pa.Table") -> GraphCounts:
    """Count the rows of a table, of which one of weight zero is none: its labels are no states."""
    weight, kept = None, np.ones(table.num_rows, dtype=bool)
    if weights is not None:
        weight = table.column(weights).to_numpy()
        kept = weight != 0
        table, weight = table.filter(kept), weight[kept]
    with original_rows(kept):
        weight = checked_weight(weight, len(weight)) if weight is not None and len(weight) else None
        return GraphCounts.of(read_frame(table.select(list(dag.names))), dag, states, weight)


def require_nodes(dag: Dag, states: Mapping[str, Any]) -> None:
    """Refuse states of what is no node."""
    unknown = [name for name in states if name not in dag.position]
    if unknown:
        raise ParameterError(f"states names {unknown[0]!r}, which is no node; {nearest_names(unknown[0], dag.names)}")
