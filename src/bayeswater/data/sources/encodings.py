"""Encodings of text: named, told by a mark at the beginning, or found by what the bytes look like.

Text is UTF-8 unless bytes are not. Then the encodings that files of tables have are tried: the right one makes of
nearly all bytes beyond ASCII the common characters of its language. Where several do, and the text is long enough to
tell, the one is taken in which charset-normalizer finds words of a language. It is a guess, and is said.
"""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from bayeswater.errors import DataError, ParameterError

ENCODING_OF_MARK = {
    codecs.BOM_UTF32_LE: "utf-32",  # before that of UTF-16, which it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Encodings that tell themselves by their first bytes, such as those of Excel's "Unicode text"."""

UTF_8 = "utf-8"

ENCODING_OF_ESCAPE = {
    b"\x1b$B": "iso2022_jp",
    b"\x1b$@": "iso2022_jp",
    b"\x1b(J": "iso2022_jp",
    b"\x1b$)C": "iso2022_kr",
}
"""Encodings of seven bits that tell themselves by how they change their letters."""

SIGNS = "¿¡«»°§²³µ£€©®–—‘’“”„…\xa0"
"""Signs beside letters, in all languages."""

WESTERN = ("äöüß", "àâäçéèêëîïôùûüÿœæ", "áéíóúüñ", "àèéìíòóù", "ãõáâàçéêíóôú", "åäöøæé", "áðéíóúýþæö")
"""German, French, Spanish, Italian, Portuguese, the languages of the North, Icelandic."""

CENTRAL = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíľĺňóôŕšťúýž", "áéíóöőúüű", "ăâîșțşţ", "čćđšž", "äöüß")
"""Polish, Czech, Slovak, Hungarian, Romanian, Croatian, German."""

LETTERS: dict[str, tuple[str, ...]] = {
    "cp1254": ("çğıi̇öşüâîû",),  # before Western, whose Icelandic has these bytes among others
    **dict.fromkeys(("cp1252", "iso8859-15", "cp850", "mac-roman"), WESTERN),
    **dict.fromkeys(("cp1250", "iso8859-2"), CENTRAL),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),  # Lithuanian, Latvian, Estonian
}
"""Letters beyond ASCII of the languages that an encoding is for, which stand alone among others."""

SCRIPTS = {
    **dict.fromkeys(("cp1251", "koi8-r", "cp866", "iso8859-5"), ("\u0400", "\u045f", "оеаинтсрвлкмдп")),
    "cp1253": ("\u0384", "\u03ce", "αοιετσνηυρπκςλ"),
    "cp1255": ("\u05d0", "\u05ea", "יוהלאתרבםמנשקד"),
    "cp1256": ("\u0621", "\u064a", "اليمنرتبةودسعه"),
    "cp874": ("\u0e01", "\u0e5b", "านรกเอลงมยวท่้ีั"),
}
"""First and last letter of other scripts, of which whole words are, and the most frequent ones: Cyrillic, Greek,
Hebrew, Arabic, Thai."""

CANDIDATES: dict[str, Callable[[str], bool]] = {
    "euc_kr": lambda sign: "\uac00" <= sign <= "\ud7a3",  # before Chinese, whose bytes are these among others
    "gb18030": lambda sign: sign in "，。、：；？！（）《》“”—…　" or _lies_in(sign, "gb2312", 0xB0, 0xD7),
    "big5": lambda sign: _lies_in(sign, "big5", 0xA1, 0xC6),
    "cp932": lambda sign: "\u3000" <= sign <= "\u30ff" or _lies_in(sign, "shift_jis", 0x81, 0x97),
    "euc_jp": lambda sign: "\u3000" <= sign <= "\u30ff" or _lies_in(sign, "shift_jis", 0x81, 0x97),
    **dict.fromkeys((*LETTERS, *SCRIPTS), str.isprintable),
    "utf_16_le": str.isprintable,
    "utf_16_be": str.isprintable,
}
"""Encodings that files of tables have where they are not UTF-8, and which signs are common in each."""

LEAST_SHARE = 0.5
"""Of signs beyond ASCII that are common in a language; of what is no text at all, less are."""

FAR_MORE = 0.3
"""Share of common signs that another encoding has more than the likely one, where it is taken in its place."""

CONTROL = re.compile(rb"[\x00\x02-\x08\x0e-\x1a\x1c-\x1e]")
"""Bytes that no text has, but for two that part cells."""

CONTROL_OF_8_BITS = re.compile("[\x80-\x84\x86-\x9f]")
"""Signs that no text has: letters of Windows, read as another encoding."""

SYMBOLS = re.compile(rb"(?:[\x00-\x7f]|[%b](?![\x80-\xff]))*" % "°²³µ£§©®±·½€".encode("cp1252"))
"""Text that has nothing beyond ASCII but signs of units, as 20 °C, each alone."""

CHINESE_DATE = re.compile(r"\d年\d{1,2}月")
"""What no other encoding makes of its bytes."""

