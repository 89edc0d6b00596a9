"""The same rows give the same bits: for any number of threads, and for counts in any library and layout.

Tables of a few hundred rows are cut into blocks of 16 rows, so that many blocks meet many threads.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.laws.models import ALL, CLOSE, every_counting_model, every_model, require_close_scores, require_same_sums

from bayeswater import GaussianNB, MultinomialNB, threads
from bayeswater.inference import scoring
from bayeswater.kernels import compiling
from bayeswater.kernels import threads as thread_kernels

THREADS = [1, 2, 3, 5]


@pytest.fixture(params=["reference", "loop"])
def small_blocks(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Blocks of 16 rows, by the NumPy references or by the loops."""
    monkeypatch.setattr(thread_kernels.row_blocks, "__defaults__", (16,))
    monkeypatch.setattr(scoring, "SCORING_ROWS", 16)
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 0 if request.param == "loop" else 10**18)
    assert len(thread_kernels.row_blocks(300)) == 19
    yield


def rows_of(kind: Any, n_rows: int, n_columns: int, weights: str) -> tuple[Any, Any, Any]:
    """Random rows that the model takes, with weights of the given sort."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2 if "Bernoulli" in repr(kind) else 5, (n_rows, n_columns))
    if kind.make is GaussianNB:
        X = rng.standard_normal((n_rows, n_columns)) * np.geomspace(1e-3, 1e3, n_columns) + 10
    weight = {"rows": None, "whole": rng.integers(1, 5, n_rows), "fractions": rng.random(n_rows)}[weights]
    return X, rng.integers(0, 4, n_rows), weight


def everything_of(model: Any, X: Any, y: Any, weight: Any) -> list[Any]:
    """Fit, and list all sums and predictions."""
    model.fit(X, y, weight)
    sums = [model.statistics_.class_count.count, *model.statistics_.columns.to_arrays().values()]
    return [
        *sums,
        model.predict_joint_log_proba(X),
        model.predict_proba(X),
        model.predict_log_proba(X),
        model.predict(X),
        model.loo_predict_log_proba(X, y, weight),
    ]


def require_same_for_any_threads(made: Callable[[], list[Any]]) -> None:
    """Make arrays with one thread and with several, and compare their bits."""
    with threads(1):
        expected = made()
    for n in THREADS[1:]:
        with threads(n):
            for found, one_thread in zip(made(), expected, strict=True):
                np.testing.assert_array_equal(found, one_thread)


@pytest.mark.usefixtures("small_blocks")
@every_model
@pytest.mark.parametrize("weights", ["rows", "whole", "fractions"])
def test_sums_and_predictions_are_the_same_bits_for_any_number_of_threads(kind: Any, weights: str) -> None:
    X, y, weight = rows_of(kind, 300, 7, weights)
    require_same_for_any_threads(lambda: everything_of(kind.make(), X, y, weight))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("weights", ["rows", "whole", "fractions"])
@pytest.mark.parametrize("kind", [kind for kind in ALL if "CSR" in kind.takes], ids=repr)
def test_sparse_sums_and_predictions_are_the_same_bits_for_any_number_of_threads(kind: Any, weights: str) -> None:
    X, y, weight = rows_of(kind, 300, 7, weights)
    X = sparse.csr_array(X * 0.1)
    require_same_for_any_threads(lambda: everything_of(kind.make(), X, y, weight))


@every_model
def test_blocks_of_the_usual_size_are_the_same_bits_for_any_number_of_threads(kind: Any) -> None:
    X, y, weight = rows_of(kind, 70_000, 8, "fractions")

    def sums_and_scores() -> list[Any]:
        model = kind.make().fit(X, y, weight)
        sums = model.statistics_.columns.to_arrays().values()
        return [model.statistics_.class_count.count, *sums, model.predict_joint_log_proba(X)]

    require_same_for_any_threads(sums_and_scores)


@pytest.mark.parametrize("chunk", [1, 37, 100])
@every_model
@pytest.mark.parametrize("weights", ["whole", "fractions"])
def test_sums_do_not_depend_on_how_rows_are_chunked(kind: Any, chunk: int, weights: str) -> None:
    """Counts to the bit; floats within 1e-12."""
    X, y, weight = rows_of(kind, 200, 5, weights)
    classes = np.unique(y)
    whole = kind.make().partial_fit(X, y, classes=classes, sample_weight=weight)
    model = kind.make()
    for start in range(0, 200, chunk):
        rows = slice(start, start + chunk)
        model.partial_fit(X[rows], y[rows], classes=classes, sample_weight=weight[rows])
    exactly = kind.counts and weights == "whole"
    require_same_sums(model.statistics_, whole.statistics_, to_the_bit=exactly)


def _pandas(X: Any) -> Any:
    return pytest.importorskip("pandas").DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def _pandas_of_columns(X: Any) -> Any:
    """A frame whose columns lie apart in memory, one of another width."""
    return _pandas(X).astype({"c0": np.float64})


def _polars(X: Any) -> Any:
    return pytest.importorskip("polars").DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])})


def _pyarrow(X: Any) -> Any:
    return pytest.importorskip("pyarrow").table({f"c{j}": X[:, j] for j in range(X.shape[1])})


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
    "pandas": _pandas,
    "pandas of columns": _pandas_of_columns,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "CSR": sparse.csr_array,
    "CSR matrix": sparse.csr_matrix,
    "CSC": sparse.csc_array,
}


@pytest.mark.parametrize(
    ("kind", "layout"),
    [(kind, layout) for kind in ALL for layout in LAYOUTS if "CSR" in kind.takes or not layout.startswith("CS")],
    ids=str,
)
@pytest.mark.parametrize("weights", ["rows", "fractions"])
def test_the_library_and_layout_of_a_table_do_not_matter(kind: Any, layout: str, weights: str) -> None:
    """Counts are the same to the bit; floats within 1e-12."""
    X, y, weight = rows_of(kind, 200, 5, weights)
    given = LAYOUTS[layout](X)
    plain, other = kind.make().fit(X, y, weight), kind.make().fit(given, y, weight)
    exactly = kind.counts and weights == "rows"
    for name, sums in plain.statistics_.columns.to_arrays().items():
        found = other.statistics_.columns.to_arrays()[name]
        assert found.dtype == sums.dtype or layout == "pandas of columns"
        if exactly:
            np.testing.assert_array_equal(found, sums)
        else:
            np.testing.assert_allclose(found, sums, rtol=CLOSE)
    np.testing.assert_array_equal(other.class_count_, plain.class_count_)
    require_close_scores(other.predict_joint_log_proba(given), plain.predict_joint_log_proba(X))
    np.testing.assert_array_equal(other.predict(given), plain.predict(X))


@pytest.mark.parametrize("kind_of_number", [np.uint8, np.int8, np.uint16, np.int32, np.uint64, np.float32, np.float64])
@every_counting_model
def test_the_width_of_whole_numbers_does_not_matter(kind: Any, kind_of_number: Any) -> None:
    X, y, _ = rows_of(kind, 100, 4, "rows")
    plain, other = kind.make().fit(X, y), kind.make().fit(X.astype(kind_of_number), y.astype(np.int8))
    assert other.statistics_ == plain.statistics_
    np.testing.assert_array_equal(
        other.predict_joint_log_proba(X.astype(kind_of_number)), plain.predict_joint_log_proba(X)
    )


def test_the_number_of_threads_does_not_change_how_often_a_warning_is_given() -> None:
    model = MultinomialNB(alpha=0.0).fit([[1, 0], [0, 1]], [0, 1])
    impossible = np.ones((40_000, 2), dtype=np.int64)
    for n in (1, 3):
        with threads(n), pytest.warns(match="40000 of 40000 rows") as caught:
            model.predict(impossible)
        assert len(caught) == 1
