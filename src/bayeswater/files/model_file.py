"""A model file: arrays of numbers in the layout of safetensors, and one JSON document that says what they are.

    8 bytes    length of the header, little-endian
    header     JSON: {"__metadata__": {"bayeswater": document}, array: {"dtype", "shape", "data_offsets"}, ...}
    arrays     their bytes, one after the other, without gaps

The document begins with the version of the format and ends with a fingerprint of everything else. The reader trusts
nothing: all sizes are compared with that of the file before anything is allocated for them, and what it returns is
plain values and numbers. A fingerprint shows damage, not intent: whoever writes a file can compute one, so what a
document means is checked by those who know (`models/persistence.py`).

Words are kept as bytes: each in UTF-8, ended by the byte 0xFF, which no character has. A vocabulary may have a million
words. As an array they take the space of their letters, and are not escaped and parsed as the labels in a document are.
"""

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from math import isfinite, prod
from pathlib import Path
from reprlib import repr as shortened
from stat import S_ISREG
from typing import Any, BinaryIO

import numpy as np

from bayeswater.errors import ModelFileError
from bayeswater.files.atomic import replace_file
from bayeswater.limits import JSON_DEPTH, MODEL_FILE_BYTES, MODEL_HEADER_BYTES
from bayeswater.typing import Array

FORMATS = (1,)
"""Versions of the format that can be read; the last one is written."""

DTYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "U8": np.dtype("|u1"),
}
"""The numbers that a model file holds, and the bytes of its words, by the names of safetensors."""

MOST_DIMENSIONS = 8

OTHER_FILES = {b"\x80": "a pickle", b"PK": "a zip archive", b"\x1f\x8b": "a gzip file", b"{": "JSON text"}
"""How files begin that are taken for model files."""

Document = dict[str, Any]


def write_model_file(path: Path, document: Document, arrays: dict[str, Array]) -> None:
    """Write a document and arrays of int64, float64, float32 or bytes, all or nothing."""
    from safetensors.numpy import save  # only whoever saves needs it

    require(not path.is_dir(), "it is a directory; give the name of a file")
    n_bytes = sum(array.nbytes for array in arrays.values())
    require(n_bytes <= MODEL_FILE_BYTES, f"its sums take {_size(n_bytes)}, over {_size(MODEL_FILE_BYTES)}")
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    document = {**document, "format": FORMATS[-1]}
    document["sha256"] = _fingerprint(document, arrays)
    text = _dumps(document)
    _parsed(text, "the document")  # what could not be read is not written
    content = save(arrays, {"bayeswater": text})
    n_header = int.from_bytes(content[:8], "little")
    require(
        n_header <= MODEL_HEADER_BYTES,
        f"its labels, names and parameters take {_size(n_header)}, over {_size(MODEL_HEADER_BYTES)}",
    )
    replace_file(path, content)


def read_model_file(path: Path) -> tuple[Document, dict[str, Array]]:
    """Read what was written; refuse every file that is not whole, unaltered and of a format known here."""
    require(S_ISREG(path.stat().st_mode), "it is a directory or a device, not a file")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = _parsed(_read_header(file, size), "the header")
        document = _document(header.pop("__metadata__", None))
        arrays = {}
        for name, (dtype, shape) in _layout(header, size - file.tell()).items():
            array = np.fromfile(file, dtype, prod(shape))
            require(array.size == prod(shape), "it was cut short while it was read")
            arrays[name] = array.reshape(shape)
    given = document.pop("sha256", None)
    require(given == _fingerprint(document, arrays), "it does not match its fingerprint: it was damaged or altered")
    del document["format"]
    return document, arrays


def _read_header(file: BinaryIO, size: int) -> bytes:
    require(size <= MODEL_FILE_BYTES, f"it has {_size(size)}, over {_size(MODEL_FILE_BYTES)}")
    first = file.read(8)
    length = int.from_bytes(first, "little")
    if len(first) < 8 or length > MODEL_HEADER_BYTES:
        like = [f", like {what}" for start, what in OTHER_FILES.items() if first.startswith(start)]
        begins = f"begins with {first!r}{''.join(like)}" if first else "is empty"
        raise ModelFileError(
            f"it is no model file: it {begins}; give one that `save` or `bayeswater fit` wrote; networks, as .bif, are "
            "for `BayesianNetwork.read` and verbs such as `bayeswater query`, `score`, `impute`"
        )
    require(length <= size - 8, f"its header should have {length} bytes, but the file ends after {size - 8} of them")
    header = file.read(length)
    # By safetensors' own rules nothing stands before the object, and nothing but blanks after it.
    require(header[:1] == b"{" and header.rstrip(b" ")[-1:] == b"}", "its header is no JSON object")
    return header


