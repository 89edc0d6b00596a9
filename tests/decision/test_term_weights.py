"""Weights on terms: exact slopes, what one known cell and none give, hopeless and impossible rows, other classes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bayeswater.decision.term_weights import MOST_LOSS, LeftOutTerms, TermWeights, _Problem
from bayeswater.typing import Array

PRIOR = np.log([0.5, 0.3, 0.2])


def rows(n: int = 300, n_terms: int = 4, *, missing: float = 0.0) -> LeftOutTerms:
    """Terms of cells that tell three classes apart, the last two of them the same cell twice."""
    rng = np.random.default_rng(n_terms)
    codes = rng.choice(3, n, p=np.exp(PRIOR))
    x = rng.normal(codes[:, None], 1.5, (n, n_terms))
    x[:, -1] = x[:, -2]
    terms = -((x[:, :, None] - np.arange(3)) ** 2) / 2 / 1.5**2
    is_known = rng.random((n, n_terms)) >= missing
    is_known[:, 0] = True
    terms[~is_known] = 0.0
    return LeftOutTerms(terms, codes, np.ones(n), is_known.sum(axis=1))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_slopes_are_those_of_the_loss(missing: float) -> None:
    problem = _Problem.of(rows(60, missing=missing), PRIOR, 3.2)
    rng = np.random.default_rng(0)
    shift, weight = rng.normal(size=3), rng.uniform(0.2, 1.8, (4, 3))

    def loss(parameters: Array) -> float:
        return problem.loss(parameters[:3], parameters[3:].reshape(4, 3))

    found, by_shift, by_weight = problem._slopes(shift, weight)
    point = np.append(shift, weight)
    numeric = approx_fprime(point, loss, 1e-6)
    assert found == pytest.approx(loss(point))
    np.testing.assert_allclose(np.append(by_shift, by_weight), numeric, rtol=1e-4, atol=1e-3)  # of one-sided steps


def test_a_cell_that_is_there_twice_counts_about_once() -> None:
    found = TermWeights.fit(rows(3000), PRIOR, tuple("abcd"))
    mean = found.weight.mean(axis=1)
    assert mean[:2] == pytest.approx([1, 1], abs=0.15)
    assert mean[2] + mean[3] == pytest.approx(1, abs=0.15)
    assert found.after is not None and found.before is not None
    assert found.after < found.before


def test_one_known_cell_counts_as_it_is_and_without_one_nothing_is_shifted() -> None:
    found = replace(TermWeights.fit(rows(missing=0.3), PRIOR, tuple("abcd")), shift=np.array([0.5, 0.0, -0.5]))
    assert (found.at(1) == 1).all()
    assert (found.shifts(np.array([0, 1])) == 0).all()
    usual = replace(found, usual=4.0)
    np.testing.assert_allclose(usual.at(4), found.weight, rtol=1e-12)
    np.testing.assert_allclose(usual.shifts(np.array([4]))[0], found.shift)


def test_a_weight_lies_between_one_and_that_of_a_usual_row() -> None:
    found = TermWeights(("a", "b"), np.array([[0.25, 0.0], [2.0, 1.0]]), np.zeros(2), np.log([0.5, 0.5]), 5.0, 2.0)
    # 0.25 / (0.25 * 0.5 + 0.5) at half of the way; over 1 the share is that of pairs, 3 * 2 / (5 * 4)
    np.testing.assert_allclose(found.at(3), [[0.4, 0.0], [2 / (2 * 0.7 + 0.3), 1.0]])


def test_a_hopeless_row_does_not_decide() -> None:
    given = rows()
    hopeless = given.terms.copy()
    hopeless[0] = np.where(np.arange(3) == given.codes[0], -1e4, 0.0)
    with_one = TermWeights.fit(replace(given, terms=hopeless), PRIOR, tuple("abcd"))
    without = TermWeights.fit(given.take(np.arange(1, 300)), PRIOR, tuple("abcd"))
    assert np.abs(with_one.weight - without.weight).max() < 0.1
    assert with_one.before is not None
    assert with_one.before < MOST_LOSS


def test_what_is_impossible_stays_so_and_a_missing_cell_says_nothing() -> None:
    found = TermWeights(("a",), np.array([[0.0, 0.5]]), np.zeros(2), np.log([0.5, 0.5]), 2.0, 1.0)
    for doubted in (found, replace(found, doubt=np.array([0.1]))):
        assert doubted.weighted(np.array([-1.0, -np.inf]), 2, 0).tolist() == [0.0, -np.inf]
        assert doubted.weighted(np.zeros(2), 2, 0).tolist() == [0.0, 0.0]


def test_one_of_many_cells_does_not_rule_out_a_class_alone() -> None:
    doubt = np.array([0.1, 0.0])
    found = TermWeights(("a", "b"), np.ones((2, 2)), np.zeros(2), np.log([0.2, 0.8]), 3.0, 1.0, doubt=doubt)
    terms = np.array([[-900.0, 0.0], [-900.0, 0.0]])
    said = found.weighted(terms, 3)
    np.testing.assert_allclose(np.exp(said[0]), [0.1, 0.9 / 0.8 + 0.1])
    assert said[1, 0] < -800  # a text, say, is not doubted
    np.testing.assert_allclose(np.exp(found.weighted(terms[0], 2, 0)), [0.05, 0.95 / 0.8 + 0.05])
    assert found.weighted(terms, 1)[:, 0].max() < -800  # a cell alone says what its table says


def test_doubt_in_a_cell_falls_with_the_number_of_rows() -> None:
    of_cells = np.array([True, True, True, False])
    few, many = (TermWeights.fit(rows(n), PRIOR, tuple("abcd"), of_cells).doubt for n in (100, 1600))
    np.testing.assert_allclose([few, many], [[0.2, 0.2, 0.2, 0], [0.05, 0.05, 0.05, 0]])
    assert TermWeights.fit(rows(), PRIOR, tuple("abcd")).doubt is None


def test_a_constant_in_all_classes_changes_nothing() -> None:
    given = rows()
    moved = replace(given, terms=given.terms + np.array([3.0, -7.0, 0.0, 1.0])[:, None])
    first, second = (TermWeights.fit(one, PRIOR, tuple("abcd")) for one in (given, moved))
    np.testing.assert_allclose(first.weight, second.weight, rtol=1e-3)  # searches end near the same minimum


def test_new_classes_and_terms_are_weighed_as_the_others() -> None:
    found = TermWeights(("a",), np.array([[0.2, 0.6]]), np.array([1.0, -1.0]), np.log([0.5, 0.5]), 3.0, 2.0)
    is_known = np.array([True, False, True])

    def place(own: Array) -> Array:
        laid = np.zeros((3, *own.shape[1:]))
        laid[is_known] = own
        return laid

    more = found.for_classes(place, is_known).for_terms(("b", "a"))
    np.testing.assert_allclose(more.weight, [[0.5, 0.5, 0.5], [0.2, 0.4, 0.6]])
    assert more.shift.tolist() == [1.0, 0.0, -1.0]
    before = found.for_terms(("A", "a"))
    assert before.names == ("A", "a") and before.weight.tolist() == [[0.5, 0.5], [0.2, 0.6]]
    assert more.is_stale
    assert "refresh" in str(more)


def test_a_cell_that_is_alike_in_all_classes_left_says_nothing_once_one_is_gone() -> None:
    found = TermWeights(("a",), np.array([[0.2, 0.6, 1.0]]), np.zeros(3), np.log([0.2, 0.3, 0.5]), 3.0, 2.0)
    left = found.for_classes(lambda own: own[:2], np.array([True, True]))
    np.testing.assert_allclose(left.weighted(np.array([-4.0, -4.0]), 3, 0), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.exp(left.log_prior), [0.4, 0.6])


def test_too_few_rows_have_one_temperature() -> None:
    found = TermWeights.fit(rows(4), PRIOR, tuple("abcd"))
    assert (found.weight == found.weight[0, 0]).all()
    assert found.before is None
    none = TermWeights.fit(rows(4).take(np.arange(0)), PRIOR, tuple("abcd"))
    assert (none.weight == 1).all()


def test_a_row_with_more_cells_than_usual_has_the_shifts_of_a_usual_one() -> None:
    found = TermWeights(("a",), np.ones((1, 2)), np.array([1.0, -1.0]), np.log([0.5, 0.5]), 3.0, 2.0)
    none, fewer, usual, more = found.shifts(np.array([1, 2, 3, 30])).tolist()
    assert none == [0.0, 0.0]
    assert 0 < fewer[0] < 1
    assert usual == more == [1.0, -1.0]
