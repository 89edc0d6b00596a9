"""HTML of tables: what comes from data is text, and keeps its place."""

import re

from bayeswater.markup import Safe, html_table, paragraphs, step


def test_a_name_turns_nothing_beside_it_and_a_long_one_leaves_the_figures_their_room():
    table = html_table(["", "n"], [["abc\u202eevil", "7"], ["L" * 10_000, "8"], ["<" * 41, "9"]])
    assert "\u202e" not in table and r"<th>abc\u202eevil</th><td>7</td>" in table
    assert len(table) < 1000 and "L" * 41 not in table and "…</th><td>8</td>" in table
    assert "&lt;" * 40 + "<wbr/>&lt;</th><td>9</td>" in table
    assert "<td><i></i></td>" in html_table(["", ""], [["", Safe("<i></i>")]]).replace(' style="text-align:left"', "")


def test_words_and_bars_begin_on_the_left_and_figures_do_not():
    """A notebook ends the cells of its tables on the right, and a step of a waterfall has to stand where it begins."""
    rows = [["a", "-0.5", "1,308 (1 to 2)", "2 times as much", step(0, 1, -1, 1)], ["b", "2 KiB", "", "'no'", ""]]
    table, left = html_table(["", "n", "range", "how", ""], rows), '<td style="text-align:left">'
    assert re.findall("<td[^>]*>", table) == ["<td>", "<td>", left, left] * 2
    assert '<th>range</th><th style="text-align:left">how</th>' in table


def test_a_word_of_10_000_letters_is_cut_in_a_paragraph_and_its_neighbours_are_not():
    line = paragraphs(["would turn it: " + "x" * 10_000 + " = 3"])
    assert line.startswith("<p>would turn it: xxx") and line.endswith("… = 3</p>") and len(line) < 300
