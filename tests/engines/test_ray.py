"""Ray Data: sums and answers of blocks are those of all rows at once."""

from typing import Any

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
    people,
)

from bayeswater import NaiveBayes
from bayeswater.engines.ray import RayRows
from bayeswater.errors import DataError, SchemaError
from bayeswater.models.streaming import labelled

pytest.importorskip("ray", reason="Ray is not installed")


def _table() -> pa.Table:
    return pa.Table.from_pandas(people(), preserve_index=False)


def _blocks(sizes: list[int]) -> list[pa.Table]:
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    return [_table().slice(start, size) for start, size in zip(starts, sizes, strict=True)]


@pytest.mark.parametrize("sizes", [[N_ROWS], [0, 3, 0, N_ROWS - 3], [N_ROWS // 20] * 20])
def test_the_sum_of_all_blocks_is_that_of_all_rows(ray: Any, sizes: list[int]) -> None:
    rows = RayRows(ray.data.from_arrow(_blocks(sizes)))
    total = rows.sum(count_pairs, COLUMNS)
    assert total == counted_here(people())
    assert rows.bytes_moved is not None and 0 < rows.bytes_moved < 30 * (total.nbytes + 2000)


def test_blocks_of_pandas_are_read_too(ray: Any) -> None:
    rows = RayRows(ray.data.from_pandas([people()[:700], people()[700:]]))
    assert rows.sum(count_pairs, COLUMNS) == counted_here(people())


def test_a_block_that_fails_is_named_by_its_first_row(ray: Any) -> None:
    rows = RayRows(ray.data.from_arrow(_blocks([500] * 4)))
    first = _table().slice(1000, 1).to_pylist()[0]["colour"]
    named = rf"^the Ray Dataset, the block of 500 rows that begins with .*'colour': '{first}'.*: ZeroDivisionError"
    with pytest.raises(DataError, match=named):
        rows.sum(fails_for_once, COLUMNS)
    with pytest.raises(Exception, match="the block of 500 rows that begins with"):
        rows.map(answers_except_for_once, ANSWER, COLUMNS).take_all()


def test_a_column_that_is_not_there_is_named_with_the_nearest(ray: Any) -> None:
    with pytest.raises(SchemaError, match=r"there is no column 'clas'; did you mean 'class'"):
        RayRows(ray.data.from_arrow(_table())).sum(count_pairs, ["clas"])


def test_a_dataset_without_rows_is_refused(ray: Any) -> None:
    rows = RayRows(ray.data.from_arrow(_table().slice(0, 0)))
    with pytest.raises(DataError, match="the Ray Dataset has no rows"):
        rows.sum(count_pairs, COLUMNS)


def test_answers_are_a_lazy_dataset_with_the_declared_types(ray: Any) -> None:
    lazy = RayRows(ray.data.from_arrow(_blocks([0, 700, 1300]))).map(answers, ANSWER, COLUMNS)
    assert isinstance(lazy, ray.data.Dataset)
    blocks = ray.get(lazy.to_arrow_refs())
    found = pa.concat_tables(block for block in blocks if block.num_rows)  # Ray may take its columns from an empty one
    assert found.schema == ANSWER
    in_order = [("class", "ascending"), ("length", "ascending")]
    assert found.sort_by(in_order) == answers(_table()).sort_by(in_order)


def test_the_first_rows_are_those_of_the_first_blocks(ray: Any) -> None:
    rows = RayRows(ray.data.from_arrow(_blocks([100, 0, 400, 1500])))
    assert rows.head(["grade", "colour"], 300).to_pylist() == _table().select(["grade", "colour"])[:300].to_pylist()
    assert rows.head(["size"], 3 * N_ROWS).num_rows == N_ROWS


def test_a_discrete_model_of_a_ray_dataset_is_the_local_one_bit_for_bit(
    ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled, "SAMPLED", 100)  # most rows are counted by the engine
    frame = ray.data.from_arrow(_blocks([700, 1300]))
    model = NaiveBayes().fit(frame, target="class")
    local = NaiveBayes().fit(people().drop(columns="class"), people()["class"])
    assert model.statistics_ == local.statistics_
    lazy = model.predict_proba(frame)
    assert isinstance(lazy, ray.data.Dataset)
    assert lazy.count() == N_ROWS
