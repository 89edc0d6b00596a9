"""Which fact to ask for next: those that are not known yet, by what each is worth minus what it costs to ask.

One fact at a time: two that are worth something only together are not found.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bayeswater.decision.facts import Fact, joint_outcomes
from bayeswater.decision.information import InformationValue, value_of_information
from bayeswater.decision.loss import Loss
from bayeswater.typing import Array

SHOWN = 5
"""Facts that are listed below the best one."""


@dataclass(frozen=True)
class Question:
    """A fact that could be asked for, and what that is worth."""

    column: Any
    value: InformationValue

    def __str__(self) -> str:
        return f"{self.column}: {self.value}"


@dataclass(frozen=True)
class NextBest(Sequence[Question]):
    """Facts that could be asked for, the best one first.

    Attributes
    ----------
    risk_now : expected cost of the best action as things stand
    questions : the facts, in falling order of worth minus cost
    skipped : facts whose value cannot be told, with the reason
    """

    risk_now: float
    questions: tuple[Question, ...]
    skipped: Mapping[Any, str] = field(default_factory=dict)

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
        lines = [self._advice(), *(f"  {question}" for question in self.questions[1 : SHOWN + 1])]
        if len(self.questions) > SHOWN + 1:
            lines.append(f"  and {len(self.questions) - SHOWN - 1} more")
        return "\n".join([*lines, *(f"  {column}: {reason}" for column, reason in self.skipped.items())])

    def _advice(self) -> str:
        if not self.questions:
            return f"There is nothing to ask for; the risk is {self.risk_now:.3g}."
        first = self.questions[0]
        worth, cost = f"{first.value.worth:.3g}", f"{first.value.cost:.3g}"
        if self.best is None:
            return f"Ask for nothing more: the best, the {first.column}, is worth {worth} of loss, costs {cost}."
        return f"Ask for the {first.column} next: it is worth {worth} of loss, costs {cost}."


def rank_facts(
    posterior: Array, facts: Mapping[Any, Sequence[Fact] | str], costs: Mapping[Any, float], loss: Loss
) -> NextBest:
    """Put facts in the order of what they are worth minus what they cost.

    Parameters
    ----------
    posterior : probabilities of the classes as things stand: (n_classes,)
    facts : for each column what would be learned, or why that cannot be told
    costs : what it costs to ask for each
    loss : costs that do not differ from row to row
    """
    told = {column: fact for column, fact in facts.items() if not isinstance(fact, str)}
    questions = [Question(column, _value(posterior, fact, costs[column], loss)) for column, fact in told.items()]
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
