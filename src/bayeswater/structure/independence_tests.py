"""Tests of independence given other variables: how likely counts are that depart so far, if x and y do not depend.

    G2 = 2 sum of n_xyz ln(n_xyz n_z / (n_xz n_yz)),        X2 = sum of (n_xyz - e)^2 / e, e = n_xz n_yz / n_z

Both follow the chi-squared distribution of (r_x - 1)(r_y - 1) q degrees of freedom, q the configurations of z that the
domains allow. With few rows for so many cells nothing can be shown, and the test says "independent".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, xlogy

from bayeswater.errors import ParameterError
from bayeswater.limits import require_table_bytes
from bayeswater.structure.families import numbered
from bayeswater.typing import Array


@dataclass(frozen=True)
class IndependenceTest:
    """Tests on one table of codes (n_variables, n_rows)."""

    codes: Array
    n_states: Array
    kind: str = "g2"
    weight: Array | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("g2", "chi2"):
            raise ParameterError(f"test is {self.kind!r}; it can be 'g2' or 'chi2'")

    def p_value(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Probability of counts that depart from independence as far as these or farther."""
        r_x, r_y = int(self.n_states[x]), int(self.n_states[y])
        q = float(np.prod(self.n_states[list(given)], dtype=np.float64))
        degrees = (r_x - 1) * (r_y - 1) * q
        if degrees == 0:
            return 1.0
        count = self._counts(x, y, given)  # (configurations, r_x, r_y)
        of_x, of_y = count.sum(axis=2), count.sum(axis=1)
        total = of_x.sum(axis=1)
        if self.kind == "g2":
            statistic = 2.0 * (
                xlogy(count, count).sum()
                + xlogy(total, total).sum()
                - xlogy(of_x, of_x).sum()
                - xlogy(of_y, of_y).sum()
            )
        else:
            share = np.divide(of_x, total[:, None], out=np.zeros_like(of_x), where=total[:, None] > 0)
            expected = share[:, :, None] * of_y[:, None, :]
            off = (count - expected) ** 2
            statistic = np.divide(off, expected, out=np.zeros_like(expected), where=expected > 0).sum()
        return float(chdtrc(degrees, max(0.0, float(statistic))))

    def _counts(self, x: int, y: int, given: Sequence[int]) -> Array:
        configuration, n_numbers = numbered(self.codes, self.n_states, given)
        r_x, r_y = int(self.n_states[x]), int(self.n_states[y])
        cell = (configuration * r_x + self.codes[x]) * r_y + self.codes[y]
        require_table_bytes(
            16 * n_numbers * r_x * r_y, f"a test of columns of {r_x} and {r_y} states", "leave one of them out"
        )
        counts = np.bincount(cell, self.weight, minlength=n_numbers * r_x * r_y)
        return counts.reshape(n_numbers, r_x, r_y).astype(np.float64)
