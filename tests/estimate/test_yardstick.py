"""What the extent of a class is measured by, against its definition on the rows themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.estimate.yardstick import directions, yardstick
from bayeswater.statistics.scatter import Scatter

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [5, 9, 14])
FREE = RNG.normal(size=(28, 3)) * [1.0, 20.0, 0.1] + np.searchsorted(list("abc"), Y)[:, None]
BOUND = np.column_stack([FREE[:, :2], FREE[:, 0] + 2 * FREE[:, 1]])


def measured(rows, y=Y, *, only_columns=False, has_units=True, skip_missing=False):
    sums = Scatter.of(DenseMatrix(rows), encode_labels(y), None, skip_missing=skip_missing)
    return yardstick(sums, only_columns=only_columns, has_units=has_units)


def parts_of(rows, y=Y):
    """Covariance within each class, and that of the means."""
    classes = [rows[y == k] for k in np.unique(y)]
    means = np.repeat([own.mean(axis=0) for own in classes], [len(own) for own in classes], axis=0)
    return [np.cov(own.T, bias=True) for own in classes] + [np.cov(means.T, bias=True)]


def test_units_are_deviations_within_classes_or_else_over_all_rows():
    apart, still = np.searchsorted(list("abc"), Y) * 3.0, np.full(28, 7.0)
    found = measured(np.column_stack([FREE[:, 0], apart, still]))
    within = np.mean(np.concatenate([FREE[k == Y, 0] - FREE[k == Y, 0].mean() for k in "abc"]) ** 2)
    assert_allclose(found.scale, [np.sqrt(within), apart.std(), 1.0], rtol=1e-12)
    assert_allclose(measured(FREE, has_units=False).scale, 1.0)
    assert_allclose(measured(FREE).center, FREE.mean(axis=0), rtol=1e-12)


def test_the_unit_of_a_column_is_that_of_the_cells_that_are_there():
    holes = FREE.copy()
    holes[[1, 8, 20], 0] = np.nan
    known = ~np.isnan(holes[:, 0])
    alone = measured(holes[known, :1], Y[known])
    found = measured(holes, skip_missing=True)
    assert_allclose(found.scale[0], alone.scale[0], rtol=1e-12)
    assert_allclose(found.total[0, 0], alone.total[0, 0], rtol=1e-9)


@pytest.mark.parametrize("has_units", [True, False])
def test_the_reference_is_the_sum_of_all_parts_at_one_size_times_the_size_that_is_typical(has_units):
    found = measured(FREE, has_units=has_units)
    scaled = FREE / found.scale
    parts = parts_of(scaled)
    sizes = np.array([np.trace(part) for part in parts])
    ground = sum(part / size for part, size in zip(parts, sizes, strict=True))
    assert_allclose(found.total, np.cov(scaled.T, bias=True), rtol=1e-10, atol=1e-12)
    assert_allclose(found.ground, ground, rtol=1e-10, atol=1e-12)
    assert_allclose(found.reference, ground / (1 / sizes).sum(), rtol=1e-10, atol=1e-12)
    assert found.directions.is_plain and found.log_volume == pytest.approx(np.log(found.scale).sum(), abs=1e-12)


def test_a_part_that_is_but_rounding_of_the_others_is_left_out():
    rows = np.concatenate([FREE - [FREE[k == Y].mean(axis=0) for k in Y], np.zeros((4, 3))])  # no mean is anywhere else
    found = measured(rows, np.concatenate([Y, ["d"] * 4]))
    parts = parts_of(rows[:28] / found.scale)[:3]
    assert_allclose(found.ground, sum(part / np.trace(part) for part in parts), rtol=1e-9, atol=1e-12)


def test_columns_are_compared_one_by_one_where_they_are_the_directions():
    found = measured(BOUND, only_columns=True)
    assert found.directions.is_plain and found.directions.basis.shape == (3, 3)
    assert_allclose(found.reference, np.diag(np.diagonal(found.reference)))
    sizes = np.array([np.trace(part) for part in parts_of(BOUND / found.scale)])
    assert_allclose(np.diagonal(found.reference), np.diagonal(found.ground) / (1 / sizes).sum(), rtol=1e-10)


def test_a_column_that_never_varies_is_no_direction():
    found = measured(np.insert(FREE, 1, 7.0, axis=1))
    assert found.directions.columns.tolist() == [0, 2, 3]
    assert_allclose(found.reference, measured(FREE).reference, rtol=1e-10, atol=1e-14)
    assert found.log_volume == pytest.approx(measured(FREE).log_volume, abs=1e-12)
    none = measured(np.full((28, 2), 7.0))
    assert none.reference.shape == (0, 0) and none.log_volume == 0.0


def test_bound_columns_have_as_many_directions_as_differ_and_lead_back_to_themselves():
    found = measured(BOUND)
    ways = found.directions
    assert not ways.is_plain and ways.basis.shape == ways.step.shape == (3, 2)
    assert_allclose(ways.basis.T @ ways.step, np.eye(2), atol=1e-10)
    rows = (BOUND - found.center) / found.scale
    assert_allclose(rows @ ways.basis @ ways.step.T, rows, atol=1e-9)
    assert_allclose(ways.outward(ways.inward(found.total)), found.total, atol=1e-9)
    assert ways.log_volume == pytest.approx(0.5 * np.log(np.linalg.det(ways.step.T @ ways.step)), abs=1e-9)
    assert found.log_volume == ways.log_volume  # densities of bound columns have no unit
    assert abs(ways.least_share) < 1e-11
    unit = np.sqrt(np.diagonal(found.ground))
    assert_allclose((found.ground / unit / unit[:, None]) @ ways.faintest, 0.0, atol=1e-9)


def test_the_faintest_direction_is_told_with_its_share():
    found = measured(FREE)
    unit = np.sqrt(np.diagonal(found.ground))
    values, vectors = np.linalg.eigh(found.ground / unit / unit[:, None])
    assert found.directions.least_share == pytest.approx(values[0] / values[-1], rel=1e-9)
    assert abs(found.directions.faintest @ vectors[:, 0]) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("rows", [FREE, BOUND], ids=["free", "bound"])
def test_shares_are_eigenvalues_seen_from_the_reference(rows):
    found = measured(rows)
    own = found.directions.inward(found.scaled(np.cov(rows[Y == "b"].T, bias=True)))
    shares, axes = found.shares(own)
    assert_allclose(shares, eigh(own, found.reference, eigvals_only=True), rtol=1e-8)
    assert_allclose(axes.T @ found.reference @ axes, np.eye(len(shares)), atol=1e-8)
    assert_allclose(axes.T @ own @ axes, np.diag(shares), atol=1e-8)
    assert found.even[1] == pytest.approx(np.log(np.linalg.det(found.reference)), rel=1e-9)


def test_a_direction_has_an_extent_from_a_share_on():
    almost, bound = (np.array([[1.0, r], [r, 1.0]]) for r in (1 - 1e-9, 1 - 1e-13))
    assert directions(almost, only_columns=False).is_plain
    assert directions(bound, only_columns=False).basis.shape == (2, 1)
    assert directions(bound, only_columns=True).is_plain
