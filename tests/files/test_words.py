"""Words as bytes and back."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import ModelFileError
from bayeswater.files.words import words_as_bytes, words_of_bytes

WORDS = st.text(st.characters(exclude_categories=["Cs"]))  # all characters but halves of pairs


@given(st.lists(WORDS))
def test_words_come_back(words):
    assert words_of_bytes(words_as_bytes(words, "here"), len(words), "here") == tuple(words)


@given(words=st.lists(WORDS, min_size=1), data=st.data())
def test_bytes_that_were_changed_are_refused_or_other_words(words, data):
    text = words_as_bytes(words, "here").copy()
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = words_of_bytes(text, len(words), "here")
    except ModelFileError as error:
        assert "here" in str(error)
    else:
        assert words_as_bytes(found, "here").tobytes() == text.tobytes()


def test_half_a_character_is_named():
    with pytest.raises(
        ModelFileError, match=re.escape(r"column 'x' has the word 'a\ud800', which a model file cannot")
    ):
        words_as_bytes(["a\ud800"], "column 'x'")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"a\xffb\xff", "has 2 words, and counts of 1"),
        (b"", "has 0 words, and counts of 1"),
        (b"a\xffb", "have no end"),
        (b"\xc3\xff", "are no text"),
        (b"\xed\xa0\x80\xff", "are no text"),  # half a character
    ],
)
def test_bytes_that_are_no_words_are_refused(text, problem):
    with pytest.raises(ModelFileError, match=problem):
        words_of_bytes(np.frombuffer(text, dtype=np.uint8), 1, "column 'x'")
