"""What a user says about columns, ``columns={name: family or settings}``, and by which settings a table is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bayeswater.data.column_plan import AUTO, FAMILIES, IGNORED, NUMBER, TEXT, Column, ColumnPlan
from bayeswater.data.matrix import column_name
from bayeswater.data.text import TextAnalyser
from bayeswater.errors import ParameterError
from bayeswater.estimate.dirichlet import Dirichlet
from bayeswater.estimate.gaussian import NormalInverseGamma
from bayeswater.typing import LARGEST_COUNT, is_number, is_pseudo_count

MDL = "mdl"
"""Bins that the labels choose, as many as shorten their description; as a word for a column, short for these bins."""


@dataclass(frozen=True)
class ColumnSettings:
    """What is said about one column; nothing, where it is None.

    `family` is one of the families, "text", "auto" or "ignored"; `prior` a `Dirichlet`, `Beta` or
    `NormalInverseGamma`; `alpha` the smoothing of this column; `bins` a number of quantile bins, or "mdl" for those
    that tell the classes apart; `cuts` the limits of bins; `analyser` says how text becomes words (`TextAnalyser`, or a
    vectoriser of scikit-learn). `dtype`, which comes with the plan of another model, is the type of a date there: days
    begin in its time zone.
    """

    family: str | None = None
    prior: Any = None
    alpha: Any = None
    bins: int | str | None = None
    cuts: tuple[float, ...] | None = None
    analyser: TextAnalyser | None = None
    dtype: str | None = None


NAMES = tuple(one.name for one in fields(ColumnSettings) if one.name != "dtype")
"""What a user can say."""

NOTHING = ColumnSettings()


@dataclass(frozen=True)
class Settings:
    """Parameters of a model by which it reads a table; `given` is what the user says about columns.

    `alpha` and `variance_floor` are for those who estimate column by column. `as_found` says that categories may be
    coded in the order of their dictionary: `count` sorts them. Who hands the codes to sums of another kind needs them
    sorted. `unknown` names columns of whose cells nothing is known: they are not there, also where empty is a state.
    """

    model: str
    alpha: Any = "auto"
    variance_floor: float = 0.01
    missing: str = "ignore"
    unseen: str = "ignore"
    given: Mapping[str, ColumnSettings] = field(default_factory=dict)
    as_found: bool = False
    unknown: tuple[str, ...] = field(default=(), compare=False)  # no parameter hangs on it

    @classmethod
    def of_model(cls, model: Any) -> "Settings":
        """Take the parameters `columns`, `missing` and `unseen` of a model."""
        given = column_settings(model.columns)
        return cls(type(model).__name__, missing=model.missing, unseen=model.unseen, given=given)

    def of(self, column: Column) -> ColumnSettings:
        """What is said about one column."""
        return self.given.get(column.name, NOTHING)

    def alpha_of(self, column: Column) -> Any:
        """Smoothing of one column: "auto" or a number."""
        own = self.of(column).alpha
        return self.alpha if own is None else own


def column_settings(columns: Any) -> dict[str, ColumnSettings]:
    """Read the parameter `columns`: a dict, or the ``columns_`` of another model, whose reading is taken over."""
    if columns is None:
        return {}
    if isinstance(columns, ColumnPlan):
        return {
            column.name: ColumnSettings(
                family=AUTO if column.family == NUMBER else column.family,
                cuts=column.cuts,
                analyser=column.analyser,
                dtype=column.dtype if column.part == "days" else None,
            )
            for column in columns
        }
    if not isinstance(columns, Mapping):
        raise ParameterError(
            f"columns is {columns!r}; give a dict such as {{'age': 'gaussian', 'note': 'text', 'coin': {{'prior': "
            "Beta(...)}}, or the columns_ of a fitted model"
        )
    named = {_name(column): said for column, said in columns.items()}
    return {name: _settings(name, said) for name, said in named.items()}


def settings_like(plan: ColumnPlan, columns: Any) -> dict[str, ColumnSettings]:
    """Give the settings by which a table is read as a plan has it, with the priors and smoothing of `columns`."""
    given = column_settings(columns)
    return {
        name: replace(said, prior=given.get(name, NOTHING).prior, alpha=given.get(name, NOTHING).alpha)
        for name, said in column_settings(plan).items()
    }


def is_smoothing(alpha: Any) -> bool:
    """Tell a pseudo-count, or the word for the best one, from anything else."""
    return alpha == AUTO if isinstance(alpha, str) else is_pseudo_count(alpha)


def _name(column: Any) -> str:
    """Name of a column; a number is the position of one that has no name."""
    return column_name(None, int(column)) if isinstance(column, int | np.integer) else str(column)


def _settings(name: str, said: Any) -> ColumnSettings:
    if isinstance(said, ColumnSettings):
        return said
    if isinstance(said, str):
        said = {"bins": MDL} if said == MDL else {"family": said}
    if not isinstance(said, Mapping) or not set(said) <= set(NAMES):
        raise ParameterError(
            f"columns[{name!r}] is {said!r}; give a family, one of {_choices()}, or a dict with some of {list(NAMES)}"
        )
    settings = dict(said)
    family = settings.get("family")
    if family is not None and family not in _choices():
        raise ParameterError(f"columns[{name!r}] says family {family!r}; it can be one of {_choices()}")
    prior = settings.get("prior")
    if prior is not None and not isinstance(prior, Dirichlet | NormalInverseGamma):
        raise ParameterError(
            f"the prior of column {name!r} is {prior!r}; it must be a Dirichlet, a Beta or a NormalInverseGamma"
        )
    if isinstance(prior, NormalInverseGamma):
        settings.setdefault("family", "gaussian")
    alpha = settings.get("alpha")
    if alpha is not None and not is_smoothing(alpha):
        raise ParameterError(
            f"the alpha of column {name!r} is {alpha!r}; it must be 'auto' or a number from 0 to {LARGEST_COUNT:g}"
        )
    bins = settings.get("bins")
    if not _is_bins(bins):
        raise ParameterError(
            f"column {name!r} is to have {bins!r} bins; give a whole number, 2 or more, or {MDL!r} for as many as tell "
            "the classes apart"
        )
    if settings.get("cuts") is not None:
        if bins is not None:
            raise ParameterError(f"columns[{name!r}] gives both bins and cuts; leave one of them out")
        settings["cuts"] = _rising(name, settings["cuts"])
    if family == AUTO and (bins == MDL or settings.get("cuts") is not None):
        settings["family"] = "binned"  # nothing is left to choose: cuts that saw the labels have no evidence to compare
    has_bins = bins is not None or settings.get("cuts") is not None
    if has_bins and settings.setdefault("family", "binned") not in ("binned", AUTO):
        raise ParameterError(f"columns[{name!r}] gives bins to a {family} column; leave them out, or say 'binned'")
    analyser = settings.get("analyser")
    if analyser is not None:
        if not isinstance(analyser, TextAnalyser):
            settings["analyser"] = TextAnalyser.from_vectorizer(analyser)
        settings.setdefault("family", TEXT)
    return ColumnSettings(**settings)


def _is_bins(bins: Any) -> bool:
    if isinstance(bins, str):
        return bins == MDL
    return bins is None or (isinstance(bins, int) and not isinstance(bins, bool) and bins >= 2)


def _rising(name: str, cuts: Any) -> tuple[float, ...]:
    limits = tuple(cuts) if isinstance(cuts, list | tuple) or hasattr(cuts, "tolist") else ()
    if not limits or not all(map(is_number, limits)) or any(a >= b for a, b in pairwise(limits)):
        raise ParameterError(f"the cuts of column {name!r} are {cuts!r}; give finite numbers in rising order")
    return tuple(map(float, limits))


def _choices() -> list[str]:
    return [*FAMILIES, TEXT, AUTO, IGNORED]
