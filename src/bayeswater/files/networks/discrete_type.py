"""The type of a variable, as BIF and DSC give it: ``type discrete [ 2 ] { yes, no };``."""

from bayeswater.files.networks.checks import NetworkChecks
from bayeswater.files.networks.tokens import Tokens


def read_type(tokens: Tokens, checks: NetworkChecks, name: str) -> tuple[tuple[str, ...], range]:
    """Read the states of a variable, and their places, from the word ``discrete`` on."""
    tokens.expect("discrete", "[")
    size_place, size = tokens.at, tokens.name("a number of states")
    start = tokens.expect("]", "{") + 2
    stop = tokens.find("}", start)
    states = tokens.names(start, stop, "a state")
    tokens.at = stop
    tokens.expect("}", ";")
    checks.require_size(name, size, len(states), size_place)
    return states, range(start, stop)
