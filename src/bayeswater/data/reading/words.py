"""The words of a text, in any language.

A text is cut into runs: a letter, a digit or an underscore, and all letters, digits, underscores and marks (accents,
vowel signs) after it. A run in lower case is a word, were it one character: "u" and "2" say something in a short
message. Scripts that are written without blanks (Chinese, Japanese, Thai, ...) put a whole clause into one run. There
every character is a word and so is every pair of neighbours, for which no dictionary is needed.

With `pairs`, two neighbouring words are one more word, with a blank between them, and so are three neighbouring
characters of a script without blanks: "not good" says what neither of its words does.

Letters, marks and digits are those of Python's Unicode, and so is lower case. A word is brought to its composed form
(NFC), so that an accent counts the same however it was typed.

Runs are found row by row with a regular expression, or in many rows with the kernel and a table of the same characters,
and told apart by Arrow (dictionary encoding). So Python lowers every distinct run but once.

Two vocabularies are joined without looking at each word in Python: they may have a hundred thousand words each.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING
from unicodedata import category, normalize

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.kernels.runs import starts_of
from bayeswater.kernels.text_bytes import LETTER, MARK, N_CODES, word_runs
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"  # Burmese, Khmer
    "\u3000-\u312f\u31a0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana with its sign of long vowels, Bopomofo
    "\u3400-\u9fff\uf900-\ufaff"  # Han
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"  # older Kana, rare Han
)
"""Characters of scripts without blanks between words, as a character class; Korean has blanks."""

UNSPACED_BOUNDS = np.sort([ord(UNSPACED[i]) + (i % 3 == 2) for i in range(len(UNSPACED)) if i % 3 != 1])
"""Where stretches of these characters begin and end, in turn."""

ASCII_RUN = re.compile(r"\w+", re.ASCII)
"""A run of a text without marks, which is found in a fraction of the time."""

CODE_BITS = 21
"""Bits of a code point: three characters fit into 63."""

TWO, THREE = 2, 3
"""Characters of a script without blanks that are one word, at most."""

PAIR_BITS = 32
LOW = (1 << PAIR_BITS) - 1
"""Bits of the number of a word: a pair of words fits into 64."""

PLANES = (0, 1, 2, 3, 14)
"""Planes of 65536 code points that have letters or marks; the others are empty, or for private use."""


def analyse(text: str) -> list[str]:
    """List the words of a text; of a stretch without blanks, its characters and then the pairs.

    >>> analyse("FREE entry!! Txt u2 WIN_IT, café's £100")
    ['free', 'entry', 'txt', 'u2', 'win_it', 'café', 's', '100']
    >>> analyse("免费iPhone")
    ['免', '费', '免费', 'iphone']
    """
    import pyarrow as pa

    words, _ = find_words(pa.array([text], pa.large_string()), use_loop=False)
    return words.to_pylist()


def find_words(
    texts: "pa.LargeStringArray", *, use_loop: bool, pairs: bool = False
) -> "tuple[pa.DictionaryArray, Array]":
    """Find the words of all rows, one after the other, and how many each row has (n_rows,); no row may be null."""
    import pyarrow as pa

    runs, per_row = find_runs(texts, use_loop=use_loop)
    encoded = runs.dictionary_encode()
    words, n_spaced, which, start = _words_of_runs(encoded.dictionary.to_pylist(), THREE if pairs else TWO)
    run = encoded.indices.to_numpy()
    row = np.repeat(np.arange(len(per_row)), per_row)
    if len(which) == len(start) - 1:  # every run is one word
        numbers = which[run]
    else:
        length = start[run + 1] - start[run]
        before = starts_of(length)  # words of all rows that stand before each run
        numbers = which[np.arange(before[-1]) + np.repeat(start[run] - before[:-1], length)]
        last = np.cumsum(per_row)
        per_row = before[last] - before[last - per_row]
    if pairs:
        words, numbers, per_row = _with_pairs(words, numbers, per_row, _neighbours(run, row, n_spaced, which, start))
    return pa.DictionaryArray.from_arrays(numbers.astype(np.int32), pa.array(words, pa.large_string())), per_row


def _neighbours(run: Array, row: Array, n_spaced: int, which: Array, start: Array) -> tuple[Array, Array, Array]:
    """Give the words of neighbouring runs in one row, each of which is one word: the row of each pair, and both."""
    word = which[start[:-1]]  # every run has a word
    is_word = (np.diff(start) == 1) & (word < n_spaced)
    first, second = run[:-1], run[1:]
    kept = (row[:-1] == row[1:]) & is_word[first] & is_word[second]
    return row[:-1][kept], word[first[kept]], word[second[kept]]


def _with_pairs(
    words: list[str], numbers: Array, per_row: Array, neighbours: tuple[Array, Array, Array]
) -> tuple[list[str], Array, Array]:
    """Add pairs of words to those of all rows: the words with pairs behind them, their numbers, and how many."""
    row, first, second = neighbours
    distinct, pair = np.unique(first.astype(np.int64) << PAIR_BITS | second, return_inverse=True)
    spelled = [
        f"{words[a]} {words[b]}"
        for a, b in zip((distinct >> PAIR_BITS).tolist(), (distinct & LOW).tolist(), strict=True)
    ]
    rows = np.concatenate([np.repeat(np.arange(len(per_row)), per_row), row])
    both = np.concatenate([numbers, len(words) + pair])[np.argsort(rows, kind="stable")]
    return words + spelled, both, per_row + np.bincount(row, minlength=len(per_row))


def find_runs(texts: "pa.LargeStringArray", *, use_loop: bool) -> "tuple[pa.LargeStringArray, Array]":
    """Find the runs of all rows, one after the other, and how many each row has (n_rows,); no row may be null."""
    import pyarrow as pa

    if use_loop:
        start = np.frombuffer(texts.buffers()[1], dtype=np.int64)[texts.offset :][: len(texts) + 1]
        text = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)[start[0] : start[-1]]
        words, first, per_row = word_runs(text, start - start[0], kind_of_character())
        return pa.LargeStringArray.from_buffers(len(first) - 1, pa.py_buffer(first), pa.py_buffer(words)), per_row
    found = [(ASCII_RUN if text.isascii() else run_pattern()).findall(text) for text in texts.to_pylist()]
    return pa.array(chain.from_iterable(found), pa.large_string()), np.array(
        [len(runs) for runs in found], dtype=np.int64
    )


def _words_of_runs(runs: list[str], longest: int) -> tuple[list[str], int, Array, Array]:
    """Cut runs into words.

    Returns all words, how many of them, which stand first, have blanks around them, the numbers of those that each run
    has, one run after the other, and where the numbers of each run begin (n_runs + 1,).
    """
    lower = [run.lower() if run.isascii() else normalize("NFC", run.lower()) for run in runs]
    text = "".join(lower)
    unspaced_at = np.zeros(0, dtype=bool) if text.isascii() else is_unspaced(_code_points(text))
    if not unspaced_at.any():
        return lower, len(lower), np.arange(len(lower)), np.arange(len(lower) + 1)
    run = np.repeat(np.arange(len(lower)), [len(own) for own in lower])
    begins = np.append(True, (run[1:] != run[:-1]) | (unspaced_at[1:] != unspaced_at[:-1]))
    first = np.flatnonzero(begins)
    pieces = [text[a:b] for a, b in pairwise([*first.tolist(), len(text)])]
    plain, unspaced = np.flatnonzero(~unspaced_at[first]), np.flatnonzero(unspaced_at[first])
    grams, number, stretch = _character_grams([pieces[i] for i in unspaced], longest)
    words = [pieces[i] for i in plain] + grams
    piece = np.concatenate([plain, unspaced[stretch]])  # that each word comes from
    which = np.concatenate([np.arange(len(plain)), len(plain) + number])
    start_of_piece = starts_of(np.bincount(piece, minlength=len(pieces)))
    return (
        words,
        len(plain),
        which[np.argsort(piece, kind="stable")],
        start_of_piece[starts_of(np.bincount(run[first], minlength=len(lower)))],
    )


def _character_grams(stretches: list[str], longest: int) -> tuple[list[str], Array, Array]:
    """List the characters, and the two or three neighbours, in stretches without blanks.

    Returns the distinct ones, the numbers of those that all stretches have, and the stretch of each; in a stretch,
    characters stand before pairs, and pairs before what is longer.
    """
    import pyarrow as pa

    code = _code_points("".join(stretches))
    stretch = np.repeat(np.arange(len(stretches)), [len(characters) for characters in stretches])
    grams, places = [code], [stretch]
    for length in range(1, longest):
        within = stretch[:-length] == stretch[length:]
        grams.append(_together(code, length + 1)[within])
        places.append(stretch[:-length][within])
    encoded = pa.array(np.concatenate(grams)).dictionary_encode()  # in a third of the time that sorting takes
    distinct, number = encoded.dictionary.to_numpy(), encoded.indices.to_numpy().astype(np.int64)
    return _spelled(distinct, longest), number, np.concatenate(places)


def is_unspaced(code: Array) -> Array:
    """Mark characters of scripts without blanks between words."""
    found: Array = np.searchsorted(UNSPACED_BOUNDS, code, side="right") % 2 == 1
    return found


def stand_alone(words: Sequence[str]) -> Array:
    """Mark words that are no pairs of words, nor three characters of a script without blanks, whose words are alike.

    >>> stand_alone(["not good", "not", "不好", "不好吃"])
    array([False,  True,  True, False])
    """
    of_three = {word[0] for word in words if len(word) == THREE}
    unspaced = {letter for letter in of_three if is_unspaced(np.array([ord(letter)]))[0]}
    return np.array([not (" " in word or (len(word) == THREE and word[0] in unspaced)) for word in words], dtype=bool)


def _spelled(grams: Array, longest: int) -> list[str]:
    """Give codes of up to `longest` characters, the last one in the lowest bits, as texts."""
    for _ in range(longest - 1):  # the first character goes to the highest bits
        grams = np.where(grams >> (CODE_BITS * (longest - 1)) == 0, grams << CODE_BITS, grams)
    parts = [grams >> (CODE_BITS * i) & ((1 << CODE_BITS) - 1) for i in reversed(range(longest))]
    found: list[str] = np.stack(parts, axis=1).astype("<u4").view(f"<U{longest}").ravel().tolist()
    return found


def _together(code: Array, length: int) -> Array:
    """Put `length` neighbouring characters together, wherever they stand."""
    found = code
    for i in range(1, length):
        found = found[:-1] << CODE_BITS | code[i:]
    return found


@cache
def run_pattern() -> re.Pattern[str]:
    r"""Give the expression of a run: ``\w``, which is a letter, a digit or an underscore, then these and marks."""
    return re.compile(rf"\w[\w{_marks()}]*")


@cache
def kind_of_character() -> Array:
    """Give the kind of every character, as `run_pattern` has it, for the kernel: (N_CODES,)."""
    kind = np.zeros(N_CODES, dtype=np.uint8)
    for which, characters in ((MARK, _marks()), (LETTER, "".join(re.findall(r"\w+", _characters())))):
        kind[_code_points(characters)] = which
    return kind


@cache
def _marks() -> str:
    others = re.sub(r"\w+", "", _characters())
    return "".join(character for character, kind in zip(others, map(category, others), strict=True) if kind[0] == "M")


def _characters() -> str:
    """All characters that may be letters or marks; surrogates are none."""
    code = np.arange(17 << 16, dtype="<u4").reshape(17, -1)[list(PLANES)].ravel()
    return code[(code < 0xD800) | (code >= 0xE000)].tobytes().decode("utf-32-le")


def _code_points(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.int64)


def joined(mine: Variable, theirs: Variable) -> tuple[Variable, Array, Array]:
    """Join two vocabularies: all words, and the code among them of each of mine and of each of theirs.

    It is `Variable.union`, for words or for the codes of hashed ones. Arrow ranks words by their bytes in UTF-8, which
    is the order in which Python sorts them.

    >>> both, mine, theirs = joined(Variable("text", ("be", "to")), Variable("text", ("not", "to")))
    >>> both.states, mine, theirs
    (('be', 'not', 'to'), array([0, 2]), array([1, 2]))
    """
    if mine.is_coded or theirs.is_coded or tuple(mine.states) == tuple(theirs.states):
        return mine.union(theirs), np.arange(mine.n_states), np.arange(theirs.n_states)
    states, rank = sorted_words([*theirs.states, *mine.states])
    my_codes, their_codes = rank[theirs.n_states :], rank[: theirs.n_states]
    return Variable(mine.name, states, mine.declared | theirs.declared), my_codes, their_codes


def sorted_words(words: list[str]) -> tuple[tuple[str, ...], Array]:
    """Sort words, each once, and give the place of each of those that came.

    >>> sorted_words(["to", "be", "to"])
    (('be', 'to'), array([1, 0, 1]))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not words:
        return (), np.zeros(0, dtype=np.int64)
    ranks = pc.rank(pa.array(words, pa.large_string()), sort_keys="ascending", tiebreaker="dense")
    rank = ranks.to_numpy().astype(np.int64) - 1
    states = np.empty(int(rank.max()) + 1, dtype=object)
    states[rank] = words
    return tuple(states.tolist()), rank
