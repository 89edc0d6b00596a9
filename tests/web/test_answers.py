"""Every answer of the page is what the library says."""

import csv
import io
import json
from datetime import date, time
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from starlette.testclient import TestClient
from tests.web.loans_page import come, loan_model, loan_subject

from bayeswater import (
    AODE,
    TAN,
    BayesEnsemble,
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    Loss,
    MultinomialNB,
    NaiveBayes,
    SchemaError,
)
from bayeswater.web.app import application, document_of
from bayeswater.web.plain import QuestionError, as_json
from bayeswater.web.safety import Access
from bayeswater.web.subjects import subject_of
from bayeswater.web.views import answer_of

FACTS = {"age": 31, "past_delays": 3, "occupation": "clerk", "owns_home": "False", "applied": "2024-03-01"}
ROW = {"age": 31.0, "past_delays": 3.0, "occupation": "clerk", "owns_home": False}
LOSS = {"actions": ["late", "repaid", "ask"], "costs": [[0, 1], [5, 0], [0.4, 0.4]]}


def told(view, question, asked=None, subject=None):
    subject = subject or loan_subject()
    return as_json(answer_of(subject, view, question)(subject, asked or {}))


def row_of_facts():
    return {**ROW, "applied": date(2024, 3, 1)}


def test_probabilities_and_reasons_of_a_row_add_up_to_what_the_model_says():
    found, model = told("row", "why", {"facts": FACTS}), loan_model()
    why, likely = model.explain(row_of_facts())[0], told("row", "posterior", {"facts": FACTS})
    assert likely["proba"] == model.predict_proba(row_of_facts())[0].tolist()
    assert model.classes_[likely["prediction"]] == model.classes_[found["prediction"]] == why.prediction
    assert found["intercept"] + sum(own["contribution"] for own in found["reasons"]) == pytest.approx(why.log_odds)
    assert found["log_odds"] == why.log_odds
    assert found["reasons"][0]["how"] == why.how(why.contributions[0])
    chinese = told("row", "why", {"facts": FACTS, "lang": "zh"})["reasons"][0]["how"]
    assert chinese != found["reasons"][0]["how"] and any(letter >= "\u4e00" for letter in chinese)


def test_of_a_row_of_which_nothing_is_known_the_frequencies_are_told_and_the_best_question():
    found, more = told("row", "posterior"), told("row", "what_next")
    assert found["proba"] == pytest.approx(loan_model().predict_proba({})[0].tolist())
    assert more["next"]["questions"][0]["column"] == loan_model().next_best({}).best.column
    assert {own["column"] for own in more["next"]["questions"]}.isdisjoint({"application_id"})


def test_what_is_beyond_the_probabilities_is_what_the_model_says():
    loss = Loss(LOSS["costs"], actions=LOSS["actions"], classes=["late", "repaid"])
    asked, model = {"facts": FACTS, "loss": LOSS, "costs": {"income": 0.01}}, loan_model()
    more = told("row", "how_sure", asked) | told("row", "what_next", asked)
    table = pa.table({name: pa.array([row_of_facts().get(name)]) for name in model.columns_.sources})
    assert more["interval"]["low"] == model.credible_interval(table).low[0].tolist()
    assert more["novelty"]["share"] == model.novelty(table)[0]
    assert more["decision"]["risk"] == pytest.approx(
        loss.conditional_risk(model.predict_proba(row_of_facts()))[0].tolist()
    )
    asked = model.next_best(row_of_facts(), loss, {"income": 0.01, "savings": 0.0, "purpose": 0.0})
    assert [own["column"] for own in more["next"]["questions"]] == [own.column for own in asked.questions]
    assert more["next"]["questions"][0]["net"] == pytest.approx(asked.questions[0].value.net)
    assert [turn["column"] for turn in more["turns"]] == [
        turn.column for turn in model.explain(row_of_facts())[0].turns
    ]


def test_what_a_model_cannot_tell_has_its_reason():
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0] * 10, "b": list("xyxy") * 10})
    labels = ["yes", "no", "no", "yes"] * 10
    for model in (AODE(), BayesEnsemble(random_state=0)):
        subject = subject_of(model.fit(table, labels), table, labels)
        more = told("row", "how_sure", {"facts": {"a": subject.fields["a"].fact(2.0), "b": "x"}}, subject)
        assert "has none" in more["interval"]["why_not"] and "has none" in more["novelty"]["why_not"]
        assert told("learned", "columns", {}, subject)["columns"]


