"""What an analysis of a network finds; it can be printed.

Sensitivities, strengths of arcs, explanations and cliques; of a `DecisionNetwork` what to do, and what it is worth to
know more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product
from typing import Any

import numpy as np

from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import write_frame
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.inference.exact.derivatives import Slopes
from bayeswater.markup import Safe, bar, html_table, paragraphs, step
from bayeswater.models.network.answers import Explanation, cell_text
from bayeswater.models.network.conditional_tables import state_code
from bayeswater.networks.conditionals import require_probability
from bayeswater.networks.network import Network
from bayeswater.records import record
from bayeswater.typing import Array

LINES_SHOWN = 20
"""Lines of a finding that are printed."""


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], n_words: int = 1) -> str:
    """Write cells under their heads, words to the left and numbers to the right.

    >>> print(text_table(["arc", "bits"], [["a -> b", "0.5"]]))
    arc     bits
    a -> b   0.5
    """
    cells = [[on_one_line(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        placed = [
            padded(cell, width) if j < n_words else " " * (width - display_width(cell)) + cell
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(placed).rstrip())
    return "\n".join(lines)


def _and_more(n: int, what: str) -> list[str]:
    return [f"... and {n - LINES_SHOWN} more {what}"] if n > LINES_SHOWN else []


@record(eq=False)
class Sensitivity:
    """How a posterior follows every entry of every table, the strongest first.

    Parameters
    ----------
    network : Network
    question : what was asked, as ``P(lung=yes | xray=yes)``
    slopes : the posterior as a function of each entry
    spread : share by which each entry goes down and up for `low` and `high`

    node, cell : of each entry: the variable, and the cell of its table
    entry, derivative, low, high : of each entry: what it is, the derivative of the posterior by it, and the posterior
        where it is lower or higher by the spread; the other entries of its row give way in proportion
    """

    network: Network
    question: str
    slopes: Slopes
    spread: float

    node: Array
    cell: Array
    entry: Array
    derivative: Array
    low: Array
    high: Array
    library: str | None = field(default=None, kw_only=True)

    @classmethod
    def of(
        cls, network: Network, question: str, slopes: Slopes, spread: float, library: str | None = None
    ) -> "Sensitivity":
        """Work out every entry, and sort them by how far they move the posterior."""
        columns: list[tuple[Array, ...]] = []
        for node, table in enumerate(network.tables):
            if table.shape[-1] == 1:
                continue
            lower = slopes.posteriors(node, -spread * table)
            higher = slopes.posteriors(node, np.minimum(spread * table, 1.0 - table))
            parts = (table, slopes.derivative(node), lower, higher)
            columns.append((np.full(table.size, node), np.arange(table.size), *(part.ravel() for part in parts)))
        joined = [np.concatenate(parts) for parts in zip(*columns, strict=True)] if columns else [np.empty(0)] * 6
        order = np.lexsort([-np.abs(joined[3]), -np.abs(joined[5] - joined[4])])
        return cls(network, question, slopes, spread, *(values[order] for values in joined), library=library)

    @property
    def posterior(self) -> float:
        """The posterior as the tables are."""
        return self.slopes.hit / self.slopes.known

    def __len__(self) -> int:
        return len(self.entry)

    def name_of(self, line: int) -> str:
        """Name an entry: ``P(lung=yes | smoke=no)``."""
        node = int(self.node[line])
        variables = (*self.network.parents_of(node), self.network.variables[node])
        place = np.unravel_index(int(self.cell[line]), self.network.tables[node].shape)
        states = [f"{v.name}={v.states[int(code)]}" for v, code in zip(variables, place, strict=True)]
        return f"P({states[-1]}{' | ' * (len(states) > 1)}{', '.join(states[:-1])})"

    def at(self, name: str, state: Any, value: float, given: Mapping[str, Any] | None = None) -> float:
        """Give the posterior where P(name=state | given) has another value; the others of its row are in proportion.

        Parameters
        ----------
        name, state : the variable and its state
        value : probability, from 0 to 1
        given : ``{name: state}`` of all parents
        """
        require_probability(value, f"the value of P({name}={state})")
        node = self.network.dag.node(name)
        known = {**(given or {}), name: state}
        variables = (*self.network.parents_of(node), self.network.variables[node])
        missing = [variable.name for variable in variables if variable.name not in known]
        if missing:
            raise ParameterError(f"given names no state of {missing}; {name!r} has a row for each state of its parents")
        place = tuple(state_code(variable, known[variable.name]) for variable in variables)
        return self.slopes.posterior(node, place, value - float(self.network.tables[node][place]))

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each entry: "entry", "value", "derivative", "low", "high"."""
        names = np.array([self.name_of(line) for line in range(len(self))], dtype=object)
        columns = {"value": self.entry, "derivative": self.derivative, "low": self.low, "high": self.high}
        return write_frame({"entry": names} | columns, library or self.library)

    def _rows(self) -> list[tuple[str, ...]]:
        columns = (self.entry, self.derivative, self.low, self.high)
        lines = range(min(len(self), LINES_SHOWN))
        return [(self.name_of(i), *(f"{column[i]:.4g}" for column in columns)) for i in lines]

    def _heads(self) -> tuple[str, ...]:
        return "entry", "value", "derivative", f"{-100 * self.spread:+.4g} %", f"{100 * self.spread:+.4g} %"

    def __repr__(self) -> str:
        table = text_table(self._heads(), self._rows())
        return "\n".join([f"{self.question} = {self.posterior:.6g}", table, *_and_more(len(self), "entries")])

    def _repr_html_(self) -> str:
        low = min(self.low.min(initial=self.posterior), self.high.min(initial=self.posterior))
        high = max(self.low.max(initial=self.posterior), self.high.max(initial=self.posterior))
        drawn = [step(float(a), float(b), float(low), float(high)) for a, b in zip(self.low, self.high, strict=True)]
        rows = [(*row, tornado) for row, tornado in zip(self._rows(), drawn, strict=False)]
        html = paragraphs([f"{self.question} = {self.posterior:.6g}"])
        return Safe(html + html_table((*self._heads(), ""), rows) + paragraphs(_and_more(len(self), "entries")))


