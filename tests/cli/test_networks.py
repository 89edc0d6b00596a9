"""The verbs about networks: query, dsep, sample, convert, and inspect of a network."""

import csv
import gzip
import io
import json
import weakref

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.cli.people import Answer
from tests.networks.nets import asia

from bayeswater import TAN, BayesianNetwork, GaussianNB, NoisyOr, save
from bayeswater.cli import query_rows
from bayeswater.data.sources import delimited, local_rows
from bayeswater.models.network import queries


@pytest.fixture
def net(tmp_path):
    path, network = tmp_path / "asia.bif", asia()
    network.with_cpt("either", network.cpt("either").values).write(path)  # BIF knows no rules
    return path


@pytest.fixture
def rows(tmp_path):
    """Rows of evidence with gaps, one of which is impossible, and a column that is no variable."""
    table = asia().sample(200, random_state=0).to_pandas().astype(object)
    table = table.mask(np.random.default_rng(0).random(table.shape) < 0.5, None)
    table.loc[7, ["lung", "either"]] = ["yes", "no"]
    table.insert(0, "id", [f"{i:03}" for i in range(200)])
    path = tmp_path / "rows.csv"
    table.to_csv(path, index=False)
    return path


def expected_posteriors(rows, targets, ignored=("id",)):
    """The answers of the library, as the command writes them."""
    frame = pd.read_csv(rows, dtype=str).drop(columns=list(ignored))
    with pytest.warns(match="probability zero"):
        found = asia().posteriors(frame, targets)
    columns = {}
    for name in targets:
        for code, state in enumerate(asia().states(name)):
            posterior = found[name][:, code]
            columns[f"P({name}={state})"] = np.where(found.impossible, np.nan, posterior)
    return pd.DataFrame(columns | {"log_evidence": found.log_evidence, "impossible": found.impossible})


# ---------------------------------------------------------------------- one question


def test_a_question_is_answered_with_a_table_and_bars(run, net):
    answer = run("query", net, "P(lung | xray=yes, dysp='yes')")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert answer.out.splitlines()[0].strip() == "P(lung | xray=yes, dysp='yes')"
    assert lines[3] == ["yes", "0.6213", "━" * 12]
    assert lines[4] == ["no", "0.3787", "━" * 8]


def test_a_question_about_several_variables_gives_their_joint(run, net):
    document = json.loads(run("query", net, "P(tub, lung | xray=yes)", "--json").out)
    expected = asia().joint(["tub", "lung"], {"xray": "yes"})
    assert document["targets"] == ["tub", "lung"] and document["evidence"] == {"xray": "yes"}
    assert document["method"] == "exact"
    assert {(s["tub"], s["lung"]): s["probability"] for s in document["states"]} == dict(expected)


def test_what_is_done_is_set_from_outside_and_what_is_seen_is_evidence(run, net):
    document = json.loads(run("query", net, "P(lung | do(either=yes), smoke=yes)", "--json").out)
    assert document["do"] == {"either": "yes"} and document["evidence"] == {"smoke": "yes"}
    # Setting a consequence tells nothing of its causes.
    expected = asia().query("lung", {"smoke": "yes"})
    assert {line["lung"]: line["probability"] for line in document["states"]} == pytest.approx(
        dict(expected), rel=1e-12
    )


def test_a_state_that_is_asked_for_is_shown_alone(run, net):
    document = json.loads(run("query", net, "P(tub, lung=no)", "--json").out)
    joint = asia().joint(["tub", "lung"])
    assert [(s["tub"], s["lung"], s["probability"]) for s in document["states"]] == [
        (tub, "no", joint[tub, "no"]) for tub in ("yes", "no")
    ]


def test_a_sampled_answer_brings_its_errors_and_its_verdict(run, net):
    asked = ("query", net, "P(lung | xray=yes, dysp=yes)", "--method", "likelihood_weighting", "--standard-error", 0.01)
    document = json.loads(run(*asked, "--json").out)
    assert document["method"] == "likelihood_weighting" and document["reliable"] is True
    first = document["states"][0]
    assert first["standard_error"] <= 0.01
    assert abs(first["probability"] - 0.6212527967) < 6 * first["standard_error"]  # six errors: once in 5e8
    shown = run(*asked).out
    assert "standard error" in shown and "draws: reliable" in shown


