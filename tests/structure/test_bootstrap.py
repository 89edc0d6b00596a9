"""Arcs counted over repetitions, and the threshold from which they are significant."""

import numpy as np
import pytest
from tests.oracles.chained_rows import chained_rows
from tests.oracles.local_scores import is_acyclic

from bayeswater.kernels.threads import threads
from bayeswater.structure.bootstrap import arc_counts, averaged_parents, significance_threshold
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.scores import Score

KNOWN = Knowledge.of(tuple("abcde"))


def repeated(codes, n_states, knowledge, n, **settings):
    """Counts of arcs of searches for BIC."""

    def scores(order, rows):
        return LocalScores(codes[order][:, rows], n_states[order], Score("bic"))

    return arc_counts(scores, codes.shape[1], knowledge, n, **settings)


def counts(n=20, **settings):
    codes, n_states = chained_rows(200, [2, 3, 2, 2, 2], seed=1)
    return repeated(codes, n_states, KNOWN, n, method="hill_climb", seed=4, **settings)


def test_the_counts_do_not_depend_on_the_number_of_threads():
    with threads(1):
        alone = counts()
    with threads(3):
        np.testing.assert_array_equal(counts(), alone)


def test_rows_of_weight_zero_are_never_drawn():
    codes, n_states = chained_rows(200, [2, 3, 2, 2, 2], seed=1)
    weight = np.repeat([1.0, 0.0], 100)
    codes[1, 100:] = codes[4, 100:]
    arcs = repeated(codes, n_states, KNOWN, 10, method="hill_climb", seed=1, weight=weight)
    kept = repeated(codes[:, :100], n_states, KNOWN, 10, method="hill_climb", seed=1)
    assert arcs.sum() > 0
    assert arcs[1, 4] + arcs[4, 1] <= max(3, kept[1, 4] + kept[4, 1])


def test_progress_is_told_of_every_repetition():
    told = []
    counts(3, progress=told.append)
    assert told == [1, 2, 3]


def test_the_threshold_parts_strong_pairs_from_weak_ones():
    rng = np.random.default_rng(0)
    weak, strong = rng.beta(1, 20, 60), rng.beta(20, 1, 10)
    threshold = significance_threshold(np.concatenate([weak, strong]))
    assert weak.max() <= threshold < strong.min()


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_is_the_step_that_lies_nearest_to_the_distribution(seed):
    strengths = np.random.default_rng(seed).choice([0.0, 0.1, 0.35, 0.7, 0.9, 1.0], size=12)
    grid = np.linspace(0, 1, 20_001)[:-1] + 0.5 / 20_000
    share = (strengths[:, None] <= grid).mean(axis=0)
    heights = np.unique(share)
    best = min(np.abs(share - height).mean() for height in heights)
    threshold = significance_threshold(strengths)
    found = (strengths <= threshold).mean()
    assert np.abs(share - found).mean() == pytest.approx(best, abs=1e-3)


def test_the_averaged_graph_has_no_cycle_and_takes_the_stronger_arcs_first():
    n, three = 10, Knowledge.of(("a", "b", "c"))
    share = np.zeros((3, 3))
    share[0, 1], share[1, 2], share[2, 0] = 10, 9, 8
    parents = averaged_parents(share, n, 0.5, three)
    assert parents == ((), (0,), (1,))
    assert is_acyclic([set(own) for own in parents])
    assert averaged_parents(share, n, 0.85, three) == ((), (0,), (1,))
    assert averaged_parents(share, n, 0.95, three) == ((), (0,), ())


def test_an_arc_that_knowledge_directs_directs_those_that_follow_from_it():
    codes, n_states = chained_rows(2000, [2, 2, 2], seed=1)  # a -- b -- c
    known = Knowledge.of(("a", "b", "c"), forbidden=[("b", "a")])
    arcs = repeated(codes, n_states, known, 5, method="exact", seed=1)
    np.testing.assert_array_equal(arcs, [[0, 5, 0], [0, 0, 5], [0, 0, 0]])


def test_arcs_that_were_found_both_ways_equally_often_make_no_new_v_structure():
    share = np.zeros((3, 3))
    share[[0, 2, 1, 2], [2, 0, 2, 1]] = 5  # a -- c -- b in all of ten repetitions
    parents = averaged_parents(share, 10, 0.5, Knowledge.of(("a", "b", "c")))
    assert sum(map(len, parents)) == 2 and max(map(len, parents)) == 1


@pytest.mark.parametrize(
    "known",
    [{"tiers": [["b"], ["a"]]}, {"forbidden": "a -> *; c -> *"}, {"required": [("b", "a")]}],
)
def test_the_averaged_graph_keeps_to_what_is_known(known):
    codes, n_states = chained_rows(200, [2, 2, 2], seed=1)
    codes[1] = np.where(np.arange(200) % 10 == 0, 1 - codes[0], codes[0])
    knowledge = Knowledge.of(("a", "b", "c"), **known)
    arcs = repeated(codes, n_states, knowledge, 10, method="hill_climb", seed=4)
    parents = averaged_parents(arcs, 10, 0.5, knowledge)
    assert 1 in parents[0] and 0 not in parents[1]
    assert averaged_parents(arcs, 10, 0.5, Knowledge.of(("a", "b", "c"), max_parents=0)) == ((), (), ())
