"""GaussianDisplay draws what the model says: densities, decisions, and where they change."""

import sys

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from bayeswater import (
    DataError,
    GaussianClassifier,
    GaussianNB,
    Loss,
    NormalInverseWishart,
    ParameterError,
    SchemaError,
)
from bayeswater.plots.canvas import colour_of, marker_of
from bayeswater.plots.gaussian_display import GaussianDisplay
from bayeswater.plots.plane import ActionRule, plane_of

FRAME, KIND = load_iris(return_X_y=True, as_frame=True)
X, y = FRAME.to_numpy(), np.array(["setosa", "versicolor", "virginica"])[KIND]
PETALS = ("petal length (cm)", "petal width (cm)")
SEPALS = tuple(name for name in FRAME if name not in PETALS)
STEPS = 60
"""Grid of most tests: coarse is fast, and what is drawn must be right on any."""


@pytest.fixture(autouse=True)
def without_a_screen():
    matplotlib.use("agg")
    yield
    pyplot.close("all")


def two_classes(n=300):
    rng = np.random.default_rng(7)
    first = rng.multivariate_normal([0, 0], [[2, 1.2], [1.2, 1]], n)
    second = rng.multivariate_normal([2, -1], [[1, -0.3], [-0.3, 0.5]], n)
    return np.vstack([first, second]), np.repeat(["left", "right"], n)


def draw(model, *rows, **options):
    return GaussianDisplay.from_estimator(model, *rows, **{"grid_steps": STEPS} | options)


def inside(ellipse, points):
    """Which points lie inside: an ellipse is the image of the unit circle."""
    return np.hypot(*ellipse.get_patch_transform().inverted().transform(points).T) < 1


def largest_gap(display, model):
    """What a straight line between two points of the grid may miss of a log-odds that is a square in x.

    A function with second derivatives below c departs from its chord over a length h by c h^2 / 8 at most; marching
    squares interpolate along the edges of a cell.
    """
    form = model.to_quadratic()
    regions = display.regions
    step = max(regions.x[1] - regions.x[0], regions.y[1] - regions.y[0])
    bend = max(np.abs(np.linalg.eigvalsh(2 * (a - b))).max() for a in form.quadratic for b in form.quadratic)
    return bend * step**2 / 8 + 1e-9  # and rounding


# ---------------------------------------------------------------------- the protocol


def test_a_figure_is_made_without_a_screen_and_says_what_its_axes_are():
    rows, labels = two_classes()
    display = draw(GaussianClassifier().fit(pd.DataFrame(rows, columns=["width", "height"]), labels))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("width", "height")
    assert display.figure_ is display.ax_.figure
    display.figure_.canvas.draw()
    assert display.scatter_ == []
    assert display.boundary_without_loss_ is None
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["left", "right", "boundary"]


def test_it_is_drawn_on_the_axes_that_are_given_and_can_be_drawn_again():
    rows, labels = two_classes()
    figure, (first, second) = pyplot.subplots(1, 2)
    display = draw(GaussianClassifier().fit(rows, labels), rows, labels, ax=first, legend=False)
    assert display.ax_ is first
    assert first.get_legend() is None
    again = display.plot(second, sigmas=(2,))
    assert again is display
    assert display.ax_ is second
    assert display.figure_ is figure
    assert [len(ellipses) for ellipses in display.ellipses_] == [1, 1]


def test_points_are_the_rows_with_a_colour_and_a_marker_for_each_class():
    rows, labels = two_classes(20)
    display = draw(GaussianClassifier().fit(rows, labels), rows, labels)
    for scatter, label in zip(display.scatter_, ["left", "right"], strict=True):
        assert_array_equal(scatter.get_offsets(), rows[labels == label])
        assert scatter.get_label() == label
    (x_low, x_high), (y_low, y_high) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert ((rows > [x_low, y_low]) & (rows < [x_high, y_high])).all()


def test_no_two_of_the_first_49_classes_look_alike():
    assert len({(colour_of(k), marker_of(k)) for k in range(49)}) == 49


