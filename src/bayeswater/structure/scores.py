"""Scores of a structure: how well a graph explains the rows, less what its parameters cost. Higher is better, in nats.

Every score here is a sum over parent sets (a variable y of r states and its parents of q configurations), of one shape,

    score(y | parents) = sum over cells of g(n_jk) - sum over configurations of h(n_j) + c,

where n_jk are the rows with configuration j and state k, and g(0) = h(0) = 0:

| score | g(n) | h(n) | c |
|---|---|---|---|
| log-likelihood | n ln n | n ln n | 0 |
| AIC, BIC | n ln n | n ln n | -f q (r - 1), f = 1 or ln(N) / 2 |
| BDeu, a rows in all | ln G(n + a/qr) - ln G(a/qr) | the same of a/q | 0 |
| BDs | as BDeu, q the configurations that rows have | | 0 |
| K2 | ln G(n + 1) | ln G(n + r) - ln G(r) | 0 |
| fNML | n ln n | n ln n + ln C(n, r) | 0 |
| qNML | n ln n | n ln n | ln C(N, q) - ln C(N, qr) |
| eBIC, g from 0 to 1 | n ln n | n ln n | that of BIC - 4 g ln(p) for each parent, of p variables |
| BDJ | ln G(n + 1/2) - ln G(1/2) | the same of r/2 | 0 |

q counts every configuration that the domains allow, seen or not. The scores that do not prefer one graph to an
equivalent one are the log-likelihood, AIC, BIC, eBIC, BDeu and qNML.

BDla averages BDeu over l equivalent sample sizes, powers of 2 around 1, for each configuration (Cano et al. 2013); it
and a score of the user's own are functions of the counts, and not of this shape.

A graph prior (`structure.graph_priors`) adds to a marginal likelihood.

C is the regret of normalised maximum likelihood: by how much, in nats, r free shares can outdo any one model of n rows.

    C(n, 1) = 1
    C(n, 2) = sum over k >= 0 of n! / ((n - k)! n^k)                (Mononen and Myllymaki 2008)
    C(n, r) = C(n, r - 1) + n / (r - 2) C(n, r - 2)                 (Kontkanen and Myllymaki 2007)

The terms of the first sum fall as exp(-k^2 / 2n): a few square roots of n are enough for all digits.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.structure.graph_priors import UNIFORM, GraphPrior
from bayeswater.typing import Array, is_number

TERMS_PER_ROOT = 10
"""Terms of C(n, 2), in square roots of n: the last is under exp(-50) of the first."""

SUMMED_ROWS = 5_000
"""Rows up to which C(n, 2) is summed; beyond, the terms that Ramanujan's series leaves out are under 1e-13 of it."""


def log_regrets(n: int, most: int) -> Array:
    """Logarithms of C(n, 0), C(n, 1), ..., C(n, most), the first of them of no meaning: (most + 1,).

    >>> np.exp(log_regrets(2, 3)).round(12).tolist()
    [1.0, 1.0, 2.5, 4.5]
    """
    log_regret = np.zeros(max(most, 2) + 1)
    if n == 0:
        return log_regret[: most + 1]
    k = np.arange(1, min(n, int(TERMS_PER_ROOT * np.sqrt(n)) + 10))
    log_regret[2] = np.log(2.0 + np.exp(np.cumsum(np.log1p(-k / n))).sum())
    # In the recurrence only the ratio to the regret before is kept, which cannot overflow.
    ratio, total = float(np.exp(log_regret[2])), float(log_regret[2])
    for r in range(3, most + 1):
        ratio = 1.0 + n / ((r - 2) * ratio)
        total += log(ratio)
        log_regret[r] = total
    return log_regret[: most + 1]


def log_regret_of_rows(n_rows: int, r: int) -> Array:
    """Logarithms of C(n, r) for every n up to `n_rows`: (n_rows + 1,).

    >>> np.exp(log_regret_of_rows(2, 3)).round(12).tolist()
    [1.0, 3.0, 4.5]
    """
    if r < 2:
        return np.zeros(n_rows + 1)
    n = np.arange(n_rows + 1)
    ratio = _regrets_of_two(n_rows)
    total = np.log(ratio)
    for k in range(3, r + 1):
        ratio = 1.0 + n / ((k - 2) * ratio)
        total = total + np.log(ratio)
    return total


