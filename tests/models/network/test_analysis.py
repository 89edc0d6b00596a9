"""Information, distances, sensitivities, explanations and imputed rows, against the joint distribution."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.networks.nets import asia, joint_by_enumeration, random_network

from bayeswater import BayesianNetwork, DataError, ImpossibleEvidence, ParameterError
from bayeswater.models.network import analysis

seeds = st.integers(0, 10_000)
few = settings(max_examples=12)


def drawn(seed: int, *, zeros: bool = False) -> BayesianNetwork:
    return BayesianNetwork.from_core(random_network(4, np.random.default_rng(seed), zeros=zeros))


def entropy_of(p) -> float:
    return -float((p[p > 0] * np.log2(p[p > 0])).sum())


@few
@given(seed=seeds, zeros=st.booleans())
def test_entropies_and_information_are_those_of_the_joint(seed, zeros):
    network, rng = drawn(seed, zeros=zeros), np.random.default_rng(seed)
    joint = joint_by_enumeration(network.core)
    assert np.isclose(network.entropy(), entropy_of(joint), atol=1e-10)
    a, b, c, d = rng.permutation(4).tolist()
    names = [network.names[v] for v in (a, b, c, d)]
    abc, ac, bc, of_c = (np.einsum(joint, [0, 1, 2, 3], axes) for axes in ([a, b, c], [a, c], [b, c], [c]))
    expected = entropy_of(ac) + entropy_of(bc) - entropy_of(abc) - entropy_of(of_c)
    assert np.isclose(network.mutual_information(names[0], names[1], names[2]), expected, atol=1e-10)
    state = int(np.einsum(joint, [0, 1, 2, 3], [d]).argmax())
    given_d = np.take(joint, state, axis=d)
    given_d = given_d / given_d.sum()
    assert np.isclose(network.entropy(evidence={names[3]: state}), entropy_of(given_d), atol=1e-10)
    rest = [v for v in range(4) if v != d]
    pair = np.einsum(given_d, rest, [a, b])
    expected = entropy_of(pair.sum(axis=1)) + entropy_of(pair.sum(axis=0)) - entropy_of(pair)
    assert np.isclose(network.mutual_information(names[0], names[1], evidence={names[3]: state}), expected, atol=1e-10)


@few
@given(seed=seeds)
def test_divergences_are_those_of_the_joints_whatever_the_graphs(seed):
    one = drawn(seed)
    rng = np.random.default_rng(seed + 1)
    tables = [rng.dirichlet(np.ones(card)) for card in one.core.cards]
    other = one
    for name, table in zip(one.names, tables, strict=True):
        for parent in other.parents(name):
            other = other.without_edge(parent, name)
        other = other.with_cpt(name, table)
    first, shape = one.names[0], one.cpt(one.names[0]).shape
    same_graph = one.with_cpt(first, rng.dirichlet(np.ones(shape[-1]), size=shape[:-1]))
    p = joint_by_enumeration(one.core)
    for network in (other, same_graph, one):
        q = joint_by_enumeration(network.core)
        mean = (p + q) / 2
        assert np.isclose(one.kl_divergence(network), (p * np.log2(p / q)).sum(), atol=1e-10)
        expected = entropy_of(mean) - (entropy_of(p) + entropy_of(q)) / 2
        assert np.isclose(float(one.jensen_shannon(network)), expected, atol=1e-10)


def test_a_sampled_divergence_knows_its_error(monkeypatch):
    one = drawn(3)
    other = one.do({one.names[0]: 0}).with_cpt(one.names[0], np.full(one.core.cards[0], 1 / one.core.cards[0]))
    exact = float(one.jensen_shannon(other))
    monkeypatch.setattr(analysis, "MOST_CELLS", 1)
    sampled = one.jensen_shannon(other)
    assert sampled.standard_error > 0
    assert abs(sampled.bits - exact) < 5 * sampled.standard_error
    assert "sampled" in repr(sampled)


def test_what_cannot_be_in_the_other_network_is_infinitely_far():
    one = BayesianNetwork("a", {"a": [0.5, 0.5]})
    sure = BayesianNetwork("a", {"a": [1.0, 0.0]})
    assert one.kl_divergence(sure) == np.inf
    assert sure.kl_divergence(one) == 1.0
    assert float(one.jensen_shannon(sure)) == pytest.approx(0.311278, abs=1e-6)
    with pytest.raises(ParameterError, match="differ in the variables"):
        one.kl_divergence(BayesianNetwork("b", {"b": [1.0]}))


@few
@given(seed=seeds)
def test_an_arc_is_as_strong_as_the_network_without_it_is_far(seed):
    network = drawn(seed)
    for (parent, child), bits in network.arc_strengths().items():
        assert np.isclose(bits, network.kl_divergence(network.without_edge(parent, child)), atol=1e-9)


def test_sensitivities_are_those_of_networks_with_other_tables():
    network, evidence = asia(), {"xray": "yes", "dysp": "yes"}
    found = network.sensitivity("lung", "yes", evidence)
    assert found.posterior == pytest.approx(0.6212527967, abs=1e-9)
    assert len(found) == 36
    for entry in (0.5, 0.0, 1.0):
        other = network.with_cpt("lung", [[entry, 1 - entry], [0.01, 0.99]])
        expected = other.query("lung", evidence)["yes"]
        assert found.at("lung", "yes", entry, {"smoke": "yes"}) == pytest.approx(expected, abs=1e-12)
    frame = found.to_frame("pandas").set_index("entry")
    line = frame.loc["P(lung=yes | smoke=yes)"]
    raised = network.with_cpt("lung", [[0.11, 0.89], [0.01, 0.99]]).query("lung", evidence)["yes"]
    assert line.high == pytest.approx(raised, abs=1e-12)
    step = 1e-6
    moved = network.with_cpt("lung", [[0.1 + step, 0.9 - step], [0.01, 0.99]]).query("lung", evidence)["yes"]
    assert line.derivative == pytest.approx((moved - found.posterior) / step, rel=1e-4)
    widths = (frame.high - frame.low).abs()
    assert widths.is_monotonic_decreasing
    assert "P(lung=yes | xray=yes, dysp=yes) = 0.621253" in repr(found)
    for value in (1.5, -0.1, np.nan, "0.5"):
        with pytest.raises(ParameterError, match=r"the value of P\(lung=yes\) is .*; it is a probability"):
            found.at("lung", "yes", value, {"smoke": "yes"})
    with pytest.raises(ParameterError, match=r"given names no state of \['smoke'\]"):
        found.at("lung", "yes", 0.5)
    seen = network.sensitivity("smoke", "yes", {"lung": "yes", "asia": "yes"})
    with pytest.raises(ImpossibleEvidence, match="where that entry is so"):
        seen.at("asia", "yes", 0.0)
    with pytest.raises(ParameterError, match="spread is 0"):
        network.sensitivity("lung", "yes", spread=0)
    with pytest.raises(ImpossibleEvidence):
        network.sensitivity("smoke", "yes", {"lung": "yes", "either": "no"})


def test_explanations_come_with_their_share_of_the_evidence():
    found = asia().most_probable_explanations(300, {"xray": "yes", "dysp": "yes"})
    assert sum(found.posterior) == pytest.approx(1.0)
    assert found[0].states == asia().most_probable_explanation({"xray": "yes", "dysp": "yes"}).states
    best = asia().marginal_map(["lung", "bronc"], {"xray": "yes", "dysp": "yes"})
    joint = asia().joint(["lung", "bronc"], {"xray": "yes", "dysp": "yes"})
    assert (best["lung"], best["bronc"]) == joint.mode
    with pytest.raises(ImpossibleEvidence):
        asia().most_probable_explanations(2, {"lung": "yes", "either": "no"})
    with pytest.raises(ImpossibleEvidence):
        asia().marginal_map("smoke", {"lung": "yes", "either": "no"})
    with pytest.raises(ParameterError, match="k is 0"):
        asia().most_probable_explanations(0)


def test_findings_that_go_together_have_no_conflict_and_others_have():
    together = asia().conflict({"xray": "yes", "lung": "yes"})
    p = [asia().query(name)["yes"] for name in ("xray", "lung")]
    both = asia().joint(["xray", "lung"])["yes", "yes"]
    assert together.bits == pytest.approx(np.log2(p[0] * p[1] / both))
    assert "go together" in repr(together)
    apart = asia().conflict({"lung": "yes", "xray": "no", "smoke": "no"})
    assert apart.bits > 0
    assert "speak against each other" in repr(apart)
    assert set(apart.of_finding) == {"lung=yes", "xray=no", "smoke=no"}


def test_rows_given_evidence_are_drawn_from_the_posterior():
    network, evidence = asia(), {"xray": "yes", "dysp": "yes"}
    rows = network.sample(20_000, evidence=evidence, random_state=0).to_pandas()
    assert (rows.xray == "yes").all() and (rows.dysp == "yes").all()
    expected = network.joint(["lung", "bronc"], evidence)
    shares = rows.groupby(["lung", "bronc"], observed=False).size() / len(rows)
    for states, p in expected.items():
        assert abs(shares[states] - p) < 5 * np.sqrt(p * (1 - p) / len(rows))
    with pytest.raises(ImpossibleEvidence):
        network.sample(2, evidence={"lung": "yes", "either": "no"})


def test_the_probability_of_rows_given_evidence():
    rows = pd.DataFrame({"lung": ["yes", "no", None], "smoke": ["yes", "no", "no"]})
    found = asia().log_evidence(rows, given={"smoke": "yes"})
    expected = asia().query("lung", {"smoke": "yes"})
    assert np.exp(found[0]) == pytest.approx(expected["yes"])
    assert np.isneginf(found[1:]).all()  # another state than the one that is given
    assert asia().log_evidence({"lung": "yes"}, given={"smoke": "yes"}) == pytest.approx(found[0])


def test_missing_cells_are_filled_in():
    network = asia()
    cells = {"smoke": ["yes", None], "lung": [None, "no"], "xray": ["yes", "yes"], "dysp": ["yes", None]}
    rows = pd.DataFrame(cells, index=[7, 9])
    best = network.impute(rows)
    assert best.columns.tolist() == rows.columns.tolist()
    assert best.index.tolist() == [7, 9]
    for filled, row in zip(best.to_dict("records"), rows.to_dict("records"), strict=True):
        known = {name: state for name, state in row.items() if isinstance(state, str)}
        missing = [name for name in row if name not in known]
        assert filled == {**row, **network.marginal_map(missing, known).states}
    whole = rows.assign(**{name: None for name in network.names if name not in rows})[[*network.names]]
    explained = network.most_probable_explanation(whole)
    assert (network.impute(whole).astype(str) == explained[whole.columns].astype(str)).all(axis=None)
    assert network.impute(pl.from_pandas(rows)).to_dict(as_series=False)["lung"] == best.lung.tolist()
    many = pd.concat([rows.iloc[[0]]] * 4000)
    shares = (network.impute(many, "draw", random_state=1).lung == "yes").mean()
    assert abs(shares - network.query("lung", {"smoke": "yes", "xray": "yes", "dysp": "yes"})["yes"]) < 0.03
    with pytest.raises(ParameterError, match="method is 'median'"):
        network.impute(rows, "median")


def test_variables_without_a_column_are_summed_out():
    surely = {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0}
    network = BayesianNetwork("x -> h", {"x": {"rare": 0.3, "common": 0.7}, "h": {"rare": surely, "common": [0.2] * 5}})
    assert network.impute(pd.DataFrame({"x": [None]}, dtype=object)).x.tolist() == ["common"]
    assert network.impute(pd.DataFrame({"x": [None], "h": [None]}, dtype=object)).x.tolist() == ["rare"]


def test_the_mean_fills_numbers_and_the_likeliest_state_the_others():
    network = BayesianNetwork(
        "word -> n", {"word": {"a": 0.3, "b": 0.7}, "n": {"a": {1: 0.5, 3: 0.5}, "b": {1: 0.25, 3: 0.75}}}
    )
    filled = network.impute(pd.DataFrame({"word": ["a", None], "n": [None, 3.0]}), "mean")
    assert filled.n.tolist() == [2.0, 3.0]
    assert filled.word.tolist() == ["a", "b"]


@pytest.mark.parametrize("method", ["most_probable", "draw", "mean"])
def test_rows_that_cannot_be_stay_as_they_are(method):
    rows = pd.DataFrame({"lung": ["yes", "yes"], "either": ["no", "yes"], "smoke": [None, None]})
    with pytest.warns(match="cells stay as they are"):
        filled = asia().impute(rows, method, random_state=0)
    assert filled.smoke.isna().tolist() == [True, False]


@pytest.mark.parametrize("rows", [{"lung": "yes"}, [{"lung": None}], np.zeros((1, 8)), "rows.csv", None])
def test_what_has_no_columns_with_names_is_not_filled_in(rows):
    with pytest.raises(DataError, match=r"no table|without names"):
        asia().impute(rows)


def test_the_junction_tree_holds_every_family_and_runs_along_shared_variables():
    network = asia()
    found = network.junction_tree()
    for name in network.names:
        assert any({name, *network.parents(name)} <= set(clique) for clique in found.cliques)
    for clique, shared, parent in zip(found.cliques, found.separators, found.parent, strict=True):
        assert set(shared) <= set(clique)
        assert parent < 0 or set(shared) == set(clique) & set(found.cliques[parent])
    assert sorted(found.elimination_order) == sorted(network.names)
    assert "6 cliques, the largest of 3 variables" in repr(found)
    assert "smoke" not in str(network.junction_tree("smoke"))


def test_impossible_evidence_is_told_by_its_names():
    told = r"lung='yes', either='no' has probability zero"
    evidence = {"lung": "yes", "either": "no"}
    with pytest.raises(ImpossibleEvidence, match=told):
        asia().entropy("smoke", evidence)
    with pytest.raises(ImpossibleEvidence, match=told):
        asia().mutual_information("smoke", "bronc", evidence=evidence)
