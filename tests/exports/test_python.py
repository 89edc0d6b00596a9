"""A model as a Python file answers as the library does, with holes and unseen cells, without site-packages."""

import json
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.exports.exported_models import COSTS, KINDS, cells_of, fitted, rows_of

import bayeswater as bw


def answers(text, rows):
    """Run a file with no package but the standard library."""
    lines = "\n".join(json.dumps(row, default=str) for row in cells_of(rows))
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", text], input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:categories that were never counted", "ignore:column")
def test_a_python_file_answers_as_the_model(kind):
    model, rows = fitted(kind), rows_of(kind)
    loss = COSTS if len(model.classes_) == 3 else None
    found = answers(bw.export(model, "python", loss=loss), rows)
    proba = model.predict_proba(rows)
    assert_allclose([list(answer["probability"].values()) for answer in found], proba, rtol=0, atol=1e-12)
    best = np.sort(proba, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-12
    assert [answer["prediction"] for answer in found] == model.predict(rows).tolist() or not clear.all()
    if loss is not None:
        risks = proba @ np.array(COSTS).T
        told = [f"{answer['action']}" for answer in found]
        clear = np.diff(np.sort(risks, axis=1)[:, :2], axis=1)[:, 0] > 1e-12
        assert (np.array(told) == model.decide(rows, loss=COSTS).astype(str))[clear].all()
        regrets = proba @ (np.array(COSTS) - np.min(COSTS, axis=0)).T
        assert_allclose([list(answer["risk"].values()) for answer in found], regrets, rtol=0, atol=1e-10)
        assert {*map(str, found[0]["risk"])} >= {*told}


def test_rows_that_the_model_refuses_are_refused_with_the_reason():
    text = bw.export(fitted("GaussianNB"), "python")
    (answer,) = answers(text, rows_of("GaussianNB")[:1].assign(normal=None))
    assert "'normal' is missing" in answer["refused"]


def test_a_line_that_is_no_json_is_refused_and_the_next_one_answered():
    text = bw.export(fitted("GaussianNB"), "python")
    row = json.dumps(cells_of(rows_of("GaussianNB")[:1])[0], default=str)
    command = [sys.executable, "-S", "-I", "-c", text]
    done = subprocess.run(command, input=f"broken\n\n{row}\n", capture_output=True, text=True, check=True)
    refused, answered = map(json.loads, done.stdout.splitlines())
    assert "no JSON" in refused["refused"] and "prediction" in answered
