"""Exact inference in networks of the public repositories, beside pyAgrum and pgmpy.

All marginals of many rows of evidence: a fifth of the cells observed at random, each row with its own pattern, or one
pattern for all rows; and one marginal given one row. Rows are drawn from the network. pyAgrum answers with the faster
of its two exact engines, one row after the other, as its users do; it is given fewer rows and told per row. All run on
one thread. Its BIF reader keeps seven digits: so far the answers have to agree.

The files (alarm.bif, ...) are no part of the project: they are looked for under BAYESWATER_DATA, and without them the
section is left out, as are libraries that are not installed.

    python -m benchmarks.network_inference [folder] [network ...]
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from bayeswater.files.networks.formats import read_network
from bayeswater.inference.exact.elimination import query
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile
from bayeswater.inference.exact.marginals import marginals
from bayeswater.kernels.threads import threads
from benchmarks.processes import in_fresh_process

FOLDER = Path(os.environ.get("BAYESWATER_DATA", "data")) / "networks"
OBSERVED = 0.2
N_ROWS = 10_000
SINGLE_QUERIES = 20
SEVEN_DIGITS = 2e-7

AT_MOST = {  # microseconds a row: of any pattern, of one pattern
    "alarm": (2.7, 1.35),
    "hailfinder": (12.6, 7.5),
    "insurance": (106.0, 7.5),
    "win95pts": (6.6, 4.5),
    "andes": (705.0, 19.5),
}


@dataclass(frozen=True)
class Case:
    """A network, its numbers, and rows drawn from it."""

    path: Path

    @cached_property
    def nodes(self) -> Any:
        return read_network(self.path).nodes

    @cached_property
    def factors(self) -> Factors:
        place = {node.name: i for i, node in enumerate(self.nodes)}
        parents = tuple(tuple(place[name] for name in node.parents) for node in self.nodes)
        tables = tuple(node.table / node.table.sum(axis=-1, keepdims=True) for node in self.nodes)
        return Factors(tuple(len(node.states) for node in self.nodes), parents, tables)

    def drawn(self, n_rows: int) -> Any:
        """Draw rows (n_rows, n_variables), each column in one piece."""
        rng, factors = np.random.default_rng(0), self.factors
        rows = np.zeros((n_rows, factors.n_variables), dtype=np.uint8, order="F")
        for v in factors.order:
            share = factors.tables[v][tuple(rows[:, list(factors.parents[v])].T)]
            bound = np.cumsum(np.broadcast_to(share, (n_rows, factors.cards[v])), axis=1)
            rows[:, v] = np.minimum((rng.random((n_rows, 1)) > bound).sum(axis=1), factors.cards[v] - 1)
        return rows

    def rows(self, n_rows: int, one_pattern: bool) -> Any:
        """Rows in which a fifth of the cells is left, at random or in the same columns."""
        rng = np.random.default_rng(1)
        seen = rng.random((1 if one_pattern else n_rows, self.factors.n_variables)) < OBSERVED
        return np.asfortranarray(np.where(seen, self.drawn(n_rows), self.factors.card_array).astype(np.uint8))


def network_inference(repeats: int, folder: Path = FOLDER, names: Any = AT_MOST) -> Iterator[dict[str, Any]]:
    """Time all marginals of rows, ours and pyAgrum's in turns."""
    for name in names:
        case = Case(folder / f"{name}.bif")
        if not case.path.exists():
            continue
        tree = compile(case.factors)
        for one_pattern in (False, True):
            rows = case.rows(N_ROWS if len(case.factors.cards) < 100 else N_ROWS // 10, one_pattern)
            few = rows[:25]
            peers = _pyagrum(case, few) | _pgmpy(case, few[:2])
            ours = partial(marginals, tree, rows)
            with threads(1):
                seconds = _in_turns({"ours": ours} | {peer: run for peer, (run, _) in peers.items()}, repeats)
                answers = marginals(tree, few)
            each = {"ours": 1e6 * seconds["ours"] / len(rows)}
            each |= {peer: 1e6 * seconds[peer] / n for peer, (_, n) in peers.items()}
            fastest = min((peer for peer in each if peer.startswith("pyAgrum")), key=each.__getitem__, default=None)
            at_most = AT_MOST.get(name, (None, None))[one_pattern]
            yield {
                "network": name,
                "evidence": "one pattern" if one_pattern else "any pattern",
                "ours us/row": each["ours"],
                "at most": at_most,
                "reached": at_most and each["ours"] <= at_most,
                "pyAgrum us/row": fastest and each[fastest],
                "pgmpy us/row": each.get("pgmpy"),
                "pyAgrum by ours": fastest and each[fastest] / each["ours"],
                "same": fastest and _same(case, answers, peers[fastest][0]()),
            }


def network_queries(folder: Path = FOLDER, names: Any = ("asia", *AT_MOST)) -> Iterator[dict[str, Any]]:
    """Time one marginal given one row, the network being read: nothing is shared between questions."""
    for name in names:
        case = Case(folder / f"{name}.bif")
        if not case.path.exists():
            continue
        rng, factors = np.random.default_rng(2), case.factors
        rows = case.rows(SINGLE_QUERIES, one_pattern=False)
        targets = [int(rng.choice(np.flatnonzero(row >= factors.cards))) for row in rows]
        evidence = [{v: int(s) for v, s in enumerate(row) if s < factors.cards[v]} for row in rows]
        runs = _our_query(factors, targets, evidence) | _pyagrum_query(case, targets, evidence)
        seconds: dict[str, list[float]] = {library: [] for library in runs}
        runs["ours"](0)
        for i in range(SINGLE_QUERIES):
            for library, run in runs.items():
                seconds[library].append(_seconds(partial(run, i)))
        times = {library: 1e3 * median(some) for library, some in seconds.items()}
        theirs = times.get("pyAgrum")
        yield {
            "network": name,
            "ours ms": times["ours"],
            "pyAgrum ms": theirs,
            "pyAgrum by ours": theirs and theirs / times["ours"],
        }


def network_compile_times(folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Seconds that a first call takes over a second one, with an empty cache of compiled code and with a full one."""
    for name in ("alarm", "andes"):
        if (folder / f"{name}.bif").exists():
            with tempfile.TemporaryDirectory() as empty:
                environment = os.environ | {"NUMBA_CACHE_DIR": empty}
                arguments = ("benchmarks.network_inference", "--first-call", str(folder), name)
                cold, cached = (in_fresh_process(*arguments, env=environment) for _ in range(2))
            yield {"network": name, "cold s": cold["seconds"], "from cache s": cached["seconds"]}


def first_call(folder: Path, name: str) -> dict[str, float]:
    """Seconds of processor time that the first call takes over the second, numba being there already."""
    from numba import njit

    njit(lambda x: x)(1)
    case = Case(folder / f"{name}.bif")
    rows = case.rows(N_ROWS // 100, one_pattern=False) if name == "andes" else case.rows(N_ROWS, one_pattern=False)
    begin = process_time()
    marginals(compile(case.factors), rows)
    between = process_time()
    marginals(compile(case.factors), rows)
    return {"seconds": (between - begin) - (process_time() - between)}


def _in_turns(runs: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    # As `medians_in_turns`, but slow peers get one turn.
    for run in runs.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats):
        for name, run in runs.items():
            if turn == 0 or name == "ours":
                seconds[name].append(_seconds(run))
    return {name: median(some) for name, some in seconds.items()}


def _seconds(run: Callable[[], Any]) -> float:
    begin = process_time()  # all is on one thread, and this is less moved by what else the machine does
    run()
    return process_time() - begin


def _labels(case: Case, row: Any) -> dict[str, str]:
    return {node.name: node.states[code] for node, code in zip(case.nodes, row, strict=True) if code < len(node.states)}


def _pyagrum(case: Case, rows: Any) -> dict[str, tuple[Callable[[], Any], int]]:
    network = _pyagrum_network(case)
    if network is None:
        return {}
    import pyagrum

    pyagrum.setNumberOfThreads(1)
    evidence = [_labels(case, row) for row in rows]

    def run(engine: Any) -> list[dict[str, Any]]:
        inference = engine(network)
        answers = []
        for observed in evidence:
            inference.setEvidence(observed)
            inference.makeInference()
            answers.append({node.name: inference.posterior(node.name) for node in case.nodes})
        return answers

    engines = (pyagrum.LazyPropagation, pyagrum.ShaferShenoyInference)
    return {f"pyAgrum {engine.__name__}": (partial(run, engine), len(rows)) for engine in engines}


def _our_query(factors: Factors, targets: list[int], evidence: list[dict[int, int]]) -> dict[str, Callable[[int], Any]]:
    return {"ours": lambda i: query(factors, targets[i : i + 1], evidence[i])}


def _pyagrum_query(case: Case, targets: list[int], evidence: list[dict[int, int]]) -> dict[str, Callable[[int], Any]]:
    network = _pyagrum_network(case)
    if network is None:
        return {}
    import pyagrum

    def run(i: int) -> Any:
        inference = pyagrum.LazyPropagation(network)
        inference.setEvidence({case.nodes[v].name: case.nodes[v].states[s] for v, s in evidence[i].items()})
        inference.addTarget(case.nodes[targets[i]].name)
        inference.makeInference()
        return inference.posterior(case.nodes[targets[i]].name)

    return {"pyAgrum": run}


def _pyagrum_network(case: Case) -> Any:
    if find_spec("pyagrum") is None:
        return None
    import pyagrum

    return pyagrum.loadBN(str(case.path))


def _pgmpy(case: Case, rows: Any) -> dict[str, tuple[Callable[[], Any], int]]:
    if find_spec("pgmpy") is None or case.path.stem == "andes":  # half a minute a row
        return {}
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader

    engine = VariableElimination(BIFReader(str(case.path)).get_model())

    def run() -> None:
        for row in rows:
            observed = _labels(case, row)
            free = [node.name for node in case.nodes if node.name not in observed]
            engine.query(free, observed, joint=False, show_progress=False)

    return {"pgmpy": (run, len(rows))}


def _same(case: Case, answers: Any, theirs: list[dict[str, Any]]) -> bool:
    furthest = 0.0
    for i, posteriors in enumerate(theirs):
        for v, node in enumerate(case.nodes):
            found = [posteriors[node.name][{node.name: label}] for label in node.states]
            furthest = max(furthest, float(np.abs(answers.marginals[v][i] - found).max()))
    return furthest < SEVEN_DIGITS


def main() -> None:
    """Show the tables, or time one first call."""
    from benchmarks.report import text_table

    arguments = sys.argv[1:]
    if arguments[:1] == ["--first-call"]:
        print(json.dumps(first_call(Path(arguments[1]), arguments[2])))
        return
    folder = Path(arguments[0]) if arguments else FOLDER
    names = arguments[1:] or AT_MOST
    for records in (
        network_inference(3, folder, names),
        network_queries(folder, arguments[1:] or ("asia", *AT_MOST)),
        network_compile_times(folder),
    ):
        print(text_table(list(records)), flush=True)


if __name__ == "__main__":
    main()
