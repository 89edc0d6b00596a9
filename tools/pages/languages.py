"""Two languages: which page has which one beside it, and whether a Chinese page still says what the English one does.

A Chinese page has the name of its English one, under docs/zh/, and its front matter holds the stamp of the text that it
was written after. `make docs` lists the pages that have no Chinese one yet.
"""

import posixpath
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
CHINESE = DOCS / "zh"
STAMP = re.compile(r"\A---\nenglish: (\w+)\n---\n")


def english_pages() -> list[Path]:
    """Give the English pages that people write, relative to docs/."""
    pages = (page.relative_to(DOCS) for page in sorted(DOCS.rglob("*.md")))
    return [page for page in pages if page.parts[0] not in ("zh", "generated") and page.name != "README.md"]


def chinese_pages() -> list[Path]:
    """Give the Chinese pages, relative to docs/zh/."""
    return [page.relative_to(CHINESE) for page in sorted(CHINESE.rglob("*.md"))]


def stamp(page: Path) -> str:
    """Give the stamp that the Chinese version of an English page has to carry."""
    return sha256((DOCS / page).read_bytes()).hexdigest()[:12]


def _configure(app: Any, config: Any) -> None:
    """Let the Chinese pages find the reference in the English site, and tell which pages are still to be written."""
    if config.language != "en":
        config.intersphinx_mapping = {"en": ("..", str(Path(app.outdir).parent / "objects.inv"))}
        missing = sorted(map(str, set(english_pages()) - set(chinese_pages())))
        print(f"No Chinese page yet for {len(missing)} of {len(english_pages())}: {', '.join(missing)}")


def _switch(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Name the same page in the other language, or its first page where there is none."""
    english = app.config.language == "en"
    there = page in ("search", "genindex") or ((CHINESE if english else DOCS) / f"{page}.md").exists()
    own, other = ("", "zh/") if english else ("zh/", "")
    here = posixpath.dirname(f"{own}{page}")
    context["other_page"] = posixpath.relpath(f"{other}{page if there else 'index'}.html", here or ".")
    context["other_language"], context["other_name"] = ("zh", "中文") if english else ("en", "English")


def setup(app: Any) -> dict[str, bool]:
    """Come before intersphinx reads its mapping."""
    app.connect("config-inited", _configure, priority=100)
    app.connect("html-page-context", _switch)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
