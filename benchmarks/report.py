"""Records as tables: plain text for the terminal, Markdown and JSON for files.

A record is a dict from column title to value; all records of a section have the same columns, some may lack the
last ones.

results.json holds every section with its note and when it was measured; RESULTS.md is that as a page. A run of
everything writes both anew, a run of some sections puts these in the place of older ones, with their own date.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Section:
    """A table with its title, the sentence that explains it, and the circumstances of its run (date, load, turns)."""

    title: str
    note: str
    records: list[dict[str, Any]]
    run: dict[str, Any] = field(default_factory=dict)


def text_table(records: Sequence[dict[str, Any]]) -> str:
    """Lay records out in columns; numbers to the right."""
    titles = _titles(records)
    cells = [titles, *[[_cell(record.get(title)) for title in titles] for record in records]]
    width = [max(len(row[c]) for row in cells) for c in range(len(titles))]
    is_text = [all(isinstance(record.get(title, ""), str) for record in records) for title in titles]
    lines = [
        "  ".join(
            cell.ljust(w) if left else cell.rjust(w) for cell, w, left in zip(row, width, is_text, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * w for w in width), *lines[1:]])


def markdown(sections: Sequence[Section], machine: dict[str, Any], run: dict[str, Any]) -> str:
    """Write all sections as one Markdown page; what was measured in another run says when."""
    facts = ", ".join(f"{name} {value}" for name, value in machine.items() if name not in ("cores", "processor"))
    parts = [
        "# Benchmarks",
        "Written by `make bench`; the data are made by the benchmark from fixed seeds, or are public files.",
        f"{machine['cores']} cores of {machine['processor']}; {facts}. Measured on {_circumstances(run)}.",
    ]
    for section in sections:
        later = "" if section.run == run else f" Measured on {_circumstances(section.run)}."
        parts += [f"## {section.title}", section.note + later, markdown_table(section.records)]
    return "\n\n".join(parts) + "\n"


def write(sections: Sequence[Section], machine: dict[str, Any], run: dict[str, Any], folder: Path = HERE) -> None:
    """Write RESULTS.md and results.json anew."""
    kept = [section for section in sections if section.records]
    content = {"machine": machine, "run": run, "sections": [asdict(section) for section in kept]}
    (folder / "results.json").write_text(json.dumps(content, indent=2) + "\n")
    (folder / "RESULTS.md").write_text(markdown(kept, machine, run))


def known_sections(folder: Path = HERE) -> list[Section]:
    """Give the sections of results.json, where there are any."""
    path = folder / "results.json"
    return [Section(**own) for own in json.loads(path.read_text())["sections"]] if path.exists() else []


def merge(
    sections: Sequence[Section],
    order: Sequence[str],
    machine: dict[str, Any],
    run: dict[str, Any],
    folder: Path = HERE,
) -> None:
    """Put sections in the place of those of the same title, and all of them in an order of titles."""
    path = folder / "results.json"
    none_yet = {"machine": machine, "run": run, "sections": []}
    content = json.loads(path.read_text()) if path.exists() else none_yet
    merged = {own.title: own for own in known_sections(folder)}
    is_elsewhere = content["machine"].get("processor") != machine.get("processor")
    where = {"processor": machine.get("processor")} if is_elsewhere else {}
    merged |= {section.title: replace(section, run=section.run | where) for section in sections if section.records}
    place = {title: i for i, title in enumerate(order)}
    ordered = sorted(merged.values(), key=lambda section: place.get(section.title, len(place)))
    write(ordered, content["machine"], content["run"], folder)


def _circumstances(run: dict[str, Any]) -> str:
    return ", ".join([str(run["date"]), *(f"{name} {value}" for name, value in run.items() if name != "date")])


def markdown_table(records: Sequence[dict[str, Any]]) -> str:
    """Lay records out as a table of Markdown."""
    titles = _titles(records)
    rows = [titles, ["---"] * len(titles), *[[_cell(record.get(title)) for title in titles] for record in records]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _titles(records: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(title for record in records for title in record))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
