"""A column of words, a text or a block of sparse counts, in one of three readings (`features`).

    multinomial   log P(text | k) = sum over words of n_w log P(w | k)
    complement    scores by the words of all other classes: no distribution, so draws and novelty take the multinomial
    marks         log P(text | k) = sum over all words of log P(present or absent | k)

Words are counted once for all three. A row without a text says nothing. Where words are weighed by their rarity (idf),
the weights are held fixed when a row is left out: they are a way to read the table, as its vocabulary is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import index, lt
from typing import Any, ClassVar

import numpy as np

from bayeswater.data.cells import require_no_missing
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.column_plan import TEXT, Column
from bayeswater.data.reading.matrix_reading import require_values, require_width
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.reading.text import TextTable, read_text
from bayeswater.data.variable import Variable
from bayeswater.decision.facts import Fact
from bayeswater.errors import DataError, ParameterError
from bayeswater.estimate.features import idf
from bayeswater.estimate.smoothing import best_alpha, best_binary_alpha
from bayeswater.families.curve import ColumnCurve, word_curve
from bayeswater.families.family import ABSENT, Block, Family, ParameterDraws, Settings, require_sums
from bayeswater.families.view import CellUse, ColumnView, Options, Word
from bayeswater.families.wording import ratio
from bayeswater.families.words.draws import CountedWordDraws, DrawnTexts, MarkedWordDraws, draw_marks, words_of
from bayeswater.families.words.features import BernoulliColumns, ComplementColumns, MultinomialColumns
from bayeswater.inference.drawing import Stage, draw_counts
from bayeswater.inference.formula import WordForm, WordWeights
from bayeswater.inference.linear import Line, feature_values, line_of_features
from bayeswater.limits import require_held_bytes
from bayeswater.phrases import Phrase, own_phrases, own_reasons
from bayeswater.records import record
from bayeswater.statistics.feature_sums import BinaryCounts
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

READINGS = ("multinomial", "complement", "marks")
"""Families of words, the plainest first: counted, counted in all other classes, or marked as present (Bernoulli)."""

WORD_BYTES = 16
"""Of a word that is drawn: the row it stands in, and its code."""

SHOWN_WORDS = 3

own_phrases(
    {
        "no known word": ("no known word", "没有已知的词"),
        "absent words": ("absent words {factor}", "未出现的词 {factor}"),
        "any text": ("any text {factor}", "任何文本 {factor}"),
        "without word": ("without '{word}'", "去掉“{word}”"),
        "too many texts": ("a text has too many outcomes", "文本的可能结果太多"),
    }
)
own_reasons(
    {
        "text": "文本",
        "multinomial": "多项（词频）",
        "complement": "补集（词频）",
        "marks": "词的有无",
        "sparse counts": "稀疏计数",
    }
)

TOO_MANY = Phrase("too many texts")


class WordView(ColumnView):
    """A column of words."""

    block: "WordBlock"
    table: TextTable
    rest_phrase: ClassVar[str] = "absent words"

    @property
    def is_score(self) -> bool:
        """Whether contributions are differences of scores rather than of log-likelihoods."""
        return isinstance(self.block.reading, ComplementColumns)

    def cell(self, row: int) -> CellUse:
        """Tell what became of a text."""
        return CellUse.MISSING if self.table.missing[row] else CellUse.READ

    def words(self, row: int, chosen: int, against: int) -> list[Word]:
        """Known words of a text, those that weigh most first."""
        codes, scores, _ = self.block.word_scores(self.table.counts, row)
        differences = _difference(scores[:, chosen], scores[:, against])
        order = np.argsort(-np.abs(differences), kind="stable")
        return [Word(self.name_of(int(codes[i])), float(differences[i])) for i in order]

    def absent_words(self, row: int, chosen: int, against: int) -> float:
        """What the words add to the log-odds that a text does not have: something only where words are marked."""
        _, _, rest = self.block.word_scores(self.table.counts, row)
        return float(_difference(rest[chosen], rest[against]))

    def name_of(self, code: int) -> Any:
        """Name a word; a hashed one, or the column of a block without names, by its number."""
        if not self.table.vocabulary.is_coded:
            return self.table.vocabulary.states[code]
        names = self.table.counts.names
        if names is not None:
            return names[code]
        return f"{'column' if self.column.analyser is None else 'hash'} {code}"

    def reading(self, row: int, chosen: int, against: int) -> str:
        """Name the words that weigh most, and how much each speaks for the chosen class or (1 / ...) against it."""
        say = self.language.say
        words = [f"'{word}' {_factor(part)}" for word, part in self.words(row, chosen, against)[:SHOWN_WORDS]]
        words = words or [say("no known word")]
        absent = self.absent_words(row, chosen, against)
        if absent and not self.table.missing[row]:
            words.append(say(self.rest_phrase, factor=_factor(absent)))
        return say("comma").join(words)

    def options(self, row: int, chosen: int) -> Options | None:
        """List the words that could be left out, each as far as the next."""
        if self.table.missing[row]:
            return None
        codes, scores = self.block.word_gains(self.table.counts, row)
        if not len(codes) or not np.isfinite(scores).all():
            return None
        names = [self.name_of(int(code)) for code in codes]
        order = np.argsort(scores.max(axis=1) - scores[:, chosen], kind="stable")  # what speaks for it most, first

        def words(place: Any) -> str:
            return self.language.say("without word", word=names[place])

        return Options(order, np.ones(len(codes)), words, lambda place: names[place])

    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of the text without each of some words: (n, n_classes)."""
        _, scores = self.block.word_gains(self.table.counts, row)
        return self.own_terms(row) - scores[cells]


