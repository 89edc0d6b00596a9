"""Documents and settings for those who build the project name what is there."""

import re
import runpy
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


def test_every_requirement_has_an_oldest_version_to_be_tested_on(capsys):
    runpy.run_path(str(ROOT / "tests/oldest.py"), run_name="__main__")
    names = {line.partition("==")[0] for line in capsys.readouterr().out.splitlines()}
    assert {"numpy", "dask", "uvloop"} <= names  # plain, with an extra, and for some platforms alone
