"""Questions to a network, against the sum over the whole joint, and the numbers of the textbooks."""

import pickle
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.networks.nets import asia, joint_by_enumeration, random_network
from tests.structure.graphs import ASIA

from bayeswater import (
    BayesianNetwork,
    BayesWarning,
    ImpossibleEvidence,
    ImpossibleEvidenceWarning,
    ParameterError,
    ResourceLimitError,
    SchemaError,
)
from bayeswater.data.variable import Variable
from bayeswater.errors import DataError
from bayeswater.inference.sampling.question import Estimate, effective_size
from bayeswater.models.network import bayesian_network
from bayeswater.models.network.answers import Distribution, EstimatedDistribution

EXACT = 1e-12
"""Sums of a few thousand products, rounded in another order."""


def face(seed: int, n: int = 7, **settings) -> BayesianNetwork:
    return BayesianNetwork.from_core(random_network(n, np.random.default_rng(seed), **settings))


def posterior_by_enumeration(joint: np.ndarray, target: int, row: list[int | None]) -> tuple[np.ndarray, float]:
    """P(target | row) and P(row), from the joint."""
    index = tuple(slice(None) if code is None else slice(code, code + 1) for code in row)
    kept = np.zeros_like(joint)
    kept[index] = joint[index]
    others = tuple(axis for axis in range(joint.ndim) if axis != target)
    share = kept.sum(axis=others)
    return share / max(share.sum(), 1e-300), float(share.sum())


def rows_with_gaps(network: BayesianNetwork, n: int, seed: int) -> pd.DataFrame:
    """Rows of random states, most of them missing; many are impossible if the tables have zeros."""
    rng = np.random.default_rng(seed)
    cells = {name: rng.choice(network.states(name), n) for name in network.names}
    frame = pd.DataFrame(cells).astype("Int64")
    return frame.mask(rng.random(frame.shape) < 0.6)


@pytest.mark.parametrize(
    ("target", "evidence", "expected"),
    [
        ("lung", {"xray": "yes", "dysp": "yes"}, 0.6212527967),
        ("asia", {"xray": "yes", "dysp": "yes"}, 0.0139836605),
        ("tub", {"asia": "yes", "dysp": "yes"}, 0.087750965),
        ("bronc", {"asia": "yes", "dysp": "yes", "smoke": "yes"}, 0.8672582076),
        ("dysp", {}, 0.4359706),
        ("either", None, 0.064828),
    ],
)
def test_the_textbook_network_gives_the_textbook_numbers(target, evidence, expected):
    found = asia().query(target, evidence)
    assert found["yes"] == pytest.approx(expected, abs=1e-9)  # printed to ten digits
    assert found.names == (target,)
    assert sum(found.values()) == pytest.approx(1, abs=EXACT)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("zeros", [False, True])
def test_every_row_gives_the_sum_over_the_joint(seed, zeros):
    network = face(seed, zeros=zeros)
    joint = joint_by_enumeration(network.core)
    rows = rows_with_gaps(network, 40, seed)
    if zeros:
        with pytest.warns(ImpossibleEvidenceWarning, match=r"of 40 rows has probability zero, the first is row \d+"):
            found = network.posteriors(rows)
    else:
        found = network.posteriors(rows)
    cells = [[None if pd.isna(cell) else int(cell) for cell in row] for row in rows.itertuples(index=False)]
    for i, row in enumerate(cells):
        for target, name in enumerate(network.names):
            expected, p = posterior_by_enumeration(joint, target, row)
            assert found.impossible[i] == (p == 0)
            assert found[name][i] == pytest.approx(expected, abs=EXACT)
        with np.errstate(divide="ignore"):
            assert found.log_evidence[i] == pytest.approx(np.log(p), abs=EXACT)
    assert np.array_equal(network.log_evidence(rows), found.log_evidence)


def test_targets_frames_and_arrays_say_the_same():
    network = face(2)
    rows = rows_with_gaps(network, 20, 0)
    every = network.posteriors(rows)
    some = network.posteriors(rows, ["v3", "v1"])
    assert list(some) == ["v3", "v1"]
    assert np.array_equal(some["v1"], every["v1"])
    assert list(network.posteriors(rows, "v2")) == ["v2"]
    for library, given in (("pandas", rows), ("polars", pl.from_pandas(rows))):
        frame = network.posteriors(given, "v1", as_frame=True)
        assert type(frame).__module__.startswith(library)
        names = [f"v1={k}" for k in network.states("v1")]
        assert list(frame.columns) == [*names, "log_evidence", "impossible"]
        assert np.array_equal(np.stack([frame[name].to_numpy() for name in names], axis=1), every["v1"])
    assert np.array_equal(every.labels()["v1"], every["v1"].argmax(axis=1))


