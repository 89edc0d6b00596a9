"""`GaussianNB` against fifty digits: moments, densities, Student-t columns, spikes; by references and by loops."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.tables import QUARTERS, Rows, any_weights, draw_cells, tables
from tests.oracles import exact, precise

from bayeswater import GaussianNB, NormalInverseGamma

EPS = np.finfo(np.float64).eps

pytestmark = [
    pytest.mark.usefixtures("kernel"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
]

OFFSETS = st.sampled_from([0.0, 1.0, -1e3, 1e5, -1e6, 1e8])
SCALES = st.sampled_from([1.0, 1e-3, 1e-150, 1e100])
SMOOTHINGS = st.sampled_from([0.0, 1e-9, 0.1])


@st.composite
def problems(draw: Any, *, missing: bool = False) -> tuple[Rows, Any]:
    """Rows to learn from and rows to score, far from zero and of any size."""
    rows = draw(tables(QUARTERS, weights=draw(any_weights()), missing=missing))
    n_columns = rows.X.shape[1]
    offset = np.array(draw(st.lists(OFFSETS, min_size=n_columns, max_size=n_columns)))
    scale = draw(SCALES)
    dtype = draw(st.sampled_from([np.float64, np.float32])) if scale == 1.0 else np.float64
    query = draw_cells(draw, QUARTERS, (2, n_columns), missing=missing)
    X, query = (((cells + offset) * scale).astype(dtype) for cells in (rows.X, query))
    return Rows(X, rows.y, rows.weight), query


def rounding_of_means(ours: exact.Rows) -> list[Fraction]:
    """A few units of the last place of the largest cell of each column: what a mean of such cells may be off by."""
    cells = [[abs(row[j]) for row in ours.X if row[j] is not None] for j in range(ours.n_columns)]
    return [Fraction(4 * EPS) * max(of_column, default=0) for of_column in cells]


def rounding_of_epsilon(ours: exact.Rows, var_smoothing: float) -> Fraction:
    """What the smoothing may be off by: its variance is put together from class means, which are rounded."""
    off = [
        Fraction(1e-12) * m.variance + r * (Fraction(float(m.variance) ** 0.5) + r)
        for m, r in zip(precise.pooled_moments(ours), rounding_of_means(ours), strict=True)
    ]
    return Fraction(var_smoothing) * max(off)


def require_moments(model: GaussianNB, ours: exact.Rows, var_smoothing: float) -> None:
    """Means and variances within 1e-12 of themselves, and what the rounding of a mean makes of them."""
    rounding = rounding_of_means(ours)
    allowed = rounding_of_epsilon(ours, var_smoothing)
    added = precise.epsilon(ours, var_smoothing)
    assert abs(Fraction(model.epsilon_) - added) <= allowed
    for k, of_class in enumerate(precise.class_moments(ours)):
        for j, m in enumerate(of_class):
            if m.weight:
                assert abs(Fraction(model.theta_[k, j]) - m.mean) <= Fraction(1e-12) * abs(m.mean) + rounding[j]
                # Squares around a mean that errs by eps M are too large by its square.
                close = Fraction(1e-12) * m.variance + (rounding[j] ** 2 if m.scatter else 0)
                assert abs(Fraction(model.var_[k, j]) - m.variance - added) <= close + allowed


def require_log_joints(
    model: GaussianNB, query: Any, ours: exact.Rows, expected: Any, var_smoothing: float, priors: Any = None
) -> None:
    """Log-joints within 1e-12 of the size of their terms, and what the last bit of the mean moves them by."""
    found = model.predict_joint_log_proba(query)
    assert not np.isnan(found).any()
    log_proba, proba = model.predict_log_proba(query), model.predict_proba(query)
    means, smoothing = rounding_of_means(ours), rounding_of_epsilon(ours, var_smoothing)
    for i, row in enumerate(exact.table(query)):
        log_joints = expected(row)
        for k, of_class in enumerate(precise.densities(ours, var_smoothing, priors)):
            bound = 1e-12
            for density, x, off in zip(of_class, row, means, strict=True):
                if density and density.variance and x is not None:
                    scale = float(density.variance) ** 0.5
                    z, dz = abs(float(x - density.mean)) / scale, float(off) / scale
                    relative = 1e-12 + float(smoothing / density.variance)
                    bound += relative * (1 + abs(np.log(scale)) + z * z) + dz * (z + dz)
            value = exact.as_float(log_joints[k])
            if np.isinf(value):
                assert found[i, k] == value
            else:
                assert abs(found[i, k] - value) <= bound
        assert np.isfinite(np.max(log_proba[i]))
        assert abs(proba[i].sum() - 1) <= 4 * EPS


@settings(max_examples=30)
@given(problems(), SMOOTHINGS)
def test_moments_are_right_to_twelve_digits_far_from_zero_and_for_float32(problem: Any, var_smoothing: float) -> None:
    rows, _ = problem
    model = GaussianNB(var_smoothing=var_smoothing).fit(**rows.arguments)
    require_moments(model, exact.Rows.of(rows.X, rows.y, rows.weight), var_smoothing)


@settings(max_examples=20)
@given(problems(missing=True), SMOOTHINGS)
def test_moments_of_the_cells_that_are_there_are_right_to_twelve_digits(problem: Any, var_smoothing: float) -> None:
    rows, _ = problem
    model = GaussianNB(var_smoothing=var_smoothing, missing="ignore").fit(**rows.arguments)
    require_moments(model, exact.Rows.of(rows.X, rows.y, rows.weight), var_smoothing)


@settings(max_examples=20)
@given(st.booleans().flatmap(lambda missing: problems(missing=missing)), SMOOTHINGS, st.sampled_from([0.0, 1.0]))
def test_log_joints_are_those_of_fifty_digits(problem: Any, var_smoothing: float, class_alpha: float) -> None:
    rows, query = problem
    model = GaussianNB(var_smoothing=var_smoothing, missing="ignore", class_alpha=class_alpha).fit(**rows.arguments)
    ours = exact.Rows.of(rows.X, rows.y, rows.weight)

    def expected(row: Any) -> Any:
        return precise.log_joints(ours, row, var_smoothing, class_alpha=class_alpha)

    require_log_joints(model, query, ours, expected, var_smoothing)


@settings(max_examples=20)
@given(st.data(), st.sampled_from([0.0, 0.1]))
def test_columns_with_a_prior_are_predicted_by_students_t(data: Any, var_smoothing: float) -> None:
    rows = data.draw(tables(QUARTERS, weights=data.draw(any_weights()), missing=data.draw(st.booleans())))
    query = draw_cells(data.draw, QUARTERS, (2, rows.X.shape[1]))
    positive = st.sampled_from([1e-3, 0.5, 1.0, 20.0])
    prior = NormalInverseGamma(
        mean=data.draw(QUARTERS), strength=data.draw(positive), shape=data.draw(positive), scale=data.draw(positive)
    )
    with_prior = data.draw(st.sets(st.integers(0, rows.X.shape[1] - 1), min_size=1))
    priors = dict.fromkeys(with_prior, prior)
    columns = {j: {"prior": prior} for j in with_prior}
    model = GaussianNB(var_smoothing=var_smoothing, missing="ignore", columns=columns).fit(**rows.arguments)
    ours = exact.Rows.of(rows.X, rows.y, rows.weight)

    def expected(row: Any) -> Any:
        return precise.log_joints(ours, row, var_smoothing, priors=priors)

    require_log_joints(model, query, ours, expected, var_smoothing, priors)


@settings(max_examples=20)
@given(st.data())
def test_classes_that_never_vary_are_the_limit_of_ever_smaller_variances(data: Any) -> None:
    """Few distinct values and no smoothing: most classes and columns are spikes. One class may be given the prior 0."""
    rows = data.draw(tables(st.sampled_from([0.0, 1.0, 1.0, 1e8]), n_rows=(2, 5)))
    query = draw_cells(data.draw, st.sampled_from([0.0, 1.0, 1e8]), (2, rows.X.shape[1]))
    ours = exact.Rows.of(rows.X, rows.y)
    n_classes = len(ours.classes)
    prior = data.draw(st.sampled_from([None, [1.0] + [0.0] * (n_classes - 1), [0.0] * (n_classes - 1) + [1.0]]))
    model = GaussianNB(var_smoothing=0.0, priors=prior).fit(rows.X, rows.y)

    def expected(row: Any) -> Any:
        return precise.log_joints(ours, row, 0.0, class_prior_given=prior)

    require_log_joints(model, query, ours, expected, 0.0)


@pytest.mark.parametrize("offset", [1.0, 1e5, 1e8])
@pytest.mark.parametrize("missing", ["error", "ignore"])
@pytest.mark.parametrize("n_rows", [60_000, 140_000], ids=["one block", "several blocks"])
def test_moments_of_many_rows_keep_twelve_digits(offset: float, missing: str, n_rows: int) -> None:
    """Within a block, stretches of rows are merged relative to its first row: far from zero no digit is lost.

    Blocks are merged by their means, which are rounded to eps M beside a standard deviation of 1.
    """
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((n_rows, 2)) * 2**10) / 2**10 + offset
    y = rng.integers(0, 2, len(X))
    model = GaussianNB(var_smoothing=0.0, missing=missing).fit(X, y)
    rounding = 0.0 if n_rows < 65_536 else 8 * EPS * offset
    for k in range(2):
        cells = (X[y == k] - offset) * 2**10  # whole numbers, whose sums are exact
        n, total, squares = len(cells), cells.sum(axis=0), (cells**2).sum(axis=0)
        variance = [
            float((Fraction(q) - Fraction(t) ** 2 / n) / n / 2**20) for t, q in zip(total, squares, strict=True)
        ]
        np.testing.assert_allclose(model.theta_[k], offset + total / n / 2**10, rtol=1e-12)
        np.testing.assert_allclose(model.var_[k], variance, rtol=1e-12 + rounding)
