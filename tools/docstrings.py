"""Hold the docstring of every public class, function, method and property against numpydoc's validation (`make lint`).

Checks that hold for no name are left out here, with the reason; no name is left out.
"""

import sys
from collections.abc import Iterator
from functools import cached_property
from inspect import isclass
from typing import Any

from numpydoc.validate import validate

import bayeswater
import bayeswater.plots

LEFT_OUT = {"ES01"}
"""A summary that says it all needs no second, longer one."""

OF_CALLS = {"EX01", "SA01"}
"""Examples and neighbours are asked of what is called: not of properties, nor of errors and warnings, which are met."""


def public(packages: tuple[Any, ...] = (bayeswater, bayeswater.plots)) -> Iterator[tuple[str, Any]]:
    """Give every public name with what it stands for; what classes inherit comes once, what scikit-learn adds never."""
    seen = set()
    for package in packages:
        for name in package.__all__:
            value = getattr(package, name)
            yield f"{package.__name__}.{name}", value
            for member in dir(value) if isclass(value) else ():
                owner = next(kind for kind in value.__mro__ if member in vars(kind))
                found = vars(owner)[member]
                is_ours = owner.__module__.startswith("bayeswater") and not member.endswith("_request")
                if member[0] != "_" and is_ours and id(found) not in seen and (_is_call(found) or _is_property(found)):
                    seen.add(id(found))
                    yield f"{package.__name__}.{name}.{member}", found


def _is_call(found: Any) -> bool:
    return callable(found) or isinstance(found, classmethod | staticmethod)


def _is_property(found: Any) -> bool:
    return isinstance(found, property | cached_property)


def main() -> int:
    """Print what is missing, by file and line; give 1 if anything is."""
    n_missing = 0
    for name, found in public():
        is_met = _is_property(found) or (isclass(found) and issubclass(found, Exception))
        checked = validate(name)
        for code, message in checked["errors"]:
            if code not in LEFT_OUT and not (is_met and code in OF_CALLS):
                print(f"{checked['file']}:{checked['file_line']}: {name}: {code} {message}")
                n_missing += 1
    return int(n_missing > 0)


if __name__ == "__main__":
    sys.exit(main())
