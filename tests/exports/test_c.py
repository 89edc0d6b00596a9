"""A model as C, compiled, answers as the library does."""

import math
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from tests.exports.exported_models import COSTS, KINDS, OF_TEXT, cells_of, fitted, rows_of

import bayeswater as bw

CC = shutil.which("cc")
STRICT = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Wno-unused-const-variable", "-Werror", "-pedantic"]
FLOATS = ("NaiveBayes, calibrated", "TAN", "AODE", "KDB")

pytestmark = [
    pytest.mark.skipif(CC is None, reason="there is no C compiler"),
    pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning"),
]


def cell(value, name, column):
    """Write a cell as an expression of C."""
    if value is None:
        return "NAN"
    if isinstance(value, pd.Timestamp):
        return repr((value - pd.Timestamp(0)).total_seconds())
    if isinstance(value, str):
        text = "".join(f"\\{byte:03o}" for byte in value.encode())
        return f'{name}_code({column}, "{text}")'
    return repr(float(value))


def caller(name, rows, n_classes, *, decides):
    """Write a function that prints the answers to rows."""
    cells = [", ".join(cell(value, name, j) for j, value in enumerate(row.values())) for row in cells_of(rows)]
    width = rows.shape[1]
    table = ",\n".join(f"{{{one}}}" for one in cells)
    decide = f"{name}_decide(x[i])" if decides else "0"
    return f"""
    void ask_{name}(void);
    void ask_{name}(void) {{
      double x[][{width}] = {{{table}}}, p[{n_classes}];
      for (unsigned i = 0; i < sizeof x / sizeof *x; i++) {{
        int best = {name}_score(x[i], p);
        printf("%d %d", best, {decide});
        for (int k = 0; k < {n_classes}; k++) printf(" %.17g", p[k]);
        puts("");
      }}
    }}
    """


def answers(folder, asked):
    """Compile models, each with a function that asks it, and run all of them."""
    objects = []
    for name, (model, rows, single) in asked.items():
        decides = len(model.classes_) == 3
        path = bw.export(model, folder / f"{name}.c", single=single, loss=COSTS if decides else None)
        assert path.with_suffix(".h").exists()
        (folder / f"ask_{name}.c").write_text(
            f'#include <math.h>\n#include <stdio.h>\n#include "{name}.h"\n'
            + caller(name, rows, len(model.classes_), decides=decides)
        )
        objects += [f"{name}.c", f"ask_{name}.c"]
    calls = "".join(f"ask_{name}(); " for name in asked)
    declared = "".join(f"void ask_{name}(void);\n" for name in asked)
    (folder / "main.c").write_text(f"{declared}int main(void) {{ {calls}return 0; }}\n")
    built = subprocess.run(
        [CC, *STRICT, *objects, "main.c", "-lm", "-o", "ask"], cwd=folder, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr[:3000]
    done = subprocess.run(["./ask"], cwd=folder, capture_output=True, text=True, check=True)
    lines = iter(done.stdout.splitlines())
    return {name: np.array([next(lines).split() for _ in range(len(asked[name][1]))], dtype=float) for name in asked}


def test_compiled_models_answer_as_they_do(tmp_path):
    kinds = {f"m{i}": (kind, False) for i, kind in enumerate(KINDS) if kind not in OF_TEXT}
    kinds |= {f"single{i}": (kind, True) for i, kind in enumerate(FLOATS)}
    asked = {name: (fitted(kind), rows_of(kind), single) for name, (kind, single) in kinds.items()}
    found = answers(tmp_path, asked)
    for name, (kind, single) in kinds.items():
        model, rows = fitted(kind), rows_of(kind)
        bound = 1e-5 if single else 1e-12
        assert_allclose(found[name][:, 2:], model.predict_proba(rows), rtol=0, atol=bound, err_msg=kind)
        assert (model.classes_[found[name][:, 0].astype(int)] == model.predict(rows)).all(), kind
        if len(model.classes_) == 3 and not single:
            actions = np.array([*map(str, model.classes_), "3"])[found[name][:, 1].astype(int)]
            assert (actions == model.decide(rows, loss=COSTS).astype(str)).all(), kind


def test_a_row_that_the_model_refuses_has_no_class(tmp_path):
    rows = rows_of("GaussianNB")[:2].copy()
    rows.iloc[0, 0] = math.nan
    found = answers(tmp_path, {"normal": (fitted("GaussianNB"), rows, False)})["normal"]
    assert found[:, 0].tolist()[0] == -1
    assert found[1, 0] >= 0


def test_words_are_refused_in_c():
    with pytest.raises(bw.ParameterError, match="'line' holds words"):
        bw.export(fitted("NaiveBayes, words"), "c")
