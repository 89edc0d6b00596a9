"""`OnSums`: a classifier whose whole state is a sum over rows.

`fit` reads as the road of the data: labels and table are coded, summed, and the sums kept. So models learn from
further rows (`+`), forget (`-`), merge, and leave rows out. `predict` reads parameters off the sums, once for each
setting. Nothing is kept of the rows. Learning makes passes over pieces of rows (`streaming.passes`); a table is one
piece.
"""

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from bayeswater.data.frames import materialised, write_frame
from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.reading.raw_table import in_styles
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows, inconsistent_lengths
from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.estimate.class_weights import ClassWeights
from bayeswater.estimate.dirichlet import Prior, PseudoCounts
from bayeswater.explain.linear_form import LinearForm, calibrated_has_none, linear_form
from bayeswater.inference.drawing import draw_classes
from bayeswater.inference.linear import Line
from bayeswater.inference.scoring import JointWithout
from bayeswater.kernels.compiling import note_call
from bayeswater.models.calibrating import Priors, as_stale, review_of_folds
from bayeswater.models.held_out import Fold
from bayeswater.models.settings import (
    agreed_classes,
    checked_class_alpha,
    class_prior_of,
    note_columns,
    require_flag,
    warn_of_small_alpha,
)
from bayeswater.models.streaming.fitting import fit_source
from bayeswater.models.streaming.passes import (
    Batch,
    Batches,
    Counting,
    Examples,
    Pass,
    Passes,
    as_triple,
    require_no_checkpoint,
    run_passes,
)
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import ClassCounts, SeenRanges, Sums
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.classifier import BayesClassifier as Base
else:
    Base = object

Found = TypeVar("Found")


