"""The words of a text in many languages, against hand-made lists and an oracle that knows Unicode from Python alone.

Vocabularies join as variables do, word by word or code by code.
"""

import unicodedata
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import SchemaError
from bayeswater.data.reading import words
from bayeswater.data.reading.words import analyse, find_words, joined, kind_of_character, run_pattern
from bayeswater.data.variable import Variable
from bayeswater.kernels.text_bytes import LETTER, MARK, N_CODES

# ---------------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("   \t\n", []),
        ("... !?", []),
        ("Hello, World", ["hello", "world"]),
        ("u r 2 late 4 me", ["u", "r", "2", "late", "4", "me"]),
        ("don't O'Brien's", ["don", "t", "o", "brien", "s"]),
        ("snake_case _x __", ["snake_case", "_x", "__"]),
        ("call 0800-123 NOW!!!", ["call", "0800", "123", "now"]),
        ("e-mail: a.b@c.org", ["e", "mail", "a", "b", "c", "org"]),
        ("same same SAME", ["same", "same", "same"]),
        ("£100 = 50%", ["100", "50"]),
        ("zero\x00byte", ["zero", "byte"]),
        ("Straße ŒUVRE İ", ["straße", "œuvre", "i\u0307"]),
        ("ΟΔΟΣ οδός", ["οδος", "οδός"]),  # the last sigma of a word has a form of its own
        ("привет МИР", ["привет", "мир"]),
        ("مرحبا بالعالم ٣", ["مرحبا", "بالعالم", "٣"]),
        ("हिन्दी में", ["हिन्दी", "में"]),  # vowel signs and the virama are marks, and stay in the word
        ("안녕하세요 세계", ["안녕하세요", "세계"]),  # Korean has blanks
        ("😀 wow😀wow ❤️ 👍🏽", ["wow", "wow"]),
        ("1️⃣ first", ["1\ufe0f\u20e3", "first"]),
        ("½ x² Ⅷ", ["½", "x²", "ⅷ"]),
    ],
)
def test_words_of_languages_with_blanks(text, words):
    assert analyse(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("中", ["中"]),
        ("免费", ["免", "费", "免费"]),
        ("恭喜您中奖", ["恭", "喜", "您", "中", "奖", "恭喜", "喜您", "您中", "中奖"]),
        ("你好，世界！", ["你", "好", "你好", "世", "界", "世界"]),  # no pair across punctuation
        ("你好 世界", ["你", "好", "你好", "世", "界", "世界"]),
        ("东京は晴れ", ["东", "京", "は", "晴", "れ", "东京", "京は", "は晴", "晴れ"]),
        ("コーヒー", ["コ", "ー", "ヒ", "ー", "コー", "ーヒ", "ヒー"]),  # the sign of a long vowel belongs to Katakana
        ("人々・〇", ["人", "々", "人々", "〇"]),
        ("ｶﾅ", ["ｶ", "ﾅ", "ｶﾅ"]),
        ("𠮷野家", ["𠮷", "野", "家", "𠮷野", "野家"]),
        ("免费iPhone", ["免", "费", "免费", "iphone"]),
        ("iPhone免费", ["iphone", "免", "费", "免费"]),
        ("2024年中", ["2024", "年", "中", "年中"]),
        ("买2送1", ["买", "2", "送", "1"]),  # no pair across digits
        ("T恤a", ["t", "恤", "a"]),
        ("ไทย", ["ไ", "ท", "ย", "ไท", "ทย"]),
        ("ខ្មែរ", ["ខ", "្", "ម", "ែ", "រ", "ខ្", "្ម", "មែ", "ែរ"]),
        ("ㄅㄆ", ["ㄅ", "ㄆ", "ㄅㄆ"]),
    ],
)
def test_scripts_without_blanks_give_characters_and_pairs(text, words):
    assert analyse(text) == words


