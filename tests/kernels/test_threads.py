"""Our own threads: how many, in which order results come, and that no answer depends on them.

BLAS is held to one thread while our own threads work, and let go afterwards.
"""

import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, ParameterError, threads
from bayeswater.kernels import threads as threads_module
from bayeswater.kernels.threads import WORTH_HOLDING, Crew, one_blas_thread, ordered_map, row_blocks, thread_count

MODELS = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]


# ---------------------------------------------------------------------- how many


def test_the_innermost_context_holds_and_the_outer_one_returns():
    with threads(3):
        assert thread_count() == 3
        with threads(1):
            assert thread_count() == 1
        assert thread_count() == 3


def test_a_context_ends_with_an_error_too():
    before = thread_count()
    with pytest.raises(KeyError), threads(before + 5):
        raise KeyError
    assert thread_count() == before


def test_the_environment_variable_holds_outside_of_a_context(monkeypatch):
    monkeypatch.setenv("BAYESWATER_THREADS", "7")
    assert thread_count() == 7
    with threads(2):
        assert thread_count() == 2


@pytest.mark.parametrize("setting", [None, ""])
def test_without_a_setting_every_core_of_the_process_is_used(setting, monkeypatch):
    monkeypatch.delenv("BAYESWATER_THREADS", raising=False)
    if setting is not None:
        monkeypatch.setenv("BAYESWATER_THREADS", setting)
    assert thread_count() >= 1


def test_where_the_system_does_not_tell_the_cores_of_a_process_all_are_used(monkeypatch):
    monkeypatch.delenv("BAYESWATER_THREADS", raising=False)
    monkeypatch.delattr(threads_module.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(threads_module.os, "cpu_count", lambda: 5)
    assert thread_count() == 5
    monkeypatch.setattr(threads_module.os, "cpu_count", lambda: None)
    assert thread_count() == 1


@pytest.mark.parametrize("n", [0, -1, 1.5, None, "two", float("nan"), float("inf"), [2]])
def test_a_number_of_threads_that_is_none_is_refused(n):
    before = thread_count()
    with (
        pytest.raises(ParameterError, match=r"threads\(n\) is .*; give a whole number of threads, 1 or more"),
        threads(n),
    ):
        pass
    assert thread_count() == before


@pytest.mark.parametrize("setting", ["0", "many", "-2", "1.5"])
def test_a_bad_environment_variable_is_refused_by_name(setting, monkeypatch):
    monkeypatch.setenv("BAYESWATER_THREADS", setting)
    with pytest.raises(ParameterError, match=rf"environment variable BAYESWATER_THREADS is '{setting}'"):
        thread_count()


def test_a_context_of_one_python_thread_does_not_reach_another():
    with threads(thread_count() + 3), ThreadPoolExecutor(1) as pool:
        assert pool.submit(thread_count).result() != thread_count()


# ---------------------------------------------------------------------- in which order


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(n_threads):
    def slow_for_the_first(i):
        time.sleep(0.002 * (i % 3 == 0))
        return i * i

    with threads(n_threads):
        assert list(ordered_map(slow_for_the_first, range(23))) == [i * i for i in range(23)]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_no_items_give_no_results(n_threads):
    with threads(n_threads):
        assert list(ordered_map(str, [])) == []


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_error_of_an_item_reaches_the_caller_after_the_results_before_it(n_threads):
    def refuse_seven(i):
        if i == 7:
            raise ValueError("seven")
        return i

    seen = []
    with threads(n_threads), pytest.raises(ValueError, match="seven"):
        for result in ordered_map(refuse_seven, range(20)):
            seen.append(result)
    assert seen == list(range(7))


def test_no_more_than_two_items_a_thread_are_under_way():
    started, taken = [], []

    def note(i):
        started.append(i)
        return i

    with threads(2):
        for result in ordered_map(note, range(30)):
            taken.append(result)
            time.sleep(0.001)
            assert len(started) - len(taken) <= 2 * 2


def test_work_is_done_on_several_threads():
    barrier = threading.Barrier(2, timeout=60)
    with threads(2):
        assert len(list(ordered_map(lambda _: barrier.wait(), range(2)))) == 2


@pytest.mark.parametrize(("n_rows", "rows"), [(0, 4), (1, 4), (4, 4), (9, 4)])
def test_blocks_cover_every_row_once(n_rows, rows):
    covered = [i for block in row_blocks(n_rows, rows) for i in range(block.start, block.stop)]
    assert covered == list(range(n_rows))


# ---------------------------------------------------------------------- answers


def counts(n_rows=3_000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 5, size=(n_rows, 6)), rng.integers(0, 3, size=n_rows)


@pytest.fixture
def many_blocks(monkeypatch):
    """Cut small tables into many blocks, for counting as for scoring."""
    from bayeswater.inference import scoring

    monkeypatch.setattr(threads_module.row_blocks, "__defaults__", (100,))
    monkeypatch.setattr(scoring, "SCORING_ROWS", 100)


@pytest.mark.parametrize("kind", MODELS)
def test_one_thread_and_seven_give_the_same_bits(kind, many_blocks):
    X, y = counts()
    weight = np.random.default_rng(1).random(len(y))
    answers = []
    for n in (1, 2, 7):
        with threads(n):
            model = kind().fit(X, y, weight)
            answers.append((model.statistics_, model.predict_log_proba(X), model.loo_predict_log_proba(X, y, weight)))
    for statistics, log_proba, left_out in answers[1:]:
        assert statistics == answers[0][0]
        assert np.array_equal(log_proba, answers[0][1])
        assert np.array_equal(left_out, answers[0][2])


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB])
def test_sparse_sums_have_the_same_bits_for_any_number_of_threads(kind, many_blocks, monkeypatch):
    from bayeswater.kernels import compiling

    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 0)
    X, y = counts()
    X = sparse.csr_array(X * np.random.default_rng(1).random(X.shape))
    sums = []
    for n in (1, 2, 7):
        with threads(n):
            sums.append(kind().fit(X, y).statistics_)
    assert sums[0] == sums[1] == sums[2]