def test_a_model_without_a_plan_of_columns_is_explored_too():
    X = np.random.default_rng(0).normal(size=(40, 3))
    subject = subject_of(GaussianNB().fit(X, np.arange(40) % 2))
    assert [own["kind"] for own in subject.facts()["fields"]] == ["number"] * 3
    found = told("row", "posterior", {"facts": {"x0": 0.5}}, subject)
    assert sum(found["proba"]) == pytest.approx(1)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("model", [GaussianNB(), BernoulliNB(), MultinomialNB(), AODE(), NaiveBayes()])
def test_rows_of_an_array_have_the_columns_of_the_model_in_their_order(model):
    rows = np.arange(24).reshape(8, 3) * 5 % 7
    rows = rows > 2 if isinstance(model, BernoulliNB) else rows
    for given in (rows, rows.tolist(), sparse.csr_array(rows)):
        subject = subject_of(model.fit(rows, [0, 1] * 4), given, [0, 1] * 4)
        assert subject.log_proba == pytest.approx(model.predict_log_proba(rows))
        facts = told("rows", "one", {"row": 2}, subject)["facts"]
        assert list(facts) == ["x0", "x1", "x2"]
        found = told("row", "posterior", {"facts": facts}, subject)
        assert found["proba"] == pytest.approx(model.predict_proba(rows)[2])
        assert subject.facts()["frequencies"].sum() == pytest.approx(1)
    with pytest.raises(SchemaError, match="the model reads 3 columns"):
        subject_of(model, np.ones((2, 4)))


@pytest.mark.parametrize("kind", [int, float, bool, str])
@pytest.mark.parametrize("model", [NaiveBayes(), CategoricalNB(), AODE()])
def test_a_row_opens_with_the_states_of_its_cells_however_these_are_stored(model, kind):
    rows = pd.DataFrame({"a": [0, 1, 1, 0] * 5, "b": [0, 1] * 10}).astype(kind)
    subject = subject_of(model.fit(rows, list("xyyy") * 5), rows)
    for row in range(4):
        facts = told("rows", "one", {"row": row}, subject)["facts"]
        assert {facts[own.name] in map(str, own.states) for own in subject.fields.values()} == {True}
        found = told("row", "posterior", {"facts": facts}, subject)
        assert found["proba"] == pytest.approx(model.predict_proba(rows)[row])


def test_without_pictures_columns_come_by_what_they_add_to_the_log_odds():
    rows = pd.DataFrame({"noise": [0, 1, 1, 0] * 20, "truth": [0, 1] * 40})
    subject = subject_of(BayesEnsemble(random_state=0).fit(rows, ["a", "b"] * 40), rows)
    first, second = told("learned", "columns", {}, subject)["columns"]
    assert (first["name"], second["name"], first["picture"]) == ("truth", "noise", None)
    assert first["mean_log_odds"] > second["mean_log_odds"] >= 0


def test_columns_come_by_information_and_a_separating_one_has_one_bit():
    table = pa.table({"sure": list("ab") * 20, "blind": ["u"] * 20 + ["v"] * 20})
    subject = subject_of(NaiveBayes(alpha=0.0).fit(table, ["yes", "no"] * 20))
    columns = told("learned", "columns", {}, subject)["columns"]
    assert [own["name"] for own in columns] == ["sure", "blind"]
    assert columns[0]["bits"] == pytest.approx(1) and columns[1]["bits"] == pytest.approx(0, abs=1e-12)


def test_the_nomogram_adds_up_to_the_log_odds():
    table = pa.table({"colour": ["red", "red", "green", "blue"] * 10, "sweet": [True, False, False, True] * 10})
    model = NaiveBayes().fit(table, (["apple"] * 3 + ["pea"]) * 10)
    told_ = told("learned", "nomogram", {"chosen": "apple", "against": "pea"}, subject_of(model))
    points = {own["name"]: dict(zip(own["at"], own["odds"], strict=True)) for own in told_["scales"]}
    total = told_["intercept"] + points["colour"]["red"] + points["sweet"]["True"]
    log_proba = model.predict_log_proba({"colour": "red", "sweet": True})[0]
    assert total == pytest.approx(log_proba[0] - log_proba[1])


