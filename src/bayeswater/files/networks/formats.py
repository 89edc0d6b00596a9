"""The formats of network files by the endings of their names, and files read and written whole.

Any of them may be compressed: ``asia.bif.gz``.
"""

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

from bayeswater.errors import NetworkFileError
from bayeswater.files.atomic import replace_file
from bayeswater.files.networks import bif, dsc, dsl, hugin_net, uai, xdsl, xmlbif
from bayeswater.files.networks.document import NetworkDocument, Written
from bayeswater.limits import NETWORK_FILE_BYTES, NETWORK_UNPACKED_BYTES, bytes_in_words
from bayeswater.records import record

COMPRESSED = ".gz"


@record
class Format:
    """A format: its name, the endings of its files, and its two directions."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[str | bytes, str, float | None], NetworkDocument]
    write: Callable[[NetworkDocument], Written]


FORMATS = (
    Format("BIF", (".bif",), bif.read, bif.write),
    Format("XMLBIF", (".xml", ".xmlbif", ".bifxml"), xmlbif.read, xmlbif.write),
    Format("XDSL", (".xdsl",), xdsl.read, xdsl.write),
    Format("DSL", (".dsl",), dsl.read, dsl.write),
    Format("NET", (".net",), hugin_net.read, hugin_net.write),
    Format("DSC", (".dsc",), dsc.read, dsc.write),
    Format("UAI", (".uai",), uai.read, uai.write),
)


def find_format(path: Path) -> Format | None:
    """Choose by the ending of a name, that of a compressed file before ``.gz``; None where it tells no format."""
    suffix = Path(path.stem if _is_compressed(path) else path.name).suffix.lower()
    return next((one for one in FORMATS if suffix in one.suffixes), None)


def format_of(path: Path) -> Format:
    """Choose by the ending of a name.

    >>> format_of(Path("asia.bif")).name, format_of(Path("asia.xdsl.gz")).name
    ('BIF', 'XDSL')
    >>> format_of(Path("asia.txt"))
    Traceback (most recent call last):
    bayeswater.errors.NetworkFileError: the format of 'asia.txt' is not known; let its name end in .bif (BIF), \
.xml, .xmlbif or .bifxml (XMLBIF), .xdsl (XDSL), .dsl (DSL), .net (NET), .dsc (DSC), .uai (UAI), each also with .gz \
behind it, or .bayes (our own)
    """
    found = find_format(path)
    if found is not None:
        return found
    # Who reads and writes models takes care of our own files before he asks here.
    known = ", ".join(f"{_listed(one.suffixes)} ({one.name})" for one in FORMATS)
    raise NetworkFileError(
        f"the format of {path.name!r} is not known; let its name end in {known}, each also with {COMPRESSED} behind "
        "it, or .bayes (our own)"
    )


def read_network(path: Path, tolerance: float | None = None) -> NetworkDocument:
    """Read a network file in the format that its name tells; rows may sum to one within a tolerance."""
    document = format_of(path).read(read_content(path), str(path), tolerance)
    if not document.nodes:
        raise NetworkFileError(f"{path} declares no variable; it may have been cut off behind its header")
    return document


def read_content(path: Path) -> bytes:
    """Read a file of networks, unpacked where it is compressed; one that is too large is refused."""
    size = path.stat().st_size
    if size > NETWORK_FILE_BYTES:
        raise NetworkFileError(
            f"{path} has {bytes_in_words(size)}, over the limit of {bytes_in_words(NETWORK_FILE_BYTES)}"
        )
    return _unpacked(path) if _is_compressed(path) else path.read_bytes()


def _is_compressed(path: Path) -> bool:
    return path.suffix.lower() == COMPRESSED


def _unpacked(path: Path) -> bytes:
    """Give what a compressed file holds: no more than it may, as a few KiB can hold gigabytes of nothing."""
    try:
        with gzip.open(path) as file:
            content = file.read(NETWORK_UNPACKED_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NetworkFileError(f"{path} is not a complete gzip file: {error}; compress it again") from None
    if len(content) > NETWORK_UNPACKED_BYTES:
        raise NetworkFileError(
            f"{path} holds more than {bytes_in_words(NETWORK_UNPACKED_BYTES)}, the limit of a compressed network; "
            "unpack it, if you trust it"
        )
    return content


def write_network(document: NetworkDocument, path: Path) -> tuple[str, ...]:
    """Write a network file in the format that its name tells, all or nothing; give notes of what it cannot hold."""
    text, notes = format_of(path).write(document)
    write_content(text, path)
    return notes


def write_content(text: str, path: Path) -> None:
    """Write a text, all or nothing, compressed where the name tells so."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise NetworkFileError(f"a name has {bad!r}, which is half of a character and no text; rename it") from None
    replace_file(path, gzip.compress(content, mtime=0) if _is_compressed(path) else content)


def _listed(parts: tuple[str, ...] | list[str]) -> str:
    return " or ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), parts[-1]])
