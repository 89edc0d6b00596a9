"""`RowPosteriors`: what many rows of evidence say of the variables that were asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.variable import Variable
from bayeswater.typing import Array


class RowPosteriors(dict[str, Array]):
    """A dict from the name of a variable to P(state | row), (n_rows, n_states).

    Attributes
    ----------
    log_evidence : (n_rows,), logarithm of the probability of what each row observes
    impossible : (n_rows,) bool, rows whose evidence has probability zero; all their posteriors are zeros
    """

    def __init__(
        self, found: Mapping[str, Array], variables: Sequence[Variable], log_evidence: Array, impossible: Array
    ) -> None:
        super().__init__(found)
        self.variables = tuple(variables)
        self.log_evidence = log_evidence
        self.impossible = impossible

    def labels(self) -> dict[str, Array]:
        """Give the likeliest state of each variable in every row, the first one among equals."""
        return {variable.name: variable.labels[self[variable.name].argmax(axis=1)] for variable in self.variables}

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame with a column ``name=state`` for every state, and "log_evidence" and "impossible"."""
        columns: dict[str, Any] = {
            f"{variable.name}={state}": np.ascontiguousarray(self[variable.name][:, code])
            for variable in self.variables
            for code, state in enumerate(variable.states)
        }
        return write_frame({**columns, "log_evidence": self.log_evidence, "impossible": self.impossible}, library)
