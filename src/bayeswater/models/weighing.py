"""``weights="learned"``: terms of a sum over columns that count by weights, learned from rows that are left out.

A pass over the rows gives the terms of some of them, each taken out of the sums: of all kinds of equal rows those of
least hash, as in `calibrating`, so that neither the order of rows nor their division into pieces matters, and memory is
bounded. From these `decision.term_weights` learns. `WeighsTerms` is the mixin of a classifier that does so: posteriors,
decisions, reasons, intervals and leave-one-out scores are by weighted terms from then on. The joint distribution stays
the plain one: `predict_joint_log_proba`, `log_evidence`, `sample` and `novelty` speak of that.

Weights are fixed by a fit. Rows that are added, merged or forgotten move the sums, and not the weights, which keep a
trace of the rows they were learned from: they are marked as stale, until `refresh` learns them again.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.data.reading.text import TextTable
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows, take_rows
from bayeswater.decision.term_weights import LeftOutTerms, TermWeights
from bayeswater.decision.word_weights import TextWeights
from bayeswater.errors import ParameterError
from bayeswater.explain.turning import RowDecisions
from bayeswater.families.family import Block, MixedJoint
from bayeswater.families.weighted_terms import (
    OneColumn,
    WeightedJoint,
    columns_alone,
    known_terms,
    places_of,
    terms_without,
)
from bayeswater.families.words.weighed_words import WeighedWordBlock
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.scoring import Joint, JointWithout
from bayeswater.kernels.threads import one_blas_thread, row_blocks
from bayeswater.models.calibrating import REVIEWED_ROWS, review_of_folds, reviewed, row_keys
from bayeswater.models.held_out import Fold, kinds_of
from bayeswater.models.streaming.passes import Batches, Passes, run_passes
from bayeswater.models.weighing_words import WordReview, stale_words
from bayeswater.records import record
from bayeswater.statistics.statistic import spread
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.on_sums import OnSums as Base
else:
    Base = object

LEARNED = "learned"

MOST_TERMS = 2**21
"""Terms that weights are learned from, about: of wide tables fewer rows are looked at."""

LEAST_ROWS = 1000
"""Rows that are looked at however wide they are."""


@record
class TermReview:
    """Terms of kinds of rows, each left out, with the key of each kind; those of the `most` least keys are kept."""

    rows: LeftOutTerms
    key: Array  # (n_kinds,), sorted
    most: int

    @classmethod
    def of_rows(
        cls,
        rows: CountedRows,
        counts: ClassCounts,
        terms_of: Callable[[Any, Labels, Array], tuple[Array, Array]],
        n_terms: int,
        score_weight: Array | None,
        fold: int,
    ) -> "TermReview":
        """Take the terms of rows that were counted; `terms_of` gives those of a table, and how many cells are known."""
        labels, removed = encode_labels(rows.y, counts.classes, counted=True), removed_weight(rows.weight, len(rows.y))
        weight = rows.weight if score_weight is None else score_weight
        weight = np.ones(len(rows.y)) if weight is None else weight
        is_scored = counts.count[labels.codes] > removed  # a row alone in its class says nothing
        most = most_rows(n_terms, labels.n_classes)
        with rows.named():
            key, first, of_kind = kinds_of(row_keys(rows, labels, removed, fold)[is_scored], weight[is_scored], most)
            chosen = np.zeros(len(rows.y), dtype=bool)
            chosen[np.flatnonzero(is_scored)[first]] = True
            terms, known = np.empty((0, n_terms, labels.n_classes)), np.empty(0, dtype=np.int64)
            if chosen.any():
                X = rows.X if chosen.all() else take_rows(rows.X, chosen)
                terms, known = terms_of(X, labels.take(chosen), removed[chosen])
        in_order = np.argsort(np.argsort(first))  # terms are in the order of the rows
        by_key = LeftOutTerms(terms, labels.codes[chosen], np.empty(len(first)), known).take(in_order)
        return cls(LeftOutTerms(by_key.terms, by_key.codes, of_kind, by_key.known), key, most)

    @classmethod
    def of_terms(
        cls,
        terms: Callable[[slice], Array],
        known: Callable[[slice], Array],
        labels: Labels,
        weight: Array,
        is_scored: Array,
        hashes: Array,
        fold: Fold | None,
    ) -> "TermReview":
        """Take kinds of rows (n_kinds,) of a fold that were gathered; those that are not scored say nothing."""
        rows = slice(0, len(weight))
        found = LeftOutTerms(terms(rows), labels.codes, weight, known(rows)).take(np.flatnonzero(is_scored))
        # Equal rows of two folds are left out of different sums: they are kinds of their own.
        key = hashed(hashes + hash_word(0 if fold is None else fold.number))[is_scored]
        order = np.argsort(key)
        return cls(found.take(order), key[order], most_rows(found.terms.shape[1], labels.n_classes))

    def __add__(self, other: "TermReview") -> "TermReview":
        parts = (self.rows, other.rows)
        both = [np.concatenate([getattr(part, name) for part in parts]) for name in LeftOutTerms.__annotations__]
        rows = LeftOutTerms(*both)
        key, first, weight = kinds_of(np.concatenate([self.key, other.key]), rows.weight, self.most)
        kept = rows.take(first)
        return TermReview(LeftOutTerms(kept.terms, kept.codes, weight, kept.known), key, self.most)

    def result(self) -> LeftOutTerms:
        """Give what weights are learned from."""
        return self.rows


def most_rows(n_terms: int, n_classes: int) -> int:
    """Kinds of rows that weights are learned from, at most."""
    return min(REVIEWED_ROWS, max(LEAST_ROWS, MOST_TERMS // max(1, n_terms * n_classes)))


def no_terms(n_terms: int, n_classes: int) -> LeftOutTerms:
    """Give no rows: of a single term, which says all there is, no weight can be learned."""
    none = np.empty(0)
    return LeftOutTerms(np.empty((0, n_terms, n_classes)), np.empty(0, dtype=np.int64), none, none)


def stale_weights(weights: TermWeights, old: Variable, new: Variable) -> TermWeights:
    """Mark weights as learned from other rows, and lay them out for the classes there are now."""
    is_known = np.array([state in old.code_of for state in new.states], dtype=bool)
    return weights.for_classes(partial(spread, old=old, new=new), is_known)


class WeighsTerms(Base):
    """Mixin, before `OnSums`: the terms of the columns may have weights that are learned."""

    weights: Any
    term_weights_: TermWeights
    word_weights_: dict[str, TextWeights]
    _marks_words = True
    """Whether log-ratios of words are by rows that have them, rather than by how often these do."""

    _is_review = False
    """Whether smoothing was chosen without each row that is left out, too."""

    _texts_of_fit: tuple[Any, Mapping[str, TextTable]] = None, {}
    """Rows of a fit that is under way, and their texts by their group."""

    _not_sent: tuple[str, ...] = ("_memo", "_texts_of_fit")

    # ------------------------------------------------------------------ what each model says for itself

    _settings: Any

    def _mixed_joint(self) -> MixedJoint:
        """Give the plain sum, law by law."""
        raise NotImplementedError

    def _columns_alone(self) -> Sequence[OneColumn]:
        """Give every column as a block of its own, in the order of the terms."""
        found = columns_alone(self.statistics_.columns, self._settings, without_choice=self._is_review)
        joint = self._term_joint()
        return [own._replace(block=joint.groups[own.key]) if own.key in self._learned_words else own for own in found]

    def _text_sums(self) -> Mapping[str, TextSums]:
        """Give the sums of texts, whose words have weights of their own, by their group."""
        return self._text_sums_of(self.statistics_)

    def _text_sums_of(self, sums: Sums[Any]) -> Mapping[str, TextSums]:
        groups = getattr(sums.columns, "groups", {})
        return {key: group for key, group in groups.items() if isinstance(group, TextSums)}

    @property
    def _open_texts(self) -> Collection[str]:
        """Name the texts whose words were not set: weights may leave pairs of words out."""
        return ()

    def _texts_of(self, X: Any) -> Mapping[str, TextTable]:
        """Read the texts of some rows, by their group."""
        rows, tables = self._texts_of_fit
        if rows is X:
            return tables
        groups = self._table(X).groups
        return {key: groups[key] for key in self._text_sums()}

    @property
    def _term_places(self) -> Mapping[str, Sequence[int]]:
        """Say where the columns of each law stand among the terms."""
        return places_of(self.statistics_.columns.plan)

    @property
    def _term_names(self) -> tuple[str, ...]:
        """Name the columns that have terms."""
        return tuple(column.name for column in self.statistics_.columns.plan.used)

    def _by_law(self, table: Any) -> Mapping[str, Any]:
        """Give a table, or some rows of it, law by law."""
        return table if isinstance(table, Mapping) else dict.fromkeys(self._term_places, table)

    # ------------------------------------------------------------------ learning

    @property
    def _learns_weights(self) -> bool:
        return self.weights is not None

    def _require_parameters(self, sums: Sums[Any]) -> None:
        self._require_weights()
        super()._require_parameters(sums)

    def _require_weights(self) -> None:
        if not (self.weights is None or (isinstance(self.weights, str) and self.weights == LEARNED)):
            raise ParameterError(f"weights is {self.weights!r}; it can be None or {LEARNED!r}")

    @property
    def _rereads(self) -> str:
        return "weights='learned' reads the rows again" if self._learns_weights else super()._rereads

    @property
    def _calibrates(self) -> bool:
        """Whether a calibration is learned; weights have their temperature in them, and are learned from all rows."""
        asked: bool = super()._calibrates
        return False if asked is True and self._learns_weights else asked

    def _corrected(self, models: Sequence[Any] = (), folds: tuple[Fold, ...] = ()) -> Passes[Self]:
        """Learn weights, or a calibration; `models` are those by which the rows of each of some folds are scored."""
        if self._learns_weights:
            try:
                yield from self._weigh_words(models)
            finally:
                self.__dict__.pop("_texts_of_fit", None)
            if len(self._term_names) == 1 and self._learned_words:
                self._weigh(no_terms(1, len(self.classes_)))
            else:
                self._weigh((yield from review_of_folds(folds, [model._term_review_of for model in models or [self]])))
            for model in models:
                model.term_weights_ = self.term_weights_
        return (yield from super()._corrected(models, folds))

    def _weigh_words(self, models: Sequence[Any]) -> Passes[None]:
        """Learn the weights of the words of texts."""
        sums = self._text_sums()
        if not sums or len(self.classes_) < 2:
            return
        review = yield from reviewed(self._word_review_of)
        self.word_weights_ = review.learned(sums, self._priors().counted, self._open_texts, is_marked=self._marks_words)
        for model in models:
            model.word_weights_ = self.word_weights_

    def _word_review_of(self, X: Any, y: Any, sample_weight: Any = None) -> WordReview:
        """Give the words of counted rows."""
        rows = CountedRows.of(X, y, sample_weight, type(self).__name__)
        return WordReview.of_rows(rows, self._class_counts, self._texts_of)

    def _term_review_of(
        self, X: Any, y: Any, sample_weight: Any = None, score_weight: Array | None = None, fold: int = 0
    ) -> TermReview:
        """Give the terms of counted rows, each taken out of the sums; the same parameters as `_review_of`."""
        rows = CountedRows.of(X, y, sample_weight, type(self).__name__)
        terms_of, n_terms = self._as_reviewed()._terms_of, len(self._term_names)
        return TermReview.of_rows(rows, self._class_counts, terms_of, n_terms, score_weight, fold)

    def _terms_of(self, X: Any, labels: Labels, removed: Array) -> tuple[Array, Array]:
        """Give the terms of rows, each taken out of the sums, and how many of them are known."""
        terms, known = self._left_out_terms(self._table(X), labels, removed)
        whole = slice(0, len(removed))
        return terms(whole), known(whole)

    def _left_out_terms(self, table: Any, labels: Labels, removed: Array) -> Any:
        """Give functions of some rows: their terms, each taken out of the sums, and how many of them are known."""
        tables = self._by_law(getattr(table, "groups", table))
        groups = self._term_joint().groups
        return (
            terms_without(self._columns_alone(), tables, labels, removed),
            lambda rows: known_terms(groups, self._by_law(table.block(rows))),
        )

    def _weigh(self, rows: LeftOutTerms) -> Self:
        """Learn the weights."""
        with one_blas_thread():  # products of a few columns, in hundreds of steps
            self.term_weights_ = TermWeights.fit(rows, self._priors().counted, self._term_names, self._of_cells())
        self.__dict__.pop("calibration_", None)  # of an older model, learned on top of weights
        return self

    def _of_cells(self) -> Array | None:
        """Mark the terms of single cells (n_terms,), which are doubted; a text is many words, each with its weight."""
        texts = {text.name for text in self._text_sums().values()}
        return np.array([name not in texts for name in self._term_names])

    def refresh(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn weights, or the calibration where there is one, again from rows that are counted; the sums stay.

        Both are learned by a fit. After rows were added, merged or forgotten they are those of the rows before, and
        marked as stale.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            The rows that are counted now, or some of them.

        Returns
        -------
        self
            The object itself, fitted.

        See Also
        --------
        partial_fit : Learn from further rows: the same, to the bit for counts, as one `fit` on all rows.
        forget : Remove rows: the sums become those of a fit that never saw them.

        Examples
        --------
        >>> from bayeswater import NaiveBayes
        >>> X, y = [["red"], ["red"], ["green"], ["green"]], ["cherry", "cherry", "pea", "pea"]
        >>> NaiveBayes(calibrate=True).fit(X, y).refresh(X, y).predict([["red"]])
        array(['cherry'], dtype='<U6')
        """
        self._require_fitted()
        self._require_weights()
        return run_passes(self._corrected(), Batches([(X, y, sample_weight)], type(self).__name__))

    def _keep(self, sums: Sums[Any], X: Any, first: bool) -> Self:
        if first:
            self.__dict__.pop("term_weights_", None)
            self.__dict__.pop("word_weights_", None)
        return super()._keep(sums, X, first)

    def _adopt(self, sums: Sums[Any]) -> Self:
        known = self.__dict__.get("statistics_")
        if "term_weights_" in self.__dict__ and known is not None and sums is not known:
            self.term_weights_ = stale_weights(self.term_weights_, known.classes, sums.classes)
            self._stale_words_of(self, sums)
        return super()._adopt(sums)

    def _stale_words_of(self, other: Any, sums: Sums[Any]) -> None:
        """Lay the weights of words out for other sums, as those of a model that has been counted otherwise."""
        if not self._learned_words:
            return
        old, new = self._text_sums(), other._text_sums_of(sums)
        found = {old[key].name: stale_words(own, old[key], new[key]) for key, own in self._learned_words.items()}
        other.word_weights_ = found

    def _combined(self, other: Any, operation: Any) -> Self:
        result = super()._combined(other, operation)
        if "term_weights_" in self.__dict__ and isinstance(result, WeighsTerms):
            old, new = self.statistics_.classes, result.statistics_.classes
            result.term_weights_ = stale_weights(self.term_weights_, old, new)
            self._stale_words_of(result, result.statistics_)
        return result

    # ------------------------------------------------------------------ answers

    @property
    def _is_weighed(self) -> bool:
        return self._learns_weights and "term_weights_" in self.__dict__

    @property
    def _n_weights(self) -> int:
        if not self._is_weighed:
            return 0
        of_columns = self.term_weights_.n_parameters if len(self._term_names) > 1 or not self._learned_words else 0
        return of_columns + sum(own.n_parameters for own in self._learned_words.values())

    @property
    def _row_weights(self) -> TermWeights | None:
        """Give the weights, laid out for the terms there are now; None where there are none."""
        return self.term_weights_.for_terms(self._term_names) if self._is_weighed else None

    @property
    def _learned_words(self) -> Mapping[str, TextWeights]:
        """Give the weights of the words of texts, by their group; none where they are not asked for."""
        found = self.__dict__.get("word_weights_", {}) if self._learns_weights else {}
        return {key: found[sums.name] for key, sums in self._text_sums().items() if sums.name in found}

    def _term_joint(self) -> MixedJoint:
        """Give the sum, law by law, in which the words of texts have their weights."""
        plain, learned = self._mixed_joint(), self._learned_words
        if not learned:
            return plain
        return self._once("weighed words", [plain, self.word_weights_], lambda: with_weighed_words(plain, learned))

    def _weighted_joint(self) -> WeightedJoint:
        assert self._row_weights is not None
        return WeightedJoint(self._term_joint(), self._row_weights, self._term_places)

    def _deciding_joint(self) -> Joint:
        return self._weighted_joint() if self._is_weighed else super()._deciding_joint()

    def _decisions(self, table: Any, n_more: int = 0) -> RowDecisions:
        decisions: RowDecisions = super()._decisions(table, n_more)
        if not self._is_weighed:
            return decisions
        return replace(decisions, by_known=decisions.by_known or self.term_weights_.usual > 1)

    def _weights_if_asked(self, table: Any) -> dict[str, Array]:
        """Weights (n_classes,) of each column in the one row of a table, once one more cell is known."""
        if not self._is_weighed:
            return {}
        joint = self._weighted_joint()
        (known,) = known_terms(joint.plain.groups, self._by_law(table.block(slice(0, 1)))).tolist()
        return dict(zip(self._term_names, joint.weights.at(known + 1), strict=True))

    def _joint_without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        if not self._is_weighed:
            return super()._joint_without(table, labels, removed)
        terms, known = self._left_out_terms(table, labels, removed)
        joint, class_prior = self._weighted_joint(), self._prior(self.statistics_)
        size = max(1, MOST_TERMS // max(1, len(self._term_names) * len(class_prior.count)))

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            prior = class_prior.without(labels.codes[rows], removed[rows])
            scores = np.empty(prior.shape)
            for part in row_blocks(len(prior), size):
                some = slice(rows.start + part.start, rows.start + part.stop)
                scores[part] = joint.scores(terms(some), known(some), prior[part])
            return scores, prior

        return log_joint


def with_weighed_words(plain: MixedJoint, weights: Mapping[str, TextWeights]) -> MixedJoint:
    """Give the words of texts, by their group, the weights that were learned."""
    groups: dict[str, Any] = dict(plain.groups)
    weighed = {key: WeighedWordBlock.of(groups[key], own) for key, own in weights.items()}
    return MixedJoint(plain.log_prior, groups | weighed)


class WeighsOneLaw(WeighsTerms):
    """The same of a model all of whose columns follow one law."""

    def _law(self) -> Block:
        """Give all columns with their parameters."""
        raise NotImplementedError

    def _law_of_column(self, j: int) -> Block:
        """Give one column with its parameters."""
        raise NotImplementedError

    def _mixed_joint(self) -> MixedJoint:
        return MixedJoint(self._joint().log_prior, {"": self._law()})

    def _columns_alone(self) -> list[OneColumn]:
        return [OneColumn("", j, self._law_of_column(j)) for j in range(self.n_features_in_)]

    @property
    def _term_places(self) -> Mapping[str, Sequence[int]]:
        return {"": range(self.n_features_in_)}

    @property
    def _term_names(self) -> tuple[str, ...]:
        return tuple(map(str, self._column_names()))


def shapes_of_texts(model: WeighsTerms) -> dict[str, Any]:
    """Give the shape of the sums of each text, by the name of its column."""
    return {text.name: text.shape for text in model._text_sums().values()}


def weights_of(model: Any) -> TermWeights | None:
    """Give the weights of the terms of a model; None where there are none."""
    return model._row_weights if isinstance(model, WeighsTerms) else None


def weighed_words_of(model: Any) -> dict[str, Any]:
    """Give the texts of a model whose words have weights, by their group."""
    if not isinstance(model, WeighsTerms):
        return {}
    return {key: model._term_joint().groups[key] for key in model._learned_words}


def require_no_weights(model: Any) -> None:
    """Refuse to write weighted scores as a formula of the cells alone."""
    if isinstance(model, WeighsTerms) and model._is_weighed:
        raise ParameterError(
            "weights are learned, and hang on which cells of a row are missing: there is no such form of them; take "
            "set_params(weights=None) for that of the plain sum, and if there are texts fit again with it"
        )
