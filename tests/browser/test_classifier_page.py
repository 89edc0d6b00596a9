"""Gestures in the real page of a classifier: what is seen is what the library says."""

import csv
import json
import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pytest
from tests.web.loans_page import loan_model, loan_subject

from bayeswater import Loss, NaiveBayes
from bayeswater.decision.intervals import Z
from bayeswater.phrases import Language
from bayeswater.reports.model_report import model_report
from bayeswater.web.exploring import Exploration
from bayeswater.web.subjects import subject_of

FACTS = {"age": 31, "past_delays": 3}
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def proba(row):
    return dict(zip(["late", "repaid"], loan_model().predict_proba(row)[0].tolist(), strict=True))


@LANGUAGES
def test_a_fact_is_changed_where_it_stands_and_taken_back(tab, lang):
    own = tab()
    own.show(lang=lang)
    assert own.meters() == pytest.approx(proba({}))
    page = own.page
    page.get_by_label("age", exact=True).and_(page.locator("[type=number]")).fill("31")
    page.keyboard.press("Enter")
    own.settled()
    assert own.meters() == pytest.approx(proba({"age": 31.0}))
    page.get_by_role("button", name=re.compile("^False")).click()
    own.settled()
    assert own.meters() == pytest.approx(proba({"age": 31.0, "owns_home": False}))
    page.locator("h2").first.click()
    page.keyboard.press("Escape")  # the last fact is released
    own.settled()
    assert own.meters() == pytest.approx(proba({"age": 31.0}))
    page.keyboard.press("Control+z")
    own.settled()
    assert own.meters() == pytest.approx(proba({"age": 31.0, "owns_home": False}))
    page.keyboard.press("Control+Shift+z")
    own.settled()
    assert own.meters() == pytest.approx(proba({"age": 31.0}))
    page.get_by_role("button", name="Clear" if lang == "en" else "清空").click()
    own.settled()
    assert own.meters() == pytest.approx(proba({}))


def test_sliders_lists_dates_and_texts_are_facts(tab):
    from datetime import date

    own = tab()
    page = own.show().page
    slider = page.get_by_role("slider", name="past_delays")
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.get_by_label("occupation", exact=True).select_option(index=1)
    page.get_by_label("applied", exact=True).fill("2024-12-24")
    page.get_by_label("purpose", exact=True).fill("long trip around the islands")
    page.wait_for_timeout(300)
    own.settled()
    most = loan_subject().facts()["fields"]
    occupation = next(field for field in most if field["name"] == "occupation")["states"][0]["state"]
    row = {
        "past_delays": 1.0,
        "occupation": occupation,
        "applied": date(2024, 12, 24),
        "purpose": "long trip around the islands",
    }
    assert own.meters() == pytest.approx(proba(row))
    page.get_by_label("occupation", exact=True).select_option(label="another value")
    page.get_by_label("another value", exact=True).fill("astronaut")
    page.keyboard.press("Enter")
    own.settled()
    assert page.locator(".field .warning:visible").count() == 1
    assert own.meters() == pytest.approx(proba({name: cell for name, cell in row.items() if name != "occupation"}))


def test_while_a_slider_is_dragged_the_last_place_is_asked_for_as_soon_as_the_first_is_answered(tab):
    own = tab()
    page = own.show().page
    before = len(own.asked)
    page.get_by_role("slider", name="past_delays").evaluate(
        """(slider) => { for (const delays of [0, 1, 2, 3]) {
          slider.value = delays;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        } }"""
    )
    own.settled()
    assert sum(url.endswith("/row/posterior") for url in own.asked[before:]) == 2
    assert own.meters() == pytest.approx(proba({"past_delays": 3.0}))


