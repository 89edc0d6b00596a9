"""Sweeps: the loop goes through the states of the NumPy reference, and both draw from the right distribution."""

from dataclasses import replace

import numpy as np
import pytest
from tests.inference.exact.small_networks import random_network
from tests.inference.sampling.networks import ASIA, DYSP, LUNG, XRAY, exact

from bayeswater.inference.sampling import sites
from bayeswater.inference.sampling.gibbs import Chains
from bayeswater.inference.sampling.question import ask
from bayeswater.inference.sampling.sites import make_sites
from bayeswater.kernels import gibbs_sweeps
from bayeswater.kernels.gibbs_sweeps import FEW_CHAINS, WIDTH, sweep

chain_numbers = pytest.mark.parametrize("n_chains", [1, FEW_CHAINS - 1, FEW_CHAINS, 33])


def question_of(factors, targets, evidence=None):
    return ask(factors, targets, evidence or {}, {}, np.random.default_rng(0))


def chains_of(question, n_chains, seed=0):
    return Chains(question, make_sites(question, str), seed, n_chains)


def swept(chains, n_windows, n_sweeps, *, use_loop):
    totals = np.zeros((n_windows, chains.n_cells, len(chains.streams)))
    sweep(chains.tables, chains.reading, chains.states, chains.streams, totals, n_sweeps, use_loop=use_loop)
    return totals


@chain_numbers
@pytest.mark.parametrize("seed", range(2))
def test_the_loop_goes_where_the_reference_goes(seed, n_chains):
    factors = random_network(np.random.default_rng(seed), 9, most_states=9, zeros=0.1)
    question = question_of(factors, [8, 2, 5])
    question = replace(question, targets=tuple(v for v in question.targets if v in question.free))
    runs = [chains_of(question, n_chains) for _ in range(2)]
    totals = [swept(run, 2, 3, use_loop=use_loop) for run, use_loop in zip(runs, (True, False), strict=True)]
    np.testing.assert_array_equal(runs[0].states, runs[1].states)
    np.testing.assert_array_equal(runs[0].streams, runs[1].streams)
    np.testing.assert_array_equal(*totals)


@chain_numbers
def test_sites_without_rows_of_their_own_draw_the_same(n_chains, monkeypatch):
    question = question_of(ASIA, [LUNG, 2], {XRAY: 1, DYSP: 1})
    looked_up = chains_of(question, n_chains)
    expected = swept(looked_up, 2, 20, use_loop=True)
    monkeypatch.setattr(sites, "MOST_CELLS_OF_A_SITE", 0)
    for use_loop in (True, False):
        added_up = chains_of(question, n_chains)
        assert not added_up.tables.site[:, WIDTH].any()
        totals = swept(added_up, 2, 20, use_loop=use_loop)
        # Exponentials and sums in another order: some roundings, and no number drawn is within one of a limit.
        np.testing.assert_allclose(totals, expected, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(added_up.states, looked_up.states)


@pytest.mark.parametrize("n_chains", [2, FEW_CHAINS])
@pytest.mark.parametrize("most_cells", [0, 10**6])
def test_switched_off_the_loop_runs_as_plain_python(n_chains, most_cells, monkeypatch):
    monkeypatch.setenv("BAYESWATER_COMPILE", "0")
    fresh = {key: gibbs_sweeps._loop(*key) for key in gibbs_sweeps._LOOPS}
    monkeypatch.setattr(gibbs_sweeps, "_LOOPS", fresh)
    monkeypatch.setattr(sites, "MOST_CELLS_OF_A_SITE", most_cells)
    question = question_of(ASIA, [LUNG], {XRAY: 1, DYSP: 1})
    runs = [chains_of(question, n_chains) for _ in range(2)]
    totals = [swept(run, 2, 2, use_loop=use_loop) for run, use_loop in zip(runs, (True, False), strict=True)]
    np.testing.assert_array_equal(runs[0].states, runs[1].states)
    np.testing.assert_allclose(*totals, rtol=0, atol=1e-14)  # roundings of exponentials


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_what_is_written_down_is_a_distribution_for_every_sweep(use_loop):
    question = question_of(ASIA, [LUNG, 2], {XRAY: 1})
    totals = swept(chains_of(question, 16), 4, 3, use_loop=use_loop)
    # A few additions of numbers up to 3.
    np.testing.assert_allclose(totals.sum(axis=1), 3.0, atol=1e-14)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_chains_visit_states_as_often_as_they_are_probable(use_loop):
    question = question_of(ASIA, [2, 4], {XRAY: 1, DYSP: 1})
    chains = chains_of(question, 2000)
    swept(chains, 1, 30, use_loop=use_loop)
    drawn = np.array([[(chains.states[question.free.index(2)] == a) & (chains.states[question.free.index(4)] == b)
                       for b in (0, 1)] for a in (0, 1)]).mean(axis=-1)  # fmt: skip
    # 2000 independent chains: within four standard errors.
    np.testing.assert_allclose(drawn, exact(ASIA, [2, 4], {XRAY: 1, DYSP: 1}), atol=4 * np.sqrt(0.25 / 2000))


def test_random_numbers_are_those_of_xorshift64_star():

    x, mask = 0x0123456789ABCDEF, 2**64 - 1
    streams = np.array([x], dtype=np.uint64)
    for _ in range(5):
        x ^= x >> 12
        x ^= (x << 25) & mask
        x ^= x >> 27
        expected = (((x * 0x2545F4914F6CDD1D) & mask) >> 11) / 2**53
        assert gibbs_sweeps._draw(streams)[0] == expected
        assert int(streams[0]) == x
