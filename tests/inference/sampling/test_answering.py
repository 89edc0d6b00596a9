"""Questions answered by sampling: which way is taken, what is refused, and whether errors mean what they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.inference.exact.small_networks import chain, evidence_of, random_network, random_rows, seeds
from tests.inference.sampling.networks import ASIA, DYSP, LUNG, XRAY, copies, exact

from bayeswater.errors import ImpossibleEvidence, ParameterError, SamplingError
from bayeswater.inference.exact.elimination import forecast_query, query
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.sampling.answering import approximate_query, exact_is_affordable
from bayeswater.kernels import compiling

methods = pytest.mark.parametrize("method", ["gibbs", "likelihood_weighting", "auto"])


@methods
def test_impossible_evidence_is_refused_also_where_it_does_not_matter_to_the_target(method):
    with pytest.raises(ImpossibleEvidence, match="variable 3 in state 1, variable 5 in state 0"):
        approximate_query(ASIA, [2], {LUNG: 1, 5: 0}, method=method)


@methods
def test_evidence_that_settles_the_target_leaves_nothing_to_draw(method):
    found = approximate_query(ASIA, [5, LUNG], {1: 1, LUNG: 0}, method=method)
    assert found.probability.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert found.n_draws == 0
    assert found.verdict == "reliable"


@methods
@settings(max_examples=12)
@given(seed=seeds)
def test_answers_are_those_of_enumeration_within_their_errors(method, seed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, 7, zeros=0.2)
    evidence = evidence_of(factors, random_rows(rng, factors, 1, 0.3)[0])
    soft = {v: rng.random(factors.cards[v]) for v in range(2)}
    targets = rng.choice(7, size=2, replace=False).tolist()
    try:
        found = approximate_query(factors, targets, evidence, soft, method=method, standard_error=0.02, time_limit=1.0)
    except ImpossibleEvidence:
        return
    if found.is_reliable:
        expected = exact(factors, targets, evidence, soft)
        # Five standard errors; a few cells are asked about in each of some hundred questions.
        assert (abs(found.probability - expected) <= 5 * found.standard_error + 1e-12).all()


@pytest.fixture
def always_compiled(monkeypatch):
    """Take the loop for small questions, too: many of them are asked."""
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 0)


@pytest.mark.parametrize("method", ["gibbs", "likelihood_weighting"])
def test_two_standard_errors_hold_the_truth_in_95_of_100_seeds(method, always_compiled):
    truth = exact(ASIA, [LUNG], {XRAY: 1, DYSP: 1})[1]
    held = 0
    for seed in range(100):  # of seeds 0 to 599, Gibbs sampling held it in 0.960
        found = approximate_query(ASIA, [LUNG], {XRAY: 1, DYSP: 1}, method=method, standard_error=0.01, seed=seed)
        assert found.is_reliable
        held += abs(found.probability[1] - truth) <= 2 * found.standard_error[1]
    # 100 draws of 0.954 have a standard deviation of 0.021: three of them below.
    assert 89 <= held < 100


def test_errors_of_chains_with_a_long_memory_hold_the_truth_as_often(always_compiled):
    # Four variables that mostly agree: a chain keeps its side for many sweeps.
    network = chain(4, stay=0.9)
    soft = {3: np.array([0.7, 0.3])}
    truth = exact(network, [0], {}, soft)[1]
    held = 0
    for seed in range(40):
        found = approximate_query(network, [0], {}, soft, method="gibbs", standard_error=0.02, seed=seed)
        held += abs(found.probability[1] - truth) <= 2 * found.standard_error[1]
    # 40 draws of 0.954: three standard deviations, of 0.033, below.
    assert held >= 34


def test_chains_take_over_where_rows_would_have_to_be_too_many():
    # Ten unlikely symptoms, each of two causes: of a million rows hardly one has the right causes.
    n = 10
    cause = np.array([0.98, 0.02])
    symptom = np.array([[[0.999, 0.001], [0.3, 0.7]], [[0.3, 0.7], [0.1, 0.9]]])
    parents = (*[()] * (n + 1), *[(v, v + 1) for v in range(n)])
    network = Factors((2,) * (2 * n + 1), parents, (*[cause] * (n + 1), *[symptom] * n))
    evidence = dict.fromkeys(range(n + 1, 2 * n + 1), 1)
    found = approximate_query(network, [0], evidence, standard_error=0.01, time_limit=60.0)
    assert found.method == "gibbs"
    assert found.is_reliable
    assert abs(found.probability - query(network, [0], evidence)).max() < 4 * found.standard_error.max()


@pytest.mark.parametrize("seed", range(3))
def test_what_is_all_but_impossible_before_the_evidence_is_not_missed_without_a_word(seed, clock):
    # Three rare causes together explain an alarm that hardly anything else brings about. Chains that start without them
    # stay so, and agree on a sign of the first cause that is wrong by far.
    rare, sign = np.array([0.999, 0.001]), np.array([[0.9, 0.1], [0.1, 0.9]])
    danger = np.full((2, 2, 2, 2), [1 - 1e-10, 1e-10])
    danger[1, 1, 1] = 0.01, 0.99
    alarm = np.array([[1 - 1e-10, 1e-10], [0.01, 0.99]])
    parents = ((), (), (), (0, 1, 2), (3,), (0,))
    network = Factors((2,) * 6, parents, (rare, rare, rare, danger, alarm, sign))
    found = approximate_query(network, [5], {4: 1}, method="gibbs", standard_error=0.01, time_limit=12, seed=seed)
    assert not found.is_reliable
    assert "chains disagree" in found.verdict


def test_errors_of_weighted_rows_know_of_what_may_never_have_been_drawn():
    # A cause of one in 100 000 explains a twentieth of all alarms, but rows that have it are hardly ever drawn: all
    # others weigh the same, and their spread tells of no error.
    rare, coin = np.array([1 - 9e-6, 9e-6]), np.array([0.5, 0.5])
    alarm = np.array([[[1 - 1.7e-4, 1.7e-4], [1 - 1.8e-4, 1.8e-4]], [[0.1, 0.9], [0.0, 1.0]]])
    network = Factors((2, 2, 2), ((), (), (0, 1)), (rare, coin, alarm))
    truth = query(network, [0], {2: 1})[1]
    for seed in range(12):
        found = approximate_query(
            network, [0], {2: 1}, method="likelihood_weighting", standard_error=0.02, time_limit=60.0, seed=seed
        )
        assert found.is_reliable
        assert abs(found.probability[1] - truth) <= 4 * found.standard_error[1]


@pytest.mark.parametrize("seed", [0, 3])
def test_draws_that_never_met_a_rare_state_of_the_rest_leave_room_for_it(seed):
    # A cause of 0.9999 given six signs of it: that it is not there takes six errors at once, of which hardly a chain
    # knows; the probability given the others is 1e-12 and less in almost every draw.
    n, p, q = 6, 1e-6, 0.01
    sign, report = np.array([[1 - q, q], [q, 1 - q]]), np.array([[1 - q, q], [0.1, 0.9]])
    parents = ((), *[(0,)] * n, *[(v,) for v in range(1, n + 1)])
    network = Factors((2,) * (2 * n + 1), parents, (np.array([1 - p, p]), *[sign] * n, *[report] * n))
    evidence = dict.fromkeys(range(n + 1, 2 * n + 1), 1)
    truth = query(network, [0], evidence)[0]
    found = approximate_query(network, [0], evidence, method="gibbs", standard_error=0.005, time_limit=60.0, seed=seed)
    # A rare state that was not met in n draws may have a probability of some times 1 / n; four to five are enough.
    assert abs(found.probability[0] - truth) <= 5 * found.standard_error[0]
    assert found.standard_error[0] >= 0.99 / found.n_draws


def test_where_neither_way_can_answer_both_reasons_are_told(clock):
    # Parities of three coins each, of which an instrument tells something: zeros tie all of them, and rows drawn
    # without regard to it have weights from 0.1^200 to 0.9^200: of millions a handful carries all, so that it does not
    # matter how many are drawn in the time given. Of 40 parities, seven million rows do answer.
    n = 200
    coin = np.array([0.5, 0.5])
    sums = [(v, (v * 7 + 3) % n, (v * 11 + 5) % n) for v in range(n)]
    triple = np.eye(2)[[[[0, 1], [1, 0]], [[1, 0], [0, 1]]]]
    network = Factors((2,) * (2 * n), (*[()] * n, *sums), (*[coin] * n, *[triple] * n))
    told = {v: np.array([0.9, 0.1]) for v in range(n, 2 * n)}
    with pytest.raises(SamplingError, match=r"drawn apart.*likelihood weighting cannot answer"):
        approximate_query(network, [0], {}, told, time_limit=4)


def test_more_probabilities_than_have_errors_are_refused():
    with pytest.raises(SamplingError, match="2048 probabilities"):
        approximate_query(chain(12), list(range(11)))


@pytest.mark.parametrize(
    ("what", "value"),
    [("method", "magic"), ("standard_error", 0.0), ("time_limit", -1), ("seed", 1.5), ("standard_error", float("nan"))],
)
def test_settings_out_of_range_are_refused_by_name(what, value):
    with pytest.raises(ParameterError, match=what):
        approximate_query(copies(), [0], **{what: value})


def test_states_that_are_none_and_targets_named_twice_are_refused():
    with pytest.raises(ParameterError, match="variable 1 the state 2, but it has states 0 to 1"):
        approximate_query(copies(), [0], {1: 2})
    with pytest.raises(ParameterError, match="comes twice"):
        approximate_query(copies(), [0, 0])


def test_exact_answers_are_affordable_for_small_networks_and_not_for_large_ones():
    assert exact_is_affordable(forecast_query(ASIA, [LUNG], [XRAY]), 10.0)
    rng = np.random.default_rng(0)
    n = 150
    parents = [tuple(rng.choice(v, size=min(v, 4), replace=False).tolist()) for v in range(n)]
    dense = Factors((3,) * n, tuple(parents), tuple(rng.dirichlet(np.ones(3), size=(3,) * len(p)) for p in parents))
    assert not exact_is_affordable(forecast_query(dense, [n - 1]), 10.0)


def test_time_that_ran_out_is_told(clock):
    found = approximate_query(ASIA, [LUNG], {XRAY: 1, DYSP: 1}, method="gibbs", standard_error=1e-7, time_limit=12)
    assert not found.is_reached
    assert found.verdict == "reliable, but the error asked for was not reached in the time given"


def test_rows_of_even_weights_are_drawn_on_though_the_error_is_out_of_reach(clock):
    # Chains have a long memory here, and rows have weights of 0.4 and 0.6: no chain is worth more than as many rows.
    found = approximate_query(
        chain(8, stay=0.999), [0], {}, {7: np.array([0.4, 0.6])}, standard_error=1e-6, time_limit=5
    )
    assert found.method == "likelihood_weighting"
    assert found.is_reliable and not found.is_reached
