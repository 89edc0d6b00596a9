"""Hidden variables: nodes without a column, found by EM from several starts, with as many states as rows support.

EM ends at a maximum of the likelihood, and which one depends on where it began. Several starts show whether there are
others: where they end at the same height they agree, and where not, the reason is given.

The number of states is that of the largest BIC, log-likelihood - n_parameters / 2 * log(n_rows), or the smallest one
whose likelihood of rows that were held out is within one standard error of the largest (Breiman et al. 1984).
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from bayeswater.data.frames import (
    frame_names,
    given_names,
    is_frame,
    library_of,
    materialised,
    read_frame,
    take_columns,
    write_frame,
)
from bayeswater.data.variable import Variable
from bayeswater.data.weights import require_rows
from bayeswater.errors import ConvergenceWarning, ParameterError, warn_user
from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.inference.drawing import checked_seed
from bayeswater.inference.exact.elimination import query
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.inference.exact.marginals import marginals
from bayeswater.learning.network_em import EmFit, Expectation, fit_by_em, log_prior
from bayeswater.markup import Safe, html_table, paragraphs
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.network.evidence import named
from bayeswater.models.network.findings import text_table
from bayeswater.models.network.graph import read_graph
from bayeswater.models.network.network_fitting import coded_rows, drawn_apart, pseudo_counts_of, require_nodes
from bayeswater.networks.conditionals import Table
from bayeswater.networks.network import Network
from bayeswater.records import record
from bayeswater.statistics.category_counts import family_counts
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

AGREE = 1e-4
"""Log-likelihood for each row within which two starts end at the same height."""

SAME_SHARES = 0.02
"""Difference of the sizes of hidden states, sorted, from which two ends of the same height are not the same."""

MOST_ROUNDS = 1000

N_FOLDS = 5

CRITERIA = ("bic", "cv")


@record
class HiddenCandidate:
    """A number of states of each hidden variable, and what it reaches."""

    n_states: tuple[int, ...]
    log_likelihood: float
    n_parameters: int
    score: float


@record(eq=False)
class HiddenFit:
    """A network with hidden variables, and how it was found.

    Attributes
    ----------
    network : the best one; states of hidden variables are numbered by size, the largest first
    hidden : names of the hidden variables
    criterion : by which the number of states was chosen
    candidates : what each number of states reaches, in the order in which they were tried
    starts : log-likelihood, and that of the prior, that each start of the chosen one ended at, the best first
    verdict : whether the starts agree, and the reason where they do not
    """

    network: BayesianNetwork
    hidden: tuple[str, ...]
    criterion: str
    candidates: tuple[HiddenCandidate, ...]
    starts: tuple[float, ...]
    verdict: str

    @property
    def n_states(self) -> dict[str, int]:
        """Number of states of each hidden variable."""
        return {name: len(self.network.states(name)) for name in self.hidden}

    def _table(self) -> tuple[list[str], list[list[str]]]:
        score = "BIC" if self.criterion == "bic" else "held out"
        rows = [
            [*map(str, one.n_states), f"{one.log_likelihood:.6g}", str(one.n_parameters), f"{one.score:.6g}"]
            for one in self.candidates
        ]
        return [*self.hidden, "log-likelihood", "parameters", score], rows

    def _text(self) -> str:
        return ", ".join(f"{name}: {n} states" for name, n in self.n_states.items()) + f"; {self.verdict}"

    def __repr__(self) -> str:
        return "\n".join([text_table(*self._table(), 0), self._text()])

    def _repr_html_(self) -> str:
        return Safe(html_table(*self._table()) + paragraphs([self._text()]))

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of a line for each candidate."""
        columns: dict[str, Any] = {
            name: np.array([one.n_states[k] for one in self.candidates]) for k, name in enumerate(self.hidden)
        }
        for field in ("log_likelihood", "n_parameters", "score"):
            columns[field] = np.array([getattr(one, field) for one in self.candidates])
        return write_frame(columns, library or self.network.library)