def test_columns_that_are_not_there_are_not_observed():
    network = asia()
    frame = pd.DataFrame({"dysp": ["yes", None], "xray": ["yes", "yes"]})
    found = network.posteriors(frame, "lung")["lung"]
    assert found[0, 0] == pytest.approx(network.query("lung", {"xray": "yes", "dysp": "yes"})["yes"], abs=EXACT)
    assert found[1, 0] == pytest.approx(network.query("lung", {"xray": "yes"})["yes"], abs=EXACT)


def test_rows_known_in_full_have_the_probability_of_their_product():
    network = face(1)
    rows = network.sample(50, random_state=0)
    assert network.log_evidence(rows) == pytest.approx(network.log_probability(rows), abs=EXACT)


@pytest.mark.parametrize("target", ["smoke", "tub", "lung"])
def test_impossible_evidence_is_refused_whatever_is_asked(target):
    """Also where it is d-separated from the target, so that leaving it out would not be noticed."""
    with pytest.raises(ImpossibleEvidence, match="the evidence lung='yes', either='no' has probability zero"):
        asia().query(target, {"lung": "yes", "either": "no"})


def test_soft_evidence_is_a_child_that_was_seen():
    """Likelihoods of lung are a table of a new child of lung, whose first state is observed."""
    network = asia()
    seen = BayesianNetwork(
        network.dag.from_edges([*network.edges, ("lung", "test")], network.names),
        {**{name: network.cpt(name) for name in network.names}, "test": {"yes": [0.8, 0.2], "no": [0.3, 0.7]}},
    )
    expected = seen.query("smoke", {"test": 0, "xray": "yes"})
    for likelihood in ({"yes": 0.8, "no": 0.3}, [0.8, 0.3], np.array([1.6, 0.6])):
        found = network.query("smoke", {"xray": "yes"}, soft_evidence={"lung": likelihood})
        assert found.probabilities == pytest.approx(expected.probabilities, abs=EXACT)
    frame = pd.DataFrame({"xray": ["yes", "yes"]})
    rows = network.posteriors(frame, "smoke", soft_evidence={"lung": [[0.8, 0.3], [1.0, 1.0]]})["smoke"]
    assert rows[0] == pytest.approx(expected.probabilities, abs=EXACT)
    assert rows[1] == pytest.approx(network.query("smoke", {"xray": "yes"}).probabilities, abs=EXACT)
    log_p = network.log_evidence(frame, soft_evidence={"lung": [0.8, 0.3]})
    test = pd.DataFrame({"xray": ["yes", "yes"], "test": [0, 0]})
    assert log_p == pytest.approx(seen.log_evidence(test), abs=EXACT)


