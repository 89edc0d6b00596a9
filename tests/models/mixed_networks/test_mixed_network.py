"""Learning networks of states and numbers: sums add and subtract, rows come in pieces, files keep every bit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.mixed_normals import random_core

from bayeswater import (
    BayesError,
    BayesianNetwork,
    BayesWarning,
    DataError,
    LinearGaussian,
    MixedNetwork,
    ModelFileError,
    NetworkFileError,
    ParameterError,
    StatisticsError,
    load,
    save,
)
from bayeswater.models.mixed_networks.mixed_answers import JointMoments
from bayeswater.models.mixed_networks.stored_mixed import described_mixed, restored_mixed


def close(a, b, rtol=1e-9):
    """Whether two networks have the same graph, tables and regressions, but for rounding."""
    assert a.dag == b.dag
    assert a.core.states.variables == b.core.states.variables
    for mine, theirs in zip(a.core.states.tables, b.core.states.tables, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=rtol)
    for node, own in a.core.numbers.items():
        other = b.core.numbers[node]
        np.testing.assert_allclose(own.intercept, other.intercept, rtol=rtol, atol=1e-9)
        np.testing.assert_allclose(own.slopes, other.slopes, rtol=rtol, atol=1e-9)
        np.testing.assert_allclose(own.variance, other.variance, rtol=rtol, atol=1e-12)


def frame_of(seed, n=80):
    network = MixedNetwork.from_core(random_core(seed))
    return network.dag, network.sample(n, random_state=seed).to_pandas().astype(
        {name: str for name in network.names if name not in network.numbers}
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_pieces_merge_and_forget_as_if_all_rows_had_come_at_once(seed):
    dag, frame = frame_of(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)
        whole = MixedNetwork.from_data(dag, frame)
        first, second = MixedNetwork.from_data(dag, frame[:50]), MixedNetwork.from_data(dag, frame[50:])
        close(first.partial_fit(frame[50:]), whole)
        close(first + second, whole)
        close(second + first, whole)
        try:
            rest = whole.forget(frame[50:])
        except StatisticsError as error:  # some tables leave a configuration next to no scatter
            assert "fewer than 8 digits" in str(error)
        else:
            close(rest, first, rtol=1e-6)


def test_regressions_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 60))
    s = rng.integers(2, size=60)
    y = np.where(s == 0, 1 + 2 * x - z, -3 + x) + rng.normal(size=60)
    frame = pd.DataFrame({"s": np.array(["no", "yes"])[s], "x": x, "z": z, "y": y})
    network = MixedNetwork.from_data("s -> y; x -> y; z -> y", frame)
    for k, state in enumerate(["no", "yes"]):
        design = np.column_stack([np.ones(60), x, z])[s == k]
        expected, left, *_ = np.linalg.lstsq(design, y[s == k])
        found = network.regression("y", s=state)
        np.testing.assert_allclose([found.intercept, found.slopes["x"], found.slopes["z"]], expected, rtol=1e-10)
        assert found.variance == pytest.approx(left[0] / ((s == k).sum() - 3))


def test_rows_count_as_often_as_they_weigh():
    dag, frame = frame_of(5)
    weight = np.random.default_rng(0).integers(0, 4, size=len(frame))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)
        weighed = MixedNetwork.from_data(dag, frame, sample_weight=weight)
        close(weighed, MixedNetwork.from_data(dag, frame.loc[frame.index.repeat(weight)]))


@pytest.mark.filterwarnings("ignore::bayeswater.BayesWarning")
def test_rows_of_fractional_weights_are_forgotten_whole():
    rows, weight = pd.DataFrame({"s": list("fffm"), "x": [1.0, 2, 3, 4]}), np.array([0.1, 0.2, 0.3, 3])
    for first, second in ([1], [0, 2]), ([0], [1, 2]), ([2], [1, 0]):
        found = MixedNetwork.from_data("s -> x", rows, sample_weight=weight)
        for part in (first, second):
            found = found.forget(rows.iloc[part], sample_weight=weight[part])
        assert found.states("s") == ("m",)
        assert found.regression("x", s="m").intercept == 4
    rows, weight = pd.DataFrame({"s": list("ffmm"), "x": [1.0, 1, 3, 4]}), np.array([0.1, 0.7, 1, 1])
    found = MixedNetwork.from_data("s -> x", rows, sample_weight=weight)
    for part in ([1], [0]):
        found = found.forget(rows.iloc[part], sample_weight=weight[part])
    close(found, MixedNetwork.from_data("s -> x", rows[2:]))
    with pytest.raises(StatisticsError, match="never counted"):
        found.forget(rows[2:3], sample_weight=[2.1])


def test_rows_of_a_file_are_summed_in_pieces(tmp_path):
    dag, frame = frame_of(7)
    frame = frame.astype({c: str for c in frame if frame[c].dtype == object})
    frame = frame.apply(lambda c: c if c.dtype == float else "s" + c)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)
        whole = MixedNetwork.from_data(dag, frame)
        close(MixedNetwork.from_data(dag, tmp_path / "rows.csv"), whole)
        first = MixedNetwork.from_data(dag, frame[:40], states=dict.fromkeys(()))
        frame[40:].to_csv(tmp_path / "rest.csv", index=False)
        close(first.partial_fit(tmp_path / "rest.csv"), whole)


def test_only_states_gives_the_tables_of_a_bayesian_network():
    frame = pd.DataFrame({"a": list("xxyy"), "b": list("uvvv")})
    assert MixedNetwork.from_data("a -> b", frame).cpt("b").values.tolist() == (
        BayesianNetwork.from_data("a -> b", frame).cpt("b").values.tolist()
    )


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_a_file_keeps_every_bit(tmp_path_factory, seed):
    network = MixedNetwork.from_core(random_core(seed))
    path = tmp_path_factory.mktemp("mixed") / "network.json"
    network.write(path)
    assert MixedNetwork.read(path) == network


def test_a_learned_network_is_equal_to_its_file(tmp_path):
    size = pd.Categorical(list("abab"), categories=list("abc"))
    rows = pd.DataFrame({"s": list("ffmm"), "k": [0, 1, 0, 1], "c": size, "x": [1.0, 2, 3, 4.5], "j": [2, 0, 1, 0]})
    network = MixedNetwork.from_data("s -> x; k; c; j", rows, states={"k": 2, "j": [2, 1, 0]})
    network.write(tmp_path / "network.json")
    assert MixedNetwork.read(tmp_path / "network.json") == network


def test_a_file_that_is_none_is_refused(tmp_path):
    path = tmp_path / "network.json"
    for text in ("{", "[]", '{"format": "bayeswater mixed network", "version": 1, "nodes": [{}]}'):
        path.write_text(text)
        with pytest.raises(NetworkFileError):
            MixedNetwork.read(path)
    with pytest.raises(NetworkFileError, match="ends in"):
        MixedNetwork.read(tmp_path / "network.bif")


def test_samples_have_the_moments_of_the_network():
    network = MixedNetwork.from_core(random_core(11))
    rows = network.sample(40_000, random_state=0).to_pandas()
    joint = network.moments()
    drawn = rows[list(joint.names)]
    error = np.sqrt(np.diag(joint.covariance) / len(rows))
    assert (np.abs(drawn.mean() - joint.mean) < 5 * error).all()
    np.testing.assert_allclose(drawn.cov(), joint.covariance, atol=0.05 * np.diag(joint.covariance).max())


def test_set_from_outside_parents_tell_nothing():
    nodes = {
        "s": [0.4, 0.6],
        "x": {0: LinearGaussian(0), 1: LinearGaussian(5)},
        "y": LinearGaussian(1, {"x": 2}),
    }
    network = MixedNetwork("s -> x -> y", nodes)
    acted = network.do(x=3)
    assert acted.query("s").probabilities.tolist() == [0.4, 0.6]
    assert acted.query("y").mean == 7
    assert acted.query("s", {"y": 0}).probabilities.tolist() == pytest.approx([0.4, 0.6])
    assert network.do(s=1).query("x").mean == 5


def test_em_without_holes_is_the_plain_fit():
    dag, frame = frame_of(3, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)
        close(MixedNetwork.from_data(dag, frame, missing="em"), MixedNetwork.from_data(dag, frame), rtol=1e-8)


def test_em_finds_what_holes_hide():
    nodes = {
        "s": {"a": 0.3, "b": 0.7},
        "x": {"a": LinearGaussian(0), "b": LinearGaussian(4)},
        "y": LinearGaussian(1, {"x": 2}),
    }
    truth = MixedNetwork("s -> x -> y", nodes)
    rows = truth.sample(1500, random_state=1).to_pandas().astype({"s": object})
    rows.loc[rows["y"] > 5, "x"] = np.nan  # which of them is missing tells something: whole rows are no fair sample
    rows.loc[::3, "s"] = None
    found = MixedNetwork.from_data("s -> x -> y", rows, missing="em")
    assert found.regression("y").slopes["x"] == pytest.approx(2, abs=0.15)
    assert found.regression("x", s="b").intercept == pytest.approx(4, abs=0.15)
    assert found.cpt("s").given()["a"] == pytest.approx(0.3, abs=0.04)


def test_em_needs_no_row_that_has_a_whole_family():
    x, y = np.array([1.0, 2.0, 4.0]), np.array([10.0, 13.0, 12.0, 17.0])
    rows = pd.DataFrame({"x": [*x, *[np.nan] * 4], "y": [*[np.nan] * 3, *y]})
    found = MixedNetwork.from_data("x -> y", rows, missing="em")
    assert found.query("x").mean == pytest.approx(x.mean())
    assert found.query("y").mean == pytest.approx(y.mean())
    assert found.regression("y").slopes["x"] == pytest.approx(0, abs=1e-9)
    with pytest.raises(DataError, match="'y' has no number in any row"):
        MixedNetwork.from_data("x -> y", rows[:3], missing="em")


def test_em_finds_groups_that_no_row_names():
    truth = MixedNetwork("s -> x", {"s": [0.3, 0.7], "x": {0: LinearGaussian(0), 1: LinearGaussian(6)}})
    rows = truth.sample(1000, random_state=0).to_pandas().assign(s=None)
    found = MixedNetwork.from_data("s -> x", rows, missing="em", states={"s": ["low", "high"]})
    assert found.cpt("s").given()["low"] == pytest.approx(0.3, abs=0.03)
    assert found.regression("x", s="low").intercept == pytest.approx(0, abs=0.2)
    assert found.regression("x", s="high").intercept == pytest.approx(6, abs=0.2)


def test_each_round_of_em_raises_the_likelihood():
    from bayeswater.learning.mixed_em import _read, expected_sums
    from bayeswater.models.mixed_networks.mixed_rows import rows_of

    core = random_core(4)
    rng = np.random.default_rng(0)
    rows = rows_of(MixedNetwork.from_core(core).sample(30, random_state=0), core)
    rows.values[rng.random(rows.values.shape) < 0.3] = np.nan
    rows.codes[rng.random(rows.codes.shape) < 0.3] = 99
    core, weight, origin, way = random_core(4), np.ones(30), np.zeros(len(core)), []
    pseudo_counts = [np.zeros(card) for card in core.states.cards]
    for _ in range(5):
        sums = expected_sums(core, rows, weight, origin)
        way.append(sums.log_likelihood)
        core = _read(core, sums, pseudo_counts, origin, is_last=False)
    assert (np.diff(way) > -1e-9).all()


def test_degenerate_columns_are_told_of_and_never_give_nan():
    frame = pd.DataFrame({"s": list("aab"), "x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0], "k": [7.0, 7.0, 7.0]})
    with pytest.warns(BayesWarning, match="no variance"):
        network = MixedNetwork.from_data("s -> x; x -> y; k -> y", frame, states={"s": ["a", "b", "c"]})
    with pytest.warns(BayesWarning, match="all rows together"):
        MixedNetwork.from_data("s -> x; x -> y; k -> y", frame, states={"s": ["a", "b", "c"]})
    assert network.regression("y") == LinearGaussian(0.0, {"x": 2.0, "k": 0.0}, 0.0)
    assert network.regression("x", s="b") == LinearGaussian(3.0, {}, 0.0)
    assert network.regression("x", s="c") == LinearGaussian(2.0, {}, 1.0)
    assert network.query("y", {"x": 5}).mean == 10


def test_refusals_say_what_to_do():
    with pytest.raises(ParameterError, match="is a number; such an arc"):
        MixedNetwork.from_data("x -> s", pd.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"]}))
    with pytest.raises(DataError, match="is infinite in row 1"):
        MixedNetwork.from_data("x", pd.DataFrame({"x": [1.0, np.inf]}))
    for unit, what in ((1e160, "overflow: .* divide"), (1e-170, "underflow: .* multiply")):
        with pytest.raises(DataError, match=f"the squares of column 'x' {what}"):
            MixedNetwork.from_data("x", pd.DataFrame({"x": np.array([1.0, 2.0, 5.0]) * unit}))
    with pytest.raises(DataError, match=r"no row has a cell in each of \['x', 'y'\]"):
        MixedNetwork.from_data("x -> y", pd.DataFrame({"x": [1.0, np.nan], "y": [np.nan, 2.0]}))
    network = MixedNetwork("x", {"x": LinearGaussian(0)})
    with pytest.raises(ParameterError, match="no sums"):
        network.partial_fit(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(ParameterError, match="finite"):
        network.query("x", {"x": "a"})
    with pytest.raises(StatisticsError, match="never counted"):
        MixedNetwork.from_data("s", pd.DataFrame({"s": list("ab")})).forget(pd.DataFrame({"s": list("bb")}))
    with pytest.raises(ParameterError, match="no LinearGaussian for s=1"):
        MixedNetwork("s -> x", {"s": [0.5, 0.5], "x": {0: LinearGaussian(0)}})


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_xdsl_keeps_the_network(tmp_path_factory, seed):
    network = MixedNetwork.from_core(random_core(seed))
    path = tmp_path_factory.mktemp("mixed") / "network.xdsl"
    network.write(path)
    found = MixedNetwork.read(path)
    assert set(found.edges) == set(network.edges)
    evidence = {network.numbers[0]: 0.5}
    for name in network.numbers[1:]:
        mine, theirs = network.query(name, evidence), found.query(name, evidence)
        assert (theirs.mean, theirs.variance) == pytest.approx((mine.mean, mine.variance), rel=1e-12)


def test_xdsl_of_others_is_read_where_it_is_linear(tmp_path):
    path = tmp_path / "network.xdsl"
    text = """<smile version="1.0" id="n"><nodes>
