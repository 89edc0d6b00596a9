"""A model as a JavaScript module answers as the library does, in node."""

import json
import shutil
import subprocess

import pytest
from numpy.testing import assert_allclose
from tests.exports.exported_models import COSTS, KINDS, cells_of, fitted, rows_of

import bayeswater as bw

NODE = shutil.which("node")
ASK = """
import { readFileSync } from "node:fs";
for (const [path, rows] of JSON.parse(readFileSync(0, "utf-8"))) {
  const { model } = await import(path);
  const told = rows.map((row) => {
    try {
      return [model.predictProba(row), model.predict(row), model.decision && model.decide(row)];
    } catch (error) { return error.message; }
  });
  console.log(JSON.stringify(told));
}
"""


def ask(modules):
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", ASK], input=json.dumps(modules, default=str), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")
def test_modules_answer_as_the_models(tmp_path):
    modules = []
    for number, kind in enumerate(KINDS):
        model = fitted(kind)
        path = tmp_path / f"m{number}.mjs"
        bw.export(model, path, loss=COSTS if len(model.classes_) == 3 else None)
        modules.append((str(path), cells_of(rows_of(kind))))
    for kind, answers in zip(KINDS, ask(modules), strict=True):
        model, rows = fitted(kind), rows_of(kind)
        assert_allclose([a[0] for a in answers], model.predict_proba(rows), rtol=0, atol=1e-12, err_msg=kind)
        assert [a[1] for a in answers] == model.predict(rows).tolist(), kind
        if len(model.classes_) == 3:
            assert [str(a[2]) for a in answers] == model.decide(rows, loss=COSTS).astype(str).tolist(), kind
