"""Words, and texts, drawn at random have the means and variances of the laws they are drawn from."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import polygamma, psi

from bayeswater.data.matrix import SparseMatrix
from bayeswater.families.words import draws
from bayeswater.inference.drawing import Stage

N_DRAWS = 4000
COUNT = np.array([[3.0, 0.0, 5.0, 1.0, 2.0], [1.0, 4.0, 0.0, 2.0, 9.0]])  # of words, in two classes
TEXTS = np.array([[2, 0, 1, 0, 0], [0, 1, 0, 0, 3], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])


def table(missing=(False, False, False, False)):
    cells = sparse.csr_array(TEXTS)
    return SimpleNamespace(counts=SparseMatrix(cells.indptr, cells.indices, cells.data, 5), missing=np.array(missing))


def require_moments(drawn, mean, variance):
    """Five standard errors of a mean, and of a variance (whose kurtosis is small here), are never passed by chance."""
    error = np.sqrt(variance / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - mean) <= 5 * error + 1e-12).all()
    assert (np.abs(drawn.var(axis=0) / variance - 1) <= 10 * np.sqrt(2 / len(drawn))).all()


@pytest.mark.parametrize("word_weight", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0])])
@pytest.mark.parametrize("at_a_time", [64, 2])
def test_counted_words_are_drawn_from_their_dirichlet(word_weight, at_a_time, monkeypatch):
    monkeypatch.setattr(draws, "WORDS_AT_A_TIME", at_a_time)
    alpha = np.array([1.0, 0.5, 1.0, 2.0, 1.0])
    columns = SimpleNamespace(feature_sum=COUNT, alpha=alpha)
    total = np.zeros((4, N_DRAWS, 2))
    draws.CountedWordDraws(columns, word_weight, 3, Stage(7, N_DRAWS, 2)).add_to(total, table())
    shape = COUNT + alpha
    for text, drawn in zip(TEXTS, total, strict=True):
        values = text * (1.0 if word_weight is None else word_weight)
        if not text.any():
            assert not drawn.any()
            continue
        all_words = shape.sum(axis=1)
        mean = (psi(shape) - psi(all_words)[:, None]) @ values
        variance = polygamma(1, shape) @ values**2 - polygamma(1, all_words) * values.sum() ** 2
        require_moments(drawn, mean, variance)


def test_a_missing_text_adds_nothing_and_a_class_without_words_gives_all_the_same():
    columns = SimpleNamespace(feature_sum=np.zeros((2, 5)), alpha=np.zeros(5))
    total = np.zeros((4, 10, 2))
    draws.CountedWordDraws(columns, None, 0, Stage(1, 10, 2)).add_to(total, table((True, False, False, False)))
    assert not total[0].any()
    np.testing.assert_allclose(total[1], -4 * np.log(5))


def marked():
    present = np.minimum(COUNT, 4.0)
    columns = SimpleNamespace(
        counts=SimpleNamespace(present=present, absent=9.0 - present),
        present_alpha=np.ones(5),
        absent_alpha=np.full(5, 0.5),
    )
    return columns, present + 1.0, 9.0 - present + 0.5


@pytest.mark.parametrize("drawn_words", [1024, 2, 0])
def test_marked_words_are_drawn_from_their_betas_and_the_many_by_their_moments(drawn_words, monkeypatch):
    monkeypatch.setattr(draws, "DRAWN_WORDS", drawn_words)
    columns, a, b = marked()
    total = np.zeros((4, N_DRAWS, 2))
    draws.MarkedWordDraws(columns, 2, Stage(5, N_DRAWS, 2)).add_to(total, table())
    for text, drawn in zip(TEXTS, total, strict=True):
        own = np.where(text > 0, a, b)  # the shape of what the text says of each word
        mean = (psi(own) - psi(a + b)).sum(axis=1)
        variance = (polygamma(1, own) - polygamma(1, a + b)).sum(axis=1)
        require_moments(drawn, mean, variance)


def test_a_word_that_was_never_absent_makes_texts_without_it_impossible():
    present, absent = np.full((2, 5), 2.0), np.full((2, 5), 2.0)
    present[0, 0], absent[0, 0] = 4.0, 0.0
    counts = SimpleNamespace(present=present, absent=absent)
    columns = SimpleNamespace(counts=counts, present_alpha=np.zeros(5), absent_alpha=np.zeros(5))
    total = np.zeros((4, 50, 2))
    draws.MarkedWordDraws(columns, 0, Stage(1, 50, 2)).add_to(total, table())
    impossible = TEXTS[:, 0] == 0
    assert np.isneginf(total[impossible, :, 0]).all()
    assert np.isfinite(total[~impossible]).all() and np.isfinite(total[:, :, 1]).all()


@pytest.mark.parametrize("cells", [2**22, 8000])
def test_drawn_marks_have_the_terms_of_the_words_that_are_there(cells, monkeypatch):
    monkeypatch.setattr(draws, "BLOCK_CELLS", cells)
    probability = np.array([[0.2, 0.5, 0.9, 0.4, 0.1], [0.6, 0.3, 0.8, 0.1, 0.5]])
    weight, intercept = np.log(probability / (1 - probability)).T, np.log(1 - probability).sum(axis=1)
    joint = SimpleNamespace(intercept=intercept, infinite_intercept=np.zeros(2), weight=weight, infinite_weight=None)
    marks = SimpleNamespace(log_probability=lambda: (np.log(probability),), joint=joint)
    codes = np.repeat([0, 1], N_DRAWS)
    terms = draws.draw_marks(marks, codes, 1, 3)
    for k in (0, 1):
        p = probability[k]
        require_moments(terms[codes == k], intercept + p @ weight, (p * (1 - p)) @ weight**2)


@pytest.mark.parametrize("word_weight", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0])])
@pytest.mark.parametrize("drawn_length", [2048, 3])
def test_drawn_texts_of_each_length_have_the_terms_of_so_many_words(word_weight, drawn_length, monkeypatch):
    monkeypatch.setattr(draws, "DRAWN_LENGTH", drawn_length)
    share = (COUNT + 1) / (COUNT + 1).sum(axis=1, keepdims=True)
    codes = np.repeat([0, 1], N_DRAWS)
    texts = draws.DrawnTexts(np.log(share), word_weight, codes, 4, 9)
    score = np.log(share) * (1.0 if word_weight is None else word_weight)
    found = texts.terms(np.array([6, 1, 3, 6, 0]))
    assert sorted(found) == [0, 1, 3, 6]
    assert not found[0].any()
    for length in (1, 3, 6):
        for k in (0, 1):
            mean = score @ share[k]
            spread = (score - mean[:, None]) ** 2 @ share[k]
            drawn = found[length][codes == k]
            error = np.sqrt(length * spread / N_DRAWS)
            assert (np.abs(drawn.mean(axis=0) - length * mean) <= 5 * error).all()
            assert (np.abs(drawn.var(axis=0) / (length * spread) - 1) <= 0.15).all()


def test_a_text_with_a_word_that_a_class_cannot_have_is_impossible_there(monkeypatch):
    monkeypatch.setattr(draws, "DRAWN_LENGTH", 1)
    with np.errstate(divide="ignore"):
        log_share = np.log(np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]))
    found = draws.DrawnTexts(log_share, None, np.array([0, 0, 1, 1]), 0, 2).terms(np.array([5]))[5]
    assert np.isfinite(found[:2]).all() and np.isfinite(found[:, 1]).all()
    assert np.isneginf(found[2:, 0]).all()
