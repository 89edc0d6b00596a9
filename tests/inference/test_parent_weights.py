"""Pairs of a few rows, read off the counts one by one: they say what the table of all pairs of states says."""

from dataclasses import replace

import numpy as np
import pytest

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.estimate.dirichlet import Prior, PseudoCounts
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference import parent_weights as pairs_of_few_rows
from bayeswater.inference.super_parents import SuperParents
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.sums import ClassCounts

N_STATES = np.array([3, 1, 5, 2])
ROUNDED = dict(rtol=1e-12, atol=1e-12)
"""Counts of fractions are sums in the one and differences in the other; a joint is a sum of four logarithms."""

WEIGHTS = {
    "no weights": lambda rng: None,
    "fractions": lambda rng: rng.choice([0.25, 0.7, 1.0, 2.5], 50),
}


def case(weights, n_columns=4, alpha=1.0, missing_is_state=False, lacking=True):
    """Rows with missing cells, their classes and weights, and the two ways to score them."""
    rng = np.random.default_rng(0)
    n_states = N_STATES[:n_columns]
    schema = Schema(tuple(Variable.of_codes(f"x{j}", n) for j, n in enumerate(n_states.tolist())))
    codes = [rng.integers(0, n + lacking, 50).astype(np.uint8) for n in n_states]  # the last code is of missing cells
    coded, labels = CodedTable(schema, ColumnMatrix(tuple(codes))), encode_labels(rng.integers(0, 3, 50))
    weight = weights(rng)
    smoothing = PseudoCounts("m-estimate", alpha)
    estimate = PairEstimate(PairCounts.of(coded, labels, weight), smoothing, missing_is_state)
    every = np.ones(n_columns, dtype=bool)
    prior = Prior.of(ClassCounts.of(labels, weight).count, smoothing)
    by_table = SuperParents(prior, estimate, 1.0, every, rng.random(n_columns) < 0.8)
    removed = np.ones(50) if weight is None else np.minimum(weight, 1.0)
    return coded, labels, removed, by_table, replace(by_table, by_pairs=True)


weighted = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())


@weighted
@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize(("missing_is_state", "lacking"), [(False, False), (False, True), (True, True)])
def test_few_rows_are_scored_as_by_the_table_of_all_pairs(
    weights, n_columns, alpha, missing_is_state, lacking, monkeypatch
):
    monkeypatch.setattr(pairs_of_few_rows, "READ_TERMS", 100)  # several pieces
    coded, _, _, by_table, by_pairs = case(weights, n_columns, alpha, missing_is_state, lacking)
    block = coded.block(slice(0, 50)) + (np.arange(50) % 9 == 0)[:, None]  # states that were never counted, too
    np.testing.assert_allclose(by_pairs.of(block, False), by_table.of(block, False), **ROUNDED)
    assert "log_conditional" not in vars(by_pairs)


@weighted
@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("lacking", [False, True])
def test_few_rows_are_taken_out_of_their_own_counts_as_by_the_table(weights, n_columns, alpha, lacking, monkeypatch):
    monkeypatch.setattr(pairs_of_few_rows, "READ_TERMS", 100)
    coded, labels, removed, by_table, by_pairs = case(weights, n_columns, alpha, lacking=lacking)
    found, expected = (joint.without(coded, labels, removed)(slice(0, 50), False)[0] for joint in (by_pairs, by_table))
    np.testing.assert_allclose(found, expected, **ROUNDED)
    assert "log_conditional" not in vars(by_pairs)


@weighted
@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_few_rows_are_explained_as_by_the_table(weights, n_columns, alpha, monkeypatch):
    monkeypatch.setattr(pairs_of_few_rows, "READ_TERMS", 100)
    coded, labels, _, by_table, by_pairs = case(weights, n_columns, alpha)
    block, against = coded.block(slice(0, 50)), (labels.codes + 1) % 3
    found, expected = (joint.pair_terms(block, labels.codes, against) for joint in (by_pairs, by_table))
    np.testing.assert_allclose(found[0], expected[0], **ROUNDED)
    np.testing.assert_allclose(found[1], expected[1], **ROUNDED)
    assert "log_conditional" not in vars(by_pairs)
