"""Priors and `min_categories` on columns of integer codes."""

import numpy as np
import pytest

from bayeswater import CategoricalNB, Dirichlet, ParameterError

X, y = [[0, 1], [1, 0], [1, 1]], [0, 1, 1]


@pytest.mark.parametrize("label", ["red", -1, 1.5])
def test_a_prior_that_names_no_code_is_refused_by_name(label):
    model = CategoricalNB(columns={0: {"prior": Dirichlet({label: 2.0}, default=1.0)}})
    with pytest.raises(ParameterError, match=f"column 'x0' names {label!r}"):
        model.fit(X, y)


def test_codes_that_a_prior_names_belong_to_the_domain():
    model = CategoricalNB(columns={0: {"prior": Dirichlet({3: 2.0}, default=1.0)}}).fit(X, y)
    np.testing.assert_array_equal(model.n_categories_, [4, 2])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0][0]), np.array([2, 1, 1, 2]) / 6, rtol=1e-15)


def test_declared_codes_stay_when_their_rows_are_forgotten():
    model = CategoricalNB(min_categories=[3, 1]).fit([[4, 4], *X], [0, *y]).forget([[4, 4]], [0])
    np.testing.assert_array_equal(model.n_categories_, [3, 2])
    assert model.statistics_ == CategoricalNB(min_categories=[3, 1]).fit(X, y).statistics_
