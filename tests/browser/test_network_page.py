"""Gestures in the real page of a network: what is seen is what the library says."""

import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.web.people_page import people

from bayeswater import BayesianNetwork
from bayeswater.demo.network import cough
from bayeswater.web.exploring import Exploration
from bayeswater.web.subjects import subject_of

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
WORDS = {
    "en": {"best": "Most probable explanation", "blanket": "Markov blanket", "release": "Release all"},
    "zh": {"best": "最可能的解释", "blanket": "马尔可夫毯", "release": "全部取消"},
}


class NetworkTab:
    """A tab that shows the network of the demo."""

    def __init__(self, own, **state):
        self.tab, self.page = own, own.page
        own.show(**{"subject": 2, **state})
        self.settled()

    def settled(self):
        self.page.wait_for_selector("#view[data-answered]")
        self.tab.settled()
        self.page.wait_for_timeout(150)
        self.tab.settled()

    def line(self, name, state):
        return self.page.locator(".node").get_by_role(
            "slider", name=re.compile(f"^{re.escape(f'{name} = {state}')}(,|$)")
        )

    def click(self, name, state, **options):
        self.line(name, state).locator(".node-state").click(**options)
        self.settled()

    def choose(self, name):
        self.page.locator(".node-name", has_text=name).click()
        self.settled()

    def posteriors(self):
        """Read every probability off the accessibility tree."""
        found = {}
        for own in self.page.locator(".node").get_by_role("slider").all():
            label = own.get_attribute("aria-label").split(",")[0]
            name, state = label.split(" = ")
            found[name, state] = float(own.get_attribute("aria-valuenow"))
        return found

    def net(self):
        self.page.wait_for_timeout(400)  # an address follows the answer
        return json.loads(unquote(self.page.url.split("#")[1]))["net"]


def expected(evidence, network=None, **soft):
    network = network or cough()
    found = network.posteriors(evidence, soft_evidence=soft or None)
    return {
        (name, state): float(found[name][0][code])
        for name in network.names
        for code, state in enumerate(network.states(name))
    }


def close(found, right):
    return found == pytest.approx(right, abs=1e-9)


@LANGUAGES
def test_a_click_observes_a_state_again_releases_it_and_every_posterior_moves(tab, lang):
    own = NetworkTab(tab(), lang=lang)
    assert close(own.posteriors(), expected({}))
    own.click("cough", "yes")
    own.click("fever", "no")
    both = expected({"cough": "yes", "fever": "no"})
    assert close(own.posteriors(), both)
    own.click("fever", "no")
    assert close(own.posteriors(), expected({"cough": "yes"}))
    own.page.keyboard.press("Control+z")
    own.settled()
    assert close(own.posteriors(), both)
    own.page.keyboard.press("Control+Shift+z")
    own.settled()
    assert close(own.posteriors(), expected({"cough": "yes"}))
    own.page.get_by_role("button", name=WORDS[lang]["release"]).click()
    own.settled()
    assert close(own.posteriors(), expected({}))


