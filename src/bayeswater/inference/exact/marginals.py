"""Posterior marginals of many rows of evidence, each with its own pattern of missing cells, by the least work.

Equal rows are answered once. Rows with at most one missing cell are products of table entries. The others take the way
of least work, counted in cells (`forecast`):

- one tree for all rows, observed variables entering at its leaves: no pattern needs work of its own;
- a tree for the rows of one pattern, without the observed variables: far fewer cells, when the rows of the pattern
  pay for making it;
- the elimination of one pattern, row by row: nothing is made but an order, for patterns of few rows.

Small calls take none of them, but the same passes in NumPy. Rows are independent of one another in every route, so that
the number of threads never shows.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial

import numpy as np

from bayeswater import limits
from bayeswater.inference.exact import forecast as effort
from bayeswater.inference.exact.evidence_rows import (
    EvidenceRows,
    Soft,
    answer_observed,
    distinct,
    keys_of,
    read_rows,
    sizes_of_kinds,
    write_marginal,
    write_observed,
)
from bayeswater.inference.exact.forecast import of_tree, rows_together
from bayeswater.inference.exact.junction_tree import JunctionTree, Plan, make_steps, roles_of
from bayeswater.inference.exact.log_passes import log_marginals
from bayeswater.kernels.clique_passes import DONE, IMPOSSIBLE, TOO_SMALL, Answers, pass_messages
from bayeswater.kernels.clique_tree import Roles
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.elimination_steps import Workspace, eliminate_in_rows
from bayeswater.kernels.threads import ordered_map
from bayeswater.records import record
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


@record
class Routes:
    """Rows to answer, and where the answers go."""

    tree: JunctionTree
    rows: EvidenceRows
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
        room = Workspace()
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


WORTH_SHARING = 0.9
"""Equal rows share their answer where this share of the rows is left: with more, copying costs what it saves."""


@record
class Posteriors:
    """Marginals of the targets, (n_rows, card) each, log P(evidence), and the rows whose evidence is impossible.

    In these rows the marginals are zeros and the logarithm is -inf.
    """

    marginals: dict[int, Array]
    log_evidence: Array  # (n_rows,)
    impossible: Array  # (n_rows,) bool


def marginals(
    tree: JunctionTree, codes: Array, targets: Sequence[int] | None = None, soft: Soft | None = None
) -> Posteriors:
    """Marginals of `targets` (all variables if None) given each row of `codes` (n_rows, n_variables).

    The card of a variable, or more, is the code of a missing cell. `soft` gives likelihoods of the states of some
    variables, (card,) or (n_rows, card). An observed target has probability one at its state.
    """
    factors = tree.factors
    rows = read_rows(factors, codes, soft)
    wanted = list(range(factors.n_variables)) if targets is None else list(dict.fromkeys(targets))
    n_rows = rows.evidence.codes.shape[1]
    limits.require_table_bytes(
        8 * n_rows * int(factors.card_array[wanted].sum()),
        f"marginals of {len(wanted)} variables in {n_rows} rows",
        "ask for fewer targets, or for the rows in parts",
    )
    kind = None
    keys = keys_of(rows.evidence.codes) if not soft else None
    if keys is not None and len(sizes_of_kinds(keys)) <= WORTH_SHARING * n_rows:
        first, kind = distinct(rows.evidence.codes, keys)
        rows = read_rows(factors, codes[np.sort(first)])
        kind = np.argsort(np.argsort(first))[kind]  # kinds in the order in which they first come
    answers = _answer(tree, rows, wanted, n_rows)
    impossible = answers.state == IMPOSSIBLE
    result = {v: answers.of_variable(v, factors.cards[v]) for v in wanted}
    log_evidence = answers.log_evidence + rows.log_scale
    if soft and np.isneginf(rows.log_scale).any():  # no state of a variable is likely at all
        impossible |= np.isneginf(rows.log_scale)
        for marginal in result.values():
            marginal[impossible] = 0.0
    if kind is not None:
        result = {v: marginal.take(kind, axis=0) for v, marginal in result.items()}
        log_evidence, impossible = log_evidence[kind], impossible[kind]
    return Posteriors(result, log_evidence, impossible)


def _answer(tree: JunctionTree, rows: EvidenceRows, wanted: Sequence[int], n_asked: int) -> Answers:
    cards = tree.factors.card_array
    n_rows = rows.evidence.codes.shape[1]
    start = np.full(len(cards), -1, dtype=np.int64)
    start[wanted] = np.concatenate([[0], np.cumsum(cards[wanted])[:-1]]) * n_rows if wanted else 0
    marginal = np.zeros(n_rows * int(cards[wanted].sum()))
    answers = Answers(start, marginal, np.empty(n_rows), np.zeros(n_rows, dtype=np.uint8))
    missing = rows.evidence.codes >= cards.astype(rows.evidence.codes.dtype)[:, None]  # (n_variables, n_rows)
    n_missing = np.add.reduce(missing.view(np.uint8), axis=0, dtype=np.uint32)
    list(ordered_map(lambda task: task(), _tasks(tree, rows, answers, missing, n_missing, n_asked)))
    if not len(rows.evidence.likelihood):  # what says nothing is certain: 1, and not the sum of everything, rounded
        answers.log_evidence[n_missing == len(cards)] = 0.0
    return answers


def _tasks(
    tree: JunctionTree, rows: EvidenceRows, answers: Answers, missing: Array, n_missing: Array, n_asked: int
) -> list[Task]:
    factors = tree.factors
    tasks: list[Task] = []
    single = np.flatnonzero(n_missing <= 1)
    which = np.where(n_missing[single] == 0, -1, missing[:, single].argmax(axis=0) if len(missing) else -1)
    for v in np.unique(which).tolist():
        for some in in_parts(single[which == v]):
            missing_one = None if v < 0 else v
            tasks.append(partial(answer_observed, factors, rows.evidence, some, missing_one, answers))
    rest = np.flatnonzero(n_missing > 1)
    if len(rest):
        tasks += Routes(tree, rows, answers, missing, rest, n_asked).tasks()
    return tasks
