"""Cells that Python, NumPy or Arrow have no value for are read, told and saved, or refused by name."""

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayeswater import AODE, BayesEnsemble, CategoricalNB, DataError, NaiveBayes, SchemaError, load, save

Y = ["a", "b"] * 20
FAR = [4_000_000 + (i if i % 2 else 2 * i) for i in range(40)]  # days: the year 12921

TYPES = [pa.date32(), pa.timestamp("s"), pa.timestamp("us", "Europe/Berlin")]


def dates(days: list[int], kind: pa.DataType) -> pa.Table:
    column = pa.array(days, pa.int32()).cast(pa.date32())
    return pa.table({"d": column.cast(pa.timestamp("s")).cast(kind) if kind != pa.date32() else column})


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("model", [NaiveBayes(), AODE(), BayesEnsemble(random_state=0)], ids=lambda m: type(m).__name__)
def test_dates_beyond_the_years_of_python_are_explained_and_drawn(model: Any, kind: pa.DataType) -> None:
    X = dates(FAR, kind)
    model.fit(X, Y)
    assert "12921-08-" in str(model.explain(X.slice(0, 1))[0])
    assert np.isfinite(model.predict_proba(X)).all()
    if hasattr(model, "sample"):
        drawn, _ = model.sample(5)
        assert drawn.schema == X.schema


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_dates_beyond_the_years_of_python_are_drawn_in_pandas(kind: pa.DataType) -> None:
    X = dates(FAR, kind).to_pandas(types_mapper=pd.ArrowDtype)
    drawn, _ = NaiveBayes().fit(X, Y).sample(5)
    assert drawn.dtypes.equals(X.dtypes)


def test_categories_are_no_dates_beyond_the_years_of_python() -> None:
    X = dates(FAR, pa.date32())
    with pytest.raises(DataError, match="column 'd' has the label '12921-08-18', beyond the dates that Python has"):
        NaiveBayes(columns={"d": "categorical"}).fit(X, Y)
    near = dates([i % 2 for i in range(40)], pa.date32())
    model = NaiveBayes(columns={"d": "categorical"}).fit(near, Y)
    assert datetime.date(1970, 1, 1) in model.tables()["d"].column(0).to_pylist()


def test_flags_are_drawn_in_decimals() -> None:
    X = pa.table({"d": pa.array([decimal.Decimal(i % 2) for i in range(40)], pa.decimal128(1, 0))})
    drawn, _ = NaiveBayes().fit(X, Y).sample(9, random_state=0)
    assert drawn.schema == X.schema
    assert set(drawn["d"].to_pylist()) == {0, 1}


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_as_objects_beyond_the_years_of_python_are_refused_by_name(zone: str | None) -> None:
    far = pd.DataFrame({"d": dates(FAR, pa.timestamp("s", zone))["d"].to_pandas()}, dtype=object)
    with pytest.raises(DataError, match="column 'd' holds "):
        NaiveBayes().fit(far, Y)
    with pytest.raises(DataError, match="column 'x0' holds "):
        NaiveBayes().fit(far.to_numpy(), Y)
    one = far.where(far[["d"]] == far.loc[3, "d"], pd.NaT)
    with pytest.raises(DataError, match="column 'd' holds "):
        NaiveBayes().fit(one, Y)
    if zone is None:  # pandas has no way to convert those with a zone
        times = far.astype("datetime64[s]")
        assert "12921-08-" in str(NaiveBayes().fit(times, Y).explain(times[:1])[0])


@pytest.mark.parametrize("family", ["gaussian", "categorical"])
def test_rows_are_drawn_in_wide_decimals(family: str) -> None:
    X = pa.table({"d": pa.array([decimal.Decimal(i % 5) / 2 for i in range(40)], pa.decimal256(60, 2))})
    drawn, _ = NaiveBayes(columns={"d": family}).fit(X, Y).sample(5)
    assert drawn.schema == X.schema


@pytest.mark.parametrize(
    ("X", "y", "error", "words"),
    [
        (
            pd.DataFrame({"t": ["x", "n\ud800"] * 20}, dtype=object),
            Y,
            DataError,
            r"column 't' holds 'n\\ud800' in row 1",
        ),
        (np.array([["x"], ["\udfff"]] * 20, dtype=object), Y, DataError, "column 'x0' holds '\\\\udfff' in row 1"),
        ([["x"], ["\ud800"]] * 20, Y, DataError, "half of a character"),
        (np.ones((40, 1)), ["a", "\ud800"] * 20, DataError, r"y has the label '\\ud800'"),
        (
            pd.DataFrame(np.ones((40, 1)), columns=pd.Index(["\ud800"], dtype=object)),
            Y,
            SchemaError,
            r"column name '\\ud800'",
        ),
    ],
    ids=["frame", "array", "lists", "labels", "names"],
)
@pytest.mark.parametrize("model", [NaiveBayes(), AODE()], ids=lambda m: type(m).__name__)
def test_half_of_a_character_is_refused_with_its_place(model: Any, X: Any, y: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        model.fit(X, y)


NUL = [["a"], ["a\0"]] * 20


@pytest.mark.parametrize("X", [NUL, np.array(NUL, dtype=object), pa.table({"x0": [row[0] for row in NUL]})], ids=type)
@pytest.mark.parametrize("y", [[row[0] for row in NUL], pa.array([row[0] for row in NUL])], ids=type)
@pytest.mark.parametrize("model", [NaiveBayes(), CategoricalNB(), AODE()], ids=lambda m: type(m).__name__)
def test_labels_that_differ_by_a_nul_at_their_end_stay_two(model: Any, X: Any, y: Any, tmp_path: Any) -> None:
    model.fit(X, y)
    assert model.classes_.tolist() == ["a", "a\0"]
    assert model.predict(X).tolist() == [row[0] for row in NUL]
    save(model, tmp_path / "nul.bayes")
    again = load(tmp_path / "nul.bayes")
    assert again.classes_.tolist() == ["a", "a\0"]
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
