"""The layout keeps its promises on any graph: parents above children, nothing on top of anything, and no chance."""

from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.structure.graphs import ASIA, random_dag

from bayeswater.networks.drawing import to_dot, to_svg
from bayeswater.networks.layout import centres, isotonic, layered, ordered_rows
from bayeswater.structure.dag import Dag

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=range(6))
def dag(request) -> Dag:
    rng = np.random.default_rng(request.param)
    return random_dag(25, int(rng.integers(10, 45)), rng)


def test_every_edge_goes_down_from_one_layer_to_the_next(dag):
    layers = layered(dag)
    place = {vertex: k for k, row in enumerate(layers.rows) for vertex in row}
    assert set(layers.chains) == {(p, c) for c, own in enumerate(dag.parents) for p in own}
    for (parent, child), chain in layers.chains.items():
        assert (chain[0], chain[-1]) == (parent, child)
        assert all(place[b] - place[a] == 1 for a, b in pairwise(chain))
        assert all(vertex >= len(dag) for vertex in chain[1:-1])


def test_a_node_stands_where_its_edges_are_shortest():
    layers = layered(Dag.parse("a -> b -> c -> d; e -> d; e -> f"))
    place = {vertex: k for k, row in enumerate(layers.rows) for vertex in row}
    assert place[4] == place[2]  # e beside c, not beside a


def test_a_variable_with_fifty_children_is_drawn_in_lines_of_a_dozen():
    layers = layered(Dag.from_edges([("class", f"x{j}") for j in range(50)]))
    assert max(sum(v < 51 for v in row) for row in layers.rows) <= 11


def crossings(rows, layers) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        edges = [(upper.index(v), lower.index(w)) for v in upper for w in layers.below[v]]
        total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(edges, 2))
    return total


def test_ordering_loses_no_vertex_and_adds_no_crossing(dag):
    layers = layered(dag)
    rows = ordered_rows(layers)
    assert [sorted(row) for row in rows] == [sorted(row) for row in layers.rows]
    assert crossings(rows, layers) <= crossings(layers.rows, layers)


def test_a_planar_tree_is_drawn_without_a_crossing():
    dag = Dag.from_edges(
        [(f"n{(j - 1) // 2}", f"n{j}") for j in np.random.default_rng(0).permutation(range(1, 31)).tolist()]
    )
    layers = layered(dag)
    assert crossings(ordered_rows(layers), layers) == 0


def test_neighbours_in_a_layer_keep_their_distance(dag):
    layers = layered(dag)
    rows = ordered_rows(layers)
    widths = [10.0 + vertex % 7 for vertex in range(len(layers.above))]
    x = centres(layers, rows, widths, gap=5.0, bend_gap=2.0)
    for row in rows:
        for a, b in pairwise(row):
            gap = 5.0 if max(a, b) < len(dag) else 2.0
            assert x[b] - x[a] >= (widths[a] + widths[b]) / 2 + gap - 1e-9  # rounding of a hundred sums


def test_isotonic_regression_is_that_of_brute_force():
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(0)
    wanted, weight = rng.normal(size=50), rng.uniform(0.1, 2, size=50)
    expected = IsotonicRegression().fit_transform(np.arange(50), wanted, sample_weight=weight)
    assert isotonic(wanted.tolist(), weight.tolist()) == pytest.approx(expected.tolist(), abs=1e-12)


def boxes_of(svg: str) -> list[tuple[float, float, float, float]]:
    root = ElementTree.fromstring(svg)
    found = [r for r in root.iter(f"{SVG}rect") if r.get("class", "").startswith("node")]
    return [tuple(float(r.get(key)) for key in ("x", "y", "width", "height")) for r in found]


def test_no_node_covers_another_and_all_lie_within_the_picture(dag):
    svg = to_svg(dag)
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = boxes_of(svg)
    assert len(boxes) == len(dag)
    for x, y, w, h in boxes:
        assert x >= 0
        assert x + w <= width
        assert y >= 0
        assert y + h <= height
    for (x1, y1, w1, h1), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1


def test_the_same_graph_is_drawn_alike_every_time(dag):
    assert to_svg(dag) == to_svg(Dag(dag.names, dag.parents))


def test_bars_are_as_long_as_their_probabilities():
    dag = Dag.parse("a -> b")
    marginals = {0: np.array([0.25, 0.75]), 1: np.array([1.0, 0.0])}
    svg = to_svg(dag, [("yes", "no"), ("yes", "no")], marginals, frozenset([1]))
    root = ElementTree.fromstring(svg)
    rects = list(root.iter(f"{SVG}rect"))
    track = [float(r.get("width")) for r in rects if r.get("class") == "track"]
    bars = [float(r.get("width")) for r in rects if r.get("class") in ("bar", "observed-bar")]
    # Widths are written to a tenth of a pixel.
    assert [bar / room for bar, room in zip(bars, track, strict=True)] == pytest.approx([0.25, 0.75, 1, 0], abs=0.002)
    assert [r.get("class") for r in rects if r.get("class", "").startswith("node")] == ["node", "node observed"]
    assert [t.text for t in root.iter(f"{SVG}text") if t.get("class") == "p"] == ["25.0", "75.0", "100.0", "0.0"]


def test_of_many_states_the_likeliest_are_shown_and_the_others_counted():
    p = np.arange(1, 13) / 78
    svg = to_svg(Dag.parse("a"), [[f"s{k}" for k in range(12)]], {0: p})
    texts = [t.text for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert "s11" in texts
    assert "s5" in texts
    assert "s4" not in texts
    assert "5 more" in texts


@pytest.mark.parametrize("name", ["a<b & c", "x" * 200, "肺癌", "two\nlines", '"quoted"'])
def test_any_name_makes_a_picture(name):
    root = ElementTree.fromstring(to_svg(Dag.from_edges([(name, "other")])))
    assert len(list(root.iter(f"{SVG}title"))) == 2


@pytest.mark.parametrize("text", ["", "alone", "a; b; c; d; e; f; g; h; i"])
def test_graphs_without_edges_are_drawn_too(text):
    assert len(boxes_of(to_svg(Dag.parse(text)))) == len(Dag.parse(text))


def test_dot_names_every_node_and_edge():
    text = to_dot(Dag.parse(ASIA))
    assert text.count("->") == 8
    assert text.count('";') == 8 + 8
    assert '"say \\"x\\"\\\\"' in to_dot(Dag.from_edges([], ['say "x"\\']))
