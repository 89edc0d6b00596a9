"""`fit(source, target=...)`: which columns are read how often, and what is refused."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.base import clone
from tests.models.streaming.pieces import Pieces

from bayeswater import (
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesWarning,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    DataError,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    ParameterError,
    ResourceLimitError,
    SchemaError,
)
from bayeswater.kernels import number_columns
from bayeswater.models.streaming import grouping, labelled
from bayeswater.statistics import key_counts

N = 300
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 3, N)
TABLE = pa.table(
    {
        "kind": RNG.choice(["low", "mid", "high"], N),
        "size": RNG.normal(size=N) + CODES,
        "visits": RNG.poisson(2 + CODES),
        "weight": RNG.integers(1, 3, N),
        "income": np.array(["none", "some", "much"])[CODES],
    }
)
NUMBERS = TABLE.select(["size", "visits", "income"])


@pytest.fixture(autouse=True)
def few_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first rows be fewer than all."""
    monkeypatch.setattr(labelled, "SAMPLED", 50)


def pieces(table: pa.Table = TABLE, n: int = 4, **given: Any) -> Pieces:
    step = -(-table.num_rows // n)
    return Pieces([table.slice(start, step) for start in range(0, table.num_rows, step)], **given)


# ---------------------------------------------------------------------- passes


@pytest.mark.parametrize(
    ("model", "table", "n_passes"),
    [
        (NaiveBayes(), TABLE, 1),
        (NaiveBayes(calibrate=True), TABLE, 2),
        (NaiveBayes(columns={"size": "mdl"}, calibrate=True), TABLE, 3),  # few rows are dealt by a pass of their own
        (GaussianNB(), NUMBERS, 1),
        (MultinomialNB(), NUMBERS.select(["visits", "income"]), 1),
        (GaussianClassifier(), NUMBERS, 1),
        (GaussianClassifier(covariance="shared", calibrate=True), NUMBERS, 2),
        (GaussianClassifier(shrinkage="auto", calibrate=True), NUMBERS, 3),
        (AODE(), TABLE, 2),
        (AODE(calibrate=True), TABLE, 4),
        (AODE(select=True), TABLE, 3),
        (TAN(), TABLE, 2),
        (SPODE("kind"), TABLE, 2),
        (SPODE(), TABLE, 3),
        (KDB(), TABLE, 3),
        (KDB(parents={"size": ["kind"]}), TABLE, 2),
        (SKDB(1), TABLE, 4),
        (SKDB(1, calibrate=True), TABLE, 6),
        (AODE(columns={"size": {"cuts": [0.0, 1.0]}, "visits": "categorical", "weight": "categorical"}), TABLE, 1),
    ],
    ids=str,
)
def test_rows_are_read_as_often_as_the_model_needs_and_not_more(model, table, n_passes):
    rows = pieces(table)
    model.fit(rows, target="income")
    assert rows.n_passes == n_passes
    assert model.class_count_.sum() == N
    assert hasattr(model, "calibration_") == getattr(model, "calibrate", False)


def test_a_pass_over_numbers_reads_nothing_else():
    rows = pieces()
    AODE().fit(rows, target="income", sample_weight="weight")
    assert rows.columns_read[0] == ["size", "visits", "income", "weight"]


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (
            AODE(),
            r"AODE looks at all rows of 'size', 'visits', 'weight' before it counts them, .* unless columns= says",
        ),
        (
            KDB(columns={"size": {"cuts": [0.0]}, "visits": "categorical", "weight": "categorical"}),
            "parents= names them",
        ),
        (NaiveBayes(calibrate=True), "calibrate=True reads the rows twice"),
        (GaussianClassifier(shrinkage="auto"), "shrinkage='auto' reads the rows twice"),
    ],
    ids=str,
)
def test_rows_that_can_be_read_but_once_are_refused_before_they_are_read(model, why):
    table = NUMBERS if isinstance(model, GaussianClassifier) else TABLE
    rows = pieces(table, once=True)
    with pytest.raises(ParameterError, match=f"{why}.*, and the pieces can be read only once; give a file"):
        model.fit(rows, target="income")
    assert rows.n_passes == 0
    assert not hasattr(model, "statistics_")


def test_one_reading_of_rows_that_can_be_read_but_once_is_enough_where_the_model_needs_no_more():
    assert NaiveBayes().fit(pieces(once=True), target="income").class_count_.sum() == N
    cut = {"size": {"cuts": [0.0]}, "visits": "categorical", "weight": "categorical"}
    assert AODE(columns=cut).fit(pieces(once=True), target="income").class_count_.sum() == N


# ---------------------------------------------------------------------- frames, files and iterators


