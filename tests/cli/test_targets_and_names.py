"""What a command says of a target that cannot be one, of classes of a single row, and of columns without names."""

import json
import shlex
import warnings

import pyarrow as pa
import pytest
from tests.cli.people import COLUMNS, TARGET, people, write_csv

from bayeswater import load


@pytest.fixture
def coded(run, tmp_path):
    """Make a model whose classes are numbers, and its file."""
    table = people()
    coded = pa.array([1 if label == "high" else 0 for label in table[TARGET].to_pylist()])
    data = write_csv(table.set_column(table.column_names.index(TARGET), TARGET, coded), tmp_path / "coded.csv")
    assert run("fit", data, "-t", TARGET, "-o", tmp_path / "coded.bayes", "--ignore", "job").code == 0
    return data, tmp_path / "coded.bayes"


@pytest.mark.parametrize("verb", ["evaluate", "forget"])
def test_a_wrong_target_is_named_as_such_with_the_classes_of_the_model(run, coded, verb):
    data, model = coded
    answer = run(verb, model, data, "-t", "job")
    assert answer.code == 1
    assert f"column 'job' holds 'clerk', and the classes of {model} are 0, 1; is 'job' the right column?" in answer.err


@pytest.mark.parametrize("verb", ["evaluate", "forget"])
def test_a_target_that_the_model_predicts_from_is_refused(run, coded, verb):
    data, model = coded
    answer = run(verb, model, data, "-t", "age")
    assert (answer.code, answer.out) == (2, "")
    assert "--target age names a column that" in answer.err and "its classes, 0, 1" in answer.err
    assert run("fit", data, "-t", "age", "-o", data.with_name("like.bayes"), "--like", model).err == answer.err


@pytest.mark.parametrize("model", ["naive-bayes", "ensemble"])
def test_a_target_that_names_the_rows_is_refused_before_anything_is_learned(run, folder, model):
    table = people(100)
    names = write_csv(table.append_column("name", [[f"p{i}" for i in range(100)]]), folder / "names.csv")
    answer = run("fit", names, "-t", "name", "-o", folder / "m.bayes", "--model", model)
    assert (answer.code, answer.out) == (1, "")
    assert len(answer.err.splitlines()) == 1
    assert "each of 100 rows has a value of its own in 'name', such as 'p0'" in answer.err
    assert answer.err.count("names.csv") == 1
    assert not (folder / "m.bayes").exists()


def test_a_row_of_totals_is_warned_of(run, folder):
    totals = people(1).set_column(5, TARGET, pa.array(["Total"]))
    data = write_csv(pa.concat_tables([people(), totals]), folder / "totals.csv")
    answer = run("fit", data, "-t", TARGET, "-o", folder / "m.bayes")
    assert answer.code == 0
    assert "warning: a class has a single row: 'Total'; if that is no class, but a row of totals" in answer.err


def test_many_classes_are_told_in_few_lines_and_no_figure_is_nan(run, folder):
    data = folder / "many.csv"
    data.write_text("x,c\n" + "".join(f"{i % 7},{i % 160}\n" for i in range(400)))
    fitted = run("fit", data, "-t", "c", "-o", folder / "many.bayes")
    assert "... and 60 more" in fitted.err
    evaluated = run("evaluate", folder / "many.bayes", data, "-t", "c")
    assert "Most frequent confusions of 160 classes" in " ".join(evaluated.out.split())  # wrapped like the table
    assert len(evaluated.out.splitlines()) < 50
    assert len(json.loads(run("evaluate", folder / "many.bayes", data, "-t", "c", "--json").out)["confusion"]) == 160


@pytest.mark.parametrize(
    ("rows", "told"),
    [("1,a\n", "all rows have 'a' in 'c'"), ("1,a\n2,b\n3,c\n", "3 of 3 classes in 'c' have a single row")],
)
def test_a_file_of_lone_rows_is_fitted_with_words_in_place_of_nan(run, tmp_path, rows, told):
    data = tmp_path / "few.csv"
    data.write_text("x,c\n" + rows)
    answer = run("fit", data, "-t", "c", "-o", tmp_path / "few.bayes")
    assert answer.code == 0
    assert told in answer.err and "No row can be left out in turn" in answer.err and "nan" not in answer.err
    certain = run("evaluate", tmp_path / "few.bayes", data, "-t", "c").out
    assert "nan" not in certain and "-0.0000" not in certain


