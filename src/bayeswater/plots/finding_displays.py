"""Displays of findings that have a line for each of their parts, the strongest on top.

- `ComparisonDisplay`: models side by side, by their log-loss on held-out rows;
- `DriftDisplay`: how certain it is that each column changed;
- `TornadoDisplay`: how far each entry of a network's tables moves a posterior.
"""

from typing import Any, Self

import numpy as np

from bayeswater.explain.drift import Drift
from bayeswater.models.comparing.comparison import Comparison
from bayeswater.models.network.findings import Sensitivity
from bayeswater.plots.canvas import COLOURS, GREY, AxesDisplay, lined_axes, plain

WIDER = 44
"""Width of a label that is more than a name, in letters."""


OURS, PEER = COLOURS[0], GREY


class ComparisonDisplay(AxesDisplay):
    """Log-loss of each model, the best one on top, with the standard error of its distance to the best one.

    Beside the name stands the share of rows that a model got wrong. Models that failed, or have an infinite log-loss,
    are named without a dot. Those of other libraries are grey.

    Parameters
    ----------
    comparison : Comparison
        What `compare` found.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure it is drawn in

    See Also
    --------
    bayeswater.compare : Compare models on the same folds: error, log-loss, calibration error, seconds and sizes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater import compare
    >>> from bayeswater.plots import ComparisonDisplay
    >>> found = compare(
    ...     [["red"], ["green"]] * 10, ["cherry", "pea"] * 10, models=["naive-bayes"], folds=2, calibrate=False
    ... )
    >>> ComparisonDisplay(found).plot().ax_.get_xlabel()
    'log-loss, with the standard error of the distance to the best'
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        ComparisonDisplay
            The object itself, drawn.

        See Also
        --------
        bayeswater.compare : Compare models on the same folds: error, log-loss, calibration error, seconds and sizes.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import compare
        >>> from bayeswater.plots import ComparisonDisplay
        >>> found = compare(
        ...     [["red"], ["green"]] * 10, ["cherry", "pea"] * 10, models=["naive-bayes"], folds=2, calibrate=False
        ... )
        >>> len(ComparisonDisplay(found).plot().ax_.get_yticks())
        1
        """
        found = self.comparison
        ax = lined_axes(ax, [_label(one) for one in found.contestants], longest=WIDER)
        for place, one in enumerate(found.contestants):
            if np.isfinite(one.log_loss):
                error = np.nan_to_num(found.behind(one)[1])
                colour = PEER if one.is_peer else OURS
                ax.errorbar(one.log_loss, place, xerr=error, fmt="o", color=colour, markersize=6, linewidth=1.6)
        ax.axvline(found.best.log_loss, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
        ax.set_xlabel("log-loss, with the standard error of the distance to the best")
        for colour, who in ((OURS, "Bayeswater"), (PEER, "other libraries")):
            if any(one.is_peer == (colour == PEER) for one in found.contestants):
                ax.plot([], [], "o", color=colour, label=who)
        ax.legend(frameon=False, fontsize="small")
        ax.set_title(f"{found.n_rows:,} rows, {found.n_folds} folds", fontsize="medium", loc="left")
        return self._drawn(ax)


def _label(one: Any) -> str:
    if one.card is None:
        return f"{one.name}  (failed)"
    infinite = "" if np.isfinite(one.log_loss) else ", log-loss ∞"
    return f"{one.name}  {100 * one.error:.1f} % wrong{infinite}"


CHANGED, SAME = COLOURS[1], GREY

MARKS = (*(-(10**k) for k in range(6, 0, -1)), -5, -2, 0, 2, 5, *(step * 10**k for k in range(1, 7) for step in (1, 3)))
"""Factors that are marked on the axis."""

MOST_COLUMNS = 25
"""Columns that are drawn at most."""


class DriftDisplay(AxesDisplay):
    """Log Bayes factor of a change, for each column and for the class frequencies.

    A dot right of the dashed line is a change; the size of it stands beside the dot, in the class where it is most
    certain. What stayed the same is grey.

    Parameters
    ----------
    drift : Drift
        What `drift` found.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure it is drawn in

    See Also
    --------
    bayeswater.drift : Find which columns changed between two models, or a model and new rows, class by class.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater import GaussianNB
    >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
    >>> model = GaussianNB().fit(X, y)
    >>> from bayeswater import drift
    >>> from bayeswater.plots import DriftDisplay
    >>> DriftDisplay(drift(model, X, y)).plot().ax_.get_xlabel()
    'log Bayes factor of two laws against one'
    """

    def __init__(self, drift: Drift) -> None:
        self.drift = drift

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        DriftDisplay
            The object itself, drawn.

        See Also
        --------
        bayeswater.drift : Find which columns changed between two models, or a model and new rows, class by class.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import GaussianNB
        >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
        >>> model = GaussianNB().fit(X, y)
        >>> from bayeswater import drift
        >>> from bayeswater.plots import DriftDisplay
        >>> len(DriftDisplay(drift(model, X, y)).plot().ax_.get_yticks())
        2
        """
        found = self.drift
        lines = [("class frequencies", found.classes_log_bayes_factor, found.classes_have_changed, "")]
        lines += [
            (
                f"{column.name} (missing)" if column.what == "missing" else column.name,
                column.log_bayes_factor,
                column.has_changed,
                f"{column.by_class[0].label}: {column.words}" if column.by_class else "",
            )
            for column in found.columns
        ]
        lines = sorted(lines, key=lambda line: -line[1])[:MOST_COLUMNS]
        ax = lined_axes(ax, [line[0] for line in lines], 8.0, WIDER)
        for place, (_, factor, has_changed, words) in enumerate(lines):
            colour = CHANGED if has_changed else SAME
            ax.plot([0, factor], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
            ax.plot(factor, place, "o", color=colour, markersize=6)
            if has_changed and words:
                ax.annotate(
                    plain(words, 60),
                    (1, place),
                    (0, 5),
                    xycoords=("axes fraction", "data"),
                    textcoords="offset points",
                    fontsize="x-small",
                    ha="right",
                    va="bottom",
                )
        ax.axvline(found.threshold, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
        ax.set_xscale("symlog", linthresh=10.0)
        low, high = ax.get_xlim()
        ax.set_xticks([mark for mark in MARKS if low <= mark <= high], minor=False)
        ax.xaxis.set_major_formatter(lambda mark, _: f"{mark:,.0f}")
        ax.set_xlabel("log Bayes factor of two laws against one")
        before, after = found.n_rows
        ax.set_title(f"{before:,.6g} rows before, {after:,.6g} after", fontsize="medium", loc="left")
        return self._drawn(ax)


LOWER, HIGHER = COLOURS[0], COLOURS[1]


class TornadoDisplay(AxesDisplay):
    """A posterior where each entry is lowered and raised by a share of itself; the line is the posterior as it is.

    Parameters
    ----------
    sensitivity : Sensitivity
        What `BayesianNetwork.sensitivity` found.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure it is drawn in

    See Also
    --------
    bayeswater.BayesianNetwork.sensitivity : Say how P(target=state | evidence) depends on every entry.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater import BayesianNetwork
    >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
    >>> from bayeswater.plots import TornadoDisplay
    >>> TornadoDisplay(network.sensitivity("rain", "yes", {"wet": 1})).plot().ax_.get_xlabel()
    'P(rain=yes | wet=1)'
    """

    def __init__(self, sensitivity: Sensitivity) -> None:
        self.sensitivity = sensitivity

    def plot(self, ax: Any = None, *, most: int = 15) -> Self:
        """Draw the strongest entries on new axes, or on those given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.
        most : int, default 15
            Number of entries that are drawn at most.

        Returns
        -------
        TornadoDisplay
            The object itself, drawn.

        See Also
        --------
        bayeswater.BayesianNetwork.sensitivity : Say how P(target=state | evidence) depends on every entry.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> from bayeswater.plots import TornadoDisplay
        >>> len(TornadoDisplay(network.sensitivity("rain", "yes", {"wet": 1})).plot(most=3).ax_.get_yticks())
        3
        """
        found = self.sensitivity
        lines = range(min(most, len(found)))
        ax = lined_axes(ax, [found.name_of(line) for line in lines], 8.0, WIDER)
        for values, colour, sign in ((found.low, LOWER, "-"), (found.high, HIGHER, "+")):
            widths = [float(values[line]) - found.posterior for line in lines]
            label = f"{sign}{100 * found.spread:.4g} %"
            ax.barh(list(lines), widths, left=found.posterior, color=colour, height=0.7, label=label)
        ax.axvline(found.posterior, color=GREY, linewidth=0.8)
        ax.set_xlabel(plain(found.question, 60))
        ax.legend(loc="lower right", fontsize="small", frameon=False)
        return self._drawn(ax)
