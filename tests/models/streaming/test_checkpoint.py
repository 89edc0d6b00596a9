"""A count that was stopped goes on where it stopped, and ends with the same bits."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.base import clone

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    BernoulliNB,
    CategoricalNB,
    GaussianClassifier,
    GaussianNB,
    ModelFileError,
    MultinomialNB,
    NaiveBayes,
    ParameterError,
    save,
)
from bayeswater.data.sources import local_rows
from bayeswater.models.streaming import checkpoint, labelled

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")

N = 900
BATCH = 100
NOTES = ["free money for you now", "see you at noon then", "nothing at all to say"]


def rows(n: int = N) -> pa.Table:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, n)
    return pa.table(
        {
            "kind": rng.choice(["low", "mid", "high"], n),
            "size": rng.normal(size=n) + codes,
            "visits": rng.poisson(2 + codes),
            "flag": rng.random(n) < 0.3 + 0.2 * codes,
            "late": pa.array([None] * 400 + rng.choice(NOTES, n - 400).tolist()),
            "y": np.array(["a", "b", "c"])[codes],
        }
    )


NUMBERS = ["size", "visits", "y"]
MODELS = {
    "NaiveBayes": (NaiveBayes(calibrate=True), None),
    "mdl": (NaiveBayes(columns={"size": "mdl", "kind": {"alpha": 0.5}}, calibrate=True), None),
    "GaussianNB": (GaussianNB(), NUMBERS),
    "MultinomialNB": (MultinomialNB(), ["visits", "y"]),
    "BernoulliNB": (BernoulliNB(), ["visits", "flag", "y"]),
    "CategoricalNB": (CategoricalNB(), ["kind", "flag", "y"]),
    "GaussianClassifier": (GaussianClassifier(shrinkage="auto", calibrate=True), NUMBERS),
    "ledoit_wolf": (GaussianClassifier(shrinkage="ledoit_wolf"), NUMBERS),
    "AODE": (AODE(select=True, calibrate=True), None),
    "A2DE": (A2DE(), None),
    "SPODE": (SPODE(), None),
    "KDB": (KDB(), None),
    "SKDB": (SKDB(2), None),
}


@pytest.fixture(autouse=True)
def many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "SAMPLED", 50)
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: BATCH)
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(rows(), path, row_group_size=170)
    return path


def stopping_after(n_batches: int, how: type[BaseException] = KeyboardInterrupt) -> Any:
    left = [n_batches]

    def told(progress: Any) -> None:
        left[0] -= 1
        if not left[0]:
            raise how

    return told


def fitted(model: Any, data: Path, columns: Any, **given: Any) -> Any:
    if columns is not None:
        data = data.with_name("some.parquet")
        if not data.exists():
            pyarrow.parquet.write_table(rows().select(columns), data, row_group_size=170)
    return clone(model).fit(data, target="y", **given)


@pytest.mark.parametrize(("model", "columns"), MODELS.values(), ids=MODELS)
def test_a_count_that_is_interrupted_again_and_again_ends_with_the_same_bits(model, columns, data, tmp_path):
    expected = fitted(model, data, columns)
    path = tmp_path / "count.checkpoint"
    n_stops = 0
    while True:
        try:
            found = fitted(model, data, columns, checkpoint=path, progress=stopping_after(4))
            break
        except KeyboardInterrupt:
            n_stops += 1
            assert path.exists()
            assert not list(tmp_path.glob("*.tmp"))
    assert n_stops >= 2
    assert found.statistics_ == expected.statistics_
    assert vars(found).get("structure_") == vars(expected).get("structure_")
    X = rows().drop_columns(["y"]) if columns is None else rows().select(columns).drop_columns(["y"])
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert not path.exists()


def test_what_was_counted_is_not_counted_again(data, tmp_path):
    path, numbers, seen = tmp_path / "count.checkpoint", tmp_path / "numbers.parquet", []
    pyarrow.parquet.write_table(rows().select(NUMBERS), numbers)
    with pytest.raises(KeyboardInterrupt):
        GaussianNB().fit(numbers, target="y", checkpoint=path, progress=stopping_after(6))
    GaussianNB().fit(numbers, target="y", checkpoint=path, progress=lambda progress: seen.append(progress.n_rows))
    assert seen == [700, 800, 900]


def test_a_file_that_breaks_off_loses_nothing_of_what_was_counted_before_it(data, tmp_path):
    files = [tmp_path / f"part-{i}.parquet" for i in range(3)]
    for i, file in enumerate(files):
        pyarrow.parquet.write_table(rows().select(NUMBERS).slice(300 * i, 300), file)
    whole = files[2].read_bytes()
    expected = GaussianNB().fit(files, target="y")
    path, when = tmp_path / "count.checkpoint", files[2].stat()

    def breaking(progress: Any) -> None:
        if progress.n_rows == 500:
            files[2].write_bytes(whole[:300])

    with pytest.raises(ValueError, match=r"part-2\.parquet"):
        GaussianNB().fit(files, target="y", checkpoint=path, progress=breaking)
    files[2].write_bytes(whole)
    os.utime(files[2], ns=(when.st_atime_ns, when.st_mtime_ns))
    seen: list[int] = []
    found = GaussianNB().fit(files, target="y", checkpoint=path, progress=lambda progress: seen.append(progress.n_rows))
    assert seen[0] > 500
    assert found.statistics_ == expected.statistics_


# ---------------------------------------------------------------------- a process that is killed

COUNTING = """
import sys, time
from pathlib import Path
from bayeswater import AODE
from bayeswater.data.sources import local_rows
from bayeswater.models.streaming import checkpoint, labelled

