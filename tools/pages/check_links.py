"""Follow every link within the built site, to the file and to the anchor: ``check_links.py build/docs``.

A name under "See also" that led to no page is broken, too: Sphinx leaves it as text without a warning.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Collect what a page points to, and what in it can be pointed to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "top"}
        self.tag_before = ""
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one tag."""
        if tag == "code" and self.tag_before != "a" and "py-obj" in (dict(attrs).get("class") or ""):
            self.links.add(f"a name at line {self.getpos()[0]} that is no public one")
        self.tag_before = tag
        for name, value in attrs:
            if value is not None and name == "id":
                self.anchors.add(value)
            elif value is not None and name in ("href", "src"):
                self.links.add(value)


def broken(site: Path) -> list[str]:
    """Give all links that lead nowhere."""
    pages = {file.resolve(): Page(file) for file in sorted(site.rglob("*.html")) if "_static" not in file.parts}
    found = []
    for file, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            anchor = unquote(parts.fragment)
            if not target.is_file() or (target in pages and anchor not in pages[target].anchors):
                found.append(f"{file.relative_to(site.resolve())} -> {link}")
    return found


if __name__ == "__main__":
    lines = broken(Path(sys.argv[1]))
    print("\n".join([*lines, f"{len(lines)} broken links"]))
    sys.exit(bool(lines))
