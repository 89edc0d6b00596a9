"""Probabilities of states within each class, smoothed by a pseudo-count that is given or chosen from the counts.

Tables of probabilities are laid out like the counts they come from. In some columns an empty cell is a state of its
own. That is so in all columns where ``missing="state"`` asks for it. Without being asked it is so in a column of one
value and holes, such as "t" for what somebody bought: the value alone tells nothing, so what the column says, it says
by being empty. This is read off the counts as everything is. So it is the same for any order and parts of the rows, a
second value that comes later is a state, and with it an empty cell is a missing one again.

Automatic smoothing takes the pseudo-count under which counts predict each other best. Of a column with S states and
counts N_kv (row by row N_k), the pseudo-count a maximises the sum of the logarithms of the probabilities that every
cell has when its own row is taken out:

    sum_kv N_kv log((N_kv - 1 + a) / (N_k - 1 + S a))

A row alone in its class says nothing and is left out. With fractional weights there is no row to take out, and the
evidence of a symmetric Dirichlet prior takes the place of the sum:

    sum_k [log Gamma(S a) - log Gamma(N_k + S a) + sum_v (log Gamma(N_kv + a) - log Gamma(a))]

Both are sums of a term in (N_kv, a) less the same term in (N_k, S a). Equal counts are taken together, so a text
column of a million cells costs no more than its few thousand different counts. In log a the terms bend slowly, over a
factor of ten or so: a grid of four points to a factor of ten finds the highest peak, and the zero of the slope beside
the best point is the maximum.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, psi

from bayeswater.data.variable import Variable
from bayeswater.estimate.dirichlet import Dirichlet
from bayeswater.kernels.remainders import ROUNDING, remainder
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.typing import Array


def concentration_table(counts: CategoryCounts, alpha: Array, priors: Mapping[int, Dirichlet]) -> Array:
    """Pseudo-count of every row of the flat table: alpha of its column, or what the column's own prior says.

    Returns (n_table_rows, 1). The slot of missing cells gets the column's alpha, for models that take it as a state.
    """
    table = np.repeat(alpha, counts.n_states + 1)
    for j, prior in priors.items():
        table[counts.start[j] : counts.start[j + 1] - 1] = prior.concentration(counts.schema[j])
    return table[:, None]


def category_log_likelihood(
    table: Array, start: Array, concentration: Array, *, missing_is_state: bool | Array, removed: float = 0.0
) -> Array:
    """Logarithm of P(state | class) for every row of the flat table (n_table_rows, n_classes).

    The slot of missing cells is a state of its own or else has log-likelihood 0: its factor is left out. With
    `removed`, each entry is the probability of that state for a row of that class and state which has itself
    been taken out with that weight.
    """
    width, slots = np.diff(start), start[1:] - 1
    n_states, pseudo_count, count = column_totals(table, start, concentration, missing_is_state=missing_is_state)
    total = remainder(count, removed) + pseudo_count
    smoothed = remainder(table, removed) + concentration
    empty = total == 0
    with np.errstate(divide="ignore"):
        log_likelihood = np.log(np.where(np.repeat(empty, width, axis=0), 1.0, smoothed))
        log_likelihood -= np.repeat(np.log(np.where(empty, n_states, total)), width, axis=0)
    log_likelihood[slots[~np.broadcast_to(missing_is_state, slots.shape)]] = 0.0
    return log_likelihood


def column_totals(
    table: Array, start: Array, concentration: Array, *, missing_is_state: bool | Array
) -> tuple[Array, Array, Array]:
    """Number of states, sum of pseudo-counts (n_columns, 1), and sum of counts (n_columns, n_classes), of each column.

    The slot of missing cells belongs to them only where missing is a state: of all columns, or of some (n_columns,).
    """
    in_domain = np.ones((len(table), 1))
    in_domain[start[1:] - 1, 0] = missing_is_state
    n_states, pseudo_count, count = (
        np.add.reduceat(part * in_domain, start[:-1]) for part in (np.ones((len(table), 1)), concentration, table)
    )
    return n_states, pseudo_count, count


def empty_is_state(counts: CategoryCounts | PairCounts, missing: str) -> Array:
    """Mark the columns (n_columns,) whose empty cells are a state, where a model is told to take `missing` so."""
    return np.full(len(counts.schema), True) if missing == "state" else columns_of_one_value(counts)


def columns_of_one_value(counts: CategoryCounts | PairCounts) -> Array:
    """Mark the columns (n_columns,) that have one value, and holes.

    States that somebody declared count as values. Those of a flag are its type's, so of these only what occurred does.

    >>> from bayeswater.data.variable import Schema
    >>> schema = Schema((Variable("beer", ("t",)), Variable("wine", ("t",)), Variable("colour", ("blue", "red"))))
    >>> table = np.array([[4, 1], [0, 3], [4, 4], [0, 0], [4, 1], [0, 0], [0, 3]])
    >>> columns_of_one_value(CategoryCounts(Variable("class", ("no", "yes")), schema, table))
    array([ True, False, False])
    """
    has_holes = counts.table[counts.start[1:] - 1].any(axis=1)
    found = np.zeros(len(counts.schema), dtype=bool)
    for j in np.flatnonzero(has_holes).tolist():
        variable = counts.schema[j]
        if variable.n_states == 1 or _is_flag(variable):
            found[j] = np.count_nonzero(counts.of_column(j).any(axis=1)) == 1
    return found


def _is_flag(variable: Variable) -> bool:
    return not variable.is_coded and tuple(variable.states) == (False, True)


LEAST, MOST = 1e-3, 1e3
"""Limits of the pseudo-count."""

NOTHING_LEARNED = 1.0
"""Pseudo-count of a column that does not say which is better: Laplace's."""

