"""`AODE`: averaged estimators, each with another column as the parent of all the others."""

from dataclasses import replace
from functools import reduce
from typing import Any, Self

import numpy as np

from bayeswater import limits
from bayeswater.data.labels import Labels
from bayeswater.errors import BayesWarning, ParameterError, warn_user
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.explain.asking import Facts
from bayeswater.inference.choosing import first_of_least, nested_losses, validation_rows
from bayeswater.inference.scoring import JointWithout
from bayeswater.inference.super_parents import SuperParents
from bayeswater.limits import bytes_in_words
from bayeswater.models.held_out import Fold
from bayeswater.models.semi_naive.learning import LearnedStates, StateRows, gathered, pairs_of
from bayeswater.models.semi_naive.state_classifier import ALL, StateClassifier
from bayeswater.models.semi_naive.weighted_members import WeightedMembers, members_without
from bayeswater.models.settings import column_place, require_flag, require_min_support
from bayeswater.models.streaming.passes import Passes, plus, together
from bayeswater.models.weighing import TermReview, WeighsTerms, most_rows
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.some_pairs import Partners, SomePairs, stars
from bayeswater.statistics.sums import Sums
from bayeswater.structure.mutual_information import descending_order, mutual_information
from bayeswater.typing import Array, is_number

IMPLYING_ROWS = 100
"""Rows with a cell from which on what they all have besides is taken to follow from it."""

CHOOSING_TERMS = 2**26
"""Terms that the nested choice looks at, about: rows times pairs of columns times classes; of more rows, some."""

LEAST_CHOOSING_ROWS = 1000

WAY_TO_PARENTS = f"super_parents={ALL!r}"
"""What lets columns with too many values be parents, too."""

