"""What the view of a network asks: drawing, posteriors, information, trails, explanations, tables and files.

The information that an arc carries is the mutual information of its two ends given all that is known, in bits: none
where an end is observed.
"""

import json
import warnings
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np

from bayeswater.errors import BayesWarning, ImpossibleEvidence, ResourceLimitError, nearest_names
from bayeswater.explain.importance import mutual_information
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.networks.drawing import MOST_STATES, to_svg
from bayeswater.structure.dag import Dag
from bayeswater.structure.separation import Trail, active_trail, blocked_trail
from bayeswater.typing import Array
from bayeswater.web.network_drawing import Drawn, drawn
from bayeswater.web.network_parts import MANY_NODES, Part, part_asked, start_of, subgraph
from bayeswater.web.network_subjects import NetworkSubject
from bayeswater.web.network_variants import Known, known_of, node_of
from bayeswater.web.plain import QuestionError, as_json, number_of, place_of, text_of, written

ARC_SECONDS = 2.0
"""Time for the information of arcs; those that are left then have none."""

TABLE_ROWS = 64
"""Rows of a table that a page shows at a time."""

FILES = {"bif": "BIF", "xml": "XMLBIF", "xdsl": "XDSL", "dsl": "DSL", "net": "NET", "dsc": "DSC", "uai": "UAI"}
"""Formats that a network is saved in, by the ending of the file; beside our own."""

LARGEST = 1e300
"""Numbers that can be observed."""

SAVING = Lock()
"""One network is saved at a time: what its format cannot hold is told in warnings, which all threads share."""


def _known(subject: NetworkSubject, asked: Mapping[str, Any]) -> Known:
    return known_of(subject.variants, subject.model, asked)


def _part(subject: NetworkSubject, asked: Mapping[str, Any]) -> Part:
    return part_asked(subject.model.dag, asked)


