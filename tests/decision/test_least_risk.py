"""The action of least risk: against exact fractions, at ties, under scaling, far below 1e-300, on both kernel paths."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.decision.exact import decisions, dyadic_probabilities, exact_best, exact_risk

from bayeswater import DominatedActionWarning, Loss, threads

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.DominatedActionWarning")  # random costs have such actions


@given(decisions())
def test_risk_and_best_action_are_those_of_exact_fractions(case):
    costs, proba = case
    loss = Loss(costs)
    expected = [[float(r) for r in exact_risk(costs, row)] for row in proba]
    assert_array_equal(loss.conditional_risk(proba), expected)
    assert_array_equal(loss.best_action(proba, return_index=True), [exact_best(costs, row) for row in proba])
    assert_array_equal(loss.expected_loss(proba), np.min(expected, axis=1))


@given(decisions())
def test_logarithms_of_probabilities_decide_as_the_probabilities(case):
    costs, proba = case
    with np.errstate(divide="ignore"):
        log_proba = np.log(proba)
    best = Loss(costs).best_action(log_proba=log_proba, return_index=True)
    assert_array_equal(best, [exact_best(costs, row) for row in proba])


@given(st.integers(2, 5).flatmap(lambda k: st.lists(dyadic_probabilities(k), min_size=1, max_size=8)))
def test_zero_one_loss_takes_the_first_of_the_largest_probabilities(proba):
    proba = np.array(proba)
    assert_array_equal(Loss.zero_one(range(proba.shape[1])).best_action(proba), proba.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 3, 7, 50, 1000])
def test_probabilities_equal_but_for_rounding_are_a_tie(n_classes):
    # The risks 1 - p of the classes are sums in different order: they differ in their last bits.
    rng = np.random.default_rng(n_classes)
    proba = rng.dirichlet(np.ones(n_classes), size=200)
    top = proba.max(axis=1)
    tied = np.array([rng.choice(n_classes, 2, replace=False) for _ in proba])
    np.put_along_axis(proba, tied, top[:, None], axis=1)
    proba /= proba.sum(axis=1, keepdims=True)
    first = (proba == proba.max(axis=1, keepdims=True)).argmax(axis=1)
    assert_array_equal(Loss.zero_one(range(n_classes)).best_action(proba), first)


@given(
    decisions(),
    st.lists(st.integers(-50, 50), min_size=5, max_size=5),
    st.sampled_from([0.1, 1 / 3, 3.0, 1e200, 1e-200]),
)
def test_a_constant_added_to_a_column_and_a_change_of_unit_change_no_decision(case, constants, unit):
    costs, proba = case
    best = Loss(costs).best_action(proba, return_index=True)
    assert_array_equal(Loss(costs + constants[: costs.shape[1]]).best_action(proba, return_index=True), best)
    assert_array_equal(Loss(costs * unit).best_action(proba, return_index=True), best)


@given(dyadic_probabilities(2), st.integers(1, 20), st.integers(1, 20), st.integers(-5, 5), st.integers(-5, 5))
def test_the_threshold_in_closed_form_is_that_of_the_matrix(proba, miss, alarm, right0, right1):
    loss = Loss([[right0, right1 + miss], [right0 + alarm, right1]])
    threshold = Fraction(alarm, alarm + miss)
    assert loss.binary_threshold() == float(threshold)
    decided = int(loss.best_action([proba], return_index=True)[0])
    assert decided == (Fraction(proba[1]) > threshold)


@given(st.integers(1, 40), st.integers(1, 40))
def test_at_the_threshold_itself_the_first_action_is_taken_and_above_it_the_second(miss, alarm):
    loss = Loss([[0, miss], [alarm, 0]])
    p = loss.binary_threshold()
    above = p + 1e-12  # far over rounding, far below any real difference
    assert loss.best_action([[1 - p, p], [1 - above, above]], return_index=True).tolist() == [0, 1]


@given(
    st.integers(2, 5).flatmap(lambda k: st.lists(dyadic_probabilities(k), min_size=1, max_size=8)), st.integers(0, 63)
)
def test_refusing_at_cost_r_happens_exactly_where_the_largest_probability_is_below_one_minus_r(proba, sixty_fourths):
    proba, r = np.array(proba), sixty_fourths / 64
    loss = Loss.zero_one([f"c{k}" for k in range(proba.shape[1])]).with_reject(r)
    assert_array_equal(loss.best_action(proba) == "reject", proba.max(axis=1) < 1 - r)


@given(decisions())
def test_regret_is_the_risk_beyond_that_of_the_best_action(case):
    costs, proba = case
    loss = Loss(costs)
    risk = loss.conditional_risk(proba)
    assert_array_equal(loss.regret(proba), risk - risk.min(axis=1, keepdims=True))
    assert_array_equal(loss.regret(proba, loss.best_action(proba)), np.zeros(len(proba)))
    assert_array_equal(loss.expected_loss(proba, [0] * len(proba)), risk[:, 0])


def test_a_probability_of_1e_300_decides_where_its_cost_is_as_large_as_it_is_small():
    proba = np.array([[1.0, 1e-300]])
    for alarm, decided in ((0.999, 1), (1.0, 0), (1.001, 0)):  # the other side costs 1e300 * 1e-300
        assert Loss([[0, 1e300], [alarm, 0]]).best_action(proba, return_index=True) == [decided]


@pytest.mark.parametrize("power", [-300.0, -320.0, -5000.0, -1e6])
def test_log_posteriors_decide_between_classes_however_improbable(power):
    # Both actions are right about the likely class; they differ on two that are impossible in floating point.
    rare = power * np.log(10)
    log_proba = np.array(
        [[0.0, rare, rare + np.log(3)], [0.0, rare, rare + np.log(1.5)], [0.0, rare, rare + np.log(2)]]
    )
    loss = Loss([[0, 2, 0], [0, 0, 1]], actions=["a", "b"], classes=["x", "y", "z"])
    assert loss.best_action(log_proba=log_proba).tolist() == ["a", "b", "a"]


def test_costs_of_the_rows_themselves_give_the_risks_of_one_loss_for_each_row():
    rng = np.random.default_rng(0)
    proba, amount, fee = rng.dirichlet(np.ones(3), 50), rng.uniform(-5, 100, 50), rng.uniform(0, 3, 50)
    pairs = {(i, j): 1.0 + i + 2 * j for i in range(3) for j in range(3)}
    loss = Loss.from_costs(pairs | {(0, 1): amount, (2, 1): lambda X: X[:, 1], (1, 0): fee})
    X = np.column_stack([amount, fee])
    risk, best, regret = loss.conditional_risk(proba, X=X), loss.best_action(proba, X=X), loss.regret(proba, X=X)
    for i in range(50):
        alone = Loss.from_costs(pairs | {(0, 1): amount[i], (2, 1): fee[i], (1, 0): fee[i]})
        assert_allclose(risk[i], alone.conditional_risk(proba[i : i + 1])[0], rtol=1e-14)  # sums in another order
        assert_allclose(regret[i], alone.regret(proba[i : i + 1])[0], rtol=1e-13, atol=1e-13)
        assert best[i] == alone.best_action(proba[i : i + 1])[0]
        assert loss.realised([0] * 50, [1] * 50, X=X)[i] == amount[i]


def test_log_posteriors_decide_between_improbable_classes_by_the_costs_of_the_row():
    log_proba = np.array([[0.0, -5000.0, -5000.0]] * 2)
    loss = Loss.from_costs(
        {("a", "x"): 0, ("a", "y"): np.array([2.0, 1.0]), ("a", "z"): 0, ("b", "x"): 0, ("b", "y"): 0, ("b", "z"): 1.5}
    )
    assert loss.best_action(log_proba=log_proba).tolist() == ["b", "a"]


@pytest.mark.parametrize("form", ["proba", "log_proba"])
def test_compiled_loops_decide_as_numpy_whatever_the_number_of_threads(monkeypatch, form):
    rng = np.random.default_rng(1)
    n_rows = 40_000  # three blocks
    proba = rng.multinomial(8, np.ones(4) / 4, size=n_rows) / 8  # many ties
    with np.errstate(divide="ignore"):
        given = {form: proba if form == "proba" else np.log(proba)}
    loss = Loss(rng.integers(0, 9, (5, 4)))
    results = []
    for cells, n_threads in ((10**9, 1), (10**9, 3), (1, 1), (1, 3)):
        monkeypatch.setattr("bayeswater.kernels.compiling.COMPILE_FROM_CELLS", cells)
        with threads(n_threads):
            results.append((loss.best_action(**given, return_index=True), loss.conditional_risk(**given)))
    for best, risk in results[1:]:
        assert_array_equal(best, results[0][0])
        assert_array_equal(risk, results[0][1])
    assert_array_equal(results[0][0][:500], [exact_best(loss.costs, row) for row in proba[:500]])


def test_single_precision_probabilities_and_other_memory_orders_are_read():
    proba = np.random.default_rng(2).dirichlet(np.ones(3), 100)
    loss = Loss.zero_one("abc")
    best = loss.best_action(proba)
    for same in (np.asfortranarray(proba), proba.tolist(), proba[::-1][::-1], np.hstack([proba, proba])[:, :3]):
        assert_array_equal(loss.best_action(same), best)
    single = proba.astype(np.float32)
    assert_array_equal(loss.best_action(single, return_index=True), single.argmax(axis=1))


def test_deciding_makes_no_table_of_rows_times_actions():
    proba = np.full((400_000, 10), 0.1)
    loss = Loss(np.random.default_rng(3).random((10, 10)))
    loss.best_action(proba, return_index=True)  # compiles
    with threads(1):
        tracemalloc.start()
        loss.best_action(proba, return_index=True)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    codes, block_of_risks = 8 * len(proba), 8 * 16_384 * 10
    assert peak < codes + 4 * block_of_risks < proba.nbytes / 3


def test_a_dominated_action_is_named_in_a_warning():
    with pytest.warns(DominatedActionWarning, match="'ask' is never taken: 'buy' costs no more"):
        Loss({"buy": {"good": 0, "bad": 5}, "ask": {"good": 1, "bad": 5}, "leave": {"good": 3, "bad": 0}})