@LANGUAGES
def test_reasons_add_up_in_the_page_and_pointing_at_one_shows_its_parts(tab, lang):
    own = tab()
    page = own.show(facts=FACTS, lang=lang).page
    figures = [float(cell.get_attribute("data-value")) for cell in page.locator(".waterfall [data-value]").all()]
    assert sum(figures[:-1]) == pytest.approx(figures[-1])
    assert figures[-1] == pytest.approx(loan_model().explain({"age": 31.0, "past_delays": 3.0})[0].log_odds)
    page.locator(".waterfall tr", has_text="past_delays").hover()
    page.locator(".detail", has_text="past_delays").wait_for()


def test_the_next_question_and_its_cost_and_what_to_do_are_those_of_the_library(tab):
    own = tab()
    page = own.show(facts=FACTS).page
    asked = loan_model().next_best({"age": 31.0, "past_delays": 3.0})
    assert page.locator(".questions tbody th").all_inner_texts()[0] == asked.questions[0].column
    first = asked.questions[0].column
    page.get_by_label(f"Cost of asking for {first}").fill("100")
    page.keyboard.press("Enter")
    own.settled()
    assert page.locator(".questions tbody th").all_inner_texts()[-1] == first
    assert (
        page.locator(".column.next .action").inner_text() == loan_model().predict({"age": 31.0, "past_delays": 3.0})[0]
    )


def test_what_would_turn_it_turns_it(tab):
    own = tab()
    page = own.show(facts={"age": 40, "past_delays": 1}).page
    before = loan_model().predict({"age": 40.0, "past_delays": 1.0})[0]
    page.locator(".turns button").first.click()
    own.settled()
    meters = own.meters()
    assert max(meters, key=meters.get) != before


@LANGUAGES
def test_every_column_has_its_picture_and_opens_large(tab, lang):
    own = tab()
    page = own.show(view="learned", facts=FACTS, lang=lang).page
    page.locator(".card h3").first.wait_for()  # on a busy machine a view is there before its first question is asked
    names = [heading.inner_text() for heading in page.locator(".card h3").all()]
    parts = {" (weekday)": "（星期）", " (month)": "（月份）"} if lang == "zh" else {}
    expected = [column.name for column in loan_model().columns_.used]
    for english, chinese in parts.items():
        expected = [name.replace(english, chinese) for name in expected]
    assert sorted(names) == sorted(expected)
    assert page.locator(".card svg.picture").count() == len(names)
    page.locator(".card button").first.click()
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Nomogram" if lang == "en" else "列线图").click()
    own.settled()
    assert page.locator(".nomogram svg").is_visible()


def test_counts_of_many_rows_stand_beside_their_bars(tab):
    rows = pa.table({"s": ["a", "b", "c", "a"] * 25_000})
    model = NaiveBayes().fit(rows, ["x", "x", "x", "y"] * 25_000)
    with Exploration([subject_of(model)]) as page:
        own = tab(served=page).show(subject=0, view="learned")
        own.page.locator(".card svg").wait_for()
        ends = (
            """(svg, [kind, side]) => [...svg.querySelectorAll(kind)].map((own) => own.getBoundingClientRect()[side])"""
        )
        bars, counts = (
            own.page.locator(".card svg").evaluate(ends, one)
            for one in (("rect.fill", "right"), ("text.tick:nth-of-type(even)", "left"))
        )
        assert max(bars) < min(counts)


def test_the_nomogram_of_a_report_prints_on_one_page_with_its_list(chromium):
    rng = np.random.default_rng(0)
    columns = {f"column {j}": rng.choice([f"state {k} of {j}" for k in range(5)], 300) for j in range(30)}
    table = pa.table({**columns, "y": rng.choice(["x", "z"], 300)})
    report = model_report(NaiveBayes().fit(table.drop_columns(["y"]), table.column("y")), table, "y")
    page = chromium.new_page(viewport={"width": 680, "height": 1000})  # A4 less its margins, 96 dots an inch
    page.emulate_media(media="print")
    page.set_content(report)
    section = page.locator("section", has=page.get_by_text(re.compile("^Nomogram of")))
    assert 500 < section.bounding_box()["height"] < 267 / 25.4 * 96
    page.close()


