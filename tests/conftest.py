"""Both roads of every kernel: the NumPy reference, which small tables take, and the loop, forced upon them.

What takes time and promises nothing is left out: loops that no test asks for, coverage where it has seen all,
looking for garbage among all tests that there are, and threads of BLAS, which on small matrices do little but wait.
"""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Workers and the processes that they start have one thread each for matrices; read when NumPy is imported. Two workers
# on two cores would have four that wait for one another at full speed: five times the time of a fit of small matrices.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from bayeswater.kernels import compiling  # noqa: E402

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell sets that for what it runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A process that has answered for many small tables loads loops for every further kind of them (`Kernel.serves`): in one
# of many thousand tests that is minutes of compiling. `tests/kernels/test_compiling.py` counts from zero.
compiling.Kernel.cells_answered = -(10**18)

# The same examples on every run find no more in a hundred than in fifty; what is new is sought with the profile
# "default", which draws others, and by the fuzzers.
settings.register_profile("ci", settings.get_profile("ci"), max_examples=50)

TESTS = Path(__file__).parent
UNTRACED = ("fuzz", "laws", "oracles", "peers", "kernels")
"""Folders that coverage does not watch: it would take a third of their time once more.

Tests of whole models against a definition, a law or a peer run what has tests of its own, which coverage sees; kernels
are watched when they run as plain Python, where it can see into them.
"""


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Switch coverage off where it would tell nothing."""
    if not config.pluginmanager.hasplugin("pytest_cov"):
        return
    untraced = UNTRACED[:-1] if os.environ.get("BAYESWATER_COMPILE") == "0" else UNTRACED
    folders = tuple(f"{TESTS / folder}{os.sep}" for folder in untraced)
    for item in items:
        path = str(item.path)
        if path.startswith(folders) and not path.endswith("test_compiling.py"):
            item.add_marker("no_cover")


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and never among what stays to the end: that took a seventh of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="module", params=["reference", "loop"])
def kernel(request: Any) -> Iterator[str]:
    """Name the road that all kernels take while a test module runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "COMPILE_FROM_CELLS", 0 if request.param == "loop" else 10**18)
        yield request.param
