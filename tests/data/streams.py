"""A table in the least form that can be read."""

from typing import Any


class OnlyAStream:
    """A table of which nothing is known but that it speaks Arrow."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)