@record
class ArcInformation(Mapping[tuple[str, str], float]):
    """What each arc carries, in bits: the information of parent and child given the child's other parents.

    It is how far the network is, in Kullback-Leibler divergence, from the nearest one without the arc.
    """

    bits: dict[tuple[str, str], float]
    library: str | None = field(default=None, compare=False)

    def __getitem__(self, arc: tuple[str, str]) -> float:
        return self.bits[arc]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.bits)

    def __len__(self) -> int:
        return len(self.bits)

    def _strongest(self) -> list[tuple[str, float]]:
        arcs = [(f"{parent} -> {child}", bits) for (parent, child), bits in self.bits.items()]
        return sorted(arcs, key=lambda one: -one[1])[:LINES_SHOWN]

    def __repr__(self) -> str:
        lines = text_table(["arc", "bits"], [[arc, f"{bits:.4g}"] for arc, bits in self._strongest()])
        return "\n".join([lines, *_and_more(len(self), "arcs")])

    def _repr_html_(self) -> str:
        top = max(self.bits.values(), default=0.0) or 1.0
        rows = [(arc, f"{bits:.4g}", bar(bits / top)) for arc, bits in self._strongest()]
        return Safe(html_table(("arc", "bits", ""), rows) + paragraphs(_and_more(len(self), "arcs")))

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each arc: "from", "to", "bits"."""
        ends = {"from": [a for a, _ in self.bits], "to": [b for _, b in self.bits]}
        columns = {name: np.array(own, dtype=object) for name, own in ends.items()}
        return write_frame({**columns, "bits": np.array([*self.bits.values()])}, library or self.library)


@record
class BestExplanations(Sequence[Explanation]):
    """BestExplanations, the most probable first, and how probable each is given the evidence."""

    found: tuple[Explanation, ...]
    posterior: tuple[float, ...]
    open_names: tuple[str, ...]
    library: str | None = field(default=None, compare=False)

    def __getitem__(self, place: Any) -> Any:
        return self.found[place]

    def __len__(self) -> int:
        return len(self.found)

    def _rows(self) -> list[list[str]]:
        pairs = zip(self.found[:LINES_SHOWN], self.posterior, strict=False)
        return [[*(cell_text(one[name]) for name in self.open_names), f"{p:.4g}"] for one, p in pairs]

    def __repr__(self) -> str:
        lines = text_table([*self.open_names, "probability"], self._rows(), len(self.open_names))
        return "\n".join([lines, *_and_more(len(self), "explanations")])

    def _repr_html_(self) -> str:
        rows = [
            (str(i + 1), *row, bar(p)) for i, (row, p) in enumerate(zip(self._rows(), self.posterior, strict=False))
        ]
        more = paragraphs(_and_more(len(self), "explanations"))
        return Safe(html_table(("", *self.open_names, "probability", ""), rows) + more)

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each: the states, and "probability"."""
        columns = {name: np.array([one[name] for one in self.found], dtype=object) for name in self.open_names}
        return write_frame({**columns, "probability": np.array(self.posterior)}, library or self.library)


@record
class Conflict:
    """Whether findings speak against each other (Jensen 1990), in bits.

    bits = log2 of (product of P(finding)) / P(all findings)

    Attributes
    ----------
    bits : over zero where the findings are rarer together than by themselves
    of_finding : the same of each finding and all the others together
    """

    bits: float
    of_finding: dict[str, float]

    def __float__(self) -> float:
        return self.bits

    def _text(self) -> str:
        verdict = "speak against each other" if self.bits > 0 else "go together"
        return f"conflict {self.bits:.4g} bits: the findings {verdict}"

    def __repr__(self) -> str:
        rows = [[name, f"{bits:.4g}"] for name, bits in self.of_finding.items()]
        return "\n".join([self._text(), text_table(["finding against the others", "bits"], rows)])

    def _repr_html_(self) -> str:
        rows = [(name, f"{bits:.4g}") for name, bits in self.of_finding.items()]
        return Safe(paragraphs([self._text()]) + html_table(("finding against the others", "bits"), rows))


