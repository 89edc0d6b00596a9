"""`GaussianDisplay`: Gaussian classes on a plane: points, ellipses, and the boundary between the classes."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from bayeswater.data.labels import encode_labels
from bayeswater.errors import DataError, ParameterError
from bayeswater.models.gaussian_classifier import GaussianClassifier
from bayeswater.plots.canvas import GREY, AxesDisplay, colour_of, marker_of, new_axes, plain, tint_of
from bayeswater.plots.plane import ActionRule, Plane, boundary_lines, coordinates, names_of, plane_of, seen_classes
from bayeswater.records import record
from bayeswater.typing import Array

SIGMAS = (1.0, 2.0, 3.0)
"""Two columns of a normal class fall with probability 1 - exp(-s^2 / 2) inside s sigma: 39 %, 86 % and 99 %."""

BESIDE = 0.04
"""Margin around what is drawn, as a share of its extent."""

FEWEST_STEPS = 10
"""Steps of the grid below which a boundary would be no line any more."""


@record
class Regions:
    """Which action is taken where, on a grid, and the lines between the actions."""

    x: Array  # (n_x,)
    y: Array  # (n_y,)
    action: Array  # (n_y, n_x), places in `actions`
    actions: tuple[Any, ...]
    boundary: list[Array]  # lines (n, 2)


@record
class Points:
    """Rows as points of the plane, and the codes of their classes."""

    place: Array  # (n_rows, 2)
    code: Array  # (n_rows,)


class GaussianDisplay(AxesDisplay):
    """Classes of a `GaussianClassifier` in two dimensions.

    Lines of equal density of each class at 1, 2 and 3 sigma, the regions in which each class (or action) is decided,
    and the boundary between them; with a loss, also the boundary without it. Where the model has a prior, sigma is the
    scale of its Student-t.

    Parameters
    ----------
    classes : labels
        Labels of the classes.
    means, covariances : arrays of shape (n_classes, 2) and (n_classes, 2, 2)
        Each class on the plane; NaN for one that has no density.
    regions : Regions
        What is decided where, under the loss if there is one.
    without_loss : Regions, optional
        What would be decided without the loss.
    points : Points, optional
        Rows that are drawn on top.
    axis_names : pair of str
        Names of the two axes.
    held : sequence of str
        Values of the other columns, in words.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure it is drawn in
    surface_ : the tinted regions
    ellipses_ : list of lists of ellipses, for each class and each sigma
    scatter_ : list of the points of each class
    boundary_ : the lines between the regions
    boundary_without_loss_ : the lines there would be without the loss, or None

    See Also
    --------
    bayeswater.GaussianClassifier : Gaussian classes, with any form of covariance.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayeswater import GaussianClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = GaussianClassifier().fit(X, y)
    >>> display = GaussianDisplay.from_estimator(model, X, y, axes=("petal length (cm)", "petal width (cm)"))
    >>> display.ax_.get_xlabel()
    'petal length (cm)'
    """

    def __init__(
        self,
        *,
        classes: Sequence[Any],
        means: Array,
        covariances: Array,
        regions: Regions,
        without_loss: Regions | None = None,
        points: Points | None = None,
        axis_names: tuple[str, str] = ("x0", "x1"),
        held: Sequence[str] = (),
    ) -> None:
        self.classes = list(classes)
        self.means = means
        self.covariances = covariances
        self.regions = regions
        self.without_loss = without_loss
        self.points = points
        self.axis_names = axis_names
        self.held = tuple(held)

    @classmethod
    def from_estimator(
        cls,
        estimator: GaussianClassifier,
        X: Any = None,
        y: Any = None,
        *,
        axes: Any = None,
        given: Mapping[Any, float] | None = None,
        loss: Any = None,
        grid_steps: int = 250,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw a fitted model, and rows on top of it.

        Parameters
        ----------
        estimator : GaussianClassifier
            The fitted model.
        X, y : rows and labels, optional
            Rows and their classes, which are drawn as points.
        axes : two columns, by name or place, or "discriminant"
            By default the two columns there are or, of more, the first two discriminant axes. Ellipses and boundary
            are those on a plane through the mean of all rows; points are drawn where they fall on it, however far away
            from it they are.
        given : dict from column to value, optional
            What the other columns are held at instead of their mean. NaN leaves a column out: it is then not known.
        loss : Loss, or anything that `Loss` reads
            What wrong decisions cost; without it the most probable class is decided.
        grid_steps : int
            Steps of the grid in each direction.
        ax, **style : as in `plot`
            Where and how it is drawn.

        Returns
        -------
        GaussianDisplay
            The model, drawn.

        See Also
        --------
        plot : Draw on new axes, or on those given.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import GaussianClassifier
        >>> from bayeswater.plots import GaussianDisplay
        >>> X, y = [[0, 1], [1, 0], [2, 2], [5, 5], [6, 7], [7, 6]], [0, 0, 0, 1, 1, 1]
        >>> GaussianDisplay.from_estimator(GaussianClassifier().fit(X, y), X, y, grid_steps=20).ax_.get_xlabel()
        'x0'
        """
        if not isinstance(estimator, GaussianClassifier):
            raise ParameterError(f"estimator is a {type(estimator).__name__}; give a fitted GaussianClassifier")
        if not isinstance(grid_steps, int | np.integer) or grid_steps < FEWEST_STEPS:
            raise ParameterError(f"grid_steps is {grid_steps!r}; give a whole number, {FEWEST_STEPS} or more")
        plane = plane_of(estimator, axes, given)
        means, covariances = _on_plane(estimator, plane)
        points = None if X is None else _points(estimator, axes, X, y)
        x, y_grid = _grid(means, covariances, points, grid_steps)
        names = names_of(estimator) if "feature_names_in_" in estimator.__dict__ else None

        def log_proba(at: Array) -> Array:
            return estimator.predict_log_proba(plane.rows(at, names))

        rules = [
            ActionRule.of(loss, estimator.classes_),
            *([ActionRule.of(None, estimator.classes_)] if loss is not None else []),
        ]
        on_grid = log_proba(np.stack(np.meshgrid(x, y_grid), axis=-1).reshape(-1, 2))
        regions = [_regions(rule, x, y_grid, on_grid, log_proba) for rule in rules]
        return cls(
            classes=estimator.classes_.tolist(),
            means=means,
            covariances=covariances,
            regions=regions[0],
            without_loss=regions[1] if loss is not None else None,
            points=points,
            axis_names=plane.axis_names,
            held=plane.held,
        ).plot(ax, **style)

    def plot(self, ax: Any = None, *, sigmas: Sequence[float] = SIGMAS, legend: bool = True) -> Self:
        """Draw on new axes, or on those given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.
        sigmas : sequence of float
            Distances from the mean at which ellipses are drawn, in standard deviations.
        legend : bool, default True
            Whether to say which colour is which class.

        Returns
        -------
        GaussianDisplay
            The object itself, drawn.

        See Also
        --------
        from_estimator : Draw a fitted model, and rows on top of it.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import GaussianClassifier
        >>> from bayeswater.plots import GaussianDisplay
        >>> X, y = [[0, 1], [1, 0], [2, 2], [5, 5], [6, 7], [7, 6]], [0, 0, 0, 1, 1, 1]
        >>> drawn = GaussianDisplay.from_estimator(GaussianClassifier().fit(X, y), grid_steps=20)
        >>> len(drawn.plot(sigmas=(1,)).ellipses_[0])
        1
        """
        ax = new_axes(ax)
        ax.grid(False)
        self.surface_ = self._draw_surface(ax)
        self.scatter_ = self._draw_points(ax)
        self.ellipses_ = [self._draw_ellipses(ax, k, sigmas) for k in range(len(self.classes))]
        label = "boundary" if self.without_loss is None else "boundary with the loss"
        self.boundary_ = _draw_lines(ax, self.regions.boundary, color="black", linewidth=1.8, label=label)
        self.boundary_without_loss_ = None
        if self.without_loss is not None:
            self.boundary_without_loss_ = _draw_lines(
                ax,
                self.without_loss.boundary,
                color="#555555",
                linewidth=1.3,
                linestyle=(0, (4, 2)),
                label="boundary without it",
            )
        ax.set_xlim(self.regions.x[0], self.regions.x[-1])
        ax.set_ylim(self.regions.y[0], self.regions.y[-1])
        ax.set_xlabel(plain(self.axis_names[0], 60))
        ax.set_ylabel(plain(self.axis_names[1]))
        if self.held:
            ax.set_title("given " + ", ".join(map(plain, self.held)), fontsize="medium")
        if legend:
            self._draw_legend(ax)
        return self._drawn(ax)

    def _draw_surface(self, ax: Any) -> Any:
        from matplotlib.colors import ListedColormap

        r = self.regions
        tints = [tint_of(self._colour_of_action(action)) for action in r.actions]
        # An image, one cell for each point of the grid: no seams, and few bytes in a file.
        half_x, half_y = (r.x[1] - r.x[0]) / 2, (r.y[1] - r.y[0]) / 2
        extent = (r.x[0] - half_x, r.x[-1] + half_x, r.y[0] - half_y, r.y[-1] + half_y)
        return ax.imshow(
            r.action,
            cmap=ListedColormap(tints),
            vmin=-0.5,
            vmax=len(tints) - 0.5,
            origin="lower",
            extent=extent,
            aspect="auto",
            interpolation="nearest",
            zorder=0,
        )

    def _draw_legend(self, ax: Any) -> None:
        """Explain classes, then actions that are no classes, then lines."""
        from matplotlib.patches import Patch

        handles, _ = ax.get_legend_handles_labels()
        lines = [line for line in (self.boundary_, self.boundary_without_loss_) if line is not None]
        further = [action for action in self.regions.actions if action not in self.classes]
        patches = [Patch(color=tint_of(GREY), label=plain(action)) for action in further]
        handles = [handle for handle in handles if handle not in lines] + patches + lines
        ax.legend(handles=handles, fontsize="small", framealpha=0.9, edgecolor="none", borderpad=0.3)

    def _colour_of_action(self, action: Any) -> str:
        return colour_of(self.classes.index(action)) if action in self.classes else GREY

    def _draw_points(self, ax: Any) -> list[Any]:
        if self.points is None:
            return []
        drawn = []
        for k, label in enumerate(self.classes):
            x, y = self.points.place[self.points.code == k].T
            style = {"s": 20, "alpha": 0.7, "linewidths": 0.4, "edgecolors": "white"}
            drawn.append(
                ax.scatter(x, y, color=colour_of(k), marker=marker_of(k), label=plain(label), zorder=2, **style)
            )
        return drawn

    def _draw_ellipses(self, ax: Any, k: int, sigmas: Sequence[float]) -> list[Any]:
        from matplotlib.patches import Ellipse

        if not np.isfinite(self.means[k]).all():
            return []
        variance, directions = np.linalg.eigh(self.covariances[k])
        angle = float(np.degrees(np.arctan2(directions[1, 1], directions[0, 1])))
        width, height = 2 * np.sqrt(np.maximum(variance[::-1], 0))
        drawn = [
            Ellipse(tuple(self.means[k]), s * width, s * height, angle=angle, fill=False, zorder=3) for s in sigmas
        ]
        for ellipse in drawn:
            ellipse.set(edgecolor=colour_of(k), linewidth=1.5)
            ax.add_patch(ellipse)
        if self.points is None and drawn:
            drawn[0].set_label(str(self.classes[k]))
        return drawn


