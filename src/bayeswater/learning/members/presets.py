"""The presets of `BayesEnsemble`: which committees, how many members of each, and how many fit into a time limit.

    generative   KDB, AODE, Gaussian: P(class, row) alone, Bayesian networks and nothing else beside texts
    balanced     AODE, Gaussian, a linear member, 64 class trees: about what a random forest of 200 trees costs, so
                 where columns are many and rows few there are fewer members of AODE
    best         AODE, Gaussian, linear and more trees, and boosted trees; below 1000 different rows KDB, too

A committee that a table has no columns for is left out: without numbers there are no Gaussians, without texts no
words, and without anything but texts there is nothing else.

For a time limit every committee learns one round of members, as many as there are threads, from some rows, and
validates them; a member of all rows is taken to cost in proportion to their number. If the preset is too much, every
committee keeps the same share of its members; if that would be less than an eighth, the dearest are left out, but not
the last.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import inf, isqrt
from numbers import Integral
from time import perf_counter
from typing import Any

from bayeswater.errors import BayesWarning, ParameterError, warn_user
from bayeswater.kernels.threads import thread_count
from bayeswater.learning.members.aode_members import AodeMembers
from bayeswater.learning.members.boosted_member import BoostedMember
from bayeswater.learning.members.committee import Committee
from bayeswater.learning.members.gaussian_member import GaussianMember
from bayeswater.learning.members.kdb_members import MOST_PARENTS, KdbMembers
from bayeswater.learning.members.linear_member import LinearMember
from bayeswater.learning.members.member_table import EnsembleTable
from bayeswater.learning.members.screening import slots_of
from bayeswater.learning.members.tree_members import ClassTrees
from bayeswater.learning.members.word_member import WordMember
from bayeswater.limits import TABLE_BYTES, bytes_in_words, require_table_bytes
from bayeswater.records import record

MOST_COLUMNS = 24
"""Columns that the most thorough trees look at in a node, at most."""


def _trees(n_members: int, n_columns: int | str, n_thresholds: int, phi: float, nominal: str = "one") -> ClassTrees:
    return ClassTrees(n_members, n_columns, n_thresholds, phi, nominal)


PRESETS: Mapping[str, Mapping[str, Committee]] = {
    "generative": {"kdb": KdbMembers(), "aode": AodeMembers(), "gaussian": GaussianMember(), "words": WordMember()},
    "balanced": {
        "aode": AodeMembers(4),
        "gaussian": GaussianMember(),
        "trees-sqrt": _trees(40, "sqrt", 1, 0.6),
        "trees-all": _trees(24, MOST_COLUMNS, 3, 0.6, "cycle"),
        "words": WordMember(),
        "linear": LinearMember(bends=False),
    },
    "best": {
        "kdb": KdbMembers(8),
        "aode": AodeMembers(4),
        "gaussian": GaussianMember(),
        "trees-sqrt": _trees(100, "sqrt", 1, 0.8),
        "trees-half": _trees(60, "half", 2, 0.8),
        "trees-all": _trees(45, MOST_COLUMNS, 3, 0.8, "cycle"),
        "words": WordMember(),
        "linear": LinearMember(),
        "boosted": BoostedMember(),
    },
}
"""Committees by name, before they have learned; trees are called by how many columns they look at in a node."""

KINDS: Mapping[str, type[Committee]] = {
    "kdb": KdbMembers,
    "aode": AodeMembers,
    "gaussian": GaussianMember,
    "words": WordMember,
    "linear": LinearMember,
    "boosted": BoostedMember,
    **dict.fromkeys(("trees-sqrt", "trees-half", "trees-all"), ClassTrees),
}
"""What a committee of each name is made of, in a file too."""

OF_ALL_ROWS = ("gaussian", "words", "linear", "boosted")
"""Committees of one member."""


KDB_ROWS = 1000
"""Different rows from which a pool of boosted trees is no better with KDB, and takes twice as long to predict."""

IF_NAMED = frozenset({"trees-half"})
"""Committees without which every pool is as good: they learn if `members` names them."""


def has_columns_for(name: str, table: EnsembleTable) -> bool:
    """Say whether a table has columns that a committee learns from."""
    if name == "words":
        return table.words is not None
    return bool(table.numbers.shape[1] if name == "gaussian" else table.n_columns)


OF_PAIRS = frozenset({"kdb", "aode"})
"""Committees that count all pairs of columns."""

PAIR_BYTES = {"balanced": TABLE_BYTES // 64, "generative": TABLE_BYTES // 4, "best": TABLE_BYTES // 4}
"""What the pairs of all members of a committee may take.