@record
class CliqueListing:
    """A junction tree to look at.

    Attributes
    ----------
    cliques : names of the variables of each, parents before children
    separators : those that each shares with its parent; () for a root
    parent : place of the parent of each; -1 for a root
    elimination_order : variables in the order in which they are summed out
    n_cells : cells of all cliques
    """

    cliques: tuple[tuple[str, ...], ...]
    separators: tuple[tuple[str, ...], ...]
    parent: tuple[int, ...]
    elimination_order: tuple[str, ...]
    n_cells: float

    def _lines(self) -> list[str]:
        depth: list[int] = []
        lines = []
        children: dict[int, list[int]] = {}
        for place, parent in enumerate(self.parent):
            depth.append(depth[parent] + 1 if parent >= 0 else 0)
            children.setdefault(parent, []).append(place)
        waiting = list(reversed(children.get(-1, [])))
        while waiting:
            place = waiting.pop()
            own = ", ".join(name for name in self.cliques[place] if name not in self.separators[place])
            shared = ", ".join(self.separators[place])
            lines.append(f"{'  ' * depth[place]}{own}{' | ' * bool(shared)}{shared}")
            waiting += reversed(children.get(place, []))
        return lines

    def _text(self) -> str:
        largest = max(map(len, self.cliques), default=0)
        return f"{len(self.cliques)} cliques, the largest of {largest} variables, {self.n_cells:.10g} cells"

    def __repr__(self) -> str:
        lines = self._lines()
        return "\n".join([self._text(), *lines[:LINES_SHOWN], *_and_more(len(lines), "cliques")])

    def _repr_html_(self) -> str:
        pairs = zip(self.cliques, self.separators, strict=True)
        rows = [(str(j), ", ".join(own), ", ".join(shared)) for j, (own, shared) in enumerate(pairs)]
        more = paragraphs(_and_more(len(rows), "cliques"))
        return Safe(paragraphs([self._text()]) + html_table(("", "clique", "separator"), rows[:LINES_SHOWN]) + more)


@record
class Divergence:
    """How far two networks are from each other, in bits, and the standard error where it was sampled."""

    bits: float
    standard_error: float = 0.0

    def __float__(self) -> float:
        return self.bits

    def __repr__(self) -> str:
        return f"{self.bits:.6g} bits" + f" ± {self.standard_error:.2g} (sampled)" * (self.standard_error > 0)


@record(eq=False)
class Policy:
    """The best alternative of a decision for every state of what it depends on.

    Parameters
    ----------
    decision : the decision, whose states are its alternatives
    given : the variables that matter of those that are known
    utilities : (*n_states of these, n_alternatives), expected of what the decision has a part in
    choice : (*n_states of these), the first alternative among equals
    possible : (*n_states of these) bool; what cannot be met is not listed
    """

    decision: Variable
    given: tuple[Variable, ...]
    utilities: Array
    choice: Array
    possible: Array

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
        choice, possible = self.choice.ravel().tolist(), self.possible.ravel().tolist()
        lines = zip(product(*(v.states for v in self.given)), choice, flat, possible, strict=True)
        return [
            [*map(str, own), str(self.decision.states[best]), *(f"{x:.4g}" for x in u)]
            for own, best, u, is_possible in lines
            if is_possible
        ]

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
        """Give a frame of a line for each state of what is known, if it is possible: the decision, and utilities."""
        there = self.possible.ravel()
        cells = np.indices(self.choice.shape).reshape(len(self.given), self.choice.size)[:, there]
        columns: dict[str, Any] = {v.name: v.labels[codes] for v, codes in zip(self.given, cells, strict=True)}
        columns[self.decision.name] = self.decision.labels[self.choice.ravel()[there]]
        flat = self.utilities.reshape(-1, self.decision.n_states)[there]
        columns |= {f"E[{state}]": flat[:, k].copy() for k, state in enumerate(self.decision.states)}
        return write_frame(columns, library)


@record
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

    def _text(self) -> str:
        return f"expected utility {self.expected_utility:.6g}; known before {self.decision!r}, it rises by"

    def __repr__(self) -> str:
        rows = [[name, f"{value:.4g}"] for name, value in self.values_by_name.items()]
        return "\n".join([self._text(), text_table(["variable", "worth"], rows)])

    def _repr_html_(self) -> str:
        top = max(self.values_by_name.values(), default=0.0) or 1.0
        rows = [(name, f"{value:.4g}", bar(value / top)) for name, value in self.values_by_name.items()]
        return Safe(paragraphs([self._text()]) + html_table(("variable", "worth", ""), rows))
