"""Log-probabilities of rows from classifiers that have not seen them, for any classifier.

Each fold's rows are scored by a clone fitted on the others. A row whose class is missing from those others can not be
scored and is marked.
"""

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
    if cv is None or isinstance(cv, int | np.integer):
        n_folds = min(5 if cv is None else int(cv), int(np.bincount(codes).max()))
        if n_folds < 2:
            return []
        fold = dealt(codes, n_folds)
        return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n_folds)]
    if hasattr(cv, "split"):
        return list(cv.split(X, codes, **parameters))
    # Splits that are given number all rows: those of weight zero are taken out and the others counted again.
    place = np.cumsum(keep) - 1
    every = np.arange(len(keep))
    return [(place[every[a][keep[every[a]]]], place[every[b][keep[every[b]]]]) for a, b in cv]


def dealt(codes: Array, n_folds: int) -> Array:
    """Deal the rows of each class to folds at random, always alike: the fold of each row (n_rows,).

    To the row these are the folds of scikit-learn's `StratifiedKFold(n_folds, shuffle=True, random_state=0)`, without
    the quarter of a second that its import takes.

    >>> dealt(np.array([0, 0, 0, 1, 1, 1]), 3).tolist()
    [2, 1, 0, 2, 0, 1]
    """
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    own = np.argsort(np.argsort(first))[place]  # classes in the order in which they come up
    in_order, rng = np.sort(own), np.random.RandomState(0)
    n_dealt = [np.bincount(in_order[i::n_folds], minlength=len(first)) for i in range(n_folds)]
    fold = np.empty(len(codes), dtype=np.intp)
    for k, n_of_class in enumerate(np.transpose(n_dealt)):
        of_class = np.arange(n_folds).repeat(n_of_class)
        rng.shuffle(of_class)
        fold[own == k] = of_class
    return fold


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
