"""Weights on the terms of a sum: how much each column counts, for each class, learned by conditional likelihood.

Naive Bayes adds one term t_j(k) for each column, and columns that repeat each other count twice. The sum stays, and
each term is given a weight. With a usual row of M known cells and one of m, as in `likelihood_temperature`,

    h = (m - 1) / (M - 1)                   0 for one cell, 1 for the usual row
    s_jk = w_jk / (w_jk (1 - h) + h)        1 for one cell, w_jk for the usual row
    u_j(k) = P(k | cell j) / q_k = exp(t_j(k)) / sum_l q_l exp(t_j(l))
    log P(k | row) ~ log q_k + h b_k + sum over j of s_jk log((1 - h d) u_j(k) + h d)

q is the class prior. A term counts as what its cell says of the class: so the unit of a number, which moves its density
in all classes alike, does not matter to weights that differ between classes. Without a cell the answer is q, with one
it is the table of that cell. A weight over 1 is due to what columns say together: there h is the share of the pairs
that are known.

d is the doubt in a cell, about 2 / sqrt(n) for n rows: as precise are shares that are counted. However far from a class
a cell may lie, it cannot rule it out alone, and weights need not be small because of the few that would.

Weights are learned from terms that leave each row out, so that they see what the model says of new rows: w >= 0 and b
of the least log-loss, no row above a bound, and with a ridge of some strength towards one temperature for all,

    strength / 2 * (K sum_j (w_j - c)^2 + sum_jk APART (w_jk - w_j)^2),    w_j the mean of column j over the K classes

so that the classes of a column stay together unless rows say otherwise. For rows without a missing cell all but the
bound is convex. Three folds of the rows tell how well each strength does on rows that are held out, one temperature
among them as the strongest; weights are the mean over all strengths, each by that likelihood to a power below 1, since
rows that are left out of the same sums are not independent. So a noisy choice of one strength is avoided.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from bayeswater.decision.likelihood_temperature import PAIRS, known_shares
from bayeswater.decision.scores import span
from bayeswater.records import record
from bayeswater.typing import Array

STRENGTHS = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
"""Strengths of the ridge, each sought from what the one before has found."""

APART = 5.0
"""How much more the ridge holds the classes of a column together than columns among each other."""

POWER = 0.3
"""Power of the likelihood of held-out rows by which strengths are averaged."""

FOLDS = 3
"""Folds of rows that are held out, one after the other."""

MOST_LOSS = 8.0
"""Log-loss that no row is taken to exceed, so that a hopeless one does not decide."""

SLOPE = 1e-6
"""Slope of the loss per row at which the search ends."""

MOST_STEPS = 60

LOG_ONE = (-9.0, 3.0)
"""Between which the logarithm of the one weight of all terms is sought."""

ROUNDING = 1e-13
"""Logarithm of the sum of a prior that is but rounding: stored and loaded it stays the same bits."""

LEAST_LOG_PRIOR = -700.0
"""Logarithm of the share of a class that no row had from which weights were learned."""


DOUBT, MOST_DOUBT = 2.0, 0.3
"""Doubt in a cell, times the root of the number of rows, and at most."""


@record
class LeftOutTerms:
    """Terms (n_rows, n_terms, n_classes) of rows that were left out, their classes, weights and known cells (n_rows,).

    The rows stand in an order that has nothing to do with what they say: every third is a fold.
    """

    terms: Array
    codes: Array
    weight: Array
    known: Array

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Array) -> "LeftOutTerms":
        """Take some rows."""
        return LeftOutTerms(self.terms[rows], self.codes[rows], self.weight[rows], self.known[rows])

    def undecided(self) -> Array:
        """Mark the rows that weights can be learned from: their class is possible, and not the only possible one."""
        possible: Array = np.isfinite(self.terms).all(axis=1)  # type: ignore[assignment]
        own = possible[np.arange(len(self)), self.codes]
        return (self.weight > 0) & (self.known > 1) & own & (possible.sum(axis=1) > 1)


@record
class TermWeights:
    """Weights of the terms of a row with `usual` known cells, and a shift of each class.

    `before` and `after` are log-losses of held-out rows by one temperature for all terms, and by weights of the best
    strength; None where there were too few rows to hold any out. `doubt` is that in a cell of each column (n_terms,),
    None where there is none, as in files of earlier versions.
    """

    names: tuple[str, ...]
    weight: Array  # (n_terms, n_classes)
    shift: Array  # (n_classes,)
    log_prior: Array  # (n_classes,), that of the rows the weights were learned from
    usual: float
    temperature: float
    n_used: int = 0
    before: float | None = None
    after: float | None = None
    is_stale: bool = False
    doubt: Array | None = None

    @classmethod
    def fit(cls, rows: LeftOutTerms, log_prior: Array, names: tuple[str, ...], of_cells: Array | None = None) -> Self:
        """Learn from terms that leave each row out, and the class prior (n_classes,) that belongs to them.

        `of_cells` (n_terms,) marks the terms of single cells, which are doubted.
        """
        used = rows.take(rows.undecided())
        if not len(used):
            return cls(names, np.ones((len(names), len(log_prior))), np.zeros(len(log_prior)), log_prior, 1.0, 1.0)
        usual = float(np.average(used.known, weights=used.weight))
        doubt = None if of_cells is None else of_cells * min(MOST_DOUBT, DOUBT / float(np.sqrt(used.weight.sum())))
        doubted = 0.0 if doubt is None else doubt[:, None] * _bounded_shares(used.known, usual)[:, None, None]
        used = replace(used, terms=_class_log_ratios(used.terms, log_prior, doubted))
        path = _Problem.of(used, log_prior, usual).path()
        losses = _held_out_losses(used, log_prior, usual)
        share = np.exp(-POWER * (losses - losses.min()))
        share /= share.sum()
        shift, weight = (np.tensordot(share, np.stack([found[i] for found in path]), 1) for i in range(2))
        mean = losses / used.weight.sum()
        one = 1 / float(path[0][1][0, 0])
        before, after = (float(mean[0]), float(mean.min())) if np.isfinite(mean[-1]) else (None, None)
        return cls(names, weight, shift, log_prior, usual, one, len(used), before, after, doubt=doubt)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: a weight for each term and class, and K - 1 shifts."""
        return self.weight.size + len(self.shift) - 1

    def at(self, known: int) -> Array:
        """Weights of the terms of a row with so many known cells: (n_terms, n_classes)."""
        return _at(self.weight, *_shares(known, self.usual))

    def weighted(self, terms: Array, known: int, places: Any = slice(None)) -> Array:
        """Multiply what terms (..., n_classes) say of the class by weights; what is impossible stays so.

        They are all terms of rows with so many known cells, or those of the columns at some `places`.
        """
        weight, doubt = self.at(known)[places], 0.0
        if self.doubt is not None:
            doubt = _bounded_shares(np.array([known]), self.usual) * self.doubt[:, None][places]
        terms = _class_log_ratios(terms, self.log_prior, doubt)
        possible = np.isfinite(terms)
        if possible.all():
            found: Array = terms * weight
            return found
        return np.where(possible, np.where(possible, terms, 0.0) * weight, terms)

    def shifts(self, known: Array) -> Array:
        """Shift of each class in rows with so many known cells (n_rows,): (n_rows, n_classes)."""
        return _bounded_shares(known, self.usual)[:, None] * self.shift

    def for_classes(self, place: Callable[[Array], Array], is_known: Array) -> Self:
        """Mark as stale, and lay out for other classes; one that is new (not `is_known`) has the mean of a column."""
        weight = np.where(is_known, place(self.weight.T).T, self.weight.mean(axis=1, keepdims=True))
        log_prior = shares_of_one(np.where(is_known, place(self.log_prior), LEAST_LOG_PRIOR))
        return replace(self, weight=weight, shift=place(self.shift), log_prior=log_prior, is_stale=True)

    def for_terms(self, names: tuple[str, ...]) -> Self:
        """Lay out for the terms of `names`; a new one has the weight of the one temperature."""
        if names == self.names:
            return self
        own = dict(zip(self.names, self.weight, strict=True))
        one = np.full(len(self.shift), 1 / self.temperature)
        doubt = self.doubt
        if doubt is not None:
            of_own = dict(zip(self.names, doubt.tolist(), strict=True))
            doubt = np.array([of_own.get(name, max(of_own.values(), default=0.0)) for name in names])
        return replace(self, names=names, weight=np.array([own.get(name, one) for name in names]), doubt=doubt)

    def __str__(self) -> str:
        stale = "; learned from other rows than are counted now: refresh learns them again" if self.is_stale else ""
        text = f"weights {span(self.weight)} (one for all would be {1 / self.temperature:.3g})"
        if self.before is None or self.after is None:
            return f"{text}, {self.n_used} rows{stale}"
        return f"{text}: log-loss of held-out rows {self.before:.4f} -> {self.after:.4f}, {self.n_used} rows{stale}"


