"""Texts and dates in an ensemble: read, weighed, explained, counted and forgotten as all columns are."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.models.ensemble.tables import ONE

from bayeswater import BayesEnsemble, BayesWarning, ModelFileError, load, save
from bayeswater.models.ensemble.bayes_ensemble import state_of, with_state
from bayeswater.models.stored_models import described_ensemble, restored_ensemble


def frame_of(n_rows, seed=0):
    """A number, a date with its time, and two texts with holes, which tell two classes."""
    rng = np.random.default_rng(seed)
    late = rng.random(n_rows) < 0.4
    words = np.array(["rent is overdue", "debts on cards", "new roof", "heat pump", "trip to the sea", "a wedding"])
    first = np.where(late, rng.integers(0, 4, n_rows), rng.integers(2, 6, n_rows))
    note = [" and ".join(words[[i, j]]) for i, j in zip(first, rng.integers(0, 6, n_rows), strict=True)]
    frame = pd.DataFrame(
        {
            "amount": rng.normal(np.where(late, 1.0, 0.0), 2.0),
            "note": np.array(note, dtype=object),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 5000, n_rows), "h"),
            "remark": np.array([f"said {a} of {b}, thanks" for a, b in rng.integers(0, 9, (n_rows, 2))], dtype=object),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "note"] = None
    return frame, np.where(late, "late", "repaid")


FRAME, Y = frame_of(300)


def ensemble(**parameters):
    return BayesEnsemble(members=ONE, random_state=0, **parameters)


@pytest.fixture(scope="module")
def model():
    return ensemble().fit(FRAME, Y)


def test_no_column_is_left_out(model, recwarn):
    families = {column.name: column.family for column in model.columns_}
    assert families == {
        **dict.fromkeys(("amount", "when", "when (time)"), "number"),
        **dict.fromkeys(("when (weekday)", "when (month)"), "categorical"),
        **dict.fromkeys(("note", "remark"), "multinomial"),
    }
    assert "words" in [family.name for family in model.report_.families]
    ensemble().fit(FRAME[:100], Y[:100])
    assert not [one for one in recwarn if issubclass(one.category, BayesWarning)]


def test_a_text_tells_what_no_other_column_does(model):
    new, y = frame_of(600, seed=1)
    blind = ensemble(columns={"note": "ignored", "remark": "ignored"}).fit(FRAME, Y)
    assert model.score(new, y) > blind.score(new, y) + 0.1
    assert abs(model.report_.error.value - (1 - model.score(new, y))) < 0.08


def test_order_and_repetition_of_rows_do_not_show_in_texts(model):
    order = np.random.default_rng(2).permutation(len(Y))
    weight = np.ones(len(Y))
    weight[:20] = 2
    shuffled = ensemble().fit(FRAME.iloc[order], Y[order])
    np.testing.assert_array_equal(shuffled.predict_log_proba(FRAME), model.predict_log_proba(FRAME))
    twice = ensemble().fit(pd.concat([FRAME, FRAME[:20]]), np.concatenate([Y, Y[:20]]))
    weighed = ensemble().fit(FRAME, Y, sample_weight=weight)
    np.testing.assert_array_equal(twice.predict_log_proba(FRAME), weighed.predict_log_proba(FRAME))


def test_forgetting_texts_equals_never_having_counted_them(model):
    more, y = frame_of(50, seed=3)
    moved = copy.deepcopy(model).partial_fit(more, y)
    assert np.abs(moved.predict_proba(FRAME) - model.predict_proba(FRAME)).max() > 1e-3
    moved.forget(more, y)  # scatters of numbers lose their last digits
    np.testing.assert_allclose(moved.predict_log_proba(FRAME), model.predict_log_proba(FRAME), rtol=1e-12)


def test_reasons_tell_what_a_text_adds(model):
    note = "rent is overdue and debts on cards"
    row = pd.DataFrame({"amount": [np.nan], "note": [note], "when": FRAME["when"][:1], "remark": [None]})
    why = model.explain(row, against="repaid")
    added = dict(zip(why.columns, why.contributions[0], strict=True))
    assert max(added, key=added.get) == "note"
    assert added["note"] > 0.5
    assert added["remark"] == 0
    np.testing.assert_allclose(why.intercept + why.contributions.sum(axis=1), why.log_odds)


@pytest.mark.parametrize("columns", [["note", "amount"], ["note"], ["remark", "note"]])
def test_texts_are_saved_and_come_back_to_the_bit(columns, tmp_path):
    found = ensemble(class_weight="balanced").fit(FRAME[columns], Y)
    save(found, tmp_path / "a.bayes")
    again = load(tmp_path / "a.bayes")
    unseen = FRAME[columns].assign(note="never a word of this")
    for rows in (FRAME[columns], unseen):
        np.testing.assert_array_equal(again.predict_log_proba(rows), found.predict_log_proba(rows))
    first, second = (one.forget(FRAME[:9][columns], Y[:9]).predict_proba(FRAME[columns]) for one in (found, again))
    np.testing.assert_array_equal(first, second)


def test_how_far_words_are_multiplied_comes_back_and_is_a_share(model):
    document, arrays = described_ensemble(with_state(copy.copy(model), half_multiplied(state_of(model))))
    assert state_of(restored_ensemble(document, arrays)).stack.multiplied == 0.5
    for wrong in (-0.1, 1.5, "1", float("nan")):
        with pytest.raises(ModelFileError, match="words are multiplied"):
            restored_ensemble({**document, "multiplied": wrong}, arrays)


def half_multiplied(state):
    return state._replace(stack=replace(state.stack, multiplied=0.5))


def test_a_file_whose_words_are_others_is_refused(model):
    document, arrays = described_ensemble(model)
    place = document["families"].index("words")
    for name, wrong in {
        "weight": arrays[f"{place}.weight"] * np.float32(np.nan),
        "present": arrays[f"{place}.present"][:, 1:],
        "slope": -arrays[f"{place}.slope"] - 1,
    }.items():
        with pytest.raises((ModelFileError, ValueError)):
            restored_ensemble(document, {**arrays, f"{place}.{name}": wrong})
    fewer = {**document, "states": [*document["states"][:-1], {**document["states"][-1]}]}
    del fewer["states"][-1]
    with pytest.raises((ModelFileError, ValueError)):
        restored_ensemble(fewer, arrays)


def test_a_text_that_is_told_to_be_a_category_or_no_column_is_so():
    found = ensemble(columns={"note": "categorical", "remark": "ignored"}).fit(FRAME, Y)
    assert "words" not in [family.name for family in found.report_.families]
    told = ensemble(columns={"amount": "ignored", "when": "ignored", "note": "text", "remark": "ignored"})
    assert [family.name for family in told.fit(FRAME, Y).report_.families] == ["words"]
