"""What a network answers: probabilities by label, of one question or of many rows, and most probable states.

A `Distribution` is of one variable or of several together; an `EstimatedDistribution` was found by sampling, and says
how far it can be relied on. `RowPosteriors` are of many rows of evidence, an `Explanation` is the states of all
variables that are together most probable.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice, product
from typing import Any, ClassVar

import numpy as np

from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import Alongside, write_frame
from bayeswater.data.variable import Variable
from bayeswater.errors import SchemaError
from bayeswater.inference.exact.log_passes import MostProbableStates
from bayeswater.inference.sampling.question import Estimate
from bayeswater.markup import bar, html_table, paragraphs
from bayeswater.models.network.network_rows import label_column
from bayeswater.records import record
from bayeswater.typing import Array

ROWS_SHOWN = 30
"""Lines of a distribution that are printed."""

BAR_WIDTH = 20
"""Columns of the bar of probability 1."""


@record(eq=False)
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
    library: str | None = field(default=None, kw_only=True)

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
        """Give a frame of one line for each state: a column for every variable, and "probability".

        It is of the library of the rows that the network was learned from, unless told; else of Arrow.
        """
        cells = np.indices(self.probabilities.shape).reshape(len(self.variables), -1)
        columns = {v.name: v.labels[codes] for v, codes in zip(self.variables, cells, strict=True)}
        return write_frame(
            columns | {probability_column(self.names): self.probabilities.ravel()}, library or self.library
        )

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

    def _repr_html_(self) -> str:
        labels = islice(product(*(variable.states for variable in self.variables)), ROWS_SHOWN)
        rows = [
            (*map(str, own), _shown(p), *self._beside(i), bar(p))
            for i, (own, p) in enumerate(zip(labels, self.probabilities.ravel().tolist(), strict=False))
        ]
        more = paragraphs([f"... and {len(self) - ROWS_SHOWN} more"] if len(self) > ROWS_SHOWN else [])
        return html_table((*self.names, "probability", *self._heads_beside, ""), rows) + more

    _heads_beside: ClassVar[tuple[str, ...]] = ()

    def _beside(self, place: int) -> tuple[str, ...]:
        """What stands beside a probability."""
        return ()


def probability_column(names: tuple[str, ...]) -> str:
    """Name the column of probabilities, beside columns that may be called so themselves."""
    return "(probability)" if "probability" in names else "probability"


def _shown(p: float) -> str:
    """Four decimals, or three digits of what would be nothing then."""
    return f"{p:.4f}" if p == 0 or p >= 0.0001 else f"{p:.2e}"


@record(eq=False, repr=False)
class EstimatedDistribution(Distribution):
    """A distribution that was estimated: see `Distribution` for the labels.

    Parameters
    ----------
    estimate : what sampling found: `standard_error`, `effective_size`, `r_hat`, `verdict`

    Examples
    --------
    >>> import numpy as np
    >>> from bayeswater.data.variable import Variable
    >>> from bayeswater.inference.sampling.question import effective_size
    >>> p, error = np.array([0.62, 0.38]), np.array([0.001, 0.001])
    >>> found = Estimate(p, error, effective_size(p, error), None, "likelihood_weighting", 300_000, None)
    >>> EstimatedDistribution((Variable("lung", ("yes", "no")),), p, found)
    lung  probability  standard error
    yes        0.6200          0.0010  ████████████
    no         0.3800          0.0010  ████████
    likelihood_weighting, 300000 draws: reliable
    """

    estimate: Estimate

    @property
    def standard_error(self) -> Array:
        """How far off each probability may be: (*n_states of each variable)."""
        return self.estimate.standard_error

    @property
    def is_reliable(self) -> bool:
        """Whether nothing speaks against the errors."""
        return self.estimate.is_reliable

    @property
    def verdict(self) -> str:
        """Say whether the errors can be relied on, and why not."""
        return self.estimate.verdict

    _heads_beside: ClassVar[tuple[str, ...]] = ("standard error",)

    def _beside(self, place: int) -> tuple[str, ...]:
        return (f"{self.standard_error.ravel()[place]:#.2g}{'' if self.is_reliable else '?'}",)

    def _repr_html_(self) -> str:
        return super()._repr_html_() + paragraphs([self._how()])

    def __repr__(self) -> str:
        # A number that nobody vouches for carries a question mark.
        doubt = "" if self.is_reliable else "?"
        lines = super().__repr__().split("\n")
        at = display_width(lines[0])
        errors = [f"{error:#.2g}{doubt}" for error in self.standard_error.ravel().tolist()]
        shown = [f"{lines[0]}  standard error"]
        for line, error in zip(lines[1:], errors, strict=False):
            if line.startswith("... and "):
                shown.append(line)
                break
            number, bar = line[:at], line[at:].strip()
            shown.append(f"{padded(number + doubt, at + 2)}{error:>14}  {bar}".rstrip())
        return "\n".join([*shown, self._how()])

    def _how(self) -> str:
        chains = f"{self.estimate.n_chains} chains, " if self.estimate.n_chains else ""
        return f"{self.estimate.method}, {chains}{self.estimate.n_draws} draws: {self.verdict}"


class RowPosteriors(dict[str, Array]):
    """A dict from the name of a variable to P(state | row), (n_rows, n_states).

    Attributes
    ----------
    log_evidence : (n_rows,), logarithm of the probability of what each row observes
    library : how frames are written, as the rows were
    impossible : (n_rows,) bool, rows whose evidence has probability zero; all their posteriors are zeros
    """

    def __init__(
        self,
        found: Mapping[str, Array],
        variables: Sequence[Variable],
        log_evidence: Array,
        impossible: Array,
        library: Alongside | None = None,
    ) -> None:
        super().__init__(found)
        self.variables = tuple(variables)
        self.log_evidence = log_evidence
        self.impossible = impossible
        self.library = library

    def _repr_html_(self) -> str:
        """Show the likeliest states of the first rows, each with its probability."""
        found = self.labels()
        heads = ("", *(variable.name for variable in self.variables))
        rows = [
            (str(i), *(f"{found[v.name][i]} {self[v.name][i].max():.4g}" for v in self.variables))
            for i in range(min(len(self.log_evidence), ROWS_SHOWN))
        ]
        more = len(self.log_evidence) - len(rows)
        return html_table(heads, rows) + paragraphs([f"... and {more} more rows"] if more else [])

    def labels(self) -> dict[str, Array]:
        """Give the likeliest state of each variable in every row, the first one among equals; None where impossible."""
        likeliest = {v.name: v.labels[self[v.name].argmax(axis=1)] for v in self.variables}
        if self.impossible.any():
            likeliest = {name: np.where(self.impossible, None, labels) for name, labels in likeliest.items()}
        return likeliest

    def to_frame(self, library: str | Alongside | None = None) -> Any:
        """Give a frame with a column ``name=state`` for every state, and "log_evidence" and "impossible".

        By default it is of the library of the rows that were given.
        """
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
        return write_frame(
            {**columns, "log_evidence": self.log_evidence, "impossible": self.impossible}, library or self.library
        )


@record
class Explanation:
    """States by name, and the logarithm of P(states, evidence).

    >>> found = Explanation({"rain": "no", "wet": "no"}, -0.5)
    >>> found["wet"]
    'no'
    """

    states: dict[str, Any]
    log_probability: float
    library: str | None = field(default=None, compare=False)

    def __getitem__(self, name: str) -> Any:
        return self.states[name]

    def __str__(self) -> str:
        width = max((display_width(on_one_line(name)) for name in self.states), default=0)
        lines = [f"{padded(on_one_line(n), width)}  {on_one_line(cell_text(own))}" for n, own in self.states.items()]
        return "\n".join([*lines, self._how_probable()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = ((name, cell_text(own)) for name, own in self.states.items())
        return html_table(("variable", "state"), cells) + paragraphs([self._how_probable()])

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line: the states, and "log_probability"; of the library as in `Distribution`."""
        return _explained(
            {name: [own] for name, own in self.states.items()}, [self.log_probability], library or self.library
        )

    def _how_probable(self) -> str:
        return f"log-probability together with the evidence: {self.log_probability:.6g}"


def cell_text(cell: Any) -> str:
    """Write a state, or a number in six digits."""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def explained_rows(found: MostProbableStates, variables: Sequence[Variable], library: Alongside) -> Any:
    """Give explanations as a frame of all variables, and "log_probability"; what is not explained is missing."""
    columns = {v.name: label_column(found.states[:, j], v) for j, v in enumerate(variables)}
    return _explained(columns, found.log_probability, library)


def _explained(columns: dict[str, Any], log_probability: Any, library: str | Alongside | None) -> Any:
    name = "(log_probability)" if "log_probability" in columns else "log_probability"
    return write_frame({**columns, name: np.asarray(log_probability)}, library)
