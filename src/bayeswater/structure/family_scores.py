"""What searches ask of scores, whatever the families are: tables of states, or regressions of numbers."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from bayeswater.kernels.pair_information import PairValues
from bayeswater.typing import Array


class FamilyScores(Protocol):
    """Scores of every variable with its parents."""

    codes: Array
    n_states: Array
    score: Any
    weight: Array | None
    n_rows: float
    n_variables: int
    n_counted: int
    is_full: bool

    def expect(self, n_columns: int) -> None:
        """Say how many columns will be asked for."""

    def of(self, y: int, parents: Iterable[int]) -> float:
        """Score of one parent set."""

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """Score of a whole graph."""

    def column(self, y: int, parents: frozenset[int]) -> Array:
        """Scores of y with each other variable joining or leaving its parents; at y, as it stands."""

    def columns(self, wanted: Sequence[tuple[int, frozenset[int]]]) -> list[Array]:
        """Give several columns."""

    def pair_gains(self) -> PairValues | None:
        """What every pair of variables gains by an arc; None where that is not told by its information alone."""

    def leaving(self, y: int, parents: frozenset[int]) -> Array:
        """Scores of y as it stands, at y, and without each of its parents."""
