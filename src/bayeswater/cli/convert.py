"""``bayeswater convert``: a network from one file format to another."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayeswater.cli.networks import NetworkFile, Tolerance, read_network


def convert(
    network: NetworkFile,
    output: Annotated[
        Path,
        Parameter(
            help="File to write: .bif, .xml, .xdsl, .dsl, .net, .dsc, .uai, also with .gz, or .bayes; replaces one."
        ),
    ],
    /,
    *,
    tolerance: Tolerance = None,
) -> None:
    """Write a network in the format that the name of a file tells; what had to be changed is said."""
    from bayeswater.cli.words import amount, say, warnings_told_once
    from bayeswater.models.stored.folders import require_network_place

    require_network_place(output)
    with warnings_told_once(of_rounding=True):
        found = read_network(network, tolerance)
        found.write(output)
    say(
        f"{network} -> {output}: {amount(len(found.names), 'variable')}, {amount(len(found.edges), 'edge')}, "
        f"{amount(found.n_parameters, 'parameter')}"
    )
