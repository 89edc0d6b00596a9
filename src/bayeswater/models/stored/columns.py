"""How the plan of a mixed table, and what a user says about its columns, stand in the document of a model file."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.text import TextAnalyser, word_finder
from bayeswater.families.family import ColumnSettings
from bayeswater.families.settings import NAMES, column_settings
from bayeswater.files.values import Form
from bayeswater.typing import is_number

MISLED = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError, re.error)
"""What scikit-learn, and the regular expressions in it, may answer to settings of a stranger."""


def field_parts(value: Any) -> list[Any]:
    """Take a dataclass apart: its fields, in their order."""
    return [getattr(value, field.name) for field in fields(value)]


def without_vectorizers(columns: Any) -> Any:
    """Put the settings of vectorisers of scikit-learn, which read the same words, in their place.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> without_vectorizers({"note": {"analyser": CountVectorizer(binary=True)}, "age": "binned"})
    {'note': {'analyser': TextAnalyser(n_hash=None, idf=False, binary=True, vectorizer=())}, 'age': 'binned'}
    """
    if not isinstance(columns, Mapping):
        return columns
    return {
        name: {**said, **_analyser_in(said)} if isinstance(said, Mapping) else said for name, said in columns.items()
    }


def _analyser_in(said: Mapping[str, Any]) -> dict[str, TextAnalyser]:
    given = said.get("analyser")
    is_plain = given is None or isinstance(given, TextAnalyser)
    return {} if is_plain else {"analyser": TextAnalyser.from_vectorizer(given)}


def _column(
    name: Any, source: Any, family: Any, why: Any, part: Any = None, dtype: Any = None, cuts: Any = None, *rest: Any
) -> Column:
    texts = (name, source, family, why, *(text for text in (part, dtype) if text is not None))
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a column has a name, a source, a family, a reason, a part of a date and a type, all texts")
    if not (cuts is None or (isinstance(cuts, tuple) and all(map(is_number, cuts)))):
        raise TypeError("the cuts of a column are numbers")
    column = Column(name, source, family, why, part, dtype, cuts, *rest)
    if not (isinstance(column.options, tuple) and all(map(_is_option, column.options))):
        raise TypeError("the options of a column are pairs of a name and a number")
    spans = column.spans
    if not (spans is None or (isinstance(spans, tuple) and all(map(_is_pair, spans)))):
        raise TypeError("the spans of a column are pairs of numbers")
    if not (column.analyser is None or isinstance(column.analyser, TextAnalyser)):
        raise TypeError("words are found by an analyser of text")
    return column


def _is_option(option: Any) -> bool:
    return isinstance(option, tuple) and len(option) == 2 and isinstance(option[0], str) and is_number(option[1])


def _is_pair(span: Any) -> bool:
    return isinstance(span, tuple) and len(span) == 2 and all(map(is_number, span))


def _analyser(n_hash: Any, idf: Any, binary: Any, vectorizer: Any) -> TextAnalyser:
    if isinstance(n_hash, bool) or not all(isinstance(flag, bool | np.bool_) for flag in (idf, binary)):
        raise TypeError("n_hash is a number, and idf and binary are true or false")
    if vectorizer is not None:
        _require_words(vectorizer)
    return TextAnalyser(n_hash, idf, binary, vectorizer)


def _require_words(settings: Any) -> None:
    """Refuse settings by which no words are found: they are tried."""
    pairs = settings if isinstance(settings, tuple) else (None,)
    if not all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        raise TypeError("settings of words are pairs of a name and a value")
    try:
        hash(settings)  # as an analyser is compared with others
        TextAnalyser(vectorizer=settings)
        word_finder(settings)("two words")
    except MISLED as error:
        raise ValueError(f"no words are found: {error}") from None


def _plan(*columns: Any) -> ColumnPlan:
    if not all(isinstance(column, Column) for column in columns):
        raise TypeError("a plan consists of columns")
    return ColumnPlan(columns)


def _settings(*parts: Any) -> ColumnSettings:
    settings = ColumnSettings(*parts)
    if not (isinstance(settings.options, tuple) and all(map(_is_option, settings.options))):
        raise TypeError("the options of a column are pairs of a name and a number")
    said = {name: getattr(settings, name) for name in NAMES}
    column_settings({"": {**said, **dict(settings.options)}})  # refuses what could not be said
    if not isinstance(settings.dtype, str | None):
        raise TypeError("the type of a column is a text")
    return settings


COLUMN_FORMS = {
    "TextAnalyser": Form(TextAnalyser, field_parts, _analyser),
    "Column": Form(Column, field_parts, _column),
    "ColumnPlan": Form(ColumnPlan, lambda plan: list(plan.columns), _plan),
    "ColumnSettings": Form(ColumnSettings, field_parts, _settings),
}
