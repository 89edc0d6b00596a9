"""Which states evidence leaves possible: zeros of tables, followed from table to table.

A state of a variable is possible as far as every table of the variable has a positive entry for it among the possible
states of the others. Striking out the rest until nothing changes is no proof that what remains is possible together;
`find_together` searches for such states, and where it has tried all of them there are none.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bayeswater.errors import SamplingError
from bayeswater.typing import Array

Scope = tuple[int, ...]

Domains = dict[int, Array]
"""Whether each state of a variable is possible, (n_states,) bool."""

MOST_TRIES = 20_000
"""States tried in a search before it is given up."""


class Constraints:
    """Tables with zeros: which states of their variables are possible together."""

    def __init__(self, tables: Sequence[tuple[Scope, Array]]) -> None:
        self.tables = [(scope, values > 0) for scope, values in tables if (values == 0).any()]
        self.of_variable: dict[int, list[int]] = {}
        for t, (scope, _) in enumerate(self.tables):
            for v in scope:
                self.of_variable.setdefault(v, []).append(t)

    def strike_out(self, domains: Domains, changed: Sequence[int] | None = None) -> bool:
        """Strike states out of `domains` until nothing changes; False where a variable has none left.

        `changed` are the variables that have lost states since the last time; all of them unless told.
        """
        waiting = (
            set(range(len(self.tables)))
            if changed is None
            else {t for v in changed for t in self.of_variable.get(v, ())}
        )
        while waiting:
            scope, positive = self.tables[waiting.pop()]
            for axis, v in enumerate(scope):
                positive = np.compress(domains[v], positive, axis=axis)
            for axis, v in enumerate(scope):
                left = positive.any(axis=tuple(a for a in range(len(scope)) if a != axis))
                if left.all():
                    continue
                if not left.any():
                    return False
                domains[v] = domains[v].copy()
                domains[v][domains[v]] = left
                positive = np.compress(left, positive, axis=axis)
                waiting.update(self.of_variable[v])
        return True

    def find_together(self, domains: Mapping[int, Array], rng: np.random.Generator) -> dict[int, int] | None:
        """Find states of all variables in these tables that are possible together, at random; None if there are none.

        Raises
        ------
        SamplingError
            After `MOST_TRIES` states tried, nothing is known.
        """
        open_choices: list[tuple[Domains, int, list[int]]] = []
        here = dict(domains)
        fine = all(domain.any() for domain in here.values()) and self.strike_out(here)
        for _ in range(MOST_TRIES):
            if fine:
                free = [v for v in self.of_variable if here[v].sum() > 1]
                if not free:
                    return {v: int(here[v].argmax()) for v in self.of_variable}
                v = min(free, key=lambda v: (here[v].sum(), -len(self.of_variable[v])))
                open_choices.append((here, v, rng.permutation(np.flatnonzero(here[v])).tolist()))
            while open_choices and not open_choices[-1][2]:
                open_choices.pop()
            if not open_choices:
                return None
            before, v, left = open_choices[-1]
            here = dict(before)
            here[v] = np.arange(len(before[v])) == left.pop()
            fine = self.strike_out(here, [v])
        raise SamplingError(
            f"it is not known whether the evidence is possible: {MOST_TRIES} tries found no states of all variables "
            "that agree with it, and did not show that there are none; ask for an exact answer, or observe less"
        )