def _regrets_of_two(n_rows: int) -> Array:
    """C(n, 2) for every n up to `n_rows`: summed up to `SUMMED_ROWS`, by Ramanujan's series beyond."""
    summed = min(n_rows, SUMMED_ROWS)
    n = np.arange(summed + 1)
    rows = np.maximum(n, 1)
    regret, term = np.where(n > 0, 2.0, 1.0), np.ones(summed + 1)
    for k in range(1, min(summed, int(TERMS_PER_ROOT * np.sqrt(summed)) + 10)):
        term *= np.maximum(1.0 - k / rows, 0.0)
        regret += term
    m = np.arange(summed + 1, n_rows + 1, dtype=np.float64)
    root = np.sqrt(np.pi / (2.0 * m))
    series = root * (m + 1 / 12 + 1 / (288 * m) - 139 / (51_840 * m**2)) + 2 / 3 - 4 / (135 * m) + 8 / (2_835 * m**2)
    return np.concatenate([regret, series])


LIKELIHOOD = -1.0
"""In place of a pseudo-count: the term is n ln n."""

REGRET = -2.0
"""In place of a pseudo-count: the term is n ln n + ln C(n, r)."""

MOST_REGRET_STATES = 2**20
"""Cells of a parent set beyond which qNML takes it to be out of the question: its regret is followed one by one."""


WITH_SETTING = ("aic", "bic", "ebic", "bdeu", "bds", "bdla")
"""Scores that take a setting: the price of a parameter, g of eBIC, the equivalent sample size, or how many of them."""

OWN = "own"
"""Name of a score that is a function of the user's."""

BAYESIAN = ("bdeu", "bds", "bdj", "bdla", "k2", OWN)
"""Scores that a graph prior adds to."""

OfCounts = Callable[[Array, float, float], float]
"""Scores a parent set by its counts (configurations that rows have, n_states), all configurations, and all rows."""


@record
class ScoreTerms:
    """The terms of a parent set: pseudo-counts of a cell and of a configuration, or one of the two marks; and c."""

    cell: float
    row: float
    constant: float


@record
class Score:
    """A decomposable score.

    Parameters
    ----------
    name : as in the table above, in lower case
    setting : the equivalent sample size of BDeu and BDs, how many BDla averages, g of eBIC, or the price f of a
        parameter where it is given
    of_counts : of "own", the function
    graph_prior : how likely arcs are beforehand

    Examples
    --------
    >>> Score("bic").local_score(np.array([[8, 2], [1, 9]]), n_configurations=2, n_rows=20)
    -11.25...
    """

    name: str
    setting: float | None = None
    of_counts: OfCounts | None = None
    graph_prior: GraphPrior = UNIFORM

    def __post_init__(self) -> None:
        if self.name not in SCORES and not (self.name == OWN and self.of_counts is not None):
            raise ParameterError(f"score is {self.name!r}; choose one of {', '.join(SCORES)}")
        if self.setting is not None and not (is_number(self.setting) and 0 < self.setting < np.inf):
            raise ParameterError(f"the setting of score {self.name!r} is {self.setting!r}; give a number over 0")
        if self.setting is not None and self.name not in WITH_SETTING:
            raise ParameterError(f"score {self.name!r} takes no setting; {', '.join(WITH_SETTING)} do")
        if self.name == "bdla" and self.setting is not None and self.setting != int(self.setting):
            raise ParameterError(
                f"the setting of score 'bdla' is {self.setting!r}; give a whole number of sample sizes"
            )
        self.graph_prior.require_likelihood(self.name, BAYESIAN)

    @property
    def is_equivalent(self) -> bool:
        """Whether equivalent graphs score the same."""
        return self.name in ("loglik", "aic", "bic", "ebic", "bdeu", "qnml")

    @property
    def has_shape(self) -> bool:
        """Whether the score is of the shape above, and no other function of the counts."""
        return self.name not in (OWN, "bdla")

    def per_parent(self, n_variables: int) -> tuple[float, float]:
        """What each parent adds to the score of a variable, and what every variable adds, by eBIC or a graph prior."""
        if self.name == "ebic":
            return -4.0 * (0.5 if self.setting is None else self.setting) * log(n_variables), 0.0
        return self.graph_prior.terms(n_variables)

    @property
    def counts_seen_configurations(self) -> bool:
        """Whether q is the number of configurations that some row has."""
        return self.name == "bds"

    def terms(self, n_configurations: float, n_states: int, n_rows: float) -> ScoreTerms:
        """Terms of a parent set of q configurations and r states."""
        return _SCORES[self.name](float(n_configurations), n_states, n_rows, self.setting)

    def local_score(self, counts: Array, n_configurations: float, n_rows: float) -> float:
        """Score a parent set by its counts.

        Parameters
        ----------
        counts : (configurations that rows have, n_states), whole or weighted
        n_configurations : configurations that the domains allow
        n_rows : rows, or their weight, of the whole table
        """
        counts = counts[counts.any(axis=1)]
        if self.counts_seen_configurations:
            n_configurations = max(1, len(counts))
        r = counts.shape[1]
        if self.of_counts is not None:
            return _checked(self.of_counts(counts, n_configurations, n_rows))
        if self.name == "bdla":
            return _bdla(counts, n_configurations, 5 if self.setting is None else int(self.setting))
        terms = self.terms(n_configurations, r, n_rows)
        return float(
            _term(counts, terms.cell, r).sum() - _term(counts.sum(axis=1), terms.row, r).sum() + terms.constant
        )


