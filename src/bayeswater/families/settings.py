"""What a user says about columns: ``columns={name: family or settings}``."""

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bayeswater.data.matrix import column_name
from bayeswater.data.reading.column_plan import AUTO, IGNORED, NUMBER, TEXT, ColumnPlan
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.errors import ParameterError
from bayeswater.families.family import NOTHING_SAID, ColumnSettings, Settings
from bayeswater.families.registry import BINNED, FAMILIES, OPTIONS, PRIORS, family_of_prior, require_options
from bayeswater.typing import LARGEST_COUNT, is_number, is_pseudo_count

MDL = "mdl"
"""Bins that the labels choose, as many as shorten their description; as a word for a column, short for these bins."""


NAMES = tuple(one.name for one in fields(ColumnSettings) if one.name not in ("dtype", "options", "style"))
"""What a user can say, beside the options of laws."""


def settings_of(model: Any) -> Settings:
    """Take the parameters `columns`, `missing` and `unseen` of a model."""
    given = column_settings(model.columns)
    return Settings(type(model).__name__, missing=model.missing, unseen=model.unseen, given=given)


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
                options=column.options,
                style=column.style,
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
        name: replace(said, prior=given.get(name, NOTHING_SAID).prior, alpha=given.get(name, NOTHING_SAID).alpha)
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
    if not isinstance(said, Mapping) or not set(said) <= {*NAMES, *OPTIONS}:
        raise ParameterError(
            f"columns[{name!r}] is {said!r}; give a family, one of {_choices()}, or a dict with some of "
            f"{[*NAMES, *OPTIONS]}"
        )
    settings = {key: value for key, value in said.items() if key in NAMES}
    options = {key: value for key, value in said.items() if key in OPTIONS}
    if options:
        settings.setdefault("family", OPTIONS[next(iter(options))].families[0])
        settings["options"] = tuple(options.items())
    family = settings.get("family")
    if family is not None and family not in _choices():
        raise ParameterError(f"columns[{name!r}] says family {family!r}; it can be one of {_choices()}")
    prior = settings.get("prior")
    if prior is not None and not isinstance(prior, PRIORS):
        *known, last = (kind.__name__ for kind in PRIORS)
        raise ParameterError(
            f"the prior of column {name!r} is {prior!r}; it must be a {', a '.join(known)} or a {last}"
        )
    of_prior = family_of_prior(prior)
    if of_prior is not None:
        settings.setdefault("family", of_prior)
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
        settings["family"] = BINNED  # nothing is left to choose: cuts that saw the labels have no evidence to compare
    has_bins = bins is not None or settings.get("cuts") is not None
    if has_bins and settings.setdefault("family", BINNED) not in (BINNED, AUTO):
        raise ParameterError(f"columns[{name!r}] gives bins to a {family} column; leave them out, or say {BINNED!r}")
    analyser = settings.get("analyser")
    if analyser is not None:
        if not isinstance(analyser, TextAnalyser):
            settings["analyser"] = TextAnalyser.from_vectorizer(analyser)
        settings.setdefault("family", TEXT)
    found = ColumnSettings(**settings)
    if found.options and found.family in (TEXT, IGNORED):
        raise ParameterError(
            f"columns[{name!r}] gives {found.options[0][0]!r} to a column that is {found.family}; leave it out"
        )
    if found.family is not None and found.family in FAMILIES:
        require_options(name, found.family, found.options)
    return found


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


def require_same_families(given: Mapping[str, ColumnSettings], plan: ColumnPlan) -> None:
    """Refuse families that were named after the rows had been counted in others."""
    for name, said in given.items():
        if said.family not in (None, AUTO, TEXT) and plan[name].family != said.family:
            raise ParameterError(
                f"columns says that {name!r} is {said.family}, but the rows were counted as {plan[name].family}; set "
                "it back, or fit again"
            )
