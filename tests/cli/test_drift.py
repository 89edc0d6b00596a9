"""``drift`` and ``fit --by-period``: what changed, and model files of periods that merge."""

import json

import numpy as np
import pyarrow as pa
from numpy.testing import assert_array_equal
from tests.cli.people import TARGET, people, write_csv

from bayeswater import load

FAMILIES = ["--column", "age=gaussian", "--column", "hours=poisson", "--ignore", "born"]


def timed(n_rows=900):
    table = people(n_rows)
    when = np.datetime64("2026-03-01T22:00") + np.arange(n_rows) * np.timedelta64(4, "m")
    late = when >= np.datetime64("2026-03-03")
    age = table.column("age").to_numpy() + np.where(late, 10, 0)
    table = table.set_column(0, "age", pa.array(age, from_pandas=True))
    return table.append_column("when", pa.array(when.astype("datetime64[s]"))), late


def test_models_of_periods_merge_to_that_of_all_rows_and_are_compared(run, tmp_path):
    table, late = timed()
    data, folder = write_csv(table, tmp_path / "rows.csv"), tmp_path / "days"
    answer = run("fit", data, "-t", TARGET, "--by-period", "day", "--time", "when", "-o", folder, *FAMILIES)
    assert answer.code == 0, answer.err
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["2026-03-01.bayes", "2026-03-02.bayes", "2026-03-03.bayes", "2026-03-04.bayes"]
    models = [load(folder / name) for name in names]
    whole = tmp_path / "whole.bayes"
    assert run("fit", data, "-t", TARGET, "-o", whole, "--no-calibrate", "--ignore", "when", *FAMILIES).code == 0
    assert_array_equal(sum(models).class_count_, load(whole).class_count_)
    without = sum(models) - models[0]  # yesterday is forgotten
    assert_array_equal(without.class_count_, sum(models[1:]).class_count_)

    same = run("drift", folder / names[1], folder / names[1], "--json")
    assert not any(column["changed"] for column in json.loads(same.out)["columns"])
    picture = tmp_path / "drift.png"
    told = run("drift", folder / names[1], folder / names[2], "--plot", picture)
    assert told.code == 0 and "age" in told.out and picture.read_bytes().startswith(b"\x89PNG")
    rows = run("drift", folder / names[1], write_csv(table.filter(late), tmp_path / "late.csv"), "-t", TARGET, "--json")
    changed = [column["column"] for column in json.loads(rows.out)["columns"] if column["changed"]]
    assert changed == ["age"]


def test_what_is_missing_is_said(run, tmp_path):
    table, _ = timed(60)
    data = write_csv(table, tmp_path / "rows.csv")
    half = run("fit", data, "-t", TARGET, "--by-period", "day", "-o", tmp_path / "days")
    assert half.code == 2 and "--time" in half.err
    no_dates = run("fit", data, "-t", TARGET, "--by-period", "day", "--time", "job", "-o", tmp_path / "days")
    assert no_dates.code == 1 and "no dates" in no_dates.err
    model = tmp_path / "m.bayes"
    assert run("fit", data, "-t", TARGET, "-o", model, *FAMILIES).code == 0
    without = run("drift", model, data)
    assert without.code == 2 and "--target" in without.err
