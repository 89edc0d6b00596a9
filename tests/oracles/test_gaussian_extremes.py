"""Gaussian classes where floats are near their limits, against fifty digits: nearly bound columns, classes and rows far
away, columns that say the same, numbers near the least and the largest there are. Up to a condition number of 1e10
posteriors have six digits, and beyond it there is a warning; squares that are no numbers are refused by name."""

import warnings
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pytest
from tests.oracles import covariances

from bayeswater import (
    BayesEnsemble,
    DataError,
    GaussianClassifier,
    GaussianNB,
    NaiveBayes,
    NormalInverseGamma,
    NormalInverseWishart,
    SingularCovarianceWarning,
    load,
    save,
)

MATRICES = ["full", "shared"]


def rows(condition: float, gap: float, seed: int) -> tuple[Any, Any]:
    """Three classes of rows whose columns have a condition number; one of them lies far away along the first column."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    root = turn @ np.diag(np.geomspace(1.0, condition**-0.5, 3)) @ turn.T
    y = np.repeat([0, 1, 2], 30)
    X = (rng.normal(size=(90, 3)) + rng.normal(size=(3, 3))[y]) @ root
    X[y == 2, 0] += gap
    return X, y


def posterior(X: Any, y: Any, queries: Any, form: str) -> Any:
    """P(class | row) with fifty digits, as floats."""
    result = []
    for joint in covariances.log_joints(X, y, queries, form):
        with mpmath.workdps(covariances.DIGITS):
            shares = [mpmath.exp(value - max(joint)) for value in joint]
            result.append([float(share / mpmath.fsum(shares)) for share in shares])
    return np.array(result)


def fitted(X: Any, y: Any, form: str) -> tuple[GaussianClassifier, bool]:
    """A model, and whether its fit warned of a covariance without digits."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GaussianClassifier(covariance=form).fit(X, y)
    assert all(issubclass(warning.category, SingularCovarianceWarning) for warning in caught)
    return model, bool(caught)


@pytest.mark.parametrize("form", MATRICES)
@pytest.mark.parametrize("gap", [0.0, 1e4, 1e10, 1e15])
@pytest.mark.parametrize("condition", [1.0, 1e5, 1e10, 1e12, 1e14, 1e16])
def test_posteriors_have_six_digits_or_the_fit_warns(condition, gap, form):
    X, y = rows(condition, gap, seed=int(np.log10(condition)))
    model, warned = fitted(X, y, form)
    found = model.predict_proba(X[::9])
    assert np.isfinite(found).all()
    assert not (warned and condition <= 1e5)
    if not warned:
        np.testing.assert_allclose(found, posterior(X, y, X[::9], form), atol=1e-6)


@pytest.mark.parametrize("form", MATRICES)
@pytest.mark.parametrize("gap", [0.0, 1e10, 1e13])
@pytest.mark.parametrize("bound", ["the same", "a sum", "constant"])
def test_a_column_that_others_tell_changes_nothing(bound, gap, form):
    X, y = rows(10.0, gap, seed=3)
    further = {"the same": X[:, 0], "a sum": X[:, 1] + X[:, 2], "constant": np.full(len(X), 1e9 / 3)}[bound]
    wide = np.c_[X, further]
    model, warned = fitted(wide, y, form)
    assert warned == (bound != "constant")
    np.testing.assert_allclose(model.predict_proba(wide[::9]), posterior(X, y, X[::9], form), atol=1e-6)
    left_out = np.exp(model.loo_predict_log_proba(wide, y))[::30]
    others = [np.delete(np.arange(len(X)), i) for i in range(0, len(X), 30)]
    expected = [posterior(X[rest], y[rest], X[i : i + 1], form)[0] for i, rest in zip((0, 30, 60), others, strict=True)]
    np.testing.assert_allclose(left_out, expected, atol=1e-6)


@pytest.mark.parametrize("form", ["full", "shared", "diagonal", "shared_diagonal", "spherical"])
def test_a_column_that_parts_the_classes_is_not_lost_however_wide_its_gap(form):
    rng = np.random.default_rng(0)
    for gap in (1e3, 1e7, 5e9, 1e10, 1e12, 1e15):
        X, y = rng.normal(size=(100, 2)), np.arange(100) // 50
        X[:50, 1] += gap
        assert fitted(X, y, form)[0].score(X, y) == 1.0