@pytest.mark.parametrize("kind", MODELS)
def test_eight_python_threads_may_ask_one_model_at_once(kind, many_blocks):
    X, y = counts()
    alone = kind().fit(X, y).predict_log_proba(X)
    model = kind().fit(X, y)  # its parameters are not read yet: all eight find them missing
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: model.predict_log_proba(X), range(16)))
    assert all(np.array_equal(answer, alone) for answer in answers)


@pytest.mark.parametrize("kind", MODELS)
def test_two_python_threads_may_fit_and_predict_at_once(kind, many_blocks):
    tables = [counts(seed=seed) for seed in (0, 1)]

    def fit_and_predict(table):
        X, y = table
        return kind().fit(X, y).predict_proba(X)

    alone = [fit_and_predict(table) for table in tables]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(fit_and_predict, tables * 4))
    assert all(np.array_equal(answer, alone[i % 2]) for i, answer in enumerate(together))


# ---------------------------------------------------------------------- a crew that stays


def test_a_crew_gives_results_in_the_order_of_the_items_call_after_call():
    crew = Crew()
    with threads(3):
        for n in (0, 1, 2, 50):
            assert crew.map(lambda item: item * item, range(n)) == [item * item for item in range(n)]


def test_a_crew_works_on_as_many_threads_as_it_may_the_calling_one_among_them():
    crew, meeting, names = Crew(), threading.Barrier(3, timeout=60), set()

    def meet(item):
        meeting.wait()
        names.add(threading.current_thread().name)

    with threads(3):
        crew.map(meet, range(3))
    assert len(names) == 3 and threading.current_thread().name in names


@pytest.mark.parametrize("culprit", range(4))
def test_an_error_in_a_crew_is_raised_and_the_crew_stays_of_use(culprit):
    crew = Crew()

    def work(item):
        if item == culprit:
            raise KeyError(item)
        return item

    with threads(2):
        with pytest.raises(KeyError):
            crew.map(work, range(4))
        assert crew.map(abs, [-1, -2, -3]) == [1, 2, 3]


def test_after_an_error_a_crew_begins_no_other_item():
    begun = []

    def work(item):
        begun.append(item)
        time.sleep(0.01)
        raise KeyError(item)

    with threads(2), pytest.raises(KeyError):
        Crew().map(work, range(50))
    assert len(begun) <= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_crew_goes_on_in_a_fork():
    crew = Crew()
    with threads(2):
        crew.map(abs, range(4))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads: that is what is tried
            child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if crew.map(abs, [-1, -2, -3]) == [1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0


def blas_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS was built for one thread")
        yield


def test_one_thread_within_and_as_many_as_before_after():
    with one_blas_thread(WORTH_HOLDING):
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_little_work_changes_nothing():
    with one_blas_thread(WORTH_HOLDING - 1):
        assert blas_threads() == {2}


def test_it_is_let_go_by_whoever_leaves_last_also_after_an_error():
    with pytest.raises(RuntimeError), one_blas_thread(WORTH_HOLDING):
        with one_blas_thread(WORTH_HOLDING):
            pass
        assert blas_threads() == {1}
        raise RuntimeError
    assert blas_threads() == {2}


def test_threads_that_overlap_hold_it_until_the_last_one_leaves_and_leave_it_as_it_was():
    both_inside, one_left = Barrier(2), Event()

    def hold(stays: bool) -> set[int]:
        with one_blas_thread(WORTH_HOLDING):
            both_inside.wait()
            if stays:
                one_left.wait()
            within = blas_threads()
        one_left.set()
        return within

    with one_blas_thread(WORTH_HOLDING):  # the first hold of the process is this thread's
        pass
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(hold, [True, False])] == [{1}, {1}]
    assert blas_threads() == {2}
