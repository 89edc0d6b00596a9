"""Members of AODE with weights: a weighted sum of the log-joints that every column gives as the parent of the others.

AODE takes the mean of its members. With weights the logarithm of each member is a term, and terms are added up with the
weights of `decision.term_weights`: a member says what its column and all others given it say of the class. Where one
column can be a parent, it is that member alone; where none can, rows are scored by naive Bayes, as by AODE.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.decision.term_weights import TermWeights
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.families.weighted_terms import rows_by_known
from bayeswater.inference.scoring import JointWithout
from bayeswater.inference.super_parents import SuperParents
from bayeswater.records import record
from bayeswater.typing import Array


def members_without(
    joint: SuperParents, table: Any, labels: Labels, removed: Array
) -> tuple[Callable[[slice], Array], Callable[[slice], Array]]:
    """Give functions of some rows: the terms of their members, each row taken out, and how many there are."""

    def found(rows: slice) -> tuple[Array, Array]:
        return joint.members_without(table.block(rows), labels.codes[rows], removed[rows])

    return lambda rows: found(rows)[0], lambda rows: found(rows)[1]


@record
class WeightedMembers:
    """The members of an AODE and their weights."""

    plain: SuperParents
    weights: TermWeights

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.plain.log_prior

    @property
    def estimate(self) -> PairEstimate:
        """Probabilities of pairs."""
        return self.plain.estimate

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-scores of a block of codes: (n_rows, n_classes)."""
        found = np.empty((len(block), len(self.log_prior)))
        for rows in self.plain.chunks(len(block)):
            terms, known = self.plain.members(block[rows], use_loop)
            found[rows] = self._scores(terms, known, self.log_prior)
            alone = known == 0
            if alone.any():
                found[rows][alone] = self.plain.of(block[rows][alone], use_loop)
        return found

    def _scores(self, terms: Array, known: Array, log_prior: Array) -> Array:
        found: Array = self.weights.shifts(known) + log_prior
        for m, rows in rows_by_known(known):
            found[rows] += self.weights.weighted(terms[rows], m).sum(axis=1)
        return found

    def without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        """Give a function of some rows: their log-scores, each row taken out, and the prior without it."""
        plain = self.plain.without(table, labels, removed)

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            block, codes, weight = table.block(rows), labels.codes[rows], removed[rows]
            scores, prior = plain(rows, use_loop)
            for part in self.plain.chunks(len(block)):
                terms, known = self.plain.members_without(block[part], codes[part], weight[part])
                weighted = self._scores(terms, known, prior[part])
                scores[part] = np.where((known == 0)[:, None], scores[part], weighted)
            return scores, prior

        return log_joint

    def pair_terms(self, block: Array, chosen: Array, against: Array) -> tuple[Array, Array]:
        """What the prior, and every cell given a parent, add to the log-odds of two classes in each row.

        The terms of a member count by the mean weight it has in the two classes. What the weights of the classes
        differ by is told on the diagonal, with what the parent says itself.
        """
        terms, known = self.plain.members(block, False)
        intercept, pair_terms = self.plain.pair_terms(block, chosen, against)
        pairs = self.plain.member_ratios(block, chosen, against)  # (n_rows, parent, column)
        row, own = np.arange(len(block)), np.arange(terms.shape[1])
        prior = self.weights.shifts(known) + self.log_prior
        for m in np.unique(known[known > 0]).tolist():
            some = known == m
            weight = self.weights.at(m)
            said = self.weights.weighted(terms[some], m)
            at = np.arange(int(some.sum()))
            a, b = chosen[some], against[some]
            mean = (weight[:, a] + weight[:, b]).T / 2  # (n_rows, n_columns)
            is_parent = terms[some].any(axis=2)
            own_pairs = np.where(is_parent[:, :, None], pairs[some] * mean[:, :, None], 0.0)
            own_pairs[:, own, own] += (said[at, :, a] - said[at, :, b]) - own_pairs.sum(axis=2)
            pair_terms[some] = own_pairs
            intercept[some] = (prior[row, chosen] - prior[row, against])[some]
        return intercept, pair_terms
