"""A model as a program that carries its scorer along: a Python file, a JavaScript module, or a page that works offline.

Each is the document of a `ScoringForm` beside `scored_cells.py` and `scorer.py`, or `scorer.js`, as they are, and needs
nothing else; the page has fields, posterior, decision and reasons.
"""

import html
import json
import re
from pathlib import Path

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
            answer["probability"] = dict(zip(MODEL.classes, MODEL.predict_proba(row), strict=True))
            answer["prediction"] = MODEL.predict(row)
            if MODEL.decision is not None:
                answer["action"], answer["risk"] = MODEL.decide(row), MODEL.risks(row)
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
    files = [Path(__file__).with_name(name) for name in ("scored_cells.py", "scorer.py")]
    parts = [file.read_text(encoding="utf-8").split('"""', 2)[2] for file in files]
    code = re.sub(r"^from bayeswater[^(]*\([^)]*\)\n", "", "\n".join(parts), flags=re.MULTILINE)
    imports = {"import json\n", "import sys\n", *re.findall(r"^(?:import|from) .*\n", code, flags=re.MULTILINE)}
    code = re.sub(r"^(?:import|from) .*\n", "", code, flags=re.MULTILINE)
    code = f"{''.join(sorted(imports, key=lambda line: line.split()[:2]))}\n{code.strip()}\n"
    data = json.dumps(document(form), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    lines = [data[at : at + 100] for at in range(0, len(data), 100)]
    held = "\n".join(f"    {line!r}" for line in lines)
    return f"{HEAD.format(what=f'A {form.model}: {form.size()}.')}{code}\n\nDOCUMENT = (\n{held}\n)\n{TAIL}"


SCORER = Path(__file__).with_name("scorer.js")

SCRIPT_HEAD = """// A classifier as a JavaScript module, which needs nothing else.
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
    data = script_data(form)
    return f"{SCRIPT_HEAD}{code}\nexport const model = new Scorer({data});\nexport {{ Scorer, RowRefused }};\n"


PAGE = Path(__file__).with_name("page.html")

WORDS = {
    "en": {
        "about": "{0} of {1} columns and {2} classes. What is left empty is not known. Nothing leaves this page.",
        "columns": "What is known",
        "unknown": "(not known)",
        "empty": "(empty, which the model counts as a value)",
        "seconds": "seconds",
        "answer": "Answer",
        "said": "{0}, with probability {1}",
        "refused": "No answer: {0}.",
        "decision": "Decision",
        "risk_note": "Expected cost of each action, beyond the least there can be for the true class.",
        "reasons": "Reasons",
        "reasons_note": "What each column adds to the log-odds of {0} against {1}: what they would lose without it.",
        "no_reasons": "Nothing is known yet: the answer is how frequent the classes are.",
        "clear": "Clear",
    },
    "zh": {
        "about": "{0}，{1} 列，{2} 个类别。留空即未知。数据不会离开本页。",
        "columns": "已知信息",
        "unknown": "（未知）",
        "empty": "（空，模型把它当作一个取值）",
        "seconds": "秒",
        "answer": "结果",
        "said": "{0}，概率 {1}",
        "refused": "无法回答：{0}。",
        "decision": "决策",
        "risk_note": "每种行动的期望代价（超出真实类别下最小代价的部分）。",
        "reasons": "理由",
        "reasons_note": "每一列对 {0} 相对于 {1} 的对数几率的贡献：去掉该列后几率会降低多少。",
        "no_reasons": "尚无已知信息：结果即各类别的频率。",
        "clear": "清空",
    },
}
"""What the page says, by language."""


def html_text(form: ScoringForm, name: str, lang: str = "en") -> str:
    """Write a form as a page, which is called by a name."""
    head, rest = PAGE.read_text(encoding="utf-8").split("{scorer}")
    middle, tail = rest.split("{data}")
    head = head.replace("{lang}", {"en": "en", "zh": "zh-Hans"}[lang]).replace("{title}", html.escape(name))
    tail = tail.replace("{words}", json.dumps(WORDS[lang], ensure_ascii=True))
    return f"{head}{SCORER.read_text(encoding='utf-8')}{middle}{script_data(form)}{tail}"
