"""Codes for missing cells among numbers and dates are known by where they stand, and said."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

import bayeswater
from bayeswater.data.reading.missing_codes import codes_in


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([-999, -999, 12, 30], {"-999": 2}),
        ([-999.0, -999.0, -12.5, 30.0], {"-999": 2}),
        ([999.9, 999.9, 0.5, 40.0, None], {"999.9": 2}),
        ([98, 98, 99, 99, 1, 5], {"98": 2, "99": 2}),
        ([-1, -1, 0, 7], {"-1": 2}),
        ([-1, -1, 0, 1], {}),  # a scale
        ([-1, -1, 1, 1], {}),
        ([999, 999, 199, 1299], {}),  # prices
        ([99, 99, 90, 18], {}),
        ([-999, 12, 30], {}),  # once
        ([-999, -999, 12, 12], {}),
        ([date(9999, 12, 31)] * 2 + [date(2020, 1, 1), date(2024, 1, 1)], {"9999-12-31": 2}),
        ([date(1900, 1, 1)] * 2 + [date(1899, 1, 1), date(2024, 1, 1)], {}),
        (["-999", "-999"], {}),
    ],
)
def test_codes_stand_apart_from_all_others(values, codes):
    assert codes_in(pa.chunked_array([values])) == codes


def test_a_code_is_said_by_the_report_by_look_and_by_fit_and_is_missing_where_it_is_named(tmp_path):
    path = tmp_path / "weather.csv"
    rng = np.random.default_rng(0)
    rows = [f"{-999 if k % 7 == 0 else rng.normal(12, 5):.1f},{'ab'[k % 2]}" for k in range(60)]
    path.write_text("\n".join(["temp,y", *rows]))
    said = r"-999 \(9 x\) may stand for missing: .*missing=\['-999'\]"
    assert "-999 (9 x) may stand for missing" in bayeswater.read_table(path).report.notes[0]
    assert "-999 (9 x) may stand for missing" in bayeswater.look(path, target="y").warnings["temp"][0]
    with pytest.warns(bayeswater.BayesWarning, match=said):
        bayeswater.NaiveBayes().fit(path, target="y")
    table, report = bayeswater.read_table(path, missing=["-999", "-999.0"])
    assert table["temp"].null_count == 9
    assert not report.notes
