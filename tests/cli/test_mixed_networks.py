"""The command line with numbers: rows drawn, a network learned, questions asked, with and without do."""

import json

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


@pytest.mark.parametrize(
    "option", [["--soft", "sex: f=0.9, m=0.1"], ["--method", "gibbs"], ["--k-best", "2"], ["--keep"]]
)
def test_options_that_networks_with_numbers_do_not_have_are_refused(network, capsys, option):
    assert main(["query", "net.json", "P(sex | weight=90)", *option]) == 2
    assert f"{option[0]}" in capsys.readouterr().err
