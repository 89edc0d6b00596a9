"""`CredibleIntervals`: how far P(class | row) could be from what is predicted, by how few rows it rests on.

The parameters of a model are known as well as its rows tell: a share of 3 in 4 is less certain than one of 300 in 400.
They are drawn from their posterior, the class prior too, and each draw gives the row other probabilities. An interval
holds `level` of them, with equal shares below and above.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside, write_frame
from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.errors import ParameterError
from bayeswater.families.family import MixedJoint, ParameterDraws
from bayeswater.families.weighted_terms import OneColumn, WeightedJoint, known_terms, rows_by_known
from bayeswater.families.wording import probability, quoted
from bayeswater.inference.drawing import CLASSES, Stage, log_gamma, stream
from bayeswater.inference.log_space import fall_back, log_posterior
from bayeswater.kernels.threads import row_blocks
from bayeswater.markup import paragraphs
from bayeswater.phrases import Language
from bayeswater.records import record
from bayeswater.typing import Array, is_number

BLOCK_DRAWS = 2**21
"""Probabilities that are held at a time: rows times draws times classes."""

SHOWN_ROWS = 10

Correction = Callable[[Array, slice], Array]
"""What calibration makes of the log-probabilities of all draws of some rows: (n_rows * n_draws, n_classes)."""


@record(repr=False, eq=False)
class CredibleIntervals:
    """Intervals on P(class | row).

    Attributes
    ----------
    probability : what the model predicts: (n_rows, n_classes)
    low, high : limits between which it lies with probability `level`: (n_rows, n_classes)
    classes : labels (n_classes,)
    support : rows of the predicted class that have the row's rarest cell: (n_rows,)
    level : probability of the intervals
    lang : language in which they are printed
    """

    probability: Array
    low: Array
    high: Array
    classes: Array
    support: Array
    chosen: Array  # code of the predicted class (n_rows,)
    level: float
    library: str | Alongside | None = None
    lang: str = "en"

    def __len__(self) -> int:
        return len(self.probability)

    def to_frame(self) -> Any:
        """Give prediction, support and the limits of every class as a frame, a line for each row."""
        columns: dict[str, Any] = {"prediction": self.classes[self.chosen], "support": self.support}
        for k, label in enumerate(self.classes.tolist()):
            columns[f"P({label})"] = self.probability[:, k]
            columns[f"low({label})"], columns[f"high({label})"] = self.low[:, k], self.high[:, k]
        return write_frame(columns, self.library)

    def __str__(self) -> str:
        lines, language = [], Language.of(self.lang)
        for i in range(min(len(self), SHOWN_ROWS)):
            k, n = int(self.chosen[i]), self.support[i].item()
            parts = (self.probability, self.low, self.high)
            p, low, high = (probability(float(part[i, k]), language) for part in parts)
            rows = language.say("one supports" if n in (0, 1) else "support", rows=language.how_many(n, "row"))
            values = {"label": quoted(self.classes[k]), "p": p, "low": low, "high": high, "rows": rows}
            lines.append(language.say("interval" if low != high else "interval ends", **values))
        if len(self) > SHOWN_ROWS:
            lines.append(language.say("more rows", n=len(self) - SHOWN_ROWS))
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return paragraphs(str(self).split("\n"))


def support(joint: MixedJoint, table: MixedTable, class_count: Array, chosen: Array) -> Array:
    """Rows of the class `chosen` for each row (n_rows,) that have its rarest cell; all of the class if it has none.

    Of a category or a bin these are the rows of the class with that state, of a number the rows that have a value, of a
    text the rows that have its rarest word. Cells that are missing or were never seen are left out, as they are in the
    prediction.
    """
    least = class_count[chosen]
    for key, cells in table.block(slice(0, table.n_rows)).items():
        least = np.minimum(least, joint.groups[key].support(cells, chosen))
    return least.astype(class_count.dtype)


@record
class PosteriorDraws:
    """Parameters drawn from their posterior: log class priors (n_draws, n_classes), and those of all groups.

    Where terms have weights, parameters are drawn `one_by_one`, column by column, for the terms of each to be weighted.
    """

    log_prior: Array
    groups: Mapping[str, ParameterDraws]
    weighted: WeightedJoint | None = None
    one_by_one: Sequence[tuple[OneColumn, ParameterDraws]] = ()

    @classmethod
    def of(
        cls,
        joint: MixedJoint,
        columns: Sequence[Column],
        groups: Mapping[str, tuple[Column, ...]],
        class_shape: Array | None,
        stage: Stage,
    ) -> "PosteriorDraws":
        """Draw them; the log-joint must be that of a distribution of rows: complement counts have no posterior.

        Each column has the stream of its place among all `columns`. `class_shape` (n_classes,) are counts and
        pseudo-counts of the classes, None where their prior is given.
        """
        prior = np.broadcast_to(joint.log_prior, (stage.n_draws, stage.n_classes))
        if class_shape is not None:
            prior = log_posterior(log_gamma(stream(stage.seed, CLASSES), class_shape, stage.n_draws))
        place = {column.name: j + 1 for j, column in enumerate(columns)}
        of_group = joint.groups.items()
        places = {key: [place[column.name] for column in groups[key]] for key, _ in of_group}
        return cls(prior, {key: block.draw_parameters(places[key], stage) for key, block in of_group})

    def weighted_by(self, joint: WeightedJoint, columns: Sequence[OneColumn], stage: Stage) -> "PosteriorDraws":
        """Draw the parameters of columns one by one, whose terms count by the weights of a log-joint."""
        drawn = [
            (column, column.block.generative().draw_parameters([place], stage))
            for place, column in enumerate(columns, 1)
        ]
        return replace(self, groups={}, weighted=joint, one_by_one=drawn)

    def _add_weighted(self, total: Array, block: Mapping[str, Any]) -> None:
        """Add the weighted log-likelihoods of some rows to `total` (n_rows, n_draws, n_classes)."""
        assert self.weighted is not None
        known = known_terms(self.weighted.plain.groups, block)
        total += self.weighted.weights.shifts(known)[:, None]
        for place, (column, draws) in enumerate(self.one_by_one):
            terms = np.zeros(total.shape)
            draws.add_to(terms, column.cells(block))
            for m, some in rows_by_known(known):
                total[some] += self.weighted.weights.weighted(terms[some], m, place)

    def intervals(self, table: MixedTable, level: Any, corrected: Correction | None) -> tuple[Array, Array]:
        """Limits between which P(class | row) lies with probability `level`: (n_rows, n_classes) each."""
        if not (is_number(level) and 0 < level < 1):
            raise ParameterError(f"level is {level!r}; give a number between 0 and 1")
        n_draws, n_classes = self.log_prior.shape
        low, high = np.empty((2, table.n_rows, n_classes))
        tail = (1 - level) / 2
        for rows in row_blocks(table.n_rows, max(1, BLOCK_DRAWS // (n_draws * n_classes))):
            total = np.tile(self.log_prior, (rows.stop - rows.start, 1, 1))
            block = table.block(rows)
            for key, draws in self.groups.items():
                draws.add_to(total, block[key])
            if self.weighted is not None:
                self._add_weighted(total, block)
            flat = total.reshape(-1, n_classes)
            fall_back(flat, np.tile(self.log_prior, (rows.stop - rows.start, 1)))
            log_proba = log_posterior(flat)
            proba = np.exp(log_proba if corrected is None else corrected(log_proba, rows)).reshape(total.shape)
            low[rows], high[rows] = np.quantile(proba, [tail, 1 - tail], axis=1)
        return low, high
