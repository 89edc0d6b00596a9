"""Documents for those who build the project name files and folders that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATH = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_0-9]+\.(?:py|md))?)`")


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_path_that_a_document_names_is_there(document):
    named = set(PATH.findall((ROOT / document).read_text()))
    assert named
    assert [
        path for path in sorted(named) if not any((at / path).exists() for at in (ROOT, ROOT / "src/bayeswater"))
    ] == []
