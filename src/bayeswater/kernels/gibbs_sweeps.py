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

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

FEW_CHAINS = 8
"""Fewer chains than this go one by one: loops over them would be mostly overhead."""

MULTIPLIER = 0x2545F4914F6CDD1D
"""Of xorshift64*, from Vigna."""

NEVER = 2.0
"""In place of a sum that is 1: no number drawn is as large, whatever the rounding."""


class SiteTables(NamedTuple):
    """Sites in the order of a sweep, all arrays flat; variables are numbered as the lines of `states`."""

    n_states: Array  # (n_sites,)
    width: Array  # (n_sites,) n_states as a power of two; 0 where nothing is looked up
    first: Array  # (n_sites,) where the rows of `cumulated` begin
    neighbour_start: Array  # (n_sites + 1,)
    neighbour: Array  # those of a site, and -1
    stride: Array  # of a neighbour in `cumulated`
    own_start: Array  # (n_sites + 1,)
    own: Array  # variables of the sites
    decode_start: Array  # (n_sites,)
    decode: Array  # (n_states, n_own) of each site: states of its variables
    part_start: Array  # (n_sites + 1,) tables of sites without rows of their own
    part_first: Array  # (n_parts,) where the table begins in `log_table`; behind those of a site, -1
    part_cell_start: Array  # (n_parts,)
    part_cell: Array  # (n_states,) of each part: what a state of the site adds to the index
    outside_start: Array  # (n_parts + 1,)
    outside: Array  # variables of the part that are not of the site, and -1
    outside_stride: Array
    cumulated: Array
    log_table: Array


class Reading(NamedTuple):
    """What is written down: cells of the targets' joint distribution."""

    site: int
    cell: Array  # (n_states of the site,)
    other: Array  # targets outside of the site
    stride: Array


def sweep(
    sites: SiteTables, reading: Reading, states: Array, streams: Array, totals: Array, n_sweeps: int, *, use_loop: bool
) -> None:
    """Sweep `n_sweeps` times for each window of `totals` (n_windows, n_cells, n_chains), and add the probabilities.

    `states` (n_variables, n_chains) int32 and `streams` (n_chains,) uint64 go on from where they are.
    """
    if not use_loop:
        _sweep_reference(sites, reading, states, streams, totals, n_sweeps)
        return
    n_chains = states.shape[1]
    most_parts = int(np.diff(sites.part_start).max(initial=1))
    _sweep_loop(
        *sites, *reading, states, streams, totals, n_sweeps, np.empty(n_chains), np.empty((2, n_chains), np.int32),
        np.empty(most_parts, np.int64), np.empty((n_chains, int(sites.n_states.max()))),
    )  # fmt: skip


def _sweep_reference(
    sites: SiteTables, reading: Reading, states: Array, streams: Array, totals: Array, n_sweeps: int
) -> None:
    chains = np.arange(states.shape[1])
    for total in totals:
        for _ in range(n_sweeps):
            for s in range(len(sites.n_states)):
                uniform = _draw(streams)
                n, width = int(sites.n_states[s]), int(sites.width[s])
                if width:
                    row = np.full(len(chains), sites.first[s])
                    for j in range(sites.neighbour_start[s], sites.neighbour_start[s + 1] - 1):
                        row += sites.stride[j] * states[sites.neighbour[j]].astype(np.int64)
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
                    cell = (reading.stride[:, None] * states[reading.other]).sum(axis=0)
                    for state in range(n):
                        total[reading.cell[state] + cell, chains] += sums[state + 1] - sums[state]
                own = sites.own[sites.own_start[s] : sites.own_start[s + 1]]
                if len(own) == 1:
                    states[own[0]] = k
                else:
                    at = sites.decode_start[s] + k * len(own)
                    for j, v in enumerate(own.tolist()):
                        states[v] = sites.decode[at + j]


def _draw(streams: Array) -> Array:
    streams ^= streams >> np.uint64(12)
    streams ^= streams << np.uint64(25)
    streams ^= streams >> np.uint64(27)
    return ((streams * np.uint64(MULTIPLIER)) >> np.uint64(11)) * 2.0**-53


def _sums_of_parts(sites: SiteTables, s: int, states: Array) -> Array:
    n = int(sites.n_states[s])
    log_weight = np.zeros((n, states.shape[1]))
    for p in range(sites.part_start[s], sites.part_start[s + 1] - 1):
        at = np.full(states.shape[1], sites.part_first[p])
        for j in range(sites.outside_start[p], sites.outside_start[p + 1] - 1):
            at += sites.outside_stride[j] * states[sites.outside[j]].astype(np.int64)
        cell = sites.part_cell[sites.part_cell_start[p] : sites.part_cell_start[p] + n]
        log_weight += sites.log_table[at + cell[:, None]]
    sums: Array = np.exp(log_weight - log_weight.max(axis=0)).cumsum(axis=0)
    return sums


