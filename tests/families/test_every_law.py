"""What every law keeps: sums merge and come apart, rows are left out, models are stored, drawn from and explained."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ks_2samp, kstest, norm, t

from bayeswater import NaiveBayes, NormalInverseGamma, ParameterError, load, save
from bayeswater.exports.form import document
from bayeswater.exports.forming import form_of
from bayeswater.exports.scorer import Scorer
from bayeswater.families.registry import FAMILIES, LAWS, OpenNumbers, families_of, law_of

RNG = np.random.default_rng(0)
N = 90
Y = np.array(["a", "b", "c"])[np.arange(N) % 3]
SHIFT = np.arange(N) % 3
CELLS = {
    "categorical": RNG.choice(list("uvw"), N),
    "bernoulli": RNG.random(N) < 0.2 + 0.2 * SHIFT,
    "gaussian": RNG.normal(size=N) + SHIFT,
    "lognormal": np.exp(RNG.normal(size=N) + SHIFT),
    "poisson": RNG.poisson(2 + SHIFT),
    "negative_binomial": RNG.negative_binomial(1, 1 / (3 + SHIFT)),
    "beta": RNG.beta(2 + SHIFT, 3),
    "binned": RNG.normal(size=N) ** 3 + SHIFT,
    "von_mises": RNG.vonmises(SHIFT, 2) % (2 * np.pi),
    "multinomial": [" ".join(RNG.choice(["red", "green", "blue", "it"], 4)) for _ in range(N)],
    "complement": [" ".join(RNG.choice(["red", "green", "blue", "it"], 4)) for _ in range(N)],
    "marks": [" ".join(RNG.choice(["red", "green", "blue", "it"], 4)) for _ in range(N)],
}
SAID = {"von_mises": {"period": 2 * np.pi}, "binned": {"cuts": [-1.0, 0.0, 1.0, 2.0]}}


def frame_of(family):
    cells = pd.Series(CELLS[family])
    cells = cells.astype("boolean") if family == "bernoulli" else cells
    return pd.DataFrame({"x": cells.where(np.arange(N) != 5), "other": np.tile(list("pqr"), N // 3)})


def model_of(family, **parameters):
    return NaiveBayes(columns={"x": SAID.get(family, family), "other": "categorical"}, **parameters)


def test_every_family_has_cells_here_and_a_law_of_its_own():
    assert set(CELLS) == set(FAMILIES)
    keys = [law.key for law in LAWS]
    assert len(keys) == len(set(keys))
    assert all(law_of(family).families.count(family) == 1 for family in FAMILIES)


@pytest.mark.parametrize("place", ["src/bayeswater/cli/options.py", "docs/naive_bayes.md", "docs/zh/naive_bayes.md"])
def test_every_family_is_named_where_a_user_looks_for_it(place):
    text = (Path(__file__).parents[2] / place).read_text(encoding="utf-8")
    assert not [family for family in FAMILIES if family not in text]


@pytest.mark.parametrize("family", FAMILIES)
def test_sums_merge_and_come_apart(family):
    X = frame_of(family)
    whole = model_of(family).fit(X, Y)
    halves = model_of(family).fit(X[:45], Y[:45])
    other = NaiveBayes(columns=halves.columns_).fit(X[45:], Y[45:])
    assert_allclose((halves + other).predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert_allclose(halves.partial_fit(X[45:], Y[45:]).predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12)
    halves.forget(X[45:], Y[45:])
    assert_allclose(
        halves.predict_proba(X), model_of(family).fit(X[:45], Y[:45]).predict_proba(X), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_gives_the_model_back(family, tmp_path):
    X = frame_of(family)
    model = model_of(family).fit(X, Y)
    save(model, tmp_path / "model.bayes")
    found = load(tmp_path / "model.bayes")
    assert found.columns_ == model.columns_
    assert_array_equal(found.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("family", FAMILIES)
def test_terms_add_up_and_answers_of_all_kinds_are_given(family):
    X = frame_of(family)
    model = model_of(family).fit(X, Y)
    explained = model.explain(X)
    assert_allclose(explained.contributions.sum(axis=1) + explained.intercept, explained.log_odds, rtol=1e-9, atol=1e-9)
    assert all(str(one) for one in explained[:5])
    intervals = model.credible_interval(X[:6], n_draws=100)
    assert ((intervals.low <= intervals.high) & (intervals.low >= 0) & (intervals.high <= 1)).all()
    novelty = model.novelty(X[:6], n_draws=100)
    assert ((novelty > 0) & (novelty <= 1)).all()
    rows, labels = model.sample(20, random_state=0)
    assert list(rows.columns) == ["x", "other"]
    assert len(labels) == 20
    assert model.n_parameters > 0
    assert set(model.tables()) == {"class", "x", "other"}
    assert str(model.next_best({"other": "p"}))
    assert np.isfinite(model.loo_predict_log_proba(X, Y)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_curve_is_the_law_that_rows_are_scored_by(family):
    X = frame_of(family)
    model = model_of(family).fit(X, Y)
    curve = model.curve("x")
    assert curve.values.shape == (len(curve.at), 3)
    if curve.kind == "words":
        assert set(curve.at) <= {"red", "green", "blue", "it"}
        words = model.tables()["x"].set_index("word").loc[curve.at]
        if family != "complement":  # of which tables have the weights
            assert_allclose(curve.values, words.to_numpy(), rtol=1e-12)
        texts = pd.Series(CELLS[family]).drop(5).str
        how_often = texts.contains if family == "marks" else texts.count
        assert_array_equal(curve.counts.sum(axis=1), [how_often(word).sum() for word in curve.at])
        return
    at = curve.edges[:-1] + 1e-9 if curve.kind == "bins" else curve.at
    scores = model.predict_joint_log_proba(pd.DataFrame({"x": at, "other": None}))
    assert_allclose(np.log(curve.values) + model.class_log_prior_, scores, rtol=1e-9, atol=1e-9)
    if curve.kind == "density":
        mass = np.trapezoid(curve.values, curve.at, axis=0)
        assert ((mass > 0.98) & (mass < 1.01)).all()  # a share of .001 is beyond either end
    else:
        assert_allclose(curve.values.sum(axis=0), 1.0, atol=1e-3)
    if curve.counts is not None:
        assert_array_equal(curve.counts.sum(axis=0), pd.Series(Y)[X["x"].notna()].value_counts().sort_index())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_missing_cell_says_nothing(family):
    X = frame_of(family)
    model = model_of(family).fit(X, Y)
    without = NaiveBayes(columns={"x": "ignored", "other": "categorical"}).fit(X, Y)
    assert_allclose(model.predict_log_proba(X[5:6]), without.predict_log_proba(X[5:6]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_calibrating_works_for_every_law(family):
    X = frame_of(family)
    model = model_of(family, calibrate=True).fit(X, Y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_where_log_odds_are_a_line_it_gives_the_posterior_and_elsewhere_there_is_none(family):
    X = frame_of(family).drop(index=5)
    model = model_of(family).fit(X, np.delete(Y, 5))
    if family in ("gaussian", "lognormal"):
        with pytest.raises(ParameterError, match="not linear"):
            model.to_linear()
        return
    assert_allclose(model.to_linear().predict_log_proba(X), model.predict_log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_left_out_is_a_row_never_seen(family):
    X = frame_of(family)
    whole = model_of(family, alpha=0.5).fit(X, Y)
    found = whole.loo_predict_log_proba(X, Y)
    for i in (0, 5, 17, 44):
        rest = NaiveBayes(columns=whole.columns_, alpha=0.5).fit(X.drop(index=i), np.delete(Y, i))
        assert_allclose(found[i], rest.predict_log_proba(X[i : i + 1])[0], rtol=1e-9, atol=1e-9)


LARGE = {
    "gaussian": lambda rng, k: rng.normal(3 * k, 1 + k, 2000),
    "lognormal": lambda rng, k: np.exp(rng.normal(k, 0.5, 2000)),
    "poisson": lambda rng, k: rng.poisson(2 + 5 * k, 2000),
    "negative_binomial": lambda rng, k: rng.negative_binomial(2, 1 / (2 + 2 * k), 2000),
    "beta": lambda rng, k: rng.beta(2 + 3 * k, 3, 2000),
    "von_mises": lambda rng, k: rng.vonmises(1 + 2 * k, 2, 2000) % (2 * np.pi),
}


@pytest.mark.parametrize("family", LARGE)
def test_drawn_cells_follow_the_law_of_the_rows(family):
    rng = np.random.default_rng(4)
    cells = np.concatenate([LARGE[family](rng, k) for k in range(2)])
    y = np.repeat(["a", "b"], 2000)
    model = NaiveBayes(columns={"x": SAID.get(family, family)}).fit(pd.DataFrame({"x": cells}), y)
    rows, labels = model.sample(4000, random_state=1)
    for label in ("a", "b"):
        drawn = np.asarray(rows["x"])[np.asarray(labels) == label].astype(float)
        assert ks_2samp(drawn, cells[y == label]).pvalue > 1e-4  # by chance, once in ten thousand seeds


@pytest.mark.parametrize("family", LARGE)
def test_a_number_that_would_turn_the_decision_is_offered_and_does(family):
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"x": np.concatenate([LARGE[family](rng, k) for k in range(2)])})
    model = NaiveBayes(columns={"x": SAID.get(family, family)}).fit(X, np.repeat(["a", "b"], 2000))
    rows = X.iloc[[0, 1, 2, 2000, 2001, 2002]]
    for one, predicted in zip(model.explain(rows), model.predict(rows), strict=True):
        (turn,) = one.turns
        assert X["x"].min() <= turn.value <= X["x"].max()
        assert model.predict(pd.DataFrame({"x": [turn.value]})) == [turn.prediction] != [predicted]


def test_drawn_cells_of_a_prior_follow_students_t():
    prior = NormalInverseGamma(1.0, 2.0, 1.5, 3.0)
    x = pd.DataFrame({"x": [0.0, 2.0, 5.0, 7.0], "z": [0.0, 1.0, 4.0, 6.0]})
    model = NaiveBayes(columns={"x": {"family": "gaussian", "prior": prior}, "z": "gaussian"}).fit(x, list("aabb"))
    rows, labels = model.sample(40_000, random_state=2)
    mean, square, degrees = prior.predictive(2.0, 1.0, 2.0)
    drawn = np.asarray(rows["x"])[np.asarray(labels) == "a"].astype(float)
    assert kstest(drawn, t(degrees, mean, np.sqrt(square)).cdf).pvalue > 1e-4
    beside = np.asarray(rows["z"])[np.asarray(labels) == "b"].astype(float)
    assert kstest(beside, norm(5.0, 1.0).cdf).pvalue > 1e-4


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "complement"])
def test_credible_intervals_are_around_the_posterior_and_narrow_with_more_rows(family):
    X = frame_of(family)[["x"]].drop(index=5)
    y = np.delete(Y, 5)
    said = {"x": SAID.get(family, family)}
    few, many = (NaiveBayes(columns=said).fit(pd.concat([X] * n), np.tile(y, n)) for n in (1, 9))
    widths = []
    for model in (few, many):
        found, proba = model.credible_interval(X[:30], n_draws=400), model.predict_proba(X[:30])
        assert ((found.low <= proba) & (proba <= found.high)).mean() > 0.8  # not where one is all but impossible
        widths.append(np.median(found.high - found.low))
    assert 0 < widths[1] < 0.6 * widths[0]  # a third, by the root of nine


def test_told_bins_are_drawn_from_cut_to_cut_and_as_far_beyond_the_outer_ones():
    X, y = pd.DataFrame({"x": [1.0, 3.0, 5.0, 1.5, 3.5, 5.5], "z": [1.0, 9.0] * 3}), list("ab") * 3
    rows, _ = NaiveBayes(columns={"x": {"cuts": [2.0, 4.0]}, "z": {"cuts": [5.0]}}).fit(X, y).sample(3000)
    x, z = np.asarray(rows["x"]), np.asarray(rows["z"])
    assert (x.min().round(1), x.max().round(1)) == (0.0, 6.0)
    assert (z.min().round(1), z.max().round(1)) == (0.0, 10.0)
    assert_allclose([np.mean(x < 2), np.mean(x < 4), np.mean(z < 5)], [1 / 3, 2 / 3, 1 / 2], atol=0.05)


def test_a_column_without_a_state_is_drawn_empty_beside_the_others():
    X = pd.DataFrame({"a": [None] * 4, "b": list("uvuv"), "c": list("ppqq")}, dtype=object)
    plan = dict.fromkeys("abc", "categorical")
    rows, _ = NaiveBayes(columns=plan).fit(X, [0, 1, 0, 1]).sample(5, random_state=0)
    assert list(rows.columns) == ["a", "b", "c"]
    assert rows["a"].isna().all() and rows["b"].isin(list("uv")).all() and rows["c"].isin(list("pq")).all()


@pytest.mark.parametrize("family", ["von_mises", "beta", "negative_binomial"])
def test_a_law_that_takes_no_prior_refuses_one(family):
    said = {"family": family, "prior": NormalInverseGamma(), **SAID.get(family, {})}
    with pytest.raises(ParameterError, match="prior of column 'x'"):
        NaiveBayes(columns={"x": said}).fit(frame_of(family)[["x"]], Y)


def test_the_laws_of_a_plan_hold_all_of_its_columns():
    plan = NaiveBayes().fit(pd.DataFrame({"a": CELLS["gaussian"], "b": CELLS["poisson"]}), Y).columns_
    assert sorted(name for family in families_of(plan).values() for name in family.names) == ["a", "b"]
    assert OpenNumbers.key not in families_of(plan)


@pytest.mark.parametrize("family", FAMILIES)
def test_its_formula_is_the_same_law_as_plain_data(family):
    X = frame_of(family)
    model = model_of(family).fit(X, Y)
    scorer = Scorer(json.loads(json.dumps(document(form_of(model)))))
    rows = [
        {"x": None if i == 5 else getattr(X["x"][i], "item", lambda i=i: X["x"][i])(), "other": X["other"][i]}
        for i in range(0, N, 4)
    ] + [{"other": "unseen"}]
    asked = pd.DataFrame({"x": X["x"].iloc[::4], "other": X["other"].iloc[::4]})
    found = np.array([scorer.predict_proba(row) for row in rows])
    assert_allclose(found[:-1], model.predict_proba(asked), rtol=0, atol=1e-12)
    assert_allclose(found[-1], model.class_count_ / N, rtol=1e-12)
