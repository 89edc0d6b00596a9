"""Learning the structure of networks: scores against bnlearn's golden values, speed, quality and recovery beside peers.

The tables and golden values (bnlearn's, 20 000 rows each, and networks of the public repository) are no part of the
project: they are looked for under BAYESWATER_DATA, and without them the sections are left out. Peers are taken where
they are installed: pyAgrum, and bnlearn-port (imported as pybnlearn), which carries the C core of R's bnlearn. One
thread on all sides.

    python -m benchmarks.structure [golden speed quality recovery orders missing scale]
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from bayeswater import BayesianNetwork, learn_structure, score_structure, threads
from bayeswater.models.structures.state_table import StateTable
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import structural_hamming_distance
from bayeswater.structure.hill_climbing import hill_climb
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.scores import Score

DATA = Path(os.environ.get("BAYESWATER_DATA", "data"))
TABLES, GOLDEN, NETWORKS = DATA / "reference/bnlearn", DATA / "reference/bnlearn_golden", DATA / "networks"
LARGE = ("alarm", "insurance", "hailfinder")
OF_R = {"alarm": 601.0, "insurance": 393.0, "hailfinder": 1152.0}
"""Milliseconds of R's own bnlearn 5.2.1 for a hill climb, measured once on another day on a machine like this."""
TARGETS = {"alarm": -218632.32, "insurance": -264708.86, "hailfinder": -990162.81}
PEERS_BEST = {"alarm": -219119.39, "insurance": -265229.80, "hailfinder": -990236.04}
"""Best BIC of any run of a peer, of any setting and order of columns, that was made for the project."""
SCORES = {
    "bic": "bic",
    "aic": "aic",
    "loglik": "loglik",
    "k2": "k2",
    "bde": "bdeu",
    "bds": "bds",
    "fnml": "fnml",
    "qnml": "qnml",
}


def structure_golden() -> Iterator[dict[str, Any]]:
    """Give, for each score, how near ours come to bnlearn's, and how many of its structures are found again."""
    found: dict[str, list[tuple[float, bool]]] = {}
    for case in json.loads((GOLDEN / "hc.json").read_text()):
        name = SCORES.get(case["score"])
        if name is None or case["whitelist"] or case["blacklist"]:
            continue
        data = golden_table(case["dataset"])
        setting = case["extra"].get("iss", case["extra"].get("k"))
        score: Any = name if setting is None else (name, float(setting))
        graph = Dag.from_edges([tuple(arc.split(">")) for arc in case["arcs"]], nodes=case["nodes"])
        ours = score_structure(graph, data, score, per_node=True)
        off = max(
            abs(ours[node] - theirs) / max(1.0, abs(theirs))
            for node, theirs in zip(case["nodes"], case["node.scores"], strict=True)
        )
        limit = case["maxp"]
        climbed = learn_structure(data, score, "hill_climb", max_parents=None if limit is None else int(limit))
        same = set(climbed.graph.edges()) == set(graph.edges())
        found.setdefault(name, []).append((off, same))
    for name, results in found.items():
        yield {
            "score": name,
            "structures": len(results),
            "largest relative difference of a node": max(off for off, _ in results),
            "found again arc by arc": sum(same for _, same in results),
        }


def structure_speed(repeats: int = 5) -> Iterator[dict[str, Any]]:
    """Give milliseconds of a plain hill climb by BIC, on codes, beside peers in the same turn."""
    for name in LARGE:
        data = golden_table(name)
        climbs: dict[str, Callable[[], Callable[[], Any]]] = {"ours": lambda data=data: _our_climb(data)}
        if find_spec("pyagrum"):
            climbs["pyAgrum"] = lambda data=data: _agrum_climb(data)
        if find_spec("pybnlearn"):
            climbs["bnlearn-port"] = lambda data=data: _bnlearn_climb(data)
        times: dict[str, list[float]] = {peer: [] for peer in climbs}
        with threads(1):
            for prepare in climbs.values():
                prepare()()  # compiled, and read into the cache
            for _ in range(repeats):
                for peer, prepare in climbs.items():
                    times[peer].append(1e3 * _seconds(prepare()))
        record: dict[str, Any] = {"table": name, "rows": len(data), "variables": data.shape[1]}
        record |= {f"{peer} ms": median(own) for peer, own in times.items()}
        record |= {
            f"{peer} / ours": median(own) / median(times["ours"]) for peer, own in times.items() if peer != "ours"
        }
        yield record | {"R bnlearn ms (noted)": OF_R[name], "R / ours": OF_R[name] / median(times["ours"])}


