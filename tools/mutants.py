"""How strong the tests are: the share of seeded mutants that they kill, room by room.

    make mutants                                       # 300 mutants of each room, within an hour on two cores
    make mutants ARGS="statistics --mutants 20"        # a look at one room
    make mutants ARGS="--seed 2"                       # other mutants

A mutant is the source with one operator, number or keyword changed, by the operators of cosmic-ray. It is killed if a
test fails or does not end. It meets the tests that run its line, the quickest first, and of an inner function those
that run the outer one; one that meets none has survived. Messages are not mutated, nor is what changes no answer:
annotations, assertions, what decides on speed alone.

Tests are collected once, and every mutant meets them in a fork, where its functions are given their changed code. What
runs at an import takes effect only there, so such a mutant is imported, with all that imports it, in the fork.
What was learned is kept in ``.mutants/``. A kill holds until the mutated file or the test that killed changes, a
survival until anything does: after a new test only survivors are looked at again.
"""

import argparse
import ast
import gc
import hashlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from random import Random
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.main import pytest_runtestloop as run_items

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "bayeswater"
KEPT = ROOT / ".mutants"
ROOMS = ("statistics", "estimate", "families", "decision")
TESTS = (*ROOMS, "structure", "inference", "explain", "learning", "models", "files", "laws", "oracles")
"""Folders of tests that mutants meet: those of the rooms, and of what is built on them."""

FORKLESS = ("test_naive_bayes_sample.py", "test_answering.py", "test_categories_between_batches.py")
"""Files that make frames of polars while they are collected: its threads do not live on in a fork."""

AT_LEAST = 85
"""Per cent of the mutants of a room that have to die."""

MOST_TESTS, MOST_SECONDS = 400, 10.0
"""Tests that a mutant meets, and the seconds of computing that they take without it, at most."""

COMPUTED = [0.0]
"""Seconds that this process had computed for when the part of a test that runs began."""

PATIENCE = 10
"""Seconds of computing beyond twice their time after which tests that do not end have found the mutant."""

WAITING = 600
"""Seconds by the clock after which tests that wait for ever are ended; those that compute end by `PATIENCE`."""

MEMORY = 8 << 30
"""Bytes of addresses for a mutant: one that asks for more gets a `MemoryError`, and the machine stays alive."""

ALONE = [*("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"), "-s", "-x", "-qq", "--tb=no", "--assert=plain"]
"""Options of pytest: a failure ends the run, and its reasons take longer to write than most tests."""

NEVER_CHANGED = ("name", "string", "newline", "endmarker")
"""Most nodes of a syntax tree; not to ask every operator for them halves the time."""

# ---------------------------------------------------------------------- mutants


@cache
def text_of(path: Path) -> str:
    """Read a file once, so that all mutants of a run are changes of the same text."""
    return path.read_text()


