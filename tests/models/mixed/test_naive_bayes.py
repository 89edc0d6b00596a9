"""`NaiveBayes` as a user meets it: tables of every form, strange cells, batches, calibration, decisions, parameters."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from bayeswater import Dirichlet, NaiveBayes, PrecisionWarning, UnseenCategoryWarning
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.errors import DataError, ParameterError, SchemaError, StatisticsError

RNG = np.random.default_rng(0)
N = 60
Y = np.array(["a", "b", "b"] * (N // 3))
X = pd.DataFrame(
    {
        "size": RNG.normal(Y == "b"),
        "visits": RNG.poisson(2 + 2 * (Y == "b")),
        "town": RNG.choice(["Ulm", "Bonn", "Kiel"], N),
        "wage": np.exp(RNG.normal(size=N)),
        "flag": RNG.random(N) < 0.4,
    }
)


# ---------------------------------------------------------------------- tables of every form


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # as scikit-learn says
def test_arrays_and_lists_of_objects_are_read_as_the_frame_is() -> None:
    frame = NaiveBayes().fit(X, Y)
    for table in (X.to_numpy(dtype=object), X.to_numpy(dtype=object).tolist()):
        model = NaiveBayes().fit(table, Y)
        assert [column.name for column in model.columns_] == ["x0", "x1", "x2", "x3", "x4"]
        assert [column.family for column in model.columns_] == [column.family for column in frame.columns_]
        assert_array_equal(model.predict_proba(table), frame.predict_proba(X))
        assert_array_equal(frame.predict_proba(table), frame.predict_proba(X))
        assert_array_equal(
            model.predict_proba(X), frame.predict_proba(X)
        )  # a frame by its places, where no name is known


@pytest.mark.parametrize("prior", [None, Dirichlet({"Ulm": 2, "Bonn": 3, "Kiel": 1})])
def test_categories_are_sorted_by_label_in_whatever_order_rows_and_batches_bring_them(prior: Any) -> None:
    settings = {} if prior is None else {"columns": {"town": {"prior": prior}}}
    together, y = pa.table({"town": ["Ulm", "Bonn", "Kiel", "Ulm"]}), [*"abba"]
    whole = NaiveBayes(**settings).fit(together, y)
    by_batch = NaiveBayes(**settings).fit_batches([(together[:2], y[:2]), (together[2:], y[2:])])
    assert by_batch.statistics_.columns == whole.statistics_.columns
    assert whole.statistics_.columns.groups["categories"].schema[0].states == ("Bonn", "Kiel", "Ulm")


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8, np.bool_])
def test_arrays_of_numbers_of_any_kind(kind: Any) -> None:
    table = RNG.integers(0, 9, (N, 3)).astype(kind)
    model = NaiveBayes().fit(table, Y)
    assert_array_equal(model.predict_proba(table), NaiveBayes().fit(table.astype(float), Y).predict_proba(table))


def test_frames_whose_columns_are_numbered_keep_what_their_types_declare() -> None:
    frame = pd.DataFrame({7: pd.Categorical(["u", "v"] * 2, categories=["u", "v", "w"]), 3: [1.5, 2.0, 4.0, None]})
    model = NaiveBayes().fit(frame, list("aabb"))
    assert [column.name for column in model.columns_] == ["x0", "x1"]
    assert model.statistics_.columns.groups["categories"].schema[0].states == ("u", "v", "w")
    assert model.predict(frame[:2]).tolist() == model.predict(frame.set_axis(["p", "q"], axis=1)[:2]).tolist()


def test_names_may_be_anything_and_class_is_a_name_like_others() -> None:
    strange = {"class": "town", "a.b c": "size", "": "visits", "P(x | y)": "flag", "mean(a)": "wage"}
    frame = X.rename(columns={old: new for new, old in strange.items()})
    model = NaiveBayes().fit(frame, Y)
    assert_array_equal(model.predict_proba(frame), NaiveBayes().fit(X, Y).predict_proba(X))
    tables = model.tables()
    assert list(tables) == ["(class)", *frame.columns]
    assert tables["(class)"]["probability"].sum() == pytest.approx(1)
    assert tables["class"].columns.tolist() == ["class", "P(class | a)", "P(class | b)"]
    assert tables["a.b c"].columns.tolist() == ["class", "mean(a.b c)", "std(a.b c)"]


def test_a_stream_of_arrow_is_read_once_and_held() -> None:
    table = pa.Table.from_pandas(X)
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
    model = NaiveBayes(calibrate=True).fit(stream, Y)
    assert_array_equal(model.predict_proba(table), NaiveBayes(calibrate=True).fit(table, Y).predict_proba(table))


def test_sparse_and_dense_counts_are_scored_alike() -> None:
    counts = RNG.poisson(0.7, (N, 5))
    csr = sparse.csr_array(counts)
    model = NaiveBayes().fit(csr, Y)
    expected = model.predict_proba(csr)
    names = list("pqrst")
    for table in (counts, counts.astype(float), csr.tocoo(), csr.tocsc(), pd.DataFrame(counts), counts.tolist()):
        assert_array_equal(model.predict_proba(table), expected)
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(counts), columns=names)
    named = NaiveBayes().fit(frame, Y)
    assert_array_equal(named.predict_proba(frame), expected)
    assert_array_equal(named.predict_proba(frame.sparse.to_dense()), expected)
    dense = NaiveBayes(family="gaussian").fit(counts, Y)
    assert_array_equal(dense.predict_proba(csr), dense.predict_proba(counts))
    by_name = NaiveBayes(family="gaussian").fit(frame.sparse.to_dense(), Y)
    assert_array_equal(by_name.predict_proba(frame[names[::-1]]), dense.predict_proba(counts))


def test_one_column_sparse_and_dense() -> None:
    counts = RNG.poisson(1, (N, 1))
    csr = sparse.csr_array(counts)
    model, dense = NaiveBayes().fit(csr, Y), NaiveBayes().fit(counts, Y)
    assert_array_equal(model.predict_proba(counts), model.predict_proba(csr))
    assert_array_equal(dense.predict_proba(csr), dense.predict_proba(counts))
    wide = NaiveBayes().fit(sparse.csr_array(RNG.poisson(1, (N, 5))), Y)
    for other in (counts, csr):
        with pytest.raises(SchemaError, match="X has 1 features, but NaiveBayes is expecting 5 features"):
            wide.predict(other)


def test_a_frame_may_be_sparse_in_some_columns() -> None:
    counts = RNG.poisson(0.7, (N, 3))
    block = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(counts), columns=["to", "be", "or"])
    mixed = pd.concat([X[["size"]], block, X[["town"]]], axis=1)
    model = NaiveBayes().fit(mixed, Y)
    assert [column.name for column in model.columns_] == ["size", "town", "(counts)"]
    parts = NaiveBayes().fit(X[["size", "town"]], Y), NaiveBayes().fit(sparse.csr_array(counts), Y)
    joint = sum(part.predict_joint_log_proba(table) for part, table in zip(parts, (X, counts), strict=True))
    assert_allclose(model.predict_joint_log_proba(mixed), joint - model.class_log_prior_, rtol=1e-12)
    dense = mixed.astype(dict.fromkeys(["to", "be", "or"], np.int64))
    assert_array_equal(model.predict_proba(dense), model.predict_proba(mixed))
    for table in (mixed[["size", "or", "be", "to", "town"]], dense[["size", "or", "be", "to", "town"]]):
        with pytest.raises(SchemaError, match="must be in the same order"):
            model.predict(table)
        with pytest.raises(SchemaError, match="must be in the same order"):
            model.partial_fit(table, Y)
    with pytest.raises(SchemaError, match="should match those that were passed during fit"):
        model.predict(mixed[["size", "town"]])
    with pytest.raises(
        SchemaError, match=r"the sparse columns of a batch are \['be', 'to', 'or'\], and those of the first"
    ):
        NaiveBayes().fit_batches([(mixed, Y), (mixed[["size", "be", "to", "or", "town"]], Y)])
    with pytest.raises(ParameterError, match="a frame with sparse columns cannot be drawn"):
        model.sample(3)
    with pytest.raises(SchemaError, match="some columns of X are sparse and some are not, so they need names"):
        NaiveBayes().fit(mixed.set_axis(range(5), axis=1), Y)


BAD_TABLES: dict[str, tuple[Any, str]] = {
    "a dict": ({"x": [1.0, 2.0]}, r"a dict is no table; give pandas.DataFrame\(X\)"),
    "no rows": (pd.DataFrame({"x": pd.Series(dtype=float)}), r"Found array with 0 sample\(s\)"),
    "no columns": (pd.DataFrame(index=[0, 1]), r"Found array with 0 feature\(s\)"),
    "one name for two columns": (
        pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"]),
        "column name 'x' occurs more than",
    ),
    "infinity": (pd.DataFrame({"x": [1.0, np.inf]}), "Input X contains infinity: inf in row 1, column 'x'"),
    "infinity in an array": (np.array([[1.0], [-np.inf]]), "Input X contains infinity: -inf in row 1, column 'x0'"),
    "negative sparse counts": (sparse.csr_array([[1.0], [-2.0]]), "Negative values in data passed to NaiveBayes"),
    "missing sparse counts": (sparse.csr_array([[1.0], [np.nan]]), "Input X contains NaN"),
    "one dimension": (np.array([1.0, 2.0]), "Expected 2D array, got 1D array"),
    "a series": (pl.Series([1.0, 2.0]), "one column without a table around"),
    "a lazy frame": (pl.LazyFrame({"x": [1.0, 2.0]}), r"give X.collect\(\)"),
    "ragged lists": ([["a", 1], ["b"]], r"X is ragged: row 1 has 1 cell\(s\), and row 0 has 2"),
    "mixed objects": (pd.DataFrame({"x": ["a", 1]}, dtype=object), "column 'x' mixes values of types"),
    "lists in cells": (pa.table({"x": [[1], [2]]}), "column 'x' holds list<.*>, which is neither a number, a category"),
    "far apart": (np.array([[1e200], [-1e200]]), "the squares of column 'x0' overflow: its values are too far apart"),
}


@pytest.mark.parametrize(("table", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_what_is_no_table_is_refused_with_the_way_out(table: Any, message: str) -> None:
    model = NaiveBayes()
    with pytest.raises(ValueError, match=message):
        model.fit(table, ["a", "b"])
    assert not hasattr(model, "statistics_")


def test_rows_that_are_too_far_from_those_before_are_refused_and_nothing_is_learned() -> None:
    model = NaiveBayes(family="gaussian").fit([[1.3e154], [1.2e154]], [0, 1])
    before = model.statistics_
    for learn in (lambda rows: model.partial_fit(rows, [0, 1]), lambda rows: model + clone(model).fit(rows, [0, 1])):
        with pytest.raises(DataError, match="the squares of column 'x0' overflow"):
            learn([[-1.3e154], [-1.2e154]])
    assert model.statistics_ == before


@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")  # one row has seen but one town
def test_one_row_one_class_and_one_column_are_enough() -> None:
    one = NaiveBayes().fit(X[:1], Y[:1])
    assert one.predict(X).tolist() == ["a"] * N
    assert_array_equal(one.predict_proba(X[:2]), [[1.0], [1.0]])
    for name in X:
        model = NaiveBayes(calibrate=True).fit(X[[name]], Y)
        assert_allclose(model.predict_proba(X[[name]]).sum(axis=1), 1)
    same = NaiveBayes(calibrate=True).fit(X, ["only"] * N)
    assert set(same.predict(X)) == {"only"}
    alone = NaiveBayes(calibrate=True).fit(X[:3], ["p", "q", "r"])
    assert alone.calibration_.n_left_out == 3
    assert alone.calibration_.n_used == 0
    assert_allclose(alone.predict_proba(X[:3]).sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning")
def test_a_text_without_any_word_says_nothing() -> None:
    for notes in (["...", "!!!", "", "?"], [None, None, "", ""]):
        for family in ("text", "multinomial", "complement", "marks"):
            frame = pd.DataFrame({"note": pd.Series(notes, dtype=object)})
            model = NaiveBayes(columns={"note": family}, calibrate=True).fit(frame, list("aabb"))
            assert_allclose(model.predict_proba(frame), 0.5)
            assert model.sample(3)[0]["note"].tolist() == ["", "", ""]
            assert len(model.tables()["note"]) == 0


# ---------------------------------------------------------------------- strange cells


@pytest.mark.filterwarnings("error")
def test_texts_in_a_list_need_no_name_whatever_the_texts_of_the_fit_were() -> None:
    texts, labels = ["win a prize now", "lunch at noon today", "a cheap prize", "the team meets"], ["spam", "ham"] * 2
    series = pd.Series(texts, name="text")
    for learned in (series, series.to_frame(), series.rename(None), texts):
        model = NaiveBayes().fit(learned, labels)
        for asked in (texts, np.array(texts, dtype=object), series.rename(None)):
            assert model.predict(asked).tolist() == labels
        model.partial_fit(texts[:1], labels[:1])
    named = NaiveBayes().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), ["p", "q"])
    with pytest.raises(UserWarning, match="valid feature names"):
        named.predict(np.array([[1.0, "x"]], dtype=object))


def test_missing_cells_can_be_refused() -> None:
    holes = {"size": np.nan, "town": None, "flag": None, "note": None, "when": pd.NaT}
    full = X.assign(note="a few words here", when=pd.Timestamp("2024-05-01"), flag=X["flag"].astype("boolean"))
    model = NaiveBayes(missing="error").fit(full, Y)
    for name, hole in holes.items():
        broken = full.copy()
        broken.loc[3, name] = hole
        for refused in (
            lambda t: NaiveBayes(missing="error").fit(t, Y),
            model.predict,
            lambda t: model.partial_fit(t, Y),
        ):
            with pytest.raises(DataError, match=rf"NaN: .*'{name}"):
                refused(broken)
        assert np.isfinite(NaiveBayes().fit(broken, Y).predict_proba(broken)).all()


def test_missing_cells_can_be_a_state_that_tells_something() -> None:
    frame = pd.DataFrame({"town": ["Ulm", "Bonn", None, None, None, "Ulm"]})
    y = ["a", "a", "b", "b", "b", "b"]
    state = NaiveBayes(missing="state", alpha=1).fit(frame, y)
    assert_allclose(np.exp(state.predict_joint_log_proba(frame[2:3]))[0], [3 / 8 * 1 / 5, 5 / 8 * 4 / 7], rtol=1e-14)
    assert state.tables()["town"]["town"].isna().tolist() == [False, False, True]
    ignored = NaiveBayes(alpha=1).fit(frame, y)
    assert_allclose(ignored.predict_proba(frame[2:3])[0], [3 / 8, 5 / 8], rtol=1e-14)
    # What is counted is the same: the rule may be changed without a refit.
    assert_array_equal(ignored.set_params(missing="state").predict_proba(frame), state.predict_proba(frame))


def test_a_category_never_seen_is_left_out_with_one_warning_or_refused() -> None:
    model = NaiveBayes().fit(X, Y)
    strange = X[:4].assign(town=["Rom", "Ulm", "Rom", None])
    with pytest.warns(UnseenCategoryWarning, match="column 'town' = 'Rom' in 2 of 4 rows") as warned:
        found = model.predict_proba(strange)
    assert len(warned) == 1
    assert_array_equal(found, model.predict_proba(strange.assign(town=[None, "Ulm", None, None])))
    with pytest.raises(DataError, match=r"never counted: column 'town' = 'Rom' in 2 of 4 rows; use unseen='ignore'"):
        model.set_params(unseen="error").predict(strange)
    grown = NaiveBayes(unseen="error").fit(X, Y).partial_fit(strange, Y[:4])  # in learning it is new, not unseen
    assert "Rom" in grown.tables()["town"]["town"].tolist()


IMPOSSIBLE = [
    ("wage", "lognormal", [-1.0, 2.0, 0.0], "column 'wage' is lognormal, for numbers over 0, but row 0 has -1.0", 2),
    ("visits", "poisson", [2.5, 2.0, -1.0], "column 'visits' is poisson, for counts, .* but row 0 has 2.5", 2),
]


@pytest.mark.parametrize(("name", "family", "cells", "message", "n"), IMPOSSIBLE, ids=["lognormal", "poisson"])
def test_numbers_that_a_family_cannot_have(name: str, family: str, cells: Any, message: str, n: int) -> None:
    model = NaiveBayes(columns={name: family}).fit(X[[name]], Y)
    frame = pd.DataFrame({name: cells})
    before = model.statistics_
    with pytest.raises(DataError, match=message + r".*; correct it, or fit again with columns=\{"):
        model.partial_fit(frame, ["a", "b", "a"])
    assert model.statistics_ == before
    with pytest.warns(UnseenCategoryWarning, match=message + rf": such cells are left out \({n} of 3 rows\)"):
        found = model.predict_proba(frame)
    assert_array_equal(found, model.predict_proba(pd.DataFrame({name: [np.nan, 2.0, np.nan]})))
    with pytest.raises(DataError, match=message):
        model.set_params(unseen="error").predict(frame)


def test_a_flag_that_is_two_is_refused_in_learning_and_unseen_in_predicting() -> None:
    frame = pd.DataFrame({"bit": [0, 1, 1, 0]})
    model = NaiveBayes().fit(frame, list("aabb"))
    with pytest.raises(DataError, match=r"column 'bit' holds flags, 0 and 1, but 2.* in row 1 is none; fit again with"):
        model.partial_fit(pd.DataFrame({"bit": [1, 2]}), ["a", "b"])
    with pytest.warns(UnseenCategoryWarning, match=r"column 'bit' = 2.* in 1 of 2 rows"):
        found = model.predict_proba(pd.DataFrame({"bit": [1, 2]}))
    assert_allclose(found[1], [0.5, 0.5])
    for same in ([True, False], [1.0, 0.0], pd.array([1, 0], dtype="Int64"), ["x"][:0] or [1, 0]):
        assert_array_equal(model.predict_proba(pd.DataFrame({"bit": same})), model.predict_proba(frame[1::-1]))


def test_dates_must_stay_dates() -> None:
    frame = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=4)})
    model = NaiveBayes().fit(frame, list("aabb"))
    with pytest.raises(DataError, match=r"column 'when' holds .*string, and is read as dates; convert it to dates"):
        model.predict(frame.astype(str))
    with pytest.raises(DataError, match=r"holds time stamps of the zone 'UTC', but the model was fitted on timestamp"):
        model.predict(frame["when"].dt.tz_localize("UTC").to_frame())
    nanoseconds = frame.astype("datetime64[ns]")
    assert_array_equal(model.predict_proba(nanoseconds), model.predict_proba(frame))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_column_that_is_missing_is_named() -> None:
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(
        SchemaError, match=r"column 'town', which NaiveBayes was fitted with, is missing; X has \['size'"
    ):
        model.predict(X.drop(columns="town"))
    with pytest.raises(SchemaError, match=r"'size'.* is missing \(and 4 more\)"):
        model.predict(pd.DataFrame({"other": [1.0]}))
    with pytest.raises(SchemaError, match="X has 2 features, but NaiveBayes is expecting 5 features"):
        model.predict(X.to_numpy(dtype=object)[:, :2])


# ---------------------------------------------------------------------- batches, classes


def test_batches_that_can_be_read_but_once_are_refused_for_calibration() -> None:
    halves = [(X[:30], Y[:30]), (X[30:], Y[30:])]
    with pytest.raises(ParameterError, match="calibrate=True reads the rows twice, and these batches can"):
        NaiveBayes(calibrate=True).fit_batches(iter(halves))
    once = NaiveBayes().fit_batches(iter(halves))
    twice = NaiveBayes(calibrate=True).fit_batches(halves)
    assert once.statistics_ == twice.statistics_
    with pytest.raises(DataError, match="there are no rows to learn from: the batches are empty"):
        NaiveBayes().fit_batches([])
    with pytest.raises(ParameterError, match=r"a batch must be \(X, y\) or \(X, y, sample_weight\)"):
        NaiveBayes().fit_batches([X])


def test_a_fit_in_batches_does_not_remember_the_table_before() -> None:
    model = NaiveBayes().fit(X, Y)
    array = RNG.normal(size=(N, 2))
    model.fit_batches([(array[:30], Y[:30]), (array[30:], Y[30:])])
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert (
        model.statistics_
        == NaiveBayes(columns=model.columns_).fit_batches([(array[:30], Y[:30]), (array[30:], Y[30:])]).statistics_
    )


def test_classes_may_be_declared_before_a_row_has_them() -> None:
    model = NaiveBayes(class_prior=[0.2, 0.3, 0.5]).partial_fit(X[:3], ["b", "b", "b"], classes=["a", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert_array_equal(model.class_count_, [0, 3, 0])
    assert_allclose(model.predict_proba(X[:1].assign(**dict.fromkeys(X)))[0], [0.2, 0.3, 0.5])
    more = NaiveBayes().fit(X[:3], ["b", "b", "b"]).partial_fit(X[3:4], ["d"], classes=["a"])
    assert more.classes_.tolist() == ["a", "b", "d"]
    for bad in ([], [None], "abc"):
        with pytest.raises(ParameterError, match="classes is"):
            NaiveBayes().partial_fit(X, Y, classes=bad)


def test_a_refused_call_leaves_the_model_as_it_was() -> None:
    model = NaiveBayes(calibrate=True).fit(X, Y)
    before, report, proba = model.statistics_, model.calibration_, model.predict_proba(X)
    strange = X.assign(size="text")
    for call in (
        lambda: model.fit(strange[:0], Y[:0]),
        lambda: model.partial_fit(strange, Y),
        lambda: model.forget(X, ["never"] * N),
        lambda: model.forget(X, Y),
        lambda: model.forget(X[:1].assign(town="Rom"), Y[:1]),
        lambda: model.set_params(class_prior=[1.0]).fit(X, Y),
    ):
        with pytest.raises(ValueError):
            call()
        model.set_params(class_prior=None)
        assert model.statistics_ is before
        assert model.calibration_ is report
        assert_array_equal(model.predict_proba(X), proba)


def test_forgetting_refuses_to_lose_digits_and_recounts() -> None:
    far = X.copy()
    far.loc[0, "size"] = 1e9
    model = NaiveBayes(columns={"size": "gaussian"}).fit(far, Y)
    with pytest.raises(StatisticsError, match=r"column 'size' of class 'a' .* fewer than 8 digits would be right"):
        model.forget(far[:1], Y[:1])
    model.forget(far[:1], Y[:1], remaining=(far[1:], Y[1:]))
    never_seen = NaiveBayes(columns=model.columns_).fit(far[1:], Y[1:])
    for name, array in never_seen.statistics_.columns.to_arrays().items():
        found, expected = np.broadcast_arrays(model.statistics_.columns.to_arrays()[name], array)
        assert_allclose(found, expected, rtol=1e-12)


def test_leaving_out_a_row_that_is_nearly_all_of_a_scatter_warns() -> None:
    far = X[["size"]].copy()
    far.loc[0, "size"] = 1e9
    model = NaiveBayes(family="gaussian").fit(far, Y)
    with pytest.warns(PrecisionWarning, match="row 0 makes up nearly all of the scatter of its class"):
        found = model.loo_predict_log_proba(far, Y)
    assert not np.isnan(found).any()


# ---------------------------------------------------------------------- an estimator like others


def test_parameters_set_after_a_fit_take_effect_without_a_refit() -> None:
    model = NaiveBayes().fit(X, Y)
    for given in (
        {"alpha": 0.25},
        {"alpha": 100.0, "class_alpha": 0.0},
        {"class_prior": [0.9, 0.1]},
        {"variance_floor": 2.0},
        {"columns": {"town": {"alpha": 3}}},
        {"missing": "state"},
    ):
        fresh = clone(model).set_params(**given)
        fresh.columns = given.get("columns", model.columns_)
        fresh.fit(X, Y)
        changed = NaiveBayes().fit(X, Y)
        before = changed.predict_proba(X)
        changed.set_params(**given)
        assert_allclose(changed.predict_proba(X), fresh.predict_proba(X), rtol=1e-12)
        assert not np.array_equal(changed.predict_proba(X), before) or "missing" in given


@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")  # a fold may have no row without a visit
def test_clones_pickles_and_cross_validation() -> None:
    model = NaiveBayes(columns={"size": "binned"}, alpha=0.5, calibrate=True)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "statistics_")
    model.fit(X, Y)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.statistics_ == model.statistics_
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert str(loaded.columns_) == str(model.columns_)
    loaded.partial_fit(X, Y)
    assert not hasattr(clone(model), "calibration_")
    scores = cross_val_score(NaiveBayes(), X, Y, cv=3, scoring="neg_log_loss")
    assert np.isfinite(scores).all()


def test_numbers_of_parameters_are_counted() -> None:
    frame = X.assign(age=RNG.normal(size=N), note=["to be or", "not to be"] * (N // 2))
    said = {
        "size": "gaussian",
        "visits": "poisson",
        "wage": "lognormal",
        "age": {"cuts": (0, 1)},
        "note": "multinomial",
    }
    model = NaiveBayes(columns=said).fit(frame, Y)
    # For each class: mean and variance of two columns, a rate, towns, a flag, bins, words.
    assert model.n_parameters == 1 + 2 * (2 * 2 + 1 + (3 - 1) + (2 - 1) + (3 - 1) + (4 - 1))
    assert NaiveBayes(columns={**said, "note": "marks"}).fit(frame, Y).n_parameters == model.n_parameters + 2


def test_the_words_of_a_text_are_counted_by_a_vectoriser_as_well() -> None:
    notes = ["free prize now", "see you at noon", "win a free prize", "noon at the station"] * 3
    y = ["spam", "ham"] * 6
    frame = pd.DataFrame({"note": notes})
    for analyser in (TextAnalyser(), TextAnalyser(n_hash=2**10), TextAnalyser(idf=True), TextAnalyser(binary=True)):
        model = NaiveBayes(columns={"note": {"analyser": analyser}}).fit(frame, y)
        assert model.predict(pd.DataFrame({"note": ["a free prize", "at noon"]})).tolist() == ["spam", "ham"]
