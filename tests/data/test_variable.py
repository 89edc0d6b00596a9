"""Variables: domains that join by label and shrink to what is counted or declared."""

import numpy as np
import pytest

from bayeswater import ResourceLimitError, SchemaError
from bayeswater.data.variable import Schema, Variable, sorted_labels


def labelled(*states, declared=(), dtype=None):
    return Variable("v", states, frozenset(declared), dtype)


# ---------------------------------------------------------------------- union


def test_labels_of_both_domains_are_joined_in_sorted_order():
    assert labelled("c", "a").union(labelled("b")).states == ("a", "b", "c")


def test_the_order_of_a_union_does_not_depend_on_the_grouping():
    a, b, c = labelled("b", "a"), labelled("c"), labelled("c", "b", "a")
    assert a.union(b).union(c).states == a.union(b.union(c)).states == ("a", "b", "c")


def test_equal_labels_in_two_orders_are_sorted_whichever_comes_first():
    a, b = labelled("x", "z", "y"), labelled("z", "y", "x")
    assert a.union(b).states == b.union(a).states == ("x", "y", "z")


def test_a_domain_joined_with_itself_is_the_same():
    a = labelled("low", "high", declared=("low", "high"))
    assert a.union(a) == a


def test_codes_reach_as_far_as_the_larger_domain():
    assert Variable("v", range(3)).union(Variable("v", range(5))).states == range(5)
    assert Variable("v", range(5)).union(Variable("v", range(3))).states == range(5)


def test_what_either_declares_is_declared():
    joined = labelled("a", declared=("a",)).union(labelled("b", declared=("b",)))
    assert joined.declared == {"a", "b"}
    assert Variable("v", range(2), frozenset({1})).union(Variable("v", range(4))).declared == {1}


def test_codes_and_labels_do_not_join():
    with pytest.raises(SchemaError, match=r"'v' holds integer codes in one table and labels in the other; give it"):
        Variable("v", range(2)).union(labelled("a"))


@pytest.mark.parametrize("other", [Variable("v", range(3)), labelled("a", "b"), labelled("a", declared=("a",))])
@pytest.mark.parametrize("nothing", [Variable("v", range(0)), labelled()])
def test_a_domain_of_which_nothing_is_known_takes_the_kind_of_the_other(nothing, other):
    assert nothing.union(other) == other.union(nothing) == other


def test_two_domains_of_which_nothing_is_known_join_in_either_order():
    codes, labels = Variable("v", range(0)), labelled()
    assert codes.union(labels) == labels.union(codes)
    with pytest.raises(SchemaError, match="'v' holds labels in one table and integer codes in the other"):
        labelled("a").union(Variable("v", range(2)))


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        ("int8", "int16", "int16"),
        ("int64", "float64", "float64"),
        ("<U1", "<U1", "<U1"),
        ("<U1", "<U3", None),
        (None, "i8", None),
    ],
)
def test_the_dtype_of_joined_labels_holds_both(a, b, joined):
    dtype = labelled(1, dtype=a and np.dtype(a)).union(labelled(2, dtype=b and np.dtype(b))).dtype
    assert dtype == (joined and np.dtype(joined))


# ---------------------------------------------------------------------- keeping


def test_only_labels_counted_or_declared_are_kept():
    variable = labelled("a", "b", "c", declared=("b",))
    assert variable.keeping(np.array([True, False, False])).states == ("a", "b")
    assert variable.keeping(np.zeros(3, dtype=bool)).states == ("b",)


@pytest.mark.parametrize(
    ("counted", "declared", "n_states"),
    [
        ([True, False, True, False], (), 3),
        ([False, False, False, False], (), 0),
        ([True, False, False, False], (2,), 3),
        ([False, False, False, True], (2,), 4),
    ],
)
def test_codes_reach_to_the_last_one_counted_or_declared(counted, declared, n_states):
    variable = Variable("v", range(4), frozenset(declared))
    assert variable.keeping(np.array(counted)).states == range(n_states)


# ---------------------------------------------------------------------- codes


def test_shared_labels_are_found_in_both_domains():
    mine, theirs = labelled("a", "b", "c").shared_codes(labelled("c", "d", "a"))
    assert mine.tolist() == [0, 2]
    assert theirs.tolist() == [2, 0]


def test_domains_without_a_shared_label_share_no_code():
    mine, theirs = labelled("a").shared_codes(labelled("b"))
    assert mine.tolist() == theirs.tolist() == []


def test_shared_codes_are_the_smaller_range():
    mine, theirs = Variable("v", range(2)).shared_codes(Variable("v", range(5)))
    assert mine.tolist() == theirs.tolist() == [0, 1]


@pytest.mark.parametrize("n_codes", [2_000_000_000, 2**62, 2**70])
def test_more_codes_than_memory_holds_are_refused_before_anything_is_allocated(n_codes):
    with pytest.raises(
        ResourceLimitError, match=r"codes of column 'id' would take .* GiB.*leave it out if it is an identifier"
    ):
        Variable.of_codes("id", n_codes)


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("states", "dtype", "kind"),
    [
        ((1, 2), np.dtype("int8"), "int8"),
        ((1.0, 2.0), np.dtype("float32"), "float32"),
        ((False, True), np.dtype(bool), "bool"),
        (("a", "bc"), np.dtype("<U2"), "<U2"),
        (("a", "bc"), None, "<U2"),
        (("a", "bc"), np.dtype(object), "object"),
        ((b"a", b"b"), np.dtype("S1"), "object"),
        ((1, 2.5), None, "object"),
    ],
)
def test_labels_come_back_in_the_dtype_they_came_in(states, dtype, kind):
    labels = Variable("v", states, dtype=dtype).labels
    assert labels.tolist() == list(states)
    assert labels.dtype == np.dtype(kind)


def test_the_labels_of_codes_are_the_codes():
    assert Variable("v", range(3)).labels.tolist() == [0, 1, 2]


def test_labels_of_several_types_are_sorted_type_by_type():
    assert sorted_labels([True, "b", 2, "a", 1.5]) == (True, 1.5, 2, "a", "b")
    assert sorted_labels({"b", "a"}) == ("a", "b")


# ---------------------------------------------------------------------- schema


def test_a_schema_is_joined_column_by_column():
    a = Schema((Variable("x", ("p",)), Variable("y", range(2))))
    b = Schema((Variable("x", ("q",)), Variable("y", range(3))))
    joined = a.union(b)
    assert [variable.states for variable in joined] == [("p", "q"), range(3)]
    assert joined.names == ("x", "y")
    assert joined.n_states.tolist() == [2, 3]
    assert len(joined) == 2
    assert joined[1].name == "y"


def test_schemas_of_other_columns_do_not_join():
    a = Schema((Variable("x", ("p",)), Variable("y", ("q",))))
    with pytest.raises(SchemaError, match="2 columns here, 1 there"):
        a.union(Schema((Variable("x", ("p",)),)))
    with pytest.raises(SchemaError, match="column 'y' here stands where the other has 'z'"):
        a.union(Schema((Variable("x", ("p",)), Variable("z", ("q",)))))
