"""Intervals on P(class | row) hold what the posterior of the parameters says, and what is true."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats
from tests.explain.tables import fruit, fruit_model, loan_model

from bayeswater import Beta, Dirichlet, NaiveBayes, NormalInverseGamma, ParameterError
from bayeswater.families.words import draws
from bayeswater.inference.drawing import log_gamma

WIDE = 5  # standard errors; one draw in two million is further off, and the seeds are fixed
DRAWS = 20_000


def assert_tails(below_low, below_high, n_draws, level=0.95):
    """Compare the probabilities below the limits of an interval with those they stand for."""
    tail = (1 - level) / 2
    slack = WIDE * np.sqrt(tail * (1 - tail) / n_draws)
    assert np.abs(below_low - tail).max() <= slack
    assert np.abs(below_high - (1 - tail)).max() <= slack


def brute_tails(found, log_likelihoods, log_prior):
    """Share of brute-force draws (n_draws, n_rows, n_classes) below the limits."""
    joint = log_likelihoods + log_prior
    proba = np.exp(joint - np.logaddexp.reduce(joint, axis=2)[:, :, None])
    return (proba < found.low).mean(axis=0), (proba < found.high).mean(axis=0)


# ---------------------------------------------------------------------- exact oracles


def test_a_row_without_a_cell_has_the_beta_quantiles_of_the_class_prior():
    X = pa.table({"x": ["a", "b", "a", "a", "b"]})
    model = NaiveBayes(class_alpha=1.0).fit(X, [0, 0, 0, 0, 1])
    found = model.credible_interval(pa.table({"x": pa.array([None], pa.string())}), n_draws=DRAWS)
    posterior = stats.beta(4 + 1, 1 + 1)
    assert_tails(posterior.cdf(found.low[0, 0]), posterior.cdf(found.high[0, 0]), DRAWS)
    assert found.low[0, 1] == pytest.approx(1 - found.high[0, 0], abs=1e-12)


def test_a_state_that_one_class_alone_can_have_its_probability_has_beta_quantiles():
    """Class 1 has one state, which it has with certainty, so the odds are those of a Beta variate."""
    X = pa.table({"x": ["a"] * 3 + ["b"] * 4 + ["a"] * 9})
    y = [0] * 7 + [1] * 9
    prior = Dirichlet({"a": 1.0, "b": 0.0})
    model = NaiveBayes(columns={"x": {"family": "categorical", "prior": prior}}, class_prior=[0.4, 0.6]).fit(X, y)
    found = model.credible_interval(pa.table({"x": ["a"]}), n_draws=DRAWS)
    share = stats.beta(3 + 1, 4)  # of state a in class 0

    def share_at(p):  # P(class 0 | a) = 0.4 s / (0.4 s + 0.6)
        return p * 0.6 / (0.4 * (1 - p))

    assert_tails(share.cdf(share_at(found.low[0, 0])), share.cdf(share_at(found.high[0, 0])), DRAWS)


@pytest.mark.parametrize("shape", [0.0, 1e-3, 0.3, 1.0, 40.0])
def test_logarithms_of_gamma_variates_are_distributed_as_they_should_be(shape):
    drawn = log_gamma(np.random.default_rng(0), np.array([shape]), 20_000)[:, 0]
    if shape == 0:
        assert np.isneginf(drawn).all()
    else:
        assert np.isfinite(drawn).all()
        assert stats.kstest(drawn, stats.loggamma(shape).cdf).pvalue > 1e-6


# ---------------------------------------------------------------------- brute force over whole tables


def test_intervals_are_those_of_whole_tables_drawn_from_the_posterior():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [12, 8, 5])
    X = pd.DataFrame(
        {
            "state": np.array(list("uvw"))[(rng.integers(0, 2, size=25) + y) % 3],
            "mark": rng.random(25) < 0.3 + 0.2 * y,
            "bin": rng.normal(y.astype(float)),
            "number": rng.normal(1.5 * y, 1.0 + 0.3 * y),
            "known": rng.normal(-1.0 * y),
            "count": rng.poisson(1.0 + 2.0 * y),
        }
    )
    prior = NormalInverseGamma(mean=0.0, strength=2.0, shape=3.0, scale=2.0)
    columns = {
        "bin": {"cuts": [0.0, 1.0]},
        "mark": {"prior": Beta(2.0, 1.0)},
        "number": "gaussian",
        "known": {"family": "gaussian", "prior": prior},
        "count": "poisson",
    }
    model = NaiveBayes(columns=columns, alpha=0.7).fit(X, y)
    rows = pd.DataFrame(
        {
            "state": ["u", "w", None, "v"],
            "mark": [True, False, None, True],
            "bin": [0.3, 1.7, -2.0, np.nan],
            "number": [0.5, 2.0, np.nan, 1.0],
            "known": [0.0, -1.0, -2.0, np.nan],
            "count": [1.0, 4.0, 3.0, np.nan],
        }
    )
    found = model.credible_interval(rows, n_draws=DRAWS, random_state=3)
    assert found.probability == pytest.approx(model.predict_proba(rows), rel=1e-14)  # the logarithm is rounded
    generator = np.random.default_rng(7)
    total = np.zeros((DRAWS, 4, 3))
    cells = {
        "state": (X["state"].map("uvw".index), [0, 2, None, 1], [0.7] * 3),
        "mark": (X["mark"].astype(int), [1, 0, None, 1], [1.0, 2.0]),
        "bin": (np.digitize(X["bin"], [0.0, 1.0]), [1, 2, 0, None], [0.7] * 3),
    }
    for seen, asked, alpha in cells.values():
        for k in range(3):
            counts = np.bincount(np.asarray(seen)[y == k], minlength=len(alpha))
            table = generator.dirichlet(counts + np.array(alpha), size=DRAWS)
            for i, state in enumerate(asked):
                if state is not None:
                    total[:, i, k] += np.log(table[:, state])
    for k in range(3):
        x = X["number"][y == k].to_numpy()
        variance = ((x - x.mean()) ** 2).sum() / generator.chisquare(len(x) - 1, size=DRAWS)
        mean = generator.normal(x.mean(), np.sqrt(variance / len(x)))
        z = X["known"][y == k].to_numpy()
        strength, shape = 2.0 + len(z), 3.0 + len(z) / 2
        location = len(z) * z.mean() / strength
        scale = 2.0 + ((z - z.mean()) ** 2).sum() / 2 + z.mean() ** 2 * 2.0 * len(z) / (2 * strength)
        known_variance = stats.invgamma(shape, scale=scale).rvs(DRAWS, random_state=generator)
        known_mean = generator.normal(location, np.sqrt(known_variance / strength))
        rate = generator.gamma(X["count"][y == k].sum() + 0.7, 1 / (y == k).sum(), size=DRAWS)
        for i, row in rows.iterrows():
            if row["number"] == row["number"]:
                total[:, i, k] += stats.norm.logpdf(row["number"], mean, np.sqrt(variance))
            if row["known"] == row["known"]:
                total[:, i, k] += stats.norm.logpdf(row["known"], known_mean, np.sqrt(known_variance))
            if row["count"] == row["count"]:
                total[:, i, k] += stats.poisson.logpmf(row["count"], rate)
    classes = np.log(generator.dirichlet(np.bincount(y) + 1.0, size=DRAWS))[:, None, :]
    assert_tails(*brute_tails(found, total, classes), DRAWS / 2)  # both sides are drawn


@pytest.mark.parametrize("reading", ["multinomial", "marks"])
def test_intervals_of_texts_are_those_of_whole_vocabularies(reading, monkeypatch):
    texts = ["a b b", "a c", "b d", "c c d", "a e", "d e e", "a a b", "e"]
    y = np.array([0, 0, 0, 1, 1, 1, 0, 1])
    model = NaiveBayes(columns={"t": reading}, alpha=0.5, class_prior=[0.5, 0.5]).fit(pa.table({"t": texts}), y)
    asked = ["a b", "c", "d d e", "", "a b c d e"]
    rows = pa.table({"t": [*asked, None]})
    found = model.credible_interval(rows, n_draws=DRAWS)
    generator = np.random.default_rng(2)
    words = "abcde"
    total = np.zeros((DRAWS, len(asked) + 1, 2))
    for k in range(2):
        of_class = [text.split() for text, label in zip(texts, y, strict=True) if label == k]
        if reading == "multinomial":
            counts = np.array([sum(text.count(word) for text in of_class) for word in words])
            log_p = np.log(generator.dirichlet(counts + 0.5, size=DRAWS))
            for i, text in enumerate(asked):
                total[:, i, k] = sum((log_p[:, words.index(word)] for word in text.split()), start=np.zeros(DRAWS))
        else:
            present = np.array([sum(word in text for text in of_class) for word in words])
            p = generator.beta(present + 0.5, len(of_class) - present + 0.5, size=(DRAWS, 5))
            for i, text in enumerate(asked):
                there = np.isin(list(words), text.split())
                total[:, i, k] = np.where(there, np.log(p), np.log1p(-p)).sum(axis=1)
    brute = brute_tails(found, total, np.log(0.5))
    settled = [i for i in range(len(asked)) if found.low[i, 0] < found.high[i, 0]]
    assert_tails(brute[0][settled], brute[1][settled], DRAWS / 2)
    undecided = [5] if reading == "marks" else [3, 5]  # nothing is said: the class prior, which is given
    assert np.abs(found.low[undecided] - 0.5).max() <= 1e-12
    assert np.abs(found.high[undecided] - 0.5).max() <= 1e-12


def test_absent_marks_beyond_those_that_are_drawn_are_as_good_as_drawn(monkeypatch):
    """The sum over so many words is normal, with the mean and variance it has."""
    rng = np.random.default_rng(0)
    counts = sparse.csr_matrix(rng.random((60, 400)) < 0.05, dtype=np.int64)
    y = np.repeat([0, 1], 30)
    model = NaiveBayes(columns={"(counts)": "marks"}, alpha=0.5).fit(counts, y)
    drawn = model.credible_interval(counts[:6], n_draws=4000)
    monkeypatch.setattr(draws, "DRAWN_WORDS", 50)
    approximate = model.credible_interval(counts[:6], n_draws=4000, random_state=1)

    def log_odds(found):  # the limits of one class are those of the other, turned round
        return np.log(found.low[:, 0]) - np.log(found.high[:, 1]), np.log(found.high[:, 0]) - np.log(found.low[:, 1])

    (low, high), (other_low, other_high) = log_odds(drawn), log_odds(approximate)
    # Two quantiles at 0.025, each of 4000 draws, differ by a few hundredths of the width of the interval.
    assert np.abs((other_low - low) / (high - low)).max() < 0.08
    assert np.abs((other_high - high) / (high - low)).max() < 0.08


# ---------------------------------------------------------------------- coverage


def test_intervals_hold_the_truth_as_often_as_they_say():
    """With parameters drawn from the prior, nine of ten intervals of level 0.9 hold the true probability."""
    rng = np.random.default_rng(0)
    level, repeats, hits = 0.9, 200, 0
    dirichlet = Dirichlet({"a": 1.0, "b": 1.0, "c": 1.0})
    normal = NormalInverseGamma(mean=0.0, strength=1.0, shape=3.0, scale=3.0)
    columns = {"s": {"family": "categorical", "prior": dirichlet}, "x": {"family": "gaussian", "prior": normal}}
    y = np.repeat([0, 1], 12)
    for repeat in range(repeats):
        shares = rng.dirichlet(np.ones(3), size=2)
        variance = 3.0 / rng.gamma(3.0, size=2)
        mean = rng.normal(0.0, np.sqrt(variance))

        def rows(classes, shares=shares, mean=mean, variance=variance):
            states = [rng.choice(3, p=shares[k]) for k in classes]
            return np.array(states), rng.normal(mean[classes], np.sqrt(variance[classes]))

        states, x = rows(y)
        model = NaiveBayes(columns=columns, alpha=1.0, class_prior=[0.5, 0.5])
        model.fit(pa.table({"s": np.array(list("abc"))[states], "x": x}), y)
        asked, at = rows(np.array([repeat % 2]))
        likelihood = shares[:, asked[0]] * stats.norm.pdf(at[0], mean, np.sqrt(variance))
        truth = likelihood[0] / likelihood.sum()
        found = model.credible_interval(
            pa.table({"s": np.array(list("abc"))[asked], "x": at}), level=level, n_draws=400, random_state=repeat
        )
        hits += found.low[0, 0] <= truth <= found.high[0, 0]
    assert abs(hits / repeats - level) <= 3 * np.sqrt(level * (1 - level) / repeats)


def test_more_rows_make_narrower_intervals():
    X, y = fruit(40)
    more, labels = fruit(4000)
    columns = {"note": "multinomial", "size": "gaussian", "seeds": "poisson"}
    few, many = (NaiveBayes(columns=columns).fit(*rows) for rows in ((X, y), (more, labels)))
    rows = fruit(30, random_state=5)[0].select(["colour"])
    asked = pa.table({name: rows[name] if name == "colour" else pa.nulls(30, X[name].type) for name in X.column_names})
    wide, narrow = few.credible_interval(asked), many.credible_interval(asked)
    assert ((wide.high - wide.low).max(axis=1) > 3 * (narrow.high - narrow.low).max(axis=1)).all()


# ---------------------------------------------------------------------- what it rests on


def test_support_is_the_number_of_rows_that_have_the_rarest_cell():
    X = pd.DataFrame({"c": list("aaabbbbb"), "x": [1.0, 2.0, np.nan, 4.0, 5.0, 6.0, 7.0, 8.0]})
    y = ["p", "p", "p", "p", "q", "q", "q", "q"]
    model = NaiveBayes(columns={"x": "gaussian"}).fit(X, y)
    asked = pd.DataFrame({"c": ["a", "b", None, "a", None], "x": [1.0, 6.5, 1.0, np.nan, np.nan]})
    assert model.predict(asked).tolist() == ["p", "q", "p", "p", "p"]
    assert model.credible_interval(asked).support.tolist() == [3, 4, 3, 3, 4]


def test_support_of_a_text_is_that_of_its_rarest_word():
    texts = ["free money now", "free prize", "see you", "see the money", "now then"]
    y = ["spam", "spam", "ham", "ham", "ham"]
    model = NaiveBayes(columns={"t": "multinomial"}, alpha=0.1).fit(pa.table({"t": texts}), y)
    found = model.credible_interval(pa.table({"t": ["free", "free prize", "see", "see prize see you", None]}))
    assert found.classes[found.chosen].tolist() == ["spam", "spam", "ham", "ham", "ham"]
    assert found.support.tolist() == [2, 1, 2, 0, 3]


def test_support_of_weighted_rows_is_their_weight():
    X = pa.table({"c": ["a", "a", "b"]})
    model = NaiveBayes().fit(X, [0, 0, 1], sample_weight=[0.5, 1.0, 2.0])
    assert model.credible_interval(pa.table({"c": ["a"]})).support.tolist() == [1.5]
    assert "1.5 rows support this" in str(model.credible_interval(pa.table({"c": ["a"]})))


# ---------------------------------------------------------------------- laws


def test_the_interval_of_a_row_does_not_depend_on_the_other_rows(monkeypatch):
    X, _ = fruit(40, random_state=3)
    for reading in ("multinomial", "marks"):
        model = fruit_model(reading)
        together = model.credible_interval(X, n_draws=200)
        for i in (0, 17, 39):
            alone = model.credible_interval(X.slice(i, 1), n_draws=200)
            assert np.array_equal(alone.low[0], together.low[i])
            assert np.array_equal(alone.high[0], together.high[i])
        with monkeypatch.context() as patch:
            patch.setattr("bayeswater.explain.credible_interval.BLOCK_DRAWS", 2000)  # a few rows at a time
            in_pieces = model.credible_interval(X, n_draws=200)
        assert np.array_equal(in_pieces.low, together.low)


def test_the_seed_decides_the_draws():
    X, _ = fruit(5, random_state=3)
    model = fruit_model()
    first, again, other = (model.credible_interval(X, n_draws=100, random_state=seed) for seed in (4, 4, 5))
    assert np.array_equal(first.low, again.low)
    assert not np.array_equal(first.low, other.low)


def test_a_wider_level_holds_a_narrower_one():
    X, _ = fruit(20, random_state=3)
    model = fruit_model()
    wide, narrow = (model.credible_interval(X, level=level) for level in (0.99, 0.5))
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()
    assert (wide.low <= wide.high).all()


def test_of_a_calibrated_model_every_draw_is_calibrated():
    model, X = loan_model()
    found = model.credible_interval(X)
    assert np.array_equal(found.probability, model.predict_proba(X))
    assert np.array_equal(found.classes[found.chosen], model.predict(X))
    plain = NaiveBayes(columns=model.columns_)
    plain.statistics_, plain.classes_, plain._memo, plain._library = model.statistics_, model.classes_, {}, "pyarrow"
    plain.n_features_in_, plain.feature_names_in_ = model.n_features_in_, model.feature_names_in_
    before = plain.credible_interval(X)
    known = model._known_cells(model._table(X))
    # The map is monotone in the log-odds of two classes, so it maps quantiles to quantiles, but for interpolation.
    for limit, expected in ((before.low[:, 0], found.low[:, 0]), (before.high[:, 0], found.high[:, 0])):
        mapped = np.exp(model._calibration.corrected(np.log(np.stack([limit, 1 - limit], axis=1)), known))[:, 0]
        assert np.abs(mapped - expected).max() < 1e-3


# ---------------------------------------------------------------------- edges


def test_a_class_with_a_single_number_is_anything_but_certain():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 1.5]})
    model = NaiveBayes(family="gaussian").fit(X, [0, 0, 0, 0, 1])
    found = model.credible_interval(pd.DataFrame({"x": [1.4, 1.5, 50.0]}))
    assert np.isfinite(found.low).all()
    assert (found.high - found.low)[:2].min() > 0.2


@pytest.mark.parametrize("factor", [0.51, 1e-6])
def test_rows_that_have_decayed_to_next_to_nothing_give_wide_intervals_and_no_overflow(factor):
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "n": [1, 2, 0, 1]})
    model = NaiveBayes(columns={"x": "gaussian", "n": "poisson"}).fit(X, [0, 0, 1, 1]).decay(factor)
    found = model.credible_interval(X)
    assert not np.isnan(found.low + found.high).any()
    assert (found.high - found.low).min() > 0.5


def test_without_smoothing_the_impossible_stays_impossible_and_nothing_is_no_number():
    X = pa.table({"c": ["a", "a", "b", "b"], "t": ["p q", "p", "q r", "r r"]})
    for reading in ("multinomial", "marks"):
        model = NaiveBayes(columns={"t": reading}, alpha=0.0, class_alpha=0.0).fit(X, [0, 0, 1, 1])
        found = model.credible_interval(pa.table({"c": ["a", "b", "a"], "t": ["p", "r", None]}), n_draws=100)
        assert not np.isnan(found.low + found.high).any()
        assert found.low[0].tolist() == [1.0, 0.0]
        assert found.high[1].tolist() == [0.0, 1.0]


def test_a_class_that_is_declared_but_never_seen_is_drawn_like_any_other():
    X, y = fruit(60)
    model = NaiveBayes(columns={"note": "multinomial"}).partial_fit(X, y, classes=["apple", "pea", "plum", "yam"])
    found = model.credible_interval(X.slice(0, 10), n_draws=100)
    assert found.low.shape == (10, 4)
    assert not np.isnan(found.low + found.high).any()


def test_a_column_that_never_varies_says_nothing():
    X = pd.DataFrame({"x": [2.0, 2.0, 2.0], "c": ["a", "b", "b"]})
    model = NaiveBayes(columns={"x": "gaussian"}).fit(X, [0, 1, 1])
    with_number, without = (
        model.credible_interval(pd.DataFrame({"x": [x], "c": ["a"]}), n_draws=50) for x in (2.0, np.nan)
    )
    assert np.array_equal(with_number.low, without.low)


def test_the_interval_of_complement_counts_is_that_of_the_same_words_counted():
    X, _ = fruit(20, random_state=8)
    complement, counted = fruit_model("complement"), fruit_model("multinomial")
    found, expected = (model.credible_interval(X, n_draws=200) for model in (complement, counted))
    assert np.array_equal(found.low, expected.low)
    assert np.array_equal(found.high, expected.high)
    assert np.array_equal(found.probability, np.exp(complement.predict_log_proba(X)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 1.0}, "level is 1.0"),
        ({"level": "high"}, "level is 'high'"),
        ({"n_draws": 0}, "n_draws is 0"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": np.random.default_rng(0)}, "give a whole number"),
    ],
)
def test_parameters_out_of_range_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        fruit_model().credible_interval(fruit(1)[0], **settings)


# ---------------------------------------------------------------------- printed


def test_an_interval_is_told_in_a_sentence():
    X = pa.table({"c": ["a"] * 7 + ["b"] * 3 + ["b"] * 9 + ["a"]})
    model = NaiveBayes(alpha=1.0).fit(X, ["spam"] * 10 + ["ham"] * 10)
    found = model.credible_interval(pa.table({"c": ["a"]}))
    low, high = found.low[0, 1], found.high[0, 1]
    assert str(found) == f"'spam': 0.80, between {low:.2f} and {high:.2f}: seven rows support this"
    assert repr(found) == str(found)
    many = model.credible_interval(pa.table({"c": ["a"] * 12}))
    assert str(many).splitlines()[-1] == "and 2 more rows"
    assert len(many) == 12


def test_a_frame_comes_in_the_library_of_the_fit():
    X = pa.table({"c": ["a", "b"]})
    for frame, kind in ((X, pa.Table), (X.to_pandas(), pd.DataFrame), (pl.from_arrow(X), pl.DataFrame)):
        table = NaiveBayes().fit(frame, ["p", "q"]).credible_interval(frame, n_draws=10).to_frame()
        assert isinstance(table, kind)
        names = table.column_names if isinstance(table, pa.Table) else list(table.columns)
        assert names == ["prediction", "support", "P(p)", "low(p)", "high(p)", "P(q)", "low(q)", "high(q)"]
