"""Both roads of every kernel: the NumPy reference, which small tables take, and the loop, forced upon them.

What takes time and promises nothing is left out: loops that no test asks for, coverage where it has seen all,
most cases of a kernel as plain Python, looking for garbage among all tests that there are, and threads, which on small
tables do little but wait.
"""

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# Workers and the processes that they start have one thread each for matrices; read when NumPy is imported. Two workers
# on two cores would have four that wait for one another at full speed: five times the time of a fit of small matrices.
# The same holds for our own threads, which took a sixth of the time: tests of threads say how many they take.
for setting in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BAYESWATER_THREADS"):
    os.environ.setdefault(setting, "1")

# A loop that a test asks for is run, where users have NumPy answer until it is worth while to load one.
os.environ.setdefault("BAYESWATER_COMPILE", "now")

import bayeswater  # noqa: E402
from bayeswater.kernels import compiling  # noqa: E402

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell sets that for what it runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A process that has answered for many small tables loads loops for every further kind of them (`Kernel.serves`): in one
# of many thousand tests that is minutes of compiling. `tests/kernels/test_compiling.py` counts from zero.
compiling.Kernel.cells_answered = -(10**18)

# The same examples on every run find no more in a hundred than in twenty-five; what is new is sought with the profile
# "default", which draws others, and by the fuzzers.
settings.register_profile("ci", settings.get_profile("ci"), max_examples=25)

IS_PLAIN = os.environ["BAYESWATER_COMPILE"] == "0"
"""Whether loops run as plain Python, where coverage can see into them."""

TESTS = Path(__file__).parent
THREADED = (TESTS / "data" / "sources", TESTS / "models" / "streaming")
"""Folders of tests that have two of our threads, as users have: rows are read beside the work on those before them."""

UNTRACED = ("fuzz", "laws", "oracles", "peers", "kernels")
"""Folders that coverage does not watch.

Tests of whole models against a definition, a law or a peer run what has tests of its own, which coverage sees; kernels
are watched when they run as plain Python, where it can see into them.
"""

WATCHED, LOOK = 0.2, 0.04
"""Seconds of computing of a test that coverage watches, and after each of which it looks whether lines are new.

Later examples and rows run the lines of the first ones, and to be watched takes three quarters of the time once more.
"""

DULL = 2
"""Cases of a test, one after the other, that ran no line that none had run before: its further ones are not watched."""


SOME = 5
"""One case in so many of each test of the kernels is run as plain Python, and three at least: all are run compiled."""


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Any:
    """Look for examples in the source and in documents alone: tests have none, and there are 400 files of them."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: Any) -> None:
    """Let coverage see the imports, and not how tests are collected, which takes as long again with it."""
    config, plugin = session.config, session.config.pluginmanager.getplugin("_cov")
    if getattr(config.option, "numprocesses", None):
        return  # a process that hands its tests to workers runs none
    gc.disable()  # nothing that is collected is garbage: a fifth of the time
    if plugin is None or plugin.cov_controller is None:
        return
    seen = bayeswater.kernels if IS_PLAIN else bayeswater
    for module in walk_packages(seen.__path__, f"{seen.__name__}."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    # Who asks which tests run a line is told of all they run.
    seconds = 0 if config.option.cov_context else WATCHED
    config.pluginmanager.register(Watch(plugin.cov_controller, seconds))


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Leave most cases out where loops run as plain Python, which is done to let coverage see into them."""
    if IS_PLAIN:
        cases: dict[str, list[Any]] = {}
        for item in items:
            cases.setdefault(_function(item), []).append(item)
        rng = Random(0)  # any stride would meet some parameters with the same value always
        some = (rng.sample(own, min(len(own), max(3, len(own) // SOME))) for own in cases.values())
        taken = {id(item) for own in some for item in own}
        items[:] = [item for item in items if id(item) in taken]


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and never among what stays to the end: that took a seventh of the time."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


class Watch:
    """Let coverage look at the beginning of each test of a folder that it watches."""

    def __init__(self, controller: Any, seconds: float) -> None:
        self.controller, self.seconds = controller, seconds
        self.n_lines, self.n_before, self.looks, self.dull = 0, 0, 0, Counter[str]()
        self.stop()
        current = type(controller.cov).current
        while (other := current()) is not None:  # a worker has a second one, that goes on where ours stops
            other.stop()
        untraced = UNTRACED[:-1] if IS_PLAIN else UNTRACED
        self.untraced = tuple(f"{TESTS / folder}{os.sep}" for folder in untraced)
        signal.signal(signal.SIGVTALRM, self.look)

    def stop(self) -> None:
        """Watch no longer."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self.controller.started = False
        self.controller.cov.stop()

    def look(self, *_: Any) -> None:
        """Stop where no line was new since the last look, or the time is up."""
        self.looks += 1
        if not self.is_new() or self.looks * LOOK >= self.seconds:
            self.stop()

    def is_new(self) -> bool:
        """Say whether lines were run that none had run at the last look."""
        by_file = list(self.controller.cov._collector.data.values())  # a thread may add a file meanwhile
        before, self.n_lines = self.n_lines, sum(map(len, by_file))
        return self.n_lines > before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Any:
        """Begin to watch."""
        self.n_before = self.n_lines
        is_folder_watched = not str(item.path).startswith(self.untraced) or item.path.name == "test_compiling.py"
        if is_folder_watched and (not self.seconds or self.dull[_function(item)] < DULL):
            self.controller.cov.start()
            self.controller.started = True
            self.looks = 0
            signal.setitimer(signal.ITIMER_VIRTUAL, *(2 * [LOOK if self.seconds else 0]))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: Any) -> Any:
        """Leave what is torn down alone."""
        self.stop()
        self.is_new()
        self.dull[_function(item)] = 0 if self.n_lines > self.n_before else self.dull[_function(item)] + 1
        return (yield)


def _function(item: Any) -> str:
    """Name the test that an item is a case of."""
    return str(item.nodeid).partition("[")[0]


@pytest.fixture(scope="module", autouse=True)
def two_threads(request: Any) -> Iterator[None]:
    """Give two of our threads to tests of what is read beside the work on it."""
    with pytest.MonkeyPatch.context() as patch:
        if any(request.path.is_relative_to(folder) for folder in THREADED):
            patch.setenv("BAYESWATER_THREADS", "2")
        yield


@pytest.fixture(scope="module", params=["reference", "loop"])
def kernel(request: Any) -> Iterator[str]:
    """Name the road that all kernels take while a test module runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "COMPILE_FROM_CELLS", 0 if request.param == "loop" else 10**18)
        yield request.param