MOSTLY = 5
"""Times that UTF-8 must be right where it is wrong once, in text of which only some lines are in another encoding."""

NO_CHANCE = 5
"""Signs above the first wrong line that are right in UTF-8, which those of another encoding are not by chance."""

KOREAN_SIGNS = 24
"""Signs from which on it is no chance that all of them are Korean."""

LONG_ENOUGH = 500
"""Bytes beyond ASCII from which on words are looked for."""

LOOKED_AT = 2**16
"""Bytes by which an encoding is found."""


def known_encoding(encoding: str) -> str:
    """Give the name of an encoding as Python spells it."""
    try:
        "".encode(encoding)  # hex and rot13, too, are names of codecs, but not of text
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, ValueError):  # a NUL in the name is a ValueError
        raise ParameterError(
            f"there is no encoding {encoding!r}; give one that Python knows, such as utf-8 or gbk"
        ) from None


def marked_encoding(head: bytes) -> str | None:
    """Give the encoding that a mark at the beginning tells, or an escape; that of UTF-8 tells what is taken anyway."""
    if b"\x1b" in head and head.isascii():
        return next((name for escape, name in ENCODING_OF_ESCAPE.items() if escape in head), None)
    return next((name for mark, name in ENCODING_OF_MARK.items() if head.startswith(mark)), None)


def n_mark_bytes(head: bytes) -> int:
    """Count the bytes of marks of UTF-8 at the beginning: programs that read one as text write another before it.

    >>> n_mark_bytes(codecs.BOM_UTF8 * 2 + b"a,b"), n_mark_bytes(b"a,b")
    (6, 0)
    """
    n = 0
    while head.startswith(codecs.BOM_UTF8, n):
        n += len(codecs.BOM_UTF8)
    return n


def is_utf_8(content: bytes) -> bool:
    """Say whether bytes are text in UTF-8, of which the last character may be cut off.

    >>> [is_utf_8("Köln".encode(encoding)) for encoding in ("utf-8", "latin-1", "utf-16-le")]
    [True, False, False]
    """
    return not _is_wide(content) and _is_text_in(UTF_8, content)


def _is_wide(content: bytes) -> bool:
    """Tell UTF-16, in which every other byte of Western text is zero."""
    head = content[:LOOKED_AT]
    return head.count(b"\0") > len(head) // 4


def found_encoding(
    content: bytes,
    where: str,
    expected: Iterable[str] = (),
    likely: str | None = None,
    n_above: int = 0,
    n_signs_above: int = 0,
) -> str:
    """Find the encoding of text that is not UTF-8, by the lines in which it shows.

    Above it are so many lines, and in them so many signs beyond ASCII, all of them right in UTF-8.

    Names of columns that are `expected` decide, where text has them in some encodings alone. The encoding that is
    `likely`, of other files of the same table, is taken unless the text looks like another one far more.

    Raises
    ------
    DataError
        Where it is text in none of those that are looked for.
    """
    _require_one_encoding(content, where, n_above, n_signs_above)
    is_wide = _is_wide(content)
    lines = [content] if is_wide else [line for line in content.splitlines() if not line.isascii()]
    shown = b"\n".join(lines)[:LOOKED_AT]
    share = {
        name: _share_of_common(shown, name)
        for name in dict.fromkeys([*CANDIDATES, *([likely] if likely else [])])
        if ("16" in name) == is_wide and _is_text_in(name, content)
    }
    named = [column for column in expected if not column.isascii()]
    n_named = {name: sum(column in shown.decode(name, errors="ignore") for column in named) for name in share}
    if "cp1252" in share and SYMBOLS.fullmatch(shown):
        share = {"cp1252": 1.0}
    if any(n_named.values()):
        share = {name: 1.0 for name in share if n_named[name] == max(n_named.values())}
    is_binary = not is_wide and CONTROL.search(content) is not None
    if is_binary or max(share.values(), default=0.0) < LEAST_SHARE:
        raise DataError(not_in_encoding(where, UTF_8))
    if likely in share and share[likely] > max(LEAST_SHARE, max(share.values()) - FAR_MORE):
        return likely
    best = [name for name in share if share[name] > max(share.values()) - 0.05]
    best = [name for name in share if CHINESE_DATE.search(shown.decode(name, errors="ignore"))] or best
    if len(best) > 1 and sum(byte > 127 for byte in shown) >= LONG_ENOUGH:
        from charset_normalizer import from_bytes

        found = from_bytes(shown, cp_isolation=best, threshold=1.0).best()
        best = best if found is None or _are_alike(shown, found.encoding, best[0]) else [found.encoding]
    is_western = "cp1252" in share and _are_alike(shown, "cp1252", best[0])
    return known_encoding("cp1252" if is_western else best[0])


def _are_alike(content: bytes, encoding: str, other: str) -> bool:
    """Say whether bytes are the same text in both, as German is in cp1250 and cp1252."""
    return content.decode(encoding, errors="ignore") == content.decode(other, errors="ignore")


