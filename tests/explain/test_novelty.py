"""Rows of a model have novelties spread evenly over 0 to 1, and rows unlike them have small ones."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse, stats
from tests.explain.tables import fruit, fruit_model, with_cell

from bayeswater import NaiveBayes, NormalInverseGamma, ParameterError, ResourceLimitError
from bayeswater.families.words import draws

EVEN = 1e-3  # p-value: one seed in a thousand is less even, and the seeds are fixed


def assert_even(found):
    """Compare novelties with the uniform distribution."""
    assert stats.kstest(found, "uniform").pvalue > EVEN


def numbers():
    """A model of numbers alone, some of them with a prior."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [60, 40, 20])
    X = pd.DataFrame(
        {
            "a": rng.normal(2.0 * y, 1.0 + y),
            "b": np.exp(rng.normal(0.5 * y)),
            "c": rng.normal(-1.0 * y),
        }
    )
    prior = NormalInverseGamma(mean=0.0, strength=1.0, shape=2.0, scale=2.0)
    columns = {"a": "gaussian", "b": "lognormal", "c": {"family": "gaussian", "prior": prior}}
    return NaiveBayes(columns=columns).fit(X, y)


# ---------------------------------------------------------------------- the law


def test_rows_drawn_from_a_model_of_numbers_have_even_novelties():
    model = numbers()
    X, _ = model.sample(1500, random_state=1)
    assert_even(model.novelty(X, n_draws=5000))


def test_rows_drawn_from_a_mixed_model_have_even_novelties_whatever_is_missing():
    columns = {"note": "ignored", "picked": "ignored", "size": "gaussian", "seeds": "poisson"}
    model = NaiveBayes(columns=columns).fit(*fruit(300))
    drawn, _ = model.sample(1500, random_state=2)
    rng = np.random.default_rng(3)
    cells = {name: drawn[name].to_pylist() for name in ("colour", "sweet", "price", "seeds", "age")}
    holes = {
        name: [None if hole else cell for cell, hole in zip(column, rng.random(1500) < 0.3, strict=True)]
        for name, column in cells.items()
    }
    for name, column in holes.items():
        drawn = drawn.set_column(drawn.column_names.index(name), name, pa.array(column, drawn[name].type))
    assert_even(model.novelty(drawn, n_draws=5000))  # the size, which has no holes, leaves no ties


@pytest.mark.parametrize("lengths", [(1, 40), (60, 61)])
def test_texts_drawn_from_a_model_have_even_novelties_at_any_length(lengths):
    """Lengths do not depend on the class here, as the model supposes when it compares texts of one length."""
    words, n_texts = 200, 1500
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    shares = rng.dirichlet(np.ones(words), size=2)
    counts = np.stack([rng.multinomial(30, shares[k]) for k in y])
    model = NaiveBayes(columns={"(counts)": "multinomial"}, alpha=0.5).fit(sparse.csr_matrix(counts), y)
    probability = np.exp(model._joint().groups["words (counts)"].reading.log_probability)
    codes = rng.choice(2, size=n_texts, p=np.exp(model.class_log_prior_))
    drawn = np.stack([rng.multinomial(rng.integers(*lengths), probability[k] / probability[k].sum()) for k in codes])
    found = model.novelty(sparse.csr_matrix(drawn), n_draws=5000)
    if lengths[0] > 10:
        assert_even(found)
    else:  # few words are drawn over again, so novelties have ties, which make them larger
        grid = np.linspace(0.05, 0.95, 19)
        assert (np.searchsorted(np.sort(found), grid) / n_texts <= grid + 0.04).all()


def test_long_texts_are_compared_with_drawn_ones_whose_sum_is_normal(monkeypatch):
    monkeypatch.setattr(draws, "DRAWN_LENGTH", 100)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 10)
    shares = rng.dirichlet(np.full(30, 0.5), size=2)
    counts = np.stack([rng.multinomial(60, shares[k]) for k in y])
    model = NaiveBayes(columns={"(counts)": "multinomial"}, alpha=0.5).fit(sparse.csr_matrix(counts), y)
    probability = np.exp(model._joint().groups["words (counts)"].reading.log_probability)
    codes = rng.choice(2, size=1500, p=np.exp(model.class_log_prior_))
    drawn = np.stack([rng.multinomial(800, probability[k] / probability[k].sum()) for k in codes])
    assert_even(model.novelty(sparse.csr_matrix(drawn), n_draws=5000))


def test_marks_drawn_from_a_model_have_even_novelties():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    shares = rng.beta(1.0, 3.0, size=(2, 80))
    model = NaiveBayes(columns={"(counts)": "marks"}).fit(sparse.csr_matrix(rng.random((80, 80)) < shares[y]) * 1, y)
    present = np.exp(model._joint().groups["words (counts)"].reading.log_probability()[0])
    codes = rng.choice(2, size=1500, p=np.exp(model.class_log_prior_))
    drawn = sparse.csr_matrix(rng.random((1500, 80)) < present[codes]) * 1
    assert_even(model.novelty(drawn, n_draws=5000))