def test_soft_evidence_that_rules_out_everything_is_impossible():
    with pytest.raises(ImpossibleEvidence, match="likelihoods of lung has probability zero"):
        asia().query("smoke", soft_evidence={"lung": [0, 0]})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n: n.query("lungs"), "there is no node 'lungs'; did you mean 'lung'"),
        (lambda n: n.query("lung", {"xray": "pos"}), "'pos' is no state of 'xray'"),
        (lambda n: n.query("lung", {"x-ray": "yes"}), "there is no node 'x-ray'"),
        (lambda n: n.query("lung", [("xray", "yes")]), "give a dict from names to states"),
        (lambda n: n.query("lung", soft_evidence={"xray": {"yes": 1}}), r"soft evidence on 'xray' names \['yes'\]"),
        (lambda n: n.query("lung", soft_evidence={"xray": [1, -1]}), r"soft evidence on 'xray' is \[1, -1\]"),
        (lambda n: n.query("lung", soft_evidence={"xray": [1]}), "give a likelihood, 0 or more, for each"),
        (lambda n: n.query("lung", soft_evidence={"xray": "much"}), "soft evidence on 'xray' is 'much'"),
        (lambda n: n.posteriors(pd.DataFrame({"xray": ["yes"]}), ["lung", "lung"]), "name a variable twice"),
        (lambda n: n.query(["lung", "bronc"]), r"target is \['lung', 'bronc'\]; .* with joint\(targets\)"),
        (lambda n: n.joint([["lung"], "bronc"]), r"targets is \[\['lung'\], 'bronc'\]; give the name of a variable"),
        (lambda n: n.joint(3), "targets is 3; give the name of a variable, or a list of names"),
        (lambda n: n.cost(pattern=[["lung"]]), r"pattern is \[\['lung'\]\]; give the name of a variable"),
        (lambda n: n.cost(n_rows="x"), "n_rows is 'x'; give the number of rows, 1 or more"),
        (lambda n: n.cost(n_rows=1.5), "n_rows is 1.5; give the number of rows"),
        (lambda n: n.query("lung", soft_evidence=[0.5, 0.5]), "give a dict from names to likelihoods of states"),
        (
            lambda n: n.query("lung", soft_evidence={"xray": [[0.2, 0.8], [0.5, 0.5]]}),
            r"soft evidence on 'xray' is \[\[0.2, 0.8\], \[0.5, 0.5\]\]; give a likelihood",
        ),
        (
            lambda n: n.most_probable_explanation({}, soft_evidence={"xray": [[0.2, 0.8], [0.5, 0.5]]}),
            "soft evidence on 'xray'",
        ),
        (
            lambda n: n.posteriors(pd.DataFrame({"lung": ["yes"] * 3}), soft_evidence={"xray": [[0.2, 0.8]] * 2}),
            "for all rows or for each of the 3",
        ),
    ],
)
def test_questions_that_make_no_sense_are_refused(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask(asia())


def test_rows_that_cannot_be_have_no_likeliest_state():
    rows = pd.DataFrame({"lung": ["yes", "yes"], "either": ["no", "yes"]})
    with pytest.warns(ImpossibleEvidenceWarning):
        found = asia().posteriors(rows, ["tub", "either"])
    assert {name: labels.tolist() for name, labels in found.labels().items()} == {
        "tub": [None, "no"],
        "either": [None, "yes"],
    }


def test_a_frame_of_posteriors_in_which_two_columns_would_have_one_name_is_refused():
    even = [0.5, 0.5]
    network = BayesianNetwork("a; a=b", {"a": even, "a=b": even}, states={"a": ["b=c", "x"], "a=b": ["c", "x"]})
    rows = pd.DataFrame({"a": [None, "x"]})
    with pytest.raises(SchemaError, match="two columns of the frame would be called 'a=b=c'"):
        network.posteriors(rows, as_frame=True)
    assert list(network.posteriors(rows, "a", as_frame=True).columns)[:2] == ["a=b=c", "a=x"]


def test_a_frame_without_columns_is_refused_and_one_without_rows_is_not():
    with pytest.raises(SchemaError, match="the frame has no columns"):
        asia().posteriors(pd.DataFrame(index=range(3)))
    empty = pd.DataFrame({"xray": pd.Series([], dtype=str)})
    assert asia().posteriors(empty)["lung"].shape == (0, 2)
    assert asia().log_evidence(empty).shape == (0,)
    assert list(asia().most_probable_explanation(empty).columns) == [*asia().names, "log_probability"]


def test_doing_tells_nothing_of_causes():
    network = asia()
    assert network.do(lung="yes").query("smoke")["yes"] == pytest.approx(0.5, abs=EXACT)
    assert network.query("smoke", {"lung": "yes"})["yes"] == pytest.approx(0.1 / 0.11, abs=EXACT)
    same = network.do(smoke="yes").query("dysp").probabilities  # smoke has no parents: doing it is seeing it
    assert same == pytest.approx(network.query("dysp", {"smoke": "yes"}).probabilities, abs=EXACT)


# ---------------------------------------------------------------------- drawings

SVG = "{http://www.w3.org/2000/svg}"


def percents(svg: str) -> list[str]:
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.get("class") == "p"]


def test_a_drawing_shows_the_marginals_and_what_is_observed():
    network = asia()
    svg = network.to_svg({"xray": "yes", "dysp": "yes"})
    assert "62.1" in percents(svg)  # P(lung | xray, dysp)
    assert svg.count("node observed") == 2
    assert percents(network.to_svg())[:2] == ["1.0", "99.0"]
    assert network._repr_svg_() == network.to_svg()
    assert network._repr_html_().endswith(network.to_svg())


