"""A record is what the standard library's frozen dataclass is, to all who look at it or use it."""

import pickle
from copy import copy
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from functools import cached_property
from inspect import signature

import pytest

from bayeswater.records import record


def made_by(decorator):
    """Make the same classes by either decorator."""

    @decorator
    class Point:
        x: int
        y: float = 2.0
        tags: list = field(default_factory=list)
        seen: int = field(default=0, compare=False, repr=False)

        @cached_property
        def norm(self):
            return self.x**2 + self.y**2

    @decorator
    class Named(Point):
        name: str = field(default="p", kw_only=True)
        length: int = field(init=False)

        def __post_init__(self):
            object.__setattr__(self, "length", len(self.name))

    return Point, Named


OURS, THEIRS = made_by(record), made_by(dataclass(frozen=True))


@pytest.mark.parametrize("which", [0, 1])
def test_a_record_has_signature_fields_and_words_of_a_frozen_dataclass(which):
    ours, theirs = OURS[which], THEIRS[which]
    assert str(signature(ours)) == str(signature(theirs))
    assert [one.name for one in fields(ours)] == [one.name for one in fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert repr(ours(1, tags=["a"])) == repr(theirs(1, tags=["a"]))
    assert asdict(ours(1)) == asdict(theirs(1))
    assert ours.__init__.__qualname__ == theirs.__init__.__qualname__


@pytest.mark.parametrize("which", [0, 1])
def test_records_of_equal_values_are_equal_and_fields_that_are_not_compared_do_not_count(which):
    kind = OURS[which]
    assert kind(1) == kind(1, seen=5) != kind(1, 3.0)
    assert kind(1) != OURS[1 - which](1)
    assert kind(1).__eq__(1) is NotImplemented
    assert kind(1).tags is not kind(1).tags
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        hash(kind(1))
    assert hash(kind(1, tags=())) == hash(kind(1, tags=(), seen=3))


@pytest.mark.parametrize("kind", [*OURS, *THEIRS])
def test_nothing_can_be_assigned_or_deleted(kind):
    point = kind(3, 4.0)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 5
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'z'"):
        point.z = 5
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'y'"):
        del point.y
    assert (point.norm, point.x, vars(point)["norm"]) == (25.0, 3, 25.0)
    assert replace(point, x=0).norm == 16.0


def test_a_class_below_that_is_no_record_has_attributes_of_its_own():
    class Below(OURS[0]):
        pass

    below = Below(1)
    below.z = 5
    del below.z
    for change in (lambda: setattr(below, "x", 5), lambda: delattr(below, "x")):
        with pytest.raises(FrozenInstanceError):
            change()


@record(eq=False, repr=False)
class Plain:
    """Compared and shown as any object."""

    a: int

    def __repr__(self):
        return "plain"


@record(kw_only=True)
class ByName:
    """It has its own comparison."""

    a: int = 0

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 7


def test_a_class_keeps_its_own_methods_and_may_compare_and_show_itself_as_any_object():
    assert Plain(1) != Plain(1) and repr(Plain(1)) == "plain" and isinstance(hash(Plain(1)), int)
    assert ByName(a=1) == 3
    assert hash(ByName()) == 7
    with pytest.raises(TypeError, match="positional"):
        ByName(1)
    with pytest.raises(TypeError, match=r"Plain.__init__\(\) missing 1 required positional argument: 'a'"):
        Plain()


def test_records_are_copied_and_pickled():
    assert copy(ByName(a=2)).a == pickle.loads(pickle.dumps(ByName(a=2))).a == 2
