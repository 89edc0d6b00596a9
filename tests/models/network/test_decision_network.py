"""Influence diagrams against the sums and maxima over all rows, against losses, and in files."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.networks.nets import asia

from bayeswater import (
    BayesianNetwork,
    DecisionNetwork,
    ImpossibleEvidence,
    Loss,
    NetworkFileError,
    NetworkFileWarning,
    ParameterError,
    ResourceLimitError,
)
from bayeswater.demo.network import cough

seeds = st.integers(0, 10_000)


def drawn(seed: int) -> DecisionNetwork:
    """Four variables, two decisions and two utilities: who knows what, and what follows from what, is drawn."""
    rng = np.random.default_rng(seed)
    names = ("a", "b", "first", "c", "second", "d")
    cards = {name: int(rng.integers(2, 4)) for name in names}
    arcs = [(names[i], names[j]) for j in range(6) for i in range(j) if rng.random() < 0.45]
    graph = "; ".join([*names, *(f"{a} -> {b}" for a, b in arcs)])
    parents = {name: [a for a, b in BayesianNetwork(graph).edges if b == name] for name in names}
    tables = {
        name: rng.dirichlet(np.ones(cards[name]), size=[cards[p] for p in parents[name]])
        for name in names
        if name not in ("first", "second")
    }
    of_u, of_v = (rng.permutation(names)[:3].tolist() for _ in range(2))
    graph += "; " + "; ".join([*(f"{p} -> u" for p in of_u), *(f"{p} -> v" for p in of_v)])
    dag = BayesianNetwork(graph)
    utilities = {u: rng.normal(size=[cards[p] for p in dag.parents(u)]) for u in ("u", "v")}
    return DecisionNetwork(graph, tables, {"first": cards["first"], "second": cards["second"]}, utilities)


def by_enumeration(diagram: DecisionNetwork) -> float:
    """Sums and maxima over all rows, from the last moment to the first."""
    names, core = diagram.names, diagram._core
    axes = range(len(names))
    p = np.ones(core.cards)
    for node in axes:
        if names[node] not in diagram.decisions:
            p = p * np.einsum(core.tables[node], [*core.parents[node], node], np.ones(core.cards), [*axes], [*axes])
    total = np.zeros(core.cards)
    for utility in diagram.utilities.values():
        nodes = [names.index(name) for name in utility.parents]
        total = total + np.einsum(utility.values, nodes, np.ones(core.cards), [*axes], [*axes])
    time, left = [], list(diagram.chance)
    for decision in diagram.decisions:
        seen = [name for name in left if name in diagram.known_before(decision)]
        left = [name for name in left if name not in seen]
        time += [*seen, decision]
    time += left
    value = np.transpose(p * total, [names.index(name) for name in time])
    for name in reversed(time):
        value = value.max(axis=-1) if name in diagram.decisions else value.sum(axis=-1)
    return float(value)


@settings(max_examples=30)
@given(seed=seeds)
def test_the_expected_utility_is_that_of_sums_and_maxima_over_all_rows(seed):
    diagram = drawn(seed)
    assert diagram.expected_utility() == pytest.approx(by_enumeration(diagram), abs=1e-10)


@settings(max_examples=20)
@given(seed=seeds)
def test_following_the_policy_reaches_the_expected_utility(seed):
    diagram = drawn(seed)
    network = diagram.under_policy()
    reached = sum(float((network.joint(u.parents).probabilities * u.values).sum()) for u in diagram.utilities.values())
    assert reached == pytest.approx(diagram.expected_utility(), abs=1e-10)
    for name, policy in diagram.policies().items():
        assert {v.name for v in policy.given} <= set(diagram.known_before(name))
        assert policy.to_frame("pandas").shape == (policy.choice.size, len(policy.given) + 1 + policy.decision.n_states)


@settings(max_examples=12)
@given(seed=seeds)
def test_knowing_more_is_never_worse_and_a_perfect_report_is_knowing(seed):
    diagram = drawn(seed)
    perfect = diagram.value_of_information(decision="second")
    assert all(value >= 0 for value in perfect.values())
    reported = diagram.value_of_information(decision="second", reliability=1.0)
    partly = diagram.value_of_information(decision="second", reliability=0.7)
    for name, value in perfect.items():
        assert reported[name] == pytest.approx(value, abs=1e-10)
        assert partly[name] <= value + 1e-10


def test_losses_and_next_best_are_the_case_of_one_decision():
    network, loss = asia(), Loss({"treat": {"yes": 0, "no": 2}, "wait": {"yes": 15, "no": 0}})
    diagram = DecisionNetwork.from_loss(network, "lung", loss)
    proba = network.query("lung").probabilities
    assert diagram.expected_utility() == pytest.approx(-float(loss.expected_loss(proba[None])[0]))
    worth = diagram.value_of_information()
    for question in network.next_best("lung", loss=loss):
        assert worth[question.column] == pytest.approx(question.value.worth, abs=1e-12)
    assert diagram.policy(evidence={"xray": "yes"}).best() == "treat"
    for state in ("yes", "no"):
        now = loss.best_action(network.query("lung", {"xray": state}).probabilities[None])[0]
        assert diagram.policy(evidence={"xray": state}).best() == now


@settings(max_examples=10)
@given(seed=seeds)
def test_information_is_worth_what_it_adds_to_the_evidence(seed):
    diagram = drawn(seed)
    dag, core = diagram._core.dag, diagram._core
    free = [name for name in diagram.chance if dag.node(name) not in dag.descendants(dag.nodes(diagram.decisions))]
    for name in free[:1]:
        known = {name: 0}
        worth = diagram.value_of_information(evidence=known)
        assert worth.expected_utility == diagram.expected_utility(known)
        assert set(worth) == set(free) - {name} - set(diagram.known_before("first"))
        assert diagram.value_of_information(name, evidence=known)[name] == pytest.approx(0, abs=1e-10)
        for other in worth:
            p = BayesianNetwork.from_core(core).query(other, known).probabilities
            then = [diagram.expected_utility({**known, other: state}) for state in range(len(p))]
            assert worth[other] + worth.expected_utility == pytest.approx(p @ then, abs=1e-10)


def test_what_follows_from_later_decisions_is_not_asked_for():
    diagram = DecisionNetwork(
        "d1 -> u; d2 -> x -> v; d2 -> v",
        {"x": [[0.9, 0.1], [0.3, 0.7]]},
        {"d1": 2, "d2": 2},
        {"u": [0, 1], "v": [[0, 1], [2, 3]]},
    )
    assert dict(diagram.value_of_information()) == {}
    with pytest.raises(ParameterError, match=r"'x' cannot be known before 'd1'.*then or later"):
        diagram.value_of_information("x")


def oil() -> DecisionNetwork:
    """The wildcatter of Raiffa, with its known answers."""
    return DecisionNetwork(
        "oil -> seismic <- test; seismic -> drill; test -> drill; test -> cost; oil -> profit <- drill",
        tables={
            "oil": {"dry": 0.5, "wet": 0.3, "soaking": 0.2},
            "seismic": [
                [[0.6, 0.3, 0.1, 0], [0, 0, 0, 1]],
                [[0.3, 0.4, 0.3, 0], [0, 0, 0, 1]],
                [[0.1, 0.4, 0.5, 0], [0, 0, 0, 1]],
            ],
        },
        decisions={"test": ["yes", "no"], "drill": ["yes", "no"]},
        utilities={"cost": [-10, 0], "profit": [[-70, 0], [50, 0], [200, 0]]},
        states={"seismic": ["none", "open", "closed", "no result"]},
    )


def test_the_oil_wildcatter():
    diagram = oil()
    assert diagram.expected_utility() == pytest.approx(22.5)
    assert diagram.policy("test").best() == "yes"
    drill = diagram.policy("drill")
    chosen = {state: drill.best(test="yes", seismic=state) for state in ("none", "open", "closed")}
    assert chosen == {"none": "no", "open": "yes", "closed": "yes"}
    assert "seismic" in repr(drill)
    assert set(diagram.known_before("drill")) == {"seismic", "test"}
    # Who knows about the oil needs no test: 0.3 * 50 + 0.2 * 200 = 55.
    assert diagram.value_of_information("oil")["oil"] == pytest.approx(55 - 22.5)
    with pytest.raises(ParameterError, match="'seismic' cannot be known before 'test'"):
        diagram.value_of_information("seismic")
    with pytest.raises(ParameterError, match="'seismic' follows from a decision"):
        diagram.expected_utility({"seismic": "open"})
    with pytest.raises(ParameterError, match="depends on"):
        drill.best(test="yes")


@pytest.mark.parametrize("ending", ["xdsl", "bifxml", "xdsl.gz"])
@pytest.mark.parametrize("make", [oil, lambda: drawn(4)], ids=["oil", "drawn"])
@pytest.mark.filterwarnings("ignore::bayeswater.errors.NetworkFileWarning")  # labels that had to be escaped
def test_diagrams_come_back_from_files(make, ending, tmp_path):
    diagram = make()
    diagram.write(tmp_path / f"d.{ending}")
    back = DecisionNetwork.read(tmp_path / f"d.{ending}")
    assert set(back.names) == set(diagram.names)
    assert back.decisions == diagram.decisions
    assert back.expected_utility() == diagram.expected_utility()
    for name, utility in diagram.utilities.items():
        assert back.utilities[name].parents == utility.parents
        assert np.array_equal(back.utilities[name].values, utility.values)


@pytest.mark.parametrize("ending", ["xdsl", "bifxml"])
@pytest.mark.filterwarnings("ignore::bayeswater.errors.NetworkFileWarning")  # labels that had to be escaped
def test_files_keep_the_order_of_decisions_that_no_arrow_tells(ending, tmp_path):
    graph = "A -> u; x -> B; x -> u; B -> v; C -> v"
    utilities = {"u": np.eye(2), "v": [[0, 1], [1, 1]]}
    diagram = DecisionNetwork(graph, {"x": [0.5, 0.5]}, {"B": 2, "A": 2, "C": 2}, utilities)
    diagram.write(tmp_path / f"d.{ending}")
    back = DecisionNetwork.read(tmp_path / f"d.{ending}")
    assert diagram.expected_utility() == back.expected_utility() == 2.0
    assert back.decisions == diagram.decisions
    assert back.known_before("A") == ("x", "B")


GENIE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="net" numsamples="1000">
<nodes>
<cpt id="rain"><state id="yes" /><state id="no" /><probabilities>0.3 0.7</probabilities></cpt>
<cpt id="forecast"><state id="wet" /><state id="fine" /><parents>rain</parents>
<probabilities>0.8 0.2 0.1 0.9</probabilities></cpt>
<decision id="umbrella"><state id="take" /><state id="leave" /><parents>forecast</parents></decision>
<utility id="comfort"><parents>umbrella rain</parents><utilities>7 5 0 10</utilities></utility>
</nodes></smile>"""

