"""Equations of numbers in XDSL, as far as they are linear with normal noise, for each configuration of states.

    weight = Choose(sex, -90 + 0.9*height + Normal(0, 8), -95 + height + Normal(0, 9.5))

An expression is made of numbers, names of parents, + - * / and parentheses, and of the functions

    Normal(mean, sd)              noise around a mean
    Choose(parent, e0, e1, ...)   the expression of the parent's state, by its number
    Switch(parent, "a", ea, ...)  the same by its name; a last expression alone is for all others
    If(parent = "a", e, f)        one or the other

What multiplies or divides is a plain number. All else has no linear form, and is refused with its place.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from bayeswater.records import record

TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<text>"[^"]*")|(?P<mark>[-+*/(),=]))"""
)

DEEPEST = 100
"""Levels of parentheses and functions that are read."""


class EquationError(ValueError):
    """An expression that is not linear, or none."""


@record
class Linear:
    """A linear function of numbers, with independent noise."""

    constant: float
    slopes: Mapping[str, float] = field(default_factory=dict)
    variance: float = 0.0

    def plus(self, other: "Linear", sign: float = 1.0) -> "Linear":
        """Add another, or take it away."""
        slopes = dict(self.slopes)
        for name, slope in other.slopes.items():
            slopes[name] = slopes.get(name, 0.0) + sign * slope
        return Linear(self.constant + sign * other.constant, slopes, self.variance + other.variance)

    def times(self, factor: float) -> "Linear":
        """Multiply by a number."""
        slopes = {name: factor * slope for name, slope in self.slopes.items()}
        return Linear(factor * self.constant, slopes, factor * factor * self.variance)

    @property
    def is_constant(self) -> bool:
        """Whether it is a plain number."""
        return not any(self.slopes.values()) and self.variance == 0


def read_equation(text: str, states: Mapping[str, Sequence[str]], numbers: Sequence[str]) -> Callable[..., Linear]:
    """Read ``name = expression``, or the expression alone.

    Parameters
    ----------
    states : names of the states of each discrete parent
    numbers : names of the numeric parents

    Returns
    -------
    function
        Of the codes of the discrete parents by name: the linear function that holds there.

    Examples
    --------
    >>> found = read_equation("y = 2*(x - 1) + Normal(0, 3)", {}, ["x"])
    >>> found({})
    Linear(constant=-2.0, slopes={'x': 2.0}, variance=9.0)
    """
    tokens = _tokens(text)
    if len(tokens) > 1 and tokens[0][0] == "name" and tokens[1][1] == "=":
        tokens = tokens[2:]

    def at(codes: Mapping[str, int]) -> Linear:
        reader = _EquationReader(text, tokens, states, numbers, codes)
        found = reader.expression(0)
        reader.expect_end()
        return found

    return at


def written_equation(name: str, expressions: Sequence[Linear], discrete: Sequence[tuple[str, int]]) -> str:
    """Write an equation: an expression for each configuration, the last discrete parent fastest.

    >>> written_equation("y", [Linear(1.0, {"x": 2.0}, 4.0), Linear(0.0)], [("s", 2)])
    'y=Choose(s,1.0+2.0*x+Normal(0,2.0),0.0)'
    """
    texts = [_written(one) for one in expressions]
    for parent, n_states in reversed(discrete):
        groups = [texts[start : start + n_states] for start in range(0, len(texts), n_states)]
        texts = [f"Choose({parent},{','.join(group)})" for group in groups]
    return f"{name}={texts[0]}"


def _written(one: Linear) -> str:
    terms = [repr(one.constant)]
    for name, slope in one.slopes.items():
        terms += [f"({slope!r})*{name}" if slope < 0 else f"{slope!r}*{name}"] if slope else []
    return "+".join([*terms, *([f"Normal(0,{one.variance**0.5!r})"] if one.variance else [])])


def _tokens(text: str) -> list[tuple[str, str]]:
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise EquationError(f"{text[place : place + 20]!r} is no part of a linear equation")
        found.append((str(match.lastgroup), str(match[match.lastgroup or 0])))
        place = match.end()
    return found


