"""What columns tell of each other, of all pairs of very many columns: counted, read and let go, pair by pair.

The counts of all pairs of ten thousand columns take more memory than there is, and what they tell one number a pair.
Pairs of columns with few states are counted by sets of rows as bits, as in `kernels.pair_counts`, others by scatter;
only the table of the pair at hand is kept.

With I = sum of N(x, z, y) log [N(x, z, y) N(y) / (N(x, y) N(z, y))] over the W rows that have both cells, a pair is
worth, by the price of a parameter,

    I / W                                      CONDITIONAL: the conditional mutual information
    I - (v_i - 1)(v_j - 1) K (log W) / 2       BIC
    I - (v_i - 1)(v_j - 1) K price             0 or more

The pairs of column i with those before it stand one after the other, from place i (i - 1) / 2 on.
"""

from math import log

import numpy as np

from bayeswater.kernels.category_tables import offsets
from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.pair_counts import ROW_COST, place_rows, set_bits
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array

CONDITIONAL, BIC = -1.0, -2.0

MOST_BIT_SLOTS = 32
"""Slots of a column that is kept as bits; one of more states is counted by scatter, whatever the other one has."""

TILE = 8
"""Columns whose pairs one task looks at: the bits of another one, once in the cache, are met by all of them."""


class PairValues:
    """A number for every pair of `n` columns, in the place of a symmetric matrix: half of its memory."""

    def __init__(self, n: int, packed: Array) -> None:
        self.n, self.packed = n, packed

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Array:
        """Give the numbers of column i with all columns (n,), and for itself 0.

        >>> PairValues(3, np.array([1.0, 2.0, 3.0]))[1]
        array([1., 0., 3.])
        """
        after = np.arange(i + 1, self.n)
        first = i * (i - 1) // 2
        return np.concatenate([self.packed[first : first + i], [0.0], self.packed[after * (after - 1) // 2 + i]])


def pair_values(
    codes: Array, n_states: Array, y: Array, n_classes: int, price: float, weight: Array | None = None
) -> PairValues:
    """Say what every pair of columns is worth, by rows as codes (n_columns, n_rows); the last slot is of missing cells.

    Rows with weights are counted by scatter alone, which takes about thirty times as long.

    >>> codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> pair_values(codes, np.array([2, 2, 2]), np.zeros(4, dtype=int), 1, CONDITIONAL).packed / np.log(2)
    array([1., 0., 0.])
    """
    n_columns, n_rows = codes.shape
    n_slots, start = n_states + 1, offsets(n_states)
    class_rows = np.bincount(y, minlength=n_classes)
    ends = np.cumsum(-(-class_rows // 64))  # each class begins a new word
    first_place = 64 * np.concatenate([[0], ends[:-1]])
    has_bits = (n_slots <= MOST_BIT_SLOTS) & (weight is None)
    kind = np.int64 if weight is None else np.float64
    first_bits = np.concatenate([[0], np.cumsum(np.where(has_bits, n_slots, 0))])
    bits = np.zeros((first_bits[-1], int(ends[-1])), dtype=np.uint64)
    counts = np.zeros((start[-1], n_classes), dtype=kind)
    place = np.empty(n_rows, dtype=np.uint32)
    place_rows(y, first_place, place)

    def count_column(j: int) -> None:
        own = codes[j].astype(np.int64) * n_classes + y
        of_states = np.bincount(own, weight, minlength=n_slots[j] * n_classes)
        counts[start[j] : start[j + 1]] = of_states.reshape(-1, n_classes)
        if has_bits[j]:
            set_bits(codes[j], place, bits[first_bits[j] : first_bits[j + 1]])

    packed = np.empty(n_columns * (n_columns - 1) // 2)

    def fill(low: int) -> None:
        high = min(low + TILE, n_columns)
        table = np.empty(int(n_slots[low:high].max() * n_slots[:high].max()) * n_classes, dtype=kind)
        margins = np.empty((2, int(n_slots[:high].max())), dtype=kind)
        of_bits, of_rows = (bits, first_bits, ends, has_bits), (codes, y, weight)
        _fill(*of_bits, counts, start, *of_rows, price, low, high, table, margins, packed)

    for _ in ordered_map(count_column, range(n_columns)):
        pass
    with np.errstate(over="ignore"):  # the last step of a population count, where it is not compiled
        for _ in ordered_map(fill, range(0, n_columns, TILE)[::-1]):  # the last columns have the most pairs
            pass
    return PairValues(n_columns, packed)


@compiled
def _fill(  # type: ignore[no-untyped-def]
    bits, first_bits, ends, has_bits, counts, start, codes, y, weights, price, low, high, table, margins, packed
):
    n_classes, n_rows = counts.shape[1], codes.shape[1]
    n_words = bits.shape[1]
    for j in range(high - 1):
        n_j = start[j + 1] - start[j]
        for i in range(max(low, j + 1), high):
            n_i = start[i + 1] - start[i]
            for c in range(n_i * n_j * n_classes):
                table[c] = 0
            if has_bits[i] and has_bits[j] and (n_i - 1) * (n_j - 1) * n_words < ROW_COST * n_rows:
                for k in range(n_classes):
                    at = k * n_i * n_j
                    first, end = 0 if k == 0 else ends[k - 1], ends[k]
                    for b in range(n_j):
                        table[at + b] = counts[start[j] + b, k]
                    for a in range(1, n_i):
                        rest = counts[start[i] + a, k]
                        if rest == 0:
                            continue
                        mine = bits[first_bits[i] + a, first:end]
                        for b in range(1, n_j):
                            if counts[start[j] + b, k] == 0:
                                continue
                            theirs = bits[first_bits[j] + b, first:end]
                            found = np.uint64(0)
                            for w in range(len(mine)):
                                # The population count, as compilers know it: it becomes one instruction.
                                x = mine[w] & theirs[w]
                                x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
                                x = (x & np.uint64(0x3333333333333333)) + (
                                    (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
                                )
                                x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                                found += (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
                            table[at + a * n_j + b] = np.int64(found)
                            table[at + b] -= np.int64(found)
                            rest -= np.int64(found)
                        table[at + a * n_j] = rest
                        table[at] -= rest
            else:
                for r in range(n_rows):
                    cell = (y[r] * n_i + codes[i, r]) * n_j + codes[j, r]
                    if weights is None:
                        table[cell] += 1
                    else:
                        table[cell] += weights[r]
            information, weight = 0.0, 0.0
            for k in range(n_classes):
                at, total = k * n_i * n_j, 0
                for b in range(n_j - 1):
                    margins[1, b] = 0
                for a in range(n_i - 1):
                    own = 0
                    for b in range(n_j - 1):
                        n = table[at + a * n_j + b]
                        own += n
                        margins[1, b] += n
                    margins[0, a] = own
                    total += own
                for a in range(n_i - 1):
                    for b in range(n_j - 1):
                        n = table[at + a * n_j + b]
                        if n > 0:
                            # Products of whole numbers are exact: independent columns have exactly no information.
                            ratio = (float(n) * float(total)) / (float(margins[0, a]) * float(margins[1, b]))
                            information += n * log(ratio)
                weight += total
            information = max(information, 0.0)
            if price == CONDITIONAL:
                information = information / weight if weight > 0 else 0.0
            else:
                unit = log(max(weight, 1.0)) / 2 if price == BIC else price
                information -= (n_i - 2) * (n_j - 2) * n_classes * unit
            packed[i * (i - 1) // 2 + j] = information
