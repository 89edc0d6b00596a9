"""A real browser on a real server, for ``make test-web``; without Chromium its tests are skipped, with the reason."""

import json
import os
import shutil
from urllib.parse import quote

import pytest
from tests.web.loans_page import loan_subject

from bayeswater.demo.messages import load_messages
from bayeswater.demo.network import cough
from bayeswater.models.mixed.naive_bayes import NaiveBayes
from bayeswater.web.exploring import Exploration
from bayeswater.web.subjects import subject_of

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_collection_modifyitems(items):
    """Leave these tests to ``make test-web``: a browser takes longer than all that it looks at."""
    why = None if os.environ.get("BAYESWATER_BROWSER") else "a browser is started by make test-web alone"
    why = why or (None if CHROMIUM else "there is no Chromium; on Debian: apt install chromium")
    for item in items:
        if why and "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def served():
    messages = load_messages()
    words = NaiveBayes().fit(messages.select(["text"]), messages.column("label"))
    subjects = [
        loan_subject(),
        subject_of(words, messages, target="label", name="messages"),
        subject_of(cough(), name="cough"),
    ]
    with Exploration(subjects) as page:
        yield page


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """One tab of a browser of its own, which has the key; whatever goes wrong in it is noted."""

    def __init__(self, browser, served, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.served, self.wrong, self.asked = served, [], []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda told: self.wrong.append(told.text) if told.type == "error" else None)
        self.page.on("dialog", lambda dialog: (self.wrong.append("a dialog opened"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(served.address)

    def show(self, **state):
        """Go to a state of the page, by its address."""
        base = f"http://127.0.0.1:{self.served.access.port}/"
        self.page.goto(f"{base}?{len(self.asked)}#{quote(json.dumps(state))}")
        self.settled()
        return self

    def settled(self):
        """Wait until every question is answered."""
        self.page.wait_for_selector("#view > *")
        self.page.wait_for_selector("body:not(.busy)")
        self.page.wait_for_timeout(60)
        self.page.wait_for_selector("body:not(.busy)")

    def meters(self):
        """Read the probabilities of the classes off the accessibility tree."""
        found = self.page.get_by_role("meter").all()
        return {own.get_attribute("aria-label"): float(own.get_attribute("aria-valuenow")) for own in found}


@pytest.fixture
def tab(chromium, served):
    made = []

    def open_(**options):
        made.append(Tab(chromium, options.pop("served", served), **options))
        return made[-1]

    yield open_
    for own in made:
        assert own.wrong == []
        port = own.served.access.port
        assert all(url.startswith((f"http://127.0.0.1:{port}/", "data:", "blob:")) for url in own.asked)
        own.context.close()
