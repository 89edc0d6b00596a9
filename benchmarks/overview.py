"""One page of all jobs that have a peer: job, ours, peer, ratio, limit; of all that was measured, whenever it was."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Section, markdown_table

PAGE = Path(__file__).parent / "OVERVIEW.md"

UNITS = (" ms", " s", " CPU s", " us/row", " M/s")
NAMES = ("job", "table", "network", "rows", "model", "method", "what", "server")
"""Columns that name a job."""

PEERS = (
    "scikit-learn",
    "beside",
    "Weka",
    "pyAgrum",
    "one-hot BLAS",
    "BLAS",
    "pyarrow decodes",
    "pgmpy",
    "bnlearn-port",
)
"""Peers, in the order in which one of them is shown."""

OURS = ("ours", "all threads", "fit", "fit and transform", "hill climb")


def rows_of(section: Section) -> Iterator[dict[str, Any]]:
    """Give a line for each job of a section that has a time of ours and of a peer in the same unit."""
    for record in section.records:
        pair = _pair(record)
        if pair is None:
            continue
        ours, theirs, unit = pair
        job = ", ".join(str(record[name]) for name in NAMES if record.get(name) is not None)
        limit = record.get(f"limit{unit}")
        yield {
            "job": f"{section.title}: {job}",
            "ours": f"{_figure(record[ours])}{unit}",
            "peer": f"{_named(record, theirs, unit)} {_figure(record[theirs])}{unit}",
            "ratio": f"{record[theirs] / record[ours]:.3g}",
            "limit": "" if limit is None else f"{_figure(limit)}{unit} ({record['limited by']})",
        }


def _pair(record: dict[str, Any]) -> tuple[str, str, str] | None:
    """Columns of our time and of a peer's, and their unit."""
    for unit in UNITS:
        ours = next((name + unit for name in OURS if _is_time(record.get(name + unit))), None)
        theirs = next((name + unit for name in PEERS if _is_time(record.get(name + unit))), None)
        if ours and theirs:
            return ours, theirs, unit
    return None


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and value > 0


def _named(record: dict[str, Any], theirs: str, unit: str) -> str:
    name = theirs.removesuffix(unit)
    return str(record["beside"]) if name == "beside" else name


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def overview(sections: Sequence[Section]) -> str:
    """Write the page."""
    lines = [row for section in sections for row in rows_of(section)]
    slower = [line["job"] for line in lines if float(line["ratio"]) < 1]
    losing = f"Slower than the peer: {'; '.join(slower)}." if slower else "Nothing here is slower than its peer."
    return (
        "# Speed on one page\n\n"
        "Written by `make bench` from all that it has measured; how, when and under what load each section was "
        "measured stands in [the full report](RESULTS.md). Ratio is the peer's time by ours. Limit is what the machine "
        "allows: bytes by bandwidth, or flops by the peak; docs/speed.md draws it.\n\n"
        f"{losing}\n\n{markdown_table(lines)}\n"
    )
