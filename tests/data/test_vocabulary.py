"""Vocabularies join as variables do, word by word or code by code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import SchemaError
from bayeswater.data.variable import Variable
from bayeswater.data.vocabulary import joined

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), unique=True, max_size=8).map(tuple)


@given(WORDS, WORDS)
def test_the_joined_vocabulary_is_the_union_and_the_codes_lead_to_the_same_words(a, b):
    mine, theirs = Variable("t", a, frozenset(a[:1])), Variable("t", b, frozenset(b[-1:]))
    both, my_codes, their_codes = joined(mine, theirs)
    assert both == mine.union(theirs)
    assert [both.states[code] for code in my_codes] == list(a)
    assert [both.states[code] for code in their_codes] == list(b)


@pytest.mark.parametrize("n", [0, 4])
def test_hashed_vocabularies_keep_their_codes(n):
    hashed = Variable.of_codes("t", 4, frozenset({3}))
    both, my_codes, their_codes = joined(hashed, Variable("t", range(n)))
    assert both == hashed
    assert np.array_equal(my_codes, np.arange(4))
    assert np.array_equal(their_codes, np.arange(n))


def test_words_do_not_join_with_codes():
    with pytest.raises(SchemaError, match="'t' holds labels in one table and integer codes in the other"):
        joined(Variable("t", ("a",)), Variable("t", range(4)))
