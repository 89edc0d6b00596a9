"""What tests of independence of R's bnlearn say of tables that are made from a seed.

The answers lie beside this file in tests_of_bnlearn.json. They were made by bnlearn-port 0.1.0a1 (imported as
pybnlearn), which holds the C code of bnlearn 5.2.1. Where it is installed,

    python -m tests.oracles.tests_of_bnlearn

makes them anew.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.oracles.pc_of_bnlearn import rows as states

from bayeswater.typing import Array

__all__ = ["answers", "numbers", "states"]

ANSWERS = Path(__file__).with_suffix(".json")
KINDS = {"g2": "mi", "chi2": "x2", "mi-sh": "mi-sh", "cor": "cor", "zf": "zf", "mi-g": "mi-g"}
KINDS |= {name: name for name in ("mi-adf", "x2-adf", "jt")}


class Tested(NamedTuple):
    """A test of the first two columns given the others."""

    kind: str
    table: int
    columns: list[int]
    statistic: float
    degrees_of_freedom: float | None
    p_value: float


def answers() -> list[Tested]:
    """Read all cases."""
    return [Tested(*case) for case in json.loads(ANSWERS.read_text())]


def numbers(table: int) -> Array:
    """Columns of numbers (5, n_rows) that depend on one another."""
    rng = np.random.default_rng(table)
    noise = rng.normal(size=(5, int(rng.integers(12, 200))))
    return np.tril(rng.normal(size=(5, 5)) * (rng.random((5, 5)) < 0.4), -1) @ noise + noise


def main(n_each: int = 100) -> None:
    """Ask bnlearn-port, and write what it says."""
    import pandas as pd
    import pybnlearn

    found = []
    for kind, theirs in KINDS.items():
        for seed in range(n_each if kind != theirs or kind in ("mi-sh", "cor", "zf", "mi-g") else 30):
            rng = np.random.default_rng([seed, len(theirs)])
            table = int(rng.integers(12))
            of_numbers = kind in ("cor", "zf", "mi-g")
            frame = pd.DataFrame(numbers(table).T if of_numbers else states(table)[0].T.astype(str)).add_prefix("v")
            frame = frame if of_numbers else frame.astype("category")
            if kind == "jt":
                frame = frame.apply(lambda column: column.cat.as_ordered())
            columns = rng.permutation(frame.shape[1])[: rng.integers(2, 5)].tolist()
            x, y, *given = (f"v{at}" for at in columns)
            said = pybnlearn.ci_test(frame, x, y, sx=given or None, test=theirs)
            degrees = None if kind == "jt" else float(said["parameter"]["df"])
            found.append(
                Tested(kind, table, columns, float(said["statistic"][theirs]), degrees, float(said["p.value"]))
            )
    ANSWERS.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")


if __name__ == "__main__":
    main()
