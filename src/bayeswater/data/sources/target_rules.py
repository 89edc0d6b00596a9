"""Targets that are no classes yet: amounts that are cut into bins, and classes of too few rows that are left out.

The bins are in the names of the classes, "up to 3", "3 to 7", "over 7": so a model knows later, too, what it counted.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.whole import in_types_that_fit, whole_table
from bayeswater.errors import BayesWarning, DataError, ParameterError, warn_user
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

FIRST, MIDDLE, LAST = (re.compile(form) for form in (r"up to (\S+)", r"(\S+) to (\S+)", r"over (\S+)"))


class TargetRule(Protocol):
    """Makes labels of what stands in the target column, null for rows that are left out."""

    def __call__(self, cells: "pa.ChunkedArray") -> "pa.ChunkedArray":
        """Give the labels."""


@record
class TargetBins:
    """Bins of amounts: one up to the first cut, one behind each of them.

    >>> TargetBins((3.0, 7.5)).labels
    ('up to 3', '3 to 7.5', 'over 7.5')
    """

    cuts: tuple[float, ...]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        said = [repr(cut).removesuffix(".0") for cut in self.cuts]
        between = [f"{low} to {high}" for low, high in pairwise(said)]
        return (f"up to {said[0]}", *between, f"over {said[-1]}")

    def __call__(self, cells: "pa.ChunkedArray") -> "pa.ChunkedArray":
        """Give the bin of each amount; an amount at a cut is in the bin that ends there."""
        import pyarrow as pa

        values = cells.cast(pa.float64()).to_numpy()
        codes = pa.array(np.searchsorted(self.cuts, values), mask=np.isnan(values))
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, pa.array(self.labels)).cast(pa.string())])

    @classmethod
    def of_values(cls, values: Any, n_bins: int, target: str) -> "TargetBins":
        """Cut amounts so that bins have about as many rows each."""
        known = values[~np.isnan(values)]
        if not len(known):
            raise DataError(f"no row has a number in {target!r}; is it the right column?")
        cuts = np.unique(np.quantile(known, np.arange(1, n_bins) / n_bins, method="lower"))
        cuts = cuts[cuts < known.max()]
        if not len(cuts):
            raise DataError(
                f"all rows have about the same number in {target!r}, {known[0]:g}: there are no bins to cut"
            )
        return cls(tuple(cuts.tolist()))

    @classmethod
    def of_classes(cls, classes: Iterable[Any]) -> "TargetBins | None":
        """Give the bins whose names classes are; None for other classes."""
        labels = [str(label) for label in classes]
        ends = [found[1] for label in labels if (found := FIRST.fullmatch(label) or MIDDLE.fullmatch(label))]
        ends += [found[2] for label in labels if (found := MIDDLE.fullmatch(label))]
        try:
            bins = cls(tuple(sorted({float(end) for end in ends})))
        except ValueError:
            return None
        return bins if bins.cuts and set(bins.labels) == set(labels) else None


@record
class KeptClasses:
    """Classes that have rows enough; the rows of others are left out."""

    labels: tuple[Any, ...]

    def __call__(self, cells: "pa.ChunkedArray") -> "pa.ChunkedArray":
        """Give the labels that are kept."""
        import pyarrow as pa
        import pyarrow.compute as pc

        plain = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
        return pc.if_else(pc.is_in(plain, value_set=pa.array(self.labels, plain.type)), plain, None)


def label_count(target: str, table: "pa.Table") -> Counter[Any]:
    """Count how often each label stands in the target column of a table."""
    found = table.column(target).drop_null().value_counts()
    return Counter(dict(zip(found.field(0).to_pylist(), found.field(1).to_pylist(), strict=True)))


def read_amounts(rows: LocalRows, target: str) -> None:
    """Read a target as numbers: in the style that was found, if one was."""
    import pyarrow as pa

    if rows.schema.field(target).type != pa.float64():
        rows.declare({target: pa.float64()})


def target_rule(rows: LocalRows, target: str, n_bins: int | None, min_rows: int | None) -> TargetRule | None:
    """Look at the target column of all rows, and find the bins, or the classes that are kept."""
    if n_bins is not None and min_rows is not None:
        raise ParameterError("bins of a target have about as many rows each; leave out --min-class-rows")
    if n_bins is not None:
        read_amounts(rows, target)
        column = whole_table(rows, [target], "cutting the target", "cut it before").column(target)
        return TargetBins.of_values(column.to_numpy(), n_bins, target)
    if min_rows is None:
        return None
    count = in_types_that_fit(lambda: rows.sum(partial(label_count, target), [target]))
    few = {label: n for label, n in count.items() if n < min_rows}
    if len(few) == len(count):
        raise DataError(f"no class in {target!r} has {min_rows:,} rows; give a smaller number")
    if few:
        shown = ", ".join(repr(label) for label in list(few)[:5]) + ", ..." * (len(few) > 5)
        are = f"{len(few):,} classes in {target!r} have" if len(few) > 1 else f"a class in {target!r} has"
        warn_user(f"{are} fewer than {min_rows:,} rows: {shown}; {sum(few.values()):,} rows are left out", BayesWarning)
    return KeptClasses(tuple(label for label in count if label not in few))