# ---------------------------------------------------------------------- columns without names


@pytest.fixture
def nameless(run, tmp_path):
    """Make a file without a header, its target first, the same without the target, and a model of it."""
    table = people().select([TARGET, *COLUMNS])
    files = tmp_path / "labelled.csv", tmp_path / "unlabelled.csv"
    for path, columns in zip(files, (table, table.select(COLUMNS)), strict=True):
        path.write_bytes(write_csv(columns, path).read_bytes().split(b"\n", 1)[1])
    assert run("fit", files[0], "--no-header", "-t", "x0", "-o", tmp_path / "m.bayes").code == 0
    return (*files, tmp_path / "m.bayes")


def test_rows_without_a_target_are_predicted_by_a_model_of_a_file_without_a_header(run, nameless):
    labelled, unlabelled, model = nameless
    expected = run("predict", model, labelled, "--no-header")
    found = run("predict", model, unlabelled, "--no-header")
    assert (found.code, found.out, expected.err) == (0, expected.out, "")
    assert "has no target column; its columns are read as x1, x2, x3, x4, x5" in found.err
    piped = run("predict", model, "-", "--no-header", stdin=unlabelled.read_bytes())
    assert piped.out == expected.out
    assert run("explain", model, unlabelled, "--no-header").out == run("explain", model, labelled, "--no-header").out


def test_names_stand_in_for_a_header_and_the_advice_to_give_them_works(run, folder, nameless):
    labelled, unlabelled, _ = nameless
    named = run("fit", labelled, "--names", ",".join([TARGET, *COLUMNS]), "-t", TARGET, "-o", folder / "named.bayes")
    assert named.code == 0
    refused = run("predict", folder / "named.bayes", unlabelled)
    advice = refused.err.partition("needs ")[2].partition(", in the order")[0]
    assert advice.startswith("--names")
    answer = run("predict", folder / "named.bayes", unlabelled, *shlex.split(advice))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == run("predict", folder / "people.bayes", folder / "people.csv").out


def test_names_that_are_too_few_are_refused(run, folder, nameless):
    answer = run("predict", folder / "people.bayes", nameless[1], "--names", "age,hours")
    assert answer.code == 1
    assert "unlabelled.csv: 2 names are given for 5 columns (age, hours)" in answer.err


def test_a_first_row_that_looks_like_data_is_not_silently_a_header(run, nameless, tmp_path):
    labelled, unlabelled, _ = nameless
    refused = run("fit", unlabelled, "-t", "income", "-o", tmp_path / "x.bayes")
    assert refused.code == 1
    assert "if the first row is no header, say --no-header" in refused.err
    learned = run("learn", labelled, "-o", tmp_path / "x.bif", "--method", "tree")
    assert learned.code == 0
    assert "labelled.csv: the first row is read as a header, " in learned.err and "say --no-header" in learned.err
    assert "header" not in run("learn", labelled, "-o", tmp_path / "x.bif", "--method", "tree", "--no-header").err


def test_a_file_of_more_columns_is_told_how_many_names_it_needs(run, folder, nameless):
    answer = run("evaluate", folder / "people.bayes", nameless[0], "-t", TARGET)
    assert "(a file without a header needs --names, with 6 names in the order of its columns)" in answer.err
    named = run("evaluate", folder / "people.bayes", nameless[0], "-t", TARGET, "--names", ",".join([TARGET, *COLUMNS]))
    assert (named.code, named.err) == (0, "")


# ---------------------------------------------------------------------- models that cannot be


def test_gaussian_classes_say_which_column_to_leave_out_and_it_can_be_left_out(run, folder):
    data = folder / "people.csv"
    refused = run("fit", data, "-t", TARGET, "-o", folder / "g.bayes", "--model", "gaussian-full")
    assert "leave it out with --ignore, or take --model naive-bayes" in refused.err
    left_out = [word for name in ("job", "member", "born") for word in ("--column", f"{name}=ignored")]
    fitted = run("fit", data, "-t", TARGET, "-o", folder / "g.bayes", "--model", "gaussian-full", *left_out)
    assert fitted.code == 0 and "2 columns" in fitted.err


