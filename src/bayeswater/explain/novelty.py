"""How unlike the rows of a model a row is: the share of rows drawn from the model that are no more probable.

    novelty = (1 + number of drawn rows with log P(drawn) <= log P(row)) / (1 + n_draws)

Rows like those of the model have novelties spread evenly over 0 to 1, rows unlike them near 0. A row is compared with
drawn rows that have the same cells missing, and the same number of words in their texts. A cell of a kind that was
never seen is a new state, less probable than all that are drawn (see `families.states`).
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.families.family import ABSENT, MixedJoint
from bayeswater.inference.drawing import CLASSES, stream
from bayeswater.inference.log_space import log_evidence, posterior
from bayeswater.inference.scoring import score
from bayeswater.kernels.threads import row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array

SAME = 1e-9
"""Log-evidences that differ by no more than this share are equal: the same cells, added up in another order."""

BLOCK_ROWS = 65_536
"""Rows whose patterns are held at a time."""

CACHE_BYTES = 2**26
"""Memory for the log-evidences of patterns that rows have in common."""


@record
class DrawnRows:
    """Rows drawn from a model: terms (n_draws, n_classes) of each column, by the number of words (0 but for texts)."""

    log_prior: Array
    n_draws: int
    terms: Mapping[int, Mapping[int, Array]]

    def log_evidence(self, pattern: Array) -> Array:
        """Log-evidence of the drawn rows, of the columns and lengths that a pattern (n_columns,) has: sorted."""
        total = np.tile(self.log_prior, (self.n_draws, 1))
        for place, length in enumerate(pattern.tolist()):
            if length != ABSENT:
                total += self.terms[place][length]
        return np.sort(log_evidence(total))


def novelty(
    joint: MixedJoint, table: MixedTable, groups: Mapping[str, tuple[Column, ...]], n_draws: int, seed: int
) -> Array:
    """Novelty of each row: (n_rows,). The log-joint must be that of a distribution of rows."""
    log_joint = score(joint, table)
    place = {column.name: j for j, column in enumerate(table.plan.used)}
    places = {key: [place[column.name] for column in columns] for key, columns in groups.items()}
    drawn = _drawn_rows(joint, table, places, n_draws, seed)

    @lru_cache(max(1, CACHE_BYTES // (8 * n_draws)))
    def evidence(pattern: bytes) -> Array:
        return drawn.log_evidence(np.frombuffer(pattern, dtype=np.int64))

    result = np.empty(table.n_rows)
    for block in row_blocks(table.n_rows, BLOCK_ROWS):
        cells = table.block(block)
        for key, group in joint.groups.items():
            group.add_new(log_joint[block], cells[key])
        own = log_evidence(log_joint[block])
        for pattern, rows in _rows_by_pattern(_patterns(joint, cells, places, len(place))):
            found = own[rows]
            slack = SAME * np.maximum(1.0, np.where(np.isfinite(found), np.abs(found), 1.0))
            less = np.searchsorted(evidence(pattern), found + slack, side="right")
            result[block][rows] = (1 + less) / (1 + n_draws)
    return result


def _rows_by_pattern(patterns: Array) -> Iterator[tuple[bytes, Array]]:
    """Give each distinct pattern, as its bytes, and the rows that have it."""
    rows_as_bytes = np.ascontiguousarray(patterns).view(np.dtype((np.void, patterns.itemsize * patterns.shape[1])))
    distinct, which = np.unique(rows_as_bytes.ravel(), return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(distinct)))
    for pattern, rows in zip(distinct, np.split(order, ends[:-1]), strict=True):
        yield pattern.tobytes(), rows


def _patterns(joint: MixedJoint, cells: Mapping[str, Any], places: Mapping[str, list[int]], n_columns: int) -> Array:
    """Which columns some rows have, and how many words: (n_rows, n_columns)."""
    parts = {key: group.patterns(cells[key]) for key, group in joint.groups.items()}
    patterns = np.empty((len(next(iter(parts.values()))), n_columns), dtype=np.int64)
    for key, part in parts.items():
        patterns[:, places[key]] = part
    return patterns


def _lengths(joint: MixedJoint, table: MixedTable) -> dict[str, Array]:
    """Numbers of words of the texts of a table, each once and in rising order; of other columns 0."""
    found: dict[str, set[int]] = {key: {0} for key in joint.groups}
    for rows in row_blocks(table.n_rows, BLOCK_ROWS):
        for key, cells in table.block(rows).items():
            part = joint.groups[key].patterns(cells)
            if part.max(initial=0) > 0:
                found[key].update(np.unique(part[part != ABSENT]).tolist())
    return {key: np.array(sorted(lengths)) for key, lengths in found.items()}


def _drawn_rows(
    joint: MixedJoint, table: MixedTable, places: Mapping[str, list[int]], n_draws: int, seed: int
) -> DrawnRows:
    """Draw rows of all columns, with texts of all lengths that the table has."""
    n_classes = len(joint.log_prior)
    require_table_bytes(
        8 * n_draws * sum(map(len, places.values())) * n_classes,
        f"{n_draws} drawn rows",
        "ask for fewer draws, n_draws=...",
    )
    share = posterior(joint.log_prior[None].copy())[0]
    codes = stream(seed, CLASSES).choice(n_classes, size=n_draws, p=share)
    lengths = _lengths(joint, table)
    terms: dict[int, Mapping[int, Array]] = {}
    for key, group in joint.groups.items():
        drawn = group.draw_terms(codes, [j + 1 for j in places[key]], seed, lengths[key])
        terms |= dict(zip(places[key], drawn, strict=True))
    return DrawnRows(joint.log_prior, n_draws, terms)
