"""Tests of independence: how likely rows are that depart so far, if x and y do not depend on each other given z.

Of states, by the counts n_xyz of z's configurations:

    g2           2 sum of n_xyz ln(n_xyz n_z / (n_xz n_yz)), which is 2 N times the mutual information
    chi2         sum of (n_xyz - e)^2 / e, e = n_xz n_yz / n_z
    mi-sh        g2 of shares that are shrunk to even ones (Hausser and Strimmer 2009)
    mi-adf       g2, and x2-adf chi2, with the degrees of freedom of the states that occur in each configuration
    permutation  g2, and permutation-chi2 chi2, among tables drawn at random with the same n_xz and n_yz
    sp-mi        g2, and sp-x2 chi2, by chi-squared with the mean of such tables for degrees of freedom
    jt           how often y rises with x, by the order of their states (Jonckheere and Terpstra): nearly normal

g2, chi2 and mi-sh follow the chi-squared distribution of (r_x - 1)(r_y - 1) q degrees of freedom, q the configurations
of z that the domains allow. With few rows for so many cells nothing can be shown, and the test says "independent";
mi-adf and x2-adf say so wherever there are fewer than five rows for a cell. The p-value of a permutation test is the
share of tables that depart as far, the one that was seen among them: it is never zero.

Of numbers, by the correlation r of what x and y have beyond linear functions of z, k columns, in N rows:

    cor          r, by t = r sqrt(d / (1 - r^2)) with d = N - 2 - k degrees of freedom
    zf           Fisher's z = atanh(r) sqrt(d), d = N - 3 - k, which is nearly normal
    mi-g         -N ln(1 - r^2), chi-squared with one degree of freedom
    mi-g-sh      mi-g of covariances that are shrunk to 0 (Schaefer and Strimmer 2005)
    permutation-cor  r, among those of what x has beyond z in an order drawn at random (Freedman and Lane 1983)

Of both together "mi-cg" and "lr-cg" compare likelihoods: see `structure.number_tests`. All but "lr-cg" are tests of
R's bnlearn, where g2 is called mi, chi2 x2, and permutations of them mc-mi or smc-mi, mc-x2 or smc-x2, and of numbers
mc-cor, mc-zf or mc-mi-g, which order correlations alike: these names are known, too.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import betaln, chdtrc, erfc, gammaln, stdtr, xlogy

from bayeswater.errors import DataError, ParameterError
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.structure.local_scores import numbered
from bayeswater.typing import Array

DRAWN = ("permutation", "permutation-chi2", "sp-mi", "sp-x2")
"""Tests that draw tables."""

TESTS_OF_STATES = ("g2", "chi2", "mi-sh", "mi-adf", "x2-adf", *DRAWN, "jt")
TESTS_OF_NUMBERS = ("cor", "zf", "mi-g", "mi-g-sh", "permutation-cor")

N_PERMUTATIONS = 1000
"""Tables, or orders of rows, that a test of a search draws."""

NUMBERS_AT_A_TIME = 2**22
"""Numbers in an order drawn at random that are held at a time."""

ROWS_FOR_A_CELL = 5
"""Rows for each cell below which "mi-adf" and "x2-adf" say "independent"."""

AS_FAR = 1e-9
"""Share of a statistic within which another one is the same."""

LARGEST = 1e100
"""Statistics from which on a p-value is 0."""

TERMS_OF_TAIL = 20
"""Terms of a tail beyond what SciPy gives: the next ones are below the last digits."""

LINEAR = 1e-10
"""Share of the length of a column below which what others leave of it is rounding."""


def named_test(test: str) -> str:
    """Give the name that a test has here, of that in R's bnlearn."""
    plain = str(test).removeprefix("s") if str(test).startswith("smc-") else test
    theirs = {"mi": "g2", "x2": "chi2", "mc-mi": "permutation", "mc-x2": "permutation-chi2"}
    theirs |= dict.fromkeys(("mc-cor", "mc-zf", "mc-mi-g"), "permutation-cor")
    return theirs.get(str(plain), test)


