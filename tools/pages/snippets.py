"""Code that both languages of a page show: docs/learn/losses.pycon, beside docs/learn/losses.md.

It is one doctest in sections, each under a line `## name`, and `make test` runs it. In a page, the directive `snippet`
shows a section by its name. The directive `picture` shows what the section `picture` draws, and tells it in words: the
site runs the code up to there, and draws twice, for light and for dark pages.
"""

import os.path
import re
from contextlib import redirect_stdout
from doctest import DocTestParser, Example
from io import StringIO
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from pages.generated import FOLDER
from pages.languages import DOCS

SECTION = re.compile(r"^## ([^\n]+)\n\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PICTURE = "picture"
SHARED = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.figsize": (6.2, 3.2),
    "legend.frameon": False,
    "savefig.transparent": True,
}
INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
INKS = {"light": "#333333", "dark": "#dddddd"}
COLOURS = {
    "light": ("#0072B2", "#D55E00", "#009E73", "#CC79A7"),  # Okabe and Ito: told apart by people of any colour vision
    "dark": ("#56B4E9", "#F0874A", "#2FC596", "#E0A0C4"),
}


def sections(page: str) -> dict[str, str]:
    """Give the code of a page, such as ``learn/losses``, by section; nothing if it has no file of code."""
    file = DOCS / f"{page}.pycon"
    return {name: text.strip() for name, text in SECTION.findall(file.read_text())} if file.exists() else {}


def examples(section: str) -> list[Example]:
    """Give the steps of a section, each with what it prints."""
    return DocTestParser().get_examples(f"{section}\n")


def picture(page: str, theme: str) -> Path:
    """Name the file of the picture of a page."""
    return FOLDER / "pictures" / f"{Path(page).name}_{theme}.svg"


def draw(page: str) -> None:
    """Run the code of a page up to its picture, and save what `figure` is then."""
    import matplotlib
    from cycler import cycler

    matplotlib.use("agg")
    names: dict[str, Any] = {}
    for section, text in sections(page).items():
        code = compile("".join(example.source for example in examples(text)), f"{page}.pycon, {section}", "exec")
        if section != PICTURE:
            with redirect_stdout(StringIO()):
                exec(code, names)
            continue
        for theme, ink in INKS.items():
            look = SHARED | dict.fromkeys(INKED, ink) | {"axes.prop_cycle": cycler(color=COLOURS[theme])}
            with matplotlib.rc_context(look):
                exec(code, names)
                picture(page, theme).parent.mkdir(parents=True, exist_ok=True)
                names["figure"].savefig(picture(page, theme), metadata={"Date": None})
                matplotlib.pyplot.close(names["figure"])
        return


class Snippet(Directive):
    """Show a section of the code."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Set it as a session, like any other example."""
        page, name = self.state.document.settings.env.docname, self.arguments[0]
        found = sections(page)
        if name not in found:
            raise self.error(f"docs/{page}.pycon has no section '{name}', only {', '.join(found)}")
        return [nodes.literal_block(found[name], found[name], language="python")]


class Picture(Directive):
    """Show the picture, with words for those who cannot see it."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Draw it for the English page; the Chinese site is built after it, and shows the same files."""
        env = self.state.document.settings.env
        if env.config.language == "en":
            draw(env.docname)
        env.note_dependency(str(DOCS / f"{env.docname}.pycon"))
        folder = Path(env.srcdir, env.docname).parent
        return [
            nodes.image(
                uri=os.path.relpath(picture(env.docname, theme), folder),
                alt=self.arguments[0],
                classes=[f"only-{theme}"],
            )
            for theme in INKS
        ]


def setup(app: Any) -> dict[str, bool]:
    """Add both directives."""
    app.add_directive("snippet", Snippet)
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
