"""Variables without a column: EM from several starts, the number of their states, and latent classes."""

import numpy as np
import pandas as pd
import pytest
from tests.networks.nets import joint_by_enumeration

from bayeswater import BayesianNetwork, ParameterError, SchemaError, latent_classes, learn_hidden

TRUE = BayesianNetwork(
    "kind -> a; kind -> b; kind -> c; kind -> d",
    {"kind": [0.5, 0.3, 0.2], **{name: np.full((3, 3), 0.05) + 0.85 * np.eye(3) for name in "abcd"}},
)
ROWS = TRUE.sample(1500, random_state=1).to_pandas().drop(columns="kind")


@pytest.fixture(scope="module")
def found():
    return latent_classes(ROWS, range(1, 6), n_starts=4)


def test_the_number_of_classes_is_that_of_the_truth(found):
    assert found.n_states == {"class": 3}
    assert [one.n_states for one in found.candidates] == [(1,), (2,), (3,), (4,), (5,)]
    assert found.network.query("class").probabilities == pytest.approx([0.5, 0.3, 0.2], abs=0.05)
    for column in "abcd":
        assert np.allclose(found.network.cpt(column).values.max(axis=1), 0.9, atol=0.06)
    assert "class: 3 states" in repr(found)
    assert found.to_frame("pandas").score.idxmax() == 2


def test_likelihood_and_bic_are_those_of_the_rows(found):
    best = found.candidates[2]
    assert best.log_likelihood == pytest.approx(found.network.log_evidence(ROWS).sum())
    joint = joint_by_enumeration(found.network.core)  # class, a, b, c, d
    of_rows = joint.sum(axis=found.network.dag.node("class"))
    assert best.log_likelihood == pytest.approx(np.log(of_rows[tuple(ROWS[name] for name in "abcd")]).sum())
    assert best.n_parameters == 2 + 4 * 3 * 2
    assert best.score == pytest.approx(best.log_likelihood - best.n_parameters / 2 * np.log(len(ROWS)))
    alone = found.candidates[0]
    shares = [ROWS[name].value_counts().sort_index() for name in "abcd"]
    expected = sum((n * np.log((n + 1) / (len(ROWS) + 3))).sum() for n in shares)
    assert alone.log_likelihood == pytest.approx(expected)  # one class: columns on their own, with alpha 1


def test_held_out_rows_choose_the_truth_as_well():
    assert latent_classes(ROWS[:500], range(2, 5), criterion="cv", n_starts=2).n_states == {"class": 3}


def test_starts_that_agree_and_starts_that_cannot():
    sure = latent_classes(ROWS, 3, n_starts=3, random_state=2)
    assert len(sure.starts) == 3
    assert sure.starts == tuple(sorted(sure.starts, reverse=True))
    assert "agree" in sure.verdict or "lower maxima" in sure.verdict
    vague = latent_classes(ROWS[["a", "b"]][:300], 3, n_starts=5, alpha=0)
    assert "the rows do not tell what the hidden variable is" in vague.verdict
    assert "other maxima is not known" in latent_classes(ROWS, 2, n_starts=1).verdict


def test_lower_maxima_are_told():
    found = latent_classes(ROWS[:300], 5, n_starts=8, alpha=0)
    gap = found.starts[0] - found.starts[-1]
    assert gap > 0.03
    assert f"{gap:.3g} below: they end at lower maxima" in found.verdict


def test_a_node_without_a_column_is_hidden_where_its_states_are_known():
    hole = ROWS.assign(kind=pd.Series([None] * len(ROWS), dtype=object))
    one = BayesianNetwork.from_data(TRUE.dag, ROWS, states={"kind": 3}, missing="em")
    other = BayesianNetwork.from_data(TRUE.dag, hole, states={"kind": 3}, missing="em")
    assert one == other
    with pytest.raises(SchemaError, match=r"no column 'kind' for that node.*states={'kind': 3} and missing='em'"):
        BayesianNetwork.from_data(TRUE.dag, ROWS, missing="em")
    with pytest.raises(SchemaError, match="missing='em'"):
        BayesianNetwork.from_data(TRUE.dag, ROWS, states={"kind": 3})


def test_hidden_variables_of_any_graph_with_missing_cells_and_weights():
    rows = ROWS[:400].astype(object).mask(np.random.default_rng(0).random((400, 4)) < 0.1, None)
    codes = dict.fromkeys("abcd", 3)
    fit = learn_hidden("kind -> a; kind -> b; kind -> c; a -> d", rows, {"kind": [2, 3]}, n_starts=2, states=codes)
    assert fit.hidden == ("kind",)
    assert fit.network.parents("d") == ("a",)
    graph, twos = "kind -> a; kind -> b; kind -> c", np.full(200, 2.0)
    twice = learn_hidden(graph, ROWS[:200], {"kind": 2}, n_starts=1, sample_weight=twos)
    again = learn_hidden(graph, pd.concat([ROWS[:200]] * 2), {"kind": 2}, n_starts=1)
    assert twice.starts == pytest.approx(again.starts)


def test_what_cannot_be_is_refused():
    with pytest.raises(ParameterError, match="the number of states of 'kind' is 0"):
        learn_hidden("kind -> a", ROWS, {"kind": 0})
    with pytest.raises(ParameterError, match="criterion is 'aic'"):
        latent_classes(ROWS, 2, criterion="aic")
    with pytest.raises(ParameterError, match="name is 'a', which is the name of a column"):
        latent_classes(ROWS, 2, name="a")
    for hidden in ({}, "kind"):
        with pytest.raises(ParameterError, match=r"names no variable; give {name: number of states}"):
            learn_hidden("kind -> a", ROWS, hidden)
    for seed in (None, -1, np.random.RandomState(0)):
        with pytest.raises(ParameterError, match=r"random_state is .* give a whole number, 0 or more"):
            latent_classes(ROWS, 2, random_state=seed)
    with pytest.raises(ParameterError, match="the weights sum to 1;"):
        latent_classes(ROWS[:50], 2, sample_weight=np.full(50, 0.02))
    with pytest.raises(ParameterError, match="n_starts is 0"):
        latent_classes(ROWS, 2, n_starts=0)


def test_a_column_is_never_taken_for_the_hidden_variable():
    taught = ROWS[:200].assign(**{"class": ROWS["a"][:200]})
    with pytest.raises(ParameterError, match="hidden names 'class', which is a column of X"):
        learn_hidden("class -> a; class -> b; class -> c", taught, {"class": 3})
    chosen = latent_classes(taught, 2, columns=["a", "b", "c"], n_starts=1)
    assert chosen.network == latent_classes(ROWS[["a", "b", "c"]][:200], 2, n_starts=1).network
    with pytest.raises(SchemaError, match="no column 'z'"):
        latent_classes(taught, 2, columns=["a", "z"])


def test_a_state_of_one_row_chooses_nothing_without_smoothing():
    once = ROWS[:60].assign(a=[7, *ROWS["a"][1:60]])
    with pytest.raises(ParameterError, match=r"impossible by the tables of the others.* give an alpha over 0"):
        latent_classes(once, [1, 2], criterion="cv", alpha=0, n_starts=1)
    assert latent_classes(once, [1, 2], criterion="cv", n_starts=1).n_states
