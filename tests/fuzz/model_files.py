"""Damaged and forged model files: refused by name, or a model that can be used; never another one unnoticed."""

import copy
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.files.hostile import forged, packed, split, unpacked
from tests.files.hostile_mixed import COUNTS, LABELS, TABLE, mixed_model, sparse_model
from tests.fuzz.judging import Refused, asked, noted, ours
from tests.fuzz.soundness import first_rows
from tests.models.mixed_rows import mixed_frame, mixed_labels, number_rows

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesEnsemble,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianClassifier,
    GaussianNB,
    ModelFileError,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
    load,
    save,
)

Rng = np.random.Generator
NUMBERS = [
    0,
    -1,
    1,
    2,
    7,
    255,
    2**31,
    2**53 + 1,
    2**62,
    -(2**63),
    0.5,
    -0.0,
    5e-324,
    1e-308,
    1e308,
    -1e308,
    1e16,
    1 / 3,
]
VALUES: list[Any] = [*NUMBERS, None, True, False, "", "x", "nan", "x0", "\0", "蓝", [], {}, [0], ["a", "b"], {"a": 1}]
VALUES += [{"tuple": []}, {"float": "nan"}, {"float": "inf"}, [[[]]], "1e999", 10**400]
COUNTED = np.array([[0, 1], [1, 3], [2, 0], [3, 3], [1, 1]])


@cache
def good_files() -> dict[str, tuple[bytes, Any]]:
    """Saved models of every kind, each with rows that it can be asked about."""
    with ours():
        return _saved_models()


def _saved_models() -> dict[str, tuple[bytes, Any]]:
    X, y = COUNTED, ["ham", "ham", "spam", "spam", "spam"]
    frame, labels = mixed_frame("arrow"), mixed_labels()
    models = {kind.__name__: (kind().fit(X, y), X) for kind in (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB)}
    models["CategoricalNB"] = CategoricalNB(missing="state").fit(X, y), X
    models["NaiveBayes"] = mixed_model(), TABLE
    models["sparse NaiveBayes"] = sparse_model(), COUNTS
    models["NaiveBayes of more rows"] = NaiveBayes().fit(frame, labels), frame
    for form in ("full", "shared", "diagonal"):
        numbers = number_rows()
        models[f"GaussianClassifier {form}"] = GaussianClassifier(covariance=form).fit(numbers, labels), numbers
    narrow = frame.select(["colour", "level", "truth", "height", "visits"])
    for kind in (SPODE, TAN, AODE, A2DE, KDB, SKDB, NetworkClassifier):
        models[kind.__name__] = kind().fit(narrow, labels), narrow
    few = TABLE.select(["colour", "height"])
    models["BayesEnsemble"] = BayesEnsemble("generative", random_state=0).fit(few, LABELS), few
    models["BayesianNetwork"] = models["TAN"][0].to_network(), narrow.slice(0, 5)
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (model, rows) in models.items():
            save(model, Path(folder) / "model.bayes")
            files[name] = (Path(folder) / "model.bayes").read_bytes(), rows
    return files


def case(seed: int) -> None:
    rng = np.random.default_rng(seed)
    files = good_files()
    name = list(files)[rng.integers(len(files))]
    content, rows = files[name]
    change = (damage, forge, forge)[rng.integers(3)]
    changed = change(rng, content)
    with tempfile.TemporaryDirectory() as folder, noted(f"{name}, {change.__name__}"):
        path = Path(folder) / "changed.bayes"
        path.write_bytes(changed)
        try:
            with ours():
                model = load(path)
        except Refused as refusal:
            assert isinstance(refusal.__cause__, ModelFileError), f"refused with {refusal.__cause__!r}"
            assert "changed.bayes" in str(refusal), "the file is not named"
            assert len(str(refusal)) < 2000, "a long refusal"
            return
        save(model, path)
        if change is damage:
            assert path.read_bytes() == content, "a damaged file was read as another model"
        else:
            require_usable(model, load(path), rows)


# ---------------------------------------------------------------------- changes


def damage(rng: Rng, content: bytes) -> bytes:
    """Bytes changed, cut, doubled or swapped, as by a disk or a mail program; the fingerprint stays as it was."""
    found = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at, length = int(rng.integers(len(found))), int(rng.choice([1, 2, 8, 64]))
        match rng.integers(7):
            case 0:
                found[at] ^= 1 << int(rng.integers(8))
            case 1:
                found[at : at + length] = rng.bytes(length)
            case 2:
                del found[at:]
            case 3:
                del found[at : at + length]
            case 4:
                found[at:at] = found[at : at + length]
            case 5:
                found[at : at + length] = bytes(length)
            case 6:
                header, data = split(content)
                document = json.loads(header["__metadata__"]["bayeswater"])
                swap_value(rng, document)
                header["__metadata__"]["bayeswater"] = json.dumps(document)
                found = bytearray(packed(header, data))
        if not found:
            break
    return bytes(found)


