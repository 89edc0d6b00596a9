"""What each view of the page may ask: a module of answers for each, imported when the first question comes."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from bayeswater.web.network_subjects import MixedSubject, Subject

Answer = Callable[[Any, Mapping[str, Any]], Any]

VIEWS: Mapping[str, str] = {
    "row": "row_answers",
    "learned": "learned_answers",
    "decisions": "decision_answers",
    "rows": "row_tables",
    "compare": "compare_answers",
    "network": "network_answers",
}
"""The module with the ``ANSWERS`` of each view."""


def answer_of(subject: Subject, view: str, question: str) -> Answer | None:
    """Find what answers a question of a view; None where there is no such question."""
    if view not in VIEWS:
        return None
    name = "mixed_answers" if isinstance(subject, MixedSubject) and view == "network" else VIEWS[view]
    answers: Mapping[str, Answer] = import_module(f"bayeswater.web.{name}").ANSWERS
    return answers.get(question)
