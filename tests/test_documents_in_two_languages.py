"""A Chinese page says what its English one says: it was written after the same text, and runs the same code."""

import re
from doctest import DocTestParser

import pytest
from tools.pages.languages import CHINESE, DOCS, STAMP, chinese_pages, english_pages, stamp

CODE = re.compile(r"^```(?:python|sh|text)\n.*?^```$|^```\{(?:snippet\} [^\n]+|picture\})", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", chinese_pages(), ids=str)
def test_a_chinese_page_carries_the_stamp_of_the_english_page_as_it_is(page):
    assert page in english_pages(), f"docs/zh/{page} has no English page"
    carried = STAMP.match((CHINESE / page).read_text())
    assert carried is not None and carried[1] == stamp(page), (
        f"docs/{page} has changed: change docs/zh/{page} alike, and let it begin with\n---\nenglish: {stamp(page)}\n---"
    )


@pytest.mark.parametrize("page", chinese_pages(), ids=str)
def test_a_chinese_page_has_the_examples_of_the_english_page(page):
    # These are run in the English pages alone: `make test` leaves docs/zh out.
    chinese, english = (CHINESE / page).read_text(), (DOCS / page).read_text()
    assert CODE.findall(chinese) == CODE.findall(english)
    assert examples(chinese) == examples(english)


def examples(text):
    return [(example.source, example.want) for example in DocTestParser().get_examples(text)]


def test_both_glossaries_have_the_same_terms_in_the_same_order():
    def terms(folder):
        headings = re.findall(r"^### (.+)$", (folder / "glossary.md").read_text(), re.MULTILINE)
        return [frozenset(re.findall(r"[\u4e00-\u9fff]+|[A-Za-z'-]+", name)) for name in headings]

    assert terms(DOCS) == terms(CHINESE)
