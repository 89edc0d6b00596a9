"""Answers of ``bayeswater query`` that are states: ``MPE(...)``, of all variables, and ``MAP(... | ...)``, of some."""

from typing import TYPE_CHECKING, Any

from bayeswater.cli.networks import node_named, states_of_terms

if TYPE_CHECKING:
    from bayeswater.models.network.bayesian_network import BayesianNetwork


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
