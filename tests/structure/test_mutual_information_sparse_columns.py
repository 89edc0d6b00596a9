"""Columns of too many states for their rows: they are in no arc, and change none among the others."""

import numpy as np
import pytest
from tests.structure.counted_pairs import counts_of, table

from bayeswater.structure.mutual_information import sparse_columns
from bayeswater.structure.trees import k_dependence, tree_augmented


def with_names(seed, n_names, n_rows=150):
    """Five columns of three labels, and one of names in the midst of them."""
    X, y = table(seed, n_rows, 5)
    names = [f"name {i}" for i in np.random.default_rng(seed).permutation(np.arange(n_rows) % n_names)]
    return X, np.insert(X, 2, np.array(names, dtype=object), axis=1), y


@pytest.mark.parametrize(
    ("n_names", "n_rows", "is_sparse"),
    [(150, 150, True), (16, 150, True), (15, 150, False), (12, 30, False), (13, 30, True)],
)
def test_a_state_has_ten_rows_or_there_are_twelve_at_most(n_names, n_rows, is_sparse):
    _, X, y = with_names(0, n_names, n_rows)
    assert sparse_columns(counts_of(X, y)).tolist() == [False, False, is_sparse, False, False, False]


@pytest.mark.parametrize("penalty", [None, "aic", "bic"])
@pytest.mark.parametrize("seed", range(3))
def test_a_column_of_names_changes_no_arc_among_the_others(seed, penalty):
    X, named, y = with_names(seed, 120)
    old, new = (tree_augmented(counts_of(cells, y), penalty=penalty) for cells in (X, named))
    assert new[2] == -1
    place = np.array([0, 1, 3, 4, 5])
    assert np.delete(new, 2).tolist() == np.where(old < 0, -1, place[old]).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_columns_of_names_are_last_in_the_order_and_have_no_family(seed):
    X, named, y = with_names(seed, 120)
    old, new = (k_dependence(counts_of(cells, y), 2) for cells in (X, named))
    place = [0, 1, 3, 4, 5]
    assert new.order == (*(place[j] for j in old.order), 2)
    assert new.parents[2] == ()
    assert [new.parents[j] for j in place] == [tuple(place[p] for p in own) for own in old.parents]
    drawn = k_dependence(counts_of(named, y), 2, rng=np.random.default_rng(seed))
    assert drawn.order[-1] == 2
    assert all(2 not in own for own in drawn.parents)
