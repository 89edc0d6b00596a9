"""The plan of a table in which every column has states, and the codes of its cells side by side.

Strings and declared categories are read as in `NaiveBayes` (`families.planning`). Of numbers, whole ones of few
different values are categories; all others are cut into bins that separate the classes. Text and identifiers are left
out. The cuts depend on the labels of the rows, so what is measured on these rows holds given the cuts.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import CodedTable, DiscreteTable
from bayeswater.data.reading.column_kinds import IDENTIFIED
from bayeswater.data.reading.column_plan import AUTO, BITS, COUNTS, IGNORED, TEXT, Column, ColumnPlan
from bayeswater.data.reading.discretising.cuts import closed_left
from bayeswater.data.reading.discretising.finding_cuts import Method, NumberColumn, Numbers
from bayeswater.data.reading.number_table import bin_labels
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.data.variable import Schema, Variable
from bayeswater.data.weights import inconsistent_lengths
from bayeswater.errors import BayesWarning, DataError, ParameterError, warn_user
from bayeswater.families.family import ColumnSettings, Settings
from bayeswater.families.planning import FEW_VALUES, NAMED, plan_columns, warn_of_left_out
from bayeswater.families.registry import OF_STATES, OF_TEXT, families_of
from bayeswater.phrases import own_reasons
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.structure.mutual_information import sparse_columns
from bayeswater.typing import Array

own_reasons(
    {
        "column {name} is left out: it is text ({what}), and {model} reads columns of states": (
            "未读取列 {name}：它是文本（{what}），而 {model} 只读取状态列"
        ),
        "to keep it, say columns={how}, or use NaiveBayes": "若要保留，请写 columns={how}，或使用 NaiveBayes",
        "column {name} has as many values as rows, {n}, so it names the rows and nothing is learned from it": (
            "列 {name} 的取值与行数一样多（{n}），只是各行的名称，学不到什么"
        ),
        "leave it out: columns={how}": "请不要读取它：columns={how}",
        "some columns have too many values to be the parent of another: {parts}": (
            "有些列的取值太多，不能作为其他列的父列：{parts}"
        ),
        "some columns have too many values to be the parent of another, and depend on the class alone: {parts}": (
            "有些列的取值太多，不能作为其他列的父列，只依赖于类别：{parts}"
        ),
        "{name} ({n} in {all} rows)": "{name}（{all} 行中有 {n} 个）",
        "leave them out, columns={how}, or say who depends on whom, {way}": (
            "请不要读取它们，columns={how}，或指定依赖关系，{way}"
        ),
    }
)

WIDE = 4096
"""Range of whole numbers up to which they are counted rather than sorted to see how many there are."""


def plan_discrete(
    raw: RawTable, labels: Labels, weight: Array | None, settings: Settings, discretize: str
) -> ColumnPlan:
    """Plan the columns of a table by its rows, their labels and weights."""
    plan = first_plan(raw, settings)
    dated = raw.with_dates(plan)
    changed = {}
    for column in plan:
        if column.family == BITS:
            changed[column.name] = replace(column, family="categorical", options=())  # a later batch may have a 2
        elif column.family == AUTO:
            numbers = NumbersInMemory(dated.numbers(column.name), labels.codes, labels.n_classes, weight)
            changed[column.name] = settled(column, numbers, settings.of(column), discretize)
    warn_of_left_out(column for column in plan.open if settings.of(column).family is None)
    plan = plan.with_columns(changed)
    require_used(plan)
    return plan


def first_plan(raw: RawTable, settings: Settings) -> ColumnPlan:
    """Plan columns by their types and values; numbers stay open, and text is left out."""
    require_states(settings.given, settings.model)
    if COUNTS in raw.columns:
        raise DataError(
            f"X is sparse, and {settings.model} looks at pairs of cells, zeros too; give a dense table, for example "
            "X.toarray(), or use NaiveBayes"
        )
    plan = plan_columns(raw, settings.given, "binned")
    texts = plan.of_families(TEXT, *OF_TEXT)
    return plan.with_columns(
        {column.name: left_out_text(column, settings.model, "columns of states") for column in texts}
    )


def require_used(plan: ColumnPlan) -> None:
    """Refuse a plan by which nothing is left to learn from."""
    if not plan.used:
        raise DataError(f"no column is left to learn from:\n{plan}\nsay how to read one, for example columns={{...}}")


def warn_of_names_of_rows(schema: Schema, plan: ColumnPlan, n_rows: int) -> None:
    """Warn of categories of which almost every row has another: what is counted of them holds for no other row."""
    for variable, column in zip(schema, plan.used, strict=True):
        if column.family == "categorical" and n_rows >= IDENTIFIED and variable.n_states >= n_rows:
            warn_user(
                f"column {column.name!r} has as many values as rows, {variable.n_states}, so it names the rows and "
                f"nothing is learned from it; leave it out: columns={{{column.name!r}: 'ignored'}}",
                BayesWarning,
            )


def warn_of_sparse_columns(counts: PairCounts | CategoryCounts, way_out: str, *, are_alone: bool) -> None:
    """Warn, in one line, of columns with too many values to be the parent of another, or a child if `are_alone`."""
    sparse = np.flatnonzero(sparse_columns(counts)).tolist()
    named = [
        f"{counts.schema[j].name!r} ({counts.n_states[j]} in {counts.of_column(j).sum():.6g} rows)" for j in sparse
    ]
    if named:
        alone = ", and depend on the class alone" if are_alone else ""
        warn_user(
            f"some columns have too many values to be the parent of another{alone}: "
            f"{', '.join(named[:NAMED])}{', ...' * (len(named) > NAMED)}; leave them out, "
            f"columns={{{counts.schema[sparse[0]].name!r}: 'ignored'}}, or say who depends on whom, {way_out}",
            BayesWarning,
        )


def cut_by_labels(plan: ColumnPlan, settings: Settings, discretize: str) -> tuple[Column, ...]:
    """Columns of numbers whose cuts depend on the labels of the rows."""
    given = [settings.of(column) for column in plan.used]
    return tuple(
        column
        for column, said in zip(plan.used, given, strict=True)
        if column.family == "binned" and said.cuts is None and method_of(said, discretize).needs_labels
    )


def require_states(given: Mapping[str, ColumnSettings], model: str) -> None:
    """Refuse what a user says about columns that only holds for columns without states."""
    for name, said in given.items():
        if said.family not in (None, AUTO, IGNORED, *OF_STATES):
            raise ParameterError(
                f"columns says that {name!r} is {said.family}, but every column of {model} has states; it can be one "
                f"of {[*OF_STATES, AUTO, IGNORED]}"
            )
        if said.prior is not None or said.alpha is not None:
            raise ParameterError(
                f"columns gives {name!r} a smoothing of its own, but {model} smooths all tables alike; leave out the "
                "prior and the alpha, or use NaiveBayes"
            )


def left_out_text(column: Column, model: str, reads: str) -> Column:
    """Leave a column of text out of a model that reads other things, with a warning."""
    warn_user(
        f"column {column.name!r} is left out: it is text ({column.why}), and {model} reads {reads}; to keep "
        f"it, say columns={{{column.name!r}: 'categorical'}}, or use NaiveBayes",
        BayesWarning,
    )
    return replace(column, family=IGNORED, why=f"text; {column.why}", analyser=None, options=())


class CuttableNumbers(Numbers, Protocol):
    """A column of numbers of which categories or bins are made."""

    @property
    def n_few_whole(self) -> int | None:
        """How many different values there are, if they are whole and few."""

    @property
    def ends(self) -> tuple[Array, Array]:
        """Least and largest of values that are side by side: each value is both, where all are told apart."""


def settled(column: Column, numbers: CuttableNumbers, said: ColumnSettings, discretize: str) -> Column:
    """Make categories or bins of a column of numbers."""
    if said.family in (None, AUTO) and said.bins is None and column.part is None:
        n_few = numbers.n_few_whole
        if n_few is not None:
            return replace(column, family="categorical", why=f"{column.why}; {n_few} different", options=())
    found = method_of(said, discretize).found_in(numbers)
    first, last = numbers.ends
    cuts = closed_left(found.cuts, first if last is first else np.concatenate([first, last]))
    spans = _spans(first, last, cuts)
    return replace(
        column, family="binned", cuts=tuple(cuts.tolist()), why=f"{column.why}; {found}", spans=spans, options=()
    )


def method_of(said: ColumnSettings, discretize: str) -> Method:
    """How a column of numbers is cut: as is said of it, or else as all are."""
    if isinstance(said.bins, int):
        return Method("equal_frequency", n_bins=said.bins)
    return Method(said.bins or discretize)


class NumbersInMemory(NumberColumn):
    """A column of numbers whose rows are all here."""

    @property
    def ends(self) -> tuple[Array, Array]:
        """The values."""
        values = self.present
        return values, values

    @property
    def n_few_whole(self) -> int | None:
        """How many different values there are, if they are whole and few."""
        return _n_few_whole(self.values)


def _n_few_whole(values: Array) -> int | None:
    """Tell how many different values there are, if they are whole and few."""
    present = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    low, high = present.min(), present.max()
    if float(high) - float(low) >= WIDE:
        head = np.unique(present[: 64 * FEW_VALUES])  # most columns of many values are recognised at once
        distinct = head if len(head) > FEW_VALUES else np.unique(present)
        few = len(distinct) <= FEW_VALUES and bool((distinct == np.floor(distinct)).all())
        return len(distinct) if few else None
    place = present - low
    if place.dtype.kind == "f":
        whole = place.astype(np.int64)
        if (whole != place).any() or low != np.floor(low):
            return None
    else:
        # 100 is 200 above -100, which int8 holds as -56; of the widest integers so small a difference is right.
        whole = place.view(np.int64 if place.itemsize == 8 else f"u{place.itemsize}")
    n_distinct = int((np.bincount(whole) > 0).sum())
    return n_distinct if n_distinct <= FEW_VALUES else None


def _spans(first: Array, last: Array, cuts: Array) -> tuple[tuple[float, float], ...] | None:
    """Least and largest value of each bin, if every bin has one."""
    low, high = np.full(len(cuts) + 1, np.inf), np.full(len(cuts) + 1, -np.inf)
    place = np.searchsorted(cuts, first, side="right")
    np.minimum.at(low, place, first)
    np.maximum.at(high, place if last is first else np.searchsorted(cuts, last, side="right"), last)
    return tuple(zip(low.tolist(), high.tolist(), strict=True)) if (low <= high).all() else None


NARROW = 2
"""Bytes of an integer up to which a copy of a table costs less than reading its columns far apart."""


def read_columns(X: Any, model: str) -> RawTable:
    """Read the columns of a table; narrow integers side by side are put one below the other, to be read in a run."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iub" and X.dtype.itemsize <= NARROW:
        X = np.asfortranarray(X)
    return read_raw(X, model)


