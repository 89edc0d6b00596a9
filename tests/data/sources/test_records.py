"""Rows of a CSV end where a reader that goes character by character says so."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayeswater.data.sources.records import end_of_rows, has_blanks_at_edges


def end_by_characters(text: str) -> int:
    """Follow a CSV character by character: a quote opens a cell at its beginning only, two inside are one."""
    end, at_start, quoted, place = 0, True, False, 0
    while place < len(text):
        sign = text[place]
        if quoted:
            if sign == '"':
                if text[place + 1 : place + 2] == '"':
                    place += 1
                else:
                    quoted = False
        elif sign == '"' and at_start:
            quoted, at_start = True, False
        elif sign == ",":
            at_start = True
        elif sign == "\n":
            end, at_start = place + 1, True
        else:
            at_start = False
        place += 1
    return end


@given(st.text(alphabet='a",\n', max_size=40))
@example('5" of pipe,"a\nb"\n')
@example('"a""b\n",c\nd')
@example('"\n\n')
def test_the_end_of_rows_is_where_a_reader_by_characters_finds_it(text):
    assert end_of_rows(text.encode(), b",") == end_by_characters(text)


@pytest.mark.parametrize(("block", "end"), [(b"1\r2\r3", 4), (b"1\r\n2\r", 3), (b"1\r", 0), (b"", 0), (b"a;b\nc", 4)])
def test_carriage_returns_end_rows_unless_a_line_feed_may_follow(block, end):
    assert end_of_rows(block, b";") == end


@given(st.text(alphabet=' \t"a,\n\rä\xa0', max_size=12), st.sampled_from([",", "\t"]))
def test_blanks_at_the_edge_of_a_cell_are_never_missed(text, delimiter):
    cells = text.replace('"', "").replace("\r", "\n").replace("\n", delimiter).split(delimiter)
    if any(cell != cell.strip() for cell in cells):
        assert has_blanks_at_edges(text.encode(), delimiter.encode())


def test_blanks_within_cells_are_no_reason_to_trim():
    assert not has_blanks_at_edges(b'1,"New York",a b c\n2,x,\n', b",")
    assert not has_blanks_at_edges(b"1\ta b\t\t2\n", b"\t")  # tabs stand between cells
    assert has_blanks_at_edges("1,Zoë\n".encode(), b",")  # other blanks than those of ASCII may be there
