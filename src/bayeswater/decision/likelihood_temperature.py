"""A temperature of the likelihood that depends on how much of a row is known.

Columns repeat each other, so that a sum of their log-likelihoods says too much. One known cell repeats nothing. If any
two columns have correlation r, m of them vary by 1 + r (m - 1) times what m independent ones do (Spearman and Brown),
and that is the temperature that corrects them. With a usual row of M known cells corrected by T,

    h = (m - 1) / (M - 1)            0 for one cell, 1 for the usual row
    s = 1 / (1 + (T - 1) h)
    P(k | row) = (1 - e h) softmax_k(log q_k + s (log p_k - log q_k) + h b_k) + e h / K

p is the posterior as counted and q the class prior. Without a cell the answer is q, with one it is the table of that
cell, with all of them one temperature T, a shift b_k of each class and a lapse e. A lapse is a row on which the model
is hopeless: its loss is bounded by log(K / e), so that no row decides the map of all others. T below 1 adds confidence,
which is due to what columns say together and not one by one: there h is the share of the triples that are known.

T, b and e have the least log-loss over leave-one-out scores, with a prior worth about one row: log T and the b_k are
standard normal, and half a row more has lapsed and half a row has not, so that rows without an error prove nothing.
Where shifts would cost errors among those rows, they are tied to T such that the largest probability of a usual row
stays where it is: b_k = (1 / T - 1) log q_k, which makes T a temperature of the whole posterior.
"""

from collections.abc import Callable
from typing import Self

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, log_expit, logit

from bayeswater.decision.scores import Scores, normalised, span
from bayeswater.kernels.class_scores import log_shares
from bayeswater.records import record
from bayeswater.typing import Array

STARTS = (0.0, 1.5)
"""Values of log T from which the least log-loss is sought: lapses make valleys of their own."""

FIRST_LAPSE = 0.01
"""Lapse to begin with."""

MOST = 12.0
"""Size of a parameter up to which it is sought: temperatures from 6e-6 to 160,000, lapses from 6e-6 on."""

NEARLY_ZERO = 1e-12
"""Slope of the penalised log-loss, per row, at which the search ends."""

NEAR = 0.01
"""Slope, of all rows together, at which one valley is told from another: the prior alone curves by 1."""

TINY = np.finfo(np.float64).tiny

PAIRS = 2
"""Columns that a temperature below 1 took for speaking together, in files that do not tell."""

TRIPLES = 3
"""Columns of which a temperature below 1 tells what they say together. Of tables that want one, pairs already get too
much of it where half of the cells are known, and groups of four too little."""

STEP = 1e-3
"""Step by which the curvature is measured."""

MOST_POLISHED = 32
"""Parameters up to which that is worth its time."""

MOST_STEPS, MOST_WAY = 4, 0.1
"""Steps of Newton's from near a minimum, all by one curvature, and how far they may lead."""


