"""Counts of several columns fulfil what is asked of counts from elsewhere; others are refused and say why."""

from dataclasses import replace

import numpy as np
import pytest
from tests.statistics.several_columns import Kind

from bayeswater import (
    BayesError,
    BernoulliNB,
    CategoricalNB,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    StatisticsError,
)
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.consistency import require_consistent, require_parent_counts, require_triples

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
    refused("triples has shape", np.concatenate([triples, triples[:1]]))
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
        ("start does not cut", {"start": np.insert(start, -1, start[-1] - 1)}),
        ("cell has shape", {"cell": cell[:, :1]}),
        ("cell has shape", {"cell": np.hstack([cell, cell[:, :1]])}),
        ("cell has shape.*of float64", {"cell": cell.astype(np.float64)}),
        ("count has shape", {"count": count[:, :1]}),
        ("count has shape", {"count": np.hstack([count, count[:, :1]])}),
        ("squared has shape", {"squared": np.append(counts.squared, counts.squared[:1])}),
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


# ---------------------------------------------------------------------- sums of single columns

N = np.arange(12)
CELLS = np.column_stack([N % 5, N % 3, N % 2])
HOLES = np.where(RNG.random((12, 3)) < 0.2, np.nan, CELLS)
LABELS = np.array(["a", "b"])[(N * 7 % 12 > 4).astype(int)]
TEXTS = np.array(["red it", "blue", "red red red"], dtype=object)[N % 3, None]
MIXED = {"words": (TEXTS, {"x0": "multinomial"}), "counts": (CELLS, dict.fromkeys(["x0", "x1", "x2"], "poisson"))}


def fitted(kind, weight=None):
    """Sums of a kind of model, with whole or other weights."""
    if kind in MIXED:
        X, columns = MIXED[kind]
        return NaiveBayes(columns=columns).fit(X, LABELS, weight).statistics_
    if kind == "holes":
        return GaussianClassifier(missing="ignore").fit(HOLES, LABELS, weight).statistics_
    return kind().fit(CELLS, LABELS, weight).statistics_


def forged(sums, name, change):
    """Sums with another array, of the class counts or of the columns."""
    if name == "count":
        return replace(sums, class_count=replace(sums.class_count, count=change(sums.class_count.count)))

    def with_change(part):
        return replace(part, **{name: change(getattr(part, name))})

    if isinstance(sums.columns, ColumnGroups):
        return replace(sums, columns=sums.columns.each(with_change))
    return replace(sums, columns=with_change(sums.columns))


def at(place, value):
    return lambda array: changed_at(array, place, value)


def plus(place, more):
    return lambda array: changed_at(array, place, array[place] + more)


def wider(array):
    return np.concatenate([array, array[..., :1]], axis=-1)


def floats(array):
    return array.astype(np.float64)


