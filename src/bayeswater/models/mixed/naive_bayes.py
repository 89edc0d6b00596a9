"""`NaiveBayes`: one model for a real table of numbers, categories, flags, counts, dates and text, with holes in it.

`fit` walks the road with all columns side by side: the table is planned (a family for each column), each group of
columns is encoded and summed by its part, and where a family is still open it is chosen from the sums. From then on the
plan is fixed, and the sums of all parts add and subtract as one.
"""

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from bayeswater.data.column_plan import AUTO, NUMERIC, TEXT, Column, ColumnPlan
from bayeswater.data.drawn_table import drawn_table
from bayeswater.data.frames import held, is_frame, sparse_columns, write_frame
from bayeswater.data.labels import CheckedLabels, declared_classes, encode_labels
from bayeswater.data.mixed_table import MixedTable
from bayeswater.data.raw_table import COUNTS, RawTable, read_raw
from bayeswater.data.variable import Variable
from bayeswater.data.weights import evenly_spaced, inconsistent_lengths, take_rows
from bayeswater.decision.scores import Scores
from bayeswater.errors import BayesWarning, ParameterError, warn_user
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.inference.mixed import ColumnTerms, MixedJoint
from bayeswater.models.asking import AskingClassifier, Facts
from bayeswater.models.batches import Batch, as_triple
from bayeswater.models.calibrating import LeaveOneOut
from bayeswater.models.mixed import counting
from bayeswater.models.mixed.column_settings import column_settings, is_smoothing
from bayeswater.models.mixed.counting import NOT_AGREED, MixedCounting, MixedTotal
from bayeswater.models.mixed.explaining import ExplainingClassifier
from bayeswater.models.mixed.facts import mixed_facts
from bayeswater.models.mixed.held_out_cuts import (
    HeldOut,
    chosen_cuts,
    columns_cut_by_labels,
    rows_held_out,
    with_cuts,
)
from bayeswater.models.mixed.late_columns import with_late_columns
from bayeswater.models.mixed.parts.category_part import StatePart
from bayeswater.models.mixed.parts.grouping import parts_of
from bayeswater.models.mixed.parts.part import Settings
from bayeswater.models.mixed.planning import plan_columns, replan_open
from bayeswater.models.mixed.settling import settle_numbers, settle_text
from bayeswater.models.network.as_network import AsNetwork
from bayeswater.models.settings import require_missing_rule
from bayeswater.models.streaming.examples import Batches, Examples, Piece
from bayeswater.models.streaming.reviewing import reviewed
from bayeswater.models.streaming.walking import Pass, Walk, walked
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array, is_number


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

    def _fit_at_once(self, X: Any, y: Any, sample_weight: Any) -> Self:
        return self._learned_from([(X, y, sample_weight)])

    def fit_batches(self, batches: Iterable[Batch]) -> Self:
        """Learn from a table that comes in pieces, each read once and then let go.

        Families of numbers are chosen from the sums of all pieces; kinds of columns, and how a text is read, by the
        first piece that has a value there. With ``calibrate=True`` the pieces are read a second time.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
        """
        return self._learned_from(batches)

    def _learned_from(self, batches: Iterable[Batch], classes: Variable | None = None) -> Self:
        examples = Batches(batches, self._rows_that_count)
        return walked(self._walk(examples, classes), examples)

    def _walk(self, examples: Examples, classes: Variable | None = None) -> Walk[Self]:
        head = examples.head
        cut_by_labels = columns_cut_by_labels(self._settings) if self.calibrate else ()
        plan, raw = self._planned(head)
        read = (head.X, raw) if examples.in_order is not None else None  # elsewhere the first rows come again
        total: MixedTotal = yield Pass(
            MixedCounting(clone(self), plan, tuple(sparse_columns(head.X)), cut_by_labels, read),
            then="calibrate=True reads the rows twice" if self.calibrate else "",
        )
        sums = total.sums
        if classes is not None:
            sums = _with_classes(sums, classes)
        super()._require_parameters(sums)
        for name, shown in total.shown.items():
            if sums.columns.plan[name].family == TEXT:
                sums = self._with_text_settled(sums, [name], *shown)
        self._keep(self._settled(sums, *head[:3]), head.X, first=True)
        self._warn_of_left_out()
        if not self.calibrate:
            return self
        profile = sums.columns.groups.get("undecided")
        if isinstance(profile, NumberProfile) and total.choosing is not None:
            return self.calibrate_with((yield from self._review_of_rest(examples, total.choosing, profile)))
        return self.calibrate_with((yield from reviewed(self, examples)))

    def _planned(self, head: Piece) -> tuple[ColumnPlan, RawTable]:
        """Plan the columns by the first rows."""
        self._require_reading_parameters()
        raw = read_raw(head.X, type(self).__name__)
        if raw.n_rows != len(head.y):
            raise inconsistent_lengths(raw.n_rows, len(head.y))
        return plan_columns(raw, self._settings.given, self.family), raw

    def _warn_of_left_out(self) -> None:
        """Name the columns of which no value was found, or none that could be read."""
        for column in self.columns_:
            if column in self.columns_.open or column.why == NOT_AGREED:
                later = "it is read once later rows have one, or at once if you say how"
                warn_user(
                    f"column {column.name!r} is left out: {column.why}; "
                    f"{'say how it is read' if column.why == NOT_AGREED else later}, for example "
                    f"columns={{{column.name!r}: 'categorical'}}",
                    BayesWarning,
                )

    def _review_of_rest(
        self, examples: Examples, chosen_by: NumberProfile, profile: NumberProfile
    ) -> Walk[LeaveOneOut]:
        """Score the rows that had no say in cuts, by those that the other rows chose (`models.mixed.held_out_cuts`)."""
        sums = with_cuts(self.statistics_, profile, chosen_cuts(chosen_by, profile), self._settings)
        judge = copy(self)._adopt(sums)
        if examples.in_order is not None:
            rows = (self._rows_that_count(*as_triple(batch)) for batch in examples.in_order)
            return judge.leave_one_out(rows_held_out(rows))
        return (yield from reviewed(judge, examples, HeldOut(type(self).__name__, self.columns_)))

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
            return self._learned_from([(held(X), y, sample_weight)], declared)
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
        compared = evenly_spaced(len(flat), counting.COMPARED_ROWS)
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
            as_found=True,
        )

    def _encode(self, X: Any, known: Sums[ColumnGroups] | None, *, learning: bool) -> MixedTable:
        assert known is not None  # the first rows are read by a plan that was made of them
        raw = read_raw(X, type(self).__name__)
        return self._encoded(raw, known.columns.plan, known.columns.groups, learning=learning)

    def _encoded(self, raw: RawTable, plan: ColumnPlan, known: Mapping[str, Any], *, learning: bool) -> MixedTable:
        """Read the columns of a plan, in the domains of the sums that are known."""
        self._require_reading_parameters()
        settings = self._settings
        raw = raw.require_columns(plan.sources, settings.model).with_dates(plan)
        groups = {
            key: part.encode(raw, known.get(key), settings, learning=learning) for key, part in parts_of(plan).items()
        }
        return MixedTable(plan, groups, raw.n_rows)

    def _sums_by_plan(
        self, raw: RawTable, flat: CheckedLabels, weight: Array | None, plan: ColumnPlan
    ) -> Sums[ColumnGroups]:
        """Sum rows that count, by a plan of which nothing is counted yet."""
        if raw.n_rows != len(flat):
            raise inconsistent_lengths(raw.n_rows, len(flat))
        labels, table = encode_labels(flat), self._encoded(raw, plan, {}, learning=True)
        return Sums(ClassCounts.of(labels, weight), self._count(table, labels, weight))

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

    def _scores_of(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Scores, int]:
        """Score counted rows, each taken out of the sums and of the choice of smoothing."""
        return super(NaiveBayes, self._judge())._scores_of(X, y, sample_weight)

    def _judge(self) -> Self:
        """Make a copy of the model that misses each row it leaves out in the choice of its smoothing, too."""
        sums, settings = self.statistics_, self._settings
        terms = dict(self._terms(sums))
        for key, part in parts_of(sums.columns.plan).items():
            read = terms[key]
            if isinstance(part, StatePart) and isinstance(read, CategoryColumns):
                terms[key] = part.without_smoothing(read, settings)
        judge = copy(self)._adopt(sums)
        judge._memo["terms"] = sums, settings, terms
        return judge

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


def _least_weight(sums: Sums[ColumnGroups]) -> float:
    """Weight of the class that counts for least, among those that have rows."""
    count = sums.class_count.count
    return float(count[count > 0].min())


def _with_classes(sums: Sums[ColumnGroups], classes: Variable) -> Sums[ColumnGroups]:
    """Declare further classes."""
    union = sums.classes.union(classes)
    return Sums(sums.class_count.onto(union), sums.columns.onto(union))
