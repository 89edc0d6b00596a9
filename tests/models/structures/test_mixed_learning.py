"""Learning structures in which numbers stay numbers."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import (
    BayesWarning,
    DataError,
    LinearGaussian,
    MixedNetwork,
    ParameterError,
    bootstrap_structure,
    independence_test,
    learn_structure,
    score_structure,
)

TRUTH = MixedNetwork(
    "sex -> height -> weight; sex -> weight; age",
    {
        "sex": {"f": 0.5, "m": 0.5},
        "height": {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)},
        "weight": {"f": LinearGaussian(-90, {"height": 0.9}, 64), "m": LinearGaussian(-95, {"height": 1.0}, 90)},
        "age": LinearGaussian(40, variance=200),
    },
)


@pytest.fixture(scope="module")
def rows():
    return TRUTH.sample(1500, random_state=0).to_pandas()


@pytest.mark.parametrize("method", ["hill_climb", "tabu", "order", "exact", "pc", "iamb", "mmhc"])
def test_the_graph_is_found(rows, method):
    found = learn_structure(rows, method=method, numbers="gaussian")
    assert {frozenset(arc) for arc in found.graph.edges()} == {frozenset(arc) for arc in TRUTH.edges}
    assert not any(b == "sex" for _, b in found.graph.edges())  # numbers have no children with states
    assert isinstance(found.network, MixedNetwork)
    assert found.network.query("weight", {"sex": "m", "height": 180}).mean == pytest.approx(85, abs=1.5)


def test_the_score_is_that_of_the_graph(rows):
    found = learn_structure(rows, "bic", numbers="gaussian", method="hill_climb")
    assert found.score == pytest.approx(score_structure(found.graph, rows, "bic-cg"), rel=1e-12)
    assert found.score == pytest.approx(sum(score_structure(found, rows, "bic-cg", per_node=True).values()), rel=1e-12)
    assert "bic" in repr(found)
    assert "sex" in found._repr_html_()
    with pytest.raises(ParameterError, match="rows as they are"):
        found.states_of(rows)


def test_numbers_go_into_bins_unless_told(rows):
    assert not isinstance(learn_structure(rows, method="hill_climb").network, MixedNetwork)


def test_knowledge_is_kept(rows):
    found = learn_structure(
        rows, numbers="gaussian", method="tabu", required="age -> weight", forbidden="height -> weight", max_parents=2
    )
    assert ("age", "weight") in found.graph.edges()
    assert ("height", "weight") not in found.graph.edges()
    with pytest.raises(ParameterError, match="is a number and 'sex' has states"):
        learn_structure(rows, numbers="gaussian", required="age -> sex")


def test_numbers_that_are_exact_functions_of_one_another_are_named(rows):
    double = rows.assign(pounds=rows["weight"] / 0.4536 + 3, months=-12 * rows["age"])
    with pytest.warns(BayesWarning, match="'weight', 'pounds'; 'age', 'months'; an arc between them"):
        found = learn_structure(double, numbers="gaussian", method="hill_climb")
    assert found.table.twins == (("weight", "pounds"), ("age", "months"))
    assert "weight = pounds" in repr(found)
    near = rows.assign(pounds=rows["weight"] / 0.4536 + 1e-5 * rows["age"])
    assert learn_structure(near, numbers="gaussian", method="hill_climb").table.twins == ()
    assert learn_structure(rows[["sex"]].assign(same=rows["sex"]), numbers="gaussian").graph.n_edges == 1


def test_the_predictive_likelihood_is_that_of_new_rows(rows):
    old, new = rows[:1000], rows[1000:]
    graph = "sex -> height -> weight; sex -> weight; age"
    network = MixedNetwork.from_data(graph, old, alpha=0)
    expected = network.log_probability(new).sum()
    assert score_structure(graph, old, "pred-loglik-cg", new_rows=new) == pytest.approx(expected)
    assert expected == pytest.approx(network.log_evidence(new).sum(), rel=1e-12)
    with pytest.raises(ParameterError, match="new_rows"):
        score_structure(graph, old, "pred-loglik")


def test_states_given_numbers_are_tested_as_bnlearn_does_or_either_way_alike():
    # bnlearn-port 0.1.0a1, ci_test(..., test="mi-cg"): the order of x and y shows.
    rng = np.random.default_rng(1)
    x, y = rng.integers(2, size=600), rng.integers(3, size=600)
    table = pd.DataFrame({"x": np.array(["a", "b"])[x], "y": np.array(["p", "q", "r"])[y]})
    table["z"] = y + rng.normal(size=600)
    first, second = (independence_test(table, *pair, "z", "mi-cg") for pair in (("x", "y"), ("y", "x")))
    assert (first.statistic, first.degrees_of_freedom) == (pytest.approx(258.26233184292), 2)
    assert (second.statistic, second.p_value) == (pytest.approx(2.00461157766), pytest.approx(0.36703216606))
    either = [independence_test(table, *pair, "z", "lr-cg").statistic for pair in (("x", "y"), ("y", "x"))]
    assert either == pytest.approx([6.5006, 6.5006], abs=1e-4)


def test_tests_of_both_kinds_are_public(rows):
    assert independence_test(rows, "sex", "height", test="mi-cg").p_value < 1e-9
    assert independence_test(rows, "age", "weight", ["sex"], test="mi-cg").p_value > 0.01
    holes = rows.assign(age=rows["age"].mask(rows.index < 500))
    assert independence_test(holes, "age", "sex", test="mi-cg").n_rows == 1000
    shrunk = independence_test(rows, "height", "weight", test="mi-g-sh").statistic
    assert 0 < shrunk < independence_test(rows, "height", "weight", test="mi-g").statistic


def test_what_cannot_be_learned_from_is_refused(rows):
    with pytest.raises(DataError, match="in all rows"):
        learn_structure(rows.assign(one=1.0), numbers="gaussian")
    with pytest.raises(DataError, match="missing"):
        learn_structure(rows.assign(age=np.nan), numbers="gaussian")
    with pytest.raises(ParameterError, match="numbers alone"):
        learn_structure(rows, "bge")
    with pytest.raises(ParameterError, match="it can be 'states'"):
        learn_structure(rows, numbers="normal")
    with pytest.raises(ParameterError, match="take 'lr-cg'"):
        learn_structure(rows, numbers="gaussian", method="pc", test="zf")
    few = pd.DataFrame({"s": list("abcabc"), "x": np.arange(6.0), "y": [1.0, 4.0, 2.0, 8.0, 5.0, 7.0]})
    with pytest.raises(DataError, match="without variance"):
        learn_structure(few, numbers="gaussian", required="s -> y; x -> y")


def test_numbers_that_stay_numbers_are_drawn_anew_with_their_rows():
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b"], 300)
    height = np.where(group == "a", 1.0, 4.0) + rng.normal(size=300)
    frame = pd.DataFrame({"group": group, "height": height, "weight": 2 * height + rng.normal(size=300)})
    found = bootstrap_structure(frame, n=12, numbers="gaussian")
    assert list(found.graph(0.9).edges()) == [("group", "height"), ("height", "weight")]
    assert found.counts[1, 0] == 0  # no arc leads from a number to states
    assert np.array_equal(found.counts, bootstrap_structure(frame, n=12, score="bic-cg").counts)
    by_tests = bootstrap_structure(frame, n=2, numbers="gaussian", method="pc")
    assert by_tests.strength[0, 1] == by_tests.strength[1, 2] == 1.0
    network = found.network(0.9)
    assert network.regression("weight").slopes["height"] == pytest.approx(2.0, abs=0.1)
