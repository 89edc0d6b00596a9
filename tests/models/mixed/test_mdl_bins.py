"""Numbers of `NaiveBayes` in bins that tell the classes apart: from the sums alone, and calibrated honestly."""

from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tests.models.same_model import reloaded, require_same_model

from bayeswater import AODE, CategoricalNB, Discretizer, NaiveBayes
from bayeswater.data.reading.discretising.cuts import Cuts
from bayeswater.errors import ParameterError, SchemaError, StatisticsError
from bayeswater.families.family import ColumnSettings
from bayeswater.models import held_out
from bayeswater.models.calibrating import Review
from bayeswater.models.held_out import CellsOf, count_kinds
from bayeswater.models.streaming.passes import Piece

N = 400
RNG = np.random.default_rng(8)
Y = RNG.choice(["no", "perhaps", "yes"], N, p=[0.5, 0.2, 0.3])
SIZE = np.select([Y == "no", Y == "yes"], [0.0, 3.0], 6.0)
X = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, (RNG.normal(size=N) + SIZE).round(1)),
        "visits": 2 * RNG.poisson(1 + SIZE),
        "noise": RNG.normal(size=N),
        "town": RNG.choice(["Bonn", "Ulm"], N),
    }
)
NUMBERS = ["age", "visits", "noise"]
BY_MDL = dict.fromkeys(NUMBERS, "mdl")
WEIGHTS = {
    "none": None,
    "whole": RNG.integers(0, 4, N),
    # Sums of quarters are exact in any order.
    "fractions": RNG.choice([0.25, 0.5, 1.75, 3.0], N),
}


def cuts_of(model: Any) -> list[tuple[float, ...] | None]:
    return [model.columns_[name].cuts for name in NUMBERS]


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_the_cuts_are_those_of_the_discretizer(weight):
    model = NaiveBayes(columns=BY_MDL).fit(X, Y, weight)
    assert cuts_of(model) == [cuts.points for cuts in Discretizer().fit(X[NUMBERS], Y, weight).cuts_]


def test_the_short_word_and_the_settings_say_the_same():
    told = [{"age": "mdl"}, {"age": {"bins": "mdl"}}, {"age": {"family": "binned", "bins": "mdl"}}]
    told += [{"age": {"family": "auto", "bins": "mdl"}}, {"age": ColumnSettings("binned", bins="mdl")}]
    first, *others = [NaiveBayes(columns=columns).fit(X, Y) for columns in told]
    assert first.columns_["age"].family == "binned"
    for model in others:
        assert model.statistics_ == first.statistics_


def test_it_is_said_how_the_bins_were_made():
    plan = NaiveBayes(columns=BY_MDL).fit(X.assign(one=7.0), Y).columns_
    assert plan["age"].why == f"as given; {len(plan['age'].cuts) + 1} bins by mdl"
    assert plan["noise"].why == "as given; 5 bins of equal frequency, as mdl finds no cut"
    alone = NaiveBayes(columns={"one": "mdl"}).fit(X.assign(one=7.0), Y).columns_["one"]
    assert (alone.cuts, alone.why) == ((), "as given; one bin, as mdl finds no cut")


def test_bins_by_mdl_are_made_only_where_they_are_asked_for():
    plan = NaiveBayes(columns={"visits": "mdl"}).fit(X, Y).columns_
    assert "mdl" not in plan["age"].why
    assert plan["age"] == NaiveBayes().fit(X, Y).columns_["age"]


def test_the_model_is_that_of_the_intervals_as_categories():
    discretizer = Discretizer(encode="interval").fit(X[NUMBERS], Y)
    intervals = pd.DataFrame(discretizer.transform(X[NUMBERS]), columns=NUMBERS)
    model = NaiveBayes(columns=BY_MDL, alpha=1.0).fit(X[NUMBERS], Y)
    oracle = CategoricalNB(missing="ignore").fit(intervals, Y)
    # The class prior of scikit-learn's model is not smoothed.
    difference = model.set_params(class_alpha=0).predict_joint_log_proba(X[NUMBERS])
    np.testing.assert_allclose(difference, oracle.predict_joint_log_proba(intervals), rtol=1e-13)


