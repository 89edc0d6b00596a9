"""Spark: sums and answers of partitions are those of all rows at once."""

import shutil
from collections.abc import Callable
from typing import Any

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

from bayeswater import NaiveBayes
from bayeswater.engines import spark as engine
from bayeswater.engines.spark import SparkRows
from bayeswater.errors import DataError, SchemaError
from bayeswater.models.streaming import labelled
from bayeswater.statistics.pair_counts import PairCounts

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
