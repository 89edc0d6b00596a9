"""``weights="learned"``: what is left out equals refits, pieces equal one fit, reasons add up, stale is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayeswater import AODE, CategoricalNB, GaussianNB, NaiveBayes, load, save
from bayeswater.data.labels import encode_labels
from bayeswater.errors import ParameterError

N = 160


def table() -> tuple[pa.Table, Any]:
    """A number, the same again, a category with holes, a flag."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, N)
    a = rng.normal(y, 1.0)
    level = np.clip(y + rng.integers(-1, 2, N), 0, 2)
    colour = [None if u < 0.2 else "rgb"[v] for u, v in zip(rng.random(N), level, strict=True)]
    return pa.table({"a": a, "b": 2 * a + 1, "colour": colour, "flag": rng.random(N) < 0.2 + 0.3 * y}), y


@pytest.fixture(scope="module")
def fitted() -> NaiveBayes:
    return NaiveBayes(weights="learned").fit(*table())


def test_terms_that_are_left_out_add_up_to_the_joint_that_is(fitted: NaiveBayes) -> None:
    X, y = table()
    labels, removed, rows = encode_labels(y, fitted.statistics_.classes), np.ones(N), slice(0, N)
    read = fitted._table(X)
    terms, known = fitted._left_out_terms(read, labels, removed)
    plain, prior = NaiveBayes(columns=fitted.columns_).fit(X, y)._joint_without(read, labels, removed)(rows, False)
    np.testing.assert_allclose(terms(rows).sum(axis=1) + prior, plain, rtol=1e-9)
    assert known(rows).tolist() == [4 - (colour is None) for colour in X["colour"].to_pylist()]


def test_a_row_left_out_is_scored_as_by_sums_without_it(fitted: NaiveBayes) -> None:
    X, y = table()
    left_out = fitted.loo_predict_log_proba(X, y)
    for i in (0, 7):
        without = load_copy(fitted).set_params(alpha=1.0)
        without.forget(X.slice(i, 1), y[i : i + 1])
        same = load_copy(fitted).set_params(alpha=1.0).loo_predict_log_proba(X, y)[i]
        np.testing.assert_allclose(without.predict_log_proba(X.slice(i, 1))[0], same, rtol=1e-9)
    assert left_out.shape == (N, 3)


def load_copy(model: NaiveBayes) -> Any:
    from copy import copy

    return copy(model)


def test_pieces_and_the_order_of_rows_do_not_matter() -> None:
    X, y = table()
    whole, shuffled, pieces = (NaiveBayes(weights="learned") for _ in range(3))
    order = np.random.default_rng(0).permutation(N)
    whole.fit(X, y)
    shuffled.fit(X.take(order), y[order])
    pieces.fit_batches([(X.slice(0, 60), y[:60]), (X.slice(60), y[60:])])
    for other in (pieces, shuffled):
        np.testing.assert_allclose(other.term_weights_.weight, whole.term_weights_.weight, atol=1e-4)


def test_reasons_are_terms_times_weights_and_add_up(fitted: NaiveBayes) -> None:
    X, _ = table()
    told, proba = fitted.explain(X), fitted.predict_log_proba(X)
    at, codes = np.arange(N), (told._verdicts.chosen, told._verdicts.against)
    np.testing.assert_allclose(told.log_odds, proba[at, codes[0]] - proba[at, codes[1]], atol=1e-9)
    np.testing.assert_allclose(told.intercept + told.contributions.sum(axis=1), told.log_odds, atol=1e-9)
    assert (told.prediction == fitted.predict(X)).all()
    assert "speaks for" in str(told[0])
    row, turn = next((i, t) for i, one in enumerate(told[:20]) for t in one.turns if t.column == "colour")
    turned = {**X.slice(row, 1).to_pylist()[0], "colour": turn.value}
    assert fitted.predict([turned])[0] == turn.prediction != told[row].prediction


def test_one_known_cell_gives_its_table_and_none_the_frequencies(fitted: NaiveBayes) -> None:
    plain = NaiveBayes(columns=fitted.columns_).fit(*table())
    for row in ({"a": 0.3}, {"colour": "g"}, {}):
        np.testing.assert_allclose(fitted.predict_proba([row]), plain.predict_proba([row]), rtol=1e-9)


