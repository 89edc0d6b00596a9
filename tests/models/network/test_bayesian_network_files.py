"""Networks in files: through every format and back, and our own model file against those who would break it."""

import json

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
    load,
    save,
)
from bayeswater.files.model_file import read_model_file, write_model_file
from bayeswater.models.network.files import document_of

FORMATS = ["bif", "xml", "xmlbif", "xdsl", "net", "dsc", "uai"]


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


def test_rows_that_were_normalised_in_reading_are_told(tmp_path):
    text = "network n { }\nvariable a { type discrete [ 3 ] { x, y, z }; }\nprobability ( a ) { table %s; }\n"
    (tmp_path / "drift.bif").write_text(text % "0.3333333, 0.3333333, 0.3333333")
    with pytest.warns(NetworkFileWarning, match=r"drift\.bif: .*normalised"):
        network = BayesianNetwork.read(tmp_path / "drift.bif")
    assert network.cpt("a").values.sum() == pytest.approx(1, abs=1e-15)
    (tmp_path / "wrong.bif").write_text(text % "0.3, 0.3, 0.3")
    with pytest.raises(NetworkFileError, match=r"wrong\.bif:3:"):
        BayesianNetwork.read(tmp_path / "wrong.bif")


def test_files_that_are_not_there_or_of_no_known_format_are_refused(tmp_path):
    with pytest.raises(NetworkFileError, match=r"cannot read the network file .*none\.bif"):
        BayesianNetwork.read(tmp_path / "none.bif")
    with pytest.raises(NetworkFileError, match="cannot write the network file"):
        asia().write(tmp_path / "no" / "folder.bif")
    with pytest.raises(NetworkFileError, match=r"the format of 'net\.txt' cannot be told"):
        asia().write(tmp_path / "net.txt")


def test_labels_that_are_no_texts_are_written_as_text_if_they_stay_distinct(tmp_path):
    network = BayesianNetwork("a", {"a": [0.5, 0.5]})
    network.write(tmp_path / "codes.bif")
    assert BayesianNetwork.read(tmp_path / "codes.bif").states("a") == ("0", "1")
    with pytest.raises(NetworkFileError, match="two states of 'a' are the same as text"):
        BayesianNetwork("a", {"a": [0.5, 0.5]}, states={"a": [1, "1"]}).write(tmp_path / "same.bif")


# ---------------------------------------------------------------------- our own file


@pytest.mark.parametrize("seed", range(3))
def test_a_model_file_brings_the_network_back_bit_for_bit(seed, tmp_path):
    network = BayesianNetwork._of(random_network(8, np.random.default_rng(seed), zeros=True))
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
    with pytest.raises(ModelFileError, match="holds a CategoricalNB, and no network"):
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
