"""`Discretizer`: frames in and out, names, weights, missing cells, and errors that say what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from tests.data.reading.discretising.one_column import find_cuts

from bayeswater import CategoricalNB, DataError, Discretizer, ParameterError, SchemaError, threads

METHODS = ["mdl", "equal_frequency", "equal_width", "rounding", "pkid", "fixed_frequency"]
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[::11, 2] = np.nan
    return X, y


@pytest.mark.parametrize("method", METHODS)
def test_each_column_has_the_cuts_of_its_own_values(iris, method):
    X, y = iris
    found = Discretizer(method).fit(X, y)
    for j, cuts in enumerate(found.cuts_):
        assert list(cuts) == find_cuts(X[:, j], y, 3, method=method).tolist()
    assert found.n_bins_.tolist() == [len(cuts) + 1 for cuts in found.cuts_]
    codes = found.transform(X)
    assert codes.dtype == np.float64
    np.testing.assert_array_equal(np.isnan(codes), np.isnan(X))
    assert np.nanmax(codes, axis=0).tolist() == (found.n_bins_ - 1).tolist()


def test_a_table_gives_the_same_whatever_its_kind_and_however_many_threads(iris):
    X, y = iris
    expected = Discretizer().fit(X, y)
    names = {name: X[:, j] for j, name in enumerate(NAMES)}
    for table in (pd.DataFrame(names), pl.DataFrame(names), pa.table(names), X.tolist(), np.asfortranarray(X)):
        found = Discretizer().fit(table, y)
        assert [cuts.points for cuts in found.cuts_] == [cuts.points for cuts in expected.cuts_]
        np.testing.assert_array_equal(found.transform(table), expected.transform(X))
    with threads(1):
        assert Discretizer().fit(X, y).cuts_ == expected.cuts_


def test_columns_of_every_kind_of_numbers_are_cut_without_being_converted_first():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=500)
    frame = pd.DataFrame(
        {
            "small": (rng.integers(0, 50, 500) + 50 * y).astype(np.uint8),
            "whole": pd.array(rng.integers(-(2**40), 2**40, 500) + y * 2**40, dtype="Int64"),
            "single": (rng.normal(size=500) + 3 * y).astype(np.float32),
            "yes": y.astype(bool),
        }
    )
    frame.loc[3, "whole"] = pd.NA
    codes = Discretizer(fallback=None).fit(frame, y).transform(frame)
    assert np.isnan(codes).sum() == 1
    assert (np.nanmax(codes, axis=0) >= 1).all()
    np.testing.assert_array_equal(codes[:, 3], y)


@pytest.mark.parametrize("method", METHODS)
def test_a_whole_weight_is_that_many_rows_and_none_is_no_row(iris, method):
    X, y = iris
    weight = np.random.default_rng(1).integers(0, 4, size=150)
    weighted = Discretizer(method).fit(X, y, sample_weight=weight)
    repeated = Discretizer(method).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.cuts_ == repeated.cuts_


def test_labels_may_be_anything_with_an_order(iris):
    X, y = iris
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    assert Discretizer().fit(X, words).cuts_ == Discretizer().fit(X, y).cuts_


def test_frames_come_out_as_asked_with_the_names_that_went_in(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(150) + 7)
    model = Discretizer().set_output(transform="pandas").fit(frame, y)
    result = model.transform(frame)
    assert list(result.columns) == list(model.get_feature_names_out()) == NAMES
    assert result.index.equals(frame.index)
    assert [cuts.name for cuts in model.cuts_] == NAMES
    assert isinstance(Discretizer().set_output(transform="polars").fit_transform(frame, y), pl.DataFrame)


def test_intervals_can_be_read_in_the_place_of_codes(iris):
    X, y = iris
    text = Discretizer(encode="interval").fit_transform(X, y)
    assert text[0].tolist() == ["(-inf, 5.55]", "(3.35, inf)", None, "(-inf, 0.8]"]
    assert set(text[1:11, 2]) == {"(-inf, 2.45]"}


def test_a_pipeline_learns_cuts_from_its_training_rows_alone(iris):
    X, y = iris
    train = np.arange(150) % 2 == 0
    model = make_pipeline(Discretizer(), CategoricalNB(missing="ignore")).fit(X[train], y[train])
    assert model[0].cuts_ == Discretizer().fit(X[train], y[train]).cuts_
    assert model.score(X[~train], y[~train]) > 0.9


def test_transform_changes_nothing_and_a_clone_is_unfitted(iris):
    X, _ = iris
    model = Discretizer("pkid").fit(X)
    before = dict(model.__dict__)
    model.transform(X)
    assert model.__dict__ == before
    assert not hasattr(clone(model), "cuts_")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"method": "entropy"}, "method is 'entropy'; it must be one of"),
        ({"method": "equal_width", "n_bins": 0}, "n_bins is 0; give a whole number, 1 or more"),
        ({"fallback": 2.5}, "fallback is 2.5"),
        ({"decimals": "2"}, "decimals is '2'; give a whole number"),
        ({"min_rows": -1}, "min_rows is -1"),
        ({"weka_exact": "yes"}, "weka_exact is 'yes'"),
        ({"encode": "onehot"}, "encode is 'onehot'"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(iris, setting, message):
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        Discretizer(**setting).fit(*iris)


def test_data_that_cannot_be_cut_are_refused_with_the_way_out(iris):
    X, y = iris
    with pytest.raises(DataError, match=r"requires y to be passed.*equal_frequency"):
        Discretizer().fit(X)
    with pytest.raises(DataError, match="needs the classes"):
        find_cuts(X[:, 0], None, 1)
    with pytest.raises(DataError, match="X has 150 rows, y has 149"):
        Discretizer().fit(X, y[1:])
    with pytest.raises(DataError, match="infinity: inf in row 5, column 'x1'"):
        Discretizer("pkid").fit(np.where(np.arange(600).reshape(150, 4) == 21, np.inf, X))
    with pytest.raises(SchemaError, match="X has 3 features, but Discretizer is expecting 4"):
        Discretizer("pkid").fit(X).transform(X[:, :3])
    frame = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(SchemaError, match="feature names"):
        Discretizer("pkid").fit(frame).transform(frame[NAMES[::-1]])