def test_long_tables_are_cut(run, net):
    shown = run("query", net, "P(asia, tub, smoke)", "--states", 3).out
    assert "... and 5 more" in shown


@pytest.mark.parametrize(
    ("question", "message", "column"),
    [
        ("P(lungs)", "there is no variable 'lungs' (did you mean 'lung'?)", 3),
        ("P(lung=ja)", "'lung' has no state 'ja' (there are 'yes', 'no')", 8),
        ("P(lung | xray=yes, dysp=n)", "'dysp' has no state 'n' (did you mean 'no'?)", 25),
        ("P(lung | xray)", "what is given has a state: write xray=...", 14),
    ],
)
def test_names_that_are_not_there_are_shown_with_a_caret(run, net, question, message, column):
    answer = run("query", net, question)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.splitlines()[-1] == " " * (column + 1) + "^"


def test_impossible_evidence_is_an_error_of_the_data(run, net):
    answer = run("query", net, "P(smoke | lung=yes, either=no)")
    assert answer.code == 1
    assert "lung='yes', either='no' has probability zero" in answer.err


def test_labels_that_are_no_texts_are_named_as_they_look(run, tmp_path):
    path = tmp_path / "coins.bayes"
    network = BayesianNetwork("a -> b", {"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.1, 0.9]]}, states={"b": [False, True]})
    save(network, path)
    document = json.loads(run("query", path, "P(a | b=True)", "--json").out)
    assert document["states"][1] == {"a": 1, "probability": network.query("a", {"b": True})[1]}


@pytest.mark.parametrize("number", ["50", "5e1", "50.0"])
def test_a_number_is_looked_up_in_its_bin(run, tmp_path, number):
    path = tmp_path / "age.bif"
    tables = {"age": [0.3, 0.4, 0.3], "old": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]}
    states = {"age": ["under 30", "30 to 60", "from 60 on"], "old": ["no", "yes"]}
    BayesianNetwork("age -> old", tables, states=states).write(path)
    document = json.loads(run("query", path, f"P(old | age={number})", "--json").out)
    assert document["evidence"] == {"age": "30 to 60"}
    assert json.loads(run("query", path, f"P(age={number})", "--json").out)["states"][0]["age"] == "30 to 60"
    assert "'age' has no state 'fifty'" in run("query", path, "P(old | age=fifty)").err


def test_one_question_or_rows_and_not_both(run, net, rows):
    for asked in ((), ("P(lung)", "--evidence", rows)):
        answer = run("query", net, *asked)
        assert answer.code == 2 and "--evidence rows.csv" in answer.err
    answer = run("query", net, "--evidence", rows, "--method", "gibbs")
    assert answer.code == 2 and "--method gibbs is for one question" in answer.err
    answer = run("query", net, "--evidence", rows, "--json")
    assert answer.code == 2 and "--output-format jsonl" in answer.err


# ---------------------------------------------------------------------- rows


def test_rows_of_evidence_are_answered_as_by_the_library(run, net, rows, tmp_path):
    out = tmp_path / "posteriors.parquet"
    answer = run("query", net, "--evidence", rows, "-t", "bronc", "-t", "smoke", "--ignore", "id", "-o", out)
    assert (answer.code, answer.out) == (0, "")
    assert "the evidence of 1 of 200 rows has probability zero" in answer.err
    found = pyarrow.parquet.read_table(out)
    expected = expected_posteriors(rows, ["bronc", "smoke"])
    assert found.column_names == [*expected.columns]
    pd.testing.assert_frame_equal(found.to_pandas(), expected, check_exact=True)
    assert found["P(bronc=yes)"].null_count == 1 and found["impossible"].to_pylist().index(True) == 7


def test_many_small_batches_give_the_answers_of_one(run, net, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**10)
    monkeypatch.setattr(query_rows, "MOST_CELLS", 60)
    out = tmp_path / "posteriors.parquet"
    answer = run("query", net, "--evidence", rows, "-t", "bronc", "--ignore", "id", "-o", out)
    assert answer.code == 0
    assert answer.err.count("probability zero") == 1 and "1 of 200 rows" in answer.err
    assert pyarrow.parquet.ParquetFile(out).num_row_groups > 10
    found = pyarrow.parquet.read_table(out).to_pandas()
    # Routes are chosen by the number of rows, and sums of products are rounded in another order.
    pd.testing.assert_frame_equal(found, expected_posteriors(rows, ["bronc"]), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("keep", [[], ["--keep"]])
@pytest.mark.parametrize("how", ["options", "pattern", "folder"])
def test_answers_for_several_files_of_evidence_are_those_for_one(run, net, rows, how, keep, tmp_path):
    head, *lines = rows.read_text().splitlines(keepends=True)
    folder = tmp_path / "parts"
    folder.mkdir()
    files = [folder / f"part-{i}.csv" for i in range(3)]
    for file, start, end in zip(files, (0, 70, 71), (70, 71, 200), strict=True):
        file.write_text(head + "".join(lines[start:end]))
    named = {"options": files, "pattern": [folder / "part-*.csv"], "folder": [folder]}[how]
    evidence = [word for name in named for word in ("--evidence", name)]
    options = ["-t", "bronc", "--ignore", "id", *keep]
    one, many = run("query", net, "--evidence", rows, *options), run("query", net, *evidence, *options)
    assert (one.code, many.code) == (0, 0)
    assert (many.out, many.err) == (one.out, one.err)


def test_a_label_that_is_no_state_is_told_by_its_file_and_rows(run, net, tmp_path):
    files = [tmp_path / "good.csv", tmp_path / "bad.csv"]
    files[0].write_text("xray\nyes\nno\n")
    files[1].write_text("xray\nyes\nmaybe\n")
    answer = run("query", net, "--evidence", files[0], "--evidence", files[1])
    assert (answer.code, answer.out) == (1, "")
    assert "bad.csv, rows 1 to 2: column 'xray' holds 'maybe'" in answer.err
    answer = run("query", net, "--evidence", *files)
    assert answer.code == 2 and "every file of rows has its own --evidence" in answer.err


def test_no_batch_is_held_once_it_is_written(run, net, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**10)
    alive: list[weakref.ref[pa.Table]] = []
    most = 0
    whole = query_rows.PosteriorColumns.of

    def watched(self, table):
        nonlocal most
        found = whole(self, table)
        alive.append(weakref.ref(found))
        most = max(most, sum(ref() is not None for ref in alive))
        return found

    monkeypatch.setattr(query_rows.PosteriorColumns, "of", watched)
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: 20)
    assert run("query", net, "--evidence", rows, "--ignore", "id", "-o", tmp_path / "p.csv").code == 0
    assert len(alive) >= 5 and most <= 2  # the one being made, and the one before it


def test_all_variables_are_answered_by_default_and_columns_kept_on_request(run, net, rows):
    answer = run("query", net, "--evidence", rows, "--ignore", "id", "--keep")
    found = list(csv.DictReader(io.StringIO(answer.out)))
    states = [f"P({name}={state})" for name in asia().names for state in asia().states(name)]
    given = list(csv.DictReader(rows.open()))
    assert [*found[0]] == [*states, "log_evidence", "impossible", *given[0]]
    assert [{name: row[name] for name in given[0]} for row in found] == given


def test_rows_through_a_pipe_and_as_json_lines(run, net):
    content = b"xray,dysp\nyes,\n,NA\n"
    answer = run("query", net, "--evidence", "-", "-t", "lung", "--output-format", "jsonl", stdin=content)
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert found[0]["P(lung=yes)"] == pytest.approx(asia().query("lung", {"xray": "yes"})["yes"], abs=1e-15)
    assert found[1]["log_evidence"] == pytest.approx(0, abs=1e-15)
    impossible = run(
        "query", net, "--evidence", "-", "-t", "asia", "--output-format", "jsonl", stdin=b"lung,either\nyes,no\n"
    )
    assert json.loads(impossible.out) == {
        "P(asia=yes)": None,
        "P(asia=no)": None,
        "log_evidence": None,
        "impossible": True,
    }


def test_a_file_without_rows_has_answers_without_rows(run, net):
    answer = run("query", net, "--evidence", "-", "-t", "lung", stdin=b"xray,dysp\n")
    assert (answer.code, answer.out) == (0, "P(lung=yes),P(lung=no),log_evidence,impossible\n")


def test_a_state_that_looks_like_a_missing_cell_is_a_state(run, tmp_path):
    path = tmp_path / "net.bif"
    network = BayesianNetwork(
        "a -> b", {"a": {"NA": 0.25, "x": 0.75}, "b": [[0.9, 0.1], [0.2, 0.8]]}, states={"b": ["n", "y"]}
    )
    network.write(path)
    answer = run("query", path, "--evidence", "-", "-t", "b", stdin=b"a\nNA\nx\n")
    found = [float(row["P(b=n)"]) for row in csv.DictReader(io.StringIO(answer.out))]
    assert found == pytest.approx([0.9, 0.2], abs=1e-15)  # a rounding or two


def test_columns_and_labels_that_are_not_there_are_refused(run, net, rows):
    answer = run("query", net, "--evidence", rows)
    assert answer.code == 1 and "column 'id' is no variable of" in answer.err and "--ignore id" in answer.err
    answer = run("query", net, "--evidence", "-", stdin=b"xray\nyes\nmaybe\n")
    assert answer.code == 1 and answer.out == ""
    assert "rows 1 to 2: column 'xray' holds 'maybe'" in answer.err and "--unseen ignore" in answer.err
    answer = run("query", net, "--evidence", "-", "-t", "lung", "--unseen", "ignore", stdin=b"xray\nmaybe\n")
    assert answer.code == 0 and "'maybe'" in answer.err
    answer = run("query", net, "--evidence", "-", "-t", "lungs", stdin=b"xray\nyes\n")
    assert answer.code == 2 and "'lungs'" in answer.err
    answer = run("query", net, "--evidence", "-", "-t", "lung", "-t", "lung", stdin=b"xray\nyes\n")
    assert answer.code == 2 and "name a variable twice" in answer.err


def test_a_target_that_is_observed_is_mentioned(run, net):
    answer = run("query", net, "--evidence", "-", "-t", "xray", stdin=b"xray\nyes\n")
    assert "has a column 'xray'" in answer.err
    assert answer.out.splitlines()[1].startswith("1,0,")


def test_a_classifier_that_is_a_network_answers_too(run, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(["a", "b"], 50) for name in ("p", "q")})
    model = TAN().fit(X, rng.choice(["ill", "well"], 50))
    save(model, tmp_path / "tan.bayes")
    found = json.loads(run("query", tmp_path / "tan.bayes", "P(class | p=a)", "--json").out)
    expected = model.predict_proba(pd.DataFrame({"p": ["a"], "q": [None]}))[0]
    assert [s["probability"] for s in found["states"]] == pytest.approx(expected.tolist(), abs=1e-12)
    asked = run("query", tmp_path / "tan.bayes", "P(health | p=a)")
    assert asked.code == 2 and "what a classifier predicts is called 'class' in its network" in asked.err
    save(GaussianNB().fit(rng.random((20, 2)), rng.integers(0, 2, 20)), tmp_path / "gauss.bayes")
    answer = run("query", tmp_path / "gauss.bayes", "P(class)")
    assert answer.code == 1 and "a GaussianNB is no network of variables with states" in answer.err


