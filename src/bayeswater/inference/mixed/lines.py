"""Numbers given numbers: univariate regressions, turned around until what is observed stands before what is not.

A `ConditionalLine` is the regression of one number on others. Its arrays have an axis for each unobserved variable with
states, of length 1 where that does not matter, so that all of them go together by broadcasting.

Turning the arc h -> c, where h = a_h + b_h . z + N(0, v_h) and c = a_c + b h + b_c . z + N(0, v_c), keeps their joint
distribution (Shachter and Kenley 1989; for networks with states Cowell 2005, after Lauritzen and Jensen 2001):

    v = v_c + b^2 v_h      c | z:     mean a_c + b a_h + (b_c + b b_h) . z, variance v
    k = b v_h / v          h | c, z:  mean a_h + b_h . z + k (c - its mean), variance v_h v_c / v

No matrix is inverted and nothing cancels in a variance; where v is 0, c tells nothing of h, and k is 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from bayeswater.errors import ResourceLimitError
from bayeswater.networks.mixed_core import MixedCore
from bayeswater.records import record
from bayeswater.typing import Array

MOST_CONFIGURATIONS = 2**20
"""Configurations of states for which regressions are written out: a few arrays of 8 megabytes for each number."""


@record
class ConditionalLine:
    """A number as a linear function of others, with noise."""

    intercept: Array
    slopes: dict[int, Array]
    variance: Array

    def plus(self, slope: Array, other: "ConditionalLine", variance: Array) -> "ConditionalLine":
        """Add a multiple of another mean, and put a variance in the place of mine."""
        slopes = dict(self.slopes)
        for node, own in other.slopes.items():
            slopes[node] = slopes[node] + slope * own if node in slopes else slope * own
        return ConditionalLine(self.intercept + slope * other.intercept, slopes, variance)

    def without(self, node: int) -> "ConditionalLine":
        """Leave one slope out."""
        return ConditionalLine(
            self.intercept, {other: s for other, s in self.slopes.items() if other != node}, self.variance
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Along which axes, and how far, it matters which states the variables have."""
        return joint_shape(self.intercept, self.variance, *self.slopes.values())


def joint_shape(*arrays: Array) -> tuple[int, ...]:
    """Shape of arrays together, all of as many axes; NumPy's own ends at 32 of them."""
    return tuple(max(lengths) for lengths in zip(*(array.shape for array in arrays), strict=True))


@record
class NumberPlan:
    """What the numbers that are observed say, for one pattern of evidence; what depends on values is left open.

    Attributes
    ----------
    evidence : for each observed number, its line on those before it
    targets : for each target, its line on the observed numbers and on the targets before it
    """

    evidence: tuple[tuple[int, ConditionalLine], ...]
    targets: tuple[tuple[int, ConditionalLine], ...]

    @property
    def means(self) -> dict[int, ConditionalLine]:
        """For each target, its line on the observed numbers."""
        return self._moments[0]

    @property
    def covariance(self) -> dict[tuple[int, int], Array]:
        """Of pairs of targets given the observed numbers, each pair once."""
        return self._moments[1]

    @cached_property
    def _moments(self) -> tuple[dict[int, ConditionalLine], dict[tuple[int, int], Array]]:
        return _moments(self.targets)


def plan_numbers(
    core: MixedCore, fixed: Mapping[int, int], axes: Mapping[int, int], observed: Iterable[int], targets: Sequence[int]
) -> NumberPlan:
    """Turn arcs until the observed numbers come first, and leave out what nobody asks for.

    Parameters
    ----------
    fixed : codes of variables with states that are observed
    axes : axis of each other variable with states that a number depends on
    observed, targets : numbers; no target is observed
    """
    known = set(observed)
    work = _Work(core, fixed, axes, known | set(targets))
    for node in [node for node in work.order if node in known]:
        work.put_first(node, known)
    evidence = tuple((node, work.lines[node]) for node in work.order if node in known)
    work.keep_above(set(targets), known)
    while hidden := [node for node in work.order if node not in known and node not in targets]:
        work.leave_out(min(hidden, key=work.degree))
    return NumberPlan(evidence, tuple((node, work.lines[node]) for node in work.order if node not in known))


