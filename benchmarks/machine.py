"""What the numbers were measured on."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

LIBRARIES = ("bayeswater", "scikit-learn", "numpy", "scipy", "numba")


def machine() -> dict[str, Any]:
    """Cores, processor, Python and library versions."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts = {
        "cores": cores,
        "processor": _processor(),
        "load before": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,  # of other processes
        "system": platform.system(),
        "Python": platform.python_version(),
    }
    return facts | {name: _version(name) for name in LIBRARIES}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _version(name: str) -> str:
    if name == "bayeswater":
        import bayeswater

        return bayeswater.__version__
    return version(name)
