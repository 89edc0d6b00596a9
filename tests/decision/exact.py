"""Risks in exact fractions, straight from their definition, and tables small enough for them."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

SIXTY_FOURTHS = 64
"""Probabilities are multiples of 1/64 and costs whole numbers: all sums are exact in floating point too."""


def exact_risk(costs, probabilities):
    """sum_j cost[i][j] p[j] for every action i."""
    return [
        sum(Fraction(float(c)) * Fraction(float(p)) for c, p in zip(row, probabilities, strict=True)) for row in costs
    ]


def exact_best(costs, probabilities):
    """First action of least risk."""
    risk = exact_risk(costs, probabilities)
    return risk.index(min(risk))


@st.composite
def dyadic_probabilities(draw, n_classes):
    """One row of multiples of 1/64 that sum to one; equal ones are frequent."""
    cuts = sorted(draw(st.lists(st.integers(0, SIXTY_FOURTHS), min_size=n_classes - 1, max_size=n_classes - 1)))
    return [(b - a) / SIXTY_FOURTHS for a, b in zip([0, *cuts], [*cuts, SIXTY_FOURTHS], strict=True)]


@st.composite
def decisions(draw, least_cost=-20):
    """Whole costs (n_actions, n_classes) and rows of probabilities (n_rows, n_classes)."""
    n_classes = draw(st.integers(2, 5))
    n_actions = draw(st.integers(2, 6))
    row = st.lists(st.integers(least_cost, 20), min_size=n_classes, max_size=n_classes)
    costs = np.array(draw(st.lists(row, min_size=n_actions, max_size=n_actions)), dtype=float)
    proba = np.array(draw(st.lists(dyadic_probabilities(n_classes), min_size=1, max_size=8)))
    return costs, proba