@dataclass(frozen=True)
class Mutant:
    """One change of one place."""

    path: Path
    line: int
    operator: str
    occurrence: int

    @cached_property
    def text(self) -> str:
        """The file with the change."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        return str(mutate_code(text_of(self.path), get_operator(self.operator)(), self.occurrence))

    def is_python(self) -> bool:
        """Say whether the change leaves a program; of an exception with a dotted name none can be made."""
        with suppress(SyntaxError, AttributeError):
            return compile(self.text, str(self.path), "exec") is not None
        return False

    def __str__(self) -> str:
        pairs = zip(text_of(self.path).splitlines(), self.text.splitlines(), strict=False)
        old, new = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        return f"{self.path.relative_to(ROOT)}:{self.line}  {old.strip()}  ->  {new.strip()}"


def drawn(room: str, seed: int, n_mutants: int) -> list[Mutant]:
    """Draw lines of a room by a hash of their text, so that an edit leaves the others drawn, and one mutant of each."""
    by_line: dict[tuple[Path, int], list[Mutant]] = defaultdict(list)
    for path in sorted((SOURCE / room).rglob("*.py")):
        for mutant in _mutants_of(path):
            by_line[path, mutant.line].append(mutant)
    ranked = []
    for (path, line), own in by_line.items():
        rng = Random(f"{seed} {path.relative_to(SOURCE)} {text_of(path).splitlines()[line - 1].strip()}")
        ranked.append((rng.random(), rng.sample(own, len(own))))
    ranked.sort(key=lambda entry: entry[0])
    chosen = (next((one for one in own if one.is_python()), None) for _, own in ranked)
    return list(islice(filter(None, chosen), n_mutants))


def _mutants_of(path: Path) -> Iterator[Mutant]:
    import parso
    from cosmic_ray.ast import ast_nodes
    from cosmic_ray.plugins import get_operator, operator_names

    silent = list(_silent_spans(ast.parse(text_of(path))))
    nodes = [node for node in ast_nodes(parso.parse(text_of(path))) if node.type not in NEVER_CHANGED]
    for name in filter(_is_of_use, operator_names()):
        operator = get_operator(name)()
        places = ((node, place) for node in nodes for place in operator.mutation_positions(node))
        for occurrence, (node, (start, stop)) in enumerate(places):
            is_mark = node.parent is not None and node.parent.type == "parameters"  # the star in f(a, *, b)
            if not is_mark and not any(first <= start and stop <= last for first, last in silent):
                yield Mutant(path, start[0], name, occurrence)


def _is_of_use(operator: str) -> bool:
    """Leave out what takes a cache away, what wants to be told of variables, and ``is`` in the place of ``==``."""
    if operator.endswith(("_Is_IsNot", "_IsNot_Is")):
        return True
    return not any(part in operator for part in ("Decorator", "Variable", "_Is"))


def _silent_spans(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Give the places of messages, annotations, imports and assertions, and of what decides on speed alone.

    That ``zip`` is strict and a dataclass frozen are assertions, too: they refuse what no caller does. Whether a loop
    is compiled, BLAS has threads or an array is copied shows in no answer: tests hold all roads to the same bits.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Raise() | ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
                part: Any = node
            case ast.Call(func=ast.Name(id="warn_user" | "worth_compiling" | "one_blas_thread")):
                part = node
            case ast.Call(func=ast.Attribute(attr="warn")) | ast.keyword(arg="strict" | "frozen" | "copy"):
                part = node
            case ast.arg(annotation=part) | ast.AnnAssign(annotation=part) | ast.FunctionDef(returns=part):
                pass
            case _:
                part = None
        if part is not None:
            yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


# ---------------------------------------------------------------------- which tests run a line


def digest(paths: Iterable[Path]) -> str:
    """Hash files under their names."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(f"{path.relative_to(ROOT)}\n{text_of(path)}".encode())
    return total.hexdigest()


