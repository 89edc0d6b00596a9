"""Numbers on a circle: the law, its parameters and its leave-one-out against exact ones."""

import mpmath as mp
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.special import i0e
from scipy.stats import vonmises

from bayeswater import AODE, BayesEnsemble, NaiveBayes, load, save
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.errors import ParameterError, SchemaError
from bayeswater.families.open_numbers import NumberProfile, OpenColumn
from bayeswater.families.registry import CANDIDATES
from bayeswater.families.von_mises import (
    MOST_KAPPA,
    CircleFact,
    CircleSums,
    VonMisesBlock,
    VonMisesCandidate,
    circle_log_evidence,
    concentration,
)

RNG = np.random.default_rng(0)
N, DAY = 60, 24.0
Y = np.arange(N) % 2
HOURS = RNG.vonmises(np.where(Y, 0.1, 3.0), 2.0) % (2 * np.pi) * DAY / (2 * np.pi)
TOLD = {"hour": {"period": 24}}


def sums_of(x, y=Y, weight=None):
    return CircleSums.of(DenseMatrix(np.asarray(x)[:, None]), encode_labels(y), weight, np.array([DAY]))


def block_of(x, y=Y, weight=None, even=1.0):
    return VonMisesBlock(sums_of(x, y, weight), np.array([DAY]), np.array([even]))


@pytest.mark.parametrize("kappa", [1e-6, 0.3, 2.0, 50.0, 5e3, 1e5, 1e7])
def test_a_concentration_is_found_from_the_length_of_the_mean(kappa):
    length = float(mp.besseli(1, kappa) / mp.besseli(0, kappa))
    # Next to 1 the length itself has but so many digits of what it is below.
    assert_allclose(concentration(np.array(length)), kappa, rtol=1e-9 + 4e-16 * kappa)


def test_the_law_is_that_of_scipy_in_the_unit_of_the_column():
    block = block_of(HOURS)
    x = np.linspace(0, DAY, 49)
    expected = np.stack(
        [
            vonmises.logpdf(2 * np.pi * x / DAY, kappa, loc=mu) + np.log(2 * np.pi / DAY)
            for mu, kappa in zip(block.mu[:, 0], block.kappa[:, 0], strict=True)
        ],
        axis=1,
    )
    assert_allclose(block.column_terms(x, 0), expected, rtol=1e-10)
    assert_allclose(block.likelihood(x[:, None], use_loop=False), expected, rtol=1e-10)
    assert_allclose(block.column_terms(x, 0), block.column_terms(x + DAY, 0), rtol=1e-10)


def test_a_class_without_a_value_is_spread_evenly_and_one_of_equal_values_is_not_infinitely_narrow():
    even = block_of(np.where(Y == 0, HOURS, np.nan))
    assert even.kappa[1, 0] == 0
    assert_allclose(even.column_terms(HOURS, 0)[:, 1], -np.log(DAY), rtol=1e-12)
    assert block_of(np.full(N, 3.0), even=0.0).kappa.max() <= MOST_KAPPA


def test_the_parameters_are_the_most_probable_ones_under_a_row_spread_evenly():
    block = block_of(HOURS)

    def log_posterior(x, y, own):  # kappa times the direction
        kappa = mp.sqrt(x**2 + y**2)
        spread = -(len(own) + 1) * mp.log(mp.besseli(0, kappa))
        return spread + sum(x * mp.cos(angle) + y * mp.sin(angle) for angle in own)

    for k in range(2):
        own = [2 * mp.pi * mp.mpf(float(hour)) / 24 for hour in HOURS[k == Y]]
        mu, kappa = mp.mpf(float(block.mu[k, 0])), mp.mpf(float(block.kappa[k, 0]))
        at = kappa * mp.cos(mu), kappa * mp.sin(mu)
        slopes = [mp.diff(lambda *p, own=own: log_posterior(*p, own), at, order) for order in ((1, 0), (0, 1))]
        assert all(abs(slope) < 1e-9 * N for slope in slopes)


