"""What each view of the page may ask: a module of answers for each."""

from collections.abc import Callable, Mapping
from typing import Any

from bayeswater.web import compare_answers, decision_answers, learned_answers, network_answers, row_answers, row_tables

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