def test_decisions_over_rows_are_those_of_the_loss():
    subject, model = loan_subject(), loan_model()
    found = told("decisions", "over_rows", {"loss": LOSS, "loss_before": None})
    loss = Loss(LOSS["costs"], actions=LOSS["actions"], classes=["late", "repaid"])
    proba = model.predict_proba(subject.rows)
    action = loss.best_action(proba)
    truth = np.array(["late", "repaid"])[subject.truth]
    assert found["cost"] == pytest.approx(loss.realised(action, truth).mean())
    assert found["expected_cost"] == pytest.approx(loss.expected_loss(proba).mean())
    assert found["n_by_action"] == [int((action == name).sum()) for name in LOSS["actions"]]
    again = told(
        "decisions",
        "over_rows",
        {"loss": LOSS, "loss_before": {"actions": ["late", "repaid"], "costs": [[0, 1], [1, 0]]}},
    )
    assert again["changed"] == int((model.predict(subject.rows) != action).sum())
    from sklearn.metrics import roc_auc_score

    assert found["curves"]["roc"]["area"] == pytest.approx(roc_auc_score(subject.truth, proba[:, 1]))


def test_other_class_frequencies_are_those_of_decide():
    asked = {"facts": FACTS, "prior": [0.9, 0.1]}
    found = told("decisions", "row", asked)
    risk = loan_model().decide(row_of_facts(), prior=[0.9, 0.1], return_risk=True).risk[0]
    assert found["risk"] == pytest.approx(risk.tolist())
    assert found["proba"] == pytest.approx([1 - risk[0], 1 - risk[1]])
    over = told("rows", "table", {**asked, "count": 200})
    risks = loan_model().expected_loss(loan_subject().rows, prior=[0.9, 0.1])
    assert [own["risk"] for own in over["figures"]] == pytest.approx(risks.tolist())


def test_three_classes_have_a_triangle_and_two_a_line():
    labels = ["a", "b", "c"] * 20
    subject = subject_of(NaiveBayes().fit(pa.table({"x": list("uvw") * 20}), labels))
    rng, costs = np.random.default_rng(3), [[0, 6, 9], [5, 0, 7], [8, 4, 0], [2, 2, 2], [2, 2, 2], [9, 9, 9]]
    asked = {"loss": {"actions": [*"abc", "ask", "ask too", "never"], "costs": costs}}
    regions = told("decisions", "row", asked, subject)["regions"]
    assert regions["kind"] == "triangle" and regions["action"] == [0, 1, 2, 3]
    parts = [np.array(corners) for corners in regions["corners"]]
    fans = [(part[0], *pair) for part in parts for pair in pairwise(part)]
    assert sum(abs(np.linalg.det(corners)) for corners in fans) == pytest.approx(1)  # they fill the triangle
    loss = Loss(costs, actions=asked["loss"]["actions"], classes=["a", "b", "c"])
    for action, part in zip(regions["action"], parts, strict=True):
        inside = rng.dirichlet(np.ones(len(part)), size=50) @ part
        assert (loss.best_action(inside, return_index=True) == action).all()
    line = told("decisions", "row", {"loss": LOSS})["regions"]
    assert line["until"] == pytest.approx([0.4, 0.92, 1.0]) and line["action"] == [0, 2, 1]


def test_a_reason_is_made_of_two_probabilities_and_the_rows_behind_them():
    found = told("row", "behind", {"facts": FACTS, "column": "occupation"})
    table = loan_model().tables()["occupation"]
    place = table.column("occupation").to_pylist().index("clerk")
    shares = [table.column(f"P(occupation | {label})").to_pylist()[place] for label in ("late", "repaid")]
    assert found["likelihood"] == pytest.approx(shares)
    cells = loan_subject().rows.column("occupation").to_pylist()
    rows = [
        sum(cell == "clerk" and code == k for cell, code in zip(cells, loan_subject().truth, strict=True))
        for k in (0, 1)
    ]
    assert found["counts"] == rows


def test_each_part_of_a_date_is_a_reason_of_its_own_with_the_rows_behind_it():
    why = told("row", "why", {"facts": FACTS})
    for own in why["reasons"]:
        found = told("row", "behind", {"facts": FACTS, "column": own["column"]})
        chosen, against = (found["likelihood"][why[code]] for code in ("prediction", "against"))
        assert np.log(chosen / against) == pytest.approx(own["contribution"])
        if own["column"].startswith("applied ("):
            table = loan_model().tables()[own["column"]]
            assert sum(found["counts"]) < sum(loan_model().class_count_) and own["value"] in str(table)


