"""The page of the ensemble says of its presets what they are, in both languages; what has no room is left out."""

import re
from pathlib import Path

import numpy as np
import pytest

from bayeswater import BayesEnsemble, BayesWarning, ResourceLimitError, limits
from bayeswater.learning.members import presets, stack
from bayeswater.learning.members.presets import PRESETS

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("page", ["ensemble.md", "zh/ensemble.md"])
def test_the_page_has_the_figures_of_the_presets(page):
    text = (DOCS / page).read_text()
    row = next(line for line in text.splitlines() if line.startswith('| `"balanced"`'))
    balanced = PRESETS["balanced"]
    named = {name for name in balanced if f"`{name}`" in row}
    assert named | {"words"} == set(balanced)
    counted = ["aode", "trees-sqrt", "trees-all"]
    assert [int(n) for n in re.findall(r"(?<!\d)(\d+)", row.split("|")[2])] == [balanced[n].n_members for n in counted]
    assert f"{presets.CELLS_OF_A_ROW} · (n + {presets.ROWS_OF_NO_ROW})" in text
    best = next(line for line in text.splitlines() if line.startswith('| `"best"`'))
    assert str(presets.KDB_ROWS) in best
    assert set(re.findall(r"`([a-z-]+)`", best)) == presets.IF_NAMED | {"kdb"}
    assert str(presets.MOST_COLUMNS) in next(line for line in text.splitlines() if line.startswith("| `trees-sqrt`"))
    assert stack.NO_LOSS == 0.005
    assert ("千分之五" if page.startswith("zh/") else "half a percent") in text


def test_covariances_of_too_many_numbers_are_left_out_and_it_is_said(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = rng.normal(0.7 * y[:, None], 1.0, (120, 5))
    members = {"aode": 1, "trees-sqrt": 2, "trees-all": 0, "linear": 0}
    without = BayesEnsemble(members=members | {"gaussian": 0}, random_state=0).fit(X, y)
    monkeypatch.setattr(presets, "COVARIANCE_BYTES", 8 * 2 * 5**2 - 1)
    with pytest.warns(
        BayesWarning, match=r"'gaussian' is left out: covariances of 5 numbers in 2 classes would take 400"
    ):
        found = BayesEnsemble(members=members, random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X), without.predict_proba(X))
    monkeypatch.setattr(limits, "TABLE_BYTES", 1000)
    with pytest.raises(
        ResourceLimitError, match=r"covariances of 5 numbers in 2 classes would take 1.562 KiB.*'gaussian'"
    ):
        BayesEnsemble(members=members | {"gaussian": 1}).fit(X, y)
