"""A model as one Python file on the standard library alone: its document, and the scorer of `scorer.py` as it is."""

import json
from pathlib import Path

from bayeswater.exports import scorer
from bayeswater.exports.form import ScoringForm, document

HEAD = '''"""A classifier as a Python file, which needs nothing but the standard library.

    from FILE import MODEL
    MODEL.predict_proba({{"column": value, ...}})

On the command line it reads rows as JSON, one on each line, and writes their probabilities.

{what}
"""

'''

TAIL = '''

MODEL = Scorer(json.loads(DOCUMENT))


def main() -> None:
    """Answer rows of standard input."""
    for line in filter(str.strip, sys.stdin):
        answer: dict[str, Any] = {}
        try:
            row = json.loads(line)
            answer["probability"] = MODEL.predict_proba(row)
            answer["prediction"] = MODEL.predict(row)
            if MODEL.decision is not None:
                answer["action"] = MODEL.decide(row)
        except RowRefused as error:
            answer["refused"] = str(error)
        except json.JSONDecodeError as error:
            answer["refused"] = f"the line is no JSON: {error}"
        print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main()
'''


def python_text(form: ScoringForm) -> str:
    """Write a form as a Python file."""
    source = Path(scorer.__file__).read_text(encoding="utf-8")
    _, _, code = source.split('"""', 2)
    code = (
        code.lstrip()
        .replace("import math\n", "import json\nimport math\n")
        .replace("import re\n", "import re\nimport sys\n")
    )
    data = json.dumps(document(form), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    lines = [data[at : at + 100] for at in range(0, len(data), 100)]
    held = "\n".join(f"    {line!r}" for line in lines)
    return f"{HEAD.format(what=f'A {form.model}: {form.size()}.')}{code}\n\nDOCUMENT = (\n{held}\n)\n{TAIL}"
