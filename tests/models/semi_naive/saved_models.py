"""A table for models that are saved, what a file of them keeps, and what can be changed in one."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.files.hostile import forged, unpacked
from tests.models.same_model import reloaded, require_same_model

from bayeswater import ModelFileError, load, save

N_ROWS = 60

Change = Callable[[Any, Any], Any]
"""A function that changes the document and the arrays of a file."""


def table() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    labels = rng.choice(["ham", "spam"], N_ROWS)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green"], N_ROWS),
            "size": rng.normal(size=N_ROWS) + 2 * (labels == "spam"),
            "flag": rng.random(N_ROWS) < 0.5,
            "grade": pd.Categorical(rng.choice(["a", "b"], N_ROWS), categories=["a", "b", "c"]),
        }
    )
    frame.loc[::7, "size"] = np.nan
    return frame, labels


def require_kept(model: Any, weights: str | None, path: Path) -> None:
    """Fit a model, and hold it against itself out of a file: the same to the bit, and it goes on."""
    frame, labels = table()
    weight = None if weights is None else np.random.default_rng(1).choice([0.25, 1.0, 3.5], N_ROWS)
    model = model.fit(frame, labels, weight)
    found = reloaded(model, path)
    require_same_model(found, model, frame)
    assert vars(found).get("structure_") == vars(model).get("structure_")
    assert found.partial_fit(frame, labels).statistics_ == model.partial_fit(frame, labels).statistics_
    assert (found.loo_predict_log_proba(frame, labels) == model.loo_predict_log_proba(frame, labels)).all()


def require_refused(model: Any, change: Change, words: str, path: Path) -> None:
    """Change the file of a model, and see it refused."""
    save(model.fit(*table()), path)
    document, arrays = copy.deepcopy(unpacked(path.read_bytes()))
    change(document, arrays)
    path.write_bytes(forged(document, arrays))
    with pytest.raises(ModelFileError, match=words):
        load(path)


def field(name: str, value: Any) -> Change:
    return lambda document, arrays: document.update({name: value})


def cell(name: str, place: Any, value: Any) -> Change:
    return lambda document, arrays: arrays[name].__setitem__(place, value)


def array(name: str, change: Callable[[Any], Any]) -> Change:
    return lambda document, arrays: arrays.__setitem__(name, change(arrays.get(name)))
