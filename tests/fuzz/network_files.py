"""Damaged network files of every format: refused with the place, or a network that answers and can be written again."""

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.files.networks.bad_files import GOOD
from tests.files.networks.documents import ASIA
from tests.files.networks.mutations import PIECES, WORD
from tests.fuzz.judging import Refused, asked, noted, ours

from bayeswater import BayesianNetwork
from bayeswater.errors import NetworkFileError, ResourceLimitError
from bayeswater.files.networks.formats import FORMATS

Rng = np.random.Generator
NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?![\w.])")
NUMBERS = [
    "0",
    "1",
    "-1",
    "0.5",
    "1e-320",
    "1e400",
    "nan",
    "inf",
    "0x1",
    "1_0",
    "1,5",
    ".5",
    "5.",
    "+0.2",
    "1e-9",
    "99999999",
]


@cache
def good_files() -> list[tuple[str, str]]:
    """Endings and texts of sound files: a small network and asia in every format."""
    suffix = {one.name: one.suffixes[0] for one in FORMATS}
    return [(suffix[name], text) for name, text in GOOD.items()] + [
        (one.suffixes[0], one.write(ASIA).text) for one in FORMATS
    ]


def case(seed: int) -> None:
    rng = np.random.default_rng(seed)
    files = good_files()
    suffix, text = files[rng.integers(len(files))]
    content = encoded(rng, damaged(rng, text))
    with tempfile.TemporaryDirectory() as folder, noted(f"{suffix}\n{content[:3000]!r}"):
        path = Path(folder) / f"damaged{suffix}"
        path.write_bytes(content)
        try:
            with ours():
                network = BayesianNetwork.read(path)
        except Refused as refusal:
            cause = refusal.__cause__
            assert isinstance(cause, NetworkFileError | ResourceLimitError), f"refused with {cause!r}"
            assert path.name in str(refusal), f"the file is not named: {refusal}"
            return
        require_answers(rng, network)
        require_same_after_writing(rng, network, path)


def damaged(rng: Rng, text: str) -> str:
    """Words left out, doubled, replaced or swapped, numbers changed, the end cut off."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        words = WORD.findall(text)
        if not words:
            return text
        at, other = (int(place) for place in rng.integers(0, len(words), 2))
        length = int(rng.integers(1, 5))
        match rng.integers(9):
            case 0:
                del words[at : at + length]
            case 1:
                words[at:at] = words[at : at + length]
            case 2:
                words.insert(at, PIECES[rng.integers(len(PIECES))])
            case 3:
                words[at] = PIECES[rng.integers(len(PIECES))]
            case 4:
                words[at], words[other] = words[other], words[at]
            case 5 if rng.random() < 0.3:
                del words[at:]
            case 6:
                words[at:at] = ["\n", " ", "\t"][rng.integers(3)]
            case _:
                places = [*NUMBER.finditer(text)]
                if places:
                    one, two = (places[place] for place in rng.integers(0, len(places), 2))
                    drawn = two[0] if rng.random() < 0.3 else NUMBERS[rng.integers(len(NUMBERS))]
                    words = [text[: one.start()], drawn, text[one.end() :]]
        text = "".join(words)
    return text


def encoded(rng: Rng, text: str) -> bytes:
    """Bytes of the text, seldom in an encoding that nobody has named, or with a byte changed."""
    match rng.integers(12):
        case 0:
            return text.encode("utf-8-sig")
        case 1:
            return text.encode("utf-16")
        case 2:
            return text.encode("latin-1", "replace")
        case 3:
            return text.replace("\n", "\r\n").encode()
        case 4 if text:
            found = bytearray(text.encode())
            found[rng.integers(len(found))] = int(rng.integers(256))
            return bytes(found)
    return text.encode()


def require_answers(rng: Rng, network: Any) -> None:
    """Every variable has a distribution, and rows can be drawn and scored."""
    for name in network.names:
        found = asked(lambda name=name: network.query(name))
        if found is not None:
            shares = np.array([*found.values()])
            assert np.isfinite(shares).all(), f"P({name}) is {shares}"
            np.testing.assert_allclose(shares.sum(), 1.0, atol=1e-9, err_msg=f"P({name})")
    rows = asked(lambda: network.sample(4, random_state=int(rng.integers(9))))
    if rows is not None:
        with ours():
            scores = network.log_probability(rows)
        assert np.isfinite(scores).all(), "a drawn row is impossible"
    with ours():
        assert network.to_dot()
        assert network.to_svg(bars=False)


def require_same_after_writing(rng: Rng, network: Any, path: Path) -> None:
    """Written in the same format it is the same network to the bit; in another, the same numbers."""
    other = FORMATS[rng.integers(len(FORMATS))].suffixes[0]
    for target in (path.with_name(f"again{path.suffix}"), path.with_name(f"other{other}"), path.with_name("own.bayes")):
        with ours():
            network.write(target)
            again = BayesianNetwork.read(target)
        if target.suffix in (path.suffix, ".bayes"):
            assert again.names == network.names, f"other names in {target.suffix}"
            assert again.edges == network.edges, f"other edges in {target.suffix}"
        # Some formats have parents before their children, others take other names.
        names = network.names if set(again.names) == set(network.names) else again.names
        for mine, theirs in zip(network.names, names, strict=True):
            tables = network.cpt(mine), again.cpt(theirs)
            np.testing.assert_array_equal(*map(np.asarray, tables), err_msg=f"another table in {target.suffix}")