@pytest.mark.parametrize("weight", [None, np.linspace(0.1, 3, N)])
def test_leaving_a_row_out_is_never_having_counted_it(weight):
    labels = np.r_[2, Y[1:]]  # a class of one row
    removed = np.ones(N) if weight is None else np.minimum(weight, 1.0)
    x = np.where(np.arange(N) == 7, np.nan, HOURS)
    block, encoded = block_of(x, labels, weight), encode_labels(labels)
    found = block.without(DenseMatrix(x[:, None]), encoded, removed)(slice(0, N), False)
    for i in range(0, N, 7):
        rest = np.ones(N) if weight is None else weight.copy()
        rest[i] -= removed[i]
        without = CircleSums.of(DenseMatrix(x[:, None]), encoded, rest, np.array([DAY]))
        refit = VonMisesBlock(without, np.array([DAY]), np.array([1.0]))
        assert_allclose(found[i], refit.likelihood(x[i : i + 1, None], use_loop=False)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_numbers_spread_evenly_are_nearly_as_probable_as_under_the_even_law(n):
    (found,) = circle_log_evidence(np.array([n]), np.array([0.0]), DAY)
    assert -np.log(24) < found + n * np.log(DAY) < 0  # a good part of the concentrations is small enough


def test_late_and_early_hours_are_neighbours():
    hours = np.r_[RNG.normal(0, 1, 200) % 24, RNG.normal(12, 1, 200)]
    y = np.repeat(["night", "noon"], 200)
    model = NaiveBayes(columns=TOLD).fit(pd.DataFrame({"hour": hours}), y)
    found = model.predict(pd.DataFrame({"hour": [23.9, 0.1, 24.1, -0.5, 11.0]}))
    assert found.tolist() == ["night"] * 4 + ["noon"]
    direction = model.tables()["hour"]["direction(hour)"]
    assert min(direction[0], 24 - direction[0]) < 0.3
    assert direction[1] == pytest.approx(12, abs=0.3)
    assert "hour under" in str(model.explain(pd.DataFrame({"hour": [12.0]}))) or "hour over" in str(
        model.explain(pd.DataFrame({"hour": [12.0]}))
    )


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"hour": "von_mises"}, "period=None; give after how much its numbers begin anew"),
        ({"hour": {"period": 0}}, "period=0"),
        ({"hour": {"family": "gaussian", "period": 24}}, "gaussian, which has no 'period'"),
    ],
)
def test_a_period_is_needed_and_has_to_be_one(columns, problem):
    with pytest.raises(ParameterError, match=problem):
        NaiveBayes(columns=columns).fit(pd.DataFrame({"hour": HOURS}), Y)


def test_sums_of_other_periods_are_not_added():
    day, week = (NaiveBayes(columns={"hour": {"period": p}}).fit(pd.DataFrame({"hour": HOURS}), Y) for p in (24, 168))
    with pytest.raises(SchemaError, match="von_mises with period 24 here and as von_mises with period 168 there"):
        day + week


def test_drawn_numbers_have_the_direction_and_the_concentration_of_the_law():
    model = NaiveBayes(columns=TOLD).fit(pd.DataFrame({"hour": HOURS}), Y)
    rows, labels = model.sample(40_000, random_state=1)
    assert rows["hour"].between(0, 24).all()
    again = NaiveBayes(columns=TOLD).fit(rows, labels)
    assert_allclose(again.tables()["hour"], model.tables()["hour"], rtol=0.05)


@pytest.mark.parametrize("strength", [1.0, 0.4])
def test_the_regions_of_a_circle_have_their_exact_mass(strength):
    fact = CircleFact(np.array([0.5, 3.1, -1.0]), np.array([3.0, 80.0, 0.0])).weakened(strength)
    belief, regret = np.array([0.4, 0.35, 0.25]), np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 1.0], [1.5, 1.0, 0.0]])
    outcomes = fact.outcomes(belief, regret)
    assert_allclose(outcomes.likelihood.sum(axis=0), 1.0, rtol=1e-12)
    x = -np.pi + 2 * np.pi * (np.arange(200_000) + 0.5) / 200_000
    joint = belief * np.exp(fact.log_density(x[:, None])) * 2 * np.pi
    expected = (joint @ regret.T).min(axis=1).mean()
    found = (regret @ (belief * outcomes.likelihood).T).min(axis=0).sum()
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_evidence_is_the_integral_over_direction_and_concentration():
    angles = [0.3, 0.9, -0.4, 2.0, 0.1]
    length = abs(sum(mp.expj(angle) for angle in angles))
    around = mp.quad(lambda mu: mp.exp(2 * sum(mp.cos(a - mu) for a in angles)), [-mp.pi, 0, mp.pi])
    assert float(around / (2 * mp.pi)) == pytest.approx(
        float(mp.besseli(0, 2 * length)), rel=1e-12
    )  # of all directions

    def law(log_kappa):
        kappa = mp.exp(log_kappa)
        return mp.besseli(0, kappa * length) / mp.besseli(0, kappa) ** len(angles)

    ends = mp.log(0.01), mp.log(1e4)
    mean = mp.quad(law, mp.linspace(*ends, 9), maxdegree=4) / (ends[1] - ends[0])
    expected = mp.log(mean) - len(angles) * mp.log(24)
    found = circle_log_evidence(np.array([len(angles)]), np.array([float(length)]), 24.0)[0]
    assert found == pytest.approx(float(expected), abs=0.01)  # of 241 places, the outer two count whole


