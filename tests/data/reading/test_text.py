"""A column of text as counts: every word of every row, whatever Arrow keeps the column in; settings and vectorisers."""

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from bayeswater import DataError, ParameterError, ResourceLimitError
from bayeswater.data.reading import text as module
from bayeswater.data.reading.text import TextAnalyser, read_text
from bayeswater.data.reading.words import analyse
from bayeswater.data.variable import Variable
from bayeswater.kernels import compiling
from bayeswater.kernels.threads import threads

MESSAGES = [
    "FREE entry! Text WIN to win",
    "are u coming 2 nite?",
    None,
    "恭喜您中奖，免费iPhone等您拿",
    "",
    "Größe, größe; 免费",
    "win win win",
    None,
]


def column(texts, kind=None):
    return pa.chunked_array([pa.array(texts, kind or pa.string())])


def word_counts(table):
    """What a table says, as a Counter for each row, None where the text is missing."""
    dense = table.counts.to_dense()
    states = table.vocabulary.states
    return [
        None if missing else Counter({states[j]: int(row[j]) for j in np.flatnonzero(row)})
        for row, missing in zip(dense, table.missing, strict=True)
    ]


def expected_counts(texts, find=analyse):
    return [None if text is None else Counter(find(text)) for text in texts]


def equal_tables(a, b):
    arrays = ((a.counts.indptr, b.counts.indptr), (a.counts.indices, b.counts.indices), (a.counts.data, b.counts.data))
    return (
        a.vocabulary == b.vocabulary
        and a.shape == b.shape
        and all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in (*arrays, (a.missing, b.missing)))
    )


# ---------------------------------------------------------------------- counts


def test_every_word_of_every_row_is_counted():
    table = read_text(column(["to be or not to be", "be"]), "line")
    assert table.vocabulary == Variable("line", ("be", "not", "or", "to"))
    assert table.counts.to_dense().tolist() == [[2, 1, 1, 2], [1, 0, 0, 0]]
    assert table.shape == (2, 4)
    assert table.n_cells == 5


@pytest.mark.parametrize("from_cells", [0, 10**18], ids=["loop", "expression"])
def test_counts_are_those_of_the_words_one_by_one(from_cells, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", from_cells)
    table = read_text(column(MESSAGES), "message")
    assert word_counts(table) == expected_counts(MESSAGES)
    assert table.vocabulary.states == tuple(sorted({word for text in MESSAGES if text for word in analyse(text)}))


def test_the_matrix_is_canonical():
    counts = read_text(column(MESSAGES * 3), "message").counts
    matrix = sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=counts.shape)
    assert matrix.has_canonical_format
    assert (counts.indptr.dtype, counts.indices.dtype, counts.data.dtype) == (np.int32, np.int32, np.int64)
    assert (counts.data > 0).all()


def test_a_null_is_missing_and_an_empty_text_is_a_text_without_words():
    table = read_text(column(["a", None, "", "?"]), "t")
    assert table.missing.tolist() == [False, True, False, False]
    assert table.counts.to_dense().tolist() == [[1], [0], [0], [0]]


@pytest.mark.parametrize("texts", [[None, None], ["", None], ["...", ""]])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.null()])
def test_a_column_without_a_word_has_no_vocabulary(texts, kind):
    texts = [None] * len(texts) if kind == pa.null() else texts
    table = read_text(column(texts, kind), "t")
    assert table.shape == (2, 0)
    assert table.vocabulary.states == ()
    assert table.missing.tolist() == [text is None for text in texts]
    assert table.n_cells == 0


