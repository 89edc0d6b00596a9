"""Dask: sums and answers of partitions are those of all rows at once, on threads and on a cluster."""

from pathlib import Path
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
    count_pairs,
    counted_here,
    fails_for_once,
    kill_once,
    people,
)

from bayeswater import GaussianNB, NaiveBayes
from bayeswater.engines.dask import DaskArrayRows, DaskRows
from bayeswater.errors import DataError, SchemaError
from bayeswater.models.streaming import labelled

dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
da = pytest.importorskip("dask.array", reason="Dask is not installed")
dask = pytest.importorskip("dask", reason="Dask is not installed")


def _with_empty_partitions(frame: pd.DataFrame) -> Any:
    return dd.concat([dd.from_pandas(part, npartitions=1) for part in (frame[:0], frame[:3], frame[:0], frame[3:])])


PARTITIONINGS = {
    "one partition": lambda frame: dd.from_pandas(frame, npartitions=1),
    "seventeen partitions": lambda frame: dd.from_pandas(frame, npartitions=17),
    "empty partitions": _with_empty_partitions,
    "filtered to nothing": lambda frame: _without_some(dd.from_pandas(frame, npartitions=9)),
    "unknown categories": lambda frame: _unknown(dd.from_pandas(frame, npartitions=9)),
}


def _without_some(frame: Any) -> Any:
    """Leave partitions that are empty only when they are computed."""
    return frame.map_partitions(lambda part: part[(part.index < 100) | (part.index >= 900)], meta=frame._meta)


def _unknown(frame: Any) -> Any:
    return frame.assign(grade=frame["grade"].cat.as_unknown())


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_the_sum_of_all_partitions_is_that_of_all_rows(partitioning: str) -> None:
    frame = PARTITIONINGS[partitioning](people())
    assert DaskRows(frame).sum(count_pairs, COLUMNS) == counted_here(frame.compute())


