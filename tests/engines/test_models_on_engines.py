"""Models learn from a frame of an engine what they learn from the same rows here, and answer with a lazy frame."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.engines.counting import N_ROWS, people, without_class_later

from bayeswater import AODE, TAN, CategoricalNB, GaussianNB, NaiveBayes
from bayeswater.errors import BayesError
from bayeswater.models.streaming import labelled

MODELS: dict[str, Callable[[], Any]] = {
    "NaiveBayes": NaiveBayes,
    "CategoricalNB": lambda: CategoricalNB(missing="ignore"),
    "TAN": TAN,
    "AODE": AODE,
}


@pytest.fixture(autouse=True)
def _few_rows_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first rows be few, so that most are counted by the engine."""
    monkeypatch.setattr(labelled, "SAMPLED", 100)


@pytest.fixture(scope="module")
def dask() -> Any:
    return pytest.importorskip("dask.dataframe", reason="Dask is not installed")


def _here(make: Callable[[], Any], frame: pd.DataFrame) -> Any:
    return make().fit(frame.drop(columns="class"), frame["class"])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_partitions", [1, 11])
def test_a_discrete_model_of_a_dask_frame_is_the_local_one_bit_for_bit(dask: Any, name: str, n_partitions: int) -> None:
    frame = dask.from_pandas(people(), npartitions=n_partitions)
    model = MODELS[name]().fit(frame, target="class")
    local = _here(MODELS[name], people())
    assert model.statistics_ == local.statistics_
    X = people().drop(columns="class")
    assert np.array_equal(model.predict_proba(X), local.predict_proba(X))


def test_predictions_of_a_dask_frame_are_lazy_and_those_of_the_same_rows_here(dask: Any) -> None:
    frame = dask.from_pandas(people(), npartitions=3)
    nothing = frame.map_partitions(lambda part: part[part["size"] > 100], meta=frame._meta)
    model = NaiveBayes().fit(frame, target="class")
    X = people().drop(columns="class")
    for method in ("predict", "predict_proba"):
        lazy = getattr(model, method)(dask.concat([frame, nothing]))
        assert isinstance(lazy, dask.DataFrame)
        found, here = lazy.compute(), getattr(model, method)(X)
        assert dict(found.dtypes) == dict(lazy.dtypes)
        assert np.array_equal(found.to_numpy().reshape(np.shape(here)), np.asarray(here))


def test_an_array_of_dask_is_learned_from_as_a_local_one() -> None:
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    codes = np.random.default_rng(5).integers(0, 3, (N_ROWS, 4))
    model = CategoricalNB().fit(da.from_array(codes, chunks=(300, 2)), target="x3")
    local = CategoricalNB().fit(codes[:, :3], codes[:, 3])
    assert model.statistics_ == local.statistics_


@pytest.mark.parametrize("name", MODELS)
def test_masked_cells_of_a_dask_array_beside_its_labels_are_missing(name: str) -> None:
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    rng = np.random.default_rng(9)
    codes = np.ma.masked_array(rng.integers(0, 3, (60, 3)), rng.random((60, 3)) < 0.2)
    y = rng.integers(0, 2, 60)
    lazy, labels = da.from_array(codes, chunks=(20, 2), asarray=False), da.from_array(y, chunks=20)
    local = MODELS[name]().fit(codes.astype(float).filled(np.nan), y)
    assert MODELS[name]().fit(lazy, labels).statistics_ == local.statistics_
    hidden = da.from_array(np.ma.masked_array(y, y == 1), chunks=20, asarray=False)
    with pytest.raises(BayesError, match="y contains NaN"):
        MODELS[name]().fit(lazy, hidden)
    with pytest.raises(BayesError, match="sample_weight is nan in row"):
        MODELS[name]().fit(lazy, labels, hidden)


def test_a_dask_frame_beside_its_labels_is_learned_from_as_the_frame_it_computes(dask: Any) -> None:
    X = people().drop(columns="class")
    lazy = dask.from_pandas(people(), npartitions=3)
    model = NaiveBayes().fit(lazy.drop(columns="class"), lazy["class"])
    assert model.statistics_ == _here(NaiveBayes, people()).statistics_
    assert np.array_equal(model.feature_names_in_, X.columns)


def test_moments_of_a_dask_frame_are_the_local_ones_but_for_rounding(dask: Any) -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {"a": rng.normal(1e6, 1, N_ROWS), "b": rng.normal(size=N_ROWS), "class": rng.integers(0, 3, N_ROWS)}
    )
    model, local = GaussianNB().fit(dask.from_pandas(frame, npartitions=7), target="class"), _here(GaussianNB, frame)
    # Sums of 2000 rows in another order: a few units in the last place of the cells, and a variance of cells near 1e6
    # with deviation 1 loses twelve digits of its square.
    np.testing.assert_allclose(model.theta_, local.theta_, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(model.var_, local.var_, rtol=1e-9)


@pytest.mark.parametrize("n_partitions", [1, 5])
def test_missing_numbers_of_a_dask_frame_are_missing(dask: Any, n_partitions: int) -> None:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.integers(0, 4, (N_ROWS, 3)).astype(float), columns=["a", "b", "c"])
    frame = frame.mask(rng.random(frame.shape) < 0.1).assign(**{"class": rng.integers(0, 2, N_ROWS)})
    frame.loc[: N_ROWS // 2, "c"] = np.nan  # partitions without a value, and one that begins without
    model = CategoricalNB(missing="ignore").fit(dask.from_pandas(frame, npartitions=n_partitions), target="class")
    assert model.statistics_ == _here(lambda: CategoricalNB(missing="ignore"), frame).statistics_


def test_a_target_that_a_partition_lacks_is_named_with_the_partition(dask: Any) -> None:
    frame = dask.from_pandas(people(), npartitions=4)
    broken = frame.map_partitions(without_class_later, meta=frame._meta, enforce_metadata=False)
    with pytest.raises(BayesError, match=r"partition 2.*class"):
        NaiveBayes().fit(broken, target="class")
