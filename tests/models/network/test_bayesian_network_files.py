"""Networks in files: through every format and back, and our own model file against those who would break it."""

import json
import warnings
from datetime import UTC, date, datetime

import numpy as np
import pytest
from tests.networks.nets import asia, random_network

from bayeswater import (
    BayesianNetwork,
    CategoricalNB,
    Deterministic,
    ModelFileError,
    NetworkFileError,
    NetworkFileWarning,
    NoisyOr,
    ParameterError,
    RoundedTableWarning,
    load,
    save,
)
from bayeswater.files.model_file import read_model_file, write_model_file
from bayeswater.models.network.network_files import document_of

FORMATS = ["bif", "xml", "xmlbif", "xdsl", "dsl", "net", "dsc", "uai", "bif.gz", "xdsl.gz"]


def texts(n: int, seed: int) -> BayesianNetwork:
    """A random network whose states are texts, as those of files are."""
    core = random_network(n, np.random.default_rng(seed), zeros=True)
    tables = dict(zip(core.names, core.tables, strict=True))
    states = {v.name: [f"s{k}" for k in v.states] for v in core.variables}
    return BayesianNetwork(core.dag, tables, states=states)


def same_numbers(one: BayesianNetwork, other: BayesianNetwork) -> bool:
    """Whether both have the same tables, bit for bit, by name."""
    return set(one.names) == set(other.names) and all(
        np.array_equal(one.cpt(name).values, other.cpt(name).values) for name in one.names
    )


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_every_format_brings_every_bit_back(suffix, seed, tmp_path, recwarn):
    network = texts(9, seed)
    network.write(tmp_path / f"net.{suffix}")
    again = BayesianNetwork.read(tmp_path / f"net.{suffix}")
    if suffix == "uai":  # it has numbers only; the nodes keep their order
        assert [table.tolist() for table in again.core.tables] == [table.tolist() for table in network.core.tables]
        assert again.dag.parents == network.dag.parents
        return
    assert same_numbers(network, again)
    assert all(network.states(name) == again.states(name) for name in network.names)
    assert set(network.edges) == set(again.edges)
    told = [str(warning.message) for warning in recwarn]
    assert all("put in an order in which parents come first" in text for text in told)


def test_a_rule_and_a_noisy_or_stay_what_they_are_where_the_format_knows_them(tmp_path):
    states = dict.fromkeys(["flu", "cold", "fever", "bed"], ("yes", "no"))
    network = BayesianNetwork(
        "flu; cold; flu -> fever <- cold; fever -> bed",
        {
            "flu": [0.1, 0.9],
            "cold": [0.2, 0.8],
            "fever": NoisyOr({"flu": 0.75, "cold": 0.25}, leak=0.125),
            "bed": Deterministic({"yes": "yes", "no": "no"}),
        },
        states=states,
    )
    network.write(tmp_path / "net.xdsl")
    again = BayesianNetwork.read(tmp_path / "net.xdsl")
    kinds = {name: type(own) for name, own in zip(again.names, again.core.conditionals, strict=True)}
    assert kinds["fever"] is NoisyOr
    assert kinds["bed"] is Deterministic
    assert same_numbers(network, again)
    network.write(tmp_path / "net.bayes")
    assert BayesianNetwork.read(tmp_path / "net.bayes") == network


@pytest.mark.parametrize("order", [("yes", "no"), ("no", "yes")])
@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.filterwarnings("ignore::bayeswater.errors.NetworkFileWarning")  # what the formats do not know of noisy-ORs
def test_a_noisy_or_of_numbers_that_are_rounded_brings_every_bit_back(suffix, order, tmp_path):
    rule = NoisyOr({"flu": 0.1, "cold": 0.3}, leak=0.01)
    tables = {"flu": [0.1, 0.9], "cold": [0.2, 0.8], "fever": rule}
    network = BayesianNetwork("flu; cold; flu -> fever <- cold", tables, states=dict.fromkeys(tables, order))
    network.write(tmp_path / f"net.{suffix}")
    again = BayesianNetwork.read(tmp_path / f"net.{suffix}")
    assert [table.tolist() for table in again.core.tables] == [table.tolist() for table in network.core.tables]
    node = document_of(network.core, "", {}).nodes[2]  # files write a noisy-OR out on their own
    assert node.noisy_or.table().tolist() == node.table.tolist()