def test_densities_narrower_than_the_spacing_of_the_values_are_left_out_of_the_evidence():
    n, length = np.array([40]), np.array([40.0])  # all at one place
    kappas = np.geomspace(0.01, 1e4, 241)
    law = np.log(i0e(kappas * 40)) + kappas * 40 - 40 * (np.log(i0e(kappas)) + kappas)
    for most in (np.inf, 100.0, 1.0):
        expected = np.log(np.exp(law[kappas <= most]).sum() / 241) - 40 * np.log(24)
        assert circle_log_evidence(n, length, 24.0, most)[0] == pytest.approx(expected, rel=1e-10)


def test_whole_hours_are_known_no_better_than_to_half_an_hour():
    hours = np.repeat([3.0, 4.0, 5.0, 9.0], [5, 9, 4, 2])
    y = np.arange(20) % 2
    profile = NumberProfile.of(DenseMatrix(hours[:, None]), encode_labels(y), None, CANDIDATES)
    column = OpenColumn(profile, 0, options=(("period", 24.0),))
    candidate = VonMisesCandidate()
    hidden = np.average(column.occupied.hidden_variance, weights=column.occupied.weight)
    lengths = np.array([abs(np.exp(2j * np.pi * hours[y == k] / 24).sum()) for k in (0, 1)])
    expected = circle_log_evidence(np.array([10, 10]), lengths, 24.0, 1 / (hidden * (2 * np.pi / 24) ** 2)).sum()
    assert candidate.weighed(column).log_evidence == pytest.approx(expected, rel=1e-12)
    for name, array in candidate.settled(column, None, np.empty(0)).to_arrays().items():
        sums = CircleSums.of(DenseMatrix(hours[:, None]), encode_labels(y), None, np.array([24.0]))
        assert_allclose(array, sums.to_arrays()[name], rtol=1e-12)
    assert candidate.why_not(OpenColumn(profile, 0), alone=True) == "no period"
    assert candidate.why_not(OpenColumn(profile, 0), alone=False) == ""


def test_numbers_of_half_precision_are_brought_into_periods_that_are_larger_than_they_can_be():
    at = np.linspace(0, 80_000, 40)
    model = NaiveBayes(columns={"at": {"period": 86_400}}).fit(pd.DataFrame({"at": at}), at > 20_000)
    asked = pd.DataFrame({"at": np.array([25_200.0, -61_200.0], dtype=np.float16)})
    found = model.predict_log_proba(asked)
    np.testing.assert_array_equal(found, model.predict_log_proba(asked.astype(np.float64)))


def test_times_of_day_and_numbers_with_a_period_are_weighed_by_evidence():
    seconds = np.concatenate([RNG.normal(0, 5400, 150), RNG.normal(39_600, 5400, 150)]).round() % 86_400
    y = np.repeat(["night", "noon"], 150)
    clock = pa.array(seconds.astype(np.int32), pa.int32()).cast(pa.time32("s"))
    model = NaiveBayes().fit(pa.table({"clock": clock}), y)
    assert model.columns_["clock"].family == "von_mises"
    assert dict(model.columns_["clock"].options) == {"period": 86_400.0}
    assert "von Mises" in model.columns_["clock"].why
    told = {"hour": {"family": "auto", "period": 24}}
    hours = pd.DataFrame({"hour": seconds / 3600})
    weighed = NaiveBayes(columns=told).fit(hours, y)
    assert weighed.columns_["hour"].family == "von_mises"
    named = NaiveBayes(columns={"hour": {"period": 24}}).fit(hours, y)
    assert_allclose(weighed.predict_proba(hours), named.predict_proba(hours), rtol=1e-9)
    late = RNG.normal(12, 0.1, 300)
    assert NaiveBayes(columns=told).fit(pd.DataFrame({"hour": late}), y).columns_["hour"].options in (
        (),
        (("period", 24.0),),
    )
    assert "von Mises" not in NaiveBayes().fit(hours, y).columns_["hour"].why


def test_a_change_over_midnight_is_a_short_one():
    hours = np.concatenate([np.linspace(22, 23.5, 40), np.linspace(0.5, 3, 40)])
    model = NaiveBayes(columns=TOLD).fit(pa.table({"hour": hours}), ["late"] * 40 + ["early"] * 40)
    found = model.explain(pa.table({"hour": [23.4]}))[0]
    assert [(turn[0], turn[1]) for turn in found.turns] == [("hour", "over 0.19")]


@pytest.mark.parametrize("said", [{"period": 7}, {"family": "auto", "period": 7}])
def test_a_period_of_a_date_is_refused_by_name(said):
    rows = pa.table({"day": pa.array(range(20), pa.date32())})
    with pytest.raises(ParameterError, match=r"columns\['day'\] gives 'period' to a date"):
        NaiveBayes(columns={"day": said}).fit(rows, Y[:20])
    with pytest.raises(ParameterError, match="period"):
        NaiveBayes(family="von_mises").fit(rows, Y[:20])


