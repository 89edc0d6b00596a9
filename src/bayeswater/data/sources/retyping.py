"""Rows of text whose types were told by the first of them, read again where a later cell does not fit."""

from collections.abc import Callable
from typing import TypeVar

from bayeswater.data.sources.source import TypesWidened
from bayeswater.errors import BayesWarning, warn_user

T = TypeVar("T")


def in_types_that_fit(read: Callable[[], T]) -> T:
    """Give what comes of reading rows; where a cell does not fit its type, again in a wider one, with a warning."""
    while True:
        try:
            return read()
        except TypesWidened as change:
            warn_user(str(change), BayesWarning)
