"""What the view of a network asks of one with numbers: what it asks of states, and of a number its density and law.

A number is observed by its value, which stands where a state has its code. Information of arcs, explanations and what
to observe next are of networks of states alone.
"""

from collections.abc import Callable, Mapping
from itertools import product
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bayeswater.errors import ImpossibleEvidence
from bayeswater.models.mixed_networks.mixed_answers import NumberDistribution
from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
from bayeswater.networks.drawing import to_svg
from bayeswater.records import record
from bayeswater.typing import Array
from bayeswater.web.network_answers import ANSWERS as OF_STATES
from bayeswater.web.network_answers import (
    LARGEST,
    TABLE_ROWS,
    dragged,
    drawing_of,
    evidence_file,
    file_of,
    read_evidence,
    shown_states,
    table_of,
    trail_of,
    without,
)
from bayeswater.web.network_parts import part_asked, subgraph
from bayeswater.web.network_subjects import MixedSubject
from bayeswater.web.network_variants import items_of, node_of, shares_of
from bayeswater.web.plain import QuestionError, number_of, place_of, text_of

CURVE_PLACES = 64
"""Places at which a density is drawn."""


@record
class MixedKnown:
    """What a question takes for known: the network with what is set from outside, codes or values, and likelihoods."""

    network: MixedNetwork
    observed: dict[int, Any]
    does: dict[int, Any]
    soft: dict[int, Array]

    @property
    def given(self) -> dict[str, Any]:
        """Evidence as the network takes it."""
        return {self.network.dag.names[node]: _value(self.network, node, own) for node, own in self.observed.items()}

    def distribution(self, node: int) -> Any:
        """What is known of a node."""
        names = self.network.dag.names
        soft = {names[other]: likelihood for other, likelihood in self.soft.items()}
        return self.network.query(names[node], self.given, soft_evidence=soft)


def _value(network: MixedNetwork, node: int, own: Any) -> Any:
    """Give the state of a code, or a number as it is."""
    return own if node in network.core.numbers else network.core.variable(node).states[own]


def _known(subject: MixedSubject, asked: Mapping[str, Any]) -> MixedKnown:
    network: MixedNetwork = subject.model
    core, names = network.core, network.dag.names

    def facts(name: str) -> dict[int, Any]:
        found = {}
        for node, own in items_of(asked, name, 2):
            if place_of(node, len(names), "node") in core.numbers:
                found[node] = number_of({names[node]: own}, names[node], 0, -LARGEST, LARGEST)
            else:
                found[node] = place_of(own, core.variable(node).n_states, "state")
        return found

    observed, does, soft = facts("observed"), facts("does"), {}
    for node, likelihood in items_of(asked, "soft", 2):
        if place_of(node, len(names), "node") in core.numbers:
            raise QuestionError(f"{names[node]!r} is a number, and has no likelihoods of states")
        soft[node] = shares_of(likelihood, core.variable(node).n_states, "likelihood")
    observed = {node: own for node, own in observed.items() if node not in does}
    soft = {node: own for node, own in soft.items() if node not in does and node not in observed}
    changed = network.do({names[node]: _value(network, node, own) for node, own in does.items()}) if does else network
    return MixedKnown(changed, observed, does, soft)


def _drawing(subject: MixedSubject, asked: Mapping[str, Any]) -> Any:
    return drawing_of(subject, asked, _states(subject.model), {"bayes": "Bayeswater"})


def _states(network: MixedNetwork) -> list[Any]:
    core = network.core
    return [None if node in core.numbers else core.variable(node).states for node in range(len(core))]


def _posteriors(subject: MixedSubject, asked: Mapping[str, Any]) -> Any:
    """Every posterior: probabilities of states, or the density of a number."""
    known = _known(subject, asked)
    try:
        found = [known.distribution(node) for node in range(len(known.network.dag))]
    except ImpossibleEvidence:
        return {"posteriors": None, "impossible": True}
    told = [_density(subject, own) if isinstance(own, NumberDistribution) else own.probabilities for own in found]
    return {
        "posteriors": told,
        "shown": [[] if isinstance(own, dict) else shown_states(own) for own in told],
        "impossible": False,
    }