def n_signs(text: str) -> int:
    """Count the signs beyond ASCII."""
    return 0 if text.isascii() else sum(not sign.isascii() for sign in text)


def _require_one_encoding(content: bytes, where: str, n_above: int, n_signs_above: int) -> None:
    """Refuse text in UTF-8 with lines of another encoding among it, as of files that were put together."""
    text = codecs.getincrementaldecoder(UTF_8)("replace").decode(content)
    n_strange, n_right = text.count("\ufffd"), n_signs_above + n_signs(text.partition("\ufffd")[0])
    if n_strange and (n_right >= NO_CHANCE or n_signs(text) > MOSTLY * n_strange):
        lines = content.splitlines()
        place = next(place for place, line in enumerate(lines) if not _is_text_in(UTF_8, line + b"\n"))
        raise DataError(
            f"{where} is text in UTF-8, but line {n_above + place + 1} is not: {lines[place][:80]!r}; write all of it "
            "in UTF-8, or name the encoding with bayeswater.local_rows(source, encoding='cp1252')"
        )


def _share_of_common(content: bytes, encoding: str) -> float:
    """Give the share of signs beyond ASCII that are common; of UTF-16, of all."""
    text = content.decode(encoding, errors="ignore")
    if CONTROL_OF_8_BITS.search(text):
        return 0.0
    if encoding in LETTERS:
        return _share_of_letters(text, LETTERS[encoding])
    if encoding in SCRIPTS:
        return _share_of_script(text, *SCRIPTS[encoding])
    is_common = CANDIDATES.get(encoding, str.isprintable)
    signs = [sign for sign in text if not sign.isascii() or "16" in encoding]
    if not signs or (encoding == "euc_kr" and len(signs) < KOREAN_SIGNS):
        return 0.0
    n_odd = sum(map(is_common, BEHIND_ASCII.findall(text))) if "16" not in encoding else 0
    return (sum(map(is_common, signs)) - n_odd) / len(signs)


def _share_of_letters(text: str, languages: Sequence[str]) -> float:
    """Give the share of letters of some languages, half of it for those of the one that has most: others are names.

    Words have neither five of them in a row, nor capitals behind small letters, nor quotes within.
    """
    n, n_odd = sum(not sign.isascii() for sign in text), len(WITHIN_WORD.findall(text))
    times = Counter(sign for sign in RUN.sub("", text).lower() if not sign.isascii())
    n_signs, of_any, *of_each = (
        sum(number for sign, number in times.items() if sign in known)
        for known in (SIGNS, "".join(languages), *languages)
    )
    return max(n_signs + (of_any + max(of_each)) / 2 - n_odd, 0) / n if n else 0.0


def _share_of_script(text: str, first: str, last: str, frequent: str) -> float:
    """Give the share of letters of a script, half of it for frequent ones, of which most are.

    They stand in words of their own, with no capitals behind small ones.
    """
    signs = [sign for sign in text if not sign.isascii()]
    letters = [sign for sign in signs if first <= sign <= last]
    n_frequent = min(sum(sign.lower() in frequent for sign in letters) / MOSTLY_FREQUENT, len(letters))
    n_common = (len(letters) + n_frequent) / 2 + sum(sign in SIGNS for sign in signs)
    n_odd = len(BESIDE_ASCII.findall(text)) + len(WITHIN_WORD.findall(text))
    return max(n_common - n_odd, 0) / len(signs) if signs else 0.0


def _capitals() -> str:
    return "".join(sign for sign in map(chr, range(0xC0, 0x460)) if sign.isupper())


RUN = re.compile(r"[^\W\d_\x00-\x7f]{5,}")
"""More letters beyond ASCII in a row than languages have that have few of them."""

MOSTLY_FREQUENT = 0.75
"""Share of the letters of a text that are frequent ones."""

BESIDE_ASCII = re.compile(r"[A-Za-z](?=[^\x00-\x7f])|[^\x00-\x7f](?=[A-Za-z])")
BEHIND_ASCII = re.compile(r"[A-Za-z]([^\x00-\x7f])")

WITHIN_WORD = re.compile(
    rf"(?<=[a-zß-öø-ÿа-яёά-ώ])[{_capitals()}]|(?<=[A-Za-z])[{SIGNS.replace('’', '')}](?=[A-Za-z])|[©®](?=[A-Za-z])"
)
"""What stands behind no small letter of a word."""


def _lies_in(sign: str, encoding: str, first: int, last: int) -> bool:
    """Say whether the first byte of a sign lies among those of the common ones."""
    try:
        return first <= sign.encode(encoding)[0] <= last
    except UnicodeEncodeError:
        return False


def _is_text_in(encoding: str, content: bytes) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(content)
    except UnicodeDecodeError:
        return False
    return True


def not_in_encoding(where: str, encoding: str) -> str:
    """Say that text is not in an encoding, and what to do."""
    return (
        f"{where} is not text in {encoding}; name the encoding of the file, for example "
        "bayeswater.local_rows(source, encoding='gbk') (Chinese), shift_jis (Japanese) or cp1252 (Western Windows)"
    )
