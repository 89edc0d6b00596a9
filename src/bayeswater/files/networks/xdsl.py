"""XDSL, the format of GeNIe and SMILE.

    <smile version="1.0" id="asia"><nodes>
    <cpt id="smoke"><state id="yes"/><state id="no"/><probabilities>0.5 0.5</probabilities></cpt>
    <cpt id="lung"><state id="yes"/><state id="no"/><parents>smoke</parents>
      <probabilities>0.1 0.9 0.01 0.99</probabilities></cpt>
    </nodes></smile>

The variable's own states run fastest in a table, then those of the last parent. Deterministic nodes list the state that
follows from each row; noisy-MAX nodes are written out, and kept as what they are where they are a noisy-OR. All names
are identifiers, and parents stand before their children.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from bayeswater.files.networks.checks import Family, NetworkChecks, Variable
from bayeswater.files.networks.document import NetworkDocument, NodeDocument, Property
from bayeswater.files.networks.names import some, unescaped
from bayeswater.files.networks.rules import Words, deterministic_node, noisy_node
from bayeswater.files.networks.xdsl_writing import write
from bayeswater.files.networks.xml_tree import Element, XmlFile, parse_xml

__all__ = ["read", "write"]

NODES = {"cpt": "probabilities", "deterministic": "resultingstates", "noisymax": "parameters"}
"""Nodes that are read, and the element with their numbers."""

KNOWN = ("state", "parents", "probabilities", "resultingstates", "strengths", "parameters", "property")


@dataclass(frozen=True)
class _Declared:
    element: Element
    family: Family
    parts: dict[str, list[Element]]


def read(content: str | bytes, path: str, tolerance: float | None = None) -> NetworkDocument:
    """Read a network."""
    file = parse_xml(content, path)
    root, checks = file.root, NetworkChecks(file, tolerance)
    checks.notes += file.notes
    name_of: Callable[[str], str] = unescaped if file.escaped else str
    if root.tag != "smile":
        raise file.error(root.place, f"expected <smile>, found <{root.tag}>")
    drawn, dropped = _drawn(root, name_of), set[str]()
    properties: list[Property] = []
    declared: list[_Declared] = []
    for part in root.children:
        if part.tag == "nodes":
            _require_no_text(file, part)
            declared += [_declared(file, checks, element, name_of, drawn, dropped) for element in part.children]
        elif part.tag == "properties":
            properties += [_property(file, one) for one in part.children]
        elif part.tag != "extensions":
            dropped.add(f"<{part.tag}>")
    shapes = [checks.define(one.family) for one in declared]
    checks.require_whole()
    nodes = [_node(file, checks, one, shape, name_of) for one, shape in zip(declared, shapes, strict=True)]
    dropped |= {f"<{inner.tag}>" for inner in root.all_within() if inner.tag in ("interior", "outline", "font")}
    checks.notes += _other_order(root, nodes)
    if dropped:
        checks.notes.append(f"parts of XDSL that no other format has were dropped: {', '.join(sorted(dropped))}")
    return checks.document(name_of(root.attributes.get("id", "")), nodes, properties)


def _drawn(root: Element, name_of: Callable[[str], str]) -> dict[str, list[Property]]:
    """Find labels and positions of nodes in GeNIe's part of the file; a label that is the name says nothing."""
    found: dict[str, list[Property]] = {}
    for part in root.children:
        for node in part.all_within() if part.tag == "extensions" else ():
            identifier = node.attributes.get("id", "")
            if node.tag == "node" and identifier:
                texts = {child.tag: child.text for child in node.children if child.text}
                label, position = texts.get("name", identifier), texts.get("position")
                found[identifier] = [("label", label)] if label not in (identifier, name_of(identifier)) else []
                found[identifier] += [("position", position)] if position else []
    return found


