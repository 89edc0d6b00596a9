"""Records as tables: plain text for the terminal, Markdown and JSON for files.

A record is a dict from column title to value; all records of a section have the same columns, some may lack the
last ones.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Section:
    """A table with its title and the sentence that explains it."""

    title: str
    note: str
    records: list[dict[str, Any]]


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


def markdown(sections: Sequence[Section], machine: dict[str, Any]) -> str:
    """Write all sections as one Markdown page."""
    facts = ", ".join(f"{name} {value}" for name, value in machine.items() if name not in ("cores", "processor"))
    parts = [
        "# Benchmarks",
        "Written by `make bench`; the data are made by the benchmark from fixed seeds.",
        f"{machine['cores']} cores of {machine['processor']}; {facts}.",
    ]
    for section in sections:
        parts += [f"## {section.title}", section.note, _markdown_table(section.records)]
    return "\n\n".join(parts) + "\n"


def write(sections: Sequence[Section], machine: dict[str, Any], repeats: int) -> None:
    """Write RESULTS.md and results.json beside this file."""
    (HERE / "RESULTS.md").write_text(markdown(sections, machine))
    content = {"machine": machine, "repeats": repeats} | {section.title: section.records for section in sections}
    (HERE / "results.json").write_text(json.dumps(content, indent=2) + "\n")


def _markdown_table(records: Sequence[dict[str, Any]]) -> str:
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