AGRUM = """<?xml version="1.0" ?>
<BIF VERSION="0.3"><NETWORK>
<VARIABLE TYPE="nature"><NAME>rain</NAME><PROPERTY>fast = rain{yes|no}</PROPERTY>
<OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE TYPE="decision"><NAME>umbrella</NAME><OUTCOME>take</OUTCOME><OUTCOME>leave</OUTCOME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>comfort</NAME><OUTCOME>0</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.3 0.7 </TABLE></DEFINITION>
<DEFINITION><FOR>umbrella</FOR></DEFINITION>
<DEFINITION><FOR>comfort</FOR><GIVEN>umbrella</GIVEN><GIVEN>rain</GIVEN><TABLE>7 5 0 10 </TABLE></DEFINITION>
</NETWORK></BIF>"""


def test_files_of_genie_and_agrum_are_read(tmp_path):
    (tmp_path / "g.xdsl").write_text(GENIE)
    diagram = DecisionNetwork.read(tmp_path / "g.xdsl")
    assert diagram.expected_utility() == pytest.approx(8.33)
    (tmp_path / "a.bifxml").write_text(AGRUM)
    assert DecisionNetwork.read(tmp_path / "a.bifxml").expected_utility() == pytest.approx(7.0)
    (tmp_path / "b.xdsl").write_text(GENIE.replace("7 5 0 10", "7 5 0"))
    with pytest.raises(NetworkFileError, match="'comfort' has 3 utilities, and needs 4"):
        DecisionNetwork.read(tmp_path / "b.xdsl")
    with pytest.raises(NetworkFileError, match="no format of influence diagrams"):
        diagram.write(tmp_path / "d.bif")
    asia().write(tmp_path / "asia.xdsl")
    with pytest.raises(NetworkFileError, match="has no decision"):
        DecisionNetwork.read(tmp_path / "asia.xdsl")


