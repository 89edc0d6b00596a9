"""`fit(source, target=...)` of what looks at its rows many times: the rows are read into memory, or plainly refused."""

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB as PeerCategoricalNB
from tests.models.streaming.pieces import Pieces

from bayeswater import (
    BayesDecision,
    BayesEnsemble,
    BayesWarning,
    Calibrated,
    DataError,
    NaiveBayes,
    NetworkClassifier,
    ParameterError,
    ResourceLimitError,
    SchemaError,
    compare,
    limits,
)

N = 240
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 2, N)
TABLE = pa.table(
    {
        "kind": np.array(["low", "mid", "high"])[np.minimum(CODES + RNG.integers(0, 2, N), 2)],
        "size": RNG.normal(size=N) + 2 * CODES,
        "weight": RNG.integers(1, 3, N),
        "income": np.array(["none", "much"])[CODES],
    }
)
X = TABLE.select(["kind", "size"])
FEW = {"aode": 1, "trees-sqrt": 1, "trees-all": 1}
MODELS = [NetworkClassifier("tree"), BayesEnsemble(members=FEW, random_state=0)]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


def pieces(table: pa.Table = TABLE) -> Pieces:
    return Pieces([table.slice(start, 70) for start in range(0, table.num_rows, 70)])


SOURCES = {
    "pyarrow": lambda path: TABLE,
    "pandas": lambda path: TABLE.to_pandas(),
    "polars": lambda path: pl.from_arrow(TABLE),
    "name": str,
    "pattern": lambda path: str(path.parent / "*.parquet"),
    "files": lambda path: [path],
    "dataset": lambda path: pyarrow.dataset.dataset(path),
    "lazy frame": lambda path: pl.scan_parquet(path),
    "iterator": lambda path: iter(TABLE.to_batches(max_chunksize=70)),
    "pieces": lambda path: pieces(),
}


@pytest.fixture
def path(tmp_path: Any) -> Any:
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path, row_group_size=64)
    return path


@cache
def answers_of_rows(model: Any) -> Any:
    return clone(model).fit(X, TABLE["income"], np.asarray(TABLE["weight"])).predict_proba(X)


@every_model
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_makes_the_model_of_its_rows(model, source, path):
    found = clone(model).fit(source(path), target="income", sample_weight="weight")
    assert found.feature_names_in_.tolist() == X.column_names
    np.testing.assert_array_equal(found.predict_proba(X), answers_of_rows(model))


@every_model
def test_rows_without_a_label_are_left_out_with_a_warning(model):
    labels = pa.array([None if i % 10 == 3 else label for i, label in enumerate(TABLE["income"].to_pylist())])
    with pytest.warns(BayesWarning, match="24 rows have no value in 'income' and were left out"):
        found = clone(model).fit(pieces(TABLE.set_column(3, "income", labels)), target="income")
    known = np.flatnonzero(labels.is_valid())
    expected = clone(model).fit(TABLE.take(known).drop_columns(["income"]), TABLE["income"].take(known))
    given = TABLE.drop_columns(["income"])
    np.testing.assert_array_equal(found.predict_proba(given), expected.predict_proba(given))


@every_model
def test_too_many_rows_are_refused_with_their_size_and_the_way_out(model, path, monkeypatch):
    monkeypatch.setattr(limits, "HELD_BYTES", 1000)
    with pytest.raises(
        ResourceLimitError,
        match=rf"the rows of .*rows\.parquet, which {type(model).__name__} needs in memory at once, would take .* KiB, "
        r"over the limit of 1000 bytes; read fewer columns, .* counted in pieces, such as NaiveBayes or AODE; or give "
        "a table that is in memory already",
    ):
        clone(model).fit(path, target="income")
    assert NaiveBayes().fit(path, target="income").class_count_.sum() == N
    clone(model).fit(TABLE, target="income")


