"""A2DE against the formula in fractions, and leave-one-out against n refits, for tables with gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.oracles.coded_rows import as_frame, coded_rows, counted, each_left_out, fitted, require_joint
from tests.oracles.dependence import a2de

from bayeswater import A2DE, AODE, KDB

pytestmark = [
    pytest.mark.usefixtures("kernel"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning"),
]

MODELS = [
    A2DE(),
    A2DE(smoothing="laplace", alpha=0.5),
    A2DE(min_support=2, missing="state"),
    A2DE(min_support=3),
    A2DE(alpha=0.0),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=3)
@given(rows=coded_rows(), others=coded_rows(n_rows=(1, 3)))
def test_the_joint_equals_the_formula_in_fractions(model, rows, others):
    oracle = counted(*rows, model)
    looked_at = counted(others[0], others[1], None, model).rows
    expected = [a2de(oracle, row, int(model.min_support)) for row in looked_at]
    require_joint(fitted(model, *rows), others[0], expected)


@pytest.mark.parametrize("model", [*MODELS, A2DE(class_prior=[0.5, 0.25, 0.25])], ids=str)
@settings(max_examples=2)
@given(rows=coded_rows())
def test_leave_one_out_equals_refits_without_the_row(model, rows):
    codes, labels, weights = rows
    frame = as_frame(codes)
    found = fitted(model, *rows).loo_predict_log_proba(frame, labels, sample_weight=weights)
    assert not np.isnan(found).any()
    for i, rest in each_left_out(labels, weights):
        expected = fitted(model, codes, labels, rest).predict_log_proba(frame.iloc[[i]])[0]
        # Sums of some ten logarithms, in another order.
        np.testing.assert_allclose(found[i], expected, rtol=1e-11, atol=1e-11)


@settings(max_examples=10)
@given(rows=coded_rows(n_rows=(2, 12)))
def test_two_columns_have_but_one_pair_of_parents(rows):
    codes, labels, weights = rows
    frame = as_frame(codes)[["c0", "c1"]]
    model = A2DE().fit(frame, labels, weights)
    counts = model.statistics_.columns.groups["pairs"].of_pair(0, 1)[:2, :3]
    k = counts.shape[2]
    share = (counts + 1 / (6 * k)) / (counts.sum() + 1)
    there = (codes[:, :2] >= 0).all(axis=1) & (counts.sum(axis=2)[codes[:, 0], codes[:, 1]] >= 1)
    found = model.predict_joint_log_proba(frame)[there]
    np.testing.assert_allclose(found, np.log(share[codes[there, 0], codes[there, 1]]), rtol=1e-12)


def test_one_column_is_naive_bayes():
    frame, y = as_frame(np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]))[["c0"]], ["a", "b", "b"]
    expected = KDB(0, smoothing="m-estimate").fit(frame, y).predict_joint_log_proba(frame)
    for model in (A2DE(), AODE()):
        np.testing.assert_allclose(model.fit(frame, y).predict_joint_log_proba(frame), expected, rtol=1e-13)
