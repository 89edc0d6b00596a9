"""`GaussianClassifier` as a model: what it learns, takes, refuses, draws, shows and keeps."""

import pickle
import tracemalloc

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from tests.files.hostile import forged, unpacked
from tests.models.same_model import reloaded, require_same_model

from bayeswater import (
    DataError,
    Friedman,
    GaussianClassifier,
    GaussianNB,
    ModelFileError,
    NormalInverseWishart,
    ParameterError,
    ResourceLimitError,
    SchemaError,
    SingularCovarianceWarning,
    StatisticsError,
    load,
    save,
    threads,
)
from bayeswater.estimate.covariance_priors import CANDIDATES

X, Y = load_iris(return_X_y=True)
FORMS = ("full", "shared", "diagonal", "shared_diagonal", "spherical")
WAYS = [
    {},
    {"estimate": "unbiased"},
    {"shrinkage": 0.2},
    {"shrinkage": Friedman(0.5, 0.1)},
    {"shrinkage": "oas"},
    {"shrinkage": "ledoit_wolf"},
    {"prior": NormalInverseWishart()},
]


def with_holes(seed=0, share=0.15):
    holes = X.copy()
    holes[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return holes


# ---------------------------------------------------------------------- sums: adding, taking away, reading again


@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")  # of parts with few rows of a class
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("missing", [False, True])
def test_partial_fits_merges_and_forgetting_give_the_model_of_one_fit(way, missing):
    if missing and way.get("shrinkage") == "ledoit_wolf":
        return  # which takes whole rows alone
    table = with_holes() if missing else X
    model = GaussianClassifier(**way).fit(table, Y)
    expected = model.predict_log_proba(table)
    parts = [slice(0, 40), slice(40, 90), slice(90, 150)]
    order = np.random.default_rng(0).permutation(150)
    stepwise = GaussianClassifier(**way)
    for part in parts:
        stepwise.partial_fit(table[order[part]], Y[order[part]])
    merged = sum(GaussianClassifier(**way).fit(table[order[part]], Y[order[part]]) for part in parts)
    extra = GaussianClassifier(**way).fit(np.r_[table, table[:30]], np.r_[Y, Y[:30]])
    extra.forget(table[:30], Y[:30])
    minus = GaussianClassifier(**way).fit(np.r_[table, table[:30]], np.r_[Y, Y[:30]])
    minus -= GaussianClassifier(**way).fit(table[:30], Y[:30])
    for found in (stepwise, merged, extra, minus):
        np.testing.assert_allclose(found.predict_log_proba(table), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_from_the_same_sums(form):
    model = GaussianClassifier().fit(X, Y)
    other = model.with_covariance(form)
    expected = GaussianClassifier(covariance=form).fit(X, Y)
    assert other.statistics_ is model.statistics_
    assert other.predict_log_proba(X).tobytes() == expected.predict_log_proba(X).tobytes()
    assert model.covariance == "full"
    assert other.get_params() == expected.get_params()


def test_settings_changed_after_fit_take_effect_without_a_refit():
    model = GaussianClassifier().fit(X, Y)
    model.set_params(covariance="shared", estimate="unbiased", shrinkage=0.1)
    expected = GaussianClassifier(covariance="shared", estimate="unbiased", shrinkage=0.1).fit(X, Y)
    assert model.predict_proba(X).tobytes() == expected.predict_proba(X).tobytes()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_whole_weights_equal_repetition_and_zero_weights_have_no_influence(way):
    w = np.random.default_rng(1).integers(0, 3, 150)
    table = X.copy()
    table[w == 0] = 1e9  # no matter what a row of no weight holds
    a = GaussianClassifier(**way).fit(table, Y, w)
    b = GaussianClassifier(**way).fit(np.repeat(X, w, axis=0), np.repeat(Y, w))
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X), rtol=1e-9, atol=1e-9)