# ---------------------------------------------------------------------- the other verbs


def test_dsep_says_yes_or_no_and_shows_the_trail(run, net):
    answer = run("dsep", net, "asia ; smoke")
    assert (answer.code, answer.out) == (0, "yes: asia ⊥ smoke\n")
    answer = run("dsep", net, "asia; smoke | xray")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "no: asia -> tub -> either <- lung <- smoke",
        "  either is a common effect: a consequence of it is given",
        "  given tub as well, they would be separated",
    ]
    assert run("dsep", net, "asia; smoke | either").out.splitlines()[1] == "  either is a common effect: it is given"
    assert "no further variables given would separate them" in run("dsep", net, "asia; tub").out


def test_dsep_for_machines(run, net):
    assert json.loads(run("dsep", net, "asia ; smoke, bronc", "--json").out) == {
        "question": "asia ; smoke, bronc",
        "d_separated": True,
    }
    document = json.loads(run("dsep", net, "asia ; xray", "--json").out)
    assert document["trail"] == {"nodes": ["asia", "tub", "either", "xray"], "arrows": ["->"] * 3}
    assert document["separated_by"] == ["tub"]


def test_dsep_shows_what_is_wrong(run, net):
    answer = run("dsep", net, "asia ; smok")
    assert answer.code == 2 and "there is no variable 'smok' (did you mean 'smoke'?), at line 1, column 8" in answer.err


