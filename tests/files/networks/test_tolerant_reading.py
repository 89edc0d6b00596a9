"""Files as other programs write them: what stands in them is read, kept or named when it is dropped."""

import numpy as np
import pytest
from tests.files.networks.bad_files import GOOD

from bayeswater.errors import NetworkFileError
from bayeswater.files.networks import bif, dsc, dsl, hugin_net, uai, xdsl, xmlbif
from bayeswater.files.networks.checks import KEPT, ROUNDED, SIX_DIGITS
from bayeswater.files.networks.document import WrittenNoisyOr
from bayeswater.files.networks.formats import FORMATS
from bayeswater.files.networks.xml_tree import parse_xml

DOG = """\
// Bayesian network in the Interchange Format
network "Dog-Problem" { //5 variables
	property "credal-set constant-density-bounded 1.1" ;
}
variable  "light-on" { //2 values
	type discrete[2] {  "true"  "false" };
	property "position = (218, 195)" ;
}
variable  "family-out" { /* 2 values */
	type discrete[2] {  "true"  "false" };
	property position = (257, 99) ;
}
probability (  "light-on"  "family-out" ) { //2 variable(s) and 4 values
	table 0.6 0.05 0.4 0.95 ;
}
probability (  "family-out" ) { property "x = y"; table 0.15 0.85 ; }"""


def test_bif_of_javabayes_with_quotes_comments_and_no_commas():
    network = bif.read(DOG, "dog.bif")
    light, family = network.nodes
    assert network.name == "Dog-Problem"
    assert network.properties == (("", "credal-set constant-density-bounded 1.1"),)
    assert light.properties == (("position", "(218, 195)"),)
    assert family.properties == (("position", "(257, 99)"),)
    # in a whole table the variable's own states run slowest: P(on | out), P(on | in), P(off | out), P(off | in)
    assert light.table.tolist() == [[0.6, 0.4], [0.05, 0.95]]
    (note,) = network.notes
    assert note.startswith("properties of the table of 'family-out' were dropped")


def test_bif_rows_in_any_order_with_a_default_for_the_others():
    text = GOOD["BIF"].replace("(yes) 0.1, 0.2, 0.7;", "default 0.5, 0.25, 0.25;")
    assert bif.read(text, "n.bif").nodes[1].table.tolist() == [[0.5, 0.25, 0.25], [0.3, 0.3, 0.4]]
    text = GOOD["BIF"].replace("(no)", '("yes")').replace("(yes)", "(no)", 1)
    assert bif.read(text, "n.bif").nodes[1].table.tolist() == [[0.3, 0.3, 0.4], [0.1, 0.2, 0.7]]


def test_bif_labels_of_the_repositories_stand_bare():
    text = GOOD["BIF"].replace("x, y, z", "<5, Asy/Patch, >=7.5")
    assert bif.read(text, "n.bif").nodes[1].states == ("<5", "Asy/Patch", ">=7.5")
    assert "{ <5, Asy/Patch, >=7.5 }" in bif.write(bif.read(text, "n.bif")).text


def test_tables_may_come_before_their_variables():
    for name, module, start in (("BIF", bif, "variable"), ("NET", hugin_net, "node"), ("DSC", dsc, "node")):
        head, declarations = GOOD[name].split("\n", 1)
        end = declarations.index("probability" if name != "NET" else "potential")
        assert declarations.startswith(start)
        turned = head + declarations[end:] + declarations[:end]
        assert module.read(turned, "n").nodes == module.read(GOOD[name], "n").nodes


def test_net_with_comments_flat_tables_labels_and_other_attributes():
    text = """\
% written by hand
net { node_size = (50 50); name = "n"; HR_Color = "-256"; }
discrete node a { label = "the \\"first\\""; position = (28, -29); states = ("yes" "no"); }
node b{states=("x" "y");HR_Desc="";}   % short
potential (b|a){data=(0.1 0.9 0.2 0.8);experience=(10 20);}
potential ( a ) { data = ( 1e0 0 ); }"""
    network = hugin_net.read(text, "n.net")
    assert network.name == "n"
    assert network.properties == (("node_size", "(50 50)"), ("HR_Color", "-256"))
    assert network.nodes[0].properties == (("label", 'the "first"'), ("position", "(28 -29)"))
    assert network.nodes[1].properties == (("HR_Desc", ""),)
    assert network.nodes[1].table.tolist() == [[0.1, 0.9], [0.2, 0.8]]
    assert network.notes == ("'experience' of tables was dropped: 'b'",)


