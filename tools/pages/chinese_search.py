"""Search in Chinese: a run of characters is found by its pairs of neighbours, in the index and in the browser alike.

Sphinx cuts Chinese text into words by a dictionary, but not what a reader types: "条件概率" would be looked for as one
word, and not found where the dictionary knows two.
"""

import re
from typing import Any

from sphinx.search import SearchLanguage

RUNS = re.compile(r"[\u4e00-\u9fff]+|[^\W\u4e00-\u9fff]+")


class PairsOfCharacters(SearchLanguage):
    """Words of Latin letters as they are, and pairs of Chinese characters."""

    lang = "zh"
    language_name = "Chinese"
    js_splitter_code = r"""
var splitQuery = (query) =>
  (query.match(/[\u4e00-\u9fff]+|(?:(?![\u4e00-\u9fff])[\p{L}\p{N}_])+/gu) || []).flatMap((run) =>
    /[\u4e00-\u9fff]/.test(run) && run.length > 2
      ? Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2))
      : [run],
  );
"""

    def split(self, input: str) -> list[str]:
        """Cut a text as ``splitQuery`` cuts a query."""
        return [
            word
            for run in RUNS.findall(input)
            for word in ([run[at : at + 2] for at in range(len(run) - 1)] if run > "\u4e00" and len(run) > 2 else [run])
        ]


def setup(app: Any) -> dict[str, bool]:
    """Put it in the place of Sphinx's own."""
    app.add_search_language(PairsOfCharacters)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
