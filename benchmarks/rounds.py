"""A round of all sections: each in a process of its own, for so many minutes at a time; the next call goes on.

What is measured is in the report as soon as its section has ended. A section that took longer the last time than there
are minutes left waits for the next call, and one that does not end in time is stopped, and comes last from then on.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.processes import ROOT

STATE = ROOT / "build" / "bench.json"

MINUTES = 28.0
"""What one call takes at most, with what it takes to begin and to write: half an hour."""

Measure = Callable[[str, float], bool]
"""Measures a section in so many seconds at most; says whether it ended."""


def go_round(
    titles: Sequence[str],
    seconds_before: Mapping[str, float],
    minutes: float,
    measure: Measure,
    state: Path = STATE,
    clock: Callable[[], float] = perf_counter,
) -> list[str]:
    """Measure sections that this round lacks; give those that are left for the next call."""
    done, stopped = json.loads(state.read_text()) if state.exists() else ([], [])
    end = clock() + 60 * minutes
    waiting = [title for title in titles if title not in {*done, *stopped}]
    waiting += [title for title in titles if title in stopped and title not in done]
    left = []
    for title in waiting:
        seconds = end - clock()
        if seconds <= 0 or min(seconds_before.get(title, 0.0), 60 * minutes) > seconds:
            left.append(title)
            continue
        ended = measure(title, seconds)
        (done if ended else stopped).append(title)
        if not ended:
            left.append(title)
        state.parent.mkdir(parents=True, exist_ok=True)
        state.write_text(json.dumps([done, sorted(set(stopped) - set(done))]))
    if not left:
        state.unlink(missing_ok=True)
    return left


def measure_apart(title: str, seconds: float, arguments: Sequence[str]) -> bool:
    """Measure a section in a process of its own, and end it with all that it has started when its time is up."""
    command = [sys.executable, "-m", "benchmarks", "--section", title, *arguments]
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as process:
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return False