@compiled
def _sweep_loop(  # type: ignore[no-untyped-def]
    n_states, width, first, neighbour_start, neighbour, stride, own_start, own, decode_start, decode,
    part_start, part_first, part_cell_start, part_cell, outside_start, outside, outside_stride, cumulated, log_table,
    read_site, read_cell, read_other, read_stride, states, streams, totals, n_sweeps, uniform, whole, place, sums,
):  # fmt: skip
    # Short loops end at a -1, not at a count: so they stay plain loops, where vectors would cost more than they bring.
    n_chains = states.shape[1]
    row = whole[0]
    drawn = whole[1]
    for window in range(totals.shape[0]):
        for _ in range(n_sweeps):
            for s in range(n_states.shape[0]):
                single = own_start[s + 1] - own_start[s] == 1
                v = np.uint64(own[own_start[s]])
                plain = single and s != read_site
                if n_chains < FEW_CHAINS and width[s] > 0:
                    for c in range(n_chains):
                        z = streams[c]
                        z ^= z >> np.uint64(12)
                        z ^= z << np.uint64(25)
                        z ^= z >> np.uint64(27)
                        streams[c] = z
                        u = np.float64(np.int64((z * np.uint64(MULTIPLIER)) >> np.uint64(11))) * 2.0**-53
                        at = first[s]
                        j = neighbour_start[s]
                        while neighbour[j] >= 0:
                            at += stride[j] * states[np.uint64(neighbour[j]), c]
                            j += 1
                        half = width[s] >> 1
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
                    for c in range(n_chains):
                        z = streams[c]
                        z ^= z >> np.uint64(12)
                        z ^= z << np.uint64(25)
                        z ^= z >> np.uint64(27)
                        streams[c] = z
                        uniform[c] = np.float64(np.int64((z * np.uint64(MULTIPLIER)) >> np.uint64(11))) * 2.0**-53
                    if width[s] > 0:
                        start = first[s]
                        j = neighbour_start[s]
                        end = neighbour_start[s + 1] - 1
                        if (end - j) % 2 == 1:
                            a = neighbour[j]
                            stride_a = stride[j]
                            for c in range(n_chains):
                                row[c] = start + stride_a * states[a, c]
                            j += 1
                        else:
                            for c in range(n_chains):
                                row[c] = start
                        while j < end:
                            a = neighbour[j]
                            b = neighbour[j + 1]
                            stride_a = stride[j]
                            stride_b = stride[j + 1]
                            for c in range(n_chains):
                                row[c] += stride_a * states[a, c] + stride_b * states[b, c]
                            j += 2
                        if width[s] == 2:
                            for c in range(n_chains):
                                drawn[c] = int(cumulated[np.uint32(row[c])] <= uniform[c])
                        elif width[s] == 4:
                            for c in range(n_chains):
                                k = 2 * int(cumulated[np.uint32(row[c] + 1)] <= uniform[c])
                                drawn[c] = k + int(cumulated[np.uint32(row[c] + k)] <= uniform[c])
                        else:
                            for c in range(n_chains):
                                k = 0
                                half = width[s] >> 1
                                while half > 0:
                                    k += half * int(cumulated[np.uint32(row[c] + k + half - 1)] <= uniform[c])
                                    half >>= 1
                                drawn[c] = k
                    else:
                        for c in range(n_chains):
                            p = part_start[s]
                            n_parts = 0
                            while part_first[p] >= 0:
                                at = part_first[p]
                                j = outside_start[p]
                                while outside[j] >= 0:
                                    at += outside_stride[j] * states[outside[j], c]
                                    j += 1
                                place[n_parts] = at
                                n_parts += 1
                                p += 1
                            top = -np.inf
                            for k in range(n_states[s]):
                                total = 0.0
                                p = part_start[s]
                                while part_first[p] >= 0:
                                    total += log_table[place[p - part_start[s]] + part_cell[part_cell_start[p] + k]]
                                    p += 1
                                sums[c, k] = total
                                top = max(top, total)
                            total = 0.0
                            for k in range(n_states[s]):
                                total += np.exp(sums[c, k] - top)
                                sums[c, k] = total
                            k = 0
                            while k < n_states[s] - 1 and sums[c, k] <= uniform[c] * total:
                                k += 1
                            drawn[c] = k
                if s == read_site:
                    for c in range(n_chains):
                        at = 0
                        for j in range(read_other.shape[0]):
                            at += read_stride[j] * states[read_other[j], c]
                        lower = 0.0
                        for k in range(n_states[s]):
                            if k == n_states[s] - 1:
                                upper = 1.0
                            elif width[s] > 0:
                                upper = cumulated[row[c] + k]
                            else:
                                upper = sums[c, k] / sums[c, n_states[s] - 1]
                            totals[window, read_cell[k] + at, c] += upper - lower
                            lower = upper
                if single:
                    for c in range(n_chains):
                        states[v, c] = drawn[c]
                else:
                    for c in range(n_chains):
                        at = decode_start[s] + drawn[c] * (own_start[s + 1] - own_start[s])
                        for j in range(own_start[s], own_start[s + 1]):
                            states[own[j], c] = decode[at]
                            at += 1