def test_new_classes_may_come_and_declared_ones_wait_for_rows():
    model = GaussianClassifier().partial_fit(X[:100], Y[:100], classes=[0, 1, 2, 3])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert (model.predict_proba(X)[:, 2:] == 0).all()
    model.partial_fit(X[100:], Y[100:])
    np.testing.assert_allclose(
        model.predict_proba(X)[:, :3], GaussianClassifier().fit(X, Y).predict_proba(X), atol=1e-9
    )
    assert not np.isnan(model.loo_predict_log_proba(X, Y)).any()


def test_a_class_that_is_forgotten_is_gone():
    model = GaussianClassifier().fit(X, Y).forget(X[100:], Y[100:])
    expected = GaussianClassifier().fit(X[:100], Y[:100])
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")  # of the class with the far row
def test_digits_that_would_be_lost_are_recounted_from_the_rows_that_remain():
    far = np.r_[X, X[:1] + 1e9]
    model = GaussianClassifier().fit(far, np.r_[Y, 0])
    with pytest.raises(StatisticsError, match="fewer than 8 digits"):
        model.forget(far[150:], [0])
    model.forget(far[150:], [0], remaining=(X, Y))
    np.testing.assert_allclose(model.predict_proba(X), GaussianClassifier().fit(X, Y).predict_proba(X), atol=1e-9)


def test_the_number_of_threads_does_not_show():
    rng = np.random.default_rng(0)
    big, labels = rng.standard_normal((150_000, 4)), rng.integers(0, 3, 150_000)
    results = []
    for n in (1, 3):
        with threads(n):
            model = GaussianClassifier().fit(big, labels)
            results.append((model.statistics_.columns.scatter.tobytes(), model.predict_proba(big).tobytes()))
    assert results[0] == results[1]


def test_a_fit_needs_memory_for_its_sums_and_not_for_a_copy_of_the_rows():
    rng = np.random.default_rng(0)
    big, labels = rng.standard_normal((200_000, 20)), rng.integers(0, 3, 200_000).astype(np.uint8)
    GaussianClassifier().fit(big[:1000], labels[:1000])
    with threads(1):
        tracemalloc.start()
        GaussianClassifier(covariance="shared").fit(big, labels)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    # One stretch of rows, the order of the rows of one block, and the codes of all labels: far less than 32 MB.
    assert peak < 4 * 2**20 < big.nbytes / 7


# ---------------------------------------------------------------------- shrinkage that is chosen


def test_the_chosen_shrinkage_has_the_least_leave_one_out_log_loss_of_all_candidates():
    table, labels = X[::5], Y[::5]  # ten rows of each class

    def log_loss(shrinkage):
        model = GaussianClassifier(shrinkage=shrinkage).fit(table, labels)
        return -model.loo_predict_log_proba(table, labels)[np.arange(30), labels].mean()

    model = GaussianClassifier(shrinkage="auto").fit(table, labels)
    assert log_loss(model.shrinkage_) == min(map(log_loss, CANDIDATES))
    given = GaussianClassifier(shrinkage=model.shrinkage_).fit(table, labels)
    assert model.predict_proba(X).tobytes() == given.predict_proba(X).tobytes()


def test_a_chosen_shrinkage_is_kept_until_the_next_fit():
    model = GaussianClassifier(shrinkage="auto").fit(X[::5], Y[::5])
    chosen = model.shrinkage_
    assert model.partial_fit(X, Y).shrinkage_ == chosen
    assert (model + model).shrinkage_ == chosen
    assert model.forget(X[:2], Y[:2]).shrinkage_ == chosen
    assert model.with_covariance("shared").shrinkage_ == chosen
    assert model.fit(np.repeat(X, 20, axis=0), np.repeat(Y, 20)).shrinkage_ != chosen
    with pytest.raises(ParameterError, match="first partial_fit has only some of them"):
        GaussianClassifier(shrinkage="auto").partial_fit(X, Y)


