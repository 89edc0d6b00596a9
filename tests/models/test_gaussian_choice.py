"""Shrinkage that `GaussianClassifier` chooses: by all rows in whatever order, and only where rows can be left out."""

import numpy as np
import pytest

from bayeswater import Friedman, GaussianClassifier, ParameterError, StatisticsError, threads
from bayeswater.estimate.covariance_priors import CANDIDATES


def two_kinds_of_rows(n=9000):
    """Rows in turns: labelled by the spread of their class, and labelled at random."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, 2)) * np.where(y, 1.0, 3.0)[:, None]
    X[1::2] = rng.standard_normal((n // 2, 2)) * 3.0
    return X, y


def test_all_rows_decide_in_whatever_order_they_come():
    X, y = two_kinds_of_rows()
    few = CANDIDATES[::8]
    losses = np.array(
        [-GaussianClassifier(shrinkage=c).fit(X, y).loo_predict_log_proba(X, y)[np.arange(len(y)), y] for c in few]
    )
    assert losses[:, ::2].mean(axis=1).argmin() != losses.mean(axis=1).argmin()  # every second row says otherwise
    chosen = GaussianClassifier(shrinkage="auto").fit(X, y).shrinkage_
    given = GaussianClassifier(shrinkage=chosen).fit(X, y).loo_predict_log_proba(X, y)
    assert -given[np.arange(len(y)), y].mean() <= losses.mean(axis=1).min()
    by_kind = np.r_[0 : len(y) : 2, 1 : len(y) : 2]
    assert GaussianClassifier(shrinkage="auto").fit(X[by_kind], y[by_kind]).shrinkage_ == chosen


def test_the_number_of_threads_does_not_show_in_the_choice():
    X, y = two_kinds_of_rows(40_000)
    with threads(1):
        one = GaussianClassifier(covariance="shared", shrinkage="auto").fit(X, y).shrinkage_
    with threads(4):
        assert GaussianClassifier(covariance="shared", shrinkage="auto").fit(X, y).shrinkage_ == one


def test_whole_weights_choose_as_repeated_rows_do():
    X, y = two_kinds_of_rows(60)
    w = np.random.default_rng(1).integers(0, 4, 60)
    weighted = GaussianClassifier(shrinkage="auto").fit(X, y, w)
    repeated = GaussianClassifier(shrinkage="auto").fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert weighted.shrinkage_ == repeated.shrinkage_


@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")
def test_a_row_very_far_away_does_not_spoil_the_choice_by_rounding():
    # Left out by subtraction, its class would keep none of its digits, and the loss of the row would be anything.
    X, y = two_kinds_of_rows(60)
    X[0, 0] = 1e9
    model = GaussianClassifier(shrinkage="auto").fit(X, y)

    def log_loss(shrinkage):
        refit = GaussianClassifier(shrinkage=shrinkage).fit(X, y)
        return -refit.loo_predict_log_proba(X, y)[np.arange(60), y].mean()

    assert log_loss(model.shrinkage_) == min(map(log_loss, CANDIDATES))


def test_missing_cells_do_not_keep_rows_from_deciding():
    X, y = two_kinds_of_rows(200)
    X[3, 1] = np.nan
    model = GaussianClassifier(shrinkage="auto").fit(X, y)

    def log_loss(shrinkage):
        refit = GaussianClassifier(shrinkage=shrinkage).fit(X, y)
        return -refit.loo_predict_log_proba(X, y)[np.arange(200), y].mean()

    assert log_loss(model.shrinkage_) == pytest.approx(min(map(log_loss, CANDIDATES)), rel=1e-12)


def test_it_is_refused_where_no_row_can_be_left_out():
    X, y = two_kinds_of_rows(60)
    with pytest.raises(StatisticsError, match=r"shrinkage='auto' cannot leave rows out.*Friedman"):
        GaussianClassifier(shrinkage="auto", missing="em").fit(X, y)


def test_of_two_models_the_choice_of_the_left_one_stays():
    X, y = two_kinds_of_rows(400)
    left = GaussianClassifier(shrinkage="auto").fit(X[:40], y[:40])
    right = GaussianClassifier(shrinkage="auto").fit(X[40:], y[40:])
    left.shrinkage_, right.shrinkage_ = Friedman(0.05, 0.0), Friedman(0.65, 0.4)
    assert (left + right).shrinkage_ == left.shrinkage_
    assert (right + left).shrinkage_ == right.shrinkage_


def test_a_fit_that_is_refused_leaves_the_choice_as_it_was():
    X, y = two_kinds_of_rows(200)
    model = GaussianClassifier(shrinkage="auto").fit(X, y)
    chosen, expected = model.shrinkage_, model.predict_proba(X)
    with pytest.raises(ParameterError, match="class_prior"):
        model.set_params(class_prior=[1.0]).fit(X, y)
    assert model.set_params(class_prior=None).shrinkage_ == chosen
    np.testing.assert_array_equal(model.predict_proba(X), expected)