def test_dsc_with_names_positions_and_comments():
    text = GOOD["DSC"].replace("node a {", 'node a { name : "The first"; position : (10, 20); // here')
    text = text.replace("(1) :", "default :")
    network = dsc.read(text, "n.dsc")
    assert network.nodes[0].properties == (("name", "The first"), ("position", "(10 20)"))
    assert network.nodes[1].table.tolist() == [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]


def test_uai_scopes_in_any_order():
    network = uai.read("bayes 2 2 3  2  2 1 0  1 1  6 1 0 0 1 .5 .5  3 0 0 1", "n.uai")
    assert network.nodes[0].parents == ("x1",)
    assert network.nodes[0].table.tolist() == [[1, 0], [0, 1], [0.5, 0.5]]


def test_xmlbif_with_a_namespace_comments_inside_numbers_and_the_older_tags():
    text = GOOD["XMLBIF"].replace(
        'VERSION="0.3"', 'VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3"'
    )
    text = (
        text.replace("DEFINITION", "PROBABILITY").replace("OUTCOME", "VALUE").replace("0.1 0.2", "0.1 <!-- a --> 0.2")
    )
    text = text.replace("<NAME>b</NAME>", "<NAME>\n b </NAME><PROPERTY>position = (1, 2)</PROPERTY>")
    network, expected = xmlbif.read(text, "n.xml"), xmlbif.read(GOOD["XMLBIF"], "n.xml")
    assert network.nodes[1].properties == (("position", "(1, 2)"),)
    assert [node.table.tolist() for node in network.nodes] == [node.table.tolist() for node in expected.nodes]


def test_latin_letters_are_read_as_declared_or_noted():
    text = GOOD["XMLBIF"].replace(">yes<", ">größer<")
    declared = text.replace('"1.0"?', '"1.0" encoding="ISO-8859-1"?')
    for content, noted in ((text.encode(), 0), (declared.encode("latin-1"), 0), (text.encode("latin-1"), 1)):
        network = xmlbif.read(content, "n.xml")
        assert network.nodes[0].states == ("größer", "no")
        assert len(network.notes) == noted
    network = bif.read(GOOD["BIF"].replace("yes", "größer").encode("latin-1"), "n.bif")
    assert network.nodes[0].states == ("größer", "no")
    assert network.notes == ("n.bif is not in UTF-8 and was read as Latin-1",)


GENIE = """\
<smile version="1.0" id="n" numsamples="1000"><nodes>
<cpt id="a" target="true"><state id="yes" fault="true" /><state id="no" /><probabilities>0.2 0.8</probabilities>
<property id="literature">A book</property></cpt>
<deterministic id="d"><state id="lo" /><state id="hi" /><parents>a</parents>
<resultingstates>hi lo</resultingstates></deterministic>
</nodes><extensions><genie version="1.0"><submodel id="s"><node id="a"><name>The first</name>
<interior color="e5f6f7" /><position>20 100 100 140</position></node></submodel>
<node id="d"><name>d</name></node></genie></extensions></smile>"""


def test_xdsl_of_genie_with_a_drawing_and_a_deterministic_node():
    network = xdsl.read(GENIE, "n.xdsl")
    first, d = network.nodes
    assert first.properties == (("literature", "A book"), ("label", "The first"), ("position", "20 100 100 140"))
    assert d.properties == ()
    assert (d.kind, d.table.tolist()) == ("deterministic", [[0, 1], [1, 0]])
    assert network.notes == ("parts of XDSL that no other format has were dropped: <interior>, fault=, target=",)
    assert "<name>The first</name>" in xdsl.write(network).text


@pytest.mark.parametrize(
    ("old", "new", "at", "problem"),
    [
        ("hi lo<", "hi<", "5:20", "needs 2 resulting states, and 1 are given"),
        ("hi lo<", "hi low<", "5:21", "'d' has no state 'low'; it has 'lo', 'hi'"),
        ("deterministic", "utility", "4:1", "a node <utility> is no part of a Bayesian network of tables"),
        ("smile", "Smile", "1:1", "expected <smile>, found <Smile>"),
        ("property id", "property name", "3:1", 'expected <property id="...">, found <property>'),
        ("<parents>", "<dynamic /><parents>", "4:57", "a dynamic network is not read"),
    ],
)
def test_xdsl_nodes_that_cannot_be_read_are_refused(old, new, at, problem):
    with pytest.raises(NetworkFileError) as caught:
        xdsl.read(GENIE.replace(old, new), "n.xdsl")
    assert str(caught.value).startswith(f"n.xdsl:{at}: ")
    assert problem in str(caught.value)


