"""The site, in English from docs/ and in 中文 from docs/zh/ (`make docs`). tools/pages/ extends Sphinx.

Sphinx alone runs this file; pytest imports it when it looks for examples, so only the standard library is imported.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

project = "Bayeswater"
author = "The Bayeswater developers"
release = re.findall(r'__version__ = "(.+)"', (ROOT / "src/bayeswater/version.py").read_text())[0]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_copybutton",
    "pages.chinese_search",
    "pages.formulas",
    "pages.generated",
    "pages.languages",
    "pages.links",
    "pages.notebooks",
    "pages.snippets",
]
# README.md is the list of pages for those who read the files as they are.
exclude_patterns = ["README.md", "zh", "_templates", "generated/figures"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# `site:` is what tools/pages/links.py makes of links that leave the folder of a language.
myst_url_schemes = {"http": None, "https": None, "mailto": None, "site": "{{path}}#{{fragment}}"}

default_role = "literal"
autodoc_typehints = "none"  # docstrings tell the types
autodoc_member_order = "groupwise"
autosummary_generate = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the page of a class has its methods in full
numpydoc_class_members_toctree = False
# The Chinese pages find the reference in the site that was built just before.
intersphinx_mapping = {}

templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_sidebars = {"**": ["sidebar-nav-bs"], "glossary": []}
html_title = "Bayeswater"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_domain_indices = False
copybutton_exclude = ".linenos, .gp, .go"  # copy what is typed, not the prompt and not the answer
html_theme_options = {
    "logo": {"text": "Bayeswater"},
    "navbar_center": ["navbar-nav", "reference"],
    "navbar_persistent": ["search-button-field", "language"],  # also where the window is narrow
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc", "notebook"],
    "footer_start": ["version"],
    "footer_end": [],
    "show_prev_next": True,
}
