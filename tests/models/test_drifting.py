"""`drift`: from sums alone, as many false alarms as promised and no more, shifts found, changes in words."""

import numpy as np
import pyarrow as pa
import pytest
from tests.cli.people import COLUMNS, TARGET, people

from bayeswater import (
    AODE,
    CategoricalNB,
    GaussianClassifier,
    GaussianNB,
    NaiveBayes,
    ParameterError,
    SchemaError,
    drift,
)
from bayeswater.explain.drift import column_factor


def pair(rng, *, shift=0.0, share=0.0, n_rows=200, n_columns=10):
    y = np.arange(n_rows) % 2
    models = []
    for is_second in (0, 1):
        if share:
            chance = np.full(n_columns, 0.5)
            chance[0] += share * is_second
            models.append(CategoricalNB(min_categories=2).fit((rng.random((n_rows, n_columns)) < chance) * 1, y))
        else:
            X = rng.normal(size=(n_rows, n_columns))
            X[:, 0] += shift * is_second
            models.append(GaussianNB().fit(X, y))
    return drift(*models)


def test_rows_of_one_law_are_called_changed_in_five_of_a_hundred_pairs_at_most():
    rng = np.random.default_rng(0)
    assert sum(pair(rng).has_changed for _ in range(200)) <= 10


@pytest.mark.parametrize("shift", [dict(shift=0.3), dict(share=0.1)])
def test_four_of_five_shifts_are_found_in_a_thousand_rows(shift):
    rng = np.random.default_rng(1)
    found = [pair(rng, n_rows=1000, **shift).changed for _ in range(40)]
    assert sum(any(column.name == "x0" for column in columns) for columns in found) >= 32


def test_sizes_new_states_missing_cells_and_class_frequencies_are_told():
    table = people(2000, seed=1)
    before, after = table.slice(0, 1000), table.slice(1000)
    age = pa.array([None if i % 3 == 0 or v is None else v + 6 for i, v in enumerate(after.column("age").to_pylist())])
    job = pa.array(["pilot" if i % 5 == 0 else v for i, v in enumerate(after.column("job").to_pylist())])
    after = after.set_column(0, "age", age).set_column(2, "job", job)
    told = {"age": "gaussian", "hours": "poisson", "born": "gaussian"}
    model = NaiveBayes(columns=told).fit(before.select(COLUMNS), before.column(TARGET))
    rows = drift(model, after.select(COLUMNS), after.column(TARGET))
    models = drift(model, NaiveBayes(columns=model.columns_).fit(after.select(COLUMNS), after.column(TARGET)))
    assert str(rows) == str(models)  # rows are counted as the model reads them
    changed = {(column.name, column.what): column for column in rows.changed}
    assert set(changed) == {("age", "values"), ("age", "missing"), ("job", "values")}
    n_columns = len({own.name for own in rows.columns})  # one that changed in values and missing cells is one column
    assert f"columns: 2 changed (log Bayes factor over {rows.threshold:.1f}), {n_columns - 2} not" in str(rows)
    assert f"{n_columns - 2} columns stayed" in rows._repr_html_()
    assert all("pilot" in own.figures.new for own in changed["job", "values"].by_class)
    assert "new: pilot" in changed["job", "values"].words
    high = {own.label: own.figures for own in changed["age", "values"].by_class}["high"]
    assert high.after["mean"] - high.before["mean"] == pytest.approx(6, abs=1.5)
    assert changed["age", "missing"].by_class[0].figures.after["missing"] > 0.3
    assert not rows.classes_have_changed
    for one in rows.frequencies:
        assert one.before_interval[0] < one.before < one.before_interval[1]
    factors = [column.log_bayes_factor for column in rows.columns]
    assert factors == sorted(factors, reverse=True)
    assert [c["column"] for c in rows.to_dict()["columns"]] == [c.name for c in rows.columns]


@pytest.mark.parametrize("model", [AODE(), GaussianClassifier()])
def test_other_sums_are_compared_too(model):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(2000, 3)), np.arange(2000) % 2
    X[1000:, 1] += 1
    later = (
        model.__class__(columns=model.fit(X[:1000], y[:1000]).columns_) if isinstance(model, AODE) else type(model)()
    )
    found = drift(model.fit(X[:1000], y[:1000]), later.fit(X[1000:], y[1000:]))
    assert [column.name for column in found.changed] == ["x1"]


def test_a_class_that_one_side_lacks_has_a_frequency_alone():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 1))
    found = drift(GaussianNB().fit(X, np.arange(300) % 3), GaussianNB().fit(X[:200], np.arange(200) % 2))
    assert found.classes_have_changed and [one.after for one in found.frequencies] == [0.5, 0.5, 0.0]
    assert {own.label for own in found.columns[0].by_class} == {0, 1}


def test_a_column_is_weighed_by_all_its_classes_together_or_apart_or_any_one():
    assert column_factor(np.array([])) == 0.0
    one = column_factor(np.array([9.0, -2.0, -2.0]))
    assert 9.0 - np.log(2 * 3) < one < 9.0
    assert column_factor(np.array([3.0, 3.0, 3.0])) > 9.0 - np.log(2) - 1e-12
    assert 8.0 > column_factor(np.array([-1.0, -1.0]), 8.0) > 8.0 - 0.3  # one change in all classes


def test_what_cannot_be_compared_is_refused():
    X, y = [[1.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1]
    model = GaussianNB().fit(X, y)
    with pytest.raises(ParameterError, match="two models of one kind"):
        drift(model, GaussianClassifier().fit(X, y))
    with pytest.raises(ParameterError, match="give their labels"):
        drift(model, X)
    with pytest.raises(ParameterError, match="keeps no sums"):
        drift(object(), model)
    mixed = NaiveBayes(columns={"x": "gaussian"}).fit(pa.table({"x": [1.0, 2.0, 3.0]}), [0, 1, 1])
    other = NaiveBayes(columns={"x": "categorical"}).fit(pa.table({"x": [1.0, 2.0, 3.0]}), [0, 1, 1])
    with pytest.raises(SchemaError, match=r"columns=first\.columns_"):
        drift(mixed, other)
