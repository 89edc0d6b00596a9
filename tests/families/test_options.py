"""Which other cells could be in the place of one: their range, how far they are, and where the log-odds bend."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from bayeswater import NaiveBayes, NormalInverseGamma

N = 90
Y = np.array(["a", "b", "c"])[np.arange(N) % 3]
RNG = np.random.default_rng(3)
SHIFT = np.arange(N) % 3
CELLS = {
    "gaussian": RNG.normal(SHIFT, 1 + SHIFT / 2),
    "lognormal": np.exp(RNG.normal(SHIFT, 0.5 + SHIFT / 3)),
    "poisson": RNG.poisson(2 + 2 * SHIFT).astype(float),
    "negative_binomial": RNG.negative_binomial(1, 1 / (3 + SHIFT)).astype(float),
    "beta": RNG.beta(2 + 3 * SHIFT, 3 + 2 * SHIFT),
    "von_mises": RNG.vonmises(SHIFT, 1 + SHIFT) % (2 * np.pi) * 24 / (2 * np.pi),
}
SAID = {
    "von_mises": {"period": 24},
    "student": {"family": "gaussian", "prior": NormalInverseGamma(0.0, 0.1, 0.5, 1.0)},
}
FEW = CELLS["gaussian"][:12]  # by a prior, few rows are far from normal


def view_of(x, family, y=Y, **parameters):
    """How an explanation looks at a column, of which the first row is that of the table and the second is empty."""
    said = SAID.get(family, family)
    model = NaiveBayes(columns={"x": said}, **parameters).fit(pd.DataFrame({"x": x}), y)
    return model.explain(pd.DataFrame({"x": [x[0], None]}))._views[0]


@pytest.mark.parametrize("chosen", range(3))
@pytest.mark.parametrize("family", [*CELLS, "student"])
def test_log_odds_only_rise_or_only_fall_from_one_bend_to_the_next(family, chosen):
    x = CELLS.get(family, FEW)
    view = view_of(x, family, Y[: len(x)])
    options = view.options(0, chosen)
    assert ((options.bends > options.low) & (options.bends < options.high)).all()
    ends = np.unique([options.low, *options.bends, options.high])
    for low, high in pairwise(ends):
        terms = view.terms_at(0, np.linspace(low, high, 200))
        steps = np.diff(terms[:, [chosen]] - np.delete(terms, chosen, axis=1), axis=0)
        assert ((steps >= -1e-9).all(axis=0) | (steps <= 1e-9).all(axis=0)).all()


@pytest.mark.parametrize("family", ["gaussian", "beta", "von_mises"])
def test_log_odds_turn_at_every_bend(family):
    view = view_of(CELLS[family], family)
    bends = view.options(0, 1).bends
    assert len(bends) > 0
    for bend in bends:
        terms = view.terms_at(0, bend + np.array([-1e-3, 0.0, 1e-3]))
        before, behind = np.diff(terms[:, [1]] - np.delete(terms, 1, axis=1), axis=0)
        assert (before * behind < 0).any()


@pytest.mark.parametrize(("family", "read"), [("gaussian", np.asarray), ("lognormal", np.log)])
def test_normal_numbers_are_as_far_as_they_are_in_standard_deviations_of_the_column(family, read):
    x = read(CELLS[family])
    there, missing = (view_of(CELLS[family], family).options(row, 0) for row in (0, 1))
    for options in (there, missing):
        assert_allclose([options.low, options.high, options.spread], [x.min(), x.max(), x.std()], rtol=1e-12)
    assert (there.start, there.is_missing) == (pytest.approx(x[0]), False)
    assert (missing.start, missing.is_missing) == (pytest.approx(x.mean()), True)


def test_shares_are_as_far_as_they_are_in_standard_deviations_of_the_law():
    view = view_of(CELLS["beta"], "beta")
    a, b = view.block.a[:, 0], view.block.b[:, 0]
    mean = a / (a + b)
    deviation = np.sqrt(np.mean(a * b / ((a + b) ** 2 * (a + b + 1))) + np.var(mean))  # classes of as many rows
    missing = view.options(1, 0)
    assert (missing.start, missing.spread) == (pytest.approx(mean.mean()), pytest.approx(deviation))
    assert (missing.low, missing.high) == (CELLS["beta"].min(), CELLS["beta"].max())
    assert view.options(0, 0).start == CELLS["beta"][0]


@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_counts_have_whole_ends_and_are_apart_by_the_root_of_their_mean(family):
    x = CELLS[family]
    view = view_of(x, family)
    means = np.array([(x[label == Y].sum() + 0.5) / 30 for label in "abc"])
    options = view.options(1, 0)
    assert (options.low, options.high, options.is_whole) == (x.min(), x.max(), True)
    assert (options.start, options.spread) == (pytest.approx(means.mean()), pytest.approx(np.sqrt(means.mean())))
    assert options.rounded(3.2, lambda count: count >= 3) is not None
    assert options.in_words(3.0, "over") == "at least 3" and options.in_words(3.0, "under") == "at most 3"


@pytest.mark.parametrize("family", CELLS)
def test_log_normal_numbers_alone_are_on_the_scale_of_logarithms_and_counts_alone_are_whole(family):
    options = view_of(CELLS[family], family).options(0, 0)
    assert options.is_log == (family == "lognormal")
    assert options.is_whole == (family in ("poisson", "negative_binomial"))


def test_a_number_on_a_circle_can_go_half_a_turn_each_way():
    view = view_of(CELLS["von_mises"], "von_mises")
    there, missing = view.options(0, 0), view.options(1, 0)
    assert (there.low, there.high) == (there.start - 12, there.start + 12)
    assert (missing.start, missing.low, missing.high, missing.spread) == (12, 0, 24, 6)
    assert there.written(25.5) == 1.5 and there.in_words(-1.0, "under") == "under 23"


@pytest.mark.parametrize("family", ["gaussian", "lognormal", "beta", "poisson", "negative_binomial"])
def test_a_column_of_one_value_has_no_other(family):
    value = 0.5 if family == "beta" else 3.0
    assert view_of(np.full(N, value), family).options(0, 0) is None


COLOURS = np.array(["red"] * 5 + ["blue"] * 3 + ["green"] * 2)


def test_other_states_come_by_their_frequency_each_as_far_as_indicators_are_apart():
    view = view_of(COLOURS, "categorical", np.arange(10) % 2)
    options = view.options(0, 0)
    assert [options.value(cell) for cell in options.cells] == ["blue", "green"]
    assert [options.words(cell) for cell in options.cells] == ["= blue", "= green"]
    assert_allclose(options.distance, np.sqrt(2 / (1 - 0.25 - 0.09 - 0.04)), rtol=1e-12)
    assert [view.options(1, 0).value(cell) for cell in view.options(1, 0).cells] == ["red", "blue", "green"]
    probability = np.log(NaiveBayes().fit(pd.DataFrame({"x": COLOURS}), np.arange(10) % 2).tables()["x"].iloc[:, 1:])
    assert_allclose(view.terms_at(0, np.arange(3)), probability, rtol=1e-9)


def test_a_state_that_no_other_row_has_is_no_option():
    assert view_of(np.array(["red"] * 6), "categorical", np.arange(6) % 2).options(0, 0) is None


IN_BINS = np.array([0.5] * 4 + [1.5] * 2 + [2.5, 3.5])
CUT = {"cuts": [1.0, 2.0, 3.0]}


def binned_view(x, **parameters):
    rows = pd.DataFrame({"x": x})
    model = NaiveBayes(columns={"x": CUT}, **parameters).fit(rows, np.arange(len(x)) % 2)
    return model.explain(pd.DataFrame({"x": [0.5, np.nan]}))._views[0]


def test_bins_are_as_far_as_their_places_are_apart_in_deviations():
    place = np.repeat(np.arange(4), [4, 2, 1, 1])
    there, missing = (binned_view(IN_BINS).options(row, 0) for row in (0, 1))
    assert there.cells.tolist() == [1, 2, 3]
    assert_allclose(there.distance, np.array([1, 2, 3]) / place.std(), rtol=1e-12)
    assert missing.cells.tolist() == [0, 1, 2, 3]
    assert_allclose(missing.distance, np.abs(np.arange(4) - place.mean()) / place.std(), rtol=1e-12)
    assert [there.words(cell) for cell in there.cells] == ["1 to 2", "2 to 3", "from 3 on"]


def test_an_empty_cell_has_no_place_among_the_bins_but_is_as_far_as_a_state_is():
    view = binned_view(np.append(IN_BINS, [np.nan, np.nan]), missing="state")
    place = np.repeat(np.arange(4), [4, 2, 1, 1])
    options = view.options(0, 0)
    assert options.cells.tolist() == [1, 4, 2, 3]
    state = np.sqrt(2 / (1 - 0.16 - 0.04 - 0.04 - 0.01 - 0.01))
    assert_allclose(options.distance, [1 / place.std(), state, 2 / place.std(), 3 / place.std()], rtol=1e-12)
    assert options.words(4) == "is empty" and options.value(4) is None


def test_the_bin_of_a_number_is_named_and_a_missing_one_has_none():
    view = binned_view(IN_BINS)
    assert (view.reading(0, 0, 1), view.reading(1, 0, 1)) == ("binned under 1", "")
