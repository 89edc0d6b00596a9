"""States that are no texts, in files that hold texts alone: a property of the node says what the texts stand for.

The property ``bayeswater_states = int`` is written where every state can be made of its text again, and read where
every text is that of such a state. It is no remark of the user's: a network does not show it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from bayeswater.files.networks.document import Property

PROPERTY = "bayeswater_states"

CODES = "codes"
"""The kind of the codes 0, 1, ..., n - 1."""

LONGEST = 50
"""Letters of a text that may be a number or a date: no float or date has more, and long whole numbers take long."""


def _flag(text: str) -> bool:
    return {"False": False, "True": True}[text]


KINDS: Mapping[str, tuple[type, Callable[[str], Any]]] = {
    "bool": (bool, _flag),
    "int": (int, int),
    "float": (float, float),
    "date": (date, date.fromisoformat),
    "datetime": (datetime, datetime.fromisoformat),
}
"""The type of the labels of each kind, and how one is made of its text."""


def property_of_states(states: Sequence[Any]) -> tuple[Property, ...]:
    """Give the property that says what the texts of states stand for; none for texts, and for what no kind holds.

    >>> property_of_states((2019, 2020)), property_of_states(("yes", "no")), property_of_states((1, "one"))
    ((('bayeswater_states', 'int'),), (), ())
    """
    if isinstance(states, range):
        return ((PROPERTY, CODES),)
    plain = tuple(state.item() if isinstance(state, np.number | np.bool_) else state for state in states)
    kinds = (kind for kind, (own, _) in KINDS.items() if all(type(state) is own for state in plain))
    kind = next(kinds, "")
    return ((PROPERTY, kind),) if kind and states_of_kind(kind, tuple(map(str, states))) == plain else ()


def states_of_kind(kind: str, texts: tuple[str, ...]) -> Sequence[Any] | None:
    """Make the states of their texts; None where a text is that of no such state.

    >>> states_of_kind("float", ("0.5", "1.0")), states_of_kind("codes", ("0", "1")), states_of_kind("int", ("one",))
    ((0.5, 1.0), range(0, 2), None)
    """
    if kind == CODES:
        codes = range(len(texts))
        return codes if texts == tuple(map(str, codes)) else None
    if kind not in KINDS or any(len(text) > LONGEST for text in texts):
        return None
    try:
        states = tuple(map(KINDS[kind][1], texts))
    except (KeyError, ValueError):
        return None
    # A text that is written otherwise, as 007 is, would not come back; NaN is no state, and 0.0 and -0.0 are one.
    are_states = all(state == state for state in states) and len(set(states)) == len(states)
    return states if are_states and texts == tuple(map(str, states)) else None


def without_kind(properties: tuple[Property, ...]) -> tuple[Property, ...]:
    """Leave out what is said of states: the remarks of the user remain."""
    return tuple(one for one in properties if one[0] != PROPERTY)
