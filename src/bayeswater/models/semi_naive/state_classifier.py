"""`StateClassifier`: what the classifiers on a table of states have in common (SPODE, TAN, AODE and their like).

Every column has states: categories as they are, numbers in bins. `fit` walks the road:

    plan   = plan_discrete(raw, labels)     families     how each column is read; cuts of numbers, by the labels too
    table  = code_columns(raw, plan)        families     codes side by side
    sums   = PairCounts.of(table, labels)   statistics   what the model keeps, and all it keeps
    joint  = self._read(sums)               estimate     probabilities, laid out for looking them up

The plan is fixed by the first fit. Which columns depend on which is read again from the sums whenever they change,
unless choosing it took a look at the rows: then `fit` decides, and `structure_` says what. Where columns have several
parents (`KDB`, `SKDB`), these are found by the counts of pairs, every column is counted with its own, and which they
are is part of the counts: later rows are counted with them, and counts of other parents are refused.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import partial, reduce
from itertools import compress
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from bayeswater import limits
from bayeswater.data.frames import is_frame
from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.reading.coded_table import DiscreteTable
from bayeswater.data.reading.column_plan import ColumnPlan
from bayeswater.data.reading.discretising.finding_cuts import METHODS
from bayeswater.data.reading.raw_table import drawn_rows
from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.data.variable import Variable
from bayeswater.decision.facts import MISSING_IS_STATE
from bayeswater.decision.scores import Scores
from bayeswater.errors import DataError, ParameterError
from bayeswater.estimate.dirichlet import PseudoCounts
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.estimate.smoothing import empty_is_state
from bayeswater.explain.asking import Facts, state_facts
from bayeswater.explain.pair_explanations import PairExplanations
from bayeswater.explain.turning import ExplainedRows
from bayeswater.families.curve import ColumnCurve, state_curve
from bayeswater.families.family import Settings
from bayeswater.families.planning import warn_of_empty_states, warn_of_left_out
from bayeswater.families.registry import state_families_of
from bayeswater.families.settings import settings_of
from bayeswater.families.state_planning import (
    code_columns,
    cut_by_labels,
    planned_table,
    read_columns,
    read_planned,
    warn_of_names_of_rows,
    warn_of_sparse_columns,
)
from bayeswater.families.telling_gaps import warn_of_telling_gaps
from bayeswater.inference.dependence import Dependence
from bayeswater.inference.forest import Forest
from bayeswater.inference.linear import Line
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import JointWithout, score_blocks
from bayeswater.models.calibrating import REVIEWED_ROWS, Review
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.held_out import CellsOf, Fold, folds_of_rows
from bayeswater.models.on_sums import OnSums
from bayeswater.models.semi_naive.cutting import left_out
from bayeswater.models.semi_naive.learning import (
    LearnedStates,
    LearningStart,
    StateRows,
    counted,
    counted_with,
    counts_with_parents,
    gathered,
    pairs_of,
    parents_of,
    sums_of_pairs,
    with_parents,
)
from bayeswater.models.semi_naive.tables import Conditionals, StateNames
from bayeswater.models.settings import require_flag, require_missing_rule, require_unseen_rule
from bayeswater.models.streaming.passes import Examples, Passes, Piece, plus, together
from bayeswater.networks.class_tables import NetworkTables
from bayeswater.statistics.column_groups import FAMILIES, PAIRS, ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import Parents
from bayeswater.statistics.some_pairs import Partners, SomePairs
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.structure.mutual_information import sparse_columns
from bayeswater.typing import Array

ALL = "all"
"""Word for all columns as super-parents."""


class StateClassifier(OnSums, BayesClassifier):
    """A classifier on columns of states, whose sums are counts."""

    _tags = ("categorical", "string")

    def __init__(
        self,
        columns: Any,
        discretize: str,
        alpha: float,
        smoothing: str,
        class_prior: Any,
        class_weight: Any,
        missing: str,
        unseen: str,
        calibrate: bool,
    ) -> None:
        self.columns = columns
        self.discretize = discretize
        self.alpha = alpha
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.missing = missing
        self.unseen = unseen
        self.calibrate = calibrate

    # ------------------------------------------------------------------ what each model says for itself

    @abstractmethod
    def _read_with(self, sums: Sums[ColumnGroups], structure: Any) -> Any:
        """Estimate: read parameters off the sums for a structure; a `Joint` that can also score without a row."""

    def _counts(self, rows: StateRows) -> PairCounts:
        """Statistics: counts of pairs of columns, or more."""
        return PairCounts.of(rows.table.coded, rows.labels, rows.weight)

    def _partners(self, rows: StateRows, singles: SomePairs) -> Partners | None:
        """Pairs of columns that the model reads of rows that are all here; None where it needs all pairs."""
        return None

    def _parents_by(self, pairs: PairCounts, rows: StateRows | None = None) -> Parents | None:
        """Parents that each column is counted with, as given or by what columns tell of each other; None for none.

        Where not all pairs are counted, it is the rows that tell.
        """
        return None

    def _chosen(self, sums: Sums[ColumnGroups], rows: StateRows) -> Any:
        """Structure that only a look at the rows can choose; None where it is read from the sums."""
        return None

    def _structure(self, sums: Sums[ColumnGroups]) -> Any:
        """Who depends on whom: as the fit chose, or read from the sums."""
        return self.__dict__.get("structure_")

    def _can_be_structure(self, structure: Any, sums: Sums[ColumnGroups]) -> bool:
        """Tell whether a structure, perhaps from a file, is one that a fit can choose."""
        return structure is None

    @property
    def _finds_parents(self) -> bool:
        """Whether the parents of columns are found by what columns tell of each other, where they can be given."""
        return self.__dict__.get("parents", ()) is None

    @property
    def _spares_names(self) -> bool:
        """Whether columns that have too many states for their rows are the parent of no other one."""
        return self.__dict__.get("super_parents", ALL) is None

    _way_to_parents = "parents={...}"
    """How a user says that such columns are parents."""

    @property
    def _learns_structure(self) -> bool:
        """Whether the labels choose which column depends on which."""
        return self._finds_parents or self._chooses_by_rows

    _counts_parents: bool = False
    """Whether every column is counted with all its parents, beside the pairs."""

    @property
    def _chooses_by_rows(self) -> bool:
        """Whether only a look at the rows can choose the structure."""
        return False

    def _most_choosing(self, sums: Sums[ColumnGroups]) -> int:
        """How many kinds of rows choose the structure, at most; 0 where a look at them is not needed."""
        return 0

    def _conditionals(self) -> Conditionals:
        """Tables of columns given their parents, where the model is a product of such."""
        joint = self._joint()
        if isinstance(joint, Forest | Dependence):
            return Conditionals.of(joint)
        raise ParameterError(
            f"a {type(self).__name__} is no network of variables with states; give a NaiveBayes, CategoricalNB, TAN, "
            "SPODE, KDB or SKDB: this one is a mean of several networks"
        )

    # ------------------------------------------------------------------ learning

    _fixed_by_fit: tuple[str, ...] = ("structure_",)

    def _passes(self, examples: Examples, classes: Variable | None = None) -> Passes[Self]:
        """Plan a table, count it, choose its structure, calibrate it; `classes` are declared beforehand."""
        self._require_reading_parameters()
        if examples.fits_into_head and not self._rereads:
            with examples.head_named():
                return self._learned_at_once(examples.head, classes)
        settings, head = self._settings, examples.head
        examples.hold_read(partial(read_columns, model=settings.model))
        blank: Self = clone(self)  # goes where pieces are counted, and takes nothing along
        way = LearningStart.of(examples, settings, self.discretize)
        folds: tuple[Fold, ...] = ()
        if self._rereads and (self._learns_structure or way.is_cut_by_labels):
            folds = yield from folds_of_rows(examples, CellsOf(settings.model, way.first.sources))
        ways = [way, *(replace(way, fold=replace(fold, held_out=False)) for fold in folds)]
        learned, *by_others = yield from together(*(blank._learned_states(way, classes) for way in ways))
        if learned is None:
            raise DataError(f"{examples.name}: there are no rows to learn from")
        self._keep_chosen(learned, head.X)
        warn_of_names_of_rows(pairs_of(learned.sums).schema, self.columns_, int(self.class_count_.sum()))
        warn_of_left_out(left_out(self.columns_, way.first, settings))
        if not self._rereads:
            return self
        scorers: list[tuple[Any, Fold | None]] = [*zip(by_others, folds, strict=True)] or [(learned, None)]
        return (yield from self._corrected_by(blank, [(scorer or learned, fold) for scorer, fold in scorers]))

    def _corrected_by(self, blank: Self, scorers: list[tuple[LearnedStates, Fold | None]]) -> Passes[Self]:
        """Calibrate by rows of each fold, which are scored by what the others have learned."""
        reviews = yield from together(*(blank._reviewed(*scorer) for scorer in scorers))
        return self.calibrate_with(reduce(plus, reviews).result())

    def _learned_at_once(self, head: Piece, classes: Variable | None) -> Self:
        """Learn from rows that are all here: cuts are found by sorted numbers, and rows are coded once."""
        X, y, weight = head[:3]
        labels = encode_labels(y)
        if classes is not None:
            labels = encode_labels(y, labels.variable.union(classes))
        rows = StateRows(planned_table(X, labels, weight, self._settings, self.discretize), labels, weight)
        sums = self._sums_of_some(rows) if self._is_wide(rows) else self._sums_of_rows(rows)
        return self._keep_chosen(LearnedStates(sums, self._chosen(sums, rows)), X)

    def _learned_states(self, way: LearningStart, classes: Variable | None) -> Passes[LearnedStates | None]:
        """Learn by the rows that choose; None where there are none."""
        plan = yield from way.planned()
        if plan is None:
            return None
        sums, chosen_by = yield from self._counting_passes(plan, way.fold)
        if chosen_by is None:
            return None
        structure = yield from self._choosing_passes(chosen_by, way.fold)
        if structure is None and way.fold is not None:
            structure = self._structure(chosen_by)
        return LearnedStates(sums if classes is None else sums.with_classes(classes), structure)

    def _counting_passes(self, plan: ColumnPlan, fold: Fold | None) -> Passes[tuple[Any, Any]]:
        """Count all rows and, where a structure is learned, those that choose it; parents are found, then counted."""
        if not (self._finds_parents and self._counts_parents):
            then = self._rereads
            if self._chooses_by_rows:
                then = "the structure is chosen by leaving rows out, so that rows are read twice"
            choosing = fold if self._learns_structure else None
            return (yield from counted(self._settings, plan, self._sums_of_rows, choosing, then))
        again = "calibrate=True reads the rows again" if self._rereads else ""
        then = "parents are chosen by all rows and then counted, so that rows are read twice unless parents= names them"
        pairs, of_fold = yield from counted(self._settings, plan, self._pair_sums, fold, then)
        parents = None if of_fold is None else self._parents_by(pairs_of(of_fold))
        if parents is None:
            return pairs, None
        return (yield from counted_with(self._settings, pairs, of_fold, parents, fold, again))

    def _choosing_passes(self, sums: Sums[ColumnGroups], fold: Fold | None) -> Passes[Any]:
        """Choose the structure that only a look at the rows can choose, by rows that are gathered."""
        if not self._chooses_by_rows:
            return None
        found = yield from gathered(self._settings, sums, fold, self._most_choosing(sums))
        assert found is not None  # they have been counted
        return self._chosen(sums, found[1])

    def _reviewed(self, scorer: LearnedStates, fold: Fold | None) -> Passes[Review | None]:
        """Score the rows of a fold, each left out of the counts of all rows; None where there are none."""
        sums = scorer.sums
        structure = self._structure(sums) if scorer.structure is None else scorer.structure
        joint = self._scoring(self._read_with(sums, structure))
        found = yield from gathered(self._settings, sums, fold, REVIEWED_ROWS)
        if found is None:
            return None
        kinds, rows = found
        is_scored = ~rows.alone(sums.class_count.count)
        log_proba = score_blocks(joint.without(rows.table, rows.labels, rows.removed), rows.table, log_posterior)
        known = rows.table.known_cells(self._estimate(sums).missing_is_state)
        scores = Scores.of(log_proba, rows.labels.codes, rows.weight, known)
        # Equal rows of two folds are scored differently: they are kinds of their own.
        key = hashed(kinds.hash + hash_word(0 if fold is None else fold.number))
        return Review.of(scores.take(is_scored), key[is_scored], int((~is_scored).sum()))

    def _scoring(self, joint: Any) -> Any:
        """Give what posteriors are made of, by a log-joint that was read."""
        return joint

    def _keep_chosen(self, learned: LearnedStates, X: Any) -> Self:
        """Accept the sums of a first fit, and the structure that it chose, if it did."""
        self._keep(learned.sums, X, first=True)
        if learned.structure is not None:
            self.structure_ = learned.structure
        estimate = self._estimate(learned.sums)
        if self._finds_parents or self._spares_names:
            warn_of_sparse_columns(estimate.states, self._way_to_parents, are_alone=self._finds_parents)
        if self.missing != "state":
            warn_of_empty_states(list(compress(estimate.counts.schema.names, estimate.empty_is_state)))
        if self.missing == "ignore":
            warn_of_telling_gaps(learned.sums)
        return self

    # ------------------------------------------------------------------ the road

    @property
    def _settings(self) -> Settings:
        return replace(settings_of(self), unknown=self.__dict__.get("_unknown", {}))

    def _encode(self, X: Any, known: Sums[ColumnGroups] | None, *, learning: bool) -> DiscreteTable:
        assert known is not None  # the first fit plans its table
        settings, plan = self._settings, known.columns.plan
        raw = read_planned(X, plan, settings.model)
        return code_columns(raw, plan, pairs_of(known).schema, settings, learning=learning)

    def _pair_sums(self, rows: StateRows) -> Sums[ColumnGroups]:
        """Count rows without parents."""
        return sums_of_pairs(rows, self._counts(rows))

    def _is_wide(self, rows: StateRows) -> bool:
        """Whether columns are so many that the counts of all their pairs are better not held."""
        n_bytes = PairCounts.nbytes_forecast(rows.table.coded.schema.n_states, rows.labels.n_classes)
        return n_bytes > limits.ALL_PAIRS_BYTES

    def _sums_of_some(self, rows: StateRows) -> Sums[ColumnGroups]:
        """Count those pairs that the model reads, by rows that are all here."""
        coded, none = rows.table.coded, ((),) * len(rows.table.coded.schema)
        singles = SomePairs.of_partners(coded, rows.labels, rows.weight, none)
        partners = self._partners(rows, singles)
        if partners is None:
            return self._sums_of_rows(rows)
        counts = singles if partners == none else singles.partnered(coded, rows.labels, rows.weight, partners)
        sums, parents = sums_of_pairs(rows, counts), self._parents_by(counts, rows)
        return sums if parents is None else with_parents(sums, counts_with_parents(rows, parents))

    def _sums_of_rows(self, rows: StateRows) -> Sums[ColumnGroups]:
        """Count rows, with the parents that they choose themselves."""
        pairs = self._pair_sums(rows)
        parents = self._parents_by(pairs_of(pairs))
        return pairs if parents is None else with_parents(pairs, counts_with_parents(rows, parents))

    def _count(self, table: DiscreteTable, labels: Labels, weight: Array | None) -> ColumnGroups:
        """Count further rows, with the parents that are known."""
        rows = StateRows(table, labels, weight)
        groups: dict[str, Statistic] = {PAIRS: pairs_of(self.statistics_).counting(table.coded, labels, weight)}
        if FAMILIES in self.statistics_.columns.groups:
            groups[FAMILIES] = counts_with_parents(rows, parents_of(self.statistics_).parents)
        return ColumnGroups(labels.variable, table.plan, groups)

    def _read(self, sums: Sums[ColumnGroups]) -> Any:
        return self._read_with(sums, self._structure(sums))

    def _known_cells(self, table: DiscreteTable) -> Array:
        return table.known_cells(self._estimate(self.statistics_).missing_is_state)

    def _joint_without(self, table: DiscreteTable, labels: Labels, removed: Array) -> JointWithout:
        without: JointWithout = self._joint().without(table, labels, removed)
        return without

    @property
    def _smoothing(self) -> PseudoCounts:
        return PseudoCounts(self.smoothing, self.alpha)

    @property
    def _class_smoothing(self) -> PseudoCounts:
        return self._smoothing

    def _estimate(self, sums: Sums[ColumnGroups]) -> PairEstimate:
        return self._estimate_of(pairs_of(sums))

    def _estimate_of(self, pairs: PairCounts) -> PairEstimate:
        estimate = PairEstimate(pairs, self._smoothing, empty_is_state(pairs, self.missing))
        # One row, spread over hundreds of states, would let a state that came once outweigh all other columns.
        return replace(estimate, is_sparse=sparse_columns(estimate.states)) if self._spares_names else estimate

    # ------------------------------------------------------------------ what holds of the parameters

    def _require_parameters(self, sums: Sums[ColumnGroups]) -> None:
        self._prior(sums)
        self._require_reading_parameters()

    def _require_reading_parameters(self) -> None:
        """Refuse parameters that are out of range, before anything is read."""
        require_missing_rule(self.missing, ("ignore", "state", "error"))
        require_unseen_rule(self.unseen)
        if self.discretize not in METHODS:
            raise ParameterError(f"discretize is {self.discretize!r}; it can be one of {[*METHODS]}")
        require_flag(self.calibrate, "calibrate")
        self._require_super_parents(self.__dict__.get("super_parents"))
        self._smoothing  # noqa: B018 (refuses what is none)

    def _require_super_parents(self, given: Any) -> None:
        if given is not None and not (isinstance(given, str) and given == ALL):
            raise ParameterError(f"super_parents is {given!r}; it can be None or {ALL!r}")

    def _require_names(self, X: Any) -> None:
        if not is_frame(X):  # the columns of a frame are found by their names
            super()._require_names(X)

    # ------------------------------------------------------------------ what was learned

    def _reasons(self, X: Any, table: DiscreteTable, about: ExplainedRows) -> PairExplanations:
        raw = read_planned(X, table.plan, type(self).__name__)
        joint: Any = self._deciding_joint()
        return PairExplanations.of_pairs(joint, table, raw, *about)

    def _curve(self, name: str) -> ColumnCurve:
        names, estimate = self._names, self._estimate(self.statistics_)
        column = self.columns_.used_column(name)
        j = names.columns.index(name)
        slots = slice(estimate.start[j], estimate.start[j + 1] - 1)
        return state_curve(column, names.states[j], np.exp(estimate.log_marginal[slots]), estimate.single[slots])

    def _facts(self, X: Any) -> Facts:
        codes, joint = self._table(X).block(slice(0, 1))[0], self._joint()
        estimate, unknown = joint.estimate, self._settings.unknown
        missing: dict[str, list[int]] = {}
        for j, column in enumerate(self.columns_.used):
            if codes[j] == estimate.counts.n_states[j] or column.source in unknown:
                missing.setdefault(column.source, []).append(j)
        empty = [name for name, own in missing.items() if estimate.empty_is_state[own].any() and name not in unknown]
        asked = {name: own for name, own in missing.items() if name not in empty}
        facts = state_facts(lambda block: joint.of(block, False), codes, estimate.n_states, asked)
        return {**dict.fromkeys(empty, MISSING_IS_STATE), **facts}

    @property
    def _names(self) -> StateNames:
        return StateNames.of(self.columns_, self._estimate(self.statistics_), self.classes_, self._library)

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and P(state | class, states of the parents) of each column, as labelled frames by name.

        Of a model that is a mean of networks, P(class, state) of each column; `pair_table` gives the rest. The prior is
        called "class", or "(class)" beside a column of that name.

        Returns
        -------
        dict {name: frame}
            Frames of the library that `fit` was given.

        See Also
        --------
        network_tables : Give the model as a Bayesian network: the class, and every column with its parents.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import TAN
        >>> X = pd.DataFrame({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
        >>> list(TAN().fit(X, ["same", "other", "other", "same"] * 5).tables())
        ['class', 'a', 'b']
        """
        joint = self._joint()
        if isinstance(joint, Forest | Dependence):
            return Conditionals.of(joint).tables(self._names, self._class_table())
        return self._names.joint_tables(joint.estimate, self._class_table())

    def network_tables(self) -> NetworkTables:
        """Give the model as a Bayesian network: the class, and every column with its parents.

        Returns
        -------
        NetworkTables
            Names, states, parents and tables of the class and of all columns; `to_network` makes a network of them.

        See Also
        --------
        to_network : Give the fitted model as a network, in which the class is a variable like any other.
        tables : Give the class prior.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import TAN
        >>> X = pd.DataFrame({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
        >>> TAN().fit(X, ["same", "other", "other", "same"] * 5).network_tables().parents
        ((), (0,), (0, 1))
        """
        self._require_fitted()
        return self._conditionals().network(self._names)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 of the class, and K v_1 ... v_l (v_j - 1) of column j with l parents."""
        return self._conditionals().n_parameters

    def _draw(self, codes: Array, rng: np.random.Generator) -> Any:
        states = self._joint().draw(codes, rng)
        plan, schema = self.columns_, pairs_of(self.statistics_).schema
        place = {column.name: j for j, column in enumerate(plan.used)}
        drawn: dict[str, Any] = {}
        for part in state_families_of(plan):
            for j, name in enumerate(part.names):
                drawn[name] = part.drawn(schema[place[name]], j, states[:, place[name]], rng)
        return drawn_rows(drawn, plan, len(codes), self._library)

    def _line(self) -> Line:
        raise ParameterError(
            f"the log-odds of {type(self).__name__} are not linear, because columns depend on each other; "
            "use NaiveBayes or CategoricalNB"
        )

    @property
    def columns_(self) -> ColumnPlan:
        """Family of each column, and why."""
        return self.statistics_.columns.plan.in_library(self._library)


def can_be_structure(model: StateClassifier, chosen: Any, sums: Sums[Any]) -> bool:
    """Tell whether a fit with the parameters of a model and these sums can have chosen a structure."""
    return model._can_be_structure(chosen, sums)


def is_chosen_by_labels(model: StateClassifier) -> bool:
    """Tell whether the labels of the rows chose cuts or structure."""
    return model._learns_structure or bool(cut_by_labels(model.columns_, model._settings, model.discretize))
