"""XMLBIF 0.3, the Interchange Format in XML (JavaBayes, Weka, SamIam, AISpace).

    <BIF VERSION="0.3"><NETWORK><NAME>asia</NAME>
    <VARIABLE TYPE="nature"><NAME>smoke</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>lung</FOR><GIVEN>smoke</GIVEN><TABLE>0.1 0.9 0.01 0.99</TABLE></DEFINITION>
    </NETWORK></BIF>

The variable's own states run fastest in a table, then those of the last parent.
"""

from collections.abc import Callable
from math import prod

from bayeswater.files.networks.checks import DeclaredVariable, NetworkChecks, ParentSet, require_writable
from bayeswater.files.networks.document import NetworkDocument, Property, Written
from bayeswater.files.networks.grammar import property_of, property_text
from bayeswater.files.networks.names import (
    ESCAPED,
    MARK,
    escape_note,
    loss_notes,
    unescaped,
    written_names,
    written_numbers,
)
from bayeswater.files.networks.xml_tree import Element, XmlFile, is_writable, parse_xml, xml_text

NETWORK = ("NAME", "PROPERTY", "VARIABLE", "DEFINITION", "PROBABILITY")
VARIABLE = ("NAME", "OUTCOME", "VALUE", "PROPERTY")
DEFINITION = ("FOR", "GIVEN", "TABLE", "PROPERTY")


def read(content: str | bytes, path: str, tolerance: float | None = None) -> NetworkDocument:
    """Read a network."""
    file = parse_xml(content, path)
    checks = NetworkChecks(file, tolerance)
    checks.notes += file.notes
    name_of: Callable[[str], str] = unescaped if file.escaped else str
    if file.root.tag != "BIF":
        raise file.error(file.root.place, f"expected <BIF>, found <{file.root.tag}>")
    parts = _parts(file, file.root, ("NETWORK",))["NETWORK"]
    network = _parts(file, _only(file, parts, file.root, "NETWORK"), NETWORK)
    for element in network["VARIABLE"]:
        checks.declare(_variable(file, element, name_of))
    definitions = [*network["DEFINITION"], *network["PROBABILITY"]]
    parent_sets = [_parent_set(file, checks, element, name_of) for element in definitions]
    shapes = [checks.define(parent_set) for parent_set, _ in parent_sets]
    checks.require_whole()
    nodes = []
    for (parent_set, numbers), shape in zip(parent_sets, shapes, strict=True):
        values = checks.numbers(numbers.words(), numbers.place_of, prod(shape), f"the table of {parent_set.name!r}")
        row_place = _row_places(numbers, shape[-1])
        nodes.append(checks.node(parent_set, checks.table(values, shape, parent_set.name, row_place)))
    name = name_of(network["NAME"][0].text) if network["NAME"] else ""
    return checks.document(name, nodes, [property_of(element.text) for element in network["PROPERTY"]])


def _row_places(numbers: Element, n_states: int) -> Callable[[int], int]:
    return lambda row: numbers.place_of(row * n_states)


def _parts(file: XmlFile, element: Element, known: tuple[str, ...]) -> dict[str, list[Element]]:
    """Sort the children of an element by their tags; there are no others, and no text beside them."""
    parts: dict[str, list[Element]] = {tag: [] for tag in known}
    for child in element.children:
        if child.tag not in parts:
            raise file.error(child.place, f"<{child.tag}> is not known inside <{element.tag}>; there can be {known}")
        parts[child.tag].append(child)
    if element.text:
        raise file.error(element.place_of(0), f"there is text directly inside <{element.tag}>; remove it")
    return parts


def _only(file: XmlFile, found: list[Element], parent: Element, tag: str) -> Element:
    if not found:
        raise file.error(parent.place, f"<{parent.tag}> has no <{tag}>")
    if len(found) > 1:
        raise file.error(found[1].place, f"<{parent.tag}> has a second <{tag}>; leave one out")
    return found[0]


def _variable(file: XmlFile, element: Element, name_of: Callable[[str], str]) -> DeclaredVariable:
    kind = element.attributes.get("TYPE", "nature")
    if kind != "nature":
        raise file.error(
            element.place,
            f"a variable of type {kind!r} is no part of a Bayesian network of tables; remove it, or read an influence "
            "diagram with DecisionNetwork.read",
        )
    parts = _parts(file, element, VARIABLE)
    name = _only(file, parts["NAME"], element, "NAME")
    states = [*parts["OUTCOME"], *parts["VALUE"]]
    return DeclaredVariable(
        name_of(name.text),
        tuple(name_of(state.text) for state in states),
        name.place_of(0),
        [state.place_of(0) for state in states],
        tuple(property_of(one.text) for one in parts["PROPERTY"]),
    )


def _parent_set(
    file: XmlFile, checks: NetworkChecks, element: Element, name_of: Callable[[str], str]
) -> tuple[ParentSet, Element]:
    parts = _parts(file, element, DEFINITION)
    name = _only(file, parts["FOR"], element, "FOR")
    if parts["PROPERTY"]:
        checks.notes.append(f"properties of the table of {name.text!r} were dropped")
    given = parts["GIVEN"]
    parent_set = ParentSet(
        name_of(name.text),
        tuple(name_of(parent.text) for parent in given),
        name.place_of(0),
        [parent.place_of(0) for parent in given],
    )
    return parent_set, _only(file, parts["TABLE"], element, "TABLE")


def write(document: NetworkDocument) -> Written:
    """Write a network; names with characters that XML does not have are escaped.

    >>> import numpy as np
    >>> from bayeswater.files.networks.document import NodeDocument
    >>> node = NodeDocument("a", ("<5", "5+"), (), np.array([0.2, 0.8]))
    >>> text = write(NetworkDocument("n", (node,))).text
    >>> read(text, "n.xml").nodes[0].states
    ('<5', '5+')
    """
    require_writable(document)
    used = [document.name, *(label for node in document.nodes for label in (node.name, *node.states))]
    names = written_names(used, is_writable)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    if any(names[name] != name for name in names):
        lines.append(f"<?{MARK} {ESCAPED}?>")
    lines += ['<BIF VERSION="0.3">', "<NETWORK>", f"  <NAME>{xml_text(names[document.name])}</NAME>"]
    lines += _properties(document.properties, "  ")
    for node in document.nodes:
        lines += ['  <VARIABLE TYPE="nature">', f"    <NAME>{xml_text(names[node.name])}</NAME>"]
        lines += [f"    <OUTCOME>{xml_text(names[state])}</OUTCOME>" for state in node.states]
        lines += [*_properties(node.properties, "    "), "  </VARIABLE>"]
    for node in document.nodes:
        lines += ["  <DEFINITION>", f"    <FOR>{xml_text(names[node.name])}</FOR>"]
        lines += [f"    <GIVEN>{xml_text(names[parent])}</GIVEN>" for parent in node.parents]
        lines += [f"    <TABLE>{written_numbers(node.table, ' ')}</TABLE>", "  </DEFINITION>"]
    lines += ["</NETWORK>", "</BIF>"]
    notes = [*escape_note(names, "text for XML"), *loss_notes(document, _can_carry, _can_carry)]
    return Written("\n".join(lines) + "\n", tuple(notes))


def _can_carry(one: Property) -> bool:
    text = property_text(one)
    return is_writable(text) and property_of(text) == one


def _properties(properties: tuple[Property, ...], indent: str) -> list[str]:
    return [f"{indent}<PROPERTY>{xml_text(property_text(one))}</PROPERTY>" for one in filter(_can_carry, properties)]
