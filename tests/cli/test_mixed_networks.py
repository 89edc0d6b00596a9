"""The command line with numbers: rows drawn, a network learned, questions asked, with and without do."""

import json
from pathlib import Path

import pandas as pd
import pytest

from bayeswater import LinearGaussian, MixedNetwork
from bayeswater.cli.main import main


@pytest.fixture
def network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nodes = {
        "sex": {"f": 0.5, "m": 0.5},
        "height": {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)},
        "weight": LinearGaussian(-100, {"height": 1.0}, 81),
    }
    found = MixedNetwork("sex -> height -> weight", nodes)
    found.write("net.json")
    return found


def test_questions_are_answered(network, capsys):
    main(["query", "net.json", "P(weight | sex=m, height=180)"])
    assert "80" in capsys.readouterr().out
    main(["query", "net.json", "P(weight | do(height=180))", "--json"])
    assert json.loads(capsys.readouterr().out)["mean"] == 80
    main(["query", "net.json", "P(sex | weight=90)", "--json"])
    states = json.loads(capsys.readouterr().out)["states"]
    assert states[1]["probability"] == pytest.approx(network.query("sex", {"weight": 90})["m"])


def test_rows_are_drawn_learned_from_and_answered_for(network, capsys):
    main(["sample", "net.json", "-n", "400", "-o", "rows.csv"])
    main(["learn", "rows.csv", "--numbers", "gaussian", "-o", "learned.xdsl"])
    learned = MixedNetwork.read("learned.xdsl")
    assert {frozenset(edge) for edge in learned.edges} == {frozenset(edge) for edge in network.edges}
    pd.DataFrame({"weight": [80.0, None], "sex": [None, "f"]}).to_csv("seen.csv", index=False)
    main(["query", "net.json", "--evidence", "seen.csv", "-t", "height", "-o", "answers.csv"])
    answers = pd.read_csv("answers.csv")
    assert answers["height"][0] == pytest.approx(network.query("height", {"weight": 80}).mean)
    assert answers["height"][1] == pytest.approx(165)


def answered(capsys, *words):
    """What a verb says as JSON."""
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_soft_evidence_explanations_and_states_together_are_answered(network, capsys):
    found = answered(capsys, "query", "net.json", "P(sex | weight=90)", "--soft", "sex: f=0.9, m=0.1")["states"]
    expected = network.query("sex", {"weight": 90}, soft_evidence={"sex": {"f": 0.9, "m": 0.1}})
    assert [one["probability"] for one in found] == pytest.approx(list(expected.values()))
    found = answered(capsys, "query", "net.json", "MPE(weight=90)", "--k-best", "2")["explanations"]
    best = network.most_probable_explanations(2, {"weight": 90})
    assert [one["states"] for one in found] == [one.states for one in best]
    assert answered(capsys, "query", "net.json", "MAP(sex | weight=60)")["explanations"][0]["states"] == {"sex": "f"}
    assert answered(capsys, "query", "net.json", "P(sex=m | height=180)")["states"][0]["probability"] > 0.9


def test_rows_keep_their_columns(network, capsys):
    pd.DataFrame({"who": ["x", "y"], "sex": ["f", "d"], "weight": [60, 61]}).to_csv("rows.csv", index=False)
    words = [
        "query",
        "net.json",
        "--evidence",
        "rows.csv",
        "-t",
        "height",
        "--ignore",
        "who",
        "--keep",
        "-o",
        "out.csv",
    ]
    assert main(words) in (1, 2)
    assert "'d'" in capsys.readouterr().err
    assert main([*words, "--unseen", "ignore"]) == 0
    found = pd.read_csv("out.csv")
    assert list(found.columns) == ["height", "height (sd)", "log_evidence", "impossible", "who", "sex", "weight"]
    assert found["height"][0] == pytest.approx(network.query("height", {"sex": "f", "weight": 60}).mean)
    assert found["height"][1] == pytest.approx(network.query("height", {"weight": 61}).mean)


def test_files_are_converted_inspected_and_drawn(network, capsys):
    for output in ("net.xdsl", "net.bayes", "again.json"):
        assert main(["convert", "net.json", output]) == 0
        assert MixedNetwork.read(output) == network
    assert main(["convert", "net.json", "net.bif"]) == 1
    assert ".json, .xdsl or .bayes" in capsys.readouterr().err
    document = answered(capsys, "inspect", "net.bayes", "--column", "height")
    assert [own["given_as"] for own in document["variables"]] == ["table", "regression", "regression"]
    assert document["tables"]["height"] == {"sex": ["f", "m"], "intercept": [165, 178], "variance": [36, 49]}
    assert main(["inspect", "net.json"]) == 0
    assert "a number" in capsys.readouterr().out
    assert main(["draw", "net.bayes", "-o", "net.svg", "--given", "height=170"]) == 0
    assert ">170<" in Path("net.svg").read_text(encoding="utf-8")
    assert main(["draw", "net.bayes", "-o", "net.svg", "--given", "height=tall"]) == 2
    assert "'height' is a number" in capsys.readouterr().err


def test_rows_are_filled_in_and_graphs_compared_and_scored(network, capsys):
    assert main(["sample", "net.json", "-n", "50", "-o", "rows.csv"]) == 0
    rows = pd.read_csv("rows.csv")
    rows.mask(rows.index.to_numpy()[:, None] % 3 == [0, 1, 2]).to_csv("holes.csv", index=False)
    assert main(["impute", "net.json", "holes.csv", "-o", "filled.csv"]) == 0
    filled = pd.read_csv("filled.csv")
    assert not filled.isna().any().any()
    assert filled["weight"][0] == pytest.approx(rows["weight"][0])
    assert answered(capsys, "compare-structures", "net.json", "net.json")["distance_of_graphs"] == 0
    assert answered(capsys, "score", "net.json", "rows.csv")["score"] < 0
    assert answered(capsys, "dsep", "net.json", "sex ; weight | height")["d_separated"] is True


@pytest.mark.parametrize(
    "words",
    [
        ["edit", "net.json", "-o", "new.bif", "--rename", "sex=gender"],
        ["edit", "net.json", "-o", "new.json", "--rename", "sex=gender"],
        ["sensitivity", "net.bayes", "P(sex=m | weight=90)"],
        ["predict", "net.bayes", "rows.csv"],
        ["query", "net.json", "P(sex | weight=90)", "--method", "gibbs"],
        ["query", "net.json", "P(sex, weight)"],
        ["query", "net.json", "P(sex | weight=90)", "--soft", "weight: a=0.9, b=0.1"],
    ],
)
def test_what_is_not_for_networks_with_numbers_is_refused_in_words(network, capsys, words):
    network.write("net.bayes")
    assert main(words) in (1, 2)
    told = capsys.readouterr().err
    assert "number" in told or "MixedNetwork" in told
    assert "Traceback" not in told
