"""Dates and times as people write them: the pattern of a format, and days and times of day out of strings.

A format is that of `strptime`. Behind it a time of day may stand, with a zone or without. Months may have names in
seven languages, and a weekday before them.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

MONTHS = (
    "january jan januar jänner januari janvier janv enero ene gennaio gen janeiro stycznia ocak января янв "
    "januára ledna ianuarie január tammikuuta ιανουαρίου ιαν січня",
    "february feb februar februari février févr fév febrero febbraio fevereiro fev lutego şubat февраля фев "
    "februára února februarie február helmikuuta φεβρουαρίου φεβ лютого",
    "march mar märz mär mrz maart mrt mars marzo março marca mart марта мар "
    "března martie március maaliskuuta μαρτίου μαρ березня",
    "april apr avril avr abril abr aprile kwietnia nisan апреля апр "
    "apríla dubna aprilie április huhtikuuta απριλίου απρ квітня",
    "may mai mei mayo maggio mag maio maj maja mayıs мая май mája května május toukokuuta μαΐου μαϊ травня",
    "june jun juni juin junio giugno giu junho czerwca haziran июня июн "
    "júna června iunie június kesäkuuta ιουνίου ιουν червня",
    "july jul juli juillet juil julio luglio lug julho lipca temmuz июля июл "
    "júla července iulie július heinäkuuta ιουλίου ιουλ липня",
    "august aug augustus août agosto ago augusti sierpnia ağustos августа авг "
    "srpna augusztus elokuuta αυγούστου αυγ серпня",
    "september sep sept septembre septiembre settembre set setembro września eylül сентября сен сент "
    "septembra září septembrie szeptember syyskuuta σεπτεμβρίου σεπ вересня",
    "october oct oktober okt octobre octubre ottobre ott outubro out października ekim октября окт "
    "októbra října octombrie október lokakuuta οκτωβρίου οκτ жовтня",
    "november nov novembre noviembre novembro listopada kasım ноября ноя "
    "novembra listopadu noiembrie marraskuuta νοεμβρίου νοε листопада",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro grudnia aralık декабря дек "
    "decembra prosince decembrie joulukuuta δεκεμβρίου δεκ грудня",
)
"""Months in English, German, Dutch, Swedish, Danish, French, Spanish, Italian, Portuguese, Polish, Turkish, Russian,
Slovak, Czech, Romanian, Hungarian, Finnish, Greek and Ukrainian, long and short."""

ACCENTS = str.maketrans("äéûçşıάίύΐϊ", "aeucsiαιυιι")
MONTH_NUMBERS = {
    spelled: number + 1
    for number, names in enumerate(MONTHS)
    for name in names.split()
    for spelled in (name, name.translate(ACCENTS))
}

WEEKDAYS = (
    "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday "
    "mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag "
    "lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo "
    "lunedì martedì mercoledì giovedì venerdì sabato domenica "
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"
)
"""What may stand before a date, and tells nothing that the date does not."""

KNOWN_DAYS = frozenset(WEEKDAYS.split(" ")) | {""}

HOURS_EAST = "WET+0 WEST+1 CET+1 MEZ+1 CEST+2 MESZ+2 EET+2 EEST+3 MSK+3 JST+9 KST+9 EDT-4 EST-5 MDT-6 MST-7 PDT-7 PST-8"
ZONES = {"": 0, "Z": 0} | {zone[:-2]: 60 * int(zone[-2:]) for zone in HOURS_EAST.split()}
"""Minutes east of Greenwich; CST, IST and others are the names of several zones."""

NO_ZONE = 10**6

LETTER, NO_LETTER = "[A-Za-zÀ-ɏͰ-ӿ]", "[^A-Za-zÀ-ɏͰ-ӿ]"
"""Of the languages whose months are known: RE2 takes milliseconds for all of Unicode."""

CODES = {
    "%d": r"(?P<d>\d{1,2})",
    "%m": r"(?P<m>\d{1,2})",
    "%b": rf"(?P<b>{LETTER}+)\.?",
    "%Y": r"(?P<Y>\d{4})",
    "%y": r"(?P<y>\d{2})",
    "%H": r"(?P<H>\d{1,2})",
    "%M": r"(?P<M>\d{2})",
    "%S": r"(?P<S>\d{2})(?:[.,](?P<f>\d{1,6})0*)?",
    "%p": r"(?P<p>[AaPp])\.?[Mm]\.?",
    "%z": r"(?P<z>Z|[A-Z]{3,4}|(?:UTC|GMT)?[-+−]\d{1,2}(?::?\d{2})?)(?: UTC|\s?\([A-Za-z ]+\)|\[[A-Za-z/_]+\])?",
    " ": r"\s+",
}
"""Parts of a format of dates, as `strptime` names them, in the syntax of RE2 and of Python.

