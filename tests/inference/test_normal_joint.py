"""Densities of variance zero, missing cells and Student's t: limits reached without dividing by zero."""

import warnings

import numpy as np
import pytest
from scipy import stats

from bayeswater import GaussianNB, ImpossibleEvidenceWarning, NormalInverseGamma, PrecisionWarning
from bayeswater.inference.normal_joint import apply_spikes, student_log_density
from bayeswater.kernels import compiling


@pytest.fixture(params=["reference", "loop"], autouse=True)
def road(request, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", {"reference": 10**18, "loop": 0}[request.param])


# ---------------------------------------------------------------------- spikes


def spiked():
    """Class 0 has a spike at (1, .), class 1 one at (., 5), class 2 none."""
    X = np.array([[1.0, 0.0], [1.0, 4.0], [0.0, 5.0], [3.0, 5.0], [0.0, 0.0], [4.0, 8.0]])
    return GaussianNB(var_smoothing=0).fit(X, [0, 0, 1, 1, 2, 2])


def test_a_row_on_a_spike_belongs_to_its_class():
    assert spiked().predict_proba([[1.0, 2.0], [2.0, 5.0]]).tolist() == [[1, 0, 0], [0, 1, 0]]


def test_a_row_off_every_spike_is_impossible_in_the_classes_that_have_one():
    assert spiked().predict_proba([[2.0, 2.0]]).tolist() == [[0, 0, 1]]


def test_a_row_on_as_many_spikes_of_two_classes_is_decided_by_the_rest():
    answer = spiked().predict_log_proba([[1.0, 5.0]])[0]
    # Class 0 sees 5.0 under Normal(2, 4), class 1 sees 1.0 under Normal(1.5, 2.25): priors are equal.
    expected = stats.norm.logpdf(5, 2, 2) - stats.norm.logpdf(1, 1.5, 1.5)
    np.testing.assert_allclose(answer[0] - answer[1], expected, rtol=1e-13)
    assert answer[2] == -np.inf


def test_that_is_the_limit_of_ever_smaller_smoothing():
    model, rows = spiked(), np.array([[1.0, 2.0], [2.0, 5.0], [2.0, 2.0], [1.0, 5.0]])
    limit = model.predict_proba(rows)
    smoothed = model.set_params(var_smoothing=1e-13).predict_proba(rows)
    np.testing.assert_allclose(smoothed, limit, atol=1e-6)  # spikes of width 1e-6 are not yet of width zero


def test_the_class_with_most_spikes_under_a_row_wins():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 0.0], [1.0, 7.0], [4.0, 4.0]])
    model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 1, 1, 2])
    assert model.predict_proba([[1.0, 2.0]]).tolist() == [[1, 0, 0]]
    assert model.predict([[4.0, 4.0]]).tolist() == [2]