def test_a_comparison_without_a_model_is_an_error_and_no_empty_table(run, folder):
    answer = run("compare", folder / "people.csv", "-t", TARGET, "--model", "gaussian-full")
    assert (answer.code, answer.out) == (1, "")
    assert "no model could be fitted; Gaussian, full: failed: " in answer.err


def test_what_is_no_model_is_named_with_what_is_one(run, folder):
    swapped = run("predict", folder / "people.csv", folder / "people.bayes")
    assert swapped.code == 1 and "give one that `save` or `bayeswater fit` wrote" in swapped.err
    (folder / "asia.bif").write_text("network asia {\n}\n")
    network = run("evaluate", folder / "asia.bif", folder / "people.csv", "-t", TARGET)
    assert network.code == 1 and "verbs such as `bayeswater query`" in network.err
    (folder / "empty.bayes").write_bytes(b"")
    assert "it is no model file: it is empty" in run("inspect", folder / "empty.bayes").err


def test_a_warning_that_no_verb_foresaw_is_told_without_a_place_in_the_code(run, folder, monkeypatch):
    def load_with_warning(path):
        warnings.warn("digits were lost", RuntimeWarning, stacklevel=1)
        return load(path)

    monkeypatch.setattr("bayeswater.models.persistence.load", load_with_warning)
    other = people(100, seed=3)
    assert (
        run(
            "fit",
            write_csv(other, folder / "o.csv"),
            "-t",
            TARGET,
            "-o",
            folder / "o.bayes",
            "--like",
            folder / "people.bayes",
        ).code
        == 0
    )
    answer = run("merge", folder / "people.bayes", folder / "o.bayes", "-o", folder / "sum.bayes")
    assert answer.code == 0
    assert answer.err.splitlines()[0] == "warning: digits were lost"


# ---------------------------------------------------------------------- targets that cannot be


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.csv"
    rows = [f"{i % 5},{'ab'[i % 2]},{i * 1.25 if i != 7 else ''}\n" for i in range(1, 91)]
    path.write_text("x,colour,price\n" + "".join(rows))
    return path


@pytest.mark.parametrize("verb", ["fit", "compare"])
def test_a_target_of_amounts_is_refused_with_the_option_that_bins_it(run, prices, tmp_path, verb):
    options = ["-o", tmp_path / "m.bayes"] if verb == "fit" else ["--model", "naive-bayes"]
    answer = run(verb, prices, "-t", "price", *options)
    assert answer.code == 1
    assert "each of 89 rows has a value of its own in 'price', such as 1.25: that is an amount" in answer.err
    assert answer.err.endswith("bin it: --target-bins 3\n")
    answer = run(verb, prices, "-t", "price", *options, "--target-bins", 3, "--json")
    assert answer.code == 0
    assert json.loads(answer.out).get("n_rows") == 89


def test_amounts_are_binned_alike_when_a_model_is_evaluated(run, prices, tmp_path):
    model = tmp_path / "m.bayes"
    assert run("fit", prices, "-t", "price", "-o", model, "--target-bins", 3).code == 0
    assert load(model).classes_.tolist() == ["38.75 to 75", "over 75", "up to 38.75"]
    assert load(model).class_count_.tolist() == [29, 30, 30]
    evaluated = json.loads(run("evaluate", model, prices, "-t", "price", "--json").out)
    assert evaluated["n_rows"] == 89 and evaluated["n_rows_of_unknown_class"] == 0
    assert run("report", model, prices, "-t", "price", "-o", tmp_path / "m.html").code == 0
    assert "is no HTML file" in run("report", model, prices, "-t", "price", "-o", tmp_path / "m.pdf").err
    few = tmp_path / "few.csv"
    few.write_text("".join(prices.read_text().splitlines(keepends=True)[:4]))
    assert run("forget", model, few, "-t", "price", "-o", tmp_path / "n.bayes").code == 0
    assert load(tmp_path / "n.bayes").class_count_.tolist() == [29, 30, 27]
    few.write_text("x,colour,price\n1,a,1e9\n2,b,-3\n")
    assert sum(map(sum, json.loads(run("evaluate", model, few, "-t", "price", "--json").out)["confusion"])) == 2