def _parsed(text: str | bytes, what: str) -> Document:
    """Read a JSON object: no key twice, no number but finite ones, no deeper than any of our documents."""
    try:
        text = text.decode() if isinstance(text, bytes) else text
        value = json.loads(text, object_pairs_hook=_keys_once, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise ModelFileError(f"{what} is nested more than {JSON_DEPTH} levels deep") from None
    except ValueError as error:
        raise ModelFileError(f"{what} cannot be read as JSON: {error}") from None
    require(isinstance(value, dict), f"{what} is no JSON object")
    level, depth = [value], 0
    while level:
        depth += 1
        require(depth <= JSON_DEPTH, f"{what} is nested more than {JSON_DEPTH} levels deep")
        inside = (part.values() if isinstance(part, dict) else part for part in level)
        level = [child for children in inside for child in children if isinstance(child, dict | list)]
    return value


def _keys_once(pairs: list[tuple[str, Any]]) -> Document:
    found: Document = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key {key!r} occurs more than once")
        found[key] = value
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no finite number")
    return number


def _document(metadata: Any) -> Document:
    match metadata:
        case {"bayeswater": str(text), **other} if not other:
            document = _parsed(text, "the document")
        case _:
            raise ModelFileError("it is a safetensors file, but holds no model of Bayeswater")
    found = document.get("format")
    if type(found) is not int or found not in FORMATS:
        known = ", ".join(map(str, FORMATS))
        raise ModelFileError(
            f"it has format {shortened(found)}, written by {shortened(document.get('library'))}, and this version of "
            f"Bayeswater reads format {known}; load it with the version that wrote it, or a newer one"
        )
    return document


def _layout(header: Document, n_bytes: int) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """Check where the arrays lie: they fill all bytes after the header, and each fills its own; in that order."""
    places = sorted((_place(name, entry) for name, entry in header.items()), key=lambda place: place[0])
    end = 0
    for start, stop, name, dtype, shape in places:
        require(start == end, f"array {name!r} begins at byte {start}, where the one before it ends at {end}")
        needed = prod(shape) * dtype.itemsize
        require(stop - start == needed, f"array {name!r} of shape {shape} needs {needed} bytes, not {stop - start}")
        end = stop
    require(end == n_bytes, f"its arrays should have {end} bytes, and {n_bytes} are there")
    return {name: (dtype, shape) for _, _, name, dtype, shape in places}


def _place(name: str, entry: Any) -> tuple[int, int, str, np.dtype[Any], tuple[int, ...]]:
    match entry:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(start), int(stop)]} if (
            len(entry) == 3
            and dtype in DTYPES
            and 1 <= len(shape) <= MOST_DIMENSIONS
            and all(type(n) is int and 0 < n < 2**63 for n in shape)
        ):
            return start, stop, name, DTYPES[dtype], tuple(shape)
    raise ModelFileError(f"array {name!r} is described by {shortened(entry)}, which is no array of {', '.join(DTYPES)}")


def _fingerprint(document: Document, arrays: dict[str, Array]) -> str:
    """Hash the document and the names, kinds, shapes and bytes of the arrays."""
    digest = sha256(_dumps(document).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode(errors="surrogatepass"))
        digest.update(array.reshape(-1).data)
    return digest.hexdigest()


def _dumps(document: Document) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def require(condition: bool, problem: str) -> None:
    """Refuse a model file for a problem; who is asked to write or read it adds its name."""
    if not condition:
        raise ModelFileError(problem)


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:.1f} MiB"


END = 0xFF


def words_as_bytes(words: Sequence[str], where: str) -> Array:
    """Write words as an array of bytes; refuse, naming `where` they stand, what is no text.

    >>> words_as_bytes(["be", "to"], "column 'line'")
    array([ 98, 101, 255, 116, 111, 255], dtype=uint8)
    """
    try:
        text = b"\xff".join([*map(str.encode, words), b""])
    except UnicodeEncodeError as error:
        raise ModelFileError(f"{where} has the word {error.object!r}, which a model file cannot hold") from None
    return np.frombuffer(text, dtype=np.uint8)


def words_of_bytes(text: Array, n_words: int, where: str) -> tuple[str, ...]:
    """Read the words back; there are as many as are told, before memory is taken for them.

    >>> words_of_bytes(words_as_bytes(["be", "to"], ""), 2, "column 'line'")
    ('be', 'to')
    """
    require(text.ndim == 1 and text.dtype == np.uint8, f"the words of {where} are no bytes in a row")
    n_found = int((text == END).sum())
    require(n_found == n_words, f"{where} has {n_found} words, and counts of {n_words}")
    require(not text.size or text[-1] == END, f"the words of {where} have no end")
    try:
        return tuple(map(bytes.decode, text.tobytes().split(b"\xff")[:-1]))
    except UnicodeDecodeError as error:
        raise ModelFileError(f"the words of {where} are no text: {error}") from None
