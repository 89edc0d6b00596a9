"""`PooledClassifier`: what an ensemble that has learned can be asked for: predictions, decisions, reasons, tables."""

from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayeswater.data.frames import Alongside, held, index_of, is_frame, write_frame
from bayeswater.data.reading.column_plan import ColumnPlan
from bayeswater.data.variable import Variable
from bayeswater.decision.deciding import Evidence
from bayeswater.decision.probabilities import Probabilities
from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.explain.pooled_explanations import Orders, PooledExplanations
from bayeswater.explain.verdicts import Decided
from bayeswater.families.family import Settings
from bayeswater.families.settings import settings_of
from bayeswater.inference.log_space import best_class
from bayeswater.inference.scoring import Joint
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.ensemble.explaining import cells_of, posteriors_of_known_cells
from bayeswater.models.ensemble.labelled_table import EnsembleTable
from bayeswater.models.ensemble.reading import Reading
from bayeswater.models.ensemble.report import EnsembleReport
from bayeswater.models.ensemble.stack import Stack, log_frequency
from bayeswater.models.settings import require_missing_rule
from bayeswater.typing import Array


class PooledClassifier(BayesClassifier):
    """A classifier by a stack of families."""

    _stack: Stack
    _reading: Reading
    _classes: Variable
    _library: str | None
    report_: EnsembleReport

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    @property
    def _settings(self) -> Settings:
        self._require_rules()  # `set_params` may have changed them since the fit
        return settings_of(self)

    def _require_rules(self) -> None:
        """Refuse ways of reading that there are not."""
        require_missing_rule(self.missing, ("ignore", "error"))
        if self.unseen not in ("ignore", "error"):
            raise ParameterError(f"unseen is {self.unseen!r}; it can be 'ignore' or 'error'")

    # ------------------------------------------------------------------ predicting

    def _table(self, X: Any) -> EnsembleTable:
        X = held(X)
        self._require_columns(X)
        return self._reading.table(X, self._settings, len(self.classes_))

    def _require_columns(self, X: Any) -> None:
        if not is_frame(X):  # the columns of a frame are found by their names
            self._require_names(X)

    def _score(self, X: Any, finish: Any) -> Array:
        """Give the log posterior of rows, or what is made of it."""
        self._require_fitted()
        log_proba = self._stack.log_posterior(self._table(X))
        return log_proba if finish is None else np.asarray(finish(log_proba, False))

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Refuse: of an ensemble the posterior is known, and no P(row)."""
        raise ParameterError(
            "BayesEnsemble knows P(class | row) and no P(row, class): its trees and pools are of classes given rows; "
            "use predict_log_proba, or NaiveBayes and its like for joint probabilities"
        )

    def log_evidence(self, X: Any) -> Array:
        """Refuse: of an ensemble the posterior is known, and no P(row)."""
        return self.predict_joint_log_proba(X)

    def _evidence(self, X: Any) -> Evidence:
        X = held(X)
        log_proba = Probabilities(self._score(X, None), "log_joint")
        return Evidence(log_proba, self.classes_, self._scored_prior(), X)

    def _scored_prior(self) -> Array:
        return np.exp(log_frequency(self._stack.class_count))

    def _joint(self) -> Joint:
        raise AssertionError("an ensemble has no joint: `_score` goes its own way")

    def explain(self, X: Any, against: Any = None) -> PooledExplanations:
        """Say for each row why it gets its class rather than another: what each cell adds to the log-odds.

        A cell is worth what it adds to the log-odds of the whole ensemble when it becomes known, in the mean over some
        orders of the cells; those that are not known yet are taken as missing (`explain.pooled_explanations`). With the
        intercept, the log-odds of a row without any cell, the contributions add up exactly. It takes as long as
        predicting about 9 n_columns times as many rows.

        Parameters
        ----------
        X : rows
        against : label, or one label for each row, optional
            The class to compare with; default the runner-up.
        """
        self._require_fitted()
        X = held(X)
        table = self._table(X)
        orders = Orders.of(table.n_columns)
        found = posteriors_of_known_cells(self._stack.log_posterior, table, orders.known)
        verdicts = Decided(found[0], None, best_class(found[0])).compared(against, self._classes)
        cells = cells_of(self._reading, self._reading.raw(X, self._settings), table)
        names = tuple(column.name for column in self._reading.columns)
        alongside = Alongside(self._library, index_of(X))
        return PooledExplanations.of_known_cells(names, orders, found, cells, verdicts, self.classes_, alongside)

    # ------------------------------------------------------------------ what was learned

    @property
    def columns_(self) -> ColumnPlan:
        """How each column is read, and why."""
        check_is_fitted(self)
        return self._reading.plan

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
        own = sum(array.size for family in self._stack.families for array in family.to_arrays().values())
        return int(own + 3 * len(self._stack.families) + len(self.classes_))

    def tables(self) -> dict[str, Any]:
        """Give the classes, and what each family has to say in the pool, as labelled frames by name."""
        check_is_fitted(self)
        count = self.class_count_
        classes = {"class": self.classes_, "count": count, "probability": np.exp(log_frequency(count))}
        found = {"class": write_frame(classes, self._library)}
        if self.report_.families:
            rows = [asdict(family) for family in self.report_.families]
            found["families"] = write_frame({name: [row[name] for row in rows] for name in rows[0]}, self._library)
        return found

    def __add__(self, other: Any) -> Any:
        """Refuse: two ensembles have structures of their own, and counts of other things."""
        if not (isinstance(other, PooledClassifier) or (isinstance(other, int) and other == 0)):
            return NotImplemented
        raise StatisticsError(
            "ensembles cannot be added: each has learned structures of its own, and counts other things; let the first "
            "count the rows of the second, partial_fit(X, y)"
        )

    __radd__ = __add__  # of a `sum`, which begins with 0
