"""Answers of networks with numbers, for ``bayeswater query``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeswater.cli.networks import node_named, state_named
from bayeswater.cli.options import ReadingOptions
from bayeswater.cli.writing import OutputFormat
from bayeswater.errors import ParameterError

if TYPE_CHECKING:
    from bayeswater.cli.question_text import Term
    from bayeswater.models.mixed_networks.mixed_network import MixedNetwork


def answer_mixed(network: "MixedNetwork", text: str, *, as_json: bool) -> None:
    """Answer one question about one variable."""
    from bayeswater.cli.question_text import read_question
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings, number, plain_table
    from bayeswater.models.mixed_networks.mixed_answers import NumberDistribution

    asked = read_question(text)
    if len(asked.targets) != 1 or asked.targets[0].state is not None:
        raise ParameterError('of a network with numbers one variable is asked for, as in "P(weight | sex=m)"')
    evidence, done = (_cells(network, terms, text) for terms in (asked.evidence, asked.done))
    network = network.do(done) if done else network
    name = network.names[node_named(network, asked.targets[0].name, text)]
    found = network.query(name, evidence)
    document: dict[str, Any] = {"question": text, "targets": [name], "evidence": evidence, "method": "exact"}
    if done:
        document["do"] = done
    if isinstance(found, NumberDistribution):
        low, high = (found.mean, found.mean) if found.variance == 0 else found.interval()
        answer = {"mean": found.mean, "sd": found.std, "5 %": low, "95 %": high}
        if as_json:
            print_document({**document, **answer})
            return
        table = plain_table("", *answer, title=text.strip(), numbers=tuple(answer))
        table.add_row(name, *(number(value) for value in answer.values()))
    else:
        lines = [{name: state, "probability": p} for state, p in found.items()]
        if as_json:
            print_document({**document, "states": lines})
            return
        table = plain_table(name, "probability", title=text.strip(), numbers=("probability",))
        for state, p in found.items():
            table.add_row(str(state), number(p))
    findings().print(table)


def _cells(network: "MixedNetwork", terms: "tuple[Term, ...]", text: str) -> dict[str, Any]:
    """Give the states and numbers that are named, by their variables."""
    from bayeswater.structure.notation import error_at

    cells: dict[str, Any] = {}
    for term in terms:
        node = node_named(network, term.name, text)
        assert term.state is not None  # what is given has a state
        if node not in network.core.numbers:
            cells[network.names[node]] = state_named(network.core.variable(node), term.state, text)
            continue
        try:
            cells[network.names[node]] = float(term.state.text)
        except ValueError:
            what = f"{network.names[node]!r} is a number, and {term.state.text!r} is none"
            raise error_at(text, term.state.place, what) from None
    return cells


def answer_mixed_rows(
    network: "MixedNetwork",
    evidence: list[str],
    targets: list[str] | None,
    output: Path | None,
    output_format: OutputFormat | None,
    reading: ReadingOptions,
) -> None:
    """Answer for every row of files, which are read into memory, and write a table."""
    from bayeswater.cli.structures import read_table
    from bayeswater.cli.writing import writer

    table = read_table(reading, evidence, "answering for rows")
    with writer(output, output_format) as out:
        out.write(network.posteriors(table, targets, as_frame=True))
