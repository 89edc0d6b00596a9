"""`LinearMember`: log-odds with a term for every number and every state: logistic regression, straight or bent.

    log P(k | x) ~ log P(k) + b_k + sum over numbers of f_jk(z_j) + sum over categories of v_jk(state)
    f_jk(z) = w_jk z  or, bent,  w_jk z + sum over knots t of u_jkt max(0, z - t)

Small tables with a smooth boundary want no more than that, and hardly forgive more. Numbers are in common units
(`StandardNumbers`), with knots at their quantiles; a missing one is the median, and says so itself where the column
lacked cells when the member learned. A missing category is a state of its own there, and says nothing elsewhere.

The numbers b, w, u and v have the least log-loss plus half of the squares of w, u and v by C, for one of a few values
of C. They are structure, which stays while rows come and go; P(k) is counted. Rows are divided into folds by the hashes
of their cells, and every row is judged by what the other folds gave: C is chosen so, terms are bent where that is
better by more than the standard error, and every row may validate.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.errors import StatisticsError
from bayeswater.estimate.dirichlet import Prior
from bayeswater.inference.log_space import log_posterior
from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.learning.members.committee import SMOOTHING, CountedClasses
from bayeswater.learning.members.member_table import EnsembleTable, StandardNumbers, counted_classes, declared_codes
from bayeswater.records import record
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array

FOLDS = 5

RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0)
BENT_RIDGES = (*RIDGES, 10.0, 30.0)
"""Values of C, from those that hold weights back most, of straight terms and of bent ones."""

N_KNOTS = 7
"""Places where the term of a number may bend."""

LEAST_BENT_ROWS = 100
"""Different rows below which folds are too few to tell whether terms bend."""

MOST_BENT = 2**18
"""Rows times terms times classes up to which terms may bend: of more rows trees tell as much in less time."""

MOST_ROWS = 10_000
"""Different rows that weights are learned from, at most: more would hardly change them."""

FEW_ROWS = 2000
"""Rows up to which all folds choose C; of more, the first one says enough."""

MOST_STEPS, LEAST_SLOPE = 100, 1e-4
"""Where the search for the least log-loss ends: after so many steps, or where it slopes less."""

Line = tuple[Array, Array]
"""Intercepts (n_classes,) and weights (n_terms, n_classes)."""


@record
class LinearTerms:
    """How rows become terms: units of the numbers, which of them lack cells, and states of the categories.

    First come the numbers that vary, then what each is beyond its knots, then marks of those that lack cells, then
    marks of states, column after column. Straight terms have no knots.
    """

    numbers: StandardNumbers
    lacks: Array  # (n_numbers,)
    n_states: Array  # (n_nominal,), with one more where missing is a state
    missing_is_state: Array  # (n_nominal,)
    knots: Array  # (n_kept, n_knots)

    @classmethod
    def learn(cls, table: EnsembleTable) -> "LinearTerms":
        """Look at all rows."""
        lacks = np.asarray(np.isnan(table.numbers).any(axis=0))
        missing = np.asarray((table.states < 0).any(axis=0))
        numbers = StandardNumbers.learn(table)
        return cls(numbers, lacks, table.n_states + missing, missing, np.empty((len(numbers.kept), 0)))

    def bent(self, table: EnsembleTable) -> Self:
        """Let the terms of numbers bend at quantiles of the rows."""
        weight, knots = table.weights, np.empty((len(self.numbers.kept), N_KNOTS))
        for z, own in zip(self.numbers.read(table).values.T, knots, strict=True):
            order = np.argsort(z, kind="stable")
            below = np.cumsum(weight[order])
            own[:] = z[order][np.searchsorted(below, below[-1] * np.arange(1, N_KNOTS + 1) / (N_KNOTS + 1))]
        return replace(self, knots=knots)

    @property
    def n_smooth(self) -> int:
        """Number of terms of numbers."""
        return len(self.knots) + self.knots.size

    @property
    def n_terms(self) -> int:
        """Number of terms of a row."""
        return self.n_smooth + int(self.lacks.sum()) + int(self.n_states.sum())

    def read(self, table: EnsembleTable) -> tuple[Array, csr_array]:
        """Give the terms of numbers (n_rows, n_smooth), and the marks (n_rows, the others), which are few in a row."""
        start = np.cumsum([int(self.lacks.sum()), *self.n_states.tolist()])[:-1]
        lacking = np.isnan(table.numbers[:, self.lacks])
        states = np.where((table.states < 0) & self.missing_is_state, self.n_states - 1, table.states)
        place = np.concatenate([np.broadcast_to(np.arange(lacking.shape[1]), lacking.shape), states + start], axis=1)
        is_there = np.concatenate([lacking, states >= 0], axis=1)
        indptr = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
        marks = place[is_there].astype(np.int64)
        z = self.numbers.read(table).values
        if self.knots.size:
            beyond = np.maximum(z[:, :, None] - self.knots, 0.0)
            z = np.concatenate([z, beyond.reshape(len(z), self.knots.size)], axis=1)
        shape = len(table), self.n_terms - self.n_smooth
        return z, csr_array((np.ones(len(marks)), marks, indptr), shape=shape)

    def scores(self, terms: tuple[Array, csr_array], line: Line) -> Array:
        """What rows say of the classes, beside their frequency: (n_rows, n_classes)."""
        (z, marks), (intercept, weight) = terms, line
        found: Array = z @ weight[: z.shape[1]] + marks @ weight[z.shape[1] :] + intercept
        return found

    def centred(self, terms: tuple[Array, csr_array], weight: Array, line: Line) -> Line:
        """Let the states of a column say nothing in the mean over rows, so that one that is missing says nothing."""
        intercept, found = line[0].copy(), line[1].copy()
        share = (weight @ terms[1]) / weight.sum()
        first = self.n_smooth
        ends = first + np.cumsum([int(self.lacks.sum()), *self.n_states.tolist()])
        for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            mean = share[a - first : b - first] @ found[a:b]
            found[a:b] -= mean
            intercept += mean
        return intercept, found


@record
class LinearMember(CountedClasses):
    """How rows become terms, the weights of these by all rows and by those of other folds, and class counts.

    Terms of numbers are tried bent, too, if it `bends`: that takes about four times as long.
    """

    kind: ClassVar[str] = "linear"

    bends: bool = True
    terms: LinearTerms | None = None
    lines: tuple[Line, ...] = ()  # by all rows, then without each fold

    def learn(self, table: EnsembleTable, seed: int) -> Self:
        """Learn the weights, by all rows and without each fold; the folds choose C, and whether terms are bent."""
        straight, counts, some = LinearTerms.learn(table), counted_classes(table), table.take(slice(0, MOST_ROWS))
        fold, n_bent = _folds(some, seed), len(straight.knots) * (1 + N_KNOTS) * len(some) * table.n_classes
        judging = range(FOLDS if len(some) <= FEW_ROWS else 1)
        may_bend = self.bends and len(some) >= LEAST_BENT_ROWS and 0 < n_bent <= MOST_BENT
        ways = [straight, straight.bent(some)] if may_bend else [straight]
        with one_blas_thread():
            tried = [_LinesOfLeastLoss(terms, some, counts.count) for terms in ways]
            judged = [problem.judged(fold, judging) for problem in tried]
            best = int(len(ways) > 1 and _is_clear(judged[0][0] - judged[1][0]))
            problem, (_, ridge, without) = tried[best], judged[best]
            lines = [problem.least(ridge, np.ones(len(fold), dtype=bool), without[0]), *without]
            lines += [problem.least(ridge, fold != n, lines[0]) for n in range(len(without), FOLDS)]
        return replace(self, seed=seed, terms=problem.how, lines=tuple(map(problem.centred, lines)), counts=counts)

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Log posterior of rows: (n_rows, n_classes)."""
        assert self.terms is not None
        with one_blas_thread():
            return log_posterior(self._prior.log + self.terms.scores(self.terms.read(table), self.lines[0]))

    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Log posterior of counted rows, each by the weights of other folds; one member validates every row."""
        assert self.terms is not None
        fold, found = _folds(table, self.seed), self._prior.without(table.labels, table.removed)
        with one_blas_thread():
            for number in range(FOLDS):
                own = np.flatnonzero(fold == number)
                found[own] += self.terms.scores(self.terms.read(table.take(own)), self.lines[1 + number])
        return log_posterior(found), np.ones(len(table), dtype=np.int64)

    def to_arrays(self) -> dict[str, Array]:
        """Give units, weights and class counts as arrays."""
        assert self.terms is not None
        return {
            "class_count": self.class_counts.count,
            "seed": np.array([self.seed % 2**64], dtype=np.uint64),
            **self.terms.numbers.to_arrays(),
            "lacks": self.terms.lacks.astype(np.uint8),
            "missing_is_state": self.terms.missing_is_state.astype(np.uint8),
            "knots": self.terms.knots,
            "intercept": np.stack([intercept for intercept, _ in self.lines]),
            "weight": np.stack([weight for _, weight in self.lines]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Self:
        """Make the member of arrays that may come from anywhere."""
        try:
            count, seed = np.array(arrays["class_count"]), int(arrays["seed"][0])
            lacks, missing = (np.asarray(arrays[name]) for name in ("lacks", "missing_is_state"))
            intercept, weight = (np.asarray(arrays[name]) for name in ("intercept", "weight"))
            are_marks = lacks.shape == (n_numbers,) and missing.shape == n_states.shape
            _require(are_marks and lacks.dtype == missing.dtype == np.uint8, "which columns lack cells is not said")
            _require(max([0, *lacks.tolist(), *missing.tolist()]) <= 1, "which columns lack cells is not said")
            _require(count.shape == (n_classes,), "class counts are not those of the classes")
            _require(bool(np.isfinite(count).all() and (count >= 0).all()), "class counts are no counts")
            numbers = StandardNumbers.from_arrays(arrays, n_numbers)
            knots = np.asarray(arrays.get("knots", np.empty((len(numbers.kept), 0))))  # earlier files have none
            are_knots = knots.ndim == 2 and len(knots) == len(numbers.kept) and knots.dtype == np.float64
            _require(bool(are_knots and np.isfinite(knots).all()), "knots are not those of the numbers")
            terms = LinearTerms(numbers, lacks.astype(bool), n_states + missing, missing.astype(bool), knots)
        except (KeyError, IndexError, ValueError, TypeError, OverflowError) as error:
            raise StatisticsError(f"the arrays of a family {cls.kind!r} are not complete: {error}") from None
        shape = 1 + FOLDS, terms.n_terms, n_classes
        _require(weight.shape == shape and intercept.shape == (shape[0], n_classes), "weights are of other terms")
        _require(weight.dtype == intercept.dtype == np.float64, "weights are no numbers")
        _require(bool(np.isfinite(weight).all() and np.isfinite(intercept).all()), "weights are not finite")
        counts = ClassCounts(declared_codes("class", n_classes), count)
        lines = tuple(zip(intercept, weight, strict=True))
        return cls(seed=seed, counts=counts, terms=terms, lines=lines)


class _LinesOfLeastLoss:
    """Rows, and the lines of least log-loss over some of them."""

    def __init__(self, how: LinearTerms, table: EnsembleTable, class_count: Array) -> None:
        self.how, self.table = how, table
        self.terms, self.prior = how.read(table), Prior.of(class_count, SMOOTHING).log

    def centred(self, line: Line) -> Line:
        return self.how.centred(self.terms, self.table.weights, line)

    @property
    def start(self) -> Line:
        """Lines that say nothing."""
        return np.zeros(self.table.n_classes), np.zeros((self.how.n_terms, self.table.n_classes))

    def judged(self, fold: Array, numbers: Iterable[int]) -> tuple[Array, float, list[Line]]:
        """Let some folds choose C, which grows until they are told worse: losses, C, and the lines without each."""
        found: tuple[Array, float, list[Line]] = (np.full(1, np.inf), 0.0, [])
        lines = dict.fromkeys(numbers, self.start)
        for ridge in BENT_RIDGES if self.how.knots.size else RIDGES:
            lines = {n: self.least(ridge, fold != n, line) for n, line in lines.items()}
            losses = np.concatenate([self.losses(line, fold == n) for n, line in lines.items()])
            if losses.sum() >= found[0].sum():
                break
            found = losses, ridge, [*lines.values()]
        return found

    def losses(self, line: Line, rows: Array) -> Array:
        """Log-loss of some rows, each times its weight."""
        log_p = log_shares(self.prior + self.how.scores(self._taken(rows), line), use_loop=False)
        return -self.table.weights[rows] * log_p[np.arange(len(log_p)), self.table.labels[rows]]

    def least(self, ridge: float, rows: Array, start: Line) -> Line:
        """Find the line of least penalised log-loss over some rows; intercepts are standard normal beforehand."""
        (z, marks), codes, weight = self._taken(rows), self.table.labels[rows], self.table.weights[rows]
        n_classes, total = len(self.prior), float(weight.sum())
        place = np.arange(len(codes))
        if not len(codes):
            return start

        def penalised(numbers: Array) -> tuple[float, Array]:
            b, w = numbers[:n_classes], numbers[n_classes:].reshape(-1, n_classes)
            log_p = log_shares(self.prior + self.how.scores((z, marks), (b, w)), use_loop=False)
            loss = -float(weight @ log_p[place, codes]) + float(b @ b) / 2 + float((w * w).sum()) / (2 * ridge)
            away = np.exp(log_p)
            away[place, codes] -= 1
            away *= weight[:, None]
            slope = np.concatenate([z.T @ away, marks.T @ away]) + w / ridge
            return loss / total, np.concatenate([away.sum(axis=0) + b, slope.ravel()]) / total

        options = {"maxiter": MOST_STEPS, "gtol": LEAST_SLOPE, "ftol": 1e-9}
        numbers = np.concatenate([start[0], start[1].ravel()])
        found = minimize(penalised, numbers, jac=True, method="L-BFGS-B", options=options).x
        return found[:n_classes], found[n_classes:].reshape(-1, n_classes)

    def _taken(self, rows: Array) -> tuple[Array, csr_array]:
        places = np.flatnonzero(rows)
        return self.terms[0][places], self.terms[1][places]


def _is_clear(gains: Array) -> bool:
    """Say whether gains of rows are in sum over 0, by more than the standard error."""
    return bool(gains.sum() > np.sqrt(len(gains)) * gains.std())


def _folds(table: EnsembleTable, seed: int) -> Array:
    """Divide rows by the hashes of their cells: (n_rows,)."""
    return np.asarray(hashed(table.hashes ^ hashed(hash_word(seed))) % np.uint64(FOLDS)).astype(np.int64)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StatisticsError(f"the arrays of a family 'linear' are not sound: {problem}")
