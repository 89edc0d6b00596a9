"""Names for the array types used throughout."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
