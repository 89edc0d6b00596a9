"""``bayeswater score``: how well a network explains the rows of a table."""

from typing import Annotated

from cyclopts import Parameter

from bayeswater.cli.networks import Tolerance
from bayeswater.cli.options import AsJson, DataFile
from bayeswater.cli.reading import AS_USUAL, Reading


def score(
    network: Annotated[str, Parameter(help="Network file.")],
    /,
    *data: DataFile,
    score: Annotated[str, Parameter(help="bic, aic, bdeu, bds, k2, fnml, qnml or loglik.")] = "bic",
    sample_size: Annotated[float | None, Parameter(help="Equivalent sample size of bdeu and bds.")] = None,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Score the structure of a network on a table, node by node; natural logarithms, higher is better."""
    from bayeswater.cli.documents import print_document
    from bayeswater.cli.structures import graph_of, read_table, with_states_of
    from bayeswater.cli.tables import plain_table
    from bayeswater.cli.words import amount, findings, warnings_told_once
    from bayeswater.models.structures.learning import score_structure

    with warnings_told_once():
        graph = graph_of(network, tolerance)
        table = read_table(reading, list(data), "scoring a structure", wanted=graph.names)
        table = with_states_of(network, table, tolerance)
        nodes = score_structure(graph, table, score if sample_size is None else (score, sample_size), per_node=True)
    total = sum(nodes.values())
    if as_json:
        print_document({"score": total, "scored_by": score, "n_rows": table.num_rows, "nodes": nodes})
        return
    shown = plain_table("node", score, title=amount(table.num_rows, "row"), numbers=(score,))
    for name, value in nodes.items():
        shown.add_row(name, f"{value:,.4f}")
    shown.add_row("all", f"{total:,.4f}")
    findings().print(shown)
