"""Counts of pairs, triples and families: equal to a count row by row, and the laws that all sums fulfil."""

import copy
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.tables import FRACTIONS, WHOLE_WEIGHTS
from tests.oracles.counting import count
from tests.statistics.several_columns import Kind, by_label, every_kind

from bayeswater import ResourceLimitError, SchemaError, StatisticsError
from bayeswater.data.variable import Schema, Variable
from bayeswater.kernels import pair_counts, threads
from bayeswater.statistics import parent_counts
from bayeswater.statistics.pair_counts import PairCounts, TripleCounts
from bayeswater.statistics.sums import ClassCounts, Sums

# The loops are compiled once for all tests of this module; what they count is the same by reference.
pytestmark = pytest.mark.usefixtures("kernel")

LABELS = st.sampled_from(["a", "b", "c", None])


@st.composite
def rows(draw, n_rows=(1, 8), n_columns=(1, 4), weights=None):
    """Draw rows of labels with missing cells, classes and weights."""
    n, d = draw(st.integers(*n_rows)), draw(st.integers(*n_columns))
    X = np.array(draw(st.lists(LABELS, min_size=n * d, max_size=n * d)), dtype=object).reshape(n, d)
    y = np.array(draw(st.lists(st.sampled_from(["no", "yes", "zen"]), min_size=n, max_size=n)))
    weight = None if weights is None else np.array(draw(st.lists(weights, min_size=n, max_size=n)))
    return X, y, weight


some_weights = st.sampled_from([None, WHOLE_WEIGHTS, FRACTIONS])
three_tables = st.lists(rows(n_columns=(3, 3)), min_size=3, max_size=3)


def table(seed, n_rows=40, n_columns=4):
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array(["a", "b", "c", None], dtype=object), size=(n_rows, n_columns))
    return X, rng.choice(np.array(["no", "yes", "zen"]), n_rows)


# ---------------------------------------------------------------------- counted


@every_kind
@settings(max_examples=12)
@given(st.data())
def test_every_combination_is_counted_as_often_as_rows_have_it(kind, data):
    X, y, weight = data.draw(rows(weights=data.draw(some_weights)))
    for columns, cells in by_label(kind.of(X, y, weight)).items():
        expected = count(X.tolist(), y.tolist(), weight, columns)
        assert cells.keys() == expected.keys()
        for cell, n in cells.items():
            if weight is None or weight.dtype.kind == "i":
                assert n == expected[cell]
            # Up to 8 fractional weights are added, each addition with half a last bit of rounding.
            assert n == pytest.approx(float(expected[cell]), rel=8 * 2**-53, abs=0)


