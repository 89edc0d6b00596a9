"""Weights on the words of a text: how much each word counts for each class, learned by one linear machine for a class.

Naive Bayes adds log P(word | k) for each word, and words that go together count twice. The sum stays, and each word and
class has a weight w_jk:

    x_j   = 1 (marks) or log(1 + count), for the words of the text, by their length or its root: long texts do not shout
    r_jk  = log P(word j | k) - log P(word j | all other classes), off the sums
    S_k   = b_k + sum over words of x_j w_jk r_jk
    log P(k | text) ~ slope S_k + shift_k

(Wang and Manning 2012). Weights and b_k have the least squared hinge loss of class k against all others, with a ridge
towards 0 (`kernels.word_machine`). Of two classes one machine is both. Words are many, and rows few: as in that paper,
weights are drawn towards their mean size, with which all words count alike, as in naive Bayes.

A machine overfits the rows it was learned from. So rows are divided into folds, by a hash of their words, and
those of a fold are scored by a machine, and by log-ratios, that the others give. From these scores come the slope and
the shifts, of the least log-loss, and whatever tells held-out rows better: the reading (marks or counts, by the length
or its root, pairs of words or words alone), by the first fold, and how far weights are drawn. The machines of the folds
are kept, so that rows can be left out afterwards.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from bayeswater.decision.convex import Evaluation, minimise
from bayeswater.decision.scores import span
from bayeswater.kernels.word_machine import squared_hinge_machine
from bayeswater.records import record
from bayeswater.typing import Array

MARKS, COUNTS = "marks", "counts"

FOLDS = 3

ALPHA = 0.5
"""Pseudo-count of each word in the ratios."""

COST = 0.5
"""What a row on the wrong side of a machine costs."""

READINGS: tuple[tuple[dict[str, Any], float], ...] = (
    ({"amount": COUNTS}, 0),
    ({"by_root": True}, 1),
    ({"alone": True}, 1),
)
"""What is changed of a reading, one after the other, and by how many standard errors it has to tell rows better.

Nearly all texts are told better with pairs, the more so the more rows there are, and by their length: what a part of
the rows says against that has to be more than noise.
"""

SHARES = (1.0, 0.5, 0.25, 0.15, 0.1, 0.05, 0.0)
"""What may be left of the differences between weights."""


def cells_kept(words: csr_array, kept: Array) -> csr_array:
    """Leave cells out that are not kept; the arrays of the matrix, which others may hold, stay."""
    before = np.concatenate([[0], np.cumsum(kept)])
    return csr_array((words.data[kept], words.indices[kept], before[words.indptr]), shape=words.shape)


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

    def only(self, used: Array) -> "TextRows":
        """Leave out words that are not used (n_words,)."""
        return replace(self, words=cells_kept(self.words, used[self.words.indices]))

    def known_words(self, left: Array) -> csr_array:
        """Give the words that rows of other folds have, by what is `left` without each fold: (n_folds, n_words).

        What is new to a machine is no word in its texts, nor in their length.
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
class WordReading:
    """How the words of a text become the numbers that machines are given.

    `amount` is marks or counts; rows are divided by their length or, `by_root`, by its root, so that long texts say
    more; `alone` leaves pairs of words out, and of scripts without blanks three characters.
    """

    amount: str = MARKS
    by_root: bool = False
    alone: bool = False

    def scaled(self, words: csr_array) -> csr_array:
        """Give the numbers of rows (n_rows, n_words); one without a word stays empty.

        >>> WordReading().scaled(csr_array(np.array([[3.0, 0.0, 1.0]]))).toarray().round(3)
        array([[0.707, 0.   , 0.707]])
        """
        data = (words.data > 0).astype(np.float64) if self.amount == MARKS else np.log1p(words.data)
        row = np.repeat(np.arange(words.shape[0]), np.diff(words.indptr))
        length = np.sqrt(np.bincount(row, weights=data**2, minlength=words.shape[0]))
        if self.by_root:
            length = np.sqrt(length)
        data = data / np.where(length > 0, length, 1.0)[row]
        return csr_array((data, words.indices, words.indptr), shape=words.shape)

    def __str__(self) -> str:
        return ", ".join([self.amount, *["by the root of the length"] * self.by_root, *["no pairs"] * self.alone])


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
        usual = float(scaled.data @ scaled.data) / max(1, len(codes))  # length of a row, squared
        cost = COST * weight / (usual or 1.0)
        for k in [1] if n_classes == 2 else range(n_classes):
            data, sign = scaled.data * ratios[k][indices], np.where(codes == k, 1.0, -1.0)
            found[k], intercept[k] = squared_hinge_machine(indptr, indices, data, sign, cost, n_words)
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

    reading: WordReading
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
    def fit(cls, rows: TextRows, sums: Array, log_prior: Array, stands_alone: Array | None = None) -> Self:
        """Learn from texts, the sums (n_classes, n_words) of all rows, and the class prior that belongs to them.

        Of words that are not all of one kind, those that stand alone (n_words,) may be the only ones that count.
        """
        rows = rows.take(np.flatnonzero((np.diff(rows.words.indptr) > 0) & (rows.weight > 0)))
        taken = [rows.take(np.flatnonzero(rows.fold == fold)).sums(len(sums)) for fold in range(FOLDS)]
        ratios = [log_ratios(np.maximum(sums - own, 0.0)) for own in taken]
        known = rows.known_words(np.stack([(sums - own).sum(axis=0) for own in taken]))
        best = _HeldOut.of(rows, known, WordReading(), ratios, folds=1)
        for change, n_errors in READINGS:
            reading, own, own_known = replace(best.reading, **change), rows, known
            if reading.alone:
                if stands_alone is None or stands_alone.all():
                    continue
                own, own_known = rows.only(stands_alone), replace(rows, words=known).only(stands_alone).words
            other = _HeldOut.of(own, own_known, reading, ratios, folds=1)
            best = other if other.is_better_than(best, n_errors) else best
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


