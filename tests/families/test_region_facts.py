"""What a missing number would tell: the mass of every class between two points is that of its density."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta, norm, t, vonmises

from bayeswater.decision.facts import DensityFact
from bayeswater.families.beta import BetaFact
from bayeswater.families.von_mises import CircleFact

FACTS = {
    "normal and Student": (
        DensityFact(np.array([0.0, 1.0]), np.array([1.0, 4.0]), np.array([np.inf, 3.0])),
        [norm(0, 1), t(3, 1, 2)],
    ),
    "beta": (BetaFact(np.array([2.0, 0.5]), np.array([3.0, 0.7])), [beta(2, 3), beta(0.5, 0.7)]),
    "von Mises": (CircleFact(np.array([0.5, -2.0]), np.array([3.0, 0.2])), [vonmises(3, 0.5), vonmises(0.2, -2.0)]),
}
by_law = pytest.mark.parametrize(("fact", "densities"), FACTS.values(), ids=FACTS)


def between(fact, points):
    """Points, and the ends of all that a number can be."""
    end = np.pi if isinstance(fact, CircleFact) else np.inf
    return [-end, *points, end]


@by_law
@pytest.mark.parametrize("switches", [[], [0.3], [0.1, 0.8], [0.05, 0.3, 0.35, 0.9]])
def test_masses_between_points_are_those_of_the_densities(fact, densities, switches):
    found = fact.masses(np.array(switches))
    expected = np.stack([np.diff(density.cdf(between(fact, switches))) for density in densities], axis=1)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-12)  # those of a circle are summed by quadrature


@by_law
def test_densities_are_theirs_up_to_what_all_points_share(fact, densities):
    x = np.linspace(0.02, 0.97, 30)
    found = fact.log_density(x[:, None])
    expected = np.stack([density.logpdf(x) for density in densities], axis=1)
    assert_allclose(found - found[:1], expected - expected[:1], rtol=1e-9, atol=1e-9)
    apart = (found[:, 0] - found[:, 1]) - (expected[:, 0] - expected[:, 1])
    assert_allclose(apart, 0.0, atol=1e-9)


@by_law
def test_the_densities_of_some_classes_are_those_of_all(fact, densities):
    second = fact.of_classes(np.array([False, True]))
    assert_allclose(second.masses(np.array([0.4])), fact.masses(np.array([0.4]))[:, 1:], rtol=1e-7)
    grid = fact.grid()
    assert (np.diff(grid) > 0).all() and len(grid) > 50
    for density in densities:  # dense where the classes have their mass
        assert np.diff(density.cdf(between(fact, grid))).max() < 0.1


@by_law
def test_a_weakened_density_is_a_power_of_it(fact, densities):
    x = np.linspace(0.1, 0.9, 7)[:, None]
    weaker = fact.weakened(0.6)
    found, whole = weaker.log_density(x), fact.log_density(x)
    assert_allclose(found - found[:1], 0.6 * (whole - whole[:1]), rtol=1e-9, atol=1e-12)