def test_amounts_of_money_are_amounts_as_targets_too(run, tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.bayes"
    path.write_text("x;price\n" + "".join(f"{i % 3};{i * 37},50 €\n" for i in range(1, 91)) + "1;n/a\n2;n/a\n")
    answer = run("fit", path, "-t", "price", "-o", model)
    assert "'price' has 91 different numbers in 92 rows, which look like amounts" in answer.err
    assert "bin it: --target-bins 3" in run("look", path, "-t", "price").out
    assert run("fit", path, "-t", "price", "-o", model, "--target-bins", 3).code == 0
    assert load(model).class_count_.tolist() == [30, 30, 30]
    assert json.loads(run("evaluate", model, path, "-t", "price", "--json").out)["n_rows"] == 90
    few = tmp_path / "few.csv"
    few.write_text("".join(path.read_text().splitlines(keepends=True)[:11]))
    assert run("forget", model, few, "-t", "price").code == 0
    assert load(model).class_count_.tolist() == [30, 30, 20]


def test_whole_numbers_that_look_like_amounts_are_warned_of(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 3},{(i * 37) % 60}\n" for i in range(80)))
    answer = run("fit", path, "-t", "y", "-o", tmp_path / "m.bayes")
    assert answer.code == 0
    assert "'y' has 60 different numbers in 80 rows, which look like amounts" in answer.err
    assert "bin it: --target-bins 3" in answer.err


def test_classes_of_few_rows_are_left_out_on_request(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 3},{'ab'[i % 2]}\n" for i in range(40)) + "1,c\n1,\n2,d\n2,d\n")
    told = run("fit", path, "-t", "y", "-o", tmp_path / "m.bayes")
    assert "a class has a single row: 'c'" in told.err and "--min-class-rows 2" in told.err
    assert "a class has a single row: 'c'" in run("compare", path, "-t", "y", "--model", "naive-bayes").err
    answer = run("fit", path, "-t", "y", "-o", tmp_path / "m.bayes", "--min-class-rows", 3)
    assert answer.code == 0
    assert "2 classes in 'y' have fewer than 3 rows: 'c', 'd'; 3 rows are left out" in answer.err
    assert "1 row has no value in 'y' and was left out" in answer.err
    assert load(tmp_path / "m.bayes").classes_.tolist() == ["a", "b"]
    answer = run("fit", path, "-t", "y", "-o", tmp_path / "m.bayes", "--min-class-rows", 100)
    assert answer.code == 1 and "no class in 'y' has 100 rows" in answer.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target-bins", "1"], "--target-bins"),
        (["--target-bins", "3", "--min-class-rows", "2"], "leave out --min-class-rows"),
        (["--target-bins", "3", "--checkpoint", "c"], "leave it out"),
    ],
)
def test_options_of_targets_that_make_no_sense_are_refused(run, prices, tmp_path, options, message):
    answer = run("fit", prices, "-t", "price", "-o", tmp_path / "m.bayes", *options)
    assert answer.code == 2 and message in answer.err


def test_fractions_that_are_refused_are_not_said_to_be_learned_and_days_are_named_as_days(run, tmp_path):
    rows = [f"{i % 7},{i % 99 + 0.25},2024-{i // 28 + 1:02}-{i % 28 + 1:02}" for i in range(100)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,price,day", *rows]) + "\n")
    answer = run("fit", tmp_path / "rows.csv", "-t", "price", "-o", tmp_path / "m.bayes")
    assert answer.code == 1
    assert "learned as classes" not in answer.err
    assert "bin it: --target-bins 3" in answer.err
    answer = run("fit", tmp_path / "rows.csv", "-t", "day", "-o", tmp_path / "m.bayes")
    assert "a value of its own in 'day', such as '2024-01-01': that names the rows" in answer.err
