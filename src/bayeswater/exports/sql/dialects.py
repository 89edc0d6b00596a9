"""How dialects of SQL write names, texts, numbers, dates and a few functions.

Names and texts are data: whatever stands in them, they are quoted for the dialect. Numbers have an exponent, which
makes them doubles nearly everywhere.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.typing import Array

IMPOSSIBLE = -1e300
"""What stands for the logarithm of 0: sums of many stay finite, and no dialect has to know infinity."""


@record
class Dialect:
    """A dialect; of texts, `escapes` are characters written otherwise; templates have the column in braces."""

    name: str
    quote: str = '"'
    quote_inside: str = '""'
    escapes: tuple[tuple[str, str], ...] = (("'", "''"),)
    double: str = "CAST({} AS DOUBLE)"
    number: str = "{}"
    no_nan: str = "{}"
    not_number: str | None = None  # whether a cell of numbers holds a text, where types are those of cells
    has_infinity: bool = True
    greatest: str = "GREATEST"
    least: str = "LEAST"
    same_text: str = "{} = {}"
    step: str = "AS ({})"  # of a query that is not to be merged into the next one: expressions would grow without end
    plain_names: bool = False
    most_columns: int = 4000
    listed: str | None = None  # how a list of numbers is written, which are planned as one
    makes_lists: bool = False  # whether lists are made of lists by an expression of their entries
    parts: dict[str, str] = field(default_factory=dict)

    def identifier(self, name: str) -> str:
        """Write the name of a column or table."""
        if "\0" in name or not name:
            what = "has a zero character" if name else "has no character"
            raise ParameterError(f"the name {name!r} {what}, which no database takes; rename the column")
        if self.name == "spark" and "${" in name:
            raise ParameterError(
                f"the name {name!r} has '${{', in the place of which Spark puts its variables; rename the column"
            )
        if self.name == "bigquery":
            name = name.replace("\\", "\\\\").replace("\n", "\\n")
        return f"{self.quote}{name.replace(self.quote, self.quote_inside)}{self.quote}"

    def text(self, value: str) -> str:
        """Write a text."""
        if "\0" in value:
            raise ParameterError(f"the text {value!r} has a zero character, which no database takes")
        if self.name == "mysql":  # whatever the mode says of backslashes
            return f"CONVERT(X'{value.encode().hex()}' USING utf8mb4)"
        for character, written in self.escapes:
            value = value.replace(character, written)
        return f"'{value}'"

    def literal(self, value: Any) -> str:
        """Write a number; what is impossible is very small."""
        value = float(value)
        value = IMPOSSIBLE if value == float("-inf") else value
        written = repr(value)
        written = written if "e" in written else f"{written}e0"
        return self.number.format(f"({written})" if value < 0 and self.number == "{}" else written)

    def taken(self, values: Array, place: str, n: int | None = None) -> str:
        """Write the number at a place, from 0 on, of many, or the n from there on, where there are lists."""
        assert self.listed is not None
        held = self.listed.format(",".join(map(repr, np.maximum(values, IMPOSSIBLE).tolist())))
        return f"{held}[{place} + 1]" if n is None else f"{held}[{place} + 1:{place} + {n}]"

    def label(self, value: Any) -> str:
        """Write a label: a text, a truth or a number."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        return str(value) if isinstance(value, int) else self.literal(value)

    def is_label(self, column: str, value: Any) -> str:
        """Compare a column with a label."""
        if isinstance(value, str):
            return self.same_text.format(column, self.text(value))
        if isinstance(value, bool) and self.name in ("sqlite", "mysql"):
            return f"{column} = {int(value)}"
        return f"{column} = {self.label(value)}"

    def as_number(self, column: str) -> str:
        """Read a column as a double, NULL where it is not a number."""
        return self.no_nan.format(self.double.format(column))

    def largest(self, values: Sequence[str]) -> str:
        """Give the largest of some values."""
        return values[0] if len(values) == 1 else f"{self.greatest}({', '.join(values)})"

    def smallest(self, values: Sequence[str]) -> str:
        """Give the least of some values."""
        return values[0] if len(values) == 1 else f"{self.least}({', '.join(values)})"

    def exp(self, value: str) -> str:
        """Write an exponential; what would be no number any more is 0, which some would call an error."""
        return f"CASE WHEN {value} < -745 THEN {self.literal(0)} ELSE EXP({value}) END"


def _clock(hour: str, minute: str) -> str:
    return f"({hour} * 3600 + {minute} * 60)"


