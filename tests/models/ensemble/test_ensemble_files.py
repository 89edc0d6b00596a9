"""An ensemble in a file: it comes back to the bit and goes on learning, and a stranger's file cannot make it fall."""

import copy
import pickle

import numpy as np
import pytest
from tests.models.ensemble.tables import FEW, mixed_frame

from bayeswater import BayesEnsemble, ModelFileError, load, save
from bayeswater.files.model_file import write_model_file
from bayeswater.models.stored_models import described_ensemble, restored_ensemble

FRAME, Y = mixed_frame(150)
BEST = {"kdb": 2, "trees-half": 2, "boosted": 1, **FEW}


@pytest.fixture(scope="module")
def model():
    return BayesEnsemble("best", members=BEST, random_state=0).fit(FRAME, Y)


@pytest.fixture(scope="module")
def described(model):
    return described_ensemble(model)


def test_a_saved_ensemble_comes_back_to_the_bit_and_goes_on_learning(model, tmp_path):
    save(model, tmp_path / "a.bayes")
    again = load(tmp_path / "a.bayes")
    np.testing.assert_array_equal(again.predict_log_proba(FRAME), model.predict_log_proba(FRAME))
    assert str(again.report_) == str(model.report_)
    assert again.get_params() == model.get_params()
    assert again.columns_ == model.columns_
    more, y = mixed_frame(40, seed=4)
    first, second = (copy.deepcopy(one).partial_fit(more, y).forget(FRAME[:30], Y[:30]) for one in (model, again))
    np.testing.assert_array_equal(first.predict_log_proba(FRAME), second.predict_log_proba(FRAME))
    save(first, tmp_path / "b.bayes")
    assert load(tmp_path / "b.bayes").report_.is_stale


def test_what_is_no_parent_in_members_of_aode_is_kept(tmp_path):
    named, y = mixed_frame(150)
    named["ticket"] = [f"t{i // 2}" for i in range(150)]
    found = BayesEnsemble(members={"aode": 2}, random_state=0).fit(named, y)
    save(found, tmp_path / "a.bayes")
    again = load(tmp_path / "a.bayes")
    np.testing.assert_array_equal(again.predict_log_proba(named), found.predict_log_proba(named))
    document, arrays = described_ensemble(found)
    marks = [name for name in arrays if name.endswith("is_sparse")]
    assert len(marks) == 2 and all(arrays[name].sum() == 1 for name in marks)
    with pytest.raises(ModelFileError, match="does not say of each column whether it can be a parent"):
        write_model_file(tmp_path / "b.bayes", document, {**arrays, marks[0]: arrays[marks[0]] + np.uint8(2)})
        load(tmp_path / "b.bayes")


def test_families_without_which_the_pool_is_as_good_are_left_out_and_told_unless_they_were_asked_for(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X @ [2.0, -1.0, 1.0, 0.0] + rng.logistic(size=400) > 0).astype(int)
    found = BayesEnsemble(random_state=0).fit(X, y)
    assert "trees-sqrt" in found.report_.left_out
    assert {family.name for family in found.report_.families}.isdisjoint(found.report_.left_out)
    assert f"left out: {', '.join(found.report_.left_out)}" in str(found.report_)
    save(found, tmp_path / "a.bayes")
    again = load(tmp_path / "a.bayes")
    assert again.report_ == found.report_
    np.testing.assert_array_equal(again.predict_log_proba(X), found.predict_log_proba(X))
    assert BayesEnsemble(members=FEW, random_state=0).fit(X, y).report_.left_out == ()


def test_a_pickle_holds_what_was_counted_and_not_what_was_read_from_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 60)), rng.integers(0, 3, 100)
    found = BayesEnsemble(members=FEW, random_state=0).fit(X, y)
    found.predict(X)
    assert len(pickle.dumps(found)) < 1.1 * found.n_bytes_


def test_a_pickle_and_a_copy_say_the_same(model):
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.predict_log_proba(FRAME), model.predict_log_proba(FRAME))


