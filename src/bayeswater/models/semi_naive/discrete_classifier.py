"""`DiscreteClassifier`: what the classifiers on a table of states have in common (SPODE, TAN, AODE and their like).

Every column has states: categories as they are, numbers in bins. `fit` walks the road:

    plan   = plan_discrete(raw, labels)     data         how each column is read; cuts of numbers, by the labels too
    table  = code_columns(raw, plan)        data         codes side by side
    sums   = PairCounts.of(table, labels)   statistics   what the model keeps, and all it keeps
    joint  = self._read(sums)               estimate     probabilities, laid out for looking them up

The plan is fixed by the first fit. Which columns depend on which is read again from the sums whenever they change,
unless choosing it took a look at the rows: then `fit` decides, and `structure_` says what.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from bayeswater.data.column_plan import ColumnPlan
from bayeswater.data.discrete_table import DiscreteTable
from bayeswater.data.discretising.finding import METHODS
from bayeswater.data.drawn_table import drawn_table
from bayeswater.data.frames import Alongside, held, index_of, is_frame
from bayeswater.data.labels import CheckedLabels, Labels, declared_classes, encode_labels
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.estimate.class_prior import checked_class_prior
from bayeswater.estimate.empty_cells import empty_is_state
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.estimate.pseudo_counts import PseudoCounts
from bayeswater.explain.pair_explanations import PairExplanations
from bayeswater.families.family import Settings
from bayeswater.families.planning import warn_of_empty_states
from bayeswater.families.registry import families_of
from bayeswater.families.settings import settings_of
from bayeswater.families.states import StateFamily
from bayeswater.inference.prior import Prior
from bayeswater.inference.scoring import JointWithout
from bayeswater.models.batches import Batch, as_triple
from bayeswater.models.calibrating import CalibratingClassifier
from bayeswater.models.held_out import Part
from bayeswater.models.linear_form import LinearForm
from bayeswater.models.semi_naive.discrete_encoding import code_columns, planned_table, read_columns
from bayeswater.models.semi_naive.discrete_planning import cut_by_labels, warn_of_sparse_columns
from bayeswater.models.semi_naive.state_rows import StateRows
from bayeswater.models.semi_naive.walking import counted, gathered, walk_over_states
from bayeswater.models.settings import require_flag, require_missing_rule, require_unseen_rule
from bayeswater.models.streaming.examples import Batches, Examples
from bayeswater.models.streaming.walking import Walk, walked
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

PAIRS = "pairs"
"""Name of the group of sums that counts pairs of columns."""


class DiscreteClassifier(CalibratingClassifier):
    """A classifier on columns of states, whose sums are counts."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    # ------------------------------------------------------------------ what each model says for itself

    def _counted(self, rows: StateRows) -> dict[str, Statistic]:
        """Statistics: the groups of sums over some rows."""
        return {PAIRS: PairCounts.of(rows.table.coded, rows.labels, rows.weight)}

    def _chosen(self, sums: Sums[ColumnGroups], rows: StateRows) -> Any:
        """Structure that only a look at the rows can choose; None where it is read from the sums."""
        return None

    def _structure(self, sums: Sums[ColumnGroups]) -> Any:
        """Who depends on whom: as the fit chose, or read from the sums."""
        return self.__dict__.get("structure_")

    def _can_be_structure(self, structure: Any, sums: Sums[ColumnGroups]) -> bool:
        """Tell whether a structure, perhaps from a file, is one that a fit can choose."""
        return structure is None

    def _learns_structure(self) -> bool:
        """Tell whether the labels choose which column depends on which."""
        return False

    @property
    def _finds_parents(self) -> bool:
        """Whether the parents of columns are found by what columns tell of each other."""
        return False

    @property
    def _chooses_by_rows(self) -> bool:
        """Whether only a look at the rows can choose the structure."""
        return False

    def _most_judges(self, sums: Sums[ColumnGroups]) -> int:
        """How many kinds of rows choose the structure, at most."""
        raise AssertionError("no rows choose the structure")

    def _sums_like(self, chosen_by: Sums[ColumnGroups], rows: StateRows) -> Sums[ColumnGroups]:
        """Count rows for the structure that the rows of other sums chose, where counts depend on it."""
        return self._sums_of_rows(rows)

    @abstractmethod
    def _read_with(self, sums: Sums[ColumnGroups], structure: Any) -> Any:
        """Estimate: read parameters off the sums for a structure; a `Joint` that can also score without a row."""

    # ------------------------------------------------------------------ learning

    _fixed_by_fit = ("structure_",)

    def _fit_at_once(self, X: Any, y: Any, sample_weight: Any) -> Self:
        return self._fit(X, y, sample_weight, None)

    def fit_batches(self, batches: Iterable[Batch]) -> Self:
        """Learn from a table that comes in pieces, each read and then let go, as often as `fit` reads a source.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
        """
        examples = Batches(batches, type(self).__name__)
        if isinstance(batches, Sequence) and len(batches) == 1:
            return self.fit(*as_triple(batches[0]))
        return walked(self._walk(examples), examples)

    def _walk(self, examples: Examples) -> Walk[Self]:
        return walk_over_states(self, examples)

    def _counting_walk(self, plan: ColumnPlan, part: Part | None) -> Walk[tuple[Any, Any]]:
        """Count all rows, and those that choose the structure."""
        then = "calibrate=True reads the rows twice" if self.calibrate else ""
        if self._chooses_by_rows:
            then = "the structure is chosen by leaving rows out, so that rows are read twice"
        found = yield from counted(self, plan, self._sums_of_rows, part, then)
        return found.parts

    def _choosing_walk(self, plan: ColumnPlan, sums: Sums[ColumnGroups], part: Part | None) -> Walk[Any]:
        """Choose the structure that only a look at the rows can choose, by rows that are gathered."""
        if not self._chooses_by_rows:
            return None
        kinds = yield from gathered(self, sums, part, self._most_judges(sums))
        assert kinds is not None  # they have been counted
        return self._chosen(sums, kinds.rows(plan, self._pairs(sums).schema, sums.classes))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows, which may bring new classes and categories.

        The first call decides how each column is read, as `fit` does.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : labels, optional
            Classes that there are although no row has them yet.
        """
        declared = None if classes is None else declared_classes(classes)
        if not hasattr(self, "statistics_"):
            rows = self._rows_that_count(X, y, sample_weight)
            with rows.named():
                return self._fit(*rows.triple, declared)
        X = held(X)
        sums = self.statistics_ + self._sums_of(X, y, sample_weight, None, self.statistics_)
        return self._keep(sums if declared is None else sums.with_classes(declared), X, first=False)

    def _fit(self, X: Any, y: CheckedLabels, weight: Array | None, classes: Variable | None) -> Self:
        """Learn from rows that all count; `classes` are declared beforehand."""
        if self.calibrate:
            examples = Batches([(X, y, weight)], type(self).__name__)
            return walked(walk_over_states(self, examples, classes), examples)
        self._require_reading_parameters()
        labels = encode_labels(y)
        if classes is not None:
            labels = encode_labels(y, labels.variable.union(classes))
        rows = StateRows(planned_table(X, labels, weight, self._settings, self.discretize), labels, weight)
        sums = self._sums_of_rows(rows)
        self._keep_chosen(sums, self._chosen(sums, rows), X)
        return self

    def _keep_chosen(self, sums: Sums[ColumnGroups], structure: Any, X: Any) -> None:
        """Accept the sums of a first fit, and the structure that it chose, if it did."""
        self._keep(sums, X, first=True)
        if structure is not None:
            self.structure_ = structure
        estimate = self._estimate(sums)
        if self._finds_parents:
            warn_of_sparse_columns(estimate.states)
        if self.missing != "state":
            names = estimate.counts.schema.names
            warn_of_empty_states(
                [name for name, is_state in zip(names, estimate.empty_is_state, strict=True) if is_state]
            )

    @property
    def _was_chosen_by_labels(self) -> bool:
        """Whether the labels of the rows had a say in cuts or structure."""
        return self._learns_structure() or bool(cut_by_labels(self.columns_, self._settings, self.discretize))

    def _sums_of_rows(self, rows: StateRows) -> Sums[ColumnGroups]:
        return Sums(ClassCounts.of(rows.labels, rows.weight), self._count(rows.table, rows.labels, rows.weight))

    # ------------------------------------------------------------------ the road

    @property
    def _settings(self) -> Settings:
        return settings_of(self)

    def _encode(self, X: Any, known: Sums[ColumnGroups] | None, *, learning: bool) -> DiscreteTable:
        self._require_reading_parameters()
        assert known is not None  # the first fit plans its table
        settings, plan = self._settings, known.columns.plan
        raw = read_columns(X, settings.model).require_columns(plan.sources, settings.model)
        return code_columns(raw, plan, self._pairs(known).singles, settings, learning=learning)

    def _count(self, table: DiscreteTable, labels: Labels, weight: Array | None) -> ColumnGroups:
        return ColumnGroups(labels.variable, table.plan, self._counted(StateRows(table, labels, weight)))

    def _read(self, sums: Sums[ColumnGroups]) -> Any:
        return self._read_with(sums, self._structure(sums))

    def _joint(self) -> Any:
        """Read the parameters off the sums; of what kind the joint is, each model knows."""
        return super()._joint()

    def _known_cells(self, table: DiscreteTable) -> Array:
        return self._known_in(table, self.statistics_)

    def _known_in(self, table: DiscreteTable, sums: Sums[ColumnGroups]) -> Array:
        """Count the known cells of each row, by sums that tell where a missing cell is a state: (n_rows,)."""
        return table.known_cells(self._estimate(sums).missing_is_state)

    def _likelihood_without(self, table: DiscreteTable, labels: Labels, removed: Array) -> Any:
        raise AssertionError("the class is counted together with a column: joints are scored in one piece")

    def _joint_without(self, table: DiscreteTable, labels: Labels, removed: Array) -> JointWithout:
        without: JointWithout = self._joint().without(table, labels, removed)
        return without

    @staticmethod
    def _pairs(sums: Sums[ColumnGroups]) -> PairCounts:
        pairs = sums.columns.groups[PAIRS]
        assert isinstance(pairs, PairCounts)
        return pairs

    @property
    def _smoothing(self) -> PseudoCounts:
        return PseudoCounts(self.smoothing, self.alpha)

    def _estimate(self, sums: Sums[ColumnGroups]) -> PairEstimate:
        return self._estimate_of(self._pairs(sums))

    def _estimate_of(self, pairs: PairCounts) -> PairEstimate:
        return PairEstimate(pairs, self._smoothing, empty_is_state(pairs, self.missing))

    def _prior(self, sums: Sums[ColumnGroups]) -> Prior:
        given = checked_class_prior(self.class_prior, sums.classes.n_states, self._prior_name)
        return Prior.of(sums.class_count.count, self._smoothing, given)

    def _log_prior(self, sums: Sums[ColumnGroups]) -> Array:
        return self._prior(sums).log

    # ------------------------------------------------------------------ what holds of the parameters

    def _require_parameters(self, sums: Sums[ColumnGroups]) -> None:
        checked_class_prior(self.class_prior, sums.classes.n_states, self._prior_name)
        self._require_reading_parameters()

    def _require_reading_parameters(self) -> None:
        """Refuse parameters that are out of range, before anything is read."""
        require_missing_rule(self.missing, ("ignore", "state", "error"))
        require_unseen_rule(self.unseen)
        if self.discretize not in METHODS:
            raise ParameterError(f"discretize is {self.discretize!r}; it can be one of {[*METHODS]}")
        require_flag(self.calibrate, "calibrate")
        self._smoothing  # noqa: B018 (refuses what is none)

    def _require_names(self, X: Any) -> None:
        """Compare names where they do not find their column: in arrays."""
        if not is_frame(X):
            super()._require_names(X)

    # ------------------------------------------------------------------ what was learned

    def explain(self, X: Any, against: Any = None) -> PairExplanations:
        """Say for each row why it gets its class rather than another.

        Parameters
        ----------
        X : rows
        against : label, or one label for each row, optional
            The class to compare with; default the runner-up.

        Returns
        -------
        PairExplanations
            For each row the exact contribution of every column to the log-odds, and with ``.pairs(row)`` those of every
            column under each of its parents. Print it, or take ``.contributions`` and ``.to_frame()``.
        """
        X = held(X)
        joint, table = self._joint(), self._table(X)
        raw = read_columns(X, type(self).__name__).require_columns(table.plan.sources, type(self).__name__)
        verdicts = self._decided(joint, table).compared(against, self.statistics_.classes)
        alongside = Alongside(self._library, index_of(X))
        decisions = self._decisions(self._known_cells(table))
        return PairExplanations.of_pairs(joint, table, raw, verdicts, decisions, self.classes_, alongside)

    def sample(self, n: int = 1, *, random_state: Any = None) -> tuple[Any, Array]:
        """Draw rows, in the form and the types that `fit` was given, and their classes (n,).

        Numbers are drawn evenly within their bins, and a column that was left out is empty.
        """
        rng, codes = self._sample_classes(n, random_state)
        states = self._joint().draw(codes, rng)
        plan, singles = self.columns_, self._pairs(self.statistics_).singles
        place = {column.name: j for j, column in enumerate(plan.used)}
        drawn: dict[str, Any] = {}
        for part in families_of(plan).values():
            assert isinstance(part, StateFamily)
            own = singles.take([place[name] for name in part.names])
            drawn |= {name: part.drawn(own, j, states[:, place[name]], rng) for j, name in enumerate(part.names)}
        cells = {name: drawn.get(name, np.full(n, np.nan)) for name in plan.sources}
        return drawn_table(cells, {column.name: column.dtype for column in plan}, self._library), self.classes_[codes]

    def to_linear(self) -> LinearForm:
        """Refuse: what a cell says depends on other cells, so the log-odds are no line."""
        raise ParameterError(
            f"the log-odds of {type(self).__name__} are no line: what a cell says depends on those beside it. "
            "NaiveBayes and CategoricalNB have one"
        )

    @property
    def columns_(self) -> ColumnPlan:
        """Family of each column, and why."""
        return self.statistics_.columns.plan
