"""Log-probabilities of rows from classifiers that have not seen them, for any classifier.

Each fold's rows are scored by a clone fitted on the others. A row whose class is missing from those others can not be
scored and is marked.
"""

import warnings
from typing import Any

import numpy as np
from scipy.special import log_expit
from sklearn.base import clone

from bayeswater.data.weights import take_rows
from bayeswater.decision.calibration_choice import TrainTest
from bayeswater.decision.scores import class_codes
from bayeswater.errors import DataError, ParameterError
from bayeswater.typing import Array


def rows_of(parameters: dict[str, Any], keep: Array) -> dict[str, Any]:
    """Take the marked rows of those parameters that have one value for each row."""
    has_rows = {name: np.ndim(value) > 0 and len(value) == len(keep) for name, value in parameters.items()}
    return {name: np.asarray(value)[keep] if has_rows[name] else value for name, value in parameters.items()}


def require_cv(cv: Any, name: str = "cv") -> None:
    """Refuse what is neither a number of folds nor a splitter nor splits."""
    is_count = isinstance(cv, int | np.integer) and not isinstance(cv, bool) and cv >= 2
    if isinstance(cv, str) or not (is_count or cv is None or hasattr(cv, "split") or np.iterable(cv)):
        raise ParameterError(f"{name} is {cv!r}; give the number of folds (2 or more), a splitter or a list of splits")


def folds_of(cv: Any, X: Any, codes: Array, keep: Array, parameters: dict[str, Any]) -> TrainTest:
    """Split the rows that are kept (given by X and codes; `keep` marks them among all rows) into folds.

    A number means stratified folds of rows dealt at random, always alike: rows may come sorted, and a classifier of old
    ones that is validated on new ones would be corrected for what is the fault of the folds. There are fewer where the
    largest class has fewer rows, and none if every row is alone.
    """
    from sklearn.model_selection import StratifiedKFold, check_cv  # takes a fifth of a second, and few calls need it

    if cv is None or isinstance(cv, int | np.integer):
        n_folds = min(5 if cv is None else int(cv), int(np.bincount(codes).max()))
        if n_folds < 2:
            return []
        with warnings.catch_warnings():  # classes of fewer rows than folds are counted in the report
            warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
            return list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(np.zeros(len(codes)), codes))
    if hasattr(cv, "split"):
        return list(check_cv(cv, codes, classifier=True).split(X, codes, **parameters))
    # Splits that are given number all rows: those of weight zero are taken out and the others counted again.
    place = np.cumsum(keep) - 1
    every = np.arange(len(keep))
    return [(place[every[a][keep[every[a]]]], place[every[b][keep[every[b]]]]) for a, b in cv]


def cross_fitted(
    estimator: Any, X: Any, y: Array, classes: Array, folds: TrainTest, parameters: dict[str, Any]
) -> tuple[Array, Array]:
    """Log-probabilities of each row by a clone fitted without it (n_rows, n_classes), and marks of the rows scored."""
    if not folds:
        raise DataError(
            f"y has no class of two rows or more (n_samples={len(y)}): there is nothing to hold out for calibration; "
            "give more rows"
        )
    log_proba = np.full((len(y), len(classes)), -np.inf)
    scored = np.zeros(len(y), dtype=bool)
    for learn, held_out in folds:
        marked = np.zeros((2, len(y)), dtype=bool)
        marked[0, learn] = marked[1, held_out] = True
        model = clone(estimator).fit(take_rows(X, marked[0]), y[marked[0]], **rows_of(parameters, marked[0]))
        log_proba[marked[1]] = log_scores(model, take_rows(X, marked[1]), classes)
        scored[marked[1]] = np.isin(y[marked[1]], model.classes_)
    return log_proba, scored


def scores_method(model: Any) -> str:
    """Name the method of a fitted classifier that scores come from; refuse what has none."""
    for name in ("predict_log_proba", "predict_proba", "decision_function"):
        if hasattr(model, name) and hasattr(model, "classes_"):
            return name
    raise ParameterError(
        f"{type(model).__name__} is no classifier with predict_proba or decision_function: nothing to calibrate"
    )


def log_scores(model: Any, X: Any, classes: Array) -> Array:
    """Log-probabilities of a fitted model, -inf for classes that it does not know: (n_rows, n_classes).

    Taken from the first there is of predict_log_proba, predict_proba and decision_function; the values of the last
    are read as log-odds of two classes, or as unnormalised log-probabilities of more.
    """
    with np.errstate(divide="ignore"):
        method = scores_method(model)
        found = np.asarray(getattr(model, method)(X), dtype=np.float64)
        if method == "predict_proba":
            found = np.log(found)
        elif method == "decision_function" and found.ndim == 1:
            found = np.column_stack([log_expit(-found), log_expit(found)])
    columns = class_codes(model.classes_, classes)
    if found.shape[1:] != columns.shape:
        raise DataError(f"{type(model).__name__} scores {found.shape[1]} classes and knows {len(columns)}")
    scores = np.full((len(found), len(classes)), -np.inf)
    scores[:, columns] = found
    return scores