@LANGUAGES
def test_costs_are_edited_in_place_and_the_rows_follow(tab, lang):
    own = tab()
    page = own.show(view="decisions", facts=FACTS, lang=lang).page
    cell = page.locator("[data-place='1-0']")
    cell.fill("10")
    page.keyboard.press("Tab")
    own.settled()
    loss = Loss([[0, 1], [10, 0]], actions=["late", "repaid"], classes=["late", "repaid"])
    subject = loan_subject()
    action = loss.best_action(loan_model().predict_proba(subject.rows))
    changed = int((loan_model().predict(subject.rows) != action).sum())
    assert page.locator("[data-figure=changed]").inner_text() == str(changed)
    cost = loss.realised(action, [["late", "repaid"][code] for code in subject.truth]).mean()
    assert float(page.locator("[data-figure=cost]").inner_text()) == pytest.approx(cost, rel=1e-3)
    page.get_by_role("button", name="Add" if lang == "en" else "添加").click()
    own.settled()
    assert page.locator("table.costs tbody tr").count() == 3
    refused = loss.with_reject(0.3).best_action(loan_model().predict_proba(subject.rows))
    assert str((refused == "reject").sum()) in page.locator(".pill").last.inner_text()
    slider = page.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("End")
    own.settled()
    assert "99.9" in page.locator(".sliders .figure").first.inner_text()


@LANGUAGES
def test_rows_are_sorted_filtered_opened_and_downloaded_without_formulas(tab, lang, tmp_path):
    own = tab(accept_downloads=True)
    page = own.show(view="rows", lang=lang).page
    page.get_by_role("button", name="Most wrong first" if lang == "en" else "错得最厉害的在前").click()
    own.settled()
    shown = [float(text) for text in page.locator("table.rows tbody td:nth-child(7)").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    page.get_by_role("searchbox").fill("clerk")
    page.wait_for_timeout(200)
    own.settled()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) > 2 and all("clerk" in ",".join(row) for row in rows[1:])
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)
    page.locator("table.rows tbody tr").first.click()
    own.settled()
    assert page.locator(".view-row").count() == 1 and own.meters()


@LANGUAGES
def test_the_ladder_of_compare_is_climbed_in_the_background_and_shown_with_its_intervals(tab, lang):
    own = tab(viewport={"width": 390, "height": 800})
    page = own.show(view="compare", lang=lang).page
    page.wait_for_selector("#view[data-answered]", timeout=120_000)
    found = loan_subject().comparison.found
    rows = page.locator("tbody tr")
    assert rows.locator("th").all_inner_texts() == [one.name for one in found.contestants if one.failure is None]
    for one, row in zip(found.contestants, rows.all(), strict=True):
        behind = row.get_by_role("img").get_attribute("aria-label").split(" ± ")
        mean, error = found.behind(one)
        assert [float(part) for part in behind] == pytest.approx([mean, Z * error], rel=0.06, abs=1e-6)
        assert float(row.locator("td").first.inner_text()) == pytest.approx(one.log_loss, rel=1e-3)
    remarks = found.remarks(Language.of(lang))
    assert page.locator("#view p.faint").all_inner_texts()[1:] == remarks
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_jumps_while_answers_come(tab):
    sizes = [{"width": width, "height": height} for width, height in ((1360, 900), (820, 1100), (390, 844))]
    states = [{"view": view, "facts": FACTS} for view in ("row", "learned", "decisions", "rows")]
    states.append({"subject": 2, "net": {"observed": [[1, 0]], "chosen": [0, 2], "best": True}})
    for size in sizes:
        own = tab(viewport=size)
        own.page.add_init_script(
            """window.jumped = 0;
            new PerformanceObserver((list) => { for (const one of list.getEntries()) jumped += one.value; })
              .observe({ type: "layout-shift", buffered: true });"""
        )
        for state in states:
            own.show(**state)
            own.page.wait_for_timeout(300)
            # What a person notices begins at 0.1; a rounding of figures moves some of the words beside them.
            assert own.page.evaluate("jumped") < 0.004, (size, state)
        own.show(view="row", facts={"age": 31})
        for facts in (FACTS, {**FACTS, "income": 2000, "purpose": "trip", "occupation": "clerk"}, {"age": 50}):
            own.page.evaluate("state => { location.hash = state; jumped = 0; }", quote(json.dumps({"facts": facts})))
            own.settled()
            own.page.wait_for_timeout(300)
            assert own.page.evaluate("jumped") < 0.004, (size, facts)


