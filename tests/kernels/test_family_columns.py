"""The kernel that scores a column of families against the reference that counts each of them."""

import numpy as np
import pytest

from bayeswater.structure.families import Families
from bayeswater.structure.scores import Score


def both(codes, n_states, score):
    fast, slow = Families(codes, n_states, score), Families(codes, n_states, score)
    fast._uses_kernel, slow._uses_kernel = True, False
    return fast, slow


def table(n_rows, n_states, seed):
    """Rows in which neighbours depend on one another, and some states are rare."""
    rng = np.random.default_rng(seed)
    codes = np.empty((len(n_states), n_rows), dtype=np.uint8)
    for j, r in enumerate(n_states):
        fresh = np.minimum(rng.geometric(0.5, n_rows) - 1, r - 1)
        kept = np.minimum(codes[j - 1], r - 1) if j else fresh
        codes[j] = np.where(rng.random(n_rows) < 0.6, kept, fresh)
    return codes, np.array(n_states)


@pytest.mark.parametrize("name", ["loglik", "aic", "bic", "bdeu", "k2", "fnml", "qnml"])
@pytest.mark.parametrize("parents", [(), (1,), (0, 4), (0, 2, 3, 5)])
@pytest.mark.parametrize("n_rows", [1, 63, 700])
def test_a_column_holds_the_scores_of_all_its_families(name, parents, n_rows):
    fast, slow = both(*table(n_rows, [2, 3, 1, 4, 2, 3, 5, 2], seed=n_rows), Score(name))
    for y in (6, 7):
        found, expected = fast.column(y, frozenset(parents)), slow.column(y, frozenset(parents))
        counted = np.isfinite(found)
        np.testing.assert_allclose(found[counted], expected[counted], rtol=1e-12, atol=1e-9)
        assert counted[[*parents, y]].all()
        assert (expected[~counted] <= expected[y]).all()  # what was not counted could not have gained


def test_counts_beyond_the_tables_are_worked_out(monkeypatch):
    monkeypatch.setattr("bayeswater.structure.families.TABLE_LENGTH", 10)
    for name in ("bic", "bdeu"):
        fast, slow = both(*table(400, [2, 3, 2, 2], seed=3), Score(name))
        found, expected = fast.column(0, frozenset([1])), slow.column(0, frozenset([1]))
        np.testing.assert_allclose(found[np.isfinite(found)], expected[np.isfinite(found)], rtol=1e-12)


def test_columns_beyond_the_budget_are_counted_again_and_that_is_told():
    codes, n_states = table(100, [2, 3, 2], seed=1)
    families = Families(codes, n_states, Score("bic"), cache_bytes=300)
    first = families.column(0, frozenset())
    assert not families.is_full
    second = families.column(1, frozenset())
    assert families.is_full
    np.testing.assert_array_equal(families.column(1, frozenset()), second)
    assert families.column(0, frozenset()) is first
