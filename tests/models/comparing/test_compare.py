"""`compare`: every model judged by the same rows, none of which it has seen; a failure is a row, not an end."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import LinearSVC

import bayeswater
from bayeswater import AODE, TAN, Calibrated, DataError, NaiveBayes, ParameterError, compare, load, save
from bayeswater.decision.calibration_metrics import ece
from bayeswater.models.comparing.comparison import TITLES
from bayeswater.models.comparing.peers import OnMixedTable
from bayeswater.models.kinds import LADDER
from bayeswater.phrases import Language

FAST = ["naive-bayes", "aode"]


def pairs(n_rows: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table whose class is whether two columns agree, but for some noise; with numbers and holes."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, n_rows))
    noisy = rng.random(n_rows) < 0.1
    y = np.where((a == b) ^ noisy, "same", "other")
    size = rng.normal(np.where(y == "same", 0.5, 0.0), 1.0)
    frame = pd.DataFrame({"a": np.array(["no", "yes"])[a], "b": np.array(["low", "high"])[b], "size": size})
    return frame.mask(rng.random(frame.shape) < 0.05), y


def numbers(n_rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, n_rows)
    return rng.normal(size=(n_rows, 3)) + y[:, None], y


class Failing(ClassifierMixin, BaseEstimator):
    """A classifier that cannot learn."""

    def fit(self, X: Any, y: Any) -> Any:
        raise RuntimeError("it rains")


class Certain(ClassifierMixin, BaseEstimator):
    """A classifier that is sure of the first class, whatever it sees."""

    def fit(self, X: Any, y: Any) -> Any:
        warnings.warn("nothing is learned from 7 rows; give up", UserWarning, stacklevel=2)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.eye(len(self.classes_))[np.zeros(len(X), dtype=int)]


# ---------------------------------------------------------------------- what is measured


def test_figures_are_those_of_clones_that_never_saw_the_rows():
    X, y = pairs()
    found = compare(X, y, models=FAST, folds=3, random_state=7)["AODE"]
    proba = np.empty((len(y), 2))
    for learn, held_out in StratifiedKFold(3, shuffle=True, random_state=7).split(X, y):
        proba[held_out] = AODE(calibrate=True).fit(X.iloc[learn], y[learn]).predict_proba(X.iloc[held_out])
    truth = np.array(["other", "same"])[proba.argmax(axis=1)]
    assert found.error == pytest.approx((truth != y).mean(), rel=1e-12)
    assert found.log_loss == pytest.approx(log_loss(y, proba), rel=1e-12)
    assert found.ece == pytest.approx(ece(y, proba), rel=1e-12)
    assert found.n_parameters > 0
    assert found.n_bytes > 0
    assert found.fit_seconds > 0 < found.predict_seconds


@pytest.fixture(scope="module")
def of_all_models():
    return compare(*pairs(), folds=2)


def test_dependence_of_two_columns_is_seen_by_all_but_naive_bayes(of_all_models):
    found = of_all_models
    assert found.best.name != "NaiveBayes"
    assert found["NaiveBayes"].error > 0.3
    for name in ("SPODE", "TAN", "AODE", "KDB", "SKDB"):
        assert found[name].error < 0.2, name


def test_the_whole_ladder_is_climbed_where_all_columns_are_numbers():
    found = compare(*numbers(), folds=2)
    assert {one.name for one in found.contestants} == {rung.name for rung in LADDER.values()}
    assert all(one.failure is None for one in found.contestants)


def test_gaussian_classes_are_left_out_of_a_mixed_table_and_that_is_said(of_all_models):
    assert not any("Gaussian" in one.name for one in of_all_models.contestants)
    assert "Gaussian classes are of numbers alone, and left out: 'a' holds none" in str(of_all_models)


def test_models_stand_by_log_loss_and_behind_the_best_by_its_difference():
    X, y = pairs()
    found = compare(X, y, models=FAST, folds=2)
    losses = [one.log_loss for one in found.contestants]
    assert losses == sorted(losses)
    best, other = found.contestants
    mean, error = found.behind(other)
    assert found.behind(best) == (0.0, 0.0)
    assert mean == pytest.approx(other.log_loss - best.log_loss, rel=1e-9)
    difference = other.losses - best.losses
    assert error == pytest.approx(difference.std() / np.sqrt(len(y)), rel=1e-9)


def test_a_weighted_row_counts_as_that_many_rows():
    X, y = pairs(120)
    weight = np.random.default_rng(3).integers(0, 3, len(y))
    split = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    repeated = np.repeat(np.arange(120), weight)
    again = [(np.flatnonzero(np.isin(repeated, a)), np.flatnonzero(np.isin(repeated, b))) for a, b in split]
    one = compare(X, y, models={"AODE": AODE()}, folds=split, sample_weight=weight)["AODE"]
    other = compare(X.iloc[repeated], y[repeated], models={"AODE": AODE()}, folds=again)["AODE"]
    assert one.error == pytest.approx(other.error, rel=1e-12)
    assert one.log_loss == pytest.approx(other.log_loss, rel=1e-12)
    assert one.ece == pytest.approx(other.ece, rel=1e-12)


def test_rows_alone_in_their_class_are_left_out_and_counted():
    X, y = pairs(60)
    found = compare(X, np.where(np.arange(60) == 3, "odd", y), models=FAST, folds=3)
    assert found.n_left_out == 1
    assert len(found.best.losses) == 59
    assert np.isfinite(found.best.log_loss)
    assert "1 row left out: no other row of the class to learn from" in str(found)


def test_folds_can_be_a_splitter_and_the_same_seed_gives_the_same_figures():
    X, y = pairs(90)
    found = compare(X, y, models=FAST, folds=KFold(4))
    assert found.n_folds == 4
    assert [one.log_loss for one in found.contestants] == [
        one.log_loss for one in compare(X, y, models=FAST, folds=KFold(4)).contestants
    ]
    one, other = (compare(X, y, models=FAST, folds=2, random_state=seed)["AODE"].log_loss for seed in (0, 1))
    assert one != other


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "arrays"])
def test_tables_of_every_library_give_the_same_figures_and_frames_of_their_own(library):
    X, y = pairs(120)
    table = pa.Table.from_pandas(X, preserve_index=False)
    given, kind = {
        "pandas": (X, pd.DataFrame),
        "polars": (pl.from_arrow(table), pl.DataFrame),
        "pyarrow": (table, pa.Table),
        "arrays": (X.astype(object).where(X.notna(), None).to_numpy(), pa.Table),
    }[library]
    found = compare(given, y, models=FAST, folds=2)
    if library == "arrays":
        X = X.set_axis(["x0", "x1", "x2"], axis=1)  # names have a say in which rows calibration holds out
    expected = compare(X, y, models=FAST, folds=2)
    assert [one.log_loss for one in found.contestants] == [one.log_loss for one in expected.contestants]
    frame = found.to_frame()
    assert isinstance(frame, kind)
    assert list(frame["name"].to_pylist() if kind is pa.Table else frame["name"]) == [
        one.name for one in found.contestants
    ]


# ---------------------------------------------------------------------- failures, warnings, the best


def test_a_model_that_fails_says_why_in_its_row_and_the_others_go_on():
    X, y = pairs(80)
    found = compare(X, y, models={"broken": Failing(), "AODE": AODE()}, folds=2)
    assert found.contestants[-1].name == "broken"
    assert (found["broken"].failure, found.best.name) == ("it rains", "AODE")
    assert "broken  failed: it rains" in str(found)
    assert np.isnan(found["broken"].error)
    assert found.to_frame()["failure"].isna().tolist() == [True, False]
    assert found.to_frame()["failure"].iloc[1] == "it rains"
    alone = compare(X, y, models={"broken": Failing()}, folds=2)
    assert "failed: it rains" in str(alone)
    assert len(alone.to_frame()) == 1
    with pytest.raises(DataError, match="no model could be fitted, so there is no best one: broken: it rains"):
        alone.fit_best(X, y)


def test_models_that_failed_for_one_reason_share_a_line():
    X, y = pairs(80)
    found = compare(X, y, models={"one": Failing(), "AODE": AODE(), "other": Failing()}, folds=2)
    assert [line for line in str(found).splitlines() if "failed" in line] == ["one, other  failed: it rains"]


def test_why_a_model_failed_is_said_in_both_languages_without_a_table_of_columns():
    X, y = pa.table({"text": [f"some words {i % 2} and {i} others" for i in range(80)]}), ["a", "b"] * 40
    peer = OnMixedTable(lambda *_: None)
    found = compare(X, y, models={"AODE": AODE(), "peer": peer, "broken": Failing()}, folds=2)
    assert dict(found.failures()) == {
        "AODE": "failed: no column is left to learn from",
        "peer": "failed: it reads neither texts nor identifiers, and there is no other column",
        "broken": "failed: it rains",
    }
    chinese = found.html("t", TITLES, "r", Language.of("zh"))
    assert "AODE: 失败，原因如下：没有可供学习的列" in chinese and "peer: 失败，原因如下：它不读取文本和标识" in chinese
    assert "broken: 失败，原因如下：it rains" in chinese  # what nobody of ours has said


def test_certainty_that_is_wrong_costs_without_bound_and_is_told():
    X, y = pairs(80)
    found = compare(X, y, models={"certain": Certain(), "AODE": AODE()}, folds=2)
    assert (found["certain"].log_loss, found.best.name) == (np.inf, "AODE")
    assert found["certain"].n_impossible == (y == "same").sum()
    assert "certain: gave probability 0 to what was true in" in str(found)
    assert np.isnan(found.behind(found["certain"])[1])


def test_a_model_without_probabilities_is_not_judged_and_says_how_it_can_be():
    X, y = numbers()
    found = compare(X, y, models={"machine": LinearSVC(), "AODE": AODE()}, folds=2)
    assert (found.best.name, found["machine"].card) == ("AODE", None)
    assert "LinearSVC gives no probabilities to validate it by; compare Calibrated(LinearSVC(...))" in str(found)
    judged = compare(X, y, models={"machine": Calibrated(LinearSVC())}, folds=2)["machine"]
    assert 0 < judged.log_loss < np.log(3)


def test_warnings_are_told_once_and_without_their_advice(recwarn):
    X, y = pairs(80)
    found = compare(X, y, models={"certain": Certain()}, folds=2)
    assert not recwarn
    assert [line for line in found.remarks() if "nothing is learned" in line] == [
        "certain: nothing is learned from 7 rows"
    ]


def test_the_best_is_fitted_on_all_rows_and_can_be_saved(tmp_path):
    X, y = pairs()
    found = compare(X, y, models=FAST, folds=2)
    model = found.fit_best(X, y)
    assert isinstance(model, AODE)
    assert model.class_count_.sum() == len(y)
    save(model, tmp_path / "best.bayes")
    expected = clone(found.best.model).fit(X, y).predict_proba(X)
    assert np.array_equal(load(tmp_path / "best.bayes").predict_proba(X), expected)


def test_printing_lines_up_and_names_are_looked_up():
    found = compare(*pairs(80), models={"模型": NaiveBayes(), "AODE": AODE()}, folds=2)
    head, *rows = [line for line in str(found).splitlines()[1:] if not line.startswith("  ")]
    assert head.split()[:3] == ["model", "error", "%"]
    assert len(rows) == 2
    with pytest.raises(KeyError, match="'TAN' was not compared"):
        found["TAN"]


def test_progress_is_told_before_every_fit():
    told: list[tuple[int, int, str]] = []
    compare(*pairs(60), models=FAST, folds=2, progress=lambda *so_far: told.append(so_far))
    assert told == [(0, 4, "NaiveBayes"), (1, 4, "NaiveBayes"), (2, 4, "AODE"), (3, 4, "AODE")]


def test_calibration_is_learned_inside_the_fold_unless_switched_off():
    X, y = pairs()
    one, other = (compare(X, y, models=["tan"], folds=2, calibrate=on).best for on in (True, False))
    assert one.model.calibrate is True
    assert other.model.calibrate is False


# ---------------------------------------------------------------------- peers


def test_peers_stand_beside_ours_on_a_mixed_table():
    X, y = pairs(90)
    X["when"] = pd.date_range("2024-01-01", periods=len(X))
    X["flag"] = np.arange(len(X)) % 2 == 0
    X["kind"] = pd.Categorical(np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
    found = compare(X, y, models=["aode"], folds=2, peers=True)
    peers = [one for one in found.contestants if one.is_peer]
    assert {one.name for one in peers} == {
        "scikit-learn naive Bayes",
        "LogisticRegression",
        "RandomForest",
        "HistGradientBoosting",
    }
    assert [one.failure for one in peers] == [None] * 4
    assert [one.name for one in found.ours.contestants] == ["AODE"]
    assert found["RandomForest"].error < found["LogisticRegression"].error  # it sees that two columns go together


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_peers_read_tables_of_one_kind_of_column(kind):
    from bayeswater.models.comparing.peers import sklearn_peers

    X, y = numbers(60) if kind == "numbers" else pairs(60)
    X = X if kind == "numbers" else pa.Table.from_pandas(X[["a", "b"]], preserve_index=False)
    for name, model in sklearn_peers(0).items():
        if name != "HistGradientBoosting":  # hundreds of small trees, tried above
            proba = model.fit(X, y, sample_weight=np.ones(len(y))).predict_proba(X)
            assert np.allclose(proba.sum(axis=1), 1), name
            assert set(model.predict(X)) <= set(y), name


def test_peers_meet_categories_that_they_have_not_learned():
    from bayeswater.models.comparing.peers import sklearn_peers

    X, y = pairs(60)
    new = pd.DataFrame({"a": ["perhaps", None], "b": ["high", "middle"], "size": [0.0, np.nan]})
    for name in ("scikit-learn naive Bayes", "LogisticRegression"):
        model = sklearn_peers(0)[name].fit(X, y)
        assert np.isfinite(model.predict_proba(new)).all(), name


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["ayode"]}, "models names 'ayode'; it can be a list of some of"),
        ({"models": []}, "models is empty; name at least one of"),
        ({"models": {}}, "models is empty"),
        ({"models": 3}, "models names 3; it can be a list of some of"),
        ({"models": [["aode"]]}, "models names ['aode']; it can be a list of some of"),
        ({"calibrate": "sigmoid"}, "calibrate is 'sigmoid'; it must be True or False"),
        ({"peers": "sklearn"}, "peers is 'sklearn'; it must be True or False"),
        ({"folds": 1}, "folds is 1"),
        ({"folds": "many"}, "folds is 'many'"),
    ],
)
def test_what_cannot_be_compared_is_refused(options, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        compare(*pairs(40), **options)


def test_what_is_known_of_columns_is_told_to_every_model_of_the_ladder():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=60), "code": rng.integers(0, 40, 60)})
    y = np.where(X["age"] > 0, "old", "young")
    told = {"code": "categorical"}
    found = compare(X, y, models=["naive-bayes", "aode"], columns=told, folds=2)
    assert [one.model.columns for one in found.contestants] == [told, told]
    with pytest.raises(ParameterError, match="models names 'gaussian-full', but columns says how 'code' is read"):
        compare(X, y, models=["gaussian-full"], columns=told)
    with pytest.raises(ParameterError, match="give columns to these"):
        compare(X, y, models={"mine": NaiveBayes()}, columns=told)


def test_a_notebook_shows_the_table_and_keeps_the_rest_folded():
    X = pd.DataFrame({"<b>": [f"some words to read {i}" for i in range(60)], "x": range(60)})
    found = compare(X, ["a", "b"] * 30, models=["naive-bayes", "tan"], folds=2)
    assert repr(found) == str(found)
    shown = found._repr_html_()
    assert shown.count("<tr>") == 3 and "<b>" not in shown
    assert "is left out: it is text" in shown.partition("<details>")[2]
    assert len(shown) < 2500


def test_rows_that_cannot_be_compared_on_are_refused():
    X, y = pairs(40)
    with pytest.raises(DataError, match="inconsistent numbers of samples: X has 40 rows, y has 39"):
        compare(X, y[:-1])
    with pytest.raises(DataError, match="all rows are of class 'a', so there is nothing to tell apart"):
        compare(X, ["a"] * 40)
    with pytest.raises(DataError, match="every row is alone in its class"):
        compare(X, range(40))
    with pytest.raises(DataError, match="no fold has a row to validate by"):
        compare(X, y, folds=[(np.flatnonzero(y == "same"), np.flatnonzero(y == "other"))])


def test_compare_is_a_public_name():
    assert bayeswater.compare is compare
    assert TAN in [rung.model for rung in LADDER.values()]
