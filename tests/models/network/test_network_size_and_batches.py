"""Rows drawn in batches, and the width of a network."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from tests.networks.nets import asia, random_network

from bayeswater import BayesianNetwork, ParameterError
from bayeswater.inference.network_joint import JOINT_ROWS
from bayeswater.models.network import queries


@pytest.mark.parametrize("n", [1, JOINT_ROWS - 1, JOINT_ROWS, 2 * JOINT_ROWS + 5])
def test_batches_are_the_rows_of_one_draw(n, monkeypatch):
    monkeypatch.setattr(queries, "BATCH_CELLS", 1)  # the fewest rows at a time
    batches = list(asia().sample_batches(n, random_state=5))
    assert len(batches) == -(-n // JOINT_ROWS)
    assert pa.concat_tables(batches).to_pydict() == asia().sample(n, random_state=5).to_pydict()


def test_a_batch_of_many_columns_has_fewer_rows(monkeypatch):
    monkeypatch.setattr(queries, "BATCH_CELLS", 8 * 2 * JOINT_ROWS)
    sizes = [batch.num_rows for batch in asia().sample_batches(5 * JOINT_ROWS, random_state=0)]
    assert sizes == [2 * JOINT_ROWS, 2 * JOINT_ROWS, JOINT_ROWS]


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_a_number_of_rows_that_is_none_is_refused_at_once(n):
    with pytest.raises(ParameterError, match="give the number of rows to draw"):
        asia().sample_batches(n)


def width_by_all_orders(network: BayesianNetwork) -> int:
    """Least width of any order in which the nodes of the moral graph can be eliminated."""
    moral = {frozenset(edge) for edge in network.moral_graph().edges()}
    best = len(network.names)
    for order in permutations(network.names):
        joined = {name: {other for edge in moral if name in edge for other in edge - {name}} for name in order}
        width = 0
        for name in order:
            around = joined.pop(name)
            width = max(width, len(around))
            for other in around:
                joined[other] = (joined[other] | around) - {name, other}
        best = min(best, width)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_no_small_network_is_wider_than_it_has_to_be(seed):
    network = BayesianNetwork.from_core(random_network(6, np.random.default_rng(seed)))
    assert network.treewidth == width_by_all_orders(network)


def test_widths_of_the_textbooks():
    half = [0.5, 0.5]
    alone = BayesianNetwork("a; b", {"a": half, "b": half})
    chain = BayesianNetwork("a -> b -> c", {"a": half, "b": [half] * 2, "c": [half] * 2})
    assert (alone.treewidth, chain.treewidth, asia().treewidth) == (0, 1, 2)
