"""`CostTable`: the cost of every action under every true class, some of them known only row by row.

cost[i, j] is paid for deciding i when j is true. All choices are made on regrets,

    regret[i, j] = cost[i, j] - least over i of cost[i, j],

which are not negative: no digit is lost in summing them, and what is added to a column changes nothing at all.

Costs may differ from row to row: the amount of a payment, the price of a test, read off the rows themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import compress, repeat
from typing import Any

import numpy as np

from bayeswater.errors import DataError, ParameterError, SchemaError
from bayeswater.records import record
from bayeswater.typing import Array

LARGEST_COST = 1e300
"""Sums and differences of costs up to this size stay finite."""

RowCost = str | Callable[[Any], Any] | Array
"""A cost that differs from row to row: a column of X by name, a function of X, or the costs (n_rows,) themselves."""


@record
class CostTable:
    """Costs with their labels: rows are actions, columns are true classes."""

    actions: tuple[Any, ...]
    classes: tuple[Any, ...]
    cost: Array  # (n_actions, n_classes), zero where it is known by row only
    by_row: Mapping[tuple[int, int], RowCost] = field(default_factory=dict)
    named: bool = True  # whether the classes have names, or only places

    def __post_init__(self) -> None:
        if self.cost.shape != (len(self.actions), len(self.classes)):
            raise ParameterError(
                f"the costs have shape {self.cost.shape}, but there are {len(self.actions)} actions (rows) and "
                f"{len(self.classes)} classes (columns)"
            )
        if not self.cost.size:
            raise ParameterError("a loss needs an action and a class at least")
        for name, labels in (("actions", self.actions), ("classes", self.classes)):
            twice = [label for label in labels if labels.count(label) > 1]
            if twice:
                raise ParameterError(f"{name} name {twice[0]!r} more than once: {list(labels)}")
        wrong = np.argwhere(~(np.abs(self.cost) <= LARGEST_COST))
        if len(wrong):
            i, j = wrong[0]
            raise ParameterError(
                f"the cost of deciding {self.actions[i]!r} when {self.classes[j]!r} is true is {self.cost[i, j]}; "
                f"costs must be finite, no larger than {LARGEST_COST:g}"
            )
        self.cost.flags.writeable = False

    # ------------------------------------------------------------------ labels

    @property
    def decides_classes(self) -> bool:
        """Whether every class is also an action."""
        return set(self.classes) <= set(self.actions)

    def for_classes(self, classes: Sequence[Any]) -> "CostTable":
        """Bring the columns into the order of a classifier's classes, and the actions that are classes in front."""
        found = _plain(classes)
        if not self.named:
            return self._renamed(found)
        table = self
        if set(found) != set(self.classes) and all(isinstance(label, str) for label in self.classes):
            table = self._read_as(found)
        without = [label for label in found if label not in table.classes]
        unknown = [label for label in table.classes if label not in found]
        if without or unknown:
            raise SchemaError(
                "the classes of the loss do not match those of the probabilities: "
                + "; ".join(
                    [f"no costs are stated for {without}"] * bool(without)
                    + [f"there are no probabilities of {unknown}"] * bool(unknown)
                )
            )
        actions = table.actions
        if table.decides_classes:
            actions = (*found, *(label for label in actions if label not in found))
        rows = [table.actions.index(label) for label in actions]
        columns = [table.classes.index(label) for label in found]
        by_row = {(rows.index(i), columns.index(j)): cost for (i, j), cost in table.by_row.items()}
        return CostTable(actions, found, table.cost[np.ix_(rows, columns)], by_row)

    def _renamed(self, found: tuple[Any, ...]) -> "CostTable":
        """Give names to classes that are known by place, and to the actions that stand for them."""
        if len(found) != len(self.classes):
            raise SchemaError(
                f"the loss has {len(self.classes)} classes (columns), the probabilities have {len(found)}"
            )
        name = dict(zip(self.classes, found, strict=True)) if self.decides_classes else {}
        return replace(self, classes=found, actions=tuple(name.get(label, label) for label in self.actions), named=True)

    def _read_as(self, found: tuple[Any, ...]) -> "CostTable":
        """Take labels that were written as text, as those of a file are, for the labels whose text they are."""
        label_of = {str(label): label for label in found}
        return replace(
            self,
            classes=tuple(label_of.get(label, label) for label in self.classes),
            actions=tuple(label_of.get(label, label) if isinstance(label, str) else label for label in self.actions),
        )

    @cached_property
    def action_labels(self) -> Array:
        """The actions as an array: of the dtype of their labels, or of objects where they are of several types."""
        if len({type(label) for label in self.actions}) == 1 and isinstance(self.actions[0], str | bool | int | float):
            return np.array(self.actions)
        labels = np.empty(len(self.actions), dtype=object)
        labels[:] = self.actions
        return labels

    def action_codes(self, actions: Any) -> Array:
        """Find the row of each action, (n_rows,)."""
        return _codes(actions, self.actions, "action")

    def class_codes(self, truth: Any) -> Array:
        """Find the column of each true class, (n_rows,)."""
        return _codes(truth, self.classes, "class")

    # ------------------------------------------------------------------ costs

    @cached_property
    def row_columns(self) -> tuple[int, ...]:
        """Columns with a cost that differs from row to row."""
        return tuple(sorted({j for _, j in self.by_row}))

    def column(self, j: int, rows: Any) -> Array:
        """Costs of all actions when class j is true, in some rows: (n_rows, n_actions)."""
        first = next(cost for (_, column), cost in self.by_row.items() if column == j)
        costs = np.tile(self.cost[:, j], (len(first[rows]), 1))  # type: ignore[index]
        for (i, column), cost in self.by_row.items():
            if column == j:
                costs[:, i] = cost[rows]  # type: ignore[index]
        return costs

    @cached_property
    def regret(self) -> Array:
        """Regrets (n_actions, n_classes); zero in the columns that differ from row to row."""
        regret = self.cost - self.cost.min(axis=0)
        regret[:, list(self.row_columns)] = 0.0
        return regret

    @cached_property
    def fixed_cost(self) -> Array:
        """Costs (n_actions, n_classes); zero in the columns that differ from row to row."""
        cost = self.cost.copy()
        cost[:, list(self.row_columns)] = 0.0
        return cost

    def dominated(self) -> list[tuple[Any, Any]]:
        """Actions that are never better than another one, each with that one."""
        pairs = []
        fixed = np.array([i not in {row for row, _ in self.by_row} for i in range(len(self.actions))])
        # An action that alone is best under some class, as each is under 0-1 loss, needs no comparison.
        is_least = self.cost == self.cost.min(axis=0)
        alone_best = (is_least & (is_least.sum(axis=0) == 1)).any(axis=1) & (not self.by_row)
        for i in np.flatnonzero(fixed & ~alone_best):
            no_worse = (self.cost <= self.cost[i]).all(axis=1) & fixed
            better = (self.cost < self.cost[i]).any(axis=1)
            better[:i] = True  # of equal ones the first is taken
            better[i] = False
            found = np.flatnonzero(no_worse & better)
            if len(found):
                pairs.append((self.actions[i], self.actions[found[0]]))
        return pairs


