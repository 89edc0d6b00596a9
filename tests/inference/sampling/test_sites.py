"""Sites: zeros never lie between them, their states are the possible ones, and what does not fit is declined."""

import numpy as np
import pytest
from hypothesis import given
from tests.inference.exact.small_networks import full_joint, random_network, seeds
from tests.inference.sampling.networks import ASIA, DYSP, LUNG, XRAY, copies

from bayeswater.errors import SamplingError
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.sampling import sites as sites_module
from bayeswater.inference.sampling.question import ask
from bayeswater.inference.sampling.sites import lay_out, make_sites
from bayeswater.kernels.gibbs_sweeps import FIRST, NEIGHBOURS, WIDTH


def question_of(factors, targets, evidence=None):
    return ask(factors, targets, evidence or {}, {}, np.random.default_rng(0))


def test_a_deterministic_variable_moves_with_its_parents():
    sites = make_sites(question_of(ASIA, [LUNG], {XRAY: 1, DYSP: 1}), str)
    assert sorted(tuple(sorted(site.variables)) for site in sites) == [(0,), (1, 3, 5), (2,), (4,)]
    together = next(site for site in sites if len(site.variables) == 3)
    order = [together.variables.index(v) for v in (1, 3, 5)]
    assert {tuple(state) for state in together.states[:, order].tolist()} == {
        (0, 0, 0),
        (0, 1, 1),
        (1, 0, 1),
        (1, 1, 1),
    }


def test_without_zeros_every_variable_moves_alone():
    sites = make_sites(question_of(ASIA, [2], {5: 1, DYSP: 1}), str)
    assert all(len(site.variables) == 1 or set(site.variables) == {1, 3} for site in sites)


@given(seed=seeds)
def test_every_possible_state_of_all_sites_together_is_possible(seed):
    # So one sweep leads from anywhere to anywhere: no part of the distribution is cut off from another.
    rng = np.random.default_rng(seed)
    factors = random_network(rng, 6, zeros=0.2)
    question = question_of(factors, list(range(6)))
    sites = make_sites(question, str)
    joint = full_joint(factors)
    n_possible = int((joint > 0).sum())
    assert n_possible == np.prod([len(site.states) for site in sites], dtype=int)


@given(seed=seeds)
def test_rows_are_the_conditional_distributions(seed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, 5, zeros=0.1)
    question = question_of(factors, list(range(5)))
    if not question.free:
        return
    sites = make_sites(question, str)
    tables = lay_out(question, sites)
    joint = full_joint(factors)
    start = [int(rng.integers(question.n_states(v))) for v in question.free]
    for s, site in enumerate(sites):
        at = tables.site[s, FIRST]
        for v, stride in tables.neighbour[tables.site[s, NEIGHBOURS] : tables.site[s + 1, NEIGHBOURS] - 1].tolist():
            at += stride * start[v]
        row = tables.cumulated[at : at + tables.site[s, WIDTH]]
        weights = []
        for state in site.states:
            full = [int(question.states[v][0]) for v in range(5)]
            for v, code in zip(question.free, start, strict=True):
                full[v] = int(question.states[v][code])
            for v, code in zip(site.variables, state.tolist(), strict=True):
                full[v] = int(question.states[v][code])
            # Other sites may stand in states that are impossible together; the conditional does not depend on that.
            touched = [v for v in range(5) if {v, *factors.parents[v]} & set(site.variables)]
            weights.append(
                np.prod([factors.tables[v][tuple(full[u] for u in (*factors.parents[v], v))] for v in touched])
            )
        expected = np.cumsum(weights) / np.sum(weights)
        np.testing.assert_allclose(row[: len(weights) - 1], expected[:-1], rtol=0, atol=1e-13)
        assert (row[len(weights) - 1 :] == 2.0).all()
    assert joint.sum() == pytest.approx(1.0)


def test_too_many_states_are_declined_with_the_variables_that_are_tied():
    n = 14
    coin, xor = np.array([0.5, 0.5]), np.eye(2)[[[0, 1], [1, 0]]]
    # 0 to 13 are coins, and each of the others is the parity of two neighbours: 2^14 possible states.
    parents = (*[()] * n, *[(v, v + 1) for v in range(n - 1)])
    parity = Factors((2,) * (2 * n - 1), parents, (*[coin] * n, *[xor] * (n - 1)))
    question = question_of(parity, list(range(n, 2 * n - 1)))
    with pytest.raises(SamplingError, match=r"draw 27 variables together \(X13, .*might never reach.*4096 states"):
        make_sites(question, lambda v: f"X{v}")


def test_finding_the_states_stops_before_memory_does(monkeypatch):
    monkeypatch.setattr(sites_module, "MOST_PARTIAL_STATES", 2)
    with pytest.raises(SamplingError, match="draw 3 variables together"):
        make_sites(question_of(copies(), [2]), str)


def test_tables_that_do_not_fit_together_are_left_out_largest_first(monkeypatch):
    from bayeswater.inference.sampling import sites as sites_module

    question = question_of(ASIA, [LUNG], {XRAY: 1, DYSP: 1})
    sites = make_sites(question, str)
    monkeypatch.setattr(sites_module, "MOST_CELLS", 20)
    widths = lay_out(question, sites).site[:-1, WIDTH]
    assert 0 < (widths == 0).sum() < len(sites)
