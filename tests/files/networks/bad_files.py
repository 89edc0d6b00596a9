"""Files that are wrong in one way each: where that is, and words that the refusal must hold."""

from dataclasses import dataclass

BIF = """\
network n { property "by = hand" ; }
variable a {
  type discrete [ 2 ] { yes, no };
}
variable b {
  type discrete [ 3 ] { x, y, z };
}
probability ( a ) {
  table 0.2, 0.8;
}
probability ( b | a ) {
  (yes) 0.1, 0.2, 0.7;
  (no) 0.3, 0.3, 0.4;
}
"""

NET = """\
net { name = "n"; }
node a { states = ("yes" "no"); }
node b { states = ("x" "y" "z"); }
potential (a) {
  data = (0.2 0.8);
}
potential (b | a) {
  data = ((0.1 0.2 0.7)
          (0.3 0.3 0.4));
}
"""

DSC = """\
belief network "n"
node a {
  type : discrete [ 2 ] = { "yes", "no" };
}
node b {
  type : discrete [ 3 ] = { "x", "y", "z" };
}
probability ( a ) {
  0.2, 0.8;
}
probability ( b | a ) {
  (0) : 0.1, 0.2, 0.7;
  (1) : 0.3, 0.3, 0.4;
}
"""

UAI = """\
BAYES
2
2 3
2
1 0
2 0 1
2 0.2 0.8
6 0.1 0.2 0.7
  0.3 0.3 0.4
"""

XMLBIF = """\
<?xml version="1.0"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME><OUTCOME>z</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN>
<TABLE>0.1 0.2 0.7
       0.3 0.3 0.4</TABLE></DEFINITION>
</NETWORK></BIF>
"""

XDSL = """\
<?xml version="1.0"?>
<smile version="1.0" id="n"><nodes>
<cpt id="a"><state id="yes" /><state id="no" /><probabilities>0.2 0.8</probabilities></cpt>
<cpt id="b"><state id="x" /><state id="y" /><state id="z" /><parents>a</parents>
<probabilities>0.1 0.2 0.7
       0.3 0.3 0.4</probabilities></cpt>
</nodes></smile>
"""

DSL = """\
net n
{
 node a
  {
   TYPE = CPT;
   HEADER = { ID = a; NAME = "a"; };
   PARENTS = ();
   DEFINITION =
    {
     NAMESTATES = (yes, no);
     PROBABILITIES = (0.2, 0.8);
    };
  };
 node b
  {
   TYPE = CPT;
   PARENTS = (a);
   DEFINITION = { NAMESTATES = (x, y, z);
     PROBABILITIES = (0.1, 0.2, 0.7,
     0.3, 0.3, 0.4); };
  };
};
"""

GOOD = {"BIF": BIF, "NET": NET, "DSC": DSC, "UAI": UAI, "XMLBIF": XMLBIF, "XDSL": XDSL, "DSL": DSL}


@dataclass(frozen=True)
class Bad:
    """A change of the good file of a format, and what is said about it."""

    format: str
    old: str
    new: str
    at: str
    problem: str

    @property
    def text(self) -> str:
        """The file after the change."""
        assert GOOD[self.format].count(self.old) >= 1, self.old
        return GOOD[self.format].replace(self.old, self.new, 1)

    def __str__(self) -> str:
        return f"{self.format} {self.old[:20]!r} -> {self.new[:20]!r}"