@pytest.mark.parametrize("family", ["ignored", "text"])
def test_a_period_of_a_column_that_is_no_number_is_refused(family):
    with pytest.raises(ParameterError, match=f"gives 'period' to a column that is {family}"):
        NaiveBayes(columns={"hour": {"family": family, "period": 24}}).fit(pa.table({"hour": HOURS}), Y)


@pytest.mark.parametrize("kind", [AODE, BayesEnsemble])
def test_a_model_of_states_that_is_told_a_period_is_saved_and_loaded(kind, tmp_path):
    rows = pa.table({"hour": HOURS, "other": HOURS[::-1]})
    model = kind(columns={"hour": {"family": "auto", "period": 24}}).fit(rows, Y)
    save(model, tmp_path / "model.bayes")
    assert (load(tmp_path / "model.bayes").predict(rows) == model.predict(rows)).all()


def paid(of_night):
    rng = np.random.default_rng(1)
    hour = np.where(of_night, rng.normal(0, 2, len(of_night)), rng.normal(13, 2, len(of_night))) % 24
    days = pd.to_timedelta(rng.integers(0, 300, len(of_night)), "D")
    return pd.DataFrame({"paid": pd.Timestamp("2024-01-01") + days + pd.to_timedelta(np.floor(60 * hour), "min")})


OF_NIGHT = np.arange(200) % 2 == 1


def test_the_time_of_day_of_a_time_stamp_is_a_column_of_its_own(tmp_path):
    X = paid(OF_NIGHT)
    model = NaiveBayes(columns={"paid (weekday)": "ignored"}).fit(X, OF_NIGHT)
    assert [(column.name, column.family) for column in model.columns_][3:] == [("paid (time)", "von_mises")]
    assert (model.predict(X) == OF_NIGHT).mean() > 0.95
    as_time = pd.DataFrame({"at": X["paid"].dt.time})
    alone = NaiveBayes().fit(as_time, OF_NIGHT)
    without = NaiveBayes(columns=dict.fromkeys(["paid (weekday)", "paid (time)"], "ignored")).fit(X, OF_NIGHT)
    added = without.predict_joint_log_proba(X) + alone.predict_joint_log_proba(as_time) - np.log(0.5)
    assert_allclose(model.predict_joint_log_proba(X), added, rtol=1e-12)
    first = model.explain(X.iloc[[0]])[0].contributions[0]
    assert (first.column, first.value) == ("paid (time)", f"{X['paid'][0]:%H:%M}")
    save(model, tmp_path / "paid.bayes")
    assert (load(tmp_path / "paid.bayes").predict_proba(X) == model.predict_proba(X)).all()
    halves = [NaiveBayes(columns=model.columns_).fit(X[i::2], OF_NIGHT[i::2], OF_NIGHT[i::2] + 1.0) for i in (0, 1)]
    assert len((halves[0] + halves[1]).columns_) == len(model.columns_)


@pytest.mark.parametrize("make", [NaiveBayes, AODE])
def test_drawn_time_stamps_have_the_time_of_day_of_their_class(make):
    X, y = make().fit(paid(OF_NIGHT), OF_NIGHT).sample(300, random_state=0)
    hour = X["paid"].dt.hour + X["paid"].dt.minute / 60
    assert np.abs((hour[y] + 12) % 24 - 12).mean() < 3
    assert np.abs(hour[~y] - 13).mean() < 3


def test_a_model_of_dates_reads_them_as_its_plan_has_them():
    X = paid(OF_NIGHT)
    dates = X.assign(paid=X["paid"].dt.normalize())
    model = NaiveBayes().fit(dates, OF_NIGHT)
    assert [column.name for column in model.columns_] == ["paid", "paid (weekday)", "paid (month)"]
    assert model.predict_proba(X).shape == (200, 2)
    again = NaiveBayes(columns=model.columns_).fit(X, OF_NIGHT)
    assert [column.name for column in again.columns_] == [column.name for column in model.columns_]


def test_a_date_is_asked_for_with_its_time_of_day():
    X = paid(OF_NIGHT)
    of_days = {"paid": "gaussian", "paid (weekday)": "ignored", "paid (month)": "ignored"}
    empty = X.iloc[[0]].assign(paid=pd.NaT)
    whole = NaiveBayes(columns=of_days).fit(X, OF_NIGHT)
    (time,) = (
        NaiveBayes().fit(pd.DataFrame({"at": X["paid"].dt.time}), OF_NIGHT).next_best(pd.DataFrame({"at": [None]}))
    )
    (days,) = NaiveBayes(columns={**of_days, "paid (time)": "ignored"}).fit(X, OF_NIGHT).next_best(empty)
    (both,) = whole.next_best(empty)
    assert both.column == "paid"
    assert time.value.worth - 1e-4 < both.value.worth <= time.value.worth + days.value.worth + 1e-9
