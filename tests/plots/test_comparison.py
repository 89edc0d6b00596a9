"""`ComparisonDisplay`: a dot for every model, the best one on top."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from bayeswater.decision.scorecard import Scorecard
from bayeswater.models.comparing.comparison import Comparison, Contestant
from bayeswater.plots import ComparisonDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def contestant(name: str, p: float, **more: bool) -> Contestant:
    log_proba = np.log(np.array([[p, 1 - p], [1 - p, p], [p, 1 - p]]))
    codes = np.array([0, 1, 1])
    losses = -log_proba[np.arange(3), codes]
    return Contestant(name, None, card=Scorecard.of(log_proba, codes), losses=losses, **more)


def found() -> Comparison:
    failed = Contestant("broken", None, failure="it rains")
    certain = contestant("certain", 0.9)
    certain = replace(certain, card=replace(certain.card, surprise=np.inf))
    models = contestant("far", 0.95), contestant("near", 0.6), contestant("peer", 0.7, is_peer=True), certain, failed
    return Comparison(models, n_rows=3, n_classes=2, n_folds=2)


def test_each_model_has_a_line_the_best_on_top_and_a_dot_where_it_has_a_loss():
    display = ComparisonDisplay(found()).plot()
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert labels == [
        "peer  33.3 % wrong",
        "near  33.3 % wrong",
        "far  33.3 % wrong",
        "certain  33.3 % wrong, log-loss ∞",
        "broken  (failed)",
    ]
    bottom, top = display.ax_.get_ylim()
    assert bottom > top
    dots = [(float(bars[0].get_xdata()[0]), int(bars[0].get_ydata()[0])) for bars in display.ax_.containers]
    assert [place for _, place in dots] == [0, 1, 2]
    assert [loss for loss, _ in dots] == [one.log_loss for one in found().contestants[:3]]


def test_peers_have_another_colour_and_given_axes_are_drawn_on():
    _, ax = pyplot.subplots()
    display = ComparisonDisplay(found()).plot(ax)
    assert display.ax_ is ax
    colours = [bars[0].get_color() for bars in ax.containers]
    assert colours[0] != colours[1] == colours[2]