<cpt id="s"><state id="no"/><state id="yes"/><probabilities>0.25 0.75</probabilities></cpt>
<equation id="x"><definition lower="-9" upper="9">x=Normal(1,2)</definition></equation>
<equation id="y"><parents>s x</parents><definition>y={}</definition></equation>
</nodes></smile>"""
    path.write_text(text.format('If(s="yes",2*x,x+Normal(0,1))'))
    network = MixedNetwork.read(path)
    assert network.regression("y", s="no") == LinearGaussian(0.0, {"x": 1.0}, 1.0)
    assert network.regression("y", s="yes") == LinearGaussian(0.0, {"x": 2.0}, 0.0)
    assert network.query("y").mean == pytest.approx(0.25 * 1 + 0.75 * 2)
    path.write_text(text.format("Exp(x)"))
    with pytest.raises(NetworkFileError, match="no linear form"):
        MixedNetwork.read(path)
    with pytest.raises(NetworkFileError, match="no identifier"):
        MixedNetwork('"a b"', {"a b": LinearGaussian(0)}).write(path)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_a_model_file_keeps_every_bit_and_goes_on_learning(tmp_path_factory, seed):
    path = tmp_path_factory.mktemp("models") / "network.bayes"
    dag, frame = frame_of(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)
        network = MixedNetwork.from_data(dag, frame[:50], alpha=0.5)
        save(network, path)
        for again in (load(path), MixedNetwork.read(path)):
            assert again == network
            assert again.partial_fit(frame[50:]) == network.partial_fit(frame[50:])


def test_a_model_file_of_given_parameters_has_no_sums(tmp_path):
    network = MixedNetwork("x -> y", {"x": LinearGaussian(1), "y": LinearGaussian(2, {"x": 3.0})})
    network.write(tmp_path / "line.bayes")
    again = MixedNetwork.read(tmp_path / "line.bayes")
    assert again == network
    with pytest.raises(ParameterError, match="no sums"):
        again.partial_fit(pd.DataFrame({"x": [1.0], "y": [2.0]}))
    with pytest.raises(ModelFileError, match="holds a MixedNetwork, and no BayesianNetwork"):
        BayesianNetwork.read(tmp_path / "line.bayes")


@pytest.mark.parametrize("kind", [np.array, pd.Index, list])
def test_states_of_any_list_are_kept_in_a_model_file(tmp_path, kind):
    rows = pd.DataFrame({"sex": list("ffmm"), "height": [160.0, 168, 175, 183]})
    network = MixedNetwork.from_data("sex -> height", rows, states={"sex": kind(["f", "m"])})
    network.write(tmp_path / "network.bayes")
    assert MixedNetwork.read(tmp_path / "network.bayes").partial_fit(rows) == network.partial_fit(rows)


def test_a_model_file_that_was_forged_is_refused(tmp_path):
    dag, frame = frame_of(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)
        network = MixedNetwork.from_data(dag, frame)
        document, arrays = described_mixed(network.core, *network.learned_from)
    number = next(name for name in arrays if name.endswith(".scatter"))
    forged = [
        (document | {"names": document["names"][:-1]}, arrays),
        (document | {"sums": None}, arrays),
        (document | {"states": []}, arrays),
        (document, arrays | {"regressions": arrays["regressions"][:-1]}),
        (document, arrays | {"regressions": -np.abs(arrays["regressions"])}),
        (document, arrays | {number: -arrays[number]}),
        (document, arrays | {"sums.counts.0": -arrays["sums.counts.0"]}),
        (document, arrays | {"sums.else": np.ones(3)}),
    ]
    assert restored_mixed(document, arrays)[0] == network.core
    for own, parts in forged:
        with pytest.raises(BayesError):
            restored_mixed(own, parts)


def test_a_drawing_shows_means_and_marks_what_is_known():
    nodes = {"sex": {"f": 0.5, "m": 0.5}, "height": {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178)}}
    network = MixedNetwork("sex -> height", nodes)
    assert "171.5 ± 7.79" in network.to_svg()
    assert ">165 ± 6<" in network.to_svg({"sex": "f"})
    assert "observed" in network.to_svg({"height": 165}).split("</style>")[1]
    assert "171.5" not in network.to_svg(bars=False)


def test_moments_are_printed_as_a_table():
    printed = repr(JointMoments(("size", "w"), np.array([1.0, -20.5]), np.array([[4.0, 0.25], [0.25, 9.0]])))
    assert printed.splitlines() == [
        "       mean  with size  with w",
        "size      1          4    0.25",
        "w     -20.5       0.25       9",
    ]