def _draw_lines(ax: Any, lines: list[Array], **style: Any) -> Any:
    from matplotlib.collections import LineCollection

    return ax.add_collection(LineCollection(lines, zorder=2.5, **style), autolim=False)


def _on_plane(model: GaussianClassifier, plane: Plane) -> tuple[Array, Array]:
    """Mean (n_classes, 2) and covariance (n_classes, 2, 2) of each class on the plane; NaN where it has no density."""
    n_classes = len(model.classes_)
    means, covariances = np.full((n_classes, 2), np.nan), np.full((n_classes, 2, 2), np.nan)
    all_means, all_covariances = model.means_, model.covariances_
    for k in seen_classes(model):
        means[k], covariances[k] = plane.cut(all_means[k], all_covariances[k])
    return means, covariances


def _points(model: GaussianClassifier, axes: Any, X: Any, y: Any) -> Points:
    if y is None:
        raise DataError("X is given and y is not; give the classes of the rows, or no rows")
    place, code = coordinates(model, axes, X), encode_labels(y, model.statistics_.classes).codes
    if len(place) != len(code):
        raise DataError(f"X has {len(place)} rows and y {len(code)} labels; give one label for each row")
    return Points(place, np.asarray(code))


def _grid(means: Array, covariances: Array, points: Points | None, steps: int) -> tuple[Array, Array]:
    """Cover the points and the largest ellipses, with a margin."""
    reach = SIGMAS[-1] * np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    corners = np.concatenate([means - reach, means + reach, *([] if points is None else [points.place])])
    low, high = np.nanmin(corners, axis=0), np.nanmax(corners, axis=0)
    margin = BESIDE * np.where(high > low, high - low, 1.0)
    x, y = np.linspace(low - margin, high + margin, steps, axis=1)
    return x, y


def _regions(rule: ActionRule, x: Array, y: Array, on_grid: Array, log_proba: Any) -> Regions:
    scores = rule.scores(on_grid).reshape(len(y), len(x), -1)
    lines = boundary_lines(x, y, scores, lambda at: rule.scores(log_proba(at)))
    return Regions(x, y, scores.argmax(axis=2), rule.actions, lines)
