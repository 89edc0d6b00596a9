"""Several files are one table: where they do not agree, the file, the column and both types are named."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from bayeswater.data.column_types import wider_type
from bayeswater.data.sources.recognising import local_rows
from bayeswater.data.sources.rows import HEAD_ROWS
from bayeswater.data.sources.source import TypesWidened
from bayeswater.errors import DataError, PrecisionWarning, SchemaError

DICTIONARY = pa.dictionary(pa.int8(), pa.string())


def files(folder: Path, *tables: pa.Table) -> str:
    for number, table in enumerate(tables):
        pa.parquet.write_table(table, folder / f"{number}.parquet")
    return str(folder / "*.parquet")


def cells(rows, name: str) -> list[object]:
    return rows.head([name])[name].to_pylist()


@pytest.mark.parametrize(
    ("a", "b", "wider"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.int64(), pa.float32(), pa.float64()),
        (pa.null(), pa.string(), pa.string()),
        (pa.string(), pa.large_string(), pa.large_string()),
        (pa.string_view(), pa.string(), pa.large_string()),
        (DICTIONARY, pa.string(), pa.string()),
        (DICTIONARY, pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int32(), pa.string())),
        (pa.date32(), pa.timestamp("s"), pa.timestamp("s")),
        (pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("ns")),
        (pa.string(), pa.int64(), None),
        (pa.bool_(), pa.int64(), None),
        (DICTIONARY, pa.int64(), None),
        (pa.date32(), pa.string(), None),
        (pa.timestamp("s", "UTC"), pa.date32(), None),
    ],
)
def test_two_types_have_one_that_holds_the_cells_of_both_or_none(a, b, wider):
    assert wider_type(a, b) == wider_type(b, a) == wider
    assert wider_type(a, a) == a


def test_whole_numbers_and_numbers_with_points_are_numbers(tmp_path):
    rows = local_rows(files(tmp_path, pa.table({"x": [1, 2**60]}), pa.table({"x": [0.5]})))
    assert rows.schema.types == [pa.float64()]
    assert cells(rows, "x") == [1.0, 2.0**60, 0.5]  # a power of two is a float, and no warning is given


def test_whole_numbers_that_rounding_makes_one_are_warned_of_with_file_and_column(tmp_path):
    big = 2**53 + 1  # no float: rounded as "9007199254740993.0" in a text is
    gap = pa.table({"x": [float("nan")], "y": [1]})  # pandas writes a gap in whole numbers so
    pattern = files(tmp_path, gap, pa.table({"x": [big - 1, big], "y": [1, 2]}))
    message = r"1\.parquet: column 'x' holds whole numbers beyond 2\*\*53.*types=\{'x': 'integer'\}"
    with pytest.warns(PrecisionWarning, match=message):
        assert cells(local_rows(pattern), "x")[1:] == [2.0**53, 2.0**53]
    assert cells(local_rows(pattern, columns=["y"]), "y") == [1, 1, 2]
    assert cells(local_rows(pattern, types={"x": "integer"}), "x") == [None, big - 1, big]


def test_a_category_and_a_text_are_texts(tmp_path):
    coded = pa.table({"s": pa.array(["a", "b"]).dictionary_encode()})
    rows = local_rows(files(tmp_path, coded, pa.table({"s": ["c"]})))
    assert rows.schema.types == [pa.string()]
    assert cells(rows, "s") == ["a", "b", "c"]


def test_columns_are_found_by_name_whatever_their_order(tmp_path):
    rows = local_rows(files(tmp_path, pa.table({"x": [1], "y": [2]}), pa.table({"y": [20], "x": [10]})))
    assert cells(rows, "x") == [1, 10]


def test_text_and_numbers_are_refused_with_both_files_and_types(tmp_path):
    pattern = files(tmp_path, pa.table({"x": [1], "y": [1]}), pa.table({"x": [2], "y": ["a"]}))
    message = r"column 'y' holds int64 in .*0\.parquet and string in .*1\.parquet; .*types=\{'y': 'string'\}"
    with pytest.raises(SchemaError, match=message):
        local_rows(pattern).schema  # noqa: B018
    assert cells(local_rows(pattern, types={"y": "string"}), "y") == ["1", "a"]
    assert cells(local_rows(pattern, columns=["x"]), "x") == [1, 2]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_column_that_one_file_lacks_is_refused_by_name(tmp_path, order):
    tables = pa.table({"x": [1], "target": ["a"]}), pa.table({"x": [2]})
    pattern = files(tmp_path, *(tables[i] for i in order))
    lacking, giver = ("1.parquet", "0.parquet") if order == (0, 1) else ("0.parquet", "1.parquet")
    with pytest.raises(SchemaError, match=rf"{lacking} has no column 'target', which .*{giver} has"):
        local_rows(pattern).schema  # noqa: B018
    assert cells(local_rows(pattern, columns=["x"]), "x") == sorted([1, 2], reverse=order == (1, 0))
    with pytest.raises(SchemaError, match="target"):
        local_rows(pattern, columns=["x", "target"]).schema  # noqa: B018


def test_a_file_that_is_cut_off_is_named_before_anything_is_counted(tmp_path):
    pattern = files(tmp_path, pa.table({"x": [1]}), pa.table({"x": [2]}))
    content = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(content[:-9])
    with pytest.raises(DataError, match=r"1\.parquet is not a complete Parquet file"):
        local_rows(pattern).sum(len, ["x"])


def test_a_file_that_vanishes_is_named(tmp_path):
    rows = local_rows(files(tmp_path, pa.table({"x": [1]}), pa.table({"x": [2]})))
    assert rows.n_rows == 2
    (tmp_path / "1.parquet").unlink()
    with pytest.raises(DataError, match=r"1\.parquet': there is no such file"):
        rows.sum(len, ["x"])


def test_thousands_of_files_are_not_all_left_open(tmp_path):
    import resource

    table = pa.table({"x": [1]})
    pattern = files(tmp_path, *[table] * 120)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        assert local_rows(pattern).sum(len, ["x"]) == 120
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# ---------------------------------------------------------------------- streams


def test_a_table_that_lacks_a_column_is_refused_by_number_and_row():
    tables = [pa.table({"x": [1, 2], "y": [1, 2]}), pa.table({"x": [3]})]
    with pytest.raises(SchemaError, match=r"the list: table 1 \(from row 3 on\) has no column 'y'"):
        local_rows(tables).sum(len, ["x", "y"])
    assert local_rows(tables).sum(len, ["x"]) == 3


def test_a_type_that_changes_on_the_way_is_refused_with_both():
    tables = [pa.table({"x": range(HEAD_ROWS)}), pa.table({"x": [0.5]})]
    message = r"column 'x' holds double in table 1 \(from row 65,537 on\), and int64 before .*types=\{'x': 'number'\}"
    with pytest.raises(SchemaError, match=message):
        local_rows(iter(tables)).sum(len, ["x"])
    assert local_rows(iter(tables), types={"x": "number"}).sum(len, ["x"]) == HEAD_ROWS + 1
    assert local_rows(iter(tables[::-1])).sum(len, ["x"]) == HEAD_ROWS + 1


def test_tables_that_come_but_once_are_looked_ahead_at_where_no_first_rows_were_asked_for():
    tables = [pa.table({"x": [1]}), pa.table({"x": [0.5]})]
    assert local_rows(iter(tables)).sum(lambda table: table["x"].to_pylist(), ["x"]) == [1.0, 0.5]
    (answer,) = local_rows(iter(tables)).map(lambda table: table, pa.schema([("x", pa.float64())]), ["x"])
    assert answer["x"].to_pylist() == [1.0, 0.5]


LATER = {
    "fractions": ([1, 2], pa.array([0.5, 3.0]), [1.0, 2.0, 0.5, 3.0]),
    "longer numbers": (pa.array([1, 2], pa.int8()), pa.array([3, 4000]), [1, 2, 3, 4000]),
    "the first values, of text": (pa.nulls(2), pa.array(["a", "b"]), [None, None, "a", "b"]),
    "whole numbers with a gap": (pa.array([1, 2]), pa.array([3.0, float("nan")]), [1, 2, 3, None]),
}


@pytest.mark.parametrize("later", LATER)
def test_a_column_that_holds_more_later_is_read_in_a_type_for_all_of_it(later):
    first, second, expected = LATER[later]
    tables = [pa.table({"x": first}), pa.table({"x": second})]
    once = local_rows(iter(tables))
    assert cells(once, "x") == expected
    assert once.sum(lambda table: table["x"].to_pylist(), ["x"]) == expected
    again = local_rows(tables)
    if "gap" not in later:
        with pytest.raises(TypesWidened, match=r"column 'x' holds \w+ in table 1 \(from row 3 on\), and \w+ before it"):
            again.sum(len, ["x"])
    assert again.sum(lambda table: table["x"].to_pylist(), ["x"]) == expected


def test_tables_that_come_but_once_are_looked_at_as_far_as_they_are_kept():
    tables = [pa.table({"x": [1]}), pa.table({"x": [2]}), pa.table({"x": [0.5]})]
    rows = local_rows(iter(tables))
    assert rows.head(["x"], 2)["x"].to_pylist() == [1, 2]
    with pytest.raises(SchemaError, match=r"column 'x' holds double in table 2 \(from row 3 on\), and int64 before it"):
        rows.sum(len, ["x"])


def test_what_is_no_table_is_refused_by_number():
    with pytest.raises(DataError, match="the iterator: item 1 is a dict; give Arrow tables"):
        local_rows(iter([pa.table({"x": [1]}), {"x": [2]}])).sum(len, ["x"])


def test_what_goes_wrong_in_an_iterator_is_told_with_its_cause():
    def items():
        yield pa.table({"x": [1]})
        raise ConnectionError("the server is gone")

    with pytest.raises(
        DataError, match="the iterator: reading failed with ConnectionError: the server is gone"
    ) as caught:
        local_rows(items()).sum(len, ["x"])
    assert isinstance(caught.value.__cause__, ConnectionError)


def test_a_declared_column_that_is_not_there_is_refused():
    with pytest.raises(SchemaError, match="there is no column 'X'; did you mean 'x'"):
        local_rows(pa.table({"x": [1]}), types={"X": "number"}).schema  # noqa: B018


@pytest.mark.parametrize("source", [5, {"x": [1]}, None, np.eye(3)])
def test_what_holds_no_rows_is_refused(source):
    with pytest.raises(DataError, match="cannot read rows from"):
        local_rows(source)


def test_a_pipe_is_read_once_and_its_head_is_kept():
    rows = local_rows("-", standard_input=io.BytesIO(b"x,y\n1,a\n2,b\n"))
    assert not rows.can_be_reread
    fingerprint = rows.fingerprint(["x", "y"])
    assert cells(rows, "y") == ["a", "b"]
    assert rows.fingerprint(["x", "y"]) == fingerprint
    assert rows.sum(len, ["x"]) == 2
    assert rows.fingerprint(["x", "y"]) == fingerprint  # remembered
    with pytest.raises(DataError, match="standard input can be read only once"):
        rows.sum(len, ["x"])


def test_streams_of_a_generator_are_read_once_and_no_row_is_lost():
    tables = [pa.table({"x": [i, i + 1]}) for i in range(4)]
    rows = local_rows(table.to_reader() for table in tables)
    assert rows.head(["x"], 3)["x"].to_pylist() == [0, 1, 1]
    assert rows.sum(lambda table: table.num_rows, ["x"]) == 8


def test_an_item_that_is_none_is_no_end():
    rows = local_rows(iter([pa.table({"x": [1]}), None, pa.table({"x": [2]})]))
    with pytest.raises(DataError):
        rows.head(["x"], 5)
