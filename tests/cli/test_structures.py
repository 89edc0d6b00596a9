"""The verbs about structures: learn, score, compare-structures."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from bayeswater import BayesianNetwork, learn_structure, limits, score_structure
from bayeswater.cli.main import FAULT, USAGE, WELL, main


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 400)
    work = np.where(rng.random(400) < np.where(sex == "f", 0.8, 0.3), "yes", "no")
    travel = np.where(rng.random(400) < np.where(work == "yes", 0.7, 0.1), "train", "car")
    path = tmp_path / "survey.csv"
    pd.DataFrame({"sex": sex, "work": work, "travel": travel, "row": np.arange(400)}).to_csv(path, index=False)
    return path


def test_learn_writes_the_best_network_and_keeps_to_what_is_known(survey, tmp_path, capsys):
    output = tmp_path / "net.bif"
    tiers = tmp_path / "tiers.toml"
    tiers.write_text('tiers = [["sex"], ["work", "travel"]]')
    command = [
        "learn",
        str(survey),
        "-o",
        str(output),
        "--ignore",
        "row",
        "--forbid",
        "sex <- *",
        "--tiers",
        str(tiers),
    ]
    assert main(command) == WELL
    told = capsys.readouterr()
    assert told.out == ""
    assert "2 arcs" in told.err and "no graph scores higher" in told.err
    assert set(BayesianNetwork.read(output).dag.edges()) == {("sex", "work"), ("work", "travel")}


def test_what_learn_and_compare_advise_to_type_is_taken(survey, tmp_path, capsys):
    output = tmp_path / "net.bif"
    frame = pd.read_csv(survey)
    frame["note"] = [f"note no. {i} of the day" for i in range(len(frame))]
    frame.to_csv(survey, index=False)
    advised: set[str] = set()
    for _ in range(2):
        assert main(["learn", str(survey), "-o", str(output), "--method", "tree", *sorted(advised)]) == WELL
        told = capsys.readouterr().err
        if not advised:
            advised = set(re.findall(r"--column[ =](\S+=\w+)", told))
            assert advised == {"row=ignored", "note=categorical"}
            advised = {f"--column={pair.replace('categorical', 'ignored')}" for pair in advised}
    assert "warning" not in told and "it is proven that no graph scores higher" in told
    compared = ["compare", str(survey), "-t", "sex", "--model", "naive-bayes", "--model", "tan"]
    assert main([*compared, *sorted(advised), "--column", "work=categorical"]) == WELL
    assert main([*compared, "--column", "note=categorical"]) == WELL
    assert main([*compared, "--column", "nte=categorical"]) == FAULT


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--score", "bdeu", "--graph-prior", "marginal=0.01"], {"score": "bdeu", "graph_prior": ("marginal", 0.01)}),
        (["--score", "k2", "--graph-prior", "variable_selection"], {"score": "k2", "graph_prior": "vsp"}),
        (["--method", "pc", "--max-given", "0"], {"method": "pc", "max_given": 0}),
        (["--method", "rsmax2", "--restrict", "iamb", "--maximize", "tabu"], {"method": "rsmax2", "restrict": "iamb"}),
        (["--method", "hill_climb", "--restarts", "2", "--perturb", "1"], {"method": "hill_climb"}),
    ],
)
def test_learn_takes_what_the_function_takes(survey, tmp_path, capsys, options, settings):
    output, frame = tmp_path / "net.bif", pd.read_csv(survey)[["sex", "work", "travel"]]
    assert main(["learn", str(survey), "-o", str(output), "--ignore", "row", "--json", *options]) == WELL
    found = learn_structure(frame, **settings)
    document = json.loads(capsys.readouterr().out)
    assert document["score"] == pytest.approx(found.score, rel=1e-12)
    assert {tuple(arc) for arc in document["arcs"]} == set(found.graph.edges())


def test_score_takes_a_graph_prior_and_says_what_is_none(survey, tmp_path, capsys):
    output, frame = tmp_path / "net.bif", pd.read_csv(survey)[["sex", "work", "travel"]]
    assert main(["learn", str(survey), "-o", str(output), "--ignore", "row"]) == WELL
    scoring = ["score", str(output), str(survey), "--score", "bdeu", "--json", "--graph-prior"]
    capsys.readouterr()
    assert main([*scoring, "marginal=0.3"]) == WELL
    graph = BayesianNetwork.read(output).dag
    expected = score_structure(graph, frame, "bdeu", graph_prior=("marginal", 0.3))
    assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(expected, rel=1e-12)
    assert main([*scoring, "marginal=often"]) == USAGE
    assert "write marginal=0.3" in capsys.readouterr().err
    assert main([*scoring, "strange"]) == USAGE
    assert "graph_prior is 'strange'; choose one of uniform" in capsys.readouterr().err


def test_learn_reports_to_machines(survey, tmp_path, capsys):
    output = tmp_path / "net.xdsl"
    assert (
        main(["learn", str(survey), "-o", str(output), "--ignore", "row", "--method", "hill_climb", "--json"]) == WELL
    )
    document = json.loads(capsys.readouterr().out)
    assert document["method"] == "hill_climb" and len(document["arcs"]) == 2
    assert output.exists()


def test_a_time_limit_counts_all_that_learn_does(survey, tmp_path, capsys):
    limited = ["--method", "tabu", "--tabu-length", "5", "--time-limit", "20"]
    learning = ["learn", str(survey), "-o", str(tmp_path / "net.bif"), "--ignore", "row"]
    assert main([*learning, *limited]) == WELL
    assert "leave --time-limit out" in capsys.readouterr().err
    assert main(learning) == WELL
    assert "no graph" in capsys.readouterr().err


def test_learn_fills_missing_cells_in_unless_they_are_refused(survey, tmp_path, capsys):
    data = pd.read_csv(survey).drop(columns="row")
    data = data.mask(np.random.default_rng(1).random(data.shape) < 0.1)
    data.to_csv(survey, index=False)
    n_missing = int(data.isna().sum().sum())
    command = ["learn", str(survey), "-o", str(tmp_path / "net.bif")]
    assert main(command) == WELL
    assert f"missing    {n_missing} cells: structural EM" in capsys.readouterr().err
    assert BayesianNetwork.read(tmp_path / "net.bif").dag.n_edges == 2
    assert main([*command, "--json"]) == WELL
    document = json.loads(capsys.readouterr().out)
    assert document["n_missing"] == n_missing and document["score"] == max(document["rounds"])
    assert main([*command, "--incomplete", "error"]) == FAULT
    assert f"{n_missing} cells are missing" in capsys.readouterr().err


def test_missing_names_the_cell_that_means_missing_as_in_all_verbs(survey, tmp_path, capsys):
    data = pd.read_csv(survey).drop(columns="row")
    data.loc[::9, "work"] = "?"
    data.to_csv(survey, index=False)
    output = tmp_path / "net.bif"
    assert main(["learn", str(survey), "-o", str(output), "--missing", "?", "--json"]) == WELL
    assert json.loads(capsys.readouterr().out)["n_missing"] == (data["work"] == "?").sum()
    assert BayesianNetwork.read(output).states("work") == ("no", "yes")


@pytest.mark.parametrize("verb", ["learn", "convert"])
@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("net.zzz", r"let its name end in .bif \(BIF\), .* or .bayes \(our own\)"),
        ("nowhere/net.bif", "there is no folder"),
        ("nowhere/net.bayes", "there is no folder"),
        ("", "it is a folder"),
    ],
)
def test_a_network_that_cannot_be_written_is_refused_before_anything_is_read(verb, output, message, tmp_path, capsys):
    place = str(tmp_path / output)
    source = str(tmp_path / "not there.bif" if verb == "convert" else tmp_path / "not there.csv")
    assert main([verb, source, *(["-o"] if verb == "learn" else []), place]) == FAULT
    assert re.search(message, capsys.readouterr().err.replace("\n", " "))


def test_score_is_that_of_the_library(survey, tmp_path, capsys):
    output = tmp_path / "net.bif"
    main(["learn", str(survey), "-o", str(output), "--ignore", "row"])
    capsys.readouterr()
    assert main(["score", str(output), str(survey), "--score", "bdeu", "--sample-size", "5", "--json"]) == WELL
    document = json.loads(capsys.readouterr().out)
    frame = pd.read_csv(survey).drop(columns="row")
    expected = score_structure(BayesianNetwork.read(output).dag, frame, ("bdeu", 5))
    assert document["score"] == pytest.approx(expected)
    assert main(["score", str(output), str(survey)]) == WELL
    assert "all" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["bif", "xdsl", "net", "bayes"])
def test_a_network_learned_from_numbers_is_scored_and_asked_on_its_own_table(ending, tmp_path, capsys):
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, 300).round(2)
    age[0] = np.nan
    data = pd.DataFrame({"age": age, "old": np.where(age > 45, "yes", "no")})
    data.to_csv(tmp_path / "all.csv", index=False)
    data[1:].to_csv(tmp_path / "whole.csv", index=False)
    network = str(tmp_path / f"net.{ending}")
    assert main(["learn", str(tmp_path / "whole.csv"), "-o", network, "--json"]) == WELL
    learned = json.loads(capsys.readouterr().out)["score"]
    assert main(["score", network, str(tmp_path / "whole.csv"), "--json"]) == WELL
    assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(learned, rel=1e-12)
    states = learn_structure(data[1:]).states_of(data)
    states.to_csv(tmp_path / "states.csv", index=False)
    answers = []
    for rows in ("all.csv", "states.csv"):  # numbers, or the names of their bins
        command = ["query", network, "--evidence", str(tmp_path / rows), "--ignore", "old", "-t", "old"]
        assert main([*command, "-o", str(tmp_path / "answers.csv")]) == WELL
        answers.append(pd.read_csv(tmp_path / "answers.csv"))
    assert answers[0].equals(answers[1])
    expected = BayesianNetwork.read(network).posteriors(data[["age"]], "old")["old"][:, 1]
    assert answers[0]["P(old=yes)"].tolist() == pytest.approx(expected.tolist(), rel=1e-12)
    assert (expected[1:].round() == (data["old"][1:] == "yes")).mean() > 0.9


@pytest.fixture
def parts(survey, tmp_path):
    """The survey in a folder of three files, the last of which is there also as Parquet, outside of it."""
    frame = pd.read_csv(survey).drop(columns="row")
    survey.write_text(frame.to_csv(index=False))
    folder = tmp_path / "parts"
    folder.mkdir()
    frame[:100].to_csv(folder / "part-0.csv", index=False)
    frame[100:250].to_csv(folder / "part-1.csv", index=False)
    frame[250:].to_csv(folder / "part-2.csv", index=False)
    frame[250:].to_parquet(tmp_path / "part-2.parquet", index=False)
    return folder


@pytest.mark.parametrize("how", ["files", "patterns", "folder"])
def test_several_files_are_one_table(survey, parts, how, tmp_path, capsys):
    patterns = [parts / "part-[01].csv", tmp_path / "*.parquet"]
    names = {"files": sorted(parts.iterdir()), "patterns": patterns, "folder": [parts]}
    data = [str(name) for name in names[how]]
    told = []
    for files, output in (([str(survey)], tmp_path / "one.bif"), (data, tmp_path / "many.bif")):
        assert main(["learn", *files, "-o", str(output)]) == WELL
        capsys.readouterr()
        assert main(["score", str(output), *files, "--json"]) == WELL
        told.append((output.read_text(), json.loads(capsys.readouterr().out)))
    assert told[0] == told[1]
    assert told[1][1]["n_rows"] == 400


def test_the_file_that_lacks_a_column_is_named(parts, tmp_path, capsys):
    frame = pd.read_csv(parts / "part-1.csv")
    frame.drop(columns="work").to_csv(parts / "part-1.csv", index=False)
    assert main(["learn", str(parts), "-o", str(tmp_path / "net.bif")]) == FAULT
    assert "part-1.csv has no column 'work'" in capsys.readouterr().err.replace("\n", " ")


def test_more_rows_than_memory_holds_are_refused_with_their_size(survey, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setattr(limits, "HELD_BYTES", 1000)
    assert main(["learn", str(survey), "-o", str(tmp_path / "net.bif")]) == FAULT
    told = capsys.readouterr().err
    assert "survey.csv, which learning a structure needs in memory at once, would take" in told
    assert "over the limit of 1000 bytes; give fewer columns or rows" in told


def test_states_that_no_row_has_count_among_the_parameters(tmp_path, capsys):
    network = BayesianNetwork(
        "a -> b", {"a": {"x": 0.5, "y": 0.3, "z": 0.2}, "b": [[0.5, 0.5]] * 3}, states={"b": ["n", "p"]}
    )
    network.write(tmp_path / "net.bif")
    rows = tmp_path / "rows.csv"
    pd.DataFrame({"a": ["x", "y"] * 8, "b": ["n", "n", "p", "p"] * 4}).to_csv(rows, index=False)
    assert main(["score", str(tmp_path / "net.bif"), str(rows), "--score", "aic", "--json"]) == WELL
    found = json.loads(capsys.readouterr().out)["nodes"]
    assert found["a"] == pytest.approx(16 * np.log(0.5) - 2)
    assert found["b"] == pytest.approx(16 * np.log(0.5) - 3)


def test_compare_structures_names_the_arcs_that_differ(tmp_path, capsys):
    for name, graph in (("one.bif", "a -> b; c"), ("other.bif", "b -> a; b -> c")):
        tables = {"a": [0.5, 0.5], "b": [[0.5, 0.5]] * 2, "c": [0.5, 0.5]}
        if name == "other.bif":
            tables = {"b": [0.5, 0.5], "a": [[0.5, 0.5]] * 2, "c": [[0.5, 0.5]] * 2}
        BayesianNetwork(graph, tables, states={"a": ["n", "y"], "b": ["n", "y"], "c": ["n", "y"]}).write(
            tmp_path / name
        )
    paths = [str(tmp_path / "one.bif"), str(tmp_path / "other.bif")]
    assert main(["compare-structures", *paths, "--json"]) == WELL
    document = json.loads(capsys.readouterr().out)
    assert document["turned"] == [["a", "b"]] and document["only_in_second"] == [["b", "c"]]
    assert (document["distance_of_graphs"], document["distance_of_classes"]) == (2, 1)
    assert main(["compare-structures", *paths]) == WELL
    assert "turned" in capsys.readouterr().out


def test_faults_are_told_without_a_traceback(survey, tmp_path, capsys):
    output = str(tmp_path / "net.bif")
    bad = tmp_path / "bad.toml"
    bad.write_text("tiers = 3")
    assert main(["learn", str(survey), "-o", output, "--require", "sex -> work", "--forbid", "sex -> work"]) == USAGE
    assert "both required and forbidden" in capsys.readouterr().err
    assert main(["learn", str(survey), "-o", output, "--ignore", "age"]) == FAULT
    assert "'age'" in capsys.readouterr().err
    assert main(["learn", str(survey), "-o", output, "--tiers", str(bad)]) == USAGE
    assert "lists of names" in capsys.readouterr().err
    bad.write_text("tiers = [")
    assert main(["learn", str(survey), "-o", output, "--tiers", str(bad)]) == USAGE
    assert "no TOML file" in capsys.readouterr().err
    network = BayesianNetwork("sex", {"sex": {"f": 0.5, "x": 0.5}})
    network.write(output)
    assert main(["score", output, str(survey)]) == FAULT
    assert "none of its states" in capsys.readouterr().err
