"""The command as a process: streams, colours, pipes, signals, and how little it imports.

A new process takes two seconds to import what it needs. Only what a system does to one is tried on one: closing a pipe,
sending a signal. What the command makes of its arguments and streams is tried in this process (`as_process`).
"""

import csv
import importlib.metadata
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.cli.people import TARGET

import bayeswater as bw
from bayeswater import Calibrated, GaussianNB, save
from bayeswater.cli.main import VERBS, _end_by_signals, main
from bayeswater.version import __version__

SCRIPT = Path(sys.executable).with_name("bayeswater")
COMMAND = (
    [str(SCRIPT)]
    if SCRIPT.exists()
    # What the installed script does, for a tree that is on the path and not installed.
    else [sys.executable, "-c", "import sys; from bayeswater.cli.main import main; sys.exit(main())"]
)


def started(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=environment, **options)


def finished(*arguments: object, **options: Any) -> tuple[int, str, str]:
    """Run the command to its end: code, standard output, standard error."""
    stdin = options.pop("input", None)
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = started(*arguments, **(streams | options))
    out, err = process.communicate(stdin, timeout=120)
    return process.returncode, out.decode(), err.decode()


def test_the_package_installs_the_command():
    points = importlib.metadata.entry_points(group="console_scripts", name="bayeswater")
    project = Path(__file__).parents[2] / "pyproject.toml"
    assert {point.value for point in points} <= {"bayeswater.cli.main:main"}
    if project.exists():
        assert 'bayeswater = "bayeswater.cli.main:main"' in project.read_text()


def test_the_package_runs_as_a_module():
    asked = [sys.executable, "-m", "bayeswater", "--version"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=120)
    assert (answer.returncode, answer.stdout.strip()) == (0, __version__)
    asked = [sys.executable, "-m", "bayeswater", "no-such-verb"]
    assert subprocess.run(asked, capture_output=True, check=False, timeout=120).returncode == 2


@pytest.fixture
def as_process(monkeypatch):
    """Run the command as its process does, with these streams, but let no signal end this one."""

    def run(*arguments: object, **streams: Any) -> int:
        monkeypatch.setattr("sys.argv", ["bayeswater", *map(str, arguments)])
        monkeypatch.setattr("bayeswater.cli.main._end_by_signals", lambda: None)
        for name, stream in streams.items():
            monkeypatch.setattr(sys, name, stream)
        return main()

    return run


def test_fit_and_predict_through_pipes(folder, as_process, capsysbinary):
    content = (folder / "people.csv").read_bytes()
    code, out, err = finished("fit", "-", "--target", TARGET, "-o", folder / "m.bayes", "--json", input=content)
    assert (code, err) == (0, ""), "without a terminal there is no bar"
    assert json.loads(out)["n_rows"] == 300
    assert as_process("predict", folder / "m.bayes", "-", stdin=io.TextIOWrapper(io.BytesIO(content))) == 0
    out, err = capsysbinary.readouterr()
    assert err == b""
    assert len(list(csv.DictReader(io.StringIO(out.decode())))) == 300


def test_errors_are_words_on_standard_error_and_the_code_tells_the_fault(folder, as_process, capsys):
    assert as_process("fit", folder / "people.csv", "--target", "incme", "-o", folder / "m.bayes") == 1
    said = f"error: {folder / 'people.csv'}: there is no target column 'incme'; did you mean 'income'?\n"
    assert capsys.readouterr() == ("", said), "one line, however long"
    assert as_process("predict", "--no-such-option") == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err


