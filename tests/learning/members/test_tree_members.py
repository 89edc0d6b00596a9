"""Codes of numbers and states: intervals that no class had a say in, and a code for all that is not there.

Class trees against counting again in fractions: with all rows, without each of them, with weights and after changes.

Where floats are compared with fractions, the tolerance is that of the roundings on a path: at most 31 nodes of three
operations each, of 1.1e-16 relative, and as many for the mean over trees.
"""

import pickle
from dataclasses import replace
from math import log

import numpy as np
import pytest
from tests.oracles import class_trees as exact

from bayeswater.data.reading.row_hashes import number_words, row_words
from bayeswater.errors import ParameterError, ResourceLimitError, StatisticsError
from bayeswater.inference import class_trees
from bayeswater.kernels.threads import threads
from bayeswater.learning.members import tree_members
from bayeswater.learning.members.committee import in_structure
from bayeswater.learning.members.member_table import EnsembleTable
from bayeswater.learning.members.tree_members import ClassTrees, Codebook

NO_STATES = np.zeros(0, dtype=np.int64)


def test_intervals_have_about_equal_weight_and_no_more_codes_than_asked_for():
    x = np.random.default_rng(0).normal(size=(5000, 1))
    book = Codebook.of(x, NO_STATES, None, most_codes=100)
    count = np.bincount(book.codes(x, np.zeros((5000, 0), dtype=np.int32))[:, 0])
    assert len(count) == 100
    assert 45 <= count.min() <= count.max() <= 55


def test_a_row_of_weight_3_moves_cuts_as_three_rows_do():
    rng = np.random.default_rng(1)
    x, weight = rng.integers(0, 300, (400, 2)).astype(float), rng.integers(1, 4, 400)
    by_weight = Codebook.of(x, NO_STATES, weight.astype(float), most_codes=20)
    by_rows = Codebook.of(np.repeat(x, weight, axis=0), NO_STATES, None, most_codes=20)
    np.testing.assert_array_equal(by_weight.cuts, by_rows.cuts)


def test_numbers_beyond_all_cuts_have_the_outer_codes_and_missing_ones_their_own():
    book = Codebook.of(np.array([[1.0], [2.0], [3.0]]), np.array([2]), None, most_codes=100)
    numbers = np.array([[-np.inf], [np.inf], [np.nan], [2.0]])
    codes = book.codes(numbers, np.array([[0], [1], [-1], [2]]))
    assert codes.tolist() == [[0, 0], [2, 1], [3, 2], [1, 2]]
    assert book.n_codes.tolist() == [4, 3]


def test_a_column_without_a_number_has_no_cut():
    book = Codebook.of(np.full((4, 1), np.nan), NO_STATES, None, most_codes=100)
    assert book.codes(np.array([[np.nan], [5.0]]), np.zeros((2, 0), dtype=np.int32)).tolist() == [[1], [0]]


@pytest.mark.parametrize(("n_states", "kind"), [(255, np.uint8), (256, np.uint16), (2**16, np.uint32)])
def test_codes_are_as_narrow_as_the_states_allow(n_states, kind):
    book = Codebook(np.zeros(0), np.zeros(1, dtype=np.int64), np.array([n_states]))
    codes = book.codes(np.zeros((2, 0)), np.array([[n_states - 1], [-1]]))
    assert codes.dtype == kind
    assert codes.tolist() == [[n_states - 1], [n_states]]


def test_cuts_read_back_are_the_same_and_others_are_refused():
    book = Codebook.of(np.random.default_rng(2).normal(size=(50, 2)), np.array([3]), None, most_codes=10)
    arrays = book.to_arrays()
    np.testing.assert_array_equal(Codebook.from_arrays(arrays, 2, np.array([3])).cuts, book.cuts)
    with pytest.raises(StatisticsError, match="not those of 3 columns"):
        Codebook.from_arrays(arrays, 3, np.array([3]))
    with pytest.raises(StatisticsError, match="do not rise"):
        Codebook.from_arrays(arrays | {"cuts": book.cuts[::-1].copy()}, 2, np.array([3]))


ROUNDED = dict(rtol=1e-13, atol=1e-13)

SETTINGS = {
    "sqrt, one against the rest": dict(n_columns="sqrt", n_thresholds=1, phi=0.6, nominal="one"),
    "half, two thresholds": dict(n_columns="half", n_thresholds=2, phi=0.8, nominal="one"),
    "up to 24, cycle": dict(n_columns=24, n_thresholds=3, phi=0.6, nominal="cycle"),
}
settings = pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())


def table_of(numbers, states, n_states, codes, n_classes, weight=None):
    words = [*map(number_words, numbers.T), *(column.astype(np.uint64) for column in states.T)]
    return EnsembleTable(
        numbers, states.astype(np.int32), np.asarray(n_states), codes, n_classes, weight, row_words(words, len(codes))
    )


