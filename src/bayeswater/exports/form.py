"""`ScoringForm`: a fitted classifier as plain data, between the models and the languages that they are written in.

    fields    the columns of a table
    cells     what is read off them: a number, a state, words; a date has several
    terms     what the cells add to log P(class, row), beside the class prior
    then      the log-normaliser, a calibration, the action of least risk

A cell that is read as a state has a code: the place of its label or bin; `missing` if it is empty, and `n_states` where
it is not there to the model, because it is empty or was never counted. Tables have a row for that code, too, mostly of
zeros, so that leaving a cell out needs no branch.
"""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from bayeswater.inference.formula import BinForm, Formula, LabelForm, NumberForm, ScaledWords
from bayeswater.records import record
from bayeswater.typing import Array


@record
class ScoredField:
    """A column of the table: a "number", a "label", a "date" (of a `zone`, if any), "seconds" or a "text"."""

    name: str
    kind: str
    zone: str | None = None


@record
class TextForm:
    """Words of a text: of our own analyser, or runs of two letters and more, alone and as `ngrams` of neighbours.

    With `pairs`, our own analyser counts pairs of neighbouring words too, and three characters of unspaced scripts.
    """

    words: tuple[str, ...]
    once: bool  # a word is counted once in a text
    ngrams: tuple[int, int] | None = None
    lowercase: bool = True
    stop_words: tuple[str, ...] = ()
    pairs: bool = False


@record
class Cell:
    """What is read off a field, or off a `part` of a date; codes are there if it is a state.

    Weekdays are the labels 0 to 6, from Monday on, months 1 to 12.
    """

    field: int
    form: NumberForm | LabelForm | BinForm | TextForm
    part: str | None = None
    n_states: int = 0
    missing: int = 0


@record
class ColumnTerm:
    """What one cell adds."""

    cell: int
    formula: Formula


@record
class FeaturesTerm:
    """What counts of features add together, as the words of one text."""

    cells: tuple[int, ...]
    formula: ScaledWords


@record
class Weighing:
    """Weights of terms by how many of them a row has (`decision/term_weights.py`).

    In a row with m known terms a term t counts as what it says of the class, by its weight w,

        log((1 - d) u + d) / (1 + h slope),   u = exp(t) / sum of exp(prior + t),   slope = 1 / w - 1

    with h = low[m], or high[m] where slope is under 0, and d = doubt bounded[m]. What is impossible stays so. Beside it
    stands the shift of the classes, shift[m].
    """

    slope: Array  # (n_terms, n_classes)
    shift: Array  # (n_terms + 1, n_classes)
    prior: Array  # (n_classes,), logarithms
    low: Array  # (n_terms + 1,)
    high: Array  # (n_terms + 1,)
    doubt: Array  # (n_terms,), 0 where there is none
    bounded: Array  # (n_terms + 1,), over 0


@record
class WeightedTerm:
    """What columns add, each by its weight."""

    terms: tuple[ColumnTerm, ...]
    weighing: Weighing


@record
class TreeTerm:
    """Columns with one parent at most, missing parents summed over.

    `tables` are logarithms of P(state | class, state of the parent): (n_states of the parent or 1, n_states, n_classes)
    of each column; `parents` are places in `cells`, -1 for none.
    """

    cells: tuple[int, ...]
    parents: tuple[int, ...]
    tables: tuple[Array, ...]

    @property
    def from_leaves(self) -> list[int]:
        """Places of the columns, children before their parents."""

        def depth(j: int) -> int:
            return 0 if self.parents[j] < 0 else 1 + depth(self.parents[j])

        return sorted(range(len(self.cells)), key=lambda j: -depth(j))


@record
class GraphTerm:
    """Columns with several parents each, missing parents summed over.

    `tables` are logarithms of P(state | class, states of the parents), each axis with a last row for what is not there:
    (n_states + 1 of each parent, n_states + 1, n_classes); `parents` are places in `cells`.
    """

    cells: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]


@record
class AverageTerm:
    """The mean of joints with each column in turn as the parent of all others; where none can be, naive Bayes.

    For each column `weights` (n_states + 1,) say how much a state counts as a parent; `even` takes their place in a row
    where all are 0. `joints` (n_states + 1, n_classes) are logarithms of P(class, state), `marginals` those of
    P(state | class), `given[i][j]` (n_states_i + 1, n_states_j + 1, n_classes) those of P(state of j | class, state of
    i), and `implied[i][j]`, where there are any, marks pairs of states of which the first implies the second.

    With a `weighing`, the logarithms of the joints of parents, less the prior, are terms that are added by weights.
    """

    cells: tuple[int, ...]
    weights: tuple[Array, ...]
    even: tuple[Array, ...]
    joints: tuple[Array, ...]
    marginals: tuple[Array, ...]
    log_prior: Array
    given: tuple[tuple[Array, ...], ...]
    implied: tuple[tuple[Array, ...], ...] | None = None
    weighing: Weighing | None = None


