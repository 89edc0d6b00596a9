"""Every answer about a network is what the library says."""

import json
from base64 import b64decode
from itertools import product

import numpy as np
import pytest
from tests.structure.graphs import random_dag

from bayeswater import BayesianNetwork
from bayeswater.demo.network import cough
from bayeswater.errors import ImpossibleEvidence
from bayeswater.files.networks.formats import FORMATS
from bayeswater.web.network_answers import ANSWERS, FILES
from bayeswater.web.plain import QuestionError, as_json
from bayeswater.web.subjects import subject_of

COUGH = subject_of(cough(), name="cough")
NODE = {name: node for node, name in enumerate(COUGH.model.names)}


def told(question, subject=COUGH, **asked):
    return as_json(ANSWERS[question](subject, asked))


def close(found, expected):
    return found == pytest.approx(np.asarray(expected).ravel().tolist(), abs=1e-12)


def test_posteriors_given_what_is_observed_softly_known_set_and_changed_are_those_of_the_library():
    asked = {
        "observed": [[NODE["cough"], 0]],
        "soft": [[NODE["fever"], [0.9, 0.3]]],
        "does": [[NODE["flu"], 1]],
        "edits": [[NODE["bronchitis"], 0, [0.5, 0.5]]],
    }
    network = cough().with_cpt("bronchitis", [[0.5, 0.5], [0.05, 0.95]]).do(flu="no")
    found = told("posteriors", **asked)["posteriors"]
    for name, node in NODE.items():
        expected = [[0.0, 1.0]]
        if name != "flu":
            expected = network.posteriors({"cough": "yes"}, soft_evidence={"fever": [0.9, 0.3]})[name]
        assert close(found[node], expected)
    assert told("posteriors")["probability"] == pytest.approx(1)
    assert told("posteriors", observed=asked["observed"])["probability"] == pytest.approx(cough().query("cough")["yes"])


def test_what_one_browser_changes_no_other_sees():
    changed = told("posteriors", edits=[[NODE["season"], 0, [1.0, 0.0]]])["posteriors"]
    assert changed[NODE["season"]] == [1.0, 0.0]
    assert close(told("posteriors")["posteriors"][NODE["season"]], [0.3, 0.7])


def test_impossible_evidence_is_told_and_not_answered():
    subject = subject_of(BayesianNetwork("a -> b", {"a": [1.0, 0.0], "b": [[0.5, 0.5], [0.5, 0.5]]}))
    assert told("posteriors", subject, observed=[[0, 1]]) == {"posteriors": None, "impossible": True}
    with pytest.raises(ImpossibleEvidence):
        told("save", subject, observed=[[0, 1]], **{"as": "svg"})


def test_a_dragged_bar_stays_where_it_was_dragged_to():
    asked = {"observed": [[NODE["cough"], 0]]}
    for value in (0.0, 0.2, 0.85, 1.0):
        found = told("likelihood", node=NODE["flu"], state=0, value=value, **asked)["likelihood"]
        assert max(found) == 1
        moved = told("posteriors", soft=[[NODE["flu"], found]], **asked)["posteriors"]
        assert moved[NODE["flu"]][0] == pytest.approx(value, abs=1e-12)
    # What was softly known before does not matter: the bar is where it is dragged to, not beyond.
    again = told("likelihood", node=NODE["flu"], state=0, value=0.2, soft=[[NODE["flu"], [0.1, 1.0]]], **asked)
    assert again == told("likelihood", node=NODE["flu"], state=0, value=0.2, **asked)


def test_information_of_an_arc_is_the_entropy_that_one_end_takes_from_the_other():
    asked = {"observed": [[NODE["fever"], 0]], "soft": [[NODE["cough"], [1.0, 0.2]]]}
    arcs = {(parent, child): bits for parent, child, bits in told("arcs", **asked)["arcs"]}
    assert len(arcs) == 9 and arcs[NODE["flu"], NODE["fever"]] == 0
    joint = cough().joint(["season", "flu"], {"fever": "yes"}, soft_evidence={"cough": [1.0, 0.2]}).probabilities

    def entropy(p):
        return -(p * np.log2(p)).sum()

    expected = entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint)
    assert arcs[NODE["season"], NODE["flu"]] == pytest.approx(expected)
    best = {one["node"]: one["bits"] for one in told("next", target=NODE["flu"], **asked)["questions"]}
    assert best[NODE["season"]] == pytest.approx(expected)
    assert list(best.values()) == sorted(best.values(), reverse=True) and NODE["fever"] not in best


