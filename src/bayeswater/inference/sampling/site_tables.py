"""Sites laid out for the sweeps: what each draws from, looked up where that fits, added up where it does not."""

from collections.abc import Sequence

import numpy as np

from bayeswater.inference.sampling.question import Question
from bayeswater.inference.sampling.sites import Site
from bayeswater.kernels.family_cells import strides_of
from bayeswater.kernels.gibbs_sweeps import NEVER, Reading, SiteTables
from bayeswater.typing import Array

MOST_CELLS_OF_A_SITE = 1_000_000
"""Of rows for all states of the neighbours, padding included: 8 megabytes."""

MOST_CELLS = 8_000_000
"""Of all sites together."""


class _Lists:
    """Arrays of `SiteTables` while they grow; all but the last two are whole numbers."""

    def __init__(self) -> None:
        self.of: dict[str, list[Array]] = {name: [] for name in SiteTables._fields}
        self.size = dict.fromkeys(SiteTables._fields, 0)
        for name in ("neighbour_start", "own_start", "part_start", "outside_start"):
            self.add(name, 0)

    def add(self, name: str, values: Array | Sequence[int] | int) -> int:
        """Append, and give where that begins."""
        array = np.atleast_1d(np.asarray(values)).ravel()
        self.of[name].append(array)
        self.size[name] += len(array)
        return self.size[name] - len(array)

    def finished(self) -> SiteTables:
        kinds = {"cumulated": np.float64, "log_table": np.float64}
        return SiteTables(
            *(
                np.concatenate([np.zeros(0), *arrays]).astype(kinds.get(name, np.int64))
                for name, arrays in self.of.items()
            )
        )


def lay_out(question: Question, sites: Sequence[Site]) -> SiteTables:
    """Lay sites out; variables are numbered as in `question.free`."""
    line = {v: i for i, v in enumerate(question.free)}
    looked_up = _that_fit(question, sites)
    lists = _Lists()
    for s, site in enumerate(sites):
        lists.add("n_states", len(site.states))
        lists.add("own", [line[v] for v in site.variables])
        lists.add("own_start", lists.size["own"])
        lists.add("decode_start", lists.add("decode", site.states if len(site.variables) > 1 else []))
        if looked_up[s]:
            rows = _rows(question, site)
            width = rows.shape[-1]
            lists.add("width", width)
            lists.add("first", lists.add("cumulated", rows))
            lists.add("neighbour", [line[v] for v in site.neighbours])
            lists.add("stride", strides_of(rows.shape)[:-1])
        else:
            lists.add("width", 0)
            lists.add("first", 0)
            _add_parts(lists, site, line)
        lists.add("neighbour", -1)
        lists.add("stride", 0)
        lists.add("neighbour_start", lists.size["neighbour"])
        _end_parts(lists)
    return lists.finished()


def reading_of(question: Question, sites: Sequence[Site]) -> Reading:
    """Cells of the free targets, written down where the site of the first of them is drawn."""
    line = {v: i for i, v in enumerate(question.free)}
    targets = [v for v in question.targets if v in line]
    strides = dict(zip(targets, strides_of([question.n_states(v) for v in targets]).tolist(), strict=True))
    where = next(s for s, site in enumerate(sites) if targets[0] in site.variables)
    site = sites[where]
    cell = np.zeros(len(site.states), dtype=np.int64)
    for column, v in enumerate(site.variables):
        cell += strides.get(v, 0) * site.states[:, column]
    others = [v for v in targets if v not in site.variables]
    return Reading(
        where,
        cell,
        np.array([line[v] for v in others], dtype=np.int64),
        np.array([strides[v] for v in others], dtype=np.int64),
    )


def _padded_width(n_states: int) -> int:
    return max(2, 1 << (n_states - 1).bit_length())


def _that_fit(question: Question, sites: Sequence[Site]) -> list[bool]:
    cells = []
    for site in sites:
        size = float(_padded_width(len(site.states)))
        for v in site.neighbours:
            size *= question.n_states(v)
        cells.append(size)
    fits = [False] * len(sites)
    total = 0.0
    for s in sorted(range(len(sites)), key=cells.__getitem__):
        total += cells[s]
        fits[s] = cells[s] <= MOST_CELLS_OF_A_SITE and total <= MOST_CELLS
    return fits


def _rows(question: Question, site: Site) -> Array:
    """Sums of P(state | neighbours) up to each state: (*n_states of the neighbours, width)."""
    neighbours = site.neighbours
    shape = [question.n_states(v) for v in neighbours]
    log_weight = np.zeros((*shape, len(site.states)))
    for piece in site.pieces:
        outside, inside, cell = site.columns(piece)
        with np.errstate(divide="ignore"):
            part = np.log(piece.values.transpose(*outside, *inside).reshape(*_shape(piece.values, outside), -1))
        scope = [piece.scope[axis] for axis in outside]
        order = sorted(range(len(scope)), key=lambda i, scope=scope: neighbours.index(scope[i]))  # type: ignore[misc]
        wide = [n if v in scope else 1 for v, n in zip(neighbours, shape, strict=True)]
        log_weight += part[..., cell].transpose(*order, len(scope)).reshape(*wide, -1)
    log_weight -= log_weight.max(axis=-1, keepdims=True)
    np.exp(log_weight, out=log_weight)
    rows = np.full((*shape, _padded_width(len(site.states))), NEVER)
    sums = np.cumsum(log_weight, axis=-1)
    rows[..., : len(site.states) - 1] = sums[..., :-1] / sums[..., -1:]
    return rows


def _shape(values: Array, axes: Sequence[int]) -> list[int]:
    return [values.shape[axis] for axis in axes]


def _add_parts(lists: _Lists, site: Site, line: dict[int, int]) -> None:
    for piece in site.pieces:
        outside, inside, cell = site.columns(piece)
        with np.errstate(divide="ignore"):
            table = np.log(piece.values.transpose(*outside, *inside).reshape(*_shape(piece.values, outside), -1))
        lists.add("part_first", lists.add("log_table", table))
        lists.add("part_cell_start", lists.add("part_cell", cell))
        lists.add("outside", [line[piece.scope[axis]] for axis in outside])
        lists.add("outside_stride", strides_of(table.shape)[:-1])
        _end_outside(lists)


def _end_outside(lists: _Lists) -> None:
    lists.add("outside", -1)
    lists.add("outside_stride", 0)
    lists.add("outside_start", lists.size["outside"])


def _end_parts(lists: _Lists) -> None:
    # One more, which is none: arrays by part stay of one length.
    lists.add("part_first", -1)
    lists.add("part_cell_start", 0)
    _end_outside(lists)
    lists.add("part_start", lists.size["part_first"])
