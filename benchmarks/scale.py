"""Files larger than memory: fits in one pass beside the time that pyarrow needs to decode the same columns.

Files are written in pieces to a folder of their own (BAYESWATER_SCRATCH, by default the system's) and removed. Every
figure is of a process that has done nothing else but a small fit, which compiles; its peak is the high-water mark of
the whole process, so imports and pyarrow's own buffers count.

    python -m benchmarks.scale fit naive-bayes FILE
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq

import bayeswater
from benchmarks.memory import resident
from benchmarks.processes import in_fresh_process

PIECE = 1_000_000
DRAWN = 10
"""Files whose rows are drawn; the others are copies."""

STATES = np.array([f"state {j}" for j in range(12)])
BYTES_A_ROW = 150
"""Of a file, at most: what does not fit on the disk three times over is not written."""


def parquet_fits(sizes: Sequence[int], turns: int) -> Iterator[dict[str, Any]]:
    """Naive Bayes on ten categories and ten numbers, from a folder of Parquet files, in one pass."""
    with TemporaryDirectory(dir=_scratch()) as folder:
        for n_rows in _that_fit(sizes, folder):
            path = Path(folder) / "rows"
            write_parquet(path, n_rows, mixed_piece)
            yield _compared("naive-bayes", path, n_rows, "parquet", turns)
            shutil.rmtree(path)


def csv_fits(sizes: Sequence[int], turns: int) -> Iterator[dict[str, Any]]:
    """Naive Bayes on five categories and five numbers, from CSV, in one pass."""
    with TemporaryDirectory(dir=_scratch()) as folder:
        for n_rows in _that_fit(sizes, folder):
            path = Path(folder) / "rows.csv"
            write_csv(path, n_rows)
            yield _compared("naive-bayes", path, n_rows, "csv", turns)
            path.unlink()


def pair_fits(sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """AODE on thirty columns of eight states: all pairs, out of core."""
    with TemporaryDirectory(dir=_scratch()) as folder:
        for n_rows in _that_fit(sizes, folder):
            path = Path(folder) / "rows"
            write_parquet(path, n_rows, coded_piece)
            found = in_fresh_process("benchmarks.scale", "fit", "aode", str(path))
            yield {
                "rows": n_rows,
                "fit s": found["seconds"],
                "million rows/s": n_rows / found["seconds"] / 1e6,
                "peak MB": found["peak"] / 1e6,
                "sums MB": found["sums"] / 1e6,
            }
            shutil.rmtree(path)


def _compared(model: str, path: Path, n_rows: int, format: str, turns: int) -> dict[str, Any]:
    fits, decodes = [], []
    for _ in range(turns if n_rows < 50_000_000 else min(turns, 3)):
        decodes.append(in_fresh_process("benchmarks.scale", "decode", format, str(path)))
        fits.append(in_fresh_process("benchmarks.scale", "fit", model, str(path)))
    seconds = {name: median(found["seconds"] for found in runs) for name, runs in (("fit", fits), ("decode", decodes))}
    return {
        "rows": n_rows,
        "files MB": sum(file.stat().st_size for file in [path, *path.glob("*")] if file.is_file()) / 1e6,
        "fit s": seconds["fit"],
        "pyarrow decodes s": seconds["decode"],
        "fit / decode": seconds["fit"] / seconds["decode"],
        "CPU, fit / decode": median(f["cpu"] / d["cpu"] for f, d in zip(fits, decodes, strict=True)),
        "million rows/s": n_rows / seconds["fit"] / 1e6,
        "peak MB": max(found["peak"] for found in fits) / 1e6,
        "pyarrow peak MB": max(found["peak"] for found in decodes) / 1e6,
        "sums MB": fits[0]["sums"] / 1e6,
    }


# ---------------------------------------------------------------------- files


def mixed_piece(rng: np.random.Generator, n_rows: int) -> pa.Table:
    """Ten categories and ten numbers that a class of two has a say in."""
    y = rng.integers(0, 2, n_rows)
    columns: dict[str, Any] = {}
    for j in range(10):
        codes = ((rng.random(n_rows) * 0.9 + 0.1 * y) * len(STATES)).astype(np.int8)
        columns[f"category {j}"] = pa.DictionaryArray.from_arrays(codes, STATES).cast(pa.string())
        columns[f"number {j}"] = rng.standard_normal(n_rows) + 0.2 * j * y
    return pa.table(
        columns | {"class": pa.DictionaryArray.from_arrays(y.astype(np.int8), ["no", "yes"]).cast("string")}
    )


def coded_piece(rng: np.random.Generator, n_rows: int) -> pa.Table:
    """Thirty columns of eight states, and five classes."""
    y = rng.integers(0, 5, n_rows)
    columns = {f"x{j}": ((rng.random(n_rows) * 0.8 + 0.04 * y) * 8).astype(np.int8) for j in range(30)}
    return pa.table(columns | {"class": y.astype(np.int8)})


def write_parquet(folder: Path, n_rows: int, piece: Callable[[np.random.Generator, int], pa.Table]) -> None:
    """Write a folder of files; of many, all but the first few are copies, since to draw rows takes longest."""
    folder.mkdir()
    for k in range(-(-n_rows // PIECE)):
        path, n = folder / f"part-{k:03}.parquet", min(PIECE, n_rows - k * PIECE)
        if k < DRAWN or n < PIECE:
            pq.write_table(piece(np.random.default_rng(k), n), path)
        else:
            shutil.copyfile(folder / f"part-{k % DRAWN:03}.parquet", path)


def write_csv(path: Path, n_rows: int) -> None:
    """Write half of the columns of `mixed_piece` as text, numbers with four digits."""
    names = [f"{kind} {j}" for j in range(5) for kind in ("category", "number")] + ["class"]
    first = mixed_piece(np.random.default_rng(0), 1).select(names)
    with pa.csv.CSVWriter(path, first.schema) as writer:
        for k in range(0, n_rows, PIECE):
            table = mixed_piece(np.random.default_rng(k), min(PIECE, n_rows - k)).select(names)
            for j in range(5):
                rounded = np.round(table[f"number {j}"].to_numpy(), 4)
                table = table.set_column(names.index(f"number {j}"), f"number {j}", pa.array(rounded))
            writer.write_table(table)


def _scratch() -> str | None:
    return os.environ.get("BAYESWATER_SCRATCH")


def _that_fit(sizes: Sequence[int], folder: str) -> list[int]:
    free = shutil.disk_usage(folder).free
    return [n_rows for n_rows in sizes if 3 * BYTES_A_ROW * n_rows < free]


# ---------------------------------------------------------------------- in a process of its own


def _fit(model: str, path: str) -> int:
    new: Any = {"naive-bayes": bayeswater.NaiveBayes, "aode": bayeswater.AODE}[model]()
    source = str(Path(path) / "*.parquet") if Path(path).is_dir() else path
    return new.fit(source, target="class").statistics_.nbytes


def _decode(format: str, path: str) -> int:
    """Read all columns in batches and drop them: CSV by pyarrow's stream, Parquet by its dataset.

    As both are set by themselves; the stream is no faster with larger blocks.
    """
    if format == "csv":
        for _ in pa.csv.open_csv(path):
            pass
    else:
        for _ in pa.dataset.dataset(path).to_batches():
            pass
    return 0


def main(action: str, what: str, path: str) -> None:
    """Fit or decode a file, after a small one that compiles, and print what it took."""
    run = {"fit": _fit, "decode": _decode}[action]
    with TemporaryDirectory() as folder:
        small = Path(folder) / Path(path).name
        if small.suffix == ".csv":
            write_csv(small, 200_000)
        else:
            write_parquet(small, 200_000, coded_piece if what == "aode" else mixed_piece)
        run(what, str(small))
    began, cpu = perf_counter(), process_time()
    sums = run(what, path)
    seconds, cpu = perf_counter() - began, process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak": resident("VmHWM"), "sums": sums}))


if __name__ == "__main__":
    main(*sys.argv[1:])
