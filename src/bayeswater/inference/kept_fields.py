"""`KeptFields`: a value that is pickled by its fields alone, without the probabilities read off its counts."""

from dataclasses import fields
from typing import Any


class KeptFields:
    """Base of frozen dataclasses with cached properties: these are worked out again in the copy."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
