"""Places at which reading can begin: what a file gives from there is what it gave behind that place."""

import bz2
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest

from bayeswater.data.sources import delimited, json_lines
from bayeswater.data.sources.recognising import open_source
from bayeswater.data.sources.source import Source
from bayeswater.errors import DataError

LINES = [f'{i},"Zoë, {i % 7}\nund {"x" * (i % 11)}"\n' for i in range(80)]  # line breaks within cells
CSV = "n,s\n" + "".join(LINES)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 150)
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 150)


def require_every_mark(source: Source, n_rows: int) -> None:
    pieces = list(source.pieces())
    assert pieces[0].mark.row == 0
    assert len(pieces) > 5
    rows = pa.concat_tables([piece.table for piece in pieces]).to_pylist()
    assert len(rows) == n_rows
    for piece in pieces:
        again = list(source.pieces(start=piece.mark))
        assert again[0].mark == piece.mark
        assert pa.concat_tables([p.table for p in again]).to_pylist() == rows[piece.mark.row :]


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (CSV.encode(), {}),
        (CSV.encode("utf-8-sig"), {}),
        (CSV.encode("latin-1"), {"encoding": "latin-1"}),
        (CSV.encode("utf-16"), {"encoding": "utf-16"}),
        ("".join(LINES).encode(), {"header": False}),
        (gzip.compress(CSV.encode()), {}),
        (bz2.compress(CSV.encode("utf-8-sig")), {}),
        (b"\n" * 400 + CSV.encode(), {}),  # the first blocks are blank
    ],
    ids=["utf-8", "mark", "latin-1", "utf-16", "no header", "gzip", "bz2 and mark", "blank lines"],
)
def test_a_csv_goes_on_from_every_place(tmp_path, content, options):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    if content.startswith(b"\n"):
        source = open_source(path, **options)
        rows = [row for table in source.batches() for row in table.to_pylist()]
        assert [row["n"] for row in rows] == list(range(80))
        for piece in source.pieces():
            assert sum(table.num_rows for table, _ in source.pieces(start=piece.mark)) == 80 - piece.mark.row
    else:
        require_every_mark(open_source(path, **options), 80)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_json_lines_go_on_from_every_place(tmp_path, mark, pack):
    path = tmp_path / "t.jsonl"
    lines = "".join(f'{{"n": {i}, "s": "Zoë {i}"}}\n' + "\n" * (i % 5 == 3) for i in range(80))  # some are blank
    path.write_bytes(pack(mark + lines.encode()))
    require_every_mark(open_source(path), 80)


def test_errors_name_the_row_of_the_file_also_where_reading_began_later(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 400)
    path = tmp_path / "t.csv"
    path.write_text("n,s\n" + "1,a\n" * 300 + "1,a,b\n")
    source = open_source(path)
    marks = []
    with pytest.raises(DataError, match="row 302 "):
        for piece in source.pieces():
            marks.append(piece.mark)
    for mark in (marks[1], marks[-1]):
        with pytest.raises(DataError, match="row 302 "):
            list(source.pieces(start=mark))


def test_lines_are_numbered_also_where_reading_began_later(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"n": 1}\n\n' * 100 + "nonsense\n")
    source = open_source(path)
    marks = []
    with pytest.raises(DataError, match="line 201 is no JSON"):
        for piece in source.pieces():
            marks.append(piece.mark)
    with pytest.raises(DataError, match="line 201 is no JSON"):
        list(source.pieces(start=marks[-1]))


def test_a_pipe_passes_over_what_stands_before_the_place(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text(CSV)
    pieces = list(open_source(path).pieces())
    pipe = open_source("-", standard_input=io.BytesIO(CSV.encode()))
    rest = pa.concat_tables([piece.table for piece in pipe.pieces(start=pieces[3].mark)])
    assert rest.to_pylist() == pa.concat_tables([piece.table for piece in pieces[3:]]).to_pylist()
