"""A look at a table says what a fit would read of it, and what is likely to go wrong."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswater import DataError, SchemaError, look
from bayeswater.data import looking

N = 60
Y = np.where(np.arange(N) % 3 == 0, "yes", "no")


def warned(column, y=Y):
    (found,) = look(pd.DataFrame({"x": column, "y": y}), target="y").warnings.get("x", [""])
    return found


def told_by_others(states, y):
    """Count rows whose class is the most frequent one, alone, of the other rows of their state, or of all others."""
    right = 0
    for i in range(len(y)):
        others = [c for j, c in enumerate(y) if j != i and states[j] == states[i]]
        others = others or [c for j, c in enumerate(y) if j != i]
        count = {c: others.count(c) for c in others}
        right += all(count.get(y[i], 0) > n for c, n in count.items() if c != y[i]) and y[i] in count
    return right / len(y)


def test_each_kind_of_column_is_told_with_its_missing_cells_values_and_range():
    found = look(
        pd.DataFrame(
            {
                "age": [30.0, np.nan, 50.5, 40.0] * 15,
                "sex": ["m", "f", "f", None] * 15,
                "born": [dt.date(2000 + i // 10, 1, 1 + i % 28) for i in range(N)],
                "note": [f"a text of many words {i}" for i in range(N)],
                "key": [f"k{i}" for i in range(N)],
                "none": [None] * N,
            }
        )
    )
    assert [column.kind for column in found.columns] == ["number", "category", "date", "text", "identifier", "empty"]
    age, sex, born = found["age"], found["sex"], found["born"]
    assert (age.n_missing, age.n_distinct, age.low, age.high, sum(age.bars)) == (15, 3, 30.0, 50.5, 45)
    assert (sex.n_missing, sex.states) == (15, (("f", 30), ("m", 15)))
    assert (born.low, born.high, sum(born.bars)) == (dt.date(2000, 1, 1), dt.date(2005, 1, 28), N)
    assert (found["none"].n_missing, found["none"].n_distinct, found["none"].examples) == (N, 0, ())
    assert found.n_rows == N and found.is_whole
    assert json.loads(json.dumps(found.to_dict()))["columns"][2]["low"] == "2000-01-01"


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["x"] * N, "one value in all rows"),
        (["x", None] * (N // 2), "one value and empty cells"),
        ([f"id{i}" for i in range(N)], "names the rows"),
        ([None] * N, "no cell has a value"),
        ([f"{i % 7} {'kg' if i % 5 else 'lb'}" for i in range(N)], r"numbers of mixed units, kg (48 x), lb (12 x)"),
        ([f"{i % 7}cm" for i in range(N)], r"numbers with a unit, cm (60 x)"),
        (np.where(Y == "yes", 1, 2), "alone tells the target in 100 %"),
        (np.where(Y == "yes", 5.0, 2.0) + np.arange(N) / 1000, "alone tells the target in 100 %"),
        (np.arange(N) % 7, ""),
    ],
)
def test_what_is_likely_to_go_wrong_is_said(column, words):
    assert words in warned(column) if words else warned(column) == ""


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ([f"id{i}" for i in range(N)], "names the rows, and is no class to learn"),
        (np.arange(N) / 3, "amounts, and no classes to learn; bin it"),
        (np.arange(N) % 40, "most rows have a value of their own: these are amounts"),
        (["x"] * N, "all rows are of one class"),
        (["x", *["y", "z"] * 29, "y"], "a class has a single row: 'x'"),
    ],
)
def test_a_target_that_cannot_be_is_said(target, words):
    assert words in look(pd.DataFrame({"x": np.arange(N) % 7, "t": target}), target="t")["t"].warnings[0]


def test_a_column_of_own_values_is_no_leak_and_neither_is_one_of_a_rare_class():
    rare = np.where(np.arange(N) == 0, "yes", "no")
    assert warned(np.arange(N) % 2, rare) == ""
    assert look(pd.DataFrame({"x": [f"id{i}" for i in range(N)], "y": Y}), target="y")["x"].accuracy == 40 / 60


@given(
    states=st.lists(st.integers(0, 3), min_size=2, max_size=12),
    seed=st.integers(0, 2**31),
    n_classes=st.integers(1, 3),
)
def test_a_column_alone_tells_what_the_other_rows_of_its_state_say(states, seed, n_classes):
    y = np.random.default_rng(seed).integers(0, n_classes, len(states)).tolist()
    frame = pd.DataFrame({"x": [f"s{state}" for state in states], "y": y})
    if len(set(y)) > 1:
        assert look(frame, target="y")["x"].accuracy == pytest.approx(told_by_others(states, y))


def test_targets_are_proposed_by_name_and_place():
    frame = pd.DataFrame({"a": [0, 1] * 10, "Outcome": ["x", "y"] * 10, "age": range(20), "z": [1, 2] * 10})
    assert look(frame).candidates == ("Outcome", "a", "z")
    assert look(frame, target="z").candidates == ()


def test_the_first_rows_of_a_large_source_tell(monkeypatch):
    monkeypatch.setattr(looking, "HEAD_ROWS", 10)
    found = look(pa.table({"x": np.arange(11.0), "y": ["a"] * 11}))
    assert (found.n_rows, found.is_whole, found["x"].high) == (10, False, 9.0)
    assert str(found).splitlines()[0].endswith("the first 10 rows of 2 columns")


def test_a_file_is_looked_at_with_what_was_found_out_about_it(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("Export of Monday\n\nage;income\n39;low\n50;high\n")
    found = look(path)
    assert [column.name for column in found.columns] == ["age", "income"]
    assert any("above the header" in note for note in found.notes)
    assert "above the header" in str(found)


def test_the_target_of_a_file_has_the_classes_that_a_fit_would_have(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "1,yes\n2,no\n" * 5, encoding="utf-8")
    assert look(tmp_path / "a.csv", target="y")["y"].states == (("yes", 5), ("no", 5))
    assert look(tmp_path / "a.csv")["y"].states == ((True, 5), (False, 5))


def test_what_cannot_be_looked_at_is_refused_with_the_way_out():
    with pytest.raises(SchemaError, match="there is no column 'b'; there are"):
        look(pd.DataFrame({"a": [1]}), target="b")
    with pytest.raises(DataError, match="has no rows"):
        look(pa.table({"a": pa.array([], pa.int64())}))
    nested = look(pa.table({"a": [[1], [2]], "b": [1, 2]}))
    assert "convert it" in nested.warnings["a"][0]


CELLS = st.one_of(
    st.lists(st.one_of(st.none(), st.text(max_size=5)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.floats()), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.datetimes()), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.times()), min_size=3, max_size=3),
)


@given(columns=st.lists(CELLS, min_size=1, max_size=3), names=st.lists(st.text(), min_size=3, max_size=3, unique=True))
@settings(max_examples=30)
def test_any_table_can_be_looked_at_printed_and_written_as_json(columns, names):
    table = pa.table(
        {f"{name} {j}": pa.array(cells) for j, (cells, name) in enumerate(zip(columns, names, strict=False))}
    )
    for target in (None, *table.column_names):
        found = look(table, target)
        assert len(str(found).splitlines()) >= 1 + table.num_columns
        json.dumps(found.to_dict())
        assert found._repr_html_().startswith("<table>")
