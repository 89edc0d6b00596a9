"""Loops over bytes of text: records of delimited files, clocks of moments, and words of UTF-8.

Of a CSV they find where its last whole row ends, and whether a blank stands beside the edge of a cell. A reader of CSV
is always in one of five states, and each byte leads it from one to the next. What a byte makes of all five is packed
into one word, six bits for each, so that a step is a shift by the state: nothing to guess, nothing to wait for, less
than half a nanosecond. Small blocks take the same rules as they stand in ``data.sources.records``.

Words are runs that begin with a letter and go on with letters and marks. What is a letter and what a mark is said by a
table over all code points, which also counts digits among the letters. The reference is a regular expression, the rule
of a higher room: `data/reading/words.py`, which takes it for short texts.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

ROW, CELL, PLAIN, QUOTED, CLOSING = 0, 6, 12, 18, 24
"""At the beginning of a row; of another cell; in a cell; in one in quotes; behind a quote that may have closed it.

A state is the place of its bits in a word.
"""

STRETCH = 4096
"""Bytes that are gone through again: more than a row has, in most files."""


def steps_of(delimiter: bytes) -> Array:
    r"""Give for each byte where it leads to from each state, as one word: (256,).

    >>> steps = [int(word) for word in steps_of(b",")]
    >>> steps[ord(",")] >> PLAIN & 63 == CELL, steps[ord("\n")] >> QUOTED & 63 == QUOTED
    (True, True)
    """
    steps = np.full(256, _packed({ROW: PLAIN, CELL: PLAIN, PLAIN: PLAIN, QUOTED: QUOTED, CLOSING: PLAIN}))
    steps[[*delimiter]] = _packed({ROW: CELL, CELL: CELL, PLAIN: CELL, QUOTED: QUOTED, CLOSING: CELL})
    steps[[*b"\r\n"]] = _packed({ROW: ROW, CELL: ROW, PLAIN: ROW, QUOTED: QUOTED, CLOSING: ROW})
    steps[ord('"')] = _packed({ROW: QUOTED, CELL: QUOTED, PLAIN: PLAIN, QUOTED: CLOSING, CLOSING: QUOTED})
    return steps


def _packed(following: dict[int, int]) -> np.uint64:
    return np.uint64(sum(after << state for state, after in following.items()))


@compiled
def last_row_end(block, steps):  # type: ignore[no-untyped-def]
    """Tell how many bytes (uint8) stand before the end of the last row, in a block that begins with a row.

    A carriage return ends a row; the line feed behind it, if there is one, ends it anew. The states are followed first,
    then the last stretches are gone through again for a row that ends in them: to ask each byte takes twice the time.
    """
    six_bits = np.uint64(63)
    n_stretches = -(-len(block) // STRETCH)
    first = np.empty(n_stretches, np.uint64)  # what each stretch begins with, in the lowest six bits
    word = np.uint64(ROW)
    for k in range(n_stretches):
        first[k] = word
        for place in range(k * STRETCH, min((k + 1) * STRETCH, len(block))):
            word = steps[block[place]] >> (word & six_bits)
    for k in range(n_stretches - 1, -1, -1):
        word, end = first[k], 0
        for place in range(k * STRETCH, min((k + 1) * STRETCH, len(block))):
            word = steps[block[place]] >> (word & six_bits)
            if word & six_bits == ROW:
                end = place + 1
        if end:
            return end
    return 0


@compiled
def has_blank_beside_edge(block, delimiter):  # type: ignore[no-untyped-def]
    """Say whether of two neighbours (uint8) one is a blank of ASCII, and the other a delimiter, a quote or a line end.

    Blanks that are edges themselves (tabs between cells) are no blanks. Bytes with which other blanks of UTF-8 begin or
    end count as such, also where they belong to another character. Every byte is looked at, since a loop without a
    way out works on 32 of them at once.
    """
    found = np.uint8(0)
    for place in range(len(block) - 1):
        one, other = block[place], block[place + 1]
        edge = (one == 34) | (one == 10) | (one == 13) | (one == delimiter)
        other_edge = (other == 34) | (other == 10) | (other == 13) | (other == delimiter)
        blank = ((one >= 9) & (one <= 13)) | ((one >= 28) & (one <= 32)) | ((one >= 0x80) & (one <= 0x8A))
        blank |= ((one >= 0x9F) & (one <= 0xA0)) | ((one >= 0xA8) & (one <= 0xA9)) | (one == 0xAF)
        other_blank = ((other >= 9) & (other <= 13)) | ((other >= 28) & (other <= 32))
        other_blank |= (other == 0xC2) | ((other >= 0xE1) & (other <= 0xE3))
        beside = (edge ^ other_edge) & ((edge & other_blank) | (other_edge & blank))
        found = np.uint8(found | np.uint8(beside))
    return found != 0


@compiled
def translate_bytes(text, start, table, others, first):  # type: ignore[no-untyped-def]
    """Write for each byte of rows what a table (256,) has for it, and nothing where that is 0.

    What is written and where rows begin in it are put into `others`, as long as the text, and `first` (n_rows + 1,).
    """
    first[0] = written = 0
    for row in range(len(start) - 1):
        for place in range(start[row], start[row + 1]):
            others[written] = table[text[place]]
            written += others[written] != 0
        first[row + 1] = written
    return written


COLON, COMMA, POINT, ZERO, PLUS = b":,.0+"
DIGIT = np.where(np.isin(np.arange(256), list(b"0123456789")), np.arange(256) - ZERO, -1)
"""What a byte counts as a digit, -1 where it is none (256,)."""

ONE_O_CLOCK = np.frombuffer(b"01:00:00", np.uint8)


@compiled
def take_clocks_out(text, start, others, first, microseconds):  # type: ignore[no-untyped-def]
    """Find ``8:15``, ``23:59:59`` or ``23:59:59,5`` in each row, and write the row with one o'clock in its place.

    Moments are nearly all different by their clocks; without them few are. A clock begins with one or two digits, and
    no digit before them, nor a point (as in ``8.15:30``) or a plus (as in ``+02:00``). It does not begin the row.

    Parameters
    ----------
    text, start : bytes of all rows (n_bytes,), and where each begins, last the end (n_rows + 1,)
    others, first : the same of what is written; there is room for a byte more in each row
    microseconds : since midnight (n_rows,), -1 where a row has no such clock
    """
    first[0] = written = 0
    for row in range(len(microseconds)):
        begin, end = start[row], start[row + 1]
        clock = behind = end
        seconds_begin = end
        microseconds[row] = -1
        for colon in range(begin + 2, end - 2):
            if text[colon] != COLON or DIGIT[text[colon - 1]] < 0:
                continue
            tens, ones = max(DIGIT[text[colon - 2]], 0), DIGIT[text[colon - 1]]
            clock = colon - 1 if DIGIT[text[colon - 2]] < 0 else colon - 2
            before = text[clock - 1]
            if clock <= begin or DIGIT[before] >= 0 or before in (POINT, PLUS):
                clock = end
                continue
            worst = min(DIGIT[text[colon + 1]], DIGIT[text[colon + 2]])  # -1 if one is no digit
            hour, minute = 10 * tens + ones, 10 * DIGIT[text[colon + 1]] + DIGIT[text[colon + 2]]
            second = fraction = 0
            behind = colon + 3
            if behind + 2 < end and text[behind] == COLON:
                seconds_begin = behind
                worst = min(worst, DIGIT[text[behind + 1]], DIGIT[text[behind + 2]])
                second = 10 * DIGIT[text[behind + 1]] + DIGIT[text[behind + 2]]
                behind += 3
                if behind + 1 < end and (text[behind] == COMMA or text[behind] == POINT):
                    power = 1_000_000
                    behind += 1
                    worst = min(worst, DIGIT[text[behind]])
                    while behind < end and DIGIT[text[behind]] >= 0:
                        power //= 10
                        if power == 0 and text[behind] != ZERO:
                            worst = -1
                        fraction += power * DIGIT[text[behind]]
                        behind += 1
            if worst >= 0 and hour < 24 and minute < 60 and second < 60:
                microseconds[row] = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction
            break
        for place in range(begin, clock):
            others[written] = text[place]
            written += 1
        if microseconds[row] >= 0:
            for place in range(5 if seconds_begin == end else 8):
                others[written] = ONE_O_CLOCK[place]
                written += 1
            for place in range(behind, end):
                others[written] = text[place]
                written += 1
        first[row + 1] = written
    return written


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
