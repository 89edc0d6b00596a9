"""Model files of earlier versions load and answer as they did: golden/COMMIT has what the code of COMMIT wrote."""

import json
from pathlib import Path

import pytest
from tests.models.golden.make_golden import LATER, MODELS, answers_of, near

FILES = sorted((Path(__file__).parent / "golden").glob("*/*.bayes"))
VERSIONS = ("93f73a2", "0a503f4")
SEARCHED = ("kdb", "skdb")
"""Models whose concentrations are found by a search. Its last steps go by the last bits of logarithms."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_an_earlier_version_answers_as_it_did(path):
    document = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    told = document["answers"] | document.get("since", {})
    found, tolerance = answers_of(path, document), 1e-9 if path.stem in SEARCHED else 1e-12
    assert found.keys() == told.keys()
    for question, answer in told.items():
        # What a model refused then (null) it may answer now.
        assert answer is None or near(found[question], answer, tolerance), (
            f"{question}: {found[question]} instead of {answer}"
        )


@pytest.mark.parametrize("version", [*VERSIONS, *LATER])
def test_every_kind_of_model_has_a_file(version):
    kinds = LATER.get(version, {*MODELS, "network"})
    assert {path.stem for path in FILES if path.parent.name == version} == {*kinds}
