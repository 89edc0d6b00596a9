"""Likelihood weighting: rows drawn from the roots downward, each weighted by how well evidence agrees with it.

A free variable is drawn from P(state | parents) among the states that evidence leaves possible, times its likelihood
where there is soft evidence; the sum of these shares is a factor of the weight. An observed variable is a factor
P(observed | parents). So the weight of a row is P(row, evidence) by the probability of drawing it, and

    p = sum w f / sum w,   se^2 = sum w^2 (f - p)^2 / (sum w)^2,   effective draws = (sum w)^2 / sum w^2

with f = 1 where a row has the states asked for. Rows are independent, so the errors need no chains to agree. But sums
know nothing of rows that were never drawn. If few rows carry the weight, no error follows from them. And all weights
may be alike and yet tiny beside those of rows too rare to be drawn: a part of the answer, s of all weight, is drawn
with a probability of at least s (mean weight) / (largest possible weight), so that n rows miss it with a probability
of at most

    exp(-s cover),   cover = n (mean weight) / (largest possible weight)

The largest possible weight is at most the product of the largest factors. Where the cover is too small, nothing is
vouched for; else no error is smaller than 1 / cover, about what a part that was missed may hold.
"""

from collections.abc import Iterator

import numpy as np

from bayeswater.inference.sampling.question import (
    FEW_HITS,
    Estimate,
    FreeTable,
    SamplingQuestion,
    effective_size,
    error_of_few,
)
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.parent_cells import add_cells, cells_of, draw_states, strides_of
from bayeswater.kernels.threads import ordered_map
from bayeswater.records import record
from bayeswater.typing import Array

BATCH_ROWS = 8_192
"""Rows drawn at a time, from a stream of their own."""

LEAST_EFFECTIVE = 400
"""Draws, by their weights, under which an error is not relied on."""

LEAST_COVER = 20
"""Then a part that holds a quarter of the answer is missed less than once in a hundred times."""

MOST_SHARE = 0.05
"""Of all weight in one row: more, and the next one like it would change everything."""


@record
class _Step:
    variable: int  # its line in the codes
    members: Array
    strides: Array
    cumulated: Array
    log_total: Array


@record(eq=False)
class WeightSums:
    """Sums of weights of some rows, all divided by exp(log_scale), by weight and by weight squared."""

    n_rows: int
    log_scale: float
    cell: Array  # (n_cells,) of w
    cell_square: Array  # (n_cells,) of w^2
    largest: float

    def __add__(self, other: "WeightSums") -> "WeightSums":
        top = max(self.log_scale, other.log_scale)
        if top == -np.inf:
            return WeightSums(self.n_rows + other.n_rows, top, self.cell, self.cell_square, 0.0)
        a, b = np.exp(self.log_scale - top), np.exp(other.log_scale - top)
        return WeightSums(
            self.n_rows + other.n_rows,
            top,
            a * self.cell + b * other.cell,
            a * a * self.cell_square + b * b * other.cell_square,
            max(a * self.largest, b * other.largest),
        )

    @property
    def effective_draws(self) -> float:
        """As many rows of equal weight tell as much."""
        square = self.cell_square.sum()
        return float(self.cell.sum() ** 2 / square) if square > 0 else 0.0

    @property
    def largest_share(self) -> float:
        """Share of one row in all weight."""
        return float(self.largest / self.cell.sum()) if self.largest > 0 else 1.0