def test_sample_writes_the_rows_of_the_library(run, net, tmp_path, monkeypatch):
    out = tmp_path / "rows.parquet"
    monkeypatch.setattr(queries, "BATCH_CELLS", 1)  # the fewest rows at a time
    assert run("sample", net, "-n", 40_000, "-o", out, "--seed", 3) == Answer(0, "", "")
    found = pyarrow.parquet.read_table(out)
    assert pyarrow.parquet.ParquetFile(out).num_row_groups == 3
    assert found.to_pandas().astype(str).equals(asia().sample(40_000, random_state=3).to_pandas().astype(str))


def test_sample_to_standard_output(run, net):
    answer = run("sample", net, "-n", 3)
    assert answer.code == 0
    assert len(answer.out.splitlines()) == 4 and answer.out.splitlines()[0].split(",") == [
        *BayesianNetwork.read(net).names
    ]
    assert run("sample", net, "-n", 0).code != 0


def test_convert_keeps_every_number_and_tells_what_was_lost(run, net, tmp_path):
    for suffix in ("xdsl", "net", "dsc", "xml", "bayes"):
        out = tmp_path / f"asia.{suffix}"
        answer = run("convert", net, out)
        assert answer.code == 0 and "8 variables, 8 edges" in answer.err
        written, read = BayesianNetwork.read(out), BayesianNetwork.read(net)
        for name in read.names:
            assert written.parents(name) == read.parents(name)
            assert np.array_equal(written.cpt(name).values, read.cpt(name).values)
    answer = run("convert", net, tmp_path / "asia.uai")
    assert answer.code == 0 and "the format has no names" in answer.err


