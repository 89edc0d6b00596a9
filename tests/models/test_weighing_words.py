"""Weights of words: held-out rows are unknown to their machine, reasons add up, order and pieces do not show."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from bayeswater import MultinomialNB, NaiveBayes, TextAnalyser, load, save
from bayeswater.data.matrix import SparseMatrix
from bayeswater.decision import word_weights
from bayeswater.decision.calibration_maps import Temperature
from bayeswater.decision.word_weights import FOLDS, WordReading
from bayeswater.errors import ParameterError
from bayeswater.families.words.weighed_words import counted_words, folds_of_texts

WORDS = {"bad": ["not good", "poor", "slow", "never again"], "good": ["very good", "fast", "kind", "again and again"]}
N = 90


def texts(seed: int = 0, n: int = N) -> tuple[pa.Table, Any]:
    """Texts in which pairs of words tell more than words do, one of them missing, and a number beside them."""
    rng = np.random.default_rng(seed)
    y = np.array(["bad", "good"])[rng.integers(0, 2, n)]
    filler = ["the", "food", "was", "a", "place"]
    note = [
        " ".join(rng.permutation([rng.choice(WORDS[k if rng.random() < 0.9 else "bad"]), *rng.choice(filler, 3)]))
        for k in y
    ]
    note[0] = None
    return pa.table({"note": note, "stars": rng.normal(y == "good", 1.5)}), y


def only_text(table: pa.Table) -> pa.Table:
    return table.select(["note"])


def weighed(X: Any, y: Any) -> NaiveBayes:
    return NaiveBayes(weights="learned", columns={"note": "text"}).fit(X, y)


@pytest.fixture(scope="module")
def fitted() -> NaiveBayes:
    X, y = texts()
    return weighed(only_text(X), y)


@pytest.fixture(scope="module")
def mixed() -> NaiveBayes:
    return weighed(*texts())


def test_pairs_of_words_tell_what_words_do_not() -> None:
    X = pa.table({"note": ["food not good but very fast", "food very good but not fast"] * 20})
    y = ["bad", "good"] * 20
    assert weighed(X, y).score(X, y) == 1
    assert NaiveBayes(columns={"note": "text"}).fit(X, y).score(X, y) == 0.5


def test_probabilities_of_new_texts_are_as_sure_as_they_may_be() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 1200)
    told = [[f"t{k if rng.random() < 0.7 else rng.integers(4)}w{rng.integers(30)}" for _ in range(3)] for k in y]
    rare = [[f"r{j}" for j in rng.integers(0, 3000, 12)] for _ in y]  # some are new to every fold, and to new texts
    X = pa.table({"note": [" ".join(a + b) for a, b in zip(told, rare, strict=True)]})
    model = weighed(X.slice(0, 600), y[:600])
    log_proba = model.predict_log_proba(X.slice(600))
    assert 0.8 < Temperature.fit(log_proba, y[600:]).temperature < 1.25


def test_weights_say_how_well_they_do_on_held_out_rows(fitted: NaiveBayes) -> None:
    X, y = texts(1, 400)
    told, score = fitted.word_weights_["note"], fitted.score(only_text(X), y)
    assert told.accuracy is not None
    assert abs(told.accuracy - score) < 0.1
    assert f"held-out rows {100 * told.accuracy:.1f} % right" in str(told)


@pytest.mark.parametrize("with_number", [False, True], ids=["text", "text and number"])
def test_neither_the_order_of_rows_nor_pieces_show(with_number: bool) -> None:
    X, y = texts()
    X = X if with_number else only_text(X)
    whole, order = weighed(X, y), np.random.default_rng(2).permutation(N)
    shuffled = weighed(X.take(order), y[order])
    pieces = NaiveBayes(weights="learned", columns={"note": "text"})
    pieces.fit_batches([(X.slice(0, 40), y[:40]), (X.slice(40), y[40:])])
    for other in (shuffled, pieces):
        np.testing.assert_allclose(
            other.predict_proba(X), whole.predict_proba(X), atol=1e-9 if not with_number else 1e-4
        )


def test_a_row_of_weight_two_is_two_rows() -> None:
    X, y = texts()
    X = only_text(X)
    once = weighed(pa.concat_tables([X, X]), np.concatenate([y, y]))
    twice = NaiveBayes(weights="learned", columns={"note": "text"}).fit(X, y, np.full(N, 2))
    np.testing.assert_allclose(twice.predict_proba(X), once.predict_proba(X), atol=1e-9)


def test_a_row_left_out_is_unknown_to_its_machine_and_its_ratios(fitted: NaiveBayes) -> None:
    X, y = texts()
    X = only_text(X)
    left_out = fitted.loo_predict_log_proba(X, y)
    table = fitted._table(X).groups["words note"]
    fold = folds_of_texts(counted_words(table.counts), table.vocabulary)
    for i in (3, 4):  # the same by the sums without the row, and the machine of its fold in the place of the other
        model = weighed(X, y).forget(X.slice(i, 1), y[i : i + 1])
        own = model.word_weights_["note"]
        model.word_weights_ = {"note": replace(own, machine=own.folds[fold[i]])}
        one = model._table(X.slice(i, 1)).groups["words note"]
        told = model._term_joint().groups["words note"].terms(one)[0, 0] + model.class_log_prior_
        np.testing.assert_allclose(np.diff(left_out[i]), np.diff(told), atol=1e-9)
    assert set(fold) == set(range(FOLDS))


def test_reasons_add_up_to_the_log_odds_word_by_word(fitted: NaiveBayes, mixed: NaiveBayes) -> None:
    X, _ = texts()
    for model, rows in ((fitted, only_text(X)), (mixed, X)):
        told, proba = model.explain(rows), model.predict_log_proba(rows)
        at, (a, b) = np.arange(N), (told._verdicts.chosen, told._verdicts.against)
        np.testing.assert_allclose(told.log_odds, proba[at, a] - proba[at, b], atol=1e-9)
        np.testing.assert_allclose(told.intercept + told.contributions.sum(axis=1), told.log_odds, atol=1e-9)
    one = fitted.explain(only_text(X))[5]
    words = sum(word.contribution for word in one.words["note"]) + one.absent_words["note"]
    np.testing.assert_allclose(words + one.intercept, one.log_odds, atol=1e-9)
    assert "any text" in str(one)


def test_a_word_that_turns_the_decision_turns_it(fitted: NaiveBayes) -> None:
    X, _ = texts()
    told = fitted.explain(only_text(X))
    row, turn = next((i, t) for i, one in enumerate(told) for t in one.turns)
    words = X["note"][row].as_py().split()
    block, table = fitted._term_joint().groups["words note"], fitted._table(only_text(X)).groups["words note"]
    codes, gains = block.word_gains(table.counts, row)
    code = table.vocabulary.code_of[turn.value]
    gone = block.terms(table.block(slice(row, row + 1)))[0, 0] - gains[codes.tolist().index(code)]
    assert fitted.classes_[np.argmax(gone + fitted.class_log_prior_)] == turn.prediction != told[row].prediction
    assert len(words) >= 4


def test_a_text_that_is_missing_or_unknown_says_nothing(fitted: NaiveBayes, mixed: NaiveBayes) -> None:
    none = pa.table({"note": pa.array([None, "", "zzz yyy"], pa.string())})
    np.testing.assert_allclose(fitted.predict_proba(none), np.tile(np.exp(fitted.class_log_prior_), (3, 1)), rtol=1e-12)
    with_number = none.append_column("stars", pa.array([0.7] * 3))
    plain = NaiveBayes(columns=mixed.columns_).fit(*texts())
    np.testing.assert_allclose(
        mixed.predict_proba(with_number), np.tile(plain.predict_proba([{"stars": 0.7}]), (3, 1)), rtol=1e-9
    )


def test_forgetting_marks_weights_as_stale_and_refresh_is_a_fit_of_the_rest(fitted: NaiveBayes) -> None:
    X, y = texts()
    X = only_text(X)
    model = weighed(X, y).forget(X.slice(0, 20), y[:20])
    assert model.word_weights_["note"].is_stale
    assert "refresh learns them again" in str(model.word_weights_["note"])
    model.refresh(X.slice(20), y[20:])
    again = weighed(X.slice(20), y[20:])
    assert not model.word_weights_["note"].is_stale
    assert "refresh" not in str(model.word_weights_["note"])
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-12)
    grown = model.partial_fit(pa.table({"note": ["a new brilliant place"]}), ["ugly"])
    assert np.isfinite(grown.predict_proba(X)).all()
    assert grown.predict_proba(X).shape == (N, 3)
    assert (fitted + again).word_weights_["note"].is_stale


OTHER_WAYS = ({"amount": "counts", "by_root": True}, {"alone": True})


@pytest.mark.parametrize("change", OTHER_WAYS, ids=["by the root", "no pairs"])
def test_every_way_to_read_words_keeps_the_laws(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y = texts()
    X = only_text(X)
    monkeypatch.setattr(word_weights, "READINGS", ((change, -np.inf),))
    model = weighed(X, y)
    assert model.word_weights_["note"].reading == WordReading(**change)
    test_a_row_left_out_is_unknown_to_its_machine_and_its_ratios(model)
    proba = model.predict_log_proba(X)
    save(model, tmp_path / "words.bayes")
    assert (load(tmp_path / "words.bayes").predict_log_proba(X) == proba).all()
    told = model.explain(X)
    at, (a, b) = np.arange(N), (told._verdicts.chosen, told._verdicts.against)
    np.testing.assert_allclose(told.intercept + told.contributions.sum(axis=1), proba[at, a] - proba[at, b], atol=1e-9)
    block, text = model._term_joint().groups["words note"], model._table(X.slice(1, 1)).groups["words note"]
    codes, gains = block.word_gains(text.counts, 0)
    for code, gain in zip(codes.tolist(), gains, strict=True):  # what the text says without one of its words
        left = text.counts.to_dense()
        left[0, code] = 0
        words = csr_array(left)
        without = replace(text, counts=SparseMatrix(words.indptr, words.indices, words.data, left.shape[1]))
        np.testing.assert_allclose(block.terms(text)[0, 0] - gain, block.terms(without)[0, 0], atol=1e-9)


def test_rows_choose_between_pairs_and_words_alone_and_the_user_is_followed() -> None:
    rng = np.random.default_rng(1)
    y, told = rng.integers(0, 2, 600), rng.integers(0, 60, (600, 5))
    said = np.where(rng.random(told.shape) < 0.3, told + 60 * y[:, None], told)  # words tell, and pairs seldom repeat
    X = pa.table({"note": [" ".join(f"w{j}" for j in row) for row in said]})
    assert weighed(X, y).word_weights_["note"].reading.alone
    assert "no pairs" in str(weighed(X, y).word_weights_["note"])
    given = NaiveBayes(
        weights="learned", columns={"note": {"family": "text", "analyser": TextAnalyser(pairs=True)}}
    ).fit(X, y)
    assert not given.word_weights_["note"].reading.alone
    X, y = texts(5, 400)
    assert not weighed(only_text(X), y).word_weights_["note"].reading.alone


def test_rows_choose_how_far_long_texts_say_more() -> None:
    rng = np.random.default_rng(0)
    y, note = rng.integers(0, 2, 1000), []
    for k in y:  # one word in five tells, in texts of one to a hundred words
        n_words = int(100 ** rng.random())
        words = rng.integers(0, 1000, n_words)
        note.append(" ".join(f"w{j}" for j in np.where(rng.random(n_words) < 0.2, words + 1000 * (k + 1), words)))
    X = pa.table({"note": note})
    model = weighed(X, y)
    assert model.word_weights_["note"].reading.by_root
    assert "by the root of the length" in str(model.word_weights_["note"])


def test_cells_of_zero_in_a_matrix_of_the_user_stay_where_they_are() -> None:
    X, y = counts()
    X = X.astype(np.float64)
    X.data[::3] = 0.0
    before = X.copy()
    model = MultinomialNB(weights="learned").fit(X, y)
    assert (X.indices == before.indices).all()
    np.testing.assert_allclose(model.predict_proba(X.toarray()), model.predict_proba(X), atol=1e-12)


def test_a_file_holds_the_weights_of_words(mixed: NaiveBayes, tmp_path: Path) -> None:
    X, y = texts()
    save(mixed, tmp_path / "words.bayes")
    again = load(tmp_path / "words.bayes")
    assert (again.predict_log_proba(X) == mixed.predict_log_proba(X)).all()
    assert (again.loo_predict_log_proba(X, y) == mixed.loo_predict_log_proba(X, y)).all()
    assert str(again.word_weights_["note"]) == str(mixed.word_weights_["note"])


def test_intervals_hold_what_is_predicted_and_the_plain_sum_stays(mixed: NaiveBayes) -> None:
    X, y = texts()
    found = mixed.credible_interval(X.slice(0, 10), n_draws=200)
    assert (found.low < found.high).all()
    at = np.arange(10), found.chosen
    assert ((found.low[at] <= found.probability[at]) & (found.probability[at] <= found.high[at])).mean() > 0.7
    plain = NaiveBayes(columns=mixed.columns_).fit(X, y)
    assert (mixed.log_evidence(X) == plain.log_evidence(X)).all()
    with pytest.raises(ParameterError, match="weights=None"):
        mixed.to_linear()


def test_few_rows_and_several_classes_give_finite_answers() -> None:
    few = pa.table({"note": ["red apple tart", "green pea soup", "blue sky high", "red apple pie"]})
    model = weighed(few, ["fruit", "pea", "sky", "fruit"])
    proba = model.predict_proba(few)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    one = weighed(few, ["same"] * 4)
    assert (one.predict_proba(few) == 1).all()


def counts() -> tuple[Any, Any]:
    """Counts of words, sparse."""
    X, y = texts(3, 60)
    found = CountVectorizer().fit_transform(["" if text is None else text for text in X["note"].to_pylist()])
    return found, y


def test_features_have_weights_dense_and_sparse_alike(tmp_path: Path) -> None:
    X, y = counts()
    model, dense = (MultinomialNB(weights="learned").fit(rows, y) for rows in (X, X.toarray()))
    proba = model.predict_log_proba(X)
    np.testing.assert_allclose(dense.predict_log_proba(X.toarray()), proba, atol=1e-12)
    np.testing.assert_allclose(
        dense.loo_predict_log_proba(X.toarray(), y), model.loo_predict_log_proba(X, y), atol=1e-12
    )
    told = dense.explain(X.toarray())
    at, (a, b) = np.arange(60), (told._verdicts.chosen, told._verdicts.against)
    np.testing.assert_allclose(told.intercept + told.contributions.sum(axis=1), proba[at, a] - proba[at, b], atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X[:1] * 0), np.exp(model.class_log_prior_)[None], rtol=1e-12)
    save(model, tmp_path / "features.bayes")
    assert (load(tmp_path / "features.bayes").predict_log_proba(X) == proba).all()
    assert model.predict_joint_log_proba(X).tolist() == MultinomialNB().fit(X, y).predict_joint_log_proba(X).tolist()
    n_plain = MultinomialNB().fit(X, y).n_parameters
    assert (
        model.n_parameters - n_plain == X.shape[1] + 1 + 1 + 1
    )  # an intercept, a slope and a shift beside the weights
    with pytest.raises(ParameterError, match="weights=None"):
        model.to_linear()


def test_features_that_are_forgotten_leave_a_trace_until_refresh() -> None:
    X, y = counts()
    model = MultinomialNB(weights="learned", calibrate=True).fit(X, y).forget(X[:10], y[:10])
    assert model.word_weights_["features"].is_stale
    again = MultinomialNB(weights="learned").fit(X[10:], y[10:])
    np.testing.assert_allclose(model.refresh(X[10:], y[10:]).predict_proba(X), again.predict_proba(X), atol=1e-12)
    assert not hasattr(model, "calibration_")  # weights have their temperature in them


def test_a_feature_left_out_is_taken_out_of_the_ratios_as_often_as_it_is_there() -> None:
    X, y = counts()
    X = X + X.multiply(X > 1)  # some words are there several times
    model = MultinomialNB(weights="learned").fit(X, y)
    left_out, words = model.loo_predict_log_proba(X, y), model._texts_of(X)["features"]
    fold = folds_of_texts(counted_words(words.counts), words.vocabulary)
    for i in (1, 2):
        without = MultinomialNB(weights="learned").fit(X, y).forget(X[[i]], y[[i]])
        own = without.word_weights_["features"]
        without.word_weights_ = {"features": replace(own, machine=own.folds[fold[i]])}
        told = without._term_joint().groups["features"].terms(without._texts_of(X[[i]])["features"])[0, 0]
        np.testing.assert_allclose(np.diff(left_out[i]), np.diff(told + without.class_log_prior_), atol=1e-9)


def test_a_column_without_any_word_has_no_weights_and_warns_of_nothing():
    nothing = pa.table({"note": pa.array([None] * 8, type=pa.string()), "n": [1.0, 2, 3, 4, 5, 6, 7, 8]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = NaiveBayes(columns={"note": "text", "n": "gaussian"}, weights="learned").fit(nothing, list("aaaabbbb"))
    assert np.isfinite(model.predict_proba(nothing)).all()
