"""JSON lines: one object on each line, its members the cells of a row; a member that is not there is missing.

Members of an object within it are columns, too: ``{"user": {"age": 31}}`` has the column ``user.age``.

Blocks of whole lines are read by Arrow. A line holds no line break, so a block can be cut at any of them. An array of
objects is read as lines, too (`json_arrays`).
"""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.column_types import wider_type
from bayeswater.data.sources.encodings import marked_encoding
from bayeswater.data.sources.json_arrays import ArrayLines, is_array
from bayeswater.data.sources.parts import DecodedPiece, Mark
from bayeswater.data.sources.prefetch import worked_beside
from bayeswater.data.sources.source import BLOCK_BYTES, DECODERS, Source
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_LINE = 64 * 2**20
"""Bytes of a line; beyond it the file has no lines."""

HEAD_BYTES = 2**12
"""In which an array begins, behind blanks."""

DEEPEST = 200
"""Lists and objects within one another; Arrow ends the process where they are some ten thousand."""

NO_SIGNS = bytes(set(range(256)) - set(b'[]{}"'))

LONGEST_INTEGER, LONGEST_CODE = 2.0**63, 1e25
"""Whole numbers between these are floats to Arrow, and codes to people."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

ZONE = r":\d\d(?:[.,]\d+)?(?:Z|[-+]\d\d:?\d\d)$"
ZONE_IN_BLOCK = re.compile(ZONE.replace("$", '"').encode())
"""What a time with a zone ends in; Arrow would drop the zone."""


class JsonLinesSource(Source):
    """Rows of a file of JSON lines."""

    _found: "pa.Schema"  # types as they are in the file; `schema` has those asked for in their place
    types_strings = True
    _paths: dict[str, tuple[str, ...]]  # the members that lead to each column within an object
    _empty: set[tuple[str, ...]]  # and to objects of which no row has a member

    def _read_schema(self) -> "pa.Schema":
        head, is_whole = self._first_lines()
        if not head.strip():
            raise DataError(f"{self.name} is empty; give a file with one JSON object on each line")
        if marked := marked_encoding(head) or "utf-16" * (b"\0" in head[:2]):
            raise DataError(f"{self.name} is text in {marked}; write JSON in UTF-8")
        if is_whole:
            self._require_rows(head)
        self._paths, self._empty = {}, set()
        self._found = self._inferred(head, 0)
        return self._found

    def _first_lines(self) -> tuple[bytes, bool]:
        """Give lines of the beginning, and whether they are all."""
        head = self.origin.head(BLOCK_BYTES)
        is_whole = len(head) < BLOCK_BYTES
        if is_array(head):
            head = ArrayLines(io.BytesIO(head), self.name, is_beginning=not is_whole).read(BLOCK_BYTES)
        elif not is_whole:
            head = head[: head.rfind(b"\n") + 1]
        return head.removeprefix(BYTE_ORDER_MARK), is_whole

    def _first_strings(self, names: list[str]) -> "pa.Table":
        """Give columns of the first rows as they are stored."""
        return self._parsed(self._first_lines()[0], self._stored_schema(names), "ignore")

    @property
    def may_lack_columns(self) -> bool:
        """Whether a column may be absent: a member that no line has is missing in all of them."""
        return True

    def _stored_schema(self, names: list[str]) -> "pa.Schema":
        import pyarrow as pa

        return pa.schema([(name, self._stored_type(name)) for name in names])

    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        import pyarrow as pa

        stored = self._stored_schema(names)
        is_whole = len(names) == len(self._found)
        n_rows, _, n_lines = start

        def parsed(block: tuple[int, bytes]) -> "pa.Table | pa.ArrowInvalid":
            try:
                if zoned := self._zoned(block[1], stored):
                    return pa.ArrowInvalid(f"times of {zoned[0]!r} have a zone")
                return self._parsed(block[1], stored, "error" if is_whole else "ignore")
            except pa.ArrowInvalid as misfit:  # told in its turn, when the lines before it are counted
                return misfit

        for (n_bytes, block), found in worked_beside(parsed, self._blocks(start.byte), DECODERS):
            if isinstance(found, pa.ArrowInvalid):
                self._require_objects(block, n_lines)
                self._widen(
                    f"{self.name}: after line {n_lines} are cells of other types or columns than before it ({found})",
                    "give a file in place of the pipe",
                    self._fitting_schema,
                )
            yield DecodedPiece(found.select(names), Mark(n_rows, n_bytes, n_lines))
            n_rows += found.num_rows
            n_lines += block.count(b"\n")
            del found, block

    def _stored_type(self, name: str) -> "pa.DataType":
        """Give the type to read: the one asked for, where JSON can be read so, and else the one found."""
        import pyarrow as pa

        found = self._found.field(name).type
        asked = self.types.get(name, found)
        are_numbers = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in (found, asked))
        is_text = pa.types.is_string(asked) and pa.types.is_timestamp(found)
        return asked if are_numbers or is_text or pa.types.is_null(found) else found

    def _blocks(self, n_passed: int = 0) -> Iterator[tuple[int, bytes]]:
        """Read whole lines, some megabytes at once, and how many bytes stand before them; so many are passed over."""
        with self._opened(n_passed) as file:
            rest = file.read(BLOCK_BYTES)
            if not n_passed and rest.startswith(BYTE_ORDER_MARK):
                rest, n_passed = rest[len(BYTE_ORDER_MARK) :], len(BYTE_ORDER_MARK)
            while True:
                more = file.read(BLOCK_BYTES)
                if not more:
                    break
                cut = more.rfind(b"\n") + 1
                if cut:
                    block, rest = rest + more[:cut], more[cut:]
                    yield n_passed, block
                    n_passed += len(block)
                elif len(rest) > LONGEST_LINE:
                    raise DataError(
                        f"{self.name} has a line of more than {LONGEST_LINE // 2**20} MiB: is it JSON lines?"
                    )
                else:
                    rest += more
            if rest.strip():
                yield n_passed, rest

    def _opened(self, n_passed: int) -> Any:
        """Open the lines behind so many bytes."""
        if not is_array(self.origin.head(HEAD_BYTES)):
            return self.origin.open(n_passed)
        lines = ArrayLines(self.origin.open(), self.name)
        lines.pass_over(n_passed)
        return lines

    def _fitting_schema(self) -> "pa.Schema":
        import pyarrow as pa

        kinds: dict[str, pa.DataType] = {}
        n_lines = 0
        for _, block in self._blocks():
            for field in self._inferred(block, n_lines):
                before = kinds.get(field.name, field.type)
                wider = _wider(before, field.type)
                if wider is None:
                    raise self._mixed(field.name, before, field.type, n_lines)
                kinds[field.name] = wider
            n_lines += block.count(b"\n")
        self._found = pa.schema(list(kinds.items()))
        return self._with_styles(self._found, in_all=True)

    def _parsed(self, block: bytes, schema: "pa.Schema | None", others: str) -> "pa.Table":
        """Parse columns, or all; members of an object within a row are columns of their own."""
        import pyarrow as pa

        if schema is not None and (self._paths or self._empty):
            columns = [(self._paths.get(one.name, (one.name,)), one.type) for one in schema]
            within = {path[:n] for path, _ in columns for n in range(len(path))}
            columns += [(path, pa.struct([])) for path in self._empty - within] if others == "error" else []
            schema = pa.schema(_nested(columns))
        table = _parsed(block, schema, others)
        if schema is None:
            paths = {*_leaves(table.schema)}
            self._empty |= {path[:-1] for path in paths if not path[-1]}
            self._paths |= {".".join(path): path for path in paths if path[-1] and len(path) > 1}
        while any(map(pa.types.is_struct, table.schema.types)):
            table = table.flatten()
        if len({*table.column_names}) < len(table.column_names):
            twice = next(name for name in table.column_names if table.column_names.count(name) > 1)
            raise DataError(f"{self.name}: two members of a row are called {twice!r}; give one of them another name")
        return table

    def _zoned(self, block: bytes, schema: "pa.Schema") -> list[str]:
        """Name the columns of points in time of which a cell has a zone: they are read as text is, all in UTC."""
        import pyarrow as pa
        import pyarrow.compute as pc

        moments = [field.name for field in schema if pa.types.is_timestamp(field.type)]
        if not moments or not ZONE_IN_BLOCK.search(block):
            return []
        written = self._parsed(block, pa.schema([(name, pa.string()) for name in moments]), "ignore")
        return [name for name in moments if pc.any(pc.match_substring_regex(written.column(name), ZONE)).as_py()]

    # ------------------------------------------------------------------ what goes wrong

    def _inferred(self, block: bytes, n_lines: int) -> "pa.Schema":
        """Find names and types of a block."""
        import pyarrow as pa

        try:
            table = self._parsed(block, None, "infer")
            found = table.schema
            for name in found.names:
                if _has_long_numbers(table.column(name)):
                    self.note(f"column {name!r} has whole numbers that no float64 tells apart: write them as text")
            zoned = self._zoned(block, found)
            return pa.schema([pa.field(one.name, pa.string()) if one.name in zoned else one for one in found])
        except pa.ArrowInvalid as error:
            self._require_objects(block, n_lines)
            raise DataError(f"{self.name}: after line {n_lines}: {error}") from None

    def _require_rows(self, text: bytes) -> None:
        """Refuse a single object that is a whole table: around a list of rows, or around columns."""
        try:
            whole = json.loads(text.removeprefix(BYTE_ORDER_MARK))
        except (ValueError, RecursionError):
            return
        if not isinstance(whole, dict) or not whole.keys().isdisjoint(self.expected):  # a row of a model
            return
        for name, cell in whole.items():
            if isinstance(cell, list) and cell and isinstance(cell[0], list if "columns" in whole else dict):
                raise DataError(
                    f"{self.name} is one object, and its rows seem to be the list {name!r} in it; write that list "
                    "alone, as an array of objects (pandas: to_json(..., orient='records'))"
                )
        cells = list(whole.values())
        if len(cells) > 1 and all(isinstance(cell, dict | list) and len(cell) == len(cells[0]) for cell in cells):
            raise DataError(
                f"{self.name} is one object of equally long lists or objects: it seems to hold columns and not rows; "
                "write an array of objects, one for each row (pandas: to_json(..., orient='records'))"
            )

    def _require_objects(self, block: bytes, n_lines: int) -> None:
        """Refuse the first line that is no JSON object, or that holds a cell of another kind than those before."""
        kinds: dict[str, str] = {}
        for number, line in enumerate(block.split(b"\n"), start=n_lines + 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except UnicodeDecodeError:
                raise DataError(f"{self.name}: line {number} is not text in UTF-8; convert the file") from None
            except (ValueError, RecursionError) as error:
                raise DataError(
                    f"{self.name}: line {number} is no JSON: {error}; write one object on each line"
                ) from None
            if not isinstance(row, dict):
                raise DataError(
                    f"{self.name}: line {number} is no JSON object but {str(row)[:40]!r}; write one object on each line"
                )
            for name, cell in _cells(row):
                kind = _kind(cell)
                before = kinds.setdefault(name, kind) if kind else kind
                if before != kind:
                    raise self._mixed(name, before, kind, number - 1)

    def _mixed(self, name: str, before: Any, now: Any, n_lines: int) -> DataError:
        return DataError(
            f"{self.name}: after line {n_lines}, column {name!r} holds {now}, and {before} before it; give its cells "
            "one type"
        )


def _parsed(block: bytes, schema: "pa.Schema | None", others: str) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.json

    try:
        block.decode()
    except UnicodeDecodeError as error:  # Arrow does not look
        raise pa.ArrowInvalid(str(error)) from None
    if _is_deep(block):
        raise pa.ArrowInvalid(f"lists or objects stand more than {DEEPEST} deep in one another")
    return pyarrow.json.read_json(
        pa.BufferReader(block),
        pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
        pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others),
    )


def _leaves(fields: "Iterable[pa.Field]", *path: str) -> Iterator[tuple[str, ...]]:
    """Give the members that lead to each cell of a row, and behind those of an empty object ""."""
    import pyarrow as pa

    for field in fields:
        if pa.types.is_struct(field.type):
            yield from _leaves(field.type, *path, field.name) if field.type.num_fields else [(*path, field.name, "")]
        else:
            yield (*path, field.name)


def _nested(columns: "Sequence[tuple[tuple[str, ...], pa.DataType]]") -> "list[pa.Field]":
    """Make fields of columns, and of objects those whose columns lie in one."""
    import pyarrow as pa

    within: dict[str, list[tuple[tuple[str, ...], pa.DataType]]] = {}
    for (name, *path), kind in columns:
        within.setdefault(name, []).append((tuple(path), kind))
    return [pa.field(name, own[0][1] if not own[0][0] else pa.struct(_nested(own))) for name, own in within.items()]


def _has_long_numbers(cells: "pa.ChunkedArray") -> bool:
    """Say whether floats are all whole, and one of them longer than an integer can be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(cells.type):
        return False
    largest = pc.max(pc.abs(cells)).as_py()
    is_long = largest is not None and LONGEST_INTEGER <= largest < LONGEST_CODE
    return is_long and bool(pc.all(pc.equal(cells, pc.round(cells))).as_py())


