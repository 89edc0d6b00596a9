"""The laws of sums for SPODE, TAN and AODE: merging, forgetting, weights, order of rows and number of threads."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from bayeswater import AODE, SPODE, TAN, threads
from bayeswater.kernels import compiling
from bayeswater.kernels import threads as kernel_threads

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")

PLAN: dict[str, Any] = {
    "kind": "categorical",
    "flag": "bernoulli",
    "age": {"cuts": (18.0, 65.0)},
    "grade": "categorical",
}
CELLS: dict[str, Any] = {
    "kind": st.sampled_from(["low", "mid", "high"]),
    "flag": st.booleans(),
    "age": st.sampled_from([17.0, 18.0, 64.0, 80.0]),
    "grade": st.sampled_from(["a", "b", "c", "d"]),
}
DTYPES: dict[str, Any] = {"kind": object, "flag": "boolean", "age": np.float64, "grade": object}

MODELS = [AODE(columns=PLAN), SPODE("age", columns=PLAN), TAN(columns=PLAN), AODE(columns=PLAN, missing="state")]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)


@st.composite
def labelled_rows(draw: Any, n_rows: tuple[int, int] = (2, 10)) -> tuple[pd.DataFrame, Any]:
    """Draw rows in which any cell may be missing, and their labels."""
    n = draw(st.integers(*n_rows))

    def cells(name: str) -> Any:
        found = draw(st.lists(st.one_of(st.none(), CELLS[name], CELLS[name]), min_size=n, max_size=n))
        return pd.Series(found, dtype=DTYPES[name])

    frame = pd.DataFrame({name: cells(name) for name in PLAN})
    return frame, np.array(draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n)))


def require_same(found: Any, expected: Any, frame: pd.DataFrame) -> None:
    assert found.statistics_ == expected.statistics_
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert (found.predict_joint_log_proba(frame) == expected.predict_joint_log_proba(frame)).all()


@every_model
@settings(max_examples=6)
@given(rows=labelled_rows(), data=st.data())
def test_parts_that_are_merged_or_learned_one_after_the_other_equal_one_fit(model, rows, data):
    frame, labels = rows
    cut = data.draw(st.integers(1, len(labels) - 1))
    whole = clone(model).fit(frame, labels)
    first, second = (clone(model).fit(frame[part], labels[part]) for part in (slice(0, cut), slice(cut, None)))
    require_same(first + second, whole, frame)
    require_same(second + first, whole, frame)
    require_same(first.partial_fit(frame[cut:], labels[cut:]), whole, frame)


@every_model
@settings(max_examples=6)
@given(rows=labelled_rows(), data=st.data())
def test_forgetting_rows_equals_never_having_seen_them(model, rows, data):
    frame, labels = rows
    cut = data.draw(st.integers(1, len(labels) - 1))
    rest = clone(model).fit(frame[:cut], labels[:cut])
    whole = clone(model).fit(frame, labels)
    require_same(whole - clone(model).fit(frame[cut:], labels[cut:]), rest, frame[:cut])
    require_same(whole.forget(frame[cut:], labels[cut:]), rest, frame[:cut])


@every_model
@settings(max_examples=6)
@given(rows=labelled_rows(), data=st.data())
def test_whole_weights_equal_repetition_and_zero_weights_nothing(model, rows, data):
    frame, labels = rows
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(labels), max_size=len(labels))))
    weight[0] = 2
    repeated = np.repeat(np.arange(len(labels)), weight)
    expected = clone(model).fit(frame.iloc[repeated], labels[repeated])
    require_same(clone(model).fit(frame, labels, weight), expected, frame.iloc[repeated])


@every_model
@settings(max_examples=6)
@given(rows=labelled_rows(), data=st.data())
def test_the_order_of_rows_does_not_matter(model, rows, data):
    frame, labels = rows
    order = data.draw(st.permutations(range(len(labels))))
    shuffled = clone(model).fit(frame.iloc[order], labels[order])
    require_same(shuffled, clone(model).fit(frame, labels), frame)


@settings(max_examples=15)
@given(rows=labelled_rows())
def test_the_order_of_columns_does_not_matter_to_aode(rows):
    frame, labels = rows
    turned = frame[frame.columns[::-1]]
    found = AODE(columns=PLAN).fit(turned, labels).predict_joint_log_proba(turned)
    # The same terms, added in another order.
    np.testing.assert_allclose(found, AODE(columns=PLAN).fit(frame, labels).predict_joint_log_proba(frame), rtol=1e-13)


@pytest.mark.parametrize("model", [AODE(), AODE(calibrate=True, select=True), SPODE(), TAN(calibrate=True)], ids=str)
def test_the_number_of_threads_does_not_show(model, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 0)
    monkeypatch.setattr(kernel_threads, "BLOCK_ROWS", 100)
    monkeypatch.setattr("bayeswater.inference.scoring.SCORING_ROWS", 64)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500)
    X = np.where(rng.random((500, 5)) < 0.1, np.nan, rng.normal(size=(500, 5)) + labels[:, None] * rng.random(5))
    weight = rng.choice([0.1, 1 / 3, 1.0, 2.5], 500)
    found = []
    for n in (1, 4):
        with threads(n):
            fitted = clone(model).fit(X, labels, weight)
            found.append((fitted.statistics_, fitted.predict_proba(X), fitted.loo_predict_log_proba(X, labels, weight)))
    assert found[0][0] == found[1][0]
    assert (found[0][1] == found[1][1]).all()
    assert (found[0][2] == found[1][2]).all()