SOURCES = {
    "pyarrow": lambda path: TABLE,
    "pandas": lambda path: TABLE.to_pandas(),
    "polars": lambda path: pl.from_arrow(TABLE),
    "path": lambda path: path,
    "name": str,
    "pattern": lambda path: str(path.parent / "*.parquet"),
    "dataset": lambda path: pyarrow.dataset.dataset(path),
    "lazy frame": lambda path: pl.scan_parquet(path),
    "iterator": lambda path: iter(TABLE.to_batches(max_chunksize=70)),
    "reader": lambda path: TABLE.to_reader(max_chunksize=70),
}


@pytest.mark.parametrize("n_first", [50, 1000])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_makes_the_same_model(source, n_first, tmp_path, monkeypatch):
    import pyarrow.dataset

    monkeypatch.setattr(labelled, "SAMPLED", n_first)
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path, row_group_size=64)
    model = NaiveBayes(family="binned").fit(source(path), target="income", sample_weight="weight")
    X = TABLE.drop_columns(["income", "weight"])
    expected = NaiveBayes(family="binned").fit(X, TABLE["income"], TABLE["weight"])
    assert model.statistics_ == expected.statistics_
    assert model.feature_names_in_.tolist() == X.column_names


@pytest.mark.parametrize("model", [MultinomialNB(), ComplementNB(), BernoulliNB(binarize=2), CategoricalNB()], ids=str)
def test_the_drop_ins_count_pieces_as_all_rows_at_once(model):
    table = TABLE.select(["visits", "weight", "income"])
    found = clone(model).fit(pieces(table), target="income")
    expected = clone(model).fit(table.drop_columns(["income"]), table["income"])
    assert found.statistics_ == expected.statistics_
    np.testing.assert_array_equal(found.classes_, expected.classes_)


def test_the_wider_type_of_a_late_cell_is_told_and_read_from_the_start(tmp_path, monkeypatch):
    from bayeswater.data.sources import delimited

    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**9)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**9)
    path = tmp_path / "rows.csv"
    path.write_text("grade,y\n" + "".join(f"{i % 3},{'ab'[i % 2]}\n" for i in range(500)) + "A,b\n")
    with pytest.warns(BayesWarning, match="grade.* is read again in a type that fits"):
        model = NaiveBayes().fit(path, target="y")
    assert model.columns_["grade"].family == "categorical"
    assert model.class_count_.sum() == 501


# ---------------------------------------------------------------------- labels and weights


@pytest.mark.parametrize("how", ["pieces", "pandas", "polars", "pyarrow"])
def test_rows_without_a_label_are_left_out_with_a_warning(how):
    labels = pa.array([None if i % 10 == 3 else label for i, label in enumerate(TABLE["income"].to_pylist())])
    table = TABLE.set_column(4, "income", labels)
    source = {"pieces": pieces(table), "pandas": table.to_pandas(), "polars": pl.from_arrow(table), "pyarrow": table}
    with pytest.warns(BayesWarning, match="30 rows have no value in 'income' and were left out"):
        model = NaiveBayes().fit(source[how], target="income")
    assert model.class_count_.sum() == N - 30


@pytest.mark.parametrize("model", [GaussianNB(), GaussianClassifier()], ids=str)
def test_all_rows_without_a_label_are_told_of_and_not_the_first_alone(model):
    labels = [None if i > 250 else label for i, label in enumerate(TABLE["income"].to_pylist())]
    with pytest.warns(BayesWarning, match="49 rows have no value in 'income'"):
        model.fit(pieces(NUMBERS.set_column(2, "income", pa.array(labels))), target="income")


def test_numbers_as_labels_stay_whole_numbers_where_some_are_missing():
    table = NUMBERS.set_column(2, "income", pa.array([None if i % 7 == 0 else i % 3 for i in range(N)]))
    with pytest.warns(BayesWarning, match="no value in 'income'"):
        model = GaussianNB().fit(pieces(table), target="income")
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.classes_.dtype == np.int64


