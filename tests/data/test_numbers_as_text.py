"""Rows whose numbers are text, as `csv.DictReader` gives them, are read as those of the file that a model knows."""

import csv
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayeswater
from bayeswater import AODE, TAN, BayesEnsemble, NaiveBayes

ROWS = [
    {"n": "k.A." if k % 9 == 0 else str(k % 5), "x": f"{k % 7}.5", "c": "ab"[k % 3 == 0], "y": "uv"[k % 2]}
    for k in range(120)
]


def frames(rows):
    names = [*rows[0]]
    columns = {name: [row[name] for row in rows] for name in names}
    return [rows, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]


@pytest.mark.parametrize("model", [NaiveBayes(), TAN(), AODE(), BayesEnsemble(random_state=0)], ids=repr)
def test_numbers_that_are_text_are_those_of_the_file_that_was_learned(tmp_path, model):
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ROWS[0])
        writer.writeheader()
        writer.writerows(ROWS)
    fitted = model.fit(path, target="y")
    known = np.concatenate([[*table.to_pandas().to_numpy()] for table in fitted.predict_proba(path)])
    cells = [{name: cell for name, cell in row.items() if name != "y"} for row in ROWS]
    for rows in frames(cells):
        np.testing.assert_array_equal(fitted.predict_proba(rows), known)
    np.testing.assert_array_equal(fitted.predict_proba(cells[0])[0], known[0])
    lines = tmp_path / "rows.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in cells))
    again = np.concatenate([[*table.to_pandas().to_numpy()] for table in fitted.predict_proba(lines)])
    np.testing.assert_array_equal(again, known)


def test_rows_of_text_teach_the_same_states_and_not_new_ones(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("n,y\n" + "".join(f"{k % 5},{'uv'[k % 2]}\n" for k in range(60)))
    texts, numbers = TAN().fit(path, target="y"), TAN().fit(path, target="y")
    texts.partial_fit(pd.DataFrame({"n": ["3", " 4", "n/a"]}), ["u", "v", "u"])
    numbers.partial_fit(pd.DataFrame({"n": [3, 4, None]}), ["u", "v", "u"])
    rows = [{"n": k} for k in range(5)]
    np.testing.assert_array_equal(texts.predict_proba(rows), numbers.predict_proba(rows))


def test_text_that_is_no_number_is_refused_by_name(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{k / 2},{'uv'[k % 2]}\n" for k in range(60)))
    model = NaiveBayes().fit(path, target="y")
    with pytest.raises(bayeswater.DataError, match="column 'x' holds string, not numbers"):
        model.predict({"x": "many"})
