"""``bayeswater dsep``, ``sample`` and ``convert``: what networks answer, draw and become.

- ``dsep``: whether the graph of a network makes variables independent, given others;
- ``sample``: rows drawn from a network, written as they come;
- ``convert``: a network from one file format to another.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.networks import NetworkFile, Tolerance, is_mixed, node_named, read_any_network
from bayeswater.cli.options import AsJson
from bayeswater.cli.writing import OutputFormat

if TYPE_CHECKING:
    from bayeswater.structure.separation import Trail


def dsep(
    network: NetworkFile,
    question: Annotated[
        str,
        Parameter(
            help='Two sets of variables and what is given: "A, B ; C | D, E" asks if A, B and C are separated by D, E.'
        ),
    ],
    /,
    *,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
) -> None:
    """Say whether two sets of variables are d-separated by a third; if not, show a trail by which they depend."""
    from bayeswater.cli.question_text import read_independence
    from bayeswater.cli.terminal import warnings_once

    with warnings_once():
        net = read_any_network(network, tolerance)
    asked = read_independence(question)
    parts = (asked.left, asked.right, asked.given)
    left, right, given = ([net.names[node_named(net, word, question)] for word in part] for part in parts)
    trail = net.active_trail(left, right, given)
    separator = None if trail is None else net.minimal_separator(left, right, included=given)
    if as_json:
        _print_document(question, trail, separator)
    else:
        _print(left, right, given, trail, separator)


def _print(
    left: list[str], right: list[str], given: list[str], trail: "Trail | None", separator: tuple[str, ...] | None
) -> None:
    from rich.text import Text

    from bayeswater.cli.terminal import findings
    from bayeswater.structure.separation import Independence

    console = findings()
    if trail is None:
        lines = [f"yes: {Independence(tuple(left), tuple(right), tuple(given))}"]
    else:
        lines = [f"no: {trail}", *_opened(trail, given)]
        if separator is None:
            lines.append("  no further variables given would separate them")
        else:
            more = [name for name in separator if name not in given]
            lines.append(f"  given {', '.join(more)}{' as well' * bool(given)}, they would be separated")
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _opened(trail: "Trail", given: list[str]) -> list[str]:
    """Say which common effects let the trail pass."""
    arrows = list(zip(trail.nodes[1:-1], trail.arrows, trail.arrows[1:], strict=False))
    effects = [node for node, before, after in arrows if (before, after) == ("->", "<-")]
    return [
        f"  {node} is a common effect: {'it' if node in given else 'a consequence of it'} is given" for node in effects
    ]


def _print_document(question: str, trail: "Trail | None", separator: tuple[str, ...] | None) -> None:
    from bayeswater.cli.standard_output import print_document

    document: dict[str, Any] = {"question": question, "d_separated": trail is None}
    if trail is not None:
        document |= {
            "trail": {"nodes": list(trail.nodes), "arrows": list(trail.arrows)},
            "separated_by": None if separator is None else list(separator),
        }
    print_document(document)


def sample(
    network: NetworkFile,
    /,
    *,
    n: Annotated[int, Parameter(name=["--rows", "-n"], validator=Number(gte=1), help="How many rows to draw.")],
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="File to write; by default standard output.")
    ] = None,
    output_format: Annotated[
        OutputFormat | None,
        Parameter(help="Format to write; by default that of the file name, and CSV on standard output."),
    ] = None,
    seed: Annotated[int, Parameter(validator=Number(gte=0), help="Seed: the same one draws the same rows.")] = 0,
    tolerance: Tolerance = None,
) -> None:
    """Draw rows from a network, in memory only some of them at a time."""
    import sys

    from bayeswater.cli.terminal import counted, warnings_once
    from bayeswater.cli.writing import writer

    with warnings_once():
        net = read_any_network(network, tolerance)
    to_screen = output is None and sys.stdout.isatty()
    with writer(output, output_format) as out:
        for table in counted(net.sample_batches(n, random_state=seed), "drawing", n, quiet=to_screen):
            out.write(table)


def convert(
    network: NetworkFile,
    output: Annotated[
        Path,
        Parameter(
            help="File to write: .bif, .xml, .xdsl, .dsl, .net, .dsc, .uai, each also with .gz, or .bayes; networks "
            "with numbers: .json, .xdsl or .bayes. An existing file is replaced."
        ),
    ],
    /,
    *,
    tolerance: Tolerance = None,
) -> None:
    """Write a network in the format that the name of a file tells; what had to be changed is said."""
    from bayeswater.cli.terminal import amount, say, warnings_once
    from bayeswater.models.mixed_networks.mixed_files import require_place_for_numbers
    from bayeswater.models.network.network_files import require_network_place

    if output.suffix.lower() != ".json":  # which only networks with numbers are written to
        require_network_place(output)
    with warnings_once(of_rounding=True):
        found = read_any_network(network, tolerance)
        (require_place_for_numbers if is_mixed(found) else require_network_place)(output)
        found.write(output)
    say(
        f"{network} -> {output}: {amount(len(found.names), 'variable')}, {amount(len(found.edges), 'edge')}, "
        f"{amount(found.n_parameters, 'parameter')}"
    )