def _declared_again(part: pd.DataFrame) -> pd.DataFrame:
    """Declare the categories that the rows have, in an order that is not that of other partitions."""
    labels = sorted({*part["grade"]}, reverse=bool(part.index[0] < N_ROWS // 2))
    return part.assign(grade=pd.Categorical(part["grade"].astype(str), categories=labels))


def test_dictionaries_that_differ_between_partitions_are_joined_by_label() -> None:
    frame = dd.from_pandas(people(), npartitions=9)
    differing = frame.map_partitions(_declared_again, meta=_unknown(frame)._meta)
    first, *_ = (part["grade"].cat.categories.to_list() for part in dask.compute(*differing.to_delayed()))
    joined = people().assign(grade=pd.Categorical(people()["grade"].astype(str), categories=["a", "b", "d"]))
    assert first != ["a", "b", "d"]
    assert DaskRows(differing).sum(count_pairs, COLUMNS) == counted_here(joined)


def test_a_cluster_gives_the_sums_of_threads_and_sends_no_more_than_sums(cluster: Any) -> None:
    rows = DaskRows(dd.from_pandas(people(), npartitions=20))
    with cluster.as_current():
        total = rows.sum(count_pairs, COLUMNS)
    assert total == counted_here(people())
    n_parcels = 20 + 3 + 1  # of partitions, of eight neighbours each, and of all
    assert rows.bytes_moved is not None and 0 < rows.bytes_moved < n_parcels * (total.nbytes + 2000)


def test_a_partition_that_fails_is_named() -> None:
    rows = DaskRows(dd.from_pandas(people(), npartitions=4))
    with pytest.raises(DataError, match=r"the Dask DataFrame, partition 2: ZeroDivisionError: something in the rows"):
        rows.sum(fails_for_once, COLUMNS)
    lazy = rows.map(answers_except_for_once, ANSWER, COLUMNS)
    with pytest.raises(DataError, match=r"partition 2: ZeroDivisionError"):
        lazy.compute()


def test_a_partition_that_fails_on_a_cluster_is_named(cluster: Any) -> None:
    rows = DaskRows(dd.from_pandas(people(), npartitions=4))
    with (
        cluster.as_current(),
        pytest.raises(DataError, match=r"the Dask DataFrame, partition 2: ZeroDivisionError: something in the rows"),
    ):
        rows.sum(fails_for_once, COLUMNS)


def _unreadable(part: pd.DataFrame) -> pd.DataFrame:
    if len(part) and part.index[0] > N_ROWS // 2:
        raise OSError("the disk is gone")
    return part


def test_a_partition_that_cannot_be_computed_is_named() -> None:
    frame = dd.from_pandas(people(), npartitions=10)
    rows = DaskRows(frame.map_partitions(_unreadable, meta=frame._meta))
    with pytest.raises(DataError, match=r"partition 6 could not be computed: OSError: the disk is gone"):
        rows.sum(count_pairs, COLUMNS)


def _fractions_later(part: pd.DataFrame) -> pd.DataFrame:
    return part.assign(size=part["size"] + 0.5) if len(part) and part.index[0] > 0 else part


def test_a_cell_that_does_not_fit_the_declared_type_is_named() -> None:
    frame = dd.from_pandas(people(), npartitions=2)
    rows = DaskRows(frame.map_partitions(_fractions_later, meta=frame._meta))
    with pytest.raises(DataError, match=r"partition 1: .*row 1, column 'size' holds \d\.5, which is no whole number"):
        rows.sum(count_pairs, COLUMNS)


def _gaps_later(part: pd.DataFrame) -> pd.DataFrame:
    """Leave cells out of whole numbers, which pandas makes floats of, but not the first of a partition."""
    return part.assign(size=part["size"].where(part.index % 5 != 3)) if len(part) else part


@pytest.mark.parametrize("n_partitions", [1, 7])
def test_gaps_in_a_column_declared_as_whole_numbers_are_missing_wherever_they_stand(n_partitions: int) -> None:
    frame = dd.from_pandas(people(), npartitions=n_partitions)
    rows = DaskRows(frame.map_partitions(_gaps_later, meta=frame._meta))
    sizes = people()["size"].astype("Int64").where(people().index % 5 != 3)
    assert rows.sum(count_pairs, COLUMNS) == counted_here(people().assign(size=sizes))
    assert rows.head(["size"], 9).to_pylist() == [{"size": None if size is pd.NA else size} for size in sizes[:9]]


def test_of_gaps_and_a_fraction_in_whole_numbers_the_fraction_is_named() -> None:
    frame = dd.from_pandas(people(), npartitions=2)
    rows = DaskRows(frame.map_partitions(lambda part: _fractions_later(_gaps_later(part)), meta=frame._meta))
    with pytest.raises(DataError, match=r"partition 1: .*column 'size' holds \d\.5, which is no whole number"):
        rows.sum(count_pairs, COLUMNS)


def test_a_column_that_is_not_there_is_named_with_the_nearest() -> None:
    rows = DaskRows(dd.from_pandas(people(), npartitions=2))
    with pytest.raises(SchemaError, match=r"there is no column 'clas'; did you mean 'class'"):
        rows.sum(count_pairs, ["clas"])


def test_a_frame_without_rows_is_refused() -> None:
    rows = DaskRows(dd.from_pandas(people()[:0], npartitions=1))
    with pytest.raises(DataError, match=r"the Dask DataFrame has no rows: all of its 1 partition\(s\) are empty"):
        rows.sum(count_pairs, COLUMNS)


def test_answers_are_a_lazy_frame_with_the_declared_types_index_and_divisions() -> None:
    frame = people().set_index(np.arange(N_ROWS) * 2 + 1)
    source = dd.from_pandas(frame, npartitions=5)
    lazy = DaskRows(source).map(answers, ANSWER, COLUMNS)
    assert isinstance(lazy, dd.DataFrame)
    assert lazy.divisions == source.divisions
    found = lazy.compute()
    assert dict(found.dtypes) == dict(lazy.dtypes)
    assert found.index.equals(frame.index)
    here = answers(pa.Table.from_pandas(frame, preserve_index=False)).to_pandas()
    pd.testing.assert_frame_equal(found.reset_index(drop=True), here)


def test_empty_partitions_give_no_answers_and_break_nothing() -> None:
    lazy = DaskRows(_without_some(dd.from_pandas(people(), npartitions=9))).map(answers, ANSWER, COLUMNS)
    sizes = lazy.map_partitions(len).compute().tolist()
    assert min(sizes) == 0 and sum(sizes) == N_ROWS - 800
    assert dict(lazy.compute().dtypes) == dict(lazy.dtypes)


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_the_first_rows_are_the_same_however_they_are_divided(partitioning: str) -> None:
    frame = PARTITIONINGS[partitioning](people())
    head = DaskRows(frame).head(["rare", "colour", "grade"], 150).to_pylist()
    here = frame.compute()[["rare", "colour", "grade"]].head(150)
    assert head == pa.Table.from_pandas(here, preserve_index=False).to_pylist()


def test_types_that_the_meta_leaves_open_are_those_of_the_first_rows() -> None:
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_pandas(people().astype({"colour": object, "rare": object}), npartitions=3)
        schema = DaskRows(frame.assign(grade=frame["size"].astype("category"))).schema
    assert pa.types.is_string(schema.field("colour").type) or pa.types.is_large_string(schema.field("colour").type)
    assert schema.field("grade").type.value_type == pa.int64()


def test_columns_of_an_array_are_called_as_those_of_a_local_one() -> None:
    codes = np.random.default_rng(3).integers(0, 3, (100, 4)).astype(np.float32)
    rows = DaskArrayRows(da.from_array(codes, chunks=(17, 2)))
    assert rows.schema == pa.schema([(f"x{j}", pa.float32()) for j in range(4)])
    assert rows.n_rows == 100
    head = rows.head(["x3", "x0"], 40)
    assert np.array_equal(np.stack([*head.columns], axis=1), codes[:40, [3, 0]])


@pytest.mark.parametrize("kind", ["float64", "int8", "U3", "object"])
def test_the_sum_of_all_chunks_is_that_of_all_rows(kind: str) -> None:
    codes = np.random.default_rng(4).integers(0, 3, (101, 5)).astype("U3" if kind == "object" else kind).astype(kind)
    names = [f"x{j}" for j in range(5)]
    rows = DaskArrayRows(da.from_array(codes, chunks=(17, 2)))
    found = rows.sum(lambda table: [*table.to_pylist()], [names[4], names[0]])
    assert found == [{"x4": row[4], "x0": row[0]} for row in codes.tolist()]
    lazy = rows.map(lambda table: table, pa.schema([("x1", rows.schema.field("x1").type)]), ["x1"])
    assert lazy["x1"].compute().to_list() == codes[:, 1].tolist()


def test_rows_are_counted_also_where_no_column_is_looked_at() -> None:
    rows = DaskRows(_with_empty_partitions(people()))
    assert rows.sum(lambda table: table.num_rows, []) == N_ROWS
    assert rows.sum(lambda table: table.column_names, []) == []


def test_rows_are_answered_also_where_no_column_is_looked_at() -> None:
    def numbered(table: pa.Table) -> pa.Table:
        return pa.table({"row": range(table.num_rows)})

    rows, schema = DaskRows(_with_empty_partitions(people())), pa.schema([("row", pa.int64())])
    assert rows.map(numbered, schema, []).compute()["row"].to_list() == [*range(3), *range(N_ROWS - 3)]
    array = DaskArrayRows(da.ones((5, 2), chunks=(3, 1)))
    assert array.map(numbered, schema, []).compute()["row"].to_list() == [0, 1, 2, 0, 1]


def test_chunks_whose_size_is_not_known_are_counted() -> None:
    array = dd.from_pandas(people()[["size"]], npartitions=3).to_dask_array()
    assert DaskArrayRows(array).n_rows is None
    assert DaskArrayRows(array).sum(lambda table: table.num_rows, ["x0"]) == N_ROWS


def test_a_column_that_begins_without_a_value_has_nulls_and_others_are_taken_as_they_are() -> None:
    frame = pd.DataFrame({"a": [np.nan, 1.0], "b": [1.0, np.nan], "c": ["u", None]})
    rows = DaskRows(dd.from_pandas(frame, npartitions=1))
    table = rows.head(["c", "a", "b"])
    assert [column.null_count for column in table.columns] == [1, 1, 0]


def test_an_array_of_one_dimension_is_refused() -> None:
    with pytest.raises(DataError, match="Expected 2D array, got 1D array"):
        DaskArrayRows(da.ones(5))


def test_columns_that_are_numbered_are_called_as_those_of_an_array() -> None:
    rows = DaskRows(dd.from_pandas(pd.DataFrame(np.eye(4)), npartitions=2))
    assert rows.schema.names == ["x0", "x1", "x2", "x3"]
    assert rows.head(["x1"], 3)["x1"].to_pylist() == [0.0, 1.0, 0.0]


def test_a_masked_cell_of_an_array_is_missing() -> None:
    chunk = np.ma.masked_array([[1.0, 1e6], [2.0, 3.0]], [[False, True], [False, False]])
    rows = DaskArrayRows(da.from_array(chunk, chunks=(1, 2), asarray=False))
    assert np.isnan(rows.head(["x1"], 2)["x1"].to_numpy()[0])
    with pytest.raises(DataError, match="missing"):
        GaussianNB().fit(da.from_array(np.tile(chunk, (10, 1)), chunks=(5, 2), asarray=False), target="x0")


def test_a_model_survives_a_worker_that_is_killed_in_the_middle(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled, "SAMPLED", 100)  # most rows are counted by the cluster
    frame = dd.from_pandas(people(), npartitions=16)
    doomed = frame.map_partitions(kill_once, str(tmp_path / "killed"), meta=frame._meta)
    with cluster.as_current():
        model = NaiveBayes().fit(doomed, target="class")
    assert (tmp_path / "killed").exists()
    X = people()
    assert model.statistics_ == NaiveBayes().fit(X.drop(columns="class"), X["class"]).statistics_