def case(n_rows=60, n_classes=3, seed=0, weight=None):
    """Rows with ties, missing cells, equal rows of equal and of different class, and columns that tell the classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n_rows)
    numbers = np.column_stack([codes + rng.normal(size=n_rows), rng.integers(0, 4, n_rows), rng.normal(size=n_rows)])
    states = np.column_stack([(codes + rng.integers(0, 3, n_rows)) % 5, rng.integers(0, 2, n_rows)])
    numbers[rng.random((n_rows, 3)) < 0.1] = np.nan
    states[rng.random((n_rows, 2)) < 0.1] = -1
    numbers[-8:], states[-8:] = numbers[:8], states[:8]
    codes[-4:] = codes[4:8]
    return table_of(numbers, states, [5, 2], codes, n_classes, weight)


def learned(table, setting, n_trees=6, seed=3):
    return ClassTrees(n_members=n_trees, **setting).learn(table, seed)


def paths_of(family, table):
    rows = exact.codes_of(table, family.codebook)
    return [[exact.path(row, family.trees, t, family.codebook) for row in rows] for t in range(family.n_members)]


@settings
def test_a_posterior_is_the_mean_of_back_offs_along_the_paths(setting):
    table = case()
    family, new = learned(table, setting), case(seed=1)
    expected = np.zeros((len(new), 3))
    posteriors = []
    for counted, asked in zip(paths_of(family, table), paths_of(family, new), strict=True):
        count = exact.count_nodes(counted, table.labels.tolist(), [1] * len(table))
        posteriors.append([exact.posterior(nodes, count, 3, 0.3) for nodes in asked])
    for i in range(len(new)):
        expected[i] = [log(p) for p in exact.mean([of_tree[i] for of_tree in posteriors])]
    np.testing.assert_allclose(family.log_posterior(new), expected, **ROUNDED)


@settings
@pytest.mark.parametrize("weight", [None, "whole", "fractions"])
def test_an_honest_posterior_equals_counting_again_without_the_row(setting, weight):
    rng = np.random.default_rng(5)
    weights = {None: None, "whole": rng.integers(1, 4, 60) * 1.0, "fractions": rng.integers(1, 12, 60) / 4}[weight]
    table = case(weight=weights)
    family = learned(table, setting)
    paths = paths_of(family, table)
    labels, weights = table.labels.tolist(), table.weights.tolist()
    found, n_members = family.honest_log_posterior(table)
    for i in range(len(table)):
        rest = [w - min(w, 1) * (r == i) for r, w in enumerate(weights)]
        blind = [t for t in range(6) if not in_structure(table.hashes[[i]], 3, t, setting["phi"])[0]]
        assert n_members[i] == len(blind)
        posteriors = [
            exact.posterior(paths[t][i], exact.count_nodes(paths[t], labels, rest), 3, 0.3) for t in blind
        ] or [[1 / 3] * 3]
        np.testing.assert_allclose(found[i], [log(p) for p in exact.mean(posteriors)], **ROUNDED)


def test_a_row_alone_in_its_leaf_is_scored_by_the_node_above():
    """Every leaf holds a row that its tree was grown from: other rows are alone there when those are forgotten."""
    table = case(n_rows=100)
    family = learned(table, SETTINGS["up to 24, cycle"], n_trees=1)
    seen = in_structure(table.hashes, 3, 0, 0.6)
    family, table = family.minus(table.take(seen)), table.take(~seen)
    paths = paths_of(family, table)[0]
    alone = [i for i, nodes in enumerate(paths) if sum(other[-1] == nodes[-1] for other in paths) == 1]
    found, n_members = family.honest_log_posterior(table)
    assert (n_members == 1).all()
    assert len(alone) > 1
    for i in alone:
        rest = [1 - (r == i) for r in range(len(table))]
        count = exact.count_nodes(paths, table.labels.tolist(), rest)
        above = exact.posterior(paths[i][:-1], count, 3, 0.3)
        np.testing.assert_allclose(found[i], [log(p) for p in above], **ROUNDED)


def same(a, b):
    mine, theirs = a.to_arrays(), b.to_arrays()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@settings
def test_the_order_of_the_rows_changes_nothing(setting):
    table = case()
    order = np.random.default_rng(0).permutation(len(table))
    family, other = learned(table, setting), learned(table.take(order), setting)
    same(family, other)
    np.testing.assert_array_equal(
        family.honest_log_posterior(table)[0][order], other.honest_log_posterior(table.take(order))[0]
    )


@settings
def test_a_row_of_weight_3_is_three_equal_rows(setting):
    weight = np.random.default_rng(2).integers(1, 4, 60)
    table = case(weight=weight * 1.0)
    repeated = np.repeat(np.arange(60), weight)
    copies = replace(table, weight=None).take(repeated)
    family, other = learned(table, setting), learned(copies, setting)
    same(family, other)
    (mine, members), (theirs, of_copies) = family.honest_log_posterior(table), other.honest_log_posterior(copies)
    np.testing.assert_array_equal(mine[repeated], theirs)
    np.testing.assert_array_equal(members[repeated], of_copies)


@settings
def test_the_number_of_threads_changes_nothing(setting, monkeypatch):
    monkeypatch.setattr(class_trees, "STRETCH_ROWS", 32)
    table = case(n_rows=200)
    found = []
    for n in (1, 4):
        with threads(n):
            family = learned(table, setting)
            found.append((family, family.log_posterior(table), family.honest_log_posterior(table)[0]))
    same(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_array_equal(found[0][2], found[1][2])


@settings
def test_rows_added_and_taken_away_leave_what_was_there(setting):
    table, more = case(), case(n_rows=25, seed=9)
    family = learned(table, setting)
    grown = family.plus(more)
    same(grown.minus(more), family)
    both = EnsembleTable(
        *(np.concatenate([getattr(table, name), getattr(more, name)]) for name in ("numbers", "states")),
        table.n_states,
        np.concatenate([table.labels, more.labels]),
        3,
        None,
        np.concatenate([table.hashes, more.hashes]),
    )
    same(grown.minus(table), grown.minus(both).plus(more))
    same(grown, grown.minus(both).plus(both))


@settings
def test_few_rows_that_go_down_all_trees_together_fall_into_the_same_leaves(setting, monkeypatch):
    family, few = learned(case(), setting), case(seed=2).take(slice(0, 5))
    together = family.plus(few)
    monkeypatch.setattr(class_trees, "STRETCH_ROWS", 0)
    same(together, family.plus(few))


def test_rows_that_were_never_counted_are_not_taken_away():
    family = learned(case(), SETTINGS["half, two thresholds"])
    with pytest.raises(StatisticsError, match="never counted"):
        family.minus(case(seed=1))
    with pytest.raises(StatisticsError, match="never counted"):
        family.honest_log_posterior(case(n_rows=400, seed=1))


def test_another_seed_gives_other_trees():
    table = case()
    one, other = (learned(table, SETTINGS["half, two thresholds"], seed=seed) for seed in (0, 1))
    assert not np.array_equal(one.log_posterior(table), other.log_posterior(table))


@settings
def test_trees_read_back_say_the_same(setting):
    table = case()
    family = learned(table, setting)
    again = ClassTrees.from_arrays(family.to_arrays(), 3, table.n_states, 3)
    same(family, again)
    np.testing.assert_array_equal(family.log_posterior(table), again.log_posterior(table))
    np.testing.assert_array_equal(family.honest_log_posterior(table)[0], again.honest_log_posterior(table)[0])
    more = case(seed=4)
    same(family.plus(more), again.plus(more))


BROKEN = {
    "no cuts": dict(cuts=None),
    "cuts that fall": dict(cuts=lambda cuts: -cuts),
    "cuts of other columns": dict(cut_start=lambda start: start[:-1]),
    "missing cuts": dict(cuts=lambda cuts: cuts * np.nan),
    "other splits": dict(splits=lambda splits: splits[1:]),
    "children elsewhere": dict(splits=lambda splits: splits + np.array([10**6, 0, 0, 0], dtype=np.int32)),
    "children before": dict(splits=lambda splits: -splits),
    "two parents": dict(
        splits=lambda splits: (
            splits + np.array([1, 0, 0, 0], dtype=np.int32) * (np.arange(len(splits)) == 0)[:, None].astype(np.int32)
        )
    ),
    "no such column": dict(splits=lambda splits: splits + np.array([0, 5, 0, 0], dtype=np.int32)),
    "nothing between": dict(splits=lambda splits: splits * np.array([1, 1, 1, -1], dtype=np.int32)),
    "wide numbers": dict(splits=lambda splits: splits.astype(np.int64)),
    "no such order": dict(order=lambda order: order + 5),
    "places twice": dict(ranks=lambda ranks: ranks * 0),
    "no share": dict(phi=lambda phi: phi * 0),
    "two seeds": dict(seed=lambda seed: np.append(seed, seed)),
    "no concentration": dict(concentration=lambda c: -c),
    "counts elsewhere": dict(node=lambda node: node * 0),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_arrays_that_no_learning_leads_to_are_refused(broken):
    table = case()
    arrays = learned(table, SETTINGS["up to 24, cycle"]).to_arrays()
    for name, change in broken.items():
        if change is None:
            del arrays[name]
        else:
            arrays[name] = change(arrays[name])
    with pytest.raises(StatisticsError):
        ClassTrees.from_arrays(arrays, 3, table.n_states, 3)


def test_new_states_and_missing_cells_have_a_way_to_go():
    table = case()
    family = learned(table, SETTINGS["up to 24, cycle"])
    strange = replace(table, numbers=np.full((60, 3), np.nan), states=np.full((60, 2), 7, dtype=np.int32))
    nowhere = replace(strange, states=np.full((60, 2), -1, dtype=np.int32))
    found = family.log_posterior(strange)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, family.log_posterior(nowhere))


def test_a_state_that_no_row_of_the_structure_has_goes_the_way_of_the_rest():
    """One column of states, asked for one by one: a state of the domain that no row has is no state asked for."""
    codes = np.array([0, 0, 1, 1, 2, 2] * 5)
    table = table_of(np.zeros((30, 0)), codes[:, None], [4], codes, 3)
    family = learned(table, dict(n_columns="sqrt", n_thresholds=1, phi=1.0, nominal="one"))
    unseen = table_of(np.zeros((1, 0)), np.array([[3]]), [4], np.array([0]), 3)
    for tree in range(family.n_members):
        node = int(family.trees.start[tree])
        while family.trees.splits[node, 0]:
            node += int(family.trees.splits[node, 0]) + 1
        assert paths_of(family, unseen)[tree][0][-1] == node


def test_a_class_more_is_counted_beside_the_others():
    table = case()
    family = learned(table, SETTINGS["half, two thresholds"])
    more = case(n_rows=20, n_classes=4, seed=2)
    assert family.plus(more).log_posterior(table).shape == (60, 4)


def test_rows_that_all_trees_have_seen_have_equal_shares():
    table = case()
    found, n_members = learned(table, SETTINGS["half, two thresholds"] | {"phi": 1.0}).honest_log_posterior(table)
    assert not n_members.any()
    np.testing.assert_array_equal(found, np.full((60, 3), log(1 / 3)))


def test_a_tree_sees_no_more_rows_than_it_can_grow_from(monkeypatch):
    monkeypatch.setattr(tree_members, "MOST_ROWS", 16)
    table = case(n_rows=200)
    family = learned(table, SETTINGS["half, two thresholds"])
    assert family.phi == pytest.approx(16 / 200, rel=0.1)  # a few of the rows are equal
    assert family.trees.n_nodes < 6 * 2 * 40
    assert family.counts.count.sum() == 6 * 200


def test_too_many_trees_are_refused_before_they_are_grown():
    with pytest.raises(
        ResourceLimitError, match=r"1000000000 class trees of \d+ different rows in 3 classes would take"
    ):
        learned(case(), SETTINGS["half, two thresholds"], n_trees=10**9)


@pytest.mark.parametrize(
    "setting",
    [
        dict(n_members=0),
        dict(phi=0.0),
        dict(phi=1.5),
        dict(concentration=0.0),
        dict(n_columns="all"),
        dict(n_columns=0),
        dict(n_thresholds=0),
        dict(nominal="two"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(setting):
    with pytest.raises(ParameterError, match=next(iter(setting))):
        ClassTrees(**setting).learn(case(), 0)


def test_tables_without_a_column_or_of_one_class_have_trees_too():
    none = learned(
        table_of(np.zeros((6, 0)), np.zeros((6, 0)), [], np.arange(6) % 2, 2), SETTINGS["half, two thresholds"]
    )
    np.testing.assert_allclose(
        none.log_posterior(table_of(np.zeros((1, 0)), np.zeros((1, 0)), [], np.zeros(1, int), 2)), log(1 / 2)
    )
    one = learned(case(n_classes=1), SETTINGS["half, two thresholds"])
    np.testing.assert_array_equal(one.log_posterior(case(n_classes=1)), np.zeros((60, 1)))


def test_a_copy_says_the_same_and_leaves_out_what_can_be_read_again():
    table = case()
    family = learned(table, SETTINGS["up to 24, cycle"])
    before = pickle.dumps(family)
    expected = family.log_posterior(table)
    after = pickle.dumps(family)
    np.testing.assert_array_equal(pickle.loads(after).log_posterior(table), expected)
    assert len(after) < len(before) + 1000  # the table of posteriors takes more


def test_tables_in_portions_give_the_same_posteriors(monkeypatch):
    """Sums over trees are taken portion by portion: they may differ in the last bits."""
    table = case()
    family = learned(table, SETTINGS["up to 24, cycle"])
    whole = family.log_posterior(table), family.honest_log_posterior(table)[0]
    real = class_trees.portions
    for most_bytes in (300, 3000):
        monkeypatch.setattr(class_trees, "portions", lambda start, n, most=most_bytes: real(start, n, most))
        again = family.plus(table.take(slice(0, 0)))  # what was read is not kept
        assert len(again._learned._portions) > 1
        np.testing.assert_allclose(again.log_posterior(table), whole[0], rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(again.honest_log_posterior(table)[0], whole[1], rtol=1e-14, atol=1e-14)
