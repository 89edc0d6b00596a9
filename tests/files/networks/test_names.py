"""Escaped names are identifiers, and come back; names that look escaped are left alone in files of others."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from bayeswater.files.networks import hugin_net, xdsl
from bayeswater.files.networks.names import escaped, is_identifier, unescaped

NET = 'net {{ {mark} }} node X_41_ {{ states = ("a" "b"); }} potential (X_41_) {{ data = (1 0); }}'
XDSL = (
    '{mark}<smile id="n"><nodes><cpt id="X_41_"><state id="a"/><probabilities>1</probabilities></cpt></nodes></smile>'
)


def test_escapes_of_all_short_names_come_back():
    for length in range(6):
        for letters in product("X_5a/", repeat=length):
            name = "".join(letters)
            assert is_identifier(escaped(name))
            assert unescaped(escaped(name)) == name


@given(st.text(st.characters()))  # halves of characters too
def test_escapes_of_any_name_come_back(name):
    assert is_identifier(escaped(name))
    assert unescaped(escaped(name)) == name


def test_names_are_read_as_escaped_only_in_files_that_say_so():
    assert hugin_net.read(NET.format(mark=""), "n.net").nodes[0].name == "X_41_"
    assert hugin_net.read(NET.format(mark='bayeswater_names = "escaped";'), "n.net").nodes[0].name == "A"
    assert xdsl.read(XDSL.format(mark=""), "n.xdsl").nodes[0].name == "X_41_"
    assert xdsl.read(XDSL.format(mark="<?bayeswater_names escaped?>"), "n.xdsl").nodes[0].name == "A"


def test_a_code_beyond_all_characters_stays_as_it_is():
    assert unescaped("X_110000_") == "X_110000_"
    assert unescaped("X_00000041_") == "X_00000041_"
