"""Words in an ensemble: texts side by side, and rows that validate exactly what other rows teach."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from tests.learning.members.member_rows import table_of

from bayeswater.data.reading.text import read_text
from bayeswater.families.words.weighed_words import counted_words, folds_of_texts
from bayeswater.learning.members.word_member import WordMember, beside


def texts_of(words):
    return read_text(pa.chunked_array([words]), "t")


def table_of_texts(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n_rows)
    words = np.array(["one", "two", "three", "four", "five"])
    texts = [" ".join(words[(code + rng.integers(0, 3, 4)) % 5]) for code in codes]
    texts[3] = None
    empty = np.zeros((n_rows, 0))
    table = table_of(empty, empty.astype(int), [], codes, 3, rng.integers(1, 4, n_rows).astype(float))
    return replace(table, hashes=np.arange(n_rows, dtype=np.uint64), words=beside([texts_of(texts)]))


def test_texts_side_by_side_have_words_of_their_own():
    first, second = texts_of(["be to", None, "be be", None]), texts_of(["to", "to to or", None, None])
    joined = beside([first, second])
    dense = np.concatenate([first.counts.to_dense(), second.counts.to_dense()], axis=1)
    np.testing.assert_array_equal(joined.counts.to_dense(), dense)
    np.testing.assert_array_equal(joined.missing, [False, False, False, True])
    rows = np.array([2, 0, 2])
    np.testing.assert_array_equal(joined.take(rows).counts.to_dense(), dense[rows])
    np.testing.assert_array_equal(joined.take(slice(1, 3)).missing, joined.missing[1:3])
    assert beside([]) is None


def test_a_row_is_scored_by_the_machine_of_other_folds_and_counts_without_it():
    table = table_of_texts()
    member = WordMember().learn(table, 0)
    found, n_members = member.honest_log_posterior(table)
    fold = folds_of_texts(counted_words(table.words.counts), member.sums.columns.vocabulary)
    assert (n_members == 1).all()
    for i in range(len(table)):
        row = table.take(slice(i, i + 1))
        others = member.minus(replace(row, weight=row.removed))
        others = replace(others, weights=replace(member.weights, machine=member.weights.folds[fold[i]]))
        np.testing.assert_allclose(found[i], others.log_posterior(row)[0], rtol=1e-9, atol=1e-9)  # sums of float64
    frequency = (np.bincount(table.labels, table.weights) + 1 / 3) / (table.weights.sum() + 1)
    np.testing.assert_allclose(np.exp(member.log_posterior(table)[3]), frequency)  # no text, nothing said


def test_counting_and_forgetting_texts_leaves_no_trace():
    table = table_of_texts()
    member = WordMember().learn(table.take(slice(0, 40)), 0)
    moved = member.plus(table.take(slice(40, 60))).minus(table.take(slice(40, 60)))
    np.testing.assert_array_equal(moved.log_posterior(table), member.log_posterior(table))
    again = WordMember.from_arrays(moved.to_arrays(), 0, np.zeros(0, dtype=np.int64), 3)
    np.testing.assert_array_equal(again.log_posterior(table), member.log_posterior(table))