def test_names_alone_are_drawn_without_bars_and_without_tables():
    assert percents(asia().to_svg(bars=False)) == []
    assert BayesianNetwork(ASIA)._repr_svg_() == asia().to_svg(bars=False)
    assert asia().to_dot() == BayesianNetwork(ASIA).to_dot()


def test_impossible_evidence_is_not_drawn():
    with pytest.raises(ImpossibleEvidence):
        asia().to_svg({"lung": "yes", "either": "no"})


# ---------------------------------------------------------------------- several variables together


@pytest.mark.parametrize("seed", range(4))
def test_a_joint_has_an_axis_for_each_target_in_the_order_named(seed):
    network = face(seed)
    joint = joint_by_enumeration(network.core)
    evidence = {"v2": 1, "v5": 0}
    expected = joint[:, :, 1, :, :, 0].sum(axis=(1, 2))  # leaves v0, v4, v6
    expected = np.transpose(expected, (2, 0, 1)) / expected.sum()
    found = network.joint(["v6", "v0", "v4"], evidence)
    assert found.names == ("v6", "v0", "v4")
    assert found.probabilities == pytest.approx(expected, abs=EXACT)
    seen = network.joint(["v2", "v0"], evidence)  # what is observed has its state
    assert seen.probabilities[1] == pytest.approx(expected.sum(axis=(0, 2)), abs=EXACT)
    assert not seen.probabilities[0].any()


@pytest.mark.parametrize("seed", range(4))
def test_the_most_probable_explanation_is_that_of_enumeration(seed):
    network = face(seed, zeros=True)
    joint = joint_by_enumeration(network.core)
    best = np.unravel_index(joint.argmax(), joint.shape)
    found = network.most_probable_explanation()
    assert tuple(found.states.values()) == best
    assert found["v3"] == best[3]
    assert found.log_probability == pytest.approx(np.log(joint.max()), abs=EXACT)
    kept = np.zeros_like(joint)
    kept[:, best[1]] = joint[:, best[1]]
    given = network.most_probable_explanation({"v1": int(best[1])})
    assert given.log_probability == pytest.approx(np.log(kept.max()), abs=EXACT)


def test_rows_are_explained_one_by_one():
    network = asia()
    rows = pd.DataFrame({"xray": ["yes", None], "dysp": ["yes", "no"]})
    found = network.most_probable_explanation(rows)
    assert list(found.columns) == [*network.names, "log_probability"]
    for i, evidence in enumerate([{"xray": "yes", "dysp": "yes"}, {"dysp": "no"}]):
        one = network.most_probable_explanation(evidence)
        assert found.iloc[i][list(network.names)].to_dict() == one.states
        assert found["log_probability"][i] == pytest.approx(one.log_probability, abs=EXACT)


def test_rows_that_cannot_be_are_not_explained():
    rows = pd.DataFrame({"lung": ["yes", "yes"], "either": ["no", "yes"]})
    with pytest.warns(ImpossibleEvidenceWarning, match="1 of 2 rows has probability zero, the first is row 0"):
        found = asia().most_probable_explanation(rows)
    assert found["log_probability"][0] == -np.inf
    assert pd.isna(found["smoke"][0])
    assert found["either"][0] == "no"
    with pytest.raises(ImpossibleEvidence, match="lung='yes', either='no'"):
        asia().most_probable_explanation({"lung": "yes", "either": "no"})


def test_the_cost_is_told_before_anything_is_computed():
    network = asia()
    every, one = network.cost(), network.cost("lung", ["xray", "dysp"])
    assert every.cells >= 2 * 8
    assert one.cells > 0
    rows = [network.cost(n_rows=n).seconds for n in (1, 1001, 2001)]
    assert rows[2] - rows[1] == pytest.approx(rows[1] - rows[0])
    observed = network.cost(pattern=[name for name in network.names if name != "lung"])
    assert observed.cells <= every.cells
    with pytest.raises(ParameterError, match="n_rows is 0"):
        network.cost(n_rows=0)


def test_a_call_takes_its_seconds_however_few_cells_there_are():
    # Reading a column and laying out an answer takes tens of microseconds in Python, on any machine.
    assert 1e-5 < asia().cost("lung").seconds < 1e-2
    assert 1e-4 < asia().cost().seconds < 1e-1


