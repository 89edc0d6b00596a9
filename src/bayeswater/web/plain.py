"""Values between the page and the library: answers as JSON can hold them, and questions checked."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from math import isfinite, isnan
from typing import Any

import numpy as np
from starlette.responses import Response

from bayeswater.phrases import LANGUAGES, Language
from bayeswater.records import record


class QuestionError(ValueError):
    """A question that no page of ours asks, or a value that cannot be."""


def as_json(value: Any) -> Any:
    """Give a value as JSON can hold it: infinite numbers as "inf" and "-inf", what is not known as null.

    >>> as_json({"p": np.float64(0.5), "odds": [np.inf, float("nan")], "day": date(2024, 2, 29)})
    {'p': 0.5, 'odds': ['inf', None], 'day': '2024-02-29'}
    """
    if isinstance(value, Mapping):
        return {str(key): as_json(own) for key, own in value.items()}
    if isinstance(value, np.ndarray):
        return as_json(value.tolist())
    if isinstance(value, list | tuple):
        return [as_json(own) for own in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return None if isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, date | time):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int | float) else str(value)


def written(value: Any) -> str:
    """Write a label or a state as the page shows it.

    >>> written(None), written(True), written(3.0), written("red")
    ('', 'True', '3.0', 'red')
    """
    return "" if value is None else str(as_json(value))


def number_of(asked: Mapping[str, Any], name: str, default: float, low: float, high: float) -> float:
    """Read a number of a question, within limits."""
    value = asked.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise QuestionError(f"{name} is {value!r}; it is a number from {low:g} to {high:g}")
    return value


def place_of(value: Any, n_places: int, what: str) -> int:
    """Read which of some places is meant."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < n_places:
        raise QuestionError(f"there is no {what} {value!r}; they are 0 to {n_places - 1}")
    return value


def text_of(asked: Mapping[str, Any], name: str, default: str = "") -> str:
    """Read a text of a question."""
    value = asked.get(name, default)
    if not isinstance(value, str):
        raise QuestionError(f"{name} is no text")
    return value


def language_of(asked: Mapping[str, Any]) -> Language:
    """Read the language in which sentences are told."""
    lang = asked.get("lang") or "en"
    if not isinstance(lang, str) or lang not in LANGUAGES:
        raise QuestionError(f"lang is {lang!r}; it can be one of {[*LANGUAGES]}")
    return LANGUAGES[lang]


def mapping_of(asked: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Read an object of a question; one that is not there is empty."""
    value = asked.get(name) or {}
    if not isinstance(value, dict):
        raise QuestionError(f"{name} is no object")
    return value


@record
class Download:
    """A file that an answer is."""

    text: str
    kind: str

    def response(self) -> Response:
        """Give it to the browser."""
        return Response(self.text.encode(), media_type=f"{self.kind}; charset=utf-8")


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How a text begins that a spreadsheet would work out."""


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Write rows as CSV; an apostrophe stands before a text that a spreadsheet would take for a formula.

    >>> csv_text(["a", "=b"], [[-1.5, "=1+1"], [None, "x"]])
    "a,'=b\r\n-1.5,'=1+1\r\n,x\r\n"
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(_harmless, heads))
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: Any) -> Any:
    cell = as_json(cell)
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