def test_the_row_is_marked_in_the_picture_of_each_column_that_it_knows():
    found = told("learned", "marks", {"facts": {**FACTS, "purpose": "a trip"}, "lang": "zh"})
    assert set(found) == {*FACTS, "applied (weekday)", "applied (month)"}  # words have no place
    assert found["applied"]["at"] == date(2024, 3, 1).toordinal() - date(1970, 1, 1).toordinal()
    assert [found[f"applied ({part})"]["at"] for part in ("weekday", "month")] == ["星期五", "3 月"]
    columns = told("learned", "columns", {"lang": "zh"})["columns"]
    for own in columns:
        if own["picture"] is not None and own["picture"]["kind"] == "states":
            assert found[own["name"]]["at"] in own["picture"]["at"]


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("minutes", [1440, 7], ids=["days", "times"])
def test_a_row_of_time_stamps_opens_as_it_is(zone, minutes):
    when = pd.Timestamp("2024-01-01", tz=zone) + pd.to_timedelta(np.arange(60) * 31 * minutes, unit="min")
    frame = pd.DataFrame({"when": when, "z": np.sin(np.arange(60.0))})
    model = NaiveBayes().fit(frame, np.arange(60) // 30)
    subject = subject_of(model, frame, name="stamps")
    facts = told("rows", "one", {"row": 41}, subject)["facts"]
    assert len(facts["when"]) == len("2024-01-01" if minutes == 1440 and zone is None else "2024-01-01T00:00:00")
    found = told("row", "posterior", {"facts": facts}, subject)["proba"]
    assert found == pytest.approx(model.predict_proba(frame)[41].tolist(), rel=1e-9)
    if zone is not None:  # the same moment by another clock
        moment = when[41].tz_convert("America/Lima").isoformat()
        assert told("row", "posterior", {"facts": {**facts, "when": moment}}, subject)["proba"] == found


def test_rows_are_sorted_filtered_and_opened_as_they_are():
    subject = loan_subject()
    worst = told("rows", "table", {"by": "surprise", "falling": True, "count": 5})["figures"]
    surprise = -loan_model().predict_log_proba(subject.rows)[np.arange(200), subject.truth]
    assert [own["surprise"] for own in worst] == sorted(surprise.tolist(), reverse=True)[:5]
    clerks = told("rows", "table", {"search": "CLERK", "by": "age", "count": 200})
    ages = [own["age"] for own in clerks["cells"] if "age" in own]
    assert ages == sorted(ages) and all("clerk" in json.dumps(own) for own in clerks["cells"])
    one = told("rows", "one", {"row": int(worst[0]["row"])})
    assert told("row", "posterior", {"facts": one["facts"]})["proba"][int(worst[0]["prediction"])] == pytest.approx(
        worst[0]["probability"]
    )


def test_a_downloaded_csv_carries_no_formula():
    table = pa.table({"=cmd|' /C calc'!A0": ["=1+1", "+2", "-3", "@SUM(A1)", "\t=4", "fine"] * 5})
    subject = subject_of(NaiveBayes().fit(table, ["-yes", "no"] * 15), table, ["-yes", "no"] * 15)
    text = answer_of(subject, "rows", "csv")(subject, {}).text
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert "'=1+1" in cells and "'-yes" in cells and "fine" in cells
    for cell in cells:
        assert not cell.startswith(("=", "+", "@", "\t")) and (not cell.startswith("-") or float(cell) < 0)


def test_questions_that_no_page_asks_are_refused_with_words():
    access = Access(8124)
    client = TestClient(application(come(loan_subject()), access), base_url="http://127.0.0.1:8124")
    headers = {"origin": "http://127.0.0.1:8124", "x-bayeswater-key": access.key}
    bodies = (b"", b"[]", b"nothing", b'{"facts": NaN}', b"[" * 100_000, b'{"facts": 3}', b'{"facts": {"none": 1}}')
    cells = (
        b'{"age": 1%s}' % (b"0" * 310),
        b'{"purpose": "\\udfff"}',
        b'{"age": "x"}',
        b'{"age": true}',
        b'{"applied": "yesterday"}',
    )
    for body in (*bodies, *(b'{"facts": %s}' % own for own in cells)):
        answer = client.post("/api/0/row/posterior", content=body, headers=headers)
        assert answer.status_code == 422 and answer.json()["error"], body
    for loss in (
        {"actions": ["a"], "costs": [[1]]},
        {"actions": [1, 2], "costs": [[0, 1], [1, 0]]},
        3,
        {"actions": ["a", "a"], "costs": [[0, 1], [1, 0]]},
    ):
        assert client.post("/api/0/row/what_next", json={"loss": loss}, headers=headers).status_code == 422
    assert client.post("/api/7/row/posterior", json={}, headers=headers).status_code == 404
    assert client.post("/api/0/row/__class__", json={}, headers=headers).status_code == 404
    with pytest.raises(QuestionError):
        document_of(b'{"a": Infinity}')
    assert document_of(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


def test_of_one_class_there_are_no_reasons_and_all_else_is_told():
    rows = pa.table({"x": [1.0, 2.0, 4.0, 8.0] * 2})
    subject = subject_of(NaiveBayes().fit(rows, ["only"] * 8), rows)
    assert "knows one class, 'only'" in told("row", "why", {"facts": {"x": 1}}, subject)["why_not"]
    assert told("row", "how_sure", {"facts": {"x": 1}}, subject)["turns"] == []
    assert told("row", "what_next", {}, subject)["decision"]["actions"] == ["only"]


def test_amounts_are_of_the_bins_that_the_classes_are():
    rows = pa.table({"x": [0.0, 1.0] * 4, "amount": [1.0, 9.0] * 4})
    model = NaiveBayes().fit(rows.select(["x"]), ["up to 3", "over 3"] * 4)
    subject = subject_of(model, rows, target="amount")
    assert [subject.labels[code] for code in subject.truth] == ["up to 3", "over 3"] * 4


def test_labels_of_which_none_is_a_class_are_refused():
    model = NaiveBayes().fit([[0.0], [1.0]] * 4, ["no", "yes"] * 4)
    with pytest.raises(SchemaError, match=r"no row has a class .* \['no', 'yes'\]: the labels are \[True, False\]"):
        subject_of(model, [[0.0], [1.0]], [True, False])
    assert not subject_of(model, [[0.0], [1.0]], [None, None]).has_truth


def test_a_table_that_was_cut_says_so(monkeypatch):
    monkeypatch.setattr("bayeswater.web.classifier_subject.MOST_ROWS", 6)
    x = np.arange(8.0)[:, None]
    model = NaiveBayes().fit(x, [0, 1] * 4)
    for rows in (x, pa.table({"x0": x[:, 0]})):
        facts = subject_of(model, rows, [0, 1] * 4).facts()
        assert (facts["n_rows"], facts["is_cut"]) == (6, True)
    assert not subject_of(model, x[:6]).facts()["is_cut"]


def test_a_column_of_one_bin_is_a_field_and_its_reason_has_its_rows():
    rows = pa.table({"x": [3.5] * 8, "s": ["a", "b"] * 4})
    subject = subject_of(TAN(columns={"x": "binned"}).fit(rows, [0, 1] * 4), rows)
    assert subject.facts()["n_rows"] == 8
    assert told("row", "behind", {"facts": {"x": 3.5, "s": "a"}, "column": "x"}, subject)["counts"] is not None


def test_hostile_names_states_and_texts_come_through_as_text():
    evil = "<script>alert(1)</script>\u202e" + "x" * 10_000
    table = pa.table(
        {evil: [evil, "b"] * 20, "text": ["<img src=x onerror=alert(1)> win money", "see you at six today"] * 20}
    )
    subject = subject_of(NaiveBayes(columns={"text": "text"}).fit(table, [evil, "ham"] * 20), table, [evil, "ham"] * 20)
    assert evil in subject.facts()["classes"]
    found = told("row", "posterior", {"facts": {evil: evil, "text": "win money"}}, subject)
    assert sum(found["proba"]) == pytest.approx(1)
    assert told("rows", "table", {}, subject)["cells"][0][evil] == evil


def test_an_unseen_state_is_told_beside_its_column():
    assert told("row", "why", {"facts": {"occupation": "astronaut"}})["unseen"] == ["occupation"]


def test_a_change_that_turns_the_class_can_be_set_bins_and_times_of_day_too():
    rng = np.random.default_rng(0)
    hour = np.concatenate([rng.normal(9, 2, 150), rng.normal(20, 2, 150)])
    called = [time(int(h) % 24, int(h % 1 * 60)) for h in hour]
    rows = pa.table({"called": called, "paid": np.where(rng.random(300) < 0.6, 0.0, hour * 100)})
    y = np.repeat(["early", "late"], 150)
    subject = subject_of(NaiveBayes(columns={"paid": {"bins": 6}}).fit(rows, y), rows, y)
    assert subject.fields["called"].kind == "time"
    columns = set()
    for row in range(0, 300, 10):
        facts = told("rows", "one", {"row": row}, subject)["facts"]
        for turn in told("row", "how_sure", {"facts": facts}, subject)["turns"]:
            changed = {**facts, turn["column"]: turn["fact"]}
            assert told("row", "posterior", {"facts": changed}, subject)["prediction"] == turn["prediction"]
            columns.add(turn["column"])
    assert columns == {"called", "paid"}
