"""``bayeswater query``: probabilities of a network's variables, for one question or for every row of a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.networks import (
    NetworkFile,
    Tolerance,
    cell_named,
    cells_of_terms,
    is_mixed,
    node_named,
    read_any_network,
)
from bayeswater.cli.options import AS_USUAL, AsJson, ReadingOptions
from bayeswater.cli.writing import OutputFormat
from bayeswater.errors import ParameterError

if TYPE_CHECKING:
    from bayeswater.models.mixed_networks.mixed_answers import NumberDistribution
    from bayeswater.models.network.answers import Distribution

ERROR = "standard_error"

Method = Literal["auto", "exact", "sampling", "gibbs", "likelihood_weighting"]


def query(
    network: NetworkFile,
    question: Annotated[
        str | None,
        Parameter(
            help='Such as "P(A, B | C=c, D=\'odd label\')" or "P(A | do(B=b), C=c)"; "MPE(C=c)" gives the most '
            'probable states of all variables, "MAP(A, B | C=c)" those of some.'
        ),
    ] = None,
    /,
    *,
    method: Annotated[
        Method, Parameter(help="How to answer; auto is exact if memory and time allow it, and samples otherwise.")
    ] = "auto",
    standard_error: Annotated[
        float, Parameter(help="Sampling ends when the standard error of each probability is this small.")
    ] = 0.001,
    time_limit: Annotated[float, Parameter(help="Sampling ends after this many seconds.")] = 10.0,
    seed: Annotated[int, Parameter(help="Seed of the sampling.")] = 0,
    soft: Annotated[
        list[str] | None, Parameter(help='Soft evidence, a likelihood for each state: "xray: pos=0.9, neg=0.2".')
    ] = None,
    k_best: Annotated[int, Parameter(help="With MPE: how many explanations to give.", validator=Number(gte=1))] = 1,
    states: Annotated[int, Parameter(help="How many states to show at most.", validator=Number(gte=1))] = 40,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
    evidence: Annotated[
        list[str] | None,
        Parameter(
            help="Table of evidence, a case in each row; empty cells are not observed. A quoted pattern, a folder or "
            "several files (the option given several times) are read as one table.",
            allow_leading_hyphen=True,
            negative=(),
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        Parameter(
            name=["--target", "-t"],
            help="With --evidence: variable whose posterior to give for every row; all by default.",
        ),
    ] = None,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="File to write; by default standard output.")
    ] = None,
    output_format: Annotated[
        OutputFormat | None,
        Parameter(help="Format to write; by default that of the file name, and CSV on standard output."),
    ] = None,
    ignore: Annotated[list[str] | None, Parameter(help="Column of the table that is not evidence.")] = None,
    keep: Annotated[
        bool, Parameter(negative=(), show_default=False, help="Also write the columns of the table.")
    ] = False,
    unseen: Annotated[
        Literal["error", "ignore"], Parameter(help="A value that is not a state: an error, or not observed (ignore).")
    ] = "error",
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Give probabilities of variables of a network, once others are known."""
    from bayeswater.cli.terminal import warnings_once

    if (question is None) == (evidence is None):
        raise ParameterError(
            'ask one question, "P(A | B=b)", or give rows: --evidence rows.csv --target A'
            + (", and not both; every file of rows has its own --evidence" if question is not None else "")
        )
    with warnings_once():
        net = read_any_network(network, tolerance)
        if is_mixed(net) and method not in ("auto", "exact"):
            raise ParameterError(
                f"--method {method} is not offered for a network with numbers, whose answers are exact"
            )
        if question is not None:
            from bayeswater.cli.network_analysis import soft_evidence_given

            settings: dict[str, Any] = {}
            if not is_mixed(net):
                of_sampling = {"standard_error": standard_error, "time_limit": time_limit, "random_state": seed}
                settings = {"method": method, **of_sampling}
            likelihoods = soft_evidence_given(net, soft)
            if k_best > 1 and not question.lstrip().startswith("MPE"):
                raise ParameterError(
                    f'--k-best is for MPE, as in "MPE(xray=yes)", and {question!r} asks for something else'
                )
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


def _answer(network: Any, text: str, settings: dict[str, Any], most: int, *, as_json: bool) -> None:
    from bayeswater.cli.question_text import read_question

    asked = read_question(text)
    names = [network.names[node_named(network, term.name, text)] for term in asked.targets]
    evidence, done = (cells_of_terms(network, terms, text) for terms in (asked.evidence, asked.done))
    network = network.do(done) if done else network
    if is_mixed(network) and any(name in network.numbers for name in names):
        if len(names) > 1 or asked.targets[0].state is not None:
            raise ParameterError(f'{text!r}: a number is asked for by itself, as in "P(weight | sex=m)"')
        number: Any = network.query(names[0], evidence, **settings)
        _print_number(text, number, {"evidence": evidence} | ({"do": done} if done else {}), as_json=as_json)
        return
    chosen = {
        place: cell_named(network, term.name, term.state, text)[1]
        for place, term in enumerate(asked.targets)
        if term.state is not None
    }
    found = network.joint(names, evidence, **settings)
    lines = _lines(found, chosen)
    if as_json:
        _print_document(text, found, evidence, done, lines)
    else:
        _print_table(text, found, lines, most)


def _print_number(text: str, found: "NumberDistribution", known: dict[str, Any], *, as_json: bool) -> None:
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings, number, plain_table

    low, high = (found.mean, found.mean) if found.variance == 0 else found.interval()
    answer = {"mean": found.mean, "sd": found.std, "5 %": low, "95 %": high}
    if as_json:
        print_document({"question": text, "targets": [found.name], **known, "method": "exact", **answer})
        return
    table = plain_table("", *answer, title=text.strip(), numbers=tuple(answer))
    table.add_row(found.name, *(number(value) for value in answer.values()))
    findings().print(table)


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


def explain_states(net: Any, text: str, soft: dict[str, Any], k_best: int, *, as_json: bool) -> None:
    """Print the states that are together most probable."""
    from bayeswater.cli.question_text import read_explanation
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings

    asked = read_explanation(text)
    targets = [net.names[node_named(net, term.name, text)] for term in asked.targets]
    evidence, done = (cells_of_terms(net, terms, text) for terms in (asked.evidence, asked.done))
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
