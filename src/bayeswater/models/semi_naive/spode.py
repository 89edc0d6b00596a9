"""`SPODE`: one column, the super-parent, is the parent of all the others."""

import warnings
from functools import partial
from typing import Any

import numpy as np

from bayeswater.errors import ImpossibleEvidenceWarning, ParameterError
from bayeswater.estimate.dirichlet import checked_class_prior
from bayeswater.inference.forest import Forest
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.models.held_out import Fold
from bayeswater.models.semi_naive.aode import AODE
from bayeswater.models.semi_naive.learning import CodedPiece, StateRows, pairs_of
from bayeswater.models.semi_naive.state_classifier import StateClassifier
from bayeswater.models.settings import column_place, documented_as_in
from bayeswater.models.streaming.passes import Pass, SideBySide, Walk
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

BEST = "best"
"""Word for the super-parent of least leave-one-out log-loss."""

SAME_LOSS = 1e-12
"""Losses that differ by no more than this share of their size are equal: the order of rows moves their last digits."""


@documented_as_in(AODE)
class SPODE(StateClassifier):
    """Super-parent one-dependence estimator: P(y, x) = P(y, x_i) prod_{j != i} P(x_j | y, x_i).

    One column i, the super-parent, is the parent of all others; smoothing is that of `AODE`, which averages over all
    super-parents. Rows are read as by `AODE`. A super-parent that is missing in a row is summed over, exactly.

    Parameters
    ----------
    super_parent : name or position of a column, or "best", default "best"
        "best" takes the column of least leave-one-out log-loss on the rows of the fit, the first one among equals.
    columns, discretize, alpha, smoothing, class_prior, missing, unseen, calibrate : as in `AODE`

    Attributes
    ----------
    super_parent_ : str
        The column that all others depend on.
    class_log_prior_ : array of shape (n_classes,)
        Of the rows that have the super-parent: it is counted in one piece with the class.
    columns_, classes_, class_count_, statistics_ : as in `AODE`

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
    >>> model = SPODE("b").fit(table, ["same", "other", "other", "same"] * 5)
    >>> model.predict(pa.table({"a": ["yes", "yes"], "b": ["yes", "no"]}))
    array(['same', 'other'], dtype='<U5')
    """

    def __init__(
        self,
        super_parent: Any = BEST,
        *,
        columns: Any = None,
        discretize: str = "mdl",
        alpha: float = 1.0,
        smoothing: str = "m-estimate",
        class_prior: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.super_parent = super_parent
        self.columns = columns
        self.discretize = discretize
        self.alpha = alpha
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.missing = missing
        self.unseen = unseen
        self.calibrate = calibrate

    def _chosen(self, sums: Sums[ColumnGroups], rows: StateRows) -> str | None:
        return None if self._is_given else self._of_least_loss(sums, self._losses(rows, sums))

    @property
    def _chooses_by_rows(self) -> bool:
        return not self._is_given

    def _choosing_walk(self, sums: Sums[ColumnGroups], fold: Fold | None) -> Walk[str | None]:
        """Choose by the losses of all rows, which are sums: none has to be gathered."""
        if self._is_given:
            return None
        coded = CodedPiece.like(sums, self._settings, partial(self._losses, sums=sums), fold)
        found = yield Pass(SideBySide((coded,)), "choosing the super-parent")
        return self._of_least_loss(sums, found.parts[0])

    def _losses(self, rows: StateRows, sums: Sums[ColumnGroups]) -> Array:
        """Sum the leave-one-out log-losses of some rows for every super-parent: (n_columns,)."""
        table, labels, own = rows.table, rows.labels, np.arange(len(rows))
        is_scored = ~rows.alone(sums.class_count.count)
        losses = []
        with warnings.catch_warnings():  # of candidates that are not chosen nobody wants to know
            warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
            for column in table.plan.used:
                joint = self._read_with(sums, column.name).without(table, labels, rows.removed)
                log_proba = score_blocks(joint, table, log_posterior)
                losses.append(-(log_proba[own, labels.codes] * rows.times)[is_scored].sum())
        return np.array(losses)

    def _of_least_loss(self, sums: Sums[ColumnGroups], losses: Array) -> str:
        """Name the super-parent of least loss; the first one among those that are equal but for rounding."""
        best = np.flatnonzero(losses <= losses.min() * (1 + SAME_LOSS))
        return pairs_of(sums).schema.names[int(best[0])]

    def _structure(self, sums: Sums[ColumnGroups]) -> str:
        names = pairs_of(sums).schema.names
        if self._is_given:
            return names[column_place(self.super_parent, names, "super_parent")]
        if "structure_" not in self.__dict__:
            raise ParameterError(
                "super_parent is 'best', but the rows were learned with one that was given; set it back, or fit again"
            )
        return str(self.structure_)

    @property
    def _is_given(self) -> bool:
        return not (isinstance(self.super_parent, str) and self.super_parent == BEST)

    def _can_be_structure(self, structure: Any, sums: Sums[ColumnGroups]) -> bool:
        is_name = isinstance(structure, str) and structure in pairs_of(sums).schema.names
        return is_name or (structure is None and self._is_given)

    def _read_with(self, sums: Sums[ColumnGroups], structure: str) -> Forest:
        estimate = self._estimate(sums)
        center = estimate.counts.schema.names.index(structure)
        if not estimate.n_states[center]:  # it never had a value
            return Forest.of_tree(self._prior(sums), estimate, (center,) * estimate.n_columns)
        given = checked_class_prior(self.class_prior, estimate.n_classes, self._prior_name)
        return Forest.of_star(estimate, center, given)

    def _log_prior(self, sums: Sums[ColumnGroups]) -> Array:
        """Log class prior of the joint; of rows without the super-parent it counts none."""
        return self._read(sums).log_prior

    def _require_parameters(self, sums: Sums[ColumnGroups]) -> None:
        super()._require_parameters(sums)
        if self._is_given:
            column_place(self.super_parent, pairs_of(sums).schema.names, "super_parent")

    @property
    def super_parent_(self) -> str:
        """The column that all others depend on."""
        return self._structure(self.statistics_)
