"""Sweeps of Gibbs sampling: each site, a variable or a few that move together, drawn anew given all others.

    P(k | rest) is proportional to the product of the tables that the site is in

For most sites this is looked up: a row of `cumulated` for each state of the neighbours, padded to a power of two so
that halving finds the state without a branch; entries from the last state on are 2, which no number drawn is over. The
other sites, with too many states of neighbours, add up logarithms of table entries each time.

What is written down is not where a chain goes but the distribution it draws from (Rao and Blackwell): the probability
of each state of one site, given the rest, is added to the cell that this state and the other targets make.

Numbers are drawn by xorshift64*, one stream for each chain. With many chains these are innermost, and every step is
one loop over them; with few, a chain goes through its sites alone. Both, and the NumPy reference, give the same states.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import Kernel, compiled_plainly
from bayeswater.typing import Array

FEW_CHAINS = 8
"""Fewer chains than this go one by one: loops over them would be mostly overhead."""

MULTIPLIER = 0x2545F4914F6CDD1D
"""Of xorshift64*, from Vigna."""

NEVER = 2.0
"""In place of a sum that is 1: no number drawn is as large, whatever the rounding."""


N_STATES, WIDTH, FIRST, NEIGHBOURS, OWN, DECODE, PARTS = range(7)
"""Columns of `SiteTables.site`."""

TABLE, CELLS, OUTSIDE = range(3)
"""Columns of `SiteTables.part`."""


class SiteTables(NamedTuple):
    """Sites in the order of a sweep; variables are numbered as the lines of `states`.

    A line of `site` has the number of states; their number as a power of two, 0 where nothing is looked up; where its
    rows begin in `cumulated`; and where its lines of `neighbour`, `own`, `decode` and `part` begin. There is one line
    more, where they end. A line of `part`, a table of a site without rows, tells where it begins in `log_table`, and
    where its lines of `part_cell` and `outside` begin.
    """

    site: Array  # (n_sites + 1, 7)
    neighbour: Array  # (n, 2) variables and their strides in `cumulated`; those of a site end with -1
    own: Array  # variables of the sites
    decode: Array  # (n_states, n_own) of each site of several variables, flat: their states
    cumulated: Array
    part: Array  # (n_parts, 3); those of a site end with -1
    part_cell: Array  # (n_states,) of each part: what a state of the site adds to the index
    outside: Array  # (n, 2) variables of a part that are not of the site, and strides; those of a part end with -1
    log_table: Array


class TargetCells(NamedTuple):
    """What is written down: cells of the targets' joint distribution."""

    site: int
    cell: Array  # (n_states of the site,)
    other: Array  # (n, 2) targets outside of the site, and their strides among the cells


def sweep(
    sites: SiteTables,
    reading: TargetCells,
    states: Array,
    streams: Array,
    totals: Array,
    n_sweeps: int,
    *,
    use_loop: bool,
) -> None:
    """Sweep `n_sweeps` times for each window of `totals` (n_windows, n_cells, n_chains), and add the probabilities.

    `states` (n_variables, n_chains) int32 and `streams` (n_chains,) uint64 go on from where they are.
    """
    if not use_loop:
        _sweep_reference(sites, reading, states, streams, totals, n_sweeps)
        return
    n_chains = states.shape[1]
    with_parts = len(sites.log_table) > 0
    most_parts, most_states = int(np.diff(sites.site[:, PARTS]).max()), int(sites.site[:, N_STATES].max())
    room = (np.empty(most_parts, np.int64), np.empty((n_chains, most_states))) if with_parts else NO_ROOM
    with np.errstate(over="ignore"):  # of interest where the loop is not compiled: random numbers are to overflow
        _LOOPS[n_chains < FEW_CHAINS, with_parts](
            *sites[:5], *(sites[5:] if with_parts else NO_PARTS), *reading, states, streams, totals, n_sweeps,
            np.empty(n_chains), *np.empty((2, n_chains), np.int32), *room,
        )  # fmt: skip


