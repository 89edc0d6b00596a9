"""Both roads of every kernel: the NumPy reference, which small tables take, and the loop, forced upon them.

What takes time and promises nothing is left out: loops that no test asks for, coverage where it has seen all,
looking for garbage among all tests that there are, and threads of BLAS, which on small matrices do little but wait.
"""

import gc
import os
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# Workers and the processes that they start have one thread each for matrices; read when NumPy is imported. Two workers
# on two cores would have four that wait for one another at full speed: five times the time of a fit of small matrices.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

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

TESTS = Path(__file__).parent
UNTRACED = ("fuzz", "laws", "oracles", "peers", "kernels")
"""Folders that coverage does not watch.

Tests of whole models against a definition, a law or a peer run what has tests of its own, which coverage sees; kernels
are watched when they run as plain Python, where it can see into them.
"""

WATCHED = 0.2
"""Seconds of computing of a test that coverage watches: later examples and rows run the lines of the first ones.

To be watched takes three quarters of the time once more, and most of the time is that of some long tests.
"""


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Any:
    """Look for examples in the source and in documents alone: tests have none, and there are 400 files of them."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: Any) -> None:
    """Let coverage see the imports, and not how tests are collected, which takes as long again with it."""
    config, plugin = session.config, session.config.pluginmanager.getplugin("_cov")
    if plugin is None or plugin.cov_controller is None or getattr(config.option, "numprocesses", None):
        return  # a process that hands its tests to workers runs none
    for module in walk_packages(bayeswater.__path__, "bayeswater."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    # Who asks which tests run a line is told of all they run.
    seconds = 0 if config.option.cov_context else WATCHED
    config.pluginmanager.register(Watch(plugin.cov_controller, seconds))


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and never among what stays to the end: that took a seventh of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


class Watch:
    """Let coverage look at the beginning of each test of a folder that it watches."""

    def __init__(self, controller: Any, seconds: float) -> None:
        self.controller, self.seconds = controller, seconds
        self.stop()
        untraced = UNTRACED[:-1] if os.environ.get("BAYESWATER_COMPILE") == "0" else UNTRACED
        self.untraced = tuple(f"{TESTS / folder}{os.sep}" for folder in untraced)
        signal.signal(signal.SIGVTALRM, self.stop)

    def stop(self, *_: Any) -> None:
        """Watch no longer."""
        self.controller.started = False
        self.controller.cov.stop()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Any:
        """Begin to watch."""
        if not str(item.path).startswith(self.untraced) or item.path.name == "test_compiling.py":
            self.controller.cov.start()
            self.controller.started = True
            signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Any:
        """Leave what is torn down alone."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self.stop()
        return (yield)


@pytest.fixture(scope="module", params=["reference", "loop"])
def kernel(request: Any) -> Iterator[str]:
    """Name the road that all kernels take while a test module runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "COMPILE_FROM_CELLS", 0 if request.param == "loop" else 10**18)
        yield request.param