@every_kind
def test_whole_weights_equal_repetition_to_the_bit(kind):
    X, y = table(0)
    weight = np.random.default_rng(1).integers(1, 5, len(y))
    weighted, repeated = kind.of(X, y, weight), kind.of(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted == repeated
    for name, array in weighted.to_arrays().items():
        assert array.dtype == repeated.to_arrays()[name].dtype
        assert array.dtype.kind in "iu"


@every_kind
def test_the_order_of_the_rows_does_not_show(kind):
    X, y = table(2)
    order = np.random.default_rng(3).permutation(len(y))
    assert kind.of(X[order], y[order]) == kind.of(X, y)


@every_kind
@pytest.mark.parametrize("weight", [None, np.arange(1, 41), np.arange(1, 41) / 3], ids=["none", "whole", "fractions"])
def test_the_number_of_threads_does_not_show(kind, weight):
    X, y = table(4, n_columns=12)
    with threads.threads(1):
        alone = kind.of(X, y, weight)
    with threads.threads(3):
        assert kind.of(X, y, weight) == alone  # to the bit, fractions too


@every_kind
@pytest.mark.parametrize("weight", [None, np.arange(1, 101), np.arange(1, 101) / 4], ids=["none", "whole", "quarters"])
def test_blocks_of_rows_add_up(kind, weight, monkeypatch):
    X, y = table(5, n_rows=100)
    whole = kind.of(X, y, weight)
    monkeypatch.setattr(pair_counts, "WORKING_BYTES", 30)  # as few rows as a block can have
    monkeypatch.setattr(parent_counts, "BLOCK_ROWS", 7)
    assert kind.of(X, y, weight) == whole


@every_kind
def test_a_column_without_any_cell_is_counted_as_missing(kind):
    X, y = table(6)
    X[:, 1] = None
    counts = by_label(kind.of(X, y))
    assert sum(counts[1,].values()) == len(y)
    assert {cell[0] for cell in counts[1,]} == {None}


# ---------------------------------------------------------------------- laws


@every_kind
@settings(max_examples=10)
@given(three_tables)
def test_merging_equals_a_count_of_all_rows_commutes_and_associates(kind, tables):
    a, b, c = (kind.of(X, y) for X, y, _ in tables)
    whole = kind.of(np.concatenate([X for X, _, _ in tables]), np.concatenate([y for _, y, _ in tables]))
    assert a + b == b + a
    assert (a + b) + c == whole == a + (b + c)


@every_kind
@settings(max_examples=10)
@given(three_tables)
def test_what_was_added_can_be_taken_away_as_if_never_counted(kind, tables):
    (X, y, _), (X_gone, y_gone, _), _ = tables
    kept, gone = kind.of(X, y), kind.of(X_gone, y_gone)
    rest = ((kept + gone) - gone).onto(kept.classes).pruned()
    assert rest == kept


@every_kind
def test_a_model_forgets_rows_through_its_sums(kind):
    X, y = table(7)
    X[3:, 0], y[3:] = "z", "only"

    def sums(rows):
        counts = kind.of(X[rows], y[rows])
        class_count = np.unique(y[rows], return_counts=True)[1]
        return Sums(ClassCounts(counts.classes, class_count), counts)

    assert sums(slice(0, 40)) - sums(slice(0, 3)) == sums(slice(3, 40))


@every_kind
def test_fractional_weights_come_off_within_rounding(kind):
    X, y = table(8)
    weight = np.random.default_rng(9).random(len(y))
    kept = kind.of(X[:30], y[:30], weight[:30])
    gone = kind.of(X[30:], y[30:], weight[30:])
    rest = ((kept + gone) - gone).pruned()
    assert rest.domain == kept.domain
    for name, array in rest.to_arrays().items():
        # Adding and subtracting numbers of a size below 40 rounds by less than 1e-14 of it.
        np.testing.assert_allclose(array, kept.to_arrays()[name], rtol=0, atol=1e-12)


@every_kind
def test_rows_that_count_twice_are_scaled(kind):
    counts = kind.of(*table(10))
    assert counts.scaled(2.0) == counts + counts


@every_kind
def test_classes_are_aligned_by_label(kind):
    X, y = table(11)
    counts = kind.of(X, y)
    wider = counts.onto(Variable("class", ("maybe", "no", "yes", "zen")))
    assert by_label(wider) == by_label(counts)
    narrow = counts.onto(Variable("class", ("zen", "no")))
    chosen = y != "yes"
    assert by_label(narrow) == by_label(kind.of(X[chosen], y[chosen]))


@every_kind
def test_declared_states_join_the_domain_and_stay(kind):
    X, y = table(12, n_columns=3)
    counts = kind.of(X, y)
    names = counts.schema.names
    declared = Schema((Variable(names[0], ("_", "a"), frozenset("_a")), *(Variable(name, ()) for name in names[1:])))
    wider = counts.declaring(declared)
    assert wider.schema[0].states == ("_", "a", "b", "c")
    assert by_label(wider) == by_label(counts)
    assert wider.pruned() == wider
    assert wider != counts
    assert wider + counts == (counts + counts).declaring(declared)


@every_kind
def test_tables_of_another_width_do_not_combine(kind):
    X, y = table(13)
    with pytest.raises(SchemaError, match="4 columns here, 3 there"):
        kind.of(X, y) + kind.of(X[:, :3], y)


@every_kind
def test_other_statistics_do_not_combine(kind):
    counts = kind.of(*table(14))
    with pytest.raises(TypeError, match="unsupported operand"):
        counts + counts.singles
    assert counts != counts.singles


@every_kind
def test_arrays_out_and_in_give_the_same_counts(kind):
    counts = kind.of(*table(15))
    again = type(counts).from_arrays(counts.to_arrays(), **counts.domain)
    assert again == counts
    assert counts.nbytes == sum(array.nbytes for array in counts.to_arrays().values())
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)


@every_kind
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda counts: pickle.loads(pickle.dumps(counts))])
def test_copies_are_equal_and_frozen(kind, copied):
    counts = copied(kind.of(*table(16)))
    assert counts == kind.of(*table(16))
    for array in counts.to_arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@every_kind
def test_counts_of_other_rows_are_not_equal(kind):
    X, y = table(17)
    assert kind.of(X, y) != kind.of(X[1:], y[1:])
    assert kind.of(X, y) != kind.of(X[:, :3], y)


# ---------------------------------------------------------------------- refused

