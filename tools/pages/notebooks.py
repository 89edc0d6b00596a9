"""Lessons as notebooks, one source for both: ``notebooks.py build/docs`` makes them of the pages, and runs them.

Text stays text, and each section of code becomes cells that end where there is something to see. The code of the two
languages is the same, so it is run once, and the Chinese notebooks have the outputs of the English ones.
"""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from pages.languages import CHINESE, DOCS, STAMP
from pages.links import LINK
from pages.snippets import PICTURE, examples, sections

CODE = re.compile(r"^```\{(snippet|picture)\} (.+)\n```$", re.MULTILINE)


def lessons() -> list[str]:
    """Name the pages that have code of their own, as ``learn/losses``."""
    return [str(file.relative_to(DOCS).with_suffix("")) for file in sorted(DOCS.rglob("*.pycon"))]


def cells(page: str, folder: Path) -> list[tuple[str, str]]:
    """Cut a page into cells, each ``markdown`` or ``code`` with its text."""
    code = sections(page)
    text, *rest = CODE.split(STAMP.sub("", (folder / f"{page}.md").read_text()))
    found = [("markdown", _readable(text))]
    for kind, name, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        source = ""
        for example in examples(code[PICTURE if kind == PICTURE else name]):
            source += example.source
            if example.want:
                found.append(("code", source.strip()))
                source = ""
        found += [("code", source.strip()), ("markdown", _readable(after))]
    return [(kind, text) for kind, text in found if text]


def _readable(text: str) -> str:
    """Leave links between lessons, which lie side by side as notebooks do, and the words of all others."""

    def lead(link: re.Match[str]) -> str:
        words, target, _ = link.groups()
        return f"[{words}]({Path(target).with_suffix('.ipynb')})" if f"learn/{target[:-3]}" in lessons() else words

    return LINK.sub(lead, text).strip()


def make(site: Path) -> int:
    """Write the notebooks of both languages beside the pages of the site; give how many lessons there are."""
    import nbformat
    from nbclient import NotebookClient
    from traitlets.config import Config

    private = Config(KernelManager={"transport": "ipc"})  # by a socket that nobody else can listen at
    for page in lessons():
        outputs: list[Any] = []
        for folder, language in ((DOCS, ""), (CHINESE, "zh")):
            parts = cells(page, folder)
            notebook = nbformat.v4.new_notebook(
                cells=[getattr(nbformat.v4, f"new_{kind}_cell")(text) for kind, text in parts],
                metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            )
            code = [cell for cell in notebook.cells if cell.cell_type == "code"]
            if not outputs:
                NotebookClient(notebook, config=private, record_timing=False, timeout=600).execute()
                outputs = [cell.outputs for cell in code]
            for place, (cell, shown) in enumerate(zip(code, outputs, strict=True), start=1):
                cell.outputs, cell.execution_count = shown, place
            file = site / language / "notebooks" / f"{Path(page).name}.ipynb"
            file.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, file)
    return len(lessons())


def _offer(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let the page of a lesson lead to its notebook."""
    if page in lessons():
        context["notebook"] = f"notebooks/{Path(page).name}.ipynb"


def setup(app: Any) -> dict[str, bool]:
    """Tell the templates where a notebook is."""
    app.connect("html-page-context", _offer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    print(f"{make(Path(sys.argv[1]))} lessons run as notebooks")
