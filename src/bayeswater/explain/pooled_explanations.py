"""Reasons of a model that is no sum over columns: what each cell is worth, found by taking cells away.

With L(S) the log-odds of two classes when only the cells S of a row are known and all others are missing, and an order
in which cells become known one after the other,

    intercept                = L(none)
    contribution of column j = mean over orders of L(cells before j, and j) - L(cells before j)

In every order the steps add up to L(all) - L(none), so intercept and contributions add up to the log-odds exactly, with
nothing left over. Over all orders the mean is the Shapley value; over the few that are taken, each with its reverse, it
is an estimate of it, exact where columns work together in pairs at most. Its standard error is about.
"""

from collections.abc import Callable
from functools import partial
from itertools import permutations
from math import factorial
from typing import Any, ClassVar

import numpy as np

from bayeswater.explain.explanation import RowExplanation
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.turning import MOST_TURNS, ExplainedRows, Turn
from bayeswater.inference.log_space import log_ratio
from bayeswater.phrases import Language
from bayeswater.records import record
from bayeswater.typing import Array

PAIRS = 4
"""Pairs of an order and its reverse."""


@record
class Orders:
    """Orders in which the cells of a row become known (n_orders, n_columns): each followed by its reverse.

    >>> Orders.of(2).order.tolist()
    [[0, 1], [1, 0]]
    """

    order: Array

    @classmethod
    def of(cls, n_columns: int) -> "Orders":
        """Take all orders of few columns, and of more the same drawn ones for every row of every table."""
        if factorial(min(n_columns, 8)) <= 2 * PAIRS:
            every = [order for order in permutations(range(n_columns)) if order <= order[::-1]]
        else:
            rng = np.random.default_rng(0)
            every = [tuple(rng.permutation(n_columns).tolist()) for _ in range(PAIRS)]
        both = [order for one in every for order in (one, one[::-1])]
        return cls(np.array(both, dtype=np.int64).reshape(len(both), n_columns))

    @property
    def known(self) -> Array:
        """Cells that are known (n_sets, n_columns): all; all but one, column by column; those before each of an order.

        The last are, for every order in turn, the cells before its first column, its second, ...
        """
        n_columns = self.order.shape[1]
        place = np.argsort(self.order, axis=1)  # (n_orders, n_columns), where each column stands
        before = place[:, None, :] < np.arange(n_columns)[None, :, None]  # (n_orders, n_columns known, n_columns)
        everything = np.ones((1, n_columns), dtype=bool)
        return np.concatenate([everything, ~np.eye(n_columns, dtype=bool), before.reshape(-1, n_columns)])

    def contributions(self, odds: Array) -> tuple[Array, Array, Array]:
        """Read log-odds of these sets (n_rows, n_sets): intercept (n_rows,), contributions and their standard errors.

        The last two are (n_rows, n_columns); the error is that of the mean over pairs of an order and its reverse.
        """
        n_orders, n_columns = self.order.shape
        path = odds[:, 1 + n_columns :].reshape(-1, n_orders, n_columns)
        path = np.concatenate([path, np.repeat(odds[:, :1, None], n_orders, axis=1)], axis=2)
        own = np.take_along_axis(np.diff(path, axis=2), np.argsort(self.order, axis=1)[None], axis=2)
        pairs = own.reshape(-1, n_orders // 2, 2, n_columns).mean(axis=2)
        n_pairs = pairs.shape[1]
        is_exact = factorial(min(n_columns, 8)) <= n_orders
        error = np.zeros_like(pairs[:, 0]) if is_exact else pairs.std(axis=1, ddof=1) / np.sqrt(n_pairs)
        return path[:, 0, 0], pairs.mean(axis=1), error


@record
class RowCells:
    """What stands in the cells of the rows that are explained, by row and column."""

    value: Callable[[int, int], Any]
    is_missing: Array  # (n_rows, n_columns)
    is_unseen: Array


@record
class WithoutCells:
    """Cells without which another class would be predicted."""

    found: list[Turn]

    def turns(self) -> list[Turn]:
        """One cell that is not there."""
        return self.found

    def together(self) -> list[Turn]:
        """Nothing: two cells are not tried."""
        return []


@record(repr=False)
class PooledExplanation(RowExplanation):
    """The reasons for one prediction; `turns` are cells without which another class would be predicted."""

    _start: ClassVar[str] = "all missing"

    def _frequencies(self) -> str:
        return ""

    def _notes(self) -> list[str]:
        *notes, _ = super()._notes()
        say, turns = self._language.say, [f"{turn.column}{self._toward(turn)}" for turn in self.turns]
        last = say("turns if missing", changes=say("semicolon").join(turns)) if turns else say("no cell decides")
        return [*notes, f"  {last}"]


@record(repr=False, eq=False)
class PooledExplanations(Explanations):
    """A `PooledExplanation` for each row; `error` (n_rows, n_columns) is the standard error of the contributions."""

    error: Any = None
    _cells: Any = None
    _without: Any = None  # codes of the classes predicted without each cell: (n_rows, n_columns)

    @classmethod
    def of_known_cells(
        cls,
        names: tuple[str, ...],
        orders: Orders,
        log_proba: Array,
        cells: RowCells,
        about: ExplainedRows,
        without: Array,
    ) -> "PooledExplanations":
        """Explain rows by their log-posteriors (n_sets, n_rows, n_classes) when the cells `orders.known` are known.

        `without` are the codes of the classes predicted without each cell (n_rows, n_columns).
        """
        rows, verdicts = np.arange(log_proba.shape[1]), about.verdicts
        odds = np.stack([log_ratio(p[rows, verdicts.chosen], p[rows, verdicts.against]) for p in log_proba], axis=1)
        intercept, contributions, error = orders.contributions(odds)
        nothing: Any = None
        return cls(
            *(names, contributions, intercept, odds[:, 0], about.classes, verdicts, np.zeros(len(rows), dtype=bool)),
            *(nothing, (), about.decisions, about.alongside, error, cells, without),
        )

    _kind: ClassVar[type[RowExplanation]] = PooledExplanation

    def _value(self, i: int, j: int) -> Any:
        return self._cells.value(i, j)

    def _of_cells(self, i: int, chosen: int, against: int) -> dict[str, Any]:
        return {
            "missing": self._named(self._cells.is_missing[i]),
            "unseen": self._named(self._cells.is_unseen[i]),
            "words": {},
            "absent_words": {},
            "_readings": dict.fromkeys(self.columns, ""),
            "_scores": frozenset(self.columns),
            "_find_turning": partial(WithoutCells, self._turns(i, chosen)),
        }

    def _named(self, marked: Array) -> list[str]:
        return [self.columns[j] for j in np.flatnonzero(marked).tolist()]

    def _turns(self, i: int, chosen: int) -> list[Turn]:
        """Find cells without which another class would be predicted, the largest contribution first."""
        turning = np.flatnonzero(self._without[i] != chosen)
        order = turning[np.argsort(-self.contributions[i, turning], kind="stable")][:MOST_TURNS].tolist()
        labels = self.classes[self._without[i]].tolist()
        change = Language.of(self.lang).say("missing")
        return [Turn(self.columns[j], change, None, labels[j]) for j in order]
