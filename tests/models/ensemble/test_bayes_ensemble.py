"""`BayesEnsemble` as an estimator: mixed tables, counts that move, what it says of itself, and what it refuses."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from tests.models.ensemble.tables import FEW, mixed_frame

from bayeswater import (
    BayesEnsemble,
    BayesWarning,
    DataError,
    Loss,
    ParameterError,
    SchemaError,
    StatisticsError,
    UnseenCategoryWarning,
)

FRAME, Y = mixed_frame()


def little(preset="balanced", **settings):
    return BayesEnsemble(preset, members=FEW, random_state=0, **settings)


@pytest.fixture(scope="module")
def model():
    return little().fit(FRAME, Y)


# ---------------------------------------------------------------------- tables


@pytest.mark.parametrize("preset", ["balanced", "generative", "best"])
def test_every_preset_learns_a_mixed_table_with_holes(preset):
    members = {"generative": {"kdb": 2, "aode": 2}, "best": {"kdb": 2, "trees-half": 2, **FEW}}.get(preset, FEW)
    train, y = mixed_frame(400, seed=1)
    found = BayesEnsemble(preset, members=members, random_state=0).fit(train, y)
    proba = found.predict_proba(FRAME)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    frequency = np.unique(Y, return_counts=True)[1].max() / len(Y)
    assert found.score(FRAME, Y) > frequency + 0.2
    names = {"balanced": "aode gaussian trees-sqrt trees-all linear", "generative": "kdb aode gaussian"}
    usual = "kdb aode gaussian trees-sqrt trees-half trees-all linear boosted"
    assert [family.name for family in found.report_.families] == names.get(preset, usual).split()


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas])
def test_every_library_of_frames_gives_the_same_model(model, library):
    same = little().fit(library(FRAME), Y)
    np.testing.assert_array_equal(same.predict_log_proba(library(FRAME)), model.predict_log_proba(FRAME))


def test_columns_are_found_by_name_in_any_order(model):
    np.testing.assert_array_equal(model.predict_proba(FRAME[FRAME.columns[::-1]]), model.predict_proba(FRAME))
    with pytest.raises(SchemaError, match="'height'"):
        model.predict(FRAME.drop(columns="height"))


def test_columns_are_read_as_numbers_and_states_and_the_plan_says_why(model):
    assert [column.family for column in model.columns_] == [
        "number",
        "number",
        "categorical",
        "categorical",
        "bernoulli",
    ]
    same = BayesEnsemble(columns=model.columns_, members=FEW, random_state=0).fit(FRAME, Y)
    np.testing.assert_array_equal(same.predict_proba(FRAME), model.predict_proba(FRAME))


def test_identifiers_are_left_out_with_a_warning():
    with pytest.warns(BayesWarning, match="'key' is left out"):
        found = little().fit(FRAME.assign(key=[f"id-{i}" for i in range(len(FRAME))]), Y)
    assert found.columns_["key"].family == "ignored"


def test_a_date_is_its_days_its_weekday_and_its_month():
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=120), "x": np.arange(120.0) % 7})
    found = little().fit(frame, np.where(frame.day.dt.day_of_week < 5, "work", "rest"))
    assert {column.name for column in found.columns_} >= {"day", "day (weekday)", "day (month)"}
    assert found.score(frame, np.where(frame.day.dt.day_of_week < 5, "work", "rest")) == 1.0


def test_a_row_of_missing_cells_has_about_the_class_frequencies():
    rng = np.random.default_rng(0)  # no cell is missing here, so that missing says nothing
    X, y = rng.normal(size=(300, 3)), rng.choice(["a", "b"], 300, p=[0.8, 0.2])
    proba = little().fit(X, y).predict_proba(np.full((1, 3), np.nan))[0]
    assert abs(proba[0] - 0.8) < 0.1  # families smooth, and a pool of columns that say nothing is drawn to the middle


def test_a_category_that_was_never_seen_is_taken_as_missing_with_one_warning(model):
    other = FRAME.iloc[:3].assign(shape="oval")
    with pytest.warns(UnseenCategoryWarning, match="'shape' = 'oval' in 3 of 3 rows"):
        found = model.predict_proba(other)
    np.testing.assert_array_equal(found, model.predict_proba(FRAME.iloc[:3].assign(shape=None)))
    strict = clone(model).set_params(unseen="error").fit(FRAME, Y)
    with pytest.raises(DataError, match="never counted"):
        strict.predict(other)


def test_purely_nominal_and_purely_numeric_tables_are_tables_too():
    nominal = little().fit(FRAME[["colour", "shape"]], Y)
    assert "gaussian" not in [family.name for family in nominal.report_.families]
    numeric = little().fit(FRAME[["height"]], Y)
    assert nominal.predict_proba(FRAME[["colour", "shape"]]).shape == (len(Y), 3)
    assert numeric.score(FRAME[["height"]], Y) > 0.4


def test_many_classes_and_classes_of_one_row_are_learned():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 40
    y[:3] = [100, 101, 102]
    X = np.stack([y + rng.normal(size=200), y // 7 + rng.normal(size=200)], axis=1)
    found = little().fit(X, y)
    assert found.predict_proba(X).shape == (200, 43)
    assert found.report_.n_alone == 3
    assert "3 alone in their class left out" in str(found.report_)
    assert np.isfinite(found.predict_log_proba(X)).all()


# ---------------------------------------------------------------------- counts that move


def test_partial_fit_counts_rows_and_forget_takes_them_out_again(model):
    before = model.predict_log_proba(FRAME)
    moved = pickle.loads(pickle.dumps(model))
    more, y = mixed_frame(80, seed=3)
    moved.partial_fit(more, y)
    assert moved.class_count_.sum() == len(Y) + 80
    assert not np.allclose(moved.predict_log_proba(FRAME), before)
    assert moved.report_.is_stale
    moved.forget(more, y)
    # Means and scatters of the Gaussian are downdated: ten digits remain.
    np.testing.assert_allclose(moved.predict_log_proba(FRAME), before, rtol=1e-8, atol=1e-8)


def test_forgetting_a_row_gives_what_counting_all_others_gives():
    whole = little().fit(FRAME, Y)
    rest = pickle.loads(pickle.dumps(whole)).forget(FRAME.iloc[:50], Y[:50])
    empty = pickle.loads(pickle.dumps(whole)).forget(FRAME.iloc[50:], Y[50:])
    again = (
        empty.forget(FRAME.iloc[:40], Y[:40])
        .partial_fit(FRAME.iloc[50:], Y[50:])
        .partial_fit(FRAME.iloc[:40], Y[:40])
        .forget(FRAME.iloc[:50], Y[:50])
    )
    np.testing.assert_allclose(rest.predict_log_proba(FRAME), again.predict_log_proba(FRAME), rtol=1e-6, atol=1e-7)


def test_a_new_class_is_refused_with_the_way_out_and_changes_nothing(model):
    before = model.class_count_.copy()
    with pytest.raises(DataError, match=re.escape("refresh(X, y)")):
        model.partial_fit(FRAME.iloc[:2], ["low", "huge"])
    np.testing.assert_array_equal(model.class_count_, before)
    with pytest.raises(DataError, match="never counted"):
        model.forget(FRAME.iloc[:2], ["low", "huge"])


def test_refresh_takes_in_new_classes_and_categories_and_equals_a_fit():
    found = little().fit(FRAME, Y)
    frame, y = FRAME.assign(shape=FRAME["shape"].where(FRAME.index % 9 > 0, "oval")), Y.astype(object)
    y[::11] = "huge"
    with pytest.warns(UnseenCategoryWarning):
        found.predict(frame)
    found.refresh(frame, y)
    assert "huge" in found.classes_
    np.testing.assert_array_equal(found.predict_proba(frame), little().fit(frame, y).predict_proba(frame))
    assert not found.report_.is_stale


def test_the_first_partial_fit_is_a_fit():
    found = little().partial_fit(FRAME, Y)
    np.testing.assert_array_equal(found.predict_proba(FRAME), little().fit(FRAME, Y).predict_proba(FRAME))


def test_classes_that_are_declared_are_there_before_they_have_a_row():
    found = little().partial_fit(FRAME, Y, classes=["low", "mid", "top", "vast"])
    assert found.classes_.tolist() == ["low", "mid", "top", "vast"]
    proba = found.predict_proba(FRAME)
    assert np.isfinite(proba).all()
    assert proba[:, 3].max() < 0.2
    found.partial_fit(FRAME[:30], np.repeat("vast", 30))
    assert found.class_count_[3] == 30
    with pytest.raises(DataError, match="classes has the class 'huge'"):
        found.partial_fit(FRAME[:3], Y[:3], classes=["huge"])


def test_rows_that_were_never_counted_are_not_forgotten(model):
    before = model.predict_proba(FRAME)
    strangers, y = mixed_frame(50, seed=123)
    with pytest.raises(StatisticsError):
        model.forget(strangers, y)
    np.testing.assert_array_equal(model.predict_proba(FRAME), before)


def test_what_cannot_be_forgotten_is_told_by_label_with_one_way_out(model):
    with pytest.raises(StatisticsError, match=r"are of class 'mid', and \d+ more are to be forgotten"):
        model.forget(FRAME[Y == "mid"].iloc[:2], ["mid", "mid"], [1e3, 1.0])
    with pytest.raises(StatisticsError) as caught:
        model.forget(FRAME, Y)
    assert str(caught.value) == "no row would remain; make a new model instead"
    with pytest.raises(StatisticsError, match="has not counted all of them; give rows that were counted") as caught:
        model.forget(FRAME.iloc[:1].assign(height=1e3), Y[:1])
    assert "never counted" in str(caught.value.__cause__)


def test_a_row_of_weight_zero_has_no_influence_at_all():
    weight = np.ones(len(Y))
    weight[::3] = 0
    some = little().fit(FRAME[weight > 0], Y[weight > 0])
    np.testing.assert_array_equal(little().fit(FRAME, Y, weight).predict_proba(FRAME), some.predict_proba(FRAME))


# ---------------------------------------------------------------------- what it says of itself


def test_the_report_forecasts_the_error_and_log_loss_of_new_rows():
    train, y = mixed_frame(600, seed=11)
    test, truth = mixed_frame(4000, seed=12)
    found = BayesEnsemble(random_state=0).fit(train, y)
    log_proba = found.predict_log_proba(test)
    codes = np.searchsorted(found.classes_, truth)
    loss = -log_proba[np.arange(len(codes)), codes].mean()
    report = found.report_
    # Judged by fewer members than predict, the ensemble promises no more than it holds; half-widths are of 95 %.
    assert abs(report.log_loss.value - loss) < 1.5 * (report.log_loss.high - report.log_loss.value)
    error = 1 - found.score(test, truth)
    assert report.error.low - 0.02 < error < report.error.high + 0.02


def test_the_report_prints_and_tells_weights_members_and_seconds(model):
    text = str(model.report_)
    assert "honest, on" in text
    assert "trees-sqrt" in text
    families = model.report_.families
    assert sum(family.share for family in families) == pytest.approx(1)
    assert [family.n_members for family in families] == [2, 1, 3, 2, 1]
    assert all(family.temperature > 0 and family.seconds > 0 and family.n_bytes > 0 for family in families)
    assert model.report_.n_rows == len(Y)
    assert model.n_bytes_ > 0


def test_a_report_that_no_row_could_judge_says_so():
    found = BayesEnsemble(members=FEW, random_state=0).fit(np.arange(6.0)[:, None], [*"abcdef"])
    text = str(found.report_)
    assert "  no row could be scored (6 alone in their class left out)" in text
    assert "nan" not in text


def test_the_seed_of_the_report_gives_the_same_model_again():
    found = BayesEnsemble(members=FEW).fit(FRAME, Y)
    again = BayesEnsemble(members=FEW, random_state=found.report_.seed).fit(FRAME, Y)
    np.testing.assert_array_equal(found.predict_proba(FRAME), again.predict_proba(FRAME))
    other = BayesEnsemble(members=FEW, random_state=found.report_.seed + 1).fit(FRAME, Y)
    assert (other.predict_proba(FRAME) != found.predict_proba(FRAME)).any()


def test_a_time_limit_leaves_members_out_and_tells_the_forecast():
    found = BayesEnsemble("best", time_limit=1e-3, random_state=0).fit(FRAME, Y)
    assert len(found.report_.families) == 1
    assert found.report_.forecast > 1e-3
    assert "by a forecast" in str(found.report_)
    generous = BayesEnsemble(time_limit=1e6, members=FEW, random_state=0).fit(FRAME, Y)
    np.testing.assert_array_equal(generous.predict_proba(FRAME), little().fit(FRAME, Y).predict_proba(FRAME))


def test_decisions_weigh_costs_and_new_class_frequencies(model):
    np.testing.assert_array_equal(model.decide(FRAME), model.predict(FRAME))
    names = ["low", "mid", "top"]
    dear = Loss([[0, 1, 100], [1, 0, 100], [1, 1, 0]], actions=names, classes=names)
    assert (model.decide(FRAME, loss=dear) == "top").mean() > (model.predict(FRAME) == "top").mean()
    rare = model.decide(FRAME, prior=[0.98, 0.01, 0.01])
    assert (rare == "low").sum() > (model.predict(FRAME) == "low").sum()
    assert model.expected_loss(FRAME).shape == (len(Y),)


def test_a_notebook_shows_a_fitted_ensemble(model):
    assert "report_" in dir(model)
    assert "BayesEnsemble" in model._repr_html_()


def test_a_posterior_has_no_joint_and_says_so(model):
    with pytest.raises(ParameterError, match="predict_log_proba"):
        model.predict_joint_log_proba(FRAME)
    with pytest.raises(ParameterError, match="predict_log_proba"):
        model.log_evidence(FRAME)


# ---------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"preset": "fastest"}, "preset is 'fastest'"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"time_limit": "long"}, "time_limit is 'long'"),
        ({"members": {"forest": 3}}, "members is"),
        ({"members": {"gaussian": 3}}, "members is"),
        ({"members": 5}, "members is 5"),
        ({"members": dict.fromkeys(("aode", "gaussian", "trees-sqrt", "trees-all", "linear"), 0)}, "leaves no family"),
        ({"missing": "state"}, "missing is 'state'"),
        ({"unseen": "skip"}, "unseen is 'skip'"),
        ({"random_state": -1}, "random_state is -1"),
        ({"columns": {"height": "gaussian"}}, "'height'"),
        ({"columns": {"weight": "ignored"}}, "no such column"),
    ],
)
def test_settings_that_mean_nothing_are_refused_by_name(settings, told):
    with pytest.raises(ParameterError, match=re.escape(told)):
        BayesEnsemble(**settings).fit(FRAME, Y)


@pytest.mark.parametrize("setting", ["missing", "unseen"])
def test_a_setting_that_means_nothing_is_noticed_after_the_fit_too(model, setting):
    changed = pickle.loads(pickle.dumps(model)).set_params(**{setting: "x"})
    for call in (changed.predict, changed.predict_proba, changed.explain, lambda X: changed.forget(X, Y[:1])):
        with pytest.raises(ParameterError, match=f"{setting} is 'x'"):
            call(FRAME.iloc[:1])


def test_missing_cells_are_refused_without_advice_that_this_model_cannot_take():
    for column in ("shape", "width"):
        with pytest.raises(DataError, match=rf"'{column}' is missing .* or take missing='ignore'$"):
            little(missing="error").fit(FRAME[[column]], Y)


def test_bad_rows_are_refused_by_name():
    with pytest.raises(DataError, match="inconsistent numbers of samples"):
        little().fit(FRAME, Y[:-1])
    with pytest.raises(DataError, match="infinity"):
        little().fit(FRAME.assign(height=np.inf), Y)
    with pytest.raises(DataError, match="sparse"):
        from scipy import sparse

        little().fit(sparse.eye_array(5).tocsr(), [0, 1, 0, 1, 0])
    with pytest.raises(DataError, match="missing"):
        little(missing="error").fit(FRAME, Y)
    with pytest.raises(DataError, match="no column is left"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        little(columns=dict.fromkeys(FRAME, "ignored")).fit(FRAME, Y)


def test_the_doors_of_a_model_that_learned_nothing_are_closed():
    from sklearn.exceptions import NotFittedError

    for call in (
        lambda m: m.predict(FRAME),
        lambda m: m.explain(FRAME),
        lambda m: m.forget(FRAME, Y),
        lambda m: m.columns_,
        lambda m: m.refresh(FRAME, Y),
        lambda m: m.decide(FRAME),
        lambda m: m.class_count_,
    ):
        with pytest.raises(NotFittedError):
            call(BayesEnsemble())


def test_a_date_is_explained_as_it_came():
    days = pd.date_range("2020-01-01", periods=60, freq="D")
    frame = pd.DataFrame({"day": days, "x": np.arange(60) % 7})
    reasons = little().fit(frame, days.month.astype(str)).explain(frame[:2])
    assert "day = 2020-01-01" in str(reasons[0])


@pytest.mark.parametrize("add", [lambda m: m + m, lambda m: sum([m, m])], ids=["+", "sum"])
def test_ensembles_are_not_added_but_say_how_rows_are_joined(model, add):
    with pytest.raises(StatisticsError, match=r"ensembles cannot be added: .* partial_fit\(X, y\)"):
        add(model)


@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_weights_of_any_size_are_learned(weight):
    found = little().fit(FRAME, Y, np.full(len(Y), weight))
    assert np.isfinite(found.predict_proba(FRAME)).all()
    assert "error" in str(found.report_)


# ---------------------------------------------------------------------- it is good


def test_it_is_better_than_its_best_single_rung_on_wine():
    from bayeswater import compare

    X, y = load_wine(return_X_y=True)
    found = compare(X, y, models={"ensemble": BayesEnsemble(random_state=0), "aode": clone(_aode())}, folds=3)
    assert found["ensemble"].log_loss < found["aode"].log_loss


def _aode():
    from bayeswater import AODE

    return AODE(calibrate=True)
