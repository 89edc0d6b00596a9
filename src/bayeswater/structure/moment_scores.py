"""Scores of a structure of states and numbers, read off the moments of families.

A number y with k numeric parents has, for each of the q configurations of its parents with states, a regression on the
numeric ones with variance s^2 = (squared residuals) / (n - k - 1), as R's `lm` (`estimate.regression`):

    loglik   sum over configurations of -n/2 ln(2 pi s^2) - (n - k - 1)/2; -inf where rows leave no variance
    aic, bic loglik - f q (k + 2), f = 1 or ln(N)/2
    ebic     bic - 4 g ln(p) for each parent, of p variables
    bge      marginal likelihood of numbers alone (Geiger and Heckerman 2002; Kuipers, Moffa and Heckerman 2014), with
             prior mean that of the rows, weight 1, and p + 2 degrees of freedom; with a graph prior, if there is one

A variable with states is scored by its counts, and never has a parent that is a number: that scores -inf. These are
bnlearn's loglik-g, aic-g, bic-g, ebic-g, bge where all are numbers, and loglik-cg, aic-cg, bic-cg, ebic-cg.

Rows are summed once for each set of parents with states; all families with these are read off the sums.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import log
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.estimate.regression import left_of_rows, regress
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.scatter import Scatter
from bayeswater.structure.graph_priors import UNIFORM, GraphPrior
from bayeswater.structure.local_scores import numbered
from bayeswater.structure.scores import Score
from bayeswater.typing import Array, is_number

MOMENT_SCORES = ("loglik", "aic", "bic", "ebic", "bge")

MOST_SUMS = 2**28
"""Bytes of sums that are kept."""


@record
class MomentScore:
    """A score of states and numbers.

    Parameters
    ----------
    name : one of `MOMENT_SCORES`
    setting : price of a parameter (aic, bic), g of eBIC, or the rows that the prior mean of BGe counts for (1)
    degrees : degrees of freedom of the prior of BGe (p + 2)
    graph_prior : of BGe, how likely arcs are beforehand
    """

    name: str
    setting: float | None = None
    degrees: float | None = None
    graph_prior: GraphPrior = UNIFORM

    def __post_init__(self) -> None:
        if self.name not in MOMENT_SCORES:
            raise ParameterError(
                f"score is {self.name!r}; with numbers choose one of {', '.join(MOMENT_SCORES)}, or put numbers into "
                "bins: numbers='states'"
            )
        if self.setting is not None and (self.name == "loglik" or not (is_number(self.setting) and self.setting > 0)):
            raise ParameterError(
                f"the setting of score {self.name!r} is {self.setting!r}; aic, bic, ebic and bge take a number over 0"
            )
        if self.degrees is not None and (self.name != "bge" or not is_number(self.degrees)):
            raise ParameterError(
                f"the second setting of score {self.name!r} is {self.degrees!r}; bge alone takes one, the degrees of "
                "freedom of its prior"
            )
        self.graph_prior.require_likelihood(self.name, ("bge",))

    @property
    def is_equivalent(self) -> bool:
        """Whether equivalent graphs score the same, but for the rows that variances are divided by."""
        return True

    def price(self, n_rows: float) -> float:
        """What a parameter costs."""
        if self.name in ("aic", "bic") and self.setting is not None:
            return self.setting
        return {"aic": 1.0, "bic": log(n_rows) / 2, "ebic": log(n_rows) / 2}.get(self.name, 0.0)

    def per_parent(self, n_variables: int) -> tuple[float, float]:
        """What each parent adds to the score of a variable, and what every variable adds, by eBIC or a graph prior."""
        if self.name == "ebic":
            return -4.0 * (0.5 if self.setting is None else self.setting) * log(n_variables), 0.0
        return self.graph_prior.terms(n_variables)


def as_moment_score(score: Any, graph_prior: Any = "uniform") -> MomentScore:
    """Read a score by name, as (name, setting) or as it is; "-g" or "-cg" may follow the name, as in bnlearn."""
    if isinstance(score, MomentScore):
        return score if graph_prior == "uniform" else replace(score, graph_prior=GraphPrior.of(graph_prior))
    given = score if isinstance(score, tuple) and 0 < len(score) < 4 else (score,)
    name, setting, degrees = (*given, None, None)[:3]
    if not isinstance(name, str):
        raise ParameterError(f"score is {score!r}; give a name such as 'bic', or ('bic', price of a parameter)")
    name = name.lower().removesuffix("-cg").removesuffix("-g")
    name = {"mdl": "bic", "log-likelihood": "loglik"}.get(name, name)
    return MomentScore(name, setting, degrees, GraphPrior.of(graph_prior))


class MomentScores:
    """Scores of parent sets over one table of states and numbers, all of whose cells are there.

    Parameters
    ----------
    codes, values : (n_variables, n_rows); codes of numbers, and values of states, mean nothing
    is_number : (n_variables,) bool
    n_states : (n_variables,); 1 for numbers
    score : what to read off the sums
    weight : (n_rows,), optional
    """

    def __init__(
        self,
        codes: Array,
        values: Array,
        is_number: Array,
        n_states: Array,
        score: MomentScore,
        weight: Array | None = None,
    ) -> None:
        if score.name == "bge" and not is_number.all():
            raise ParameterError("bge is a score of numbers alone; take 'bic', or leave variables with states out")
        self.codes, self.values, self.is_number = codes, values, is_number
        self.n_states = np.asarray(n_states, dtype=np.int64)
        self.score, self.weight = score, weight
        self.n_rows: float = codes.shape[1] if weight is None else float(weight.sum())
        self.n_variables = len(n_states)
        self.n_counted = 0
        self.is_full = False
        self._per_parent, self._per_variable = score.per_parent(self.n_variables)
        if score.degrees is not None and score.degrees <= self.n_variables + 1:
            raise ParameterError(
                f"the degrees of freedom of bge are {score.degrees!r}; with {self.n_variables} variables give more "
                f"than {self.n_variables + 1}"
            )
        self._column_of = {int(v): j for j, v in enumerate(np.flatnonzero(is_number))}
        self._sums: dict[tuple[int, ...], tuple[Array, Array, Array]] = {}
        self._known: dict[tuple[int, frozenset[int]], float] = {}

    def expect(self, n_columns: int) -> None:
        """Say how many columns will be asked for; nothing is made ready for them."""

    def of(self, y: int, parents: Iterable[int]) -> float:
        """Score of one parent set."""
        own = frozenset(parents)
        self._count(y, [own])
        return self._known[y, own]

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """Score of a whole graph."""
        return sum(self.of(y, own) for y, own in enumerate(parents))

    def column(self, y: int, parents: frozenset[int]) -> Array:
        """Scores of y with each other variable joining or leaving its parents; at y, as it stands: (n_variables,)."""
        sets = [parents if x == y else parents ^ {x} for x in range(self.n_variables)]
        self._count(y, sets)
        return np.array([self._known[y, own] for own in sets])

    def columns(self, wanted: Sequence[tuple[int, frozenset[int]]]) -> list[Array]:
        """Give several columns."""
        return [self.column(y, parents) for y, parents in wanted]

    def pair_gains(self) -> None:
        """Give nothing: what a pair of numbers gains is not the information of states."""

    def leaving(self, y: int, parents: frozenset[int]) -> Array:
        """Scores of y as it stands, at y, and without each of its parents; of the others it tells nothing."""
        scores = np.full(self.n_variables, -np.inf)
        for x in (*parents, y):
            scores[x] = self.of(y, parents if x == y else parents - {x})
        return scores

    def log_likelihood(self, y: int, parents: Iterable[int]) -> float:
        """Log-likelihood of a variable given parents; of a number by regression."""
        own = frozenset(parents)
        if not self.is_number[y]:
            return self._of_states(y, own, Score("loglik"))
        discrete, numeric = self._parted(own)
        return float(self._likelihoods(discrete, np.array([[self._column_of[v] for v in (*numeric, y)]]))[0])

    # ------------------------------------------------------------------ counting

    def _count(self, y: int, sets: Iterable[frozenset[int]]) -> None:
        """Score parent sets that are not known yet, those with the same states and number of numbers together."""
        new = {own for own in sets if (y, own) not in self._known}
        self.n_counted += len(new)
        if not self.is_number[y]:
            for own in new:
                self._known[y, own] = self._of_states(y, own, Score("loglik")) - self._price(y, own)
            return
        groups: dict[tuple[tuple[int, ...], int], list[tuple[frozenset[int], list[int]]]] = {}
        for own in new:
            discrete, numeric = self._parted(own)
            groups.setdefault((discrete, len(numeric)), []).append((own, numeric))
        for (discrete, _), members in groups.items():
            places = np.array([[self._column_of[v] for v in (*numeric, y)] for _, numeric in members])
            scores = self._bge(places) if self.score.name == "bge" else self._likelihoods(discrete, places)
            for (own, _), score in zip(members, scores.tolist(), strict=True):
                self._known[y, own] = score - self._price(y, own)

    def _likelihoods(self, discrete: tuple[int, ...], places: Array) -> Array:
        """Log-likelihoods of the last of each list of columns given the others: (n_lists,)."""
        n, mean, scatter = self.sums(discrete)
        rows, columns = places[:, None, :, None], places[:, None, None, :]
        groups = np.arange(len(n))[:, None, None]
        own = regress(
            np.broadcast_to(n, (len(places), len(n))),
            mean[np.arange(len(n))[:, None], places[:, None, :]],
            scatter[groups, rows, columns],
        )
        if own.is_near.any():
            which = self._groups(discrete)
            for k, group in zip(*np.nonzero(own.is_near), strict=True):
                there = which == group
                own.left[k, group] = left_of_rows(
                    self._numbers[there][:, places[k]].T, None if self.weight is None else self.weight[there]
                )
        return own.log_likelihood.sum(axis=1)

    def _of_states(self, y: int, parents: frozenset[int], score: Score) -> float:
        if any(self.is_number[parent] for parent in parents):
            return -np.inf
        r, own = int(self.n_states[y]), sorted(parents)
        configuration, n_numbers = numbered(self.codes, self.n_states, own)
        require_table_bytes(8 * n_numbers * r, f"counting a variable of {r} states with its parents", "leave it out")
        counts = np.bincount(configuration * r + self.codes[y], self.weight, minlength=n_numbers * r).reshape(-1, r)
        return score.local_score(counts, float(np.prod(self.n_states[own], dtype=np.float64)), self.n_rows)

    def _price(self, y: int, parents: frozenset[int]) -> float:
        q = float(np.prod(self.n_states[list(parents)], dtype=np.float64))
        n_parameters = q * (int(self.is_number[list(parents)].sum()) + 2)
        if not self.is_number[y]:
            n_parameters = q * (int(self.n_states[y]) - 1)
        price = self.score.price(self.n_rows)
        return (price * n_parameters if price else 0.0) - self._per_parent * len(parents) - self._per_variable

    def _parted(self, parents: frozenset[int]) -> tuple[tuple[int, ...], list[int]]:
        own = sorted(parents)
        return tuple(v for v in own if not self.is_number[v]), [v for v in own if self.is_number[v]]

    def sums(self, discrete: tuple[int, ...]) -> tuple[Array, Array, Array]:
        """Rows, means and scatters of all numbers, for each configuration that rows have."""
        found = self._sums.get(discrete)
        if found is None:
            which = self._groups(discrete)
            n = int(which.max(initial=0)) + 1
            labels = Labels(Variable("configuration", range(n)), which, np.bincount(which, minlength=n))
            total = Scatter.of(DenseMatrix(self._numbers), labels, self.weight, skip_missing=False)
            found = total.weight[:, 0, 0].astype(np.float64), total.means, total.scatter
            if 8 * found[2].size * (len(self._sums) + 1) > MOST_SUMS:
                self._sums.clear()
            self._sums[discrete] = found
        return found

    def _groups(self, discrete: tuple[int, ...]) -> Array:
        """Number the configurations that rows have: (n_rows,)."""
        return np.unique(numbered(self.codes, self.n_states, discrete)[0], return_inverse=True)[1].reshape(-1)

    @cached_property
    def _numbers(self) -> Array:
        return np.ascontiguousarray(self.values[self.is_number].T)

    # ------------------------------------------------------------------ the marginal likelihood of numbers

    def _bge(self, places: Array) -> Array:
        p, n, k = self.n_variables, self.n_rows, places.shape[1] - 1
        degrees = p + 2.0 if self.score.degrees is None else self.score.degrees
        weight = 1.0 if self.score.setting is None else self.score.setting
        scale = weight * (degrees - p - 1) / (weight + 1)
        posterior = self.sums(())[2][0] + scale * np.eye(p)
        whole = np.linalg.slogdet(posterior[places[:, :, None], places[:, None, :]])[1]
        above = places[:, :-1]
        parents = np.linalg.slogdet(posterior[above[:, :, None], above[:, None, :]])[1]
        before, after = (degrees - p + k + 1) / 2, (n + degrees - p + k + 1) / 2
        constant = -n / 2 * log(np.pi) + log(weight / (n + weight)) / 2 + gammaln(after) - gammaln(before)
        return constant + (before * (k + 1) - (before - 0.5) * k) * log(scale) - after * whole + (after - 0.5) * parents
