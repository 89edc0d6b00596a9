"""`Counting`: the sums of a piece of rows, by a model that knows nothing but its parameters."""

from dataclasses import dataclass
from typing import Any

from bayeswater.models.streaming.examples import Piece
from bayeswater.statistics.sums import Sums


@dataclass(frozen=True)
class Counting:
    """A function of a piece: its sums, as a model counts them that has seen no other rows."""

    model: Any

    def __call__(self, piece: Piece) -> Sums[Any]:
        """Count the rows of a piece."""
        sums: Sums[Any] = self.model._sums_of(piece.X, piece.y, piece.weight)
        return sums
