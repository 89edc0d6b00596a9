"""How long the local page takes to answer, measured inside a real browser: from a click until the bars have moved."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa

from bayeswater import BayesianNetwork, NaiveBayes, save
from bayeswater.web.exploring import Exploration
from bayeswater.web.subjects import subject_of

FOLDER = Path(os.environ.get("BAYESWATER_DATA", "data")) / "networks"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
N_ROWS, N_COLUMNS = 2_000, 50

CLICK = """([selector, code]) => window.waited = new Promise((told) => {
  const view = document.querySelector("#view"), start = performance.now();
  let bars = null;
  const look = new MutationObserver(() => { bars ??= performance.now() - start; });
  look.observe(document.querySelector("[role=meter]"), { attributes: true, attributeFilter: ["aria-valuenow"] });
  view.removeAttribute("data-answered");
  const all = new MutationObserver(() => {
    look.disconnect();
    all.disconnect();
    told([bars, performance.now() - start]);
  });
  all.observe(view, { attributes: true, attributeFilter: ["data-answered"] });
  document.querySelectorAll(selector)[code].click();
})"""
"""Clicks on a state; gives the milliseconds until the first bar moves, and until all answers are there.

The page waits by itself, and holds what it waits for: Playwright would ask it in every frame, which costs the browser
as much as the answer does.
"""

OBSERVE = """(place) => window.waited = new Promise((told) => {
  const isOpen = (line) => line.ariaValueNow > 0 && line.ariaValueNow < 1;
  const lines = [...document.querySelectorAll(".network .state")].filter(isOpen);
  const line = document.querySelector(".network .held") ?? lines[place % lines.length];
  const start = performance.now();
  const look = new MutationObserver(() => { look.disconnect(); told(performance.now() - start); });
  const bars = { subtree: true, attributes: true, attributeFilter: ["aria-valuenow"] };
  look.observe(document.querySelector(".network"), bars);
  for (const kind of ["pointerdown", "pointerup"]) {
    line.dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerId: 1 }));
  }
})"""
"""Observes a state that is neither sure nor impossible, or releases it; gives the milliseconds until a bar moves."""

NETWORKS = (("alarm", 0.050), ("munin", 1.0))
"""Networks, and the seconds that a click is to stay under."""


def lacks_browser() -> str | None:
    """Say what is missing for a page to be opened."""
    if CHROMIUM is None:
        return "there is no Chromium"
    return None if find_spec("playwright") else "Playwright is not installed"


@contextmanager
def opened() -> Iterator[Any]:
    """Give a tab of a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


def table_of_columns(seed: int = 0) -> tuple[pa.Table, list[str]]:
    """Draw twenty numbers, twenty categories of few states and ten counts, and three classes."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, N_ROWS)
    states = np.array(list("abc"))
    columns: dict[str, Any] = {f"number {j}": rng.normal(0.3 * code, 1) for j in range(20)}
    columns |= {
        f"state {j}": states[(rng.integers(0, 3, N_ROWS) + code * (rng.random(N_ROWS) < 0.2)) % 3] for j in range(20)
    }
    columns |= {f"count {j}": rng.poisson(2 + code) for j in range(N_COLUMNS - 40)}
    return pa.table(columns), np.array(["x", "y", "z"])[code].tolist()


def page_clicks(repeats: int) -> list[dict[str, Any]]:
    """Milliseconds from a click to bars that have moved, and to all answers, for a row of fifty known columns."""
    X, y = table_of_columns()
    model = NaiveBayes(calibrate=True).fit(X, y)
    with Exploration([subject_of(model, X, y)]) as served, opened() as page:
        page.goto(served.address)
        page.get_by_role("button", name="As row").click()
        page.wait_for_selector("#view[data-answered]")
        page.wait_for_timeout(500)
        turns, start = max(10, 6 * repeats), process_time()
        states = ".choice button:not([aria-pressed=true])"
        found = [page.evaluate(CLICK, [states, turn % 20]) for turn in range(turns)]
        server = 1000 * (process_time() - start) / turns
    bars, answers = zip(*found, strict=True)
    what = {"what": f"a click in a row of {N_COLUMNS} columns"}
    return [what | spread(bars) | {"all answers ms": median(answers), "server CPU ms": server}]


def spread(milliseconds: Sequence[float]) -> dict[str, float]:
    """Tell the median, and what other work on the machine disturbs least: the lower quartile and the least."""
    quartile = quantiles(milliseconds, n=4)[0]
    return {"bars ms": median(milliseconds), "lower quartile ms": quartile, "least ms": min(milliseconds)}


def network_clicks(repeats: int) -> list[dict[str, Any]]:
    """Milliseconds from a click on a state of a network to bars that have moved; without its file it is left out."""
    told = []
    for name, limit in NETWORKS:
        path = FOLDER / f"{name}.bif"
        if not path.exists():
            continue
        with Exploration([subject_of(BayesianNetwork.read(path))]) as served, opened() as page:
            page.set_default_timeout(300_000)
            page.goto(served.address)
            page.wait_for_selector("#view[data-answered]")
            found = []
            for turn in range(max(5, 4 * repeats)):
                found.append(page.evaluate(OBSERVE, 7 * turn))
                page.wait_for_selector("body:not(.busy)")
                page.wait_for_timeout(100)
        told.append({"network": name, **spread(found), "to be reached ms": 1000 * limit})
    return told


def first_page(repeats: int) -> list[dict[str, Any]]:
    """Seconds from the command to bars on the screen, in a browser that is open already."""
    X, y = table_of_columns()
    seconds = []
    with tempfile.TemporaryDirectory() as folder, opened() as page:
        path = Path(folder) / "model.bayes"
        save(NaiveBayes().fit(X, y), path)
        for _ in range(repeats + 1):
            start = perf_counter()
            command = [sys.executable, "-m", "bayeswater", "explore", str(path), "--no-open"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                assert process.stdout is not None
                page.goto(process.stdout.readline().strip())
                page.wait_for_selector("main")
                there = perf_counter() - start
                page.wait_for_selector("[role=meter][aria-valuenow]")
                seconds.append((there, perf_counter() - start))
                process.terminate()
    of_page, of_bars = (median(times) for times in zip(*seconds[1:], strict=True))
    return [{"what": "from the command", "page s": of_page, "first bars s": of_bars}]