def test_an_address_holds_the_state_and_two_browsers_do_not_disturb_each_other(tab):
    one, two = tab(), tab()
    one.show(facts=FACTS)
    two.show(facts={"age": 70})
    assert one.meters() == pytest.approx(proba({"age": 31.0, "past_delays": 3.0}))
    assert two.meters() == pytest.approx(proba({"age": 70.0}))
    two.page.goto("about:blank")
    two.page.goto(one.page.url)
    two.settled()
    assert two.meters() == one.meters()


def test_steps_that_follow_each_other_at_once_are_taken_back_one_by_one(tab):
    own = tab()
    page = own.show().page
    page.evaluate(
        """() => { for (const name of ["False", "True"])
          document.querySelector(`[aria-label=owns_home] [data-state=${name}]`).click(); }"""
    )
    page.keyboard.press("Control+z")  # before either has an address
    own.settled()
    assert own.meters() == pytest.approx(proba({"owns_home": False}))
    page.keyboard.press("Control+z")
    own.settled()
    assert own.meters() == pytest.approx(proba({}))


def test_the_keyboard_alone_reaches_views_and_fields(tab):
    own = tab()
    page = own.show().page
    page.locator("#tab-row").focus()
    page.keyboard.press("ArrowRight")
    own.settled()
    assert page.locator("#tab-learned").get_attribute("aria-selected") == "true"
    assert page.evaluate("document.activeElement.id") == "tab-learned"


def test_the_page_fits_a_phone_and_has_a_dark_dress(tab):
    for view in ("row", "learned", "decisions", "rows"):
        own = tab(viewport={"width": 390, "height": 800}, color_scheme="dark")
        page = own.show(view=view, facts=FACTS).page
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 25, 31)"


def test_what_is_printed_has_its_names_and_no_controls(tab):
    own = tab()

    def printed(**state):
        own.page.emulate_media(media="screen")
        own.show(**state).page.emulate_media(media="print")

    printed(view="row", facts={"age": 31})
    names = own.page.locator(".questions tbody th button")
    assert names.count() > 3 and all(name.is_visible() for name in names.all())
    assert own.page.locator("h1").is_visible() and not own.page.get_by_role("button", name="Undo").is_visible()
    printed(view="learned")
    assert own.page.locator(".card h3").first.is_visible() and own.page.locator(".legend").first.is_visible()
    printed(view="rows")
    assert own.page.locator("table.rows thead button").first.is_visible()


def test_hostile_names_states_and_texts_stay_text(tab):
    evil = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202eevil' + "x" * 10_000
    table = pa.table(
        {
            evil: [evil, "b", "c"] * 10,
            "note": ["<b onclick=alert(3)>win</b> money now", "see you at six", "good night"] * 10,
        }
    )
    labels = [evil, "ham", "eggs"] * 10
    model = NaiveBayes(columns={"note": "text"}).fit(table, labels)
    with Exploration([subject_of(model, table, labels, name=evil)]) as page:
        own = tab(served=page)
        for view in ("row", "learned", "decisions", "rows"):
            own.show(view=view, facts={evil: evil, "note": "<script>alert(4)</script> money"})
            assert own.page.locator("main script, main img, main b[onclick]").count() == 0
            assert own.page.evaluate("document.documentElement.scrollWidth") <= 1280, view
        own.show(view="learned", mode="nomogram")