EVEN = np.array([["a", "b", "c"], ["a", "d", "e"], ["f", "b", "e"], ["f", "d", "c"]], dtype=object)
ODD = np.array([["a", "b", "e"], ["f", "d", "e"], ["a", "d", "c"], ["f", "b", "c"]], dtype=object)
"""Every pair of states occurs once in each; no triple occurs in both."""


@pytest.mark.parametrize(
    ("name", "kept", "gone", "message"),
    [
        ("pairs", EVEN, [["z", "b", "c"]], "'x0' = 'z' in class 'k' would become -1"),
        ("pairs", EVEN[:2], [["a", "b", "e"]], "'x2' = 'e' and 'x1' = 'b' in class 'k' would become -1"),
        ("pairs", EVEN, [[None, "b", "c"]], "'x0' = missing in class 'k' would become -1"),
        ("triples", EVEN, ODD, "'x2' = 'c' and 'x1' = 'b' and 'x0' = 'f' in class 'k' would become -1"),
        ("triples", EVEN[:2], [["a", "b", "e"]], "'x2' = 'e' and 'x1' = 'b' in class 'k' would become -1"),
        ("families", EVEN, ODD, "'x2' = 'e' and 'x0' = 'a' and 'x1' = 'b' in class 'k' would become -1"),
    ],
)
def test_a_combination_that_was_never_counted_is_named(name, kept, gone, message):
    kind = Kind(name)
    counts = kind.of(kept, ["k"] * len(kept))
    with pytest.raises(StatisticsError, match=message):
        counts - kind.of(gone, ["k"] * len(gone))


def test_every_cell_of_pairs_and_triples_is_named_by_its_columns_states_and_class():
    X = np.array([["a", "p", "u", "k"], ["b", "q", "v", "l"], ["c", "p", "w", None]], dtype=object)
    counts = Kind("triples").of(X, ["no", "yes", "no"])
    states = [[repr(state) for state in variable.states] + ["missing"] for variable in counts.schema]

    def said(columns, slots):
        return " and ".join(f"'x{j}' = {states[j][slot]}" for j, slot in zip(columns, slots, strict=True))

    for name, n in (("pairs", 2), ("triples", 3)):
        falling = (c[::-1] for c in sorted(combinations(range(4), n), key=lambda c: c[::-1]))
        expected = {}
        for columns in falling:
            table = (counts.of_pair if n == 2 else counts.of_triple)(*columns)
            for slots in np.ndindex(table.shape[:-1]):
                expected[said(columns, slots)] = table[slots].tolist()
        for row, of_classes in enumerate(getattr(counts, name).tolist()):
            for y, label in enumerate(("no", "yes")):
                place = counts._place(name, (row, y))
                cell = place.removeprefix("the count of ").removesuffix(f" in class {label!r}")
                assert expected[cell][y] == of_classes[y]
        assert len(expected) == len(getattr(counts, name))
        assert len({counts._place(name, (row, 0)) for row in range(len(expected))}) == len(expected)


@every_kind
def test_a_class_that_was_never_counted_cannot_be_taken_away(kind):
    with pytest.raises(StatisticsError, match="class 'new' was never counted"):
        kind.of(EVEN, ["k"] * 4) - kind.of(EVEN, ["new"] * 4)


@pytest.mark.parametrize("name", ["pairs", "triples"])
def test_counts_over_the_limit_are_refused_with_number_columns_and_way_out(name, monkeypatch):
    X, y = table(18)
    counts = Kind(name).of(X, y)
    assert type(counts).nbytes_forecast(counts.n_states, counts.n_classes) == counts.nbytes
    monkeypatch.setattr("bayeswater.limits.TABLE_BYTES", counts.nbytes - 1)
    message = rf"all {name} of 4 columns in 3 classes \(the largest domains: 'x0' with 3 states, 'x1' with 3.*KiB"
    with pytest.raises(ResourceLimitError, match=message):
        Kind(name).of(X, y)
    more = Schema(tuple(Variable(column.name, ("_", *column.states)) for column in counts.schema))
    with pytest.raises(ResourceLimitError, match=f"all {name}.*bin these columns"):
        counts.declaring(more)


def test_a_forecast_of_any_size_is_exact():
    n_states = np.array([10**7, 10**7, 10**7])
    slots = 10**7 + 1
    pairs = PairCounts.nbytes_forecast(n_states, 2)
    assert pairs == 16 * (3 * slots + 3 * slots**2)
    assert TripleCounts.nbytes_forecast(n_states, 2) == pairs + 16 * slots**3  # passes 2**63