def test_xdsl_parts_without_a_meaning_here_are_named():
    text = GENIE.replace("<nodes>", "<comment>c</comment><nodes>").replace("<parents>", "<comment /><parents>")
    (note,) = xdsl.read(text, "n.xdsl").notes
    assert note.endswith("dropped: <comment>, <interior>, fault=, target=")


def test_a_label_that_is_a_sign_stands_in_quotes():
    text = GOOD["BIF"].replace("yes, no", '"(", no').replace("(yes)", '("(")')
    assert bif.read(text, "n.bif").nodes[0].states == ("(", "no")
    with pytest.raises(NetworkFileError, match=r"^n\.bif:12:4: 'a' has no state '\('"):
        bif.read(text.replace('("(")', "(()"), "n.bif")


OF_AGRUM = """<?xml version="1.0" ?>
<smile version="1.0" id="unknown"><nodes>
<cpt id="a"><state id="0"/><state id="1"/><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="b"><state id="0"/><state id="1"/><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="c"><state id="0"/><state id="1"/><parents>a b</parents>
<probabilities>0.1 0.9 0.2 0.8 0.3 0.7 0.4 0.6</probabilities></cpt>
</nodes><extensions><genie version="1.0" app="aGrUM 3.3.1" name="unknown"/></extensions></smile>"""


def test_xdsl_of_agrum_is_read_as_the_format_says_and_its_other_order_of_parents_is_told():
    network = xdsl.read(OF_AGRUM, "n.xdsl")
    assert network.nodes[2].table[0, 1].tolist() == [0.2, 0.8]  # the last parent runs fastest
    (note,) = network.notes
    assert note.startswith("it was written by 'aGrUM 3.3.1'") and "'c'" in note


def test_xdsl_of_others_and_tables_of_one_parent_have_no_other_order():
    assert xdsl.read(OF_AGRUM.replace("aGrUM 3.3.1", "GeNIe 4.0"), "n.xdsl").notes == ()
    assert xdsl.read(OF_AGRUM.replace("a b", "a").replace(" 0.3 0.7 0.4 0.6", ""), "n.xdsl").notes == ()


def test_bif_properties_behind_a_table_are_dropped_and_noted():
    network = bif.read(GOOD["BIF"].replace("0.8;", "0.8; property x = y;"), "n.bif")
    assert network.notes == ("properties of the table of 'a' were dropped: property x = y;",)


def test_another_root_or_properties_of_a_table_in_xmlbif():
    with pytest.raises(NetworkFileError, match=r"^n\.xml:2:1: expected <BIF>, found <BIB>"):
        xmlbif.read(GOOD["XMLBIF"].replace("BIF", "BIB"), "n.xml")
    network = xmlbif.read(GOOD["XMLBIF"].replace("<TABLE>", "<PROPERTY>x = y</PROPERTY><TABLE>", 1), "n.xml")
    assert network.notes == ("properties of the table of 'a' were dropped",)


def test_text_that_is_no_text_is_refused_in_xml():
    with pytest.raises(NetworkFileError, match=r"^n\.xml:3:51: this character is half of one"):
        xmlbif.read(GOOD["XMLBIF"].replace("yes", "yes\ud800"), "n.xml")


def test_letters_that_the_declared_encoding_does_not_have_are_noted():
    declared = GOOD["XMLBIF"].replace('"1.0"?', '"1.0" encoding="windows-1252"?').encode()
    network = xmlbif.read(declared.replace(b">yes<", b">\x81<"), "n.xml")  # a byte that is no letter there
    assert network.nodes[0].states == ("\x81", "no")
    assert network.notes == ("n.xml is not in UTF-8 and was read as Latin-1",)


def with_drift(drift: float) -> str:
    return GOOD["BIF"].replace("0.3, 0.3, 0.4", f"0.3, 0.3, {0.4 + drift!r}")


def test_rows_within_rounding_of_one_are_kept_as_read():
    network = bif.read(with_drift(0.9 * KEPT), "n.bif")
    assert network.nodes[1].table[1, 2] == 0.4 + 0.9 * KEPT
    assert network.notes == ()


