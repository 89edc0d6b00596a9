"""What the page of the ensemble says of its presets is what they are, in both languages."""

import re
from pathlib import Path

import pytest

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
    assert str(presets.BOOSTED_ROWS) in best
    assert set(re.findall(r"`([a-z-]+)`", best.split("`boosted`")[1])) == presets.UNLESS_BOOSTED
    assert set(re.findall(r"`([a-z-]+)`", best.split("`boosted`")[0])) == presets.IF_NAMED
    assert str(presets.MOST_COLUMNS) in next(line for line in text.splitlines() if line.startswith("| `trees-sqrt`"))
    assert stack.NO_LOSS == 0.005
    assert ("千分之五" if page.startswith("zh/") else "half a percent") in text
