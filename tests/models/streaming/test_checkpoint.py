"""A count that was stopped goes on where it stopped, and ends with the same bits."""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.base import clone

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    BayesWarning,
    BernoulliNB,
    CategoricalNB,
    DataError,
    GaussianClassifier,
    GaussianNB,
    ModelFileError,
    MultinomialNB,
    NaiveBayes,
    ParameterError,
    save,
)
from bayeswater.data.sources import delimited, local_rows
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
    path = tmp_path / "count.checkpoint"

    def breaking(progress: Any) -> None:
        if progress.n_rows == 500:
            files[2].write_bytes(whole[:300])

    with pytest.raises(ValueError, match=r"part-2\.parquet"):
        GaussianNB().fit(files, target="y", checkpoint=path, progress=breaking)
    files[2].write_bytes(whole)  # at another time
    seen: list[int] = []
    found = GaussianNB().fit(files, target="y", checkpoint=path, progress=lambda progress: seen.append(progress.n_rows))
    assert seen[0] > 500
    assert found.statistics_ == expected.statistics_


SEVERAL = ["kind", "size", "y"]


def parts(folder: Path, size: int = 300) -> list[Path]:
    files = [folder / f"part-{i}.csv" for i in range(N // size)]
    for i, file in enumerate(files):
        pyarrow.csv.write_csv(rows().select(SEVERAL).slice(size * i, size), file)
    return files


def rewritten(file: Path) -> None:
    """Give a file the same rows at another time."""
    when = file.stat()
    os.utime(file, ns=(when.st_atime_ns, when.st_mtime_ns + 10**9))


def stopped_after(files: list[Path], path: Path, n_batches: int, model: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        model.fit(files, target="y", checkpoint=path, progress=stopping_after(n_batches))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let types of text be told by few of its rows."""
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**9)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**9)


def test_a_bad_row_in_a_later_file_may_be_repaired(tmp_path, small_blocks):
    files, path = parts(tmp_path), tmp_path / "count.checkpoint"
    expected = NaiveBayes().fit(files, target="y")
    whole = files[2].read_text()
    lines = whole.splitlines()
    files[2].write_text("\n".join([*lines[:60], "one,cell,too,many", *lines[60:]]))
    with pytest.raises(ValueError, match=r"part-2\.csv"):
        NaiveBayes().fit(files, target="y", checkpoint=path)
    files[2].write_text(whole)
    seen: list[int] = []
    found = NaiveBayes().fit(files, target="y", checkpoint=path, progress=lambda told: seen.append(told.n_rows))
    assert seen[0] > 300
    assert found.statistics_ == expected.statistics_


@pytest.mark.parametrize("n_batches", [2, 4])
def test_files_that_no_pass_has_come_to_may_change_and_others_are_named(n_batches, tmp_path):
    files, path = parts(tmp_path), tmp_path / "count.checkpoint"
    stopped_after(files, path, n_batches, NaiveBayes())
    content = path.read_bytes()
    when = files[0].stat()
    rewritten(files[0])
    with pytest.raises(ModelFileError, match=r"part-0\.csv is not what it was: its name, size or time"):
        NaiveBayes().fit(files, target="y", checkpoint=path)
    os.utime(files[0], ns=(when.st_atime_ns, when.st_mtime_ns))
    assert path.read_bytes() == content
    rewritten(files[1 + (n_batches > 3)])
    found = NaiveBayes().fit(files, target="y", checkpoint=path)
    assert found.statistics_ == NaiveBayes().fit(files, target="y").statistics_


# ---------------------------------------------------------------------- a file that was counted in part


def in_two(file: Path, n_rows: int) -> str:
    """Cut the text of a file off within a row, after so many."""
    lines = file.read_text().splitlines(keepends=True)
    return "".join(lines[: n_rows + 1]) + lines[n_rows + 1][:3]


@pytest.mark.parametrize("size", [300, 150, 50])  # batches of 100 rows end with files, in them, or span several
@pytest.mark.parametrize("model", [NaiveBayes(), AODE()], ids=str)
def test_a_file_that_broke_off_after_some_rows_is_repaired_and_the_count_goes_on_before_it(
    model, size, tmp_path, small_blocks
):
    files, path = parts(tmp_path, size), tmp_path / "count.checkpoint"
    expected = clone(model).fit(files, target="y")
    number = 450 // size  # in the middle
    whole, start = files[number].read_text(), number * size
    broken_at = size - 20
    files[number].write_text(in_two(files[number], broken_at))
    with pytest.raises(ValueError, match=rf"part-{number}\.csv"):
        clone(model).fit(files, target="y", checkpoint=path)
    files[number].write_text(whole)
    seen: list[int] = []
    found = clone(model).fit(files, target="y", checkpoint=path, progress=lambda told: seen.append(told.n_rows))
    last_whole = start // BATCH * BATCH  # the end of the last batch without a row of the file
    assert seen[0] == last_whole + BATCH
    assert found.statistics_ == expected.statistics_


def compressed(folder: Path) -> list[Path]:
    """Files of text that is compressed in one stream each: what is cut off shows at the end alone."""
    for file in parts(folder):
        Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes()))
    return sorted(folder.glob("*.gz"))


def grouped(folder: Path) -> list[Path]:
    """Parquet files of several compressed groups of rows."""
    files = [folder / f"part-{i}.parquet" for i in range(3)]
    for i, file in enumerate(files):
        table = rows().select(SEVERAL).slice(300 * i, 300)
        pyarrow.parquet.write_table(table, file, row_group_size=50, compression="gzip", use_dictionary=False)
    return files


def cut_off(content: bytes) -> bytes:
    return content[:-900]


def with_a_hole(content: bytes) -> bytes:
    """The footer is whole, so that the file is opened, and a group of rows in the middle is not."""
    middle = len(content) // 2
    return content[:middle] + bytes(200) + content[middle + 200 :]


@pytest.mark.parametrize(("made", "spoiled"), [(compressed, cut_off), (grouped, with_a_hole)], ids=["gzip", "parquet"])
def test_a_spoiled_file_in_the_middle_is_named_and_repaired(made, spoiled, tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: 40)
    files, path = made(tmp_path), tmp_path / "count.checkpoint"
    expected = NaiveBayes().fit(files, target="y")
    whole = files[1].read_bytes()
    files[1].write_bytes(spoiled(whole))
    with pytest.raises(DataError, match=r"part-1\."):
        NaiveBayes().fit(files, target="y", checkpoint=path)
    files[1].write_bytes(whole)
    rewritten(files[1])
    seen: list[int] = []
    found = NaiveBayes().fit(files, target="y", checkpoint=path, progress=lambda told: seen.append(told.n_rows))
    assert seen[0] == 320  # 280 rows of the first file were counted in whole batches
    assert found.statistics_ == expected.statistics_


def test_rows_that_were_counted_of_a_file_are_counted_anew_where_it_has_changed(tmp_path):
    files, path = parts(tmp_path), tmp_path / "count.checkpoint"
    stopped_after(files, path, 8, NaiveBayes())  # two batches into the last file
    pyarrow.csv.write_csv(rows().select(SEVERAL).slice(100, 250), files[2])
    seen: list[int] = []
    with pytest.warns(BayesWarning, match=r"part-2\.csv has changed since it was counted in part: 200 rows are count"):
        found = NaiveBayes().fit(files, target="y", checkpoint=path, progress=lambda told: seen.append(told.n_rows))
    assert seen == [700, 800, 850]
    assert found.statistics_ == NaiveBayes().fit(files, target="y").statistics_


def test_a_count_that_was_killed_in_a_file_can_still_go_back_to_its_beginning(tmp_path, small_blocks):
    files, path = parts(tmp_path), tmp_path / "count.checkpoint"
    expected = NaiveBayes().fit(files, target="y")
    whole = files[1].read_text()
    stopped_after(files, path, 4, NaiveBayes())  # a batch into the second file
    content, when = path.read_bytes(), files[1].stat()
    stopped_after(files, path, 1, NaiveBayes())  # and another one, by one who has not seen the first file
    assert path.read_bytes() != content
    files[1].write_text(in_two(files[1], 280))
    os.utime(files[1], ns=(when.st_atime_ns, when.st_mtime_ns + 10**9))
    with pytest.raises(ValueError, match=r"part-1\.csv"):
        NaiveBayes().fit(files, target="y", checkpoint=path)
    files[1].write_text(whole)
    assert NaiveBayes().fit(files, target="y", checkpoint=path).statistics_ == expected.statistics_


def test_two_files_that_changed_are_one_too_many_where_the_first_of_them_was_counted(tmp_path):
    files, path = parts(tmp_path), tmp_path / "count.checkpoint"
    stopped_after(files, path, 8, NaiveBayes())
    for file in files[1:]:
        rewritten(file)
    with pytest.raises(ModelFileError, match=r"part-1\.csv is not what it was"):
        NaiveBayes().fit(files, target="y", checkpoint=path)


def test_a_second_pass_needs_all_files_as_they_were(tmp_path):
    files, path = parts(tmp_path), tmp_path / "count.checkpoint"
    stopped_after(files, path, 11, AODE())
    rewritten(files[2])
    with pytest.raises(ModelFileError, match=r"part-2\.csv is not what it was"):
        AODE().fit(files, target="y", checkpoint=path)


def test_files_of_the_first_rows_have_to_be_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(labelled, "SAMPLED", 350)  # by which columns are read: the first file and some of the second
    files, path = parts(tmp_path), tmp_path / "count.checkpoint"
    stopped_after(files, path, 1, NaiveBayes())
    rewritten(files[1])
    with pytest.raises(ModelFileError, match=r"part-1\.csv is not what it was"):
        NaiveBayes().fit(files, target="y", checkpoint=path)


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

def wait(progress):
    if progress.n_rows > 60 and Path(path).exists():
        Path(started).touch()
        time.sleep(600)

AODE(columns={"late": "ignored"}).fit(data, target="y", checkpoint=path, progress=wait)
"""


def test_a_count_that_is_killed_ends_with_the_same_bits(data, tmp_path, monkeypatch):
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: 20)
    path, started = tmp_path / "count.checkpoint", tmp_path / "started"
    model = AODE(columns={"late": "ignored"})
    child = subprocess.Popen([sys.executable, "-c", COUNTING, str(data), str(path), str(started)])
    last = time.monotonic() + 120
    while not started.exists() and child.poll() is None and time.monotonic() < last:
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL, "it was through before it could be killed"
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
        (AODE(), {"sample_weight": "visits"}, "its columns, their types or its first rows have changed"),
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
    with pytest.raises(ModelFileError, match=r"rows\.parquet is not what it was: its name, size or time"):
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
    assert told == []


@pytest.mark.parametrize(
    ("place", "message"), [("nowhere/x", "there is no folder '.*nowhere'; make it first"), ("", "it is a folder")]
)
@pytest.mark.parametrize("n_first", [50, N + 1])
def test_a_checkpoint_that_cannot_be_written_is_refused_before_rows_are_read(
    place, message, n_first, data, tmp_path, monkeypatch
):
    monkeypatch.setattr(labelled, "SAMPLED", n_first)
    monkeypatch.setattr(labelled.LabelledRows, "_first_rows", None)
    with pytest.raises(ModelFileError, match=f"cannot write '.*': {message}"):
        AODE().fit(data, target="y", checkpoint=tmp_path / place)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_stays_one_where_the_checkpoint_can_no_longer_be_written(stop, data, tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 1e9)

    def vanishing(progress: Any) -> None:
        if progress.n_rows == 300:
            (folder / "x").unlink()
            folder.rmdir()
            raise stop

    with pytest.raises(stop) as found:
        AODE().fit(data, target="y", checkpoint=folder / "x", progress=vanishing)
    assert ["cannot write the checkpoint" in note for note in found.value.__notes__] == [True]


def test_a_disk_that_is_full_is_told_once(data, tmp_path, monkeypatch):
    written = checkpoint.write_model_file
    n_left = [3]

    def filling(*given: Any) -> None:
        n_left[0] -= 1
        if n_left[0] < 0:
            raise OSError(28, "No space left on device")
        written(*given)

    monkeypatch.setattr(checkpoint, "write_model_file", filling)
    with pytest.raises(ModelFileError, match=r"cannot write the checkpoint .*: No space left on device") as found:
        AODE().fit(data, target="y", checkpoint=tmp_path / "x")
    assert not hasattr(found.value, "__notes__")


@pytest.mark.parametrize("given", [(rows(), None, "y"), (rows().drop_columns(["y"]), rows()["y"], None)], ids=len)
def test_rows_in_memory_have_no_checkpoint(given, tmp_path):
    X, y, target = given
    with pytest.raises(ParameterError, match="these rows are in memory and are counted at once; leave it out"):
        NaiveBayes().fit(X, y, target=target, checkpoint=tmp_path / "x")


def test_rows_that_can_be_read_but_once_have_no_checkpoint(tmp_path):
    with pytest.raises(ParameterError, match="a count that goes on from a checkpoint reads the rows again, and the it"):
        NaiveBayes().fit(iter(rows().to_batches()), target="y", checkpoint=tmp_path / "x")


def test_types_that_were_widened_are_known_again(tmp_path, small_blocks):
    data, path = tmp_path / "rows.csv", tmp_path / "count.checkpoint"
    lines = [f"{i % 3},{'ab'[i % 2]}\n" for i in range(500)]
    data.write_text("grade,y\n" + "".join(lines) + "A,b\n" + "".join(lines))
    with pytest.raises(KeyboardInterrupt):
        NaiveBayes().fit(data, target="y", checkpoint=path, progress=stopping_after(12))
    found = NaiveBayes().fit(data, target="y", checkpoint=path)
    assert found.statistics_ == NaiveBayes().fit(data, target="y").statistics_
    assert found.class_count_.sum() == 1001
