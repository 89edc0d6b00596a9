"""Scoring block by block: every row once, in its place, with one warning for all impossible rows."""

import warnings

import numpy as np
import pytest

from bayeswater import BernoulliNB, CategoricalNB, GaussianNB, ImpossibleEvidenceWarning, MultinomialNB
from bayeswater.inference import scoring


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(scoring, "SCORING_ROWS", 4)


def table(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, size=(23, 3)), rng.integers(0, 2, size=23)


@pytest.mark.parametrize("kind", [GaussianNB, MultinomialNB, BernoulliNB, CategoricalNB])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"])
def test_blocks_give_what_the_whole_gives(kind, method, monkeypatch):
    X, y = table()
    model = kind().fit(X, y)
    whole = getattr(model, method)(X)
    monkeypatch.setattr(scoring, "SCORING_ROWS", 4)
    np.testing.assert_array_equal(getattr(model, method)(X), whole)


def impossible_model():
    """Three of the four rows below are impossible in every class."""
    model = CategoricalNB(alpha=0).fit([[0, 0], [1, 1], [1, 1]], [0, 1, 1])
    return model, np.array([[0, 1], [0, 0], [1, 0], [0, 1]])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_rows_that_no_class_allows_get_the_prior_and_one_warning_counts_them(method):
    model, X = impossible_model()
    with pytest.warns(ImpossibleEvidenceWarning) as caught:
        answer = getattr(model, method)(X)
    assert [str(w.message) for w in caught] == [
        "every class gives probability zero to 3 of 4 rows; their posterior is the prior. "
        "A smoothing over 0 keeps probabilities off zero"
    ]
    expected = {"predict": 1, "predict_proba": [1 / 3, 2 / 3], "predict_log_proba": np.log([1 / 3, 2 / 3])}[method]
    for row in (0, 2, 3):
        np.testing.assert_allclose(answer[row], expected, rtol=1e-15)


def test_impossible_rows_of_all_blocks_are_counted_in_one_warning(small_blocks):
    model, X = impossible_model()
    with pytest.warns(ImpossibleEvidenceWarning, match="to 30 of 40 rows") as caught:
        model.predict_proba(np.tile(X, (10, 1)))
    assert len(caught) == 1


def test_the_warning_points_at_the_line_that_asked():
    model, X = impossible_model()
    with pytest.warns(ImpossibleEvidenceWarning) as caught:
        model.predict_proba(X)
    assert caught[0].filename == __file__


def test_log_joints_and_evidence_are_minus_infinity_without_a_warning():
    model, X = impossible_model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict_joint_log_proba(X)[0].tolist() == [-np.inf, -np.inf]
        assert model.log_evidence(X)[[0, 2]].tolist() == [-np.inf, -np.inf]


def test_rows_far_beyond_all_numbers_get_the_prior():
    model = GaussianNB().fit([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])
    with pytest.warns(ImpossibleEvidenceWarning, match="to 1 of 2 rows"):
        answer = model.predict_proba([[1e200], [0.5]])
    assert answer[0].tolist() == [0.5, 0.5]


def test_leaving_out_a_row_that_nothing_else_explains_falls_back_to_its_own_prior():
    model = CategoricalNB(alpha=0).fit([[0], [1], [2]], [0, 1, 1])
    with pytest.warns(ImpossibleEvidenceWarning, match="to 3 of 3 rows"):
        answer = model.loo_predict_log_proba([[0], [1], [2]], [0, 1, 1])
    # Without row 0 there is only class 1; without one of the others one row of each class is left.
    np.testing.assert_allclose(np.exp(answer), [[0, 1], [0.5, 0.5], [0.5, 0.5]], rtol=1e-15)
