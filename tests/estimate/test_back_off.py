"""Concentrations of back-off: those under which rows, each taken out, are predicted best."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import KDB
from bayeswater.estimate.back_off import BOLDNESS, GRID, level_concentrations


def table(n_rows=120):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n_rows)
    a = (y + (rng.random(n_rows) < 0.3)) % 3
    b = (a + y + (rng.random(n_rows) < 0.3)) % 3
    c = rng.integers(0, 3, n_rows)
    return pd.DataFrame({"a": a, "b": b, "c": c}), y


def log_likelihood(frame, y, parents, c, f, class_free, level):
    """Sum of log P_l(x | y) over rows and columns, each row taken out: by loops over the rows."""
    total = {"with": 0.0, "without": 0.0}
    for name, own in parents.items():
        x = frame[name].to_numpy()
        above = [frame[p].to_numpy() for p in own]
        for i in range(len(y)):
            keep = np.arange(len(y)) != i
            same = keep & (x == x[i])
            free = (same.sum() + 1 / 3) / (keep.sum() + 1)
            share = ((same & (y == y[i])).sum() + c[0] * free) / ((keep & (y == y[i])).sum() + c[0])
            deep = 0
            for at, column in enumerate(above[:level], start=1):
                keep = keep & (column == column[i])
                if not keep.any():
                    break
                same = keep & (x == x[i])
                free = (same.sum() + f[at] * free) / (keep.sum() + f[at])
                base = (1 - class_free) * share + class_free * free
                share = ((same & (y == y[i])).sum() + c[at] * base) / ((keep & (y == y[i])).sum() + c[at])
                deep = at
            if deep == level:
                total["with"] += np.log(share)
                total["without"] += np.log(free)
    return total


@pytest.mark.parametrize("class_free", [0.0, 0.3, 1.0])
def test_no_other_concentration_predicts_the_rows_better(class_free):
    frame, y = table()
    parents = {"a": [], "b": ["a", "c"], "c": ["a"]}
    model = KDB(parents=parents, class_free=class_free).fit(frame, y)
    c, f = model.concentrations_["with_class"], model.concentrations_["without_class"]
    assert f[0] == 1.0
    for level in range(3):
        best = log_likelihood(frame, y, parents, c, f, class_free, level)
        for factor in (0.8, 1.25):
            other = [value * factor if at == level else value for at, value in enumerate(c)]
            inside = 1 / 64 <= other[level] <= 4**8
            if inside:
                assert log_likelihood(frame, y, parents, other, f, class_free, level)["with"] <= best["with"]
            other = [value * factor if at == level else value for at, value in enumerate(f)]
            if level and 1 / 64 <= other[level] <= 4**8:
                assert log_likelihood(frame, y, parents, c, other, class_free, level)["without"] <= best["without"]


def test_a_level_without_a_second_row_anywhere_teaches_nothing():
    frame = pd.DataFrame({"a": [f"v{i}" for i in range(8)], "b": ["x", "y"] * 4}).astype("category")
    model = KDB(parents={"b": ["a"]}).fit(frame, [0, 0, 1, 1] * 2)
    assert model.concentrations_["with_class"][1] == 1.0


@pytest.mark.parametrize("factor", [1 / 2, 1 / 10, 1 / 1024])
def test_a_common_factor_of_all_weights_goes_into_the_concentrations_alone(factor):
    frame, y = table(600)
    frame["c"] = (frame["a"] + frame["b"] * (np.arange(600) % 3 > 0)) % 3
    whole, light = (KDB().fit(frame, y, sample_weight=np.full(600, w)) for w in (1.0, factor))
    for name in ("with_class", "without_class"):
        c, scaled = (np.array(model.concentrations_[name][1:]) for model in (whole, light))
        # alpha, which draws F_0 to equal shares, is no multiple of the weights: it weighs a little more of few.
        np.testing.assert_allclose(scaled / factor, c, rtol=0.3)
    np.testing.assert_array_equal(light.predict(frame), whole.predict(frame))


def test_with_nothing_to_draw_to_equal_shares_a_common_factor_changes_no_share():
    frame, y = table(600)
    models = [KDB(alpha=0).fit(frame, y, sample_weight=np.full(600, w)) for w in (1.0, 1 / 64)]
    c, scaled = (np.array(model.concentrations_["with_class"]) for model in models)
    np.testing.assert_allclose(scaled * 64, c, rtol=1e-9)  # powers of two scale every sum exactly; logarithms do not
    whole, light = (model.predict_proba(frame) for model in models)
    np.testing.assert_allclose(light, whole, rtol=1e-9)


def test_rows_that_hardly_weigh_do_not_hide_what_a_row_weighs():
    frame, y = table(300)
    model = KDB().fit(frame, y)
    dust = KDB().fit(pd.concat([frame, frame]), np.tile(y, 2), sample_weight=np.repeat([1.0, 1e-6], 300))
    for name in ("with_class", "without_class"):
        # The dust is a millionth of all weight.
        np.testing.assert_allclose(dust.concentrations_[name], model.concentrations_[name], rtol=1e-2)


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
