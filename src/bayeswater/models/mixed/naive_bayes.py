"""`NaiveBayes`: one model for a real table of numbers, categories, flags, counts, dates and text, with holes in it.

`fit` walks the road with all columns side by side: the table is planned (a family for each column), each group of
columns is encoded and summed by its part, and where a family is still open it is chosen from the sums. From then on the
plan is fixed, and the sums of all parts add and subtract as one.
"""

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from bayeswater.data.column_plan import AUTO, NUMERIC, TEXT, Column, ColumnPlan
from bayeswater.data.drawn_table import drawn_table
from bayeswater.data.frames import held, is_frame, sparse_columns, write_frame
from bayeswater.data.labels import declared_classes, encode_labels
from bayeswater.data.mixed_table import MixedTable
from bayeswater.data.raw_table import COUNTS, read_raw
from bayeswater.data.variable import Variable
from bayeswater.data.weights import evenly_spaced, take_rows
from bayeswater.errors import BayesWarning, DataError, ParameterError, SchemaError, warn_user
from bayeswater.inference.mixed import ColumnTerms, MixedJoint
from bayeswater.models.asking import AskingClassifier, Facts
from bayeswater.models.batches import Batch, as_triple, require_second_reading
from bayeswater.models.calibrating import LeaveOneOut
from bayeswater.models.mixed.column_settings import column_settings, is_smoothing
from bayeswater.models.mixed.explaining import ExplainingClassifier
from bayeswater.models.mixed.facts import mixed_facts
from bayeswater.models.mixed.held_out_cuts import Choosing, rows_held_out, with_cuts
from bayeswater.models.mixed.late_columns import with_late_columns
from bayeswater.models.mixed.parts.grouping import parts_of
from bayeswater.models.mixed.parts.part import Settings
from bayeswater.models.mixed.planning import plan_columns, replan_open
from bayeswater.models.mixed.settling import settle_numbers, settle_text
from bayeswater.models.network.as_network import AsNetwork
from bayeswater.models.settings import require_missing_rule
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array, is_number

COMPARED_ROWS = 20_000
"""Rows of the first batch on which the ways to read a text are compared: evenly spaced, as rows may be sorted."""


