"""What is known of a graph beforehand: how it is written, and which contradictions are named."""

import pytest

from bayeswater.errors import ParameterError
from bayeswater.structure.dag import Dag
from bayeswater.structure.knowledge import Knowledge

NAMES = ("a", "b", "c", "d")


def test_arcs_are_written_as_pairs_or_as_text_and_a_star_is_every_variable():
    known = Knowledge.of(NAMES, required=[("a", "b")], forbidden="c <- *; d -> a")
    assert known.required.sum() == 1 and known.required[0, 1]
    assert not known.allowed[:, 2].any() and not known.allowed[3, 0]
    assert known.allowed.sum() == 12 - 3 - 1
    assert known.start == (frozenset(), frozenset([0]), frozenset(), frozenset())


def test_no_arc_leads_from_a_later_tier_to_an_earlier_one():
    known = Knowledge.of(NAMES, tiers=[["a"], ["b", "c"]])
    assert not known.allowed[1, 0] and not known.allowed[2, 0]
    assert known.allowed[0, 1] and known.allowed[1, 2] and known.allowed[3, 0]  # d is in no tier


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"required": "a -> b", "forbidden": "a -> b"}, "a -> b is both required and forbidden"),
        ({"required": "a -> b; b -> c; c -> a"}, "contradict one another: the edges form a cycle"),
        ({"required": "b -> a", "tiers": [["a"], ["b"]]}, "b -> a is required, but leads from a later tier"),
        ({"required": "a -> c; b -> c", "max_parents": 1}, "2 parents of 'c' are required, but max_parents is 1"),
        ({"required": [("a", "e")]}, "names 'e', but there is no such variable"),
        ({"forbidden": [("a",)]}, "give pairs of names"),
        ({"required": ["ab"]}, "required holds 'ab'; give pairs of names"),
        ({"required": 5}, "required is 5; give pairs of names"),
        ({"tiers": 5}, "give lists of names"),
        ({"tiers": [5]}, "give lists of names"),
        ({"tiers": [["a"], ["a"]]}, "name 'a' twice, in list 1 and list 2"),
        ({"tiers": [["e"]]}, "name 'e', but there is no such variable"),
        ({"max_parents": -1}, "whole number, 0 or more"),
        ({"required": [("a", "a")]}, "an arc from 'a' to itself"),
        ({"required": [(["a"], "b")]}, "no such variable"),
        ({"tiers": {"a": 1, "b": 0}}, "give lists of names"),
        ({"tiers": "ba"}, "give lists of names"),
    ],
)
def test_contradictions_are_refused_and_named(known, message):
    with pytest.raises(ParameterError, match=message):
        Knowledge.of(NAMES, **known)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("a -> b; c -> d", "has the arc c -> d, which is forbidden"),
        ("b -> c; a; d", "lacks the arc a -> b, which is required"),
        ("a -> b; a -> c; b -> c; d", "more than 1 parents"),
    ],
)
def test_a_start_that_contradicts_what_is_known_is_refused(start, message):
    known = Knowledge.of(NAMES, required="a -> b", forbidden="c -> d", max_parents=1)
    dag = Dag.from_edges(Dag.parse(start).edges(), nodes=NAMES)
    with pytest.raises(ParameterError, match=message):
        known.check(dag)


def test_everything_can_be_forbidden_in_text():
    assert not Knowledge.of(NAMES, forbidden="* -> *").allowed.any()
    both = Knowledge.of(NAMES, forbidden="a -> b; b -> a").allowed
    assert not both[0, 1] and not both[1, 0]
