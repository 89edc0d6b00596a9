"""`JunctionTree`: a network made ready for rows of evidence, and the plans that were made for it so far.

A `Plan` is a tree of cliques made for one way of asking, and the tables that passing messages along it needs. Variables
that are observed in all rows can be taken out of the graph (`fixed`), which makes the tree smaller; evidence on the
others enters at leaves. Families that are no ancestors of anything asked or observed sum to one and are left out
(barren).
"""

from collections import OrderedDict
from functools import cached_property
from threading import Lock
from typing import Self

import numpy as np

from bayeswater.inference.exact.factors import Factors, NetworkLike
from bayeswater.kernels.clique_passes import TINY, Scaling
from bayeswater.kernels.clique_tables import CliqueTables, fill_tables
from bayeswater.kernels.clique_tree import CliqueTree, Roles, build_tree
from bayeswater.kernels.elimination_order import MIN_FILL, MIN_WEIGHT, Elimination, eliminate_greedily
from bayeswater.kernels.elimination_steps import Steps, steps_of
from bayeswater.records import record
from bayeswater.typing import Array

MANY_CELLS = 100_000
"""An elimination of a pattern with more cells than this is looked for by another rule, too."""

LOG_TINY = float(np.log(TINY))

ACCOUNT_FROM = LOG_TINY / 2
"""A message that would let the products it goes into fall below exp of this is divided by its largest entry."""

ACCOUNTED = LOG_TINY / 8
"""What such a message is taken for in the products above it: nothing is known before the rows come."""


@record(eq=False)
class Plan:
    """The tree for some roles of the variables."""

    factors: Factors
    roles: Roles
    tree: CliqueTree
    use_loop: bool  # in making it

    @cached_property
    def tables(self) -> CliqueTables:
        """Products and maps for the compiled passes."""
        factors = self.factors
        return fill_tables(self.tree, factors.card_array, factors.families, self.roles, use_loop=self.use_loop)

    def ready(self) -> Self:
        """Make the tables now, once, before several threads ask for them."""
        _ = self.scaling
        return self

    @cached_property
    def scaling(self) -> Scaling:
        """Which messages have to be divided, from the least entries of the tables; evidence is 0 and 1."""
        return self.scaling_with(np.zeros(self.factors.n_variables))

    def scaling_with(self, log_likelihood: Array) -> Scaling:
        """The same where the least likelihoods of soft evidence are these (n_variables,) logarithms."""
        n_cliques = len(self.tree.parent)
        least = self.least_products(log_likelihood)
        if least.sum() >= LOG_TINY:
            return Scaling(np.ones(n_cliques), np.zeros(n_cliques, dtype=np.uint8))
        children: list[list[int]] = [[] for _ in range(n_cliques)]
        for c, parent in enumerate(self.tree.parent.tolist()):
            if parent >= 0:
                children[parent].append(c)
        scale = [0] * n_cliques
        floor, through = least.tolist(), least.tolist()  # of the product of a clique; of the message it sends on
        for c in range(n_cliques - 1, -1, -1):
            for child in sorted(children[c], key=through.__getitem__, reverse=True):
                if through[c] + through[child] < ACCOUNT_FROM:
                    scale[child] = 2
                    through[child] = ACCOUNTED
                through[c] += through[child]
                if scale[child]:
                    scale[c] = 1
                else:
                    floor[c] += floor[child]
            if floor[c] < LOG_TINY:  # a clique may be too much for a float all alone
                scale[c] = max(scale[c], 1)
        return Scaling(np.exp(floor), np.array(scale, dtype=np.uint8))

    def least_products(self, log_likelihood: Array) -> Array:
        """Logarithms of the least products of the tables and likelihoods of each clique alone."""
        n_cliques, hosted, host = len(self.tree.parent), self.tables.hosted, self.tree.host
        held = hosted >= 0
        least = np.bincount(hosted[held], self.factors.log_least[held], n_cliques)
        if log_likelihood.any():
            least += np.bincount(host[host >= 0], log_likelihood[host >= 0], n_cliques)
        return least


def make_plan(factors: Factors, roles: Roles, *, use_loop: bool) -> Plan:
    """Make the plan of fewest cells that the greedy rules find."""
    eliminations = (_eliminate(factors, roles, rule, use_loop=use_loop) for rule in (MIN_FILL, MIN_WEIGHT))
    return Plan(factors, roles, build_tree(eliminations, factors.card_array), use_loop)


def make_steps(factors: Factors, roles: Roles) -> Steps:
    """Lay out the elimination of a pattern, found by one rule; where that leaves many cells, by the better of two."""
    steps = None
    for rule in (MIN_FILL, MIN_WEIGHT):
        elimination = _eliminate(factors, roles, rule, use_loop=True)
        other = steps_of(elimination, factors.card_array, factors.families, roles)
        steps = other if steps is None or other.n_cells < steps.n_cells else steps
        if steps.n_cells <= MANY_CELLS:
            break
    assert steps is not None
    return steps


def _eliminate(factors: Factors, roles: Roles, rule: int, *, use_loop: bool) -> Elimination:
    families, cards = factors.families, factors.card_array
    return eliminate_greedily(
        families.start, families.variable, roles.relevant, roles.fixed, cards, rule, use_loop=use_loop
    )


def roles_of(factors: Factors, fixed: Array, evidence: Array, wanted: Array) -> Roles:
    """Roles of variables, from bool arrays: out of the graph, observed at leaves, asked for.

    Families that are no ancestors of any of them are barren: they sum to one.
    """
    needed = fixed | evidence | wanted
    relevant = needed if needed.all() else np.asarray(factors.ancestor_matrix[needed].any(axis=0))
    roles = np.stack([relevant, fixed, evidence & ~fixed, wanted & ~fixed]).view(np.uint8)
    return Roles(roles[0], roles[1], roles[2], roles[3])


PLANS_KEPT = 32
"""Plans that are remembered: the one for rows of any pattern, and those of patterns that come again."""

CELLS_KEPT = 20_000_000
"""Cells of all plans that are remembered, some 500 MB with their maps; the last one is kept whatever its size."""


class JunctionTree:
    """A network with the plans of its trees, which are made when they are first needed.

    It never changes an answer and serves any number of threads.
    """

    def __init__(self, factors: Factors) -> None:
        self.factors = factors
        self._plans: OrderedDict[tuple[bytes, bool], Plan] = OrderedDict()
        self._lock = Lock()

    def plan(self, roles: Roles, *, use_loop: bool) -> Plan:
        """Give the plan for some roles; the loops and the reference make the same one."""
        key = np.stack(roles).tobytes(), use_loop
        with self._lock:
            if key in self._plans:
                self._plans.move_to_end(key)
                return self._plans[key]
        plan = make_plan(self.factors, roles, use_loop=use_loop)
        with self._lock:
            self._plans[key] = plan
            while len(self._plans) > PLANS_KEPT or (len(self._plans) > 1 and self._cells() > CELLS_KEPT):
                self._plans.popitem(last=False)
        return plan

    def _cells(self) -> float:
        return sum(plan.tree.n_cells for plan in self._plans.values())


def compile(network: NetworkLike) -> JunctionTree:
    """Make a network ready for `marginals` and `most_probable_explanation`."""
    return JunctionTree(Factors.of(network))
