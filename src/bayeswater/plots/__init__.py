"""Plots in scikit-learn's Display protocol: ``from_estimator``, ``from_predictions``, ``plot(ax=None)``.

They need matplotlib (``pip install 'bayeswater[plot]'``). Names are imported on first use.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "ComparisonDisplay": "comparison",
    "CostCurveDisplay": "cost_displays",
    "ErrorRejectDisplay": "cost_displays",
    "GaussianDisplay": "gaussian_display",
    "PriorDisplay": "cost_displays",
    "ReliabilityDisplay": "reliability",
    "ThresholdDisplay": "cost_displays",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bayeswater.plots' has no attribute {name!r}")
    value = getattr(import_module(f"bayeswater.plots.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
