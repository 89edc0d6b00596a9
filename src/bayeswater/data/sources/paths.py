"""Names of files: a path, a pattern such as ``part-*.parquet``, a folder, or a list of them, as the files they mean.

Formats of files are listed with the endings of names that tell them.
"""

from collections.abc import Iterable
from glob import glob, has_magic
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path
from typing import Any, Literal

from bayeswater.data.sources.origin import STDIN
from bayeswater.errors import DataError

Format = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "arff", "excel", "sqlite", "duckdb", "spss", "stata", "sas"]

FORMAT_OF_SUFFIX: dict[str, Format] = {
    **dict.fromkeys((".csv", ".txt", ".data", ".dat", ".psv", ".prn", ".asc"), "csv"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".arrows", ".feather", ".ipc"), "arrow"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    ".arff": "arff",
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), "excel"),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), "sqlite"),
    ".duckdb": "duckdb",
    **dict.fromkeys((".sav", ".zsav", ".por"), "spss"),
    ".dta": "stata",
    **dict.fromkeys((".sas7bdat", ".xpt"), "sas"),
}

COMPRESSED = (".gz", ".zst", ".bz2", ".lz4", ".xz", ".zip")
"""Endings that stand behind the one that tells the format."""


def is_path(source: Any) -> bool:
    """Say whether something is the name of a file."""
    return isinstance(source, str | PathLike)


def names_rows(text: str) -> bool:
    """Say whether a text is the name of a file or a folder that is there, or one word with the ending of such a file.

    >>> names_rows("part-*.parquet"), names_rows("see what is in prices.csv"), names_rows("free")
    (True, False, False)
    """
    try:
        if text and Path(text).exists():
            return True
    except (OSError, ValueError):  # too long for a name, or with a NUL
        return False
    return len(text.split()) == 1 and _ending(text) in FORMAT_OF_SUFFIX.values()


def files_named(paths: Iterable[str | PathLike[str]]) -> list[str]:
    """Give the files that names, patterns and folders mean; of a pattern or a folder in the order of their names."""
    found = [file for path in paths for file in _files(fspath(path))]
    twice = named_twice(found)
    if twice is not None:
        raise DataError(f"{twice!r} is named twice, and its rows would be counted twice; name each file once")
    return found


def named_twice(files: list[str]) -> str | None:
    """Give a file that was named before, under this name or another; None where each is there once."""
    before = set()
    for file in files:
        real = file if file == STDIN else realpath(file)
        if real in before:
            return file
        before.add(real)
    return None


def _files(path: str) -> list[str]:
    if path == STDIN:
        return [path]
    if Path(path).is_dir():
        return _in_folder(path)
    if has_magic(path) and not Path(path).exists():
        matches = glob(path, recursive=True)  # noqa: PTH207 - that of a Path takes hidden files along
        found = sorted(name for name in matches if Path(name).is_file())
        if not found:
            raise DataError(f"no file is named like {path!r}; look at the pattern, and at the folder it begins in")
        return found
    return [path]


def _in_folder(folder: str) -> list[str]:
    """Give the files in a folder and the folders in it; hidden ones, and those named as _SUCCESS, are no data."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        below = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(("_", ".")) for part in below):
            parted = [part for part in below[:-1] if "=" in part]
            if parted:
                raise DataError(
                    f"the folder {folder!r} has cells in the names of its folders, as {parted[0]!r}; give "
                    f"pyarrow.dataset.dataset({folder!r}, partitioning='hive')"
                )
            found.append(str(path))
    if not found:
        raise DataError(f"the folder {folder!r} holds no files; name the files, or the folder they lie in")
    kinds = sorted({_ending(name) for name in found})
    if len(kinds) > 1:
        raise DataError(
            f"the folder {folder!r} holds files of several kinds, {' and '.join(map(repr, kinds))}; name those of one "
            "kind by a pattern, as '*.csv'"
        )
    return found


def _ending(name: str) -> str:
    """Give the ending that tells the format.

    >>> _ending("a.csv.gz"), _ending("README")
    ('csv', '')
    """
    suffixes = [suffix.lower() for suffix in Path(name).suffixes if suffix.lower() not in COMPRESSED]
    return FORMAT_OF_SUFFIX.get(suffixes[-1], suffixes[-1]) if suffixes else ""