@pytest.mark.parametrize("form", FORMS[:4])
def test_more_columns_than_rows_can_be_learned_by_a_chosen_shrinkage(form):
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((30, 40)) + 3 * (np.arange(30) % 3 == np.arange(40)[:, None] % 3).T
    labels = np.arange(30) % 3
    model = GaussianClassifier(covariance=form, shrinkage="auto").fit(wide, labels)
    assert (model.loo_predict_log_proba(wide, labels).argmax(axis=1) == labels).mean() > 0.9


# ---------------------------------------------------------------------- tiny classes, flat classes, bound columns


def test_a_class_of_one_row_works_and_is_named():
    table, labels = X[50:], Y[50:].copy()
    labels[0] = 7
    with pytest.warns(SingularCovarianceWarning, match="class 7 has no extent in 4 of 4 directions: its 1 row"):
        model = GaussianClassifier().fit(table, labels)
    assert model.predict(table[:1]) == [7]
    assert np.isfinite(model.predict_log_proba(table)).all()


def test_a_flat_class_is_named_with_the_reason():
    table = X.copy()
    table[Y == 1, 2] = 4.0
    with pytest.warns(SingularCovarianceWarning, match="class 1 has no extent in 1 of 4.*constant column"):
        model = GaussianClassifier().fit(table, Y)
    assert model.score(table, Y) > 0.95


@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")  # of columns that are bound
def test_columns_bound_to_one_another_and_constant_ones_change_nothing():
    bound = np.column_stack([X, X @ [1.0, 2.0, 3.0, 4.0], np.full(150, 17.0)])
    for form in ("full", "shared"):
        model, expected = (GaussianClassifier(covariance=form).fit(table, Y) for table in (bound, X))
        np.testing.assert_allclose(model.predict_log_proba(bound), expected.predict_log_proba(X), rtol=0, atol=1e-8)
        part = bound.copy()
        part[:, 0] = np.nan  # what the bound column says of it is still there
        np.testing.assert_allclose(model.predict_log_proba(part), expected.predict_log_proba(X), rtol=0, atol=1e-8)
    for form in ("diagonal", "shared_diagonal", "spherical"):
        model = GaussianClassifier(covariance=form).fit(np.column_stack([X, np.full(150, 17.0)]), Y)
        expected = GaussianClassifier(covariance=form).fit(X, Y)
        found = model.predict_log_proba(np.column_stack([X, np.full(150, 3.0)]))
        np.testing.assert_allclose(found, expected.predict_log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_a_single_row_is_a_model(form):
    model = GaussianClassifier(covariance=form).fit(X[:1], Y[:1])
    assert model.predict_proba(X).tolist() == [[1.0]] * 150


def test_a_class_far_away_does_not_hide_how_the_others_differ():
    table = np.r_[X, X[:50] + 1e4 * X.std()]
    labels = np.r_[Y, np.full(50, 3)]
    model, expected = GaussianClassifier().fit(table, labels), GaussianClassifier().fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X)[:, :3], expected.predict_proba(X), rtol=0, atol=1e-9)
    assert model._densities.n_directions == 4


def test_only_ratios_of_weights_matter_also_where_all_are_small():
    # Classes far apart, one of them flat: what it is lifted to comes from the classes and their means.
    rows, labels = X[:, :3] + 5.0 * Y[:, None], Y.copy()
    rows = np.where(labels[:, None] == 2, rows * [1, 1, 0] + [0, 0, 9], rows)
    with pytest.warns(SingularCovarianceWarning):
        heavy, light = (GaussianClassifier().fit(rows, labels, np.full(150, w)) for w in (2.0**4, 2.0**-20))
        found, expected = light.predict_joint_log_proba(rows), heavy.predict_joint_log_proba(rows)
    # Powers of two change no digit of a weighted sum.
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_constant_column_has_no_factor_with_a_prior_either():
    constant, elsewhere = np.insert(X, 1, 3.7, axis=1), np.insert(X, 1, 4.7, axis=1)
    for form in FORMS[:4]:
        model = GaussianClassifier(covariance=form, prior=NormalInverseWishart()).fit(constant[20:], Y[20:])
        here, there = (model.predict_joint_log_proba(rows) for rows in (constant, elsewhere))
        np.testing.assert_array_equal(there, here)