def _plain(labels: Any) -> tuple[Any, ...]:
    return tuple(labels.tolist() if hasattr(labels, "tolist") else labels)


def _codes(given: Any, labels: tuple[Any, ...], what: str) -> Array:
    """Find the place of each of the labels that are given: (n_rows,)."""
    values = np.asarray(given) if hasattr(given, "__array__") else given  # a list may hold labels of several types
    known = np.array(labels) if len({type(label) for label in labels}) == 1 else None
    if isinstance(values, np.ndarray) and known is not None and values.dtype.kind == known.dtype.kind in "biufU":
        order = known.argsort()
        place = order[np.minimum(known.searchsorted(values, sorter=order), len(labels) - 1)]
        codes = np.where(known[place] == values, place, -1)
    else:  # labels of several types, which have no order
        code_of = {label: code for code, label in enumerate(labels)}
        found = _plain(values)
        try:
            codes = np.fromiter(map(code_of.get, found, repeat(-1)), dtype=np.intp, count=len(found))
        except TypeError:
            raise DataError(f"give one {what} for each row, in one dimension: a label cannot be a list") from None
    if codes.ndim != 1:
        raise DataError(f"give one {what} for each row, in one dimension, not an array of shape {codes.shape}")
    if codes.min(initial=0) < 0:
        wrong = codes < 0
        others = values[wrong].tolist() if isinstance(values, np.ndarray) else compress(values, wrong)
        unknown = sorted(set(map(repr, others)))
        raise SchemaError(f"unknown {what} {', '.join(unknown[:5])}; the loss knows {list(labels)}")
    return codes


def for_rows(table: CostTable, X: Any, n_rows: int) -> CostTable:
    """Evaluate all costs that depend on the row, for the rows X."""
    if not table.by_row:
        return table
    return replace(
        table,
        by_row={
            (i, j): _costs(
                cost, X, n_rows, f"the cost of deciding {table.actions[i]!r} when {table.classes[j]!r} is true"
            )
            for (i, j), cost in table.by_row.items()
        },
    )


def _costs(cost: RowCost, X: Any, n_rows: int, what: str) -> Array:
    found: Any
    if isinstance(cost, np.ndarray):
        found = cost
    elif X is None:
        raise ParameterError(f"{what} depends on the row; give the rows, X=...")
    elif isinstance(cost, str):
        names = getattr(X, "column_names", getattr(X, "columns", ()))
        if cost not in names:
            raise DataError(f"{what} is column {cost!r} of X, and X has no column of that name")
        found = X[cost]
    else:
        found = cost(X)
    try:
        values = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} is not a number in every row") from None
    if values.shape != (n_rows,):
        raise DataError(f"{what} has shape {values.shape}; give one cost for each of the {n_rows} rows")
    wrong = ~(np.abs(values) <= LARGEST_COST)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{what} is {values[row]} in row {row}; costs must be finite, no larger than {LARGEST_COST:g}")
    return values


def for_one_row(table: CostTable, X: Any) -> CostTable:
    """Put the costs of the one row X in the place of those that depend on the row."""
    found = for_rows(table, X, 1)
    cost = found.cost.copy()
    for place, by_row in found.by_row.items():
        cost[place] = by_row[0]  # type: ignore[index]
    return replace(found, cost=cost, by_row={})
