"""`EnsembleReport`: how good an ensemble is, measured while it learned, and what each kind of member weighs in it."""

from dataclasses import fields, replace
from typing import Any

from bayeswater.data.frames import Framed
from bayeswater.decision.intervals import Measured
from bayeswater.decision.scorecard import Measures
from bayeswater.learning.members.member_table import EnsembleTable
from bayeswater.learning.members.stack import LearnedStack
from bayeswater.limits import bytes_in_words
from bayeswater.markup import html_table, preformatted
from bayeswater.records import record

TITLES = ("family", "members", "share", "power", "temperature", "log-loss alone", "seconds", "memory")

SPREAD = 1.15
"""How much wider intervals are than of rows that are scored apart: the same rows taught most of what scores them.

By simulation: as wide as without it, intervals of 95 % held the true figures of new rows 90 to 93 times in 100.
"""


@record
class CommitteeReport:
    """Members of one kind in the pool.

    `share` is its weight in the linear pool and `power` its exponent in the log-linear one; `temperature` takes
    confidence back (above 1) or adds some; `log_loss` is that of these members alone, honest and calibrated, over the
    `n_validated` rows that it could validate.
    """

    name: str
    n_members: int
    share: float
    power: float
    temperature: float
    log_loss: float
    n_validated: int
    seconds: float
    n_bytes: int

    def _cells(self) -> tuple[str, ...]:
        numbers = (f"{value:.3g}" for value in (self.share, self.power, self.temperature))
        return (
            self.name,
            str(self.n_members),
            *numbers,
            f"{self.log_loss:.4f}" if self.n_validated else "-",
            f"{self.seconds:.2f}",
            bytes_in_words(self.n_bytes),
        )


@record
class EnsembleReport(Framed):
    """What came of a fit; it can be printed.

    Attributes
    ----------
    error, log_loss, ece : honest figures, each with an interval of 95 %: rows are scored by members whose structure has
        not seen them, without themselves in the counts, and by temperatures of committees and a pool that other rows
        taught
    n_rows : weight of the rows that were learned from
    n_validated : weight of those that every committee could validate
    n_alone : rows alone in their class, among those that were to validate: nobody knows of the class without them
    families : a `CommitteeReport` each
    seed : what the random numbers began with: ``random_state=seed`` gives the same model again
    seconds : of the fit
    forecast : seconds that all members would have taken, where there was a limit
    is_stale : whether rows were counted or forgotten since
    left_out : families that have learned, and without which the pool is as good: predicting is faster so
    """

    preset: str
    error: Measured
    log_loss: Measured
    ece: Measured
    n_rows: float
    n_validated: float
    families: tuple[CommitteeReport, ...]
    seed: int
    seconds: float
    forecast: float | None = None
    is_stale: bool = False
    n_alone: int = 0
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        preset: str,
        learned: LearnedStack,
        table: EnsembleTable,
        seed: int,
        seconds: float,
        forecast: float | None = None,
    ) -> "EnsembleReport":
        """Put together what is known after a fit."""
        stack, measures = learned.stack, Measures.of(learned.scores)
        families = tuple(
            CommitteeReport(
                name,
                stack.committees[g].n_members,
                float(stack.pool.share[g]),
                float(stack.pool.power[g]),
                float(stack.temperature[g]),
                float(learned.committee_loss[g]),
                learned.n_validated[g],
                learned.seconds[g],
                stack.committees[g].n_bytes,
            )
            for g, name in enumerate(learned.names)
        )
        return cls(
            preset,
            measures.error.widened(SPREAD, most=1.0),
            measures.log_loss.widened(SPREAD),
            measures.ece,
            float(table.weights.sum()),
            measures.n_rows,
            families,
            seed,
            seconds,
            forecast,
            n_alone=learned.n_alone,
            left_out=learned.left_out,
        )

    def as_stale(self) -> "EnsembleReport":
        """Give the same report, marked as one of other rows."""
        return replace(self, is_stale=True)

    def _lines(self) -> dict[str, Any]:
        names = [field.name for field in fields(CommitteeReport)]
        return {name: [getattr(family, name) for family in self.families] for name in names}

    def _repr_html_(self) -> str:
        figures = html_table(TITLES, (family._cells() for family in self.families)) if self.families else ""
        return preformatted("\n".join([self._title(), *self._limited(), *self._figures(), *self._as_good()])) + figures

    def _title(self) -> str:
        stale = " (stale: rows were counted or forgotten since)" if self.is_stale else ""
        return f"Ensemble {self.preset!r} of {self.n_rows:,.10g} rows, seed {self.seed}, {self.seconds:.2f} s{stale}"

    def __str__(self) -> str:
        lines = [self._title(), *self._limited(), *self._figures()]
        if self.families:
            rows = [TITLES, *(family._cells() for family in self.families)]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines += [
                "  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
                for row in rows
            ]
        return "\n".join([*lines, *self._as_good()])

    __repr__ = __str__

    def _figures(self) -> list[str]:
        if not self.n_validated:
            return [f"  no row could be scored{self._alone()}"]
        return [
            f"  honest, on {self.n_validated:,.10g} rows{self._alone()}, with intervals of 95 %:",
            f"    error     {100 * self.error.value:8.2f} % {_span(self.error, 100, 2)}",
            f"    log-loss  {self.log_loss.value:8.4f}   {_span(self.log_loss, 1, 4)}",
            f"    ECE       {self.ece.value:8.4f}   {_span(self.ece, 1, 4)}",
        ]

    def _as_good(self) -> list[str]:
        return [f"  as good without, and left out: {', '.join(self.left_out)}"] if self.left_out else []

    def _alone(self) -> str:
        return f" ({self.n_alone} alone in their class left out)" if self.n_alone else ""

    def _limited(self) -> list[str]:
        if self.forecast is None:
            return []
        return [f"  all members of the preset would have taken {self.forecast:.1f} s, by a forecast"]


def _span(figure: Measured, unit: float, digits: int) -> str:
    return f"({unit * figure.low:.{digits}f} to {unit * figure.high:.{digits}f})"
