"""The order of columns in which parents stand before their children."""

import numpy as np

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.coded_table import Rules, encode_categories
from bayeswater.inference.dependence import Dependence
from bayeswater.statistics.parent_counts import ParentCounts


def dependence(parents):
    """Columns with these parents; which probabilities they have does not matter."""
    coded = encode_categories(np.zeros((2, len(parents)), dtype=np.uint8), Rules("KDB", refuse_missing=False))
    families = ParentCounts.of(coded, encode_labels(np.array([0, 1])), None, parents)
    return Dependence(None, None, families, max(map(len, parents)), tuple(range(len(parents))))


def test_parents_stand_before_their_children_and_the_least_deep_first():
    assert dependence([(1, 2), (2,), (), (), (3,)]).from_roots == [2, 3, 1, 4, 0]


def test_a_chain_of_many_columns_is_followed_from_its_end_to_its_root():
    n_columns = 3000  # more than functions may be nested
    chain = dependence([*((j + 1,) for j in range(n_columns - 1)), ()])
    assert chain.from_roots == [*reversed(range(n_columns))]
