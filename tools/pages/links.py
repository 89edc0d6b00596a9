"""Links that nobody has to write: from a word of the glossary, from a public name, and out of the folder of a language.

Sources stay plain: they link to files of the repository, as a viewer of files understands it. Here such a link leads to
the page that the file is shown as, or is text where the site does not show it.
"""

import os.path
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from pages.generated import DOCUMENTS, FOLDER, ROOT
from pages.languages import CHINESE, DOCS
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]+)?\)")
TERM = re.compile(r"^### (.+)\n\n(.+)$", re.MULTILINE)
CHARACTERS = re.compile(r"[\u4e00-\u9fff]+")
CLOSED = (nodes.title, nodes.reference, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
"""Where no word is turned into a link."""


def _address(file: Path) -> Path | None:
    """Give the page on which a file is shown, as if it lay in docs/."""
    if file == DOCS / "README.md":
        return DOCS / "index.html"
    if file.is_relative_to(DOCS):
        return file.with_suffix(".html")
    return (FOLDER / file.relative_to(ROOT)).with_suffix(".html") if str(file.relative_to(ROOT)) in DOCUMENTS else None


def _lead_to_pages(app: Any, page: str, source: list[str]) -> None:
    """Turn links to files into links to pages, where Sphinx cannot."""
    shown = Path(app.srcdir) / f"{page}.md"
    origin = ROOT / shown.relative_to(FOLDER) if shown.is_relative_to(FOLDER) else shown

    def lead(link: re.Match[str]) -> str:
        text, target, fragment = link.groups()
        file = (origin.parent / target).resolve()
        folder = CHINESE if file.is_relative_to(CHINESE) else DOCS  # of the language of the page that is linked
        inside = origin == shown and file.suffix == ".md" and file.name != "README.md" and file.is_relative_to(DOCS)
        if not file.exists() or (inside and folder == Path(app.srcdir)):
            return link[0]
        address = _address(file) if file.is_relative_to(ROOT) else None
        return f"[{text}](site:{os.path.relpath(address, shown.parent)}{fragment or ''})" if address else text

    source[0] = LINK.sub(lead, source[0])


def terms(glossary: str, chinese: bool) -> dict[str, tuple[str, str]]:
    """Give the anchor and the sentence of each term of a glossary, whose headings name it in both languages."""
    found = {}
    for heading, sentence in TERM.findall(glossary):
        english = CHARACTERS.sub("", heading).strip()
        word = "".join(CHARACTERS.findall(heading)) if chinese else english.lower()
        if len(word) > 1:  # one character is a part of many words
            found[word] = (nodes.make_id(english), _plain(sentence))
    return found


def _plain(sentence: str) -> str:
    """Give a sentence as it can stand in a tooltip: without marks, and with formulas as plain text."""
    sentence = re.sub(r"\\text\{(.*?)\}", r"\1", sentence).replace(r"\mid", "|")
    return re.sub(r"\\,|\\(?=[a-z])|[`*$]", "", sentence)


class LinkNamesAndTerms(SphinxTransform):
    """A public name in code leads to the reference; a term leads to the glossary, at its first use on a page.

    The empty line that ends an example for doctest is left out, and the glossary is set in its own style.
    """

    default_priority = 500

    def apply(self, **_: Any) -> None:
        """Look through one page."""
        import bayeswater

        page = self.env.docname
        if page == "generated/index":  # its summaries are links already
            return
        for block in self.document.findall(nodes.literal_block):
            block.rawsource = block.astext().rstrip()  # Sphinx colours a block whose source is its text
            block[:] = [nodes.Text(block.rawsource)]
        for literal in list(self.document.findall(nodes.literal)):
            closed = (nodes.reference, nodes.title, addnodes.pending_xref)
            if literal.astext() in bayeswater.__all__ and not self._within(literal, closed):
                target = addnodes.pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=f"bayeswater.{literal.astext()}", refexplicit=True
                )
                literal.replace_self(target)
                target += literal
        if page == "glossary":
            for section in self.document.findall(nodes.section):
                section["classes"].append("glossary")
        elif not page.startswith("generated"):
            self._link_terms(page)

    def _link_terms(self, page: str) -> None:
        chinese = self.config.language != "en"
        open_terms = terms((Path(self.app.srcdir) / "glossary.md").read_text(), chinese)
        ends = ("", "") if chinese else (r"(?<![\w-])", r"(?:s|es)?(?![\w-])")
        anchor = self.app.builder.get_relative_uri(page, "glossary")
        for text in list(self.document.findall(nodes.Text)):
            if self._within(text, (*CLOSED, addnodes.pending_xref)):
                continue
            parts: list[nodes.Node] = []
            rest = text.astext()
            while open_terms:
                longest_first = "|".join(re.escape(term) for term in sorted(open_terms, key=len, reverse=True))
                found = re.search(f"{ends[0]}({longest_first}){ends[1]}", rest, re.IGNORECASE)
                if found is None:
                    break
                place, sentence = open_terms.pop(found[1].lower())
                link = nodes.reference("", found[0], refuri=f"{anchor}#{place}", reftitle=sentence, classes=["term"])
                parts += [nodes.Text(rest[: found.start()]), link]
                rest = rest[found.end() :]
            if parts:
                text.parent.replace(text, [*parts, nodes.Text(rest)])

    @staticmethod
    def _within(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
        while node.parent is not None:
            node = node.parent
            if isinstance(node, kinds):
                return True
        return False


def setup(app: Any) -> dict[str, bool]:
    """Change sources as they are read, and pages once they are parsed."""
    app.connect("source-read", _lead_to_pages)
    app.add_transform(LinkNamesAndTerms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
