"""Run the benchmarks, show the tables and write them down."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from benchmarks.machine import machine
from benchmarks.overview import PAGE, overview
from benchmarks.processes import ROOT
from benchmarks.report import Section, known_sections, merge, text_table
from benchmarks.roofline import draw
from benchmarks.rounds import MINUTES, go_round, measure_apart
from benchmarks.sections import OF_JOBS, SECTIONS, Extent, Planned

QUICK_SHARE = 0.1


def main() -> None:
    """Measure every section, for half an hour at a time, or some; what is whole is written to the reports."""
    options = _options()
    if options.list:
        print("\n".join(planned.title for planned in SECTIONS))
        return
    if not (options.section or options.only or options.quick):
        _whole(options)
        return
    chosen = _chosen(options)
    facts = machine()
    print(", ".join(f"{name}: {value}" for name, value in facts.items()))
    extent = Extent(options.repeats, QUICK_SHARE if options.quick else 1.0, options.only)
    run = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "load before": facts.pop("load before"),
        "turns": options.repeats,
    }
    for section, seconds in _measured(chosen, extent):
        if _is_written(options):
            own = replace(section, run=run | {"seconds": round(seconds)})
            merge([own], [planned.title for planned in SECTIONS], facts, run)
    if _is_written(options):
        _write_pages()


def _whole(options: argparse.Namespace) -> None:
    titles = [planned.title for planned in SECTIONS]
    before = {section.title: section.run.get("seconds", 0.0) for section in known_sections()}
    repeats = ("--repeats", str(options.repeats))
    left = go_round(titles, before, options.minutes, lambda title, most: measure_apart(title, most, repeats))
    said = f"{len(left)} sections are left: {', '.join(left)}; the next call goes on" if left else "all are measured"
    print(f"\n{said}. See {PAGE.relative_to(ROOT)} and benchmarks/RESULTS.md")


def _write_pages() -> None:
    sections = known_sections()
    PAGE.write_text(overview(sections))
    for section in sections:
        if section.title == "Limits":
            draw(section.records)


def _chosen(options: argparse.Namespace) -> Sequence[Planned]:
    if not options.section:
        return OF_JOBS if options.only else SECTIONS
    names = [name.lower() for name in options.section]
    chosen = [planned for planned in SECTIONS if planned.title.lower() in names]
    chosen = chosen or [planned for planned in SECTIONS if any(name in planned.title.lower() for name in names)]
    if not chosen:
        sys.exit(f"no title of a section contains {' or '.join(options.section)}; --list shows all")
    return chosen


def _is_written(options: argparse.Namespace) -> bool:
    return options.only is None and not options.quick


def _measured(chosen: Sequence[Planned], extent: Extent) -> Iterator[tuple[Section, float]]:
    """Give each section, and the seconds that it took."""
    for planned in chosen:
        lacks = planned.lacks()
        if lacks is not None:
            print(f"\n{planned.title} skipped: {lacks}", flush=True)
            continue
        start = perf_counter()
        records: list[dict[str, Any]] = list(planned.measure(extent))
        if records:
            print(f"\n{planned.title}. {planned.note}\n\n{text_table(records)}", flush=True)
            yield Section(planned.title, planned.note, records), perf_counter() - start


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="jobs whose name contains NAME, for example gaussian or one-row")
    parser.add_argument(
        "--section",
        metavar="TITLE",
        action="append",
        help="the section of this title, or those whose titles contain it, put in the place of older ones in the files",
    )
    parser.add_argument("--list", action="store_true", help="show the titles of all sections")
    parser.add_argument("--repeats", type=int, default=7, help="turns of which the median is taken (%(default)s)")
    parser.add_argument(
        "--minutes",
        type=float,
        default=MINUTES,
        help="minutes after which the rest is left to the next call (%(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows; writes no files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