# ---------------------------------------------------------------------- missing cells


@pytest.mark.parametrize("way", [{}, {"shrinkage": 0.2}, {"prior": NormalInverseWishart()}], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_a_row_with_missing_cells_has_the_density_of_the_others(form, way):
    if form == "spherical" and "shrinkage" in way:
        return
    model = GaussianClassifier(covariance=form, **way).fit(X, Y)
    holes = with_holes()
    holes[0] = np.nan
    found = model.predict_joint_log_proba(holes)
    degrees = model._densities.degrees
    for i in range(20):
        there = ~np.isnan(holes[i])
        for k in range(3):
            mean, covariance = model.means_[k][there], model.covariances_[k][np.ix_(there, there)]
            if not there.any():
                expected = 0.0
            elif np.isinf(degrees[k]):
                expected = stats.multivariate_normal.logpdf(holes[i, there], mean, covariance)
            elif form in ("diagonal", "shared_diagonal"):
                expected = stats.t.logpdf(holes[i, there], degrees[k], mean, np.sqrt(np.diagonal(covariance))).sum()
            else:
                expected = stats.multivariate_t.logpdf(holes[i, there], mean, covariance, degrees[k])
            assert found[i, k] == pytest.approx(np.log(1 / 3) + expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")
def test_a_tiny_class_of_nearly_bound_columns_has_a_density_of_the_cells_that_are_there():
    # Its covariance has variances 1e-9 and 1e-6 of what is usual at once: as a sum of squares it is not positive.
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 5))
    rows[:, 1] = rows[:, 0] + 1e-3 * rows[:, 1]
    model = GaussianClassifier().fit(rows, np.repeat([0, 1], [57, 3]))
    row = rows[:1].copy()
    row[0, 4] = np.nan
    found = model.predict_joint_log_proba(row)[0]
    with mpmath.workdps(60):
        for k, share in enumerate([57, 3]):
            root = mpmath.matrix(model._densities.scaled_root(k)[:4].tolist())
            scale = model._densities.blend.yardstick.scale[:4]
            covariance, z = root * root.T, mpmath.matrix(((row[0, :4] - model.means_[k, :4]) / scale).tolist())
            distance = (z.T * mpmath.inverse(covariance) * z)[0] + mpmath.log(mpmath.det(covariance))
            expected = mpmath.log(mpmath.mpf(share) / 60) - (distance + 4 * mpmath.log(2 * mpmath.pi)) / 2
            # The root has a condition of 10^6: so many of the sixteen digits go.
            np.testing.assert_allclose(found[k], float(expected) - np.log(scale).sum(), rtol=1e-6)
    assert model.predict(row) == [0]


def test_available_cells_of_independent_columns_are_those_of_naive_bayes():
    holes = with_holes()
    expected = GaussianNB(var_smoothing=0.0, missing="ignore").fit(holes, Y).predict_log_proba(holes)
    found = GaussianClassifier(covariance="diagonal").fit(holes, Y).predict_log_proba(holes)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_covariances_of_pairs_are_made_possible_ones():
    # Each pair of columns is seen in other rows, with correlations that no three columns can have together.
    rng = np.random.default_rng(0)
    a, b, c = rng.standard_normal((3, 60))
    nan = np.full(60, np.nan)
    rows = np.r_[np.c_[a, a, nan], np.c_[nan, b, b], np.c_[c, nan, -c]]
    model = GaussianClassifier().fit(rows, np.zeros(180, dtype=int))
    values = np.linalg.eigvalsh(model.covariances_[0])
    np.testing.assert_allclose(values, values[-1] * np.array([0.5, 1.0, 1.0]), rtol=0.2)  # -1, 2 and 2, but for chance
    assert np.isfinite(model.log_evidence(rng.standard_normal((5, 3)))).all()


