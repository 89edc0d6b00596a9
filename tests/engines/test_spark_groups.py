"""What Spark counts by itself is what all rows give; where its groups do not say enough, every row is looked at."""

import shutil
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.engines.counting import people

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from bayeswater.engines import spark_groups
from bayeswater.engines.spark import SparkRows
from bayeswater.errors import DataError

pytest.importorskip("pyspark", reason="Spark is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not there", allow_module_level=True)


def _on_spark(session: Any, frame: pd.DataFrame, n_partitions: int = 3) -> Any:
    return session.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False)).repartition(n_partitions)


def _here(model: Any, frame: pd.DataFrame) -> Any:
    labelled = frame[frame["class"].notna()]
    return model.fit(labelled.drop(columns="class"), labelled["class"])


@pytest.fixture
def no_row_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no row go through a Python worker."""
    monkeypatch.setattr(SparkRows, "_parcel", lambda *_: pytest.fail("rows were counted in Python"))


@pytest.mark.filterwarnings("ignore:.*rows have no value in 'class'")
def test_categories_counted_by_spark_give_the_local_model_bit_for_bit(spark: Any, no_row_comes: None) -> None:
    frame = people().astype({"grade": str}).assign(flag=lambda rows: rows["size"] > 1)
    frame.loc[5:20, "class"] = None
    model = CategoricalNB(missing="ignore", min_categories=[1, 9, 1, 1, 1]).fit(_on_spark(spark, frame), target="class")
    local = _here(CategoricalNB(missing="ignore", min_categories=[1, 9, 1, 1, 1]), frame)
    assert model.statistics_ == local.statistics_
    assert np.array_equal(model.feature_names_in_, local.feature_names_in_)


COUNTERS: dict[str, Any] = {
    "MultinomialNB": MultinomialNB,
    "ComplementNB": ComplementNB,
    "BernoulliNB": lambda: BernoulliNB(binarize=1, missing="ignore"),
}


@pytest.mark.filterwarnings("ignore:.*no value in 'class'")
@pytest.mark.parametrize("name", COUNTERS)
def test_features_counted_by_spark_give_the_local_model_bit_for_bit(spark: Any, no_row_comes: None, name: str) -> None:
    rng = np.random.default_rng(12)
    frame = pd.DataFrame(rng.poisson(1.5, (400, 3)), columns=["a", "b", "c"]).assign(flag=rng.random(400) < 0.3)
    frame["class"] = rng.choice(["x", "y", None], 400, p=[0.4, 0.5975, 0.0025])
    if name == "BernoulliNB":
        frame["c"] = frame["c"].astype("Int64").mask(rng.random(400) < 0.1)
    model = COUNTERS[name]().fit(_on_spark(spark, frame), target="class")
    assert model.statistics_ == _here(COUNTERS[name](), frame).statistics_


def test_many_columns_are_counted_row_by_row(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_groups, "MOST_COLUMNS", 2)
    frame = people()[["colour", "size", "rare", "class"]]
    model = CategoricalNB(missing="ignore").fit(_on_spark(spark, frame), target="class")
    assert SparkRows(_on_spark(spark, frame)).margins(["colour", "size", "rare"], "class") is None
    assert model.statistics_ == _here(CategoricalNB(missing="ignore"), frame).statistics_


def test_labels_that_a_collation_takes_for_one_stay_apart(spark: Any) -> None:
    rows = [("a", "p", 1.0), ("a", "P", 2.0), ("A", "q", 3.0), ("b", "q", 5.0)]
    frame = spark.createDataFrame(rows, ["s", "y", "x"]).coalesce(1)
    frame = frame.selectExpr("s COLLATE UTF8_LCASE AS s", "y COLLATE UTF8_LCASE AS y", "x")
    (margin,) = SparkRows(frame).margins(["s"], "y")
    pairs = zip(margin.cells.to_pylist(), margin.labels.to_pylist(), margin.n_rows.tolist(), strict=True)
    assert sorted(pairs) == [("A", "q", 1), ("a", "P", 1), ("a", "p", 1), ("b", "q", 1)]
    (spread,) = SparkRows(frame).spreads(["x"], "y", about_first=False)
    assert dict(zip(spread.labels.to_pylist(), spread.n_rows.tolist(), strict=True)) == {"p": 1, "P": 1, "q": 2}


def _numbers(n_rows: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    columns = {
        "far": rng.normal(1e6, 1, n_rows),
        "whole": rng.integers(0, 50, n_rows),
        "constant": np.full(n_rows, 0.1),
    }
    return pd.DataFrame({**columns, "class": rng.choice(["a", "b", "c"], n_rows)})


def test_moments_summed_by_spark_are_the_local_ones_but_for_rounding(spark: Any, no_row_comes: None) -> None:
    frame = _on_spark(spark, _numbers()).cache()
    model, local = GaussianNB().fit(frame, target="class"), _here(GaussianNB(), _numbers())
    moments, here = model.statistics_.columns, local.statistics_.columns
    assert model.statistics_.class_count == local.statistics_.class_count
    # Means near 1e6 are rounded by 1e-10, and scatters of partitions are joined by the difference of their means.
    np.testing.assert_allclose(moments.mean, here.mean, rtol=1e-14)
    np.testing.assert_allclose(moments.scatter, here.scatter, rtol=1e-10)
    assert (moments.mean[:, 2] == 0.1).all() and not moments.scatter[:, 2].any()
    assert GaussianNB().fit(frame, target="class").statistics_ == model.statistics_  # the same bits


def test_numbers_near_zero_are_summed_in_one_query(
    spark: Any, no_row_comes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkRows, "head", lambda *_: pytest.fail("a first row was asked for"))
    frame = _numbers()[["whole", "class"]].assign(near=lambda rows: np.sqrt(rows["whole"] + 0.5))
    model, local = GaussianNB().fit(_on_spark(spark, frame), target="class"), _here(GaussianNB(), frame)
    np.testing.assert_allclose(model.var_, local.var_, rtol=1e-12)  # squares are a few times the scatter


def test_moments_whose_digits_would_cancel_are_counted_row_by_row(spark: Any) -> None:
    frame = _numbers().assign(far=lambda rows: np.where(rows["class"] == "a", 1e8, 0.0) + rows["far"] - 1e6)
    model, local = GaussianNB().fit(_on_spark(spark, frame), target="class"), _here(GaussianNB(), frame)
    np.testing.assert_allclose(model.var_, local.var_, rtol=1e-9)


def test_a_cell_that_is_missing_or_no_code_is_named_by_its_partition(spark: Any) -> None:
    frame = _numbers().assign(far=lambda rows: rows["far"].where(rows.index != 7))
    with pytest.raises(DataError, match=r"the Spark DataFrame, partition \d.*NaN.*'far'"):
        GaussianNB().fit(_on_spark(spark, frame), target="class")
    codes = _numbers()[["whole", "class"]].assign(whole=lambda rows: rows["whole"] - 1)
    with pytest.raises(DataError, match=r"the Spark DataFrame, partition \d.*Negative values.*'whole'"):
        CategoricalNB().fit(_on_spark(spark, codes), target="class")
