"""Networks of states and numbers in XDSL: variables with states as everywhere, and an equation for each number."""

import re
from itertools import product

import numpy as np

from bayeswater.errors import NetworkFileError
from bayeswater.files.networks import xdsl
from bayeswater.files.networks.equations import EquationError, Linear, read_equation, written_equation
from bayeswater.files.networks.names import is_identifier
from bayeswater.files.networks.xml_tree import Element, XmlFile, parse_xml, xml_text
from bayeswater.models.network.network_files import document_of, network_of_document
from bayeswater.networks.mixed_core import MixedCore
from bayeswater.networks.network import Network
from bayeswater.networks.regressions import Regressions
from bayeswater.structure.dag import Dag

EQUATIONS = re.compile(r"<equation\b.*?</equation\s*>", re.DOTALL)
NODES_END = "  </nodes>"
NO_STATES = Network((), Dag((), ()), ())


def has_equations(text: str) -> bool:
    """Whether an XDSL file has numbers."""
    return EQUATIONS.search(text) is not None


def write_xdsl(core: MixedCore) -> str:
    """Write a network; names of what equations speak of must be identifiers."""
    for node in core.numbers:
        for member in (*core.dag.parents[node], node):
            if not is_identifier(core.names[member]):
                raise NetworkFileError(
                    f"{core.names[member]!r} is no identifier, and equations of XDSL name nothing else; rename it, or "
                    "write .json"
                )
    text = xdsl.write(document_of(core.states, "", {})).text
    lines = []
    for node in core.dag.order:
        if node in core.numbers:
            parents = " ".join(core.names[parent] for parent in core.dag.parents[node])
            lines += [
                f'    <equation id="{core.names[node]}">',
                *([f"      <parents>{parents}</parents>"] if parents else []),
                f"      <definition>{xml_text(_equation(core, node))}</definition>",
                "    </equation>",
            ]
    return text.replace(NODES_END, "\n".join([*lines, NODES_END]), 1)


def _equation(core: MixedCore, node: int) -> str:
    own, numeric = core.numbers[node], core.numeric_parents(node)
    expressions = []
    for place in np.ndindex(own.intercept.shape):
        slopes = dict(zip(numeric, own.slopes[place].tolist(), strict=True))
        expressions.append(Linear(float(own.intercept[place]), slopes, float(own.variance[place])))
    discrete = [(variable.name, variable.n_states) for variable in core.discrete_parents(node)]
    return written_equation(core.names[node], expressions, discrete)


def read_xdsl(text: str, path: str) -> MixedCore:
    """Read a network; equations that are not linear are refused."""
    file = parse_xml(text, path)
    written = [element for element in file.root.all_within() if element.tag == "equation"]
    # Lines stay where they are, so that errors of the rest name the right ones.
    rest = EQUATIONS.sub(lambda found: "\n" * found[0].count("\n"), text)
    tags = {node.tag for part in file.root.children if part.tag == "nodes" for node in part.children}
    states = network_of_document(xdsl.read(rest, path)) if tags - {"equation"} else NO_STATES
    names = (*states.names, *(_id(file, element) for element in written))
    position = {name: j for j, name in enumerate(names)}
    parents = [tuple(position[states.names[p]] for p in own) for own in states.parents]
    for element in written:
        above = [word for child in element.children if child.tag == "parents" for word in child.words()]
        unknown = [name for name in above if name not in position]
        if unknown:
            raise file.error(element.place, f"{_id(file, element)!r} has a parent {unknown[0]!r}, which is no node")
        parents.append(tuple(position[name] for name in above))
    dag = Dag(names, tuple(parents))
    numbers = {position[_id(file, element)]: _regressions(file, element, dag, states) for element in written}
    return MixedCore.of(dag, states, numbers)


def _id(file: XmlFile, element: Element) -> str:
    if "id" not in element.attributes:
        raise file.error(element.place, "<equation> has no id")
    return element.attributes["id"]


def _regressions(file: XmlFile, element: Element, dag: Dag, states: Network) -> Regressions:
    own = dag.parents[dag.position[_id(file, element)]]
    discrete = [states.variables[parent] for parent in own if parent < len(states)]
    numeric = [dag.names[parent] for parent in own if parent >= len(states)]
    definition = next((child for child in element.children if child.tag == "definition"), None)
    if definition is None:
        raise file.error(element.place, f"<equation> {_id(file, element)!r} has no <definition>")
    labels = {variable.name: [str(state) for state in variable.states] for variable in discrete}
    shape = tuple(variable.n_states for variable in discrete)
    intercept, variance, slopes = np.empty(shape), np.empty(shape), np.zeros((*shape, len(numeric)))
    try:
        equation = read_equation(definition.text, labels, numeric)
        for place in product(*map(range, shape)):
            found = equation({v.name: code for v, code in zip(discrete, place, strict=True)})
            intercept[place], variance[place] = found.constant, found.variance
            slopes[place] = [found.slopes.get(name, 0.0) for name in numeric]
    except EquationError as error:
        raise file.error(definition.place, str(error)) from None
    return Regressions(intercept, slopes, variance)