LOG_GRID = np.linspace(np.log(LEAST), np.log(MOST), 25)

TOLERANCE = 1e-9
"""Width of the interval of log a at which the search for the maximum ends."""

MOST_STEPS = 60
"""Steps after which it ends in any case; halving alone would need 30."""


class Criterion(NamedTuple):
    """A term f(n, a), its value f(0, a) which counts for nothing, and the slopes of both along log a."""

    term: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    term_of_none: Callable[[Array], Array]
    slope_of_none: Callable[[Array], Array]


LEAVE_ONE_OUT = Criterion(
    lambda n, a: n * np.log(n - 1 + a),
    lambda n, a: n * a / (n - 1 + a),
    np.zeros_like,
    np.zeros_like,
)
EVIDENCE = Criterion(
    lambda n, a: gammaln(n + a),
    lambda n, a: a * psi(n + a),
    gammaln,
    lambda a: a * psi(a),
)


def best_alpha(count: Array) -> float:
    """Choose the pseudo-count of one column from its counts (n_states, n_classes).

    >>> round(best_alpha(np.array([[8, 1], [1, 1], [0, 6]])), 3)
    1.086
    """
    return float(_best_alphas([_learned(count)])[0])


def best_alphas(table: Array, start: Array, *, missing_is_state: bool | Array) -> Array:
    """Choose the pseudo-counts (n_columns,) of all columns of a flat table (see `CategoryCounts`).

    Column j owns the rows from start[j] to start[j + 1]; the last of them, its missing cells, is a state if
    `missing_is_state`, which may be told of each column (n_columns,).
    """
    ends = start[1:] - ~np.broadcast_to(missing_is_state, len(start) - 1)
    return _best_alphas([_learned(table[a:b]) for a, b in zip(start[:-1].tolist(), ends.tolist(), strict=True)])


