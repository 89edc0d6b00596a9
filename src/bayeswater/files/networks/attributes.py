"""Attributes ``name = value;`` of NET and DSC as properties: a value in quotes is its text, any other its words."""

import re

from bayeswater.files.networks.document import Property
from bayeswater.files.networks.names import is_identifier
from bayeswater.files.networks.tokens import Tokens, is_name, quoted, unquoted

PLAIN = re.compile(r"-?\d+(\.\d+)?|\((-?\d+(\.\d+)?( -?\d+(\.\d+)?)*)?\)")
"""Values that are written without quotes: numbers, and lists of them."""


def read_value(tokens: Tokens) -> str:
    """Step over a value and its semicolon."""
    start = tokens.at
    stop = tokens.find(";", start)
    if stop == start + 1 and is_name(tokens.words[start]):  # as most are
        tokens.at = stop + 1
        return unquoted(tokens.words[start])
    words = tokens.words[start:stop]
    for place, word in enumerate(words, start):
        if word not in ("(", ")") and not is_name(word):
            tokens.at = place
            raise tokens.expected("';'")
    tokens.at = stop + 1
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def written_value(value: str) -> str:
    """Write a value, in quotes unless it is made of numbers.

    >>> written_value("(28 29)"), written_value("Positive X-ray?")
    ('(28 29)', '"Positive X-ray?"')
    """
    return value if PLAIN.fullmatch(value) else quoted(value)


def is_attribute(one: Property) -> bool:
    """Tell whether a property can be an attribute: its name is an identifier."""
    return is_identifier(one[0])
