"""Answers for rows in pieces are those for all rows at once, in tables of one schema."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest
from tests.models.streaming.pieces import Pieces

from bayeswater import AODE, CategoricalNB, DataError, GaussianNB, Loss, NaiveBayes, ParameterError, SchemaError
from bayeswater.data.sources import source
from bayeswater.models.streaming import answering

N = 40
RNG = np.random.default_rng(1)
TABLE = pa.table(
    {
        "kind": RNG.choice(["1", "2", "3"], N),
        "size": RNG.normal(size=N),
        "cost": RNG.uniform(0, 3, N),
        "y": RNG.choice(["no", "yes"], N),
    }
)
X = TABLE.select(["kind", "size"])
MODEL = NaiveBayes().fit(X, TABLE["y"])
EMPTY = TABLE.slice(0, 0)
ROWS = [TABLE.slice(0, 7), EMPTY, TABLE.slice(7, 20), TABLE.slice(27)]


def joined(answers):
    tables = list(answers)
    assert len({table.schema for table in tables}) == 1
    return pa.concat_tables(tables)


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("predict", ["prediction"]),
        ("predict_proba", ["P(no)", "P(yes)"]),
        ("predict_log_proba", ["log P(no)", "log P(yes)"]),
        ("predict_joint_log_proba", ["log P(row, no)", "log P(row, yes)"]),
        ("log_evidence", ["log P(row)"]),
        ("decide", ["action"]),
        ("expected_loss", ["risk"]),
    ],
)
def test_answers_in_pieces_are_those_of_all_rows(method, names, calibrate):
    model = NaiveBayes(calibrate=calibrate).fit(X, TABLE["y"])
    found = joined(getattr(model, method)(Pieces(ROWS)))
    assert found.column_names == names
    expected = getattr(model, method)(X)
    cells = [column.to_numpy() for column in found.columns]
    np.testing.assert_array_equal(np.stack(cells, axis=1) if expected.ndim > 1 else cells[0], expected)


def test_risks_come_beside_the_actions_and_costs_may_stand_in_a_column():
    loss = Loss({"no": {"no": 0, "yes": "cost"}, "yes": {"no": 1, "yes": 0}, "ask": {"no": 0.3, "yes": 0.3}})
    found = joined(MODEL.decide(Pieces(ROWS), loss=loss, return_risk=True))
    action, risk = MODEL.decide(TABLE.select(["kind", "size", "cost"]), loss=loss, return_risk=True)
    assert found.column_names == ["action", "risk(no)", "risk(yes)", "risk(ask)"]
    assert found["action"].to_pylist() == action.tolist()
    np.testing.assert_array_equal(np.stack([column.to_numpy() for column in found.columns[1:]], axis=1), risk)


@pytest.mark.parametrize("labels", [[0, 1], [True, False], ["a", "b"], [0.0, 2.0]])
def test_the_type_of_a_prediction_is_that_of_the_labels_also_where_there_are_no_rows(labels):
    y = np.array(labels)[np.arange(N) % 2]
    model = GaussianNB().fit(TABLE.select(["size"]), y)
    for rows in (Pieces(ROWS), Pieces([EMPTY])):
        found = joined(model.predict(rows))
        assert found.schema == pa.schema([("prediction", pa.array(y.tolist()).type)])
    assert joined(model.predict(Pieces([EMPTY]))).num_rows == 0


def test_files_are_read_in_the_types_of_the_model(tmp_path):
    path = tmp_path / "rows.csv"
    pyarrow.csv.write_csv(X, path, pyarrow.csv.WriteOptions(quoting_style="none"))  # a kind looks like a number
    assert joined(MODEL.predict(path))["prediction"].to_pylist() == MODEL.predict(X).tolist()
    assert joined(MODEL.predict(str(path)))["prediction"].to_pylist() == MODEL.predict(X).tolist()
    assert joined(MODEL.predict([path]))["prediction"].to_pylist() == MODEL.predict(X).tolist()


class Again:
    """Tables that begin anew whenever they are iterated over."""

    def __iter__(self):
        return iter(ROWS)


IN_PIECES = {
    "lazy": lambda path: pl.scan_parquet(path),
    "dataset": lambda path: pyarrow.dataset.dataset(path),
    "iterator": lambda path: iter(TABLE.to_batches(max_chunksize=9)),
    "reader": lambda path: TABLE.to_reader(max_chunksize=9),
    "function": lambda path: lambda: iter(ROWS),
    "tables": lambda path: ROWS,
    "batches": lambda path: tuple(TABLE.to_batches(max_chunksize=9)),
    "frames": lambda path: [table.to_pandas() for table in ROWS if table.num_rows],
    "begun anew": lambda path: Again(),
}


@pytest.mark.parametrize("source", IN_PIECES.values(), ids=IN_PIECES)
def test_what_comes_in_pieces_is_answered_in_pieces(source, tmp_path):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path)
    answer = MODEL.predict(source(path))
    assert iter(answer) is answer
    assert joined(answer)["prediction"].to_pylist() == MODEL.predict(X).tolist()
    assert joined(MODEL.decide(source(path)))["action"].to_pylist() == MODEL.predict(X).tolist()


@pytest.mark.parametrize("table", [TABLE, TABLE.to_pandas(), pl.from_arrow(TABLE), TABLE.to_batches()[0]], ids=type)
def test_tables_are_answered_at_once(table):
    assert MODEL.predict(table).tolist() == MODEL.predict(X).tolist()


@pytest.mark.parametrize("row", [list, tuple, np.array, pl.Series, pd.Series, pa.array])
def test_lists_of_rows_are_answered_at_once(row):
    model = GaussianNB().fit([[1.0, 2.0], [3.0, 5.0]], [0, 1])
    assert model.predict([row([1.0, 2.5]), row([3.0, 4.0])]).tolist() == [0, 1]


def test_a_reader_is_scored_against_its_labels():
    assert MODEL.score(X.to_reader(), TABLE["y"]) == MODEL.score(X, TABLE["y"])


def test_answers_are_not_computed_before_they_are_asked_for():
    class Once(Pieces):
        n_read = 0

        def map(self, of, schema, columns):
            for table in super().map(of, schema, columns):
                self.n_read += 1
                yield table

    rows = Once(ROWS)
    answers = MODEL.predict(rows)
    assert rows.n_read == 0
    next(answers)
    assert rows.n_read == 1


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "log_evidence", "decide"])
def test_many_classes_are_answered_for_a_few_rows_at_a_time(method, tmp_path, monkeypatch):
    n_classes = 50
    rows = pa.table({"kind": RNG.choice(["a", "b", "c"], 400), "y": np.arange(400) % n_classes})
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(rows, path)
    model = NaiveBayes().fit(rows.select(["kind"]), rows["y"])
    expected, n_scored = getattr(model, method)(rows.select(["kind"])), []
    read = NaiveBayes._table

    def counting(self, X):
        n_scored.append(X.num_rows)
        return read(self, X)

    for module in (answering, source):
        monkeypatch.setattr(module, "BATCH_CELLS", 1000)
    monkeypatch.setattr(NaiveBayes, "_table", counting)
    tables = list(getattr(model, method)(path))
    assert max(n_scored) * n_classes <= 1000
    assert all(table.num_rows * table.num_columns <= 1000 for table in tables)
    cells = np.column_stack([column.to_numpy() for column in joined(tables).columns])
    np.testing.assert_array_equal(cells, expected.reshape(len(expected), -1))


def test_a_bad_row_among_a_few_is_named_by_its_number_among_all(tmp_path, monkeypatch):
    monkeypatch.setattr(answering, "BATCH_CELLS", 20)
    sizes = TABLE["size"].to_pylist()
    sizes[33] = np.inf
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(X.set_column(1, "size", pa.array(sizes)), path)
    with pytest.raises(DataError, match=r"rows\.parquet, rows 1 to 40: .*inf in row 34"):
        list(MODEL.predict(path))


def test_models_without_names_take_sources_of_as_many_columns():
    model = GaussianNB().fit(TABLE.select(["size", "cost"]).to_pandas().to_numpy(), TABLE["y"])
    rows = Pieces([table.select(["size", "cost"]) for table in ROWS])
    expected = model.predict(TABLE.select(["size", "cost"]).to_pandas().to_numpy())
    assert joined(model.predict(rows))["prediction"].to_pylist() == expected.tolist()
    with pytest.raises(SchemaError, match="the pieces has 4 columns, but GaussianNB was fitted on 2 without names"):
        model.predict(Pieces(ROWS))


@pytest.mark.parametrize("model", [CategoricalNB(), AODE()], ids=str)
def test_categories_that_were_never_counted_are_left_out_as_in_memory(model):
    model.fit(pd.DataFrame({"kind": TABLE["kind"].to_pylist()}), TABLE["y"])
    rows = pa.table({"kind": ["1", "9"]})
    with pytest.warns(UserWarning, match="'9'"):
        expected = model.predict_proba(rows)
    with pytest.warns(UserWarning, match="'9'"):
        found = joined(model.predict_proba(Pieces([rows])))
    np.testing.assert_array_equal(np.stack([column.to_numpy() for column in found.columns], axis=1), expected)


def test_what_needs_all_rows_at_once_is_refused():
    with pytest.raises(ParameterError, match="prior='estimate' looks at all rows before it decides the first"):
        MODEL.decide(Pieces(ROWS), prior="estimate")
    with pytest.raises(ParameterError, match="a cost is an array, one for each row"):
        MODEL.decide(Pieces(ROWS), loss=Loss({"no": {"no": 0, "yes": np.ones(N)}, "yes": {"no": 1, "yes": 0}}))
    with pytest.raises(SchemaError, match="the pieces: there is no column 'size'"):
        MODEL.predict(Pieces([TABLE.select(["kind"])]))
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        list(MODEL.predict("nowhere.csv"))
