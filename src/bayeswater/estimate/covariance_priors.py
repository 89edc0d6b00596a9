"""What covariances are drawn to: Friedman's two shrinkages, and the prior of Normal-inverse-Wishart.

On columns scaled by their standard deviation within classes, a covariance C of d columns from n rows becomes

    (1 - s) C + s (tr C / d) I

with an intensity s that is given, or read off the sums: by Oracle Approximating Shrinkage (Chen, Wiesel, Eldar, Hero,
2010), or by Ledoit and Wolf (2004). Regularised discriminants (Friedman, 1989) first draw each class towards the
covariance shared by all.

`NormalInverseWishart` is the conjugate prior of a multivariate normal; what it predicts is a Student-t.
"""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.typing import LARGEST_COUNT, Array, is_number, is_pseudo_count


@record
class Friedman:
    """Friedman's two parameters, each from 0 to 1.

    `shared` leads from the covariance of each class (0) to the one of all classes (1), `spherical` from there to one
    variance for all (scaled) columns.

    Parameters
    ----------
    shared : float, default 0
        From the covariance of each class (0) to the one of all classes (1).
    spherical : float, default 0
        From there (0) to one variance for all columns (1).

    See Also
    --------
    GaussianClassifier : Gaussian classes, with any form of covariance.
    NormalInverseWishart : Prior of mean and covariance of a class.

    Examples
    --------
    >>> Friedman(shared=0.5)
    Friedman(shared=0.5, spherical=0.0)
    """

    shared: float = 0.0
    spherical: float = 0.0

    def __post_init__(self) -> None:
        for name in ("shared", "spherical"):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= 1):
                raise ParameterError(f"Friedman: {name} is {value!r}; give a number from 0 to 1")


CANDIDATES = tuple(
    Friedman(shared, spherical)
    for shared in (0.0, 0.05, 0.15, 0.35, 0.65, 1.0)
    for spherical in (0.0, 0.001, 0.01, 0.05, 0.15, 0.4, 1.0)
)
"""What ``shrinkage="auto"`` chooses among: dense near zero, where much data ends up."""


def oas_intensity(covariance: Array, n: float) -> float:
    """Intensity of Oracle Approximating Shrinkage for a covariance (1/n) of n rows.

    >>> oas_intensity(np.eye(3), 10.0)
    1.0
    """
    d = len(covariance)
    if d == 0:
        return 1.0
    mean_square = float((covariance**2).mean())
    trace_mean_square = (float(np.trace(covariance)) / d) ** 2
    above = mean_square + trace_mean_square
    below = (n + 1) * (mean_square - trace_mean_square / d)
    return 1.0 if below <= 0 else min(above / below, 1.0)


def ledoit_wolf_intensity(covariance: Array, n: float, fourth: float) -> float:
    """Intensity of Ledoit and Wolf for a covariance (1/n) of n rows; `fourth` is the sum of their fourth powers |x|^4.

    >>> ledoit_wolf_intensity(np.eye(2), 10.0, 80.0)
    0.0
    """
    d = len(covariance)
    if d == 0:
        return 0.0
    square = float((covariance**2).sum())
    variance_of_entries = (fourth / n - square) / (d * n)
    distance = (square - float(np.trace(covariance)) ** 2 / d) / d
    least = min(variance_of_entries, distance)
    return 0.0 if least <= 0 or distance <= 0 else least / distance


