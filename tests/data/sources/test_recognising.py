"""Sources of any format: where bytes come from, how formats are recognised, and how little is held at once."""

import bz2
import gzip
import io
import os
import threading
import weakref
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from bayeswater import local_rows, look, read_table
from bayeswater.data.column_types import as_types, type_named
from bayeswater.data.sources import arff, delimited, json_lines, source
from bayeswater.data.sources.recognising import open_source
from bayeswater.errors import DataError, ParameterError

TABLE = pa.table({"n": [1, 2, None], "x": [0.5, None, 2.0], "s": ["a", "b c", None]})

CSV = "n,x,s\n1,0.5,a\n2,,b c\n,2.0,\n"
JSON_LINES = '{"n": 1, "x": 0.5, "s": "a"}\n{"n": 2, "s": "b c"}\n{"x": 2.0, "n": null}\n'
ARFF = "@relation t\n@attribute n integer\n@attribute x real\n@attribute s string\n@data\n1,0.5,a\n2,?,'b c'\n?,2.0,?\n"


def write(path: Path, name: str) -> Path:
    """Write the table as a file of that name."""
    path = path / name
    match path.suffixes[0]:
        case ".parquet":
            pyarrow.parquet.write_table(TABLE, path)
        case ".feather":
            pyarrow.feather.write_feather(TABLE, str(path))
        case ".arrow":
            with pa.ipc.new_file(path, TABLE.schema) as file:
                file.write_table(TABLE)
        case ".arrows":
            with pa.ipc.new_stream(path, TABLE.schema) as file:
                file.write_table(TABLE)
        case suffix:
            text = {".csv": CSV, ".tsv": CSV.replace(",", "\t"), ".jsonl": JSON_LINES, ".arff": ARFF}[suffix]
            path.write_bytes(compressed(text.encode(), path.suffix))
    return path


