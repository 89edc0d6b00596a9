"""`compare`: the ladder of models, from naive Bayes to those whose columns depend on each other, on the same folds.

The names are those of the command line. Every model starts with its defaults; the Gaussian forms read numbers alone.
"""

import warnings
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from bayeswater.data.frames import library_of, materialised
from bayeswater.data.labels import CheckedLabels, checked_labels, encode_labels
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.known_labels import holds_numbers
from bayeswater.data.reading.raw_table import read_raw
from bayeswater.data.row_places import original_rows
from bayeswater.data.weights import checked_weight, inconsistent_lengths, take_rows, without_zero_rows
from bayeswater.decision.cross_fitting import folds_of, log_scores, require_cv, scores_method
from bayeswater.decision.scorecard import Scorecard
from bayeswater.errors import DataError, ParameterError, UnseenCategoryWarning
from bayeswater.families.settings import column_settings
from bayeswater.kernels.threads import thread_count, threads
from bayeswater.models.comparing.comparison import Comparison, Contestant
from bayeswater.models.kinds import LADDER
from bayeswater.models.settings import require_flag
from bayeswater.models.streaming.fitting import whole_source
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.typing import Array

own_reasons(
    {
        "Gaussian classes are of numbers alone, and left out: {reason}": "高斯类模型只用于数，未参加比较：{reason}",
        "{name} holds none": "{name} 不是数",
        "columns says how {name} is read": "columns 指定了 {name} 的读法",
    }
)


EMPTY = f"models is empty; name at least one of {[*LADDER]}, or leave it out to compare all of them"

FEW_ROWS = 2_000
"""Rows up to which threads cost more, in waiting for each other, than they save."""

Progress = Callable[[int, int, str], None]
"""Is told how many fits are done, how many there are, and which model is next."""


