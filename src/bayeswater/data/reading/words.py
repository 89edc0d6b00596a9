"""The words of a text, in any language.

A text is cut into runs: a letter, a digit or an underscore, and all letters, digits, underscores and marks (accents,
vowel signs) after it. A run in lower case is a word, were it one character: "u" and "2" say something in a short
message. Scripts that are written without blanks (Chinese, Japanese, Thai, ...) put a whole clause into one run. There
every character is a word and so is every pair of neighbours, for which no dictionary is needed.

Letters, marks and digits are those of Python's Unicode, and so is lower case. A word is brought to its composed form
(NFC), so that an accent counts the same however it was typed.

Runs are found row by row with a regular expression, or in many rows with the kernel and a table of the same characters,
and told apart by Arrow (dictionary encoding). So Python lowers every distinct run but once.

Two vocabularies are joined without looking at each word in Python: they may have a hundred thousand words each.
"""

import re
from functools import cache
from itertools import chain
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

UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
PIECES = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")

CODE_BITS = 21
"""Bits of a code point: a pair of characters fits into 64."""

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


def find_words(texts: "pa.LargeStringArray", *, use_loop: bool) -> "tuple[pa.DictionaryArray, Array]":
    """Find the words of all rows, one after the other, and how many each row has (n_rows,); no row may be null."""
    import pyarrow as pa

    runs, per_row = find_runs(texts, use_loop=use_loop)
    encoded = runs.dictionary_encode()
    words, which, start = _words_of_runs(encoded.dictionary.to_pylist())
    run = encoded.indices.to_numpy()
    if len(which) == len(start) - 1:  # every run is one word
        numbers = which[run]
    else:
        length = start[run + 1] - start[run]
        before = starts_of(length)  # words of all rows that stand before each run
        numbers = which[np.arange(before[-1]) + np.repeat(start[run] - before[:-1], length)]
        last = np.cumsum(per_row)
        per_row = before[last] - before[last - per_row]
    return pa.DictionaryArray.from_arrays(numbers.astype(np.int32), pa.array(words, pa.large_string())), per_row


def find_runs(texts: "pa.LargeStringArray", *, use_loop: bool) -> "tuple[pa.LargeStringArray, Array]":
    """Find the runs of all rows, one after the other, and how many each row has (n_rows,); no row may be null."""
    import pyarrow as pa

    if use_loop:
        start = np.frombuffer(texts.buffers()[1], dtype=np.int64)[texts.offset :][: len(texts) + 1]
        text = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)[start[0] : start[-1]]
        words, first, per_row = word_runs(text, start - start[0], kind_of_character())
        return pa.LargeStringArray.from_buffers(len(first) - 1, pa.py_buffer(first), pa.py_buffer(words)), per_row
    found = [run_pattern().findall(text) for text in texts.to_pylist()]
    return pa.array(chain.from_iterable(found), pa.large_string()), np.array(
        [len(runs) for runs in found], dtype=np.int64
    )


def _words_of_runs(runs: list[str]) -> tuple[list[str], Array, Array]:
    """Cut runs into words.

    Returns all words, the numbers of those that each run has, one run after the other, and where the numbers of each
    run begin (n_runs + 1,).
    """
    lower = [run.lower() if run.isascii() else normalize("NFC", run.lower()) for run in runs]
    if not any(UNSPACED_RUN.search(run) for run in lower if not run.isascii()):
        return lower, np.arange(len(lower)), np.arange(len(lower) + 1)
    cut = [[run] if run.isascii() else PIECES.findall(run) for run in lower]
    pieces = list(chain.from_iterable(cut))
    is_unspaced = np.array([UNSPACED_RUN.match(piece) is not None for piece in pieces])
    plain, unspaced = np.flatnonzero(~is_unspaced), np.flatnonzero(is_unspaced)
    grams, number, stretch = _characters_and_pairs([pieces[i] for i in unspaced])
    words = [pieces[i] for i in plain] + grams
    piece = np.concatenate([plain, unspaced[stretch]])  # that each word comes from
    which = np.concatenate([np.arange(len(plain)), len(plain) + number])
    start_of_piece = starts_of(np.bincount(piece, minlength=len(pieces)))
    return words, which[np.argsort(piece, kind="stable")], start_of_piece[starts_of([len(found) for found in cut])]


def _characters_and_pairs(stretches: list[str]) -> tuple[list[str], Array, Array]:
    """List the characters and the pairs of neighbours in stretches without blanks.

    Returns the distinct ones, the numbers of those that all stretches have, and the stretch of each; in a stretch,
    characters stand before pairs.
    """
    code = _code_points("".join(stretches))
    stretch = np.repeat(np.arange(len(stretches)), [len(characters) for characters in stretches])
    within = stretch[:-1] == stretch[1:]
    pairs = (code[:-1] << CODE_BITS | code[1:])[within]
    distinct, number = np.unique(np.concatenate([code, pairs]), return_inverse=True)
    first, second = distinct >> CODE_BITS, distinct & ((1 << CODE_BITS) - 1)
    grams = [(chr(a) if a else "") + chr(b) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    return grams, number, np.concatenate([stretch, stretch[:-1][within]])


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
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pa.array([*mine.states, *theirs.states], pa.large_string())
    rank = pc.rank(words, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64) - 1
    my_codes, their_codes = rank[: mine.n_states], rank[mine.n_states :]
    states = np.empty(int(rank.max()) + 1, dtype=object)
    for codes, variable in ((their_codes, theirs), (my_codes, mine)):
        states[codes] = variable.states
    return Variable(mine.name, tuple(states.tolist()), mine.declared | theirs.declared), my_codes, their_codes
