"""How the formats that are made of words and signs begin to be read."""

import re

from bayeswater.files.networks.checks import NetworkChecks
from bayeswater.files.networks.encoding import decoded
from bayeswater.files.networks.tokens import Text, Tokens


def opened(
    content: str | bytes, path: str, words: re.Pattern[str], tolerance: float | None
) -> tuple[Tokens, NetworkChecks]:
    """Give the words of a file, and the checks that note what was found; its encoding is their first note."""
    text, notes = decoded(content, path)
    tokens = Tokens(Text(path, text), words)
    checks = NetworkChecks(tokens, tolerance)
    checks.notes += notes
    return tokens, checks
