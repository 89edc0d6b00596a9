"""Loops that serve small inputs, too, once they are loaded: they give the bits of their references."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.kernels.tables import laid_out

from bayeswater.kernels import category_tables, class_scores, feature_sums, independent_normals, moments
from bayeswater.kernels.category_tables import count_categories, offsets, sum_of_states
from bayeswater.kernels.class_scores import first_of_largest, log_shares, shares
from bayeswater.kernels.compiling import Kernel
from bayeswater.kernels.feature_sums import add_sparse_rows, class_feature_sums, sparse_times_weights
from bayeswater.kernels.independent_normals import gaussian_scores
from bayeswater.kernels.moments import class_moments

SHAPES = [(1, 1, 1), (1, 9, 12), (40, 1, 2), (301, 11, 9), (90, 40, 33)]
LAYOUTS = [("float64", "C"), ("float64", "F"), ("float64", "strided"), ("float32", "C"), ("int64", "C")]
# Weights are varied around one case rather than multiplied, as in `NUMBER_CASES`: each one is a compile of its own.
WEIGHTED = [*((kind, layout, None) for kind, layout in LAYOUTS), ("float64", "C", "int"), ("float64", "C", "float")]

shapes = pytest.mark.parametrize(("n_rows", "n_columns", "n_classes"), SHAPES)
layouts = pytest.mark.parametrize(("kind", "layout"), LAYOUTS)
layouts_and_weights = pytest.mark.parametrize(("kind", "layout", "weighted"), WEIGHTED)


@pytest.fixture(autouse=True)
def small_stretches_and_references(monkeypatch):
    for module in (category_tables, class_scores, independent_normals):
        monkeypatch.setattr(module, "STRETCH_CELLS", 1000)
    monkeypatch.setattr(category_tables, "ROWS_IN_PAIRS", 1)
    monkeypatch.setattr(moments, "CACHE_CELLS", 400)
    monkeypatch.setattr(Kernel, "serves", lambda self, n_cells, *arguments, use_loop: use_loop)


def normal(n_rows, n_columns, kind="float64", layout="C"):
    X = np.random.default_rng(0).normal(3.0, 5.0, size=(n_rows, n_columns))
    return laid_out(X.astype(kind), layout)


def assert_same_bits(results):
    loop, reference = (results(use_loop) for use_loop in (True, False))
    for of_loop, of_reference in zip(loop, reference, strict=True):
        np.testing.assert_array_equal(of_loop, of_reference, strict=True)


def weights(rng, n_rows, weighted):
    return {None: None, "int": rng.integers(1, 5, n_rows), "float": rng.random(n_rows) + 0.1}[weighted]


@shapes
@layouts_and_weights
def test_moments(n_rows, n_columns, n_classes, kind, layout, weighted):
    rng, X = np.random.default_rng(1), normal(n_rows, n_columns, kind, layout)
    y = rng.integers(0, n_classes, n_rows).astype(np.uint8)
    weight = weights(rng, n_rows, weighted)
    assert_same_bits(lambda use_loop: class_moments(X, y, weight, n_classes, skip_missing=False, use_loop=use_loop))


@shapes
@layouts
@pytest.mark.parametrize("some_missing", [False, True], ids=["complete", "missing"])
def test_scores_of_normal_columns(n_rows, n_columns, n_classes, kind, layout, some_missing):
    rng, X = np.random.default_rng(1), normal(n_rows, n_columns, kind, layout)
    if some_missing and kind != "int64":
        X[rng.random(X.shape) < 0.1] = np.nan
    mean, scale = rng.normal(size=(n_columns, n_classes)), rng.random((n_columns, n_classes))
    scale[rng.random(scale.shape) < 0.1] = 0.0
    intercept = rng.normal(size=n_classes)
    assert_same_bits(lambda use_loop: gaussian_scores(X, mean, scale, intercept, use_loop=use_loop))


@shapes
def test_shares_and_the_best_class(n_rows, n_columns, n_classes):
    scores = 10 * normal(n_rows, n_classes)
    scores[:, 1:][scores[:, 1:] < 0] = -np.inf

    def results(use_loop):
        of_all = (shares(scores.copy(), use_loop=use_loop), log_shares(scores.copy(), use_loop=use_loop))
        return (*of_all, first_of_largest(scores, 1e-3, use_loop=use_loop))

    assert_same_bits(results)


@shapes
@pytest.mark.parametrize("kind", ["float64", "float32", "int64"])
@pytest.mark.parametrize("threshold", [None, 2.0], ids=["summed", "marked"])
def test_sparse_rows_times_weights(n_rows, n_columns, n_classes, kind, threshold):
    if not feature_sums._scipy_rounds_products():
        pytest.skip("SciPy is compiled to round once: no loop stands in for it")
    rng = np.random.default_rng(1)
    X = csr_array(normal(n_rows, n_columns, kind) * (rng.random((n_rows, n_columns)) < 0.7))
    weight = rng.normal(size=(n_columns, n_classes))
    arguments = X.indptr, X.indices, X.data, weight, threshold
    assert_same_bits(lambda use_loop: [sparse_times_weights(*arguments, use_loop=use_loop)])


@shapes
@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
def test_sums_of_sparse_features(n_rows, n_columns, n_classes, is_weighted):
    rng = np.random.default_rng(1)
    X = csr_array(normal(n_rows, n_columns) * (rng.random((n_rows, n_columns)) < 0.7))
    y = rng.integers(0, n_classes, n_rows).astype(np.uint8)
    weight = rng.random(n_rows) + 0.1 if is_weighted else None

    def results(use_loop):
        sums = np.zeros((n_classes, n_columns))
        add_sparse_rows(X.indptr, X.indices, X.data, y, weight, None, sums, use_loop=use_loop)
        return [sums]

    assert_same_bits(results)


@shapes
@pytest.mark.parametrize("largest", [1, 5, 40])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_sums_of_states(n_rows, n_columns, n_classes, largest, layout):
    rng = np.random.default_rng(1)
    n_states = rng.integers(1, largest + 1, n_columns)
    codes = laid_out(rng.integers(0, n_states + 2, size=(n_rows, n_columns)).astype(np.uint8), layout)
    start = offsets(n_states)
    table = rng.normal(size=(start[-1], n_classes))
    assert_same_bits(lambda use_loop: [sum_of_states(codes, n_states, start, table, use_loop=use_loop)])


@shapes
@pytest.mark.parametrize("weighted", [None, "int", "float"])
def test_counts_of_states(n_rows, n_columns, n_classes, weighted):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 6, size=(n_rows, n_columns)).astype(np.uint8)
    y = rng.integers(0, n_classes, n_rows).astype(np.uint8)
    weight = weights(rng, n_rows, weighted)
    arguments = codes, np.full(n_columns, 4), y, weight, n_classes
    assert_same_bits(lambda use_loop: [count_categories(*arguments, use_loop=use_loop)])


@shapes
@layouts_and_weights
@pytest.mark.parametrize("threshold", [None, 2.0], ids=["summed", "marked"])
def test_sums_of_features(n_rows, n_columns, n_classes, kind, layout, weighted, threshold):
    rng, X = np.random.default_rng(1), normal(n_rows, n_columns, kind, layout)
    y = rng.integers(0, n_classes, n_rows).astype(np.uint8)
    is_whole = weighted != "float" and (threshold is not None or kind == "int64")
    arguments = X, y, weights(rng, n_rows, weighted), n_classes, threshold, np.int64 if is_whole else np.float64
    assert_same_bits(lambda use_loop: [class_feature_sums(*arguments, use_loop=use_loop)])
