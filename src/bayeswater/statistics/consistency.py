"""What the sums of any rows fulfil, scatter matrices among them: sums that came from elsewhere are held against it.

Sums are finite and, but for means, not negative; no cell is counted more often than its class; the states of a column
and its missing cells add up to the class counts; a row that has a word has it at least once. The sums of a mixed table
are moreover those of the columns of its plan (`families.plan_consistency`).

Counts of several columns are held against those of fewer: whatever meets a state adds up to it. Pairs add up to the
counts of single columns, triples to those of pairs. Families are in order, each cell once; a column is counted with its
parents and with its children, and has the same counts in all of them.
"""

from itertools import combinations
from typing import Any

import numpy as np

from bayeswater.data.weights import EXACT
from bayeswater.errors import StatisticsError
from bayeswater.kernels.category_tables import offsets
from bayeswater.kernels.pair_counts import n_pair_cells, n_triple_cells, rows_of_column
from bayeswater.kernels.parent_cells import number_configurations
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.pair_counts import PairCounts, TripleCounts
from bayeswater.statistics.parent_counts import ParentCells, ParentCounts, checked_parents
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.some_pairs import SomePairs
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.statistics.text_sums import TextSums
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
        if isinstance(columns, SomePairs):
            require_some_pairs(columns, slack_of(count))
        else:
            require_pairs(columns, slack_of(count))
        if isinstance(columns, TripleCounts):
            require_triples(columns, slack_of(count))
    elif isinstance(columns, ParentCounts):
        require_parent_counts(columns, count, slack_of(count))
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
        _require(bool((columns.total <= columns.weight * float(EXACT)).all()), "total holds counts beyond 2**53")


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


def require_pairs(counts: PairCounts, slack: float) -> None:
    """Refuse counts of pairs that no rows can have; those of the single columns are sound."""
    shape = n_pair_cells(counts.n_states), counts.n_classes
    if counts.pairs.shape != shape or counts.pairs.dtype != counts.table.dtype:
        raise StatisticsError(
            f"pairs has shape {counts.pairs.shape} of {counts.pairs.dtype}, and not {shape} of {counts.table.dtype}"
        )
    for i in range(1, len(counts.schema)):
        cells = counts.pairs[rows_of_column(i, counts.n_states)]  # (S_i + 1, slots of the columns before, n_classes)
        own, before = counts.table[counts.start[i] : counts.start[i + 1]], counts.table[: counts.start[i]]
        met = np.add.reduceat(cells, counts.start[:i], axis=1)  # (S_i + 1, n_before, n_classes)
        if (np.abs(met - own[:, None]) > slack).any() or (np.abs(cells.sum(axis=0) - before) > slack).any():
            raise StatisticsError(
                f"the pairs of column {counts.schema[i].name!r} with those before it do not add up to the counts of "
                "the columns"
            )


def require_some_pairs(counts: SomePairs, slack: float) -> None:
    """Refuse counts of some pairs that no rows can have; those of the single columns are sound."""
    shape = int(counts.base[-1]), counts.n_classes
    if counts.pairs.shape != shape or counts.pairs.dtype != counts.table.dtype:
        raise StatisticsError(
            f"pairs has shape {counts.pairs.shape} of {counts.pairs.dtype}, and not {shape} of {counts.table.dtype}"
        )
    n_slots = counts.n_states + 1
    for i, own in enumerate(counts.partners):
        if not own:
            continue
        cells, width = counts.pairs[counts.base[i] : counts.base[i + 1]], n_slots[list(own)]
        repeated = np.repeat(width, n_slots[i])  # of each slot of the column, under each partner
        met = np.add.reduceat(cells, np.cumsum(repeated) - repeated).reshape(len(own), n_slots[i], counts.n_classes)
        tiles = [np.tile(np.arange(counts.start[j], counts.start[j + 1]), n_slots[i]) for j in own]
        seen, slot = np.unique(np.concatenate(tiles), return_inverse=True)
        of_partners = np.zeros((len(seen), counts.n_classes), dtype=cells.dtype)
        np.add.at(of_partners, slot, cells)
        is_wrong = (np.abs(met - counts.table[counts.start[i] : counts.start[i + 1]]) > slack).any()
        if is_wrong or (np.abs(of_partners - counts.table[seen]) > slack).any():
            raise StatisticsError(
                f"the pairs of column {counts.schema[i].name!r} do not add up to the counts of the columns"
            )


def require_triples(counts: TripleCounts, slack: float) -> None:
    """Refuse counts of triples that no rows can have; those of the pairs are sound."""
    shape = n_triple_cells(counts.n_states), counts.n_classes
    if counts.triples.shape != shape or counts.triples.dtype != counts.pairs.dtype:
        raise StatisticsError(
            f"triples has shape {counts.triples.shape} of {counts.triples.dtype}, and not {shape} of "
            f"{counts.pairs.dtype}"
        )
    for columns in combinations(range(len(counts.schema)), 3):
        cells = counts.of_triple(*columns)
        for place in range(3):
            pair = [column for column in columns if column != columns[place]]
            if (np.abs(cells.sum(axis=place) - counts.of_pair(*pair)) > slack).any():
                names = [counts.schema[column].name for column in columns]
                raise StatisticsError(f"the triples of columns {names} do not add up to the counts of their pairs")


