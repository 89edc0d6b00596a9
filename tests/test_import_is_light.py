"""`import bayeswater` costs next to nothing; what is heavy comes when it is first needed.

What is measured runs in a fresh interpreter, since this one has imported everything already.
"""

import json
import subprocess
import sys
import textwrap
from importlib import import_module

import pytest

import bayeswater

HEAVY = ["numba", "pandas", "polars", "pyarrow", "sklearn", "scipy", "matplotlib"]
REPEATS = 3
SLACK = 0.02  # seconds of computing: caches of a busy machine


def run_in_fresh_interpreter(code: str) -> object:
    """Run `code`, which prints one JSON value as its last line, and return that value."""
    child = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout.splitlines()[-1])


def seconds_to_import(module: str) -> float:
    return run_in_fresh_interpreter(f"""
        import time
        start = time.process_time()
        import {module}
        print(time.process_time() - start)
    """)


def test_importing_bayeswater_costs_no_more_than_importing_numpy():
    # Taken in turns, so that a busy moment of the machine strikes both; the least of several is the cost.
    pairs = [(seconds_to_import("bayeswater"), seconds_to_import("numpy")) for _ in range(REPEATS)]
    ours, numpys = (min(times) for times in zip(*pairs, strict=True))
    assert ours <= numpys + SLACK


def test_importing_bayeswater_loads_no_heavy_library():
    assert (
        run_in_fresh_interpreter(f"""
        import bayeswater, json, sys
        print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
    """)
        == []
    )


def test_importing_a_classifier_never_asks_for_numba_or_a_frame_library():
    # scikit-learn itself imports pandas where it is installed, so sys.modules cannot tell who asked.
    # Here nobody gets these libraries, and everyone who asks is written down.
    askers = run_in_fresh_interpreter("""
        import json, sys

        REFUSED = {"numba", "pandas", "polars"}
        askers = []

        class Refuse:
            def find_spec(self, name, path=None, target=None):
                if name not in REFUSED:
                    return None
                frame = sys._getframe(1)
                while "importlib" in frame.f_globals["__name__"]:
                    frame = frame.f_back
                askers.append([frame.f_globals["__name__"], name])
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Refuse())
        from bayeswater import GaussianNB
        print(json.dumps(askers))
    """)
    assert [asker for asker in askers if asker[0].split(".")[0] == "bayeswater"] == []


def test_a_file_of_one_model_brings_in_no_other_and_no_part_of_scikit_learn_but_its_base(tmp_path):
    path = tmp_path / "level.bayes"
    bayeswater.save(bayeswater.NaiveBayes().fit([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"]), path)
    brought = run_in_fresh_interpreter(f"""
        import json, sys
        from bayeswater.models.persistence import load
        load({str(path)!r})
        print(json.dumps(sorted(sys.modules)))
    """)
    others = ("models.network", "models.semi_naive", "models.ensemble", "models.gaussian_classifier", "structure")
    unneeded = (*(f"bayeswater.{other}" for other in others), "sklearn.model_selection", "sklearn.metrics")
    assert [name for name in brought if name.startswith(unneeded)] == []


@pytest.mark.parametrize("package", ["bayeswater", "bayeswater.decision", "bayeswater.plots"])
def test_a_star_brings_every_public_name_of_a_package(package):
    brought: dict[str, object] = {}
    exec(f"from {package} import *", brought)
    names = set(import_module(package)._HOME)
    assert names and names <= set(brought)
