"""What PC-stable of R's bnlearn finds with required and forbidden arcs, on tables that are made from a seed.

The answers lie beside this file in pc_of_bnlearn.json. They were made by bnlearn-port 0.1.0a1 (imported as pybnlearn),
which holds the C code of bnlearn 5.2.1. Where it is installed,

    python -m tests.oracles.pc_of_bnlearn

makes them anew. Two kinds of cases are left out: bnlearn's answer has a cycle, or a pair is forbidden both ways, whose
v-structures the port passes over (see docs/structure_learning.md).
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.oracles.local_scores import is_acyclic

from bayeswater.typing import Array

ANSWERS = Path(__file__).with_suffix(".json")
NAMES = tuple("abcdefg")
SIGNIFICANCE = 0.05


class Case(NamedTuple):
    """Arcs are words of two letters, the parent first; an edge without a direction is there both ways."""

    table: int
    required: str
    forbidden: str
    arcs: str


def answers() -> list[Case]:
    """Read all cases."""
    return [Case(*case) for case in json.loads(ANSWERS.read_text())]


def rows(table: int) -> tuple[Array, Array]:
    """Rows of a random network: codes (n_variables, n_rows) of the states that occur, and cards."""
    rng = np.random.default_rng(table)
    n_rows, n_states = int(rng.integers(500, 3000)), rng.integers(2, 4, len(NAMES))
    codes, earlier = np.zeros((len(NAMES), n_rows), dtype=np.uint8), np.empty(0, dtype=np.int64)
    for y in rng.permutation(len(NAMES)):
        parents = rng.permutation(earlier)[: rng.integers(0, 3)]
        share = rng.dirichlet(np.ones(n_states[y]), tuple(n_states[parents]))[tuple(codes[parents])]
        codes[y] = (rng.random((n_rows, 1)) > share.cumsum(axis=-1)[..., :-1]).sum(axis=1)
        earlier = np.append(earlier, y)
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in codes])
    return codes, codes.max(axis=1) + 1


def crossing(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Up to three required and six forbidden arcs, none of them of a pair that has another."""
    pairs = [a + b for a in NAMES for b in NAMES if a < b]
    chosen = [pairs[at][:: rng.choice([1, -1])] for at in rng.permutation(len(pairs))[: rng.integers(1, 10)]]
    n_required = int(rng.integers(0, min(3, len(chosen)) + 1))
    return chosen[:n_required], chosen[n_required : n_required + 6]


def has_cycle(arcs: list[str]) -> bool:
    """Whether arcs, those of edges without a direction left out, form a cycle."""
    return not is_acyclic([{NAMES.index(a) for a, b in arcs if b == child and b + a not in arcs} for child in NAMES])


def main(n_tables: int = 12, crossings: int = 25) -> None:
    """Ask bnlearn-port, and write what it says."""
    import pandas as pd
    import pybnlearn

    found: list[Case] = []
    for table in range(n_tables):
        frame = pd.DataFrame(rows(table)[0].T.astype(str), columns=list(NAMES)).astype("category")
        rng = np.random.default_rng([table, crossings])
        for _ in range(crossings):
            required, forbidden = crossing(rng)
            if has_cycle(required):
                continue
            lists = {"whitelist": [*map(tuple, required)] or None, "blacklist": [*map(tuple, forbidden)] or None}
            arcs = sorted(a + b for a, b in pybnlearn.pc_stable(frame, test="mi", alpha=SIGNIFICANCE, **lists).arcs)
            if not has_cycle(arcs):
                found.append(Case(table, " ".join(required), " ".join(forbidden), " ".join(arcs)))
    ANSWERS.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")


if __name__ == "__main__":
    main()
