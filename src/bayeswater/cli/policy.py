"""``bayeswater policy``: what to do at each decision of an influence diagram, and what it is worth to know more."""

from typing import Annotated, Any

from cyclopts import Parameter

from bayeswater.cli.network_analysis import Known, cells_given
from bayeswater.cli.networks import Tolerance
from bayeswater.cli.options import AsJson


def policy(
    diagram: Annotated[
        str, Parameter(help="Influence diagram: .xdsl of GeNIe, .bifxml or .xml of aGrUM, each also with .gz.")
    ],
    /,
    *,
    decision: Annotated[str | None, Parameter(help="Show only this decision.")] = None,
    given: Known = None,
    information: Annotated[
        bool,
        Parameter(
            negative=(),
            show_default=False,
            help="Also show what it is worth to know each variable before the decision.",
        ),
    ] = False,
    reliability: Annotated[
        float | None, Parameter(help="Probability that the information names the true state; 1 by default.")
    ] = None,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
) -> None:
    """Solve an influence diagram: the best alternative of each decision, and the expected utility."""
    from bayeswater.cli.terminal import warnings_once
    from bayeswater.models.network.decision_network import DecisionNetwork

    with warnings_once():
        found = DecisionNetwork.read(diagram, tolerance=tolerance)
    known = cells_given(found, given)
    names = found.decisions if decision is None else (decision,)
    policies = {name: found.policy(name, known) for name in names}
    worth = None
    if information or reliability is not None:
        worth = found.value_of_information(decision=decision, evidence=known, reliability=reliability)
    _print(found.expected_utility(known), policies, worth, as_json=as_json)


def _print(expected: float, policies: dict[str, Any], worth: Any, *, as_json: bool) -> None:
    from rich.text import Text

    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings

    if as_json:
        tables = {name: one.to_frame().to_pylist() for name, one in policies.items()}
        document: dict[str, Any] = {"expected_utility": expected, "policies": tables}
        if worth is not None:
            document["value_of_information"] = {"before": worth.decision, "worth": dict(worth)}
        print_document(document)
        return
    console = findings()
    console.print(Text(f"expected utility {expected:.6g}"))
    for one in [*policies.values(), *([] if worth is None else [worth])]:
        console.print(Text(f"\n{one!r}"), soft_wrap=True)