class WeightedRows:
    """Rows of a question, drawn and weighted; or drawn `evenly` among the states that are possible, however rare.

    Of rows drawn evenly, the weights tell no more than whether they are possible: above -inf.
    """

    def __init__(self, question: SamplingQuestion, seed: int, *, evenly: bool = False) -> None:
        self.question, self.seed = question, seed
        line = {v: i for i, v in enumerate(question.free)}
        likelihood: dict[int, Array] = {}
        for piece in question.pieces:
            if _is_likelihood(piece):
                likelihood[piece.scope[0]] = likelihood.get(piece.scope[0], 1.0) * piece.values
        self.steps = []
        self.factors = []
        for piece in question.pieces:
            members = np.array([line[v] for v in piece.scope], dtype=np.int64)
            if piece.of is not None:
                mass = piece.values.reshape(-1, piece.values.shape[-1]) * likelihood.get(piece.of, 1.0)
                mass = (mass > 0).astype(np.float64) if evenly else mass
                self.steps.append(_step(line[piece.of], members[:-1], strides_of(piece.values.shape[:-1]), mass))
            elif not _is_likelihood(piece):
                with np.errstate(divide="ignore"):
                    flat = np.log(piece.values).ravel()
                self.factors.append((members, strides_of(piece.values.shape), flat))
        most = [step.log_total.max() for step in self.steps] + [flat.max() for _, _, flat in self.factors]
        self.log_most = float(sum(most))  # no row has a larger weight
        self.steps.sort(key=lambda step: step.variable)  # parents come first among the free variables
        self.targets = np.array([line[v] for v in question.targets if v in line], dtype=np.int64)
        shape = [question.n_states(v) for v in question.targets if v in line]
        self.target_strides, self.n_cells = strides_of(shape), int(np.prod(shape))

    def draw(self, batch: int, *, n_rows: int = BATCH_ROWS, use_loop: bool) -> tuple[Array, Array]:
        """Draw a batch: codes (n_free, n_rows) of possible states, and logarithms of weights."""
        stream = np.random.Generator(np.random.SFC64([self.seed, batch]))
        codes = np.zeros((len(self.question.free), n_rows), dtype=np.int32)
        log_weight, uniform = np.zeros(n_rows), np.empty(n_rows)
        for step in self.steps:
            stream.random(out=uniform)
            draw_states(codes, step.members, step.strides, step.cumulated, uniform, step.variable, use_loop=use_loop)
            if step.log_total.any():
                add_cells(codes, step.members, step.strides, step.log_total, log_weight, use_loop=use_loop)
        for members, strides, flat in self.factors:
            add_cells(codes, members, strides, flat, log_weight, use_loop=use_loop)
        return codes, log_weight

    def sums(self, first: int, n_batches: int) -> WeightSums:
        """Draw and add up batches from `first` on."""
        use_loop = worth_compiling(n_batches * BATCH_ROWS * len(self.question.free))

        def of_batch(batch: int) -> WeightSums:
            codes, log_weight = self.draw(batch, use_loop=use_loop)
            top = float(log_weight.max())
            weight = np.exp(log_weight - top) if top > -np.inf else np.zeros(BATCH_ROWS)
            cell = cells_of(codes, self.targets, self.target_strides)
            total = np.bincount(cell, weight, self.n_cells)
            square = np.bincount(cell, weight * weight, self.n_cells)
            return WeightSums(BATCH_ROWS, top, total, square, float(weight.max()))

        parts: Iterator[WeightSums] = ordered_map(of_batch, range(first, first + n_batches))
        result = next(parts)
        for part in parts:
            result = result + part
        return result

    def cover(self, sums: WeightSums) -> float:
        """Sum of the weights by the largest that a row may have."""
        return float(sums.cell.sum() * np.exp(sums.log_scale - self.log_most))

    def estimate(self, sums: WeightSums) -> Estimate:
        """Probabilities of the cells of the targets that are free, (n_cells,), with what is to be said of them."""
        total, square = sums.cell.sum(), sums.cell_square.sum()
        if total == 0:
            nothing = np.full(self.n_cells, np.nan)
            doubt = (f"none of {sums.n_rows} rows drawn agrees with the evidence",)
            return Estimate(nothing, nothing, np.zeros(self.n_cells), None, METHOD, sums.n_rows, None, doubt)
        effective = sums.effective_draws
        p = sums.cell / total
        variance = np.maximum(sums.cell_square * (1 - 2 * p) + p * p * square, 0.0) / total**2
        error = np.sqrt(variance)
        few = np.minimum(_hits(sums.cell, sums.cell_square), _hits(total - sums.cell, square - sums.cell_square))
        error = np.where(few < FEW_HITS, np.maximum(error, error_of_few(p, effective)), error)
        cover = self.cover(sums)
        error = np.maximum(error, error_of_few(np.zeros(1), cover))  # of what was never drawn
        doubts = []
        if effective < LEAST_EFFECTIVE:
            doubts.append(
                f"the weights of {sums.n_rows} rows are worth {effective:.3g} of equal weight, fewer than "
                f"{LEAST_EFFECTIVE}"
            )
        if sums.largest_share > MOST_SHARE:
            doubts.append(f"one row of {sums.n_rows} carries {sums.largest_share:.0%} of the weight")
        if cover < LEAST_COVER:
            doubts.append(
                f"evidence is unlikely: all {sums.n_rows} rows weigh {cover:.3g} times what one that was never drawn "
                f"may weigh, less than {LEAST_COVER} times"
            )
        size = np.where(few < FEW_HITS, effective, effective_size(p, error))
        return Estimate(p, error, size, None, METHOD, sums.n_rows, None, tuple(doubts))


METHOD = "likelihood_weighting"


def _hits(weight: Array, square: Array) -> Array:
    # Rows of equal weight that would be worth as much.
    return np.where(square > 0, weight**2 / np.where(square > 0, square, 1.0), 0.0)


def _is_likelihood(piece: FreeTable) -> bool:
    # A table of one free variable that is not its own distribution: better drawn by than weighted by.
    return piece.of is None and len(piece.scope) == 1


def _step(variable: int, members: Array, strides: Array, mass: Array) -> _Step:
    total = mass.sum(axis=1)
    cumulated = np.where(total[:, None] > 0, mass, 1.0).cumsum(axis=1)
    cumulated /= cumulated[:, -1:]
    with np.errstate(divide="ignore"):
        log_total = np.log(total)
    log_total[np.abs(log_total) < 1e-12] = 0.0  # rows sum to one but for rounding
    return _Step(variable, members, strides, cumulated, log_total)
