"""Whatever a file holds, nothing but our errors comes out of it, and soon."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.files.networks.bad_files import GOOD
from tests.files.networks.mutations import mutated

from bayeswater.errors import NetworkFileError, ResourceLimitError
from bayeswater.files.networks.formats import FORMATS

READ = {one.name: one.read for one in FORMATS}
LONGEST = 2.0
"""Seconds that no file of these may take."""


def read_or_refuse(name, content):
    start = process_time()
    try:
        network = READ[name](content, "fuzz", None)
    except (NetworkFileError, ResourceLimitError) as error:
        assert str(error).startswith("fuzz:")
        network = None
    assert process_time() - start < LONGEST
    return network


@pytest.mark.parametrize("name", READ)
@settings(max_examples=30)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(name, data):
    network = read_or_refuse(name, data.draw(mutated(GOOD[name])))
    if network:
        one = next(one for one in FORMATS if one.name == name)
        again = one.read(one.write(network).text, "again")
        assert {node.name: node.table.tolist() for node in again.nodes} == {
            node.name: node.table.tolist() for node in network.nodes
        }


@pytest.mark.parametrize("name", READ)
@settings(max_examples=12)
@given(content=st.binary(max_size=60) | st.text(max_size=60))
def test_bytes_and_texts_that_are_no_network_are_refused(name, content):
    read_or_refuse(name, content)


def chain_of_parents(n: int) -> str:
    """A file of a few lines whose last variable has n parents and one default row."""
    names = [f"p{i}" for i in range(n)]
    lines = ["network n {}"] + [f"variable {name} {{ type discrete [2] {{ 0 1 }}; }}" for name in [*names, "c"]]
    lines += [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in names]
    return "\n".join([*lines, f"probability ( c | {', '.join(names)} ) {{ default 0.5, 0.5; }}"])


N = 200_000
HUGE = {
    "BIF open comments": ("BIF", "/*" * N),
    "BIF open quotes": ("BIF", 'network "' + '\\"' * N),
    "BIF slashes": ("BIF", "network n {} " + "/" * N),
    "BIF stars": ("BIF", "network n {} /*" + "*" * N),
    "BIF blanks": ("BIF", GOOD["BIF"] + " " * N + "x" + " \n" * N),
    "BIF properties": ("BIF", "network n {" + "property " * N),
    "BIF properties with quotes": ("BIF", "network n {" + 'property "x" ' * N),
    "BIF brackets": ("BIF", GOOD["BIF"].replace("(no)", "(" * N)),
    "BIF states": ("BIF", GOOD["BIF"].replace("yes, no", " ".join(map(str, range(N))))),
    "BIF a long number": ("BIF", GOOD["BIF"].replace("0.2, 0.8", "0." + "1" * N + ", 0.8")),
    "BIF unclosed tables": (
        "BIF",
        "network n {} variable a { type discrete [1] {x}; } " + "probability ( a ) {" * (N // 20),
    ),
    "BIF many parents": ("BIF", chain_of_parents(5_000)),
    "NET open quotes": ("NET", 'net { a = "' + '\\"' * N),
    "NET brackets": ("NET", GOOD["NET"].replace("((0.1", "(" * N + "0.1")),
    "NET nested values": ("NET", "net { a = " + "(" * N + ";}"),
    "NET many attributes": ("NET", "net {" + "a = 1;" * (N // 5)),
    "DSL open braces": ("DSL", "net n {" + " a = {" * N),
    "DSL entries": ("DSL", "net n {" + " a = 1;" * (N // 5)),
    "DSL nodes": ("DSL", "net n {" + " node a { TYPE = CPT; };" * (N // 20)),
    "DSL open quotes": ("DSL", 'net n { a = "' + '\\"' * N),
    "XMLBIF defaults": (
        "XMLBIF",
        f'<!DOCTYPE BIF [<!ATTLIST NAME a CDATA "{"x" * N}">]><BIF><NETWORK>' + "<NAME/>" * 20_000 + "</NETWORK></BIF>",
    ),
    "DSC colons": ("DSC", "belief network" + ":" * N),
    "UAI many states": ("UAI", f"BAYES {N} " + f"{N} " * N),
    "UAI many tables": ("UAI", f"BAYES {N // 8} " + "1 " * (N // 8) + f"{N // 8} " + "1 0 " * N),
    "XMLBIF depth": ("XMLBIF", "<a>" * N),
    "XMLBIF attributes": ("XMLBIF", "<BIF " + " ".join(f'a{i}="1"' for i in range(N // 10)) + "/>"),
    "XMLBIF entities": ("XMLBIF", '<!DOCTYPE a [<!ENTITY b "' + "b" * N + '">]><a>' + "&b;" * 1000 + "</a>"),
    "XMLBIF references": ("XMLBIF", GOOD["XMLBIF"].replace(">n<", ">" + "&#110;" * (N // 4) + "<")),
    "XDSL parents": ("XDSL", GOOD["XDSL"].replace("<parents>a", "<parents>" + "a " * N)),
    "XDSL lines": ("XDSL", GOOD["XDSL"].replace("0.2 0.8", "0.2" + "\n" * N + "0.8 x")),
}


@pytest.mark.parametrize("name", HUGE)
def test_files_made_to_take_long_do_not(name):
    read_or_refuse(*HUGE[name])


def test_a_small_file_cannot_ask_for_a_table_beyond_memory():
    assert READ["BIF"](chain_of_parents(10), "fuzz").nodes[-1].table.size == 2**11
    for n in (30, 62):
        with pytest.raises(ResourceLimitError, match=r"(?s)^fuzz:\d+:15: this table is too large.*fewer parents$"):
            READ["BIF"](chain_of_parents(n), "fuzz")


def test_more_parents_than_an_array_has_axes_are_refused():
    one_state = chain_of_parents(63).replace("[2] { 0 1 }", "[1] { 0 }").replace("0.5, 0.5", "1")
    with pytest.raises(NetworkFileError, match=r"^fuzz:\d+:15: variable 'c' has 63 parents; a table has at most 62"):
        READ["BIF"](one_state, "fuzz")
    fewer = chain_of_parents(62).replace("[2] { 0 1 }", "[1] { 0 }").replace("0.5, 0.5", "1")
    network = READ["BIF"](fewer, "fuzz")
    assert network.nodes[-1].table.shape == (1,) * 63
    for one in FORMATS:
        assert one.read(one.write(network).text, "again").nodes[-1].table.shape == (1,) * 63


def test_many_tables_that_a_file_does_not_write_out_are_counted_together():
    text = chain_of_parents(20)
    more = "".join(
        f"variable d{i} {{ type discrete [2] {{ 0 1 }}; }}\n{text.splitlines()[-1].replace('( c', f'( d{i}')}\n"
        for i in range(8)
    )
    with pytest.raises(ResourceLimitError, match="too large"):
        READ["BIF"](f"{text}\n{more}", "fuzz")
