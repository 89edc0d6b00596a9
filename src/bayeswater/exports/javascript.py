"""A model as one JavaScript module without dependencies: its document, and the scorer of `scorer.js` as it is."""

import json
from pathlib import Path

from bayeswater.exports.form import ScoringForm, document

SCORER = Path(__file__).with_name("scorer.js")

HEAD = """// A classifier as a JavaScript module, which needs nothing else.
//
//   import { model } from "./FILE.js";
//   model.predictProba({ column: value });

"""


def script_data(form: ScoringForm) -> str:
    """Write the document of a form so that no script and no page takes a part of it for its own."""
    text = json.dumps(document(form), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def javascript_text(form: ScoringForm) -> str:
    """Write a form as a module."""
    code = SCORER.read_text(encoding="utf-8")
    return f"{HEAD}{code}\nexport const model = new Scorer({script_data(form)});\nexport {{ Scorer, RowRefused }};\n"
