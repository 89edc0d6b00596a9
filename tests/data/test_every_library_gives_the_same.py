"""One table, handed over in every form there is, gives one set of statistics."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from tests.data.streams import OnlyAStream

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 4, size=(60, 3))
Y = RNG.integers(0, 3, size=60)
WORDS = np.array(["red", "green", "blue", "yellow"])[COUNTS]
NAMES = ["a", "b", "c"]


def columns(values):
    return dict(zip(NAMES, values.T, strict=True))


def strided(values):
    return np.repeat(np.repeat(values, 2, axis=0), 2, axis=1)[::2, ::2]


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def several_chunks(values):
    table = pa.table(columns(values))
    return pa.concat_tables([table.slice(0, 7), table.slice(7, 30), table.slice(37)])


def as_type(values, kind):
    return pa.table(columns(values)).cast(pa.schema([(name, kind) for name in NAMES]))


def odd_index(values):
    return pd.DataFrame(columns(values), index=np.arange(len(values))[::-1] * 10)


NUMBERS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "strided": strided,
    "read-only": read_only,
    "big-endian": lambda values: values.astype(">i4"),
    "big-endian float": lambda values: values.astype(">f8"),
    "half precision": lambda values: values.astype(np.float16),
    "single precision": lambda values: values.astype(np.float32),
    "long double": lambda values: values.astype(np.longdouble),
    "int8": lambda values: values.astype(np.int8),
    "uint16": lambda values: values.astype(np.uint16),
    "uint32": lambda values: values.astype(np.uint32),
    "uint64": lambda values: values.astype(np.uint64),
    "objects": lambda values: values.astype(object),
    "lists": lambda values: values.tolist(),
    "tuples": lambda values: tuple(map(tuple, values.tolist())),
    "memory map": lambda values: np.asarray(values).view(np.memmap),
    "masked, nothing hidden": np.ma.masked_array,
    "pandas": lambda values: pd.DataFrame(columns(values)),
    "pandas, odd index": odd_index,
    "pandas, several dtypes": lambda values: pd.DataFrame(columns(values)).astype({"a": "float32", "b": "int8"}),
    "pandas nullable": lambda values: pd.DataFrame(columns(values)).astype("Int64"),
    "pandas nullable float": lambda values: pd.DataFrame(columns(values)).astype("Float64"),
    "pandas objects": lambda values: pd.DataFrame(columns(values)).astype(object),
    "pandas on arrow": lambda values: pd.DataFrame(columns(values)).astype("int64[pyarrow]"),
    "polars": lambda values: pl.DataFrame(columns(values)),
    "polars, several dtypes": lambda values: pl.DataFrame(columns(values)).cast({"a": pl.Float32, "b": pl.UInt8}),
    "pyarrow": lambda values: pa.table(columns(values)),
    "pyarrow, several chunks": several_chunks,
    "pyarrow decimals": lambda values: as_type(values, pa.decimal128(20)),
    "pyarrow batch": lambda values: pa.table(columns(values)).to_batches()[0],
    "pyarrow reader": lambda values: several_chunks(values).to_reader(),
    "a stream": lambda values: OnlyAStream(several_chunks(values)),
}


def same_sums(a, b):
    """Compare sums, whether or not their columns have names."""
    return all(
        np.array_equal(mine, theirs)
        for mine, theirs in zip(a.columns.to_arrays().values(), b.columns.to_arrays().values(), strict=True)
    ) and np.array_equal(a.class_count.count, b.class_count.count)


def at_once(answer):
    """Give answers as one array: those for a reader of batches come in tables."""
    if isinstance(answer, np.ndarray):
        return answer
    return np.concatenate([np.column_stack(table.columns) for table in answer])


@pytest.mark.parametrize("form", NUMBERS)
@pytest.mark.parametrize("kind", [GaussianNB, CategoricalNB])  # numbers, and codes; the others read as the first
def test_numbers_in_any_form_give_the_same_sums_and_predictions_and_rows_of_weight_zero_are_taken_out(kind, form):
    plain = kind().fit(COUNTS, Y)
    model = kind().fit(NUMBERS[form](COUNTS), Y)
    assert same_sums(model.statistics_, plain.statistics_)
    assert model.n_features_in_ == 3
    answer = at_once(model.predict_log_proba(NUMBERS[form](COUNTS)))
    np.testing.assert_array_equal(answer, plain.predict_log_proba(COUNTS))
    weight = np.arange(60) % 3
    model = kind().fit(NUMBERS[form](COUNTS), Y, weight)
    assert same_sums(model.statistics_, kind().fit(COUNTS[weight > 0], Y[weight > 0], weight[weight > 0]).statistics_)


SPARSE = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


@pytest.mark.parametrize("form", [f"{name}_{kind}" for name in SPARSE for kind in ("matrix", "array")])
def test_sparse_numbers_in_any_form_give_the_same_sums_and_predictions(form):
    X = getattr(sparse, form)(COUNTS)
    for kind in (MultinomialNB, ComplementNB, BernoulliNB):
        for weight in (None, np.arange(60) % 3):
            plain, model = kind().fit(COUNTS, Y, weight), kind().fit(X, Y, weight)
            assert same_sums(model.statistics_, plain.statistics_)
            # A dense product may be summed in another order than a sparse one.
            np.testing.assert_allclose(model.predict_log_proba(X), plain.predict_log_proba(COUNTS), rtol=1e-12)


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB])
def test_a_sparse_cell_stored_in_two_parts_is_one_cell(kind):
    parts = sparse.csr_array(([1.0, 1.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    whole = np.array([[2.0, 0.0], [0.0, 1.0]])
    model = kind().fit(parts, [0, 1])
    assert same_sums(model.statistics_, kind().fit(whole, [0, 1]).statistics_)
    assert parts.nnz == 3  # the caller's matrix is as it was


LABELS = {
    "strings": lambda words: words,
    "objects": lambda words: words.astype(object),
    "lists": lambda words: words.tolist(),
    "pandas": lambda words: pd.DataFrame(columns(words)),
    "pandas objects": lambda words: pd.DataFrame(columns(words)).astype(object),
    "pandas string": lambda words: pd.DataFrame(columns(words)).astype("string"),
    "pandas on arrow": lambda words: pd.DataFrame(columns(words)).astype("string[pyarrow]"),
    "pandas categorical": lambda words: pd.DataFrame(columns(words)).astype("category"),
    "polars": lambda words: pl.DataFrame(columns(words)),
    "polars categorical": lambda words: pl.DataFrame(columns(words)).cast(pl.Categorical),
    "polars enum": lambda words: pl.DataFrame(columns(words)).cast(pl.Enum(["blue", "green", "red", "yellow"])),
    "pyarrow": lambda words: pa.table(columns(words)),
    "pyarrow large": lambda words: as_type(words, pa.large_string()),
    "pyarrow view": lambda words: as_type(words, pa.string_view()),
    "pyarrow dictionary": lambda words: as_type(words, pa.dictionary(pa.int8(), pa.string())),
    "pyarrow reader": lambda words: several_chunks(words).to_reader(),
    "a stream": lambda words: OnlyAStream(several_chunks(words)),
}


@pytest.mark.parametrize("form", LABELS)
def test_labels_in_any_form_give_the_same_counts_and_predictions(form):
    plain = CategoricalNB().fit(WORDS, Y)
    model = CategoricalNB().fit(LABELS[form](WORDS), Y)
    for j in range(3):
        order = np.argsort(model.categories_[j])
        assert model.categories_[j][order].tolist() == ["blue", "green", "red", "yellow"]
        np.testing.assert_array_equal(model.category_count_[j][:, order], plain.category_count_[j])
    answer = at_once(model.predict_log_proba(LABELS[form](WORDS)))
    np.testing.assert_array_equal(answer, plain.predict_log_proba(WORDS))


@pytest.mark.parametrize("form", ["strings", "objects", "pandas", "polars", "pyarrow", "a stream"])
def test_a_row_of_weight_zero_leaves_no_category_behind(form):
    words = np.array([["a", "x", "x"], ["b", "x", "x"], ["c", "y", "y"]])
    model = CategoricalNB().fit(LABELS[form](words), [0, 1, 1], [1, 0, 1])
    assert [states.tolist() for states in model.categories_] == [["a", "c"], ["x", "y"], ["x", "y"]]


NAMED = ["pandas", "pandas categorical", "polars", "polars categorical", "polars enum", "pyarrow", "pyarrow dictionary"]


@pytest.mark.parametrize("fitted_form", NAMED)
def test_categories_are_aligned_by_label_across_libraries(fitted_form):
    pl.Series(["yellow", "red", "blue"], dtype=pl.Categorical)  # codes of polars categories are shared by a process
    model = CategoricalNB().fit(LABELS[fitted_form](WORDS), Y)
    expected = CategoricalNB().fit(WORDS, Y).predict_log_proba(WORDS)
    for form in NAMED:
        np.testing.assert_array_equal(model.predict_log_proba(LABELS[form](WORDS)), expected, err_msg=form)


MISSING = {
    "NaN": lambda cells: np.array(cells, dtype=float),
    "objects": lambda cells: np.array(cells, dtype=object),
    "lists": lambda cells: cells,
    "masked": lambda cells: np.ma.masked_invalid(np.array(cells, dtype=float)),
    "pandas": lambda cells: pd.DataFrame(cells, columns=["a", "b"], dtype=float),
    "pandas nullable": lambda cells: pd.DataFrame(cells, columns=["a", "b"]).astype("Int64"),
    "pandas objects": lambda cells: pd.DataFrame(cells, columns=["a", "b"]).astype(object).fillna(pd.NA),
    "polars null": lambda cells: pl.DataFrame(cells, schema=["a", "b"], orient="row"),
    "polars NaN": lambda cells: pl.DataFrame(cells, schema={"a": pl.Float64, "b": pl.Float64}, orient="row").fill_null(
        float("nan")
    ),
    "pyarrow": lambda cells: pa.table({"a": [row[0] for row in cells], "b": [row[1] for row in cells]}),
}


@pytest.mark.parametrize("form", MISSING)
@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB, CategoricalNB])
def test_missing_numbers_in_any_form_are_left_out(kind, form):
    cells = [[1, 0], [None, 1], [2, None], [0, 1], [3, 0], [None, None]]
    y = [0, 0, 0, 1, 1, 1]
    model = kind(missing="ignore").fit(MISSING[form](cells), y)
    plain = kind(missing="ignore").fit(np.array(cells, dtype=float), y)
    assert same_sums(model.statistics_, plain.statistics_)
    answer = model.predict_log_proba(MISSING[form](cells))
    np.testing.assert_array_equal(answer, plain.predict_log_proba(np.array(cells, dtype=float)))
    # A row of which nothing is known has the prior for its posterior; two logarithms apart.
    np.testing.assert_allclose(answer[-1], np.log([0.5, 0.5]), rtol=1e-15)


def _masked(cells: list[list[str | None]], kind: type | str) -> np.ma.MaskedArray:
    """Hide cells, behind which there is a label."""
    filled = [["hidden" if cell is None else cell for cell in row] for row in cells]
    return np.ma.masked_array(np.array(filled, dtype=kind), [[cell is None for cell in row] for row in cells])


MISSING_LABELS = {
    "objects with None": lambda cells: np.array(cells, dtype=object),
    "objects with NaN": lambda cells: pd.DataFrame(cells).astype(object).fillna(np.nan).to_numpy(),
    "masked objects": lambda cells: _masked(cells, object),
    "masked strings": lambda cells: _masked(cells, "U8"),
    "lists": lambda cells: cells,
    "pandas": lambda cells: pd.DataFrame(cells, columns=["a", "b"]),
    "pandas string": lambda cells: pd.DataFrame(cells, columns=["a", "b"]).astype("string"),
    "pandas objects with NA": lambda cells: pd.DataFrame(cells, columns=["a", "b"]).astype(object).fillna(pd.NA),
    "pandas categorical": lambda cells: pd.DataFrame(cells, columns=["a", "b"]).astype("category"),
    "polars": lambda cells: pl.DataFrame(cells, schema=["a", "b"], orient="row"),
    "polars categorical": lambda cells: pl.DataFrame(cells, schema=["a", "b"], orient="row").cast(pl.Categorical),
    "pyarrow": lambda cells: pa.table({"a": [row[0] for row in cells], "b": [row[1] for row in cells]}),
    "pyarrow dictionary": lambda cells: pa.table(
        {name: pa.array([row[j] for row in cells]).dictionary_encode() for j, name in enumerate("ab")}
    ),
    "pyarrow dictionary with a null in it": lambda cells: pa.table(
        {
            name: pa.array([row[j] for row in cells]).dictionary_encode(null_encoding="encode")
            for j, name in enumerate("ab")
        }
    ),
}


@pytest.mark.parametrize("form", MISSING_LABELS)
@pytest.mark.parametrize("rule", ["ignore", "state"])
def test_missing_labels_in_any_form_are_left_out_or_a_state(rule, form):
    cells = [["x", "u"], [None, "v"], ["y", None], ["x", "v"]]
    model = CategoricalNB(missing=rule).fit(MISSING_LABELS[form](cells), [0, 0, 1, 1])
    assert [states.tolist() for states in model.categories_] == [
        ["x", "y", *([None] if rule == "state" else [])],
        ["u", "v", *([None] if rule == "state" else [])],
    ]
    counts = [[1, 0], [1, 1]], [[1, 1], [0, 1]]
    missing = [1, 0], [0, 1]
    for j in range(2):
        expected = np.column_stack([counts[j], missing[j]]) if rule == "state" else np.array(counts[j])
        np.testing.assert_array_equal(model.category_count_[j], expected)


@pytest.mark.parametrize("form", MISSING_LABELS)
def test_missing_labels_in_any_form_are_refused_with_row_and_column(form):
    cells = [["x", "u"], ["y", None], ["y", None], ["x", "v"]]
    column = "x1" if isinstance(MISSING_LABELS[form](cells), list | np.ndarray) else "b"
    with pytest.raises(ValueError, match=rf"row 1 of column '{column}' is missing \(2 missing in all\); fill them"):
        CategoricalNB().fit(MISSING_LABELS[form](cells), [0, 0, 1, 1])
