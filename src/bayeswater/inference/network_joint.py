"""Rows of a network whose every cell is known: their probability, and rows drawn from it.

    log P(row) = sum over the variables of log P(state | states of the parents)

A row is drawn from the roots downward: each variable from its distribution given the parents that were drawn before it.

Where the class is a variable like any other (`ClassJoint`), each class is put beside the row as if it had been
observed, and log P(evidence) is what is asked for: missing cells are summed over, and no logarithm is taken of a
probability that has underflowed.
"""

from functools import cached_property

import numpy as np

from bayeswater.data.labels import narrow_codes
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.marginals import marginals
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.parent_cells import add_cells, draw_states, strides_of
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.networks.network import Network
from bayeswater.records import record
from bayeswater.typing import Array

JOINT_ROWS = 16_384
"""Rows handled at a time: their codes in all columns, and one column of numbers, stay in cache."""


def log_probability(network: Network, codes: Array) -> Array:
    """Logarithm of the probability of every row: (n_rows,); -inf where it is impossible.

    Parameters
    ----------
    network : Network
    codes : (n_variables, n_rows), every one within its domain
    """
    use_loop = worth_compiling(codes.size)
    families = []
    with np.errstate(divide="ignore"):
        for node, table in enumerate(network.tables):
            members = np.array([*network.parents[node], node])
            families.append((members, strides_of(table.shape), np.log(table).ravel()))

    def block(rows: slice) -> tuple[slice, Array]:
        total = np.zeros(rows.stop - rows.start)
        part = np.ascontiguousarray(codes[:, rows])
        for members, strides, flat in families:
            add_cells(part, members, strides, flat, total, use_loop=use_loop)
        return rows, total

    result = np.empty(codes.shape[1])
    for rows, total in ordered_map(block, row_blocks(codes.shape[1], JOINT_ROWS)):
        result[rows] = total
    return result


def sample_codes(network: Network, n_rows: int, streams: np.random.SeedSequence) -> Array:
    """Draw rows as codes: (n_variables, n_rows).

    Every block of rows has a stream of its own, so what is drawn does not depend on the number of threads. The streams
    go on where the last call left them: whole blocks that are drawn one after the other are those of one call.
    """
    use_loop = worth_compiling(len(network) * n_rows)
    codes = narrow_codes(np.zeros((len(network), n_rows), dtype=np.uint8), max(network.cards, default=1))
    blocks = row_blocks(n_rows, JOINT_ROWS)
    seeds = streams.spawn(len(blocks))
    families = []
    for node in network.dag.order:
        table = network.tables[node]
        cumulated = table.reshape(-1, table.shape[-1]).cumsum(axis=1)
        cumulated /= cumulated[:, -1:]  # the last state that can be drawn is at 1, or a state beyond it would be
        parents = np.array(network.parents[node], dtype=np.int64)
        families.append((node, parents, strides_of(table.shape[:-1]), cumulated))

    def draw(block: tuple[slice, np.random.SeedSequence]) -> None:
        rows, seed = block
        stream = np.random.Generator(np.random.SFC64(seed))
        part = np.ascontiguousarray(codes[:, rows])
        uniform = np.empty(part.shape[1])
        for node, parents, strides, cumulated in families:
            stream.random(out=uniform)
            draw_states(part, parents, strides, cumulated, uniform, node, use_loop=use_loop)
        codes[:, rows] = part

    for _ in ordered_map(draw, zip(blocks, seeds, strict=True)):
        pass
    return codes


@record
class ClassJoint:
    """A network whose first variable is the class; `shift` (n_classes,) is added to what it says of the classes."""

    tree: JunctionTree
    shift: Array | float = 0.0

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.tree.factors.cards[0]

    @cached_property
    def log_prior(self) -> Array:
        """Log P(class), of a row of which nothing is known: (n_classes,)."""
        return self.of(self.tree.factors.card_array[None, 1:])[0]

    def of(self, block: Array, use_loop: bool = False) -> Array:
        """Log-joints (n_rows, n_classes) of codes (n_rows, n_variables - 1) of all variables but the class."""
        n_rows, n_classes = len(block), self.n_classes
        kind = np.result_type(block.dtype, np.min_scalar_type(n_classes))
        rows = np.empty((n_classes, n_rows, 1 + block.shape[1]), dtype=kind)
        rows[:, :, 0] = np.arange(n_classes)[:, None]
        rows[:, :, 1:] = block
        found = marginals(self.tree, rows.reshape(n_classes * n_rows, -1), [])
        return np.ascontiguousarray(found.log_evidence.reshape(n_classes, n_rows).T) + self.shift
