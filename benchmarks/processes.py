"""Measurements that need a process in which nothing has happened yet."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def in_fresh_process(module: str, *arguments: str, env: Mapping[str, str] | None = None) -> Any:
    """Run a module of ours in a new process, and read what it prints as JSON."""
    command = [sys.executable, "-m", module, *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout)
