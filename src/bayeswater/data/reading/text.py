"""Text columns: how texts become counted words, by our own analyser or by a vectorizer.

Settings of scikit-learn's text vectorisers are taken as far as what they count is a sum over rows. Sums can be merged,
so nothing may depend on all rows at once. Left out are therefore a vocabulary cut down to the frequent words (hash the
words instead), and rows divided by their length: the sum of such rows is no sum of words.

A column becomes a sparse matrix of word counts, with the words that its columns stand for. Words are found and counted
block by block, on our threads; between the two, the vocabularies of the blocks are joined. The weights of tf-idf come
from the sums, not from here (`estimate/features.py`).
"""

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from operator import index
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.words import find_words, sorted_words
from bayeswater.data.variable import Variable
from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

FINDING_WORDS = (
    "analyzer",
    "lowercase",
    "ngram_range",
    "preprocessor",
    "stop_words",
    "strip_accents",
    "token_pattern",
    "tokenizer",
)
"""Settings that say what the words of a text are."""

ALL_ROWS = "which words that leaves out depends on all rows at once (n_hash bounds the vocabulary)"

REQUIRED = {
    "input": ("content", "a column holds the texts themselves"),
    "norm": (None, "rows divided by their length do not add up to sums of words"),
    "sublinear_tf": (False, "logarithms of counts do not add up to counts"),
    "smooth_idf": (True, "the weight of a word that no row has any more would be infinite"),
    "alternate_sign": (False, "counts are not negative"),
    "max_df": (1.0, ALL_ROWS),
    "min_df": (1, ALL_ROWS),
    "max_features": (None, ALL_ROWS),
    "vocabulary": (None, "the vocabulary is that of the rows"),
}
"""What a vectoriser has to be set to, and why."""

WordSettings = tuple[tuple[str, Any], ...]
"""Settings of a CountVectorizer that are not the usual ones, in pairs of name and value."""


def countable_settings(vectorizer: Any) -> dict[str, Any]:
    """Give all settings of a CountVectorizer, TfidfVectorizer or HashingVectorizer.

    Raises
    ------
    ParameterError
        If it is none of these, or is set to something that is not a sum over rows.
    """
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    kind = type(vectorizer).__name__
    if not isinstance(vectorizer, CountVectorizer | HashingVectorizer):
        raise ParameterError(
            f"{vectorizer!r} is no vectoriser of text; give a CountVectorizer, TfidfVectorizer or HashingVectorizer of "
            "scikit-learn"
        )
    settings: dict[str, Any] = vectorizer.get_params(deep=False)
    for name, (required, why) in REQUIRED.items():
        given = settings.get(name, required)
        if type(given) is not type(required) or given != required:  # 1 row is not 1.0, all rows
            raise ParameterError(f"{kind} has {name}={given!r}, but {why}; give it {name}={required!r}")
    return settings


def word_settings(settings: dict[str, Any]) -> WordSettings:
    """Pick the settings that say what the words of a text are, and are not the usual ones."""
    from sklearn.feature_extraction.text import CountVectorizer

    usual = CountVectorizer().get_params(deep=False)
    return tuple((name, _plain(settings[name])) for name in FINDING_WORDS if settings[name] != usual[name])


def require_word_settings(settings: WordSettings) -> None:
    """Refuse settings that are none, or that no words can be found by."""
    from sklearn.feature_extraction.text import HashingVectorizer

    for name, _ in settings:
        if name not in FINDING_WORDS:  # not even where it would be a setting: input='filename' reads files
            raise ParameterError(f"{name!r} does not find words; give settings among {', '.join(FINDING_WORDS)}")
    try:
        HashingVectorizer(**_unpacked(settings)).fit([""])  # this learns nothing: it looks at the settings alone
    except ValueError as error:
        raise ParameterError(f"no words can be found by the settings {dict(settings)}: {error}") from None


def word_finder(settings: WordSettings) -> Callable[[str], list[str]]:
    """Give scikit-learn's function that lists the words of a text."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(**_unpacked(settings)).build_analyzer()


def hash_codes(words: Sequence[str], n_hash: int) -> Array:
    """Give each word the code, from 0 to n_hash - 1, that HashingVectorizer gives it.

    >>> hash_codes(["free", "money"], 8)
    array([6, 2], dtype=int32)
    """
    from sklearn.feature_extraction import FeatureHasher

    if not words:  # which scikit-learn refuses
        return np.zeros(0, dtype=np.int32)
    hasher = FeatureHasher(n_hash, input_type="string", alternate_sign=False)
    return hasher.transform([word] for word in words).indices


def _plain(setting: Any) -> Any:
    """Give a list of words as a tuple, equal to every other of the same words."""
    return tuple(sorted(setting)) if isinstance(setting, list) else setting


def _unpacked(settings: WordSettings) -> dict[str, Any]:
    """Give settings as scikit-learn takes them: stop words as a list."""
    return {
        name: list(value) if name == "stop_words" and isinstance(value, tuple) else value for name, value in settings
    }


BLOCK_ROWS = 65_536
BLOCK_BYTES = 2**23
"""Rows and, about, bytes of text that are read together: their words are held in memory once more."""

SMALL_SHARE = 1 / 8
"""Words of a table, as a share of those that are known, that are looked up one by one, at most."""

LARGEST_HASH = 2**31 - 1
"""Most codes that scikit-learn's hash of a word has room for."""


