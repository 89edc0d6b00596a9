"""When and how a loop is compiled: not for small tables, not when switched off, and without a place for its cache."""

import gc
import json
import os
import subprocess
import sys
import textwrap
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from threading import Barrier
from time import sleep
from typing import Any

import numba
import numpy as np
import pytest

from bayeswater import kernels
from bayeswater.kernels import compiling
from bayeswater.kernels.compiling import (
    CALLS_OF_A_KIND,
    COMPILE_FROM_CELLS,
    LOAD_AFTER,
    LOAD_AGAIN_AFTER,
    Kernel,
    compiled,
    compiled_plainly,
    note_call,
    worth_compiling,
)


def run_in_fresh_interpreter(code, **environment):
    """Run `code`, which prints one JSON value as its last line, and return that value."""
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout.splitlines()[-1])


FIT_ALL_FIVE = """
    import json, sys
    import numpy as np
    from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
    from bayeswater.kernels import compiling

    compiling.COMPILE_FROM_CELLS = {cells}
    X, y = np.arange(40).reshape(20, 2) % 3, np.arange(20) % 2
    answers = []
    for kind in (BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB):
        model = kind().fit(X, y)
        answers += model.predict_log_proba(X).ravel().tolist()
        answers += model.loo_predict_log_proba(X, y).ravel().tolist()
    print(json.dumps(["numba" in sys.modules, answers]))
"""


@cache
def five_by_reference():
    return run_in_fresh_interpreter(FIT_ALL_FIVE.format(cells=COMPILE_FROM_CELLS))


def test_small_tables_never_import_numba():
    imported, _ = five_by_reference()
    assert not imported


def test_switched_off_the_loops_run_as_plain_python_with_the_same_answers():
    imported, plain = run_in_fresh_interpreter(FIT_ALL_FIVE.format(cells=0), BAYESWATER_COMPILE="0")
    _, reference = five_by_reference()
    assert not imported
    # Sums of a few floats in another order: a few roundings apart.
    np.testing.assert_allclose(plain, reference, rtol=1e-13, atol=1e-13)


def test_a_cache_directory_that_cannot_be_made_breaks_nothing(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no directory")
    total = run_in_fresh_interpreter(
        """
        import json
        import numpy as np
        from bayeswater.kernels.category_tables import count_categories

        codes, one_class = np.ones((3, 1), dtype=np.uint8), np.zeros(3, dtype=np.uint8)
        print(json.dumps(count_categories(codes, np.array([2]), one_class, None, 1, use_loop=True).tolist()))
        """,
        NUMBA_CACHE_DIR=str(in_the_way / "below"),
    )
    assert total == [[0], [3], [0]]


def test_a_loop_that_cannot_be_cached_is_compiled_all_the_same(monkeypatch):
    calls = []

    def njit(**options):
        calls.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda loop: loop

    monkeypatch.setattr(numba, "njit", njit)
    monkeypatch.setenv("BAYESWATER_COMPILE", "1")
    assert Kernel(lambda x: x + 1)(2) == 3
    assert [options.get("cache", False) for options in calls] == [True, False]
    assert all(options["nogil"] for options in calls)


def test_a_loop_is_compiled_at_its_first_call_and_only_then(monkeypatch):
    compilations = []

    def compile_once(loop):
        compilations.append(loop)
        return loop

    monkeypatch.setattr(compiling, "_compile", compile_once)
    monkeypatch.setenv("BAYESWATER_COMPILE", "1")
    kernel = compiled(abs)
    assert compilations == []
    assert [kernel(-1), kernel(-2)] == [1, 2]
    assert compilations == [abs]


def test_threads_that_come_together_compile_a_loop_once(monkeypatch):
    compilations = []

    def compile_slowly(loop):
        sleep(0.05)
        compilations.append(loop)
        return loop

    monkeypatch.setattr(compiling, "_compile", compile_slowly)
    monkeypatch.setenv("BAYESWATER_COMPILE", "1")
    kernel, start = compiled(abs), Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda x: (start.wait(), kernel(x))[1], [-1, -2, -3, -4])) == [1, 2, 3, 4]
    assert compilations == [abs]


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_is_not_collected_while_a_loop_is_compiled_and_then_as_before(was_on, monkeypatch):
    while_compiling = []
    monkeypatch.setattr(compiling, "_compile", lambda loop: (while_compiling.append(gc.isenabled()), loop)[1])
    monkeypatch.setenv("BAYESWATER_COMPILE", "1")
    kernel = compiled(abs)
    is_on = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        assert kernel(-1) == 1
        assert gc.isenabled() == was_on
        with pytest.raises(TypeError):
            compiled(abs)("no number")
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if is_on else gc.disable)()
    assert while_compiling == [False, False]


