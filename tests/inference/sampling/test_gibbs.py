"""R-hat and effective sample size against their definitions, written out draw by draw.

Gibbs sampling: right where single moves are wrong, the same for any number of threads, and sure of its errors.
"""

import subprocess
import sys
from statistics import NormalDist

import numpy as np
import pytest
from tests.inference.exact.small_networks import chain
from tests.inference.sampling.networks import ASIA, DYSP, LUNG, XRAY, copies, exact

from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.sampling import gibbs as gibbs_module
from bayeswater.inference.sampling.answering import approximate_query
from bayeswater.inference.sampling.gibbs import effective_draws, find_starts, mean_and_error, r_hat, split
from bayeswater.inference.sampling.question import ask
from bayeswater.kernels import compiling
from bayeswater.kernels.threads import threads


def walks(n_chains, n_draws, memory, seed=0):
    """Chains in which each draw remembers a share of the one before."""
    rng = np.random.default_rng(seed)
    draws = np.empty((n_chains, n_draws))
    draws[:, 0] = rng.normal(size=n_chains) / np.sqrt(1 - memory**2)
    for t in range(1, n_draws):
        draws[:, t] = memory * draws[:, t - 1] + rng.normal(size=n_chains)
    return draws


def autocovariance(chain, lag):
    mean = sum(chain) / len(chain)
    return sum((a - mean) * (b - mean) for a, b in zip(chain, chain[lag:], strict=False)) / len(chain)


def effective_draws_by_definition(chains):
    """Vehtari and others (2021), section 3.2, as the authors' programs compute it, lag by lag."""
    m, n = chains.shape
    within = np.mean([np.var(chain, ddof=1) for chain in chains])
    pooled = within * (n - 1) / n + (np.var([np.mean(chain) for chain in chains], ddof=1) if m > 1 else 0.0)

    def rho(lag):
        return 1 - (within - np.mean([autocovariance(chain, lag) for chain in chains])) / pooled

    pairs, t, even, odd = [], 0, 1.0, rho(1)
    while even + odd > 0:
        pairs.append(min(even + odd, pairs[-1]) if pairs else even + odd)
        t += 2
        even, odd = rho(t) if t < n else 0.0, rho(t + 1) if t + 1 < n else -np.inf
    time = -1 + 2 * sum(pairs) + max(even, 0.0)
    return m * n / max(time, 1 / np.log10(m * n))


def r_hat_by_definition(draws):
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])

    def plain(values):
        n = values.shape[1]
        within = np.mean([np.var(chain, ddof=1) for chain in values])
        between = n * np.var([np.mean(chain) for chain in values], ddof=1)
        return np.sqrt(((n - 1) / n * within + between / n) / within)

    def scores(values):
        flat = values.ravel()
        rank = np.array([(flat < x).sum() + ((flat == x).sum() + 1) / 2 for x in flat])
        return np.array([NormalDist().inv_cdf((r - 3 / 8) / (flat.size + 1 / 4)) for r in rank]).reshape(values.shape)

    return max(plain(scores(halves)), plain(scores(abs(halves - np.median(halves)))))


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.95, -0.6])
@pytest.mark.parametrize("shape", [(1, 60), (4, 51), (7, 100)])
def test_effective_draws_are_those_of_the_definition(memory, shape):
    chains = walks(*shape, memory)
    # The transform and the sums differ by roundings alone.
    assert effective_draws(chains) == pytest.approx(effective_draws_by_definition(chains), rel=1e-9)


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_r_hat_is_that_of_the_definition(memory):
    draws = walks(4, 40, memory)
    assert r_hat(draws) == pytest.approx(r_hat_by_definition(draws), rel=1e-9)
    rounded = draws.round()  # many draws are equal: they share their ranks
    assert r_hat(rounded) == pytest.approx(r_hat_by_definition(rounded), rel=1e-9)


def test_r_hat_sees_chains_that_differ_in_place_in_spread_or_from_beginning_to_end():
    draws = walks(4, 200, 0.0)
    assert r_hat(draws) < 1.01
    assert r_hat(draws + np.arange(4)[:, None]) > 1.1
    assert r_hat(draws * np.array([1, 1, 1, 5])[:, None]) > 1.1
    assert r_hat(draws + np.linspace(0, 3, 200)) > 1.1