def _sweep_reference(
    sites: SiteTables, reading: TargetCells, states: Array, streams: Array, totals: Array, n_sweeps: int
) -> None:
    chains = np.arange(states.shape[1])
    for total in totals:
        for _ in range(n_sweeps):
            for s, site in enumerate(sites.site[:-1].tolist()):
                uniform = _draw(streams)
                n, width = site[N_STATES], site[WIDTH]
                if width:
                    row = np.full(len(chains), site[FIRST])
                    for v, stride in sites.neighbour[site[NEIGHBOURS] : sites.site[s + 1, NEIGHBOURS] - 1].tolist():
                        row += stride * states[v].astype(np.int64)
                    at, half = row.copy(), width >> 1
                    while half:
                        at += half * (sites.cumulated[at + half - 1] <= uniform)
                        half >>= 1
                    k = at - row
                    sums = sites.cumulated[row + np.arange(n)[:, None]] if s == reading.site else None
                else:
                    sums = _sums_of_parts(sites, s, states)
                    k = (sums[:-1] <= uniform * sums[-1]).sum(axis=0)
                    sums /= sums[-1]
                if sums is not None and s == reading.site:
                    sums = np.concatenate([np.zeros((1, len(chains))), sums[:-1], np.ones((1, len(chains)))])
                    cell = (reading.other[:, 1:] * states[reading.other[:, 0]]).sum(axis=0)
                    for state in range(n):
                        total[reading.cell[state] + cell, chains] += sums[state + 1] - sums[state]
                own = sites.own[site[OWN] : sites.site[s + 1, OWN]]
                if len(own) == 1:
                    states[own[0]] = k
                else:
                    at = site[DECODE] + k * len(own)
                    for j, v in enumerate(own.tolist()):
                        states[v] = sites.decode[at + j]


def _draw(streams: Array) -> Array:
    streams ^= streams >> np.uint64(12)
    streams ^= streams << np.uint64(25)
    streams ^= streams >> np.uint64(27)
    return ((streams * np.uint64(MULTIPLIER)) >> np.uint64(11)) * 2.0**-53


def _sums_of_parts(sites: SiteTables, s: int, states: Array) -> Array:
    n = int(sites.site[s, N_STATES])
    log_weight = np.zeros((n, states.shape[1]))
    for p in range(sites.site[s, PARTS], sites.site[s + 1, PARTS] - 1):
        at = np.full(states.shape[1], sites.part[p, TABLE])
        for v, stride in sites.outside[sites.part[p, OUTSIDE] : sites.part[p + 1, OUTSIDE] - 1].tolist():
            at += stride * states[v].astype(np.int64)
        cell = sites.part_cell[sites.part[p, CELLS] : sites.part[p, CELLS] + n]
        log_weight += sites.log_table[at + cell[:, None]]
    sums: Array = np.exp(log_weight - log_weight.max(axis=0)).cumsum(axis=0)
    return sums


NO_PARTS, NO_ROOM = (None,) * 4, (None,) * 2
"""What is given for arrays that a loop has no use for: each array takes time to compile."""


