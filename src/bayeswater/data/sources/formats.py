"""Formats of files, and the endings of names that tell them."""

from typing import Literal

Format = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "arff"]

FORMAT_OF_SUFFIX: dict[str, Format] = {
    **dict.fromkeys((".csv", ".txt", ".data"), "csv"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".arrows", ".feather", ".ipc"), "arrow"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    ".arff": "arff",
}

COMPRESSED = (".gz", ".zst", ".bz2", ".lz4")
"""Endings that stand behind the one that tells the format."""
