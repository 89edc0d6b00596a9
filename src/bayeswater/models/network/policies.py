"""What to do, and what it is worth to know more: answers of a `DecisionNetwork`, made to be printed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.markup import Safe, bar, html_table, paragraphs
from bayeswater.models.network.conditional_tables import state_code
from bayeswater.models.network.findings import LINES_SHOWN, text_table
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class Policy:
    """The best alternative of a decision for every state of what it depends on.

    Parameters
    ----------
    decision : the decision, whose states are its alternatives
    given : the variables that matter of those that are known
    utilities : (*n_states of these, n_alternatives), expected of what the decision has a part in
    choice : (*n_states of these), the first alternative among equals
    """

    decision: Variable
    given: tuple[Variable, ...]
    utilities: Array
    choice: Array

    def best(self, states: Mapping[str, Any] | None = None, /, **more: Any) -> Any:
        """Give the alternative to take; states of variables that do not matter may be named as well."""
        known = {**(states or {}), **more}
        missing = [variable.name for variable in self.given if variable.name not in known]
        if missing:
            raise ParameterError(f"the best {self.decision.name!r} depends on {missing}; name their states")
        place = tuple(state_code(variable, known[variable.name]) for variable in self.given)
        return self.decision.states[int(self.choice[place])]

    def _rows(self) -> list[list[str]]:
        flat = self.utilities.reshape(-1, self.decision.n_states)
        lines = zip(product(*(v.states for v in self.given)), self.choice.ravel().tolist(), flat, strict=True)
        return [[*map(str, own), str(self.decision.states[best]), *(f"{x:.4g}" for x in u)] for own, best, u in lines]

    def _heads(self) -> list[str]:
        return [*(v.name for v in self.given), self.decision.name, *(f"E[{s}]" for s in self.decision.states)]

    def __repr__(self) -> str:
        rows = self._rows()
        more = [f"... and {len(rows) - LINES_SHOWN} more rows"] if len(rows) > LINES_SHOWN else []
        return "\n".join([text_table(self._heads(), rows[:LINES_SHOWN], len(self.given) + 1), *more])

    def _repr_html_(self) -> str:
        rows = self._rows()
        more = [f"... and {len(rows) - LINES_SHOWN} more rows"] if len(rows) > LINES_SHOWN else []
        return Safe(html_table(self._heads(), rows[:LINES_SHOWN]) + paragraphs(more))

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of a line for each state of what is known: these, the decision, and utilities."""
        cells = np.indices(self.choice.shape).reshape(len(self.given), self.choice.size)
        columns: dict[str, Any] = {v.name: v.labels[codes] for v, codes in zip(self.given, cells, strict=True)}
        columns[self.decision.name] = self.decision.labels[self.choice.ravel()]
        flat = self.utilities.reshape(-1, self.decision.n_states)
        columns |= {f"E[{state}]": flat[:, k].copy() for k, state in enumerate(self.decision.states)}
        return write_frame(columns, library)


@dataclass(frozen=True)
class InformationValues(Mapping[str, float]):
    """How much the expected utility rises where a variable is known before a decision, the largest first."""

    values_by_name: dict[str, float]
    decision: str
    expected_utility: float

    def __getitem__(self, name: str) -> float:
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def _told(self) -> str:
        return f"expected utility {self.expected_utility:.6g}; known before {self.decision!r}, it rises by"

    def __repr__(self) -> str:
        rows = [[name, f"{value:.4g}"] for name, value in self.values_by_name.items()]
        return "\n".join([self._told(), text_table(["variable", "worth"], rows)])

    def _repr_html_(self) -> str:
        top = max(self.values_by_name.values(), default=0.0) or 1.0
        rows = [(name, f"{value:.4g}", bar(value / top)) for name, value in self.values_by_name.items()]
        return Safe(paragraphs([self._told()]) + html_table(("variable", "worth", ""), rows))