class _Work:
    """Lines on their way, each after those of its parents."""

    def __init__(self, core: MixedCore, fixed: Mapping[int, int], axes: Mapping[int, int], wanted: set[int]) -> None:
        above = core.dag.ancestors(frozenset(wanted)) | wanted
        self.order = [node for node in core.dag.order if node in above and node in core.numbers]
        self.lines = {node: _line(core, node, fixed, axes) for node in self.order}

    def children(self, node: int) -> list[int]:
        return [other for other in self.order if node in self.lines[other].slopes]

    def degree(self, node: int) -> int:
        return (len(self.children(node)) + 1) * (len(self.lines[node].slopes) + 1)

    def put_first(self, node: int, known: set[int]) -> None:
        """Turn the arcs from unobserved parents, the last of them first: no other path leads from it."""
        while hidden := [parent for parent in self.lines[node].slopes if parent not in known]:
            last = max(hidden, key=self.order.index)
            self.turn(last, node)
            self.order.remove(node)
            self.order.insert(self.order.index(last), node)

    def leave_out(self, node: int) -> None:
        """Sum over a number: turn the arcs to its children, the first of them first, until it has none."""
        for child in self.children(node):
            self.turn(node, child)
        self.order.remove(node)
        del self.lines[node]

    def keep_above(self, targets: set[int], known: set[int]) -> None:
        """Leave out numbers below which no target stands; they sum to one."""
        wanted = set(targets)
        for node in reversed(self.order):
            if node in wanted:
                wanted |= set(self.lines[node].slopes)
        self.order = [node for node in self.order if node in wanted or node in known]

    def turn(self, parent: int, child: int) -> None:
        above, below = self.lines[parent], self.lines[child]
        slope = below.slopes[parent]
        shape = tuple(map(max, above.shape, below.shape))
        n_configurations = int(np.prod(shape, dtype=np.float64))
        if n_configurations > MOST_CONFIGURATIONS:
            raise ResourceLimitError(
                f"numbers depend together on {n_configurations:,} configurations of states, over the limit of "
                f"{MOST_CONFIGURATIONS:,}; observe some of these variables, or give numbers fewer parents with states"
            )
        spread = slope * slope * above.variance
        variance = below.variance + spread
        sure = np.where(variance > 0, variance, 1.0)
        gain = np.where(variance > 0, slope * above.variance / sure, 0.0)
        self.lines[child] = turned = below.without(parent).plus(slope, above, variance)
        rest = np.where(variance > 0, above.variance * (below.variance / sure), above.variance)
        back = above.plus(-gain, turned, rest)
        self.lines[parent] = ConditionalLine(back.intercept, {**back.slopes, child: gain}, rest)


def _line(core: MixedCore, node: int, fixed: Mapping[int, int], axes: Mapping[int, int]) -> ConditionalLine:
    own, parents = core.numbers[node], core.discrete(node)
    cut = tuple(fixed[parent] if parent in fixed else slice(None) for parent in parents)
    places = [axes[parent] for parent in parents if parent not in fixed]

    def laid_out(array: Array) -> Array:
        array = array[cut].transpose(np.argsort(places))
        shape = [1] * len(axes)
        for length, place in zip(array.shape, sorted(places), strict=True):
            shape[place] = length
        return array.reshape(shape)

    slopes = {parent: laid_out(own.slopes[..., j]) for j, parent in enumerate(core.numeric(node))}
    return ConditionalLine(laid_out(own.intercept), slopes, laid_out(own.variance))


def _moments(
    lines: Iterable[tuple[int, ConditionalLine]],
) -> tuple[dict[int, ConditionalLine], dict[tuple[int, int], Array]]:
    """Mean as a line on what is observed, and covariances, from the first number to the last."""
    means: dict[int, ConditionalLine] = {}
    covariance: dict[tuple[int, int], Array] = {}
    for node, line in lines:
        above = [parent for parent in line.slopes if parent in means]
        mean = line
        for parent in above:
            mean = mean.without(parent)
        for parent in above:
            mean = mean.plus(line.slopes[parent], means[parent], mean.variance)
        for other in means:
            shared = sum((line.slopes[p] * covariance[_pair(p, other)] for p in above), np.zeros_like(line.variance))
            covariance[_pair(node, other)] = shared
        own = sum((line.slopes[p] * covariance[_pair(node, p)] for p in above), line.variance)
        means[node], covariance[node, node] = ConditionalLine(mean.intercept, mean.slopes, own), own
    return means, covariance


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a <= b else (b, a)