For what is to cost no more than a forest that is little: time grows with these counts, and trees do not need them.
"""

CELLS_OF_A_ROW, ROWS_OF_NO_ROW = 2**11, 1000
"""Counts of pairs that all members may have together, for each row and as if there were some more.

Members work out probabilities from all counts, whereas a forest looks at rows alone, beside what its trees cost anyway.
Where one member would have more, in any preset, members look at the columns that tell most.
"""

TERMS_OF_A_ROW = 2**15
"""Terms that all members of a committee of pairs may add up for a row, about: a forest predicts in such a time.

A committee is left out of which one member would need more, unless it is asked for or the preset is "generative".
"""

LOOK_UPS = 4 * MOST_PARENTS
"""Terms in whose time KDB looks a column up."""

COVARIANCE_BYTES = 2**28
"""What the covariances of all numbers may take without being asked for: time grows with them, too."""

WHILE_LEARNING = 4
"""Times of that which are held while they are learned."""

SCREENED = 4
"""Members whose pairs of the columns that tell most are as many as these counts."""


def committees_of(preset: Any, members: Any, table: EnsembleTable) -> dict[str, Committee]:
    """Give the committees of a preset for a table; `members` may say how many members each is to have, 0 for none."""
    if not (isinstance(preset, str) and preset in PRESETS):
        raise ParameterError(f"preset is {preset!r}; it can be one of {[*PRESETS]}")
    committees = PRESETS[preset]
    given = _members_given(members, committees)
    is_boosted = bool(given.get("boosted", "boosted" in committees))
    needless = IF_NAMED | ({"kdb"} if is_boosted and len(table) >= KDB_ROWS else set())
    chosen = {
        name: committee.of_members(given[name]) if name in given else committee
        for name, committee in committees.items()
        if given.get(name, name not in needless) and has_columns_for(name, table)
    }
    if not chosen:
        raise ParameterError(
            f"members is {members!r}, which leaves no family that can learn from this table; give a member to one of "
            f"{[*committees]}"
        )
    _make_room(chosen, table, is_asked_for="gaussian" in given)
    n_slots, slots = _slots_of_pairs(table, preset), slots_of(table)
    n_bytes = pair_bytes(n_slots or int(slots.sum()), table.n_classes)
    n_looked_at = int(n_slots / slots.mean()) if n_slots else table.n_columns  # about
    is_given, of_rows = bool(given.keys() & OF_PAIRS), 8 * CELLS_OF_A_ROW * (len(table) + ROWS_OF_NO_ROW)
    most = TABLE_BYTES // 4 if is_given else PAIR_BYTES[preset]
    if preset == "balanced" and not is_given:
        most = min(most, max(n_bytes, of_rows))
    for name in OF_PAIRS & chosen.keys():
        fitting = most // n_bytes
        if not (preset == "generative" or name in given):
            of_member = table.n_classes * n_looked_at * (LOOK_UPS if name == "kdb" else n_looked_at)
            within = TERMS_OF_A_ROW // max(1, of_member)
            if not within and len(chosen) > 1:
                del chosen[name]
                continue
            fitting = min(fitting, within)
        n_members = max(1, min(fitting, chosen[name].members_for(table)))
        chosen[name] = replace(chosen[name], n_members=n_members, n_slots=n_slots)  # type: ignore[type-var]
    return chosen


def _make_room(chosen: dict[str, Committee], table: EnsembleTable, *, is_asked_for: bool) -> None:
    """Leave out covariances of too many numbers, and say so; refuse them where they are all there is, or asked for."""
    n_numbers = table.numbers.shape[1]
    n_bytes = 8 * table.n_classes * n_numbers**2
    if "gaussian" not in chosen or n_bytes <= COVARIANCE_BYTES:
        return
    what = f"covariances of {n_numbers:,} numbers in {table.n_classes} classes"
    if is_asked_for or len(chosen) == 1:
        require_table_bytes(WHILE_LEARNING * n_bytes, what, "give members={'gaussian': 0}, or fewer columns of numbers")
        return
    del chosen["gaussian"]
    warn_user(
        f"the family 'gaussian' is left out: {what} would take {bytes_in_words(n_bytes)}, over "
        f"{bytes_in_words(COVARIANCE_BYTES)}; members={{'gaussian': 0}} says so without a warning",
        BayesWarning,
    )


def pair_bytes(n_slots: int, n_classes: int) -> int:
    """Forecast the bytes of the counts of all pairs of columns that have so many states, within each class."""
    return max(1, 4 * n_slots**2 * n_classes)  # each pair once, in 8 bytes


def _slots_of_pairs(table: EnsembleTable, preset: str) -> int:
    """Say how many states the columns may have that members of pairs look at; 0 where they look at all of them."""
    n_bytes = min(8 * CELLS_OF_A_ROW * (len(table) + ROWS_OF_NO_ROW), PAIR_BYTES[preset])
    if pair_bytes(int(slots_of(table).sum()), table.n_classes) <= n_bytes:
        return 0
    return max(1, isqrt(n_bytes // (4 * SCREENED * table.n_classes)))


def _members_given(members: Any, committees: Mapping[str, Committee]) -> dict[str, int]:
    """Read the parameter `members`."""
    if members is None:
        return {}
    is_right = isinstance(members, Mapping) and all(
        name in committees and _is_member_count(n, most=1 if name in OF_ALL_ROWS else inf)
        for name, n in members.items()
    )
    if not is_right:
        raise ParameterError(
            f"members is {members!r}; give a dict of whole numbers by family, for example {{'aode': 4}}; the families "
            f"of this preset are {[*committees]}"
        )
    return {name: int(n) for name, n in members.items()}


def _is_member_count(n: Any, most: float) -> bool:
    """Say whether this is a number of members, up to the most there can be."""
    return type(n) is not bool and isinstance(n, Integral) and 0 <= int(n) <= most


TRIAL_ROWS = 2000
"""Rows that a forecast is made from: enough for the loops that all rows will take."""

LEAST_SHARE = 1 / 8
"""Share of its members below which a committee is rather left out than thinned further, where others remain."""

STEPS = 64
"""Shares of the members that are considered."""


@record
class TimeForecast:
    """Seconds that a member of each committee takes, and how many there would be without a limit."""

    seconds: Mapping[str, float]
    n_members: Mapping[str, int]

    def total(self, share: float = 1.0) -> float:
        """Seconds of all committees, each with a share of its members."""
        return sum(self._of(name, share) for name in self.seconds)

    def within(self, limit: float) -> dict[str, int]:
        """Give the members of each committee that fit into a limit.

        >>> TimeForecast({"a": 0.1, "b": 1.0}, {"a": 20, "b": 4}).within(3.2)
        {'a': 12, 'b': 2}
        >>> TimeForecast({"a": 0.1, "b": 1.0}, {"a": 20, "b": 4}).within(0.5)
        {'a': 5}
        """
        kept = self
        while kept.total(LEAST_SHARE) > limit and len(kept.seconds) > 1:
            dearest = max(kept.seconds, key=lambda name: kept._of(name, LEAST_SHARE))
            kept = TimeForecast({name: own for name, own in kept.seconds.items() if name != dearest}, self.n_members)
        if kept.total(0.0) > limit:  # one member at least, of what costs least
            cheapest = min(self.seconds, key=self.seconds.__getitem__)
            kept = TimeForecast({cheapest: self.seconds[cheapest]}, self.n_members)
        share = max((step / STEPS for step in range(STEPS + 1) if kept.total(step / STEPS) <= limit), default=0.0)
        return {name: _part(self.n_members[name], share) for name in kept.seconds}

    def _of(self, name: str, share: float) -> float:
        return self.seconds[name] * _part(self.n_members[name], share)


def forecast(committees: Mapping[str, Committee], table: EnsembleTable, seed: int) -> TimeForecast:
    """Let every committee learn from a few canonical rows; each twice, since the first time loops may be compiled."""
    sample = table.take(slice(0, TRIAL_ROWS))
    seconds, n_members = {}, {}
    for name, committee in committees.items():
        n_members[name] = committee.members_for(table)
        n_trial = min(n_members[name], thread_count())
        trial = committee.of_members(n_trial)
        for _ in range(2):
            start = perf_counter()
            trial.learn(sample, seed).honest_log_posterior(sample)
            took = perf_counter() - start
        seconds[name] = took / n_trial * len(table) / len(sample)
    return TimeForecast(seconds, n_members)


def limited(
    committees: Mapping[str, Committee], table: EnsembleTable, seed: int, limit: float, started: float
) -> tuple[dict[str, Committee], float]:
    """Give the committees that can be learned until `limit` seconds after `started`, and the forecast for all."""
    found = forecast(committees, table, seed)
    left = limit - (perf_counter() - started)
    members = found.within(left) if found.total() > left else found.n_members
    kept = {name: committees[name].of_members(n) for name, n in members.items()}
    return kept, found.total()


def _part(n_members: int, share: float) -> int:
    return max(1, int(n_members * share))
