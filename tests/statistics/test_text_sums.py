"""Sums of a text column: against counting by hand, and the laws of merging, forgetting and weights, to the bit."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import ResourceLimitError, StatisticsError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.text import TextAnalyser, TextTable, hash_codes, read_text
from bayeswater.data.reading.words import analyse
from bayeswater.data.variable import Variable
from bayeswater.kernels import compiling, threads
from bayeswater.limits import TABLE_BYTES
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.statistics.text_sums import TextSums

TEXTS = ["free win", None, "win win 免费", "", "see u", "u win", None, "free free free"]
LABELS = ["spam", "spam", "spam", "ham", "ham", "spam", "ham", "spam"]
HASHED = TextAnalyser(n_hash=5)


@dataclass(frozen=True)
class Rows:
    texts: list
    labels: list
    weight: list | None = None

    def take(self, rows):
        weight = None if self.weight is None else [self.weight[i] for i in rows]
        return Rows([self.texts[i] for i in rows], [self.labels[i] for i in rows], weight)


def sums_of(texts, labels, weight=None, analyser=None):
    table = read_text(pa.chunked_array([pa.array(texts, pa.string())]), "message", analyser)
    return TextSums.of(table, encode_labels(labels), None if weight is None else np.asarray(weight))


def model_of(rows, analyser=None):
    weight = None if rows.weight is None else np.asarray(rows.weight)
    class_count = ClassCounts.of(encode_labels(rows.labels), weight)
    return Sums(class_count, sums_of(rows.texts, rows.labels, weight, analyser))


def counted(texts, labels, weight=None):
    """Count by hand: word counts and rows by class and word, and texts by class."""
    word_count, present, observed = Counter(), Counter(), Counter()
    for text, label, w in zip(texts, labels, weight or [1] * len(texts), strict=True):
        if text is not None:
            observed[label] += w
            for word, n in Counter(analyse(text)).items():
                word_count[label, word] += w * n
                present[label, word] += w
    return word_count, present, observed


def as_counters(sums):
    words = [
        Counter(
            {
                (label, word): value
                for label, row in zip(sums.classes.states, array.tolist(), strict=True)
                for word, value in zip(sums.vocabulary.states, row, strict=True)
                if value
            }
        )
        for array in (sums.word_count, sums.present)
    ]
    observed = zip(sums.classes.states, sums.observed.tolist(), strict=True)
    return *words, Counter({label: n for label, n in observed if n})


def same_bits(a, b):
    return a == b and all(array.dtype == b.to_arrays()[name].dtype for name, array in a.to_arrays().items())


WORDS = st.sampled_from(["a", "b", "cc", "免费", "Ü", "."])
MESSAGES = st.none() | st.lists(WORDS, max_size=5).map(" ".join)


@st.composite
def some_rows(draw, weights=None, min_size=1):
    n = draw(st.integers(min_size, 8))
    texts = draw(st.lists(MESSAGES, min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n))
    weight = None if weights is None else draw(st.lists(weights, min_size=n, max_size=n))
    return Rows(texts, labels, weight)


# ---------------------------------------------------------------------- counts


@pytest.mark.parametrize("weight", [None, [1, 2, 3, 4, 1, 2, 3, 4], [0.5, 0.25, 1.5, 2.0, 0.125, 1.0, 0.75, 3.0]])
@pytest.mark.parametrize(("cells", "rows"), [(10**18, 2**16), (0, 2**16), (0, 3)])
def test_sums_are_those_counted_by_hand(weight, cells, rows, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", cells)
    monkeypatch.setattr(threads.row_blocks, "__defaults__", (rows,))
    sums = sums_of(TEXTS, LABELS, weight)
    assert as_counters(sums) == counted(TEXTS, LABELS, weight)  # exact: the weights are sums of powers of two
    kind = np.float64 if weight is not None and 0.5 in weight else np.int64
    assert {array.dtype for array in sums.to_arrays().values()} == {np.dtype(kind)}
    assert sums.name == "message"
    assert sums.shape == (2, len(sums.vocabulary.states))


@given(some_rows())
def test_sums_of_any_rows_are_those_counted_by_hand(rows):
    assert as_counters(sums_of(rows.texts, rows.labels)) == counted(rows.texts, rows.labels)


def test_a_missing_text_is_not_observed_and_an_empty_one_is():
    sums = sums_of([None, "", "a"], ["x", "x", "x"])
    assert sums.observed.tolist() == [2]
    assert sums.present.tolist() == sums.word_count.tolist() == [[1]]


@pytest.mark.parametrize("weight", [None, [2, 3], [0.5, 0.25]])
def test_a_column_without_texts_has_sums_without_words(weight):
    sums = sums_of([None, None], ["x", "y"], weight)
    assert sums.shape == (2, 0)
    assert sums.observed.tolist() == [0, 0]
    more = sums_of(["a"], ["y"])
    assert (sums + more).word_count.tolist() == [[0], [1]]
    assert sums + sums_of([None], ["x"]) == sums


def test_hashed_words_are_counted_by_code():
    hashed, plain = sums_of(TEXTS, LABELS, analyser=HASHED), sums_of(TEXTS, LABELS)
    expected = np.zeros((2, 5), dtype=np.int64)
    for word, code in enumerate(hash_codes(plain.vocabulary.states, 5)):
        expected[:, code] += plain.word_count[:, word]
    assert hashed.word_count.tolist() == expected.tolist()
    assert hashed.observed.tolist() == plain.observed.tolist()
    assert same_bits(hashed.pruned(), hashed)


def test_two_words_of_one_code_mark_a_row_once():
    sums = sums_of(["free win win"], ["x"], analyser=TextAnalyser(n_hash=1))
    assert (sums.word_count.tolist(), sums.present.tolist()) == ([[3]], [[1]])


# ---------------------------------------------------------------------- merging


@given(some_rows(min_size=2), st.data())
@pytest.mark.parametrize("analyser", [None, HASHED], ids=["words", "hashed"])
def test_the_sums_of_any_parts_add_up_to_those_of_all_rows(analyser, rows, data):
    part_of = data.draw(st.lists(st.integers(0, 2), min_size=len(rows.texts), max_size=len(rows.texts)))
    parts = [rows.take([i for i, p in enumerate(part_of) if p == part]) for part in set(part_of)]
    merged = sum((model_of(part, analyser) for part in parts), start=0)
    whole = model_of(rows, analyser)
    assert same_bits(merged.columns, whole.columns)
    assert merged == whole


def test_words_and_classes_are_aligned_by_label():
    a, b = sums_of(["b d"], ["y"]), sums_of(["a b b"], ["x"])
    both = a + b
    assert both == b + a
    assert both.vocabulary == Variable("message", ("a", "b", "d"))
    assert both.classes.states == ("x", "y")
    assert both.word_count.tolist() == [[1, 2, 0], [0, 1, 1]]
    assert both.present.tolist() == [[1, 1, 0], [0, 1, 1]]


def test_columns_of_another_name_do_not_combine():
    a = sums_of(["a"], ["x"])
    b = TextSums.from_arrays(a.to_arrays(), classes=a.classes, vocabulary=Variable("title", ("a",)))
    with pytest.raises(StatisticsError, match="column 'message' here stands where the other has 'title'"):
        a + b


def test_words_hashed_to_another_number_of_codes_do_not_combine():
    a, b = (sums_of(["a"], ["x"], analyser=TextAnalyser(n_hash=n)) for n in (4, 8))
    with pytest.raises(StatisticsError, match=r"'message' has 4 codes of words here, 8 there.*the same n_hash"):
        a + b


# ---------------------------------------------------------------------- forgetting


@given(some_rows(min_size=2), st.data())
@pytest.mark.parametrize("analyser", [None, HASHED], ids=["words", "hashed"])
def test_forgetting_rows_equals_never_having_seen_them(analyser, rows, data):
    n = len(rows.texts)
    gone = data.draw(st.sets(st.integers(0, n - 1), max_size=n - 1))
    left = [i for i in range(n) if i not in gone]
    rest = model_of(rows, analyser)
    if gone:
        rest = rest - model_of(rows.take(sorted(gone)), analyser)
    assert rest == model_of(rows.take(left), analyser)
    assert same_bits(rest.columns, model_of(rows.take(left), analyser).columns)


@given(some_rows(st.sampled_from([0.1, 0.25, 1 / 3, 1.0, 7.75]), min_size=2))
def test_forgetting_rows_of_fractional_weight_leaves_the_words_of_the_others(rows):
    rest = model_of(rows) - model_of(rows.take([0]))
    others = model_of(rows.take(range(1, len(rows.texts))))
    assert rest.columns.domain == others.columns.domain
    for name, array in rest.columns.to_arrays().items():
        # Sums of at most eight weights below eight, rounded in another order.
        np.testing.assert_allclose(array, others.columns.to_arrays()[name], rtol=1e-12, atol=1e-14)


def test_a_declared_word_stays_though_no_row_has_it():
    a = sums_of(["a b", "b"], ["x", "x"])
    declared = Variable("message", ("a", "b"), frozenset({"a"}))
    kept = TextSums.from_arrays(a.to_arrays(), classes=a.classes, vocabulary=declared)
    rest = (kept - sums_of(["a b"], ["x"])).pruned()
    assert rest.vocabulary == declared
    assert rest.word_count.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", "a"], "the number of rows that have 'a' of column 'message' in class 'x' would become -1"),
        (["", ""], "the number of texts of column 'message' in class 'x' would become -1"),
        (["a a a a"], "the count of 'a' of column 'message' in class 'x' would become -1"),
        (["b b"], "the count of 'b' of column 'message' in class 'x' would become -1"),
        (["zebra"], "the count of 'zebra' of column 'message' in class 'x' would become -1"),
        ([""], "the number of rows without 'a' of column 'message' in class 'x' would become -1"),
        (["a b"], "no row would have 'a' of column 'message' in class 'x', and yet its count would be 2"),
    ],
)
def test_rows_that_were_never_counted_cannot_be_taken_away(texts, message):
    with pytest.raises(StatisticsError, match=f"cannot take away rows that were never counted: {message}"):
        sums_of(["a a a b"], ["x"]) - sums_of(texts, ["x"] * len(texts))


def test_rows_that_have_a_word_less_often_than_they_are_many_were_never_counted():
    whole = sums_of(["a", "a a", "a"], ["x"] * 3)
    message = r"'a' of column 'message' in class 'x' would be counted less often than rows have it \(difference -1\)"
    with pytest.raises(StatisticsError, match=message):
        whole - sums_of(["a a a"], ["x"])


def test_rounding_of_weights_is_no_row_without_a_word():
    weight = np.array([0.1, 0.2, 0.3])
    whole = sums_of(["a", "a", "a"], ["x"] * 3, weight)
    slip = whole.with_arrays({**whole.to_arrays(), "present": whole.present * (1 + 1e-13)})
    rest = slip - sums_of(["a"], ["x"], weight[:1])
    np.testing.assert_allclose(rest.present, [[0.5]], rtol=1e-12)
    slip = whole.with_arrays({**whole.to_arrays(), "present": whole.present * 1.01})
    with pytest.raises(StatisticsError, match="the number of rows without 'a'"):
        slip - sums_of(["a"], ["x"], weight[:1])


def test_a_class_that_was_never_counted_cannot_be_taken_away():
    with pytest.raises(StatisticsError, match="class 'y' was never counted here"):
        sums_of(["a"], ["x"]) - sums_of(["a"], ["y"])


def test_a_missing_text_that_had_been_there_cannot_be_taken_away():
    whole, gone = Rows(["a", "b"], ["x", "x"]), Rows([None], ["x"])
    with pytest.raises(StatisticsError, match="class 'x' would have 1 rows, with 2 texts in column 'message'"):
        model_of(whole) - model_of(gone)


def test_weighed_cells_may_be_less_than_the_rows_that_have_them():
    cells = SparseMatrix(np.array([0, 1, 2]), np.array([0, 0]), np.array([0.25, 0.5]), 1)
    table = TextTable(Variable.of_codes("block", 1), cells, np.zeros(2, dtype=bool))
    whole = TextSums.of(table, encode_labels(["x", "x"]), None)
    rest = whole - TextSums.of(table.block(slice(0, 1)), encode_labels(["x"]), None)
    assert (rest.word_count.tolist(), rest.present.tolist()) == ([[0.5]], [[1]])


# ---------------------------------------------------------------------- weights


@given(some_rows(st.integers(1, 3)))
def test_whole_weights_equal_repetition(rows):
    repeated = rows.take([i for i, w in enumerate(rows.weight) for _ in range(w)])
    weighed = sums_of(rows.texts, rows.labels, rows.weight)
    assert same_bits(weighed, sums_of(repeated.texts, repeated.labels))


def test_heavy_weights_stay_whole():
    sums = sums_of(["a a"] * 2, ["x", "x"], [2**40, 2**41])
    assert sums.word_count.tolist() == [[2 * 3 * 2**40]]
    assert sums.word_count.dtype == np.int64


def test_decay_lets_every_row_count_less():
    sums = sums_of(TEXTS, LABELS)
    halved = sums.scaled(0.5)
    assert all(array.dtype == np.float64 for array in halved.to_arrays().values())
    assert halved == sums_of(TEXTS, LABELS, [0.5] * len(TEXTS))


# ---------------------------------------------------------------------- as all statistics


def test_arrays_out_and_in_give_the_same_sums_and_are_frozen():
    sums = sums_of(TEXTS, LABELS)
    again = TextSums.from_arrays(sums.to_arrays(), **sums.domain)
    assert same_bits(again, sums)
    assert sums != sums_of(TEXTS[1:], LABELS[1:])
    assert sums.nbytes == sum(array.nbytes for array in sums.to_arrays().values())
    for array in again.to_arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_sums_can_be_laid_out_for_other_classes():
    sums = sums_of(["a", "b"], ["x", "z"]).onto(Variable("class", ("w", "x")))
    assert sums.word_count.tolist() == [[0, 0], [1, 0]]
    assert sums.observed.tolist() == [0, 1]


def test_more_sums_than_memory_holds_are_refused_before_they_are_allocated():
    n_codes = TABLE_BYTES // 32 + 1  # two tables of eight bytes for each of two classes
    table = TextTable(
        Variable("t", range(n_codes)),
        SparseMatrix(np.array([0, 0, 0]), np.zeros(0, dtype=int), np.zeros(0, dtype=int), n_codes),
        np.zeros(2, dtype=bool),
    )
    with pytest.raises(ResourceLimitError, match=r"words of column 't' in 2 classes would take 4 GiB.*\(n_hash\)"):
        TextSums.of(table, encode_labels(["x", "y"]), None)