def best_alphas_without(table: Array, start: Array, *, missing_is_state: bool | Array) -> Array:
    """Choose the pseudo-counts of all columns of a flat table of whole counts, without one row of each state and class.

    Returns (n_table_rows, n_classes): the pseudo-count of the column when a row of that state and class is taken out;
    where there is none, that of all rows.

    >>> table = np.array([[8, 1], [1, 1], [0, 6], [0, 0]])
    >>> best_alphas_without(table, np.array([0, 4]), missing_is_state=False).round(2)
    array([[1.13, 0.6 ],
           [0.6 , 0.6 ],
           [1.09, 1.14],
           [1.09, 1.09]])
    """
    found = np.repeat(best_alphas(table, start, missing_is_state=missing_is_state), np.diff(start))
    alpha = np.repeat(found[:, None], table.shape[1], axis=1)
    places: list[tuple[Array, Array]] = []
    columns: list[_Learned | None] = []
    ends = start[1:] - ~np.broadcast_to(missing_is_state, len(start) - 1)
    for a, b in zip(start[:-1].tolist(), ends.tolist(), strict=True):
        count = table[a:b]
        learned, total = _learned(count), count.sum(axis=0)
        if learned is None:
            continue
        state, code = np.nonzero((count > 0) & (total > 1))
        pairs, which = np.unique(np.stack([count[state, code], total[code]]), axis=1, return_inverse=True)
        columns += [learned.without(int(n), int(of_class)) for n, of_class in pairs.T.tolist()]
        which = which.ravel()
        places += [(a + state[which == i], code[which == i]) for i in range(pairs.shape[1])]
    for place, chosen in zip(places, _best_alphas(columns).tolist(), strict=True):
        alpha[place] = chosen
    return alpha


def best_binary_alpha(present: Array, observed: Array) -> float:
    """Choose one pseudo-count for all features that a row has or has not.

    `present` (n_classes, n_features) counts the rows that have a feature, `observed` all rows, (n_classes, 1) or
    (n_classes, n_features). The criterion is summed over the features, of two states each.

    >>> best_binary_alpha(np.array([[5, 0], [0, 5]]), np.array([[5], [5]]))
    0.001
    """
    is_whole = _is_whole(present) and _is_whole(observed)
    absent = observed - present if is_whole else remainder(observed, present)
    counts = np.stack([present, absent]).reshape(2, -1)  # each feature within each class counts as a class
    return float(_best_alphas([_learned(counts)])[0])


def _is_whole(count: Array) -> bool:
    return count.dtype.kind in "iu" or bool((count == np.floor(count)).all())


class _Learned(NamedTuple):
    """What a column can be smoothed by: equal counts of cells and of classes taken together, and how many there are."""

    criterion: Criterion
    cells: tuple[Array, Array]
    totals: tuple[Array, Array]
    n_states: int

    def without(self, n: int, of_class: int) -> "_Learned | None":
        """Take a row out of a cell of n rows in a class of so many, of which one alone says nothing."""
        stays = of_class > 2
        cells = _moved(self.cells, n, n - 1)
        totals = _moved(self.totals, of_class, of_class - 1 if stays else 0)
        if not stays:
            cells = _moved(cells, 1, 0)
        return self._replace(cells=cells, totals=totals) if len(totals[0]) else None


def _moved(counts: tuple[Array, Array], old: int, new: int) -> tuple[Array, Array]:
    """Let one of some counts, given by value and how often they occur, be another; 0 is none."""
    value, times = np.append(counts[0], new), np.append(counts[1], 1)
    times[np.flatnonzero(value == old)[0]] -= 1
    kept = (times > 0) & (value > 0)
    return value[kept], times[kept]


def _learned(count: Array) -> _Learned | None:
    """Read the counts of a column (n_states, n_classes); None where they say nothing about smoothing."""
    criterion = LEAVE_ONE_OUT if _is_whole(count) else EVIDENCE
    total = count.sum(axis=0)
    tells = total > (1 if criterion is LEAVE_ONE_OUT else 0)
    if len(count) <= 1 or not tells.any():
        return None
    if not tells.all():
        count, total = count[:, tells], total[tells]
    cells, totals = (np.unique(n[n > 0], return_counts=True) for n in (count, total))
    return _Learned(criterion, cells, totals, len(count))