def learn_hidden(
    graph: Any,
    X: Any,
    hidden: Mapping[str, int | Iterable[int]],
    *,
    criterion: str = "bic",
    n_starts: int = 10,
    alpha: Any = None,
    states: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
    random_state: int = 0,
) -> HiddenFit:
    """Learn a network with hidden variables, which have no column, by EM.

    Parameters
    ----------
    graph : as in `BayesianNetwork`
        Of all columns and of the hidden variables.
    X : data frame
        A column for every node but the hidden ones; cells may be missing.
    hidden : dict
        For each hidden variable its number of states, or several to choose from.
    criterion : {"bic", "cv"}, default "bic"
        How the number is chosen: BIC, or the likelihood of held-out fifths of the rows, and then the smallest number
        within one standard error of the best.
    n_starts : int, default 10
        Starts of EM for each number of states.
    alpha, states, sample_weight : as in `BayesianNetwork.from_data`
        Smoothing, states of columns and weights of rows.
    random_state : int, default 0
        Seed of the starts and of the parts that are held out.

    Returns
    -------
    HiddenFit
        The network, the numbers of states, and how the starts of EM ended.

    See Also
    --------
    latent_classes : Find classes of rows within which all columns are independent: latent class analysis.
    learn_structure : Find the graph of the highest score.

    Notes
    -----
    Each round of EM takes the time of `BayesianNetwork.posteriors` on the different rows. There are up to 1000 rounds
    for each start and each number of states.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from bayeswater import BayesianNetwork
    >>> truth = BayesianNetwork(
    ...     "kind -> a; kind -> b; kind -> c",
    ...     {"kind": [0.6, 0.4], **dict.fromkeys("abc", [[0.9, 0.1], [0.2, 0.8]])},
    ... )
    >>> rows = truth.sample(500, random_state=0).drop_columns("kind")
    >>> learn_hidden(truth.dag, rows, {"kind": range(1, 4)}).n_states
    {'kind': 2}
    """
    if criterion not in CRITERIA:
        raise ParameterError(f"criterion is {criterion!r}; it can be one of {list(CRITERIA)}")
    if not isinstance(n_starts, int) or n_starts < 1:
        raise ParameterError(f"n_starts is {n_starts!r}; give a whole number, 1 or more")
    seed, dag, X = checked_seed(random_state), read_graph(graph), materialised(X)
    choices = _choices(hidden, X)
    require_nodes(dag, choices)
    known = {name: own for name, own in (states or {}).items() if name not in choices}
    fits: list[tuple[HiddenCandidate, Network, list[EmFit], list[float]]] = []
    held_out: list[Array] = []
    for sizes in product(*choices.values()):
        all_states = {**known, **dict(zip(choices, sizes, strict=True))}
        variables, codes, weight = coded_rows(dag, X, all_states, sample_weight, "em")
        require_rows(weight)
        problem = _HiddenSearch(dag, variables, codes, weight, pseudo_counts_of(dag, alpha, None, None, variables))
        found, heights = problem.fitted(n_starts, seed)
        network = problem.network(found[0].tables, [dag.node(name) for name in choices])
        log_likelihood = found[0].log_likelihood[-1]
        if criterion == "bic":
            score = log_likelihood - network.n_parameters / 2 * float(np.log(problem.n_rows))
        else:
            held_out.append(problem.held_out(n_starts, seed))
            score = float(held_out[-1].sum())
        fits.append((HiddenCandidate(sizes, log_likelihood, network.n_parameters, score), network, found, heights))
    best = max(fits, key=lambda one: one[0].score)
    if held_out:
        if best[0].score == -np.inf:
            raise ParameterError(
                "some rows that are held out are impossible by the tables of the others, whatever the number of "
                "states; give an alpha over 0, or criterion='bic'"
            )
        top = held_out[fits.index(best)]
        possible = [(one, own) for one, own in zip(fits, held_out, strict=True) if one[0].score > -np.inf]
        within = [one for one, own in possible if _is_within_error(top - own)]
        best = min(within, key=lambda one: one[0].n_parameters)
    nodes = [dag.node(name) for name in choices]
    verdict = _verdict(best[2], best[3], nodes, best[1], read_frame(X).table.num_rows)
    if not best[2][0].has_converged:
        warn_user(f"EM was stopped after {MOST_ROUNDS} rounds, the last of which still gained", ConvergenceWarning)
    return HiddenFit(
        BayesianNetwork.from_core(best[1], library=library_of(X)),
        tuple(choices),
        criterion,
        tuple(one[0] for one in fits),
        tuple(best[3]),
        verdict,
    )


