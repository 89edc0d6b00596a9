"""Every classifier explains, calibrates, leaves rows out, says what to ask for, and is saved; or says why not."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesEnsemble,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
    ParameterError,
    load,
    save,
)

N = 150
RNG = np.random.default_rng(5)
LABELS = RNG.choice(["low", "mid", "top"], N, p=[0.5, 0.3, 0.2])
CODES = np.searchsorted(["low", "mid", "top"], LABELS)
STATES = pa.table(
    {
        "town": RNG.choice(["A", "B", "C"], N),
        "mood": np.where(RNG.random(N) < 0.5, np.array(["x", "y", "z"])[CODES], "w"),
        "rank": RNG.binomial(3, 0.2 + 0.25 * CODES).astype(str),
    }
)
NUMBERS = pa.table({"age": RNG.normal(40 + 4 * CODES, 9), "size": RNG.normal(CODES, 1), "luck": RNG.normal(size=N)})
COUNTS = pa.table({name: RNG.poisson(1 + (k == CODES)) for k, name in enumerate(["sport", "art", "law", "sea"])})
MARKS = pa.table({name: (RNG.random(N) < 0.3 + 0.3 * (k == CODES)) * 1.0 for k, name in enumerate("abcd")})

CALIBRATED: list[tuple[Any, pa.Table]] = [
    (GaussianNB(missing="ignore"), NUMBERS),
    (GaussianClassifier(), NUMBERS),
    (GaussianClassifier(covariance="diagonal"), NUMBERS),
    (MultinomialNB(), COUNTS),
    (BernoulliNB(missing="ignore"), MARKS),
    (CategoricalNB(missing="ignore"), STATES),
    (NaiveBayes(), STATES),
    *((kind(), STATES) for kind in (SPODE, TAN, AODE, A2DE, KDB, SKDB)),
    (NetworkClassifier("tree"), STATES),
    (NetworkClassifier(), STATES),
]
ALL = [*CALIBRATED, (ComplementNB(), COUNTS)]


def named(value: Any) -> str:
    return repr(value) if hasattr(value, "fit") else ""


def with_holes(table: pa.Table) -> pa.Table:
    """Take some cells away."""
    rng = np.random.default_rng(7)
    return pa.table({name: pa.array(table[name].to_pylist(), mask=rng.random(N) < 0.2) for name in table.column_names})


every_model = pytest.mark.parametrize(("model", "table"), ALL, ids=named)
every_calibrated_model = pytest.mark.parametrize(("model", "table"), CALIBRATED, ids=named)


@every_model
@pytest.mark.parametrize("holes", [False, True])
def test_reasons_add_up_to_the_log_odds_of_the_joint_probabilities(model, table, holes):
    if holes and isinstance(model, MultinomialNB | ComplementNB):
        pytest.skip("counts have no holes")
    fitted = clone(model).fit(table, LABELS)
    rows = (with_holes(table) if holes else table)[:40]
    found = fitted.explain(rows)
    log_joint, at = fitted.predict_joint_log_proba(rows), np.arange(40)
    chosen, against = (np.searchsorted(fitted.classes_, labels) for labels in (found.prediction, found.against))
    expected = log_joint[at, chosen] - log_joint[at, against]
    np.testing.assert_allclose(found.intercept + found.contributions.sum(axis=1), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.log_odds, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.prediction, fitted.predict(rows))
    assert "rather than" in str(found[0])


@pytest.mark.parametrize(
    ("model", "table"), [(m, X) for m, X in ALL if not isinstance(m, NetworkClassifier)], ids=named
)
@pytest.mark.parametrize("calibrate", [False, True])
def test_a_table_in_pieces_of_one_class_each_is_learned_as_a_whole(model, table, calibrate):
    if calibrate and isinstance(model, ComplementNB):
        pytest.skip("it is no distribution")
    settings = {"calibrate": True} if calibrate else {}
    pieces = [(table.filter(pa.array(label == LABELS)), LABELS[label == LABELS]) for label in ("top", "low", "mid")]
    found = clone(model).set_params(**settings).fit_batches(pieces)
    whole = clone(model).set_params(**settings).fit(table, LABELS)
    np.testing.assert_allclose(found.predict_proba(table), whole.predict_proba(table), rtol=1e-9, atol=1e-12)


@every_calibrated_model
def test_a_calibration_is_learned_told_in_reasons_and_saved(model, table, tmp_path):
    plain = clone(model).fit(table, LABELS)
    fitted = clone(model).set_params(calibrate=True).fit(table, LABELS)
    report = fitted.calibration_
    assert report.n_used + report.n_left_out == N
    assert report.scored_by == "leave-one-out" and report.map.temperature > 0
    np.testing.assert_allclose(fitted.predict_joint_log_proba(table), plain.predict_joint_log_proba(table), rtol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(table).sum(axis=1), 1, rtol=1e-12)
    explained = fitted.explain(table[:5])
    np.testing.assert_allclose(explained.calibrated_probability, fitted.predict_proba(table[:5]).max(axis=1), rtol=1e-9)
    save(fitted, tmp_path / "model.bayes")
    again = load(tmp_path / "model.bayes")
    np.testing.assert_array_equal(again.predict_proba(table), fitted.predict_proba(table))
    np.testing.assert_array_equal(
        again.loo_predict_log_proba(table, LABELS), fitted.loo_predict_log_proba(table, LABELS)
    )


# Of the others `tests/laws/test_calibration.py` asks it, for rows in pieces, too.
@pytest.mark.parametrize(
    ("model", "table"),
    [
        (model, table)
        for model, table in CALIBRATED
        if isinstance(model, GaussianNB | MultinomialNB | BernoulliNB | CategoricalNB | NetworkClassifier)
    ],
    ids=named,
)
def test_a_calibration_does_not_depend_on_the_order_of_rows(model, table):
    order = RNG.permutation(N)
    first = clone(model).set_params(calibrate=True).fit(table, LABELS)
    other = clone(model).set_params(calibrate=True).fit(table.take(order), LABELS[order])
    np.testing.assert_allclose(other.predict_proba(table), first.predict_proba(table), rtol=1e-7)


@pytest.mark.parametrize("shape", ["naive", "tree", "augmented", "learned"])
def test_leaving_a_row_out_of_a_network_equals_a_refit_of_its_tables_without_it(shape):
    model = NetworkClassifier(shape, alpha=0.5).fit(STATES, LABELS)
    found = model.loo_predict_log_proba(STATES, LABELS)
    network, codes = model._factors, np.vstack([CODES, *np.array(model._table(STATES).columns)])
    for i in range(0, N, 7):
        rest = np.delete(codes, i, axis=1)
        total = np.zeros(3)
        for v, parents in enumerate(network.parents):
            table = np.full([network.cards[p] for p in (*parents, v)], 0.5)
            np.add.at(table, tuple(rest[[*parents, v]]), 1)
            table /= table.sum(axis=-1, keepdims=True)
            for k in range(3):
                states = np.r_[k, codes[1:, i]]
                total[k] += np.log(table[tuple(states[[*parents, v]])])
        np.testing.assert_allclose(found[i], total - np.log(np.exp(total).sum()), rtol=1e-12, atol=1e-12)


def test_a_row_with_holes_is_taken_out_in_shares(monkeypatch):
    rows = with_holes(STATES)
    model = NetworkClassifier("tree").fit(rows, LABELS)
    found = model.loo_predict_log_proba(rows, LABELS)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, rtol=1e-12)
    own, plain = found[np.arange(N), CODES], model.predict_log_proba(rows)[np.arange(N), CODES]
    assert (own <= plain + 1e-9).mean() > 0.95  # without a row, its class is less sure
    from bayeswater.models.structures import class_networks

    monkeypatch.setattr(class_networks, "MOST_FILLED", 0)
    by_tree = model.loo_predict_log_proba(rows, LABELS)
    assert np.abs(by_tree - found).max() < 0.2


ASKING = [one for one in CALIBRATED if not isinstance(one[0], MultinomialNB)]


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize(("model", "table"), ASKING, ids=named)
def test_what_can_be_asked_for_is_never_worth_less_than_nothing(model, table, calibrate):
    fitted = clone(model).set_params(calibrate=calibrate).fit(table, LABELS)
    row = {name: table[name][0].as_py() for name in table.column_names[:1]}
    found = fitted.next_best(row)
    assert {question.column for question in found} == set(table.column_names[1:])
    assert all(question.value.worth >= -1e-12 for question in found)
    assert all(a.value.net >= b.value.net for a, b in pairwise(found))


@pytest.mark.parametrize(
    "model", [TAN(), SPODE(), KDB(), SKDB(), NetworkClassifier("augmented"), CategoricalNB(missing="ignore")], ids=named
)
def test_the_worth_of_a_state_is_the_mean_over_what_would_be_predicted(model):
    fitted = clone(model).fit(STATES, LABELS)
    row = {"town": "A", "mood": None, "rank": None}
    asked = pa.table({"town": ["A"], "mood": pa.nulls(1, pa.string()), "rank": pa.nulls(1, pa.string())})
    now = np.exp(fitted.predict_joint_log_proba(asked)[0])
    after = 0.0
    for mood in ("w", "x", "y", "z"):
        filled = np.exp(fitted.predict_joint_log_proba(asked.set_column(1, "mood", [[mood]]))[0])
        after += filled.sum() - filled.max()
    worth = {q.column: q.value.worth for q in fitted.next_best({k: v for k, v in row.items() if v})}
    assert worth["mood"] == pytest.approx((now.sum() - now.max() - after) / now.sum(), abs=1e-12)


def test_of_normal_classes_the_density_of_a_cell_is_that_given_the_others():
    from scipy.stats import multivariate_normal, norm

    from bayeswater.inference.discriminant_axes import conditional_densities

    model = GaussianClassifier().fit(NUMBERS, LABELS)
    x = np.array([45.0, np.nan, 0.3])
    mean, variance, _ = conditional_densities(model._densities, x, 1)
    for k in range(3):
        m, S = model.means_[k], model.covariances_[k]
        for value in (-1.0, 0.5, 3.0):
            joint = multivariate_normal(m, S).logpdf([45.0, value, 0.3])
            rest = multivariate_normal(m[[0, 2]], S[np.ix_([0, 2], [0, 2])]).logpdf([45.0, 0.3])
            assert norm(mean[k], np.sqrt(variance[k])).logpdf(value) == pytest.approx(joint - rest, abs=1e-9)


def test_who_cannot_says_why():
    ensemble = BayesEnsemble("generative", random_state=0).fit(STATES, LABELS)
    for call, why in (
        (lambda: ensemble.next_best({"town": "A"}), "no distribution of what a missing cell may hold"),
        (lambda: ensemble.loo_predict_log_proba(STATES, LABELS), "cannot leave one out"),
        (lambda: ensemble.leave_one_out([(STATES, LABELS)]), "cannot leave one out"),
        (lambda: ensemble.calibrate_with(None), "is calibrated always"),
        (lambda: ComplementNB().fit(COUNTS, LABELS).calibrate_with(None), "is no generative model"),
        (lambda: MultinomialNB().fit(COUNTS, LABELS).next_best({"sea": 1}), "cannot say what a missing count is worth"),
        (lambda: AODE().fit(STATES, LABELS).to_network(), "a AODE is no network"),
        (lambda: GaussianNB().fit(NUMBERS, LABELS).to_network(), "a GaussianNB is no network"),
    ):
        with pytest.raises(ParameterError, match=why):
            call()