@pytest.mark.parametrize("make", [lambda columns: NaiveBayes(columns=columns), lambda columns: AODE(columns=columns)])
@pytest.mark.parametrize("steps", [(0, 1), (0, 1, 2, 3), (0, 2)])
def test_rows_fall_into_the_bins_the_discretizer_meant_even_between_neighbouring_floats(make, steps):
    floats = [1.0]
    while len(floats) < 4:
        floats.append(np.nextafter(floats[-1], 2.0))
    x = np.repeat([floats[step] for step in steps], 40)
    y = np.repeat(np.arange(len(steps)) % 2, 40)
    frame = pd.DataFrame({"x": x})
    (meant,) = Discretizer().fit(frame, y).cuts_
    assert len(meant) == len(steps) - 1
    model = make({"x": "mdl"}).fit(frame, y)
    probability = model.predict_proba(frame)[:, 1]
    assert_array_equal(probability > 0.5, y == 1)
    codes = Cuts("x", meant.points).codes(x)
    assert len({*zip(codes.tolist(), probability.tolist(), strict=True)}) == len(steps)


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("calibrate", [False, True])
def test_rows_in_batches_make_the_same_model_as_rows_at_once(weight, calibrate):
    limits = [0, 1, 2, 150, 151, 290, N]
    batches = [
        (X[a:b], Y[a:b], None if weight is None else weight[a:b])
        for a, b in pairwise(limits)
        if weight is None or weight[a:b].any()
    ]
    at_once, in_batches = (NaiveBayes(columns=BY_MDL, calibrate=calibrate) for _ in range(2))
    at_once.fit(X, Y, weight)
    in_batches.fit_batches(batches)
    assert in_batches.columns_ == at_once.columns_
    assert in_batches.statistics_ == at_once.statistics_
    assert_array_equal(in_batches.predict_proba(X), at_once.predict_proba(X))


def test_the_order_of_rows_and_of_batches_does_not_matter():
    order = np.random.default_rng(0).permutation(N)
    model = NaiveBayes(columns=BY_MDL).fit(X, Y)
    shuffled = NaiveBayes(columns=BY_MDL).fit_batches(
        [(X.iloc[rows], Y[rows]) for rows in np.split(order, [20, 100, 333])]
    )
    assert shuffled.statistics_ == model.statistics_


def test_the_cuts_of_the_first_fit_are_fixed_from_then_on():
    first = NaiveBayes(columns=BY_MDL).partial_fit(X[:200], Y[:200])
    alone = NaiveBayes(columns=BY_MDL).fit(X[:200], Y[:200])
    assert first.statistics_ == alone.statistics_
    cuts = cuts_of(first)
    first.partial_fit(X[200:], Y[200:])
    assert cuts_of(first) == cuts
    other = NaiveBayes(columns=BY_MDL).fit(X[200:], Y[200:])
    with pytest.raises(SchemaError, match="column 'age' is read as binned with cuts"):
        alone + other
    merged = alone + NaiveBayes(columns=alone.columns_).fit(X[200:], Y[200:])
    assert merged.statistics_ == first.statistics_
    assert first.forget(X[200:], Y[200:]).statistics_ == alone.statistics_


@pytest.mark.parametrize("make", [NaiveBayes, AODE])
def test_rows_that_were_never_counted_are_refused_by_the_limits_of_their_bins(make):
    frame, y = pd.DataFrame({"x": np.arange(40.0), "c": ["u", "v"] * 20}), np.repeat(["p", "q"], 20)
    model = make(columns={"x": "mdl"}).fit(frame, y)
    with pytest.raises(StatisticsError, match=r"the count of 'x' = 'from 19\.5 on' in class 'p' would become -1"):
        model.forget(pd.DataFrame({"x": [30.0], "c": ["u"]}), ["p"])
    dates = frame.assign(x=pd.date_range("2024-01-01", periods=40))
    told = {"x": "mdl", "x (weekday)": "ignored", "x (month)": "ignored"}
    model = make(columns=told).fit(dates, y)
    with pytest.raises(StatisticsError, match="the count of 'x' = 'under 2024-01-20 12:00' in class 'q'"):
        model.forget(dates[:1], ["q"])


@pytest.mark.parametrize("columns", [BY_MDL, {"age": {"family": "binned", "bins": "mdl"}}])
@pytest.mark.parametrize("calibrate", [False, True])
def test_a_saved_model_comes_back_as_it_was(columns, calibrate, tmp_path):
    model = NaiveBayes(columns=columns, calibrate=calibrate).fit(X, Y)
    found = reloaded(model, tmp_path / "model.bayes")
    require_same_model(found, model, X)
    assert found.partial_fit(X[:9], Y[:9]).statistics_ == model.partial_fit(X[:9], Y[:9]).statistics_


