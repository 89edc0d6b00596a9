"""Normal densities within each class: maximum likelihood, or a Normal-inverse-gamma prior and its Student-t.

Evidence is the probability of all values of a class, averaged over the prior of the parameters:

    p(x_1 .. x_n) = integral of p(x_1 | parameters) .. p(x_n | parameters) p(parameters)

For conjugate priors the integral is closed, and a function of the sums. It equals the product of the predictions of
each value from those before it, in any order, so it rewards what predicts and needs no penalty for parameters. Weights
may be fractions: a value of weight w counts as w values.
"""

from collections.abc import Collection, Mapping

import numpy as np
from scipy.special import gammaln

from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.moments import FAINT
from bayeswater.records import record
from bayeswater.statistics.moments import Moments
from bayeswater.typing import LARGEST_COUNT, Array, is_number


@record
class NormalInverseGamma:
    """Conjugate prior of a normal column: mean given variance is normal, variance is inverse-gamma.

    `mean` is the mean expected and `strength` the number of rows that expectation is worth; the variance is expected
    to be near ``scale / shape``, with `shape` worth half as many rows.

        m' = (strength m + n mean_x) / (strength + n)      strength' = strength + n        shape' = shape + n / 2
        scale' = scale + scatter / 2 + (mean_x - m)^2 strength n / (2 (strength + n))

    A new value then follows Student's t with 2 shape' degrees of freedom around m'.

    Parameters
    ----------
    mean : float
        Mean expected.
    strength : float, default 1
        Number of rows that this mean is worth.
    shape : float, default 1
        Half the number of rows that the variance is worth.
    scale : float, default 1
        Variance expected, times `shape`.

    Raises
    ------
    ParameterError
        Where strength, shape or scale is not over 0.

    See Also
    --------
    NormalInverseWishart : Prior of mean and covariance of a class.
    Dirichlet : A prior over the states of a column, as pseudo-counts.

    Examples
    --------
    >>> NormalInverseGamma(mean=0.0).predictive(n=0.0, mean=0.0, scatter=0.0)
    (0.0, 2.0, 2.0)
    """

    mean: float = 0.0
    strength: float = 1.0
    shape: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not is_number(self.mean):
            raise ParameterError(f"NormalInverseGamma: mean is {self.mean!r}; give a finite number")
        for name in ("strength", "shape", "scale"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0):
                raise ParameterError(f"NormalInverseGamma: {name} is {value!r}; it must be over 0 and finite")
            if name != "scale" and value > LARGEST_COUNT:
                raise ParameterError(f"NormalInverseGamma: {name} is {value!r}; it must be {LARGEST_COUNT:g} at most")

    def posterior(
        self, n: Array | float, mean: Array | float, scatter: Array | float
    ) -> tuple[Array, Array, Array, Array]:
        """Give mean, strength, shape and scale after n rows.

        Parameters
        ----------
        n, mean, scatter : float or array
            Weight of the rows, their mean, and the sum of their squared distances from it.

        Returns
        -------
        tuple of four
            Mean, strength, shape and scale of the posterior: floats or arrays.

        See Also
        --------
        predictive : Give location, squared scale and degrees of freedom of the Student-t of a new value, after n rows.

        Examples
        --------
        >>> from bayeswater import NormalInverseGamma
        >>> NormalInverseGamma(mean=0.0).posterior(n=3, mean=4.0, scatter=2.0)
        (3.0, 4.0, 2.5, 8.0)
        """
        strength = self.strength + n
        location = self.mean + (mean - self.mean) * (n / strength)
        scale = self.scale + scatter / 2 + (mean - self.mean) ** 2 * (self.strength * n / strength) / 2
        return location, strength, self.shape + n / 2, scale  # type: ignore[return-value]

    def predictive(self, n: Array | float, mean: Array | float, scatter: Array | float) -> tuple[Array, Array, Array]:
        """Give location, squared scale and degrees of freedom of the Student-t of a new value, after n rows.

        Parameters
        ----------
        n, mean, scatter : float or array
            As in `posterior`.

        Returns
        -------
        tuple of three
            Location, squared scale and degrees of freedom: floats or arrays.

        See Also
        --------
        posterior : Give mean, strength, shape and scale after n rows.

        Examples
        --------
        >>> from bayeswater import NormalInverseGamma
        >>> NormalInverseGamma(mean=0.0).predictive(n=3, mean=4.0, scatter=2.0)
        (3.0, 4.0, 5.0)
        """
        location, strength, shape, scale = self.posterior(n, mean, scatter)
        return location, scale / shape * ((strength + 1) / strength), 2 * shape


