"""The list of all laws, and the road of a table whose columns follow several of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnPieces
from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import AUTO, BITS, IGNORED, Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.errors import ParameterError
from bayeswater.families.beta import BetaShares
from bayeswater.families.binned import Binned
from bayeswater.families.categorical import Categorical
from bayeswater.families.family import Block, Family, Settings
from bayeswater.families.gaussian import Normal
from bayeswater.families.negative_binomial import NegativeBinomial
from bayeswater.families.numbers import NumberFamily
from bayeswater.families.open_numbers import Candidate, NumberProfile
from bayeswater.families.poisson import Poisson
from bayeswater.families.states import StateFamily
from bayeswater.families.von_mises import VonMises
from bayeswater.families.words.words import READINGS, Words
from bayeswater.kernels.threads import ordered_map
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import SeenRanges
from bayeswater.typing import Array, is_number


class OpenNumbers(NumberFamily):
    """Numbers of which all sums are kept that a choice of the law needs."""

    key: ClassVar = "undecided"
    families: ClassVar = (AUTO, BITS)

    def encode(self, raw: RawTable, known: Any, settings: Settings, *, learning: bool) -> ColumnPieces:
        """Read the numbers as they are."""
        if settings.missing == "error":
            return ColumnPieces(tuple((column,) for column in self.numbers(raw, settings)), self.names)
        return ColumnPieces(tuple(ordered_map(raw.number_pieces, self.names)), self.names)

    def count(self, table: ColumnPieces, labels: Labels, weight: Array | None, settings: Settings) -> NumberProfile:
        """Sum what the choice needs."""
        return NumberProfile.of(table, labels, weight, CANDIDATES)

    def read(self, *given: Any) -> Any:
        """Refuse: there is no law yet."""
        raise AssertionError("the family of these columns has not been chosen")

    tables = n_parameters = sample = read  # type: ignore[assignment]


LAWS: tuple[type[Family], ...] = (
    Categorical,
    Binned,
    Normal,
    Poisson,
    NegativeBinomial,
    BetaShares,
    VonMises,
    OpenNumbers,
    Words,
)
"""All laws. The log-likelihoods of a row are added up in this order."""

CANDIDATES: tuple[Candidate, ...] = tuple(
    sorted((candidate for law in LAWS for candidate in law.candidates), key=lambda candidate: candidate.is_last)
)
"""Among which the family of a column of numbers is chosen; the first of those that are equally good is taken."""

NUMERIC = tuple(
    dict.fromkeys(
        [
            *(candidate.family for candidate in CANDIDATES),
            *(
                family
                for law in LAWS
                if issubclass(law, NumberFamily) and law is not OpenNumbers
                for family in law.families
            ),
        ]
    )
)
"""Families of numbers: those that can be chosen, and those that have to be named."""

OF_TEXT = READINGS
"""Families of words."""

OF_STATES = tuple(family for law in LAWS if law.has_states for family in law.families)
"""Families whose cells are states."""

BINNED = next(law for law in LAWS if law.has_cuts).families[0]
"""Family of numbers that are cut."""

PRIORS = tuple(dict.fromkeys(prior for law in LAWS for prior in law.priors))
"""Priors that a column can be given."""

FAMILIES = (*Categorical.families, *NUMERIC, *OF_TEXT)
"""All families that a column can have."""

OPTIONS = {option: law for law in LAWS for option in law.options}
"""What columns of some laws have to be given."""

_LAW_OF = {family: law for law in LAWS for family in law.families}


def law_of(family: str) -> type[Family]:
    """Give the law of a family.

    >>> law_of("lognormal").key
    'normal'
    """
    return _LAW_OF[family]


def family_of_prior(prior: Any) -> str | None:
    """Give the family that a prior speaks of, where it is that of one law alone."""
    laws = [law for law in LAWS if isinstance(prior, law.priors)]
    return laws[0].families[0] if len(laws) == 1 else None


def kinds_of(family: str) -> tuple[str, ...] | None:
    """Give the kinds of columns that can be set to a family, left out ones among them; None: any."""
    return law_of(family).kinds_of(family) if family in _LAW_OF else None


def require_options(name: str, family: str, options: tuple[tuple[str, Any], ...]) -> None:
    """Refuse a column that does not say just what its law has to be given."""
    needed, given = law_of(family).options, dict(options)
    for option, what in needed.items():
        value = given.get(option)
        if not (is_number(value) and 0 < value < float("inf")):
            raise ParameterError(
                f"column {name!r} is {family}, with {option}={value!r}; give {what}, a number over 0, as "
                f"columns={{{name!r}: {{'family': {family!r}, {option!r}: ...}}}}"
            )
    beyond = [option for option in given if option not in needed]
    if beyond:
        raise ParameterError(f"column {name!r} is {family}, which has no {beyond[0]!r}; leave it out")


def key_of(column: Column) -> str:
    """Name of the sums that hold a column."""
    law = law_of(column.family)
    return f"{law.key} {column.name}" if law.one_each else law.key


def families_of(plan: ColumnPlan) -> dict[str, Family]:
    """Group the columns of a plan by their laws."""
    columns: dict[str, list[Column]] = {law.key: [] for law in LAWS}
    for column in plan:
        if column.family != IGNORED:
            columns.setdefault(key_of(column), []).append(column)
    return {key: law_of(own[0].family)(tuple(own)) for key, own in columns.items() if own}


def state_families_of(plan: ColumnPlan) -> list[StateFamily]:
    """Give the laws of a plan whose cells are states."""
    return [family for family in families_of(plan).values() if isinstance(family, StateFamily)]


def encode_columns(
    raw: RawTable, plan: ColumnPlan, known: Mapping[str, Any], settings: Settings, *, learning: bool
) -> MixedTable:
    """Data: read the columns of a plan, in the domains of the sums that are known."""
    raw = raw.require_columns(plan.sources, settings.model).with_dates(plan)
    groups = {}
    for key, family in families_of(plan).items():
        domain = family.domain(known[key]) if key in known else None
        groups[key] = family.encode(raw, domain, settings, learning=learning)
    return MixedTable(plan, groups, raw.n_rows)


def count_columns(table: MixedTable, labels: Labels, weight: Array | None, settings: Settings) -> ColumnGroups:
    """Statistics: sum the rows of a table, law by law."""
    groups = {
        key: family.count(table.groups[key], labels, weight, settings)
        for key, family in families_of(table.plan).items()
    }
    return ColumnGroups(labels.variable, table.plan, groups)


def seen_in_columns(table: MixedTable) -> SeenRanges:
    """Find from where to where the numbers are of columns that have densities and rates, or no family yet."""
    ranged = ((family, table.groups[key]) for key, family in families_of(table.plan).items() if family.is_ranged)
    return SeenRanges.of((name, own.column_pieces(j)) for family, own in ranged for j, name in enumerate(family.names))


def read_blocks(sums: ColumnGroups, settings: Settings) -> dict[str, Block]:
    """Estimate: read parameters off the sums, law by law."""
    return {key: family.read(sums.groups[key], settings) for key, family in families_of(sums.plan).items()}


def with_new_cells(table: MixedTable, raw: RawTable) -> MixedTable:
    """Mark the cells of a table that are unlike all that were counted; `raw` has its columns as they came."""
    raw = raw.with_dates(table.plan)
    families = families_of(table.plan).items()
    return replace(table, groups={key: family.with_new_cells(table.groups[key], raw) for key, family in families})