@dataclass
class _EquationReader:
    text: str
    tokens: list[tuple[str, str]]
    states: Mapping[str, Sequence[str]]
    numbers: Sequence[str]
    codes: Mapping[str, int]
    place: int = 0

    def expression(self, depth: int) -> Linear:
        if depth > DEEPEST:
            self._refuse("it is nested too deeply")
        total = self._term(depth)
        while (mark := self._peek()) in ("+", "-"):
            self.place += 1
            total = total.plus(self._term(depth), 1.0 if mark == "+" else -1.0)
        return total

    def expect_end(self) -> None:
        if self.place < len(self.tokens):
            self._refuse(f"{self._peek()!r} stands behind its end")

    def _term(self, depth: int) -> Linear:
        total = self._factor(depth)
        while (mark := self._peek()) in ("*", "/"):
            self.place += 1
            other = self._factor(depth)
            if mark == "*" and total.is_constant:
                total, other = other, total
            if not other.is_constant or (mark == "/" and other.constant == 0):
                self._refuse("it multiplies or divides by what is no plain number")
            total = total.times(other.constant if mark == "*" else 1 / other.constant)
        return total

    def _factor(self, depth: int) -> Linear:
        kind, word = self._take()
        if kind == "number":
            return Linear(float(word))
        if word == "-":
            if depth > DEEPEST:
                self._refuse("it is nested too deeply")
            return self._factor(depth + 1).times(-1.0)
        if word == "(":
            found = self.expression(depth + 1)
            self._expect(")")
            return found
        if kind == "name" and self._peek() == "(":
            self.place += 1
            return self._function(word, depth + 1)
        if word in self.numbers:
            return Linear(0.0, {word: 1.0})
        return self._refuse(f"{word!r} is no number, numeric parent or function that is known")

    def _function(self, name: str, depth: int) -> Linear:
        if name == "Normal":
            mean = self.expression(depth)
            self._expect(",")
            sd = self.expression(depth)
            self._expect(")")
            if not sd.is_constant or sd.constant < 0:
                self._refuse("a standard deviation is no plain number from 0 on")
            return mean.plus(Linear(0.0, {}, sd.constant**2))
        if name == "Choose":
            return self._chosen(depth)
        if name == "Switch":
            return self._switched(depth)
        if name == "If":
            code, label = self._comparison()
            self._expect(",")
            yes = self.expression(depth)
            self._expect(",")
            no = self.expression(depth)
            self._expect(")")
            return yes if code == label else no
        return self._refuse(f"the function {name!r} has no linear form")

    def _chosen(self, depth: int) -> Linear:
        _, code = self._discrete()
        found = []
        while self._peek() == ",":
            self.place += 1
            found.append(self.expression(depth))
        self._expect(")")
        if code >= len(found):
            self._refuse("Choose has fewer expressions than states")
        return found[code]

    def _switched(self, depth: int) -> Linear:
        parent, code = self._discrete()
        found: Linear | None = None
        while self._peek() == ",":
            self.place += 1
            if self.place < len(self.tokens) and self.tokens[self.place][0] == "text":
                label = self._label(parent)
                self._expect(",")
                own = self.expression(depth)
                found = own if label == code else found
            else:
                other = self.expression(depth)
                found = other if found is None else found
        self._expect(")")
        return found if found is not None else self._refuse("Switch has no expression for a state")

    def _comparison(self) -> tuple[int, int]:
        parent, code = self._discrete()
        self._expect("=")
        if self._peek() == "=":
            self.place += 1
        return code, self._label(parent)

    def _discrete(self) -> tuple[str, int]:
        _, word = self._take()
        if word not in self.states:
            self._refuse(f"{word!r} is no parent with states")
        return word, self.codes[word]

    def _label(self, parent: str) -> int:
        kind, word = self._take()
        label = word.strip('"')
        if kind != "text" or label not in self.states[parent]:
            self._refuse(f"{word} is no state of {parent!r}")
        return list(self.states[parent]).index(label)

    def _peek(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def _take(self) -> tuple[str, str]:
        if self.place >= len(self.tokens):
            self._refuse("it ends too early")
        self.place += 1
        return self.tokens[self.place - 1]

    def _expect(self, mark: str) -> None:
        if self._take()[1] != mark:
            self._refuse(f"{mark!r} was expected before {self.tokens[self.place - 1][1]!r}")

    def _refuse(self, why: str) -> NoReturn:
        raise EquationError(f"{self.text.strip()[:80]!r} is not read: {why}")
