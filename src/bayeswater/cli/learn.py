"""``bayeswater learn``: the structure of a network from a table, written as a network file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayeswater.cli.networks import Tolerance
from bayeswater.cli.options import AsJson, DataFile
from bayeswater.cli.reading import AS_USUAL, Reading


def learn(
    *data: DataFile,
    output: Annotated[
        Path,
        Parameter(
            name=["--output", "-o"],
            help="Network file: .bif, .xml, .xdsl, .dsl, .net, .dsc, .uai, also with .gz, or .bayes.",
        ),
    ],
    score: Annotated[str, Parameter(help="bic, aic, bdeu, bds, k2, fnml, qnml or loglik.")] = "bic",
    sample_size: Annotated[float | None, Parameter(help="Equivalent sample size of bdeu and bds.")] = None,
    method: Annotated[str, Parameter(help="auto, hill_climb, tabu, order, exact, tree or pc.")] = "auto",
    require: Annotated[list[str] | None, Parameter(help='Arcs that must be there, as "age -> income".')] = None,
    forbid: Annotated[list[str] | None, Parameter(help='Arcs that cannot be there, as "sex <- *".')] = None,
    tiers: Annotated[Path | None, Parameter(help='TOML file: tiers = [["age", "sex"], ["income"]].')] = None,
    start: Annotated[Path | None, Parameter(help="Network file to begin from.")] = None,
    max_parents: Annotated[int | None, Parameter(help="Most parents of a variable.")] = None,
    time_limit: Annotated[float | None, Parameter(help="Seconds to search.")] = None,
    restarts: Annotated[int, Parameter(help="Climbs from perturbed graphs, of hill_climb and tabu.")] = 0,
    seed: Annotated[int, Parameter(help="Seed of everything random.")] = 0,
    column: Annotated[
        list[str] | None,
        Parameter(help="Family of a column, as zip=categorical: auto, categorical, bernoulli, binned or ignored."),
    ] = None,
    ignore: Annotated[list[str] | None, Parameter(help="Column to leave out.")] = None,
    discretize: Annotated[
        str, Parameter(help="Bins of numbers: equal_frequency, equal_width, rounding, pkid or fixed_frequency.")
    ] = "equal_frequency",
    incomplete: Annotated[str, Parameter(help="Rows with missing cells: em to fill these in, or error.")] = "em",
    tolerance: Tolerance = None,
    as_json: AsJson = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Find the network that explains the rows best, and save it."""
    from bayeswater.cli.fit import told_families
    from bayeswater.cli.structures import graph_of, read_table, read_tiers
    from bayeswater.cli.words import warnings_told_once
    from bayeswater.models.stored.folders import require_network_place
    from bayeswater.models.structures.learning import learn_structure

    require_network_place(output)
    with warnings_told_once():
        told = told_families(column)
        table = read_table(reading, list(data), "learning a structure", ignored=ignore or (), told=told or ())
        with _telling() as progress:
            found = learn_structure(
                table,
                score if sample_size is None else (score, sample_size),
                method,
                start=None if start is None else graph_of(start, tolerance),
                required="; ".join(require or ()) or None,
                forbidden="; ".join(forbid or ()) or None,
                tiers=None if tiers is None else read_tiers(tiers),
                max_parents=max_parents,
                time_limit=time_limit,
                restarts=restarts,
                seed=seed,
                discretize=discretize,
                columns=told,
                missing=incomplete,
                progress=progress,
            )
        found.network.write(output)
    _report(found, output, as_json=as_json)


def _report(found: Any, output: Path, *, as_json: bool) -> None:
    from bayeswater.cli.documents import print_document
    from bayeswater.cli.words import say

    if as_json:
        search = found.search
        print_document(
            {
                "network": str(output),
                "score": found.score,
                "scored_by": found.scored_by.name,
                "arcs": [list(arc) for arc in found.graph.edges()],
                "method": search.method,
                "stopped": search.stopped,
                "n_steps": search.n_steps,
                "n_families": search.n_families,
                "curve": [list(point) for point in search.curve],
                "restarts": list(search.restarts),
                "n_missing": int(found.table.n_missing.sum()),
                "rounds": list(found.rounds),
            }
        )
    else:
        say(f"{found}\n  saved      {output}")


@contextmanager
def _telling() -> Iterator[Callable[[float, float, int], None] | None]:
    """Show on a terminal, in one line, the best score so far."""
    from rich.live import Live
    from rich.text import Text

    from bayeswater.cli.words import words

    console = words()
    if not console.is_terminal:
        yield None
        return
    with Live(console=console, transient=True, refresh_per_second=8) as live:
        yield lambda seconds, score, n_arcs: live.update(
            Text(f"searching: score {score:,.2f}, {n_arcs} arcs, {seconds:.1f} s")
        )
