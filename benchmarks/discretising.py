"""MDL cuts beside Weka's filter (Debian package ``weka``): its speed in one warm JVM, and its cuts.

Both fit and transform a table that stands in memory. Where there is no Java compiler or no Weka, ours stands alone.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bayeswater.typing import Array
from benchmarks.data import SEED
from benchmarks.timing import medians_in_turns

N_ROWS, N_COLUMNS = 1_000_000, 10
AT_LEAST = 3.0
"""Times faster than Weka."""

WEKA = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))
DRIVER = Path(__file__).parent / "weka" / "Discretising.java"
JVM_TURNS = 2
"""Turns of Weka of which the fastest counts: the first ones compile."""


def numbers(n_rows: int, n_classes: int) -> tuple[Array, Array]:
    """Normal columns, each with another distance between the classes; the last ones have few different values."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(n_classes, size=n_rows)
    distance = np.linspace(0, 1, N_COLUMNS)
    X = rng.normal(size=(n_rows, N_COLUMNS)) + distance * y[:, None]
    X[:, -3:] = np.round(X[:, -3:], 2)
    return X, y


def has_weka() -> bool:
    """Say whether Weka can be run here."""
    return WEKA.exists() and shutil.which("javac") is not None


def weka_discretise(X: Array, y: Array, n_classes: int, turns: int) -> tuple[list[float], list[Array]]:
    """Seconds of each turn of Weka's filter, and the cuts of each column."""
    with TemporaryDirectory() as folder:
        table = Path(folder) / "table"
        with table.open("wb") as file:
            np.array([*X.shape, n_classes], dtype=">i4").tofile(file)
            np.column_stack([X, y]).astype(">f8").tofile(file)
        subprocess.run(
            ["javac", "-nowarn", "-cp", str(WEKA), "-d", folder, str(DRIVER)], check=True, capture_output=True
        )
        command = ["java", "-Xmx8g", "-cp", f"{WEKA}{os.pathsep}{folder}", DRIVER.stem, str(table), str(turns)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    seconds = [float(line) / 1e3 for line in lines[:turns]]
    return seconds, [np.array(line.split()[1:], dtype=np.float64) for line in lines[turns:]]


def discretising(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time MDL, fit and transform, beside Weka's filter on the same table."""
    for n_classes in (2, 5):
        yield _beside_weka(*numbers(int(N_ROWS * share), n_classes), n_classes, repeats)


def _beside_weka(X: Array, y: Array, n_classes: int, repeats: int) -> dict[str, Any]:
    from bayeswater import Discretizer

    model = Discretizer(fallback=None)
    actions = {"fit": lambda: model.fit(X, y), "both": lambda: model.fit(X, y).transform(X)}
    seconds = medians_in_turns(actions, repeats)
    record: dict[str, Any] = {
        "job": f"MDL, {len(X):,} x {N_COLUMNS} float64, {n_classes} classes",
        "fit s": seconds["fit"],
        "fit and transform s": seconds["both"],
    }
    if not has_weka():
        return record
    of_weka, cuts = weka_discretise(X, y, n_classes, JVM_TURNS)
    ratio = min(of_weka) / seconds["both"]
    return record | {
        "Weka s": min(of_weka),
        "ratio": ratio,
        "at least": AT_LEAST,
        "reached": ratio >= AT_LEAST,
        "columns of the same cuts": _n_same(cuts, model.cuts_),
    }


def cuts_of_weka() -> Iterator[dict[str, Any]]:
    """Compare cuts with Weka's, on tables with ties, missing cells, many classes and neighbouring floats."""
    from sklearn import datasets

    from bayeswater import Discretizer

    tables = {
        name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in ("iris", "wine", "breast_cancer", "digits")
    }
    for name, (X, y) in (tables | dict(_tables_of_ties())).items():
        _, cuts = weka_discretise(X, y, int(y.max()) + 1, turns=1)
        exact, ours = (Discretizer(fallback=None, weka_exact=is_exact).fit(X, y).cuts_ for is_exact in (True, False))
        yield {
            "table": name,
            "rows": len(X),
            "classes": int(y.max()) + 1,
            "columns": X.shape[1],
            "cuts": sum(map(len, cuts)),
            "columns as Weka, weka_exact": _n_same(cuts, exact),
            "columns as Weka, default": _n_same(cuts, ours),
        }


def _tables_of_ties() -> Iterator[tuple[str, tuple[Array, Array]]]:
    rng = np.random.default_rng(SEED)
    y = np.repeat(np.arange(4), 15)
    numbers = np.round(rng.normal(size=(60, 600)), 1) + y[:, None] * np.linspace(0, 2, 600).round(1)
    yield "missing cells, neighbouring floats", (np.where(rng.random(numbers.shape) < 0.1, np.nan, numbers), y)
    y = np.repeat(np.arange(12), 25)
    yield "many classes, ties", (np.round(rng.normal(size=(300, 400)) + y[:, None] * np.linspace(0, 2, 400), 1), y)


def _n_same(theirs: Sequence[Array], ours: Sequence[Any]) -> int:
    return sum(np.array_equal(a, b.points) for a, b in zip(theirs, ours, strict=True))