@pytest.mark.parametrize(
    "line, said",
    [
        (["look"], "bayeswater look needs DATA (`bayeswater look --help` shows what there is)"),
        (["fit", "a.csv", "-o", "m.bayes"], "bayeswater fit needs --target ("),
        (["fit", "a.csv", "-t", "x", "-o"], "-o needs a value ("),
        (["fit", "a.csv", "--traget", "x", "-o", "m.bayes"], "--traget is no option of this verb"),
        (["fit", "a.csv", "--traget", "x", "-o", "m.bayes"], "did you mean --target? ("),
        (["inspect", "m.bayes", "--colum", "x"], "Did you mean --column? ("),
        (["predcit"], 'Unknown command "predcit". Did you mean "predict"? (`bayeswater --help`'),
        (["demo", "now"], "bayeswater demo has no place for 'now' ("),
        (["explain", "m.bayes", "a.csv", "--rows", "0"], 'Invalid value "0" for --rows. Must be >= 1 ('),
    ],
)
def test_a_command_line_that_cannot_be_read_is_told_in_one_line_what_is_wrong(line, said, as_process, capsys):
    assert as_process(*line) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1
    assert said in err


def test_help_and_version_import_nothing_heavy():
    heavy = ["numpy", "pyarrow", "sklearn", "scipy", "numba", "pandas", "safetensors", "markdown_it", "docutils"]
    asked = [["--version"], ["--help"], ["fit", "--help"], ["predict", "--help"]]
    code = (
        "import sys; from bayeswater.cli.main import main\n"
        f"assert [main(one) for one in {asked!r}] == [0] * 4\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert child.stderr == "[]\n"
    version, *helps = child.stdout.split("Usage: bayeswater")
    assert version == f"{__version__}\n" and len(helps) == 3


def test_a_verb_imports_what_it_needs(tmp_path):
    network = bw.BayesianNetwork("rain -> wet", {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]})
    network.write(tmp_path / "rain.bif")
    rows = "".join(f"{1.5 * k},{'ab'[k % 7 > 3]}\n" for k in range(20_000))
    (tmp_path / "rows.csv").write_text(f"x,y\n{rows}")
    asked = {
        "sklearn scipy.stats pandas pyarrow numba": ["query", "rain.bif", "P(rain)"],
        "sklearn.model_selection sklearn.isotonic numba": ["fit", "rows.csv", "--target", "y", "-o", "m.bayes"],
    }
    for needless, verb in asked.items():
        code = (
            f"import sys; sys.argv[1:] = {verb!r}\nfrom bayeswater.cli.main import main\nassert main() == 0\n"
            f"there = {{*{needless.split()!r}}} & {{*sys.modules}}\nassert not there, there"
        )
        alone = {name: value for name, value in os.environ.items() if name != "BAYESWATER_COMPILE"}
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=alone)
        assert child.returncode == 0, child.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("verb", [["predict", "people.csv"], ["inspect"]], ids=" ".join)
def test_standard_output_is_named_where_its_disk_is_full(verb, folder, as_process, capsys):
    files = [folder / "people.bayes", *(folder / name for name in verb[1:])]
    with Path("/dev/full").open("w") as full:
        assert as_process(verb[0], *files, stdout=full) == 1
    assert capsys.readouterr().err == "error: standard output: No space left on device\n"


def test_a_standard_output_that_is_closed_is_named():
    line = f"exec {shlex.join(COMMAND)} --help >&-"
    answer = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=120)
    assert (answer.returncode, answer.stderr) == (1, "error: standard output: Bad file descriptor\n")


def test_streams_that_are_closed_are_no_defect(folder, as_process, capsys):
    model, data, new = folder / "people.bayes", folder / "people.csv", folder / "new.bayes"
    assert as_process("predict", model, data, stdout=None) == 1
    assert capsys.readouterr().err == "error: standard output: Bad file descriptor\n"
    assert as_process("predict", model, "-", stdin=None) == 1
    assert capsys.readouterr() == ("", "error: standard input is empty; give a file with a header and rows\n")
    for stream in ("stdout", "stderr"):
        assert as_process("fit", data, "--target", TARGET, "-o", new, **{stream: None}) == 0
        new.unlink()
    assert as_process("predict", "nowhere.bayes", data, stderr=None) == 1