def latent_classes(
    X: Any, n_classes: int | Iterable[int] = range(1, 7), *, name: str = "class", columns: Any = None, **settings: Any
) -> HiddenFit:
    """Find classes of rows within which all columns are independent: latent class analysis.

    Parameters
    ----------
    X : data frame
        Columns with states; cells may be missing.
    n_classes : int or iterable of int
        Number of classes, or several to choose from.
    name : str, default "class"
        Name of the hidden variable.
    columns : list of str, optional
        Columns that depend on the class; default all.
    **settings : keywords
        Settings of `learn_hidden`.

    Returns
    -------
    HiddenFit
        The network, the number of classes, and how the starts of EM ended.

    See Also
    --------
    learn_hidden : Learn a network with hidden variables, which have no column, by EM.

    Notes
    -----
    With n different rows, d columns and K classes, a round of EM takes O(n d K) time. There are up to 1000 rounds for
    each start and each number of classes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table(
    ...     {"a": ["x", "x", "y", "y"] * 50, "b": ["u", "u", "v", "v"] * 50, "c": ["p", "p", "q", "q"] * 50}
    ... )
    >>> latent_classes(rows).n_states
    {'class': 2}
    """
    X = materialised(X)
    there = list(read_frame(X).names) if columns is None else named(columns, "columns")
    if name in there:
        raise ParameterError(f"name is {name!r}, which is the name of a column; give another")
    if columns is not None and is_frame(X):  # another column may have the name of the hidden variable
        X = take_columns(X, [column for column in given_names(X) if str(column) in there])
    return learn_hidden(Dag.from_edges([(name, column) for column in there], [name]), X, {name: n_classes}, **settings)


def _choices(hidden: Any, X: Any) -> dict[str, list[int]]:
    """List the numbers of states of each hidden variable; one that has a column is none."""
    if not isinstance(hidden, Mapping) or not hidden:
        raise ParameterError(f"hidden is {hidden!r}, and names no variable; give {{name: number of states}}")
    there = frame_names(X) if is_frame(X) else []
    for name in hidden:
        if name in there:
            raise ParameterError(f"hidden names {name!r}, which is a column of X; give another name, or drop it")
    return {name: _choice(name, own) for name, own in hidden.items()}


def _choice(name: str, given: Any) -> list[int]:
    """List the numbers of states to choose from."""
    numbers = [given] if isinstance(given, int | np.integer) else list(given) if isinstance(given, Iterable) else []
    if not numbers or not all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n > 0 for n in numbers):
        raise ParameterError(f"the number of states of {name!r} is {given!r}; give a whole number over 0, or several")
    return [int(n) for n in numbers]


