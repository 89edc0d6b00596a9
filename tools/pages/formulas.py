"""Formulas as MathML, which every browser of today draws by itself: no script, no font, no network.

The converter is that of docutils, which Sphinx stands on. A formula that it cannot read is a warning, and so an error.
"""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _draw(translator: Any, node: nodes.math | nodes.math_block) -> None:
    try:
        translator.body.append(tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    except MathError as error:
        logger.warning("this formula cannot be drawn: %s", error, location=node)
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx draw formulas by this file, under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_draw, None), (_draw, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