def test_r_hat_of_an_indicator_is_the_plain_one():
    # Ranks of two values are two values: R-hat does not change by a shift and a factor.
    draws = (walks(4, 200, 0.5) > 0.3).astype(float)
    halves = split(draws)
    n = halves.shape[1]
    within, between = halves.var(axis=1, ddof=1).mean(), n * halves.mean(axis=1).var(ddof=1)
    assert r_hat(draws) == pytest.approx(np.sqrt((between / within + n - 1) / n), rel=1e-12)


def test_chains_that_never_move_agree_only_if_they_stand_at_the_same_place():
    assert r_hat(np.ones((3, 20))) == 1.0
    assert r_hat(np.repeat([[0.0], [1.0]], 20, axis=1)) == np.inf


def test_the_error_of_independent_draws_is_their_deviation_by_the_root_of_their_number():
    draws = walks(100, 400, 0.0)
    mean, error = mean_and_error(draws)
    assert mean == pytest.approx(draws.mean(), rel=1e-12)
    # The spread of 100 means is known to 7 in 100.
    assert error == pytest.approx(1 / np.sqrt(draws.size), rel=0.15)


def test_the_error_of_few_chains_is_by_their_effective_draws_and_of_many_at_least_the_spread_of_their_means():
    few, many = walks(4, 300, 0.5), walks(64, 20, 0.9)
    halves = split(few)
    pooled = halves.var(axis=1).mean() + halves.mean(axis=1).var(ddof=1)
    assert mean_and_error(few)[1] == pytest.approx(np.sqrt(pooled / effective_draws(halves)), rel=1e-12)
    assert mean_and_error(many)[1] >= many.mean(axis=1).std(ddof=1) / 8


def test_the_error_of_draws_with_a_memory_is_that_of_their_sum():
    memory = 0.8
    mean, error = mean_and_error(walks(200, 500, memory))
    # The variance of the mean of such a series of length n is about 1 / (1 - memory)^2 / n.
    assert error == pytest.approx(1 / (1 - memory) / np.sqrt(200 * 500), rel=0.1)
    assert abs(mean) < 4 * error


def test_constant_draws_have_no_error():
    assert mean_and_error(np.full((4, 10), 0.25)) == (0.25, 0.0)


GIVEN = {XRAY: 1, DYSP: 1}


def test_asia_is_right_within_its_error_bar():
    found = approximate_query(ASIA, [LUNG], GIVEN, method="gibbs", standard_error=0.001)
    assert found.verdict == "reliable"
    assert found.standard_error.max() <= 0.001
    # The exact answer is 0.6212528; four standard errors are passed once in 16 000 seeds.
    assert abs(found.probability[1] - 0.6212528) < 4 * found.standard_error[1]
    assert found.r_hat.max() < 1.01
    assert found.effective_size.min() > 0.2 / 0.001**2


def test_copies_that_no_single_move_can_change_are_right():
    found = approximate_query(copies(), [2], {3: 1}, method="gibbs")
    # All three move together: nothing is left to draw, and the answer is exact.
    np.testing.assert_allclose(found.probability, exact(copies(), [2], {3: 1}), rtol=1e-14)
    assert found.n_draws == 0


def test_copies_beside_others_are_right():
    same, step = np.eye(2), np.array([[0.8, 0.2], [0.4, 0.6]])
    two_pairs = Factors((2,) * 5, ((), (0,), (1,), (2,), (3,)), (np.array([0.6, 0.4]), same, step, same, step))
    found = approximate_query(two_pairs, [0], {4: 1}, method="gibbs", standard_error=0.002)
    assert found.n_draws > 0
    assert found.is_reliable
    assert abs(found.probability - exact(two_pairs, [0], {4: 1})).max() < 4 * found.standard_error.max()


def test_the_joint_of_several_targets_has_an_error_for_each_of_its_cells():
    found = approximate_query(ASIA, [LUNG, 0, 5], GIVEN, method="gibbs", standard_error=0.003)
    expected = exact(ASIA, [LUNG, 0, 5], GIVEN)
    assert found.probability.shape == found.standard_error.shape == found.r_hat.shape == (2, 2, 2)
    assert (abs(found.probability - expected) <= 4 * found.standard_error + 1e-15).all()
    assert (found.probability[1, :, 0] == 0).all()  # lung without either
    assert found.probability.sum() == pytest.approx(1.0, abs=1e-12)


