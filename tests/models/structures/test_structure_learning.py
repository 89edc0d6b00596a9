"""`learn_structure`, `score_structure` and `bootstrap_structure` as a user meets them."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.oracles.chained_rows import chained_rows

from bayeswater.data.sources.recognising import local_rows
from bayeswater.errors import BayesWarning, DataError, ParameterError, SchemaError, UnseenCategoryWarning
from bayeswater.families.state_planning import read_columns
from bayeswater.models.structures import state_table
from bayeswater.models.structures.bootstrapping import average_structures, bootstrap_structure
from bayeswater.models.structures.structure_learning import description_length, learn_structure, score_structure
from bayeswater.structure.dag import Dag

FIRST_ROW = np.repeat(np.arange(400) == 0, 4).reshape(400, 4)


def frame(n_rows=400, seed=0):
    codes, _ = chained_rows(n_rows, [2, 3, 2, 2], seed)
    labels = np.array(["no", "yes", "maybe"])
    return pd.DataFrame({name: labels[column] for name, column in zip("abcd", codes, strict=True)})


def test_the_result_tells_graph_score_network_and_way():
    data = frame()
    found = learn_structure(data)
    assert found.score == pytest.approx(score_structure(found.graph, data))
    assert found.network.dag == found.graph
    assert found.network.states("b") == ("maybe", "no", "yes")
    assert "no graph scores higher" in repr(found) and "bic" in repr(found)
    # A family may be counted more than once, so the words do not let both numbers be compared.
    assert f" {found.search.n_families} counts of families" in repr(found)
    assert "forecast   up to 32 different families" in repr(found)
    assert list(found.curve.columns) == ["seconds", "score"]
    assert found.equivalence_class().n_edges == found.graph.n_edges


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas, lambda frame: pl.from_pandas(frame).to_arrow()])
def test_frames_of_all_libraries_give_the_same_graph(library):
    assert learn_structure(library(frame())).graph == learn_structure(frame()).graph


@pytest.mark.parametrize("source", ["path", "pattern", "parts", "rows"])
def test_rows_of_a_source_are_those_of_a_frame(source, tmp_path):
    data = frame()
    data[:150].to_csv(tmp_path / "part-0.csv", index=False)
    data[150:].to_csv(tmp_path / "part-1.csv", index=False)
    data.to_parquet(tmp_path / "all.parquet")
    place = {
        "path": tmp_path / "all.parquet",
        "pattern": str(tmp_path / "part-*.csv"),
        "parts": [data[:150], data[150:]],
        "rows": local_rows(tmp_path / "all.parquet"),
    }[source]
    found = learn_structure(data)
    again = learn_structure(place)
    assert (again.graph, again.score) == (found.graph, found.score)
    assert score_structure(found.graph, place) == found.score
    expected = bootstrap_structure(data, n=3)
    assert (bootstrap_structure(place, n=3).strength == expected.strength).all()
    assert found.states_of(place).to_pandas().astype(str).equals(found.states_of(data).astype(str))


def test_node_scores_add_up_and_the_description_length_is_their_negative():
    data = frame()
    nodes = score_structure("a -> b; c; d", data, "bdeu", per_node=True)
    assert list(nodes) == list("abcd")
    assert sum(nodes.values()) == pytest.approx(score_structure("a -> b; c; d", data, "bdeu"))
    assert description_length("a -> b; c; d", data) == -score_structure("a -> b; c; d", data)


def test_the_nodes_of_a_graph_may_stand_in_any_order():
    data = frame()
    assert score_structure("d -> c; b -> a", data) == score_structure([("b", "a"), ("d", "c")], data)


@pytest.mark.parametrize(
    "times", [1_700_000_000 + np.arange(50) * 60, pd.date_range("2024-01-01", periods=50, freq="s")], ids=["s", "date"]
)
def test_numbers_and_moments_that_are_near_each_other_make_states_of_different_names(times):
    found = learn_structure(pd.DataFrame({"t": times, "b": list("xy") * 25}), discretize="equal_frequency")
    states = found.network.states("t")
    assert len(set(states)) == len(states) == 5


def test_numbers_are_put_into_bins_that_name_their_limits():
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, 500)
    data = pd.DataFrame({"age": age, "old": np.where(age > 45, "yes", "no")})
    found = learn_structure(data)
    assert found.graph.n_edges == 1
    assert len(found.network.states("age")) == 5
    assert found.network.states("age")[0].startswith("under ")


def mixed_frame(n_rows=200, seed=0):
    """Numbers, a moment, a label, small whole numbers and flags."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, n_rows)
    return pd.DataFrame(
        {
            "age": age,
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n_rows), unit="s"),
            "old": np.where(age > 45, "yes", "no"),
            "doors": rng.integers(2, 6, n_rows),
            "flag": rng.random(n_rows) < 0.5,
        }
    )


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas, lambda frame: pl.from_pandas(frame).to_arrow()])
def test_rows_given_again_have_the_states_they_were_learned_with(library):
    data = library(mixed_frame())
    found = learn_structure(data)
    again = found.states_of(data)
    assert type(again) is type(data)
    assert again.equals(found.table.to_frame())
    assert np.isfinite(found.network.log_probability(again)).all()


