"""Networks with numbers beside R bnlearn's C core (bnlearn-port): seeded crossings of scores, fits, graphs and answers.

    python -m benchmarks.mixed_networks [scores fits graphs tests queries] [--cases 500] [--first 0]

Each case is drawn by its seed alone: a random graph, random parameters, some hundred rows. What is not equal is printed
with its seed and, where it is known, the reason. It needs pybnlearn, which is no dependency.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from bayeswater import BayesWarning, MixedNetwork, independence_test, learn_structure, score_structure

RELATIVE = 1e-8
"""Difference up to which numbers are equal: moments of rows, and bnlearn's residuals, round differently."""

N_DRAWS = 50_000
"""Draws by which bnlearn answers where states are among the variables."""


def drawn(seed: int, *, mixed: bool) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """Rows of a random network, and its arcs."""
    rng = np.random.default_rng([seed, mixed])
    n_states = int(rng.integers(1, 4)) if mixed else 0
    n_numbers, n_rows = int(rng.integers(2, 6)), int(rng.integers(60, 600))
    names = [f"s{i}" for i in range(n_states)] + [f"x{i}" for i in range(n_numbers)]
    arcs, columns, codes = [], {}, {}
    for j, name in enumerate(names):
        parents = [p for p in names[:j] if rng.random() < 0.45][-3:]
        arcs += [(p, name) for p in parents]
        which = np.zeros(n_rows, dtype=int)
        for p in parents:
            if p in codes:
                which = which * (codes[p].max() + 1) + codes[p]
        if j < n_states:
            card = int(rng.integers(2, 4))
            table = rng.dirichlet(np.full(card, 2.0), int(which.max()) + 1)
            codes[name] = (rng.random(n_rows)[:, None] > table[which].cumsum(axis=1)).sum(axis=1).clip(max=card - 1)
            columns[name] = pd.Categorical.from_codes(codes[name], [f"v{k}" for k in range(card)])
        else:
            numbers = [p for p in parents if p not in codes]
            slopes = rng.normal(size=(int(which.max()) + 1, len(numbers)))
            mean = 3 * rng.normal(size=int(which.max()) + 1)[which]
            mean += sum(slopes[which, k] * columns[p] for k, p in enumerate(numbers))
            columns[name] = mean + rng.uniform(0.3, 2) * rng.normal(size=n_rows)
    frame = pd.DataFrame(columns)
    for name in codes:
        frame[name] = frame[name].cat.remove_unused_categories()
    return frame, arcs


def same(a: Any, b: Any) -> bool:
    """Whether numbers are equal, but for rounding."""
    return bool(np.allclose(a, b, rtol=RELATIVE, atol=1e-8))


def peer_graph(frame: pd.DataFrame, arcs: list[tuple[str, str]]) -> Any:
    """The graph as bnlearn has it."""
    import pybnlearn as bn

    own = {name: [a for a, b in arcs if b == name] for name in frame}
    return bn.model2network("".join(f"[{n}{'|' + ':'.join(p) if p else ''}]" for n, p in own.items()))


def our_graph(frame: pd.DataFrame, arcs: list[tuple[str, str]]) -> Any:
    """The graph as we have it."""
    return "; ".join([*(f"{a} -> {b}" for a, b in arcs), *frame.columns])


def scores(seed: int, *, mixed: bool) -> str:
    """Scores of every node."""
    import pybnlearn as bn

    frame, arcs = drawn(seed, mixed=mixed)
    end = "-cg" if mixed else "-g"
    for name in ["loglik" + end, "aic" + end, "bic" + end, "ebic" + end, *([] if mixed else ["bge"])]:
        theirs = bn.score(peer_graph(frame, arcs), frame, type=name, by_node=True)
        ours = score_structure(our_graph(frame, arcs), frame, name, per_node=True)
        for node in frame:
            if not same(ours[node], theirs[node]):
                return f"{name} of {node}: {ours[node]} and {theirs[node]}"
    return ""


def fits(seed: int, *, mixed: bool) -> str:
    """Tables and regressions."""
    import pybnlearn as bn

    frame, arcs = drawn(seed, mixed=mixed)
    theirs = bn.fit(peer_graph(frame, arcs), frame)
    ours = MixedNetwork.from_data(our_graph(frame, arcs), frame, alpha=0)
    for name in ours.numbers:
        node = theirs[name]
        discrete = list(getattr(node, "discrete_parents", []))
        levels = [frame[p].cat.categories for p in discrete]
        for k in range(int(np.prod([len(own) for own in levels])) if discrete else 1):
            place = np.unravel_index(k, [len(own) for own in levels], order="F") if discrete else ()
            states = {p: own[i] for p, own, i in zip(discrete, levels, place, strict=True)}
            own = ours.regression(name, states)
            numeric = [p for p in node.parents if p not in discrete]
            if discrete:
                expected, sd = node.coefficients[:, k], node.sd[k]
            else:
                expected, sd = [node.coefficients[p] for p in ("(Intercept)", *numeric)], node.sd
            if np.isnan(sd):
                continue  # no row has the configuration: bnlearn has no answer, and we the regression of all rows
            found = [own.intercept, *(own.slopes[p] for p in numeric)]
            if not same(found, expected) or not same(np.sqrt(own.variance), sd):
                return f"{name} given {states}: {found}, {np.sqrt(own.variance)} and {expected}, {sd}"
    return ""


