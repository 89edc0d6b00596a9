"""Scores of classifiers of any kind, by whatever method they have, and folds of rows that no clone has seen."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold

from bayeswater import DataError, ParameterError
from bayeswater.decision.cross_fitting import cross_fitted, dealt, folds_of, log_scores, require_cv, rows_of

PROBA = np.array([[0.2, 0.8], [1.0, 0.0]])


def scorer(classes=("a", "c"), **methods):
    return SimpleNamespace(classes_=np.array(classes), **{name: lambda X, v=v: v for name, v in methods.items()})


def test_scores_are_logarithms_of_probabilities_and_of_unknown_classes_minus_infinity():
    classes = np.array(["a", "b", "c"])
    with np.errstate(divide="ignore"):
        expected = np.log(np.insert(PROBA, 1, 0.0, axis=1))
        log_proba = np.log(PROBA)
    assert_array_equal(log_scores(scorer(predict_proba=PROBA), None, classes), expected)
    assert_array_equal(log_scores(scorer(predict_log_proba=log_proba, predict_proba=None), None, classes), expected)
    odds = log_scores(scorer(decision_function=np.log([4.0, 1 / 9])), None, classes)
    assert_allclose(np.exp(odds), [[0.2, 0.0, 0.8], [0.9, 0.0, 0.1]], rtol=1e-14)
    several = scorer(("c", "a", "b"), decision_function=np.array([[1.0, 2.0, 3.0]]))
    assert log_scores(several, None, classes).tolist() == [[2.0, 3.0, 1.0]]


@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_model_that_scores_other_classes_than_it_knows_is_refused(n_columns):
    with pytest.raises(DataError, match=f"SimpleNamespace scores {n_columns} classes and knows 2"):
        log_scores(scorer(predict_proba=np.ones((2, n_columns))), None, np.array(["a", "b", "c"]))
    with pytest.raises(ParameterError, match="no classifier with predict_proba or decision_function"):
        log_scores(SimpleNamespace(predict_proba=None), None, np.array(["a"]))


@pytest.mark.parametrize("cv", [0, 1, -2, True, 2.5, "5"])
def test_folds_are_two_or_more_or_said_by_a_splitter(cv):
    with pytest.raises(ParameterError, match=r"folds is .*; give the number of folds"):
        require_cv(cv, "folds")
    for good in (None, 2, np.int64(3), KFold(2), [([0], [1])]):
        require_cv(good, "folds")


def test_folds_hold_every_row_out_once_and_are_no_more_than_the_largest_class():
    codes = np.array([0, 0, 0, 1, 1, 2])
    for cv, n_folds in ((None, 3), (5, 3), (2, 2)):
        folds = folds_of(cv, None, codes, np.ones(6, dtype=bool), {})
        assert len(folds) == n_folds
        assert sorted(np.concatenate([held_out for _, held_out in folds]).tolist()) == list(range(6))
        assert all(set(learn) | set(held_out) == set(range(6)) for learn, held_out in folds)
    assert len(folds_of(None, None, np.repeat([0, 1], 50), np.ones(100, dtype=bool), {})) == 5
    assert folds_of(5, None, np.array([0, 1, 2]), np.ones(3, dtype=bool), {}) == []


def test_splits_that_are_given_number_all_rows_and_lose_those_that_are_not_kept():
    keep = np.array([True, False, True, True, False])
    (fold,) = folds_of([([0, 1, 2], [3, 4])], None, np.array([0, 1, 1]), keep, {})
    assert [part.tolist() for part in fold] == [[0, 1], [2]]


def test_each_row_is_scored_by_a_clone_that_has_not_seen_it_with_its_own_parameters():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.array(["a", "b"] * 5 + ["c", "a"])
    weight = rng.random(12)
    folds = [(np.arange(6, 12), np.arange(6)), (np.arange(6), np.arange(6, 12))]
    classes = np.array(["a", "b", "c"])
    found, scored = cross_fitted(LogisticRegression(), X, y, classes, folds, {"sample_weight": weight})
    for learn, held_out in folds:
        model = LogisticRegression().fit(X[learn], y[learn], sample_weight=weight[learn])
        assert_allclose(found[held_out], log_scores(model, X[held_out], classes), rtol=1e-12)
    assert scored.tolist() == [True] * 10 + [False, True]  # nobody who scores it has seen a "c"
    with pytest.raises(DataError, match=r"no class of two rows or more \(n_samples=12\)"):
        cross_fitted(LogisticRegression(), X, y, classes, [], {})


def test_parameters_with_a_value_for_each_row_are_cut_and_others_stay():
    keep = np.array([True, False, True])
    found = rows_of({"weight": [1, 2, 3], "pair": [1, 2], "name": "abc", "n": 3}, keep)
    assert found["weight"].tolist() == [1, 3]
    assert (found["pair"], found["name"], found["n"]) == ([1, 2], "abc", 3)


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_dealt_to_the_folds_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, rng.integers(1, 9), rng.integers(20, 200)) * rng.integers(1, 3)  # some classes without rows
    n_folds = int(rng.integers(2, 4))
    fold = dealt(codes, n_folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer rows than folds
        theirs = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(codes, codes)
        for i, (_, held_out) in enumerate(theirs):
            assert_array_equal(np.flatnonzero(fold == i), held_out)