def test_a_noisy_or_that_no_format_knows_is_written_out(tmp_path):
    states = {"cold": ["none", "light", "heavy"], "fever": ["no", "yes"]}
    rule = NoisyOr({"cold": {"light": 0.25, "heavy": 0.5}})
    network = BayesianNetwork("cold -> fever", {"cold": [0.5, 0.25, 0.25], "fever": rule}, states=states)
    network.write(tmp_path / "net.xdsl")
    assert same_numbers(network, BayesianNetwork.read(tmp_path / "net.xdsl"))


def test_remarks_and_the_title_stay_with_the_network(tmp_path):
    text = 'network heart { property author = "me" ; }\nvariable a { type discrete [ 2 ] { x, y }; property p = q ; }\n'
    (tmp_path / "one.bif").write_text(text + "probability ( a ) { table 0.25, 0.75; }\n")
    network = BayesianNetwork.read(tmp_path / "one.bif")
    assert network.title == "heart"
    assert set(network.remarks) == {"", "a"}
    network.with_cpt("a", [0.5, 0.5]).write(tmp_path / "two.bif")
    again = BayesianNetwork.read(tmp_path / "two.bif")
    assert (again.title, again.remarks) == (network.title, network.remarks)
    network.write(tmp_path / "one.bayes")
    again = BayesianNetwork.read(tmp_path / "one.bayes")
    assert (again.title, again.remarks, again) == (network.title, network.remarks, network)


def test_a_network_without_a_title_is_not_called_by_a_keyword_of_bif(tmp_path):
    texts(3, 0).write(tmp_path / "net.bif")  # aGrUM reads no "network network"
    assert (tmp_path / "net.bif").read_text().startswith("network unknown {")
    assert BayesianNetwork.read(tmp_path / "net.bif").title == ""


def test_a_title_that_nobody_gave_is_not_told_to_be_dropped(tmp_path):
    with pytest.warns(NetworkFileWarning) as told:
        texts(3, 0).write(tmp_path / "net.uai")
    assert "no name for the network" not in str(told[0].message)


def test_a_file_that_is_cut_off_behind_its_header_is_no_network(tmp_path):
    for name, text in {"n.bif": "network n {\n}\n", "n.net": 'net\n{\n  name = "n";\n}\n'}.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(NetworkFileError, match=rf"{name} declares no variable; it may have been cut off"):
            BayesianNetwork.read(tmp_path / name)


def test_rows_that_were_normalised_in_reading_are_told(tmp_path):
    text = "network n { }\nvariable a { type discrete [ 3 ] { x, y, z }; }\nprobability ( a ) { table %s; }\n"
    (tmp_path / "drift.bif").write_text(text % "0.3333333, 0.3333333, 0.3333333")
    with pytest.warns(NetworkFileWarning, match=r"drift\.bif: .*normalised"):
        network = BayesianNetwork.read(tmp_path / "drift.bif")
    assert network.cpt("a").values.sum() == pytest.approx(1, abs=1e-15)
    (tmp_path / "wrong.bif").write_text(text % "0.3, 0.3, 0.3")
    with pytest.raises(NetworkFileError, match=r"wrong\.bif:3:"):
        BayesianNetwork.read(tmp_path / "wrong.bif")


def test_thirds_of_six_digits_are_a_millionth_off_and_no_more(tmp_path):
    text = "network n { }\nvariable a { type discrete [ 3 ] { x, y, z }; }\nprobability ( a ) { table %s; }\n"
    (tmp_path / "thirds.bif").write_text(text % "0.333333, 0.333333, 0.333333")
    with pytest.warns(NetworkFileWarning, match="the largest difference is 1e-06"):
        network = BayesianNetwork.read(tmp_path / "thirds.bif")
    assert network.cpt("a").values.tolist() == [1 / 3] * 3
    (tmp_path / "more.bif").write_text(text % "0.333333, 0.333333, 0.3333329")
    with pytest.raises(NetworkFileError, match=r"sums to 0\.9999989"):
        BayesianNetwork.read(tmp_path / "more.bif", tolerance=1e-6)


def test_what_was_changed_in_reading_is_told_once_for_each_file(tmp_path):
    text = "network n { }\nvariable a { type discrete [ 2 ] { x, y }; }\nprobability ( a ) { table %s; }\n"
    for name, numbers in (
        ("rounded.bif", "0.3333333, 0.6666666"),
        ("off.bif", "0.333, 0.666"),
        ("two.bif", "0.3, 0.699"),
    ):
        (tmp_path / name).write_text(text % numbers)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            networks = [BayesianNetwork.read(tmp_path / name) for _ in range(3)]
        (warning,) = told
        assert issubclass(warning.category, RoundedTableWarning) == (name == "rounded.bif")
        assert str(warning.message).startswith(f"{tmp_path / name}: 1 rows of 1 tables ('a') did not sum to one")
        assert networks[0] == networks[2]
        (tmp_path / name).write_text(text % "0.3331, 0.666")  # another file in its place is told of again
        with pytest.warns(NetworkFileWarning, match=r"the largest difference is 0\.0009"):
            BayesianNetwork.read(tmp_path / name)


