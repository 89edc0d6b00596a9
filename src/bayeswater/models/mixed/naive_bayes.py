"""`NaiveBayes`: one model for a real table of numbers, categories, flags, counts, dates and text, with holes in it.

`fit` walks the road with all columns side by side: the table is planned (a family for each column), each group of
columns is encoded and summed by its law, and where a family is still open it is chosen from the sums. From then on the
plan is fixed, and the sums of all laws add and subtract as one.
"""

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import Alongside, index_of, is_frame, materialised, write_frame
from bayeswater.data.labels import Labels
from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import AUTO, COUNTS, Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable, drawn_rows, read_raw
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows
from bayeswater.errors import ParameterError
from bayeswater.estimate.class_weights import ClassWeights
from bayeswater.explain.asking import Facts, facts_of_columns
from bayeswater.explain.credible_interval import CredibleIntervals, PosteriorDraws, support
from bayeswater.explain.explanations import Explanations, Terms, views_of
from bayeswater.explain.linear_form import line_of_groups
from bayeswater.explain.novelty import novelty
from bayeswater.explain.turning import ExplainedRows
from bayeswater.families.curve import ColumnCurve
from bayeswater.families.family import Block, MixedJoint, Settings
from bayeswater.families.open_numbers import NumberProfile
from bayeswater.families.planning import warn_of_columns
from bayeswater.families.registry import (
    NUMERIC,
    OF_TEXT,
    OpenNumbers,
    count_columns,
    encode_columns,
    families_of,
    key_of,
    read_blocks,
    seen_in_columns,
    with_new_cells,
)
from bayeswater.families.settings import column_settings, is_smoothing, require_same_families
from bayeswater.families.telling_gaps import warn_of_telling_gaps
from bayeswater.inference.drawing import Stage, checked_draws, checked_seed
from bayeswater.inference.linear import Line
from bayeswater.inference.log_space import log_evidence
from bayeswater.inference.scoring import score
from bayeswater.models.calibrating import as_stale
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.mixed.table_learning import MixedReading, state_shares
from bayeswater.models.on_sums import OnSums
from bayeswater.models.settings import (
    checked_class_alpha,
    require_decay,
    require_flag,
    require_missing_rule,
    require_unseen_rule,
)
from bayeswater.models.streaming.answering import in_memory, over_rows
from bayeswater.models.streaming.passes import Examples, Passes
from bayeswater.models.weighing import WeighsTerms, require_no_weights
from bayeswater.networks.class_tables import NetworkTables, class_name
from bayeswater.phrases import Language
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import SeenRanges, Sums
from bayeswater.typing import LARGEST_COUNT, Array, is_number


