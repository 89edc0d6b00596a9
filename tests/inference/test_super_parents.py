"""Averages of joints far below the least float, the nested choice, and shares of an average."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswater import AODE
from bayeswater.inference.choosing import first_of_least, nested_losses
from bayeswater.inference.parent_weights import information_without, parent_shares
from bayeswater.inference.super_parents import log_average
from bayeswater.models.semi_naive.learning import pairs_of
from bayeswater.structure.mutual_information import descending_order, mutual_information

pytestmark = pytest.mark.usefixtures("kernel")


def test_joints_of_ten_thousand_columns_are_averaged_without_underflow():
    rng = np.random.default_rng(0)
    log_table = np.log(rng.random((10_000, 3)))  # of one row: terms of 10 000 columns in 3 classes
    log_joint = np.stack([log_table.sum(axis=0) + shift for shift in (0.0, -3.0, 1.5)])[:, None]
    weight = np.array([[1.0, 2.0, 0.5]])
    with mpmath.workdps(50):
        parts = [[mpmath.exp(mpmath.mpf(value)) for value in joint[0]] for joint in log_joint.tolist()]
        expected = [
            float(mpmath.log((parts[0][k] + 2 * parts[1][k] + parts[2][k] / 2) / mpmath.mpf(3.5))) for k in range(3)
        ]
    assert max(expected) < -9000  # exp of it is 0
    np.testing.assert_allclose(log_average(log_joint, weight)[0], expected, rtol=1e-15)


def rows_with_gaps(seed, n_rows=25):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_rows)
    codes = (rng.integers(0, 3, (n_rows, 4)) + labels[:, None] * rng.integers(0, 2, 4)) % 3
    return np.where(rng.random(codes.shape) < 0.15, np.nan, codes), labels


@pytest.mark.parametrize(
    "settings_of", [{}, {"weighting": "mi"}, {"class_prior": [0.5, 0.3, 0.2]}, {"alpha": 0}], ids=str
)
@pytest.mark.filterwarnings("ignore:.*zero.*:UserWarning")  # without smoothing a row may be impossible
def test_the_nested_pass_scores_every_model_as_its_own_leave_one_out(settings_of):
    X, y = rows_with_gaps(0)
    model = AODE(**settings_of).fit(X, y)
    joint = model._joint()
    order = descending_order(mutual_information(joint.estimate.states))
    removed = np.ones(len(y))
    losses = nested_losses(joint, order, model._table(X).block(slice(None)), y, removed, removed)
    names = [joint.estimate.counts.schema.names[j] for j in order]
    model.set_params(select=True)
    for p in range(4):
        for c in range(4):
            model.structure_ = tuple(names[: p + 1]), tuple(names[: c + 1])
            model._memo = {}
            log_proba = model.loo_predict_log_proba(X, y)
            expected = ((1 - np.exp(log_proba[np.arange(len(y)), y])) ** 2).sum()
            np.testing.assert_allclose(losses[p, c], expected, rtol=1e-11)


def test_of_equal_losses_the_fewest_parents_and_then_children_win():
    assert first_of_least(np.array([[3.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 1.0]])) == (0, 1)
    assert first_of_least(np.array([[2.0, 2.0], [2.0 * (1 - 1e-14), 2.0]])) == (0, 0)


def test_information_without_a_row_is_that_of_the_other_rows():
    X, y = rows_with_gaps(3)
    model = AODE(columns=dict.fromkeys(range(4), "categorical"))
    estimate = model.fit(X, y)._joint().estimate
    slots = estimate.slots(model._table(X).block(slice(None)))
    found = information_without(estimate, slots, y, np.ones(len(y)))
    for i in range(len(y)):
        rest = AODE(columns=model.columns_).fit(np.delete(X, i, axis=0), np.delete(y, i))
        # n log n of 25 rows is some hundred: what is left of the differences has 13 digits.
        np.testing.assert_allclose(found[i], mutual_information(pairs_of(rest.statistics_)), atol=1e-13)


@settings(max_examples=20)
@given(parts=st.lists(st.tuples(st.fractions(0, 1), st.fractions(0, 1)), min_size=1, max_size=5))
def test_the_shares_of_parts_add_up_to_the_log_ratio_of_the_sums(parts):
    parts = [(a + Fraction(1, 1000), b + Fraction(1, 1000)) for a, b in parts]
    log_a, log_b = (
        np.array([[float(mpmath.log(part[side].numerator) - mpmath.log(part[side].denominator)) for part in parts]])
        for side in (0, 1)
    )
    a, b = sum(part[0] for part in parts), sum(part[1] for part in parts)
    expected = float(mpmath.log(mpmath.mpf(a.numerator) * b.denominator / (mpmath.mpf(a.denominator) * b.numerator)))
    found = (parent_shares(log_a - 500, log_b - 500) * (log_a - log_b)).sum()  # as small as joints are
    np.testing.assert_allclose(found, expected, atol=1e-11)
