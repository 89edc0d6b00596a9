"""Networks in XDSL, the format of GeNIe and SMILE.

    <smile version="1.0" id="asia"><nodes>
    <cpt id="smoke"><state id="yes"/><state id="no"/><probabilities>0.5 0.5</probabilities></cpt>
    <cpt id="lung"><state id="yes"/><state id="no"/><parents>smoke</parents>
      <probabilities>0.1 0.9 0.01 0.99</probabilities></cpt>
    </nodes></smile>

The variable's own states run fastest in a table, then those of the last parent. Deterministic nodes list the state that
follows from each row; noisy-MAX nodes are written out, and stay what they are. All names are identifiers, and parents
stand before their children.
"""

import re
from collections.abc import Callable, Mapping
from math import prod

from bayeswater.files.networks.checks import DeclaredVariable, NetworkChecks, ParentSet
from bayeswater.files.networks.document import NetworkDocument, NodeDocument, Property, Written
from bayeswater.files.networks.names import ESCAPED, MARK, is_identifier, some, unescaped, written_numbers
from bayeswater.files.networks.rules import (
    WordsAt,
    WritableNetwork,
    deterministic_node,
    is_noisy_max,
    noisy_node,
    written_parameters,
    written_strengths,
)
from bayeswater.files.networks.xml_tree import Element, XmlFile, is_writable, parse_xml, xml_text
from bayeswater.records import record

POSITION = re.compile(r"-?\d+( -?\d+){3}")
"""Left, top, right and bottom of a node, as GeNIe has them."""


def write(document: NetworkDocument) -> Written:
    """Write a network: parents first, and names that are no identifiers escaped.

    >>> import numpy as np
    >>> node = NodeDocument("a", ("yes", "no"), (), np.array([0.2, 0.8]))
    >>> print(write(NetworkDocument("n", (node,))).text)
    <?xml version="1.0" encoding="UTF-8"?>
    <smile version="1.0" id="n">
      <nodes>
        <cpt id="a">
          <state id="yes" />
          <state id="no" />
          <probabilities>0.2 0.8</probabilities>
        </cpt>
      </nodes>
      <extensions>
        <genie version="1.0" app="bayeswater" name="network">
          <node id="a">
            <name>a</name>
          </node>
        </genie>
      </extensions>
    </smile>
    <BLANKLINE>
    """
    ready = WritableNetwork.of(document, _can_carry)
    names, nodes = ready.names, ready.nodes
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    if ready.is_escaped:
        lines.append(f"<?{MARK} {ESCAPED}?>")
    lines.append(f'<smile version="1.0" id="{names[document.name]}">')
    on_top = _properties(document.properties, "    ")
    lines += ["  <properties>", *on_top, "  </properties>"] if on_top else []
    lines.append("  <nodes>")
    for node in nodes:
        lines += _written_node(node, names)
    lines += ["  </nodes>", *_drawing(nodes, names), "</smile>"]
    return Written("\n".join(lines) + "\n", ready.notes)


def _written_node(node: NodeDocument, names: Mapping[str, str]) -> list[str]:
    if node.kind == "deterministic":
        tag = "deterministic"
        results = [names[node.states[code]] for code in node.table.argmax(axis=-1).reshape(-1)]
        content = [f"<resultingstates>{' '.join(results)}</resultingstates>"]
    elif is_noisy_max(node):
        tag, content = "noisymax", _noisy_max(node)
    else:
        tag, content = "cpt", [f"<probabilities>{written_numbers(node.table, ' ')}</probabilities>"]
    lines = [f'    <{tag} id="{names[node.name]}">', *(f'      <state id="{names[state]}" />' for state in node.states)]
    if node.parents:
        lines.append(f"      <parents>{' '.join([names[parent] for parent in node.parents])}</parents>")
    lines += [f"      {line}" for line in content]
    return [*lines, *_properties(node.properties, "      "), f"    </{tag}>"]


def _noisy_max(node: NodeDocument) -> list[str]:
    strengths = [f"<strengths>{' '.join(written_strengths(node))}</strengths>"] if node.parents else []
    return [*strengths, f"<parameters>{' '.join(written_parameters(node))}</parameters>"]