def test_a_plain_loop_gives_what_it_gives_compiled_as_any_other(monkeypatch):
    def collatz(start, longest):
        for i in range(start.shape[0]):
            n = start[i]
            steps = 0
            while n != 1:
                if n % 2 == 0:
                    n //= 2
                else:
                    n = 3 * n + 1
                steps += 1
            longest[i] = steps + 0.5 if n > 0 else np.inf

    monkeypatch.setenv("BAYESWATER_COMPILE", "1")
    start, found = np.arange(1, 30), np.zeros((3, 29))
    collatz(start, found[0])
    compiled(collatz)(start, found[1])
    compiled_plainly(collatz)(start, found[2])
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


def test_a_plain_loop_is_compiled_as_any_other_where_numba_has_other_passes(monkeypatch):
    monkeypatch.setenv("BAYESWATER_COMPILE", "1")
    monkeypatch.setitem(sys.modules, "bayeswater.kernels.plain_loops", None)
    monkeypatch.setattr(compiling, "_compile", lambda loop: loop)  # it is given no passes
    assert compiled_plainly(lambda x: x + 1)(1) == 2


def test_a_kernel_is_known_by_the_name_and_words_of_its_loop():
    @compiled
    def twice(x):
        """Double a number."""
        return 2 * x

    assert (twice.__name__, twice.__doc__) == ("twice", "Double a number.")


def test_switched_off_a_kernel_calls_its_own_python(monkeypatch):
    monkeypatch.setenv("BAYESWATER_COMPILE", "0")
    monkeypatch.setattr(compiling, "_compile", lambda loop: pytest.fail("compiled all the same"))
    assert compiled(lambda x: x + 1)(1) == 2


def test_the_choice_depends_on_the_number_of_cells_alone():
    assert not worth_compiling(COMPILE_FROM_CELLS - 1)
    assert worth_compiling(COMPILE_FROM_CELLS)


@pytest.fixture
def doubling(monkeypatch):
    """A loop whose reference would give the same bits, in a process that has done nothing yet."""
    monkeypatch.setenv("BAYESWATER_COMPILE", "1")
    monkeypatch.setattr(Kernel, "cells_answered", 0)

    @compiled
    def double(values):
        for i in range(len(values)):
            values[i] *= 2

    return double


def test_a_loop_that_is_compiled_serves_small_inputs_of_the_same_kind(doubling, monkeypatch):
    monkeypatch.setenv("BAYESWATER_COMPILE", "now")
    values = np.ones(1000)
    assert not doubling.serves(1000, values, use_loop=False)
    assert doubling.serves(1000, values, use_loop=True)
    doubling(values)
    assert doubling.serves(1000, np.ones(500), use_loop=False)
    assert not doubling.serves(1000, values.astype(np.float32), use_loop=False)
    assert not doubling.serves(1000, values[::2], use_loop=False)


def test_a_loop_serves_a_single_cell_but_none_where_references_are_asked_for(doubling, monkeypatch):
    monkeypatch.setenv("BAYESWATER_COMPILE", "now")
    doubling.serves(1000, np.ones(1000), use_loop=True)
    assert doubling.serves(1, np.ones(1), use_loop=False)
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 10**18)
    assert not doubling.serves(10**9, np.ones(1), use_loop=False)