def test_diagrams_that_cannot_be_are_refused():
    one = {"tables": {"a": [0.5, 0.5]}, "decisions": {"d": 2}, "utilities": {"u": [1, 0]}}
    with pytest.raises(ParameterError, match="'b' is named in 0 of tables, decisions and utilities"):
        DecisionNetwork("a; b; d -> u", **one)
    with pytest.raises(ParameterError, match="finite numbers of shape"):
        DecisionNetwork("a -> u <- d", **one)
    with pytest.raises(ParameterError, match="a utility has no children"):
        DecisionNetwork("d -> u -> a", **one)
    with pytest.raises(ParameterError, match="in the order in which they are made"):
        DecisionNetwork("second -> first -> u; a", one["tables"], {"first": 2, "second": 2}, one["utilities"])
    far = {"u": [[[0, 5], [3, 1]], [[4, 1], [0, 6]]], "v": [0, 1]}
    for order in ("abc", "acb"):  # also where another decision stands between
        with pytest.raises(ParameterError, match="'a' comes before 'c', and follows from it"):
            DecisionNetwork(
                "c -> x -> a; a -> u; c -> u; x -> u; b -> v",
                {"x": [[0.9, 0.1], [0.3, 0.7]]},
                dict.fromkeys(order, 2),
                far,
            )
    with pytest.raises(ParameterError, match="is amiss"):
        DecisionNetwork("a; d -> u", one["tables"], {"d": ["x", "y"]}, {"u": {"x": 1}})
    with pytest.raises(ParameterError, match="decisions names none"):
        DecisionNetwork("a -> u", one["tables"], {}, one["utilities"])
    good = DecisionNetwork("a; d -> u", **one)
    with pytest.raises(ParameterError, match="'e' is no decision"):
        good.policy("e")
    with pytest.raises(ParameterError, match="reliability is 2"):
        good.value_of_information("a", reliability=2)
    with pytest.raises(AttributeError, match="does not change"):
        good.decisions = ()


