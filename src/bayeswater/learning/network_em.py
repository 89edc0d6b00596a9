"""EM: tables of a network of largest likelihood from rows with missing cells (Dempster, Laird and Rubin 1977).

The counts of a family that the rows would have are expected under the network so far, every row being spread over the
ways in which its missing cells can be filled in, by their posterior: listed one by one where they are few
(`learning.completions`), found by messages in a tree where they are many (`learning.spread_rows`).

From the expected counts the tables are read as from any counts. Every round raises the logarithm of the probability of
the rows (plus that of the prior); that is watched, and rounding that would let it fall is warned of.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.errors import ConvergenceWarning, PrecisionWarning, warn_user
from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.learning.completions import Completions
from bayeswater.learning.spread_rows import SpreadRows, completed
from bayeswater.typing import Array

SLACK = 1e-9
"""Share of the likelihood by which a round may seem to fall: the rounding of a sum over many rows."""


@dataclass(frozen=True)
class EmFit:
    """Tables that EM came to, and its way there.

    Attributes
    ----------
    tables : P(own | parents), one for each variable
    log_likelihood : of the rows before each round, and of the last tables
    n_rounds : rounds that were made
    has_converged : whether the last one changed hardly anything
    """

    tables: tuple[Array, ...]
    log_likelihood: tuple[float, ...]
    n_rounds: int
    has_converged: bool


def fit_by_em(
    start: Factors,
    rows: "Expectation",
    pseudo_counts: Sequence[Array],
    *,
    max_rounds: int = 200,
    tolerance: float = 1e-6,
    watch: Callable[[int, float], None] | None = None,
) -> EmFit:
    """Estimate all tables.

    Parameters
    ----------
    start : network to begin with; its zeros stay
    rows : what is learned from, made for the same graph
    pseudo_counts : for each variable, what is added to the counts of its states: (card,) or of the shape of its table
    max_rounds, tolerance : end after so many rounds, or when a round adds less than this for each row
    watch : told the round and the log-likelihood
    """
    factors, way, objective = start, [], -np.inf
    for n_rounds in range(max_rounds + 1):
        counts, log_likelihood = rows.counts(factors)
        way.append(log_likelihood)
        if watch is not None:
            watch(n_rounds, log_likelihood)
        reached = log_likelihood + _log_prior(factors.tables, pseudo_counts)
        if reached < objective - SLACK * abs(objective):
            warn_user(f"the likelihood fell from {objective} to {reached} in round {n_rounds}", PrecisionWarning)
        if reached - objective <= tolerance * rows.n_rows:
            return EmFit(factors.tables, tuple(way), n_rounds, has_converged=True)
        objective = reached
        if n_rounds < max_rounds:
            tables = [conditional_table(count, pseudo) for count, pseudo in zip(counts, pseudo_counts, strict=True)]
            factors = Factors(start.cards, start.parents, tuple(tables))
    warn_user(
        f"EM was stopped after {max_rounds} rounds, the last of which still gained; raise max_rounds, or the tolerance",
        ConvergenceWarning,
    )
    return EmFit(factors.tables, tuple(way), max_rounds, has_converged=False)


class Expectation:
    """Counts that rows with missing cells are expected to have.

    Parameters
    ----------
    codes : (n_variables, n_rows), the card of a variable, or more, being the code of a missing cell
    parents, cards : the network's
    weight : (n_rows,), optional
    """

    def __init__(
        self, codes: Array, parents: Sequence[tuple[int, ...]], cards: Sequence[int], weight: Array | None = None
    ) -> None:
        weight = np.ones(codes.shape[1]) if weight is None else weight.astype(np.float64)
        self.codes = codes
        self.n_rows = float(weight.sum())
        self.completions = Completions(codes, parents, cards, weight)
        others = self.completions.others
        self.spread = SpreadRows(codes[:, others], parents, cards, weight[others]) if len(others) else None

    def counts(self, factors: Factors) -> tuple[list[Array], float]:
        """Expected counts of every family, and the log-likelihood of the rows."""
        flat, log_likelihood = self.completions.counts(factors)
        if self.spread is not None:
            more, gained = self.spread.counts(factors)
            flat, log_likelihood = flat + more, log_likelihood + gained
        sizes = np.cumsum([table.size for table in factors.tables])
        parts = np.split(flat, sizes[:-1])
        return [part.reshape(table.shape) for part, table in zip(parts, factors.tables, strict=True)], log_likelihood

    def draw(self, factors: Factors, n_copies: int, rng: np.random.Generator) -> Array:
        """Draw the missing cells from their joint posterior, row by row: (n_variables, n_copies, n_rows)."""
        copies = np.repeat(self.codes[:, None], n_copies, axis=1)
        for part in self.completions.parts:
            part.draw(factors, copies, rng)
        others = self.completions.others
        if len(others):
            tree = compile_tree(factors)
            for copy in range(n_copies):
                copies[:, copy, others] = completed(tree, self.codes[:, others], rng)
        return copies


def _log_prior(tables: Sequence[Array], pseudo_counts: Sequence[Array]) -> float:
    """What pseudo-counts add to the logarithm that EM raises, up to a constant."""
    total = 0.0
    for table, pseudo in zip(tables, pseudo_counts, strict=True):
        counted = np.broadcast_to(pseudo, table.shape)
        total += float((counted[counted > 0] * np.log(table[counted > 0])).sum())
    return total
