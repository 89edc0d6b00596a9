"""Scores of a variable with its parents and one arc more or less, for every other variable at once.

    scores[x] = score(y | P + x), or score(y | P - x) where x is in P;   scores[y] = score(y | P)

A score is a sum of terms of counts (see `structure.scores`), read from tables over whole numbers. To count, the
configurations of the parents that some row has are numbered as they come; a cell is a configuration and a state of y.
Cells of many rows are sets of bits, and their rows with a state of x are counted by AND and population count, the last
state by what remains; the rows of all other cells are counted one by one, four variables x in a pass.
Deleting a parent reads no row: the cells are added up.

A log-likelihood is at most zero, and x adds to that of y at most what is open about x. Where even that would not pay
for the parameters, nothing is counted, and the score is -inf: x is not worth joining.
"""

from math import lgamma, log

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

ROWS_PER_STATE = 70 / 20_000
"""Share of all rows, for each state but one, from which a cell is counted by bits: there both ways cost the same."""

MOST_CELLS = 2**24
"""Cells of a family, of those that rows have times the states of x, beyond which it is out of the question: -inf."""

AT_ONCE = 4
"""Variables whose rows are counted in one pass."""


def state_bits(codes: Array, n_states: Array) -> Array:
    """Give the rows of every state of every variable as bits: (sum of n_states, n_words)."""
    n_words = -(-codes.shape[1] // 64)
    padded = np.zeros(n_words * 64, dtype=bool)
    bits = np.empty((int(n_states.sum()), n_words), dtype=np.uint64)
    row = 0
    for column, n in zip(codes, n_states.tolist(), strict=True):
        for state in range(n):
            padded[: len(column)] = column == state
            bits[row] = np.packbits(padded, bitorder="little").view(np.uint64)
            row += 1
    return bits


@compiled
def score_column(  # type: ignore[no-untyped-def]
    codes, bits, first_bit, n_states, y, parents, tables, marks, cell_table, row_table, constant, most_gain, scores
):
    """Fill `scores` (n_variables,).

    Parameters
    ----------
    codes : (n_variables, n_rows)
    bits, first_bit : rows of each state, and where those of a variable begin
    tables, marks : terms (n_tables, length) of whole counts, and the pseudo-count (or mark) each is made with
    cell_table, row_table, constant : for each x, which table its cells and its configurations are read from; the rest
    most_gain : for each x, most that it can add to a log-likelihood; infinite where the score is none
    """
    n_variables, n_rows = codes.shape
    n_words = bits.shape[1]
    n_y = n_states[y]
    length = tables.shape[1]

    # Number the configurations of the parents that some row has.
    configuration = np.zeros(n_rows, dtype=np.int32)
    n_configurations = 1
    for parent in parents:
        n = n_states[parent]
        number = np.full(n_configurations * n, -1, dtype=np.int32)
        n_configurations = 0
        for i in range(n_rows):
            key = configuration[i] * n + codes[parent, i]
            if number[key] < 0:
                number[key] = n_configurations
                n_configurations += 1
            configuration[i] = number[key]
    of_configuration = np.full(n_configurations, -1, dtype=np.int64)  # a row that has it
    count = np.zeros(n_configurations * n_y, dtype=np.int64)
    for i in range(n_rows):
        j = configuration[i]
        if of_configuration[j] < 0:
            of_configuration[j] = i
        count[j * n_y + codes[y, i]] += 1

    # Large cells become bits; the rows of the others are listed with the number of their cell.
    mean_states = 0.0
    for x in range(n_variables):
        mean_states += n_states[x]
    least = max(64.0, ROWS_PER_STATE * n_rows * (mean_states / n_variables - 1.0))
    n_cells = n_large = 0
    number_of = np.full(n_configurations * n_y, -1, dtype=np.int32)
    for cell in range(n_configurations * n_y):
        if count[cell] > least:
            number_of[cell] = n_large
            n_large += 1
    n_cells = n_large
    n_listed = 0
    for cell in range(n_configurations * n_y):
        if 0 < count[cell] <= least:
            number_of[cell] = n_cells
            n_cells += 1
            n_listed += count[cell]
    cell_of = np.empty(n_cells, dtype=np.int64)
    for cell in range(n_configurations * n_y):
        if number_of[cell] >= 0:
            cell_of[number_of[cell]] = cell
    large = np.empty((n_large, n_words), dtype=np.uint64)
    for c in range(n_large):
        cell = cell_of[c]
        row = of_configuration[cell // n_y]
        own = first_bit[y] + cell % n_y
        for w in range(n_words):
            large[c, w] = bits[own, w]
        for parent in parents:
            own = first_bit[parent] + codes[parent, row]
            for w in range(n_words):
                large[c, w] &= bits[own, w]
    listed = np.empty(n_listed, dtype=np.int32)
    listed_cell = np.empty(n_listed, dtype=np.int32)
    n_listed = 0
    for i in range(n_rows):
        c = number_of[configuration[i] * n_y + codes[y, i]]
        if c >= n_large:
            listed[n_listed] = i
            listed_cell[n_listed] = c
            n_listed += 1

    is_parent = np.zeros(n_variables, dtype=np.bool_)
    for parent in parents:
        is_parent[parent] = True
    most_here = 1
    for x in range(n_variables):
        if n_cells * n_states[x] <= MOST_CELLS:
            most_here = max(most_here, n_states[x])
    cell_counts = np.zeros((AT_ONCE, max(n_cells, 1) * most_here), dtype=np.int32)
    row_counts = np.zeros(n_configurations * most_here, dtype=np.int64)
    smaller = np.empty(n_configurations, dtype=np.int64)
    group = np.empty(AT_ONCE, dtype=np.int64)
    # First y as it stands and without each parent, one by one; then the others, four at a time.
    n_before = len(parents) + 1
    next_before = x = 0
    while next_before < n_before or x < n_variables:
        n_group = 0
        merged = next_before < n_before
        if merged:
            group[0] = y if next_before == 0 else parents[next_before - 1]
            next_before += 1
            n_group = 1
        while not merged and x < n_variables and n_group < AT_ONCE:
            if x != y and not is_parent[x]:
                price = constant[y] - constant[x]
                cannot_pay = min(constant[y] - scores[y], most_gain[x]) <= price and most_gain[x] < np.inf
                if cannot_pay or n_cells * n_states[x] > MOST_CELLS:
                    scores[x] = -np.inf
                else:
                    group[n_group] = x
                    n_group += 1
            x += 1
        if n_group == 0:
            continue
        if not merged:
            for g in range(n_group):
                cell_counts[g, : n_cells * n_states[group[g]]] = 0
            if n_group == AT_ONCE:
                v_a, v_b, v_c, v_d = group
                n_a, n_b, n_c, n_d = n_states[v_a], n_states[v_b], n_states[v_c], n_states[v_d]
                for i in range(n_listed):
                    row, cell = listed[i], listed_cell[i]
                    cell_counts[0, cell * n_a + codes[v_a, row]] += 1
                    cell_counts[1, cell * n_b + codes[v_b, row]] += 1
                    cell_counts[2, cell * n_c + codes[v_c, row]] += 1
                    cell_counts[3, cell * n_d + codes[v_d, row]] += 1
            else:
                for g in range(n_group):
                    v = group[g]
                    n = n_states[v]
                    for i in range(n_listed):
                        cell_counts[g, listed_cell[i] * n + codes[v, listed[i]]] += 1
        for g in range(n_group):
            v = group[g]
            n = n_states[v]
            if merged:
                # Without parent v: number the configurations of the other parents, from one row of each.
                n_rows_of_table = 1
                smaller[:] = 0
                for parent in parents:
                    if parent == v:
                        continue
                    states = n_states[parent]
                    number = np.full(n_rows_of_table * states, -1, dtype=np.int32)
                    n_rows_of_table = 0
                    for j in range(n_configurations):
                        key = smaller[j] * states + codes[parent, of_configuration[j]]
                        if number[key] < 0:
                            number[key] = n_rows_of_table
                            n_rows_of_table += 1
                        smaller[j] = number[key]
                n_cells_of_table = n_rows_of_table * n_y
                if n_cells_of_table > cell_counts.shape[1]:
                    cell_counts = np.zeros((AT_ONCE, n_cells_of_table), dtype=np.int32)
                cell_counts[0, :n_cells_of_table] = 0
                row_counts[:n_rows_of_table] = 0
                for cell in range(n_configurations * n_y):
                    j = smaller[cell // n_y]
                    cell_counts[0, j * n_y + cell % n_y] += count[cell]
                    row_counts[j] += count[cell]
            else:
                n_rows_of_table, n_cells_of_table = n_configurations * n, n_cells * n
                row_counts[:n_rows_of_table] = 0
                for c in range(n_large):
                    rest = count[cell_of[c]]
                    for state in range(n - 1):
                        own = first_bit[v] + state
                        found = np.uint64(0)
                        for w in range(n_words):
                            # The population count of 64 bits, as compilers know it: it becomes one instruction.
                            word = large[c, w] & bits[own, w]
                            word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
                            word = (word & np.uint64(0x3333333333333333)) + (
                                (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
                            )
                            word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                            found += (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
                        cell_counts[g, c * n + state] = np.int32(found)
                        rest -= np.int64(found)
                    cell_counts[g, c * n + n - 1] = rest
                for c in range(n_cells):
                    j = cell_of[c] // n_y
                    for state in range(n):
                        row_counts[j * n + state] += cell_counts[g, c * n + state]
            total = constant[v]
            table, mark = cell_table[v], marks[cell_table[v]]
            for c in range(n_cells_of_table):
                found_rows = cell_counts[g, c]
                if found_rows < length:
                    total += tables[table, found_rows]
                elif mark < 0:
                    total += found_rows * log(found_rows)
                else:
                    total += lgamma(found_rows + mark) - lgamma(mark)
            table, mark = row_table[v], marks[row_table[v]]
            for j in range(n_rows_of_table):
                rows_of = row_counts[j]
                if rows_of < length:
                    total -= tables[table, rows_of]
                elif mark < 0:
                    total -= rows_of * log(rows_of)
                else:
                    total -= lgamma(rows_of + mark) - lgamma(mark)
            scores[v] = total