@pytest.mark.parametrize("form", MATRICES)
def test_nearly_bound_columns_with_outliers_give_numbers(form):
    # A covariance may pass as positive by its triangular root, and have a negative eigenvalue for its rounding.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 5)) * np.where(rng.random((60, 1)) < 0.1, 1e6, 1.0)
        X = np.c_[X, X[:, :3] @ rng.normal(size=(3, 3)) + rng.normal(size=(60, 3)) * 10.0 ** rng.uniform(-9, -5)]
        y = rng.integers(0, 2, 60)
        model, _ = fitted(X, y, form)
        assert np.isfinite(model.predict_proba(X)).all()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not np.isnan(model.loo_predict_log_proba(X, y)).any()


def test_the_warning_names_the_columns_that_are_bound():
    X, y = rows(10.0, 0.0, seed=3)
    with pytest.warns(SingularCovarianceWarning, match=r"columns 'x0', 'x3' are bound .* 1 of their directions"):
        GaussianClassifier().fit(np.c_[X, X[:, 0] * 2.5], y)


OF_NUMBERS = {
    "GaussianNB": GaussianNB,
    "GaussianNB without smoothing": lambda: GaussianNB(var_smoothing=0.0),
    "normal columns": lambda: NaiveBayes(columns=dict.fromkeys(("x0", "x1", "x2"), "gaussian")),
    **{
        form: lambda form=form: GaussianClassifier(covariance=form)
        for form in ("full", "shared", "diagonal", "shared_diagonal", "spherical")
    },
    "ledoit_wolf": lambda: GaussianClassifier(shrinkage="ledoit_wolf"),
    "prior": lambda: GaussianClassifier(prior=NormalInverseWishart()),
}


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_unit_changes_nothing_or_its_squares_are_refused_by_name(name):
    X, y = rows(10.0, 0.0, seed=3)
    make = OF_NUMBERS[name]
    expected = [make().fit(X, y).predict_proba(X), make().fit(X, y).loo_predict_log_proba(X, y)]
    refused = set()
    for exponent in (-320, -300, -200, -165, -158, -153, -150, -70, 70, 150, 153, 200, 300):
        unit = 10.0**exponent
        try:
            model = make().fit(X * unit, y)
        except DataError as error:
            assert str(error).startswith("the squares of column 'x0' " + ("underflow" if exponent < 0 else "overflow"))
            refused.add(exponent)
            continue
        np.testing.assert_allclose(model.predict_proba(X * unit), expected[0], rtol=1e-8)
        np.testing.assert_allclose(model.loo_predict_log_proba(X * unit, y), expected[1], rtol=1e-8, atol=1e-8)
    assert refused.isdisjoint({-70, 70} if name == "ledoit_wolf" else {-150, -70, 70, 150})


@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")  # of columns that are the same
def test_values_whose_squares_are_gone_are_no_constant_however_they_came(name):
    X, y = np.zeros((8, 3)), np.arange(8) % 2
    X[4:] = 1e-200  # each batch is constant
    first, second = (OF_NUMBERS[name]().fit(X[part], y[part]) for part in (slice(4), slice(4, 8)))
    with pytest.raises(DataError, match=r"the squares of column 'x0' underflow.*multiply the column by a large number"):
        first + second
    with pytest.raises(DataError, match="the squares of column 'x0' underflow"):
        first.partial_fit(X[4:], y[4:])
    X[4:] = 1.0
    OF_NUMBERS[name]().fit(X, y).partial_fit(X[:1] + 1e-200, y[:1])  # beside others they are nothing


