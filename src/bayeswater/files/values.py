"""Values as JSON: what JSON does not know is written as a tag and a list of parts, ``{"date": ["2026-01-31"]}``.

The tags are a closed list. A value is made of its parts by the function that stands beside the tag here, never by one
that a file names.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from functools import cached_property
from math import isfinite
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.errors import ModelFileError
from bayeswater.records import record

JSON_TYPES = (str, bool, int, float)

NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
"""Numbers of NumPy that parameters may be given as."""

DTYPE = re.compile(r"\|O|[<>|]([biuf]\d{1,2}|[US]\d{1,9}|[mM]8(\[\d{0,9}\w{1,2}\])?)")
"""Dtypes that labels may come in, as NumPy writes them."""


@record
class ValueForm:
    """How the values of one type are taken apart, and made of their parts again."""

    type: type
    parts: Callable[[Any], list[Any]]
    make: Callable[..., Any]


def _dtype(text: str) -> np.dtype[Any]:
    if not DTYPE.fullmatch(text):
        raise ValueError(f"unknown dtype {text!r}")
    return np.dtype(text)


def _numbers(dtype: str, values: Any) -> Any:
    if dtype not in NUMBERS:
        raise ValueError(f"unknown numbers {dtype!r}")
    return np.array(values, dtype=dtype)


def _number_parts(numbers: Any) -> list[Any]:
    if numbers.dtype.name not in NUMBERS:
        raise TypeError(f"unknown numbers {numbers.dtype.name!r}")
    return [numbers.dtype.name, numbers.tolist()]


FORMS = {
    "tuple": ValueForm(tuple, list, lambda *parts: parts),
    "mapping": ValueForm(
        dict, lambda pairs: [[key, value] for key, value in pairs.items()], lambda *pairs: dict(pairs)
    ),
    "range": ValueForm(range, lambda codes: [codes.start, codes.stop, codes.step], range),
    "bytes": ValueForm(bytes, lambda label: [label.hex()], bytes.fromhex),
    "datetime": ValueForm(datetime, lambda moment: [moment.isoformat()], datetime.fromisoformat),
    "date": ValueForm(date, lambda day: [day.isoformat()], date.fromisoformat),
    "time": ValueForm(time, lambda clock: [clock.isoformat()], time.fromisoformat),
    "timedelta": ValueForm(timedelta, lambda span: [span.days, span.seconds, span.microseconds], timedelta),
    "array": ValueForm(np.ndarray, _number_parts, _numbers),
    "number": ValueForm(np.generic, _number_parts, lambda *parts: _numbers(*parts)[()]),
    "dtype": ValueForm(np.dtype, lambda dtype: [dtype.str], _dtype),
}
"""The forms of plain values; a codec adds those of its own."""


@record
class Codec:
    """Values to JSON and back, with the forms it is given and no others.

    >>> codec = Codec(FORMS)
    >>> codec.encode((date(2026, 1, 31), 0.5, None), "x")
    {'tuple': [{'date': ['2026-01-31']}, 0.5, None]}
    >>> codec.decode(_, "x")
    (datetime.date(2026, 1, 31), 0.5, None)
    """

    forms: Mapping[str, ValueForm]

    @cached_property
    def _tag_of(self) -> dict[type, str]:
        return {form.type: tag for tag, form in self.forms.items()}

    def encode(self, value: Any, where: str) -> Any:
        """Write a value as JSON; refuse, naming `where` it stands, what could not be read back."""
        kind = type(value)
        if value is None or kind in (str, bool, int) or (kind is float and isfinite(value)):
            return value
        if kind is list:
            return [self.encode(part, where) for part in value]
        base = next((base for base in kind.__mro__ if base in self._tag_of or base in JSON_TYPES), None)
        written = self._written(value, base, where)
        # An heir of a type comes back as that type, so it has to be equal to it.
        if written is None or (kind is not base and not np.all(self.decode(written, where) == value)):
            shown = " ".join(shortened(value).split())  # a table has many lines
            raise ModelFileError(f"{where} is {shown} ({kind.__name__}), which a model file cannot hold")
        return written

    def _written(self, value: Any, base: type | None, where: str) -> Any:
        if base not in self._tag_of:
            return None if base in (None, type(value)) else base(value)
        tag = self._tag_of[base]
        try:
            parts = self.forms[tag].parts(value)
        except TypeError:
            return None
        return {tag: [self.encode(part, where) for part in parts]}

    def decode(self, written: Any, where: str) -> Any:
        """Make the value that was written."""
        if isinstance(written, list):
            return [self.decode(part, where) for part in written]
        if not isinstance(written, dict):
            return written
        tag, parts = next(iter(written.items()), ("", None))
        if len(written) != 1 or tag not in self.forms or not isinstance(parts, list):
            raise ModelFileError(f"{where} is {shortened(written)}, which means nothing here")
        values = [self.decode(part, where) for part in parts]
        try:
            return self.forms[tag].make(*values)
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            raise ModelFileError(f"{where} cannot be made of {shortened(written)}: {error}") from None
