"""Numbers given their parents: a linear regression for each configuration of the parents that have states.

    y = intercept_d + slopes_d . x + noise of variance_d

d the configuration of the discrete parents, x the numeric ones. A variance of 0 makes y an exact function of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import product
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.limits import require_table_axes, require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array, is_number


@record
class LinearGaussian:
    """A number that is normal around a linear function of its numeric parents.

    Parameters
    ----------
    intercept : float, default 0
        Mean where all numeric parents are 0.
    slopes : dict, optional
        What a unit of each numeric parent adds, by its name; one that is not named adds nothing.
    variance : float, default 1
        Variance of the noise; 0 makes the number an exact function of its parents.

    Raises
    ------
    ParameterError
        Where a number is not finite, or the variance is negative.

    See Also
    --------
    MixedNetwork : A network of states and numbers.

    Examples
    --------
    >>> LinearGaussian(-100, {"height": 1.0}, 81)
    LinearGaussian(intercept=-100, slopes={'height': 1.0}, variance=81)
    """

    intercept: float = 0.0
    slopes: Mapping[str, float] = field(default_factory=dict)
    variance: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.slopes, Mapping):
            raise ParameterError(f"slopes is {self.slopes!r}; give a dict from the names of numeric parents to numbers")
        for what, value in {"intercept": self.intercept, "variance": self.variance, **self.slopes}.items():
            if not is_number(value) or not np.isfinite(value):
                raise ParameterError(f"{what} is {value!r}; give a finite number")
        if self.variance < 0:
            raise ParameterError(f"variance is {self.variance!r}; give a number from 0 on")


@record(eq=False)
class Regressions:
    """Regressions of one number, with an axis for each discrete parent.

    Parameters
    ----------
    intercept, variance : (*n_states of the discrete parents)
    slopes : (*n_states of the discrete parents, n numeric parents)
    """

    intercept: Array
    slopes: Array
    variance: Array

    def __post_init__(self) -> None:
        for name in ("intercept", "slopes", "variance"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def n_parameters(self) -> int:
        """An intercept, a slope for each numeric parent and a variance, for each configuration."""
        return self.slopes.size + 2 * self.intercept.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Regressions):
            return NotImplemented
        pairs = ((self.intercept, other.intercept), (self.slopes, other.slopes), (self.variance, other.variance))
        return all(np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def checked(self, name: str, discrete: Sequence[Variable], numeric: Sequence[str]) -> "Regressions":
        """Refuse what does not fit the parents, or is no number."""
        shape = tuple(parent.n_states for parent in discrete)
        if self.intercept.shape != shape or self.variance.shape != shape or self.slopes.shape != (*shape, len(numeric)):
            raise ParameterError(
                f"the regressions of {name!r} have shapes {self.intercept.shape}, {self.slopes.shape} and "
                f"{self.variance.shape}; intercept and variance should have {shape}, for the parents "
                f"{[parent.name for parent in discrete]}, and slopes {(*shape, len(numeric))}, for {list(numeric)}"
            )
        is_finite = all(np.isfinite(array).all() for array in (self.intercept, self.slopes, self.variance))
        if not is_finite or (self.variance < 0).any():
            raise ParameterError(f"the regressions of {name!r} hold a number that is not finite, or a variance below 0")
        return self

    def of(self, place: tuple[int, ...], numeric: Sequence[str]) -> LinearGaussian:
        """Give the regression of one configuration."""
        slopes = dict(zip(numeric, self.slopes[place].tolist(), strict=True))
        return LinearGaussian(float(self.intercept[place]), slopes, float(self.variance[place]))


def regressions_of(given: Any, name: str, discrete: Sequence[Variable], numeric: Sequence[str]) -> Regressions:
    """Read what a user gives for a number: a `LinearGaussian`, or one for every configuration of discrete parents."""
    shape = tuple(parent.n_states for parent in discrete)
    what = f"the regressions of {name!r}"
    require_table_bytes(8 * int(np.prod(shape)) * (len(numeric) + 2), what, "give it fewer parents")
    require_table_axes(len(shape) + 1, what, "give it fewer parents")
    if isinstance(given, Regressions):
        return given.checked(name, discrete, numeric)
    rows = {(): given} if isinstance(given, LinearGaussian) else given
    if not isinstance(rows, Mapping):
        raise ParameterError(
            f"{name!r} is given {given!r}; give a LinearGaussian(intercept, slopes, variance), or where it has parents "
            "with states a dict from their states to one"
        )
    rows = {key if isinstance(key, tuple) else (key,): own for key, own in rows.items()}
    intercept, variance, slopes = np.empty(shape), np.empty(shape), np.zeros((*shape, len(numeric)))
    for place in product(*map(range, shape)):
        states = tuple(parent.states[code] for parent, code in zip(discrete, place, strict=True))
        own = rows.pop(states, None)
        if not isinstance(own, LinearGaussian):
            raise ParameterError(
                f"{name!r} has no LinearGaussian for {_configuration(discrete, states)}; its keys are states of "
                f"{[parent.name for parent in discrete]}, such as {states if len(states) > 1 else states[:1]}"
            )
        unknown = [parent for parent in own.slopes if parent not in numeric]
        if unknown:
            raise ParameterError(
                f"{name!r} has a slope for {unknown[0]!r}, and its numeric parents are {list(numeric)}; add an arc or "
                "leave the slope out"
            )
        intercept[place], variance[place] = own.intercept, own.variance
        slopes[place] = [own.slopes.get(parent, 0.0) for parent in numeric]
    if rows:
        raise ParameterError(
            f"{name!r} has a LinearGaussian for {next(iter(rows))}, which are no states of its parents "
            f"{[parent.name for parent in discrete]}"
        )
    return Regressions(intercept, slopes, variance)


def _configuration(discrete: Sequence[Variable], states: Sequence[Any]) -> str:
    text = ", ".join(f"{parent.name}={state!r}" for parent, state in zip(discrete, states, strict=True))
    return text or "no discrete parents"