Chosen = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of the parents and of the children."""


class AODE(WeighsTerms, StateClassifier):
    """Averaged one-dependence estimators: P(y, x) is the mean over i of P(y, x_i) prod_{j != i} P(x_j | y, x_i).

    Every column in turn is the parent of all the others. So the model sees dependences of pairs of columns, which
    naive Bayes ignores, and learns no structure. Probabilities are read off counts of pairs:
    P(y, x_i) = (N(y, x_i) + m/(K v_i)) / (N_i + m) and P(x_j | y, x_i) = (N(y, x_i, x_j) + m/v_j) / (N(y, x_i) + m),
    with m = `alpha`, K classes and v_j states of column j. A column is a parent in a row only if its value was counted
    `min_support` times or more. A row without any parent is scored by naive Bayes, and so is a table of one column.

    Numbers are cut into bins by the first fit; whole numbers of at most 12 different values are categories. Text and
    identifiers are left out, with a warning. A missing cell is neither parent nor child, as in Weka. A column of more
    than 12 states, with fewer than 10 rows for each, such as a ticket number, is no parent, and `alpha` is the
    pseudo-count of each of its states.

    Parameters
    ----------
    min_support : float, default 1
        In how many rows a value must occur for its column to be a parent.
    super_parents : None, "all" or int, default None
        Which columns are parents. None takes those that do not have too many values for their rows; "all" takes every
        column, as Weka does; a number takes that many of the former, those with the largest mutual information with the
        class. If the counts of all pairs of columns would take more than 1 GiB, None takes as many columns as fit into
        256 MiB, and a warning says how many.
    subsumption : bool or float, default False
        Whether to leave out a cell that follows from another cell of the row (AODEsr): one that all rows with the other
        cell have, if there are at least 100 such rows. A number is used in the place of 100.
    weighting : None or "mi", default None
        Whether parents count equally, or as much as they tell about the class (mutual information).
    select : bool, default False
        Whether `fit` chooses by leave-one-out how many columns, the most telling first, are parents and children.
    columns : dict, optional
        How to read columns: ``{"age": {"cuts": (18, 65)}, "size": {"bins": 4}, "grade": "categorical",
        "id": "ignored"}``, or the ``columns_`` of another model, to read the table as it does.
    discretize : {"mdl", "equal_frequency", "equal_width", "rounding", "pkid", "fixed_frequency"}, default "mdl"
        How numbers are cut into bins; "mdl" separates the classes, or makes 5 bins of equal frequency if it cannot.
    alpha : float, default 1
        Strength of the smoothing.
    smoothing : {"m-estimate", "laplace"}, default "m-estimate"
        Whether `alpha` is the weight of all cells of a distribution together, or the pseudo-count of each.
    class_prior : array of shape (n_classes,), optional
        Class probabilities; counted from the rows if not given.
    class_weight : None, "balanced" or dict {label: weight}, default None
        Weight of each class in the class prior; "balanced" makes all classes with rows equally probable. A label that a
        dict does not name has weight 1. P(row | class) does not change.
    missing : {"ignore", "state", "error"}, default "ignore"
        What to do with missing cells: leave them out, take them as a state of their own, or refuse them. In a column
        with one value they are always a state.
    unseen : {"ignore", "error"}, default "ignore"
        What to do at prediction with a category that was never counted: leave it out, with one warning, or refuse.
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out. It
        has no effect with learned weights, which need no further calibration.
    weights : None or "learned", default None
        "learned" adds the logarithms of the estimators, each with a weight for each class that is learned by
        leave-one-out, instead of averaging them.

    Attributes
    ----------
    columns_ : ColumnPlan
        How each column is read and why; it can be printed.
    structure_ : pair of tuples of str
        Parents and children that were chosen, where `select` is true.
    term_weights_ : TermWeights
        The weights of the estimators, by the column that is the parent, where they were asked for.
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    statistics_ : Sums
        The counts that everything is read from.

    See Also
    --------
    A2DE : Averaged two-dependence estimators.
    SPODE : One-dependence estimator with a super-parent.
    TAN : Tree-augmented naive Bayes.
    NaiveBayes : Naive Bayes of a mixed table.

    Notes
    -----
    With n rows, d columns of s states and K classes, `fit` takes O(n d^2) time and the counts of pairs O(K d^2 s^2)
    memory; `predict` takes O(n d^2 K). With m super-parents, where counts of all pairs would take more than 1 GiB, it
    is O(n m d) time to count, O(K m d s^2) memory and O(n m d K) to predict; the first fit then chooses them.

    Examples
    --------
    Which of two equal flags is set tells nothing, whether both are tells all:

    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
    >>> model = AODE().fit(table, ["same", "other", "other", "same"] * 5)
    >>> model.predict(pa.table({"a": ["yes", "yes"], "b": ["yes", "no"]}))
    array(['same', 'other'], dtype='<U5')
    """

    def __init__(
        self,
        *,
        min_support: float = 1,
        super_parents: str | int | None = None,
        subsumption: Any = False,
        weighting: str | None = None,
        select: bool = False,
        columns: Any = None,
        discretize: str = "mdl",
        alpha: float = 1.0,
        smoothing: str = "m-estimate",
        class_prior: Any = None,
        class_weight: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
        weights: str | None = None,
    ) -> None:
        self.min_support = min_support
        self.super_parents = super_parents
        self.subsumption = subsumption
        self.weighting = weighting
        self.select = select
        self.weights = weights
        super().__init__(columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate)

    _way_to_parents = WAY_TO_PARENTS

    def _partners(self, rows: StateRows, singles: SomePairs) -> Partners | None:
        given, n_columns, n_classes = self.super_parents, len(singles.schema), rows.labels.n_classes
        are_all = given == ALL or (given is not None and int(given) >= n_columns)
        if are_all or self.select or self._implying is not None:  # all pairs of states are looked at
            return None
        order, slots = self._most_telling(self._estimate_of(singles)), singles.n_states + 1
        n_bytes = 8 * n_classes * int(slots.sum()) * np.cumsum(slots[order])  # of the table that rows are scored by
        if given is None:
            n_heads = max(1, int((n_bytes <= limits.SOME_PAIRS_BYTES).sum()))
            needed = bytes_in_words(PairCounts.nbytes_forecast(singles.n_states, n_classes))
            warn_user(
                f"{n_heads:,} of {n_columns:,} columns are super-parents, those that tell most about the class: counts "
                f"of all pairs would take {needed}, over {bytes_in_words(limits.ALL_PAIRS_BYTES)}; "
                f"super_parents={n_heads} says so without a warning, and another number takes more or fewer",
                BayesWarning,
            )
        else:
            n_heads = int(given)
        limits.require_table_bytes(
            int(n_bytes[n_heads - 1]),
            f"counting {n_columns:,} columns with {n_heads:,} super-parents in {n_classes} classes",
            "give fewer super_parents",
        )
        return stars(np.sort(order[:n_heads]), n_columns)

    def _most_telling(self, estimate: PairEstimate) -> Array:
        """Columns by what they tell about the class, those that have too many states last."""
        order = descending_order(mutual_information(estimate.states))
        return order[np.argsort(~estimate.is_usual[order], kind="stable")]

    def _chosen(self, sums: Sums[ColumnGroups], rows: StateRows) -> Chosen | None:
        if not self.select:
            return None
        joint = self._read_with(sums, None)
        joint = replace(joint, prior=joint.prior.unweighted)
        estimate = joint.estimate
        times = rows.times * ~rows.alone(sums.class_count.count)
        validation = validation_rows(rows.table, rows.labels.codes, rows.removed, times, self._most_choosing(sums))
        order = self._most_telling(estimate)
        some = rows.take(validation.rows)
        block = some.table.block(slice(None))
        losses = nested_losses(joint, order, block, some.labels.codes, some.removed, validation.weight)
        last_parent, last_child = first_of_least(losses)
        names = [estimate.counts.schema.names[j] for j in order.tolist()]
        return tuple(names[: last_parent + 1]), tuple(names[: last_child + 1])

    @property
    def _chooses_by_rows(self) -> bool:
        return bool(self.select)

    def _most_choosing(self, sums: Sums[ColumnGroups]) -> int:
        terms = len(pairs_of(sums).schema) ** 2 * sums.classes.n_states
        return max(LEAST_CHOOSING_ROWS, CHOOSING_TERMS // terms)

    def _structure(self, sums: Sums[ColumnGroups]) -> Chosen | None:
        if not self.select:
            return None
        if "structure_" not in self.__dict__:
            raise ParameterError(
                "select is True, but the rows were learned without a choice of columns; set it back, or fit again"
            )
        return self.structure_

    def _can_be_structure(self, structure: Any, sums: Sums[ColumnGroups]) -> bool:
        if structure is None:
            return not self.select
        names = pairs_of(sums).schema.names
        return (
            isinstance(structure, tuple)
            and len(structure) == 2
            and all(isinstance(part, tuple) and len(part) > 0 for part in structure)
            and all(isinstance(name, str) and name in names for part in structure for name in part)
        )

    def _read_with(self, sums: Sums[ColumnGroups], structure: Chosen | None) -> SuperParents:
        estimate = self._estimate(sums)
        names = estimate.counts.schema.names
        parents, children = (names, names) if structure is None else structure
        return SuperParents(
            self._prior(sums),
            estimate,
            float(self.min_support),
            np.isin(names, parents) & self._are_heads(estimate),
            np.isin(names, children),
            implying=self._implying,
            weighted=self.weighting == "mi",
        )

    def _are_heads(self, estimate: PairEstimate) -> Array:
        """Columns that may be parents: (n_columns,)."""
        heads, counts = estimate.is_usual.copy(), estimate.counts
        if isinstance(counts, SomePairs):
            heads &= np.isin(np.arange(len(heads)), counts.centers)
        if is_number(self.super_parents):
            order = self._most_telling(estimate)
            heads[order[heads[order]][int(self.super_parents) :]] = False
        return heads

    # ------------------------------------------------------------------ members and their weights

    def _weighted_joint(self) -> WeightedMembers:  # type: ignore[override]
        assert self._row_weights is not None
        return WeightedMembers(self._joint(), self._row_weights)

    def _scoring(self, joint: SuperParents) -> Any:
        return WeightedMembers(joint, self.term_weights_) if self._is_weighed else joint

    def _of_cells(self) -> None:
        """Say that no term is that of a single cell: a member speaks of all columns, and was the worse for doubts."""

    def _left_out_terms(self, table: Any, labels: Labels, removed: Array) -> Any:
        return members_without(self._joint(), table, labels, removed)

    def _joint_without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        return self._scoring(self._joint()).without(table, labels, removed)

    def _corrected_by(self, blank: Self, scorers: list[tuple[LearnedStates, Fold | None]]) -> Passes[Self]:
        if self._learns_weights:
            reviews = yield from together(*(blank._terms_of_fold(*scorer) for scorer in scorers))
            self._weigh(reduce(plus, reviews).result())
            blank.term_weights_ = self.term_weights_
        return (yield from super()._corrected_by(blank, scorers)) if self.calibrate else self

    def _terms_of_fold(self, scorer: LearnedStates, fold: Fold | None) -> Passes[TermReview | None]:
        """Give the terms of the rows of a fold, each left out of the counts of all rows; None where there are none."""
        sums = scorer.sums
        joint = self._read_with(sums, scorer.structure or self._structure(sums))
        n_columns = joint.estimate.n_columns
        found = yield from gathered(self._settings, sums, fold, most_rows(n_columns, sums.classes.n_states))
        if found is None:
            return None
        kinds, rows = found
        terms, known = members_without(joint, rows.table, rows.labels, rows.removed)
        return TermReview.of_terms(
            terms, known, rows.labels, rows.times, ~rows.alone(sums.class_count.count), kinds.hash, fold
        )

    def _facts(self, X: Any) -> Facts:
        facts = super()._facts(X)
        if not self._is_weighed:
            return facts
        joint = self._weighted_joint()
        _, (known,) = joint.plain.members(self._table(X).block(slice(0, 1)), False)
        strength = min(1.0, float(joint.weights.at(int(known) + 1).mean(axis=1)[: int(known) + 1].sum()))
        weakened: dict[str, Any] = {
            name: own if isinstance(own, str) else [fact.weakened(strength) for fact in own]
            for name, own in facts.items()
        }
        return weakened

    def pair_table(self, column: str, parent: str) -> Any:
        """Give P(state of a column | class, state of its parent) as a labelled frame.

        Parameters
        ----------
        column, parent : str or int
            Names of two columns, or in a table without names their positions.

        Returns
        -------
        frame
            Of the library that `fit` was given.

        See Also
        --------
        tables : Give the class prior.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import AODE
        >>> X = pd.DataFrame({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
        >>> AODE().fit(X, ["same", "other", "other", "same"] * 5).pair_table("a", "b").shape
        (4, 4)
        """
        self._require_fitted()
        names = pairs_of(self.statistics_).schema.names
        j, i = column_place(column, names, "column"), column_place(parent, names, "parent")
        if i == j:
            raise ParameterError(f"{column!r} cannot be its own parent; give two columns")
        return self._names.conditional_frame(j, [i], np.exp(self._joint().estimate.log_given(j, i)))

    @property
    def n_parameters(self) -> int:
        """Free parameters of all estimators: K v_i - 1 of the parent, K v_i (v_j - 1) of each child; and weights."""
        return int(self._joint().n_parameters) + self._n_weights

    @property
    def _implying(self) -> float | None:
        if isinstance(self.subsumption, bool | np.bool_):
            return float(IMPLYING_ROWS) if self.subsumption else None
        return float(self.subsumption)

    def _require_parameters(self, sums: Sums[ColumnGroups]) -> None:
        super()._require_parameters(sums)
        if self.select or self._implying is not None:  # all pairs of states are looked at
            self._read_with(sums, None).require_room()
        pairs = pairs_of(sums)
        if isinstance(pairs, SomePairs) and (self.super_parents == ALL or self._counts_too_few(pairs)):
            raise ParameterError(
                f"super_parents is {self.super_parents!r}, but columns were counted with {len(pairs.centers)}; fit "
                "again"
            )
        if isinstance(pairs, SomePairs) and self._implying is not None:
            raise ParameterError(
                f"subsumption is {self.subsumption!r}, but not all pairs of columns were counted; set it back, or fit "
                "again"
            )

    def _counts_too_few(self, pairs: SomePairs) -> bool:
        return is_number(self.super_parents) and int(self.super_parents) > len(pairs.centers)

    def _require_super_parents(self, given: Any) -> None:
        if isinstance(given, int | np.integer) and not isinstance(given, bool) and given > 0:
            return
        if given is not None and not (isinstance(given, str) and given == ALL):
            raise ParameterError(
                f"super_parents is {given!r}; it can be None, {ALL!r} or a number of columns, 1 or more"
            )

    def _require_reading_parameters(self) -> None:
        super()._require_reading_parameters()
        require_min_support(self.min_support)
        is_flag = isinstance(self.subsumption, bool | np.bool_)
        if not (is_flag or (is_number(self.subsumption) and self.subsumption > 0)):
            raise ParameterError(
                f"subsumption is {self.subsumption!r}; it must be True, False, or a number of rows over 0"
            )
        if self.weighting not in (None, "mi"):
            raise ParameterError(f"weighting is {self.weighting!r}; it can be None or 'mi'")
        require_flag(self.select, "select")
