"""The five as scikit-learn estimators: copied, cloned, pickled, set, searched, piped and calibrated."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OrdinalEncoder

from bayeswater import (
    BernoulliNB,
    Beta,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    GaussianNB,
    MultinomialNB,
    NormalInverseGamma,
    ParameterError,
    SchemaError,
    StatisticsError,
    UnseenCategoryWarning,
)

MODELS = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
SMOOTHED = [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
X = np.array([[0, 1], [1, 2], [2, 0], [1, 3], [0, 2], [2, 4]])
Y = np.array(["n", "n", "n", "p", "p", "p"])
FRAME = pd.DataFrame(X, columns=["a", "b"])
IRIS = load_iris()

every_model = pytest.mark.parametrize("kind", MODELS)


# ---------------------------------------------------------------------- copies


@every_model
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_knows_what_the_model_knows_and_lives_on_its_own(kind, copied):
    model = kind().fit(FRAME, Y)
    before = model.predict_log_proba(FRAME)
    twin = copied(model)
    assert twin.statistics_ == model.statistics_
    np.testing.assert_array_equal(twin.predict_log_proba(FRAME), before)
    twin.partial_fit(FRAME[:1], Y[:1])
    assert twin.class_count_.sum() == 7
    assert model.class_count_.sum() == 6
    np.testing.assert_array_equal(model.predict_log_proba(FRAME), before)


@every_model
def test_a_pickle_holds_no_row_and_does_not_grow_with_them(kind):
    small, large = (pickle.dumps(kind().fit(np.tile(X, (n, 1)), np.tile(Y, n))) for n in (1, 100))
    assert abs(len(large) - len(small)) < 64  # larger counts, the same number of them


@every_model
def test_a_pickle_leaves_out_what_was_read_for_predicting(kind):
    model = kind().fit(X, Y)
    model.predict(X)
    assert model._memo
    assert not vars(pickle.loads(pickle.dumps(model))).keys() & set(model._not_sent)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(priors=[0.2, 0.8], var_smoothing=0.1, columns={0: {"prior": NormalInverseGamma()}}),
        MultinomialNB(alpha=[1.0, 2.0], class_alpha=0.5),
        ComplementNB(alpha=0.5, norm=True),
        BernoulliNB(binarize=1.0, missing="ignore", columns={1: {"prior": Beta(1, 2)}}),
        CategoricalNB(unseen="error", min_categories=4, columns={0: {"prior": Dirichlet(2.0)}}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_clone_has_the_parameters_and_nothing_learned(model):
    twin = clone(model.fit(X, Y))
    assert not hasattr(twin, "statistics_")
    assert repr(twin) == repr(model)
    assert twin.fit(X, Y).statistics_ == model.statistics_
    np.testing.assert_array_equal(twin.predict_log_proba(X), model.predict_log_proba(X))


# ---------------------------------------------------------------------- parameters are read when needed


@pytest.mark.parametrize("kind", SMOOTHED)
@pytest.mark.parametrize("alpha", [0.5, 0.0, [0.25, 3.0]])
def test_another_alpha_is_read_off_the_same_sums(kind, alpha):
    model = kind().fit(X, Y)
    model.predict(X)
    sums = model.statistics_
    model.set_params(alpha=alpha)
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(X), kind(alpha=alpha).fit(X, Y).predict_joint_log_proba(X)
    )
    assert model.statistics_ is sums


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (GaussianNB, {"var_smoothing": 0.5}),
        (GaussianNB, {"priors": [0.9, 0.1]}),
        (GaussianNB, {"class_alpha": 2.0}),
        (GaussianNB, {"columns": {"x0": {"prior": NormalInverseGamma(mean=1.0)}}}),
        (MultinomialNB, {"fit_prior": False}),
        (MultinomialNB, {"class_prior": [0.9, 0.1]}),
        (ComplementNB, {"norm": True}),
        (BernoulliNB, {"columns": {0: {"prior": Beta(3, 1)}}}),
        (CategoricalNB, {"columns": {0: {"prior": Dirichlet([1, 2, 3])}}}),
        (CategoricalNB, {"class_alpha": 1.0}),
    ],
    ids=str,
)
def test_other_parameters_are_read_off_the_same_sums(kind, parameters):
    model = kind().fit(X[1:], Y[1:])
    model.predict(X)
    fresh = kind(**parameters).fit(X[1:], Y[1:])
    np.testing.assert_array_equal(
        model.set_params(**parameters).predict_joint_log_proba(X), fresh.predict_joint_log_proba(X)
    )
    np.testing.assert_array_equal(model.loo_predict_log_proba(X[1:], Y[1:]), fresh.loo_predict_log_proba(X[1:], Y[1:]))


@every_model
def test_predicting_writes_nothing_but_what_it_has_read(kind):
    model = kind().fit(X, Y)
    before = {name: value for name, value in model.__dict__.items() if name not in model._not_sent}
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        getattr(model, method)(X)
    model.loo_predict_log_proba(X, Y)
    model.tables()
    assert {name: value for name, value in model.__dict__.items() if name not in model._not_sent} == before


# ---------------------------------------------------------------------- fitting again


@every_model
def test_fitting_again_forgets_everything(kind):
    model = kind().fit(FRAME, Y)
    model.predict(FRAME)
    other = np.arange(9).reshape(3, 3) % 4
    model.fit(other, [5, 6, 7])
    assert model.classes_.tolist() == [5, 6, 7]
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    assert model.statistics_ == kind().fit(other, [5, 6, 7]).statistics_
    assert isinstance(model.tables()["class"], pa.Table)
    model.fit(FRAME, Y)
    assert model.feature_names_in_.tolist() == ["a", "b"]


@every_model
@pytest.mark.parametrize(
    "make", [lambda: FRAME, lambda: pl.DataFrame(FRAME), lambda: pa.table(FRAME), lambda: pa.table(FRAME).to_reader()]
)
def test_names_of_columns_are_known_whatever_the_library(kind, make):
    model = kind().fit(make(), Y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.n_features_in_ == 2


@every_model
def test_columns_without_string_names_have_no_names(kind):
    model = kind().fit(pd.DataFrame(X), Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.partial_fit(X, Y).class_count_.sum() == 12


@every_model
def test_names_of_several_types_are_refused_as_scikit_learn_does(kind):
    model = kind()
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        model.fit(FRAME.set_axis(["a", 1], axis=1), Y)
    assert not hasattr(model, "statistics_")


@every_model
@pytest.mark.parametrize(("first", "then"), [(FRAME, X), (X, FRAME)], ids=["frame, array", "array, frame"])
def test_a_frame_and_an_array_of_the_same_columns_go_together_with_a_warning(kind, first, then):
    model = kind().fit(first, Y)
    names = getattr(model, "feature_names_in_", None)
    with pytest.warns(UserWarning, match=r"X (has|does not have valid) feature names"):
        model.partial_fit(then, Y)
    assert model.statistics_ == kind().fit(first, Y).partial_fit(first, Y).statistics_
    assert getattr(model, "feature_names_in_", None) is names
    with pytest.warns(UserWarning, match="feature names"):
        model.forget(then[:1], Y[:1])
    assert model.class_count_.tolist() == [5, 6]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_one_column_of_another_name_is_told_by_name_in_frames_of_every_library(frame):
    rows, labels = {"a": [1.0, 2.0, 3.0, 4.0]}, [0, 0, 1, 1]
    model = GaussianNB().fit(frame(rows), labels)
    with pytest.raises(SchemaError, match="feature names"):
        model.predict(frame({"b": rows["a"]}))
    unnamed = GaussianNB().fit(np.array([rows["a"]]).T, labels)
    with pytest.warns(UserWarning, match="X has feature names"):
        assert unnamed.predict(frame(rows)).tolist() == labels


@every_model
def test_a_model_that_was_merged_keeps_names_and_library(kind):
    model = kind().fit(FRAME, Y) + kind().fit(FRAME, Y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert isinstance(model.tables()["class"], pd.DataFrame)


# ---------------------------------------------------------------------- unseen categories


def test_one_warning_names_column_label_and_rows():
    model = CategoricalNB().fit(pd.DataFrame({"colour": ["red", "blue"], "size": ["S", "M"]}), [0, 1])
    rows = pd.DataFrame({"colour": ["red", "green", "green"], "size": ["XL", "S", "M"]})
    with pytest.warns(UnseenCategoryWarning) as caught:
        answer = model.predict_proba(rows)
    assert [str(w.message) for w in caught] == [
        "categories that were never counted are left out: column 'colour' = 'green' in 2 of 3 rows; "
        "column 'size' = 'XL' in 1 of 3 rows"
    ]
    assert caught[0].filename == __file__
    missing = rows.replace(["green", "XL"], None)
    np.testing.assert_array_equal(answer, model.set_params(missing="ignore").predict_proba(missing))


def test_an_unseen_code_is_left_out_with_a_warning():
    model = CategoricalNB().fit(X, Y)
    with pytest.warns(UnseenCategoryWarning, match="column 'x1' = 7 in 1 of 1 rows"):
        answer = model.predict_proba([[1, 7]])
    alone = CategoricalNB().fit(X[:, :1], Y)
    np.testing.assert_allclose(answer, alone.predict_proba([[1]]), rtol=1e-15)


@pytest.mark.parametrize("alpha", [0.0, 1e-11])
@pytest.mark.parametrize("kind", SMOOTHED)
def test_a_small_alpha_is_raised_with_one_warning_where_it_is_not_forced(kind, alpha):
    with pytest.warns(UserWarning, match=r"setting alpha = 1.0e-10. Use `force_alpha=True`") as caught:
        model = kind(alpha=alpha, force_alpha=False).fit(X, Y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(model.predict_log_proba(X), kind(alpha=1e-10).fit(X, Y).predict_log_proba(X))


# ---------------------------------------------------------------------- in company


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (GaussianNB(), 0.9),
        (make_pipeline(KBinsDiscretizer(4, encode="ordinal"), CategoricalNB()), 0.85),
        (make_pipeline(KBinsDiscretizer(4), BernoulliNB()), 0.85),
        (make_pipeline(MinMaxScaler(clip=True), MultinomialNB()), 0.6),
        (make_pipeline(MinMaxScaler(clip=True), ComplementNB()), 0.6),
    ],
    ids=["GaussianNB", "CategoricalNB", "BernoulliNB", "MultinomialNB", "ComplementNB"],
)
@pytest.mark.filterwarnings("ignore:The current default behavior, quantile_method:FutureWarning")
def test_cross_validation_takes_the_model_in_a_pipeline(model, least):
    assert cross_val_score(model, IRIS.data, IRIS.target, cv=5).mean() >= least
    assert cross_val_predict(model, IRIS.data, IRIS.target, cv=5, method="predict_proba").shape == (150, 3)


def test_a_grid_is_searched_over_smoothing_and_priors():
    grid = {"var_smoothing": [1e-9, 0.1], "columns": [None, {0: {"prior": NormalInverseGamma(mean=5.0)}}]}
    search = GridSearchCV(GaussianNB(), grid, cv=3).fit(IRIS.data, IRIS.target)
    assert search.best_score_ >= 0.9
    assert search.best_estimator_.get_params()["var_smoothing"] in grid["var_smoothing"]


@every_model
def test_a_calibrated_model_is_calibrated(kind):
    data = np.round(IRIS.data).astype(int)
    model = CalibratedClassifierCV(kind(), cv=3).fit(data, IRIS.target)
    np.testing.assert_allclose(model.predict_proba(data).sum(axis=1), 1.0, rtol=1e-12)
    assert model.score(data, IRIS.target) > 0.5


def test_columns_of_words_go_through_a_pipeline_with_their_names():
    rows = pd.DataFrame({"colour": ["red", "blue"] * 10, "size": ["S", "M", "L", "S"] * 5})
    encoder = make_column_transformer((OrdinalEncoder(), ["colour", "size"])).set_output(transform="pandas")
    y = np.arange(20) % 2
    assert make_pipeline(encoder, CategoricalNB()).fit(rows, y).score(rows, y) == 1.0
    assert CategoricalNB().fit(rows, y).score(rows, y) == 1.0  # it needs no encoder


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB])
def test_texts_are_counted_and_classified(kind):
    texts = ["cheap pills now", "meeting at noon", "cheap offer", "lunch meeting", "pills offer now", "noon lunch"]
    model = make_pipeline(CountVectorizer(), kind()).fit(texts, [1, 0, 1, 0, 1, 0])
    assert model.predict(["cheap pills", "lunch at noon"]).tolist() == [1, 0]


@every_model
def test_weights_reach_the_model_through_scikit_learn(kind):
    weight = np.array([1, 2, 0, 1, 3, 1])
    scores = kind().fit(X, Y, weight).score(X, Y, sample_weight=weight)
    predicted = kind().fit(X, Y, weight).predict(X)
    assert scores == pytest.approx(np.average(predicted == Y, weights=weight))


# ---------------------------------------------------------------------- declared classes


@every_model
def test_a_declared_class_that_no_row_has_is_never_predicted(kind):
    model = kind().partial_fit(X, Y, classes=["m", "n", "p"])
    assert model.classes_.tolist() == ["m", "n", "p"]
    assert model.class_count_.tolist() == [0, 3, 3]
    if kind is not ComplementNB:  # whose scores know no prior
        answer = model.predict_proba(X)
        assert (answer[:, 0] == 0).all()
        assert not np.isnan(answer).any()


@every_model
def test_leaving_out_a_row_of_a_class_that_was_never_counted_is_refused(kind):
    model = kind().partial_fit(X, Y, classes=["m", "n", "p"])
    with pytest.raises(ValueError, match="y names a class of which no row was counted"):
        model.loo_predict_log_proba(X[:1], ["m"])


def test_the_first_call_of_partial_fit_may_name_the_classes_again():
    model = GaussianNB().partial_fit(X, Y, classes=["n", "p"])
    model.partial_fit(X, Y, classes=["p", "n"])
    assert model.class_count_.tolist() == [6, 6]


# ---------------------------------------------------------------------- attributes


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, CategoricalNB])
def test_class_priors_are_read_as_logarithms(kind):
    np.testing.assert_allclose(
        np.exp(kind(class_alpha=1.0).fit(X[1:], Y[1:]).class_log_prior_), [3 / 7, 4 / 7], rtol=1e-15
    )


def test_fitted_attributes_are_those_of_scikit_learn():
    assert GaussianNB(priors=[0.25, 0.75]).fit(X, Y).class_prior_.tolist() == [0.25, 0.75]
    assert MultinomialNB().fit(X, Y).feature_count_.tolist() == [[3, 3], [3, 9]]
    assert ComplementNB().fit(X, Y).feature_all_.tolist() == [6, 12]
    assert BernoulliNB().fit(X, Y).feature_count_.tolist() == [[2, 2], [2, 3]]
    model = CategoricalNB().fit(X, Y)
    assert [counts.tolist() for counts in model.category_count_] == [
        [[1, 1, 1], [1, 1, 1]],
        [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]],
    ]
    assert model.n_categories_.tolist() == [3, 5]


@every_model
def test_no_attribute_of_a_new_model_is_there_yet(kind):
    for name in (
        "statistics_",
        "classes_",
        "class_count_",
        "theta_",
        "feature_count_",
        "n_categories_",
        "n_parameters",
    ):
        assert not hasattr(kind(), name)


def test_a_list_of_models_is_merged_by_sum():
    X, y = np.arange(24).reshape(12, 2) % 5, np.arange(12) % 2
    parts = [MultinomialNB().fit(X[i::3], y[i::3]) for i in range(3)]
    assert sum(parts).statistics_ == MultinomialNB().fit(X, y).statistics_
    assert sum(part.statistics_ for part in parts) == sum(parts).statistics_


def test_another_threshold_after_the_rows_were_counted_is_refused():
    X, y = np.array([[1.0, 5.0], [6.0, 0.0]]), [0, 1]
    model = BernoulliNB().fit(X, y).set_params(binarize=4)
    for call in (lambda: model.predict(X), lambda: model.partial_fit(X, y), lambda: model.forget(X[:1], y[:1])):
        with pytest.raises(ParameterError, match=r"binarize is 4, but the rows were counted as present over 0.0"):
            call()
    assert model.fit(X, y).threshold_ == 4


def test_a_class_with_a_given_prior_cannot_be_forgotten_altogether():
    model = GaussianNB(priors=[0.5, 0.5]).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    with pytest.raises(StatisticsError, match=r"no row of class 'b' would remain, but priors gives it a probability"):
        model.forget([[5.0]], ["b"])
