"""Dirichlet smoothing of counts in all its forms, and the class prior.

With counts n_v over S states and pseudo-counts a_v, the estimate is the posterior mean

    p_v = (n_v + a_v) / sum_u (n_u + a_u).

a_v = 0 is maximum likelihood, a_v = 1 Laplace, a_v = a < 1 Lidstone, a_v = m p_v the m-estimate, and a `Dirichlet` or
`Beta` states any pseudo-counts by label. Where neither a row nor a pseudo-count says anything, the limit of ever less
smoothing is taken: 1 / S.

`PseudoCounts` is one rule of smoothing for distributions over any number of cells. Of v cells the share of one is
(n + a) / (N + v a), with a pseudo-count a for each cell:

    m-estimate    a = alpha / v    alpha rows are imagined, spread equally, however many cells there are
    laplace       a = alpha        every cell is imagined alpha times

Tables of pairs of columns have many cells and few rows in each, where the m-estimate is much the better of the two:
its weight does not grow with the number of states.

The probability of each class before a row is looked at is smoothed alike:

    P(class k) = (N_k + class_alpha) / (N + K class_alpha)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.estimate.class_weights import ClassWeights
from bayeswater.kernels.remainders import remainder
from bayeswater.records import record
from bayeswater.typing import LARGEST_COUNT, Array, is_number, is_pseudo_count


def log_posterior_mean(count: Array, pseudo_count: Any, axis: int) -> Array:
    """Logarithm of the smoothed shares along `axis`; a share of zero is -inf, never NaN.

    >>> np.exp(log_posterior_mean(np.array([3, 0, 1]), 1.0, axis=0)) * 7
    array([4., 1., 2.])
    """
    smoothed = count + np.asarray(pseudo_count, dtype=np.float64)  # a whole number may be too long for int64
    total = smoothed.sum(axis=axis, keepdims=True, dtype=np.float64)
    with np.errstate(divide="ignore"):
        share = np.log(np.where(total > 0, smoothed, 1.0))
        share -= np.log(np.where(total > 0, total, count.shape[axis]))
    return share


class Dirichlet:
    """Dirichlet prior of the states of a column: a pseudo-count for each state.

    Parameters
    ----------
    pseudo_counts : number, sequence or mapping
        One number for every state, one number for each state in the order of the domain, or numbers by label. Labels
        belong to the domain even if no row has them.
    default : float, optional
        Pseudo-count of states that a mapping does not name; without it such a state is an error.

    Raises
    ------
    ParameterError
        Where a pseudo-count is negative or not finite.

    See Also
    --------
    Beta : A Dirichlet prior over two states.
    NormalInverseGamma : Conjugate prior of a normal column.

    Examples
    --------
    A coin that was thrown 1000 times before, and then showed 20 heads in 100 throws (posterior mean 520/1100):

    >>> prior = Dirichlet({"heads": 500, "tails": 500})
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> bool((20 + prior.concentration(coin)[0]) / (100 + prior.concentration(coin).sum()) == 520 / 1100)
    True
    """

    def __init__(self, pseudo_counts: Any = 1.0, *, default: float | None = None) -> None:
        if isinstance(pseudo_counts, np.ndarray):
            pseudo_counts = pseudo_counts.tolist()
        self.pseudo_counts: Any = tuple(pseudo_counts) if isinstance(pseudo_counts, Sequence) else pseudo_counts
        self.default = default
        if isinstance(pseudo_counts, Mapping):
            values = [*pseudo_counts.values()]
        else:
            values = [*self.pseudo_counts] if isinstance(self.pseudo_counts, tuple) else [pseudo_counts]
            if default is not None:
                raise ParameterError(f"default={default!r} in {self!r} is for states that a mapping does not name")
        for value in [*values, 0 if default is None else default]:
            if not is_pseudo_count(value):
                raise ParameterError(
                    f"pseudo-count {value!r} in {self!r}; pseudo-counts are numbers from 0 to {LARGEST_COUNT:g}"
                )

    @classmethod
    def m_estimate(cls, m: float, proportions: Mapping[Any, float] | None = None) -> "Dirichlet | MEstimate":
        """Imagine `m` rows, in the given proportions or equally over all states.

        Parameters
        ----------
        m : float
            Number of rows imagined.
        proportions : dict {label: share}, optional
            How they are divided; default equally.

        Returns
        -------
        prior
            To be used as any prior of a column.

        See Also
        --------
        concentration : Give the pseudo-count of each state of a variable.

        Examples
        --------
        >>> Dirichlet.m_estimate(10, {"yes": 0.3, "no": 0.7})
        Dirichlet({'yes': 3.0, 'no': 7.0})
        """
        if not is_number(m):
            raise ParameterError(f"m is {m!r}; give the number of rows imagined")
        if proportions is None:
            return MEstimate(m)
        total = sum(proportions.values())
        if not total > 0:
            raise ParameterError(f"the proportions {proportions!r} sum to {total}; at least one must be over 0")
        return Dirichlet({label: m * share / total for label, share in proportions.items()})

    @property
    def labels(self) -> tuple[Any, ...]:
        """Labels that the prior names, and so declares."""
        return tuple(self.pseudo_counts) if isinstance(self.pseudo_counts, Mapping) else ()

    def concentration(self, variable: Variable) -> Array:
        """Give the pseudo-count of each state of a variable: (n_states,).

        Parameters
        ----------
        variable : Variable
            The column and its states.

        Returns
        -------
        array of shape (n_states,)
            Pseudo-counts.

        See Also
        --------
        m_estimate : Imagine `m` rows, in the given proportions or equally over all states.

        Examples
        --------
        >>> Dirichlet({"no": 1, "yes": 3}).concentration(Variable("answer", ("yes", "no")))
        array([3., 1.])
        """
        given = self.pseudo_counts
        if isinstance(given, Mapping):
            unnamed = [state for state in variable.states if state not in given]
            if unnamed and self.default is None:
                raise ParameterError(
                    f"the prior of column {variable.name!r} has no pseudo-count for state {unnamed[0]!r}; "
                    "name it, or give default="
                )
            return np.array([float(given.get(state, self.default)) for state in variable.states])
        if isinstance(given, tuple):
            if not variable.is_coded and variable.n_states:
                raise ParameterError(
                    f"{self!r} does not say which state of column {variable.name!r} is which, and their order may "
                    f"change as states are added; name them: {type(self).__name__}({{state: number}})"
                )
            if len(given) != variable.n_states:
                raise ParameterError(
                    f"the prior of column {variable.name!r} has {len(given)} pseudo-counts for "
                    f"{variable.n_states} states "
                    f"{list(variable.states)[:10]}; give one for each, or name them: Dirichlet({{state: number}})"
                )
            return np.asarray(given, dtype=np.float64)
        return np.full(variable.n_states, float(given))

    def __repr__(self) -> str:
        default = "" if self.default is None else f", default={self.default}"
        return f"{type(self).__name__}({self.pseudo_counts}{default})"

    @property
    def _identity(self) -> tuple[Any, ...]:
        given = self.pseudo_counts
        return type(self), frozenset(given.items()) if isinstance(given, Mapping) else given, self.default

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dirichlet) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)


class MEstimate(Dirichlet):
    """`m` imagined rows, spread equally over the states, however many there are."""

    def concentration(self, variable: Variable) -> Array:
        """Pseudo-count m / n_states for each state."""
        return np.full(variable.n_states, float(self.pseudo_counts) / max(variable.n_states, 1))


class Beta(Dirichlet):
    """A Dirichlet over two states: ``Beta({"heads": 500, "tails": 500})``, or ``Beta(present, absent)`` for a mark.

    Parameters
    ----------
    present : float, or dict of two labels
        Pseudo-count of rows that have the mark, or the pseudo-counts of both states by label.
    absent : float, optional
        Pseudo-count of rows that do not have it.

    See Also
    --------
    Dirichlet : A prior over the states of a column, as pseudo-counts.

    Examples
    --------
    >>> from bayeswater import Beta
    >>> Beta(2, 8).present, Beta(2, 8).absent
    (2, 8)
    """

    def __init__(self, present: Any, absent: float | None = None) -> None:
        pair = present if absent is None else (present, absent)
        if not isinstance(pair, Mapping | Sequence) or len(pair) != 2:
            raise ParameterError(
                f"Beta({present!r}) needs two pseudo-counts: Beta(a, b) or Beta({{state: a, other: b}})"
            )
        super().__init__(pair)

    def concentration(self, variable: Variable) -> Array:
        """Give the pseudo-count of each state of a variable; ``Beta(a, b)`` is for marks and names no states.

        Parameters
        ----------
        variable : Variable
            The column and its states.

        Returns
        -------
        array of shape (n_states,)
            Pseudo-counts.

        See Also
        --------
        Dirichlet.concentration : Give the pseudo-count of each state of a variable.

        Examples
        --------
        >>> Beta({"heads": 5, "tails": 5}).concentration(Variable("coin", ("heads", "tails")))
        array([5., 5.])
        """
        if not isinstance(self.pseudo_counts, Mapping):
            raise ParameterError(
                f"{self!r} does not say which state of column {variable.name!r} is which; name them: "
                "Beta({state: a, other: b})"
            )
        return super().concentration(variable)

    @property
    def present(self) -> float:
        """Pseudo-count of the feature being present (the first one, or that of True or 1)."""
        return self._count_of(True, 0)

    @property
    def absent(self) -> float:
        """Pseudo-count of the feature being absent (the second one, or that of False or 0)."""
        return self._count_of(False, 1)

    def _count_of(self, state: bool, position: int) -> float:
        if isinstance(self.pseudo_counts, Mapping):
            if set(self.pseudo_counts) != {True, False}:
                raise ParameterError(
                    f"{self!r} is for a binary feature: name its states True and False, or give Beta(a, b)"
                )
            return float(self.pseudo_counts[state])
        return self.pseudo_counts[position]


def conditional_table(count: Array, pseudo_count: Array) -> Array:
    """Posterior mean along the last axis; `pseudo_count` is one number for every state, or of the shape of `count`.

    >>> conditional_table(np.array([[3, 0, 1], [0, 0, 0]]), np.array([0.0, 0.0, 0.0]))
    array([[0.75      , 0.        , 0.25      ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    smoothed = count + pseudo_count
    total = smoothed.sum(axis=-1, keepdims=True)
    return np.where(total > 0, smoothed, 1.0) / np.where(total > 0, total, count.shape[-1])


KINDS = ("m-estimate", "laplace")
"""Ways to smooth."""


@record
class PseudoCounts:
    """A kind of smoothing and its strength.

    >>> [float(PseudoCounts(kind, 1.0).of(4)) for kind in KINDS]
    [0.25, 1.0]
    """

    kind: str = "m-estimate"
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"smoothing is {self.kind!r}; it can be one of {list(KINDS)}")
        if not is_pseudo_count(self.alpha):
            raise ParameterError(f"alpha is {self.alpha!r}; it must be a number from 0 to {LARGEST_COUNT:g}")

    def of(self, n_cells: Any) -> Any:
        """Pseudo-count of each cell of a distribution over `n_cells` of them."""
        if self.kind == "laplace":
            return np.full(np.shape(n_cells), float(self.alpha))[()]
        return self.alpha / np.maximum(n_cells, 1)


def log_share(count: Array, total: Array, cell: Any, n_cells: Any, removed: Any = 0.0) -> Array:
    """Logarithm of (count + cell) / (total + n_cells * cell), once a weight is taken out of both counts.

    Where neither a row nor a pseudo-count says anything, all cells are equal: 1 / n_cells. A share of zero is -inf.

    >>> np.exp(log_share(np.array([3, 0]), np.array([3, 3]), 0.5, 2))
    array([0.875, 0.125])
    """
    smoothed = remainder(count, removed) + cell
    whole = remainder(total, removed) + n_cells * cell
    empty = whole <= 0
    with np.errstate(divide="ignore"):
        return np.log(np.where(empty, 1.0, smoothed)) - np.log(np.where(empty, np.maximum(n_cells, 1), whole))


def checked_class_prior(given: Any, n_classes: int, name: str) -> Array | None:
    """Check class probabilities that a user gives: one for each class, not negative, summing to one."""
    if given is None:
        return None
    try:
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} is {given!r}; give one probability for each class") from None
    if prior.shape != (n_classes,):
        raise ParameterError(
            f"Number of priors must match number of classes: {name} has shape {prior.shape}, and there "
            f"are {n_classes} classes"
        )
    if not np.isfinite(prior).all() or (prior < 0).any():
        raise ParameterError(f"Priors must be non-negative: {name} is {prior.tolist()}")
    if not np.isclose(prior.sum(), 1.0):
        raise ParameterError(f"The sum of the priors should be 1: {name} is {prior.tolist()}, with sum {prior.sum()}")
    return prior


@record
class Prior:
    """The class prior, as counted, weighed or given, and without a row.

        P(y) = (N_y + a) / (N + K a)

    Joints of a class and a column have the counted prior in them. Where another one holds they are moved by the
    difference of the two: what the columns say of a class stays as it is.
    """

    count: Array  # (n_classes,)
    alpha: float  # pseudo-count of each class
    given: Array | None = None  # logarithm of probabilities that are given
    weights: ClassWeights | None = None

    @classmethod
    def of(
        cls, count: Array, smoothing: PseudoCounts, given: Array | None = None, *, fit_prior: bool = True
    ) -> "Prior":
        """Take probabilities (n_classes,) that are given, else smooth counts or, without `fit_prior`, all are equal."""
        alpha = float(smoothing.of(len(count)))
        if given is None:
            return cls(count, alpha, None if fit_prior else np.full(len(count), -np.log(len(count))))
        with np.errstate(divide="ignore"):
            return cls(count, alpha, np.log(given))

    @property
    def as_counted(self) -> "Prior":
        """The prior of the rows, whatever is given."""
        return replace(self, given=None, weights=None)

    @property
    def unweighted(self) -> "Prior":
        """The same without weights: structures are chosen by rows as they are counted."""
        return replace(self, weights=None)

    @cached_property
    def counted(self) -> Array:
        """Log prior as counted: (n_classes,)."""
        return log_posterior_mean(self.count, self.alpha, axis=0)

    @property
    def log(self) -> Array:
        """Log prior: (n_classes,)."""
        if self.given is not None:
            return self.given
        if self.weights is None:
            return self.counted
        return log_posterior_mean(self.weights.weighed(self.count), self.alpha, axis=0)

    @property
    def is_counted(self) -> bool:
        """Whether it is that of the rows."""
        return self.given is None and self.weights is None

    @property
    def shift(self) -> Array | None:
        """What moves joints with the counted prior in them to this one: (n_classes,), None if it is the same."""
        return None if self.is_counted else _difference(self.log, self.counted)

    def without(self, codes: Array, removed: Array) -> Array:
        """Log prior with each row taken out of the counts: (n_rows, n_classes)."""
        if self.given is not None:
            return np.broadcast_to(self.given, (len(codes), len(self.count)))
        return log_prior_without(self.count, self.alpha, codes, removed, self.weights)

    def shift_without(self, codes: Array, removed: Array) -> Array | None:
        """`shift`, with each row taken out of the counts: (n_rows, n_classes)."""
        if self.is_counted:
            return None
        return _difference(self.without(codes, removed), self.as_counted.without(codes, removed))


def _difference(given: Array, counted: Array) -> Array:
    """A class without a row, at no smoothing, stays impossible."""
    return np.where(np.isneginf(counted), -np.inf, given - np.where(np.isneginf(counted), 0.0, counted))


def log_prior_without(
    count: Array, class_alpha: float, codes: Array, removed: Array, weights: ClassWeights | None = None
) -> Array:
    """Log class prior for each row with that row taken out of the class counts: (n_rows, n_classes)."""
    own = remainder(count[codes], removed)
    if weights is not None:
        counts = np.tile(count.astype(np.float64), (len(codes), 1))
        counts[np.arange(len(codes)), codes] = own
        return log_posterior_mean(weights.weighed(counts), class_alpha, axis=1)
    smoothed = count + class_alpha
    own += class_alpha
    total = smoothed.sum() - smoothed[codes] + own  # (n_rows,)
    with np.errstate(divide="ignore"):
        log_total = np.log(np.where(total > 0, total, 1.0))
        prior = np.log(smoothed) - log_total[:, None]
        prior[np.arange(len(codes)), codes] = np.log(own) - log_total
    prior[total <= 0] = -np.log(len(count))
    return prior
