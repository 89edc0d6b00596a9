"""What each view of the page may ask: a module of answers for each."""

from collections.abc import Callable, Mapping
from typing import Any

from bayeswater.web import (
    compare_answers,
    decision_answers,
    learned_answers,
    mixed_answers,
    network_answers,
    row_answers,
    row_tables,
)
from bayeswater.web.subjects import MixedSubject, Subject

Answer = Callable[[Any, Mapping[str, Any]], Any]

VIEWS: Mapping[str, Mapping[str, Answer]] = {
    "row": row_answers.ANSWERS,
    "learned": learned_answers.ANSWERS,
    "decisions": decision_answers.ANSWERS,
    "rows": row_tables.ANSWERS,
    "compare": compare_answers.ANSWERS,
    "network": network_answers.ANSWERS,
}
"""What each view of the page may ask."""


def answer_of(subject: Subject, view: str, question: str) -> Answer | None:
    """Find what answers a question of a view; None where there is no such question."""
    answers = mixed_answers.ANSWERS if isinstance(subject, MixedSubject) and view == "network" else VIEWS.get(view, {})
    return answers.get(question)