# ---------------------------------------------------------------------- an exact oracle


def test_the_novelty_of_a_category_is_the_probability_of_all_that_is_no_more_probable():
    X = pa.table({"c": ["a"] * 6 + ["b"] * 3 + ["c"]})
    n_draws = 100_000
    model = NaiveBayes(alpha=0.0, class_alpha=0.0).fit(X, [0] * 5 + [1] * 5)
    found = model.novelty(pa.table({"c": ["a", "b", "c", None]}), n_draws=n_draws)
    expected = np.array([1.0, 0.4, 0.1, 1.0])
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / n_draws) + 1 / n_draws).all()


# ---------------------------------------------------------------------- what is unlike


@pytest.mark.parametrize(
    ("column", "value"),
    [("size", 40.0), ("price", 5000.0), ("seeds", 200), ("note", "pie pod jam " * 6)],
)
def test_rows_far_from_all_that_was_seen_are_novel(column, value):
    model = fruit_model()
    X, _ = fruit(20, random_state=4)
    assert (model.novelty(with_cell(X, column, value)) < 0.01).all()


# ---------------------------------------------------------------------- what was never seen


def binned_numbers():
    """A model of one column in bins, the rarest of which has one row in 40."""
    x = np.repeat([0.5, 1.5, 2.5, 3.5], [20, 10, 9, 1])
    model = NaiveBayes(columns={"x": {"cuts": [1.0, 2.0, 3.0]}}, alpha=1.0)
    return model.fit(pd.DataFrame({"x": x}), np.arange(40) % 2)


def test_numbers_far_beyond_the_bins_are_rarer_than_the_rarest_bin():
    model = binned_numbers()
    found = model.novelty(pd.DataFrame({"x": [0.5, 3.5, 1e9, -1e9, np.nan]}), n_draws=999)
    assert found[0] > 0.4
    assert 1 / 1000 < found[1] < 0.1
    assert (found[2:4] == 1 / 1000).all()
    assert found[4] == 1.0


def test_a_date_far_beyond_those_seen_is_novel():
    days = np.datetime64("2024-01-01") + np.arange(200)
    X = pd.DataFrame({"day": days.astype("datetime64[s]")})
    columns = {"day": {"cuts": [19750.0, 19800.0, 19850.0]}, "day (weekday)": "ignored", "day (month)": "ignored"}
    model = NaiveBayes(columns=columns).fit(X, np.arange(200) % 2)
    far = pd.DataFrame({"day": np.array(["2024-03-01", "2090-01-01"], dtype="datetime64[s]")})
    usual, novel = model.novelty(far, n_draws=499)
    assert novel == 1 / 500 < usual


@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")
def test_a_category_that_was_never_seen_is_rarer_than_the_rarest_that_was():
    X = pd.DataFrame({"c": ["a"] * 20 + ["b"] * 19 + ["c"], "d": ["x", "y"] * 20})
    model = NaiveBayes(alpha=1.0).fit(X, np.arange(40) % 2)
    strange = pd.DataFrame({"c": ["a", "c", "never"], "d": ["x", "x", "x"]})
    usual, rare, never = model.novelty(strange, n_draws=999)
    assert usual > 0.4
    assert never == 1 / 1000 < rare < 0.1


