"""From the scores of a classifier to its decisions: labels matched, frequencies shifted, the least risk found."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayeswater.decision import risk
from bayeswater.decision.cost_table import CostTable, for_rows
from bayeswater.decision.loss import as_loss
from bayeswater.decision.prior_shift import PriorEstimate, checked_prior, estimate_prior, shifted
from bayeswater.decision.probabilities import Probabilities, ProbabilityBlock
from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.typing import Array


class _ActionsAndRisks(NamedTuple):
    action: Array  # (n_rows,)
    risk: Array  # (n_rows, n_actions)


class Decisions(_ActionsAndRisks):
    """Actions and the risks of all actions, as a pair; `prior` holds the class frequencies if they were estimated."""

    prior: PriorEstimate | None = None


@record
class ClassEvidence:
    """What a classifier says of some rows: log-joints or probabilities, of which classes, under which frequencies."""

    posterior: Probabilities
    classes: Any  # labels (n_classes,)
    prior: Array | None  # (n_classes,); None where the scores hold no prior
    X: Any = None

    def decide(self, loss: Any, prior: Any = None, *, return_risk: bool = False) -> Any:
        """Take the action of least risk in every row: (n_rows,), or `Decisions` with the risks."""
        table, evidence, found = self._settled(loss, prior)
        if not return_risk:
            return risk.best_action(table, evidence.posterior, table.action_labels)
        code, risks = risk.best_action_and_risk(table, evidence.posterior)
        decisions = Decisions(table.action_labels[code], risks)
        decisions.prior = found
        return decisions

    def expected_loss(self, loss: Any, prior: Any = None) -> Array:
        """Expected cost of the best action: (n_rows,)."""
        table, evidence, _ = self._settled(loss, prior)
        return risk.least_risk(table, evidence.posterior)

    def proba(self, prior: Any = None) -> Array:
        """Probabilities of the classes under the frequencies asked for: (n_rows, n_classes)."""
        evidence, _ = self._under(prior)
        (proba,) = evidence.posterior.blocks(lambda rows, block: (block.proba,))
        return proba

    def estimate_prior(self) -> PriorEstimate:
        """Find the class frequencies of these rows."""
        return estimate_prior(self._log_posterior(), self._known_prior, classes=self._labels)

    def _settled(self, loss: Any, prior: Any) -> tuple[CostTable, "ClassEvidence", PriorEstimate | None]:
        table = for_rows(as_loss(loss, self.classes).table, self.X, self.posterior.n_rows)
        return table, *self._under(prior)

    def _under(self, prior: Any) -> tuple["ClassEvidence", PriorEstimate | None]:
        """Shift to other class frequencies, given or estimated."""
        if prior is None:
            return self, None
        found = None
        if isinstance(prior, str):
            if prior != "estimate":
                raise ParameterError(f"prior is {prior!r}; give class frequencies, or 'estimate' to find them from X")
            prior = found = self.estimate_prior()
        new = checked_prior(prior, self._labels)
        scores = self.posterior.values if self.posterior.kind == "log_joint" else self._log_posterior()
        moved = shifted(scores, self._known_prior, new, self._labels)
        return replace(self, posterior=Probabilities(moved, "log_joint"), prior=new), found

    @property
    def _known_prior(self) -> Array:
        if self.prior is None:
            raise ParameterError(
                "the scores of this classifier hold no class prior, so there is none to shift; leave prior out"
            )
        return self.prior

    @property
    def _labels(self) -> list[Any]:
        return np.asarray(self.classes).tolist()

    def _log_posterior(self) -> Array:
        (log_posterior,) = self.posterior.blocks(lambda rows, block: (_log_proba(block),))
        return log_posterior


def _log_proba(block: ProbabilityBlock) -> Array:
    if block.log_proba is not None:
        return block.log_proba
    with np.errstate(divide="ignore"):
        return np.log(block.proba)