def places_of_tests() -> list[Path]:
    """List the files that hold tests: those of the test folders, and the rooms, for their examples."""
    files = [path for name in TESTS for path in sorted((ROOT / "tests" / name).rglob("test_*.py"))]
    examples = [path for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py")) if ">>>" in text_of(path)]
    return [path for path in files if path.name not in FORKLESS] + examples


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Any:
    """Time a part of a test by what it computes: on a busy machine it takes longer, and not more.

    This file is a plugin of the workers that time the tests.
    """
    report = yield
    report.duration = time.process_time() - COMPUTED[0]
    COMPUTED[0] += report.duration
    return report


def pytest_runtest_logstart() -> None:
    """Begin with a test."""
    COMPUTED[0] = time.process_time()


class Stopwatch:
    """Time the tests of a run, all or some in their order, and note which of them failed."""

    def __init__(self, tests: Sequence[str] | None = None) -> None:
        self.tests = tests
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep the tests that are asked for; a mutant may have changed the name of one."""
        if self.tests is not None:
            found = {item.nodeid: item for item in items}
            items[:] = [found[test] for test in self.tests if test in found]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add a part of a test."""
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        """Count a file that cannot be imported as a test that failed."""
        if report.failed:
            self.failed.append(report.nodeid)


def tests_at(mutant: Mutant, seconds: dict[str, float]) -> tuple[list[str], bool]:
    """Give the tests that meet a mutant in their order, of those that are timed, and whether its line is imported."""
    by_line = _contexts(mutant.path)
    room = mutant.path.relative_to(SOURCE).parts[0]
    first, last = _statements(mutant.path).get(mutant.line, (mutant.line, mutant.line))
    tests = set().union(*(by_line.get(line, set()) for line in range(first, last + 1)))
    tests |= set().union(*(by_line.get(line, set()) for line in _around(mutant))) - {""}
    is_imported = "" in tests
    if tests == {""}:  # a constant or a default: what runs any line of its file may read it, or looks at the room
        tests = set().union(*by_line.values(), (test for test in seconds if test.startswith(f"tests/{room}/")))
    return _in_order(tests & seconds.keys(), room, seconds), is_imported


def _in_order(tests: set[str], room: str, seconds: dict[str, float]) -> list[str]:
    """Take those of the room first, of each file in turn the quickest, until the time is up."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        by_file[test.split("::")[0]].append(test)
    turns = [(i, test) for own in by_file.values() for i, test in enumerate(own)]
    turns.sort(key=lambda turn: (f"/{room}/" not in turn[1], turn[0], seconds[turn[1]]))
    taken: list[str] = []
    total = 0.0
    for _, test in turns:
        if seconds[test] + total <= MOST_SECONDS or not taken:
            taken.append(test)
            total += seconds[test]
    return taken[:MOST_TESTS]


@cache
def _contexts(path: Path) -> dict[int, set[str]]:
    """Give the tests that ran each line of a file; an import is the empty name."""
    from coverage import CoverageData

    data = CoverageData(str(KEPT / "coverage"))
    data.read()
    by_line = data.contexts_by_lineno(str(path.relative_to(ROOT)))
    return {line: {one.split("|")[0] for one in own} for line, own in by_line.items()}


@cache
def _statements(path: Path) -> dict[int, tuple[int, int]]:
    """Give first and last line of the statement that a line is of; of one with a body, of its head."""
    spans = {}
    for node in ast.walk(ast.parse(text_of(path))):  # the outer ones come first
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            spans.update(dict.fromkeys(range(node.lineno, last + 1), (node.lineno, last)))
    return spans


def _around(mutant: Mutant) -> range:
    """Give the lines of the function around that of a mutant, if there is one.

    Threads of a pool run such inner functions, and coverage does not see which test asked them to.
    """
    functions = (node for node in ast.walk(ast.parse(text_of(mutant.path))) if isinstance(node, ast.FunctionDef))
    spans = (range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in functions)
    own = [span for span in spans if mutant.line in span]  # the outer ones come first
    return own[0] if len(own) > 1 else range(0)


def timed_tests(workers: int) -> dict[str, float]:
    """Run tests under coverage, those alone that are new since the last time if the source is the same."""
    KEPT.mkdir(exist_ok=True)
    kept, source = KEPT / "tests.json", digest(SOURCE.rglob("*.py"))
    known = json.loads(kept.read_text()) if kept.exists() else {}
    if known.get("source") != source:
        known = {"source": source, "files": {}}
        (KEPT / "coverage").unlink(missing_ok=True)
    digests = {str(path.relative_to(ROOT)): digest([path]) for path in places_of_tests()}
    known["files"] = {name: own for name, own in known["files"].items() if digests.get(name) == own["digest"]}
    new = [name for name in digests if name not in known["files"]]
    if new:
        print(f"running the tests of {len(new)} files, to learn which of them run which line", flush=True)
        for name in new:
            known["files"][name] = {"digest": digests[name], "seconds": {}}
        for test, seconds in _under_coverage(new, workers).items():
            known["files"][test.split("::")[0]]["seconds"][test] = seconds
        kept.write_text(json.dumps(known))
    return {test: seconds for own in known["files"].values() for test, seconds in own["seconds"].items()}


def _under_coverage(names: Sequence[str], workers: int) -> dict[str, float]:
    """Run test files in another process; give the time of every test that passed."""
    timed = KEPT / "timed.json"
    child = os.fork()
    if not child:
        os.environ["COVERAGE_FILE"] = str(KEPT / "coverage")
        watch = Stopwatch()
        options = ["--cov", "--cov-append", "--cov-context=test", "--cov-report=", "--doctest-modules"]
        parallel = ["-n", str(workers), "--dist", "worksteal", "-p", "no:cacheprovider", "-qq", "--no-summary"]
        sys.path.insert(0, str(ROOT / "tools"))  # workers search where this process does
        pytest.main([*parallel, *options, "-p", "mutants", *names], plugins=[watch])
        timed.write_text(json.dumps({test: own for test, own in watch.seconds.items() if test not in watch.failed}))
        os._exit(0)
    os.waitpid(child, 0)
    return dict(json.loads(timed.read_text()))


# ---------------------------------------------------------------------- a mutant and its tests


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import one module from another text."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        parts = mutant.path.relative_to(SOURCE.parent).with_suffix("").parts
        self.name = ".".join(part for part in parts if part != "__init__")

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Answer for the one module."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.mutant.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed text."""
        exec(compile(self.mutant.text, str(self.mutant.path), "exec"), module.__dict__)


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Give all code objects of a module by name and line."""
    yield (code.co_qualname, code.co_firstlineno), code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


class Meeting(Stopwatch):
    """Let mutants meet the tests that pytest has collected (a plugin that takes the place of its loop)."""

    def __init__(self, asked: argparse.Namespace, timed: dict[str, float]) -> None:
        super().__init__()
        self.asked, self.timed = asked, timed
        self.everything = digest([*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
        self.is_enough = True

    def pytest_runtestloop(self, session: Any) -> bool:
        """Report on each room."""
        self.session = session
        self.items = {item.nodeid: item for item in session.items}
        self.timed = {test: own for test, own in self.timed.items() if test in self.items}
        self.functions: dict[str, list[FunctionType]] = defaultdict(list)
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                self.functions[thing.__code__.co_filename].append(thing)
        importlib.import_module("numba")  # which a loop would load in every fork
        gc.freeze()  # no fork copies what it never changes
        head = f"{'room':12}{'mutants':>9}{'killed':>9}{'timed out':>11}{'survived':>10}{'share':>8}"
        lines = [head, *(self.report(room) for room in self.asked.rooms or ROOMS)]
        print("\n".join(["", *lines]))
        return True

    def report(self, room: str) -> str:
        """Let the mutants of a room meet the tests, list the survivors, and give the line of the table."""
        file = KEPT / f"{room}-{self.asked.seed}.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        mutants = {str(mutant): mutant for mutant in drawn(room, self.asked.seed, self.asked.mutants)}
        todo = {n: one for n, one in mutants.items() if known.get(n, {}).get("since") != self.since(one, known)}
        print(f"{room}: {len(mutants)} mutants, {len(mutants) - len(todo)} of them known", flush=True)
        for name, outcome, by in self.outcomes(todo):
            known[name] = {"outcome": outcome, "by": by}
            known[name]["since"] = self.since(mutants[name], known)
            file.write_text(json.dumps(known, indent=0))
        self.check({known[name]["by"] for name in mutants} & self.items.keys())
        counts = Counter(known[name]["outcome"] for name in mutants)
        for name in sorted(mutants):
            if known[name]["outcome"] == "survived":
                print(f"  survived  {name}", flush=True)
        share = 100 * (1 - counts["survived"] / max(1, len(mutants)))
        self.is_enough &= share >= AT_LEAST
        columns = f"{len(mutants):9}{counts['killed']:9}{counts['timed out']:11}{counts['survived']:10}"
        return f"{room:12}{columns}{share:7.1f}%"

    def since(self, mutant: Mutant, known: dict[str, Any]) -> str:
        """Give a hash of what a verdict rests on."""
        by = known.get(str(mutant), {}).get("by", "").split("::")[0]
        return digest([mutant.path, ROOT / by]) if by and (ROOT / by).exists() else self.everything

    def outcomes(self, mutants: dict[str, Mutant]) -> Iterator[tuple[str, str, str]]:
        """Run several forks at a time; give the outcome of each mutant and the test that killed it."""
        running: dict[int, tuple[str, int]] = {}
        waiting = list(mutants)
        while waiting or running:
            while waiting and len(running) < self.asked.workers:
                name = waiting.pop(0)
                tests, is_imported = tests_at(mutants[name], self.timed)
                if tests:
                    child, pipe = self.fork(mutants[name], tests, is_imported)
                    running[child] = name, pipe
                else:
                    yield name, "survived", ""
            if running:
                child, status = os.wait()
                name, pipe = running.pop(child)
                yield name, *_judged(os.waitstatus_to_exitcode(status), _read(pipe), name)

    def fork(self, mutant: Mutant | None, tests: list[str], is_imported: bool = False) -> tuple[int, int]:
        """Run tests in a fork; give its number, and a pipe that names the tests that failed."""
        told, tell = os.pipe()
        child = os.fork()
        if child:
            os.close(tell)
            return child, told
        try:
            for stream in (1, 2):
                os.dup2(os.open(KEPT / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
            patience = PATIENCE + 2 * int(sum(self.timed[test] for test in tests))
            resource.setrlimit(resource.RLIMIT_CPU, (patience, patience + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.alarm(WAITING)
            os.write(tell, "\n".join(self.run(mutant, tests, is_imported)).encode())
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def run(self, mutant: Mutant | None, tests: list[str], is_imported: bool) -> list[str]:
        """Run tests on a mutant, the first that fails being the last; without one, run all."""
        if mutant is None or (not is_imported and self.swap(mutant)):
            self.session.config.option.maxfail = mutant is not None
            self.session.items[:] = [self.items[test] for test in tests]
            with suppress(self.session.Failed):
                run_items(self.session)
            return self.failed
        for name in list(sys.modules):
            if name.split(".")[0] in ("bayeswater", "tests"):
                del sys.modules[name]
        changed = Changed(mutant)
        sys.meta_path.insert(0, changed)
        try:
            importlib.import_module(changed.name)
        except Exception:
            return ["import"]
        watch = Stopwatch(tests)
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        code = pytest.main([*ALONE, "--doctest-modules", *files], plugins=[watch])
        assert code in (0, 1, 2, 5), f"pytest ended with {code}"
        return watch.failed

    def swap(self, mutant: Mutant) -> bool:
        """Give the functions of a module their changed code; say whether there was any."""
        old, new = (dict(_codes(compile(one, "", "exec"))) for one in (text_of(mutant.path), mutant.text))
        found = False
        for function in self.functions[str(mutant.path)]:
            key = function.__code__.co_qualname, function.__code__.co_firstlineno
            if key in new and new[key] != old[key]:
                function.__code__ = new[key].replace(co_filename=str(mutant.path))
                found = True
        return found

    def check(self, tests: set[str]) -> None:
        """Run the tests that killed once more, without a mutant: one that fails then has killed nothing."""
        if tests:
            child, told = self.fork(None, sorted(tests))
            _, status = os.waitpid(child, 0)
            wrong = _read(told)
            if wrong or status:
                raise SystemExit(f"tests that fail here without a mutant (status {status}): {wrong}")


def _read(pipe: int) -> str:
    with os.fdopen(pipe) as told:
        return told.read()


def _judged(code: int, by: str, name: str) -> tuple[str, str]:
    if -code in (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL):
        return "timed out", ""
    if code < 0:
        return "killed", signal.Signals(-code).name
    if code:
        raise SystemExit(f"the tests of a mutant could not be run, see {KEPT / 'output.txt'}: {name}")
    return ("killed", by.splitlines()[0]) if by else ("survived", "")


def main() -> None:
    """Report on the rooms; fail where too many survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", default=[], help="of " + ", ".join(ROOMS))
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    os.chdir(ROOT)
    meeting = Meeting(asked, timed_tests(asked.workers))
    files = [str(path.relative_to(ROOT)) for path in places_of_tests()]
    code = pytest.main([*ALONE, "--doctest-modules", *files], plugins=[meeting])
    sys.exit(code or not meeting.is_enough)


if __name__ == "__main__":
    main()