# ---------------------------------------------------------------------- what it shows


@pytest.mark.parametrize("way", [{}, {"shrinkage": 0.3}, {"prior": NormalInverseWishart(degrees=20.0)}], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_samples_have_the_moments_of_the_model(form, way):
    if form == "spherical" and "shrinkage" in way:
        return
    model = GaussianClassifier(covariance=form, **way).fit(X, Y)
    drawn, labels = model.sample(60_000, random_state=0)
    degrees = model._densities.degrees
    for k in range(3):
        rows = drawn[labels == k]
        widening = degrees[k] / (degrees[k] - 2) if np.isfinite(degrees[k]) else 1.0
        deviation = np.sqrt(np.diagonal(model.covariances_[k]) * widening)
        # Five standard errors of means and covariances of 20,000 rows.
        assert (np.abs(rows.mean(axis=0) - model.means_[k]) < 5 * deviation / np.sqrt(len(rows))).all()
        error = (np.cov(rows.T) - model.covariances_[k] * widening) / deviation / deviation[:, None]
        assert np.abs(error).max() < 5 * np.sqrt(2 / len(rows)) * 1.5


@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")  # of columns that are bound
def test_samples_of_bound_columns_are_bound():
    model = GaussianClassifier().fit(np.column_stack([X, X[:, 0] - X[:, 1]]), Y)
    drawn, _ = model.sample(100, random_state=1)
    np.testing.assert_allclose(drawn[:, 4], drawn[:, 0] - drawn[:, 1], atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", [{}, {"shrinkage": 0.3}, {"prior": NormalInverseWishart()}], ids=str)
def test_contributions_add_up_to_the_log_odds(form, way):
    if form == "spherical" and "shrinkage" in way:
        return
    model = GaussianClassifier(covariance=form, **way).fit(X, Y)
    holes = with_holes()
    reasons = model.explain(holes, against=0)
    joint = model.predict_joint_log_proba(holes)
    chosen = joint.argmax(axis=1)
    opposed = np.where(chosen == 0, np.where(joint[:, 1] > joint[:, 2], 1, 2), 0)
    expected = joint[np.arange(150), chosen] - joint[np.arange(150), opposed]
    np.testing.assert_allclose(reasons.log_odds, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(reasons.intercept + reasons.contributions.sum(axis=1), expected, rtol=1e-9, atol=1e-9)
    assert (reasons.contributions[np.isnan(holes)] == 0).all()


def test_where_the_covariance_is_shared_a_column_adds_a_line_in_its_own_value():
    model = GaussianClassifier(covariance="shared").fit(X, Y)
    form = model.to_linear()
    rows = np.repeat(X[:1], 3, axis=0)
    rows[1:, 2] += [0.01, 0.02]
    added = model.explain(rows, against=1).contributions
    weight = (form.weights[0] - form.weights[1])[2]
    np.testing.assert_allclose(np.diff(added[:, 2]), 0.01 * weight, rtol=1e-9)
    assert np.abs(np.diff(np.delete(added, 2, axis=1), axis=0)).max() < 1e-12


def test_where_columns_are_independent_a_column_adds_its_own_density():
    model = GaussianClassifier(covariance="diagonal").fit(X, Y)
    full = model.with_covariance("full")
    reasons = model.explain(X[60:61], against=2)
    sd = np.sqrt(np.diagonal(model.covariances_, axis1=1, axis2=2))
    terms = stats.norm.logpdf(X[60], model.means_, sd)
    np.testing.assert_allclose(reasons.contributions[0], terms[1] - terms[2], rtol=1e-9)
    assert not np.allclose(full.explain(X[60:61], against=2).contributions, reasons.contributions)


@pytest.mark.parametrize("form", FORMS)
def test_a_change_that_is_said_to_turn_the_decision_turns_it(form):
    model = GaussianClassifier(covariance=form).fit(X, Y)
    turned = 0
    for i in (55, 70, 83, 106, 133):
        for turn in model.explain(X[i : i + 1])[0].turns:
            changed = X[i : i + 1].copy()
            j = int(turn.column[1:])
            changed[0, j] = turn.value + np.copysign(1e-6, turn.value - changed[0, j])
            assert model.predict(changed)[0] != model.predict(X[i : i + 1])[0]
            turned += 1
    assert turned > 5


def test_frames_come_back_in_the_library_they_came_in():
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    model = GaussianClassifier(covariance="shared").fit(frame, Y)
    drawn, _ = model.sample(3, random_state=0)
    assert isinstance(drawn, pl.DataFrame) and drawn.columns == frame.columns
    tables = model.tables()
    assert set(tables) == {"class", "columns", "covariance"}
    assert isinstance(tables["covariance"], pl.DataFrame)
    np.testing.assert_allclose(tables["covariance"].drop("column").to_numpy(), model.covariances_[0])
    assert set(GaussianClassifier().fit(pd.DataFrame(X), Y).tables()) == {
        "class", "columns", "covariance(0)", "covariance(1)", "covariance(2)",
    }  # fmt: skip
    assert set(GaussianClassifier(covariance="diagonal").fit(frame, Y).tables()) == {"class", "columns"}
    assert model.explain(frame[:2]).columns == ("a", "b", "c", "d")


def test_named_columns_in_another_order_are_put_in_order():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = GaussianClassifier().fit(frame, Y)
    assert model.predict_proba(frame[["d", "b", "a", "c"]]).tobytes() == model.predict_proba(frame).tobytes()
    again = GaussianClassifier().fit(frame, Y).partial_fit(frame[["d", "b", "a", "c"]], Y)
    np.testing.assert_allclose(again.covariances_, model.covariances_, rtol=1e-12)
    with pytest.raises(SchemaError, match=r"column 'a', which GaussianClassifier was fitted with, is missing; X has"):
        model.predict(frame.rename(columns={"a": "e"}))


@pytest.mark.parametrize(
    "library", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
def test_columns_that_were_not_fitted_are_left_out_whatever_they_hold(library):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = GaussianClassifier().fit(frame, Y)
    more = library(frame.assign(name="text")[["name", "d", "c", "b", "a"]])
    assert model.predict_proba(more).tobytes() == model.predict_proba(frame).tobytes()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("full", 2 + 12 + 30),
        ("shared", 2 + 12 + 10),
        ("diagonal", 2 + 12 + 12),
        ("shared_diagonal", 2 + 12 + 4),
        ("spherical", 2 + 12 + 3),
    ],
)
def test_parameters_are_counted(form, expected):
    assert GaussianClassifier(covariance=form).fit(X, Y).n_parameters == expected


def test_axes_lead_to_the_first_dimensions_and_rows_with_holes_have_no_place():
    model = GaussianClassifier().fit(X, Y)
    places = model.transform(with_holes())
    assert places.shape == (150, 2) and (np.isnan(places).any(axis=1) == np.isnan(with_holes()).any(axis=1)).all()
    assert model.get_feature_names_out().tolist() == ["gaussianclassifier0", "gaussianclassifier1"]
    assert model.discriminant_axes_.shape == (4, 2)
    within = np.mean([np.cov(model.transform(X[k == Y]).T, bias=True) for k in range(3)], axis=0)
    np.testing.assert_allclose(within, np.eye(2), atol=1e-9)
    assert GaussianClassifier().fit(X, np.zeros(150)).transform(X).shape == (150, 0)


def test_calibration_and_decisions_come_with_it():
    model = GaussianClassifier(calibrate=True).fit(X, Y)
    assert model.calibration_.scored_by == "leave-one-out"
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (model.decide(X) == model.predict(X)).all()
    assert model.partial_fit(X, Y).calibration_.is_stale


# ---------------------------------------------------------------------- files and copies


@pytest.mark.parametrize(
    "parameters",
    [*WAYS, {"shrinkage": "auto", "covariance": "shared"}, {"calibrate": True}, {"missing": "em"},
     {"prior": NormalInverseWishart([0.0] * 4, 2.0, np.eye(4), 9.0), "class_prior": [0.2, 0.3, 0.5]}],
    ids=str,
)  # fmt: skip
def test_a_model_comes_back_from_a_file_to_the_bit_and_goes_on(parameters, tmp_path):
    whole = parameters.get("shrinkage") == "ledoit_wolf"
    table = X if whole else with_holes()
    model = GaussianClassifier(**parameters).fit(table, Y)
    again = reloaded(model, tmp_path / "model.bayes")
    require_same_model(again, model, table)
    assert vars(again).get("shrinkage_") == vars(model).get("shrinkage_")
    copied = pickle.loads(pickle.dumps(model))
    require_same_model(copied, model, table)
    if parameters.get("missing") != "em":
        assert again.partial_fit(table, Y).statistics_ == model.partial_fit(table, Y).statistics_
    assert clone(model).get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("columns.scatter", lambda a: -a, "negative square"),
        ("columns.scatter", lambda a: a * [[[1, 2, 1, 1]]], "not symmetric"),
        ("columns.scatter", lambda a: a + 1e6 * (1 - np.eye(4)), "negative in a direction"),
        ("columns.scatter", lambda a: a[:, :3], "shape"),
        ("columns.mean", lambda a: a * np.nan, "not finite"),
        ("columns.weight", lambda a: a + 1, "counts more rows"),
        ("columns.weight", lambda a: a - 1, "not that of the classes"),
        ("columns.weight", lambda a: a.astype(float), "class_count of int64"),
    ],
)
def test_sums_that_no_rows_can_have_are_not_believed(name, change, message, tmp_path):
    path = tmp_path / "model.bayes"
    save(GaussianClassifier().fit(X, Y), path)
    document, arrays = unpacked(path.read_bytes())
    path.write_bytes(forged(document, {**arrays, name: np.ascontiguousarray(change(arrays[name]))}))
    with pytest.raises(ModelFileError, match=message):
        load(path)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"covariance": "tied"}, "covariance is 'tied'; it can be one of"),
        ({"estimate": "map"}, "estimate is 'map'"),
        ({"shrinkage": 1.5}, "shrinkage is 1.5; a number must be from 0 to 1"),
        ({"shrinkage": "ledoit"}, "shrinkage is 'ledoit'; give None"),
        ({"shrinkage": True}, "shrinkage is True"),
        ({"shrinkage": 0.1, "covariance": "spherical"}, "cannot be shrunk further"),
        ({"shrinkage": "oas", "covariance": "diagonal"}, "that of a matrix"),
        ({"prior": 3}, "prior is 3; give NormalInverseWishart"),
        ({"prior": NormalInverseWishart(), "shrinkage": 0.1}, "a prior already sets"),
        ({"prior": NormalInverseWishart(), "estimate": "unbiased"}, "a prior already sets"),
        ({"prior": NormalInverseWishart(degrees=3)}, "with 4 columns it must be over 5"),
        ({"prior": NormalInverseWishart(mean=[1, 2])}, "mean has shape"),
        ({"prior": NormalInverseWishart(covariance=-np.eye(4))}, "positive eigenvalues only"),
        ({"prior": NormalInverseWishart(covariance=[1, 1, 1, -1])}, "variances must be over 0"),
        ({"variance_floor": 0}, "variance_floor is 0; it must be a number over 0 and under 1"),
        ({"missing": "drop"}, "missing is 'drop'"),
        ({"calibrate": "yes"}, "calibrate is 'yes'"),
        ({"class_prior": [1.0, 0.5, -0.5]}, "non-negative"),
        ({"class_alpha": -1}, "class_alpha is -1"),
    ],
)
def test_parameters_out_of_range_are_refused_in_words_and_change_nothing(parameters, message):
    model = GaussianClassifier().fit(X, Y)
    before = model.statistics_
    with pytest.raises(ParameterError, match=message):
        model.set_params(**parameters).fit(X[::2], Y[::2])
    assert model.statistics_ is before
    with pytest.raises(ParameterError, match=message):
        GaussianClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize(("strength", "degrees"), [(0, None), (1.0, "many")])
