"""How parameters that several classifiers have are read and checked: `alpha`, `columns`, `missing`, `unseen`, ..."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import cleandoc
from typing import Any, TypeVar

import numpy as np

from bayeswater.data.frames import given_names, is_frame, library_of
from bayeswater.data.labels import declared_classes
from bayeswater.data.matrix import column_name
from bayeswater.data.sources.reading_options import AS_FOUND, ReadAs
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError, SchemaError, warn_user
from bayeswater.estimate.class_weights import ClassWeights
from bayeswater.estimate.dirichlet import Prior, PseudoCounts, checked_class_prior
from bayeswater.typing import LARGEST_COUNT, Array, is_number, is_pseudo_count

LEAST_ALPHA = 1e-10
"""What scikit-learn raises alpha to where `force_alpha` is false."""

Given = TypeVar("Given")

Kind = TypeVar("Kind")


def documented_as_in(*others: type) -> Callable[[type[Kind]], type[Kind]]:
    """Complete the docstring of a class: what it has "as in" another is said as it is said there.

    So ``alpha, missing : as in `AODE` ``, by which the source says a thing once, reads in `help` as two entries.
    """

    def documented(kind: type[Kind]) -> type[Kind]:
        text = cleandoc(kind.__doc__ or "") + "\n"
        for other in others:
            said = re.findall(r"^(\w+(?:, \w+)*)( : .*\n(?:    .*\n)*)", cleandoc(other.__doc__ or "") + "\n", re.M)

            def entries(found: re.Match[str], said: list[tuple[str, str]] = said) -> str:
                wanted = found[1].split(", ")
                own = [(", ".join(name for name in names.split(", ") if name in wanted), what) for names, what in said]
                return "".join(names + what for names, what in own if names)

            text = re.sub(rf"^(.+) : as in `{other.__name__}`\n", entries, text, flags=re.M)
        kind.__doc__ = text
        return kind

    return documented


def checked_alpha(alpha: Any, n_columns: int, *, force_alpha: bool) -> Array:
    """Pseudo-count of each column: (n_columns,)."""
    require_flag(force_alpha, "force_alpha")
    try:
        values = np.asarray(alpha, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"alpha is {alpha!r}; give a number, or one number for each feature") from None
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_columns):
        raise ParameterError(
            "When alpha is an array, it should contains `n_features`. "
            f"Got {values.shape[0] if values.ndim == 1 else values.shape} elements instead of {n_columns}."
        )
    if not ((values >= 0) & (values <= LARGEST_COUNT)).all():
        raise ParameterError(
            f"All values in alpha must be greater than 0. Got alpha={alpha!r}; it must be from 0 to {LARGEST_COUNT:g}"
        )
    values = np.broadcast_to(values, (n_columns,))
    return values if force_alpha else np.maximum(values, LEAST_ALPHA)


def require_flag(value: Any, name: str) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} is {value!r}; it must be True or False")


def require_min_support(min_support: Any) -> None:
    """Refuse what is no number of rows."""
    if not (is_number(min_support) and min_support > 0):
        raise ParameterError(f"min_support is {min_support!r}; it must be a number of rows, over 0")


def warn_of_small_alpha(alpha: Any) -> None:
    """Say that a small alpha is raised, as scikit-learn does."""
    if np.min(alpha) < LEAST_ALPHA:
        warn_user(
            f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use "
            "`force_alpha=True` to keep alpha unchanged.",
            UserWarning,
        )


def column_priors(columns: Any, names: Sequence[str] | None, n_columns: int, kind: type[Given]) -> dict[int, Given]:
    """Read ``columns={name or position: {"prior": prior}}`` as priors by position; an integer is always a position."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise ParameterError(f"columns is {columns!r}; give a dict: {{column: {{'prior': {kind.__name__}(...)}}}}")
    names = [column_name(names, j) for j in range(n_columns)]
    position = {name: j for j, name in enumerate(names)}
    priors = {}
    for column, settings in columns.items():
        j = position.get(column, column)
        if not isinstance(j, int | np.integer) or not 0 <= j < len(names):
            raise ParameterError(f"columns names {column!r}, but there is no such column; there are {list(names)[:10]}")
        if not isinstance(settings, Mapping) or set(settings) != {"prior"}:
            raise ParameterError(f"columns[{column!r}] is {settings!r}; give {{'prior': {kind.__name__}(...)}}")
        if not isinstance(settings["prior"], kind):
            raise ParameterError(
                f"the prior of column {column!r} is {settings['prior']!r}; here it must be a {kind.__name__}"
            )
        priors[int(j)] = settings["prior"]
    return priors


def require_missing_rule(missing: str, known: tuple[str, ...]) -> bool:
    """Check the parameter `missing`, and say whether missing cells are let in."""
    if missing not in known:
        raise ParameterError(f"missing is {missing!r}; it can be {' or '.join(map(repr, known))}")
    return missing != "error"


def require_unseen_rule(unseen: str) -> None:
    """Check the parameter `unseen`."""
    if unseen not in ("ignore", "error"):
        raise ParameterError(f"unseen is {unseen!r}; it can be 'ignore' or 'error'")


