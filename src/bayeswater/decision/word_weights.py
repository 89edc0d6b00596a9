"""Weights on the words of a text: how much each word counts for each class, learned by one linear machine for a class.

Naive Bayes adds log P(word | k) for each word, and words that go together count twice. The sum stays, and each word and
class has a weight w_jk:

    x_j   = 1 (marks) or log(1 + count), for the words of the text, scaled to length 1: long texts do not shout
    r_jk  = log P(word j | k) - log P(word j | all other classes), off the sums
    S_k   = b_k + sum over words of x_j w_jk r_jk
    log P(k | text) ~ slope S_k + shift_k

(Wang and Manning 2012). Weights and b_k have the least squared hinge loss of class k against all others, with a ridge
towards 0 (`kernels.word_machine`). Of two classes one machine is both. Words are many, and rows few: as in that paper,
weights are drawn towards their mean size, with which all words count alike, as in naive Bayes.

A machine overfits the rows it was learned from. So rows are divided into folds, by a hash of their words, and
those of a fold are scored by a machine, and by log-ratios, that the others give. From these scores come the slope and
the shifts, of the least log-loss, the reading, marks or counts, and how far weights are drawn, whichever tells held-out
rows better. The machines of the folds are kept, so that rows can be left out afterwards.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from bayeswater.decision.convex import Evaluation, minimise
from bayeswater.decision.scores import span
from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.word_machine import squared_hinge_machine
from bayeswater.records import record
from bayeswater.typing import Array

MARKS, COUNTS = "marks", "counts"

FOLDS = 3

ALPHA = 0.5
"""Pseudo-count of each word in the ratios."""

COST = 0.5
"""What a row on the wrong side of a machine costs."""

SHARES = (1.0, 0.5, 0.25, 0.15, 0.1, 0.05, 0.0)
"""What may be left of the differences between weights."""


@record
class TextRows:
    """Counts of words (n_rows, n_words), the class, weight and fold of each row (n_rows,).

    `is_marked` says that the sums, which log-ratios are read off, count rows that have a word rather than words.
    """

    words: csr_array
    codes: Array
    weight: Array
    fold: Array
    is_marked: bool

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Array) -> "TextRows":
        """Take some rows."""
        return replace(
            self, words=self.words[rows], codes=self.codes[rows], weight=self.weight[rows], fold=self.fold[rows]
        )

    def known_words(self, left: Array) -> csr_array:
        """Give the words that rows of other folds have, by what is `left` without each fold: (n_folds, n_words).

        What is new to a machine is no word in its texts: all others are scaled to length 1.
        """
        words = self.words.copy()
        row = np.repeat(np.arange(len(self)), np.diff(words.indptr))
        words.data *= left[self.fold[row], words.indices] > 0
        return words

    def sums(self, n_classes: int) -> Array:
        """Sum what the rows have of every word in each class: (n_classes, n_words)."""
        words = self.words.copy()
        if self.is_marked:
            words.data = np.ones(len(words.data))
        share = csr_array((self.weight, self.codes, np.arange(len(self) + 1)), shape=(len(self), n_classes))
        found: Array = (share.T @ words).toarray()
        return found


@record
class Machine:
    """Weights (n_classes, n_words) of the log-ratios, and intercepts (n_classes,)."""

    weight: Array
    intercept: Array

    @classmethod
    def fit(cls, scaled: csr_array, codes: Array, weight: Array, ratios: Array) -> Self:
        """Learn one machine for each class from scaled rows; of two classes, one for both."""
        n_classes, n_words = ratios.shape
        found, intercept = np.zeros((n_classes, n_words), dtype=np.float32), np.zeros(n_classes)
        indptr, indices = scaled.indptr, scaled.indices
        for k in [1] if n_classes == 2 else range(n_classes):
            data, sign = scaled.data * ratios[k][indices], np.where(codes == k, 1.0, -1.0)
            found[k], intercept[k] = squared_hinge_machine(indptr, indices, data, sign, COST * weight, n_words)
        if n_classes == 2:  # the log-ratios of one class are those of the other with the other sign
            found[:] = found[1] / 2
            intercept[:] = -intercept[1] / 2, intercept[1] / 2
        return cls(found, intercept)

    @property
    def size(self) -> float:
        """Mean size of the weights."""
        return float(np.abs(self.weight).mean(dtype=np.float64)) if self.weight.size else 0.0

    def drawn(self, share: float, size: float) -> "Machine":
        """Draw weights towards a size, and leave a share of how they differ from it."""
        return Machine((share * self.weight + (1 - share) * size).astype(np.float32), share * self.intercept)

    def scores(self, scaled: csr_array, ratios: Array) -> Array:
        """Give the score of each class in some rows: (n_rows, n_classes)."""
        found: Array = scaled @ (self.weight * ratios).T + self.intercept
        return found


@record
class TextWeights:
    """Weights of the words of a text, and how scores become log-probabilities.

    `log_loss` and `accuracy` are of rows that were held out; `is_marked` says what the sums count, as in `TextRows`.
    """

    reading: str
    machine: Machine
    folds: tuple[Machine, ...]  # of each fold, learned from the others
    slope: float
    shift: Array  # (n_classes,)
    log_prior: Array  # (n_classes,), that of the rows the weights were learned from
    n_used: int = 0
    log_loss: float | None = None
    accuracy: float | None = None
    is_stale: bool = False
    is_marked: bool = True

    @classmethod
    def fit(cls, rows: TextRows, sums: Array, log_prior: Array) -> Self:
        """Learn from texts, the sums (n_classes, n_words) of all rows, and the class prior that belongs to them."""
        rows = rows.take(np.flatnonzero((np.diff(rows.words.indptr) > 0) & (rows.weight > 0)))
        taken = [rows.take(np.flatnonzero(rows.fold == fold)).sums(len(sums)) for fold in range(FOLDS)]
        ratios = [log_ratios(np.maximum(sums - own, 0.0)) for own in taken]
        known = rows.known_words(np.stack([(sums - own).sum(axis=0) for own in taken]))
        first = {reading: _HeldOut.of(rows, known, reading, ratios, folds=1) for reading in (MARKS, COUNTS)}
        best = min(first.values(), key=lambda found: found.log_loss)
        found, share, size = best.going_on(rows, ratios).drawn(rows, ratios)
        slope, shift = found.slope_and_shift()
        machine = Machine.fit(found.scaled, rows.codes, rows.weight, log_ratios(sums)).drawn(share, size)
        learned = cls(found.reading, machine, found.machines, slope, shift, log_prior, is_marked=rows.is_marked)
        if not len(rows):
            return learned
        return replace(learned, n_used=len(rows), log_loss=found.log_loss, accuracy=found.accuracy)

    @property
    def n_parameters(self) -> int:
        """Number of weights, intercepts and shifts that were learned, and the slope; of two classes, of one machine."""
        n_classes, n_words = self.machine.weight.shape
        n_machines = 1 if n_classes == 2 else n_classes
        return n_machines * (n_words + 1) + n_classes - 1 + 1

    @property
    def constant(self) -> Array:
        """What any text with a known word adds to each class: (n_classes,)."""
        prior = np.where(np.isfinite(self.log_prior), self.log_prior, 0.0)
        return self.slope * self.machine.intercept + self.shift - prior

    def class_log_ratios(self, scores: Array) -> Array:
        """Turn scores of machines into what a text says of the class, log P(k | text) / P(k): (n_rows, n_classes)."""
        return self.slope * (scores - self.machine.intercept) + self.constant

    def coefficients(self, ratios: Array) -> Array:
        """What a word of x_j = 1 adds to each class: (n_words, n_classes)."""
        return np.ascontiguousarray(self.slope * (self.machine.weight * ratios).T)

    def laid_out(
        self, place_classes: Callable[[Array], Array], is_known: Array, place_words: Callable[[Array], Array]
    ) -> Self:
        """Mark as stale, and lay out for other classes and words; what is new has no weight."""

        def machine(own: Machine) -> Machine:
            weight = place_words(place_classes(own.weight).astype(np.float32))
            return Machine(weight, np.where(is_known, place_classes(own.intercept), own.intercept.min(initial=0.0)))

        shift, log_prior = place_classes(self.shift), place_classes(self.log_prior)
        return replace(
            self,
            machine=machine(self.machine),
            folds=tuple(map(machine, self.folds)),
            shift=shift,
            log_prior=log_prior,
            is_stale=True,
        )

    def __str__(self) -> str:
        stale = "; learned from other rows than are counted now: refresh learns them again" if self.is_stale else ""
        text = f"weights of {self.machine.weight.shape[1]:,} words {span(self.machine.weight)}, read as {self.reading}"
        if self.log_loss is None or self.accuracy is None:
            return f"{text}{stale}"
        held_out = f"held-out rows {100 * self.accuracy:.1f} % right, log-loss {self.log_loss:.4f}"
        return f"{text}: {held_out}, {self.n_used:,} texts{stale}"


def log_ratios(sums: Array) -> Array:
    """Logarithm of P(word | class) / P(word | all other classes), by sums (n_classes, n_words), in the same shape.

    >>> log_ratios(np.array([[1, 3], [3, 1]])).round(3)
    array([[-0.847,  0.847],
           [ 0.847, -0.847]])
    """
    if not sums.shape[1]:
        return sums.astype(np.float64)
    own, others = sums + ALPHA, np.maximum(sums.sum(axis=0) - sums, 0) + ALPHA
    total = np.log(own.sum(axis=1, keepdims=True)) - np.log(others.sum(axis=1, keepdims=True))
    return np.log(own) - np.log(others) - total


def scaled_rows(words: Any, reading: str) -> csr_array:
    """Give marks or logarithms of counts (n_rows, n_words), each row of length 1; one without a word stays empty.

    >>> scaled_rows(csr_array(np.array([[3.0, 0.0, 1.0]])), MARKS).toarray().round(3)
    array([[0.707, 0.   , 0.707]])
    """
    data = (words.data > 0).astype(np.float64) if reading == MARKS else np.log1p(words.data)
    row = np.repeat(np.arange(words.shape[0]), np.diff(words.indptr))
    length = np.sqrt(np.bincount(row, weights=data**2, minlength=words.shape[0]))
    data = data / np.where(length > 0, length, 1.0)[row]
    return csr_array((data, words.indices, words.indptr), shape=words.shape)


@record
class _HeldOut:
    """Scores (n_rows, n_classes) of the rows of some folds, each by the machine of the others."""

    reading: str
    scaled: csr_array  # rows to learn from
    judged: csr_array  # the same, without words that are new to the machine of the other folds
    machines: tuple[Machine, ...]
    scores: Array
    codes: Array  # (n_rows,)
    weight: Array  # (n_rows,), 0 for rows of the other folds

    @classmethod
    def of(cls, rows: TextRows, known: csr_array, reading: str, ratios: list[Array], *, folds: int) -> "_HeldOut":
        """Score the first folds."""
        scores = np.zeros((len(rows), len(ratios[0])))
        scaled = scaled_rows(rows.words, reading), scaled_rows(known, reading)
        empty = cls(reading, *scaled, (), scores, rows.codes, np.zeros(len(rows)))
        return empty.going_on(rows, ratios[:folds])

    def going_on(self, rows: TextRows, ratios: list[Array]) -> "_HeldOut":
        """Score the rows of the folds that are not scored yet."""
        machines, scores, weight = list(self.machines), self.scores.copy(), self.weight.copy()
        for fold in range(len(machines), len(ratios)):
            out = rows.fold == fold
            others, own = np.flatnonzero(~out), np.flatnonzero(out)
            machine = Machine.fit(self.scaled[others], rows.codes[others], rows.weight[others], ratios[fold])
            scores[own] = machine.scores(self.judged[own], ratios[fold])
            weight[own] = rows.weight[own]
            machines.append(machine)
        return replace(self, machines=tuple(machines), scores=scores, weight=weight)

    def drawn(self, rows: TextRows, ratios: list[Array]) -> tuple["_HeldOut", float, float]:
        """Draw weights towards their mean size, as far as that lowers the log-loss; give the share left, and the size.

        The size is one for all machines, so that a slope means the same for each.
        """
        size = float(np.mean([machine.size for machine in self.machines]))
        alike = np.zeros_like(self.scores)
        for fold, machine in enumerate(self.machines):
            own = np.flatnonzero(rows.fold == fold)
            alike[own] = machine.drawn(0.0, size).scores(self.judged[own], ratios[fold])
        drawn = {share: replace(self, scores=share * self.scores + (1 - share) * alike) for share in SHARES}
        share = min(SHARES, key=lambda share: drawn[share].log_loss)
        machines = tuple(machine.drawn(share, size) for machine in self.machines)
        return replace(drawn[share], machines=machines), share, size

    @property
    def log_loss(self) -> float:
        """Mean log-loss by the best slope and shifts."""
        if not self.weight.any():
            return 0.0
        return float(np.average(-self._log_proba()[np.arange(len(self.codes)), self.codes], weights=self.weight))

    @property
    def accuracy(self) -> float:
        """Share of rows whose class is predicted."""
        return float(np.average(self._log_proba().argmax(axis=1) == self.codes, weights=self.weight))

    def _log_proba(self) -> Array:
        slope, shift = self.slope_and_shift()
        return log_shares(slope * self.scores + shift, use_loop=False)

    def slope_and_shift(self) -> tuple[float, Array]:
        """Find those of the least log-loss, with one more row of an unknown class: no record is taken to be perfect.

        Shifts are standard normal beforehand.
        """
        scored = self.weight > 0
        scores, codes, weight = self.scores[scored], self.codes[scored], self.weight[scored]
        n_classes, total = scores.shape[1], float(weight.sum())
        if not total:
            return 1.0, np.zeros(n_classes)
        share, unknown = weight / total, 1 / (total + 1)
        aim = np.full(scores.shape, unknown / n_classes)
        aim[np.arange(len(codes)), codes] += 1 - unknown

        def evaluate(parameters: Array) -> Evaluation:
            slope, shift = parameters[0], parameters[1:]
            log_proba = log_shares(slope * scores + shift, use_loop=False)
            p = np.exp(log_proba)
            value = -share @ (aim * log_proba).sum(axis=1) + shift @ shift / (2 * total)
            away, mean = share[:, None] * (p - aim), (p * scores).sum(axis=1)
            gradient = np.append((away * scores).sum(), away.sum(axis=0) + shift / total)
            hessian = np.empty((n_classes + 1, n_classes + 1))
            hessian[0, 0] = share @ ((p * scores**2).sum(axis=1) - mean**2)
            hessian[0, 1:] = hessian[1:, 0] = share @ (p * (scores - mean[:, None]))
            weighted = share[:, None] * p
            hessian[1:, 1:] = np.diag(weighted.sum(axis=0) + 1 / total) - weighted.T @ p
            return float(value), gradient, hessian

        found = minimise(evaluate, np.append(1.0, np.zeros(n_classes)))
        return max(float(found[0]), 0.0), found[1:]
