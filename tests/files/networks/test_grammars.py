"""BIF and NET against grammars of lark: the same files are taken, and they mean the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import LarkError
from tests.files.networks.bad_files import GOOD
from tests.files.networks.documents import ASIA, networks
from tests.files.networks.grammars import BIF, NET, meaning_of_bif, meaning_of_net, parser
from tests.files.networks.mutations import mutated

from bayeswater.errors import NetworkFileError
from bayeswater.files.networks import bif, hugin_net
from bayeswater.files.networks.names import is_identifier

LANGUAGES = {"BIF": (bif, meaning_of_bif), "NET": (hugin_net, meaning_of_net)}
ROWS = """
network n {} variable a { type discrete [2] { no "yes" }; } variable "b c" { type discrete [3] { x, y, z }; }
variable d { type discrete [2] { 0 1 }; }
probability ( a ) { table .25 0.75; }
probability ( "b c" a ) { table 0.1, 0.3, 0.2, 0.3, 0.7, 0.4; }
probability ( d | "b c", a ) { default 0.5, 0.5; (z, yes) 1, 0; ("x" no) 0 1.0e0; }
"""


def assert_same_meaning(network, meaning):
    assert {node.name for node in network.nodes} == set(meaning)
    for node in network.nodes:
        states, parents, table = meaning[node.name]
        assert (node.states, node.parents) == (states, parents)
        assert np.array_equal(node.table, table)


@pytest.mark.parametrize("text", [GOOD["BIF"], ROWS, bif.write(ASIA).text])
def test_bif_means_what_the_grammar_says(text):
    assert_same_meaning(bif.read(text, "n.bif"), meaning_of_bif(text))


@pytest.mark.parametrize("text", [GOOD["NET"], hugin_net.write(ASIA).text])
def test_net_means_what_the_grammar_says(text):
    assert_same_meaning(hugin_net.read(text, "n.net"), meaning_of_net(text))


@settings(max_examples=12)
@given(network=networks())
def test_what_is_written_as_bif_means_the_same_to_another_parser(network):
    assert_same_meaning(network, meaning_of_bif(bif.write(network).text))


@settings(max_examples=12)
@given(network=networks(names=st.from_regex(r"\A[a-z][a-z0-9_]{0,5}\Z")))
def test_what_is_written_as_net_means_the_same_to_another_parser(network):
    assert all(is_identifier(node.name) for node in network.nodes)
    assert_same_meaning(network, meaning_of_net(hugin_net.write(network).text))


@pytest.mark.parametrize("name", LANGUAGES)
@settings(max_examples=50)
@given(data=st.data())
def test_a_file_that_the_grammar_refuses_is_refused(name, data):
    module, meaning_of = LANGUAGES[name]
    text = data.draw(mutated(GOOD[name]))
    try:
        network = module.read(text, "n")
    except NetworkFileError:
        return
    try:
        meaning = meaning_of(text)
    except LarkError as error:
        raise AssertionError(f"taken, and refused by the grammar: {error}") from None
    if not network.notes:
        assert_same_meaning(network, meaning)


WORDS = st.sampled_from(["a", "b", "c", '"a b"', "yes", "no", "0.5", "1", "0", "2", "table", "states", '"}"'])
KEYWORDS = ["NETWORK", "VARIABLE", "PROBABILITY", "TYPE", "DISCRETE", "TABLE", "DEFAULT"]
KEYWORDS += ["NET", "NODE", "STATES", "POTENTIAL", "DATA"]
MADE = {
    "BARE": WORDS,
    "STRING": st.sampled_from(['"yes"', '"no"', '"\\""']),
    "PROPERTY": st.just('property "x = y";'),
    "EXTRA": st.just("experience "),
    **{word: st.just(f"{word.lower()} ") for word in KEYWORDS},
}


def made_by(grammar):
    """Files that follow a grammar, with words from a short list, so that some of them make sense."""
    terminals = {terminal.name for terminal in parser(grammar).terminals}
    return from_lark(parser(grammar), explicit={name: made for name, made in MADE.items() if name in terminals})


def assert_only_our_errors(read, text):
    try:
        read(text, "made")
    except NetworkFileError as error:
        assert str(error).startswith("made:")


@settings(max_examples=12)
@given(text=made_by(BIF))
def test_bif_made_by_its_grammar_brings_out_nothing_but_our_errors(text):
    assert_only_our_errors(bif.read, text)


@settings(max_examples=12)
@given(text=made_by(NET))
def test_net_made_by_its_grammar_brings_out_nothing_but_our_errors(text):
    assert_only_our_errors(hugin_net.read, text)