def test_the_answer_is_the_same_for_any_number_of_threads_and_by_either_road(monkeypatch):
    answers = []
    for n_threads, from_cells in ((1, 0), (3, 0), (1, 10**18)):
        monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", from_cells)
        with threads(n_threads):
            answers.append(approximate_query(ASIA, [LUNG], GIVEN, method="gibbs", standard_error=0.005, seed=3))
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0].probability, other.probability)
        np.testing.assert_array_equal(answers[0].standard_error, other.standard_error)
    another = approximate_query(ASIA, [LUNG], GIVEN, method="gibbs", standard_error=0.005, seed=4)
    assert (another.probability != answers[0].probability).all()


def test_chains_that_do_not_mix_are_not_vouched_for(clock):
    # Two variables that are equal but once in ten million: no zeros, and yet no chain ever leaves its half.
    sticky = chain(4, stay=1 - 1e-7)
    found = approximate_query(sticky, [0], {}, {3: np.array([0.5, 0.2])}, method="gibbs", time_limit=12)
    assert not found.is_reliable
    assert "not reliable" in found.verdict


def test_a_site_alone_is_answered_exactly():
    found = approximate_query(ASIA, [4], {2: 1, 5: 1, DYSP: 0}, method="gibbs")
    np.testing.assert_allclose(found.probability, exact(ASIA, [4], {2: 1, 5: 1, DYSP: 0}), rtol=1e-14)
    assert found.n_draws == 0
    assert (found.standard_error == 0).all()


def test_a_state_that_was_never_drawn_has_an_error_all_the_same():
    step = np.array([[0.6, 0.4], [0.4, 0.6]])
    rare = np.array([[1 - 1e-9, 1e-9], [1 - 2e-9, 2e-9]])
    network = Factors((2, 2, 2, 2), ((), (0,), (1,), (1,)), (np.array([0.5, 0.5]), step, step, rare))
    found = approximate_query(network, [0, 3], {2: 1}, method="gibbs", standard_error=0.005)
    never = found.probability[:, 1]
    assert (never < 1e-6).all()
    assert (found.standard_error[:, 1] > 0).all()


@pytest.mark.parametrize("n_chains", [1, 128])
def test_chains_start_where_evidence_allows(n_chains):
    rng = np.random.default_rng(0)
    question = ask(ASIA, [LUNG], GIVEN, {}, rng)
    starts = find_starts(question, n_chains, rng)
    assert starts.shape == (len(question.free), n_chains)
    for piece in question.pieces:
        assert (piece.values[tuple(starts[question.free.index(v)] for v in piece.scope)] > 0).all()


def test_starts_are_searched_for_where_no_row_drawn_is_possible():
    # Twelve pairs of variables of many states that have to be equal: no row drawn at random has all of them equal.
    n, states = 12, 30
    flat = np.full(states, 1 / states)
    equal = np.stack([1 - np.eye(states), np.eye(states)], axis=-1)
    parents = (*[()] * (2 * n), *[(2 * v, 2 * v + 1) for v in range(n)])
    pairs = Factors((*[states] * (2 * n), *[2] * n), parents, (*[flat] * (2 * n), *[equal] * n))
    rng = np.random.default_rng(0)
    question = ask(pairs, list(range(2 * n)), dict.fromkeys(range(2 * n, 3 * n), 1), {}, rng)
    starts = find_starts(question, 16, rng)
    line = [question.free.index(v) for v in range(2 * n)]
    np.testing.assert_array_equal(starts[line[::2]], starts[line[1::2]])
    assert len(np.unique(starts, axis=1).T) == 8


def test_the_first_windows_do_not_count(monkeypatch):
    means = np.zeros((gibbs_module.WINDOWS, 1, 4))
    means[: gibbs_module.LEFT_OUT] = 1.0
    means[gibbs_module.LEFT_OUT :] = np.random.default_rng(0).random(
        (gibbs_module.WINDOWS - gibbs_module.LEFT_OUT, 1, 4)
    )
    found = gibbs_module._read(means, 1, 0.1, with_r_hat=True)
    assert found.probability[0] == pytest.approx(means[gibbs_module.LEFT_OUT :].mean(), rel=1e-12)


def test_small_networks_are_answered_without_compiling():
    code = """
import sys
import numpy as np
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.sampling.answering import approximate_query

step = np.array([[0.8, 0.2], [0.3, 0.7]])
network = Factors((2,) * 5, ((), (0,), (1,), (2,), (3,)), (np.array([0.5, 0.5]), *[step] * 4))
for method in ("gibbs", "likelihood_weighting"):
    assert approximate_query(network, [0], {4: 1}, method=method, standard_error=0.005).is_reliable
print("numba" in sys.modules)
"""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "False"
