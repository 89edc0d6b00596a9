"""The installed command as a process of its own: streams, colours, pipes, signals, and how little it imports."""

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
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.cli.people import TARGET

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
    asked = [sys.executable, "-m", "bayeswater", "inspect", "nowhere.bayes"]
    assert subprocess.run(asked, capture_output=True, check=False, timeout=120).returncode == 1


def test_fit_and_predict_through_pipes(folder):
    content = (folder / "people.csv").read_bytes()
    code, out, err = finished("fit", "-", "--target", TARGET, "-o", folder / "m.bayes", "--json", input=content)
    assert (code, err) == (0, ""), "without a terminal there is no bar"
    assert json.loads(out)["n_rows"] == 300
    code, out, err = finished("predict", folder / "m.bayes", "-", input=content)
    assert (code, err) == (0, "")
    assert len(list(csv.DictReader(io.StringIO(out)))) == 300


def test_errors_are_words_on_standard_error_and_the_code_tells_the_fault(folder):
    code, out, err = finished("fit", folder / "people.csv", "--target", "incme", "-o", folder / "m.bayes")
    assert (code, out) == (1, "")
    assert err == (f"error: {folder / 'people.csv'}: there is no target column 'incme'; did you mean 'income'?\n"), (
        "one line, however long"
    )
    code, out, err = finished("predict", "--no-such-option")
    assert (code, out) == (2, "")
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["fit", "--help"], ["predict", "--help"]])
def test_help_and_version_import_nothing_heavy(arguments):
    heavy = ["numpy", "pyarrow", "sklearn", "scipy", "numba", "pandas", "safetensors", "markdown_it", "docutils"]
    code = (
        "import sys; from bayeswater.cli.main import main\n"
        f"assert main({arguments!r}) == 0\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert child.stderr == "[]\n"
    assert child.stdout == f"{__version__}\n" if "--version" in arguments else "Usage: bayeswater" in child.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("verb", [["predict", "people.csv"], ["inspect"]], ids=" ".join)
def test_standard_output_is_named_where_its_disk_is_full(verb, folder):
    with Path("/dev/full").open("wb") as full:
        files = [folder / "people.bayes", *(folder / name for name in verb[1:])]
        process = started(verb[0], *files, stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err.decode()) == (1, "error: standard output: No space left on device\n")


def closing(stream: str, *arguments: object) -> Any:
    """Run the command with a standard stream that is closed."""
    line = f"exec {shlex.join([*COMMAND, *map(str, arguments)])} {stream}&-"
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=120)


def test_streams_that_are_closed_are_no_defect(folder):
    model, data, new = folder / "people.bayes", folder / "people.csv", folder / "new.bayes"
    for verb in (["predict", model, data], ["--help"]):
        answer = closing(">", *verb)
        assert (answer.returncode, answer.stderr) == (1, "error: standard output: Bad file descriptor\n")
    answer = closing("<", "predict", model, "-")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr == "error: standard input is empty; give a file with a header and rows\n"
    for stream in (">", "2>"):
        assert closing(stream, "fit", data, "--target", TARGET, "-o", new).returncode == 0
        new.unlink()
    assert closing("2>", "predict", "nowhere.bayes", data).returncode == 1


def test_a_terminal_of_unknown_width_gets_all_that_is_printed(folder):
    process = started("inspect", folder / "people.bayes", stdout=subprocess.PIPE, env={"COLUMNS": "0"})
    out, _ = process.communicate(timeout=120)
    assert (process.returncode, out.splitlines()[1].strip()) == (0, b"Columns")


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


def test_letters_that_standard_output_cannot_write_are_escaped(folder):
    (folder / "ab.bif").write_text(
        "network n {} variable a { type discrete [ 2 ] { x, 是 }; } variable b { type discrete [ 2 ] { y, n }; } "
        "probability ( a ) { table 0.5, 0.5; } probability ( b ) { table 0.5, 0.5; }"
    )
    plain = {"env": {"PYTHONIOENCODING": "ascii"}}
    assert finished("dsep", folder / "ab.bif", "a ; b", **plain) == (0, "yes: a \\u22a5 b\n", "")
    code, out, err = finished("query", folder / "ab.bif", "P(a)", **plain)
    assert (code, err) == (0, "") and "=========" in out and "\\u662f" in out


@pytest.mark.skipif(os.name != "posix", reason="signals are of Unix")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
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
    process.stdin.write(header + b"".join(rows) * 1000)  # several blocks
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


# ---------------------------------------------------------------------- on a terminal


def on_a_terminal(*arguments: object, env: dict[str, str]) -> str:
    """Run the command with standard error on a terminal, and give what was written there."""
    import pty

    terminal, side = pty.openpty()
    process = started(*arguments, stdout=subprocess.DEVNULL, stderr=side, env={"TERM": "xterm-256color", **env})
    os.close(side)
    seen = b""
    while True:
        try:
            more = os.read(terminal, 2**16)
        except OSError:  # the other side is closed
            break
        if not more:
            break
        seen += more
    os.close(terminal)
    assert process.wait(60) == 0, seen
    return seen.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_a_terminal_gets_a_bar_and_colours_unless_no_color_is_set(folder):
    arguments = ("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes")
    colourful = on_a_terminal(*arguments, env={"COLUMNS": "100"})
    assert "reading" in colourful
    assert "rows/s" in colourful
    assert "\x1b[1;32m" in colourful, "the last line is green"
    plain = on_a_terminal(*arguments, env={"COLUMNS": "100", "NO_COLOR": "1"})
    assert "reading" in plain
    assert "\x1b[1;32m" not in plain