@pytest.mark.parametrize("tolerance", [-1e-9, float("nan"), "0.1"])
def test_a_tolerance_that_is_no_number_from_zero_on_is_refused(tolerance, tmp_path):
    asia().write(tmp_path / "asia.xdsl")
    with pytest.raises(ParameterError, match=r"tolerance is .*; give a number from 0 on"):
        BayesianNetwork.read(tmp_path / "asia.xdsl", tolerance=tolerance)


def test_files_that_are_not_there_or_of_no_known_format_are_refused(tmp_path):
    with pytest.raises(NetworkFileError, match=r"cannot read the network file .*none\.bif"):
        BayesianNetwork.read(tmp_path / "none.bif")
    with pytest.raises(NetworkFileError, match="cannot write the network file"):
        asia().write(tmp_path / "no" / "folder.bif")
    with pytest.raises(NetworkFileError, match=r"the format of 'net\.txt' is not known"):
        asia().write(tmp_path / "net.txt")


LABELS = {
    "codes": range(2),
    "years": [2019, -5],
    "doses": [0.1, 1e-300],
    "flags": [False, True],
    "days": [date(2020, 2, 29), date(2021, 1, 1)],
    "moments": [datetime(2020, 2, 29, 12, 30, 0, 5), datetime(2021, 1, 1, tzinfo=UTC)],
    "texts": ["0", "1"],
}


@pytest.mark.parametrize("suffix", [suffix for suffix in FORMATS if suffix != "uai"])
@pytest.mark.parametrize("kind", LABELS)
def test_states_come_back_as_the_numbers_flags_or_dates_they_were(kind, suffix, tmp_path):
    network = BayesianNetwork(
        "a -> b", {"a": [0.5, 0.5], "b": [[0.1, 0.9], [0.2, 0.8]]}, states=dict.fromkeys("ab", LABELS[kind])
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*were written escaped")  # XDSL has identifiers alone
        network.write(tmp_path / f"net.{suffix}")
    again = BayesianNetwork.read(tmp_path / f"net.{suffix}")
    assert again == network
    assert [type(state) for state in again.states("a")] == [type(state) for state in network.states("a")]
    assert again.remarks == {}


@pytest.mark.parametrize("labels", [np.array([3, 4]), np.array([0.1, 1e300]), np.array([True, False])])
def test_labels_of_numpy_in_a_list_come_back_as_the_numbers_and_flags_they_are(labels, tmp_path):
    network = BayesianNetwork("a", {"a": [0.5, 0.5]}, states={"a": list(labels)})
    network.write(tmp_path / "net.bif")  # warnings are errors
    assert BayesianNetwork.read(tmp_path / "net.bif").states("a") == tuple(labels.tolist())


def test_a_noisy_or_of_flags_comes_back_with_its_flags(tmp_path):
    states = dict.fromkeys(["flu", "fever"], (True, False))
    rule = NoisyOr({"flu": {True: 0.75}}, leak=0.125, present=True)
    network = BayesianNetwork("flu -> fever", {"flu": [0.1, 0.9], "fever": rule}, states=states)
    network.write(tmp_path / "net.xdsl")
    again = BayesianNetwork.read(tmp_path / "net.xdsl")
    assert again.core.conditionals[1].present is True
    assert again == network


def test_a_format_without_properties_says_that_the_kind_of_states_is_dropped(tmp_path):
    network = BayesianNetwork("a", {"a": [0.5, 0.5]}, states={"a": [2019, 2020]})
    with pytest.warns(NetworkFileWarning, match="dropped: 'bayeswater_states' of 'a'"):
        network.write(tmp_path / "net.uai")


def test_states_of_several_types_become_texts_and_that_is_told(tmp_path):
    network = BayesianNetwork("a", {"a": [0.5, 0.25, 0.25]}, states={"a": [1.5, False, "x"]})
    with pytest.warns(NetworkFileWarning, match="became texts: those of 'a'"):
        network.write(tmp_path / "net.bif")
    assert BayesianNetwork.read(tmp_path / "net.bif").states("a") == ("1.5", "False", "x")
    with pytest.raises(NetworkFileError, match="two states of 'a' are the same as text"):
        BayesianNetwork("a", {"a": [0.5, 0.5]}, states={"a": [1, "1"]}).write(tmp_path / "same.bif")


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        ("int", "007, 8"),
        ("int", "9" * 5000 + ", 8"),
        ("int", "9" * 4000 + ", 8"),  # which can be read, but a file full of such numbers would take minutes
        ("float", "nan, 1.0"),
        ("float", "0.0, -0.0"),
        ("datetime", '"2020-01-01 00:00:00+00:00", "2020-01-01 01:00:00+01:00"'),
        ("bool", "true, false"),
        ("tuple", "a, b"),
    ],
)
def test_texts_that_are_no_states_of_their_kind_stay_texts_and_that_is_told(kind, states, tmp_path):
    (tmp_path / "net.bif").write_text(
        f"network n {{ }} variable a {{ type discrete [ 2 ] {{ {states} }}; property bayeswater_states = {kind} ; }}\n"
        "probability ( a ) { table 0.5, 0.5; }"
    )
    with pytest.warns(NetworkFileWarning, match="were read as texts: those of 'a'"):
        network = BayesianNetwork.read(tmp_path / "net.bif")
    assert network.states("a") == tuple(state.strip('"') for state in states.split(", "))