@pytest.mark.parametrize("chunks", [[], [pa.array([], pa.string())]])
@pytest.mark.parametrize("from_cells", [0, 10**18], ids=["loop", "expression"])
def test_a_column_without_rows_has_no_counts(chunks, from_cells, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", from_cells)
    assert read_text(pa.chunked_array(chunks, pa.string()), "t").shape == (0, 0)


def test_a_block_is_some_rows():
    table = read_text(column(MESSAGES), "message")
    block = table.block(slice(2, 6))
    assert block.shape == (4, table.shape[1])
    assert word_counts(block) == expected_counts(MESSAGES)[2:6]
    assert block.n_cells == sum(len(row) for row in expected_counts(MESSAGES)[2:6] if row is not None)


# ---------------------------------------------------------------------- whatever Arrow keeps it in


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("from_cells", [0, 10**18], ids=["loop", "expression"])
def test_every_type_of_strings_gives_the_same(kind, from_cells, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", from_cells)
    whole = read_text(column(MESSAGES), "message")
    assert equal_tables(read_text(column(MESSAGES).cast(kind), "message"), whole)
    sliced = column(["other words", *MESSAGES, "at both ends"]).cast(kind).slice(1, len(MESSAGES))
    assert equal_tables(read_text(sliced, "message"), whole)


@given(
    st.lists(st.none() | st.text("ab 免费é.", max_size=6), max_size=8),
    st.lists(st.integers(0, 8), max_size=3),
    st.booleans(),
)
def test_chunks_and_slices_do_not_show(texts, cuts, use_loop):
    whole = read_text(column(texts), "t")
    edges = [0, *sorted(min(cut, len(texts)) for cut in cuts), len(texts)]
    padded = pa.array(["before", *texts, "after"], pa.string())
    chunks = [padded.slice(1 + a, b - a) for a, b in pairwise(edges)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "COMPILE_FROM_CELLS", 0 if use_loop else 10**18)
        assert equal_tables(read_text(pa.chunked_array(chunks, pa.string()), "t"), whole)
    assert word_counts(whole) == expected_counts(texts)


@pytest.mark.parametrize(("rows", "n_bytes"), [(1, 2**23), (3, 2**23), (65_536, 1), (65_536, 40)])
def test_blocks_do_not_show(rows, n_bytes, monkeypatch):
    whole = read_text(column(MESSAGES * 4), "message")
    monkeypatch.setattr(module, "BLOCK_ROWS", rows)
    monkeypatch.setattr(module, "BLOCK_BYTES", n_bytes)
    for n in (1, 4):
        with threads(n):
            assert equal_tables(read_text(column(MESSAGES * 4), "message"), whole)


@pytest.mark.parametrize("from_cells", [0, 10**18], ids=["loop", "expression"])
def test_what_lies_in_memory_under_a_null_is_not_read(from_cells, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", from_cells)
    offsets = np.array([0, 4, 11, 15], dtype=np.int32)
    valid = pa.py_buffer(bytes([0b101]))
    texts = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"seenGARBAGEtoo "), valid)
    assert word_counts(read_text(pa.chunked_array([texts]), "t")) == [{"seen": 1}, None, {"too": 1}]


def test_a_category_that_is_null_is_missing():
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["a b", None]))
    assert word_counts(read_text(pa.chunked_array([texts]), "t")) == [{"a": 1, "b": 1}, None, None]


@pytest.mark.parametrize("cells", [[1, 2], [1.5], [True], [b"bytes"], [["a"]]])
def test_a_column_that_is_no_text_is_refused(cells):
    with pytest.raises(DataError, match=r"column 'n' holds .*, not text; give it strings"):
        read_text(pa.chunked_array([pa.array(cells)]), "n")


# ---------------------------------------------------------------------- known words


def test_words_that_are_not_known_are_left_out():
    known = Variable("t", ("b", "d", "费"))
    table = read_text(column(["a b b c", None, "d 免费", "x"]), "t", known=known)
    assert table.vocabulary is known
    assert table.counts.to_dense().tolist() == [[2, 0, 0], [0, 0, 0], [0, 1, 1], [0, 0, 0]]


def test_no_word_is_known_where_the_vocabulary_is_empty():
    assert read_text(column(["a b"]), "t", known=Variable("t", ())).shape == (1, 0)


# ---------------------------------------------------------------------- hashed words


@pytest.mark.parametrize("n_hash", [1, 7, 2**18])
def test_hashed_words_are_those_of_scikit_learn(n_hash):
    texts = [text or "" for text in MESSAGES]
    table = read_text(column(texts), "t", TextAnalyser(n_hash=n_hash))
    hasher = HashingVectorizer(n_features=n_hash, alternate_sign=False, norm=None, analyzer=analyse)
    theirs = hasher.transform(texts)
    theirs.sort_indices()
    assert table.vocabulary.states == range(n_hash)
    assert np.array_equal(table.counts.indptr, theirs.indptr)
    assert np.array_equal(table.counts.indices, theirs.indices)
    assert np.array_equal(table.counts.data, theirs.data)


def test_a_hashed_domain_keeps_its_length_whichever_codes_are_met():
    vocabulary = read_text(column([None, None]), "t", TextAnalyser(n_hash=16)).vocabulary
    assert vocabulary.states == range(16)
    assert vocabulary.keeping(np.zeros(16, dtype=bool)) == vocabulary


@pytest.mark.parametrize("n_hash", [0, -1, 2**31, 1.5, "many"])
def test_an_impossible_number_of_codes_is_refused(n_hash):
    with pytest.raises(ParameterError, match=r"n_hash is .*; give a whole number from 1 to 2147483647, or None"):
        TextAnalyser(n_hash=n_hash)


def test_more_codes_than_memory_holds_are_refused():
    with pytest.raises(ResourceLimitError, match="codes of column 't' would take"):
        read_text(column(["a"]), "t", TextAnalyser(n_hash=2**31 - 1))


# ---------------------------------------------------------------------- settings


def test_binary_counts_a_word_once_in_each_row():
    table = read_text(column(["a a b", "b b b"]), "t", TextAnalyser(binary=True))
    assert table.counts.to_dense().tolist() == [[1, 1], [0, 1]]


def test_analysers_of_the_same_settings_are_equal_and_have_a_hash():
    assert TextAnalyser(n_hash=8) == TextAnalyser(n_hash=8) != TextAnalyser(n_hash=9)
    stopped = [
        TextAnalyser.from_vectorizer(CountVectorizer(stop_words=words)) for words in (["the", "a"], ["a", "the"], ["a"])
    ]
    assert stopped[0] == stopped[1] != stopped[2]
    assert len({*stopped, TextAnalyser()}) == 3
    assert pickle.loads(pickle.dumps(stopped[0])) == stopped[0]


