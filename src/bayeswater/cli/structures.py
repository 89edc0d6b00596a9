"""``bayeswater learn``, ``score`` and ``compare-structures``: structures of networks, and how they fit tables.

    learn                 the structure of a network from a table, written as a network file
    score                 how well a network explains the rows of a table
    compare-structures    in which arcs two networks differ

They share the reading of whole tables, of the graphs of network files, and of tiers.
"""

import os
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayeswater.cli.networks import Tolerance, is_mixed, read_any_network
from bayeswater.cli.options import AS_USUAL, AsJson, DataFile, ReadingOptions
from bayeswater.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.structure.dag import Dag


SampleSize = Annotated[float | None, Parameter(help="Equivalent sample size of the scores bdeu and bds.")]

GraphPriorText = Annotated[
    str | None,
    Parameter(
        help="For bdeu, bds, bdj, bdla, k2 and bge, how likely arcs are beforehand: uniform, variable_selection or "
        "marginal, also with a probability, such as marginal=0.3."
    ),
]


def learn(
    *data: DataFile,
    output: Annotated[
        Path,
        Parameter(
            name=["--output", "-o"],
            help="Network file to write: .bif, .xml, .xdsl, .dsl, .net, .dsc, .uai, each also with .gz, or .bayes; "
            "with --numbers gaussian: .json, .xdsl or .bayes.",
        ),
    ],
    score: Annotated[str, Parameter(help="bic, aic, ebic, bdeu, bds, bdj, bdla, k2, fnml, qnml or loglik.")] = "bic",
    sample_size: SampleSize = None,
    graph_prior: GraphPriorText = None,
    method: Annotated[
        str,
        Parameter(
            help="Search by scores: auto, hill_climb, tabu, order, exact or tree; by tests: pc, grow_shrink, iamb, "
            "inter_iamb, fast_iamb, iamb_fdr, mmpc, si_hiton_pc, hpc or aracne; by both: mmhc, h2pc or rsmax2."
        ),
    ] = "auto",
    require: Annotated[list[str] | None, Parameter(help='Required arcs, such as "age -> income".')] = None,
    forbid: Annotated[list[str] | None, Parameter(help='Forbidden arcs, such as "sex <- *".')] = None,
    tiers: Annotated[
        Path | None,
        Parameter(
            help='TOML file of groups; no arc leads back to an earlier one: tiers = [["age", "sex"], ["income"]].'
        ),
    ] = None,
    start: Annotated[Path | None, Parameter(help="Network file whose graph the search begins with.")] = None,
    max_parents: Annotated[int | None, Parameter(help="Largest number of parents of a variable.")] = None,
    time_limit: Annotated[
        float | None, Parameter(help="Seconds to search; no upper bound of the score is computed then.")
    ] = None,
    restarts: Annotated[
        int, Parameter(help="For hill_climb and tabu: how often to begin again, from a changed graph.")
    ] = 0,
    perturb: Annotated[int, Parameter(help="How many random changes of arcs a restart makes.")] = 10,
    tabu_length: Annotated[int, Parameter(help="For tabu: how many of the last graphs it does not come back to.")] = 30,
    test: Annotated[
        str | None,
        Parameter(help="For searches by tests: g2, chi2, mi-sh, ...; with --numbers gaussian: mi-cg, cor, ..."),
    ] = None,
    significance: Annotated[
        float, Parameter(help="For searches by tests: columns depend if the p-value is at most this.")
    ] = 0.05,
    max_given: Annotated[
        int | None, Parameter(help="For searches by tests: largest number of variables that a test is given.")
    ] = None,
    restrict: Annotated[
        str, Parameter(help="For rsmax2: the search by tests that says which arcs are open.")
    ] = "si_hiton_pc",
    maximize: Annotated[
        str, Parameter(help="For rsmax2: the search among these arcs, hill_climb or tabu.")
    ] = "hill_climb",
    seed: Annotated[int, Parameter(help="Seed of everything random.")] = 0,
    column: Annotated[
        list[str] | None,
        Parameter(help="Family of a column, such as zip=categorical: auto, categorical, bernoulli, binned or ignored."),
    ] = None,
    ignore: Annotated[list[str] | None, Parameter(help="Column to leave out.")] = None,
    discretize: Annotated[
        str,
        Parameter(
            help="How numbers are cut into bins: equal_frequency, equal_width, rounding, pkid or fixed_frequency."
        ),
    ] = "equal_frequency",
    numbers: Annotated[
        Literal["states", "gaussian"],
        Parameter(help="Cut numbers into bins (states), or keep them as linear Gaussian variables (gaussian)."),
    ] = "states",
    incomplete: Annotated[
        str, Parameter(help="Rows with missing cells: em uses them by structural EM, error refuses them.")
    ] = "em",
    tolerance: Tolerance = None,
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Find the network that explains the rows best, and save it."""
    from bayeswater.cli.fit import stated_families
    from bayeswater.cli.terminal import warnings_once
    from bayeswater.models.mixed_networks.mixed_files import require_place_for_numbers
    from bayeswater.models.network.network_files import require_network_place
    from bayeswater.models.structures.structure_learning import learn_structure

    if numbers == "gaussian":
        require_place_for_numbers(output)
    else:
        require_network_place(output)
    with warnings_once():
        families = stated_families(column)
        table = read_table(reading, list(data), "learning a structure", ignored=ignore or (), families=families or ())
        with _telling() as progress:
            found = learn_structure(
                table,
                score if sample_size is None else (score, sample_size),
                method,
                graph_prior=_read_graph_prior(graph_prior),
                start=None if start is None else graph_of(start, tolerance),
                required="; ".join(require or ()) or None,
                forbidden="; ".join(forbid or ()) or None,
                tiers=None if tiers is None else read_tiers(tiers),
                max_parents=max_parents,
                time_limit=time_limit,
                restarts=restarts,
                perturb=perturb,
                tabu_length=tabu_length,
                significance=significance,
                test=test,
                max_given=max_given,
                restrict=restrict,
                maximize=maximize,
                seed=seed,
                numbers=numbers,
                discretize=discretize,
                columns=families,
                missing=incomplete,
                progress=progress,
            )
        found.network.write(output)
    _report(found, output, with_bound=time_limit is None, as_json=as_json)


def _report(found: Any, output: Path, *, with_bound: bool, as_json: bool) -> None:
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import in_words_of_the_command, say

    bound = found.bound if with_bound else None  # which is printed once it is known
    if as_json:
        search = found.search
        print_document(
            {
                "network": str(output),
                "score": found.score,
                "bound": None if bound is None else asdict(bound),
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
        say(in_words_of_the_command(f"{found}\n  saved      {output}"))


@contextmanager
def _telling() -> Iterator[Callable[[float, float, int], None] | None]:
    """Show on a terminal, in one line, the best score so far."""
    from rich.live import Live
    from rich.text import Text

    from bayeswater.cli.terminal import words

    console = words()
    if not console.is_terminal:
        yield None
        return
    with Live(console=console, transient=True, refresh_per_second=8) as live:
        yield lambda seconds, score, n_arcs: live.update(
            Text(f"searching: score {score:,.2f}, {n_arcs} arcs, {seconds:.1f} s")
        )


def score(
    network: Annotated[str, Parameter(help="Network file.")],
    /,
    *data: DataFile,
    score: Annotated[str, Parameter(help="bic, aic, ebic, bdeu, bds, bdj, bdla, k2, fnml, qnml or loglik.")] = "bic",
    sample_size: SampleSize = None,
    graph_prior: GraphPriorText = None,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Score the structure of a network on a table, node by node; natural logarithms, higher is better."""
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import amount, findings, plain_table, warnings_once
    from bayeswater.models.structures.structure_learning import score_structure

    with warnings_once():
        net = read_any_network(network, tolerance)
        table = read_table(reading, list(data), "scoring a structure", wanted=net.names)
        settings: dict[str, Any] = {"per_node": True, "graph_prior": _read_graph_prior(graph_prior)}
        if is_mixed(net):
            states = [name for name in net.names if name not in net.numbers]
            settings |= {"numbers": "gaussian", "columns": {name: {"family": "categorical"} for name in states}}
        else:
            table = with_states_of(net, network, table)
        nodes = score_structure(net.dag, table, score if sample_size is None else (score, sample_size), **settings)
    total = sum(nodes.values())
    if as_json:
        print_document({"score": total, "scored_by": score, "n_rows": table.num_rows, "nodes": nodes})
        return
    shown = plain_table("node", score, title=amount(table.num_rows, "row"), numbers=(score,))
    for name, value in nodes.items():
        shown.add_row(name, f"{value:,.4f}")
    shown.add_row("all", f"{total:,.4f}")
    findings().print(shown)


def compare_structures(
    first: Annotated[str, Parameter(help="Network file.")],
    second: Annotated[str, Parameter(help="Network file of the same variables.")],
    /,
    *,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
) -> None:
    """Say in which arcs two networks differ, and how far apart they are."""
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings, plain_table, warnings_once
    from bayeswater.structure.equivalence import is_equivalent, structural_hamming_distance

    with warnings_once():
        one, other = graph_of(first, tolerance), graph_of(second, tolerance)
    distance = structural_hamming_distance(one, other)
    plain = structural_hamming_distance(one, other, of_classes=False)
    mine, theirs = set(one.edges()), set(other.edges())
    turned = sorted(arc for arc in mine if arc[::-1] in theirs)
    only_first = sorted(arc for arc in mine - theirs if arc not in turned)
    only_second = sorted(arc for arc in theirs - mine if arc[::-1] not in mine)
    if as_json:
        print_document(
            {
                "distance_of_classes": distance,
                "distance_of_graphs": plain,
                "equivalent": is_equivalent(one, other),
                "in_both": sorted(mine & theirs),
                "turned": turned,
                "only_in_first": only_first,
                "only_in_second": only_second,
            }
        )
        return
    table = plain_table("arc", "", title=f"{first} and {second}")
    for arcs, what in ((turned, "turned"), (only_first, f"only in {first}"), (only_second, f"only in {second}")):
        for parent, child in arcs:
            table.add_row(f"{parent} -> {child}", what)
    console = findings()
    if table.row_count:
        console.print(table)
    n_both = len(mine & theirs)
    console.print(
        f"{n_both} arc{'s' * (n_both != 1)} in both; structural Hamming distance {plain}, "
        f"of the equivalence classes {distance}" + ("; they are equivalent" if distance == 0 else ""),
        soft_wrap=True,
    )


def read_table(
    reading: ReadingOptions,
    paths: list[str],
    holder: str,
    *,
    ignored: Sequence[str] = (),
    families: Collection[str] = (),
    wanted: Sequence[str] | None = None,
) -> "pa.Table":
    """Read files as one table in memory, for what goes over its rows many times: all columns but some, or some.

    Columns of which something is told have to be there.
    """
    from bayeswater.cli.models import say_what_is_held
    from bayeswater.cli.terminal import passes_shown
    from bayeswater.data.sources.whole import whole_table

    with reading.rows(paths, None if wanted is None else list(wanted)) as rows:
        rows.keep_words()
        rows.require_columns([*ignored, *families])
        kept = [name for name in rows.schema.names if name not in ignored]
        with passes_shown(rows, lambda: "reading"):
            table = whole_table(rows, kept, holder, "give fewer columns or rows")
    say_what_is_held(table)
    return table


def graph_of(path: str | os.PathLike[str], tolerance: float | None) -> "Dag":
    """Read the graph of a network file."""
    dag: Dag = read_any_network(str(path), tolerance).dag
    return dag


def with_states_of(network: "BayesianNetwork", path: str, table: "pa.Table") -> "pa.Table":
    """Declare the states that a network gives, so that those no row has count among the parameters."""
    import numpy as np
    import pyarrow as pa

    from bayeswater.data.reading.known_labels import write_known_codes
    from bayeswater.models.network.network_rows import label_column

    for place, name in enumerate(table.column_names):
        variable = network.variables[network.dag.position[name]]
        states = list(network.states(name))
        if not all(isinstance(state, str) for state in states):
            continue
        known = np.empty(table.num_rows, dtype=np.int64)
        if write_known_codes(table[name], variable, known):  # also numbers, where the states are bins
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


def _read_graph_prior(text: str | None) -> Any:
    """Read a graph prior: its name, or the name and a probability."""
    name, equals, chance = (text or "uniform").partition("=")
    if not equals:
        return name
    try:
        return name, float(chance)
    except ValueError:
        raise ParameterError(f"--graph-prior {text!r} has no number after '='; write marginal=0.3") from None


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
