"""Sites of Gibbs sampling: variables that are drawn together, so that every possible state is reached.

Drawn one at a time, variables tied by zeros stay where they are: of two that are always equal none can move first.
So all variables of a table with a zero make one site, and sites that share a variable are one. Then each zero lies
within a site; what is possible for a site does not depend on the others; and since every possible state of a site has
a positive probability whatever the others are, one sweep can lead from any possible state to any other. The chains
have one limiting distribution, the one that is asked for, from whatever state they start.

The states of a site are those possible together, found table by table. Where they are too many, nothing is sampled.

What a site draws from is laid out for the sweeps: looked up where that fits, added up where it does not.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.errors import SamplingError
from bayeswater.inference.sampling.question import FreeTable, SamplingQuestion, connected
from bayeswater.kernels.gibbs_sweeps import NEVER, SiteTables, TargetCells
from bayeswater.kernels.parent_cells import strides_of
from bayeswater.records import record
from bayeswater.typing import Array

MOST_STATES = 2**12
"""Of one site: a draw has to look at all of them."""

MOST_PARTIAL_STATES = 2**18
"""Of some variables of a site, while its states are found."""


@record(eq=False)
class Site:
    """Variables that are drawn together."""

    variables: tuple[int, ...]
    states: Array  # (n_states, n_variables) that are possible together, by their numbers
    pieces: tuple[FreeTable, ...]  # tables that any of them is in

    @property
    def neighbours(self) -> tuple[int, ...]:
        """Variables of the tables that are of other sites."""
        return tuple(dict.fromkeys(v for piece in self.pieces for v in piece.scope if v not in self.variables))

    def columns(self, piece: FreeTable) -> tuple[list[int], list[int], Array]:
        """Split a table: axes of other sites; axes of this one, flattened; and the cell of each state in these."""
        outside = [axis for axis, v in enumerate(piece.scope) if v not in self.variables]
        inside = [axis for axis, v in enumerate(piece.scope) if v in self.variables]
        shape = [piece.values.shape[axis] for axis in inside]
        columns = [self.variables.index(piece.scope[axis]) for axis in inside]
        return outside, inside, np.ravel_multi_index(tuple(self.states[:, columns].T), shape)


def make_sites(question: SamplingQuestion, name: Callable[[int], str]) -> list[Site]:
    """Group the free variables into sites.

    Raises
    ------
    SamplingError
        Zeros tie more variables together than can be drawn at once.
    """
    tied = connected(
        [(v,) for v in question.free] + [piece.scope for piece in question.pieces if (piece.values == 0).any()]
    )
    groups: dict[int, list[int]] = {}
    for v in question.free:
        groups.setdefault(tied[v], []).append(v)
    touching: dict[int, list[int]] = {}
    for i, piece in enumerate(question.pieces):
        for v in piece.scope:
            touching.setdefault(v, []).append(i)
    sites = []
    for variables in groups.values():
        pieces = tuple(question.pieces[i] for i in sorted({i for v in variables for i in touching[v]}))
        states = _possible_states(question, variables, pieces, name)
        sites.append(Site(tuple(variables), states, pieces))
    return sites


def _possible_states(
    question: SamplingQuestion, variables: Sequence[int], pieces: Sequence[FreeTable], name: Callable[[int], str]
) -> Array:
    """States of some variables that no table makes impossible, (n_states, n_variables)."""
    zeros = [piece for piece in pieces if (piece.values == 0).any()]
    column: dict[int, int] = {}
    states = np.zeros((1, 0), dtype=np.int64)
    while len(column) < len(variables):
        v = _next_variable(variables, zeros, column)
        n, n_before = question.n_states(v), len(states)
        if n_before * n > MOST_PARTIAL_STATES:
            raise _too_many(variables, name)
        states = np.column_stack([np.repeat(states, n, axis=0), np.tile(np.arange(n), n_before)])
        column[v] = len(column)
        for piece in zeros:
            if v in piece.scope and all(u in column for u in piece.scope):
                states = states[piece.values[tuple(states[:, column[u]] for u in piece.scope)] > 0]
    if len(states) > MOST_STATES:
        raise _too_many(variables, name)
    return np.ascontiguousarray(states[:, [column[v] for v in variables]])


def _next_variable(variables: Sequence[int], zeros: Sequence[FreeTable], column: dict[int, int]) -> int:
    # The one that completes a table, or leaves the fewest open: zeros should strike states out as early as they can.
    def still_open(v: int) -> tuple[int, int]:
        open_in = [sum(u not in column for u in piece.scope) for piece in zeros if v in piece.scope]
        return min(open_in, default=0), -len(open_in)

    return min((v for v in variables if v not in column), key=still_open)


def _too_many(variables: Sequence[int], name: Callable[[int], str]) -> SamplingError:
    shown = ", ".join(name(v) for v in variables[:8]) + (", ..." if len(variables) > 8 else "")
    return SamplingError(
        f"Gibbs sampling would have to draw {len(variables)} variables together ({shown}): zeros in their tables tie "
        f"them, and drawn apart they might never reach every possible state; together they have more than the "
        f"{MOST_STATES} states that can be drawn at once. Ask by method='likelihood_weighting' or 'exact', or observe "
        "one of them"
    )


MOST_CELLS_OF_A_SITE = 1_000_000
"""Of rows for all states of the neighbours, padding included: 8 megabytes."""

MOST_CELLS = 8_000_000
"""Of all sites together."""


class _Lines:
    """Arrays of `SiteTables` while they grow, line by line."""

    def __init__(self) -> None:
        self.of: dict[str, list[Array]] = {name: [] for name in SiteTables._fields}
        self.length = dict.fromkeys(SiteTables._fields, 0)

    def add(self, name: str, lines: Array | Sequence[Any]) -> int:
        """Append lines, and give where they begin."""
        self.of[name].append(np.asarray(lines))
        self.length[name] += len(lines)
        return self.length[name] - len(lines)

    def finished(self) -> SiteTables:
        """Put the lines together; tables are of floats, all others of whole numbers."""
        empty = {"neighbour": (0, 2), "outside": (0, 2), "part": (0, 3), "site": (0, 7)}
        arrays = {name: [np.zeros(empty.get(name, 0)), *lines] for name, lines in self.of.items()}
        floats = ("cumulated", "log_table")
        return SiteTables(
            *(
                np.concatenate(lines).astype(np.float64 if name in floats else np.int64)
                for name, lines in arrays.items()
            )
        )


def lay_out(question: SamplingQuestion, sites: Sequence[Site]) -> SiteTables:
    """Lay sites out; variables are numbered as in `question.free`."""
    line = {v: i for i, v in enumerate(question.free)}
    looked_up = _that_fit(question, sites)
    lines = _Lines()
    for s, site in enumerate(sites):
        width = first = 0
        neighbours: list[tuple[int, int]] = []
        parts: list[tuple[int, int, int]] = []
        if looked_up[s]:
            rows = _rows(question, site)
            width, first = rows.shape[-1], lines.add("cumulated", rows.ravel())
            strides = strides_of(rows.shape)[:-1].tolist()
            neighbours = [(line[v], stride) for v, stride in zip(site.neighbours, strides, strict=True)]
        else:
            parts = [_part(lines, site, piece, line) for piece in site.pieces]
        lines.add(
            "site",
            [
                (
                    len(site.states),
                    width,
                    first,
                    lines.add("neighbour", [*neighbours, END]),
                    lines.add("own", [line[v] for v in site.variables]),
                    lines.add("decode", site.states.ravel() if len(site.variables) > 1 else []),
                    lines.add("part", [*parts, (-1, 0, lines.add("outside", [END]))]),
                )
            ],
        )
    ends = (lines.length[name] for name in ("neighbour", "own", "decode", "part"))
    lines.add("site", [(0, 0, 0, *ends)])
    return lines.finished()


END = (-1, 0)
"""Behind the last variable of a list."""


def _part(lines: _Lines, site: Site, piece: FreeTable, line: Mapping[int, int]) -> tuple[int, int, int]:
    """Add a table of a site that has no rows of its own, and give its line."""
    outside, inside, cell = site.columns(piece)
    with np.errstate(divide="ignore"):
        table = np.log(piece.values.transpose(*outside, *inside).reshape(*_shape(piece.values, outside), -1))
    strides = strides_of(table.shape)[:-1].tolist()
    variables = [(line[piece.scope[axis]], stride) for axis, stride in zip(outside, strides, strict=True)]
    return (
        lines.add("log_table", table.ravel()),
        lines.add("part_cell", cell),
        lines.add("outside", [*variables, END]),
    )


def reading_of(question: SamplingQuestion, sites: Sequence[Site]) -> TargetCells:
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
    return TargetCells(where, cell, np.array([(line[v], strides[v]) for v in others], dtype=np.int64).reshape(-1, 2))


def _padded_width(n_states: int) -> int:
    return max(2, 1 << (n_states - 1).bit_length())


def _that_fit(question: SamplingQuestion, sites: Sequence[Site]) -> list[bool]:
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


def _rows(question: SamplingQuestion, site: Site) -> Array:
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
