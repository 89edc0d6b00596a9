"""`Stack`: committees that have learned, each with a temperature, and the pool that makes one posterior of theirs.

    p_g = committee g's posterior ^ (1 / T_g), normalised          T_g of least log-loss on honest rows
    p   = mean of the linear and the log-linear pool of all p_g  (`decision/pools.py`), weights from honest rows

Words are beside all that other committees see, so evidence multiplies: before they are pooled,

    p_g is made p_g (p_words / prior)^m, normalised                of every committee g but the words themselves

where the prior is that of the words: those that say nothing leave the others as they are. What words repeat of other
columns, as a title in a name repeats the sex, is not to count twice: m, of five from 0 to 1, has the least log-loss.

Committees that take long to predict and without which the pool is as good, by half a percent of its log-loss, are left
out, the dearest first.

Held-out rows are scored by members whose structure has not seen them, and with themselves taken out of the counts, so
no row is set apart for any of this. A row that some committee has no such member for does not validate, nor does one
that is alone in its class: without it nobody could know of the class. What the report says of error, log-loss and
calibration is cross-fitted as well: temperatures and weights of one half of these rows are validated on the other. Rows
stand in the order of their hashes, so where there are more than enough the first ones are taken.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.decision.calibration_maps import Temperature
from bayeswater.decision.pools import LEAST_LOG, Pool
from bayeswater.decision.scores import Scores
from bayeswater.errors import BayesError, StatisticsError
from bayeswater.estimate.dirichlet import Prior
from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.threads import parallel_map, row_blocks
from bayeswater.learning.members.committee import SMOOTHING, Committee, can_validate, tempered
from bayeswater.learning.members.member_table import EnsembleTable
from bayeswater.records import record
from bayeswater.typing import Array

HONEST_ROWS, HONEST_CELLS = 2**13, 2**22
"""Rows for validation, and their rows times classes, at most: what is held of every committee while it is pooled."""

VALIDATION_CELLS = 2**17
"""Cells, rows times classes, beyond which fewer rows settle temperatures and weights; but never less than 2048 rows."""

LEAST_VALIDATION_ROWS = 2048

DEAREST = ("kdb", "aode", "trees-sqrt", "trees-half", "boosted")
"""Committees that take long to predict, those of the most first; some trees stay, which bear rows unlike all others."""

NO_LOSS = 0.005
"""Share of the log-loss of a pool by which it may be worse without a committee that takes long."""

MULTIPLIED = (1.0, 0.75, 0.5, 0.25, 0.0)
"""How far words may multiply what other committees say."""

ROWS_TO_LEAVE_OUT = 100
"""Rows that all can score, below which no committee is left out."""

SCORED_ROWS, SCORED_CELLS = 2**16, 2**22
"""Rows that are scored at a time, and their rows times classes, at most."""


@record
class Stack:
    """Committees, their temperatures (n_committees,) and their pool; class counts (n_classes,) of all rows.

    `multiplied` is how far words multiply what the others say.
    """

    committees: tuple[Committee, ...]
    temperature: Array
    pool: Pool
    class_count: Array
    multiplied: float = 1.0

    @classmethod
    def of_class_alone(cls, table: EnsembleTable) -> "Stack":
        """Make a stack of no committee, which knows how frequent the classes are and no more."""
        return cls((), np.zeros(0), Pool(np.zeros(0), np.zeros(0)), _class_count(table))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_count)

    @property
    def n_bytes(self) -> int:
        """Bytes of what was learned."""
        return self.class_count.nbytes + sum(committee.n_bytes for committee in self.committees)

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Logarithm of P(class | row): (n_rows, n_classes)."""
        result = np.empty((len(table), self.n_classes))
        for rows in row_blocks(len(table), max(1, min(SCORED_ROWS, SCORED_CELLS // self.n_classes))):
            part = table.take(rows)
            result[rows] = self.pooled([committee.log_posterior(part) for committee in self.committees])
        return result

    def pooled(self, log_proba: Sequence[Array], log_prior: Array | None = None) -> Array:
        """Make one log posterior of those of the committees, (n_rows, n_classes) each; without any, of the classes.

        `log_prior` is the one in these posteriors, where rows were taken out of the counts: (n_rows, n_classes).
        """
        if not self.committees:
            return log_frequency(self.class_count)
        given = [tempered(own, t) for own, t in zip(log_proba, self.temperature.tolist(), strict=True)]
        prior = Prior.of(self.class_count, SMOOTHING).log if log_prior is None else log_prior
        return self.pool.of(_multiplied(given, self.committees, prior, self.multiplied))

    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Score counted rows honestly: log posterior (n_rows, n_classes), and which rows all can score."""
        found = [committee.honest_log_posterior(table) for committee in self.committees]
        scored = np.all([can_validate(table, self.class_count), *(n_members > 0 for _, n_members in found)], axis=0)
        return self.pooled([own for own, _ in found], _prior_without(table, self.class_count)), scored

    def plus(self, table: EnsembleTable) -> "Stack":
        """Count further rows; structures, temperatures and weights stay."""
        return replace(
            self,
            committees=tuple(committee.plus(table) for committee in self.committees),
            class_count=self.class_count + _class_count(table),
        )

    def minus(self, table: EnsembleTable, labels: Sequence[Any] | None = None) -> "Stack":
        """Take rows out of the counts; by their `labels` (n_classes,) a message calls the classes."""
        remaining = self.class_count - _class_count(table)
        if (remaining < -1e-9 * self.class_count).any():
            code = int(remaining.argmin())
            label = code if labels is None else labels[code]
            raise StatisticsError(
                f"rows of weight {self.class_count[code]:.10g} are of class {label!r}, and {-remaining[code]:.10g} "
                "more are to be forgotten; give rows that were counted, with the weight they were counted with"
            )
        if not (remaining > 1e-9 * self.class_count).any():
            raise StatisticsError("no row would remain; make a new model instead")
        committees = []
        for committee in self.committees:
            try:
                committees.append(committee.minus(table))
            except BayesError as error:
                raise StatisticsError(
                    f"the rows cannot be forgotten: family {committee.kind!r} has not counted all of them; give rows "
                    "that were counted, with the weight they were counted with, or learn anew from all that stay: "
                    "refresh(X, y)"
                ) from error  # which names columns and classes by their codes
        return replace(self, committees=tuple(committees), class_count=np.maximum(remaining, 0.0))


@record
class LearnedStack:
    """What came of learning: the stack, cross-fitted honest scores of some rows, and what it took each committee."""

    stack: Stack
    names: tuple[str, ...]
    scores: Scores
    committee_loss: Array  # (n_committees,), honest log-loss of each alone, calibrated
    n_validated: tuple[int, ...]  # rows that could validate each committee
    seconds: tuple[float, ...]
    n_alone: int = 0  # rows alone in their class, which validate nothing
    left_out: tuple[str, ...] = ()  # committees that have learned, and without which the pool is as good


def learn(
    committees: Mapping[str, Committee], table: EnsembleTable, seed: int, named: Collection[str] = ()
) -> LearnedStack:
    """Let committees learn from canonical rows, and the pool from what is honest of them.

    Those that are `named` stay, though the pool may be as good without them. Of a single class nothing can be learned.
    """
    if table.n_classes == 1:
        certain = Scores.of(np.zeros((len(table), 1)), table.labels, table.weights)
        return LearnedStack(Stack.of_class_alone(table), (), certain, np.zeros(0), (), ())
    validation = table.take(slice(0, max(LEAST_VALIDATION_ROWS, min(HONEST_ROWS, HONEST_CELLS // table.n_classes))))
    class_count = _class_count(table)
    can, log_prior = can_validate(validation, class_count), _prior_without(validation, class_count)

    def learned(place: int, committee: Committee) -> tuple[Committee, Array, Array, float]:
        start = perf_counter()
        own = committee.learn(table, seed_of(seed, place))
        log_proba, n_members = own.honest_log_posterior(validation)
        return own, log_proba, can & (n_members > 0), perf_counter() - start

    found = [*parallel_map(lambda given: learned(*given), enumerate(committees.values()))]
    needed = _needed(found, [*committees], validation, log_prior, named)
    names = tuple(committees)
    stacked, honest, members, seconds = zip(*(found[g] for g in needed), strict=True)
    everywhere = np.ones(len(validation), dtype=bool)
    temperature, pool, multiplied = _fitted(stacked, honest, members, validation, everywhere, log_prior)
    return LearnedStack(
        Stack(stacked, temperature, pool, class_count, multiplied),
        tuple(names[g] for g in needed),
        _cross_fitted(stacked, honest, members, validation, log_prior),
        np.array([_own_loss(*given, validation) for given in zip(honest, members, temperature.tolist(), strict=True)]),
        tuple(int(own.sum()) for own in members),
        seconds,
        int((~can).sum()),
        tuple(name for g, name in enumerate(names) if g not in needed),
    )


def _needed(
    found: Sequence[tuple[Committee, Array, Array, float]],
    names: Sequence[str],
    validation: EnsembleTable,
    log_prior: Array,
    named: Collection[str],
) -> list[int]:
    """Give the places of the committees that are needed, among those that have learned."""
    rows = np.flatnonzero(np.all([own for _, _, own, _ in found], axis=0))[:LEAST_VALIDATION_ROWS]
    kept = [*range(len(found))]
    dear = [names.index(name) for name in DEAREST if name in names and name not in named]
    if len(rows) < ROWS_TO_LEAVE_OUT or not dear:
        return kept
    codes, weight = validation.labels[rows], validation.weights[rows]

    def given(log_proba: Array) -> Array:
        own = log_proba[rows]
        return tempered(own, Temperature.fit(own, codes, weight).temperature)

    own = [given(log_proba) for _, log_proba, _, _ in found]

    def loss(places: list[int]) -> float:
        given, among = [own[g] for g in places], [found[g][0] for g in places]
        return _pooled(given, among, log_prior[rows], codes, weight)[0]

    most = (1 + NO_LOSS) * loss(kept)
    for place in dear:
        others = [g for g in kept if g != place]
        if others and loss(others) <= most:
            kept = others
    return kept


def seed_of(seed: int, place: int) -> int:
    """Give every committee a seed of its own."""
    return int(hashed(hash_word(seed) ^ hashed(hash_word(place)))[0] >> np.uint64(1))


def log_frequency(class_count: Array) -> Array:
    """Logarithm of the class frequencies, one row more of each class: none is impossible: (n_classes,)."""
    return np.asarray(np.log(class_count + 1.0) - np.log(class_count.sum() + len(class_count)))


def _multiplied(
    log_proba: Sequence[Array], committees: Sequence[Committee], log_prior: Array, power: float
) -> Sequence[Array]:
    """Let what a committee says beside all others, and beside its prior, multiply what they say, to this power."""
    beside = [own for own, committee in zip(log_proba, committees, strict=True) if committee.is_beside]
    if not beside or len(log_proba) == 1 or not power:
        return log_proba
    said = power * (sum(beside) - len(beside) * log_prior)
    return [
        own if committee.is_beside else log_shares(own + said, use_loop=False)
        for own, committee in zip(log_proba, committees, strict=True)
    ]


def _pooled(
    log_proba: Sequence[Array], committees: Sequence[Committee], log_prior: Array, codes: Array, weight: Array
) -> tuple[float, Pool, float]:
    """Find the pool of least log-loss, and how far words are multiplied for it: the log-loss, the pool, the power."""
    own = np.arange(len(codes)), codes
    found = []
    for power in MULTIPLIED if any(committee.is_beside for committee in committees) else MULTIPLIED[:1]:
        given = _multiplied(log_proba, committees, log_prior, power)
        pool = Pool.fit(given, codes, weight)
        found.append((-float(weight @ np.maximum(pool.of(given)[own], LEAST_LOG)), pool, power))
    return min(found, key=lambda one: one[0])


def _fitted(
    committees: Sequence[Committee],
    honest: Sequence[Array],
    members: Sequence[Array],
    validation: EnsembleTable,
    rows: Array,
    log_prior: Array,
) -> tuple[Array, Pool, float]:
    """Find temperatures, pool and how far words are multiplied from the marked rows (n_rows,)."""
    n_most = max(LEAST_VALIDATION_ROWS, VALIDATION_CELLS // validation.n_classes)
    together = np.flatnonzero(np.all([rows, *members], axis=0))[:n_most]

    def of_committee(given: tuple[Array, Array]) -> tuple[float, Array]:
        log_proba, scored = given
        own = np.flatnonzero(rows & scored)[:n_most]
        found = Temperature.fit(log_proba[own], validation.labels[own], validation.weights[own]).temperature
        return found, tempered(log_proba[together], found) if len(together) else log_proba[:0]

    temperature, given = zip(*parallel_map(of_committee, zip(honest, members, strict=True)), strict=True)
    codes, weight = validation.labels[together], validation.weights[together]
    _, pool, multiplied = _pooled(given, committees, log_prior[together], codes, weight)
    return np.array(temperature), pool, multiplied


def _cross_fitted(
    committees: Sequence[Committee],
    honest: Sequence[Array],
    members: Sequence[Array],
    validation: EnsembleTable,
    log_prior: Array,
) -> Scores:
    """Pool the scores of each half of the rows by what the other half teaches; give those that all can score."""
    scored = np.all(members, axis=0)
    half = hashed(validation.hashes) % np.uint64(2) == 0  # rows of equal cells stand together, whatever their classes
    log_proba = np.zeros((len(validation), validation.n_classes))
    for learning, validating in ((half, ~half), (~half, half)):
        rows = np.flatnonzero(validating & scored)
        if not len(rows):
            continue
        temperature, pool, multiplied = _fitted(committees, honest, members, validation, learning, log_prior)
        given = [tempered(own[rows], t) for own, t in zip(honest, temperature.tolist(), strict=True)]
        log_proba[rows] = pool.of(_multiplied(given, committees, log_prior[rows], multiplied))
    return Scores.of(log_proba[scored], validation.labels[scored], validation.weights[scored])


def _own_loss(log_proba: Array, scored: Array, temperature: float, validation: EnsembleTable) -> float:
    if not scored.any():
        return float("nan")
    scores = Scores.of(tempered(log_proba[scored], temperature), validation.labels[scored], validation.weights[scored])
    return float(-(scores.own @ scores.weight) / scores.weight.sum())


def _prior_without(table: EnsembleTable, class_count: Array) -> Array:
    """Log class prior of rows that are each taken out of the counts: (n_rows, n_classes)."""
    return Prior.of(class_count, SMOOTHING).without(table.labels, table.removed)


def _class_count(table: EnsembleTable) -> Array:
    return np.bincount(table.labels, weights=table.weights, minlength=table.n_classes).astype(np.float64)