@record
class LikelihoodTemperature:
    """Temperature, shifts and lapse of a row with `usual` known cells."""

    temperature: float
    shift: Array  # (n_classes,)
    lapse: float
    usual: float
    together: int = TRIPLES  # columns that have to be known for what they say together

    @classmethod
    def fit(cls, scores: Scores, log_prior: Array) -> Self:
        """Learn from leave-one-out scores that tell how many cells of each row are known, and the prior they hold."""
        assert scores.known is not None
        learnable = scores.undecided() & (scores.known > 0)
        several = learnable & (scores.known > 1)
        used = scores.take(several if several.any() else learnable)  # of several columns, one alone is right as it is
        if not len(used):
            return cls(1.0, np.zeros(scores.n_classes), 0.0, 1.0)
        known: Array = used.known  # type: ignore[assignment]
        usual = float(np.average(known, weights=used.weight))
        free = cls._of_least_loss(used, known, log_prior, usual, tied=False)
        if _errors(free.apply(used.log_proba, log_prior, known), used) <= _errors(used.log_proba, used):
            return free
        return cls._of_least_loss(used, known, log_prior, usual, tied=True)

    @classmethod
    def _of_least_loss(cls, used: Scores, known: Array, log_prior: Array, usual: float, *, tied: bool) -> Self:
        """Find the parameters; shifts that are tied leave the class of largest probability as it is in usual rows."""
        prior, by_row, is_possible = _parts(used.log_proba, log_prior)
        # Classes first: reductions over a few classes then run along the rows.
        likelihood, impossible = np.ascontiguousarray(by_row.T), np.ascontiguousarray(~is_possible.T)
        uniform, own = 1 / is_possible.sum(axis=1), used.codes.astype(np.int64) * len(used) + np.arange(len(used))
        total, some_impossible = used.weight.sum(), bool(impossible.any())
        repeating, together = _shares(known, usual, None), _shares(known, usual, TRIPLES)
        n_shifts = 0 if tied else used.n_classes

        def shifts(parameters: Array) -> Array:
            return (np.exp(-parameters[0]) - 1) * prior if tied else parameters[2:]

        def penalised(parameters: Array) -> tuple[float, Array]:
            """Loss per row of (log T, logit e, b_1 .. b_K), and its slope."""
            log_t, lapse, b = parameters[0], expit(parameters[1]), shifts(parameters)
            share, bounded = together if log_t < 0 else repeating
            t = np.exp(log_t)
            s = 1 / (1 + (t - 1) * share)
            p = s * likelihood  # (n_classes, n_rows)
            p += prior[:, None]
            p += bounded * b[:, None]
            if some_impossible:
                p[impossible] = -np.inf
            p -= p.max(axis=0)
            np.exp(p, out=p)
            p /= p.sum(axis=0)
            e = lapse * bounded
            p_own = p.reshape(-1)[own]
            # A row that gets no lapse, and whose class underflows, has a finite loss all the same.
            mixed = np.maximum((1 - e) * p_own + e * uniform, TINY)
            trusted = used.weight * (1 - e) * p_own / mixed / total  # weight of the rows that have not lapsed
            to_own = np.negative(p, out=p)
            to_own.reshape(-1)[own] += 1
            to_own *= trusted
            slope_e = used.weight @ ((p_own - uniform) / mixed * bounded) * lapse * (1 - lapse) / total
            slope_t = ((to_own * likelihood) @ (share * s**2)).sum() * t
            slope_b = -to_own @ bounded
            if tied:
                slope_t -= slope_b @ prior / t
            free = parameters[2:]
            penalty = (log_t**2 + free @ free) / 2 - (log_expit(parameters[1]) + log_expit(-parameters[1])) / 2
            slope = [slope_t + log_t / total, slope_e - (1 - 2 * lapse) / 2 / total, *(slope_b + b / total)[:n_shifts]]
            return float(used.weight @ -np.log(mixed) / total + penalty / total), np.array(slope)

        def sought(start: Array, slope: float) -> OptimizeResult:
            options = {"maxiter": 1000, "maxfun": 2000, "maxcor": 20, "ftol": 0.0, "gtol": slope}
            bounds = [(-MOST, MOST)] * len(start)
            return minimize(penalised, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)

        starts = [np.array([start, logit(FIRST_LAPSE), *np.zeros(n_shifts)]) for start in STARTS]
        near = min((sought(start, NEAR / total) for start in starts), key=lambda result: result.fun).x
        found, left = _polished(near, lambda parameters: penalised(parameters)[1])
        if left > NEARLY_ZERO:
            found, _ = _polished(sought(near, NEARLY_ZERO).x, lambda parameters: penalised(parameters)[1])
        return cls(float(np.exp(found[0])), shifts(found), float(expit(found[1])), usual)

    def slope(self, known: Array) -> Array:
        """Share of its log-likelihood that a row with so many known cells is taken at: (n_rows,)."""
        share, _ = self._shares(known)
        return 1 / (1 + (self.temperature - 1) * share)

    def shifts(self, known: Array, log_prior: Array) -> Array:
        """What is added to ``slope * log_joint`` before the largest wins: (n_rows, n_classes)."""
        _, bounded = self._shares(known)
        prior = np.where(np.isfinite(log_prior), log_prior, 0.0)
        return (1 - self.slope(known))[:, None] * prior + bounded[:, None] * self.shift

    def apply(self, log_proba: Array, log_prior: Array, known: Array) -> Array:
        """Calibrated log-probabilities of rows with so many known cells; impossible classes stay so."""
        prior, likelihood, possible = _parts(log_proba, log_prior)
        share, bounded = self._shares(known)
        scores = self._tempered(prior, likelihood, share, bounded)
        scores[~possible] = -np.inf
        log_shares(scores, use_loop=False)
        if self.lapse == 0:
            return scores
        lapse = (self.lapse * bounded)[:, None]
        with np.errstate(divide="ignore"):  # no lapse where hardly a cell is known
            uniform = np.log(lapse / possible.sum(axis=1, keepdims=True))
        return np.where(possible, np.logaddexp(np.log1p(-lapse) + scores, uniform), -np.inf)

    @property
    def others(self) -> tuple[int, ...]:
        """Numbers o of the share h, the product of (known - o) / (usual - o) over them; 1 at most if they are several.

        There are none where a usual row has one known cell: h is 1 then, and 0 without any.
        """
        return others(self.usual, self.together if self.temperature < 1 else None)

    def _shares(self, known: Array) -> tuple[Array, Array]:
        return _shares(known, self.usual, self.together if self.temperature < 1 else None)

    def _tempered(self, prior: Array, likelihood: Array, share: Array, bounded: Array) -> Array:
        slope = 1 / (1 + (self.temperature - 1) * share)
        return prior + slope[:, None] * likelihood + bounded[:, None] * self.shift

    def __str__(self) -> str:
        shifts = f", shifts {span(self.shift)}" if np.any(self.shift) else ""
        lapse = f", lapse {self.lapse:.2g}" if self.lapse else ""
        cells = f" (of {self.usual:.4g} known cells)" if self.usual > 1 else ""
        return f"temperature {self.temperature:.4g}{cells}{shifts}{lapse}"