def _density(subject: MixedSubject, own: NumberDistribution) -> dict[str, Any]:
    """Mean, deviation and curve of a number, over where it may lie when nothing is known; no curve of a sure one."""
    low, high = subject.ranges[own.name]
    low, high = min(low, own.mean - 3 * own.std), max(high, own.mean + 3 * own.std)
    is_sure = not (own.variances > 0).all()  # a density has no height where a number is exact
    curve = None if is_sure else own.pdf(np.linspace(low, high, CURVE_PLACES))
    return {"mean": own.mean, "sd": own.std, "low": low, "high": high, "curve": curve}


def _arcs(subject: MixedSubject, asked: Mapping[str, Any]) -> Any:
    """Arcs that carry nothing, as an end of them is known; how much others carry is not told."""
    known, place = _known(subject, asked), set(part_asked(subject.model.dag, asked).nodes)
    closed = known.observed.keys() | known.does.keys()
    told = [
        [parent, child, 0.0]
        for child, parents in enumerate(known.network.dag.parents)
        for parent in parents
        if {parent, child} <= place and {parent, child} & closed
    ]
    return {"arcs": told, "n_left": 0}


def _trail(subject: MixedSubject, asked: Mapping[str, Any]) -> Any:
    known = _known(subject, asked)
    return trail_of(known.network.dag, asked, known)


def _likelihood(subject: MixedSubject, asked: Mapping[str, Any]) -> Any:
    node = node_of(subject.model, asked)
    known = _known(subject, {**asked, **{name: without(asked, name, node) for name in ("observed", "soft")}})
    if node in known.does or node in known.network.core.numbers:
        raise QuestionError(f"{known.network.dag.names[node]!r} is a number or set from outside; release it first")
    states = known.network.core.variable(node).states
    return {"likelihood": dragged(known.distribution(node).probabilities, asked, states)}


def _table(subject: MixedSubject, asked: Mapping[str, Any]) -> Any:
    """Rows of the table of a node; of a number its regressions, one for each configuration of states."""
    network, node = subject.model, node_of(subject.model, asked)
    if node not in network.core.numbers:
        return table_of(network, node, asked)
    parents = network.dag.parents[node]
    discrete = [parent for parent in parents if parent not in network.core.numbers]
    cards = [range(network.core.variable(parent).n_states) for parent in discrete]
    n_rows = int(np.prod([len(card) for card in cards]))
    first = int(number_of(asked, "first", 0, 0, max(0, n_rows - 1)))
    rows = []
    for row, given in enumerate(product(*cards)):
        if first <= row < first + TABLE_ROWS:
            states = {network.dag.names[p]: _value(network, p, code) for p, code in zip(discrete, given, strict=True)}
            law = network.regression(network.dag.names[node], states)
            slopes = [[network.dag.node(name), slope] for name, slope in law.slopes.items()]
            told = {"intercept": law.intercept, "slopes": slopes, "sd": sqrt(law.variance)}
            rows.append({"row": row, "given": given, **told})
    return {"parents": discrete, "rows": rows, "first": first, "n_rows": n_rows, "n_shown": TABLE_ROWS}


def _save(subject: MixedSubject, asked: Mapping[str, Any]) -> Any:
    known, kind = _known(subject, asked), text_of(asked, "as")
    if kind == "evidence":
        return evidence_file(known.network.dag.names, _states(known.network), known)
    if kind == "svg":
        nodes = part_asked(subject.model.dag, asked).nodes
        found = [known.distribution(node) for node in nodes]
        bars = {
            k: (own.mean, own.std) if isinstance(own, NumberDistribution) else own.probabilities
            for k, own in enumerate(found)
        }
        states, marked = _states(known.network), known.observed.keys() | known.does.keys() | known.soft.keys()
        marks = frozenset(k for k, node in enumerate(nodes) if node in marked)
        dag = subgraph(known.network.dag, nodes)
        return file_of("network.svg", to_svg(dag, [states[node] or () for node in nodes], bars, marks).encode())
    if kind != "bayes":
        raise QuestionError(f"there is no format {kind!r} of networks with numbers")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.bayes"
        subject.model.write(path)
        return file_of(path.name, path.read_bytes())


def _read_evidence(subject: MixedSubject, asked: Mapping[str, Any]) -> Any:
    return read_evidence(subject.model.dag.names, _states(subject.model), text_of(asked, "text"))


ANSWERS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "drawing": _drawing,
    "posteriors": _posteriors,
    "arcs": _arcs,
    "trail": _trail,
    "table": _table,
    "likelihood": _likelihood,
    "save": _save,
    "fold": OF_STATES["fold"],
    "read_evidence": _read_evidence,
}