@record
class GaussianParameters:
    """One density for each class and column, (n_classes, n_columns) each.

    `degrees` is infinite for a normal density, finite for Student's t. A column that never varies and is not
    smoothed has no factor.
    """

    mean: Array
    variance: Array
    degrees: Array
    has_factor: Array  # (n_columns,)
    seen: Array  # (n_classes,): whether the class has a density at all
    epsilon: float


def gaussian_parameters(
    moments: Moments, class_count: Array, var_smoothing: float, priors: Mapping[int, NormalInverseGamma]
) -> GaussianParameters:
    """Read the densities off the moments.

    variance = scatter / weight + epsilon, with epsilon = var_smoothing times the largest variance of any column over
    all classes together. A class that has rows but no value in a column takes that column's moments over all classes;
    a column without any value has no factor.
    """
    n_all, mean_all, _ = moments.pooled()
    variance_all = pooled_variance(moments)
    epsilon = float(var_smoothing * variance_all.max())
    n = np.broadcast_to(moments.weight, moments.mean.shape)
    seen = class_count > 0
    borrowed = (n == 0) & seen[:, None]
    mean = np.where(borrowed, mean_all, moments.mean)
    variance = np.where(borrowed, variance_all, moments.scatter / np.where(n > 0, n, 1)) + epsilon
    degrees, by_prior = _predicted(moments, mean, variance, priors)
    varies = (n_all > 0) & (variance_all + epsilon > 0)
    return GaussianParameters(mean, variance, degrees, varies | by_prior, seen | by_prior.all(), epsilon)


def floored_parameters(
    moments: Moments, variance_floor: float, priors: Mapping[int, NormalInverseGamma]
) -> GaussianParameters:
    """Read densities whose variance is at least `variance_floor` times the variance of the column over all classes.

    The floor is a share, so that a change of unit changes nothing. A class without a value in a column takes its
    moments over all classes; a column without any value, or that never varies, has no factor.
    """
    n_all, mean_all, _ = moments.pooled()
    variance_all = pooled_variance(moments)
    n = np.broadcast_to(moments.weight, moments.mean.shape)
    mean = np.where(n > 0, moments.mean, mean_all)
    variance = np.where(n > 0, moments.scatter / np.where(n > 0, n, 1), variance_all)
    variance = np.maximum(variance, variance_floor * variance_all)
    degrees, by_prior = _predicted(moments, mean, variance, priors)
    has_factor = (n_all > 0) & (variance_all > 0) | by_prior
    return GaussianParameters(mean, variance, degrees, has_factor, np.ones(len(mean), dtype=bool), 0.0)


def _predicted(
    moments: Moments, mean: Array, variance: Array, priors: Mapping[int, NormalInverseGamma]
) -> tuple[Array, Array]:
    """Put the Student-t of columns with a prior in their place; give the degrees of all, and marks of these columns."""
    n, degrees = np.broadcast_to(moments.weight, mean.shape), np.full(mean.shape, np.inf)
    for j, prior in priors.items():
        mean[:, j], variance[:, j], degrees[:, j] = prior.predictive(n[:, j], moments.mean[:, j], moments.scatter[:, j])
    return degrees, np.isin(np.arange(mean.shape[1]), list(priors))


