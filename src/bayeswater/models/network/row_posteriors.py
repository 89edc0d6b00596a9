"""`RowPosteriors`: what many rows of evidence say of the variables that were asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside, write_frame
from bayeswater.data.variable import Variable
from bayeswater.errors import SchemaError
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
        """Give the likeliest state of each variable in every row, the first one among equals; None where impossible."""
        likeliest = {v.name: v.labels[self[v.name].argmax(axis=1)] for v in self.variables}
        if self.impossible.any():
            likeliest = {name: np.where(self.impossible, None, labels) for name, labels in likeliest.items()}
        return likeliest

    def to_frame(self, library: str | Alongside | None = None) -> Any:
        """Give a frame with a column ``name=state`` for every state, and "log_evidence" and "impossible"."""
        columns: dict[str, Any] = {}
        for variable in self.variables:
            for code, state in enumerate(variable.states):
                name = f"{variable.name}={state}"
                if name in columns:
                    raise SchemaError(
                        f"two columns of the frame would be called {name!r}, one for the state {state!r} of "
                        f"{variable.name!r}; ask for fewer targets, or take the arrays: as_frame=False"
                    )
                columns[name] = np.ascontiguousarray(self[variable.name][:, code])
        return write_frame({**columns, "log_evidence": self.log_evidence, "impossible": self.impossible}, library)