@pytest.mark.parametrize("library", [pd.DataFrame, lambda frame: pl.from_pandas(frame)])
def test_named_columns_are_found_in_any_order(library):
    model = GaussianClassifier().fit(FRAME, y)
    turned = library(FRAME[FRAME.columns[::-1]])
    display = draw(model, turned, y, axes=PETALS)
    assert_array_equal(display.points.place, FRAME[list(PETALS)])
    assert_array_equal(draw(model, turned, y).points.place, model.transform(FRAME)[:, :2])


# ---------------------------------------------------------------------- ellipses


def test_ellipses_hold_the_share_of_a_drawn_class_that_a_normal_density_puts_there():
    rows, labels = two_classes()
    model = GaussianClassifier().fit(rows, labels)
    display = draw(model)
    drawn, classes = model.sample(40_000, random_state=1)
    for k, label in enumerate(model.classes_):
        points = drawn[classes == label]
        for ellipse, sigma in zip(display.ellipses_[k], (1, 2, 3), strict=True):
            share = 1 - np.exp(-(sigma**2) / 2)
            error = np.sqrt(share * (1 - share) / len(points))
            assert abs(inside(ellipse, points).mean() - share) < 5 * error


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "shared_diagonal", "spherical"])
def test_points_on_an_ellipse_are_sigma_standard_deviations_away_from_the_mean(covariance):
    rows, labels = two_classes()
    model = GaussianClassifier(covariance=covariance).fit(rows, labels)
    display = draw(model)
    circle = np.linspace(0, 2 * np.pi, 17)
    for k, ellipses in enumerate(display.ellipses_):
        for ellipse, sigma in zip(ellipses, (1, 2, 3), strict=True):
            away = ellipse.get_patch_transform().transform(np.c_[np.cos(circle), np.sin(circle)]) - model.means_[k]
            squared = np.einsum("ij,ij->i", away @ np.linalg.inv(model.covariances_[k]), away)
            assert_allclose(squared, sigma**2, rtol=1e-9)  # an inverse and an eigen-decomposition of order one


def test_other_columns_are_conditioned_on_by_the_textbook():
    model = GaussianClassifier().fit(FRAME, y)
    given = dict(zip(SEPALS, (6.5, 2.8), strict=True))
    display = draw(model, axes=PETALS, given=given)
    shown, held = [2, 3], [0, 1]
    for k in range(3):
        mean, covariance = model.means_[k], model.covariances_[k]
        regression = covariance[np.ix_(shown, held)] @ np.linalg.inv(covariance[np.ix_(held, held)])
        expected = mean[shown] + regression @ (np.array([6.5, 2.8]) - mean[held])
        remaining = covariance[np.ix_(shown, shown)] - regression @ covariance[np.ix_(held, shown)]
        assert_allclose(display.means[k], expected, rtol=1e-10)  # condition numbers below 1e3
        assert_allclose(display.covariances[k], remaining, rtol=1e-10)
    assert display.ax_.get_title() == "given sepal length (cm) = 6.5, sepal width (cm) = 2.8"


def test_other_columns_are_held_at_the_mean_of_all_rows():
    model = GaussianClassifier().fit(FRAME, y)
    at_mean = draw(model, axes=PETALS)
    stated = draw(model, axes=(2, 3), given=FRAME[list(SEPALS)].mean().to_dict())
    assert_allclose(at_mean.means, stated.means, rtol=1e-10)
    assert_array_equal(at_mean.regions.action, stated.regions.action)
    assert at_mean.ax_.get_title() == "given 2 columns at their mean"


def test_columns_that_are_left_out_leave_the_model_of_the_other_two():
    left_out = draw(GaussianClassifier().fit(FRAME, y), FRAME, y, axes=PETALS, given=dict.fromkeys(SEPALS, np.nan))
    petals = FRAME[list(PETALS)]
    alone = draw(GaussianClassifier().fit(petals, y), petals, y)
    assert_allclose(left_out.means, alone.means, rtol=1e-12)
    assert_allclose(left_out.covariances, alone.covariances, rtol=1e-10)
    assert_array_equal(left_out.regions.action, alone.regions.action)
    assert left_out.ax_.get_title() == ""


