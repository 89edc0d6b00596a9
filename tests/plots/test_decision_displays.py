"""Displays of decisions: scikit-learn's protocol, the data that is drawn, several classifiers on the same axes."""

import json
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits

from bayeswater import GaussianNB, Loss
from bayeswater.decision import cost_curve, error_reject_curve, prior_curve, reliability_table, threshold_curve
from bayeswater.plots import (
    CostCurveDisplay,
    ErrorRejectDisplay,
    PriorDisplay,
    ReliabilityDisplay,
    ThresholdDisplay,
)

mpl.use("Agg")
LOSS = Loss({"benign": {"malignant": 10}, "malignant": {"benign": 1}})
DISPLAYS = {
    CostCurveDisplay: ((), cost_curve, "probability_cost", "normalised_cost"),
    ThresholdDisplay: ((LOSS,), threshold_curve, "threshold", "realised"),
    PriorDisplay: ((LOSS,), prior_curve, "frequency", "adapted"),
    ErrorRejectDisplay: ((LOSS,), error_reject_curve, "rejected", "error"),
}
every_display = pytest.mark.parametrize("display", [*DISPLAYS, ReliabilityDisplay], ids=lambda d: d.__name__)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    y = np.where(y == 0, "malignant", "benign")
    return GaussianNB().fit(X[:300], y[:300]), X[300:], y[300:]


@every_display
def test_a_display_comes_from_a_classifier_or_from_predictions(display, tumours):
    model, X, y = tumours
    options = DISPLAYS[display][0] if display in DISPLAYS else ()
    from_model = display.from_estimator(model, X, y, *options)
    from_proba = display.from_predictions(y, model.predict_proba(X), *options, labels=model.classes_, name="mine")
    assert_array_equal(from_model.line_.get_xydata(), from_proba.line_.get_xydata())
    assert from_model.name == "GaussianNB"
    assert "mine" in from_proba.line_.get_label()
    assert from_model.figure_ is from_model.ax_.figure
    assert from_model.ax_.get_xlabel()
    assert from_model.ax_.get_ylabel()
    assert from_model.ax_.get_legend() is not None


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda d: d.__name__)
def test_the_main_line_is_the_data_of_the_curve(display, tumours):
    model, X, y = tumours
    options, curve, x_name, y_name = DISPLAYS[display]
    found = curve(y, model.predict_proba(X), *options)
    drawn = display.from_estimator(model, X, y, *options)
    assert_array_equal(drawn.line_.get_xdata(), getattr(found, x_name))
    assert_array_equal(drawn.line_.get_ydata(), getattr(found, y_name))


@every_display
def test_it_is_drawn_on_given_axes_in_another_colour_and_may_be_drawn_again(display, tumours):
    model, X, y = tumours
    options = DISPLAYS[display][0] if display in DISPLAYS else ()
    _, ax = pyplot.subplots()
    first = display.from_estimator(model, X, y, *options, ax=ax)
    second = display.from_estimator(model, X, y, *options, ax=ax, name="again")
    assert first.ax_ is second.ax_ is ax
    assert first.line_.get_color() != second.line_.get_color()
    references = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert len(references) <= 1  # what both are compared with is drawn once
    again = second.plot(color="red", linestyle="--")
    assert again is second
    assert again.ax_ is not ax
    assert (again.line_.get_color(), again.line_.get_linestyle()) == ("red", "--")


def test_of_many_classes_the_worst_calibrated_are_coloured_and_the_others_grey():
    X, y = load_digits(return_X_y=True)
    model = GaussianNB(var_smoothing=0.01).fit(X[:900], y[:900])
    display = ReliabilityDisplay.from_estimator(model, X[900:], y[900:])
    assert len(display.lines_) == 10
    colours = [line.get_color() for line in display.lines_]
    assert len(set(colours[:3])) == 3
    assert len(set(colours[3:])) == 1
    table = reliability_table(y[900:], model.predict_proba(X[900:]), n_bins=10, strategy="weight").to_pandas()
    error = table.groupby("class").apply(lambda bins: (bins.weight * bins.gap.abs()).sum() / bins.weight.sum())
    worst = str(error.idxmax())
    assert display.line_.get_label().startswith(f"{worst}, off by {error.max():.3f}")
    assert any("7 other classes" in text.get_text() for text in display.ax_.get_legend().get_texts())
    top = ReliabilityDisplay.from_estimator(model, X[900:], y[900:], top_label=True)
    assert len(top.lines_) == 1


def test_of_two_classes_the_second_is_drawn(tumours):
    model, X, y = tumours
    display = ReliabilityDisplay.from_estimator(model, X, y)
    table = reliability_table(y, model.predict_proba(X), n_bins=10, strategy="weight").to_pandas()
    assert_array_equal(display.line_.get_xdata(), table[table["class"] == "malignant"]["probability"])


def test_without_matplotlib_a_plot_says_how_to_get_it_and_all_else_works():
    code = """
import json, sys
sys.modules["matplotlib"] = None
import bayeswater, bayeswater.plots
from bayeswater.plots import ErrorRejectDisplay
from bayeswater.decision import error_reject_curve
curve = error_reject_curve([0, 1], [[0.6, 0.4], [0.3, 0.7]])
try:
    ErrorRejectDisplay(curve).plot()
except ImportError as error:
    print(json.dumps(str(error)))
"""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    assert json.loads(child.stdout) == "plots need matplotlib; install it with: pip install 'bayeswater[plot]'"
