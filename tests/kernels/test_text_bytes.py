"""The loops over the bytes of a CSV answer as the rules that stand beside the reader of files.

Words in UTF-8 text, found by the loop: those of the regular expression, and no step beyond the text of any bytes.
"""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.data.reading.words import find_runs, kind_of_character
from bayeswater.data.sources.records import end_of_rows, has_blanks_at_edges
from bayeswater.kernels.text_bytes import (
    N_CODES,
    STRETCH,
    _word_runs_loop,
    has_blank_beside_edge,
    take_clocks_out,
    translate_bytes,
    word_runs,
)


@given(st.text(alphabet='a"\t,é\r\n', max_size=40), st.sampled_from([b",", b"\t"]))
def test_the_end_of_the_last_row_is_that_of_the_written_rules(text, delimiter):
    block = text.encode()
    assert end_of_rows(block, delimiter, use_loop=True) == end_of_rows(block, delimiter, use_loop=False)


@pytest.mark.parametrize("n_before", [0, 1, STRETCH - 3, STRETCH - 2, STRETCH - 1, STRETCH])
@pytest.mark.parametrize("n_behind", [0, 1, STRETCH, 3 * STRETCH])
def test_the_end_is_found_whichever_stretch_it_stands_in(n_before, n_behind):
    rows = b"x" * n_before + b',"\n"\n'
    assert end_of_rows(rows + b'"' + b"\n" * n_behind, b",", use_loop=True) == len(rows)


@given(st.text(alphabet=' \t\v\f\x1c\x1f"a,\n\r!\x08\x1b', max_size=12), st.sampled_from([b",", b"\t", b" "]))
def test_blanks_are_seen_beside_edges_and_nowhere_else(text, delimiter):
    block = text.encode()
    assert has_blanks_at_edges(block, delimiter, use_loop=True) == has_blanks_at_edges(block, delimiter, use_loop=False)


@pytest.mark.parametrize("blank", [chr(code) for code in range(0x80, 0x3001) if chr(code).isspace()])
def test_every_blank_is_seen_beside_an_edge_of_a_long_block(blank):
    for cell in (f"{blank}7 €", f"7 €{blank}"):
        assert has_blanks_at_edges(f"1,{cell},2\n".encode(), b",", use_loop=True)
    assert not has_blanks_at_edges("1,7 €,2\n".encode(), b",", use_loop=True)


def test_blanks_are_seen_at_every_place_of_a_long_block():
    cells = np.frombuffer(b"x" * 70 + b",y", np.uint8)
    for place in range(70):
        block = cells.copy()
        block[place : place + 2] = [*b", "]
        assert has_blank_beside_edge(block, np.uint8(ord(",")))
    assert not has_blank_beside_edge(cells, np.uint8(ord(",")))


# One, two, three and four bytes; letters, digits, marks, and what parts words.
CHARACTERS = "aZ_0é߉\u0301\u0903ß٣中が\u3099ーก\u0e35한𐐷𠮷\U000e0101 .'-£€😀\u200d\ufe0f\n\x00"
ROWS = st.lists(st.text(CHARACTERS, max_size=12), min_size=1, max_size=6)


def encoded(rows):
    parts = [row.encode() for row in rows]
    start = np.cumsum([0, *map(len, parts)])
    return np.frombuffer(b"".join(parts), dtype=np.uint8), start


def words_in(rows):
    words, first, per_row = word_runs(*encoded(rows), kind_of_character())
    found = [words[a:b].tobytes().decode() for a, b in pairwise(first)]
    ends = np.cumsum([0, *per_row])
    return [found[a:b] for a, b in pairwise(ends)]


def test_words_of_every_row_in_their_order():
    assert words_in(["two words", "", " 3_b! ", "naïve 中文"]) == [["two", "words"], [], ["3_b"], ["naïve", "中文"]]


def test_a_word_ends_with_its_row():
    assert words_in(["ab", "cd"]) == [["ab"], ["cd"]]


def test_a_mark_without_a_letter_is_no_word():
    assert words_in(["\u0301a\u0301", "x \u0301", "❤\ufe0f"]) == [["a\u0301"], ["x"], []]


def test_as_many_words_as_can_be_have_room():
    assert words_in(["a b c", "d", "e f"]) == [["a", "b", "c"], ["d"], ["e", "f"]]
    assert words_in(["a"] * 9) == [["a"]] * 9


@given(ROWS)
def test_the_loop_finds_what_the_regular_expression_finds(rows):
    texts = pa.array(rows, pa.large_string())
    by_expression, by_loop = (find_runs(texts, use_loop=use_loop) for use_loop in (False, True))
    assert by_loop[0].to_pylist() == by_expression[0].to_pylist()
    assert by_loop[1].tolist() == by_expression[1].tolist()


@given(st.lists(st.binary(max_size=12), min_size=1, max_size=4))
def test_bytes_that_are_no_text_do_no_harm(rows):
    start = np.cumsum([0, *map(len, rows)])
    text = np.frombuffer(b"".join(rows), dtype=np.uint8)
    n_rows, n_bytes = len(rows), len(text)
    kind = np.full(N_CODES, 2, dtype=np.uint8)  # every place of the table may be asked for
    words, per_row = np.empty(n_bytes, dtype=np.uint8), np.empty(n_rows, dtype=np.int64)
    first = np.empty((n_bytes + n_rows) // 2 + 1, dtype=np.int64)
    n_words = _word_runs_loop.loop(text, start, kind, words, first, per_row)  # uncompiled: a step too far is an error
    assert per_row.sum() == n_words <= n_rows
    assert first[n_words] <= n_bytes


@pytest.mark.parametrize(
    ("row", "rest", "microseconds"),
    [
        (b"1.2.2023 8:15 PM", b"1.2.2023 01:00 PM", 29_700_000_000),
        (b"31/Dec/2023:23:59:59.25 Z", b"31/Dec/2023:01:00:00 Z", 86_399_250_000),
        (b"8:15", b"8:15", -1),
        (b"1.2.2023 24:00", b"1.2.2023 ", -1),
    ],
)
def test_a_clock_is_taken_out_of_a_moment(row, rest, microseconds):
    rows = row + b"5:55"  # what follows belongs to another row
    others, first, found = np.zeros(len(rows) + 2, np.uint8), np.zeros(3, np.int32), np.zeros(2, np.int64)
    start = np.array([0, len(row), len(rows)], np.int32)
    take_clocks_out(np.frombuffer(rows, np.uint8), start, others, first, found)
    assert (others[: first[1]].tobytes(), found.tolist()) == (rest, [microseconds, -1])


@given(st.lists(st.binary(max_size=5), max_size=6))
def test_bytes_of_rows_are_put_into_other_words_or_dropped(rows):
    text, start = np.frombuffer(b"".join(rows), np.uint8), np.cumsum([0, *map(len, rows)]).astype(np.int32)
    table = np.where(np.arange(256) % 3 == 0, 0, np.arange(256)[::-1]).astype(np.uint8)
    others, first = np.empty(len(text) + 1, np.uint8), np.empty_like(start)
    translate_bytes(text, start, table, others, first)
    written = [others[a:b].tobytes() for a, b in pairwise(first.tolist())]
    assert written == [bytes(255 - byte for byte in row if byte % 3 and byte != 255) for row in rows]
