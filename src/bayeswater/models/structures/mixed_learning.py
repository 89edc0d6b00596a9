"""Structures of states and numbers: a table of both, and the search for its graph.

Columns of numbers are numbers, unless `columns` says that one is of states; all others are states, as in `StateTable`.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.frames import frame_names, library_of, read_frame, take_columns, write_frame
from bayeswater.data.variable import Variable
from bayeswater.data.weights import checked_weight, require_rows
from bayeswater.errors import BayesWarning, DataError, ParameterError, warn_user
from bayeswater.estimate.regression import EXACT
from bayeswater.models.mixed_networks.mixed_rows import number_nodes, values_to_learn
from bayeswater.models.network.network_rows import label_column
from bayeswater.models.structures.state_table import StateTable, named_frame
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.moment_scores import MomentScore, MomentScores
from bayeswater.structure.number_tests import MIXED_TESTS
from bayeswater.typing import Array

NUMBERS = ("states", "gaussian")


def is_mixed(numbers: Any, score: Any, test: str | None = None) -> bool:
    """Whether numbers stay numbers: where the caller says so, and where a score or a test is of numbers by its name."""
    if numbers is None:
        name = score[0] if isinstance(score, tuple) and score else score
        by_score = isinstance(name, str) and name.lower().endswith(("-g", "-cg", "bge"))
        return by_score or test in MIXED_TESTS
    if numbers not in NUMBERS:
        raise ParameterError(f"numbers is {numbers!r}; it can be 'states', to put them into bins, or 'gaussian'")
    return numbers == "gaussian"


@record
class NumbersAndStates:
    """Rows of states and numbers: codes and values (n_variables, n_rows); variables, None of those that are numbers."""

    names: tuple[str, ...]
    variables: tuple[Variable | None, ...]
    codes: Array
    values: Array
    weight: Array | None
    library: str | None

    @classmethod
    def of(
        cls,
        data: Any,
        discretize: str = "equal_frequency",
        columns: Mapping[Any, Any] | None = None,
        sample_weight: Any = None,
    ) -> "NumbersAndStates":
        """Read a frame, or a source into memory; no cell may be missing."""
        data = named_frame(data)
        names, given = tuple(frame_names(data)), dict(columns or {})
        if not names:
            raise DataError("the frame has no columns; give one for each variable")
        frame = read_frame(data)
        dag = Dag(names, ((),) * len(names))
        numbers = number_nodes(frame.table.schema, dag, given)
        n_rows = frame.table.num_rows
        codes, values = np.zeros((len(names), n_rows), dtype=np.int64), np.zeros((len(names), n_rows))
        variables: list[Variable | None] = [None] * len(names)
        with_states = [name for j, name in enumerate(names) if j not in numbers]
        if with_states:
            table = StateTable.of(take_columns(data, with_states), discretize, given or None, nodes=with_states)
            for name, variable, column in zip(table.names, table.variables, table.codes, strict=True):
                variables[dag.position[name]], codes[dag.position[name]] = variable, column
        for j in numbers:
            values[j] = values_to_learn(frame, names[j])
        found = cls(names, tuple(variables), codes, values, _weight(sample_weight, n_rows), library_of(data))
        found._require_usable(numbers)
        return found

    def _require_usable(self, numbers: frozenset[int]) -> None:
        for j, name in enumerate(self.names):
            missing = np.isnan(self.values[j]) if j in numbers else self.codes[j] >= self.n_states[j]
            if missing.any():
                raise DataError(
                    f"column {name!r} is missing in row {int(missing.argmax())} ({int(missing.sum())} in all); a "
                    "structure with numbers is learned from whole rows: fill cells in, or leave rows or columns out"
                )
            if j in numbers and np.ptp(self.values[j]) == 0:
                raise DataError(
                    f"column {name!r} is {self.values[j][0]:g} in all rows; a number without variance has no "
                    "likelihood: leave it out"
                )

    @property
    def is_number(self) -> Array:
        """Which variables are numbers: (n_variables,) bool."""
        return np.array([variable is None for variable in self.variables], dtype=bool)

    @property
    def n_states(self) -> Array:
        """Number of states of each variable; 1 of numbers."""
        return np.array([1 if v is None else v.n_states for v in self.variables], dtype=np.int64)

    @property
    def n_missing(self) -> Array:
        """Missing cells of each variable: none."""
        return np.zeros(len(self.names), dtype=np.int64)

    @cached_property
    def twins(self) -> tuple[tuple[str, ...], ...]:
        """Groups of numbers of which each is an exact linear function of any other, but for rounding.

        An arc between them has no density, so that no score finds it.
        """
        numbers = np.flatnonzero(self.is_number)
        if not len(numbers):
            return ()
        apart = self.values[numbers] if self.weight is None else self.values[numbers][:, self.weight > 0]
        apart = apart / np.maximum(np.abs(apart).max(axis=1, keepdims=True), np.finfo(float).tiny)
        apart -= apart.mean(axis=1, keepdims=True)
        length = np.linalg.norm(apart, axis=1, keepdims=True)
        apart /= np.where(length > 0, length, 1.0)
        exact = 1 - (apart @ apart.T) ** 2 <= EXACT
        first = exact.argmax(axis=1)  # each by the first that tells it; a number without spread tells nothing
        groups = (np.flatnonzero((first == j) & exact[j]) for j in range(len(numbers)))
        return tuple(tuple(self.names[numbers[k]] for k in group) for group in groups if len(group) > 1)

    def tell_twins(self) -> None:
        """Warn of numbers that are exact functions of one another."""
        if self.twins:
            groups = "; ".join(", ".join(map(repr, group)) for group in self.twins[:10])
            warn_user(
                f"numbers are exact linear functions of one another: {groups}; an arc between them has no density and "
                "is not found, and the rows cannot tell on which of them others depend: leave all but one out",
                BayesWarning,
            )

    def of_rows(self, kept: Array) -> "NumbersAndStates":
        """Give some of the rows, of the same variables: (n_rows,) bool."""
        weight = None if self.weight is None else self.weight[kept]
        return replace(self, codes=self.codes[:, kept], values=self.values[:, kept], weight=weight)

    def to_frame(self) -> Any:
        """Give the rows as a frame: labels of states, and numbers."""
        columns: dict[str, Any] = {}
        for name, variable, codes, values in zip(self.names, self.variables, self.codes, self.values, strict=True):
            columns[name] = values if variable is None else label_column(codes, variable)
        return write_frame(columns, self.library)

    def scores(self, score: MomentScore, order: Array | None = None, rows: Array | None = None) -> MomentScores:
        """Scores of all families; or of variables in another order, over rows that were drawn by their weights."""
        if order is None or rows is None:
            return MomentScores(self.codes, self.values, self.is_number, self.n_states, score, self.weight)
        codes, values = (part[order][:, rows] for part in (self.codes, self.values))
        return MomentScores(codes, values, self.is_number[order], self.n_states[order], score)

    def known(self, knowledge: Knowledge) -> Knowledge:
        """Add that no arc leads from a number to a variable with states."""
        never = self.is_number[:, None] & ~self.is_number[None, :]
        if (knowledge.required & never).any():
            x, y = (self.names[int(v)] for v in np.argwhere(knowledge.required & never)[0])
            raise ParameterError(
                f"the arc {x} -> {y} is required, but {x!r} is a number and {y!r} has states: such an arc has no exact "
                "answers; put the number into bins"
            )
        return replace(knowledge, allowed=knowledge.allowed & ~never)


def _weight(sample_weight: Any, n_rows: int) -> Array | None:
    weight = checked_weight(sample_weight, n_rows)
    require_rows(weight)
    return weight
