"""Graphs written in one line: what is read, and where an error points."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.errors import ParameterError
from bayeswater.structure.dag import Dag
from bayeswater.structure.notation import quoted, read_edges


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("", [], []),
        (" ; \n ;", [], []),
        ("a", ["a"], []),
        ("a->b", ["a", "b"], [("a", "b")]),
        ("a<-b", ["a", "b"], [("b", "a")]),
        ("a -> b <- c; c -> d", ["a", "b", "c", "d"], [("a", "b"), ("c", "b"), ("c", "d")]),
        ("a -> b\nb -> c  # a comment\n# another; with -> arrows\nd", ["a", "b", "c", "d"], [("a", "b"), ("b", "c")]),
        ("a -> b\r\nb -> c\r\n", ["a", "b", "c"], [("a", "b"), ("b", "c")]),
        ('"lung cancer" -> "say \\"x\\""', ["lung cancer", 'say "x"'], [("lung cancer", 'say "x"')]),
        ("x-ray->SaO2.level", ["x-ray", "SaO2.level"], [("x-ray", "SaO2.level")]),
        ("肺癌 -> X线", ["肺癌", "X线"], [("肺癌", "X线")]),
    ],
)
def test_a_text_is_read_as_nodes_and_edges(text, nodes, edges):
    assert read_edges(text) == (nodes, edges)


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("a -> ", "'->' leads from 'a' to no name", 1, 3),
        ("a -> ; b", "'->' leads from 'a' to no name", 1, 3),
        ("-> a", "'->' needs a name before it", 1, 1),
        ("a -> -> b", "'->' needs a name before it", 1, 6),
        ("a b", "an arrow, -> or <-, is needed between two names, and not 'b'", 1, 3),
        ("a -- b", "an arrow, -> or <-, is needed between two names, and not '--'", 1, 3),
        ("a <-> b", "an edge has one direction", 1, 3),
        ("a -> b\nc, d -> b", "',' means nothing here", 2, 2),
        ("{a}", "'{' means nothing here", 1, 1),  # as bnlearn writes a -> b
        ("a|b -> c", "'|' means nothing here", 1, 2),
        ("{a b} -> c", "'{' means nothing here", 1, 1),  # as Graphviz writes a -> c; b -> c
        ('a -> "b', "a quote is opened and not closed", 1, 6),
        ('a -> ""', "a name between quotes is empty", 1, 6),
        ("a -> b; a -> b", "the edge a -> b occurs more than once", 1, 11),
        ("a -> b; b -> a", "b -> a closes a cycle of 2", 1, 11),
        ("a -> a", "a -> a closes a cycle of 1", 1, 3),
    ],
)
def test_an_error_shows_its_place(text, message, line, column):
    with pytest.raises(ParameterError) as caught:
        read_edges(text)
    told, shown, caret = str(caught.value).split("\n")
    assert told.startswith(message)
    assert told.endswith(f"at line {line}, column {column}:")
    assert shown == "  " + text.split("\n")[line - 1]
    assert caret.index("^") - 2 == column - 1


def test_a_longer_cycle_is_named():
    with pytest.raises(ParameterError, match="a -> b -> c -> a"):
        Dag.parse("a -> b -> c -> a")


NAMES = st.text(min_size=1)


@given(st.lists(NAMES, min_size=2, max_size=5, unique=True))
def test_a_chain_of_any_names_is_read_back(names):
    text = " -> ".join(map(quoted, names))
    assert read_edges(text) == (names, list(pairwise(names)))


def test_a_name_over_two_lines_is_written_on_one_and_read_back():
    assert quoted("a\nb") == r'"a\nb"'
    assert read_edges(r'"a\nb" -> "a\\nb"') == (["a\nb", r"a\nb"], [("a\nb", r"a\nb")])


@given(st.text('ab->< ;"\\#\n,'))
def test_any_text_is_read_or_refused_with_a_place(text):
    try:
        Dag.parse(text)
    except ParameterError as error:
        assert re.search(r"line \d+, column \d+|form a cycle", str(error))


def test_model_strings_of_bnlearn_are_graphs():
    dag = Dag.parse(" [asia][smoke][tub|asia][lung|smoke]\n[either|tub:lung] ")
    assert dag == Dag.parse("asia; smoke; asia -> tub; smoke -> lung; tub -> either; lung -> either")
    for wrong, told in (
        ("[a][b|c]", "'c' has no bracket"),
        ("[a][a]", "more than once"),
        ("[a] b", "needs? \\[node\\]|has \\[node\\]"),
        ("[a|b][b|a]", "cycle"),
    ):
        with pytest.raises(ParameterError, match=told):
            Dag.parse(wrong)