def class_prior_of(
    model: Any, count: Array, smoothing: PseudoCounts, weights: ClassWeights | None, parameter: str
) -> Prior:
    """Read the class prior of counted classes (n_classes,): (w_k N_k + alpha) / sum over k of the same.

    With N_k the weight of the rows of class k, unless `parameter` gives probabilities or ``fit_prior`` is false, which
    makes all K classes equal. Leaving a row out takes it out of N_k too; given probabilities stay.
    """
    fit_prior = vars(model).get("fit_prior", True)
    require_flag(fit_prior, "fit_prior")
    given = checked_class_prior(getattr(model, parameter), len(count), parameter)
    prior = Prior.of(count, smoothing, given, fit_prior=fit_prior)
    if weights is not None and prior.given is not None:
        name = "fit_prior=False" if given is None else parameter
        raise ParameterError(f"class_weight weighs the counted class prior, but {name} says what it is; give one")
    return replace(prior, weights=weights)


def checked_class_alpha(class_alpha: Any) -> float:
    """Check the parameter `class_alpha`."""
    if not is_pseudo_count(class_alpha):
        raise ParameterError(f"class_alpha is {class_alpha!r}; it must be a number from 0 to {LARGEST_COUNT:g}")
    return float(class_alpha)


def agreed_classes(classes: Any, known: Variable | None, *, are_fixed: bool) -> Variable | None:
    """Read the parameter `classes` of `partial_fit`; by scikit-learn's rule told first, and fixed ever after."""
    if not are_fixed:
        return None if classes is None else declared_classes(classes)
    if known is None:
        if classes is None:
            raise ParameterError("classes must be passed on the first call to partial_fit.")
        return declared_classes(classes)
    # As in scikit-learn's own tests, a list that names a label twice is not the same list.
    if classes is not None and (
        set(declared_classes(classes).states) != set(known.states) or len(classes) != known.n_states
    ):
        raise ParameterError(
            f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known.labels!r}"
        )
    return known


def column_place(column: Any, names: Sequence[str], parameter: str) -> int:
    """Place of a column among those that are used, by its name or, in a table without names, by its position."""
    name = column_name(None, int(column)) if isinstance(column, int | np.integer) else column
    if isinstance(column, bool) or name not in names:
        raise ParameterError(f"{parameter} names {column!r}, but there is no such column; there are {list(names)[:10]}")
    return list(names).index(name)


def _validate_data(estimator: Any, X: Any, *, reset: bool) -> None:
    from sklearn.utils.validation import validate_data  # networks, which have settings, too, do without scikit-learn

    validate_data(estimator, X, reset=reset, skip_check_array=True)  # takes its time to look for names


def note_columns(estimator: Any, X: Any) -> str | None:
    """Remember number and names of the columns, as scikit-learn does; tell whose frames the model is to give back."""
    names = list(given_names(X)) if is_frame(X) else []
    if names and all(isinstance(name, str) for name in names):
        estimator.n_features_in_, estimator.feature_names_in_ = len(names), np.array(names, dtype=object)
    elif not names and getattr(X, "ndim", 1) == 2:
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
    else:
        _validate_data(estimator, X, reset=True)
    vars(estimator).pop("read_as_", None)  # who reads a file says so afterwards
    return library_of(X)


def with_columns(estimator: Any, n_features: int, names: Any, library: str | None, read_as: ReadAs) -> None:
    """Let a model be one that was fitted on so many columns, with these names if any, and gives frames of a library."""
    found = vars(estimator)
    found.update(n_features_in_=n_features, _library=library)
    if read_as != AS_FOUND:
        found["read_as_"] = read_as
    if names is not None:
        found["feature_names_in_"] = np.array(names, dtype=object)


def frames_of(estimator: Any) -> str | None:
    """Name the library whose frames a model gives back; None for arrays."""
    library: str | None = vars(estimator)["_library"]
    return library


def require_names(estimator: Any, X: Any) -> None:
    """Refuse columns that are named otherwise than those of the fit, or not at all; with the words of scikit-learn."""
    known = vars(estimator).get("feature_names_in_")
    if is_frame(X) or (known is not None and getattr(X, "ndim", 1) == 2):
        if known is not None and is_frame(X) and list(given_names(X)) == known.tolist():
            return  # as almost always
        if (
            estimator.n_features_in_ == 1
            and getattr(X, "shape", ())[1:] == (1,)
            and getattr(X, "dtype", None) == np.dtype(object)
        ):
            return  # texts in a list, whose one column needs no name
        try:
            _validate_data(estimator, X, reset=False)
        except ValueError as error:
            raise SchemaError(str(error)) from None


def require_decay(factor: Any, class_count: Array) -> None:
    """Refuse a factor by which rows, of each class so many (n_classes,), cannot come to weigh less."""
    if not (is_number(factor) and 0 < factor <= 1):
        raise ParameterError(f"factor is {factor!r}; give a number over 0 and up to 1")
    least = float(class_count[class_count > 0].min()) * float(factor)
    if least < np.finfo(np.float64).tiny:
        raise ParameterError(
            f"factor is {factor!r}, by which a class would count as {least:.3g} rows, less than a float64 can hold "
            "with all its digits; add newer rows of it first, or fit again without it"
        )


def prior_is_set(estimator: Any) -> bool:
    """Tell whether classes are taken to be more or less frequent than the counted rows say."""
    own, settings = vars(estimator), ("class_prior", "priors", "class_weight")
    return own.get("fit_prior") is False or any(own.get(name) is not None for name in settings)
