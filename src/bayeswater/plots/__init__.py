"""Plots in scikit-learn's Display protocol: ``from_estimator``, ``from_predictions``, ``plot(ax=None)``.

They need matplotlib (``pip install 'bayeswater[plot]'``). Names are imported on first use.
"""

from bayeswater.lazy_names import lazy_names

_HOME = {
    "ColumnDisplay": "column_displays",
    "ComparisonDisplay": "finding_displays",
    "CostCurveDisplay": "cost_displays",
    "DriftDisplay": "finding_displays",
    "ErrorRejectDisplay": "cost_displays",
    "GaussianDisplay": "gaussian_display",
    "ImportanceDisplay": "model_displays",
    "NomogramDisplay": "model_displays",
    "PriorDisplay": "cost_displays",
    "ReliabilityDisplay": "reliability",
    "ThresholdDisplay": "cost_displays",
    "TornadoDisplay": "finding_displays",
    "WaterfallDisplay": "model_displays",
    "WordsDisplay": "column_displays",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
