"""Derivatives of P(evidence), explanations and marginal MAP, against the joint distribution, cell by cell."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.networks.nets import joint_by_enumeration, random_network

from bayeswater.inference.exact.best_states import most_probable_states
from bayeswater.inference.exact.derivatives import derivatives, family_posteriors, posterior_slopes
from bayeswater.inference.exact.factors import Factors

seeds = st.integers(0, 10_000)


def drawn(seed, *, zeros=False):
    rng = np.random.default_rng(seed)
    network = random_network(5, rng, zeros=zeros)
    evidence = {v: int(rng.integers(network.cards[v])) for v in rng.permutation(5)[: int(rng.integers(0, 3))].tolist()}
    soft = {v: rng.random(network.cards[v]) for v in rng.permutation(5)[: int(rng.integers(0, 2))].tolist()}
    return network, evidence, soft, rng


def seen(network, evidence, soft):
    """The joint distribution with the evidence, zero where it is not."""
    joint = joint_by_enumeration(network)
    for v, state in evidence.items():
        joint = joint * np.isin(np.arange(network.cards[v]), [state]).reshape([-1 if u == v else 1 for u in range(5)])
    for v, likelihood in soft.items():
        joint = joint * likelihood.reshape([-1 if u == v else 1 for u in range(5)])
    return joint


def probability(factors, evidence, soft):
    """P(evidence) of tables of any numbers."""
    total = 0.0
    for states in product(*map(range, factors.cards)):
        if all(states[v] == state for v, state in evidence.items()):
            p = np.prod([t[tuple(states[u] for u in s)] for t, s in zip(factors.tables, factors.scopes, strict=True)])
            total += p * np.prod([likelihood[states[v]] for v, likelihood in soft.items()])
    return total


@settings(max_examples=12)
@given(seed=seeds, zeros=st.booleans())
def test_p_of_evidence_is_linear_in_each_entry_with_these_slopes(seed, zeros):
    network, evidence, soft, rng = drawn(seed, zeros=zeros)
    factors = Factors.of(network)
    found = derivatives(network, evidence, soft)
    scale = np.exp(found.log_scale)
    assert np.isclose(found.value * scale, seen(network, evidence, soft).sum(), rtol=1e-10, atol=0)
    node = int(rng.integers(5))
    place = tuple(int(rng.integers(n)) for n in factors.tables[node].shape)
    for entry in (0.0, 2.5):
        tables = [table.copy() for table in factors.tables]
        tables[node][place] = entry
        expected = probability(Factors(factors.cards, factors.parents, tuple(tables)), evidence, soft)
        change = entry - factors.tables[node][place]
        assert np.isclose(
            scale * (found.value + found.of_tables[node][place] * change), expected, rtol=1e-9, atol=1e-14
        )


@settings(max_examples=12)
@given(seed=seeds, zeros=st.booleans())
def test_posteriors_of_families_come_from_the_same_passes(seed, zeros):
    network, evidence, soft, _ = drawn(seed, zeros=zeros)
    joint, found = seen(network, evidence, soft), derivatives(network, evidence, soft)
    if joint.sum() == 0:
        assert found.log_evidence == -np.inf
        return
    for node, own in enumerate(family_posteriors(network, found)):
        expected = np.einsum(joint / joint.sum(), [*range(5)], [*network.parents[node], node])
        assert np.allclose(own, expected, rtol=0, atol=1e-12)


@settings(max_examples=12)
@given(seed=seeds, zeros=st.booleans())
def test_a_posterior_follows_an_entry_as_a_quotient_of_lines(seed, zeros):
    network, evidence, soft, rng = drawn(seed, zeros=zeros)
    target = int(rng.integers(5))
    evidence.pop(target, None)
    found = posterior_slopes(network, target, 0, evidence, soft)
    if found is None:
        assert seen(network, evidence, soft).sum() == 0
        return
    factors, node = Factors.of(network), int(rng.integers(5))
    place = tuple(int(rng.integers(n)) for n in factors.tables[node].shape)
    entry, other = factors.tables[node][place], float(rng.random())
    table = factors.tables[node].copy()
    row = table[place[:-1]]
    rest = 1 - entry
    row[:] = row * (1 - other) / rest if rest > 0 else (1 - other) / (len(row) - 1)
    row[place[-1]] = other
    tables = tuple(table if v == node else own for v, own in enumerate(factors.tables))
    changed = Factors(factors.cards, factors.parents, tables)
    known = probability(changed, evidence, soft)
    if known > 1e-12:
        expected = probability(changed, {**evidence, target: 0}, soft) / known
        assert np.isclose(found.posterior(node, place, other - entry), expected, rtol=0, atol=1e-9)
        assert np.isclose(found.posteriors(node, np.full(table.shape, other - entry))[place], expected, atol=1e-9)


@settings(max_examples=12)
@given(seed=seeds, zeros=st.booleans())
def test_the_best_explanations_are_those_of_all(seed, zeros):
    network, evidence, soft, _ = drawn(seed, zeros=zeros)
    joint = seen(network, evidence, soft)
    found = most_probable_states(network, range(5), evidence, soft, 12)
    best = np.sort(joint.ravel())[::-1][:12]
    assert len(found) == min(12, int((joint > 0).sum()))
    assert np.allclose([np.exp(log_p) for _, log_p in found], best[: len(found)], rtol=1e-9)
    assert len({tuple(states) for states, _ in found}) == len(found)
    for states, log_p in found:
        assert np.isclose(joint[tuple(states)], np.exp(log_p), rtol=1e-9)


@settings(max_examples=12)
@given(seed=seeds, zeros=st.booleans())
def test_marginal_map_has_the_largest_sums(seed, zeros):
    network, evidence, soft, rng = drawn(seed, zeros=zeros)
    targets = rng.permutation(5)[: int(rng.integers(1, 4))].tolist()
    together = np.einsum(seen(network, evidence, soft), [*range(5)], targets)
    found = most_probable_states(network, targets, evidence, soft, 4)
    best = np.sort(together.ravel())[::-1][:4]
    assert len(found) == (best > 0).sum()
    assert np.allclose([np.exp(log_p) for _, log_p in found], best[: len(found)], rtol=1e-9)
    assert np.allclose([together[tuple(states)] for states, _ in found], best[: len(found)], rtol=1e-9)