FORGERIES = [
    (GaussianNB, "count", floats, "is of int64 where class_count is of float64"),
    (GaussianNB, "count", lambda count: count[:1], "class_count has shape"),
    (GaussianNB, "count", lambda count: count * 0, "class_count is zero for every class|counts more rows"),
    (GaussianNB, "count", at(0, -1), "class_count holds -1, but is never negative"),
    (GaussianNB, "mean", at((1, 2), np.inf), "mean holds a number that is not finite"),
    (GaussianNB, "mean", lambda mean: mean.astype(np.int64), "mean is of int64, not of float64"),
    (GaussianNB, "weight", lambda weight: weight.astype(np.float32), "weight is of float32, not of int64 or float64"),
    (GaussianNB, "weight", plus((1, 0), 1), "weight counts more rows than class_count"),
    (GaussianNB, "scatter", at((0, 1), -1.0), "scatter holds -1.0, but is never negative"),
    (GaussianNB, "mean", wider, "there are sums of 4 columns, and names of 3|has shape"),
    (GaussianNB, "names", lambda _: ("x0", "x1"), "there are sums of 3 columns, and names of 2"),
    (BernoulliNB, "present", plus((0, 1), 9), "present counts more rows than"),
    (BernoulliNB, "observed", lambda observed: observed - 5, "present counts more rows than observed"),
    (MultinomialNB, "feature_sum", at((0, 0), -2), "feature_sum holds -2, but is never negative"),
    (MultinomialNB, "feature_sum", lambda sums: sums[:1], r"feature_sum has shape \(1, 3\), and not \(2, 3\)"),
    (CategoricalNB, "table", plus((6, 1), 1), "the counts of column 'x1' do not add up to those of the classes"),
    (CategoricalNB, "table", lambda table: table[1:], r"table has shape \(12, 2\), and not \(13, 2\)"),
    (CategoricalNB, "table", floats, "table is of float64 where class_count is of int64"),
    ("counts", "total", plus((0, 1), 0.5), "total holds a fraction, but sums up counts"),
    ("counts", "weight", lambda weight: weight * 0, "total counts where there is no cell"),
    ("counts", "total", at((0, 0), 2.0**60), r"total holds counts beyond 2\*\*53"),
    ("words", "word_count", wider, r"word_count of column 'x0' has shape \(2, 4\), and not \(2, 3\)"),
    (
        "words",
        "observed",
        lambda observed: observed[:1],
        r"observed of column 'x0' has shape \(1,\), and not \(2,\)",
    ),
    ("words", "observed", plus(1, 1), "observed of column 'x0' counts more rows than class_count"),
    ("words", "observed", floats, "observed of column 'x0' is of float64 where class_count is of int64"),
    ("words", "present", floats, "present of column 'x0' is of float64"),
    ("words", "present", plus((0, 1), 5), "present of column 'x0' counts more rows than observed"),
    ("words", "word_count", lambda count: count // 2, "present of column 'x0' counts more rows than word_count"),
    ("words", "present", lambda present: present * 0, "word_count of column 'x0' has a word that no row has"),
    (GaussianClassifier, "scatter", lambda scatter: scatter[:, :2], "scatter has shape"),
    (GaussianClassifier, "weight", wider, "weight has shape"),
    (GaussianClassifier, "names", lambda _: ("x0",), "there are sums of 3 columns, and other names"),
    (GaussianClassifier, "names", lambda _: ("x0", "x1", "x2", "x3"), "there are sums of 3 columns, and other names"),
    (GaussianClassifier, "weight", floats, "weight is of float64, class_count of int64"),
    (GaussianClassifier, "weight", plus((0, 0, 0), 1), "weight counts more rows than class_count"),
    (GaussianClassifier, "weight", plus((0, 0, 0), -1), "weight is not that of the classes, though no cell is missing"),
    (GaussianClassifier, "scatter", plus((0, 0, 1), 0.1), "scatter is not symmetric"),
    (GaussianClassifier, "scatter", lambda scatter: -scatter, "scatter has a negative square"),
    (GaussianClassifier, "scatter", lambda s: s + 99 * (1 - np.eye(3)), "scatter is negative in a direction"),
    (GaussianClassifier, "scatter", lambda s: s * 1e-90, "scatter of column 'x0' is .* in a class, but floats near"),
    ("holes", "weight", lambda weight: weight[:, :1, :1], "weight and mean are not both of pairs of columns"),
    ("holes", "weight", plus((0, 0, 1), -1), "weight is not symmetric"),
]


@pytest.mark.parametrize(("kind", "name", "change", "message"), FORGERIES)
def test_sums_that_no_rows_can_have_are_refused_and_say_why(kind, name, change, message):
    sums = fitted(kind)
    require_consistent(sums)
    with pytest.raises(StatisticsError, match=message):
        require_consistent(forged(sums, name, change))


@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB, CategoricalNB, "counts", "words", "holes"])
def test_sums_of_fractions_may_be_apart_by_rounding_and_no_more(kind):
    sums = fitted(kind, np.linspace(0.1, 0.9, 12))
    require_consistent(forged(sums, "count", lambda count: count - 0.9e-6 * count.max()))
    with pytest.raises(StatisticsError):
        require_consistent(forged(sums, "count", lambda count: count - 1.1e-6 * count.max()))


@pytest.mark.parametrize("kind", [GaussianNB, GaussianClassifier])
def test_columns_that_do_not_vary_and_those_that_hardly_do_are_sums_of_rows(kind):
    cells = np.column_stack([N % 5, np.full(12, 7.0), 1e6 + (N % 2) * np.spacing(1e6)])
    require_consistent(kind().fit(cells, LABELS).statistics_)


def test_a_count_without_all_its_digits_is_refused():
    sums = fitted(GaussianNB, np.linspace(0.1, 0.9, 12))
    for name, place in (("count", 0), ("weight", (0, 0))):
        with pytest.raises(StatisticsError, match="counts 1e-310 rows, a number without all its digits"):
            require_consistent(forged(sums, name, at(place, 1e-310)))


def test_rows_of_little_weight_that_differ_by_a_float_are_sums_of_rows():
    cells = np.column_stack([1e6 + (N % 2) * np.spacing(1e6), N])
    weight = np.where(N % 2, 1e-9, 1.0)
    require_consistent(GaussianClassifier().fit(cells, LABELS, weight).statistics_)


def test_fourth_moments_are_of_whole_rows_and_those_of_one_column_always_are():
    one = GaussianClassifier(shrinkage="ledoit_wolf").fit(CELLS[:, :1], LABELS).statistics_
    require_consistent(one)
    whole = GaussianClassifier(shrinkage="ledoit_wolf").fit(CELLS, LABELS).statistics_
    pairs = {name: np.tile(getattr(whole.columns, name), (1, 1, 3)) for name in ("mean",)}
    pairs["weight"] = np.tile(whole.columns.weight, (1, 3, 3))
    with pytest.raises(StatisticsError, match="fourth is of whole rows alone"):
        require_consistent(replace(whole, columns=replace(whole.columns, **pairs)))