labelled.SAMPLED = 50
local_rows.batch_rows = lambda n_columns: 20
checkpoint.EVERY_SECONDS = 0.0
data, path, started = sys.argv[1:]

def slowly(progress):
    Path(started).write_text(str(progress.n_rows))
    time.sleep(0.02)

AODE(columns={"late": "ignored"}).fit(data, target="y", checkpoint=path, progress=slowly)
"""


def test_a_count_that_is_killed_ends_with_the_same_bits(data, tmp_path, monkeypatch):
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: 20)
    path, started = tmp_path / "count.checkpoint", tmp_path / "started"
    model = AODE(columns={"late": "ignored"})
    for n_killed in range(2):
        child = subprocess.Popen([sys.executable, "-c", COUNTING, str(data), str(path), str(started)])
        last = time.monotonic() + 120
        while not (path.exists() and started.exists()) and child.poll() is None and time.monotonic() < last:
            time.sleep(0.005)
        time.sleep(0.1)
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL, f"it was through before it could be killed ({n_killed})"
        started.unlink()
        assert path.exists()
    seen: list[int] = []
    found = clone(model).fit(data, target="y", checkpoint=path, progress=lambda progress: seen.append(progress.n_rows))
    assert seen[0] > 20
    assert found.statistics_ == clone(model).fit(data, target="y").statistics_
    assert not path.exists()


# ---------------------------------------------------------------------- what is refused


@pytest.fixture
def stopped(data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "count.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        AODE().fit(data, target="y", checkpoint=path, progress=stopping_after(3))
    return path


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (AODE(alpha=2.0), {}, "it is of a AODE with other parameters or columns"),
        (AODE(columns={"size": "ignored"}), {}, "it is of a AODE with other parameters or columns"),
        (NaiveBayes(), {}, "it is of the model 'AODE', and not of 'NaiveBayes'"),
        (AODE(), {"sample_weight": "visits"}, "its files, their sizes or times, or its columns|with other parameters"),
    ],
    ids=str,
)
def test_a_checkpoint_of_another_model_is_refused_and_kept(model, given, message, stopped, data):
    content = stopped.read_bytes()
    with pytest.raises(ModelFileError, match=rf"count\.checkpoint.*({message}).*; remove it, or name another file"):
        model.fit(data, target="y", checkpoint=stopped, **given)
    assert stopped.read_bytes() == content


def test_a_checkpoint_of_other_rows_is_refused(stopped, data, tmp_path):
    other = tmp_path / "other.parquet"
    pyarrow.parquet.write_table(rows(), other)
    with pytest.raises(ModelFileError, match=r"it is of the rows '.*rows\.parquet', and not of '.*other\.parquet'"):
        AODE().fit(other, target="y", checkpoint=stopped)
    pyarrow.parquet.write_table(rows(N + 1), data)
    with pytest.raises(ModelFileError, match=r"rows\.parquet is not what it was: its files, their sizes or times"):
        AODE().fit(data, target="y", checkpoint=stopped)


def test_files_that_are_no_checkpoint_are_refused(stopped, data, tmp_path):
    told: list[Any] = []
    save(GaussianNB().fit([[1.0], [2.0]], [0, 1]), tmp_path / "model.bayes")
    with pytest.raises(ModelFileError, match="it holds a GaussianNB"):
        AODE().fit(data, target="y", checkpoint=tmp_path / "model.bayes")
    content = bytearray(stopped.read_bytes())
    content[-3] ^= 1
    stopped.write_bytes(content)
    with pytest.raises(ModelFileError, match="it does not match its fingerprint"):
        AODE().fit(data, target="y", checkpoint=stopped)
    with pytest.raises(ModelFileError, match=r"cannot write the checkpoint '.*nowhere.*': No such file"):
        AODE().fit(data, target="y", checkpoint=tmp_path / "nowhere" / "x", progress=told.append)
    with pytest.raises(ModelFileError, match="it is a directory"):
        AODE().fit(data, target="y", checkpoint=tmp_path, progress=told.append)
    assert told == [], "nothing was counted before"


def test_rows_that_can_be_read_but_once_have_no_checkpoint(tmp_path):
    with pytest.raises(ParameterError, match="a count that goes on from a checkpoint reads the rows again, and the it"):
        NaiveBayes().fit(iter(rows().to_batches()), target="y", checkpoint=tmp_path / "x")


def test_types_that_were_widened_are_known_again(tmp_path, monkeypatch):
    from bayeswater.data.sources import delimited

    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**9)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**9)
    data, path = tmp_path / "rows.csv", tmp_path / "count.checkpoint"
    lines = [f"{i % 3},{'ab'[i % 2]}\n" for i in range(500)]
    data.write_text("grade,y\n" + "".join(lines) + "A,b\n" + "".join(lines))
    with pytest.raises(KeyboardInterrupt):
        NaiveBayes().fit(data, target="y", checkpoint=path, progress=stopping_after(12))
    found = NaiveBayes().fit(data, target="y", checkpoint=path)
    assert found.statistics_ == NaiveBayes().fit(data, target="y").statistics_
    assert found.class_count_.sum() == 1001
