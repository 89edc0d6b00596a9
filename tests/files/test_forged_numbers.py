"""Every number of a model file is checked for what it must be: what is believed answers with numbers, and never NaN."""

import copy
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.files.hostile import forged, unpacked
from tests.files.hostile_mixed import LABELS, TABLE, mixed_model

from bayeswater import (
    AODE,
    KDB,
    BayesEnsemble,
    DataError,
    GaussianClassifier,
    GaussianNB,
    ModelFileError,
    NormalInverseWishart,
    load,
    save,
)

STATES = pd.DataFrame({"a": list("xyxyyx") * 5, "b": list("uuvvuv") * 5, "n": np.arange(30) % 7 / 2})
CLASSES = LABELS * 5
MODELS: dict[str, tuple[Any, Any]] = {
    "NaiveBayes": (mixed_model(), TABLE),
    "GaussianNB": (GaussianNB().fit(STATES[["n"]], CLASSES), STATES[["n"]]),
    "KDB": (KDB(calibrate=False).fit(STATES, CLASSES), STATES),
}
EXTREME = {"F": [1e308, -1e308, 4.6e18, 1e-300, 0.0], "I": [2**62, 2**63 - 1, -1, 0]}


def other_kind(array: Any) -> Any:
    """The same bytes, read as the other kind of numbers: a mean of 0.25 is 4.6e18 then."""
    return array.view(np.int64 if array.dtype == np.float64 else np.float64)


def forgeries(arrays: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Arrays of a file, one of them forged, by what was done."""
    found = {}
    for name, array in arrays.items():
        if array.dtype == np.uint8:  # words
            continue
        found[f"{name} of the other kind"] = other_kind(array)
        for value in EXTREME[array.dtype.kind.upper()]:
            found[f"{name} all {value}"] = np.full_like(array, value)
            found[f"{name} once {value}"] = one = array.copy()
            one.reshape(-1)[-1] = value
    return {what: {**arrays, what.split()[0]: array} for what, array in found.items()} | {
        "a long class_alpha": dict(arrays)
    }


@pytest.mark.parametrize("kind", MODELS)
def test_a_forged_number_is_refused_or_leads_to_numbers(kind: str, tmp_path: Path) -> None:
    model, X = MODELS[kind]
    path = tmp_path / "model.bayes"
    save(model, path)
    document, arrays = unpacked(path.read_bytes())
    wrong, refused = [], 0
    for what, changed in forgeries(arrays).items():
        said = copy.deepcopy(document)
        if what == "a long class_alpha":
            said["parameters"]["class_alpha"] = 2**70
        path.write_bytes(forged(said, changed))
        try:
            again = load(path)
        except ModelFileError:
            refused += 1
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = again.predict_proba(X), again.predict_log_proba(X)
        if any(np.isnan(answer).any() for answer in answers):
            wrong.append(what)
    assert not wrong
    assert refused > 10


def test_moments_are_no_counts_and_logarithms_have_limits(tmp_path: Path) -> None:
    path = tmp_path / "model.bayes"
    save(mixed_model(), path)
    document, arrays = unpacked(path.read_bytes())
    place = next(name for name in arrays if name.endswith(".mean"))
    for change, words in (
        (lambda mean: mean.astype(np.int64), "mean is of int64, not of float64"),
        (lambda mean: mean * 0 + 4.6e18, "the moments of column 'income' are not those of logarithms"),
    ):
        path.write_bytes(forged(document, {**arrays, place: change(arrays[place])}))
        with pytest.raises(ModelFileError, match=words):
            load(path)


NUMBERS = np.random.default_rng(0).normal(5.0, 1.0, size=(30, 3))
COVARIANCES: list[dict[str, Any]] = [
    *({"covariance": form} for form in ("full", "shared", "diagonal", "shared_diagonal", "spherical")),
    *({"shrinkage": way} for way in ("ledoit_wolf", "oas", 0.2)),
    {"prior": NormalInverseWishart()},
]


@pytest.mark.parametrize("way", COVARIANCES, ids=str)
@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 1.7, 30)], ids=["rows", "weights"])
def test_a_scatter_that_no_rows_have_is_refused_by_the_name_of_its_column(way, weight, tmp_path: Path) -> None:
    path = tmp_path / "model.bayes"
    save(GaussianClassifier(**way).fit(NUMBERS, CLASSES, weight), path)
    document, arrays = unpacked(path.read_bytes())
    for value in (1e-100, 1e-300, 5e-324):
        path.write_bytes(
            forged(document, {**arrays, "columns.scatter": np.full_like(arrays["columns.scatter"], value)})
        )
        with pytest.raises(ModelFileError, match=rf"scatter of column 'x0' is {value:g} .* differ by more"):
            load(path)


def test_labels_of_several_types_are_not_drawn_but_told(tmp_path: Path) -> None:
    path = tmp_path / "model.bayes"
    save(AODE(calibrate=False).fit(STATES, CLASSES), path)
    document, arrays = unpacked(path.read_bytes())
    said = json.loads(json.dumps(document).replace('"x"', "1"))
    path.write_bytes(forged(said, arrays))
    with pytest.raises(DataError, match=r"column 'a' has labels of several types, \[1, 'y'\]"):
        load(path).sample(3, random_state=0)


@pytest.mark.parametrize(
    ("array", "value", "said"),
    [
        ("power", 1e308, "a power"),
        ("temperature", 1e-320, "a temperature"),
        ("0.0.temperature", 1e-308, "the temperature"),
    ],
)
def test_a_pool_has_weights_that_can_be_used(array: str, value: float, said: str, tmp_path: Path) -> None:
    path = tmp_path / "ensemble.bayes"
    save(BayesEnsemble("generative", random_state=0).fit(STATES, CLASSES), path)
    document, arrays = unpacked(path.read_bytes())
    path.write_bytes(forged(document, {**arrays, array: np.full_like(arrays[array], value)}))
    with pytest.raises(ModelFileError, match=said):
        load(path)