@record(eq=False)
class _HiddenSearch:
    """Rows and a graph with hidden nodes, ready for EM."""

    dag: Dag
    variables: tuple[Variable, ...]
    codes: Array
    weight: Array | None
    pseudo_counts: list[Array]

    @property
    def cards(self) -> tuple[int, ...]:
        return tuple(variable.n_states for variable in self.variables)

    @property
    def n_rows(self) -> float:
        return float(self.codes.shape[1] if self.weight is None else self.weight.sum())

    def fitted(self, n_starts: int, seed: int, kept: Array | None = None) -> tuple[list[EmFit], list[float]]:
        """Run EM from several starts, on all rows or on those kept: the best first, with the heights reached."""
        codes = self.codes if kept is None else np.ascontiguousarray(self.codes[:, kept])
        weight = self.weight if kept is None or self.weight is None else self.weight[kept]
        cards, parents = self.cards, self.dag.parents
        members = [(*own, node) for node, own in enumerate(parents)]
        counts = family_counts(codes, cards, members, weight)
        begin = tuple(
            conditional_table(count, np.maximum(own, 1e-3))  # without zeros, which EM would keep
            for count, own in zip(counts, self.pseudo_counts, strict=True)
        )
        rows = Expectation(codes, parents, cards, weight)
        ends = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # told of the best one, and in the verdict
            for k in range(n_starts):
                apart = drawn_apart(begin, parents, codes, cards, 0 if k == 0 else seed * 1000 + k)
                start = Factors(cards, tuple(parents), apart)
                found = fit_by_em(start, rows, self.pseudo_counts, max_rounds=MOST_ROUNDS)
                ends.append((found.log_likelihood[-1] + log_prior(found.tables, self.pseudo_counts), k, found))
        ends.sort(key=lambda one: (-one[0], one[1]))
        return [found for _, _, found in ends], [height for height, _, _ in ends]

    def held_out(self, n_starts: int, seed: int) -> Array:
        """Log-likelihood of every row under tables of the other four fifths: (n_rows,)."""
        fold = np.random.default_rng(seed).permutation(self.codes.shape[1]) % N_FOLDS
        found = np.zeros(self.codes.shape[1])
        for k in range(N_FOLDS):
            tables = self.fitted(n_starts, seed, np.flatnonzero(fold != k))[0][0].tables
            tree = compile_tree(Factors(self.cards, tuple(self.dag.parents), tables))
            found[fold == k] = marginals(tree, self.codes[:, fold == k].T, []).log_evidence
        return found if self.weight is None else found * self.weight

    def network(self, tables: Sequence[Array], hidden: Sequence[int]) -> Network:
        """Make the network, states of hidden variables in the order of their sizes."""
        core = Network.of(self.variables, self.dag, [Table(table) for table in tables])
        order = {node: np.argsort(-query(core, [node]), kind="stable") for node in hidden}
        sorted_tables = []
        for node, table in enumerate(core.tables):
            scope = (*self.dag.parents[node], node)
            sorted_tables.append(Table(table[np.ix_(*(order.get(v, np.arange(self.cards[v])) for v in scope))]))
        return Network.of(self.variables, self.dag, sorted_tables)


def _is_within_error(lost: Array) -> bool:
    """Say whether a sum over rows differs from zero by one standard error at most."""
    return float(lost.sum()) <= float(np.sqrt(len(lost) * lost.var()))


def _verdict(
    found: Sequence[EmFit], heights: Sequence[float], hidden: Sequence[int], network: Network, n_rows: int
) -> str:
    """Say whether the starts agree, and why they do not."""
    n = len(heights)
    if n == 1:
        return "one start: whether there are other maxima is not known"
    agree = [k for k in range(n) if heights[0] - heights[k] <= AGREE * n_rows]
    if any(not _same_sizes(found[0], found[k], hidden, network) for k in agree):
        return (
            f"{len(agree)} of {n} starts reach the same height with other tables: the rows do not tell what the hidden "
            "variable is; take fewer states, or more columns"
        )
    if len(agree) == n:
        return f"all {n} starts agree"
    stopped = sum(not one.has_converged for one in found)
    reason = f"{stopped} were stopped before they ended" if stopped else "they end at lower maxima of the likelihood"
    hint = "; take more starts" if len(agree) == 1 else ""
    below = f"others are up to {heights[0] - heights[-1]:.3g} below: {reason}{hint}"
    return f"{len(agree)} of {n} starts reach the best; {below}"


def _same_sizes(one: EmFit, other: EmFit, hidden: Sequence[int], network: Network) -> bool:
    """Say whether hidden variables have states of the same sizes, whatever their order."""
    first, second = (Factors(network.cards, network.parents, fit.tables) for fit in (one, other))
    gaps = [np.abs(np.sort(query(first, [v])) - np.sort(query(second, [v]))).max() for v in hidden]
    return max(gaps) <= SAME_SHARES