class Departure(NamedTuple):
    """How far rows depart from independence; permutations have no degrees of freedom."""

    statistic: float
    degrees_of_freedom: float | None
    p_value: float


def chi_squared_tail(degrees: float, statistic: float) -> float:
    """Probability of a larger chi-squared statistic; by its logarithm where SciPy gives 0 for what a float can hold.

    >>> chi_squared_tail(6, 1464.9)
    2.1415...e-313
    """
    if degrees == 0:
        return 1.0
    found = float(chdtrc(degrees, statistic))
    if found > 0 or not 0 < statistic < LARGEST:
        return found
    a, z = degrees / 2, statistic / 2
    rest = 0.0  # Legendre's continued fraction, whose terms are small so far out
    for n in range(TERMS_OF_TAIL, 0, -1):
        rest = n * (a - n) / (z - a + 2 * n + 1 + rest)
    with np.errstate(under="ignore"):
        return float(np.exp(a * np.log(z) - z - gammaln(a) - np.log(z - a + 1 + rest)))


def _student_tails(degrees: float, t: float) -> float:
    """Probability of a value of Student's t farther from 0, in the same way."""
    found = float(2.0 * stdtr(degrees, -t))
    if found > 0 or not t < LARGEST:
        return found
    a, share = degrees / 2, degrees / (degrees + t * t)
    rest = 1.0  # the continued fraction of an incomplete beta integral
    for n in range(TERMS_OF_TAIL, 0, -1):
        rest = 1 - (a + n) * (a + n + 0.5) * share / ((a + 2 * n) * (a + 2 * n + 1)) / rest
        rest = 1 + n * (0.5 - n) * share / ((a + 2 * n - 1) * (a + 2 * n)) / rest
    rest = 1 - (a + 0.5) * share / (a + 1) / rest
    log_shares = -a * np.log1p(t * t / degrees) + 0.5 * np.log(t * t / (degrees + t * t))
    with np.errstate(under="ignore"):
        return float(np.exp(log_shares - np.log(a * rest) - betaln(a, 0.5)))


