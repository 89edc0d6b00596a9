"""`BoostedMember`: log-odds that are sums over many small trees, each of which mends what those before it have left.

    log P(k | x) ~ log P(k) + sum over trees of step_k(leaf of x)

A node asks a question of the codes of a column (`kernels.boosted_trees`), by sums of slopes and curvatures of the
log-loss over the cells of that column. The steps of leaves are those of Newton's method, shortened. In an oblivious
tree all nodes of a level ask the same, which suits what is smooth, and products of signs. Or every node has a question
of its own, which suits lists of rules: such trees look at all columns, since a rule may be of any of them.

For K classes the slopes of a row sum to zero, so K - 1 directions tell all of them; of many classes some random
directions are looked at, others in every tree. The states of a category stand in the order of their slopes, which is
found anew every few trees; rows and columns that a tree looks at are drawn.

Deep interactions of many rows want no less than that. Trees and steps are structure, which stays while rows come and
go; P(k) is counted.

Rows are divided into folds by the hashes of their cells. A booster learns from all folds but its own, and the
posterior is the mean of theirs. How many trees it has, its own fold says, whose losses stop it. To be honest, a fold is
cut in two: each half is scored by as many trees as the other half would have. So a row has no part in what scores it,
but that the first fold says which shape all trees have, which is one choice of three; and every row may validate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import ceil
from typing import ClassVar, NamedTuple, Self

import numpy as np

from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.errors import StatisticsError
from bayeswater.estimate.dirichlet import Prior
from bayeswater.inference.log_space import log_posterior
from bayeswater.kernels.boosted_trees import add_node_trees, add_trees, grow_tree, leaf_steps, loss_slopes
from bayeswater.kernels.threads import ordered_map
from bayeswater.learning.members.committee import SMOOTHING, CountedClasses, log_mean, random_numbers
from bayeswater.learning.members.member_table import EnsembleTable, counted_classes, declared_codes
from bayeswater.learning.members.tree_members import MOST_CODES, Codebook
from bayeswater.records import record
from bayeswater.statistics.sums import ClassCounts
from bayeswater.structure.tree_splits import first_slots, require_orders
from bayeswater.typing import Array

FOLDS, FEW_FOLDS = 6, 3
MANY_TERMS = 2e6
"""Terms n_rows n_columns n_classes beyond which there are few folds: of many rows, two thirds tell about as much."""

PATIENCE, RATE = 40, 0.15
"""Trees after which a booster stops, where none of them lowered the loss of its own fold; the part of Newton's step."""


class Shape(NamedTuple):
    """Levels of a tree, whether it is oblivious, the part of the columns that it looks at, and the most such trees.

    `ridge` is the curvature that each leaf has beside that of its rows.
    """

    depth: int
    is_oblivious: bool
    columns_drawn: float
    most_trees: int
    ridge: float

    @property
    def n_questions(self) -> int:
        """Questions of a tree."""
        return self.depth if self.is_oblivious else 2**self.depth - 1


OBLIVIOUS, DEEP = Shape(6, True, 0.6, 500, 0.3), Shape(8, True, 0.6, 500, 0.3)
OF_NODES = Shape(6, False, 1.0, 250, 1.0)
"""Trees that are tried on the first fold; those whose nodes have their own questions learn as much by half as many."""

DEEP_ROWS = 4000
"""Different rows below which no tree is deep: 256 leaves want as many."""

LARGEST_DEPTH = 12
"""Questions of a tree that a file may hold, at most."""

LEAST_CURVATURE = 0.1
"""Curvature that each side of a question is to have."""

ROWS_DRAWN = 0.8
"""Part of the rows that the questions of a tree are found by."""

DIRECTIONS = 4
"""Directions of slopes that a tree looks at, where there are more."""

TREES_OF_AN_ORDER, PULL_OF_ORDER = 16, 10.0
"""Trees after which the states are put in order anew, and rows that pull the slope of each state to zero for it."""

MOST_ROWS, STOPPING_ROWS = 2**18, 4000
"""Different rows that trees are learned from, and that stop a booster, at most: more would hardly change them."""

MOST_WEIGHT = 2.0**50
"""Weight of all rows, at most; larger ones are brought back to it: beside them a ridge is nothing either way."""

LEAST_CODES, ROWS_OF_A_CODE = 32, 4
"""Intervals that a number may always have, and rows for each where it has more: of few rows, finer ones tell less."""

MOST_SLOTS, SLOTS_OF_A_ROW = 2**14, 32
"""Codes of all columns that a tree looks at, at most, beyond its first column: so many sums stay in cache.

Of few rows, no more for each: time goes with the sums, which would be more than there are cells.
"""


