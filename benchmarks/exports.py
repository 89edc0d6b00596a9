"""Exported models beside the library, on public tables with holes and unseen cells; and how fast SQL and C score rows.

    python -m benchmarks.exports            all tables, models and targets
    python -m benchmarks.exports iris vote  some tables

The tables are no part of the project: they are looked for under BAYESWATER_DATA. For each model and target the largest
difference of a probability from the library's is told, over all tables, and how many rows and models were refused.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayeswater as bw
from benchmarks.accuracy import REFERENCE, read
from benchmarks.timing import medians_in_turns

ASKED_ROWS, LEARNED_ROWS = 60, 2000
WHOLE = True
"""Rows that lack what others depend on are counted as refused, where a target has no way to sum over it."""

MODELS: dict[str, Callable[[], Any]] = {
    "NaiveBayes": bw.NaiveBayes,
    "NaiveBayes, calibrated": lambda: bw.NaiveBayes(calibrate=True),
    "SPODE": bw.SPODE,
    "TAN": bw.TAN,
    "AODE": bw.AODE,
    "KDB": bw.KDB,
    "SKDB": bw.SKDB,
    "CategoricalNB": lambda: bw.CategoricalNB(missing="ignore"),
    "GaussianNB": lambda: bw.GaussianNB(missing="ignore"),
    "BernoulliNB": lambda: bw.BernoulliNB(missing="ignore"),
    "MultinomialNB": bw.MultinomialNB,
    "ComplementNB": bw.ComplementNB,
    "GaussianClassifier": bw.GaussianClassifier,
}
OF_NUMBERS = ("GaussianNB", "BernoulliNB", "GaussianClassifier")
OF_COUNTS = ("MultinomialNB", "ComplementNB")


def table_of(name: str, kind: str) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame] | None:
    """Rows to learn from, their labels, and rows to ask: with holes, and with states that no row had."""
    frame, y = read(name)
    chosen = np.random.default_rng(0).permutation(len(y))[:LEARNED_ROWS]
    frame, y = frame.iloc[chosen].reset_index(drop=True), y[chosen].astype(str)
    numeric = [column for column in frame if frame[column].dtype.kind in "iuf"]
    if kind == "CategoricalNB":
        frame = frame[[column for column in frame if column not in numeric]].astype(str)
    elif kind in OF_NUMBERS + OF_COUNTS:
        frame = frame[numeric].astype(float)
        if kind in OF_COUNTS:
            frame = frame.abs().fillna(0.0)
    if not frame.shape[1]:
        return None
    rng, asked = np.random.default_rng(1), frame[:ASKED_ROWS].copy()
    if kind not in (*OF_COUNTS, "GaussianClassifier"):
        asked = asked.astype(object)
        for column in asked:
            unseen = rng.random(len(asked)) < 0.05
            if frame[column].dtype.kind not in "iufb" or kind == "CategoricalNB":
                asked.loc[unseen, column] = "never seen"
        asked = asked.mask(rng.random(asked.shape) < 0.1)
    else:
        asked, frame = asked.dropna(), frame.dropna()
        y = y[frame.index]
    asked = asked.astype({column: float for column in numeric if column in asked and kind != "CategoricalNB"})
    return frame, y, asked


def plain(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dicts of plain values."""
    return [
        {name: None if v is None or v != v else getattr(v, "item", lambda v=v: v)() for name, v in row.items()}
        for row in rows.astype(object).to_dict("records")
    ]


def by_python(model: Any, rows: pd.DataFrame, folder: Path) -> Any:
    path = bw.export(model, folder / "m.py")
    lines = "\n".join(map(json.dumps, plain(rows)))
    done = subprocess.run([sys.executable, "-S", path], input=lines, capture_output=True, text=True, check=True)
    none = [np.nan] * len(model.classes_)
    return [json.loads(line).get("probability", none) for line in done.stdout.splitlines()]


