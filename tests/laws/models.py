"""The five models, each with the cells it takes, so that a law can be stated once for all; and what "equal" means.

Counts are equal to the bit. Sums of floats (moments, fractional weights) are equal within 1e-12 of themselves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.laws.tables import CODES, COUNTS, MARKS, QUARTERS

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from bayeswater.statistics.feature_sums import BinaryCounts
from bayeswater.statistics.sums import Sums

CLOSE = 1e-12
EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Kind:
    """One of the five models."""

    make: Any
    cells: Any
    counts: bool  # whether its sums are counts as long as the weights are whole
    takes: frozenset[str] = frozenset()  # "missing" cells, "CSR" tables

    @property
    def takes_missing(self) -> bool:
        return "missing" in self.takes

    def __repr__(self) -> str:
        return self.make.__name__


GAUSSIAN = Kind(GaussianNB, QUARTERS, False, frozenset({"missing"}))
MULTINOMIAL = Kind(MultinomialNB, COUNTS, True, frozenset({"CSR"}))
COMPLEMENT = Kind(ComplementNB, COUNTS, True, frozenset({"CSR"}))
BERNOULLI = Kind(BernoulliNB, MARKS, True, frozenset({"missing", "CSR"}))
CATEGORICAL = Kind(CategoricalNB, CODES, True, frozenset({"missing"}))

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
        if isinstance(mine, BinaryCounts):  # absence is a difference until weights are fractions: count it in both
            assert mine.classes == theirs.classes
            mine, theirs = mine._aligned(theirs)
        assert mine.domain == theirs.domain
        for name, array in mine.to_arrays().items():
            mine_array, other_array = np.broadcast_arrays(array, theirs.to_arrays()[name])
            if to_the_bit:
                np.testing.assert_array_equal(mine_array, other_array, err_msg=name)
            else:
                bound = CLOSE * np.abs(other_array) + rounding_of_moments(theirs, name)
                assert (np.abs(mine_array - other_array) <= bound).all(), (name, mine_array, other_array)
    if to_the_bit:
        assert found == expected


def rounding_of_moments(moments: Any, name: str) -> Any:
    """What merging adds to the rounding of means and scatters; other sums have none.

    A mean is kept to some eps M, M being the size of its cells. A merge squares differences of means, d, that are as
    wrong: it adds 2 d eps M for each row. With sum w d^2 <= scatter that is 2 eps M sqrt(weight scatter) in all.
    """
    if name not in ("mean", "scatter"):
        return 0.0
    size = np.abs(moments.mean) + np.sqrt(moments.scatter / np.where(moments.weight > 0, moments.weight, 1.0))
    return 4 * EPS * size * (1.0 if name == "mean" else 2 * np.sqrt(moments.weight * moments.scatter))


def require_close_scores(found: Any, expected: Any, share: float = CLOSE) -> None:
    """Log-scores: infinite together, and else within `share` of the largest of them."""
    assert not np.isnan(found).any()
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    finite = np.isfinite(expected)
    size = np.abs(expected[finite]).max(initial=1.0)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=0, atol=share * size)
