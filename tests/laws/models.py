"""The five models, each with the cells it takes, so that a law can be stated once for all of them; and what `equal` means.

Counts are equal to the bit. Sums of floats (moments, fractional weights) are equal within 1e-12 of themselves: small tables of
quarters add up with an error of some ten units of the last place, 2e-15.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.laws.tables import CODES, COUNTS, MARKS, QUARTERS

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from bayeswater.statistics.sums import Sums

CLOSE = 1e-12


@dataclass(frozen=True)
class Kind:
    """One of the five models."""

    make: Any
    cells: Any
    counts: bool  # whether its sums are counts as long as the weights are whole
    takes_missing: bool

    def __repr__(self) -> str:
        return self.make.__name__


GAUSSIAN = Kind(GaussianNB, QUARTERS, False, True)
MULTINOMIAL = Kind(MultinomialNB, COUNTS, True, False)
COMPLEMENT = Kind(ComplementNB, COUNTS, True, False)
BERNOULLI = Kind(BernoulliNB, MARKS, True, True)
CATEGORICAL = Kind(CategoricalNB, CODES, True, True)

ALL = [GAUSSIAN, MULTINOMIAL, COMPLEMENT, BERNOULLI, CATEGORICAL]

every_model = pytest.mark.parametrize("kind", ALL, ids=repr)
every_counting_model = pytest.mark.parametrize("kind", [kind for kind in ALL if kind.counts], ids=repr)
every_model_with_missing_cells = pytest.mark.parametrize("kind", [k for k in ALL if k.takes_missing], ids=repr)


def are_counts(kind: Kind, weight: Any) -> bool:
    """Say whether a model's sums over rows of these weights are whole numbers."""
    return kind.counts and (weight is None or bool((weight == np.floor(weight)).all()))


def require_same_sums(found: Sums[Any], expected: Sums[Any], *, to_the_bit: bool) -> None:
    """The same classes and columns, and the same sums."""
    for mine, theirs in ((found.class_count, expected.class_count), (found.columns, expected.columns)):
        assert mine.domain == theirs.domain
        for name, array in mine.to_arrays().items():
            other = theirs.to_arrays()[name]
            mine_array, other_array = np.broadcast_arrays(array, other)
            if to_the_bit:
                np.testing.assert_array_equal(mine_array, other_array, err_msg=name)
            else:
                size = np.abs(other_array).max(initial=0.0) if name == "mean" else 0.0
                np.testing.assert_allclose(mine_array, other_array, rtol=CLOSE, atol=CLOSE * size, err_msg=name)
    if to_the_bit:
        assert found == expected


def require_close_scores(found: Any, expected: Any, share: float = CLOSE) -> None:
    """Log-scores: infinite together, and else within `share` of the largest of them."""
    assert not np.isnan(found).any()
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    finite = np.isfinite(expected)
    size = np.abs(expected[finite]).max(initial=1.0)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=0, atol=share * size)
