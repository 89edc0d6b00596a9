"""`BayesEnsemble`: the strongest classifier on counts: committees of honest members, pooled.

`fit` walks the road, and everything that is tuned is tuned by rows that a structure has not seen (`learning/members`):

    reading = Reading.of(X)                        data          numbers as numbers, categories as states
    table   = canonical(reading.table(X, y, w))    data          in the order of their hashes, equal rows as one
    learned = committee.learn(table), for each     structure from a part of the rows, counts from all
    stack   = temperatures and pool                from honest scores: other rows' structure, own row taken out

`partial_fit` and `forget` move the counts; structure, temperatures and weights stay until `refresh`.
"""

from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from bayeswater.data.frames import is_frame, materialised, write_frame
from bayeswater.data.labels import Labels, declared_classes, encode_labels
from bayeswater.data.reading.column_plan import ColumnPlan
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows, inconsistent_lengths
from bayeswater.decision.next_best import NextBest
from bayeswater.errors import DataError, ParameterError, StatisticsError
from bayeswater.estimate.class_weights import ClassWeights
from bayeswater.explain.explaining import explained_by_known_cells
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.turning import Decided, ExplainedRows
from bayeswater.families.family import Settings
from bayeswater.families.settings import settings_of
from bayeswater.inference.log_space import best_class
from bayeswater.inference.scoring import Joint
from bayeswater.learning.members.member_table import EnsembleTable
from bayeswater.learning.members.presets import committees_of, limited
from bayeswater.learning.members.report import EnsembleReport
from bayeswater.learning.members.stack import Stack, learn, log_frequency
from bayeswater.models.calibrating import LeaveOneOut
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.ensemble.reading import EnsembleReading, canonical, cells_of, with_known_cells
from bayeswater.models.settings import note_columns, require_missing_rule, require_unseen_rule
from bayeswater.models.streaming.fitting import fit_whole
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array, is_number

NO_JOINT = (
    "BayesEnsemble knows P(class | row) and no P(row, class): its trees and pools are of classes given rows; use "
    "predict_log_proba, or NaiveBayes and its like for joint probabilities"
)

NOT_WITHOUT_ROWS = (
    "BayesEnsemble chooses structures and weights by all rows, and cannot leave one out; report_ tells how good it is "
    "on rows that its structures have not seen"
)


