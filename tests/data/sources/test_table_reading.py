"""`read_table` gives the table that every verb reads, and says how it was read."""

import gzip
import io
import json
import os
import sqlite3
import sys
import threading
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import bayeswater
from bayeswater.data.sources.laid_down import laid_down
from bayeswater.errors import DataError, ResourceLimitError, SchemaError


def test_a_table_and_its_report_are_given_without_a_warning(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("名,n\n青绿,1\n乌黑,\n".encode("gbk"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table, report = bayeswater.read_table(path)
    assert table.to_pylist() == [{"名": "青绿", "n": 1}, {"名": "乌黑", "n": None}]
    assert (report.n_rows, report.n_missing, report.types) == (
        2,
        {"名": 0, "n": 1},
        {"名": pa.string(), "n": pa.int64()},
    )
    assert [note.split(",")[0] for note in report.notes] == ["the text is no UTF-8 and is read as gb18030"]


def test_what_was_read_is_learned_from_and_predicted_as_its_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("colour,size,kind\n" + "red,1.5,a\nblue,2.5,b\n" * 20)
    read = bayeswater.read_table(path)
    model = bayeswater.NaiveBayes().fit(read, target="kind")
    assert model.predict(read).tolist() == model.predict(read.table).tolist() == ["a", "b"] * 20
    table = read.table.drop_columns("kind")
    assert model.statistics_ == bayeswater.NaiveBayes().fit(table, read.table["kind"]).statistics_


def test_rows_that_are_left_out_stand_in_the_report(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n")
    table, report = bayeswater.read_table(path, bad_rows="skip")
    assert table.num_rows == 1
    assert report.notes == ("rows of another length are left out, from row 3 (the header is row 1) on, '3'",)


def test_columns_types_and_tables_in_memory_are_taken(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": ["x"] * 100, "b": [1] * 100}), path)
    assert bayeswater.read_table(path, columns=["a"]).table.schema == pa.schema([("a", pa.string())])
    assert bayeswater.read_table(path, types={"b": "number"}).report.types["b"] == pa.float64()
    assert bayeswater.read_table(pa.table({"a": [1]})).table.to_pylist() == [{"a": 1}]
    with pytest.raises(SchemaError, match="there is no column 'c'"):
        bayeswater.read_table(path, columns=["c"])
    with pytest.raises(TypeError, match="delimeter"):
        bayeswater.read_table(path, delimeter=";")


def test_a_table_that_is_too_large_for_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 1000)
    monkeypatch.setattr("bayeswater.limits.HELD_BYTES", 2**10)
    with pytest.raises(ResourceLimitError, match=r"t\.csv, which read_table needs in memory at once"):
        bayeswater.read_table(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_as_often_as_its_types_need(monkeypatch, pack):
    content = pack(b"a,b\n" + b"1,2\n" * 300_000 + b"x,2\n")  # the first megabyte does not tell
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.warns(bayeswater.BayesWarning, match="standard input: row 300002 .*holds 'x'"):
        table, report = bayeswater.read_table("-")
    assert (table.num_rows, table["a"][-1].as_py(), report.name) == (300_001, "x", "standard input")


def test_pipes_are_laid_down_as_they_come_and_deleted_at_the_end(tmp_path):
    pipe, file = tmp_path / "t.csv", tmp_path / "u.csv"
    file.write_text("a\n1\n")
    os.mkfifo(pipe)
    packed = gzip.compress(b"a\n2\n")
    threading.Thread(target=pipe.write_bytes, args=[packed]).start()
    with laid_down([pipe, file]) as files:
        assert files.paths[1] == str(file)
        assert Path(files.paths[0]).read_bytes() == packed
        assert bayeswater.read_table(files.paths).table["a"].to_pylist() == [2, 1]
    assert not Path(files.paths[0]).exists()


def test_a_pipe_that_finds_no_room_is_refused_with_the_way_out(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bayeswater.data.sources.laid_down.copyfileobj", full)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n1\n")))
    with pytest.raises(DataError, match=r"cannot store standard input in .*: No space left on device; make room"):
        bayeswater.read_table("-")


def test_the_report_says_in_which_style_cells_are_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("price,kind\n" + "".join(f'"${i:,}.50",a\n' for i in range(1000, 1100)) + "n/a,b\n")
    table, report = bayeswater.read_table(path)
    assert table["price"].to_pylist()[:2] == [1000.5, 1001.5]
    assert report.n_missing == {"price": 1, "kind": 0}
    assert "$" in report.how["price"] and report.how["price"] in str(report)


WRITTEN = {
    "price": ["$1,200", "n/a", "$95"] * 4,
    "paid": ["31/12/2023", "01/02/2024", "13/05/2024"] * 4,
    "member": ["yes", "no", "Yes"] * 4,
    "zip": ["00501", "10001", "10002"] * 4,
    "fee": ["￥１．５", "￥２", "￥30"] * 4,
    "note": ["a", "b", "c"] * 4,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Give the table, the report, the look and the model of a CSV."""
    text = tmp_path_factory.mktemp("written") / "t.csv"
    lines = [";".join(WRITTEN), *(";".join(row.values()) for row in pa.table(WRITTEN).to_pylist())]
    text.write_text("\n".join(lines), "utf-8")
    model = bayeswater.NaiveBayes().fit(text, target="member")
    look = str(bayeswater.look(text)).replace(str(text), "")
    return *bayeswater.read_table(text, missing="b"), look, model, next(model.predict(text))


@pytest.mark.parametrize("format", ["json", "jsonl", "sqlite", "duckdb", "xlsx"])
def test_text_in_files_that_are_no_text_is_understood_as_that_of_a_csv(tmp_path, format, written):
    pytest.importorskip({"duckdb": "duckdb", "xlsx": "openpyxl"}.get(format, "json"))
    path = tmp_path / f"t.{format}"
    _write(path, pa.table(WRITTEN).to_pylist())
    expected, told, look, model, answers = written
    found, report = bayeswater.read_table(path, missing="b")
    assert found.to_pylist() == expected.to_pylist() and report.types == told.types and report.how == told.how
    assert str(bayeswater.look(path)).replace(str(path), "") == look
    other = bayeswater.NaiveBayes().fit(path, target="member")
    assert other.classes_.tolist() == model.classes_.tolist() == ["Yes", "no", "yes"]
    assert [c.family for c in other.columns_][:4] == [c.family for c in model.columns_][:4]
    assert next(model.predict(path)).equals(answers)


def _write(path, rows):
    names = list(rows[0])
    if path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for cells in (names, *(row.values() for row in rows)):
            book.active.append(list(cells))
        book.save(path)
    elif path.suffix in (".sqlite", ".duckdb"):
        connection = (sqlite3 if path.suffix == ".sqlite" else pytest.importorskip("duckdb")).connect(str(path))
        connection.execute(f"CREATE TABLE t ({', '.join(f'{name} VARCHAR' for name in names)})")
        connection.executemany(f"INSERT INTO t VALUES ({','.join('?' * len(names))})", [[*r.values()] for r in rows])
        connection.commit()
        connection.close()
    else:
        lines = [json.dumps(row) for row in rows]
        path.write_text(f"[{','.join(lines)}]" if path.suffix == ".json" else "\n".join(lines))
