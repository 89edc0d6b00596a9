"""A model as a page that works offline from one file: fields, posterior, decision and reasons."""

import html
import json
from pathlib import Path

from bayeswater.exports.form import ScoringForm
from bayeswater.exports.javascript import SCORER, script_data

PAGE = Path(__file__).with_name("page.html")

WORDS = {
    "en": {
        "about": "{0} of {1} columns and {2} classes. What is left empty is not known. Nothing leaves this page.",
        "columns": "What is known",
        "unknown": "(not known)",
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
