"""AODE, Gaussian and KDB members: honest posteriors against counting all other rows anew, and the laws of counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.learning.members.member_rows import mixed_rows, repeated, table_of

from bayeswater import AODE
from bayeswater.errors import StatisticsError
from bayeswater.kernels.compiling import COMPILE_FROM_CELLS
from bayeswater.kernels.threads import threads
from bayeswater.learning.members import aode_members
from bayeswater.learning.members.aode_members import AodeMembers
from bayeswater.learning.members.committee import in_structure
from bayeswater.learning.members.gaussian_member import GaussianMember
from bayeswater.learning.members.kdb_members import KdbMembers

FAMILIES = {"aode": AodeMembers(4), "gaussian": GaussianMember(), "kdb": KdbMembers(5)}
families = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())

ROUNDED = dict(rtol=1e-10, atol=1e-10)
"""A posterior is a quotient of products of a hundred factors; a distance by Sherman and Morrison loses some digits."""

WEIGHTS = {
    "no weights": lambda rng, n: None,
    "whole weights": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "fractions": lambda rng, n: rng.choice([0.25, 0.7, 1.0, 2.5], n),
}


def judges_of(family, table, row):
    """Members, as models of their own, whose structure has not seen a row."""
    if isinstance(family, GaussianMember):
        return [family]
    taught = family.phi + family.tuned_by
    seen = [in_structure(table.hashes[row : row + 1], family.seed, m, taught)[0] for m in range(family.n_members)]
    return [member for member, is_seen in zip(family.members, seen, strict=True) if not is_seen]


def without_one(table, row):
    """The table with one copy of a row taken out."""
    weight = table.weights.copy()
    weight[row] -= table.removed[row]
    return replace(table, weight=weight).take(weight > 0)


@families
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize("missing", [0.1, 0.0])
def test_honest_posteriors_equal_counting_all_other_rows_anew(family, weights, missing):
    table = mixed_rows(70, missing=missing)
    table = replace(table, weight=weights(np.random.default_rng(5), len(table)))
    learned = family.learn(table, 3)
    found, n_members = learned.honest_log_posterior(table)
    assert n_members.max() >= 1
    for row in range(len(table)):
        judges = judges_of(learned, table, row)
        assert n_members[row] == len(judges)
        rest, own = without_one(table, row), table.take([row])
        each = [np.exp(judge.counting(rest).log_posterior(own)[0]) for judge in judges]
        expected = np.mean(each, axis=0) if each else np.full(3, 1 / 3)
        np.testing.assert_allclose(np.exp(found[row]), expected, **ROUNDED)


@families
def test_posteriors_are_the_mean_over_members(family):
    table = mixed_rows(60)
    learned = family.learn(table, 0)
    found = np.exp(learned.log_posterior(table))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-13)  # a sum of three
    if learned.n_members > 1:
        each = [np.exp(member.log_posterior(table)) for member in learned.members]
        np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-12)


@families
def test_a_row_of_weight_two_is_learned_as_two_rows(family):
    table = mixed_rows(80)
    weight = np.random.default_rng(0).integers(1, 4, len(table)).astype(float)
    weighted, twice = replace(table, weight=weight), repeated(table, weight.astype(int))
    one, other = family.learn(weighted, 1), family.learn(twice, 1)
    # Losses are summed in another order, and the best temperature is found within 1e-8.
    np.testing.assert_allclose(one.log_posterior(table), other.log_posterior(table), rtol=1e-6)
    honest = one.honest_log_posterior(weighted)[0]
    np.testing.assert_allclose(repeated_rows(honest, weight), other.honest_log_posterior(twice)[0], rtol=1e-6)


def repeated_rows(values, weight):
    return np.repeat(values, weight.astype(int), axis=0)


@families
def test_the_order_of_the_rows_has_no_say(family):
    table = mixed_rows(80)
    order = np.random.default_rng(0).permutation(len(table))
    one, other = family.learn(table, 1), family.learn(table.take(order), 1)
    np.testing.assert_allclose(one.log_posterior(table), other.log_posterior(table), rtol=1e-6)  # as above


@families
def test_further_rows_are_counted_as_if_they_had_been_there(family):
    table = mixed_rows(90)
    first, later = table.take(slice(0, 60)), table.take(slice(60, 90))
    learned = family.learn(first, 2)
    grown = learned.plus(later)
    expected = all_counting(learned, table)
    np.testing.assert_allclose(grown.log_posterior(table), expected.log_posterior(table), rtol=1e-9, atol=1e-12)
    honest, n_members = grown.honest_log_posterior(table)
    np.testing.assert_allclose(honest, expected.honest_log_posterior(table)[0], rtol=1e-9, atol=1e-12)
    assert np.isfinite(honest).all()
    assert n_members.max() >= 1


def all_counting(family, table):
    """The same structures and choices, with the counts of other rows."""
    if isinstance(family, GaussianMember):
        return family.counting(table)
    return replace(family, members=tuple(member.counting(table) for member in family.members))


@families
def test_forgetting_a_row_equals_never_having_seen_it(family):
    table = mixed_rows(90)
    first, later = table.take(slice(0, 60)), table.take(slice(60, 90))
    learned = family.learn(table, 2)
    expected = all_counting(learned, first)
    found = learned.minus(later)
    np.testing.assert_allclose(found.log_posterior(table), expected.log_posterior(table), rtol=1e-9, atol=1e-12)
    if not isinstance(family, GaussianMember):  # whole counts are exact
        for name, array in found.to_arrays().items():
            np.testing.assert_array_equal(array, expected.to_arrays()[name])


@families
def test_rows_that_were_never_counted_cannot_be_forgotten(family):
    table = mixed_rows(60)
    learned = family.learn(table, 0)
    stranger = replace(table.take([0]), states=np.array([[4, 1]], dtype=np.int32), weight=np.array([50.0]))
    with pytest.raises(StatisticsError):
        learned.minus(stranger)


@families
def test_the_number_of_threads_has_no_say(family):
    table = mixed_rows(100)
    found = []
    for n in (1, 3):
        with threads(n):
            learned = family.learn(table, 4)
            found.append((learned.log_posterior(table), *learned.honest_log_posterior(table)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@families
def test_a_seed_gives_the_same_members_again(family):
    table = mixed_rows(100)
    one, other = (family.learn(table, 7).to_arrays() for _ in range(2))
    assert one.keys() == other.keys()
    assert all(np.array_equal(array, other[name]) for name, array in one.items())


@pytest.mark.parametrize("family", [FAMILIES["aode"], FAMILIES["kdb"]], ids=["aode", "kdb"])
def test_another_seed_gives_other_members(family):
    table = mixed_rows(100)
    one, other = (family.learn(table, seed).log_posterior(table) for seed in (0, 1))
    assert not np.allclose(one, other)


@families
def test_arrays_hold_all_that_was_learned(family):
    table = mixed_rows(70)
    learned = family.learn(table, -3)
    arrays = {name: array.copy() for name, array in learned.to_arrays().items()}
    again = type(family).from_arrays(arrays, 3, table.n_states, 3)
    np.testing.assert_array_equal(again.log_posterior(table), learned.log_posterior(table))
    np.testing.assert_array_equal(again.honest_log_posterior(table)[0], learned.honest_log_posterior(table)[0])
    grown = again.plus(table.take([0]))
    np.testing.assert_array_equal(grown.log_posterior(table), learned.plus(table.take([0])).log_posterior(table))
    assert learned.n_bytes == sum(array.nbytes for array in arrays.values())


@families
def test_arrays_that_no_member_can_have_are_refused(family):
    table = mixed_rows(70)
    arrays = family.learn(table, 0).to_arrays()
    for name, array in arrays.items():
        with pytest.raises(StatisticsError):
            type(family).from_arrays({key: each for key, each in arrays.items() if key != name}, 3, table.n_states, 3)
        if name.endswith(("count", "pairs", "table", "scatter", "temperature", "with_class", "weight", "deviation")):
            damaged = array.astype(np.float64)
            damaged.flat[-1] = np.nan if array.dtype.kind == "f" else -1
            with pytest.raises(StatisticsError):
                type(family).from_arrays({**arrays, name: damaged.astype(array.dtype)}, 3, table.n_states, 3)
    with pytest.raises(StatisticsError):
        type(family).from_arrays(arrays, 2, table.n_states, 3)
    with pytest.raises(StatisticsError):
        type(family).from_arrays(arrays, 3, table.n_states, 4)


@families
def test_a_category_that_was_never_seen_is_as_good_as_missing(family):
    """Both are -1; where no row lacked the cell, they say nothing, and where some did, they are its own state."""
    table = mixed_rows(60, missing=0.0)
    learned = family.learn(table, 0)
    gone = replace(table, states=np.full_like(table.states, -1))
    found = learned.log_posterior(gone)
    assert np.isfinite(found).all()
    assert not np.allclose(found, learned.log_posterior(table))


@families
@pytest.mark.parametrize("kind", ["two rows", "one class", "constant", "all missing", "alone", "one column"])
def test_the_smallest_tables_can_be_learned(family, kind):
    table = mixed_rows(40)
    if kind == "two rows":
        table = replace(table.take([0, 1]), codes=np.array([0, 2]))
    elif kind == "one class":
        table = replace(table, codes=np.zeros(40, dtype=np.int64), n_classes=1)
    elif kind == "constant":
        table = replace(table, numbers=np.ones((40, 3)), states=np.zeros((40, 2), dtype=np.int32))
    elif kind == "all missing":
        table = replace(table, numbers=np.full((40, 3), np.nan), states=np.full((40, 2), -1, dtype=np.int32))
    elif kind == "alone":
        codes = np.minimum(table.codes, 1)
        codes[7] = 2
        table = replace(table, codes=codes)
    else:
        table = table_of(table.numbers[:, :1], table.states[:, :0], [], table.codes, 3)
    learned = family.learn(table, 0)
    for found in (learned.log_posterior(table), learned.honest_log_posterior(table)[0]):
        np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("family", [FAMILIES["aode"], FAMILIES["kdb"]], ids=["aode", "kdb"])
def test_rows_that_a_structure_has_not_seen_have_no_say_in_it(family):
    """Their cells may be any: cuts, order and parents are the same, where the same rows are in."""
    table = mixed_rows(80)
    learned = family.learn(table, 0)
    for number, member in enumerate(learned.members):
        seen = in_structure(table.hashes, 0, number, learned.phi)
        numbers = np.where(seen[:, None], table.numbers, np.where(np.isnan(table.numbers), np.nan, 99.0))
        codes = np.where(seen, table.codes, (table.codes + 1) % 3)
        other = family.learn(replace(table, numbers=numbers, codes=codes), 0).members[number]
        for one, two in zip(member.columns.cuts, other.columns.cuts, strict=True):
            np.testing.assert_array_equal(one, two)


def test_without_numbers_one_member_of_aode_is_judged_by_every_row():
    table = mixed_rows(50)
    table = table_of(table.numbers[:, :0], table.states, table.n_states, table.codes, 3)
    learned = AodeMembers(8).learn(table, 0)
    assert learned.n_members == 1
    assert (learned.honest_log_posterior(table)[1] == 1).all()


def test_a_member_of_aode_is_aode_on_its_codes():
    table = mixed_rows(60)
    for member in AodeMembers(3).learn(table, 0).members:
        codes = member.columns.codes(table).T
        columns = {
            f"x{j}": pd.Categorical(column, range(n))
            for j, (column, n) in enumerate(zip(codes.T, member.columns.n_states, strict=True))
        }
        expected = AODE(super_parents="all", columns=dict.fromkeys(columns, "categorical"))
        expected.fit(pd.DataFrame(columns), table.labels)
        found = replace(member, temperature=1.0).log_posterior(table)
        np.testing.assert_allclose(found, expected.predict_log_proba(pd.DataFrame(columns)), rtol=1e-12, atol=1e-12)


def test_a_table_says_how_many_members_it_is_worth():
    table = mixed_rows(50)
    assert KdbMembers().members_for(table) == 32
    assert AodeMembers().members_for(table) == 8
    heavy = replace(table, weight=np.full(50, 1e6))
    assert KdbMembers().members_for(heavy) == 12
    assert AodeMembers().members_for(heavy) == 4
    assert KdbMembers(3).members_for(heavy) == 3


def test_probabilities_that_are_too_large_to_keep_are_read_anew(monkeypatch):
    table = mixed_rows(60)
    kept = AodeMembers(2).learn(table, 0).members[0]
    assert kept.joint_for(60) is kept.joint_for(1)
    monkeypatch.setattr(aode_members, "KEPT_BYTES", 0)
    member = AodeMembers(2).learn(table, 0).members[0]
    assert member.joint_for(60) is not member.joint_for(60)
    assert (member.joint_for(1).by_pairs, member.joint_for(10**6).by_pairs) == (True, False)
    # A row that reads its own pairs adds the same five terms for each parent, in another order.
    np.testing.assert_allclose(member.log_posterior(table), kept.log_posterior(table), rtol=1e-12)
    np.testing.assert_allclose(member.log_posterior_without(table), kept.log_posterior_without(table), rtol=1e-12)
    many = repeated(table, 20)
    assert not member.joint_for(len(many)).by_pairs
    np.testing.assert_array_equal(member.log_posterior(many), kept.log_posterior(many))


def test_classes_count_when_loops_are_to_pay():
    few, many = (AodeMembers(1).learn(mixed_rows(60, n_classes=k), 0).members[0] for k in (2, 6))
    n_rows = COMPILE_FROM_CELLS // (6 * len(many.columns.n_states) ** 2) + 1
    assert many._use_loop(n_rows)
    assert not few._use_loop(n_rows)