_BACKSLASHES = (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"))
_SECONDS_OF_DAY = "(HOUR({0}) * 3600 + MINUTE({0}) * 60 + EXTRACT(SECOND FROM {0}))"

DUCKDB = Dialect(
    "duckdb",
    no_nan="NULLIF({}, 'nan'::DOUBLE)",
    listed="CAST('[{}]' AS DOUBLE[])",
    makes_lists=True,
    parts={
        "days": "(EPOCH(CAST({} AS TIMESTAMP)) / 86400e0)",
        "weekday": "(ISODOW({}) - 1)",
        "month": "MONTH({})",
        "time": _clock("HOUR(CAST({0} AS TIMESTAMP))", "MINUTE(CAST({0} AS TIMESTAMP))"),
        "seconds": "EPOCH({})",
    },
)

DIALECTS = {
    "duckdb": DUCKDB,
    "sqlite": Dialect(
        "sqlite",
        double="CASE TYPEOF({0}) WHEN 'text' THEN CASE WHEN TRIM({0}) = '' THEN NULL WHEN NOT JSON_VALID({0}) THEN {0} "
        "WHEN JSON_TYPE({0}) IN ('integer', 'real') THEN CAST({0} AS REAL) ELSE {0} END ELSE CAST({0} AS REAL) END",
        not_number="TYPEOF({}) = 'text'",
        step="AS MATERIALIZED ({})",
        greatest="MAX",
        least="MIN",
        most_columns=1900,
        parts={
            "days": "((CAST(STRFTIME('%s', {0}) AS REAL) + STRFTIME('%f', {0}) - STRFTIME('%S', {0})) / 86400e0)",
            "weekday": "((STRFTIME('%w', {}) + 6) % 7)",
            "month": "CAST(STRFTIME('%m', {}) AS INTEGER)",
            "time": _clock("CAST(STRFTIME('%H', {0}) AS INTEGER)", "CAST(STRFTIME('%M', {0}) AS INTEGER)"),
        },
    ),
    "postgres": Dialect(
        "postgres",
        double="CAST({} AS double precision)",
        number="'{}'::float8",
        step="AS ({}OFFSET 0\n)",
        listed="('{{{}}}'::float8[])",
        no_nan="NULLIF({}, 'NaN'::float8)",
        most_columns=1600,
        parts={
            "days": "(CAST(EXTRACT(EPOCH FROM CAST({} AS timestamp)) AS double precision) / '86400'::float8)",
            "weekday": "(CAST(EXTRACT(ISODOW FROM {}) AS integer) - 1)",
            "month": "CAST(EXTRACT(MONTH FROM {}) AS integer)",
            "time": _clock(
                "CAST(EXTRACT(HOUR FROM CAST({0} AS timestamp)) AS integer)",
                "CAST(EXTRACT(MINUTE FROM CAST({0} AS timestamp)) AS integer)",
            ),
            "seconds": "CAST(EXTRACT(EPOCH FROM {}) AS double precision)",
        },
    ),
    "mysql": Dialect(
        "mysql",
        quote="`",
        quote_inside="``",
        has_infinity=False,
        step="AS ({}LIMIT 18446744073709551615\n)",
        same_text="CAST(CONVERT({} USING utf8mb4) AS BINARY) = CAST({} AS BINARY)",
        parts={
            "days": "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {}) / 86400e6)",
            "weekday": "WEEKDAY({})",
            "month": "MONTH({})",
            "time": _clock("HOUR({0})", "MINUTE({0})"),
            "seconds": "(TIME_TO_SEC({0}) + MICROSECOND({0}) / 1e6)",
        },
    ),
    "bigquery": Dialect(
        "bigquery",
        quote="`",
        quote_inside="\\`",
        escapes=_BACKSLASHES,
        double="CAST({} AS FLOAT64)",
        no_nan="NULLIF(IEEE_DIVIDE({0}, IF(IS_NAN({0}), NULL, 1e0)), NULL)",
        plain_names=True,
        parts={
            "days": "(UNIX_MICROS(TIMESTAMP({})) / 86400e6)",
            "weekday": "MOD(EXTRACT(DAYOFWEEK FROM {}) + 5, 7)",
            "month": "EXTRACT(MONTH FROM {})",
            "time": _clock("EXTRACT(HOUR FROM TIMESTAMP({0}))", "EXTRACT(MINUTE FROM TIMESTAMP({0}))"),
        },
    ),
    "snowflake": Dialect(
        "snowflake",
        escapes=_BACKSLASHES,
        no_nan="NULLIF({}, CAST('NaN' AS DOUBLE))",
        parts={
            "days": "(DATE_PART(EPOCH_MICROSECOND, CAST({} AS TIMESTAMP_NTZ)) / 86400e6)",
            "weekday": "(DAYOFWEEKISO({}) - 1)",
            "month": "MONTH({})",
            "time": _clock("HOUR(CAST({0} AS TIMESTAMP_NTZ))", "MINUTE(CAST({0} AS TIMESTAMP_NTZ))"),
        },
    ),
    "spark": Dialect(
        "spark",
        quote="`",
        quote_inside="``",
        escapes=(*_BACKSLASHES, ("$", "\\u0024")),  # not even in a text may a variable be named
        no_nan="NULLIF({}, DOUBLE('NaN'))",
        parts={
            "days": f"(DATEDIFF({{0}}, DATE'1970-01-01') + CAST({_SECONDS_OF_DAY} AS DOUBLE) / 86400e0)",
            "weekday": "WEEKDAY({})",
            "month": "MONTH({})",
            "time": _clock("HOUR({0})", "MINUTE({0})"),
        },
    ),
}
"""The dialects that a model can be written in."""
