"""KDB members against their formula in fractions, straight from the rows, and how they choose."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.learning.members.member_rows import mixed_rows

from bayeswater.estimate.back_off import Concentrations
from bayeswater.inference.dependence import Removed
from bayeswater.learning.members.committee import best_temperature, in_structure, log_loss, tempered
from bayeswater.learning.members.kdb_members import CLASS_FREE, MOST_PARENTS, PILOTS, KdbMembers, counted_columns


def exact_posterior(member, codes, y, weight, row, n_classes):
    """P(y | row) from all rows but one copy of `row`, by the formula of every level, in fractions."""
    joint, n_states = member.joint, member.columns.n_states.tolist()
    rest = [Fraction(w) for w in weight]
    rest[row] -= min(Fraction(1), rest[row])
    rows = range(len(rest))
    n = [sum(rest[i] for i in rows if y[i] == k) for k in range(n_classes)]
    posterior = [(n[k] + Fraction(1, n_classes)) / (sum(n) + 1) for k in range(n_classes)]
    c = [Fraction(float(each)) for each in joint.concentrations.with_class]
    lam = Fraction(joint.class_free)
    for place, column in enumerate(joint.columns):
        x, v = column.index, n_states[column.index]
        f = [Fraction(float(each)) for each in joint.concentrations.without_class[place]]
        inside = [i for i in rows if codes[i][x] < v]
        if codes[row][x] >= v:
            continue
        free, share = Fraction(1, v), [Fraction(1)] * n_classes
        for level in range(len(column.parents) + 1):
            if level:
                parent = column.parents[level - 1]
                if codes[row][parent] >= n_states[parent]:
                    break
                inside = [i for i in inside if codes[i][parent] == codes[row][parent]]
            whole = sum(rest[i] for i in inside)
            if level and whole == 0:
                break
            same = [i for i in inside if codes[i][x] == codes[row][x]]
            free = (sum(rest[i] for i in same) + f[level] * free) / (whole + f[level])
            for k in range(n_classes):
                base = free if level == 0 else (1 - lam) * share[k] + lam * free
                own = sum(rest[i] for i in same if y[i] == k)
                of_class = sum(rest[i] for i in inside if y[i] == k)
                share[k] = (own + c[level] * base) / (of_class + c[level])
        posterior = [p * s for p, s in zip(posterior, share, strict=True)]
    return [float(p / sum(posterior)) for p in posterior]


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("weight", [None, np.tile([0.5, 1.0, 3.0, 1.5], 15)])
def test_posteriors_without_a_row_follow_the_formula_of_all_levels(missing, weight):
    table = replace(mixed_rows(60, missing=missing), weight=weight)
    family = KdbMembers(4).learn(table, 0)
    strange = mixed_rows(60, missing=0.2, seed=9)  # cells are missing that never were
    table = replace(table, numbers=strange.numbers, states=strange.states, codes=strange.codes)
    for number, member in enumerate(family.members):
        member = replace(member, temperature=1.0, joint=every_level(member, table, number))
        codes = member.columns.codes(table).T.tolist()
        found = np.exp(member.log_posterior_without(table))
        for row in range(0, 60, 5):
            expected = exact_posterior(member, codes, table.labels.tolist(), table.weights, row, 3)
            # Some thirty factors, each of six levels of three operations.
            np.testing.assert_allclose(found[row], expected, rtol=1e-12)


def every_level(member, table, number):
    """The joint with all parents that columns can have, so that many nodes have but one row, and odd concentrations."""
    rng, n_columns = np.random.default_rng(number), len(member.columns.n_states)
    structure = [(x, tuple(range(x))[::-1][:MOST_PARENTS]) for x in range(n_columns)]
    found = Concentrations(rng.exponential(size=n_columns), rng.exponential(size=(n_columns, n_columns)))
    counted = counted_columns(structure, member.columns.n_states, member.columns.codes(table), table)
    class_free = (0.0, 0.3, 1.0, 0.7)[number]
    return replace(member.counting(table).joint, columns=counted, class_free=class_free, concentrations=found)


def test_chosen_parents_and_columns_are_those_of_least_log_loss():
    table = mixed_rows(150)
    family = KdbMembers(3).learn(table, 1)
    for number, member in enumerate(family.members):
        judges = table.take(family.tuning_rows(table, number))
        codes, taken = member.columns.codes(judges), Removed(judges.labels, judges.removed)
        losses = member.joint.log_losses(codes, judges.weights, taken)
        raw = replace(member, temperature=1.0).log_posterior_without(judges)
        own = -raw[np.arange(len(judges)), judges.labels].sum()
        np.testing.assert_allclose(losses[-1, -1], own, rtol=1e-12)  # all that is kept is the last model
        assert losses[-1, -1] <= losses.min() * (1 + 1e-12)


def test_a_row_teaches_the_structure_of_a_member_or_tunes_it_or_judges_it():
    table = mixed_rows(150)
    family = KdbMembers(5).learn(table, 1)
    _, n_judges = family.honest_log_posterior(table)
    roles = [(in_structure(table.hashes, 1, m, family.phi), family.tuning_rows(table, m)) for m in range(5)]
    assert not any((seen & tuning).any() for seen, tuning in roles)
    np.testing.assert_array_equal(n_judges, sum(~seen & ~tuning for seen, tuning in roles))


def test_members_differ_in_their_order():
    family = KdbMembers(6).learn(mixed_rows(150), 0)
    assert len({tuple(column.index for column in member.joint.columns) for member in family.members}) > 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_lambda_is_the_one_that_the_pool_of_the_first_members_says_most_with(seed):
    table = mixed_rows(120, seed=seed)
    learned = KdbMembers(6).learn(table, seed)
    assert {member.joint.class_free for member in learned.members} == {learned.class_free}
    losses = {}
    for class_free in CLASS_FREE:
        few = KdbMembers(seed=seed, class_free=class_free).grown(table, PILOTS)
        found, n_members = few.tuning_log_posterior(table)
        rows, count = n_members > 0, np.bincount(table.labels)
        judged = table.take(rows)
        losses[class_free] = log_loss(
            tempered(found[rows], best_temperature(found[rows], judged, count)), judged, count
        )
    assert learned.class_free == min(losses, key=losses.get)
    first = KdbMembers(seed=seed, class_free=learned.class_free).grown(table, PILOTS)
    for one, other in zip(first.members, learned.members, strict=False):
        np.testing.assert_array_equal(one.log_posterior(table), other.log_posterior(table))