class NaiveBayes(AsNetwork, AskingClassifier, ExplainingClassifier):
    """Naive Bayes of a mixed table: log P(k, x) = log P(k) + sum over columns of log P(x_j | k).

    Each column gets a family from its type and values: categorical, Bernoulli, Gaussian, log-normal, Poisson, bins, or
    words of a text. ``columns_`` says which and why.

    Parameters
    ----------
    columns : dict, optional
        What is known better: ``{"age": "binned", "note": "text", "id": "ignored", "coin": {"prior": Beta(2, 8)}}``, or
        the ``columns_`` of another model, to read the table as it does. "mdl" is short for ``{"bins": "mdl"}``: bins
        that tell the classes apart.
    family : {"auto", "gaussian", "lognormal", "poisson", "binned"}, default "auto"
        Family of numbers that `columns` does not name; "auto" takes the one of most evidence.
    alpha : "auto" or float, default "auto"
        Pseudo-count of each state or word; "auto" finds the best one for each column from the sums, 0 is maximum
        likelihood.
    class_alpha : float, default 1
        Pseudo-count of each class in the class prior.
    class_prior : array of shape (n_classes,), optional
        Class probabilities; counted from the rows if not given.
    missing : {"ignore", "state", "error"}, default "ignore"
        What to do with missing cells: leave them out, take them as a state of their own (in categories and bins), or
        refuse them.
    unseen : {"ignore", "error"}, default "ignore"
        What to do at prediction with a category that was never counted: leave it out, with one warning, or refuse.
    variance_floor : float, default 0.01
        Least variance of a number within a class, as a share of its variance over all classes. A class of a few equal
        values would otherwise be certain of itself wherever they stand.
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out.

    Attributes
    ----------
    columns_ : ColumnPlan
        Family of each column and the reason for it; made to be printed.
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    statistics_ : Sums
        The sums that everything is read from.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table(
    ...     {
    ...         "colour": ["red", "red", "green", "green"],
    ...         "weight": [120.0, 140.0, 8.0, None],
    ...         "sweet": [True, True, False, True],
    ...     }
    ... )
    >>> model = NaiveBayes().fit(table, ["apple", "apple", "pea", "pea"])
    >>> model.predict(pa.table({"colour": ["red"], "weight": [None], "sweet": [True]}))
    array(['apple'], dtype='<U5')
    """

    def __init__(
        self,
        *,
        columns: Any = None,
        family: str = AUTO,
        alpha: Any = AUTO,
        class_alpha: float = 1.0,
        class_prior: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        variance_floor: float = 0.01,
        calibrate: bool = False,
    ) -> None:
        self.columns = columns
        self.family = family
        self.alpha = alpha
        self.class_alpha = class_alpha
        self.class_prior = class_prior
        self.missing = missing
        self.unseen = unseen
        self.variance_floor = variance_floor
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows, forgetting what was learned before.

        Parameters
        ----------
        X : data frame (pandas, polars, pyarrow), array or sparse matrix of shape (n_rows, n_columns)
        y : labels of any type, of shape (n_rows,)
        sample_weight : weights of shape (n_rows,), optional
            A row of weight w counts as w equal rows; one of weight 0 has no influence at all.
        """
        return self._fit_batches([(held(X), y, sample_weight)])

    def fit_batches(self, batches: Iterable[Batch]) -> Self:
        """Learn from a table that comes in pieces, each read once and then let go.

        Families of numbers are chosen from the sums of all pieces; kinds of columns, and how a text is read, by the
        first piece that has a value there. With ``calibrate=True`` the pieces are read a second time.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
        """
        return self._fit_batches(batches)

    def _fit_batches(self, batches: Iterable[Batch], classes: Variable | None = None) -> Self:
        if self.calibrate:
            require_second_reading(batches)
        sums, first = None, None
        choosing = Choosing.of(self._settings)
        late: dict[str, Batch] = {}  # columns that have no value in the first batch, and the one in which they have
        for batch in batches:
            X, y, weight = as_triple(batch)
            X = held(X)
            if first is not None:
                _require_same_block(first[0], X)
            if sums is not None and sums.columns.plan.open:
                sums, arrived = self._with_arrived(sums, X, y, weight)
                late |= {column.name: (X, y, weight) for column in arrived if column.family == TEXT}
            new = self._sums_of(X, y, weight, None, sums)
            sums = new if sums is None else sums + new
            if self.calibrate and choosing.names:
                choosing = self._also_choosing(choosing, sums.columns.plan, X, y, weight)
            first = first or (X, y, weight)
        if sums is None or first is None:
            raise DataError("there are no rows to learn from: the batches are empty")
        if classes is not None:
            sums = _with_classes(sums, classes)
        super()._require_parameters(sums)
        for name, shown in late.items():
            sums = self._with_text_settled(sums, [name], *shown)
        self._keep(self._settled(sums, *first), first[0], first=True)
        for column in self.columns_.open:
            warn_user(
                f"column {column.name!r} is left out: {column.why}; it is read once later rows have one, or at once if "
                f"you say how, for example columns={{{column.name!r}: 'categorical'}}",
                BayesWarning,
            )
        if not self.calibrate:
            return self
        profile = sums.columns.groups.get("undecided")
        return self.calibrate_with(
            self._review_of_rest(batches, choosing, profile)
            if isinstance(profile, NumberProfile) and choosing.profile is not None
            else self.leave_one_out(batches)
        )

    def _also_choosing(self, choosing: Choosing, plan: ColumnPlan, X: Any, y: Any, weight: Any) -> Choosing:
        """Let some of these rows choose the cuts that those are scored by which do not."""
        X, flat, weight = self._rows_that_count(X, y, weight)
        name = type(self).__name__
        raw = read_raw(X, name).require_columns(plan.sources, name).with_dates(plan)
        return choosing.with_rows(raw, encode_labels(flat), weight)

    def _review_of_rest(self, batches: Iterable[Batch], choosing: Choosing, profile: NumberProfile) -> LeaveOneOut:
        """Score the rows that had no say in cuts, by those that the other rows chose (`models.mixed.held_out_cuts`)."""
        sums = with_cuts(self.statistics_, profile, choosing.cuts(profile), self._settings)
        rows = (self._rows_that_count(*as_triple(batch)) for batch in batches)
        return copy(self)._adopt(sums).leave_one_out(rows_held_out(rows))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows, which may bring new classes, categories and words.

        The first call decides how each column is read, as `fit` does; for a column that is empty so far, the first one
        that has a value there.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : labels, optional
            Classes that there are although no row has them yet.
        """
        declared = None if classes is None else declared_classes(classes)
        if not hasattr(self, "statistics_"):
            return self._fit_batches([(held(X), y, sample_weight)], declared)
        X, sums = held(X), self.statistics_
        if self.columns_.open:
            self._require_names(X)
            sums, _ = self._with_arrived(sums, X, y, sample_weight)
        sums = self._settled(sums + self._sums_of(X, y, sample_weight, None, sums), X, y, sample_weight)
        return self._keep(sums if declared is None else _with_classes(sums, declared), X, first=False)

    def decay(self, factor: float) -> Self:
        """Let every row counted so far weigh `factor` times what it did, so that newer rows count for more.

        A row that is to be forgotten later has the weight it then has: ``forget(X, y, sample_weight=...)``.
        """
        self._require_fitted()
        if not (is_number(factor) and 0 < factor <= 1):
            raise ParameterError(f"factor is {factor!r}; give a number over 0 and up to 1")
        least = _least_weight(self.statistics_) * float(factor)
        if least < np.finfo(np.float64).tiny:
            raise ParameterError(
                f"factor is {factor!r}, by which a class would count as {least:.3g} rows, less than a float64 can hold "
                "with all its digits; add newer rows of it first, or fit again without it"
            )
        return self._adopt(self.statistics_.scaled(float(factor)))

    def _settled(self, sums: Sums[ColumnGroups], X: Any, y: Any, weight: Any) -> Sums[ColumnGroups]:
        """Choose the families that are still open; for text, by leaving out rows of the first batch."""
        sums = settle_numbers(sums, self._settings, self.family)
        texts = [column.name for column in sums.columns.plan.of_families(TEXT)]
        return self._with_text_settled(sums, texts, X, y, weight)

    def _with_text_settled(
        self, sums: Sums[ColumnGroups], names: Collection[str], X: Any, y: Any, weight: Any
    ) -> Sums[ColumnGroups]:
        """Choose how some texts are read, by leaving out rows of a batch that has them."""
        if not names:
            return sums
        X, flat, weight = self._rows_that_count(X, y, weight)
        compared = evenly_spaced(len(flat), COMPARED_ROWS)
        labels = encode_labels(flat[compared], sums.classes, counted=True)
        rows = take_rows(X, compared), labels, None if weight is None else weight[compared]
        return settle_text(sums, self._settings, *rows, self.class_alpha, names)

    def _with_arrived(
        self, sums: Sums[ColumnGroups], X: Any, y: Any, weight: Any
    ) -> tuple[Sums[ColumnGroups], tuple[Column, ...]]:
        """Open the columns that were empty so far and have a value in these rows."""
        plan, settings = sums.columns.plan, self._settings
        kept, _, _ = self._rows_that_count(X, y, weight)
        raw = read_raw(kept, settings.model).require_columns(plan.sources, settings.model)
        plan, arrived = replan_open(plan, raw, settings.given, self.family)
        return with_late_columns(sums, plan, arrived, settings), arrived

    # ------------------------------------------------------------------ the road

    @property
    def _settings(self) -> Settings:
        return Settings(
            type(self).__name__,
            self.alpha,
            self.variance_floor,
            self.missing,
            self.unseen,
            column_settings(self.columns),
        )

    def _encode(self, X: Any, known: Sums[ColumnGroups] | None, *, learning: bool) -> MixedTable:
        self._require_reading_parameters()
        settings = self._settings
        raw = read_raw(X, settings.model)
        if known is None:
            plan = plan_columns(raw, settings.given, self.family)
        else:
            plan = known.columns.plan
            raw = raw.require_columns(plan.sources, settings.model)
        raw = raw.with_dates(plan)
        groups = {
            key: part.encode(raw, None if known is None else known.columns.groups[key], settings, learning=learning)
            for key, part in parts_of(plan).items()
        }
        return MixedTable(plan, groups, raw.n_rows)

    def _count(self, table: MixedTable, labels: Any, weight: Array | None) -> ColumnGroups:
        parts = parts_of(table.plan)
        groups = {key: part.count(table.groups[key], labels, weight, self._settings) for key, part in parts.items()}
        return ColumnGroups(labels.variable, table.plan, groups)

    def _read(self, sums: Sums[ColumnGroups]) -> MixedJoint:
        return MixedJoint(self._log_prior(sums), self._terms(sums))

    def _terms(self, sums: Sums[ColumnGroups]) -> Mapping[str, ColumnTerms]:
        """Read every part, once for each setting: to choose the smoothing of all columns takes time."""
        settings, memo = self._settings, self.__dict__.setdefault("_memo", {})
        known, setting, terms = memo.get("terms", (None, None, {}))
        if known is not sums or setting != settings:
            parts = parts_of(sums.columns.plan)
            terms = {key: part.read(sums.columns.groups[key], settings) for key, part in parts.items()}
            memo["terms"] = sums, settings, terms
        return terms

    def _adopt(self, sums: Sums[Any]) -> Self:
        read = {name: found for name, found in self.__dict__.get("_memo", {}).items() if name == "terms"}
        super()._adopt(sums)
        self._memo |= read  # they are those of these sums, or will be read again
        return self

    def _likelihood_without(self, table: MixedTable, labels: Any, removed: Array) -> Any:
        joint = self._joint()
        assert isinstance(joint, MixedJoint)
        return joint.without(table, labels, removed)

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        self._require_reading_parameters()
        self._require_same_families(sums.columns.plan)
        self._terms(sums)

    def _require_same_families(self, plan: ColumnPlan) -> None:
        """Refuse families that were told after the rows had been counted in others."""
        for name, said in self._settings.given.items():
            if said.family not in (None, AUTO, TEXT) and plan[name].family != said.family:
                raise ParameterError(
                    f"columns says that {name!r} is {said.family}, but the rows were counted as {plan[name].family}; "
                    "set it back, or fit again"
                )

    def _require_reading_parameters(self) -> None:
        require_missing_rule(self.missing, ("ignore", "state", "error"))
        if self.unseen not in ("ignore", "error"):
            raise ParameterError(f"unseen is {self.unseen!r}; it can be 'ignore' or 'error'")
        if self.family not in (AUTO, *NUMERIC):
            raise ParameterError(f"family is {self.family!r}; it can be one of {[AUTO, *NUMERIC]}")
        if not is_smoothing(self.alpha):
            raise ParameterError(f"alpha is {self.alpha!r}; it must be 'auto' or a number, 0 or more")
        if not (is_number(self.variance_floor) and self.variance_floor > 0):
            raise ParameterError(f"variance_floor is {self.variance_floor!r}; it must be a number over 0")

    def _require_names(self, X: Any) -> None:
        """Compare names where they do not find their column: in arrays, and in a block of sparse columns."""
        if not is_frame(X) or COUNTS in self.columns_.sources:
            super()._require_names(X)

    @property
    def _fit_prior(self) -> bool:
        return True

    # ------------------------------------------------------------------ what could be asked for

    def _facts(self, X: Any) -> Facts:
        plan = self.columns_
        raw = read_raw(X, type(self).__name__).require_columns(plan.sources, type(self).__name__)
        return mixed_facts(self._mixed_joint(), self._columns_of_groups(), plan, raw)

    def _names_to_ask_for(self) -> tuple[str, ...]:
        return self.columns_.sources

    @property
    def _strength(self) -> float:
        return self._decision().slope

    # ------------------------------------------------------------------ what was learned

    @property
    def columns_(self) -> ColumnPlan:
        """Family of each column, and why."""
        return self.statistics_.columns.plan

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and the parameters of each column, as labelled frames by name.

        The prior is called "class", or "(class)" beside a column of that name.
        """
        self._require_fitted()
        plan = self.columns_
        found: dict[str, Any] = {}
        for key, part in parts_of(plan).items():
            found |= part.tables(self.statistics_.columns.groups[key], self._settings, self.classes_.tolist())
        names = [column.name for column in plan.used]
        tables = {"(class)" if "class" in names else "class": self._class_table()}
        return tables | {name: write_frame(found[name], self._library) for name in names}

    def sample(self, n: int = 1, *, random_state: Any = None) -> tuple[Any, Array]:
        """Draw rows, in the form and the types that `fit` was given, and their classes (n,).

        A text comes as its bag of words, and a column that was left out is empty.
        """
        rng, codes = self._sample_classes(n, random_state)
        drawn: dict[str, Any] = {}
        for key, part in parts_of(self.columns_).items():
            drawn |= part.sample(self.statistics_.columns.groups[key], self._settings, codes, rng)
        dtypes = {column.name: column.dtype for column in self.columns_}
        cells = {name: drawn.get(name, np.full(n, np.nan)) for name in self.columns_.sources}
        return self._as_fitted(cells, dtypes), self.classes_[codes]

    def _as_fitted(self, cells: dict[str, Any], dtypes: dict[str, str | None]) -> Any:
        """Give drawn cells the form of the table that `fit` was given."""
        if COUNTS in cells:
            counts = cells.pop(COUNTS)
            if not cells:
                return counts
            raise ParameterError("a frame with sparse columns cannot be drawn; fit the sparse block alone")
        return drawn_table(cells, dtypes, self._library)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, and those of each column."""
        groups = self.statistics_.columns.groups
        return len(self.classes_) - 1 + sum(p.n_parameters(groups[key]) for key, p in parts_of(self.columns_).items())


def _require_same_block(first: Any, X: Any) -> None:
    """Refuse a batch whose sparse columns, which are counted by their place, are others than in the first."""
    if sparse_columns(first) != sparse_columns(X):
        raise SchemaError(
            f"the sparse columns of a batch are {sparse_columns(X)[:10]}, and those of the first "
            f"{sparse_columns(first)[:10]}; give every batch the same ones, in the same order"
        )


def _least_weight(sums: Sums[ColumnGroups]) -> float:
    """Weight of the class that counts for least, among those that have rows."""
    count = sums.class_count.count
    return float(count[count > 0].min())


def _with_classes(sums: Sums[ColumnGroups], classes: Variable) -> Sums[ColumnGroups]:
    """Declare further classes."""
    union = sums.classes.union(classes)
    return Sums(sums.class_count.onto(union), sums.columns.onto(union))