def test_a_row_alone_has_the_states_it_has_among_others():
    data = mixed_frame()
    found = learn_structure(data)
    for row in (0, 7, 199):
        alone = found.states_of(data.iloc[[row]])
        assert alone.astype(str).values.tolist() == found.table.to_frame().iloc[[row]].astype(str).values.tolist()


def test_a_network_learned_from_numbers_answers_for_new_rows_of_which_a_column_is_not_there():
    found = learn_structure(mixed_frame()[["age", "old"]])
    new = found.states_of(pd.DataFrame({"age": [-3.0, 20.0, 300.0, np.nan]}))
    assert list(new.columns) == ["age"]
    old = found.network.posteriors(new, "old")["old"][:, 1]
    assert old[0] == old[1] < 0.1 < 0.9 < old[2]
    # What is not observed leaves the distribution as it is without evidence.
    assert old[3] == pytest.approx(found.network.query("old")["yes"], rel=1e-12)


def test_a_label_that_was_never_seen_is_a_missing_cell_or_an_error():
    found = learn_structure(frame())
    with pytest.warns(UnseenCategoryWarning, match="column 'a' = 'perhaps' in 1 of 2 rows"):
        states = found.states_of(pd.DataFrame({"a": ["yes", "perhaps"]}))
    assert states["a"].isna().tolist() == [False, True]
    with pytest.raises(DataError, match="column 'a' = 'perhaps'"):
        found.states_of(pd.DataFrame({"a": ["yes", "perhaps"]}), unseen="error")
    with pytest.raises(ParameterError, match="unseen is 'drop'; it can be 'ignore' or 'error'"):
        found.states_of(frame(), unseen="drop")


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (pd.DataFrame({"a": ["yes"], "agee": [1]}), SchemaError, "column 'agee' is none of those that the structure"),
        (np.zeros((2, 4)), DataError, "data is a ndarray; give a frame"),
    ],
)
def test_new_rows_that_do_not_fit_are_refused(data, error, message):
    with pytest.raises(error, match=message):
        learn_structure(frame()).states_of(data)


def test_columns_whose_names_are_no_texts_are_called_by_their_texts():
    data = frame().set_axis([2001, 2002, ("x", 1), "d"], axis=1)
    found = learn_structure(data)
    assert found.graph.names == ("2001", "2002", "('x', 1)", "d")
    assert found.network.posteriors(found.states_of(data[[2001]]), "d")["d"].shape == (400, 2)
    with pytest.raises(SchemaError, match="column name '1' occurs more than once"):
        learn_structure(frame().set_axis([1, "1", "c", "d"], axis=1))


def test_a_weight_is_as_many_rows():
    data = frame(80)
    weight = np.arange(80) % 3
    repeated = data.loc[np.repeat(np.arange(80), weight)]
    assert learn_structure(data, sample_weight=weight).score == pytest.approx(learn_structure(repeated).score)