def test_what_smoothing_or_a_prior_hides_need_have_no_squares():
    X, y = rows(10.0, 0.0, seed=3)
    X[:, 1] *= 1e-200
    expected = GaussianNB().fit(np.c_[X[:, 0], np.zeros(len(X)), X[:, 2]], y).predict_proba(X)
    np.testing.assert_allclose(GaussianNB().fit(X, y).predict_proba(X), expected, rtol=1e-12)
    prior = {"prior": NormalInverseGamma()}
    for model in (GaussianNB(var_smoothing=0.0, columns={1: prior}), NaiveBayes(columns={"x1": prior})):
        assert np.isfinite(model.fit(X, y).predict_proba(X)).all()


def hostile_rows(rng: Any) -> tuple[Any, Any, Any]:
    """Rows of any size, some nearly bound, far away or with holes, with weights that differ by twenty powers of ten."""
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.choice([0, 0, 0, -8, 8, -100, 100, -150, 140], size=d)
    y = rng.integers(0, 3, n)
    if rng.random() < 0.4:
        X[:, -1] = X[:, 0] * (1 + rng.normal(size=n) * 10.0 ** rng.uniform(-17, -3))
    if rng.random() < 0.3:
        X[rng.integers(n)] *= 10.0 ** rng.uniform(0, 14)
    if rng.random() < 0.3:
        X[y == 0, rng.integers(d)] += 10.0 ** rng.uniform(0, 15) * np.abs(X).max() ** 0.5
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y, None if rng.random() < 0.6 else 10.0 ** rng.uniform(-10, 10, size=n)


HOSTILE = {
    **{name: OF_NUMBERS[name] for name in ("full", "shared", "diagonal", "shared_diagonal", "spherical", "prior")},
    "little prior": lambda: GaussianClassifier(prior=NormalInverseWishart(mean=0.0, covariance=1e-5)),
    "shrunk": lambda: GaussianClassifier(shrinkage=0.001),
    "GaussianNB": lambda: GaussianNB(missing="ignore"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")
def test_any_finite_table_gives_numbers_or_is_refused_by_name(name):
    for seed in range(60):
        X, y, weight = hostile_rows(np.random.default_rng(seed))
        try:
            model = HOSTILE[name]().fit(X, y, weight)
        except DataError as error:
            assert "the squares of column" in str(error)
            continue
        assert np.isfinite(model.predict_proba(np.vstack([X, 3 * X, np.full(X.shape, 1e300)]))).all(), seed
        assert not np.isnan(model.loo_predict_log_proba(X, y, weight)).any(), seed


@pytest.mark.parametrize("form", ["full", "shared", "diagonal", "shared_diagonal", "spherical"])
@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")
def test_what_is_fitted_with_weights_of_any_size_can_be_saved_or_is_refused_by_name(form, tmp_path):
    X, y, refused = np.array([[1.0], [0.0], [3.0], [4.0]]), [0, 0, 1, 1], []
    for least in (1e-280, 1e-200, 1e-100, 1e-75, 1e-65, 1e-30, 1e-10, 1.0):
        try:
            model = GaussianClassifier(covariance=form).fit(X, y, [1.0, least, 1.0, 1.0])
        except DataError as error:
            assert "the squares of column 'x0' are lost beside the weights of rows" in str(error)
            refused.append(least)
            continue
        save(model, tmp_path / "model.bayes")
        np.testing.assert_array_equal(load(tmp_path / "model.bayes").predict_proba(X), model.predict_proba(X))
    assert refused == [1e-280, 1e-200, 1e-100, 1e-75]


def test_an_ensemble_of_weights_of_any_size_can_be_saved_or_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    X, y, refused = pd.DataFrame({"a": rng.normal(size=8)}), [0, 1] * 4, []
    for least in (1e-280, 1e-100, 1e-30):
        weight = np.r_[np.full(6, least), 1.0, 1.0]
        try:
            model = BayesEnsemble(members={"aode": 0, "linear": 0, "trees-sqrt": 0, "trees-all": 0}).fit(X, y, weight)
        except DataError as error:
            assert "the squares of numbers are lost beside the weights of rows" in str(error)
            refused.append(least)
            continue
        save(model, tmp_path / "model.bayes")
        np.testing.assert_array_equal(load(tmp_path / "model.bayes").predict_proba(X), model.predict_proba(X))
    assert refused == [1e-280, 1e-100]
