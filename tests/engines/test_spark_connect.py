"""Spark Connect: the same engine, without the driver in this process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayeswater


def test_a_connect_session_gives_the_same_sums_answers_and_errors() -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    pytest.importorskip("grpc", reason="Spark Connect is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not there")
    here, source = Path(__file__).parent, Path(bayeswater.__file__).parents[1]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(source)}  # its workers have another folder
    program = [sys.executable, str(here / "connect_session.py"), str(here)]
    run = subprocess.run(program, env=env, capture_output=True, text=True, timeout=1800)
    assert run.stdout.strip().endswith("ok"), run.stderr[-3000:]