@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")
@pytest.mark.parametrize("missing", ["ignore", "state"])
def test_a_new_state_has_the_dirichlet_mass_of_one_more(missing):
    X = pd.DataFrame({"c": ["a"] * 5 + ["b"] * 2 + [None], "d": ["x", "x", "y", "y"] * 2})
    model = NaiveBayes(alpha=0.5, missing=missing).fit(X, [0, 0, 0, 1, 1, 1, 1, 1])
    extra = missing == "state"
    expected = [0.5 / (3 + (3 + extra) * 0.5), 0.5 / (4 + extra + (3 + extra) * 0.5)]  # the missing cell is of class 1
    found = np.exp(model._joint().groups["categories"].log_new_state)
    assert found[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")
def test_without_smoothing_what_was_never_seen_is_impossible():
    model = NaiveBayes(alpha=0.0).fit(pd.DataFrame({"c": ["a", "b", "a", "b"]}), [0, 0, 1, 1])
    assert model.novelty(pd.DataFrame({"c": ["never"]}), n_draws=99)[0] == 1 / 100


def test_numbers_drawn_from_a_model_of_bins_have_even_novelties():
    """None of the drawn numbers is beyond the bins; a normal column beside them leaves no ties."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = pd.DataFrame({"x": rng.normal(y), "z": rng.normal(2.0 * y)})
    model = NaiveBayes(columns={"x": {"cuts": [-1.0, 0.0, 1.0, 2.0]}, "z": "gaussian"}).fit(X, y)
    drawn, _ = model.sample(1500, random_state=1)
    assert_even(model.novelty(drawn, n_draws=5000))


# ---------------------------------------------------------------------- what is like


def test_new_rows_of_the_same_kind_are_not_novel():
    X, _ = fruit(400, random_state=5)
    found = fruit_model().novelty(X)
    assert (found < 0.05).mean() < 0.1
    assert 0.35 < found.mean() < 0.65


def test_no_novelty_is_zero_and_none_is_over_one():
    model = numbers()
    found = model.novelty(pd.DataFrame({"a": [1e6, 0.0], "b": [1.0, 1.0], "c": [0.0, 0.0]}), n_draws=99)
    assert found[0] == 1 / 100
    assert 0 < found[1] <= 1


def test_marks_without_smoothing_are_drawn_as_the_model_has_them():
    texts = ["a b", "a", "a b c", "c"]
    model = NaiveBayes(columns={"t": "marks"}, alpha=0.0).fit(pa.table({"t": texts}), [0, 0, 1, 1])
    found = model.novelty(pa.table({"t": ["a b", "b", ""]}), n_draws=999)
    assert found[0] > 0.2  # every text of class 0 has an a, and half of them have a b
    assert found[1] == 1 / 1000  # impossible: b without a in class 0, b without c in class 1


def test_what_is_impossible_is_as_novel_as_can_be():
    X = pa.table({"c": ["a", "a", "b"], "d": ["x", "x", "y"]})
    model = NaiveBayes(alpha=0.0).fit(X, [0, 0, 1])
    assert model.novelty(pa.table({"c": ["a"], "d": ["y"]}), n_draws=99)[0] == 1 / 100


# ---------------------------------------------------------------------- laws


@pytest.mark.parametrize("reading", ["multinomial", "complement", "marks"])
def test_the_novelty_of_a_row_does_not_depend_on_the_other_rows(reading):
    X, _ = fruit(50, random_state=6)
    model = fruit_model(reading)
    together = model.novelty(X, n_draws=300)
    assert [model.novelty(X.slice(i, 1), n_draws=300)[0] for i in range(0, 50, 7)] == together[::7].tolist()


def test_complement_counts_are_judged_as_counts():
    X, _ = fruit(50, random_state=6)
    assert np.array_equal(fruit_model("complement").novelty(X), fruit_model("multinomial").novelty(X))


def test_a_missing_cell_that_is_a_state_is_drawn_too():
    X = pa.table({"c": ["a"] * 60 + [None] * 39 + ["b"]})
    model = NaiveBayes(missing="state", alpha=0.0).fit(X, [0, 1] * 50)
    found = model.novelty(pa.table({"c": ["a", None, "b"]}), n_draws=20_000)
    assert found == pytest.approx([1.0, 0.4, 0.01], abs=0.02)


def test_an_empty_row_is_as_typical_as_any():
    X, _ = fruit(1)
    empty = pa.table({name: pa.nulls(1, X[name].type) for name in X.column_names})
    assert fruit_model().novelty(empty)[0] == 1.0


def test_the_seed_decides_the_draws():
    X, _ = fruit(20, random_state=7)
    model = fruit_model()
    assert np.array_equal(model.novelty(X, random_state=3), model.novelty(X, random_state=3))
    assert not np.array_equal(model.novelty(X, random_state=3), model.novelty(X, random_state=4))


def test_calibration_changes_no_novelty():
    X, y = fruit(200)
    plain, calibrated = (NaiveBayes(columns={"note": "multinomial"}, calibrate=c).fit(X, y) for c in (False, True))
    assert np.array_equal(plain.novelty(X), calibrated.novelty(X))


def test_a_class_of_probability_zero_is_never_drawn():
    X, y = fruit(60)
    model = NaiveBayes(columns={"note": "multinomial"}, class_prior=[0.5, 0.5, 0.0]).fit(X, y)
    found = model.novelty(X.slice(0, 20))
    assert ((found > 0) & (found <= 1)).all()


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(("settings", "message"), [({"n_draws": 0}, "n_draws is 0"), ({"random_state": None}, "None")])
def test_parameters_out_of_range_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        numbers().novelty(pd.DataFrame({"a": [0.0], "b": [1.0], "c": [0.0]}), **settings)


def test_draws_that_do_not_fit_into_memory_are_refused_beforehand():
    with pytest.raises(ResourceLimitError, match="fewer draws"):
        fruit_model().novelty(fruit(1)[0], n_draws=10**9)


def test_rows_of_the_largest_counts_are_judged():
    counts = np.array([[1e15], [2e15], [3e15], [4e15]] * 5)
    model = NaiveBayes(columns={0: "poisson"}).fit(counts, ["a", "b"] * 10)
    assert np.isfinite(model.novelty(counts)).all()