def test_a_diagram_is_a_value():
    diagram, network = oil(), BayesianNetwork("utility", {"utility": [0.5, 0.5]})
    assert diagram == oil() == pickle.loads(pickle.dumps(diagram))
    assert hash(diagram) == hash(oil())
    costs = DecisionNetwork.from_loss(asia(), "lung", Loss([[0, 2], [15, 0]]))
    dearer = DecisionNetwork.from_loss(asia(), "lung", Loss([[0, 2], [16, 0]]))
    assert costs != dearer and costs != diagram and costs != "costs"
    with pytest.raises(AttributeError):
        diagram.utilities.clear()
    with pytest.raises(ValueError, match="read-only"):
        diagram.utilities["cost"].values[0] = 5
    with pytest.raises(ParameterError, match="a node is called 'utility'"):
        DecisionNetwork.from_loss(network, "utility")
    with pytest.raises(ParameterError, match="a node is called 'utility'"):
        DecisionNetwork.from_loss(asia(), "lung", decision="utility")


def test_impossible_evidence_is_told():
    diagram = DecisionNetwork("a; d -> u", {"a": [1.0, 0.0]}, {"d": 2}, {"u": [1, 0]})
    with pytest.raises(ImpossibleEvidence):
        diagram.expected_utility({"a": 1})