def test_classes_that_share_a_covariance_are_unit_circles_along_the_discriminant_axes():
    model = GaussianClassifier(covariance="shared").fit(FRAME, y)
    display = draw(model, FRAME, y)
    assert_allclose(display.covariances, np.broadcast_to(np.eye(2), (3, 2, 2)), atol=1e-9)
    of_rows = np.stack([model.transform(FRAME)[y == label, :2].mean(axis=0) for label in model.classes_])
    assert_allclose(display.means, of_rows, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "spherical"])
def test_a_point_of_the_discriminant_plane_is_a_row_that_is_transformed_to_it(covariance):
    model = GaussianClassifier(covariance=covariance).fit(X, y)
    points = np.array([[0.0, 0.0], [3.0, -1.0], [-5.0, 2.0]])
    rows = plane_of(model, "discriminant", None).rows(points, None)
    assert_allclose(model.transform(rows)[:, :2], points, atol=1e-9)


def test_the_discriminant_plane_of_unequal_classes_is_the_same_for_full_and_for_shared_covariance():
    model = GaussianClassifier().fit(X[30:], y[30:])  # 20, 50 and 50 rows
    full, shared = (plane_of(model.with_covariance(form), "discriminant", None) for form in ("full", "shared"))
    assert_allclose(
        full.basis, shared.basis, rtol=1e-9, atol=1e-9
    )  # covariances within classes, weighted by their rows


def test_units_of_the_columns_change_nothing_but_the_scale_of_the_picture():
    scale = np.array([1e-6, 1e6, 1e3, 1e-3])
    plain = plane_of(model := GaussianClassifier().fit(X, y), (0, 1), None)
    scaled = plane_of(in_units := GaussianClassifier().fit(X * scale, y), (0, 1), None)
    for k in range(3):
        mean, covariance = plain.cut(model.means_[k], model.covariances_[k])
        found, found_covariance = scaled.cut(in_units.means_[k], in_units.covariances_[k])
        assert_allclose(found, mean * scale[:2], rtol=1e-9)
        assert_allclose(found_covariance, covariance * np.outer(scale[:2], scale[:2]), rtol=1e-9)


def test_a_class_without_rows_has_no_ellipse_and_no_region():
    rows, labels = two_classes()
    model = GaussianClassifier().partial_fit(rows, labels, classes=["left", "middle", "right"])
    display = draw(model, rows, labels)
    assert [len(ellipses) for ellipses in display.ellipses_] == [3, 0, 3]
    assert 1 not in display.regions.action


# ---------------------------------------------------------------------- boundaries


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "shared_diagonal", "spherical"])
def test_the_two_best_posteriors_are_equal_all_along_the_boundary(covariance):
    rows, labels = two_classes()
    model = GaussianClassifier(covariance=covariance).fit(rows, labels)
    display = draw(model, rows, labels)
    points = np.vstack(display.regions.boundary)
    log_odds = np.diff(model.predict_log_proba(points), axis=1)
    assert np.abs(log_odds).max() < largest_gap(display, model)
    assert_array_equal(np.vstack(display.boundary_.get_segments()), points)


def test_with_a_loss_the_risks_are_equal_along_the_boundary_and_the_posteriors_along_the_other():
    rows, labels = two_classes()
    model = GaussianClassifier().fit(rows, labels)
    loss = Loss({"left": {"right": 20}, "right": {"left": 1}})
    display = draw(model, rows, labels, loss=loss)
    gap = largest_gap(display, model)
    points = np.vstack(display.boundary_.get_segments())
    risk = loss.for_classes(["left", "right"]).conditional_risk(log_proba=model.predict_log_proba(points))
    assert np.abs(np.log(risk[:, 0] / risk[:, 1])).max() < gap
    without = np.vstack(display.boundary_without_loss_.get_segments())
    assert np.abs(np.diff(model.predict_log_proba(without), axis=1)).max() < gap
    assert gap < np.log(20) / 10  # so that the two boundaries cannot be taken for each other


