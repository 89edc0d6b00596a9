"""BIF and NET as grammars of lark: what a file means, read by somebody else's parser, and a source of odd files."""

from functools import cache
from typing import Any

import numpy as np
from lark import Lark, Transformer, v_args

BIF = r"""
start: NETWORK name "{" property* "}" (variable | probability)*
variable: VARIABLE name "{" property* type property* "}"
type: TYPE DISCRETE "[" name "]" "{" names "}" ";"
probability: PROBABILITY "(" name "|"? names ")" "{" property* (whole | rows) property* "}"
whole: TABLE names ";"
rows: row*
row: ("(" names ")" | DEFAULT) names ";"
names: name*
name: BARE | STRING
property: PROPERTY

NETWORK.2: /network(?=[\s{}()\[\];,|"]|\/[\/*]|$)/
VARIABLE.2: /variable(?=[\s{}()\[\];,|"]|\/[\/*]|$)/
PROBABILITY.2: /probability(?=[\s{}()\[\];,|"]|\/[\/*]|$)/
TYPE.2: /type(?=[\s{}()\[\];,|"]|\/[\/*]|$)/
DISCRETE.2: /discrete(?=[\s{}()\[\];,|"]|\/[\/*]|$)/
TABLE.2: /table(?=[\s{}()\[\];,|"]|\/[\/*]|$)/
DEFAULT.2: /default(?=[\s{}()\[\];,|"]|\/[\/*]|$)/
PROPERTY.3: /property\s([^;"{}]|"([^"\\]|\\.)*")*;/s
BARE: /(?![=:]([\s{}()\[\];,|"]|\/[\/*]|$))(?!property\s)([^\s{}()\[\];,|"\/]|\/(?![\/*]))+/
STRING: /"([^"\\]|\\.)*"/s
%ignore /[\s,]+/
%ignore /\/\/[^\r\n]*/
%ignore /\/\*([^*]|\*(?!\/))*\*\//
"""

NET = r"""
start: NET "{" attribute* "}" (node | potential)*
attribute: name "=" value* ";"
value: name | "(" | ")"
node: DISCRETE? NODE name "{" attribute* states attribute* "}"
states: STATES "=" "(" names ")" ";"
potential: POTENTIAL "(" name ("|" names)? ")" "{" extra* data extra* "}"
data: DATA "=" nested ";"
nested: "(" (nested | name)* ")"
extra: EXTRA "=" value* ";"
names: name*
name: BARE | STRING

NET.2: /net(?=[\s,{}()=;|"%]|$)/
DISCRETE.2: /discrete(?=[\s,{}()=;|"%]|$)/
NODE.2: /node(?=[\s,{}()=;|"%]|$)/
STATES.2: /states(?=[\s,{}()=;|"%]|$)/
POTENTIAL.2: /potential(?=[\s,{}()=;|"%]|$)/
DATA.2: /data(?=[\s,{}()=;|"%]|$)/
EXTRA.2: /(experience|fading)(?=[\s,{}()=;|"%]|$)/
BARE: /(?![\[\]:]([\s,{}()=;|"%]|$))(?!\/\*)[^\s,{}()=;|"%]+/
STRING: /"([^"\\]|\\.)*"/s
%ignore /[\s,]+/
%ignore /%[^\r\n]*/
"""


@cache
def parser(grammar: str) -> Lark:
    """Make the parser of a grammar; it is not fast, and need not be."""
    return Lark(grammar, parser="lalr", lexer="contextual")


def _text(token: str) -> str:
    if not token.startswith('"'):
        return str(token)
    out, at = "", 1
    while at < len(token) - 1:  # by hand, not by the expression of the reader under test
        at += token[at] == "\\" and token[at + 1] in '"\\'
        out += token[at]
        at += 1
    return out


@v_args(inline=True)
class _Plain(Transformer):
    """Names as text, lists of them as tuples; the rest stays a tree."""

    def name(self, token: Any) -> str:
        return _text(token)

    @v_args(inline=False)
    def names(self, children: Any) -> tuple[str, ...]:
        return tuple(children)


def meaning_of_bif(text: str) -> dict[str, Any]:
    """Give states, parents and tables by name, worked out entry by entry."""
    tree = _Plain().transform(parser(BIF).parse(text))
    states = {}
    for variable in tree.find_data("variable"):
        (kind,) = variable.find_data("type")
        states[variable.children[1]] = kind.children[3]
    tables = {}
    for block in tree.find_data("probability"):
        name, parents = [child for child in block.children if isinstance(child, str | tuple)][1:3]
        shape = [len(states[parent]) for parent in parents] + [len(states[name])]
        table = np.full(shape, np.nan)
        for whole in block.find_data("whole"):
            numbers = list(map(float, whole.children[1]))
            for place in np.ndindex(shape[-1], *shape[:-1]):  # the variable's own states run slowest
                table[(*place[1:], place[0])] = numbers.pop(0)
        for row in sorted(block.find_data("row"), key=lambda row: isinstance(row.children[0], tuple)):
            labels, numbers = row.children
            if isinstance(labels, tuple):
                where = tuple(states[parent].index(label) for parent, label in zip(parents, labels, strict=True))
                table[where] = list(map(float, numbers))
            else:
                table[...] = list(map(float, numbers))
        tables[name] = (states[name], parents, table)
    return tables


def meaning_of_net(text: str) -> dict[str, Any]:
    """Give states, parents and tables by name."""
    tree = _Plain().transform(parser(NET).parse(text))
    states = {}
    for node in tree.find_data("node"):
        (given,) = node.find_data("states")
        name = next(child for child in node.children if type(child) is str)
        states[name] = given.children[1]
    tables = {}
    for block in tree.find_data("potential"):
        name, *rest = [child for child in block.children[1:] if isinstance(child, str | tuple)]
        parents = rest[0] if rest else ()
        (data,) = block.find_data("data")
        tables[name] = (states[name], parents, _numbers(data.children[1], states, (*parents, name)))
    return tables


def _numbers(nested: Any, states: dict[str, Any], axes: tuple[str, ...]) -> Any:
    def plain(part: Any) -> Any:
        return float(part) if isinstance(part, str) else [plain(child) for child in part.children]

    return np.array(plain(nested)).reshape([len(states[axis]) for axis in axes])
