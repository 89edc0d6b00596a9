"""Both roads of every kernel: the NumPy reference, which small tables take, and the loop, forced upon them."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from bayeswater.kernels import compiling

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell sets that for what it runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module", params=["reference", "loop"])
def kernel(request: Any) -> Iterator[str]:
    """Name the road that all kernels take while a test module runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "COMPILE_FROM_CELLS", 0 if request.param == "loop" else 10**18)
        yield request.param
