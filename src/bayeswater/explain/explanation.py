"""`RowExplanation`: why one row got its class rather than another.

    log-odds = log P(chosen) - log P(against) + sum over columns of (log P(cell | chosen) - log P(cell | against))

The first difference is the intercept, each of the others the contribution of a column. They add up exactly: that is
what makes naive Bayes explain itself.
"""

from collections.abc import Callable
from dataclasses import field
from datetime import date, time
from functools import cached_property
from itertools import accumulate
from math import isfinite, isnan
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import write_frame
from bayeswater.data.reading.dates import column_title
from bayeswater.explain.turning import Turn, Turning
from bayeswater.families.view import Word
from bayeswater.families.wording import ALIKE, cell, odds, probability, quoted, ratio, times_as_likely
from bayeswater.families.words.words import SHOWN_WORDS
from bayeswater.markup import html_table, paragraphs, step
from bayeswater.phrases import EN, Language
from bayeswater.records import record

SHOWN_COLUMNS = 8
SHOWN_REASONS = 3


class Contribution(NamedTuple):
    """What a column adds to the log-odds, and the value it has."""

    column: str
    value: Any
    contribution: float


@record(repr=False)
class RowExplanation:
    """The reasons for one prediction.

    Attributes
    ----------
    prediction, against : the class that was chosen, and the one it is compared with
    log_odds : logarithm of P(prediction | row) / P(against | row), before calibration
    intercept : the part of it that the class prior has
    contributions : list of (column, value, contribution), the largest first; with the intercept they sum to `log_odds`
    probability : P(prediction | row) before calibration
    calibrated_probability, calibrated_log_odds : the same after it; None if the model is not calibrated
    missing : columns that are left out, since the row has no value there
    unseen : columns that are left out, since their value was never seen
    words : for each column of text, its words and what they add to the log-odds, the largest first
    absent_words : for each column of text, what the words add that it does not have: 0 unless words are marked; with
        `words` they sum to the contribution of the column
    reasons : the largest contributions in words
    turns : single changes after which another class wins, at most three: the nearest of the cells that can be (states
        that occur, numbers of the range that was seen), the least change first, in units of the spread of its column
    turns_together : where there are none, two changes that together do, or nothing
    summary : one line

    Where a cell is impossible in a class, its contribution is infinite and it decides alone. A row that is impossible
    in both classes is decided by the class prior: `log_odds` is the intercept, and the columns do not count.
    """

    prediction: Any
    against: Any
    log_odds: float
    intercept: float
    contributions: list[Contribution]
    probability: float
    calibrated_probability: float | None
    calibrated_log_odds: float | None
    missing: list[str]
    unseen: list[str]
    words: dict[str, list[Word]]
    absent_words: dict[str, float]
    is_impossible: bool
    _readings: dict[str, str] = field(compare=False)
    _scores: frozenset[str] = field(compare=False)  # columns whose contributions are scores
    _find_turning: Callable[[], Turning] = field(compare=False)
    _language: Language = field(default=EN, compare=False)
    _is_weighted: bool = field(default=False, compare=False)  # with weights a shift of each class is learned
    _prior_is_set: bool = field(default=False, compare=False)
    _library: str | None = field(default=None, compare=False)

    @cached_property
    def _search(self) -> Turning:
        return self._find_turning()

    @cached_property
    def turns(self) -> list[Turn]:
        """Single changes after which another class wins, the least first, at most three."""
        return self._search.turns()

    @cached_property
    def turns_together(self) -> list[Turn]:
        """Two changes that together let another class win, where no single one does; or nothing."""
        return [] if self.turns else self._search.together()

    @cached_property
    def reasons(self) -> list[str]:
        """The largest contributions in words, for the decision or against it."""
        notable = [one for one in self._read if abs(one.contribution) > np.log(ALIKE)]
        say = self._language.say
        return [say("named", name=self._what(one), what=self.how(one)) for one in notable[:SHOWN_REASONS]]

    @property
    def summary(self) -> str:
        """One line: the decision, what speaks for it and what against."""
        notable = [one for one in self._read if abs(one.contribution) > np.log(ALIKE)]
        speaking_for = [self._named(one) for one in notable if one.contribution > 0][:SHOWN_REASONS]
        speaking_against = [self._named(one) for one in notable if one.contribution < 0][:1]
        say = self._language.say
        why = say("why", names=self._listed(speaking_for)) if speaking_for else say("why prior")
        but = say("but", name=speaking_against[0]) if speaking_against else ""
        if self.is_impossible:
            why, but = say("why impossible"), ""
        p = self.probability if self.calibrated_probability is None else self.calibrated_probability
        two = {"prediction": quoted(self.prediction), "against": quoted(self.against)}
        return say("summary", **two, p=probability(p, self._language), why=why, but=but)

    def _listed(self, names: list[str]) -> str:
        """Join names as in a sentence: a, b and c."""
        *first, last = names
        say = self._language.say
        return say("and", first=say("comma").join(first), last=last) if first else last

    @property
    def _read(self) -> list[Contribution]:
        left_out = {*self.missing, *self.unseen}
        return [one for one in self.contributions if one.column not in left_out]

    def _named(self, one: Contribution) -> str:
        """Name a column by its value, a text by the words that speak as it does."""
        name = on_one_line(one.column)
        if one.column not in self.words:
            return f"{name} {cell(one.value, self._language)}"
        words = [f"'{word}'" for word, part in self.words[one.column] if part * one.contribution > 0]
        return f"{name} ({', '.join(words[:SHOWN_WORDS])})" if words else name

    def _what(self, one: Contribution) -> str:
        reading = self._readings[one.column]
        name = on_one_line(column_title(one.column, self._language))
        return f"{name} {cell(one.value, self._language)}{f' ({reading})' if reading else ''}"

    def how(self, one: Contribution) -> str:
        """Say for which of the two classes a contribution speaks, and how strongly."""
        is_score = one.column in self._scores
        two = self.prediction, self.against
        return times_as_likely(one.contribution, *two, is_score=is_score, language=self._language)

    # ------------------------------------------------------------------ in full

    def to_frame(self) -> Any:
        """Give a frame of one line for each column: its name, its value as text, and what it adds to the log-odds.

        In the library of the rows that were explained; with the intercept the contributions add up to the log-odds.
        """
        columns, values, contributions = zip(*self.contributions, strict=True) if self.contributions else ((), (), ())
        texts = [None if value is None else str(value) for value in values]
        frame = {"column": list(columns), "value": texts, "contribution": np.array(contributions, dtype=float)}
        return write_frame(frame, self._library)

    def __str__(self) -> str:
        return "\n".join([self._head(), *self._table(), *(f"  {note}" for note in self._notes())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Draw the sum as a waterfall: each step begins where the one before it ended, and the last is their sum."""
        lines = self.lines()
        ends = [*accumulate(number for _, number, _ in lines[:-1]), self.log_odds]
        finite = [0.0, *filter(isfinite, ends)]
        low, high = min(finite) - 1.0, max(finite) + 1.0  # an infinite step goes one further than all others
        places = [low if isnan(end) else min(max(end, low), high) for end in ends]
        starts = [0.0, *places[:-2], 0.0]
        rows = [
            (what, step(start, end, low, high), f"{number:+.3f}", how)
            for (what, number, how), start, end in zip(lines, starts, places, strict=True)
        ]
        return paragraphs([self._head()]) + html_table(("", "", "", ""), rows) + paragraphs(self._notes())

    def _head(self) -> str:
        language, calibrated = self._language, self.calibrated_probability
        values = {"prediction": quoted(self.prediction), "against": quoted(self.against)}
        values["p"] = probability(self.probability, language)
        if calibrated is None:
            return language.say("head", **values)
        return language.say("head calibrated", **values, calibrated=probability(calibrated, language))

    def lines(self) -> list[tuple[str, float, str]]:
        """Give what adds up, how much it is, and how it is said; their sum is the last."""
        listed, others = self._read[:SHOWN_COLUMNS], self._read[SHOWN_COLUMNS:]
        language = self._language
        rows = [(language.say(self._start), self.intercept, self._frequencies())]
        rows += [(self._what(one), one.contribution, self.how(one)) for one in listed]
        if others:
            rest = float(sum(one.contribution for one in others))
            rows.append((language.how_many(len(others), "other column"), rest, ""))
        in_odds = odds(self.log_odds, language)
        if self.calibrated_log_odds is not None:
            after = odds(self.calibrated_log_odds, language)
            in_odds = language.say("calibrated odds", odds=in_odds, calibrated=after)
        return [*rows, (language.say("log-odds"), self.log_odds, in_odds)]

    def _table(self) -> list[str]:
        rows = self.lines()
        width = max(display_width(what) for what, _, _ in rows)
        return [f"  {padded(what, width)}  {number:+9.3f}  {how}".rstrip() for what, number, how in rows]

    _start: ClassVar[str] = "before"

    def _frequencies(self) -> str:
        """Say how the class prior compares the two classes."""
        size = abs(self.intercept)
        if self._is_weighted:
            return self._language.say("frequency and shift")
        more, fewer, taken = self.prediction, self.against, "taken for " * self._prior_is_set
        if self.intercept < 0:
            more, fewer = fewer, more
        if size <= np.log(ALIKE):
            return self._language.say(f"{taken}as frequent", a=quoted(more), b=quoted(fewer))
        if not isfinite(size):
            return self._language.say("never", a=quoted(fewer))
        return self._language.say(f"{taken}times as frequent", a=quoted(more), b=quoted(fewer), times=ratio(size))

    def _notes(self) -> list[str]:
        notes, say = [], self._language.say
        if self.is_impossible:
            notes.append(say("row impossible"))
        if self.missing:
            names = [on_one_line(column_title(name, self._language)) for name in self.missing]
            notes.append(say("left out missing", names=say("comma").join(names)))
        if self.unseen:
            value_of = {one.column: one.value for one in self.contributions}
            cells = [f"{on_one_line(column)} {cell(value_of[column], self._language)}" for column in self.unseen]
            notes.append(say("left out unseen", cells=say("comma").join(cells)))
        notes.append(self._turning())
        return notes

    def _turning(self) -> str:
        """Say what would turn it."""
        say = self._language.say
        changes = [f"{on_one_line(turn.column)} {turn.change}" for turn in self.turns or self.turns_together]
        if self.turns:
            alternatives = [f"{change}{self._toward(turn)}" for change, turn in zip(changes, self.turns, strict=True)]
            return say("turns", changes=say("semicolon").join(alternatives))
        if self.turns_together:
            return say("two turn", changes=self._listed(changes), toward=self._toward(self.turns_together[0]))
        return say("none turns")

    def _toward(self, turn: Turn) -> str:
        return "" if turn.prediction == self.against else self._language.say("toward", a=quoted(turn.prediction))

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as plain values that JSON can hold; infinite numbers as "inf" and "-inf"."""
        return {
            "prediction": _plain(self.prediction),
            "against": _plain(self.against),
            "probability": self.probability,
            "calibrated_probability": self.calibrated_probability,
            "log_odds": _plain(self.log_odds),
            "calibrated_log_odds": _plain(self.calibrated_log_odds),
            "intercept": _plain(self.intercept),
            "contributions": [
                {"column": one.column, "value": _plain(one.value), "contribution": _plain(one.contribution)}
                for one in self.contributions
            ],
            "words": {
                column: [{"word": str(one.word), "contribution": _plain(one.contribution)} for one in words]
                for column, words in self.words.items()
            },
            "absent_words": {column: _plain(part) for column, part in self.absent_words.items()},
            "missing": list(self.missing),
            "unseen": list(self.unseen),
            "reasons": list(self.reasons),
            "turns": [_plain_turn(turn) for turn in self.turns],
            "turns_together": [_plain_turn(turn) for turn in self.turns_together],
            "summary": self.summary,
        }


def _plain_turn(turn: Turn) -> dict[str, Any]:
    return {name: _plain(value) for name, value in turn._asdict().items()}


def _plain(value: Any) -> Any:
    """Give a value as JSON can hold it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, date | time):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int | float) else str(value)