@record
class WordBlock(Block):
    """The sums of the words, how they are read, and what each is weighed by (idf), if it is."""

    sums: TextSums
    reading: MultinomialColumns | ComplementColumns | BernoulliColumns
    word_weight: Array | None = None  # (n_words,)

    view: ClassVar[type[ColumnView]] = WordView

    def likelihood(self, cells: TextTable, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        if not cells.counts.n_columns:  # no text has had a word yet
            return np.zeros((cells.shape[0], len(self.reading.joint.intercept)))
        scores = self.reading.likelihood(self._weighed(cells.counts), use_loop)
        scores[cells.missing] = 0.0
        return scores

    def terms(self, cells: TextTable) -> Array:
        """Log-likelihood of each row, as that of one column: (n_rows, 1, n_classes)."""
        return self.likelihood(cells, use_loop=False)[:, None, :]

    def without(self, table: TextTable, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums."""
        inner = self.reading.without(_Counts(self, table), labels, removed)

        def likelihood(rows: slice, use_loop: bool) -> Array:
            if not table.counts.n_columns:
                return self.likelihood(table.block(rows), use_loop)
            scores = inner(rows, use_loop)
            scores[table.missing[rows]] = 0.0
            return scores

        return likelihood

    def word_scores(self, counts: SparseMatrix, row: int) -> tuple[Array, Array, Array]:
        """Take the score of one row apart: the codes of its words, what each adds (n_words, n_classes), and the rest.

        In marks a word adds log P(present | class). The rest (n_classes,) is what the words add that the row does not
        have: the sum of log P(absent | class) in marks, and nothing otherwise.
        """
        codes, values = self._words_of(counts, row)
        if not isinstance(self.reading, BernoulliColumns):
            return codes, values[:, None] * self._word_weights(codes), self.reading.joint.intercept
        log_present, log_absent = self._log_marks
        joint, own = self.reading.joint, log_absent[codes]
        never_absent = np.isneginf(own)
        rest = joint.intercept - np.where(never_absent, 0.0, own).sum(axis=0)
        is_possible = joint.infinite_intercept == never_absent.sum(axis=0)  # all that is never absent is there
        return codes, log_present[codes], np.where(is_possible, rest, -np.inf)

    def word_gains(self, counts: SparseMatrix, row: int) -> tuple[Array, Array]:
        """Codes of the words of one row, and what its score would lose without each of them: (n_words, n_classes)."""
        codes, values = self._words_of(counts, row)
        if isinstance(self.reading, BernoulliColumns):
            values = np.ones(len(values))
        return codes, values[:, None] * self._word_weights(codes)

    def _words_of(self, counts: SparseMatrix, row: int) -> tuple[Array, Array]:
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        codes, values = counts.indices[cells], counts.data[cells].astype(np.float64)
        codes, values = codes[values != 0], values[values != 0]  # a sparse block may store zeros
        return codes, values if self.word_weight is None else values * self.word_weight[codes]

    def _word_weights(self, codes: Array) -> Array:
        """What each word adds to the score, once: (n_words, n_classes)."""
        joint = self.reading.joint
        if joint.infinite_weight is None:
            return joint.weight[codes]
        return np.where(joint.infinite_weight[codes] > 0, np.inf if joint.certain else -np.inf, joint.weight[codes])

    @cached_property
    def _log_marks(self) -> tuple[Array, Array]:
        """Logarithms of P(present | class) and P(absent | class): (n_words, n_classes) each."""
        assert isinstance(self.reading, BernoulliColumns)
        present, absent = self.reading.log_probability()
        return present.T, absent.T

    def generative(self) -> "WordBlock":
        """Read the same sums as a distribution of words: the scores of complement counts are none."""
        if not isinstance(self.reading, ComplementColumns):
            return self
        return replace(self, reading=MultinomialColumns(self.reading.feature_sum, self.reading.alpha))

    def _weighed(self, counts: SparseMatrix) -> SparseMatrix:
        if self.word_weight is None:
            return counts
        cells = slice(counts.indptr[0], counts.indptr[-1])
        indices = counts.indices[cells]
        data = counts.data[cells] * self.word_weight[indices]
        return SparseMatrix(counts.indptr - counts.indptr[0], indices, data, counts.n_columns)

    @property
    def is_marked(self) -> bool:
        """Whether words are there or not, however often."""
        return isinstance(self.reading, BernoulliColumns)

    def draw_parameters(self, places: Sequence[int], stage: Stage) -> ParameterDraws:
        """Draw the probabilities of words: a Dirichlet of counts, or a Beta of each mark."""
        if isinstance(self.reading, BernoulliColumns):
            return MarkedWordDraws(self.reading, places[0], stage)
        assert isinstance(self.reading, MultinomialColumns)  # complement counts have no posterior
        return CountedWordDraws(self.reading, self.word_weight, places[0], stage)

    def draw_terms(self, codes: Array, places: Sequence[int], seed: int, lengths: Array) -> list[dict[int, Array]]:
        """Draw texts of as many words as those of the rows have; of marks, whole texts."""
        if isinstance(self.reading, BernoulliColumns):
            return [{0: draw_marks(self.reading, codes, places[0], seed)}]
        assert isinstance(self.reading, MultinomialColumns)
        return [DrawnTexts(self.reading.log_probability, self.word_weight, codes, places[0], seed).terms(lengths)]

    def patterns(self, cells: TextTable) -> Array:
        """Number of words of each text, to the nearest whole one; 0 for marks, which have no length."""
        if self.is_marked:
            lengths = np.zeros(len(cells.missing), dtype=np.int64)
        else:
            counts = cells.counts
            row = np.repeat(np.arange(len(cells.missing)), np.diff(counts.indptr))
            words = np.bincount(row, weights=counts.cells, minlength=len(cells.missing))
            lengths = np.rint(words).astype(np.int64)
        return np.where(cells.missing, ABSENT, lengths)[:, None]

    def support(self, cells: TextTable, chosen: Array) -> Array:
        """Rows of the class that have the rarest word of each text."""
        found = np.full(len(chosen), np.inf)
        for i in np.flatnonzero(~cells.missing).tolist():
            codes, _ = words_of(cells.counts, i)
            found[i] = self.sums.present[chosen[i], codes].min(initial=self.sums.observed[chosen[i]])
        return found

    def fact(self, j: int, *, is_unknown: bool) -> Fact | str:
        """Say that there are too many texts."""
        return TOO_MANY

    def curve(self, column: Column, j: int) -> ColumnCurve:
        """Give the words that tell a class best: P(word | class), or that it is there, and how often it was."""
        reading, sums = self.generative().reading, self.sums
        if isinstance(reading, BernoulliColumns):
            return word_curve(column.name, sums.vocabulary.states, np.exp(reading.log_probability()[0]), sums.present)
        assert isinstance(reading, MultinomialColumns)
        return word_curve(column.name, sums.vocabulary.states, np.exp(reading.log_probability), sums.word_count)

    def formula(self, j: int) -> WordWeights:
        """Give the weights of the words, times what each is weighed by."""
        joint = self.reading.joint
        weights = self._word_weights(np.arange(len(joint.weight)))
        if self.word_weight is not None:
            weights = weights * self.word_weight[:, None]
        if np.any(joint.infinite_intercept):
            raise ParameterError("a word that no text of a class lacks has no formula; read marks with an alpha over 0")
        return WordWeights(weights, joint.intercept, self.is_marked, joint.certain)

    def line(self, names: Sequence[str], model: str) -> Line:
        """The score is a sum over words."""
        joint = self.reading.joint
        found = line_of_features(joint, [f"{names[0]}: {word}" for word in self.sums.vocabulary.states], model)

        def design(table: Any) -> Any:
            if joint.threshold is not None and table.missing.any():
                raise DataError(
                    f"row {int(table.missing.argmax())} has no text; a line has no place for that, drop the row"
                )
            return feature_values(self._weighed(table.counts), None, joint.threshold, model)

        return replace(found, design=design)


@record
class _Counts:
    """The weighed counts of a text, block by block."""

    block_of: WordBlock
    table: TextTable

    def block(self, rows: slice) -> Any:
        return self.block_of._weighed(self.table.counts.block(rows))


class Words(Family):
    """One column of words."""

    key: ClassVar = "words"
    families: ClassVar = (*READINGS, TEXT)
    kinds: ClassVar = ("text", "category", "identifier")
    statistic: ClassVar = TextSums
    one_each: ClassVar = True

    @property
    def column(self) -> Column:
        """The column."""
        return self.columns[0]

    def encode(self, raw: RawTable, known: Variable | None, settings: Settings, *, learning: bool) -> TextTable:
        """Count the words of each row; in predicting, those that are known."""
        name, cells = self.column.name, raw.columns[self.column.name]
        if isinstance(cells, SparseMatrix):
            return _sparse_block(cells, name, known, settings)
        vocabulary = None if learning else known
        table = read_text(raw.cells(name), name, self.column.analyser, vocabulary)
        if settings.missing == "error":
            require_no_missing(table.missing, name)
        return table

    def count(self, table: TextTable, labels: Labels, weight: Array | None, settings: Settings) -> TextSums:
        """Count words, and rows that have them."""
        return TextSums.of(table, labels, weight)

    def read(self, sums: TextSums, settings: Settings) -> WordBlock:
        """Read the words as the family of the column says."""
        if settings.of(self.column).prior is not None:
            raise ParameterError(
                f"the prior of column {self.column.name!r} is {settings.of(self.column).prior!r}, but words take none; "
                "give alpha, the pseudo-count of each word"
            )
        alpha = settings.alpha_of(self.column)
        n_words = sums.vocabulary.n_states
        if self.column.family == "marks":
            marks = BinaryCounts(sums.classes, None, sums.present, sums.observed[:, None])
            found = best_binary_alpha(sums.present, sums.observed[:, None]) if alpha == "auto" else float(alpha)
            pseudo_count = np.full(n_words, found)
            return WordBlock(sums, BernoulliColumns(marks, pseudo_count, pseudo_count, threshold=0.0))
        pseudo_count = np.full(n_words, best_alpha(sums.word_count.T) if alpha == "auto" else float(alpha))
        kind = ComplementColumns if self.column.family == "complement" else MultinomialColumns
        analyser = self.column.analyser
        if analyser is None or not analyser.idf:
            return WordBlock(sums, kind(sums.word_count, pseudo_count))
        weight = idf(sums)
        return WordBlock(sums, kind(sums.word_count * weight, pseudo_count), weight)

    def tables(self, sums: TextSums, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give P(word | class), P(word present | class) or the complement weights."""
        reading = self.read(sums, settings).reading
        if isinstance(reading, MultinomialColumns):
            what, values = "P(word | {})", np.exp(reading.log_probability)
        elif isinstance(reading, ComplementColumns):
            what, values = "weight({})", reading.weights
        else:
            what, values = "P(present | {})", np.exp(reading.log_probability()[0])
        columns: dict[str, Any] = {"word": sums.vocabulary.labels}
        return {self.column.name: columns | {what.format(label): values[k] for k, label in enumerate(classes)}}

    def n_parameters(self, sums: TextSums) -> int:
        """W for each class of marks, W - 1 of counts."""
        n_words = sums.vocabulary.n_states
        return sums.n_classes * (n_words if self.column.family == "marks" else max(n_words - 1, 0))

    def sample(self, sums: TextSums, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw bags of words, joined by blanks; about as many words as texts of the class have."""
        if sums.vocabulary.is_coded and self.column.analyser is not None:
            raise ParameterError(
                f"the words of column {self.column.name!r} are hashed, so none can be drawn; leave the column out, or "
                "fit without hashing"
            )
        counted = Column(self.column.name, self.column.source, "multinomial")  # words are drawn, not their weights
        reading = Words((counted,)).read(sums, settings).reading
        assert isinstance(reading, MultinomialColumns)
        probability = np.exp(reading.log_probability)
        probability /= probability.sum(axis=1, keepdims=True)
        observed = np.where(sums.observed > 0, sums.observed, 1)
        mean_length = (sums.word_count.sum(axis=1, dtype=np.float64) / observed)[codes]
        way_out = "draw fewer rows, or divide the counts by a large number"
        require_held_bytes(WORD_BYTES * mean_length.sum(), f"the words of column {self.column.name!r}", way_out)
        lengths = draw_counts(mean_length, rng).astype(np.int64)
        row = np.repeat(np.arange(len(codes)), lengths)
        word = np.empty(len(row), dtype=np.int64)
        for k in np.unique(codes[row]):
            own = codes[row] == k
            word[own] = rng.choice(sums.vocabulary.n_states, size=own.sum(), p=probability[k])
        if self.column.analyser is None:
            return {self.column.name: _as_sparse(row, word, (len(codes), sums.vocabulary.n_states))}
        words = np.asarray(sums.vocabulary.states, dtype=object)[word[np.lexsort((word, row))]]
        return {self.column.name: [" ".join(bag) for bag in np.split(words, np.cumsum(lengths)[:-1])]}

    def cell_form(self, sums: TextSums, j: int) -> WordForm:
        """Cells are texts, or rows of a block."""
        return WordForm(tuple(sums.vocabulary.states) if self.has_words else None, self.column.analyser)

    def domain(self, sums: TextSums) -> Variable:
        """Give the words, which have no names in sparse counts."""
        return sums.vocabulary

    def array_names(self, found: set[str]) -> set[str]:
        """Name the arrays of the sums; of a text that had no word yet there are none but `observed`."""
        names = super().array_names(found)
        return {"observed"} if self.has_words and names & found == {"observed"} else names

    @property
    def has_words(self) -> bool:
        """Whether words are known by name, and neither hashed nor columns of a block."""
        return self.column.analyser is not None and self.column.analyser.n_hash is None

    def restored(self, arrays: dict[str, Array], classes: Variable, domain: Any) -> TextSums:
        """Make the sums over words that were written down, or over their codes."""
        name, analyser = self.column.name, self.column.analyser
        if "present" not in arrays:
            none = np.zeros((classes.n_states, 0), dtype=arrays["observed"].dtype)
            arrays = {**arrays, "word_count": none, "present": none}
        n_hash = arrays["present"].shape[-1] if analyser is None else analyser.n_hash
        if n_hash is None:
            return TextSums.from_arrays(arrays, classes=classes, vocabulary=Variable(name, domain))
        n_codes = index(n_hash)
        vocabulary = Variable.of_codes(name, n_codes, frozenset({n_codes - 1}))
        return TextSums.from_arrays(arrays, classes=classes, vocabulary=vocabulary)

    @classmethod
    def require_column(cls, column: Column, group: TextSums, j: int, slack: float) -> None:
        """Refuse words that the analyser does not give: a hash has codes, and a word that is found is counted."""
        words, analyser = group.vocabulary, column.analyser
        n_codes = words.n_states if analyser is None else analyser.n_hash
        if n_codes is None:
            require_sums(
                not (words.is_coded or words.declared)
                and set(map(type, words.states)) <= {str}
                and all(map(lt, words.states, words.states[1:])),
                f"the words of column {column.name!r} are no texts, each once and in their order",
            )
        else:
            require_sums(
                words.is_coded and words.n_states == n_codes and words.declared == {n_codes - 1},
                f"column {column.name!r} has {words.n_states} words, and should have {n_codes} codes of words",
            )
        if analyser is None:
            return  # a block of any numbers from 0 on
        more = group.present > group.word_count + slack
        require_sums(not bool(more.any()), f"rows of column {column.name!r} have a word less than once")
        once = not analyser.binary or bool((np.abs(group.word_count - group.present) <= slack).all())
        require_sums(once, f"column {column.name!r} marks words, but counts some more than once in a row")


def _difference(a: Any, b: Any) -> Any:
    """Subtract scores; two that are infinite of one sign do not tell the classes apart."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, a - b)


def _factor(contribution: float) -> str:
    times = ratio(abs(contribution))
    return f"x {times}" if contribution >= 0 or times == "1" else f"x 1/{times}"


def _sparse_block(counts: SparseMatrix, name: str, known: Variable | None, settings: Settings) -> TextTable:
    """Read a block of sparse counts as words without names."""
    require_values(counts, settings.model, missing=None, allow_negative=False)
    n_columns = counts.n_columns
    if known is not None:
        require_width(n_columns, known.n_states, settings.model)
    vocabulary = Variable.of_codes(name, n_columns, frozenset({n_columns - 1}))
    return TextTable(vocabulary, counts, np.zeros(counts.shape[0], dtype=bool))


def _as_sparse(row: Array, column: Array, shape: tuple[int, int]) -> Any:
    from scipy import sparse

    return sparse.csr_array(sparse.coo_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape))
