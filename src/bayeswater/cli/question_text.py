r"""Questions to a network as people write them: ``P(A, B | C=c, D='odd label')`` and ``A ; B | C``.

    question     = "P" "(" terms ["|" evidence] ")"
    explanation  = "MPE" "(" [evidence] ")" | "MAP" "(" names ["|" evidence] ")"
    terms        = name ["=" state] {"," name ["=" state]}
    evidence     = given {"," given}
    given        = name "=" state | "do" "(" name "=" state {"," name "=" state} ")"
    independence = names ";" names ["|" names]
    names        = name {"," name}
    name, state  = characters without blanks, , ; | = ( ) and quotes, or any characters between quotes of one kind

Inside quotes a backslash stands before a quote or a backslash. A term ``A=a`` asks for the probability of that state
alone. What stands in ``do(...)`` is set from outside: ``P(lung | do(smoke=yes), xray=yes)``. What is wrong is shown
with a caret under it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from bayeswater.records import record
from bayeswater.structure.notation import error_at

TOKEN = re.compile(
    r"""
    (?P<mark>[(),;|=])
    |(?P<quoted>'(?:[^'\\]|\\['"\\])*'|"(?:[^"\\]|\\['"\\])*")
    |(?P<bare>[^\s(),;|='"]+)
    """,
    re.VERBOSE,
)
GIVEN = "a variable and its state are given, as in xray=yes"

END = ""
"""The mark behind the last token."""


class NameAt(NamedTuple):
    """A name or a state, and where it stands in the text."""

    text: str
    place: int


class Term(NamedTuple):
    """A variable, and its state if one is named."""

    name: NameAt
    state: NameAt | None = None


@record
class ProbabilityQuestion:
    """What is asked for, what is given, and what is set from outside."""

    targets: tuple[Term, ...]
    evidence: tuple[Term, ...] = ()
    done: tuple[Term, ...] = ()


@record
class IndependenceQuestion:
    """Which variables are asked to be independent of which, given which."""

    left: tuple[NameAt, ...]
    right: tuple[NameAt, ...]
    given: tuple[NameAt, ...]


def read_question(text: str) -> ProbabilityQuestion:
    """Read a question about probabilities.

    >>> question = read_question("P(lung | xray=yes, age='< 40')")
    >>> [term.name.text for term in question.targets], [(t.name.text, t.state.text) for t in question.evidence]
    (['lung'], [('xray', 'yes'), ('age', '< 40')])
    >>> read_question("P(lung | xray)")
    Traceback (most recent call last):
        ...
    bayeswater.errors.ParameterError: what is given has a state: write xray=..., at line 1, column 14:
      P(lung | xray)
                   ^
    """
    reader = _Reader(text)
    begin = "a question begins with P(, MPE( or MAP(, as in P(a, b | c=yes)"
    if reader.word(begin).text != "P":
        raise error_at(text, 0, begin)
    reader.take("(", begin)
    targets = reader.terms("a variable is asked for")
    evidence: list[Term] = []
    done: list[Term] = []
    if reader.goes_over("|"):
        reader.given(evidence, done)
        while reader.goes_over(","):
            reader.given(evidence, done)
    reader.take(")", "a , or a ) is needed" if evidence or done else "a , a | or a ) is needed")
    reader.take(END, "the question has ended")
    _require_once(text, [term.name for term in (*targets, *evidence, *done)])
    return ProbabilityQuestion(targets, tuple(evidence), tuple(done))


def read_explanation(text: str) -> ProbabilityQuestion:
    """Read a question about the most probable states, of all variables or of some.

    >>> [term.name.text for term in read_explanation("MPE(xray=yes)").evidence]
    ['xray']
    >>> [term.name.text for term in read_explanation("MAP(lung, tub | xray=yes)").targets]
    ['lung', 'tub']
    """
    reader = _Reader(text)
    begin = "a question about states begins with MPE( or MAP("
    kind = reader.word(begin).text
    if kind not in ("MPE", "MAP"):
        raise error_at(text, 0, begin)
    reader.take("(", begin)
    targets = tuple(map(Term, reader.names())) if kind == "MAP" else ()
    evidence: list[Term] = []
    done: list[Term] = []
    if reader.goes_over("|") or (kind == "MPE" and reader.is_word):
        reader.given(evidence, done)
        while reader.goes_over(","):
            reader.given(evidence, done)
    reader.take(")", "a , or a ) is needed")
    reader.take(END, "the question has ended")
    _require_once(text, [term.name for term in (*targets, *evidence, *done)])
    return ProbabilityQuestion(targets, tuple(evidence), tuple(done))


def read_independence(text: str) -> IndependenceQuestion:
    """Read a question about independence.

    >>> question = read_independence("asia; smoke, bronc | xray")
    >>> [[word.text for word in part] for part in (question.left, question.right, question.given)]
    [['asia'], ['smoke', 'bronc'], ['xray']]
    """
    reader = _Reader(text)
    left = reader.names()
    reader.take(";", "a , or a ; is needed between the two sides, as in A ; B | C")
    right = reader.names()
    given: tuple[NameAt, ...] = ()
    if reader.goes_over("|"):
        given = reader.names()
    reader.take(END, "a , is needed" if given else "a , or a | is needed")
    _require_once(text, [*left, *right, *given])
    return IndependenceQuestion(left, right, given)


def read_pair(text: str, form: str) -> tuple[NameAt, NameAt]:
    """Read two words with a = between them, in a form that errors show.

    >>> [word.text for word in read_pair("smoke='very much'", "node=state")]
    ['smoke', 'very much']
    """
    reader = _Reader(text)
    pair = reader.pair(f"{form} is needed")
    reader.take(END, f"{form} has ended")
    return pair


def read_names_after(text: str) -> tuple[NameAt, tuple[NameAt, ...]]:
    """Read a name and, behind a colon, others.

    >>> name, states = read_names_after("wet: no, 'a bit', yes")
    >>> name.text, [state.text for state in states]
    ('wet', ['no', 'a bit', 'yes'])
    """
    reader = _Reader(text)
    name = reader.headed("name: state, state is needed")
    found = reader.names("a state is needed")
    reader.take(END, "a , is needed")
    return name, found


def read_pairs_after(text: str) -> tuple[NameAt, tuple[tuple[NameAt, NameAt], ...]]:
    """Read a name and, behind a colon, pairs.

    >>> name, pairs = read_pairs_after("xray: pos=0.9, neg=0.2")
    >>> name.text, [(state.text, value.text) for state, value in pairs]
    ('xray', [('pos', '0.9'), ('neg', '0.2')])
    """
    reader = _Reader(text)
    form = "name: state=value, state=value is needed"
    name = reader.headed(form)
    found = [reader.pair(form)]
    while reader.goes_over(","):
        found.append(reader.pair(form))
    reader.take(END, "a , is needed")
    _require_once(text, [state for state, _ in found])
    return name, tuple(found)


def _require_once(text: str, words: Sequence[NameAt]) -> None:
    seen: set[str] = set()
    for word in words:
        if word.text in seen:
            raise error_at(text, word.place, f"{word.text!r} occurs twice in the question")
        seen.add(word.text)


class _Reader:
    """The tokens of a text, one at a time."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.end = text, 0, 0
        self.value, self.is_word = END, False
        self.next()

    def next(self) -> None:
        """Go to the next token."""
        self.place = len(self.text) - len(self.text[self.end :].lstrip())
        self.value, self.is_word = END, False
        if self.place == len(self.text):
            return
        found = TOKEN.match(self.text, self.place)
        if found is None:
            raise error_at(self.text, self.place, "a quote is opened and not closed")
        self.end, self.is_word = found.end(), found.lastgroup != "mark"
        self.value = re.sub(r"\\(.)", r"\1", found[0][1:-1]) if found.lastgroup == "quoted" else found[0]

    def refuse(self, what: str) -> NoReturn:
        """Say what is needed at this place."""
        stands = "the text ends here" if self.place == len(self.text) else f"{self.value!r} stands here"
        hint = "; names and states with blanks stand in quotes" if self.is_word and "needed" in what else ""
        raise error_at(self.text, self.place, f"{what}, and {stands}{hint}")

    def take(self, mark: str, what: str) -> None:
        """Go over a mark that has to be there."""
        if not self.goes_over(mark):
            self.refuse(what)

    def word(self, what: str) -> NameAt:
        """Read a name or a state."""
        if not self.is_word:
            self.refuse(what)
        found = NameAt(self.value, self.place)
        self.next()
        return found

    def goes_over(self, mark: str) -> bool:
        """Go over a mark, if it is there."""
        is_there = not self.is_word and self.value == mark
        if is_there:
            self.next()
        return is_there

    def names(self, what: str = "the name of a variable is needed") -> tuple[NameAt, ...]:
        """Read names with commas between them."""
        found = [self.word(what)]
        while self.goes_over(","):
            found.append(self.word(what))
        return tuple(found)

    def pair(self, what: str) -> tuple[NameAt, NameAt]:
        """Read two words with a = between them."""
        first = self.word(what)
        self.take("=", what)
        return first, self.word(what)

    def headed(self, what: str) -> NameAt:
        """Read a name and the colon behind it, which may be written at its end."""
        name = self.word(what)
        if name.text.endswith(":") and len(name.text) > 1:
            return NameAt(name.text[:-1], name.place)
        if self.value != ":":
            self.refuse(what)
        self.next()
        return name

    def terms(self, what: str, *, with_states: bool = False) -> tuple[Term, ...]:
        """Read variables, with states or not, and commas between them."""
        found = [self.term(what, with_state=with_states)]
        while self.goes_over(","):
            found.append(self.term(what, with_state=with_states))
        return tuple(found)

    def given(self, evidence: list[Term], done: list[Term]) -> None:
        """Read a variable and its state, observed or set from outside."""
        name = self.word(GIVEN)
        if name.text == "do" and self.goes_over("("):
            done.extend(self.terms("a variable and its state are set, as in do(smoke=yes)", with_states=True))
            self.take(")", "a , or a ) is needed")
        else:
            evidence.append(self.rest_of_term(name, with_state=True))

    def term(self, what: str, *, with_state: bool) -> Term:
        """Read a variable, with a state or not."""
        return self.rest_of_term(self.word(what), with_state=with_state)

    def rest_of_term(self, name: NameAt, *, with_state: bool) -> Term:
        """Read the state of a variable, if there is one."""
        if self.goes_over("="):
            return Term(name, self.word(f"a state of {name.text!r} is needed"))
        if with_state:
            raise error_at(self.text, self.place, f"what is given has a state: write {name.text}=...")
        return Term(name)
