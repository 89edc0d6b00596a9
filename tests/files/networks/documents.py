"""Documents to test with: the textbook network asia (Lauritzen and Spiegelhalter 1988), and any others."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from bayeswater.files.networks.document import NetworkDocument, NodeDocument, WrittenNoisyMax, WrittenNoisyOr

YES_NO = ("yes", "no")

ASIA = NetworkDocument(
    "asia",
    (
        NodeDocument("asia", YES_NO, (), np.array([0.01, 0.99])),
        NodeDocument("tub", YES_NO, ("asia",), np.array([[0.05, 0.95], [0.01, 0.99]])),
        NodeDocument("smoke", YES_NO, (), np.array([0.5, 0.5])),
        NodeDocument("lung", YES_NO, ("smoke",), np.array([[0.1, 0.9], [0.01, 0.99]])),
        NodeDocument("bronc", YES_NO, ("smoke",), np.array([[0.6, 0.4], [0.3, 0.7]])),
        NodeDocument("either", YES_NO, ("lung", "tub"), np.array([[[1, 0], [1, 0]], [[1, 0], [0, 1]]])),
        NodeDocument("xray", YES_NO, ("either",), np.array([[0.98, 0.02], [0.05, 0.95]])),
        NodeDocument(
            "dysp", YES_NO, ("bronc", "either"), np.array([[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]])
        ),
    ),
)

ODD = [
    "<5",
    "Asy/Patch",
    ">=7.5",
    "12+",
    "a,b",
    "a b",
    "{",
    "}",
    "(",
    ")",
    "[x]",
    ";",
    "|",
    "=",
    ":",
    "//",
    "/*",
    "%",
    '"',
]
ODD += [
    "\\",
    '\\"',
    "property",
    "table",
    "default",
    "node",
    "X_41_",
    "X_",
    "_",
    "0",
    "1e5",
    "é",
    "Größe",
    "\n",
    "\r\n",
    "\t",
    "",
]
ODD += [
    " a",
    "\x00",
    "\x85",
    "\u2028",
    "\ufeff",
    "&amp;",
    "]]>",
    "<!--",
    "中",
    "😀",
    "True",
    "yes",
    "no",
    "x0",
    "network",
]

labels = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
property_names = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,8}\Z").filter(
    lambda name: name not in ("name", "states", "type")
)
property_values = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f\x85\xa0"), max_size=8
)
properties = st.lists(st.tuples(property_names, property_values.map(str.strip)), max_size=2).map(tuple)
weights = st.floats(0.0, 1.0) | st.sampled_from([0.0, 1.0, 5e-324, 1e-300, 0.1, 1 / 3])


@st.composite
def rows(draw: Any, n_rows: int, n_states: int) -> Any:
    """Probabilities with all the digits that float64 has; each row sums to one within rounding."""
    values = np.array(draw(st.lists(weights, min_size=n_rows * n_states, max_size=n_rows * n_states)))
    values = values.reshape(n_rows, n_states)
    values[values.sum(axis=1) == 0, 0] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        shares = values / values.sum(axis=1, keepdims=True)
    # dividing numbers near the smallest that there are loses digits
    bad = ~(np.abs(shares.sum(axis=1) - 1.0) <= 1e-12)
    shares[bad] = np.eye(n_states)[0]
    return shares


@st.composite
def networks(draw: Any, kinds: bool = False, names: Any = labels) -> NetworkDocument:
    """Networks with odd labels, odd numbers and up to five nodes, in an order that is not that of their arcs."""
    node_names = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    sizes = (2, 2) if kinds and draw(st.booleans()) else (1, 4)  # a noisy-OR needs two states everywhere
    some_states = st.lists(labels, min_size=sizes[0], max_size=sizes[1], unique=True).map(tuple)
    states = {name: draw(some_states) for name in node_names}
    nodes = []
    for i, name in enumerate(node_names):
        parents = tuple(draw(st.lists(st.sampled_from(node_names[:i]), unique=True, max_size=3))) if i else ()
        shape = (*(len(states[parent]) for parent in parents), len(states[name]))
        table = draw(rows(int(np.prod(shape[:-1])), shape[-1])).reshape(shape)
        kind, noisy_or, noisy_max = "table", None, None
        wanted = draw(st.sampled_from(["table", "deterministic", "noisy_or", "noisy_max"])) if kinds else "table"
        if wanted == "deterministic":
            kind, table = "deterministic", np.eye(shape[-1])[table.argmax(axis=-1)]
        elif wanted == "noisy_or" and set(shape) == {2}:
            chances = st.floats(0.0, 1.0)
            cause = tuple(draw(st.integers(0, 1)) for _ in parents)
            noisy_or = WrittenNoisyOr(
                draw(st.integers(0, 1)), cause, tuple(draw(chances) for _ in parents), draw(chances)
            )
            kind, table = "noisy_or", noisy_or.table()
        elif wanted == "noisy_max" and shape[-1] != 2:  # of two states it may be a noisy-OR
            ranking = tuple(tuple(draw(st.permutations(range(n)))) for n in shape[:-1])
            noisy_max = WrittenNoisyMax(ranking, tuple(map(tuple, draw(rows(sum(shape[:-1]) + 1, shape[-1])).tolist())))
            kind, table = "noisy_max", noisy_max.table()
        nodes.append(NodeDocument(name, states[name], parents, table, kind, draw(properties), noisy_or, noisy_max))
    return NetworkDocument(draw(labels), tuple(draw(st.permutations(nodes))), draw(properties))
