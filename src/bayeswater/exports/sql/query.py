"""`Query`: the steps of a query, each a SELECT from the one before it."""

from collections.abc import Iterable, Sequence
from typing import Any

from bayeswater.errors import ResourceLimitError
from bayeswater.exports.form import ScoringForm
from bayeswater.exports.sql.dialects import IMPOSSIBLE, Dialect
from bayeswater.typing import Array

FEW = 8
"""Numbers that are looked up by halving, even where there are lists."""


class Query:
    """Steps of a query: columns of each by their name, and the expression that gives them."""

    def __init__(self, form: ScoringForm, dialect: Dialect) -> None:
        self.form, self.dialect, self.classes = form, dialect, range(form.n_classes)
        self.steps: list[dict[str, str]] = []
        self.joins: dict[int, str] = {}  # what a step selects from beside the one before it
        self.codes = [f"c{place}" for place in range(len(form.cells))]

    def step(self, columns: dict[str, str], keeping: Iterable[str] | None = None) -> None:
        """Add columns in a step that keeps all columns before it, or only some."""
        kept = self.steps[-1] if self.steps and keeping is None else keeping or ()
        own = {name: name for name in kept} | columns
        if len(own) > self.dialect.most_columns:
            raise ResourceLimitError(
                f"a model of {self.form.size()} takes {len(own):,} columns in a step of the query, over the "
                f"{self.dialect.most_columns:,} of {self.dialect.name}; export it as C or ONNX, or bin its columns"
            )
        self.steps.append(own)

    def number(self, value: Any) -> str:
        """Write a number."""
        return self.dialect.literal(value)

    def total(self, parts: Sequence[str]) -> str:
        """Write a sum, of many parts as one of sums: databases bound how deep an expression is."""
        if not parts:
            return self.number(0)
        if len(parts) <= 50:
            return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"
        size = -(-len(parts) // 50)
        return self.total([self.total(parts[at : at + size]) for at in range(0, len(parts), size)])

    def lookup(self, code: str, values: Array) -> str:
        """Look a code up among numbers (n_codes,), in a list or by halving."""
        if len(values) > FEW and self.dialect.listed is not None:
            return self.dialect.taken(values, code)

        def between(first: int, last: int) -> str:
            if (values[first:last] == values[first]).all():
                return self.number(values[first])
            middle = (first + last) // 2
            return f"CASE WHEN {code} < {middle} THEN {between(first, middle)} ELSE {between(middle, last)} END"

        return between(0, len(values)) if len(values) else self.number(0)

    def known_share(self, known: str, usual: float, others: Sequence[int]) -> str:
        """Write how much a row with so many known cells has of what holds for a usual one."""
        parts = [
            f"(CASE WHEN {known} > {o} THEN {known} - {o} ELSE 0 END) * {self.number(1 / (usual - o))}" for o in others
        ]
        return " * ".join(parts) or f"CASE WHEN {known} > 0 THEN {self.number(1)} ELSE {self.number(0)} END"

    def log_of_sum(self, top: str, parts: Sequence[str]) -> str:
        """Write top + log(sum), impossible where the sum is 0."""
        whole = self.total(parts)
        return f"CASE WHEN {whole} > 0 THEN {top} + LN({whole}) ELSE {self.number(IMPOSSIBLE)} END"

    def text(self, names: Sequence[tuple[str, str]], table: str) -> str:
        """Write the query; `names` are the columns of its answer and what they are called."""
        lines, source = [], f"{self.dialect.identifier(table)} AS t"
        for number, columns in enumerate(self.steps):
            own = ",\n    ".join(name if name == value else f"{value} AS {name}" for name, value in columns.items())
            step = self.dialect.step.format(f"\n  SELECT\n    {own}\n  FROM {source}{self.joins.get(number, '')}\n")
            lines.append(f"s{number} {step}")
            source = f"s{number}"
        answer = ",\n  ".join(f"{name} AS {self.dialect.identifier(called)}" for name, called in names)
        return f"WITH {', '.join(lines)}\nSELECT\n  {answer}\nFROM {source}"
