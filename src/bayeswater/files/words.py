"""Words as bytes: each in UTF-8, ended by the byte 0xFF, which no character has.

A vocabulary may have a million words. As an array they take the space of their letters, and are not escaped and parsed
as the labels in a document are.
"""

from collections.abc import Sequence

import numpy as np

from bayeswater.errors import ModelFileError
from bayeswater.files.model_file import require
from bayeswater.typing import Array

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
