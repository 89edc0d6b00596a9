"""`Calibrated`: its scores are those of refits, its figures those of rows held out, its manners scikit-learn's."""

import io
import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB as PeerGaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeswater import (
    BayesWarning,
    BernoulliNB,
    Calibrated,
    CategoricalNB,
    ComplementNB,
    DataError,
    GaussianNB,
    MultinomialNB,
    ParameterError,
)
from bayeswater.decision import calibration_choice
from bayeswater.decision.calibration_maps import MAPS, IsotonicCalibration, Temperature, VectorScaling
from bayeswater.decision.calibration_metrics import ece

METHODS = ["auto", *MAPS]


def dealt(n_folds: int) -> StratifiedKFold:
    """Give the folds that a number stands for."""
    return StratifiedKFold(n_folds, shuffle=True, random_state=0)


@pytest.mark.filterwarnings("ignore::bayeswater.PrecisionWarning")  # the checks have classes of two rows
@parametrize_with_checks([Calibrated(PeerGaussianNB())])
def test_every_check_of_scikit_learn_passes(estimator, check):
    # check_array_api_input skips itself here: `tests/peers/test_check_estimator.py` runs it.
    check(estimator)


def small_codes(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    noise = rng.integers(0, 4, (n, 1))  # copied twice: naive Bayes counts its word three times
    X = np.hstack([(y[:, None] + rng.integers(0, 2, (n, 2))) % 4, noise, noise, noise])
    return X, y


# ---------------------------------------------------------------------- leave-one-out


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(var_smoothing=1e-3),
        MultinomialNB(),
        ComplementNB(),
        BernoulliNB(binarize=1.0),
        CategoricalNB(min_categories=4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_calibration_by_leave_one_out_equals_calibration_on_the_scores_of_n_refits(model):
    X, y = small_codes()
    refits = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        refits.append(clone(model).fit(X[others], y[others]).predict_log_proba(X[[i]])[0])
    plain = clone(model).fit(X, y).predict_log_proba(X)
    for method in METHODS:
        found = Calibrated(model, method=method).fit(X, y)
        expected = MAPS[found.calibration_.method].fit(refits, y).apply(plain)
        # Scores agree to 1e-12; the minimum of the loss is found until it is flat to 1e-13, the parameters to its root.
        np.testing.assert_allclose(found.predict_log_proba(X), expected, rtol=1e-5, atol=1e-5, err_msg=method)
        assert found.calibration_.scored_by == "leave-one-out"
        assert found.calibration_.n_used == len(y)


class CountingFits(GaussianNB):
    """Counts how often it is fitted."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        CountingFits.fits += 1
        return super().fit(X, y, sample_weight)


def test_a_classifier_with_leave_one_out_is_fitted_once():
    CountingFits.fits = 0
    Calibrated(CountingFits()).fit(*load_iris(return_X_y=True))
    assert CountingFits.fits == 1


def test_rows_alone_in_their_class_are_left_out_and_counted():
    X, y = small_codes()
    X, y = np.vstack([X, X[:2]]), np.append(y, [7, 9])
    model = Calibrated(CategoricalNB(), method="temperature").fit(X, y)
    assert (model.calibration_.n_used, model.calibration_.n_left_out) == (60, 2)
    assert "left out: 2 rows that would leave no row of their class to learn from" in str(model.calibration_)
    assert model.predict_proba(X).shape == (62, 5)
    # A row of weight 2 is two rows: one of them stays.
    weight = np.append(np.ones(60), [2, 1])
    heavier = Calibrated(CategoricalNB()).fit(X, y, sample_weight=weight)
    assert heavier.calibration_.n_left_out == 1
    assert "left out: 1 row that would leave no row of its class to learn from" in str(heavier.calibration_)


def test_where_every_row_is_alone_a_warning_says_that_probabilities_stay():
    X = np.array([[0], [1], [2]])
    with pytest.warns(BayesWarning, match="every row is alone"):
        model = Calibrated(CategoricalNB()).fit(X, ["a", "b", "c"])
    np.testing.assert_allclose(model.predict_log_proba(X), model.estimator_.predict_log_proba(X), atol=1e-15)
    assert (model.calibration_.before, model.calibration_.after) == (None, None)


@pytest.mark.parametrize("method", ["temperature", "vector", "beta", "isotonic"])
def test_weights_equal_repetition(method):
    X, y = small_codes()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = Calibrated(CategoricalNB(min_categories=4), method=method).fit(X, y, sample_weight=weight)
    repeated = Calibrated(CategoricalNB(min_categories=4), method=method).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)  # see above


# ---------------------------------------------------------------------- cross-fitting


@pytest.mark.parametrize("method", METHODS)
def test_cross_fitting_equals_a_map_on_cross_validated_predictions(method):
    X, y = load_wine(return_X_y=True)
    found = Calibrated(PeerGaussianNB(), method=method, cv=4).fit(X, y)
    scores = cross_val_predict(PeerGaussianNB(), X, y, cv=dealt(4), method="predict_log_proba")
    expected = MAPS[found.calibration_.method].fit(scores, y).apply(PeerGaussianNB().fit(X, y).predict_log_proba(X))
    np.testing.assert_array_equal(found.predict_log_proba(X), expected)
    assert found.calibration_.scored_by == "cross-fitting in 4 folds"


def test_folds_given_as_a_number_a_splitter_and_a_list_are_the_same():
    X, y = load_iris(return_X_y=True)
    folds = [3, dealt(3), list(dealt(3).split(X, y)), dealt(3).split(X, y)]
    first, *others = (Calibrated(PeerGaussianNB(), cv=cv).fit(X, y).predict_proba(X) for cv in folds)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_rows_of_weight_zero_have_no_influence_on_folds_or_figures():
    X, y = load_iris(return_X_y=True)
    weight = np.ones(len(y))
    weight[::4] = 0
    keep = weight > 0
    whole = Calibrated(PeerGaussianNB()).fit(X, y, sample_weight=weight)
    part = Calibrated(PeerGaussianNB()).fit(X[keep], y[keep], sample_weight=weight[keep])
    np.testing.assert_array_equal(whole.predict_proba(X), part.predict_proba(X))
    assert str(whole.calibration_) == str(part.calibration_)
    # Splits that are listed number all rows.
    listed = Calibrated(PeerGaussianNB(), cv=list(KFold(3, shuffle=True, random_state=0).split(X)))
    assert listed.fit(X, y, sample_weight=weight).calibration_.n_used == keep.sum()


def test_rows_whose_class_a_fold_has_not_learned_are_left_out_and_counted():
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[0] = 5
    model = Calibrated(PeerGaussianNB()).fit(X, y)
    assert (model.calibration_.n_used, model.calibration_.n_left_out) == (149, 1)
    assert np.isfinite(model.predict_proba(X)).all()


def test_margins_are_read_as_log_odds():
    X, y = load_breast_cancer(return_X_y=True)
    model = Calibrated(make_pipeline(StandardScaler(), LinearSVC()), method="vector").fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < 0.1  # chance is 0.66
    many = Calibrated(make_pipeline(StandardScaler(), LinearSVC()), method="temperature").fit(
        *load_wine(return_X_y=True)
    )
    assert many.calibration_.after.ece < many.calibration_.before.ece


def test_a_classifier_without_log_probabilities_is_calibrated_by_its_probabilities():
    class OnlyProbabilities(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.inner_ = PeerGaussianNB().fit(X, y)
            self.classes_ = self.inner_.classes_
            return self

        def predict_proba(self, X):
            return self.inner_.predict_proba(X)

    X, y = load_iris(return_X_y=True)
    found = Calibrated(OnlyProbabilities(), method="temperature").fit(X, y).predict_proba(X)
    # A logarithm of a rounded probability is off by rounding / probability, and the temperature with it.
    np.testing.assert_allclose(
        found, Calibrated(PeerGaussianNB(), method="temperature").fit(X, y).predict_proba(X), atol=1e-4
    )


def test_a_frozen_classifier_is_calibrated_on_rows_that_are_new_to_it():
    X, y = load_breast_cancer(return_X_y=True)
    X_old, X_new, y_old, y_new = train_test_split(X, y, random_state=0)
    fitted = GaussianNB().fit(X_old, y_old)
    model = Calibrated(FrozenEstimator(fitted), method="temperature").fit(X_new, y_new)
    assert model.calibration_.map == Temperature.fit(fitted.predict_log_proba(X_new), y_new)


# ---------------------------------------------------------------------- certain, and wrong


def test_a_tree_that_is_certain_is_left_with_the_share_of_rows_it_gets_right():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    tree = DecisionTreeClassifier(random_state=0)
    model = Calibrated(tree).fit(X_train, y_train)
    report = model.calibration_
    assert report.before.log_loss == np.inf
    assert np.isfinite(report.after.log_loss)
    assert report.n_impossible > 0
    assert "called impossible" in str(report)
    # 450 test rows at an accuracy of 0.85 have a standard error of 0.017: three of them.
    assert ece(y_test, model.predict_proba(X_test)) < 0.05 < ece(y_test, model.estimator_.predict_proba(X_test))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", [KNeighborsClassifier(3), CategoricalNB(alpha=0.0, min_categories=4)], ids=repr)
@pytest.mark.filterwarnings("ignore::bayeswater.ImpossibleEvidenceWarning")
def test_zeros_never_make_nan(model, method):
    X, y = small_codes()
    proba = Calibrated(model, method=method).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=0, atol=1e-14)


# ---------------------------------------------------------------------- the choice and the report


class FixedScores(ClassifierMixin, BaseEstimator):
    """Reads its log-odds from the first column, and has leave-one-out since it learns nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_log_proba(self, X):
        return -np.logaddexp(0, np.column_stack([X[:, 0], -X[:, 0]]))

    def loo_predict_log_proba(self, X, y):
        return self.predict_log_proba(X)


def labels_by(log_odds: np.ndarray, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(len(log_odds)) < 1 / (1 + np.exp(-log_odds))).astype(int)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [100, 4000])
def test_where_a_temperature_is_the_truth_no_map_of_more_parameters_is_taken(seed, n):
    x = 3 * np.random.default_rng(seed + 100).normal(size=n)
    model = Calibrated(FixedScores()).fit(x[:, None], labels_by(x / 2, seed))
    assert model.calibration_.method == "temperature"


def test_a_shift_is_found_by_platt_and_a_step_by_isotonic():
    x = 3 * np.random.default_rng(7).normal(size=4000)
    shifted = Calibrated(FixedScores()).fit(x[:, None], labels_by(x + 1.5, 0)).calibration_
    assert isinstance(shifted.map, VectorScaling)
    stepped = Calibrated(FixedScores()).fit(x[:, None], labels_by(np.where(x > 0, 2.0, -0.5), 0)).calibration_
    assert isinstance(stepped.map, IsotonicCalibration)


def test_a_gain_within_two_standard_errors_is_noise():
    gain = np.array([0.3, -0.1, 0.2, 0.0])
    mean, error = gain.mean(), gain.std(ddof=1) / 2
    assert mean < 2 * error
    assert not calibration_choice._gain_is_real(gain, np.ones(4))
    assert calibration_choice._gain_is_real(gain, np.full(4, 16.0))  # the same rows, sixteen times
    assert not calibration_choice._gain_is_real(np.array([5.0]), np.ones(1))  # one row tells nothing


def test_one_row_that_is_wrong_by_thousands_of_nats_does_not_hide_what_the_others_show():
    x = 3 * np.random.default_rng(7).normal(size=4000)
    y = labels_by(np.where(x > 0, 2.0, -0.5), 0)
    for wrong in (-50.0, -5000.0):
        report = Calibrated(FixedScores()).fit(np.append(x, wrong)[:, None], np.append(y, 1)).calibration_
        assert isinstance(report.map, IsotonicCalibration)


def test_rows_that_come_sorted_are_calibrated_as_in_any_order():
    rng = np.random.default_rng(0)
    day = np.sort(rng.uniform(0, 10, 1000))  # what a column says changes with the days
    y = rng.integers(0, 2, 1000)
    X = np.column_stack([day, np.where(day < 5, y, 1 - y) + rng.normal(size=1000)])
    mixed = rng.permutation(1000)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    as_sorted = Calibrated(tree, method="temperature").fit(X, y).calibration_
    as_mixed = Calibrated(tree, method="temperature").fit(X[mixed], y[mixed]).calibration_
    # Folds of consecutive days would give 0.72 in place of 0.61; folds dealt in two ways differ by about a hundredth.
    assert as_sorted.after.log_loss == pytest.approx(as_mixed.after.log_loss, abs=0.05)


def test_figures_are_those_of_rows_that_neither_classifier_nor_map_had_seen():
    X, y = load_breast_cancer(return_X_y=True)
    report = Calibrated(GaussianNB(), method="isotonic", cv=3).fit(X, y).calibration_
    scores = GaussianNB().fit(X, y).loo_predict_log_proba(X, y)
    after = np.empty_like(scores)
    for learn, held_out in dealt(3).split(X, y):
        after[held_out] = IsotonicCalibration.fit(scores[learn], y[learn]).apply(scores[held_out])
    assert report.before.log_loss == pytest.approx(-scores[np.arange(len(y)), y].mean(), rel=1e-12)
    assert report.after.log_loss == pytest.approx(-after[np.arange(len(y)), y].mean(), rel=1e-12)
    assert report.before.ece == pytest.approx(ece(y, np.exp(scores)), rel=1e-12)
    assert report.after.ece == pytest.approx(ece(y, np.exp(after)), rel=1e-12)


def test_the_report_prints_what_was_done():
    report = str(Calibrated(GaussianNB()).fit(*load_breast_cancer(return_X_y=True)).calibration_)
    for part in ("temperature", "569 rows", "leave-one-out", "log-loss", "ECE", "before", "after", "isotonic"):
        assert part in report


def test_no_loss_is_printed_as_zero_without_a_sign():
    report = Calibrated(DecisionTreeClassifier()).fit([[0], [0], [0], [1], [1], [1]], list("aaabbb")).calibration_
    assert report.before.log_loss == 0
    assert "-0.0000" not in str(report)


def test_many_rows_are_thinned_for_the_choice_and_all_are_used_for_the_map(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    whole = Calibrated(GaussianNB(), method="temperature").fit(X, y)
    monkeypatch.setattr(calibration_choice, "CHOICE_ROWS", 100)
    thin = Calibrated(GaussianNB(), method="temperature").fit(X, y)
    assert thin.calibration_.map == whole.calibration_.map
    assert thin.calibration_.after != whole.calibration_.after
    kept = [held_out for _, held_out in calibration_choice.thinned([(np.arange(300), np.arange(300, 569))], 569)]
    assert sum(map(len, kept)) == pytest.approx(100 * 269 / 569, abs=1)


def test_naive_bayes_on_dependent_columns_is_put_right_on_new_rows():
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    model = Calibrated(GaussianNB()).fit(X_train, y_train)
    raw, calibrated = model.estimator_.predict_proba(X_test), model.predict_proba(X_test)
    assert log_loss(y_test, calibrated) < 0.5 * log_loss(y_test, raw)
    assert ece(y_test, calibrated) < ece(y_test, raw)


# ---------------------------------------------------------------------- scikit-learn's contract


def test_it_works_in_a_grid_search_and_survives_a_pickle():
    X, y = load_iris(return_X_y=True)
    grid = {"method": ["temperature", "beta"], "estimator__var_smoothing": [1e-9, 1e-2]}
    search = GridSearchCV(Calibrated(GaussianNB()), grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert set(search.best_params_) == set(grid)
    again = pickle.load(io.BytesIO(pickle.dumps(search.best_estimator_)))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    assert clone(again).get_params()["method"] == again.method


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_to_the_classifier_if_it_asks_for_them():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    asking = Calibrated(GaussianNB().set_fit_request(sample_weight=True)).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(asking.estimator_.class_count_, np.bincount(y, weights=weight))
    refusing = Calibrated(GaussianNB().set_fit_request(sample_weight=False)).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(refusing.estimator_.class_count_, [50, 50, 50])
    assert refusing.calibration_.before != asking.calibration_.before
    piped = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False), GaussianNB().set_fit_request(sample_weight=True)
    )
    inner = Calibrated(piped).fit(X, y, sample_weight=weight).estimator_[-1]
    np.testing.assert_array_equal(inner.class_count_, np.bincount(y, weights=weight))


@pytest.mark.usefixtures("routing")
def test_groups_are_routed_to_the_splitter():
    X, y = load_iris(return_X_y=True)
    groups = np.arange(len(y)) % 3
    weight = (np.arange(len(y)) % 7 > 0).astype(float)
    model = Calibrated(PeerGaussianNB().set_fit_request(sample_weight=True), cv=GroupKFold(3))
    assert model.fit(X, y, sample_weight=weight, groups=groups).calibration_.n_used == weight.sum()


def test_weights_that_a_classifier_cannot_take_are_used_for_the_map_with_a_warning():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(BayesWarning, match="calibration alone"):
        Calibrated(KNeighborsClassifier()).fit(X, y, sample_weight=np.arange(150))


def test_frames_sparse_matrices_lists_and_streams_give_the_same():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    import pyarrow as pa

    X, y = small_codes()
    columns = [f"c{j}" for j in range(X.shape[1])]
    expected = Calibrated(CategoricalNB()).fit(X, y).predict_proba(X)
    weight = np.append(np.zeros(10), np.ones(50))
    part = Calibrated(CategoricalNB(min_categories=4)).fit(X[10:], y[10:]).predict_proba(X)
    frame = pandas.DataFrame(X, columns=columns)
    table = pa.table({name: X[:, j] for j, name in enumerate(columns)})
    for rows in (frame, polars.DataFrame(X, schema=columns), table):
        assert np.array_equal(Calibrated(CategoricalNB()).fit(rows, y).predict_proba(rows), expected)
        weighted = Calibrated(CategoricalNB(min_categories=4)).fit(rows, y, sample_weight=weight)
        assert np.array_equal(weighted.predict_proba(rows), part)
        assert weighted.feature_names_in_.tolist() == columns
    stream = table.to_reader()
    assert np.array_equal(Calibrated(CategoricalNB()).fit(stream, y).predict_proba(table), expected)
    assert np.array_equal(Calibrated(CategoricalNB()).fit(X.tolist(), y.tolist()).predict_proba(X.tolist()), expected)
    counted = Calibrated(MultinomialNB()).fit(X, y).predict_proba(X)
    for layout in (sparse.csr_array, sparse.coo_matrix):
        np.testing.assert_allclose(Calibrated(MultinomialNB()).fit(layout(X), y).predict_proba(layout(X)), counted)


def test_labels_of_any_kind_come_back():
    X, y = small_codes()
    names = np.array(["low", "middle", "high"])[y]
    model = Calibrated(CategoricalNB()).fit(X, names)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert set(model.predict(X)) <= set(names)
    assert set(Calibrated(CategoricalNB()).fit(X, y > 0).predict(X).tolist()) <= {True, False}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "platt"}, "method is 'platt'"),
        ({"cv": 1}, "cv is 1"),
        ({"cv": "five"}, "cv is 'five'"),
        ({"cv": True}, "cv is True"),
        ({"estimator": StandardScaler()}, ": nothing to calibrate"),
    ],
)
def test_parameters_out_of_range_are_refused_and_change_nothing(parameters, message):
    X, y = load_iris(return_X_y=True)
    model = Calibrated(PeerGaussianNB()).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ParameterError, match=message):
        model.set_params(**parameters).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_too_few_rows_to_hold_any_out_are_refused():
    with pytest.raises(DataError, match="no class of two rows"):
        Calibrated(PeerGaussianNB()).fit([[0.0], [1.0]], [0, 1])


def test_a_label_for_each_row_is_asked_for():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="y is None"):
        Calibrated(GaussianNB()).fit(X, None)
    with pytest.raises(ValueError, match="inconsistent"):
        Calibrated(GaussianNB()).fit(X, y[:-1], sample_weight=np.append(0.0, np.ones(148)))


def test_folds_of_which_thinning_leaves_nothing_to_learn_or_to_hold_out_are_dropped(monkeypatch):
    monkeypatch.setattr(calibration_choice, "CHOICE_ROWS", 2)  # the first and the last of ten rows
    folds = [([0, 9], [1, 2]), ([1, 2], [0, 9]), ([0, 4], [9, 5])]
    found = calibration_choice.thinned([(np.array(learn), np.array(held_out)) for learn, held_out in folds], 10)
    assert [(learn.tolist(), held_out.tolist()) for learn, held_out in found] == [([0], [9])]
