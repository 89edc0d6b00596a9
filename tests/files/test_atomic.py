"""A file is replaced as a whole or not at all, also by a process that is killed."""

import json
import os
import resource
import stat
import subprocess
import sys
import textwrap

import pytest

from bayeswater.files.atomic import replace_file

KILLS = {"MultinomialNB": 6, "NaiveBayes": 3}  # at least; and up to thirty times more, until one struck a write

# Saves two models in turn, without end; is killed; what then lies there must be one of the two.
KILL_SAVES = """
    import json, os, random, signal, sys, time
    from pathlib import Path
    import numpy as np
    from scipy.sparse import csr_array
    from bayeswater import MultinomialNB, NaiveBayes, load, save

    rows = np.random.default_rng(0).integers(0, 9, (2, 200_000))
    kinds = {
        "MultinomialNB": (MultinomialNB, rows),
        "NaiveBayes": (lambda: NaiveBayes(columns={"(counts)": "multinomial"}, alpha=1), csr_array(rows)),
    }
    told = {}
    for kind, n_kills in json.loads(sys.argv[2]).items():
        folder = Path(sys.argv[1]) / kind
        folder.mkdir()
        path, (new, X) = folder / "model.bayes", kinds[kind]
        models = [new().fit(X[k:], [k] * (2 - k)) for k in (0, 1)]
        save(models[0], path)
        start = time.perf_counter()
        save(models[1], path)
        one_save = time.perf_counter() - start
        half_written, loaded = 0, set()
        for kill in range(30 * n_kills):
            child = os.fork()
            if child == 0:
                while True:
                    for model in models:
                        save(model, path)
            time.sleep(random.uniform(0, 4 * one_save))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            found = load(path)
            loaded.add(next(k for k in (0, 1) if found.statistics_ == models[k].statistics_))
            rest = [file for file in folder.iterdir() if file != path]
            assert all(file.match(".bayeswater-*.tmp") for file in rest), rest
            half_written += len(rest)
            for file in rest:
                file.unlink()
            if kill + 1 >= n_kills and half_written and len(loaded) == 2:
                break
        told[kind] = half_written, sorted(loaded)
    print(json.dumps(told))
"""


def test_a_save_killed_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path):
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILL_SAVES), str(tmp_path), json.dumps(KILLS)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    told = json.loads(child.stdout)
    assert told.keys() == KILLS.keys()
    for half_written, loaded in told.values():
        assert half_written > 0  # the kills struck while files were being written
        assert loaded == [0, 1]


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, mask):
    old = os.umask(mask)
    try:
        replace_file(tmp_path / "file", b"new")
    finally:
        os.umask(old)
    assert mode_of(tmp_path / "file") == 0o666 & ~mask


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    replace_file(path, b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", 0o640)


def test_nobody_else_may_read_a_file_that_is_being_written(tmp_path, monkeypatch):
    modes = []
    fsync = os.fsync

    def look(handle):
        modes.append([(file.name[:12], mode_of(file)) for file in tmp_path.iterdir()])
        return fsync(handle)

    chmod = type(tmp_path).chmod

    def look_before(path, mode):
        chmod(path, mode)
        modes.append([(path.name[:12], mode_of(path), path.stat().st_size)])

    monkeypatch.setattr(type(tmp_path), "chmod", look_before)
    monkeypatch.setattr(os, "fsync", look)
    replace_file(tmp_path / "file", b"new")
    closed, opened, written, renamed = modes
    assert closed == [(".bayeswater-", 0o600, 0)]  # closed to others while it is empty
    assert opened[0][2] == 3  # and opened when all is there
    assert [name for name, _ in written] == [".bayeswater-"]  # on the disk before it gets the name
    assert [name for name, _ in renamed] == ["file"]  # and then the folder


def test_a_link_stays_and_the_file_it_points_to_is_replaced(tmp_path):
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.symlink_to(target)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    replace_file(pipe, b"new")
    assert reader.communicate(timeout=60)[0] == b"new"
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_to_a_device_is_written_to_and_not_replaced(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/dev/stdout")  # while it is a pipe, it has no path that could be replaced
    program = f"from bayeswater.files.atomic import *; replace_file(Path({str(link)!r}), b'new')"
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert (child.returncode, child.stdout, child.stderr) == (0, b"new", b"")
    assert link.is_symlink()


def test_a_disk_that_is_full_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            replace_file(path, bytes(10**6))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_name_is_no_obstacle(tmp_path):
    path = tmp_path / ("n" * 255)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
