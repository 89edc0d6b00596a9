"""The value of information in a network: which variable to observe next, before a decision about another.

What an unobserved variable X would tell of the target T is P(X | T, evidence). All of it comes from one pass over as
many rows as the target has states: the evidence with T set to each. The probabilities of these rows, normalised, are
the posterior of the target; their marginals are the facts.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayeswater.decision.facts import StateFact
from bayeswater.decision.loss import as_loss
from bayeswater.decision.next_best import NextBest, costs_of_asking, loss_of_row, rank_facts
from bayeswater.errors import ParameterError
from bayeswater.inference.exact.marginals import marginals
from bayeswater.models.network.evidence import evidence_of, row_of, soft_of
from bayeswater.models.network.queries import Queries, impossible_evidence


class Asking(Queries):
    """What is worth knowing, and what is known."""

    def next_best(
        self,
        target: str,
        evidence: Mapping[str, Any] | None = None,
        loss: Any = None,
        costs: Any = None,
        candidates: str | Iterable[str] | None = None,
        *,
        soft_evidence: Mapping[str, Any] | None = None,
    ) -> NextBest:
        """Say which variable to observe next, by what knowing it is worth minus what observing it costs.

            worth = expected cost of the best action now - mean, over the states of the variable, of that once known

        Exact: of every variable the joint distribution with the target is taken, given the evidence.

        Parameters
        ----------
        target : name of the variable that the decision is about
        evidence : ``{name: state}``, what is known already
        loss : Loss, or anything that `Loss` reads, of actions under the states of the target; default 0-1 loss
        costs : what it costs to observe: a number for all variables, or a dict {name: cost}, which without
            `candidates` also says what can be observed; default 0
        candidates : names of the variables that can be observed; all but the target unless told. Those of the evidence
            are passed over. The target itself may be among them: what it is worth to know it is the most that anything
            can be worth.
        soft_evidence : as in `query`

        Returns
        -------
        NextBest
            The variables, the best one first; made to be printed. ``.best`` is the one to observe, or None.

        Raises
        ------
        ImpossibleEvidence
            Where the evidence has probability zero.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, Loss
        >>> network = BayesianNetwork(
        ...     "ill -> test; ill -> cough",
        ...     {"ill": {"yes": 0.1, "no": 0.9}, "test": [[0.9, 0.1], [0.05, 0.95]], "cough": [[0.7, 0.3], [0.4, 0.6]]},
        ...     states={"test": ["pos", "neg"], "cough": ["yes", "no"]},
        ... )
        >>> loss = Loss({"treat": {"yes": 0, "no": 1}, "wait": {"yes": 10, "no": 0}})
        >>> print(network.next_best("ill", {"cough": "yes"}, loss, costs={"test": 0.2}))
        Ask for the test next: it is worth 0.633 of loss, costs 0.2.
        """
        core, node = self.core, self.core.dag.node(target)
        observed, soft = evidence_of(core, evidence), soft_of(core, soft_evidence)
        if node in observed:
            raise ParameterError(f"the target {target!r} is part of the evidence; nothing is left to ask for")
        known = costs_of_asking(costs, core.names, "variable")
        names = known if candidates is None else [candidates] if isinstance(candidates, str) else list(candidates)
        asked = {core.dag.node(name): known.get(name, 0.0) for name in names}
        if candidates is None:
            asked.pop(node, None)
        wanted = [other for other in asked if other not in observed]

        rows = np.repeat(row_of(core, observed), core.cards[node], axis=0)
        rows[:, node] = np.arange(core.cards[node])
        found = marginals(self._tree, rows, wanted, soft)
        if found.impossible.all():
            raise impossible_evidence(evidence, soft_evidence)
        posterior = np.exp(found.log_evidence - found.log_evidence.max())
        with np.errstate(divide="ignore"):  # states that are impossible
            facts = {core.names[other]: [StateFact(np.log(found.marginals[other].T))] for other in wanted}
        paid = {core.names[other]: asked[other] for other in wanted}
        given = loss_of_row(as_loss(loss, list(core.variables[node].states)), _as_table(evidence))
        return rank_facts(posterior / posterior.sum(), facts, paid, given)


def _as_table(evidence: Mapping[str, Any] | None) -> Any:
    """Give the evidence as a table of one row, for costs that depend on it."""
    import pyarrow as pa

    return pa.table({name: [state] for name, state in (evidence or {}).items()})
