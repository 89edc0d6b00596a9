"""What the view of a network asks."""

from collections.abc import Callable, Mapping
from typing import Any

ANSWERS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {}
