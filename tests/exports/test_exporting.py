"""`export` as it is called: by paths and kinds, by the command, and what it refuses."""

import os
from copy import copy
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.exports.exported_models import COSTS, fitted, table

import bayeswater as bw
from bayeswater.cli.main import main
from bayeswater.exports.exporting import TARGETS
from bayeswater.exports.forming import form_of

TABLES = Path(os.environ.get("BAYESWATER_DATA", "data")) / "tabular"


def test_the_ending_of_a_path_says_what_is_written(tmp_path):
    for kind, target in TARGETS.items():
        for ending in target.endings:
            path = bw.export(fitted("SPODE"), tmp_path / f"model{ending}")
            assert path.stat().st_size > 1000, kind
        assert len(bw.export(fitted("SPODE"), kind)) > 1000
    assert (tmp_path / "model.h").exists()


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"target": "model.exe"}, "ends in one of"),
        ({"target": "python", "dialect": "sqlite"}, "dialect='sqlite' has no meaning for python"),
        ({"target": "sql", "dialect": "oracle"}, "dialect is 'oracle'; it can be one of"),
        ({"target": "html", "lang": "fr"}, "lang is 'fr'"),
        ({"target": "sql", "single": True}, "single=True has no meaning for sql"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(asked, match):
    with pytest.raises(bw.ParameterError, match=match):
        bw.export(fitted("SPODE"), **asked)


def test_what_cannot_be_exported_is_refused_with_its_reason():
    X, y = table()
    states = X[["flag", "level"]]
    with pytest.raises(bw.ParameterError, match="by SuperPairs cannot be exported"):
        bw.export(bw.A2DE().fit(states, y), "python")
    with pytest.raises(bw.ParameterError, match="BayesianNetwork cannot be exported"):
        bw.export(fitted("TAN").to_network(), "python")
    labels = fitted("SPODE").classes_.tolist()
    by_row = bw.Loss.from_costs({(a, b): "normal" if a != b else 0 for a in labels for b in labels})
    with pytest.raises(bw.ParameterError, match="differ from row to row"):
        bw.export(fitted("SPODE"), "python", loss=by_row)
    with pytest.raises(bw.ParameterError, match="variance 0 in a class"):
        bw.export(bw.GaussianNB(var_smoothing=0.0).fit([[1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]), "python")
    with pytest.raises(bw.ParameterError, match="hashed"):
        analyser = bw.TextAnalyser(n_hash=16)
        text = X.assign(line="to be or not")[["line"]]
        bw.export(bw.NaiveBayes(columns={"line": {"family": "text", "analyser": analyser}}).fit(text, y), "python")


@pytest.mark.parametrize("target", ["c", "javascript", "html", "python", "onnx", "sql"])
def test_a_model_that_uses_no_column_is_exported(target):
    if target == "onnx":
        pytest.importorskip("onnx")
    X, y = table()
    model = bw.SKDB().fit(X[["level"]], np.full(len(y), "a"))
    assert bw.export(model, target)
    if target == "python":
        scope = {"__name__": "one"}
        exec(bw.export(model, target), scope)
        assert scope["MODEL"].predict_proba({"level": 2}) == [1.0]


def test_actions_beside_truths_are_texts():
    model = bw.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [False, False, True, True])
    scope = {"__name__": "truths"}
    exec(bw.export(model, "python", loss=[[0, 9], [9, 0], [1, 1]]), scope)
    assert scope["MODEL"].decide({"x0": 0.5}) == "False"
    assert scope["MODEL"].decide({"x0": 2.5}) == str(model.decide([[2.5]], loss=[[0, 9], [9, 0], [1, 1]])[0])


def test_a_model_is_exported_by_the_command(tmp_path, capsys):
    bw.save(fitted("TAN"), tmp_path / "tan.bayes")
    (tmp_path / "costs.csv").write_text('action \\ truth,a,"b""\'",c;--\na,0,1,1\n"b""\'",1,0,1\nc;--,1,1,0\n')
    asked = [str(tmp_path / "tan.bayes"), str(tmp_path / "tan.sql"), "--dialect", "sqlite", "--loss"]
    assert main(["export", *asked, str(tmp_path / "costs.csv")]) == 0
    assert "wrote" in capsys.readouterr().err
    assert '"action"' in (tmp_path / "tan.sql").read_text()
    assert main(["export", str(tmp_path / "tan.bayes"), str(tmp_path / "tan.c"), "--float"]) == 0
    assert "typedef float real" in (tmp_path / "tan.c").read_text()
    assert main(["export", str(tmp_path / "tan.bayes"), str(tmp_path / "tan.txt")]) == 2


def test_a_form_tells_its_size():
    form = form_of(fitted("SPODE"), COSTS)
    assert form.n_numbers == sum(table.size for table in form.terms[0].tables)
    assert "5 columns, 3 classes" in form.size()


@pytest.mark.skipif(not TABLES.exists(), reason="the public tables are not here (BAYESWATER_DATA says where)")
@pytest.mark.parametrize("name", ["heart-c", "vote"])
@pytest.mark.filterwarnings("ignore")
def test_public_tables_are_answered_alike(name, tmp_path):
    from benchmarks.exports import MODELS, by_duckdb, by_onnx, by_python, table_of, used

    for kind in ("NaiveBayes", "TAN"):
        frame, y, asked = table_of(name, kind)
        model = MODELS[kind]().fit(frame, y)
        want = model.predict_proba(asked)
        for answers in (by_python, by_duckdb, by_onnx):
            found = np.array(answers(model, used(model, asked), tmp_path), dtype=float)
            assert_allclose(found, want, rtol=0, atol=1e-12, err_msg=f"{name} {kind} {answers.__name__}")


@pytest.mark.parametrize("kind", ["KDB", "GaussianClassifier"])
@pytest.mark.parametrize("target", ["sql", "onnx"])
def test_what_would_have_to_be_summed_over_is_refused_before_a_row_is_asked(kind, target):
    if target == "onnx":
        pytest.importorskip("onnx")
    model = fitted(kind)
    with pytest.raises(bw.ParameterError, match=r"sums over its possible values.*whole_rows=True"):
        bw.export(model, target)
    refusing = copy(model).set_params(missing="error")
    if kind != "GaussianClassifier":
        refusing.set_params(unseen="error")
    assert bw.export(refusing, target)  # which refuses such rows itself
