"""How many members fit into a time limit: a forecast from a few rows.

Every family learns one round of members, as many as there are threads, from some rows, and judges them; a member of
all rows is taken to cost in proportion to their number. If the preset is too much, every family keeps the same share of
its members; if that would be less than an eighth, the dearest families are left out, but not the last one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter

from bayeswater.kernels.threads import thread_count
from bayeswater.models.ensemble.family import Family
from bayeswater.models.ensemble.labelled_table import EnsembleTable

TRIAL_ROWS = 2000
"""Rows that a forecast is made from: enough for the loops that all rows will take."""

LEAST_SHARE = 1 / 8
"""Share of its members below which a family is rather left out than thinned further, where others remain."""

STEPS = 64
"""Shares of the members that are considered."""


@dataclass(frozen=True)
class Forecast:
    """Seconds that a member of each family takes, and how many there would be without a limit."""

    seconds: Mapping[str, float]
    n_members: Mapping[str, int]

    def total(self, share: float = 1.0) -> float:
        """Seconds of all families, each with a share of its members."""
        return sum(self._of(name, share) for name in self.seconds)

    def within(self, limit: float) -> dict[str, int]:
        """Give the members of each family that fit into a limit.

        >>> Forecast({"a": 0.1, "b": 1.0}, {"a": 20, "b": 4}).within(3.2)
        {'a': 12, 'b': 2}
        >>> Forecast({"a": 0.1, "b": 1.0}, {"a": 20, "b": 4}).within(0.5)
        {'a': 5}
        """
        kept = self
        while kept.total(LEAST_SHARE) > limit and len(kept.seconds) > 1:
            dearest = max(kept.seconds, key=lambda name: kept._of(name, LEAST_SHARE))
            kept = Forecast({name: own for name, own in kept.seconds.items() if name != dearest}, self.n_members)
        if kept.total(0.0) > limit:  # one member at least, of what costs least
            cheapest = min(self.seconds, key=self.seconds.__getitem__)
            kept = Forecast({cheapest: self.seconds[cheapest]}, self.n_members)
        share = max((step / STEPS for step in range(STEPS + 1) if kept.total(step / STEPS) <= limit), default=0.0)
        return {name: _part(self.n_members[name], share) for name in kept.seconds}

    def _of(self, name: str, share: float) -> float:
        return self.seconds[name] * _part(self.n_members[name], share)


def forecast(families: Mapping[str, Family], table: EnsembleTable, seed: int) -> Forecast:
    """Let every family learn from a few canonical rows; each twice, since the first time loops may be compiled."""
    sample = table.take(slice(0, TRIAL_ROWS))
    seconds, n_members = {}, {}
    for name, family in families.items():
        n_members[name] = family.members_for(table)
        n_trial = min(n_members[name], thread_count())
        trial = family.of_members(n_trial)
        for _ in range(2):
            start = perf_counter()
            trial.learn(sample, seed).honest_log_posterior(sample)
            took = perf_counter() - start
        seconds[name] = took / n_trial * len(table) / len(sample)
    return Forecast(seconds, n_members)


def limited(
    families: Mapping[str, Family], table: EnsembleTable, seed: int, limit: float, started: float
) -> tuple[dict[str, Family], float]:
    """Give the families that can be learned until `limit` seconds after `started`, and the forecast for all of them."""
    found = forecast(families, table, seed)
    left = limit - (perf_counter() - started)
    members = found.within(left) if found.total() > left else found.n_members
    kept = {name: families[name].of_members(n) for name, n in members.items()}
    return kept, found.total()


def _part(n_members: int, share: float) -> int:
    return max(1, int(n_members * share))