@record
class Booster:
    """Trees that mend each other.

    Attributes
    ----------
    column, cut : (n_trees, n_questions) int32: whether a code, or its place, lies above the cut
    order : (n_trees,) int32, which row of `ranks` has the places of states
    ranks : (n_orders, n_slots) uint32
    step : (n_trees, 2^depth, n_classes), what a leaf adds to the log-odds
    n_trees : (3,), how many say the least loss by the rows of its fold, by their first half, and by their second
    """

    column: Array
    cut: Array
    order: Array
    ranks: Array
    step: Array
    n_trees: Array

    def scores(self, codes: Array, slot: Array, n_trees: int) -> Array:
        """What the first trees say of coded rows (n_columns, n_rows): (n_rows, n_classes)."""
        score = np.zeros((codes.shape[1], self.step.shape[2]))
        first = slice(0, n_trees)
        add = add_trees if 2 ** self.column.shape[1] == self.step.shape[1] else add_node_trees
        add(codes, self.column[first], self.cut[first], self.order[first], self.ranks, slot, self.step[first], score)
        return score


@dataclass
class _Stopping:
    """The least loss so far, and after how many trees it was; it is over when `PATIENCE` trees have not lowered it."""

    least: float
    n_trees: int = 0
    is_over: bool = False

    def look(self, n_trees: int, loss: float) -> None:
        if self.is_over:
            return
        if loss < self.least:
            self.least, self.n_trees = loss, n_trees
        self.is_over = n_trees - self.n_trees >= PATIENCE


class _Scored:
    """Coded rows (n_columns, n_rows), their scores by the trees so far, their log-loss, and how it slopes."""

    def __init__(self, codes: Array, labels: Array, weight: Array, log_prior: Array) -> None:
        shape = len(labels), len(log_prior)
        self.codes, self.labels, self.weight, self.log_prior = codes, labels, weight, log_prior
        self.score, self.loss = np.zeros(shape), np.zeros(len(labels))
        self.slope, self.curvature = np.zeros(shape), np.zeros(shape)
        self.look()

    def look(self) -> None:
        loss_slopes(self.score, self.log_prior, self.labels, self.weight, self.loss, self.slope, self.curvature)


def _boosted(
    rows: _Scored, stopping: _Scored, half: Array, book: Codebook, rng: np.random.Generator, shape: Shape
) -> tuple[Booster, float]:
    """Let trees learn from rows, until others, and each half of them (n_stopping,), have no less loss; give that."""
    n_codes, slot, n_classes = book.n_codes, first_slots(book.n_codes, book.n_numbers), len(rows.log_prior)
    parts = [np.flatnonzero(marked) for marked in (half >= 0, half == 0, half == 1)]
    stops = [_Stopping(float(stopping.loss[part].sum())) for part in parts]
    placed, leaf = rows.codes.copy(), np.zeros(len(rows.labels), dtype=np.int32)
    trees: list[tuple[Array, Array, Array]] = []
    ranks: list[Array] = []
    rate, n_leaves = RATE * (n_classes - 1) / n_classes, 2**shape.depth
    while len(leaf) and len(half) and len(trees) < shape.most_trees and not all(stop.is_over for stop in stops):
        if len(trees) % TREES_OF_AN_ORDER == 0:
            ranks.append(_ranks(rows, n_codes, slot, rng))
            for j in np.flatnonzero(slot >= 0):
                placed[j] = ranks[-1][slot[j] + rows.codes[j]]
        terms = np.column_stack([rows.slope @ _directions(n_classes, rng), rows.curvature.sum(axis=1)])
        drawn, looked_at = (
            np.flatnonzero(rng.random(len(leaf)) < ROWS_DRAWN),
            _columns(n_codes, shape.columns_drawn, len(leaf), rng),
        )
        first = np.cumsum([0, *n_codes[looked_at].tolist()])
        column, cut = np.zeros((2, 1, shape.n_questions), dtype=np.int32)
        given = placed, first, looked_at, drawn, terms, shape.ridge, LEAST_CURVATURE, shape.depth
        grow_tree(*given, column[0], cut[0], leaf)
        step = np.zeros((1, n_leaves, n_classes))
        leaf_steps(leaf, rows.slope, rows.curvature, shape.ridge, rate, step[0])
        rows.score += step[0, leaf]
        one = Booster(column, cut, np.zeros(1, dtype=np.int32), ranks[-1][None], step, np.ones(3, dtype=np.int64))
        stopping.score += one.scores(stopping.codes, slot, 1)
        rows.look()
        stopping.look()
        trees.append((column, cut, step))
        for stop, part in zip(stops, parts, strict=True):
            stop.look(len(trees), float(stopping.loss[part].sum()))
    most = max(stop.n_trees for stop in stops)
    n_orders = ceil(most / TREES_OF_AN_ORDER)
    booster = Booster(
        np.concatenate([np.zeros((0, shape.n_questions), dtype=np.int32), *(column for column, _, _ in trees[:most])]),
        np.concatenate([np.zeros((0, shape.n_questions), dtype=np.int32), *(cut for _, cut, _ in trees[:most])]),
        np.arange(most, dtype=np.int32) // TREES_OF_AN_ORDER,
        np.array(ranks[:n_orders], dtype=np.uint32).reshape(n_orders, int(n_codes[slot >= 0].sum())),
        np.concatenate([np.zeros((0, n_leaves, n_classes)), *(step for _, _, step in trees[:most])]),
        np.array([stop.n_trees for stop in stops]),
    )
    return booster, stops[0].least