def require_parent_counts(counts: ParentCounts, class_count: Array, slack: float) -> None:
    """Refuse counts that no rows can have."""
    checked_parents(counts.parents, counts.schema)
    _require_layout(counts, class_count, slack)
    for x in range(len(counts.schema)):
        _require_in_order(counts.cells_of(x), counts.schema[x].name)
    singles = counts.singles
    start = offsets(counts.n_states)
    for x, parents in enumerate(counts.parents):
        one, name = counts.cells_of(x), counts.schema[x].name
        if (np.abs(one.count.sum(axis=0) - class_count) > slack).any():
            raise StatisticsError(f"the counts of column {name!r} do not add up to those of the classes")
        for level, parent in enumerate(parents):
            table = np.zeros((start[parent + 1] - start[parent], counts.n_classes), dtype=counts.count.dtype)
            np.add.at(table, one.cell[:, level], one.count)
            if (np.abs(table - singles.table[start[parent] : start[parent + 1]]) > slack).any():
                raise StatisticsError(
                    f"column {name!r} does not meet its parent {counts.schema[parent].name!r} as often as that is "
                    "counted"
                )


def _require_layout(counts: ParentCounts, class_count: Array, slack: float) -> None:
    start, cell, count = counts.start, counts.cell, counts.count
    is_start = start.dtype == np.int64 and start.shape == (len(counts.schema) + 1,) and start[0] == 0
    if not (is_start and (np.diff(start) > 0).all() and start[-1] == len(count)):
        raise StatisticsError(f"start does not cut {len(count)} cells into those of {len(counts.schema)} columns")
    width = 1 + max(len(parents) for parents in counts.parents)
    if cell.shape != (len(count), width) or cell.dtype.kind not in "iu":
        raise StatisticsError(f"cell has shape {cell.shape} of {cell.dtype}, and not {(len(count), width)} of integers")
    if count.shape != (len(count), len(class_count)) or count.dtype != class_count.dtype:
        raise StatisticsError(f"count has shape {count.shape} of {count.dtype} for {len(class_count)} classes")
    if counts.squared.shape != class_count.shape or counts.squared.dtype != class_count.dtype:
        raise StatisticsError(
            f"squared has shape {counts.squared.shape} of {counts.squared.dtype} for {len(class_count)} classes"
        )
    if (counts.squared > class_count + slack).any():
        raise StatisticsError("squared is larger than class_count, but no row counts for more than its weight there")


def _require_in_order(one: ParentCells, name: str) -> None:
    if (one.cell < 0).any() or (one.cell >= one.n_slots).any():
        raise StatisticsError(f"a cell of column {name!r} has a state beyond its domain")
    number, _ = number_configurations(one.cell.T, one.n_slots)
    if (number != np.arange(len(number))).any():
        raise StatisticsError(f"the cells of column {name!r} are not in the order of their states, each once")
    if not one.count.any(axis=1).all():
        raise StatisticsError(f"a cell of column {name!r} is kept without a row")


SCATTER_SLACK = 1e-9
"""Directions of columns of unit length may be negative by so much: sums that were merged and subtracted are rounded."""

SIGNED = ("mean", "scatter", "third")
"""Sums that may be negative."""


def require_scatter(columns: Scatter, count: Array, slack: float) -> None:
    """Refuse matrices that no rows can have."""
    n_classes, d = len(count), columns.scatter.shape[-1]
    whole, pairs = (n_classes, 1, 1), (n_classes, d, d)
    shapes = {"weight": [whole, pairs], "mean": [(n_classes, d, 1), pairs]}
    for name, array in columns.to_arrays().items():
        _require(array.shape in shapes.get(name, [pairs]), f"{name} has shape {array.shape} for {d} columns")
    _require(columns.names is None or len(columns.names) == d, f"there are sums of {d} columns, and other names")
    is_pairwise = columns.weight.shape == pairs
    _require(is_pairwise == (columns.mean.shape == pairs) or d == 1, "weight and mean are not both of pairs of columns")
    _require(not (is_pairwise and d > 1 and isinstance(columns, FourthMoments)), "fourth is of whole rows alone")
    _require(columns.weight.dtype == count.dtype, f"weight is of {columns.weight.dtype}, class_count of {count.dtype}")
    _require(bool((columns.weight <= count[:, None, None] + slack).all()), "weight counts more rows than class_count")
    if not is_pairwise and d > 1:
        same = np.abs(columns.weight[:, 0, 0] - count) <= slack
        _require(bool(same.all()), "weight is not that of the classes, though no cell is missing")
    for name, array in columns.to_arrays().items():
        if name in ("weight", "scatter", "fourth"):
            size = SCATTER_SLACK * np.abs(array).max(initial=0.0)
            _require(bool((np.abs(array - array.swapaxes(1, 2)) <= size).all()), f"{name} is not symmetric")
    squares = columns.squares
    _require(bool((squares >= 0).all()), "scatter has a negative square")
    _require_possible_squares(columns)
    if not is_pairwise:
        length = np.where(squares > 0, np.sqrt(squares), 1.0)
        least = np.linalg.eigvalsh(columns.scatter / length[:, :, None] / length[:, None, :]).min(initial=0.0)
        _require(bool(least >= -SCATTER_SLACK * d), "scatter is negative in a direction")


def _require_possible_squares(columns: Scatter) -> None:
    """Refuse squares that are too small: rows that differ do so by the distance of two floats."""
    for k, j in np.argwhere(columns.is_too_narrow)[:1].tolist():
        problem = f"scatter of column {columns.column_name(j)!r} is {columns.squares[k, j]:g} in a class, but "
        raise StatisticsError(problem + f"floats near its mean of {columns.means[k, j]:g} differ by more")
