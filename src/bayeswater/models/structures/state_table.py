"""`StateTable`: the rows of a frame as states of variables, numbers put into bins."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside, is_frame, library_of, materialised, require_own_names
from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.coded_table import DiscreteTable
from bayeswater.data.reading.column_plan import AUTO, IGNORED, ColumnPlan
from bayeswater.data.reading.dates import PARTS, has_times, is_date
from bayeswater.data.reading.known_labels import holds_numbers, holds_texts
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.whole import whole_table
from bayeswater.data.variable import Schema, Variable
from bayeswater.data.weights import CountedRows
from bayeswater.errors import DataError, ParameterError, SchemaError, nearest_names
from bayeswater.families.family import ColumnSettings, Settings
from bayeswater.families.registry import NUMERIC
from bayeswater.families.settings import column_settings
from bayeswater.families.state_planning import (
    code_columns,
    cut_by_labels,
    plan_discrete,
    read_columns,
    variables_of,
    warn_of_names_of_rows,
)
from bayeswater.models.network.network_rows import rows_as_frame
from bayeswater.models.streaming.sources import rows_to_answer
from bayeswater.records import record
from bayeswater.typing import Array

WAY_OUT = "read fewer columns, bayeswater.local_rows(source, columns=[...]), or fewer rows"
"""Of one who has more rows than memory holds."""


@record
class StateTable:
    """Codes (n_variables, n_rows) of the states of variables; a missing cell has the code one past the last state."""

    plan: ColumnPlan
    variables: tuple[Variable, ...]
    codes: Array
    weight: Array | None
    library: str | None

    @classmethod
    def of(
        cls,
        data: Any,
        discretize: str = "equal_frequency",
        columns: Mapping[Any, Any] | None = None,
        sample_weight: Any = None,
        *,
        bins: Mapping[str, ColumnSettings] | None = None,
        nodes: Sequence[str] = (),
    ) -> "StateTable":
        """Read a frame, or a source into memory.

        Parameters
        ----------
        data : frame; or path, pattern, dataset, or whatever else `fit(source)` takes
        discretize : how numbers are put into bins; see `Discretizer`
        columns : what is known of columns, as in `NaiveBayes`
        sample_weight : (n_rows,)
        bins : cuts that numbers of columns go into, unless `columns` says how
        nodes : columns that are variables: their texts are states, of however many words; a date is its days alone
            where its weekday and month are no nodes
        """
        data = named_frame(data)
        raw = read_columns(data, "learn_structure")
        one_class = np.zeros(raw.n_rows, dtype=np.int64)
        rows = CountedRows.of(data, one_class, sample_weight, "learn_structure")
        if rows.kept is not None:
            raw = read_columns(rows.X, "learn_structure")
        with rows.named():
            given = column_settings(columns)
            known = _cut_so(raw, bins or {}) | _of_states(raw, nodes) | _of_days(raw, nodes, given)
            settings = Settings("learn_structure", given=known | given)
            plan = plan_discrete(raw, encode_labels(rows.y), rows.weight, settings, discretize)
            _require_cuts_without_classes(plan, settings, discretize)
            table = code_columns(raw, plan, None, settings, learning=True)
        warn_of_names_of_rows(table.coded.schema, plan, raw.n_rows)
        return cls(plan, variables_of(table.coded.schema, plan), codes_of(table), rows.weight, library_of(data))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def n_states(self) -> Array:
        """Number of states of each variable."""
        return np.array([variable.n_states for variable in self.variables], dtype=np.int64)

    @property
    def n_missing(self) -> Array:
        """Missing cells of each variable."""
        return (self.codes >= self.n_states[:, None]).sum(axis=1)

    @property
    def twins(self) -> tuple[tuple[str, ...], ...]:
        """Groups of variables that tell the same of every row, each state of one going with one of the other.

        No rows can say on which of a group another variable depends: every score is the same.
        """
        groups: dict[bytes, list[str]] = {}
        for name, column in zip(self.names, self.codes, strict=True):
            _, first, state = np.unique(column, return_index=True, return_inverse=True)
            if len(first) > 1:
                groups.setdefault(first[state].tobytes(), []).append(name)  # each state by the first row that has it
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def states_of(self, data: Any, unseen: str = "ignore") -> Any:
        """Give other rows as a frame of states, numbers in the same bins; see `LearnedStructure.states_of`."""
        if unseen not in ("ignore", "error"):
            raise ParameterError(f"unseen is {unseen!r}; it can be 'ignore' or 'error'")
        data = named_frame(data)
        raw = read_columns(data, "learn_structure")
        known = self.plan.sources
        for name in raw.names:
            if name not in known:
                raise SchemaError(
                    f"column {name!r} is none of those that the structure was learned from "
                    f"({nearest_names(name, known)}); rename it or leave it out"
                )
        plan = ColumnPlan(tuple(column for column in self.plan if column.source in raw.columns))
        names = {column.name for column in plan.used}
        if not names:
            raise SchemaError(f"no column of the frame is a variable; the variables are {list(self.names)[:10]}")
        variables = tuple(variable for variable in self.variables if variable.name in names)
        settings = Settings("learn_structure", unseen=unseen)
        table = code_columns(raw, plan, Schema(variables), settings, learning=False)
        return rows_as_frame(codes_of(table), variables, Alongside.of(data))

    def of_rows(self, kept: Array) -> "StateTable":
        """Give some of the rows, of the same variables: (n_rows,) bool."""
        return replace(self, codes=self.codes[:, kept], weight=None if self.weight is None else self.weight[kept])

    def to_frame(self) -> Any:
        """Give the rows as a frame of states, numbers by the names of their bins."""
        return rows_as_frame(self.codes, self.variables, self.library)


def _require_cuts_without_classes(plan: ColumnPlan, settings: Settings, discretize: str) -> None:
    for column in cut_by_labels(plan, settings, discretize):
        raise ParameterError(
            f"'mdl' cuts where the classes of the rows change, and a structure has no class for {column.name!r} to "
            "look at; take 'equal_frequency' or another of Discretizer, give cuts of your own, or put the numbers into "
            "bins with Discretizer('mdl').fit(X, y) before"
        )


def _cut_so(raw: RawTable, bins: Mapping[str, ColumnSettings]) -> dict[str, ColumnSettings]:
    """Cut columns of numbers as is known of them, and those of dates and times if their type is known, too."""
    from pyarrow.types import is_temporal

    kinds = {name: raw.arrow(name, 0).type for name in bins if name in raw.columns}
    found = {
        name: bins[name]
        for name, kind in kinds.items()
        if holds_numbers(kind) or (is_temporal(kind) and bins[name].dtype is not None)
    }
    times = (f"{name} (time)" for name in found if is_date(kinds[name]))
    return found | {name: bins[name] for name in times if name in bins}


def _of_states(raw: RawTable, nodes: Sequence[str]) -> dict[str, ColumnSettings]:
    """Take texts for states in columns that are nodes."""
    texts = (name for name in nodes if name in raw.columns and holds_texts(raw.arrow(name, 0).type))
    return {name: ColumnSettings(family="categorical") for name in texts}


def _of_days(raw: RawTable, nodes: Sequence[str], given: Mapping[str, ColumnSettings]) -> dict[str, ColumnSettings]:
    """Leave out the other parts of a date that is a node where they are none."""
    dates = [name for name in nodes if name in raw.columns and is_date(raw.arrow(name, 0).type)]
    spread = (name for name in dates if name not in given or given[name].family in (None, AUTO, *NUMERIC))
    parts = (
        f"{name} ({part})" for name in spread for part in (PARTS if has_times(name, raw.cells(name)) else PARTS[:-1])
    )
    return {part: ColumnSettings(family=IGNORED) for part in parts if part not in nodes}


def named_frame(data: Any) -> Any:
    """Hold a source in memory and require a frame; names of columns that are no texts become theirs.

    The latter is as in `BayesianNetwork`.
    """
    rows = rows_to_answer(data)
    if isinstance(rows, LocalRows):
        rows.keep_words()
    data = materialised(data) if rows is None else whole_table(rows, None, "learn_structure", WAY_OUT)
    if not is_frame(data):
        raise DataError(f"data is a {type(data).__name__}; give a frame, whose columns have names")
    if library_of(data) == "pandas" and not all(isinstance(name, str) for name in data.columns):
        require_own_names(data.columns)
        return data.set_axis(list(map(str, data.columns)), axis=1)
    return data


def codes_of(table: DiscreteTable) -> Array:
    """Codes of all columns: (n_variables, n_rows)."""
    dtype = np.result_type(*(column.dtype for column in table.columns))
    return np.array(table.columns, dtype=dtype)


def require_complete(table: StateTable) -> None:
    """Refuse missing cells, with how many there are and where."""
    n_missing = table.n_missing
    if n_missing.any():
        worst = int(np.argmax(n_missing))
        raise DataError(
            f"{int(n_missing.sum())} cells are missing, {int(n_missing[worst])} of them in column "
            f"{table.names[worst]!r}; learn_structure(missing='em') fills them in, all else needs whole rows: fill "
            "cells in, or leave rows or columns out"
        )