def _directions(n_classes: int, rng: np.random.Generator) -> Array:
    """Directions in which trees look at slopes: (n_classes, at most `DIRECTIONS`)."""
    if n_classes - 1 > DIRECTIONS:
        return rng.normal(size=(n_classes, DIRECTIONS)) / np.sqrt(DIRECTIONS)
    found: Array = np.linalg.qr(np.eye(n_classes)[:, 1:] - 1 / n_classes)[0]
    return found


def _columns(n_codes: Array, part: float, n_rows: int, rng: np.random.Generator) -> Array:
    """Draw the columns that a tree looks at."""
    most = min(MOST_SLOTS, SLOTS_OF_A_ROW * n_rows)
    drawn = rng.permutation(len(n_codes))[: ceil(part * len(n_codes))]
    fitting = max(1, int(np.searchsorted(np.cumsum(n_codes[drawn]), most, side="right")))
    return np.sort(drawn[:fitting])


def _ranks(rows: _Scored, n_codes: Array, slot: Array, rng: np.random.Generator) -> Array:
    """Places of all states in the order of their mean slope, in a random direction: (n_slots,) uint32."""
    direction = rng.normal(size=rows.slope.shape[1])
    slope, curvature = rows.slope @ direction, rows.curvature @ direction**2
    pull = PULL_OF_ORDER * curvature.mean()
    places = [np.zeros(0, dtype=np.uint32)]
    for j in np.flatnonzero(slot >= 0):
        n = int(n_codes[j])
        g, h = (np.bincount(rows.codes[j], weights=given, minlength=n) for given in (slope, curvature))
        place = np.empty(n, dtype=np.uint32)
        place[np.argsort(g / (h + pull), kind="stable")] = np.arange(n)
        places.append(place)
    return np.concatenate(places)