def by_javascript(model: Any, rows: pd.DataFrame, folder: Path) -> Any:
    path = bw.export(model, folder / "m.mjs")
    ask = (
        f'import {{ model }} from "{path}"; import {{ readFileSync }} from "node:fs";'
        "const none = model.classes.map(() => null);"
        "const ask = (row) => { try { return model.predictProba(row); } catch { return none; } };"
        'console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map(ask)));'
    )
    command = ["node", "--input-type=module", "-e", ask]
    done = subprocess.run(command, input=json.dumps(plain(rows)), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def by_duckdb(model: Any, rows: pd.DataFrame, folder: Path) -> Any:
    import duckdb

    numbered = rows.assign(row_number=range(len(rows)))
    with duckdb.connect() as connection:
        connection.register("rows", numbered)
        answers = connection.execute(bw.export(model, "sql", keep=["row_number"], whole_rows=WHOLE)).fetchall()
    return [answer[1 : 1 + len(model.classes_)] for answer in sorted(answers, key=lambda answer: answer[0])]


def by_sqlite(model: Any, rows: pd.DataFrame, folder: Path) -> Any:
    numbered = rows.assign(row_number=range(len(rows)))
    with sqlite3.connect(":memory:") as connection:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in numbered)
        connection.execute(f"CREATE TABLE rows ({names})")
        marks = ", ".join("?" * numbered.shape[1])
        connection.executemany(f"INSERT INTO rows VALUES ({marks})", [tuple(row.values()) for row in plain(numbered)])
        answers = connection.execute(
            bw.export(model, "sql", dialect="sqlite", keep=["row_number"], whole_rows=WHOLE)
        ).fetchall()
    return [answer[1 : 1 + len(model.classes_)] for answer in sorted(answers)]


def by_onnx(model: Any, rows: pd.DataFrame, folder: Path) -> Any:
    import onnxruntime

    session = onnxruntime.InferenceSession(bw.export(model, "onnx", whole_rows=WHOLE))
    cells, feeds = plain(rows), {}
    for given in session.get_inputs():
        column = [row[given.name] for row in cells]
        if given.type == "tensor(string)":
            feeds[given.name] = np.array([["" if v is None else v] for v in column], dtype=object)
        else:
            feeds[given.name] = np.array([[np.nan if v is None else v] for v in column], dtype=np.float64)
    return session.run(["probabilities"], feeds)[0]


def by_c(model: Any, rows: pd.DataFrame, folder: Path, *, single: bool = False) -> Any:
    import ctypes

    path = bw.export(model, folder / "m.c", single=single)
    library = folder / f"m{time.monotonic_ns()}.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", path, "-lm", "-o", library], check=True)
    loaded = ctypes.CDLL(str(library))
    found = []
    for row in plain(rows):
        cells = [
            float(loaded.m_code(j, v.encode())) if isinstance(v, str) else np.nan if v is None else float(v)
            for j, v in enumerate(row.values())
        ]
        answer = (ctypes.c_double * len(model.classes_))()
        place = loaded.m_score((ctypes.c_double * max(len(cells), 1))(*cells), answer)
        found.append(list(answer) if place >= 0 else [np.nan] * len(answer))
    return found


def by_single_c(model: Any, rows: pd.DataFrame, folder: Path) -> Any:
    return by_c(model, rows, folder, single=True)


TARGETS: dict[str, Callable[[Any, pd.DataFrame, Path], Any]] = {
    "python": by_python,
    "javascript": by_javascript,
    "duckdb": by_duckdb,
    "sqlite": by_sqlite,
    "onnx": by_onnx,
    "c": by_c,
    "c --float": by_single_c,
}


