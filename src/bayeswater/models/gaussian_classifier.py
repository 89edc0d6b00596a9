"""`GaussianClassifier`: a normal density of all columns together for each class, from naive to full covariance."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from bayeswater.data.frames import is_frame, write_frame
from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.matrix import DenseMatrix, DenseTable, column_name
from bayeswater.data.reading.raw_table import read_raw
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows
from bayeswater.decision.facts import DensityFact
from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.estimate.covariance import FORMS, CovarianceReading
from bayeswater.estimate.covariance_priors import Friedman
from bayeswater.estimate.densities import Densities, read_densities
from bayeswater.explain.asking import Facts
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.gaussian_view import GaussianExplanations, gaussian_terms
from bayeswater.explain.linear_form import QuadraticForm, calibrated_has_none, line_of_normals, quadratic_form
from bayeswater.explain.turning import ExplainedRows
from bayeswater.families.curve import ColumnCurve
from bayeswater.families.gaussian import normal_curve, normal_fact
from bayeswater.inference.discriminant_axes import conditional_densities, discriminant_axes, projected
from bayeswater.inference.drawing import require_density
from bayeswater.inference.gaussian_full import FullJoint, draw_rows
from bayeswater.inference.gaussian_line import line_joint
from bayeswater.inference.gaussian_without import joint_of, likelihood_without
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.linear import Line
from bayeswater.inference.normal_joint import IndependentJoint
from bayeswater.inference.scoring import Joint, score
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.learning.gaussian_em import expected_scatter
from bayeswater.learning.shrinkage_choice import LeftOutRows, LossSums
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.gaussian_reading import (
    AUTO,
    LEDOIT_WOLF,
    checked_reading,
    is_named,
    read_rows,
    refuse_em,
    require_finite,
    require_rows_for,
    require_whole_rows,
    warn_of_singular,
)
from bayeswater.models.on_sums import OnSums
from bayeswater.models.settings import require_missing_rule
from bayeswater.models.streaming.passes import Examples, Pass, Passes, Piece
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import SeenRanges, Sums
from bayeswater.typing import Array


class GaussianClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnSums, BayesClassifier):
    """Gaussian classes: log P(k, x) = log P(k) + log Normal(x; mean_k, covariance_k).

    With a covariance for each class boundaries are quadratic (QDA), with a shared one they are lines (LDA), and with
    none between columns this is naive Bayes. All five forms are read from the same sums: `with_covariance` gives
    another one without a second fit.

    Parameters
    ----------
    covariance : {"full", "shared", "diagonal", "shared_diagonal", "spherical"}, default "full"
        A matrix for each class, one for all, variances of the columns for each class, the same for all, or one variance
        for each class. All but "spherical" are indifferent to the units of the columns.
    estimate : {"ml", "unbiased"}, default "ml"
        Divisor of the scatter: n_k, or n_k - 1 (for what is shared n, or n - K). A row of weight w counts as w rows.
        So "unbiased" depends on the sum W of the weights, and "ml" does not. If W is below 2 (or K + 1), the divisor
        is W / 2 (or W / (K + 1)), so that it stays positive.
    shrinkage : float, "oas", "ledoit_wolf", Friedman or "auto", optional
        How far covariances are shrunk to one variance for all columns, on columns scaled by their standard deviation
        within classes: by a share from 0 to 1, by one that the sums give ("oas" and "ledoit_wolf" are of matrices: for
        "full" and "shared" alone), or, with Friedman's two parameters, also towards the shared covariance. "auto" finds
        these two in `fit`, by exact leave-one-out log-loss of all rows, which costs some forty times as much as one
        leave-one-out. "ledoit_wolf" learns from rows without missing cells only. A "spherical" covariance takes none.
    prior : NormalInverseWishart, optional
        Prior of mean and covariance of each class; rows are then predicted by a Student-t.
    class_prior : array of shape (n_classes,), optional
        Class probabilities; counted from the rows if not given.
    class_weight : None, "balanced" or dict {label: weight}, default None
        Weight of each class in the class prior; "balanced" makes all classes with rows equally probable. A label that a
        dict does not name has weight 1. P(row | class) does not change.
    class_alpha : float, default 0
        Pseudo-count of each class in the class prior.
    missing : {"ignore", "em", "error"}, default "ignore"
        What to do with missing cells in `fit`: sum every pair of columns over the rows that have both; find the
        parameters of largest likelihood (EM), of rows that fit into memory, after which the model takes no further
        ones; or refuse. In `predict` a row has the density of the cells that are there.
    variance_floor : float, default 1e-9
        Least variance of a class in any direction, as a share of what is usual there: of the average over the classes
        and their means or, where columns are independent, of the variance of the column over all rows.
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out.

    Attributes
    ----------
    means_ : array of shape (n_classes, n_columns)
    covariances_ : array of shape (n_classes, n_columns, n_columns)
        Covariance of each class (scale matrix of its Student-t, where there is a prior). A class that was declared but
        has no row yet has neither: NaN, but for a covariance that it shares and where there is a prior.
    shrinkage_ : Friedman
        What "auto" chose; kept by `partial_fit` and `forget`. Of two models that are merged, the choice of the left one
        stays, as all its parameters do; it does not depend on the rows of the right one.
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    statistics_ : Sums
        The sums that everything is read from.

    See Also
    --------
    GaussianNB : Naive Bayes of numbers.
    Friedman : Friedman's two parameters, each from 0 to 1.
    NormalInverseWishart : Prior of mean and covariance of a class.

    Notes
    -----
    With n rows, d columns and K classes, `fit` takes O(n d^2) time and the sums O(K d^2) memory; `predict` takes O(n
    d^2 K), and O(n d K) where covariances are diagonal. Reading full covariances off the sums takes O(K d^3).

    Leave-one-out holds fixed what covariances are measured by: the scales of the columns, which of them (and which
    directions of bound ones) have a factor, what `variance_floor` is a share of, and shrinkage that was chosen. A row
    that makes up nearly all of the scatter of its class leaves only rounding when it is subtracted. Its class is then
    counted again without it, if all rows of that class are given (with weights of at most one); if not, a
    `PrecisionWarning` names the row.

    In an explanation, where classes share a covariance, a column adds a line in its own value, w_j (x_j - b_j). Where
    they do not, the squared distance (x - m)' P (x - m) from each mean is divided into the terms (x_j - m_j)
    (P (x - m))_j, with P the inverse of the covariance. So the contribution of a column depends on the columns that it
    is correlated with.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -3], [1, 1], [2, 1], [3, 3]])
    >>> y = np.array(["left", "left", "left", "right", "right", "right"])
    >>> model = GaussianClassifier().fit(X, y)
    >>> model.predict([[-0.8, -1]])
    array(['left'], dtype='<U5')
    >>> model.with_covariance("shared").covariances_[0].round(3)
    array([[0.667, 0.667],
           [0.667, 0.889]])
    """

    def __init__(
        self,
        *,
        covariance: str = "full",
        estimate: str = "ml",
        shrinkage: Any = None,
        prior: Any = None,
        class_prior: Any = None,
        class_weight: Any = None,
        class_alpha: float = 0.0,
        missing: str = "ignore",
        variance_floor: float = 1e-9,
        calibrate: bool = False,
    ) -> None:
        self.covariance = covariance
        self.estimate = estimate
        self.shrinkage = shrinkage
        self.prior = prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.class_alpha = class_alpha
        self.missing = missing
        self.variance_floor = variance_floor
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= not self._keeps_fourth_moments
        return tags

    _fixed_by_fit = ("shrinkage_",)

    def _passes(self, examples: Examples, classes: Variable | None = None) -> Passes[Self]:
        """Sum the rows, choose the shrinkage, calibrate."""
        self._reading_of(None)  # refuse what cannot be read before anything is summed
        is_auto = is_named(self.shrinkage, AUTO)
        require_rows_for(self.missing, examples, is_auto=is_auto)
        again = "shrinkage='auto' reads the rows twice" if is_auto else ""
        again = "calibrate=True reads the rows twice" if self.calibrate else again
        sums = yield Pass(self._counting(None, by_copy=True), then=again)
        self._keep(sums, examples.columns_of_X, first=True)
        if is_auto:
            losses = yield Pass(self._losses, "choosing the shrinkage", then=again if self.calibrate else "")
            self.shrinkage_, self._memo = losses.best(), {}  # parameters are read again with it
        warn_of_singular(self._densities, sums)
        if classes is not None:
            self._adopt(sums.with_classes(classes))
        return (yield from self._corrected())

    def _losses(self, piece: Piece) -> LossSums:
        """Sum the leave-one-out log-losses of rows that were counted, for each candidate of shrinkage."""
        rows, sums = CountedRows.of(*piece[:3], type(self).__name__), self.statistics_
        codes = encode_labels(rows.y, sums.classes, counted=True).codes
        removed, table = removed_weight(rows.weight, len(codes)), self._encode(rows.X, sums, learning=True)
        log_prior = self._prior(sums).unweighted.without(codes, removed)
        left_out = LeftOutRows(sums, table, codes, removed, rows.weight, log_prior)
        return left_out.losses(self._reading_of(sums.columns), self.variance_floor)

    def with_covariance(self, covariance: str) -> Self:
        """Give a model of the same rows with another form of covariance, read from the same sums.

        It has the other parameters of this one. Only "spherical" leaves shrinkage to a sphere out, which changes
        nothing in what is a sphere already.

        Parameters
        ----------
        covariance : str
            Form of the covariance, as in the class.

        Returns
        -------
        GaussianClassifier
            A new model.

        See Also
        --------
        n_parameters : Number of free parameters: K - 1 for the classes, the means, and those of the covariances.

        Examples
        --------
        >>> from bayeswater import GaussianClassifier
        >>> model = GaussianClassifier().fit([[0, 1], [1, 0], [2, 2], [5, 5], [6, 7], [7, 6]], [0, 0, 0, 1, 1, 1])
        >>> model.with_covariance("diagonal").n_parameters, model.n_parameters
        (9, 11)
        """
        self._require_fitted()
        if covariance != self.covariance:
            refuse_em(self.missing, "another covariance expects other cells; call fit with it")
        changed = self._like_self()
        changed.covariance = covariance
        drawn = self._reading_of(self.statistics_.columns).shrinkage
        if covariance == "spherical" and not (isinstance(drawn, Friedman) and drawn.shared > 0):
            changed.shrinkage = None
        try:
            changed._require_parameters(self.statistics_)
        except ParameterError as error:
            if self.shrinkage is None or covariance not in FORMS:
                raise
            raise ParameterError(
                f"{error}; set_params(shrinkage=None) before with_covariance({covariance!r}) reads it without shrinkage"
            ) from None
        return changed._adopt(self.statistics_)

    def _require_sums(self, why_not: str) -> None:
        refuse_em(self.missing, why_not)
        if is_named(self.shrinkage, AUTO) and not hasattr(self, "statistics_"):
            raise ParameterError(
                "shrinkage='auto' is chosen by leave-one-out over all rows, and a first partial_fit has only some of "
                "them; call fit first, or give a number, 'oas' or Friedman(...)"
            )

    def _sums_read_alike(self, other: Self) -> tuple[Sums[Any], Sums[Any]]:
        mine, theirs = (type(model.statistics_.columns) for model in (self, other))
        if mine is not theirs:
            raise StatisticsError(
                "one model keeps the fourth moments that shrinkage='ledoit_wolf' needs and the other does not; fit "
                "both with the same shrinkage"
            )
        return super()._sums_read_alike(other)

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        require_missing_rule(self.missing, ("ignore", "em", "error"))
        require_finite(sums.columns, self._reading_of(sums.columns))

    def _reading_of(self, scatter: Scatter | None) -> CovarianceReading:
        return checked_reading(self, scatter)

    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> DenseTable:
        require_missing_rule(self.missing, ("ignore", "em", "error"))
        matrix = read_rows(X, type(self).__name__, self.missing, None if known is None else known.columns)
        if learning and self._keeps_fourth_moments:
            require_whole_rows(matrix)
        return matrix

    def _require_names(self, X: Any) -> None:
        """Compare names only where one side has none: named columns are found by their name."""
        if not (is_frame(X) and "feature_names_in_" in self.__dict__):
            super()._require_names(X)

    @property
    def _keeps_fourth_moments(self) -> bool:
        return is_named(self.shrinkage, LEDOIT_WOLF)

    def _count(self, table: DenseTable, labels: Labels, weight: Array | None) -> Scatter:
        kind = FourthMoments if self._keeps_fourth_moments else Scatter
        scatter = kind.of(table, labels, weight, skip_missing=self.missing != "error" and kind is Scatter)
        if self.missing == "em" and scatter.is_pairwise:
            return expected_scatter(scatter, table, labels, weight, self._reading_of(scatter), self.variance_floor)
        return scatter

    def _seen(self, table: DenseTable) -> SeenRanges:
        names = [column_name(table.names, j) for j in range(table.shape[1])]
        if isinstance(table, DenseMatrix):
            return SeenRanges.of_rows(names, table.values)
        return SeenRanges.of((name, table.column_pieces(j)) for j, name in enumerate(names))

    def _read(self, sums: Sums[Scatter]) -> FullJoint | IndependentJoint:
        return joint_of(self._log_prior(sums), self._read_densities(sums, self._reading_of(sums.columns)))

    def _read_densities(self, sums: Sums[Scatter], reading: CovarianceReading) -> Densities:
        return read_densities(sums.columns, sums.class_count.count, reading, self.variance_floor)

    def _likelihood_without(self, table: DenseTable, labels: Labels, removed: Array) -> Any:
        refuse_em(self.missing, "no row can be left out of them; hold rows out and call fit with the others")
        return likelihood_without(self.statistics_, self._densities, table, labels.codes, removed)

    def _score_table(self, table: DenseTable, finish: Any) -> Array:
        joint = self._joint() if finish is None else self._deciding_joint()
        with one_blas_thread(self._n_products(table.shape[0])):
            return score(joint, table, finish)

    def _deciding_joint(self) -> Joint:
        """Give what posteriors are made of: where classes share a covariance, lines instead of densities."""
        joint = self._joint()
        return self._once("line", [joint], lambda: line_joint(joint.log_prior, self._densities, joint) or joint)

    def _log_proba_without(self, table: DenseTable, labels: Labels, removed: Array) -> Array:
        with one_blas_thread(self._n_products(len(removed))):
            return super()._log_proba_without(table, labels, removed)

    def _n_products(self, n_rows: int) -> int:
        return n_rows * self.n_features_in_**2 * len(self.classes_)

    @property
    def _densities(self) -> Densities:
        return self._normals().densities

    def _shared_densities(self) -> Densities:
        reading = self._reading_of(self.statistics_.columns)
        shrinkage = Friedman() if self.covariance == "spherical" else reading.shrinkage
        return self._read_densities(self.statistics_, CovarianceReading("shared", reading.unbiased, shrinkage))

    @property
    def discriminant_axes_(self) -> Array:
        """Axes of largest difference between classes, first ones first: (n_columns, n_axes)."""
        return self._axes()[1].copy()

    @property
    def _n_features_out(self) -> int:
        return int(self._axes()[1].shape[1])

    def transform(self, X: Any) -> Array:
        """Give rows along the discriminant axes, counted from the mean of the class means.

        The axes are those of the shared covariance, with the shrinkage of the model but without its `prior`, and of the
        class means as they were counted. A row with a missing cell has no place on them: it is NaN.

        Parameters
        ----------
        X : rows
            A table, as in `predict`.

        Returns
        -------
        array of shape (n_rows, n_axes)
            At most one axis less than there are classes.

        See Also
        --------
        discriminant_axes_ : Axes of largest difference between classes, first ones first.

        Examples
        --------
        >>> from bayeswater import GaussianClassifier
        >>> X, y = [[0, 1], [1, 0], [2, 2], [5, 5], [6, 7], [7, 6]], [0, 0, 0, 1, 1, 1]
        >>> GaussianClassifier(covariance="shared").fit(X, y).transform(X).shape
        (6, 1)
        """
        table = self._table(X)
        return projected(table, *self._axes())

    def _axes(self) -> tuple[Array, Array]:
        """Mean of the class means (n_columns,), and the axes; found once for each setting."""
        joint = self._joint()
        return self._once("axes", [joint], lambda: discriminant_axes(np.exp(joint.log_prior), self._shared_densities()))

    @property
    def means_(self) -> Array:
        """Mean of each class and column (with a prior, the location of its Student-t): (n_classes, n_columns).

        A class that was declared but has no row yet has none: NaN.
        """
        return np.where(self._densities.blend.has_density[:, None], self._densities.mean, np.nan)

    @property
    def covariances_(self) -> Array:
        """Covariance of each class: (n_classes, n_columns, n_columns); NaN where there is none, as in `means_`."""
        p = self._densities
        covariances = np.stack([p.covariance(k) for k in range(p.n_classes)])
        if p.blend.reading.shared < 1:
            covariances[~p.blend.has_density] = np.nan
        return covariances

    def _draw(self, codes: Array, rng: np.random.Generator) -> Any:
        p = self._densities
        require_density(p.blend.has_density, codes, self.classes_)
        return self._like_fitted(draw_rows(p, codes, rng))

    def tables(self) -> dict[str, Any]:
        """Give the class prior, mean and standard deviation of the columns, and covariances, as labelled frames.

        There is one table of covariances for each class, or one for all where they share it; the diagonal forms need
        none.

        Returns
        -------
        dict {name: frame}
            Frames of the library that `fit` was given.

        See Also
        --------
        means_ : Mean of each class and column (with a prior, the location of its Student-t).
        covariances_ : Covariance of each class.

        Examples
        --------
        >>> from bayeswater import GaussianClassifier
        >>> X, y = [[0, 1], [1, 0], [2, 2], [5, 5], [6, 7], [7, 6]], [0, 0, 0, 1, 1, 1]
        >>> list(GaussianClassifier(covariance="shared").fit(X, y).tables())
        ['class', 'columns', 'covariance']
        """
        names, covariances = self._column_names(), self.covariances_
        columns: dict[str, Any] = {"column": names}
        for k, label in enumerate(self.classes_):
            columns[f"mean({label})"] = self.means_[k]
            columns[f"std({label})"] = np.sqrt(np.diagonal(covariances[k]))
        result = {"class": self._class_table(), "columns": write_frame(columns, self._library)}
        if self._densities.blend.reading.is_diagonal:
            return result
        is_one = self.covariance == "shared" and self.prior is None
        for k, label in enumerate(self.classes_[:1] if is_one else self.classes_):
            rows: dict[str, Any] = {"column": names, **dict(zip(names, covariances[k].T, strict=True))}
            result["covariance" if is_one else f"covariance({label})"] = write_frame(rows, self._library)
        return result

    def _reasons(self, X: Any, table: DenseTable, about: ExplainedRows) -> Explanations:
        raw, seen = read_raw(X, type(self).__name__), self.statistics_.seen
        terms, views = gaussian_terms(self._normals(), table, self._column_names(), raw, seen)
        return GaussianExplanations.of(terms, views, *about)

    def _curve(self, name: str) -> ColumnCurve:
        j, p = self._place_of(name), self._densities
        variance = np.array([p.covariance(k)[j, j] for k in range(p.n_classes)])
        mean = np.where(p.blend.has_density & (variance > 0), p.mean[:, j], np.nan)
        return normal_curve(name, mean, np.where(variance > 0, variance, 1.0), p.degrees)

    def _facts(self, X: Any) -> Facts:
        joint, names = self._joint(), self._column_names()
        x = self._table(X).block(slice(0, 1))[0].astype(np.float64)
        missing = np.flatnonzero(np.isnan(x)).tolist()
        if isinstance(joint, IndependentJoint):
            return {names[j]: [normal_fact(joint.columns.parameters, j)] for j in missing}
        return {names[j]: [DensityFact(*conditional_densities(self._densities, x, j))] for j in missing}

    def to_quadratic(self) -> QuadraticForm:
        """Write log P(class, x) as a square in x, for any form of covariance.

        Returns
        -------
        QuadraticForm
            The matrices, weights and intercepts of the classes.

        See Also
        --------
        to_linear : Write the posterior as softmax(W x + b), where the log-odds are linear in the features.

        Examples
        --------
        >>> import numpy as np
        >>> from bayeswater import GaussianClassifier
        >>> model = GaussianClassifier().fit([[0, 1], [1, 0], [2, 2], [5, 5], [6, 7], [7, 6]], [0, 0, 0, 1, 1, 1])
        >>> bool(np.allclose(model.to_quadratic().scores([[3, 1]]), model.predict_joint_log_proba([[3, 1]])))
        True
        """
        self._require_fitted()
        if self._is_calibrated:
            raise calibrated_has_none("a square in x")
        return quadratic_form(self._normals(), self.classes_, self._table, type(self).__name__)

    def _line(self) -> Line:
        return line_of_normals(self._normals(), self._column_names(), type(self).__name__)

    def _normals(self) -> FullJoint | IndependentJoint:
        joint = self._joint()
        assert isinstance(joint, FullJoint | IndependentJoint)
        return joint

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, the means, and those of the covariances.

        Shrinkage all the way (Friedman's parameters of 1) leaves but the covariance that is shared, or one variance.
        Short of that, all entries are still free to move with the data, if not as far: they count in full, and so they
        do with a prior.
        """
        n_classes, n_columns = len(self.classes_), self.n_features_in_
        reading = self._reading_of(self.statistics_.columns)
        return n_classes - 1 + n_classes * n_columns + reading.n_parameters(n_classes, n_columns)
