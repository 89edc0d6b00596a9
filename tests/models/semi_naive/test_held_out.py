"""Rows that calibrate a model on discrete columns: which choose, which are scored, and that order says nothing."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import AODE, KDB, TAN
from bayeswater.models.semi_naive import held_out
from bayeswater.models.semi_naive.discrete_encoding import read_columns
from bayeswater.models.semi_naive.held_out import PARTS, dealt, row_hashes


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


def losses(model, *rows):
    """The log-loss of each map on the rows it was learned from: a different one if any row is scored differently."""
    return model.fit(*rows).calibration_.candidates


@pytest.mark.parametrize("kind", [TAN, AODE, KDB])
def test_every_one_of_few_rows_is_scored_and_the_model_keeps_its_predictions(kind):
    X, y = some_rows()
    model = kind(calibrate=True).fit(X, y)
    assert model.calibration_.n_used == len(y)
    assert len(set(model.predict(X))) == 2


@pytest.mark.parametrize("seed", [7, 11])
def test_a_temperature_leaves_the_predicted_class_where_the_rows_scored_bear_nothing_out(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 150)
    numbers = {f"c{j}": rng.normal(0, 1, 150) + (0.5 * y if j < 2 else 0) for j in range(5)}
    X = pd.DataFrame(numbers | {f"k{j}": rng.integers(0, 4, 150) for j in range(3)})
    model = TAN(calibrate=True).fit(X, y)
    assert 100 < model.calibration_.map.temperature < np.inf
    np.testing.assert_array_equal(model.predict(X), TAN().fit(X, y).predict(X))


def test_of_many_rows_one_part_is_scored(monkeypatch):
    monkeypatch.setattr(held_out, "CROSS_FITTED_ROWS", 149)
    assert TAN(calibrate=True).fit(*some_rows(149)).calibration_.n_used == 149
    assert TAN(calibrate=True).fit(*some_rows(150)).calibration_.n_used == 150 // PARTS


@pytest.mark.parametrize("kind", [TAN, AODE, KDB])
def test_the_order_of_rows_does_not_change_the_calibration(kind):
    X, y = some_rows()
    order = np.random.default_rng(1).permutation(len(y))
    straight = losses(kind(calibrate=True), X, y)
    shuffled = losses(kind(calibrate=True), X.iloc[order].reset_index(drop=True), y[order])
    # The same terms are added up in another order, and the least loss is found up to 1e-13.
    assert shuffled == pytest.approx(straight, rel=1e-10)


@pytest.mark.parametrize("kind", [TAN, AODE, KDB])
def test_a_row_of_weight_w_calibrates_as_w_equal_rows(kind):
    X, y = some_rows(90)
    weight = np.random.default_rng(2).integers(1, 6, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = losses(kind(calibrate=True), X, y, weight)
    copied = losses(kind(calibrate=True), X.iloc[copies].reset_index(drop=True), y[copies])
    assert weighted == pytest.approx(copied, rel=1e-10)  # as above


def test_the_order_of_categories_does_not_change_the_parts():
    X, y = some_rows()
    hashes = []
    for jobs in (["w", "x", "y", "z"], ["z", "x", "y", "w"]):
        declared = X.assign(job=pd.Categorical(X["job"], jobs))
        model = AODE().fit(declared, y)
        hashes.append(row_hashes(model._table(declared), read_columns(declared, "AODE")))
    np.testing.assert_array_equal(*hashes)
    assert len(np.unique(hashes[0])) == len(X.drop_duplicates())


def test_every_part_gets_its_share_of_every_class_and_no_weight_is_lost():
    rng = np.random.default_rng(3)
    hashes, codes = rng.integers(0, 50, 200).astype(np.uint64), rng.integers(0, 3, 200)
    for weight in (np.ones(200), rng.integers(1, 9, 200).astype(float), rng.random(200), np.full(200, 1 / 200)):
        pieces = dealt(hashes, codes, weight)
        np.testing.assert_allclose(np.bincount(pieces.row, weights=pieces.weight), weight, rtol=1e-15)
        whole = dealt(hashes, codes, np.ceil(weight))
        share = np.zeros((PARTS, 3))
        np.add.at(share, (whole.part, codes[whole.row]), whole.weight)
        assert (np.ptp(share, axis=0) <= 1).all()


def test_a_row_of_weight_up_to_one_is_in_one_part_alone():
    pieces = dealt(np.arange(9, dtype=np.uint64), np.zeros(9, dtype=int), np.linspace(0.1, 1, 9))
    np.testing.assert_array_equal(pieces.row, np.arange(9))
    np.testing.assert_array_equal(dealt(np.arange(9), np.zeros(9, dtype=int), None).part, pieces.part)


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_a_handful_of_rows_can_be_calibrated(n_rows):
    X, y = pd.DataFrame({"a": [0.5, 1.5, 2.5][:n_rows], "b": ["u", "v", "u"][:n_rows]}), ["n", "n", "m"][:n_rows]
    assert np.isfinite(TAN(calibrate=True).fit(X, y).predict_proba(X)).all()