BAD = [
    Bad("BIF", "network n", "netwrk n", "1:1", "expected 'network', found 'netwrk'"),
    Bad("BIF", "network n {", "network {", "1:9", "expected the name of the network, found '{'"),
    Bad("BIF", 'by = hand" ; }', "by = hand }", "1:13", "this property has no ';' at its end"),
    Bad("BIF", "yes, no };\n}", "yes, no };\n  property x }", "4:3", "this property has no ';' at its end"),
    Bad("BIF", "variable b", "variable property", "5:10", "expected the name of a variable, found 'property '"),
    Bad("BIF", "variable b", "variable a", "5:10", "variable 'a' is declared a second time"),
    Bad("BIF", "yes, no }", "yes, yes }", "3:30", "has the state 'yes' twice"),
    Bad("BIF", "[ 2 ]", "[ 3 ]", "3:19", "should have 3 states, and 2 are listed"),
    Bad("BIF", "[ 2 ]", "[ two ]", "3:19", "should have two states"),
    Bad("BIF", "[ 2 ]", "[ 99999999999999999999 ]", "3:19", "and 2 are listed"),
    Bad("BIF", "{ yes, no };", "{ };", "3:19", "should have 2 states, and 0 are listed"),
    Bad("BIF", "[ 2 ] { yes, no };", "[ 0 ] { };", "2:10", "has no states"),
    Bad("BIF", "yes, no }", "yes, ( }", "3:30", "expected a state, found '('"),
    Bad("BIF", "  type discrete [ 2 ] { yes, no };\n", "", "2:10", "variable 'a' has no type"),
    Bad("BIF", "type discrete [ 2 ]", "type continuous [ 2 ]", "3:8", "expected 'discrete', found 'continuous'"),
    Bad("BIF", "b | a", "b | c", "11:19", "variable 'c' is not declared"),
    Bad("BIF", "b | a", "b | aa", "11:19", "did you mean 'a'?"),
    Bad("BIF", "b | a", "b | b", "11:19", "'b' is its own parent"),
    Bad("BIF", "b | a )", "b | a, a )", "11:22", "has the parent 'a' twice"),
    Bad("BIF", "( b | a )", "( c | a )", "11:15", "variable 'c' is not declared"),
    Bad("BIF", "( b | a )", "( a )", "11:15", "variable 'a' has a second table"),
    Bad("BIF", "probability ( a ) {\n  table 0.2, 0.8;\n}\n", "", "2:10", "variable 'a' has no table"),
    Bad(
        "BIF",
        "table 0.2, 0.8;",
        "table 0.2, 0.7;",
        "9:9",
        "sums to 0.8999999999999999; probabilities have to sum to one",
    ),
    Bad("BIF", "table 0.2, 0.8;", "table 0.2, 0.8", "10:1", "expected ';', found '}'"),
    Bad("BIF", "(no) 0.3", "(no 0.3", "14:1", "expected ')', found '}'"),
    Bad("BIF", "0.4;", "0.4", "14:1", "expected ';', found '}'"),
    Bad("BIF", "table 0.2, 0.8;", "table 0.2;", "9:12", "needs 2 numbers, and 1 are given"),
    Bad("BIF", "table 0.2, 0.8;", "table 0.2, 0.8, 0;", "9:19", "needs 2 numbers, and 3 are given"),
    Bad("BIF", "table 0.2, 0.8;", "table 1.2, -0.2;", "9:14", "probability -0.2, which is negative"),
    Bad("BIF", "table 0.2, 0.8;", "table 0.2, 0,8;", "9:16", "needs 2 numbers, and 3 are given"),
    Bad("BIF", "table 0.2, 0.8;", "table 0.2, nan;", "9:14", "has 'nan' in the place of a number"),
    Bad("BIF", "table 0.2, 0.8;", "table 1_0, 0.8;", "9:9", "has '1_0' in the place of a number"),
    Bad("BIF", "table 0.2, 0.8;", "table 0.2, ٠;", "9:14", "has '٠' in the place of a number"),
    Bad("BIF", "table 0.2, 0.8;", "table 1e999, 0;", "9:9", "has '1e999' in the place of a number"),
    Bad("BIF", "table 0.2, 0.8;", "table 0.2, 0.8; table 0.2, 0.8;", "9:19", "expected '}', found 'table'"),
    Bad("BIF", "table 0.2, 0.8;", "", "10:1", "the table of 'a' is empty"),
    Bad("BIF", "table 0.2, 0.8;", "0.2, 0.8;", "9:3", "expected '(', 'default' or '}', found '0.2'"),
    Bad("BIF", "(no)", "(yes)", "13:3", "has this row twice"),
    Bad("BIF", "(no)", "(maybe)", "13:4", "'a' has no state 'maybe'; it has 'yes', 'no'"),
    Bad("BIF", "(no)", "(no, x)", "13:3", "'b' has 1 parents, and this row has 2 of their states"),
    Bad("BIF", "0.3, 0.3, 0.4;", "0.3, 0.3;", "13:16", "this row of the table of 'b' needs 3 numbers, and 2 are given"),
    Bad(
        "BIF",
        "0.7;\n  (no)",
        ";\n  (no) 0.7, ",
        "12:19",
        "this row of the table of 'b' needs 3 numbers, and 2 are given",
    ),
    Bad("BIF", "0.3, 0.3, 0.4;", "0.3, 0.3, 0.5;", "13:8", "sums to 1.1"),
    Bad("BIF", "0.3, 0.3, 0.4;", "0.3, x, 0.4;", "13:13", "has 'x' in the place of a number"),
    Bad("BIF", "  (no) 0.3, 0.3, 0.4;\n", "", "13:1", "has 1 of 2 rows, and no default; the one of (no) is missing"),
    Bad(
        "BIF",
        "probability ( a ) {\n  table 0.2, 0.8;",
        "probability ( a | b ) { default 0.2, 0.8;",
        "8:15",
        "depends on itself",
    ),
    Bad("BIF", "0.4;\n}\n", "0.4;\n}\njunk", "15:1", "expected 'variable' or 'probability', found 'junk'"),
    Bad("BIF", "0.4;\n}\n", "0.4;\n", "12:3", "there is no '}' after this"),
    Bad("BIF", "0.4;\n}\n", "0.4;\n} /* open", "14:3", "this comment does not close"),
    Bad("BIF", "variable b", 'variable "b', "5:10", "this quote does not close"),
    Bad("NET", "net {", "nett {", "1:1", "expected 'net', found 'nett'"),
    Bad("NET", "node b", "node a", "3:6", "declared a second time"),
    Bad("NET", "node b", "decision b", "3:1", "a decision node is no part of a Bayesian network of tables"),
    Bad("NET", "node b", "utility b", "3:1", "a utility node is no part"),
    Bad("NET", "node b", "continuous node b", "3:1", "a continuous node is no part"),
    Bad("NET", ' states = ("yes" "no");', "", "2:6", "node 'a' has no states"),
    Bad("NET", '"yes" "no"', '"yes" "yes"', "2:26", "has the state 'yes' twice"),
    Bad("NET", '("yes" "no");', '("yes" "no";', "2:30", "expected a state, found ';'"),
    Bad("NET", '"no");', '"no"); states = ("x");', "2:33", "node 'a' has its states twice"),
    Bad("NET", "b | a", "b a", "7:14", "a table of several variables at once is not read"),
    Bad("NET", "b | a", "b | c", "7:16", "variable 'c' is not declared"),
    Bad("NET", "  data = (0.2 0.8);\n", "", "4:12", "the potential of 'a' has no data"),
    Bad("NET", "(0.2 0.8)", "(0.2)", "5:15", "needs 2 numbers, and 1 are given"),
    Bad(
        "NET",
        "(0.2 0.8)",
        "(0 0)",
        "5:11",
        "sums to 0.0; probabilities have to sum to one, and that is no distribution",
    ),
    Bad("NET", "(0.2 0.8)", "((0.2 0.8))", "5:11", "expected a number, found '('"),
    Bad("NET", "(0.2 0.8)", "(0.2 0.8", "5:18", "expected ')', found ';'"),
    Bad("NET", "(0.2 0.8)", "0.2 0.8", "5:10", "expected '(', found '0.2'"),
    Bad("NET", "(0.2 0.8)", "(0.2 normal)", "5:15", "has 'normal' in the place of a number"),
    Bad("NET", "0.7)\n          (0.3", "0.7\n          0.3)(", "9:11", "expected ')', found '0.3'"),
    Bad("NET", "(0.3 0.3 0.4)", "(0.3 0.3 -0.4)", "9:20", "probability -0.4, which is negative"),
    Bad("NET", "(0.3 0.3 0.4)", "(1e308 1e308 0)", "9:12", "a row of the table of 'b' sums to inf"),
    Bad("NET", "data = (0.2", "model_data = (0.2", "5:3", "expected 'data' or '}', found 'model_data'"),
    Bad("NET", "potential (a) {", "potential (a | b) {", "4:12", "variable 'a' depends on itself: 'a' <- 'b' <- 'a'"),
    Bad("NET", "0.4));\n}\n", "0.4));\n} }", "10:3", "expected 'node', found '}'"),
    Bad("DSC", "belief", "believe", "1:1", "expected 'belief', found 'believe'"),
    Bad("DSC", "node b", "node a", "5:6", "declared a second time"),
    Bad("DSC", "[ 3 ]", "[ 2 ]", "6:21", "should have 2 states, and 3 are listed"),
    Bad("DSC", '  type : discrete [ 2 ] = { "yes", "no" };\n', "", "2:6", "node 'a' has no type"),
    Bad("DSC", '"no" };', '"no" }; type : discrete [ 1 ] = { x };', "3:44", "node 'a' has its type twice"),
    Bad("DSC", "0.2, 0.8;", "0.2, 0.9;", "9:3", "sums to 1.1"),
    Bad("DSC", "0.2, 0.8;", "0.2, 0.8", "10:1", "expected ';', found '}'"),
    Bad("DSC", "0.2, 0.8;", "0.2;", "9:6", "needs 2 numbers, and 1 are given"),
    Bad("DSC", "0.2, 0.8;", "0.2, 0.8; 0.1", "9:13", "expected '}', found '0.1'"),
    Bad("DSC", "(1)", "(2)", "13:4", "'a' has no state '2'; it has '0', '1'"),
    Bad("DSC", "(1)", "(0)", "13:3", "has this row twice"),
    Bad("DSC", "  (1) : 0.3, 0.3, 0.4;\n", "", "13:1", "the one of (no) is missing"),
    Bad("DSC", "0.4;\n}\n", "0.4;\n}\n0", "15:1", "expected 'node' or 'probability', found '0'"),
    Bad("UAI", "BAYES", "MARKOV", "1:1", "a Markov network is no Bayesian network"),
    Bad("UAI", "BAYES", "2", "1:1", "expected 'BAYES', found '2'"),
    Bad("UAI", "2 3\n", "2 x\n", "3:3", "expected the number of states of variable 1, found 'x'"),
    Bad("UAI", "2 3\n", "2 900\n", "3:3", "the file is too short"),
    Bad("UAI", "2 3\n2", "2 3\n3", "4:1", "2 variables need as many tables, not 3"),
    Bad("UAI", "1 0\n", "1 1\n", "6:5", "variable 'x1' has a second table"),
    Bad("UAI", "1 0\n", "1 7\n", "5:3", "there is no variable 7; they go from 0 to 1"),
    Bad("UAI", "2 0 1\n", "2 1 1\n", "6:3", "'x1' is its own parent"),
    Bad("UAI", "1 0\n", "0\n", "5:1", "a table needs at least its own variable"),
    Bad("UAI", "1 0\n", "2 1 0\n", "5:5", "variable 'x0' depends on itself: 'x0' <- 'x1' <- 'x0'"),
    Bad("UAI", "2 0.2 0.8", "3 0.2 0.8", "7:1", "needs 2 numbers, and 3 are announced"),
    Bad("UAI", "2 0.2 0.8", "2 0.2 0.7", "7:3", "sums to 0.8999999999999999"),
    Bad("UAI", "0.3 0.4\n", "0.3\n", "10:1", "expected 6 numbers of the table of 'x1', found the end of the file"),
    Bad("UAI", "0.3 0.4\n", "0.3 -0.4\n", "9:11", "which is negative"),
    Bad("UAI", "0.4\n", "0.4 7\n", "9:15", "expected the end of the file, found '7'"),
    Bad("XMLBIF", "<BIF ", '<!DOCTYPE BIF [<!ENTITY x "y">]><BIF ', "2:16", "the entity 'x' is not read"),
    Bad("XMLBIF", "<BIF ", '<!DOCTYPE BIF [<!ENTITY % x "y">]><BIF ', "2:16", "the entity 'x' is not read"),
    Bad("XMLBIF", "<BIF ", '<!DOCTYPE BIF [<!ENTITY x SYSTEM "/etc/passwd">]><BIF ', "2:16", "the entity 'x'"),
    Bad("XMLBIF", "<BIF ", '<!DOCTYPE BIF SYSTEM "bif.dtd"><BIF ', "2:1", "the document type is in another file"),
    Bad("XMLBIF", "<BIF ", '<!DOCTYPE BIF PUBLIC "-//X" "http://x/y"><BIF ', "2:1", "is in another file, and none is"),
    Bad("XMLBIF", "yes<", "&yes;<", "3:48", "undefined entity"),
    Bad("XMLBIF", ">n<", ">&x;<", "2:35", "no well-formed XML: undefined entity"),
    Bad("XMLBIF", "</NETWORK></BIF>", "</NETWORK>", "10:1", "no well-formed XML: no element found"),
    Bad("XMLBIF", "</BIF>\n", "</BIF>junk", "9:17", "no well-formed XML: junk after document element"),
    Bad("XMLBIF", '<BIF VERSION="0.3">', "<BIB>", "9:13", "mismatched tag"),
    Bad("XMLBIF", "</NAME>\n", "</NAME>junk\n", "2:43", "text directly inside <NETWORK>"),
    Bad("XMLBIF", "<OUTCOME>no</OUTCOME>", "<STATE>no</STATE>", "3:61", "<STATE> is not known inside <VARIABLE>"),
    Bad("XMLBIF", "<NAME>b", "<NAME>a", "4:31", "declared a second time"),
    Bad("XMLBIF", ">no<", ">yes<", "3:70", "has the state 'yes' twice"),
    Bad("XMLBIF", 'TYPE="nature"', 'TYPE="decision"', "3:1", "a variable of type 'decision' is no part"),
    Bad("XMLBIF", "<GIVEN>a", "<GIVEN>c", "6:32", "variable 'c' is not declared"),
    Bad("XMLBIF", "<TABLE>0.2 0.8</TABLE>", "", "5:1", "<DEFINITION> has no <TABLE>"),
    Bad("XMLBIF", "0.2 0.8", "0.2", "5:35", "needs 2 numbers, and 1 are given"),
    Bad("XMLBIF", "0.3 0.3 0.4", "0.3 0.3 0.5", "8:8", "sums to 1.1"),
    Bad("XMLBIF", "0.3 0.3 0.4", "0.3 <!-- é --> -0.3 1", "8:23", "which is negative"),
    Bad("XMLBIF", "0.3 0.3 0.4", "0.3 &#48;&#46;3 0.4 1", "8:28", "needs 6 numbers, and 7 are given"),
    Bad("XMLBIF", "<FOR>a</FOR>", "<FOR>a</FOR><FOR>b</FOR>", "5:25", "<DEFINITION> has a second <FOR>"),
    Bad("XDSL", "<smile", '<!DOCTYPE smile SYSTEM "x"><smile', "2:1", "delete <!DOCTYPE ...>"),
    Bad("XDSL", '<cpt id="b">', '<cpt id="a">', "4:1", "declared a second time"),
    Bad("XDSL", '<cpt id="b">', "<cpt>", "4:1", "<cpt> has no id"),
    Bad("XDSL", '<state id="no" />', '<state id="yes" />', "3:31", "has the state 'yes' twice"),
    Bad("XDSL", "<parents>a<", "<parents>c<", "4:70", "variable 'c' is not declared"),
    Bad("XDSL", "<parents>a<", "<parents>a</parents><parents>a<", "4:81", "<cpt> 'b' has a second <parents>"),
    Bad("XDSL", "<parents>a<", "junk<parents>a<", "4:61", "text directly inside <cpt>"),
    Bad("XDSL", "<nodes>", "<nodes> junk", "2:37", "text directly inside <nodes>"),
    Bad("XDSL", "<parents>a<", "<parents>a a<", "4:72", "has the parent 'a' twice"),
    Bad("XDSL", "<probabilities>0.2 0.8</probabilities>", "", "3:1", "<cpt> 'a' has no <probabilities>"),
    Bad("XDSL", "0.3 0.3 0.4", "0.3 0.3", "6:15", "needs 6 numbers, and 5 are given"),
    Bad("XDSL", "0.3 0.3 0.4", "0.3 0.3 o.4", "6:16", "has 'o.4' in the place of a number"),
    Bad("XDSL", "0.3 0.3 0.4", "0.3 0.3 0.5", "6:8", "sums to 1.1"),
    Bad("DSL", "net n", "network n", "1:1", "expected 'net', found 'network'"),
    Bad("DSL", "net n", "net", "2:1", "expected the name of the network, found '{'"),
    Bad("DSL", "node a", "node {", "3:7", "expected the name of a node, found '{'"),
    Bad("DSL", "TYPE = CPT", "TYPE CPT", "5:9", "expected '=', found 'CPT'"),
    Bad("DSL", "TYPE = CPT;", "TYPE = MAU;", "5:11", "a node of type 'MAU' is no part of a Bayesian network of tables"),
    Bad("DSL", "TYPE = CPT;", "", "3:7", "node 'a' has no TYPE; give it"),
    Bad("DSL", "TYPE = CPT;", "TYPE = CPT; TYPE = CPT;", "5:23", "this is a second TYPE; leave one out"),
    Bad("DSL", "TYPE = CPT;", "TYPE = CPT", "6:13", "expected ';', found '{'"),
    Bad("DSL", "PARENTS = ();", "", "3:7", "node 'a' has no PARENTS"),
    Bad("DSL", "PARENTS = ();", "PARENTS = (;", "7:15", "expected a word, or ')', found ';'"),
    Bad("DSL", "PARENTS = ();", "PARENTS = a;", "7:14", "expected '(', found 'a'"),
    Bad("DSL", "PARENTS = (a)", "PARENTS = (c)", "17:15", "variable 'c' is not declared"),
    Bad("DSL", "PARENTS = (a)", "PARENTS = (b)", "17:15", "'b' is its own parent"),
    Bad("DSL", "NAMESTATES = (yes, no);", "", "3:7", "node 'a' has no NAMESTATES"),
    Bad("DSL", "yes, no", "yes, yes", "10:25", "has the state 'yes' twice"),
    Bad("DSL", "(yes, no)", "()", "3:7", "variable 'a' has no states"),
    Bad("DSL", "PROBABILITIES = (0.2, 0.8);", "", "3:7", "node 'a' has no PROBABILITIES"),
    Bad("DSL", "0.2, 0.8", "0.2, x", "11:28", "has 'x' in the place of a number"),
    Bad("DSL", "0.2, 0.8", "0.2", "11:26", "needs 2 numbers, and 1 are given"),
    Bad("DSL", "0.3, 0.3, 0.4", "0.3, 0.3, 0.5", "20:6", "sums to 1.1"),
    Bad("DSL", "TYPE = CPT;\n   PARENTS", "TYPE = NOISY_MAX;\n   PARENTS", "14:7", "node 'b' has no STRENGTHS"),
    Bad("DSL", "0.4); };\n  };\n};", "0.4); };", "15:3", "this '{' does not close"),
    Bad("DSL", "    };\n  };\n node b", "  };\n node b", "22:1", "found the end of the file"),
    Bad("DSL", "};\n};\n", "};\n}; node", "22:4", "expected the end of the file, found 'node'"),
]