@record
class TextAnalyser:
    """Settings of how a text is divided into words, and what is counted.

    Parameters
    ----------
    n_hash : int, optional
        Number of codes that words are hashed to; None keeps every word.
    idf : bool, default False
        Whether words are weighed by how rare they are among the rows.
    binary : bool, default False
        Whether a word counts once in each row that has it.
    vectorizer : tuple of pairs, optional
        Settings of scikit-learn's CountVectorizer that find the words; None takes `words.analyse`.
    pairs : bool, default False
        Whether pairs of neighbouring words count too, and in scripts without blanks three characters.

    See Also
    --------
    NaiveBayes : Naive Bayes of a mixed table.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> TextAnalyser.from_vectorizer(CountVectorizer(ngram_range=(1, 2), binary=True))
    TextAnalyser(n_hash=None, idf=False, binary=True, vectorizer=(('ngram_range', (1, 2)),), pairs=False)
    """

    n_hash: int | None = None
    idf: bool = False
    binary: bool = False
    vectorizer: WordSettings | None = None
    pairs: bool = False

    def __post_init__(self) -> None:
        try:
            bad = self.n_hash is not None and not 1 <= index(self.n_hash) <= LARGEST_HASH
        except TypeError:
            bad = True
        if bad:
            raise ParameterError(f"n_hash is {self.n_hash!r}; give a whole number from 1 to {LARGEST_HASH}, or None")
        if self.vectorizer is not None:
            require_word_settings(self.vectorizer)
            if self.pairs:
                raise ParameterError("pairs is True, but a vectorizer finds the words; give it ngram_range=(1, 2)")

    @classmethod
    def from_vectorizer(cls, vectorizer: Any) -> Self:
        """Take over the settings of a vectoriser of scikit-learn; nothing of what it has learned is used.

        Parameters
        ----------
        vectorizer : CountVectorizer, TfidfVectorizer or HashingVectorizer
            Of scikit-learn; fitted or not.

        Returns
        -------
        TextAnalyser
            One that gives the same words.

        Raises
        ------
        ParameterError
            If it is no vectoriser of text, or is set to something that is not a sum over rows.

        See Also
        --------
        NaiveBayes : Naive Bayes of a mixed table.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from bayeswater import TextAnalyser
        >>> TextAnalyser.from_vectorizer(CountVectorizer(binary=True)).binary
        True
        """
        settings = countable_settings(vectorizer)
        n_hash, idf = settings.get("n_features"), settings.get("use_idf", False)
        return cls(n_hash, idf, settings["binary"], word_settings(settings))