def test_a_terminal_of_unknown_width_gets_all_that_is_printed(folder, as_process, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert as_process("inspect", folder / "people.bayes") == 0
    assert capsys.readouterr().out.splitlines()[1].strip() == "Columns"


def test_a_pipe_that_is_closed_early_ends_the_command_quietly(folder):
    lines = (folder / "people.csv").read_text().splitlines(keepends=True)
    (folder / "long.csv").write_text("".join([lines[0], *lines[1:] * 200]))
    process = started(
        "predict", folder / "people.bayes", folder / "long.csv", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == b"prediction,P(high),P(low)\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 128 + signal.SIGPIPE


def test_help_that_nobody_reads_ends_as_every_closed_pipe_does():
    process = started("--help", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()  # long before anything can be written
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 128 + signal.SIGPIPE


def test_letters_that_standard_output_cannot_write_are_escaped(folder, as_process):
    (folder / "ab.bif").write_text(
        "network n {} variable a { type discrete [ 2 ] { x, 是 }; } variable b { type discrete [ 2 ] { y, n }; } "
        "probability ( a ) { table 0.5, 0.5; } probability ( b ) { table 0.5, 0.5; }"
    )
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert as_process("dsep", folder / "ab.bif", "a ; b", stdout=plain) == 0
    assert plain.buffer.getvalue() == b"yes: a \\u22a5 b\n"
    assert as_process("query", folder / "ab.bif", "P(a)") == 0
    assert b"=========" in plain.buffer.getvalue() and b"\\u662f" in plain.buffer.getvalue()


@pytest.mark.skipif(os.name != "posix", reason="signals are of Unix")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_leaves_the_old_file_and_nothing_half_written(folder, sent, code):
    out = folder / "answers.csv"
    out.write_text("old")
    process = started(
        *("predict", folder / "people.bayes", "-", "-o", out),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, sent, signal.SIG_DFL),  # under nohup the tests may ignore it
    )
    assert process.stdin is not None and process.stderr is not None
    header, *rows = (folder / "people.csv").read_bytes().splitlines(keepends=True)
    process.stdin.write(header + b"".join(rows) * 300)  # several blocks
    process.stdin.flush()  # and the end does not come
    deadline = time.monotonic() + 60
    while not list(folder.glob(".bayeswater-*.tmp")):
        assert time.monotonic() < deadline, "the command has not begun to write"
        time.sleep(0.05)
    process.send_signal(sent)
    assert process.wait(60) == code
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.stdin.close()
    assert out.read_text() == "old"
    assert not list(folder.glob(".bayeswater-*.tmp"))


@pytest.mark.skipif(os.name != "posix", reason="signals are of Unix")
def test_a_terminal_that_is_closed_ends_the_command_unless_it_was_told_to_go_on(monkeypatch):
    before = {signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    after = dict(before)
    monkeypatch.setattr(signal, "getsignal", before.__getitem__)
    monkeypatch.setattr(signal, "signal", after.__setitem__)
    _end_by_signals()
    with pytest.raises(SystemExit) as end:
        after[signal.SIGHUP](signal.SIGHUP, None)
    assert end.value.code == 129
    before[signal.SIGHUP] = after[signal.SIGHUP] = signal.SIG_IGN  # by nohup
    _end_by_signals()
    assert after[signal.SIGHUP] == signal.SIG_IGN


# ---------------------------------------------------------------------- on a terminal


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
@pytest.mark.parametrize("is_plain", [False, True], ids=["colours", "NO_COLOR"])
def test_a_terminal_gets_a_bar_and_colours_unless_no_color_is_set(is_plain, folder, as_process, monkeypatch):
    import pty

    terminal, side = pty.openpty()
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": "1" * is_plain}.items():
        monkeypatch.setenv(name, value)
    with os.fdopen(side, "w") as stderr, ThreadPoolExecutor(1) as reader:
        shown = reader.submit(_all_of, terminal)
        assert as_process("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m", stderr=stderr) == 0
        stderr.close()
    os.close(terminal)
    assert "reading" in shown.result()
    assert "rows/s" in shown.result()
    assert ("\x1b[1;32m" in shown.result()) != is_plain, "the last line is green"


def _all_of(terminal: int) -> str:
    seen = b""
    while True:
        try:
            more = os.read(terminal, 2**16)
        except OSError:  # the other side is closed
            more = b""
        if not more:
            return seen.decode()
        seen += more


ODD_NAME = "Отдел😀"  # GBK has no faces
IN_GBK = [
    "look t.csv -t y",
    "fit t.csv -t y -o m.bayes",
    "fit t.csv -t 是😀 -o other.bayes",
    "compare t.csv -t y --model naive-bayes --folds 2",
    "predict m.bayes t.csv --explain",
    "evaluate m.bayes t.csv -t y",
    "report m.bayes t.csv -t y -o r.html",
    "explain m.bayes t.csv --rows 1",
    "inspect m.bayes --column Отдел😀",
    "export m.bayes 😀.sql",
    "drift m.bayes m.bayes",
    "merge m.bayes 😀.bayes -o both.bayes",
    "forget m.bayes t.csv -t ß▁",
    "learn t.csv -o n.net",
    "score n.net t.csv",
    "compare-structures n.net n.net",
    "query n.net P(Отдел😀)",
    "dsep n.net Отдел😀;ß▁",
    "sample n.net -n 3",
    "edit n.net -o e.net --rename Отдел😀=ā😀",
    "convert n.net c.xdsl",
    "sensitivity n.net P(Отдел😀=😀)",
    "impute n.net t.csv -o whole.csv",
    "draw n.net -o n.svg",
]


def test_a_console_in_gbk_is_written_to_whatever_letters_the_data_have(tmp_path, as_process, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{'😀é'[i % 2]},{i % 5},{'ā是'[i % 3 % 2]}\n" for i in range(40))
    Path("t.csv").write_text(f"{ODD_NAME},ß▁,y\n{rows}", "utf-8")
    tried = {line.split()[0] for line in IN_GBK}
    faults = [f"{verb} 😀.bayes" for verb in VERBS if verb not in tried]  # what serves goes on and on
    for line in IN_GBK + faults:
        verb, *arguments = line.split()
        stdout = io.TextIOWrapper(io.BytesIO(), encoding="gbk")
        stderr = io.TextIOWrapper(io.BytesIO(), encoding="gbk", errors="backslashreplace")  # as Python opens it
        code = as_process(verb, *arguments, stdout=stdout, stderr=stderr)
        stdout.flush(), stderr.flush()
        out, err = stdout.buffer.getvalue(), stderr.buffer.getvalue()
        is_fault = verb in ("merge", "forget") or "是😀" in line or line in faults
        assert (code != 0) is is_fault and b"Traceback" not in err, (line, err.decode("gbk"))
        told = (out or err).decode("utf-8" if verb in ("predict", "sample") else "gbk")
        assert told or verb in ("draw", "impute"), line


@pytest.mark.parametrize("verb", [["predict"], ["inspect"], ["explain"]], ids=" ".join)
def test_what_stands_around_a_classifier_is_used_from_python(tmp_path, capsys, verb):
    X = pd.DataFrame({"a": [1.0, 2.0, 8.0, 9.0] * 5})
    save(Calibrated(GaussianNB(), cv=2).fit(X, list("nnyy") * 5), tmp_path / "around.bayes")
    X.to_csv(tmp_path / "rows.csv", index=False)
    rows = [] if verb == ["inspect"] else [str(tmp_path / "rows.csv")]
    assert main([*verb, str(tmp_path / "around.bayes"), *rows]) == 1
    assert "Calibrated around a classifier is used from Python" in capsys.readouterr().err