def test_a_boundary_between_three_classes_is_drawn_once():
    model = GaussianClassifier(covariance="shared").fit(FRAME[list(PETALS)], y)
    lines = draw(model, FRAME[list(PETALS)], y).regions.boundary
    pairs = []
    for line in lines:
        scores = model.predict_log_proba(pd.DataFrame(line, columns=PETALS))
        best = {tuple(sorted(row)) for row in np.argsort(scores, axis=1)[:, -2:].tolist()}
        assert len(best) == 1  # a line is between two classes all along
        pairs += best
    assert sorted(pairs) == sorted(set(pairs))
    assert {(0, 1), (1, 2)} <= set(pairs)


@pytest.mark.parametrize("prior", [None, NormalInverseWishart()])
def test_regions_are_what_the_model_decides(prior):
    rows, labels = two_classes(30)
    model = GaussianClassifier(prior=prior).fit(rows, labels)
    loss = Loss.zero_one(["left", "right"]).with_reject(0.2)
    display = draw(model, rows, labels, loss=loss)
    regions = display.regions
    points = np.stack(np.meshgrid(regions.x, regions.y), axis=-1).reshape(-1, 2)
    decided = np.array(regions.actions)[regions.action.ravel()]
    assert_array_equal(decided, model.decide(points, loss=loss))
    assert set(decided) == {"left", "right", "reject"}
    assert_array_equal(display.surface_.get_array(), regions.action)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["left", "right", "reject", "boundary with the loss", "boundary without it"]
    plain = display.without_loss
    assert_array_equal(np.array(plain.actions)[plain.action.ravel()], model.predict(points))


def test_scores_of_a_loss_order_actions_as_their_risks_do_far_beyond_the_reach_of_probabilities():
    loss = Loss([[0, 5, 1], [2, 0, 3], [4, 1, 0]], classes=["a", "b", "c"], actions=["a", "b", "c"])
    rule = ActionRule.of(loss, np.array(["a", "b", "c"]))
    log_proba = np.array([[0.0, -2000.0, -2001.0], [-3000.0, 0.0, -2999.0]])
    # By hand: risk(a) = 5 e^-2000 + e^-2001 in the first row, risk(b) = 2 e^-3000 + 3 e^-2999 in the second.
    assert_allclose(rule.scores(log_proba)[:, [1, 2]], [[-np.log(2), -np.log(4)], [2999 - np.log(3 + 2 / np.e), 0]])
    assert_allclose(rule.scores(log_proba)[0, 0], 2000 - np.log(5 + 1 / np.e), rtol=1e-15)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": (0, 0)}, "twice"),
        ({"axes": (0, 1, 2)}, "holds 3 columns"),
        ({"axes": (0, 9)}, "no column 9"),
        ({"axes": ("sepal", 1)}, "no column 'sepal'"),
        ({"axes": "principal"}, "axes is 'principal'"),
        ({"axes": (0, 1), "given": {1: 2.0}}, "is an axis"),
        ({"given": {1: 2.0}}, "give two columns"),
        ({"grid_steps": 3}, "grid_steps is 3"),
        ({"loss": Loss({"setosa": {"versicolor": "price", "virginica": 1}, "versicolor": {"setosa": 1, "virginica": 1},
                        "virginica": {"setosa": 1, "versicolor": 1}})}, "depend on the row"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        draw(GaussianClassifier().fit(X, y), **options)


def test_two_classes_of_many_columns_have_no_discriminant_plane():
    with pytest.raises(ParameterError, match="1 discriminant axis"):
        draw(GaussianClassifier().fit(X[:100], y[:100]))


def test_other_models_and_rows_that_do_not_fit_are_refused():
    model = GaussianClassifier().fit(X, y)
    with pytest.raises(ParameterError, match="estimator is a GaussianNB"):
        draw(GaussianNB().fit(X, y))
    with pytest.raises(DataError, match="y is not"):
        draw(model, X)
    with pytest.raises(DataError, match="150 rows and y 149 labels"):
        draw(model, X, y[:-1])
    with pytest.raises(SchemaError, match="give the same columns"):
        draw(model, X[:, :3], y, axes=(0, 1))


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    rows, labels = two_classes(20)
    model = GaussianClassifier().fit(rows, labels)
    for name in ("matplotlib", "contourpy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"bayeswater\[plot\]"):
        draw(model)
