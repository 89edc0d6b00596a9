"""What a place of rows can count by itself, where it speaks a language of queries: no row has to come to us for it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Margin:
    """How often the cells of a column meet the labels: one entry for each pair that occurs, either may be null."""

    labels: "pa.Array"
    cells: "pa.Array"
    n_rows: Array  # (n_pairs,)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries."""
        return int(self.labels.nbytes + self.cells.nbytes + self.n_rows.nbytes)


@dataclass(frozen=True)
class Spread:
    """Mean and scatter of numbers within each label, in one partition; no cell is missing.

    `square` is the sum of squares that the scatter is what remains of: how many digits it has lost.
    """

    labels: "pa.Array"
    n_rows: Array  # (n_labels,)
    mean: Array  # (n_labels, n_columns)
    scatter: Array
    square: Array

    @property
    def nbytes(self) -> int:
        """Bytes of all sums."""
        return int(
            self.labels.nbytes + self.n_rows.nbytes + self.mean.nbytes + self.scatter.nbytes + self.square.nbytes
        )
