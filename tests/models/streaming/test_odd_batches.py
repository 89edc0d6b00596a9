"""Batches as streams bring them: some without rows, some whose labels or cells were read in another type."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import AODE, KDB, TAN, CategoricalNB, GaussianClassifier, NaiveBayes, limits
from bayeswater.errors import DataError, ParameterError, ResourceLimitError, SchemaError

WITH_BATCHES = [NaiveBayes, TAN, AODE, KDB]


def batch(seed):
    draw = np.random.default_rng(seed)
    y = draw.choice(["a", "b"], 40)
    return pd.DataFrame({"x": draw.normal(0, 1, 40) + (y == "b"), "c": draw.choice(["1", "2"], 40)}), y


FIRST, SECOND = batch(0), batch(1)
NONE = FIRST[0][:0], FIRST[1][:0]


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("model", WITH_BATCHES)
def test_batches_without_rows_change_nothing(model, calibrate):
    whole = model(calibrate=calibrate).fit_batches([FIRST, SECOND])
    with_none = model(calibrate=calibrate).fit_batches([NONE, NONE, FIRST, NONE, SECOND, NONE])
    assert with_none.statistics_ == whole.statistics_
    np.testing.assert_array_equal(with_none.predict_proba(FIRST[0]), whole.predict_proba(FIRST[0]))


@pytest.mark.parametrize("model", WITH_BATCHES)
@pytest.mark.parametrize("batches", [[], [NONE], [NONE, NONE]])
def test_batches_without_any_rows_are_refused(model, batches):
    with pytest.raises(DataError, match=r"no rows to learn from|0 sample\(s\)|0 labels"):
        model().fit_batches(batches)


@pytest.mark.parametrize("model", WITH_BATCHES)
def test_a_function_that_gives_batches_is_not_taken_for_them(model):
    with pytest.raises(ParameterError, match="batches is a function; give an iterable of"):
        model().fit_batches(lambda: [FIRST])


NAMES, NUMBERS = np.array(["0", "1"] * 20), np.array([0, 1] * 20)


@pytest.mark.parametrize("model", [*WITH_BATCHES, GaussianClassifier])
@pytest.mark.parametrize(("before", "after"), [(NAMES, NUMBERS), (NUMBERS, NAMES), (NAMES, NUMBERS == 1)])
def test_names_and_numbers_are_not_counted_as_classes_side_by_side(model, before, after):
    """Otherwise "1" and 1 were two classes, because somebody read the same column in two ways."""
    X = FIRST[0][["x"]]
    fitted = model().partial_fit(X, before)
    answer = fitted.predict_proba(X)
    with pytest.raises(
        SchemaError, match=r"'class' has labels of type \w+ in one table, such as .*; give them the same"
    ):
        fitted.partial_fit(X, after)
    np.testing.assert_array_equal(fitted.predict_proba(X), answer)
    with pytest.raises(SchemaError, match=r"'class' has labels of type"):
        model().fit(X, before) + model().fit(X, after)


@pytest.mark.parametrize("model", [*WITH_BATCHES, CategoricalNB])
def test_names_and_numbers_are_not_counted_as_categories_side_by_side(model):
    X, y = FIRST[0][["c"]], FIRST[1]
    fitted = model().fit(X, y)
    with pytest.raises(SchemaError, match=r"'c' "):
        fitted.partial_fit(X.assign(c=X["c"].astype(int)), y)


@pytest.mark.parametrize("model", [NaiveBayes, TAN])
def test_as_many_classes_as_rows_are_asked_about_before_memory_runs_out(model, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 8 * 30 * 30 - 1)
    X, names = FIRST[0][["c"]][:30], [f"row {k}" for k in range(30)]
    with pytest.raises(
        ResourceLimitError, match=r"leaving each of 30 rows out of a model of 30 classes .* names of rows"
    ):
        model().fit(X, names).leave_one_out([(X, names)])
