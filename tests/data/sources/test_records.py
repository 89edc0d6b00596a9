"""Rows of a CSV end where a reader that goes character by character says so, and blanks at edges are all seen."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayeswater.data.sources.records import end_of_rows, has_blanks_at_edges, worth_loops

BOTH_WAYS = pytest.mark.parametrize("use_loop", [False, True])


def end_by_characters(text: str) -> int:
    """Follow a CSV character by character: a quote opens a cell at its beginning only, two inside are one."""
    end, at_start, quoted, place = 0, True, False, 0
    while place < len(text):
        sign, following = text[place], text[place + 1 : place + 2]
        if quoted:
            if sign == '"':
                if following == '"':
                    place += 1
                else:
                    quoted = False
        elif sign == '"' and at_start:
            quoted, at_start = True, False
        elif sign == ",":
            at_start = True
        elif sign == "\n" or (sign == "\r" and following not in ("", "\n")):
            end, at_start = place + 1, True
        else:
            at_start = False
        place += 1
    return end


@given(st.text(alphabet='a",\r\n', max_size=40))
@example('5" of pipe,"a\nb"\n')
@example('"a""b\n",c\nd')
@example('"\n\n')
@example('"a"b"c\n"\n')
@example('"a\r\n"\r\nb\r')
@BOTH_WAYS
def test_the_end_of_rows_is_where_a_reader_by_characters_finds_it(use_loop, text):
    assert end_of_rows(text.encode(), b",", use_loop=use_loop) == end_by_characters(text)


@BOTH_WAYS
@pytest.mark.parametrize(
    ("block", "end"),
    [(b"1\r2\r3", 4), (b'"1"\r2\r3', 6), (b'"1"\r\n2\r', 5), (b'"1"\r', 0), (b"", 0), (b"a;b\nc", 4)],
)
def test_carriage_returns_end_rows_unless_a_line_feed_may_follow(block, end, use_loop):
    assert end_of_rows(block, b";", use_loop=use_loop) == end


@BOTH_WAYS
@given(st.text(alphabet=' \t"a,\n\rä\xa0', max_size=12), st.sampled_from([",", "\t"]))
def test_blanks_at_the_edge_of_a_cell_are_never_missed(use_loop, text, delimiter):
    cells = text.replace('"', "").replace("\r", "\n").replace("\n", delimiter).split(delimiter)
    if any(cell != cell.strip() for cell in cells):
        assert has_blanks_at_edges(text.encode(), delimiter.encode(), use_loop=use_loop)


@BOTH_WAYS
def test_blanks_within_cells_are_no_reason_to_trim(use_loop):
    assert not has_blanks_at_edges(b'1,"New York",a b c\n2,x,\n', b",", use_loop=use_loop)
    assert not has_blanks_at_edges(b"1\ta b\t\t2\n", b"\t", use_loop=use_loop)  # tabs stand between cells
    assert has_blanks_at_edges("1,Zoë\u00a0\n".encode(), b",", use_loop=use_loop)  # other blanks than of ASCII


def test_short_files_wait_for_no_loop_to_load():
    assert not worth_loops(10**6)
    assert worth_loops(10**7)
