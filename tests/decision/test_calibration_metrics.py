"""Calibration metrics against brute force: loops over bins, and exact fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswater.decision.calibration_metrics import adaptive_ece, brier_decomposition, ece, reliability_table
from bayeswater.errors import BayesError, DataError, ParameterError, SchemaError


@st.composite
def forecasts(draw: Any) -> tuple[list[int], list[list[Fraction]], list[int]]:
    """Labels, exact probabilities in 64ths (which float64 holds without error) and whole weights."""
    n, n_classes = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    rows = []
    for _ in range(n):
        cuts = sorted(draw(st.lists(st.integers(0, 64), min_size=n_classes - 1, max_size=n_classes - 1)))
        rows.append([Fraction(b - a, 64) for a, b in zip([0, *cuts], [*cuts, 64], strict=True)])
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    return y, rows, draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))


def as_floats(rows: list[list[Fraction]]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def arguments(y: Any, rows: Any, weight: Any) -> dict[str, Any]:
    return {"y": y, "proba": as_floats(rows), "labels": range(len(rows[0])), "sample_weight": weight}


def brute_force_ece(y: list[int], rows: list[list[Fraction]], weight: list[int], n_bins: int) -> Fraction:
    error = Fraction(0)
    for b in range(n_bins):
        low, high = Fraction(b, n_bins), Fraction(b + 1, n_bins)
        members = [i for i, row in enumerate(rows) if low < max(row) <= high]
        confidence = sum(weight[i] * max(rows[i]) for i in members)
        correct = sum(weight[i] for i in members if rows[i].index(max(rows[i])) == y[i])
        error += abs(confidence - correct)
    return error / sum(weight)


@settings(max_examples=50)
@given(forecasts(), st.sampled_from([1, 2, 8, 16]))  # edges of these bins are exact in float64
def test_ece_equals_a_loop_over_bins_in_fractions(forecast, n_bins):
    found = ece(**arguments(*forecast), n_bins=n_bins)
    assert found == pytest.approx(float(brute_force_ece(*forecast, n_bins)), abs=1e-15)  # sums of a dozen terms


def test_ece_has_fifteen_bins_that_include_their_upper_edge():
    # 0.6 = 9/15 closes the ninth bin, 0.61 lies in the tenth: the errors .4 and -.61 do not cancel.
    proba = [[0.6, 0.4], [0.61, 0.39]]
    assert ece([0, 1], proba) == pytest.approx((0.4 + 0.61) / 2, abs=1e-15)
    assert ece([0, 1], proba, n_bins=1) == pytest.approx(0.105, abs=1e-15)


def test_a_forecast_that_keeps_its_word_has_no_calibration_error():
    y = [0] * 3 + [1] + [1] * 9 + [0]
    proba = [[0.75, 0.25]] * 4 + [[0.1, 0.9]] * 10
    assert ece(y, proba) == pytest.approx(0, abs=1e-15)
    assert adaptive_ece(y, proba) == pytest.approx(0, abs=1e-15)
    assert brier_decomposition(y, proba).reliability == pytest.approx(0, abs=1e-30)


@settings(max_examples=30)
@given(forecasts())
def test_adaptive_ece_with_one_value_a_bin_is_the_mean_error_of_the_values(forecast):
    y, rows, weight = forecast
    # With many more bins than rows every value of the confidence has its own.
    found = adaptive_ece(**arguments(*forecast), n_bins=10_000)
    top = [max(row) for row in rows]
    expected = Fraction(0)
    for value in set(top):
        members = [i for i in range(len(y)) if top[i] == value]
        expected += abs(sum(weight[i] * (value - (rows[i].index(value) == y[i])) for i in members))
    assert found == pytest.approx(float(expected / sum(weight)), abs=1e-14)


def test_adaptive_bins_have_equal_weight():
    p = np.linspace(0.51, 0.99, 30)
    table = reliability_table(
        np.arange(30) % 2, np.column_stack([p, 1 - p]), n_bins=5, strategy="weight", top_label=True
    )
    assert table["weight"].to_pylist() == [6] * 5


@pytest.mark.parametrize("n_bins", [1, 2, 3])
def test_there_are_never_more_adaptive_bins_than_asked_for(n_bins):
    p, weight = np.array([0.6, 0.7, 0.9]), [1.0, 1.0, 1e-20]  # the last is beyond the middle of all weight
    proba = np.column_stack([p, 1 - p])
    table = reliability_table(
        [0, 1, 0], proba, n_bins=n_bins, strategy="weight", top_label=True, sample_weight=weight, labels=[0, 1]
    )
    assert table.num_rows == min(n_bins, 2)


@pytest.mark.parametrize("metric", [ece, adaptive_ece], ids=["equal width", "equal weight"])
@settings(max_examples=20)
@given(forecast=forecasts())
def test_weights_equal_repetition_and_order_does_not_matter(metric, forecast):
    y, rows, weight = forecast
    n = len(y)
    repeated = [i for i in reversed(range(n)) for _ in range(weight[i])]
    by_rows = arguments([y[i] for i in repeated], [rows[i] for i in repeated], None)
    assert metric(**arguments(*forecast)) == pytest.approx(metric(**by_rows), abs=1e-14)


@settings(max_examples=30)
@given(forecasts(), st.sampled_from([1, 4, 16]))
def test_the_parts_of_the_brier_score_are_those_of_the_definition_and_sum_to_it(forecast, n_bins):
    y, rows, weight = forecast
    found = brier_decomposition(**arguments(*forecast), n_bins=n_bins)
    total = sum(weight)
    expected = dict.fromkeys(("score", "reliability", "resolution", "uncertainty", "within_variance"), Fraction(0))
    for k in range(len(rows[0])):
        p, o = [row[k] for row in rows], [Fraction(label == k) for label in y]
        mean = sum(w * happened for w, happened in zip(weight, o, strict=True)) / total
        expected["score"] += sum(w * (a - b) ** 2 for w, a, b in zip(weight, p, o, strict=True)) / total
        expected["uncertainty"] += mean * (1 - mean)
        for b in range(n_bins):
            members = [i for i in range(len(y)) if max(0, -(-p[i] * n_bins // 1) - 1) == b]
            if not members:
                continue
            in_bin = sum(weight[i] for i in members)
            p_bin = sum(weight[i] * p[i] for i in members) / in_bin
            o_bin = sum(weight[i] * o[i] for i in members) / in_bin
            expected["reliability"] += Fraction(in_bin, total) * (p_bin - o_bin) ** 2
            expected["resolution"] += Fraction(in_bin, total) * (o_bin - mean) ** 2
            expected["within_variance"] += sum(weight[i] * (p[i] - p_bin) ** 2 for i in members) / total
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(float(value), abs=1e-14), name
    parts = found.reliability - found.resolution + found.uncertainty + found.within_variance - found.within_covariance
    assert parts == pytest.approx(found.score, abs=1e-14)


def test_the_reliability_table_has_a_row_for_each_class_and_bin_with_rows():
    proba = [[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.1, 0.8, 0.1]]
    table = reliability_table(["a", "b", "c", "b"], proba, n_bins=2, sample_weight=[3, 1, 1, 1]).to_pydict()
    assert table["class"] == ["a", "a", "b", "b", "c", "c"]
    assert table["weight"] == [2, 4, 5, 1, 5, 1]
    assert table["frequency"] == [0, 0.75, 0.2, 1, 0, 1]
    np.testing.assert_allclose(table["probability"], [0.1, 0.7, 0.2, 0.8, 0.1, 0.7], rtol=1e-15)
    np.testing.assert_allclose(table["gap"], np.subtract(table["frequency"], table["probability"]), rtol=1e-15)
    np.testing.assert_allclose(table["error"], [0, np.sqrt(0.75 * 0.25 / 4), np.sqrt(0.2 * 0.8 / 5), 0, 0, 0])
    assert table["low"] == [0.1, 0.7, 0.2, 0.8, 0.1, 0.7] == table["high"]


def test_rows_of_weight_zero_are_not_there():
    proba = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
    assert ece([0, 1, 1], proba, sample_weight=[1, 1, 0]) == ece([0, 1], proba[:2])
    assert reliability_table([0, 1, 1], proba, sample_weight=[1, 1, 0]).num_rows == 4


def test_labels_name_the_columns_in_any_order():
    proba = np.array([[0.9, 0.1], [0.3, 0.7]])
    assert ece(["x", "y"], proba) == ece(["x", "y"], proba[:, ::-1], labels=["y", "x"])
    assert ece(["x"], proba[:1], labels=["x", "y"]) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": ["x", "x"]}, DataError, "labels="),
        ({"y": ["x", "z"], "labels": ["x", "y"]}, SchemaError, "'z'"),
        ({"labels": ["x", "x"]}, ParameterError, "each class once"),
        ({"y": ["x"], "labels": ["x", "y"]}, DataError, "2 rows and y has 1"),
        ({"proba": [[0.9, 0.2], [0.3, 0.7]]}, DataError, "row 0"),
        ({"proba": [[0.9, 0.1], [np.nan, 0.7]]}, DataError, "row 1"),
        ({"sample_weight": [1, -1]}, DataError, "-1"),
        ({"n_bins": 0}, ParameterError, "n_bins is 0"),
    ],
)
@pytest.mark.parametrize("metric", [ece, adaptive_ece, reliability_table, brier_decomposition])
def test_what_cannot_be_measured_is_refused_with_the_reason(metric, change, error, message):
    given_arguments = {"y": ["x", "y"], "proba": [[0.9, 0.1], [0.3, 0.7]], **change}
    with pytest.raises(error, match=message):
        metric(**given_arguments)
    assert issubclass(error, BayesError)


def test_an_unknown_way_to_bin_is_refused():
    with pytest.raises(ParameterError, match="'width' or 'weight'"):
        reliability_table([0, 1], [[0.9, 0.1], [0.3, 0.7]], strategy="quantile")