def no_vowels(text):
    return text.translate(str.maketrans("", "", "aeiou")).split()


ENGLISH = ["The cat sat on the mat, café!", "A cat's TAIL sat", "", "the the the x"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"ngram_range": (1, 2)},
        {"analyzer": "char", "ngram_range": (2, 3)},
        {"analyzer": "char_wb", "ngram_range": (3, 4), "lowercase": False},
        {"stop_words": "english"},
        {"stop_words": ["the", "on"]},
        {"strip_accents": "unicode", "lowercase": False},
        {"token_pattern": r"(?u)\b\w+\b"},
        {"binary": True},
        {"tokenizer": no_vowels, "token_pattern": None},
        {"analyzer": no_vowels},
        {"preprocessor": str.swapcase},
    ],
    ids=lambda settings: "-".join(settings),
)
def test_a_vectoriser_of_scikit_learn_counts_as_it_does_itself(settings):
    vectorizer = CountVectorizer(**settings)
    table = read_text(column(ENGLISH), "t", TextAnalyser.from_vectorizer(vectorizer))
    theirs = vectorizer.fit_transform(ENGLISH)
    theirs.sort_indices()
    assert table.vocabulary.states == tuple(vectorizer.get_feature_names_out())
    assert np.array_equal(table.counts.to_dense(), theirs.toarray())


def test_the_vocabulary_that_a_vectoriser_has_learned_is_not_used():
    fitted = CountVectorizer().fit(["other words"])
    assert TextAnalyser.from_vectorizer(fitted) == TextAnalyser.from_vectorizer(CountVectorizer())
    assert read_text(column(["new ones"]), "t", TextAnalyser.from_vectorizer(fitted)).vocabulary.states == (
        "new",
        "ones",
    )


def test_a_hashing_vectoriser_hashes_as_it_does_itself():
    vectorizer = HashingVectorizer(n_features=32, alternate_sign=False, norm=None, ngram_range=(1, 2))
    analyser = TextAnalyser.from_vectorizer(vectorizer)
    assert analyser == TextAnalyser(n_hash=32, vectorizer=(("ngram_range", (1, 2)),))
    table = read_text(column(ENGLISH), "t", analyser)
    assert np.array_equal(table.counts.to_dense(), vectorizer.transform(ENGLISH).toarray())


@pytest.mark.parametrize("use_idf", [True, False])
def test_a_tfidf_vectoriser_asks_for_weights_and_counts_words(use_idf):
    analyser = TextAnalyser.from_vectorizer(TfidfVectorizer(norm=None, use_idf=use_idf))
    assert analyser == TextAnalyser(idf=use_idf, vectorizer=())
    assert read_text(column(["xx xx"]), "t", analyser).counts.to_dense().tolist() == [[2]]


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        (TfidfVectorizer(), r"TfidfVectorizer has norm='l2', but rows divided by .*; give it norm=None"),
        (TfidfVectorizer(norm=None, sublinear_tf=True), "sublinear_tf=True, but logarithms of counts"),
        (TfidfVectorizer(norm=None, smooth_idf=False), "smooth_idf=False, but the weight .* give it smooth_idf=True"),
        (HashingVectorizer(norm=None), "HashingVectorizer has alternate_sign=True, but counts are not negative"),
        (CountVectorizer(max_features=5), r"max_features=5, but .* all rows at once \(n_hash bounds"),
        (CountVectorizer(min_df=2), r"min_df=2, but .* give it min_df=1"),
        (CountVectorizer(min_df=1.0), r"min_df=1\.0, but .* give it min_df=1"),
        (CountVectorizer(max_df=1), r"max_df=1, but .* give it max_df=1\.0"),
        (CountVectorizer(vocabulary=["a"]), "vocabulary=.*, but the vocabulary is that of the rows"),
        (CountVectorizer(input="filename"), "input='filename', but a column holds the texts themselves"),
        (CountVectorizer(analyzer="syllable"), "no words can be found by the settings .*'syllable'"),
        (CountVectorizer(ngram_range=(2, 1)), r"no words can be found by the settings .*\(2, 1\)"),
        (CountVectorizer(stop_words="klingon"), "no words can be found by the settings .*'klingon'"),
        ("words", "'words' is no vectoriser of text; give a CountVectorizer"),
        (CountVectorizer, "is no vectoriser of text"),
    ],
    ids=str,
)
def test_a_vectoriser_that_does_not_count_is_refused_with_the_way_out(vectorizer, message):
    with pytest.raises(ParameterError, match=message):
        TextAnalyser.from_vectorizer(vectorizer)


@pytest.mark.parametrize("setting", [("input", "filename"), ("max_features", 3), ("n_hash", 8)])
def test_a_setting_that_does_not_find_words_is_refused(setting):
    with pytest.raises(ParameterError, match=f"'{setting[0]}' does not find words; give settings among analyzer, "):
        TextAnalyser(vectorizer=(setting,))
