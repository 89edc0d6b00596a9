"""Probabilities of rows that are known in full, and rows drawn from a network."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayeswater.inference.drawing import generator_of
from bayeswater.inference.network_joint import JOINT_ROWS, log_probability, sample_codes
from bayeswater.models.network.rows import encode_rows, require_complete, rows_as_frame
from bayeswater.networks.network import Network
from bayeswater.typing import Array

BATCH_CELLS = 2**21
"""Cells of a table of `sample_batches`."""


class Probabilities(ABC):
    """What a joint distribution gives without a sum."""

    @property
    @abstractmethod
    def core(self) -> Network:
        """Variables, graph and tables."""

    def log_probability(self, X: Any, *, unseen: str = "error") -> Array:
        """Logarithm of the probability of every row, none of whose cells is missing: (n_rows,); -inf if impossible."""
        codes = encode_rows(X, self.core.variables, unseen)
        require_complete(codes, self.core.variables)
        return log_probability(self.core, codes)

    def sample(self, n: int = 1, *, random_state: Any = None) -> Any:
        """Draw rows: a pyarrow Table of labels, or of codes where the states are 0, 1, ..."""
        streams = _streams(n, random_state)
        return rows_as_frame(sample_codes(self.core, int(n), streams), self.core.variables)

    def sample_batches(self, n: int = 1, *, random_state: Any = None) -> Iterator[Any]:
        """Draw the rows of `sample`, a table of some thousand at a time, for more of them than memory holds."""
        streams, core = _streams(n, random_state), self.core
        most = JOINT_ROWS * max(1, BATCH_CELLS // (JOINT_ROWS * max(1, len(core))))
        sizes = (min(most, n - start) for start in range(0, n, most))
        return (rows_as_frame(sample_codes(core, size, streams), core.variables) for size in sizes)


def _streams(n: Any, random_state: Any) -> np.random.SeedSequence:
    """Give the seeds of all rows, once what is asked for is checked."""
    return np.random.SeedSequence(int(generator_of(n, random_state).integers(2**63)))