def test_priors_that_mean_nothing_are_refused(strength, degrees):
    with pytest.raises(ParameterError, match="NormalInverseWishart"):
        NormalInverseWishart(strength=strength, degrees=degrees)


@pytest.mark.parametrize("name", ["shared", "spherical"])
def test_shares_are_between_zero_and_one(name):
    with pytest.raises(ParameterError, match=f"Friedman: {name} is 1.1"):
        Friedman(**{name: 1.1})


def test_cells_that_are_no_numbers_are_refused_and_named():
    bad = X.copy()
    bad[3, 1] = np.inf
    with pytest.raises(DataError, match="infinity: inf in row 3, column 'x1'"):
        GaussianClassifier().fit(bad, Y)
    with pytest.raises(DataError, match="NaN: nan in row"):
        GaussianClassifier(missing="error").fit(with_holes(), Y)
    with pytest.raises(DataError, match="NaN"):
        GaussianClassifier(shrinkage="ledoit_wolf").fit(with_holes(), Y)
    with pytest.raises(TypeError, match="toarray"):
        GaussianClassifier().fit(sparse.csr_matrix(X), Y)
    with pytest.raises(DataError, match="column 'x2' overflow"):
        GaussianClassifier().fit(X * [1, 1, 1e200, 1], Y)
    with pytest.raises(SchemaError, match="3 features"):
        GaussianClassifier().fit(X, Y).predict(X[:, :3])
    with pytest.raises(ResourceLimitError, match="scatter matrices of 30000 columns"):
        GaussianClassifier().fit(np.zeros((2, 30_000)), [0, 1])


