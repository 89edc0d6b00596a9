"""Facts that could be asked for: which outcomes they have, and how probable each is in every class.

`Outcomes.likelihood[o, k]` is P(outcome o | class k). States have as many outcomes as there are states; counts end
where no class has any probability left. A number (`RegionFact`) has as many as there are regions of it in which
different actions are best: nothing is gained by telling two values of one region apart, so the value of the region is
the value of the number.

A calibrated classifier takes the log-likelihoods of its columns a share `strength` (one over the temperature) of what
they say. A fact that is `weakened` tells as much: P(outcome | class)^strength, normalised within each class.

A number is known by its density in each class (`DensityFact`).

The risk that remains once x is known,

    integral over x of (least over actions i of sum over classes k of cost[i, k] P(k) density_k(x)),

is that of a few intervals: between two points where the best action changes, it is a sum of probabilities, which
the distribution functions give exactly. What has to be found are the points. Densities are looked at on a grid that is
fine where any class has its mass, and where the best action differs between two neighbours, the point is found by
halving. A pair of points closer together than the grid can be overlooked; the same search on every second point of
the grid tells how much that may cost, and is stated as the error. It has one sign: whatever is overlooked, the risk
is that of a rule that can be followed, so the worth of the number is never overstated.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, Self

import numpy as np
from scipy.special import gammaln, ndtr, stdtr, stdtrit

from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.least_risk import first_of_least
from bayeswater.phrases import Phrase
from bayeswater.records import record
from bayeswater.typing import Array

MISSING_IS_STATE = Phrase("empty is state")
"""Why a column is passed over where an empty cell is one of its states."""


@record
class Outcomes:
    """P(outcome | class) (n_outcomes, n_classes), and by how much they may overstate the risk that remains."""

    likelihood: Array
    error: float = 0.0


class Fact(Protocol):
    """Something that could be asked for."""

    def weakened(self, strength: float) -> "Fact | None":
        """Take its log-likelihoods a share `strength` over 0 of what they are; None where no distribution is left."""

    def outcomes(self, belief: Array, regret: Array) -> Outcomes:
        """Tell its outcomes, apart as far as matters for a belief (n_classes,) and regrets (n_actions, n_classes)."""


@record
class StateFact:
    """A column of states: log P(state | class), (n_states, n_classes); no state is no fact."""

    log_likelihood: Array

    def weakened(self, strength: float | Array) -> "StateFact":
        """Take a power of the probabilities, of each class its own where there is one for each (n_classes,)."""
        if not len(self.log_likelihood):
            return self
        return StateFact(log_shares((strength * self.log_likelihood).T, use_loop=False).T)

    def outcomes(self, belief: Array, regret: Array) -> Outcomes:
        """Every state is an outcome."""
        if not len(self.log_likelihood):
            return Outcomes(np.ones((1, len(belief))))
        return Outcomes(np.exp(self.log_likelihood))


NOTHING = StateFact(np.empty((0, 0)))
"""What is learned from a column that has no factor."""


def joint_outcomes(facts: Sequence[Fact], belief: Array, regret: Array) -> Outcomes:
    """Outcomes of facts that are learned together and independent within each class, as the parts of a date are.

    The first may have outcomes that hang on what is believed; it is asked once for each outcome of the others.
    """
    first, *others = facts
    if not others:
        return first.outcomes(belief, regret)
    known = joint_outcomes(others, belief, regret)
    if isinstance(first, RegionFact) and len(known.likelihood) > MOST_ASKED:
        known = replace(known, likelihood=_alike_as_one(known.likelihood))
    parts = [first.outcomes(belief * likelihood, regret) for likelihood in known.likelihood]
    likelihood = [part.likelihood * given for part, given in zip(parts, known.likelihood, strict=True)]
    return Outcomes(np.concatenate(likelihood), known.error + sum(part.error for part in parts))


def _alike_as_one(likelihood: Array) -> Array:
    """Take outcomes (n_outcomes, n_classes) for one that tell nearly the same of the classes."""
    with np.errstate(divide="ignore"):
        ratio = np.maximum(np.log(likelihood / likelihood.max(axis=1, keepdims=True)), LEAST_RATIO)
    kind = np.unique(np.rint(ratio / ALIKE), axis=0, return_inverse=True)[1].ravel()
    found = np.zeros((kind.max() + 1, likelihood.shape[1]))
    np.add.at(found, kind, likelihood)
    return found


GRID = np.linspace(-8.5, 8.5, 137)
"""Places of the grid of one class, in standard deviations: all but 2e-17 of its mass is between the outer ones."""

MOST_POINTS = 20_000
"""Points of the grids of all classes together; of many classes each has fewer."""

N_CELLS = 96
"""Cells by which a number is told that is learned together with another."""

MOST_ASKED = 256
"""Outcomes for each of which a density is searched; of more, those that tell nearly the same are told as one."""

ALIKE, LEAST_RATIO = 0.1, -30.0
"""Log-likelihood ratios that are the same to so much, or below this, tell nearly the same."""

HALVINGS = 60
"""Enough to find a point to the last bit from a distance of a standard deviation."""

TIE = 1e-13
"""Share by which risks may differ and still be equal: some dozen sums of exponentials of some dozen terms."""


class RegionFact(ABC):
    """A number by its density in each class: what a law says of it, and the regions that are searched with that."""

    @abstractmethod
    def weakened(self, strength: float) -> "RegionFact | None":
        """Take a power of the densities; None where it has no finite area."""

    @abstractmethod
    def of_classes(self, which: Array) -> Self:
        """Give the densities of some classes."""

    @abstractmethod
    def grid(self) -> Array:
        """Numbers in rising order, close together where any class has its mass."""

    @abstractmethod
    def log_density(self, x: Array) -> Array:
        """Logarithms of the densities of numbers (n_points, 1), but for a constant: (n_points, n_classes)."""

    @abstractmethod
    def masses(self, switches: Array) -> Array:
        """Mass of every class between neighbouring points, and beyond the outer ones: (n_switches + 1, n_classes)."""

    def in_cells(self) -> StateFact:
        """Tell the number by one of many cells of equal width: for one that is learned together with another."""
        grid = self.grid()
        with np.errstate(divide="ignore"):
            return StateFact(np.log(self.masses(np.linspace(grid[0], grid[-1], N_CELLS + 1)[1:-1])))

    def outcomes(self, belief: Array, regret: Array) -> Outcomes:
        """Every region in which one action is best is an outcome."""
        believed = belief > 0
        found = self.of_classes(believed).regions(belief[believed], regret[:, believed])
        likelihood = np.zeros((len(found.likelihood), len(belief)))
        likelihood[:, believed] = found.likelihood
        likelihood[0, ~believed] = 1.0  # classes that are not believed in may have their mass anywhere
        return Outcomes(likelihood, found.error)

    def regions(self, belief: Array, regret: Array) -> Outcomes:
        """Search the regions, of classes that all are believed in."""
        grid = self.grid()
        likelihood, risk = self._risk_between(self._switches(grid, belief, regret), belief, regret)
        _, coarse_risk = self._risk_between(self._switches(grid[::2], belief, regret), belief, regret)
        return Outcomes(likelihood, abs(coarse_risk - risk))

    def _switches(self, x: Array, belief: Array, regret: Array) -> Array:
        """Find the points at which the best action changes, starting from a grid."""
        action = self._best_action(x, belief, regret)
        for _ in range(HALVINGS):
            left = np.flatnonzero(action[1:] != action[:-1])
            middle = x[left] + (x[left + 1] - x[left]) / 2
            is_new = (middle > x[left]) & (middle < x[left + 1])
            left, middle = left[is_new], middle[is_new]
            if not len(middle):
                break
            x = np.insert(x, left + 1, middle)
            action = np.insert(action, left + 1, self._best_action(middle, belief, regret))
        return x[1:][action[1:] != action[:-1]]

    def _best_action(self, x: Array, belief: Array, regret: Array) -> Array:
        score = np.log(belief) + self.log_density(x[:, None])
        score -= score.max(axis=1, keepdims=True)
        return first_of_least(regret @ np.exp(score).T, TIE, use_loop=False)

    def _risk_between(self, switches: Array, belief: Array, regret: Array) -> tuple[Array, float]:
        """Mass of every region (n_regions, n_classes), and the risk if the best action is taken in each."""
        mass = self.masses(switches)
        return mass, float((regret @ (belief * mass).T).min(axis=0).sum())


@record
class DensityFact(RegionFact):
    """Normal densities, or Student's t where the degrees are finite: (n_classes,) each; variance 0 is a single value.

    `variance` is the squared scale of a Student's t.
    """

    mean: Array
    variance: Array
    degrees: Array

    def weakened(self, strength: float) -> "DensityFact | None":
        """Take a power of the densities: a wider normal density, or one of Student's with a heavier tail."""
        is_normal = np.isinf(self.degrees)
        degrees = np.where(is_normal, np.inf, (self.degrees + 1) * strength - 1)
        if not (degrees > 0).all():
            return None  # a power of the tail that has no finite area
        wider = np.where(
            is_normal, 1 / strength, np.where(is_normal, 1.0, self.degrees) / np.where(is_normal, 1.0, degrees)
        )
        return replace(self, variance=self.variance * wider, degrees=degrees)

    def outcomes(self, belief: Array, regret: Array) -> Outcomes:
        """Every region in which one action is best is an outcome, and so is every single value."""
        single = self.variance == 0
        spread = (belief > 0) & ~single
        likelihood = [(single & (self.mean == value)).astype(np.float64) for value in np.unique(self.mean[single])]
        if not spread.any():
            return Outcomes(np.array([*likelihood, *[(~single).astype(np.float64)] * bool((~single).any())]))
        found = self.of_classes(spread).regions(belief[spread], regret[:, spread])
        regions = np.zeros((len(found.likelihood), len(belief)))
        regions[:, spread] = found.likelihood
        regions[0, ~spread & ~single] = 1.0  # classes that are not believed in may have their mass anywhere
        return Outcomes(np.array([*likelihood, *regions]), found.error)

    def of_classes(self, which: Array) -> Self:
        """Give the densities of some classes."""
        return replace(self, mean=self.mean[which], variance=self.variance[which], degrees=self.degrees[which])

    def grid(self) -> Array:
        """Quantiles of all classes."""
        scale = np.sqrt(self.variance)
        step = max(1, len(GRID) * len(scale) // MOST_POINTS)
        places = GRID[::step]
        return np.unique(self.mean + scale * np.stack([self._quantile(z) for z in places]))

    def _quantile(self, z: float) -> Array:
        """Where each class has as much of its mass on the left as a standard normal density has left of z."""
        finite = np.where(np.isinf(self.degrees), 1.0, self.degrees)
        student = -np.sign(z) * stdtrit(finite, ndtr(-abs(z)))
        return np.where(np.isinf(self.degrees), z, student)

    def log_density(self, x: Array) -> Array:
        """Logarithms of the densities, but for a constant: (n_points, n_classes)."""
        with np.errstate(over="ignore"):
            square = (x - self.mean) ** 2 / self.variance
        is_normal = np.isinf(self.degrees)
        if is_normal.all():
            return -0.5 * (square + np.log(self.variance))
        degrees = np.where(is_normal, 1.0, self.degrees)
        half = (degrees + 1) / 2
        constant = gammaln(half) - gammaln(degrees / 2) - 0.5 * np.log(degrees / 2)
        student = constant - half * np.log1p(square / degrees)
        return np.where(is_normal, -0.5 * square, student) - 0.5 * np.log(self.variance)

    def masses(self, switches: Array) -> Array:
        """Mass of every class between neighbouring points, and beyond the outer ones: (n_switches + 1, n_classes)."""
        limits = np.concatenate([[-np.inf], switches, [np.inf]])[:, None]
        z = (limits - self.mean) / np.sqrt(self.variance)
        low, high = z[:-1], z[1:]
        # On the right of the mean, from the right: a difference of two numbers next to 1 has lost its digits.
        right = low > 0
        return self._left_of(np.where(right, -low, high)) - self._left_of(np.where(right, -high, low))

    def _left_of(self, z: Array) -> Array:
        is_normal = np.isinf(self.degrees)
        return np.where(is_normal, ndtr(z), stdtr(np.where(is_normal, 1.0, self.degrees), z))
