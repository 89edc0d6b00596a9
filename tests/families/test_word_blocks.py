"""A column of words: what each word adds, which could be left out, how texts are drawn, and sums no texts can have."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bayeswater import NaiveBayes, ParameterError, StatisticsError
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.data.variable import Variable
from bayeswater.families.family import ABSENT
from bayeswater.families.words.words import Words, _factor
from bayeswater.statistics.text_sums import TextSums

TEXTS = ["red red it", "it blue", "red", None, "blue blue blue", "green it"]
Y = ["a", "a", "a", "a", "b", "b"]
WORDS = ["blue", "green", "it", "red"]
COUNT = np.array([[1, 0, 2, 3], [3, 1, 1, 0]])  # of each word in each class
PRESENT, OBSERVED = np.array([[1, 0, 2, 2], [1, 1, 1, 0]]), np.array([3, 2])


def fitted(reading, **parameters):
    return NaiveBayes(columns={"t": reading}, alpha=1.0, **parameters).fit(pa.table({"t": TEXTS}), Y)


def view_of(reading, texts):
    return fitted(reading).explain(pa.table({"t": pa.array(texts, pa.string())}))._views[0]


def log_share(k, word):
    return np.log((COUNT[k, WORDS.index(word)] + 1) / (COUNT[k].sum() + 4))


def mark(k, word):
    """P(present | class)."""
    return (PRESENT[k, WORDS.index(word)] + 1) / (OBSERVED[k] + 2)


def test_counted_words_weigh_as_often_as_they_stand_there_the_heaviest_first():
    view = view_of("multinomial", ["it red red", None, "yellow"])
    found = view.words(0, 0, 1)
    apart = {word: log_share(0, word) - log_share(1, word) for word in ("red", "it")}
    assert [word for word, _ in found] == ["red", "it"]
    assert_allclose([part for _, part in found], [2 * apart["red"], apart["it"]], rtol=1e-12)
    assert (view.absent_words(0, 0, 1), view.words(2, 0, 1)) == (0.0, [])
    assert view.reading(2, 0, 1) == "no known word"
    assert view.reading(0, 0, 1) == f"'red' {_factor(2 * apart['red'])}, 'it' {_factor(apart['it'])}"


def test_marked_words_weigh_once_and_those_that_are_absent_too():
    view = view_of("marks", ["it red red", None, ""])
    apart = {word: np.log(mark(0, word) / mark(1, word)) for word in WORDS}
    absent = {word: np.log((1 - mark(0, word)) / (1 - mark(1, word))) for word in WORDS}
    assert dict(view.words(0, 0, 1)) == pytest.approx({"it": apart["it"], "red": apart["red"]})
    assert view.absent_words(0, 0, 1) == pytest.approx(absent["blue"] + absent["green"])
    assert view.absent_words(2, 0, 1) == pytest.approx(sum(absent.values()))
    assert view.reading(2, 0, 1).startswith("no known word, absent words x ")


def test_at_most_three_words_are_told():
    assert view_of("multinomial", ["red it blue green"]).reading(0, 0, 1).count("'") == 6


@pytest.mark.parametrize("reading", ["multinomial", "complement", "marks"])
def test_a_text_without_a_word_has_the_terms_of_the_other_words(reading):
    view = view_of(reading, ["it red red", "it", "red red", None, "yellow"])
    options = view.options(0, 0)
    assert options.distance.tolist() == [1.0, 1.0]
    without = {options.value(place): view.terms_at(0, np.array([place]))[0] for place in options.cells.tolist()}
    assert {options.words(place) for place in options.cells} == {"without 'it'", "without 'red'"}
    assert_allclose(without["red"], view.own_terms(1), rtol=1e-12)
    assert_allclose(without["it"], view.own_terms(2), rtol=1e-12)
    assert view.options(3, 0) is None and view.options(4, 0) is None
    assert view.is_score == (reading == "complement")


@pytest.mark.parametrize(("chosen", "first"), [(0, "red"), (1, "blue")])
def test_the_word_that_speaks_most_for_the_class_is_the_first_to_be_left_out(chosen, first):
    options = view_of("multinomial", ["blue red"]).options(0, chosen)
    assert options.value(options.cells[0]) == first


@pytest.mark.parametrize("reading", ["multinomial", "complement", "marks"])
def test_a_row_without_a_text_has_no_factor(reading):
    block, table = block_and_table(reading, ["it red", None])
    assert_array_equal(block.likelihood(table, False)[1], [0.0, 0.0])
    assert block.likelihood(table, False)[0].all()


def block_and_table(reading, texts):
    view = view_of(reading, texts)
    return view.block, view.table


@pytest.mark.parametrize("reading", ["multinomial", "marks"])
def test_texts_are_known_by_their_length_and_marks_by_none(reading):
    block, table = block_and_table(reading, ["it red red", None, "", "yellow it"])
    lengths = [3, ABSENT, 0, 1] if reading == "multinomial" else [0, ABSENT, 0, 0]
    assert block.patterns(table).tolist() == [[n] for n in lengths]
    assert block.is_marked == (reading == "marks")


def test_the_support_of_a_text_is_that_of_its_rarest_word():
    block, table = block_and_table("multinomial", ["it red", "blue red", None, "yellow", "green"])
    assert block.support(table, np.array([0, 0, 0, 0, 0])).tolist() == [2, 1, np.inf, 3, 0]
    assert block.support(table, np.array([1, 1, 1, 1, 1])).tolist() == [0, 0, np.inf, 2, 1]


@pytest.mark.parametrize(
    ("contribution", "said"), [(np.log(3), "x 3"), (-np.log(3), "x 1/3"), (0.0, "x 1"), (-1e-9, "x 1")]
)
def test_a_factor_below_one_is_told_as_one_over(contribution, said):
    assert _factor(contribution) == said


def test_parameters_are_counted_and_tabulated_by_reading():
    tables = {reading: fitted(reading).tables()["t"] for reading in ("multinomial", "marks")}
    assert_allclose(tables["multinomial"]["P(word | b)"], (COUNT[1] + 1) / (COUNT[1].sum() + 4), rtol=1e-12)
    assert_allclose(tables["marks"]["P(present | a)"], (PRESENT[0] + 1) / (OBSERVED[0] + 2), rtol=1e-12)
    assert [fitted(reading).n_parameters for reading in ("multinomial", "complement", "marks")] == [1 + 6, 1 + 6, 1 + 8]


def test_drawn_texts_are_as_long_and_of_the_words_that_a_class_has():
    rows, labels = fitted("multinomial").sample(4000, random_state=0)
    for k, label in enumerate("ab"):
        texts = [text.split() for text, own in zip(rows["t"].to_pylist(), labels, strict=True) if own == label]
        lengths = np.array([len(text) for text in texts])
        mean = COUNT[k].sum() / OBSERVED[k]
        assert abs(lengths.mean() - mean) < 5 * np.sqrt(mean / len(texts))
        found = np.array([sum(text.count(word) for text in texts) for word in WORDS]) / lengths.sum()
        assert_allclose(found, (COUNT[k] + 1) / (COUNT[k].sum() + 4), atol=0.03)
        assert all(text == sorted(text) for text in texts)


def test_hashed_words_cannot_be_drawn_and_words_take_no_prior():
    hashed = {"t": {"family": "multinomial", "analyser": TextAnalyser(n_hash=16)}}
    with pytest.raises(ParameterError, match="'t' are hashed, so none can be drawn"):
        NaiveBayes(columns=hashed).fit(pa.table({"t": TEXTS}), Y).sample(3)


def test_a_block_of_sparse_counts_is_drawn_as_one():
    cells = sparse.csr_array(np.array([[2, 0, 1], [0, 1, 0], [3, 0, 0], [0, 4, 1]]))
    rows, _ = NaiveBayes().fit(cells, ["a", "b", "a", "b"]).sample(50, random_state=0)
    assert rows.shape == (50, 3) and rows.sum() > 50


# ---------------------------------------------------------------------- sums from elsewhere

CLASSES = Variable("class", ("a", "b"))
TEXT = Column("t", "t", "multinomial", analyser=TextAnalyser())


def sums_of(words, count=((1, 2), (3, 0)), present=((1, 1), (2, 0))):
    vocabulary = words if isinstance(words, Variable) else Variable("t", words)
    return TextSums(CLASSES, vocabulary, np.array(count), np.array(present), np.array([2, 3]))


def refuse(column, sums, problem):
    with pytest.raises(StatisticsError, match=problem):
        Words.require_column(column, sums, 0, 0.0)


def test_words_are_texts_in_their_order_each_once():
    Words.require_column(TEXT, sums_of(("it", "red")), 0, 0.0)
    for words in (("red", "it"), ("it", 3)):
        refuse(TEXT, sums_of(words), "are no texts, each once and in their order")
    declared = Variable("t", ("it", "red"), frozenset({"it"}))
    refuse(TEXT, sums_of(declared), "are no texts")
    refuse(TEXT, sums_of(Variable.of_codes("t", 2, frozenset({1}))), "are no texts")


def test_hashed_words_are_as_many_codes_as_there_are_hashes():
    hashed = Column("t", "t", "multinomial", analyser=TextAnalyser(n_hash=2))
    Words.require_column(hashed, sums_of(Variable.of_codes("t", 2, frozenset({1}))), 0, 0.0)
    wider = Column("t", "t", "multinomial", analyser=TextAnalyser(n_hash=4))
    refuse(wider, sums_of(Variable.of_codes("t", 2, frozenset({1}))), "has 2 words, and should have 4 codes")
    refuse(hashed, sums_of(("it", "red")), "should have 2 codes")
    refuse(hashed, sums_of(Variable.of_codes("t", 2, frozenset())), "should have 2 codes")


def test_a_word_that_a_row_has_is_counted_and_marks_are_counted_once():
    refuse(TEXT, sums_of(("it", "red"), count=((1, 0), (3, 0))), "have a word less than once")
    marked = Column("t", "t", "marks", analyser=TextAnalyser(binary=True))
    Words.require_column(marked, sums_of(("it", "red"), count=((1, 1), (2, 0))), 0, 0.0)
    refuse(marked, sums_of(("it", "red")), "marks words, but counts some more than once in a row")
    block = Column("(counts)", "(counts)", "multinomial")
    Words.require_column(block, sums_of(Variable.of_codes("t", 2, frozenset({1})), count=((0, 0), (0, 0))), 0, 0.0)


def test_a_text_that_had_no_word_yet_is_stored_without_any():
    family = Words((TEXT,))
    assert family.array_names({"observed"}) == {"observed"}
    assert family.array_names({"observed", "present", "word_count"}) == {"observed", "present", "word_count"}
    found = family.restored({"observed": np.array([2, 3])}, CLASSES, ())
    assert (found.word_count.shape, found.present.shape, found.observed.tolist()) == ((2, 0), (2, 0), [2, 3])
    hashed = Words((Column("t", "t", "multinomial", analyser=TextAnalyser(n_hash=2)),))
    arrays = sums_of(("it", "red")).to_arrays()
    assert hashed.restored(arrays, CLASSES, None).vocabulary == Variable.of_codes("t", 2, frozenset({1}))
    assert (family.has_words, hashed.has_words) == (True, False)


def test_a_sparse_block_may_store_zeros_which_are_no_words():
    cells = SparseMatrix(np.array([0, 2]), np.array([0, 2]), np.array([0, 3]), 3)
    model = NaiveBayes(columns={"(counts)": "multinomial"}).fit(sparse.csr_array(np.eye(3, dtype=int)), ["a", "b", "a"])
    block = model.explain(sparse.csr_array(np.eye(3, dtype=int)))._views[0].block
    codes, gains = block.word_gains(cells, 0)
    assert codes.tolist() == [2]
    assert_array_equal(gains, 3 * block.reading.joint.weight[[2]])
