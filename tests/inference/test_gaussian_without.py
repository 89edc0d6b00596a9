"""Leave-one-out of Gaussian classes equals n refits."""

import numpy as np
import pytest

from bayeswater import Friedman, GaussianClassifier, NormalInverseWishart, PrecisionWarning
from bayeswater.estimate.densities import read_densities
from bayeswater.estimate.dirichlet import log_prior_without
from bayeswater.inference.gaussian_without import joint_of
from bayeswater.inference.log_space import log_posterior

FORMS = ("full", "shared", "diagonal", "shared_diagonal", "spherical")
ESTIMATES = {
    "ml": {},
    "unbiased": {"estimate": "unbiased"},
    "fixed": {"shrinkage": 0.3},
    "friedman": {"shrinkage": Friedman(0.4, 0.1)},
    "oas": {"shrinkage": "oas"},
    "ledoit_wolf": {"shrinkage": "ledoit_wolf"},
    "wishart": {"prior": NormalInverseWishart(strength=0.5)},
}
DEFINED = [
    (form, name)
    for form in FORMS
    for name in ESTIMATES
    if not (form == "spherical" and name in ("fixed", "friedman", "oas", "ledoit_wolf"))
    and not (form in ("diagonal", "shared_diagonal") and name in ("oas", "ledoit_wolf"))
]
pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")


def rows(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) * (1 + y[:, None]) + y[:, None] + 20
    return X, y


def refits(model, X, y, weight=None, *, held=True, first=6):
    """Log posteriors of each of the first rows by a fit without it; of a row of weight w > 1, with weight w - 1."""
    w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    read, floor = model._densities, model.variance_floor
    reading = read.blend.reading
    classes = model.classes_
    result = []
    for i in range(len(X))[:first]:
        left = w.copy()
        left[i] -= min(1.0, w[i])
        again = GaussianClassifier(**model.get_params()).fit(X, y, left).statistics_
        sums = type(again)(
            again.class_count.onto(model.statistics_.classes), again.columns.onto(model.statistics_.classes)
        )
        intensity = read.blend.spherical if held and reading.prior is None else None
        measure = read.blend.yardstick if held else None
        densities = read_densities(sums.columns, sums.class_count.count, reading, floor, measure, intensity)
        count = np.array([left[y == k].sum() for k in classes])
        with np.errstate(divide="ignore"):
            joint = joint_of(np.log(count / count.sum()), densities).of(X[i : i + 1], False)
        result.append(log_posterior(joint)[0])
    return np.array(result)


def require_close(found, expected, share=1e-10):
    found = found[: len(expected)]
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    finite = np.isfinite(expected)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=share, atol=share)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["ml", "unbiased"])
def test_it_equals_plain_refits_where_nothing_is_scaled(form, name):
    X, y = rows()
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y)
    require_close(model.loo_predict_log_proba(X, y), refits(model, X, y, held=False))


@pytest.mark.parametrize(("form", "name"), DEFINED)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_equals_refits_with_scales_and_intensities_held(form, name, weighted):
    X, y = rows()
    w = np.random.default_rng(1).choice([0.25, 0.5, 1.0, 2.5, 3.0], len(X)) if weighted else None
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y, w)
    require_close(model.loo_predict_log_proba(X, y, w), refits(model, X, y, w))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["ml", "wishart"])
def test_it_equals_refits_where_classes_are_tiny_and_columns_bound(form, name):
    # Class 0 has one row, class 1 three rows of four columns, and the last column is the sum of two others.
    X, y = rows(30, 3, seed=4)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    y = np.array([0] + [1] * 3 + [2] * 26)
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y)
    # Variances lifted from zero to 1e-9 have half of the digits: their log-densities too.
    require_close(model.loo_predict_log_proba(X, y), refits(model, X, y), share=1e-6)


@pytest.mark.parametrize(("form", "name"), [pair for pair in DEFINED if pair[1] != "ledoit_wolf"])
def test_it_equals_refits_where_cells_are_missing(form, name):
    X, y = rows(25)
    X[np.random.default_rng(2).random(X.shape) < 0.15] = np.nan
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y)
    require_close(model.loo_predict_log_proba(X, y), refits(model, X, y))


@pytest.mark.parametrize(("form", "name"), [pair for pair in DEFINED if pair[1] in ("ml", "friedman", "wishart")])
def test_it_equals_refits_where_a_class_has_no_value_in_a_column(form, name):
    # Its mean and variance there are those of all rows, so that every row moves them.
    X, y = rows(40, 4)
    X[y == 1, 2] = np.nan
    X[5, 0] = np.nan
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y)
    require_close(model.loo_predict_log_proba(X, y), refits(model, X, y))