def as_score(score: Any, graph_prior: Any = "uniform") -> Score:
    """Read a score given by name, as (name, setting), as a function of counts, or as it is; and a graph prior."""
    if graph_prior != "uniform":
        return replace(as_score(score), graph_prior=GraphPrior.of(graph_prior))
    if isinstance(score, Score):
        return score
    if callable(score):
        return Score(OWN, of_counts=score)
    name, setting = score if isinstance(score, tuple) and len(score) == 2 else (score, None)
    if not isinstance(name, str):
        raise ParameterError(f"score is {score!r}; give a name such as 'bic', or ('bdeu', equivalent sample size)")
    name = name.lower()
    return Score({"mdl": "bic", "bde": "bdeu", "log-likelihood": "loglik"}.get(name, name), setting)


def _checked(value: Any) -> float:
    """Take a score of the user's own; it may be -inf, for what is out of the question."""
    if not is_number(value) or np.isnan(value) or value == np.inf:
        raise ParameterError(f"the score of your own gave {value!r} for a parent set; give a number, or -inf")
    return float(value)


def _bdla(counts: Array, q: float, n_sizes: int) -> float:
    r = counts.shape[1]
    sizes = 2.0 ** ((1 - n_sizes) / 2 + np.arange(n_sizes))
    each = np.array(  # (n_sizes, configurations)
        [_term(counts, size / (q * r), r).sum(axis=1) - _term(counts.sum(axis=1), size / q, r) for size in sizes]
    )
    return float((logsumexp(each, axis=0) - log(n_sizes)).sum())


def term_table(mark: float, n_states: int, length: int) -> Array:
    """Terms of all whole counts below `length`: (length,)."""
    return _term(np.arange(length), mark, n_states)


def _term(n: Array, mark: float, n_states: int) -> Array:
    if mark == LIKELIHOOD:
        return xlogy(n, n)
    if mark == REGRET:
        whole = np.rint(n).astype(np.int64)
        regret = log_regret_of_rows(int(whole.max(initial=0)), n_states)
        return xlogy(n, n) + regret[whole]
    return gammaln(n + mark) - gammaln(mark)


# ------------------------------------------------------------------ the terms of each score


def _penalised(price: Callable[[float], float]) -> Callable[..., ScoreTerms]:
    def terms(q: float, r: int, n: float, setting: float | None) -> ScoreTerms:
        f = price(n) if setting is None else setting
        return ScoreTerms(LIKELIHOOD, LIKELIHOOD, -f * q * (r - 1))

    return terms


def _bdeu(q: float, r: int, n: float, setting: float | None) -> ScoreTerms:
    rows = 1.0 if setting is None else setting
    return ScoreTerms(rows / (q * r), rows / q, 0.0)


def _k2(q: float, r: int, n: float, setting: float | None) -> ScoreTerms:
    return ScoreTerms(1.0, float(r), 0.0)


def _fnml(q: float, r: int, n: float, setting: float | None) -> ScoreTerms:
    return ScoreTerms(LIKELIHOOD, REGRET, 0.0)


def _qnml(q: float, r: int, n: float, setting: float | None) -> ScoreTerms:
    price = _log_regret(n, q * r)  # of too many cells, infinite: no such parent set is ever taken
    return ScoreTerms(LIKELIHOOD, LIKELIHOOD, -np.inf if price == np.inf else _log_regret(n, q) - price)


_log_regrets = lru_cache(maxsize=64)(log_regrets)


def _log_regret(n: float, r: float) -> float:
    if r > MOST_REGRET_STATES:
        return np.inf
    most = 1 << round(r).bit_length()  # so that a few tables serve all sizes
    return float(_log_regrets(round(n), most)[round(r)])


_SCORES: dict[str, Callable[..., ScoreTerms]] = {
    "loglik": _penalised(lambda n: 0.0),
    "aic": _penalised(lambda n: 1.0),
    "bic": _penalised(lambda n: 0.5 * np.log(n)),
    "ebic": lambda q, r, n, setting: _SCORES["bic"](q, r, n, None),
    "bdeu": _bdeu,
    "bds": _bdeu,
    "bdj": lambda q, r, n, setting: ScoreTerms(0.5, r / 2, 0.0),
    "k2": _k2,
    "fnml": _fnml,
    "qnml": _qnml,
}

SCORES = (*_SCORES, "bdla")
"""Names of the scores."""