def test_a_single_row_which_also_lies_column_by_column_is_served_by_the_loop_of_rows(doubling, monkeypatch):
    monkeypatch.setenv("BAYESWATER_COMPILE", "now")
    doubling.serves(1000, np.ones((40, 25)), use_loop=True)
    assert doubling.serves(25, np.ones((1, 25)), use_loop=False)
    assert not doubling.serves(1000, np.ones((40, 25), order="F"), use_loop=False)


@pytest.mark.parametrize("use_loop", [True, False])
def test_where_numpy_has_answered_for_many_cells_the_loop_is_loaded_beside(doubling, use_loop):
    """A large input waits a moment for it, which may be enough."""
    values, n_cells = np.ones(3), LOAD_AFTER // 4
    before, n_answered = set(threading.enumerate()), 0
    while not doubling.serves(n_cells, values, use_loop=use_loop):
        n_answered += 1
        for loading in set(threading.enumerate()) - before:  # it may have ended already
            loading.join()
    assert n_answered in (3, 4)  # it may be there before the call ends that asks for it
    assert values.tolist() == [1.0, 1.0, 1.0]  # compiled, and not called
    assert doubling.serves(1000, values, use_loop=False)


def answers_of_numpy(kernel, n_cells, most_calls=50_000):
    """Ask for a loop in one call after the other until it is there, and count the calls before."""
    before = set(threading.enumerate())
    for n_calls in range(most_calls):
        note_call()
        if kernel.serves(n_cells, np.ones(1), use_loop=False):
            return n_calls
        for loading in set(threading.enumerate()) - before:
            loading.join()
    return most_calls


def test_what_models_are_asked_for_again_waits_for_its_loop(doubling):
    n_calls = answers_of_numpy(doubling, LOAD_AGAIN_AFTER)
    assert n_calls in (CALLS_OF_A_KIND - 1, CALLS_OF_A_KIND)  # a busy machine may load it for longer than a call waits


def test_the_blocks_of_one_call_are_no_calls_of_their_own(doubling):
    note_call()
    assert not any(doubling.serves(LOAD_AGAIN_AFTER, np.ones(1), use_loop=True) for _ in range(100))


def test_few_cells_that_are_asked_for_often_have_a_loop_loaded_and_never_wait(doubling, monkeypatch):
    waited, join = [], threading.Thread.join
    monkeypatch.setattr(threading.Thread, "join", lambda thread, *given: (waited.append(given), join(thread, *given)))
    n_calls, most_calls = answers_of_numpy(doubling, 1), LOAD_AGAIN_AFTER // compiling.CELLS_OF_A_CALL
    assert most_calls // 2 < n_calls <= most_calls
    assert set(waited) <= {(0.0,), ()}  # the second is this test's


def test_a_process_that_does_little_and_ends_loads_no_loop_for_what_comes_again(doubling, monkeypatch):
    monkeypatch.setenv("BAYESWATER_COMPILE", "late")
    assert answers_of_numpy(doubling, LOAD_AGAIN_AFTER, most_calls=50) == 50
    Kernel.cells_answered = LOAD_AFTER
    assert answers_of_numpy(doubling, LOAD_AGAIN_AFTER) in (0, 1)  # it may be there before the first call ends


@pytest.mark.parametrize("kind", ["GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB"])
def test_three_calls_make_a_process_warm(kind):
    """From then on loops answer, for tables of ordinary size."""
    assert run_in_fresh_interpreter(
        f"""
        import json
        import numpy as np
        from bayeswater import {kind} as Model
        from bayeswater.kernels.compiling import Kernel

        X, y = np.arange(100_000).reshape(5_000, 20) % 7 % 3, np.arange(5_000) % 3
        for _ in range(3):
            model = Model().fit(X, y)
        for _ in range(3):
            model.predict_proba(X)
        before = Kernel.cells_answered
        Model().fit(X, y).predict_proba(X)
        print(json.dumps(Kernel.cells_answered == before))
        """,
        BAYESWATER_COMPILE="1",
    )


