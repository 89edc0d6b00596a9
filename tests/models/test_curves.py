"""The curve of a column: what each classifier has learned of it, class by class, as plain data."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal, norm

import bayeswater as bw

RNG = np.random.default_rng(1)
Y = np.repeat(["no", "yes"], 30)
NUMBERS = pd.DataFrame(RNG.normal(size=(60, 2)) + (Y == "yes")[:, None], columns=["u", "v"])
STATES = pd.DataFrame({"c": RNG.choice(list("pqr"), 60), "d": RNG.choice(list("st"), 60)})


def test_densities_are_those_of_the_parameters():
    model = bw.GaussianNB().fit(NUMBERS, Y)
    curve = model.curve("v")
    assert_allclose(
        curve.values, norm(model.theta_[:, 1], np.sqrt(model.var_[:, 1])).pdf(curve.at[:, None]), rtol=1e-12
    )


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal"])
def test_densities_of_dependent_columns_are_those_of_each_alone(covariance):
    model = bw.GaussianClassifier(covariance=covariance).fit(NUMBERS, Y)
    curve = model.curve("u")
    grid = np.linspace(-40, 40, 4001)  # the density of both columns, summed over the other
    for k in range(2):
        both = multivariate_normal(model.means_[k], model.covariances_[k])
        for i in (0, 200, 399):
            column = np.column_stack([np.full(len(grid), curve.at[i]), grid])
            assert_allclose(curve.values[i, k], np.trapezoid(both.pdf(column), grid), rtol=1e-9)


def test_shares_are_those_of_tables_where_columns_are_states():
    plain = bw.CategoricalNB().fit(STATES, Y)
    assert_array_equal(plain.curve("c").values, plain.tables()["c"][["P(c | no)", "P(c | yes)"]])
    for kind in (bw.TAN, bw.AODE, bw.KDB):
        curve = kind().fit(STATES, Y).curve("c")
        assert curve.at == ["p", "q", "r"]
        assert_array_equal(curve.counts, pd.crosstab(STATES["c"], Y))
        assert_allclose(curve.values.sum(axis=0), 1.0)
    network = bw.NetworkClassifier(structure="naive").fit(STATES, Y)
    shares = network.network_.query("c", {"class": "yes"})
    assert_allclose(network.curve("c").values[:, 1], [shares[state] for state in "pqr"], rtol=1e-12)


def test_features_are_given_one_by_one_or_those_that_tell_most():
    counts = np.array([[3, 0, 1], [4, 1, 1], [0, 5, 1]])
    for kind in (bw.MultinomialNB, bw.BernoulliNB):
        model = kind().fit(counts, [0, 0, 1])
        assert_allclose(model.curve("x1").values, np.exp(model.feature_log_prob_[:, [1]].T))
        assert_array_equal(model.curve("x1").counts, model.feature_count_[:, [1]].T)
        assert set(model.curve().at) == {"x0", "x1", "x2"} and model.curve().at[-1] == "x2"
    assert_allclose(bw.ComplementNB().fit(counts, [0, 0, 1]).curve().values.sum(axis=0), 1.0)


def test_what_has_no_curve_says_why():
    frame = NUMBERS.assign(id=[f"row {i}" for i in range(60)])
    model = bw.NaiveBayes(columns={"id": "ignored"}).fit(frame, Y)
    with pytest.raises(bw.SchemaError, match="left out"):
        model.curve("id")
    with pytest.raises(bw.SchemaError, match="no column 'w'"):
        model.curve("w")
    with pytest.raises(bw.SchemaError, match="no column 'w'"):
        bw.GaussianNB().fit(NUMBERS, Y).curve("w")
    with pytest.raises(bw.ParameterError, match="no single distribution"):
        bw.BayesEnsemble().fit(STATES, Y).curve("c")
