"""`CategoricalNB`: columns of categories, each with a distribution of its own in each class."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.labels import Labels
from bayeswater.data.reading.coded_table import CodedTable, Rules, encode_categories, report_unseen
from bayeswater.data.reading.column_plan import Column, spelled
from bayeswater.data.reading.raw_table import in_words, read_raw
from bayeswater.data.reading.truth_style import WordStyle
from bayeswater.data.variable import Schema, Variable
from bayeswater.decision.facts import MISSING_IS_STATE, StateFact
from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.estimate.dirichlet import Dirichlet
from bayeswater.estimate.smoothing import concentration_table
from bayeswater.explain.asking import Facts, counted_facts
from bayeswater.explain.explaining import explained_block
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.turning import ExplainedRows
from bayeswater.families.curve import ColumnCurve
from bayeswater.families.states import StateBlock, without_unknown
from bayeswater.inference.drawing import draw_states
from bayeswater.inference.linear import Line, line_of_states
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.on_sums import OnSums
from bayeswater.models.settings import checked_alpha, column_priors, require_missing_rule, require_unseen_rule
from bayeswater.models.weighing import WeighsOneLaw, require_no_weights
from bayeswater.networks.class_tables import NetworkTables, class_name
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


class CategoricalNB(WeighsOneLaw, OnSums, BayesClassifier):
    """Categorical naive Bayes: log P(k, x) = log P(k) + sum_j log P(x_j | k).

    P(v | k) = (N_kjv + alpha) / (N_kj + S_j alpha) for column j with S_j states. Whole numbers are taken as the
    codes 0 .. n-1, as in scikit-learn, and booleans as the codes 0 and 1; strings and declared categories (pandas
    Categorical, polars Enum, Arrow dictionary) as labels. So is a column of numbers with a fraction among them: the
    first rows decide, and `partial_fit` refuses a fraction in a column that holds codes.

    Parameters
    ----------
    alpha : float or array of shape (n_columns,), default 1
        Pseudo-count of each state: 1 is Laplace, less is Lidstone, 0 maximum likelihood.
    force_alpha : bool, default True
        Whether an alpha under 1e-10 is taken as it is.
    fit_prior : bool, default True
        Whether the class prior is counted; if not it is uniform.
    class_prior : array of shape (n_classes,), optional
        Class probabilities to use instead.
    class_weight : None, "balanced" or dict {label: weight}, default None
        Weight of each class in the class prior; "balanced" makes all classes with rows equally probable. A label that a
        dict does not name has weight 1. P(row | class) does not change.
    min_categories : int or array of shape (n_columns,), optional
        Number of codes that a column of codes has at least, seen or not.
    class_alpha : float, default 0
        Pseudo-count of each class in the class prior.
    missing : {"error", "ignore", "state"}, default "error"
        What to do with missing cells: refuse them, leave them out, or take missing as a state of its own.
    unseen : {"ignore", "error"}, default "ignore"
        What to do at prediction with a category that was never counted: leave it out, with one warning, or refuse.
    columns : dict, optional
        ``{column: {"prior": Dirichlet(...)}}``: columns with pseudo-counts of their own, by label.
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out. It
        has no effect with learned weights, which need no further calibration.
    weights : None or "learned", default None
        "learned" gives each column a weight in each class, learned by leave-one-out, so that columns that repeat each
        other count once.

    Attributes
    ----------
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    term_weights_ : TermWeights
        The weights of the columns, where they were asked for.
    category_count_, feature_log_prob_ : lists of arrays of shape (n_classes, n_states), one for each column
    categories_ : list of arrays, the states of each column
    n_categories_ : array of shape (n_columns,)
    class_count_, class_log_prior_, classes_ : arrays of shape (n_classes,)

    See Also
    --------
    NaiveBayes : Naive Bayes of a mixed table.
    AODE : Averaged one-dependence estimators.

    Notes
    -----
    With n rows, d columns of s states and K classes, `fit` takes O(n d) time and the counts O(K d s) memory; `predict`
    takes O(n d K).

    Examples
    --------
    >>> X = [["red", "round"], ["red", "long"], ["green", "round"]]
    >>> model = CategoricalNB().fit(X, ["cherry", "chili", "pea"])
    >>> model.predict([["green", "round"]])
    array(['pea'], dtype='<U6')
    >>> model.statistics_.columns.schema[0].states
    ('green', 'red')
    """

    _grouped_as = "margins"
    _fixes_classes = True
    _tags = ("categorical", "string", "positive_only")

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        class_weight: Any = None,
        min_categories: Any = None,
        class_alpha: float = 0.0,
        missing: str = "error",
        unseen: str = "ignore",
        columns: Any = None,
        calibrate: bool = False,
        weights: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.min_categories = min_categories
        self.class_alpha = class_alpha
        self.missing = missing
        self.unseen = unseen
        self.columns = columns
        self.calibrate = calibrate
        self.weights = weights

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        require_unseen_rule(self.unseen)
        self._concentration(sums.columns)

    def _concentration(self, counts: CategoryCounts) -> Array:
        alpha = checked_alpha(self.alpha, len(counts.schema), force_alpha=self.force_alpha)
        return concentration_table(counts, alpha, self._column_priors(counts.schema))

    def _column_priors(self, schema: Schema) -> dict[int, Dirichlet]:
        priors = column_priors(self.columns, schema.names, len(schema), Dirichlet)
        for j, prior in priors.items():
            if schema[j].is_coded and not schema[j].is_undecided:
                _require_codes(prior.labels, schema[j].name)
        return priors

    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> CodedTable:
        let_in = require_missing_rule(self.missing, ("error", "ignore", "state"))
        rules = Rules(type(self).__name__, not let_in, None if known is None else known.columns.schema, grow=learning)
        coded = encode_categories(in_words(X), rules)
        if coded.unseen:
            report_unseen(coded.unseen, coded.shape[0], self.unseen)
        unknown = vars(self).get("_unknown", {}) if self.missing == "state" else {}
        return without_unknown(coded, coded.schema.names, unknown)

    def _count(self, table: CodedTable, labels: Labels, weight: Array | None) -> CategoryCounts:
        counts = CategoryCounts.of(table, labels, weight)
        return counts.declaring(self._declared(counts.schema))

    def _declared(self, schema: Schema) -> Schema:
        """States that the parameters declare: the first `min_categories` codes, and the labels that a prior names."""
        declared = list(schema)
        for j, least in enumerate(self._least_categories(len(schema))):
            if least and schema[j].is_coded:
                # Codes reach down to 0: the last one declares them all.
                declared[j] = Variable.of_codes(schema[j].name, least, frozenset({least - 1}))
        for j, prior in self._column_priors(schema).items():
            if prior.labels:
                labels = frozenset(prior.labels)
                if all(map(_is_code, labels)) if declared[j].is_undecided else declared[j].is_coded:
                    named = Variable.of_codes(schema[j].name, max(labels) + 1, labels)
                else:
                    named = Variable(schema[j].name, tuple(prior.labels), labels)
                declared[j] = named.union(declared[j])
        return Schema(tuple(declared))

    def _least_categories(self, n_columns: int) -> list[int]:
        if self.min_categories is None:
            return [0] * n_columns
        least = np.asarray(self.min_categories)
        if least.dtype.kind != "i":
            raise ParameterError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.shape not in ((), (n_columns,)):
            raise ParameterError(
                f"'min_categories' should have shape ({n_columns},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        if (least < 1).any():
            raise ParameterError(f"min_categories is {self.min_categories!r}; every column has 1 category or more")
        return np.broadcast_to(least, (n_columns,)).tolist()

    def _block(self, columns: CategoryCounts) -> StateBlock:
        return StateBlock(columns, self._concentration(columns), self.missing == "state")

    def _law(self) -> StateBlock:
        return self._block(self.statistics_.columns)

    def _law_of_column(self, j: int) -> StateBlock:
        counts, block = self.statistics_.columns, self._law()
        own = block.concentration[counts.start[j] : counts.start[j + 1]]
        return StateBlock(counts.take([j]), own, self.missing == "state")

    def _line(self) -> Line:
        require_no_weights(self)
        schema = self.statistics_.columns.schema
        columns = [(variable.name, variable.labels.tolist()) for variable in schema]
        return line_of_states(self._block(self.statistics_.columns).joint, columns)

    def _sums_read_alike(self, other: Self) -> tuple[Sums[CategoryCounts], Sums[CategoryCounts]]:
        if (self.missing == "state") != (other.missing == "state"):
            raise StatisticsError("cannot combine a model that takes missing as a state with one that does not")
        styles = {**other.read_as_.styles, **self.read_as_.styles}
        words = {name: style for name, style in styles.items() if isinstance(style, WordStyle)}
        return _spelled(self.statistics_, words), _spelled(other.statistics_, words)

    def _facts(self, X: Any) -> Facts:
        codes, n_states = self._table(X).block(slice(0, 1))[0], self.statistics_.columns.n_states
        missing = np.flatnonzero((codes == n_states) | (codes == n_states + 2)).tolist()  # or not known
        names = self._column_names()
        if self.missing == "state":
            return {names[j]: MISSING_IS_STATE for j in missing}
        facts = {names[j]: StateFact(self.feature_log_prob_[j].T) for j in missing}
        return counted_facts(facts, self._weights_if_asked(self._table(X)))

    def _curve(self, name: str) -> ColumnCurve:
        return self._block(self.statistics_.columns).curve(Column(name, name, "categorical"), self._place_of(name))

    def _known_cells(self, table: CodedTable) -> Array:
        return table.known_cells(self.missing == "state")

    def _reasons(self, X: Any, table: CodedTable, about: ExplainedRows) -> Explanations:
        block, raw = self._block(self.statistics_.columns), read_raw(X, type(self).__name__)
        log_prior, names = self._joint().log_prior, self._column_names()
        return explained_block(block, "categorical", log_prior, table, names, raw, about, self._row_weights)

    def _draw(self, codes: Array, rng: np.random.Generator) -> Any:
        drawn = []
        for labels, log_probability in zip(self.categories_, self.feature_log_prob_, strict=True):
            if not len(labels):  # every cell of the column was missing
                drawn.append(np.full(len(codes), None, dtype=object))
                continue
            drawn.append(labels[draw_states(np.exp(log_probability)[codes], rng)])
        if self._library is not None:
            return write_frame(dict(zip(self._column_names(), drawn, strict=True)), self._library)
        of_one_kind = len({column.dtype.kind for column in drawn}) == 1
        return np.stack(drawn, axis=1, dtype=None if of_one_kind else object)

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and for each column P(state | class), as labelled frames by name.

        The prior is called "class", or "(class)" beside a column of that name.

        Returns
        -------
        dict {name: frame}
            Frames of the library that `fit` was given.

        See Also
        --------
        sample : Draw rows of categories, in the form `fit` was given, and their classes.
        network_tables : Give the model as a Bayesian network: the class, and every column with its parents.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import CategoricalNB
        >>> model = CategoricalNB().fit(pd.DataFrame({"colour": ["red", "red", "green"]}), ["cherry", "cherry", "pea"])
        >>> list(model.tables())
        ['class', 'colour']
        """
        self._require_fitted()
        result = {class_name(self._column_names()): self._class_table()}
        for name, states, log_probability in zip(
            self._column_names(), self.categories_, self.feature_log_prob_, strict=True
        ):
            columns: dict[str, Any] = {str(name): states}
            columns |= {f"P({name} | {label})": np.exp(log_probability[k]) for k, label in enumerate(self.classes_)}
            result[name] = write_frame(columns, self._library)
        return result

    def network_tables(self) -> NetworkTables:
        """Give the model as a Bayesian network: the class, and every column with its parents.

        Returns
        -------
        NetworkTables
            Names, states, parents and tables of the class and of all columns.

        See Also
        --------
        to_network : Give the fitted model as a network, in which the class is a variable like any other.

        Examples
        --------
        >>> from bayeswater import CategoricalNB
        >>> CategoricalNB().fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"]).network_tables().names
        ('class', 'x0')
        """
        log_prior, schema, missing = self._joint().log_prior, self.statistics_.columns.schema, self.missing == "state"
        states = [(*variable.states, None) if missing else variable.states for variable in schema]
        share = [np.exp(log_probability).T for log_probability in self.feature_log_prob_]
        return NetworkTables.of_star(self.classes_, log_prior, zip(schema.names, states, share, strict=True))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, S_j - 1 for each class and column, and learned weights."""
        n_classes = len(self.classes_)
        return n_classes - 1 + n_classes * int((self.n_categories_ - 1).sum()) + self._n_weights

    @property
    def categories_(self) -> list[Array]:
        """The states of each column (and None for missing, where it is a state)."""
        labels = [column.labels for column in self.statistics_.columns.schema]
        if self.missing != "state":
            return labels
        return [np.array([*states.tolist(), None], dtype=object) for states in labels]

    @property
    def category_count_(self) -> list[Array]:
        """Counts of the states of each column in each class."""
        counts = self.statistics_.columns
        return [part.T.astype(np.float64) for part in self._by_column(counts.table)]

    @property
    def feature_log_prob_(self) -> list[Array]:
        """Logarithm of P(state | class) for each column."""
        return [part.T for part in self._by_column(self._block(self.statistics_.columns).log_probability())]

    def _by_column(self, table: Array) -> list[Array]:
        start = self.statistics_.columns.start
        tail = 0 if self.missing == "state" else 1
        return [table[first : last - tail] for first, last in pairwise(start)]

    @property
    def n_categories_(self) -> Array:
        """Number of states of each column."""
        return self.statistics_.columns.n_states + (1 if self.missing == "state" else 0)


def _spelled(sums: Sums[CategoryCounts], words: Mapping[str, WordStyle]) -> Sums[CategoryCounts]:
    """Name states for true and false alike."""
    return replace(sums, columns=replace(sums.columns, schema=spelled(sums.columns.schema, words)))


def _require_codes(labels: Iterable[Any], name: str) -> None:
    for label in labels:
        if not _is_code(label):
            raise ParameterError(
                f"the prior of column {name!r} names {label!r}, but the column holds the integer codes 0, 1, 2, ...; "
                "name these"
            )


def _is_code(label: Any) -> bool:
    return isinstance(label, int | np.integer) and bool(label >= 0)
