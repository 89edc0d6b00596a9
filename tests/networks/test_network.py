"""The core of a network: what fits together, and what is reported."""

import numpy as np
import pytest
from tests.networks.nets import random_network

from bayeswater.data.variable import Variable
from bayeswater.errors import NormalisedTableWarning, ParameterError
from bayeswater.networks.conditionals import Table
from bayeswater.networks.network import Network
from bayeswater.networks.noisy_causes import NoisyOr
from bayeswater.structure.dag import Dag

A, B = Variable("a", ("x", "y")), Variable("b", range(3))
DAG = Dag.parse("a -> b")
TABLES = (Table([0.5, 0.5]), Table([[0.2, 0.3, 0.5], [1, 0, 0]]))


def test_engines_read_plain_numbers():
    network = Network.of((A, B), DAG, TABLES)
    assert network.cards == (2, 3)
    assert network.parents == ((), (0,))
    assert [table.shape for table in network.tables] == [(2,), (2, 3)]
    assert network.n_parameters == 1 + 4


def test_variables_are_the_nodes():
    with pytest.raises(ParameterError, match=r"the variables \['b', 'a'\] are not the nodes \['a', 'b'\]"):
        Network.of((B, A), DAG, TABLES)


@pytest.mark.parametrize("states", [(), ("x", "x")])
def test_states_are_there_and_distinct(states):
    with pytest.raises(ParameterError, match="the states of 'a' are"):
        Network.of((Variable("a", states), B), DAG, TABLES)


def test_rows_that_were_normalised_are_reported_once():
    drifted = (Table([0.3333333, 0.6666666]), Table([[0.2, 0.3, 0.5], [0.33333331, 0.33333331, 0.33333331]]))
    with pytest.warns(
        NormalisedTableWarning, match="2 of 2 tables .* the farthest, of 'a', was off by 1e-07"
    ) as caught:
        network = Network.of((A, B), DAG, drifted)
    assert len(caught) == 1
    assert all(np.abs(table.sum(axis=-1) - 1).max() < 1e-15 for table in network.tables)


def test_a_node_that_is_replaced_is_the_only_one_reported(recwarn):
    with pytest.warns(NormalisedTableWarning):
        network = Network.of((A, B), DAG, (Table([0.3333333, 0.6666666]), TABLES[1]))
    with pytest.warns(NormalisedTableWarning, match="1 of 2 tables .* of 'b'"):
        network = network.with_node(1, (), Table([0.3333333, 0.3333333, 0.3333333]))
    assert network.parents == ((), ())
    assert network.tables[1] == pytest.approx([1 / 3] * 3, rel=1e-15)  # of a sum and a division, rounded


def test_a_cycle_by_a_new_parent_is_refused():
    network = Network.of((A, B), DAG, TABLES)
    with pytest.raises(ParameterError, match="cycle: a -> b -> a"):
        network.with_node(0, (1,), Table(np.full((3, 2), 0.5)))


def test_equal_are_networks_of_equal_numbers():
    rng = np.random.default_rng(0)
    one, other = random_network(6, rng), random_network(6, rng)
    again = Network.of(one.variables, one.dag, one.conditionals)
    assert again == one
    assert hash(again) == hash(one)
    assert one != other
    wet = Network.of(
        (Variable("a", ("no", "yes")), Variable("b", ("no", "yes"))), DAG, (TABLES[0], NoisyOr({"a": 0.5}))
    )
    assert wet != Network.of(wet.variables, DAG, (TABLES[0], Table(wet.tables[1])))
