"""`Family` and `Block`: all that the rest of the library knows of the law of a column.

A `Family` is a law together with the columns of a table that follow it: how their cells are read, the statistic that
they are summed in, how parameters are read off the sums, how they are stored. A `Block` holds the parameters of all of
these columns at once: log-likelihoods of rows, the same with each row left out, draws, what a missing cell could tell,
and how an explanation looks at a cell. What comes out is plain data, and words where only the law knows them; rooms
above make sentences and pictures of it.

A new law is one file with both, and one line in `registry`. What it writes, in this order:

1. A `Statistic` of what is summed, unless there is one: of columns of numbers a frozen dataclass of arrays
   (n_classes, n_columns), which `+`, `-`, files and clusters then take as it is. No row and no parameter is in it.
2. The block. It gets the sums and what they are read with (pseudo-counts, priors), and reads parameters on demand.
   Missing cells have no factor: their terms are 0, their patterns `ABSENT`. A log-likelihood of -inf is legal, NaN
   never. `likelihood` is asked for blocks of rows, `use_loop` saying whether to take a compiled loop where there is
   one. `without` is exact: what it gives is what a fit without the row would, of all classes. A draw takes its random
   numbers from `inference.drawing.stream`, by seed and place of the column, so that other columns do not move it.
   `formula` is the same law as plain data, for who scores rows elsewhere.
3. The view, a `families.view.ColumnView`: what became of a cell, in words, and which others could be in its place.
4. The family: names, the kinds of columns it can be named for, statistic, and the road encode -> count -> read. In
   learning `encode` refuses cells that the law cannot have, in predicting it leaves them out with a warning.
   `restored`, `domain` and `require_column` are for files, whose sums are believed only if some rows could have them.
5. A law of numbers takes `families.numbers` as its ground, which leaves little but formulas. A `Candidate`
   (`families.open_numbers`) lets it be chosen where nobody says the law of a column: what it sums meanwhile, why a
   column cannot follow it, its evidence.

`tests/families/test_every_law.py` asks all of it of every law in the registry.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.data.variable import Schema, Variable
from bayeswater.decision.facts import Fact
from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.families.curve import ColumnCurve
from bayeswater.families.open_numbers import Candidate
from bayeswater.inference.drawing import Stage
from bayeswater.inference.formula import CellForm, Formula
from bayeswater.inference.linear import Line
from bayeswater.records import record
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.families.view import ColumnView

ABSENT = -1
"""What stands in a pattern for a cell that a row does not have; otherwise the number of its words, or 0."""


@record
class ColumnSettings:
    """What is said about one column; nothing, where it is None.

    `family` is one of the families, "text", "auto" or "ignored"; `prior` a `Dirichlet`, `Beta` or
    `NormalInverseGamma`; `alpha` the smoothing of this column; `bins` a number of quantile bins, or "mdl" for those
    that tell the classes apart; `cuts` the limits of bins; `analyser` says how text becomes words (`TextAnalyser`, or a
    vectoriser of scikit-learn). `dtype`, which comes with the plan of another model, is the type of a date there: days
    begin in its time zone, and `style` how its cells are written. `options` are what else the law of the column has to
    be given, each by its own name.
    """

    family: str | None = None
    prior: Any = None
    alpha: Any = None
    bins: int | str | None = None
    cuts: tuple[float, ...] | None = None
    analyser: TextAnalyser | None = None
    dtype: str | None = None
    options: tuple[tuple[str, float], ...] = ()
    style: CellStyle | None = None


NOTHING_SAID = ColumnSettings()


@record
class Settings:
    """Parameters of a model by which it reads a table; `given` is what the user says about columns.

    `alpha` and `variance_floor` are for those who estimate column by column. `as_found` says that categories may be
    coded in the order of their dictionary: `count` sorts them. Who hands the codes to sums of another kind needs them
    sorted. `unknown` marks, by column, cells (n_rows,) of which nothing is known: not even, where that is a state, that
    they are empty. `words` finds those of texts that nothing is said about.
    """

    model: str
    alpha: Any = "auto"
    variance_floor: float = 0.01
    missing: str = "ignore"
    unseen: str = "ignore"
    given: Mapping[str, ColumnSettings] = field(default_factory=dict)
    as_found: bool = False
    unknown: Mapping[str, Array | slice] = field(default_factory=dict, compare=False)  # no parameter hangs on it
    words: TextAnalyser = field(default=TextAnalyser(), compare=False)  # nor on this: the plan says what was found

    def of(self, column: Column) -> ColumnSettings:
        """What is said about one column."""
        return self.given.get(column.name, NOTHING_SAID)

    def alpha_of(self, column: Column) -> Any:
        """Smoothing of one column: "auto" or a number."""
        own = self.of(column).alpha
        return self.alpha if own is None else own


class ParameterDraws(Protocol):
    """Draws of the parameters of a block."""

    def add_to(self, total: Array, cells: Any) -> None:
        """Add the log-likelihoods of some rows to `total` (n_rows, n_draws, n_classes)."""
        ...


class Block(ABC):
    """All columns of one law, with their parameters: what they say about the class of a row.

    `cells` are some rows of the table that the law reads; columns are named by their place j in it.
    """

    view: ClassVar[type["ColumnView"]]
    """How an explanation looks at a column."""

    @abstractmethod
    def likelihood(self, cells: Any, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""

    @abstractmethod
    def terms(self, cells: Any) -> Array:
        """Log-likelihood of each cell, which add up to those of the rows: (n_rows, n_columns, n_classes)."""

    @abstractmethod
    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums."""

    @abstractmethod
    def draw_parameters(self, places: Sequence[int], stage: Stage) -> ParameterDraws:
        """Draw the parameters from their posterior; each column has the stream of its place."""

    @abstractmethod
    def draw_terms(self, codes: Array, places: Sequence[int], seed: int, lengths: Array) -> list[dict[int, Array]]:
        """Draw the cells of rows of classes `codes` (n_draws,), and give their terms (n_draws, n_classes).

        For each column there are those of every number, in rising order, that stands in `patterns` of its rows.
        """

    @abstractmethod
    def support(self, cells: Any, chosen: Array) -> Array:
        """Rows of the class `chosen` (n_rows,) that have the rarest cell of each row; infinite where none is known."""

    @abstractmethod
    def fact(self, j: int, *, is_unknown: bool) -> Fact | str:
        """Say what a missing cell could tell, or why that cannot be said.

        `is_unknown` says that nothing is known of the cell, not even that it is empty.
        """

    @abstractmethod
    def curve(self, column: Column, j: int) -> ColumnCurve:
        """Give the law of column j in each class as plain data, for a picture."""

    @abstractmethod
    def patterns(self, cells: Any) -> Array:
        """Which cells some rows have, 0 or the number of words, and `ABSENT` (n_rows, n_columns)."""

    @abstractmethod
    def formula(self, j: int) -> Formula:
        """Say as plain data what cells of column j add to the log-joints, but for what all classes share."""

    def is_known(self, cells: Any) -> Array:
        """Mark the cells of some rows that have a term, a text as one: (n_rows, n_columns)."""
        return self.patterns(cells) != ABSENT

    def line(self, names: Sequence[str], model: str) -> Line | None:
        """Write the log-odds as a line in features of the columns; None where they are none."""
        return None

    def generative(self) -> "Block":
        """Read the same sums as a distribution of cells, where scores are none."""
        return self

    def add_new(self, log_joint: Array, cells: Any) -> None:  # noqa: B027 (most laws have no new cells)
        """Add what cells that no row had say to the log-joints of some rows (n_rows, n_classes)."""

    def known_cells(self, table: Any) -> Array:
        """Count the known cells of each row, the words of a text one by one: (n_rows,)."""
        known: Array = table.known_cells()
        return known