def _loop(few: bool, with_parts: bool) -> Kernel:
    """Make the loop for few chains or many, with or without sites that look nothing up.

    Both are constants of the loop: what a question does not need is not compiled.
    """

    @compiled_plainly
    def sweep_loop(  # type: ignore[no-untyped-def]
        site, neighbour, own, decode, cumulated, part, part_cell, outside, log_table,
        read_site, read_cell, read_other, states, streams, totals, n_sweeps,
        uniform, row, drawn, place, sums,
    ):  # fmt: skip
        # Short loops end at a -1, not at a count: they stay plain loops, where vectors would cost more than they bring.
        n_chains = states.shape[1]
        for window in range(totals.shape[0]):
            for _ in range(n_sweeps):
                for s in range(site.shape[0] - 1):
                    n = site[s, N_STATES]
                    width = site[s, WIDTH]
                    start_own = site[s, OWN]
                    n_own = site[s + 1, OWN] - start_own
                    single = n_own == 1
                    v = np.uint64(own[start_own])
                    plain = single and s != read_site
                    if few and width > 0:
                        for c in range(n_chains):
                            z = streams[c]
                            z ^= z >> np.uint64(12)
                            z ^= z << np.uint64(25)
                            z ^= z >> np.uint64(27)
                            streams[c] = z
                            u = np.float64(np.int64((z * np.uint64(MULTIPLIER)) >> np.uint64(11))) * 2.0**-53
                            at = site[s, FIRST]
                            j = site[s, NEIGHBOURS]
                            while neighbour[j, 0] >= 0:
                                at += neighbour[j, 1] * states[np.uint64(neighbour[j, 0]), c]
                                j += 1
                            half = width >> 1
                            if half == 1:
                                k = int(cumulated[np.uint64(at)] <= u)
                            elif half == 2:
                                k = 2 * int(cumulated[np.uint64(at + 1)] <= u)
                                k += int(cumulated[np.uint64(at + k)] <= u)
                            else:
                                k = 0
                                while half > 0:
                                    k += half * int(cumulated[np.uint64(at + k + half - 1)] <= u)
                                    half >>= 1
                            if plain:
                                states[v, c] = k
                            else:
                                row[c] = at
                                drawn[c] = k
                        if plain:
                            continue
                    else:
                        start = site[s, FIRST]
                        for c in range(n_chains):
                            z = streams[c]
                            z ^= z >> np.uint64(12)
                            z ^= z << np.uint64(25)
                            z ^= z >> np.uint64(27)
                            streams[c] = z
                            uniform[c] = np.float64(np.int64((z * np.uint64(MULTIPLIER)) >> np.uint64(11))) * 2.0**-53
                            row[c] = start
                            drawn[c] = 0
                        if width > 0:
                            for j in range(site[s, NEIGHBOURS], site[s + 1, NEIGHBOURS] - 1):
                                a = neighbour[j, 0]
                                stride = neighbour[j, 1]
                                for c in range(n_chains):
                                    row[c] += stride * states[a, c]
                            half = width >> 1
                            while half > 0:
                                for c in range(n_chains):
                                    k = drawn[c]
                                    sum_at = cumulated[np.uint32(row[c] + k + half - 1)]
                                    drawn[c] = k + half * np.int64(sum_at <= uniform[c])
                                half >>= 1
                        elif with_parts:
                            for c in range(n_chains):
                                p = site[s, PARTS]
                                n_parts = 0
                                while part[p, TABLE] >= 0:
                                    at = part[p, TABLE]
                                    j = part[p, OUTSIDE]
                                    while outside[j, 0] >= 0:
                                        at += outside[j, 1] * states[outside[j, 0], c]
                                        j += 1
                                    place[n_parts] = at
                                    n_parts += 1
                                    p += 1
                                top = -np.inf
                                for k in range(n):
                                    total = 0.0
                                    p = site[s, PARTS]
                                    while part[p, TABLE] >= 0:
                                        total += log_table[place[p - site[s, PARTS]] + part_cell[part[p, CELLS] + k]]
                                        p += 1
                                    sums[c, k] = total
                                    top = total if total > top else top
                                total = 0.0
                                for k in range(n):
                                    total += np.exp(sums[c, k] - top)
                                    sums[c, k] = total
                                k = 0
                                while k < n - 1 and sums[c, k] <= uniform[c] * total:
                                    k += 1
                                drawn[c] = k
                    if s == read_site:
                        for c in range(n_chains):
                            at = 0
                            for j in range(read_other.shape[0]):
                                at += read_other[j, 1] * states[read_other[j, 0], c]
                            lower = 0.0
                            for k in range(n):
                                if k == n - 1:
                                    upper = 1.0
                                elif with_parts and width == 0:
                                    upper = sums[c, k] / sums[c, n - 1]
                                else:
                                    upper = cumulated[row[c] + k]
                                totals[window, read_cell[k] + at, c] += upper - lower
                                lower = upper
                    if single:
                        for c in range(n_chains):
                            states[v, c] = drawn[c]
                    else:
                        for c in range(n_chains):
                            at = site[s, DECODE] + drawn[c] * n_own
                            for j in range(n_own):
                                states[own[start_own + j], c] = decode[at + j]

    return sweep_loop


_LOOPS = {(few, with_parts): _loop(few, with_parts) for few in (False, True) for with_parts in (False, True)}
