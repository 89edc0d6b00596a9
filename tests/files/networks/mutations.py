"""Files with a few small damages: pieces left out, doubled, swapped, and signs put in."""

import re
from typing import Any

from hypothesis import strategies as st

PIECES = [*'{}()[];|=:,<>/"&%\\\n\r\t\x00', "//", "/*", "*/", "-1", "nan", "1e400", "0.5", "é", "<!--", "]]>", "<a>"]
PIECES += [
    "network",
    "variable",
    "table",
    "default",
    "property x;",
    "node",
    "states",
    "data",
    "BAYES",
    "99999999",
    "a",
    "X_",
]
WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


@st.composite
def mutated(draw: Any, text: str) -> str:
    """Damage a text in up to three places."""
    words = WORD.findall(text)
    for _ in range(draw(st.integers(1, 3))):
        at, length = draw(st.integers(0, len(words))), draw(st.integers(0, 4))
        match draw(st.sampled_from(["drop", "double", "insert", "replace", "swap", "cut"])):
            case "drop":
                del words[at : at + length]
            case "double":
                words[at:at] = words[at : at + length]
            case "insert":
                words.insert(at, draw(st.sampled_from(PIECES)))
            case "replace":
                words[at : at + 1] = [draw(st.sampled_from(PIECES))]
            case "swap":
                other = draw(st.integers(0, len(words)))
                low, high = sorted((at, other))
                words[low:high] = words[high - 1 : high] + words[low + 1 : high - 1] + words[low : low + 1]
            case "cut":
                del words[at:]
    return "".join(words)
