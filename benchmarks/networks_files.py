"""Networks of the public repositories, read and taken through every format, beside pyAgrum.

The files (alarm.bif, munin.bif, ...) are no part of the project: they are looked for under BAYESWATER_DATA, and without
them the section is left out. Every network is written in each format and read back; what comes back has to be the
same, label for label and bit for bit (UAI has no labels: the same numbers). pyAgrum reads the same files where it is
installed; its BIF reader keeps seven digits, and refuses the labels of child.bif.

    python -m benchmarks.networks_files [folder]
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayeswater.files.networks.document import NetworkDocument
from bayeswater.files.networks.formats import FORMATS, Format, read_network
from benchmarks.timing import medians_in_turns

FOLDER = Path(os.environ.get("BAYESWATER_DATA", "data")) / "networks"
AT_MOST_MS = {"alarm": 5.0, "munin": 500.0}


def networks_files(repeats: int, folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Time the reading of each file, and say whether every format gives the network back."""
    for path in sorted(folder.glob("*.bif"), key=lambda path: path.stat().st_size):
        network = read_network(path)
        actions: dict[str, Callable[[], Any]] = {"ours": partial(read_network, path)}
        reader = _pyagrum(path)
        if reader:
            actions["pyAgrum"] = reader
        seconds = medians_in_turns(actions, repeats)
        lost = [one.name for one in FORMATS if not _comes_back(network, one)]
        at_most = AT_MOST_MS.get(path.stem)
        yield {
            "network": path.stem,
            "nodes": len(network.nodes),
            "numbers": sum(node.table.size for node in network.nodes),
            "ours ms": 1e3 * seconds["ours"],
            "pyAgrum ms": 1e3 * seconds["pyAgrum"] if reader else None,
            "ratio": seconds["pyAgrum"] / seconds["ours"] if reader else None,
            "at most ms": at_most,
            "reached": at_most and 1e3 * seconds["ours"] <= at_most,
            f"same through {len(FORMATS)} formats": not lost,
        }


def network_formats(repeats: int, folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Time the reading and writing of two networks in every format."""
    for name in AT_MOST_MS:
        network = read_network(folder / f"{name}.bif")
        for one in FORMATS:
            text = one.write(network).text
            seconds = medians_in_turns(
                {"read": partial(one.read, text, name), "write": partial(one.write, network)}, repeats
            )
            yield {
                "network": name,
                "format": one.name,
                "KB": len(text) / 1e3,
                "read ms": 1e3 * seconds["read"],
                "write ms": 1e3 * seconds["write"],
            }


def _comes_back(network: NetworkDocument, one: Format) -> bool:
    back = one.read(one.write(network).text, network.name)
    if one.name == "UAI":
        pairs = zip(network.nodes, back.nodes, strict=True)
        return all(np.array_equal(node.table, again.table) for node, again in pairs)
    return {node.name: node for node in back.nodes} == {node.name: node for node in network.nodes}


def _pyagrum(path: Path) -> Callable[[], Any] | None:
    """Give pyAgrum's reading of a file, if it is installed and can."""
    try:
        import pyagrum
    except ImportError:
        return None
    try:
        pyagrum.loadBN(str(path))
    except pyagrum.FatalError:
        return None
    return partial(pyagrum.loadBN, str(path))


if __name__ == "__main__":
    from benchmarks.report import text_table

    where = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    if where.exists():
        print(text_table(list(networks_files(3, where))), text_table(list(network_formats(3, where))), sep="\n\n")
    else:
        print(f"skipped: there is no {where.name}")
