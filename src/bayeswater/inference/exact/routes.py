"""Which way rows with several missing cells are answered: by the least work, counted in cells (`effort`).

- one tree for all rows, observed variables entering at its leaves: no pattern needs work of its own;
- a tree for the rows of one pattern, without the observed variables: far fewer cells, when the rows of the pattern
  pay for making it;
- the elimination of one pattern, row by row: nothing is made but an order, for patterns of few rows.

Small calls take none of them, but the same passes in NumPy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from bayeswater import limits
from bayeswater.inference.exact import effort
from bayeswater.inference.exact.forecast import of_tree, rows_together
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.log_passes import log_marginals
from bayeswater.inference.exact.observed import write_marginal, write_observed
from bayeswater.inference.exact.plan import Plan, make_steps, roles_of
from bayeswater.inference.exact.rows import Rows, distinct, keys_of, sizes_of_kinds
from bayeswater.kernels.clique_passes import DONE, IMPOSSIBLE, TOO_SMALL, Answers, pass_messages
from bayeswater.kernels.clique_places import Roles
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.elimination_steps import Room, eliminate_in_rows
from bayeswater.typing import Array

ROWS_OF_A_TASK = 1_024
"""Rows that a thread takes at a time."""

PATTERNS_OF_A_TASK = 64
"""Patterns that a thread takes at a time."""

NUMPY_CELLS = 1_000_000
"""Cells of all rows that NumPy still answers about as fast as compiled code is loaded."""

Task = Callable[[], None]
"""Answers some rows, and writes them down."""


def in_parts(rows: Array, size: int = ROWS_OF_A_TASK) -> Iterator[Array]:
    """Cut rows into the parts of tasks."""
    for begin in range(0, len(rows), size):
        yield rows[begin : begin + size]


@dataclass(frozen=True)
class Routes:
    """Rows to answer, and where the answers go."""

    tree: JunctionTree
    rows: Rows
    answers: Answers
    missing: Array  # (n_variables, n_rows)
    rest: Array  # rows to answer
    n_asked: int  # rows of the call, equal ones counted each

    def tasks(self) -> list[Task]:
        """Tasks that answer all of the rows."""
        n_variables, n_rows = self.tree.factors.n_variables, len(self.rest)
        if not worth_compiling(self.n_asked * n_variables**2):
            plan = self._shared_plan(use_loop=False)
            if n_rows * plan.tree.n_cells <= NUMPY_CELLS:
                return [partial(self.by_logarithms, plan, some) for some in in_parts(self.rest, _numpy_rows(plan))]
        shared = self._shared_plan(use_loop=worth_compiling(n_variables**2))
        forecast = of_tree(shared.tree.n_cells, n_rows)
        shared_cells = shared.tree.n_cells if forecast.bytes <= limits.TABLE_BYTES else np.inf
        order, start = self._patterns(shared_cells)
        size = np.diff(start)
        looks = size * shared_cells > effort.of_looking(n_variables)
        look_loop = worth_compiling(int(looks.sum()) * n_variables**2)
        large = looks & (size > 1) & (size * shared_cells > effort.of_making(n_variables, 0, True))
        make_loop = worth_compiling(int(large.sum()) * n_variables**2)
        if not make_loop:
            large = size * shared_cells > effort.of_making(n_variables, 0, False)
        tasks: list[Task] = []
        for k in np.flatnonzero(large).tolist():
            group = order[start[k] : start[k + 1]]
            own = self._pattern_plan(group, shared_cells, look_loop, make_loop)
            large[k] = own is not None
            if own is not None:
                tasks += [partial(self.by_passes, own.ready(), some) for some in in_parts(group)]
        alone = looks & ~large if look_loop else np.zeros_like(looks)
        for some in in_parts(np.flatnonzero(alone), PATTERNS_OF_A_TASK):
            groups = [order[start[k] : start[k + 1]] for k in some.tolist()]
            tasks.append(partial(self.by_elimination, groups, shared, shared_cells))
        common = np.sort(
            order[np.repeat(~(large | alone), size)]
        )  # neighbours lie together in what is read and written
        if len(common):
            forecast.require_room()
            tasks += [partial(self.by_passes, shared.ready(), some) for some in in_parts(common)]
        return tasks

    @cached_property
    def _missing(self) -> Array:
        # Of the rows to answer.
        return self.missing if len(self.rest) == self.missing.shape[1] else self.missing[:, self.rest]

    def _shared_plan(self, use_loop: bool) -> Plan:
        # What all rows observe is taken out of the graph; the rest of the evidence enters at leaves.
        often, always = np.asarray(~self._missing.all(axis=1)), np.asarray(~self._missing.any(axis=1))
        return self.tree.plan(self._roles(always, often & ~always), use_loop=use_loop)

    def _roles(self, fixed: Array, evidence: Array | None = None) -> Roles:
        soft = self.rows.evidence.soft >= 0
        return roles_of(
            self.tree.factors, fixed, soft if evidence is None else soft | evidence, self.answers.start >= 0
        )

    def _patterns(self, shared_cells: float) -> tuple[Array, Array]:
        # Rows with those of equal patterns together, and where each pattern begins; each row for itself if none could
        # pay for a look.
        patterns = self._missing.view(np.uint8)
        keys = keys_of(patterns)
        if sizes_of_kinds(keys).max() * shared_cells <= effort.of_looking(self.tree.factors.n_variables):
            return self.rest, np.arange(len(self.rest) + 1)
        first, kind = distinct(patterns, keys)
        start = np.concatenate([[0], np.cumsum(np.bincount(kind, minlength=len(first)))])
        return self.rest[np.argsort(kind, kind="stable")], start

    def _pattern_plan(self, group: Array, shared_cells: float, look_loop: bool, make_loop: bool) -> Plan | None:
        # The plan of a pattern, if its rows pay for making it.
        factors, n_rows = self.tree.factors, len(group)
        roles = self._roles(~self.missing[:, group[0]])
        otherwise = effort.of_passing(shared_cells, n_rows)
        if look_loop:
            cells = make_steps(factors, roles).n_cells
            otherwise = min(otherwise, effort.of_single_rows(cells, n_rows))
        else:
            cells = self.tree.plan(roles, use_loop=make_loop).tree.n_cells
        if effort.of_making(factors.n_variables, cells, make_loop) + effort.of_passing(cells, n_rows) > otherwise:
            return None
        plan = self.tree.plan(roles, use_loop=make_loop)
        of_tree(plan.tree.n_cells, n_rows).require_room()
        return plan

    def by_elimination(self, groups: list[Array], shared: Plan, shared_cells: float) -> None:
        """Answer the rows of each pattern one by one, or by the tree for all rows if that is less work."""
        factors, evidence = self.tree.factors, self.rows.evidence
        left: list[Array] = []
        done: list[Array] = []
        room = Room()
        for group in groups:
            roles = self._roles(~self.missing[:, group[0]])
            steps = make_steps(factors, roles)
            if effort.of_single_rows(steps.n_cells, len(group)) >= effort.of_passing(shared_cells, len(group)):
                left.append(group)
                continue
            of_tree(steps.n_cells, 1).require_room()
            floor = steps.least_products(factors.log_least, self.rows.log_least)
            eliminate_in_rows(steps, factors.families, factors.card_array, evidence, group, floor, self.answers, room)
            done.append(group[self.answers.state[group] == DONE])
            given_back = group[self.answers.state[group] == TOO_SMALL]
            if len(given_back):
                plan = self.tree.plan(roles, use_loop=False)
                for some in in_parts(given_back, _numpy_rows(plan)):
                    self.by_logarithms(plan, some)
        if done:
            write_observed(factors, evidence, np.concatenate(done), np.arange(factors.n_variables), self.answers)
        if left:
            rows = np.sort(np.concatenate(left))
            of_tree(shared.tree.n_cells, len(rows)).require_room()
            self.by_passes(shared, rows)

    def by_passes(self, plan: Plan, rows: Array) -> None:
        """Answer rows by the compiled passes, and those they give back in logarithms."""
        factors, evidence = self.tree.factors, self.rows.evidence
        log_least = self.rows.log_least
        scaling = plan.scaling_with(log_least) if log_least.any() else plan.scaling
        width = rows_together(plan.tree.n_cells)
        pass_messages(plan.tables, factors.families, factors.card_array, evidence, rows, scaling, width, self.answers)
        done = rows[self.answers.state[rows] == DONE]
        write_observed(factors, evidence, done, np.flatnonzero(plan.roles.fixed), self.answers)
        for some in in_parts(rows[self.answers.state[rows] == TOO_SMALL], _numpy_rows(plan)):
            self.by_logarithms(plan, some)

    def by_logarithms(self, plan: Plan, rows: Array) -> None:
        """Answer rows in NumPy."""
        factors, evidence, answers = self.tree.factors, self.rows.evidence, self.answers
        found, log_evidence = log_marginals(plan, evidence, rows)
        possible = ~np.isneginf(log_evidence)
        answers.log_evidence[rows] = log_evidence
        answers.state[rows] = np.where(possible, DONE, IMPOSSIBLE)
        write_observed(factors, evidence, rows[possible], np.arange(factors.n_variables), answers)
        for v, marginal in found.items():
            free = self.missing[v, rows] & possible
            write_marginal(answers, v, factors.cards[v], rows[free], marginal[free])


def _numpy_rows(plan: Plan) -> int:
    # Rows that NumPy takes together: some megabytes at a time.
    return int(np.clip(NUMPY_CELLS / 4 / max(plan.tree.n_cells, 1), 1, ROWS_OF_A_TASK))