def shares_of_one(log_prior: Array) -> Array:
    """Make a log-prior sum to 1: a class that is gone has left its share, which no cell may speak of."""
    whole = logsumexp(np.maximum(log_prior, LEAST_LOG_PRIOR))
    return log_prior - whole if abs(whole) > ROUNDING else log_prior


def _class_log_ratios(terms: Array, log_prior: Array, doubt: Array | float = 0.0) -> Array:
    """Logarithm of P(class | cell) / P(class) by terms (..., n_classes) that are log-likelihoods of a cell, with doubt.

    >>> _class_log_ratios(np.log([0.2, 0.6]), np.log([0.5, 0.5])).round(3)
    array([-0.693,  0.405])
    >>> np.exp(_class_log_ratios(np.log([1e-9, 0.6]), np.log([0.5, 0.5]), 0.1)).round(3)
    array([0.1, 1.9])
    """
    joint = terms + log_prior
    top = joint.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(joint - top).sum(axis=-1, keepdims=True)) + top
    says = np.isfinite(total) & terms.any(axis=-1, keepdims=True)  # a missing cell says nothing, to the last digit
    log_ratio = terms - np.where(says, total, 0.0)
    if np.any(doubt):
        with np.errstate(divide="ignore"):
            doubted = np.logaddexp(log_ratio + np.log1p(-np.asarray(doubt)), np.log(doubt))
        log_ratio = np.where(np.isneginf(log_ratio), log_ratio, doubted)
    return np.where(says, log_ratio, terms)


