"""Rows are looked at while they are scored: a cell that cannot be used is refused by name, wherever it stands."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import BernoulliNB, ComplementNB, DataError, GaussianNB, MultinomialNB
from bayeswater.errors import ImpossibleEvidenceWarning
from bayeswater.inference.scoring import SCORING_ROWS

N_ROWS = SCORING_ROWS + 9  # of two blocks
ROW = N_ROWS - 3
LAYOUTS = {
    "by row": np.ascontiguousarray,
    "by column": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "pandas": lambda X: pd.DataFrame(X, columns=["x0", "x1", "x2"]),
}
BAD = [
    *((model, value) for model in (GaussianNB, MultinomialNB, ComplementNB) for value in (np.nan, np.inf, -np.inf)),
    *((model, -1.0) for model in (MultinomialNB, ComplementNB)),
    *((BernoulliNB, value) for value in (np.nan, np.inf)),
]
METHODS = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"]


def rows():
    return np.random.default_rng(0).integers(0, 4, size=(N_ROWS, 3)).astype(np.float32)


def fitted(model):
    learned = pd.DataFrame(rows()[:40], columns=["x0", "x1", "x2"])
    return model.fit(learned, np.arange(40) % 2)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("model", "value"), BAD)
def test_a_cell_that_cannot_be_used_is_refused_by_name_in_the_last_block_too(model, value, layout):
    X = rows()
    X[ROW, 1] = value
    asked = fitted(model())
    for method in METHODS:
        with pytest.raises(DataError, match=f"in row {ROW}, column 'x1'"):
            getattr(asked, method)(LAYOUTS[layout](X))


@pytest.mark.parametrize("column", [0, 1])
def test_it_is_refused_where_a_class_has_no_spread_too(column):
    asked = GaussianNB(var_smoothing=0).fit([[1.0, 0.0], [1.0, 1.0], [2.0, 5.0], [3.0, 7.0]], [0, 0, 1, 1])
    X = np.ones((3, 2))
    X[1, column] = np.nan
    with pytest.raises(DataError, match=f"in row 1, column 'x{column}'"):
        asked.predict(X)


def test_finite_rows_that_are_too_far_from_every_class_are_answered():
    X = rows().astype(float)
    X[ROW] = 1e300
    with pytest.warns(ImpossibleEvidenceWarning, match="1 of"):
        probability = fitted(GaussianNB()).predict_proba(pd.DataFrame(X, columns=["x0", "x1", "x2"]))
    np.testing.assert_allclose(probability[ROW], 0.5, rtol=1e-12)


@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB])
def test_a_zero_with_a_sign_is_a_zero(model):
    X = rows()
    asked = model().fit(X[:40], np.arange(40) % 2)
    signed = np.where(X == 0, np.float32(-0.0), X)
    np.testing.assert_array_equal(asked.predict_proba(signed), asked.predict_proba(X))


def test_an_infinite_cell_among_missing_ones_is_refused():
    X = rows()
    X[5, 2] = np.nan
    asked = GaussianNB(missing="ignore").fit(X[:40], np.arange(40) % 2)
    assert np.isfinite(asked.predict_proba(X)).all()
    X[ROW, 1] = np.inf
    with pytest.raises(DataError, match=f"in row {ROW}, column 'x1'"):
        asked.predict(X)