def _other_order(root: Element, nodes: list[NodeDocument]) -> list[str]:
    """Tell of tables that may be laid out otherwise: aGrUM (to 3.3.1) lets the first parent run fastest, not the last.

    Nothing in the numbers shows it, and a later aGrUM may do as GeNIe does: so they are read as the format says.
    """
    app = next((one.attributes.get("app", "") for one in root.all_within() if one.tag == "genie"), "")
    doubtful = [repr(node.name) for node in nodes if len(node.parents) > 1]
    if not (app.startswith("aGrUM") and doubtful):
        return []
    return [
        f"it was written by {app!r}: aGrUM up to 3.3.1 writes tables of several parents in another order than GeNIe "
        f"reads them, so those of {some(doubtful)} may be wrong; let aGrUM write BIF instead, or check them"
    ]


def _property(file: XmlFile, element: Element) -> Property:
    if element.tag != "property" or "id" not in element.attributes:
        raise file.error(element.place, f'expected <property id="...">, found <{element.tag}>')
    return element.attributes["id"], element.text


def _declared(
    file: XmlFile,
    checks: NetworkChecks,
    element: Element,
    name_of: Callable[[str], str],
    drawn: dict[str, list[Property]],
    dropped: set[str],
) -> _Declared:
    if element.tag not in NODES:
        raise file.error(
            element.place,
            f"a node <{element.tag}> is no part of a Bayesian network of tables; remove it, or make it <cpt>",
        )
    parts: dict[str, list[Element]] = {tag: [] for tag in KNOWN}
    for child in element.children:
        if child.tag == "dynamic":
            raise file.error(child.place, "a dynamic network is not read; unroll it first")
        if child.tag in parts:
            parts[child.tag].append(child)
        else:
            dropped.add(f"<{child.tag}>")
    _require_no_text(file, element)
    dropped |= {f"{name}=" for one in (element, *parts["state"]) for name in one.attributes if name != "id"}
    identifier = _identifier(file, element)
    properties = [_property(file, one) for one in parts["property"]]
    named = {name for name, _ in properties}
    properties += [one for one in drawn.get(identifier, []) if one[0] not in named]
    states = parts["state"]
    variable = Variable(
        name_of(identifier),
        tuple(name_of(_identifier(file, state)) for state in states),
        element.place,
        [state.place for state in states],
        tuple(properties),
    )
    checks.declare(variable)
    for given_twice in parts["parents"][1:]:
        raise file.error(given_twice.place, f"<{element.tag}> {variable.name!r} has a second <parents>; leave one out")
    names = [name for parents in parts["parents"] for name in parents.words()]
    places = [place for parents in parts["parents"] for place in parents.places()[:-1]]
    return _Declared(element, Family(variable.name, tuple(map(name_of, names)), element.place, places), parts)


def _require_no_text(file: XmlFile, element: Element) -> None:
    if element.text:
        raise file.error(element.place_of(0), f"there is text directly inside <{element.tag}>; remove it")


def _identifier(file: XmlFile, element: Element) -> str:
    if "id" not in element.attributes:
        raise file.error(element.place, f"<{element.tag}> has no id")
    return element.attributes["id"]


def _node(
    file: XmlFile, checks: NetworkChecks, one: _Declared, shape: tuple[int, ...], name_of: Callable[[str], str]
) -> NodeDocument:
    family, tag = one.family, one.element.tag
    content = _only(file, one, NODES[tag])
    given = Words(content.words(), content.place_of)
    if tag == "deterministic":
        return deterministic_node(checks, family, shape, given, name_of)
    if tag == "noisymax":
        orders = _only(file, one, "strengths") if family.parents else content
        return noisy_node(
            checks, family, shape, given, Words(orders.words() if family.parents else [], orders.place_of)
        )
    values = checks.numbers(given.words, given.place_of, prod(shape), f"the table of {family.name!r}")
    table = checks.table(values, shape, family.name, lambda row: content.place_of(row * shape[-1]))
    variable = checks.variables[family.name]
    return NodeDocument(family.name, variable.states, family.parents, table, properties=variable.properties)


def _only(file: XmlFile, one: _Declared, tag: str) -> Element:
    found = one.parts[tag]
    if len(found) != 1:
        place = found[1].place if found else one.element.place
        how_many = "a second" if found else "no"
        raise file.error(place, f"<{one.element.tag}> {one.family.name!r} has {how_many} <{tag}>; give it once")
    return found[0]
