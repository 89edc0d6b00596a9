"""EM for networks: expected counts are those of enumeration, and what it comes to is the largest likelihood."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.learning.lossy_rows import rows_of
from tests.networks.nets import asia, joint_by_enumeration, random_network

from bayeswater.errors import ConvergenceWarning, ImpossibleEvidence
from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.inference.exact.factors import Factors
from bayeswater.learning import completions
from bayeswater.learning.network_em import Expectation, fit_by_em


def posterior_by_enumeration(joint, row):
    """The joint of all variables given what a row knows, and the probability of that."""
    known = tuple(
        slice(None) if code >= card else slice(code, code + 1) for code, card in zip(row, joint.shape, strict=True)
    )
    kept = np.zeros_like(joint)
    kept[known] = joint[known]
    return kept / kept.sum(), kept.sum()


def counts_by_enumeration(network, codes, weight):
    joint = joint_by_enumeration(network)
    posterior, log_likelihood = np.zeros_like(joint), 0.0
    for row, w in zip(codes.T, weight, strict=True):
        given_row, evidence = posterior_by_enumeration(joint, row)
        posterior += w * given_row
        log_likelihood += w * np.log(evidence)
    n = joint.ndim
    counts = []
    for v, parents in enumerate(network.parents):
        members = [*parents, v]
        left = posterior.sum(axis=tuple(set(range(n)) - set(members)))
        counts.append(left.transpose(np.argsort(np.argsort(members))))  # axes in the order of the family
    return counts, log_likelihood


def even(network):
    return Factors(network.cards, network.parents, tuple(np.full(t.shape, 1 / t.shape[-1]) for t in network.tables))


def uneven(network, seed=0):
    """Tables without zeros that are not those of the network."""
    rng = np.random.default_rng(seed)
    tables = tuple(rng.dirichlet(np.full(t.shape[-1], 3.0), size=t.shape[:-1]) for t in network.tables)
    return Factors(network.cards, network.parents, tables)


def no_pseudo_counts(network, alpha=0.0):
    return [np.full(card, alpha) for card in network.cards]


def fit(start, codes, pseudo_counts, weight=None, **settings):
    return fit_by_em(start, Expectation(codes, start.parents, start.cards, weight), pseudo_counts, **settings)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 5),
    zeros=st.booleans(),
    share=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    weighted=st.booleans(),
    reach=st.sampled_from([0, 12, completions.PLACES_OF_A_ROW]),
    few=st.sampled_from([0, completions.FEW_MISSING]),
)
def test_expected_counts_are_those_of_all_completions(seed, n, zeros, share, weighted, reach, few):
    rng = np.random.default_rng(seed)
    network = random_network(n, rng, zeros=zeros)
    codes = rows_of(network, 12, share, rng)
    weight = rng.uniform(0.1, 3.0, 12) if weighted else np.ones(12)
    expected, expected_log_likelihood = counts_by_enumeration(network, codes, weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completions, "PLACES_OF_A_ROW", reach)  # rows beyond it are spread by messages in a tree
        patch.setattr(completions, "FEW_MISSING", few)  # with no more of them the loops are plain Python
        patch.setattr(completions.Completions, "n_places", 0)
        expectation = Expectation(codes, network.parents, network.cards, weight)
        counts, log_likelihood = expectation.counts(Factors.of(network))
    # Sums of at most 1024 products of five numbers: a few hundred roundings.
    for mine, theirs in zip(counts, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)
    assert log_likelihood == pytest.approx(expected_log_likelihood, rel=1e-11, abs=1e-11)


@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.2, 0.6]))
def test_no_round_makes_the_rows_less_likely(seed, share):
    rng = np.random.default_rng(seed)
    network = random_network(4, rng, zeros=True)
    codes = rows_of(network, 40, share, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        way = fit(uneven(network), codes, no_pseudo_counts(network), max_rounds=15, tolerance=0.0).log_likelihood
    assert all(after >= before - 1e-11 * abs(before) for before, after in pairwise(way))  # the rounding of a sum


def test_no_round_makes_rows_and_prior_together_less_likely():
    rng = np.random.default_rng(3)
    network = random_network(4, rng)
    codes, pseudo = rows_of(network, 60, 0.4, rng), no_pseudo_counts(network, 0.7)
    way = []
    for n_rounds in range(8):
        with pytest.warns(ConvergenceWarning):
            learned = fit(uneven(network), codes, pseudo, max_rounds=n_rounds, tolerance=0.0)
        way.append(learned.log_likelihood[-1] + sum(0.7 * np.log(table).sum() for table in learned.tables))
    assert all(after > before for before, after in pairwise(way))


def test_of_whole_rows_the_tables_are_shares_after_one_round():
    rng = np.random.default_rng(0)
    network = random_network(4, rng)
    codes = rows_of(network, 400, 0.0, rng)
    learned = fit(even(network), codes, no_pseudo_counts(network, 1.0))
    counts, _ = counts_by_enumeration(network, codes, np.ones(400))
    for table, count in zip(learned.tables, counts, strict=True):
        smoothed = count + 1
        np.testing.assert_allclose(table, smoothed / smoothed.sum(axis=-1, keepdims=True), rtol=1e-13)
    assert learned.n_rounds == 2 and learned.has_converged  # one that counts, one that changes nothing


@pytest.mark.parametrize("lacking", [0, 1])
def test_where_one_of_two_lacks_cells_the_answer_is_that_of_the_factored_likelihood(lacking):
    # The joint is P(whole) of all rows times P(lacking | whole) of the rows that have both, whichever is the parent.
    rng = np.random.default_rng(lacking)
    a = rng.integers(0, 3, 600)
    codes = np.array([a, (a + (rng.random(600) < 0.3)) % 3])
    whole = 1 - lacking
    codes[lacking, (rng.random(600) < 0.5) & (codes[whole] > 0)] = 3  # missing more often for some of the others
    both = (codes < 3).all(axis=0)
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (codes[whole, both], codes[lacking, both]), 1)
    joint = (np.bincount(codes[whole], minlength=3) / 600)[:, None] * pairs / pairs.sum(axis=1, keepdims=True)
    start = Factors((3, 3), ((), (0,)), (np.full(3, 1 / 3), rng.dirichlet(np.ones(3), size=3)))
    learned = fit(start, codes, [np.zeros(3)] * 2, max_rounds=2000, tolerance=1e-15)
    found = learned.tables[0][:, None] * learned.tables[1]
    # EM comes nearer by a constant factor each round, and ends where the likelihood changes in its last digits.
    np.testing.assert_allclose(found, joint if whole == 0 else joint.T, atol=1e-6)


def test_with_a_fifth_of_the_cells_missing_it_is_nearer_to_the_truth_than_without_these_rows():
    network = asia().core
    joint = joint_by_enumeration(network)
    for seed in range(5):
        codes = rows_of(network, 2000, 0.2, np.random.default_rng(seed))
        whole = codes[:, (codes < 2).all(axis=0)]
        distance = {}
        for name, rows in (("em", codes), ("dropped", whole)):
            learned = fit(even(network), rows, no_pseudo_counts(network, 0.5))
            found = joint_by_enumeration(Factors(network.cards, network.parents, learned.tables))
            seen = joint > 0
            distance[name] = (joint[seen] * np.log(joint[seen] / found[seen])).sum()
        assert distance["em"] < 0.6 * distance["dropped"]


def test_whole_weights_are_as_many_rows():
    rng = np.random.default_rng(5)
    network = random_network(4, rng)
    codes, weight = rows_of(network, 30, 0.3, rng), rng.integers(1, 4, 30)
    pseudo = no_pseudo_counts(network, 1.0)
    weighted = fit(uneven(network), codes, pseudo, weight=weight)
    repeated = fit(uneven(network), np.repeat(codes, weight, axis=1), pseudo)
    assert weighted.log_likelihood == repeated.log_likelihood
    for one, other in zip(weighted.tables, repeated.tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_of_which_nothing_is_known_tell_nothing():
    rng = np.random.default_rng(6)
    network = random_network(4, rng)
    nothing = np.repeat(np.array(network.cards)[:, None], 50, axis=1)
    begin = uneven(network)
    alone = fit(begin, nothing, no_pseudo_counts(network))
    assert alone.log_likelihood[-1] == pytest.approx(0.0, abs=1e-12)
    for table, start in zip(alone.tables, begin.tables, strict=True):
        np.testing.assert_allclose(table, start, rtol=1e-12)
    codes = rows_of(network, 200, 0.1, rng)
    fits = [
        fit(begin, rows, no_pseudo_counts(network), max_rounds=2000, tolerance=1e-12)
        for rows in (codes, np.concatenate([codes, nothing], axis=1))
    ]
    # Slower for the rows that tell nothing, to the same place.
    assert fits[0].log_likelihood[-1] == pytest.approx(fits[1].log_likelihood[-1], abs=1e-6)


def test_zeros_of_the_start_stay():
    start = Factors((2, 2), ((), (0,)), (np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.3, 0.7]])))
    codes = np.array([[2, 2, 2, 0, 1], [0, 1, 0, 0, 2]])
    learned = fit(start, codes, [np.zeros(2)] * 2)
    assert learned.tables[1][0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("reach", [0, completions.PLACES_OF_A_ROW])
def test_rows_that_the_start_cannot_have_are_refused(reach, monkeypatch):
    monkeypatch.setattr(completions, "PLACES_OF_A_ROW", reach)
    start = Factors((2, 2), ((), (0,)), (np.array([0.5, 0.5]), np.array([[1.0, 0.0], [1.0, 0.0]])))
    with pytest.raises(ImpossibleEvidence, match="some rows have probability zero"):
        fit(start, np.array([[0, 2], [0, 1]]), [np.ones(2)] * 2)
    with pytest.raises(ImpossibleEvidence, match="some rows have probability zero"):
        fit(start, np.array([[0], [1]]), [np.ones(2)] * 2)


def test_it_says_when_it_was_stopped_before_it_had_come_to_an_end():
    rng = np.random.default_rng(7)
    network = random_network(4, rng)
    codes = rows_of(network, 50, 0.5, rng)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 rounds"):
        learned = fit(uneven(network), codes, no_pseudo_counts(network), max_rounds=2)
    assert not learned.has_converged and learned.n_rounds == 2
    assert len(learned.log_likelihood) == 3 and list(learned.log_likelihood) == sorted(learned.log_likelihood)


def test_what_is_kept_has_a_limit_and_what_is_beyond_is_answered_all_the_same(monkeypatch):
    rng = np.random.default_rng(8)
    network = random_network(5, rng)
    codes = rows_of(network, 200, 0.3, rng)
    (one, log_one) = Expectation(codes, network.parents, network.cards).counts(uneven(network))
    monkeypatch.setattr(completions, "PLACES_KEPT", 2000)
    monkeypatch.setattr(completions, "PLACES_OF_A_ROW", 500)  # of several rows, too, that are laid out at once
    monkeypatch.setattr(completions, "MISSING_OF_A_PART", 60)
    part = Expectation(codes, network.parents, network.cards)
    for _ in range(2):
        other, log_other = part.counts(uneven(network))
        assert log_one == pytest.approx(log_other, rel=1e-12)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def test_few_kinds_of_rows_go_to_the_loop_once_rounds_or_draws_are_many(monkeypatch):
    network, asked = random_network(4, np.random.default_rng(3)), []

    def spied(plain):
        return lambda *given, use_loop: asked.append(use_loop) or plain(*given, use_loop=False)

    monkeypatch.setattr(completions, "expect", spied(completions.expect))
    monkeypatch.setattr(completions, "draw", spied(completions.draw))
    monkeypatch.setattr(completions, "FEW_PLACES", 5000)
    monkeypatch.setattr(completions.Completions, "n_places", 0)
    codes = rows_of(network, 40, 0.0, np.random.default_rng(3))
    codes[0] = network.cards[0]
    rows = Expectation(codes, network.parents, network.cards)
    for _ in range(300):
        rows.counts(uneven(network))
    assert not asked[0] and asked[-1]
    monkeypatch.setattr(completions.Completions, "n_places", 0)
    Expectation(codes, network.parents, network.cards).draw(uneven(network), 1, np.random.default_rng(0))
    assert not asked[-1]
    Expectation(np.repeat(codes[:, :1], 1000, axis=1), network.parents, network.cards).draw(
        uneven(network), 3, np.random.default_rng(0)
    )
    assert asked[-1]


@pytest.mark.parametrize("reach", [0, completions.PLACES_OF_A_ROW])
def test_missing_cells_are_drawn_as_often_as_they_are_probable_together(reach, monkeypatch):
    monkeypatch.setattr(completions, "PLACES_OF_A_ROW", reach)
    network = random_network(4, np.random.default_rng(9), zeros=True)
    joint = joint_by_enumeration(network)
    kinds, n = rows_of(network, 3, 0.7, np.random.default_rng(10)), 4000
    rows = Expectation(np.repeat(kinds, n // 2, axis=1), network.parents, network.cards)
    copies = rows.draw(Factors.of(network), 2, np.random.default_rng(0))
    assert copies.shape == (4, 2, 3 * n // 2)
    for row, drawn in zip(kinds.T, np.split(copies, 3, axis=2), strict=True):
        known = row < network.cards
        assert (drawn[known] == row[known, None, None]).all()
        expected = n * posterior_by_enumeration(joint, row)[0].ravel()
        count = np.bincount(np.ravel_multi_index(drawn.reshape(4, n), joint.shape), minlength=joint.size)
        assert (count[expected == 0] == 0).all()
        often = expected > 5
        statistic = ((count - expected)[often] ** 2 / expected[often]).sum()
        assert statistic < chi2.ppf(0.999, max(1, often.sum() - 1))  # once in a thousand seeds it is larger


def test_a_row_with_a_thousand_missing_cells_in_one_piece_is_counted():
    n = 1100  # a chain of which nothing is known: two to the power of 1100 completions, which no float holds
    parents = ((), *((v - 1,) for v in range(1, n)))
    codes = np.full((n, 2), 2)
    codes[:, 1] = 0
    even = Factors((2,) * n, parents, (np.full(2, 0.5), *[np.full((2, 2), 0.5)] * (n - 1)))
    counts, log_likelihood = Expectation(codes, parents, (2,) * n).counts(even)
    assert log_likelihood == pytest.approx(n * np.log(0.5), rel=1e-12)
    np.testing.assert_allclose(counts[1], [[1.25, 0.25], [0.25, 0.25]], rtol=1e-12)


def test_products_too_small_for_a_float_are_answered_all_the_same():
    # P(a = 0 | row) = 1e-400 t / (1e-400 t + (1 - t) 1e-400): both completions are far below the least float.
    parents, small = ((), (0,), (0,)), np.array([[1e-200, 1 - 1e-200], [1e-200, 1 - 1e-200]])
    start = Factors((2, 2, 2), parents, (np.array([0.25, 0.75]), small, small))
    counts, log_likelihood = Expectation(np.array([[2], [0], [0]]), parents, (2, 2, 2)).counts(start)
    np.testing.assert_allclose(counts[0], [0.25, 0.75], rtol=1e-12)
    assert log_likelihood == pytest.approx(-400 * np.log(10), rel=1e-12)


def test_entries_that_rows_speak_against_come_to_nothing_and_rows_stay_with_elimination():
    # They fall by a power in each round: products of a few would be too small to be told from nothing.
    rng = np.random.default_rng(12)
    codes = np.array([rng.integers(0, 2, 400)] * 3)
    codes = np.where(rng.random(codes.shape) < 0.4, 2, codes)
    parents = ((), (0,), (1,))
    rows, tables = Expectation(codes, parents, (2, 2, 2)), (np.full(2, 0.5), *[np.array([[0.9, 0.1], [0.1, 0.9]])] * 2)
    for _ in range(500):
        counts, _ = rows.counts(Factors((2, 2, 2), parents, tables))
        tables = tuple(conditional_table(count, np.zeros(2)) for count in counts)
    np.testing.assert_array_equal(tables[1], np.eye(2))
    assert not len(rows.completions.counts(Factors((2, 2, 2), parents, tables))[2])