@pytest.mark.parametrize("classes", [[" ", "", "c"], ["only"] * 3])
def test_classes_of_blanks_can_be_seen_and_one_class_is_shown_without_reasons(tab, classes):
    rows = pa.table({"x": [1.0, 5.0, 9.0] * 10})
    with Exploration([subject_of(NaiveBayes().fit(rows, classes * 10), rows)]) as page:
        own = tab(served=page, viewport={"width": 390, "height": 844}).show(facts={"x": 5})
        shown = own.page.locator(".likely bdi").all_inner_texts()
        assert shown[:3] == (["∅", "␣", "c"] if len(set(classes)) > 1 else ["only"])
        assert own.page.locator(".next .action").inner_text()
        assert own.page.locator("#notice").is_hidden()


def test_columns_may_be_called_as_parts_of_the_language_of_the_page(tab):
    names = ["__proto__", "constructor", "toString"]
    rows = pa.table({name: ["a", "b", None, "b"] * 10 for name in names})
    model = NaiveBayes().fit(rows, ["x", "y", "x", "y"] * 10)
    with Exploration([subject_of(model, rows, name="names")]) as served:
        own = tab(served=served)
        assert own.show(lang="en").page.locator(".field.unknown").count() == 3
        own.show(lang="en", view="rows")
        assert own.page.locator("table.rows tbody tr").nth(2).locator("td").all_text_contents()[-3:] == ["", "", ""]
        own.page.get_by_role("button", name="Open row 1", exact=True).click()
        own.settled()
        assert own.meters() == pytest.approx(dict(zip("xy", model.predict_proba(rows)[0], strict=True)))


def test_reasons_of_many_columns_add_up_and_what_they_add_to_stays_in_sight(tab):
    rng = np.random.default_rng(0)
    table = pa.table({f"column {j}": rng.normal(size=60) for j in range(40)})
    model = NaiveBayes().fit(table, ["x", "y"] * 30)
    with Exploration([subject_of(model, table, name="wide")]) as served:
        own = tab(served=served, viewport={"width": 1400, "height": 700})
        page = own.show(facts={f"column {j}": 0.5 for j in range(40)}).page
        *parts, total = [
            float(cell.get_attribute("data-value")) for cell in page.locator(".waterfall [data-value]").all()
        ]
        assert sum(parts) == pytest.approx(total) and len(parts) == 26
        page.get_by_label("column 39", exact=True).and_(page.locator("[type=number]")).scroll_into_view_if_needed()
        assert page.get_by_role("meter").first.bounding_box()["y"] > 46


def test_who_has_no_key_is_told_so(chromium, served):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{served.access.port}/")
    assert "key" in page.get_by_role("alert").inner_text()
    context.close()


@pytest.fixture
def notebook_with():
    """Serve a page as a notebook does: from this machine, under another name and another port than ours."""

    class Cell(BaseHTTPRequestHandler):
        html = ""

        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(self.html.encode())

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Cell) as server:
        Thread(target=server.serve_forever, daemon=True).start()

        def serve(cell):
            Cell.html = f"<!doctype html><html><body>{cell}</body></html>"
            return f"http://localhost:{server.server_port}/"

        yield serve
        server.shutdown()


def test_a_notebook_shows_the_page_in_a_frame_or_says_that_it_is_elsewhere(chromium, notebook_with):
    from bayeswater.web import exploring

    before, exploring.in_notebook = exploring.in_notebook, lambda: True
    try:
        page = Exploration([loan_subject()])
    finally:
        exploring.in_notebook = before
    tab = chromium.new_page()
    tab.goto(notebook_with(page._repr_html_()))
    inside = tab.frame_locator("iframe").frame_locator("#page")
    inside.get_by_role("meter").first.wait_for()
    page.close()
    tab.reload()
    note = tab.frame_locator("iframe").locator("#note", has_text="another machine")
    note.wait_for()
    assert "gaussian" in tab.frame_locator("iframe").locator("#here").inner_text()
    tab.close()