def test_arcs_into_what_is_set_are_cut():
    arcs = told("arcs", does=[[NODE["flu"], 0]])["arcs"]
    assert [NODE["season"], NODE["flu"]] not in [arc[:2] for arc in arcs]
    trail = told("trail", start=NODE["season"], end=NODE["flu"], does=[[NODE["flu"], 0], [NODE["fever"], 0]])
    assert trail["open"] is False and trail["blocks"] == [{"node": NODE["cough"], "why": "collider"}]


def test_trails_are_open_or_say_where_they_are_blocked():
    season, fever = NODE["season"], NODE["fever"]
    assert told("trail", start=season, end=fever)["open"]
    known = [[NODE["flu"], 0], [NODE["cold"], 0]]
    closed = told("trail", start=season, end=fever, observed=known)
    assert not closed["open"] and {one["why"] for one in closed["blocks"]} == {"given"}
    parents = {"start": NODE["bronchitis"], "end": NODE["flu"]}
    assert told("trail", **parents)["blocks"] == [{"node": NODE["cough"], "why": "collider"}]
    assert told("trail", **parents, soft=[[NODE["cough"], [1.0, 0.5]]])["nodes"] == [
        NODE["bronchitis"],
        NODE["cough"],
        NODE["flu"],
    ]


@pytest.mark.parametrize("seed", range(3))
def test_a_trail_is_open_where_the_graph_says_so_and_blocked_somewhere_where_not(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(7, 9, rng)
    network = BayesianNetwork(dag)
    subject = subject_of(network)
    for start, end in product(range(7), range(7)):
        given = [node for node in range(7) if node not in (start, end) and rng.random() < 0.4]
        if start != end:
            found = told("trail", subject, start=start, end=end, observed=[[node, 0] for node in given])
            names = [[network.names[node]] for node in (start, end)]
            separated = network.is_d_separated(*names, [network.names[node] for node in given])
            assert found["open"] is not separated
            assert found["open"] or found["blocks"] or not found["nodes"]


def test_the_most_probable_explanation_and_its_share():
    asked = {"observed": [[NODE["cough"], 0]]}
    found = told("explanation", **asked)
    expected = cough().most_probable_explanation({"cough": "yes"})
    assert [cough().states(name)[code] for name, code in zip(NODE, found["states"], strict=True)] == list(
        expected.states.values()
    )
    assert found["probability"] == pytest.approx(np.exp(expected.log_probability) / cough().query("cough")["yes"])


def test_tables_are_read_and_changed_row_by_row():
    table = told("table", node=NODE["fever"])
    assert table["n_rows"] == 4 and [row["given"] for row in table["rows"]] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert close(table["rows"][3]["p"], [0.01, 0.99])
    row = told("changed_row", node=NODE["fever"], row=3, state=0, value=0.4)["row"]
    assert close(row, [0.4, 0.6])
    edits = [[NODE["fever"], 3, row]]
    assert close(told("table", node=NODE["fever"], edits=edits)["rows"][3]["p"], [0.4, 0.6])
    saved = told("save", edits=edits, **{"as": "bif"})
    assert b"0.4, 0.6" in b64decode(saved["content"])


def test_a_network_is_saved_in_every_format_and_read_again(tmp_path):
    assert [(f".{ending}", name) for ending, name in FILES.items()] == [(one.suffixes[0], one.name) for one in FORMATS]
    for kind in (*FILES, "bayes"):
        found = told("save", edits=[[NODE["season"], 0, [0.5, 0.5]]], **{"as": kind})
        path = tmp_path / found["name"]
        path.write_bytes(b64decode(found["content"]))
        again = BayesianNetwork.read(path)
        assert close(again.core.tables[0].ravel().tolist(), [0.5, 0.5])
        assert bool(found["notes"]) == (kind == "uai")
    evidence = told("save", observed=[[NODE["flu"], 0]], soft=[[NODE["fever"], [1.0, 0.5]]], **{"as": "evidence"})
    assert json.loads(b64decode(evidence["content"])) == {
        "evidence": {"flu": "yes"},
        "soft_evidence": {"fever": {"yes": 1.0, "no": 0.5}},
        "do": {},
    }
    picture = b64decode(told("save", focus=NODE["flu"], **{"as": "svg"})["content"]).decode()
    assert picture.count('class="name"') == 1 + len(cough().markov_blanket("flu"))


def test_a_drawing_around_a_node_is_its_markov_blanket():
    whole, part = told("drawing", all=True), told("drawing", focus=NODE["flu"], steps=1)
    assert [one["node"] for one in whole["nodes"]] == list(range(8)) and len(whole["edges"]) == 9
    names = {COUGH.model.names[one["node"]] for one in part["nodes"]}
    assert names == {"flu", *cough().markov_blanket("flu")}
    assert whole["states"][NODE["season"]] == ["winter", "other"]


def test_what_follows_from_a_node_is_folded_away_and_comes_again():
    def shown(**asked):
        return {COUGH.model.names[one["node"]] for one in told("drawing", **asked)["nodes"]}

    everything, roots = set(NODE), {name for name in NODE if not cough().parents(name)}
    assert shown(levels=1) == roots
    open_season = told("fold", levels=1, node=NODE["season"])
    assert open_season == {"opened": [NODE["season"]], "closed": []}
    children = {name for name in NODE if "season" in cough().parents(name)}
    assert children and shown(levels=1, **open_season) == roots | children
    closed = told("fold", node=NODE["smoker"])
    below = cough().dag.named(cough().dag.descendants([NODE["smoker"]]))
    assert below and shown(**closed) == everything - set(below)
    assert dict(told("drawing", **closed)["folds"])[NODE["smoker"]] == len(below)
    assert shown(**told("fold", **closed, node=NODE["smoker"])) == everything
    # What two nodes lead to comes back by either of them.
    both = told("fold", **closed, node=NODE["season"])
    opened = told("fold", **both, node=NODE["season"])
    assert shown(**opened) >= {"season", *children}


def test_around_a_node_others_are_opened_one_by_one():
    names = COUGH.model.names
    part = told("drawing", focus=NODE["smoker"])
    assert {names[one["node"]] for one in part["nodes"]} == {"smoker", *cough().markov_blanket("smoker")}
    node, n_more = part["folds"][0]
    more = told("drawing", focus=NODE["smoker"], **told("fold", focus=NODE["smoker"], node=node))
    assert len(more["nodes"]) == len(part["nodes"]) + n_more and dict(more["folds"])[node] == 0
    again = told("fold", focus=NODE["smoker"], node=node, opened=[node])
    assert again["opened"] == []


def test_saved_evidence_is_read_again():
    known = {"observed": [[NODE["flu"], 0]], "soft": [[NODE["fever"], [1.0, 0.5]]], "does": [[NODE["cold"], 1]]}
    text = b64decode(told("save", **known, **{"as": "evidence"})["content"]).decode()
    assert told("read_evidence", text=text) == known
    for wrong, said in (
        ("no JSON", "no JSON"),
        ("[]", "an object with"),
        ('{"evidence": {"flue": "yes"}}', "did you mean 'flu'"),
        ('{"evidence": {"flu": "maybe"}}', "has no state 'maybe'"),
        ('{"soft_evidence": {"flu": {"yes": 1}}}', "those of its states: yes, no"),
        ('{"do": 3}', "do is no object"),
    ):
        with pytest.raises(QuestionError, match=said):
            told("read_evidence", text=wrong)


def test_a_graph_without_tables_is_drawn_and_has_trails():
    subject = subject_of(BayesianNetwork("a -> b -> c"))
    assert told("drawing", subject, all=True)["states"] == [[], [], []]
    assert told("posteriors", subject)["posteriors"] is None
    assert told("trail", subject, start=0, end=2, observed=[[1, 0]])["blocks"] == [{"node": 1, "why": "given"}]


@pytest.mark.parametrize(
    "asked",
    [
        {"observed": 3},
        {"observed": [[0]]},
        {"observed": [[99, 0]]},
        {"observed": [[0, 2]]},
        {"observed": [[True, 0]]},
        {"soft": [[0, [1.0]]]},
        {"soft": [[0, [2.0, 0.0]]]},
        {"soft": [[0, ["x", 0.0]]]},
        {"does": [["0", 0]]},
        {"edits": [[0, 0, [0.5, 0.6]]]},
        {"edits": [[0, 1, [0.5, 0.5]]]},
    ],
)
def test_questions_that_no_page_asks_are_refused(asked):
    with pytest.raises(QuestionError):
        told("posteriors", **asked)
