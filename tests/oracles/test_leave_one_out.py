"""Leave-one-out against its definition: n refits, each without one row, with classes and domains declared.

A row of weight w is w equal rows, of which one is left out: a refit gives it the weight w - min(w, 1).
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from tests.laws.tables import CODES, COUNTS, MARKS, QUARTERS, Rows, any_weights, tables

from bayeswater import (
    BernoulliNB,
    Beta,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    GaussianNB,
    MultinomialNB,
    NormalInverseGamma,
)
from bayeswater.inference import scoring

pytestmark = [
    pytest.mark.usefixtures("kernel"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.PrecisionWarning"),
]

ALPHAS = st.sampled_from([0.0, 1e-12, 0.1, 1.0, 1e6])
CLASSES = [0, 1, 2]


def refit_without(model: Any, rows: Rows, i: int) -> Any:
    """The model that never saw row i, or saw it with one less of its weight."""
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight.astype(np.float64)
    weight[i] -= min(weight[i], 1.0)
    return clone(model).partial_fit(rows.X, rows.y, classes=CLASSES, sample_weight=weight)


def require_leave_one_out_equals_refits(model: Any, rows: Rows, share: float, only: Any = None) -> None:
    """Compare with n refits: `share` of the largest finite log-joint of a row is what rounding may move it by."""
    model = clone(model).partial_fit(rows.X, rows.y, classes=CLASSES, sample_weight=rows.weight)
    found = model.loo_predict_log_proba(rows.X, rows.y, sample_weight=rows.weight)
    assert found.shape == (len(rows), len(CLASSES))
    assert not np.isnan(found).any()
    for i in range(len(rows)) if only is None else only:
        refit = refit_without(model, rows, i)
        row = rows.X[[i]]
        expected, joint = refit.predict_log_proba(row)[0], refit.predict_joint_log_proba(row)[0]
        size = np.abs(joint[np.isfinite(joint)]).max(initial=1.0)
        np.testing.assert_array_equal(np.isneginf(found[i]), np.isneginf(expected))
        possible = np.isfinite(expected)
        np.testing.assert_allclose(found[i][possible], expected[possible], rtol=0, atol=share * size)


@st.composite
def class_priors(draw: Any) -> dict[str, Any]:
    """Parameters of the class prior: counted, smoothed, uniform or given."""
    return draw(
        st.sampled_from(
            [
                {},
                {"class_alpha": 1.0},
                {"class_alpha": 1e-12},
                {"fit_prior": False},
                {"class_prior": [0.2, 0.5, 0.3]},
                {"class_prior": [0.0, 0.5, 0.5]},
            ]
        )
    )


@st.composite
def weighted(draw: Any, cells: Any, *, missing: bool = False) -> Rows:
    """Two rows or more: one must remain."""
    return draw(tables(cells, n_rows=(2, 8), weights=draw(any_weights()), missing=missing))


def maybe_sparse(draw: Any, rows: Rows) -> Rows:
    """The same rows, dense or as CSR."""
    return Rows(sparse.csr_array(rows.X), rows.y, rows.weight) if draw(st.booleans()) else rows


def per_feature(draw: Any, n_columns: int) -> Any:
    """One alpha, or one for each feature."""
    return draw(st.one_of(ALPHAS, st.lists(ALPHAS, min_size=n_columns, max_size=n_columns)))


# Counts less a row are exact or right to a few units of the last place, and a log-joint sums at most 17 terms.
COUNT_SHARE = 1e-13


@settings(max_examples=20)
@given(st.data())
def test_multinomial_leave_one_out_equals_refits(data: Any) -> None:
    rows = data.draw(weighted(COUNTS))
    alpha = per_feature(data.draw, rows.X.shape[1])
    model = MultinomialNB(alpha=alpha, **data.draw(class_priors()))
    require_leave_one_out_equals_refits(model, maybe_sparse(data.draw, rows), COUNT_SHARE)


@settings(max_examples=20)
@given(st.data())
def test_complement_leave_one_out_equals_refits(data: Any) -> None:
    rows = data.draw(weighted(COUNTS))
    model = ComplementNB(alpha=per_feature(data.draw, rows.X.shape[1]), norm=data.draw(st.booleans()))
    require_leave_one_out_equals_refits(model, maybe_sparse(data.draw, rows), COUNT_SHARE)


@settings(max_examples=20)
@given(st.data())
def test_bernoulli_leave_one_out_equals_refits(data: Any) -> None:
    missing = data.draw(st.booleans())
    rows = data.draw(weighted(MARKS, missing=missing))
    j = data.draw(st.integers(0, rows.X.shape[1] - 1))
    columns = data.draw(st.sampled_from([None, {j: {"prior": Beta(2, 8)}}, {j: {"prior": Beta(0, 1e-12)}}]))
    model = BernoulliNB(
        alpha=per_feature(data.draw, rows.X.shape[1]),
        missing="ignore" if missing else "error",
        columns=columns,
        **data.draw(class_priors()),
    )
    # A row is scored as "all absent", plus what the present ones change: terms of log 1e-12 come and go.
    require_leave_one_out_equals_refits(model, rows if missing else maybe_sparse(data.draw, rows), 10 * COUNT_SHARE)


@settings(max_examples=20)
@given(st.data())
def test_categorical_leave_one_out_equals_refits(data: Any) -> None:
    missing = data.draw(st.sampled_from(["error", "ignore", "state"]))
    rows = data.draw(weighted(CODES, missing=missing != "error"))
    j = data.draw(st.integers(0, rows.X.shape[1] - 1))
    prior = data.draw(st.sampled_from([None, Dirichlet([3, 0, 1e-12, 5]), Dirichlet({0: 1}, default=0.5)]))
    model = CategoricalNB(
        alpha=per_feature(data.draw, rows.X.shape[1]),
        min_categories=4,
        missing=missing,
        columns=prior and {j: {"prior": prior}},
        **data.draw(class_priors()),
    )
    require_leave_one_out_equals_refits(model, rows, COUNT_SHARE)


@settings(max_examples=10)
@given(st.data())
def test_categorical_leave_one_out_equals_refits_for_declared_labels(data: Any) -> None:
    pandas = pytest.importorskip("pandas")
    rows = data.draw(weighted(CODES))
    names = [f"column {j}" for j in range(rows.X.shape[1])]
    labels = np.array(["low", "middle", "high", "never"])
    frame = pandas.DataFrame(labels[rows.X], columns=names).astype(pandas.CategoricalDtype(labels[:4]))
    model = clone(CategoricalNB(alpha=data.draw(ALPHAS))).partial_fit(
        frame, rows.y, classes=CLASSES, sample_weight=rows.weight
    )
    by_code = CategoricalNB(alpha=model.alpha, min_categories=4).partial_fit(
        rows.X, rows.y, classes=CLASSES, sample_weight=rows.weight
    )
    # Labels and codes count the same: what holds for codes holds for labels, to the bit.
    np.testing.assert_array_equal(
        model.loo_predict_log_proba(frame, rows.y, rows.weight),
        by_code.loo_predict_log_proba(rows.X, rows.y, rows.weight),
    )


# A scatter less one row loses the digits by which it shrinks. Cells are quarters between -8 and 8 in at most 8 rows of
# weights between 0.1 and 7.75, so it shrinks by less than 1e6; a distance of 64 variances then errs by 1e-16 1e6.
SCATTER_SHARE = 1e-9


@settings(max_examples=30)
@given(st.data())
def test_gaussian_leave_one_out_equals_refits(data: Any) -> None:
    missing = data.draw(st.booleans())
    rows = data.draw(weighted(data.draw(st.sampled_from([QUARTERS, st.sampled_from([0.0, 1.0])])), missing=missing))
    prior = data.draw(class_priors())
    prior = {"priors": prior["class_prior"]} if "class_prior" in prior else {**prior}
    prior.pop("fit_prior", None)
    student = data.draw(st.sets(st.integers(0, rows.X.shape[1] - 1)))
    belief = NormalInverseGamma(mean=1.0, strength=0.5, shape=2.0, scale=3.0)
    model = GaussianNB(
        var_smoothing=data.draw(st.sampled_from([0.0, 1e-9, 0.1])),
        missing="ignore" if missing else "error",
        columns={j: {"prior": belief} for j in student} if data.draw(st.booleans()) else None,
        **prior,
    )
    require_leave_one_out_equals_refits(model, rows, SCATTER_SHARE)


SMALL = {
    "a row alone in its class": [0, 0, 0, 1],
    "two rows in a class": [0, 0, 1, 1],
    "every row alone": [0, 1, 2, 2],
    "one class": [1, 1, 1, 1],
}


WEIGHED = [(False, None), (False, [3, 1, 2, 1]), (False, [0.4, 1.6, 1, 0.3]), (True, [2, 1, 1, 1])]
"""Whether the first column is constant, and the weights of the rows."""
FEW: list[Any] = [
    MultinomialNB(alpha=0.0),
    MultinomialNB(alpha=[0.5, 0.0], fit_prior=False),
    ComplementNB(alpha=0.0),
    ComplementNB(alpha=[0.5, 0.0], norm=True),
    BernoulliNB(alpha=0.0, class_prior=[0.2, 0.3, 0.5]),
    BernoulliNB(alpha=[1e-12, 2.0], class_alpha=1.0),
    CategoricalNB(alpha=0.0, min_categories=5),
    CategoricalNB(columns={0: {"prior": Dirichlet([0, 0, 1, 2, 0])}}, alpha=1e-12, min_categories=5),
    GaussianNB(var_smoothing=0.0),
    GaussianNB(var_smoothing=0.1, priors=[0.2, 0.3, 0.5]),
    GaussianNB(var_smoothing=0.0, columns={0: {"prior": NormalInverseGamma()}}, class_alpha=1.0),
    GaussianNB(columns={0: {"prior": NormalInverseGamma()}, 1: {"prior": NormalInverseGamma()}}),
]


# Every two of model, classes and weights meet; the weights go round by one from model to model.
@pytest.mark.parametrize(("at", "name"), list(product(range(len(FEW)), SMALL)), ids=str)
def test_classes_of_few_rows_are_left_out_exactly(at: int, name: str) -> None:
    model, y = FEW[at], SMALL[name]
    constant, weight = WEIGHED[(at + [*SMALL].index(name)) % len(WEIGHED)]
    X = np.array([[1, 3], [1, 0], [4, 0], [2, 0]])
    X[:, 0] = 2 if constant else X[:, 0]
    rows = Rows(X, np.array(y), None if weight is None else np.array(weight))
    require_leave_one_out_equals_refits(model, rows, 1e-12)


@pytest.mark.parametrize(("var_smoothing", "missing"), [(0.0, True), (1e-9, False), (0.1, True)])
def test_gaussian_leave_one_out_equals_refits_on_many_rows(var_smoothing: float, missing: bool) -> None:
    """Enough rows that the log-normalisers move with epsilon by their series; and one row that makes up most of it."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 5)) * [1.0, 10.0, 0.1, 1.0, 3.0] + [0.0, 100.0, 5.0, -3.0, 0.0]
    X[7, 1] = 1e4
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    rows = Rows(X, rng.integers(0, 3, 300), rng.integers(1, 4, 300))
    model = GaussianNB(var_smoothing=var_smoothing, missing="ignore" if missing else "error")
    # Row 7 is a thousand standard deviations off: its class's scatter shrinks by 1e5 without it, and so do the digits.
    require_leave_one_out_equals_refits(model, rows, 1e-10, only=[0, 1, 2, 7, 100, 299])


@pytest.mark.parametrize(
    "model",
    [
        MultinomialNB(),
        ComplementNB(norm=True),
        BernoulliNB(alpha=0.5),
        CategoricalNB(min_categories=4),
        GaussianNB(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_leave_one_out_equals_refits_by_several_blocks_of_rows(model: Any, weighted: bool) -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, (200, 6)).astype(np.float64 if isinstance(model, GaussianNB) else np.int64)
    weight = rng.choice([0.5, 1.0, 2.5], 200) if weighted else None
    rows = Rows(X, rng.integers(0, 3, 200), weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "SCORING_ROWS", 64)
        require_leave_one_out_equals_refits(model, rows, 1e-12, only=[0, 63, 64, 150, 199])
