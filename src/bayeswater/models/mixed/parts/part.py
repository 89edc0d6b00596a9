"""`Part`: some columns of a plan that are read, counted and scored together."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.column_plan import Column
from bayeswater.data.labels import Labels
from bayeswater.data.raw_table import RawTable
from bayeswater.inference.mixed import ColumnTerms
from bayeswater.models.columns.settings import Settings
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array


@dataclass(frozen=True)
class Part(ABC):
    """Columns of one kind."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @abstractmethod
    def encode(self, raw: RawTable, known: Any, settings: Settings, *, learning: bool) -> Any:
        """Data: read the columns of a table, in the domains of the sums that are `known`."""

    @abstractmethod
    def count(self, table: Any, labels: Labels, weight: Array | None, settings: Settings) -> Statistic:
        """Statistics: sum the rows of a table."""

    @abstractmethod
    def read(self, sums: Any, settings: Settings) -> ColumnTerms:
        """Estimate: read parameters off the sums, ready for scoring."""

    @abstractmethod
    def tables(self, sums: Any, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give the parameters of each column as the columns of a labelled frame."""

    @abstractmethod
    def n_parameters(self, sums: Any) -> int:
        """Number of free parameters of all classes together."""

    @abstractmethod
    def sample(self, sums: Any, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw the cells of rows of the given classes (n_rows,), by name of the column."""
