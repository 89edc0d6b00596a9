"""What explanations say, in English and in Chinese: the sentences that all rooms share.

A phrase is a sentence, or a part of one, with places for values. Rooms make data, and whoever writes them down asks a
`Language` for the words. A `Phrase` is a reason that is kept as data and read in English unless told otherwise.
What only one file says, that of a family for one, stands in that file, as `own_phrases`.

Reasons that model files keep are English texts. Their file says by `own_reasons` how they are put in Chinese, and
`translated` finds the places in a text again.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from bayeswater.errors import ParameterError
from bayeswater.records import record

ENGLISH = {
    # values, ratios and numbers
    "is empty": "is empty",
    "= value": "= {value}",
    "infinite": "infinitely many",
    "as likely": "as likely among {a} as among {b}",
    "impossible": "impossible among {a}",
    "score": "speaks for {a} by a factor of {times}",
    "times as likely": "{times} times as likely among {a} as among {b}",
    "odds": "{a} to {b}",
    # cells and changes
    "over": "over {value}",
    "under": "under {value}",
    "=": "= {value}",
    "at least": "at least {value}",
    "at most": "at most {value}",
    "not over": "not over {value}",
    "seconds": "{value} seconds",
    "missing": "missing",
    # the explanation of a row
    "head": "{prediction} rather than {against}, with probability {p}",
    "head calibrated": "{prediction} rather than {against}, with probability {p} ({calibrated} calibrated)",
    "before": "before the row is looked at",
    "all missing": "with all cells missing",
    "log-odds": "log-odds",
    "calibrated odds": "{odds} ({calibrated} calibrated)",
    "as frequent": "{a} is as frequent as {b}",
    "taken for as frequent": "{a} is taken to be as frequent as {b}",
    "never": "{a} has probability 0",
    "times as frequent": "{a} is {times} times as frequent as {b}",
    "taken for times as frequent": "{a} is taken to be {times} times as frequent as {b}",
    "frequency and shift": "class frequencies, and the shift learned with the weights",
    "row impossible": "the row is impossible in both classes: the class frequencies decide",
    "left out missing": "missing, left out: {names}",
    "left out unseen": "never seen, left out: {cells}",
    "turns": "would turn it: {changes}",
    "two turn": "no single column turns it; two would: {changes}{toward}",
    "none turns": "no single column turns it, and no two were found that do",
    "toward": " (to {a})",
    "turns if missing": "would turn it, if missing: {changes}",
    "no cell decides": "no single cell decides it",
    "and": "{first} and {last}",
    "comma": ", ",
    "semicolon": "; ",
    "summary": "{prediction} ({p}) rather than {against}{why}{but}",
    "why": " for {names}",
    "why prior": " by the class frequencies",
    "why impossible": " by the class frequencies, since the row is impossible in both",
    "but": "; against it {name}",
    "more rows": "and {n} more rows",
    "row": "row {n}",
    # credible intervals
    "interval": "{label}: {p}, between {low} and {high}: {rows}",
    "interval ends": "{label}: {p}, {low} at both ends: {rows}",
    "one supports": "{rows} supports this",
    "support": "{rows} support this",
    # what to ask for next
    "ask": "ask",
    "do not ask": "do not ask",
    "named": "{name}: {what}",
    "worth": "worth {worth} of loss, costs {cost}: {advice}",
    "nothing to ask": "There is nothing to ask for; the risk is {risk}.",
    "ask nothing": "Ask for nothing more: the best, the {column}, is worth {worth} of loss, costs {cost}.",
    "ask next": "Ask for the {column} next: it is worth {worth} of loss, costs {cost}.",
    "and more": "and {n} more",
    "empty is state": "a missing cell is a state of its own there",
    "too many outcomes": "it has {n} outcomes, too many to go through",
    "heavy tail": "its density has too heavy a tail to be weakened by calibration",
}

CHINESE = {
    "is empty": "为空",
    "= value": "= {value}",
    "infinite": "无穷多",
    "as likely": "在 {a} 中与在 {b} 中同样常见",
    "impossible": "在 {a} 中不可能出现",
    "score": "以 {times} 倍的因子支持 {a}",
    "times as likely": "在 {a} 中的可能性是在 {b} 中的 {times} 倍",
    "odds": "{a} 比 {b}",
    "over": "大于 {value}",
    "under": "小于 {value}",
    "=": "= {value}",
    "at least": "至少 {value}",
    "at most": "至多 {value}",
    "not over": "不大于 {value}",
    "seconds": "{value} 秒",
    "missing": "缺失",
    "head": "{prediction} 而不是 {against}，概率 {p}",
    "head calibrated": "{prediction} 而不是 {against}，概率 {p}（校准后 {calibrated}）",
    "before": "看这一行之前",
    "all missing": "所有单元格都缺失时",
    "log-odds": "对数几率",
    "calibrated odds": "{odds}（校准后 {calibrated}）",
    "as frequent": "{a} 与 {b} 同样常见",
    "taken for as frequent": "{a} 与 {b} 被视为同样常见",
    "never": "{a} 的概率为 0",
    "times as frequent": "{a} 的频率是 {b} 的 {times} 倍",
    "taken for times as frequent": "{a} 的频率被视为 {b} 的 {times} 倍",
    "frequency and shift": "类别频率，以及随权重一起学到的偏移",
    "row impossible": "这一行在两个类别中都不可能出现：由类别频率决定",
    "left out missing": "缺失，未计入：{names}",
    "left out unseen": "从未见过，未计入：{cells}",
    "turns": "会改变结论：{changes}",
    "two turn": "没有单独一列能改变结论；两列一起可以：{changes}{toward}",
    "none turns": "没有单独一列能改变结论，也没有找到能改变它的两列",
    "toward": "（变为 {a}）",
    "turns if missing": "若缺失则会改变结论：{changes}",
    "no cell decides": "没有单独一个单元格能决定结论",
    "and": "{first} 和 {last}",
    "comma": "、",
    "semicolon": "；",
    "summary": "{prediction}（{p}）而不是 {against}{why}{but}",
    "why": "，因为 {names}",
    "why prior": "，依据类别频率",
    "why impossible": "，依据类别频率，因为这一行在两个类别中都不可能出现",
    "but": "；反对它的是 {name}",
    "more rows": "还有 {n} 行",
    "row": "第 {n} 行",
    "interval": "{label}：{p}，在 {low} 与 {high} 之间：{rows}",
    "interval ends": "{label}：{p}，两端都是 {low}：{rows}",
    "one supports": "{rows}支持这一结论",
    "support": "{rows}支持这一结论",
    "ask": "值得问",
    "do not ask": "不值得问",
    "named": "{name}：{what}",
    "worth": "可减少损失 {worth}，成本 {cost}：{advice}",
    "nothing to ask": "没有可问的；风险为 {risk}。",
    "ask nothing": "不必再问：最好的 {column} 可减少损失 {worth}，成本 {cost}。",
    "ask next": "下一步问 {column}：可减少损失 {worth}，成本 {cost}。",
    "and more": "还有 {n} 个",
    "empty is state": "在那里，缺失的单元格本身就是一个状态",
    "too many outcomes": "它有 {n} 种结果，太多，无法逐一计算",
    "heavy tail": "它的密度尾部太重，无法按校准减弱",
}

FEW = (*("no", "one", "two", "three", "four", "five", "six"), *("seven", "eight", "nine", "ten", "eleven", "twelve"))
"""Numbers that English writes as words."""

THINGS = {"row": "行", "other column": "个其他列"}
"""What is counted, in Chinese with its measure word."""


@record
class Language:
    """A language, and its phrases.

    >>> Language.of("zh").say("odds", a=13, b=1)
    '13 比 1'
    """

    code: str
    phrases: Mapping[str, str]

    @classmethod
    def of(cls, lang: str) -> "Language":
        """Find a language by its code."""
        if lang not in LANGUAGES:
            raise ParameterError(f"lang is {lang!r}; it can be one of {[*LANGUAGES]}")
        return LANGUAGES[lang]

    def say(self, key: str, /, **values: Any) -> str:
        """Put values into a phrase."""
        return self.phrases[key].format(**values)

    def how_many(self, n: float, thing: str) -> str:
        """Count things; English writes few of them in words.

        >>> [EN.how_many(n, "row") for n in (7, 1, 1234, 2.5, 0)]
        ['seven rows', 'one row', '1,234 rows', '2.5 rows', 'no row']
        >>> Language.of("zh").how_many(1234, "row")
        '1,234 行'
        """
        number = f"{int(n):,}" if n == int(n) else f"{n:,.3g}"
        if self.code == "zh":
            return f"{number} {THINGS[thing]}"
        number = FEW[int(n)] if n == int(n) and n < len(FEW) else number
        return f"{number} {thing}{'' if n in (0, 1) else 's'}"


EN = Language("en", ENGLISH)
LANGUAGES = {"en": EN, "zh": Language("zh", CHINESE)}


class Phrase(str):
    """A reason in English that knows how it is said in other languages.

    >>> Phrase("too many counts", n="1e+09"), Phrase("heavy tail").to(Language.of("zh"))
    ('its counts, 1e+09, are too many to go through', '它的密度尾部太重，无法按校准减弱')
    """

    key: str
    values: dict[str, Any]

    def __new__(cls, key: str, /, **values: Any) -> "Phrase":
        """Say it in English."""
        self = super().__new__(cls, EN.say(key, **values))
        self.key, self.values = key, values
        return self

    def to(self, language: Language) -> str:
        """Say it in a language."""
        return language.say(self.key, **self.values)

    def __reduce__(self) -> Any:
        return _phrase, (self.key, self.values)


def _phrase(key: str, values: dict[str, Any]) -> Phrase:
    return Phrase(key, **values)


REASONS: dict[str, str] = {}
"""Reasons as they are written in English, with places for values, and in Chinese."""

PARTS = frozenset({"what", "parts", "title", "reason"})
"""Places whose values are reasons themselves, or lists of them."""

CLAUSES = frozenset({"clause", "hint"})
"""Places whose value is one reason, with commas of its own."""


def own_phrases(said: Mapping[str, tuple[str, str]]) -> None:
    """Add what one file says, in English and in Chinese."""
    ENGLISH.update({key: english for key, (english, _) in said.items()})
    CHINESE.update({key: chinese for key, (_, chinese) in said.items()})


def own_reasons(said: Mapping[str, str]) -> None:
    """Add reasons that one file gives, in English, and how each is said in Chinese."""
    REASONS.update(said)
    _patterns.cache_clear()


def translated(text: str, language: Language) -> str:
    """Say a reason that is kept in English in a language; what nobody knows how to say stays as it is.

    >>> own_reasons({"only {n} of {what}": "{what}只有 {n} 个", "rows": "行"})
    >>> translated("only 7 of rows; xyz", Language.of("zh")), translated("only 7 of rows", EN)
    ('行只有 7 个；xyz', 'only 7 of rows')
    """
    if language.code == "en":
        return str(text)
    language = LANGUAGES[language.code]  # rooms have languages of their own, with other sentences
    if isinstance(text, Phrase):
        return text.to(language)
    return language.say("semicolon").join(_clause(clause) for clause in text.split("; "))


def _clause(text: str) -> str:
    for pattern, chinese in _patterns():
        found = pattern.fullmatch(text)
        if found:
            return chinese.format(**{name: _part(name, own) for name, own in found.groupdict().items()})
    return text


def _part(name: str, text: str) -> str:
    return _listed(text) if name in PARTS else _clause(text) if name in CLAUSES else text


def _listed(text: str) -> str:
    """Say a list, whose members are parted by commas outside of brackets."""
    return "，".join(map(_clause, re.split(r", (?![^(]*\))", text)))


@cache
def _patterns() -> "list[tuple[re.Pattern[str], str]]":
    """Give the reasons as patterns, those with most letters of their own first; n is a number."""

    def pattern(english: str) -> "re.Pattern[str]":
        pieces = re.split(r"\{(\w+)\}", english)
        names = (f"(?P<{name}>{'[-+.,e0-9]+' if name == 'n' else '.+?'})" for name in pieces[1::2])
        own = map(re.escape, pieces[::2])
        return re.compile("".join(part for pair in zip(own, [*names, ""], strict=True) for part in pair), re.DOTALL)

    order = sorted(REASONS, key=lambda english: -len(re.sub(r"\{\w+\}", "", english)))
    return [(pattern(english), REASONS[english]) for english in order]


def in_language(reason: Any, language: Language) -> Any:
    """Say a reason, or the value of a cell, in a language, where it is known how."""
    return reason.to(language) if isinstance(reason, Phrase) else reason