def test_the_first_call_on_a_large_table_neither_waits_for_a_loop_nor_imports_numba():
    assert not run_in_fresh_interpreter(
        """
        import json, sys
        import numpy as np
        from bayeswater import CategoricalNB, GaussianNB

        X, y = np.arange(1_000_000).reshape(20_000, 50) % 7, np.arange(20_000) % 3
        for kind in (CategoricalNB, GaussianNB):
            kind().fit(X, y).predict_proba(X)
        print(json.dumps("numba" in sys.modules))
        """,
        BAYESWATER_COMPILE="1",
    )


@pytest.mark.usefixtures("doubling")
def test_while_a_loop_is_compiled_beside_no_warning_is_caught(monkeypatch):
    """To catch warnings on one thread is to catch them on all."""
    of_no_file: dict[str, Any] = {}  # such a loop has no cache: it is compiled
    exec("def double(values):\n    for i in range(len(values)):\n        values[i] *= 2", of_no_file)
    doubling = compiled(of_no_file["double"])
    catching, catch = [], warnings.catch_warnings

    def noted(**given):
        catching.append(threading.current_thread().name)
        return catch(**given)

    monkeypatch.setattr(warnings, "catch_warnings", noted)
    Kernel.cells_answered = LOAD_AFTER
    before = set(threading.enumerate())
    assert not doubling.serves(1000, np.ones(3), use_loop=False)
    for loading in set(threading.enumerate()) - before:
        loading.join()
    assert doubling.serves(1000, np.ones(3), use_loop=False)
    assert compiling.LOADING not in catching
    doubling(np.ones(3, dtype=np.float32))  # on this thread numba catches them as ever
    assert catching


def test_a_loop_is_loaded_for_arguments_as_they_were_when_it_was_asked_for(doubling):
    """What a loop writes to is a statistic soon after, and frozen."""
    values = np.ones(3)
    Kernel.cells_answered = LOAD_AFTER
    before = set(threading.enumerate())
    with compiling._compiling:  # the thread has to wait
        assert not doubling.serves(1000, values, use_loop=False)
        loading = set(threading.enumerate()) - before
        values.flags.writeable = False
    for thread in loading:
        thread.join()
    assert doubling.serves(1000, np.ones(3), use_loop=False)


def test_switched_off_no_loop_serves_small_inputs(doubling, monkeypatch):
    monkeypatch.setenv("BAYESWATER_COMPILE", "0")
    assert doubling.serves(COMPILE_FROM_CELLS, np.ones(3), use_loop=True)
    assert not doubling.serves(10**9, np.ones(3), use_loop=False)
    assert Kernel.cells_answered == 0


def test_a_process_that_forks_while_loops_are_loaded_can_compile_in_its_child():
    assert run_in_fresh_interpreter(
        """
        import json, os
        os.environ["BAYESWATER_COMPILE"] = "1"
        import numpy as np
        from bayeswater.kernels import compiling
        from bayeswater.kernels.category_tables import count_categories

        codes, one_class = np.ones((300, 1), dtype=np.uint8), np.zeros(300, dtype=np.uint8)
        count = lambda use_loop: count_categories(codes, np.array([2]), one_class, None, 1, use_loop=use_loop)
        compiling.Kernel.cells_answered = compiling.LOAD_AFTER
        count(False)  # loading begins
        child = os.fork()
        if not child:
            os.environ["BAYESWATER_COMPILE"] = "now"
            os._exit(0 if count(True).tolist() == [[0], [300], [0]] else 1)
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0))
        """
    )


def test_no_plain_loop_makes_arrays_for_which_numba_keeps_no_counts_there():
    for kernel in (one for module in _kernel_modules() for one in vars(module).values() if isinstance(one, Kernel)):
        called = {name for name in kernel.loop.__code__.co_names if kernel._options.get("_nrt") is False}
        assert not called & {"zeros", "empty", "ones", "full", "copy", "astype", "arange"}, kernel.__name__


def _kernel_modules():
    return [import_module(one.name) for one in walk_packages(kernels.__path__, "bayeswater.kernels.")]
