"""A column of words: a text, or a block of sparse counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswater.data.column_plan import Column
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.matrix_checks import require_values, require_width
from bayeswater.data.missing import require_no_missing
from bayeswater.data.raw_table import RawTable
from bayeswater.data.text import TextTable, read_text
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.estimate.smoothing import best_alpha, best_binary_alpha
from bayeswater.estimate.text import idf
from bayeswater.inference.feature_columns import BernoulliColumns, ComplementColumns, MultinomialColumns
from bayeswater.inference.word_columns import WordColumns
from bayeswater.limits import require_held_bytes
from bayeswater.models.columns.settings import Settings
from bayeswater.models.mixed.parts.part import Part
from bayeswater.statistics.binary_counts import BinaryCounts
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

WORD_BYTES = 16
"""Of a word that is drawn: the row it stands in, and its code."""


class WordPart(Part):
    """One column of words."""

    @property
    def column(self) -> Column:
        """The column."""
        return self.columns[0]

    def encode(self, raw: RawTable, known: TextSums | None, settings: Settings, *, learning: bool) -> TextTable:
        """Count the words of each row; in predicting, those that are known."""
        name, cells = self.column.name, raw.columns[self.column.name]
        if isinstance(cells, SparseMatrix):
            return _sparse_block(cells, name, known, settings)
        vocabulary = None if known is None or learning else known.vocabulary
        table = read_text(raw.cells(name), name, self.column.analyser, vocabulary)
        if settings.missing == "error":
            require_no_missing(table.missing, name)
        return table

    def count(self, table: TextTable, labels: Labels, weight: Array | None, settings: Settings) -> TextSums:
        """Count words, and rows that have them."""
        return TextSums.of(table, labels, weight)

    def read(self, sums: TextSums, settings: Settings) -> WordColumns:
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
            return WordColumns(BernoulliColumns(marks, pseudo_count, pseudo_count, threshold=0.0))
        pseudo_count = np.full(n_words, best_alpha(sums.word_count.T) if alpha == "auto" else float(alpha))
        kind = ComplementColumns if self.column.family == "complement" else MultinomialColumns
        analyser = self.column.analyser
        if analyser is None or not analyser.idf:
            return WordColumns(kind(sums.word_count, pseudo_count))
        weight = idf(sums)
        return WordColumns(kind(sums.word_count * weight, pseudo_count), weight)

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
        """Draw bags of words, joined by blanks; as many words as texts of the class have, by Poisson's law."""
        if sums.vocabulary.is_coded and self.column.analyser is not None:
            raise ParameterError(
                f"the words of column {self.column.name!r} are hashed, so none can be drawn; leave the column out, or "
                "fit without hashing"
            )
        counted = Column(self.column.name, self.column.source, "multinomial")  # words are drawn, not their weights
        reading = WordPart((counted,)).read(sums, settings).reading
        assert isinstance(reading, MultinomialColumns)
        probability = np.exp(reading.log_probability)
        probability /= probability.sum(axis=1, keepdims=True)
        observed = np.where(sums.observed > 0, sums.observed, 1)
        mean_length = (sums.word_count.sum(axis=1, dtype=np.float64) / observed)[codes]
        way_out = "draw fewer rows, or divide the counts by a large number"
        require_held_bytes(WORD_BYTES * mean_length.sum(), f"the words of column {self.column.name!r}", way_out)
        lengths = rng.poisson(mean_length)
        row = np.repeat(np.arange(len(codes)), lengths)
        word = np.empty(len(row), dtype=np.int64)
        for k in np.unique(codes[row]):
            own = codes[row] == k
            word[own] = rng.choice(sums.vocabulary.n_states, size=own.sum(), p=probability[k])
        if self.column.analyser is None:
            return {self.column.name: _as_sparse(row, word, (len(codes), sums.vocabulary.n_states))}
        words = np.asarray(sums.vocabulary.states, dtype=object)[word[np.lexsort((word, row))]]
        return {self.column.name: [" ".join(bag) for bag in np.split(words, np.cumsum(lengths)[:-1])]}


def _sparse_block(counts: SparseMatrix, name: str, known: TextSums | None, settings: Settings) -> TextTable:
    """Read a block of sparse counts as words without names."""
    require_values(counts, settings.model, missing=None, allow_negative=False)
    n_columns = counts.n_columns
    if known is not None:
        require_width(n_columns, known.vocabulary.n_states, settings.model)
    vocabulary = Variable.of_codes(name, n_columns, frozenset({n_columns - 1}))
    return TextTable(vocabulary, counts, np.zeros(counts.shape[0], dtype=bool))


def _as_sparse(row: Array, column: Array, shape: tuple[int, int]) -> Any:
    from scipy import sparse

    return sparse.csr_array(sparse.coo_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape))
