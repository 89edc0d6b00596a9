"""What all sums have in common: arrays in and out, size, equality, frozen, added, and taken away with care."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bayeswater import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    SchemaError,
    StatisticsError,
)
from bayeswater.data.labels import encode_labels
from bayeswater.data.variable import Variable
from bayeswater.kernels import compiling, threads
from bayeswater.statistics import feature_sums
from bayeswater.statistics.sums import ClassCounts, Sums

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, size=(40, 3))
Y = RNG.integers(0, 3, size=40)
MODELS = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
every_model = pytest.mark.parametrize("kind", MODELS)


def sums_of(kind, X=X, y=Y, weight=None, **parameters):
    return kind(**parameters).fit(X, y, weight).statistics_


# ---------------------------------------------------------------------- arrays


@every_model
def test_arrays_out_and_in_give_the_same_sums(kind):
    for part in (sums_of(kind).class_count, sums_of(kind).columns):
        again = type(part).from_arrays(part.to_arrays(), **part.domain)
        assert again == part
        assert {name: array.dtype for name, array in again.to_arrays().items()} == {
            name: array.dtype for name, array in part.to_arrays().items()
        }


@every_model
def test_arrays_that_are_taken_in_stay_the_callers_own(kind):
    part = sums_of(kind).columns
    mine = {name: array.copy() for name, array in part.to_arrays().items()}
    again = type(part).from_arrays(mine, **part.domain)
    for array in mine.values():
        array += 1  # not frozen, and not the array of the statistic
    assert again == part


@every_model
def test_the_byte_size_is_that_of_the_arrays(kind):
    sums = sums_of(kind)
    expected = sum(a.nbytes for part in (sums.class_count, sums.columns) for a in part.to_arrays().values())
    assert sums.nbytes == expected > 0


@every_model
def test_sums_are_as_large_for_a_thousand_rows_as_for_forty(kind):
    assert sums_of(kind, np.tile(X, (25, 1)), np.tile(Y, 25)).nbytes == sums_of(kind).nbytes


# ---------------------------------------------------------------------- frozen


@every_model
def test_sums_cannot_be_written(kind):
    sums = sums_of(kind)
    for part in (sums.class_count, sums.columns):
        for array in part.to_arrays().values():
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    with pytest.raises(AttributeError, match="cannot assign"):
        sums.columns = None
    with pytest.raises(AttributeError, match="cannot assign"):
        sums.class_count.count = None


@every_model
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda sums: pickle.loads(pickle.dumps(sums))])
def test_a_copy_is_equal_and_frozen_too(kind, copied):
    sums = copied(sums_of(kind))
    assert sums == sums_of(kind)
    assert not any(array.flags.writeable for array in sums.columns.to_arrays().values())


# ---------------------------------------------------------------------- equal


@every_model
def test_sums_of_the_same_rows_are_equal_and_of_others_are_not(kind):
    assert sums_of(kind) == sums_of(kind)
    assert sums_of(kind) != sums_of(kind, X[1:], Y[1:])
    assert sums_of(kind) != sums_of(kind, X, Y + 1)
    more, fewer = (sums_of(kind, X[rows], Y[rows]).class_count for rows in (slice(None), slice(1, None)))
    assert more != fewer and fewer != more  # one of them is larger in every class
    assert sums_of(kind) != 3
    assert sums_of(kind).columns != 3


@every_model
def test_sums_of_another_width_are_not_equal(kind):
    one = sums_of(kind, X[:, :1])
    assert one != sums_of(kind, X[:, :2])
    assert one != sums_of(kind, X[:, [0, 0]])  # whatever is equal in every column
    assert sums_of(kind, X[:, :2]) != sums_of(kind)


def test_counts_of_columns_that_all_agree_equal_those_kept_column_by_column():
    complete = sums_of(GaussianNB).columns
    spelled_out = type(complete).from_arrays(
        {**complete.to_arrays(), "weight": np.repeat(complete.weight, 3, axis=1)}, **complete.domain
    )
    assert spelled_out == complete


@every_model
def test_sums_have_no_hash(kind):
    with pytest.raises(TypeError, match="unhashable"):
        hash(sums_of(kind).columns)


# ---------------------------------------------------------------------- added and taken away


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB])
def test_parts_add_up_to_the_whole_and_come_off_again(kind):
    whole, a, b = sums_of(kind), sums_of(kind, X[:25], Y[:25]), sums_of(kind, X[25:], Y[25:])
    assert a + b == whole
    assert b + a == whole
    assert whole - b == a


def test_classes_are_aligned_by_label():
    a = sums_of(MultinomialNB, [[1, 0]], ["p"])
    b = sums_of(MultinomialNB, [[0, 2], [5, 5]], ["a", "p"])
    total = a + b
    assert total.classes.states == ("a", "p")
    assert total.columns.feature_sum.tolist() == [[0, 2], [6, 5]]
    assert total - b == a


@every_model
@pytest.mark.parametrize("other", [3, None, "sums"])
def test_sums_combine_with_sums_alone(kind, other):
    sums = sums_of(kind)
    for part in (sums, sums.columns, sums.class_count):
        with pytest.raises(TypeError, match="unsupported operand"):
            part + other
        with pytest.raises(TypeError, match="unsupported operand"):
            part - other


def test_sums_of_different_kinds_do_not_combine():
    with pytest.raises(TypeError, match=r"unsupported operand type.* 'Moments' and 'FeatureSums'"):
        sums_of(GaussianNB) + sums_of(MultinomialNB)


@every_model
def test_sums_of_another_width_do_not_combine(kind):
    with pytest.raises((StatisticsError, SchemaError), match="3 columns here, 2 there: they cannot be combined"):
        sums_of(kind) + sums_of(kind, X[:, :2])


@every_model
def test_sums_of_other_columns_do_not_combine(kind):
    a, b = (sums_of(kind, pd.DataFrame(X, columns=names)) for names in (["p", "q", "r"], ["p", "s", "r"]))
    with pytest.raises((StatisticsError, SchemaError), match="column 'q' here stands where the other has 's'"):
        a + b
    with pytest.raises((StatisticsError, SchemaError), match="column 'p' here stands where the other has 'x0'"):
        a + sums_of(kind)


@every_model
def test_columns_called_x0_x1_combine_with_columns_without_names(kind):
    named = sums_of(kind, pd.DataFrame(X, columns=["x0", "x1", "x2"]))
    assert (named + sums_of(kind)).class_count.count.sum() == 80


@every_model
def test_a_class_that_was_never_counted_cannot_be_taken_away(kind):
    with pytest.raises(StatisticsError, match="class 7 was never counted here, so its rows cannot be taken away"):
        sums_of(kind) - sums_of(kind, X[:1], [7])


@every_model
def test_more_rows_than_were_counted_cannot_be_taken_away(kind):
    with pytest.raises(StatisticsError, match=r"never counted: count of class 0 would become -\d+"):
        sums_of(kind, X[:5], [0, 0, 0, 1, 1]) - sums_of(kind, X[:5], [0, 0, 0, 0, 1])


@every_model
def test_all_rows_cannot_be_taken_away(kind):
    with pytest.raises(StatisticsError, match="no row would remain; make a new model instead"):
        sums_of(kind) - sums_of(kind)


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        (MultinomialNB, [9, 0, 0], r"feature_sum of column 'x0' in class 0 would become -\d"),
        (BernoulliNB, [1, 1, 1], r"present of column 'x\d' in class 0 would become -1"),
        (CategoricalNB, [0, 3, 0], r"the count of 'x1' = 3 in class 0 would become -2"),
    ],
)
def test_a_cell_that_was_never_counted_is_named(kind, row, message):
    seen = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    rows = np.array([row, row])
    with pytest.raises(StatisticsError, match=f"rows that were never counted: {message}"):
        sums_of(kind, seen, [0, 0, 0]) - sums_of(kind, rows, [0, 0])


def test_a_missing_cell_that_was_never_counted_is_named():
    seen = np.array([[0.0], [1.0], [np.nan]])
    lost = np.array([[np.nan], [np.nan]])
    with pytest.raises(StatisticsError, match="the count of 'x0' = missing in class 0 would become -1"):
        sums_of(CategoricalNB, seen, [0, 0, 0], missing="ignore") - sums_of(
            CategoricalNB, lost, [0, 0], missing="ignore"
        )


def test_a_label_that_was_never_counted_is_named():
    with pytest.raises(StatisticsError, match="the count of 'x0' = 'green' in class 0 would become -1"):
        sums_of(CategoricalNB, [["red"], ["blue"]], [0, 0]) - sums_of(CategoricalNB, [["green"]], [0])


def test_a_remainder_of_float_sums_within_rounding_is_zero():
    weight = np.array([0.1, 0.2, 0.3, 0.7])
    cells = np.ones((4, 1), dtype=int)
    whole = sums_of(MultinomialNB, cells, [0, 0, 0, 1], weight)
    rest = whole - sums_of(MultinomialNB, cells[:3], [0, 0, 0], weight[[2, 1, 0]])
    assert rest.classes.states == (1,)  # 0.6 - (0.3 + 0.2 + 0.1) is not zero, but rounding


def test_class_counts_stand_alone_too():
    a, b = (ClassCounts.of(encode_labels(y), None) for y in (["a", "b", "b"], ["b", "c"]))
    assert (a + b).count.tolist() == [1, 3, 1]
    assert (a + b).classes.states == ("a", "b", "c")
    with pytest.raises(StatisticsError, match="class 'c' was never counted here"):
        a - b


# ---------------------------------------------------------------------- whole numbers and their end


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB])
@pytest.mark.parametrize(("weight", "dtype"), [(None, np.int64), (3, np.int64), (0.5, np.float64)])
def test_counts_are_whole_where_the_weights_are(kind, weight, dtype):
    sums = sums_of(kind, X, Y, weight)
    for part in (sums.class_count, sums.columns):
        assert all(array.dtype == dtype for array in part.to_arrays().values())


@pytest.mark.parametrize("cells", [2**61, 2**61 + 2**20])
def test_sums_that_could_pass_the_largest_integer_are_floats(cells):
    whole = sums_of(MultinomialNB, np.array([[cells]]), [0]).columns.feature_sum
    assert whole.dtype == np.int64
    assert whole.tolist() == [[cells]]
    large = sums_of(MultinomialNB, np.array([[cells], [cells]]), [0, 0]).columns.feature_sum
    assert large.dtype == np.float64
    assert large.tolist() == [[2.0 * cells]]


def test_the_largest_unsigned_integers_are_summed_as_floats():
    cells = np.full((3, 1), 2**64 - 1, dtype=np.uint64)
    assert sums_of(MultinomialNB, cells, [0, 0, 0]).columns.feature_sum.tolist() == [[3.0 * 2**64]]


def test_weighted_unsigned_integers_are_whole_only_where_their_products_are_exact():
    small, large = (np.full((2, 1), value, dtype=np.uint64) for value in (2**40 + 1, 2**55 + 1))
    assert sums_of(MultinomialNB, small, [0, 0], [3, 3]).columns.feature_sum.tolist() == [[6 * (2**40 + 1)]]
    assert sums_of(MultinomialNB, large, [0, 0], [3, 3]).columns.feature_sum.dtype == np.float64


def test_a_heavy_weight_counts_toward_the_largest_integer():
    cells = np.array([[2**40]])
    assert sums_of(MultinomialNB, cells, [0], 2**20).columns.feature_sum.dtype == np.int64
    assert sums_of(MultinomialNB, cells, [0], 2**30).columns.feature_sum.dtype == np.float64


@pytest.mark.parametrize("compile_from", [1, np.inf], ids=["loop", "reference"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weighted_sums_beyond_the_largest_integer_do_not_wrap(form, compile_from, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", compile_from)
    found = sums_of(MultinomialNB, form(np.array([[2**61, 1], [2**61, 1]])), [0, 1], [5, 1])
    assert found.columns.feature_sum.tolist() == [[5 * 2.0**61, 5], [2.0**61, 1]]


def test_weights_make_sums_of_the_type_that_as_many_rows_make():
    cells, weight = np.full((9, 1), 2**50), np.array([1000, *[1] * 8])
    weighted = sums_of(MultinomialNB, cells, weight, weight)
    repeated = sums_of(MultinomialNB, cells.repeat(weight, axis=0), weight.repeat(weight))
    assert weighted == repeated
    assert weighted.columns.feature_sum.dtype == repeated.columns.feature_sum.dtype == np.int64


def test_merging_beyond_the_largest_integer_is_refused_and_never_wraps():
    model = MultinomialNB().fit([[2**61]], [0])
    model = model + model
    assert model.statistics_.columns.feature_sum.tolist() == [[2**62]]
    with pytest.raises(StatisticsError, match=r"a count passed 2\*\*63; use float weights"):
        model + model


def test_totals_over_features_and_classes_may_pass_the_largest_integer():
    cells = np.array([[2**58, 2**58], [2**58, 2**58], [2**58, 2**58], [2**58, 2**58]]).repeat(8, axis=1)
    y = [0, 1, 2, 3]
    for kind in (MultinomialNB, ComplementNB):
        merged = kind(fit_prior=False).fit(cells, y)
        for _ in range(4):
            merged = merged + merged  # 2**62 in each class: 2**64 over classes, 2**66 over features
        small = kind().fit(np.ones((4, 16), dtype=int), y)
        assert merged.statistics_.columns.feature_sum.dtype == np.int64
        # Every feature is as frequent as the others; smoothing is far below rounding.
        np.testing.assert_allclose(merged.feature_log_prob_, small.feature_log_prob_, rtol=1e-15)
        log_proba = merged.loo_predict_log_proba(np.ones((4, 16), dtype=int), y)
        np.testing.assert_allclose(log_proba, np.log(0.25), rtol=1e-12)


# ---------------------------------------------------------------------- in words


def test_sums_say_what_they_hold():
    assert repr(sums_of(MultinomialNB, [[1, 2], [3, 4]], ["b", "a"])) == (
        "Sums(rows=2, classes=['a', 'b'], columns=FeatureSums, bytes=48)"
    )


def test_sums_know_their_classes():
    sums = sums_of(GaussianNB)
    assert isinstance(sums, Sums)
    assert isinstance(sums.classes, Variable)
    assert sums.classes.states == (0, 1, 2)
    assert sums.columns.n_classes == 3


# ---------------------------------------------------------------------- both roads


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB])
@pytest.mark.parametrize("weight", [None, np.arange(40) % 3 + 1, np.arange(1, 41) / 8])
def test_sparse_sums_are_the_same_by_loop_and_by_reference(kind, weight, monkeypatch):
    dense = sums_of(kind, X, Y, weight)
    table = sparse.csr_array(X)
    for cells, rows in ((10**18, 2**16), (0, 2**16), (0, 7)):  # by reference, by loop, by loop in many parts
        monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", cells)
        monkeypatch.setattr(threads.row_blocks, "__defaults__", (rows,))
        assert sums_of(kind, table, Y, weight) == dense


@pytest.mark.parametrize("weight", [None, np.arange(40) % 3 + 1, np.arange(1, 41) / 8])
@pytest.mark.parametrize("rows", [2**16, 7])
@pytest.mark.parametrize("in_caches", [0, 2**23], ids=["class by class", "in blocks of many cells"])
def test_sparse_sums_of_many_features_are_the_same_by_class_and_in_order(weight, rows, in_caches, monkeypatch):
    dense = sums_of(MultinomialNB, X, Y, weight)
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 0)
    monkeypatch.setattr(feature_sums, "BYTES_IN_CACHE", 0)
    monkeypatch.setattr(feature_sums, "BYTES_IN_CACHES", in_caches)
    monkeypatch.setattr(threads.row_blocks, "__defaults__", (rows,))
    for n_tasks in (1, 32):
        monkeypatch.setattr(feature_sums, "TASKS", n_tasks)
        assert sums_of(MultinomialNB, sparse.csr_array(X), Y, weight) == dense


@every_model
def test_many_blocks_of_rows_add_up_to_one(kind, monkeypatch):
    whole = sums_of(kind).columns.to_arrays()
    monkeypatch.setattr(threads.row_blocks, "__defaults__", (7,))
    for name, array in sums_of(kind).columns.to_arrays().items():
        np.testing.assert_allclose(array, whole[name], rtol=1e-13)  # the moments are rounded in another order


# ---------------------------------------------------------------------- cells that were there


def test_an_absence_that_was_never_counted_is_named():
    whole, part = (sums_of(BernoulliNB, cells, [0] * len(cells)) for cells in ([[1], [1], [1]], [[0]]))
    with pytest.raises(StatisticsError, match="the absence of 'x0' in class 0 would be counted -1 times"):
        whole - part


def test_of_several_absences_that_were_never_counted_the_first_is_named():
    whole = sums_of(BernoulliNB, [[0, 1, 1], [1, 1, 1], [1, 1, 1]], [0, 0, 1])
    with pytest.raises(StatisticsError, match="the absence of 'x1' in class 0 would be counted -1 times"):
        whole - sums_of(BernoulliNB, [[0, 0, 0], [0, 0, 0]], [0, 1])


@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB])
def test_a_missing_cell_that_had_been_there_cannot_be_taken_away(kind):
    cells = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0]])
    part = sums_of(kind, [[np.nan, 1.0]], [0], missing="ignore")
    with pytest.raises(StatisticsError, match=r"class 0 would have 2 rows, with 3 cells in column 'x0'"):
        sums_of(kind, cells, [0, 0, 0], missing="ignore") - part