def _is_deep(block: bytes) -> bool:
    """Say whether lists or objects are nested deeper than Arrow bears; most blocks have too few of them for it."""
    n_open = block.count(b"[") + block.count(b"{") - block.count(b"}\n{") - block.count(b"}\r\n{")
    if n_open <= DEEPEST:
        return False
    bare = block.replace(b"\\\\", b"").replace(b'\\"', b"")  # what is escaped ends no string
    signs = b"".join(bare.translate(None, NO_SIGNS).split(b'"')[::2])
    steps = np.where(np.isin(np.frombuffer(signs, np.uint8), list(b"[{")), 1, -1)
    return bool(steps.cumsum().max(initial=0) > DEEPEST)


def _wider(a: "pa.DataType", b: "pa.DataType") -> "pa.DataType | None":
    """Give the type that holds the cells of both, if there is one; a text may look like a point in time."""
    import pyarrow as pa

    if pa.string() in (a, b) and any(map(pa.types.is_timestamp, (a, b))):
        return pa.string()
    return wider_type(a, b)


def _cells(row: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Give the cells of a row, and behind an object those within it."""
    for member, cell in row.items():
        yield within + member, cell
        if isinstance(cell, dict):
            yield from _cells(cell, f"{within}{member}.")


def _kind(cell: Any) -> str:
    """Name what a cell is in JSON, "" for null."""
    if cell is None:
        return ""
    kinds = {bool: "truths", str: "text", list: "lists", dict: "objects", int: "numbers", float: "numbers"}
    return kinds[type(cell)]
