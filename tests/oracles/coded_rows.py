"""Rows of four columns of states, some cells missing: drawn, fitted, and counted in fractions."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.base import clone
from tests.oracles.exact import log
from tests.oracles.semi_naive import Counted

N_STATES = (2, 3, 2, 3)
N_CLASSES = 3
CLOSE = 1e-12
"""Share of a log-joint that its logarithms and sums may be rounded by."""


@st.composite
def coded_rows(draw: Any, n_rows: tuple[int, int] = (1, 12)) -> tuple[Any, Any, Any]:
    """Draw codes (-1 is missing), labels, and weights that are exact as fractions, or None."""
    n = draw(st.integers(*n_rows))
    codes = np.array([[draw(st.integers(-1, v - 1)) for v in N_STATES] for _ in range(n)])
    labels = np.array(draw(st.lists(st.integers(0, N_CLASSES - 1), min_size=n, max_size=n)))
    weights = draw(st.one_of(st.none(), st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.75]), min_size=n, max_size=n)))
    return codes, labels, None if weights is None else np.array(weights)


def as_frame(codes: Any) -> pd.DataFrame:
    """Codes as declared categories: the domain holds whatever rows are counted."""
    return pd.DataFrame(
        {
            f"c{j}": pd.Categorical.from_codes(codes[:, j], categories=[f"s{code}" for code in range(v)])
            for j, v in enumerate(N_STATES)
        }
    )


def counted(codes: Any, labels: Any, weights: Any, model: Any) -> Counted:
    times = np.ones(len(labels)) if weights is None else weights
    rows = [[None if code < 0 else int(code) for code in row] for row in codes]
    if model.missing == "state":
        rows = [[v if code is None else code for code, v in zip(row, N_STATES, strict=True)] for row in rows]
    return Counted(
        rows,
        labels.tolist(),
        [Fraction(w) for w in times.tolist()],
        [v + (model.missing == "state") for v in N_STATES],
        N_CLASSES,
        Fraction(model.alpha),
        model.smoothing == "laplace",
    )


def fitted(model: Any, codes: Any, labels: Any, weights: Any) -> Any:
    return clone(model).partial_fit(as_frame(codes), labels, classes=list(range(N_CLASSES)), sample_weight=weights)


def require_joint(model: Any, codes: Any, expected: Any) -> None:
    found = model.predict_joint_log_proba(as_frame(codes))
    exact = np.array([[float(log(share)) for share in shares] for shares in expected])
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(exact))
    finite = np.isfinite(exact)
    np.testing.assert_allclose(found[finite], exact[finite], rtol=CLOSE, atol=CLOSE)


def each_left_out(labels: Any, weights: Any) -> Iterator[tuple[int, Any]]:
    """Every row and the weights without it, where any are left: of a row of weight w, w equal ones, one goes."""
    times = np.ones(len(labels)) if weights is None else weights
    for i in range(len(labels)):
        rest = times.copy()
        rest[i] -= min(rest[i], 1.0)
        if rest.any():
            yield i, rest
