"""A model as an ONNX graph answers as the library does, in onnxruntime."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from tests.exports.exported_models import COSTS, KINDS, OF_TEXT, cells_of, fitted, rows_of

import bayeswater as bw

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")


def answers(model, rows, loss=None):
    """Run a graph on rows."""
    content = bw.export(model, "onnx", loss=loss, whole_rows=True)
    onnx.checker.check_model(onnx.load_from_string(content))
    session = onnxruntime.InferenceSession(content)
    cells, feeds = cells_of(rows), {}
    for given in session.get_inputs():
        column = [row[given.name] for row in cells]
        if given.type == "tensor(string)":
            feeds[given.name] = np.array([["" if v is None else v] for v in column], dtype=object)
        else:
            seconds = [(v - pd.Timestamp(0)).total_seconds() if isinstance(v, pd.Timestamp) else v for v in column]
            feeds[given.name] = np.array([[np.nan if v is None else v] for v in seconds], dtype=np.float64)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in OF_TEXT])
def test_a_graph_answers_as_the_model(kind):
    model, rows = fitted(kind), rows_of(kind)
    loss = COSTS if len(model.classes_) == 3 else None
    found = answers(model, rows, loss)
    refused = np.isnan(found["probabilities"]).any(axis=1)
    assert kind in ("KDB", "SKDB", "KDB, pairs") or not refused.any()  # which sum over missing parents
    assert refused.sum() < len(rows) / 2
    assert_allclose(found["probabilities"][~refused], model.predict_proba(rows)[~refused], rtol=0, atol=1e-12)
    assert (found["label"].astype(str) == model.predict(rows).astype(str))[~refused].all()
    assert set(found["label"][refused]) <= {"", np.iinfo(np.int64).min}
    if loss is not None:
        assert (found["action"].astype(str) == model.decide(rows, loss=COSTS).astype(str))[~refused].all()


def test_what_a_graph_cannot_hold_or_answer_is_refused():
    rows = rows_of("GaussianNB")[:3].copy()
    rows.iloc[0, 0], rows.iloc[1, 1] = np.nan, np.inf
    found = answers(fitted("GaussianNB"), rows)
    assert np.isnan(found["probabilities"]).all(axis=1).tolist() == [True, True, False]
    assert found["label"].tolist()[:2] == ["", ""]
    with pytest.raises(bw.ParameterError, match="'line' holds words"):
        bw.export(fitted("NaiveBayes, words"), "onnx")
    states = pd.DataFrame({"s": ["", "a"] * 10})
    with pytest.raises(bw.ParameterError, match="state '', which stands for a missing cell"):
        bw.export(bw.NaiveBayes().fit(states, [0, 1] * 10), "onnx")
    with pytest.raises(bw.ParameterError, match="no input of ONNX"):
        bw.export(bw.GaussianNB().fit(pd.DataFrame({"": [1.0, 2.0]}), [0, 1]), "onnx")
