"""Influence diagrams in XDSL, as GeNIe has them, and in XMLBIF, as aGrUM has them.

A diagram is a network with decisions, which have states and no table, and utilities, which have numbers and no states.
Each is read and written as the network in which a decision is a variable whose states are equally probable, and a
utility one of a single state: all checks of networks hold for diagrams, too.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayeswater.errors import NetworkFileError
from bayeswater.files.networks import xdsl, xmlbif
from bayeswater.files.networks.document import NetworkDocument, NodeDocument
from bayeswater.files.networks.formats import format_of, read_content, write_content
from bayeswater.files.networks.names import unescaped, written_numbers
from bayeswater.files.networks.xml_tree import Element, XmlFile, parse_xml, xml_text
from bayeswater.typing import Array

VALUE = "value"
"""The single state of a utility."""


class DiagramDocument(NamedTuple):
    """A network of all nodes, the names of decisions in their order, and utilities (*states of the parents)."""

    network: NetworkDocument
    decisions: tuple[str, ...]
    utilities: Mapping[str, Array]


def read_diagram(path: Path, tolerance: float | None = None) -> DiagramDocument:
    """Read a diagram in the format that the name of its file tells."""
    reading = {"XDSL": _from_xdsl, "XMLBIF": _from_xmlbif}.get(format_of(path).name)
    if reading is None:
        raise _no_format(path)
    file = parse_xml(read_content(path), str(path))
    text, kinds, numbers = reading(file)
    network = format_of(path).read(text, str(path), tolerance)
    name_of: Callable[[str], str] = unescaped if file.escaped else str
    kind_of = {name_of(name): kind for name, kind in kinds.items()}
    words = {name_of(name): own for name, own in numbers.items()}
    sizes = {node.name: len(node.states) for node in network.nodes}
    utilities = {}
    for node in network.nodes:
        if kind_of.get(node.name) == "utility":
            shape = tuple(sizes[parent] for parent in node.parents)
            utilities[node.name] = _utility(node.name, words[node.name], shape, path)
    decisions = tuple(node.name for node in network.topological() if kind_of.get(node.name) == "decision")
    return DiagramDocument(network, decisions, utilities)


def write_diagram(document: DiagramDocument, path: Path) -> tuple[str, ...]:
    """Write a diagram in the format that the name of its file tells; give notes of what it cannot hold."""
    writing = {"XDSL": (xdsl.write, _as_xdsl), "XMLBIF": (xmlbif.write, _as_xmlbif)}.get(format_of(path).name)
    if writing is None:
        raise _no_format(path)
    text, notes = writing[0](document.network)
    write_content(writing[1](text, document), path)
    return notes


def _no_format(path: Path) -> NetworkFileError:
    return NetworkFileError(f"{path.name!r} is no format of influence diagrams; take .xdsl (GeNIe) or .bifxml (aGrUM)")


def _utility(name: str, words: list[str], shape: tuple[int, ...], path: Path) -> Array:
    try:
        values = np.array(list(map(float, words)))
    except ValueError:
        raise NetworkFileError(f"{path}: the utilities of {name!r} are no numbers; correct them") from None
    if values.size != prod(shape) or not np.isfinite(values).all():
        raise NetworkFileError(
            f"{path}: {name!r} has {values.size} utilities, and needs {prod(shape)} finite ones for its parents' states"
        )
    return values.reshape(shape)


FromFile = tuple[str, dict[str, str], dict[str, list[str]]]
"""The text of a plain network, the kinds of its nodes, and the numbers of utilities."""


def _xml(element: Element) -> str:
    """Write an element as it was read."""
    inner = "".join(map(_xml, element.children))
    return f"<{element.tag}{_attributes(element)}>{xml_text(element.text)}{inner}</{element.tag}>"


def _attributes(element: Element) -> str:
    pairs = element.attributes.items()
    return "".join(f' {name}="{xml_text(value).replace(chr(34), "&quot;")}"' for name, value in pairs)


def _document(file: XmlFile, inner: str) -> str:
    mark = "<?bayeswater_names escaped?>" if file.escaped else ""
    return f"{mark}<{file.root.tag}{_attributes(file.root)}>{inner}</{file.root.tag}>"


def _even(n_rows: int, n_states: int) -> str:
    return " ".join([repr(1 / n_states)] * (n_rows * n_states))


def _from_xdsl(file: XmlFile) -> FromFile:
    nodes = [node for part in file.root.children if part.tag == "nodes" for node in part.children]
    identifiers = {id(node): node.attributes.get("id", "") for node in nodes}
    sizes = {identifiers[id(node)]: max(1, sum(child.tag == "state" for child in node.children)) for node in nodes}
    kinds, numbers, plain = dict[str, str](), dict[str, list[str]](), []
    weights, nodes = _weights(file, nodes)
    for node in nodes:
        name = identifiers[id(node)]
        if node.tag not in ("decision", "utility"):
            plain.append(_xml(node))
            continue
        kinds[name] = node.tag
        parents = [word for child in node.children if child.tag == "parents" for word in child.words()]
        n_rows = prod(sizes.get(parent, 1) for parent in parents)
        if node.tag == "utility":
            numbers[name] = [word for child in node.children if child.tag == "utilities" for word in child.words()]
            if name in weights:
                numbers[name] = [_times(word, weights[name]) for word in numbers[name]]
        states = [_xml(child) for child in node.children if child.tag == "state"]
        states = [f'<state id="{VALUE}"/>'] if node.tag == "utility" else states
        others = [_xml(child) for child in node.children if child.tag == "property"]
        table = f"<probabilities>{_even(n_rows, sizes[name] if states else 1)}</probabilities>"
        arcs = f"<parents>{' '.join(parents)}</parents>" if parents else ""
        plain.append(f'<cpt id="{xml_text(name)}">{"".join(states)}{arcs}{table}{"".join(others)}</cpt>')
    rest = "".join(_xml(part) for part in file.root.children if part.tag != "nodes")
    return _document(file, f"<nodes>{''.join(plain)}</nodes>{rest}"), kinds, numbers


def _weights(file: XmlFile, nodes: list[Element]) -> tuple[dict[str, float], list[Element]]:
    """By what each utility counts, and the nodes without those that say so.

    A multi-attribute utility that is a weighted sum (<mau> with <weights>) adds nothing of its own: what it counts
    itself, one unless another sums it, times its weight is what its parent counts.
    """

    def words(node: Element, tag: str) -> list[str]:
        return [word for child in node.children if child.tag == tag for word in child.words()]

    sums = {node.attributes.get("id", ""): node for node in nodes if node.tag == "mau" and words(node, "weights")}
    utilities = {node.attributes.get("id", "") for node in nodes if node.tag in ("utility", "mau")}
    left, found = dict(sums), dict[str, float]()
    while left:
        summed = {parent for node in left.values() for parent in words(node, "parents")}
        name = next((name for name in left if name not in summed), None)
        if name is None:
            some = next(iter(left))
            raise file.error(left[some].place, f"what {some!r} sums depends on {some!r} itself, or on such a sum")
        node = left.pop(name)
        parents, own, counts = words(node, "parents"), words(node, "weights"), found.pop(name, 1.0)
        try:
            factors = [counts * float(word) for word in own]
        except ValueError:
            raise file.error(node.place, f"the weights of {name!r} are no numbers") from None
        if len(own) != len(parents):
            raise file.error(node.place, f"{name!r} has {len(parents)} parents and {len(own)} weights")
        for parent, factor in zip(parents, factors, strict=True):
            if parent not in utilities:
                raise file.error(node.place, f"{name!r} sums {parent!r}, which is no utility")
            found[parent] = found.get(parent, 0.0) + factor
    return found, [node for node in nodes if node.attributes.get("id", "") not in sums]


def _times(word: str, weight: float) -> str:
    """Multiply a number; what is none is told of later."""
    try:
        return repr(float(word) * weight)
    except ValueError:
        return word


def _from_xmlbif(file: XmlFile) -> FromFile:
    kinds, numbers = dict[str, str](), dict[str, list[str]]()
    sizes: dict[str, int] = {}
    inner = []
    for network in file.root.children:
        for part in network.children:
            if part.tag == "VARIABLE":
                name = next((child.text for child in part.children if child.tag == "NAME"), "")
                sizes[name] = max(1, sum(child.tag in ("OUTCOME", "VALUE") for child in part.children))
                kind = part.attributes.get("TYPE", "nature")
                if kind != "nature":
                    kinds[name] = kind
                if kind == "utility":
                    sizes[name] = 1
        parts = "".join(_plain_part(part, kinds, numbers, sizes) for part in network.children)
        inner.append(f"<{network.tag}>{parts}</{network.tag}>")
    return _document(file, "".join(inner)), kinds, numbers


def _plain_part(part: Element, kinds: dict[str, str], numbers: dict[str, list[str]], sizes: dict[str, int]) -> str:
    """Write a part of XMLBIF as that of a plain network; what aGrUM says of domains beside them is left out."""
    if part.tag == "VARIABLE":
        is_utility = part.attributes.get("TYPE") == "utility"
        kept = [
            _xml(child)
            for child in part.children
            if not (is_utility and child.tag in ("OUTCOME", "VALUE")) and not child.text.startswith("fast =")
        ]
        kept += [f"<OUTCOME>{VALUE}</OUTCOME>"] if is_utility else []
        return f'<VARIABLE TYPE="nature">{"".join(kept)}</VARIABLE>'
    name = next((child.text for child in part.children if child.tag == "FOR"), "")
    if part.tag not in ("DEFINITION", "PROBABILITY") or name not in kinds:
        return _xml(part)
    if kinds[name] == "utility":
        numbers[name] = [word for child in part.children if child.tag == "TABLE" for word in child.words()]
    n_rows = prod(sizes.get(child.text, 1) for child in part.children if child.tag == "GIVEN")
    kept = [_xml(child) for child in part.children if child.tag != "TABLE"]
    return f"<DEFINITION>{''.join(kept)}<TABLE>{_even(n_rows, sizes[name])}</TABLE></DEFINITION>"


def _as_xdsl(text: str, document: DiagramDocument) -> str:
    """Turn the nodes of a plain network back into decisions and utilities."""
    nodes = iter(document.network.topological())

    def turned(found: re.Match[str]) -> str:
        node = next(nodes)
        if node.name in document.decisions:
            block = re.sub(r"\n *<probabilities>.*?</probabilities>", "", found[0], flags=re.DOTALL)
            return block.replace("<cpt ", "<decision ").replace("</cpt>", "</decision>")
        if node.name in document.utilities:
            numbers = written_numbers(document.utilities[node.name], " ")
            block = re.sub(r"\n *<state [^>]*/>", "", found[0])
            block = re.sub(
                r"<probabilities>.*?</probabilities>", f"<utilities>{numbers}</utilities>", block, flags=re.DOTALL
            )
            return block.replace("<cpt ", "<utility ").replace("</cpt>", "</utility>")
        return found[0]

    return re.sub(r"    <(cpt|deterministic|noisymax) id=.*?</\1>", turned, text, flags=re.DOTALL)


def _as_xmlbif(text: str, document: DiagramDocument) -> str:
    nodes = document.network.nodes
    text = _each(text, "VARIABLE", nodes, lambda node, block: _as_variable(node, block, document))
    return _each(text, "DEFINITION", nodes, lambda node, block: _as_definition(node, block, document))


def _each(text: str, tag: str, nodes: tuple[NodeDocument, ...], turned: Callable[[NodeDocument, str], str]) -> str:
    order: Iterator[NodeDocument] = iter(nodes)
    return re.sub(rf"<{tag}\b.*?</{tag}>", lambda found: turned(next(order), found[0]), text, flags=re.DOTALL)


def _as_variable(node: NodeDocument, block: str, document: DiagramDocument) -> str:
    kind = "decision" if node.name in document.decisions else "utility" if node.name in document.utilities else "nature"
    block = re.sub(r'<VARIABLE( TYPE="nature")?', f'<VARIABLE TYPE="{kind}"', block)
    # aGrUM wants one outcome for a utility, and calls it 0.
    return block.replace(f"<OUTCOME>{VALUE}</OUTCOME>", "<OUTCOME>0</OUTCOME>") if kind == "utility" else block


def _as_definition(node: NodeDocument, block: str, document: DiagramDocument) -> str:
    if node.name in document.decisions:
        return re.sub(r"\s*<TABLE>.*?</TABLE>", "", block, flags=re.DOTALL)
    if node.name in document.utilities:
        numbers = written_numbers(document.utilities[node.name], " ")
        return re.sub(r"<TABLE>.*?</TABLE>", f"<TABLE>{numbers}</TABLE>", block, flags=re.DOTALL)
    return block
