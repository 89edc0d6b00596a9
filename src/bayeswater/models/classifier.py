"""`CountingClassifier`: what every classifier on sums has in common.

`fit` reads as the road of the data: labels and table are coded, summed, and the sums kept. `predict` reads
parameters off the sums (once for each setting of the parameters), scores the rows and decides. Nothing is kept
of the rows.
"""

import operator
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from bayeswater.data.counted_rows import CountedRows, required_labels
from bayeswater.data.frames import held, library_of, write_frame
from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.matrix import column_name
from bayeswater.data.variable import Variable
from bayeswater.data.weights import checked_weight, inconsistent_lengths
from bayeswater.errors import StatisticsError
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import Joint, JointWithout, score_blocks
from bayeswater.models.batches import as_triple
from bayeswater.models.counted_prior import CountedPrior
from bayeswater.models.drawing import draw_classes
from bayeswater.models.linear_form import LinearForm
from bayeswater.models.scoring_classifier import ScoringClassifier
from bayeswater.models.settings import agreed_classes
from bayeswater.models.streaming.counting import Counting
from bayeswater.models.streaming.examples import Examples
from bayeswater.models.streaming.fitting import fit_source, require_no_checkpoint
from bayeswater.models.streaming.walking import Pass, Walk
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.seen_ranges import SeenRanges
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


