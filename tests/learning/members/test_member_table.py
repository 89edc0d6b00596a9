"""How members cut numbers, in turn, and how they see cells that are missing."""

from dataclasses import replace

import numpy as np
from tests.data.reading.discretising.one_column import find_cuts
from tests.learning.members.member_rows import mixed_rows, table_of

from bayeswater.learning.members.member_table import LEAST_BINS, MOST_BINS, StateColumns

ALL = np.ones(200, dtype=bool)


def learned(table, number, seed=0):
    return StateColumns.learn(table, np.ones(len(table), dtype=bool), number, np.random.default_rng(seed))


def test_ways_to_cut_go_round():
    table = mixed_rows(200, missing=0.0)
    full = [find_cuts(values, table.labels, 3) for values in table.numbers.T]
    for one, other in zip(learned(table, 3).cuts, full, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(learned(table, 1).cuts[0]) >= len(full[0])  # at half the price there are no fewer cuts
    for number in (0, 2):
        n_cuts = {len(learned(table, number, seed).cuts[0]) for seed in range(40)}
        assert min(n_cuts) == LEAST_BINS
        assert max(n_cuts) == MOST_BINS  # a phase makes one bin more than there are without
    np.testing.assert_array_equal(learned(table, 0, 5).cuts[0], learned(table, 4, 5).cuts[0])


def test_a_column_that_the_classes_do_not_cut_has_five_bins():
    rng = np.random.default_rng(0)
    table = table_of(rng.normal(size=(200, 1)), np.zeros((200, 0)), [], rng.integers(0, 2, 200), 2)
    assert len(learned(table, 3).cuts[0]) == 4


def test_missing_is_a_state_where_cells_were_missing():
    table = mixed_rows(200)
    table = replace(table, numbers=table.numbers.copy())
    table.numbers[:, 1] = np.nan_to_num(table.numbers[:, 1])
    columns = learned(table, 0)
    assert columns.missing_is_state.tolist() == [True, False, True, True, True]
    codes = columns.codes(replace(table, numbers=np.full((200, 3), np.nan), states=np.full_like(table.states, -1)))
    assert (codes[0] == columns.n_states[0] - 1).all()  # the last of its states
    assert (codes[1] == columns.n_states[1]).all()  # not there
    assert (codes[3] == 5).all()
    assert columns.n_states[3] == 6


def test_states_keep_their_codes():
    table = mixed_rows(200)
    codes = learned(table, 0).codes(table)
    np.testing.assert_array_equal(codes[3:].T, np.where(table.states < 0, table.n_states, table.states))
