"""HTML of tables: what comes from data is text, and keeps its place."""

from bayeswater.markup import Safe, html_table


def test_a_name_turns_nothing_beside_it_and_a_long_one_leaves_the_figures_their_room():
    table = html_table(["", "n"], [["abc\u202eevil", "7"], ["L" * 10_000, "8"], ["<" * 41, Safe("<i></i>")]])
    assert "\u202e" not in table and r"<th>abc\u202eevil</th><td>7</td>" in table
    assert len(table) < 1000 and "L" * 41 not in table and "…</th><td>8</td>" in table
    assert "&lt;" * 40 + "<wbr/>&lt;</th><td><i></i></td>" in table
