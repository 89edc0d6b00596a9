"""Naive Bayes of counts in exact arithmetic: every number is a `Fraction`, and every sum a plain loop over the rows.

A float is a fraction too (its denominator is a power of two), so weights, pseudo-counts and cells are taken
without rounding. Only logarithms are not rational: they are taken last, with fifty digits.

`None` stands for a missing cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, prod
from typing import Any

import mpmath

DIGITS = 50

Number = Fraction | float | int


def fraction(value: Any) -> Fraction | None:
    """The exact value of a cell; None where it is NaN or None."""
    if value is None or value != value:
        return None
    return Fraction(value.item() if hasattr(value, "item") else value)


def table(X: Any) -> list[list[Fraction | None]]:
    """The exact values of all cells of an array."""
    return [[fraction(cell) for cell in row] for row in X]


@lru_cache(maxsize=65_536)
def log(share: Fraction) -> Any:
    """Logarithm with fifty digits; that of zero is -inf."""
    if share == 0:
        return -mpmath.inf
    with mpmath.workdps(DIGITS):
        return mpmath.log(mpmath.mpf(share.numerator) / mpmath.mpf(share.denominator))


# ------------------------------------------------------------------ estimates


def posterior_mean(counts: Sequence[Number], pseudo_counts: Sequence[Number]) -> list[Fraction]:
    """(n_v + a_v) / sum_u (n_u + a_u); equal shares where neither rows nor pseudo-counts say anything."""
    smoothed = [Fraction(n) + Fraction(a) for n, a in zip(counts, pseudo_counts, strict=True)]
    total = sum(smoothed)
    return [s / total for s in smoothed] if total else [Fraction(1, len(smoothed))] * len(smoothed)


def class_counts(rows: "Rows") -> list[Fraction]:
    """Weight of each class."""
    return [
        sum((w for label, w in zip(rows.y, rows.weight, strict=True) if label == k), Fraction(0)) for k in rows.classes
    ]


def class_prior(
    rows: "Rows", *, given: Sequence[float] | None = None, fit_prior: bool = True, class_alpha: float = 0
) -> list[Fraction]:
    """Probability of each class: given, uniform, or counted with `class_alpha` pseudo-counts."""
    if given is not None:
        return [Fraction(p) for p in given]
    if not fit_prior:
        return [Fraction(1, len(rows.classes))] * len(rows.classes)
    return posterior_mean(class_counts(rows), [class_alpha] * len(rows.classes))


@dataclass(frozen=True)
class Rows:
    """Rows of cells, their labels and weights, and the classes there are."""

    X: list[list[Fraction | None]]
    y: list[Any]
    weight: list[Fraction]
    classes: list[Any]

    @classmethod
    def of(cls, X: Any, y: Any, weight: Any = None, classes: Any = None) -> "Rows":
        labels = list(y)
        weights = [Fraction(1)] * len(labels) if weight is None else [Fraction(float(w)) for w in weight]
        return cls(table(X), labels, weights, sorted(set(labels)) if classes is None else list(classes))

    def sum_of(self, k: Any, j: int, value: Any) -> Fraction:
        """Sum over the rows of class k of weight times value(cell of column j); missing cells are left out."""
        return sum(
            (
                w * value(row[j])
                for row, label, w in zip(self.X, self.y, self.weight, strict=True)
                if label == k and row[j] is not None
            ),
            Fraction(0),
        )

    @property
    def n_columns(self) -> int:
        return len(self.X[0])


def feature_sums(rows: Rows) -> list[list[Fraction]]:
    """Sum of every feature over the rows of every class: [class][feature]."""
    return [[rows.sum_of(k, j, lambda x: x) for j in range(rows.n_columns)] for k in rows.classes]


def multinomial(rows: Rows, alpha: Sequence[Number]) -> list[list[Fraction]]:
    """P(feature | class): [class][feature]."""
    return [posterior_mean(sums, alpha) for sums in feature_sums(rows)]


def complement_counts(rows: Rows) -> list[list[Fraction]]:
    """Sum of every feature over the rows of all *other* classes: [class][feature]."""
    sums = feature_sums(rows)
    return [
        [sum((other[j] for m, other in enumerate(sums) if m != k), Fraction(0)) for j in range(rows.n_columns)]
        for k in range(len(sums))
    ]


def complement_weights(rows: Rows, alpha: Sequence[Number], *, norm: bool) -> list[list[Any]]:
    """-log P(feature | all other classes), divided by their sum with `norm`: [class][feature], +inf where P = 0.

    Divided by their sum, infinite weights share it equally: the limit of vanishing smoothing.
    """
    with mpmath.workdps(DIGITS):
        weights = [[-log(share) for share in posterior_mean(counts, alpha)] for counts in complement_counts(rows)]
        if not norm:
            return weights
        return [_divided_by_sum(of_class) for of_class in weights]


def _divided_by_sum(weights: list[Any]) -> list[Any]:
    infinite = [w == mpmath.inf for w in weights]
    if any(infinite):
        return [mpmath.mpf(1) / sum(infinite) if i else mpmath.mpf(0) for i in infinite]
    total = mpmath.fsum(weights)
    return [w / total if total else w for w in weights]


def bernoulli(
    rows: Rows, present_alpha: Sequence[Number], absent_alpha: Sequence[Number], threshold: float = 0
) -> list[list[list[Fraction]]]:
    """P(absent | class) and P(present | class): [class][feature][0 or 1]."""
    return [
        [
            posterior_mean(
                [rows.sum_of(k, j, lambda x: x <= threshold), rows.sum_of(k, j, lambda x: x > threshold)],
                [absent_alpha[j], present_alpha[j]],
            )
            for j in range(rows.n_columns)
        ]
        for k in rows.classes
    ]


def categorical(
    rows: Rows, pseudo_counts: Sequence[Sequence[Number]], *, missing_alpha: Sequence[Number] | None = None
) -> list[list[list[Fraction]]]:
    """P(state | class): [class][column][state], states being the codes 0, 1, ... .

    `pseudo_counts[j]` has one number for each state of column j. With `missing_alpha`, missing is one more
    state, the last.
    """
    result = []
    for k in rows.classes:
        of_class = []
        for j, pseudo in enumerate(pseudo_counts):
            counts = [rows.sum_of(k, j, lambda x, v=v: x == v) for v in range(len(pseudo))]
            if missing_alpha is not None:
                members = [(row[j], w) for row, label, w in zip(rows.X, rows.y, rows.weight, strict=True) if label == k]
                counts.append(sum((w for cell, w in members if cell is None), Fraction(0)))
                pseudo = [*pseudo, missing_alpha[j]]
            of_class.append(posterior_mean(counts, pseudo))
        result.append(of_class)
    return result


# ------------------------------------------------------------------ scores

Factors = list[tuple[Fraction, Fraction]]
"""Probabilities and the powers they enter a product with."""


def count_factors(probability: list[Fraction], row: list[Fraction | None]) -> Factors:
    """Factors of a row of counts under P(feature | class)."""
    return [(p, x) for p, x in zip(probability, row, strict=True) if x is not None]


def mark_factors(probability: list[list[Fraction]], row: list[Fraction | None], threshold: float = 0) -> Factors:
    """Factors of a row of marks under P(absent | class), P(present | class); a missing cell has none."""
    return [(p[x > threshold], Fraction(1)) for p, x in zip(probability, row, strict=True) if x is not None]


def state_factors(
    probability: list[list[Fraction]], row: list[Fraction | None], *, missing_is_state: bool = False
) -> Factors:
    """Factors of a row of codes; a missing cell has none, unless it is a state (the last)."""
    cells = [
        (p, -1 if x is None else int(x))
        for p, x in zip(probability, row, strict=True)
        if missing_is_state or x is not None
    ]
    return [(p[code], Fraction(1)) for p, code in cells]


def joint(prior: Fraction, factors: Factors) -> Fraction:
    """P(class, row), for powers that are whole; 0 to the power 0 is 1."""
    return prior * prod(p ** int(x) for p, x in factors)


def log_joint(prior: Fraction, factors: Factors) -> Any:
    """Logarithm of P(class, row), for any powers; 0 times -inf is 0."""
    with mpmath.workdps(DIGITS):
        return log(prior) + mpmath.fsum(_number(x) * log(p) for p, x in factors if x != 0)


def size_of_terms(prior: Fraction, factors: Factors) -> float:
    """Sum of the sizes of the terms of a log-joint, each rounding of which may cost a share of it.

    A log-probability near 0 is the difference of two logarithms and rounds like a number of size 1: hence the 1.
    """
    terms = [(prior, Fraction(1)), *factors]
    return sum(float(x) * (1 + abs(float(log(p)))) for p, x in terms if x != 0 and p != 0)


def posterior(joints: list[Fraction], prior: list[Fraction]) -> list[Fraction]:
    """Share of each class in P(row); where every class is impossible, the prior."""
    evidence = sum(joints)
    return [joint / evidence for joint in joints] if evidence else list(prior)


def log_evidence(log_joints: list[Any]) -> Any:
    """Logarithm of P(row) from those of P(class, row)."""
    top = max(log_joints)
    if top == -mpmath.inf:
        return top
    with mpmath.workdps(DIGITS):
        return top + mpmath.log(mpmath.fsum(mpmath.exp(value - top) for value in log_joints))


def log_posterior(log_joints: list[Any], prior: list[Fraction]) -> list[Any]:
    """Logarithm of each class's share in P(row); where every class is impossible, of the prior."""
    evidence = log_evidence(log_joints)
    if evidence == -mpmath.inf:
        return [log(p) for p in prior]
    with mpmath.workdps(DIGITS):
        return [value - evidence for value in log_joints]


def complement_scores(weights: list[list[Any]], row: list[Fraction | None]) -> list[Any]:
    """sum_j x_j weight_kj of each class; classes that meet less infinite weight than another have none: -inf.

    That is the limit of vanishing smoothing, in which every infinite weight grows alike and outweighs all that
    is finite.
    """
    with mpmath.workdps(DIGITS):
        cells = [(j, x) for j, x in enumerate(row) if x]
        infinite = [sum(x for j, x in cells if w[j] == mpmath.inf) for w in weights]
        finite = [mpmath.fsum(_number(x) * w[j] for j, x in cells if w[j] != mpmath.inf) for w in weights]
    return [score if met == max(infinite) else -mpmath.inf for score, met in zip(finite, infinite, strict=True)]


def _number(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / mpmath.mpf(x.denominator)


def as_float(value: Any) -> float:
    """The nearest float."""
    return float(value) if value != -mpmath.inf else -inf
