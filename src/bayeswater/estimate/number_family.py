"""The family of a numeric column: that under which its values, class by class, are most probable.

Each family answers with its evidence, a function of the sums (see `family_evidence`). Before looking, no family is
preferred; after it, a family further down the list must have said more than it could have by chance (`TIE`).

A density has no value twice. So none is a candidate where one value is that of most rows, and a column of two values is
a pair of states: bins, cut between them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.estimate.family_evidence import BIN_COUNTS, ColumnEvidence
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.statistics.occupied import Occupied

NAMES = {"gaussian": "Gaussian", "lognormal": "log-normal", "poisson": "Poisson", "binned": "bins"}
"""Families and how they are called, the simplest first."""

TIE = 1.0
"""Families whose log-evidence differs by no more, a factor below 3 in probability, are tied: the first is taken."""


DENSITIES = ("gaussian", "lognormal")

FEW_VALUES, ROWS_A_VALUE = 8, 10
"""Up to so many whole numbers, with so many rows for each, are states of their own: no density has a say in them."""


@dataclass(frozen=True)
class FamilyChoice:
    """A family, the reason in words, the cuts of a binned column, and the log-evidence of each family that can be."""

    family: str
    why: str
    cuts: tuple[float, ...] | None
    log_evidence: Mapping[str, float]


def choose_family(
    profile: NumberProfile, j: int, families: Sequence[str] = tuple(NAMES), n_bins: int | None = None
) -> FamilyChoice:
    """Choose the family of column j among those allowed; with `n_bins`, bins are that many and no other number.

    A column without two different values gives nothing to choose by: it has the first family that it can have.
    """
    column = ColumnEvidence.of(profile, j)
    bin_counts = (n_bins,) if n_bins else column.bin_counts
    refused = {family: reason for family in families if (reason := column.why_not(family)) is not None}
    if "binned" in families and _is_pair(column.occupied):
        bin_counts = bin_counts or (2,)
        refused = {family: "two values" for family in families if family != "binned"}
    if not bin_counts and [*families] == ["binned"]:
        bin_counts = BIN_COUNTS[:1]  # as told, though they are few rows for it
    elif not bin_counts and "binned" in families:
        refused["binned"] = "too few rows"
    if "binned" in families and bin_counts and (reason := _why_no_density(column.occupied)) is not None:
        refused |= {family: reason for family in DENSITIES if family in families and family not in refused}
    allowed = [family for family in NAMES if family in families and family not in refused]
    if not allowed:
        reasons = ", ".join(f"not {NAMES[family]} ({reason})" for family, reason in refused.items())
        raise ParameterError(f"column {profile.column_name(j)!r} has no family among {[*families]}: {reasons}")
    if column.nothing_to_learn is not None:
        return FamilyChoice(allowed[0], column.nothing_to_learn, () if allowed[0] == "binned" else None, {})
    cuts: tuple[float, ...] | None = None
    evidence = {}
    for family in allowed:
        if family == "binned":
            evidence[family], cuts = column.binned(bin_counts)
        else:
            evidence[family] = column.log_evidence(family)
    best = next(family for family in allowed if evidence[family] >= max(evidence.values()) - TIE)
    names = NAMES if cuts is None else NAMES | {"binned": f"{len(cuts) + 1} bin{'s' * bool(cuts)}"}
    n = float(column.n.sum())
    why = _in_words(best, {family: value / n for family, value in evidence.items()}, refused, names)
    return FamilyChoice(best, why, cuts if best == "binned" else None, evidence)


def _is_pair(occupied: Occupied) -> bool:
    """Say whether there are but two values, of which one has come again: states, whole numbers or not."""
    return len(occupied.first) == 2 and occupied.are_values and bool(occupied.weight.max() > 1)


def _why_no_density(occupied: Occupied) -> str | None:
    """Say why values are none of a density, which has no value twice: a few numbers are states, and so is a spike."""
    n, different = float(occupied.weight.sum()), len(occupied.first)
    if occupied.is_whole and occupied.are_values and 2 <= different <= min(FEW_VALUES, n / ROWS_A_VALUE):
        return "few values"
    most = int(occupied.weight.argmax()) if different > 1 else 0
    is_spike = different > 1 and 2 * occupied.weight[most] > n and occupied.first[most] == occupied.last[most]
    return "one value in most rows" if is_spike else None


def _in_words(best: str, per_row: Mapping[str, float], refused: Mapping[str, str], names: Mapping[str, str]) -> str:
    order = sorted(per_row, key=lambda family: (family != best, -per_row[family]))
    apart = min((abs(per_row[best] - per_row[family]) for family in order[1:]), default=np.inf)
    digits = next((d for d in range(2, 6) if apart >= 10.0**-d), 6)  # as many as tell the best from the next
    figures = []
    for family in order:
        figure = f"{per_row[family]:.{digits}f}" if np.isfinite(per_row[family]) else "beyond float64"
        close = " (too close to prefer)" if per_row[family] > per_row[best] else ""
        figures.append(f"{names[family]} {figure}{close}")
    figures += [f"{names[family]} not eligible ({reason})" for family, reason in refused.items()]
    return f"log-evidence per row: {', '.join(figures)}"
