"""Print the oldest version that `pyproject.toml` allows of everything that is installed, as constraints for pip.

A bound is true as long as the tests pass on it: `make test-oldest`.
"""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?>=(?P<version>[\d.]+)(?:,<[\d.]+)?(?:; .+)?")


def oldest(requirement: str) -> str:
    """Pin a requirement to its lower bound; constraints name no extras and no platforms."""
    found = REQUIREMENT.fullmatch(requirement)
    if found is None:
        raise SystemExit(f"{requirement!r} in pyproject.toml has no lower bound of the form name>=version")
    return f"{found['name']}=={found['version']}"


if __name__ == "__main__":
    asked = tomllib.loads(PYPROJECT.read_text())
    project = asked["project"]
    lists = asked["build-system"]["requires"], project["dependencies"], *project["optional-dependencies"].values()
    print(*sorted({oldest(requirement) for requirements in lists for requirement in requirements}), sep="\n")
