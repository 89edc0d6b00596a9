"""The log Bayes factor of two laws against one, held to products of predictive probabilities, row by row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import comb, logsumexp
from scipy.stats import nbinom, t
from tests.families.test_every_law import CELLS, N, Y, frame_of, model_of

from bayeswater import CategoricalNB, GaussianNB, NaiveBayes, drift
from bayeswater.families.two_laws import LOOKED_UP, STRENGTHS, normal_factor, shares_factor, with_all_classes
from bayeswater.models.drifting import factors_of


def mixed(factor):
    return logsumexp([factor(strength) for strength in STRENGTHS]) - np.log(len(STRENGTHS))


def splits(both, n):
    """All ways in which n of the rows of some states can be in the first set."""
    if len(both) == 1:
        return [(n,)] if n <= both[0] else []
    return [(k, *rest) for k in range(min(both[0], n) + 1) for rest in splits(both[1:], n - k)]


@pytest.mark.parametrize("both", [(6, 6), (12, 2, 1), (3, 3, 3, 2, 1), (1, 1, 1, 1, 1, 1, 1, 1), (40, 30, 1)])
@pytest.mark.parametrize("n", [3, 5])
def test_under_one_law_the_factor_of_states_is_one_on_average(both, n):
    """Where two laws and one explain as much on average, over all ways in which the rows can fall: by brute force."""
    ways, rows = np.array(splits(both, n)).T, np.array(both)[:, None]  # (n_states, n_ways), (n_states, 1)
    chance = comb(rows, ways).prod(axis=0) / comb(sum(both), n)
    factor = np.exp(shares_factor(ways * 1.0, rows - ways * 1.0))
    assert_allclose(chance @ factor, 1.0, atol=0.08)  # the sums are taken as normal


def test_many_states_of_one_law_are_no_change():
    rng = np.random.default_rng(1)
    for n_states in (2, 10, 100, 800, 3000):
        counts = [rng.multinomial(1000, np.full(n_states, 1 / n_states), size=40).T * 1.0 for _ in range(2)]
        assert np.quantile(shares_factor(*counts), 0.9) < np.log(10)


def test_the_factor_of_numbers_is_that_of_predicting_them_one_by_one_by_students_t():
    rng = np.random.default_rng(0)
    x, z = rng.normal(2, 3, size=7), rng.normal(4, 1, size=5)
    both = np.concatenate([x, z])

    def predicted(values, strength):
        kappa, shape, mean, scale, log_p = strength, strength / 2, both.mean(), strength / 2 * both.var(), 0.0
        for value in values:
            width = np.sqrt(scale * (kappa + 1) / (shape * kappa))
            log_p += t.logpdf(value, 2 * shape, mean, width)
            scale += kappa * (value - mean) ** 2 / (2 * (kappa + 1))
            mean, kappa, shape = (kappa * mean + value) / (kappa + 1), kappa + 1, shape + 0.5
        return log_p

    def moments(values):
        return tuple(np.array([s]) for s in (float(len(values)), values.mean(), values.var() * len(values)))

    expected = mixed(lambda s: predicted(x, s) + predicted(z, s) - predicted(both, s))
    assert_allclose(normal_factor(moments(x), moments(z)) + LOOKED_UP, [expected], rtol=1e-9)


def test_the_factor_of_counts_is_that_of_predicting_them_one_by_one():
    X = frame_of("poisson").drop(columns="other").fillna(1)
    model = model_of("poisson").set_params(columns={"x": "poisson"})
    y = np.repeat("one", N)
    y[-1] = "two"
    halves = [model.__class__(columns={"x": "poisson"}).fit(X[rows], y[rows]) for rows in (slice(0, 40), slice(40, N))]
    x, z = X["x"].to_numpy()[:40], X["x"].to_numpy()[40 : N - 1]
    rate = np.concatenate([x, z]).mean()

    def predicted(values, strength):
        shape, weight, log_p = strength * rate, strength, 0.0
        for value in values:
            log_p += nbinom.logpmf(value, shape, weight / (weight + 1))
            shape, weight = shape + value, weight + 1
        return log_p

    expected = mixed(lambda s: predicted(x, s) + predicted(z, s) - predicted(np.concatenate([x, z]), s))
    (column,) = [c for c in drift(*halves).columns if c.what == "values"]
    assert [own.label for own in column.by_class] == ["one"]
    assert_allclose(column.by_class[0].log_bayes_factor, expected, rtol=1e-8)


@pytest.mark.parametrize("family", sorted(CELLS))
def test_every_law_tells_a_change_from_none(family):
    X = frame_of(family)
    rows = np.arange(N) != 5
    both = model_of(family).fit(X[rows], Y[rows])
    same = drift(both, both)
    assert not same.has_changed and all(c.log_bayes_factor < 0 for c in same.columns if c.name == "x")
    order = sorted(range(N), key=lambda i: (X["x"].isna()[i], str(X["x"][i])))  # what one half has, the other has not
    halves = [model_of(family).fit(X.iloc[half], Y[half]) for half in (order[:45], order[45:])]
    found = {c.name: c for c in drift(*halves).columns if c.what == "values"}
    assert found["x"].log_bayes_factor > 0 >= found["other"].log_bayes_factor
    turned = {c.name: c for c in drift(*halves[::-1]).columns if c.what == "values"}
    assert_allclose(turned["x"].log_bayes_factor, found["x"].log_bayes_factor, rtol=1e-9)


def common_of(before, after):
    rows = tuple(model.statistics_.class_count.count for model in (before, after))
    return [one.common for one in factors_of(before.statistics_.columns, after.statistics_.columns, rows)]


def test_classes_of_equal_shares_of_rows_are_put_together_by_adding_their_counts():
    rng = np.random.default_rng(5)
    a, b = (rng.multinomial(60, [0.2, 0.3, 0.5], size=4).T.astype(float) for _ in range(2))
    for own, together in zip((a, b), with_all_classes(a, b), strict=True):
        assert_allclose(together[:, :4], own)
        assert_allclose(together[:, 4], own.sum(axis=1))


def test_classes_of_the_same_numbers_change_together_as_one_class_of_all_their_rows():
    rng = np.random.default_rng(9)
    values = [np.tile(rng.normal(at, width, size=n), 3)[:, None] for at, width, n in ((0, 1, 40), (0.5, 1.3, 60))]
    three, one = ([GaussianNB().fit(x, np.arange(len(x)) // (len(x) // k)) for x in values] for k in (3, 1))
    (alone,) = drift(*one).columns
    assert_allclose(common_of(*three), alone.by_class[0].log_bayes_factor, rtol=1e-9)


def test_other_frequencies_of_the_classes_are_no_common_change():
    rng = np.random.default_rng(6)
    models = []
    for often in (0.2, 0.8):
        y = (rng.random(2000) < often).astype(int)
        X = np.stack([rng.random(2000) < 0.1 + 0.8 * y, rng.poisson(1 + 5 * y)], axis=1).astype(float)
        models.append((CategoricalNB(min_categories=2).fit(X[:, :1], y), GaussianNB().fit(X[:, 1:], y)))
    assert all(common_of(*pair)[0] < 0 for pair in zip(*models, strict=True))


@pytest.mark.parametrize("law", ["gaussian", "poisson", "negative_binomial", "categorical"])
def test_a_change_of_all_classes_is_weighed_once_and_a_single_class_by_itself(law):
    rng = np.random.default_rng(7)
    X = [rng.poisson(rate, size=(900, 1)) for rate in (4.0, 4.6)]
    columns = {"columns": {"x0": law}}
    one, five = ([NaiveBayes(**columns).fit(own, np.arange(900) % n) for own in X] for n in (1, 5))
    (alone,) = drift(*one).columns
    assert_allclose(common_of(*one), [alone.log_bayes_factor])
    (common,), (column,) = common_of(*five), drift(*five).columns
    assert common > sum(own.log_bayes_factor for own in column.by_class) and column.has_changed
    assert abs(common - alone.log_bayes_factor) < 1.0  # as if there were no classes


def test_the_common_change_of_numbers_goes_by_the_deviations_of_each_class():
    rng = np.random.default_rng(8)
    X, y = [rng.normal(size=(300, 1)), rng.normal(0.3, 1.2, size=(400, 1))], [np.arange(n) % 3 for n in (300, 400)]
    unit, at = np.array([1.0, 1000.0, 0.01])[:, None], np.array([0.0, -5e4, 7.0])[:, None]
    plain, moved = (
        [GaussianNB().fit(own * unit[k] + at[k] if scaled else own, k) for own, k in zip(X, y, strict=True)]
        for scaled in (False, True)
    )
    assert_allclose(common_of(*moved), common_of(*plain), rtol=1e-9)