def _can_carry(one: Property) -> bool:
    return is_identifier(one[0]) and is_writable(one[1])


def _properties(properties: tuple[Property, ...], indent: str) -> list[str]:
    return [
        f'{indent}<property id="{name}">{xml_text(value)}</property>' for name, value in filter(_can_carry, properties)
    ]


def _drawing(nodes: tuple[NodeDocument, ...], names: Mapping[str, str]) -> list[str]:
    """Tell GeNIe what to show: labels or names, and positions where they are GeNIe's own; some readers insist on it."""
    lines = ["  <extensions>", '    <genie version="1.0" app="bayeswater" name="network">']
    for node in nodes:
        properties = dict(filter(_can_carry, node.properties))
        name = node.name if is_writable(node.name) else names[node.name]
        label = xml_text(properties.get("label", name))
        lines += [f'      <node id="{names[node.name]}">', f"        <name>{label}</name>"]
        if POSITION.fullmatch(properties.get("position", "")):
            lines.append(f"        <position>{properties['position']}</position>")
        lines.append("      </node>")
    return [*lines, "    </genie>", "  </extensions>"]


__all__ = ["read", "write"]

NODES = {"cpt": "probabilities", "deterministic": "resultingstates", "noisymax": "parameters"}
"""Nodes that are read, and the element with their numbers."""

KNOWN = ("state", "parents", "probabilities", "resultingstates", "strengths", "parameters", "property")


@record
class _DeclaredElement:
    element: Element
    parent_set: ParentSet
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
    declared: list[_DeclaredElement] = []
    for part in root.children:
        if part.tag == "nodes":
            _require_no_text(file, part)
            declared += [_declared(file, checks, element, name_of, drawn, dropped) for element in part.children]
        elif part.tag == "properties":
            properties += [_property(file, one) for one in part.children]
        elif part.tag != "extensions":
            dropped.add(f"<{part.tag}>")
    shapes = [checks.define(one.parent_set) for one in declared]
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
) -> _DeclaredElement:
    if element.tag not in NODES:
        raise file.error(
            element.place,
            f"a node <{element.tag}> is no part of a Bayesian network of tables; remove it, or make it <cpt>"
            "; DecisionNetwork.read reads influence diagrams",
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
    variable = DeclaredVariable(
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
    return _DeclaredElement(element, ParentSet(variable.name, tuple(map(name_of, names)), element.place, places), parts)


def _require_no_text(file: XmlFile, element: Element) -> None:
    if element.text:
        raise file.error(element.place_of(0), f"there is text directly inside <{element.tag}>; remove it")


def _identifier(file: XmlFile, element: Element) -> str:
    if "id" not in element.attributes:
        raise file.error(element.place, f"<{element.tag}> has no id")
    return element.attributes["id"]


def _node(
    file: XmlFile, checks: NetworkChecks, one: _DeclaredElement, shape: tuple[int, ...], name_of: Callable[[str], str]
) -> NodeDocument:
    parent_set, tag = one.parent_set, one.element.tag
    content = _only(file, one, NODES[tag])
    given = WordsAt(content.words(), content.place_of)
    if tag == "deterministic":
        return deterministic_node(checks, parent_set, shape, given, name_of)
    if tag == "noisymax":
        orders = _only(file, one, "strengths") if parent_set.parents else content
        return noisy_node(
            checks, parent_set, shape, given, WordsAt(orders.words() if parent_set.parents else [], orders.place_of)
        )
    values = checks.numbers(given.words, given.place_of, prod(shape), f"the table of {parent_set.name!r}")
    table = checks.table(values, shape, parent_set.name, lambda row: content.place_of(row * shape[-1]))
    return checks.node(parent_set, table)


def _only(file: XmlFile, one: _DeclaredElement, tag: str) -> Element:
    found = one.parts[tag]
    if len(found) != 1:
        place = found[1].place if found else one.element.place
        how_many = "a second" if found else "no"
        raise file.error(place, f"<{one.element.tag}> {one.parent_set.name!r} has {how_many} <{tag}>; give it once")
    return found[0]
