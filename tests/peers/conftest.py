"""What the comparisons share."""

import pytest

from bayeswater.kernels import compiling


@pytest.fixture(params=["reference", "loops"])
def road(request, monkeypatch):
    """Send every table, however small, to the NumPy references or to the compiled loops."""
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", {"reference": 2**62, "loops": 0}[request.param])
    return request.param
