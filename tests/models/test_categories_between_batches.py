"""Categories that a batch lacks, that were never counted, or that come under other names than at `fit`."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayeswater import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    DataError,
    Dirichlet,
    GaussianNB,
    MultinomialNB,
    NormalInverseGamma,
    SchemaError,
    UnseenCategoryWarning,
)
from bayeswater.kernels import compiling

NAN = np.nan

# ---------------------------------------------------------------------- unseen is not missing

CODES = np.array([[0, 1], [1, 0], [NAN, 1], [NAN, 0], [1, NAN]])
LABELS = pd.DataFrame({"a": ["p", "q", None, None, "q"], "b": ["s", "r", "s", "r", None]})
Y = [0, 1, 1, 1, 0]


@pytest.fixture(params=[0, 10**9], ids=["loops", "reference"])
def either_path(request, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", request.param)


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("missing", ["ignore", "state"])
@pytest.mark.parametrize(
    ("X", "unseen", "alone"),
    [
        (CODES, np.array([[2, 1]]), CODES[:, [1]]),  # one past the last state
        (CODES, np.array([[2, 1]], dtype=np.uint8), CODES[:, [1]]),
        (CODES, np.array([[7, 1]], dtype=np.uint64), CODES[:, [1]]),
        (CODES, np.array([[2.0, 1.0]]), CODES[:, [1]]),
        (CODES, np.array([[0.5, 1.0]]), CODES[:, [1]]),
        (LABELS, pd.DataFrame({"a": ["new"], "b": ["s"]}), LABELS[["b"]]),
        (LABELS, pl.DataFrame({"a": ["new"], "b": ["s"]}), LABELS[["b"]]),
    ],
)
def test_an_unseen_category_is_left_out_also_where_missing_is_a_state(missing, X, unseen, alone):
    model = CategoricalNB(missing=missing).fit(X, Y)
    other = CategoricalNB(missing=missing).fit(alone, Y)
    with pytest.warns(UnseenCategoryWarning, match="left out"):
        found = model.predict_joint_log_proba(unseen)
    row = unseen[:, [1]] if isinstance(unseen, np.ndarray) else unseen[["b"]]
    np.testing.assert_array_equal(found, other.predict_joint_log_proba(row))


@pytest.mark.usefixtures("either_path")
def test_a_missing_cell_keeps_its_state_beside_an_unseen_one():
    model = CategoricalNB(missing="state").fit(CODES, Y)
    with pytest.warns(UnseenCategoryWarning):
        found = model.predict_joint_log_proba([[NAN, 1], [2, 1], [0, 1]])
    np.testing.assert_array_equal(found[[0, 2]], model.predict_joint_log_proba([[NAN, 1], [0, 1]]))
    assert (found[0] != found[1]).all()


@pytest.mark.usefixtures("either_path")
def test_an_unseen_category_is_left_out_of_leave_one_out_scores():
    model = CategoricalNB(missing="state", fit_prior=False).fit(CODES[:, :1], Y)
    with pytest.warns(UnseenCategoryWarning):
        found = model.loo_predict_log_proba(np.array([[2]]), [0])
    np.testing.assert_allclose(found, np.log([[0.5, 0.5]]), rtol=1e-15)


def test_the_slots_of_missing_and_unseen_fit_beside_the_largest_narrow_code():
    X = np.arange(255, dtype=np.uint8)[:, None]  # code 255 is unseen, and its place, 256, takes a wider kind
    model = CategoricalNB(missing="state").fit(X, X[:, 0] % 2)
    query = np.array([[255], [3]], dtype=np.uint8)
    with pytest.warns(UnseenCategoryWarning, match="255 in 1 of 2 rows"):
        found = model.predict_joint_log_proba(query)
    np.testing.assert_array_equal(found[0], model.class_log_prior_)
    np.testing.assert_array_equal(found[1:], model.predict_joint_log_proba(query[1:]))
    assert query.tolist() == [[255], [3]]


# ---------------------------------------------------------------------- a batch without a value in some column

EMPTY = [np.array([[NAN]]), np.array([[None]], dtype=object), pd.DataFrame({"v": [None]}), pl.DataFrame({"v": [None]})]
FULL = [np.array([[2.0]]), np.array([[1]]), np.array([[0.5]]), np.array([["red"]], dtype=object)]


def like(batch, empty):
    return batch if isinstance(empty, np.ndarray) else type(empty)({"v": batch[:, 0].tolist()})


@pytest.mark.parametrize("empty", EMPTY, ids=["NaN", "None", "pandas", "polars"])
@pytest.mark.parametrize("full", FULL, ids=["whole", "integer", "fraction", "label"])
def test_a_batch_without_any_value_of_a_column_joins_what_comes_before_or_after(empty, full):
    full = like(full, empty)
    alone = CategoricalNB(missing="ignore").partial_fit(full, [0], classes=[0, 1])
    before = CategoricalNB(missing="ignore").partial_fit(empty, [1], classes=[0, 1]).partial_fit(full, [0])
    after = CategoricalNB(missing="ignore").partial_fit(full, [0], classes=[0, 1]).partial_fit(empty, [1])
    assert before.statistics_ == after.statistics_
    assert before.statistics_.columns.schema == alone.statistics_.columns.schema
    np.testing.assert_array_equal(before.statistics_.columns.of_column(0), alone.statistics_.columns.of_column(0))
    assert after.forget(empty, [1]).statistics_ == alone.statistics_
    a = CategoricalNB(missing="ignore").partial_fit(empty, [1], classes=[0, 1])
    assert (a + alone).statistics_ == (alone + a).statistics_ == before.statistics_
    assert ((alone + a) - a).statistics_ == alone.statistics_


def test_batches_of_one_row_with_holes_give_the_same_as_one_fit():
    X = np.array([[None, "s"], [2.0, None], [None, None], [0.0, "r"]], dtype=object)
    whole = CategoricalNB(missing="ignore").partial_fit(X, Y[:4], classes=[0, 1])
    model = CategoricalNB(missing="ignore")
    for i in range(4):
        model.partial_fit(X[i : i + 1], Y[i : i + 1], classes=[0, 1])
    assert model.statistics_ == whole.statistics_
    assert [column.is_coded for column in model.statistics_.columns.schema] == [True, False]


@pytest.mark.parametrize("gone", range(4))
def test_forgetting_a_row_with_holes_equals_never_having_seen_it(gone):
    X = pd.DataFrame({"a": [None, 2.0, None, 0.0, 1.0], "b": ["s", None, None, "r", "s"]})
    y = np.array([0, 1, 1, 0, 1])
    model = CategoricalNB(missing="ignore").fit(X, y).forget(X.iloc[[gone]], y[[gone]])
    kept = np.arange(5) != gone
    assert model.statistics_ == CategoricalNB(missing="ignore").fit(X[kept], y[kept]).statistics_


@pytest.mark.parametrize("empty", EMPTY[:2], ids=["NaN", "None"])
@pytest.mark.parametrize(("label", "full"), [(2, [[1.0]]), ("red", [["blue"]])])
def test_the_labels_of_a_prior_say_what_a_column_without_values_holds(empty, label, full):
    columns = {0: {"prior": Dirichlet({label: 2.0}, default=1.0)}}
    full = np.array(full, dtype=object)
    alone = CategoricalNB(missing="ignore", columns=columns).partial_fit(full, [0], classes=[0, 1])
    for first, second in (((empty, [1]), (full, [0])), ((full, [0]), (empty, [1]))):
        model = CategoricalNB(missing="ignore", columns=columns)
        model.partial_fit(*first, classes=[0, 1]).partial_fit(*second)
        assert model.statistics_.columns.schema == alone.statistics_.columns.schema


def test_codes_and_labels_still_do_not_join():
    model = CategoricalNB(missing="ignore").fit([[1.0], [NAN]], [0, 1])
    with pytest.raises(SchemaError, match="holds integer codes in one table and labels in the other"):
        model.partial_fit(np.array([["red"]], dtype=object), [0])
    with pytest.raises(DataError, match=r"holds integer codes, but 0\.5 is none"):
        model.partial_fit([[0.5]], [0])


# ---------------------------------------------------------------------- columns whose names are numbers


@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB])
@pytest.mark.parametrize("mixed", [False, True], ids=["one kind", "two kinds"])
def test_a_frame_whose_names_are_numbers_joins_an_array(kind, mixed):
    X = np.array([[0, 1], [1, 0], [1, 1]])
    frame = pd.DataFrame(X, columns=[1, 2])
    if mixed:
        frame[2] = frame[2].astype(np.float64)
    by_frame, by_array = kind().fit(frame, [0, 1, 1]), kind().fit(X, [0, 1, 1])
    assert by_frame.statistics_ == by_array.statistics_
    assert (by_frame + by_array).statistics_ == (by_array + by_frame).statistics_


def test_an_integer_key_of_columns_is_a_position():
    X, y = np.array([[0, 1, 2], [1, 0, 0], [1, 1, 1]]), [0, 1, 1]
    frame = pd.DataFrame(X, columns=[1, 2, 3])
    named = pd.DataFrame(X, columns=["1", "2", "3"])
    coded = {"prior": Dirichlet({4: 2.0}, default=1.0)}
    for table in (X, frame, named):
        assert CategoricalNB(columns={1: coded}).fit(table, y).n_categories_.tolist() == [2, 5, 3]
    assert CategoricalNB(columns={"1": coded}).fit(named, y).n_categories_.tolist() == [5, 2, 3]
    normal = {1: {"prior": NormalInverseGamma()}}
    np.testing.assert_array_equal(
        GaussianNB(columns=normal).fit(frame, y).predict_proba(frame),
        GaussianNB(columns=normal).fit(X, y).predict_proba(X),
    )


# ---------------------------------------------------------------------- negative labels


def test_a_known_negative_label_is_known_in_a_plain_column_too():
    X = pd.DataFrame({"v": pd.Categorical([-1, 0, 1, -1])})
    model = CategoricalNB().fit(X, [0, 1, 1, 0])
    plain = pd.DataFrame({"v": [-1, 0, 1, -1]})
    np.testing.assert_array_equal(model.predict_proba(plain), model.predict_proba(X))
    once = model.statistics_
    assert model.partial_fit(plain, [0, 1, 1, 0]).forget(plain, [0, 1, 1, 0]).statistics_ == once


@pytest.mark.parametrize("X", [[[-1], [1]], [[-0.5], [1.0]]])
def test_negative_numbers_are_refused_where_no_label_is_known(X):
    with pytest.raises(DataError, match="Negative values in data passed to CategoricalNB"):
        CategoricalNB().fit(X, [0, 1])