def test_constant_columns_are_joined_to_nothing():
    data = frame().assign(same="x")
    assert learn_structure(data).graph.markov_blanket(4) == frozenset()


def test_a_column_that_names_the_rows_is_warned_of():
    data = frame(60).assign(row=[f"r{i} " for i in range(60)])
    with pytest.warns(BayesWarning, match="'row'"):
        learn_structure(data)


@pytest.mark.parametrize(
    ("data", "settings", "error", "message"),
    [
        (frame().iloc[:0], {}, DataError, "0 sample"),
        (frame().to_numpy(), {}, DataError, "give a frame"),
        (frame().mask(FIRST_ROW), {"missing": "error"}, DataError, "4 cells are missing, 1 of them in column 'a'"),
        (frame(), {"missing": "drop"}, ParameterError, "missing is 'drop'; it can be 'em' or 'error'"),
        (mixed_frame(), {"discretize": "mdl"}, ParameterError, "'mdl' cuts where the classes .* no class for 'age'"),
        (mixed_frame(), {"columns": {"age": {"bins": "mdl"}}}, ParameterError, "take 'equal_frequency'"),
        (frame(), {"time_limit": 0}, ParameterError, "time_limit is 0"),
        (frame(), {"restarts": -1}, ParameterError, "restarts is -1"),
        (frame(), {"method": "best"}, ParameterError, "choose one of"),
        (frame(), {"method": "pc", "significance": 2}, ParameterError, "significance is 2"),
        (frame(), {"seed": -1}, ParameterError, "seed is -1"),
        (frame(), {"perturb": 0}, ParameterError, "perturb is 0"),
        (frame(), {"tabu_length": 0}, ParameterError, "tabu_length is 0"),
        (frame(), {"test": "t"}, ParameterError, "test is 't'"),
        (frame(), {"sample_weight": np.full(400, 1 / 400)}, ParameterError, "weights sum to 1"),
        (frame(), {"start": "a -> e"}, ParameterError, "no such column"),
        (frame(), {"start": "a -> b", "forbidden": "a -> b"}, ParameterError, "which is forbidden"),
        (frame(), {"required": "a -> b", "forbidden": "a -> b"}, ParameterError, "both required and forbidden"),
    ],
)
def test_bad_input_is_refused_with_what_is_wrong(data, settings, error, message):
    with pytest.raises(error, match=message):
        learn_structure(data, **settings)


def test_a_column_without_a_value_is_left_out_with_a_warning():
    with pytest.warns(BayesWarning, match="'b' is left out"):
        found = learn_structure(frame().assign(b=None))
    assert found.graph.names == ("a", "c", "d")


def test_a_graph_that_does_not_fit_the_columns_is_refused():
    with pytest.raises(ParameterError, match="'d' that is no node"):
        score_structure("a -> b; c", frame())


def test_strong_arcs_are_found_again_and_the_averaged_graph_can_be_fitted():
    found = bootstrap_structure(frame(), n=20)
    assert found.strength[0, 1] == 1.0
    assert (found.direction + found.direction.T)[found.strength > 0] == pytest.approx(1.0)
    rows = found.to_frame()
    assert list(rows.columns) == ["from", "to", "strength", "direction"]
    assert (np.diff(rows["strength"]) <= 0).all()
    assert found.graph(1.0).n_edges == 0
    assert found.network().dag == found.graph()
    assert "20 repetitions" in repr(found)
    widths = [float(width) for width in re.findall(r"stroke-width:([0-9.]+)\"", found.to_svg())]
    strengths = [found.strength[found.graph().node(a), found.graph().node(b)] for a, b in found.graph().edges()]
    assert sorted(widths) == pytest.approx(sorted(4 * np.array(strengths)), abs=0.005)
    assert found.to_svg() in found._repr_html_()
    with pytest.raises(ParameterError, match="threshold is 2"):
        found.graph(2)
    with pytest.raises(ParameterError, match="n is 0"):
        bootstrap_structure(frame(), n=0)
    with pytest.raises(ParameterError, match="method is 'best'"):
        bootstrap_structure(frame(), method="best")


