"""Pages that nobody writes: the reference, the command line, and documents of the project that stand outside docs/.

They are written to docs/generated/, which is not committed, before Sphinx looks for pages.
"""

import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/generated"

DOCUMENTS = (
    *("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *(
        "benchmarks/OVERVIEW.md",
        "benchmarks/RESULTS.md",
        "benchmarks/ACCURACY.md",
        "benchmarks/WEIGHTS.md",
        "benchmarks/ENSEMBLE.md",
        "benchmarks/ensemble.svg",
    ),
)
"""What is shown as it is."""

OURS = ("best", "balanced", "generative")
"""Presets of `BayesEnsemble` in its report."""

TABLES = {"german_credit": "German credit", "server": "The server"}
"""Tables of the report on speed and memory that pages include, by the names of their files."""

ROOMS = {
    "models": "Classifiers",
    "models.network": "Bayesian networks",
    "models.mixed_networks": "Bayesian networks",
    "networks": "Tables of networks",
    "models.structures": "Learning a structure",
    "models.network.hidden": "Learning a structure",
    "decision": "Decisions and calibration",
    "estimate": "Priors of parameters",
    "models.comparing": "Comparing, reporting, exploring",
    "models.drifting": "Comparing, reporting, exploring",
    "reports": "Comparing, reporting, exploring",
    "web": "Comparing, reporting, exploring",
    "models.persistence": "Saving and exporting",
    "exports": "Saving and exporting",
    "data": "Tables and text",
    "kernels": "Threads",
    "errors": "Errors and warnings",
}
"""The titles of the reference, in its order: a name stands under the innermost of these that it lives in."""

COMMAND_LINE = """# The command line

`bayeswater COMMAND --help` prints what this page says of a command. Results go to standard output, messages to standard
error. `--debug` shows the traceback of an error.

The exit code is 0 if all is well, 1 for a fault in a file, 2 for a fault in the command line, and 130 if you interrupt.
"""
"""The beginning of the page on the command line."""

CLASSIFIER = "models.structures.network_classifier"
"""One of the classifiers, though it lives among structures."""


def reference() -> str:
    """List every public name under its room; autosummary makes a page of each."""
    import bayeswater
    import bayeswater.plots

    titles = list(dict.fromkeys(ROOMS.values()))
    place = {name: titles.index(_title(bayeswater._HOME[name])) for name in bayeswater.__all__}
    parts = ["Reference\n=========", "Every public class and function, and the commands of the command line."]
    parts.append(".. toctree::\n   :maxdepth: 1\n\n   command_line\n\n.. currentmodule:: bayeswater")
    for number, names in groupby(sorted(place, key=place.__getitem__), key=place.__getitem__):
        parts.append(_listed(titles[number], names))
    parts += [".. currentmodule:: bayeswater.plots", _listed("Pictures: bayeswater.plots", bayeswater.plots.__all__)]
    return "\n\n".join(parts)


def _title(home: str) -> str:
    """Give the title that a module stands under.

    >>> _title("models.network.bayesian_network"), _title("models.network.hidden"), _title("models.gaussian_nb")
    ('Bayesian networks', 'Learning a structure', 'Classifiers')
    """
    if home == CLASSIFIER:
        return ROOMS["models"]
    return ROOMS[max((room for room in ROOMS if f"{home}.".startswith(f"{room}.")), key=len)]


def _listed(title: str, names: Iterable[str]) -> str:
    listing = f"{title}\n{'-' * len(title)}\n\n.. autosummary::\n   :toctree: .\n   :nosignatures:\n"
    return listing + "".join(f"\n   {name}" for name in sorted(names, key=str.lower))


def command_line() -> str:
    """Let cyclopts tell what every verb does and takes, and put its example below it.

    The options of reading, which most verbs have, stand once, behind all verbs.
    """
    from bayeswater.cli.main import VERBS, app

    text = app.generate_docs(output_format="markdown")
    verbs = text[text.index("\n## bayeswater ") :]
    reading = re.search(r"\*\*Reading\*\*:\n\n(.*?)(?=\n## |\Z)", verbs, re.DOTALL)
    assert reading is not None
    verbs = verbs.replace(reading[0], "**Reading**: see [how files are read](#how-files-are-read).\n")
    for summary, example in VERBS.values():
        verbs = verbs.replace(f"\n{summary}\n", f"\n{summary}\n\n```sh\n{example}\n```\n", 1)
    listed = "".join(f"| [`{verb}`](#bayeswater-{verb}) | {summary} |\n" for verb, (summary, _) in VERBS.items())
    return (
        f"{COMMAND_LINE}\n| command | what it does |\n|---|---|\n{listed}{verbs}\n\n## How files are read\n\n"
        "All commands that read a table have these options. "
        f"[From a file to a model](../from_a_file_to_a_model.md) explains them.\n\n{reading[1]}"
    )


def means() -> str:
    """Give the means of the reports on accuracy, as one table for each report: figures are written nowhere else."""
    accuracy = [row for row in _rows("benchmarks/ACCURACY.md") if row[0] in ("table", "mean of 29")]
    ensemble = [row[:5] for row in _rows("benchmarks/ENSEMBLE.md") if len(row) == 10 and row[1].isdigit()]
    return (
        "| model, on 29 tables of states | error % | log-loss | ECE |\n|---|---|---|---|\n"
        + "".join(
            f"| {model} | {' | '.join(figures.split(' (')[0].split(' / '))} |\n"
            for model, figures in zip(accuracy[0][2:], accuracy[1][2:], strict=True)
        )
        + "\n| model, on mixed tables | tables | error % | log-loss | ECE |\n|---|---|---|---|---|\n"
        + "".join(f"| {'`BayesEnsemble`, ' * (row[0] in OURS)}{' | '.join(row)} |\n" for row in ensemble)
    )


def table(heading: str) -> str:
    """Give the table below a heading of the report on speed and memory."""
    lines = (ROOT / "benchmarks/RESULTS.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0].splitlines()
    return "\n".join(line for line in lines if line.startswith("|")) + "\n"


def _rows(report: str) -> list[list[str]]:
    lines = (ROOT / report).read_text().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def write(app: Any, config: Any) -> None:
    """Write all of them."""
    if config.language != "en":
        return
    texts = {"index.rst": reference(), "command_line.md": command_line(), "figures/means.md": means()}
    texts |= {f"figures/{name}.md": table(heading) for name, heading in TABLES.items()}
    for name in DOCUMENTS:
        texts[name] = (ROOT / name).read_text()
    for name, text in texts.items():
        page = FOLDER / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)


def hide(app: Any, what: str, name: str, value: object, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator: its routing of metadata, and frames as output."""
    return True if str(getattr(value, "__module__", "")).startswith("sklearn") or name.endswith("_request") else None


def setup(app: Any) -> dict[str, bool]:
    """Write before Sphinx looks for pages."""
    app.connect("config-inited", write)
    app.connect("autodoc-skip-member", hide)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
