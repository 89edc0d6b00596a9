"""KDB and SKDB against the formula in fractions, leave-one-out against counts without the row, for tables with gaps."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from tests.oracles.coded_rows import N_CLASSES, as_frame, coded_rows, counted, fitted
from tests.oracles.dependence import BackOff, Dependence
from tests.oracles.exact import log
from tests.oracles.semi_naive import Counted

from bayeswater import KDB, SKDB, NaiveBayes
from bayeswater.inference import dependence

pytestmark = [
    pytest.mark.usefixtures("kernel"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning"),
]

CLOSE = 1e-11
"""Share of a log-joint that its logarithms and sums may be rounded by; sums over missing cells have many terms."""

CHAIN = {"c1": ["c0"], "c2": ["c1", "c0"], "c3": ["c0", "c2", "c1"]}

MODELS = [
    KDB(1),
    KDB(2),
    KDB(3, class_free=0.0),
    KDB(2, class_free=1.0, alpha=2.0),
    KDB(2, smoothing="m-estimate"),
    KDB(3, smoothing="laplace", alpha=0.5, missing="state"),
    KDB(2, missing="state"),
    KDB(parents=CHAIN),
    KDB(parents=CHAIN, smoothing="m-estimate"),
    KDB(2, smoothing="m-estimate", alpha=0.0),
    SKDB(3),
    SKDB(2, smoothing="m-estimate", missing="state"),
]


def exact(model: Any, rows: Counted) -> Dependence:
    """The formula of a fitted model, with its concentrations, for any rows."""
    parents = [[int(p[1]) for p in own] for own in model.parents_.values()]
    if model.smoothing != "back-off":
        return Dependence(rows, parents)
    c, f = model.concentrations_["with_class"], model.concentrations_["without_class"]
    return Dependence(rows, parents, BackOff([*map(Fraction, c)], [*map(Fraction, f)], Fraction(model.class_free)))


def used(model: Any) -> list[int] | None:
    return [int(name[1]) for name in model.selected_] if isinstance(model, SKDB) else None


def require_close(found: Any, expected: Any) -> None:
    logs = np.array([[float(log(share)) for share in shares] for shares in expected])
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(logs))
    finite = np.isfinite(logs)
    np.testing.assert_allclose(found[finite], logs[finite], rtol=CLOSE, atol=CLOSE)


def without(rows: Counted, i: int) -> Counted:
    """The rows without one of those that row i stands for."""
    weights = [w - min(w, Fraction(1)) if j == i else w for j, w in enumerate(rows.weights)]
    kept = [j for j, w in enumerate(weights) if w]
    return Counted(
        [rows.rows[j] for j in kept],
        [rows.labels[j] for j in kept],
        [weights[j] for j in kept],
        rows.n_states,
        rows.n_classes,
        rows.alpha,
        rows.laplace,
    )


@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=3)
@given(rows=coded_rows(), others=coded_rows(n_rows=(1, 3)))
def test_the_joint_equals_the_formula_in_fractions(model, rows, others):
    fit = fitted(model, *rows)
    oracle = exact(fit, counted(*rows, model))
    looked_at = counted(others[0], others[1], None, model).rows
    found = fit.predict_joint_log_proba(as_frame(others[0]))
    require_close(found, [oracle.joint(row, used(fit)) for row in looked_at])


@pytest.mark.parametrize("way", ["trees instead of tables", "one missing cell after the other"])
@settings(max_examples=5)
@given(rows=coded_rows(n_rows=(4, 12)), others=coded_rows(n_rows=(3, 6)))
def test_rows_are_scored_alike_in_every_way(way, rows, others):
    model, plain = (fitted(KDB(parents=CHAIN), *rows) for _ in range(2))
    frame, own = as_frame(others[0]), as_frame(rows[0])
    expected = plain.predict_joint_log_proba(frame), plain.loo_predict_log_proba(own, rows[1], sample_weight=rows[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dependence, "FLAT_TERMS" if "tables" in way else "MOST_FILLED", 0)
        found = model.predict_joint_log_proba(frame), model.loo_predict_log_proba(own, rows[1], sample_weight=rows[2])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=3)
@given(rows=coded_rows(n_rows=(2, 8)))
def test_leave_one_out_equals_the_formula_without_the_row(model, rows):
    codes, labels, weights = rows
    fit = fitted(model, *rows)
    all_rows = counted(*rows, model)
    found = fit.loo_predict_log_proba(as_frame(codes), labels, sample_weight=weights)
    for i, row in enumerate(all_rows.rows):
        rest = without(all_rows, i)
        if not rest.rows:
            continue  # no row would remain
        joint = exact(fit, rest).joint(row, used(fit))
        whole = sum(joint)
        prior = [rest.prior(y) for y in range(N_CLASSES)]
        expected = [share / whole for share in joint] if whole else prior
        require_close(found[i : i + 1], [expected])


def test_a_node_that_holds_only_the_row_left_out_counts_as_unseen():
    # Row 0 alone has (a=1): without it, its b is predicted by P(b | y), not drawn towards F_1 = P(b | a=1).
    codes = np.array([[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 1], [0, 2, 1, 0]])
    labels = np.array([0, 0, 1, 1, 0])
    fit = fitted(KDB(parents={"c1": ["c0"]}, class_free=1.0), codes, labels, None)
    found = fit.loo_predict_log_proba(as_frame(codes), labels)[0]
    rest = without(counted(codes, labels, None, fit), 0)
    joint = exact(fit, rest).joint([1, 0, 0, 0])
    require_close(found[None], [[share / sum(joint) for share in joint]])


@settings(max_examples=4)
@given(rows=coded_rows(n_rows=(2, 8)))
def test_the_pass_of_skdb_equals_leaving_out_every_row_of_every_model(rows):
    codes, labels, weights = rows
    model = fitted(SKDB(2), *rows)
    times = np.ones(len(labels)) if weights is None else weights
    order = model._order(model.statistics_)
    names = [f"c{j}" for j in order]
    judged = model.statistics_.class_count.count[labels] > np.minimum(times, 1.0)
    losses = np.zeros((3, len(order) + 1))
    for k in range(3):
        for a in range(len(order) + 1):
            held = clone(model)
            held.__dict__ |= {key: value for key, value in vars(model).items() if key.endswith("_") or key[0] == "_"}
            held._memo, held.structure_ = {}, (k, tuple(names[:a]))
            log_proba = held.loo_predict_log_proba(as_frame(codes), labels, sample_weight=weights)
            own = np.exp(log_proba[np.arange(len(labels)), labels])
            losses[k, a] = ((1 - own) ** 2 * times)[judged].sum()
    k, a = np.argwhere(losses <= losses.min() * (1 + 1e-9))[0].tolist()
    assert model.structure_ == (k, tuple(names[:a]))


@settings(max_examples=10)
@given(rows=coded_rows(n_rows=(2, 12)), others=coded_rows(n_rows=(1, 5)))
def test_without_parents_it_is_naive_bayes(rows, others):
    codes, labels, weights = rows
    frame, other = as_frame(codes), as_frame(others[0])
    model = KDB(0, smoothing="laplace", alpha=0.5).fit(frame, labels, weights)
    naive = NaiveBayes(alpha=0.5, class_alpha=0.5).fit(frame, labels, weights)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(other), naive.predict_joint_log_proba(other), rtol=1e-12, atol=1e-12
    )
