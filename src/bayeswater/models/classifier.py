"""`BayesClassifier`: what every classifier can be asked for, whatever it has learned.

A model says how it reads rows (`_table`), what their log-joints are (`_joint`), the same with each row taken out
(`_joint_without`), what makes up the log-odds of a row (`_reasons`) and what a missing cell would tell (`_facts`). All
else follows, and is written once: posteriors and decisions here and in `decision/`, calibration and leave-one-out in
`calibrating`, reasons in `explain/`, questions in `asking`, answers in pieces for a source in `streaming.answering`.
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from bayeswater.data.frames import Alongside, index_of, materialised
from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.matrix import column_name
from bayeswater.data.reading.raw_table import in_styles
from bayeswater.data.sources.reading_options import AS_FOUND, ReadAs
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows, checked_weight, inconsistent_lengths, required_labels
from bayeswater.decision.calibration_choice import CalibrationReport
from bayeswater.decision.deciding import ClassEvidence
from bayeswater.decision.next_best import NextBest
from bayeswater.decision.prior_shift import PriorEstimate
from bayeswater.decision.probabilities import Probabilities
from bayeswater.errors import SchemaError, StatisticsError
from bayeswater.explain.asking import Facts, OpenRow, require_one_row
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.turning import Decided, ExplainedRows, RowDecisions
from bayeswater.families.curve import ColumnCurve
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.log_space import best_class, fall_back, log_evidence, log_posterior, posterior
from bayeswater.inference.scoring import Joint, JointWithout, score, score_blocks
from bayeswater.models.calibrating import (
    Calibration,
    LeaveOneOut,
    Priors,
    Review,
    learned_calibration,
    review_of_batches,
)
from bayeswater.models.settings import prior_is_set, require_names
from bayeswater.models.streaming.answering import cell_names, in_memory, letting_missing_in, over_rows
from bayeswater.models.streaming.fitting import score_source
from bayeswater.models.streaming.passes import Examples
from bayeswater.phrases import Language
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.network.bayesian_network import BayesianNetwork


class BayesClassifier(ClassifierMixin, BaseEstimator):
    """A classifier by the joint probability of class and row."""

    classes_: Array
    calibration_: CalibrationReport
    _library: str | None
    read_as_: ReadAs = AS_FOUND

    _tags: tuple[str, ...] = ()
    """What holds of its tables, and of its scores on any numbers, in the words of scikit-learn's tags."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name in self._tags:
            setattr(tags.input_tags if hasattr(tags.input_tags, name) else tags.classifier_tags, name, True)
        tags.input_tags.allow_nan = vars(self).get("missing", "error") != "error"
        return tags

    @abstractmethod
    def _joint(self) -> Joint:
        """Give the parameters, ready for scoring."""

    @abstractmethod
    def _table(self, X: Any) -> Any:
        """Read rows to predict."""

    @property
    @abstractmethod
    def _class_counts(self) -> ClassCounts:
        """Give the classes, and the weight of the rows that were counted of each."""

    @property
    def _class_variable(self) -> Variable:
        """Give the classes."""
        return self._class_counts.classes

    def _joint_without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        """Give a function of some rows: their log-joints, each row taken out of the sums, and the prior without it."""
        raise NotImplementedError

    def _reasons(self, X: Any, table: Any, about: ExplainedRows) -> Explanations:
        """Say what makes up the log-odds of rows, given as they came and as they were read."""
        raise NotImplementedError

    def _facts(self, X: Any) -> Facts:
        """What every cell that is missing in the one row of X would tell."""
        raise NotImplementedError

    def _known_cells(self, table: Any) -> Any:
        """Count the known cells of each row of a table: (n_rows,)."""
        return table.known_cells()

    def _deciding_joint(self) -> Joint:
        """Give what posteriors are made of, where that is other than log-joints, or less work."""
        return self._joint()

    @over_rows
    def predict(self, X: Any) -> Array:
        """Give the class of largest probability; the first one among equals.

        Returns
        -------
        array of shape (n_rows,)
            Labels.

        Raises
        ------
        DataError
            Where a cell cannot be used; it names row, column and value.
        SchemaError
            Where the columns are not those of `fit`.

        See Also
        --------
        predict_proba : Give the probability of each class, calibrated if that was asked for.
        decide : Take the action of least expected cost in every row.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"]).predict([["green"]])
        array(['pea'], dtype='<U6')
        """
        codes = best_class(self.predict_log_proba(X)) if self._is_calibrated else self._score(X, best_class)
        return self.classes_[codes]

    @over_rows
    def predict_proba(self, X: Any) -> Array:
        """Give the probability of each class, calibrated if that was asked for.

        Returns
        -------
        array of shape (n_rows, n_classes)
            P(class | row), the classes in the order of `classes_`.

        See Also
        --------
        predict : Give the class of largest probability.
        predict_log_proba : Give the logarithm of the probabilities, never floored.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"]).predict_proba([["green"]])
        array([[0.42857143, 0.57142857]])
        """
        return np.exp(self.predict_log_proba(X)) if self._is_calibrated else self._score(X, posterior)

    @over_rows
    def predict_log_proba(self, X: Any) -> Array:
        """Give the logarithm of the probabilities, never floored.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Logarithms of P(class | row), the classes in the order of `classes_`.

        See Also
        --------
        predict_proba : Give the probability of each class, calibrated if that was asked for.
        predict_joint_log_proba : Give the logarithm of P(row, class), before a calibration.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> model = CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> model.predict_log_proba([["green"]]).round(3)
        array([[-0.847, -0.56 ]])
        """
        if not self._is_calibrated:
            return self._score(X, log_posterior)
        table = self._table(X)
        return self._calibration.corrected(self._score_table(table, log_posterior), self._known_cells(table))

    @over_rows
    def predict_joint_log_proba(self, X: Any) -> Array:
        """Give the logarithm of P(row, class), before a calibration, which is no part of the joint distribution.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Logarithms of P(row, class), the classes in the order of `classes_`.

        See Also
        --------
        predict_log_proba : Give the logarithm of the probabilities, never floored.
        log_evidence : Give the logarithm of P(row), the sum over all classes.

        Examples
        --------
        >>> import numpy as np
        >>> from bayeswater import CategoricalNB
        >>> model = CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> np.exp(model.predict_joint_log_proba([["green"]])).round(3)
        array([[0.167, 0.222]])
        """
        return self._score(X, None)

    @over_rows
    def log_evidence(self, X: Any) -> Array:
        """Give the logarithm of P(row), the sum over all classes.

        Returns
        -------
        array of shape (n_rows,)
            Logarithms of P(row).

        See Also
        --------
        predict_joint_log_proba : Give the logarithm of P(row, class), before a calibration.

        Examples
        --------
        >>> import numpy as np
        >>> from bayeswater import CategoricalNB
        >>> model = CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> np.exp(model.log_evidence([["green"]])).round(3)
        array([0.389])
        """
        return log_evidence(self.predict_joint_log_proba(X))

    def _score(self, X: Any, finish: Any) -> Array:
        """Score rows, the second half of the road."""
        self._require_fitted()
        return self._score_table(self._table(X), finish)

    def _score_table(self, table: Any, finish: Any) -> Array:
        """Inference: score the rows of a table."""
        return score(self._joint() if finish is None else self._deciding_joint(), table, finish)

    @over_rows
    def decide(self, X: Any, *, loss: Any = None, prior: Any = None, return_risk: bool = False) -> Any:
        """Take the action of least expected cost in every row.

        Parameters
        ----------
        loss : Loss, or anything that `Loss` reads
            Costs of the actions; default 0-1 loss, which decides as `predict`.
        prior : class frequencies in order of `classes_` or by label, or "estimate"; default those of the model
            Frequencies that hold where X comes from: the same as this model with its class prior set to them.
            "estimate" finds them from X itself; `estimate_class_prior` tells what they are.
        return_risk : bool, default False
            Whether to give a pair: the actions, and the risks of all of them in the order of `loss`, or the classes.

        Returns
        -------
        array of shape (n_rows,), or a pair of it and the risks (n_rows, n_actions)
            The attribute `prior` of the pair is the report of the frequencies that were estimated.

        Raises
        ------
        SchemaError
            Where the classes of the loss are not those of the model.

        See Also
        --------
        predict : Give the class of largest probability.
        expected_loss : Give the expected cost of the best action.
        estimate_class_prior : Estimate the class frequencies of unlabelled rows by maximum likelihood.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> model = CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> model.decide([["green"]], loss={"cherry": {"pea": 1}, "pea": {"cherry": 9}})
        array(['cherry'], dtype='<U6')
        """
        return self._evidence(X).decide(loss, prior, return_risk=return_risk)

    @over_rows
    def expected_loss(self, X: Any, *, loss: Any = None, prior: Any = None) -> Array:
        """Give the expected cost of the best action.

        Parameters
        ----------
        loss, prior : as in `decide`
            Costs of the actions, and class frequencies where X comes from.

        Returns
        -------
        array of shape (n_rows,)
            Expected costs.

        See Also
        --------
        decide : Take the action of least expected cost in every row.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> model = CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> model.expected_loss([["green"]]).round(3)
        array([0.429])
        """
        return self._evidence(X).expected_loss(loss, prior)

    __metadata_request__score = dict.fromkeys(("target",), UNUSED)  # no data of rows

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Give the share of the rows whose class is predicted.

        Parameters
        ----------
        X : rows
            A table, as in `predict`.
        y : labels of shape (n_rows,)
            The class of each row.
        sample_weight : weights of shape (n_rows,), or with `target` the name of a column, optional
            Weight of each row; default 1.
        target : str, optional
            Name of the column of X that holds the labels, in the place of y: then X may be a source, as in `fit`.

        Returns
        -------
        float
            Accuracy, from 0 to 1.

        See Also
        --------
        predict : Give the class of largest probability.
        leave_one_out : Score training rows, each by the model without it (leave-one-out).

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> X, y = [["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"]
        >>> CategoricalNB().fit(X, y).score(X, y)
        1.0
        """
        if target is not None:
            return score_source(self, X, y, sample_weight, target)
        return float(super().score(materialised(X), y, sample_weight))

    def estimate_class_prior(self, X: Any) -> PriorEstimate:
        """Estimate the class frequencies of unlabelled rows by maximum likelihood.

        Parameters
        ----------
        X : rows
            A table, as in `predict`.

        Returns
        -------
        PriorEstimate
            The frequencies, and how they were found.

        See Also
        --------
        decide : Take the action of least expected cost in every row.

        Examples
        --------
        >>> from bayeswater import GaussianNB
        >>> model = GaussianNB().fit([[0], [1], [8], [9]], ["a", "a", "b", "b"])
        >>> model.estimate_class_prior([[0.5], [8], [8.5], [9]]).prior.round(2)
        array([0.25, 0.75])
        """
        return self._evidence(X).estimate_prior()

    def _evidence(self, X: Any) -> ClassEvidence:
        X = materialised(X)
        scores = self.predict_log_proba(X) if self._is_calibrated else self._score(X, lambda joint, use_loop: joint)
        return ClassEvidence(Probabilities(scores, "log_joint"), self.classes_, self._scored_prior(), X)

    def _scored_prior(self) -> Array | None:
        """Give the class prior that is part of the scores, if one is."""
        return np.exp(self._joint().log_prior)

    def loo_predict_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Give the log posterior of training rows, each by the model without it.

        Equals n refits, each without one row, at the price of a few predictions. A row of weight w stands for w
        equal ones: one of them is left out. What decides how rows are read is held fixed, as all rows decided it:
        classes, domains of categories, families of columns, cuts of bins, structure, vocabulary and weights of words,
        and smoothing that was chosen automatically. So are parameters that were given, a class prior among them.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            Rows that were counted, with their labels and the weight they were counted with.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Logarithms of P(class | row), the classes in the order of `classes_`.

        See Also
        --------
        leave_one_out : Score training rows, each by the model without it (leave-one-out).
        predict_log_proba : Give the logarithm of the probabilities, never floored.

        Examples
        --------
        >>> import numpy as np
        >>> from bayeswater import CategoricalNB
        >>> X, y = [["red"], ["red"], ["green"], ["green"]], ["cherry", "cherry", "pea", "pea"]
        >>> np.exp(CategoricalNB().fit(X, y).loo_predict_log_proba(X, y)).round(2)[0]
        array([0.57, 0.43])
        """
        self._require_fitted()
        labels = encode_labels(required_labels(y, type(self).__name__), self._class_variable, counted=True)
        removed = removed_weight(checked_weight(sample_weight, len(labels.codes)), len(labels.codes))
        return self._log_proba_without(self._table(X), labels, removed)

    def _log_proba_without(self, table: Any, labels: Labels, removed: Array) -> Array:
        """Log posterior of rows, each taken out of the sums with a weight of its own: (n_rows, n_classes)."""
        if table.shape[0] != len(labels.codes):
            raise inconsistent_lengths(table.shape[0], len(labels.codes))
        if (self._class_counts.count[np.unique(labels.codes)] == 0).any():
            raise StatisticsError("y names a class of which no row was counted; give rows that the model has seen")
        return score_blocks(self._joint_without(table, labels, removed), table, log_posterior)

    def leave_one_out(self, batches: Iterable[tuple[Any, ...]] | Examples) -> LeaveOneOut:
        """Score training rows, each by the model without it (leave-one-out).

        What decides how rows are read is held fixed, as in `loo_predict_log_proba`; it was chosen by the very rows that
        are scored, so the figures may be a little better than those of new rows. Automatic smoothing of categories and
        bins is chosen again without each row, where these are few: together with many columns it would overfit.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            The rows of the fit, in pieces, or some of them.

        Returns
        -------
        LeaveOneOut
            Error, log-loss and calibration error of the rows; print it.

        See Also
        --------
        loo_predict_log_proba : Give the log posterior of training rows, each by the model without it.
        calibrate_with : Learn the calibration from leave-one-out scores, and use it from now on.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> X, y = [["red"], ["red"], ["green"], ["green"]], ["cherry", "cherry", "pea", "pea"]
        >>> CategoricalNB().fit(X, y).leave_one_out([(X, y)]).accuracy
        1.0
        """
        self._require_fitted()
        return review_of_batches(batches, self._review_of)

    def _review_of(
        self, X: Any, y: Any, sample_weight: Any = None, score_weight: Array | None = None, fold: int = 0
    ) -> Review:
        """Score counted rows, each taken out of the sums; those of a fold with the weight they have there."""
        rows, scored = CountedRows.of(X, y, sample_weight, type(self).__name__), self._as_reviewed()._scored_without
        return Review.of_rows(rows, self._class_counts, scored, score_weight, fold)

    def _scored_without(self, X: Any, labels: Labels, removed: Array) -> tuple[Array, Array]:
        table = self._table(X)
        return self._log_proba_without(table, labels, removed), self._known_cells(table)

    def _as_reviewed(self) -> Self:
        """Give the model by which rows that are left out are scored."""
        return self

    def calibrate_with(self, review: LeaveOneOut) -> Self:
        """Learn the calibration from leave-one-out scores, and use it from now on.

        Parameters
        ----------
        review : LeaveOneOut
            What `leave_one_out` gives.

        Returns
        -------
        self
            The object itself, calibrated.

        See Also
        --------
        leave_one_out : Score training rows, each by the model without it (leave-one-out).

        Examples
        --------
        >>> from bayeswater import GaussianNB
        >>> X, y = [[value] for value in range(12)], ["a"] * 5 + ["b", "a"] + ["b"] * 5
        >>> model = GaussianNB().fit(X, y)
        >>> model.calibrate_with(model.leave_one_out([(X, y)])).predict([[2]])
        array(['a'], dtype='<U1')
        """
        self._require_fitted()
        self.calibration_ = learned_calibration(review, self._priors()).in_library(self._library)
        return self

    @property
    def _is_calibrated(self) -> bool:
        return "calibration_" in self.__dict__

    @property
    def _calibration(self) -> Calibration:
        return Calibration(self.calibration_, self._priors())

    def _priors(self) -> Priors:
        """Give the class prior of the scores, and that of the counted rows: the same, where none was given."""
        return Priors(*[self._joint().log_prior] * 2)

    def explain(self, X: Any, against: Any = None, *, lang: str = "en") -> Explanations:
        """Say for each row why it gets its class rather than another.

        Parameters
        ----------
        X : rows
            A table, as in `predict`.
        against : label, or one label for each row, optional
            The class to compare with; default the runner-up. A row that is predicted to be of that very class is
            compared with its runner-up.
        lang : {"en", "zh"}, default "en"
            Language of what is put in words.

        Returns
        -------
        Explanations
            For each row what every column adds to the log-odds, exactly, what is missing, and what would turn the
            decision. Print it, or take ``.contributions``, ``.to_frame()``, and of dependent columns ``.pairs(row)``.

        Raises
        ------
        SchemaError
            Where `against` names no class.

        See Also
        --------
        predict_proba : Give the probability of each class, calibrated if that was asked for.
        next_best : Say which missing cell of a row to ask for next.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import NaiveBayes
        >>> table = pa.table({"colour": ["red", "red", "red", "green", "green", "red"], "sweet": [1, 1, 1, 0, 0, 1]})
        >>> model = NaiveBayes(alpha=1.0).fit(table, ["apple", "apple", "apple", "pea", "pea", "pea"])
        >>> print(model.explain(pa.table({"colour": ["green"], "sweet": [None]})))
        'pea' rather than 'apple', with probability 0.75
          before the row is looked at     +0.000  'pea' is as frequent as 'apple'
          colour = green                  +1.099  3 times as likely among 'pea' as among 'apple'
          log-odds                        +1.099  3 to 1
          missing, left out: sweet
          would turn it: colour = red
        """
        self._require_fitted()
        model, X = in_memory(self, X, "explain")
        if model is not self:
            return model.explain(X, against, lang=lang)
        alongside, X = Alongside(self._library, index_of(X)), in_styles(materialised(X), self.read_as_.styles)
        table = self._table(X)
        compared = self._decided(table).compared(against, self._class_variable), self._decisions(table)
        return self._reasons(X, table, ExplainedRows(*compared, self.classes_, alongside)).in_language(
            lang, prior_is_set(self)
        )

    def curve(self, column: str) -> ColumnCurve:
        """Give what was learned of a column in each class, as plain data for a picture.

        Parameters
        ----------
        column : str
            Name of a column, as in `columns_` or `feature_names_in_`.

        Returns
        -------
        ColumnCurve
            Places, and at each the density or probability in every class, in the order of `classes_`. Where columns
            depend on each other, those of the column alone.

        Raises
        ------
        SchemaError
            Where there is no such column.

        See Also
        --------
        explain : Say for each row why it gets its class rather than another.

        Examples
        --------
        >>> from bayeswater import GaussianNB
        >>> model = GaussianNB().fit([[0], [1], [8], [9]], ["a", "a", "b", "b"])
        >>> model.curve("x0").column
        'x0'
        """
        self._require_fitted()
        return replace(self._curve(column), library=self._library)

    def _curve(self, name: str) -> ColumnCurve:
        """Give the law of a column."""
        raise NotImplementedError

    def _place_of(self, name: str) -> int:
        """Find a column by its name."""
        names = self._column_names()
        if name not in names:
            raise SchemaError(f"there is no column {name!r}; there are {names[:10]}")
        return names.index(name)

    def _decided(self, table: Any) -> Decided:
        """Decide each row as `predict` does."""
        joint = self._deciding_joint()
        log_joint = score(joint, table)
        fall_back(log_joint, joint.log_prior)
        chosen, log_proba = best_class(log_joint), log_posterior(log_joint)
        if not self._is_calibrated:
            return Decided(log_proba, None, chosen)
        calibrated = self._calibration.corrected(log_proba, self._known_cells(table))
        return Decided(log_proba, calibrated, best_class(calibrated))

    def _decisions(self, table: Any, n_more: int = 0) -> RowDecisions:
        """Say what calibration makes of log-joints before the largest wins, if `n_more` cells were known."""
        if self._is_calibrated:
            return self._calibration.decisions(self._known_cells(table) + n_more)
        return RowDecisions(np.ones(table.shape[0]), np.zeros((table.shape[0], len(self.classes_))))

    def next_best(
        self, row: Any, loss: Any = None, costs: Any = None, *, prior: Any = None, lang: str = "en"
    ) -> NextBest:
        """Say which missing cell of a row to ask for next, by what knowing it is worth minus what asking costs.

            worth = expected cost of the best action now - mean, over what the cell may hold, of that once it is known

        Exact for categories, flags and bins; counts are summed until less than 1e-12 of any class is left; for numbers
        by their density the error is stated. Texts are passed over.

        Parameters
        ----------
        row : table of one row, a dict {column: value}, a Series with the names of columns for an index
            Cells that are missing (or not in the dict) are those that can be asked for, whatever ``missing`` says. In a
            column where empty is a state, a cell that is None is known to be empty; one not in the dict is not known.
        loss : Loss, or anything that `Loss` reads
            Costs of the actions; default 0-1 loss.
        costs : float or dict {column: cost}, default 0
            What it costs to ask: one number for all columns, or those that can be asked for.
        prior : as in `decide`
            Class frequencies where the row comes from.
        lang : {"en", "zh"}, default "en"
            Language in which it is printed.

        Returns
        -------
        NextBest
            The best column first; ``.best`` is the one to ask for, or None.

        See Also
        --------
        explain : Say for each row why it gets its class rather than another.
        decide : Take the action of least expected cost in every row.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import NaiveBayes
        >>> X = pd.DataFrame({"colour": ["red", "red", "green", "green"], "size": ["s", "l", "s", "l"]})
        >>> NaiveBayes().fit(X, ["cherry", "cherry", "pea", "pea"]).next_best({"size": "s"}).best.column
        'colour'
        """
        self._require_fitted()
        model, X = in_memory(letting_missing_in(self), row, "next_best")
        names, X = cell_names(self), materialised(X)
        evidence = model._evidence(X)
        require_one_row(evidence)
        strength = float(model._decisions(model._table(X), 1).slope[0]) if self._is_calibrated else 1.0
        found = OpenRow(X, evidence, names, model._facts(X), strength).next_best(loss, costs, prior)
        return replace(found, lang=Language.of(lang).code, library=self._library)

    def to_network(self, *, class_name: str | None = None) -> "BayesianNetwork":
        """Give the fitted model as a network, in which the class is a variable like any other.

        Its posteriors of the class are those of `predict_proba` before a calibration. Bins are states of numbers.

        Parameters
        ----------
        class_name : str, optional
            Name of the class variable; default "class", or "(class)" beside a column of that name.

        Returns
        -------
        BayesianNetwork
            The class and every column, with their tables.

        Raises
        ------
        ParameterError
            Where a column has a density or words, missing cells are states, or the model is a mean of networks.

        See Also
        --------
        BayesianNetwork : A network of discrete variables.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"]).to_network().edges
        (('class', 'x0'),)
        """
        from bayeswater.models.network.bayesian_network import BayesianNetwork  # only who asks for one needs it

        return BayesianNetwork.from_classifier(self, class_name=class_name)

    def _column_names(self) -> list[str]:
        return [column_name(getattr(self, "feature_names_in_", None), j) for j in range(self.n_features_in_)]

    def _require_names(self, X: Any) -> None:
        require_names(self, X)

    def _require_fitted(self) -> None:
        check_is_fitted(self)


def scored_by(model: BayesClassifier) -> tuple[Any, Calibration | None]:
    """Give the parameters that a model scores rows with, of what kind each knows, and its calibration, if any."""
    return model._joint(), model._calibration if model._is_calibrated else None
