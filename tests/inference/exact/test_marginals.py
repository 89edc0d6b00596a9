"""Rows in bulk: sharing of equal rows, threads, tiny probabilities, wide graphs, what is refused."""

import numpy as np
import pytest
from tests.inference.exact.forced_routes import force_route
from tests.inference.exact.small_networks import chain, random_network, random_rows, star

from bayeswater import limits
from bayeswater.errors import DataError, ResourceLimitError, SchemaError
from bayeswater.inference.exact import marginals as marginals_module
from bayeswater.inference.exact.elimination import log_evidence, query
from bayeswater.inference.exact.evidence_rows import distinct
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import PLANS_KEPT, compile
from bayeswater.inference.exact.marginals import marginals
from bayeswater.kernels.threads import threads

STEP = np.array([[0.9, 0.1], [0.1, 0.9]])


@pytest.fixture(params=[False, True], ids=["reference", "compiled"])
def compiled(request, monkeypatch):
    monkeypatch.setattr(marginals_module, "worth_compiling", lambda cells: request.param)
    monkeypatch.setattr(marginals_module, "NUMPY_CELLS", np.inf)
    return request.param


def mixed_rows():
    rng = np.random.default_rng(5)
    factors = random_network(rng, 12, zeros=0.05)
    codes = np.vstack([random_rows(rng, factors, 300, share) for share in (0.2, 0.5, 0.97)])
    codes[700:] = codes[650]  # a pattern, and a row, that comes often
    return factors, codes


def test_the_number_of_threads_never_shows(monkeypatch):
    monkeypatch.setattr(marginals_module, "worth_compiling", lambda cells: True)
    monkeypatch.setattr(marginals_module, "ROWS_OF_A_TASK", 64)
    factors, codes = mixed_rows()
    answers = []
    for n in (1, 3):
        with threads(n):
            answers.append(marginals(compile(factors), codes))
    one, three = answers
    assert one.log_evidence.tobytes() == three.log_evidence.tobytes()
    assert all(one.marginals[v].tobytes() == three.marginals[v].tobytes() for v in one.marginals)


def test_rows_in_another_order_get_their_own_answers(compiled):
    factors, codes = mixed_rows()
    order = np.random.default_rng(0).permutation(len(codes))
    straight, shuffled = marginals(compile(factors), codes), marginals(compile(factors), codes[order])
    np.testing.assert_array_equal(straight.impossible[order], shuffled.impossible)
    for v, values in straight.marginals.items():
        # The same rows may share another tree: sums in another order.
        np.testing.assert_allclose(values[order], shuffled.marginals[v], rtol=0, atol=1e-13)


def test_layout_and_integer_type_of_the_codes_do_not_matter():
    factors, codes = mixed_rows()
    plain = marginals(compile(factors), codes)
    for other in (np.asfortranarray(codes, dtype=np.uint8), codes.astype(np.int32)[:, ::-1][:, ::-1], codes + 0):
        same = marginals(compile(factors), other)
        assert all(same.marginals[v].tobytes() == plain.marginals[v].tobytes() for v in plain.marginals)


def test_a_code_beyond_the_missing_one_is_missing_too():
    factors = chain(3)
    answers = marginals(compile(factors), np.array([[0, 2, 2], [0, 7, 2]]))
    np.testing.assert_array_equal(answers.marginals[2][0], answers.marginals[2][1])


def test_no_rows_give_no_answers():
    answers = marginals(compile(chain(3)), np.zeros((0, 3), dtype=np.uint8))
    assert answers.marginals[1].shape == (0, 2)
    assert answers.log_evidence.shape == answers.impossible.shape == (0,)


def test_without_targets_there_is_still_the_probability_of_the_evidence(compiled):
    codes = np.array([[0, 2, 1], [2, 2, 2], [0, 0, 0], [2, 1, 2]])
    answers = marginals(compile(chain(3)), codes, [])
    assert answers.marginals == {}
    np.testing.assert_allclose(np.exp(answers.log_evidence), [0.09, 1.0, 0.405, 0.5], rtol=1e-14)


@pytest.mark.parametrize("n_variables", [1, 2, 9])
def test_a_row_that_observes_nothing_has_probability_one_to_the_last_bit(compiled, n_variables):
    for seed in range(5):
        factors = random_network(np.random.default_rng(seed), n_variables)
        codes = np.repeat([factors.cards], 3, axis=0)
        codes[0, 0] = 0
        assert marginals(compile(factors), codes).log_evidence[1:].tolist() == [0.0, 0.0]


def test_a_network_without_variables_has_nothing_that_could_be_otherwise():
    found = marginals(compile(Factors((), (), ())), np.zeros((2, 0), dtype=np.int64))
    assert found.log_evidence.tolist() == [0.0, 0.0]
    assert found.marginals == {}


def test_evidence_on_a_variable_of_too_many_states_is_refused_before_memory_runs_out(monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 8 * 101 * 100 - 1)
    factors = Factors((100,), ((),), (np.full(100, 0.01),))
    with pytest.raises(ResourceLimitError, match="evidence on a variable of 100 states"):
        marginals(compile(factors), np.array([[3]]), [])


