"""Explanations, imputation and draws of networks with numbers, beside every configuration and its joint normal."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.mixed_normals import conditioned, random_core

from bayeswater import DataError, ImpossibleEvidence, LinearGaussian, MixedNetwork, ParameterError


def drawn(seed):
    """A network, evidence by name, and the configurations that it leaves, the most probable first."""
    core, rng = random_core(seed), np.random.default_rng(seed)
    states = {v: int(rng.integers(core.variable(v).n_states)) for v in core.place if rng.random() < 0.3}
    values = {v: float(rng.normal()) for v in core.numbers if rng.random() < 0.4}
    soft = {v: rng.random(core.variable(v).n_states) for v in core.place if rng.random() < 0.3}
    by_name = {core.names[v]: x for v, x in {**states, **values}.items()}
    likely = {core.names[v]: own for v, own in soft.items()}
    best = sorted(conditioned(core, states, values, soft), key=lambda one: -one[1])
    return MixedNetwork.from_core(core), by_name, likely, best


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_explanations_are_the_most_probable_configurations_with_the_means_in_them(seed):
    network, evidence, soft, best = drawn(seed)
    core = network.core
    found = network.most_probable_explanations(6, evidence, soft_evidence=soft)
    total = np.logaddexp.reduce([one[1] for one in best])
    assert len(found) == min(6, len(best))
    for (code, log_p, mean, _, at), share, one in zip(best, found.posterior, found, strict=False):
        assert one.log_probability == pytest.approx(log_p, rel=1e-9, abs=1e-9)
        assert share == pytest.approx(np.exp(log_p - total), rel=1e-8)
        assert all(one[core.names[v]] == state for v, state in code.items())
        np.testing.assert_allclose([one[core.names[v]] for v in at], mean, rtol=1e-8, atol=1e-9)
    row = network.most_probable_explanation(pd.DataFrame([evidence or {core.names[0]: None}]), soft_evidence=soft)
    assert row["log_probability"][0] == pytest.approx(best[0][1], rel=1e-9, abs=1e-9)
    assert {name: row[name][0] for name in core.names} == pytest.approx(found[0].states, rel=1e-8, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_the_best_states_of_some_variables_have_the_largest_sum(seed):
    network, evidence, soft, best = drawn(seed)
    targets = list(network.core.place)[: 1 + seed % 2]
    sums = {}
    for code, log_p, *_ in best:
        key = tuple(code[v] for v in targets)
        sums[key] = np.logaddexp(sums.get(key, -np.inf), log_p)
    found = network.marginal_map([network.names[v] for v in targets], evidence, soft_evidence=soft)
    assert found.log_probability == pytest.approx(max(sums.values()), rel=1e-9, abs=1e-9)
    assert sums[tuple(found.states.values())] == max(sums.values())


def test_draws_given_evidence_have_its_posterior():
    core = random_core(11)
    network = MixedNetwork.from_core(core)
    number, state = network.numbers[-1], core.names[next(iter(core.place))]
    evidence = {number: 0.7, state: 1}
    rows = network.sample(20_000, evidence=evidence, random_state=0)
    assert set(rows[state].to_pylist()) == {1}
    assert set(rows[number].to_pylist()) == {0.7}
    moments = network.moments([name for name in network.numbers if name != number], evidence)
    values = np.array([rows[name].to_numpy() for name in moments.names])
    error = np.sqrt(np.diag(moments.covariance) / 20_000)
    assert (np.abs(values.mean(axis=1) - moments.mean) < 5 * error).all()
    np.testing.assert_allclose(np.cov(values), moments.covariance, atol=0.1)
    for v in core.place:
        share = np.bincount(rows[core.names[v]].to_numpy(), minlength=core.variable(v).n_states) / 20_000
        np.testing.assert_allclose(share, network.query(core.names[v], evidence).probabilities, atol=0.02)
    with pytest.raises(ImpossibleEvidence):
        network.do({state: 0}).sample(5, evidence={state: 1})


def heights():
    nodes = {
        "sex": {"f": 0.6, "m": 0.4},
        "height": {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)},
        "weight": LinearGaussian(-100, {"height": 1.0}, 81),
    }
    return MixedNetwork("sex -> height -> weight", nodes)


def test_missing_cells_are_filled_in_each_way():
    network = heights()
    rows = pd.DataFrame({"sex": [None, "m", "f"], "height": [150.0, np.nan, 160.0], "weight": [np.nan, 70.0, 61.0]})
    best = network.impute(rows)
    assert best["sex"].tolist() == ["f", "m", "f"]
    assert best["weight"].tolist() == pytest.approx([50.0, 70.0, 61.0])
    assert best["height"][1] == pytest.approx(network.query("height", {"sex": "m", "weight": 70}).mean)
    averaged = network.impute(rows[["height", "weight"]].iloc[[1]], "mean")
    assert averaged["height"].iloc[0] == pytest.approx(network.query("height", {"weight": 70}).mean)
    twice = [network.impute(rows, "draw", random_state=seed) for seed in (0, 0, 1)]
    pd.testing.assert_frame_equal(twice[0], twice[1])
    assert twice[0]["height"][1] != twice[2]["height"][1]
    assert twice[0].loc[2].tolist() == ["f", 160.0, 61.0]


def test_rows_that_are_impossible_stay_as_they_are():
    nodes = {"s": [0.5, 0.5], "y": {0: LinearGaussian(1, variance=0), 1: LinearGaussian(1, variance=0)}}
    network = MixedNetwork("s -> y", nodes)
    for method in ("most_probable", "draw", "mean"):
        with pytest.warns(UserWarning, match="1 of 2 rows"):
            found = network.impute(pd.DataFrame({"s": [None, None], "y": [1.0, 2.0]}), method, random_state=0)
        assert found["s"].isna().tolist() == [False, True]


def test_exact_numbers_decide_explanations_and_draws():
    nodes = {"s": [0.1, 0.9], "y": {0: LinearGaussian(1, variance=0), 1: LinearGaussian(1, variance=1)}}
    network = MixedNetwork("s -> y", nodes)
    found = network.most_probable_explanations(2, {"y": 1})
    assert [one["s"] for one in found] == [0]
    assert found.posterior == (1.0,)
    assert set(network.sample(20, evidence={"y": 1}, random_state=0)["s"].to_pylist()) == {0}


def test_rows_given_others_have_the_quotient_of_densities():
    network = heights()
    row, known = {"height": 170.0, "weight": 72.0}, {"sex": "f", "height": 170.0}
    expected = network.log_evidence({**row, **known}) - network.log_evidence(known)
    assert network.log_evidence(row, given=known) == pytest.approx(expected)
    assert network.log_evidence({"height": 171.0}, given=known) == -np.inf


def test_questions_that_have_no_answer_are_refused_in_words():
    network = heights()
    with pytest.raises(ParameterError, match="'height': likelihoods are of states"):
        network.query("sex", soft_evidence={"height": [0.5, 0.5]})
    with pytest.raises(ParameterError, match="'height' is a number"):
        network.marginal_map(["sex", "height"])
    with pytest.raises(ParameterError, match="k is 0"):
        network.most_probable_explanations(0)
    with pytest.raises(ParameterError, match="method is 'guess'"):
        network.impute(pd.DataFrame({"sex": ["f"]}), "guess")
    for rows in ({"sex": "f"}, [{"sex": None}], np.zeros((1, 3)), "rows.csv", None):
        with pytest.raises(DataError, match=r"no table|without names"):
            network.impute(rows)
