"""Counting cells: the loop, which looks them up by hash, equals the NumPy reference and a count by hand."""

from collections import Counter

import numpy as np
import pytest
from tests.kernels.tables import weights

from bayeswater.kernels.cell_counts import count_cells

both = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])


def counted_by_hand(blocks):
    total = Counter()
    for cells, weight in blocks:
        for i, cell in enumerate(cells.tolist()):
            if cell >= 0:
                total[cell] += 1 if weight is None else weight[i].item()
    return sorted(total.items())


@both
@pytest.mark.parametrize("weighted", [None, "int", "float"])
def test_equal_cells_of_all_blocks_are_summed(weighted, use_loop):
    rng = np.random.default_rng(0)
    # The first blocks are small, so that the table grows with cells in it; cells beyond 31 bits share hashes.
    blocks = [
        (rng.integers(-1, 50, size=n) * int(rng.integers(1, 2**40)), weights(rng, n, weighted)) for n in (1, 3, 40, 300)
    ]
    blocks = [(np.maximum(cells, -1), weight) for cells, weight in blocks]
    cells, sums = count_cells(blocks, np.float64 if weighted == "float" else np.int64, use_loop=use_loop)
    assert list(zip(cells.tolist(), sums.tolist(), strict=True)) == counted_by_hand(blocks)
    assert cells.dtype == np.int64
    assert sums.dtype == (np.float64 if weighted == "float" else np.int64)


@both
def test_cells_of_the_same_hash_are_kept_apart(use_loop):
    cells = np.arange(64) << 31  # their first 31 bits are zero, and only the folded ones tell them apart
    found, sums = count_cells([(np.repeat(cells, 2), None)], np.int64, use_loop=use_loop)
    assert found.tolist() == cells.tolist()
    assert sums.tolist() == [2] * 64


@both
def test_blocks_of_nothing_but_missing_cells_have_no_cell(use_loop):
    cells, sums = count_cells([(np.array([-1, -1]), None), (np.zeros(0, dtype=np.int64), None)], int, use_loop=use_loop)
    assert (len(cells), len(sums)) == (0, 0)