@record
class _HeldOut:
    """Scores (n_rows, n_classes) of the rows of some folds, each by the machine of the others."""

    reading: WordReading
    scaled: csr_array  # rows to learn from
    validating: csr_array  # the same, without words that are new to the machine of the other folds
    machines: tuple[Machine, ...]
    scores: Array
    codes: Array  # (n_rows,)
    weight: Array  # (n_rows,), 0 for rows of the other folds

    @classmethod
    def of(
        cls, rows: TextRows, known: csr_array, reading: WordReading, ratios: list[Array], *, folds: int
    ) -> "_HeldOut":
        """Score the first folds."""
        scores = np.zeros((len(rows), len(ratios[0])))
        scaled = reading.scaled(rows.words), reading.scaled(known)
        empty = cls(reading, *scaled, (), scores, rows.codes, np.zeros(len(rows)))
        return empty.going_on(rows, ratios[:folds])

    def going_on(self, rows: TextRows, ratios: list[Array]) -> "_HeldOut":
        """Score the rows of the folds that are not scored yet."""
        machines, scores, weight = list(self.machines), self.scores.copy(), self.weight.copy()
        for fold in range(len(machines), len(ratios)):
            out = rows.fold == fold
            others, own = np.flatnonzero(~out), np.flatnonzero(out)
            machine = Machine.fit(self.scaled[others], rows.codes[others], rows.weight[others], ratios[fold])
            scores[own] = machine.scores(self.validating[own], ratios[fold])
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
            alike[own] = machine.drawn(0.0, size).scores(self.validating[own], ratios[fold])
        drawn = {share: replace(self, scores=share * self.scores + (1 - share) * alike) for share in SHARES}
        share = min(SHARES, key=lambda share: drawn[share].log_loss)
        machines = tuple(machine.drawn(share, size) for machine in self.machines)
        return replace(drawn[share], machines=machines), share, size

    @cached_property
    def log_loss(self) -> float:
        """Mean log-loss by the best slope and shifts."""
        if not self.weight.any():
            return 0.0
        own = self._log_proba[self.codes, np.arange(len(self.codes))]
        return float(np.average(-own, weights=self.weight))

    def is_better_than(self, other: "_HeldOut", n_errors: float) -> bool:
        """Tell whether the same rows are told better, by more than so many standard errors of the difference."""
        if not self.weight.any():
            return False
        place = self.codes, np.arange(len(self.codes))
        gain = self._log_proba[place] - other._log_proba[place]
        mean = np.average(gain, weights=self.weight)
        variance = np.average((gain - mean) ** 2, weights=self.weight)
        return bool(mean > n_errors * np.sqrt(variance / self.weight.sum()))

    @property
    def accuracy(self) -> float:
        """Share of rows whose class is predicted."""
        return float(np.average(self._log_proba.argmax(axis=0) == self.codes, weights=self.weight))

    @cached_property
    def _log_proba(self) -> Array:
        """Log-probabilities by the best slope and shifts: (n_classes, n_rows)."""
        slope, shift = self.slope_and_shift()
        return _log_shares(slope * self.scores.T + shift[:, None])

    def slope_and_shift(self) -> tuple[float, Array]:
        """Find those of the least log-loss, with one more row of an unknown class: no record is taken to be perfect.

        Shifts are standard normal beforehand.
        """
        scored = self.weight > 0
        scores, codes, weight = np.ascontiguousarray(self.scores[scored].T), self.codes[scored], self.weight[scored]
        n_classes, total = len(scores), float(weight.sum())
        if not total:
            return 1.0, np.zeros(n_classes)
        share, unknown = weight / total, 1 / (total + 1)
        aim = np.full(scores.shape, unknown / n_classes)
        aim[codes, np.arange(len(codes))] += 1 - unknown
        aim *= share

        def evaluate(parameters: Array) -> Evaluation:
            slope, shift = parameters[0], parameters[1:]
            log_proba = _log_shares(slope * scores + shift[:, None])
            p = np.exp(log_proba)
            weighted = p * share
            value = -np.vdot(aim, log_proba) + shift @ shift / (2 * total)
            away, by_score = weighted - aim, weighted * scores
            mean = by_score.sum(axis=0)
            gradient = np.append(np.vdot(away, scores), away.sum(axis=1) + shift / total)
            hessian = np.empty((n_classes + 1, n_classes + 1))
            hessian[0, 0] = np.vdot(by_score, scores) - (p * scores).sum(axis=0) @ mean
            hessian[0, 1:] = hessian[1:, 0] = by_score.sum(axis=1) - p @ mean
            hessian[1:, 1:] = np.diag(weighted.sum(axis=1) + 1 / total) - weighted @ p.T
            return float(value), gradient, hessian

        found = minimise(evaluate, np.append(1.0, np.zeros(n_classes)))
        return max(float(found[0]), 0.0), found[1:]


def _log_shares(scores: Array) -> Array:
    """Normalise logarithms (n_classes, n_rows), in place, so that what they stand for sums to one in each row."""
    scores -= scores.max(axis=0)
    scores -= np.log(np.exp(scores).sum(axis=0))
    return scores
