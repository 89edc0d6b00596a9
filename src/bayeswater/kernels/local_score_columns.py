"""Scores of a variable with its parents and one arc more or less, for every other variable at once.

    scores[x] = score(y | P + x), or score(y | P - x) where x is in P;   scores[y] = score(y | P)

A score is a sum of terms of counts (see `structure.scores`), read from tables over whole numbers. To count, the
configurations of the parents that some row has are numbered; a cell is a configuration and a state of y.
Cells of many rows are sets of bits, and their rows with a state of x are counted by AND and population count, the last
state by what remains; the rows of all other cells are counted one by one, four variables x in a pass.
Deleting a parent reads no row: the cells are added up.

A log-likelihood is at most zero, and x adds to that of y at most what is open about x. Where even that would not pay
for the parameters, nothing is counted, and the score is -inf: x is not worth joining.

Where equivalent graphs score the same, a score is that of a set less that of a smaller one,

    score(y | P) = t(P + y) - t(P) + c,   t(S) = sum over the cells of S of g(n),

since the pseudo-count of a cell depends on the number of cells alone. So what is counted for one parent set serves all
that share a set with it: t is kept by the number of the set (each variable has a random one of 64 bits, a set the
exclusive or of those of its members), and x is counted only where one of its two sets is new.
"""

from math import lgamma, log

import numpy as np

from bayeswater.kernels.compiling import compiled_plainly, compiled_plainly_with_arrays
from bayeswater.typing import Array

ROWS_PER_STATE = 50 / 20_000
"""Share of all rows, for each state but one, from which a cell is counted by bits: there both ways cost the same."""

MOST_CELLS = 2**24
"""Cells of a parent set, of those that rows have times the states of x, beyond which it is never taken: -inf."""

AT_ONCE = 4
"""Variables whose rows are counted in one pass."""

NONE, ONE, TWO, FOUR, TOP_BYTE = map(np.uint64, (0, 1, 2, 4, 56))
NO_ROW, ONE_ROW = map(np.uint32, (0, 1))
EVERY_SECOND, EVERY_TWO, EVERY_FOUR, EVERY_BYTE = (
    np.uint64(0x0101010101010101 * byte) for byte in (0x55, 0x33, 0x0F, 0x01)
)
"""Numbers of the kinds that loops add them to, and bits: a constant that stands in a loop takes long to be typed."""

WORDS = 16
"""The bits of a state fill a multiple of so many words: then none is left to the slow end of an unrolled loop."""


