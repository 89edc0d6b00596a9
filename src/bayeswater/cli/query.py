"""``bayeswater query``: probabilities of a network's variables, for one question or for every row of a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.networks import (
    NetworkFile,
    Tolerance,
    has_numbers,
    node_named,
    read_network,
    state_named,
    states_of_terms,
)
from bayeswater.cli.options import AS_USUAL, AsJson, ReadingOptions
from bayeswater.cli.writing import OutputFormat
from bayeswater.errors import ParameterError

if TYPE_CHECKING:
    from bayeswater.cli.question_text import Term
    from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
    from bayeswater.models.network.answers import Distribution
    from bayeswater.models.network.bayesian_network import BayesianNetwork

ERROR = "standard_error"

Method = Literal["auto", "exact", "sampling", "gibbs", "likelihood_weighting"]


def query(
    network: NetworkFile,
    question: Annotated[
        str | None,
        Parameter(
            help='As "P(A, B | C=c, D=\'odd label\')", "P(A | do(B=b), C=c)", "MPE(C=c)" for the most probable states '
            'of all, or "MAP(A, B | C=c)" for those of some.'
        ),
    ] = None,
    /,
    *,
    method: Annotated[Method, Parameter(help="How to answer; auto is exact where memory and time allow.")] = "auto",
    standard_error: Annotated[float, Parameter(help="Error of each probability at which sampling ends.")] = 0.001,
    time_limit: Annotated[float, Parameter(help="Seconds after which sampling ends.")] = 10.0,
    seed: Annotated[int, Parameter(help="Seed of sampling.")] = 0,
    soft: Annotated[list[str] | None, Parameter(help='Soft evidence: "xray: pos=0.9, neg=0.2".')] = None,
    k_best: Annotated[int, Parameter(help="How many explanations MPE gives.", validator=Number(gte=1))] = 1,
    states: Annotated[int, Parameter(help="How many lines to show.", validator=Number(gte=1))] = 40,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
    evidence: Annotated[
        list[str] | None,
        Parameter(
            help="File of rows of evidence; empty cells are not observed. A pattern in quotes, a folder, or the option "
            "given several times are read as one table.",
            allow_leading_hyphen=True,
            negative=(),
        ),
    ] = None,
    target: Annotated[
        list[str] | None, Parameter(name=["--target", "-t"], help="Variable to give for every row; all by default.")
    ] = None,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="File to write; by default standard output.")
    ] = None,
    output_format: Annotated[OutputFormat | None, Parameter(help="Format to write, if the name does not tell.")] = None,
    ignore: Annotated[list[str] | None, Parameter(help="Column of the rows that is no evidence.")] = None,
    keep: Annotated[
        bool, Parameter(negative=(), show_default=False, help="Write the columns of the rows, too.")
    ] = False,
    unseen: Annotated[
        Literal["error", "ignore"], Parameter(help="Whether a label that is no state is refused, or not observed.")
    ] = "error",
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Give probabilities of variables of a network, once others are known."""
    from bayeswater.cli.terminal import warnings_told_once

    if (question is None) == (evidence is None):
        raise ParameterError(
            'ask one question, "P(A | B=b)", or give rows: --evidence rows.csv --target A'
            + (", and not both; every file of rows has its own --evidence" if question is not None else "")
        )
    with warnings_told_once():
        if has_numbers(network):
            said = {
                "--soft": soft,
                f"--method {method}": method not in ("auto", "exact"),
                "--k-best": k_best > 1,
                "--ignore": ignore,
                "--keep": keep,
                "--unseen": unseen != "error",
            }
            for option in (name for name, is_said in said.items() if is_said):
                raise ParameterError(f"{option} is not offered for a network with numbers; leave it out")
            _of_numbers(network, question, evidence, target, output, output_format, reading, as_json=as_json)
            return
        net = read_network(network, tolerance)
        if question is not None:
            settings: dict[str, Any] = {
                "method": method,
                "standard_error": standard_error,
                "time_limit": time_limit,
                "random_state": seed,
            }
            from bayeswater.cli.network_analysis import soft_told

            likelihoods = soft_told(net, soft)
            if is_about_states(question):
                explain_states(net, question, likelihoods, k_best, as_json=as_json)
            else:
                _answer(net, question, {**settings, "soft_evidence": likelihoods}, states, as_json=as_json)
            return
        from bayeswater.cli.query_rows import answer_rows

        if soft:
            raise ParameterError("--soft is for one question; rows have no likelihoods")
        if method not in ("auto", "exact") or as_json:
            raise ParameterError(
                f"rows of evidence are answered exactly, so --method {method} is for one question"
                if not as_json
                else "rows are written in the format of a table; take --output-format jsonl"
            )
        answer_rows(
            net,
            network,
            evidence or [],
            target,
            ignored=ignore or [],
            keep=keep,
            unseen=unseen,
            output=output,
            output_format=output_format,
            reading=reading,
        )