class CountingClassifier(CountedPrior, ScoringClassifier):
    """A classifier whose whole state is a sum over rows."""

    # ------------------------------------------------------------------ what each model says for itself

    _grouped_as: str | None = None
    """What its sums can be read off where a place of rows groups them by itself: "margins", "spreads", or nothing."""

    @abstractmethod
    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> Any:
        """Data: read X as the table this model counts and scores, in the domains of the sums that are `known`."""

    @abstractmethod
    def _count(self, table: Any, labels: Labels, weight: Array | None) -> Statistic:
        """Statistics: sum the rows of a table."""

    @abstractmethod
    def _read(self, sums: Sums[Any]) -> Joint:
        """Estimate: read parameters off the sums, ready for scoring."""

    @abstractmethod
    def _likelihood_without(self, table: Any, labels: Labels, removed: Array) -> Any:
        """Leave-one-out: a function that gives the log-likelihoods of some rows, each taken out of the sums."""

    def _require_parameters(self, sums: Sums[Any]) -> None:
        """Refuse parameters that are out of range, before anything is changed."""
        self._require_prior(sums.classes.n_states)

    def _warn_of_parameters(self) -> None:
        """Say, once a fit, where parameters are not taken as given."""

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
        sample_weight : weights of shape (n_rows,), or with `target` the name of a column, optional
            A row of weight w counts as w equal rows; one of weight 0 has no influence at all.
        target : str, optional
            Name of the column of X that holds the labels, in the place of y. Rows without a label are left out.
        checkpoint : path, optional
            File in which what was counted of a source is kept from time to time. Where it is there already, counting
            goes on from it, and ends with the same model; in the end it is removed.
        progress : bool or callable, optional
            Whether to show how far reading a source has come, or a function that is told (see `Progress`).

        Notes
        -----
        The kinds of columns, and how a text is read, are told by the first rows of a source: 100,000, or fewer of a
        wide table. All else is decided by all rows. They are read once to count them, and once more

        - to see where numbers are cut, by models of tables of states (`AODE` and its like), unless `columns` says it,
          and again near the cuts of columns with more than 16,384 different numbers
        - for every choice that counts alone cannot make: the parents of `KDB` and `SKDB`, the columns of `SKDB` and of
          `AODE` with ``select=True``, the super-parent of `SPODE`, ``shrinkage="auto"``
        - for ``calibrate=True``
        """
        if target is not None:
            return fit_source(self, X, y, sample_weight, target, checkpoint, progress)
        require_no_checkpoint(checkpoint)
        rows = self._rows_that_count(X, y, sample_weight)
        with rows.named():
            return self._fit_at_once(*rows.triple)

    def _fit_at_once(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from rows that are in memory, and all count."""
        return self._keep(self._sums_of(X, y, sample_weight), X, first=True)

    def _walk(self, examples: Examples) -> Walk[Self]:
        """Learn from a source, pass by pass."""
        sums = yield Pass(Counting(clone(self)))
        return self._keep(sums, examples.columns_of_X, first=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same, to the bit for counts, as one `fit` on all rows.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : labels of shape (n_classes,)
            All classes there will be; needed in the first call and free to omit later.
        """
        X = held(X)
        first = not hasattr(self, "statistics_")
        known = self._known_classes(classes, first)
        new = self._sums_of(X, y, sample_weight, known, None if first else self.statistics_)
        return self._keep(new if first else self.statistics_ + new, X, first)

    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, remaining: tuple[Any, ...] | None = None) -> Self:
        """Take rows out again: the sums become those of a fit that never saw them.

        Parameters
        ----------
        X, y, sample_weight : rows that were counted, with the weight they were counted with
        remaining : (X, y) or (X, y, sample_weight), optional
            The rows that stay. Only needed when a subtraction would lose digits; it then recounts that class.
        """
        self._require_fitted()
        sums = self.statistics_
        old = self._sums_of(X, y, sample_weight, sums.classes, sums, counted=True)
        rest = None
        if remaining is not None:
            rest = self._sums_of(*as_triple(remaining, "remaining"), sums.classes, sums, counted=True)
        remaining_sums = sums.minus(old, rest)
        vanished = [label for label in sums.classes.states if label not in remaining_sums.classes.code_of]
        if vanished and self._given_prior is not None:
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
        self._require_fitted()
        other._require_fitted()
        self._require_same_reading(other)
        result, sums = self._like_self(), operation(self.statistics_, other.statistics_)
        result._require_parameters(sums)
        return result._adopt(sums)

    _fixed_by_fit: tuple[str, ...] = ()
    """Names of what the first fit chose, and further rows do not move."""

    def _like_self(self) -> Self:
        """Make a model without sums that has the parameters of this one, its columns, and what its fit has fixed."""
        new: Self = clone(self)
        for name in ("n_features_in_", "feature_names_in_", "_library", *self._fixed_by_fit):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name])
        return new

    def _require_same_reading(self, other: Self) -> None:
        """Refuse to combine models that read the same cell differently."""

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
        """Walk the first half of the road: data, then statistics; rows that join `known` sums have their columns."""
        X = held(X)
        if known is not None and known is self.__dict__.get("statistics_"):  # not those of a fit that is under way
            self._require_names(X)
        rows = self._rows_that_count(X, y, sample_weight)
        with rows.named():
            table = self._encode(rows.X, known, learning=True)
            if table.shape[0] != len(rows.y):
                raise inconsistent_lengths(table.shape[0], len(rows.y))
            labels = encode_labels(rows.y, classes, counted=counted)
            counted_classes = ClassCounts.of(labels, rows.weight)
            return Sums(counted_classes, self._count(table, labels, rows.weight), self._seen(table))

    def _seen(self, table: Any) -> SeenRanges:
        """Find from where to where numbers are, where explanations ask for it."""
        return SeenRanges()

    def _rows_that_count(self, X: Any, y: Any, sample_weight: Any) -> CountedRows:
        """Check labels and weights, and take the rows of weight zero out."""
        return CountedRows.of(X, y, sample_weight, type(self).__name__)

    def _known_classes(self, classes: Any, first: bool) -> Variable | None:
        """Classes by which the rows of a `partial_fit` are read; None lets any in."""
        return agreed_classes(classes, None if first else self.statistics_.classes)

    def _keep(self, sums: Sums[Any], X: Any, first: bool) -> Self:
        """Accept new sums, all at once: a refused call leaves the model as it was."""
        self._require_parameters(sums)
        self._warn_of_parameters()
        if first:
            self._note_columns(X)
            self._library = library_of(X)
            for name in self._fixed_by_fit:
                self.__dict__.pop(name, None)
        return self._adopt(sums)

    def _adopt(self, sums: Sums[Any]) -> Self:
        self.statistics_ = sums
        self.classes_ = sums.classes.labels
        self._memo: dict[str, Any] = {}
        return self

    # ------------------------------------------------------------------ predicting

    def loo_predict_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Log posterior of rows that were counted, each against the sums without it: (n_rows, n_classes).

        Equals n refits, each without one row, at the price of a few predictions. A row of weight w stands for w
        equal ones: one of them is left out. What decides how rows are read is held fixed, as all rows decided it:
        classes, domains of categories, families of columns, cuts of bins, vocabulary and weights of words, and
        smoothing that was chosen automatically. So are parameters that were given, a class prior among them.
        """
        self._require_fitted()
        labels = encode_labels(required_labels(y, type(self).__name__), self.statistics_.classes, counted=True)
        removed = removed_weight(checked_weight(sample_weight, len(labels.codes)), len(labels.codes))
        return self._log_proba_without(self._table(X), labels, removed)

    def _log_proba_without(self, table: Any, labels: Labels, removed: Array) -> Array:
        """Log posterior of rows, each taken out of the sums with a weight of its own: (n_rows, n_classes)."""
        if table.shape[0] != len(labels.codes):
            raise inconsistent_lengths(table.shape[0], len(labels.codes))
        counts = self.statistics_.class_count.count
        if (counts[np.unique(labels.codes)] == 0).any():
            raise StatisticsError("y names a class of which no row was counted; give rows that the model has seen")
        return score_blocks(self._joint_without(table, labels, removed), table, log_posterior)

    def _joint_without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        """Give a function of some rows: their log-joints, each row taken out of the sums, and the prior without it."""
        likelihood = self._likelihood_without(table, labels, removed)
        log_prior = self._joint().log_prior

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            prior = self._log_prior_without(log_prior, labels.codes[rows], removed[rows])
            return prior + likelihood(rows, use_loop), prior

        return log_joint

    def _table(self, X: Any) -> Any:
        """Read rows to predict; only where the model or the rows have names are they compared."""
        X = held(X)
        self._require_names(X)
        return self._encode(X, self.statistics_, learning=False)

    def _joint(self) -> Joint:
        """Read the parameters off the sums, once for each setting."""
        self._require_fitted()
        setting = [value for name, value in self.__dict__.items() if name[0] != "_" != name[-1]]
        known, joint = self._memo.get("read", ((), None))
        if joint is None or not all(map(operator.is_, setting, known)):
            self._require_parameters(self.statistics_)
            joint = self._read(self.statistics_)
            self._memo["read"] = (setting, joint)
        return joint

    def _require_fitted(self) -> None:
        if "statistics_" not in self.__dict__:
            check_is_fitted(self)

    # ------------------------------------------------------------------ as a logistic regression

    def to_linear(self) -> LinearForm:
        """Write the posterior as softmax(W x + b), where the log-odds are linear in the features.

        Raises
        ------
        ParameterError
            Where they are not, as with variances that differ between classes.
        """
        self._require_fitted()
        from bayeswater.models.linear_reading import linear_form

        return linear_form(self)

    def to_logistic_regression(self, X: Any = None, y: Any = None, **settings: Any) -> Any:
        """Give scikit-learn's `LogisticRegression` with the weights of `to_linear`, fitted on from there with X and y.

        It takes the features as numbers: what ``to_linear().design(X)`` gives.
        """
        return self.to_linear().to_logistic_regression(X, y, **settings)

    # ------------------------------------------------------------------ housekeeping

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [column_name(names, j) for j in range(self.n_features_in_)]

    def _class_table(self) -> Any:
        return write_frame(
            {
                "class": self.classes_,
                "count": self.class_count_,
                "probability": np.exp(self._joint().log_prior),
            },
            self._library,
        )

    def _sample_classes(self, n: int, random_state: Any) -> tuple[np.random.Generator, Array]:
        """Draw the classes of n rows."""
        self._require_fitted()
        return draw_classes(self._joint().log_prior, n, random_state)

    def _like_fitted(self, values: Array) -> Any:
        """Give rows the form of those that `fit` was given."""
        if self._library is None:
            return values
        return write_frame(dict(zip(self._column_names(), values.T, strict=True)), self._library)

    def __getattr__(self, name: str) -> Any:
        """Say of what a fit brings that there has been none."""
        is_learned = (name[-1] == "_" and name[0] != "_") or hasattr(type(self), name)
        if is_learned and "statistics_" not in self.__dict__:
            check_is_fitted(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: {} if name == "_memo" else value for name, value in state.items()}
