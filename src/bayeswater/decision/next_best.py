"""Which fact to ask for next: those that are not known yet, by what each is worth minus what it costs to ask.

A fact is worth as much as knowing it would lower the expected cost of the best decision:

    worth = least risk now - sum over outcomes o of P(o) (least risk once o is known)

It is never negative; asking pays where it exceeds the cost of asking.

Costs are those of the one row that is decided. One fact is taken at a time: two that are worth something only together
are not found.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.decision.facts import Fact, joint_outcomes
from bayeswater.decision.loss import Loss
from bayeswater.decision.prior_shift import checked_prior
from bayeswater.decision.probabilities import ROUNDING, SUM_TOLERANCE
from bayeswater.errors import DataError, ParameterError, SchemaError
from bayeswater.markup import bar, html_table, paragraphs
from bayeswater.phrases import EN, Language, in_language
from bayeswater.records import record
from bayeswater.typing import Array, is_number


@record
class InformationValue:
    """What a fact is worth, and what it costs to ask for it."""

    risk_now: float
    risk_then: float
    cost: float
    error: float = 0.0  # how much more it may be worth than it says

    @property
    def worth(self) -> float:
        """Expected reduction of risk."""
        return self.risk_now - self.risk_then

    @property
    def net(self) -> float:
        """Worth minus the cost of asking: over 0 where asking pays."""
        return self.worth - self.cost

    def __float__(self) -> float:
        return self.net

    def __str__(self) -> str:
        return self.text(EN)

    def text(self, language: Language) -> str:
        """Say it in a language."""
        advice = language.say("ask" if self.net > 0 else "do not ask")
        return language.say("worth", worth=f"{self.worth:.3g}", cost=f"{self.cost:.3g}", advice=advice)


def value_of_information(
    posterior: Any, outcome_probability: Any, posterior_given_outcome: Any, loss: Any, cost: float = 0.0
) -> InformationValue:
    """Tell what it is worth to learn which of several outcomes holds, before deciding.

    Parameters
    ----------
    posterior : array (n_classes,)
        Probabilities of the classes as things stand; the mean of the posteriors to come.
    outcome_probability : array (n_outcomes,)
    posterior_given_outcome : array (n_outcomes, n_classes)
        Rows of outcomes of probability 0 are not looked at.
    loss : Loss, or anything that `Loss` reads
    cost : what it costs to ask

    Examples
    --------
    A test that shows 9 of 10 ill and 1 of 10 healthy people as ill, when missing an illness costs 10:

    >>> loss = Loss({"treat": {"ill": 0, "well": 1}, "wait": {"ill": 10, "well": 0}})
    >>> print(
    ...     value_of_information([0.05, 0.95], [0.14, 0.86], [[9 / 28, 19 / 28], [1 / 172, 171 / 172]], loss, cost=0.1)
    ... )
    worth 0.355 of loss, costs 0.1: ask
    """
    loss = loss if isinstance(loss, Loss) else Loss(loss)
    if not is_number(cost):
        raise ParameterError(f"cost is {cost!r}; give what it costs to ask, a number")
    chance = np.asarray(outcome_probability, dtype=np.float64)
    chance = checked_prior(chance, range(len(chance)) if chance.ndim else (), "outcome_probability")
    now = np.asarray(posterior, dtype=np.float64)
    then = np.asarray(posterior_given_outcome, dtype=np.float64)
    if then.shape != (len(chance), *now.shape) or now.ndim != 1:
        raise DataError(
            f"posterior has shape {now.shape} and posterior_given_outcome {then.shape}; for {len(chance)} outcomes "
            f"give (n_classes,) and ({len(chance)}, n_classes)"
        )
    chance, then = chance[chance > 0], then[chance > 0]
    risk_now, beyond = float(loss.expected_loss(now[None])[0]), _least_regret(loss, now[None])[0]
    loss.expected_loss(then)  # refuses what are no probabilities
    worth = float(beyond - chance @ _least_regret(loss, then))
    worth = worth if worth > ROUNDING * beyond else 0.0  # it is never negative, and rounding is worth nothing
    if not np.abs(chance @ then - now).max() <= SUM_TOLERANCE:
        raise DataError(
            f"the posteriors given the outcomes average to {(chance @ then).tolist()}, and the posterior is "
            f"{now.tolist()}; they belong to different models"
        )
    return InformationValue(risk_now, risk_now - worth, float(cost))


def _least_regret(loss: Loss, proba: Array) -> Array:
    """Risk of the best action beyond that of knowing the truth: (n_rows,); none of its terms is negative."""
    return (loss.table.regret @ proba.T).min(axis=0)


def costs_of_asking(costs: Any, names: Sequence[str], what: str = "column") -> dict[str, float]:
    """Say what it costs to ask for each column, or whatever has the names, that can be asked for.

    Parameters
    ----------
    costs : a number for all, a dict {name or place: cost} of those that can be asked for, or None for nothing
    names : names of all of them
    what : what has the names

    >>> costs_of_asking(2, ["cough", "fever"]), costs_of_asking({"fever": 0.5}, ["cough", "fever"])
    ({'cough': 2.0, 'fever': 2.0}, {'fever': 0.5})
    """
    if isinstance(costs, Mapping):
        found = {names[key] if _is_place(key, names) else key: cost for key, cost in costs.items()}
        unknown = [name for name in found if name not in names]
        if unknown:
            raise SchemaError(f"costs names {unknown[0]!r}, but there is no such {what}; there are {list(names)[:10]}")
    else:
        found = dict.fromkeys(names, 0.0 if costs is None else costs)
    for name, cost in found.items():
        if not is_number(cost):
            raise ParameterError(f"the cost of asking for {name!r} is {cost!r}; give a number")
    return {name: float(cost) for name, cost in found.items()}


def _is_place(key: Any, names: Sequence[str]) -> bool:
    return isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= int(key) < len(names)


SHOWN = 5
"""Facts that are listed below the best one."""


@record
class Question:
    """A fact that could be asked for, and what that is worth."""

    column: Any
    value: InformationValue

    def __str__(self) -> str:
        return self.text(EN)

    def text(self, language: Language) -> str:
        """Say it in a language."""
        return language.say("named", name=self.column, what=self.value.text(language))


@record
class NextBest(Sequence[Question]):
    """Facts that could be asked for, the best one first.

    Attributes
    ----------
    risk_now : expected cost of the best action as things stand
    questions : the facts, in falling order of worth minus cost
    skipped : facts whose value is not known, with the reason
    lang : language in which it is printed
    library : library of frames
    """

    risk_now: float
    questions: tuple[Question, ...]
    skipped: Mapping[Any, str] = field(default_factory=dict)
    lang: str = "en"
    library: str | None = None

    @property
    def best(self) -> Question | None:
        """The fact to ask for next; None where none is worth what it costs."""
        return self.questions[0] if self.questions and self.questions[0].value.net > 0 else None

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, place: Any) -> Any:
        return self.questions[place]

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    @property
    def table(self) -> Any:
        """The facts as a pyarrow Table: column, worth, cost, net and error (of the worth)."""
        import pyarrow as pa

        names = ("worth", "cost", "net", "error")
        values = {name: [float(getattr(q.value, name)) for q in self.questions] for name in names}
        return pa.table({"column": [q.column for q in self.questions], **values})

    def __str__(self) -> str:
        language = Language.of(self.lang)
        lines = [question.text(language) for question in self.questions[1 : SHOWN + 1]]
        if len(self.questions) > SHOWN + 1:
            lines.append(language.say("and more", n=len(self.questions) - SHOWN - 1))
        lines += self._skipped(language)
        return "\n".join([self._advice(language), *(f"  {line}" for line in lines)])

    __repr__ = __str__

    def to_frame(self) -> Any:
        """Give the table in the library that the model was fitted with."""
        table = self.table
        return write_frame({name: table.column(name) for name in table.column_names}, self.library)

    def _repr_html_(self) -> str:
        language = Language.of(self.lang)
        most = max((question.value.worth for question in self.questions), default=0.0)
        rows = [
            (str(one.column), bar(one.value.worth / most if most > 0 else 0.0), one.value.text(language))
            for one in self.questions
        ]
        return (
            paragraphs([self._advice(language)]) + html_table(("", "", ""), rows) + paragraphs(self._skipped(language))
        )

    def _skipped(self, language: Language) -> list[str]:
        reasons = ((column, in_language(reason, language)) for column, reason in self.skipped.items())
        return [language.say("named", name=column, what=reason) for column, reason in reasons]

    def _advice(self, language: Language) -> str:
        if not self.questions:
            return language.say("nothing to ask", risk=f"{self.risk_now:.3g}")
        first = self.questions[0]
        values = {"column": first.column, "worth": f"{first.value.worth:.3g}", "cost": f"{first.value.cost:.3g}"}
        return language.say("ask nothing" if self.best is None else "ask next", **values)


def rank_facts(
    posterior: Array, facts: Mapping[Any, Sequence[Fact] | str], costs: Mapping[Any, float], loss: Loss
) -> NextBest:
    """Put facts in the order of what they are worth minus what they cost.

    Parameters
    ----------
    posterior : probabilities of the classes as things stand: (n_classes,)
    facts : for each column what would be learned, or why that is not known
    costs : what it costs to ask for each
    loss : costs that do not differ from row to row
    """
    known = {column: fact for column, fact in facts.items() if not isinstance(fact, str)}
    questions = [Question(column, _value(posterior, fact, costs[column], loss)) for column, fact in known.items()]
    questions.sort(key=lambda question: -question.value.net)  # stable: of equals the first column
    skipped = {column: reason for column, reason in facts.items() if isinstance(reason, str)}
    return NextBest(float(loss.expected_loss(posterior[None])[0]), tuple(questions), skipped)


def _value(posterior: Array, facts: Sequence[Fact], cost: float, loss: Loss) -> InformationValue:
    outcomes = joint_outcomes(facts, posterior, loss.table.regret)
    joint = outcomes.likelihood * posterior  # (n_outcomes, n_classes)
    chance = joint.sum(axis=1)
    possible = chance > 0
    given_outcome = joint[possible] / chance[possible, None]
    value = value_of_information(posterior, chance[possible], given_outcome, loss, cost)
    return replace(value, error=outcomes.error)