@pytest.mark.parametrize("form", ["full", "shared"])
def test_it_equals_refits_where_cells_of_bound_columns_are_missing(form):
    X, y = rows(60, 3, seed=4)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    X[:12][np.random.default_rng(2).random((12, 4)) < 0.2] = np.nan
    y[:12] = 1
    model = GaussianClassifier(covariance=form).fit(X, y)
    # Pairs of columns that are nearly bound leave variances near the least one, which have half of the digits.
    require_close(model.loo_predict_log_proba(X, y), refits(model, X, y, first=20), share=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_missing_cells_do_not_make_it_factor_matrices_row_by_row(share, monkeypatch):
    X, y = rows(600, 5)
    X[np.random.default_rng(2).random(X.shape) < share] = np.nan
    X[3, 2] = np.nan
    model = GaussianClassifier(shrinkage=Friedman(0.1, 0.01)).fit(X, y)
    calls = []
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda *arguments: calls.append(1) or eigh(*arguments))
    model.loo_predict_log_proba(X, y)
    assert len(calls) < 60


def test_a_column_with_holes_lets_rows_move_no_class_but_those_without_a_value_in_it(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 6)), np.arange(120) % 6
    X[:, 4] = X[:, 0] - X[:, 1]  # bound, so that classes have axes of their own
    X[(y == 0) | (rng.random(120) < 0.8), 5] = np.nan
    model = GaussianClassifier().fit(X, y)
    found, there = model.loo_predict_log_proba(X, y), ~np.isnan(X[:, 5])
    calls, parts = [], []
    eigh, svd = np.linalg.eigh, np.linalg.svd
    monkeypatch.setattr(np.linalg, "eigh", lambda a: calls.extend(a.reshape(-1, *a.shape[-2:])) or eigh(a))
    monkeypatch.setattr(np.linalg, "svd", lambda a: parts.append(a) or svd(a))
    monkeypatch.setattr("bayeswater.inference.gaussian_read_again.STRETCH_CELLS", 20 * 6**2)
    model.loo_predict_log_proba(X, y)
    # Its own class once for each row, that without a value for rows that have one; each pattern but once.
    assert len(calls) <= 2 * (len(X) + there.sum()) + 10
    assert len(parts) <= 2
    require_close(found, refits(model, X, y, first=None), share=1e-6)  # of bound columns half of the digits are left


@pytest.mark.parametrize(("form", "name"), [pair for pair in DEFINED if pair[1] in ("ml", "friedman", "wishart")])
@pytest.mark.parametrize("far", [[1e9, 3.0, -2.0], [1e5, 1e5, 1e5]])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")
def test_a_row_very_far_away_is_left_out_by_counting_its_class_again(form, name, far, missing):
    X, y = rows(60)
    X[0] = far
    if missing:
        X[1:9][np.random.default_rng(2).random((8, 3)) < 0.3] = np.nan
    model = GaussianClassifier(covariance=form, variance_floor=1e-30, **ESTIMATES[name]).fit(X, y)
    found, expected = model.loo_predict_log_proba(X, y)[:9], refits(model, X, y, first=9)
    # With the far row in, sums have ten digits less along the others; its own log-joints are 1e10, and so rounded.
    require_close(found[1:], expected[1:], share=1e-5)
    require_close(found[:1], expected[:1], share=1e-5 if far[0] == 1e9 else 0.01)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.filterwarnings("ignore::bayeswater.PrecisionWarning")
def test_it_is_a_number_even_where_the_sums_have_no_digits_left(form, missing):
    # Along all columns at once, 1e9 leaves sums in which the others' extent is rounding, now positive and now negative.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.standard_normal((60, 3))
    X[0] = 1e9
    if missing:
        X[1:30][rng.random((29, 3)) < 0.3] = np.nan
    assert not np.isnan(GaussianClassifier(covariance=form).fit(X, y).loo_predict_log_proba(X, y)).any()


def test_a_row_whose_scatter_is_all_there_is_is_told_where_its_class_is_not_at_hand():
    X, y = rows(60)
    X[0] += 1e6
    model = GaussianClassifier().fit(X, y)
    with pytest.warns(PrecisionWarning, match="row 0 makes up nearly all"):
        model.loo_predict_log_proba(X[:50], y[:50])


def test_a_given_class_prior_stays_as_it_is():
    X, y = rows()
    model = GaussianClassifier(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    counted = GaussianClassifier().fit(X, y)
    prior = log_prior_without(counted.statistics_.class_count.count, 0.0, y, np.ones(len(y)))
    expected = log_posterior(counted.loo_predict_log_proba(X, y) - prior + np.log([0.2, 0.3, 0.5]))
    require_close(model.loo_predict_log_proba(X, y), expected)
