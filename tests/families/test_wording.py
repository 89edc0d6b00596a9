"""Numbers, values and ratios are put in words that do not say more, or less, than they hold."""

import numpy as np
import pytest

from bayeswater.families import wording
from bayeswater.phrases import EN


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (np.bool_(False), "False"),
        (7, "7"),
        (-3.0, "-3"),
        (999_999_999_999_999.0, "999999999999999"),
        (1e15, "1e+15"),
        (0.5, "0.5"),
        (1234567.25, "1.23457e+06"),
        (" two \n lines ", "two lines"),
        ("", "''"),
        ("a" * 32, "a" * 32),
    ],
)
def test_a_value_stands_on_one_line_and_whole_numbers_have_no_point(value, text):
    assert wording.shown(value) == text
    assert wording.cell(value) == f"= {text}"


def test_a_long_value_is_cut():
    assert len(wording.shown("a" * 33)) == 32
    assert wording.cell(None) == "is empty"


@pytest.mark.parametrize(
    ("times", "text"),
    [
        (1.0, "1"),
        (1.44, "1.4"),
        (9.94, "9.9"),
        (9.96, "10"),
        (11.4, "11"),
        (125.1, "130"),
        (12_345, "12,000"),
        (0.99e6, "990,000"),
        (1.01e6, "1.0e+06"),
        (2.5e9, "2.5e+09"),
        (np.inf, "infinitely many"),
    ],
)
def test_a_ratio_is_told_with_two_digits(times, text):
    assert wording.ratio(np.log(times)) == text
    assert wording.odds(np.log(times)) == f"{text} to 1"
    if times > 1:
        assert wording.odds(-np.log(times)) == f"1 to {text}"


@pytest.mark.parametrize("is_score", [False, True])
def test_a_ratio_near_one_is_as_likely_and_beyond_it_has_a_side(is_score):
    def said(times):
        return wording.times_as_likely(np.log(times), "p", 2, is_score=is_score)

    assert said(1.049) == said(1 / 1.049) == said(1.0) == "as likely among 'p' as among 2"
    strong = "speaks for {} by a factor of {}" if is_score else "{1} times as likely among {0} as among {2}"
    assert said(1.06) == strong.format("'p'", "1.1", 2)
    assert said(1 / 3) == strong.format(2, "3", "'p'")
    assert said(np.inf) == "impossible among 2"
    assert wording.times_as_likely(-np.inf, "p", 2, is_score=is_score) == "impossible among 'p'"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.5, "0.50"),
        (0.01, "0.01"),
        (0.0099, "0.010"),
        (0.99, "0.99"),
        (0.9912, "0.991"),
        (0.001, "0.001"),
        (1.1e-6, "0.000001"),
        (9e-7, "under 0.000001"),
        (0.0, "under 0.000001"),
        (1 - 9e-7, "over 0.999999"),
    ],
)
def test_a_probability_has_the_digits_that_its_distance_from_an_end_needs(p, text):
    assert wording.probability(p) == text


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "no row"),
        (1, "one row"),
        (2.0, "two rows"),
        (12, "twelve rows"),
        (13, "13 rows"),
        (4321.0, "4,321 rows"),
        (0.5, "0.5 rows"),
        (1234.5, "1.23e+03 rows"),
    ],
)
def test_few_things_are_counted_in_words(n, text):
    assert EN.how_many(n, "row") == text
