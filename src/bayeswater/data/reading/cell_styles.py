"""How the cells of a column are written, and the one way in which they are read: styles by their names.

People write ``$1,200``, ``45%``, ``yes`` and ``31.12.2023``, a machine 1200, 0.45, true and 2023-12-31. A style
is found once, from a whole column (`style_search`), and from then on it is part of the schema: it stands in the
metadata of an Arrow field, in the plan of a model and in its file. Later cells are read by it, or refused by name.

======  ===============================================================================================================
number  ``$1,200``, ``1.234,50 €``, ``1 234``, ``(300)`` and ``300-`` for -300, ``+5``, ``1e3``; ``45%`` is 0.45. A
        column has one unit, which an amount of money may leave out; groups have three digits, or two before the last
        as in India
truth   yes/no, y/n, true/false, t/f, on/off, 是/否 and words of other languages, in capitals too
words   the same, where a model keeps both words as states: each spelled as most cells have it, others as they are
date    a day in the order of `format`, with or without a time of day, which may have a zone: then all are in UTC;
        2023-12-31 can be but one day, and is read beside every format
clock   a time of day, ``8:15``, ``11:59 PM``
plain   as the file has it, numbers and strings alike; only the marks of missing cells are part of the style
======  ===============================================================================================================
"""

import json
from dataclasses import fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bayeswater.data.reading.cell_style import EARLIER_MARKS, NARROW_UNITS, STYLE_KEY, CellStyle, PlainStyle
from bayeswater.data.reading.date_style import TIMES, ClockStyle, DateStyle
from bayeswater.data.reading.number_style import GAPS, MONEY, SHARES, NumberStyle
from bayeswater.data.reading.truth_style import TruthStyle, WordStyle
from bayeswater.data.reading.written_dates import compiled_format

if TYPE_CHECKING:
    import pyarrow as pa

STYLES: dict[str, type[CellStyle]] = {
    style.kind: style for style in (PlainStyle, NumberStyle, TruthStyle, WordStyle, ClockStyle, DateStyle)
}


def style_of_document(document: Any) -> CellStyle:
    """Make a style of what was written down; refuse what none could be.

    Earlier files have what other kinds of style tell beside those of a kind, and руб. beside руб.

    >>> style_of_document(TruthStyle(true=("yes",), false=("no",)).document())
    TruthStyle(kept=(), true=('yes',), false=('no',))
    """
    names = {one.name: isinstance(one.default, tuple) for kind in STYLES.values() for one in fields(kind)}
    if not isinstance(document, dict) or document.get("kind") not in STYLES:
        raise TypeError("the style of cells is a kind and what differs from plain cells")
    said = {key: it for key, it in document.items() if key != "kind"}
    if not said.keys() <= names.keys() or any(isinstance(it, list) != names[key] for key, it in said.items()):
        raise TypeError("the style of cells is a kind and what differs from plain cells")
    if not all(isinstance(word, str) for it in said.values() for word in (it if isinstance(it, list) else [it])):
        raise TypeError("the style of cells is made of words")
    kind = STYLES[document["kind"]]
    own: dict[str, Any] = {one.name: said[one.name] for one in fields(kind) if one.name in said}
    own.setdefault("marks", EARLIER_MARKS)
    style = kind(**{key: tuple(it) if isinstance(it, list) else it for key, it in own.items()})
    if isinstance(style, NumberStyle):
        style = replace(style, unit=NARROW_UNITS.get(style.unit, style.unit.removesuffix(".")))
        is_known = style.decimal in (".", ",") and style.thousands in ("", *GAPS)
        if not is_known or style.unit not in ("", *MONEY, *SHARES):
            raise ValueError("numbers are not written so")
    if isinstance(style, DateStyle):
        compiled_format(style.format)
        if style.time not in TIMES:
            raise ValueError("times are not written so")
    if isinstance(style, TruthStyle) and not (style.true and style.false):
        raise ValueError("there are words for true and for false")
    return style


def style_of(field: "pa.Field") -> CellStyle | None:
    """Give the style that the metadata of an Arrow field tells, if they tell one."""
    found = (field.metadata or {}).get(STYLE_KEY)
    return None if found is None else _style_written(found)


@lru_cache
def _style_written(document: bytes) -> CellStyle:
    return style_of_document(json.loads(document))
