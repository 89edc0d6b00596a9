"""Numbers in bins: when values are states, how many bins are tried and what they cost, and numbers beyond all bins."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from bayeswater import NaiveBayes, StatisticsError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.number_table import bin_schema
from bayeswater.data.variable import Schema, Variable
from bayeswater.estimate.histogram_cuts import quantile_cuts
from bayeswater.estimate.normal_parameters import dirichlet_log_evidence
from bayeswater.families.binned import Binned, BinnedCandidate, reach
from bayeswater.families.choosing import choose_family
from bayeswater.families.open_numbers import NumberProfile, OpenColumn
from bayeswater.families.registry import CANDIDATES


def profile_of(x, y=None):
    labels = encode_labels(np.zeros(len(x), dtype=int) if y is None else y)
    return NumberProfile.of(DenseMatrix(np.asarray(x, dtype=float)[:, None]), labels, None, CANDIDATES)


def chosen(x, **parameters):
    return choose_family(profile_of(x), 0, **parameters)


def whole(n_values, n_rows):
    """So many different whole numbers, none of which is frequent."""
    return np.arange(n_rows) % n_values


@pytest.mark.parametrize(
    ("n_values", "n_rows", "are_states"),
    [(8, 80, True), (8, 79, False), (9, 900, False), (3, 30, True), (3, 29, False)],
)
def test_up_to_eight_whole_numbers_with_ten_rows_each_are_states(n_values, n_rows, are_states):
    assert ("Gaussian not eligible (few values)" in chosen(whole(n_values, n_rows)).why) == are_states


def test_few_fractions_are_no_states():
    assert "few values" not in chosen(whole(3, 90) + 0.5).why


def spiked(n_same, n_others):
    return np.concatenate([np.full(n_same, 0.25), np.random.default_rng(0).normal(size=n_others)])


def test_a_value_of_more_than_half_of_the_rows_is_a_spike():
    assert "one value in most rows" in chosen(spiked(101, 100)).why
    assert "one value in most rows" not in chosen(spiked(100, 100)).why


@pytest.mark.parametrize(
    ("x", "is_pair"), [([1.5, 2.5, 2.5], True), ([1.5, 2.5], False), ([1.5, 2.5, 3.5, 3.5], False)]
)
def test_two_values_of_which_one_comes_again_are_a_pair_of_states(x, is_pair):
    choice = chosen(x)
    assert ("Gaussian not eligible (two values)" in choice.why) == is_pair
    assert not is_pair or (choice.family, choice.cuts) == ("binned", (2.0,))


def in_bins(x, n_bins):
    """Log-evidence of the values in so many bins of about equal weight, as the formula has it."""
    column = OpenColumn(profile_of(x), 0)
    cuts = quantile_cuts(column.occupied, n_bins)
    limits = [column.occupied.limits[0], *cuts, column.occupied.limits[-1]]
    count = np.histogram(x, limits)[0]
    return dirichlet_log_evidence(0.5, count[:, None]).sum() - count @ np.log(np.diff(limits))


@pytest.mark.parametrize(
    ("n_rows", "tried"),
    [(20, (4,)), (39, (4,)), (40, (4, 8)), (80, (4, 8, 16)), (160, (4, 8, 16, 32)), (320, (4, 8, 16, 32, 64))],
)
def test_the_best_number_of_bins_of_five_rows_each_pays_for_the_others_and_for_the_ends(n_rows, tried):
    x = np.random.default_rng(n_rows).normal(size=n_rows)
    found = BinnedCandidate().weighed(OpenColumn(profile_of(x), 0))
    price = np.log(len(tried)) + np.log(n_rows * (n_rows - 1) / 2)
    assert_allclose(found.log_evidence, max(in_bins(x, n_bins) for n_bins in tried) - price, rtol=1e-10)
    assert found.title == f"{len(found.cuts) + 1} bins" and len(found.cuts) + 1 in tried


def test_as_many_bins_are_taken_as_the_values_need():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 8, 320) + 0.01 * rng.normal(size=320)  # eight clusters
    found = BinnedCandidate().weighed(OpenColumn(profile_of(x), 0))
    evidence = {n_bins: in_bins(x, n_bins) for n_bins in (4, 8, 16, 32, 64)}
    best = max(evidence, key=evidence.get)
    assert best > 8 and len(found.cuts) + 1 == best
    assert_allclose(found.log_evidence, evidence[best] - np.log(5) - np.log(320 * 319 / 2), rtol=1e-10)


def test_of_fewer_than_twenty_rows_no_bins_are_made_unless_they_are_told():
    x = np.random.default_rng(1).normal(size=19)
    assert BinnedCandidate().why_not(OpenColumn(profile_of(x), 0), alone=False) == "too few rows"
    assert BinnedCandidate().why_not(OpenColumn(profile_of(x), 0), alone=True) is None
    assert BinnedCandidate().why_not(OpenColumn(profile_of(x), 0, n_bins=9), alone=False) is None
    assert BinnedCandidate().why_not(OpenColumn(profile_of(np.append(x, 9.0)), 0), alone=False) is None


def test_bins_that_were_told_pay_for_their_ends_alone():
    x = np.random.default_rng(2).normal(size=50)
    found = BinnedCandidate().weighed(OpenColumn(profile_of(x), 0, n_bins=5))
    assert_allclose(found.log_evidence, in_bins(x, 5) - np.log(50 * 49 / 2), rtol=1e-10)


# ---------------------------------------------------------------------- beyond all bins, draws, files


@pytest.mark.parametrize(
    ("cuts", "ends"),
    [
        ((1.0, 2.0, 4.0), (-2.0, 7.0)),
        ((5.0,), (0.0, 10.0)),
        ((0.5,), (-0.5, 1.5)),
        ((-3.0,), (-6.0, 0.0)),
        ((), (-np.inf, np.inf)),
    ],
)
def test_outer_bins_reach_as_far_as_all_inner_ones(cuts, ends):
    assert reach(Column("x", "x", "binned", cuts=cuts)) == ends


def test_numbers_beyond_the_reach_of_the_bins_are_new():
    X, y = pd.DataFrame({"x": [1.0, 3.0, 5.0, 7.0] * 5}), [0, 1] * 10
    model = NaiveBayes(columns={"x": {"cuts": [2.0, 4.0, 6.0]}}).fit(X, y)
    inside, outside = (model.novelty(pd.DataFrame({"x": x}), n_draws=200) for x in ([-2.0, 10.0], [-2.01, 10.01]))
    assert (inside == 1.0).all() and (outside < 0.2).all()


def test_made_bins_are_drawn_between_the_least_and_the_largest_of_their_values():
    spans = ((1.0, 2.0), (5.0, 5.0), (8.0, 9.0))
    family = Binned((Column("x", "x", "binned", cuts=(3.0, 6.0), spans=spans),))
    state = np.repeat([0, 1, 2, 3], 200)
    drawn = family.drawn(bin_schema([(3.0, 6.0)], ["x"])[0], 0, state, np.random.default_rng(0))
    for i, (low, high) in enumerate(spans):
        own = drawn[state == i]
        assert (low <= own).all() and (own <= high).all()
        assert own.min() <= low + 0.05 * (high - low) and own.max() >= high - 0.05 * (high - low)
    assert np.isnan(drawn[state == 3]).all()  # an empty cell
    alone = Binned((Column("x", "x", "binned", cuts=()),))
    assert np.isnan(alone.drawn(bin_schema([()], ["x"])[0], 0, np.zeros(3, dtype=int), np.random.default_rng(0))).all()


def test_counts_of_other_bins_than_those_of_the_cuts_are_refused():
    column = Column("x", "x", "binned", cuts=(1.0, 2.0))

    Binned.require_column(column, SimpleNamespace(schema=bin_schema([(1.0, 2.0)], ["x"])), 0, 0.0)
    labelled, undeclared = Variable("x", ("p", "q", "r")), Variable.of_codes("x", 3)
    schemas = [
        bin_schema([(1.0,)], ["x"]),
        bin_schema([(1.0, 2.0, 3.0)], ["x"]),
        Schema((labelled,)),
        Schema((undeclared,)),
    ]
    for schema in schemas:
        with pytest.raises(StatisticsError, match=f"has 2 cuts, and {schema[0].n_states} bins"):
            Binned.require_column(column, SimpleNamespace(schema=schema), 0, 0.0)
