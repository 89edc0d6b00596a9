"""What would turn a decision: the nearest cells, of those that can be, with which another class wins.

Each column is tried alone: its states that occur, or the numbers of the range that was seen. A number is searched for
between places of which one turns the decision and the other does not; that no crossing is missed follows from how these
places are chosen (`bends`). Where no column turns it alone, two are tried together, which is no proof that there are
no others. The least change comes first, in units of the spread of its column; of equal ones the one that makes the row
the most plausible.

`RowDecisions` and `Verdicts` say how rows were decided, and which class each is compared with: the runner-up, or what a
user says.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np

from bayeswater.data.frames import Alongside
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError, SchemaError
from bayeswater.families.view import ColumnView, NumberOptions, Options
from bayeswater.inference.log_space import best_class, log_evidence
from bayeswater.records import record
from bayeswater.typing import Array

MOST_TURNS = 3

MARGIN = 1e-9
"""Share of its score by which the class that was chosen has to be beaten, so that no rounding turns it back."""

CLOSE = 1e-12
"""Share of a number below which there is no need to look for a nearer one."""

MOST_TOGETHER = 10
"""Columns that are tried two at a time: those that come nearest to turning it alone, and two for each class."""


COARSE, FINE = 9, 65
"""Numbers of a range that are tried together with those of another column: of all pairs, and of the best few."""

FINER_PAIRS = 3
"""Pairs of columns that are tried a second time."""


class Turn(NamedTuple):
    """A change of one column: in words, the value it would have, and the class that would then be predicted."""

    column: str
    change: str
    value: Any
    prediction: Any


@record
class Decision:
    """How classes are decided between: by the largest ``slope * log_joint + shift`` (1 and 0 without a calibration)."""

    slope: float
    shift: Array  # (n_classes,)
    by_known: bool = False  # whether slope and shift depend on how many cells of the row are known

    def scores(self, log_joint: Array) -> Array:
        """What log-joints (n, n_classes) are compared by."""
        possible = np.isfinite(log_joint)
        return np.where(possible, self.slope * np.where(possible, log_joint, 0.0) + self.shift, -np.inf)

    def winner(self, log_joint: Array) -> int:
        """Class that is predicted by log-joints (n_classes,)."""
        return int(best_class(self.scores(log_joint[None]))[0])

    def lead(self, log_joint: Array, chosen: int) -> Array:
        """By how much all others are behind a class, if by more than a margin: (n, n_classes), of itself infinite."""
        scores = self.scores(log_joint)
        own = scores[:, chosen : chosen + 1]
        with np.errstate(invalid="ignore"):
            lead = own + MARGIN * np.maximum(1.0, np.where(np.isfinite(own), np.abs(own), 1.0)) - scores
        lead[np.isneginf(scores)] = np.inf
        lead[:, chosen] = np.inf
        return lead


@record
class RowDecisions:
    """How each of some rows is decided: it depends on how many of its cells are known."""

    slope: Array  # (n_rows,)
    shift: Array  # (n_rows, n_classes)
    by_known: bool = False

    def of(self, row: int) -> Decision:
        """How one row is decided."""
        return Decision(float(self.slope[row]), self.shift[row], self.by_known)


class Turning(Protocol):
    """What can be asked for what would turn a decision."""

    def turns(self) -> list[Turn]:
        """Single changes, the least first."""

    def together(self) -> list[Turn]:
        """Two changes that do together."""


@record
class Landscape(ABC):
    """A row, decided as `chosen`, and what would become of its log-joints if some of its cells were others."""

    row: int
    chosen: int
    views: tuple[ColumnView, ...]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [view.column.name for view in self.views]

    @cached_property
    def options(self) -> Sequence[Options | NumberOptions | None]:
        """What could be in each column."""
        return [view.options(self.row, self.chosen) for view in self.views]

    @property
    @abstractmethod
    def log_joint(self) -> Array:
        """Log-joints of the row as it is: (n_classes,)."""

    @abstractmethod
    def is_known(self, j: int) -> bool:
        """Whether the cell in column j is known."""

    @abstractmethod
    def with_cells(self, j: int, cells: Array) -> Array:
        """Log-joints (n, n_classes) with each of some cells (n,) in column j."""

    @abstractmethod
    def with_pairs(self, i: int, cells: Array, j: int, others: Array) -> Array:
        """Log-joints (n, n_classes) with pairs of cells, (n,) each, in columns i and j."""


@record
class Bracket:
    """A cell of a column that turns the decision, and a nearer one that does not; NaN where there is none."""

    j: int
    near: float
    far: float
    least: float  # distance of the near one
    most: float  # and of the far one

    @property
    def is_closed(self) -> bool:
        """Whether there is nothing to find in between."""
        gap = abs(self.far - self.near)
        middle = (self.near + self.far) / 2
        return not gap > CLOSE * abs(self.far) or middle in (self.near, self.far)


@record
class TurningSearch:
    """A search for what would turn the decision on one row."""

    land: Landscape
    decision: Decision
    chosen: int
    classes: Array

    def turns(self) -> list[Turn]:
        """Find single changes, the least first, at most three."""
        if np.isneginf(self.land.log_joint[self.chosen]):
            return []
        brackets = [found for j in range(len(self.land.options)) for found in self._brackets(j)]
        while True:
            nearest: dict[int, float] = {}
            for one in brackets:
                nearest[one.j] = min(nearest.get(one.j, np.inf), one.most)
            limit = sorted(nearest.values())[:MOST_TURNS][-1] if nearest else 0.0
            brackets = [one for one in brackets if one.least <= min(limit, nearest[one.j])]
            if all(one.is_closed for one in brackets):
                break
            brackets = [one if one.is_closed else self._halved(one) for one in brackets]
        # What differs by rounding is equal: then the more plausible change comes first, and then the earlier column.
        found = [(round(one.most, 6), -round(self._plausible(one.j, one.far), 6), one) for one in brackets]
        turns: dict[int, Turn] = {}
        for _, _, one in sorted(found, key=lambda entry: (entry[0], entry[1], entry[2].j)):
            turn = None if one.j in turns else self._as_turn(one)
            if turn is not None:
                turns[one.j] = turn
        return list(turns.values())[:MOST_TURNS]

    def _options(self, j: int) -> Options | NumberOptions | None:
        """What could be in a column; nothing where one more known cell would change how the row is decided."""
        return None if self.decision.by_known and not self.land.is_known(j) else self.land.options[j]

    def _turned(self, j: int, cells: Array) -> Array:
        return self._is_turned(self.land.with_cells(j, cells))

    def _is_turned(self, log_joint: Array) -> Array:
        return np.asarray((self.decision.lead(log_joint, self.chosen) < 0).any(axis=1))

    def _brackets(self, j: int) -> Iterator[Bracket]:
        options = self._options(j)
        if options is None:
            return
        if isinstance(options, Options):
            for at in np.flatnonzero(self._turned(j, options.cells)):
                yield Bracket(j, np.nan, options.cells[at], options.distance[at], options.distance[at])
            return
        up, down = options.outward()
        cells = np.array([*up, *down])
        turned, distance = self._turned(j, cells), options.distance_of(cells)
        for first, stop in ((0, len(up)), (len(up), len(cells))):
            k = first + int(np.argmax(turned[first:stop])) if turned[first:stop].any() else stop
            if k < stop:
                near = k - 1 if k > first else k  # the first of all may be the least that can be
                yield Bracket(j, cells[near] if near < k else np.nan, cells[k], distance[near], distance[k])

    def _halved(self, one: Bracket) -> Bracket:
        options, middle = self.land.options[one.j], (one.near + one.far) / 2
        assert isinstance(options, NumberOptions)
        distance = float(options.distance_of(np.array([middle]))[0])
        if self._turned(one.j, np.array([middle]))[0]:
            return replace(one, far=middle, most=distance)
        return replace(one, near=middle, least=distance)

    def _plausible(self, j: int, cell: float) -> float:
        return float(log_evidence(self.land.with_cells(j, np.array([cell])))[0])

    def _as_turn(self, one: Bracket) -> Turn | None:
        """Put a change in words; None where no number that can be written turns the decision."""
        found = self._in_words(one.j, one.far, lambda cell: bool(self._turned(one.j, np.array([cell]))[0]))
        if found is None:
            return None
        cell, value, change = found
        return self._turn(one.j, change, value, self.land.with_cells(one.j, np.array([cell]))[0])

    def _in_words(self, j: int, cell: Any, turns: Any) -> tuple[Any, Any, str] | None:
        options = self.land.options[j]
        assert options is not None
        if isinstance(options, NumberOptions):
            return options.rounded(float(cell), turns)
        return cell, options.value(cell), options.words(cell)

    def _turn(self, j: int, change: str, value: Any, log_joint: Array) -> Turn:
        winner = self.classes[self.decision.winner(log_joint)]
        return Turn(self.land.names[j], change, value, winner.item() if isinstance(winner, np.generic) else winner)

    # ------------------------------------------------------------------ two together

    def together(self) -> list[Turn]:
        """Find two columns that turn it together: the least change that was found, or nothing."""
        if np.isneginf(self.land.log_joint[self.chosen]):
            return []
        columns = [j for j in range(len(self.land.options)) if self._options(j) is not None]
        pairs = list(combinations(sorted(self._promising(self._few(columns, COARSE))), 2))
        for n_numbers in (COARSE, FINE):
            found = self._pairs(pairs, n_numbers)
            pairs = [(i, j) for _, i, _, j, _ in found[:FINER_PAIRS]]
        return self._turns_together(*found[0][1:]) if found else []

    def _few(self, columns: Iterable[int], n_numbers: int) -> dict[int, tuple[Array, Array]]:
        options = ((j, self.land.options[j]) for j in columns)
        return {j: own.few(n_numbers) for j, own in options if own is not None}

    def _pairs(self, pairs: list[tuple[int, int]], n_numbers: int) -> list[tuple[float, int, Any, int, Any]]:
        """Find the least change of each pair of columns that turns it, the least first."""
        few, found = self._few({j for pair in pairs for j in pair}, n_numbers), []
        for i, j in pairs:
            (cells, near), (others, far) = few[i], few[j]
            a, b = (part.ravel() for part in np.meshgrid(np.arange(len(cells)), np.arange(len(others)), indexing="ij"))
            distance = near[a] + far[b]
            turned = np.flatnonzero(self._is_turned(self.land.with_pairs(i, cells[a], j, others[b])))
            if len(turned):
                k = turned[distance[turned].argmin()]
                found.append((float(distance[k]), i, cells[a[k]], j, others[b[k]]))
        return sorted(found, key=lambda entry: (entry[0], entry[1], entry[3]))

    def _promising(self, few: dict[int, tuple[Array, Array]]) -> set[int]:
        """Choose the columns that bring some class the nearest: two for each class, and the first of all."""
        at_rest = self.decision.lead(self.land.log_joint[None], self.chosen)[0]
        columns, gains = [], []
        for j, (cells, _) in few.items():
            lead = self.decision.lead(self.land.with_cells(j, cells), self.chosen)
            with np.errstate(invalid="ignore"):
                gain = np.where(np.isinf(lead) & np.isinf(at_rest), 0.0, at_rest - lead).max(axis=0)
            columns.append(j)
            gains.append(gain)
        if not columns:
            return set()
        by_class = np.array(gains)  # (n_columns, n_classes)
        first = np.argsort(-by_class, axis=0, kind="stable")[:2].ravel()
        ahead = np.isfinite(at_rest)
        least = (by_class[:, ahead] - at_rest[ahead]).max(axis=1, initial=-np.inf)
        most = np.argsort(-least, kind="stable")
        return {columns[k] for k in (*first, *most[:MOST_TOGETHER])}

    def _turns_together(self, i: int, cell: Any, j: int, other: Any) -> list[Turn]:
        """Move numbers back as far as the decision stays turned, one after the other, and put both in words."""

        def turned(a: Any, b: Any) -> bool:
            return bool(self._is_turned(self.land.with_pairs(i, np.array([a]), j, np.array([b])))[0])

        cell = self._moved_back(i, cell, lambda a: turned(a, other))
        found = self._in_words(i, cell, lambda a: turned(a, other))
        if found is None:
            return []
        cell, value, change = found
        other = self._moved_back(j, other, lambda b: turned(cell, b))
        found = self._in_words(j, other, lambda b: turned(cell, b))
        if found is None:
            return []
        other, second, also = found
        log_joint = self.land.with_pairs(i, np.array([cell]), j, np.array([other]))[0]
        return [self._turn(i, change, value, log_joint), self._turn(j, also, second, log_joint)]

    def _moved_back(self, j: int, cell: Any, turns: Any) -> Any:
        options = self.land.options[j]
        if not isinstance(options, NumberOptions):
            return cell
        near, far = min(max(options.start, options.low), options.high), float(cell)
        while abs(far - near) > CLOSE * abs(far) and (middle := (near + far) / 2) not in (near, far):
            near, far = (near, middle) if turns(middle) else (middle, far)
        return far


@record
class Decided:
    """Log-probabilities (n_rows, n_classes) before and after calibration, and the code of the class chosen (n_rows,).

    Without a calibration, there are none after it.
    """

    log_proba: Array
    calibrated: Array | None
    chosen: Array

    @property
    def decisive(self) -> Array:
        """The log-probabilities that decide."""
        return self.log_proba if self.calibrated is None else self.calibrated

    def compared(self, against: Any, classes: Variable) -> "Verdicts":
        """Find the class that each row is compared with."""
        if classes.n_states < 2:
            raise ParameterError(
                f"the model knows one class, {classes.states[0]!r}: there is none to compare it with; fit more"
            )
        others = self.decisive.copy()
        others[np.arange(len(others)), self.chosen] = -np.inf
        second = others.argmax(axis=1)
        second = np.where(second == self.chosen, 1, second)  # all others are impossible: any of them is the second
        opposed = second if against is None else _opposed(against, classes, self.chosen, second)
        return Verdicts(self.log_proba, self.calibrated, self.chosen, opposed)


@record
class Verdicts(Decided):
    """What was decided, and the code of the class that it is compared with (n_rows,)."""

    against: Array


def _opposed(against: Any, classes: Variable, chosen: Array, second: Array) -> Array:
    """Codes of the classes that a user wants the rows to be compared with."""
    code_of = classes.code_of
    labels = _listed(against, code_of, len(chosen))
    unknown = [label for label in labels if label not in code_of]
    if unknown:
        raise SchemaError(
            f"against names class {unknown[0]!r}, which the model does not know; there are "
            f"{classes.labels.tolist()[:10]}"
        )
    codes = np.array([code_of[label] for label in labels], dtype=np.intp)
    return np.where(codes == chosen, second, codes)


def _listed(against: Any, code_of: Mapping[Any, int], n_rows: int) -> list[Any]:
    """One label for each row, from one for all or from as many as there are rows."""
    try:
        if against in code_of:
            return [against] * n_rows
    except TypeError:  # a list has no hash
        pass
    if isinstance(against, str) or not hasattr(against, "__len__"):
        return [against] * n_rows
    labels = against.tolist() if hasattr(against, "tolist") else list(against)
    if len(labels) != n_rows:
        raise ParameterError(
            f"against has {len(labels)} labels for {n_rows} rows; give one for each row, or one for all"
        )
    return labels


class ExplainedRows(NamedTuple):
    """What an explanation knows of rows beside their reasons, in the order in which all explanations take it."""

    verdicts: Verdicts
    decisions: RowDecisions
    classes: Array
    alongside: Alongside