def test_keys_alone_reach_nodes_and_states(tab):
    own = NetworkTab(tab())
    page = own.page
    page.locator(".node[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert name in cough().names and name != "season"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    own.settled()
    assert close(own.posteriors(), expected({name: "yes"}))
    page.keyboard.press("Escape")
    own.settled()
    assert close(own.posteriors(), expected({}))
    page.keyboard.press("ArrowRight")  # a bar moved by keys is soft evidence
    own.settled()
    share = own.posteriors()[name, "yes"]
    assert share == pytest.approx(round(share * 20) / 20) and share > expected({})[name, "yes"]
    page.keyboard.press("d")
    own.settled()
    assert close(own.posteriors(), expected({}, cough().do({name: "yes"})))


def test_a_dragged_bar_stays_where_it_is_dropped_and_is_soft_evidence(tab):
    own = NetworkTab(tab())
    track = own.line("flu", "yes").locator(".node-track").bounding_box()
    y = track["y"] + track["height"] / 2
    own.page.mouse.move(track["x"] + 3, y)
    own.page.mouse.down()
    own.page.mouse.move(track["x"] + 20, y, steps=3)
    own.page.mouse.move(track["x"] + track["width"] * 0.6, y, steps=4)
    own.page.mouse.up()
    own.settled()
    found = own.posteriors()
    assert found["flu", "yes"] == pytest.approx(0.6, abs=0.011)  # bars are dropped at whole hundredths
    [[node, likelihood]] = own.net()["soft"]
    assert cough().names[node] == "flu"
    assert close(found, expected({}, flu=likelihood))
    own.choose("flu")
    own.page.get_by_label("Likelihood of no").fill("0.5")
    own.page.keyboard.press("Enter")
    own.settled()
    assert close(own.posteriors(), expected({}, flu=[1.0, 0.5]))


def test_setting_a_variable_cuts_its_arcs(tab):
    own = NetworkTab(tab())
    own.click("flu", "yes", modifiers=["Alt"])
    assert close(own.posteriors(), expected({}, cough().do(flu="yes")))
    assert own.page.locator(".arc.cut").count() == 1
    assert own.page.locator(".node.does").get_attribute("aria-label") == "flu, set"
    own.page.get_by_role("button", name="Clicks set").click()
    own.click("cold", "no")
    assert close(own.posteriors(), expected({}, cough().do(flu="yes", cold="no")))
    assert own.page.locator(".arc.cut").count() == 2


def test_two_nodes_show_the_open_trail_or_why_there_is_none(tab):
    own = NetworkTab(tab())
    own.choose("flu")
    own.choose("bronchitis")
    assert "where two arcs meet" in own.page.locator(".trail").inner_text()
    assert "barrier" in own.page.locator(".node", has_text="cough").get_attribute("class")
    own.click("cough", "yes")
    assert "flu → cough ← bronchitis" in own.page.locator(".trail").inner_text()
    assert own.page.locator(".arc.open").count() == 2
    thick = own.page.locator(".arc").evaluate_all("all => all.map(own => Number(own.getAttribute('stroke-width')))")
    assert len(set(thick)) > 3


@LANGUAGES
def test_the_most_probable_explanation_and_what_to_observe_next(tab, lang):
    own = NetworkTab(tab(), lang=lang)
    own.click("cough", "yes")
    own.page.get_by_role("button", name=WORDS[lang]["best"]).click()
    own.settled()
    marked = own.page.locator(".best-state").evaluate_all("all => all.map(own => own.getAttribute('aria-label'))")
    explanation = cough().most_probable_explanation({"cough": "yes"}).states
    assert {label.split(",")[0] for label in marked} == {f"{name} = {state}" for name, state in explanation.items()}
    own.choose("bronchitis")
    own.page.wait_for_selector("tbody th button.plain")
    first = own.page.locator("tbody th button.plain").first.inner_text()
    assert first == cough().next_best("bronchitis", {"cough": "yes"}).best.column


def test_a_table_is_edited_in_place_and_the_edited_network_is_saved(tab, tmp_path):
    own = NetworkTab(tab())
    own.choose("bronchitis")
    cell = own.page.get_by_label("Probability at smoker = yes, yes")
    assert cell.input_value() == "0.3"
    cell.fill("0.8")
    own.page.keyboard.press("Enter")
    own.settled()
    changed = cough().with_cpt("bronchitis", [[0.8, 0.2], [0.05, 0.95]])
    assert close(own.posteriors(), expected({}, changed))
    assert own.page.evaluate("document.activeElement.value") == "0.8"  # who types goes on from there
    own.click("smoker", "yes")
    for kind in ("bif", "xdsl", "bayes"):
        with own.page.expect_download() as got:
            own.page.get_by_label("Save…").select_option(kind)
        path = tmp_path / got.value.suggested_filename
        got.value.save_as(path)
        assert BayesianNetwork.read(path).query("bronchitis")["yes"] == pytest.approx(
            changed.query("bronchitis")["yes"]
        )
    for kind, begin in (("svg", b"<svg"), ("png", b"\x89PNG"), ("evidence", b"{")):
        with own.page.expect_download() as got:
            own.page.get_by_label("Save…").select_option(kind)
        content = Path(got.value.path()).read_bytes()
        assert content.startswith(begin) and len(content) > 60
    assert json.loads(content)["evidence"] == {"smoker": "yes"}
    own.page.keyboard.press("Escape")
    own.settled()
    own.page.get_by_role("button", name="Release bronchitis").click()  # the table as it was
    own.settled()
    assert close(own.posteriors(), expected({}))


@LANGUAGES
def test_search_zoom_pan_and_the_markov_blanket(tab, lang):
    own = NetworkTab(tab(), lang=lang)
    page = own.page
    box = page.locator("svg.network")
    before = box.get_attribute("viewBox")
    page.locator(".zooms button").first.click()
    nearer = box.get_attribute("viewBox")
    assert float(nearer.split()[2]) < float(before.split()[2])
    at = box.bounding_box()
    page.mouse.move(at["x"] + 20, at["y"] + 20)
    page.mouse.down()
    page.mouse.move(at["x"] + 120, at["y"] + 70, steps=3)
    page.mouse.up()
    assert float(box.get_attribute("viewBox").split()[0]) < float(nearer.split()[0])
    page.locator("input[type=search]").fill("bron")
    page.keyboard.press("Enter")
    own.settled()
    assert "chosen" in page.locator(".node", has_text="bronchitis").get_attribute("class")
    page.get_by_role("button", name=WORDS[lang]["blanket"], exact=True).click()
    own.settled()
    shown = set(page.locator(".node").evaluate_all("all => all.map(own => own.getAttribute('aria-label'))"))
    assert shown == {"bronchitis", *cough().markov_blanket("bronchitis")}


@LANGUAGES
def test_levels_and_branches_are_folded_one_by_one(tab, lang):
    own = NetworkTab(tab(), lang=lang)
    page = own.page

    def shown():
        return set(page.locator(".node").evaluate_all("all => all.map(own => own.getAttribute('aria-label'))"))

    page.get_by_label({"en": "Levels that are drawn", "zh": "画出的层数"}[lang]).select_option("1")
    own.settled()
    roots = {name for name in cough().names if not cough().parents(name)}
    assert shown() == roots
    page.locator(".fold", has_text="season").click()
    own.settled()
    assert shown() == roots | {name for name in cough().names if "season" in cough().parents(name)}
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("Enter")
    own.settled()
    assert shown() == roots
    page.keyboard.press("Control+z")
    own.settled()
    assert len(shown()) > len(roots)


def test_saved_evidence_is_read_again(tab):
    own = NetworkTab(tab())
    own.click("cough", "yes")
    own.click("flu", "no", modifiers=["Alt"])
    known = own.posteriors()
    with own.page.expect_download() as got:
        own.page.get_by_label("Save…").select_option("evidence")
    own.page.get_by_role("button", name="Release all").click()
    own.settled()
    assert close(own.posteriors(), expected({}))
    with own.page.expect_file_chooser() as chooser:
        own.page.get_by_role("button", name="Read evidence").click()
    chooser.value.set_files(
        {"name": "e.json", "mimeType": "application/json", "buffer": Path(got.value.path()).read_bytes()}
    )
    own.settled()
    assert close(own.posteriors(), known)


def test_impossible_evidence_is_told_and_two_browsers_do_not_disturb_each_other(tab):
    network = BayesianNetwork("rain -> wet", {"rain": [0.8, 0.2], "wet": [[1.0, 0.0], [0.1, 0.9]]})
    with Exploration([subject_of(network, name="rain")]) as page:
        own = NetworkTab(tab(served=page), subject=0)
        other = NetworkTab(tab(served=page), subject=0)
        own.click("wet", "1")
        own.click("rain", "0")
        assert "probability zero" in own.page.locator("#notice").inner_text()
        own.page.keyboard.press("Escape")
        own.settled()
        assert own.page.locator("#notice").is_hidden()
        assert own.posteriors()["rain", "1"] == 1
        assert other.posteriors()["rain", "1"] == pytest.approx(0.2)


def test_hostile_names_are_texts(tab):
    evil = "<img src=x onerror=alert(1)>\u202e" + "y" * 10_000
    network = BayesianNetwork(
        [(evil, "b")], {evil: {evil: 0.5, "no": 0.5}, "b": [[0.9, 0.1], [0.2, 0.8]]}, states={"b": ("<script>", "'\"&")}
    )
    with Exploration([subject_of(network, name=evil)]) as page:
        own = NetworkTab(tab(served=page), subject=0)
        own.click("b", "<script>")
        own.page.locator(".node-name").first.click()
        own.settled()
        assert own.page.locator("img").count() == 0
        assert own.page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


def test_a_network_that_does_not_fit_opens_where_it_can_be_read_and_its_cells_are_whole(tab):
    names = [f"v{i:02}" for i in range(70)]
    tables = {name: [[1 / 3, 2 / 3], [1 / 70_000, 1 - 1 / 70_000]] for name in names} | {"v00": [1 / 3, 2 / 3]}
    chain = BayesianNetwork(list(pairwise(names)), tables, states=dict.fromkeys(names, ("ok", "worn")))
    with Exploration([subject_of(chain, name="chain")]) as page:
        own = NetworkTab(tab(served=page), subject=0)
        own.line("v00", "worn").wait_for()
        assert own.posteriors()["v00", "worn"] == pytest.approx(2 / 3)
        own.choose("v01")
        cells = own.page.get_by_label(re.compile("^Probability at"))
        assert [cell.input_value() for cell in cells.all()] == ["0.3333", "0.6667", "1.4e-5", "1"]
        assert float(cells.last.get_attribute("title")) == pytest.approx(1 - 1 / 70_000)
        assert cells.evaluate_all("own => own.every((cell) => cell.scrollWidth <= cell.clientWidth)")


def test_on_a_phone_nothing_is_wider_than_the_screen(tab):
    own = NetworkTab(tab(viewport={"width": 390, "height": 800}, color_scheme="dark"))
    own.choose("cough")
    assert own.page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


@LANGUAGES
def test_a_number_is_observed_by_typing_it_and_set_and_all_others_follow(tab, lang):
    network = people()
    value, set_to = {"en": ("Value of {}", "Set {} to this value"), "zh": ("{} 的取值", "将 {} 设定为该值")}[lang]
    with Exploration([subject_of(network)]) as page_of_people:
        shown = NetworkTab(tab(served=page_of_people), subject=0, lang=lang)

        def drawn(name):
            return shown.page.locator(".node").get_by_role("img", name=f"{name}: ").get_attribute("aria-label")

        def told(found):
            return f"{found.name}: {found.mean:.4g} ± {found.std:.3g}"

        assert drawn("weight") == told(network.query("weight"))
        shown.choose("weight")
        shown.page.get_by_label(value.format("weight")).fill("90")
        shown.page.keyboard.press("Enter")
        shown.settled()
        assert drawn("weight") == "weight: 90" and drawn("height") == told(network.query("height", {"weight": 90}))
        assert shown.posteriors()["sex", "m"] == pytest.approx(network.query("sex", {"weight": 90})["m"])
        shown.choose("height")
        shown.page.get_by_label(value.format("height")).fill("170")
        shown.page.get_by_role("button", name=set_to.format("height")).click()
        shown.settled()
        changed = network.do(height=170)
        assert shown.posteriors()["sex", "m"] == pytest.approx(changed.query("sex", {"weight": 90})["m"])
        with shown.page.expect_download() as got:
            shown.page.locator("select.short").select_option("evidence")
        saved = Path(got.value.path()).read_bytes()
        shown.page.get_by_role("button", name=WORDS[lang]["release"]).click()
        shown.click("sex", "m")
        assert drawn("weight") == told(network.query("weight", {"sex": "m"}))
        shown.page.locator("[type=file]").set_input_files({"name": "e.json", "mimeType": "", "buffer": saved})
        shown.settled()
        assert drawn("weight") == "weight: 90" and drawn("height") == "height: 170"
