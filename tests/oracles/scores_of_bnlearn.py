"""Scores of R's bnlearn with graph priors, and the graphs that its hill climb finds by them, on tables from a seed.

The answers lie beside this file in scores_of_bnlearn.json; they were made as those of `pc_of_bnlearn` were:

    python -m tests.oracles.scores_of_bnlearn
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.oracles.local_scores import random_parents
from tests.oracles.pc_of_bnlearn import NAMES, rows

ANSWERS = Path(__file__).with_suffix(".json")
SAMPLE_SIZE = 3.0
PRIORS = {"uniform": "uniform", "vsp": "variable_selection", "marginal": "marginal"}


class Scored(NamedTuple):
    """The score of the graph of `some_parents`, and the arcs that a climb finds, words of two letters."""

    table: int
    score: str
    setting: float
    graph_prior: str
    chance: float | None
    value: float
    arcs: str


def answers() -> list[Scored]:
    """Read all cases."""
    return [Scored(*case) for case in json.loads(ANSWERS.read_text())]


def some_parents(table: int) -> list[frozenset[int]]:
    """A graph to score, drawn by the number of a table."""
    rng = np.random.default_rng(table)
    return [frozenset(x for x in own if rng.random() < 0.5) for own in random_parents(len(NAMES), rng)]


def main(n_tables: int = 12) -> None:
    """Ask bnlearn-port, and write what it says."""
    import pandas as pd
    import pybnlearn

    kinds = [("ebic", "ebic", {"gamma": gamma}, "uniform") for gamma in (0.5, 0.9)]
    for theirs, ours in (("bde", "bdeu"), ("bds", "bds")):
        for prior in PRIORS:
            betas = [{}] if prior == "uniform" else [{}, {"beta": 0.1}, {"beta": 0.7}]
            kinds += [(theirs, ours, {"iss": SAMPLE_SIZE, "prior": prior, **beta}, prior) for beta in betas]
    found = []
    for table in range(n_tables):
        frame = pd.DataFrame(rows(table)[0].T.astype(str), columns=list(NAMES)).astype("category")
        families = [
            f"[{name}{'|' if own else ''}{':'.join(NAMES[x] for x in sorted(own))}]"
            for name, own in zip(NAMES, some_parents(table), strict=True)
        ]
        net = pybnlearn.model2network("".join(families))
        for theirs, ours, told, prior in kinds:
            value = float(pybnlearn.score(net, frame, type=theirs, **told))
            arcs = " ".join(sorted(a + b for a, b in pybnlearn.hc(frame, score=theirs, **told).arcs))
            setting = told.get("iss", told.get("gamma"))
            found.append(Scored(table, ours, setting, PRIORS[prior], told.get("beta"), value, arcs))
    ANSWERS.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")


if __name__ == "__main__":
    main()
