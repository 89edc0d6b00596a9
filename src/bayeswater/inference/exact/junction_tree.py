"""`JunctionTree`: a network made ready for rows of evidence, and the plans that were made for it so far."""

from collections import OrderedDict
from threading import Lock

import numpy as np

from bayeswater.inference.exact.factors import Factors, Network
from bayeswater.inference.exact.plan import Plan, make_plan
from bayeswater.kernels.clique_places import Roles

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


def compile(network: Network) -> JunctionTree:
    """Make a network ready for `marginals` and `most_probable_explanation`."""
    return JunctionTree(Factors.of(network))