def _bounded_shares(known: Array, usual: float) -> Array:
    """How much of the shifts and doubts of a usual row a row gets with so many known cells: (n_rows,)."""
    return np.minimum(known_shares(known, usual), 1.0)


def _shares(known: int, usual: float) -> tuple[float, float]:
    """How much of its weights a row gets, where they are up to 1 and where they are over 1."""
    low, high = (float(known_shares(np.array([known]), usual, together)[0]) for together in (None, PAIRS))
    return low, high


def _at(weight: Array, low: Any, high: Any) -> Array:
    return _at_and_slope(weight, low, high)[0]


def _at_and_slope(weight: Array, low: Any, high: Any) -> tuple[Array, Array]:
    """Weights of rows with such shares, and how fast they follow those of a usual row."""
    share = np.where(weight > 1, high, low)
    whole = weight * (1 - share) + share
    if whole.all():  # neither weights nor shares are negative
        return weight / whole, share / whole**2
    is_some = whole > 0
    whole = np.where(is_some, whole, 1.0)
    return np.where(is_some, weight / whole, 1.0), np.where(is_some, share / whole**2, 0.0)


def _held_out_losses(used: LeftOutTerms, log_prior: Array, usual: float) -> Array:
    """Bounded log-losses of held-out rows, summed, by one temperature and by each strength: (1 + n_strengths,)."""
    losses = np.zeros(1 + len(STRENGTHS))
    if len(used) < 2 * FOLDS:
        losses[1:] = np.inf
        return losses
    fold = np.empty(len(used), dtype=np.int64)
    fold[np.argsort(used.codes, kind="stable")] = np.arange(len(used)) % FOLDS  # every class is in every fold
    for number in range(FOLDS):
        held_out = _Problem.of(used.take(fold == number), log_prior, usual)
        path = _Problem.of(used.take(fold != number), log_prior, usual).path()
        losses += [held_out.loss(*found) for found in path]
    return losses


Found = tuple[Array, Array]
"""Shifts (n_classes,) and weights (n_terms, n_classes)."""


