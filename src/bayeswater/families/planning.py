"""The plan of a mixed table: each column gets a family from what the user says, or else from its type and values.

Numbers stay "auto" and strings of words stay "text" until the rows have been summed: then evidence and leave-one-out
choose between the families (`families.choosing`, `families.choosing_text`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from bayeswater.data.frames import require_own_names
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.reading.column_kinds import BOOLEAN, NO_VALUE, ColumnKind, kind_of
from bayeswater.data.reading.column_plan import AUTO, BITS, IGNORED, TEXT, Column, ColumnPlan
from bayeswater.data.reading.dates import has_times
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.reading.style_search import style_in_frame
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.errors import BayesWarning, DataError, ParameterError, warn_user
from bayeswater.estimate.smoothing import columns_of_one_value
from bayeswater.families.family import NOTHING_SAID, ColumnSettings
from bayeswater.families.registry import BINNED, LAWS, NUMERIC, OF_TEXT, families_of, kinds_of, require_options
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map
from bayeswater.phrases import own_reasons
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups

own_reasons(
    {
        "as given": "按指定",
        "as told": "按指定",  # of files of earlier versions
        "ignored": "不读取",
        "no value in the first rows, and later ones do not agree what it holds": (
            "前面的行没有值，后面的行对其内容不一致"
        ),
        "a date: its days": "日期：天数",
        "a date as {style}: its days": "写作 {style} 的日期：天数",
        "a date: its weekday": "日期：星期几",
        "a date: its month": "日期：月份",
        "a date: its time of day": "日期：一天中的时间",
        "{what}, written as {style}": "{what}，写作 {style}",
        "{n} different": "{n} 个不同的值",
        "column {name} is left out: {clause}": "未读取列 {name}：{clause}",
        "column {name} is left out: {clause}, so it names the rows": "未读取列 {name}：{clause}，它只是各行的名称",
        "{n} columns ({names}) are left out: {clause}": "未读取 {n} 列（{names}）：{clause}",
        "to keep it, say columns={how}": "若要保留，请写 columns={how}",
        "read once later rows have one, or at once if you say how, for example columns={how}": (
            "以后的行有值时读取，或指定读法，例如 columns={how}"
        ),
        "say how to read them, for example columns={how}": "请指定读法，例如 columns={how}",
        "column {name} is left out: {clause}, but {hint}": "未读取列 {name}：{clause}；但{hint}",
        "column {name} is read as numbers: {clause}, but {hint}": "列 {name} 读作数：{clause}；但{hint}",
        "column {name} is read as dates: {clause}, but {hint}": "列 {name} 读作日期：{clause}；但{hint}",
        "column {name} is read as {title}: {clause}, but {hint}": "列 {name} 读作{title}：{clause}；但{hint}",
        "column {name} has one value and empty cells: empty is a state, as nothing else can tell rows apart": (
            "列 {name} 只有一个值和空单元格：空被视为一种状态，因为没有别的可以区分各行"
        ),
        "{n} columns ({names}) have one value and empty cells: empty is a state, as nothing else can tell rows apart": (
            "{n} 列（{names}）只有一个值和空单元格：空被视为一种状态，因为没有别的可以区分各行"
        ),
        "where it means that the value is not known, declare all states that are possible, or leave the column out": (
            "若空表示值未知，请声明所有可能的状态，或不读取该列"
        ),
    }
)

NOT_AGREED = "no value in the first rows, and later ones do not agree what it holds"
"""Why a column is left out whose pieces tell different kinds."""

Late = Mapping[str, tuple[Column, ...]]
"""Columns that were empty in the first rows, and how pieces that have values there read them."""

FEW_VALUES = 12
"""Different whole numbers up to which a column holds states, where it must: months, grades, numbers of doors."""

NAMED = 5
"""Columns that a warning names, at most."""

FAMILY_OF = {
    "number": AUTO,
    "text": TEXT,
    "identifier": IGNORED,
    "empty": IGNORED,
    **{kind: family for law in LAWS for kind, family in law.usual_of.items()},
}
"""Family of each kind of column, unless the user says another one."""

FLAG = FAMILY_OF["flag"]

WORDS = TextAnalyser()


def plan_columns(
    raw: RawTable, given: Mapping[str, ColumnSettings], numeric: str, words: TextAnalyser = WORDS
) -> ColumnPlan:
    """Plan the columns of a table, by the family of numbers, and the words of texts, that nothing is said about."""
    # Kinds that take all rows to tell are found on our threads, before columns are looked at one after the other.
    looked_at = [
        name
        for name in raw.names
        if not isinstance(raw.columns[name], SparseMatrix) and given.get(name, NOTHING_SAID).family != IGNORED
    ]
    together = worth_compiling(raw.n_rows * len(looked_at))
    found = ordered_map(lambda name: _kind(name, raw, given.get(name, NOTHING_SAID)), looked_at) if together else ()
    kinds = dict(zip(looked_at, found, strict=False))
    columns: list[Column] = []
    for name in raw.names:
        columns += _planned(name, raw, given, numeric, words, kinds.get(name))
    known = [column.name for column in columns]
    require_own_names(known)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ParameterError(f"columns names {unknown[0]!r}, but there is no such column; there are {known[:10]}")
    plan = ColumnPlan(tuple(columns))
    if not plan.used:
        raise DataError(f"no column is left to learn from:\n{plan}\nsay how to read one, for example columns={{...}}")
    return plan


def replan_open(
    plan: ColumnPlan, raw: RawTable, given: Mapping[str, ColumnSettings], numeric: str, words: TextAnalyser = WORDS
) -> tuple[ColumnPlan, Late]:
    """Plan the columns that were empty so far by rows that may have values there; give those that have one.

    The plan that was made stays as it is in all other columns.
    """
    found = {column.source: tuple(_planned(column.source, raw, given, numeric, words)) for column in plan.open}
    late = {source: columns for source, columns in found.items() if columns[0].why != NO_VALUE}
    if not late:
        return plan, late
    columns = [new for column in plan for new in late.get(column.source, (column,))]
    require_own_names(column.name for column in columns)
    return ColumnPlan(tuple(columns)), late


def warn_of_empty_states(names: Sequence[str]) -> None:
    """Say in one line in which columns an empty cell is a state though nobody asked for it."""
    if names:
        warn_user(
            f"{_named(names)} {'has' if len(names) == 1 else 'have'} one value and empty cells: empty is a state, as "
            "nothing else can tell rows apart; where it means that the value is not known, declare all states that are "
            "possible, or leave the column out",
            BayesWarning,
        )


def warn_of_left_out(columns: Iterable[Column], what_to_do: str = "") -> None:
    """Name columns that are left out though nobody said so, in one line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for column in columns:
        by_reason.setdefault(column.why, []).append(column.name)
    for why, names in by_reason.items():
        are = "is" if len(names) == 1 else "are"
        warn_user(f"{_named(names)} {are} left out: {why}{what_to_do and f'; {what_to_do}'}", BayesWarning)


