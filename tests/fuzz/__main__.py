"""Run the fuzzers: ``python tests/fuzz --minutes 30``, one alone by its name, one case by ``drop_ins --seed 123``.

The fuzzer that has had the least time goes next, so that all have equal shares. What a case finds is printed with its
seed, and the run goes on; at the end there is a table of cases, refusals and findings.
"""

import argparse
import re
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

FUZZERS = ("drop_ins", "frames", "model_files", "network_files", "command_lines")
LONGEST = 60
"""Seconds of processor time after which a case is a finding of its own, and ten times as many on the clock."""
SHOWN = 3
"""Tracebacks that are printed of one finding; seeds of more are listed."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("fuzzers", nargs="*", choices=[*FUZZERS, []], help="which; all by default")
    parser.add_argument("--seed", type=int, help="run this one case, and show its traceback")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=0, help="seed to begin with")
    given = parser.parse_args(arguments)
    chosen = given.fuzzers or FUZZERS
    if given.seed is not None:
        for name in chosen:
            import_module(f"tests.fuzz.{name}").case(given.seed)
        return 0
    return run(chosen, given.minutes, given.first)


def run(chosen: Any, minutes: float, first: int) -> int:
    cases = {name: import_module(f"tests.fuzz.{name}").case for name in chosen}
    spent, n_cases = Counter(dict.fromkeys(chosen, 0.0)), Counter()
    findings: dict[tuple[str, str], list[int]] = {}
    signal.signal(signal.SIGPROF, _too_long)
    signal.signal(signal.SIGALRM, _too_long)  # of what waits and does not work
    threading.excepthook = lambda of: note(findings, "threads", sum(n_cases.values()), of.exc_value or SystemExit())
    print(f"{', '.join(chosen)}: seeds from {first}, {minutes:g} minutes", flush=True)
    start = told = time.monotonic()
    while time.monotonic() < start + 60 * minutes:
        name = min(chosen, key=spent.__getitem__)
        seed, before = first + n_cases[name], time.monotonic()
        watch(LONGEST)
        try:
            cases[name](seed)
        except (Exception, SystemExit) as error:
            watch(0)
            note(findings, name, seed, error)
        finally:
            watch(0)
        n_cases[name] += 1
        spent[name] += time.monotonic() - before
        if time.monotonic() > told + 60:
            told = time.monotonic()
            print("  ".join(f"{name}: seed {first + n_cases[name]}" for name in chosen), flush=True)
    report(chosen, n_cases, findings, first)
    return int(bool(findings))


def watch(seconds: int) -> None:
    """Let what goes on have so many seconds; 0 for as many as it likes."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(10 * seconds)


def note(findings: dict[tuple[str, str], list[int]], name: str, seed: int, error: BaseException) -> None:
    """Print what a case found, unless the same was found often before: an error with these words at this line."""
    deepest = traceback.extract_tb(error.__traceback__)[-1]
    words = re.sub(r"\d+", "#", " ".join(str(error).splitlines()[:2]))[:100]
    where = f"{type(error).__name__} at {deepest.filename}:{deepest.lineno}: {words}"
    seeds = findings.setdefault((name, where), [])
    seeds.append(seed)
    if len(seeds) <= SHOWN:
        print(f"\n=== {again(name, seed)}", flush=True)
        traceback.print_exception(error, file=sys.stdout)
        sys.stdout.flush()


def again(name: str, seed: int) -> str:
    """Say how to run a case once more."""
    return f"{name}, seed {seed}; again: python tests/fuzz {name} --seed {seed}"


def report(chosen: Any, n_cases: Counter[str], findings: dict[tuple[str, str], list[int]], first: int) -> None:
    print(f"\n{'fuzzer':16}{'cases':>9}{'findings':>10}  seeds")
    for name in (*chosen, "threads"):
        n_found = sum(len(seeds) for (of, _), seeds in findings.items() if of == name)
        print(f"{name:16}{n_cases[name]:9}{n_found:10}  {first} to {first + n_cases[name] - 1}")
    for (name, where), seeds in findings.items():
        print(f"{name}: {where}, seeds {', '.join(map(str, seeds[:10]))}{' ...' * (len(seeds) > 10)}")


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"a case took over {LONGEST} seconds of the processor, or {10 * LONGEST} on the clock")


if __name__ == "__main__":
    tests = ModuleType("tests")  # by its place: a package that a peer installs under this name would go before it
    tests.__path__ = [str(Path(__file__).resolve().parents[1])]
    sys.modules["tests"] = tests
    sys.exit(main())