@record
class _Problem:
    """Terms, classes first: sums over a few classes then run along the rows. Rows of equal known cells are together."""

    terms: Array  # (n_classes, n_rows, n_terms)
    impossible: Array | None  # (n_classes, n_rows)
    codes: Array  # (n_rows,)
    weight: Array  # (n_rows,)
    log_prior: Array
    groups: tuple[slice, ...]  # rows
    shares: Array  # (2, n_groups, 1, 1): where weights are up to 1, and where they are over 1

    @classmethod
    def of(cls, used: LeftOutTerms, log_prior: Array, usual: float) -> Self:
        used = used.take(np.argsort(used.known, kind="stable"))
        terms = np.ascontiguousarray(np.moveaxis(used.terms, 2, 0), dtype=np.float64)
        impossible = ~np.isfinite(terms)
        terms[impossible] = 0.0
        known, first = np.unique(used.known, return_index=True)
        ends = np.append(first[1:], len(used))
        groups = tuple(map(slice, first.tolist(), ends.tolist()))
        shares = np.array([_shares(m, usual) for m in known.tolist()]).T[:, :, None, None]
        prior = np.where(np.isfinite(log_prior), log_prior, 0.0)
        masked: Array = impossible.any(axis=2)  # type: ignore[assignment]
        return cls(terms, masked if masked.any() else None, used.codes, used.weight, prior, groups, shares)

    def path(self) -> list[Found]:
        """Find shifts and weights of one temperature, and of each strength in turn."""
        found = [self._one_temperature()]
        one = float(found[0][1][0, 0])
        for strength in STRENGTHS:
            found.append(self._least(*found[-1], one, strength))
        return found

    def _posterior(self, shift: Array, weight: Array) -> tuple[Array, Array]:
        """Posteriors (n_classes, n_rows), and the bounded probability of each row's class (n_rows,)."""
        return self._posterior_by(shift, _at(weight, *self.shares))

    def _posterior_by(self, shift: Array, weights: Array) -> tuple[Array, Array]:
        """Do so by the weights (n_groups, n_terms, n_classes) of each group."""
        p = np.empty(self.terms.shape[:2])
        shifts = self.log_prior + self._bounded * shift
        for rows, by, moved in zip(self.groups, weights, shifts, strict=True):
            p[:, rows] = np.matmul(self.terms[:, rows], by.T[:, :, None])[:, :, 0]
            p[:, rows] += moved[:, None]
        if self.impossible is not None:
            p[self.impossible] = -np.inf
        p -= p.max(axis=0)
        np.exp(p, out=p)
        p /= p.sum(axis=0)
        return p, p[self._own] * (1 - self._lapse) + self._lapse / len(p)

    @cached_property
    def _bounded(self) -> Array:
        return np.minimum(self.shares[0, :, :, 0], 1.0)  # (n_groups, 1)

    @cached_property
    def _own(self) -> tuple[Array, Array]:
        return self.codes, np.arange(len(self.codes))

    @cached_property
    def _lapse(self) -> float:
        return float(min(len(self.terms) * np.exp(-MOST_LOSS), 0.5))

    def loss(self, shift: Array, weight: Array) -> float:
        """Bounded log-loss, summed over rows."""
        return float(-self.weight @ np.log(self._posterior(shift, weight)[1]))

    def _slopes(self, shift: Array, weight: Array) -> tuple[float, Array, Array]:
        """Bounded log-loss summed over rows, and its slopes by shifts and weights."""
        weights, slopes = _at_and_slope(weight, *self.shares)
        p, bounded = self._posterior_by(shift, weights)
        trust = self.weight * p[self._own] * (1 - self._lapse) / bounded
        p *= trust
        p[self._own] -= trust
        by_shift, by_weight = np.zeros(len(shift)), np.zeros(weight.shape)
        for rows, share, slope in zip(self.groups, self._bounded, slopes, strict=True):
            by_shift += share * p[:, rows].sum(axis=1)
            by_weight += np.matmul(p[:, None, rows], self.terms[:, rows])[:, 0].T * slope
        return float(-self.weight @ np.log(bounded)), by_shift, by_weight

    def _one_temperature(self) -> Found:
        """Shifts and the one weight of all terms; its logarithm and the shifts are standard normal beforehand."""
        n_classes, _, n_terms = self.terms.shape

        def penalised(parameters: Array) -> tuple[float, Array]:
            one = np.exp(parameters[-1])
            loss, by_shift, by_weight = self._slopes(parameters[:-1], np.full((n_terms, n_classes), one))
            return float(loss + parameters @ parameters / 2), np.append(by_shift, by_weight.sum() * one) + parameters

        bounds = [(None, None)] * n_classes + [LOG_ONE]
        starts = [np.append(np.zeros(n_classes), log_one) for log_one in (0.0, -np.log(n_terms))]
        # Where terms repeat each other, all that is bounded is flat around a weight of 1.
        found = min((self._minimum(penalised, start, bounds) for start in starts), key=lambda p: penalised(p)[0])
        return found[:-1], np.full((n_terms, n_classes), np.exp(found[-1]))

    def _least(self, shift: Array, weight: Array, one: float, strength: float) -> Found:
        """Shifts and weights of the least penalised loss, sought from those that are given."""
        n_classes = len(shift)

        def penalised(parameters: Array) -> tuple[float, Array]:
            b, w = parameters[:n_classes], parameters[n_classes:].reshape(weight.shape)
            loss, by_shift, by_weight = self._slopes(b, w)
            mean = w.mean(axis=1, keepdims=True)
            ridge = n_classes * ((mean - one) ** 2).sum() + APART * ((w - mean) ** 2).sum()
            pull = strength * (mean - one + APART * (w - mean))
            return float(loss + b @ b / 2 + strength / 2 * ridge), np.append(by_shift + b, by_weight + pull)

        bounds = [(None, None)] * n_classes + [(0.0, None)] * weight.size
        found = self._minimum(penalised, np.append(shift, weight), bounds)
        return found[:n_classes], found[n_classes:].reshape(weight.shape)

    def _minimum(self, penalised: Callable[[Array], tuple[float, Array]], start: Array, bounds: Any) -> Array:
        total = self.weight.sum()

        def per_row(parameters: Array) -> tuple[float, Array]:
            loss, slope = penalised(parameters)
            return loss / total, slope / total

        options = {"maxiter": MOST_STEPS, "ftol": 1e-8, "gtol": SLOPE}
        found: Array = minimize(per_row, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options).x
        return found
