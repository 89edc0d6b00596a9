"""Pictures of a graph: nothing on top of anything, bars as long as their probabilities, any name, and no chance."""

from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.structure.graphs import ASIA, random_dag

from bayeswater.networks.drawing import to_dot, to_svg
from bayeswater.structure.dag import Dag

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=range(6))
def dag(request) -> Dag:
    rng = np.random.default_rng(request.param)
    return random_dag(25, int(rng.integers(10, 45)), rng)


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