def used(model: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Bring columns into the order of the exported fields, which leaves out those that the model does."""
    from bayeswater.exports.forming import form_of

    return rows[[field.name for field in form_of(model).fields]]


def compared(names: list[str]) -> None:
    """Print how far each target is from the library, by model, over all tables."""
    print(f"{'model':24} {'target':11} tables  worst      refused rows, models")
    for kind, make in MODELS.items():
        told = {target: [0, 0.0, 0, []] for target in TARGETS}
        for name in names:
            found = table_of(name, kind)
            if found is None:
                continue
            frame, y, asked = found
            with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
                warnings.simplefilter("ignore")
                model = make().fit(frame, y)
                rows, want = used(model, asked), model.predict_proba(asked)
                for target, answer in TARGETS.items():
                    try:
                        got = np.array(answer(model, rows, Path(folder)), dtype=float)
                    except (bw.ParameterError, bw.ResourceLimitError) as error:
                        told[target][3].append(f"{name}: {error}"[:90])
                        continue
                    refused = np.isnan(got).any(axis=1)
                    worst = float(np.abs(got - want)[~refused].max(initial=0.0))
                    n, largest, n_refused, models = told[target]
                    told[target] = [n + 1, max(largest, worst), n_refused + int(refused.sum()), models]
        for target, (n, worst, refused, models) in told.items():
            print(f"{kind:24} {target:11} {n:6}  {worst:.1e}  {refused:6} {models or ''}", flush=True)


def export_speed(share: float) -> Iterator[dict[str, Any]]:
    """Time an exported GaussianNB in DuckDB beside scikit-learn, for 10 million rows, and a NaiveBayes in C."""
    n = int(10_000_000 * share)
    ours, at_once, in_pieces = _by_duckdb_and_peer(n)
    yield {
        "job": f"GaussianNB, {n:,} rows x 20 columns, 5 classes",
        "exported": "DuckDB",
        "s": ours,
        "scikit-learn at once s": at_once,
        f"in pieces of {PIECE:,} rows s": in_pieces,
        "reached": ours <= min(at_once, in_pieces),
    }
    us = _by_c()
    yield {"job": "NaiveBayes, 20 columns, 2 classes", "exported": "C", "us a row": us, "reached": us < 1.0}


PIECE = 10_000
"""Rows that scikit-learn is asked at a time, beside all at once: its arrays between then stay in the cache."""


def _by_duckdb_and_peer(n: int) -> tuple[float, float, float]:
    """Seconds that DuckDB takes for n rows, and scikit-learn at once and in pieces, on two threads each."""
    import duckdb
    from sklearn.naive_bayes import GaussianNB
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 10_000)
    X = rng.normal(size=(10_000, 20)) + y[:, None] * 0.3
    names = [f"x{j}" for j in range(20)]
    model, peer = bw.GaussianNB().fit(pd.DataFrame(X, columns=names), y), GaussianNB().fit(X, y)
    many = rng.normal(size=(n, 20)) + 0.5
    query = bw.export(model, "sql", keep=[]).rstrip(";\n")
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        columns = {name: np.ascontiguousarray(many[:, j]) for j, name in enumerate(names)}
        connection.register("columns", columns | {})
        connection.execute("CREATE TABLE rows AS SELECT * FROM columns")
        sums = ", ".join(f'SUM("P({k})")' for k in range(5))
        connection.unregister("columns")
        del columns
        actions = {
            "ours": lambda: connection.execute(f"SELECT {sums} FROM ({query})").fetchall(),
            "at once": lambda: peer.predict_proba(many),
            "in pieces": lambda: [peer.predict_proba(many[i : i + PIECE]) for i in range(0, n, PIECE)],
        }
        with threadpool_limits(2):
            seconds = medians_in_turns(actions, 1)
    return seconds["ours"], seconds["at once"], seconds["in pieces"]


def _by_c() -> float:
    """Microseconds of the processor that C takes for a row of 20 columns, half of them categories."""
    rng, n = np.random.default_rng(0), 20_000
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n) + y * 0.3 for j in range(10)})
    for j in range(10):
        frame[f"c{j}"] = np.array(list("abcdef"))[rng.integers(0, 5, n) + y]
    model = bw.NaiveBayes().fit(frame, y)
    with tempfile.TemporaryDirectory() as folder:
        bw.export(model, Path(folder) / "m.c")
        (Path(folder) / "main.c").write_text(
            """
            #include <stdio.h>
            #include <time.h>
            #include "m.h"
            int main(void) {
              double x[1024][20], p[2], whole = 0;
              for (int i = 0; i < 1024; i++)
                for (int j = 0; j < 20; j++) x[i][j] = j < 10 ? (i * 37 % 100) / 25.0 - 2 : (i + j) % 6;
              clock_t start = clock();
              for (int i = 0; i < 2000000; i++) { m_score(x[i % 1024], p); whole += p[0]; }
              double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
              fprintf(stderr, "%g", whole);
              printf("%.4f", seconds / 2);
            }
            """
        )
        run = "cc -O2 m.c main.c -lm -o m && ./m"
        return float(subprocess.run(run, shell=True, cwd=folder, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    compared(sys.argv[1:] or list(REFERENCE))