class BayesEnsemble(BayesClassifier):
    """An ensemble of classifiers on counts, which needs no tuning.

    Parameters
    ----------
    preset : {"balanced", "generative", "best"}, default "balanced"
        Which members: "balanced" has AODE, a Gaussian, logistic regression and trees; "generative" has KDB, AODE and a
        Gaussian; "best" has more trees and boosted ones, and takes longer. If there are texts, each preset also has
        weighted words.
    time_limit : float, optional
        About how many seconds a fit may take. A forecast from a few rows decides how many members are learned, and
        `report_` says how many. The model then depends on the machine.
    random_state : int, RandomState or None, default None
        Seed of the choice of rows, cuts, orders and splits. The same seed gives the same model, for any number of
        threads, any order of the rows, and equal rows in place of weights.
    members : dict, optional
        Number of members of a kind, for example ``{"aode": 16}``; 0 leaves it out.
    columns : dict, optional
        How to read columns: ``{"zip": "categorical", "id": "ignored"}``, or the ``columns_`` of another model.
    missing : {"ignore", "error"}, default "ignore"
        What to do with missing cells: leave them to the members, each of which has its own way, or refuse them.
    unseen : {"ignore", "error"}, default "ignore"
        What to do with a category that was not there in `fit`: take it as missing, with one warning, or refuse it.
    class_weight : None, "balanced" or dict {label: weight}, default None
        Weight of each class: P(class | row) is multiplied by it. "balanced"
        multiplies as if all classes were as frequent. A label that a dict does not name counts 1.

    Attributes
    ----------
    report_ : EnsembleReport
        Honest error, log-loss and calibration error with intervals, and what each kind of member says in the pool.
    classes_ : labels
    class_count_ : weight of the rows of each class
    columns_ : ColumnPlan
        How each column is read, and why.

    See Also
    --------
    NaiveBayes : Naive Bayes of a mixed table.
    AODE : Averaged one-dependence estimators.
    compare : Compare models on the same folds: error, log-loss, calibration error, seconds and sizes.

    Notes
    -----
    `explain` reveals the cells of a row one after the other, in several orders; cells that are not yet revealed count
    as missing. The contribution of a cell is the mean change of the log-odds when it is revealed. The intercept is the
    log-odds of a row without any cell. Intercept and contributions sum to the log-odds exactly. It takes as long as
    predicting about 9 n_columns times as many rows.

    With n rows, d columns of s states, K classes and M members, `fit` takes O(M n d^2) time and O(M K d^2 s^2) memory
    at most, which is what members that count pairs of columns take; `predict` takes O(M n d^2 K).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = BayesEnsemble(random_state=0).fit(X[::2], y[::2])
    >>> float(model.score(X[1::2], y[1::2])) > 0.9
    True
    """

    _stack: Stack
    _reading: EnsembleReading
    _classes: Variable
    _report: EnsembleReport

    def __init__(
        self,
        preset: str = "balanced",
        *,
        time_limit: float | None = None,
        random_state: Any = None,
        members: Any = None,
        columns: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        class_weight: Any = None,
    ) -> None:
        self.preset = preset
        self.time_limit = time_limit
        self.random_state = random_state
        self.members = members
        self.columns = columns
        self.missing = missing
        self.unseen = unseen
        self.class_weight = class_weight

    # ------------------------------------------------------------------ learning

    __metadata_request__fit = dict.fromkeys(("target", "progress"), UNUSED)  # no data of rows

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None, progress: Any = None
    ) -> Self:
        """Learn structure, counts, temperatures and weights from rows, forgetting what was learned before.

        Parameters
        ----------
        X : data frame (pandas, polars, pyarrow) or array of shape (n_rows, n_columns)
            With `target`, also a file or another source of rows; members look at them many times, so they are read
            into memory.
        y : labels of any type, of shape (n_rows,)
            The class of each row.
        sample_weight : weights of shape (n_rows,), or with `target` the name of a column, optional
            A row of weight w counts as w equal rows; one of weight 0 has no influence at all.
        target : str, optional
            Name of the column of X that holds the labels, in the place of y. Rows without a label are left out.
        progress : bool or callable, optional
            Whether to show how far reading a source has come; or a function of an object that has ``n_rows``,
            ``total_rows``, ``n_bytes``, ``total_bytes`` and ``fraction``.

        Returns
        -------
        self
            The object itself, fitted.

        Raises
        ------
        DataError
            Where cells or labels cannot be used; it names row, column and value.
        ParameterError
            Where a parameter is out of its range.

        See Also
        --------
        refresh : Learn everything anew from all rows that are to count, with the seed of the last fit.
        partial_fit : Count further rows.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> X, y = [["red"], ["green"]] * 10, ["cherry", "pea"] * 10
        >>> BayesEnsemble(members={"aode": 1, "trees-sqrt": 0, "trees-all": 0, "linear": 0}, random_state=0).fit(
        ...     X, y
        ... ).class_count_
        array([10., 10.])
        """
        if target is not None:
            self._require_parameters()  # before the rows are read
            fit_whole(self, X, y, sample_weight, target, progress)
            return self
        return self._fit(X, y, sample_weight, None)

    def refresh(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn everything anew from all rows that are to count, with the seed of the last fit.

        The way to take in new classes and categories, and to let structure and pool follow rows that have come and gone
        since. No row is kept in the model, so all of them are needed: the result is that of a `fit`.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            All rows that are to count.

        Returns
        -------
        self
            The object itself, fitted.

        See Also
        --------
        fit : Learn structure, counts, temperatures and weights from rows, forgetting what was learned before.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> X, y = [["red"], ["green"]] * 10, ["cherry", "pea"] * 10
        >>> model = BayesEnsemble(
        ...     members={"aode": 1, "trees-sqrt": 0, "trees-all": 0, "linear": 0}, random_state=0
        ... ).fit(X, y)
        >>> model.refresh(X[4:], y[4:]).class_count_
        array([8., 8.])
        """
        check_is_fitted(self)
        return self._fit(X, y, sample_weight, self.report_.seed)

    def _fit(self, X: Any, y: Any, sample_weight: Any, seed: int | None, classes: Variable | None = None) -> Self:
        start = perf_counter()
        self._require_parameters()
        rows = CountedRows.of(X, y, sample_weight, type(self).__name__)
        labels = encode_labels(rows.y)
        if classes is not None:
            labels = encode_labels(rows.y, labels.variable.union(classes))
        ClassWeights.of(self.class_weight, labels.variable)  # refuses what is none
        with rows.named():
            reading = EnsembleReading.of(rows.X, self._settings)
            table = self._table_of(rows, reading, labels)
        seed = self._drawn_seed() if seed is None else seed
        committees, forecast = committees_of(self.preset, self.members, table), None
        if self.time_limit is not None and table.n_classes > 1:
            committees, forecast = limited(committees, table, seed, float(self.time_limit), start)
        learned = learn(committees, table, seed, named=self.members or ())
        report = EnsembleReport.of(self.preset, learned, table, seed, perf_counter() - start, forecast)
        self._library = note_columns(self, rows.X)
        return self._adopt(EnsembleState(reading, labels.variable, learned.stack, report))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count further rows; structure, temperatures and weights stay as they are. The first call is a `fit`.

        A category that `fit` has not met stays unseen, and a new class is refused: `refresh` takes them in.

        Parameters
        ----------
        X, y : as in `fit`
            Further rows and their classes.
        classes : labels, optional
            Classes that there are although no row of the first call has them.
        sample_weight : weights of shape (n_rows,), optional
            Weight of each row; default 1.

        Returns
        -------
        self
            The object itself, fitted.

        See Also
        --------
        fit : Learn structure, counts, temperatures and weights from rows, forgetting what was learned before.
        forget : Take rows out of all counts, exactly.
        refresh : Learn everything anew from all rows that are to count, with the seed of the last fit.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> X, y = [["red"], ["green"]] * 10, ["cherry", "pea"] * 10
        >>> model = BayesEnsemble(
        ...     members={"aode": 1, "trees-sqrt": 0, "trees-all": 0, "linear": 0}, random_state=0
        ... ).fit(X, y)
        >>> model.partial_fit([["red"]], ["cherry"]).class_count_
        array([11., 10.])
        """
        declared = None if classes is None else declared_classes(classes)
        if "_stack" not in self.__dict__:
            return self._fit(X, y, sample_weight, None, declared)
        if declared is not None:
            self._require_known(declared, "classes")
        return self._moved(self._stack.plus(self._counted(X, y, sample_weight, forgotten=False)))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of all counts, exactly; structure, temperatures and weights stay as they are.

        What these rows added is gone from every count. Cuts and splits that were chosen with them stay until `refresh`.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            Rows that were counted, with the weight they were counted with.

        Returns
        -------
        self
            The object itself, fitted.

        See Also
        --------
        partial_fit : Count further rows.
        refresh : Learn everything anew from all rows that are to count, with the seed of the last fit.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> X, y = [["red"], ["green"]] * 10, ["cherry", "pea"] * 10
        >>> model = BayesEnsemble(
        ...     members={"aode": 1, "trees-sqrt": 0, "trees-all": 0, "linear": 0}, random_state=0
        ... ).fit(X, y)
        >>> model.forget(X[:2], y[:2]).class_count_
        array([9., 9.])
        """
        check_is_fitted(self)
        rows = self._counted(X, y, sample_weight, forgotten=True)
        return self._moved(self._stack.minus(rows, self.classes_.tolist()))

    def _counted(self, X: Any, y: Any, sample_weight: Any, *, forgotten: bool) -> EnsembleTable:
        """Read rows that join or leave the counts."""
        rows = CountedRows.of(X, y, sample_weight, type(self).__name__)
        self._require_names(rows.X)
        if not forgotten:
            self._require_known(encode_labels(rows.y).variable, "y")
        labels = encode_labels(rows.y, self._classes, counted=True)
        with rows.named():
            return self._table_of(rows, self._reading, labels)

    def _table_of(self, rows: CountedRows, reading: EnsembleReading, labels: Labels) -> EnsembleTable:
        table = reading.table(rows.X, self._settings, labels.n_classes, labels, rows.weight)
        if len(table) != len(rows.y):
            raise inconsistent_lengths(len(table), len(rows.y))
        return canonical(table)

    def _require_known(self, found: Variable, where: str) -> None:
        """Refuse classes that were not there when structures were learned."""
        unknown = [label for label in found.states if label not in self._classes.code_of]
        if unknown:
            raise DataError(
                f"{where} has the class {unknown[0]!r}, and the model knows {self.classes_.tolist()[:10]}; to let it "
                "in, learn anew from all rows: refresh(X, y)"
            )

    def _moved(self, stack: Stack) -> Self:
        self._stack, self._report = stack, self._report.as_stale()
        return self

    def _adopt(self, state: "EnsembleState") -> Self:
        """Accept what was learned, as the last step: a refused call changes nothing."""
        self._reading, self._classes, self._stack, self._report = state
        self.classes_ = state.classes.labels
        return self

    def _drawn_seed(self) -> int:
        """Take the seed that is given, or draw one."""
        try:
            drawn = int(check_random_state(self.random_state).randint(2**31))
        except ValueError as error:
            raise ParameterError(f"random_state is {self.random_state!r}; give a seed, 0 or more ({error})") from None
        is_seed = isinstance(self.random_state, int | np.integer)
        return int(self.random_state) if is_seed else drawn

    def _require_parameters(self) -> None:
        require_missing_rule(self.missing, ("ignore", "error"))
        require_unseen_rule(self.unseen)
        if not (self.time_limit is None or (is_number(self.time_limit) and self.time_limit > 0)):
            raise ParameterError(f"time_limit is {self.time_limit!r}; give a number of seconds over 0, or None")

    _tags = ("categorical", "string")

    @property
    def _settings(self) -> Settings:
        self._require_parameters()  # `set_params` may have changed them since the fit
        return settings_of(self)

    # ------------------------------------------------------------------ predicting

    def _table(self, X: Any) -> EnsembleTable:
        X = materialised(X)
        self._require_names(X)
        return self._reading.table(X, self._settings, len(self.classes_))

    def _require_names(self, X: Any) -> None:
        if not is_frame(X):  # the columns of a frame are found by their names
            super()._require_names(X)

    def _score(self, X: Any, finish: Any) -> Array:
        """Give the log posterior of rows, or what is made of it."""
        self._require_fitted()
        log_proba = self._log_posterior(self._table(X))
        return log_proba if finish is None else np.asarray(finish(log_proba, False))

    def _log_posterior(self, table: EnsembleTable) -> Array:
        return self._weighed(self._stack.log_posterior(table))

    def _weighed(self, log_proba: Array) -> Array:
        weights = ClassWeights.of(self.class_weight, self._classes)
        return log_proba if weights is None else weights.applied(log_proba, self._stack.class_count)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Refuse: an ensemble has P(class | row), and no P(row).

        Parameters
        ----------
        X : rows
            Not used.

        Returns
        -------
        array
            Never: it raises `ParameterError`.

        Raises
        ------
        ParameterError

        See Also
        --------
        predict_log_proba : Give the logarithm of the probabilities, never floored.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> BayesEnsemble().predict_joint_log_proba([[1]])
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError(NO_JOINT)

    def log_evidence(self, X: Any) -> Array:
        """Refuse: an ensemble has P(class | row), and no P(row).

        Parameters
        ----------
        X : rows
            Not used.

        Returns
        -------
        array
            Never: it raises `ParameterError`.

        Raises
        ------
        ParameterError

        See Also
        --------
        predict_log_proba : Give the logarithm of the probabilities, never floored.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> BayesEnsemble().log_evidence([[1]])
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        return self.predict_joint_log_proba(X)

    def _scored_prior(self) -> Array:
        return np.exp(self._weighed(log_frequency(self._stack.class_count)))

    def _joint(self) -> Joint:
        raise ParameterError(NO_JOINT)

    def _decided(self, table: EnsembleTable) -> Decided:
        scored = self._log_posterior(table)
        return Decided(scored, None, best_class(scored))

    def _reasons(self, X: Any, table: EnsembleTable, about: ExplainedRows) -> Explanations:
        cells = cells_of(self._reading, self._reading.raw(X, self._settings), table)
        names = tuple(column.name for column in self._reading.columns)

        def log_posterior(rows: Array, known: Array) -> Array:
            return self._log_posterior(with_known_cells(self._reading, table, rows, known))

        return explained_by_known_cells(log_posterior, names, len(table), cells, about)

    def _curve(self, name: str) -> Any:
        raise ParameterError(
            "BayesEnsemble combines models that read columns in different ways, so a column has no single "
            "distribution; use NaiveBayes, which has one for each column"
        )

    @property
    def _class_counts(self) -> ClassCounts:
        return ClassCounts(self._classes, self._stack.class_count)

    def loo_predict_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Refuse: all rows took part in choosing structures and pool; `report_` has figures of held-out rows.

        Parameters
        ----------
        X, y, sample_weight : rows
            Not used.

        Returns
        -------
        array
            Never: it raises `ParameterError`.

        Raises
        ------
        ParameterError

        See Also
        --------
        predict_log_proba : Give the logarithm of the probabilities, never floored.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> BayesEnsemble().loo_predict_log_proba([[1]], ["a"])
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError(NOT_WITHOUT_ROWS)

    def leave_one_out(self, batches: Any) -> LeaveOneOut:
        """Refuse: all rows took part in choosing structures and pool; `report_` has figures of held-out rows.

        Parameters
        ----------
        batches : rows
            Not used.

        Returns
        -------
        LeaveOneOut
            Never: it raises `ParameterError`.

        Raises
        ------
        ParameterError

        See Also
        --------
        score : Give the share of the rows whose class is predicted.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> BayesEnsemble().leave_one_out([])
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError(NOT_WITHOUT_ROWS)

    def calibrate_with(self, review: LeaveOneOut) -> Self:
        """Refuse: an ensemble is always calibrated, by rows that its structures have not seen.

        Parameters
        ----------
        review : LeaveOneOut
            Not used.

        Returns
        -------
        self
            Never: it raises `ParameterError`.

        Raises
        ------
        ParameterError

        See Also
        --------
        predict_proba : Give the probability of each class, calibrated if that was asked for.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> BayesEnsemble().calibrate_with(None)
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError("BayesEnsemble is calibrated always, by rows that its structures have not seen")

    def next_best(
        self, row: Any, loss: Any = None, costs: Any = None, *, prior: Any = None, lang: str = "en"
    ) -> NextBest:
        """Refuse: an ensemble has P(class | row), and no distribution of a cell.

        Parameters
        ----------
        row, loss, costs, prior, lang : as in other models
            Not used.

        Returns
        -------
        NextBest
            Never: it raises `ParameterError`.

        Raises
        ------
        ParameterError

        See Also
        --------
        explain : Say for each row why it gets its class rather than another.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> BayesEnsemble().next_best({})
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError(
            "BayesEnsemble knows P(class | row) and no distribution of what a missing cell may hold; NaiveBayes, AODE "
            "and their like can say what to ask for"
        )

    # ------------------------------------------------------------------ what was learned

    @property
    def columns_(self) -> ColumnPlan:
        """How each column is read, and why."""
        check_is_fitted(self)
        return self._reading.plan.in_library(self._library)

    @property
    def report_(self) -> EnsembleReport:
        """How good it is, measured while it learned, and what each kind of member weighs."""
        check_is_fitted(self)
        return self._report.in_library(self._library)

    @property
    def class_count_(self) -> Array:
        """Weight of the rows of each class."""
        check_is_fitted(self)
        return self._stack.class_count

    @property
    def n_bytes_(self) -> int:
        """Bytes of all that was learned."""
        check_is_fitted(self)
        return self._stack.n_bytes

    @property
    def n_parameters(self) -> int:
        """How many numbers it holds: counts, cuts, splits, temperatures and weights."""
        check_is_fitted(self)
        own = sum(array.size for committee in self._stack.committees for array in committee.to_arrays().values())
        return int(own + 3 * len(self._stack.committees) + len(self.classes_))

    def tables(self) -> dict[str, Any]:
        """Give the classes, and the weight of each kind of member in the pool, as labelled frames by name.

        Returns
        -------
        dict {name: frame}
            Frames of the library that `fit` was given.

        See Also
        --------
        columns_ : How each column is read, and why.

        Examples
        --------
        >>> from bayeswater import BayesEnsemble
        >>> X, y = [["red"], ["green"]] * 10, ["cherry", "pea"] * 10
        >>> model = BayesEnsemble(
        ...     members={"aode": 1, "trees-sqrt": 0, "trees-all": 0, "linear": 0}, random_state=0
        ... ).fit(X, y)
        >>> list(model.tables())
        ['class', 'families']
        """
        check_is_fitted(self)
        classes = {"class": self.classes_, "count": self.class_count_, "probability": self._scored_prior()}
        found = {"class": write_frame(classes, self._library)}
        if self.report_.families:
            found["families"] = self.report_.to_frame()
        return found

    def __add__(self, other: Any) -> Any:
        """Refuse: two ensembles have structures of their own, and counts of other things.

        Raises
        ------
        StatisticsError
        """
        if not (isinstance(other, BayesEnsemble) or (isinstance(other, int) and other == 0)):
            return NotImplemented
        raise StatisticsError(
            "ensembles cannot be added: each has learned structures of its own, and counts other things; let the first "
            "count the rows of the second, partial_fit(X, y)"
        )

    __radd__ = __add__  # of a `sum`, which begins with 0


class EnsembleState(NamedTuple):
    """How an ensemble reads a table, and all that it has learned: what a model file holds."""

    reading: EnsembleReading
    classes: Variable
    stack: Stack
    report: EnsembleReport


def state_of(model: BayesEnsemble) -> EnsembleState:
    """Give what an ensemble has learned."""
    return EnsembleState(model._reading, model._classes, model._stack, model.report_)


def with_state(model: BayesEnsemble, state: EnsembleState) -> BayesEnsemble:
    """Let an ensemble, whose parameters are checked, be one that has learned this."""
    model._require_parameters()
    return model._adopt(state)
