"""Measurements that need a process in which nothing has happened yet."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parent.parent

Result = TypeVar("Result")


def in_fresh_process(module: str, *arguments: str, env: Mapping[str, str] | None = None) -> Any:
    """Run a module of ours in a new process, and read what it prints as JSON."""
    command = [sys.executable, "-m", module, *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout)


def in_process_of_its_own(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in a process that has imported what the benchmarks import, and done nothing else."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["__main__", "benchmarks.sizes"])
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        return pool.submit(function, *arguments).result()
