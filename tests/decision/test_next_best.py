"""The value of one more fact: against brute force over small joints, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeswater import DataError, Loss, ParameterError, SchemaError
from bayeswater.decision import value_of_information
from bayeswater.decision.next_best import InformationValue, NextBest, Question, costs_of_asking
from bayeswater.markup import bar

COSTS = [[0, 7, 1], [2, 0, 5], [1, 2, 0], [1, 1, 1]]


def worth_by_brute_force(joint, costs):
    """Try every plan (an action for every outcome) and every single action; the best ones differ by the worth."""
    actions = range(len(costs))

    def cost(plan):
        return sum(Fraction(costs[plan[o]][j]) * joint[o][j] for o in range(len(joint)) for j in range(len(joint[0])))

    single = min(cost([a] * len(joint)) for a in actions)
    plans = [[]]
    for _ in joint:
        plans = [[*plan, a] for plan in plans for a in actions]
    return single - min(cost(plan) for plan in plans)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=3).filter(lambda t: np.sum(t))
)
def test_the_worth_is_what_the_best_plan_saves_over_the_best_single_action(counts):
    total = int(np.sum(counts))
    joint = [[Fraction(n, total) for n in row] for row in counts]
    outcome = np.array(counts).sum(axis=1) / total
    with np.errstate(invalid="ignore"):
        given_outcome = np.array(counts) / np.array(counts).sum(axis=1, keepdims=True)
    found = value_of_information(np.array(counts).sum(axis=0) / total, outcome, given_outcome, Loss(COSTS), cost=0.25)
    worth = float(worth_by_brute_force(joint, COSTS))
    assert_allclose(found.worth, worth, atol=1e-14)  # risks of size 10
    assert_allclose(float(found), worth - 0.25, atol=1e-14)
    assert found.net == float(found)
    assert found.worth >= -1e-14


def test_perfect_knowledge_is_worth_the_whole_risk_and_an_unrelated_fact_nothing():
    p, loss = np.array([0.3, 0.7]), Loss([[0, 4], [2, 0]])
    assert value_of_information(p, p, np.eye(2), loss).worth == loss.expected_loss([p])[0]
    assert value_of_information(p, [0.5, 0.5], [p, p], loss).worth == 0
    assert "do not ask" in str(value_of_information(p, [0.5, 0.5], [p, p], loss, cost=1))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.5, 0.5], [0.5, 0.6], np.eye(2)), ParameterError, "outcome_probability is .* sum to one"),
        (([0.5, 0.5], 1.0, np.eye(2)), ParameterError, "outcome_probability has shape"),
        (([0.5, 0.5], [0.5, 0.5], np.eye(3)), DataError, r"for 2 outcomes give \(n_classes,\) and \(2, n_classes\)"),
        (([[0.5, 0.5]], [0.5, 0.5], np.eye(2)), DataError, "posterior has shape"),
        (([0.4, 0.6], [0.5, 0.5], np.eye(2)), DataError, "belong to different models"),
        (([0.5, 0.6], [0.5, 0.5], np.eye(2)), DataError, "does not sum to one"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        value_of_information(*arguments, Loss([[0, 1], [1, 0]]))


def test_the_cost_of_asking_is_a_number():
    with pytest.raises(ParameterError, match="cost is 'dear'"):
        value_of_information([0.5, 0.5], [0.5, 0.5], np.eye(2), [[0, 1], [1, 0]], cost="dear")


def test_what_it_costs_to_ask_is_said_by_name_or_by_place():
    names = ["cough", "fever"]
    assert costs_of_asking({0: 1, np.int64(1): 2.5}, names) == {"cough": 1.0, "fever": 2.5}
    assert costs_of_asking(None, names) == {"cough": 0.0, "fever": 0.0}
    for place in (-1, 2, True, "rash"):
        with pytest.raises(SchemaError, match=f"costs names {place!r}, but there is no such column"):
            costs_of_asking({place: 1}, names)
    with pytest.raises(ParameterError, match="the cost of asking for 'fever' is 'much'; give a number"):
        costs_of_asking({"fever": "much"}, names)


def test_facts_are_shown_to_a_notebook_in_their_order_with_bars_of_their_worth():
    questions = [Question(f"<{i}>", InformationValue(1.0, risk, 0.1)) for i, risk in enumerate((0.2, 0.6, 1.0))]
    html = NextBest(1.0, tuple(questions), {"age": "it is known"})._repr_html_()
    places = [html.index(part) for part in ("&lt;0&gt;", "&lt;1&gt;", "&lt;2&gt;", "it is known")]
    assert places == sorted(places)
    assert bar(1.0) in html and bar(0.5) in html and bar(0.0) in html
    assert "it is known" in NextBest(1.0, (), {"age": "it is known"})._repr_html_()


def test_the_best_fact_and_five_more_are_printed_and_the_others_counted():
    questions = [Question(f"x{i}", InformationValue(1.0, 0.1 * i, 0.0)) for i in range(9)]
    for n in (7, 6, 9):
        lines = str(NextBest(1.0, tuple(questions[:n]))).splitlines()
        assert "x0" in lines[0]
        assert [line.split(":")[0] for line in lines[1:6]] == [f"  x{i}" for i in range(1, 6)]
        assert len(lines) == 6 + (n > 6)
        assert n == 6 or str(n - 6) in lines[6]
