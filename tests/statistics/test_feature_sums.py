"""`BinaryCounts`: features that next to no row lacks are counted by their absence, to the last digit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix, SparseMatrix
from bayeswater.statistics import feature_sums
from bayeswater.statistics.feature_sums import BinaryCounts

X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 0]])
Y = encode_labels(["a", "a", "a", "b", "b"])
WEIGHT = np.array([1.0, 3.1e-13, 7.3e-13, 0.7, 0.4])


def sparse(X: np.ndarray) -> SparseMatrix:
    rows = csr_array(X.astype(np.float64))
    return SparseMatrix(rows.indptr, rows.indices, rows.data, X.shape[1])


@pytest.mark.parametrize("n_rows", [1, 2, 5])
@pytest.mark.parametrize("made", [lambda X: DenseMatrix(X.astype(np.float64)), sparse], ids=["dense", "sparse"])
def test_what_only_light_rows_lack_is_counted_to_the_last_digit(made, n_rows, monkeypatch):
    monkeypatch.setattr(feature_sums, "BLOCK_CELLS", 2 * n_rows)
    counts = BinaryCounts.of(made(X), Y, WEIGHT, 0.5, skip_missing=False)
    expected = [[WEIGHT[(Y.codes == k) & (X[:, j] == 0)].sum() for j in range(3)] for k in range(2)]
    np.testing.assert_allclose(counts.absent, expected, rtol=1e-15)


def test_nothing_is_left_of_rounding_where_every_row_has_a_feature():
    weight = np.array([0.1, 0.2, 0.3, 0.6, 0.1])
    counts = BinaryCounts.of(DenseMatrix(np.ones((5, 1))), Y, weight, 0.5, skip_missing=False)
    assert counts.absent.tolist() == [[0.0], [0.0]]
