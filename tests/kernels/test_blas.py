"""BLAS is held to one thread while our own threads work, and let go afterwards."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bayeswater.kernels.blas import WORTH_HOLDING, one_blas_thread


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


def test_two_threads_that_overlap_leave_the_setting_as_it_was():
    inside = Barrier(2)

    def hold() -> None:
        with one_blas_thread(WORTH_HOLDING):
            inside.wait()

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(hold) for _ in range(2)]:
            future.result()
    assert blas_threads() == {2}