@every_model
def test_a_bad_cell_is_named_by_its_file_and_row(model, tmp_path):
    cells, labels = TABLE["size"].to_pylist(), TABLE["income"].to_pylist()
    cells[78] = np.inf
    labels[3] = labels[200] = None
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pa.table({"size": cells, "kind": TABLE["kind"], "income": labels}), path)
    with (
        pytest.warns(BayesWarning, match="2 rows have no value"),
        pytest.raises(DataError, match=r"rows\.parquet, rows 1 to 240: .*inf in row 79"),
    ):
        clone(model).fit(path, target="income")


@every_model
def test_what_cannot_be_meant_is_refused(model, path, monkeypatch):
    with pytest.raises(SchemaError, match=r"there is no target column 'Incom'; did you mean 'income'\?"):
        clone(model).fit(path, target="Incom")
    with pytest.raises(ParameterError, match="so there is no y to give"):
        clone(model).fit(path, TABLE["income"], target="income")
    with pytest.raises(DataError, match="X is a ndarray, whose columns have no names"):
        clone(model).fit(np.eye(3), target="income")
    with pytest.raises(DataError, match=r"the target y is None\. Give y, or with target= the name"):
        clone(model).fit(TABLE)
    with pytest.raises(DataError, match="no row has a value in 'income'"):
        clone(model).fit(pieces(TABLE.set_column(3, "income", pa.nulls(N, pa.string()))), target="income")
    rows = pieces()
    with pytest.raises(ParameterError, match="missing is 'no'"):
        clone(model).set_params(missing="no").fit(rows, target="income")
    assert rows.n_passes == 0


@every_model
def test_how_far_reading_has_come_is_told(model, path):
    told: list[int] = []
    clone(model).fit(path, target="income", progress=lambda progress: told.append(progress.n_rows))
    assert told == [N]


# ---------------------------------------------------------------------- compare


def figures(found: Any) -> list[tuple[str, float]]:
    return [(one.name, one.log_loss) for one in found.contestants]


def test_models_are_compared_on_a_source(path):
    given: dict[str, Any] = {"models": ["naive-bayes", "tan"], "folds": 2}
    found = compare(path, target="income", sample_weight="weight", **given)
    assert figures(found) == figures(compare(X, TABLE["income"], sample_weight=np.asarray(TABLE["weight"]), **given))
    with pytest.raises(DataError, match="compare needs labels; give y, or with target="):
        compare(TABLE)


def test_the_best_model_is_fitted_on_a_source(path):
    X = TABLE.drop_columns(["income"])
    found = compare(X, TABLE["income"], models=["naive-bayes"], folds=2)
    fitted = found.fit_best(path, target="income")
    assert fitted.statistics_ == found.fit_best(X, TABLE["income"]).statistics_


def test_a_peer_that_knows_no_sources_is_fitted_on_the_rows_of_one(tmp_path):
    codes, path = pa.table({"a": CODES, "b": CODES[::-1], "y": TABLE["income"]}), tmp_path / "codes.csv"
    pyarrow.csv.write_csv(codes, path)
    found = compare(codes.select(["a", "b"]).to_pandas(), codes["y"], models={"peer": PeerCategoricalNB()}, folds=2)
    assert found.fit_best(path, target="y").class_count_.sum() == N


# ---------------------------------------------------------------------- wrappers


@pytest.mark.parametrize(
    ("wrapper", "way_out"),
    [
        (Calibrated(NaiveBayes()), r"NaiveBayes\(calibrate=True\)\.fit\(source, target=\.\.\.\)"),
        (BayesDecision(LogisticRegression()), r"NaiveBayes\(\)\.fit\(source, target=\.\.\.\)\.decide\(source, loss="),
    ],
    ids=lambda given: type(given).__name__,
)
def test_wrappers_of_any_classifier_take_rows_in_memory_and_say_what_does_more(wrapper, way_out, path):
    with pytest.raises(DataError, match=rf"requires y .*rows that are in memory; our own classifiers .*{way_out}"):
        wrapper.fit(path, target="income")
