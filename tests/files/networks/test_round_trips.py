"""A network written and read back is the same network, in every format, label for label and bit for bit."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from tests.files.networks.documents import ASIA, networks

from bayeswater.errors import NetworkFileError
from bayeswater.files.networks import bif, dsc, dsl, formats, hugin_net, uai, xdsl, xmlbif
from bayeswater.files.networks.document import NetworkDocument, NodeDocument, WrittenNoisyOr
from bayeswater.files.networks.formats import FORMATS, read_network, write_network

NAMED = [one for one in FORMATS if one.name != "UAI"]


def by_name(document):
    return {node.name: node for node in document.nodes}


def as_tables(document):
    """What a format without kinds of nodes keeps."""
    return tuple(replace(node, kind="table", noisy_or=None, noisy_max=None) for node in document.nodes)


@settings(max_examples=50)
@given(network=networks(kinds=True))
@example(network=ASIA)
def test_a_network_comes_back_with_every_label_and_every_bit(network):
    for module in (bif, xmlbif, hugin_net, dsc):
        written = module.write(network)
        back = module.read(written.text.encode(), module.__name__)
        assert back.name == network.name
        assert back.nodes == as_tables(network)
        assert back.properties == network.properties
        assert back.notes == ()
        assert any("plain tables" in note for note in written.notes) == any(n.kind != "table" for n in network.nodes)


@pytest.mark.parametrize("module", [xdsl, dsl], ids=["XDSL", "DSL"])
@settings(max_examples=50)
@given(network=networks(kinds=True))
@example(network=ASIA)
def test_the_formats_of_genie_keep_deterministic_and_noisy_nodes_too(module, network):
    written = module.write(network)
    back = module.read(written.text.encode(), "back")
    expected = [
        replace(node, kind="table", noisy_or=None) if node.noisy_or and node.noisy_or.effect == 1 else node
        for node in network.nodes
    ]
    assert by_name(back) == {node.name: node for node in expected}
    assert (back.name, back.properties, back.notes) == (network.name, network.properties, ())
    place = {node.name: i for i, node in enumerate(back.nodes)}
    assert all(place[parent] < place[node.name] for node in back.nodes for parent in node.parents)


@settings(max_examples=20)
@given(network=networks())
@example(network=ASIA)
def test_uai_keeps_the_numbers_and_says_which_names_it_lost(network):
    written = uai.write(network)
    back = uai.read(written.text, "back")
    number = {node.name: f"x{i}" for i, node in enumerate(network.nodes)}
    for node, again in zip(network.nodes, back.nodes, strict=True):
        assert again.name == number[node.name]
        assert again.parents == tuple(number[parent] for parent in node.parents)
        assert np.array_equal(again.table, node.table)
    has_names = any(node.name != number[node.name] for node in network.nodes)
    assert any("no names:" in note for note in written.notes) == has_names
    assert uai.write(back) == (written.text, ())


@pytest.mark.parametrize("text", ["\r\n", " ", "\n\n\n"], ids=["crlf", "one line", "empty lines"])
@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_line_ends_do_not_matter(one, text):
    written = one.write(ASIA).text
    assert one.read(written.replace("\n", text).encode(), "asia").nodes == one.read(written, "asia").nodes


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_a_byte_order_mark_and_a_missing_last_line_end_do_not_matter(one):
    written = one.write(ASIA).text
    for content in (b"\xef\xbb\xbf" + written.encode(), written.rstrip().encode(), written.encode("utf-16")):
        assert one.read(content, "asia").nodes == one.read(written, "asia").nodes


@pytest.mark.parametrize("one", NAMED, ids=lambda one: one.name)
def test_through_two_formats_the_tables_stay_the_same_bits(one):
    for other in NAMED:
        back = other.read(other.write(one.read(one.write(ASIA).text, "a")).text, "b")
        assert by_name(back) == by_name(ASIA)


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_files_are_read_and_written_by_their_suffix(one, tmp_path):
    for suffix in one.suffixes:
        path = tmp_path / f"asia{suffix.upper()}"
        notes = write_network(ASIA, path)
        assert notes == one.write(ASIA).notes
        assert read_network(path) == one.read(path.read_bytes(), str(path))
        packed = tmp_path / f"asia{suffix}.GZ"
        assert write_network(ASIA, packed) == notes
        assert gzip.decompress(packed.read_bytes()) == path.read_bytes()
        assert read_network(packed) == read_network(path)


def test_an_unknown_suffix_is_answered_with_those_that_are_known(tmp_path):
    with pytest.raises(
        NetworkFileError, match=r"'asia\.dne' is not known.*\.bif.*\.xmlbif.*\.xdsl.*\.net.*\.dsc.*\.uai"
    ):
        read_network(tmp_path / "asia.dne")


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "asia.bif"
    write_network(ASIA, path)
    monkeypatch.setattr(formats, "NETWORK_FILE_BYTES", 100)
    with pytest.raises(NetworkFileError, match="over the limit of 100 bytes"):
        read_network(path)


def test_a_compressed_file_is_unpacked_no_further_than_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "bomb.bif.gz"
    path.write_bytes(gzip.compress(b" " * 2**20))
    monkeypatch.setattr(formats, "NETWORK_UNPACKED_BYTES", 2**20)
    with pytest.raises(NetworkFileError, match=r"bomb\.bif\.gz:1:1048577: expected 'network'"):
        read_network(path)
    monkeypatch.setattr(formats, "NETWORK_UNPACKED_BYTES", 2**20 - 1)
    with pytest.raises(NetworkFileError, match=r"bomb\.bif\.gz holds more than 1024 KiB, the limit of a compressed"):
        read_network(path)


def test_a_damaged_compressed_file_is_refused(tmp_path):
    path = tmp_path / "asia.bif.gz"
    write_network(ASIA, path)
    whole = path.read_bytes()
    flipped = whole[:40] + bytes([whole[40] ^ 255]) + whole[41:]
    for content in (whole[:-9], whole[:15], flipped, whole[:-5] + b"12345", b"", b"network asia {}"):
        path.write_bytes(content)
        with pytest.raises(
            NetworkFileError, match=r"asia\.bif\.gz( is not a complete gzip file: .*compress it again|:1:1: )"
        ):
            read_network(path)


def test_documents_are_equal_only_if_all_is():
    (node, *_) = ASIA.nodes
    assert node == replace(node)
    assert hash(node) == hash(replace(node))
    assert node != replace(node, table=np.array([0.01, 0.99 + 1e-16 * 2]))
    assert node != replace(node, kind="deterministic")
    assert node != node.name


def test_half_a_character_is_refused_before_the_file_is_touched(tmp_path: Path):
    node = NodeDocument("\ud800", ("a",), (), np.array([1.0]))
    path = tmp_path / "n.bif"
    with pytest.raises(NetworkFileError, match="half of a character"):
        write_network(NetworkDocument("n", (node,)), path)
    assert not path.exists()
    write_network(NetworkDocument("n", (node,)), tmp_path / "n.xdsl")  # escaped, it is plain ASCII
    assert read_network(tmp_path / "n.xdsl").nodes == (node,)


A = NodeDocument("a", ("0", "1"), (), np.array([0.5, 0.5]))
B = NodeDocument("b", ("0", "1"), ("a",), np.full((2, 2), 0.5))


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ([A, A], "two nodes have the name 'a'"),
        ([replace(A, states=("0", "0"))], "none twice"),
        ([replace(A, states=(), table=np.empty(0))], "at least one"),
        ([B], "each has to be a node"),
        ([A, replace(B, parents=("a", "a"), table=np.full((2, 2, 2), 0.5))], "named once"),
        ([A, replace(B, table=A.table)], r"shape \(2,\); its states need \(2, 2\)"),
        ([replace(A, table=np.array([1.5, -0.5]))], "negative"),
        ([replace(A, table=np.array([np.nan, 1.0]))], "no number"),
        ([replace(A, table=np.array([0.5, 0.5 + 1e-9]))], "differs from one by 1e-09"),
        ([replace(A, parents=("b",), table=B.table), B], "depends on itself: 'a' <- 'b' <- 'a'"),
        ([replace(A, kind="deterministic")], "deterministic"),
        ([replace(A, kind="noisy_or", noisy_or=WrittenNoisyOr(0, (), (), 0.25))], "noisy-OR"),
    ],
)
@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_what_could_not_be_read_is_not_written(one, nodes, problem):
    with pytest.raises(NetworkFileError, match=problem):
        one.write(NetworkDocument("n", tuple(nodes)))


def test_properties_that_a_format_cannot_carry_are_named():
    node = replace(A, properties=(("two words", "x"), ("", "remark"), ("kept", "1")))
    document = NetworkDocument("n", (node,), (("=", "y"),))
    for one in FORMATS:
        written = one.write(document)
        (note,) = [note for note in written.notes if "properties" in note]
        back = one.read(written.text, "n")
        n_left = len(back.properties) + len(back.nodes[0].properties)
        assert note.startswith(f"{4 - n_left} properties that the format cannot carry were dropped: '=' of the network")


@pytest.mark.parametrize(
    ("one", "written"),
    [
        (("position", "(218, 195)"), "property position = (218, 195) ;"),
        (("", "made by hand"), "property made by hand ;"),
        (("", "word"), 'property "word" ;'),
        (("see", "a // b"), 'property "see = a // b" ;'),
        (("says", 'it "is"'), 'property "says = it \\"is\\"" ;'),
        (("two words", "x; y"), 'property "two words = x; y" ;'),
    ],
)
def test_properties_of_bif_stand_bare_where_they_can_as_agrum_reads_no_others(one, written):
    text = bif.write(NetworkDocument("n", (replace(A, properties=(one,)),), (one,))).text
    assert text.count(written) == 2
    again = bif.read(text, "n.bif")
    assert (again.properties, again.nodes[0].properties) == ((one,), (one,))