def read_planned(X: Any, plan: ColumnPlan, model: str) -> RawTable:
    """Read the columns of a table that a plan names."""
    return read_columns(X, model).require_columns(plan.sources, model)


def code_columns(
    raw: RawTable, plan: ColumnPlan, known: Schema | None, settings: Settings, *, learning: bool
) -> DiscreteTable:
    """Code the columns of a plan, in the domains that are `known`."""
    raw = raw.with_dates(plan)
    place = {column.name: j for j, column in enumerate(plan.used)}
    coded: dict[str, tuple[CodedTable, int]] = {}
    for part in families_of(plan).values():
        own = None if known is None else Schema(tuple(known[place[name]] for name in part.names))
        table = part.encode(raw, own, settings, learning=learning)
        coded |= {name: (table, j) for j, name in enumerate(part.names)}
    in_order = [coded[name] for name in place]
    codes = ColumnMatrix(tuple(table.codes.column(j) for table, j in in_order))
    unseen = tuple(seen for table in {id(table): table for table, _ in in_order}.values() for seen in table.unseen)
    return DiscreteTable(plan, CodedTable(Schema(tuple(table.schema[j] for table, j in in_order)), codes, unseen))


def planned_table(X: Any, labels: Labels, weight: Array | None, settings: Settings, discretize: str) -> DiscreteTable:
    """Plan the columns of a first table by its rows, their labels and weights, and code them."""
    raw = read_columns(X, settings.model)
    if raw.n_rows != len(labels.codes):
        raise inconsistent_lengths(raw.n_rows, len(labels.codes))
    plan = plan_discrete(raw, labels, weight, settings, discretize)
    table = code_columns(raw, plan, None, settings, learning=True)
    warn_of_names_of_rows(table.coded.schema, plan, raw.n_rows)
    return table


def variables_of(schema: Schema, plan: ColumnPlan) -> tuple[Variable, ...]:
    """Variables of the columns; the states of numbers are the names of their bins."""
    return tuple(
        Variable(variable.name, tuple(bin_labels(column))) if column.family == "binned" else variable
        for variable, column in zip(schema, plan.used, strict=True)
    )