def compressed(content: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(content)
    if suffix == ".bz2":
        return bz2.compress(content)
    return content


NAMES = [
    *("t.csv", "t.csv.gz", "t.csv.bz2", "t.tsv", "t.tsv.gz", "t.parquet", "t.feather", "t.arrow", "t.arrows"),
    *("t.jsonl", "t.jsonl.gz", "t.arff", "t.arff.gz"),
]


@pytest.mark.parametrize("name", ["t.xls", "t.tsv"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_text_is_read_whatever_its_name_promises(name: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes("n;s\n1;ä\n2;ö\n".encode(encoding))
    assert next(iter(open_source(tmp_path / name).batches())).to_pydict() == {"n": [1, 2], "s": ["ä", "ö"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_the_same_in_every_format(tmp_path, name):
    source = open_source(write(tmp_path, name))
    assert source.schema.names == ["n", "x", "s"]
    assert source.schema.types == TABLE.schema.types
    for _ in range(2):
        assert pa.concat_tables(source.batches()).to_pylist() == TABLE.to_pylist()
    assert pa.concat_tables(source.batches(["s", "n"])).to_pylist() == TABLE.select(["s", "n"]).to_pylist()


@pytest.mark.parametrize("compression", ["gzip", "bz2", "zstd", "lz4"])
def test_compression_is_recognised_by_the_bytes_and_not_by_the_name(tmp_path, compression):
    path = tmp_path / "t.csv"
    with pa.CompressedOutputStream(str(path), compression) as file:
        file.write(CSV.encode())
    assert pa.concat_tables(open_source(path).batches()).to_pylist() == TABLE.to_pylist()
    standard_input = io.BytesIO(path.read_bytes())
    assert pa.concat_tables(open_source("-", standard_input=standard_input).batches()).num_rows == 3


@pytest.mark.parametrize(
    ("name", "format"), [("t.csv", None), ("t.jsonl", "jsonl"), ("t.arff", "arff"), ("t.arrows", "arrow")]
)
def test_standard_input_is_read_once(tmp_path, name, format):
    content = write(tmp_path, name).read_bytes()
    source = open_source("-", format, standard_input=io.BytesIO(content))
    assert source.name == "standard input"
    assert source.schema.names == ["n", "x", "s"]
    assert source.n_bytes is None
    assert pa.concat_tables(source.batches()).to_pylist() == TABLE.to_pylist()
    with pytest.raises(DataError, match="standard input can be read only once"):
        next(source.batches())


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("text", ['{"n": 1, "s": "a"}\n{"n": 2}\n', '[{"n": 1, "s": "a"}, {"n": 2}]'])
def test_json_on_standard_input_is_known_by_its_first_bytes(pack, text):
    read = open_source("-", standard_input=io.BytesIO(pack(text.encode())))
    assert pa.concat_tables(read.batches()).to_pylist() == [{"n": 1, "s": "a"}, {"n": 2, "s": None}]
    whole = gzip.compress(text.encode() * 1000)
    with pytest.raises(DataError, match="is the file complete"):
        pa.concat_tables(open_source("-", standard_input=io.BytesIO(whole[: len(whole) // 2])).batches())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
def test_a_named_pipe_is_read_as_standard_input_is(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    feeder = threading.Thread(target=path.write_text, args=(CSV,))
    feeder.start()
    assert pa.concat_tables(open_source(path).batches()).to_pylist() == TABLE.to_pylist()
    feeder.join()


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_files_that_are_read_from_their_end_are_refused_from_a_pipe(tmp_path, name):
    content = write(tmp_path, name).read_bytes()
    format: Any = {"t.parquet": "parquet", "t.arrow": "arrow"}[name]
    with pytest.raises(DataError, match="give the file itself"):
        open_source("-", format, standard_input=io.BytesIO(content)).schema  # noqa: B018
    with pytest.raises(DataError, match="give the file itself"):
        open_source("-", standard_input=io.BytesIO(content)).schema  # noqa: B018


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_files_of_columns_are_recognised_without_an_ending(tmp_path, name):
    path = write(tmp_path, name).rename(tmp_path / "nameless")
    assert pa.concat_tables(open_source(path).batches()).to_pylist() == TABLE.to_pylist()


def test_an_ending_that_names_no_format_is_refused_with_those_there_are(tmp_path):
    path = tmp_path / "table.xyz"
    path.write_text(CSV)
    with pytest.raises(DataError, match=r"the ending '\.xyz' names no format; .*csv, tsv, parquet, arrow, jsonl, arff"):
        open_source(path)
    assert pa.concat_tables(open_source(path, "csv").batches()).num_rows == 3


def test_a_file_that_is_not_there_is_refused_with_the_nearest_name(tmp_path):
    (tmp_path / "people.csv").write_text(CSV)
    with pytest.raises(DataError, match=r"there is no such file; did you mean '.*people\.csv'\?"):
        open_source(tmp_path / "peopel.csv").schema  # noqa: B018
    with pytest.raises(DataError, match="it is a folder"):
        open_source(tmp_path, "csv").schema  # noqa: B018


@pytest.mark.parametrize(("first", "what"), [(b"7z\xbc\xaf", "a 7z archive"), (b"Rar!", "a RAR archive")])
def test_archives_are_refused_by_name(tmp_path, first, what):
    path = tmp_path / "t.csv"
    path.write_bytes(first + bytes(100))
    with pytest.raises(DataError, match=f"t.csv is {what}"):
        open_source(path).schema  # noqa: B018


def test_a_truncated_archive_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    content = gzip.compress(CSV.encode() * 1000)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"t\.csv\.gz: .*is the file complete"):
        list(open_source(path).batches())


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.arrows", "t.feather"])
def test_files_of_columns_that_are_cut_off_or_something_else_are_refused(tmp_path, name):
    path = write(tmp_path, name)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"n,x\n1,2\n" * 10, b""):
        path.write_bytes(content)
        with pytest.raises(DataError, match=name):
            list(open_source(path).batches())


# ---------------------------------------------------------------------- types


def test_types_that_are_asked_for_are_given_by_every_format(tmp_path):
    for name in NAMES:
        source = open_source(write(tmp_path, name), types={"n": pa.float64(), "s": pa.string()})
        table = pa.concat_tables(source.batches())
        assert source.schema.field("n").type == table.schema.field("n").type == pa.float64(), name
        assert table.column("n").to_pylist() == [1.0, 2.0, None]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.jsonl", "t.arff"])
def test_a_cell_that_does_not_fit_the_type_asked_for_is_named_by_row_and_value(tmp_path, name):
    with pytest.raises(DataError, match=f"{name}: row 1, column 's' holds 'a', which is no number"):
        list(open_source(write(tmp_path, name), types={"s": pa.float64()}).batches())


def test_types_may_be_declared_after_the_names_are_known():
    source = open_source("-", standard_input=io.BytesIO(b"zip,n\n1,2\n"), types={"n": pa.string()})
    assert source.schema.types == [pa.int64(), pa.string()]
    source.declare(dict.fromkeys(source.schema.names, pa.float64()))
    assert source.schema.types == [pa.float64(), pa.string()]  # the one given before stays
    assert next(source.batches()).to_pylist() == [{"zip": 1.0, "n": "2"}]


def test_types_are_named_as_people_name_them():
    assert as_types(["a=b=string", "n=int"]) == {"a=b": pa.string(), "n": pa.int64()}
    assert type_named("date") == pa.date32()
    with pytest.raises(ParameterError, match="there is no type 'strng'; did you mean 'string'"):
        type_named("strng")
    with pytest.raises(ParameterError, match="names no type; write column=type"):
        as_types(["zip"])


# ---------------------------------------------------------------------- how little is held at once


@pytest.fixture
def small_batches(monkeypatch: Any) -> None:
    """Cut batches short, so that a small file has many."""
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**12)
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 2**12)
    monkeypatch.setattr(source, "BATCH_ROWS", 100)
    monkeypatch.setattr(source, "BATCH_CELLS", 400)
    monkeypatch.setattr(arff, "ROWS", 100)


LONG = pa.table({"n": range(5000), "s": [f"word {i % 7}" for i in range(5000)]})


def long_file(folder: Path, name: str) -> Path:
    path = folder / name
    match path.suffixes[0]:
        case ".parquet":
            pyarrow.parquet.write_table(LONG, path)
        case ".arrow":
            with pa.ipc.new_file(path, LONG.schema) as file:
                file.write_table(LONG)
        case ".arrows":
            with pa.ipc.new_stream(path, LONG.schema) as file:
                file.write_table(LONG)
        case ".jsonl":
            path.write_text("".join(f'{{"n": {r["n"]}, "s": "{r["s"]}"}}\n' for r in LONG.to_pylist()))
        case ".arff":
            rows = "".join(f"{r['n']},'{r['s']}'\n" for r in LONG.to_pylist())
            path.write_text(f"@relation r\n@attribute n integer\n@attribute s string\n@data\n{rows}")
        case ".csv":
            text = "n,s\n" + "".join(f"{r['n']},{r['s']}\n" for r in LONG.to_pylist())
            path.write_bytes(compressed(text.encode(), path.suffix))
    return path


LONG_NAMES = ["t.csv", "t.csv.gz", "t.parquet", "t.arrow", "t.arrows", "t.jsonl", "t.arff"]


@pytest.mark.parametrize("name", LONG_NAMES)
def test_batches_are_let_go_before_the_next_is_read(tmp_path, small_batches, name):
    alive: list[weakref.ref[pa.Table]] = []
    n_rows = 0
    for table in open_source(long_file(tmp_path, name)).batches():
        alive.append(weakref.ref(table))
        n_rows += table.num_rows
        assert [ref() is None for ref in alive[:-1]] == [True] * (len(alive) - 1), "an older batch is still held"
        assert table.num_rows < 1000
        del table
    assert n_rows == 5000
    assert len(alive) > 5


@pytest.mark.parametrize("name", LONG_NAMES)
def test_long_files_are_read_whole_and_in_order(tmp_path, small_batches, name):
    assert pa.concat_tables(open_source(long_file(tmp_path, name)).batches()).to_pylist() == LONG.to_pylist()


@pytest.mark.parametrize("rows", [1, 30, 200, 999])
def test_short_batches_of_an_arrow_file_come_together_and_long_ones_in_pieces(tmp_path, small_batches, rows):
    path = tmp_path / "t.arrow"
    with pa.ipc.new_file(path, LONG.schema) as file:
        file.write_table(LONG, max_chunksize=rows)
    tables = list(open_source(path).batches())
    assert [table.num_rows for table in tables] == [200] * 25
    assert pa.concat_tables(tables).to_pylist() == LONG.to_pylist()


@pytest.mark.parametrize("name", LONG_NAMES)
def test_progress_goes_from_nothing_to_all(tmp_path, small_batches, name):
    source = open_source(long_file(tmp_path, name))
    assert source.n_bytes == (tmp_path / name).stat().st_size
    assert source.n_rows == (5000 if name == "t.parquet" else None)
    seen = [source.bytes_read for _ in source.batches()]
    assert seen == sorted(seen)
    if source.n_rows is None:
        assert source.bytes_read == source.n_bytes


def test_a_reader_that_stops_early_leaves_the_source_usable(tmp_path, small_batches):
    source = open_source(long_file(tmp_path, "t.csv.gz"))
    assert next(source.batches()).num_rows < 5000
    assert sum(table.num_rows for table in source.batches()) == 5000


@pytest.mark.parametrize("read", [local_rows, read_table, look])
def test_options_of_reading_files_are_refused_where_there_is_no_file(read):
    with pytest.raises(ParameterError, match=r"missing, decimal: this tells how a file is read, and the source is a T"):
        read(pa.table({"x": ["?", "1"]}), missing=["?"], decimal=",")
    with pytest.raises(ParameterError, match="rows that are open already"):
        local_rows(local_rows(pa.table({"x": [1]})), header=False)
    assert local_rows(pa.table({"x": [1]}), types={"x": "number"}).schema.field("x").type == pa.float64()


def test_an_option_that_there_is_not_is_named_with_the_nearest_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(TypeError, match="there is no option 'encodign' of reading; did you mean 'encoding'"):
        open_source(path, encodign="utf-8")


@pytest.mark.parametrize("option", ["sheet", "table", "query"])
def test_a_sheet_or_table_asked_of_a_file_without_any_is_refused_and_not_passed_over(option, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match=f"a.csv is read as csv, and {option} is for .*leave {option} out"):
        open_source(path, **{option: "other"})
