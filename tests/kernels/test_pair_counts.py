"""Counting pairs: bits, scatter and the NumPy reference are equal, and equal to a count by hand.

Counting triples: the loop equals the NumPy reference, and both equal a count by hand.
"""

from itertools import combinations

import numpy as np
import pytest
from tests.kernels.tables import labels, weights

from bayeswater.kernels import compiling
from bayeswater.kernels.category_tables import offsets
from bayeswater.kernels.pair_counts import (
    SEGMENT_WORDS,
    WORKING_BYTES,
    add_pairs,
    choose_bits,
    class_segments,
    complete_pairs,
    count_listed_pairs,
    count_pairs_by_reference,
    count_triples,
    n_pair_cells,
    n_triple_cells,
    pair_base,
    pair_offsets,
    rows_at_once,
    rows_of_column,
    triple_base,
    triple_rows_of_column,
)

N_STATES = np.array([2, 0, 5, 3, 1, 8, 4, 2, 3, 12])
N_CLASSES = 4
N_COLUMNS = len(N_STATES)

BELOW = np.tri(N_COLUMNS, k=-1, dtype=bool)
WAYS = {
    "bits": BELOW,
    "scatter": np.zeros_like(BELOW),
    "both": BELOW & (np.add.outer(np.arange(N_COLUMNS), np.arange(N_COLUMNS)) % 3 == 0),
}


def codes_of(rng, n_rows, kind="uint8"):
    """Codes (n_columns, n_rows); some slots of missing cells are empty."""
    codes = rng.integers(0, N_STATES + 1, size=(n_rows, N_COLUMNS)).T.astype(kind)
    codes[5:7] %= N_STATES[5:7, None].astype(kind)
    return np.ascontiguousarray(codes)


def tables_by_hand(codes, y, weight):
    table = np.zeros((offsets(N_STATES)[-1], N_CLASSES))
    pairs = np.zeros((n_pair_cells(N_STATES), N_CLASSES))
    first, start = pair_offsets(N_STATES), offsets(N_STATES)
    for r in range(codes.shape[1]):
        w = 1 if weight is None else weight[r]
        for i in range(N_COLUMNS):
            a = int(codes[i, r])
            table[start[i] + a, y[r]] += w
            for j in range(i):
                pairs[first[i, j] + a * (N_STATES[j] + 1) + codes[j, r], y[r]] += w
    return table, pairs


def empty_tables(weight):
    kind = np.float64 if weight is not None and weight.dtype.kind == "f" else np.int64
    return (np.zeros((n, N_CLASSES), dtype=kind) for n in (offsets(N_STATES)[-1], n_pair_cells(N_STATES)))


@pytest.mark.parametrize(
    ("way", "kind", "weighted"),
    [
        *[(way, "uint8", None) for way in WAYS],
        ("both", "uint16", None),
        ("both", "int32", None),
        ("scatter", "uint8", "int"),
        ("scatter", "uint8", "float"),
    ],
)
def test_every_pair_is_counted_in_its_states_and_class(way, kind, weighted):
    rng = np.random.default_rng(0)
    codes, y, weight = codes_of(rng, 150, kind), labels(rng, 150, N_CLASSES), weights(rng, 150, weighted)
    table, pairs = empty_tables(weight)
    for rows in (slice(0, 90), slice(90, 150)):
        w = None if weight is None else weight[rows]
        add_pairs(np.ascontiguousarray(codes[:, rows]), y[rows], w, N_STATES, WAYS[way], table, pairs)
    complete_pairs(table, N_STATES, WAYS[way], pairs)
    expected_table, expected_pairs = tables_by_hand(codes, y, weight)
    np.testing.assert_array_equal(table, expected_table)
    np.testing.assert_array_equal(pairs, expected_pairs)


@pytest.mark.parametrize("weighted", [None, "int", "float"])
def test_the_reference_counts_every_pair_too(weighted):
    rng = np.random.default_rng(1)
    codes, y, weight = codes_of(rng, 60), labels(rng, 60, N_CLASSES), weights(rng, 60, weighted)
    _, pairs = empty_tables(weight)
    count_pairs_by_reference(codes, N_STATES, y, weight, pairs)
    np.testing.assert_array_equal(pairs, tables_by_hand(codes, y, weight)[1])


def test_the_pairs_of_a_column_own_rows_of_their_own():
    first, n_slots = pair_offsets(N_STATES), N_STATES + 1
    owned = [np.arange(first[i, j], first[i, j] + n_slots[i] * n_slots[j]) for i in range(N_COLUMNS) for j in range(i)]
    assert np.concatenate(owned).tolist() == list(range(n_pair_cells(N_STATES)))
    by_column = [rows_of_column(i, N_STATES) for i in range(N_COLUMNS)]
    assert sorted(np.concatenate([rows.ravel() for rows in by_column]).tolist()) == list(range(n_pair_cells(N_STATES)))
    assert by_column[3][2, offsets(N_STATES)[2] + 4] == first[3, 2] + 2 * n_slots[2] + 4