def require_finite_moments(moments: Moments, epsilon: float = 0.0, priors: Collection[int] = ()) -> None:
    """Refuse sums of squares, and variances of any class, that are no numbers any more, or have lost their digits.

    Columns with a prior, and what an `epsilon` is added to, need not be known by these digits.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        _, mean, scatter = moments.pooled()
        variance = (moments.scatter / np.where(moments.weight > 0, moments.weight, 1.0)).max(axis=0)
        overflow = ~np.isfinite(mean + scatter + pooled_variance(moments) + variance)
    if overflow.any():
        raise DataError(
            f"the squares of column {moments.column_name(int(overflow.argmax()))!r} overflow: its values are too far "
            "apart for float64; divide the column by a large number"
        )
    n, _, scatter = moments.pooled()
    faint = np.flatnonzero((scatter > 0) & (scatter + n * epsilon < FAINT))
    for j in [j for j in faint.tolist() if j not in priors][:1]:
        raise DataError(
            f"the squares of column {moments.column_name(j)!r} underflow: its values are too near to one another for "
            "float64; multiply the column by a large number"
        )


def require_near_priors(moments: Moments, priors: Mapping[int, NormalInverseGamma]) -> None:
    """Refuse a column so far from the mean its prior expects that the square of the distance is no number any more."""
    n = np.broadcast_to(moments.weight, moments.mean.shape)
    for j, prior in priors.items():
        with np.errstate(over="ignore"):
            _, squared_scale, _ = prior.predictive(n[:, j], moments.mean[:, j], moments.scatter[:, j])
        if not np.isfinite(squared_scale).all():
            raise DataError(
                f"the squares of column {moments.column_name(j)!r} overflow: its values are too far from the mean "
                f"{prior.mean} of its prior; divide the column by a large number"
            )


def pooled_variance(moments: Moments) -> Array:
    """Variance of each column over all classes together, 0 for one without a value: (n_columns,)."""
    n, _, scatter = moments.pooled()
    return scatter / np.where(n > 0, n, 1.0)


def normal_log_evidence(prior: NormalInverseGamma, n: Array, mean: Array, scatter: Array) -> Array:
    """Logarithm of the evidence of normal values under a Normal-inverse-gamma prior, elementwise.

        (2 pi)^(-n/2) sqrt(strength / strength') Gamma(shape') / Gamma(shape) scale^shape / scale'^shape'

    >>> bool(np.exp(normal_log_evidence(NormalInverseGamma(), np.array(0), np.array(0.0), np.array(0.0))) == 1)
    True
    """
    strength, shape = prior.strength + n, prior.shape + n / 2
    away = (mean - prior.mean) ** 2 * (prior.strength * n / strength)
    # scale'^shape' is taken apart, so that a large n does not cancel what the prior says.
    grown = np.log1p((scatter + away) / (2 * prior.scale))
    return (
        gammaln(shape)
        - gammaln(prior.shape)
        + 0.5 * np.log(prior.strength / strength)
        - shape * grown
        - n / 2 * np.log(2 * np.pi * prior.scale)
    )


def dirichlet_log_evidence(pseudo_count: float, count: Array) -> Array:
    """Logarithm of the evidence of states under a symmetric Dirichlet prior, from counts (n_states, ...).

        Gamma(S a) / Gamma(S a + N) prod_v Gamma(n_v + a) / Gamma(a)

    >>> float(np.exp(dirichlet_log_evidence(1.0, np.array([1, 0]))).round(12))
    0.5
    """
    a = pseudo_count
    total, whole = a * len(count), count.sum(axis=0)
    return gammaln(total) - gammaln(total + whole) + (gammaln(count + a) - gammaln(a)).sum(axis=0)


def or_impossible(evidence: float) -> float:
    """Take an evidence that a float64 cannot hold as that of what is impossible."""
    return float(evidence) if np.isfinite(evidence) else -np.inf
