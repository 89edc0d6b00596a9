"""What changed: models by period, and `drift` between the rows of two models, from sums alone.

How columns are read is decided by all rows, and then the rows of every day, week or month are counted so, in sums of
their own. Models of periods therefore merge, any one can be taken out of their sum again, and any two can be compared.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.reading.dates import is_date
from bayeswater.errors import BayesWarning, DataError, ParameterError, warn_user
from bayeswater.explain.drift import Drift, drift_of
from bayeswater.families.registry import families_of
from bayeswater.families.two_laws import ColumnFactors, column_factors
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.on_sums import OnSums, of_other_rows, sums_of, sums_read_alike
from bayeswater.models.settings import frames_of
from bayeswater.models.streaming.passes import Examples, Piece
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

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


def drift(a: OnSums, b: Any, y: Any = None) -> Drift:
    """Find which columns changed between two models, or a model and new rows, class by class.

    For each column and class this is the log Bayes factor of two laws against one, read off the sums:
    log E(a) + log E(b) - log E(a + b), with E the evidence. No row is needed of a model that was fitted.

    Parameters
    ----------
    a : fitted classifier on sums
        What was before.
    b : classifier fitted as `a`, or rows of shape (n_rows, n_columns)
        What is now. A model reads its columns as `a` does: fit it with ``columns=a.columns_``. Rows are read so.
    y : labels of the rows, of shape (n_rows,)
        The class of each row.

    Returns
    -------
    Drift
        Made to be printed; `columns` are sorted, the most certain change first, and `changed` are those that changed.

    Raises
    ------
    StatisticsError
        Where the two models do not read the same columns.

    See Also
    --------
    audit : Compare a classifier between groups of rows: errors, calibration, and which columns make the difference.
    compare : Compare models on the same folds: error, log-loss, calibration error, seconds and sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeswater import GaussianNB, drift
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(2000, 3)), rng.integers(2, size=2000)
    >>> X[1000:, 2] += 0.5
    >>> found = drift(GaussianNB().fit(X[:1000], y[:1000]), GaussianNB().fit(X[1000:], y[1000:]))
    >>> [column.name for column in found.changed]
    ['x2']
    """
    if not isinstance(a, OnSums):
        raise ParameterError(f"a {type(a).__name__} keeps no sums that could be compared; give a classifier that does")
    if isinstance(b, OnSums):
        if type(b) is not type(a):
            raise ParameterError(
                f"a {type(a).__name__} and a {type(b).__name__} keep different sums; give two models of one kind"
            )
        before, after = sums_read_alike(a, b)
    elif y is None:
        raise ParameterError("rows are compared class by class; give their labels as drift(model, X, y)")
    else:
        after, before = sums_of(a, b, y), a.statistics_
    class_count, new_count = before.class_count.aligned(after.class_count)
    classes = class_count.classes
    rows = class_count.count, new_count.count
    columns = factors_of(before.columns.onto(classes), after.columns.onto(classes), rows)
    library = frames_of(a) if isinstance(a, BayesClassifier) else None
    return replace(drift_of(np.asarray(classes.labels).tolist(), rows, columns), library=library)


def factors_of(a: Any, b: Any, rows: tuple[Array, Array]) -> Iterator[ColumnFactors]:
    """Weigh two laws against one for every column of two sums, whose classes have some rows (n_classes,) each."""
    if isinstance(a, ColumnGroups):
        a.plan.require_same_reading(b.plan)
        families = families_of(a.plan)
        for key, part in a.groups.items():
            if isinstance(part, PairCounts):  # those of the classifiers of states count all of their columns
                yield from column_factors(part.singles, b.groups[key].singles, rows, a.plan.columns)
            elif key in families:
                yield from column_factors(part, b.groups[key], rows, families[key].columns)
        return
    yield from column_factors(a, b, rows, ())
