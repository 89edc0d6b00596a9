"""Which variable to observe next: against every state it could have, observed and decided."""

import numpy as np
import pandas as pd
import pytest
from tests.networks.nets import asia, random_network

from bayeswater import BayesianNetwork, CategoricalNB, ImpossibleEvidence, Loss, ParameterError, SchemaError

EXACT = 1e-12
"""Sums of a few hundred products, rounded in another order."""

LOSS = Loss({"treat": {"yes": 0, "no": 2}, "wait": {"yes": 15, "no": 0}, "ask": {"yes": 1.5, "no": 1.5}})


def least_risk(posterior: dict, loss: Loss | None) -> float:
    """Expected cost of the best action, added up in plain Python; 0-1 loss for None."""
    if loss is None:
        return 1 - max(posterior.values())
    table = loss.table
    costs = [dict(zip(table.classes, row, strict=True)) for row in table.cost.tolist()]
    return min(sum(p * cost[state] for state, p in posterior.items()) for cost in costs)


def worth_by_asking(network: BayesianNetwork, target: str, evidence: dict, name: str, loss: Loss | None) -> float:
    """Ask for the variable, hear every state in turn, and decide."""
    then = 0.0
    for state, p in network.query(name, evidence).items():
        if p > 0:
            then += p * least_risk(dict(network.query(target, {**evidence, name: state})), loss)
    return least_risk(dict(network.query(target, evidence)), loss) - then


@pytest.mark.parametrize("loss", [None, LOSS])
@pytest.mark.parametrize("evidence", [{}, {"dysp": "yes"}, {"xray": "no", "smoke": "yes"}])
def test_a_variable_is_worth_what_asking_and_deciding_would_save(evidence, loss):
    network = asia()
    found = network.next_best("lung", evidence, loss)
    assert {question.column for question in found} == set(network.names) - {"lung", *evidence}
    assert found.risk_now == pytest.approx(least_risk(dict(network.query("lung", evidence)), loss), abs=EXACT)
    for question in found:
        expected = worth_by_asking(network, "lung", evidence, question.column, loss)
        assert question.value.worth == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("seed", range(5))
def test_states_that_are_impossible_are_asked_for_no_more(seed):
    rng = np.random.default_rng(seed)
    network = BayesianNetwork.from_core(random_network(6, rng, zeros=True))
    names = list(network.names)
    row = network.sample(1, random_state=seed).to_pylist()[0]
    evidence = {names[5]: row[names[5]]}
    found = network.next_best(names[0], evidence)
    assert {question.column for question in found} == set(names[1:5])
    for question in found:
        expected = worth_by_asking(network, names[0], evidence, question.column, None)
        assert question.value.worth == pytest.approx(expected, abs=EXACT)


def test_what_is_separated_from_the_target_is_worth_nothing():
    network = asia()
    found = {question.column: question.value.worth for question in network.next_best("xray", {"either": "yes"}, None)}
    assert all(worth == 0 for worth in found.values())


def test_nothing_is_worth_more_than_the_target_itself():
    network = asia()
    evidence = {"dysp": "yes"}
    best, *rest = network.next_best("lung", evidence, LOSS, candidates=["lung", *network.names[:4]])
    assert best.column == "lung"
    posterior = network.query("lung", evidence)
    assert best.value.worth == pytest.approx(least_risk(dict(posterior), LOSS), abs=EXACT)  # none is left
    assert all(question.value.worth <= best.value.worth + EXACT for question in rest)


def test_costs_are_taken_off_and_say_what_can_be_asked_for():
    network = asia()
    evidence = {"dysp": "yes"}
    found = network.next_best("lung", evidence, LOSS, costs={"xray": 0.3, "smoke": 0.0, "dysp": 1.0})
    assert {question.column: question.value.cost for question in found} == {"xray": 0.3, "smoke": 0.0}
    assert [q.value.net for q in found] == sorted((q.value.net for q in found), reverse=True)
    named = network.next_best("lung", evidence, LOSS, costs={"xray": 0.3}, candidates=["bronc", "xray"])
    assert {question.column: question.value.cost for question in named} == {"bronc": 0.0, "xray": 0.3}
    assert network.next_best("lung", evidence, LOSS, costs=100, candidates="xray").best is None


def test_soft_evidence_counts():
    network = asia()
    soft = network.next_best("lung", soft_evidence={"dysp": {"yes": 0.6, "no": 0.2}})
    hard = network.next_best("lung", {"dysp": "yes"})
    sure = network.next_best("lung", soft_evidence={"dysp": {"yes": 1.0, "no": 0.0}})
    worth = {q.column: q.value.worth for q in sure if q.column != "dysp"}
    assert worth == pytest.approx({q.column: q.value.worth for q in hard}, abs=EXACT)
    assert soft.risk_now == pytest.approx(
        least_risk(dict(network.query("lung", soft_evidence={"dysp": [0.6, 0.2]})), None), abs=EXACT
    )


def test_a_network_of_a_classifier_says_what_the_classifier_says():
    rng = np.random.default_rng(0)
    y = rng.choice(["ill", "well"], 200)
    X = pd.DataFrame(
        {
            name: np.where(rng.random(200) < 0.5 + share * (y == "ill"), "a", "b")
            for name, share in [("p", 0.1), ("q", 0.3), ("r", 0.45)]
        }
    )
    model = CategoricalNB().fit(X, y)
    theirs = model.next_best({"p": "a"})
    ours = model.to_network().next_best("class", {"p": "a"})
    assert [q.column for q in ours] == [q.column for q in theirs]
    assert [q.value.worth for q in ours] == pytest.approx([q.value.worth for q in theirs], abs=EXACT)
    assert str(ours) == str(theirs)


def test_costs_may_depend_on_what_is_known():
    network = BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]})
    by_row = Loss({"act": {0: 0, 1: lambda rows: [10.0 * v for v in rows["b"].to_pylist()]}, "wait": {0: 1, 1: 0}})
    assert network.next_best("a", {"b": 1}, by_row).risk_now == pytest.approx(1 / 9)
    assert network.next_best("a", {"b": 0}, by_row).risk_now == 0.0


def test_questions_that_make_no_sense_are_refused():
    network = asia()
    with pytest.raises(ParameterError, match="the target 'lung' is part of the evidence"):
        network.next_best("lung", {"lung": "yes"})
    with pytest.raises(ImpossibleEvidence, match="lung='yes', either='no' has probability zero"):
        network.next_best("smoke", {"lung": "yes", "either": "no"})
    with pytest.raises(SchemaError, match="costs names 'xay', but there is no such variable"):
        network.next_best("lung", costs={"xay": 1})
    with pytest.raises(ParameterError, match="xay"):
        network.next_best("lung", candidates=["xay"])
