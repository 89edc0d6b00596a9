"""SPODE, TAN and AODE against the formula in fractions, and leave-one-out against n refits, for tables with gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from tests.oracles.coded_rows import as_frame, coded_rows, counted, each_left_out, fitted, require_joint

from bayeswater import AODE, SPODE, TAN

pytestmark = [
    pytest.mark.usefixtures("kernel"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning"),
]

MODELS = [
    AODE(),
    AODE(smoothing="laplace", alpha=0.5),
    AODE(min_support=3, missing="state"),
    SPODE("c1"),
    SPODE("c2", smoothing="laplace", missing="state"),
    TAN(),
    TAN(root="c0", missing="state", alpha=2.0),
    TAN(parents={"c0": "c1", "c1": "c2", "c3": "c1"}),
    TAN(penalty="aic"),
    AODE(alpha=0.0),
    SPODE("c0", alpha=0.0),
    TAN(alpha=0.0),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=3)
@given(rows=coded_rows(), others=coded_rows(n_rows=(1, 3)))
def test_the_joint_equals_the_formula_in_fractions(model, rows, others):
    fit = fitted(model, *rows)
    oracle = counted(*rows, model)
    codes = others[0]
    looked_at = counted(codes, others[1], None, model).rows
    if isinstance(model, AODE):
        expected = [oracle.aode(row, int(model.min_support)) for row in looked_at]
    elif isinstance(model, SPODE):
        center = int(fit.super_parent_[1])
        expected = [oracle.spode(row, center) for row in looked_at]
    else:
        parents = [-1 if p is None else int(p[1]) for p in fit.parents_.values()]
        expected = [oracle.tree(row, parents) for row in looked_at]
    require_joint(fit, codes, expected)


LEFT_OUT = [
    *MODELS[:4],
    TAN(),
    TAN(missing="state"),
    AODE(weighting="mi"),
    AODE(subsumption=2),
    AODE(weighting="mi", missing="state", min_support=2),
    AODE(class_prior=[0.5, 0.25, 0.25]),
    SPODE("c3", class_prior=[0.5, 0.25, 0.25]),
    TAN(class_prior=[0.5, 0.25, 0.25], smoothing="laplace"),
]


@pytest.mark.parametrize("model", LEFT_OUT, ids=str)
@settings(max_examples=3)
@given(rows=coded_rows())
def test_leave_one_out_equals_refits_without_the_row(model, rows):
    codes, labels, weights = rows
    frame, whole = as_frame(codes), fitted(model, codes, labels, weights)
    found = whole.loo_predict_log_proba(frame, labels, sample_weight=weights)
    assert not np.isnan(found).any()
    held = clone(model)
    if isinstance(model, TAN):
        held.set_params(parents=whole.parents_, root=None, penalty=None)  # its tree is that of all rows
    for i, rest in each_left_out(labels, weights):
        expected = fitted(held, codes, labels, rest).predict_log_proba(frame.iloc[[i]])[0]
        # A weight of mutual information hangs on differences of n log n, whose last digits are lost.
        share = 1e-9 if getattr(model, "weighting", None) else 1e-11
        np.testing.assert_allclose(found[i], expected, rtol=share, atol=share)


@settings(max_examples=3)
@given(rows=coded_rows(n_rows=(4, 12)))
def test_a_nested_choice_is_held_when_a_row_is_left_out(rows):
    codes, labels, weights = rows
    model = fitted(AODE(select=True), codes, labels, weights)
    parents, children = model.structure_
    plain = AODE().fit(as_frame(codes), labels, weights)
    assert set(parents) | set(children) <= set(plain.columns_._by_name)
    found = model.loo_predict_log_proba(as_frame(codes), labels, sample_weight=weights)
    for i, rest in each_left_out(labels, weights):
        refit = fitted(AODE(), codes, labels, rest)
        refit.set_params(select=True).structure_ = model.structure_
        np.testing.assert_allclose(found[i], refit.predict_log_proba(as_frame(codes[[i]]))[0], rtol=1e-11, atol=1e-11)