class OnSums(Base):
    """Mixin of a `BayesClassifier`: it learns by adding rows up."""

    statistics_: Sums[Any]
    class_weight: Any

    # ------------------------------------------------------------------ what each model says for itself

    _grouped_as: str | None = None
    """What its sums can be read off where a place of rows groups them by itself: "margins", "spreads", or nothing."""

    _fixes_classes = False
    """Whether the first `partial_fit` is given all classes, as in scikit-learn."""

    _fixed_by_fit: tuple[str, ...] = ()
    """Names of what the first fit chose, and further rows do not move."""

    _not_sent: tuple[str, ...] = ("_memo",)
    """Names of what is no part of a copy that goes to another process: it is read off the sums again."""

    _prior_name = "class_prior"
    """Parameter that gives the class probabilities."""

    @abstractmethod
    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> Any:
        """Data: read X as the table this model counts and scores, in the domains of the sums that are `known`."""

    @abstractmethod
    def _count(self, table: Any, labels: Labels, weight: Array | None) -> Statistic:
        """Statistics: sum the rows of a table."""

    def _block(self, columns: Any) -> Any:
        """Estimate: read the parameters of all columns off their sums, where they follow one law."""
        raise AssertionError("a model of several laws says how they are read together")

    def _read(self, sums: Sums[Any]) -> Any:
        """Estimate: read parameters off the sums, ready for scoring."""
        return replace(self._block(sums.columns).joint, log_prior=self._log_prior(sums))

    def _likelihood_without(self, table: Any, labels: Labels, removed: Array) -> Any:
        """Leave-one-out: a function that gives the log-likelihoods of some rows, each taken out of the sums."""
        return self._block(self.statistics_.columns).without(table, labels, removed)

    def _require_parameters(self, sums: Sums[Any]) -> None:
        """Refuse parameters that are out of range, before anything is changed."""
        self._prior(sums)
        require_flag(self._calibrates, "calibrate")

    def _seen(self, table: Any) -> SeenRanges:
        """Find from where to where numbers are, where explanations ask for it."""
        return SeenRanges()

    # ------------------------------------------------------------------ learning

    __metadata_request__fit = dict.fromkeys(("target", "checkpoint", "progress"), UNUSED)  # no data of rows

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        checkpoint: Any = None,
        progress: Any = None,
    ) -> Self:
        """Learn from rows, forgetting what was learned before.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_columns)
            With `target`, also a source of rows that may not fit into memory: the path of a file (CSV, Parquet, Arrow,
            JSON lines) or a pattern of paths, a dataset of pyarrow, a relation of DuckDB, a LazyFrame of polars, an
            iterator of Arrow batches, or a frame of Dask, Spark or Ray. It is read in pieces, as often as the model
            needs (see Notes); counts do not depend on how rows are divided into pieces.
        y : labels of any type, of shape (n_rows,)
            The class of each row.
        sample_weight : weights of shape (n_rows,), or with `target` the name of a column, optional
            A row of weight w counts as w equal rows; one of weight 0 has no influence at all.
        target : str, optional
            Name of the column of X that holds the labels, in the place of y. Rows without a label are left out.
        checkpoint : path, optional
            File in which what was counted of a source is kept from time to time. Where it is there already, counting
            goes on from it, and ends with the same model; in the end it is removed.
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
        ResourceLimitError
            Where the counts would not fit into memory.

        See Also
        --------
        partial_fit : Learn from further rows: the same, to the bit for counts, as one `fit` on all rows.
        forget : Remove rows: the sums become those of a fit that never saw them.

        Notes
        -----
        The kinds of columns, and how a text is read, are decided by the first rows of a source: 100,000, or fewer of a
        wide table. All else is decided by all rows. They are read once to count them, and once more

        - to see where numbers are cut, by models of tables of states (`AODE` and its like), unless `columns` says it,
          and again near the cuts of columns with more than 16,384 different numbers
        - for every choice that counts alone cannot make: the parents of `KDB` and `SKDB`, the columns of `SKDB` and of
          `AODE` with ``select=True``, the super-parent of `SPODE`, ``shrinkage="auto"``
        - for ``calibrate=True``

        Examples
        --------
        >>> from bayeswater import GaussianNB
        >>> GaussianNB().fit([[0], [1], [8], [9]], ["a", "a", "b", "b"]).class_count_
        array([2., 2.])
        """
        if target is not None:
            return fit_source(self, X, y, sample_weight, target, checkpoint, progress)
        require_no_checkpoint(checkpoint)
        examples = X if isinstance(X, Examples) else Batches([(X, y, sample_weight)], type(self).__name__)
        return self._learned_from(examples)

    def fit_batches(self, batches: Iterable[Batch]) -> Self:
        """Learn from a table in pieces: each is read and released, as often as `fit` reads a source.

        Kinds of columns, and how a text is read, are decided by the first piece that has a value there; all else is
        decided by all pieces.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            The pieces.

        Returns
        -------
        self
            The object itself, fitted.

        See Also
        --------
        fit : Learn from rows, forgetting what was learned before.
        partial_fit : Learn from further rows: the same, to the bit for counts, as one `fit` on all rows.

        Examples
        --------
        >>> from bayeswater import NaiveBayes
        >>> NaiveBayes().fit_batches([([["red"]], ["cherry"]), ([["green"]], ["pea"])]).class_count_
        array([1., 1.])
        """
        return self._learned_from(Batches(batches, type(self).__name__))

    def _learned_from(self, examples: Examples, classes: Variable | None = None) -> Self:
        """Make the passes over rows that the model asks for; `classes` are declared beforehand."""
        return run_passes(self._passes(examples, classes), examples)

    def _passes(self, examples: Examples, classes: Variable | None = None) -> Passes[Self]:
        """Learn pass by pass: sum the rows, and calibrate."""
        counting = self._counting(classes, by_copy=not isinstance(examples, Batches))
        sums = yield Pass(counting, then=self._rereads)
        self._keep(sums, examples.columns_of_X, first=True)
        return (yield from self._corrected())

    def _corrected(self, models: Sequence[Any] = (), folds: tuple[Fold, ...] = ()) -> Passes[Self]:
        """Learn from rows that are left out how far probabilities can be trusted.

        `models` are those by which the rows of each of some folds are scored.
        """
        if not self._calibrates:
            return self
        reviews = [model._review_of for model in models] or [self._review_of]
        return self.calibrate_with((yield from review_of_folds(folds, reviews)))

    @property
    def _rereads(self) -> str:
        return "calibrate=True reads the rows twice" if self._calibrates else ""

    def _counting(self, classes: Variable | None, *, by_copy: bool) -> Counting:
        """Give what counts a piece of rows: a copy without sums, where it is sent to the rows."""
        return Counting((clone(self) if by_copy else self)._sums_of, classes, self._grouped_as)

    @property
    def _calibrates(self) -> bool:
        return self.__dict__.get("calibrate", False)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same, to the bit for counts, as one `fit` on all rows.

        The first call decides how each column is read, as `fit` does. Later rows may bring new categories and words.

        Parameters
        ----------
        X, y : as in `fit`
            Further rows and their classes.
        classes : labels, optional
            Classes that there are although no row has them yet. As in scikit-learn, `GaussianNB`, `MultinomialNB`,
            `ComplementNB`, `BernoulliNB` and `CategoricalNB` need all classes there will be in the first call; into
            other models later rows may bring new ones.
        sample_weight : weights of shape (n_rows,), optional
            Weight of each row; default 1.

        Returns
        -------
        self
            The object itself, fitted.

        Raises
        ------
        DataError
            Where cells cannot be used, or a label is none of the classes of a drop-in.
        SchemaError
            Where the columns are not those of the model.

        See Also
        --------
        fit : Learn from rows, forgetting what was learned before.
        forget : Remove rows: the sums become those of a fit that never saw them.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> model = CategoricalNB().partial_fit([["red"]], ["cherry"], classes=["cherry", "pea"])
        >>> model.partial_fit([["green"], ["green"]], ["pea", "pea"]).class_count_
        array([1., 2.])
        """
        self._require_sums("partial_fit cannot add rows to them; call fit with all rows")
        known = self.__dict__.get("statistics_")
        declared = agreed_classes(classes, known and known.classes, are_fixed=self._fixes_classes)
        if known is None:
            return self._learned_from(Batches([(X, y, sample_weight)], type(self).__name__), declared)
        X = materialised(X)
        sums = self._sums_with(X, y, sample_weight, declared if self._fixes_classes else None)
        return self._keep(sums if declared is None else sums.with_classes(declared), X, first=False)

    def _sums_with(self, X: Any, y: Any, sample_weight: Any, classes: Variable | None) -> Sums[Any]:
        """Add further rows to the sums; labels are those of `classes`, or any."""
        return self.statistics_ + self._sums_of(X, y, sample_weight, classes, self.statistics_)

    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, remaining: tuple[Any, ...] | None = None) -> Self:
        """Remove rows: the sums become those of a fit that never saw them.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            Rows that were counted, with the weight they were counted with.
        remaining : (X, y) or (X, y, sample_weight), optional
            The rows that stay. Only needed when a subtraction would lose digits; it then recounts that class.

        Returns
        -------
        self
            The object itself, fitted.

        Raises
        ------
        StatisticsError
            If rows cannot have been counted (a count or a sum of squares would fall below 0), or the subtraction would
            lose digits. Numbers that were not counted may pass, if the sums stay possible.

        See Also
        --------
        partial_fit : Learn from further rows: the same, to the bit for counts, as one `fit` on all rows.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> model = CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> model.forget([["red"]], ["cherry"]).class_count_
        array([1., 1.])
        """
        self._require_fitted()
        self._require_sums("forget cannot take rows out of them; call fit with the rows that remain")
        sums = self.statistics_
        old = self._sums_of(X, y, sample_weight, sums.classes, sums, counted=True)
        rest = None
        if remaining is not None:
            rest = self._sums_of(*as_triple(remaining, "remaining"), sums.classes, sums, counted=True)
        remaining_sums = sums.minus(old, rest)
        vanished = [label for label in sums.classes.states if label not in remaining_sums.classes.code_of]
        if vanished and getattr(self, self._prior_name) is not None:
            raise StatisticsError(
                f"no row of class {vanished[0]!r} would remain, but {self._prior_name} gives it a probability; "
                f"set {self._prior_name} to None first"
            )
        return self._keep(remaining_sums, X, first=False)

    def __add__(self, other: Any) -> Self:
        """Merge two models: the sums of both, with the parameters of the left one."""
        return self._combined(other, operator.add)

    def __radd__(self, other: Any) -> Self:
        """Begin a ``sum(models)``."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Any) -> Self:
        """Take the rows of another model out of this one."""
        return self._combined(other, operator.sub)

    def _combined(self, other: Any, operation: Any) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        for model in (self, other):
            model._require_fitted()
            model._require_sums("models cannot be merged or taken apart; call fit with all rows")
        result, read_as = self._like_self(), self.read_as_.merged(other.read_as_)
        sums = operation(*self._sums_read_alike(other))
        result._require_parameters(sums)
        result.read_as_ = read_as
        result._adopt(sums)
        if self._is_calibrated:
            result.calibration_ = as_stale(self.calibration_, self.statistics_.classes, sums.classes)
        return result

    def _sums_read_alike(self, other: Self) -> tuple[Sums[Any], Sums[Any]]:
        """Give the sums of two models with one name for states that are the same, or say that they read otherwise."""
        return self.statistics_, other.statistics_

    def _like_self(self) -> Self:
        """Make a model without sums that has the parameters of this one, its columns, and what its fit has fixed."""
        new: Self = clone(self)
        for name in ("n_features_in_", "feature_names_in_", "_library", "read_as_", *self._fixed_by_fit):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name])
        return new

    def _require_sums(self, why_not: str) -> None:
        """Refuse what only sums over rows allow, where a parameter makes them none."""

    def _sums_of(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        classes: Variable | None = None,
        known: Sums[Any] | None = None,
        *,
        counted: bool = False,
    ) -> Sums[Any]:
        """Sum rows, the first half of the road; rows that join `known` sums have their columns."""
        note_call()
        rows = CountedRows.of(X, y, sample_weight, type(self).__name__)
        if known is not None and known is self.__dict__.get("statistics_"):  # not those of a fit that is under way
            self._require_names(rows.X)
        with rows.named():
            table = self._encode(in_styles(rows.X, self.read_as_.styles), known, learning=True)
            if table.shape[0] != len(rows.y):
                raise inconsistent_lengths(table.shape[0], len(rows.y))
            labels = encode_labels(rows.y, classes, counted=counted)
            counted_classes = ClassCounts.of(labels, rows.weight)
            return Sums(counted_classes, self._count(table, labels, rows.weight), self._seen(table))

    def _keep(self, sums: Sums[Any], X: Any, first: bool) -> Self:
        """Accept new sums, all at once: a refused call leaves the model as it was."""
        self._require_parameters(sums)
        if not vars(self).get("force_alpha", True):
            warn_of_small_alpha(vars(self)["alpha"])
        if first:
            self._library = note_columns(self, X)
            for name in ("calibration_", *self._fixed_by_fit):
                self.__dict__.pop(name, None)
        elif self._is_calibrated:
            self.calibration_ = as_stale(self.calibration_, self.statistics_.classes, sums.classes)
        return self._adopt(sums)

    def _adopt(self, sums: Sums[Any]) -> Self:
        self.statistics_ = sums
        self.classes_ = sums.classes.labels
        self._memo: dict[str, tuple[Sequence[Any], Any]] = {}
        return self

    # ------------------------------------------------------------------ the class prior

    @property
    def class_log_prior_(self) -> Array:
        """Logarithm of P(class)."""
        return self._log_prior(self.statistics_)

    @property
    def class_count_(self) -> Array:
        """Weight of the rows of each class."""
        return self.statistics_.class_count.count.astype(np.float64)

    @property
    def _class_counts(self) -> ClassCounts:
        return self.statistics_.class_count

    def _prior(self, sums: Sums[Any]) -> Prior:
        """Give the class prior, or refuse probabilities and pseudo-counts that are none."""
        counted, weights = sums.class_count, self._prior_weights(sums)
        return class_prior_of(self, counted.count, self._class_smoothing, weights, self._prior_name)

    @property
    def _class_smoothing(self) -> PseudoCounts:
        """Give the pseudo-counts of the class prior."""
        return PseudoCounts("laplace", checked_class_alpha(vars(self).get("class_alpha", 0.0)))

    def _prior_weights(self, sums: Sums[Any]) -> ClassWeights | None:
        """Give the weights by which classes count in the prior."""
        return ClassWeights.of(self.class_weight, sums.class_count.classes)

    def _log_prior(self, sums: Sums[Any]) -> Array:
        return self._prior(sums).log

    def _priors(self) -> Priors:
        log_prior, prior = self._joint().log_prior, self._prior(self.statistics_)
        if prior.is_counted:
            return Priors(log_prior, log_prior)
        if prior.given is None and np.isfinite(prior.counted).all():  # weighed
            return Priors(log_prior, prior.counted)
        count = self.statistics_.class_count.count + 1.0
        return Priors(log_prior, np.log(count / count.sum()))

    # ------------------------------------------------------------------ reading parameters off the sums

    def _table(self, X: Any) -> Any:
        """Read rows to predict; only where the model or the rows have names are they compared."""
        note_call()
        X = materialised(X)
        self._require_names(X)
        return self._encode(in_styles(X, self.read_as_.styles), self.statistics_, learning=False)

    def _joint(self) -> Any:
        """Read the parameters off the sums, once for each setting; of what kind they are, each model knows."""
        self._require_fitted()
        setting = [value for name, value in self.__dict__.items() if name[0] != "_" != name[-1]]
        return self._once("joint", setting, self._read_checked)

    def _read_checked(self) -> Any:
        self._require_parameters(self.statistics_)
        return self._read(self.statistics_)

    def _once(self, name: str, sources: Sequence[Any], read: Callable[[], Found]) -> Found:
        """Give what is read off some objects, and read it again only where they are others than the last time."""
        memo = self.__dict__.setdefault("_memo", {})
        known, found = memo.get(name, (None, None))
        if known is None or not all(map(operator.is_, sources, known)):
            memo[name] = sources, (found := read())
        return found

    def _joint_without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        self._joint()  # parameters are checked
        likelihood, prior = self._likelihood_without(table, labels, removed), self._prior(self.statistics_)

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            log_prior = prior.without(labels.codes[rows], removed[rows])
            return log_prior + likelihood(rows, use_loop), log_prior

        return log_joint

    def to_linear(self) -> LinearForm:
        """Write the posterior as softmax(W x + b), where the log-odds are linear in the features.

        Returns
        -------
        LinearForm
            The weights W, the intercepts b, and the features x of rows.

        Raises
        ------
        ParameterError
            Where they are not, as with variances that differ between classes.

        See Also
        --------
        to_logistic_regression : Give scikit-learn's `LogisticRegression` with the weights of `to_linear`.

        Examples
        --------
        >>> from bayeswater import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
        >>> model.to_linear().weights.round(2)
        array([[ 1.1 ,  0.  ],
               [-0.69,  0.69]])
        """
        self._require_fitted()
        if self._is_calibrated:
            raise calibrated_has_none("a line")
        return linear_form(self._line(), self._joint().log_prior, self.classes_, self._table)

    def _line(self) -> Line:
        """Give the log-likelihoods as a line in features of the columns, or say why they are none."""
        raise ParameterError(
            f"the log-odds of {type(self).__name__} are not linear, because variances differ between classes; "
            "use GaussianClassifier(covariance='shared_diagonal')"
        )

    def to_logistic_regression(self, X: Any = None, y: Any = None, **settings: Any) -> Any:
        """Give scikit-learn's `LogisticRegression` with the weights of `to_linear`, fitted on from there with X and y.

        Parameters
        ----------
        X, y : rows and labels, optional
            Rows to go on fitting with.
        **settings : keywords
            Parameters of `LogisticRegression`.

        Returns
        -------
        LogisticRegression
            It takes the features as numbers: what ``to_linear().design(X)`` gives.

        See Also
        --------
        to_linear : Write the posterior as softmax(W x + b), where the log-odds are linear in the features.

        Examples
        --------
        >>> from bayeswater import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
        >>> model.to_logistic_regression().classes_
        array(['a', 'b'], dtype='<U1')
        """
        return self.to_linear().to_logistic_regression(X, y, **settings)

    def sample(self, n: int = 1, *, random_state: Any = None) -> tuple[Any, Array]:
        """Draw rows, in the form and the types that `fit` was given, and their classes.

        Numbers of bins are drawn evenly within them, a text comes as its bag of words, and a column that was left out
        is empty.

        Parameters
        ----------
        n : int, default 1
            Number of rows.
        random_state : int, generator or None, default None
            Seed.

        Returns
        -------
        X : table of shape (n, n_columns)
            Rows.
        y : array of shape (n,)
            Their classes.

        See Also
        --------
        tables : Give what was learned, as labelled frames.

        Examples
        --------
        >>> from bayeswater import GaussianNB
        >>> X, y = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]).sample(3)
        >>> X.shape, y.shape
        ((3, 1), (3,))
        """
        rng, codes = draw_classes(self._joint().log_prior, n, random_state)
        return self._draw(codes, rng), self.classes_[codes]

    def _draw(self, codes: Array, rng: np.random.Generator) -> Any:
        """Draw a row of each of some classes (n,)."""
        raise NotImplementedError

    def _class_table(self) -> Any:
        prior = np.exp(self._joint().log_prior)
        return write_frame({"class": self.classes_, "count": self.class_count_, "probability": prior}, self._library)

    def _like_fitted(self, values: Array) -> Any:
        """Give rows the form of those that `fit` was given."""
        if self._library is None:
            return values
        return write_frame(dict(zip(self._column_names(), values.T, strict=True)), self._library)

    def _require_fitted(self) -> None:
        if "statistics_" not in self.__dict__:
            check_is_fitted(self)

    def __getattr__(self, name: str) -> Any:
        """Say of what a fit brings that there has been none."""
        is_learned = (name[-1] == "_" and name[0] != "_") or hasattr(type(self), name)
        if is_learned and "statistics_" not in self.__dict__:
            check_is_fitted(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in self._not_sent}


Model = TypeVar("Model", bound=OnSums)


def with_sums(model: Model, sums: Sums[Any]) -> Model:
    """Let a model that has learned nothing be one that has counted these sums, if its parameters go with them."""
    model._require_parameters(sums)
    return model._adopt(sums)


def of_other_rows(model: Model, sums: Sums[Any]) -> Model:
    """Give a model that reads rows as a fitted one does, and has counted these sums."""
    return with_sums(model._like_self(), sums)


def sums_of(model: OnSums, X: Any, y: Any, classes: Variable | None = None) -> Sums[Any]:
    """Sum rows as a fitted model reads them; classes are those that are given, or any."""
    model._require_fitted()
    return model._sums_of(X, y, None, classes, model.statistics_)


def sums_read_alike(a: Model, b: Model) -> tuple[Sums[Any], Sums[Any]]:
    """Give the sums of two fitted models of one kind that read cells alike, or say that they do not."""
    for model in (a, b):
        model._require_fitted()
    return a._sums_read_alike(b)
