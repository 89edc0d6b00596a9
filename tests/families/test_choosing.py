"""The family of a numeric column: by evidence, from the sums, in any order, partition and unit."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import NaiveBayes, ParameterError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.estimate.normal_parameters import NormalInverseGamma, dirichlet_log_evidence, normal_log_evidence
from bayeswater.families import choosing
from bayeswater.families.choosing import choose_family
from bayeswater.families.open_numbers import Candidate, NumberProfile, Weighed
from bayeswater.families.registry import CANDIDATES
from bayeswater.statistics import key_counts

RNG = np.random.default_rng(0)
N = 600
Y = np.arange(N) % 2
SPIKE = RNG.random(N) < 0.91
COLUMNS = {
    "normal": ("gaussian", RNG.normal(size=N) + Y),
    "normal, far from zero": ("gaussian", RNG.normal(size=N) + Y + 1e6),
    "normal, rounded to tenths": ("gaussian", np.round(36 + Y + 2 * RNG.normal(size=N), 1)),
    "log-normal": ("lognormal", np.exp(RNG.normal(size=N) + Y)),
    "log-normal, whole": ("lognormal", np.ceil(np.exp(5 + RNG.normal(size=N)))),
    "few events": ("poisson", RNG.poisson(0.7 + Y)),
    "many events": ("poisson", RNG.poisson(20 + 15 * Y)),
    "two humps": ("binned", RNG.normal(size=N) + RNG.choice([-4, 4], size=N)),
    "zeros and a tail": ("binned", np.where(SPIKE, 0.0, np.exp(8 + RNG.normal(size=N)))),
    "a spike within": ("binned", np.where(SPIKE, 0.0, RNG.normal(size=N))),
    "two values": ("binned", RNG.integers(0, 2, size=N)),
    "no value twice as frequent as another": ("binned", RNG.integers(-5, 6, size=N)),
}


def profile_of(X, y=None, weight=None):
    X = np.asarray(X)
    X = X[:, None] if X.ndim == 1 else X
    return NumberProfile.of(
        DenseMatrix(X), encode_labels(np.zeros(len(X), dtype=int) if y is None else y), weight, CANDIDATES
    )


def chosen(x, y=None, weight=None, **parameters):
    return choose_family(profile_of(x, y, weight), 0, **parameters)


@pytest.mark.parametrize("name", COLUMNS)
def test_the_family_that_the_values_were_drawn_from_is_found(name):
    family, x = COLUMNS[name]
    choice = chosen(x, Y)
    assert choice.family == family, choice.why
    assert (choice.cuts is not None) == (family == "binned")


def test_bins_between_neighbouring_floats_have_no_width_and_no_density():
    neighbours = 2.0**53 + 2 * RNG.integers(0, 3, size=N)
    assert chosen(neighbours, Y).family == "gaussian"


@pytest.mark.parametrize("name", COLUMNS)
def test_the_choice_is_the_same_for_any_order_and_partition_of_the_rows(name):
    x = COLUMNS[name][1]
    order = np.random.default_rng(1).permutation(N)
    parts = [profile_of(x[rows], Y[rows]) for rows in np.array_split(order, 7)]
    merged = choose_family(sum(parts[1:], start=parts[0]), 0)
    whole = chosen(x, Y)
    assert (merged.family, merged.cuts, merged.why) == (whole.family, whole.cuts, whole.why)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("unit", [2.0**-30, 2.0**20])
def test_another_unit_changes_no_density(name, unit):
    x = np.asarray(COLUMNS[name][1], dtype=np.float64)
    densities = ("gaussian", "lognormal", "binned") if (x > 0).all() else ("gaussian", "binned")
    # A little is added, so that no number is whole in either unit: whole numbers are known to be so.
    before, after = chosen(x + 0.5**40, Y, families=densities), chosen((x + 0.5**40) * unit, Y, families=densities)
    assert after.family == before.family
    assert after.cuts == (before.cuts and tuple(c * unit for c in before.cuts))
    for family, value in before.log_evidence.items():
        # Of values that differ after their sixth digit, the logarithms have ten digits to differ in.
        np.testing.assert_allclose(after.log_evidence[family], value - N * np.log(unit), rtol=1e-10)


def test_a_unit_that_is_no_power_of_two_moves_the_cuts_by_less_than_a_bucket():
    x = COLUMNS["two humps"][1]
    before, after = chosen(x, Y), chosen(x * 0.3937, Y)
    assert (before.family, len(before.cuts)) == (after.family, len(after.cuts))
    shift = after.log_evidence["binned"] - (before.log_evidence["binned"] - N * np.log(0.3937))
    assert abs(shift) < 0.02 * N  # a row near a cut may fall on its other side


# ---------------------------------------------------------------------- evidence


def test_the_evidence_of_normal_values_takes_whole_numbers_as_spread_over_their_unit():
    x, y = np.array([0, 1, 2, 3, 3, 1, 2]), np.array([0, 0, 0, 1, 1, 1, 1])
    classes, hidden = (x[:3], x[3:]), 1 / 12
    total, within = x.var() + hidden, sum(len(v) * (v.var() + hidden) for v in classes) / len(x)
    prior = NormalInverseGamma(x.mean(), within / total, 1.0, within)
    expected = sum(normal_log_evidence(prior, np.array(len(v)), v.mean(), len(v) * (v.var() + hidden)) for v in classes)
    np.testing.assert_allclose(chosen(x, y).log_evidence["gaussian"], expected, rtol=1e-12)


def test_the_evidence_of_log_normal_values_is_that_of_the_logarithms_less_their_sum():
    x = np.geomspace(1, 2, 3001) * (1 + 2.0**-12)  # every bucket is taken: no spacing hides anything but at the ends
    logs = np.log(x)
    prior = NormalInverseGamma(logs.mean(), 1.0, 1.0, logs.var())
    expected = normal_log_evidence(prior, np.array(len(x)), logs.mean(), len(x) * logs.var()) - logs.sum()
    np.testing.assert_allclose(chosen(x).log_evidence["lognormal"], expected, rtol=1e-6)


def test_the_evidence_of_counts_is_the_chain_of_their_predictions():
    x = [3, 0, 1, 7, 2, 2]
    shape, rate = 1, 1 / Fraction(sum(x), len(x))
    chain = Fraction(1)
    for n in x:
        chain *= comb(shape + n - 1, n) * (rate / (rate + 1)) ** shape * (1 / (rate + 1)) ** n
        shape, rate = shape + n, rate + 1
    evidence = chosen(np.array(x)).log_evidence["poisson"]
    np.testing.assert_allclose(evidence, np.log(float(chain)), rtol=1e-13)


def test_the_evidence_of_bins_is_that_of_their_shares_over_their_widths_and_pays_for_the_ends():
    x = np.repeat([0, 1, 5], [10, 20, 30])
    y = np.arange(60) % 2
    choice = chosen(x, y, families=("binned",))
    assert choice.cuts == (0.5, 3.5)
    count = np.array([[np.sum((x == v) & (y == k)) for k in (0, 1)] for v in (0, 1, 5)])
    shares = dirichlet_log_evidence(0.5, count).sum()
    widths = 10 * np.log(1) + 20 * np.log(3) + 30 * np.log(3)  # limits -0.5, 0.5, 3.5, 6.5
    pairs = 3  # of three values, two are the ends
    np.testing.assert_allclose(choice.log_evidence["binned"], shares - widths - np.log(pairs), rtol=1e-13)


def test_a_class_of_equal_values_does_not_make_the_narrowest_normal_curve_the_best():
    y = np.repeat([0, 1], 500)
    for values in (RNG.integers(0, 3, size=500), RNG.choice([0.0, 0.25, 1.75], size=500)):
        assert chosen(np.concatenate([np.zeros(500), values]), y).family != "gaussian"


def test_a_handful_of_values_is_not_cut_into_bins():
    x = 10 * np.random.default_rng(5).random(12)
    choice = chosen(x, np.arange(12) % 2)
    assert choice.family == "gaussian"
    assert "bins not eligible (too few rows)" in choice.why


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(0, 3))
def test_whatever_the_values_some_family_is_chosen_and_no_evidence_is_nan(values, seed):
    y = np.random.default_rng(seed).integers(0, 3, size=len(values))
    choice = chosen(np.array(values), y)
    assert choice.family in ("gaussian", "lognormal", "poisson", "binned")
    assert not any(np.isnan(value) for value in choice.log_evidence.values())


# ---------------------------------------------------------------------- what can be, and what is told


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([3.5, 3.5, 3.5], [0, 1, 1], "one value only, 3.5"),
        ([-2.0], [0], "one value only, -2"),
        ([np.nan, np.nan], [0, 1], "no values"),
        ([7, 7], [0, 1], "one value only, 7"),
    ],
)
def test_a_column_without_two_values_is_gaussian_and_says_so(x, y, reason):
    choice = chosen(np.array(x), np.array(y))
    assert (choice.family, choice.why, choice.cuts, choice.log_evidence) == ("gaussian", reason, None, {})


def test_a_column_without_two_values_is_what_it_is_told_to_be():
    assert chosen(np.array([4, 4]), families=("poisson",)).family == "poisson"
    alone = chosen(np.array([4, 4]), families=("binned",))
    assert (alone.family, alone.cuts) == ("binned", ())


def test_families_that_are_as_good_are_decided_for_the_first():
    x = 1e6 + np.random.default_rng(6).normal(size=50)  # there the logarithm is a straight line
    choice = chosen(x)
    evidence = choice.log_evidence
    assert abs(evidence["gaussian"] - evidence["lognormal"]) < 0.1
    assert choice.family == "gaussian"


@pytest.mark.parametrize(
    ("family", "x", "reason"),
    [
        ("poisson", [0.5, 1.0], r"not Poisson \(fractions\)"),
        ("poisson", [-1, 3], r"not Poisson \(negative numbers\)"),
        ("lognormal", [0.0, 1.0], r"not log-normal \(zeros\)"),
        ("lognormal", [-1.0, 1.0], r"not log-normal \(negative numbers\)"),
        ("lognormal", [0, 0], r"not log-normal \(zeros\)"),
    ],
)
def test_a_family_that_the_values_cannot_have_is_refused_with_the_reason(family, x, reason):
    with pytest.raises(ParameterError, match=rf"column 'x0' has no family among \['{family}'\]: {reason}"):
        chosen(np.array(x), families=(family,))


def test_bins_are_as_many_as_told():
    x = np.random.default_rng(7).normal(size=200)
    assert len(chosen(x, families=("binned",), n_bins=10).cuts) == 9
    few = chosen(x[:6], families=("binned",))
    assert len(few.cuts) == 3  # four bins, though six rows are few


def test_the_reason_gives_figures_best_first_and_what_cannot_be():
    x = np.exp(np.random.default_rng(8).normal(size=300)) + 0.01
    choice = chosen(x)
    per_row = {family: value / 300 for family, value in choice.log_evidence.items()}
    assert choice.why.startswith(f"log-evidence per row: log-normal {per_row['lognormal']:.2f}, ")
    assert f"Gaussian {per_row['gaussian']:.2f}" in choice.why
    assert f" bins {per_row['binned']:.2f}" in choice.why
    assert choice.why.endswith("Poisson not eligible (fractions)")


def test_whole_numbers_too_large_for_counts_are_not_called_fractions():
    choice = chosen(2.0**60 * np.arange(1, 41))
    assert "Poisson not eligible (large numbers)" in choice.why


def test_missing_cells_say_nothing():
    x = np.random.default_rng(9).normal(size=90)
    with_holes = np.concatenate([x, np.full(30, np.nan)])
    y = np.arange(120) % 3
    assert chosen(with_holes, y) == chosen(x, y[:90])


def test_a_weight_of_two_is_two_rows():
    x, y = COLUMNS["two humps"][1], Y
    twice = chosen(x, y, np.full(N, 2))
    repeated = chosen(np.repeat(x, 2), np.repeat(y, 2))
    assert (twice.family, twice.cuts) == (repeated.family, repeated.cuts)
    for family, value in repeated.log_evidence.items():
        np.testing.assert_allclose(twice.log_evidence[family], value, rtol=1e-12)


@pytest.mark.parametrize(("scale", "family"), [(1e-200, "binned"), (1e200, "binned"), (1.7e308, "gaussian")])
def test_what_float64_cannot_square_is_never_nan(scale, family):
    x = np.array([0.1, 0.5, 1.0, -1.0] * 20) * scale
    choice = chosen(x)
    assert choice.family == family  # the widths of bins overflow too, at last: nothing is left to choose by
    assert "Gaussian beyond float64" in choice.why
    assert choice.log_evidence["gaussian"] == -np.inf


def test_a_few_whole_numbers_are_states_and_no_density():
    # 845 ones, 100 twos and 55 threes: a log-normal curve, which is no share of rows, would pass the best share.
    x, y = np.repeat([1.0, 2.0, 3.0], [845, 100, 55]), np.arange(1000) % 2
    choice = choose_family(profile_of(x, y), 0)
    assert choice.family == "binned"
    assert choice.cuts == (1.5, 2.5)
    assert "log-normal not eligible (few values)" in choice.why
    assert choose_family(profile_of(x, y), 0, families=("gaussian",)).family == "gaussian"  # as given


@pytest.mark.parametrize(
    ("low", "high"), [(0.48, 1.0), (0.5, 1.0), (-1, 1), (1, 2), (0, 1e300), (1.0, np.nextafter(1.0, 2))]
)
@pytest.mark.parametrize(("n_low", "n_high"), [(2, 1), (1, 9), (326, 10), (500, 500)])
def test_two_values_are_a_pair_of_states_whatever_they_are(low, high, n_low, n_high):
    choice = chosen(np.repeat([low, high], [n_low, n_high]), np.arange(n_low + n_high) % 2)
    assert choice.family == "binned", choice.why
    assert len(choice.cuts) == 1
    assert low < choice.cuts[0] <= high
    assert "Gaussian not eligible (two values)" in choice.why
    assert chosen(np.repeat([low, high], [n_low, n_high]), families=("gaussian",)).family == "gaussian"  # as given


def test_two_numbers_that_have_come_once_may_be_any():
    assert chosen(np.array([5.1, 4.9])).family == "gaussian"


def test_no_density_is_chosen_where_most_rows_have_one_value():
    x = np.append(np.full(301, 0.5), np.exp(np.random.default_rng(3).normal(size=299)))
    choice = chosen(x, np.arange(600) % 2)
    assert choice.family == "binned"
    assert "log-normal not eligible (one value in most rows)" in choice.why
    assert "one value" not in chosen(x[2:], np.arange(598) % 2).why
    assert chosen(np.array([0.5, 0.5, 0.5, 2.5, 4.5])).family in ("gaussian", "lognormal")  # too few rows for bins


def test_whole_numbers_are_as_normal_far_from_zero_as_near_it():
    x = np.round(np.random.default_rng(10).normal(0, 3, size=2000))
    evidence = [chosen(x + offset).log_evidence["gaussian"] for offset in (100, 1e6, 1e9)]
    # At 1e9 the scatter has lost seven of its digits.
    np.testing.assert_allclose(evidence, evidence[0], rtol=1e-6)


def test_wide_whole_numbers_that_share_buckets_are_as_normal_as_if_they_did_not(monkeypatch):
    x = np.round(np.random.default_rng(10).normal(1e6, 30, size=2000))
    apart = chosen(x).log_evidence["gaussian"]
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 32)
    together = chosen(x).log_evidence["gaussian"]
    np.testing.assert_allclose(together, apart, rtol=1e-3)  # the gaps between the outermost numbers count otherwise


def test_a_few_buckets_of_many_values_are_no_few_values(monkeypatch):
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 8)
    x = np.round(np.random.default_rng(11).normal(1e6, 30, size=500))
    assert "few values" not in chosen(x).why


def test_bins_far_from_zero_are_as_many_as_told():
    x = 1e6 + 100 * np.random.default_rng(12).random(1000)
    assert len(chosen(x, families=("binned",), n_bins=10).cuts) == 9


# ---------------------------------------------------------------------- ties, and the reason in words


class Stated(Candidate):
    """A law whose evidence is stated."""

    def __init__(self, family, evidence, reason=None):
        self.family, self.title, self.evidence, self.reason = family, family, evidence, reason

    def why_not(self, column, *, alone):
        return self.reason

    def weighed(self, column):
        return Weighed(self.evidence)


@pytest.fixture
def stated(monkeypatch):
    """Choose among laws of the given evidence, for a column of one hundred rows."""

    def choice(*evidence, refused=()):
        families = ("gaussian", "lognormal", "poisson", "binned")
        laws = [Stated(family, one) for family, one in zip(families, evidence, strict=False)]
        monkeypatch.setattr(choosing, "CANDIDATES", (*laws, *(Stated("beta", 0.0, reason) for reason in refused)))
        return chosen(np.arange(100) / 3)

    return choice


@pytest.mark.parametrize(
    ("evidence", "family"),
    [
        ((-100.0, -99.0), "gaussian"),
        ((-100.0, -98.99), "lognormal"),
        ((-99.0, -100.0), "gaussian"),
        ((-100.0, -99.5, -98.75), "lognormal"),  # the first of those that are tied with the best
        ((-100.0, -99.5, -99.0), "gaussian"),
        ((-np.inf, -np.inf), "gaussian"),
    ],
)
def test_a_law_further_down_the_list_has_to_be_more_probable_by_more_than_a_tie(evidence, family, stated):
    assert stated(*evidence).family == family


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ((-150.0, -200.0), "gaussian -1.50, lognormal -2.00"),
        ((-200.0, -150.0, -180.0), "lognormal -1.50, poisson -1.80, gaussian -2.00"),
        ((-150.0, -151.5), "gaussian -1.50, lognormal -1.51"),
        ((-150.0, -150.9), "gaussian -1.500, lognormal -1.509"),
        ((-150.0, -150.5), "gaussian -1.500, lognormal -1.505"),
        ((-150.0, -150.02), "gaussian -1.5000, lognormal -1.5002"),
        ((-150.0, -150.002), "gaussian -1.50000, lognormal -1.50002"),
        ((-150.0, -150.0001), "gaussian -1.500000, lognormal -1.500001"),
        ((-150.0, -149.5), "gaussian -1.500, lognormal -1.495 (too close to prefer)"),
        ((-150.0,), "gaussian -1.50"),
        ((-150.0, -np.inf), "gaussian -1.50, lognormal beyond float64"),
    ],
)
def test_evidence_is_told_per_row_with_the_digits_that_tell_the_best_from_the_next(evidence, said, stated):
    assert stated(*evidence).why == f"log-evidence per row: {said}"


def test_a_law_that_gives_no_reason_is_not_mentioned(stated):
    assert stated(-150.0, refused=["zeros"]).why.endswith("beta not eligible (zeros)")
    assert "beta" not in stated(-150.0, refused=[""]).why


def test_what_a_law_had_to_be_told_is_kept_only_where_it_wins():
    hours = np.random.default_rng(13).vonmises(0, 2, 400).round(3) % (2 * np.pi)
    period = (("period", 2 * np.pi),)
    assert (chosen(hours, options=period).family, chosen(hours, options=period).options) == ("von_mises", period)
    narrow = np.random.default_rng(13).choice([1.0, 2.0, 3.0], 400, p=[0.7, 0.1, 0.2])
    assert (chosen(narrow, options=period).family, chosen(narrow, options=period).options) == ("binned", ())


@pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")  # that being there is all it tells
@pytest.mark.parametrize(("value", "is_mark"), [(1.0, True), (7.5, True), (2.0**53, False)])
def test_a_number_that_comes_again_beside_empty_cells_is_a_mark_unless_it_may_stand_for_others(value, is_mark):
    column = NaiveBayes().fit(np.array([[value], [np.nan]] * 4), list("aabbabab")).columns_["x0"]
    assert (column.family == "categorical") == is_mark, column.why
    assert (column.why == f"one value, {value:g}, and empty cells") == is_mark
    once = NaiveBayes().fit(np.array([[value]] + [[np.nan]] * 7), list("aabbabab")).columns_["x0"]
    assert "empty cells" not in once.why