def test_a_piece_without_a_row_that_counts_is_passed_over():
    weight = np.repeat([1, 0, 2, 0], N // 4)
    table = TABLE.set_column(3, "weight", pa.array(weight))
    found = NaiveBayes(family="binned").fit(pieces(table), target="income", sample_weight="weight")
    X = table.drop_columns(["income", "weight"])
    assert found.statistics_ == NaiveBayes(family="binned").fit(X, table["income"], weight).statistics_


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"target": "Incom"}, SchemaError, r"the pieces: there is no target column 'Incom'; did you mean 'income'\?"),
        ({"target": "income", "sample_weight": "wight"}, SchemaError, "no column of weights 'wight'; did you mean 'w"),
        ({"target": "income", "sample_weight": "kind"}, DataError, "the column of weights 'kind' holds string, and we"),
        ({"target": "income", "sample_weight": [1]}, ParameterError, "sample_weight must be the name of a column"),
        ({"target": "income", "y": [1]}, ParameterError, "so there is no y to give"),
        ({"target": 3}, ParameterError, "target is 3; give the name of the column of labels"),
        ({"target": "income", "checkpoint": "x"}, ParameterError, "the pieces is counted by an engine"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_nearest_that_can(given, error, message):
    with pytest.raises(error, match=message):
        NaiveBayes().fit(pieces(), **given)
    if given["target"] == "Incom":
        with pytest.raises(error, match="there is no target column 'Incom' in X; did you mean 'income'"):
            NaiveBayes().fit(TABLE, **given)


@pytest.mark.parametrize("read", [lambda table: table, pieces], ids=["in memory", "pieces"])
def test_a_column_of_labels_holds_nothing_else_and_one_of_weights_may_be_predicted_from(read):
    model = AODE().fit(TABLE.drop_columns(["weight"]), target="income")
    with pytest.raises(SchemaError, match=r"the model predicts from 'kind', the target column; name the one that"):
        model.score(read(TABLE), target="kind")
    with pytest.raises(SchemaError, match="'income' is named for labels and for weights; name two columns"):
        AODE().fit(read(TABLE), target="income", sample_weight="income")
    expected = model.score(TABLE, TABLE["income"], np.asarray(TABLE["visits"]))
    assert model.score(read(TABLE), target="income", sample_weight="visits") == pytest.approx(expected, rel=1e-12)


def test_arrays_have_no_target_column_and_sources_no_labels_beside_them():
    with pytest.raises(DataError, match="X is a ndarray, whose columns have no names"):
        NaiveBayes().fit(np.eye(3), target="income")
    with pytest.raises(DataError, match=r"the target y is None\. Give y, or with target= the name"):
        NaiveBayes().fit(TABLE)


def test_sources_without_rows_or_labels_are_refused():
    with pytest.raises(DataError, match="the pieces has no rows"):
        NaiveBayes().fit(Pieces([TABLE.slice(0, 0)]), target="income")
    empty = TABLE.set_column(4, "income", pa.nulls(N, pa.string()))
    with pytest.raises(DataError, match="none of the first 50 rows has a value in 'income', and they tell"):
        NaiveBayes().fit(pieces(empty), target="income")
    with pytest.raises(DataError, match="there is no column beside 'income' to learn from"):
        NaiveBayes().fit(pieces(TABLE.select(["income"])), target="income")


@pytest.mark.parametrize("model", [NaiveBayes(), AODE()], ids=str)
def test_a_column_of_too_many_categories_is_named(model, monkeypatch):
    monkeypatch.setattr(grouping, "MOST_CATEGORIES", 100)
    table = TABLE.add_column(0, "name", pa.array([f"n {i // 2} b" if i > 60 else "first one" for i in range(N)]))
    with pytest.raises(
        ResourceLimitError,
        match=r"column 'name' has \d+ categories, over 100; .*out of the source.*columns=\{'name': 'ig",
    ):
        model.fit(pieces(table), target="income")


def test_em_needs_all_rows_at_once():
    with pytest.raises(ParameterError, match="missing='em' looks at all rows again and again, and the pieces"):
        GaussianClassifier(missing="em").fit(pieces(NUMBERS), target="income")


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("weight", -1, "sample_weight is -1 in row 79"),
        ("weight", None, "sample_weight is nan in row 79"),
        ("size", np.inf, "inf in row 79, c"),
    ],
)
def test_a_bad_cell_is_named_by_its_file_and_row_though_rows_without_a_label_were_left_out(
    column, cell, message, tmp_path
):
    cells, labels = TABLE[column].to_pylist(), TABLE["income"].to_pylist()
    cells[78] = cell
    labels[3] = labels[5] = labels[200] = None
    table = TABLE.set_column(4, "income", pa.array(labels))
    table = table.set_column(table.column_names.index(column), column, pa.array(cells))
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table, path)
    for n_first in (50, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(labelled, "SAMPLED", n_first)
            with pytest.raises(DataError, match=rf"rows\.parquet, rows 1 to 300: .*{message}"):
                NaiveBayes().fit(path, target="income", sample_weight="weight")


# ---------------------------------------------------------------------- how far it has come


def test_progress_is_told_to_a_function_or_on_standard_error(tmp_path, capsys, monkeypatch):
    from bayeswater.models.streaming import sources

    monkeypatch.setattr(sources, "EVERY_SECONDS", 0.0)
    path, told = tmp_path / "rows.parquet", []
    pyarrow.parquet.write_table(TABLE, path)
    NaiveBayes(calibrate=True).fit(path, target="income", progress=told.append)
    assert [(done.n_rows, done.total_rows, done.fraction) for done in told] == [(N, N, 1.0)] * 2
    assert capsys.readouterr().err == ""
    NaiveBayes().fit(path, target="income", progress=True)
    assert "300 rows, 100 %" in capsys.readouterr().err
    with pytest.raises(ParameterError, match="progress is 3; give True, or a function"):
        NaiveBayes().fit(path, target="income", progress=3)


# ---------------------------------------------------------------------- late columns


@pytest.mark.parametrize("model", [NaiveBayes(family="binned"), AODE(), TAN()], ids=str)
def test_columns_without_a_value_in_the_first_rows_are_read_as_in_one_fit(model):
    n_empty = 100
    late = {
        "town": pa.array([None] * n_empty + ["Ulm", "Bonn"] * (N // 2 - n_empty // 2)),
        "flag": pa.array([None] * n_empty + [True, False] * (N // 2 - n_empty // 2)),
        "bit": pa.array([None] * n_empty + [0, 1] * (N // 2 - n_empty // 2)),
        "age": pa.array([None] * n_empty + RNG.integers(18, 90, N - n_empty).tolist()),
        "never": pa.nulls(N, pa.float64()),
    }
    table = pa.table({**dict(zip(TABLE.column_names, TABLE.columns, strict=True)), **late})
    with pytest.warns(BayesWarning, match="column 'never' is left out: no cell has a value"):
        found = type(model)(**model.get_params()).fit(pieces(table), target="income")
    with pytest.warns(BayesWarning, match="'never'"):
        expected = model.fit(table.drop_columns(["income"]), table["income"])
    assert found.columns_ == expected.columns_
    assert found.statistics_ == expected.statistics_


def test_a_late_column_on_which_pieces_do_not_agree_is_left_out_with_a_warning():
    cells = [None] * 150 + ["yes", "no"] * 38 + [f"far too long for a category {i}" for i in range(74)]
    with pytest.warns(
        BayesWarning, match="column 'note' is left out: no value in the first rows, and later ones do not"
    ):
        model = NaiveBayes().fit(pieces(TABLE.append_column("note", pa.array(cells))), target="income")
    assert model.columns_["note"].family == "ignored"


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["u", "v"])], ids=["categorical", "enum"])
@pytest.mark.parametrize("model", [NaiveBayes(), AODE()], ids=str)
def test_categories_of_polars_are_counted_past_the_first_rows_and_answered_for(model, kind, monkeypatch):
    monkeypatch.setattr(labelled, "SAMPLED", 10)
    words = np.random.default_rng(0).choice(["u", "v"], 60)
    frame = pl.DataFrame({"c": words, "x": np.arange(60) % 7, "y": ["a", "b", None] * 20}).with_columns(
        pl.col("c").cast(kind)
    )
    with pytest.warns(BayesWarning, match="20 rows have no value in 'y'"):
        found = clone(model).fit(frame.lazy(), target="y")
    with pytest.warns(BayesWarning, match="20 rows have no value in 'y'"):
        expected = clone(model).fit(frame, target="y")
    assert found.statistics_ == expected.statistics_
    answer = pa.concat_tables(found.predict_proba(frame.lazy()))
    np.testing.assert_array_equal(np.column_stack(answer.columns), expected.predict_proba(frame))


def test_a_pandas_frame_of_few_rows_is_fitted_as_ever():
    frame: pd.DataFrame = TABLE.to_pandas()
    model = AODE().fit(frame, target="income")
    assert model.statistics_ == AODE().fit(frame.drop(columns="income"), frame["income"]).statistics_
    assert isinstance(model.sample(2)[0], pd.DataFrame)


def test_how_long_columns_are_divided_into_files_shows_in_no_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(number_columns, "LONG", 0)  # these columns are not long yet
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 512)
    monkeypatch.setattr(number_columns, "NEAR", 4)
    rng = np.random.default_rng(3)
    table = pa.table({"size": rng.normal(size=6000), "tail": rng.standard_cauchy(6000), "c": rng.choice([*"ab"], 6000)})
    models = []
    for name, cuts in (("one", [0, 6000]), ("two", [0, 1777, 6000]), ("many", [*range(0, 6000, 601), 6000])):
        (tmp_path / name).mkdir()
        for i, (start, stop) in enumerate(pairwise(cuts)):
            pa.parquet.write_table(table.slice(start, stop - start), tmp_path / name / f"{i:02}.parquet")
        models.append(NaiveBayes().fit(str(tmp_path / name / "*.parquet"), target="c"))
    assert models[0].statistics_ == models[1].statistics_ == models[2].statistics_
    assert models[0].statistics_ == NaiveBayes().fit(table.select(["size", "tail"]), table["c"]).statistics_