def _of_numbers(
    network: str,
    question: str | None,
    evidence: list[str] | None,
    target: list[str] | None,
    output: Path | None,
    output_format: OutputFormat | None,
    reading: ReadingOptions,
    *,
    as_json: bool,
) -> None:
    """Answer one question to a network with numbers, or for every row."""
    from bayeswater.models.mixed_networks.mixed_network import MixedNetwork

    net = MixedNetwork.read(network)
    if question is not None:
        answer_mixed(net, question, as_json=as_json)
    else:
        answer_mixed_rows(net, evidence or [], target, output, output_format, reading)


def _answer(network: "BayesianNetwork", text: str, settings: dict[str, Any], most: int, *, as_json: bool) -> None:
    from bayeswater.cli.question_text import read_question

    asked = read_question(text)
    nodes = [node_named(network, term.name, text) for term in asked.targets]
    chosen = {
        place: state_named(network.variables[node], term.state, text)
        for place, (node, term) in enumerate(zip(nodes, asked.targets, strict=True))
        if term.state is not None
    }
    evidence, done = (states_of_terms(network, terms, text) for terms in (asked.evidence, asked.done))
    network = network.do(done) if done else network
    found = network.joint([network.names[node] for node in nodes], evidence, **settings)
    lines = _lines(found, chosen)
    if as_json:
        _print_document(text, found, evidence, done, lines)
    else:
        _print_table(text, found, lines, most)


def _lines(found: "Distribution", chosen: dict[int, Any]) -> list[dict[str, Any]]:
    """Give the states that were asked for, with their probabilities and, where these were sampled, their errors."""
    from bayeswater.models.network.answers import EstimatedDistribution, probability_column

    key = probability_column(found.names)
    errors = found.standard_error.ravel().tolist() if isinstance(found, EstimatedDistribution) else []
    lines = []
    for place, (label, p) in enumerate(found.items()):
        labels = label if len(found.variables) > 1 else (label,)
        if all(labels[axis] == state for axis, state in chosen.items()):
            line = {**dict(zip(found.names, labels, strict=True)), key: p}
            lines.append({**line, ERROR: errors[place]} if errors else line)
    return lines


def _print_table(text: str, found: "Distribution", lines: list[dict[str, Any]], most: int) -> None:
    from rich.text import Text

    from bayeswater.cli.terminal import bar, findings, number, plain_table
    from bayeswater.models.network.answers import EstimatedDistribution

    # A number that nobody vouches for carries a question mark.
    doubt = "?" if isinstance(found, EstimatedDistribution) and not found.is_reliable else ""
    n_names = len(found.names)
    headers = [header.replace("_", " ") if header == ERROR else header for header in lines[0]]
    table = plain_table(*headers, "", title=text.strip(), numbers=headers[n_names:])
    for line in lines[:most]:
        labels, numbers = list(line.values())[:n_names], list(line.values())[n_names:]
        cells = [*map(str, labels), *(number(value) + doubt for value in numbers), bar(numbers[0])]
        table.add_row(*map(Text, cells))
    if len(lines) > most:
        table.caption, table.caption_justify = f"... and {len(lines) - most:,} more", "left"
    console = findings()
    console.print(table)
    if isinstance(found, EstimatedDistribution):
        method, n_draws = found.estimate.method, found.estimate.n_draws
        console.print(Text(f"{method}, {n_draws:,} draws: {found.verdict}"), soft_wrap=True)


def _print_document(
    text: str, found: "Distribution", evidence: dict[str, Any], done: dict[str, Any], lines: list[dict[str, Any]]
) -> None:
    from bayeswater.cli.standard_output import print_document
    from bayeswater.models.network.answers import EstimatedDistribution

    document: dict[str, Any] = {"question": text, "targets": list(found.names), "evidence": evidence}
    if done:
        document["do"] = done
    if isinstance(found, EstimatedDistribution):
        estimate = found.estimate
        document |= {
            "method": estimate.method,
            "n_draws": estimate.n_draws,
            "reliable": found.is_reliable,
            "verdict": found.verdict,
        }
    else:
        document["method"] = "exact"
    print_document({**document, "states": lines})


def is_about_states(text: str) -> bool:
    """Say whether a question asks for states rather than for probabilities.

    >>> is_about_states("MPE(xray=yes)"), is_about_states("P(lung | xray=yes)")
    (True, False)
    """
    return text.lstrip().split("(")[0].strip() in ("MPE", "MAP")


def explain_states(net: "BayesianNetwork", text: str, soft: dict[str, Any], k_best: int, *, as_json: bool) -> None:
    """Print the states that are together most probable."""
    from bayeswater.cli.question_text import read_explanation
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings

    asked = read_explanation(text)
    targets = [net.names[node_named(net, term.name, text)] for term in asked.targets]
    evidence, done = (states_of_terms(net, terms, text) for terms in (asked.evidence, asked.done))
    net = net.do(done) if done else net
    if targets:
        found = [net.marginal_map(targets, evidence, soft_evidence=soft)]
        shown: Any = found[0]
    else:
        shown = net.most_probable_explanations(k_best, evidence, soft_evidence=soft)
        found = list(shown)
        shown = shown if k_best > 1 else found[0]
    if as_json:
        lines = [{"states": one.states, "log_probability": one.log_probability} for one in found]
        print_document({"question": text, "evidence": evidence, "explanations": lines})
        return
    from rich.text import Text

    findings().print(Text(str(shown)), soft_wrap=True)


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