@pytest.mark.parametrize("text", ["Café", "ガス", "각", "Ǻ", "\uf900"])
def test_a_word_is_the_same_however_its_accents_were_typed(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert analyse(text) == analyse(composed) == analyse(decomposed)


# ---------------------------------------------------------------------- the oracle


def unspaced(character):
    return words.is_unspaced(np.array([ord(character)])).all()


UNSPACED_NAMES = ("CJK", "HIRAGANA", "KATAKANA", "HENTAIGANA", "BOPOMOFO", "THAI", "LAO", "MYANMAR", "KHMER")


def is_unspaced(character):
    name = unicodedata.name(character, "")
    return name.startswith((*UNSPACED_NAMES, "HALFWIDTH KATAKANA")) or unspaced(character)


def expected(text):
    runs, before = [], False
    for character in text:
        category = unicodedata.category(character)[0]
        if category in "LN" or character == "_":
            if not before:
                runs.append("")
            before = True
        elif category != "M":
            before = False
        if before:
            runs[-1] += character
    words = []
    for run in runs:
        run = unicodedata.normalize("NFC", run.lower())
        pieces = []
        for character in run:
            if not pieces or is_unspaced(pieces[-1][-1]) != is_unspaced(character):
                pieces.append("")
            pieces[-1] += character
        for piece in pieces:
            if is_unspaced(piece[0]):
                words += [*piece, *(a + b for a, b in pairwise(piece))]
            else:
                words.append(piece)
    return words


USUAL = st.sampled_from("abcXYZ019_ .,'-éÀßΣσς中文日本のカタカナ한글กไ\u0301\u3099\u0903😀\ufe0f\u200d")
TEXTS = st.one_of(
    st.text(USUAL, max_size=25), st.text(st.one_of(USUAL, st.characters(exclude_categories=["Cs"])), max_size=25)
)


@given(TEXTS)
def test_the_words_are_those_of_the_definition(text):
    assert analyse(text) == expected(text)


@given(st.lists(TEXTS, max_size=5))
@pytest.mark.parametrize("use_loop", [False, True], ids=["expression", "loop"])
def test_the_words_of_many_rows_are_those_of_each(use_loop, texts):
    words, per_row = find_words(pa.array(texts, pa.large_string()), use_loop=use_loop)
    found = iter(words.to_pylist())
    assert [[next(found) for _ in range(n)] for n in per_row] == [expected(text) for text in texts]
    assert next(found, None) is None


# ---------------------------------------------------------------------- the table of characters


def every_character():
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def test_the_table_says_of_every_character_what_unicode_says():
    expected = np.zeros(N_CODES, dtype=np.uint8)
    for character in every_character():
        category = unicodedata.category(character)[0]
        expected[ord(character)] = LETTER if category in "LN" or character == "_" else MARK if category == "M" else 0
    assert np.array_equal(kind_of_character(), expected)


def test_the_expression_says_of_every_character_what_the_table_says():
    characters = [c for c in every_character() if unicodedata.category(c) not in ("Cn", "Co")]  # assigned, and public
    kind = kind_of_character()
    alone = run_pattern().findall(" ".join(characters))
    assert alone == [character for character in characters if kind[ord(character)] == LETTER]
    after_a_letter = run_pattern().findall(" ".join(f"a{character}" for character in characters))
    assert [run[1:] for run in after_a_letter] == [c if kind[ord(c)] else "" for c in characters]


def test_every_letter_of_a_script_without_blanks_is_known_as_one():
    for character in every_character():
        if unicodedata.category(character)[0] in "LMN" and unicodedata.name(character, "").startswith(UNSPACED_NAMES):
            assert unspaced(character), unicodedata.name(character)


def test_letters_of_other_scripts_are_not_taken_for_such():
    for character in every_character():
        name = unicodedata.name(character, "")
        if name.startswith(
            ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW", "DEVANAGARI", "HANGUL SYLLABLE", "DIGIT")
        ):
            assert not unspaced(character), name


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
