"""Linear log-joints: zero times minus infinity is zero, and what is infinite decides without a NaN."""

import numpy as np
import pytest
from scipy import sparse

from bayeswater import BernoulliNB, ComplementNB, ImpossibleEvidenceWarning, MultinomialNB
from bayeswater.kernels import compiling


@pytest.fixture(params=["reference", "loop"], autouse=True)
def road(request, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", {"reference": 10**18, "loop": 0}[request.param])


dense_and_sparse = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


# ---------------------------------------------------------------------- multinomial


@dense_and_sparse
def test_a_word_that_a_row_does_not_have_adds_nothing_though_it_is_impossible(form):
    model = MultinomialNB(alpha=0).fit(form(np.array([[2, 2, 0], [0, 1, 3]])), [0, 1])
    joint = model.predict_joint_log_proba(form(np.array([[0, 4, 0]])))
    np.testing.assert_allclose(joint, [[np.log(0.5) + 4 * np.log(1 / 2), np.log(0.5) + 4 * np.log(1 / 4)]], rtol=1e-15)


@dense_and_sparse
def test_a_word_that_a_class_never_had_makes_it_impossible(form):
    model = MultinomialNB(alpha=0).fit(form(np.array([[2, 2, 0], [0, 1, 3]])), [0, 1])
    rows = form(np.array([[1, 1, 0], [0, 0, 1]]))
    assert model.predict_proba(rows).tolist() == [[1, 0], [0, 1]]
    with pytest.warns(ImpossibleEvidenceWarning, match="to 1 of 1 rows"):
        assert model.predict_proba(form(np.array([[1, 0, 1]]))).tolist() == [[0.5, 0.5]]


def test_a_row_without_a_word_has_the_prior():
    model = MultinomialNB(alpha=0).fit([[2, 2, 0], [0, 1, 3], [0, 1, 0]], [0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[0, 0, 0]]), [[1 / 3, 2 / 3]], rtol=1e-15)


# ---------------------------------------------------------------------- complement


@dense_and_sparse
def test_a_word_that_no_other_class_has_decides_when_nothing_is_smoothed(form):
    X = np.array([[3, 1, 0], [0, 2, 0], [0, 1, 4]])
    model = ComplementNB(alpha=0).fit(form(X), [0, 1, 2])
    assert model.predict(form(np.array([[1, 9, 0], [0, 9, 1]]))).tolist() == [0, 2]
    assert model.predict_proba(form(np.array([[1, 9, 0]]))).tolist() == [[1, 0, 0]]


@dense_and_sparse
def test_the_class_with_more_of_such_words_wins(form):
    X = np.array([[3, 0], [0, 4]])
    model = ComplementNB(alpha=0).fit(form(X), [0, 1])
    rows = form(np.array([[2, 1], [1, 2]]))
    assert model.predict(rows).tolist() == [0, 1]


def test_that_is_the_limit_of_ever_smaller_smoothing():
    X, y = np.array([[3, 1, 0], [0, 2, 0], [0, 1, 4]]), [0, 1, 2]
    rows = np.array([[1, 9, 0], [0, 9, 1], [2, 0, 1]])
    limit = ComplementNB(alpha=0).fit(X, y).predict_proba(rows)
    np.testing.assert_allclose(ComplementNB(alpha=1e-250).fit(X, y).predict_proba(rows), limit, atol=1e-12)


def test_leaving_a_row_out_of_unsmoothed_complements_gives_no_nan():
    X, y = np.array([[3, 1, 0], [0, 2, 0], [0, 1, 4], [1, 0, 0]]), [0, 1, 2, 1]
    for norm in (False, True):
        answer = ComplementNB(alpha=0, norm=norm).fit(X, y).loo_predict_log_proba(X, y)
        assert not np.isnan(answer).any()
        np.testing.assert_allclose(np.exp(answer).sum(axis=1), 1.0, rtol=1e-12)


# ---------------------------------------------------------------------- Bernoulli


@dense_and_sparse
def test_a_mark_that_every_row_of_a_class_had_makes_its_absence_impossible(form):
    model = BernoulliNB(alpha=0).fit(form(np.array([[1, 0], [1, 1], [0, 1], [1, 1]])), [0, 0, 1, 1])
    rows = form(np.array([[0, 0], [0, 1], [1, 1]]))
    joint = model.predict_joint_log_proba(rows)
    half = np.log(0.5)
    np.testing.assert_allclose(joint, [[-np.inf, -np.inf], [-np.inf, 2 * half], [2 * half, 2 * half]], rtol=1e-15)


def test_a_missing_mark_is_neither_present_nor_absent():
    X, y = np.array([[1, 0], [1, 1], [0, 1], [1, 1]]), [0, 0, 1, 1]
    for alpha in (0, 1.0):
        model = BernoulliNB(alpha=alpha, missing="ignore").fit(X, y)
        for j in range(2):
            rows = np.array([[1.0, 1.0], [0.0, 0.0]])
            rows[:, j] = np.nan
            rest = BernoulliNB(alpha=alpha).fit(np.delete(X, j, axis=1), y)
            with np.errstate(all="raise"):
                joint = model.predict_joint_log_proba(rows)
            np.testing.assert_allclose(joint, rest.predict_joint_log_proba(np.delete(rows, j, axis=1)), rtol=1e-14)


@pytest.mark.parametrize("threshold", [0.0, 0.5, 2.0])
@dense_and_sparse
def test_a_mark_is_what_is_over_the_threshold(form, threshold):
    X = np.array([[0.0, 0.4], [0.6, 2.0], [2.5, 3.0]])
    model = BernoulliNB(binarize=threshold).fit(form(X), [0, 0, 0])
    marks = BernoulliNB(binarize=None).fit((threshold < X).astype(int), [0, 0, 0])
    assert model.statistics_ == marks.statistics_
    np.testing.assert_allclose(
        model.predict_joint_log_proba(form(X)), marks.predict_joint_log_proba((threshold < X).astype(int)), rtol=1e-15
    )
