"""Lessons show all of their code, in the order in which it runs, and so do the notebooks that are made of them."""

import re

import pytest
from tools.pages.languages import CHINESE, DOCS

LESSONS = sorted(file.stem for file in (DOCS / "learn").glob("*.md"))
SHOWN = re.compile(r"^```\{(?:(picture)\} .+|snippet\} (.+))$", re.MULTILINE)


@pytest.mark.parametrize("folder", [DOCS, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_shows_every_section_of_its_code_once_and_in_order(lesson, folder):
    sections = re.findall(r"^## (.+)$", (DOCS / f"learn/{lesson}.pycon").read_text(), re.MULTILINE)
    shown = SHOWN.findall((folder / f"learn/{lesson}.md").read_text())
    assert [picture or name for picture, name in shown] == sections
    assert sections.count("picture") == 1
