"""What a notebook can end a cell with: HTML that is well-formed, has no script, and shows names as text."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayeswater as bw
from bayeswater.explain.importance import importance

HOSTILE = "<script>alert('&')</script>"
RNG = np.random.default_rng(2)
Y = np.array(["no", HOSTILE])[RNG.integers(0, 2, 80)]
ROWS = pd.DataFrame({HOSTILE: RNG.normal(size=80) + (Y == "no"), "b": RNG.choice(["u", HOSTILE], 80)})
MODEL = bw.NaiveBayes(calibrate=True).fit(ROWS, Y)
NETWORK = bw.BayesianNetwork.from_data(f'"{HOSTILE}" -> c', pd.DataFrame({HOSTILE: ROWS.b, "c": Y}))


@pytest.fixture(scope="module")
def structure():
    return bw.learn_structure(pd.DataFrame({HOSTILE: ROWS.b, "c": Y}))


RESULTS = {
    "columns_": lambda: MODEL.columns_,
    "calibration_": lambda: MODEL.calibration_,
    "report_": lambda: bw.BayesEnsemble(random_state=0).fit(ROWS, Y).report_,
    "explanation": lambda: MODEL.explain(ROWS)[0],
    "three explanations": lambda: MODEL.explain(ROWS[:3]),
    "explanations": lambda: MODEL.explain(ROWS),
    "intervals": lambda: MODEL.credible_interval(ROWS[:12], n_draws=10),
    "next_best": lambda: MODEL.next_best({"b": "u"}),
    "distribution": lambda: NETWORK.query(HOSTILE),
    "joint": lambda: NETWORK.joint([HOSTILE, "c"]),
    "estimated": lambda: NETWORK.query(HOSTILE, method="likelihood_weighting", standard_error=0.05),
    "most probable": lambda: NETWORK.most_probable_explanation({}),
    "row posteriors": lambda: NETWORK.posteriors(pd.DataFrame({"c": Y}), HOSTILE),
    "table": lambda: NETWORK.cpt("c"),
    "graph": lambda: NETWORK.dag,
    "network": lambda: NETWORK,
    "network of numbers": lambda: bw.MixedNetwork.from_data(f'b -> "{HOSTILE}"', ROWS),
    "read_table": lambda: bw.read_table(pa.table({HOSTILE: ["a", None], "c": [1, 2]})),
    "sensitivity": lambda: NETWORK.sensitivity("c", "no", {HOSTILE: "u"}),
    "arc strengths": lambda: NETWORK.arc_strengths(),
    "explanations of a network": lambda: NETWORK.most_probable_explanations(3),
    "conflict": lambda: NETWORK.conflict({HOSTILE: "u", "c": "no"}),
    "junction tree": lambda: NETWORK.junction_tree(),
    "policy": lambda: bw.DecisionNetwork.from_loss(NETWORK, "c", decision=HOSTILE + "!").policy(),
    "worth": lambda: bw.DecisionNetwork.from_loss(NETWORK, "c").value_of_information(),
    "hidden": lambda: bw.latent_classes(pd.DataFrame({HOSTILE: ROWS.b, "c": Y}), 2, name=HOSTILE + "?", n_starts=2),
    "prior": lambda: MODEL.estimate_class_prior(ROWS),
    "look": lambda: bw.look(ROWS),
    "drift": lambda: bw.drift(MODEL, ROWS.assign(b=HOSTILE), Y),
    "audit": lambda: bw.audit(MODEL, ROWS, Y, group="b", positive="no"),
    "importance": lambda: importance(MODEL, ROWS),
    "leave_one_out": lambda: MODEL.leave_one_out([(ROWS, Y)]),
}


def is_well_formed(page):
    ElementTree.fromstring(f"<div>{page}</div>")
    return "<script" not in page


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_html_in_which_names_are_text(name):
    found = RESULTS[name]()
    page = found._repr_html_()
    assert is_well_formed(page)
    if name not in ("calibration_", "report_", "leave_one_out", "prior"):
        assert "&lt;script&gt;" in page
    assert len(str(found)) < 20_000 and len(repr(found)) < 20_000
    if name in ("columns_", "calibration_", "report_", "next_best", "most probable", "look", "drift"):
        assert repr(found) == str(found)  # what a terminal shows of a cell


def test_structures_show_themselves(structure):
    for found in (structure, structure.equivalence_class(), bw.bootstrap_structure(structure.table.to_frame(), n=3)):
        assert is_well_formed(found._repr_html_())
    assert "<svg" in structure._repr_html_()


def test_the_steps_of_a_waterfall_are_those_of_the_sum():
    one = MODEL.explain(ROWS)[0]
    cells = [cell.text for cell in ElementTree.fromstring(f"<div>{one._repr_html_()}</div>").iter("td") if cell.text]
    numbers = [float(cell) for cell in cells if cell[0] in "+-" and cell[1].isdigit()]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.002)  # three decimals each


def test_an_impossible_cell_is_drawn_without_a_warning():
    model = bw.CategoricalNB(alpha=0.0).fit([["a", "x"], ["a", "y"], ["b", "y"]], ["p", "p", "q"])
    for one in model.explain([["a", "y"], ["b", "x"]]):
        assert is_well_formed(one._repr_html_()) and "nan" not in one._repr_html_()


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars"])
def test_frames_are_of_the_library_that_was_given(library):
    polars = pytest.importorskip("polars") if library == "polars" else None
    given = {
        "pandas": lambda: ROWS[["b"]],
        "pyarrow": lambda: pa.table({"b": ROWS.b.tolist()}),
        "polars": lambda: polars.DataFrame({"b": ROWS.b.tolist()}),
    }
    rows = given[library]()
    model = bw.NaiveBayes(calibrate=True).fit(rows, Y)
    one_member = {"aode": 1, "trees-sqrt": 0, "trees-all": 0, "linear": 0}
    ensemble = bw.BayesEnsemble(members=one_member, random_state=0).fit(rows, Y)
    states = {"b": ROWS.b.tolist(), "c": Y.tolist(), "x": ROWS[HOSTILE].tolist()}
    wider = {"pandas": pd.DataFrame, "pyarrow": pa.table, "polars": getattr(polars, "DataFrame", None)}[library](states)
    network = bw.BayesianNetwork.from_data("b -> c", wider)
    mixed = bw.MixedNetwork.from_data("b -> x", wider)
    found = [
        model.columns_,
        model.calibration_,
        bw.Calibrated(bw.NaiveBayes(), "temperature").fit(rows, Y).calibration_,
        bw.NetworkClassifier().fit(rows, Y).columns_,
        bw.NaiveBayes(calibrate=True).fit(rows, Y).partial_fit(rows, Y).calibration_,
        ensemble.columns_,
        ensemble.report_,
        model.explain(rows),
        model.credible_interval(rows, n_draws=5),
        model.next_best({}),
        model.curve("b"),
        network.next_best("c"),
        bw.look(rows),
        bw.drift(model, rows, Y),
        bw.audit(model, rows, Y, group="b", positive="no"),
        importance(model, rows),
        network.posteriors(rows),
        network.query("b"),
        network.query("b", method="likelihood_weighting", standard_error=0.05),
        network.do(b="u").cpt("c"),
        network.cpt("c").given(b="u"),
        network.most_probable_explanation({}),
        network.most_probable_explanations(2),
        network.arc_strengths(),
        network.sensitivity("c", "no"),
        mixed.joint(["b"]),
        mixed.moments(),
        mixed.most_probable_explanation({}),
        bw.learn_structure(wider[["b", "c"]] if library != "pyarrow" else wider.select(["b", "c"])),
        bw.latent_classes(wider[["b", "c"]] if library != "pyarrow" else wider.select(["b", "c"]), 2, n_starts=2),
    ]
    for one in found:
        assert type(one.to_frame()) is type(rows), one
