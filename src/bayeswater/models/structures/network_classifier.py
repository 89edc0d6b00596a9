"""`NetworkClassifier`: a Bayesian network with the class among its variables, learned from the rows.

    P(class | row)  is proportional to  the sum over missing cells of the product of P(v | parents) over all variables

The structure is searched for, the tables are estimated, and the posterior of the class is exact for any pattern of
missing cells. Which arcs a structure may have is told in `class_networks`.
"""

import operator
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metadata_routing import UNUSED

from bayeswater.data.frames import is_frame, materialised
from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.reading.coded_table import DiscreteTable
from bayeswater.data.reading.column_plan import ColumnPlan
from bayeswater.data.reading.discretising.finding_cuts import METHODS as CUTTING
from bayeswater.data.variable import Schema, Variable
from bayeswater.data.weights import CountedRows
from bayeswater.errors import BayesWarning, ParameterError, StatisticsError
from bayeswater.estimate.class_weights import ClassWeights
from bayeswater.explain.asking import Facts, state_facts
from bayeswater.explain.explaining import cells_as_given, explained_by_known_cells
from bayeswater.explain.pooled_explanations import PooledExplanations
from bayeswater.explain.turning import ExplainedRows
from bayeswater.families.curve import ColumnCurve, state_curve
from bayeswater.families.family import Settings
from bayeswater.families.settings import settings_of
from bayeswater.families.state_planning import code_columns, planned_table, read_planned, variables_of
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.inference.leave_one_out import leave_out_own_class
from bayeswater.inference.log_space import fall_back, log_posterior
from bayeswater.inference.network_joint import ClassJoint
from bayeswater.inference.scoring import JointWithout
from bayeswater.kernels.remainders import remainder
from bayeswater.models.calibrating import Priors, Review, review_piece
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.held_out import CellsOf, Fold, count_kinds, held_out_folds
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.network.network_rows import declared_variable, read_as_empty, with_empty_states
from bayeswater.models.semi_naive.aode import AODE
from bayeswater.models.settings import (
    checked_alpha,
    documented_as_in,
    note_columns,
    require_flag,
    require_missing_rule,
    require_unseen_rule,
)
from bayeswater.models.streaming.fitting import fit_whole
from bayeswater.models.streaming.passes import Piece
from bayeswater.models.structures.class_networks import SHAPES, ClassNetworks, CountedTables
from bayeswater.models.structures.state_table import codes_of
from bayeswater.networks.class_tables import NetworkTables, class_name
from bayeswater.networks.conditionals import Table
from bayeswater.networks.network import Network
from bayeswater.statistics.sums import ClassCounts
from bayeswater.structure.dag import Dag
from bayeswater.structure.scores import as_score
from bayeswater.structure.search import METHODS
from bayeswater.typing import Array

SELECTIONS = ("score", "cross-validated")
"""How the structure can be chosen."""