def test_dates_can_be_cut_where_the_classes_change():
    days = pd.Series(pd.date_range("2024-01-01", periods=100))
    y = np.where(np.arange(100) < 40, "old", "new")
    model = NaiveBayes(columns={"signed": "mdl", "signed (weekday)": "ignored", "signed (month)": "ignored"})
    model.fit(pd.DataFrame({"signed": days}), y)
    assert model.tables()["signed"]["signed"].tolist() == ["under 2024-02-09 12:00", "from 2024-02-09 12:00 on"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"bins": "foo"}, "column 'age' is to have 'foo' bins; give a whole number, 2 or more, or 'mdl'"),
        ({"family": "gaussian", "bins": "mdl"}, "gives bins to a gaussian column"),
        ({"bins": "mdl", "cuts": (1.0,)}, "columns\\['age'\\] gives both bins and cuts; leave one of them out"),
    ],
)
def test_bins_that_cannot_be_are_refused(said, message):
    with pytest.raises(ParameterError, match=message):
        NaiveBayes(columns={"age": said}).fit(X, Y)


def test_a_text_cannot_be_cut():
    with pytest.raises(ParameterError, match="column 'town' cannot be read as 'binned'"):
        NaiveBayes(columns={"town": "mdl"}).fit(X, Y)


# ---------------------------------------------------------------------- calibration


@pytest.mark.parametrize("most", [0, 10_000], ids=["one part is scored", "every part in turn"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_the_temperature_is_learned_from_rows_that_did_not_choose_the_cuts(weight, most, monkeypatch):
    monkeypatch.setattr(held_out, "CROSS_FITTED_ROWS", most)
    model = NaiveBayes(columns=BY_MDL | {"town": "ignored"}, calibrate=True).fit(X, Y, weight)
    counted = np.ones(N, dtype=bool) if weight is None else weight > 0
    rows, y, w = X[counted], Y[counted], np.ones(N) if weight is None else weight[counted]
    cells = CellsOf("NaiveBayes", tuple(X.columns))
    folds = count_kinds(cells, Piece(rows, y, w)).folds()
    shares, reviews = folds.shares(cells.hashes(rows, y), y), []
    for number in range(folds.n_scored):
        choosing, scored = 1 - shares[:, number], shares[:, number] > 0
        some = choosing > 0
        chosen = Discretizer().fit(rows[NUMBERS][some], y[some], (w * choosing)[some])
        told: Any = {cuts.name: {"cuts": cuts.points} for cuts in chosen.cuts_} | {"town": "ignored"}
        oracle = NaiveBayes(columns=told).fit(rows, y, w)
        reviews.append(oracle._review_of(rows[scored], y[scored], w[scored], (w * shares[:, number])[scored], number))
    oracle.calibrate_with(reduce(Review.__add__, reviews).result())
    found, expected = model.calibration_, oracle.calibration_
    assert (found.n_used, found.n_left_out) == (expected.n_used, expected.n_left_out)
    np.testing.assert_allclose(found.map.temperature, expected.map.temperature, rtol=1e-6)
    np.testing.assert_allclose(found.map.shift, expected.map.shift, atol=1e-6)


def test_without_such_bins_all_rows_are_scored():
    told = {
        name: {"cuts": cuts} for name, cuts in zip(NUMBERS, cuts_of(NaiveBayes(columns=BY_MDL).fit(X, Y)), strict=True)
    }
    assert NaiveBayes(columns=told, calibrate=True).fit(X, Y).calibration_.n_used == N
    assert NaiveBayes(calibrate=True).fit(X, Y).calibration_.n_used == N


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_handful_of_rows_can_be_calibrated(n):
    x = np.arange(float(n))[:, None]
    model = NaiveBayes(columns={0: "mdl"}, calibrate=True).fit(x, ["a", "b", "a", "b"][:n])
    assert np.isfinite(model.predict_proba(x)).all()


def test_a_column_of_very_many_values_is_calibrated_in_buckets():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 40_000)
    model = NaiveBayes(columns={0: "mdl"}, calibrate=True).fit(rng.normal(1.5 * y)[:, None], y)
    column = model.columns_["x0"]
    assert len(column.cuts) >= 3
    for (least, largest), low, high in zip(column.spans, (-np.inf, *column.cuts), (*column.cuts, np.inf), strict=True):
        assert low <= least <= largest < high
    assert model.calibration_.n_used == pytest.approx(40_000 / held_out.FOLDS, rel=0.05)


def test_a_semi_naive_model_takes_the_same_word():
    model = AODE(columns={"age": "mdl", "noise": {"bins": 3}}, discretize="equal_width").fit(X, Y)
    (cuts,) = Discretizer().fit(X[["age"]], Y).cuts_
    assert model.columns_["age"].cuts == cuts.points
    assert model.columns_["age"].why.endswith("bins by mdl")
    assert "equal_width" in model.columns_["visits"].why
    calibrated = AODE(columns={"age": "mdl"}, discretize="equal_width", calibrate=True).fit(X, Y)
    assert calibrated.calibration_.n_used == N
    assert calibrated.calibration_.before.log_loss != calibrated.leave_one_out([(X, Y)]).log_loss  # by cuts of others