@pytest.mark.parametrize("frame", [FRAME[["colour", "shape"]], FRAME[["height", "width"]], FRAME[["new"]]])
def test_tables_of_one_kind_are_saved_too(frame, tmp_path):
    found = BayesEnsemble(members=FEW, random_state=0).fit(frame, Y)
    save(found, tmp_path / "a.bayes")
    np.testing.assert_array_equal(load(tmp_path / "a.bayes").predict_proba(frame), found.predict_proba(frame))


def test_an_ensemble_of_one_class_or_of_an_array_is_saved_too(tmp_path):
    alone = BayesEnsemble(random_state=0).fit(FRAME, ["only"] * len(Y))
    save(alone, tmp_path / "a.bayes")
    assert set(load(tmp_path / "a.bayes").predict(FRAME)) == {"only"}
    plain = BayesEnsemble(members=FEW, random_state=0).fit(FRAME[["height", "width"]].to_numpy(), Y)
    save(plain, tmp_path / "b.bayes")
    again = load(tmp_path / "b.bayes")
    assert not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.predict_proba(np.zeros((2, 2))), plain.predict_proba(np.zeros((2, 2))))


def test_what_a_file_cannot_hold_is_told_before_it_is_written(tmp_path):
    found = BayesEnsemble(members=FEW, random_state=np.random.RandomState(0)).fit(FRAME, Y)
    with pytest.raises(ModelFileError, match="random_state"):
        save(found, tmp_path / "a.bayes")
    assert not (tmp_path / "a.bayes").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "Forest"),
        ("families", ["aode"]),
        ("families", ["forest"] * 6),
        ("families", "aode"),
        ("numbers", {}),
        ("report", []),
        ("report", ["fastest", 0, 1.0, None, False]),
        ("report", ["best", -1, 1.0, None, False]),
        ("columns", []),
        ("states", []),
        ("n_features", 4),
        ("n_features", "5"),
        ("feature_names", ["a", "b", "c", "d", "e"]),
        ("frame", "duckdb"),
        ("classes", None),
        ("parameters", {"depth": 3}),
        ("parameters", {"missing": "state"}),
        ("parameters", None),
    ],
)
def test_a_document_that_no_fit_writes_is_refused(described, field, value, tmp_path):
    document, arrays = described
    write_model_file(tmp_path / "a.bayes", {**document, field: value}, arrays)
    with pytest.raises(ModelFileError):
        load(tmp_path / "a.bayes")


def altered(array, rng):
    """Give an array in several ways that no fit leads to, or seldom."""
    flat = array.reshape(-1)
    for value in (
        (-1, 10**9, 2**62) if array.dtype.kind == "i" else (255,) if array.dtype.kind == "u" else (np.nan, -7.5)
    ):
        one = flat.copy()
        one[rng.integers(len(one))] = value
        yield one.reshape(array.shape)
    yield flat[:-1].copy() if len(flat) > 1 else np.concatenate([flat, flat])
    yield array[::-1].copy()
    yield np.zeros_like(array)


def test_arrays_of_a_stranger_are_refused_or_give_probabilities(described):
    document, arrays = described
    rng = np.random.default_rng(0)
    n_refused, chosen = 0, [name for name in arrays if rng.random() < 0.4]  # members have the same arrays over and over
    for name in chosen:
        array = arrays[name]
        for other in altered(array, rng):
            try:
                found = restored_ensemble(document, {**arrays, name: other})
            except (ValueError, TypeError, OverflowError):  # what `load` tells as a `ModelFileError`
                n_refused += 1
                continue
            with np.errstate(all="ignore"):
                proba = found.predict_proba(FRAME[:5])
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-6, err_msg=name)
    assert n_refused > len(chosen)


def test_an_array_too_few_or_too_many_is_refused(described):
    document, arrays = described
    for name in [*arrays][::7]:
        with pytest.raises(ValueError):
            restored_ensemble(document, {other: array for other, array in arrays.items() if other != name})
    with pytest.raises(ModelFileError, match="does not say what its arrays hold"):
        restored_ensemble(document, {**arrays, "9.cuts": np.zeros(3)})
