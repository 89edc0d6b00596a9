"""AODE beside Weka's (Debian package ``weka``): its speed in one warm JVM, and its probabilities; TAN beside pyAgrum's.

The tables of the second part, public ones with missing cells, are no part of the project, nor is the car table of
UCI with its golden values: they are looked for under BAYESWATER_DATA, and those that are not there are left out, as is
Weka where there is no Java compiler, and pyAgrum where it is not installed.

    python -m benchmarks.semi_naive [share of the rows]
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from bayeswater import AODE, TAN
from bayeswater.typing import Array
from benchmarks.data import categories
from benchmarks.discretising import WEKA, has_weka
from benchmarks.timing import medians_in_turns

DATA = Path(os.environ.get("BAYESWATER_DATA", "data")) / "tabular"
TABLES = ("vote", "soybean", "breast-cancer", "mushroom", "audiology")
"""Nominal tables with missing cells."""

N_ROWS, N_STATES, N_CLASSES = 100_000, 8, 5
AT_LEAST = {"fit": 3.0, "predict": 5.0}
"""Times faster than Weka."""

PYAGRUM_SHARE, PYAGRUM_AT_LEAST = 0.1, 5.0
"""Share of the rows that pyAgrum's classifier is timed on, which takes it seconds, and times faster than it."""

CAR_ROW = 12
CAR_GOLDEN = {"laplace": (0.79259, 0.94039), "m-estimate": (0.80151, 0.94618)}
"""P(unacc) of the 12th row of UCI car by AODE, and its accuracy on all rows, for each smoothing."""

CLOSE = 1e-9
DRIVER = Path(__file__).parent / "weka" / "Averaging.java"
JVM_TURNS = 4
"""Turns of Weka of which the fastest counts: the first ones compile."""


