"""What no graph scores above: held against the best graph of all."""

import numpy as np
import pytest

from bayeswater import BayesianNetwork, learn_structure
from bayeswater.structure import score_bounds
from bayeswater.structure.exact_search import exact_search
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.score_bounds import score_bound
from bayeswater.structure.scores import Score

NAMES = tuple("abcdef")


def drawn(seed: int, score: str = "bic") -> LocalScores:
    """Scores of six variables, each a noisy function of two before it."""
    rng = np.random.default_rng(seed)
    n_states = rng.integers(2, 4, size=6)
    codes = np.empty((6, 150), dtype=np.int64)
    for v, n in enumerate(n_states):
        a, b = rng.integers(0, max(1, v), size=2)
        told = rng.integers(n, size=(3, 3))[codes[a] % 3, codes[b] % 3] if v else rng.integers(n, size=150)
        codes[v] = np.where(rng.random(150) < 0.3, rng.integers(n, size=150), told)
    return LocalScores(codes, n_states, Score(score))


@pytest.mark.parametrize("score", ["bic", "bdeu"])
@pytest.mark.parametrize("orders", [16, 0])  # variables up to which all orders are gone through
def test_no_graph_scores_above_the_bound(score, orders, monkeypatch):
    monkeypatch.setattr(score_bounds, "FEW_VARIABLES", orders)
    for seed in range(4):
        scores = drawn(seed, score)
        known = Knowledge.of(NAMES, required="a -> c", forbidden="b -> d", max_parents=(None, 2)[seed % 2])
        best = exact_search(scores, known)[1]
        free = sum(max(score_bounds.parent_sets(scores, known, y).values()) for y in range(6))
        bound = score_bound(scores, known, known.start)
        assert bound.max_parents is None
        assert best - 1e-9 <= bound.score <= free + 1e-9
        if orders:
            assert bound.score == pytest.approx(best, rel=1e-12)
        else:
            assert bound.score - best <= 0.5 * (free - best)  # clusters bring it down


def test_a_bound_is_over_the_sets_that_can_be_counted_and_those_that_were_found(monkeypatch):
    scores, known = drawn(3), Knowledge.of(NAMES)
    cells = 6 * (150 + score_bounds.CELLS_OF_A_SET)
    monkeypatch.setattr(score_bounds, "MOST_CELLS", cells * 6 * (1 + 5))  # all columns of none and of one parent
    crowded = tuple(frozenset(range(v)) for v in range(6))
    bound = score_bound(scores, known, crowded)
    assert bound.max_parents == 2
    assert bound.score >= max(exact_search(scores, Knowledge.of(NAMES, max_parents=2))[1], scores.total(crowded)) - 1e-9
    monkeypatch.setattr(score_bounds, "MOST_CELLS", cells * 6 * 6 - 1)
    assert score_bound(scores, known, crowded) is None


def test_a_search_shows_what_is_still_to_be_gained():
    chain = BayesianNetwork(
        "a -> b -> c; a -> d; c -> d",
        {
            "a": [0.4, 0.6],
            "b": [[0.9, 0.1], [0.2, 0.8]],
            "c": [[0.8, 0.2], [0.3, 0.7]],
            "d": [[[0.9, 0.1], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]],
        },
    )
    rows = chain.sample(400, random_state=0).to_pandas()
    best = learn_structure(rows, method="exact")
    assert best.bound.score == best.score
    worst = learn_structure(rows, method="tree")
    assert "ask for .bound" in repr(worst)  # printing works nothing out: it is done everywhere, in tracebacks too
    assert worst.bound.score == pytest.approx(best.score)
    assert f"at most {best.score - worst.score:.2f} are still to be gained" in repr(worst)
    rows.iloc[0, 0] = None
    assert learn_structure(rows).bound is None
