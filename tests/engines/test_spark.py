"""What Spark counts by itself is what all rows give; where its groups do not say enough, every row is looked at.

Spark: sums and answers of partitions are those of all rows at once.
"""

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.engines.counting import (
    ANSWER,
    COLUMNS,
    N_ROWS,
    answers,
    answers_except_for_once,
    as_seconds,
    count_pairs,
    fails_for_once,
    people,
    renamed,
)

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from bayeswater.engines import spark as engine
from bayeswater.engines import spark as spark_module
from bayeswater.engines.spark import SparkRows
from bayeswater.errors import DataError, SchemaError
from bayeswater.models.streaming import labelled
from bayeswater.statistics.pair_counts import PairCounts

pytest.importorskip("pyspark", reason="Spark is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not there", allow_module_level=True)


def _on_spark(session: Any, frame: pd.DataFrame, n_partitions: int = 3) -> Any:
    return session.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False)).repartition(n_partitions)


def _here(model: Any, frame: pd.DataFrame) -> Any:
    labelled = frame[frame["class"].notna()]
    return model.fit(labelled.drop(columns="class"), labelled["class"])


@pytest.fixture
def no_row_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no row go through a Python worker."""
    monkeypatch.setattr(SparkRows, "_parcel", lambda *_: pytest.fail("rows were counted in Python"))


@pytest.mark.filterwarnings("ignore:.*rows have no value in 'class'")
def test_categories_counted_by_spark_give_the_local_model_bit_for_bit(spark: Any, no_row_comes: None) -> None:
    frame = people().astype({"grade": str}).assign(flag=lambda rows: rows["size"] > 1)
    frame.loc[5:20, "class"] = None
    model = CategoricalNB(missing="ignore", min_categories=[1, 9, 1, 1, 1]).fit(_on_spark(spark, frame), target="class")
    local = _here(CategoricalNB(missing="ignore", min_categories=[1, 9, 1, 1, 1]), frame)
    assert model.statistics_ == local.statistics_
    assert np.array_equal(model.feature_names_in_, local.feature_names_in_)


COUNTERS: dict[str, Any] = {
    "MultinomialNB": MultinomialNB,
    "ComplementNB": ComplementNB,
    "BernoulliNB": lambda: BernoulliNB(binarize=1, missing="ignore"),
}


@pytest.mark.filterwarnings("ignore:.*no value in 'class'")
@pytest.mark.parametrize("name", COUNTERS)
def test_features_counted_by_spark_give_the_local_model_bit_for_bit(spark: Any, no_row_comes: None, name: str) -> None:
    rng = np.random.default_rng(12)
    frame = pd.DataFrame(rng.poisson(1.5, (400, 3)), columns=["a", "b", "c"]).assign(flag=rng.random(400) < 0.3)
    frame["class"] = rng.choice(["x", "y", None], 400, p=[0.4, 0.5975, 0.0025])
    if name == "BernoulliNB":
        frame["c"] = frame["c"].astype("Int64").mask(rng.random(400) < 0.1)
    model = COUNTERS[name]().fit(_on_spark(spark, frame), target="class")
    assert model.statistics_ == _here(COUNTERS[name](), frame).statistics_


def test_many_columns_are_counted_row_by_row(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_module, "MOST_COLUMNS", 2)
    frame = people()[["colour", "size", "rare", "class"]]
    model = CategoricalNB(missing="ignore").fit(_on_spark(spark, frame), target="class")
    assert SparkRows(_on_spark(spark, frame)).margins(["colour", "size", "rare"], "class") is None
    assert model.statistics_ == _here(CategoricalNB(missing="ignore"), frame).statistics_


def test_labels_that_a_collation_takes_for_one_stay_apart(spark: Any) -> None:
    rows = [("a", "p", 1.0), ("a", "P", 2.0), ("A", "q", 3.0), ("b", "q", 5.0)]
    frame = spark.createDataFrame(rows, ["s", "y", "x"]).coalesce(1)
    frame = frame.selectExpr("s COLLATE UTF8_LCASE AS s", "y COLLATE UTF8_LCASE AS y", "x")
    (margin,) = SparkRows(frame).margins(["s"], "y")
    pairs = zip(margin.cells.to_pylist(), margin.labels.to_pylist(), margin.n_rows.tolist(), strict=True)
    assert sorted(pairs) == [("A", "q", 1), ("a", "P", 1), ("a", "p", 1), ("b", "q", 1)]
    (spread,) = SparkRows(frame).spreads(["x"], "y", about_first=False)
    assert dict(zip(spread.labels.to_pylist(), spread.n_rows.tolist(), strict=True)) == {"p": 1, "P": 1, "q": 2}


def _numbers(n_rows: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    columns = {
        "far": rng.normal(1e6, 1, n_rows),
        "whole": rng.integers(0, 50, n_rows),
        "constant": np.full(n_rows, 0.1),
    }
    return pd.DataFrame({**columns, "class": rng.choice(["a", "b", "c"], n_rows)})


def test_moments_summed_by_spark_are_the_local_ones_but_for_rounding(spark: Any, no_row_comes: None) -> None:
    frame = _on_spark(spark, _numbers()).cache()
    model, local = GaussianNB().fit(frame, target="class"), _here(GaussianNB(), _numbers())
    moments, here = model.statistics_.columns, local.statistics_.columns
    assert model.statistics_.class_count == local.statistics_.class_count
    # Means near 1e6 are rounded by 1e-10, and scatters of partitions are joined by the difference of their means.
    np.testing.assert_allclose(moments.mean, here.mean, rtol=1e-14)
    np.testing.assert_allclose(moments.scatter, here.scatter, rtol=1e-10)
    assert (moments.mean[:, 2] == 0.1).all() and not moments.scatter[:, 2].any()
    assert GaussianNB().fit(frame, target="class").statistics_ == model.statistics_  # the same bits


def test_numbers_near_zero_are_summed_in_one_query(
    spark: Any, no_row_comes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkRows, "head", lambda *_: pytest.fail("a first row was asked for"))
    frame = _numbers()[["whole", "class"]].assign(near=lambda rows: np.sqrt(rows["whole"] + 0.5))
    model, local = GaussianNB().fit(_on_spark(spark, frame), target="class"), _here(GaussianNB(), frame)
    np.testing.assert_allclose(model.var_, local.var_, rtol=1e-12)  # squares are a few times the scatter


def test_moments_whose_digits_would_cancel_are_counted_row_by_row(spark: Any) -> None:
    frame = _numbers().assign(far=lambda rows: np.where(rows["class"] == "a", 1e8, 0.0) + rows["far"] - 1e6)
    model, local = GaussianNB().fit(_on_spark(spark, frame), target="class"), _here(GaussianNB(), frame)
    np.testing.assert_allclose(model.var_, local.var_, rtol=1e-9)


def test_a_cell_that_is_missing_or_no_code_is_named_by_its_partition(spark: Any) -> None:
    frame = _numbers().assign(far=lambda rows: rows["far"].where(rows.index != 7))
    with pytest.raises(DataError, match=r"the Spark DataFrame, partition \d.*NaN.*'far'"):
        GaussianNB().fit(_on_spark(spark, frame), target="class")
    codes = _numbers()[["whole", "class"]].assign(whole=lambda rows: rows["whole"] - 1)
    with pytest.raises(DataError, match=r"the Spark DataFrame, partition \d.*Negative values.*'whole'"):
        CategoricalNB().fit(_on_spark(spark, codes), target="class")


pytest.importorskip("pyspark", reason="Spark is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not there", allow_module_level=True)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """The rows as Spark has them: it knows no declared categories."""
    strings = people().astype({"grade": str})
    return pa.Table.from_pandas(strings, preserve_index=False).cast(
        pa.schema([(name, pa.int64() if name == "size" else pa.string()) for name in COLUMNS])
    )


@pytest.fixture(scope="module")
def frame(spark: Any, table: pa.Table) -> Any:
    return spark.createDataFrame(table).repartition(2).cache()


PARTITIONINGS: dict[str, Callable[[Any], Any]] = {
    "one partition": lambda frame: frame.coalesce(1),
    "twenty partitions": lambda frame: frame.repartition(20),
    "most are empty": lambda frame: frame.repartition(12, "class"),
}


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_the_sum_of_all_partitions_is_that_of_all_rows(frame: Any, table: pa.Table, partitioning: str) -> None:
    rows = SparkRows(PARTITIONINGS[partitioning](frame))
    total: PairCounts = rows.sum(count_pairs, COLUMNS)
    assert total == count_pairs(table)
    assert rows.bytes_moved is not None and 0 < rows.bytes_moved < 30 * (total.nbytes + 2000)


def test_large_sums_are_added_in_a_tree_and_are_the_same(
    frame: Any, table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SMALL_BYTES", 0)
    assert SparkRows(frame.repartition(20)).sum(count_pairs, COLUMNS) == count_pairs(table)


def test_a_partition_that_fails_is_named(frame: Any) -> None:
    with pytest.raises(
        DataError, match=r"^the Spark DataFrame, partition \d: ZeroDivisionError: something in the rows$"
    ):
        SparkRows(frame).sum(fails_for_once, COLUMNS)
    lazy = SparkRows(frame).map(answers_except_for_once, ANSWER, COLUMNS)
    with pytest.raises(Exception, match=r"the Spark DataFrame, partition \d: ZeroDivisionError: something in the rows"):
        lazy.collect()


def test_a_column_that_is_not_there_is_named_with_the_nearest(frame: Any) -> None:
    with pytest.raises(SchemaError, match=r"there is no column 'clas'; did you mean 'class'"):
        SparkRows(frame).sum(count_pairs, ["clas"])


def test_a_frame_without_rows_is_refused(frame: Any) -> None:
    with pytest.raises(DataError, match="the Spark DataFrame has no rows"):
        SparkRows(frame.filter("size > 100")).sum(count_pairs, COLUMNS)


def test_answers_are_a_lazy_frame_with_the_declared_types(frame: Any, table: pa.Table) -> None:
    lazy = SparkRows(frame.repartition(12, "class")).map(answers, ANSWER, COLUMNS)
    assert type(lazy) is type(frame)
    assert lazy.schema.simpleString() == "struct<class:string,length:double>"
    in_order = [("class", "ascending"), ("length", "ascending")]
    assert lazy.toArrow().cast(ANSWER).sort_by(in_order) == answers(table).sort_by(in_order)


def test_the_first_rows_are_those_of_the_first_partitions(spark: Any, table: pa.Table) -> None:
    frame = spark.createDataFrame(table.slice(0, 100)).coalesce(1)
    more = frame.union(spark.createDataFrame(table.slice(100, 400)).coalesce(1)).union(frame.filter("size > 100"))
    rows = SparkRows(more)
    assert rows.head(["rare", "colour"], 300).to_pylist() == table.select(["rare", "colour"]).slice(0, 300).to_pylist()
    assert rows.head(["size"], 1000).num_rows == 500
    assert rows.head(["size"], 7).schema == pa.schema([("size", pa.int64())])


def test_instants_among_the_first_rows_are_those_that_workers_see(spark: Any) -> None:
    frame = spark.sql("SELECT timestamp'2024-07-01 12:30:00' AS t UNION ALL SELECT NULL").coalesce(1)
    rows = SparkRows(frame)
    (seen,) = rows.map(as_seconds, pa.schema([("s", pa.int64())]), ["t"]).filter("s IS NOT NULL").collect()
    assert as_seconds(rows.head(["t"], 5)).drop_null()["s"].to_pylist() == [seen["s"]]


def test_names_with_dots_and_ticks_are_names(spark: Any) -> None:
    names = ["a.b", "c`d", "e f"]
    frame = spark.createDataFrame(pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=names))
    assert SparkRows(frame).sum(len, names) == 2
    assert SparkRows(frame).head(["c`d"], 5).to_pydict() == {"c`d": [2, 5]}


def test_types_that_spark_does_not_have_are_the_next_wider_ones(frame: Any) -> None:
    schema = pa.schema([("n", pa.uint16()), ("label", pa.dictionary(pa.int8(), pa.string()))])
    lazy = SparkRows(frame).map(renamed, schema, ["size", "rare"])
    assert lazy.schema.simpleString() == "struct<n:int,label:string>"
    assert lazy.count() == N_ROWS


def test_a_discrete_model_of_a_spark_frame_is_the_local_one_bit_for_bit(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled, "SAMPLED", 100)  # most rows are counted by the engine
    strings = people().astype({"grade": str})
    frame = spark.createDataFrame(pa.Table.from_pandas(strings, preserve_index=False)).repartition(5)
    model = NaiveBayes().fit(frame, target="class")
    local = NaiveBayes().fit(strings.drop(columns="class"), strings["class"])
    assert model.statistics_ == local.statistics_
    lazy = model.predict_proba(frame)
    assert type(lazy) is type(frame)
    assert lazy.count() == N_ROWS
