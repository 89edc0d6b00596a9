"""`explain`, `credible_interval`, `novelty` and `log_evidence` of `NaiveBayes`: what they take and what they refuse."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from tests.explain.tables import fruit, fruit_model

from bayeswater import NaiveBayes, ParameterError, SchemaError

METHODS = ("explain", "credible_interval", "novelty", "log_evidence")


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_was_not_fitted_says_so(method):
    with pytest.raises(NotFittedError):
        getattr(NaiveBayes(), method)(fruit(1)[0])


@pytest.mark.parametrize("method", METHODS)
def test_a_table_without_a_column_of_the_fit_is_refused(method):
    with pytest.raises(SchemaError, match="'colour'"):
        getattr(fruit_model(), method)(fruit(2)[0].drop_columns(["colour"]))


@pytest.mark.parametrize("method", METHODS)
def test_columns_in_another_order_give_the_same_answers(method):
    X, _ = fruit(6, random_state=1)
    turned = X.select(X.column_names[::-1])
    answers = [getattr(fruit_model(), method)(table) for table in (X, turned)]
    if method == "novelty" or method == "log_evidence":
        assert np.array_equal(*answers)
    else:
        assert str(answers[0]) == str(answers[1])


@pytest.mark.parametrize("method", [method for method in METHODS if method != "log_evidence"])  # that comes in pieces
def test_a_stream_that_can_be_read_but_once_is_enough(method):
    X, _ = fruit(6, random_state=1)
    once, twice = (getattr(fruit_model(), method)(table) for table in (X.to_reader(), X))
    assert str(once) == str(twice)


def test_an_unseen_category_is_warned_of_once():
    X, _ = fruit(3, random_state=1)
    X = X.set_column(0, "colour", pa.array(["mauve"] * 3))
    for method in ("explain", "credible_interval", "novelty"):
        with pytest.warns(UserWarning, match="mauve") as caught:
            getattr(fruit_model(), method)(X)
        assert len(caught) == 1


def test_a_class_that_is_not_known_cannot_be_compared_with():
    X, _ = fruit(2, random_state=1)
    with pytest.raises(SchemaError, match=r"'kiwi'.*\['apple', 'pea', 'plum'\]"):
        fruit_model().explain(X, against="kiwi")
    with pytest.raises(SchemaError, match="7"):
        fruit_model().explain(X, against=7)
    with pytest.raises(ParameterError, match="3 labels for 2 rows"):
        fruit_model().explain(X, against=["apple", "pea", "plum"])


def test_a_model_of_one_class_has_nothing_to_compare_with():
    model = NaiveBayes().fit(pa.table({"c": ["a", "b"]}), ["only", "only"])
    with pytest.raises(ParameterError, match="'only'"):
        model.explain(pa.table({"c": ["a"]}))
    found = model.credible_interval(pa.table({"c": ["a"]}))
    assert found.low.tolist() == found.high.tolist() == [[1.0]]
    assert model.novelty(pa.table({"c": ["a"]})).shape == (1,)


def test_log_evidence_is_the_sum_over_classes():
    X, _ = fruit(40, random_state=2)
    for reading in ("multinomial", "marks"):
        model = fruit_model(reading)
        expected = np.logaddexp.reduce(model.predict_joint_log_proba(X), axis=1)
        assert model.log_evidence(X) == pytest.approx(expected, rel=1e-14)


def test_log_evidence_of_a_complement_text_is_that_of_its_words_counted():
    """Complement scores are no distribution: their sum over all texts is not one."""
    X, _ = fruit(40, random_state=2)
    complement, counted = fruit_model("complement"), fruit_model("multinomial")
    assert np.array_equal(complement.log_evidence(X), counted.log_evidence(X))
    assert not np.allclose(complement.predict_joint_log_proba(X), counted.predict_joint_log_proba(X))


def test_the_evidence_of_all_texts_of_one_length_sums_to_one_in_every_reading_of_counts():
    texts = ["a b", "b c c", "a", "c"]
    for reading in ("multinomial", "complement"):
        model = NaiveBayes(columns={"t": reading}, alpha=0.5).fit(pa.table({"t": texts}), [0, 0, 1, 1])
        pairs = pa.table({"t": [f"{first} {second}" for first in "abc" for second in "abc"]})
        assert np.exp(model.log_evidence(pairs)).sum() == pytest.approx(1.0, rel=1e-12)


def test_what_is_changed_after_the_fit_changes_the_explanation():
    X = pa.table({"c": ["a", "a", "b", "b", "b"]})
    model = NaiveBayes(alpha=1.0).fit(X, [0, 0, 0, 1, 1])
    before = model.explain(X.slice(0, 1)).contributions[0, 0]
    after = model.set_params(alpha=5.0).explain(X.slice(0, 1)).contributions[0, 0]
    assert before == pytest.approx(np.log((3 / 5) / (1 / 4)), rel=1e-12)
    assert after == pytest.approx(np.log((7 / 13) / (5 / 12)), rel=1e-12)


def test_pandas_rows_are_explained_by_their_values_whatever_their_index():
    X, y = fruit(60)
    frame = X.to_pandas()
    frame["picked"] = pd.to_datetime(frame["picked"])
    model = NaiveBayes(columns={"note": "multinomial", "size": "gaussian"}).fit(frame, y)
    asked = frame.iloc[10:14].set_axis([7, 7, 7, 7])
    for i, one in enumerate(model.explain(asked)):
        values = {c.column: c.value for c in one.contributions}
        assert values["size"] is None if np.isnan(asked["size"].iloc[i]) else values["size"] == asked["size"].iloc[i]


def test_explanations_and_intervals_survive_pickling():
    X, _ = fruit(4, random_state=3)
    explained, found = fruit_model().explain(X), fruit_model().credible_interval(X, n_draws=20)
    assert str(pickle.loads(pickle.dumps(explained))) == str(explained)
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