class NaiveBayes(WeighsTerms, OnSums, BayesClassifier):
    """Naive Bayes of a mixed table: log P(k, x) = log P(k) + sum over columns of log P(x_j | k).

    Each column gets a family from its type and values: categorical, Bernoulli, Gaussian, log-normal, Poisson,
    negative binomial, beta, von Mises, bins, or words of a text. ``columns_`` says which and why.

    Parameters
    ----------
    columns : dict, optional
        How to read columns: ``{"age": "binned", "note": "text", "id": "ignored", "coin": {"prior": Beta(2, 8)}}``, or
        the ``columns_`` of another model, to read the table as it does. Periodic numbers need a period,
        ``{"hour": {"period": 24}}``. "mdl" is short for ``{"bins": "mdl"}``: bins that separate the classes.
    family : {"auto", "gaussian", "lognormal", "poisson", "negative_binomial", "beta", "binned"}, default "auto"
        Family of numbers that `columns` does not name; "auto" takes the one with the largest marginal likelihood.
    alpha : "auto" or float, default "auto"
        Pseudo-count of each state or word; "auto" finds the best one for each column from the sums, 0 is maximum
        likelihood.
    class_alpha : float, default 1
        Pseudo-count of each class in the class prior.
    class_prior : array of shape (n_classes,), optional
        Class probabilities; counted from the rows if not given.
    class_weight : None, "balanced" or dict {label: weight}, default None
        Weight of each class in the class prior; "balanced" makes all classes with rows equally probable. A label that a
        dict does not name has weight 1. P(row | class) does not change.
    missing : {"ignore", "state", "error"}, default "ignore"
        What to do with missing cells: leave them out, take them as a state of their own (in categories and bins), or
        refuse them. In a column with one value they are always a state.
    unseen : {"ignore", "error"}, default "ignore"
        What to do at prediction with a category that was never counted: leave it out, with one warning, or refuse.
    variance_floor : float, default 0.01
        Least variance of a number within a class, as a share of its variance over all classes. Without it, a class
        with a few equal values would have a density of zero width.
    calibrate : bool, default False
        Whether probabilities are corrected by leave-one-out; it has no effect with learned weights.
    weights : None or "learned", default None
        "learned" gives each column a weight in each class, learned by leave-one-out, so that columns that repeat each
        other count once. In texts every word, and every pair of neighbouring ones, has weights of its own.

    Attributes
    ----------
    columns_ : ColumnPlan
        Family of each column and the reason for it; it can be printed.
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    term_weights_ : TermWeights
        The weights of the columns, where they were asked for; it can be printed.
    word_weights_ : dict {column: TextWeights}, the same of the words of each text
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    statistics_ : Sums
        The sums that everything is read from.

    See Also
    --------
    AODE : Averaged one-dependence estimators.
    BayesEnsemble : An ensemble of classifiers on counts, which needs no tuning.
    CategoricalNB : Naive Bayes of categories.
    GaussianNB : Naive Bayes of numbers.

    Notes
    -----
    With n rows, d columns and K classes, `fit` takes O(n d) time, and the sums O(K) memory for each state, bin, word or
    moment of a column; ``weights="learned"`` and ``calibrate=True`` take O(n d K) more for each step of a search.
    `predict` takes O(n d K).

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table(
    ...     {
    ...         "colour": ["red", "red", "green", "green"],
    ...         "weight": [120.0, 140.0, 8.0, None],
    ...         "sweet": [True, True, False, True],
    ...     }
    ... )
    >>> model = NaiveBayes().fit(table, ["apple", "apple", "pea", "pea"])
    >>> model.predict(pa.table({"colour": ["red"], "weight": [None], "sweet": [True]}))
    array(['apple'], dtype='<U5')
    """

    def __init__(
        self,
        *,
        columns: Any = None,
        family: str = AUTO,
        alpha: Any = AUTO,
        class_alpha: float = 1.0,
        class_prior: Any = None,
        class_weight: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        variance_floor: float = 0.01,
        calibrate: bool = False,
        weights: str | None = None,
    ) -> None:
        self.columns = columns
        self.family = family
        self.alpha = alpha
        self.class_alpha = class_alpha
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.missing = missing
        self.unseen = unseen
        self.variance_floor = variance_floor
        self.calibrate = calibrate
        self.weights = weights

    _tags = ("categorical", "string", "sparse")
    _not_sent = ("_memo", "_texts_of_fit", "_read_terms")
    _read_terms: tuple[Sums[Any] | None, Settings | None, Mapping[str, Block]] = None, None, {}

    # ------------------------------------------------------------------ learning

    def _passes(self, examples: Examples, classes: Variable | None = None) -> Passes[Self]:
        """Plan a table, count it, settle its families, calibrate it; `classes` are declared beforehand."""
        self._require_reading_parameters()
        reading, head = self._mixed_reading, examples.head
        total, folds = yield from reading.counted(examples, rereads=self._rereads)
        sums = total.sums if classes is None else total.sums.with_classes(classes)
        self._keep(reading.settled_after(total, sums, head), head.X, first=True)
        if total.texts and self._learns_weights:
            self._texts_of_fit = head.X, total.texts  # until the weights of words are learned
        warn_of_columns(self.statistics_.columns, with_states=self.missing != "state")
        if self.missing == "ignore":
            warn_of_telling_gaps(self.statistics_)
        profile = sums.columns.groups.get(OpenNumbers.key)
        if not (isinstance(profile, NumberProfile) and total.choosing is not None):
            return (yield from self._corrected())
        cut = [chosen and reading.recut(self.statistics_, profile, chosen) for chosen in total.choosing.parts]
        models = [copy(self)._adopt(sums) if sums else self for sums in cut]  # a single row has no others
        return (yield from self._corrected(models, folds))

    @property
    def _mixed_reading(self) -> MixedReading:
        return MixedReading(self._settings, self.family, self.class_alpha, self._learns_weights)

    def _sums_with(self, X: Any, y: Any, sample_weight: Any, classes: Variable | None) -> Sums[ColumnGroups]:
        """Add further rows to the sums; how a column is read that was empty so far, the first of them decide."""
        rows = CountedRows.of(X, y, sample_weight, type(self).__name__)
        with rows.named():
            sums = self.statistics_
            if self.columns_.open:
                self._require_names(rows.X)
                sums = self._mixed_reading.with_arrived(sums, rows.X)
            return self._mixed_reading.settled(sums + self._sums_of(*rows.triple, classes, sums), rows.triple)

    def decay(self, factor: float) -> Self:
        """Let every row counted so far weigh `factor` times what it did, so that newer rows count for more.

        A row that is to be forgotten later has the weight it then has: ``forget(X, y, sample_weight=...)``.

        Parameters
        ----------
        factor : float
            More than 0, and 1 at most.

        Returns
        -------
        self
            The object itself.

        See Also
        --------
        partial_fit : Learn from further rows: the same, to the bit for counts, as one `fit` on all rows.
        forget : Remove rows: the sums become those of a fit that never saw them.

        Examples
        --------
        >>> from bayeswater import NaiveBayes
        >>> NaiveBayes().fit([["red"], ["green"]], ["cherry", "pea"]).decay(0.5).class_count_
        array([0.5, 0.5])
        """
        self._require_fitted()
        require_decay(factor, self.statistics_.class_count.count)
        if self._is_calibrated:
            self.calibration_ = as_stale(self.calibration_, self.statistics_.classes, self.statistics_.classes)
        return self._adopt(self.statistics_.scaled(float(factor)))

    # ------------------------------------------------------------------ the road

    @property
    def _settings(self) -> Settings:
        read = (self.alpha, self.variance_floor, self.missing, self.unseen, column_settings(self.columns))
        unknown, words = vars(self).get("_unknown", {}), TextAnalyser(pairs=self._learns_weights)
        return Settings(type(self).__name__, *read, as_found=True, unknown=unknown, words=words)

    @property
    def _open_texts(self) -> Collection[str]:
        settings = self._settings
        return {text.name for text in self.columns_.of_families(*OF_TEXT) if settings.of(text).analyser is None}

    def _encode(self, X: Any, known: Sums[ColumnGroups] | None, *, learning: bool) -> MixedTable:
        assert known is not None  # the first rows are read by a plan that was made of them
        raw = read_raw(X, type(self).__name__)
        return encode_columns(raw, known.columns.plan, known.columns.groups, self._settings, learning=learning)

    def _count(self, table: MixedTable, labels: Labels, weight: Array | None) -> ColumnGroups:
        return count_columns(table, labels, weight, self._settings)

    def _sums_read_alike(self, other: Self) -> tuple[Sums[Any], Sums[Any]]:
        ends = ({**model.statistics_.seen.high} for model in (self, other))
        self.columns_.require_same_shares(other.columns_, *ends)
        return super()._sums_read_alike(other)

    def _seen(self, table: MixedTable) -> SeenRanges:
        return seen_in_columns(table)

    def _read(self, sums: Sums[ColumnGroups]) -> MixedJoint:
        return MixedJoint(self._log_prior(sums), self._terms(sums))

    def _terms(self, sums: Sums[ColumnGroups]) -> Mapping[str, Block]:
        """Read the terms of every law, once for each setting: to choose the smoothing of all columns takes time."""
        settings = self._settings
        known, setting, terms = self._read_terms
        if known is not sums or setting != settings:
            terms = read_blocks(sums.columns, settings)
            self._read_terms = sums, settings, terms
        return terms

    def _likelihood_without(self, table: MixedTable, labels: Labels, removed: Array) -> Any:
        return self._mixed_joint().without(table, labels, removed)

    def _as_reviewed(self) -> Self:
        """Make a copy of the model that misses each row it leaves out in the choice of its smoothing, too."""
        sums, settings = self.statistics_, self._settings
        terms = dict(self._terms(sums))
        for key, family in families_of(sums.columns.plan).items():
            terms[key] = family.without_choice(terms[key], settings)
        model = copy(self)._adopt(sums)
        model.__dict__.update(_read_terms=(sums, settings, terms), _is_review=True)
        return model

    # ------------------------------------------------------------------ what holds of the parameters

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        self._require_reading_parameters()
        require_same_families(self._settings.given, sums.columns.plan)
        self._terms(sums)

    def _require_reading_parameters(self) -> None:
        require_missing_rule(self.missing, ("ignore", "state", "error"))
        require_unseen_rule(self.unseen)
        require_flag(self.calibrate, "calibrate")
        self._require_weights()
        checked_class_alpha(self.class_alpha)
        if self.family not in (AUTO, *NUMERIC):
            raise ParameterError(f"family is {self.family!r}; it can be one of {[AUTO, *NUMERIC]}")
        if not is_smoothing(self.alpha):
            raise ParameterError(f"alpha is {self.alpha!r}; it must be 'auto' or a number from 0 to {LARGEST_COUNT:g}")
        if not (is_number(self.variance_floor) and self.variance_floor > 0):
            raise ParameterError(f"variance_floor is {self.variance_floor!r}; it must be a number over 0")

    def _require_names(self, X: Any) -> None:
        """Compare names where they do not find their column: in arrays, and in a block of sparse columns."""
        if not is_frame(X) or COUNTS in self.columns_.sources:
            super()._require_names(X)

    def _facts(self, X: Any) -> Facts:
        groups, unknown = self._columns_of_groups(), self._settings.unknown
        weights = self._weights_if_asked(self._table(X))
        return facts_of_columns(self._mixed_joint(), groups, self.columns_, self._raw(X), unknown, weights)

    # ------------------------------------------------------------------ why, how sure, and whether it saw the like

    def _reasons(self, X: Any, table: MixedTable, about: ExplainedRows) -> Explanations:
        terms = Terms(self._term_joint(), table, self._columns_of_groups(), weights=self._row_weights)
        return Explanations.of(terms, views_of(terms, self._raw(X), self.statistics_.seen), *about)

    def credible_interval(
        self, X: Any, *, level: float = 0.95, n_draws: int = 1000, random_state: int = 0, lang: str = "en"
    ) -> CredibleIntervals:
        """Give an interval for P(class | row) of each row; it is wide if few rows support the answer.

        Parameters are drawn from their posterior given the sums: Dirichlet for the classes, categories, bins and words,
        Normal-inverse-gamma for normal columns (by the reference prior where none is given) and gamma for rates. Of a
        calibrated model each draw is calibrated by the same map, so that the interval is one of what
        `predict_proba` gives. Smoothing that was chosen automatically counts as known: of some dozens of rows intervals
        of 95 % then hold about 90 %; with ``alpha=1`` they hold what they say.

        A text that is read by complement counts, which have no posterior, is taken here as its words are counted: the
        same sums read as a multinomial. Then the interval tells how well the words of the row are known, and what is
        predicted from them by complement counts may lie beside it.

        Parameters
        ----------
        X : rows
            A table in memory, the name of a file, or partial rows (a dict, a list of dicts, a Series), as in `predict`.
        level : float, default 0.95
            Probability that the interval holds the true value.
        n_draws : int, default 1000
            Number of draws of the parameters.
        random_state : int, default 0
            Seed of the draws. The interval of a row does not depend on the other rows of X.
        lang : {"en", "zh"}, default "en"
            Language in which they are printed.

        Returns
        -------
        CredibleIntervals
            ``probability``, ``low`` and ``high`` (n_rows, n_classes), and ``support`` (n_rows,): how many rows of the
            predicted class have the row's rarest cell.

        See Also
        --------
        novelty : Say how usual each row is: near 0 for rows unlike those that the model has learned.
        predict_proba : Give the probability of each class, calibrated if that was asked for.

        Examples
        --------
        >>> from bayeswater import NaiveBayes
        >>> model = NaiveBayes(alpha=1).fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> model.credible_interval([["red"]], n_draws=100).probability.round(2)
        array([[0.77, 0.23]])
        """
        self._require_fitted()
        model, X = in_memory(self, X, "credible_interval")
        if model is not self:
            return model.credible_interval(X, level=level, n_draws=n_draws, random_state=random_state, lang=lang)
        X = materialised(X)
        table, joint, count = self._table(X), self._mixed_joint(), self.class_count_
        decided, known = self._decided(table), self._known_cells(table)
        stage = Stage(checked_seed(random_state), checked_draws(n_draws), len(count))
        prior = self._prior(self.statistics_)
        class_shape = count + prior.alpha if prior.given is None else None
        draws = PosteriorDraws.of(joint.generative(), self.columns_.used, self._columns_of_groups(), class_shape, stage)
        if self.class_weight is not None:  # rows that count as more tell no more
            weight = ClassWeights(np.exp(joint.log_prior) / (count + prior.alpha))
            draws = replace(draws, log_prior=weight.applied(draws.log_prior, count))
        if self._is_weighed:
            draws = draws.weighted_by(self._weighted_joint(), self._columns_alone(), stage)

        def corrected(log_proba: Array, rows: slice) -> Array:
            """Calibrate the draws of each row."""
            return self._calibration.corrected(log_proba, np.repeat(known[rows], stage.n_draws))

        low, high = draws.intervals(table, level, corrected if self._is_calibrated else None)
        behind = support(joint, table, self.statistics_.class_count.count, decided.chosen)
        proba, alongside = np.exp(decided.decisive), Alongside(self._library, index_of(X))
        language = Language.of(lang).code
        return CredibleIntervals(proba, low, high, self.classes_, behind, decided.chosen, level, alongside, language)

    def novelty(self, X: Any, *, n_draws: int = 2000, random_state: int = 0) -> Array:
        """Say how usual each row is: near 0 for rows unlike those that the model has learned.

        It is the share of rows drawn from the model that are no more probable than this one: `log_evidence` turned into
        a tail probability. Rows of the model have novelties spread evenly over 0 to 1. A row is compared with drawn
        rows that have the same cells missing, and texts of as many words. A category that was never seen, or a number
        beyond the bins of its column, is a state that the drawn rows never have, less probable than all that they have.
        Words that were never seen are left out of a text, as everywhere: one of such words alone is as usual as an
        empty one.

        Parameters
        ----------
        X : rows
            A table in memory, the name of a file, or partial rows (a dict, a list of dicts, a Series), as in `predict`.
        n_draws : int, default 2000
            Number of rows to draw. No novelty is smaller than 1 / (1 + n_draws).
        random_state : int, default 0
            Seed of the draws. The novelty of a row does not depend on the other rows of X.

        Returns
        -------
        array of shape (n_rows,)
            Tail probabilities, above 0 and up to 1.

        See Also
        --------
        log_evidence : Give the logarithm of P(row), the sum over all classes.
        credible_interval : Give an interval for P(class | row) of each row; it is wide if few rows support the answer.

        Examples
        --------
        >>> from bayeswater import NaiveBayes
        >>> model = NaiveBayes(alpha=1).fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> model.novelty([["red"]], n_draws=100)
        array([1.])
        """
        self._require_fitted()
        model, X = in_memory(self, X, "novelty")
        if model is not self:
            return model.novelty(X, n_draws=n_draws, random_state=random_state)
        X = materialised(X)
        table, joint = with_new_cells(self._table(X), self._raw(X)), self._mixed_joint().generative()
        return novelty(joint, table, self._columns_of_groups(), checked_draws(n_draws), checked_seed(random_state))

    @over_rows
    def log_evidence(self, X: Any) -> Array:
        """Give the logarithm of P(row), the sum over all classes.

        A text that is read by complement counts, which score classes but are no distribution of texts, is taken here as
        its words are counted: the same sums read as a multinomial.

        Returns
        -------
        array of shape (n_rows,)
            Logarithms of P(row).

        See Also
        --------
        novelty : Say how usual each row is: near 0 for rows unlike those that the model has learned.
        predict_joint_log_proba : Give the logarithm of P(row, class), before a calibration.

        Examples
        --------
        >>> import numpy as np
        >>> from bayeswater import NaiveBayes
        >>> model = NaiveBayes(alpha=1).fit([["red"], ["red"], ["green"]], ["cherry", "cherry", "pea"])
        >>> np.exp(model.log_evidence([["red"]])).round(3)
        array([0.583])
        """
        return log_evidence(score(self._mixed_joint().generative(), self._table(X), None))

    def _line(self) -> Line:
        require_no_weights(self)
        return line_of_groups(self._mixed_joint(), self._columns_of_groups(), type(self).__name__)

    def _mixed_joint(self) -> MixedJoint:
        joint: MixedJoint = self._joint()
        return joint

    def _curve(self, name: str) -> ColumnCurve:
        key = key_of(column := self.columns_.used_column(name))
        return self._mixed_joint().groups[key].curve(column, self._columns_of_groups()[key].index(column))

    def _raw(self, X: Any) -> RawTable:
        return read_raw(X, type(self).__name__).require_columns(self.columns_.sources, type(self).__name__)

    def _known_cells(self, table: MixedTable) -> Array:
        return self._mixed_joint().known_cells(table)

    def _columns_of_groups(self) -> Mapping[str, tuple[Column, ...]]:
        return {key: part.columns for key, part in families_of(self.statistics_.columns.plan).items()}

    @property
    def columns_(self) -> ColumnPlan:
        """Family of each column, and why."""
        return self.statistics_.columns.plan.in_library(self._library)

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and the parameters of each column, as labelled frames by name.

        The prior is called "class", or "(class)" beside a column of that name.

        Returns
        -------
        dict {name: frame}
            Frames of the library that `fit` was given.

        See Also
        --------
        columns_ : Family of each column, and why.
        network_tables : Give the model as a Bayesian network: the class, and every column with its parents.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import NaiveBayes
        >>> list(NaiveBayes().fit(pd.DataFrame({"colour": ["red", "green"]}), ["cherry", "pea"]).tables())
        ['class', 'colour']
        """
        self._require_fitted()
        found: dict[str, Any] = {}
        for key, part in families_of(self.columns_).items():
            found |= part.tables(self.statistics_.columns.groups[key], self._settings, self.classes_.tolist())
        names = [column.name for column in self.columns_.used]
        frames = {name: write_frame(found[name], self._library) for name in names}
        return {class_name(names): self._class_table(), **frames}

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
        >>> import pandas as pd
        >>> from bayeswater import NaiveBayes
        >>> NaiveBayes().fit(pd.DataFrame({"colour": ["red", "green"]}), ["cherry", "pea"]).network_tables().names
        ('class', 'colour')
        """
        joint = self._mixed_joint()
        return NetworkTables.of_star(self.classes_, joint.log_prior, state_shares(joint, self.columns_))

    def _draw(self, codes: Array, rng: np.random.Generator) -> Any:
        drawn: dict[str, Any] = {}
        for key, part in families_of(self.columns_).items():
            drawn |= part.sample(self.statistics_.columns.groups[key], self._settings, codes, rng)
        return drawn_rows(drawn, self.columns_, len(codes), self._library)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, those of each column, and weights that were learned."""
        groups, parts = self.statistics_.columns.groups, families_of(self.columns_)
        of_each = [part.n_parameters(groups[key]) for key, part in parts.items()]
        return sum([len(self.classes_) - 1, *of_each, self._n_weights])
