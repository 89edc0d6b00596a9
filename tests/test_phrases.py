"""Sentences of explanations in both languages: the same ones, with the same values, for every classifier."""

import pickle
import re
from string import Formatter

import numpy as np
import pandas as pd
import pytest

import bayeswater as bw
from bayeswater.phrases import CHINESE, ENGLISH, LANGUAGES, Phrase, translated

RNG = np.random.default_rng(0)
Y = np.array(["late", "repaid"])[RNG.integers(0, 2, 120)]
S = (Y == "late") * 1.0
ROWS = pd.DataFrame(
    {
        "a": np.exp(RNG.normal(size=120) + 3 - S),
        "b": RNG.poisson(1 + 2 * S),
        "c": RNG.choice(list("uvw"), 120),
        "d": RNG.normal(size=120) ** 3 + S,
        "e": [" ".join(RNG.choice(["x1", "x2", "x3"], 2)) for _ in range(120)],
        "f": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 9999, 120), unit="h"),
    }
)
NUMBERS, COUNTS = ROWS[["a", "d"]], ROWS[["b"]].assign(g=RNG.poisson(1, 120))
MODELS = [
    (bw.NaiveBayes(columns={"d": "binned", "e": "marks"}, calibrate=True), ROWS),
    (bw.NaiveBayes(columns={"e": "complement"}), ROWS),
    (bw.AODE(), ROWS.drop(columns="e")),
    (bw.GaussianNB(), NUMBERS),
    (bw.GaussianClassifier(), NUMBERS),
    (bw.CategoricalNB(), ROWS[["c"]]),
    (bw.BernoulliNB(), COUNTS),
    (bw.MultinomialNB(), COUNTS),
    (bw.NetworkClassifier(), ROWS[["b", "c"]]),
    (bw.BayesEnsemble(), ROWS.drop(columns=["e", "f"])),
]


def places(phrase):
    return {name for _, name, _, _ in Formatter().parse(phrase) if name}


def test_both_languages_have_the_same_phrases_with_the_same_places():
    assert list(ENGLISH) == list(CHINESE)
    assert {key: places(text) for key, text in ENGLISH.items()} == {key: places(text) for key, text in CHINESE.items()}


def numbers(text):
    return sorted(re.findall(r"\d[\d,]*\.\d+", text))


VALUES = "|".join(["'[^']*'", "x[123]", "weekday", "month", "time"])
"""What stands in cells and names of columns, and is not translated."""


@pytest.mark.parametrize(("model", "rows"), MODELS)
def test_an_explanation_says_the_same_in_chinese(model, rows):
    model = model.fit(rows, Y)
    english, chinese = model.explain(rows[:6]), model.explain(rows[:6], lang="zh")
    for one, other in zip(english, chinese, strict=True):
        words = re.findall(r"[A-Za-z]{2,}", re.sub(VALUES, "", str(other) + other.summary))
        assert words == []
        assert numbers(str(one)) == numbers(str(other))
        assert one.contributions == other.contributions
        assert [turn.value for turn in one.turns] == [turn.value for turn in other.turns]
    assert "而不是" in str(chinese)


def test_intervals_and_questions_are_said_in_chinese():
    model = bw.NaiveBayes(columns={"e": "marks"}).fit(ROWS, Y)
    intervals = model.credible_interval(ROWS[:12], n_draws=20, lang="zh")
    assert "之间" in str(intervals) and "还有 2 行" in str(intervals)
    asked = model.next_best({"c": "u"}, lang="zh")
    assert str(asked).startswith("下一步问 ") and "e：文本的可能结果太多" in str(asked)
    assert asked.skipped == {"e": "a text has too many outcomes"}


def test_every_reason_of_a_column_is_said_in_chinese():
    shares, hours = RNG.uniform(0.1, 0.9, 120), RNG.uniform(0, 24, 120)
    more = ROWS.assign(share=shares, hour=hours, flag=RNG.random(120) < 0.5, id=[f"k{i}" for i in range(120)])
    more = more.assign(none=None, one=7, longer=["one two three four"] * 120, many=RNG.negative_binomial(1, 0.1, 120))
    more = more.assign(week=[f"2023-W{k % 52:02}" for k in range(120)], date=[45000 + k % 7 for k in range(120)])
    more = more.assign(kg=[f"{k % 20} kg" for k in range(120)], unit=[f"{k % 20} {'kg'[k % 2 :]}" for k in range(120)])
    told = {"hour": {"family": "von_mises", "period": 24}, "d": {"bins": 4}, "c": "ignored"}
    plans = [
        bw.NaiveBayes(columns=told).fit(more, Y).columns_,
        bw.NaiveBayes(columns={"d": {"bins": "mdl"}}).fit(ROWS, Y).columns_,
        bw.TAN().fit(more, Y).columns_,
    ]
    for column in (column for plan in plans for column in plan):
        for text in (column.family, column.why):
            left = re.sub(r"mdl|kg|Excel|timestamp\[ns\]|datetime64|float64", "", translated(text, LANGUAGES["zh"]))
            assert not re.findall("[A-Za-z]{2,}", left), (column.name, text, left)
            assert numbers(left) == numbers(text)
            assert translated(text, LANGUAGES["en"]) == text


def test_remarks_of_a_comparison_are_said_in_chinese():
    n = len(Y)
    more = ROWS.assign(id=[f"k{i}" for i in range(n)], none=None, longer=[f"one two three four {i}" for i in range(n)])
    more = more.assign(kg=[f"{k % 20} kg" for k in range(n)])
    found = bw.compare(more, Y, models=["naive-bayes", "tan"], folds=2)
    said = "\n".join(found.remarks(LANGUAGES["zh"]))
    for name in ("id", "none", "longer", "kg"):
        assert f"列 '{name}'" in said
    left = re.sub(r"'\w+'|TAN|NaiveBayes|columns=\{[^}]*\}|kg", "", said)
    assert not re.findall("[A-Za-z]{2,}", left), left


def test_a_language_that_is_not_known_is_refused():
    with pytest.raises(bw.ParameterError, match=r"lang is 'de'; it can be one of \['en', 'zh'\]"):
        bw.GaussianNB().fit(NUMBERS, Y).explain(NUMBERS[:1], lang="de")


def test_a_reason_is_kept_through_a_pickle():
    reason = pickle.loads(pickle.dumps(Phrase("too many outcomes", n=5)))
    assert reason == "it has 5 outcomes, too many to go through"
    assert reason.to(LANGUAGES["zh"]) == "它有 5 种结果，太多，无法逐一计算"
