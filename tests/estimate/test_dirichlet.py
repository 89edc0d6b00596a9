"""Dirichlet smoothing in all its clothes, against fractions; pseudo-counts that are none are refused."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

from bayeswater import BernoulliNB, Beta, CategoricalNB, Dirichlet, ParameterError
from bayeswater.data.variable import Variable
from bayeswater.estimate.dirichlet import Prior, PseudoCounts, checked_class_prior, log_posterior_mean

COIN = Variable("coin", ("heads", "tails"))
# A logarithm of a quotient of two numbers that are exact: each is rounded once, and so is their difference.
CLOSE = {"rtol": 4e-16, "atol": 4e-16}


def log_of(shares):
    with np.errstate(divide="ignore"):
        return np.log([float(share) for share in shares])


# ---------------------------------------------------------------------- the posterior mean


@pytest.mark.parametrize("alpha", [0, 1, Fraction(1, 2), Fraction(1, 1000)])
@pytest.mark.parametrize("count", [[3, 0, 1], [0, 0, 7], [5, 5, 5]])
def test_shares_are_counts_and_pseudo_counts_over_their_sum(count, alpha):
    total = sum(n + alpha for n in count)
    expected = log_of([(n + alpha) / Fraction(total) for n in count])
    np.testing.assert_allclose(log_posterior_mean(np.array(count), float(alpha), axis=0), expected, **CLOSE)


def test_without_smoothing_a_share_of_zero_is_minus_infinity():
    assert log_posterior_mean(np.array([2, 0]), 0.0, axis=0).tolist() == [0.0, -np.inf]


@pytest.mark.parametrize("n_states", [1, 2, 5])
def test_where_nothing_is_known_every_state_has_an_equal_share(n_states):
    shares = log_posterior_mean(np.zeros(n_states, dtype=int), 0.0, axis=0)
    np.testing.assert_allclose(shares, -np.log(n_states), **CLOSE)


def test_that_share_is_the_limit_of_ever_smaller_smoothing():
    limit = log_posterior_mean(np.zeros(4), 0.0, axis=0)
    # The difference of two logarithms near -690, of which each is rounded.
    np.testing.assert_allclose(log_posterior_mean(np.zeros(4), 1e-300, axis=0), limit, atol=690 * 4e-16)


def test_the_share_of_what_is_all_there_is_is_one_in_the_limit_of_small_smoothing():
    shares = log_posterior_mean(np.array([1_000_000, 0]), 1e-10, axis=0)
    # log1p(-x) for x = 1e-16: nothing is left of it; the other share keeps all its digits.
    np.testing.assert_allclose(shares, [0.0, np.log(1e-10) - np.log(1_000_000)], rtol=1e-15, atol=1e-15)


def test_pseudo_counts_may_differ_from_state_to_state_and_class_to_class():
    count = np.array([[1, 2], [3, 4]])
    shares = np.exp(log_posterior_mean(count, np.array([[1.0], [0.0]]), axis=0))
    np.testing.assert_allclose(shares, [[2 / 5, 3 / 7], [3 / 5, 4 / 7]], rtol=1e-15)


def test_counts_whose_total_passes_the_largest_integer_keep_their_shares():
    shares = np.exp(log_posterior_mean(np.full(4, 2**62), 0.0, axis=0))
    np.testing.assert_allclose(shares, 0.25, rtol=43 * 4e-16)  # the logarithm of 2**62 is 43


# ---------------------------------------------------------------------- Dirichlet


def test_the_coin_of_the_seeds_shows_520_heads_in_1100():
    prior = Dirichlet({"heads": 500, "tails": 500})
    assert Fraction(20 + int(prior.concentration(COIN)[0]), 100 + int(prior.concentration(COIN).sum())) == Fraction(
        520, 1100
    )
    X = [["heads"]] * 20 + [["tails"]] * 80
    for column_prior in (prior, Beta({"heads": 500, "tails": 500}), Beta({"tails": 500, "heads": 500})):
        model = CategoricalNB(columns={"x0": {"prior": column_prior}}).fit(X, [0] * 100)
        np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[520 / 1100, 580 / 1100]], rtol=1e-15)


@pytest.mark.parametrize(
    ("prior", "concentration"),
    [
        (Dirichlet(), [1, 1]),
        (Dirichlet(0.5), [0.5, 0.5]),
        (Dirichlet({"tails": 2, "heads": 1}), [1, 2]),
        (Dirichlet({"tails": 2}, default=0.25), [0.25, 2]),
        (Dirichlet({}, default=3), [3, 3]),
        (Dirichlet.m_estimate(4), [2, 2]),
        (Dirichlet.m_estimate(10, {"heads": 0.3, "tails": 0.7}), [3, 7]),
        (Dirichlet.m_estimate(10, {"heads": 3, "tails": 7}), [3, 7]),
        (Beta({"heads": 2, "tails": 8}), [2, 8]),
    ],
    ids=repr,
)
def test_every_way_to_say_pseudo_counts(prior, concentration):
    np.testing.assert_allclose(prior.concentration(COIN), concentration, rtol=1e-15)


@pytest.mark.parametrize("given", [[2, 3], (2, 3), np.array([2, 3])])
def test_pseudo_counts_in_a_row_belong_to_the_codes_0_1_and_so_on(given):
    assert Dirichlet(given).concentration(Variable("v", range(2))).tolist() == [2, 3]


def test_pseudo_counts_in_a_row_are_refused_for_labels_whose_order_may_change():
    with pytest.raises(ParameterError, match=r"does not say which state of column 'coin' is which.*name them"):
        Dirichlet([2, 3]).concentration(COIN)


def test_the_m_rows_of_an_m_estimate_are_shared_by_however_many_states():
    prior = Dirichlet.m_estimate(6)
    assert prior.concentration(Variable("v", range(3))).tolist() == [2, 2, 2]
    assert prior.concentration(Variable("v", ())).tolist() == []


def test_labels_of_a_mapping_are_declared_and_others_are_not():
    assert Dirichlet({"a": 1, "b": 2}).labels == ("a", "b")
    assert Dirichlet([1, 2]).labels == Dirichlet(1).labels == ()
    model = CategoricalNB(columns={"x0": {"prior": Dirichlet({"heads": 1, "edge": 2, "tails": 1})}}).fit(
        [["heads"]], [0]
    )
    assert model.categories_[0].tolist() == ["edge", "heads", "tails"]
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[2 / 5, 2 / 5, 1 / 5]], rtol=1e-15)


def test_a_state_without_a_pseudo_count_is_named():
    with pytest.raises(ParameterError, match="prior of column 'coin' has no pseudo-count for state 'tails'; name it"):
        Dirichlet({"heads": 1}).concentration(COIN)


def test_another_number_of_pseudo_counts_than_states_is_refused():
    with pytest.raises(ParameterError, match=r"'v' has 3 pseudo-counts for 2 states \[0, 1\]; give one for"):
        Dirichlet([1, 2, 3]).concentration(Variable("v", range(2)))


@pytest.mark.parametrize(
    "given", [-1, np.nan, np.inf, "many", None, 1j, [1, -1], [1, "a"], {"a": -0.5}, {"a": None}, np.ones((2, 2))]
)
def test_a_pseudo_count_that_is_no_count_is_refused(given):
    with pytest.raises(ParameterError, match=r"pseudo-count .* in Dirichlet\(.*; pseudo-counts are numbers from 0 to"):
        Dirichlet(given)


@pytest.mark.parametrize("default", [-1, np.inf, "a"])
def test_a_default_that_is_no_count_is_refused(default):
    with pytest.raises(ParameterError, match="pseudo-counts are numbers from 0 to"):
        Dirichlet({"a": 1}, default=default)


def test_a_default_beside_anything_but_a_mapping_is_refused():
    with pytest.raises(
        ParameterError, match=r"default=2 in Dirichlet\(1, default=2\) is for states that a mapping does"
    ):
        Dirichlet(1, default=2)


@pytest.mark.parametrize(
    ("m", "proportions", "message"),
    [
        (-1, None, "pseudo-count -1"),
        ("a", None, "m is 'a'; give the number of rows imagined"),
        ([1, 2], None, r"m is \[1, 2\]"),
        (np.nan, {"a": 1}, "m is nan"),
        (1, {"a": 0, "b": 0}, r"the proportions .* sum to 0; at least one must be over 0"),
        (1, {}, r"the proportions {} sum to 0"),
        (1, {"a": -1, "b": 2}, "pseudo-count -1.0"),
    ],
)
def test_a_bad_m_estimate_is_refused(m, proportions, message):
    with pytest.raises(ParameterError, match=message):
        Dirichlet.m_estimate(m, proportions)


# ---------------------------------------------------------------------- Beta


def test_a_beta_without_names_does_not_guess_which_category_is_which():
    with pytest.raises(ParameterError, match=r"does not say which state of column 'x0' is which; name them"):
        CategoricalNB(columns={0: {"prior": Beta(2, 8)}}).fit([[0], [1]], [0, 0])


@pytest.mark.parametrize("pair", [(1,), (1, 2, 3), {"a": 1}, 5, np.array([1, 2])])
def test_a_beta_needs_two_pseudo_counts(pair):
    with pytest.raises(ParameterError, match="needs two pseudo-counts"):
        Beta(pair)


@pytest.mark.parametrize("pair", [(1, -1), (np.nan, 1), ("a", 1)])
def test_a_beta_of_bad_pseudo_counts_is_refused(pair):
    with pytest.raises(ParameterError, match="pseudo-counts are numbers from 0 to"):
        Beta(*pair)


@pytest.mark.parametrize("prior", [Beta(2, 8), Beta((2, 8)), Beta({True: 2, False: 8}), Beta({0: 8, 1: 2})])
def test_a_mark_is_present_or_absent(prior):
    assert (prior.present, prior.absent) == (2, 8)
    model = BernoulliNB(columns={0: {"prior": prior}}).fit([[1], [0], [0]], [0, 0, 0])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[3 / 13]], rtol=1e-15)


def test_a_mark_is_not_known_by_other_names():
    with pytest.raises(
        ParameterError, match=r"is for a binary feature: name its states True and False, or give Beta\(a"
    ):
        BernoulliNB(columns={0: {"prior": Beta({"heads": 1, "tails": 1})}}).fit([[1], [0]], [0, 0])


# ---------------------------------------------------------------------- as values


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (Dirichlet(), "Dirichlet(1.0)"),
        (Dirichlet([1, 2]), "Dirichlet((1, 2))"),
        (Dirichlet({"a": 1}, default=2), "Dirichlet({'a': 1}, default=2)"),
        (Dirichlet.m_estimate(3), "MEstimate(3)"),
        (Beta(2, 8), "Beta((2, 8))"),
    ],
)
def test_a_prior_is_shown_as_it_is_made(prior, words):
    assert repr(prior) == words


def test_priors_are_equal_by_what_they_say():
    assert Dirichlet({"a": 1, "b": 2}) == Dirichlet({"b": 2, "a": 1})
    assert Dirichlet([1, 2]) == Dirichlet(np.array([1, 2]))
    assert hash(Dirichlet([1, 2])) == hash(Dirichlet((1, 2)))
    assert Dirichlet([1, 2]) != Dirichlet([2, 1])
    assert Dirichlet({"a": 1}) != Dirichlet({"a": 1}, default=1)
    assert Dirichlet((2, 8)) != Beta(2, 8)
    assert Dirichlet(1) != 1
    long = np.ones(5000)
    long[2500] = 2
    assert Dirichlet(long) != Dirichlet(np.ones(5000))


@pytest.mark.parametrize("prior", [Dirichlet([1, 2]), Beta(1, 2), Dirichlet.m_estimate(3), Dirichlet({"a": 1})])
def test_a_copy_is_equal(prior):
    assert copy.deepcopy(prior) == pickle.loads(pickle.dumps(prior)) == prior


def test_a_prior_does_not_change_with_the_array_it_was_made_of():
    given = np.array([1.0, 2.0])
    prior = Dirichlet(given)
    given[0] = 99
    assert prior.concentration(Variable("v", range(2))).tolist() == [1, 2]


# ---------------------------------------------------------------------- class prior


def prior_of(count, class_alpha, *given, **fit_prior):
    return Prior.of(np.array(count), PseudoCounts("laplace", class_alpha), *given, **fit_prior)


def test_the_counted_prior_is_smoothed_by_class_alpha():
    prior = np.exp(prior_of([1, 3, 0], 2.0).log)
    np.testing.assert_allclose(prior, [3 / 10, 5 / 10, 2 / 10], rtol=1e-15)


def test_a_class_without_rows_has_prior_zero_unless_it_is_smoothed():
    assert prior_of([1, 0], 0.0).log.tolist() == [0.0, -np.inf]


def test_a_prior_that_is_not_counted_is_uniform():
    prior = prior_of([1, 3, 0], 5.0, fit_prior=False).log
    np.testing.assert_allclose(prior, -np.log(3), rtol=1e-15)


def test_a_given_prior_stands_and_may_be_zero():
    assert prior_of([9, 1], 1.0, np.array([0.0, 1.0])).log.tolist() == [-np.inf, 0.0]


@pytest.mark.parametrize("given", [[0.3, 0.7], (0.3, 0.7), np.array([0.3, 0.7], dtype=np.float32), [0.3, 0.7 + 1e-9]])
def test_probabilities_that_sum_to_one_are_accepted(given):
    np.testing.assert_allclose(checked_class_prior(given, 2, "priors"), [0.3, 0.7], rtol=1e-6)  # single precision
    assert checked_class_prior(None, 2, "priors") is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0], r"Number of priors must match number of classes: priors has shape \(1,\), and there are 2 classes"),
        ([[0.5, 0.5]], r"priors has shape \(1, 2\)"),
        (0.5, r"priors has shape \(\)"),
        ([0.5, 0.6], r"The sum of the priors should be 1: priors is \[0.5, 0.6\], with sum 1.1"),
        ([1.5, -0.5], r"Priors must be non-negative: priors is \[1.5, -0.5\]"),
        ([np.nan, 1.0], r"Priors must be non-negative: priors is \[nan, 1.0\]"),
        ([np.inf, 0.0], "Priors must be non-negative"),
        (["a", "b"], r"priors is \['a', 'b'\]; give one probability for each class"),
        ([None, {}], "give one probability for each class"),
    ],
)
def test_what_is_no_distribution_is_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        checked_class_prior(given, 2, "priors")


# ---------------------------------------------------------------------- categories


def test_states_of_a_column_share_its_rows():
    model = CategoricalNB(alpha=[1.0, 0.0]).fit([[0, 0], [2, 1], [0, 1]], [0, 0, 1])
    first, second = (np.exp(part) for part in model.feature_log_prob_)
    np.testing.assert_allclose(first, [[2 / 5, 1 / 5, 2 / 5], [2 / 4, 1 / 4, 1 / 4]], rtol=1e-15)
    np.testing.assert_allclose(second, [[1 / 2, 1 / 2], [0, 1]], rtol=1e-15)


def test_missing_cells_take_no_share_unless_they_are_a_state():
    cells, y = [["a"], [None], [None]], [0, 0, 0]
    ignored = CategoricalNB(missing="ignore").fit(cells, y)
    assert np.exp(ignored.feature_log_prob_[0]).tolist() == [[1.0]]
    stated = CategoricalNB(missing="state").fit(cells, y)
    np.testing.assert_allclose(np.exp(stated.feature_log_prob_[0]), [[2 / 5, 3 / 5]], rtol=1e-15)


def test_a_column_that_no_row_of_a_class_has_is_uniform_when_nothing_is_smoothed():
    model = CategoricalNB(alpha=0, missing="ignore").fit([["a"], ["b"], [None]], [0, 0, 1])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[0.5, 0.5], [0.5, 0.5]], rtol=1e-15)


@pytest.mark.parametrize("rule", ["ignore", "state"])
def test_a_column_of_missing_cells_alone_says_nothing(rule):
    model = CategoricalNB(missing=rule).fit([["a", None], ["b", None]], [0, 1])
    alone = CategoricalNB().fit([["a"], ["b"]], [0, 1])
    np.testing.assert_allclose(
        model.predict_log_proba([["a", None], ["b", None]]), alone.predict_log_proba([["a"], ["b"]]), rtol=1e-15
    )
