"""Fits on engines that run here: beside the engine's own naive Bayes on the same frame, and beside our own threads.

Dask: a frame held in memory, by the threads of this process and by one and two worker processes; dask-ml's GaussianNB
gets the same numbers as arrays. Spark: one cached frame, on two threads, that holds the columns and the vectors which
MLlib needs, so that neither is charged for making them; beside it stands MLlib with the vectors still to be made, which
is what a user of columns waits for, and both on so few rows that nothing but the engine's own work is left. MLlib has
no categories: they are one-hot vectors there, and counts of words by name; the same numbers are counted. NaiveBayes
looks at every row in Python, where the drop-ins let Spark count groups. The last column says what an
engine costs over our own threads on the same rows in memory: partitions have to be read, and sums to travel.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from shutil import which
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from bayeswater import CategoricalNB, GaussianNB, NaiveBayes
from benchmarks.data import Rows, categories, measurements
from benchmarks.timing import medians_in_turns

N_ROWS, N_SPARK_ROWS, FEW_ROWS = 1_000_000, 2_000_000, 1000
N_NUMBERS, N_CATEGORIES, N_STATES, N_CLASSES = 20, 10, 8, 5
N_PARTITIONS = 8
DASK_AT_LEAST, SPARK_AT_LEAST = 5.0, 2.0


def lacks_dask() -> str | None:
    """Say what is not there to measure Dask."""
    return None if find_spec("dask_ml") else "dask-ml is not installed"


def lacks_spark() -> str | None:
    """Say what is not there to measure Spark."""
    if find_spec("pyspark") is None:
        return "Spark is not installed"
    return None if which("java") else "there is no Java, which Spark needs"


def dask_engine(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """GaussianNB on a Dask frame beside dask-ml's, by threads and by one and two worker processes."""
    import dask.array as da
    import dask.dataframe as dd
    from dask_ml.naive_bayes import GaussianNB as Theirs

    rows = measurements(int(N_ROWS * share), N_NUMBERS)
    frame = _frame(rows)
    size = len(rows.y) // N_PARTITIONS
    for workers in ("2 threads", "1 worker process", "2 worker processes"):
        with _dask_workers(workers):
            lazy = dd.from_pandas(frame, npartitions=N_PARTITIONS).persist()
            X, y = (
                da.from_array(rows.X, chunks=(size, N_NUMBERS)).persist(),
                da.from_array(rows.y, chunks=size).persist(),
            )
            actions = {
                "ours": lambda lazy=lazy: GaussianNB().fit(lazy, target="class"),
                "beside": lambda X=X, y=y: _computed(Theirs(classes=np.arange(N_CLASSES)).fit(X, y)),
                "here": lambda: GaussianNB().fit(rows.X, rows.y),
            }
            seconds = medians_in_turns(actions, repeats)
        yield _record(f"GaussianNB, {_size(rows)}, {workers}", "dask-ml", seconds, DASK_AT_LEAST)


def _computed(model: Any) -> None:
    """Compute the parameters of a model of dask-ml, which its fit leaves lazy."""
    import dask

    dask.compute(model.theta_, model.sigma_, model.class_prior_)


def spark_engine(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """GaussianNB, CategoricalNB and NaiveBayes on a cached Spark frame beside MLlib's NaiveBayes."""
    n_rows = int(N_SPARK_ROWS * share)
    numbers, codes = measurements(n_rows, N_NUMBERS), categories(n_rows, N_CATEGORIES, N_STATES)
    jobs: list[tuple[Any, Rows, str]] = [
        (GaussianNB, numbers, "gaussian"),
        (CategoricalNB, codes, "multinomial"),
        (NaiveBayes, codes, "multinomial"),
    ]
    with _spark_session() as session:
        for make, rows, kind in jobs:
            actions: dict[str, Callable[[], Any]] = {"here": lambda make=make, rows=rows: make().fit(rows.X, rows.y)}
            cached = []
            for size, some in (("", rows), (" few", rows.first(FEW_ROWS))):
                plain = session.createDataFrame(pa.Table.from_pandas(_frame(some), preserve_index=False))
                frame = _with_vectors(plain, kind).repartition(N_PARTITIONS).cache()
                frame.count()
                cached.append(frame)
                own = frame.drop("features")
                actions |= {
                    f"ours{size}": lambda make=make, own=own: make().fit(own, target="class"),
                    f"beside{size}": lambda kind=kind, own=own: _mllib(_with_vectors(own, kind), kind),
                }
                if not size:
                    actions["of vectors"] = lambda kind=kind, frame=frame: _mllib(frame, kind)
            seconds = medians_in_turns(actions, repeats)
            for frame in cached:
                frame.unpersist()
            record = _record(f"{make.__name__}, {_size(rows)}, local[2]", f"MLlib {kind}", seconds, SPARK_AT_LEAST)
            yield record | {
                "beside, vectors made before ms": 1e3 * seconds["of vectors"],
                "ratio to that": seconds["of vectors"] / seconds["ours"],
                f"ours, {FEW_ROWS:,} rows ms": 1e3 * seconds["ours few"],
                f"beside, {FEW_ROWS:,} rows ms": 1e3 * seconds["beside few"],
            }


def _mllib(frame: Any, kind: str) -> Any:
    from pyspark.ml.classification import NaiveBayes as Theirs

    return Theirs(labelCol="class", modelType=kind).fit(frame)


def _with_vectors(plain: Any, kind: str) -> Any:
    """Make the vectors that MLlib takes: of numbers as they are, of categories one-hot."""
    from pyspark.ml.feature import OneHotEncoder, VectorAssembler

    names = [name for name in plain.columns if name != "class"]
    if kind == "gaussian":
        return VectorAssembler(inputCols=names, outputCol="features").transform(plain)
    one_hot = [f"{name} one-hot" for name in names]
    coded = OneHotEncoder(inputCols=names, outputCols=one_hot, dropLast=False).fit(plain).transform(plain)
    return VectorAssembler(inputCols=one_hot, outputCol="features").transform(coded).drop(*one_hot)


def _record(job: str, peer: str, seconds: dict[str, float], at_least: float) -> dict[str, Any]:
    ratio = seconds["beside"] / seconds["ours"]
    return {
        "job": job,
        "ours ms": 1e3 * seconds["ours"],
        "beside": peer,
        "beside ms": 1e3 * seconds["beside"],
        "ratio": ratio,
        "at least": at_least,
        "reached": ratio >= at_least,
        "our threads, in memory ms": 1e3 * seconds["here"],
        "the engine takes": seconds["ours"] / seconds["here"],
    }


def _frame(rows: Rows) -> pd.DataFrame:
    """Make a frame with columns in one piece each, as they come from a file."""
    values = rows.X if rows.X.dtype.kind == "f" else rows.X.astype(np.int32)
    return pd.DataFrame({**{f"x{j}": values[:, j] for j in range(values.shape[1])}, "class": rows.y})


def _size(rows: Rows) -> str:
    return f"{len(rows.y):,} x {rows.X.shape[1]}"


@contextmanager
def _dask_workers(kind: str) -> Iterator[None]:
    if kind.endswith("threads"):
        import dask

        with dask.config.set(scheduler="threads", num_workers=int(kind[0])):
            yield
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=int(kind[0]), threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield


@contextmanager
def _spark_session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Callable[..., Any] = SparkSession.builder.master("local[2]").config
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "FATAL",
        "spark.driver.memory": "4g",
    }
    session = builder(map=settings).getOrCreate()
    try:
        yield session
    finally:
        session.stop()
