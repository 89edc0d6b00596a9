"""`Distribution`: probabilities of the states of one variable, or of several together, by label."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import write_frame
from bayeswater.data.variable import Variable
from bayeswater.typing import Array

ROWS_SHOWN = 30
"""Lines of a distribution that are printed."""

BAR_WIDTH = 20
"""Columns of the bar of probability 1."""


@dataclass(frozen=True, eq=False)
class Distribution(Mapping[Any, float]):
    """Probabilities of states: a mapping from labels (for several variables, from tuples of them).

    Parameters
    ----------
    variables : the variables
    probabilities : (*n_states of each)

    Examples
    --------
    >>> rain = Distribution((Variable("rain", ("no", "yes")),), np.array([0.8, 0.2]))
    >>> rain["yes"], rain.mode
    (0.2, 'no')
    >>> rain
    rain  probability
    no         0.8000  ████████████████
    yes        0.2000  ████
    """

    variables: tuple[Variable, ...]
    probabilities: Array

    def __getitem__(self, label: Any) -> float:
        try:
            first = self.variables[0].code_of
            is_alone = len(self.variables) == 1 and (not isinstance(label, tuple) or label in first)
            labels = (label,) if is_alone else label
            place = tuple(variable.code_of[part] for variable, part in zip(self.variables, labels, strict=True))
        except (KeyError, TypeError, ValueError):
            raise KeyError(f"{label!r} is no state of {' and '.join(map(repr, self.names))}") from None
        return float(self.probabilities[place])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __len__(self) -> int:
        return self.probabilities.size

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The states, or tuples of states, in the order of the domains."""
        if len(self.variables) == 1:
            return tuple(self.variables[0].states)
        return tuple(product(*(variable.states for variable in self.variables)))

    @property
    def mode(self) -> Any:
        """The state of largest probability; the first one among equals."""
        return self.labels[int(self.probabilities.argmax())]

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each state: a column for every variable, and "probability"."""
        cells = np.indices(self.probabilities.shape).reshape(len(self.variables), -1)
        columns = {v.name: v.labels[codes] for v, codes in zip(self.variables, cells, strict=True)}
        return write_frame(columns | {probability_column(self.names): self.probabilities.ravel()}, library)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
            return NotImplemented
        return self.variables == other.variables and np.array_equal(self.probabilities, other.probabilities)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = islice(product(*(variable.states for variable in self.variables)), ROWS_SHOWN)
        rows = [[on_one_line(str(label)) for label in labels] for labels in shown]
        widths = [max(map(display_width, column)) for column in zip(self.names, *rows, strict=True)]
        heading = [padded(name, width) for name, width in zip(self.names, widths, strict=True)]
        lines = ["  ".join([*heading, "probability"])]
        for labels, p in zip(rows, self.probabilities.ravel().tolist(), strict=False):
            cells = [padded(label, width) for label, width in zip(labels, widths, strict=True)]
            bar = "█" * round(BAR_WIDTH * p)
            lines.append("  ".join([*cells, f"{_shown(p):>11}", bar]).rstrip())
        if len(self) > ROWS_SHOWN:
            lines.append(f"... and {len(self) - ROWS_SHOWN} more")
        return "\n".join(lines)


def probability_column(names: tuple[str, ...]) -> str:
    """Name the column of probabilities, beside columns that may be called so themselves."""
    return "(probability)" if "probability" in names else "probability"


def _shown(p: float) -> str:
    """Four decimals, or three digits of what would be nothing then."""
    return f"{p:.4f}" if p == 0 or p >= 0.0001 else f"{p:.2e}"