def structure_quality(orders: int = 8) -> Iterator[dict[str, Any]]:
    """Give the BIC that `auto` reaches from several orders of the columns, by default and in one and two seconds."""
    for name in LARGE:
        data = golden_table(name)
        for limit in (None, 1.0, 2.0):
            scores, seconds = [], []
            for order in range(orders):
                columns = np.arange(data.shape[1])
                if order:
                    columns = np.random.default_rng(order).permutation(columns)
                began = time.perf_counter()
                scores.append(learn_structure(data.iloc[:, columns], time_limit=limit).score)
                seconds.append(time.perf_counter() - began)
            yield {
                "table": name,
                "time limit": "none" if limit is None else f"{limit:g} s",
                "median s": median(seconds),
                "worst BIC": min(scores),
                "median BIC": median(scores),
                "best BIC": max(scores),
                "at the best known": f"{sum(score > TARGETS[name] - 0.01 for score in scores)} of {orders}",
                "best of peers (noted)": PEERS_BEST[name],
            }


def structure_recovery() -> Iterator[dict[str, Any]]:
    """Give the distance (SHD of classes) from the true network that searches by BIC end at, beside peers."""
    for name in ("alarm", "child", "insurance", "hailfinder"):
        network = BayesianNetwork.read(NETWORKS / f"{name}.bif")
        for n_rows in (1_000, 5_000, 20_000):
            data = network.sample(n_rows, random_state=1).to_pandas().astype(str)
            record: dict[str, Any] = {"network": name, "rows": n_rows}
            for method in ("auto", "hill_climb", "pc"):
                found = learn_structure(data, method=method, time_limit=2.0 if method == "auto" else None)
                record[method] = _distance(found.graph, network.dag)
            if find_spec("pyagrum"):
                record["pyAgrum"] = _distance(_agrum_graph(_agrum_climb(data)()), network.dag)
            if find_spec("pybnlearn"):
                record["bnlearn-port"] = _distance(_bnlearn_graph(_bnlearn_climb(data)(), data), network.dag)
            yield record


def structure_orders(orders: int = 8) -> Iterator[dict[str, Any]]:
    """Give BIC and distance from the true network over several orders of the columns, with twins and without them."""
    network = BayesianNetwork.read(NETWORKS / "hailfinder.bif")
    data = network.sample(10_000, random_state=1).to_pandas().astype(str)
    own = {name: group[0] for group in StateTable.of(data).twins for name in group}
    arcs = {(own.get(a, a), own.get(b, b)) for a, b in network.dag.edges()}
    apart = data.drop(columns=[name for name, first in own.items() if name != first])
    merged = Dag.from_edges(sorted((a, b) for a, b in arcs if a != b), nodes=apart.columns)
    for columns, rows, true in (("all", data, network.dag), ("one of each twins", apart, merged)):
        for method in ("hill_climb", "tabu", "order"):
            found = []
            for order in range(orders):
                place = np.arange(rows.shape[1])
                if order:
                    np.random.default_rng(order).shuffle(place)
                found.append(learn_structure(rows.iloc[:, place], method=method))
            distances = [_distance(one.graph, true) for one in found]
            yield {
                "columns": columns,
                "method": method,
                "mean BIC": float(np.mean([one.score for one in found])),
                "SHD, columns as in the file": distances[0],
                "mean SHD": float(np.mean(distances)),
                "least": min(distances),
                "largest": max(distances),
            }


def structure_missing() -> Iterator[dict[str, Any]]:
    """Give what it costs that a fifth of the cells is missing: nats that a new row loses, and SHD of graphs."""
    for name in ("asia", "child", "insurance", "alarm", "hailfinder"):
        network = BayesianNetwork.read(NETWORKS / f"{name}.bif")
        rows, new = network.sample(5_000, random_state=0).to_pandas(), network.sample(20_000, random_state=1)
        lacking = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.2)
        whole = lacking.dropna()
        best = network.log_probability(new).mean()
        record: dict[str, Any] = {"network": name, "rows": len(rows), "whole rows": len(whole)}
        ways = {"nothing missing": rows, "em": lacking, "available": lacking, "rows dropped": whole}
        for way, data in ways.items():
            rule = "em" if way == "em" else "available"
            began = time.process_time()
            fitted = network.fit(data, missing=rule, equivalent_sample_size=1.0)
            if way == "em":
                record["em s"] = time.process_time() - began
            record[f"nats lost, {way}"] = best - fitted.log_probability(new).mean()
        for way, data in (("nothing missing", rows), ("structural EM", lacking)):
            learn_structure(data)  # compiled, and read into the cache
            began = time.process_time()
            found = learn_structure(data)
            record[f"{way}, search s"] = time.process_time() - began
            record[f"SHD, {way}"] = _distance(found.graph, network.dag)
        yield record


