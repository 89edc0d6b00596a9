"""Networks of states and numbers in files.

Our JSON keeps every number as the float64 that it was. XDSL has the variables with states as everywhere, and
an equation for each number (`files.networks.equations`); it keeps standard deviations, whose squares may round.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import BayesError, NetworkFileError
from bayeswater.files.networks import xdsl
from bayeswater.files.networks.equations import EquationError, Linear, read_equation, written_equation
from bayeswater.files.networks.names import is_identifier
from bayeswater.files.networks.xml_tree import Element, XmlFile, parse_xml, xml_text
from bayeswater.models.network.network_files import MODEL_SUFFIX, document_of, network_of_document
from bayeswater.models.network.network_rows import declared_variable
from bayeswater.models.stored.folders import require_folder
from bayeswater.models.stored.values import CODEC
from bayeswater.networks.conditionals import Table
from bayeswater.networks.mixed_core import MixedCore, discrete_part
from bayeswater.networks.network import Network
from bayeswater.networks.regressions import Regressions
from bayeswater.structure.dag import Dag

FORMAT = "bayeswater mixed network"
VERSION = 1


def write_mixed(core: MixedCore, path: str | os.PathLike[str]) -> None:
    """Write a network in the format that the ending of the name tells."""
    target = Path(path)
    is_json = _is_json(target)
    text = json.dumps(_document(core), ensure_ascii=False, indent=1) + "\n" if is_json else write_xdsl(core)
    require_folder(target)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NetworkFileError(f"cannot write the network file {str(target)!r}: {error.strerror or error}") from error


def read_mixed(path: str | os.PathLike[str]) -> MixedCore:
    """Read a network; what the file says is believed after it has gone through the checks of any network."""
    source = Path(path)
    is_json = _is_json(source)
    try:
        text = source.read_text(encoding="utf-8")
    except OSError as error:
        raise NetworkFileError(f"cannot read the network file {str(source)!r}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise NetworkFileError(f"{str(source)!r} is no text in UTF-8: {error}") from None
    if not is_json:
        return read_xdsl(text, str(source))
    try:
        return _core(json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise NetworkFileError(f"{str(source)!r} is no JSON: {error}") from None
    except (BayesError, KeyError, TypeError, ValueError, IndexError) as error:
        raise NetworkFileError(f"{str(source)!r} is no network of states and numbers: {error}") from None


def require_place_for_numbers(path: Path) -> None:
    """Refuse a name that no network with numbers can be written to, before it is learned."""
    if path.suffix.lower() != MODEL_SUFFIX:
        _is_json(path)
    require_folder(path)


def _is_json(path: Path) -> bool:
    ending = path.suffix.lower()
    if ending not in (".json", ".xdsl"):
        raise NetworkFileError(f"{str(path)!r} ends in {path.suffix!r}; with numbers it is .json, .xdsl or .bayes")
    return ending == ".json"


def _document(core: MixedCore) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for node, name in enumerate(core.names):
        own: dict[str, Any] = {"name": name, "parents": [core.names[parent] for parent in core.dag.parents[node]]}
        if node in core.numbers:
            found = core.numbers[node]
            own |= {
                "intercept": found.intercept.tolist(),
                "slopes": found.slopes.tolist(),
                "variance": found.variance.tolist(),
            }
        else:
            own |= {**_states(core.variable(node)), "table": core.states.tables[core.place[node]].tolist()}
        nodes.append(own)
    return {"format": FORMAT, "version": VERSION, "nodes": nodes}


def _states(variable: Variable) -> dict[str, Any]:
    """States, whether they are codes, and the places of those that are declared and not only seen in rows."""
    return {
        "states": [CODEC.encode(state, f"a state of {variable.name!r}") for state in variable.states],
        "coded": variable.is_coded,
        "declared": [code for code, state in enumerate(variable.states) if state in variable.declared],
    }


def _variable(name: str, node: Mapping[str, Any]) -> Variable:
    states = [CODEC.decode(state, f"a state of {name!r}") for state in node["states"]]
    variable = declared_variable(name, range(len(states)) if node.get("coded") is True else states)
    if "declared" not in node:
        return variable
    return replace(variable, declared=frozenset(variable.states[code] for code in node["declared"]))


def _core(document: Any) -> MixedCore:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise NetworkFileError(f'it does not say "format": {FORMAT!r}')
    if document.get("version") != VERSION:
        raise NetworkFileError(f"it is of version {document.get('version')!r}, and {VERSION} is read")
    nodes = document["nodes"]
    names = tuple(str(node["name"]) for node in nodes)
    position = {name: j for j, name in enumerate(names)}
    dag = Dag(names, tuple(tuple(position[parent] for parent in node["parents"]) for node in nodes))
    numbers, variables, tables = {}, [], []
    for j, node in enumerate(nodes):
        if "states" in node:
            variables.append(_variable(names[j], node))
            tables.append(Table(np.array(node["table"], dtype=np.float64)))
        else:
            found = {name: np.array(node[name], dtype=np.float64) for name in ("intercept", "slopes", "variance")}
            numbers[j] = Regressions(found["intercept"], found["slopes"], found["variance"])
    return MixedCore.of(dag, Network.of(variables, discrete_part(dag, frozenset(numbers)), tables), numbers)


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
