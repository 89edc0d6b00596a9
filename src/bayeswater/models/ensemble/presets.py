"""The presets of `BayesEnsemble`: which families, and how many members of each.

    generative   KDB, AODE, Gaussian: P(class, row) alone, Bayesian networks and nothing else
    balanced     AODE, Gaussian, 64 class trees: about what a random forest of 200 trees costs, so where columns are
                 many and rows few there are fewer members of AODE
    best         all of them, and more of each

A family that a table has no columns for is left out: without numbers there are no Gaussians.
"""

from collections.abc import Mapping
from math import inf
from numbers import Integral
from typing import Any

from bayeswater.errors import BayesWarning, ParameterError, ResourceLimitError, warn_user
from bayeswater.limits import TABLE_BYTES, bytes_in_words
from bayeswater.models.ensemble.aode_members import AodeMembers
from bayeswater.models.ensemble.class_trees import ClassTrees
from bayeswater.models.ensemble.family import Family
from bayeswater.models.ensemble.gaussian_member import GaussianMember
from bayeswater.models.ensemble.kdb_members import KdbMembers
from bayeswater.models.ensemble.labelled_table import EnsembleTable

MOST_COLUMNS = 24
"""Columns that the most thorough trees look at in a node, at most."""


def _trees(n_members: int, n_columns: int | str, n_thresholds: int, phi: float, nominal: str = "one") -> ClassTrees:
    return ClassTrees(n_members, n_columns, n_thresholds, phi, nominal)


PRESETS: Mapping[str, Mapping[str, Family]] = {
    "generative": {"kdb": KdbMembers(), "aode": AodeMembers(), "gaussian": GaussianMember()},
    "balanced": {
        "aode": AodeMembers(4),
        "gaussian": GaussianMember(),
        "trees-sqrt": _trees(40, "sqrt", 1, 0.6),
        "trees-all": _trees(24, MOST_COLUMNS, 3, 0.6, "cycle"),
    },
    "best": {
        "kdb": KdbMembers(),
        "aode": AodeMembers(),
        "gaussian": GaussianMember(),
        "trees-sqrt": _trees(100, "sqrt", 1, 0.8),
        "trees-half": _trees(60, "half", 2, 0.8),
        "trees-all": _trees(45, MOST_COLUMNS, 3, 0.8, "cycle"),
    },
}
"""Families by name, before they have learned; trees are called by how many columns they look at in a node."""

KINDS: Mapping[str, type[Family]] = {
    "kdb": KdbMembers,
    "aode": AodeMembers,
    "gaussian": GaussianMember,
    **dict.fromkeys(("trees-sqrt", "trees-half", "trees-all"), ClassTrees),
}
"""What a family of each name is made of, in a file too."""

OF_NUMBERS = ("gaussian",)
"""Families that are left out of a table without numbers; they have one member, of all rows."""


OF_PAIRS = frozenset({"kdb", "aode"})
"""Families that count all pairs of columns."""

PAIR_BYTES = {"balanced": TABLE_BYTES // 64, "generative": TABLE_BYTES // 4, "best": TABLE_BYTES // 4}
"""What the pairs of all members of a family may take; where one member would take more, the family is left out.

For what is to cost no more than a forest that is little: time grows with these counts, and trees do not need them.
"""

STATES_OF_A_NUMBER = 8
"""Slots of a column of numbers, in a forecast of memory: root of the mean square over the ways in which members cut."""

CELLS_OF_A_ROW, ROWS_OF_NO_ROW = 2**11, 1000
"""Counts of pairs that all members may have together, for each row and as if there were some more.

Members work out probabilities from all counts, whereas a forest looks at rows alone, beside what its trees cost anyway.
"""


def families_of(preset: Any, members: Any, table: EnsembleTable) -> dict[str, Family]:
    """Give the families of a preset for a table; `members` may say how many members each is to have, 0 for none."""
    if not (isinstance(preset, str) and preset in PRESETS):
        raise ParameterError(f"preset is {preset!r}; it can be one of {[*PRESETS]}")
    families = PRESETS[preset]
    told = _told(members, families)
    chosen = {
        name: family.of_members(told[name]) if name in told else family
        for name, family in families.items()
        if told.get(name) != 0 and (table.numbers.shape[1] or name not in OF_NUMBERS)
    }
    if not chosen:
        raise ParameterError(
            f"members is {members!r}, which leaves no family that this table can teach; let one of {[*families]} have "
            "a member"
        )
    if told.keys() & OF_PAIRS:
        return _within_memory(chosen, table, TABLE_BYTES // 4)
    if preset == "balanced":
        chosen = {name: _of_rows(family, table) if name in OF_PAIRS else family for name, family in chosen.items()}
    return _within_memory(chosen, table, PAIR_BYTES[preset])


def pair_bytes(table: EnsembleTable) -> int:
    """Forecast the bytes of the counts of all pairs of columns, within each class, of one member."""
    n_states = STATES_OF_A_NUMBER * table.numbers.shape[1] + int((table.n_states + 1).sum())
    return 4 * n_states**2 * table.n_classes  # each pair once, in 8 bytes


def _of_rows(family: Family, table: EnsembleTable) -> Family:
    """Let a family have as many members as there are rows for, one at least."""
    n_bytes = 8 * CELLS_OF_A_ROW * (len(table) + ROWS_OF_NO_ROW)
    n_most = n_bytes // max(1, pair_bytes(table))
    return family.of_members(max(1, min(n_most, family.members_for(table))))


def _within_memory(families: Mapping[str, Family], table: EnsembleTable, n_bytes: int) -> dict[str, Family]:
    """Let families have as many members as there is memory for, and leave out those of which one is too many."""
    n_most = n_bytes // max(1, pair_bytes(table))
    kept = {}
    for name, family in families.items():
        if name not in OF_PAIRS or n_most >= family.members_for(table):
            kept[name] = family
        elif n_most:
            kept[name] = family.of_members(n_most)
    left_out = [name for name in families if name not in kept]
    if left_out:
        told = (
            f"{table.n_columns} columns have so many states that the counts of their pairs would take "
            f"{bytes_in_words(pair_bytes(table))} for each member"
        )
        if not kept:
            raise ResourceLimitError(f"{told}; leave columns out, or take preset='balanced', which has trees too")
        names = " and ".join(f"{name!r}" for name in left_out)
        warn_user(f"{told}, so {names} is left out; leave columns out to keep it", BayesWarning)
    return kept


def _told(members: Any, families: Mapping[str, Family]) -> dict[str, int]:
    """Read the parameter `members`."""
    if members is None:
        return {}
    is_right = isinstance(members, Mapping) and all(
        name in families and _can_be_told(n, most=1 if name in OF_NUMBERS else inf) for name, n in members.items()
    )
    if not is_right:
        raise ParameterError(
            f"members is {members!r}; give a dict of whole numbers by family, for example {{'aode': 4}}; the families "
            f"of this preset are {[*families]}"
        )
    return {name: int(n) for name, n in members.items()}


def _can_be_told(n: Any, most: float) -> bool:
    """Say whether this is a number of members, up to the most there can be."""
    return type(n) is not bool and isinstance(n, Integral) and 0 <= int(n) <= most