def structure_scale(repeats: int = 3) -> Iterator[dict[str, Any]]:
    """Give processor seconds and BIC at 150 to 660 variables and 5 000 sampled rows; climbs of tables that are read."""
    for name in ("andes", "munin1", "pigs", "link"):
        network = BayesianNetwork.read(NETWORKS / f"{name}.bif")
        data = network.sample(5_000, random_state=1).to_pandas().astype(str)
        data = data.loc[:, data.nunique() > 1]
        names = list(data.columns)
        record: dict[str, Any] = {"network": name, "variables": len(names)}
        with threads(1):
            climb = _our_climb(data)
            climb()  # compiled, and read into the cache
            ours = median(_seconds(climb, time.process_time) for _ in range(repeats))
            parents, score, _ = climb()
            graph = Dag.from_edges([(names[x], names[y]) for y, own in enumerate(parents) for x in own], nodes=names)
            record |= {"hill climb s": ours, "hill climb BIC": score}
            if find_spec("pyagrum"):
                peer = _agrum_climb(data)
                began = time.process_time()
                found = peer()
                theirs = time.process_time() - began
                record |= {"pyAgrum s": theirs, "pyAgrum BIC": score_structure(_agrum_graph(found), data)}
                record |= {"pyAgrum / ours": theirs / ours, "at least": 20, "reached": theirs / ours >= 20}
            began = time.process_time()
            whole = learn_structure(data)
            record |= {"default s, frame of strings": time.process_time() - began, "default BIC": whole.score}
        if len(network.dag) == len(names):
            record |= {
                "hill climb SHD": _distance(graph, network.dag),
                "default SHD": _distance(whole.graph, network.dag),
            }
        yield record


def structure_growth(sizes: Sequence[int] = (250, 500, 1_000, 2_000), n_rows: int = 1_000) -> Iterator[dict[str, Any]]:
    """Give processor seconds of a hill climb by BIC, as the variables of a drawn network become more."""
    for n in sizes:
        rng = np.random.default_rng(n)
        codes = np.zeros((n, n_rows), dtype=np.int64)
        arcs = set()
        for y in range(n):
            own = rng.choice(np.arange(max(0, y - 30), y), size=min(y, int(rng.integers(1, 4))), replace=False)
            arcs |= {(int(x), y) for x in own}
            table = rng.dirichlet(np.ones(3), size=2 ** len(own)).cumsum(axis=1)
            place = (codes[own] > 0).T @ (1 << np.arange(len(own)))
            codes[y] = (rng.random(n_rows)[:, None] > table[place][:, :2]).sum(axis=1)
        knowledge = Knowledge.of([f"v{j}" for j in range(n)])
        with threads(1):
            began = time.process_time()
            parents, score, n_steps = hill_climb(
                LocalScores(codes, np.full(n, 3), Score("bic")), knowledge, knowledge.start
            )
            seconds = time.process_time() - began
        found = {(x, y) for y, own in enumerate(parents) for x in own}
        joined = {frozenset(arc) for arc in found} & {frozenset(arc) for arc in arcs}
        yield {
            "variables": n,
            "hill climb s": seconds,
            "us a pair of variables": 1e6 * seconds / n**2,
            "steps": n_steps,
            "BIC": score,
            "joined pairs that are true": len(joined) / max(1, len(found)),
        }


def _seconds(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


# ------------------------------------------------------------------ ours and the peers, on tables that are read already


def _our_climb(data: pd.DataFrame) -> Callable[[], Any]:
    table = StateTable.of(data)
    knowledge = Knowledge.of(table.names)
    return lambda: hill_climb(LocalScores(table.codes, table.n_states, Score("bic")), knowledge, knowledge.start)


def _agrum_climb(data: pd.DataFrame) -> Callable[[], Any]:
    import pyagrum

    learner = pyagrum.BNLearner(data)
    learner.setNumberOfThreads(1)
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.useGreedyHillClimbing()
    return lambda: (learner.learnDAG(), learner.names())


def _agrum_graph(found: Any) -> Dag:
    dag, names = found
    return Dag.from_edges([(names[a], names[b]) for a, b in dag.arcs()], nodes=names)


def _bnlearn_climb(data: pd.DataFrame) -> Callable[[], Any]:
    import pybnlearn

    frame = data.astype("category")
    return lambda: pybnlearn.hc(frame, score="bic")


def _bnlearn_graph(found: Any, data: pd.DataFrame) -> Dag:
    import pybnlearn

    return Dag.from_edges([tuple(arc) for arc in np.asarray(pybnlearn.arcs(found)).tolist()], nodes=list(data.columns))


def _distance(found: Dag, true: Dag) -> int:
    return structural_hamming_distance(found, true)


def golden_table(name: str) -> pd.DataFrame:
    """Read a table of bnlearn, its states in the order that R has them in."""
    levels = json.loads((GOLDEN / "levels.json").read_text()).get(name, {})
    data = pd.read_csv(TABLES / f"{name}.csv", keep_default_na=False, dtype=str)
    return data.apply(lambda column: pd.Categorical(column, levels.get(column.name)))


SECTIONS = {
    "golden": structure_golden,
    "speed": structure_speed,
    "quality": structure_quality,
    "recovery": structure_recovery,
    "orders": structure_orders,
    "missing": structure_missing,
    "scale": structure_scale,
}


def main(names: Sequence[str]) -> None:
    """Show some sections, or all."""
    from benchmarks.report import text_table

    for name in names or SECTIONS:
        print(f"\n{name}\n\n{text_table(list(SECTIONS[name]()))}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