def state_bits(codes: Array, n_states: Array) -> Array:
    """Give the rows of every state of every variable as bits: (sum of n_states, n_words)."""
    n_words = -(-codes.shape[1] // (64 * WORDS)) * WORDS
    padded = np.zeros(n_words * 64, dtype=bool)
    bits = np.empty((int(n_states.sum()), n_words), dtype=np.uint64)
    row = 0
    for column, n in zip(codes, n_states.tolist(), strict=True):
        for state in range(n):
            np.equal(column, state, out=padded[: len(column)])
            bits[row] = np.packbits(padded, bitorder="little").view(np.uint64)
            row += 1
    return bits


def set_numbers(n_variables: int) -> Array:
    """Give random numbers of 64 bits, always the same, for each variable and, the last one, for the empty set."""
    return np.random.default_rng(0).integers(1, 2**64, size=n_variables + 1, dtype=np.uint64)


@compiled_plainly
def remember_sets(numbers, terms, known_sets, known_terms):  # type: ignore[no-untyped-def]
    """Put sets that are not there yet into a table of a power of two slots, 0 where one is free; give their number."""
    mask = np.uint64(len(known_sets) - 1)
    n_new = 0
    for k in range(len(numbers)):
        if numbers[k] == NONE:
            continue
        slot = numbers[k] & mask
        while known_sets[slot] != NONE and known_sets[slot] != numbers[k]:
            slot = (slot + ONE) & mask
        if known_sets[slot] == NONE:
            known_sets[slot] = numbers[k]
            known_terms[slot] = terms[k]
            n_new += 1
    return n_new


@compiled_plainly_with_arrays
def score_column(  # type: ignore[no-untyped-def]
    codes,
    bits,
    first_bit,
    n_states,
    y,
    parents,
    joining,
    tables,
    marks,
    cell_table,
    row_table,
    constant,
    most_gain,
    numbers,
    known_sets,
    known_terms,
    scores,
    new_sets,
    new_terms,
    stays,
    left,
    key,
    listed,
    listed_cell,
    cell_key,
    first_cell,
    large_cell,
    place,
):
    """Fill `scores` (n_variables,), and give how many sets were counted that were not known.

    Parameters
    ----------
    codes : (n_variables, n_rows)
    bits, first_bit : rows of each state, and where those of a variable begin
    joining : whether to score also those that might join; else they are -inf
    tables, marks : terms (n_tables, length) of whole counts, and the pseudo-count (or mark) each is made with
    cell_table, row_table, constant : for each x, which table its cells and its configurations are read from; the rest
    most_gain : for each x, most that it can add to a log-likelihood; infinite where the score is none
    numbers : (n_variables + 1,) of the variables and of the empty set
    known_sets, known_terms : t of sets, as `remember_sets` keeps them; of length 0 where a score has no such terms
    new_sets, new_terms : (2 n_variables,) filled with those that were counted
    stays, left : (n_variables,) room for 1 of y itself and its parents, and for what has to be counted: first these,
        then the others
    key, listed, listed_cell, cell_key, first_cell, large_cell, place : (n_rows + 1,) room for the cell of each row, the
        rows that are listed with their cells, and the cells that some row has
    """
    n_variables, n_rows = codes.shape
    n_words = bits.shape[1]
    n_y = n_states[y]
    length = np.uint32(tables.shape[1])
    mask = np.uint64(max(1, len(known_sets)) - 1)
    own = numbers[n_variables]
    for x in range(n_variables):
        stays[x] = 0
    stays[y] = 1
    for parent in parents:
        own ^= numbers[parent]
        stays[parent] = 1
    n_stay = n_left = 0
    is_known = True  # of y as it stands
    for k in range(2 * n_variables):
        x = (y + k) % n_variables
        if stays[x] == k // n_variables:
            continue
        if stays[x] == 0:
            price = constant[y] - constant[x]
            cannot_pay = is_known and min(constant[y] - scores[y], most_gain[x]) <= price
            if not joining or (cannot_pay and most_gain[x] < np.inf):
                scores[x] = -np.inf
                continue
        number = own if x == y else own ^ numbers[x]
        n_known = 0
        total = constant[x]
        for which in range(min(2, len(known_sets))):
            slot = number & mask
            while known_sets[slot] != NONE and known_sets[slot] != number:
                slot = (slot + ONE) & mask
            if known_sets[slot] == number:
                n_known += 1
                total += known_terms[slot] if which == 1 else -known_terms[slot]
            number ^= numbers[y]
        scores[x] = total
        if n_known < 2:
            is_known &= x != y
            left[n_left] = x
            n_left += 1
            n_stay += stays[x]
    if n_left == 0:
        return 0

    # Read the parents and y as the digits of one number; where there would be more than rows, number anew.
    for i in range(n_rows):
        key[i] = 0
    size = 1
    for k in range(len(parents) + 1):
        v = parents[k] if k < len(parents) else y
        n = n_states[v]
        if size * n > n_rows:
            anew = np.empty(size, dtype=np.uint32)
            for i in range(size):
                anew[i] = 0
            size = 0
            for i in range(n_rows):
                if anew[key[i]] == 0:
                    size += 1
                    anew[key[i]] = size
                key[i] = anew[key[i]] - ONE_ROW
        if size * n >= 2**32:
            raise MemoryError("a variable and its parents have too many cells to be numbered")
        digit = np.uint32(n)
        for i in range(n_rows):
            key[i] = key[i] * digit + codes[v, i]
        size *= n
    rows_of = np.empty(size, dtype=np.uint32)
    row_of = np.empty(size, dtype=np.uint32)
    cell_of = np.empty(size, dtype=np.uint32)  # one more than the cell, 0 where its rows are not to be listed
    for k in range(size):
        rows_of[k] = cell_of[k] = 0
    for i in range(n_rows):
        rows_of[key[i]] += ONE_ROW
        row_of[key[i]] = i
    # Cells that some row has, those of a configuration after one another.
    n_configurations = n_cells = 0
    first_cell[0] = 0
    for k in range(size):
        if rows_of[k] > 0:
            if n_cells == 0 or k // n_y > cell_key[n_cells - 1] // n_y:
                n_configurations += 1
            cell_key[n_cells] = k
            n_cells += 1
            first_cell[n_configurations] = n_cells
    # Large cells become bits; the rows of the others are listed with their cell.
    mean_states = 0.0
    for x in range(n_variables):
        mean_states += n_states[x]
    least = max(64.0, ROWS_PER_STATE * n_rows * (mean_states / n_variables - 1.0))
    n_large = n_listed = 0
    for c in range(n_cells if n_left > n_stay else 0):
        if rows_of[cell_key[c]] > least:
            large_cell[n_large] = c
            n_large += 1
        else:
            cell_of[cell_key[c]] = c + 1
            n_listed += rows_of[cell_key[c]]
    large = np.empty(n_large * n_words, dtype=np.uint64)
    for c in range(n_large):
        cell = cell_key[large_cell[c]]
        for k in range(len(parents) + 1):
            v = parents[k] if k < len(parents) else y
            bit = first_bit[v] + codes[v, row_of[cell]]
            for w in range(n_words):
                if k == 0:
                    large[c * n_words + w] = bits[bit, w]
                else:
                    large[c * n_words + w] &= bits[bit, w]
    n_rows_listed = n_listed
    n_listed = 0
    for i in range(n_rows if n_rows_listed > 0 else 0):  # without a branch: what is not to be listed is written over
        cell = cell_of[key[i]]
        listed[n_listed] = i
        listed_cell[n_listed] = cell - ONE_ROW
        n_listed += cell > 0
    width = n_configurations * n_y
    n_counted = n_stay
    for k in range(n_stay, n_left):
        x = left[k]
        if n_cells * n_states[x] > MOST_CELLS:
            scores[x] = -np.inf
        else:
            width = max(width, n_cells * n_states[x])
            left[n_counted] = x
            n_counted += 1
    counts = np.empty((AT_ONCE + 1) * width, dtype=np.uint32)  # the last part: those of configurations

    done = n_new = 0
    while done < n_counted:
        joins = done >= n_stay
        n_group = min(AT_ONCE, n_counted - done) if joins else 1
        for k in range(n_group * width):
            counts[k] = 0
        if joins and n_group == AT_ONCE:
            v_a, v_b, v_c, v_d = left[done], left[done + 1], left[done + 2], left[done + 3]
            n_a, n_b = np.uint32(n_states[v_a]), np.uint32(n_states[v_b])
            n_c, n_d = np.uint32(n_states[v_c]), np.uint32(n_states[v_d])
            at_b, at_c, at_d = np.uint32(width), np.uint32(2 * width), np.uint32(3 * width)
            for i in range(n_listed):
                row, cell = listed[i], listed_cell[i]
                counts[cell * n_a + codes[v_a, row]] += ONE_ROW
                counts[at_b + cell * n_b + codes[v_b, row]] += ONE_ROW
                counts[at_c + cell * n_c + codes[v_c, row]] += ONE_ROW
                counts[at_d + cell * n_d + codes[v_d, row]] += ONE_ROW
        elif joins:
            for g in range(n_group):
                v = left[done + g]
                n_a, at_b = np.uint32(n_states[v]), np.uint32(g * width)
                for i in range(n_listed):
                    counts[at_b + listed_cell[i] * n_a + codes[v, listed[i]]] += ONE_ROW
        for g in range(n_group):
            v = left[done + g]
            n = n_states[v]
            at = g * width
            if not joins:
                # Without parent v: number the configurations of the others, from one row of each.
                n = 1
                for j in range(n_configurations):
                    place[j] = 0
                for parent in parents:
                    if parent != v:
                        states = n_states[parent]
                        anew = np.empty(n * states, dtype=np.uint32)
                        for k in range(n * states):
                            anew[k] = 0
                        n = 0
                        for j in range(n_configurations):
                            k = place[j] * states + codes[parent, row_of[cell_key[first_cell[j]]]]
                            if anew[k] == 0:
                                n += 1
                                anew[k] = n
                            place[j] = anew[k] - ONE_ROW
                for j in range(n_configurations):
                    for c in range(first_cell[j], first_cell[j + 1]):
                        counts[cell_key[c] % n_y * n + place[j]] += rows_of[cell_key[c]]
            else:
                for c in range(n_large):
                    cell = large_cell[c]
                    rest = np.uint64(rows_of[cell_key[cell]])
                    for state in range(n - 1):
                        bit = first_bit[v] + state
                        found = NONE
                        for w in range(n_words):
                            # The population count of 64 bits, as compilers know it: it becomes one instruction.
                            word = large[c * n_words + w] & bits[bit, w]
                            word = word - ((word >> ONE) & EVERY_SECOND)
                            word = (word & EVERY_TWO) + ((word >> TWO) & EVERY_TWO)
                            word = (word + (word >> FOUR)) & EVERY_FOUR
                            found += (word * EVERY_BYTE) >> TOP_BYTE
                        counts[at + cell * n + state] = found
                        rest -= found
                    counts[at + cell * n + n - 1] = rest
            # Without a parent, its table lies turned: one configuration, and its own as the states.
            n_blocks, n_cells_here = (n_configurations, n_cells) if joins else (1, n_y)
            for j in range(n_blocks):
                first, last = (first_cell[j], first_cell[j + 1]) if joins else (0, n_y)
                for state in range(n):
                    rows = NO_ROW
                    for c in range(first, last):
                        rows += counts[at + c * n + state]
                    counts[AT_ONCE * width + j * n + state] = rows
            number = own if v == y else own ^ numbers[v]
            for which in range(2):
                # First the configurations, then the cells.
                begin, n_terms, table = at, n_cells_here * n, cell_table[v]
                if which == 0:
                    begin, n_terms, table = AT_ONCE * width, n_blocks * n, row_table[v]
                mark = marks[table]
                total = 0.0
                for k in range(begin, begin + n_terms):
                    rows = counts[k]
                    if rows < length:
                        total += tables[table, rows]
                    elif mark < 0:
                        total += rows * log(rows)
                    else:
                        total += lgamma(rows + mark) - lgamma(mark)
                new_sets[n_new], new_terms[n_new] = number, total
                n_new += 1
                number ^= numbers[y]
            scores[v] = constant[v] + new_terms[n_new - 1] - new_terms[n_new - 2]
        done += n_group
    for x in range(n_variables if not is_known else 0):  # what would have been spared, had y been known before
        price = constant[y] - constant[x]
        if stays[x] == 0 and most_gain[x] < np.inf and min(constant[y] - scores[y], most_gain[x]) <= price:
            scores[x] = -np.inf
    return n_new