@record
class GaussianTerm:
    """Normal or Student's t density of numbers together: constant - half (degrees + d) log(1 + |z|^2 / degrees).

    z = (x - mean) whitening; a class of infinite `degrees` is normal, constant - |z|^2 / 2. Where classes share a
    covariance `is_line` may say that it is constant + z, of one direction. Cells must all be there.
    """

    cells: tuple[int, ...]
    mean: Array  # (n_classes, n_cells)
    whitening: Array  # (n_classes, n_cells, n_directions)
    constant: Array
    degrees: Array
    is_line: bool = False


Term = ColumnTerm | FeaturesTerm | WeightedTerm | TreeTerm | GraphTerm | AverageTerm | GaussianTerm


@record
class CalibrationForm:
    """Probabilities corrected by how many cells of a row are known (`decision/likelihood_temperature.py`).

    `prior` is the log class prior that the map was learned under, `to_counted` what leads there; `is_given` says that
    scores have another, and `doubt` is shared among classes that are impossible, of those in `doubted`.
    """

    temperature: float
    shift: Array
    lapse: float
    usual: float
    others: tuple[int, ...]  # the share of the map that a row gets is the product of (known - o) / (usual - o)
    prior: Array
    to_counted: Array
    is_given: bool
    impossible: Array  # (n_classes,): classes of no prior probability
    doubt: float
    doubted: Array  # (n_classes,)


@record
class DecisionForm:
    """Actions, and what each costs under each true class beyond the least: (n_actions, n_classes)."""

    actions: tuple[Any, ...]
    regret: Array


@record
class ScoringForm:
    """A classifier.

    `log_prior` is what the terms are added to; `fallback` the log class prior of a row that no class can have. Rows are
    refused that miss a cell, or have an unseen one, where the model refuses them.
    """

    model: str
    fields: tuple[ScoredField, ...]
    cells: tuple[Cell, ...]
    classes: tuple[Any, ...]
    log_prior: Array
    fallback: Array
    terms: tuple[Term, ...]
    refuses_missing: bool = False
    refuses_unseen: bool = False
    counts_nonzero: bool = False  # known cells are those other than 0
    calibration: CalibrationForm | None = None
    decision: DecisionForm | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def counts_known(self) -> bool:
        """Whether scores hang on how many cells of a row are known."""
        return self.calibration is not None or any(isinstance(term, WeightedTerm) for term in self.terms)

    @property
    def n_numbers(self) -> int:
        """Numbers that the terms hold, which is about what their text is long by."""
        return sum(sum(array.size for array in _arrays(term)) for term in self.terms)

    def needed(self) -> list[str]:
        """Name the columns that others depend on, and that a row which is not refused may lack."""
        found: set[int] = set()
        for term in self.terms:
            if isinstance(term, GaussianTerm) and not self.refuses_missing:
                found |= set(term.cells)
            if isinstance(term, GraphTerm):
                parents = {term.cells[p] for own in term.parents for p in own}
                found |= {cell for cell in parents if self._may_be_gone(self.cells[cell])}
        return [self.fields[field].name for field in sorted({self.cells[cell].field for cell in found})]

    def _may_be_gone(self, cell: Cell) -> bool:
        may_miss = not self.refuses_missing and cell.missing >= cell.n_states > 0
        return may_miss or (isinstance(cell.form, LabelForm) and not self.refuses_unseen)

    def size(self) -> str:
        """Say how large it is."""
        return f"{len(self.fields):,} columns, {self.n_classes:,} classes and {self.n_numbers:,} numbers"


def _arrays(value: Any) -> list[Array]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [array for part in value for array in _arrays(part)]
    if is_dataclass(value):
        return [array for field in fields(value) for array in _arrays(getattr(value, field.name))]
    return []


def document(value: Any) -> Any:
    """Give a form, or a part of one, as what JSON knows: objects name their kind; -inf is null, inf is "inf".

    >>> document(DecisionForm(("keep", "drop"), np.array([[0.0, 1.0], [-np.inf, 0.0]])))
    {'kind': 'DecisionForm', 'actions': ['keep', 'drop'], 'regret': [[0.0, 1.0], [None, 0.0]]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: document(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__, **own}
    if isinstance(value, np.ndarray):
        return document(value.tolist())
    if isinstance(value, tuple | list):
        return [document(part) for part in value]
    if isinstance(value, np.generic):
        return document(value.item())
    if isinstance(value, float) and value in (np.inf, -np.inf):
        return "inf" if value > 0 else None
    return value