def test_convert_tells_what_was_normalised(run, net, tmp_path):
    text = net.read_text()
    assert text.count("0.05, 0.95") >= 1
    net.write_text(text.replace("0.05, 0.95", "0.05, 0.9500001", 1))
    answer = run("convert", net, tmp_path / "b.net")
    assert answer.code == 0 and "normalised" in answer.err


def test_the_digits_of_a_file_are_told_where_the_file_is_looked_at_and_not_at_each_use(run, net, tmp_path):
    net.write_text(net.read_text().replace("0.05, 0.95", "0.05, 0.9500001", 1))
    assert run("query", net, "P(lung)").err == ""
    assert run("dsep", net, "asia ; smoke").err == ""
    again = tmp_path / "again.bif"
    again.write_text(net.read_text())
    assert "normalised; the largest difference is 1e-07" in run("inspect", again).err


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("query", ["P(lung)"]),
        ("dsep", ["asia ; smoke"]),
        ("sample", ["-n", "1"]),
        ("inspect", []),
        ("convert", ["out.xdsl.gz"]),
        ("compare-structures", ["asia.bif"]),
        ("score", ["rows.csv"]),
    ],
)
def test_every_verb_that_reads_a_network_takes_a_tolerance_and_compressed_files(
    run, net, verb, more, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    run("sample", net, "-n", "5", "-o", "rows.csv")
    packed = tmp_path / "asia.bif.gz"
    packed.write_bytes(gzip.compress(net.read_text().replace("0.05, 0.95", "0.05, 0.945", 1).encode()))
    answer = run(verb, packed, *more)
    assert answer.code == 0 and "asia.bif.gz: 1 rows of 1 tables" in answer.err
    answer = run(verb, packed, *more, "--tolerance", "0.001")
    assert answer.code == 1 and "asia.bif.gz:" in answer.err and "; a larger --tolerance lets it pass" in answer.err


def test_one_of_a_kind_is_told_as_one(run, tmp_path):
    path = tmp_path / "coin.bif"
    BayesianNetwork("coin", {"coin": {"head": 0.5, "tail": 0.5}}).write(path)
    assert "1 variable, 0 edges, 1 parameter\n" in run("convert", path, tmp_path / "coin.net").err
    assert " of 1 variable, 0 edges, 1 parameter\n" in run("inspect", path).out
    BayesianNetwork("a -> b", {"a": {"x": 0.5, "y": 0.5}, "b": [[0.5, 0.5]] * 2}, states={"b": ["n", "p"]}).write(path)
    assert "2 variables, 1 edge, 3 parameters\n" in run("convert", path, tmp_path / "coin.net").err


def test_convert_refuses_what_it_cannot_read_or_write(run, net, tmp_path):
    answer = run("convert", net, tmp_path / "asia.txt")
    assert answer.code == 1 and "is not known" in answer.err and not (tmp_path / "asia.txt").exists()
    answer = run("convert", tmp_path / "nowhere.bif", tmp_path / "b.net")
    assert answer.code == 1 and "nowhere.bif" in answer.err
    net.write_text("network x {} variable a {")
    answer = run("convert", net, tmp_path / "b.net")
    assert answer.code == 1 and "asia.bif:1:" in answer.err and "^" in answer.err


def test_inspect_shows_variables_sizes_and_a_forecast(run, net):
    answer = run("inspect", net)
    assert (answer.code, answer.err) == (0, "")
    assert "8 variables, 8 edges, 18 parameters" in answer.out
    (dysp,) = (line.split() for line in answer.out.splitlines() if line.split()[:1] == ["dysp"])
    assert dysp == ["dysp", "2:", "yes,", "no", "bronc,", "either", "table", "4"]
    assert "treewidth 2 at the most, 40 cells" in answer.out


def test_inspect_shows_tables_of_single_variables(run, net):
    answer = run("inspect", net, "--column", "dysp", "--column", "smoke")
    lines = [line.split() for line in answer.out.splitlines() if line.strip()]
    assert answer.out.startswith("P(dysp | bronc, either)")
    assert lines[1] == ["bronc", "either", "yes", "no"]
    assert lines[4] == ["yes", "no", "0.8000", "0.2000"]
    assert ["P(smoke)"] in lines
    assert run("inspect", net, "--column", "dysp", "--rows", 1).out.count("... and 3 more") == 1
    refused = run("inspect", net, "--column", "dys")
    assert refused.code == 1 and "there is no variable 'dys'; did you mean 'dysp'" in refused.err


def test_a_state_with_the_name_of_a_parent_keeps_a_column_of_its_own(run, tmp_path):
    path = tmp_path / "net.bif"
    BayesianNetwork("a -> b", {"a": {"x": 0.5, "y": 0.5}, "b": {"x": {"a": 0.1, "c": 0.9}, "y": [0.4, 0.6]}}).write(
        path
    )
    assert run("inspect", path, "--column", "b").out.splitlines()[1].split() == ["a", "b=a", "c"]


def test_inspect_shows_states_that_are_numbers_as_they_are_called(run, tmp_path):
    path = tmp_path / "net.bif"
    BayesianNetwork("probability", {"probability": [0.5, 0.5]}, states={"probability": [2019, 2020]}).write(path)
    lines = [line.split() for line in run("inspect", path, "--column", "probability").out.splitlines()]
    assert lines[1] == ["probability", "(probability)"]
    assert lines[3:5] == [["2019", "0.5000"], ["2020", "0.5000"]]


def test_inspect_for_machines(run, tmp_path):
    path = tmp_path / "net.bayes"
    network = BayesianNetwork(
        "flu -> fever",
        {"flu": {"yes": 0.1, "no": 0.9}, "fever": NoisyOr({"flu": {"yes": 0.8}}, leak=0.01, present="yes")},
        states={"fever": ["yes", "no"]},
    )
    save(network, path)
    document = json.loads(run("inspect", path, "--json", "--column", "fever").out)
    assert (document["n_variables"], document["n_edges"], document["treewidth"]) == (2, 1, 1)
    assert document["variables"][1] == {
        "name": "fever",
        "states": ["yes", "no"],
        "parents": ["flu"],
        "given_as": "noisy-or",
        "n_parameters": 2,
    }
    assert document["tables"]["fever"]["probability"] == network.cpt("fever").values.ravel().tolist()
    assert "tables" not in json.loads(run("inspect", path, "--json").out)


# ---------------------------------------------------------------------- editing


def test_an_edited_network_is_written(run, net, tmp_path):
    pd.DataFrame({"smoke": ["no", "yes"], "probability": [0.8, 0.2]}).to_csv(tmp_path / "smoke.csv", index=False)
    out = tmp_path / "new.bif"
    answer = run(
        *(
            "edit",
            net,
            "-o",
            out,
            "--remove-node",
            "xray",
            "--rename",
            "lung=cancer",
            "--reverse-edge",
            "smoke -> bronc",
        ),
        *("--add-node", "test: neg, pos", "--add-edge", "lung -> test", "--rename-state", "tub: yes=present"),
        *("--remove-edge", "asia -> tub", "--add-state", "test=unclear", "--remove-state", "test=neg"),
    )
    assert answer.code == 0, answer.err
    assert "8 variables, 7 edges" in answer.err
    found = BayesianNetwork.read(out)
    assert found.states("tub") == ("present", "no")
    assert found.states("test") == ("pos", "unclear")
    assert found.parents("test") == ("cancer",)
    assert found.parents("smoke") == ("bronc",)
    assert found.query("cancer", {"bronc": "yes"})["yes"] == pytest.approx(
        asia().query("lung", {"bronc": "yes"})["yes"]
    )
    answer = run(
        "edit", net, "-o", out, "--table", f"smoke={tmp_path / 'smoke.csv'}", "--blanket", "lung", "--do", "tub=no"
    )
    assert answer.code == 0, answer.err
    found = BayesianNetwork.read(out)
    assert set(found.names) == {"lung", "tub", "either", "smoke"}
    assert found.query("smoke")["yes"] == 0.2
    assert found.query("tub")["no"] == 1.0


def test_networks_are_merged(run, net, tmp_path):
    asia().subnetwork(["smoke", "bronc"]).with_names({"bronc": "cough"}).write(tmp_path / "other.bif")
    answer = run(
        "edit", net, "-o", tmp_path / "both.bif", "--merge", tmp_path / "other.bif", "--keep", "cough", "--keep", "lung"
    )
    assert answer.code == 0, answer.err
    assert BayesianNetwork.read(tmp_path / "both.bif").names == ("lung", "cough")


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        (["--remove-node", "lunge"], "lung"),
        (["--rename-state", "tub yes=ja"], "name: state=value, state=value is needed"),
        (["--add-edge", "a -> b -> c"], "names 2 edges; give one"),
        (["--do", "tub"], "node=state is needed"),
        (["--remove-state", "tub=maybe"], "has no state 'maybe'"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_and_writes_nothing(run, net, tmp_path, option, problem):
    answer = run("edit", net, "-o", tmp_path / "new.bif", *option)
    assert answer.code == 2
    assert problem in answer.err
    assert not (tmp_path / "new.bif").exists()


# ---------------------------------------------------------------------- analysis


def test_a_tornado_is_told_and_drawn(run, net, tmp_path):
    answer = run("sensitivity", net, "P(lung=yes | xray=yes)", "--most", "3", "--plot", tmp_path / "t.png")
    assert answer.code == 0, answer.err
    assert "= 0.488711" in answer.out
    assert "P(xray=no | either=no)" in answer.out
    assert (tmp_path / "t.png").stat().st_size > 1000
    told = json.loads(run("sensitivity", net, "P(lung=yes | xray=yes)", "--json").out)
    assert told["n_entries"] == 36
    assert told["posterior"] == pytest.approx(asia().query("lung", {"xray": "yes"})["yes"])
    assert run("sensitivity", net, "P(lung | xray=yes)").code == 2


def test_a_tornado_in_no_format_of_pictures_is_refused(run, net, tmp_path):
    answer = run("sensitivity", net, "P(lung=yes)", "--plot", tmp_path / "a.xyz")
    assert answer.code == 2 and "is no format of pictures" in answer.err


def test_a_variable_that_is_given_twice_is_refused(run, net, tmp_path):
    answer = run("draw", net, "-o", tmp_path / "a.svg", "-g", "lung=yes", "-g", "lung=no")
    assert answer.code == 2 and "'lung' is given twice: 'yes' and 'no'" in answer.err


def test_a_tornado_of_an_intervention_leaves_out_what_is_set(run, net):
    told = json.loads(run("sensitivity", net, "P(lung=yes | do(bronc=yes), dysp=yes)", "--json", "--most", "99").out)
    assert told["posterior"] == pytest.approx(asia().do(bronc="yes").query("lung", {"dysp": "yes"})["yes"])
    moved = {one["entry"] for one in told["entries"] if abs(one["derivative"]) > 1e-12}
    assert "P(lung=yes | smoke=yes)" in moved
    assert not any(entry.startswith("P(bronc") for entry in moved)


def test_most_probable_states_are_asked_for_in_words(run, net):
    answer = run("query", net, "MPE(xray=yes)", "--k-best", "3", "--json")
    expected = asia().most_probable_explanations(3, {"xray": "yes"})
    assert [one["states"] for one in json.loads(answer.out)["explanations"]] == [one.states for one in expected]
    assert "0.2351" in run("query", net, "MPE(xray=yes)", "--k-best", "3").out
    assert "--k-best is for MPE" in run("query", net, "P(lung)", "--k-best", "3").err
    answer = run("query", net, "MAP(lung, bronc | do(smoke=yes), xray=yes)")
    assert answer.out.split()[:4] == ["lung", "yes", "bronc", "yes"]
    assert run("query", net, "MAP(lung | xray)").code == 2


def test_soft_evidence_is_given_in_words(run, net):
    answer = run("query", net, "P(lung=yes | xray=yes)", "--soft", "dysp: yes=0.8, no=0.3", "--json")
    expected = asia().query("lung", {"xray": "yes"}, soft_evidence={"dysp": [0.8, 0.3]})["yes"]
    assert json.loads(answer.out)["states"][0]["probability"] == pytest.approx(expected)
    assert "gives 'much' as a likelihood" in run("query", net, "P(lung)", "--soft", "dysp: yes=much, no=1").err
    assert "'dysp' has no state 'maybe'" in run("query", net, "P(lung)", "--soft", "dysp: yes=2, maybe=1").err


def test_missing_cells_of_a_file_are_filled_in(run, net, rows, tmp_path):
    frame = pd.read_csv(rows, dtype=str).drop(index=7)
    frame.to_csv(rows, index=False)
    answer = run("impute", net, rows, "--ignore", "id", "-o", tmp_path / "whole.csv")
    assert answer.code == 0, answer.err
    found = pd.read_csv(tmp_path / "whole.csv", dtype=str)
    expected = asia().impute(frame.drop(columns="id")).astype(str)
    assert (found.to_numpy() == expected.to_numpy()).all()


def test_a_network_is_drawn(run, net, tmp_path):
    assert run("draw", net, "-o", tmp_path / "a.svg", "--given", "xray=yes").code == 0
    assert (tmp_path / "a.svg").read_text() == asia().to_svg({"xray": "yes"})
    assert run("draw", net, "-o", tmp_path / "a.dot").code == 0
    assert "digraph" in (tmp_path / "a.dot").read_text()
    assert run("draw", net, "-o", tmp_path / "a.gif").code == 2


# ---------------------------------------------------------------------- decisions

UMBRELLA = """<smile version="1.0" id="net"><nodes>
<cpt id="rain"><state id="yes" /><state id="no" /><probabilities>0.3 0.7</probabilities></cpt>
<cpt id="forecast"><state id="wet" /><state id="fine" /><parents>rain</parents>
<probabilities>0.8 0.2 0.1 0.9</probabilities></cpt>
<decision id="umbrella"><state id="take" /><state id="leave" /><parents>forecast</parents></decision>
<utility id="comfort"><parents>umbrella rain</parents><utilities>7 5 0 10</utilities></utility>
</nodes></smile>"""


def test_a_policy_is_told_and_what_more_knowledge_is_worth(run, tmp_path):
    path = tmp_path / "umbrella.xdsl"
    path.write_text(UMBRELLA)
    answer = run("policy", path, "--information")
    assert answer.code == 0, answer.err
    assert "expected utility 8.33" in answer.out
    assert [line.split()[:2] for line in answer.out.splitlines()[3:5]] == [["wet", "take"], ["fine", "leave"]]
    assert answer.out.split()[-2:] == ["rain", "0.77"]
    told = json.loads(run("policy", path, "--reliability", "0.9", "--json").out)
    assert 0 < told["value_of_information"]["worth"]["rain"] < 0.77
    told = json.loads(run("policy", path, "--given", "rain=yes", "--information", "--json").out)
    assert told["expected_utility"] == 7
    assert told["value_of_information"]["worth"] == {}  # nothing is left to know
    assert run("policy", path, "--given", "sun=yes").code == 2
