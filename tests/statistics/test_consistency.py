"""Counts of several columns fulfil what is asked of counts from elsewhere; others are refused and say why."""

from dataclasses import replace

import numpy as np
import pytest
from tests.statistics.several_columns import Kind

from bayeswater import BayesError
from bayeswater.statistics.consistency import require_parent_counts, require_triples

RNG = np.random.default_rng(0)
X = RNG.choice(np.array(["a", "b", "c", None], dtype=object), size=(40, 4))
Y = RNG.choice(np.array(["no", "yes"]), 40)
WEIGHTS = [None, RNG.random(40)]


def counted(name, rows=slice(None), weight=None):
    """Counts of some rows, and the weight of each of their classes."""
    counts = Kind(name).of(X[rows], Y[rows], None if weight is None else weight[rows])
    w = np.ones(40, dtype=np.int64) if weight is None else weight
    return counts, np.array([w[rows][Y[rows] == label].sum() for label in counts.classes.states])


def require(counts, class_count, slack):
    if hasattr(counts, "triples"):
        require_triples(counts, slack)
    else:
        require_parent_counts(counts, class_count, slack)


@pytest.mark.parametrize("name", ["triples", "families"])
@pytest.mark.parametrize("weight", WEIGHTS, ids=["whole", "fractions"])
def test_counts_that_were_merged_and_forgotten_are_consistent(name, weight):
    # Fractions in (0, 1) of 40 rows, added and taken away: rounding stays far below 1e-12.
    slack = 0 if weight is None else 1e-12
    (first, of_first), (later, of_later) = (counted(name, rows, weight) for rows in (slice(0, 25), slice(25, 40)))
    require(first, of_first, slack)
    require(first + later, of_first + of_later, slack)
    require((first + later) - later, of_first, slack)


def changed_at(array, place, value):
    array = array.copy()
    array[place] = value
    return array


def test_triples_that_do_not_add_up_are_refused():
    counts, _ = counted("triples")
    triples = counts.triples

    def refused(message, changed):
        with pytest.raises(BayesError, match=message):
            require_triples(replace(counts, triples=changed), 0)

    message = r"the triples of columns \['x0', 'x1', 'x2'\] do not add up to the counts of their pairs"
    refused(message, changed_at(triples, 0, triples[0] + 1))
    refused("triples has shape", triples[1:])
    refused("triples has shape.*of float64", triples.astype(np.float64))


def refuse_families(message, counts, class_count, **changed):
    with pytest.raises(BayesError, match=message):
        require_parent_counts(replace(counts, **changed), class_count, 0)


def test_families_out_of_order_are_refused():
    counts, total = counted("families")
    cell, count, start = counts.cell, counts.count, counts.start
    swapped = np.arange(len(count))
    swapped[[0, 1]] = 1, 0
    for message, changed in [
        ("column 'x0' are not in the order of their states", {"cell": cell[swapped], "count": count[swapped]}),
        ("column 'x0' are not in the order", {"cell": changed_at(cell, (1, 0), cell[0, 0])}),
        ("a cell of column 'x0' has a state beyond its domain", {"cell": changed_at(cell, (0, 0), 9)}),
        ("a cell of column 'x0' has a state beyond", {"cell": changed_at(cell.astype(np.int64), (0, 0), -1)}),
        ("a cell of column 'x0' is kept without a row", {"count": changed_at(count, 0, 0)}),
        ("start does not cut", {"start": changed_at(start, 1, 0)}),
        ("start does not cut", {"start": changed_at(start, -1, len(count) + 1)}),
        ("start does not cut", {"start": start[:-1]}),
        ("cell has shape", {"cell": cell[:, :1]}),
        ("cell has shape.*of float64", {"cell": cell.astype(np.float64)}),
        ("count has shape", {"count": count[:, :1]}),
        ("count has shape.*of float64", {"count": count.astype(np.float64)}),
        ("there are parents of 3 columns", {"parents": counts.parents[:3]}),
    ]:
        refuse_families(message, counts, total, **changed)


def test_families_that_disagree_are_refused():
    counts, total = counted("families")
    count, first, end = counts.count, counts.start[1], counts.start[2]
    more = changed_at(count, counts.start[3], count[counts.start[3]] + 1)
    refuse_families("the counts of column 'x3' do not add up to those of the classes", counts, total, count=more)
    # A row of class 'no' moves from one state of the parent of x1 to another; all totals stay.
    states, rows = counts.cell[first:end, 0], count[first:end, 0]
    giver = int(np.argmax(rows > 1))
    taker = int(np.argmax(states != states[giver]))
    moved = count.copy()
    moved[first + giver, 0] -= 1
    moved[first + taker, 0] += 1
    refuse_families("column 'x1' does not meet its parent 'x0' as often", counts, total, count=moved)