def _drawing(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """Where the nodes stand; with `all`, what all nodes and their states are called, too."""
    return drawing_of(subject, asked, _states(subject.model), {**FILES, "bayes": "Bayeswater"})


def _states(network: BayesianNetwork) -> list[Any]:
    return [network.variables[node].states if network.has_tables else () for node in range(len(network.dag))]


def drawing_of(
    subject: Any, asked: Mapping[str, Any], states: Sequence[Sequence[Any] | None], formats: Mapping[str, str]
) -> dict[str, Any]:
    """Where nodes with these states stand, None for numbers; with `all`, what the page has to know before it asks."""
    dag = subject.model.dag
    part = part_asked(dag, asked)
    found: Drawn = subject.drawings.get(tuple(part.nodes), lambda: drawn(dag, states, part.nodes))
    told = {**found.facts(), "n_all": len(dag), "folds": list(part.folds.items())}
    if asked.get("all"):
        told["names"] = list(dag.names)
        told["states"] = [[written(state) for state in own or ()] for own in states]
        told["numbers"] = [node for node, own in enumerate(states) if own is None]
        told["start"] = start_of(dag) if len(dag) >= MANY_NODES else None
        told["files"] = {"evidence": None, **formats}  # which the page has a word for
    return told


def _posteriors(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """Every posterior, and the states of each node that its card shows."""
    known = _known(subject, asked)
    if not known.network.has_tables:
        return {"posteriors": None, "impossible": False}
    found = known.variant.posteriors(known.likelihoods)
    if found.impossible[0]:
        return {"posteriors": None, "impossible": True}
    posteriors = [found.marginals[node][0] for node in range(len(known.network.dag))]
    return {
        "posteriors": posteriors,
        "shown": [shown_states(p) for p in posteriors],
        "probability": exp(found.log_evidence[0]) if not known.soft else None,
        "impossible": False,
    }


def shown_states(posterior: Array) -> list[int]:
    """All states, or where they are many the likeliest, in their order."""
    if len(posterior) <= MOST_STATES:
        return list(range(len(posterior)))
    return sorted(np.argsort(-posterior, kind="stable")[: MOST_STATES - 1].tolist())


def _arcs(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """Information that each drawn arc carries now, as far as time allows."""
    known, end = _known(subject, asked), monotonic() + ARC_SECONDS
    network, place = known.network, set(_part(subject, asked).nodes)
    evidence, soft, told, n_left = known.evidence, known.soft_evidence, [], 0
    closed = known.observed.keys() | known.does.keys()
    for child, parents in enumerate(network.dag.parents):
        for parent in parents:
            if child not in place or parent not in place:
                continue
            bits: float | None = 0.0 if parent in closed or child in closed else None
            if bits is None and monotonic() < end:
                bits = _information_of_arc(network, parent, child, evidence, soft)
            n_left += bits is None
            told.append([parent, child, bits])
    return {"arcs": told, "n_left": n_left}


def _information_of_arc(
    network: BayesianNetwork, parent: int, child: int, evidence: dict[str, Any], soft: dict[str, Array]
) -> float | None:
    names = [network.names[parent], network.names[child]]
    try:
        joint = network.joint(names, evidence, soft_evidence=soft, method="exact").probabilities
    except (ImpossibleEvidence, ResourceLimitError):
        return None
    prior = joint.sum(axis=1)
    return mutual_information((joint / np.where(prior > 0, prior, 1.0)[:, None]).T, prior)


def _trail(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """The open trail between two nodes given the rest of what is known, or why there is none."""
    known = _known(subject, asked)
    return trail_of(known.network.dag, asked, known)


def trail_of(dag: Dag, asked: Mapping[str, Any], known: Any) -> dict[str, Any]:
    """The open trail between two nodes of a graph, given the keys of what is observed, softly known, and set."""
    start, end = (place_of(asked.get(name), len(dag), name) for name in ("start", "end"))
    if start == end:
        raise QuestionError("a trail has two ends")
    given = frozenset(known.observed.keys() | known.does.keys()) - {start, end}
    # What is softly known is a child of its own that is observed.
    softly = sorted(known.soft.keys() - {start, end})
    n_nodes = len(dag)
    seen = tuple(f"{' ' * k}{dag.names[node]}" for k, node in enumerate(softly, start=_longest(dag)))
    wide = Dag((*dag.names, *seen), (*dag.parents, *((node,) for node in softly)))
    given |= frozenset(range(n_nodes, n_nodes + len(softly)))
    left, right = frozenset([start]), frozenset([end])
    found = active_trail(wide, left, right, given)
    if found is not None:
        return {"open": True, **_told(dag, found), "blocks": []}
    blocked = blocked_trail(wide, left, right, given)
    if blocked is None:
        return {"open": False, "nodes": [], "arrows": [], "blocks": []}
    trail, blocks = blocked
    reasons = [
        {"node": dag.node(one.node), "why": "does" if dag.node(one.node) in known.does else one.reason}
        for one in blocks
    ]
    return {"open": False, **_told(dag, trail), "blocks": reasons}


def _longest(dag: Dag) -> int:
    return 1 + max(map(len, dag.names))


def _told(dag: Dag, trail: Trail) -> dict[str, Any]:
    return {"nodes": [dag.node(name) for name in trail.nodes], "arrows": list(trail.arrows)}


def _explanation(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """States of all variables that are together most probable."""
    known = _known(subject, asked)
    network = known.network
    found = network.most_probable_explanation(known.evidence, soft_evidence=known.soft_evidence)
    total = known.variant.posteriors(known.likelihoods).log_evidence[0]
    codes = [variable.code_of[found[variable.name]] for variable in network.variables]
    return {"states": codes, "probability": exp(min(0.0, found.log_probability - total))}


def _next(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """What to observe next to know more of a target: information in bits, and what it is worth where errors cost 1."""
    known = _known(subject, asked)
    network, target = known.network, node_of(subject.model, asked, "target")
    if target in known.observed or target in known.does:
        return {"questions": [], "entropy": 0.0}
    card = network.core.cards[target]
    own = known.soft.get(target, np.ones(card))
    found = known.variant.posteriors({**known.likelihoods, target: np.eye(card) * own[:, None]}, card)
    if found.impossible.all():
        raise ImpossibleEvidence("the evidence has probability zero; release some of it")
    prior = np.exp(found.log_evidence - found.log_evidence.max())
    prior /= prior.sum()
    asked_for = network.next_best(
        network.names[target],
        known.evidence,
        candidates=[
            name for node, name in enumerate(network.names) if node not in {target, *known.observed, *known.does}
        ],
        soft_evidence=known.soft_evidence,
    )
    questions = []
    for one in asked_for.questions:
        node = network.dag.node(one.column)
        bits = mutual_information(found.marginals[node].T, prior)
        questions.append({"node": node, "bits": bits, "worth": one.value.worth})
    questions.sort(key=lambda one: (-one["bits"], one["node"]))
    positive = prior[prior > 0]
    entropy = float(-(positive * np.log2(positive)).sum())
    return {"questions": questions[:12], "entropy": entropy}


def _table(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """Some rows of the table of a node."""
    return table_of(_known(subject, asked).variant.edited, node_of(subject.model, asked), asked)


def table_of(network: Any, node: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Some rows of the table of a node of a network."""
    table = network.cpt(network.dag.names[node])
    rows = table.values.reshape(-1, table.shape[-1])
    first = int(number_of(asked, "first", 0, 0, max(0, len(rows) - 1)))
    places = range(first, min(first + TABLE_ROWS, len(rows)))
    given = [[int(code) for code in np.unravel_index(place, table.shape[:-1])] for place in places]
    return {
        "parents": list(network.dag.parents[node]),
        "rows": [{"row": first + k, "given": own, "p": rows[first + k]} for k, own in enumerate(given)],
        "first": first,
        "n_rows": len(rows),
        "n_shown": TABLE_ROWS,
    }


def _changed_row(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """The row of a table in which one number is another: the others keep their proportions."""
    network, node = _known(subject, asked).variant.edited, node_of(subject.model, asked)
    table = network.cpt(network.names[node]).values
    rows = table.reshape(-1, table.shape[-1])
    place, code = (
        int(number_of(asked, "row", 0, 0, len(rows) - 1)),
        int(number_of(asked, "state", 0, 0, rows.shape[1] - 1)),
    )
    return {"row": _with_share(rows[place], code, number_of(asked, "value", 0, 0, 1))}


def _with_share(p: Array, code: int, value: float) -> Array:
    """Give one of some probabilities another value; the others keep their proportions.

    >>> _with_share(np.array([0.5, 0.3, 0.2]), 0, 0.0).tolist(), _with_share(np.array([1.0, 0.0]), 0, 0.25).tolist()
    ([0.0, 0.6, 0.4], [0.25, 0.75])
    """
    if len(p) == 1:
        return np.ones(1)
    others = np.delete(p, code)
    rest = others.sum()
    shares = others / rest if rest > 0 else np.full(len(others), 1 / len(others))
    return np.insert(shares * (1 - value), code, value)


def _likelihood(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """Likelihoods that bring the probability of a state to where it was dragged, the others in proportion."""
    node = node_of(subject.model, asked)
    known = _known(subject, {**asked, **{name: without(asked, name, node) for name in ("observed", "soft")}})
    if node in known.does:
        raise QuestionError(f"{subject.model.names[node]!r} is set from outside; release it first")
    found = known.variant.posteriors(known.likelihoods)
    if found.impossible[0]:
        raise ImpossibleEvidence("the evidence has probability zero; release some of it")
    return {"likelihood": dragged(found.marginals[node][0], asked, known.network.variables[node].states)}


def dragged(p: Array, asked: Mapping[str, Any], states: Sequence[Any]) -> Array:
    """Likelihoods that bring one of some probabilities to where it was dragged."""
    code = int(number_of(asked, "state", 0, 0, len(p) - 1))
    value = number_of(asked, "value", 0, 0, 1)
    if (p[code] == 0 and value > 0) or (p[code] == 1 and value < 1):
        state = written(states[code])
        raise QuestionError(f"the probability of {state!r} is {p[code]:g}; no evidence on it alone can change that")
    likelihood = np.ones(len(p))
    if 0 < value < 1:
        odds = log(value) - log(1 - value) - log(p[code]) + log(1 - p[code])
        likelihood[code] = exp(min(0.0, odds))
        likelihood[np.arange(len(p)) != code] = exp(min(0.0, -odds))
    else:
        likelihood = np.where((np.arange(len(p)) == code) == (value == 1), 1.0, 0.0)
    return likelihood


def without(asked: Mapping[str, Any], name: str, node: int) -> Any:
    """What a question takes for known, but for a node."""
    found = asked.get(name) or []
    return (
        [own for own in found if not (isinstance(own, list) and own and own[0] == node)]
        if isinstance(found, list)
        else found
    )


def _fold(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """Which nodes are opened and closed once one of them has been folded or unfolded."""
    return _part(subject, asked).toggled(node_of(subject.model, asked))


def _read_evidence(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """What a saved file of evidence takes for known, as the page says it."""
    network = subject.model
    if not network.has_tables:
        raise QuestionError("the network has no tables, so nothing can be observed in it")
    return read_evidence(network.names, _states(network), text_of(asked, "text"))


def _save(subject: NetworkSubject, asked: Mapping[str, Any]) -> Any:
    """A file: the evidence, a picture, or the network with its changed tables."""
    known, kind = _known(subject, asked), text_of(asked, "as")
    if kind == "evidence":
        return evidence_file(known.network.names, _states(known.network), known)
    if kind == "svg":
        return file_of("network.svg", _picture(subject, known, asked).encode())
    if kind not in FILES and kind != "bayes":
        raise QuestionError(f"there is no format {kind!r}; they are {sorted(FILES)}")
    with SAVING, TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        path = Path(folder) / f"network.{kind}"
        known.variant.edited.write(path)
        content = path.read_bytes()
    notes = [str(one.message).removeprefix(f"{path}: ") for one in told if issubclass(one.category, BayesWarning)]
    return file_of(path.name, content, notes)


def file_of(name: str, content: bytes, notes: list[str] | None = None) -> dict[str, Any]:
    """Give a file to the page."""
    return {"name": name, "content": b64encode(content).decode(), "notes": notes or []}


def _picture(subject: NetworkSubject, known: Known, asked: Mapping[str, Any]) -> str:
    nodes = _part(subject, asked).nodes
    dag = subgraph(known.network.dag, nodes)
    if not known.network.has_tables:
        return to_svg(dag)
    found = known.variant.posteriors(known.likelihoods)
    if found.impossible[0]:
        raise ImpossibleEvidence("the evidence has probability zero; release some of it")
    marked = known.observed.keys() | known.does.keys() | known.soft.keys()
    return to_svg(
        dag,
        [known.network.variables[node].states for node in nodes],
        {k: found.marginals[node][0] for k, node in enumerate(nodes)},
        frozenset(k for k, node in enumerate(nodes) if node in marked),
    )


ANSWERS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "drawing": _drawing,
    "posteriors": _posteriors,
    "arcs": _arcs,
    "trail": _trail,
    "explanation": _explanation,
    "next": _next,
    "table": _table,
    "changed_row": _changed_row,
    "likelihood": _likelihood,
    "save": _save,
    "fold": _fold,
    "read_evidence": _read_evidence,
}


PARTS = {"evidence": "observed", "soft_evidence": "soft", "do": "does"}
"""Parts of a file, and what the page calls them."""


def evidence_file(names: Sequence[str], states: Sequence[Sequence[Any] | None], known: Any) -> dict[str, Any]:
    """Give what is known of nodes with these states, None for numbers, as a file."""

    def facts(own: Mapping[int, Any]) -> dict[str, Any]:
        return {
            names[node]: as_json(value if (of := states[node]) is None else of[value]) for node, value in own.items()
        }

    soft = {
        names[node]: dict(zip(map(written, states[node] or ()), own.tolist(), strict=True))
        for node, own in known.soft.items()
    }
    document = {"evidence": facts(known.observed), "soft_evidence": soft, "do": facts(known.does)}
    return file_of("evidence.json", json.dumps(document, ensure_ascii=False, indent=2).encode())


def read_evidence(names: Sequence[str], states: Sequence[Sequence[Any] | None], text: str) -> dict[str, list[Any]]:
    """Read a file as nodes with codes of states, numbers or likelihoods; what the network does not know is refused."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise QuestionError("the file is no JSON document") from None
    if not isinstance(document, dict) or not document.keys() <= PARTS.keys():
        raise QuestionError(f"a file of evidence is an object with {', '.join(PARTS)}")
    told: dict[str, list[Any]] = {}
    for part, kind in PARTS.items():
        facts = document.get(part) or {}
        if not isinstance(facts, dict):
            raise QuestionError(f"{part} is no object")
        absent = next((name for name in facts if name not in names), None)
        if absent is not None:
            raise QuestionError(f"there is no variable {absent!r}; {nearest_names(absent, names)}")
        nodes = map(names.index, facts)
        told[kind] = [
            [node, _fact(names[node], states[node], fact, is_soft=part == "soft_evidence")]
            for node, fact in zip(nodes, facts.values(), strict=True)
        ]
    return told


def _fact(name: str, states: Sequence[Any] | None, fact: Any, *, is_soft: bool) -> Any:
    """Read a code, a number or likelihoods."""
    if states is None and not is_soft:
        return number_of({name: fact}, name, 0, -LARGEST, LARGEST)
    known = [written(state) for state in states or ()]
    if not is_soft:
        if written(fact) not in known:
            raise QuestionError(f"{name!r} has no state {written(fact)!r}; {nearest_names(written(fact), known)}")
        return known.index(written(fact))
    if not known or not isinstance(fact, dict) or fact.keys() != set(known):
        raise QuestionError(f"the likelihoods of {name!r} are those of its states: {', '.join(known[:10])}")
    return [fact[state] for state in known]