def test_soft_evidence_alone_is_an_observation():
    found = marginals(compile(chain(3)), np.array([[2, 2, 2]]), soft={1: np.array([0.5, 0.25])})
    np.testing.assert_allclose(found.log_evidence, np.log(0.375), rtol=1e-15)


def test_a_pattern_that_comes_again_finds_its_plan_and_old_ones_are_given_up():
    factors = random_network(np.random.default_rng(1), 8)
    tree = compile(factors)
    for i in range(PLANS_KEPT + 5):
        row = np.array(factors.cards)
        row[[i % 8, (i * 3 + 1) % 8, (i // 8) % 8]] = 0
        marginals(tree, row[None])
    assert len(tree._plans) <= PLANS_KEPT


def test_wide_graphs_have_no_limit_of_dimensions(compiled):
    n = 150
    factors = star(np.array([[0.6, 0.4], [0.3, 0.7]]), n)
    codes = np.full((5, n + 1), 2)
    codes[:, 1:] = np.arange(5 * n).reshape(5, n) % 3
    answers = marginals(compile(factors), codes)
    for i in range(5):
        seen = codes[i, 1:]
        log_joint = [np.log(line)[seen[seen < 2]].sum() for line in ([0.6, 0.4], [0.3, 0.7])]
        expected = 1 / (1 + np.exp(log_joint[1] - log_joint[0]))
        np.testing.assert_allclose(answers.marginals[0][i, 0], expected, rtol=1e-12)


def test_a_chain_of_a_thousand_with_evidence_of_probability_1e_minus_500(compiled):
    n = 1000
    codes = np.full((3, n), 2, dtype=np.uint8)
    codes[:, :500] = np.arange(500) % 2  # every step against the odds: 0.1 ** 499
    codes[1, 700], codes[2, 999] = 1, 0
    answers = marginals(compile(chain(n)), codes, [600, 999])
    np.testing.assert_allclose(answers.log_evidence[0], np.log(0.5) + 499 * np.log(0.1), rtol=1e-13)
    after = 0.5 + 0.5 * 0.8 ** (600 - 499)  # P(x_600 = x_499), x_499 being 1
    np.testing.assert_allclose(answers.marginals[600][0], [1 - after, after], rtol=1e-12)
    assert not answers.impossible.any()
    for i in range(3):
        evidence = {v: int(code) for v, code in enumerate(codes[i]) if code < 2}
        np.testing.assert_allclose(answers.marginals[600][i], query(chain(n), [600], evidence), atol=1e-12)


@pytest.mark.parametrize("route", ["one tree", "tree of a pattern", "rows one by one"])
def test_deep_trees_lose_no_digits_on_the_way_down(monkeypatch, route):
    # A hidden chain with a noisy observation of most of its states: every message up and down carries evidence.
    force_route(monkeypatch, route)
    n = 600
    hidden, noisy = chain(n), np.array([[0.01, 0.02, 0.97], [0.02, 0.01, 0.97]])
    factors = Factors(
        hidden.cards + (3,) * n, hidden.parents + tuple((v,) for v in range(n)), hidden.tables + (noisy,) * n
    )
    rng = np.random.default_rng(0)
    codes = np.c_[np.full((3, n), 2), rng.integers(0, 2, size=(3, n))]
    codes[rng.random(codes.shape) < 0.1] = 3
    codes[:, :n] = 2
    targets = [0, 17, 300, n - 1]
    answers = marginals(compile(factors), codes, targets)
    assert (answers.log_evidence < np.log(1e-308)).all()
    for i, row in enumerate(codes):
        evidence = {v: int(code) for v, code in enumerate(row) if code < factors.cards[v]}
        np.testing.assert_allclose(answers.log_evidence[i], log_evidence(factors, evidence), rtol=1e-13)
        for v in targets:
            np.testing.assert_allclose(answers.marginals[v][i], query(factors, [v], evidence), rtol=1e-10)


@pytest.mark.parametrize("route", ["one tree", "tree of a pattern", "rows one by one"])
def test_many_branches_of_tiny_entries_are_no_reason_to_give_a_row_back(monkeypatch, route):
    # Eight chains of four steps hang on one variable. Together their least products are 1e-960, each alone 1e-120.
    force_route(monkeypatch, route)
    monkeypatch.setattr(marginals_module.Routes, "by_logarithms", lambda *_: pytest.fail("given back"))
    step = np.array([[1 - 1e-30, 1e-30], [1e-30, 1 - 1e-30]])
    parents = ((), *((0 if v % 4 == 0 else v,) for v in range(32)))
    factors = Factors((2,) * 33, parents, (np.array([0.5, 0.5]), *[step] * 32))
    codes = np.full((3, 33), 2)
    codes[:, 4::4] = [[0] * 8, [0] * 7 + [1], [0, 1] * 4]
    answers = marginals(compile(factors), codes)
    for row, log_p in zip(codes, answers.log_evidence, strict=True):
        evidence = {v: int(code) for v, code in enumerate(row) if code < 2}
        np.testing.assert_allclose(log_p, log_evidence(factors, evidence), rtol=1e-13)
    np.testing.assert_allclose(answers.marginals[0], [[1, 0], [1, 0], [0.5, 0.5]], atol=1e-15)


def test_states_that_fall_far_behind_come_back_when_later_evidence_speaks_for_them(compiled):
    # 400 children speak for class 0 by 10 to 1 each, and then 401 for class 1: 1e-400 must not become 0 on the way.
    factors = star(np.array([[10 / 11, 1 / 11], [1 / 11, 10 / 11]]), 803)
    codes = np.full((2, 804), 2, dtype=np.uint8)
    codes[:, 1:401], codes[:, 401:802] = 0, 1
    codes[1, 802] = 1
    answers = marginals(compile(factors), codes, [0, 803])
    np.testing.assert_allclose(answers.marginals[0], [[1 / 11, 10 / 11], [1 / 101, 100 / 101]], rtol=1e-10)
    evidence = {v: int(codes[0, v]) for v in range(1, 802)}
    np.testing.assert_allclose(query(factors, [0], evidence), [1 / 11, 10 / 11], rtol=1e-10)


def test_soft_evidence_is_an_observed_child_of_the_variable(compiled):
    likelihood = np.array([0.2, 0.05])
    with_child = Factors((2, 2, 2), ((), (0,), (1,)), (np.array([0.3, 0.7]), STEP, np.c_[likelihood, 1 - likelihood]))
    hard = marginals(compile(with_child), np.array([[2, 2, 0]]), [0, 1])
    pair = Factors((2, 2), ((), (0,)), (np.array([0.3, 0.7]), STEP))
    soft = marginals(compile(pair), np.array([[2, 2]]), [0, 1], {1: likelihood})
    for v in (0, 1):
        np.testing.assert_allclose(soft.marginals[v], hard.marginals[v], atol=1e-15)
    np.testing.assert_allclose(soft.log_evidence, hard.log_evidence, atol=1e-14)


def test_soft_evidence_without_a_likely_state_is_impossible(compiled):
    codes = np.array([[2, 2, 2], [0, 2, 2]])
    answers = marginals(compile(chain(3)), codes, None, {1: np.array([[0.0, 0.0], [0.5, 0.1]])})
    assert answers.impossible.tolist() == [True, False]
    assert not answers.marginals[0][0].any()


def test_a_tree_over_the_limit_is_refused_with_its_numbers_and_a_way_out(monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 1000)
    factors = random_network(np.random.default_rng(0), 12, most_parents=4)
    monkeypatch.setattr(marginals_module, "worth_compiling", lambda cells: True)
    with pytest.raises(ResourceLimitError, match=r"cells, .* [KM]iB.* sampling"):
        marginals(compile(factors), np.array([factors.cards, factors.cards]))


def test_answers_over_the_limit_are_refused_before_they_are_allocated(monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 3 * 2 * 4 * 8 - 1)
    codes = np.arange(12).reshape(4, 3) % 3
    with pytest.raises(ResourceLimitError, match=r"marginals of 3 variables in 4 rows .* fewer targets"):
        marginals(compile(chain(3)), codes)
    assert len(marginals(compile(chain(3)), codes[:, :], [0]).log_evidence) == 4


def test_codes_that_do_not_fit_are_refused():
    tree = compile(chain(3))
    with pytest.raises(SchemaError, match=r"shape \(2, 2\).*3 variables"):
        marginals(tree, np.zeros((2, 2), dtype=int))
    with pytest.raises(DataError, match=r"row 1 has code -1 in column 2"):
        marginals(tree, np.array([[0, 0, 0], [0, 0, -1]]))
    with pytest.raises(SchemaError, match=r"variable 1 has shape \(3,\)"):
        marginals(tree, np.zeros((1, 3), dtype=int), None, {1: np.ones(3)})
    with pytest.raises(DataError, match=r"variable 1 .* negative"):
        marginals(tree, np.zeros((1, 3), dtype=int), None, {1: np.array([1.0, -1.0])})


def test_columns_with_equal_hashes_are_still_told_apart(monkeypatch):
    lines = np.array([[0, 1, 0, 1], [1, 0, 1, 1]], dtype=np.uint8)

    class Same:
        def integers(self, *arguments, size, dtype):
            return np.ones(size, dtype=dtype)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Same())
    first, kind = distinct(lines)
    assert len(first) == 3
    np.testing.assert_array_equal(lines[:, first[kind]], lines)


def test_a_clique_that_is_too_much_for_a_float_all_alone_is_not_impossible(compiled):
    tiny = (np.array([1.0, 1e-170]), np.array([[1.0, 0.0], [1.0, 1e-170]]))
    factors = Factors((2, 2), ((), (0,)), tiny)
    answers = marginals(compile(factors), np.array([[2, 2]] * 3), None, {v: np.array([0.0, 1.0]) for v in (0, 1)})
    assert not answers.impossible.any()
    np.testing.assert_allclose(answers.log_evidence, 2 * np.log(1e-170), rtol=1e-12)
