r"""Costs as people write them: pairs, a nested dict, a frame with labels, an array, a small CSV or TOML file.

Everywhere the action comes first and the truth second. Files say so themselves: a CSV in the first cell of its
header, ``action \ truth``, a TOML file in ``rows = "action"`` and ``columns = "truth"``.
"""

import csv
import tomllib
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bayeswater.decision.cost_table import CostTable, RowCost
from bayeswater.errors import DataError, ParameterError

HEADER = "action \\ truth"
"""First cell of a CSV file of costs."""


def read_costs(costs: Any, actions: Any, classes: Any) -> CostTable:
    """Read costs of any form."""
    if isinstance(costs, Mapping) or hasattr(costs, "__arrow_c_stream__") or hasattr(costs, "iloc"):
        if actions is not None or classes is not None:
            raise ParameterError("these costs have labels of their own; give actions and classes to an array only")
        return from_nested(costs) if isinstance(costs, Mapping) else from_frame(costs)
    return from_array(costs, actions, classes)


def from_array(costs: Any, actions: Any, classes: Any) -> CostTable:
    """Read an array (n_actions, n_classes); labels that are not given are places."""
    try:
        cost = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            "the costs hold values that are not numbers; name costs by row in Loss.from_costs"
        ) from None
    if cost.ndim != 2:
        raise ParameterError(f"the costs have shape {cost.shape}; give (n_actions, n_classes)")
    columns = range(cost.shape[1]) if classes is None else _labels(classes)
    rows = range(cost.shape[0]) if actions is None else _labels(actions)
    if actions is None and len(columns) == cost.shape[1] <= cost.shape[0]:
        rows = (*columns, *rows[len(columns) :])
    return CostTable(tuple(rows), tuple(columns), cost, named=classes is not None)


def from_pairs(costs: Mapping[Any, Any]) -> CostTable:
    """Read {(action, truth): cost}; the cost of a right decision is 0 where it is not stated."""
    wrong = [pair for pair in costs if not (isinstance(pair, tuple) and len(pair) == 2)]
    if wrong or not costs:
        raise ParameterError(
            f"costs are stated as {{(action, truth): cost, ...}}; {(wrong or [costs])[0]!r} is no such pair"
        )
    mentioned = list(dict.fromkeys(chain.from_iterable(costs)))
    truths = {truth for _, truth in costs}
    decided = {action for action, _ in costs}
    classes = [label for label in mentioned if label in truths]
    actions = [label for label in classes if label in decided] + [label for label in mentioned if label not in truths]
    missing = [(i, j) for i in actions for j in classes if i != j and (i, j) not in costs]
    if missing:
        raise ParameterError(
            f"no cost is stated for {', '.join(map(repr, missing[:5]))} (action, truth); only that of a right decision "
            "may be left out, and is 0"
        )
    cost = np.zeros((len(actions), len(classes)))
    by_row: dict[tuple[int, int], RowCost] = {}
    for (action, truth), value in costs.items():
        place = actions.index(action), classes.index(truth)
        if isinstance(value, str) or callable(value) or np.ndim(value) == 1:
            by_row[place] = value if isinstance(value, str) or callable(value) else np.asarray(value)
        else:
            cost[place] = _number(value, f"the cost of {(action, truth)!r}")
    return CostTable(tuple(actions), tuple(classes), cost, by_row)


def from_nested(costs: Mapping[Any, Any]) -> CostTable:
    """Read {action: {truth: cost}}."""
    wrong = [action for action, row in costs.items() if not isinstance(row, Mapping)]
    if wrong:
        raise ParameterError(f"the costs of action {wrong[0]!r} are {costs[wrong[0]]!r}; give {{truth: cost, ...}}")
    return from_pairs({(action, truth): cost for action, row in costs.items() for truth, cost in row.items()})


def from_frame(frame: Any) -> CostTable:
    """Read a frame with a column for each class; actions are the index of pandas, or else the first column."""
    if hasattr(frame, "iloc") and not (
        type(frame.index).__name__ == "RangeIndex" and frame.dtypes.iloc[0].kind not in "iuf"
    ):
        return from_array(frame.to_numpy(), frame.index, frame.columns)
    import pyarrow as pa

    columns = pa.table(frame).to_pydict()
    first, *classes = columns
    return from_array(list(zip(*(columns[name] for name in classes), strict=True)), columns[first], classes)


def read_file(path: Any) -> CostTable:
    """Read a CSV or TOML file of costs."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"the loss file {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"the loss file {path} is not text in UTF-8") from None
    try:
        return _from_toml(text) if path.suffix.lower() == ".toml" else _from_csv(text)
    except (ValueError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{path}: {error}") from None


def _from_csv(text: str) -> CostTable:
    lines = [[cell.strip() for cell in line] for line in csv.reader(text.splitlines()) if any(map(str.strip, line))]
    if len(lines) < 2:
        raise DataError(f"no costs; write a header ({HEADER},class,class,...) and a line for each action")
    (corner, *across), *body = lines
    rows, _, columns = (part.strip().lower() for part in corner.partition("\\"))
    fix = ",".join([HEADER, *across])
    _require_sides(rows, columns, f"the first cell of the header is '{corner}'; begin the file with the line {fix}")
    costs = {}
    for number, (label, *cells) in enumerate(body, start=2):
        if len(cells) != len(across):
            raise DataError(f"line {number} ({label}) has {len(cells)} costs, and the header {len(across)} classes")
        for other, cell in zip(across, cells, strict=True):
            if cell:  # an empty cell is a cost that is not stated
                costs[_pair(label, other, rows)] = _number(cell, f"line {number}, column {other!r}")
    return from_pairs(costs)


def _from_toml(text: str) -> CostTable:
    content = tomllib.loads(text)
    rows, columns, table = content.get("rows"), content.get("columns"), content.get("costs")
    _require_sides(rows, columns, 'say what is what: rows = "action" and columns = "truth"')
    if not isinstance(table, Mapping) or not all(isinstance(row, Mapping) for row in table.values()):
        raise DataError("no costs; write them as [costs.spam] and ham = 10 below it")
    return from_pairs({_pair(label, other, rows): cost for label, row in table.items() for other, cost in row.items()})


def _require_sides(rows: Any, columns: Any, fix: str) -> None:
    if {rows, columns} != {"action", "truth"}:
        raise DataError(f"rows or columns may be the action, and nothing says which: {fix}")


def _pair(row: str, column: str, rows: Any) -> tuple[str, str]:
    return (row, column) if rows == "action" else (column, row)


def _labels(labels: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(labels.tolist() if hasattr(labels, "tolist") else labels)


def _number(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{where} is {value!r}; give a number") from None