@record
class TextTable:
    """How often each word stands in each row."""

    vocabulary: Variable
    counts: SparseMatrix  # (n_rows, n_words); the words of a row in order, each once
    missing: Array  # (n_rows,): the row has no text, not even an empty one

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and words."""
        return self.counts.shape

    @property
    def n_cells(self) -> int:
        """Counts that are stored."""
        return self.counts.n_cells

    def block(self, rows: slice) -> "TextTable":
        """Some rows; the counts are shared."""
        return TextTable(self.vocabulary, self.counts.block(rows), self.missing[rows])

    def take(self, rows: Array | slice) -> "TextTable":
        """Give some rows: marked, numbered, or a slice."""
        numbers = np.arange(len(self.missing))[rows]
        return TextTable(self.vocabulary, self.counts.take(numbers), self.missing[numbers])

    def known_cells(self) -> Array:
        """Count the different words of each row: (n_rows,)."""
        return np.diff(self.counts.indptr).astype(np.int64)


def read_text(
    column: "pa.ChunkedArray", name: str, analyser: TextAnalyser | None = None, known: Variable | None = None
) -> TextTable:
    """Count the words of a column of text.

    Parameters
    ----------
    column : strings, or categories that are strings; null where there is no text
    name : name of the column
    analyser : how words are found; without one, `words.analyse`
    known : the words that are counted, others being left out; without it, all words found, sorted

    Raises
    ------
    DataError
        If the column holds no text.

    Examples
    --------
    >>> import pyarrow
    >>> table = read_text(pyarrow.chunked_array([["to be or not to be", None]]), "line")
    >>> table.vocabulary.states, table.counts.to_dense().tolist(), table.missing.tolist()
    (('be', 'not', 'or', 'to'), [[2, 1, 1, 2], [0, 0, 0, 0]], [False, True])
    """
    import pyarrow as pa

    analyser = TextAnalyser() if analyser is None else analyser
    texts = _as_text(column, name)
    find = None if analyser.vectorizer is None else word_finder(analyser.vectorizer)
    use_loop = worth_compiling(2 * texts.nbytes)  # an expression looks at a byte more than once

    def encode(block: "pa.LargeStringArray") -> "tuple[pa.DictionaryArray, Array]":
        block = block.fill_null("")
        if find is None:
            return find_words(block, use_loop=use_loop, pairs=analyser.pairs)
        found = [find(text) for text in block.to_pylist()]
        words = pa.array(chain.from_iterable(found), pa.large_string())
        return words.dictionary_encode(), np.array([len(words) for words in found], dtype=np.int64)

    encoded, n_words = zip(*ordered_map(encode, _blocks(texts)), strict=True)
    joined = pa.chunked_array(encoded).unify_dictionaries()
    vocabulary, codes = _coded(joined.chunk(0).dictionary.to_pylist(), name, analyser, known)

    def count(block: "tuple[pa.DictionaryArray, Array]") -> tuple[Array, Array, Array]:
        return _counts(codes[block[0].indices.to_numpy()], block[1], vocabulary.n_states)

    blocks = ordered_map(count, zip(joined.chunks, n_words, strict=True))
    per_row, indices, data = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    if analyser.binary:
        data = np.ones_like(data)
    indptr = np.concatenate([[0], np.cumsum(per_row)])
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)  # as scipy does, so that loops are compiled once
    counts = SparseMatrix(indptr, indices, data, vocabulary.n_states)
    return TextTable(vocabulary, counts, texts.is_null().to_numpy())


def _as_text(column: "pa.ChunkedArray", name: str) -> "pa.ChunkedArray":
    """Give the strings of a column, with offsets of 64 bits whatever it came in."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    if not any(is_kind(kind) for is_kind in kinds):
        raise DataError(f"column {name!r} holds {column.type}, not text; give it strings, for example with str()")
    return column.cast(pa.large_string())


def _blocks(texts: "pa.ChunkedArray") -> "list[pa.LargeStringArray]":
    """Cut a column into blocks, at least one."""
    blocks = []
    for chunk in texts.chunks:
        rows = min(BLOCK_ROWS, max(1, BLOCK_BYTES * len(chunk) // max(1, chunk.nbytes)))
        blocks += [chunk[part] for part in row_blocks(len(chunk), rows)]
    return blocks or [texts.combine_chunks()]


def _coded(words: list[str], name: str, analyser: TextAnalyser, known: Variable | None) -> tuple[Variable, Array]:
    """Give the vocabulary and the code of each word in it, -1 for words that are not known."""
    if analyser.n_hash is not None:
        # The last code is declared: the domain keeps its length whichever codes have a word.
        vocabulary = Variable.of_codes(name, analyser.n_hash, frozenset({analyser.n_hash - 1}))
        return vocabulary, hash_codes(words, analyser.n_hash)
    if known is None:
        states, codes = sorted_words(words)
        return Variable(name, states), codes
    if len(words) > SMALL_SHARE * known.n_states and not known.is_coded:
        return known, _places(words, known)
    return known, np.fromiter(map(known.code_of.get, words, repeat(-1)), dtype=np.int64, count=len(words))


def _places(words: list[str], known: Variable) -> Array:
    """Find many words among those that are known, -1 for others; Arrow needs no dictionary of Python's for it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.large_string()
    found = pc.index_in(pa.array(words, texts), value_set=pa.array(known.states, texts))
    return found.fill_null(-1).to_numpy().astype(np.int64)


def _counts(code: Array, n_words: Array, n_states: int) -> tuple[Array, Array, Array]:
    """Count the words of a block of rows, given their codes and how many each row has (n_rows,).

    Returns how many different words each row has, which these are, and how often it has them.
    """
    row = np.repeat(np.arange(len(n_words)), n_words)
    known = code >= 0
    if not known.all():
        code, row = code[known], row[known]
    shift = n_states.bit_length()
    cell, count = np.unique(row << shift | code, return_counts=True)
    return np.bincount(cell >> shift, minlength=len(n_words)), (cell & (1 << shift) - 1).astype(np.int32), count