def test_the_joint_distribution_is_the_plain_one(fitted: NaiveBayes) -> None:
    X, y = table()
    plain = NaiveBayes(columns=fitted.columns_).fit(X, y)
    assert (fitted.predict_joint_log_proba(X) == plain.predict_joint_log_proba(X)).all()
    assert (fitted.log_evidence(X) == plain.log_evidence(X)).all()
    assert (fitted.novelty(X.slice(0, 3)) == plain.novelty(X.slice(0, 3))).all()
    assert (load_copy(fitted).set_params(weights=None).predict_proba(X) == plain.predict_proba(X)).all()


def test_intervals_hold_what_is_predicted_and_questions_count_by_weights(fitted: NaiveBayes) -> None:
    X, _ = table()
    found = fitted.credible_interval(X.slice(0, 10), n_draws=200)
    np.testing.assert_allclose(found.probability, fitted.predict_proba(X.slice(0, 10)))
    assert (found.low <= found.high).all()
    at = np.arange(10), found.chosen
    assert ((found.low[at] <= found.probability[at]) & (found.probability[at] <= found.high[at])).mean() > 0.8
    best = fitted.next_best({"a": 0.5}).best
    assert best is not None
    assert best.column in {"b", "colour", "flag"}


def test_forgetting_marks_weights_as_stale_and_refresh_learns_those_of_the_rest() -> None:
    X, y = table()
    model = NaiveBayes(weights="learned", calibrate=True).fit(X, y)
    assert not model.term_weights_.is_stale
    model.forget(X.slice(0, 20), y[:20])
    forgotten = model.term_weights_
    assert forgotten.is_stale
    model.refresh(X.slice(20), y[20:])
    again = NaiveBayes(weights="learned", columns=model.columns_).fit(X.slice(20), y[20:])
    assert not hasattr(model, "calibration_")  # weights have their temperature in them
    assert not model.term_weights_.is_stale
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), rtol=1e-6)
    merged = model + again
    assert merged.term_weights_.is_stale
    grown = model.partial_fit(X.slice(0, 1), [7])
    assert grown.predict_proba(X).shape == (N, 4)
    assert grown.term_weights_.is_stale


def test_weights_are_counted_among_the_parameters(fitted: NaiveBayes) -> None:
    plain = load_copy(fitted).set_params(weights=None)
    assert fitted.n_parameters - plain.n_parameters == 4 * 3 + 2  # of each column and class, and a shift of all but one


def test_a_file_holds_the_weights(fitted: NaiveBayes, tmp_path: Path) -> None:
    X, _ = table()
    save(fitted, tmp_path / "weighed.bayes")
    again = load(tmp_path / "weighed.bayes")
    assert (again.predict_log_proba(X) == fitted.predict_log_proba(X)).all()
    assert str(again.term_weights_) == str(fitted.term_weights_)


def test_what_is_no_way_to_weigh_is_refused(fitted: NaiveBayes) -> None:
    with pytest.raises(ParameterError, match="weights is 'mi'; it can be None or 'learned'"):
        NaiveBayes(weights="mi").fit(*table())
    with pytest.raises(ParameterError, match="weights=None"):
        fitted.to_linear()


