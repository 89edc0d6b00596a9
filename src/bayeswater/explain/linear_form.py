"""The line between generative and discriminative: posteriors written as softmax(W x + b), or with a square in x.

Many a generative model has log-odds that are linear in the features: Gaussians that share a covariance, counts, marks,
categories as one-hot columns, rates. Its posterior is then that of a logistic regression whose weights were not
fitted but read off the sums. `LinearForm` holds these weights, and hands them over to scikit-learn.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from scipy import sparse

from bayeswater.data.reading.column_plan import Column
from bayeswater.errors import DataError, ParameterError
from bayeswater.families.family import MixedJoint
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_line import line_joint
from bayeswater.inference.linear import Line, require_whole
from bayeswater.inference.log_space import best_class, log_posterior
from bayeswater.inference.normal_joint import IndependentJoint
from bayeswater.records import record
from bayeswater.typing import Array


class Form(ABC):
    """A formula in x whose softmax is the posterior."""

    classes: Array  # (n_classes,)

    @abstractmethod
    def scores(self, X: Any) -> Array:
        """Give log P(class, row), up to a number for each row: (n_rows, n_classes)."""

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of the posterior, the softmax of the scores: (n_rows, n_classes)."""
        return log_posterior(self.scores(X))

    def predict_proba(self, X: Any) -> Array:
        """Give the posterior, the softmax of the scores: (n_rows, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """Class of largest score; the first one among equals."""
        return self.classes[best_class(self.scores(X))]


@record
class LinearForm(Form):
    """Weights and intercepts: P(class | x) = softmax(weights @ features(x) + intercepts).

    Attributes
    ----------
    classes : labels (n_classes,)
    features : names of the features; those of categories are "column=state"
    weights : array of shape (n_classes, n_features)
    intercepts : array of shape (n_classes,)
    design : function that reads rows, as the model takes them, as a matrix of the features
    center : array of shape (n_features,), or None
        Where numbers may be far from zero, `scores` are taken from here, which keeps their digits; W x + b written out
        loses as many as the numbers have in front of their spread.
    at_center : array of shape (n_classes,)
        Scores at the center: W center + b.
    """

    classes: Array
    features: tuple[str, ...]
    weights: Array
    intercepts: Array
    design: Callable[[Any], Any] = field(repr=False)
    center: Array | None = field(default=None, repr=False)
    at_center: Array | None = field(default=None, repr=False)

    def scores(self, X: Any) -> Array:
        """Give W x + b for each row: (n_rows, n_classes)."""
        if self.center is None:
            return np.asarray(self.design(X) @ self.weights.T) + self.intercepts
        return (self.design(X) - self.center) @ self.weights.T + self.at_center

    def to_logistic_regression(self, X: Any = None, y: Any = None, **settings: Any) -> Any:
        """Hand over to scikit-learn.

        Parameters
        ----------
        X, y : rows, as the model takes them, and labels; optional
            With them the regression is fitted from these weights on, without them it has just these.
        settings : parameters of scikit-learn's LogisticRegression

        Returns
        -------
        LogisticRegression
            It takes the features as numbers: what ``design(X)`` gives.
        """
        from sklearn.linear_model import LogisticRegression

        if len(self.classes) < 2:
            raise ParameterError(f"the model knows one class, {self.classes.tolist()[0]!r}; a regression needs two")
        impossible = np.isneginf(self.intercepts)
        if impossible.any():
            raise ParameterError(
                f"class {self.classes.tolist()[impossible.argmax()]!r} has prior probability 0, and no regression has "
                "an intercept of -inf; give it a probability, or class_alpha over 0"
            )
        regression = LogisticRegression(**{"warm_start": X is not None, "max_iter": 1000, **settings})
        weights, intercepts = self.weights, self.intercepts
        if len(self.classes) == 2:
            weights, intercepts = weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]
        else:
            weights, intercepts = weights - weights.mean(axis=0), intercepts - intercepts.mean()
        regression.classes_ = self.classes
        regression.coef_, regression.intercept_ = weights.copy(), intercepts.copy()
        regression.n_features_in_, regression.n_iter_ = weights.shape[1], np.zeros(1, dtype=np.int32)
        if X is None:
            return regression
        if y is None:
            raise ParameterError("y is None; give the labels of the rows that the regression is to be fitted on")
        self._require_same_classes(y)
        return regression.fit(self.design(X), y)

    def _require_same_classes(self, y: Any) -> None:
        """Compare labels with the classes that the search begins with weights of."""
        known, found = self.classes.tolist(), np.asarray(y).ravel().tolist()
        labels = set(found)
        absent = [label for label in known if label not in labels]
        if absent:
            raise DataError(
                f"y has no row of class {absent[0]!r}, and a regression has weights for the classes of its rows alone; "
                f"give rows of every class of the model ({known!r}), or fit the model without that class"
            )
        if len(labels) > len(known):
            row = next(row for row, label in enumerate(found) if label not in known)
            raise DataError(f"row {row} of y has the label {found[row]!r}, but the classes of the model are {known!r}")


@record
class QuadraticForm(Form):
    """log P(class, x) = u' quadratic u + weights u + intercepts, with u = x - center.

    The center keeps the digits of columns that are far from zero.

    Attributes
    ----------
    classes : labels (n_classes,)
    center : array of shape (n_columns,)
    quadratic : array of shape (n_classes, n_columns, n_columns)
    weights : array of shape (n_classes, n_columns)
    intercepts : array of shape (n_classes,)
    design : function that reads rows, as the model takes them, as a matrix of numbers
    """

    classes: Array
    center: Array
    quadratic: Array
    weights: Array
    intercepts: Array
    design: Callable[[Any], Array] = field(repr=False)

    def scores(self, X: Any) -> Array:
        """Logarithm of P(class, row): (n_rows, n_classes)."""
        u = self.design(X) - self.center
        squares = np.stack([np.einsum("ij,ij->i", u @ matrix, u) for matrix in self.quadratic], axis=1)
        return squares + u @ self.weights.T + self.intercepts


def linear_form(line: Line, log_prior: Array, classes: Array, table_of: Callable[[Any], Any]) -> LinearForm:
    """Write a model as softmax(W x + b) whose log-likelihoods are a line in features of the table that it reads."""
    infinite = ~np.isfinite(line.weights)
    if infinite.any():
        feature, k = (int(index) for index in np.argwhere(infinite)[0])
        raise ParameterError(
            f"feature {line.names[feature]!r} is impossible in class {classes.tolist()[k]!r}, and no weight is "
            "infinite; smooth it: alpha over 0"
        )
    weights, at_center = line.weights.T, line.intercepts + log_prior
    return LinearForm(
        classes.copy(),
        tuple(line.names),
        weights,
        at_center if line.center is None else at_center - weights @ line.center,
        lambda X: line.design(table_of(X)),
        line.center,
        at_center,
    )


def quadratic_form(
    joint: FullJoint | IndependentJoint, classes: Array, table_of: Callable[[Any], Any], model: str
) -> QuadraticForm:
    """Write normal classes as a square in x."""
    read = joint.densities
    if np.isfinite(read.degrees).any():
        raise ParameterError(
            "with a prior, rows are predicted by a Student-t, which is not quadratic in x; take prior=None"
        )
    center = read.blend.yardstick.center
    whitening = FullJoint(joint.log_prior, read)
    precision = np.stack([w @ w.T for w in whitening.whitening])
    away = read.mean - center
    weights = np.einsum("kij,kj->ki", precision, away)
    intercepts = joint.log_prior + whitening.constant - 0.5 * np.einsum("kj,kj->k", weights, away)
    return QuadraticForm(
        *(classes.copy(), center.copy(), -0.5 * precision, weights, intercepts),
        design=lambda X: _whole_numbers(table_of(X), model),
    )


def calibrated_has_none(form: str) -> ParameterError:
    """Say why the probabilities of a calibrated model are no formula in x."""
    return ParameterError(
        f"the probabilities are calibrated, and {form} has neither lapses nor cells that are not known; take "
        "calibrate=False"
    )


def line_of_normals(joint: FullJoint | IndependentJoint, names: list[str], model: str) -> Line:
    """Give the line of classes that share a covariance."""
    read = joint.densities
    if np.isfinite(read.degrees).any():
        raise ParameterError(
            "with a prior, rows are predicted by a Student-t, whose log-odds are not linear; take prior=None"
        )
    lines = line_joint(joint.log_prior, read, joint)
    if lines is None:
        raise ParameterError(
            f"classes have covariances of their own ({read.blend.reading.form!r}), so the log-odds are "
            "quadratic: use to_quadratic(), or covariance='shared' for linear ones"
        )
    line = lines.line
    return Line(names, line.weight, line.intercept, lambda table: _whole_numbers(table, model), line.center)


def _whole_numbers(table: Any, model: str) -> Array:
    block = table.block(slice(0, table.shape[0]))
    require_whole(block, table.names, model)
    numbers: Array = block.astype(np.float64)
    return numbers


def line_of_groups(joint: MixedJoint, groups: Mapping[str, Sequence[Column]], model: str) -> Line:
    """Put the lines of the groups of a mixed table side by side."""
    pieces: dict[str, Line] = {}
    for key, block in joint.groups.items():
        line = block.line([column.name for column in groups[key]], model)
        if line is None:
            column = groups[key][0]
            raise ParameterError(
                f"column {column.name!r} is {column.family}, and its log-odds are not linear in its numbers; read it "
                "as 'binned', or take GaussianClassifier(covariance='shared')"
            )
        pieces[key] = line
    keys = list(pieces)

    def design(table: Any) -> Any:
        parts = [pieces[key].design(table.groups[key]) for key in keys]
        return sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")

    return Line(
        [name for key in keys for name in pieces[key].names],
        np.concatenate([pieces[key].weights for key in keys]),
        np.sum([pieces[key].intercepts for key in keys], axis=0),
        design,
    )
