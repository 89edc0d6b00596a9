"""`Part`: some columns of a plan that are read, counted and scored together."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayeswater.data.column_plan import Column
from bayeswater.data.labels import Labels
from bayeswater.data.raw_table import RawTable
from bayeswater.inference.mixed import ColumnTerms
from bayeswater.models.mixed.column_settings import NOTHING, ColumnSettings
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array


@dataclass(frozen=True)
class Settings:
    """Parameters of the model that its parts need; `given` is what the user says about columns.

    `as_found` says that categories may be coded in the order of their dictionary: `count` sorts them. Who hands the
    codes to sums of another kind needs them sorted.
    """

    model: str
    alpha: Any = "auto"
    variance_floor: float = 0.01
    missing: str = "ignore"
    unseen: str = "ignore"
    given: Mapping[str, ColumnSettings] = field(default_factory=dict)
    as_found: bool = False

    def of(self, column: Column) -> ColumnSettings:
        """What is said about one column."""
        return self.given.get(column.name, NOTHING)

    def alpha_of(self, column: Column) -> Any:
        """Smoothing of one column: "auto" or a number."""
        own = self.of(column).alpha
        return self.alpha if own is None else own


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
