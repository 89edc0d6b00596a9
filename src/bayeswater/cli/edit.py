"""``bayeswater edit``: a network with other nodes, states, edges or tables, written as a new file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayeswater.cli.networks import NetworkFile, Tolerance, has_numbers, node_named, read_network, state_named
from bayeswater.errors import ParameterError

if TYPE_CHECKING:
    from bayeswater.models.network.bayesian_network import BayesianNetwork

Several = list[str] | None


def edit(
    network: NetworkFile,
    /,
    *,
    output: Annotated[
        Path,
        Parameter(name=["--output", "-o"], help="File to write, in the format of its ending; it is replaced."),
    ],
    merge: Annotated[Several, Parameter(help="Network file to merge in; nodes of one name become one.")] = None,
    prefer: Annotated[str | None, Parameter(help="Whose tables a merge uses: self or other.")] = None,
    add_node: Annotated[Several, Parameter(help='Node to add, "name: state, state", all equally probable.')] = None,
    remove_node: Annotated[Several, Parameter(help="Node to remove; its children are averaged over it.")] = None,
    add_edge: Annotated[Several, Parameter(help='Edge to add, "a -> b"; the distribution of b stays.')] = None,
    remove_edge: Annotated[Several, Parameter(help='Edge to remove, "a -> b"; b is averaged over a.')] = None,
    reverse_edge: Annotated[Several, Parameter(help='Edge to reverse, "a -> b"; the joint stays.')] = None,
    add_state: Annotated[Several, Parameter(help='State to add, "node=state", of probability zero.')] = None,
    remove_state: Annotated[Several, Parameter(help='State to remove, "node=state".')] = None,
    table: Annotated[
        Several, Parameter(help='Table of a node, "node=file": columns for each parent, the node and "probability".')
    ] = None,
    do: Annotated[Several, Parameter(help='Intervention, "node=state": edges into the node are removed.')] = None,
    keep: Annotated[Several, Parameter(help="Node to keep; all others are removed.")] = None,
    blanket: Annotated[str | None, Parameter(help="Keep only this node and its Markov blanket.")] = None,
    rename_state: Annotated[Several, Parameter(help='New names of states, "node: old=new, old=new".')] = None,
    rename: Annotated[Several, Parameter(help='New name of a node, "old=new".')] = None,
    tolerance: Tolerance = None,
) -> None:
    """Change a network, in the order of the options here, and write the new one.

    Every option but the last ones may be given several times. Names with blanks or one of , ; | = ( ) stand in quotes.
    """
    from bayeswater.cli.terminal import amount, say, warnings_once
    from bayeswater.models.network.network_files import require_network_place

    if not has_numbers(network):  # which are refused when they are read
        require_network_place(output)
    with warnings_once():
        net = read_network(network, tolerance)
        for other in merge or ():
            net = net.merge(read_network(other, tolerance), prefer=prefer)
        net = _with_nodes_and_edges(net, add_node, remove_node, add_edge, remove_edge, reverse_edge)
        for text in add_state or ():
            name, state = _pair(text, "node=state")
            net = net.with_state(net.names[node_named(net, name, text)], state.text)
        for text in remove_state or ():
            net = net.without_state(*_state(net, text))
        for text in table or ():
            name, file = _pair(text, "node=file")
            net = net.with_cpt(net.names[node_named(net, name, text)], _table(net, file.text))
        for text in do or ():
            net = net.do(dict([_state(net, text)]))
        net = net.subnetwork(keep) if keep else net
        net = net.markov_blanket_network(blanket) if blanket is not None else net
        net = _renamed(net, rename_state, rename)
        net.write(output)
    say(
        f"{network} -> {output}: {amount(len(net.names), 'variable')}, {amount(len(net.edges), 'edge')}, "
        f"{amount(net.n_parameters, 'parameter')}"
    )


def _with_nodes_and_edges(
    net: "BayesianNetwork",
    add_node: Several,
    remove_node: Several,
    add_edge: Several,
    remove_edge: Several,
    reverse_edge: Several,
) -> "BayesianNetwork":
    from bayeswater.cli.question_text import read_names_after

    for text in add_node or ():
        name, states = read_names_after(text)
        net = net.with_node(name.text, states=[state.text for state in states])
    for gone in remove_node or ():
        net = net.without_node(gone)
    for text in add_edge or ():
        net = net.with_edge(*_edge(text))
    for text in remove_edge or ():
        net = net.without_edge(*_edge(text))
    for text in reverse_edge or ():
        net = net.with_reversed_edge(*_edge(text))
    return net


def _renamed(net: "BayesianNetwork", rename_state: Several, rename: Several) -> "BayesianNetwork":
    from bayeswater.cli.question_text import read_pairs_after

    for text in rename_state or ():
        name, pairs = read_pairs_after(text)
        variable = net.variables[node_named(net, name, text)]
        net = net.with_state_names(variable.name, {state_named(variable, old, text): new.text for old, new in pairs})
    names = {}
    for text in rename or ():
        old, new = _pair(text, "old=new")
        names[net.names[node_named(net, old, text)]] = new.text
    return net.with_names(names) if names else net


def _edge(text: str) -> tuple[str, str]:
    from bayeswater.structure.dag import Dag

    edges = list(Dag.parse(text).edges())
    if len(edges) != 1:
        raise ParameterError(f"{text!r} names {len(edges)} edges; give one, as in 'a -> b'")
    return edges[0]


def _pair(text: str, form: str) -> Any:
    from bayeswater.cli.question_text import read_pair

    return read_pair(text, form)


def _state(net: "BayesianNetwork", text: str) -> tuple[str, Any]:
    name, state = _pair(text, "node=state")
    variable = net.variables[node_named(net, name, text)]
    return variable.name, state_named(variable, state, text)


def _table(net: "BayesianNetwork", path: str) -> Any:
    """Read a table of probabilities, its labels in the types of the states."""
    from bayeswater.data.sources.recognising import local_rows
    from bayeswater.data.sources.whole import whole_table
    from bayeswater.models.network.network_rows import read_as_states

    rows = local_rows(path)
    read_as_states(rows, net.variables)
    return whole_table(rows, None, "a table of probabilities", "give its node fewer parents")
