"""Naive Bayes of a mixed table with fifty digits: one column after the other, each by the definition of its family.

Sums are exact fractions, taken by plain loops over the rows; only logarithms are rounded, to fifty digits. `None`
stands for a missing cell. A row is left out by giving it less weight: domains and vocabularies stay as they are.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import factorial
from typing import Any

import mpmath
import numpy as np
from tests.oracles.exact import DIGITS, log, posterior_mean
from tests.oracles.precise import Moments, Normal, moments_of, predictive

FLOOR = 1e-6

ZERO = mpmath.mpf(0)


@dataclass(frozen=True)
class Column:
    """Cells of one column, and how they are read.

    `states` is the domain of categories; `pseudo_counts` gives each its own instead of `alpha`; `prior` is a
    Normal-inverse-gamma; `idf` weighs the words of a text.
    """

    family: str
    cells: Sequence[Any]
    alpha: Any = 1
    states: Sequence[Any] = ()
    pseudo_counts: Mapping[Any, Any] | None = None
    cuts: Sequence[float] = ()
    prior: Any = None
    floor: float = FLOOR
    missing_is_state: bool = False
    idf: bool = False
    words: Callable[[str], list[str]] = str.split


@dataclass(frozen=True)
class Mixed:
    """Columns by name, labels, weights and the classes there are; `whole` are the rows that idf is taken from."""

    columns: Mapping[str, Column]
    y: Sequence[Any]
    weight: Sequence[Fraction]
    classes: Sequence[Any]
    class_alpha: Any = 1
    class_prior: Sequence[float] | None = None
    whole: Any = field(default=None)

    @classmethod
    def of(cls, columns: Mapping[str, Column], y: Any, weight: Any = None, **given: Any) -> "Mixed":
        """Take labels and weights as they come."""
        labels = list(y)
        weights = [Fraction(1)] * len(labels) if weight is None else [Fraction(float(w)) for w in weight]
        return cls(columns, labels, weights, given.pop("classes", None) or sorted(set(labels)), **given)

    def without(self, i: int) -> "Mixed":
        """Leave row i out, or one of the equal rows that it stands for."""
        weight = [*self.weight]
        weight[i] -= min(weight[i], 1)
        return replace(self, weight=weight, whole=self)

    def log_prior(self) -> list[Any]:
        """Logarithm of P(class)."""
        if self.class_prior is not None:
            return [log(Fraction(p)) for p in self.class_prior]
        count = [
            sum((w for y, w in zip(self.y, self.weight, strict=True) if y == k), Fraction(0)) for k in self.classes
        ]
        return [log(p) for p in posterior_mean(count, [self.class_alpha] * len(count))]

    def log_joint(self, row: Mapping[str, Any]) -> list[Any]:
        """Logarithm of P(row, class) for each class."""
        total = self.log_prior()
        with mpmath.workdps(DIGITS):
            for name, column in self.columns.items():
                terms = FAMILIES[column.family](self, column, row[name]) if _counts(column, row[name]) else None
                total = total if terms is None else [a + b for a, b in zip(total, terms, strict=True)]
        return total

    def log_posterior(self, row: Mapping[str, Any]) -> list[Any]:
        """Logarithm of P(class | row); the prior, where every class is impossible."""
        joint = self.log_joint(row)
        with mpmath.workdps(DIGITS):
            evidence = sum(mpmath.exp(term) for term in joint)
            return [term - mpmath.log(evidence) for term in joint] if evidence else self.log_prior()

    def row(self, i: int) -> dict[str, Any]:
        """Cells of row i."""
        return {name: column.cells[i] for name, column in self.columns.items()}

    def of_class(self, column: Column, k: Any) -> list[tuple[Any, Fraction]]:
        """Cells of one class, with their weights; missing ones too."""
        rows = zip(column.cells, self.y, self.weight, strict=True)
        return [(x, w) for x, label, w in rows if label == k and w]


def _counts(column: Column, x: Any) -> bool:
    return x is not None or column.missing_is_state


def categorical(rows: Mixed, column: Column, x: Any) -> list[Any] | None:
    """P(state | class) = (N_kv + a_v) / (N_k + sum of a)."""
    states = [*column.states, *([None] if column.missing_is_state else [])]
    if x not in states:
        return None
    given = column.pseudo_counts or dict.fromkeys(states, column.alpha)
    found = []
    for k in rows.classes:
        count = Counter()
        for cell, w in rows.of_class(column, k):
            count[cell] += w
        shares = posterior_mean([count[state] for state in states], [given[state] for state in states])
        found.append(log(shares[states.index(x)]))
    return found


def binned(rows: Mixed, column: Column, x: Any) -> list[Any] | None:
    """Categories of the number of cuts at or below a value."""

    def place(cell: Any) -> Any:
        return None if cell is None else sum(cut <= cell for cut in column.cuts)

    codes = replace(column, cells=[place(cell) for cell in column.cells], states=range(len(column.cuts) + 1))
    return categorical(rows, codes, place(x))


def gaussian(rows: Mixed, column: Column, x: Any) -> list[Any] | None:
    """Normal density of largest likelihood, its variance no less than a share of the column's; or Student's t."""
    exact = [None if cell is None else Fraction(cell) for cell in column.cells]
    column = replace(column, cells=exact)
    of_class = [moments_of(rows.of_class(column, k)) for k in rows.classes]
    if column.prior is not None:
        return [predictive(column.prior, m).log_density(Fraction(x)) for m in of_class]
    pooled = moments_of([cell for k in rows.classes for cell in rows.of_class(column, k)])
    if not pooled.variance:
        return None
    least = Fraction(column.floor) * pooled.variance

    def density(m: Moments) -> Normal:
        m = m if m.weight else pooled
        return Normal(m.mean, max(m.variance, least))

    return [density(m).log_density(Fraction(x)) for m in of_class]


def lognormal(rows: Mixed, column: Column, x: Any) -> list[Any] | None:
    """Normal density of the logarithm, divided by the value."""
    if x <= 0:
        return None
    logs = [None if cell is None else _log(cell) for cell in column.cells]
    terms = gaussian(rows, replace(column, cells=logs), _log(x))
    return terms and [term - mpmath.log(mpmath.mpf(x)) for term in terms]


def _log(x: Any) -> Fraction:
    """Logarithm of a value, as the fraction that its fifty digits are: equal values stay equal."""
    with mpmath.workdps(DIGITS):
        return Fraction(*mpmath.libmp.to_rational(mpmath.log(mpmath.mpf(float(x)))._mpf_))


def poisson(rows: Mixed, column: Column, x: Any) -> list[Any] | None:
    """rate^x exp(-rate) / x!, with rate = (total + a) / weight."""
    there = {k: [(Fraction(cell), w) for cell, w in rows.of_class(column, k) if cell is not None] for k in rows.classes}
    everything = [cell for cells in there.values() for cell in cells]
    if not everything:
        return None

    def rate(cells: list[tuple[Fraction, Fraction]]) -> Fraction:
        cells = cells or everything
        return (sum(x * w for x, w in cells) + Fraction(column.alpha)) / sum(w for _, w in cells)

    def term(rate: Fraction) -> Any:
        times = int(x) * log(rate) if x else ZERO
        return times - mpmath.mpf(rate.numerator) / rate.denominator - mpmath.log(factorial(int(x)))

    return [term(rate(there[k])) for k in rows.classes]


def _texts(rows: Mixed, column: Column) -> tuple[list[str], list[list[tuple[Counter, Fraction]]]]:
    """Vocabulary, and the counts of the words of each text with its weight, class by class."""
    vocabulary = sorted({word for cell in column.cells if cell is not None for word in column.words(cell)})
    by_class = [
        [(Counter(column.words(cell)), w) for cell, w in rows.of_class(column, k) if cell is not None]
        for k in rows.classes
    ]
    return vocabulary, by_class


def _word_weights(rows: Mixed, column: Column, vocabulary: list[str]) -> dict[str, Any]:
    """log((1 + n) / (1 + n_j)) + 1 over all rows, those that are left out too; 1 without idf."""
    if not column.idf:
        return dict.fromkeys(vocabulary, mpmath.mpf(1))
    texts = [text for k in _texts(rows.whole or rows, column)[1] for text in k]
    n = sum(w for _, w in texts)
    with_word = {word: sum((w for words, w in texts if words[word]), Fraction(0)) for word in vocabulary}
    return {word: log((1 + n) / (1 + with_word[word])) + 1 for word in vocabulary}


def _word_sums(rows: Mixed, column: Column) -> tuple[list[str], dict[str, Any], list[list[Any]]]:
    vocabulary, by_class = _texts(rows, column)
    weight = _word_weights(rows, column, vocabulary)
    sums = [
        [weight[word] * _mpf(sum((w * words[word] for words, w in texts), Fraction(0))) for word in vocabulary]
        for texts in by_class
    ]
    return vocabulary, weight, sums


def _word_scores(column: Column, vocabulary: list[str], weight: Any, sums: list[list[Any]], x: str) -> list[Any]:
    """Sum over the words of a text of count times weight times log((n_j + a) / (n + S a)), for each row of sums."""
    alpha, found = _mpf(Fraction(column.alpha)), []
    for counts in sums:
        total = sum(counts) + len(vocabulary) * alpha
        shares = {
            word: (n + alpha) / total if total else mpmath.mpf(1) / len(vocabulary)
            for word, n in zip(vocabulary, counts, strict=True)
        }
        words = {word: n for word, n in Counter(column.words(x)).items() if word in shares}
        found.append(
            sum((n * weight[w] * (mpmath.log(shares[w]) if shares[w] else -mpmath.inf) for w, n in words.items()), ZERO)
        )
    return found


def multinomial(rows: Mixed, column: Column, x: Any) -> list[Any]:
    """Counts of words."""
    vocabulary, weight, sums = _word_sums(rows, column)
    return _word_scores(column, vocabulary, weight, sums, x)


def complement(rows: Mixed, column: Column, x: Any) -> list[Any]:
    """Counts of words in all other classes: what is rare there speaks for the class."""
    vocabulary, weight, sums = _word_sums(rows, column)
    others = [
        [sum((sums[m][j] for m in range(len(sums)) if m != k), ZERO) for j in range(len(vocabulary))]
        for k in range(len(sums))
    ]
    return [-score for score in _word_scores(column, vocabulary, weight, others, x)]


def marks(rows: Mixed, column: Column, x: Any) -> list[Any]:
    """Every word of the vocabulary is there or not: (n_kj + a) / (n_k + 2 a)."""
    vocabulary, by_class = _texts(rows, column)
    there, found = set(column.words(x)), []
    for texts in by_class:
        n, total = sum((w for _, w in texts), Fraction(0)), ZERO
        for word in vocabulary:
            present = sum((w for words, w in texts if words[word]), Fraction(0))
            share = posterior_mean([present, n - present], [column.alpha] * 2)
            total += log(share[0] if word in there else share[1])
        found.append(total)
    return found


def _mpf(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


FAMILIES: dict[str, Callable[[Mixed, Column, Any], list[Any] | None]] = {
    "categorical": categorical,
    "bernoulli": categorical,
    "binned": binned,
    "gaussian": gaussian,
    "lognormal": lognormal,
    "poisson": poisson,
    "multinomial": multinomial,
    "complement": complement,
    "marks": marks,
}


def floats(values: Sequence[Any]) -> Any:
    """Round exact numbers to floats; those beyond are infinite."""
    return np.array([float(value) for value in values])
