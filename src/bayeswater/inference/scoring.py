"""Score a table block by block: the log-joint of each block and what is made of it, on our threads.

A `Joint` holds the parameters of one model, laid out for reading, and gives log P(class, row) for a block of
rows. Nothing of the size rows x columns x classes is ever made.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from bayeswater.errors import ImpossibleEvidenceWarning, warn_user
from bayeswater.inference.log_space import best_class, fall_back, posterior
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import block_map, row_blocks
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.typing import Array

own_reasons(
    {
        "every class gives probability zero to {n} of {all} rows": "{all} 行中有 {n} 行在每个类别下概率都为零",
        "their posterior is the prior. A smoothing over 0 keeps probabilities off zero": (
            "它们的后验即先验。大于 0 的平滑可使概率不为零"
        ),
    }
)

SCORING_ROWS = 8_000
"""Rows scored at a time: the scores of a few classes stay in cache while they are normalised.

It is no power of two, or else all classes of a row would want the same few lines of the cache.
"""

SCORING_CELLS = 128_000
"""Scores at a time of a table of many classes, if it is scored in blocks at all: putting them together costs a copy."""

SHARED_FROM_TERMS = 2**23
"""Terms from which on our threads share light work: less is done before they have begun."""


class Joint(Protocol):
    """Parameters of a model, ready for scoring; one that `is_light` adds one term for each cell and class."""

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        ...

    def of(self, block: Any, use_loop: bool) -> Array:
        """Log-joints (n_rows, n_classes) of a block of rows."""
        ...


@record
class LookingJoint:
    """A joint whose rows are looked at as they are scored, and put together where they lie apart: they are read once.

    `look` gives a block of rows that is in order, and refuses any other.
    """

    joint: Joint
    look: Callable[[Any], Any]

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.joint.log_prior

    @property
    def is_light(self) -> bool:
        """Whether it adds one term for each cell and class."""
        return getattr(self.joint, "is_light", False)

    def of(self, block: Any, use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        return self.joint.of(self.look(block), use_loop)


class BlockTable(Protocol):
    """A table that can be read in blocks."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        ...

    def block(self, rows: slice) -> Any:
        """Some rows."""
        ...


Finish = Callable[[Array, bool], Array]
"""What is made of the log-joints of a block: `finish(log_joint, use_loop)`."""


JointWithout = Callable[[slice, bool], tuple[Array, Array]]
"""Log-joints of some rows, each taken out of the sums, and the prior they fall back to, without it too."""


def score(joint: Joint, table: BlockTable, finish: Finish | None = None) -> Array:
    """Log-joints of all rows, or what `finish` makes of each block of them."""
    fallback = joint.log_prior

    def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
        return joint.of(table.block(rows), use_loop), fallback

    most = min(SCORING_ROWS, -(-SCORING_CELLS // len(fallback)))
    is_little = getattr(joint, "is_light", False) and table.n_cells * len(fallback) < SHARED_FROM_TERMS
    return score_blocks(log_joint, table, finish, most, shared=not is_little)


def score_blocks(
    log_joint: JointWithout, table: BlockTable, finish: Finish | None, most: int | None = None, *, shared: bool = True
) -> Array:
    """Score the blocks of a table, of `most` rows each where there are several, `shared` by our threads or not.

    `log_joint` gives the log-joints of some rows and the prior they fall back to.
    """
    n_rows = table.shape[0]
    use_loop = worth_compiling(table.n_cells)
    n_impossible = 0
    result: Array | None = None

    def block_scores(rows: slice) -> tuple[slice, Array, int]:
        scores, fallback = log_joint(rows, use_loop)
        if finish is None:
            return rows, np.ascontiguousarray(scores), 0
        impossible = fall_back(scores, fallback)
        if finish is posterior and result is not None:
            return rows, posterior(scores, use_loop, result[rows]), impossible
        return rows, finish(scores, use_loop), impossible

    most = most or SCORING_ROWS
    if n_rows <= (most if finish is best_class else SCORING_ROWS):  # of best classes there is little to put together
        _, result, n_impossible = block_scores(slice(0, n_rows))
    else:
        blocks = block_map(block_scores, row_blocks(n_rows, most), together=use_loop and shared)
        for rows, part, count in blocks:
            if result is None:
                result = np.empty((n_rows, *part.shape[1:]), dtype=part.dtype)
            if part.base is not result:
                result[rows] = part
            n_impossible += count
        assert result is not None  # there is a row at least
    if n_impossible:
        warn_user(
            f"every class gives probability zero to {n_impossible} of {n_rows} rows; their posterior is the prior. "
            "A smoothing over 0 keeps probabilities off zero",
            ImpossibleEvidenceWarning,
        )
    return result