def test_segments_cover_the_words_of_every_class_once():
    class_rows = np.array([0, 1, 64, 65, 64 * SEGMENT_WORDS + 1])
    first, segments = class_segments(class_rows)
    words = [(k, w) for k, low, high in segments.tolist() for w in range(low, high)]
    expected = [(k, int(first[k]) // 64 + w) for k, n in enumerate(class_rows.tolist()) for w in range(-(-n // 64))]
    assert words == expected
    assert [w for _, w in words] == list(range(len(words)))
    assert max(high - low for _, low, high in segments.tolist()) == SEGMENT_WORDS


def test_bits_are_chosen_for_small_domains_of_many_rows():
    n_states, many = np.array([4, 300, 4]), np.array([50_000, 50_000])
    chosen = choose_bits(n_states, many, 100_000)
    assert chosen.tolist() == [[False, False, False], [False, False, False], [True, False, False]]
    assert not choose_bits(n_states, np.ones(1000, dtype=np.int64), 1000).any()  # a word for every row


def test_a_block_of_wide_tables_has_fewer_rows():
    for n_columns in (10, 300, 3000):
        n_states = np.full(n_columns, 8)
        by_bits = np.tri(n_columns, k=-1, dtype=bool)
        rows = rows_at_once(n_states, by_bits, 1)
        assert rows * n_columns * (1 + 9 / 8) <= WORKING_BYTES
        assert rows >= 64


N_STATES_OF_TRIPLE_COUNTS = np.array([2, 0, 3, 1, 5, 300])
N_CLASSES_OF_TRIPLE_COUNTS = 3


def table_by_hand(codes, y, weight):
    table = np.zeros((n_triple_cells(N_STATES_OF_TRIPLE_COUNTS), N_CLASSES_OF_TRIPLE_COUNTS))
    n_slots, first, base = (
        N_STATES_OF_TRIPLE_COUNTS + 1,
        pair_offsets(N_STATES_OF_TRIPLE_COUNTS),
        triple_base(N_STATES_OF_TRIPLE_COUNTS),
    )
    for r in range(codes.shape[1]):
        for k, j, i in combinations(range(len(N_STATES_OF_TRIPLE_COUNTS)), 3):
            a, b, c = (int(codes[column, r]) for column in (i, j, k))
            row = base[i] + n_slots[i] * first[j, k] + (a * n_slots[j] + b) * n_slots[k] + c
            table[row, y[r]] += 1 if weight is None else weight[r]
    return table


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("weighted", [None, "int", "float"])
def test_every_triple_is_counted_in_its_states_and_class(weighted, use_loop):
    rng = np.random.default_rng(0)
    codes = np.ascontiguousarray(rng.integers(0, N_STATES_OF_TRIPLE_COUNTS + 1, size=(40, 6)).T.astype(np.uint16))
    y, weight = labels(rng, 40, N_CLASSES_OF_TRIPLE_COUNTS), weights(rng, 40, weighted)
    kind = np.float64 if weighted == "float" else np.int64
    triples = np.zeros((n_triple_cells(N_STATES_OF_TRIPLE_COUNTS), N_CLASSES_OF_TRIPLE_COUNTS), dtype=kind)
    count_triples(codes, N_STATES_OF_TRIPLE_COUNTS, y, weight, triples, use_loop=use_loop)
    np.testing.assert_array_equal(triples, table_by_hand(codes, y, weight))


def test_the_triples_of_a_column_own_rows_of_their_own():
    owned = [triple_rows_of_column(i, N_STATES_OF_TRIPLE_COUNTS) for i in range(6)]
    assert sorted(np.concatenate([rows.ravel() for rows in owned]).tolist()) == list(
        range(n_triple_cells(N_STATES_OF_TRIPLE_COUNTS))
    )
    assert [rows.shape for rows in owned] == [
        (N_STATES_OF_TRIPLE_COUNTS[i] + 1, n_pair_cells(N_STATES_OF_TRIPLE_COUNTS[:i])) for i in range(6)
    ]
    assert pair_base(N_STATES_OF_TRIPLE_COUNTS)[-1] == n_pair_cells(N_STATES_OF_TRIPLE_COUNTS)
    assert triple_base(N_STATES_OF_TRIPLE_COUNTS)[-1] == n_triple_cells(N_STATES_OF_TRIPLE_COUNTS)


@pytest.mark.parametrize("from_cells", [0, 10**18], ids=["loop", "reference"])
@pytest.mark.parametrize("kind", [None, "i", "f"])
def test_listed_pairs_are_counted_one_after_the_other(monkeypatch, from_cells, kind):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", from_cells)
    rng = np.random.default_rng(4)
    codes, y = codes_of(rng, 60), rng.integers(0, N_CLASSES, 60)
    weight = {None: None, "i": rng.integers(0, 4, 60), "f": rng.random(60)}[kind]
    partners = [(2, 5), (), (9, 0, 1), (), (3,), (), (0, 1), (), (), ()]
    sizes = [sum((N_STATES[i] + 1) * (N_STATES[j] + 1) for j in own) for i, own in enumerate(partners)]
    base = np.cumsum([0, *sizes])
    pairs = np.zeros((base[-1], N_CLASSES), dtype=np.int64 if kind != "f" else np.float64)
    count_listed_pairs(codes, N_STATES, y, weight, partners, base, pairs)
    expected = []
    for i, own in enumerate(partners):
        for j in own:
            table = np.zeros((N_STATES[i] + 1, N_STATES[j] + 1, N_CLASSES))
            np.add.at(table, (codes[i], codes[j], y), 1 if weight is None else weight)
            expected.append(table.reshape(-1, N_CLASSES))
    np.testing.assert_allclose(pairs, np.concatenate(expected), rtol=1e-14)
