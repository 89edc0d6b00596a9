"""Gibbs sampling in networks of the public repositories: site updates a second, beside pyAgrum, and what it answers.

The files (alarm.bif, ...) are no part of the project: they are looked for under BAYESWATER_DATA, and without them the
section is left out. An update is one variable drawn anew. pyAgrum's figure is its iterations by its variables an
iteration, by the time it takes.

    python -m benchmarks.network_sampling [folder]
"""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from bayeswater.errors import BayesWarning
from bayeswater.inference.exact.elimination import query
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.sampling.answering import approximate_query
from bayeswater.inference.sampling.gibbs import GROUP_CHAINS, Chains
from bayeswater.inference.sampling.question import ask
from bayeswater.inference.sampling.sites import make_sites
from bayeswater.kernels.gibbs_sweeps import sweep
from bayeswater.models.network.bayesian_network import BayesianNetwork
from benchmarks.processes import in_fresh_process

FOLDER = Path(os.environ.get("BAYESWATER_DATA", "data")) / "networks"

NETWORKS = ("asia", "sachs", "child", "alarm")

AT_LEAST_MILLIONS = {1: 80.0, GROUP_CHAINS: 250.0, 2 * GROUP_CHAINS: 250.0}
"""Updates a second on alarm, by the number of chains."""

UPDATES = 300_000
"""Of one turn: about a millisecond, so that some turns have the core to themselves."""

TURNS = 300

AT_MOST_COMPILING = 1.5

LUNG = {"xray": "yes", "dysp": "yes"}


def gibbs_speed(folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Time updates of all variables without evidence, on one core, for one chain and for many."""
    for name in NETWORKS:
        factors = _factors(folder / f"{name}.bif")
        theirs = _pyagrum_millions(folder / f"{name}.bif")
        rates = {n: updates_a_second(factors, n) / 1e6 for n in AT_LEAST_MILLIONS}
        reached = all(rates[n] >= AT_LEAST_MILLIONS[n] for n in rates) if name == "alarm" else None
        yield {
            "network": name,
            **{f"M/s, {n} chain{'s' * (n > 1)}": rate for n, rate in rates.items()},
            "pyAgrum M/s": theirs,
            "ratio": theirs and max(rates.values()) / theirs,
            "reached": reached,
        }


def sampled_answers(folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Compare P(lung | xray, dysp) on asia, where samplers that move one variable at a time are wrong, with 0.62125."""
    network = BayesianNetwork.read(folder / "asia.bif")
    factors, index = Factors.of(network.core), network.core.names.index
    evidence = {index(v): network.states(v).index(state) for v, state in LUNG.items()}
    yes = network.states("lung").index("yes")
    truth = query(factors, [index("lung")], evidence)[yes]
    for method in ("gibbs", "likelihood_weighting"):
        start = perf_counter()
        found = approximate_query(factors, [index("lung")], evidence, method=method)
        error = abs(float(found.probability[yes]) - truth)
        yield {
            "sampler": method,
            "P(lung)": float(found.probability[yes]),
            "standard error": float(found.standard_error[yes]),
            "errors off": error / float(found.standard_error[yes]),
            "seconds": perf_counter() - start,
            "verdict": found.verdict,
            "reached": bool(error <= 4 * found.standard_error[yes]),
        }
    theirs = _pyagrum_lung(folder / "asia.bif")
    if theirs is not None:
        yield {"sampler": "pyAgrum Gibbs", "P(lung)": theirs, "verdict": "none"}


def gibbs_compiling() -> Iterator[dict[str, Any]]:
    """Time what compiling adds to a first run of sweeps, with an empty cache and with a full one."""
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ | {"NUMBA_CACHE_DIR": empty}
        cold, cached = (in_fresh_process("benchmarks.network_sampling", "--first", env=environment) for _ in range(2))
    yield {
        "kernel": "Gibbs sweeps",
        "cold s": cold,
        "from cache s": cached,
        "at most s": AT_MOST_COMPILING,
        "reached": cold <= AT_MOST_COMPILING,
    }


def updates_a_second(factors: Factors, n_chains: int) -> float:
    """Variables drawn anew in a second by the loop, in the best of many short turns."""
    inner = {v for parents in factors.parents for v in parents}
    leaves = [v for v in range(factors.n_variables) if v not in inner]
    question = ask(factors, leaves, {}, {}, np.random.default_rng(0))
    question = replace(question, targets=question.free[:1])
    chains = Chains(question, make_sites(question, str), 0, n_chains)
    n_sweeps = max(1, UPDATES // (n_chains * len(question.free)))
    totals = np.zeros((1, chains.n_cells, n_chains))
    seconds = []
    for _ in range(TURNS):
        start = perf_counter()
        sweep(chains.tables, chains.reading, chains.states, chains.streams, totals, n_sweeps, use_loop=True)
        seconds.append(perf_counter() - start)
    return n_sweeps * n_chains * len(question.free) / min(seconds)


def first_run() -> float:
    """Seconds of the processor that the first run of the loop takes over a second one, numba being there already."""
    from numba import njit

    njit(lambda x: x)(1)
    step = np.array([[0.9, 0.1], [0.2, 0.8]])
    chain = Factors((2, 2, 2), ((), (0,), (1,)), (np.array([0.5, 0.5]), step, step))
    question = ask(chain, [2], {}, {}, np.random.default_rng(0))
    chains = Chains(question, make_sites(question, str), 0)
    totals = np.zeros((1, 2, len(chains.streams)))
    seconds = []
    for _ in range(2):
        start = process_time()
        sweep(chains.tables, chains.reading, chains.states, chains.streams, totals, 1, use_loop=True)
        seconds.append(process_time() - start)
    return seconds[0] - seconds[1]


def _factors(path: Path) -> Factors:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)  # rows of the files that do not sum to one
        return Factors.of(BayesianNetwork.read(path).core)


def _pyagrum_gibbs(path: Path, seconds: float) -> Any:
    try:
        import pyagrum
    except ImportError:
        return None
    try:
        network = pyagrum.loadBN(str(path))
    except pyagrum.FatalError:  # labels that its reader refuses
        return None
    engine = pyagrum.GibbsSampling(network)
    engine.setMaxTime(seconds)
    engine.setEpsilon(1e-9)
    engine.setMinEpsilonRate(1e-9)
    return engine


def _pyagrum_millions(path: Path) -> float | None:
    engine = _pyagrum_gibbs(path, 1.0)
    if engine is None:
        return None
    engine.setBurnIn(0)
    engine.setNbrDrawnVar(max(1, engine.BN().size() // 2))  # its fastest: fewer iterations of more variables
    start = perf_counter()
    engine.makeInference()
    return float(engine.nbrIterations() * engine.nbrDrawnVar() / (perf_counter() - start) / 1e6)


def _pyagrum_lung(path: Path) -> float | None:
    engine = _pyagrum_gibbs(path, 2.0)
    if engine is None:
        return None
    engine.setEvidence(LUNG)
    engine.makeInference()
    posterior = engine.posterior("lung")
    return float(posterior[{"lung": "yes"}])


if __name__ == "__main__":
    if sys.argv[1:] == ["--first"]:
        print(json.dumps(first_run()))
    else:
        from benchmarks.report import text_table

        where = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
        if where.exists():
            parts = (gibbs_speed(where), sampled_answers(where), gibbs_compiling())
            print(*(text_table(list(part)) for part in parts), sep="\n\n")
        else:
            print(f"skipped: there is no {where.name}")