@pytest.mark.parametrize("drift", [1.1 * KEPT, 1e-7, -1e-7, 0.9 * SIX_DIGITS, 3.5e-5, -0.9 * ROUNDED])
def test_rows_with_a_little_drift_are_normalised_once_and_noted(drift):
    network = bif.read(with_drift(drift), "n.bif")
    row = network.nodes[1].table[1]
    given = np.array([0.3, 0.3, 0.4 + drift])
    assert np.array_equal(row, given / given.sum())
    assert network.nodes[1].table[0].tolist() == [0.1, 0.2, 0.7]
    is_rounding = abs(drift) < SIX_DIGITS
    (note,) = [network.rounded] if is_rounding else network.notes
    assert (network.notes == ()) is is_rounding
    assert note.startswith(
        "1 rows of 1 tables ('b') did not sum to one and were normalised; the largest difference is "
    )
    assert float(note.split()[-3].rstrip(",")) == pytest.approx(abs(drift), rel=0.05)
    again = bif.read(bif.write(network).text, "n.bif")
    assert again.nodes == network.nodes
    assert (again.notes, again.rounded) == ((), "")


def test_rows_with_more_drift_are_refused():
    with pytest.raises(NetworkFileError, match=r"^n\.bif:13:8: .*sums to 1\.011.* within 0\.01; a larger tolerance="):
        bif.read(with_drift(1.1 * ROUNDED), "n.bif")


def test_a_negative_zero_is_zero():
    table = bif.read(GOOD["BIF"].replace("0.2, 0.8", "-0.0, 1"), "n.bif").nodes[0].table
    assert not np.signbit(table).any()


def test_tables_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        bif.read(GOOD["BIF"], "n.bif").nodes[0].table[0] = 0.5


UAI_OF_AGRUM = """BAYES
3
2 2 2
3
1 0   # a
3 0 2 1   # c
1 2   # b

2
  0.4 0.6

8
  0.9 0.1
  0.7 0.3
  0.8 0.2
  0.6 0.4

2
  0.3 0.7
"""


def test_uai_with_the_comments_of_agrum_is_read_as_the_format_says_and_its_other_order_of_parents_is_told():
    network = uai.read(UAI_OF_AGRUM, "n.uai")
    assert network.nodes[1].table[0, 1].tolist() == [0.7, 0.3]  # of the first parent's state 0, the second's 1
    (note,) = network.notes
    assert "aGrUM" in note and "'x1'" in note
    plain = "\n".join(line.partition("#")[0] for line in UAI_OF_AGRUM.splitlines())
    assert uai.read(plain, "n.uai").notes == ()
    assert uai.read("BAYES 1 # one\n2 1 1 0 2 0.5 0.5 # the end", "n.uai").notes == ()  # no parents, no doubt


@pytest.mark.parametrize("name", ["BIF", "XMLBIF", "XDSL", "DSL", "NET", "DSC", "UAI"])
def test_a_tolerance_says_which_rows_are_put_right_in_every_format(name):
    read = next(one.read for one in FORMATS if one.name == name)
    text = GOOD[name].replace("0.4", "0.40003")
    for tolerance in (None, 1e-4):
        row = read(text, "n", tolerance).nodes[1].table[1]
        assert np.array_equal(row, np.array([0.3, 0.3, 0.40003]) / np.add.reduce([0.3, 0.3, 0.40003]))
    for tolerance in (0.0, 1e-5):
        with pytest.raises(
            NetworkFileError, match=r"^n:\d+:\d+: .*put right if they do within .*; a larger tolerance="
        ):
            read(text, "n", tolerance)
    assert read(GOOD[name], "n", 0.0).nodes == read(GOOD[name], "n", None).nodes


def test_the_numbers_of_net_are_a_potential_and_may_have_any_sum():
    network = hugin_net.read(GOOD["NET"].replace("(0.2 0.8)", "( 10 90 )"), "n.net")
    assert network.nodes[0].table.tolist() == [0.1, 0.9]
    (note,) = network.notes
    assert note.endswith("the largest difference is 99, of 'a'")
    with pytest.raises(NetworkFileError, match="sums to 100"):
        hugin_net.read(GOOD["NET"].replace("(0.2 0.8)", "( 10 90 )"), "n.net", 0.5)


DOCUMENT_TYPE = """<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ATTLIST VARIABLE TYPE (nature|decision|utility) "decision">
]>
"""


def test_a_document_type_is_stepped_over():
    text = GOOD["XMLBIF"].replace("<BIF ", f"{DOCUMENT_TYPE}<BIF ").replace(' TYPE="nature"', "")
    assert xmlbif.read(text, "n.xml") == xmlbif.read(GOOD["XMLBIF"], "n.xml")


