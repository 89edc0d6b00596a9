"""Tables of a model: labelled frames in the user's library, probabilities that sum to one, parameters counted."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayeswater import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NormalInverseGamma,
)

COUNTS = np.array([[0, 1], [1, 2], [2, 0], [1, 1]])
Y = np.array(["n", "n", "p", "p"])
MODELS = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
FORMS = {
    "numpy": (lambda: COUNTS, pa.Table),
    "lists": (lambda: COUNTS.tolist(), pa.Table),
    "pandas": (lambda: pd.DataFrame(COUNTS, columns=["a", "b"]), pd.DataFrame),
    "polars": (lambda: pl.DataFrame(COUNTS, schema=["a", "b"]), pl.DataFrame),
    "pyarrow": (lambda: pa.table({"a": COUNTS[:, 0], "b": COUNTS[:, 1]}), pa.Table),
}


def columns(frame):
    return pa.table(frame).to_pydict()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", MODELS)
def test_tables_come_in_the_library_of_the_frame_that_fit_was_given(kind, form):
    make, expected = FORMS[form]
    tables = kind().fit(make(), Y).tables()
    assert all(isinstance(table, expected) for table in tables.values())
    assert columns(tables["class"])["class"] == ["n", "p"]
    assert columns(tables["class"])["count"] == [2.0, 2.0]


@pytest.mark.parametrize("kind", [GaussianNB, MultinomialNB, BernoulliNB, CategoricalNB])
def test_class_probabilities_sum_to_one(kind):
    model = kind(class_alpha=1.0).fit(COUNTS[:3], Y[:3])
    probability = columns(model.tables()["class"])["probability"]
    np.testing.assert_allclose(probability, [3 / 5, 2 / 5], rtol=1e-15)


def test_states_of_a_column_sum_to_one_in_every_class():
    model = CategoricalNB().fit(pd.DataFrame({"colour": ["red", "blue", "red", "red"]}), Y)
    table = columns(model.tables()["colour"])
    assert table["colour"] == ["blue", "red"]
    np.testing.assert_allclose(table["P(colour | n)"], [1 / 2, 1 / 2], rtol=1e-15)
    np.testing.assert_allclose(table["P(colour | p)"], [1 / 4, 3 / 4], rtol=1e-15)


def test_a_missing_state_has_a_row_of_its_own():
    model = CategoricalNB(missing="state").fit([["a"], [None]], [0, 0])
    table = columns(model.tables()["x0"])
    assert table["x0"] == ["a", None]
    np.testing.assert_allclose(table["P(x0 | 0)"], [0.5, 0.5], rtol=1e-15)


def test_features_of_a_class_sum_to_one():
    table = columns(MultinomialNB().fit(pd.DataFrame(COUNTS, columns=["a", "b"]), Y).tables()["features"])
    assert table["feature"] == ["a", "b"]
    np.testing.assert_allclose(table["P(feature | n)"], [2 / 6, 4 / 6], rtol=1e-15)
    np.testing.assert_allclose(np.sum(table["P(feature | p)"]), 1.0, rtol=1e-15)


def test_marks_have_the_probability_of_being_present():
    table = columns(BernoulliNB().fit(COUNTS, Y).tables()["features"])
    assert table["feature"] == ["x0", "x1"]
    np.testing.assert_allclose(table["P(present | n)"], [2 / 4, 3 / 4], rtol=1e-15)


def test_normal_columns_have_mean_and_standard_deviation():
    table = columns(GaussianNB(var_smoothing=0).fit(COUNTS, Y).tables()["columns"])
    assert table["column"] == ["x0", "x1"]
    assert table["mean(n)"] == [0.5, 1.5]
    assert table["std(p)"] == [0.5, 0.5]


def test_complement_weights_are_shown_without_a_prior():
    model = ComplementNB().fit(COUNTS, Y)
    tables = model.tables()
    assert "probability" not in columns(tables["class"])
    np.testing.assert_array_equal(columns(tables["features"])["weight(n)"], model.feature_log_prob_[0])


# ---------------------------------------------------------------------- number of parameters


@pytest.mark.parametrize(
    ("model", "n_parameters"),
    [
        (GaussianNB(), 1 + 2 * 2 * 2),
        (MultinomialNB(), 1 + 2 * 1),
        (ComplementNB(), 2 * 1),
        (BernoulliNB(), 1 + 2 * 2),
        (CategoricalNB(), 1 + 2 * (2 + 2)),
        (CategoricalNB(min_categories=5), 1 + 2 * (4 + 4)),
        (CategoricalNB(missing="state"), 1 + 2 * (3 + 3)),
        (GaussianNB(columns={0: {"prior": NormalInverseGamma()}}), 1 + 2 * 2 * 2),
    ],
    ids=repr,
)
def test_the_free_parameters_are_counted(model, n_parameters):
    assert model.fit(COUNTS, Y).n_parameters == n_parameters


def test_four_marks_need_sixteen_numbers_for_the_joint_and_eight_for_the_naive_form():
    X = np.array([[0, 0, 0, 0], [1, 1, 1, 1]])
    assert BernoulliNB().fit(X, [0, 1]).n_parameters == 1 + 2 * 4
    assert CategoricalNB().fit(X, [0, 1]).n_parameters == 1 + 2 * 4


def test_a_column_called_class_does_not_hide_the_class_prior() -> None:
    frame = pd.DataFrame({"class": ["first", "second", "first"]})
    tables = CategoricalNB().fit(frame, ["a", "b", "b"]).tables()
    assert list(tables) == ["(class)", "class"]
    assert list(tables["(class)"].columns) == ["class", "count", "probability"]


def test_bins_of_dates_are_named_by_dates() -> None:
    days = np.datetime64("2024-01-01") + np.arange(20)
    cuts = [19723.0 + 5, 19723.0 + 9.5]  # days since 1970-01-01, the second one at noon
    model = NaiveBayes(columns={"day": {"cuts": cuts}}).fit(pa.table({"day": pa.array(days)}), [0, 1] * 10)
    expected = ["under 2024-01-06", "2024-01-06 to 2024-01-10 12:00", "from 2024-01-10 12:00 on"]
    assert columns(model.tables()["day"])["day"] == expected
