"""Concentrations of the levels: those of the largest likelihood of rows that are taken out, from the root down."""

import numpy as np

from bayeswater.estimate.level_concentrations import BOLDNESS, GRID, level_concentrations


def counts_of(rng, n_columns, n_levels, n_rows):
    """Counts as rows find them in nested nodes: N(x, y, p) <= N(y, p), N(x, p) <= N(p), fewer from level to level."""
    whole = 2 + rng.integers(0, 60, (n_columns, n_levels, n_rows)).cumsum(axis=1)[:, ::-1]
    of_class = 1 + np.floor(rng.random(whole.shape) * (whole - 1))
    of_state = 1 + np.floor(rng.random(whole.shape) * (whole - 1))
    own = 1 + np.floor(rng.random(whole.shape) * (np.minimum(of_class, of_state) - 1))
    return np.stack([own, of_class, of_state, whole], axis=1).astype(float)


def best(weight, count, total, base):
    with np.errstate(divide="ignore"):
        likelihood = [(weight * np.log((count + c * base) / (total + c))).sum() for c in GRID]
    return GRID[int(np.argmax(likelihood))]


def test_every_level_is_chosen_by_the_rows_taken_out_given_the_levels_above():
    rng = np.random.default_rng(0)
    n_columns, n_levels, n_rows, class_free = 3, 4, 50, 0.3
    counts = counts_of(rng, n_columns, n_levels, n_rows)
    counts[1, :, 2:] = 0  # a column with one parent
    counts[2, :, 1:, :10] = 1  # rows that are alone in their nodes
    counts = np.maximum(counts - 1, 0)  # each row is taken out
    weight, n_states = rng.choice([1.0, 2.0], n_rows), np.array([2, 3, 4])
    for use_loop in (True, False):
        c, f = level_concentrations(counts, weight, n_states, class_free, use_loop=use_loop)
        own, of_class, of_state, whole = np.moveaxis(counts, 1, 0)
        free, share = np.repeat(1 / n_states, n_rows).reshape(3, n_rows), np.ones((3, n_rows))
        for level in range(n_levels):
            said = whole[:, level] > 0
            for j in range(n_columns):
                s = said[j]
                expected = (
                    1.0
                    if level == 0 or not s.any()
                    else best(weight[s], of_state[j, level][s], whole[j, level][s], free[j][s])
                )
                assert f[j, level] == expected
            g = f[:, level, None]
            free = np.where(said, (of_state[:, level] + g * free) / (whole[:, level] + g), free)
            base = free if level == 0 else (1 - class_free) * share + class_free * free
            s = said & (of_class[:, level] > 0)
            times = np.broadcast_to(weight, s.shape)
            assert c[level] == BOLDNESS * best(times[s], own[:, level][s], of_class[:, level][s], base[s])
            term = (own[:, level] + c[level] * base) / (of_class[:, level] + c[level])
            share = np.where(said, term, base if level == 0 else share)


def test_a_level_that_no_row_speaks_of_has_the_weight_of_a_row():
    c, f = level_concentrations(np.zeros((2, 4, 3, 5)), np.ones(5), np.array([2, 2]), 0.3, use_loop=False)
    np.testing.assert_array_equal(c, np.full(3, BOLDNESS))
    np.testing.assert_array_equal(f, np.ones((2, 3)))
