"""Rows drawn from `NaiveBayes`: in the form and the types of those it was fitted on, and distributed as it says."""

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from bayeswater import Beta, NaiveBayes, NormalInverseGamma, load, save
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.errors import ParameterError, ResourceLimitError

N = 40
Y = ["a", "b"] * (N // 2)
DATES = [datetime.date(2024, 1, 1) + datetime.timedelta(days=3 * i) for i in range(N)]


def pandas_columns() -> dict[str, Any]:
    """A column of every type that pandas has."""
    numbers = np.random.default_rng(0).normal(50, 9, N)
    return {
        "float64": numbers,
        "float32": numbers.astype("float32"),
        "Float64": pd.array([0.5, *numbers[1:]], dtype="Float64"),
        "int64": numbers.astype("int64"),
        "int8": numbers.astype("int8"),
        "uint16": numbers.astype("uint16"),
        "Int64": pd.array([*range(N - 1), None], dtype="Int64"),
        "flag of numbers": np.arange(N) % 2,
        "bool": np.arange(N) % 3 == 0,
        "boolean": pd.array([None, *[True, False, True] * 13], dtype="boolean"),
        "str": ["x", "y", "z", "y"] * (N // 4),
        "string": pd.array(["x", None, "z", "y"] * (N // 4), dtype="string"),
        "object": pd.Series(["x", None, "z", "y"] * (N // 4), dtype=object),
        "text": ["some words to read", "more words to write"] * (N // 2),
        "category": pd.Categorical(["u", "v"] * (N // 2), categories=["v", "u", "never"]),
        "ordered": pd.Categorical(["u", "v"] * (N // 2), categories=["v", "u", "never"], ordered=True),
        "category of numbers": pd.Categorical([3, 1] * (N // 2)),
        "datetime64[us]": pd.to_datetime(DATES),
        "datetime64[ns]": pd.to_datetime(DATES).astype("datetime64[ns]"),
        "with a zone": pd.to_datetime(DATES).tz_localize("Europe/Berlin"),
        "timedelta": pd.to_timedelta(numbers, unit="s"),
        "dates as objects": pd.Series(DATES, dtype=object),
        "times as objects": pd.Series([datetime.time(i % 24, 30) for i in range(N)], dtype=object),
        "decimals as objects": pd.Series([decimal.Decimal(i) / 4 for i in range(N)], dtype=object),
        "int64 of arrow": pd.array(np.arange(N), dtype="int64[pyarrow]"),
        "timestamps of arrow": pd.array(pd.to_datetime(DATES), dtype=pd.ArrowDtype(pa.timestamp("ms"))),
    }


@pytest.mark.parametrize("name", pandas_columns())
def test_a_column_of_pandas_is_drawn_in_its_own_type(name: str) -> None:
    frame = pd.DataFrame({name: pandas_columns()[name]})
    model = NaiveBayes().fit(frame, Y)
    drawn, classes = model.sample(50, random_state=0)
    assert drawn.dtypes.equals(frame.dtypes)
    assert set(map(type, drawn[name].dropna())) == set(map(type, frame[name].dropna()))
    assert set(classes) == {"a", "b"}
    again = NaiveBayes(columns=model.columns_).fit(drawn, classes)  # what was drawn can be learned from
    assert again.columns_ == model.columns_
    if frame[name].dtype.kind in "fiuMm":
        low, high = (int(frame[name].dropna().astype("int64").agg(side)) for side in ("min", "max"))
        assert drawn[name].astype("int64").between(2 * low - high, 2 * high - low).all()


def test_a_frame_of_all_types_is_drawn_with_them_together() -> None:
    frame = pd.DataFrame(pandas_columns())
    drawn, _ = NaiveBayes().fit(frame, Y).sample(30, random_state=1)
    assert drawn.dtypes.equals(frame.dtypes)
    assert not drawn.isna().any(axis=None)


def polars_columns() -> dict[str, pl.Series]:
    frame = pd.DataFrame(pandas_columns()).drop(columns=["times as objects", "decimals as objects"])
    return {
        **pl.from_pandas(frame).to_dict(),
        "enum": pl.Series(["u", "v"] * (N // 2), dtype=pl.Enum(["v", "u", "w"])),
        "categorical": pl.Series(["u", "v"] * (N // 2), dtype=pl.Categorical),
        "date": pl.Series(DATES),
        "time": pl.Series([datetime.time(i % 24, 30) for i in range(N)]),
        "decimal": pl.Series([decimal.Decimal(i) / 4 for i in range(N)]),
    }


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("name", polars_columns())
def test_a_column_of_polars_or_arrow_is_drawn_in_its_own_type(name: str, library: str) -> None:
    frame: Any = pl.DataFrame({name: polars_columns()[name]})
    frame = frame if library == "polars" else frame.to_arrow()
    drawn, _ = NaiveBayes().fit(frame, Y).sample(20, random_state=0)
    assert type(drawn) is type(frame)
    kinds = [table.schema[name] if library == "polars" else table.schema.field(name).type for table in (drawn, frame)]
    assert kinds[0] == kinds[1]


def test_arrays_are_drawn_as_arrays() -> None:
    rng = np.random.default_rng(0)
    for kind in (np.float64, np.float32, np.int64, np.uint8, np.bool_):
        X = rng.integers(0, 5, (N, 3)).astype(kind)
        drawn, _ = NaiveBayes().fit(X, Y).sample(7, random_state=0)
        assert (drawn.dtype, drawn.shape) == (X.dtype, (7, 3))
    objects = np.array([["x", 1.5], ["y", 2.5]] * (N // 2), dtype=object)
    drawn, _ = NaiveBayes().fit(objects, Y).sample(7, random_state=0)
    assert drawn.dtype == object
    assert {type(cell) for cell in drawn[:, 0]} == {str}
    assert {type(cell) for cell in drawn[:, 1]} == {float}


def test_sparse_counts_are_drawn_sparse() -> None:
    X = sparse.csr_array(np.random.default_rng(0).poisson(0.5, (N, 4)))
    drawn, _ = NaiveBayes().fit(X, Y).sample(2000, random_state=0)
    assert sparse.issparse(drawn)
    assert drawn.shape == (2000, 4)
    assert drawn.mean() == pytest.approx(X.mean(), abs=0.05)


def test_a_column_that_was_left_out_is_empty() -> None:
    frame = pd.DataFrame({"x": np.arange(N) / 2, "id": np.arange(N), "on": [True, False] * 20, "none": [None] * N})
    model = NaiveBayes(columns={"id": "ignored", "on": "ignored"}).fit(frame, Y)
    drawn, _ = model.sample(3)
    assert drawn.columns.tolist() == ["x", "id", "on", "none"]
    assert drawn[["id", "on", "none"]].isna().all(axis=None)
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        drawn, _ = NaiveBayes(columns={"id": "ignored", "on": "ignored"}).fit(table, Y).sample(3)
        assert drawn.schema == table.schema if isinstance(table, pl.DataFrame) else drawn.schema.equals(table.schema)


def test_missing_cells_are_drawn_where_they_are_a_state_that_rows_had() -> None:
    frame = pd.DataFrame(
        {
            "town": ["Ulm", None, "Bonn", None] * (N // 4),
            "age": [20.0, None, 50.0, 60.0] * (N // 4),
            "bit": [0, 1] * (N // 2),
        }
    )
    columns = {"age": {"cuts": (30, 55)}}
    model = NaiveBayes(columns=columns, missing="state", alpha=0)
    drawn, _ = model.fit(frame, ["a"] * N).sample(4000, random_state=0)
    assert drawn["town"].isna().mean() == pytest.approx(0.5, abs=0.04)
    assert drawn["age"].isna().mean() == pytest.approx(0.25, abs=0.04)
    assert drawn["bit"].dtype == frame["bit"].dtype
    drawn, _ = NaiveBayes(columns=columns).fit(frame, ["a"] * N).sample(100, random_state=0)
    assert not drawn.isna().any(axis=None)


def test_numbers_are_drawn_no_larger_than_there_are() -> None:
    frame = pd.DataFrame({"x": [1e-300, 1e300, 1.0, 1e200]})
    drawn, _ = NaiveBayes(family="lognormal").fit(frame, list("aabb")).sample(500, random_state=0)
    assert np.isfinite(drawn["x"]).all()


def test_more_words_than_memory_holds_are_refused_before_they_are_drawn() -> None:
    model = NaiveBayes().fit(sparse.csr_array(np.array([[1e15, 0], [0, 1e19]])), [0, 1])
    with pytest.raises(
        ResourceLimitError, match=r"the words of column '\(counts\)' would take .* GiB.*; draw fewer rows"
    ):
        model.sample(3)


def test_hashed_words_cannot_be_drawn() -> None:
    frame = pd.DataFrame({"note": ["free prize now", "see you at noon"] * (N // 2)})
    for analyser in (TextAnalyser(n_hash=32), HashingVectorizer(n_features=32, alternate_sign=False, norm=None)):
        model = NaiveBayes(columns={"note": {"analyser": analyser}}).fit(frame, Y)
        with pytest.raises(ParameterError, match="the words of column 'note' are hashed, so none can be drawn"):
            model.sample(3)


def test_the_same_seed_draws_the_same_rows_and_bad_ones_are_refused() -> None:
    frame = pd.DataFrame(pandas_columns())
    model = NaiveBayes().fit(frame, Y)
    (a, y), (b, z) = (model.sample(9, random_state=5) for _ in range(2))
    pd.testing.assert_frame_equal(a, b)
    assert_array_equal(y, z)
    assert not a.equals(model.sample(9, random_state=6)[0])
    for n in (0, -1, 2.5, True):
        with pytest.raises(ParameterError, match="n is"):
            model.sample(n)


# ---------------------------------------------------------------------- distributed as the model says

MANY = 40_000
# A share of 40 000 rows, a fifth of them in the smaller class, is known to 4 standard errors of 0.5 / sqrt(8000).
SHARE = 0.025


@pytest.fixture(scope="module")
def told() -> tuple[NaiveBayes, pd.DataFrame, Any]:
    """A model of every family, and many rows of it."""
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300, p=[0.2, 0.8])
    b = y == "b"
    frame = pd.DataFrame(
        {
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], 300),
            "flag": rng.random(300) < 0.3 + 0.4 * b,
            "size": rng.normal(2.0 * b, 1 + b),
            "wage": np.exp(rng.normal(b, 0.5)),
            "visits": rng.poisson(1 + 4 * b),
            "age": rng.uniform(0, 90, 300),
            "belief": rng.normal(size=300),
            "note": [" ".join(rng.choice(["to", "be", "or"], 1 + 2 * k)) for k in b],
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 300), unit="D"),
        }
    )
    columns = {
        "flag": {"prior": Beta(2, 2)},
        "size": "gaussian",
        "wage": "lognormal",
        "visits": "poisson",
        "age": {"cuts": (20, 40, 80)},
        "belief": {"family": "gaussian", "prior": NormalInverseGamma(0.0, 1.0, 3.0, 3.0)},
        "note": {"family": "multinomial", "analyser": TextAnalyser(idf=True), "alpha": 0},
        "when": "gaussian",
    }
    model = NaiveBayes(columns=columns).fit(frame, y)
    drawn, classes = model.sample(MANY, random_state=0)
    return model, drawn, classes


def test_shares_of_classes_and_states_agree_with_the_tables(told: Any) -> None:
    model, drawn, classes = told
    tables = model.tables()
    assert_allclose([(classes == k).mean() for k in "ab"], tables["class"]["probability"], atol=SHARE)
    for name in ("town", "flag"):
        for k in "ab":
            shares = drawn[name][classes == k].value_counts(normalize=True)
            assert_allclose(shares.reindex(tables[name][name].tolist()), tables[name][f"P({name} | {k})"], atol=SHARE)
    for k in "ab":
        bins = np.digitize(drawn["age"][classes == k], [20, 40, 80])
        assert_allclose(np.bincount(bins) / len(bins), tables["age"][f"P(age | {k})"], atol=SHARE)


def test_means_and_spreads_of_numbers_agree_with_the_tables(told: Any) -> None:
    model, drawn, classes = told
    tables = model.tables()
    for name, column in (("size", drawn["size"]), ("wage", np.log(drawn["wage"]))):
        what = f"log {name}" if name == "wage" else name
        for i, k in enumerate("ab"):
            own = column[classes == k]
            std = tables[name][f"std({what})"][i]
            assert own.mean() == pytest.approx(tables[name][f"mean({what})"][i], abs=5 * std / np.sqrt(len(own)))
            assert own.std() == pytest.approx(std, rel=0.05)
    for i, k in enumerate("ab"):
        rate = tables["visits"]["rate(visits)"][i]
        own = drawn["visits"][classes == k]
        assert own.mean() == pytest.approx(rate, abs=5 * np.sqrt(rate / len(own)))
        assert own.var() == pytest.approx(rate, rel=0.1)  # as Poisson's law has it


def test_bags_of_words_have_the_length_and_the_words_of_their_class(told: Any) -> None:
    model, drawn, classes = told
    sums = model.statistics_.columns.groups["words note"]
    for i, k in enumerate("ab"):
        words = drawn["note"][classes == k].str.split()
        assert words.str.len().mean() == pytest.approx(sums.word_count[i].sum() / sums.observed[i], rel=0.05)
        shares = words.explode().dropna().value_counts(normalize=True)
        # By their counts, though they are scored by their rarity.
        assert_allclose(shares[list(sums.vocabulary.states)], sums.word_count[i] / sums.word_count[i].sum(), atol=SHARE)


def test_a_fit_on_many_drawn_rows_gives_the_parameters_back(told: Any) -> None:
    model, drawn, classes = told
    again = NaiveBayes(columns=model.columns_).fit(drawn, classes).tables()
    for name, table in model.tables().items():
        if name in ("belief", "note", "when (weekday)", "when (month)", "class"):
            continue  # read with a prior or by rarity; a date is drawn by its days
        numbers = table.select_dtypes("number").to_numpy()
        scale = np.abs(numbers).max()
        assert_allclose(again[name].select_dtypes("number").to_numpy(), numbers, atol=0.04 * scale, err_msg=name)
    assert abs(drawn["belief"].mean()) < 0.1


def test_numbers_drawn_from_bins_are_none_that_could_not_be() -> None:
    rng = np.random.default_rng(0)
    gain = np.where(rng.random(2000) < 0.9, 0.0, np.exp(rng.normal(8, 1, 2000)))
    model = NaiveBayes().fit(pd.DataFrame({"gain": gain}), gain > 5000)
    assert model.columns_["gain"].family == "binned"
    drawn = model.sample(2000, random_state=0)[0]["gain"]
    assert 0.85 < (drawn == 0).mean() < 0.95  # 0.9, and 0.0067 for the chance of 2000 draws
    rest = drawn[drawn != 0]
    assert rest.min() >= gain[gain > 0].min()
    assert rest.max() <= gain.max()


def test_a_file_holds_the_values_of_the_bins(tmp_path: Path) -> None:
    gain = pd.DataFrame({"gain": np.repeat([0.0, 0.5, 3.0], 50)})
    model = NaiveBayes(columns={"gain": "binned"}).fit(gain, [0, 1] * 75)
    save(model, tmp_path / "gain.bayes")
    loaded = load(tmp_path / "gain.bayes")
    assert loaded.columns_["gain"].spans == ((0.0, 0.0), (0.5, 0.5), (3.0, 3.0))
    assert set(loaded.sample(300, random_state=0)[0]["gain"]) == {0.0, 0.5, 3.0}
