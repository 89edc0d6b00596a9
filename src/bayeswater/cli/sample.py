"""``bayeswater sample``: rows drawn from a network, written as they come."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.networks import NetworkFile, Tolerance, read_network
from bayeswater.cli.writing import OutputFormat


def sample(
    network: NetworkFile,
    /,
    *,
    n: Annotated[int, Parameter(name=["--rows", "-n"], validator=Number(gte=1), help="How many rows to draw.")],
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="File to write; by default standard output.")
    ] = None,
    output_format: Annotated[OutputFormat | None, Parameter(help="Format to write, if the name does not tell.")] = None,
    seed: Annotated[int, Parameter(validator=Number(gte=0), help="The same seed draws the same rows.")] = 0,
    tolerance: Tolerance = None,
) -> None:
    """Draw rows from a network, in memory only some of them at a time."""
    import sys

    from bayeswater.cli.progress import counted
    from bayeswater.cli.words import warnings_told_once
    from bayeswater.cli.writing import writer

    with warnings_told_once():
        net = read_network(network, tolerance)
    to_screen = output is None and sys.stdout.isatty()
    with writer(output, output_format) as out:
        for table in counted(net.sample_batches(n, random_state=seed), "drawing", n, quiet=to_screen):
            out.write(table)
