"""Models by period: the rows of every day, week or month in sums of their own, all read alike.

How columns are read is decided by all rows, and then the rows of each period are counted so. Models of periods
therefore merge, any one can be taken out of their sum again, and any two can be compared.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.reading.dates import is_date
from bayeswater.errors import BayesWarning, DataError, warn_user
from bayeswater.models.on_sums import OnSums, of_other_rows, sums_of
from bayeswater.models.streaming.passes import Examples, Piece
from bayeswater.statistics.sums import Sums

if TYPE_CHECKING:
    import pyarrow as pa

PERIODS: Mapping[str, str] = {
    "hour": "%Y-%m-%dT%H",
    "day": "%Y-%m-%d",
    "week": "%G-W%V",
    "month": "%Y-%m",
    "year": "%Y",
}
"""Periods, and how each is written: so that names sort as time goes on."""


def period_names(column: "pa.ChunkedArray", period: str) -> list[str | None]:
    """Name the period of each date or time stamp; None where it is missing.

    >>> import datetime, pyarrow
    >>> days = pyarrow.chunked_array([[datetime.date(2026, 1, 1), None]])
    >>> period_names(days, "week"), period_names(days, "month")
    (['2026-W01', None], ['2026-01', None])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_date(column.type):
        raise DataError(f"the column of times holds {column.type}, and no dates; name a column of dates or time stamps")
    stamps = column.cast(pa.timestamp("s")) if pa.types.is_date(column.type) else column
    names: list[str | None] = pc.strftime(stamps, format=PERIODS[period]).to_pylist()
    return names


def models_by_period(model: OnSums, examples: Examples, time: str, period: str) -> dict[str, Any]:
    """Count the rows of every period by themselves, as a model that was fitted on all of them reads them.

    `time` names a column of the rows that the model does not read; rows without a time are left out.
    """
    classes = model.statistics_.classes
    found: dict[str, Sums[Any]] = {}
    n_untimed = 0

    def count(piece: Piece) -> int:
        nonlocal n_untimed
        names = np.array(period_names(piece.X.column(time), period), dtype=object)
        X = piece.X.drop_columns([time])
        for name in sorted({name for name in names if name is not None}):
            own = np.flatnonzero(names == name)
            sums = sums_of(model, X.take(own), piece.y.take(own), classes)
            found[name] = found[name] + sums if name in found else sums
        n_untimed += int((names == None).sum())  # noqa: E711 (elementwise)
        return 0

    examples.sum(count)
    if n_untimed:
        warn_user(f"{n_untimed:,} rows have no time in {time!r}, and are in no period", BayesWarning)
    return {name: of_other_rows(model, _own_classes(sums)) for name, sums in sorted(found.items())}


def _own_classes(sums: Sums[Any]) -> Sums[Any]:
    """Leave out the classes and states that no row of a period has."""
    classes = sums.classes.keeping(sums.class_count.count > 0)
    return Sums(sums.class_count.onto(classes), sums.columns.onto(classes).pruned(), sums.seen)
