"""Rows that calibrate a model on discrete columns: which choose, which are scored, and that order says nothing."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayeswater import AODE, KDB, TAN, DataError
from bayeswater.data.reading.raw_table import read_raw
from bayeswater.data.reading.row_hashes import row_hashes
from bayeswater.models import held_out
from bayeswater.models.held_out import KindCounts


def some_rows(n_rows=150, seed=0):
    """A mixed table with holes, of which some columns tell the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, (rng.normal(40, 9, n_rows) + 8 * y).round(1)),
            "job": rng.choice(["w", "x", "y", "z"], n_rows),
            "city": np.where(rng.random(n_rows) < 0.7, np.array(["A", "B"])[y], "C"),
            "ok": rng.random(n_rows) < 0.5,
        }
    )
    return frame, np.array(["no", "yes"])[y]


def learned(model, *rows):
    """What calibration learns: something different if any row is scored differently."""
    found = model.fit(*rows).calibration_
    return [found.map.temperature, found.map.lapse, *found.map.shift, found.after.log_loss]


@pytest.mark.parametrize("kind", [TAN, AODE, KDB])
def test_every_one_of_few_rows_is_scored_and_the_model_keeps_its_predictions(kind):
    X, y = some_rows()
    model = kind(calibrate=True).fit(X, y)
    assert model.calibration_.n_used == len(y)
    assert len(set(model.predict(X))) == 2


@pytest.mark.parametrize("n_cross_fitted", [held_out.CROSS_FITTED_ROWS, 20])
def test_labels_of_another_number_of_rows_are_refused_in_words(n_cross_fitted, monkeypatch):
    monkeypatch.setattr(held_out, "CROSS_FITTED_ROWS", n_cross_fitted)
    X, y = some_rows()
    with pytest.raises(DataError, match="X has 150 rows, y has 149"):
        TAN(calibrate=True).fit(X, y[:-1])


def test_of_many_rows_one_part_is_scored(monkeypatch):
    monkeypatch.setattr(held_out, "CROSS_FITTED_ROWS", 149)
    assert TAN(calibrate=True).fit(*some_rows(149)).calibration_.n_used == 149
    assert 30 < TAN(calibrate=True).fit(*some_rows(150)).calibration_.n_used < 70


@pytest.mark.parametrize("kind", [TAN, AODE, KDB])
def test_the_order_of_rows_does_not_change_the_calibration(kind):
    X, y = some_rows()
    order = np.random.default_rng(1).permutation(len(y))
    straight = learned(kind(calibrate=True), X, y)
    shuffled = learned(kind(calibrate=True), X.iloc[order].reset_index(drop=True), y[order])
    assert shuffled == straight


@pytest.mark.parametrize("kind", [TAN, AODE, KDB])
def test_a_row_of_weight_w_calibrates_as_w_equal_rows(kind):
    X, y = some_rows(90)
    weight = np.random.default_rng(2).integers(1, 6, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = learned(kind(calibrate=True), X, y, weight)
    copied = learned(kind(calibrate=True), X.iloc[copies].reset_index(drop=True), y[copies])
    assert weighted == pytest.approx(copied, rel=1e-6)


def test_neither_the_order_of_categories_nor_that_of_columns_changes_the_parts():
    X, _ = some_rows()
    hashes = [row_hashes(read_raw(X, "AODE"))]
    for jobs in (["w", "x", "y", "z"], ["z", "x", "y", "w"]):
        declared = X.assign(job=pd.Categorical(X["job"], jobs))
        hashes.append(row_hashes(read_raw(declared[["ok", "job", "age", "city"]], "AODE")))
    for other in hashes[1:]:
        np.testing.assert_array_equal(other, hashes[0])
    assert len(np.unique(hashes[0])) == len(X.drop_duplicates())


def test_rows_are_told_apart_by_the_name_under_which_a_cell_stands():
    rows = [pd.DataFrame({"a": [0.5], "b": [1.5]}), pd.DataFrame({"a": [1.5], "b": [0.5]})]
    first, second = (row_hashes(read_raw(row, "AODE")) for row in rows)
    assert first != second


def test_a_piece_without_a_value_in_a_column_hashes_as_the_whole_table_does():
    X = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": ["u", None, None], "c": ["v", "w", "v"]})
    whole = row_hashes(read_raw(X, "AODE"))
    pieces = [row_hashes(read_raw(X[i : i + 1].astype({"b": object}), "AODE"))[0] for i in range(3)]
    np.testing.assert_array_equal(whole, pieces)


def test_times_hash_alike_in_every_unit_and_apart_where_they_differ():
    days = pa.array([-1, 0, None, 4000], pa.int32()).cast(pa.date32())
    units = [pa.date32(), pa.date64(), *map(pa.timestamp, ("s", "ms", "us", "ns"))]
    hashes = [row_hashes(read_raw(pa.table({"born": days.cast(unit)}), "AODE")) for unit in units]
    for other in hashes[1:]:
        np.testing.assert_array_equal(other, hashes[0])
    later = pa.array([-1, 0, 1], pa.timestamp("ns"))
    assert len({*hashes[0].tolist(), *row_hashes(read_raw(pa.table({"born": later}), "AODE")).tolist()}) == 6


def test_every_part_gets_its_share_of_every_class_and_no_row_is_lost():
    rng = np.random.default_rng(3)
    kind = np.unique(rng.integers(0, 2**62, 200).astype(np.uint64))
    label = rng.integers(0, 3, len(kind)).astype(np.uint64)
    for times in (np.ones(len(kind)), rng.integers(1, 9, len(kind)).astype(float)):
        share = KindCounts(kind, label, times).folds().share
        np.testing.assert_allclose(share.sum(axis=1), 1, rtol=1e-15)
        dealt = np.array([(times[:, None] * share)[label == k].sum(axis=0) for k in range(3)])
        assert (np.ptp(dealt, axis=1) < 1 + 1e-9).all()


def test_equal_rows_share_what_they_are_dealt():
    kinds = KindCounts(np.array([7, 7, 9, 7]), np.zeros(4), np.ones(4)).by_kind()
    np.testing.assert_allclose(kinds.folds().share, [[1 / 3] * 3, [1, 0, 0]])


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_a_handful_of_rows_can_be_calibrated(n_rows):
    X, y = pd.DataFrame({"a": [0.5, 1.5, 2.5][:n_rows], "b": ["u", "v", "u"][:n_rows]}), ["n", "n", "m"][:n_rows]
    assert np.isfinite(TAN(calibrate=True).fit(X, y).predict_proba(X)).all()
