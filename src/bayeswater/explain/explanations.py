"""`Explanations`: the reasons for the predictions of many rows, as a matrix of terms and row by row in words.

`Terms` are what every cell says about every class, and for one class against another. A log-likelihood of -inf is
legal: the cell is impossible in that class. Two classes in which it is impossible are not told apart by it, so the
difference of two such terms is 0, and NaN is never a result.

`SumLandscape` is a row of a model whose log-joint is a sum over columns: what would become of it if some cells were
others.

The contributions of all rows are worked out at once; what is said about a row in words, when it is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self, overload

import numpy as np

from bayeswater.data.frames import Alongside, write_frame
from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.decision.term_weights import TermWeights
from bayeswater.explain.explanation import Contribution, RowExplanation
from bayeswater.explain.turning import Landscape, RowDecisions, TurningSearch, Verdicts
from bayeswater.families.family import MixedJoint
from bayeswater.families.view import CellUse, ColumnView, LastBlock
from bayeswater.families.weighted_terms import known_terms, rows_by_known
from bayeswater.inference.log_space import log_ratio
from bayeswater.kernels.threads import row_blocks
from bayeswater.markup import paragraphs
from bayeswater.phrases import Language
from bayeswater.records import record
from bayeswater.statistics.sums import SeenRanges
from bayeswater.typing import Array

BLOCK_TERMS = 2**21
"""Terms that are held at a time, about: cells times classes."""


@record
class Terms:
    """Log-likelihoods of the cells of a table, worked out for the rows that are asked for.

    `groups` names the columns of each group; the terms are in the order of the plan, whatever the groups. Where terms
    have `weights`, a term is that of the plain sum times its weight.
    """

    joint: MixedJoint
    table: MixedTable
    groups: Mapping[str, tuple[Column, ...]]
    weights: TermWeights | None = field(default=None, kw_only=True)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that have terms."""
        return self.table.plan.used

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.joint.log_prior)

    def of(self, rows: slice) -> Array:
        """Terms of some rows: (n_rows, n_columns, n_classes)."""
        place = {column.name: j for j, column in enumerate(self.columns)}
        terms = np.empty((rows.stop - rows.start, len(place), self.n_classes))
        for key, block in self.table.block(rows).items():
            terms[:, [place[column.name] for column in self.groups[key]]] = self.joint.groups[key].terms(block)
        if self.weights is not None:
            for m, some in rows_by_known(self.known(rows)):
                terms[some] = self.weights.weighted(terms[some], m)
        return terms

    def prior(self, rows: slice) -> Array:
        """Log-scores of some rows before their cells are looked at: (n_rows, n_classes)."""
        prior = np.broadcast_to(self.joint.log_prior, (rows.stop - rows.start, self.n_classes))
        return prior if self.weights is None else prior + self.weights.shifts(self.known(rows))

    def known(self, rows: slice) -> Array:
        """Count the known cells of some rows: (n_rows,)."""
        return known_terms(self.joint.groups, self.table.block(rows))

    def contributions(self, chosen: Array, against: Array) -> tuple[Array, Array]:
        """What each cell adds to the log-odds of two classes in each row, by their codes (n_rows,).

        Gives the contributions (n_rows, n_columns), and the rows (n_rows,) that are impossible in both classes.
        """
        n_rows = self.table.n_rows
        result = np.empty((n_rows, len(self.columns)))
        impossible = np.empty(n_rows, dtype=bool)
        size = max(1, BLOCK_TERMS // (len(self.columns) * self.n_classes))
        for rows in row_blocks(n_rows, size):
            terms, row = self.of(rows), np.arange(rows.stop - rows.start)
            a, b = terms[row, :, chosen[rows]], terms[row, :, against[rows]]
            result[rows] = log_ratio(a, b)
            prior_a, prior_b = self.joint.log_prior[chosen[rows]], self.joint.log_prior[against[rows]]
            impossible[rows] = np.isneginf(a.sum(axis=1) + prior_a) & np.isneginf(b.sum(axis=1) + prior_b)
        return result, impossible


@record
class SumLandscape(Landscape):
    """One row of a model whose log-joint is a sum of terms."""

    terms: Terms

    @cached_property
    def _own(self) -> Array:
        return self.terms.of(self._rows)[0]  # (n_columns, n_classes)

    @property
    def _rows(self) -> slice:
        return slice(self.row, self.row + 1)

    @cached_property
    def _prior(self) -> Array:
        return self.terms.prior(self._rows)[0]

    def _terms_at(self, j: int, cells: Array) -> Array:
        """Terms of some cells in column j, with the weight it has in the row as it is: (n, n_classes)."""
        terms = self.views[j].terms_at(self.row, cells)
        weights = self.terms.weights
        return terms if weights is None else weights.weighted(terms, int(self.terms.known(self._rows)[0]), j)

    @cached_property
    def log_joint(self) -> Array:
        """Log-joints of the row as it is: (n_classes,)."""
        return self._prior + self._own.sum(axis=0)

    @cached_property
    def _rest(self) -> Array:
        """Log-joints without each column (n_columns, n_classes): what is before it and what is behind it, added up."""
        none = np.zeros((1, self._own.shape[1]))
        before = np.concatenate([none, self._own[:-1]]).cumsum(axis=0)
        behind = np.concatenate([self._own[1:], none])[::-1].cumsum(axis=0)[::-1]
        return self._prior + before + behind

    def is_known(self, j: int) -> bool:
        """Whether the cell in column j is known."""
        return bool(self._own[j].any())

    def with_cells(self, j: int, cells: Array) -> Array:
        """Log-joints with each of some cells in column j."""
        return self._rest[j] + self._terms_at(j, cells)

    def with_pairs(self, i: int, cells: Array, j: int, others: Array) -> Array:
        """Log-joints with pairs of cells in columns i and j."""
        rest = self._prior + np.delete(self._own, [i, j], axis=0).sum(axis=0)
        return rest + self._terms_at(i, cells) + self._terms_at(j, others)


SHOWN_IN_FULL = 3
SHOWN_ROWS = 20


@record(repr=False, eq=False)
class Explanations(Sequence[RowExplanation]):
    """A `RowExplanation` for each row.

    Attributes
    ----------
    columns : names of the columns
    contributions : what each adds to the log-odds of `prediction` against `against`: (n_rows, n_columns)
    intercept, log_odds : part of the class prior, and the sum of it and the contributions: (n_rows,)
    prediction, against : class that was chosen, and the one it is compared with: (n_rows,)
    probability, calibrated_probability : P(prediction | row) before and after calibration: (n_rows,)
    lang : language in which they are put in words
    """

    columns: tuple[str, ...]
    contributions: Array
    intercept: Array
    log_odds: Array
    classes: Array
    _verdicts: Verdicts
    _is_impossible: Array = field(repr=False)
    _terms: Terms = field(repr=False)
    _views: tuple[ColumnView, ...] = field(repr=False)
    _decisions: RowDecisions = field(repr=False)
    _library: str | Alongside | None = None
    lang: str = field(default="en", kw_only=True)
    _prior_is_set: bool = field(default=False, kw_only=True)

    @classmethod
    def of(
        cls,
        terms: Terms,
        views: tuple[ColumnView, ...],
        verdicts: Verdicts,
        decisions: RowDecisions,
        classes: Array,
        library: str | Alongside | None,
    ) -> "Explanations":
        """Explain all rows of a table."""
        contributions, impossible = terms.contributions(verdicts.chosen, verdicts.against)
        prior, row = terms.prior(slice(0, len(verdicts.chosen))), np.arange(len(verdicts.chosen))
        intercept = log_ratio(prior[row, verdicts.chosen], prior[row, verdicts.against])
        with np.errstate(invalid="ignore"):  # infinite contributions of both signs, where a row is impossible in both
            log_odds = np.where(impossible, intercept, intercept + contributions.sum(axis=1))
        names = tuple(column.name for column in terms.columns)
        return cls(
            names, contributions, intercept, log_odds, classes, verdicts, impossible, terms, views, decisions, library
        )

    def in_language(self, lang: str, prior_is_set: bool = False) -> Self:
        """Give the same in the words of another language; a class prior that was set is no frequency of rows."""
        views = tuple(replace(view, language=Language.of(lang)) for view in self._views)
        return replace(self, lang=lang, _views=views, _prior_is_set=prior_is_set)

    @property
    def prediction(self) -> Array:
        """Class that was chosen: (n_rows,)."""
        return self.classes[self._verdicts.chosen]

    @property
    def against(self) -> Array:
        """Class it is compared with: (n_rows,)."""
        return self.classes[self._verdicts.against]

    @property
    def probability(self) -> Array:
        """P(prediction | row) before calibration: (n_rows,)."""
        return np.exp(self._verdicts.log_proba[np.arange(len(self)), self._verdicts.chosen])

    @property
    def calibrated_probability(self) -> Array | None:
        """P(prediction | row) after calibration, None if the model is not calibrated: (n_rows,)."""
        calibrated = self._verdicts.calibrated
        return None if calibrated is None else np.exp(calibrated[np.arange(len(self)), self._verdicts.chosen])

    @property
    def log_proba(self) -> Array:
        """Log-probabilities of all classes, calibrated if the model is: (n_rows, n_classes)."""
        calibrated = self._verdicts.calibrated
        return self._verdicts.log_proba if calibrated is None else calibrated

    def log_likelihoods(self, row: int) -> dict[str, Array] | None:
        """Log-likelihoods of the cells of a row in each class; None where those of single cells make no sum."""
        terms: Any = self._terms  # of models whose columns depend on each other, of pairs
        return (
            dict(zip(self.columns, terms.of(slice(row, row + 1))[0], strict=True)) if isinstance(terms, Terms) else None
        )

    def __len__(self) -> int:
        return len(self.contributions)

    @overload
    def __getitem__(self, row: int) -> RowExplanation: ...
    @overload
    def __getitem__(self, row: slice) -> list[RowExplanation]: ...
    def __getitem__(self, row: int | slice) -> RowExplanation | list[RowExplanation]:
        """Explain one row in words, or some."""
        if isinstance(row, slice):
            return [self._explained(i) for i in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} was asked for, and {len(self)} rows are explained")
        return self._explained(int(row) % len(self))

    def _explained(self, i: int) -> RowExplanation:
        chosen, against = int(self._verdicts.chosen[i]), int(self._verdicts.against[i])
        order = np.argsort(-np.abs(self.contributions[i]), kind="stable").tolist()
        calibrated = self._verdicts.calibrated
        return self._kind(
            prediction=self.classes[chosen],
            against=self.classes[against],
            log_odds=float(self.log_odds[i]),
            intercept=float(self.intercept[i]),
            contributions=[
                Contribution(self.columns[j], self._value(i, j), float(self.contributions[i, j])) for j in order
            ],
            probability=float(np.exp(self._verdicts.log_proba[i, chosen])),
            calibrated_probability=None if calibrated is None else float(np.exp(calibrated[i, chosen])),
            calibrated_log_odds=None if calibrated is None else float(log_ratio(*calibrated[i, [chosen, against]])),
            is_impossible=bool(self._is_impossible[i]),
            _language=Language.of(self.lang),
            _library=self._library.library if isinstance(self._library, Alongside) else self._library,
            _prior_is_set=self._prior_is_set,
            **self._of_cells(i, chosen, against),
        )

    _kind: ClassVar[type[RowExplanation]] = RowExplanation

    def _value(self, i: int, j: int) -> Any:
        """What stands in a cell."""
        return self._views[j].value(i)

    def _of_cells(self, i: int, chosen: int, against: int) -> dict[str, Any]:
        """What else an explanation says of the cells of a row."""
        cells = {view.column.name: view.cell(i) for view in self._views}
        read = [view for view in self._views if cells[view.column.name] == CellUse.READ]
        words = {view.column.name: found for view in read if (found := view.words(i, chosen, against)) is not None}
        is_weighted = getattr(self._sums, "weights", None) is not None
        return {
            "missing": [name for name, cell in cells.items() if cell == CellUse.MISSING],
            "unseen": [name for name, cell in cells.items() if cell == CellUse.UNSEEN],
            "words": words,
            "absent_words": {v.column.name: v.absent_words(i, chosen, against) for v in read if v.column.name in words},
            "_readings": {view.column.name: view.reading(i, chosen, against) for view in self._views},
            "_scores": frozenset(view.column.name for view in self._views if view.is_score or is_weighted),
            "_find_turning": partial(self._search, i, chosen),
            "_is_weighted": is_weighted,
        }

    @property
    def _sums(self) -> Any:
        """What scores are the sums of."""
        return self._terms

    def _search(self, i: int, chosen: int) -> TurningSearch:
        return TurningSearch(self._landscape(i, chosen), self._decisions.of(i), chosen, self.classes)

    def _landscape(self, i: int, chosen: int) -> Landscape:
        """What would become of a row if some of its cells were others."""
        return SumLandscape(i, chosen, self._views, self._terms)

    def to_frame(self) -> Any:
        """Give a frame of one line for each row, in the library that the model was fitted with."""
        figures: dict[str, Any] = {
            "prediction": self.prediction,
            "against": self.against,
            "probability": self.probability,
        }
        if self.calibrated_probability is not None:
            figures["calibrated_probability"] = self.calibrated_probability
        figures |= {"log_odds": self.log_odds, "intercept": self.intercept}
        named = {f"({name})" if name in self.columns else name: values for name, values in figures.items()}
        return write_frame(named | dict(zip(self.columns, self.contributions.T, strict=True)), self._library)

    def __str__(self) -> str:
        if len(self) <= SHOWN_IN_FULL:
            return "\n\n".join(map(str, self))
        lines = [f"{i}: {one.summary}" for i, one in enumerate(self[:SHOWN_ROWS])]
        if len(self) > SHOWN_ROWS:
            lines.append(Language.of(self.lang).say("more rows", n=len(self) - SHOWN_ROWS))
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if len(self) <= SHOWN_IN_FULL:
            return "".join(one._repr_html_() for one in self)
        return paragraphs(str(self).split("\n"))


def views_of(terms: Terms, raw: RawTable, seen: SeenRanges) -> tuple[ColumnView, ...]:
    """Views of all columns, in the order of the plan."""
    found: dict[str, ColumnView] = {}
    for key, block in terms.joint.groups.items():
        last = LastBlock()
        for j, column in enumerate(terms.groups[key]):
            found[column.name] = block.view(column, block, terms.table.groups[key], j, raw, seen, last)
    return tuple(found[column.name] for column in terms.columns)