def with_missing_cells(n_rows=600, share=0.15):
    data = frame(n_rows)
    return data.mask(np.random.default_rng(0).random(data.shape) < share)


def test_graphs_of_ones_own_are_averaged_by_their_classes():
    found = average_structures(["a -> c <- b; d", Dag.parse("d; b -> c <- a"), "a -> c -> d; b"], [1, 2, 1])
    a, b, c, d = (found.knowledge.names.index(name) for name in "abcd")
    assert found.strength[[a, b, c], [c, c, d]].tolist() == [1, 0.75, 0.25]
    assert found.direction[[a, b, c], [c, c, d]].tolist() == [0.875, 1, 0.5]
    assert set(found.graph(0.5).edges()) == {("a", "c"), ("b", "c")}
    assert found.threshold == 0.25 and found.to_frame()["from"].to_pylist() == ["a", "b", "c"]
    assert repr(found).startswith("Arcs in 4 graphs; those over 0.25 are significant")
    with pytest.raises(ParameterError, match="no rows to estimate tables from"):
        found.network()


@pytest.mark.parametrize(
    ("graphs", "weights", "message"),
    [
        ([], None, "no graphs to average"),
        (["a -> b", "a -> c"], None, "is in one graph only"),
        (["a -> b"], [1, 2], "for each of the 1 graphs"),
        (["a -> b"], [0], "a number over 0"),
    ],
)
def test_what_is_no_list_of_graphs_is_refused(graphs, weights, message):
    with pytest.raises(ParameterError, match=message):
        average_structures(graphs, weights)


def test_missing_cells_are_filled_in_by_structural_em_and_no_row_is_dropped():
    data = with_missing_cells()
    found = learn_structure(data)
    n_missing = int(data.isna().sum().sum())
    assert f"  missing    {n_missing} cells: structural EM, {len(found.rounds)} round" in repr(found)
    assert found.score == max(found.rounds)
    assert found.graph.names == tuple("abcd")
    known = found.network.log_evidence(data).sum()
    price = 0.5 * np.log(len(data)) * found.network.n_parameters
    assert found.score == pytest.approx(known - price, abs=0.1)  # EM ends within its tolerance
    assert found.curve["score"].to_list() == sorted(found.curve["score"])
    assert learn_structure(data).rounds == found.rounds


def test_with_a_few_missing_cells_the_graph_is_that_of_the_whole_rows():
    assert learn_structure(with_missing_cells(600, 0.02)).equivalence_class() == (
        learn_structure(frame(600)).equivalence_class()
    )


@pytest.mark.parametrize("settings", [{"score": "bdeu"}, {"method": "pc"}, {"method": "tree"}, {"time_limit": 0.2}])
def test_every_search_can_be_made_on_rows_with_missing_cells(settings):
    found = learn_structure(with_missing_cells(200), **settings)
    assert found.scored_by.name == "bic"  # which can be told of what is known
    assert found.network.dag == found.graph


def test_what_is_known_of_arcs_holds_with_missing_cells():
    found = learn_structure(with_missing_cells(300), required="d -> a", forbidden="b <- *", start="c -> d -> a")
    assert ("d", "a") in found.graph.edges()
    assert found.graph.parents[1] == ()


def test_progress_is_told_of_every_round_that_was_better():
    told = []
    found = learn_structure(with_missing_cells(300), progress=lambda *step: told.append(step))
    assert [score for _, score, _ in told] == found.curve["score"].to_list()
    assert told[-1][2] == found.graph.n_edges


@pytest.mark.parametrize("method", ["auto", "order", "hill_climb", "tabu", "pc"])
def test_the_class_that_is_told_keeps_to_what_was_known(method):
    free = learn_structure(frame(), method=method).equivalence_class()
    for a, b in free.undirected():
        for known in ({"forbidden": [(a, b)]}, {"required": [(b, a)]}, {"tiers": [[b], [a]]}):
            told = learn_structure(frame(), method=method, **known).equivalence_class()
            assert (b, a) in set(told.directed())
    assert list(free.undirected())


