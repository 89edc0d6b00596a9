"""What audits and reports say, in English and in Chinese: all their sentences of a language in one place."""

from bayeswater.phrases import Language

ENGLISH = {
    # figures of a group
    "rows": "rows",
    "frequency": "{positive} in truth",
    "decided": "{positive} predicted",
    "recall": "recall: predicted, of those in truth",
    "false alarm": "false alarms: predicted, of the others",
    "precision": "precision: in truth, of those predicted",
    "error": "error",
    "log-loss": "log-loss",
    "gap": "mean probability minus frequency",
    "ECE": "ECE",
    "cost": "cost of a row",
    "none": "–",
    "measured": "{value} ({low} to {high})",
    "missing group": "(missing)",
    # the audit
    "audit title": "By {group}: {n} rows in {k} groups; the class is {positive}, intervals are of 95 %",
    "more than": "{figure}: {value} more among {a} than among the others",
    "less than": "{figure}: {value} less among {a} than among the others",
    "no difference": "No figure differs by more than chance could make of it. That does not say that groups are equal.",
    "many looks": "{n} differences were looked at. Were there none at all, about {k} would still be named here.",
    "carried more": "The log-odds of {positive} are {value} higher among {a} than among the others, in the mean",
    "carried less": "The log-odds of {positive} are {value} lower among {a} than among the others, in the mean",
    "carried alike": "In the log-odds of {positive}, {a} and the others do not differ by more than chance, in the mean",
    "carried by": "; columns add to that {parts}.",
    "carried by none": "; no column has a part in it that is surely not 0.",
    "part": "{column} {value}",
    "parts end": ", ",
    "no cause": (
        "These are parts of the sum that the model makes, not causes: a column may stand for others that go with it, "
        "for the group among them."
    ),
    "reads group": "The model reads {group} itself.",
    "reads no group": "The model does not read {group}; other columns may still tell of it.",
    "some explained": "Parts are of {n} rows, spread evenly.",
    "infinite parts": "{n} rows with a cell that is impossible in a class are left out of the parts.",
    "gives no reasons": "This model does not tell what columns add, so nothing is said about them.",
    "few rows": "{groups}: fewer than {n} rows, too few to say much.",
    "left out": "{n} rows whose class the model does not know are left out.",
}

CHINESE = {
    "rows": "行数",
    "frequency": "实际为 {positive}",
    "decided": "预测为 {positive}",
    "recall": "召回率：实际者中被预测到的",
    "false alarm": "误报率：其余者中被预测到的",
    "precision": "精确率：被预测者中实际的",
    "error": "错误率",
    "log-loss": "对数损失",
    "gap": "平均概率减去频率",
    "ECE": "ECE",
    "cost": "每行成本",
    "none": "–",
    "measured": "{value}（{low} 至 {high}）",
    "missing group": "（缺失）",
    "audit title": "按 {group}：{n} 行，{k} 组；类别为 {positive}，区间均为 95 %",
    "more than": "{figure}：{a} 比其余各行高 {value}",
    "less than": "{figure}：{a} 比其余各行低 {value}",
    "no difference": "没有哪项指标的差别超出这些行可能出现的偶然差别。这并不是说各组相等。",
    "many looks": "共比较了 {n} 个差别。即使实际上毫无差别，其中约 {k} 个仍会在此列出。",
    "carried more": "平均而言，{a} 的 {positive} 对数几率比其余各行高 {value}",
    "carried less": "平均而言，{a} 的 {positive} 对数几率比其余各行低 {value}",
    "carried alike": "平均而言，{a} 与其余各行的 {positive} 对数几率之差不超出偶然",
    "carried by": "；各列在其中的份额：{parts}。",
    "carried by none": "；没有哪一列的份额可以肯定不为 0。",
    "part": "{column} {value}",
    "parts end": "，",
    "no cause": "这些是模型求和的各个部分，不是原因：一列可能代表与它相伴的其他列，也可能代表分组本身。",
    "reads group": "模型本身读取 {group}。",
    "reads no group": "模型不读取 {group}；其他列仍可能透露它。",
    "some explained": "份额由均匀选取的 {n} 行得出。",
    "infinite parts": "有 {n} 行含有在某一类别中不可能的单元格，未计入份额。",
    "gives no reasons": "此模型不说明各列的份额，因此这里不谈各列。",
    "few rows": "{groups}：少于 {n} 行，说明不了多少。",
    "left out": "有 {n} 行的类别是模型不认识的，未计入。",
}

_LANGUAGES = {"en": Language("en", ENGLISH), "zh": Language("zh", CHINESE)}


def sentences(lang: str) -> Language:
    """Find the sentences of a language.

    >>> sentences("zh").say("reads group", group="sex")
    '模型本身读取 sex。'
    """
    return _LANGUAGES[Language.of(lang).code]
