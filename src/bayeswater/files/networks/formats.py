"""The formats of network files by the endings of their names, and files read and written whole."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bayeswater.errors import NetworkFileError
from bayeswater.files.atomic import replace_file
from bayeswater.files.networks import bif, dsc, hugin_net, uai, xdsl, xmlbif
from bayeswater.files.networks.document import NetworkDocument, Written
from bayeswater.limits import NETWORK_FILE_BYTES


@dataclass(frozen=True)
class Format:
    """A format: its name, the endings of its files, and its two directions."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[str | bytes, str], NetworkDocument]
    write: Callable[[NetworkDocument], Written]


FORMATS = (
    Format("BIF", (".bif",), bif.read, bif.write),
    Format("XMLBIF", (".xml", ".xmlbif", ".bifxml"), xmlbif.read, xmlbif.write),
    Format("XDSL", (".xdsl",), xdsl.read, xdsl.write),
    Format("NET", (".net",), hugin_net.read, hugin_net.write),
    Format("DSC", (".dsc",), dsc.read, dsc.write),
    Format("UAI", (".uai",), uai.read, uai.write),
)


def format_of(path: Path) -> Format:
    """Choose by the ending of a name.

    >>> format_of(Path("asia.bif")).name
    'BIF'
    >>> format_of(Path("asia.txt"))
    Traceback (most recent call last):
    bayeswater.errors.NetworkFileError: the format of 'asia.txt' cannot be told; let its name end in .bif (BIF), \
.xml, .xmlbif or .bifxml (XMLBIF), .xdsl (XDSL), .net (NET), .dsc (DSC), .uai (UAI) or .bayes (our own)
    """
    for one in FORMATS:
        if path.suffix.lower() in one.suffixes:
            return one
    # Who reads and writes models takes care of our own files before he asks here.
    known = [*(f"{_listed(one.suffixes)} ({one.name})" for one in FORMATS), ".bayes (our own)"]
    raise NetworkFileError(f"the format of {path.name!r} cannot be told; let its name end in {_listed(known)}")


def read_network(path: Path) -> NetworkDocument:
    """Read a network file in the format that its name tells."""
    chosen = format_of(path)
    size = path.stat().st_size
    if size > NETWORK_FILE_BYTES:
        raise NetworkFileError(f"{path} has {size / 2**20:.0f} MiB, over {NETWORK_FILE_BYTES / 2**20:.0f} MiB")
    return chosen.read(path.read_bytes(), str(path))


def write_network(document: NetworkDocument, path: Path) -> tuple[str, ...]:
    """Write a network file in the format that its name tells, all or nothing; give notes of what it cannot hold."""
    text, notes = format_of(path).write(document)
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise NetworkFileError(f"a name has {bad!r}, which is half of a character and no text; rename it") from None
    replace_file(path, content)
    return notes


def _listed(parts: tuple[str, ...] | list[str]) -> str:
    return " or ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), parts[-1]])
