"""What the verbs about structures share: whole tables, graphs of network files, tiers."""

import os
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeswater.cli.reading import Reading
from bayeswater.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.structure.dag import Dag


def read_table(
    reading: Reading,
    paths: list[str],
    holder: str,
    *,
    ignored: Sequence[str] = (),
    told: Collection[str] = (),
    wanted: Sequence[str] | None = None,
) -> "pa.Table":
    """Read files as one table in memory, for what goes over its rows many times: all columns but some, or some.

    Columns of which something is told have to be there.
    """
    from bayeswater.cli.progress import passes_shown
    from bayeswater.cli.rows import say_if_headless, say_what_is_held
    from bayeswater.data.sources.whole import whole_table

    with reading.rows(paths, None if wanted is None else list(wanted)) as rows:
        say_if_headless(rows)
        rows.require_columns([*ignored, *told])
        kept = [name for name in rows.schema.names if name not in ignored]
        with passes_shown(rows, lambda: "reading"):
            table = whole_table(rows, kept, holder, "give fewer columns or rows")
    say_what_is_held(table)
    return table


def graph_of(path: str | os.PathLike[str], tolerance: float | None) -> "Dag":
    """Read the graph of a network file."""
    from bayeswater.models.network.bayesian_network import BayesianNetwork

    return BayesianNetwork.read(path, tolerance=tolerance).dag


def with_states_of(path: str, table: "pa.Table", tolerance: float | None) -> "pa.Table":
    """Declare the states that a network file gives, so that those no row has count among the parameters."""
    import numpy as np
    import pyarrow as pa

    from bayeswater.data.reading.known_labels import known_codes
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.network.network_rows import label_column

    network = BayesianNetwork.read(path, tolerance=tolerance)
    for place, name in enumerate(table.column_names):
        variable = network.variables[network.dag.position[name]]
        states = list(network.states(name))
        if not all(isinstance(state, str) for state in states):
            continue
        known = np.empty(table.num_rows, dtype=np.int64)
        if known_codes(table[name], variable, known):  # also numbers, where the states are bins
            table = table.set_column(place, name, label_column(known, variable))
            continue
        texts = [None if value is None else str(value) for value in table[name].to_pylist()]
        unknown = next((text for text in texts if text is not None and text not in states), None)
        if unknown is not None:
            raise DataError(f"column {name!r} holds {unknown!r}, which is none of its states {states[:10]} in {path}")
        code = {state: number for number, state in enumerate(states)}
        codes = pa.array([None if text is None else code[text] for text in texts], pa.int32())
        table = table.set_column(place, name, pa.DictionaryArray.from_arrays(codes, pa.array(states)))
    return table


def read_tiers(path: Path) -> list[list[str]]:
    """Read tiers of a TOML file."""
    try:
        document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} is no TOML file: {error}") from None
    tiers = document.get("tiers")
    if not isinstance(tiers, list) or not all(
        isinstance(tier, list) and all(isinstance(name, str) for name in tier) for tier in tiers
    ):
        raise ParameterError(f'{path} does not hold lists of names; write tiers = [["age", "sex"], ["income"]]')
    return tiers
