"""A model as a page answers as the library does, in a browser, without the network."""

import shutil

import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from tests.exports.exported_models import COSTS, HOSTILE, cells_of, fitted, rows_of, texts

import bayeswater as bw

CHROMIUM = shutil.which("chromium")
ASKED = ("NaiveBayes, calibrated", "TAN", "AODE", "KDB", "NaiveBayes, dates", "NaiveBayes, words", "NaiveBayes, marks")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A page of a browser that fails where a script does, and where anything is asked of the network."""
    found, problems = browser.new_page(), []
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("request", lambda request: problems.append(request.url) if not request.url.startswith("file:") else None)
    found.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    yield found
    found.close()
    assert problems == []


@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")
def test_a_page_answers_as_the_models(page, tmp_path):
    for number, kind in enumerate(ASKED):
        model, rows = fitted(kind), rows_of(kind)
        path = bw.export(model, tmp_path / f"{number}.html", loss=COSTS if len(model.classes_) == 3 else None)
        page.goto(path.as_uri())
        plain = [{name: str(v) if hasattr(v, "year") else v for name, v in row.items()} for row in cells_of(rows)]
        found = page.evaluate("rows => rows.map((row) => model.predictProba(row))", plain)
        assert_allclose(found, model.predict_proba(rows), rtol=0, atol=1e-12, err_msg=kind)


def test_fields_posterior_decision_and_reasons_follow_what_is_filled_in(page, tmp_path):
    model = fitted("NaiveBayes, calibrated")
    page.goto(bw.export(model, tmp_path / "a.html", loss=COSTS).as_uri())
    assert page.locator("label").count() == model.n_features_in_
    assert "Nothing is known yet" in page.locator("#reasons").inner_text()
    page.locator("label", has_text="normal").locator("input").fill("2.5")
    page.locator("select").first.select_option(label='</script>"')
    row = {"normal": 2.5, HOSTILE: '</script>"'}
    best = str(model.predict(row)[0])
    assert page.locator("#said").inner_text().startswith(f"{best}, with probability")
    assert page.locator("#decision").inner_text() == str(model.decide(row, loss=COSTS)[0])
    assert page.locator("#reasons .row").count() == 2
    page.locator("#clear").click()
    assert page.locator("#reasons .row").count() == 0


def test_where_empty_is_a_state_a_field_without_a_value_says_so(page, tmp_path):
    for kind, said in (("NaiveBayes, calibrated", "(not known)"), ("NaiveBayes, missing state", "(empty, which")):
        page.goto(bw.export(fitted(kind), tmp_path / "a.html").as_uri())
        assert page.locator("select option").first.inner_text().startswith(said)


def test_a_name_of_ten_thousand_letters_leaves_the_other_fields_in_sight(page, tmp_path):
    rows = pa.table({"L" * 10_000: ["s" * 10_000, "t"] * 5, "__proto__": ["a", "b"] * 5})
    model = bw.NaiveBayes().fit(rows, ["x", "y"] * 5)
    page.goto(bw.export(model, tmp_path / "long.html").as_uri())
    assert max(map(len, page.locator("label span").all_text_contents())) == 120
    page.locator("select").nth(1).select_option(label="b")
    assert page.locator("#said").inner_text().startswith("y, with probability")


def test_the_page_speaks_chinese(page, tmp_path):
    page.goto(bw.export(fitted("NaiveBayes, words"), tmp_path / "信.html", lang="zh").as_uri())
    assert page.title() == "信"
    page.locator("textarea").fill(texts()[0]["line"].dropna().iloc[0])
    assert "概率" in page.locator("#said").inner_text()
    assert page.locator("html").get_attribute("lang") == "zh-Hans"


def test_names_and_states_cannot_end_the_script():
    text = bw.export(fitted("NaiveBayes"), "html")
    assert text.count("</script>") == 1
    assert "<!--" not in text.split("<script>")[1]
