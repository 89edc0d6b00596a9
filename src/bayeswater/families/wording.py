"""Numbers, values and ratios in words."""

from math import exp, isinf
from typing import Any

import numpy as np

from bayeswater.data.display_width import shortened
from bayeswater.phrases import EN, Language, in_language
from bayeswater.typing import is_number

ALIKE = 1.05
"""A ratio up to this one, or down to its inverse, is as good as even."""

VALUE_WIDTH = 32
"""Columns of a terminal that a value may take in a sentence."""


def quoted(label: Any) -> str:
    """Write a class label: strings in quotes.

    >>> quoted(np.str_("late")), quoted(np.int64(3))
    ("'late'", '3')
    """
    label = label.item() if isinstance(label, np.generic) else label
    return repr(label) if isinstance(label, str) else str(label)


def shown(value: Any) -> str:
    r"""Write the value of a cell on one line, as short as it can be without losing its meaning.

    >>> shown(52000.0), shown(0.1234567), shown("two\nlines"), shown("")
    ('52000', '0.123457', 'two lines', "''")
    """
    if is_number(value) and not isinstance(value, bool | np.bool_):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.6g}"
    text = " ".join(str(value).split())
    return shortened(text, VALUE_WIDTH) if text else "''"


def cell(value: Any, language: Language = EN) -> str:
    """Write what a cell is, behind the name of its column.

    >>> cell("red"), cell(None)
    ('= red', 'is empty')
    """
    if value is None:
        return language.say("is empty")
    return language.say("= value", value=shown(in_language(value, language)))


def ratio(log_ratio: float, language: Language = EN) -> str:
    """Write how many times one thing is the other: two digits.

    >>> [ratio(x) for x in (0.0, 1.163, 4.8, 9.0, 20.0, np.inf)]
    ['1', '3.2', '120', '8,100', '4.9e+08', 'infinitely many']
    """
    if isinf(log_ratio):
        return language.say("infinite")
    if log_ratio > np.log(1e6):
        return f"{10 ** (log_ratio / np.log(10) % 1):.1f}e+{int(log_ratio / np.log(10)):02d}"
    times = float(f"{exp(log_ratio):.2g}")
    return f"{times:,.0f}" if times >= 10 else f"{times:.2g}"


def times_as_likely(
    log_ratio: float, chosen: Any, against: Any, *, is_score: bool = False, language: Language = EN
) -> str:
    """Say for which of two classes a cell speaks, and how strongly.

    >>> times_as_likely(1.163, "late", "repaid")
    "3.2 times as likely among 'late' as among 'repaid'"
    >>> times_as_likely(-0.7, "late", "repaid")
    "2 times as likely among 'repaid' as among 'late'"
    >>> times_as_likely(np.inf, "late", "repaid")
    "impossible among 'repaid'"
    >>> times_as_likely(1.163, "late", "repaid", is_score=True)
    "speaks for 'late' by a factor of 3.2"
    """
    for_one, other = (chosen, against) if log_ratio >= 0 else (against, chosen)
    size = abs(log_ratio)
    if size <= np.log(ALIKE):
        return language.say("as likely", a=quoted(chosen), b=quoted(against))
    if isinf(size):
        return language.say("impossible", a=quoted(other))
    if is_score:  # of complement counts, which are no likelihoods
        return language.say("score", a=quoted(for_one), times=ratio(size))
    return language.say("times as likely", a=quoted(for_one), b=quoted(other), times=ratio(size))


def odds(log_odds: float, language: Language = EN) -> str:
    """Write odds as people say them.

    >>> odds(2.6), odds(-0.7), odds(0.0)
    ('13 to 1', '1 to 2', '1 to 1')
    """
    more = ratio(abs(log_odds), language)
    return language.say("odds", a=more, b=1) if log_odds >= 0 else language.say("odds", a=1, b=more)


def probability(p: float, language: Language = EN) -> str:
    """Write a probability with as many digits as its distance from 0 and 1 needs.

    What is nearer than a millionth is not told: it may be rounded.

    >>> [probability(p) for p in (0.923, 0.9997, 0.00002, 1.0)]
    ['0.92', '0.9997', '0.00002', 'over 0.999999']
    """
    distance = min(p, 1 - p)
    if distance < 1e-6:
        return language.say("over", value="0.999999") if p > 0.5 else language.say("under", value="0.000001")
    digits = 2 if distance >= 0.01 else int(np.ceil(-np.log10(distance)))
    return f"{p:.{digits}f}"