@record
class Family(ABC):
    """Columns of one law."""

    columns: tuple[Column, ...]

    key: ClassVar[str]
    """Name of the sums of its columns among those of a table."""

    families: ClassVar[tuple[str, ...]]
    """Names that its columns can have in a plan."""

    kinds: ClassVar[tuple[str, ...] | None] = None
    """Kinds of columns that can be set to follow it; None: any."""

    statistic: ClassVar[type[Statistic]]
    """What its columns are summed in."""

    candidates: ClassVar[tuple[Candidate, ...]] = ()
    """Its families among which that of a column of numbers is chosen, the simplest first."""

    options: ClassVar[Mapping[str, str]] = {}
    """Numbers over 0 that have to be given for each of its columns, and what they are."""

    usual_of: ClassVar[Mapping[str, str]] = {}
    """Kinds of columns that follow it unless another law is given, and the family that each then has."""

    priors: ClassVar[tuple[type, ...]] = ()
    """Priors that its columns can be given."""

    has_cuts: ClassVar[bool] = False
    """Whether its columns have cuts, which can be given."""

    one_each: ClassVar[bool] = False
    """Whether every column has sums of its own."""

    is_ranged: ClassVar[bool] = False
    """Whether it is kept from where to where its numbers were."""

    has_labels: ClassVar[bool] = False
    """Whether a file has to write down what its states are called."""

    has_states: ClassVar[bool] = False
    """Whether its cells are states, which any model of states can count."""

    @classmethod
    def kinds_of(cls, family: str) -> tuple[str, ...] | None:
        """Give the kinds of columns that can be set to a family; None: any."""
        return cls.kinds

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def prior_of(self, column: Column, settings: Settings) -> Any:
        """Give the prior of a column, None where nothing is said; refuse one of another law."""
        prior = settings.of(column).prior
        if prior is None or isinstance(prior, self.priors):
            return prior
        known = " or a ".join(kind.__name__ for kind in self.priors)
        raise ParameterError(
            f"the prior of column {column.name!r} is {prior!r}; of a {column.family} column it is a {known}"
        )

    # ------------------------------------------------------------------ from a table to parameters

    @abstractmethod
    def encode(self, raw: RawTable, known: Any, settings: Settings, *, learning: bool) -> Any:
        """Data: read the columns of a table, in the domain that is `known`."""

    @abstractmethod
    def count(self, table: Any, labels: Labels, weight: Array | None, settings: Settings) -> Statistic:
        """Statistics: sum the rows of a table."""

    @abstractmethod
    def read(self, sums: Any, settings: Settings) -> Block:
        """Estimate: read parameters off the sums, ready for scoring."""

    def declaring(self, sums: Any, settings: Settings) -> Any:
        """Join what priors name to the domains of sums."""
        return sums

    def without_choice(self, block: Any, settings: Settings) -> Block:
        """Give the same block for rows that are left out of the choice of its smoothing, too."""
        found: Block = block
        return found

    # ------------------------------------------------------------------ what was learned

    @abstractmethod
    def tables(self, sums: Any, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give the parameters of each column as the columns of a labelled frame."""

    @abstractmethod
    def n_parameters(self, sums: Any) -> int:
        """Number of free parameters of all classes together."""

    @abstractmethod
    def sample(self, sums: Any, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw the cells of rows of the given classes (n_rows,), by name of the column."""

    @abstractmethod
    def cell_form(self, sums: Any, j: int) -> CellForm:
        """Say as plain data what cells of column j are read as."""

    def distributions(self, block: Any) -> Iterator[tuple[str, Sequence[Any], Array]] | None:
        """Name each column, its states and P(state | class) of all, for a network; None where there are no states."""
        return None

    def with_new_cells(self, table: Any, raw: RawTable) -> Any:
        """Mark cells of a table that are unlike all that were counted."""
        return table

    # ------------------------------------------------------------------ in a file

    @property
    def has_words(self) -> bool:
        """Whether a file has to write down words."""
        return False

    def domain(self, sums: Any) -> Schema | Variable | None:
        """Give what cells can hold, beside what the plan says of it: states by label, or words."""
        return None

    def array_names(self, found: set[str]) -> set[str]:
        """Name the arrays of the sums; of those that they may do without, those that were found."""
        return self.statistic.array_names(found)

    def restored(self, arrays: dict[str, Array], classes: Variable, domain: Any) -> Statistic:
        """Make the sums of arrays and of what was written beside them."""
        return self.statistic.from_arrays(arrays, classes=classes, names=self.names)

    @classmethod  # noqa: B027 (few laws have more to say)
    def require_column(cls, column: Column, group: Any, j: int, slack: float) -> None:
        """Refuse sums that no cells of column j of a group can have."""

    @classmethod  # noqa: B027
    def require_range(cls, column: Column, low: float | None, high: float | None) -> None:
        """Refuse a range in which no cells of a column can be; an end that is not known is None."""


@record
class MixedJoint:
    """Log-joint of a mixed table: the log class prior, and the log-likelihoods of all blocks, added up."""

    log_prior: Array
    groups: Mapping[str, Block]

    def of(self, cells: Mapping[str, Any], use_loop: bool) -> Array:
        """Log-joints of some rows."""
        joint: Array | None = None
        for key, block in self.groups.items():
            likelihood = block.likelihood(cells[key], use_loop)
            joint = likelihood if joint is None else np.add(joint, likelihood, out=joint)
        assert joint is not None  # a model has a column
        joint += self.log_prior
        return joint

    def generative(self) -> "MixedJoint":
        """Read the same sums as a distribution of rows: complement counts, which score but describe none, as counts."""
        return MixedJoint(self.log_prior, {key: block.generative() for key, block in self.groups.items()})

    def known_cells(self, table: MixedTable) -> Array:
        """Count the known cells of each row, the words of a text one by one: (n_rows,)."""
        known = np.zeros(table.n_rows, dtype=np.int64)
        for key, block in self.groups.items():
            known += block.known_cells(table.groups[key])
        return known

    def without(self, table: MixedTable, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums."""
        functions = [block.without(table.groups[key], labels, removed) for key, block in self.groups.items()]

        def likelihood(rows: slice, use_loop: bool) -> Array:
            total = functions[0](rows, use_loop)
            for function in functions[1:]:
                total += function(rows, use_loop)
            return total

        return likelihood


def require_sums(condition: bool, problem: str) -> None:
    """Refuse sums that cannot be."""
    if not condition:
        raise StatisticsError(problem)