def test_a_frame_is_read_once(monkeypatch):
    read = []
    monkeypatch.setattr(state_table, "read_columns", lambda *given: read.append(1) or read_columns(*given))
    learn_structure(frame())
    assert len(read) == 1


def test_columns_that_no_rows_can_tell_apart_are_named_as_twins():
    data = frame().assign(same="x", too="y")
    data = data.assign(twin=data["b"].map({"no": "3", "yes": "1", "maybe": "2"}), part=data["b"] == "no")
    found = learn_structure(data)
    assert found.table.twins == (("b", "twin"),)
    assert "  twins      b = twin: the rows cannot tell on which of them others depend" in repr(found)
    swapped = [tuple({"b": "twin", "twin": "b"}.get(name, name) for name in arc) for arc in found.graph.edges()]
    assert score_structure(Dag.from_edges(swapped, nodes=found.graph.names), data) == pytest.approx(found.score)
    assert "twins" not in repr(learn_structure(frame()))


def test_scores_and_repetitions_refuse_missing_cells_and_say_where_they_are():
    data = frame().mask(FIRST_ROW)
    for asked in (lambda: score_structure("a -> b; c; d", data), lambda: bootstrap_structure(data, n=3)):
        with pytest.raises(DataError, match=r"4 cells are missing, 1 of them in column 'a'; .* fill cells in"):
            asked()


def test_a_tabu_search_ends_after_as_many_losing_steps_as_it_is_told():
    rows = frame()
    short, long = (learn_structure(rows, method="tabu", tabu_length=n) for n in (1, 12))
    assert (short.search.stopped, long.search.stopped) == (
        "1 step brought nothing better",
        "12 steps brought nothing better",
    )
    assert short.search.n_steps < long.search.n_steps


@pytest.mark.parametrize(("theirs", "ours"), [("hc", "hill_climb"), ("gs", "grow_shrink"), ("pc.stable", "pc")])
def test_searches_and_tests_are_known_by_their_names_in_bnlearn(theirs, ours):
    named, own = learn_structure(frame(), method=theirs, test="x2"), learn_structure(frame(), method=ours, test="chi2")
    assert named.search.method == ours and named.graph == own.graph


def test_a_climb_among_the_arcs_of_another_search_keeps_to_them():
    found = learn_structure(frame(), method="rsmax2", restrict="iamb")
    near = {frozenset(arc) for arc in learn_structure(frame(), method="iamb").graph.edges()}
    assert found.graph.n_edges and {frozenset(arc) for arc in found.graph.edges()} <= near
    with pytest.raises(ParameterError, match="restrict is 'tree'; choose one of pc, grow_shrink"):
        learn_structure(frame(), method="rsmax2", restrict="tree")
    with pytest.raises(ParameterError, match="maximize is 'exact'"):
        learn_structure(frame(), method="rsmax2", maximize="exact")
    with pytest.raises(ParameterError, match=r"max_given is 1\.5"):
        learn_structure(frame(), method="iamb", max_given=1.5)


def test_what_arcs_are_worth_is_what_the_score_loses_without_them():
    graph, rows = "a -> b -> c <- a", frame()[["a", "b", "c"]]
    worth = score_structure(graph, rows, "bic", per_arc=True)
    assert list(worth) == [("a", "b"), ("b", "c"), ("a", "c")]
    without = score_structure("a -> b; a -> c", rows, "bic")
    assert worth["b", "c"] == pytest.approx(score_structure(graph, rows, "bic") - without)
    with pytest.raises(ParameterError, match="two answers"):
        score_structure(graph, rows, per_arc=True, per_node=True)


def test_a_required_arc_that_leaves_no_variance_is_no_hindrance_to_a_search_that_scores_nothing():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    rows = pd.DataFrame({"s": ["u"] + ["v"] * 59, "x": x, "y": x + rng.normal(size=60)})  # u has one row alone
    for method in ("pc", "iamb", "hpc"):
        found = learn_structure(rows, method=method, required="s -> x", numbers="gaussian")
        assert ("s", "x") in found.graph.edges() and str(found)
    with pytest.raises(DataError, match="leaves a number without variance"):
        learn_structure(rows, required="s -> x", numbers="gaussian")
