"""Posterior marginals of many rows of evidence, each with its own pattern of missing cells.

Equal rows are answered once. Rows with at most one missing cell are products of table entries. The others go through
a tree, by the cheapest of three routes:

- one tree for all rows, observed variables entering at its leaves: no pattern needs work of its own;
- a tree for the rows of one pattern, without the observed variables: far fewer cells, when the rows of the pattern
  pay for making it;
- a tree for a single row, into whose tables the evidence is multiplied.

Which one depends on the numbers of cells and rows alone. Rows are independent of one another in every route, so that
the number of threads never shows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayeswater import limits
from bayeswater.inference.exact.forecast import CELL_SECONDS, of_tree, rows_together
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.log_passes import log_marginals
from bayeswater.inference.exact.observed import answer_observed, of_variable, write_marginal, write_observed
from bayeswater.inference.exact.plan import Plan, make_plan, roles_of
from bayeswater.inference.exact.rows import Rows, Soft, distinct, read_rows
from bayeswater.kernels.clique_pass_of_row import pass_messages_of_row
from bayeswater.kernels.clique_passes import IMPOSSIBLE, TOO_SMALL, Answers, pass_messages
from bayeswater.kernels.clique_tables import Roles
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.elimination_order import MIN_FILL
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array

ROWS_OF_A_TASK = 1_024
"""Rows that a thread takes at a time."""

NUMPY_CELLS = 1_000_000
"""Cells of all rows that NumPy still answers about as fast as compiled code is loaded."""

MAKE_SECONDS, MAKE_SECONDS_OF_A_CELL = 60e-6, 6e-9
"""What it takes to fill its tables."""

ROW_CELL_SECONDS = 6e-9
"""Of a cell in the passes of a single row."""

MANY_CELLS = 100_000
"""A tree of a row with more cells than this is looked for by another rule, too."""

WORTH_SHARING = 0.9
"""Equal rows share their answer where this share of the rows is left: with more, copying costs what it saves."""

NARROW_ROWS = 6
"""A pass of few rows costs as much as one of this many more."""


def look_seconds(n_variables: int, use_loop: bool) -> float:
    """Tell about how long it takes to find the tree of a pattern, and without compiled code its tables, too."""
    return 150e-6 + 0.8e-6 * n_variables if use_loop else 300e-6 * n_variables


Task = Callable[[], None]
"""Answers some rows, and writes them down."""


@dataclass(frozen=True)
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
    if not soft and n_rows > 1:
        first, kind = distinct(rows.evidence.codes)
        if len(first) <= WORTH_SHARING * n_rows:
            rows = read_rows(factors, codes[np.sort(first)])
            kind = np.argsort(np.argsort(first))[kind]  # kinds in the order in which they first come
        else:
            kind = None
    answers = _answer(tree, rows, wanted)
    impossible = answers.state == IMPOSSIBLE
    result = {v: of_variable(answers, v, factors.cards[v]) for v in wanted}
    log_evidence = answers.log_evidence + rows.log_scale
    if soft and np.isneginf(rows.log_scale).any():  # no state of a variable is likely at all
        impossible |= np.isneginf(rows.log_scale)
        for marginal in result.values():
            marginal[impossible] = 0.0
    if kind is not None:
        result = {v: marginal[kind] for v, marginal in result.items()}
        log_evidence, impossible = log_evidence[kind], impossible[kind]
    return Posteriors(result, log_evidence, impossible)


def _answer(tree: JunctionTree, rows: Rows, wanted: Sequence[int]) -> Answers:
    cards = tree.factors.card_array
    n_rows = rows.evidence.codes.shape[1]
    start = np.full(len(cards), -1, dtype=np.int64)
    start[wanted] = np.concatenate([[0], np.cumsum(cards[wanted])[:-1]]) * n_rows if wanted else 0
    marginal = np.empty(n_rows * int(cards[wanted].sum()))
    answers = Answers(start, marginal, np.empty(n_rows), np.zeros(n_rows, dtype=np.uint8))
    list(ordered_map(lambda task: task(), _tasks(tree, rows, answers)))
    return answers


def _tasks(tree: JunctionTree, rows: Rows, answers: Answers) -> list[Task]:
    factors = tree.factors
    missing = rows.evidence.codes >= factors.card_array[:, None]  # (n_variables, n_rows)
    n_missing = missing.sum(axis=0)
    tasks: list[Task] = []
    single = np.flatnonzero(n_missing <= 1)
    which = np.where(n_missing[single] == 0, -1, missing[:, single].argmax(axis=0))
    for v in np.unique(which).tolist():
        for some in _cut(single[which == v]):
            missing_one = None if v < 0 else v
            tasks.append(partial(answer_observed, factors, rows.evidence, some, missing_one, answers))
    rest = np.flatnonzero(n_missing > 1)
    if len(rest):
        tasks += _Routes(tree, rows, answers, missing, rest).tasks()
    return tasks


def _cut(rows: Array, size: int = ROWS_OF_A_TASK) -> Iterator[Array]:
    for begin in range(0, len(rows), size):
        yield rows[begin : begin + size]


def _numpy_rows(plan: Plan) -> int:
    # Rows that NumPy takes together: some megabytes at a time.
    return int(np.clip(NUMPY_CELLS / 4 / max(plan.tree.n_cells, 1), 1, ROWS_OF_A_TASK))


@dataclass(frozen=True)
class _Routes:
    tree: JunctionTree
    rows: Rows
    answers: Answers
    missing: Array  # (n_variables, n_rows)
    rest: Array  # rows to answer

    def tasks(self) -> list[Task]:
        factors = self.tree.factors
        n_variables, n_rows = factors.n_variables, len(self.rest)
        if not worth_compiling(n_rows * n_variables**2):
            plan = self._shared_plan(use_loop=False)
            if n_rows * plan.tree.n_cells <= NUMPY_CELLS:
                return [partial(self.by_logarithms, plan, some) for some in _cut(self.rest, _numpy_rows(plan))]
        shared = self._shared_plan(use_loop=worth_compiling(n_variables**2))
        forecast = of_tree(shared.tree.n_cells, n_rows)
        row_seconds = shared.tree.n_cells * CELL_SECONDS if forecast.bytes <= limits.TABLE_BYTES else np.inf
        order, start = self._patterns(row_seconds)
        size = np.diff(start)
        pays = size * row_seconds > look_seconds(n_variables, True)
        use_loop = worth_compiling(int(pays.sum()) * n_variables**2)
        if not use_loop:
            pays = size * row_seconds > look_seconds(n_variables, False)
        alone = pays & (size == 1) & use_loop
        tasks: list[Task] = []
        for k in np.flatnonzero(pays & ~alone).tolist():
            group = order[start[k] : start[k + 1]]
            own = self._pattern_plan(group, row_seconds, use_loop)
            pays[k] = own is not None
            if own is not None:
                tasks += [partial(self.by_passes, own.ready(), some) for some in _cut(group)]
        tasks += [partial(self.one_by_one, shared, row_seconds, some) for some in _cut(order[start[:-1][alone]], 64)]
        common = order[np.repeat(~pays, size)]
        if len(common):
            forecast.require_room()
            tasks += [partial(self.by_passes, shared.ready(), some) for some in _cut(common)]
        return tasks

    def _shared_plan(self, use_loop: bool) -> Plan:
        # What all rows observe is taken out of the graph; the rest of the evidence enters at leaves.
        missing = self.missing[:, self.rest]
        often, always = np.asarray(~missing.all(axis=1)), np.asarray(~missing.any(axis=1))
        return self.tree.plan(self._roles(always, often & ~always), use_loop=use_loop)

    def _roles(self, fixed: Array, evidence: Array) -> Roles:
        return roles_of(self.tree.factors, fixed, evidence | (self.rows.evidence.soft >= 0), self.answers.start >= 0)

    def _patterns(self, row_seconds: float) -> tuple[Array, Array]:
        # Rows with those of equal patterns together, and where each pattern begins; all as one if none could pay.
        if len(self.rest) * row_seconds <= look_seconds(self.tree.factors.n_variables, True):
            return self.rest, np.array([0, len(self.rest)])
        first, kind = distinct(self.missing[:, self.rest].view(np.uint8))
        start = np.concatenate([[0], np.cumsum(np.bincount(kind, minlength=len(first)))])
        return self.rest[np.argsort(kind, kind="stable")], start

    def _pattern_plan(self, group: Array, row_seconds: float, use_loop: bool) -> Plan | None:
        # The plan of a pattern, if its rows pay for making it.
        observed = ~self.missing[:, group[0]]
        plan = self.tree.plan(self._roles(observed, np.zeros_like(observed)), use_loop=use_loop)
        cells = plan.tree.n_cells
        seconds = MAKE_SECONDS + cells * (MAKE_SECONDS_OF_A_CELL + (len(group) + NARROW_ROWS) * CELL_SECONDS)
        if seconds < len(group) * row_seconds:
            of_tree(cells, len(group)).require_room()
            return plan
        return None

    def one_by_one(self, shared: Plan, row_seconds: float, rows: Array) -> None:
        """Answer each row by a tree of its own, if that is less work."""
        factors, evidence = self.tree.factors, self.rows.evidence
        families = factors.families
        family_of = np.repeat(np.arange(factors.n_variables), np.diff(families.start))
        left = []
        for row in rows.tolist():
            observed = ~self.missing[:, row]
            moved = families.stride * (evidence.codes[:, row] * observed)[families.variable]
            offset = np.bincount(family_of, moved, factors.n_variables).astype(np.int64)
            roles = self._roles(observed, np.zeros_like(observed))._replace(offset=offset)
            plan = make_plan(factors, roles, use_loop=True, rules=(MIN_FILL,))
            if plan.tree.n_cells > MANY_CELLS:  # worth the time of a second opinion
                plan = make_plan(factors, roles, use_loop=True)
            cells = plan.tree.n_cells
            seconds = MAKE_SECONDS + cells * (MAKE_SECONDS_OF_A_CELL + ROW_CELL_SECONDS)
            if seconds >= (1 + NARROW_ROWS) * row_seconds:
                left.append(row)
                continue
            of_tree(cells, 1).require_room()
            floor = np.exp(plan.least_products(self.rows.log_least))
            pass_messages_of_row(plan.tables, families, factors.card_array, roles, evidence, row, floor, self.answers)
            if self.answers.state[row] == TOO_SMALL:
                self.by_logarithms(plan, np.array([row]))
        if left:
            self.by_passes(shared, np.array(left))

    def by_passes(self, plan: Plan, rows: Array) -> None:
        """Answer rows by the compiled passes, and those they give back in logarithms."""
        factors = self.tree.factors
        log_least = self.rows.log_least
        scaling = plan.scaling_with(log_least) if log_least.any() else plan.scaling
        width = rows_together(plan.tree.n_cells)
        pass_messages(
            plan.tables, factors.families, factors.card_array, self.rows.evidence, rows, scaling, width, self.answers
        )
        given_back = rows[self.answers.state[rows] == TOO_SMALL]
        for some in _cut(given_back, _numpy_rows(plan)):
            self.by_logarithms(plan, some)

    def by_logarithms(self, plan: Plan, rows: Array) -> None:
        """Answer rows in NumPy."""
        evidence, answers = self.rows.evidence, self.answers
        found, log_evidence = log_marginals(plan, evidence, rows)
        possible = ~np.isneginf(log_evidence)
        answers.log_evidence[rows] = log_evidence
        answers.state[rows] = np.where(possible, 0, IMPOSSIBLE)
        write_observed(self.tree.factors, evidence, rows, possible, answers)
        for v, marginal in found.items():
            free = self.missing[v, rows]
            write_marginal(answers, v, self.tree.factors.cards[v], rows[free], marginal[free] * possible[free, None])