Names of months, days and zones are looked up: a pattern of all of them takes long to compile.
"""
CODES |= {"%B": CODES["%b"], "%I": CODES["%H"]}

TIME_OF_DAY = (
    rf"{CODES['%H']}[:.]{CODES['%M']}(?:[:.]{CODES['%S']})?(?:\s?{CODES['%p']}|\sUhr|\s?h)?(?:\s?{CODES['%z']})?"
)
"""A time of day behind a date, which some cells may leave out: then it is midnight."""

HALF_OF_DAY = rf"(?:^|{NO_LETTER}){CODES['%p']}(?:$|{NO_LETTER})|[上下]午|午[前後]|오[전후]"
"""The sign of a clock of twelve hours, wherever it stands."""

CLOCK = rf"^{CODES['%H']}:{CODES['%M']}(?::{CODES['%S']})?(?:\s?{CODES['%p']}|\sUhr)?$"
"""A time of day alone."""

BEFORE_DAY = rf"(?:(?P<w>{LETTER}+)\.?,?\s+)?"
BEHIND_DAY = "(?:st|nd|rd|th|er|º|[.])?"
"""What may stand around the day of a month that has a name."""

PLAINER: tuple[tuple[str, str], ...] = (
    (r"[\u00a0\u2009\u202f]", " "),
    (r"\s*(?:[(（](?:周|星期)?[一二三四五六日天月火水木金土][)）]|(?:周|星期)[一二三四五六日天])", " "),
    (r"(\d)\s*[时時点點시]\s*(\d{1,2})\s*[分분]\s*(\d{1,2})\s*[秒초]", r"\1:\2:\3"),
    (r"(\d)\s*[时時点點시]\s*(\d{1,2})\s*[分분]?", r"\1:\2"),
    (r"(?:上午|午前|오전)\s*(\d{1,2}(?::\d{2})+)", r" \1 AM"),
    (r"(?:下午|午後|오후)\s*(\d{1,2}(?::\d{2})+)", r" \1 PM"),
    (r"([日일])(\d)", r"\1 \2"),
    (r"(\d) ?г(?:\.|ода)?", r"\1"),
    (r"(\d),? (?:at|à|um|kl\.?|alle|às|о) (\d)", r"\1 \2"),
    (r"(\d) ?[hH] ?(\d\d)", r"\1:\2"),
    (rf"(?i)^(?:{'|'.join(sorted(KNOWN_DAYS - {''}))})\.?,? +(\d+[./-])", r"\1"),
    (r"^(\d{8})[T ](\d\d)(\d\d)(\d\d)", r"\1 \2:\3:\4"),
    (r"^(\d{8})[T ](\d\d)(\d\d)", r"\1 \2:\3"),
    (r"^(\d{4}-\d\d-\d\d)-(\d\d\.\d\d\.\d\d)", r"\1 \2"),
    (r"^(\d{4}\.\d{1,2}\.\d{1,2})\.", r"\1"),
    (r"^\[(.+)\]$", r"\1"),
    (r"^\s+|\s+$", ""),
)
"""What people and programs write around dates and clocks, and what it is in plainer words."""

ISO = "%Y-%m-%d"

NINES = np.arange(256, dtype=np.uint8)
NINES[ord("0") : ord("9")] = ord("9")

NINE = ord("9")

MICROSECONDS_PER_DAY = 86_400 * 10**6

CENTURY = 69
"""Years of two digits from here on are of 1900, as POSIX has it."""


@lru_cache
def compiled_format(format: str) -> str:
    """Give the pattern of a format of dates; refuse one that tells no day.

    >>> compiled_format("%d.%m")
    Traceback (most recent call last):
        ...
    bayeswater.errors.ParameterError: the date format '%d.%m' tells no day; it needs %d, %m (or %b) and %Y (or %y)
    """
    parts = re.findall("%[A-Za-z%]|.", format)
    codes = [part for part in parts if part.startswith("%")]
    unknown = next((code for code in codes if code not in CODES or codes.count(code) > 1), None)
    if unknown:
        known = " ".join(code for code in CODES if code != " ")
        raise ParameterError(f"the date format {format!r} has {unknown!r}; there may be each of {known}, once")
    if not ("%d" in codes and {"%m", "%b", "%B"} & {*codes} and {"%Y", "%y"} & {*codes}):
        raise ParameterError(f"the date format {format!r} tells no day; it needs %d, %m (or %b) and %Y (or %y)")
    if not {"%b", "%B"} & {*codes}:
        beside = {code for one, other in pairwise(parts) for code in (one, other) if one[1:] and other[1:]}
        own = CODES | {code: CODES[code].replace(r"\d{1,2}", r"\d{2}") for code in beside & CODES.keys()}
        return "".join(own.get(part) or re.escape(part) for part in parts)
    own = CODES | {"%d": CODES["%d"] + BEHIND_DAY}
    return BEFORE_DAY + "".join(own.get(part) or re.escape(part) for part in parts)


@lru_cache(2**12)
def plainer(shape: str) -> str:
    """Write dates and clocks as most people do; digits stay in their order.

    >>> plainer("2023/1/5 下午 3:04"), plainer("31/12/2023 10h15"), plainer("20231231T235959")
    ('2023/1/5  3:04 PM', '31/12/2023 10:15', '20231231 23:59:59')
    """
    for pattern, replacement in PLAINER:
        shape = re.sub(pattern, replacement, shape)
    return shape


def with_time(format: str) -> str:
    """Give the pattern of cells of a format of dates, behind which a time of day may stand."""
    tail = "" if "%H" in format or "%I" in format else f"(?:[ T,]+{TIME_OF_DAY})?"
    return f"^{compiled_format(format)}{tail}$"


def date_parts(strings: "pa.Array", pattern: str) -> tuple[dict[str, Array], Array]:
    """Give the named parts of dates as numbers, and which strings have none (n_strings,).

    Each shape is matched once, as it is or in plainer words: digits stand at the same places of many strings.
    """
    if re.search(r"\d", re.sub(r"\{[\d,]*\}|0\*", "", pattern)):  # digits of a format, which shapes do not tell
        return _parts_of_strings(strings, pattern)
    shapes = shapes_of(strings)
    start, written = bytes_of(strings)
    which = np.asarray(shapes.indices)
    order = np.argsort(which, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(which, minlength=len(shapes.dictionary)))[:-1])
    known = re.compile(pattern.replace("0*", "(?P<zeros>9*)"), re.ASCII)
    parts = {name: np.full(len(strings), _number_of(name, ""), dtype=np.int64) for name in known.groupindex}
    missing = np.ones(len(strings), dtype=bool)
    alike: dict[tuple[tuple[str, str | int, int], ...], list[Array]] = {}
    for shape, rows in zip(shapes.dictionary.to_pylist(), rows_of, strict=False):  # of no strings, no shape
        if match := known.fullmatch(shape) or known.fullmatch(plainer(shape)):
            alike.setdefault(_places_of(match, shape), []).append(rows)
    for places, several in alike.items():
        rows = np.concatenate(several)
        missing[rows] = False
        for name, part, first in places:
            parts[name][rows] = _numbers_at(name, part, written, start[rows] + first) if isinstance(part, str) else part
    missing |= parts.pop("zeros", np.zeros(1, dtype=np.int64)) > 0
    return parts, missing


def _places_of(match: re.Match[str], shape: str) -> tuple[tuple[str, str | int, int], ...]:
    """Say where each part begins in the bytes of strings of a shape, or what it is where it has no digits."""
    nines = [place for place, byte in enumerate(shape.encode()) if byte == NINE]
    places: list[tuple[str, str | int, int]] = []
    for name, part in match.groupdict().items():
        if part and "9" in part:
            first = nines[match.string.count("9", 0, match.start(name))]
            places.append((name, part, first - len(part[: part.index("9")].encode())))
        elif part:
            places.append((name, _number_of(name, part), 0))
    return tuple(places)


def _parts_of_strings(strings: "pa.Array", pattern: str) -> tuple[dict[str, Array], Array]:
    import pyarrow.compute as pc

    found = pc.extract_regex(strings, pattern=pattern)
    names = [found.type.field(i).name for i in range(found.type.num_fields)]
    texts = {name: pc.struct_field(found, name).fill_null("") for name in names}
    return {name: _numbers_of(name, cells) for name, cells in texts.items()}, np.asarray(found.is_null())


def shapes_of(strings: "pa.Array") -> "pa.DictionaryArray":
    """Write 9 for every digit.

    >>> import pyarrow
    >>> shapes_of(pyarrow.array(["31.12.2023", "01.02.2024", "1.2.2024"])).dictionary.to_pylist()
    ['99.99.9999', '9.9.9999']
    """
    import pyarrow as pa

    start, written = bytes_of(strings.fill_null("") if strings.null_count else strings)
    buffers = [None, pa.py_buffer(start), pa.py_buffer(NINES[written])]
    return pa.Array.from_buffers(strings.type, len(strings), buffers).dictionary_encode()


def bytes_of(strings: "pa.Array") -> tuple[Array, Array]:
    """Give where strings begin, and last the end (n_strings + 1,), and the bytes up to there."""
    import pyarrow as pa

    _, ends, data = strings.buffers()
    kind = np.dtype(np.int64 if pa.types.is_large_string(strings.type) else np.int32)
    places = np.frombuffer(ends, dtype=kind, count=len(strings) + 1, offset=kind.itemsize * strings.offset)
    return places, np.frombuffer(data or b"", dtype=np.uint8, count=int(places[-1]))


def _numbers_at(name: str, shape: str, written: Array, first: Array) -> Array:
    """Give a part of dates of one shape as numbers."""
    n_bytes = len(shape.encode())
    if name == "z":
        cells = written[first[:, None] + np.arange(n_bytes)]  # (n_strings, n_bytes)
        zones, which = np.unique(cells.view(f"S{n_bytes}")[:, 0], return_inverse=True)
        return np.array([_number_of(name, zone.decode()) for zone in zones.tolist()])[which]
    number = np.zeros(len(first), dtype=np.int64)
    for place in range(n_bytes):
        number = 10 * number + written[first + place] - ord("0")
    return number * 10 ** (6 - n_bytes) if name == "f" else number


def _numbers_of(name: str, texts: "pa.Array") -> Array:
    """Give a part of dates as numbers: the number of a month, minutes east of Greenwich, microseconds."""
    encoded = texts.dictionary_encode()
    numbers = np.array([_number_of(name, text) for text in encoded.dictionary.to_pylist()], dtype=np.int64)
    return numbers[encoded.indices]


def _number_of(name: str, text: str) -> int:
    if name == "b":
        return MONTH_NUMBERS.get(text.lower(), 0)
    if name == "w":  # 1 where it is no day
        return int(text.lower() not in KNOWN_DAYS)
    if name == "p":  # 0 before noon, 1 after it, -1 where the day has 24 hours
        return {"a": 0, "p": 1, "": -1}[text.lower()]
    if name == "z":
        digits = text.removeprefix("UTC").removeprefix("GMT").replace(":", "")
        if not digits or digits[0].isalpha():
            return ZONES.get(digits, NO_ZONE)
        n_hours = 1 if len(digits) in (2, 4) else 2
        minutes = 60 * int(digits[1 : 1 + n_hours]) + int(digits[1 + n_hours :] or 0)
        return minutes if digits[0] == "+" else -minutes
    return int((text.ljust(6, "0") if name == "f" else text) or 0)


def instants_of(strings: "pa.Array", format: str) -> "pa.Array":
    """Give microseconds since 1970-01-01, null for what is no date of a format."""
    import pyarrow.compute as pc

    parts = date_parts(strings, with_time(format))
    return pc.add(pc.multiply(days_of(*parts), MICROSECONDS_PER_DAY), clock_of(*parts))


def days_of(part: dict[str, Array], missing: Array) -> "pa.Array":
    """Make days since 1970-01-01 of the parts of dates; null for what is on no calendar, such as a 31st of April."""
    import pyarrow as pa

    zero = np.zeros(len(missing), dtype=np.int64)
    month = part["m"] if "m" in part else part["b"]
    year = part["Y"] if "Y" in part else part["y"] + np.where(part["y"] < CENTURY, 2000, 1900)
    since_1970 = (year - 1970) * 12 + month - 1
    first, following = (
        months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        for months in (since_1970, since_1970 + 1)
    )
    wrong = (
        missing
        | (part.get("w", zero) > 0)
        | (month < 1)
        | (month > 12)
        | (part["d"] < 1)
        | (part["d"] > following - first)
        | (year < 1)
    )
    return pa.array(first + part["d"] - 1, mask=wrong)


def clock_of(part: dict[str, Array], missing: Array) -> "pa.Array":
    """Make microseconds since midnight in UTC of the parts of times; null for what no clock shows."""
    import pyarrow as pa

    zero = np.zeros(len(missing), dtype=np.int64)
    hour, minute, second = (part.get(name, zero) for name in "HMS")
    half = part.get("p", zero - 1)
    wrong = (
        missing
        | (part.get("z", zero) == NO_ZONE)
        | (hour > 23)
        | (minute > 59)
        | (second > 59)
        | ((half >= 0) & ((hour < 1) | (hour > 12)))
    )
    hour = np.where(half >= 0, hour % 12 + 12 * half, hour)
    seconds = (hour * 60 + minute - part.get("z", zero)) * 60 + second
    return pa.array(seconds * 10**6 + part.get("f", zero), mask=wrong)


def time_of_day(strings: "pa.Array", pattern: str = f"^{TIME_OF_DAY}$") -> "pa.Array":
    """Give microseconds since midnight, null for what is no time of day."""
    return clock_of(*date_parts(strings, pattern))