def test_a_row_off_the_spikes_of_every_class_gets_the_prior():
    model = GaussianNB(var_smoothing=0).fit([[1.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.warns(ImpossibleEvidenceWarning, match="to 1 of 1 rows"):
        np.testing.assert_allclose(model.predict_proba([[1.5]]), [[2 / 3, 1 / 3]], rtol=1e-15)


def test_a_missing_cell_is_on_no_spike_and_off_none():
    X = np.array([[1.0, 0.0], [1.0, 4.0], [2.0, 5.0], [3.0, 9.0]])
    model = GaussianNB(var_smoothing=0, missing="ignore").fit(X, [0, 0, 1, 1])
    one_column = GaussianNB(var_smoothing=0).fit(X[:, 1:], [0, 0, 1, 1])
    np.testing.assert_allclose(
        model.predict_log_proba([[np.nan, 3.0]]), one_column.predict_log_proba([[3.0]]), rtol=1e-13
    )


def test_a_class_that_its_prior_makes_impossible_has_no_spike():
    X = np.array([[1.0], [1.0], [0.0], [2.0]])
    model = GaussianNB(var_smoothing=0, priors=[0.0, 1.0]).fit(X, [0, 0, 1, 1])
    assert model.predict_proba([[1.0]]).tolist() == [[0, 1]]


def test_a_spike_in_whole_numbers_is_found_too():
    X = np.array([[1, 0], [1, 4], [3, 5], [2, 5]], dtype=np.uint8)
    assert GaussianNB(var_smoothing=0).fit(X, [0, 0, 1, 1]).predict(X).tolist() == [0, 0, 1, 1]


def test_striking_out_is_in_place():
    scores = np.array([[-1.0, -2.0, -3.0], [-1.0, -2.0, -3.0]])
    off = np.array([[True, False, False], [False, False, False]])
    on = np.array([[0, 1, 1], [0, 0, 0]])
    apply_spikes(scores, off, on, np.log([0.2, 0.3, 0.5]))
    assert scores.tolist() == [[-np.inf, -2.0, -3.0], [-1.0, -2.0, -3.0]]


# ---------------------------------------------------------------------- columns that never vary


def test_a_column_that_never_varies_has_no_factor():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    constant = np.column_stack([X, np.full(20, 7.0)])
    model, plain = GaussianNB(var_smoothing=0).fit(constant, y), GaussianNB(var_smoothing=0).fit(X, y)
    elsewhere = np.column_stack([X, np.full(20, -3.0)])
    for rows in (constant, elsewhere):
        np.testing.assert_array_equal(model.predict_log_proba(rows), plain.predict_log_proba(X))


def test_where_no_column_varies_the_posterior_is_the_prior():
    model = GaussianNB().fit(np.ones((3, 2)), [0, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(model.predict_proba([[1.0, 1.0], [5.0, 0.0]]), [[2 / 3, 1 / 3]] * 2, rtol=1e-15)


# ---------------------------------------------------------------------- missing cells


def test_a_missing_cell_is_an_absent_factor():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    model = GaussianNB(missing="ignore", var_smoothing=0).fit(X, y)
    for j in range(3):
        rows = X.copy()
        rows[:, j] = np.nan
        rest = GaussianNB(var_smoothing=0).fit(np.delete(X, j, axis=1), y)
        np.testing.assert_allclose(
            model.predict_joint_log_proba(rows), rest.predict_joint_log_proba(np.delete(X, j, axis=1)), rtol=1e-12
        )


def test_a_row_without_a_single_value_has_the_prior_for_its_joint():
    model = GaussianNB(missing="ignore").fit([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1])
    np.testing.assert_allclose(model.predict_joint_log_proba([[np.nan]]), np.log([[3 / 4, 1 / 4]]), rtol=1e-15)


# ---------------------------------------------------------------------- classes without rows


def test_a_class_without_rows_is_never_predicted_whatever_its_prior():
    model = GaussianNB(priors=[0.01, 0.01, 0.98]).partial_fit(
        [[-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1], classes=[0, 1, 2]
    )
    answer = model.predict_proba([[0.0], [4.0]])
    assert answer[:, 2].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(answer.sum(axis=1), 1.0, rtol=1e-15)


def test_a_class_without_rows_has_the_predictive_of_its_priors_where_all_columns_have_one():
    prior = NormalInverseGamma(mean=10.0)
    model = GaussianNB(class_alpha=1.0, columns={0: {"prior": prior}})
    model.partial_fit([[-1.0], [1.0]], [0, 0], classes=[0, 1])
    assert model.predict([[0.0], [10.0]]).tolist() == [0, 1]


# ---------------------------------------------------------------------- Student's t


@pytest.mark.parametrize("degrees", [0.5, 2.0, 30.0])
@pytest.mark.parametrize("x", [-3.0, 0.0, 1.5, 1e6])
def test_the_density_is_students(degrees, x):
    # SciPy's own density is good to about 1e-13.
    expected = stats.t.logpdf(x, degrees, loc=0.5, scale=2.0)
    np.testing.assert_allclose(student_log_density(x, 0.5, 4.0, degrees), expected, rtol=1e-12)


def test_a_value_beyond_all_numbers_is_impossible_and_no_nan():
    assert student_log_density(np.array(1e200), 0.0, 1.0, 2.0) == -np.inf


def test_columns_with_and_without_a_prior_multiply():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    prior = NormalInverseGamma(mean=0.3, strength=2.0, shape=1.5, scale=0.7)
    model = GaussianNB(var_smoothing=0, columns={"x1": {"prior": prior}}).fit(X, y)
    rows = np.array([[0.1, -0.4], [2.0, 1.0]])
    for k in range(2):
        mine = X[y == k]
        location, squared_scale, degrees = prior.predictive(6, mine[:, 1].mean(), 6 * mine[:, 1].var())
        expected = (
            np.log(0.5)
            + stats.norm.logpdf(rows[:, 0], mine[:, 0].mean(), mine[:, 0].std())
            + stats.t.logpdf(rows[:, 1], degrees, location, np.sqrt(squared_scale))
        )
        np.testing.assert_allclose(model.predict_joint_log_proba(rows)[:, k], expected, rtol=1e-12)


def test_a_missing_cell_of_a_column_with_a_prior_is_an_absent_factor():
    prior = {"x1": {"prior": NormalInverseGamma()}}
    X, y = np.array([[0.0, 1.0], [1.0, 2.0], [5.0, 0.0], [7.0, 9.0]]), [0, 0, 1, 1]
    model = GaussianNB(missing="ignore", var_smoothing=0, columns=prior).fit(X, y)
    alone = GaussianNB(var_smoothing=0).fit(X[:, :1], y)
    np.testing.assert_allclose(
        model.predict_log_proba([[0.5, np.nan]]), alone.predict_log_proba([[0.5]]), rtol=1e-12, atol=1e-300
    )


# ---------------------------------------------------------------------- lost digits


def test_leaving_out_a_row_that_is_nearly_all_of_a_scatter_warns():
    X, y = np.array([[0.0], [1.0], [2.0], [1e6], [5.0], [6.0]]), [0, 0, 0, 0, 1, 1]
    model = GaussianNB().fit(X, y)
    with pytest.warns(PrecisionWarning, match=r"row 3 makes up nearly all of the scatter"):
        answer = model.loo_predict_log_proba(X, y)
    assert not np.isnan(answer).any()
