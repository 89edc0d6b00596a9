"""A `SparseDependence` as arrays and back: what a file says is believed only after it was held against what can be."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.estimate.level_concentrations import Concentrations
from bayeswater.estimate.pseudo_counts import PseudoCounts
from bayeswater.inference.prior import Prior
from bayeswater.inference.sparse_dependence import CountedColumn, SparseDependence
from bayeswater.statistics.category_counts import code_kind
from bayeswater.statistics.consistency import SLACK
from bayeswater.statistics.family import Family, joined
from bayeswater.typing import Array

NO_PARENT = -1


def dependence_arrays(joint: SparseDependence) -> dict[str, Array]:
    """Give structure, counts and concentrations as arrays; cells of all columns stand one after the other."""
    most = joint.n_levels - 1
    parents = np.full((len(joint.columns), most), NO_PARENT, dtype=np.int64)
    start = np.cumsum([0, *(len(column.cells.cell) for column in joint.columns)])
    n_classes = len(joint.prior.count)
    cell = np.zeros((most + 2, start[-1]), dtype=code_kind(np.append(joint.n_states, n_classes)))
    for place, (column, (first, last)) in enumerate(zip(joint.columns, pairwise(start.tolist()), strict=True)):
        n_parents = len(column.parents)
        parents[place, :n_parents] = column.parents
        cell[: n_parents + 2, first:last] = column.cells.cell.T
    return {
        "class_count": joint.prior.count,
        "order": np.array([column.index for column in joint.columns], dtype=np.int64),
        "parents": parents,
        "start": start,
        "cell": cell,
        "count": np.concatenate([np.zeros(0), *(column.cells.count[:, 0] for column in joint.columns)]),
        "class_free": np.array([joint.class_free]),
        "with_class": joint.concentrations.with_class,
        "without_class": joint.concentrations.without_class,
    }


def dependence_of(
    arrays: Mapping[str, Array], n_states: Array, n_classes: int, smoothing: PseudoCounts
) -> SparseDependence:
    """Read it back; refuse what no rows can have counted, nor a member have learned."""
    structure = _structure(np.asarray(arrays["order"]), np.asarray(arrays["parents"]), len(n_states))
    n_levels = 1 + arrays["parents"].shape[1]
    c, f = np.array(arrays["with_class"]), np.array(arrays["without_class"])
    lam, count = np.asarray(arrays["class_free"]), np.array(arrays["class_count"])
    is_shaped = c.shape == (n_levels,) and f.shape == (len(structure), n_levels)
    _require(is_shaped, "concentrations are not those of the columns")
    _require(all(_are_over_zero(each) for each in (c, f)), "a concentration is no number over 0")
    _require(lam.shape == (1,) and 0 <= float(lam[0]) <= 1, f"lambda is {lam}, and not from 0 to 1")
    _require(count.shape == (n_classes,) and count.dtype == np.float64, "class_count is not that of the classes")
    _require(bool(np.isfinite(count).all() and (count >= 0).all() and count.any()), "class_count holds no counts")
    columns = _columns(arrays, structure, np.append(n_states + 1, n_classes), count)
    return SparseDependence(Prior.of(count, smoothing), n_states, columns, float(lam[0]), Concentrations(c, f))


Structure = Sequence[tuple[int, tuple[int, ...]]]
"""Columns and their parents."""


def _structure(order: Array, parents: Array, n_columns: int) -> Structure:
    """Read the order, and parents that come before their children in it."""
    is_shaped = order.ndim == 1 and parents.ndim == 2 and len(parents) == len(order)
    _require(is_shaped and order.dtype == parents.dtype == np.int64, "order and parents are not those of columns")
    is_order = len(np.unique(order)) == len(order) and bool(((order >= 0) & (order < n_columns)).all())
    _require(is_order, "the order names a column twice, or one that there is not")
    found = []
    for place, own in enumerate(parents.tolist()):
        known = tuple(j for j in own if j != NO_PARENT)
        _require(own[: len(known)] == list(known) and len(set(known)) == len(known), "parents are not in their places")
        _require(set(known) <= set(order[:place].tolist()), "a parent does not come before its child")
        found.append((int(order[place]), known))
    return found


def _columns(
    arrays: Mapping[str, Array], structure: Structure, n_slots: Array, class_count: Array
) -> tuple[CountedColumn, ...]:
    """Read the cells of every column, each once, in their order and within the domains."""
    start, cell, count = (np.asarray(arrays[name]) for name in ("start", "cell", "count"))
    _require(count.dtype == np.float64 and count.ndim == 1 and _are_over_zero(count), "counts are numbers over 0")
    is_shaped = start.shape == (len(structure) + 1,) and cell.ndim == 2 and cell.shape[1] == len(count)
    _require(is_shaped and start.dtype.kind == "i" and cell.dtype.kind in "iu", "cells are not as many as their counts")
    _require(start[0] == 0 and start[-1] == len(count) and bool((np.diff(start) >= 0).all()), "cells do not add up")
    kind = code_kind(n_slots - 1)
    found = []
    for (x, own), (first, last) in zip(structure, pairwise(start.tolist()), strict=True):
        members = [*own, x, -1]
        slots, n = cell[: len(members), first:last], n_slots[members]
        limit = n.copy()
        limit[-2] -= 1  # a row that lacks the column itself is not counted
        _require(len(slots) == len(members), "cells have too few columns")
        _require(bool(((slots >= 0) & (slots < limit[:, None])).all()), "a cell has a state that there is not")
        family = Family(n, np.ascontiguousarray(slots.astype(kind)).T, np.array(count[first:last, None]))
        same = joined([family])
        _require(np.array_equal(same.cell, family.cell), "cells are not in their order, or there twice")
        total = np.bincount(slots[-1].astype(np.int64), weights=count[first:last], minlength=len(class_count))
        slack = SLACK * float(class_count.max())
        _require(bool((total <= class_count + slack).all()), "cells count more rows than class_count")
        found.append(CountedColumn(x, own, family))
    return tuple(found)


def _are_over_zero(numbers: Array) -> bool:
    return numbers.dtype == np.float64 and bool((np.isfinite(numbers) & (numbers > 0)).all())


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StatisticsError(f"the arrays of a family 'kdb' are not sound: {problem}")
