"""Rows of a network that have lost some of their cells."""

from typing import Any

import numpy as np
from tests.networks.nets import joint_by_enumeration


def rows_of(network: Any, n_rows: int, share: float, rng: np.random.Generator) -> Any:
    """Draw rows, and lose a share of their cells: (n_variables, n_rows)."""
    joint = joint_by_enumeration(network)
    cells = rng.choice(joint.size, n_rows, p=joint.ravel() / joint.sum())
    codes = np.array(np.unravel_index(cells, joint.shape))
    return np.where(rng.random(codes.shape) < share, np.array(network.cards)[:, None], codes)