@record
class BoostedMember(CountedClasses):
    """How cells are coded, a booster for each fold, and class counts."""

    kind: ClassVar[str] = "boosted"

    codebook: Codebook | None = field(default=None, repr=False)
    boosters: tuple[Booster, ...] = field(default=(), repr=False)

    def learn(self, table: EnsembleTable, seed: int) -> Self:
        """Learn the trees of every fold from all others, and count the classes."""
        n_codes = min(MOST_CODES, max(LEAST_CODES, len(table) // ROWS_OF_A_CODE))
        book = Codebook.of(table.numbers, table.n_states, table.weight, n_codes)
        learned = replace(self, seed=seed, codebook=book, counts=counted_classes(table))
        part = table.take(slice(0, MOST_ROWS))
        n_folds = FOLDS if part.numbers.size + part.states.size <= MANY_TERMS / table.n_classes else FEW_FOLDS
        (fold, half), codes = learned._parts(part, n_folds), learned._codes(part)
        weight = part.weights / max(1.0, part.weights.sum() / MOST_WEIGHT)

        def of_fold(number: int, shape: Shape) -> tuple[Booster, float]:
            own, others = np.flatnonzero(fold == number)[:STOPPING_ROWS], np.flatnonzero(fold != number)
            count = np.bincount(part.labels[others], weights=weight[others], minlength=table.n_classes)
            log_prior = Prior.of(count, SMOOTHING).log

            def scored(rows: Array) -> _Scored:
                return _Scored(np.ascontiguousarray(codes[:, rows]), part.labels[rows], weight[rows], log_prior)

            return _boosted(scored(others), scored(own), half[own], book, random_numbers(seed, number), shape)

        shapes = (OBLIVIOUS, OF_NODES, DEEP)[: 3 if len(part) >= DEEP_ROWS else 2]
        tried = [*ordered_map(lambda shape: of_fold(0, shape), shapes)]
        best = min(range(len(shapes)), key=lambda place: tried[place][1])
        others = ordered_map(lambda number: of_fold(number, shapes[best])[0], range(1, n_folds))
        return replace(learned, boosters=(tried[best][0], *others))

    @property
    def _book(self) -> Codebook:
        assert self.codebook is not None
        return self.codebook

    @property
    def _slot(self) -> Array:
        return first_slots(self._book.n_codes, self._book.n_numbers)

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Logarithm of the mean of the boosters' posteriors: (n_rows, n_classes)."""
        codes, slot, prior = self._codes(table), self._slot, self._prior.log

        def of_fold(booster: Booster) -> Array:
            return log_posterior(prior + booster.scores(codes, slot, int(booster.n_trees[0])))

        return log_mean(ordered_map(of_fold, self.boosters))

    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Log posterior of counted rows, by the booster of their fold, as the other half of it stops it."""
        found = self._prior.without(table.labels, table.removed)
        (fold, half), codes = self._parts(table, len(self.boosters)), self._codes(table)
        for number, booster in enumerate(self.boosters):
            for own_half, n_trees in ((0, booster.n_trees[2]), (1, booster.n_trees[1])):
                own = np.flatnonzero((fold == number) & (half == own_half))
                found[own] += booster.scores(np.ascontiguousarray(codes[:, own]), self._slot, int(n_trees))
        return log_posterior(found), np.ones(len(table), dtype=np.int64)

    def _parts(self, table: EnsembleTable, n_folds: int) -> tuple[Array, Array]:
        """Divide rows by the hashes of their cells into folds, and these into halves: (n_rows,) each."""
        part = (hashed(table.hashes ^ hashed(hash_word(self.seed))) % np.uint64(2 * n_folds)).astype(np.int64)
        return part // 2, part % 2

    def _codes(self, table: EnsembleTable) -> Array:
        """Code the cells column by column: (n_columns, n_rows)."""
        return np.ascontiguousarray(self._book.codes(table.numbers, table.states).T)

    def to_arrays(self) -> dict[str, Array]:
        """Give cuts, trees and class counts as arrays."""
        arrays = {
            **self._book.to_arrays(),
            "class_count": self.class_counts.count,
            "seed": np.array([self.seed % 2**64], dtype=np.uint64),
        }
        for number, booster in enumerate(self.boosters):
            arrays |= {f"{number}.{name}": array for name, array in vars(booster).items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Self:
        """Make the member of arrays that may come from anywhere."""
        try:
            book = Codebook.from_arrays(arrays, n_numbers, n_states)
            count, seed = np.array(arrays["class_count"]), int(arrays["seed"][0])
            names = [part.name for part in fields(Booster)]
            n_folds = sum(name.endswith(".n_trees") for name in arrays)
            boosters = tuple(Booster(*(arrays[f"{n}.{name}"] for name in names)) for n in range(n_folds))
        except (KeyError, IndexError, ValueError, TypeError, OverflowError) as error:
            raise StatisticsError(f"the arrays of a family {cls.kind!r} are not complete: {error}") from None
        _require(bool(boosters), "there are no trees")
        _require(count.shape == (n_classes,), "class counts are not those of the classes")
        _require(bool(np.isfinite(count).all() and (count >= 0).all()), "class counts are no counts")
        for booster in boosters:
            _require_trees(booster, book, n_classes)
        counts = ClassCounts(declared_codes("class", n_classes), count)
        return cls(seed=seed, counts=counts, codebook=book, boosters=boosters)


def _require_trees(booster: Booster, book: Codebook, n_classes: int) -> None:
    """Refuse what are no trees on these columns: a kernel goes where they say."""
    column, step, n = booster.column, booster.step, len(booster.column)
    n_questions, n_leaves = column.shape[-1], step.shape[1] if step.ndim == 3 else 0
    kinds = [array.dtype.name for array in (column, booster.cut, booster.order, booster.ranks, step, booster.n_trees)]
    _require(kinds == ["int32", "int32", "int32", "uint32", "float64", "int64"], "numbers are of other kinds")
    _require(column.shape == booster.cut.shape == (n, n_questions), "questions are of other shapes")
    depth = max(n_leaves.bit_length() - 1, 0)
    _require(depth <= LARGEST_DEPTH, "trees are too deep")
    _require(n_questions in (depth, 2**depth - 1), "questions are of other shapes")
    _require(step.shape == (n, 2**depth, n_classes) and bool(np.isfinite(step).all()), "steps are no steps of leaves")
    _require(bool(((column >= 0) & (column < book.n_columns)).all()), "questions are of columns that are not there")
    _require(booster.n_trees.shape == (3,), "how many trees there are to be is not said")
    _require(bool(((booster.n_trees >= 0) & (booster.n_trees <= n)).all()), "there are to be more trees than there are")
    require_orders(booster.order, booster.ranks, first_slots(book.n_codes, book.n_numbers), book.n_codes, n)
    _require(bool((booster.order >= 0).all()), "trees have no order of states")


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StatisticsError(f"the arrays of a family 'boosted' are not sound: {problem}")