def test_a_default_of_a_document_type_is_not_copied_into_every_element():
    long = "x" * 10_000
    text = GOOD["XMLBIF"].replace("<BIF ", f'<!DOCTYPE BIF [<!ATTLIST NAME a CDATA "{long}">]><BIF ')
    root = parse_xml(text, "n.xml").root
    assert all(element.attributes.keys() <= {"TYPE"} for element in root.all_within())


OF_GENIE = """\
net Unnamed
{
 HEADER =
  {
   ID = Unnamed;
   NAME = "a { net }; // of braces";
  };
 SCREEN =
  {
   POSITION = { CENTER_X = 0; CENTER_Y = 0; };
   COLOR = 16250597;
  };
 USER_PROPERTIES = { author = "A. B."; };
 DOCUMENTATION =
  {
  };

 node cold
  {
   TYPE = CPT;
   HEADER =
    {
     ID = cold;
     NAME = "Has a cold";
     COMMENT = "Does the \\"person\\" have \\
     a cold?";
    };
   SCREEN = { POSITION = { CENTER_X = 146; CENTER_Y = 70; }; };
   PARENTS = ();
   DEFINITION =
    {
     NAMESTATES = (yes, no);
     PROBABILITIES = (0.25000000,
     0.75000000);
    };
   EXTRA_DEFINITION =
    {
     FAULT_STATES = (0, 0);
     DOCUMENTATION = { };
     DOCUMENTATION = { };
     QUESTION = "";
    };
  };

 node hot
  {
   TYPE = TRUTHTABLE;
   PARENTS = (cold);
   DEFINITION = { NAMESTATES = (no, yes); RESULTINGSTATES = (yes, no); };
  };

 node fever
  {
   TYPE = NOISY_MAX;
   PARENTS = (cold, hot);
   DEFINITION =
    {
     NAMESTATES = (yes, no);
     STRENGTHS = (0, 1, 1, 0);
     PROBABILITIES = (0.8, 0.2, 0, 1, 0.5, 0.5, 0, 1, 0.1, 0.9);
    };
  };
 OBSERVATION_COST =
  {
   node cold { PARENTS = (); COSTS = (0.00000000); };
  };
};
"""


def test_dsl_of_genie_with_a_drawing_special_nodes_and_texts_over_several_lines():
    network = dsl.read(OF_GENIE, "n.dsl")
    cold, hot, fever = network.nodes
    assert (network.name, network.properties) == ("Unnamed", (("author", "A. B."),))
    assert cold.properties == (("label", "Has a cold"), ("comment", 'Does the "person" have a cold?'))
    assert cold.table.tolist() == [0.25, 0.75]
    assert (hot.kind, hot.table.tolist()) == ("deterministic", [[0, 1], [1, 0]])
    assert fever.noisy_or == WrittenNoisyOr(0, (0, 1), (0.8, 0.5), 0.1)
    assert fever.table[0, 0, 0] == pytest.approx(1 - 0.9 * 0.2)
    assert network.notes == ("parts of DSL that no other format has were dropped: EXTRA_DEFINITION, SCREEN",)
    assert xdsl.read(xdsl.write(network).text, "n.xdsl").nodes == network.nodes


OF_AGRUM_DSL = """net data\\asia.bif
{
// property software aGrUM 1.9.0

\tnode a
\t{
\t\tTYPE = CPT;
\t\tHEADER =
\t\t{
\t\t\tID = a;
\t\t\tNAME = "a";
\t\t};
\t\tPARENTS = ();
\t\tDEFINITION =
\t\t{
\t\t\tNAMESTATES = (0, 1);
\t\t\tPROBABILITIES = (0.5, 0.5);
\t\t};
\t};

\tnode b
\t{
\t\tTYPE = CPT;
\t\tPARENTS = ();
\t\tDEFINITION = { NAMESTATES = (0, 1, 2); PROBABILITIES = (0.5, 0.25, 0.25); };
\t};
\tnode c
\t{
\t\tTYPE = CPT;
\t\tPARENTS = (a, b);
\t\tDEFINITION = {
\t\t\tNAMESTATES = (0, 1);
\t\t\tPROBABILITIES = (0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5, 0.5, 0.6, 0.4);
\t\t};
\t};
};
"""


def test_dsl_of_agrum_with_comments_and_the_last_parent_running_fastest():
    network = dsl.read(OF_AGRUM_DSL, "n.dsl")
    assert network.name == "data\\asia.bif"
    assert network.nodes[2].parents == ("a", "b")
    assert network.nodes[2].table[1].tolist() == [[0.4, 0.6], [0.5, 0.5], [0.6, 0.4]]
    assert network.notes == ()