def _polished(near: Array, slope: Callable[[Array], Array]) -> tuple[Array, float]:
    """Take steps of Newton's while they lead down, and tell the slope that is left.

    Values of the loss tell a minimum to half the digits, its slope to nearly all.
    """
    found, down = near, slope(near)
    if len(near) > MOST_POLISHED:
        return found, float(np.abs(down).max())
    hessian = np.array([slope(near + step) - slope(near - step) for step in STEP * np.eye(len(near))]) / (2 * STEP)
    for _ in range(MOST_STEPS):
        try:
            better = found - np.linalg.solve(hessian, down)
        except np.linalg.LinAlgError:
            break
        further = slope(better)
        is_near = np.abs(better - near).max() < MOST_WAY and np.abs(better).max() < MOST
        if not (is_near and np.abs(further).max() < np.abs(down).max()):
            break
        found, down = better, further
    return found, float(np.abs(down).max())


def _errors(log_proba: Array, scores: Scores) -> float:
    """Weight of the rows whose class has not the largest probability."""
    return float(scores.weight @ (log_proba.argmax(axis=1) != scores.codes))


def _parts(log_proba: Array, log_prior: Array) -> tuple[Array, Array, Array]:
    """Log-prior (n_classes,), log-likelihoods up to a constant, and marks of what is possible: (n_rows, n_classes)."""
    prior = np.where(np.isfinite(log_prior), log_prior, 0.0)  # a class without any is impossible as it is
    log_proba = normalised(log_proba)
    possible = np.isfinite(log_proba)
    return prior, np.where(possible, log_proba, 0.0) - prior, possible


def others(usual: float, together: int | None) -> tuple[int, ...]:
    """Which cells of a row stand beside one of a group: those that are not to be counted again."""
    if usual <= 1:
        return ()
    return (1,) if together is None else tuple(range(max(2, min(together, int(usual)))))  # two are a pair, no triple


def _shares(known: Array, usual: float, together: int | None) -> tuple[Array, Array]:
    """How much of the correction rows with so many known cells get, as it is and at most 1: (n_rows,) each."""
    share = known_shares(known, usual, together)
    return share, np.minimum(share, 1.0)


def known_shares(known: Array, usual: float, together: int | None = None) -> Array:
    """Say how much rows with so many known cells (n_rows,) have of what holds for `usual` ones: (n_rows,).

    It is the share of the groups of `together` columns that are known; None where columns repeat each other.

    >>> known_shares(np.array([0, 1, 3, 5]), 5.0).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    if usual <= 1:
        return (known > 0).astype(np.float64)
    if together is None:
        share: Array = np.maximum(known - 1, 0) / (usual - 1)
        return share
    beside = np.array(others(usual, together))
    return np.minimum(np.prod(np.maximum(known[:, None] - beside, 0) / (usual - beside), axis=1), 1.0)
