"""Calibrated models are the same for every order of their rows and every division into pieces."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from tests.models.streaming.pieces import Pieces

from bayeswater import A2DE, AODE, KDB, SKDB, SPODE, TAN, GaussianClassifier, NaiveBayes
from bayeswater.models import calibrating, held_out
from bayeswater.models.streaming import labelled

N = 240
NUMBERS = ["age", "size"]
RNG = np.random.default_rng(11)
LABELS = RNG.choice(["low", "mid", "top"], N, p=[0.5, 0.35, 0.15])
CODES = np.searchsorted(["low", "mid", "top"], LABELS)
TABLE = pa.table(
    {
        "age": pa.array(np.round(RNG.normal(40 + 8 * CODES, 9), 1), mask=RNG.random(N) < 0.1),
        "size": np.round(RNG.lognormal(0.5 * CODES), 2),
        "town": RNG.choice(["A", "B", "C", "D"], N),
        "mood": np.where(RNG.random(N) < 0.6, np.array(["x", "y", "z"])[CODES], "w"),
        "y": LABELS,
    }
)
MODELS: dict[str, tuple[Any, list[str]]] = {
    "NaiveBayes": (NaiveBayes(calibrate=True), TABLE.column_names[:-1]),
    "NaiveBayes by mdl": (NaiveBayes(columns=dict.fromkeys(NUMBERS, "mdl"), calibrate=True), TABLE.column_names[:-1]),
    "GaussianClassifier": (GaussianClassifier(calibrate=True), ["age", "size"]),
    **{kind.__name__: (kind(calibrate=True), TABLE.column_names[:-1]) for kind in (AODE, A2DE, SPODE, TAN, KDB, SKDB)},
}
ORDER = RNG.permutation(N)


@cache
def calibrated(name: str) -> Any:
    """Fit a model once, for all that only ask it."""
    model, columns = MODELS[name]
    return clone(model).fit(TABLE.select(columns), TABLE["y"])


@pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        *((name, {}) for name in MODELS),
        *((name, {"CROSS_FITTED_ROWS": 100, "REVIEWED_ROWS": 60}) for name in ("NaiveBayes by mdl", "TAN", "SKDB")),
    ],
)
def test_a_calibrated_model_is_the_same_for_every_order_and_division_of_its_rows(name, sizes, monkeypatch):
    for module in (held_out, calibrating):
        for limit, size in sizes.items():
            if hasattr(module, limit):
                monkeypatch.setattr(module, limit, size)
    model, columns = MODELS[name]
    X, y = TABLE.select(columns), TABLE["y"]
    whole = clone(model).fit(X, y)
    shuffled = clone(model).fit(X.take(ORDER), y.take(ORDER))
    in_batches = clone(model)
    if hasattr(model, "fit_batches"):
        in_batches.fit_batches([(X[:70], y[:70]), (X[70:], y[70:])])
    else:
        in_batches = whole
    monkeypatch.setattr(labelled, "SAMPLED", 50)
    rows = TABLE.select([*columns, "y"])
    in_pieces = clone(model).fit(Pieces([rows[:100], rows[100:150], rows[150:]], order=[2, 0, 1]), target="y")
    assert whole.calibration_.map.temperature != 1
    for other in (shuffled, in_batches, in_pieces):
        assert other.calibration_.n_used == whole.calibration_.n_used
        # Counts are equal to the bit; sums of numbers are added up in another order.
        np.testing.assert_allclose(other.predict_proba(X), whole.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_of_a_row_that_says_nothing_the_class_frequencies_are_told(name):
    columns, fitted = MODELS[name][1], calibrated(name)
    nothing = pa.table({column: pa.nulls(1, TABLE.schema.field(column).type) for column in columns})
    np.testing.assert_allclose(fitted.predict_log_proba(nothing)[0], fitted._joint().log_prior, rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_of_a_row_with_one_known_cell_the_answer_is_that_of_the_plain_model(name):
    model, columns = MODELS[name]
    X = TABLE.select(columns)
    fitted, plain = calibrated(name), clone(model).set_params(calibrate=False).fit(X, TABLE["y"])
    for column in columns:
        one = pa.table({other: X[other] if other == column else pa.nulls(N, X[other].type) for other in columns})
        np.testing.assert_allclose(fitted.predict_proba(one), plain.predict_proba(one), rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_a_class_prior_that_is_given_takes_the_place_of_the_counted_one(name):
    model, columns = MODELS[name]
    X, y = TABLE.select(columns), TABLE["y"]
    prior = np.array([0.05, 0.15, 0.8])
    counted, given = calibrated(name), clone(model).set_params(class_prior=prior).fit(X, y)
    # The given prior multiplies the odds, calibrated or not; how counted frequencies are smoothed makes the difference.
    odds = given.predict_log_proba(X) - counted.predict_log_proba(X) - np.log(prior) + np.log(counted.class_count_ / N)
    assert np.abs(odds - odds.mean(axis=1, keepdims=True)).max() < 0.3
    impossible = clone(model).set_params(class_prior=[0.5, 0.5, 0.0]).fit(X, y)
    assert (impossible.predict_proba(X)[:, 2] == 0).all()