@record
class NormalInverseWishart:
    """Prior of mean and covariance of a class: the mean given the covariance is normal, the covariance inverse-Wishart.

    `mean` is the mean expected and `strength` the number of rows that expectation is worth; `covariance` is the
    covariance expected and `degrees` how firmly, over n_columns + 1. What is not given is taken from the data: the mean
    of all rows, the variances of the columns within classes (no covariances), and n_columns + 2 degrees.

        strength' = strength + n      mean' = (strength mean + n mean_x) / strength'      degrees' = degrees + n
        scale' = (degrees - n_columns - 1) covariance + scatter + (mean_x - mean)(mean_x - mean)' strength n / strength'

    A new row then follows a Student-t of degrees' - n_columns + 1 degrees around mean'.

    Parameters
    ----------
    mean : array of shape (n_columns,), optional
        Mean expected.
    strength : float, default 1
        Number of rows that this mean is worth.
    covariance : array of shape (n_columns, n_columns), optional
        Covariance expected.
    degrees : float, optional
        Degrees of freedom, more than n_columns + 1: how firmly that covariance is expected.

    See Also
    --------
    GaussianClassifier : Gaussian classes, with any form of covariance.
    NormalInverseGamma : Conjugate prior of a normal column.

    Examples
    --------
    >>> NormalInverseWishart(degrees=3)
    NormalInverseWishart(mean=None, strength=1.0, covariance=None, degrees=3)
    """

    mean: Any = None
    strength: float = 1.0
    covariance: Any = None
    degrees: float | None = None

    def __post_init__(self) -> None:
        if not (is_pseudo_count(self.strength) and self.strength > 0):
            raise ParameterError(
                f"NormalInverseWishart: strength is {self.strength!r}; it must be over 0, and {LARGEST_COUNT:g} at most"
            )
        if self.degrees is not None and not is_pseudo_count(self.degrees):
            raise ParameterError(
                f"NormalInverseWishart: degrees is {self.degrees!r}; give a number up to {LARGEST_COUNT:g}, or None"
            )

    def degrees_for(self, n_columns: int) -> float:
        """Give the degrees of freedom; the expected covariance exists only with more than n_columns + 1.

        Parameters
        ----------
        n_columns : int
            Number of columns.

        Returns
        -------
        float
            Degrees of freedom.

        See Also
        --------
        covariance_for : Give the covariance expected.

        Examples
        --------
        >>> from bayeswater import NormalInverseWishart
        >>> NormalInverseWishart().degrees_for(3)
        5.0
        """
        degrees = n_columns + 2 if self.degrees is None else self.degrees
        if not degrees > n_columns + 1:
            raise ParameterError(
                f"NormalInverseWishart: degrees is {degrees!r}; with {n_columns} columns it must be over "
                f"{n_columns + 1}, or no covariance can be expected"
            )
        return float(degrees)

    def mean_for(self, center: Array) -> Array:
        """Give the mean expected: (n_columns,).

        Parameters
        ----------
        center : array of shape (n_columns,)
            Mean of all rows, which stands in where none is given.

        Returns
        -------
        array of shape (n_columns,)
            Mean.

        See Also
        --------
        covariance_for : Give the covariance expected.

        Examples
        --------
        >>> import numpy as np
        >>> from bayeswater import NormalInverseWishart
        >>> NormalInverseWishart(mean=[1, 2]).mean_for(np.zeros(2))
        array([1., 2.])
        """
        return center if self.mean is None else _numbers("mean", self.mean, {center.shape, ()}, center.shape)

    def covariance_for(self, variance: Array) -> Array:
        """Give the covariance expected (n_columns, n_columns); `variance` is what the data say.

        Parameters
        ----------
        variance : array of shape (n_columns,)
            Variances within classes, which stand in where no covariance is given.

        Returns
        -------
        array of shape (n_columns, n_columns)
            Covariance.

        See Also
        --------
        mean_for : Give the mean expected.

        Examples
        --------
        >>> import numpy as np
        >>> from bayeswater import NormalInverseWishart
        >>> NormalInverseWishart().covariance_for(np.array([1.0, 4.0]))
        array([[1., 0.],
               [0., 4.]])
        """
        d = len(variance)
        if self.covariance is None:
            return np.diag(variance)
        given = np.asarray(self.covariance)
        if given.ndim < 2:
            return np.diag(_numbers("covariance", self.covariance, {(d,), ()}, (d,)))
        matrix = _numbers("covariance", self.covariance, {(d, d)}, (d, d))
        if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0) or np.linalg.eigvalsh(matrix)[0] <= 0:
            raise ParameterError("NormalInverseWishart: covariance must be symmetric, with positive eigenvalues only")
        return matrix


def _numbers(name: str, given: Any, shapes: set[tuple[int, ...]], shape: tuple[int, ...]) -> Array:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"NormalInverseWishart: {name} is {given!r}; give numbers") from None
    if values.shape not in shapes or not np.isfinite(values).all():
        raise ParameterError(
            f"NormalInverseWishart: {name} has shape {values.shape}; give finite numbers of shape {shape}"
        )
    if name == "covariance" and values.ndim < 2 and (values <= 0).any():
        raise ParameterError("NormalInverseWishart: variances must be over 0")
    return np.broadcast_to(values, shape)