@pytest.fixture(scope="module")
def grid() -> BayesianNetwork:
    """Ten by ten variables of sixteen states, all even: small tables, and cliques of eleven variables."""
    edges = [(f"r{i}c{j}", f"r{i + 1}c{j}") for i in range(9) for j in range(10)]
    edges += [(f"r{i}c{j}", f"r{i}c{j + 1}") for i in range(10) for j in range(9)]
    dag = BayesianNetwork(edges).dag
    tables = {name: np.full((16,) * (len(own) + 1), 1 / 16) for name, own in zip(dag.names, dag.parents, strict=True)}
    return BayesianNetwork(dag, tables)


def test_rows_that_miss_one_cell_at_most_are_answered_where_no_tree_would_fit(grid):
    rng = np.random.default_rng(0)
    network = BayesianNetwork(
        grid.dag, {name: rng.dirichlet(np.full(16, 0.5), grid.cpt(name).shape[:-1]) for name in grid.names}
    )
    whole = network.sample(4, random_state=0).to_pandas()
    rows, hidden = whole.astype(object), ["r0c0", "r4c5", "r9c9"]  # of the last row nothing is missing
    for row, name in enumerate(hidden):
        rows.loc[row, name] = None
    found = network.posteriors(rows, hidden)
    for row, name in enumerate(hidden):
        filled = pd.concat([whole.loc[[row]]] * 16).assign(**{name: range(16)})
        log_joint = network.log_probability(filled)
        expected = np.exp(log_joint - np.logaddexp.reduce(log_joint))
        np.testing.assert_allclose(found[name][row], expected, rtol=1e-10)  # sums of a hundred logarithms
        assert found.log_evidence[row] == pytest.approx(np.logaddexp.reduce(log_joint), rel=1e-12)
    assert found.log_evidence[3] == pytest.approx(network.log_probability(whole.loc[[3]])[0], rel=1e-12)


def test_an_answer_that_no_memory_holds_is_refused_with_the_numbers(grid):
    assert grid.cost().bytes > 2**40
    with pytest.raises(ResourceLimitError, match=r"cells, .* GiB, .* sampling"):
        grid.posteriors(pd.DataFrame({"r9c9": [0, 1]}))
    with pytest.raises(ResourceLimitError, match=r"cells, .* GiB, .* sampling"):
        grid.query("r0c0", {"r9c9": 0}, method="exact")
    assert percents(grid._repr_svg_()) == []  # names alone are drawn


def test_a_drawing_has_the_bars_that_can_be_told_one_by_one_and_names_those_left_out(grid, monkeypatch):
    monkeypatch.setattr(bayesian_network, "MOST_SECONDS", 0.02)
    with pytest.warns(
        BayesWarning, match=r"^\d+ nodes are drawn without bars.*'r\dc\d', .*bars=False draws names alone"
    ):
        svg = grid.to_svg({"r0c0": 1, "r0c3": 0})
    assert svg.count("node observed") == 2
    assert {"100.0", "6.2"} <= set(percents(svg))  # of what is observed, and one in sixteen
    rng = np.random.default_rng(0)
    network = BayesianNetwork(
        grid.dag, {name: rng.dirichlet(np.full(16, 0.5), grid.cpt(name).shape[:-1]) for name in grid.names}
    )
    found = network._affordable_marginals({"r0c0": 1}, 0.02)
    assert 3 < len(found) < 100
    for node, marginal in list(found.items())[:6]:
        expected = network.query(network.names[node], {"r0c0": 1}, method="exact").probabilities
        assert np.array_equal(marginal, expected)


def test_a_single_row_of_states_by_name_is_answered_as_a_frame_of_one_row():
    network, row = asia(), {"smoke": "yes", "dysp": "no"}
    frame = pd.DataFrame([row])
    for soft in (None, {"xray": [0.9, 0.2]}):
        one, other = network.posteriors(row, soft_evidence=soft), network.posteriors(frame, soft_evidence=soft)
        assert all(np.array_equal(one[name], other[name]) for name in network.names)
        assert one.log_evidence[0] == network.log_evidence(row, soft_evidence=soft) == other.log_evidence[0]
    assert network.posteriors(row, "lung", as_frame=True).num_rows == 1
    assert np.array_equal(network.posteriors({}, "lung")["lung"][0], network.query("lung").probabilities)
    with pytest.warns(ImpossibleEvidenceWarning):
        assert network.posteriors({"lung": "yes", "either": "no"}).impossible.tolist() == [True]
    with pytest.raises(DataError, match="a dict is no table; give pandas"):
        network.posteriors({"smoke": ["yes", "no"]})


