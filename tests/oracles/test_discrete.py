"""The four models of counts against exact arithmetic; by the NumPy references and by the loops.

Bounds: a log-probability is the difference of two logarithms of correctly rounded sums, so it carries a few units of
the last place of 1 + |log p|. `size_of_terms` adds these up over a row, and 1e-13 of it (450 units) leaves room for
the order of summation only.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.laws.tables import CODES, COUNTS, MARKS, Rows, any_weights, draw_cells, tables
from tests.oracles import exact

from bayeswater import BernoulliNB, Beta, CategoricalNB, ComplementNB, Dirichlet, MultinomialNB

SHARE = 1e-13

pytestmark = [
    pytest.mark.usefixtures("kernel"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
]

ALPHAS = st.sampled_from([0.0, 1e-300, 1e-12, 1e-10, 1e-3, 0.5, 1.0, 2.5, 1e6])
TF_IDF = st.sampled_from([0.0, 0.0, 0.1, 1 / 3, 0.7071067811865476, 2.5, 1e-3, 40.0])


@st.composite
def problems(draw: Any, cells: Any, *, missing: bool = False) -> tuple[Rows, Any]:
    """Rows to learn from, and rows of the same width to score."""
    rows = draw(tables(cells, weights=draw(any_weights()), missing=missing))
    return rows, draw_cells(draw, cells, (draw(st.integers(1, 3)), rows.X.shape[1]), missing=missing)


def maybe_sparse(draw: Any, X: Any) -> Any:
    """The same cells, dense or as CSR."""
    return sparse.csr_array(X) if draw(st.booleans()) else X


@st.composite
def priors(draw: Any, n_classes: int) -> dict[str, Any]:
    """Parameters of the class prior: counted, smoothed, uniform or given."""
    kind = draw(st.sampled_from(["counted", "smoothed", "uniform", "given"]))
    if kind == "smoothed":
        return {"class_alpha": draw(st.sampled_from([1e-12, 0.5, 1.0, 100.0]))}
    if kind == "uniform":
        return {"fit_prior": False}
    if kind == "given":
        share = draw(st.lists(st.integers(0, 4), min_size=n_classes, max_size=n_classes).filter(any))
        return {"class_prior": np.array(share) / sum(share)}
    return {}


def exact_prior(rows: exact.Rows, setting: dict[str, Any]) -> list[Any]:
    return exact.class_prior(
        rows,
        given=setting.get("class_prior"),
        fit_prior=setting.get("fit_prior", True),
        class_alpha=setting.get("class_alpha", 0),
    )


def require_close(found: Any, expected: Any, bound: Any) -> None:
    """Infinite together, and elsewhere within the bound; NaN is never a result."""
    found, expected = np.asarray(found, dtype=float), np.array([exact.as_float(e) for e in np.ravel(expected)])
    found, bound = np.ravel(found), np.broadcast_to(np.ravel(bound), expected.shape)
    assert not np.isnan(found).any()
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    np.testing.assert_array_equal(np.isposinf(found), np.isposinf(expected))
    finite = np.isfinite(expected)
    assert (np.abs(found[finite] - expected[finite]) <= bound[finite]).all(), (found, expected, bound)


def require_scores(
    model: Any, query: Any, prior: list[Any], factors: list[list[exact.Factors]], extra: Any = 0.0
) -> None:
    """Compare joint, evidence, posterior and label of every row with the exact ones; `factors` are [row][class]."""
    joint, evidence = model.predict_joint_log_proba(query), model.log_evidence(query)
    log_posterior, posterior, label = model.predict_log_proba(query), model.predict_proba(query), model.predict(query)
    for i, of_row in enumerate(factors):
        log_joints = [exact.log_joint(p, f) for p, f in zip(prior, of_row, strict=True)]
        size = np.array([exact.size_of_terms(p, f) for p, f in zip(prior, of_row, strict=True)]) + extra
        require_close(joint[i], log_joints, SHARE * size)
        exact_log_posterior = exact.log_posterior(log_joints, prior)
        bound = SHARE * (1 + size + size.max())  # the normaliser errs as its largest joints do
        require_close(log_posterior[i], exact_log_posterior, bound)
        exact_posterior = np.exp([exact.as_float(value) for value in exact_log_posterior])
        require_close(posterior[i], exact_posterior, (bound + 1e-15) * exact_posterior + 1e-300)
        require_close(evidence[i], exact.log_evidence(log_joints), bound.max())
        chosen = model.classes_.tolist().index(label[i])
        assert exact_posterior[chosen] >= exact_posterior.max() * (1 - 2 * bound.max())


@settings(max_examples=30)
@given(st.data())
def test_multinomial_parameters_and_scores_are_those_of_exact_arithmetic(data: Any) -> None:
    (rows, query) = data.draw(problems(data.draw(st.sampled_from([COUNTS, TF_IDF]))))
    ours = exact.Rows.of(rows.X, rows.y, rows.weight)
    alpha = data.draw(st.one_of(ALPHAS, st.lists(ALPHAS, min_size=ours.n_columns, max_size=ours.n_columns)))
    setting = data.draw(priors(len(ours.classes)))
    model = MultinomialNB(alpha=alpha, **setting).fit(maybe_sparse(data.draw, rows.X), rows.y, rows.weight)

    probability = exact.multinomial(ours, np.broadcast_to(alpha, ours.n_columns).tolist())
    prior = exact_prior(ours, setting)
    require_close(model.class_log_prior_, [exact.log(p) for p in prior], SHARE * 40)
    for found, expected in zip(model.feature_log_prob_, probability, strict=True):
        logs = [exact.log(p) for p in expected]
        require_close(found, logs, [SHARE * (1 + abs(exact.as_float(value))) for value in logs])
    factors = [[exact.count_factors(p, row) for p in probability] for row in exact.table(query)]
    require_scores(model, maybe_sparse(data.draw, query), prior, factors)


@settings(max_examples=20)
@given(problems(COUNTS), st.sampled_from([0.0, 0.5, 1.0]))
def test_multinomial_posteriors_of_whole_counts_are_the_exact_fractions(problem: Any, alpha: float) -> None:
    rows, query = problem
    ours = exact.Rows.of(rows.X, rows.y, rows.weight)
    probability, prior = exact.multinomial(ours, [alpha] * ours.n_columns), exact.class_prior(ours)
    found = MultinomialNB(alpha=alpha).fit(**rows.arguments).predict_proba(query)
    for i, row in enumerate(exact.table(query)):
        factors = [exact.count_factors(p, row) for p in probability]
        joints = [exact.joint(p, f) for p, f in zip(prior, factors, strict=True)]
        expected = np.array([float(p) for p in exact.posterior(joints, prior)])
        # At most 4 cells of at most 4, shares of 1e-3 and more: the terms of a log-joint stay under 200 together.
        np.testing.assert_allclose(found[i], expected, rtol=200 * SHARE, atol=0)


@settings(max_examples=30)
@given(st.data())
def test_complement_weights_and_scores_are_those_of_exact_arithmetic(data: Any) -> None:
    (rows, query) = data.draw(problems(data.draw(st.sampled_from([COUNTS, TF_IDF]))))
    ours = exact.Rows.of(rows.X, rows.y, rows.weight)
    norm = data.draw(st.booleans())
    alpha = data.draw(st.one_of(ALPHAS, st.lists(ALPHAS, min_size=ours.n_columns, max_size=ours.n_columns)))
    model = ComplementNB(alpha=alpha, norm=norm).fit(maybe_sparse(data.draw, rows.X), rows.y, rows.weight)

    weights = exact.complement_weights(ours, np.broadcast_to(alpha, ours.n_columns).tolist(), norm=norm)
    flat = np.array([exact.as_float(w) for of_class in weights for w in of_class])
    require_close(model.feature_log_prob_, flat, SHARE * (1 + np.abs(flat)))
    given = maybe_sparse(data.draw, query)
    joint, log_proba = model.predict_joint_log_proba(given), model.predict_log_proba(given)
    single = [exact.log(p) for p in exact.class_prior(ours)] if len(ours.classes) == 1 else [0] * len(ours.classes)
    for i, row in enumerate(exact.table(query)):
        scores = [s + p for s, p in zip(exact.complement_scores(weights, row), single, strict=True)]
        finite = [[w if w != exact.mpmath.inf else 0 for w in of_class] for of_class in weights]
        size = np.array([sum(float(x) * (1 + abs(float(w))) for x, w in zip(row, f, strict=True)) for f in finite])
        require_close(joint[i], scores, SHARE * size)
        require_close(log_proba[i], exact.log_posterior(scores, []), SHARE * (1 + size + size.max()))


@settings(max_examples=30)
@given(st.data())
def test_bernoulli_parameters_and_scores_are_those_of_exact_arithmetic(data: Any) -> None:
    missing = data.draw(st.booleans())
    (rows, query) = data.draw(problems(MARKS, missing=missing))
    ours = exact.Rows.of(rows.X, rows.y, rows.weight)
    d = ours.n_columns
    alpha = data.draw(st.one_of(ALPHAS, st.lists(ALPHAS, min_size=d, max_size=d)))
    present, absent = np.broadcast_to(alpha, d).tolist(), np.broadcast_to(alpha, d).tolist()
    columns = {}
    if data.draw(st.booleans()):
        j = data.draw(st.integers(0, d - 1))
        present[j], absent[j] = data.draw(ALPHAS), data.draw(ALPHAS)
        columns = {j: {"prior": Beta(present[j], absent[j])}}
    setting = data.draw(priors(len(ours.classes)))
    rule = "ignore" if missing else "error"
    model = BernoulliNB(alpha=alpha, missing=rule, columns=columns, **setting)
    model.fit(rows.X if missing else maybe_sparse(data.draw, rows.X), rows.y, rows.weight)

    probability = exact.bernoulli(ours, present, absent)
    prior = exact_prior(ours, setting)
    for found, of_class in zip(model.feature_log_prob_, probability, strict=True):
        logs = [exact.log(p) for _, p in of_class]
        require_close(found, logs, [SHARE * (1 + abs(exact.as_float(value))) for value in logs])
    # A row is scored as "all absent" plus what the present ones change: absent terms are added and taken away again.
    absent_terms = [sum(1 + abs(float(exact.log(p))) for p, _ in of_class if p) for of_class in probability]
    factors = [[exact.mark_factors(p, row) for p in probability] for row in exact.table(query)]
    given = query if missing else maybe_sparse(data.draw, query)
    require_scores(model, given, prior, factors, extra=2 * np.array(absent_terms))


@settings(max_examples=30)
@given(st.data())
def test_categorical_parameters_and_scores_are_those_of_exact_arithmetic(data: Any) -> None:
    rule = data.draw(st.sampled_from(["error", "ignore", "state"]))
    (rows, query) = data.draw(problems(CODES, missing=rule != "error"))
    ours = exact.Rows.of(rows.X, rows.y, rows.weight)
    d = ours.n_columns
    alpha = data.draw(st.one_of(ALPHAS, st.lists(ALPHAS, min_size=d, max_size=d)))
    by_column = np.broadcast_to(alpha, d).tolist()
    pseudo = [[a] * 4 for a in by_column]
    columns = {}
    if data.draw(st.booleans()):
        j = data.draw(st.integers(0, d - 1))
        pseudo[j] = data.draw(st.lists(ALPHAS, min_size=4, max_size=4))
        columns = {j: {"prior": Dirichlet(dict(enumerate(pseudo[j])))}}
    setting = data.draw(priors(len(ours.classes)))
    model = CategoricalNB(alpha=alpha, min_categories=4, missing=rule, columns=columns, **setting)
    model.fit(**rows.arguments)

    probability = exact.categorical(ours, pseudo, missing_alpha=by_column if rule == "state" else None)
    prior = exact_prior(ours, setting)
    for j, found in enumerate(model.feature_log_prob_):
        logs = [exact.log(p) for of_class in probability for p in of_class[j]]
        require_close(found, logs, [SHARE * (1 + abs(exact.as_float(value))) for value in logs])
    state = rule == "state"
    factors = [[exact.state_factors(p, row, missing_is_state=state) for p in probability] for row in exact.table(query)]
    require_scores(model, query, prior, factors)


@settings(max_examples=12)
@given(st.data())
def test_counts_are_exact_for_any_weights_that_are_sums_of_powers_of_two(data: Any) -> None:
    dyadic = st.integers(1, 2**20).map(lambda n: n / 2**10)
    rows = data.draw(tables(COUNTS, weights=dyadic))
    ours = exact.Rows.of(rows.X, rows.y, rows.weight)
    model = MultinomialNB().fit(**rows.arguments)
    assert model.class_count_.tolist() == [float(n) for n in exact.class_counts(ours)]
    assert model.feature_count_.tolist() == [[float(n) for n in of_class] for of_class in exact.feature_sums(ours)]


@pytest.mark.parametrize("alpha", [1e-10, 1e-12, 1e-300])
def test_absence_keeps_its_digits_where_presence_is_almost_certain(alpha: float) -> None:
    """P(absent) from its own count: 1 - P(present) would be 0, and its logarithm -inf."""
    X = np.ones((10**6, 1), dtype=np.int8)
    X[-1] = 0
    y = (np.arange(10**6) == 10**6 - 1).astype(int)
    model = BernoulliNB(alpha=alpha).fit(X, y)
    expected = exact.log(exact.posterior_mean([0, 10**6 - 1], [alpha, alpha])[0])
    found = model.predict_joint_log_proba([[0]])[0, 0] - model.class_log_prior_[0]
    require_close(found, expected, SHARE * abs(float(expected)))


def test_a_word_of_the_small_class_keeps_its_digits_beside_a_large_one() -> None:
    """The complement of the large class is summed over the others, not left over when the large one is taken away."""
    X = np.array([[1e15, 1e15], [0.1, 0.3]])
    model = ComplementNB(alpha=0.0).fit(X, [0, 1])
    share = exact.posterior_mean([0.1, 0.3], [0, 0])
    expected = [-float(exact.log(p)) for p in share]
    np.testing.assert_allclose(model.feature_log_prob_[0], expected, rtol=SHARE)


@settings(max_examples=30)
@given(st.data())
def test_absence_keeps_its_digits_whatever_the_weights(data: Any) -> None:
    weights = st.sampled_from([1e-100, 1e-8, 0.3, 1.0, 7.7, 1e8, 1e100])
    rows = data.draw(tables(MARKS, n_rows=(2, 10), weights=weights, missing=data.draw(st.booleans())))
    assert rows.weight is not None
    X = rows.X if np.isnan(rows.X).any() else maybe_sparse(data.draw, rows.X)
    cut = data.draw(st.integers(1, len(rows) - 1))
    first, second = (
        BernoulliNB(missing="ignore").fit(X[part], rows.y[part], rows.weight[part])
        for part in (slice(cut), slice(cut, None))
    )
    found = (first + second).statistics_.columns.absent
    for k, label in enumerate((first + second).classes_):
        weight = [exact.fraction(w) for w in np.where(rows.y == label, rows.weight, 0.0)]
        for j, column in enumerate(rows.X.T):
            expected = sum(w for w, x in zip(weight, column, strict=True) if x <= 0)
            np.testing.assert_allclose(found[k, j], float(expected), rtol=1e-11)


def test_a_light_row_without_a_feature_counts_beside_heavy_ones_that_have_it() -> None:
    X, y, weight = np.array([[1], [0], [1], [0]]), [0, 0, 1, 1], [1e8, 1e-8, 1.0, 1e-8]
    model = BernoulliNB(alpha=1e-12).fit(X, y, weight)
    np.testing.assert_allclose(model.predict_proba([[0]]), [[0.5, 0.5]], rtol=1e-8)
    np.testing.assert_allclose(model.forget(X[2:3], y[2:3], weight[2:3]).predict_proba([[0]]), [[0.5, 0.5]], rtol=1e-3)