def warn_of_columns(sums: ColumnGroups, *, with_states: bool) -> None:
    """Name the columns of which no value was found, or none that could be read, and those where empty is a state."""
    unclear = [column for column in sums.plan if column.why == NOT_AGREED]
    later = "read once later rows have one, or at once if you say how"
    for columns, what_to_do in ((sums.plan.open, later), (unclear, "say how to read them")):
        example = f"for example columns={{{columns[0].name!r}: 'categorical'}}" if columns else ""
        warn_of_left_out(columns, f"{what_to_do}, {example}")
    if not with_states:
        return
    found: set[str] = set()
    for key, family in families_of(sums.plan).items():
        counts = sums.groups[key]
        if isinstance(counts, CategoryCounts):
            found.update(
                name for name, is_one in zip(family.names, columns_of_one_value(counts), strict=True) if is_one
            )
    warn_of_empty_states([column.name for column in sums.plan if column.name in found])


def _named(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"column {names[0]!r}"
    return f"{len(names)} columns ({', '.join(map(repr, names[:NAMED]))}{', ...' * (len(names) > NAMED)})"


def agreed(mine: tuple[Column, ...] | None, theirs: tuple[Column, ...] | None) -> tuple[Column, ...]:
    """Say how a column is read of which two sums, or one, have values."""
    found = mine or theirs
    assert found is not None
    if mine is None or theirs is None or mine == theirs:
        return found
    if {column.family for column in (*mine, *theirs)} == {AUTO, BITS}:
        return mine if mine[0].family == AUTO else theirs
    return (Column(found[0].source, found[0].source, IGNORED, NOT_AGREED, None, found[0].dtype),)


def _planned(
    name: str,
    raw: RawTable,
    given: Mapping[str, ColumnSettings],
    numeric: str,
    words: TextAnalyser,
    kind: ColumnKind | None = None,
) -> list[Column]:
    said = given.get(name, NOTHING_SAID)
    if isinstance(raw.columns[name], SparseMatrix):
        family = said.family or TEXT
        if family not in (*OF_TEXT, TEXT, IGNORED) or said.analyser is not None:
            wrong = family if said.analyser is None else said.analyser
            raise ParameterError(f"column {name!r} cannot be read as {wrong!r}: it is a block of sparse counts")
        return [Column(name, name, family, "sparse counts")]
    if said.family == IGNORED:
        kind = ColumnKind("empty", "")
    elif kind is None:
        kind = _kind(name, raw, said)
    dtype = _dtype(name, raw, kind.style)
    is_date = kind.kind == "date" or (kind.kind == "empty" and f"{name} (weekday)" in given)
    if is_date and said.family in (None, AUTO, *NUMERIC):
        # What another model reads of a date is taken over, with its time of day or without.
        cells = raw.in_styles({name: kind.style} if kind.style is not None else {}).cells(name)
        tells_time = f"{name} (time)" in given if said.dtype else has_times(name, cells)
        _warn_of_hint(name, "read as dates", kind)
        return _date(name, given, numeric, said.dtype or dtype, kind.style, tells_time=tells_time)
    family = said.family or (numeric if kind.kind == "number" else FAMILY_OF[kind.kind])
    why = f"as given; {kind.why}" if said.family and kind.why else "as given" if said.family else kind.why
    if said.family and kind.kind not in ("empty", *(kinds_of(family) or (kind.kind,))):
        raise ParameterError(f"column {name!r} cannot be read as {family!r}: it is a {kind.kind} ({kind.why})")
    if kind.kind == "flag" and not kind.why.startswith(BOOLEAN) and said.family is None:
        family = BITS  # a later batch may have other numbers
    if kind.kind == "number" or family in NUMERIC:
        family = _number(said, family)
    if kind.hint and said.family is None:
        how = "left out" if family == IGNORED else "read as numbers" if family == AUTO else f"read as {family}"
        _warn_of_hint(name, how, kind)
        why = f"{why}; {kind.hint}"
    elif kind.kind == "identifier" and family == IGNORED and said.family is None:
        warn_user(
            f"column {name!r} is left out: {kind.why}, so it names the rows; to keep it, say "
            f"columns={{{name!r}: 'categorical'}}",
            BayesWarning,
        )
    analyser = (said.analyser or words) if family in (*OF_TEXT, TEXT) else None
    if family in NUMERIC:
        require_options(name, family, said.options)
    options = tuple((option, float(number)) for option, number in said.options)
    return [Column(name, name, family, why, None, dtype, said.cuts, analyser, options=options, style=kind.style)]


def _dtype(name: str, raw: RawTable, style: CellStyle | None) -> str:
    """Name the type in which cells of a column are given back."""
    if style is None or name in raw.styles:
        return "string" if style is not None and style.kind == "words" else raw.dtype(name)
    return style.dtype or raw.dtype(name)


def _warn_of_hint(name: str, how: str, kind: ColumnKind) -> None:
    """Say what may be wrong with how a column is read."""
    if kind.hint:
        warn_user(f"column {name!r} is {how}: {kind.why}, but {kind.hint}", BayesWarning)


def _date(
    source: str,
    given: Mapping[str, ColumnSettings],
    numeric: str,
    dtype: str | None,
    style: CellStyle | None,
    *,
    tells_time: bool,
) -> list[Column]:
    """Plan the days of a date, its weekday and month, and its time of day where it has one."""
    said = given.get(source, NOTHING_SAID)
    days = _number(said, numeric)
    if said.options:
        raise ParameterError(
            f"columns[{source!r}] gives {said.options[0][0]!r} to a date, whose weekday, month and time of day are "
            "columns of their own; leave it out, or give the numbers of the circle as a column"
        )
    if days in NUMERIC:
        require_options(source, days, ())
    why = f"a date as {style}: its days" if style and style.kind == "date" else "a date: its days"
    columns = [Column(source, source, days, why, "days", dtype, said.cuts, style=style)]
    for part in ("weekday", "month"):
        name = f"{source} ({part})"
        usual = FAMILY_OF["category"]
        family = given.get(name, NOTHING_SAID).family or usual
        if family not in (usual, IGNORED):
            raise ParameterError(f"column {name!r} cannot be read as {family!r}; it is {usual!r} or {IGNORED!r}")
        columns.append(Column(name, source, family, f"a date: its {part}", part))
    if tells_time:
        name = f"{source} (time)"
        said = given.get(name, NOTHING_SAID)
        family = _number(said, numeric)
        if family not in (AUTO, IGNORED, *NUMERIC):
            raise ParameterError(
                f"column {name!r} cannot be read as {family!r}; it is one of {[AUTO, *NUMERIC]} or 'ignored'"
            )
        if family in NUMERIC:
            require_options(name, family, said.options)
        why = "a date: its time of day"
        columns.append(Column(name, source, family, why, "time", "time32[s]", said.cuts, options=said.options))
    return columns


def _number(said: ColumnSettings, family: str) -> str:
    """Tell the family of a number that can be counted at once; bins without cuts must wait for the sums."""
    family = said.family or family
    return AUTO if family == BINNED and said.cuts is None else family


def _kind(name: str, raw: RawTable, said: ColumnSettings) -> ColumnKind:
    column = raw.columns[name]
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        import pyarrow as pa

        return kind_of(name, pa.chunked_array([pa.array(column, from_pandas=True)]), declared=False)
    style, doubt = raw.styles.get(name, said.style), ""
    if style is None and said.family in (None, AUTO, FLAG, *NUMERIC) and name not in raw.declared:
        found = style_in_frame(column, is_stored=name in raw.stored)
        style, doubt = (found.style, found.doubt.split(": say")[0]) if found is not None else (None, "")
    if style is not None:
        style = style if said.family == FLAG else style.of_states
        raw = raw.in_styles({name: style})
    kind = kind_of(name, raw.columns[name], declared=name in raw.declared, stored=name in raw.stored)
    is_plain = style is None or style.kind in ("plain", "words")
    written = kind.why if is_plain else f"{kind.why}, written as {style}"
    hint = f"{doubt}: make numbers or dates of the column if that is so" if doubt else kind.hint
    return replace(kind, why=written, hint=hint, style=style)
