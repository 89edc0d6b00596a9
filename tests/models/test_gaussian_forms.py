"""What forms, divisors and shrinkage of `GaussianClassifier` mean at their limits, and what is shown of it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from bayeswater import (
    DataError,
    Friedman,
    GaussianClassifier,
    NormalInverseWishart,
    ParameterError,
    SingularCovarianceWarning,
)

X, Y = load_iris(return_X_y=True)
FORMS = ("full", "shared", "diagonal", "shared_diagonal", "spherical")


@pytest.mark.parametrize("shrinkage", [0.3, "oas", "ledoit_wolf", Friedman(0.0, 0.2)], ids=str)
def test_a_sphere_is_read_of_a_shrunken_model_as_of_any_other(shrinkage):
    sphere = GaussianClassifier(shrinkage=shrinkage).fit(X, Y).with_covariance("spherical")
    plain = GaussianClassifier(covariance="spherical").fit(X, Y)
    np.testing.assert_array_equal(sphere.predict_log_proba(X), plain.predict_log_proba(X))


def test_what_another_form_cannot_be_drawn_to_is_refused_with_the_way_out():
    model = GaussianClassifier(shrinkage=Friedman(0.3, 0.1)).fit(X, Y)
    with pytest.raises(ParameterError, match=r"set_params\(shrinkage=None\) before with_covariance\('spherical'\)"):
        model.with_covariance("spherical")
    model = GaussianClassifier(shrinkage="oas").fit(X, Y)
    with pytest.raises(ParameterError, match=r"set_params\(shrinkage=None\) before with_covariance\('diagonal'\)"):
        model.with_covariance("diagonal")
    assert model.set_params(shrinkage=None).with_covariance("diagonal").predict(X).shape == (150,)
    with pytest.raises(ParameterError, match="covariance is 'tied'; it can be one of"):
        model.with_covariance("tied")


@pytest.mark.parametrize(
    ("parameters", "like"),
    [
        ({"shrinkage": Friedman(1.0, 0.0)}, {"covariance": "shared"}),
        ({"covariance": "diagonal", "shrinkage": Friedman(1.0, 0.0)}, {"covariance": "shared_diagonal"}),
        ({"shrinkage": 1.0}, {"covariance": "spherical"}),
        ({"shrinkage": 0.5}, {"covariance": "full"}),
        ({"prior": NormalInverseWishart()}, {"covariance": "full"}),
    ],
    ids=str,
)
def test_shrinkage_all_the_way_leaves_fewer_parameters(parameters, like):
    assert GaussianClassifier(**parameters).fit(X, Y).n_parameters == GaussianClassifier(**like).fit(X, Y).n_parameters
    one_variance = GaussianClassifier(shrinkage=Friedman(1.0, 1.0)).fit(X, Y)
    assert one_variance.n_parameters == 2 + 3 * 4 + 1


@pytest.mark.parametrize("form", FORMS)
def test_a_class_without_rows_has_no_mean_and_no_covariance(form):
    model = GaussianClassifier(covariance=form).partial_fit(X[:100], Y[:100], classes=[0, 1, 2])
    assert np.isnan(model.means_[2]).all()
    assert np.isfinite(model.means_[:2]).all()
    if form.startswith("shared"):  # which it is to have as all others do
        np.testing.assert_array_equal(model.covariances_[2], model.covariances_[0])
    else:
        assert np.isnan(model.covariances_[2]).all()
    assert np.isfinite(model.covariances_[:2]).all()
    columns = model.tables()["columns"].to_pandas()
    assert columns["mean(2)"].isna().all()
    given = GaussianClassifier(covariance=form, prior=NormalInverseWishart())
    given.partial_fit(X[:100], Y[:100], classes=[0, 1, 2])
    assert np.isfinite(given.means_).all()


@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")
@pytest.mark.parametrize("form", FORMS)
def test_the_unbiased_divisor_moves_with_the_weights_and_never_jumps(form):
    def variances(total):
        share = total / len(X)  # of all three classes; one class has a third of it
        model = GaussianClassifier(covariance=form, estimate="unbiased").fit(X, Y, np.full(len(X), share))
        return model.covariances_

    scatter = [np.cov(X[rows].T, bias=True) for rows in (slice(0, 50), slice(50, 100), slice(100, 150))]
    for total in (3.0, 4.0, 6.0):  # one row a class; K + 1 rows in all; two rows a class
        np.testing.assert_allclose(variances(total - 1e-9), variances(total + 1e-9), rtol=1e-7)
    if form == "full":
        # n - 1 from two rows on, below that n / 2
        np.testing.assert_allclose(variances(9.0), np.array(scatter) * 3 / 2, rtol=1e-9)
        np.testing.assert_allclose(variances(3.0), np.array(scatter) * 2, rtol=1e-9)
    if form == "shared":
        # n - K from K + 1 rows on, below that n / (K + 1)
        np.testing.assert_allclose(variances(9.0)[0], sum(scatter) / 3 * 9 / 6, rtol=1e-9)
        np.testing.assert_allclose(variances(2.0)[0], sum(scatter) / 3 * 4, rtol=1e-9)


def test_a_small_weight_is_not_taken_for_few_rows():
    flat = X.copy()
    flat[Y == 1, 2] = 4.0
    with pytest.warns(SingularCovarianceWarning, match="class 1 has no extent in 1 of 4.*constant column"):
        GaussianClassifier().fit(flat, Y, np.full(len(X), 0.02))


@pytest.mark.parametrize("form", ["full", "shared"])
def test_rows_to_predict_may_lack_cells_whatever_covariances_were_learned_by(form):
    holes = X.copy()
    holes[:, 1] = np.nan
    model = GaussianClassifier(covariance=form, shrinkage="ledoit_wolf").fit(X, Y)
    kept = [0, 2, 3]
    joint = np.empty((150, 3))
    for k in range(3):
        away = X[:, kept] - model.means_[k, kept]
        part = model.covariances_[k][np.ix_(kept, kept)]
        distance = np.einsum("ij,ij->i", away, np.linalg.solve(part, away.T).T)
        joint[:, k] = -0.5 * (3 * np.log(2 * np.pi) + np.linalg.slogdet(part)[1] + distance) + np.log(1 / 3)
    np.testing.assert_allclose(model.predict_joint_log_proba(holes), joint, rtol=1e-9)
    with pytest.raises(DataError, match="row 0, column 'x1'; shrinkage='ledoit_wolf' reads fourth moments"):
        model.partial_fit(holes, Y)
    with pytest.raises(DataError, match="Input X contains NaN"):
        GaussianClassifier(covariance=form, shrinkage="ledoit_wolf", missing="error").fit(X, Y).predict(holes)


@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")  # of columns that are bound
def test_rows_that_lack_cells_each_in_its_own_way_are_predicted_as_one_by_one():
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((40, 5)) @ rng.standard_normal((5, 5))
    y = rng.integers(0, 2, 40)
    bound = np.column_stack([wide, wide[:, 0] + wide[:, 1]])
    for table in (wide, bound):
        for way in ({}, {"prior": NormalInverseWishart()}, {"covariance": "shared"}):
            model = GaussianClassifier(**way).fit(table, y)
            holes = table.copy()
            holes[rng.random(holes.shape) < 0.3] = np.nan
            repeated = np.repeat(holes, 40, axis=0)  # each pattern is frequent enough for a factor of its own
            expected = model.predict_joint_log_proba(repeated)[::40]
            np.testing.assert_allclose(model.predict_joint_log_proba(holes), expected, rtol=1e-9, atol=1e-9)


def test_frames_are_told_the_name_of_the_column_that_lacks_a_cell():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = GaussianClassifier(covariance="shared").fit(frame, Y)
    frame.loc[7, "c"] = np.nan
    with pytest.raises(DataError, match="row 7 has a missing cell in column 'c'"):
        model.to_linear().scores(frame)
    with pytest.raises(DataError, match="row 7 has a missing cell in column 'c'"):
        model.to_quadratic().scores(frame)
