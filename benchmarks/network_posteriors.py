"""All posteriors of random rows, in every network of the public repositories, against pyAgrum's.

Rows are drawn from the network, and a fifth of their cells is left, at random: each row has its own pattern.

Twice compared: pyAgrum reads the file itself, which its BIF reader does in float32, so that the answers agree as far as
that allows; and it is handed our tables, in float64, so that they agree but for rounding. It refuses the labels of
child.bif, which is compared the second way alone.

The files (alarm.bif, ...) are no part of the project: they are looked for under BAYESWATER_DATA, and without them, or
without pyAgrum, the section is left out.

    python -m benchmarks.network_posteriors [network ...]
"""

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bayeswater import BayesianNetwork
from bayeswater.errors import NetworkFileWarning
from bayeswater.kernels.threads import threads

FOLDER = Path(os.environ.get("BAYESWATER_DATA", "data")) / "networks"
OBSERVED = 0.2

CELLS_OF_SMALL = 1e5
"""Cells of the tree of a network that gets many rows."""

MANY_ROWS, FEW_ROWS = 300, 50

ROWS_OF = {"link": 5}
"""Networks of which pyAgrum takes many seconds a row."""

FLOAT32 = 2.0**-24
"""Relative error of a number that is read into float32."""

ROUNDING = 1e-12
"""Of sums over up to some hundred million cells, in another order."""


def has_pyagrum() -> bool:
    """Say whether there is something to compare with."""
    return find_spec("pyagrum") is not None


def network_posteriors(names: Sequence[str] = (), folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Give the largest difference of a posterior, for each network; smallest files first."""
    for path in sorted(folder.glob("*.bif"), key=lambda path: path.stat().st_size):
        if names and path.stem not in names:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NetworkFileWarning)  # files of seven digits: rows are normalised
            network = BayesianNetwork.read(path)
        n_rows = MANY_ROWS if network.cost(n_rows=1).cells < CELLS_OF_SMALL else FEW_ROWS
        rows = _rows(network, ROWS_OF.get(path.stem, n_rows))
        with threads(1):
            ours = network.posteriors(rows)
        read = _read(path)
        off_read = None if read is None else _largest_difference(read, rows, ours)
        off_handed = _largest_difference(_handed(network), rows, ours)
        # Above and below the line of a posterior stands a product of one number of every table.
        at_most = 2 * len(network.variables) * FLOAT32
        yield {
            "network": path.stem,
            "variables": len(network.variables),
            "rows": len(rows),
            "posteriors": sum(array.size for array in ours.values()),
            "largest difference, file read by pyAgrum": off_read,
            "at most": at_most,
            "largest difference, handed our tables": off_handed,
            "at most, handed": ROUNDING,
            "reached": (off_read is None or off_read <= at_most) and off_handed <= ROUNDING,
        }


def _rows(network: BayesianNetwork, n_rows: int) -> Any:
    drawn = network.sample(n_rows, random_state=0).to_pandas()
    return drawn.where(np.random.default_rng(1).random(drawn.shape) < OBSERVED)


def _read(path: Path) -> Any:
    import pyagrum

    try:
        return pyagrum.loadBN(str(path))
    except pyagrum.GumException:
        return None


def _handed(network: BayesianNetwork) -> Any:
    import pyagrum

    theirs = pyagrum.BayesNet()
    for variable in network.variables:
        theirs.add(pyagrum.LabelizedVariable(variable.name, "", list(variable.states)))
    for parent, child in network.dag.edges():
        theirs.addArc(parent, child)
    for name in network.dag.names:
        cpt, theirs_cpt = network.cpt(name), theirs.cpt(name)
        axes = [*(parent.name for parent in cpt.parents), name]
        order = [axes.index(axis) for axis in reversed(theirs_cpt.names)]  # pyAgrum's first variable runs fastest
        theirs_cpt.fillWith(np.transpose(cpt.values, order).ravel().tolist())
    return theirs


def _largest_difference(theirs: Any, rows: Any, ours: dict[str, Any]) -> float:
    import pyagrum

    pyagrum.setNumberOfThreads(1)
    engine = pyagrum.LazyPropagation(theirs)
    furthest = 0.0
    for i, row in enumerate(rows.to_dict("records")):
        engine.setEvidence({name: label for name, label in row.items() if isinstance(label, str)})
        engine.makeInference()
        for name, posteriors in ours.items():
            found = engine.posterior(name).toarray()
            furthest = max(furthest, float(np.abs(posteriors[i] - found).max()))
    return furthest


def main() -> None:
    """Show the table, or some of its lines."""
    from benchmarks.report import text_table

    if has_pyagrum():
        print(text_table(list(network_posteriors(sys.argv[1:]))))


if __name__ == "__main__":
    main()