def test_what_cannot_be_met_is_not_listed():
    policy = oil().policy("drill")
    told = [
        tuple(row) for row in zip(*(policy.to_frame()[name].to_pylist() for name in ("test", "seismic")), strict=True)
    ]
    assert len(told) == int(policy.possible.sum()) < policy.possible.size
    assert ("no", "open") not in told
    assert ("no", "no result") in told
    assert repr(policy).count("\n") == len(told)


SUMS = """<smile version="1.0" id="d"><nodes>
  <decision id="act"><state id="yes"/><state id="no"/></decision>
  {more}
  <utility id="u"><parents>act</parents><utilities>10 1</utilities></utility>
  <utility id="v"><parents>act</parents><utilities>-20 0</utilities></utility>
  {mau}
</nodes></smile>"""


def test_weighted_sums_of_utilities_are_read(tmp_path):
    path = tmp_path / "sums.xdsl"
    mau = "<mau id='all'><parents>part v</parents><weights>3 0.5</weights></mau>"
    mau += "<mau id='part'><parents>u</parents><weights>2</weights></mau>"
    path.write_text(SUMS.format(more="", mau=mau), encoding="utf-8")
    assert DecisionNetwork.read(path).policy("act").utilities.tolist() == [50.0, 6.0]
    for wrong, words in (("<weights>1</weights>", "2 parents and 1 weights"), ("<weights>a b</weights>", "no numbers")):
        path.write_text(SUMS.format(more="", mau=f"<mau id='m'><parents>u v</parents>{wrong}</mau>"), encoding="utf-8")
        with pytest.raises(NetworkFileError, match=words):
            DecisionNetwork.read(path)
    expression = "<mau id='m'><parents>u v</parents><expressions>u*v</expressions></mau>"
    path.write_text(SUMS.format(more="", mau=expression), encoding="utf-8")
    with pytest.raises(NetworkFileError, match="mau"):
        DecisionNetwork.read(path)


@pytest.mark.parametrize(
    ("sums", "words"),
    [
        ({"all": "one", "one": "two", "two": "one"}, "'one' sums depends on 'one' itself"),
        ({"one": "one"}, "depends on 'one' itself"),
        ({"one": "act"}, "'one' sums 'act', which is no utility"),
        ({"one": "w"}, "'one' sums 'w', which is no utility"),
    ],
)
def test_sums_of_themselves_and_of_what_is_no_utility_are_refused(tmp_path, sums, words):
    path = tmp_path / "sums.xdsl"
    mau = [f"<mau id='{a}'><parents>u {b}</parents><weights>1 2</weights></mau>" for a, b in sums.items()]
    path.write_text(SUMS.format(more="", mau="".join(mau)), encoding="utf-8")
    with pytest.raises(NetworkFileError, match=words):
        DecisionNetwork.read(path)


def test_an_order_of_decisions_that_a_file_leaves_open_is_told(tmp_path):
    path = tmp_path / "open.xdsl"
    more = '<decision id="then"><state id="a"/><state id="b"/></decision>'
    path.write_text(SUMS.format(more=more, mau=""), encoding="utf-8")
    with pytest.warns(NetworkFileWarning, match="'act' or 'then' is decided first"):
        DecisionNetwork.read(path)


def test_a_decision_that_knows_too_much_is_refused_before_memory_is_taken():
    seen = [f"c{i}" for i in range(34)]
    graph = "; ".join([*(f"{one} -> d" for one in seen), "d -> u", "c0 -> u"])
    tables = {one: {"yes": 0.5, "no": 0.5} for one in seen}
    with pytest.raises(ResourceLimitError, match=r"the table of 'd' given its 34 parents"):
        DecisionNetwork(graph, tables, {"d": ["a", "b"]}, {"u": np.eye(2)})


def test_what_tells_nothing_is_worth_nothing():
    found = DecisionNetwork.from_loss(cough(), "breathless").value_of_information()
    assert {name for name, worth in found.items() if worth} == {"breathless", "bronchitis"}
