"""Messages in a list, an array or a series are a table of one column, in learning and in answering."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_val_predict

from bayeswater import BayesError, Calibrated, CategoricalNB, DataError, MultinomialNB, NaiveBayes

MESSAGES = ["win a big prize now", "cheap prize for you now", "meeting at noon today", "lunch with the team today"] * 6
Y = ["spam", "spam", "ham", "ham"] * 6
AS_ROWS = [[message] for message in MESSAGES]

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda cells: np.array(cells, dtype=object),
    "pandas": pd.Series,
    "named": lambda cells: pd.Series(cells, name="message"),
    "categories": lambda cells: pd.Series(cells, dtype="category"),
    "polars": pl.Series,
    "arrow": pa.array,
    "chunks": lambda cells: pa.chunked_array([cells[:5], cells[5:]]),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_messages_are_learned_and_answered_as_rows_of_one_column(container: Any) -> None:
    expected = NaiveBayes().fit(AS_ROWS, Y)
    X = container(MESSAGES)
    model = NaiveBayes().fit(X, Y)
    assert model.n_features_in_ == 1
    assert (model.predict_proba(X) == expected.predict_proba(AS_ROWS)).all()
    assert model.predict(X).tolist() == expected.predict(AS_ROWS).tolist()
    assert model.score(X, Y) == 1
    assert len(model.explain(X)) == len(MESSAGES)
    assert (model.leave_one_out([(X, Y)]).accuracy) == expected.leave_one_out([(AS_ROWS, Y)]).accuracy
    grown = model.partial_fit(X, Y).forget(X, Y)
    assert (grown.predict_proba(X) == expected.predict_proba(AS_ROWS)).all()


def test_missing_messages_are_missing_cells() -> None:
    model = NaiveBayes().fit(MESSAGES, Y)
    assert model.predict_proba([None, "a prize"])[0].tolist() == [0.5, 0.5]
    assert (NaiveBayes().fit([*MESSAGES, None], [*Y, "ham"]).class_count_ == [13, 12]).all()


def test_a_list_of_texts_is_answered_by_a_model_of_one_column_and_names_of_files_are_read(tmp_path: Any) -> None:
    path = tmp_path / "messages.csv"
    pd.DataFrame({"message": MESSAGES, "kind": Y}).to_csv(path, index=False)
    model = NaiveBayes().fit(path, target="kind")
    assert model.predict(["a prize, see prices.csv"]).tolist() == ["spam"]
    (answers,) = model.predict([str(path)])
    assert answers["prediction"].to_pylist() == Y
    with pytest.raises(DataError, match=r"cannot read 'mesages\.csv': there is no such file"):
        model.predict(["mesages.csv"])
    with pytest.raises(DataError, match=r"no such file; if it is a text to classify, put it into a list$"):
        model.predict("free prize now. Call us")
    of_two = NaiveBayes().fit(pd.DataFrame({"a": MESSAGES, "b": Y}), Y)
    with pytest.raises(BayesError, match="no such file"):
        of_two.predict(["win", "lose"])


def test_numbers_without_a_table_are_refused_as_ever() -> None:
    for X in ([1.0, 2.0], np.array([1.0, 2.0]), pd.Series([1.0, 2.0]), ["a", 1.0]):
        with pytest.raises(DataError, match=r"1D array|float"):
            NaiveBayes().fit(X, ["a", "b"])


def test_models_of_numbers_say_who_reads_texts_and_models_of_states_read_words() -> None:
    with pytest.raises(DataError, match="use NaiveBayes, which takes columns of all kinds"):
        MultinomialNB().fit(MESSAGES, Y)
    assert CategoricalNB().fit(["red", "blue"] * 3, ["a", "b"] * 3).predict(["red"]).tolist() == ["a"]


def test_messages_are_split_and_calibrated_like_rows() -> None:
    assert (cross_val_predict(NaiveBayes(), MESSAGES, Y, cv=3) == Y).all()
    assert Calibrated(NaiveBayes()).fit(MESSAGES, Y).predict(["a prize"]).tolist() == ["spam"]


# ---------------------------------------------------------------------- scores of sources


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_the_score_of_a_source_is_that_of_its_rows(tmp_path: Any, kind: str, weight: str | None) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200).round(2), "c": rng.choice(list("ab"), 200)})
    frame["y"] = np.where(rng.random(200) < 0.3, 0, (frame["x"] > 0).astype(int))
    frame["w"] = rng.integers(1, 4, 200)
    model = NaiveBayes().fit(frame[["x", "c"]], frame["y"])
    expected = model.score(frame[["x", "c"]], frame["y"], None if weight is None else frame["w"])
    if kind == "csv":
        frame.to_csv(tmp_path / "rows.csv", index=False)
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "rows.parquet")
    source = frame[["x", "c", "y", "w"]] if kind == "frame" else str(tmp_path / f"rows.{kind}")
    assert model.score(source, target="y", sample_weight=weight) == pytest.approx(expected, rel=1e-15)
    with pytest.raises(BayesError, match=r"there is no target column 'Y'.*did you mean 'y'"):
        model.score(source, target="Y")
    with pytest.raises(BayesError, match="so there is no y to give"):
        model.score(source, frame["y"], target="y")
