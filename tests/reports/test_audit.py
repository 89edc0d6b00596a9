"""Audits: figures by hand, parts that add up, and words that claim no more than is known."""

from string import Formatter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import bayeswater as bw
from bayeswater.decision.intervals import wilson
from bayeswater.reports.sentences import CHINESE, ENGLISH

RNG = np.random.default_rng(3)
SEX = RNG.choice(["f", "m"], 500)
ROWS = pd.DataFrame({"pay": RNG.normal(size=500) + (SEX == "m"), "job": RNG.choice(list("abc"), 500)})
Y = np.where(ROWS.pay + RNG.normal(size=500) > 0.5, "yes", "no")
MODEL = bw.NaiveBayes().fit(ROWS[:250], Y[:250])
TEST, TRUTH, GROUP = ROWS[250:], Y[250:], SEX[250:]
FOUND = bw.audit(MODEL, TEST.assign(sex=GROUP), TRUTH, group="sex")


def test_rates_are_those_of_counting():
    decided, own = MODEL.predict(TEST) == "yes", GROUP == "f"
    truth = TRUTH == "yes"
    figures = FOUND["f"].figures
    assert figures["recall"] == wilson(decided[own & truth].mean(), (own & truth).sum())
    assert figures["false alarm"] == wilson(decided[own & ~truth].mean(), (own & ~truth).sum())
    assert figures["precision"] == wilson(truth[own & decided].mean(), (own & decided).sum())
    assert figures["error"].value == pytest.approx((decided != truth)[own].mean())
    assert FOUND["f"].differences["decided"].value == pytest.approx(decided[own].mean() - decided[~own].mean())


def test_parts_of_columns_add_up_to_the_difference_of_log_odds():
    joint, own = MODEL.predict_joint_log_proba(TEST), GROUP == "f"
    odds = joint[:, 1] - joint[:, 0]
    one = FOUND["f"]
    assert one.log_odds.value == pytest.approx(odds[own].mean() - odds[~own].mean())
    assert sum(part.value for part in one.parts.values()) + one.prior_part == pytest.approx(one.log_odds.value)
    assert list(one.parts) == ["pay", "job"]


def test_of_several_classes_the_strongest_rival_is_compared_with():
    three = np.where(ROWS.pay > 1, "high", np.where(ROWS.pay < -0.5, "low", "middle"))
    model = bw.NaiveBayes().fit(ROWS, three)
    found = bw.audit(model, ROWS, three, group=SEX, positive="high")
    joint = model.predict_joint_log_proba(ROWS)
    odds = joint[:, 0] - joint[:, 1:].max(axis=1)
    assert found["m"].log_odds.value == pytest.approx(odds[SEX == "m"].mean() - odds[SEX == "f"].mean())
    with pytest.raises(bw.ParameterError, match="name one of them: positive"):
        bw.audit(model, ROWS, three, group=SEX)


def test_words_name_only_what_chance_does_not_explain():
    told = str(FOUND)
    assert "'yes' predicted: " in told and "less among f than among the others" in told
    assert "columns add to that pay -" in told and "not causes" in told
    assert "The model does not read sex" in told
    twice = bw.audit(MODEL, pd.concat([TEST, TEST]), np.tile(TRUTH, 2), group=np.repeat(["a", "b"], 250))
    assert "That does not say that groups are equal." in str(twice) and "more among" not in str(twice)


def test_costs_are_those_of_the_best_decisions():
    loss = bw.Loss([[0, 5], [1, 0]], classes=["no", "yes"])
    found = bw.audit(MODEL, TEST, TRUTH, group=GROUP, loss=loss)["f"]
    own = GROUP == "f"
    action = MODEL.decide(TEST, loss=loss)[own]
    cost = np.where(action == TRUTH[own], 0, np.where(action == "no", 5, 1))
    assert found.figures["cost"].value == pytest.approx(cost.mean())


def test_the_frame_is_of_the_library_that_was_given():
    assert isinstance(FOUND.to_frame(), pd.DataFrame)
    table = pa.Table.from_pandas(TEST, preserve_index=False)
    assert isinstance(bw.audit(MODEL, table, TRUTH, group=GROUP).to_frame(), pa.Table)


def test_hostile_labels_are_text():
    group = np.where(GROUP == "f", "<script>alert(1)</script>", "a\nb")
    page = bw.audit(MODEL, TEST, TRUTH, group=group)._repr_html_()
    assert "<script" not in page and "&lt;script&gt;" in page and "a\\nb" in page


def test_a_column_that_is_left_out_is_not_said_to_be_read():
    rows = TEST.assign(sex=GROUP)
    for columns, said in (({}, "reads sex itself"), ({"sex": "ignored"}, "does not read sex")):
        model = bw.NaiveBayes(columns=columns).fit(rows, TRUTH)
        assert said in str(bw.audit(model, rows, TRUTH, group="sex"))


def test_many_groups_are_lines_of_the_page():
    group = np.array([f"g{i % 7}" for i in range(len(TRUTH))])
    page = bw.audit(MODEL, TEST, TRUTH, group=group)._repr_html_()
    assert page.count("<tr>") == 8 and "<tr><th>g0</th>" in page
    assert "<th>f</th><th>m</th>" in FOUND._repr_html_()


def test_missing_groups_unknown_classes_and_other_models_are_told():
    group = pd.Series(np.where(GROUP == "f", "f", None), name="sex")
    truth = np.where(np.arange(250) < 3, "maybe", TRUTH)
    found = str(bw.audit(MODEL, TEST, truth, group=group))
    assert "(missing)" in found and "3 rows whose class the model does not know are left out" in found
    other = LogisticRegression().fit(TEST[["pay"]], TRUTH)
    assert "does not tell what columns add" in str(bw.audit(other, TEST[["pay"]], TRUTH, group=GROUP))


def test_what_is_no_group_is_refused():
    with pytest.raises(bw.SchemaError, match="X has no column 'sexe'; did you mean 'sex'"):
        bw.audit(MODEL, TEST.assign(sex=GROUP), TRUTH, group="sexe")
    with pytest.raises(bw.ParameterError, match="250 different values among 250 rows; an audit needs 2 to 50 groups"):
        bw.audit(MODEL, TEST, TRUTH, group="pay")


def test_both_languages_have_the_same_sentences_with_the_same_places():
    def places(text):
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert list(ENGLISH) == list(CHINESE)
    assert {key: places(text) for key, text in ENGLISH.items()} == {key: places(text) for key, text in CHINESE.items()}
    assert "份额" in str(bw.audit(MODEL, TEST, TRUTH, group=GROUP, lang="zh"))
