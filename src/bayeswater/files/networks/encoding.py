"""Bytes to text: UTF-8 with or without its mark, UTF-16 with it, and Latin-1 where the bytes are no UTF-8, noted."""

import codecs


def decoded(content: str | bytes, path: str) -> tuple[str, list[str]]:
    r"""Give the text, and what there is to note about it.

    >>> decoded("\ufeffnet {}".encode(), "a.net")
    ('net {}', [])
    >>> decoded(b"Gr\xf6\xdfe", "a.net")
    ('Größe', ['a.net is not in UTF-8 and was read as Latin-1'])
    """
    if isinstance(content, str):
        return content.removeprefix("\ufeff"), []
    try:
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return content.decode("utf-16"), []
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return content.decode("latin-1"), [f"{path} is not in UTF-8 and was read as Latin-1"]
