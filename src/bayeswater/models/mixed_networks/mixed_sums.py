"""`MixedSums`: what a graph of states and numbers is learned from, as sums that add and subtract.

A variable with states is counted with its parents. A number has weight, mean and scatter of itself and its numeric
parents (`Scatter`), for every configuration of its parents with states that rows have; a configuration is the tuple of
their labels, so that sums of pieces go together by label. A row counts for a family where none of its cells is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import Frame, read_frame
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.row_places import original_rows
from bayeswater.data.variable import Variable
from bayeswater.data.weights import checked_weight
from bayeswater.errors import BayesWarning, DataError, ParameterError, StatisticsError, warn_user
from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.estimate.regression import Regressed, regress
from bayeswater.inference.mixed.strong_elimination import MixedRows
from bayeswater.kernels.remainders import ROUNDING, remainder
from bayeswater.limits import require_table_bytes
from bayeswater.models.mixed_networks.mixed_rows import values_to_learn
from bayeswater.models.network.network_fitting import GraphCounts, pseudo_counts_of
from bayeswater.models.network.network_rows import domains, encode_rows, labelled, settled
from bayeswater.networks.conditionals import Table
from bayeswater.networks.mixed_core import MixedCore, discrete_part
from bayeswater.networks.network import Network
from bayeswater.networks.regressions import Regressions
from bayeswater.records import record
from bayeswater.statistics.category_counts import family_counts
from bayeswater.statistics.moments import LostDigits
from bayeswater.statistics.scatter import Scatter
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

NO_ROW = "no row has a cell in each of {names}; leave an arc out, give rows that have them all, or take missing='em'"


@record
class MixedSums:
    """Sums of all families.

    Attributes
    ----------
    dag, numbers : the graph, and which of its nodes are numbers
    counts : of the nodes with states, in a graph of their own
    seen : rows of each state of these nodes by itself
    scatters : of the numbers; classes are configurations, the number itself is the last column
    """

    dag: Dag
    numbers: frozenset[int]
    counts: GraphCounts
    seen: tuple[Array, ...]
    scatters: Mapping[int, Scatter]

    @classmethod
    def of(
        cls, frame: Frame, dag: Dag, numbers: frozenset[int], states: Mapping[str, Any], weight: Array | None
    ) -> tuple["MixedSums", MixedRows]:
        """Sum the rows of a frame that has the nodes for columns; and give the rows as they were read."""
        rows, variables = read_rows(frame, dag, numbers, states)
        with_states = [node for node in range(len(dag)) if node not in numbers]
        part = discrete_part(dag, numbers)
        codes, cards = rows.codes[with_states], [variable.n_states for variable in variables]
        families = tuple((*own, node) for node, own in enumerate(part.parents))
        counts = family_counts(codes, cards, families, weight)
        seen = family_counts(codes, cards, [(j,) for j in range(len(cards))], weight)
        place = {node: variables[j] for j, node in enumerate(with_states)}
        scatters = {node: _scatter(dag, node, numbers, rows, place, weight) for node in sorted(numbers)}
        return cls(dag, numbers, GraphCounts(variables, families, counts), seen, scatters), rows

    def __add__(self, other: "MixedSums") -> "MixedSums":
        counts, seen = self._counted_with(other, np.add)
        scatters = {node: own + other.scatters[node] for node, own in self.scatters.items()}
        return replace(self, counts=counts, seen=seen, scatters=scatters)

    def __sub__(self, other: "MixedSums") -> "MixedSums":
        counts, seen = self._counted_with(other, _taken_away)
        try:
            scatters = {node: own - other.scatters[node] for node, own in self.scatters.items()}
        except LostDigits:
            raise StatisticsError(
                "taking these rows away would leave so little scatter that fewer than 8 digits would be right, or they "
                "were never counted; fit the rows that remain"
            ) from None
        kept = tuple(v.keeping(own > 0) for v, own in zip(counts.variables, seen, strict=True))
        seen = tuple(_among(a, old, new) for a, old, new in zip(seen, counts.variables, kept, strict=True))
        left = replace(self, counts=_kept(counts, kept), seen=seen)
        return replace(left, scatters={node: _pruned(own, left._discrete(node)) for node, own in scatters.items()})

    def _counted_with(
        self, other: "MixedSums", how: Callable[[Array, Array], Array]
    ) -> tuple[GraphCounts, tuple[Array, ...]]:
        """Counts of both together, or those of the other taken away."""
        self._require_same(other)
        counts = self.counts.combined(other.counts, how)
        seen = tuple(
            how(_among(a, mine, both), _among(b, its, both))
            for a, b, mine, its, both in zip(
                self.seen, other.seen, self.counts.variables, other.counts.variables, counts.variables, strict=True
            )
        )
        return counts, seen

    def _require_same(self, other: "MixedSums") -> None:
        if self.dag != other.dag or self.numbers != other.numbers:
            raise ParameterError(
                "the two were learned for different graphs, or have states where the other has numbers; learn both for "
                "the same graph, with the same types of columns"
            )

    # ------------------------------------------------------------------ parameters

    def core(
        self, alpha: Any, equivalent_sample_size: Any, columns: Any, *, begin_with: MixedRows | None = None
    ) -> MixedCore:
        """Read tables and regressions off the sums.

        A number whose family no row has whole is refused; where EM is to begin with these rows, it takes the moments
        of its column.
        """
        part = discrete_part(self.dag, self.numbers)
        variables = settled(self.counts.variables)
        pseudo_counts = pseudo_counts_of(part, alpha, equivalent_sample_size, columns, variables)
        tables = map(conditional_table, self.counts.counts, pseudo_counts)
        states = Network.of(variables, part, [Table(table) for table in tables])
        numbers = {
            node: self._regressions(node)
            if begin_with is None or self.scatters[node].n_classes
            else self._beginning(node, begin_with.values[node])
            for node in sorted(self.numbers)
        }
        return MixedCore.of(self.dag, states, numbers)

    def _discrete(self, node: int) -> list[Variable]:
        place = {n: j for j, n in enumerate(n for n in range(len(self.dag)) if n not in self.numbers)}
        return [self.counts.variables[place[p]] for p in self.dag.parents[node] if p in place]

    def _shape(self, node: int) -> tuple[int, ...]:
        """Number of states of each parent that has them; so many regressions that they have no room are refused."""
        shape = tuple(parent.n_states for parent in self._discrete(node))
        n_cells = prod(shape) * self.scatters[node].n_columns ** 2
        require_table_bytes(8 * n_cells, f"the regressions of {self.dag.names[node]!r}", "give it fewer parents")
        return shape

    def _regressions(self, node: int) -> Regressions:
        parents, own, shape = self._discrete(node), self.scatters[node], self._shape(node)
        n_columns = own.n_columns
        weight, mean = np.zeros(shape), np.zeros((*shape, n_columns))
        scatter = np.zeros((*shape, n_columns, n_columns))
        for k, states in enumerate(own.classes.states):
            place = tuple(parent.code_of[state] for parent, state in zip(parents, states, strict=True))
            weight[place], mean[place], scatter[place] = own.weight[k, 0, 0], own.means[k], own.scatter[k]
        found = regress(weight, mean, scatter)
        _tell_exact(self.dag.names[node], found)
        if (weight > 0).all():
            return Regressions(found.intercept, found.slopes, found.variance)
        return self._with_pooled(node, found)

    def _beginning(self, node: int, values: Array) -> Regressions:
        """Begin with the mean and variance of a column, and no slopes; states are told apart, as EM keeps equals so."""
        known = values[~np.isnan(values)]
        if not len(known):
            raise DataError(
                f"column {self.dag.names[node]!r} has no number in any row, so EM finds nothing of it; leave it out"
            )
        shape = self._shape(node)
        steps = np.linspace(-1, 1, prod(shape)) if prod(shape) > 1 else np.zeros(1)
        apart = known.std() * steps.reshape(shape)
        slopes = np.zeros((*shape, self.scatters[node].n_columns - 1))
        return Regressions(known.mean() + apart, slopes, np.full(shape, known.var()))

    def _with_pooled(self, node: int, found: Regressed) -> Regressions:
        """Give configurations that no row has the regression of all rows together."""
        if not self.scatters[node].n_classes:
            names = [self.dag.names[member] for member in (*self.dag.parents[node], node)]
            raise DataError(NO_ROW.format(names=names))
        n, mean, scatter = self.scatters[node].pooled
        empty = found.weight == 0
        pooled = regress(n[0], mean, scatter)
        warn_user(
            f"no row has {int(empty.sum())} of the {empty.size} configurations of the parents of "
            f"{self.dag.names[node]!r}; there it follows the regression of all rows together",
            BayesWarning,
        )
        return Regressions(
            np.where(empty, pooled.intercept, found.intercept),
            np.where(empty[..., None], pooled.slopes, found.slopes),
            np.where(empty, pooled.variance, found.variance),
        )


def _tell_exact(name: str, found: Regressed) -> None:
    exact = (found.variance == 0) & (found.weight > 0)
    if exact.any():
        warn_user(
            f"{name!r} has no variance in {int(exact.sum())} of {exact.size} configurations of its parents: too few "
            "rows, or it is an exact function of them; there it is taken for exact, and any other value for impossible",
            BayesWarning,
        )


def read_rows(
    frame: Frame, dag: Dag, numbers: frozenset[int], states: Mapping[str, Any]
) -> tuple[MixedRows, tuple[Variable, ...]]:
    """Read the columns of all nodes, and the variables with states as the rows have them."""
    n_rows = frame.table.num_rows
    codes, values = np.zeros((len(dag), n_rows), dtype=np.int64), np.full((len(dag), n_rows), np.nan)
    names = [name for node, name in enumerate(dag.names) if node not in numbers]
    variables: tuple[Variable, ...] = ()
    if names:
        part = Frame(frame.table.select(names), frame.library, frame.declared, frame.stored)
        part = labelled(part, states)
        variables = domains(part, states)
        for name, column in zip(names, encode_rows(part.table, variables), strict=True):
            codes[dag.position[name]] = column
    for node in numbers:
        values[node] = values_to_learn(frame, dag.names[node], "it was read as a number; give states for it")
    return MixedRows(codes, values), variables


def _scatter(
    dag: Dag, node: int, numbers: frozenset[int], rows: MixedRows, place: Mapping[int, Variable], weight: Array | None
) -> Scatter:
    members = [*(p for p in dag.parents[node] if p in numbers), node]
    parents = [p for p in dag.parents[node] if p not in numbers]
    there = ~np.isnan(rows.values[members]).any(axis=0)
    for parent in parents:
        there &= rows.codes[parent] < place[parent].n_states
    names = tuple(dag.names[member] for member in members)
    if not there.any():
        arrays = {"weight": np.zeros((0, 1, 1), dtype=np.int64), "mean": np.zeros((0, len(members), 1))}
        empty = Variable("configuration", ())
        return Scatter(empty, names, **arrays, scatter=np.zeros((0, len(members), len(members))))
    codes, which = np.unique(rows.codes[parents][:, there], axis=1, return_inverse=True) if parents else (None, None)
    if codes is None or which is None:
        states: tuple[tuple[Any, ...], ...] = ((),)
        which = np.zeros(int(there.sum()), dtype=np.int64)
    else:
        columns = [[place[p].states[c] for c in own] for p, own in zip(parents, codes.tolist(), strict=True)]
        states = tuple(zip(*columns, strict=True))
    which = which.reshape(-1)
    labels = Labels(Variable("configuration", states), which, np.bincount(which, minlength=len(states)))
    matrix = DenseMatrix(np.ascontiguousarray(rows.values[members][:, there].T), names)
    return Scatter.of(matrix, labels, None if weight is None else weight[there], skip_missing=False)


def _taken_away(count: Array, part: Array) -> Array:
    """What is left of counts; sums of fractional weights differ by rounding, which is no row."""
    if (part - count > ROUNDING * count).any():
        raise StatisticsError("cannot take away rows that were never counted")
    return remainder(count, part) if np.result_type(count, part).kind == "f" else count - part


def _pruned(scatter: Scatter, parents: Sequence[Variable]) -> Scatter:
    """Drop configurations that no row has any more, as those of states that have gone."""
    there = [all(s in p.code_of for s, p in zip(own, parents, strict=True)) for own in scatter.classes.states]
    kept = (scatter.weight[:, 0, 0] > 0) & np.array(there, dtype=bool)
    if kept.all():
        return scatter
    states = tuple(s for s, is_kept in zip(scatter.classes.states, kept.tolist(), strict=True) if is_kept)
    return scatter.onto(Variable(scatter.classes.name, states))


def _kept(counts: GraphCounts, variables: Sequence[Variable]) -> GraphCounts:
    """Give counts in domains that have lost states without rows."""
    place = [wide.shared_codes(own)[0] for own, wide in zip(variables, counts.variables, strict=True)]
    found = tuple(
        count[np.ix_(*(place[member] for member in family))]
        for family, count in zip(counts.families, counts.counts, strict=True)
    )
    return GraphCounts(tuple(variables), counts.families, found)


def _among(count: Array, old: Variable, new: Variable) -> Array:
    mine, theirs = old.shared_codes(new)
    found = np.zeros(new.n_states, dtype=count.dtype)
    found[theirs] = count[mine]
    return found


def summed_table(
    dag: Dag, numbers: frozenset[int], states: Mapping[str, Any], weights: str | None, table: "pa.Table"
) -> MixedSums:
    """Sum the rows of an Arrow table, of which one of weight zero is none; `weights` names a column."""
    weight = None if weights is None else table.column(weights).to_numpy()
    return summed_rows(read_frame(table), dag, numbers, states, weight)[0]


def summed_rows(
    frame: Frame, dag: Dag, numbers: frozenset[int], states: Mapping[str, Any], weight: Any
) -> tuple[MixedSums, MixedRows, Array | None]:
    """Sum rows, and give them as they were read, and their weights; a row of weight zero is none."""
    table = frame.table.select(list(dag.names))
    checked = checked_weight(weight, table.num_rows) if table.num_rows else None
    kept = np.ones(table.num_rows, dtype=bool) if checked is None else checked > 0
    if checked is not None and not kept.all():
        table, checked = table.filter(kept), checked[kept]
    with original_rows(kept):
        part = Frame(table, frame.library, frame.declared, frame.stored)
        sums, rows = MixedSums.of(part, dag, numbers, states, checked)
    return sums, rows, checked