@documented_as_in(AODE)
class NetworkClassifier(BayesClassifier):
    """A Bayesian network as a classifier.

    Columns have states: categories as they are, numbers cut into bins. A missing cell is summed over, in `predict`
    exactly; in `fit` by EM, so that every row counts with all that is known of it.

    Parameters
    ----------
    structure : {"learned", "augmented", "tree", "naive"}, default "learned"
        "learned": the class is a variable like any other. In the others it is a parent of every column, and among the
        columns are learned: any arcs, at most one other parent for each, or none.
    selection : {"score", "cross-validated"}, default "score"
        "cross-validated" learns all four structures and takes the one whose networks of four fifths of the rows
        predict the classes of the last fifth with the least log-loss.
    structure_score : as `score` of `learn_structure`, default "bic"
        The score that the search maximises.
    method, max_parents, seed : those of `learn_structure`
        The search.
    alpha : float, default 1
        Pseudo-count of every cell of a table.
    columns, discretize : as in `AODE`
    missing : {"ignore", "error"}, default "ignore"
        What to do with missing cells: sum over them, or refuse them. In a column of one value they are a state,
        "(empty)".
    unseen : as in `AODE`
    class_weight : as in `AODE`
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out, of
        rows that were not used to choose cuts and structure.

    Attributes
    ----------
    network_ : BayesianNetwork
        The network; its class variable is called "class", or "(class)" beside a column of that name.
    structure_ : str
        The structure that was taken.
    cv_log_loss_ : dict
        Log-loss of each structure, where it was selected by that.
    columns_ : ColumnPlan
        Family of each column, and why.
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    classes_ : labels

    See Also
    --------
    BayesianNetwork : A network of discrete variables.
    learn_structure : Find the graph of the highest score.
    TAN : Tree-augmented naive Bayes.

    Notes
    -----
    `fit` takes what `learn_structure` takes, and O(n d) time for the tables of d columns. `predict` takes O(n d K) time
    for whole rows and K classes; missing cells are summed over in a junction tree, whose size grows exponentially with
    the treewidth.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
    >>> model = NetworkClassifier("augmented", structure_score="bdeu").fit(
    ...     table, ["same", "other", "other", "same"] * 5
    ... )
    >>> model.network_
    BayesianNetwork('class -> a; b -> a; class -> b'): 3 variables, 3 edges, 7 parameters
    >>> model.predict(pa.table({"a": ["yes", "yes"], "b": ["yes", "no"]}))
    array(['same', 'other'], dtype='<U5')
    """

    def __init__(
        self,
        structure: str = "learned",
        *,
        selection: str = "score",
        structure_score: Any = "bic",
        method: str = "auto",
        max_parents: int | None = None,
        seed: int = 0,
        alpha: float = 1.0,
        columns: Any = None,
        discretize: str = "mdl",
        missing: str = "ignore",
        unseen: str = "ignore",
        class_weight: Any = None,
        calibrate: bool = False,
    ) -> None:
        self.structure = structure
        self.selection = selection
        self.structure_score = structure_score
        self.method = method
        self.max_parents = max_parents
        self.seed = seed
        self.alpha = alpha
        self.columns = columns
        self.discretize = discretize
        self.missing = missing
        self.unseen = unseen
        self.class_weight = class_weight
        self.calibrate = calibrate

    _tags = ("categorical", "string")

    # ------------------------------------------------------------------ learning

    __metadata_request__fit = dict.fromkeys(("target", "progress"), UNUSED)  # no data of rows

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None, progress: Any = None
    ) -> Self:
        """Learn structure and tables from rows.

        Parameters
        ----------
        X : data frame (pandas, polars, pyarrow) or array of shape (n_rows, n_columns)
            With `target`, also a file or another source of rows; a search goes over them many times, so they are read
            into memory.
        y : labels of any type, of shape (n_rows,)
            The class of each row.
        sample_weight : weights of shape (n_rows,), or with `target` the name of a column, optional
            A row of weight w counts as w equal rows; one of weight 0 has no influence at all.
        target : str, optional
            Name of the column of X that holds the labels, in the place of y. Rows without a label are left out.
        progress : bool or callable, optional
            Whether to show how far reading a source has come; or a function of an object that has ``n_rows``,
            ``total_rows``, ``n_bytes``, ``total_bytes`` and ``fraction``.

        Returns
        -------
        self
            The object itself, fitted.

        Raises
        ------
        DataError
            Where cells or labels cannot be used; it names row, column and value.
        ParameterError
            Where a parameter is out of its range.

        See Also
        --------
        predict : Give the class of largest probability.

        Examples
        --------
        >>> from bayeswater import NetworkClassifier
        >>> model = NetworkClassifier("naive").fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> model.network_.edges
        (('class', 'x0'),)
        """
        self._require_parameters()
        if target is not None:
            fit_whole(self, X, y, sample_weight, target, progress)
            return self
        rows = CountedRows.of(X, y, sample_weight, type(self).__name__)
        labels = encode_labels(rows.y)
        ClassWeights.of(self.class_weight, labels.variable)  # refuses what is none
        with rows.named():
            table = planned_table(rows.X, labels, rows.weight, self._settings, self.discretize)
        table = with_empty_states(table, labels)
        networks = self._networks(table, labels, rows.weight)
        losses = {shape: networks.log_loss(shape) for shape in SHAPES} if self.selection == "cross-validated" else {}
        chosen = min(losses, key=losses.__getitem__) if losses else self.structure
        factors = networks.learned(chosen)
        self._library = note_columns(self, rows.X)
        counts = networks.counts(factors)
        self._adopt(table.plan, table.coded.schema, labels.variable, factors, chosen, losses, counts)
        return self._calibrated(rows) if self.calibrate else self

    def _calibrated(self, rows: CountedRows) -> Self:
        """Calibrate by rows that are held out, fold by fold (`models.held_out`)."""
        cells = CellsOf(type(self).__name__, self.columns_.sources)
        piece = Piece(*rows.triple)
        with rows.named(), warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesWarning)  # the fit has said it of all rows
            reviews = [
                review_piece(self._review_by_others(rows, replace(held_out, held_out=False)), held_out, piece)
                for held_out in held_out_folds(count_kinds(cells, piece), cells)
            ]
        return self.calibrate_with(reduce(operator.add, filter(None, reviews)).result())

    def _review_by_others(self, rows: CountedRows, fold: Fold) -> Callable[..., Review]:
        """Give what scores rows by cuts and structure that some rows choose, and by tables that are counted of all."""
        X, y, weight, _ = fold.rows(*rows.triple)
        if not len(y):  # a single row has no others
            return self._review_of
        classes, settings = self._classes, self._settings
        plan = planned_table(X, encode_labels(y, classes), weight, settings, self.discretize).plan
        labels = encode_labels(rows.y, classes)
        raw = read_planned(rows.X, plan, settings.model)
        table = with_empty_states(code_columns(raw, plan, None, settings, learning=True), labels)
        networks = self._networks(table, labels, rows.weight)
        # In the order of a hash of their cells: the rounding of weights shows no other.
        hashes = fold.cells.hashes(rows.X, rows.y)
        share = 1 - fold.folds.shares(hashes, rows.y)[:, fold.number]
        order = np.lexsort((labels.codes, hashes))
        order = order[share[order] > 0]
        shares = share[order] if rows.weight is None else share[order] * rows.weight[order]
        factors = networks.estimated(networks.take(order, shares).graph(self.structure_))
        model: Self = clone(self)
        model._library = note_columns(model, rows.X)
        model._adopt(plan, table.coded.schema, classes, factors, self.structure_, {}, networks.counts(factors))
        return model._review_of

    def _adopt(
        self,
        plan: ColumnPlan,
        schema: Schema,
        classes: Variable,
        factors: Factors,
        structure: str,
        losses: dict[str, float],
        counts: tuple[Array, ...] | None = None,
    ) -> None:
        """Take what was learned: how columns are read, their domains and the classes, the network and its counts."""
        own = declared_variable(class_name(schema.names), tuple(classes.labels.tolist()))
        variables, tables = [own, *variables_of(schema, plan)], [Table(values) for values in factors.tables]
        dag = Dag(tuple(variable.name for variable in variables), factors.parents)
        self.network_ = BayesianNetwork.from_core(Network.of(variables, dag, tables))
        self._schema, self._classes, self._factors = schema, classes, factors
        self._ready = ClassJoint(compile_tree(factors))
        self.columns_: ColumnPlan = plan.in_library(self._library)
        self.classes_ = classes.labels
        self.structure_ = structure
        self._counted = None if counts is None else CountedTables(factors, counts, float(self.alpha))
        for name in ("cv_log_loss_", "calibration_"):
            self.__dict__.pop(name, None)
        if losses:
            self.cv_log_loss_ = losses

    def _networks(self, table: DiscreteTable, labels: Labels, weight: Array | None) -> ClassNetworks:
        names = [variable.name for variable in table.coded.schema]
        columns = codes_of(table)
        kind = np.result_type(columns.dtype, np.min_scalar_type(labels.n_classes))
        return ClassNetworks(
            (class_name(names), *names),
            np.vstack([labels.codes[None].astype(kind), columns.astype(kind)]),
            np.array([labels.n_classes, *table.coded.schema.n_states]),
            weight,
            as_score(self.structure_score),
            self.method,
            self.max_parents,
            float(self.alpha),
            self.seed,
        )

    # ------------------------------------------------------------------ predicting

    @property
    def _settings(self) -> Settings:
        return settings_of(self)

    def _joint(self) -> ClassJoint:
        weights, plain = ClassWeights.of(self.class_weight, self._classes), self._ready.log_prior
        if weights is None:
            return self._ready
        weighted = weights.applied(plain, self._class_counts.count)
        return replace(self._ready, shift=np.where(np.isneginf(plain), 0.0, weighted - plain))

    def _priors(self) -> Priors:
        return Priors(self._joint().log_prior, self._ready.log_prior)

    def _table(self, X: Any) -> DiscreteTable:
        X = materialised(X)
        if not is_frame(X):  # the columns of a frame are found by their names
            self._require_names(X)
        raw = read_planned(X, self.columns_, type(self).__name__)
        return read_as_empty(code_columns(raw, self.columns_, self._schema, self._settings, learning=False))

    @property
    def _class_variable(self) -> Variable:
        return self._classes

    @property
    def _class_counts(self) -> ClassCounts:
        return ClassCounts(self._classes, self._counts_of_tables.class_count)

    @property
    def _counts_of_tables(self) -> CountedTables:
        self._require_fitted()
        if self._counted is None:
            raise StatisticsError(
                "this model comes from a file of an earlier version, which holds its tables and no counts, so that no "
                "row can be left out; fit again"
            )
        return self._counted

    def _joint_without(self, table: DiscreteTable, labels: Labels, removed: Array) -> JointWithout:
        counted, log_prior = self._counts_of_tables, self._joint().log_prior
        weights = ClassWeights.of(self.class_weight, self._classes)

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            codes = labels.codes[rows]
            found = counted.log_joint_without(table.block(rows), codes, removed[rows])
            if weights is not None:
                count = np.tile(counted.class_count, (len(codes), 1))
                own = remainder(counted.class_count[codes], removed[rows])
                with np.errstate(divide="ignore"):
                    found += np.log(weights.of_counts(leave_out_own_class(count, own, codes)))
            return found, np.broadcast_to(log_prior, found.shape)

        return log_joint

    def _reasons(self, X: Any, table: DiscreteTable, about: ExplainedRows) -> PooledExplanations:
        codes, cards, joint = table.block(slice(0, table.shape[0])), self._factors.card_array[1:], self._joint()
        raw = read_planned(X, table.plan, type(self).__name__)

        def log_proba(rows: Array, known: Array) -> Array:
            found = joint.of(np.where(known, codes[rows], cards))
            fall_back(found, joint.log_prior)
            return log_posterior(found)

        names = [column.name for column in self.columns_.used]
        cells = cells_as_given(raw, table.plan, table.plan.used, codes >= cards)
        corrected = self._calibration.corrected if self._is_calibrated else None
        return explained_by_known_cells(log_proba, names, len(codes), cells, about, corrected)

    def _curve(self, name: str) -> ColumnCurve:
        column, cards, joint = self.columns_.used_column(name), self._factors.card_array[1:], self._joint()
        j = self.columns_.used.index(column)
        alone = np.tile(cards, (cards[j], 1))  # every other cell is missing
        alone[:, j] = np.arange(cards[j])
        share = np.exp(joint.of(alone) - joint.log_prior)
        return state_curve(column, self.network_.core.variables[j + 1].states, share / share.sum(axis=0), None)

    def _facts(self, X: Any) -> Facts:
        codes, cards, joint = self._table(X).block(slice(0, 1))[0], self._factors.card_array[1:], self._joint()
        missing: dict[str, list[int]] = {}
        for j, column in enumerate(self.columns_.used):
            if codes[j] == cards[j]:
                missing.setdefault(column.source, []).append(j)
        return state_facts(joint.of, codes, cards, missing)

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
        >>> from bayeswater import NetworkClassifier
        >>> NetworkClassifier("naive").fit([["red"], ["green"]], ["cherry", "pea"]).network_tables().names
        ('class', 'x0')
        """
        core = self.network_.core
        states, tables = tuple(tuple(variable.states) for variable in core.variables), core.tables
        if self.class_weight is not None:
            if core.parents[0]:
                raise ParameterError(
                    "class_weight weighs classes that have parents in this network, so that no table says it; take "
                    "class_weight=None, or structure='augmented'"
                )
            tables = (np.exp(self._joint().log_prior), *tables[1:])
        return NetworkTables(core.dag.names, states, core.parents, tables)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.network_.n_parameters

    def _require_parameters(self) -> None:
        require_missing_rule(self.missing, ("ignore", "error"))
        require_unseen_rule(self.unseen)
        known_ones = {"structure": SHAPES, "selection": SELECTIONS, "method": METHODS, "discretize": CUTTING}
        for name, known in known_ones.items():
            if getattr(self, name) not in known:
                raise ParameterError(f"{name} is {getattr(self, name)!r}; it can be one of {[*known]}")
        as_score(self.structure_score)
        require_flag(self.calibrate, "calibrate")
        if np.ndim(self.alpha):
            raise ParameterError(f"alpha is {self.alpha!r}; give one number, 0 or more")
        checked_alpha(self.alpha, 1, force_alpha=True)

    def __add__(self, other: Any) -> Any:
        """Refuse: two classifiers have networks of their own, and tables of other columns.

        Raises
        ------
        StatisticsError
        """
        if not (isinstance(other, NetworkClassifier) or (isinstance(other, int) and other == 0)):
            return NotImplemented
        raise StatisticsError(
            "classifiers of networks cannot be added: each has learned a network of its own; call fit with all rows"
        )

    __radd__ = __add__  # of a `sum`, which begins with 0

    def __getstate__(self) -> dict[str, Any]:
        # What is ready for questions holds a lock, and is made again.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_ready"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_factors" in state:
            self._ready = ClassJoint(compile_tree(self._factors))


def learned_by(model: NetworkClassifier) -> tuple[Schema, Variable, Factors, CountedTables | None]:
    """Give the domains, classes, network and counts that a classifier has learned."""
    return model._schema, model._classes, model._factors, model._counted


def with_learned(model: NetworkClassifier, *learned: Any) -> None:
    """Let a classifier be one that has learned this, if its parameters are such as can be."""
    model._require_parameters()
    model._adopt(*learned)
