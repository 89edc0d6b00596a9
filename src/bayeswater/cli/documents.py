"""JSON for machines on standard output."""

import json
import math
from typing import Any

from bayeswater.cli.standard_output import StandardOutput


def print_document(document: dict[str, Any], *, on_one_line: bool = False) -> None:
    """Print a document in UTF-8; JSON knows no infinity and no NaN, so these become null."""
    text = json.dumps(finite(document), ensure_ascii=False, indent=None if on_one_line else 2, default=str)
    output = StandardOutput()
    output.write(text.encode() + b"\n")
    output.flush()


def finite(value: Any) -> Any:
    """Replace numbers that JSON has no word for.

    >>> finite({"log_loss": float("inf"), "counts": [1, 2.5]})
    {'log_loss': None, 'counts': [1, 2.5]}
    """
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