def test_rows_too_far_away_for_any_class_fall_back_to_the_prior():
    model = GaussianClassifier().fit(X, Y)
    with pytest.warns(UserWarning, match="probability zero to 1 of 1 rows"):
        np.testing.assert_allclose(model.predict_proba([[1e300, -1e300, 1e300, 0.0]]), 1 / 3)


def test_models_that_keep_other_sums_do_not_merge():
    with pytest.raises(StatisticsError, match="fourth moments"):
        GaussianClassifier().fit(X, Y) + GaussianClassifier(shrinkage="ledoit_wolf").fit(X, Y)
    with pytest.raises(ParameterError, match="needs fourth moments"):
        GaussianClassifier().fit(X, Y).set_params(shrinkage="ledoit_wolf").predict(X)


@pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning")
@pytest.mark.parametrize("far", [1e20, 1e160, 1e300])
@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "spherical", "shared_diagonal"])
def test_a_row_however_far_away_is_explained_as_it_is_predicted(covariance: str, far: float) -> None:
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 20)
    model = GaussianClassifier(covariance=covariance).fit(rng.normal(size=(40, 2)) + y[:, None], y)
    for row in ([far, 0.0], [far, -far], [0.0, far]):
        explanation = model.explain([row])[0]
        parts = [explanation.intercept, *(one.contribution for one in explanation.contributions)]
        assert explanation.probability == pytest.approx(model.predict_proba([row])[0, explanation.prediction])
        if not explanation.is_impossible:
            assert sum(parts) == pytest.approx(explanation.log_odds, rel=1e-9)
            assert 1 / (1 + np.exp(-explanation.log_odds)) == pytest.approx(explanation.probability)
