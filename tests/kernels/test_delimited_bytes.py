"""The loops over the bytes of a CSV answer as the rules that stand beside the reader of files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.data.sources.records import end_of_rows, has_blanks_at_edges
from bayeswater.kernels.delimited_bytes import STRETCH, has_blank_beside_edge


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


def test_blanks_are_seen_at_every_place_of_a_long_block():
    cells = np.frombuffer(b"x" * 70 + b",y", np.uint8)
    for place in range(70):
        block = cells.copy()
        block[place : place + 2] = [*b", "]
        assert has_blank_beside_edge(block, np.uint8(ord(",")))
    assert not has_blank_beside_edge(cells, np.uint8(ord(",")))
