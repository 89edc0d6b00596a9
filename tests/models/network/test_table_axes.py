"""Tables of many variables: refused by name and number before an array runs out of axes, and right up to there."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from bayeswater import BayesianNetwork, Deterministic, NoisyOr, ResourceLimitError
from bayeswater.limits import TABLE_AXES

METHODS = ("exact", "gibbs", "likelihood_weighting")


def chain(n: int) -> BayesianNetwork:
    tables = {"x0": [1.0]} | {f"x{i}": [[1.0]] for i in range(1, n)}
    return BayesianNetwork(" -> ".join(tables), tables)


def family(n_parents: int) -> BayesianNetwork:
    """A switch among parents of one state that decides a child."""
    names = [f"x{i}" for i in range(n_parents - 1)]
    tables = {**{name: [1.0] for name in names}, "u": [0.25, 0.75], "z": Deterministic(lambda *states: states[-1])}
    return BayesianNetwork([(name, "z") for name in [*names, "u"]], tables, states={"z": 2})


@pytest.mark.parametrize("method", METHODS)
def test_a_joint_distribution_has_as_many_variables_as_a_table_has_axes(method):
    most = chain(TABLE_AXES)
    assert most.joint(most.names, method=method).probabilities.shape == (1,) * TABLE_AXES
    more = chain(TABLE_AXES + 1)
    with pytest.raises(ResourceLimitError, match="joint distribution of 64 variables would need 64 axes, over the lim"):
        more.joint(more.names, method=method)


def test_evidence_takes_no_axes():
    network = chain(3 * TABLE_AXES)
    assert network.query("x0", dict.fromkeys(network.names[1:], 0))[0] == 1.0


def test_a_table_with_the_most_parents_answers_everything():
    network = family(TABLE_AXES - 1)
    found = network.posteriors(pd.DataFrame({"z": [1, None]}), "u")["u"]
    np.testing.assert_allclose(found, [[0.0, 1.0], [0.25, 0.75]], rtol=1e-14)  # sums are rounded
    for method in METHODS:
        assert network.query("u", {"z": 1}, method=method)[1] == 1.0
    assert network.most_probable_explanation({"z": 0}).states["u"] == 0
    assert network.sample(5, random_state=0)["u"] == network.sample(5, random_state=0)["z"]
    assert len(network.cpt("z").to_frame()) == 4
    assert network.without_edge("x0", "z").query("z")[1] == 0.75


MANY = [f"x{i}" for i in range(TABLE_AXES)]
EDGES = [(name, "z") for name in MANY]
ROOTS = {name: [1.0] for name in MANY}
WAYS = {
    "a rule": partial(BayesianNetwork, EDGES, {**ROOTS, "z": Deterministic(lambda *_: 1)}, states={"z": 2}),
    "causes": partial(
        BayesianNetwork, EDGES, {**ROOTS, "z": NoisyOr({name: {0: 0.5} for name in MANY}, present=1)}, states={"z": 2}
    ),
    "an array": partial(BayesianNetwork, EDGES, {**ROOTS, "z": [0.5, 0.5]}),
    "rows": partial(BayesianNetwork.from_data, EDGES, pd.DataFrame({name: [0, 0] for name in [*MANY, "z"]})),
}


@pytest.mark.parametrize("way", WAYS)
def test_more_parents_are_refused_in_every_way(way):
    with pytest.raises(
        ResourceLimitError, match=r"would need 64 axes, over the limit of 63; (give .* fewer parents|divide)"
    ):
        WAYS[way]()


def test_one_edge_too_many_is_refused():
    names = [f"x{i}" for i in range(TABLE_AXES - 1)]
    tables = {**{name: [1.0] for name in [*names, "y"]}, "z": Deterministic(lambda *_: 1)}
    network = BayesianNetwork("; ".join(["y", *(f"{name} -> z" for name in names)]), tables, states={"z": 2})
    with pytest.raises(ResourceLimitError, match="given its 63 parents would need 64 axes"):
        network.with_edge("y", "z")
