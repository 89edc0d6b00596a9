"""Reading beside working: results in order, errors in their turn, nothing left running."""

import threading
import time

import pytest

from bayeswater.data.sources.prefetch import worked_beside
from bayeswater.kernels.threads import thread_count, threads


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_workers", [1, 3])
def test_results_come_in_the_order_of_the_items(n_threads, n_workers):
    def late(n: int) -> int:
        time.sleep(0.002 * (n % 3))
        return n * n

    with threads(n_threads):
        assert list(worked_beside(late, range(20), n_workers)) == [(n, n * n) for n in range(20)]


def test_the_next_item_is_read_while_one_is_worked_on():
    both = threading.Barrier(2, timeout=60)  # broken unless reading and working meet

    def items():
        yield 0
        both.wait()
        yield 1

    def work(n: int) -> int:
        if n == 0:
            both.wait()
        return n

    with threads(2):
        assert [result for _, result in worked_beside(work, items())] == [0, 1]


def test_items_are_read_in_the_thread_that_asks():
    def items():
        for _ in range(3):
            yield threading.get_ident()

    with threads(4):
        assert {item for item, _ in worked_beside(str, items(), 3)} == {threading.get_ident()}


def test_no_more_items_are_held_than_promised():
    held = 0
    most = 0

    def items():
        nonlocal held, most
        for n in range(30):
            held += 1
            most = max(most, held)
            yield n

    with threads(4):
        for _ in worked_beside(lambda n: n, items(), 3):
            held -= 1
    assert most == 4


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_reading_is_raised_after_the_results_before_it(n_threads):
    def items():
        yield 1
        yield 2
        raise ValueError("cut off")

    found = []
    with threads(n_threads), pytest.raises(ValueError, match="cut off"):
        for _, result in worked_beside(lambda n: n, items(), 2):
            found.append(result)
    assert found == [1, 2]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_working_stops_reading_and_leaves_no_thread(n_threads):
    read = []

    def items():
        for n in range(1000):
            read.append(n)
            yield n

    def work(n: int) -> int:
        if n == 3:
            raise KeyError(n)
        return n

    with threads(n_threads), pytest.raises(KeyError):
        list(worked_beside(work, items(), 2))
    assert len(read) < 10
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bayeswater")]


def test_an_interrupt_while_reading_leaves_no_thread():
    def items():
        yield 1
        yield 2
        raise KeyboardInterrupt

    with threads(2), pytest.raises(KeyboardInterrupt):
        list(worked_beside(lambda n: n, items()))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bayeswater")]


def test_who_stops_early_waits_for_the_work_that_is_under_way():
    finished = []

    def work(n: int) -> int:
        time.sleep(0.05)
        finished.append(n)
        return n

    with threads(2):
        results = worked_beside(work, range(100), 1)
        next(results)
        results.close()
    n_finished = len(finished)
    assert n_finished <= 3
    time.sleep(0.12)
    assert len(finished) == n_finished


def test_the_number_of_threads_is_that_of_the_caller():
    with threads(3):
        assert [n for _, n in worked_beside(lambda _: thread_count(), range(2))] == [3, 3]
