"""Some pairs of columns: their counts are those of all pairs, wherever they lie; what rows cannot have is refused."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.coded_table import Rules, encode_categories
from bayeswater.errors import StatisticsError
from bayeswater.statistics.consistency import require_consistent, require_pairs, require_some_pairs
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.some_pairs import SomePairs, stars
from bayeswater.statistics.sums import ClassCounts, Sums

RNG = np.random.default_rng(0)
X = np.stack([RNG.choice(np.array([*"abcde"[:n], None], dtype=object), 60) for n in (2, 4, 1, 3, 5)], axis=1)
Y = encode_labels(RNG.choice(np.array(["no", "yes"]), 60))
CODED = encode_categories(X, Rules("the test", refuse_missing=False))
SHAPES = {
    "a tree": ((), (0,), (1,), (0,), (3,)),
    "stars": stars(np.array([3, 1]), 5),
    "either names the other": ((4, 1), (), (1,), (0, 4, 2), ()),
}
ALL = PairCounts.of(CODED, Y, None)

every_shape = pytest.mark.parametrize("partners", SHAPES.values(), ids=SHAPES)


def counted(partners):
    return SomePairs.of_partners(CODED, Y, None, partners)


@every_shape
def test_pairs_that_are_counted_are_those_of_all_pairs_in_both_directions(partners):
    counts = counted(partners)
    for i, j in permutations(range(5), 2):
        if j in partners[i] or i in partners[j]:
            np.testing.assert_array_equal(counts.of_pair(i, j), ALL.of_pair(i, j), strict=True)
        else:
            with pytest.raises(StatisticsError, match=f"'x{i}' and 'x{j}' were not counted together"):
                counts.of_pair(i, j)


@every_shape
def test_rows_and_strides_lead_to_the_cells_of_each_pair(partners):
    counts = counted(partners)
    for i in range(5):
        first, mine, theirs = counts.rows_with(i)
        for j in set(range(5)) - {i}:
            if not (j in partners[i] or i in partners[j]):
                assert first[j] == -1
                continue
            table = ALL.of_pair(i, j)
            a, b = np.indices(table.shape[:2])
            np.testing.assert_array_equal(counts.pairs[first[j] + a * mine[j] + b * theirs[j]], table)


def test_the_states_of_a_column_are_counted_without_its_missing_cells():
    for j in range(5):
        states, cells = CODED.schema[j].states, X[:, j]
        expected = [[np.sum((cells == s) & (Y.codes == k)) for k in range(2)] for s in states]
        np.testing.assert_array_equal(ALL.of_column(j), expected)


def changed(counts, *cells):
    """Add to the first class of some rows of the pairs."""
    pairs = counts.pairs.copy()
    for row, more in cells:
        pairs[row, 0] += more
    return replace(counts, pairs=pairs)


def sums_of(counts):
    return Sums(ClassCounts.of(Y, None), counts)


@pytest.mark.parametrize("counts", [ALL, *map(counted, SHAPES.values())], ids=["all", *SHAPES])
def test_counts_that_do_not_add_up_to_those_of_the_columns_are_refused(counts):
    require = require_some_pairs if isinstance(counts, SomePairs) else require_pairs
    require(counts, 0)
    require_consistent(sums_of(counts))
    message = "do not add up to the counts of"
    rows = replace(counts, pairs=np.repeat(np.arange(len(counts.pairs))[:, None], 2, axis=1))
    for i, j in permutations(range(5), 2):
        if j not in (counts.partners[i] if isinstance(counts, SomePairs) else range(i)):
            continue
        where = rows.of_pair(i, j)[..., 0]
        # Rows that move to another state of one column: the totals of the other stay.
        for wrong in ([(where[0, 0], 1), (where[1, 0], -1)], [(where[0, 0], 1), (where[0, 1], -1)]):
            with pytest.raises(StatisticsError, match=f"'x{i}'.*{message}"):
                require(changed(counts, *wrong), 0)
    with pytest.raises(StatisticsError, match="pairs has shape"):
        require(replace(counts, pairs=counts.pairs[1:]), 0)
    with pytest.raises(StatisticsError, match=r"pairs has shape .* of float64"):
        require_consistent(sums_of(replace(counts, pairs=counts.pairs.astype(np.float64))))


def test_a_subtraction_names_the_pair_of_states_that_was_never_counted():
    def counts_of(*rows):
        coded = encode_categories(np.array([*map(list, rows)], dtype=object), Rules("the test", refuse_missing=False))
        return SomePairs.of_partners(coded, encode_labels(np.array(["no"] * len(rows))), None, ((), (0,), (1,)))

    counts = counts_of("aup", "avq", "bwq")
    assert (counts - counts_of("aup", "bwq")).singles.table.sum() == 3
    with pytest.raises(StatisticsError, match="the count of 'x2' = 'q' and 'x1' = 'u' in class 'no'"):
        counts - counts_of("auq")
    with pytest.raises(StatisticsError, match="the count of 'x1' = 'u' and 'x0' = 'b' in class 'no'"):
        counts - counts_of("bup")
