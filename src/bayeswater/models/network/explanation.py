"""`Explanation`: the states of all variables that are together most probable, given what is observed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside, write_frame
from bayeswater.data.variable import Variable
from bayeswater.inference.exact.log_passes import Explanations
from bayeswater.models.network.rows import label_column


@dataclass(frozen=True)
class Explanation:
    """States by name, and the logarithm of P(states, evidence).

    >>> found = Explanation({"rain": "no", "wet": "no"}, -0.5)
    >>> found["wet"]
    'no'
    """

    states: dict[str, Any]
    log_probability: float

    def __getitem__(self, name: str) -> Any:
        return self.states[name]


def explained_rows(found: Explanations, variables: Sequence[Variable], library: Alongside) -> Any:
    """Give explanations as a frame of all variables, and "log_probability"; what is not explained is missing."""
    columns = {v.name: label_column(found.states[:, j], v) for j, v in enumerate(variables)}
    name = "(log_probability)" if "log_probability" in columns else "log_probability"
    return write_frame({**columns, name: np.asarray(found.log_probability)}, library)
