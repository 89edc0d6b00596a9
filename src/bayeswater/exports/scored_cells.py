"""Reads the cells of a row, a dict, with nothing but Python's standard library: numbers, labels, dates, words."""

import math
import re
import unicodedata
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

INFINITE = float("inf")
DAY = 86_400.0
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u3000-\u312f\u31a0-\u31ff\uff66-\uff9f"
    "\u3400-\u9fff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
PIECES, STRETCH = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+"), re.compile(f"[{UNSPACED}]")


class RowRefused(ValueError):
    """A row that the model gives no answer for, and why."""


def numbers_of(value: Any) -> Any:
    """Put infinities where a document has their signs."""
    if isinstance(value, dict):
        return {name: part if part is None else numbers_of(part) for name, part in value.items()}
    if isinstance(value, list):
        return [numbers_of(part) for part in value]
    return -INFINITE if value is None else INFINITE if value == "inf" else value


def states_of(cell: Any) -> Any:
    """Give the code of each label or word."""
    form = cell["form"]
    if form["kind"] == "LabelForm":
        return {key_of(label): code for code, label in enumerate(form["labels"])}
    return {word: code for code, word in enumerate(form.get("words", ()))}


def key_of(value: Any) -> Any:
    """Tell texts from numbers; truths are 0 and 1."""
    return isinstance(value, str), value


def value_of(raw: Any, field: Any, part: Any) -> Any:
    """Give the value of a cell as it is scored; None for a missing one."""
    if raw is None or raw != raw:
        return None
    kind, name = field["kind"], field["name"]
    if kind == "date":
        return _part_of(_moment(raw, field), part)
    if kind == "seconds" and isinstance(raw, time | timedelta):
        if isinstance(raw, timedelta):
            return raw.total_seconds()
        return raw.hour * 3600 + raw.minute * 60 + raw.second + raw.microsecond / 1e6
    if kind in ("number", "seconds"):
        if not isinstance(raw, int | float):
            raise RowRefused(f"column {name!r} has {raw!r}, which is no number")
        if abs(raw) == INFINITE:
            raise RowRefused(f"column {name!r} is infinite")
        return float(raw)
    if kind == "text" and not isinstance(raw, str):
        raise RowRefused(f"column {name!r} has {raw!r}, which is no text")
    return raw


def _moment(raw: Any, field: Any) -> Any:
    """Give a date as what the clock on the wall shows."""
    if isinstance(raw, str):
        try:
            raw = datetime.fromisoformat(raw)
        except ValueError:
            raise RowRefused(f"column {field['name']!r} has {raw!r}, which is no date") from None
    if not isinstance(raw, datetime):
        if not isinstance(raw, date):
            raise RowRefused(f"column {field['name']!r} has {raw!r}, which is no date")
        return datetime(raw.year, raw.month, raw.day)
    if raw.tzinfo is not None:
        if field["zone"] is None:
            raise RowRefused(f"column {field['name']!r} has a time zone, and the model knows none")
        from zoneinfo import ZoneInfo

        raw = raw.astimezone(ZoneInfo(field["zone"])).replace(tzinfo=None)
    return raw


def _part_of(moment: Any, part: Any) -> Any:
    since = moment - datetime(1970, 1, 1)
    if part == "days":
        return since.days + (since.seconds + since.microseconds / 1e6) / DAY
    if part == "time":
        return float(moment.hour * 3600 + moment.minute * 60)
    return moment.weekday() if part == "weekday" else moment.month


def is_within(value: Any, form: Any) -> Any:
    """Tell whether a number is one that its law knows."""
    low, high = form["low"], form["high"]
    if low is not None and not (value >= low if form["is_closed"] else value > low):
        return False
    return (high == "inf" or value < high) and not (form["is_whole"] and value != math.floor(value))


def word_counts(text: Any, form: Any, codes: Any) -> Any:
    """Count the known words of a text, by their codes."""
    counts: dict[int, int] = {}
    for word in _split(text, form):
        if word in codes:
            counts[codes[word]] = 1 if form["once"] else counts.get(codes[word], 0) + 1
    return counts


def _split(text: Any, form: Any) -> Any:
    """List the words of a text."""
    if form["ngrams"] is not None:
        text = text.lower() if form["lowercase"] else text
        words = [word for word in re.findall(r"\w\w+", text) if word not in form["stop_words"]]
        least, most = form["ngrams"]
        return [
            " ".join(words[at : at + n]) for n in range(least, most + 1) for at in range(max(0, len(words) - n + 1))
        ]
    found = []
    runs = [unicodedata.normalize("NFC", run.lower()) for run in _runs(text)]
    for run in runs:
        for piece in PIECES.findall(run):
            if not STRETCH.match(piece):
                found.append(piece)
            else:
                longest = 3 if form["pairs"] else 2
                found += [piece[at : at + n] for n in range(1, longest + 1) for at in range(len(piece) - n + 1)]
    if form["pairs"]:
        found += [f"{a} {b}" for a, b in pairwise(runs) if not (STRETCH.search(a) or STRETCH.search(b))]
    return found


def _runs(text: Any) -> Any:
    """Cut a text into runs of letters, digits, underscores and the marks behind them."""
    runs, run = [], ""
    for character in text:
        is_letter = character.isalnum() or character == "_"
        if is_letter or (run and unicodedata.category(character)[0] == "M"):
            run += character
        elif run:
            runs.append(run)
            run = ""
    return [*runs, run] if run else runs