# ---------------------------------------------------------------------- our own file


@pytest.mark.parametrize("seed", range(3))
def test_a_model_file_brings_the_network_back_bit_for_bit(seed, tmp_path):
    network = BayesianNetwork.from_core(random_network(8, np.random.default_rng(seed), zeros=True))
    save(network, tmp_path / "net.bayes")
    again = load(tmp_path / "net.bayes")
    assert again == network
    assert again.variables == network.variables
    assert same_numbers(network, again)


def test_labels_of_any_type_and_rules_come_back(tmp_path):
    for network in (asia(), BayesianNetwork("a", {"a": [0.5, 0.25, 0.25]}, states={"a": [1.5, False, "x"]})):
        network.write(tmp_path / "net.bayes")
        assert BayesianNetwork.read(tmp_path / "net.bayes") == network


def test_a_network_without_tables_is_not_saved(tmp_path):
    with pytest.raises((ModelFileError, ParameterError), match="has a graph and no tables"):
        save(BayesianNetwork("a -> b"), tmp_path / "net.bayes")


def test_a_classifier_is_no_network(tmp_path):
    save(CategoricalNB().fit([["x"], ["y"]], [0, 1]), tmp_path / "model.bayes")
    with pytest.raises(ModelFileError, match="holds a CategoricalNB, and no BayesianNetwork"):
        BayesianNetwork.read(tmp_path / "model.bayes")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parents", [[], [0], [1], [], []]),
        ("parents", [[], [9], [1, 3], [4], [], [4], [5, 2], [2]]),
        ("parents", [[1], [0], [1, 3], [4], [], [4], [5, 2], [2]]),
        ("parents", [[], ["0"], [1, 3], [4], [], [4], [5, 2], [2]]),
        ("parents", "none"),
        ("variables", []),
        ("variables", 7),
        ("conditionals", ["table"]),
        ("conditionals", ["rule"] * 8),
        ("conditionals", ["table"] * 8),
        ("conditionals", [{"tuple": [1, 2]}] * 8),
        ("conditionals", [{"list": []}] * 8),
        ("title", 5),
        ("remarks", []),
        ("remarks", {"a": [["x"]]}),
        ("remarks", {"a": 5}),
        ("kind", "Network"),
    ],
)
def test_a_file_that_says_something_else_is_refused(field, value, tmp_path):
    path = tmp_path / "net.bayes"
    save(asia(), path)
    document, arrays = read_model_file(path)
    write_model_file(path, {**document, field: value}, arrays)
    with pytest.raises(ModelFileError, match=r"net\.bayes"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda tables: tables[:-1],
        lambda tables: np.append(tables, 0.0),
        lambda tables: -tables,
        lambda tables: tables * 2,
        lambda tables: tables * np.nan,
        lambda tables: tables.reshape(-1, 1),
        lambda tables: tables.astype(np.int64),
    ],
)
def test_a_file_with_other_numbers_is_refused(change, tmp_path):
    path = tmp_path / "net.bayes"
    save(asia(), path)
    document, arrays = read_model_file(path)
    write_model_file(path, document, {**arrays, "tables": change(arrays["tables"])})
    with pytest.raises(ModelFileError):
        load(path)


def test_the_document_is_plain_json(tmp_path):
    save(asia(), tmp_path / "net.bayes")
    document, _ = read_model_file(tmp_path / "net.bayes")
    assert json.loads(json.dumps(document)) == document
    assert document["kind"] == "BayesianNetwork"