def drop_ins() -> list[tuple[Any, Any]]:
    """Drop-ins of one law, and rows with a column that is there twice and holes."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, N)
    x = rng.normal(y[:, None], 1.0, (N, 3))
    x[rng.random((N, 3)) < 0.1] = np.nan
    numbers = np.column_stack([x, x[:, 0]])
    states = np.where(np.isnan(numbers), np.nan, np.clip(np.round(numbers) + 2, 0, 6))
    return [
        (GaussianNB(weights="learned", missing="ignore"), numbers),
        (CategoricalNB(weights="learned", missing="ignore"), states),
    ]


@pytest.mark.parametrize("place", [0, 1], ids=["GaussianNB", "CategoricalNB"])
def test_the_drop_ins_weigh_their_columns_too(place: int, tmp_path: Path) -> None:
    model, X = drop_ins()[place]
    y = np.random.default_rng(5).integers(0, 3, N)
    model.fit(X, y)
    labels, removed, rows = encode_labels(y, model.statistics_.classes), np.ones(N), slice(0, N)
    terms, known = model._left_out_terms(model._table(X), labels, removed)
    plain = type(model)(missing="ignore").fit(X, y)
    joint, prior = plain._joint_without(plain._table(X), labels, removed)(rows, False)
    np.testing.assert_allclose(terms(rows).sum(axis=1) + prior, joint, rtol=1e-6)  # of smoothing that is a hair apart
    assert known(rows).tolist() == (~np.isnan(X)).sum(axis=1).tolist()
    told, proba = model.explain(X), model.predict_log_proba(X)
    at, codes = np.arange(N), (told._verdicts.chosen, told._verdicts.against)
    np.testing.assert_allclose(told.log_odds, proba[at, codes[0]] - proba[at, codes[1]], atol=1e-9)
    np.testing.assert_allclose(told.intercept + told.contributions.sum(axis=1), told.log_odds, atol=1e-9)
    alone = np.full((1, 4), np.nan)
    alone[0, 1] = 1.0
    np.testing.assert_allclose(model.predict_proba(alone), plain.predict_proba(alone), rtol=1e-9)
    assert len(model.next_best(alone).questions) == 3
    save(model, tmp_path / "drop_in.bayes")
    assert (load(tmp_path / "drop_in.bayes").predict_proba(X) == model.predict_proba(X)).all()
    assert (model + model).term_weights_.is_stale


def test_estimators_of_aode_are_added_up_with_weights(tmp_path: Path) -> None:
    X, y = table()
    model, plain = AODE(weights="learned").fit(X, y), AODE().fit(X, y)
    labels, removed, rows = encode_labels(y, model.statistics_.classes), np.ones(N), slice(0, N)
    terms, known = model._left_out_terms(model._table(X), labels, removed)
    joint, _ = plain._joint_without(plain._table(X), labels, removed)(rows, False)
    prior = model._joint().prior.without(labels.codes, removed)
    members, is_member = terms(rows) + prior[:, None], terms(rows).any(axis=2)
    mean = [np.log(np.exp(own[there]).mean(axis=0)) for own, there in zip(members, is_member, strict=True)]
    np.testing.assert_allclose(mean, joint, rtol=1e-9)  # AODE is the mean of its members
    assert (known(rows) == is_member.sum(axis=1)).all()
    told, proba = model.explain(X), model.predict_log_proba(X)
    at, codes = np.arange(N), (told._verdicts.chosen, told._verdicts.against)
    np.testing.assert_allclose(told.log_odds, proba[at, codes[0]] - proba[at, codes[1]], atol=1e-9)
    np.testing.assert_allclose(told.intercept + told.contributions.sum(axis=1), told.log_odds, atol=1e-9)
    for row in ({"colour": "g"}, {}):
        np.testing.assert_allclose(model.predict_proba([row]), plain.predict_proba([row]), rtol=1e-9)
    assert (model.predict_joint_log_proba(X) == plain.predict_joint_log_proba(X)).all()
    pieces = AODE(weights="learned", columns=model.columns_).fit_batches(
        [(X.slice(0, 60), y[:60]), (X.slice(60), y[60:])]
    )
    again = AODE(weights="learned", columns=model.columns_).fit(X, y)
    np.testing.assert_allclose(pieces.term_weights_.weight, again.term_weights_.weight, atol=1e-4)
    i = 3
    without = AODE(weights="learned").fit(X, y).forget(X.slice(i, 1), y[i : i + 1])
    assert without.term_weights_.is_stale
    np.testing.assert_allclose(
        without.predict_log_proba(X.slice(i, 1))[0], model.loo_predict_log_proba(X, y)[i], rtol=1e-9
    )
    assert not without.refresh(X, y).term_weights_.is_stale
    assert model.next_best({"a": 0.5}).best is not None
    save(model, tmp_path / "members.bayes")
    assert (load(tmp_path / "members.bayes").predict_proba(X) == model.predict_proba(X)).all()