def forge(rng: Rng, content: bytes) -> bytes:
    """Values and arrays changed, with a fingerprint that is right."""
    document, arrays = copy.deepcopy(unpacked(content))
    for _ in range(rng.integers(1, 3)):
        if arrays and rng.random() < 0.6:
            name = sorted(arrays)[rng.integers(len(arrays))]
            arrays[name] = changed_array(rng, arrays[name])
        else:
            swap_value(rng, document)
    return forged(document, arrays)


def swap_value(rng: Rng, document: Any) -> None:
    """Replace a value anywhere in a document, or swap two of a list."""
    holder, key = draw_place(rng, document)
    if isinstance(holder, list) and len(holder) > 1 and rng.random() < 0.2:
        other = int(rng.integers(len(holder)))
        holder[key], holder[other] = holder[other], holder[key]
    elif rng.random() < 0.1:
        del holder[key]
    else:
        holder[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])


def draw_place(rng: Rng, document: Any) -> tuple[Any, Any]:
    """Somewhere in a document: deep places are as likely as others, however many there are at each depth."""
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    key = keys[rng.integers(len(keys))]
    inner = document[key]
    if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
        return draw_place(rng, inner)
    return document, key


def changed_array(rng: Rng, array: Any) -> Any:
    """Some numbers of an array changed, or its shape or dtype."""
    array = array.copy()
    match rng.integers(6):
        case 0 if array.size > 1:
            return array.reshape(-1)[: int(rng.integers(1, array.size))]
        case 1:
            return array[None] if rng.random() < 0.5 else array.reshape(-1)
        case 2:
            with np.errstate(invalid="ignore", over="ignore"):
                return array.astype(rng.choice(["<i8", "<f8", "|u1"]))
        case 3:
            return np.concatenate([array, array], axis=int(rng.integers(array.ndim)))
        case 4:
            return array.T.copy() if array.ndim > 1 else array[::-1].copy()
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(array.size))
        with np.errstate(invalid="ignore", over="ignore"):
            if array.dtype.kind == "f":
                special = [np.nan, np.inf, -np.inf, *NUMBERS, array.flat[place] * (1 + 1e-15), -array.flat[place]]
                array.flat[place] = special[rng.integers(len(special))]
            else:
                limits = np.iinfo(array.dtype)
                near = int(array.flat[place]) + int(rng.integers(-2, 3))
                drawn = [near, limits.max, limits.min, 0, 1, 2**40][rng.integers(6)]
                array.flat[place] = min(max(drawn, limits.min), limits.max)
    return array


# ---------------------------------------------------------------------- use


def require_usable(model: Any, again: Any, rows: Any) -> None:
    """What was believed answers with finite numbers, the same after another saving."""
    ask = model.predict_proba if hasattr(model, "predict_proba") else lambda X: model.log_probability(X)
    same = again.predict_proba if hasattr(again, "predict_proba") else lambda X: again.log_probability(X)
    found, other = asked(lambda: ask(rows)), asked(lambda: same(rows))
    if found is not None:
        assert not np.isnan(found).any(), "an answer is NaN"
        np.testing.assert_array_equal(found, other, err_msg="saved again, it answers otherwise")
    if hasattr(model, "predict_proba") and found is not None:
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
        for call in (model.predict, model.predict_log_proba, model.decide):
            answer = asked(lambda call=call: call(rows))
            assert answer is None or answer.dtype.kind != "f" or not np.isnan(answer).any(), (
                f"{call.__name__} gives NaN"
            )
    for name in ("explain", "tables", "sample", "log_evidence"):
        if hasattr(model, name):
            asked(lambda name=name: used(model, name, rows))


def used(model: Any, name: str, rows: Any) -> None:
    """Ask for reasons, tables, samples and evidence."""
    match name:
        case "explain":
            for explanation in model.explain(first_rows(rows, 5)):
                assert "+nan" not in str(explanation)
                json.dumps(explanation.to_dict(), allow_nan=False)
        case "tables":
            model.tables()
        case "sample":
            model.sample(3, random_state=0)
        case "log_evidence":
            evidence = model.log_evidence(rows)
            assert not np.isnan(evidence).any(), "the evidence is NaN"