def semi_naive(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time fit and predict of AODE beside Weka's, and of TAN, on codes that stand in memory."""
    rows = categories(int(N_ROWS * share), n_states=N_STATES, n_classes=N_CLASSES)
    X, y = rows.X, rows.y
    aode, tan = AODE().fit(X, y), TAN().fit(X, y)
    ours = medians_in_turns(
        {
            "fit": lambda: AODE().fit(X, y),
            "predict": lambda: aode.predict(X),
            "leave one out": lambda: aode.loo_predict_log_proba(X, y),
            "TAN fit": lambda: TAN().fit(X, y).parents_,
            "TAN predict": lambda: tan.predict(X),
        },
        repeats,
    )
    theirs: dict[str, float] = {}
    if has_weka():
        codes = np.column_stack([X, y]).astype(np.float64)
        seconds, _ = weka_aode(codes, [N_STATES] * X.shape[1], N_CLASSES, JVM_TURNS, [])
        theirs = dict(zip(("fit", "predict"), np.min(seconds, axis=0).tolist(), strict=True))
    for name, seconds_of_ours in ours.items():
        record = {"job": f"{name}, {len(X):,} x {X.shape[1]} of {N_STATES} values", "ours s": seconds_of_ours}
        if name in theirs:
            ratio = theirs[name] / seconds_of_ours
            at_least = AT_LEAST[name]
            record |= {"Weka s": theirs[name], "ratio": ratio, "at least": at_least, "reached": ratio >= at_least}
        yield record


def probabilities_of_weka() -> Iterator[dict[str, Any]]:
    """Compare the probabilities of AODE with Weka's on tables with missing cells, in both ways of smoothing."""
    for name in TABLES:
        path = DATA / f"{name}.arff"
        if not path.exists() or not has_weka():
            continue
        codes, n_states, frame, labels = nominal_table(path)
        for smoothing, options in (("laplace", []), ("m-estimate", ["-M", "-W", "1"])):
            _, theirs = weka_aode(codes, n_states[:-1], n_states[-1], 1, options)
            model = AODE(smoothing=smoothing).partial_fit(frame, labels, classes=range(n_states[-1]))
            difference = float(np.abs(model.predict_proba(frame) - theirs).max())
            yield {
                "table": name,
                "rows": len(codes),
                "missing cells": int(np.isnan(codes).sum()),
                "smoothing": smoothing,
                "largest difference": difference,
                "at most": CLOSE,
                "reached": difference <= CLOSE,
            }


def tan_of_pyagrum(share: float) -> Iterator[dict[str, Any]]:
    """Time a fit of TAN beside that of pyAgrum's BNClassifier, once, on categories in a frame."""
    try:
        from pyagrum.skbn import createBNClassifier
    except ImportError:
        return
    import pandas as pd

    rows = categories(int(PYAGRUM_SHARE * N_ROWS * share), n_states=N_STATES, n_classes=N_CLASSES)
    frame = pd.DataFrame(rows.X.astype(str), columns=[f"x{j}" for j in range(rows.X.shape[1])])
    labels = pd.Series(rows.y.astype(str), name="y")
    ours = medians_in_turns({"TAN": lambda: TAN().fit(frame, labels).parents_}, 3)["TAN"]
    peer = createBNClassifier(learningMethod="TAN")
    start = perf_counter()
    peer.fit(frame, labels)
    theirs = perf_counter() - start
    yield {
        "job": f"TAN fit, {len(frame):,} x {frame.shape[1]} strings of {N_STATES} values",
        "ours s": ours,
        "pyAgrum s": theirs,
        "ratio": theirs / ours,
        "at least": PYAGRUM_AT_LEAST,
        "reached": theirs / ours >= PYAGRUM_AT_LEAST,
    }


def car_rows() -> Iterator[dict[str, Any]]:
    """Compare AODE on UCI car with the values that Weka (Laplace) and Webb's own programs (m=1) give."""
    path = DATA / "car.arff"
    if not path.exists():
        return
    _, _, frame, _ = nominal_table(path)
    labels = np.array(_read(path).column(-1).to_pylist())
    for smoothing, (expected, right) in CAR_GOLDEN.items():
        model = AODE(smoothing=smoothing).fit(frame, labels)
        found = model.predict_proba(frame)[CAR_ROW - 1, list(model.classes_).index("unacc")]
        accuracy = float((model.predict(frame) == labels).mean())
        yield {
            "golden": f"AODE on UCI car, {smoothing}",
            "P(unacc) of row 12": float(found),
            "expected": expected,
            "accuracy": accuracy,
            "accuracy expected": right,
            "reached": bool(abs(found - expected) < 5e-6 and abs(accuracy - right) < 5e-6),
        }


def nominal_table(path: Path) -> tuple[Array, list[int], Any, Array]:
    """Read a table of nominal attributes, the last of which is the class: codes, and a frame of declared categories."""
    import pyarrow as pa

    table = _read(path)
    columns = [column.chunk(0) for column in table.columns]
    codes = np.column_stack([column.indices.cast(pa.float64()).to_numpy(zero_copy_only=False) for column in columns])
    n_states = [len(column.dictionary) for column in columns]
    return codes, n_states, table.select(table.column_names[:-1]), codes[:, -1].astype(int)


def _read(path: Path) -> Any:
    import pyarrow as pa

    from bayeswater.data.sources.recognising import open_source

    return pa.concat_tables(open_source(path).batches()).unify_dictionaries().combine_chunks()


def weka_aode(
    codes: Array, n_states: Sequence[int], n_classes: int, turns: int, options: Sequence[str]
) -> tuple[Array, Array]:
    """Seconds (n_turns, 2) of the fit and the prediction of Weka's AODE, and its probabilities of all rows."""
    with TemporaryDirectory() as folder:
        table, found = Path(folder) / "table", Path(folder) / "found"
        with table.open("wb") as file:
            np.array([len(codes), len(n_states), n_classes, *n_states], dtype=">i4").tofile(file)
            codes.astype(">f8").tofile(file)
        subprocess.run(
            ["javac", "-nowarn", "-cp", str(WEKA), "-d", folder, str(DRIVER)], check=True, capture_output=True
        )
        command = ["java", "-Xmx4g", "-cp", f"{WEKA}{os.pathsep}{folder}", DRIVER.stem]
        arguments = [str(table), str(found), str(turns), *options]
        lines = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()
        proba = np.fromfile(found, dtype=">f8").reshape(len(codes), n_classes).astype(np.float64)
    return np.array([line.split() for line in lines], dtype=np.float64) / 1e3, proba


def main() -> None:
    """Show all tables."""
    from benchmarks.report import text_table

    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(text_table(list(semi_naive(5, share))))
    for found in (tan_of_pyagrum(share), probabilities_of_weka(), car_rows()):
        records = list(found)
        if records:
            print(text_table(records))


if __name__ == "__main__":
    main()
