"""``bayeswater draw``, ``impute`` and ``sensitivity``: a picture, rows filled in, and what a posterior depends on."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.networks import (
    NetworkFile,
    Tolerance,
    cell_named,
    cells_of_terms,
    open_evidence,
    read_any_network,
    read_network,
    state_named,
    variable_named,
)
from bayeswater.cli.options import AS_USUAL, AsJson, ReadingOptions
from bayeswater.cli.writing import OutputFormat
from bayeswater.errors import ParameterError


def cells_given(net: Any, texts: list[str] | None) -> dict[str, Any]:
    """Read evidence that is given as name=state, or name=number, one each time."""
    from bayeswater.cli.question_text import read_pair

    found: dict[str, Any] = {}
    for text in texts or ():
        name, cell = cell_named(net, *read_pair(text, "name=state"), text)
        if name in found:
            raise ParameterError(f"{name!r} is given twice: {found[name]!r} and {cell!r}; leave one out")
        found[name] = cell
    return found


def soft_evidence_given(net: Any, texts: list[str] | None) -> dict[str, Any]:
    """Read likelihoods that are given as "name: state=likelihood, state=likelihood"."""
    from bayeswater.cli.question_text import read_pairs_after

    found = {}
    for text in texts or ():
        name, pairs = read_pairs_after(text)
        variable = variable_named(net, name, text)
        likelihoods = {}
        for word, value in pairs:
            state = state_named(variable, word, text)
            try:
                likelihoods[state] = float(value.text)
            except ValueError:
                raise ParameterError(f"{text!r} gives {value.text!r} as a likelihood; give a number") from None
        found[variable.name] = likelihoods
    return found


Known = Annotated[list[str] | None, Parameter(name=["--given", "-g"], help="Evidence: name=state, or name=number.")]


def draw(
    network: NetworkFile,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="File to write: .svg, or .dot for Graphviz.")],
    given: Known = None,
    bars: Annotated[bool, Parameter(help="Whether nodes show the probabilities of their states.")] = True,
    tolerance: Tolerance = None,
) -> None:
    """Draw a network, with the probabilities of all states once some variables are known."""
    from bayeswater.cli.terminal import say, warnings_once

    endings = (".svg", ".dot")
    if output.suffix.lower() not in endings:
        raise ParameterError(f"{str(output)!r} ends in none of {', '.join(endings)}; name the file so")
    with warnings_once():
        net = read_any_network(network, tolerance)
        known = cells_given(net, given)
        text = net.to_dot() if output.suffix.lower() == ".dot" else net.to_svg(known, bars=bars)
    output.write_text(text, encoding="utf-8")
    say(f"{network} -> {output}")


def impute(
    network: NetworkFile,
    rows: Annotated[
        list[str],
        Parameter(help="Table with missing cells; a pattern, a folder or several files are read as one table."),
    ],
    /,
    *,
    method: Annotated[
        Literal["most_probable", "draw", "mean"],
        Parameter(
            help="Fill in the most probable joint states, draws from the joint posterior, or the mean of each cell."
        ),
    ] = "most_probable",
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="File to write; by default standard output.")
    ] = None,
    output_format: Annotated[
        OutputFormat | None,
        Parameter(help="Format to write; by default that of the file name, and CSV on standard output."),
    ] = None,
    ignore: Annotated[
        list[str] | None, Parameter(help="Column that is not a variable of the network; it is left out.")
    ] = None,
    unseen: Annotated[
        Literal["error", "ignore"], Parameter(help="A value that is not a state: an error, or a missing cell (ignore).")
    ] = "error",
    seed: Annotated[int, Parameter(validator=Number(gte=0), help="Seed of the draws.")] = 0,
    tolerance: Tolerance = None,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Fill the missing cells of rows by what a network says, given the others."""
    import numpy as np

    from bayeswater.cli.terminal import warnings_once
    from bayeswater.cli.writing import writer

    with warnings_once():
        net = read_any_network(network, tolerance)
        table, columns = open_evidence(net, network, reading, rows, ignore or [])
        rng = np.random.default_rng(seed)
        with writer(output, output_format) as out:

            def fill(piece: Any) -> int:
                if piece.num_rows:
                    out.write(net.impute(piece.select(columns), method, random_state=rng, unseen=unseen))
                return int(piece.num_rows)

            table.sum(fill, columns)


def sensitivity(
    network: NetworkFile,
    question: Annotated[str, Parameter(help='One posterior, such as "P(lung=yes | xray=yes)".')],
    /,
    *,
    soft: Annotated[
        list[str] | None, Parameter(help='Soft evidence, a likelihood for each state: "xray: pos=0.9, neg=0.2".')
    ] = None,
    spread: Annotated[float, Parameter(help="Share by which each table entry is lowered and raised.")] = 0.1,
    most: Annotated[int, Parameter(help="How many entries to show.", validator=Number(gte=1))] = 20,
    plot: Annotated[
        Path | None, Parameter(help="Picture of the strongest entries to write: .png, .svg or .pdf.")
    ] = None,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
) -> None:
    """Say which entries of which tables a posterior depends on, the strongest first."""
    from bayeswater.cli.compare import draw as draw_picture
    from bayeswater.cli.compare import require_picture
    from bayeswater.cli.question_text import read_question
    from bayeswater.cli.terminal import warnings_once

    if plot is not None:
        require_picture(plot)
    asked = read_question(question)
    if len(asked.targets) != 1 or asked.targets[0].state is None:
        raise ParameterError(f"{question!r} asks for no single state; write P(lung=yes | xray=yes)")
    with warnings_once():
        net = read_network(network, tolerance)
    done = cells_of_terms(net, asked.done, question)
    target, state = cell_named(net, asked.targets[0].name, asked.targets[0].state, question)
    known = {**done, **cells_of_terms(net, asked.evidence, question)}  # nothing depends on entries of what is set
    found = net.do(done).sensitivity(target, state, known, soft_evidence=soft_evidence_given(net, soft), spread=spread)
    if plot is not None:
        from bayeswater.plots.finding_displays import TornadoDisplay

        draw_picture(TornadoDisplay(found), plot)
    _print_sensitivity(found, question, most, as_json=as_json)


def _print_sensitivity(found: Any, question: str, most: int, *, as_json: bool) -> None:
    from rich.text import Text

    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings, number, plain_table

    lines = range(min(most, len(found)))
    names = ("value", "derivative", "low", "high")
    columns = (found.entry, found.derivative, found.low, found.high)
    if as_json:
        entries = [
            {"entry": found.name_of(i), **{n: float(c[i]) for n, c in zip(names, columns, strict=True)}} for i in lines
        ]
        print_document(
            {"question": question, "posterior": found.posterior, "n_entries": len(found), "entries": entries}
        )
        return
    table = plain_table("entry", *names, title=f"{question.strip()} = {found.posterior:.6g}", numbers=list(names))
    for i in lines:
        table.add_row(*map(Text, [found.name_of(i), *(number(float(column[i])) for column in columns)]))
    if len(found) > most:
        table.caption, table.caption_justify = f"... and {len(found) - most:,} more", "left"
    findings().print(table)
