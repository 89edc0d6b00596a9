"""How unlike the rows of a model a row is: the share of rows drawn from the model that are no more probable.

    novelty = (1 + number of drawn rows with log P(drawn) <= log P(row)) / (1 + n_draws)

Rows like those of the model have novelties spread evenly over 0 to 1, rows unlike them near 0. A row is compared with
drawn rows that have the same cells missing, and the same number of words in their texts. A cell of a kind that was
never seen is a new state, less probable than all that are drawn (see `unseen`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bayeswater.data.column_plan import Column
from bayeswater.data.mixed_table import MixedTable
from bayeswater.data.text import TextTable
from bayeswater.explain.random_streams import CLASSES, stream
from bayeswater.explain.simulation import DrawnTexts, draw_counts, draw_marks, draw_normal, draw_states
from bayeswater.explain.unseen import is_new, log_new_state
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.inference.feature_columns import BernoulliColumns
from bayeswater.inference.log_space import log_evidence, posterior
from bayeswater.inference.mixed import MixedJoint
from bayeswater.inference.normal_columns import NormalColumns
from bayeswater.inference.poisson_columns import PoissonColumns
from bayeswater.inference.scoring import score
from bayeswater.inference.word_columns import WordColumns
from bayeswater.kernels.threads import row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.typing import Array

SAME = 1e-9
"""Log-evidences that differ by no more than this share are equal: the same cells, added up in another order."""

BLOCK_ROWS = 65_536
"""Rows whose patterns are held at a time."""

CACHE_BYTES = 2**26
"""Memory for the log-evidences of patterns that rows have in common."""

ABSENT = -1
"""What stands in a pattern for a column that a row does not have; otherwise the number of its words, or 0."""


@dataclass(frozen=True)
class DrawnRows:
    """Rows drawn from a model: terms (n_draws, n_classes) of each column, those of texts by their length."""

    log_prior: Array
    n_draws: int
    single: Mapping[int, Array]
    texts: Mapping[int, Mapping[int, Array]]

    def log_evidence(self, pattern: Array) -> Array:
        """Log-evidence of the drawn rows, of the columns and lengths that a pattern (n_columns,) has: sorted."""
        total = np.tile(self.log_prior, (self.n_draws, 1))
        for place, length in enumerate(pattern.tolist()):
            if length != ABSENT:
                total += self.texts[place][length] if place in self.texts else self.single[place]
        return np.sort(log_evidence(total))


def novelty(
    joint: MixedJoint, table: MixedTable, groups: Mapping[str, tuple[Column, ...]], n_draws: int, seed: int
) -> Array:
    """Novelty of each row: (n_rows,). The log-joint must be that of a distribution of rows."""
    log_joint = score(joint, table)
    new_state = {key: log_new_state(g) for key, g in joint.groups.items() if isinstance(g, CategoryColumns)}
    place = {column.name: j for j, column in enumerate(table.plan.used)}
    places = {key: [place[column.name] for column in columns] for key, columns in groups.items()}
    drawn = _drawn_rows(joint, table, places, n_draws, seed)

    @lru_cache(max(1, CACHE_BYTES // (8 * n_draws)))
    def evidence(pattern: bytes) -> Array:
        return drawn.log_evidence(np.frombuffer(pattern, dtype=np.int64))

    result = np.empty(table.n_rows)
    for block in row_blocks(table.n_rows, BLOCK_ROWS):
        cells = table.block(block)
        for key, log_probability in new_state.items():
            _add_new_states(log_joint[block], joint.groups[key], cells[key], log_probability)
        own = log_evidence(log_joint[block])
        for pattern, rows in _rows_by_pattern(_patterns(joint, cells, places, len(place))):
            found = own[rows]
            slack = SAME * np.maximum(1.0, np.where(np.isfinite(found), np.abs(found), 1.0))
            less = np.searchsorted(evidence(pattern), found + slack, side="right")
            result[block][rows] = (1 + less) / (1 + n_draws)
    return result


def _add_new_states(log_joint: Array, group: Any, codes: Array, log_probability: Array) -> None:
    """Add what the cells that no row had say to the log-joints of some rows."""
    row, column = np.nonzero(is_new(group, codes))
    np.add.at(log_joint, row, log_probability[column])


def _rows_by_pattern(patterns: Array) -> Iterator[tuple[bytes, Array]]:
    """Give each distinct pattern, as its bytes, and the rows that have it."""
    rows_as_bytes = np.ascontiguousarray(patterns).view(np.dtype((np.void, patterns.itemsize * patterns.shape[1])))
    distinct, which = np.unique(rows_as_bytes.ravel(), return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(distinct)))
    for pattern, rows in zip(distinct, np.split(order, ends[:-1]), strict=True):
        yield pattern.tobytes(), rows


def _patterns(joint: MixedJoint, blocks: Mapping[str, Any], places: Mapping[str, list[int]], n_columns: int) -> Array:
    """Which columns some rows have, and how many words: (n_rows, n_columns)."""
    parts: dict[str, Array] = {}
    for key, block in blocks.items():
        group = joint.groups[key]
        if isinstance(group, CategoryColumns):
            is_read = (block < group.counts.n_states + group.empty_is_state) | is_new(group, block)
            parts[key] = np.where(is_read, 0, ABSENT)
        elif isinstance(group, WordColumns):
            parts[key] = np.where(block.missing, ABSENT, _n_words(group, block))[:, None]
        else:
            parts[key] = np.where(np.isnan(block), ABSENT, 0)
    n_rows = len(next(iter(parts.values())))
    patterns = np.empty((n_rows, n_columns), dtype=np.int64)
    for key, part in parts.items():
        patterns[:, places[key]] = part
    return patterns


def _n_words(group: WordColumns, block: TextTable) -> Array:
    """Number of words of each text, to the nearest whole one; 0 for marks, which have no length."""
    if isinstance(group.reading, BernoulliColumns):
        return np.zeros(len(block.missing), dtype=np.int64)
    counts = block.counts
    row = np.repeat(np.arange(len(block.missing)), np.diff(counts.indptr))
    return np.rint(np.bincount(row, weights=counts.cells, minlength=len(block.missing))).astype(np.int64)


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
    single: dict[int, Array] = {}
    texts: dict[int, Mapping[int, Array]] = {}
    for key, group in joint.groups.items():
        streams = [j + 1 for j in places[key]]
        if isinstance(group, CategoryColumns):
            terms = draw_states(group, codes, streams, seed)
        elif isinstance(group, NormalColumns):
            terms = draw_normal(group, codes, streams, seed)
        elif isinstance(group, PoissonColumns):
            terms = draw_counts(group, codes, streams, seed)
        else:
            assert isinstance(group, WordColumns)
            if not isinstance(group.reading, BernoulliColumns):
                words = table.groups[key]
                lengths = _n_words(group, words)[~words.missing]
                texts[places[key][0]] = DrawnTexts(group, codes, streams[0], seed).terms(lengths)
                continue
            terms = draw_marks(group.reading, codes, streams[0], seed)[:, None]
        single |= {j: terms[:, i] for i, j in enumerate(places[key])}
    return DrawnRows(joint.log_prior, n_draws, single, texts)
