"""Make the screenshots of the explorer for the site: ``make docs-images``."""

import json
import os
import shutil
import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from bayeswater.cli.explore import built_in
from bayeswater.web.exploring import Exploration

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FACTS = {"age": 31, "past_delays": 2, "owns_home": "False", "income": 2400}
LOSS = {"actions": ["late", "repaid", "ask more"], "costs": [[0, 1], [5, 0], [0.6, 0.6]]}
NET = {"observed": [[6, 0]], "does": [[1, 1]], "chosen": [2, 4]}  # cough, flu; cold and bronchitis

PICTURES = {
    "explorer_row": {"facts": FACTS},
    "explorer_row_zh": {"facts": FACTS, "lang": "zh"},
    "explorer_learned": {"view": "learned", "facts": FACTS},
    "explorer_nomogram": {"view": "learned", "mode": "nomogram"},
    "explorer_decisions": {"view": "decisions", "facts": FACTS, "loss": LOSS},
    "explorer_rows": {"view": "rows", "rows": {"by": "surprise", "falling": True}},
    "explorer_network": {"subject": 2, "net": NET},
    "explorer_network_zh": {"subject": 2, "net": NET, "lang": "zh"},
}
"""The state of the page in each picture."""


def main(folder: Path) -> None:
    """Take all pictures."""
    with Exploration(built_in(), lang="en") as served, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(served.address)
        for place, (name, state) in enumerate(PICTURES.items()):
            page.goto(f"http://127.0.0.1:{served.access.port}/?{place}#{quote(json.dumps(state))}")
            page.wait_for_selector("#view[data-answered]")
            page.wait_for_timeout(400)
            page.screenshot(path=folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
