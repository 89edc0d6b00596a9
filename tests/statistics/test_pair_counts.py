"""Pair counts of tables large enough for bits: equal to the reference, in any storage, blocks and threads."""

import numpy as np
import pytest

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.kernels import compiling, pair_counts
from bayeswater.kernels.pair_counts import choose_bits
from bayeswater.kernels.threads import threads
from bayeswater.statistics.pair_counts import PairCounts

N_ROWS = 6000
N_STATES = np.array([2, 8, 0, 5, 60, 3, 4, 2, 2, 3])
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, N_STATES + 1, size=(N_ROWS, len(N_STATES))).astype(np.uint8)
LABELS = encode_labels(RNG.choice(np.array(["a", "b", "c"]), N_ROWS, p=[0.7, 0.29, 0.01]))


def counted(matrix=None, weight=None):
    schema = Schema(tuple(Variable.of_codes(f"x{j}", int(n)) for j, n in enumerate(N_STATES)))
    return PairCounts.of(CodedTable(schema, matrix or DenseMatrix(CODES)), LABELS, weight)


@pytest.fixture(scope="module")
def reference():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "COMPILE_FROM_CELLS", 10**18)
        return counted()


@pytest.fixture
def _by_loop(monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 0)


def test_some_of_these_pairs_are_counted_by_bits_and_some_are_not():
    chosen = choose_bits(N_STATES, LABELS.count, N_ROWS)[np.tril_indices(len(N_STATES), -1)]
    assert chosen.any()
    assert not chosen.all()


@pytest.mark.usefixtures("_by_loop")
@pytest.mark.parametrize("stored", ["rows", "columns", "int64"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_counts_do_not_depend_on_storage_and_threads(reference, stored, n_threads):
    matrix = {
        "rows": DenseMatrix(CODES),
        "columns": ColumnMatrix(tuple(CODES.T.copy())),
        "int64": DenseMatrix(CODES.astype(np.int64)),
    }[stored]
    with threads(n_threads):
        assert counted(matrix) == reference


@pytest.mark.usefixtures("_by_loop")
def test_counts_do_not_depend_on_blocks(reference, monkeypatch):
    monkeypatch.setattr(pair_counts, "MOST_ROWS", 777)
    assert counted() == reference


@pytest.mark.usefixtures("_by_loop")
def test_weights_of_one_are_counts(reference):
    whole = counted(weight=np.ones(N_ROWS, dtype=np.int64))
    assert whole == reference
    assert whole.pairs.dtype == np.int64
    fractions = counted(weight=np.full(N_ROWS, 0.5))
    assert fractions == reference.scaled(0.5)
    assert fractions.pairs.dtype == np.float64


def test_pairs_add_up_to_the_columns(reference):
    for i in range(len(N_STATES)):
        for j in range(len(N_STATES)):
            if i != j:
                own = reference.table[reference.start[i] : reference.start[i + 1]]
                np.testing.assert_array_equal(reference.of_pair(i, j).sum(axis=1), own)


@pytest.mark.usefixtures("_by_loop")
def test_a_code_beyond_the_domain_is_counted_as_missing(reference):
    beyond = np.where(CODES == N_STATES, 255, CODES).astype(np.uint8)
    assert counted(DenseMatrix(beyond)) == reference
