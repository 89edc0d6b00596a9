"""Documents as XDSL, the format of GeNIe and SMILE; see `xdsl`."""

import re
from collections.abc import Mapping

from bayeswater.files.networks.checks import require_writable
from bayeswater.files.networks.document import NetworkDocument, NodeDocument, NoisyOr, Property, Written
from bayeswater.files.networks.names import ESCAPED, MARK, escape_note, is_identifier, loss_notes, written_names
from bayeswater.files.networks.numbers import written_numbers
from bayeswater.files.networks.rules import is_noisy_max, turned_note, written_parameters, written_strengths
from bayeswater.files.networks.xml_tree import is_writable, xml_text

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
    require_writable(document)
    used = [document.name, *(label for node in document.nodes for label in (node.name, *node.states))]
    names = written_names(used, is_identifier)
    nodes = document.topological()
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    if any(names[name] != name for name in names):
        lines.append(f"<?{MARK} {ESCAPED}?>")
    lines.append(f'<smile version="1.0" id="{names[document.name]}">')
    on_top = _properties(document.properties, "    ")
    lines += ["  <properties>", *on_top, "  </properties>"] if on_top else []
    lines.append("  <nodes>")
    for node in nodes:
        lines += _node(node, names)
    lines += ["  </nodes>", *_drawing(nodes, names), "</smile>"]
    notes = escape_note(names, "identifiers") + loss_notes(
        document, _can_carry, _can_carry, ("deterministic", "noisy_or")
    )
    if nodes != document.nodes:
        notes.append("the nodes were put in an order in which parents come first")
    notes += turned_note(nodes)
    return Written("\n".join(lines) + "\n", tuple(notes))


def _node(node: NodeDocument, names: Mapping[str, str]) -> list[str]:
    if node.kind == "deterministic":
        tag = "deterministic"
        results = [names[node.states[code]] for code in node.table.argmax(axis=-1).reshape(-1)]
        content = [f"<resultingstates>{' '.join(results)}</resultingstates>"]
    elif node.noisy_or and is_noisy_max(node.noisy_or):
        tag, content = "noisymax", _noisy_or(node.noisy_or)
    else:
        tag, content = "cpt", [f"<probabilities>{written_numbers(node.table, ' ')}</probabilities>"]
    lines = [f'    <{tag} id="{names[node.name]}">', *(f'      <state id="{names[state]}" />' for state in node.states)]
    if node.parents:
        lines.append(f"      <parents>{' '.join([names[parent] for parent in node.parents])}</parents>")
    lines += [f"      {line}" for line in content]
    return [*lines, *_properties(node.properties, "      "), f"    </{tag}>"]


def _noisy_or(rule: NoisyOr) -> list[str]:
    strengths = [f"<strengths>{' '.join(written_strengths(rule))}</strengths>"] if rule.cause else []
    return [*strengths, f"<parameters>{' '.join(written_parameters(rule))}</parameters>"]


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
