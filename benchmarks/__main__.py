"""Run the benchmarks, show the tables and write them down."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from benchmarks.machine import machine
from benchmarks.report import Section, merge, text_table, write
from benchmarks.sections import OF_JOBS, SECTIONS, Extent, Planned

QUICK_SHARE = 0.1


def main() -> None:
    """Measure every section, or some; what is whole is written to RESULTS.md and results.json."""
    options = _options()
    if options.list:
        print("\n".join(planned.title for planned in SECTIONS))
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
    sections = []
    for section in _measured(chosen, extent):
        sections.append(replace(section, run=run))
        if options.section and _is_written(options):
            merge(sections[-1:], [planned.title for planned in SECTIONS], facts, run)
    if not options.section and _is_written(options):
        write(sections, facts, run)


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


def _measured(chosen: Sequence[Planned], extent: Extent) -> Iterator[Section]:
    for planned in chosen:
        lacks = planned.lacks()
        if lacks is not None:
            print(f"\n{planned.title} skipped: {lacks}", flush=True)
            continue
        records: list[dict[str, Any]] = list(planned.measure(extent))
        if records:
            print(f"\n{planned.title}. {planned.note}\n\n{text_table(records)}", flush=True)
            yield Section(planned.title, planned.note, records)


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
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows; writes no files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
