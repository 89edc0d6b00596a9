"""What other searches of R's bnlearn find with required and forbidden arcs, on the tables of `pc_of_bnlearn`.

The answers lie beside this file in learners_of_bnlearn.json; they were made as those of `pc_of_bnlearn` were:

    python -m tests.oracles.learners_of_bnlearn

A pair that ARACNE is told of is told of both ways, as bnlearn requires.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.oracles.pc_of_bnlearn import NAMES, SIGNIFICANCE, crossing, has_cycle, rows

ANSWERS = Path(__file__).with_suffix(".json")
THEIRS = {
    "grow_shrink": "gs",
    "iamb": "iamb",
    "inter_iamb": "inter_iamb",
    "mmpc": "mmpc",
    "mmhc": "mmhc",
    "aracne": "aracne",
    "iamb_fdr": "iamb_fdr",
    "si_hiton_pc": "si_hiton_pc",
    "rsmax2": "rsmax2",
    "fast_iamb": "fast_iamb",
    "hpc": "hpc",
    "h2pc": "h2pc",
}
FEWER_TABLES = {"iamb_fdr": 3, "si_hiton_pc": 3, "rsmax2": 3, "fast_iamb": 3, "hpc": 3, "h2pc": 3}


class Learned(NamedTuple):
    """Arcs are words of two letters, the parent first; an edge without a direction is there both ways."""

    method: str
    table: int
    required: str
    forbidden: str
    arcs: str


def answers() -> list[Learned]:
    """Read all cases."""
    return [Learned(*case) for case in json.loads(ANSWERS.read_text())]


def main(n_tables: int = 12, crossings: int = 10) -> None:
    """Ask bnlearn-port, and write what it says."""
    import pandas as pd
    import pybnlearn

    found: list[Learned] = []
    for method, theirs in THEIRS.items():
        for table in range(FEWER_TABLES.get(method, n_tables)):
            frame = pd.DataFrame(rows(table)[0].T.astype(str), columns=list(NAMES)).astype("category")
            rng = np.random.default_rng([table, 25])
            for nth in range(crossings):
                required, forbidden = crossing(rng) if nth else ([], [])
                if has_cycle(required):
                    continue
                told = [required, forbidden]
                settings: dict[str, Any] = {"test": "mi", "alpha": SIGNIFICANCE}
                if method in ("mmpc", "si_hiton_pc", "hpc"):
                    settings["undirected"] = False
                if method in ("mmhc", "h2pc", "rsmax2"):
                    settings = {"restrict_args": settings, "maximize_args": {"score": "bic"}}
                if method == "aracne":
                    told, settings = [own + [arc[::-1] for arc in own] for own in told], {}
                    forbidden = told[1]
                white, black = ([*map(tuple, own)] or None for own in told)
                net = getattr(pybnlearn, theirs)(frame, whitelist=white, blacklist=black, **settings)
                arcs = sorted(a + b for a, b in net.arcs)
                found.append(Learned(method, table, *map(" ".join, (required, forbidden, arcs))))
    ANSWERS.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")


if __name__ == "__main__":
    main()
