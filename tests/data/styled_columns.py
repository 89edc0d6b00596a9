"""Columns as people write them, each with the values that a person would read: the oracle of all tests of cells."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

NUMBERS = [0.0, 5.0, -7.0, 12.5, 999.0, 1200.0, -1234.5, 1234567.25, 86420.0]

WHOLE = [0.0, 5.0, -7.0, 12.0, 999.0, 1200.0, -1234.0, 1234567.0, 86420.0]

DAYS = [date(2023, 12, 31), date(2024, 1, 2), date(1912, 8, 27), date(1999, 5, 17), date(2020, 2, 29), date(2023, 9, 9)]

MOMENTS = [datetime(2023, 12, 31, 23, 59, 5), datetime(2024, 1, 2, 0, 0, 0), datetime(1999, 5, 17, 12, 30, 59)]


def grouped(number: float, thousands: str, decimal: str) -> str:
    """Write a number with groups of three digits."""
    written = f"{number:,.2f}".removesuffix(".00")
    return written.translate(str.maketrans({",": thousands, ".": decimal}))


def in_parentheses(number: float) -> str:
    """Write a number as an accountant does."""
    return f"({-number:,.2f})" if number < 0 else f"{number:,.2f}"


Writer = Callable[[Any], str]

NUMBER_WRITERS: dict[str, Writer] = {
    "dollars": lambda x: f"{'-' * (x < 0)}${abs(x):,.2f}",
    "dollars, sign behind": lambda x: f"${x:,.2f}",
    "euros": lambda x: f"{grouped(x, '.', ',')} €",
    "euros by code": lambda x: f"{grouped(x, '.', ',')} EUR",
    "pounds": lambda x: f"£{grouped(x, ',', '.')}",
    "yuan": lambda x: f"{grouped(x, ',', '.')}元",
    "blanks": lambda x: grouped(x, " ", ","),
    "narrow blanks": lambda x: grouped(x, "\N{NARROW NO-BREAK SPACE}", ","),
    "Swiss": lambda x: grouped(x, "'", "."),
    "decimal comma": lambda x: f"{x:.2f}".replace(".", ","),
    "groups": lambda x: grouped(x, ",", "."),
    "parentheses": in_parentheses,
    "plus": lambda x: f"{x:+.2f}",
    "typographic minus": lambda x: grouped(x, ",", ".").replace("-", "\N{MINUS SIGN}"),
    "powers": lambda x: f"{x:.12e}",
    "Swiss, no decimals": lambda x: f"CHF {grouped(x, chr(39), '.')}" + ".-" * x.is_integer(),
    "German, no decimals": lambda x: grouped(x, ".", ",") + ",–" * x.is_integer(),
    "Japanese": lambda x: grouped(x, ",", ".").replace("-", "△") + "円",
    "a blank behind the sign": lambda x: grouped(x, ",", ".").replace("-", "- "),
    "Arabic digits": lambda x: f"{x:.2f}".translate(str.maketrans("0123456789.", "٠١٢٣٤٥٦٧٨٩٫")),
    "Mexican dollars": lambda x: f"MX${x:,.2f}",
    "Persian digits": lambda x: f"{x:.2f}".translate(str.maketrans("0123456789", "۰۱۲۳۴۵۶۷۸۹")),
}
"""Ways to write numbers."""

SHARE_WRITERS: dict[str, Writer] = {
    "percent": lambda x: f"{100 * x:.10g}%",
    "percent with a blank": lambda x: f"{100 * x:.10g} %",
    "per mille": lambda x: f"{1000 * x:.10g}‰",
}
"""Ways to write shares."""

POLISH = "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"
RUSSIAN = "января февраля марта апреля мая июня июля августа сентября октября ноября декабря"
TURKISH = "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık"
CZECH = "ledna února března dubna května června července srpna září října listopadu prosince"
ROMANIAN = "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie"
FINNISH = "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu"
HUNGARIAN = "január február március április május június július augusztus szeptember október november december"
GREEK = (
    "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου"
)
UKRAINIAN = "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня"
"""Months, as they stand behind a day."""

DATE_WRITERS: dict[str, Writer] = {
    "ISO": lambda d: d.isoformat(),
    "German": lambda d: f"{d:%d.%m.%Y}",
    "German, short": lambda d: f"{d.day}.{d.month}.{d.year}",
    "American": lambda d: f"{d:%m/%d/%Y}",
    "American, short": lambda d: f"{d.month}/{d.day}/{d.year}",
    "British": lambda d: f"{d:%d/%m/%Y}",
    "Dutch": lambda d: f"{d:%d-%m-%Y}",
    "Japanese": lambda d: f"{d:%Y/%m/%d}",
    "in words": lambda d: f"{d.day} {d:%b %Y}",
    "in long words": lambda d: f"{d:%B} {d.day}, {d.year}",
    "Oracle": lambda d: f"{d:%d-%b-%Y}".upper(),
    "digits": lambda d: f"{d:%Y%m%d}",
    "Chinese": lambda d: f"{d.year}年{d.month}月{d.day}日",
    "Japanese with its day": lambda d: f"{d.year}年{d.month}月{d.day}日({'月火水木金土日'[d.weekday()]})",
    "German with its day": lambda d: f"{['Mo', 'Di', 'Mi', 'Do', 'Fr', 'Sa', 'So'][d.weekday()]}, {d:%d.%m.%Y}",
    "Hungarian": lambda d: f"{d:%Y.%m.%d}.",
    "month first in words": lambda d: f"{d:%b-%d-%Y}",
    "year first in words": lambda d: f"{d:%Y-%b-%d}",
    "between blanks": lambda d: f"{d:%d %m %Y}",
    "Polish": lambda d: f"{d.day} {POLISH.split()[d.month - 1]} {d.year}",
    "Russian": lambda d: f"{d.day} {RUSSIAN.split()[d.month - 1]} {d.year} г.",
    "Czech": lambda d: f"{d.day}. {CZECH.split()[d.month - 1]} {d.year}",
    "Romanian": lambda d: f"{d.day} {ROMANIAN.split()[d.month - 1]} {d.year}",
    "Finnish": lambda d: f"{d.day}. {FINNISH.split()[d.month - 1]}kuuta {d.year}",
    "Hungarian in words": lambda d: f"{d.year}. {HUNGARIAN.split()[d.month - 1]} {d.day}.",
    "Greek": lambda d: f"{d.day} {GREEK.split()[d.month - 1]} {d.year}",
    "Ukrainian": lambda d: f"{d.day} {UKRAINIAN.split()[d.month - 1]} {d.year}",
    "between low lines": lambda d: f"{d:%Y_%m_%d}",
    "Turkish": lambda d: f"{d.day} {TURKISH.split()[d.month - 1]} {d.year}",
}
"""Ways to write days."""

TIME_WRITERS: dict[str, Writer] = {
    "ISO": lambda t: t.isoformat(),
    "ISO with a blank": lambda t: t.isoformat(" "),
    "German": lambda t: f"{t:%d.%m.%Y %H:%M:%S}",
    "American": lambda t: f"{t.month}/{t.day}/{t.year} {t:%I:%M:%S %p}",
    "British": lambda t: f"{t:%d/%m/%Y %H:%M:%S}",
    "in words": lambda t: f"{t:%d %b %Y %H:%M:%S}",
    "Chinese": lambda t: f"{t.year}年{t.month}月{t.day}日 {t:%H:%M:%S}",
    "Chinese with signs": lambda t: f"{t.year}年{t.month}月{t.day}日{t.hour}时{t:%M}分{t:%S}秒",
    "Chinese halves of days": lambda t: f"{t:%Y/%m/%d} {'上午下午'[t.hour // 12 * 2 :][:2]} {t:%I:%M:%S}",
    "Korean halves of days": lambda t: f"{t:%Y-%m-%d} {'오전오후'[t.hour // 12 * 2 :][:2]} {t:%I:%M:%S}",
    "digits": lambda t: f"{t:%Y%m%d%H%M%S}",
    "digits around a T": lambda t: f"{t:%Y%m%dT%H%M%S}",
    "DB2": lambda t: f"{t:%Y-%m-%d-%H.%M.%S}.000000",
    "of a browser": lambda t: f"{t.month}/{t.day}/{t.year}, {t:%I:%M:%S}\N{NARROW NO-BREAK SPACE}{t:%p}",
    "French": lambda t: f"{t:%d/%m/%Y} à {t:%H:%M:%S}",
}
"""Ways to write moments without a zone."""

IN_CHINA = timezone(timedelta(hours=8))

ZONED_WRITERS: dict[str, Writer] = {
    "Z": lambda t: t.isoformat().replace("+00:00", "Z"),
    "offset": lambda t: t.astimezone(IN_CHINA).isoformat(),
    "of a server": lambda t: f"[{t.astimezone(IN_CHINA):%d/%b/%Y:%H:%M:%S} +0800]",
    "German with an offset": lambda t: f"{t.astimezone(IN_CHINA):%d.%m.%Y %H:%M:%S} +0800",
}
"""Ways to write moments with one."""

TRUTH_WRITERS: dict[str, Writer] = {
    "yes": lambda b: "yes" if b else "no",
    "Yes": lambda b: "Yes" if b else "No",
    "Y": lambda b: "Y" if b else "N",
    "true": lambda b: "true" if b else "false",
    "T": lambda b: "T" if b else "F",
    "on": lambda b: "on" if b else "off",
    "是": lambda b: "是" if b else "否",
    "Polish": lambda b: "tak" if b else "nie",
    "Turkish": lambda b: "Evet" if b else "Hayır",
    "ticks": lambda b: "✓" if b else "✗",
    "Korean": lambda b: "예" if b else "아니오",
}
"""Ways to write truths."""

KINDS: dict[str, tuple[dict[str, Writer], list[Any]]] = {
    "number": (NUMBER_WRITERS, NUMBERS),
    "share": (SHARE_WRITERS, [0.0, 0.45, 0.125, -0.03]),
    "day": (DATE_WRITERS, DAYS),
    "moment": (TIME_WRITERS, MOMENTS),
    "instant": (ZONED_WRITERS, [moment.replace(tzinfo=UTC) for moment in MOMENTS]),
    "truth": (TRUTH_WRITERS, [True, False, False, True, True]),
}

STYLES = {
    f"{kind}: {name}": ([write(value) for value in values], values)
    for kind, (writers, values) in KINDS.items()
    for name, write in writers.items()
}
"""Cells, and what a person reads in them, by the name of the style."""

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "number": st.integers(-(10**9), 10**9).map(lambda cents: cents / 100),
    "share": st.integers(-(10**6), 10**6).map(lambda parts: parts / 10**5),
    "day": st.dates(date(1900, 1, 1), date(2099, 12, 31)),
    "moment": st.datetimes(datetime(1900, 1, 1), datetime(2099, 12, 31)).map(lambda t: t.replace(microsecond=0)),
    "instant": st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 30), timezones=st.just(UTC)).map(
        lambda t: t.replace(microsecond=0)
    ),
    "truth": st.booleans(),
}
"""Any values of a kind that can be written in all its styles."""


@st.composite
def written_columns(draw: st.DrawFn) -> tuple[str, list[str], list[Any]]:
    """Draw the name of a style, cells in it with marks of missing ones among them, and what a person reads."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    name = draw(st.sampled_from(sorted(KINDS[kind][0])))
    write = KINDS[kind][0][name]
    drawn = draw(st.lists(VALUES[kind], min_size=1, max_size=12))
    values = drawn + KINDS[kind][1]  # which tell one style from others
    mark = st.sampled_from(["", " ", "NA", "n/a", "None", "-", "?", "缺失"])
    cells = [draw(mark) if draw(st.integers(0, 9)) == 0 else None for _ in drawn] + [None] * len(KINDS[kind][1])
    written = [write(value) if cell is None else cell for cell, value in zip(cells, values, strict=True)]
    read = [value if cell is None else None for cell, value in zip(cells, values, strict=True)]
    return f"{kind}: {name}", written, read