class PairTest(Protocol):
    """What learning by tests asks of one."""

    @property
    def is_symmetric(self) -> bool:
        """Whether x and y may be exchanged."""

    def p_value(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Probability of rows that depart from independence as far as these or farther."""

    def departure(self, x: int, y: int, given: Sequence[int] = ()) -> Departure:
        """Test two variables given others."""

    def rows_for_a_cell(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Rows for each cell of a test of states; of numbers, infinity."""


@record
class IndependenceTest:
    """Tests on one table of codes (n_variables, n_rows).

    Parameters
    ----------
    codes, n_states : states of the rows, and cards
    kind : one of `TESTS_OF_STATES`
    weight : (n_rows,), optional
    n_permutations, seed : tables that are drawn by some, the same ones for the same question
    """

    codes: Array
    n_states: Array
    kind: str = "g2"
    weight: Array | None = None
    n_permutations: int = N_PERMUTATIONS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in TESTS_OF_STATES:
            raise ParameterError(f"test is {self.kind!r}; it can be one of {', '.join(TESTS_OF_STATES)}")
        if self.kind in DRAWN and self.weight is not None and (self.weight != np.rint(self.weight)).any():
            raise ParameterError(f"test={self.kind!r} draws whole rows; give whole weights, or take 'g2'")

    is_symmetric = True

    def p_value(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Probability of counts that depart from independence as far as these or farther."""
        return self.departure(x, y, given).p_value

    def departure(self, x: int, y: int, given: Sequence[int] = ()) -> Departure:
        """Test two variables given others."""
        r_x, r_y = int(self.n_states[x]), int(self.n_states[y])
        q = float(np.prod(self.n_states[list(given)], dtype=np.float64))
        degrees = (r_x - 1) * (r_y - 1) * q
        has_none = self.kind in (*DRAWN[:2], "jt")
        if degrees == 0:
            return Departure(0.0, None if has_none else 0.0, 1.0)
        count = self._counts(x, y, given)  # (configurations, r_x, r_y)
        if self.kind == "jt":
            return _trend(count)
        if self.kind in DRAWN:
            return self._among_drawn(count, (x, y, *given))
        if self.kind.endswith("-adf"):
            degrees = float(np.prod([((count.sum(axis=k) > 0).sum(axis=1) - 1).clip(0) for k in (1, 2)], axis=0).sum())
            if self.rows_for_a_cell(x, y, given) < ROWS_FOR_A_CELL:
                return Departure(0.0, degrees, 1.0)
        if self.kind == "mi-sh":
            statistic = _g2(_shrunk(count, q * r_x * r_y))
        else:
            statistic = _g2(count) if self.kind in ("g2", "mi-adf") else _chi2(count)
        return Departure(statistic, degrees, chi_squared_tail(degrees, statistic))

    def rows_for_a_cell(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Rows for each cell of a test."""
        n_rows = self.codes.shape[1] if self.weight is None else self.weight.sum()
        return float(n_rows / np.prod(self.n_states[[x, y, *given]], dtype=np.float64))

    def _counts(self, x: int, y: int, given: Sequence[int]) -> Array:
        configuration, n_numbers = numbered(self.codes, self.n_states, given)
        r_x, r_y = int(self.n_states[x]), int(self.n_states[y])
        cell = (configuration * r_x + self.codes[x]) * r_y + self.codes[y]
        require_table_bytes(
            16 * n_numbers * r_x * r_y, f"a test of columns of {r_x} and {r_y} states", "leave one of them out"
        )
        counts = np.bincount(cell, self.weight, minlength=n_numbers * r_x * r_y)
        return counts.reshape(n_numbers, r_x, r_y).astype(np.float64)

    def _among_drawn(self, count: Array, question: tuple[int, ...]) -> Departure:
        """Compare a table with drawn ones of the same margins; among these is the one that was seen."""
        from scipy.stats import random_table  # its import takes longer than a test

        rng, of_chi2 = np.random.default_rng([self.seed, *question]), self.kind.endswith(("chi2", "x2"))
        drawn = np.zeros(self.n_permutations)
        for table in count[count.any(axis=(1, 2))]:
            of_x, of_y = table.sum(axis=1), table.sum(axis=0)
            tables = random_table(of_x, of_y).rvs(self.n_permutations, random_state=rng)
            if of_chi2:
                expected = np.outer(of_x, of_y) / table.sum()
                drawn += ((tables - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum(axis=(1, 2))
            else:
                margins = xlogy(of_x, of_x).sum() + xlogy(of_y, of_y).sum() - xlogy(table.sum(), table.sum())
                drawn += 2.0 * (xlogy(tables, tables).sum(axis=(1, 2)) - margins)
        statistic = _chi2(count) if of_chi2 else _g2(count)
        if self.kind.startswith("sp-"):
            degrees = float(drawn.mean())
            return Departure(statistic, degrees, chi_squared_tail(degrees, statistic))
        n_as_far = int((drawn >= statistic - AS_FAR * max(1.0, statistic)).sum())
        return Departure(statistic, None, (n_as_far + 1) / (self.n_permutations + 1))


def _g2(count: Array) -> float:
    of_x, of_y = count.sum(axis=2), count.sum(axis=1)
    total = of_x.sum(axis=1)
    joint, margins = xlogy(count, count).sum() + xlogy(total, total).sum(), xlogy(of_x, of_x).sum()
    return max(0.0, 2.0 * float(joint - margins - xlogy(of_y, of_y).sum()))


def _chi2(count: Array) -> float:
    of_x, of_y = count.sum(axis=2), count.sum(axis=1)
    total = of_x.sum(axis=1)
    share = np.divide(of_x, total[:, None], out=np.zeros_like(of_x), where=total[:, None] > 0)
    expected = share[:, :, None] * of_y[:, None, :]
    off = (count - expected) ** 2
    return float(np.divide(off, expected, out=np.zeros_like(expected), where=expected > 0).sum())


def _trend(count: Array) -> Departure:
    """Pairs of rows in which y rises with x, less those expected, in standard deviations that allow for ties."""
    above = np.flip(np.cumsum(np.flip(count, axis=2), axis=2), axis=2) - count / 2  # a tie counts half
    later = np.flip(np.cumsum(np.flip(above, axis=1), axis=1), axis=1) - above
    rising = float((count * later).sum())
    of_x, of_y, n = count.sum(axis=2), count.sum(axis=1), count.sum(axis=(1, 2))

    def falling(counts: Array, k: int) -> Array:
        return np.prod([counts - j for j in range(k)], axis=0)

    def spread(counts: Array) -> Array:
        return falling(counts, 2) * (2 * counts + 5)

    variance = (spread(n) - spread(of_x).sum(axis=1) - spread(of_y).sum(axis=1)) / 72
    for k, share in ((3, 36.0), (2, 8.0)):
        pairs = falling(of_x, k).sum(axis=1) * falling(of_y, k).sum(axis=1)
        variance += np.divide(pairs, share * falling(n, k), out=np.zeros_like(n), where=falling(n, k) > 0)
    expected, scale = float((n**2 - (of_x**2).sum(axis=1)).sum()) / 4, float(np.sqrt(variance.sum()))
    z = (rising - expected) / scale if scale > 0 else 0.0
    return Departure(z, None, float(erfc(abs(z) / np.sqrt(2.0))))


def _shrunk(count: Array, n_cells: float) -> Array:
    """Counts drawn to even ones, as much as a share of cells is uncertain (James and Stein)."""
    n_rows = count.sum()
    share = count / n_rows
    unseen = n_cells - count.size  # cells of configurations that no row has
    spread = (n_rows - 1) * (((share - 1 / n_cells) ** 2).sum() + unseen / n_cells**2)
    shrinkage = min(1.0, float(1.0 - (share**2).sum()) / spread) if spread > 0 else 1.0
    # Where no row is, all cells are alike: such a configuration adds nothing to the statistic.
    return n_rows * (shrinkage / n_cells + (1 - shrinkage) * share)


def correlation_departure(
    kind: str, x: Array, y: Array, given: Array, n_permutations: int = N_PERMUTATIONS, seed: Sequence[int] = (0,)
) -> Departure:
    """Test two columns of numbers (n_rows,) given others (n_rows, n_given); no cell is missing."""
    n_rows, n_given = given.shape
    degrees = degrees_of_correlation(kind, n_rows, n_given)
    if degrees < 1:
        raise DataError(
            f"test {kind!r} given {n_given} columns needs more than {n_rows - degrees} complete rows, and there are "
            f"{n_rows}; give fewer columns"
        )
    if kind == "permutation-cor":
        return permuted_correlation(x, y, given, n_permutations, np.random.default_rng(seed))
    is_shrunk = kind == "mi-g-sh"
    r = shrunk_correlation(np.column_stack([x, y, given])) if is_shrunk else _partial_correlation(x, y, given)
    return departure_of_correlation(kind, r, n_rows, degrees)


def degrees_of_correlation(kind: str, n_rows: float, n_given: int) -> float:
    """Rows that are left over, by which a correlation is tested."""
    return n_rows - n_given - (3 if kind == "zf" else 2)


def departure_of_correlation(kind: str, r: float, n_rows: float, degrees: float) -> Departure:
    """Say how far a correlation departs from none."""
    with np.errstate(divide="ignore"):  # columns that tell each other exactly depart infinitely far
        if kind == "cor":
            t = abs(r) * np.sqrt(degrees / np.float64(1.0 - r * r))
            return Departure(r, degrees, _student_tails(degrees, t))
        if kind == "zf":
            z = float(np.arctanh(r) * np.sqrt(degrees))
            return Departure(z, degrees, float(erfc(abs(z) / np.sqrt(2.0))))
        statistic = max(0.0, float(-n_rows * np.log1p(-r * r)))
    return Departure(statistic, 1.0, chi_squared_tail(1.0, statistic))


def permuted_correlation(x: Array, y: Array, given: Array, n_permutations: int, rng: np.random.Generator) -> Departure:
    """Test a correlation among those of what x has beyond the others, put into an order drawn at random."""
    both, basis = _left_over(x, y, given)
    r = _partial_correlation(x, y, given)
    n_as_far, n_left = 0, n_permutations
    while n_left:
        some = min(n_left, max(1, NUMBERS_AT_A_TIME // len(x)))
        drawn = rng.permuted(np.broadcast_to(both[:, 0], (some, len(x))), axis=1)
        beyond = 1.0 - ((drawn @ basis) ** 2).sum(axis=1)  # of their squared length, which is one
        rs = drawn @ both[:, 1] / np.sqrt(np.maximum(beyond, LINEAR))
        n_as_far += int((np.abs(rs) >= abs(r) - AS_FAR).sum())
        n_left -= some
    return Departure(r, None, (n_as_far + 1) / (n_permutations + 1))


def _partial_correlation(x: Array, y: Array, given: Array) -> float:
    """Correlation of what two columns have beyond linear functions of others; 0 where one has nothing."""
    both, _ = _left_over(x, y, given)
    return float(np.clip(both[:, 0] @ both[:, 1], -1.0, 1.0))


def _left_over(x: Array, y: Array, given: Array) -> tuple[Array, Array]:
    """What two columns have beyond linear functions of others, at length 1, or 0 where one has nothing; and a basis."""
    both = _centred(np.column_stack([x, y]))
    others = _centred(given)
    length = np.linalg.norm(both, axis=0)
    basis = others
    if given.shape[1]:
        basis, sizes, _ = np.linalg.svd(others, full_matrices=False)
        basis = basis[:, sizes > LINEAR * sizes.max(initial=0.0)]
        both = both - basis @ (basis.T @ both)
        both = both - basis @ (basis.T @ both)  # once more: what rounding left of them
    left = np.linalg.norm(both, axis=0)
    if (left <= LINEAR * length).any():
        return np.zeros_like(both), basis
    return both / left, basis


def shrunk_correlation(columns: Array) -> float:
    """Correlation of the first two columns given the others, by covariances that are drawn to 0.

    They are by the share sum of var(s_ij) / sum of s_ij^2, over all pairs, 1 at most; variances stay. Of two
    columns alone deviations are taken from the unbiased covariance, as bnlearn does.
    """
    n, n_columns = columns.shape
    centred = columns - columns.mean(axis=0)
    scale = np.abs(centred).max(axis=0, initial=0.0)
    if (scale[:2] == 0).any() or n < 3:
        return 0.0
    covariance = centred.T @ centred / (n - 1)
    pairs = np.triu_indices(n_columns, 1)
    products = centred[:, pairs[0]] * centred[:, pairs[1]]
    around = covariance[pairs] * (1.0 if n_columns == 2 else (n - 1) / n)
    spread, size = ((products - around) ** 2).sum(), (covariance[pairs] ** 2).sum()
    share = min(1.0, float(spread / size * n / (n - 1) ** 3)) if size > 0 else 1.0
    shrunk = covariance * (1 - share)
    np.fill_diagonal(shrunk, np.diagonal(covariance))
    length = np.sqrt(np.where(np.diagonal(shrunk) > 0, np.diagonal(shrunk), 1.0))
    inverse = np.linalg.pinv(shrunk / length / length[:, None], hermitian=True)
    if n_columns == 2:
        return float(shrunk[0, 1] / (length[0] * length[1]))
    return float(np.clip(-inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1]), -1.0, 1.0))


def _centred(columns: Array) -> Array:
    """Columns less their means, on a scale of their own: products neither overflow nor vanish."""
    scale = np.abs(columns).max(axis=0, initial=0.0)
    scaled = columns / np.where(scale > 0, scale, 1.0)
    centred = scaled - scaled.mean(axis=0)
    spread = np.abs(centred).max(axis=0, initial=0.0)
    # What rounding leaves of a constant column is nothing.
    return np.where(spread > LINEAR**1.5, centred / np.where(spread > 0, spread, 1.0), 0.0)
