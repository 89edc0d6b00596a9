"""Words in UTF-8 text: runs that begin with a letter and go on with letters and marks.

What is a letter and what a mark is said by a table over all code points, which also counts digits among the letters.
The reference is a regular expression, the rule of a higher room: `data/words.py`, which takes it for short texts.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

MARK, LETTER = 1, 2
"""Kinds of characters; 0 is all that parts words."""

N_CODES = 2**21
"""Length of the table of kinds: whatever four bytes may spell has a place in it, valid text or not."""


def word_runs(text: Array, start: Array, kind: Array) -> tuple[Array, Array, Array]:
    """Find the words of some rows.

    Parameters
    ----------
    text : bytes of all rows (n_bytes,), uint8
    start : first byte of each row, and last the end (n_rows + 1,), int64
    kind : kind of each code point (N_CODES,), uint8

    Returns
    -------
    The bytes of all words one after the other, the first byte of each and last the end (n_words + 1,), and the number
    of words in each row (n_rows,).
    """
    n_rows = len(start) - 1
    words = np.empty(len(text), dtype=np.uint8)
    # Two words of a row have a byte between them, so a row of b bytes has at most (b + 1) / 2 of them.
    first = np.empty((len(text) + n_rows) // 2 + 1, dtype=np.int64)
    per_row = np.empty(n_rows, dtype=np.int64)
    n_words = _word_runs_loop(text, start, kind, words, first, per_row)
    first = first[: n_words + 1].copy()  # the rest is not kept alive
    return words[: first[-1]], first, per_row


@compiled
def _word_runs_loop(text, start, kind, words, first, per_row):  # type: ignore[no-untyped-def]
    n_words = 0
    written = 0
    for row in range(len(per_row)):
        before = n_words
        inside = False
        p, stop = start[row], start[row + 1]
        while p < stop:
            code = np.int64(text[p])
            width = 1 if code < 0xC0 else 2 if code < 0xE0 else 3 if code < 0xF0 else 4
            if p + width > stop:  # cut off in the middle of a character
                break
            if width > 1:
                code &= 0x7F >> width
                for k in range(1, width):
                    code = code << 6 | text[p + k] & 0x3F
            if kind[code] == LETTER or (inside and kind[code] == MARK):
                if not inside:
                    inside = True
                    first[n_words] = written
                    n_words += 1
                for k in range(width):
                    words[written + k] = text[p + k]
                written += width
            else:
                inside = False
            p += width
        per_row[row] = n_words - before
    first[n_words] = written
    return n_words