def graphs(seed: int, *, mixed: bool) -> str:
    """Arcs of hill climbing and tabu search."""
    import pybnlearn as bn

    frame, _ = drawn(seed, mixed=mixed)
    for method, search in (("hill_climb", bn.hc), ("tabu", bn.tabu)):
        for score in ("bic-cg", "aic-cg") if mixed else ("bic-g", "bge"):
            options = {"tabu": 30} if method == "tabu" else {}
            theirs = search(frame, score=score, **options)
            ours = learn_structure(frame, score, method)
            if {tuple(arc) for arc in theirs.arcs} != set(ours.graph.edges()):
                at = score_structure(our_graph(frame, [tuple(a) for a in theirs.arcs]), frame, score)
                return f"{method} by {score}: {sorted(ours.graph.edges())} {ours.score} and {sorted(theirs.arcs)} {at}"
    return ""


def tests(seed: int, *, mixed: bool) -> str:
    """Tests of independence."""
    import pybnlearn as bn

    frame, _ = drawn(seed, mixed=mixed)
    rng = np.random.default_rng(seed)
    for test in ["mi-cg"] if mixed else ["cor", "zf", "mi-g", "mi-g-sh"]:
        x, y, *given = rng.permutation(list(frame))[: int(rng.integers(2, len(frame.columns) + 1))].tolist()
        theirs = bn.ci_test(frame, x, y, given or None, test=test)
        ours = independence_test(frame, x, y, given, test)
        if not same([ours.statistic, ours.p_value], [next(iter(theirs["statistic"].values())), theirs["p.value"]]):
            return f"{test} of {x}, {y} given {given}: {ours} and {theirs['statistic']}, {theirs['p.value']}"
    return ""


def queries(seed: int, *, mixed: bool) -> str:
    """Means and variances of numbers and probabilities of states, given others."""
    import pybnlearn as bn

    frame, arcs = drawn(seed, mixed=mixed)
    rng = np.random.default_rng(seed)
    fitted = bn.fit(peer_graph(frame, arcs), frame)
    ours = MixedNetwork.from_data(our_graph(frame, arcs), frame, alpha=0)
    names = rng.permutation(list(ours.numbers)).tolist()
    seen = names[: int(rng.integers(1, len(names)))]
    evidence = {name: float(frame[name].median()) for name in seen}
    target = names[-1]
    if not mixed:
        joint = bn.gbn2mvnorm(fitted).condition(evidence).marginal([target])
        expected = float(joint.mean[0]), float(joint.cov[0, 0])
        found = ours.query(target, evidence)
        return "" if same([found.mean, found.variance], expected) else f"{target}: {found} and {expected}"
    # bnlearn answers by draws: the error of their mean is known.
    bn.set_seed(seed)
    draws, weights = bn.cpdist(fitted, [target], evidence=evidence, method="lw", n=N_DRAWS)
    values, weights = np.asarray(draws[target], dtype=float), np.asarray(weights, dtype=float)
    weights /= weights.sum()
    mean, found = float(weights @ values), ours.query(target, evidence)
    error = float(np.sqrt((weights**2 * (values - mean) ** 2).sum()))
    if np.isnan(mean):  # no row has some configuration of states: bnlearn has no parameters there, and no answer
        return f"{target} given {evidence}: {found.mean}, and bnlearn has no answer: some configuration has no row"
    off = abs(found.mean - mean)
    return "" if off <= 5 * error + 1e-9 else f"{target} given {evidence}: {found.mean} and {mean} +- {error}"


CHECKS: dict[str, Callable[..., str]] = {
    "scores": scores,
    "fits": fits,
    "graphs": graphs,
    "tests": tests,
    "queries": queries,
}


def main(arguments: list[str]) -> None:
    """Run the checks that are named, or all."""
    options = {"--cases": 500, "--first": 0}
    for name in options:
        if name in arguments:
            at = arguments.index(name)
            options[name] = int(arguments[at + 1])
            del arguments[at : at + 2]
    warnings.simplefilter("ignore", BayesWarning)
    warnings.filterwarnings("ignore", module="pybnlearn")
    for name in arguments or CHECKS:
        for mixed in (False, True):
            kind, told = "mixed" if mixed else "Gaussian", Counter[bool]()
            for seed in range(options["--first"], options["--first"] + options["--cases"]):
                difference = CHECKS[name](seed, mixed=mixed)
                told[not difference] += 1
                if difference:
                    print(f"  {name}, {kind}, seed {seed}: {difference}")
            print(f"{name}, {kind}: {told[True]} of {sum(told.values())} equal", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
