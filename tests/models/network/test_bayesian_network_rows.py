"""Rows of a network: their probabilities, rows drawn from it, and tables learned from them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chi2
from tests.networks.nets import YES_NO, asia, joint_by_enumeration, random_network

from bayeswater import (
    BayesianNetwork,
    Beta,
    DataError,
    Dirichlet,
    ParameterError,
    SchemaError,
    UnseenCategoryWarning,
    threads,
)
from bayeswater.kernels import compiling


def all_rows(network: BayesianNetwork) -> pd.DataFrame:
    """Every row there can be, the last variable fastest."""
    labels = [network.states(name) for name in network.names]
    return pd.DataFrame(list(product(*labels)), columns=network.names)


def face(seed: int, n: int = 6, **settings) -> BayesianNetwork:
    return BayesianNetwork.from_core(random_network(n, np.random.default_rng(seed), **settings))


@pytest.mark.parametrize("seed", range(5))
def test_the_probability_of_a_row_is_the_product_of_its_tables(seed, kernel):
    network = face(seed, zeros=True)
    joint = joint_by_enumeration(network.core)
    with np.errstate(divide="ignore"):
        expected = np.log(joint.ravel())
    found = network.log_probability(all_rows(network))
    assert np.array_equal(np.isneginf(found), np.isneginf(expected))
    possible = np.isfinite(expected)
    # Six logarithms are added where the oracle takes one of a product.
    assert found[possible] == pytest.approx(expected[possible], rel=1e-14)
    assert np.exp(found).sum() == pytest.approx(1, abs=1e-12)


def test_the_library_of_the_frame_and_the_order_of_its_columns_do_not_matter():
    network = asia()
    rows = all_rows(network)
    expected = network.log_probability(rows)
    shuffled = rows[list(reversed(network.names))]
    for frame in (
        shuffled,
        pl.from_pandas(rows),
        pa.Table.from_pandas(shuffled),
        rows.astype("category"),
        rows.astype(pd.CategoricalDtype(["no", "maybe", "yes"])),
        rows.to_numpy(),
    ):
        assert np.array_equal(network.log_probability(frame), expected)


def test_codes_are_taken_as_they_are_where_states_are_codes():
    network = face(1)
    rows = all_rows(network)
    expected = network.log_probability(rows)
    for kind in (np.uint8, np.int32, np.int64, np.float64):
        assert np.array_equal(network.log_probability(rows.to_numpy().astype(kind)), expected)


def test_a_missing_cell_is_refused_with_the_way_to_go():
    network, rows = asia(), all_rows(asia()).iloc[:4].copy()
    rows.loc[2, "xray"] = None
    with pytest.raises(DataError, match=r"'xray' is missing in row 2 \(1 missing in all\); .* log_evidence"):
        network.log_probability(rows)
    with pytest.raises(DataError, match=r"'bronc' is missing in row 0 \(4 missing in all\)"):
        network.log_probability(rows.drop(columns="bronc"))


def test_a_column_that_is_no_variable_is_refused_with_the_name_that_comes_near():
    rows = all_rows(asia()).rename(columns={"smoke": "smokes"})
    with pytest.raises(SchemaError, match=r"column 'smokes' is no variable of the network \(did you mean 'smoke'"):
        asia().log_probability(rows)


def test_a_label_that_is_no_state_is_refused_or_taken_as_not_observed():
    network, rows = asia(), all_rows(asia()).iloc[:4].copy()
    rows.loc[1, "asia"] = "maybe"
    with pytest.raises(DataError, match=r"'asia' holds 'maybe' in 1 of 4 rows, which is none of its states"):
        network.log_probability(rows)
    with (
        pytest.warns(UnseenCategoryWarning, match="'maybe'"),
        pytest.raises(DataError, match="'asia' is missing in row 1"),
    ):
        network.log_probability(rows, unseen="ignore")
    with pytest.raises(ParameterError, match="unseen is 'drop'"):
        network.log_probability(rows, unseen="drop")


@pytest.mark.parametrize("make", [pd.DataFrame, lambda cells: pd.DataFrame(cells, dtype=float), np.column_stack])
def test_a_negative_number_is_no_code_and_is_refused_or_taken_as_not_observed(make):
    network = BayesianNetwork("a -> b", {"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.125, 0.875]]})
    cells = {"a": [-1, 1, 0], "b": [0, 1, -7]}
    rows = make(cells if make is not np.column_stack else list(cells.values()))
    with pytest.raises(DataError, match=r"column 'a' holds -1(\.0)? in 1 of 3 rows .* none of its states \[0, 1\]"):
        network.posteriors(rows)
    with pytest.warns(UnseenCategoryWarning, match=r"column 'a' = -1(\.0)? in 1 of 3 rows; column 'b' = -7"):
        found = network.log_evidence(rows, unseen="ignore")
    np.testing.assert_allclose(np.exp(found), [0.25 * 0.5 + 0.75 * 0.125, 0.75 * 0.875, 0.25], rtol=1e-14)


@pytest.mark.parametrize("kind", [object, float, int, "category"])
def test_a_frame_without_rows_gives_posteriors_of_none(kind):
    network = BayesianNetwork("a -> b", {"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.125, 0.875]]})
    found = network.posteriors(pd.DataFrame({"a": [], "b": []}, dtype=kind))
    assert {name: table.shape for name, table in found.items()} == {"a": (0, 2), "b": (0, 2)}


def test_states_that_no_column_holds_are_told_by_name_when_rows_are_drawn():
    network = BayesianNetwork("a", {"a": [0.5, 0.5]}, states={"a": [1, "x"]})
    assert network.query("a")["x"] == 0.5
    with pytest.raises(DataError, match=r"the states of 'a' are \[1, 'x'\], of types \['int', 'str'\], and no column"):
        network.sample(3)


def test_numbers_where_states_are_texts_are_refused_with_the_reason():
    network = BayesianNetwork("a", {"a": {"0": 0.5, "1": 0.5}})
    with pytest.raises(DataError, match="its states are texts: convert the column to strings"):
        network.log_probability(pd.DataFrame({"a": [0, 1]}))
    rows = pd.DataFrame({"a": [0, None]})  # which pandas makes 0.0
    with pytest.raises(DataError, match=r"strings, in pandas by (.*)$") as told:
        network.posteriors(rows)
    way = str(told.value).rpartition(" by ")[2]
    assert network.posteriors(pd.DataFrame({"a": eval(f"column{way}", {"column": rows["a"]})})).impossible.sum() == 0


def test_texts_where_states_are_numbers_are_these_and_others_are_refused_with_the_reason():
    network = BayesianNetwork("a", {"a": {5: 0.25, 7: 0.75}})
    assert np.exp(network.log_probability(pd.DataFrame({"a": ["7", "5.0"]}))).tolist() == pytest.approx([0.75, 0.25])
    with pytest.raises(DataError, match=r"8 in 1 of 1 rows.*; correct it"):
        network.log_probability(pd.DataFrame({"a": ["8"]}))
    truths = BayesianNetwork("a", {"a": {True: 0.5, False: 0.5}})
    with pytest.raises(
        DataError, match=r"'True' in 1 of 1 rows.*; its states are no texts: convert the column to their"
    ):
        truths.log_probability(pd.DataFrame({"a": ["True"]}))


def test_rows_are_drawn_as_often_as_they_are_probable(kernel):
    network = face(3, n=4, zeros=True)
    n = 40_000
    rows = network.sample(n, random_state=0).to_pandas()
    joint = joint_by_enumeration(network.core).ravel()
    cell = np.ravel_multi_index([rows[name] for name in network.names], network.core.cards)
    count = np.bincount(cell, minlength=len(joint))
    assert (count[joint == 0] == 0).all()
    expected = n * joint[joint > 0]
    statistic = ((count[joint > 0] - expected) ** 2 / expected)[expected > 5].sum()
    # Exceeded by chance once in a thousand seeds; this one is fixed.
    assert statistic < chi2.ppf(0.999, (expected > 5).sum() - 1)


def test_both_roads_and_any_number_of_threads_draw_the_same_rows(monkeypatch):
    network = asia()
    few = network.sample(1000, random_state=5)
    assert few.equals(network.sample(1000, random_state=5))
    assert not few.equals(network.sample(1000, random_state=6))
    with threads(1):
        alone = network.sample(70_000, random_state=5)
    with threads(2):
        assert network.sample(70_000, random_state=5).equals(alone)
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 10**18)
    assert network.sample(70_000, random_state=5).equals(alone)


def test_drawn_rows_carry_their_domains():
    rows = asia().sample(10, random_state=0)
    assert isinstance(rows, pa.Table)
    assert rows.column_names == list(asia().names)
    assert rows.column("asia").combine_chunks().dictionary.to_pylist() == list(YES_NO)
    assert rows.to_pandas()["asia"].cat.categories.tolist() == list(YES_NO)
    assert pa.types.is_integer(face(1).sample(3).schema.field("v0").type)


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_number_of_rows_is_one_or_more(n):
    with pytest.raises(ParameterError, match="give the number of rows to draw"):
        asia().sample(n)


def test_a_seed_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="random_state is 'x'; give a seed"):
        asia().sample(1, random_state="x")


# ---------------------------------------------------------------------- learning

ROWS = pd.DataFrame(
    {
        "a": ["x", "x", "y", "y", "y", None, "x"],
        "b": ["u", "v", "u", "u", None, "u", "v"],
        "c": [0, 1, 1, 0, 1, 1, 1],
    }
)


def exact_table(alpha: Fraction) -> list[list[Fraction]]:
    """P(b | a) from the rows of which both are there."""
    counts = {("x", "u"): 1, ("x", "v"): 2, ("y", "u"): 2, ("y", "v"): 0}
    totals = {"x": 3, "y": 2}
    return [[(counts[a, b] + alpha) / (totals[a] + 2 * alpha) for b in "uv"] for a in "xy"]


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1), Fraction(1, 2)])
def test_tables_are_posterior_means_of_the_rows_that_have_the_family(alpha):
    network = BayesianNetwork.from_data("a -> b; c", ROWS, alpha=float(alpha))
    assert network.cpt("b").values.tolist() == [[float(p) for p in row] for row in exact_table(alpha)]
    assert network.cpt("a").values.tolist() == [0.5, 0.5]
    c = [(2 + alpha) / (7 + 2 * alpha), (5 + alpha) / (7 + 2 * alpha)]
    assert network.cpt("c").values.tolist() == [float(p) for p in c]
    assert network.states("c") == (0, 1)


def test_an_equivalent_sample_is_spread_evenly_over_a_table():
    network = BayesianNetwork.from_data("a -> b; c", ROWS, equivalent_sample_size=4)
    assert network.cpt("b").values.tolist() == [[float(p) for p in row] for row in exact_table(Fraction(1))]
    assert network.cpt("c").values.tolist() == [4 / 11, 7 / 11]


def test_a_column_has_a_prior_of_its_own():
    columns = {"b": {"prior": Beta({"u": 3, "v": 1})}, "c": {"prior": Dirichlet.m_estimate(3)}}
    network = BayesianNetwork.from_data("a -> b; c", ROWS, alpha=0, columns=columns)
    assert network.cpt("b").values.tolist() == [[4 / 7, 3 / 7], [5 / 6, 1 / 6]]
    assert network.cpt("c").values.tolist() == [3.5 / 10, 6.5 / 10]


def test_a_row_of_parents_that_never_was_is_even_without_smoothing():
    states = {"a": ["x", "y", "z"]}
    network = BayesianNetwork.from_data("a -> b", ROWS, alpha=0, states=states)
    assert network.cpt("b").given(a="z")["u"] == 0.5
    assert network.cpt("a").values.tolist() == [0.5, 0.5, 0.0]


def test_whole_weights_are_repetitions_bit_for_bit_and_rows_of_weight_zero_never_were():
    weight = np.array([2, 0, 1, 3, 1, 1, 0])
    repeated = ROWS.loc[np.repeat(np.arange(7), weight)]
    weighted = BayesianNetwork.from_data("a -> b -> c", ROWS, sample_weight=weight)
    assert weighted == BayesianNetwork.from_data("a -> b -> c", repeated)
    assert weighted.states("b") == ("u",)
    fractions = BayesianNetwork.from_data("a -> b -> c", ROWS, sample_weight=weight / 2, alpha=0.5)
    for one, other in zip(fractions.core.tables, weighted.core.tables, strict=True):
        assert one == pytest.approx(other, rel=1e-15)


def test_declared_categories_are_the_domain():
    declared = ROWS.astype({"a": pd.CategoricalDtype(["y", "x", "z"])})
    assert BayesianNetwork.from_data("a", declared).states("a") == ("y", "x", "z")


def test_the_order_of_rows_and_the_library_do_not_matter():
    network = BayesianNetwork.from_data("a -> b -> c", ROWS)
    assert BayesianNetwork.from_data("a -> b -> c", ROWS.iloc[::-1]) == network
    assert BayesianNetwork.from_data("a -> b -> c", pl.from_pandas(ROWS)) == network


def test_many_rows_bring_the_tables_back():
    network = asia()
    again = network.fit(network.sample(200_000, random_state=0), alpha=1)
    assert again.names == network.names
    assert again.states("asia") == YES_NO
    for one, other in zip(again.core.tables, network.core.tables, strict=True):
        # Rarest parent configuration: about 100 rows of 200,000, so five standard errors are a quarter.
        assert np.abs(one - other).max() < 0.25
    assert np.abs(again.cpt("bronc").values - network.cpt("bronc").values).max() < 0.01


def test_a_graph_takes_the_states_it_was_given_to_the_fit():
    graph = BayesianNetwork("a -> b", states={"a": ["x", "y", "z"]})
    assert graph.fit(ROWS).states("a") == ("x", "y", "z")
    with pytest.raises(DataError, match="'a' holds 'y' in 3 of 7 rows"):
        BayesianNetwork("a", states={"a": ["x"]}).fit(ROWS)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"graph": "a -> d"}, SchemaError, "no column 'd' for that node"),
        ({"alpha": -1}, ParameterError, "alpha"),
        ({"equivalent_sample_size": 0}, ParameterError, "equivalent_sample_size is 0; give a number over 0"),
        ({"states": {"z": [1]}}, ParameterError, "states names 'z', which is no node"),
        ({"columns": {"z": {"prior": Beta(1, 1)}}}, ParameterError, "columns names 'z'"),
        ({"X": ROWS.to_numpy()}, DataError, "without names; give a frame"),
        ({"X": ROWS.assign(a=None)}, DataError, "'a' has no value in any row"),
        ({"sample_weight": [1]}, DataError, "sample_weight"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(settings, error, message):
    settings = {"graph": "a -> b", "X": ROWS, **settings}
    with pytest.raises(error, match=message):
        BayesianNetwork.from_data(settings.pop("graph"), settings.pop("X"), **settings)
