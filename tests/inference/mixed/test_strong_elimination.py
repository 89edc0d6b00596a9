"""Exact answers with states and numbers, beside every configuration and the joint normal of all numbers."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.mixed_normals import answer, random_core

from bayeswater.errors import ImpossibleEvidence, ResourceLimitError
from bayeswater.inference.mixed.strong_elimination import MixedRows, StrongElimination
from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
from bayeswater.models.mixed_networks.mixed_rows import rows_of
from bayeswater.networks.regressions import LinearGaussian


def _evidence(core, rng):
    states = {v: int(rng.integers(core.variable(v).n_states)) for v in core.place if rng.random() < 0.3}
    values = {v: float(rng.normal()) for v in core.numbers if rng.random() < 0.4}
    return states, values


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(0, 5))
def test_answers_are_those_of_all_configurations_and_the_joint_normal(seed, n_states, n_numbers):
    if n_states + n_numbers == 0:
        return
    core, rng = random_core(seed, n_states, n_numbers), np.random.default_rng(seed)
    network = MixedNetwork.from_core(core)
    states, values = _evidence(core, rng)
    soft = {v: rng.random(core.variable(v).n_states) for v in core.place if rng.random() < 0.3}
    evidence = {core.names[v]: x for v, x in {**states, **values}.items()}
    likely = {"soft_evidence": {core.names[v]: own for v, own in soft.items()}}
    log_evidence, marginals, mean, cov, at = answer(core, states, values, soft)
    assert network.log_evidence(evidence, **likely) == pytest.approx(log_evidence, rel=1e-9, abs=1e-9)
    for v, expected in marginals.items():
        found = network.query(core.names[v], evidence, **likely).probabilities
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    for v, j in at.items():
        found = network.query(core.names[v], evidence, **likely)
        assert found.mean == pytest.approx(mean[j], rel=1e-8, abs=1e-9)
        assert found.variance == pytest.approx(cov[j, j], rel=1e-8, abs=1e-9)
    if at:
        joint = network.moments([core.names[v] for v in at], evidence, **likely)
        np.testing.assert_allclose(joint.mean, mean, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(joint.covariance, cov, rtol=1e-8, atol=1e-8)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_answers_for_rows_are_those_of_each_row_alone(seed):
    core, rng = random_core(seed), np.random.default_rng(seed)
    network, n = MixedNetwork.from_core(core), 12
    frame = network.sample(n, random_state=seed).to_pandas()
    holes = frame.astype(object).mask(rng.random(frame.shape) < 0.5)
    rows = [{k: v for k, v in row.items() if v is not None and v == v} for row in holes.to_dict("records")]
    found = network.posteriors(rows)
    for i, row in enumerate(rows):
        assert found.log_evidence[i] == pytest.approx(network.log_evidence(row), rel=1e-9, abs=1e-9)
        for name in network.names:
            alone = network.query(name, row)
            if name in network.numbers:
                assert found[name][i] == pytest.approx(alone.mean, rel=1e-9, abs=1e-9)
                assert found.std[name][i] == pytest.approx(alone.std, rel=1e-7, abs=1e-7)
            else:
                np.testing.assert_allclose(found[name][i], alone.probabilities, rtol=1e-9, atol=1e-12)


def test_an_exact_number_is_met_or_impossible():
    nodes = {"x": LinearGaussian(1, variance=2), "y": LinearGaussian(3, {"x": 2}, variance=0)}
    network = MixedNetwork("x -> y", nodes)
    assert network.query("x", {"y": 7}).mean == 2
    assert network.query("x", {"y": 7}).variance == 0
    assert network.query("y", {"x": 5}).mean == 13
    assert network.query("y").variance == 8
    with pytest.raises(ImpossibleEvidence):
        network.query("x", {"x": 1, "y": 0})


def test_an_exact_match_outweighs_densities():
    nodes = {"s": [0.5, 0.5], "y": {0: LinearGaussian(1, variance=0), 1: LinearGaussian(1, variance=1)}}
    network = MixedNetwork("s -> y", nodes)
    assert network.query("s", {"y": 1})[0] == 1
    assert network.query("s", {"y": 1.5})[1] == 1
    assert network.query("s").probabilities.tolist() == [0.5, 0.5]


def test_an_exact_match_of_impossible_states_leaves_the_densities():
    nodes = {"s": [0.0, 1.0], "y": {0: LinearGaussian(1, variance=0), 1: LinearGaussian(1, variance=1)}}
    network = MixedNetwork("s -> y", nodes)
    assert network.query("s", {"y": 1})[1] == 1
    assert network.log_evidence({"y": 1}) == pytest.approx(-0.5 * np.log(2 * np.pi))


def test_scales_of_numbers_do_not_matter():
    def mean(scale):
        nodes = {
            "s": [0.3, 0.7],
            "x": {0: LinearGaussian(scale, variance=scale**2), 1: LinearGaussian(-scale, variance=scale**2)},
            "y": LinearGaussian(0, {"x": 1 / scale}, 1e-10),
        }
        network = MixedNetwork("s -> x -> y", nodes)
        return network.query("x", {"y": 0.5}).mean / scale, network.query("s", {"y": 0.5})[0]

    for scale in (1e-120, 1e-5, 1e7, 1e120):
        np.testing.assert_allclose(mean(scale), mean(1.0), rtol=1e-12)


def test_many_numbers_of_one_state_do_not_underflow():
    names = [f"x{i}" for i in range(300)]
    nodes = {"s": [0.5, 0.5]} | {name: {0: LinearGaussian(0), 1: LinearGaussian(1)} for name in names}
    network = MixedNetwork([("s", name) for name in names], nodes)
    found = network.query("s", dict.fromkeys(names, 50.0))
    assert found[1] == 1
    assert np.isfinite(network.log_evidence(dict.fromkeys(names, 50.0)))


def test_a_row_that_is_impossible_is_marked():
    network = MixedNetwork("x", {"x": LinearGaussian(0, variance=0)})
    engine = StrongElimination(network.core)
    rows = MixedRows(np.zeros((1, 2), dtype=np.int64), np.array([[0.0, 1.0]]))
    (pattern,) = engine.patterns(rows)
    assert engine.joint(rows, pattern, [])[1].tolist() == [0.0, -np.inf]
    with pytest.warns(UserWarning, match="1 of 2 rows"):
        found = network.posteriors([{"x": 0.0}, {"x": 1.0}])
    assert found.impossible.tolist() == [False, True]


def test_too_many_states_that_meet_in_a_number_are_refused_before_memory_is_taken():
    states, numbers = [f"s{i}" for i in range(40)], [f"y{i}" for i in range(40)]
    nodes = {name: [0.5, 0.5] for name in states}
    for i, name in enumerate(numbers):
        slopes = {numbers[i - 1]: 0.5} if i else {}
        nodes[name] = {0: LinearGaussian(0, slopes), 1: LinearGaussian(1, slopes)}
    arcs = [*zip(states, numbers, strict=True), *pairwise(numbers)]
    network = MixedNetwork(arcs, nodes)
    assert network.query("y9").mean == pytest.approx(sum(0.5**i for i in range(1, 11)))
    with pytest.raises(ResourceLimitError, match="observe some"):
        network.query("s0", {"y39": 1.0})


def test_exact_matches_of_different_numbers_count_together():
    exact = LinearGaussian(5, variance=0)
    nodes = {
        "s": {"A": 0.4, "B": 0.4, "C": 0.2},
        "x": {"A": exact, "B": LinearGaussian(5), "C": LinearGaussian(5)},
        "z": {"A": LinearGaussian(5), "B": exact, "C": LinearGaussian(5)},
    }
    network = MixedNetwork("s -> x; s -> z", nodes)
    assert network.query("s", {"x": 5, "z": 5}).probabilities.tolist() == [0.5, 0.5, 0]
    assert network.query("s", {"x": 5, "z": 6}).probabilities.tolist() == [1, 0, 0]
    assert network.query("s", {"x": 6, "z": 6}).probabilities.tolist() == [0, 0, 1]
    # The one match stays the only answer though its density is e^-5000 of that without one.
    assert network.query("s", {"x": 5, "z": 105}).probabilities.tolist() == [1, 0, 0]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_exact_numbers_are_the_limit_of_vanishing_variances(seed):
    rng = np.random.default_rng(seed)

    def network(variance):
        rng = np.random.default_rng(seed)
        some = {0: lambda: LinearGaussian(0, variance=variance), 1: lambda: LinearGaussian(int(rng.integers(2)))}
        nodes = {"s": rng.dirichlet(np.ones(3)).tolist(), "t": {k: rng.dirichlet([1, 1]).tolist() for k in range(3)}}
        for name in "xyz":
            nodes[name] = {(k, j): some[int(rng.integers(2))]() for k in range(3) for j in range(2)}
        return MixedNetwork("s -> t; " + "; ".join(f"s -> {n}; t -> {n}" for n in "xyz"), nodes)

    evidence = {name: float(rng.integers(2)) for name in "xyz" if rng.random() < 0.8}
    if not np.isfinite(network(0).log_evidence(evidence)):
        return
    for target in "st":
        found = network(0).query(target, evidence).probabilities
        np.testing.assert_allclose(found, network(1e-80).query(target, evidence).probabilities, rtol=1e-9, atol=1e-12)


def test_no_rows_have_no_answers():
    network = MixedNetwork("s -> x", {"s": [0.5, 0.5], "x": {0: LinearGaussian(0), 1: LinearGaussian(1)}})
    rows = network.sample(3, random_state=0).to_pandas()[:0]
    assert network.log_evidence(rows).shape == (0,)
    found = network.posteriors(rows)
    assert (found["s"].shape, found["x"].shape) == ((0, 2), (0,))
    assert network.log_probability(rows).shape == (0,)


def test_rows_of_many_configurations_are_answered_in_small_blocks(monkeypatch):
    names = [f"s{i}" for i in range(8)]
    some = {key: LinearGaussian(sum(key)) for key in product((0, 1), repeat=8)}
    network = MixedNetwork(
        [(name, "x") for name in names] + [("x", "y")],
        {name: [0.5, 0.5] for name in names} | {"x": some, "y": LinearGaussian(0, {"x": 1})},
    )
    rows = [{"y": float(i)} for i in range(40)]
    whole = network.posteriors(rows)
    monkeypatch.setattr("bayeswater.inference.mixed.strong_elimination.BLOCK_CELLS", 2**12)
    engine = network._engine
    (pattern,) = engine.patterns(rows_of(rows, network.core))
    x = network.dag.node("x")
    # 256 of the density of y, and twice as many of the mixture of x, are 768 in a row.
    assert [len(part.rows) for part in engine.blocks(pattern, [([x], [])])] == [5] * 8
    assert [len(part.rows) for part in engine.blocks(pattern)] == [15, 15, 10]
    parts = network.posteriors(rows)
    for name in ("s0", "x"):
        np.testing.assert_allclose(parts[name], whole[name], rtol=1e-12)
