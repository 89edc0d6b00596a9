"""A text or a block of counts, as an explanation looks at it: word by word."""

from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.text import TextTable
from bayeswater.explain.options import Options
from bayeswater.explain.view import Cell, ColumnView
from bayeswater.explain.wording import ratio
from bayeswater.inference.feature_columns import ComplementColumns
from bayeswater.inference.word_columns import WordColumns
from bayeswater.typing import Array

SHOWN_WORDS = 3


class Word(NamedTuple):
    """A word of a text, and what it adds to the log-odds, however often it stands there."""

    word: Any
    contribution: float


class WordView(ColumnView):
    """A column of words."""

    terms: WordColumns
    table: TextTable

    @property
    def is_score(self) -> bool:
        """Whether contributions are differences of scores rather than of log-likelihoods."""
        return isinstance(self.terms.reading, ComplementColumns)

    def cell(self, row: int) -> Cell:
        """Tell what became of a text."""
        return Cell.MISSING if self.table.missing[row] else Cell.READ

    def words(self, row: int, chosen: int, against: int) -> list[Word]:
        """Known words of a text, those that weigh most first."""
        codes, scores, _ = self.terms.word_scores(self.table.counts, row)
        differences = _difference(scores[:, chosen], scores[:, against])
        order = np.argsort(-np.abs(differences), kind="stable")
        return [Word(self.name_of(int(codes[i])), float(differences[i])) for i in order]

    def absent_words(self, row: int, chosen: int, against: int) -> float:
        """What the words add to the log-odds that a text does not have: something only where words are marked."""
        _, _, rest = self.terms.word_scores(self.table.counts, row)
        return float(_difference(rest[chosen], rest[against]))

    def name_of(self, code: int) -> Any:
        """Name a word; a hashed one, or the column of a block without names, by its number."""
        if not self.table.vocabulary.is_coded:
            return self.table.vocabulary.states[code]
        names = self.table.counts.names
        if names is not None:
            return names[code]
        return f"{'column' if self.column.analyser is None else 'hash'} {code}"

    def reading(self, row: int, chosen: int, against: int) -> str:
        """Name the words that weigh most, and how much each speaks for the chosen class or (1 / ...) against it."""
        words = [f"'{word}' {_factor(part)}" for word, part in self.words(row, chosen, against)[:SHOWN_WORDS]]
        absent = self.absent_words(row, chosen, against)
        if absent and not self.table.missing[row]:
            return ", ".join([*(words or ["no known word"]), f"absent words {_factor(absent)}"])
        return ", ".join(words) or "no known word"

    def options(self, row: int, chosen: int) -> Options | None:
        """List the words that could be left out, each as far as the next."""
        if self.table.missing[row]:
            return None
        codes, scores = self.terms.word_gains(self.table.counts, row)
        if not len(codes) or not np.isfinite(scores).all():
            return None
        names = [self.name_of(int(code)) for code in codes]
        order = np.argsort(scores.max(axis=1) - scores[:, chosen], kind="stable")  # what speaks for it most, first
        return Options(
            order, np.ones(len(codes)), lambda place: f"without '{names[place]}'", lambda place: names[place]
        )

    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of the text without each of some words: (n, n_classes)."""
        _, scores = self.terms.word_gains(self.table.counts, row)
        return self.own_terms(row) - scores[cells]


def _difference(a: Any, b: Any) -> Any:
    """Subtract scores; two that are infinite of one sign do not tell the classes apart."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, a - b)


def _factor(contribution: float) -> str:
    times = ratio(abs(contribution))
    return f"x {times}" if contribution >= 0 or times == "1" else f"x 1/{times}"
