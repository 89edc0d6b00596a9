"""Reports: one file without script or address, whose figures are those of the library, in both languages."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayeswater as bw
from bayeswater.cli.main import main
from bayeswater.decision.ranking import Ranking
from bayeswater.demo.loans import loans
from bayeswater.explain.importance import importance
from bayeswater.reports.model_report import model_report
from bayeswater.reports.page import STYLE

TABLE = loans(300)
MODEL = bw.NaiveBayes(calibrate=True, columns={"application_id": "ignored"}).fit(
    TABLE.slice(0, 200).drop_columns(["outcome"]), TABLE.slice(0, 200).column("outcome")
)
TEST = TABLE.slice(200)
PAGE = model_report(MODEL, TEST, "outcome", positive="late", group="owns_home", name="test.csv")

VOID = ("meta", "circle", "line", "polyline", "br", "wbr")


class Tags(HTMLParser):
    """Elements of a page, held to be closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    handle_startendtag = handle_starttag


def tags(page):
    found = Tags()
    found.feed(page)
    assert found.open == []
    return found.seen


def test_a_report_is_one_file_without_script_or_address():
    assert {"svg", "table", "section"} <= tags(PAGE) and "script" not in tags(PAGE) and "link" not in tags(PAGE)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", PAGE)


def test_rules_for_paper_come_last_for_no_other_to_undo_them():
    last = [rule for rule in STYLE.strip().splitlines() if not rule.startswith(" ")][-1]
    assert last.startswith("@media print")


def test_its_figures_are_those_of_the_library():
    codes = np.array([MODEL.classes_.tolist().index(label) for label in TEST.column("outcome").to_pylist()])
    log_proba = MODEL.predict_log_proba(TEST.drop_columns(["outcome"]))
    assert f"{np.mean(log_proba.argmax(axis=1) == codes):.3f} (" in PAGE
    assert f"{Ranking.of(log_proba, codes).mean_area():.3f} (" in PAGE
    found = importance(MODEL, TEST.drop_columns(["outcome"]))
    assert f"{found.columns[0].mean_log_odds:.3f}" in PAGE
    assert re.search(r"columns that the model reads</t[hd]><td[^>]*>8<", PAGE)  # of nine, without the identifier


def test_it_has_all_its_parts():
    for part in ("Classes", "Quality", "Confusion", "ROC", "Reliability", "Nomogram", "By group", "left out"):
        assert part in PAGE
    assert PAGE.count("Among the ") == 6 and "application_id is not read: as given" in PAGE


def test_every_state_that_the_nomogram_marks_can_be_read():
    curve = MODEL.curve("occupation")
    odds = np.log(np.asarray(curve.values)[:, 0] / np.asarray(curve.values)[:, 1])
    for state, own in zip(curve.at, odds, strict=True):
        assert f"{state}\u00a0{own:+.2f}" in PAGE
    assert all(f">{state}</text>" in PAGE for state in MODEL.curve("owns_home").at)
    assert "<b>occupation</b>" in PAGE  # those of which all names have room are not listed
    assert "<b>owns_home</b>" not in PAGE


def test_what_decisions_cost_is_told_beside_rules_without_a_model():
    loss = bw.Loss([[0, 5], [1, 0], [0.3, 0.3]], classes=["repaid", "late"], actions=["repaid", "late", "ask"])
    page = model_report(MODEL, TEST, "outcome", loss=loss, group="owns_home")
    proba, truth = MODEL.predict_proba(TEST.drop_columns(["outcome"])), TEST.column("outcome").to_pylist()
    own = loss.for_classes(MODEL.classes_.tolist())
    cost = own.realised(own.best_action(proba), truth).mean()
    always = min(own.realised([action] * len(truth), truth).mean() for action in own.actions)
    assert f"<td>{cost:.4g} (" in page.replace(' class="number"', "") and f"{always:.4g} (" in page
    assert "least expected cost" in page and "cost of a row" in page.split("By group")[1] and tags(page)
    assert "期望成本最小" in model_report(MODEL, TEST, "outcome", loss=loss, lang="zh")


def test_it_speaks_chinese():
    page = model_report(MODEL, TEST, "outcome", lang="zh")
    assert 'lang="zh-Hans"' in page and "混淆矩阵" in page and "对数几率" in page and "Quality" not in page


def test_hostile_names_are_text():
    bad = "</title><script>alert(1)</script>\u202e"
    y = np.where(np.arange(60) % 2 == 0, bad, "b")
    rows = pa.table({bad: np.where(np.arange(60) % 3 == 0, bad, "x"), "n": np.arange(60.0), "y": y})
    model = bw.NaiveBayes().fit(rows.drop_columns(["y"]), y)
    page = model_report(model, rows, "y", name=bad, group=bad)
    assert "script" not in tags(page)


def test_many_classes_and_models_of_dependent_columns_are_reported():
    rows = pd.DataFrame({"a": np.arange(90) % 3, "b": np.arange(90) % 5})
    y = np.array(["x", "y", "z"])[np.arange(90) % 3]
    table = pa.table({**{name: rows[name].astype(str) for name in rows}, "y": y})
    for model in (bw.AODE(), bw.CategoricalNB()):
        page = model_report(model.fit(table.drop_columns(["y"]), y), table, "y")
        assert tags(page) and "not calibrated" in page


def test_no_row_is_explained_twice_and_no_figure_has_a_head_without_cells():
    few = TEST.slice(0, 12)
    told = re.findall(r"<h3>Among the [^<]*?row (\d+)", model_report(MODEL, few, "outcome"))
    assert len(set(told)) == len(told) >= 4
    X = few.select(["age", "income"])
    page = model_report(
        bw.BayesEnsemble(random_state=0).fit(X, few["outcome"]), X.append_column("y", few["outcome"]), "y"
    )
    assert "mean |log-odds|" in page and "<th>bits" not in page


def test_the_command_writes_it(tmp_path, capsys):
    bw.save(MODEL, tmp_path / "loans.bayes")
    import pyarrow.csv

    pyarrow.csv.write_csv(TEST, tmp_path / "test.csv")
    out = tmp_path / "report.html"
    files = [str(tmp_path / "loans.bayes"), str(tmp_path / "test.csv")]
    assert main(["report", *files, "-t", "outcome", "--positive", "late", "--group", "owns_home", "-o", str(out)]) == 0
    assert tags(out.read_text(encoding="utf-8")) and "saved as" in capsys.readouterr().err
    costs = tmp_path / "costs.csv"
    costs.write_text("action \\ truth,late,repaid\nlate,0,1\nrepaid,5,0\n")
    assert main(["report", *files, "-t", "outcome", "--loss", str(costs), "-o", str(out)]) == 0
    assert "What decisions cost" in out.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["report", *files, "-t", "outcome", "--group", "sex", "-o", str(out)]) == 1
    assert "the rows have no column 'sex'" in capsys.readouterr().err


def test_unknown_classes_are_left_out_and_told():
    y = ["other"] * 3 + TEST.column("outcome").to_pylist()[3:]
    page = model_report(MODEL, TEST.set_column(TEST.schema.get_field_index("outcome"), "outcome", [y]), "outcome")
    assert "3 rows whose class the model does not know are left out" in page
    with pytest.raises(bw.DataError, match="is 'outcome' the right column"):
        model_report(MODEL, TEST.set_column(9, "outcome", [["other"] * len(y)]), "outcome")
