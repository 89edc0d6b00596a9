"""What the sums of any rows fulfil: sums that came from elsewhere are held against it.

Sums are finite and, but for means, not negative; no cell is counted more often than its class; the states of a column
and its missing cells add up to the class counts; a row that has a word has it at least once. The sums of a mixed table
are moreover those of the columns of its plan (`families.plan_consistency`).
"""

from typing import Any

import numpy as np

from bayeswater.data.weights import EXACT
from bayeswater.errors import StatisticsError
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.family_counts import FamilyCounts
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.scatter_consistency import SIGNED, require_scatter
from bayeswater.statistics.several_columns_consistency import require_families, require_pairs, require_triples
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.statistics.triple_counts import TripleCounts
from bayeswater.typing import Array

SLACK = 1e-6
"""Float sums, taken in another order, merged and subtracted, may differ by this share of the largest class."""

ROW_COUNTS = ("weight", "observed", "present", "counted_absent")
"""Sums of columns that count rows, in the kind of number that counts the classes."""

PLACES = "cell"
"""Array of the states that families were counted in: integers of any width, no sums."""

OF_NUMBERS = ("mean", "scatter", "third", "fourth")
"""Moments, which are no counts: fractions, whatever the rows."""

MAY_AGREE = ("weight", "observed")
"""Sums that are one column wide where all columns agree."""


def require_consistent(sums: Sums[Any]) -> None:
    """Refuse sums that no rows can have."""
    count, columns = sums.class_count.count, sums.columns
    for name, array in {"class_count": count, **columns.to_arrays()}.items():
        are_places = name.rpartition(".")[2] == PLACES and array.dtype.kind in "iu"
        kinds = (np.float64,) if name.rpartition(".")[2] in OF_NUMBERS else (np.int64, np.float64)
        is_sum = array.dtype in kinds
        _require(is_sum or are_places, f"{name} is of {array.dtype}, not of {' or '.join(k.__name__ for k in kinds)}")
        _require(bool(np.isfinite(array).all()), f"{name} holds a number that is not finite")
        signed = SIGNED if isinstance(columns, Scatter) else ("mean",)
        least = 0 if name.rpartition(".")[2] in signed else array.min(initial=0)
        _require(bool(least >= 0), f"{name} holds {least}, but is never negative")
        if name == "class_count" or name.rpartition(".")[2] in ROW_COUNTS:
            faint = array[(array > 0) & (array < np.finfo(np.float64).tiny)]
            _require(not len(faint), f"{name} counts {faint.max(initial=0)} rows, a number without all its digits")
    n_classes = sums.classes.n_states
    _require(count.shape == (n_classes,), f"class_count has shape {count.shape} for {n_classes} classes")
    _require(bool(count.any()), "class_count is zero for every class")
    for group in columns.groups.values() if isinstance(columns, ColumnGroups) else [columns]:
        _require_group(group, count)


def _require_group(columns: Statistic, count: Array) -> None:
    if isinstance(columns, Scatter):
        require_scatter(columns, count, slack_of(count))
    elif isinstance(columns, CategoryCounts):
        _require_table(columns, count)
    elif isinstance(columns, PairCounts):
        _require_table(columns.singles, count)
        require_pairs(columns, slack_of(count))
        if isinstance(columns, TripleCounts):
            require_triples(columns, slack_of(count))
    elif isinstance(columns, FamilyCounts):
        require_families(columns, count, slack_of(count))
    elif isinstance(columns, TextSums):
        _require_words(columns, count)
    elif isinstance(columns, ColumnStatistic):
        _require_columns(columns, count)


def _require_columns(columns: ColumnStatistic, count: Array) -> None:
    arrays = columns.to_arrays()
    n_columns = max(array.shape[-1] for array in arrays.values())
    n_names = n_columns if columns.names is None else len(columns.names)
    _require(n_names == n_columns, f"there are sums of {n_columns} columns, and names of {n_names}")
    for name, array in arrays.items():
        shapes = [(len(count), n_columns), (len(count), 1 if name in MAY_AGREE else n_columns)]
        _require(array.shape in shapes, f"{name} has shape {array.shape}, and not {shapes[0]}")
        if name in ROW_COUNTS:
            _require_same_kind(name, array, count)
            _require_within(name, array, "class_count", count[:, None], count)
    if "present" in arrays:
        _require_within("present", arrays["present"], "observed", arrays["observed"], count)
    if "counted_absent" in arrays:
        apart = np.abs(arrays["counted_absent"] - (arrays["observed"] - arrays["present"]))
        _require(bool((apart <= slack_of(count)).all()), "present and counted_absent do not add up to observed")
    if isinstance(columns, CountTotals) and columns.weight.dtype.kind == "i":
        _require(bool((columns.total == np.floor(columns.total)).all()), "total holds a fraction, but sums up counts")
        _require(not bool(((columns.weight == 0) & (columns.total > 0)).any()), "total counts where there is no cell")
    if isinstance(columns, CountTotals):
        _require(bool((columns.total <= columns.weight * EXACT).all()), "total holds counts beyond 2**53")


def _require_table(columns: CategoryCounts, count: Array) -> None:
    shape = sum(variable.n_states + 1 for variable in columns.schema), len(count)
    _require(columns.table.shape == shape, f"table has shape {columns.table.shape}, and not {shape}")
    _require_same_kind("table", columns.table, count)
    total = np.add.reduceat(columns.table, columns.start[:-1])  # (n_columns, n_classes)
    wrong = (np.abs(total - count) > slack_of(count)).any(axis=1)
    if wrong.any():
        name = columns.schema[int(wrong.argmax())].name
        raise StatisticsError(f"the counts of column {name!r} do not add up to those of the classes")


def _require_words(columns: TextSums, count: Array) -> None:
    where, shape = f" of column {columns.name!r}", (len(count), columns.vocabulary.n_states)
    for name, array in columns.to_arrays().items():
        expected = shape if name != "observed" else count.shape
        _require(array.shape == expected, f"{name}{where} has shape {array.shape}, and not {expected}")
        if name in ROW_COUNTS:
            _require_same_kind(f"{name}{where}", array, count)
    _require_within(f"observed{where}", columns.observed, "class_count", count, count)
    _require_within(f"present{where}", columns.present, "observed", columns.observed[:, None], count)
    if columns.word_count.dtype.kind == "i":
        _require_same_kind(f"word_count{where}", columns.word_count, count)
        _require_within(f"present{where}", columns.present, "word_count", columns.word_count, count)
        _require(
            not bool(columns.word_count[columns.present == 0].any()), f"word_count{where} has a word that no row has"
        )


def _require_same_kind(name: str, array: Array, count: Array) -> None:
    _require(array.dtype == count.dtype, f"{name} is of {array.dtype} where class_count is of {count.dtype}")


def _require_within(name: str, array: Array, whole_name: str, whole: Array, count: Array) -> None:
    _require(bool((array <= whole + slack_of(count)).all()), f"{name} counts more rows than {whole_name}")


def slack_of(count: Array) -> float:
    """Give how far sums of rows may be apart that are the same."""
    return 0 if count.dtype.kind == "i" else SLACK * float(count.max())


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StatisticsError(problem)