def compare(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    models: Any = None,
    columns: Mapping[Any, Any] | None = None,
    folds: Any = 5,
    calibrate: bool = True,
    peers: bool = False,
    random_state: Any = 0,
    sample_weight: Any = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare models on the same folds: error, log-loss, calibration error, seconds and sizes.

    Parameters
    ----------
    X : data frame (pandas, polars, pyarrow) or array of shape (n_rows, n_columns)
        With `target`, also a file or another source of rows, which are read into memory: folds are drawn from all.
    y : labels of any type, of shape (n_rows,)
        The class of each row.
    target : str, optional
        Name of the column of X that holds the labels, in the place of y. Rows without a label are left out.
    models : list of names, or dict of names and classifiers, optional
        Which models. By default all of ours: naive Bayes, plain and weighted, SPODE, TAN, AODE, A2DE (if its counts fit
        into memory), KDB, SKDB and the ensemble, and Gaussian classes if all columns are numbers. A list names some of
        these, such as ("naive-bayes", "aode"); a dict may hold any classifiers.
    columns : dict, optional
        How to read columns, as in `NaiveBayes`. Gaussian classes read only numbers, and are left out then.
    folds : int, splitter or list of splits, default 5
        Number of folds, stratified by class and shuffled; or what scikit-learn takes as ``cv``.
    calibrate : bool, default True
        Whether our models calibrate their probabilities, by training rows alone.
    peers : bool, default False
        Whether to compare scikit-learn's naive Bayes, logistic regression, random forest and gradient boosting, too.
    random_state : int, default 0
        Seed of the folds, and of the peers.
    sample_weight : weights of shape (n_rows,), or with `target` the name of a column, optional
        A row of weight w counts as w equal rows, in learning and in validating.
    progress : function, optional
        It is called with the number of fits done, that of all, and the name of the next model.

    Returns
    -------
    Comparison
        Made to be printed; ``.best`` is the model of least log-loss, ``.fit_best(X, y)`` fits it on all rows (of a
        source, ``.fit_best(source, target=...)``), and ``.to_frame()`` gives the figures.

    Raises
    ------
    ParameterError
        If `models` names an unknown model.

    See Also
    --------
    BayesEnsemble : An ensemble of classifiers on counts, which needs no tuning.
    look : Look at a table before anything is learned from it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (200, 3))
    >>> y = np.where(rng.random(200) < 0.1, "other", np.where(X[:, 0] == X[:, 1], "same", "other"))
    >>> found = compare(X, y, models=["naive-bayes", "aode"])
    >>> found.best.name, round(found.best.error, 2), round(found["NaiveBayes"].error, 2)
    ('AODE', 0.02, 0.45)
    """
    if target is not None:
        X, y, sample_weight, *_ = whole_source(X, y, sample_weight, target, "compare")
    if y is None:
        raise DataError("compare needs labels; give y, or with target= the name of the column of X that holds them")
    labels = checked_labels(y)
    X = materialised(X)
    library = library_of(X)
    require_cv(folds, "folds")
    require_flag(calibrate, "calibrate")
    require_flag(peers, "peers")
    n_rows = read_raw(X, "compare").n_rows
    if n_rows != len(labels):
        raise inconsistent_lengths(n_rows, len(labels))
    weight = checked_weight(sample_weight, len(labels))
    keep = np.ones(len(labels), dtype=bool) if weight is None else weight > 0
    X, labels, weight = without_zero_rows(X, labels, weight)
    race = _race(X, labels, weight, folds, random_state, keep)
    chosen, notes = _chosen(models, calibrate, X, columns)
    if peers:
        from bayeswater.models.comparing.peers import sklearn_peers

        chosen |= {name: (model, True) for name, model in sklearn_peers(random_state).items()}
    contestants = []
    with threads(1 if len(labels) <= FEW_ROWS else thread_count()):
        for place, (name, (model, is_peer)) in enumerate(chosen.items()):
            tell = _teller(progress, place, len(chosen), len(race.folds), name)
            contestants.append(race.run(name, model, is_peer, tell))
    return Comparison(
        tuple(contestants),
        n_rows=len(labels),
        n_classes=len(race.classes),
        n_folds=len(race.folds),
        n_left_out=race.n_left_out,
        weight=None if weight is None else np.concatenate([weight[fold.held_out] for fold in race.folds]),
        notes=notes,
        library=library,
    )


@record
class ComparedFold:
    """Marks (n_rows,) of the rows to learn from, and of those to validate by, whose classes are among them."""

    learn: Array
    held_out: Array


@record
class Race:
    """Rows in folds, on which models are run one after the other; `kept` marks them among all that were given."""

    X: Any
    y: Array
    codes: Array
    classes: Array
    weight: Array | None
    folds: tuple[ComparedFold, ...]
    n_left_out: int
    kept: Array

    def run(self, name: str, model: Any, is_peer: bool, tell: Callable[[], None]) -> Contestant:
        """Fit a model on each fold in turn and validate it; a failure of any kind is put down as such."""
        results = []
        warned: dict[str, None] = {}
        for fold in self.folds:
            tell()
            try:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    results.append(self._result(model, fold))
            except Exception as error:
                return Contestant(name, model, is_peer, failure=str(error) or type(error).__name__)
            warned |= dict.fromkeys(_worth_telling(caught))
        last = results[-1].fitted
        sums = getattr(last, "statistics_", None)
        return Contestant(
            name,
            model,
            is_peer,
            card=sum((result.card for result in results[1:]), start=results[0].card),
            losses=np.concatenate([result.losses for result in results]),
            fit_seconds=median(result.fit_seconds for result in results),
            predict_seconds=median(result.predict_seconds for result in results),
            n_parameters=getattr(last, "n_parameters", None),
            n_bytes=getattr(last, "n_bytes_", None) if sums is None else sums.nbytes,
            warnings=tuple(warned),
        )

    def _result(self, model: Any, fold: ComparedFold) -> "_Result":
        weight = {} if self.weight is None else {"sample_weight": self.weight[fold.learn]}
        learn, held_out = take_rows(self.X, fold.learn), take_rows(self.X, fold.held_out)
        fitted = clone(model)
        start = perf_counter()
        with original_rows(self.kept), original_rows(fold.learn):
            fitted.fit(learn, self.y[fold.learn], **weight)
        between = perf_counter()
        if scores_method(fitted) == "decision_function":  # values of any scale, of which no loss can be told
            name = type(fitted).__name__
            raise ParameterError(f"{name} gives no probabilities to validate it by; compare Calibrated({name}(...))")
        with original_rows(self.kept), original_rows(fold.held_out):
            log_proba = log_scores(fitted, held_out, self.classes)
        end = perf_counter()
        codes = self.codes[fold.held_out]
        own_weight = None if self.weight is None else self.weight[fold.held_out]
        card = Scorecard.of(log_proba, codes, own_weight)
        losses = -log_proba[np.arange(len(codes)), codes]
        return _Result(fitted, card, losses, between - start, end - between)


@record
class _Result:
    """What came of one fold."""

    fitted: Any
    card: Scorecard
    losses: Array
    fit_seconds: float
    predict_seconds: float


def _race(X: Any, labels: CheckedLabels, weight: Array | None, folds: Any, random_state: Any, keep: Array) -> Race:
    coded = encode_labels(labels)
    if coded.n_classes < 2:
        raise DataError(
            f"all rows are of class {coded.variable.states[0]!r}, so there is nothing to tell apart; give rows of two "
            "classes or more"
        )
    if isinstance(folds, int | np.integer):
        n_folds = min(int(folds), int(coded.count.max()))
        if n_folds < 2:
            raise DataError("every row is alone in its class: nothing is left to learn from; give more rows")
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():  # rows that are alone in their class are counted
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        split = folds_of(folds, X, coded.codes, keep, {})
    found, n_left_out = [], 0
    for learn, held_out in split:
        marked = np.zeros((2, len(labels)), dtype=bool)
        marked[0, learn] = marked[1, held_out] = True
        held_out = marked[1] & np.isin(coded.codes, coded.codes[marked[0]])
        n_left_out += int(marked[1].sum() - held_out.sum())
        if held_out.any():
            found.append(ComparedFold(marked[0], held_out))
    if not found:
        raise DataError("no fold has a row to validate by whose class is among the rows to learn from; give more rows")
    classes = coded.variable.labels
    return Race(X, labels.array, coded.codes, classes, weight, tuple(found), n_left_out, keep)


def _chosen(
    models: Any, calibrate: bool, X: Any, columns: Mapping[Any, Any] | None
) -> tuple[dict[str, tuple[Any, bool]], tuple[str, ...]]:
    """Models by their name in the table, none of them a peer, and what is to be said about the choice."""
    given = {"columns": columns} if column_settings(columns) else {}
    if isinstance(models, Mapping):
        if not models:
            raise ParameterError(EMPTY)
        if given:
            raise ParameterError("models brings classifiers of its own; give columns to these, and leave it out here")
        return {str(name): (model, False) for name, model in models.items()}, ()
    names = _names(models) if models is not None else [*LADDER]
    gaussian, why_not, notes = [name for name in names if LADDER[name].needs_numbers], _why_no_gaussians(X, columns), []
    if models is None and why_not:
        names = [name for name in names if name not in gaussian]
        notes.append(f"Gaussian classes are of numbers alone, and left out: {why_not[0]}")
    elif given and gaussian:
        raise ParameterError(
            f"models names {gaussian[0]!r}, but {why_not[0]}; leave out the model, or what is said of columns"
        )
    made = {LADDER[name].name: (LADDER[name].make(calibrate=calibrate, **given), False) for name in names}
    return made, tuple(notes)


def _why_no_gaussians(X: Any, columns: Mapping[Any, Any] | None) -> list[str]:
    """Columns that are not simply numbers: as is said of them, or by their type."""

    def is_number(column: Any) -> bool:
        return isinstance(column, np.ndarray | SparseMatrix) or holds_numbers(column.type)

    said = [f"columns says how {name!r} is read" for name in column_settings(columns)]
    cells = read_raw(X, "compare").columns
    return said + [f"{name!r} holds none" for name, column in cells.items() if not is_number(column)]


def _names(models: Any) -> list[str]:
    names = [models] if isinstance(models, str) or not np.iterable(models) else list(models)
    if not names:
        raise ParameterError(EMPTY)
    unknown = [name for name in names if name not in [*LADDER]]
    if unknown:
        raise ParameterError(
            f"models names {unknown[0]!r}; it can be a list of some of {[*LADDER]}, or a dict of names and classifiers"
        )
    return names


def _teller(progress: Progress | None, place: int, n_models: int, n_folds: int, name: str) -> Callable[[], None]:
    done = iter(range(place * n_folds, (place + 1) * n_folds))
    return (lambda: progress(next(done), n_models * n_folds, name)) if progress else lambda: None


def _worth_telling(caught: list[warnings.WarningMessage]) -> list[str]:
    """Warnings without their advice; a category that only held-out rows have is what folds are like."""
    return [
        str(one.message).splitlines()[0].split("; ")[0]
        for one in caught
        if issubclass(one.category, UserWarning) and not issubclass(one.category, UnseenCategoryWarning)
    ]