# ---------------------------------------------------------------------- sampling


def test_what_is_too_much_for_an_exact_answer_is_sampled_and_says_so(grid):
    found = grid.query("r0c0", {"r9c9": 0}, standard_error=0.01)
    assert isinstance(found, EstimatedDistribution)
    assert found.is_reliable
    # Sixteen states, of which the farthest stays within four of its errors but once in a thousand seeds.
    assert (np.abs(found.probabilities - 1 / 16) < 4 * found.standard_error).all()
    assert repr(found).endswith(f"draws: {found.verdict}")
    assert found == grid.query("r0c0", {"r9c9": 0}, standard_error=0.01)


@pytest.mark.parametrize("method", ["sampling", "gibbs", "likelihood_weighting"])
def test_every_way_of_sampling_is_right_within_its_own_errors(method):
    evidence, soft = {"xray": "yes", "dysp": "yes"}, {"smoke": [0.5, 1.0]}
    exact = asia().joint(["lung", "bronc"], evidence, soft_evidence=soft, method="exact")
    assert type(exact) is Distribution
    found = asia().joint(["lung", "bronc"], evidence, soft_evidence=soft, method=method, standard_error=0.004)
    assert found.estimate.method in ("gibbs", "likelihood_weighting")
    assert found.is_reliable
    assert (found.standard_error <= 0.004).all()
    assert (np.abs(found.probabilities - exact.probabilities) < 4 * found.standard_error + EXACT).all()


@pytest.mark.parametrize("method", ["auto", "exact", "sampling", "gibbs", "likelihood_weighting"])
def test_impossible_evidence_is_refused_by_every_method(method):
    with pytest.raises(ImpossibleEvidence, match="the evidence lung='yes', either='no' has probability zero"):
        asia().query("smoke", {"lung": "yes", "either": "no"}, method=method)


def test_a_method_that_there_is_not_is_refused():
    with pytest.raises(ParameterError, match="method is 'magic'; it can be one of"):
        asia().query("lung", method="magic")


def test_a_number_that_nobody_vouches_for_carries_a_question_mark():
    p, error = np.array([0.75, 0.25]), np.array([0.01, 0.01])
    doubtful = Estimate(p, error, effective_size(p, error), None, "gibbs", 10, 4, doubts=("chains disagree",))
    shown = repr(EstimatedDistribution((Variable("lung", ("yes", "no")),), p, doubtful)).splitlines()
    assert shown[1].split()[1:3] == ["0.7500?", "0.010?"]
    assert shown[-1] == "gibbs, 4 chains, 10 draws: not reliable: chains disagree"
    many = np.full(40, 1 / 40)
    found = Estimate(many, many, many, None, "gibbs", 10, 4)
    assert repr(EstimatedDistribution((Variable("n", range(40)),), many, found)).splitlines()[-2] == "... and 10 more"


def test_taking_an_edge_away_keeps_what_the_child_and_its_other_parents_are():
    network = asia()
    less = network.without_edge("smoke", "lung")
    assert less.parents("lung") == ()
    assert less.query("lung")["yes"] == pytest.approx(0.055, abs=EXACT)
    less = network.without_edge("bronc", "dysp")
    before, after = (n.joint(["either", "dysp"]).probabilities for n in (network, less))
    assert after == pytest.approx(before, abs=EXACT)
    given = network.without_edge("smoke", "lung", {"yes": 0.5, "no": 0.5})
    assert given.query("lung")["yes"] == 0.5
    with pytest.raises(ParameterError, match=r"there is no edge asia -> lung; the parents of 'lung' are \['smoke'\]"):
        network.without_edge("asia", "lung")


def test_parents_that_never_were_weigh_the_same_when_an_edge_goes():
    tables = {"a": [1.0, 0.0], "c": [0.5, 0.5], "b": [[[1, 0], [0, 1]], [[0.5, 0.5], [0.25, 0.75]]]}
    network = BayesianNetwork("a; c; a -> b <- c", tables)
    less = network.without_edge("c", "b")
    assert less.cpt("b").values.tolist() == [[0.5, 0.5], [0.375, 0.625]]


def test_a_network_with_answers_ready_can_be_pickled():
    network = asia()
    network.posteriors(pd.DataFrame({"xray": ["yes"]}))
    assert pickle.loads(pickle.dumps(network)) == network