def _best_alphas(columns: Sequence[_Learned | None]) -> Array:
    alpha = np.full(len(columns), NOTHING_LEARNED)
    for criterion in (LEAVE_ONE_OUT, EVIDENCE):
        own = {j: column for j, column in enumerate(columns) if column is not None and column.criterion is criterion}
        if own:
            cells = _Terms.of(criterion, [column.cells for column in own.values()])
            totals = _Terms.of(criterion, [column.totals for column in own.values()])
            n_states = np.array([column.n_states for column in own.values()], dtype=np.float64)
            alpha[list(own)] = _highest(_Objective(cells, totals, n_states))
    return alpha


@record
class _Terms:
    """Terms of many columns, one column after the other."""

    criterion: Criterion
    count: Array
    times: Array
    width: Array  # (n_columns,): number of different counts

    @classmethod
    def of(cls, criterion: Criterion, columns: Sequence[tuple[Array, Array]]) -> "_Terms":
        count, times = (np.concatenate(part).astype(np.float64) for part in zip(*columns, strict=True))
        return cls(criterion, count, times, np.array([len(column[0]) for column in columns]))

    @cached_property
    def start(self) -> Array:
        return np.cumsum(self.width) - self.width

    @cached_property
    def n(self) -> Array:
        return np.add.reduceat(self.times, self.start)

    @property
    def weight(self) -> Array:
        return np.add.reduceat(self.times * self.count, self.start)

    def value(self, a: Array) -> Array:
        terms = self.times * self.criterion.term(self.count, np.repeat(a, self.width))
        return np.add.reduceat(terms, self.start) - self.n * self.criterion.term_of_none(a)

    def slope(self, a: Array) -> Array:
        terms = self.times * self.criterion.slope(self.count, np.repeat(a, self.width))
        return np.add.reduceat(terms, self.start) - self.n * self.criterion.slope_of_none(a)


@record
class _Objective:
    """What is to be as large as can be, for each column at its own log a."""

    cells: _Terms
    totals: _Terms
    n_states: Array  # (n_columns,)

    def value(self, log_a: Array) -> Array:
        a = np.exp(log_a)
        return self.cells.value(a) - self.totals.value(self.n_states * a)

    def slope(self, log_a: Array) -> Array:
        a = np.exp(log_a)
        return self.cells.slope(a) - self.totals.slope(self.n_states * a)


def _highest(objective: _Objective) -> Array:
    """Find the a of each column where its objective is highest: (n_columns,)."""
    n_columns = len(objective.n_states)
    values = np.stack([objective.value(np.full(n_columns, t)) for t in LOG_GRID])  # (n_grid, n_columns)
    best = values.argmax(axis=0)
    rises = objective.slope(LOG_GRID[best]) > 0
    low = LOG_GRID[np.where(rises, best, np.maximum(best - 1, 0))]
    high = LOG_GRID[np.where(rises, np.minimum(best + 1, len(LOG_GRID) - 1), best)]
    log_a = _falling_zero(objective.slope, low, high)
    is_flat = np.ptp(values, axis=0) <= ROUNDING * objective.totals.weight  # two rows in each of two states of three
    chosen = [is_flat, log_a == LOG_GRID[0], log_a == LOG_GRID[-1]]
    return np.select(chosen, [NOTHING_LEARNED, LEAST, MOST], np.exp(log_a))


def _falling_zero(slope: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Find where a slope passes from above zero, at `low`, to below zero, at `high`.

    Regula falsi in the Illinois variant: an end that stays twice has its slope halved, so that it moves as well.
    """
    above, below = slope(low), slope(high)
    stayed = np.zeros(len(low))  # 1 where the high end stayed last time, -1 where the low end did
    for _ in range(MOST_STEPS):
        if (high - low <= TOLERANCE).all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = low + (high - low) * (above / (above - below))
        middle = np.where((middle > low) & (middle < high), middle, (low + high) / 2)
        found = slope(middle)
        rises = found > 0
        below = np.where(rises & (stayed > 0), below / 2, below)
        above = np.where(~rises & (stayed < 0), above / 2, above)
        low, above = np.where(rises, middle, low), np.where(rises, found, above)
        high, below = np.where(rises, high, middle), np.where(rises, below, found)
        stayed = np.where(rises, 1.0, -1.0)
    return (low + high) / 2
